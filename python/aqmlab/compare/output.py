"""The folder that a comparison leaves: page, figures, numbers, finished runs."""

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from aqmlab import _core
from aqmlab.compare import figures
from aqmlab.compare.show import READING, is_clear, text
from aqmlab.compare.store import Store
from aqmlab.folder import Claim
from aqmlab.report import Chapter, Entry, Picture, Report, Score, Table, inline_svg, write_report

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from aqmlab.compare.comparison import Comparison

KEY = {"good": "better than the first queue", "bad": "worse"}
RUNS = "runs"
NUMBERS = "comparison.json"
PAGE = "report.html"
MADE_BY = "aqmlab compare"

DRAWN: tuple[tuple[str, str, Any, str], ...] = (
    ("trade-off", "Delay against goodput", figures.trade_off,
     "A point is a run; an ellipse the contour, one standard deviation from the mean, of the "
     "maximum-likelihood Gaussian of a queue's runs, whose tilt is their covariance; the large "
     "marker the median (RFC 7928 §2.7, after Winstein 2014). Less delay is to the right."),
    ("delay", "Queueing delay", figures.delays,
     "What packets waited: mean, and what 95 % and 99 % did not exceed; means over the "
     "replications with their 95 % intervals."),
    ("rates", "Drops and marks", figures.rates,
     "Share of the arriving packets that a queue dropped and marked, with 95 % intervals."),
    ("queue", "Queue over time", figures.queue_over_time,
     "Waiting packets in the first replication of each queue, sampled."),
    ("fairness", "Fairness", figures.fairness,
     "Jain's index of the goodputs of flows that are one connection: every run, and the mean with "
     "its 95 % interval."),
)  # fmt: skip


def place(folder: Path) -> Claim:
    """Return the right to write a comparison's folder, to be entered.

    Raises
    ------
    FileExistsError, NotADirectoryError
        If the folder holds something else, or another process has the right.
    """
    return Claim(folder, MADE_BY)


def store(claim: Claim) -> Store:
    """Return where the runs of a comparison are kept: in its folder, from the first on."""
    return Store(claim.named / RUNS, claim.parts)


def write(comparison: "Comparison", claim: Claim) -> Path:
    """Write page, figures and numbers; the runs stay. Returns the page.

    Raises
    ------
    OSError
        If the folder cannot be written.
    """
    from aqmlab.plots import save

    new = claim.new
    (new / RUNS).mkdir()
    for file in (claim.final / RUNS).glob("*.json"):
        shutil.copy2(file, new / RUNS)
    drawings = new / "figures"
    drawings.mkdir()
    chapters = [Chapter("numbers", "Numbers", [READING], [numbers(comparison)])]
    for name, title, draw, caption in DRAWN:
        if name == "fairness" and "jain" not in [m.name for m in comparison.measures]:
            continue
        figure: Figure = draw(comparison)
        for suffix in ("svg", "png"):
            save(figure, drawings / f"{name}.{suffix}")
            figure.set_layout_engine("none")  # it is laid out; once is enough
        svg = inline_svg((drawings / f"{name}.svg").read_text("utf-8"), name)
        chapters.append(Chapter(name, title, pictures=[Picture(name, caption, svg)]))
    chapters.append(_measures(comparison))
    chapters.append(_scenario(comparison))
    (new / NUMBERS).write_text(
        json.dumps({"made_by": MADE_BY, "version": _core.version()} | comparison.as_dict()) + "\n",
        "utf-8",
    )
    write_report(_report(comparison, chapters), new / PAGE)
    claim.appear()
    return claim.named / PAGE


def numbers(comparison: "Comparison") -> Table:
    """Return the table of the page."""
    head = ["Queue", *(f"{m.head} ({m.unit})" for m in comparison.measures)]
    rows: list[list[str | Entry]] = []
    for i, arm in enumerate(comparison.arms):
        row: list[str | Entry] = [arm.label]
        for m in comparison.measures:
            difference = comparison.difference(i, m.name)
            clear = i > 0 and is_clear(difference)
            sub = text(m, difference, signed=True) + "*" * clear if i else ""
            gain = m.better * difference.middle if clear else 0
            kind = "good" if gain > 0 else "bad" if gain < 0 else ""
            row.append(Entry(text(m, comparison.interval(i, m.name)), sub=sub, kind=kind))
        rows.append(row)
    n = comparison.replications
    caption = f"Queue of {comparison.link}, {n} replication{'s' * (n > 1)} of each"
    return Table(caption, head, rows)


def _measures(comparison: "Comparison") -> Chapter:
    rows: list[list[str | Entry]] = [
        [f"{m.head} ({m.unit})", Entry(m.meaning, prose=True)] for m in comparison.measures
    ]  # fmt: skip
    return Chapter("measures", "What is measured", tables=[Table("", ["Column", "Meaning"], rows)])


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
        "With the same seed every queue met the same starts, delays, sizes and arrivals. Each "
        "measure is over the whole run, its start included.",
    ]
    n = comparison.replications
    seeds = [run.seed for run in comparison.runs[0]]
    scores = [
        Score("queues", str(len(comparison.arms))),
        Score("replications of each", str(n), f"seeds {seeds[0]} to {seeds[-1]}"),
    ]
    end = f"aqmlab {_core.version()}: {n * len(comparison.arms)} runs. Numbers: {NUMBERS}."
    return Report("Queues compared", lead, scores, chapters, end, KEY)
