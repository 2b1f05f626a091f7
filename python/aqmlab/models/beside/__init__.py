"""Comparison of closed forms and the fluid model with the measurements of a run.

:func:`beside` selects the models that apply to the scenario: datagrams at an unlimited Drop Tail
queue (`datagrams.py`), responses of servers (`responses.py`), long transfers and their signals
(`transfers.py`), and the loop of an AQM and Reno (`loops.py`). It reports each model that does not
apply, with the reason.
"""

from aqmlab.models.beside.compared import Beside, beside, needed
from aqmlab.models.beside.row import Row

__all__ = ["Beside", "Row", "beside", "needed"]
