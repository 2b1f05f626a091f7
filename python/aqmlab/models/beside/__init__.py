"""What closed forms and the fluid say of a run, beside what it measured.

:func:`beside` decides by the scenario which models fit it: datagrams at an unlimited Drop Tail
queue (`datagrams.py`), long transfers and their signals (`transfers.py`), the loop of an AQM
law and Reno (`loops.py`). What does not fit is said, with the reason.
"""

from aqmlab.models.beside.compared import Beside, beside, needed
from aqmlab.models.beside.row import Row

__all__ = ["Beside", "Row", "beside", "needed"]
