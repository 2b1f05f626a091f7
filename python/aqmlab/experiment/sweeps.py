"""Sweeps: a scenario at every combination of values."""

import itertools
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from aqmlab._core import ScenarioError
from aqmlab.custom import Given
from aqmlab.engine import Engine, Progress, Simulator
from aqmlab.estimates import Estimate, mean
from aqmlab.experiment import seeds
from aqmlab.experiment.campaign import campaign, in_order
from aqmlab.experiment.runs import as_it_is
from aqmlab.measures import Measure, Seen
from aqmlab.results import Result
from aqmlab.scenario import ScenarioLike, Table, as_said, normalize, plain, toml_value
from aqmlab.store import Store

if TYPE_CHECKING:
    import pandas as pd

SHOWN = ("statistic", "value", "low", "high", "n", "missing")
"""What a table has of an estimate."""


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep.

    Attributes
    ----------
    points : list of dict
        For each run, the swept keys with their values, and ``seed``.
    results : list of Result
        The results in the same order.
    """

    points: list[dict[str, Any]]
    results: list[Result]

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table of all runs under one another, with the swept keys and the seed before it.

        Parameters
        ----------
        name : str
            "flows", "links" or a recorded series.

        Returns
        -------
        pandas.DataFrame
            One column for each swept key (text where the value is a table), ``seed``, then the
            columns of the table.
        """
        import pandas as pd

        parts = []
        for point, result in zip(self.points, self.results, strict=True):
            part = result.table(name)
            for i, (key, value) in enumerate(point.items()):
                part.insert(i, key, value)
            parts.append(part)
        return pd.concat(parts, ignore_index=True)

    def estimates(
        self,
        measures: Iterable[Measure[Seen]],
        statistic: Callable[[list[float]], Estimate] = mean,
    ) -> "pd.DataFrame":
        """Return what the replications at each point say of some measures.

        Parameters
        ----------
        measures : iterable of Measure
            Quantities of a run, e.g. of :func:`aqmlab.measures.measures`.
        statistic : callable
            Makes an estimate of one value a replication; default: the mean with its interval.

        Returns
        -------
        pandas.DataFrame
            One row a point and measure: the swept keys, then ``measure``, ``unit``, ``statistic``,
            ``value``, ``low``, ``high``, ``n`` and ``missing``; values are in `unit`.
        """
        import pandas as pd

        at: dict[str, tuple[dict[str, Any], list[Seen]]] = {}
        for point, result in zip(self.points, self.results, strict=True):
            keys = {key: value for key, value in point.items() if key != "seed"}
            at.setdefault(json.dumps(keys), (keys, []))[1].append(Seen.whole(result))
        rows = []
        for measure in measures:
            if not isinstance(measure, Measure):
                raise ValueError(
                    f"{measure!r} is no measure; give for example those of aqmlab.measures"
                )
            for keys, runs in at.values():
                found = statistic([measure.scale * measure.of(run) for run in runs])
                about = {"measure": measure.name, "unit": measure.unit}
                rows.append(keys | about | dict(zip(SHOWN, attrgetter(*SHOWN)(found), strict=True)))
        return pd.DataFrame(rows)

    @property
    def flows(self) -> "pd.DataFrame":
        """The flows of all runs."""
        return self.table("flows")

    @property
    def links(self) -> "pd.DataFrame":
        """The links of all runs."""
        return self.table("links")


def sweep(
    scenario: ScenarioLike,
    over: Mapping[str, Sequence[Any]],
    replications: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    engine: Engine | None = None,
    store: Store | None = None,
) -> Sweep:
    """Run a scenario at every combination of values.

    Replication i has the same seed at every point, so that points are compared under the same
    random offsets (common random numbers).

    Parameters
    ----------
    scenario : path, dict or Scenario
        What all points share.
    over : mapping of str to sequence
        Dotted paths and the values each takes, e.g. ``{"network.queue.limit": ["8 packets",
        "16 packets"]}``. A value may be a table: ``{"network.queue": [DropTail(), Red()]}``.
    replications : int
        Runs at each point, 1 or more; default 1.
    jobs, progress, engine, store
        As :func:`run_each`.

    Returns
    -------
    Sweep
        The points and their results; the last key varies fastest, then the seed.

    Raises
    ------
    ScenarioError, InvariantViolation, OSError
        As :func:`run`.

    Examples
    --------
    >>> import aqmlab
    >>> swept = aqmlab.sweep("examples/one_flow.toml", {
    ...     "network.queue.limit": ["38 packets", "64 packets"],
    ...     "flows.0.traffic.size": ["100 kB"]})
    >>> list(swept.flows["network.queue.limit"])
    ['38 packets', '64 packets']
    """
    _check(over)
    given = Given()
    base = as_said(scenario, given)
    points, asks = [], []
    for values in itertools.product(*over.values()):
        overrides = [(k, toml_value(v, given)) for k, v in zip(over, values, strict=True)]
        point = json.loads(normalize(base, overrides=overrides))
        labels = {k: _label(v, given) for k, v in zip(over, values, strict=True)}
        for one in seeds.replications(point, replications):
            points.append(labels | {"seed": one["seed"]})
            asks.append((normalize(one),))
    engine = engine or Simulator(given)
    done = campaign(asks, as_it_is, engine=engine, store=store, jobs=jobs, progress=progress)
    return Sweep(points, in_order(done))


def _check(over: Any) -> None:
    """Refuse what is no mapping of keys to the values that each takes."""
    if not isinstance(over, Mapping):
        raise ScenarioError(
            f"over = {over!r} must be a dict of keys and their values, "
            'as in {"network.queue.limit": ["8 packets", "16 packets"]}'
        )
    for key, values in over.items():
        if isinstance(values, str | Mapping | Table) or not isinstance(values, Iterable):
            raise ScenarioError(
                f"over: {key}: {values!r} must be a list of values; put it in brackets"
            )
        if isinstance(values, Sequence) and not values:
            raise ScenarioError(f"over: {key}: has no values; give at least one")


def _label(value: Any, given: Given) -> Any:
    value = plain(value, given)
    return json.dumps(value) if isinstance(value, dict | list) else value
