"""Storage of finished runs. The scenario and the engine of a run determine its address.

:class:`Store` is the interface of a store. :class:`FolderStore` stores runs in a folder, and
:func:`status` reports the progress of its runs.
"""

from aqmlab.store.address import address
from aqmlab.store.folder_store import FolderStore
from aqmlab.store.protocol import Store
from aqmlab.store.status import Status, status

__all__ = ["FolderStore", "Status", "Store", "address", "status"]
