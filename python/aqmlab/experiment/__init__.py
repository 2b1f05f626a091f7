"""Execution of runs: single runs, replications, sweeps and experiments.

The result of a run depends only on its scenario and its seed. The result is the same on every
machine, with any number of threads, and whatever other runs are executed at the same time. Every
run is executed by :func:`campaign`.
"""

from aqmlab.experiment.campaign import campaign, in_order
from aqmlab.experiment.file import Experiment, Replications, WarmUp
from aqmlab.experiment.outcome import ArmEstimate, Measured, Outcome
from aqmlab.experiment.prepared import PreparedExperiment
from aqmlab.experiment.rounds import carry_out, conduct, prepare
from aqmlab.experiment.runs import ScenarioWarning, run, run_each, run_many
from aqmlab.experiment.seeds import IdenticalReplications, replicate, replications
from aqmlab.experiment.sweeps import Sweep, sweep

__all__ = [
    "ArmEstimate",
    "Experiment",
    "IdenticalReplications",
    "Measured",
    "Outcome",
    "PreparedExperiment",
    "Replications",
    "ScenarioWarning",
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
