"""What an experiment found: a row a run, and what the rows say of each arm at each point."""

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aqmlab import estimates, statistics
from aqmlab.estimates import Estimate, Kind
from aqmlab.experiment.conduct import Row
from aqmlab.experiment.cube import cube
from aqmlab.experiment.file import Experiment
from aqmlab.measures import Measure, MeasuredRun
from aqmlab.statistics import Effects, Interval, false_discovery, holm
from aqmlab.words import refusal, visible

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

FILE = "runs.parquet"
ABOUT = b"aqmlab"
FIXED = ("point", "arm", "seed", "warnings", "failed", "not_measured")
"""Columns of every table of runs, besides those of factors and measures."""


NONE = estimates.measured([None], estimates.mean)
"""Estimate of what the engine did not measure."""


@dataclass(frozen=True)
class Measured:
    """A measure as a table of runs has it: name, unit it is shown in, factor to it, direction."""

    name: str
    unit: str
    scale: float
    better: int

    def shown(self, values: Iterable[float]) -> list[float]:
        """Return values in the unit that they are shown in."""
        return [self.scale * value for value in values]


@dataclass(frozen=True)
class Cell:
    """What the replications of an arm say of a measure, at a point or over several.

    Attributes
    ----------
    at : dict
        The factors that are told apart, and their values here.
    arm : str
        The arm.
    measure : Measured
        The measure; all numbers are in its unit.
    values : dict
        By seed: the value, the mean over the points if they are several.
    estimate : Estimate
        Of these.
    difference : Estimate, optional
        To the first arm, seed by seed; None: it is the first.
    p : float
        Of the paired t test of the difference, or of the sign test where it is of medians; NaN:
        there is none.
    p_corrected : float
        Corrected for all differences of the table (Holm).
    p_discovery : float
        Corrected so that few of the findings among them are false (:func:`false_discovery`).
    """

    at: dict[str, Any]
    arm: str
    measure: Measured
    values: dict[int, float]
    estimate: Estimate
    difference: Estimate | None = None
    p: float = math.nan
    p_corrected: float = math.nan
    p_discovery: float = math.nan


@dataclass(frozen=True)
class Outcome:
    """The runs of an experiment.

    Attributes
    ----------
    runs : pandas.DataFrame
        A row a run: ``point``, the factors, ``arm``, ``seed``, the measures (in the unit of their
        name; NaN: no value), ``warnings``, ``failed`` (why; empty if it did not), ``not_measured``
        (the measures that the engine did not measure, one per line).
    factors, arms : list of str
        In the order of the experiment.
    measures : list of Measured
        The measures.
    title : str
        What it is about.
    warm_up : str, optional
        What was left out of every run.
    notes : tuple of str
        What there was to mind while it was conducted, a sentence each.
    plots : tuple of str
        Those that the experiment wants.
    """

    runs: "pd.DataFrame"
    factors: list[str]
    arms: list[str]
    measures: list[Measured]
    title: str = ""
    warm_up: str | None = None
    plots: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        measures: Sequence[Measure[MeasuredRun]],
        rows: Iterable[Row],
        warm_up: str | None = None,
        notes: Iterable[str] = (),
    ) -> Self:
        """Put the rows of an experiment together, in the order of points, seeds and arms."""
        import pandas as pd

        arms = list(experiment.arms)
        ordered = sorted(rows, key=lambda row: (row.point, row.seed, arms.index(row.arm)))
        columns: dict[str, Any] = {"point": [row.point for row in ordered]}
        for factor in experiment.factors:
            of_point = _labels([point.get(factor) for point in experiment.points])
            columns[factor] = [of_point[row.point] for row in ordered]
        columns |= {"arm": [row.arm for row in ordered], "seed": [row.seed for row in ordered]}
        for i, m in enumerate(measures):
            columns[m.name] = [row.values[i] for row in ordered]
        columns["warnings"] = [row.warnings for row in ordered]
        columns["failed"] = [row.failed for row in ordered]
        columns["not_measured"] = [row.not_measured for row in ordered]
        known = [Measured(m.name, m.unit, m.scale, m.better) for m in measures]
        return cls(
            pd.DataFrame(columns), experiment.factors, arms, known, experiment.title, warm_up,
            tuple(experiment.plots), tuple(notes),
        )  # fmt: skip

    def write(self, path: Path) -> None:
        """Write the runs as Parquet, with what is to be known of them.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        import pyarrow as pa
        import pyarrow.parquet

        about = {
            "factors": self.factors,
            "arms": self.arms,
            "measures": [vars(m) for m in self.measures],
            "title": self.title,
            "warm_up": self.warm_up,
            "plots": self.plots,
            "notes": self.notes,
        }
        table = pa.Table.from_pandas(self.runs, preserve_index=False)
        meta = {**(table.schema.metadata or {}), ABOUT: json.dumps(about).encode()}
        with Path(path).open("wb") as file:  # Arrow refuses a path that is not UTF-8
            pyarrow.parquet.write_table(table.replace_schema_metadata(meta), file)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read what a sweep left in a folder.

        Raises
        ------
        ValueError
            If a sweep left nothing there.
        OSError
            If it cannot be read.
        """
        import pyarrow.parquet

        path = folder / FILE
        if not path.is_file():
            raise ValueError(f"{folder} holds no finished sweep; `aqmlab sweep FILE` leaves one")
        try:
            # No file of Python: threads of Arrow that read one can outlive the interpreter.
            table = pyarrow.parquet.read_table(pyarrow.BufferReader(path.read_bytes()))
            about = json.loads(table.schema.metadata[ABOUT])
            about["measures"] = [Measured(**m) for m in about["measures"]]
            about |= {key: tuple(about[key]) for key in ("plots", "notes")}
            made = cls(table.to_pandas(), **about)
            made._check_names()
            return made
        except (ValueError, KeyError, TypeError) as e:
            raise ValueError(f"{path} is no table of runs of a sweep: {e}") from None

    def _check_names(self) -> None:
        """Refuse names and values that no sweep leaves, since it would have refused them.

        Raises
        ------
        ValueError
            If there is one.
        """
        names = [*self.factors, *self.arms, *(x for m in self.measures for x in (m.name, m.unit))]
        for column in (*self.factors, "arm"):
            names += filter(_is_name, self.runs[column].unique())
        for name in names:
            if why := refusal(name):
                raise ValueError(f"{visible(name)!r} {why}")

    def measure(self, name: str) -> Measured:
        """Return a measure by its name.

        Raises
        ------
        ValueError
            If there is none of that name.
        """
        for m in self.measures:
            if m.name == name:
                return m
        names = ", ".join(m.name for m in self.measures)
        raise ValueError(f"{name!r} was not measured; there are: {names}")

    def factor(self, name: str) -> str:
        """Return a factor by its dotted path, or by the end of it if that is of no other.

        Raises
        ------
        ValueError
            If there is no such factor.
        """
        found = [f for f in self.factors if f == name or f.endswith(f".{name}")]
        if len(found) == 1:
            return found[0]
        wrong = "is the end of several factors" if found else "is no factor"
        there = ", ".join(self.factors) or "none"
        raise ValueError(f"{name!r} {wrong}; there are: {there}")

    @property
    def varied(self) -> list[str]:
        """The factors that take several values."""
        return [f for f in self.factors if self.runs[f].astype(str).nunique() > 1]

    def levels(self, factor: str) -> list[Any]:
        """Return the values of a factor: numbers from small to large, texts as they come."""
        found = list(dict.fromkeys(self.runs[factor]))
        numbers = [re.fullmatch(r"([-+.\deE]+)( \S+)?", str(value)) for value in found]
        if all(numbers) and len({number[2] for number in numbers if number}) == 1:
            return sorted(found, key=lambda value: float(str(value).split()[0]))
        return found

    @property
    def warnings(self) -> list[str]:
        """What is legal in some run and probably not meant, with the number of runs."""
        found: dict[str, int] = {}
        for text, n in self.runs["warnings"].value_counts().items():
            for line in filter(None, str(text).split("\n")):
                found[line] = found.get(line, 0) + int(n)
        return [f"{line} ({n} of {len(self.runs)} runs)" for line, n in found.items()]

    @cached_property
    def not_measured(self) -> list[str]:
        """Names of the measures that the engine measured in no run."""
        found: dict[str, int] = {}
        for text, n in self._absent().value_counts().items():
            for name in filter(None, str(text).split("\n")):
                found[name] = found.get(name, 0) + int(n)
        finished = int((self.runs["failed"] == "").sum())
        return [m.name for m in self.measures if finished and found.get(m.name) == finished]

    def _lacks(self, cell: Cell) -> bool:
        """Return whether no run of the arm of a cell has its measure."""
        absent = self._absent()[(self.runs["arm"] == cell.arm) & (self.runs["failed"] == "")]
        return bool(len(absent)) and all(cell.measure.name in t.split("\n") for t in absent)

    def _absent(self) -> "pd.Series":
        """Return the column ``not_measured``; an older version did not write it."""
        absent = self.runs.get("not_measured")
        return self.runs["failed"].map(lambda _: "") if absent is None else absent

    @cached_property
    def cautions(self) -> list[str]:
        """What there is to mind in the values of the replications, a sentence each."""
        found: dict[str, list[str]] = {}
        for cell in self.cells():
            for text in statistics.cautions(list(cell.values.values())):
                found.setdefault(text, []).append(cell.measure.name)
        told = list(self.notes)
        for text, names in found.items():
            where = ", ".join(f"{name} ({names.count(name)})" for name in dict.fromkeys(names))
            told.append(f"{text}: {where}" if self.varied or len(self.arms) > 1 else
                        f"{text}: {', '.join(dict.fromkeys(names))}")  # fmt: skip
        return told

    def values(
        self, measure: Measured, by: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], dict[str, dict[int, float]]]]:
        """Give each combination of values of some factors, with each arm's values by seed.

        Over the other factors the mean is taken, seed by seed: points are chosen, seeds are chance.
        """
        keys = list(by)
        groups = self.runs.groupby([*keys, "arm", "seed"], sort=False, dropna=False)
        means = groups[measure.name].mean(skipna=False)
        found: dict[tuple[Any, ...], dict[str, dict[int, float]]] = {}
        for (*key, arm, seed), value in zip(means.index, measure.shown(means), strict=True):
            at = found.setdefault(tuple(key), {})
            at.setdefault(arm, {})[int(seed)] = float(value)
        for key, by_arm in found.items():
            ordered = {arm: by_arm[arm] for arm in self.arms if arm in by_arm}
            yield dict(zip(keys, key, strict=True)), ordered

    def cells(
        self,
        by: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        kind: Kind = "t",
    ) -> list[Cell]:
        """Return estimates for every arm and measure, and what arms differ from the first by.

        Parameters
        ----------
        by : sequence of str, optional
            Factors that are told apart; default: those that vary. Over the others the mean is
            taken.
        measures : sequence of str, optional
            Measures; default: all that some run has.
        kind : {"t", "bca", "median"}
            Which statistic, and which interval around it; see :func:`aqmlab.estimates.mean`.

        Returns
        -------
        list of Cell
            By factors, then measure, then arm.
        """
        by = self.varied if by is None else [self.factor(name) for name in by]
        chosen = [self.measure(name) for name in measures] if measures else self._there()
        made: list[Cell] = []
        for m in chosen:
            made += [cell for at, by_arm in self.values(m, by)
                     for cell in _cells(at, m, by_arm, kind)]  # fmt: skip
        made = [replace(cell, estimate=NONE) if self._lacks(cell) else cell for cell in made]
        ps = [cell.p for cell in made]
        done = [
            Cell(**(vars(cell) | {"p_corrected": strict, "p_discovery": few}))
            for cell, strict, few in zip(made, holm(ps), false_discovery(ps), strict=True)
        ]
        order: dict[str, int] = {}
        for cell in done:
            order.setdefault(json.dumps(cell.at, default=str), len(order))
        return sorted(done, key=lambda cell: order[json.dumps(cell.at, default=str)])

    def ratios(self, measure: str, arm: str) -> list[Interval]:
        """Return arm / (first arm + arm) at each point that has it, from small to large.

        Of the ratios of the single seeds: the mean and its 95 % interval, NaN around one alone.
        """
        first, found = self.arms[0], []
        for _, by_arm in self.values(self.measure(measure), ("point",)):
            mine, its = by_arm.get(arm, {}), by_arm.get(first, {})
            both = [mine[s] / (mine[s] + its[s]) for s in mine if s in its and mine[s] + its[s]]
            known = [ratio for ratio in both if math.isfinite(ratio)]
            if len(known) == 1:
                found.append(Interval(math.nan, known[0], math.nan))
            elif known:
                found.append(statistics.mean_interval(known))
        return sorted(found, key=lambda interval: interval.middle)

    def _there(self) -> list[Measured]:
        return [m for m in self.measures if self.runs[m.name].notna().any()]

    def to_xarray(self) -> "xr.Dataset":
        """Return the measures by factors, ``arm`` and ``replication`` (whose ``seed`` it tells).

        Numbers are in the unit of their measure's name, as in `runs`; NaN: no value. Where the
        points are not every combination of the factors' values, there is a dimension ``point``
        instead, with the factors along it.

        Raises
        ------
        ValueError
            If xarray is not installed.
        """
        factors = {factor: self.levels(factor) for factor in self.factors}
        measures = [m.name for m in self.measures]
        measures = [name for name in measures if name not in self.not_measured]
        made = cube(self.runs, factors, {"arm": self.arms}, measures)
        if self.not_measured:
            made = made.assign_attrs({"not_measured": self.not_measured})
        return made.assign_attrs({"title": self.title, "warm_up": self.warm_up or "0 s"})

    def effects(self, measure: str) -> Effects:
        """Return the main effects and interactions of factors and arms on a measure, in its unit.

        Seeds are blocks: what a seed does everywhere is taken out.

        Raises
        ------
        ValueError
            If nothing is varied, runs are too few or without a value, or a factor has too many
            levels.
        """
        m = self.measure(measure)
        names = [*self.varied, *["arm"] * (len(self.arms) > 1)]
        if not names:
            raise ValueError("nothing is varied: there are neither factors nor arms")
        factors = {name: list(self.runs[name]) for name in names}
        seeds = list(self.runs["seed"])
        levels = {factor: self.levels(factor) for factor in self.varied}
        values = m.shown(self.runs[m.name])
        return statistics.effects(factors, values, seeds, levels=levels)

    def effects_table(self, measures: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return the effects on measures as a table; a measure that has none is left out."""
        import pandas as pd

        rows = []
        for name in measures or [m.name for m in self._there()]:
            try:
                found = self.effects(name)
            except ValueError:
                if measures:
                    raise
                continue
            for e in found.effects:
                low, value, high = e.interval
                changes = [f"{a} → {b}" for a, b in e.levels]
                rows.append(
                    {"measure": name, "unit": self.measure(name).unit}
                    | {"factors": " × ".join(e.factors), "change": ", ".join(changes)}
                    | {"effect": value, "low": low, "high": high, "p": e.p}
                    | {"p_holm": e.p_holm, "p_discovery": e.p_discovery}
                )
        return pd.DataFrame(rows)

    def summary(
        self,
        by: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        kind: Kind = "t",
    ) -> "pd.DataFrame":
        """Return :meth:`cells` as a table, a row a cell; its `statistic` says what it is of.

        A measure that the engine did not measure has one row with the statistic "not measured".
        """
        import pandas as pd

        rows: list[Mapping[str, Any]] = []
        for cell in self.cells(by, measures, kind):
            e, d = cell.estimate, cell.difference or estimates.mean(())
            rows.append(
                cell.at
                | {"arm": cell.arm, "measure": cell.measure.name, "unit": cell.measure.unit}
                | {
                    "statistic": e.statistic,
                    "value": e.value,
                    "low": e.low,
                    "high": e.high,
                    "n": e.n,
                    "missing": e.missing,
                }
                | {"difference": d.value, "difference_low": d.low, "difference_high": d.high}
                | {"p": cell.p, "p_corrected": cell.p_corrected}
            )
        for name in self.not_measured:
            if measures is None or name in measures:
                about = {"measure": name, "unit": self.measure(name).unit}
                rows.append(
                    about | {"statistic": NONE.statistic, "n": 0, "missing": len(self.runs)}
                )
        return pd.DataFrame(rows)


def _cells(
    at: dict[str, Any], measure: Measured, by_arm: Mapping[str, dict[int, float]], kind: Kind
) -> Iterator[Cell]:
    """Give the cells of a measure at a point; the first arm is what the others are held against."""
    first = next(iter(by_arm.values()))
    for i, (arm, values) in enumerate(by_arm.items()):
        estimate = estimates.mean(values.values(), kind)
        if i == 0:
            yield Cell(at, arm, measure, values, estimate)
            continue
        seeds = [seed for seed in values if seed in first]
        mine, its = [values[seed] for seed in seeds], [first[seed] for seed in seeds]
        difference = estimates.difference(mine, its, kind)
        known = len(seeds) > 1 and not difference.missing
        test = statistics.sign_p_value if kind == "median" else statistics.paired_p_value
        p = test(mine, its) if known else math.nan
        yield Cell(at, arm, measure, values, estimate, difference, p)


def _labels(values: Sequence[Any]) -> list[Any]:
    """Return the values of a factor as a column has them: tables as text, and one type."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float} or kinds <= {bool} or kinds <= {str}:
        return list(values)
    return [value if isinstance(value, str) else json.dumps(value, default=str) for value in values]


def _is_name(value: Any) -> bool:
    """Whether the value of a factor is a text, and not a number beside values that are texts."""
    with suppress(ValueError):
        return isinstance(value, str) and math.isnan(float(value))
    return True
