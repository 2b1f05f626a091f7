"""Sweeps: runs of a scenario with every combination of values of some keys."""

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
from aqmlab.custom import CustomAqms
from aqmlab.engine import Engine, Progress, Simulator
from aqmlab.estimates import Estimate, mean, measured
from aqmlab.experiment.campaign import campaign, check_count, in_order
from aqmlab.experiment.cube import cube
from aqmlab.experiment.packs import Packs
from aqmlab.folder import appearing_file
from aqmlab.measures import Measure, MeasuredRun
from aqmlab.scenario import ScenarioLike, Table, as_written, normalize, plain, toml_value, with_seed
from aqmlab.store import Store
from aqmlab.words import refusal, visible

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

PART_RUNS = 1000
"""Number of runs whose rows are in one part of a table."""
SHOWN = ("statistic", "value", "low", "high", "n", "missing")
"""Attributes of an estimate that a table shows."""


@dataclass(frozen=True)
class Sweep:
    """Runs of a sweep.

    Attributes
    ----------
    points : list of dict
        For each run, the swept keys with their values, and ``seed``.
    results : Packs
        Sequence of the results in the same order. A result is unpacked when it is read.
    """

    points: list[dict[str, Any]]
    results: Packs

    def table(self, name: str) -> "pd.DataFrame":
        """Return the rows of a table of all runs, with the swept keys and the seed of each run.

        Parameters
        ----------
        name : str
            "flows", "links" or a recorded series.

        Returns
        -------
        pandas.DataFrame
            One column per swept key (JSON text if a value is a table), ``seed``, then the columns
            of the table.
        """
        import pandas as pd

        return pd.concat(self._parts(name), ignore_index=True)

    def write_table(self, name: str, path: str | PathLike[str]) -> None:
        """Write the table that :meth:`table` returns to a file, part by part to save memory.

        Parameters
        ----------
        name : str
            "flows", "links" or a recorded series.
        path : path
            Path of a new file that ends in .csv or .parquet.

        Raises
        ------
        ValueError
            If the path has another ending.
        OSError
            If the file already exists, or cannot be written.
        """
        import pyarrow as pa
        from pyarrow import csv, parquet

        path = Path(path)
        writers = {".csv": csv.CSVWriter, ".parquet": parquet.ParquetWriter}
        if path.suffix not in writers:
            raise ValueError(
                f"{path} is not the name of a table; it must end in {' or '.join(writers)}"
            )
        if path.exists():
            raise FileExistsError(f"{path} already exists; give another name")
        with appearing_file(path) as temporary, temporary.open("wb") as file:
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
        """Yield the rows of a table of all runs in parts of many runs.

        The parts have no rows for a run without the table. A column that only some runs have is
        empty in the rows of the other runs.

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
            names = list(result.plain(name)) if name in result.tables else None
            complete &= names is not None and (not columns or names == list(columns))
            columns |= dict.fromkeys(names or ())
        if not columns:
            self.results[0].columns(name)  # raises NotMeasuredError
        if not complete:
            yield self._incomplete(name, list(columns))
            return
        for start in range(0, len(self.results), PART_RUNS):
            runs = range(start, min(start + PART_RUNS, len(self.results)))
            results = self.results[runs.start : runs.stop]
            of_run = np.repeat(runs, [result.shape(name)[0] for result in results])
            tables = [result.plain(name) for result in results]
            part = keys.iloc[of_run].reset_index(drop=True)
            yield part.assign(**{key: _joined([t[key] for t in tables]) for key in tables[0]})

    def _incomplete(self, name: str, columns: list[str]) -> "pd.DataFrame":
        """Return the rows of a table whose columns differ between runs, with gaps as pandas.NA."""
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
        """Return the estimates of some measures over the replications at each point.

        Parameters
        ----------
        measures : iterable of Measure
            Measures of a run, for example those of :func:`aqmlab.measures.measures`.
        statistic : callable
            Function that returns an estimate from one value per replication; default: the mean with
            its interval.

        Returns
        -------
        pandas.DataFrame
            One row per point and measure: the swept keys, then ``measure``, ``unit``,
            ``statistic``, ``value``, ``low``, ``high``, ``n`` and ``missing``; values are in
            `unit`. The statistic of a measure that the engine did not measure is "not measured".
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
                    f"{measure!r} is not a measure; give for example those of aqmlab.measures"
                )
            for keys, runs in at.values():
                values = map(measure.read, runs)
                scaled = [value if value is None else measure.scale * value for value in values]
                estimate = dict(
                    zip(SHOWN, attrgetter(*SHOWN)(measured(scaled, statistic)), strict=True)
                )
                rows.append(keys | {"measure": measure.name, "unit": measure.unit} | estimate)
        return pd.DataFrame(rows)

    def to_xarray(self, measures: Iterable[Measure[MeasuredRun]]) -> "xr.Dataset":
        """Return some measures as arrays over the swept keys and ``replication``.

        The coordinate ``seed`` has the seed of each replication. The attribute ``not_measured``
        names the measures that no run has; the dataset does not contain them.

        Parameters
        ----------
        measures : iterable of Measure
            Measures of a run, for example those of :func:`aqmlab.measures.measures`.

        Raises
        ------
        ValueError
            If xarray is not installed.
        """
        import pandas as pd

        wanted = list(measures)
        keys = list(dict.fromkeys(k for point in self.points for k in point if k != "seed"))
        numbers: dict[tuple[Any, ...], int] = {}
        rows = []
        present: dict[str, None] = {}
        for point, result in zip(self.points, self.results, strict=True):
            number = numbers.setdefault(tuple(point[key] for key in keys), len(numbers))
            seen = MeasuredRun.of_result(result)
            values = {m.name: m.read(seen) for m in wanted}
            present |= dict.fromkeys(name for name, value in values.items() if value is not None)
            floats = {k: math.nan if v is None else float(v) for k, v in values.items()}
            rows.append({"point": number} | point | floats)
        runs = pd.DataFrame(rows)
        levels = {key: list(runs[key].drop_duplicates()) for key in keys}
        dataset = cube(runs, levels, {}, list(present))
        absent = [m.name for m in wanted if m.name not in present]
        return dataset.assign_attrs(not_measured=absent) if absent else dataset

    @property
    def flows(self) -> "pd.DataFrame":
        """Table of the flows of all runs."""
        return self.table("flows")

    @property
    def links(self) -> "pd.DataFrame":
        """Table of the links of all runs."""
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
    """Run a scenario with every combination of values of some keys.

    Replication i has the same seed at every point (common random numbers), so that the points
    differ only in their values.

    Parameters
    ----------
    scenario : path, dict or Scenario
        The scenario that all points change.
    over : mapping of str to sequence
        Dotted paths and their values, e.g. ``{"network.queue.limit": ["8 packets",
        "16 packets"]}``. A value may be a table: ``{"network.queue": [DropTail(), Red()]}``.
    replications : int
        Number of runs at each point, 1 or more; default 1.
    jobs, progress, engine, store
        As for :func:`run_each`.

    Returns
    -------
    Sweep
        The points and their results. The last key varies fastest, then the seed.

    Raises
    ------
    ScenarioError, InvariantViolation, OSError
        As for :func:`run`.

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
    aqms = CustomAqms()
    base = as_written(scenario, aqms)
    check_count("replications", replications)
    check_count("replications of all values", replications * math.prod(map(len, over.values())))
    points: list[dict[str, Any]] = []

    def requests() -> Iterator[tuple[str, ...]]:
        for values in itertools.product(*over.values()):
            overrides = [(k, toml_value(v, aqms)) for k, v in zip(over, values, strict=True)]
            text = normalize(base, overrides=overrides)
            labels = {k: _label(k, v, aqms) for k, v in zip(over, values, strict=True)}
            first = json.loads(text)["seed"]
            for seed in range(first, first + replications):
                points.append(labels | {"seed": seed})
                yield (with_seed(text, seed),)

    results = Packs()
    done = campaign(
        requests(), results.packed, engine=engine or Simulator(aqms), store=store, jobs=jobs,
        progress=progress,
    )  # fmt: skip
    results.put(in_order(done))
    return Sweep(points, results)


def _joined(columns: list[Any]) -> Any:
    """Return the concatenation of columns with the same name."""
    import numpy as np
    import pandas as pd

    if isinstance(columns[0], list):
        return pd.array(list(itertools.chain.from_iterable(columns)), dtype="str")
    dtypes = {dtype for dtype, _ in columns}
    if len(dtypes) == 1:
        return np.frombuffer(bytearray().join(data for _, data in columns), dtypes.pop())
    return np.concatenate([np.frombuffer(data, dtype) for dtype, data in columns])


def _check(over: Any) -> None:
    """Raise ScenarioError unless `over` is a mapping of keys to lists of values."""
    if not isinstance(over, Mapping):
        raise ScenarioError(
            f"over = {over!r} must be a dict with a list of values for each key, "
            'e.g. {"network.queue.limit": ["8 packets", "16 packets"]}'
        )
    for key, values in over.items():
        if isinstance(values, str | Mapping | Table) or not isinstance(values, Iterable):
            raise ScenarioError(
                f"over: {key}: {values!r} must be a list; put the single value in brackets"
            )
        if isinstance(values, Sequence) and not values:
            raise ScenarioError(f"over: {key}: the list is empty; give at least one value")


def _label(key: str, value: Any, aqms: CustomAqms) -> Any:
    """Return a value of a swept key for a table.

    Raises
    ------
    ScenarioError
        If the value is a text that a table cannot contain.
    """
    value = plain(value, aqms)
    if isinstance(value, str) and (why := refusal(value)):
        raise ScenarioError(f"over: {key}: {visible(json.dumps(value))} {why}")
    return json.dumps(value) if isinstance(value, dict | list) else value
