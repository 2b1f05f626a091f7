"""Sweeps: runs of a scenario with every combination of the values of several keys."""

import itertools
import json
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import representation
from aqmlab._core import ScenarioError, check
from aqmlab.custom import CustomAqms
from aqmlab.engine import Engine, Progress, engine_with
from aqmlab.estimates import Estimate, mean, measured
from aqmlab.experiment.campaign import campaign, check_count, in_order
from aqmlab.experiment.cube import cube
from aqmlab.experiment.outcome import Measured, Outcome
from aqmlab.experiment.packs import Packs
from aqmlab.folder import appearing_file
from aqmlab.measures import Measure, MeasuredRun, base_unit, measures
from aqmlab.results import busiest_link
from aqmlab.scenario import (
    Overrides,
    ScenarioLike,
    Table,
    as_written,
    document_text,
    overrides_of,
    plain,
    seed_of,
    toml_value,
    with_seed,
)
from aqmlab.store import Store
from aqmlab.words import refusal, visible

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

MOST_SHOWN = 2000
"""Maximum number of runs whose measures the representation in a notebook computes."""
SWEPT = ("goodput_bps", "mean_delay_s", "utilization", "drop_rate")
"""Measures in the representation of a sweep in a notebook, if the runs have them."""
PART_RUNS = 1000
"""Maximum number of runs per part of a table."""
SHOWN = ("statistic", "value", "low", "high", "n", "missing")
"""Attributes of an estimate that are columns of a table."""


@dataclass(frozen=True, repr=False)
class Sweep:
    """Points and results of a sweep.

    Attributes
    ----------
    points : list of dict
        Point of each run: the values of the swept keys, and ``seed``.
    results : Packs
        Results of the runs in the order of `points`. Each result is decompressed on access.
    """

    points: list[dict[str, Any]]
    results: Packs

    def __repr__(self) -> str:
        keys = dict.fromkeys(key for point in self.points for key in point if key != "seed")
        over = f" over {', '.join(keys)}" if keys else ""
        return f"<Sweep of {len(self.points)} runs{over}>"

    def _repr_html_(self) -> str:
        if len(self.points) > MOST_SHOWN:
            return representation.card(repr(self), [f"More than {MOST_SHOWN} runs: no table."])
        return self._outcome()._repr_html_()

    def _outcome(self) -> Outcome:
        """Return the goodput of each run, and measures of the busiest link, as an outcome."""
        import pandas as pd

        first = MeasuredRun.of_result(self.results[0])
        links = [link for link in [busiest_link(first.result)] if link]
        chosen = [m for m in measures(links, first.crossing) if m.name in SWEPT]
        factors = [key for key in self.points[0] if key != "seed"]
        numbers: dict[str, int] = {}
        rows: list[dict[str, Any]] = []
        for point, result in zip(self.points, self.results, strict=True):
            seen = MeasuredRun.of_result(result)
            read = {m.name: _read(m, seen) for m in chosen}
            at = json.dumps([point[key] for key in factors])
            about = {"arm": "", "warnings": "\n".join(result.warnings), "failed": ""}
            rows.append({"point": numbers.setdefault(at, len(numbers))} | point | about | read)
        title = first.result.scenario["title"] or "Untitled scenario"
        return Outcome(
            pd.DataFrame(rows), factors, [""], [Measured.of(m) for m in chosen], f"Sweep of {title}"
        )

    def table(self, name: str) -> "pd.DataFrame":
        """Return a table with the rows of all runs, and with the swept keys and seeds as columns.

        Parameters
        ----------
        name : str
            Name of the table: "flows", "links" or a recorded series.

        Returns
        -------
        pandas.DataFrame
            Table with a column per swept key, the column ``seed``, and the columns of the runs'
            tables. If the value of a swept key is a table, its column has JSON text.
        """
        import pandas as pd

        return pd.concat(self._parts(name), ignore_index=True)

    def write_table(self, name: str, path: str | PathLike[str]) -> None:
        """Write the table that :meth:`table` would return to a file, in parts to save memory.

        Parameters
        ----------
        name : str
            Name of the table: "flows", "links" or a recorded series.
        path : path
            Path of a new file that ends in .csv or .parquet.

        Raises
        ------
        ValueError
            If the path does not end in .csv or .parquet.
        OSError
            If the file already exists, or cannot be written.
        """
        import pyarrow as pa
        from pyarrow import csv, parquet

        path = Path(path)
        writers = {".csv": csv.CSVWriter, ".parquet": parquet.ParquetWriter}
        if path.suffix not in writers:
            raise ValueError(f"{path}: the name of the file must end in {' or '.join(writers)}")
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
        """Yield the table of :meth:`table` in parts of at most `PART_RUNS` runs.

        A run that does not have the table contributes no rows. If only some runs have a column, the
        column is empty in the rows of all other runs.

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
        """Return a table whose columns differ between the runs; missing values are pandas.NA."""
        import pandas as pd

        parts = []
        for point, result in zip(self.points, self.results, strict=True):
            if name in result.tables:
                table = result.table(name).convert_dtypes()
                # pandas.concat adds the columns that a run lacks.
                known = table.dropna(axis="columns", how="all")
                parts.append(pd.DataFrame(point, index=table.index).join(known))
        of_points = [column for column in parts[0] if column not in columns]
        joined = pd.concat(parts, ignore_index=True)
        return joined.reindex(columns=[*of_points, *columns], fill_value=pd.NA)

    def estimates(
        self,
        measures: Iterable[Measure[MeasuredRun]],
        statistic: Callable[[list[float]], Estimate] = mean,
    ) -> "pd.DataFrame":
        """Return the estimates of measures at each point, over its replications.

        Parameters
        ----------
        measures : iterable of Measure
            Measures to estimate, for example those that :func:`aqmlab.measures.measures` returns.
        statistic : callable
            Function that computes an estimate from a list with one value per replication; default:
            the mean with its interval.

        Returns
        -------
        pandas.DataFrame
            Table with one row per point and measure. The columns of the table are the swept keys,
            ``measure``, ``unit``, ``statistic``, ``value``, ``low``, ``high``, ``n`` and
            ``missing``. The values are in `unit`. The statistic of a measure that the engine did
            not measure is "not measured".
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
                    f"{measure!r} is not a measure; give for example the measures that "
                    "aqmlab.measures.measures returns"
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
        """Return measures as arrays with one dimension per swept key, and ``replication``.

        The coordinates of a key with units are numbers in the base unit, and have the attribute
        ``units``; see :meth:`aqmlab.experiment.Outcome.to_xarray`. The coordinate ``seed`` has the
        seed of each replication. A measure without a value in any run is not in the dataset, and
        the attribute ``not_measured`` lists its name.

        Parameters
        ----------
        measures : iterable of Measure
            Measures to return, for example those that :func:`aqmlab.measures.measures` returns.

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
        units = {m.name: base_unit(m.unit, m.scale) for m in wanted if m.name in present}
        dataset = cube(runs, levels, {}, units)
        absent = [m.name for m in wanted if m.name not in present]
        return dataset.assign_attrs(not_measured=absent) if absent else dataset

    @property
    def flows(self) -> "pd.DataFrame":
        """Table ``flows`` with the rows of all runs."""
        return self.table("flows")

    @property
    def links(self) -> "pd.DataFrame":
        """Table ``links`` with the rows of all runs."""
        return self.table("links")


def sweep(
    scenario: ScenarioLike,
    over: Mapping[str, Sequence[Any]],
    replications: int = 1,
    jobs: int | None = None,
    progress: Progress | None = None,
    *,
    overrides: Overrides = (),
    engine: Engine | None = None,
    store: Store | None = None,
) -> Sweep:
    """Run a scenario with every combination of the values of several keys.

    Replication i has the same seed at every point (common random numbers), so that the points
    differ only in the values of the keys.

    Parameters
    ----------
    scenario : path, name, dict or Scenario
        Scenario from which the scenarios of all points are derived.
    over : mapping of str to sequence
        Values of each key, by dotted path of the key, e.g. ``{"network.queue.limit": ["8 packets",
        "16 packets"]}``. A value may be a table: ``{"network.queue": [DropTail(), Red()]}``.
    replications : int
        Number of runs at each point, 1 or more; default 1.
    jobs, progress, engine, store
        As for :func:`run_each`.
    overrides
        Changes of the scenario at every point, as for :func:`run`.

    Returns
    -------
    Sweep
        Points and results of the sweep. The seed varies fastest, then the last key.

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
    text = document_text(as_written(scenario, aqms))
    fixed = overrides_of(overrides, aqms)
    check_count("replications", replications)
    check_count("replications of all values", replications * math.prod(map(len, over.values())))
    points: list[dict[str, Any]] = []

    def requests() -> Iterator[tuple[str, ...]]:
        levels = [
            [((key, toml_value(value, aqms)), (key, _label(key, value, aqms))) for value in values]
            for key, values in over.items()
        ]
        for point in itertools.product(*levels):
            swept, labels = [change for change, _ in point], dict(label for _, label in point)
            of_point = check(text, "json", [*fixed, *swept])
            first = seed_of(of_point)
            for seed in range(first, first + replications):
                points.append(labels | {"seed": seed})
                yield (with_seed(of_point, seed),)

    results = Packs()
    done = campaign(
        requests(), results.packed, engine=engine_with(engine, aqms), store=store, jobs=jobs,
        progress=progress,
    )  # fmt: skip
    results.put(in_order(done))
    return Sweep(points, results)


def _read(measure: Measure[MeasuredRun], run: MeasuredRun) -> float:
    """Return the value of a measure; NaN if the run does not have the link or the quantity."""
    try:
        return float(measure.of(run))
    except ValueError:
        return math.nan


def _joined(columns: list[Any]) -> Any:
    """Concatenate the columns of one name from several runs."""
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
            f"over = {over!r} is not a dict; give a dict with a list of values for each key, "
            'e.g. {"network.queue.limit": ["8 packets", "16 packets"]}'
        )
    for key, values in over.items():
        if isinstance(values, str | Mapping | Table) or not isinstance(values, Iterable):
            raise ScenarioError(
                f"over: {key}: {values!r} is not a list; put a single value in brackets"
            )
        if isinstance(values, Sequence) and not values:
            raise ScenarioError(f"over: {key}: the list is empty; give at least one value")


def _label(key: str, value: Any, aqms: CustomAqms) -> Any:
    """Return the value of a swept key as a value in a table.

    Raises
    ------
    ScenarioError
        If the value is a text that a table cannot contain.
    """
    value = plain(value, aqms)
    if isinstance(value, str) and (why := refusal(value)):
        raise ScenarioError(f"over: {key}: {visible(json.dumps(value))} {why}")
    return json.dumps(value) if isinstance(value, dict | list) else value
