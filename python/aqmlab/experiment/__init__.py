"""One run, many runs, replications, sweeps.

Runs are independent of each other and of the number of threads: the same scenario and seed give
the same numbers, wherever and beside whatever they run. All go the way of :func:`campaign`.
"""

from aqmlab.experiment.campaign import campaign, in_order
from aqmlab.experiment.design import Sweep, sweep
from aqmlab.experiment.runs import run, run_each, run_many
from aqmlab.experiment.seeds import IdenticalReplications, replicate, replications

__all__ = [
    "IdenticalReplications",
    "Sweep",
    "campaign",
    "in_order",
    "replicate",
    "replications",
    "run",
    "run_each",
    "run_many",
    "sweep",
]
