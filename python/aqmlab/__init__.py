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

``import aqmlab`` is quick: each name of this module is imported when it is first used, as are
numpy, pandas and similar packages, and the tables of a scenario (:mod:`aqmlab.parameters`,
generated).
"""

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from aqmlab import interrupts as interrupts  # first: Ctrl-C may come while others are imported
from aqmlab._core import InvariantViolation as InvariantViolation
from aqmlab._core import ScenarioError as ScenarioError
from aqmlab._core import version

if TYPE_CHECKING:
    from aqmlab.custom import PASS as PASS
    from aqmlab.custom import Arrival as Arrival
    from aqmlab.custom import CustomQueue as CustomQueue
    from aqmlab.custom import Packet as Packet
    from aqmlab.custom import Place as Place
    from aqmlab.custom import Verdict as Verdict
    from aqmlab.custom import drop as drop
    from aqmlab.custom import signal as signal
    from aqmlab.experiment import Sweep as Sweep
    from aqmlab.experiment import replicate as replicate
    from aqmlab.experiment import run as run
    from aqmlab.experiment import run_each as run_each
    from aqmlab.experiment import run_many as run_many
    from aqmlab.experiment import sweep as sweep
    from aqmlab.parameters import *  # noqa: F403
    from aqmlab.results import Result as Result

__version__ = version()

_CUSTOM = "PASS", "Arrival", "CustomQueue", "Packet", "Place", "Verdict", "drop", "signal"
_EXPERIMENT = "Sweep", "replicate", "run", "run_each", "run_many", "sweep"
_FROM = (
    dict.fromkeys(_CUSTOM, "aqmlab.custom")
    | dict.fromkeys(_EXPERIMENT, "aqmlab.experiment")
    | {"Result": "aqmlab.results"}
)


def __getattr__(name: str) -> Any:
    """Import what is named here, a module of the package, or one of the tables of a scenario."""
    if name in _FROM:
        return globals().setdefault(name, getattr(import_module(_FROM[name]), name))
    if not name.startswith("_") and find_spec(f"{__name__}.{name}"):
        return import_module(f"{__name__}.{name}")
    parameters = import_module("aqmlab.parameters")
    if name == "__all__":
        return sorted([*_FROM, "InvariantViolation", "ScenarioError"]) + parameters.__all__
    if name in parameters.__all__:
        return globals().setdefault(name, getattr(parameters, name))
    raise AttributeError(f"module 'aqmlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})
