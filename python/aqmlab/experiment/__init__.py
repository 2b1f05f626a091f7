"""One run, many runs, replications, sweeps, experiments.

Runs are independent of each other and of the number of threads: the same scenario and seed give
the same numbers, wherever and beside whatever they run. All go the way of :func:`campaign`.
"""

from aqmlab.experiment.campaign import campaign, in_order
from aqmlab.experiment.conduct import Conduct
from aqmlab.experiment.file import Experiment, Replications, WarmUp
from aqmlab.experiment.outcome import Cell, Measured, Outcome
from aqmlab.experiment.rounds import carry_out, conduct, prepare
from aqmlab.experiment.runs import run, run_each, run_many
from aqmlab.experiment.seeds import IdenticalReplications, replicate, replications
from aqmlab.experiment.sweeps import Sweep, sweep

__all__ = [
    "Cell",
    "Conduct",
    "Experiment",
    "IdenticalReplications",
    "Measured",
    "Outcome",
    "Replications",
    "Sweep",
    "WarmUp",
    "campaign",
    "carry_out",
    "conduct",
    "in_order",
    "prepare",
    "replicate",
    "replications",
    "run",
    "run_each",
    "run_many",
    "sweep",
]
