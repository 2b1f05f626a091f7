"""Comparison of the predictions of analytic models with the measurements of a run.

:func:`compare` selects the models that apply to the scenario. There are models of datagrams at a
Drop Tail queue (`datagrams.py`), of responses of servers (`responses.py`), of long transfers
(`transfers.py`), and of the control loop of Reno and an AQM (`loops.py`). :func:`compare` also
reports each model that does not apply, with the reason.
"""

from aqmlab.models.comparison.compared import Comparison, compare, needed
from aqmlab.models.comparison.row import Row

__all__ = ["Comparison", "Row", "compare", "needed"]
