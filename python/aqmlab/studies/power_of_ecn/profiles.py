"""Figures 2 to 5: response times with each AQM scheme without ECN, with ECN and with ECN+."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from aqmlab import estimates
from aqmlab.report import Entry, Table
from aqmlab.studies.framework import Figure, Item, Need, Runs, Section
from aqmlab.studies.power_of_ecn.outcomes import CLASSES, Outcome
from aqmlab.studies.power_of_ecn.scenarios import Setting, at_most
from aqmlab.studies.power_of_ecn.showing import (
    COST_HEADS,
    COSTS,
    DATA_LOSS,
    MEAN,
    PROFILE,
    SYN_ACK_LOSS,
    WITHIN,
    Quantity,
    cells,
    curve,
    finish,
    gain,
    over,
    panels,
    with_interval,
)
from aqmlab.studies.power_of_ecn.words import (
    ECN,
    ECN_PLUS,
    ENDS,
    LIGHT,
    OFF,
    PERSISTENT,
    PI,
    RED,
    RED_STAR,
    REM,
    SCHEMES,
    UNCONGESTED,
)

NUMBERS = {RED: 2, RED_STAR: 3, REM: 4, PI: 5}
LOADS = (LIGHT, PERSISTENT)
SHOWN = (WITHIN, PROFILE, MEAN, SYN_ACK_LOSS, DATA_LOSS)
OWN = (WITHIN, PROFILE, MEAN)
HEADS = (
    "Within 0.5 s (%)",
    "Mean of the profile (%)",
    "Mean time (s)",
    "SYN-ACKs dropped (%)",
    "Other packets dropped (%)",
)


def reference(load: int) -> Setting:
    """Return the setting of the uncongested link at the given offered load."""
    return Setting(UNCONGESTED, OFF, load)


def grid(scheme: str) -> list[Setting]:
    """Return the settings of a scheme, with both loads and all three ECN modes."""
    return [Setting(scheme, ends, load) for load in LOADS for ends in ENDS]


def needs(scheme: str) -> Iterator[Need]:
    """Yield the runs of a scheme and of the uncongested link."""
    for at in (*map(reference, LOADS), *grid(scheme)):
        yield Need(at, at_most=at_most(at))


def sheet_of(runs: Runs, scheme: str, name: str) -> Figure:
    """Plot the response-time profiles of a scheme at both loads."""
    figure, axes = panels([f"{scheme}, {load} % load" for load in LOADS])
    for panel, load in zip(axes, LOADS, strict=True):
        curve(panel, 6, "uncongested", [r.all for r in runs.of(reference(load))], dashed=True)
        for i, ends in enumerate((ECN_PLUS, OFF, ECN)):
            responses = [run.all for run in runs.of(Setting(scheme, ends, load))]
            curve(panel, i, ENDS[ends], responses)
    caption = (
        f"Figure {NUMBERS[scheme]}: distribution of response times with {scheme}. Lines show the "
        "mean of the replications, and bands its 95 % interval. The dashed line shows the same "
        "requests on the uncongested link."
    )
    return Figure(name, caption, finish(figure, axes[0]))


def _name(at: Setting) -> str:
    name = UNCONGESTED if at.scheme == UNCONGESTED else ENDS.get(at.ends, at.ends)
    return f"{at.load} %, {name}"


def rows(
    runs: Runs, settings: Sequence[Setting], quantities: Sequence[Quantity]
) -> list[list[str | Entry]]:
    """Return one table row per setting, with the means of the quantities."""
    lines: list[list[str | Entry]] = []
    for at in settings:
        numbers = [with_interval(over(q, runs.of(at))) for q in quantities]
        lines.append([_name(at), *numbers])
    return lines


def by_size(runs: Runs, scheme: str, settings: Sequence[Setting]) -> Table:
    """Return a table with the response times of small, medium and large objects."""
    lines: list[list[str | Entry]] = []
    for at in settings:
        ran: list[Outcome] = runs.of(at)
        row: list[str | Entry] = [_name(at)]
        for k in range(len(CLASSES)):
            mean = estimates.mean(r.classes[k].mean() for r in ran)
            late = estimates.share(100 * (1 - r.classes[k].within(2)) for r in ran)
            row += [with_interval(mean), with_interval(late)]
        lines.append(row)
    heads = [
        h for name in CLASSES for h in (f"{name}: mean (s)", "responses after more than 2 s (%)")
    ]
    return Table(
        f"{scheme}: response times by the size of the object", ["Load, ECN mode", *heads], lines
    )


def _maker(scheme: str) -> Callable[[Runs], Section]:
    item = f"figure-{NUMBERS[scheme]}"

    def make(runs: Runs) -> Section:
        section = Section(figures=[sheet_of(runs, scheme, item)])
        settings = [reference(load) for load in LOADS] + grid(scheme)
        for at in settings:
            section.cells += cells(item, runs, at, (*OWN, *COSTS))
        section.tables += [
            Table(
                f"{scheme}: response times", ["Load, ECN mode", *HEADS], rows(runs, settings, SHOWN)
            ),
            Table(
                f"{scheme}: lost packets and their costs",
                ["Load, ECN mode", *COST_HEADS],
                rows(runs, settings, COSTS),
            ),
            by_size(runs, scheme, settings),
        ]
        section.text += differences(runs, scheme)
        return section

    return make


def differences(runs: Runs, scheme: str) -> list[str]:
    """Return the changes of the mean profile by ECN and ECN+, as text."""
    sentences = []
    for load in LOADS:
        parts = []
        for more, less in ((ECN, OFF), (ECN_PLUS, ECN), (ECN_PLUS, OFF)):
            above, below = (Setting(scheme, ends, load) for ends in (more, less))
            of = estimates.mean(gain(runs, above, below, PROFILE))
            parts.append(f"{ENDS[more]} minus {ENDS[less]}: {of} percentage points")
        sentences.append(
            f"Changes of the mean response-time profile to 2 s at {load} % load: "
            f"{'; '.join(parts)}."
        )
    return sentences


def _item(scheme: str) -> Item:
    number = NUMBERS[scheme]
    return Item(
        f"figure-{number}",
        f"Figure {number}: response times with {scheme}",
        lambda: needs(scheme),
        _maker(scheme),
    )


ITEMS = tuple(_item(scheme) for scheme in SCHEMES)
