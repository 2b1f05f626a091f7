"""Packet scripts: transcripts of system calls and segments, run against the TCP endpoint.

The language is packetdrill's; docs/how-to/packet-scripts.md describes it.
"""

import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from aqmlab import _core
from aqmlab.assertions import BlockError, Evaluator, UnsupportedError

PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"
WORDS = {PASSED: "OK", FAILED: "FAIL", UNSUPPORTED: "UNSUPPORTED"}
SUFFIX = ".pkt"
MOMENTS_SHOWN = 10
# Longer shell scripts are not read: they prepare no host.
MOST_BYTES = 100_000


@dataclass(frozen=True)
class Moment:
    """Something that happened: seconds on the script's clock, the script's line, and what."""

    time_s: float
    line: int | None
    what: str


@dataclass(frozen=True)
class Outcome:
    """How a script ended.

    ``verdict`` is "passed", "failed" or "unsupported"; ``line`` is where it failed or what is
    missing stands, and ``printed`` is what its blocks of Python printed.
    """

    file: str
    verdict: str
    timeline: tuple[Moment, ...] = ()
    printed: tuple[str, ...] = ()
    line: int | None = None
    column: int | None = None
    problem: str | None = None
    expected: str | None = None
    happened: str | None = None

    def as_dict(self) -> dict[str, Any]:
        """Everything as plain values."""
        return asdict(self)


def run(
    text: str,
    file: str = "script",
    *,
    preset: str = "linux",
    changes: Sequence[tuple[str, str]] = (),
    tolerance: str | None = None,
    preparation: Sequence[str] = (),
) -> Outcome:
    """Run a script.

    Parameters
    ----------
    text
        The script.
    file
        Its name, for messages.
    preset
        Parameters of TCP to begin with: "linux" or "rfc".
    changes
        Parameters to change, as in ``aqmlab explain tcp``; values in TOML, or plain texts.
    tolerance
        How far times may be off, e.g. "4 ms", unless the script says; packetdrill's 4 ms if None.
    preparation
        Texts of the shell scripts that it calls to prepare its host (``defaults.sh``); their
        ``sysctl`` lines are done, the rest is passed over. Nothing is given to a shell.

    Raises
    ------
    ScenarioError
        A parameter, preset or tolerance is wrong.

    Examples
    --------
    >>> run("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3").verdict
    'passed'
    """
    parameters = {key.removeprefix("tcp."): _value(value) for key, value in changes}
    report = json.loads(
        _core.script(text, preset, json.dumps(parameters), tolerance, list(preparation))
    )
    timeline = tuple(Moment(**moment) for moment in report["timeline"])
    names = ("line", "column", "problem", "expected", "happened")
    end = {"verdict": report["verdict"], **{name: report.get(name) for name in names}}
    evaluator = Evaluator()
    if end["verdict"] != UNSUPPORTED:
        end = _blocks(report["blocks"], evaluator) or end
    return Outcome(file=file, timeline=timeline, printed=tuple(evaluator.printed), **end)


def _blocks(blocks: Iterable[dict[str, Any]], evaluator: Evaluator) -> dict[str, Any] | None:
    """Run the blocks in order; return the first thing that is wrong."""
    for block in blocks:
        try:
            evaluator.run(block["text"], block["info"] or {})
        except BlockError as e:
            verdict = UNSUPPORTED if isinstance(e, UnsupportedError) else FAILED
            line = block["line"] + e.line - 1
            return {"verdict": verdict, "line": line, "problem": f"at {block['time_s']:.6f} s: {e}"}
    return None


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def find(paths: Iterable[Path]) -> list[Path]:
    """Return the scripts that are meant: files, and every ``*.pkt`` in folders, sorted.

    Raises
    ------
    ValueError
        A folder has none.
    """
    found = []
    for path in paths:
        if not path.is_dir():
            found.append(path)
            continue
        inside = sorted(path.rglob(f"*{SUFFIX}"))
        if not inside:
            raise ValueError(f"{path}: has no scripts (*{SUFFIX}) in it")
        found += inside
    return found


def run_files(paths: Iterable[Path], **options: Any) -> Iterator[Outcome]:
    """Run scripts from files, with the options of `run`."""
    for path in paths:
        try:
            text = path.read_text("utf-8")
        except UnicodeDecodeError:
            raise ValueError(f"{path}: is not UTF-8 text") from None
        yield run(text, str(path), preparation=_called(text, path.parent), **options)


def _called(text: str, folder: Path) -> list[str]:
    """Return the texts of the shell scripts beside a script that its commands call."""
    commands = " ".join(re.findall(r"`([^`]*)`", text))
    found = []
    for name in dict.fromkeys(re.findall(r"[\w./-]+\.sh\b", commands)):
        path = folder / name
        with suppress(OSError, UnicodeDecodeError):
            if path.is_file() and path.stat().st_size <= MOST_BYTES:
                found.append(path.read_text("utf-8"))
    return found


def describe(outcome: Outcome) -> str:
    """Say how a script ended, as a test runner does."""
    place = outcome.file
    for number in (outcome.line, outcome.column):
        place += f":{number}" if number is not None else ""
    if outcome.verdict == PASSED:
        place = outcome.file
    problem = f": {outcome.problem}" if outcome.problem else ""
    lines = [f"{WORDS[outcome.verdict]:<12} {place}{problem}"]
    lines += [f"    printed   {text}" for text in outcome.printed]
    if outcome.verdict == FAILED:
        lines += [f"    expected  {outcome.expected}"] if outcome.expected else []
        lines += [f"    happened  {outcome.happened}"] if outcome.happened else []
        lines += ["    timeline  (seconds, line of the script)"] if outcome.timeline else []
        for moment in outcome.timeline[-MOMENTS_SHOWN:]:
            of = "" if moment.line is None else str(moment.line)
            lines.append(f"    {moment.time_s:12.6f} {of:>5}  {moment.what}")
    return "\n".join(lines)


def summary(outcomes: Sequence[Outcome]) -> str:
    """Count the verdicts.

    Examples
    --------
    >>> summary([Outcome("a.pkt", "passed"), Outcome("b.pkt", "failed")])
    '2 scripts: 1 passed, 1 failed, 0 unsupported'
    """
    counts = {verdict: sum(o.verdict == verdict for o in outcomes) for verdict in WORDS}
    told = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{len(outcomes)} script{'s' if len(outcomes) != 1 else ''}: {told}"
