"""Sweeps: a scenario at every combination of values."""

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab._core import ScenarioError
from aqmlab.custom import Given
from aqmlab.engine import Engine, Progress, Simulator
from aqmlab.estimates import Estimate, mean, measured
from aqmlab.experiment.campaign import campaign, check_count, in_order
from aqmlab.experiment.cube import cube
from aqmlab.experiment.packs import Packs
from aqmlab.folder import appearing_file
from aqmlab.measures import Measure, MeasuredRun
from aqmlab.scenario import ScenarioLike, Table, as_said, normalize, plain, toml_value, with_seed
from aqmlab.store import Store
from aqmlab.words import refusal, visible

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

AT_ONCE = 1000
"""Runs whose rows are put together at a time."""
SHOWN = ("statistic", "value", "low", "high", "n", "missing")
"""What a table has of an estimate."""


@dataclass(frozen=True)
class Sweep:
    """The runs of a sweep.

    Attributes
    ----------
    points : list of dict
        For each run, the swept keys with their values, and ``seed``.
    results : Packs
        The results in the same order, a sequence; each is made when it is asked for.
    """

    points: list[dict[str, Any]]
    results: Packs

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

        return pd.concat(self._parts(name), ignore_index=True)

    def write_table(self, name: str, path: str | PathLike[str]) -> None:
        """Write what :meth:`table` returns, without having all of it in memory.

        Parameters
        ----------
        name : str
            "flows", "links" or a recorded series.
        path : path
            A file to make, which ends in .csv or .parquet.

        Raises
        ------
        ValueError
            If its name ends otherwise.
        OSError
            If it is there, or cannot be written.
        """
        import pyarrow as pa
        from pyarrow import csv, parquet

        path = Path(path)
        writers = {".csv": csv.CSVWriter, ".parquet": parquet.ParquetWriter}
        if path.suffix not in writers:
            raise ValueError(f"{path} must end in {' or '.join(writers)}")
        if path.exists():
            raise FileExistsError(f"{path} is there; give another name")
        with appearing_file(path) as beside, beside.open("wb") as file:
            parts = (
                pa.Table.from_pandas(
                    part.astype({c: "str" for c in part if part[c].dtype == object}),
                    preserve_index=False,
                )
                for part in self._parts(name)
            )
            first = next(parts)
            with writers[path.suffix](file, first.schema) as writer:
                writer.write_table(first)
                for part in parts:
                    writer.write_table(part.cast(first.schema))

    def _parts(self, name: str) -> "Iterator[pd.DataFrame]":
        """Give a table of all runs, many runs at a time.

        Runs without the table have no rows, and a column that only some runs have is empty in the
        others.

        Raises
        ------
        NotMeasuredError
            If no run has the table.
        """
        import numpy as np
        import pandas as pd

        keys = pd.DataFrame(self.points)
        columns: dict[str, None] = {}
        complete = True
        for result in self.results:
            of = list(result.plain(name)) if name in result.tables else None
            complete &= of is not None and (not columns or of == list(columns))
            columns |= dict.fromkeys(of or ())
        if not columns:
            self.results[0].columns(name)
        if not complete:
            yield self._incomplete(name, list(columns))
            return
        for at in range(0, len(self.results), AT_ONCE):
            these = range(at, min(at + AT_ONCE, len(self.results)))
            results = self.results[these.start : these.stop]
            of_run = np.repeat(these, [result.shape(name)[0] for result in results])
            tables = [result.plain(name) for result in results]
            part = keys.iloc[of_run].reset_index(drop=True)
            yield part.assign(**{key: _joined([t[key] for t in tables]) for key in tables[0]})

    def _incomplete(self, name: str, columns: list[str]) -> "pd.DataFrame":
        """Return a table that some runs have only a part of, its gaps empty (pandas.NA)."""
        import pandas as pd

        parts = []
        for point, result in zip(self.points, self.results, strict=True):
            if name in result.tables:
                table = result.table(name).convert_dtypes().reindex(columns=columns)
                parts.append(pd.DataFrame(point, index=table.index).join(table))
        return pd.concat(parts, ignore_index=True)

    def estimates(
        self,
        measures: Iterable[Measure[MeasuredRun]],
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
            ``value``, ``low``, ``high``, ``n`` and ``missing``; values are in `unit`. The statistic
            of a measure that the engine did not measure is "not measured".
        """
        import pandas as pd

        at: dict[str, tuple[dict[str, Any], list[MeasuredRun]]] = {}
        for point, result in zip(self.points, self.results, strict=True):
            keys = {key: value for key, value in point.items() if key != "seed"}
            at.setdefault(json.dumps(keys), (keys, []))[1].append(MeasuredRun.of_result(result))
        rows = []
        for measure in measures:
            if not isinstance(measure, Measure):
                raise ValueError(
                    f"{measure!r} is no measure; give for example those of aqmlab.measures"
                )
            for keys, runs in at.values():
                values = map(measure.read, runs)
                found = measured([v if v is None else measure.scale * v for v in values], statistic)
                about = {"measure": measure.name, "unit": measure.unit}
                rows.append(keys | about | dict(zip(SHOWN, attrgetter(*SHOWN)(found), strict=True)))
        return pd.DataFrame(rows)

    def to_xarray(self, measures: Iterable[Measure[MeasuredRun]]) -> "xr.Dataset":
        """Return some measures by the swept keys and ``replication`` (whose ``seed`` it tells).

        Measures that no run has are not in it; its attribute ``not_measured`` names them.

        Parameters
        ----------
        measures : iterable of Measure
            Quantities of a run, e.g. of :func:`aqmlab.measures.measures`.

        Raises
        ------
        ValueError
            If xarray is not installed.
        """
        import pandas as pd

        wanted = list(measures)
        keys = list(dict.fromkeys(k for point in self.points for k in point if k != "seed"))
        numbers: dict[tuple[Any, ...], int] = {}
        made = []
        there: dict[str, None] = {}
        for point, result in zip(self.points, self.results, strict=True):
            at = numbers.setdefault(tuple(point[key] for key in keys), len(numbers))
            seen = MeasuredRun.of_result(result)
            values = {m.name: m.read(seen) for m in wanted}
            there |= dict.fromkeys(name for name, value in values.items() if value is not None)
            numbers_of = {k: math.nan if v is None else float(v) for k, v in values.items()}
            made.append({"point": at} | point | numbers_of)
        runs = pd.DataFrame(made)
        levels = {key: list(runs[key].drop_duplicates()) for key in keys}
        cubed = cube(runs, levels, {}, list(there))
        absent = [m.name for m in wanted if m.name not in there]
        return cubed.assign_attrs(not_measured=absent) if absent else cubed

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
    check_count("replications", replications)
    check_count("replications of all values", replications * math.prod(map(len, over.values())))
    points: list[dict[str, Any]] = []

    def asks() -> Iterator[tuple[str, ...]]:
        for values in itertools.product(*over.values()):
            overrides = [(k, toml_value(v, given)) for k, v in zip(over, values, strict=True)]
            text = normalize(base, overrides=overrides)
            labels = {k: _label(k, v, given) for k, v in zip(over, values, strict=True)}
            first = json.loads(text)["seed"]
            for seed in range(first, first + replications):
                points.append(labels | {"seed": seed})
                yield (with_seed(text, seed),)

    results = Packs()
    done = campaign(
        asks(), results.packed, engine=engine or Simulator(given), store=store, jobs=jobs,
        progress=progress,
    )  # fmt: skip
    results.put(in_order(done))
    return Sweep(points, results)


def _joined(columns: list[Any]) -> Any:
    """Return columns of the same name one below the other."""
    import numpy as np
    import pandas as pd

    if isinstance(columns[0], list):
        return pd.array(list(itertools.chain.from_iterable(columns)), dtype="str")
    dtypes = {dtype for dtype, _ in columns}
    if len(dtypes) == 1:
        return np.frombuffer(bytearray().join(told for _, told in columns), dtypes.pop())
    return np.concatenate([np.frombuffer(told, dtype) for dtype, told in columns])


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


def _label(key: str, value: Any, given: Given) -> Any:
    """Return a value as tables have it.

    Raises
    ------
    ScenarioError
        If it is a text that a table cannot hold.
    """
    value = plain(value, given)
    if isinstance(value, str) and (why := refusal(value)):
        raise ScenarioError(f"over: {key}: {visible(json.dumps(value))} {why}")
    return json.dumps(value) if isinstance(value, dict | list) else value
