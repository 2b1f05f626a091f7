"""Figures of response times, and table entries of means over replications."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from aqmlab import estimates
from aqmlab.estimates import Estimate, digits
from aqmlab.figures.style import legend_below, look, sheet
from aqmlab.report import Entry
from aqmlab.studies.framework import Cell, Runs
from aqmlab.studies.power_of_ecn.outcomes import EDGES, FINE, Outcome, Responses
from aqmlab.studies.power_of_ecn.scenarios import Setting

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

Quantity = tuple[str, str, Callable[[Outcome], float]]
"""Name of a quantity, its unit, and the function that computes it from a reduced run."""

VISIBLE = 1.0
"""Smallest difference of two mean profiles, in percentage points, that counts as a difference.

The paper compares curves in figures whose axis spans 0 to 100 %. On such an axis, about 6 cm long,
one percentage point is about as wide as a line.
"""

WITHIN: Quantity = ("response_within_0.5_s", "%", lambda run: 100 * run.all.within(0.5))
WITHIN_2: Quantity = ("response_within_2_s", "%", lambda run: 100 * run.all.within(2.0))
PROFILE: Quantity = ("mean_cdf_to_2_s", "%", lambda run: 100 * run.all.profile())
MEAN: Quantity = ("mean_response_time", "s", lambda run: run.all.mean())
THROUGHPUT: Quantity = ("throughput", "%", lambda run: 100 * run.throughput)
SYN_ACK_LOSS: Quantity = ("syn_ack_loss", "%", lambda run: 100 * run.syn_ack_loss)
DATA_LOSS: Quantity = ("data_loss", "%", lambda run: 100 * run.data_loss)
DROPPED: Quantity = ("packets_dropped", "%", lambda run: 100 * run.drops / run.arrivals)
MARKED: Quantity = ("packets_marked", "%", lambda run: 100 * run.marks / run.arrivals)
DATA_DROPPED: Quantity = (
    "packets_with_data_dropped",
    "%",
    lambda run: 100 * (run.data_drops - run.empty_drops) / run.arrivals,
)
SYN_WAITS: Quantity = (
    "handshakes_that_waited_for_a_timer",
    "%",
    lambda run: 100 * run.syn_waits / run.all.number,
)
SYN_WAIT: Quantity = (
    "wait_for_these_a_request",
    "ms",
    lambda run: 1000 * run.syn_wait_s / run.all.number,
)
TIMEOUTS: Quantity = (
    "timeouts_of_servers",
    "per 1000 requests",
    lambda run: 1000 * run.timeouts / run.all.number,
)
UNFINISHED: Quantity = (
    "unfinished",
    "%",
    lambda run: 100 * float(run.all.left.sum()) / run.all.number,
)
COSTS = (SYN_ACK_LOSS, DATA_LOSS, SYN_WAITS, SYN_WAIT, TIMEOUTS, UNFINISHED)
COST_HEADS = (
    "SYN-ACKs dropped (%)",
    "Other packets dropped (%)",
    "Handshakes that waited for a timer (%)",
    "Wait for handshake timers (ms per request)",
    "Timeouts of servers (per 1000 requests)",
    "Unfinished requests (%)",
)


def values(runs: Runs, at: Setting, quantity: Quantity) -> list[float]:
    """Return a quantity for each replication of a setting."""
    return [quantity[2](run) for run in runs.of(at)]


SHARES = {
    quantity[0]
    for quantity in (
        WITHIN, WITHIN_2, PROFILE, THROUGHPUT, SYN_ACK_LOSS, DATA_LOSS, DROPPED, MARKED,
        DATA_DROPPED, SYN_WAITS, UNFINISHED,
    )
}  # fmt: skip
"""Names of the quantities that are shares between 0 and 100 %."""


def over(quantity: Quantity, ran: Iterable[Outcome]) -> Estimate:
    """Return the mean of a quantity over runs; the interval of a share is within 0 and 100 %."""
    of = estimates.share if quantity[0] in SHARES else estimates.mean
    return of(quantity[2](run) for run in ran)


def mean(runs: Runs, at: Setting, quantity: Quantity) -> Estimate:
    """Return the mean of a quantity over the replications of a setting."""
    return over(quantity, runs.of(at))


def gain(runs: Runs, at: Setting, over: Setting, quantity: Quantity) -> list[float]:
    """Return the difference of a quantity between two settings, for each replication.

    The difference is the quantity in the setting `at` minus the quantity in the setting `over`.
    """
    first, second = (dict(runs.by_replication(s)) for s in (at, over))
    both = sorted(first.keys() & second.keys())
    return [quantity[2](first[r]) - quantity[2](second[r]) for r in both]


def relative_gain(runs: Runs, at: Setting, over: Setting, quantity: Quantity) -> list[float]:
    """Return the difference of :func:`gain` in % of the quantity in the setting `over`."""
    less = dict(runs.by_replication(over))
    common = [r for r, _ in runs.by_replication(at) if r in less]
    differences = gain(runs, at, over, quantity)
    return [100 * g / quantity[2](less[r]) for r, g in zip(common, differences, strict=True)]


def cells(item: str, runs: Runs, at: Setting, quantities: Iterable[Quantity]) -> list[Cell]:
    """Return quantities of a setting as rows of cells.csv: means with their 95 % intervals."""
    return [Cell(item, at.columns(), q[0], q[1], over(q, runs.of(at))) for q in quantities]


def with_interval(of: Estimate, *, kind: str = "") -> Entry:
    """Return a table entry: a mean, and below the mean its interval."""
    low, middle, high = digits(of.interval)
    sub = f"{low} to {high}" if np.isfinite(of.low) else ""
    return Entry(middle, sub, kind)


def mean_curve(
    runs: Sequence[Responses], *, tail: bool = False
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the mean distribution function, or its complement, with its 95 % interval."""
    curves = np.array([run.cdf() for run in runs])
    curves = 1 - curves if tail else curves
    mean = curves.mean(axis=0)
    if len(curves) == 1:
        return mean, mean, mean
    from scipy.stats import t

    half = t.ppf(0.975, len(curves) - 1) * curves.std(axis=0, ddof=1) / np.sqrt(len(curves))
    return mean, np.clip(mean - half, 0, 1), np.clip(mean + half, 0, 1)


def curve(
    axes: Axes, i: int, label: str, runs: Sequence[Responses], *, dashed: bool = False
) -> None:
    """Plot a response-time profile: the distribution function up to 2 s."""
    middle, low, high = (np.concatenate([[0.0], c[: len(FINE)]]) for c in mean_curve(runs))
    x, colour = np.concatenate([[0.0], FINE]), look(i)[0]
    axes.plot(x, 100 * middle, color=colour, label=label, linestyle="--" if dashed else "-")
    axes.fill_between(x, 100 * low, 100 * high, color=colour, alpha=0.2, linewidth=0)


def tail(axes: Axes, i: int, label: str, runs: Sequence[Responses]) -> None:
    """Plot the complement of the distribution function of response times, on logarithmic axes."""
    middle, low, high = mean_curve(runs, tail=True)
    colour = look(i)[0]
    axes.plot(EDGES, middle, color=colour, label=label)
    axes.fill_between(EDGES, low, high, color=colour, alpha=0.2, linewidth=0)


def panels(titles: Sequence[str]) -> tuple[Figure, list[Axes]]:
    """Return an empty figure for response-time profiles, with one panel per title."""
    figure, axes = sheet(1, len(titles), (3.7 * len(titles), 3.9), sharey=True, squeeze=False)
    for panel, title in zip(axes[0], titles, strict=True):
        panel.set_title(title, fontsize=10)
        panel.set_xlim(0, 2)
        panel.set_ylim(0, 102)
        panel.set_xlabel("response time (s)")
        panel.xaxis.set_major_formatter("{x:g}")
    axes[0][0].set_ylabel("responses (%)")
    return figure, list(axes[0])


def finish(figure: Figure, axes: Axes, columns: int = 4) -> Figure:
    """Put a legend below the panels, and return the figure."""
    legend_below(figure, axes, columns)
    return figure
