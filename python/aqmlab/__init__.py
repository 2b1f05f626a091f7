"""A packet-level laboratory for bottleneck queues: RED, ECN and TCP.

>>> import aqmlab
>>> scenario = aqmlab.Scenario(
...     network=aqmlab.Dumbbell(
...         rate="1.5 Mbit/s", delay="20 ms", queue=aqmlab.Red(limit="64 packets"),
...         left_rate="10 Mbit/s", left_delay="0.5 ms",
...         right_rate="10 Mbit/s", right_delay="0.5 ms"),
...     flows=[aqmlab.Flow(from_="left-0", to="right-0", traffic=aqmlab.Bulk(size="100 kB"))])
>>> int(aqmlab.run(scenario).flows["acked_bytes"].sum())
100000

``import aqmlab`` is quick: numpy, pandas and the like are imported where they are first needed.
"""

from aqmlab import interrupts as interrupts  # first: Ctrl-C may come while the others are imported
from aqmlab import parameters
from aqmlab._core import InvariantViolation, ScenarioError, version
from aqmlab.custom import PASS, Arrival, CustomQueue, Packet, Place, Verdict, drop, signal
from aqmlab.experiment import Sweep, replicate, run, run_each, run_many, sweep
from aqmlab.parameters import *  # noqa: F403 (the tables of a scenario: generated)
from aqmlab.results import Result

__version__ = version()

__all__ = [
    "PASS",
    "Arrival",
    "CustomQueue",
    "InvariantViolation",
    "Packet",
    "Place",
    "Result",
    "ScenarioError",
    "Sweep",
    "Verdict",
    "drop",
    "replicate",
    "run",
    "run_each",
    "run_many",
    "signal",
    "sweep",
]
__all__ += parameters.__all__
