"""Figures 2, 3, 4 and 16: goodput efficiency G (eq. 2) against the queue limit, five schemes."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from aqmlab import estimates
from aqmlab.estimates import Estimate
from aqmlab.measures import Measure
from aqmlab.studies.ecn_finite_transfers.drawing import against_limit, legend_below, sheet
from aqmlab.studies.ecn_finite_transfers.replications import need
from aqmlab.studies.ecn_finite_transfers.scenarios import LIMITS, SCHEMES, Setting
from aqmlab.studies.ecn_finite_transfers.transfers import Transfers
from aqmlab.studies.framework.runs import Need, Runs
from aqmlab.studies.framework.study import Figure, Item, Section
from aqmlab.studies.framework.verdicts import Cell

QUANTITIES = (
    Measure[Transfers]("goodput_efficiency", "%", lambda run: run.efficiency_percent, 1),
    Measure[Transfers]("link_utilization", "%", lambda run: run.utilization_percent, 1),
    Measure[Transfers]("sent_packets", "packets", lambda run: run.sent.sum(), -1),
    Measure[Transfers]("dropped_packets", "packets", lambda run: run.dropped.sum(), -1),
    Measure[Transfers]("duplicate_packets", "packets", lambda run: run.duplicates, -1),
    Measure[Transfers]("min_goodput", "kbit/s", lambda run: run.goodput_kbps.min(), 1),
    Measure[Transfers]("max_goodput", "kbit/s", lambda run: run.goodput_kbps.max()),
    Measure[Transfers]("jain_index", "1", lambda run: run.jain, 1),
    Measure[Transfers]("delivered_to_dropped", "ratio", lambda run: delivered_to_dropped(run), 1),
)


def percent(run: Transfers) -> float:
    """Return the goodput efficiency G in %."""
    return run.efficiency_percent


def dropped(run: Transfers) -> float:
    """Return the number of dropped packets of all clients."""
    return float(run.dropped.sum())


def delivered_to_dropped(run: Transfers) -> float:
    """Return the delivered segments per dropped segment, infinity if no segment was dropped."""
    dropped = run.dropped.sum()
    return float(run.delivered.sum() / dropped) if dropped else float("inf")


def limits_of(n: int) -> tuple[int, ...]:
    """Return the queue limits in ascending order; only runs with ten clients have limit 512."""
    return tuple(sorted(LIMITS + ((512,) if n == 10 else ())))


def grid(n: int, delay_ms: int = 20) -> list[Setting]:
    """Return the settings of all schemes with all queue limits."""
    return [
        Setting(n, scheme, limit, delay_ms=delay_ms) for scheme in SCHEMES for limit in limits_of(n)
    ]


def spread(runs: Runs, setting: Setting, quantity: Callable[[Transfers], float]) -> Estimate:
    """Return the median of a quantity over the replications of a setting."""
    return estimates.median(runs.values(setting, quantity))


def cells(item: str, runs: Runs, settings: list[Setting]) -> list[Cell]:
    """Return the numbers behind the study's figures."""
    return [
        Cell.of(item, setting.columns(), quantity, runs.of(setting))
        for setting in settings
        for quantity in QUANTITIES
    ]


def figure_item(number: int, n: int, clients: str, delay_ms: int = 20) -> Item:
    """Return the item of the study that reproduces one figure."""
    name = f"figure-{number}"
    title = f"Figure {number}: goodput efficiency, {clients} clients"
    if delay_ms != 20:
        title += f", d = {delay_ms} ms"

    def needs() -> Iterator[Need]:
        yield from map(need, grid(n, delay_ms))

    def make(runs: Runs) -> Section:
        curves = {
            scheme: [
                spread(runs, setting, percent)
                for setting in grid(n, delay_ms)
                if setting.scheme == scheme
            ]
            for scheme in SCHEMES
        }
        figure, (whole, detail) = sheet(1, 2, (10.0, 4.2))
        limits = limits_of(n)
        against_limit(whole, curves, limits, "goodput efficiency G (%)")
        cut = limits.index(16)
        large = {scheme: spreads[cut:] for scheme, spreads in curves.items()}
        against_limit(detail, large, limits[cut:], "G for queue limits of 16 packets or more (%)")
        for axes in (whole, detail):
            low, _ = axes.get_ylim()
            axes.set_ylim(low, 100 + 0.02 * (100 - low))
        legend_below(figure, whole, 5)
        caption = (
            f"{title}. Lines are medians of the replications, and bands contain the central 95 % "
            "of the replications. The goodput efficiency G is the payload of all clients divided "
            "by the capacity of the bottleneck until the last download ended."
        )
        drawn = Figure(f"figure_{number:02d}", caption, figure)
        return Section([], cells(name, runs, grid(n, delay_ms)), [], [drawn])

    return Item(name, title, needs, make)


ITEMS = (
    figure_item(2, 2, "two"),
    figure_item(3, 5, "five"),
    figure_item(4, 10, "ten"),
    figure_item(16, 10, "ten", delay_ms=100),
)
