"""Results of an experiment: a table with one row per run, and estimates by point and arm."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from aqmlab import estimates, representation, statistics
from aqmlab._core import FORMAT
from aqmlab.estimates import Estimate, Kind
from aqmlab.experiment.cube import cube
from aqmlab.experiment.file import Experiment
from aqmlab.experiment.prepared import Row
from aqmlab.measures import Measure, MeasuredRun, base_unit
from aqmlab.scenario import quantities
from aqmlab.statistics import Effects, Interval, false_discovery, holm
from aqmlab.words import by_kind, listed, refusal, visible

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

EXPERIMENT, FILE = "experiment.toml", "runs.parquet"
"""Files in the folder of a sweep: a copy of the experiment, and the table of runs."""
ABOUT, AXES = b"aqmlab", b"aqmlab.axes"
"""Keys of the metadata of a table of runs. Earlier versions of aqmlab refuse an unknown attribute
in `ABOUT`, so that the axes of figures have a key of their own.
"""
MOST_COLUMNS = 4
"""Maximum number of measures in the representation of an outcome in a notebook."""
FIXED = ("point", "arm", "seed", "warnings", "warning_kinds", "failed", "not_measured")
"""Columns of a table of runs, apart from the factors and the measures."""


NONE = estimates.measured([None], estimates.mean)
"""Placeholder for the estimate of a measure that the engine did not measure."""


@dataclass(frozen=True)
class Measured:
    """Measure that is a column of a table of runs.

    Attributes
    ----------
    name : str
        Name of the measure. The suffix of the name is the unit of the values in the table of runs.
    unit : str
        Unit of displayed values.
    scale : float
        Factor that converts a value of the table to the displayed unit.
    better : int
        1 if larger values are better, -1 if smaller values are better, else 0.
    axis : str
        Text for the axis of a figure; "" stands for the name and the unit.
    """

    name: str
    unit: str
    scale: float
    better: int
    axis: str = ""

    @classmethod
    def of(cls, m: Measure[Any]) -> Self:
        """Return the column of a measure."""
        return cls(m.name, m.unit, m.scale, m.better, m.axis)

    def shown(self, values: Iterable[float]) -> list[float]:
        """Convert values of the table to the displayed unit."""
        return [self.scale * value for value in values]


@dataclass(frozen=True)
class ArmEstimate:
    """Estimate of a measure for one arm, at one point or averaged over several points.

    Attributes
    ----------
    at : dict
        Value of each factor that is fixed for this estimate.
    arm : str
        Name of the arm.
    measure : Measured
        The measure. All numbers of the estimate are in its displayed unit.
    values : dict
        Value for each seed: a value of one run, or the mean over several points.
    estimate : Estimate
        Estimate from `values`.
    difference : Estimate, optional
        Estimate of the difference to the first arm with the same seed; None for the first arm.
    p : float
        p value of the difference, by the paired t test, or by the sign test if the statistic is the
        median. NaN if the difference cannot be tested.
    p_corrected : float
        p value corrected for all differences of the table (Holm).
    p_discovery : float
        p value corrected for the false discovery rate (:func:`false_discovery`).
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


@dataclass(frozen=True, repr=False)
class Outcome:
    """Results of an experiment.

    Attributes
    ----------
    runs : pandas.DataFrame
        Table with one row per run. The columns are ``point``, the factors, ``arm``, ``seed``, the
        measures, ``warnings``, ``warning_kinds``, ``failed`` and ``not_measured``. A measure is in
        the unit of its name, and NaN if it is missing. ``warnings`` has the warnings of the run,
        one per line, and ``warning_kinds`` has their kinds in the same order. ``failed`` is the
        reason of a failed run, else "". ``not_measured`` lists the measures that the engine did not
        measure, one per line.
    factors, arms : list of str
        Factors, and names of the arms, in the order of the experiment.
    measures : list of Measured
        Measures in the table.
    title : str
        Title of the experiment.
    warm_up : str, optional
        Warm-up, if all runs have the same one; else None.
    notes : tuple of str
        Warnings from the execution of the experiment, one sentence each.
    plots : tuple of str
        Kinds of figures that the experiment requests.
    requested : int, optional
        Number of runs that the experiment requested when these partial results were saved. None if
        the experiment has ended and the results are complete.
    """

    runs: "pd.DataFrame"
    factors: list[str]
    arms: list[str]
    measures: list[Measured]
    title: str = ""
    warm_up: str | None = None
    plots: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    requested: int | None = None

    def __repr__(self) -> str:
        points = self.runs["point"].nunique()
        arms = f" of {', '.join(self.arms)}" if len(self.arms) > 1 else ""
        return f"<Outcome {self.title!r}: {len(self.runs)} runs{arms}, {points} points>"

    def _repr_html_(self) -> str:
        from aqmlab.figures.experiment import small

        shown = self._measured()[:MOST_COLUMNS]
        rows: dict[tuple[str, ...], list[str]] = {}
        for one in self.estimates(measures=[m.name for m in shown]) if shown else []:
            half = (one.estimate.high - one.estimate.low) / 2
            around = f" ± {half:.2g}" if half > 0 else ""
            row = rows.setdefault((*map(str, one.at.values()), one.arm), [])
            row.append(f"{estimates.digits(one.estimate.interval)[1]}{around}")
        several = len(self.arms) > 1
        head = [*(f.removeprefix("network.") for f in self.varied), *["arm"] * several]
        keys = [key if several else key[:-1] for key in rows]
        table = [[*key, *texts] for key, texts in zip(keys, rows.values(), strict=True)]
        means = "; means ± half of their 95 % interval" * (self.runs["seed"].nunique() > 1)
        lines = [f"{len(self.runs)} runs{means}"]
        return representation.card(
            self.title or "Untitled experiment", lines, warnings=[*self.warnings, *self.notes],
            head=[*head, *(m.axis or m.name for m in shown)], rows=table, pictures=small(self),
        )  # fmt: skip

    @property
    def origin(self) -> str:
        """Title of the experiment, and seeds, for the metadata of figures."""
        first, last = int(self.runs["seed"].min()), int(self.runs["seed"].max())
        return f"{self.title or 'Untitled'}; seed {first}" + f" to {last}" * (last > first)

    @classmethod
    def of(
        cls,
        experiment: Experiment,
        measures: Sequence[Measure[MeasuredRun]],
        rows: Iterable[Row],
        warm_up: str | None = None,
        notes: Iterable[str] = (),
        requested: int | None = None,
    ) -> Self:
        """Create the results of an experiment from its rows, sorted by point, seed and arm."""
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
        columns["warning_kinds"] = [row.kinds for row in ordered]
        columns["failed"] = [row.failed for row in ordered]
        columns["not_measured"] = [row.not_measured for row in ordered]
        known = [Measured.of(m) for m in measures]
        return cls(
            pd.DataFrame(columns), experiment.factors, arms, known, experiment.title, warm_up,
            tuple(experiment.plots), tuple(notes), requested,
        )  # fmt: skip

    def write(self, path: Path) -> None:
        """Write the table of runs to a Parquet file; its metadata has all other attributes.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        import pyarrow as pa
        import pyarrow.parquet

        about = {
            "format": FORMAT,
            "factors": self.factors,
            "arms": self.arms,
            "measures": [{k: v for k, v in vars(m).items() if k != "axis"} for m in self.measures],
            "title": self.title,
            "warm_up": self.warm_up,
            "plots": self.plots,
            "notes": self.notes,
        }
        if self.requested is not None:
            about["requested"] = self.requested
        table = pa.Table.from_pandas(self.runs, preserve_index=False)
        axes = {m.name: m.axis for m in self.measures}
        meta = {
            **(table.schema.metadata or {}),
            ABOUT: json.dumps(about).encode(),
            AXES: json.dumps(axes).encode(),
        }
        with Path(path).open("wb") as file:  # Arrow refuses a path that is not UTF-8
            pyarrow.parquet.write_table(table.replace_schema_metadata(meta), file)

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read the results of a sweep from its folder; partial results if the sweep has not ended.

        Raises
        ------
        ValueError
            If the folder does not contain results of a sweep.
        OSError
            If the file cannot be read.
        """
        import pyarrow.parquet

        path = folder / FILE
        if not path.is_file():
            if (folder / EXPERIMENT).is_file():
                raise ValueError(
                    f"{folder} has no results yet; `aqmlab status {folder}` shows the progress, "
                    "and `aqmlab sweep FILE --resume` continues an interrupted sweep"
                )
            raise ValueError(
                f"{folder} is not the folder of a sweep; give a folder that `aqmlab sweep FILE` "
                "wrote"
            )
        try:
            # The file is read into memory first, because the threads of Arrow may still use a
            # Python file object after the interpreter has ended.
            table = pyarrow.parquet.read_table(pyarrow.BufferReader(path.read_bytes()))
            about = json.loads(table.schema.metadata[ABOUT])
            if (written := about.pop("format", FORMAT)) != FORMAT:
                raise ValueError(f"its format is {written!r}, and this version reads {FORMAT}")
            axes = json.loads(table.schema.metadata.get(AXES, b"{}"))
            about["measures"] = [
                Measured(**m, axis=str(axes.get(m["name"], ""))) for m in about["measures"]
            ]
            about |= {key: tuple(about[key]) for key in ("plots", "notes")}
            outcome = cls(table.to_pandas(), **about)
            outcome._check_names()
            return outcome
        except (ValueError, KeyError, TypeError) as e:
            raise ValueError(
                f"{path} is not a valid table of runs: {e}; repeat the sweep with --force"
            ) from None

    def _check_names(self) -> None:
        """Raise ValueError if a name or a factor value in the file is unsafe to print.

        Raises
        ------
        ValueError
            The message quotes the first wrong text.
        """
        names = [("factor", name) for name in self.factors]
        names += [("arm", name) for name in self.arms]
        names += [("measure", m.name) for m in self.measures]
        names += [(f"unit of the measure {m.name}", m.unit) for m in self.measures]
        names += [("arm", name) for name in filter(_is_name, self.runs["arm"].unique())]
        for factor in self.factors:
            values = filter(_is_name, self.runs[factor].unique())
            names += [(f"value of the factor {factor}", value) for value in values]
        for what, name in names:
            if why := refusal(name):
                problem, _, _ = why.partition("; ")
                raise ValueError(f"the {what} {visible(name)!r} {problem}")

    @property
    def partial(self) -> str:
        """Number of runs of partial results as text; empty for complete results."""
        if self.requested is None:
            return ""
        return f"{len(self.runs)} of {self.requested} runs"

    def measure(self, name: str) -> Measured:
        """Return a measure, given its name.

        Raises
        ------
        ValueError
            If the results do not have a measure of this name.
        """
        for m in self.measures:
            if m.name == name:
                return m
        names = ", ".join(m.name for m in self.measures)
        raise ValueError(f"{name!r} is not a measure of these results; the measures are {names}")

    def factor(self, name: str) -> str:
        """Return a factor, given its dotted path or an end of this path that is unique.

        Raises
        ------
        ValueError
            If no factor or several factors match the name.
        """
        matches = [f for f in self.factors if f == name or f.endswith(f".{name}")]
        if len(matches) == 1:
            return matches[0]
        wrong = "matches several factors" if matches else "is not a factor"
        names = ", ".join(self.factors) or "none"
        raise ValueError(f"{name!r} {wrong}; the factors are {names}")

    @property
    def varied(self) -> list[str]:
        """Factors with several values."""
        return [f for f in self.factors if self.runs[f].astype(str).nunique() > 1]

    def levels(self, factor: str) -> list[Any]:
        """Return the levels of a factor: quantities in ascending order, texts as in the runs."""
        levels = list(dict.fromkeys(self.runs[factor]))
        numbers = quantities(levels)
        if numbers is None:
            return levels
        order = sorted(range(len(levels)), key=lambda i: numbers[0][i])
        return [levels[i] for i in order]

    @property
    def warnings(self) -> list[str]:
        """One line per kind of warning: an example, and the number of runs with the warning."""
        texts = self.runs["warnings"]
        # Tables of version 0.1.0, and of studies, have no kinds; each text is then its own kind.
        kinds = self.runs.get("warning_kinds", texts)
        counts = self.runs.groupby([kinds.rename("kinds"), texts.rename("texts")], sort=False)
        every = [
            (kind, text, int(n))
            for (of_run, lines), n in counts.size().items()
            for kind, text in zip(str(of_run).split("\n"), str(lines).split("\n"), strict=False)
            if text
        ]
        return by_kind(every, len(self.runs))

    @cached_property
    def not_measured(self) -> list[str]:
        """Names of the measures that the engine did not measure in any run."""
        of_arms = self._not_measured_by_arm.values()
        return [m.name for m in self.measures if of_arms and all(m.name in of for of in of_arms)]

    @cached_property
    def _not_measured_by_arm(self) -> dict[str, set[str]]:
        """Names of the measures that the engine did not measure in any finished run of an arm."""
        if "not_measured" not in self.runs:
            return {}
        finished = self.runs[self.runs["failed"] == ""]
        return {
            str(arm): set.intersection(*(set(names.split("\n")) for names in column.unique()))
            for arm, column in finished.groupby("arm")["not_measured"]
        }

    @cached_property
    def cautions(self) -> list[str]:
        """Warnings about the reliability of the results, one sentence each."""
        measures_of: dict[str, list[str]] = {}
        for one in self.estimates():
            for text in statistics.cautions(list(one.values.values())):
                measures_of.setdefault(text, []).append(one.measure.name)
        cautions = list(self.notes)
        for text, names in measures_of.items():
            several = self.varied or len(self.arms) > 1
            distinct = dict.fromkeys(names)
            where = [f"{name} ({names.count(name)})" if several else name for name in distinct]
            cautions.append(f"{text}: {listed(where)}")
        return cautions

    def values(
        self, measure: Measured, by: Sequence[str]
    ) -> Iterator[tuple[dict[str, Any], dict[str, dict[int, float]]]]:
        """Yield each combination of levels of the factors in `by`, with each arm's values by seed.

        Each value is the mean of the measure over all runs with the same arm, the same seed and the
        same levels of the factors in `by`. Only the seeds are random, while the experiment chooses
        the points, so the mean over the points has no sampling error.
        """
        keys = list(by)
        groups = self.runs.groupby([*keys, "arm", "seed"], sort=False, dropna=False)
        measured = groups[measure.name]
        means = measured.mean().where(measured.count() == measured.size())
        values: dict[tuple[Any, ...], dict[str, dict[int, float]]] = {}
        for (*key, arm, seed), value in zip(means.index, measure.shown(means), strict=True):
            at = values.setdefault(tuple(key), {})
            at.setdefault(arm, {})[int(seed)] = float(value)
        for key, by_arm in values.items():
            ordered = {arm: by_arm[arm] for arm in self.arms if arm in by_arm}
            yield dict(zip(keys, key, strict=True)), ordered

    def estimates(
        self,
        by: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        kind: Kind = "t",
    ) -> list[ArmEstimate]:
        """Return an estimate of each measure for each arm, and the difference to the first arm.

        Parameters
        ----------
        by : sequence of str, optional
            Factors whose levels have separate estimates; default: all factors that vary. Each
            estimate is averaged over the factors that are not in `by`.
        measures : sequence of str, optional
            Names of measures; default: all measures with a value in at least one run.
        kind : {"t", "bca", "median"}
            Statistic and kind of interval; see :func:`aqmlab.estimates.mean`.

        Returns
        -------
        list of ArmEstimate
            Estimates sorted by factors, then by measure, then by arm.
        """
        by = self.varied if by is None else [self.factor(name) for name in by]
        chosen = [self.measure(name) for name in measures] if measures else self._measured()
        every: list[ArmEstimate] = []
        for m in chosen:
            every += [one for at, by_arm in self.values(m, by)
                      for one in _estimates(at, m, by_arm, kind)]  # fmt: skip
        lacks = self._not_measured_by_arm
        every = [
            replace(one, estimate=NONE) if one.measure.name in lacks.get(one.arm, ()) else one
            for one in every
        ]
        ps = [one.p for one in every]
        corrected = [
            replace(one, p_corrected=p_holm, p_discovery=p_discovery)
            for one, p_holm, p_discovery in zip(every, holm(ps), false_discovery(ps), strict=True)
        ]
        order: dict[str, int] = {}
        for one in corrected:
            order.setdefault(json.dumps(one.at, default=str), len(order))
        return sorted(corrected, key=lambda one: order[json.dumps(one.at, default=str)])

    def ratios(self, measure: str, arm: str) -> list[Interval]:
        """Return b / (a + b) at each point; a is the value of the first arm, and b that of `arm`.

        The ratios are in ascending order. A ratio is the mean over the ratios of all seeds, with
        its 95 % interval. The bounds of the interval are NaN if only one seed has a ratio. A point
        without a ratio is left out.
        """
        first, intervals = self.arms[0], []
        for _, by_arm in self.values(self.measure(measure), ("point",)):
            second, base = by_arm.get(arm, {}), by_arm.get(first, {})
            ratios = [
                second[seed] / (second[seed] + base[seed])
                for seed in second
                if seed in base and second[seed] + base[seed]
            ]
            known = [ratio for ratio in ratios if math.isfinite(ratio)]
            if len(known) == 1:
                intervals.append(Interval(math.nan, known[0], math.nan))
            elif known:
                intervals.append(statistics.mean_interval(known))
        return sorted(intervals, key=lambda interval: interval.middle)

    def _measured(self) -> list[Measured]:
        """Return the measures that have a value in at least one run."""
        return [m for m in self.measures if self.runs[m.name].notna().any()]

    def to_xarray(self) -> "xr.Dataset":
        """Return the measures as arrays with one dimension per factor, ``arm`` and ``replication``.

        The coordinate ``seed`` has the seed of each replication. The values are those of the table
        `runs`, in the unit of the measure's name; a missing value is NaN. If the points do not
        contain every combination of factor levels, the dataset has the dimension ``point`` in place
        of the factors, which become coordinates. A factor whose levels are numbers or have units,
        such as ``"5 ms"``, has numbers in the base unit as coordinates (0.005 s). All other
        factors are categories. Coordinates and measures have the attribute ``units``.

        Raises
        ------
        ValueError
            If xarray is not installed.
        """
        factors = {factor: self.levels(factor) for factor in self.factors}
        units = {
            m.name: base_unit(m.unit, m.scale)
            for m in self.measures
            if m.name not in self.not_measured
        }
        dataset = cube(self.runs, factors, {"arm": self.arms}, units)
        if self.not_measured:
            dataset = dataset.assign_attrs({"not_measured": self.not_measured})
        if self.requested is not None:
            dataset = dataset.assign_attrs({"partial": self.partial})
        return dataset.assign_attrs({"title": self.title, "warm_up": self.warm_up or "0 s"})

    def effects(self, measure: str) -> Effects:
        """Return the main effects and interactions of the factors and arms on a measure.

        The effects are in the displayed unit of the measure. The seeds are blocks: an effect of a
        seed that is the same at all points does not widen the intervals.

        Raises
        ------
        ValueError
            If the experiment has one arm and no factor that varies, or has too few runs. If the
            measure has no value in a run, or if a factor has too many levels.
        """
        m = self.measure(measure)
        names = [*self.varied, *["arm"] * (len(self.arms) > 1)]
        if not names:
            raise ValueError(
                "the effects cannot be estimated, because the experiment has one arm and no factor "
                "that varies"
            )
        factors = {name: list(self.runs[name]) for name in names}
        seeds = list(self.runs["seed"])
        levels = {factor: self.levels(factor) for factor in self.varied}
        values = m.shown(self.runs[m.name])
        return statistics.effects(factors, values, seeds, levels=levels)

    def effects_table(self, measures: Sequence[str] | None = None) -> "pd.DataFrame":
        """Return the effects of :meth:`effects` for several measures as a table."""
        import pandas as pd

        rows = []
        for name in measures or [m.name for m in self._measured()]:
            try:
                of_measure = self.effects(name)
            except ValueError:
                if measures:
                    raise
                continue
            for e in of_measure.effects:
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
        """Return the estimates of :meth:`estimates` as a table with one row per estimate.

        The column `statistic` names the statistic. A measure that the engine did not measure has a
        row with the statistic "not measured".
        """
        import pandas as pd

        rows: list[Mapping[str, Any]] = []
        for one in self.estimates(by, measures, kind):
            e, d = one.estimate, one.difference or estimates.mean(())
            rows.append(
                one.at
                | {"arm": one.arm, "measure": one.measure.name, "unit": one.measure.unit}
                | {
                    "statistic": e.statistic,
                    "value": e.value,
                    "low": e.low,
                    "high": e.high,
                    "n": e.n,
                    "missing": e.missing,
                }
                | {"difference": d.value, "difference_low": d.low, "difference_high": d.high}
                | {"p": one.p, "p_corrected": one.p_corrected}
            )
        for name in self.not_measured:
            if measures is None or name in measures:
                about = {"measure": name, "unit": self.measure(name).unit}
                rows.append(
                    about | {"statistic": NONE.statistic, "n": 0, "missing": len(self.runs)}
                )
        return pd.DataFrame(rows)


def _estimates(
    at: dict[str, Any], measure: Measured, by_arm: Mapping[str, dict[int, float]], kind: Kind
) -> Iterator[ArmEstimate]:
    """Yield each arm's estimate of a measure at one point, compared with the first arm."""
    first = next(iter(by_arm.values()))
    for i, (arm, values) in enumerate(by_arm.items()):
        estimate = estimates.mean(values.values(), kind)
        if i == 0:
            yield ArmEstimate(at, arm, measure, values, estimate)
            continue
        seeds = [seed for seed in values if seed in first]
        paired, base = [values[seed] for seed in seeds], [first[seed] for seed in seeds]
        difference = estimates.difference(paired, base, kind)
        known = len(seeds) > 1 and not difference.missing
        test = statistics.sign_p_value if kind == "median" else statistics.paired_p_value
        p = test(paired, base) if known else math.nan
        yield ArmEstimate(at, arm, measure, values, estimate, difference, p)


def _labels(values: Sequence[Any]) -> list[Any]:
    """Return the values of a factor as a column of a single type; a table becomes JSON text."""
    kinds = {type(value) for value in values}
    if kinds <= {int, float} or kinds <= {bool} or kinds <= {str}:
        return list(values)
    return [value if isinstance(value, str) else json.dumps(value, default=str) for value in values]


def _is_name(value: Any) -> bool:
    """Return True for a value of a factor that is a text but not a number."""
    with suppress(ValueError):
        return isinstance(value, str) and math.isnan(float(value))
    return True
