"""Values that a comparison keeps from one run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Self

from aqmlab import estimates
from aqmlab.measures import AtLeast, Measure, MeasuredRun
from aqmlab.results import NotMeasuredError
from aqmlab.statistics import Interval


@dataclass(frozen=True)
class Run:
    """Measures, warnings and sampled queues of one run in a comparison.

    Attributes
    ----------
    seed : int
        Seed of the run.
    measures : dict of str to float
        Value of each measure by name; NaN if the run has no value of the measure.
    at_least : tuple of str
        Measures whose value is only a lower bound.
    traces : dict of str to list, optional
        Sample times in s and queue lengths in packets, by name of the link; None if the run did not
        record the series "queue".
    warnings : dict of str to str
        Text of each warning, by the key of the scenario that the warning concerns.
    not_measured : tuple of str
        Names of the measures that the engine did not measure; their value in `measures` is NaN.
    start_spread_s : float, optional
        Maximum random offset of the start of a flow, in s; None if the engine does not state it.
    flows : dict of str to (float, float)
        Round-trip time without queueing in s, and goodput in bit/s, of each bulk flow. Empty if the
        round-trip times are equal.
    engine : str
        Description of the engine that measured the run; empty for the simulator.
    """

    seed: int
    measures: dict[str, float]
    at_least: tuple[str, ...] = ()
    traces: dict[str, list[list[float]]] | None = None
    warnings: dict[str, str] = field(default_factory=dict)
    not_measured: tuple[str, ...] = ()
    start_spread_s: float | None = None
    flows: dict[str, tuple[float, float]] = field(default_factory=dict)
    engine: str = ""

    @classmethod
    def of(
        cls,
        run: MeasuredRun,
        possible: list[Measure[MeasuredRun]],
        round_trips: Mapping[str, float],
    ) -> Self:
        """Compute measures of a run, and the goodput of each flow in `round_trips`."""
        values = {m.name: m.read(run) for m in possible}
        traces: dict[str, list[list[float]]] | None = None
        if "queue" in run.result.tables:
            table, traces = run.result.columns("queue"), {}
            rows = zip(table["link"], table["time_s"], table["queue_packets"], strict=True)
            for link, time_s, packets in rows:
                trace = traces.setdefault(link, [[], []])
                trace[0].append(float(time_s))
                trace[1].append(float(packets))
        return cls(
            run.result.manifest["seed"],
            {name: math.nan if value is None else float(value) for name, value in values.items()},
            tuple(name for name, value in values.items() if isinstance(value, AtLeast)),
            traces,
            {w["about"]: w["text"] for w in run.result.manifest.get("warnings", [])},
            tuple(name for name, value in values.items() if value is None),
            run.result.manifest.get("start_spread_s"),
            _goodputs(run, round_trips),
            run.result.manifest.get("engine", ""),
        )

    def as_dict(self, names: list[str]) -> dict[str, Any]:
        """Return the seed and the named measures for JSON, with None instead of NaN."""
        values: dict[str, Any] = {"seed": self.seed}
        values |= {n: _null(self.measures[n]) for n in names}
        return values | ({"at_least": list(self.at_least)} if self.at_least else {})


def flow_goodputs(runs: list[Run]) -> dict[str, tuple[float, Interval]]:
    """Return the round-trip time in s and the mean goodput in bit/s of each flow over runs.

    The result is empty if all bulk flows have the same round-trip time.
    """
    times = {flow: time_s for run in runs for flow, (time_s, _) in run.flows.items()}
    absent = (math.nan, math.nan)
    return {
        flow: (time_s, estimates.mean(run.flows.get(flow, absent)[1] for run in runs).interval)
        for flow, time_s in times.items()
    }


def _goodputs(run: MeasuredRun, round_trips: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return the round-trip time and the goodput of each flow in `round_trips`, if measured."""
    try:
        goodputs = run.goodputs() if round_trips else {}
    except NotMeasuredError:
        return {}
    return {flow: (round_trips[flow], goodput) for flow, goodput in goodputs.items()}


def _null(x: float) -> float | None:
    """Return None for NaN, and every other number unchanged."""
    return None if math.isnan(x) else x
