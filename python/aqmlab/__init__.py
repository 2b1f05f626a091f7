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

``dir(aqmlab)`` lists what most programs need. Every other table of a scenario, such as
:class:`aqmlab.parameters.Red`, also has the short name ``aqmlab.Red``. docs/reference/python.md
lists all public names.

``import aqmlab`` is quick, because each name is imported when it is first used, and so are numpy,
pandas and similar packages.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from aqmlab import interrupts as interrupts  # first: Ctrl-C may come while others are imported
from aqmlab._core import InvariantViolation as InvariantViolation
from aqmlab._core import ScenarioError as ScenarioError
from aqmlab._core import version

if TYPE_CHECKING:
    from aqmlab.comparison import compare as compare
    from aqmlab.custom import PASS as PASS
    from aqmlab.custom import Arrival as Arrival
    from aqmlab.custom import CustomQueue as CustomQueue
    from aqmlab.custom import Packet as Packet
    from aqmlab.custom import Place as Place
    from aqmlab.custom import Verdict as Verdict
    from aqmlab.custom import drop as drop
    from aqmlab.custom import signal as signal
    from aqmlab.experiment import ScenarioWarning as ScenarioWarning
    from aqmlab.experiment import Sweep as Sweep
    from aqmlab.experiment import replicate as replicate
    from aqmlab.experiment import run as run
    from aqmlab.experiment import run_each as run_each
    from aqmlab.experiment import run_many as run_many
    from aqmlab.experiment import sweep as sweep
    from aqmlab.parameters import *  # noqa: F403
    from aqmlab.results import Result as Result

__version__ = version()

_NAMES = {
    "aqmlab": ("InvariantViolation", "ScenarioError"),
    "aqmlab.comparison": ("compare",),
    "aqmlab.custom": (
        *("PASS", "Arrival", "CustomQueue", "Packet", "Place", "Verdict", "drop", "signal"),
    ),
    "aqmlab.experiment": (
        *("ScenarioWarning", "Sweep", "replicate", "run", "run_each", "run_many", "sweep"),
    ),
    "aqmlab.parameters": (*("Dumbbell", "Flow", "Graph", "Link", "Record", "Scenario", "Tcp"),),
    "aqmlab.results": ("Result",),
}
"""Public names of this package, by the module that defines them."""
_MODULES = (
    *(
        "comparison",
        "custom",
        "engine",
        "experiment",
        "figures",
        "measures",
        "models",
        "parameters",
    ),
    *("script", "statistics", "store", "studies", "tc"),
)
"""Public modules of this package."""
_MODULE_OF = {name: module for module, names in _NAMES.items() for name in names}

__all__ = sorted(_MODULE_OF)


def __getattr__(name: str) -> Any:
    """Import a name of this package, a module of the package, or a table of a scenario."""
    if name in _MODULE_OF:
        return globals().setdefault(name, getattr(import_module(_MODULE_OF[name]), name))
    if not name.startswith("_"):
        try:
            return import_module(f"{__name__}.{name}")
        except ModuleNotFoundError as e:
            if e.name != f"{__name__}.{name}":
                raise
    parameters = import_module("aqmlab.parameters")
    if name in parameters.__all__:
        return globals().setdefault(name, getattr(parameters, name))
    raise AttributeError(f"module 'aqmlab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES, "__doc__", "__version__"])
