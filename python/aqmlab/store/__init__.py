"""Where finished runs are kept and found again, each by the one address of a run.

A store has `get`, `put` and `missing` (:class:`Store`); :class:`Folder` keeps runs as files.
"""

from aqmlab.store.address import address
from aqmlab.store.files import Folder
from aqmlab.store.protocol import Store

__all__ = ["Folder", "Store", "address"]
