"""Where finished runs are kept and found again, each by the one address of a run.

A store keeps what `Store` says; :class:`Ledger` is one in a folder, and :func:`status` tells how
far it is.
"""

from aqmlab.store.address import address
from aqmlab.store.ledger import Ledger
from aqmlab.store.protocol import Store
from aqmlab.store.status import Status, status

__all__ = ["Ledger", "Status", "Store", "address", "status"]
