"""The folder that a comparison leaves: page, figures, numbers, finished runs."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.compare import figures
from aqmlab.compare.show import READING, difference, gain, head, mean, not_measured, runs
from aqmlab.folder import Claim
from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg, write_report
from aqmlab.store import FolderStore

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.compare.comparison import Comparison

KEY = {"good": "really better than the first queue", "bad": "really worse"}
RUNS = "runs"
NUMBERS = "comparison.json"
PAGE = "report.html"
MADE_BY = "aqmlab compare"

OF_EACH_LINK: tuple[tuple[str, str, Any, str, tuple[str, ...]], ...] = (
    ("trade-off", "Delay against goodput", figures.trade_off,
     "A point is a run; an ellipse the contour, one standard deviation from the mean, of the "
     "maximum-likelihood Gaussian of a queue's runs, whose tilt is their covariance; the large "
     "marker the median (RFC 7928 §2.7, after Winstein 2014). Less delay is to the right.",
     ("mean_delay_s", "goodput_bps")),
    ("delay", "Queueing delay", figures.delays,
     "What packets waited: mean, and what 95 % and 99 % did not exceed; means over the "
     "replications with their 95 % intervals.", ("mean_delay_s", "p95_delay_s", "p99_delay_s")),
    ("rates", "Drops and marks", figures.rates,
     "Share of the arriving packets that a queue dropped and marked, with 95 % intervals.",
     ("drop_rate", "mark_rate")),
    ("queue", "Queue over time", figures.queue_over_time,
     "Waiting packets in the first replication of each queue, sampled.", ()),
)  # fmt: skip
"""Figures: name, title, function, caption, and the measures that they show."""
FAIRNESS = (
    "fairness", "Fairness", figures.fairness,
    "Jain's index of the goodputs of flows that cross the link and are one connection: every run, "
    "and the mean with its 95 % interval.",
)  # fmt: skip


@contextmanager
def place(folder: Path, *, replace: bool = False) -> Iterator[Claim]:
    """Give the right to write a comparison's folder.

    Parameters
    ----------
    folder : Path
        The folder.
    replace : bool
        Whether an earlier comparison in the folder is replaced.

    Raises
    ------
    FileExistsError, NotADirectoryError
        If the folder holds something else, or an earlier comparison that is not to be replaced, or
        another process has the right.
    """
    with Claim(folder, MADE_BY, force=replace) as claim:
        claim.force = True  # The runs of this comparison are stored there from now on.
        yield claim


def store(claim: Claim, folder: Path | None = None, *, afresh: bool = False) -> FolderStore:
    """Return the store of a comparison's runs: by default in its folder, from the first run on.

    Parameters
    ----------
    claim : Claim
        The right to write the comparison's folder.
    folder : Path, optional
        Another folder for the runs.
    afresh : bool
        Runs of an earlier comparison in the folder are not used, and are replaced with it.
    """
    return FolderStore(folder or (claim.new if afresh else claim.named) / RUNS)


def _keep_runs(runs: FolderStore, claim: Claim, *, afresh: bool) -> None:
    """Put the runs into the folder that is to appear, with those of the folder it replaces."""
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
    """Write page, figures and numbers, and keep the runs; return the path of the page.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    from aqmlab.figures import lay_out, save

    new = claim.new
    drawings = new / "figures"
    drawings.mkdir()
    text = list(filter(None, [READING, not_measured(comparison)]))
    chapters = [Chapter("numbers", "Numbers", text, _tables(comparison))]
    if comparison.warnings:
        chapters.insert(0, Chapter("warnings", "Warnings", comparison.warnings))
    for name, title, draw, caption in _drawn(comparison):
        figure: Figure = draw(comparison)
        lay_out(figure)
        for suffix in ("svg", "png"):
            save(figure, drawings / f"{name}.{suffix}")
        svg = inline_svg((drawings / f"{name}.svg").read_text("utf-8"), name)
        chapters.append(Chapter(name, title, pictures=[Picture(name, caption, svg)]))
    chapters.append(_measures(comparison))
    chapters.append(_scenario(comparison))
    (new / NUMBERS).write_text(
        json.dumps({"made_by": MADE_BY, "version": _core.version()} | comparison.as_dict()) + "\n",
        "utf-8",
    )
    write_report(_report(comparison, chapters), new / PAGE)
    _keep_runs(runs, claim, afresh=afresh)
    claim.appear()
    return claim.named / PAGE


def _drawn(comparison: "Comparison") -> Iterator[tuple[str, str, Any, str]]:
    """Give name, title, how it is drawn, and caption of each figure; of several links, of each."""
    sampled = any(run.traces for runs in comparison.runs for run in runs)
    for name, title, draw, caption, shows in OF_EACH_LINK:
        for i, link in enumerate(comparison.links):
            of = [m if m == "goodput_bps" else comparison.name(m, link) for m in shows]
            if {m.name for m in comparison.not_measured}.intersection(of) or not (of or sampled):
                continue
            several = len(comparison.links) > 1
            at = f"{name}-{i + 1}" if several else name
            yield at, f"{title}, {link}" if several else title, partial(draw, link=link), caption
    if "jain" in [m.name for m in comparison.measures]:
        yield FAIRNESS


def _tables(comparison: "Comparison") -> list[Table]:
    """Return the numbers, and what the names of queues stand for."""
    named: list[list[str | Entry]] = [
        [arm.label, Entry(arm.queue, prose=True)]
        for arm in comparison.arms
        if arm.label != arm.queue
    ]
    queues = [Table("What the names stand for", ["Name", "Queue"], named)] if named else []
    return [numbers(comparison), *queues]


def numbers(comparison: "Comparison") -> Table:
    """Return the table of the page: a row a measure, a column a queue."""
    arms = range(len(comparison.arms))
    rows: list[list[str | Entry]] = []
    for m in comparison.measures:
        row: list[str | Entry] = [Entry(m.title, sub=m.unit)]
        for i in arms:
            better = gain(comparison, i, m)
            kind = "good" if better > 0 else "bad" if better < 0 else ""
            texts = (mean(comparison, i, m), difference(comparison, i, m))
            text, told = (text.replace(" ", "\u00a0") for text in texts)
            row.append(Entry(text, sub=told, kind=kind))
        rows.append(row)
    return Table(runs(comparison), ["", *(head(comparison, i) for i in arms)], rows)


def _measures(comparison: "Comparison") -> Chapter:
    rows: list[list[str | Entry]] = [
        [f"{m.title} ({m.unit})", Entry(m.meaning, prose=True)] for m in comparison.measures
    ]  # fmt: skip
    return Chapter("measures", "What is measured", tables=[Table("", ["Row", "Meaning"], rows)])


def _scenario(comparison: "Comparison") -> Chapter:
    """Return the scenario as a table of its keys, its queue that of the first."""

    def keys(node: Any, path: str) -> list[list[str | Entry]]:
        if isinstance(node, dict):
            parts = node.items()
        elif isinstance(node, list) and node and isinstance(node[0], dict):
            parts = {str(i): part for i, part in enumerate(node)}.items()
        else:
            return [[path, Entry(json.dumps(node, ensure_ascii=False), prose=True)]]
        return [row for key, part in parts for row in keys(part, f"{path}.{key}".lstrip("."))]

    rows = keys({k: v for k, v in comparison.scenario.items() if v is not None}, "")
    caption = f"Every key, with the first queue ({comparison.arms[0].label})"
    table = Table(caption, ["Key", "Value"], rows)
    return Chapter("scenario", "The scenario", tables=[table], folded=True)


def _report(comparison: "Comparison", chapters: list[Chapter]) -> Report:
    title = comparison.scenario["title"] or "Untitled scenario"
    labels = ", ".join(arm.label for arm in comparison.arms)
    lead = [
        f"The same traffic through each of: {labels}. {title}.",
        "With the same seed every queue met the same starts, delays, sizes and arrivals. "
        + (
            f"The first {comparison.warm_up} of each run are left out of every measure."
            if comparison.warm_up
            else "Each measure is over the whole run, its start included."
        ),
    ]
    n = comparison.replications
    seeds = [run.seed for run in comparison.runs[0]]
    scores = [
        Score("queues", str(len(comparison.arms))),
        Score("replications of each", str(n), f"seeds {seeds[0]} to {seeds[-1]}"),
    ]
    end = f"aqmlab {_core.version()}: {n * len(comparison.arms)} runs. Numbers: {NUMBERS}."
    return Report("Queues compared", lead, scores, chapters, end, KEY)
