"""Output folder of a comparison: report, figures, numbers and finished runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.comparison import figures
from aqmlab.comparison.alternatives import REPLICATIONS, SECOND_HALF
from aqmlab.comparison.show import (
    READING,
    answers,
    difference,
    gain,
    head,
    hint,
    mean,
    not_measured,
    robust,
    runs,
    strength,
)
from aqmlab.folder import Claim
from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg, write_report
from aqmlab.store import FolderStore

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.comparison.comparison import Comparison
    from aqmlab.measures import Measure, MeasuredRun

KEY = {
    "good": "significantly better than the first queue, by 1 % or more",
    "bad": "significantly worse than the first queue, by 1 % or more",
}
"""Legend of the colours in the table of numbers."""
RUNS = "runs"
NUMBERS = "comparison.json"
PAGE = "report.html"
MADE_BY = "aqmlab compare"

OF_EACH_LINK: tuple[tuple[str, str, Any, str, tuple[str, ...]], ...] = (
    ("trade-off", "Delay against goodput", figures.trade_off,
     "Each point is a run. Each ellipse is a contour of the normal distribution that fits the "
     "runs of a queue best, one standard deviation from the mean. The tilt of the ellipse shows "
     "the covariance of delay and goodput. The large marker is the median of the runs (RFC 7928 "
     "§2.7, after Winstein 2014). The delay decreases to the right.",
     ("mean_delay_s", "goodput_bps")),
    ("delay", "Queueing delay", figures.delays,
     "Mean queueing delay of the packets, and the delays that 95 % and 99 % of the packets did "
     "not exceed. Each dot is the mean over the replications, with its 95 % interval.",
     ("mean_delay_s", "p95_delay_s", "p99_delay_s")),
    ("rates", "Drops and marks", figures.rates,
     "Shares of the arriving packets that each queue dropped and marked, with 95 % intervals.",
     ("drop_rate", "mark_rate")),
    ("queue", "Queue over time", figures.queue_over_time,
     "Sampled queue length in packets, in the first replication of each queue.", ()),
)  # fmt: skip
"""Figures of each link: name, title, drawing function, caption, and names of the drawn measures."""
FAIRNESS = (
    "fairness", "Fairness", figures.fairness,
    "Jain's fairness index of the goodputs of all flows that cross the link and consist of one "
    "connection. A light point is a run, a dark point the mean with its 95 % interval.",
)  # fmt: skip
"""Figure for all links together: name, title, drawing function and caption."""

ROUND_TRIPS = (
    "round-trips", "Goodput over round-trip time", figures.round_trips,
    "Each point is a bulk flow of one connection with one queue: the mean of its goodput over the "
    "replications, with its 95 % interval. The round-trip time is the sum of the propagation "
    "delays of the links.",
)  # fmt: skip
"""Figure of the flows with different round-trip times: name, title, drawing function, caption."""


@contextmanager
def place(folder: Path, *, replace: bool = False) -> Iterator[Claim]:
    """Claim the folder of a comparison for writing.

    Parameters
    ----------
    folder : Path
        Folder of the comparison.
    replace : bool
        True to replace an earlier comparison in the folder.

    Raises
    ------
    FileExistsError, NotADirectoryError
        If the folder contains files of other commands, if it contains an earlier comparison and
        `replace` is False, or if another process has claimed the folder.
    """
    with Claim(folder, MADE_BY, force=replace) as claim:
        claim.force = True  # The store adds runs to the folder from now on.
        yield claim


def store(claim: Claim, folder: Path | None = None, *, afresh: bool = False) -> FolderStore:
    """Return the store for the runs of a comparison.

    Parameters
    ----------
    claim : Claim
        Claim of the comparison's folder.
    folder : Path, optional
        Folder of the store; default: the folder of the comparison.
    afresh : bool
        True to replace the runs of an earlier comparison in the folder, without using them.
    """
    return FolderStore(folder or (claim.new if afresh else claim.named) / RUNS)


def _copy_runs(runs: FolderStore, claim: Claim, *, afresh: bool) -> None:
    """Copy runs into the new folder, from the store or (unless `afresh`) the replaced folder."""
    own = claim.named / RUNS
    if runs.folder == own:
        runs.copy(claim.new / RUNS)
        runs.close()
    elif runs.folder == claim.new / RUNS:
        runs.close()
    elif own.is_dir() and not afresh:
        with FolderStore(own) as earlier:
            earlier.copy(claim.new / RUNS)


def write(
    comparison: "Comparison", runs: FolderStore, claim: Claim, *, afresh: bool = False
) -> Path:
    """Write the report, figures, numbers and runs; return the path of the report.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    from aqmlab.figures import save_all

    new = claim.new
    drawings = new / "figures"
    drawings.mkdir()
    text = list(filter(None, [READING, not_measured(comparison)]))
    chapters = []
    if comparison.warnings:
        chapters.append(Chapter("warnings", "Warnings", comparison.warnings))
    pictures: list[Chapter] = []
    for name, title, draw, caption in _drawn(comparison):
        figure: Figure = draw(comparison)
        save_all(figure, drawings / name)
        svg = inline_svg((drawings / f"{name}.svg").read_text("utf-8"), name)
        pictures.append(Chapter(name, title, pictures=[Picture(name, caption, svg)]))
    table = Chapter("numbers", "Numbers", text, _tables(comparison))
    first = len([c for c in pictures if c.name.startswith("trade-off")])
    chapters += [*pictures[:first], table, *_alternatives(comparison), *pictures[first:]]
    chapters.append(_measures(comparison))
    chapters.append(_scenario(comparison))
    (new / NUMBERS).write_text(
        json.dumps(
            {"made_by": MADE_BY, "format": _core.FORMAT, "version": _core.version()}
            | comparison.as_dict()
        )
        + "\n",
        "utf-8",
    )
    write_report(_report(comparison, chapters), new / PAGE)
    _copy_runs(runs, claim, afresh=afresh)
    claim.appear()
    return claim.named / PAGE


def _drawn(comparison: "Comparison") -> Iterator[tuple[str, str, Any, str]]:
    """Yield the name, title, drawing function and caption of each figure that has data."""
    sampled = any(run.traces for runs in comparison.runs for run in runs)
    measured = {m.name for m in comparison.measures}
    for name, title, draw, caption, shows in OF_EACH_LINK:
        for i, link in enumerate(comparison.links):
            of = {comparison.name(m, link) for m in shows}
            if not of <= measured or not (of or sampled):
                continue
            several = len(comparison.links) > 1
            at = f"{name}-{i + 1}" if several else name
            yield at, f"{title}, {link}" if several else title, partial(draw, link=link), caption
    if "jain" in measured:
        yield FAIRNESS
    if any(run.flows for runs in comparison.runs for run in runs):
        yield ROUND_TRIPS


def _tables(comparison: "Comparison") -> list[Table]:
    """Return the table of numbers, and a second table if some queues have names of their own."""
    named: list[list[str | Entry]] = [
        [arm.label, Entry(arm.queue, prose=True)]
        for arm in comparison.arms
        if arm.label != arm.queue
    ]
    queues = [Table("Queues by name", ["Name", "Queue"], named)] if named else []
    return [numbers(comparison), *queues]


def numbers(comparison: "Comparison") -> Table:
    """Return the table of numbers, with one row per measure and one column per queue."""
    arms = range(len(comparison.arms))
    rows: list[list[str | Entry]] = []
    late = comparison.second_half
    for m in comparison.measures:
        rows.append([Entry(m.title, sub=m.unit), *(_field(comparison, i, m) for i in arms)])
        if late and m.name in comparison.primary and m in late.measures:
            fields = (_field(late, i, m, tested=False) for i in arms)
            rows.append([Entry(f"{m.title}, {SECOND_HALF}", sub=m.unit), *fields])
    return Table(runs(comparison), ["", *(head(comparison, i) for i in arms)], rows)


def _alternatives(comparison: "Comparison") -> list[Chapter]:
    """Return the chapter with the primary measures under the alternatives, if there are any.

    The second half of the runs is a part of the table of numbers instead.
    """
    others = {k: v for k, v in comparison.alternatives.items() if k != SECOND_HALF}
    arms = range(len(comparison.arms))
    rows: list[list[str | Entry]] = []
    for m in comparison.measures:
        if m.name in comparison.primary and others:
            rows.append([Entry(m.title, sub=m.unit), *(_field(comparison, i, m) for i in arms)])
            for name, other in others.items():
                fields = (_field(other, i, m, tested=False) for i in arms)
                rows.append([Entry(f"{m.title}, {name}", sub=m.unit), *fields])
    caption = f"The comparison under other assumptions, with {REPLICATIONS} replications"
    table = Table(caption, ["", *(head(comparison, i) for i in arms)], rows)
    return [Chapter("alternatives", "Alternatives", tables=[table])] if rows else []


def _field(
    comparison: "Comparison", arm: int, measure: "Measure[MeasuredRun]", *, tested: bool = True
) -> Entry:
    """Return the field of a measure for a queue. Without a test, it has no star and no colour."""
    texts = (mean(comparison, arm, measure), difference(comparison, arm, measure))
    value, change = (text.replace(" ", "\u00a0") for text in texts)
    if not tested:
        return Entry(value, sub=change.removesuffix("*"))
    better = gain(comparison, arm, measure)
    coloured = better and strength(comparison, arm, measure) != "small"
    kind = ("good" if better > 0 else "bad") if coloured else ""
    return Entry(value, sub=change, kind=kind)


def _measures(comparison: "Comparison") -> Chapter:
    """Return the chapter of the report that defines the measures."""
    rows: list[list[str | Entry]] = [
        [f"{m.title} ({m.unit})", Entry(m.meaning, prose=True)] for m in comparison.measures
    ]  # fmt: skip
    return Chapter("measures", "Measures", tables=[Table("", ["Row", "Meaning"], rows)])


def _scenario(comparison: "Comparison") -> Chapter:
    """Return the chapter of the report with all keys of the first queue's scenario."""

    def keys(node: Any, path: str) -> list[list[str | Entry]]:
        if isinstance(node, dict):
            parts = node.items()
        elif isinstance(node, list) and node and isinstance(node[0], dict):
            parts = {str(i): part for i, part in enumerate(node)}.items()
        else:
            return [[path, Entry(json.dumps(node, ensure_ascii=False), prose=True)]]
        return [row for key, part in parts for row in keys(part, f"{path}.{key}".lstrip("."))]

    rows = keys({k: v for k, v in comparison.scenario.items() if v is not None}, "")
    caption = f"Every key of the scenario with the first queue ({comparison.arms[0].label})"
    table = Table(caption, ["Key", "Value"], rows)
    return Chapter("scenario", "The scenario", tables=[table], folded=True)


def _report(comparison: "Comparison", chapters: list[Chapter]) -> Report:
    """Return the report of a comparison."""
    title = comparison.scenario["title"] or "Untitled scenario"
    labels = ", ".join(arm.label for arm in comparison.arms)
    lead = [
        *filter(None, [*answers(comparison), robust(comparison), hint(comparison)]),
        f"Queues under the same traffic: {labels}. Scenario: {title}.",
        "In runs with the same seed, the flows have the same start times, delays, sizes and "
        "arrival times. "
        + (
            f"The measures exclude the warm-up, which is the first {comparison.warm_up} of each "
            "run."
            if comparison.warm_up
            else "The measures cover the whole run, including its start."
        ),
    ]
    n = comparison.replications
    seeds = [run.seed for run in comparison.runs[0]]
    scores = [
        Score("queues", str(len(comparison.arms))),
        Score("replications of each queue", str(n), f"seeds {seeds[0]} to {seeds[-1]}"),
    ]
    end = f"aqmlab {_core.version()}: {n * len(comparison.arms)} runs. Numbers: {NUMBERS}."
    return Report("Comparison of queues", lead, scores, chapters, end, KEY)
