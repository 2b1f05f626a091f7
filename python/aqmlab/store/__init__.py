"""Storage of finished runs. Each run has one address, which its scenario and engine determine.

:class:`Store` is the interface of a store. :class:`Ledger` stores runs in a folder, and
:func:`status` reports the progress of its runs.
"""

from aqmlab.store.address import address
from aqmlab.store.ledger import Ledger
from aqmlab.store.protocol import Store
from aqmlab.store.status import Status, status

__all__ = ["Ledger", "Status", "Store", "address", "status"]
