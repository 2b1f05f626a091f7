"""Figures of an experiment: interactions, sorted ratios, heat maps and distributions.

Each drawing function takes an :class:`aqmlab.experiment.Outcome` and the name of a measure.
"""

from __future__ import annotations

import itertools
import math
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from aqmlab import statistics
from aqmlab.figures.files import inline
from aqmlab.figures.style import legend_below, limits, literal, look, sheet
from aqmlab.scenario import quantities

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from aqmlab.estimates import Kind
    from aqmlab.experiment import ArmEstimate, Measured, Outcome

MOST_GROUPS = 24
"""Maximum number of groups in a figure of distributions, because more names would overlap."""
MOST_MEASURES = 6
"""Maximum number of measures in a figure of measures over a factor."""
MOST_PANELS = 6
"""Maximum number of panels in a figure of interactions; each panel has one pair of factors."""
STEEP = 20
"""Maximum ratio of the largest to the smallest level on a linear axis."""
READABLE = 144
"""Maximum number of fields of a heat map that also shows the means as numbers."""


def figures_of(
    outcome: Outcome, measures: Sequence[str] | None = None
) -> Iterator[tuple[str, Figure]]:
    """Yield the name and the figure of each plot that an experiment requests, per measure.

    Plots that need more factors or arms than the experiment has are omitted, for example a heat map
    with only one factor.
    """
    names = measures or [m.name for m in outcome.measures if outcome.runs[m.name].notna().any()]
    for plot in outcome.plots:
        for name in names:
            try:
                figure = DRAWN[plot](outcome, name)
            except ValueError:
                continue
            plain = "".join(c if c.isalnum() or c in "-_" else "-" for c in name).strip("-")
            yield f"{plot}-{plain}", figure


def interactions(outcome: Outcome, measure: str) -> Figure:
    """Plot the mean of a measure over the levels of each factor, with one line per arm.

    If there is one arm and several factors, each line is a level of a second factor. The mean of
    each seed is taken over all factors that the panel does not show. The error bars are 95 %
    intervals. Lines that are not parallel show an interaction.

    Raises
    ------
    ValueError
        If no factor varies.
    """
    varied = outcome.varied
    if not varied:
        raise ValueError("no factor varies")
    pairs: list[tuple[str, str | None]] = [(factor, None) for factor in varied]
    if len(outcome.arms) == 1 and len(varied) > 1:
        pairs = []
        pairs.extend(itertools.islice(itertools.permutations(varied, 2), MOST_PANELS))
    columns = min(3, len(pairs))
    rows = math.ceil(len(pairs) / columns)
    size = (3.6 * columns + 0.8, 3.3 * rows + 0.5)
    figure, grid = sheet(rows, columns, size=size, squeeze=False, sharey=True, of=outcome)
    every = list(grid.flat)
    drawn: list[ArmEstimate] = []
    for axes, (factor, other) in zip(every, pairs, strict=False):
        cells = outcome.estimates([factor, other] if other else [factor], [measure])
        lines: dict[str, list[ArmEstimate]] = {}
        for cell in cells:
            lines.setdefault(str(cell.at[other]) if other else cell.arm, []).append(cell)
        _draw_lines(axes, lines, factor, outcome.levels(factor))
        drawn += cells
        if other:
            axes.legend(
                title=literal(factor_name(other)), fontsize=8, loc="upper left",
                bbox_to_anchor=(1, 1), frameon=False,
            )  # fmt: skip
    for axes in every[len(pairs) :]:
        axes.set_visible(False)
    for row in grid:
        row[0].set_ylabel(_quantity(outcome.measure(measure)))
    every[0].set_ylim(_limits(drawn))
    if len(outcome.arms) > 1:
        legend_below(figure, every[0])
    figure.suptitle(
        "Means over all other factors and over the seeds, with 95 % intervals", fontsize=9
    )
    return figure


def _draw_lines(
    axes: Axes, lines: dict[str, list[ArmEstimate]], factor: str, levels: Sequence[Any]
) -> None:
    """Plot lines of estimates, with error bars, over the levels of a factor.

    Levels that are quantities of one dimension are on a numeric axis, which is logarithmic if the
    levels span more than `STEEP`. All other levels are categories at equal distances.
    """
    place = _scale_of(axes, factor, levels)
    for i, (name, some) in enumerate(lines.items()):
        colour, marker = look(i)
        dodge = 0.012 * (i - (len(lines) - 1) / 2)
        cells = sorted(some, key=lambda cell: place[str(cell.at[factor])])
        at = [place[str(cell.at[factor])] for cell in cells]
        if axes.get_xscale() == "log":
            at = [x * (place[str(levels[-1])] / place[str(levels[0])]) ** dodge for x in at]
        else:
            at = [x + dodge * (place[str(levels[-1])] - place[str(levels[0])]) for x in at]
        axes.errorbar(
            at, [cell.estimate.value for cell in cells], _bars(cells), color=colour, marker=marker,
            capsize=3, label=literal(name),
        )  # fmt: skip


def _scale_of(axes: Axes, factor: str, levels: Sequence[Any]) -> dict[str, float]:
    """Prepare the horizontal axis for the levels of a factor; return the place of each level."""
    names, scale = [*map(str, levels)], quantities(levels)
    if scale is None or len(set(scale[0])) < len(levels):
        labels = [textwrap.fill(literal(name), max(8, 48 // len(names))) for name in names]
        axes.set_xticks(range(len(names)), labels)
        axes.set_xlabel(literal(factor_name(factor)))
        return dict(zip(names, map(float, range(len(names))), strict=True))
    numbers, unit = scale
    low, high = min(numbers), max(numbers)
    logarithmic = len(numbers) > 2 and low > 0 and high / low > STEEP
    if logarithmic:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(_apart(numbers, logarithmic=logarithmic))
    axes.xaxis.set_major_formatter("{x:.7g}")
    axes.set_xlabel(literal(factor_name(factor)) + f" ({unit})" * bool(unit))
    return dict(zip(names, numbers, strict=True))


def _apart(numbers: Sequence[float], *, logarithmic: bool) -> list[float]:
    """Return those numbers that are far enough from the previous one for a label below the axis."""
    at = {x: math.log(x) if logarithmic else x for x in sorted(numbers)}
    least = 0.06 * (max(at.values()) - min(at.values()))
    kept: list[float] = []
    for x in at:
        if not kept or at[x] - at[kept[-1]] >= least:
            kept.append(x)
    return kept


def factor_name(factor: str) -> str:
    """Return the name of a factor for the axis of a figure.

    Examples
    --------
    >>> factor_name("network.delay"), factor_name("network.queue.limit")
    ('network delay', 'queue limit')
    >>> factor_name("flows.0.count"), factor_name("network.queue.kind")
    ('flows.0 count', 'queue')
    """
    short = factor.removesuffix(".kind")
    if short.count(".") > 1 or short == "network.queue":
        short = short.removeprefix("network.")
    return re.sub(r"\.(?!\d)", " ", short).replace("_", " ")


def _limits(cells: Sequence[ArmEstimate]) -> tuple[float, float]:
    """Return the limits of an axis with estimates and their intervals.

    If no estimate is negative, the axis begins at 0 or above, also if an interval contains negative
    values.
    """
    estimates = [cell.estimate for cell in cells]
    values = [x for e in estimates for x in (e.value, e.low, e.high)]
    if not any(e.value < 0 for e in estimates):
        values = [0.0 if x < 0 else x for x in values]
    widths = [e.high - e.low for e in estimates]
    return limits(values, max(filter(math.isfinite, widths), default=0))


def over_factor(
    outcome: Outcome,
    measures: Sequence[str] | None = None,
    by: Sequence[str] | None = None,
    kind: Kind = "t",
) -> Figure:
    """Plot measures over the levels of a factor, with one line per arm and error bars.

    Each measure has a row of panels. If there is a second factor, each of its levels has a column
    of panels. The value of each seed is the mean over all factors that are not in `by`.

    Parameters
    ----------
    outcome : Outcome
        The runs.
    measures : sequence of str, optional
        Names of at most six measures; default: all measures with a value in at least one run.
    by : sequence of str, optional
        One or two factors, by dotted path or by an end of this path that is unique; default: the
        first factor that varies.
    kind : {"t", "bca", "median"}
        Statistic and interval, as in :meth:`aqmlab.experiment.Outcome.estimates`.

    Raises
    ------
    ValueError
        If no factor varies, if `by` has more than two factors, or if there are too many measures.
    """
    factors = [outcome.factor(name) for name in by] if by else outcome.varied[:1]
    if not factors:
        raise ValueError("the plot needs a factor that varies, and this sweep has no such factor")
    if len(factors) > 2:
        raise ValueError(
            f"the plot can show one or two factors, and not {len(factors)}; name at most two "
            "factors"
        )
    cells = outcome.estimates(factors, measures, kind)
    names = list(dict.fromkeys(cell.measure.name for cell in cells))
    if not names:
        raise ValueError("the plot has no data, because no run of this sweep has a value")
    if len(names) > MOST_MEASURES:
        raise ValueError(
            f"{len(names)} measures are too many for one plot, which shows at most "
            f"{MOST_MEASURES}; "
            f"choose from {', '.join(names)}"
        )
    factor, *second = factors
    columns = outcome.levels(second[0]) if second else [None]
    size = (max(5.6, 3.6 * len(columns) + 0.8), 2.7 * len(names) + 0.7)
    figure, grid = sheet(
        len(names), len(columns), size=size, of=outcome, squeeze=False, sharex=True, sharey="row"
    )
    for at, (row, name) in enumerate(zip(grid, names, strict=True)):
        for axes, level in zip(row, columns, strict=True):
            lines: dict[str, list[ArmEstimate]] = {}
            for cell in cells:
                if cell.measure.name == name and (not second or cell.at[second[0]] == level):
                    lines.setdefault(cell.arm, []).append(cell)
            _draw_lines(axes, lines, factor, outcome.levels(factor))
            if second and at == 0:
                axes.set_title(literal(f"{factor_name(second[0])} = {level}"), fontsize=9)
            if at < len(names) - 1:
                axes.set_xlabel("")
        row[0].set_ylabel(_quantity(outcome.measure(name)))
        row[0].set_ylim(_limits([cell for cell in cells if cell.measure.name == name]))
    if len(outcome.arms) > 1:
        legend_below(figure, grid[0][0])
    rest = "the other factors and " if len(outcome.varied) > len(factors) else ""
    what = {"t": "Means", "bca": "Means", "median": "Medians"}[kind]
    figure.suptitle(f"{what} over {rest}the replications, with 95 % intervals", fontsize=9)
    return figure


def sorted_ratios(outcome: Outcome, measure: str) -> Figure:
    """Plot b / (a + b) at each point; a is the first arm's value, and b is another arm's value.

    The points are in ascending order of the ratio. At a ratio of 0.5, both arms have the same
    value. The figure can compare arms over hundreds of points. The line of an arm is the mean of
    the ratios over the seeds, and the band is the 95 % interval of this mean.

    Raises
    ------
    ValueError
        If the experiment has only one arm, or if the ratio cannot be computed at any point.
    """
    if len(outcome.arms) < 2:
        raise ValueError("ratios need two arms")
    first = outcome.arms[0]
    m = outcome.measure(measure)
    figure, axes = sheet(size=(7.2, 4.0), of=outcome)
    drawn = 0
    for i, arm in enumerate(outcome.arms[1:]):
        drawn += draw_ratios(axes, outcome, measure, arm, i, literal(f"{arm} / ({first} + {arm})"))
    if not drawn:
        raise ValueError(
            "the ratios cannot be drawn, because the measure is 0 or missing at every point"
        )
    axes.set_ylim(0, 1)
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel("points, sorted by their ratio")
    axes.set_ylabel(f"ratio of {_quantity(m).removesuffix(f' ({m.unit})')} (0..1)")
    axes.set_title("mean of the ratios over the seeds, with its 95 % interval", fontsize=9)
    legend_below(figure, axes)
    return figure


def draw_ratios(axes: Axes, outcome: Outcome, measure: str, arm: str, i: int, label: str) -> int:
    """Plot the sorted ratios of an arm in the i-th colour; return the number of ratios."""
    ratios = outcome.ratios(measure, arm)
    colour, marker = look(i)
    at = range(1, len(ratios) + 1)
    axes.fill_between(
        at, [r.low for r in ratios], [r.high for r in ratios], color=colour, alpha=0.2, lw=0
    )
    axes.plot(
        at, [r.middle for r in ratios], color=colour, marker=marker if len(ratios) < 40 else "",
        label=label,
    )  # fmt: skip
    axes.axhline(0.5, color="#888888", lw=1, ls="--")
    return len(ratios)


def heat_map(outcome: Outcome, measure: str) -> Figure:
    """Plot a heat map of the means of a measure over the first two factors that vary.

    The figure has one panel per arm. A small heat map also shows each mean as a number, ± half of
    its 95 % interval (Student's t).

    Raises
    ------
    ValueError
        If fewer than two factors vary.
    """
    if len(outcome.varied) < 2:
        raise ValueError("a heat map needs two factors that vary")
    across, down = outcome.varied[:2]
    cells = outcome.estimates([across, down], [measure])
    xs, ys = ([*map(str, outcome.levels(factor))] for factor in (across, down))
    shown = [cell.estimate.value for cell in cells if math.isfinite(cell.estimate.value)]
    if not shown:
        raise ValueError("the heat map has no data, because the measure is missing at every point")
    arms = len(outcome.arms)
    size = (max(4.2, 0.9 * len(xs) + 1.6) * arms + 0.8, max(3.2, 0.5 * len(ys) + 1.8))
    figure, grid = sheet(1, arms, size=size, squeeze=False, sharey=True, of=outcome)
    least, most = limits(shown)
    image: Any = None
    for axes, arm in zip(grid.flat, outcome.arms, strict=True):
        of = {(str(c.at[across]), str(c.at[down])): c for c in cells if c.arm == arm}
        values = [[of[x, y].estimate.value if (x, y) in of else math.nan for x in xs] for y in ys]
        image = axes.imshow(
            values, vmin=least, vmax=most, cmap="cividis", aspect="auto", origin="lower"
        )
        axes.grid(visible=False)
        if len(xs) * len(ys) <= READABLE:
            halves = [
                [of[x, y].estimate.high - of[x, y].estimate.value if (x, y) in of else math.nan
                 for x in xs] for y in ys
            ]  # fmt: skip
            _numbers(axes, values, halves, least, most)
        axes.set_xticks(range(len(xs)), map(literal, xs))
        axes.set_yticks(range(len(ys)), map(literal, ys))
        axes.set_xlabel(literal(factor_name(across)))
        if arms > 1:
            axes.set_title(literal(arm), fontsize=10)
    grid.flat[0].set_ylabel(literal(factor_name(down)))
    figure.colorbar(image, ax=list(grid.flat), label=_quantity(outcome.measure(measure)))
    return figure


def _numbers(
    axes: Axes, values: list[list[float]], halves: list[list[float]], low: float, high: float
) -> None:
    """Write each mean ± half of its interval into the heat map, in a colour that contrasts."""
    for y, row in enumerate(values):
        for x, value in enumerate(row):
            if math.isfinite(value):
                dark = value < low + 0.55 * (high - low)
                half = halves[y][x]
                around = f"\n±{_plain(half, 2)}" if math.isfinite(half) else ""
                axes.text(
                    x, y, f"{_plain(value, 3)}{around}", ha="center", va="center", fontsize=8,
                    color="white" if dark else "black",
                )  # fmt: skip


def _plain(value: float, digits: int) -> str:
    """Format a number with some significant digits, and without an exponent below 1 million."""
    return f"{float(f'{value:.{digits}g}'):g}"


def distributions(outcome: Outcome, measure: str) -> Figure:
    """Plot the values of the runs, with quartiles per arm and per level of the first factor.

    Raises
    ------
    ValueError
        If there are more groups than the figure can label.
    """
    m = outcome.measure(measure)
    by = outcome.varied[:1]
    groups = list(outcome.values(m, ("point",)))
    values_of: dict[tuple[str, str], list[float]] = {}
    points = dict(zip(outcome.runs["point"], outcome.runs[by[0]], strict=True)) if by else {}
    for place, by_arm in groups:
        for arm, values in by_arm.items():
            known = [value for value in values.values() if math.isfinite(value)]
            values_of.setdefault((str(points.get(place["point"], "")), arm), []).extend(known)
    values_of = {key: values for key, values in values_of.items() if values}
    if not values_of or len(values_of) > MOST_GROUPS:
        raise ValueError(
            f"{len(values_of)} groups of runs do not fit into the figure, which can show 1 to "
            f"{MOST_GROUPS}"
        )
    levels = [*map(str, outcome.levels(by[0]))] if by else [""]
    figure, axes = sheet(size=(max(4.5, 0.55 * len(values_of) + 2.2), 4.0), of=outcome)
    width = 0.8 / len(outcome.arms)
    for i, arm in enumerate(outcome.arms):
        colour, _ = look(i)
        for x, level in enumerate(levels):
            runs = values_of.get((level, arm), [])
            if not runs:
                continue
            at = x + width * (i - (len(outcome.arms) - 1) / 2)
            spread = [at + 0.5 * width * (((7 * n) % 11) / 10 - 0.5) for n in range(len(runs))]
            axes.plot(spread, runs, ".", color=colour, alpha=0.45, markersize=4)
            low, middle, high = statistics.quartiles(runs)
            axes.vlines(at, low, high, color=colour, lw=4, alpha=0.8)
            axes.hlines(middle, at - 0.4 * width, at + 0.4 * width, color=colour, lw=2)
        axes.plot([], [], color=colour, lw=4, label=literal(arm))
    axes.set_xticks(range(len(levels)), map(literal, levels))
    axes.set_xlabel(literal(factor_name(by[0])) if by else "")
    axes.set_ylim(limits([value for values in values_of.values() for value in values]))
    axes.set_ylabel(_quantity(m))
    axes.set_title("dots: runs; bars: quartiles and median", fontsize=9)
    if len(outcome.arms) > 1:
        legend_below(figure, axes)
    return figure


def small(outcome: Outcome) -> list[str]:
    """Return the first measure over the first factor as SVG elements of a notebook, or no element.

    The list is empty if no factor varies, or if no measure has a value.
    """
    measured = [m.name for m in outcome.measures if outcome.runs[m.name].notna().any()]
    if not measured or not outcome.varied:
        return []
    return [inline(over_factor(outcome, measured[:1]))]


def _quantity(m: Measured) -> str:
    name = m.name.replace("_", " ")
    return literal(m.axis or (f"{name} ({m.unit})" if m.unit else name))


def _bars(cells: Sequence[ArmEstimate]) -> list[list[float]] | None:
    """Return the lengths of the error bars below and above the values; None without intervals."""
    estimates = [cell.estimate for cell in cells]
    if any(math.isnan(e.low) for e in estimates):
        return None
    return [[e.value - e.low for e in estimates], [e.high - e.value for e in estimates]]


DRAWN: dict[str, Callable[[Outcome, str], Figure]] = {
    "interactions": interactions,
    "sorted-ratios": sorted_ratios,
    "heat-map": heat_map,
    "distributions": distributions,
}
"""Drawing function for each kind of figure in :data:`aqmlab.experiment.file.PLOTS`."""
