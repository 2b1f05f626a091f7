"""Packet scripts: sequences of system calls and segments that test the TCP endpoint.

The language is that of packetdrill; docs/how-to/packet-scripts.md describes it.
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
from aqmlab._core import InvariantViolation
from aqmlab.assertions import BlockError, Evaluator, UnsupportedError, unsupported
from aqmlab.scenario import with_keys

__all__ = ["Moment", "Outcome", "describe", "find", "run", "run_files", "summary"]

PASSED, FAILED, UNSUPPORTED = "passed", "failed", "unsupported"
WORDS = {PASSED: "OK", FAILED: "FAIL", UNSUPPORTED: "UNSUPPORTED"}
SUFFIX = ".pkt"
MOMENTS_SHOWN = 10
# A shell script above this size does not prepare a host, so it is not read.
MOST_BYTES = 100_000
MOST_SCRIPT_BYTES = 64 << 20


@dataclass(frozen=True)
class Moment:
    """An event of a script: its time on the script's clock, the script's line, a description."""

    time_s: float
    line: int | None
    what: str


@dataclass(frozen=True)
class Outcome:
    """Result of a script.

    ``verdict`` is "passed", "failed" or "unsupported". ``line`` is the line of the failure or of
    the first unsupported feature. ``moment`` is the index in the timeline of a Python block that
    failed. ``printed`` is the output of the Python blocks.
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
    moment: int | None = None

    def as_dict(self) -> dict[str, Any]:
        """Return all fields as plain values."""
        return asdict(self)


def run(
    text: str,
    file: str = "script",
    *,
    stack: str = "linux",
    changes: Sequence[tuple[str, str]] = (),
    tolerance: str | None = None,
    preparation: Sequence[tuple[str, str]] = (),
    defines: Sequence[tuple[str, str]] = (),
) -> Outcome:
    """Run a script.

    Parameters
    ----------
    text
        The script.
    file
        Name of the script in messages.
    stack
        Initial TCP parameters: "linux" or "rfc".
    changes
        Changed TCP parameters, as in ``aqmlab explain tcp``; values in TOML, or plain texts.
    tolerance
        Tolerance of times, for example "4 ms", unless the script sets it; None is 4 ms, as in
        packetdrill.
    preparation
        Names and texts of the shell scripts that the script calls to prepare its host
        (``defaults.sh``). The simulated host adopts the settings of the shell scripts. A setting
        without an equivalent makes the script unsupported. Other commands are skipped and listed in
        the timeline. A shell never executes the scripts.
    defines
        Words of the script and their replacements: a value, an error, a Fast Open cookie, or a
        command in backticks.

    Raises
    ------
    ScenarioError
        If a parameter, the stack or the tolerance is invalid.
    ValueError
        If a word in `defines` is not a name.

    Examples
    --------
    >>> run("0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3").verdict
    'passed'
    >>> run("0 socket(..., KIND, IPPROTO_TCP) = 3", defines=[("KIND", "SOCK_STREAM")]).verdict
    'passed'
    """
    for name, _ in defines:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, flags=re.ASCII):
            raise ValueError(
                f"-D {name!r}: is not a name; write NAME=value, with letters, digits, _"
            )
    given = {key.removeprefix("tcp."): _value(value) for key, value in changes}
    parameters = with_keys({}, given)
    report = json.loads(
        _core.script(
            text, stack, json.dumps(parameters), tolerance, list(preparation), list(defines)
        )
    )
    timeline = tuple(Moment(**moment) for moment in report["timeline"])
    names = ("line", "column", "problem", "expected", "happened")
    end = {"verdict": report["verdict"], **{name: report.get(name) for name in names}}
    evaluator = Evaluator()
    missing = [(what["line"], what["what"]) for what in report.get("missing", [])]
    code = [(block["line"], block["text"]) for block in report["code"]]
    missing += unsupported(code, report["fields"])
    end = (
        _unsupported(missing) if missing else _blocks(report["blocks"], evaluator, timeline) or end
    )
    return Outcome(file=file, timeline=timeline, printed=tuple(evaluator.printed), **end)


def _unsupported(missing: Iterable[tuple[int, str]]) -> dict[str, Any]:
    """Return an outcome that lists each unsupported feature once, beginning with the first."""
    first: dict[str, int] = {}
    for line, what in missing:
        first[what] = min(line, first.get(what, line))
    (line, problem), *rest = sorted((line, what) for what, line in first.items())
    before = line
    for other, what in rest:
        problem += f"; {what}" if other == before else f"; line {other}: {what}"
        before = other
    return {"verdict": UNSUPPORTED, "line": line, "problem": problem}


def _blocks(
    blocks: Iterable[dict[str, Any]], evaluator: Evaluator, timeline: Sequence[Moment]
) -> dict[str, Any] | None:
    """Run the Python blocks in order; return the first failure, and its place in the timeline."""
    for block in blocks:
        try:
            evaluator.run(block["text"], block["info"] or {})
        except BlockError as e:
            verdict = UNSUPPORTED if isinstance(e, UnsupportedError) else FAILED
            line = block["line"] + e.line - 1
            problem = f"at {block['time_s']:.6f} s: {e}"
            places = (
                i
                for i, moment in enumerate(timeline)
                if moment.line == block["line"] and moment.what.startswith("%{")
            )
            moment = next(places, None)
            return {"verdict": verdict, "line": line, "problem": problem, "moment": moment}
    return None


def _value(text: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def find(paths: Iterable[Path]) -> list[Path]:
    """Return the scripts that paths refer to: files, and all ``*.pkt`` in folders, sorted.

    Raises
    ------
    FileNotFoundError
        If a file or folder does not exist.
    ValueError
        If a folder has no scripts.
    """
    scripts = []
    for path in paths:
        path.stat()
        if not path.is_dir():
            scripts.append(path)
            continue
        inside = sorted(path.rglob(f"*{SUFFIX}"))
        if not inside:
            raise ValueError(f"{path}: has no scripts (*{SUFFIX}); give another folder")
        scripts += inside
    return scripts


def run_files(paths: Iterable[Path], **options: Any) -> Iterator[Outcome]:
    """Run scripts from files, with the options of `run`.

    If a file cannot be read, its outcome is a failure and the other scripts still run.
    """
    for path in paths:
        try:
            text = _read(path)
        except (OSError, ValueError) as e:
            problem = getattr(e, "strerror", None) or str(e)
            yield Outcome(file=str(path), verdict=FAILED, problem=f"cannot be read: {problem}")
            continue
        try:
            yield run(text, str(path), preparation=_called(text, path.parent), **options)
        except InvariantViolation as defect:  # the other scripts still run
            problem = f"a defect of aqmlab, please report it: {defect}"
            yield Outcome(file=str(path), verdict=FAILED, problem=problem)


def _read(path: Path) -> str:
    with path.open("rb") as file:
        content = file.read(MOST_SCRIPT_BYTES + 1)
    if len(content) > MOST_SCRIPT_BYTES:
        raise ValueError(f"it is larger than {MOST_SCRIPT_BYTES >> 20} MiB; is it a script?")
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        line = content.count(b"\n", 0, e.start) + 1
        wrong = f"byte {content[e.start]:#04x} in line {line} is not UTF-8"
        raise ValueError(f"{wrong}; save the script as UTF-8 text") from None


def _called(text: str, folder: Path) -> list[tuple[str, str]]:
    """Return names and texts of the shell scripts that a script's commands call."""
    commands = " ".join(re.findall(r"`([^`]*)`", text))
    shell_scripts = []
    for name in dict.fromkeys(re.findall(r"[\w./-]+\.sh\b", commands)):
        path = folder / name
        with suppress(OSError, UnicodeDecodeError):
            if path.is_file() and path.stat().st_size <= MOST_BYTES:
                shell_scripts.append((name, path.read_text("utf-8")))
    return shell_scripts


def describe(outcome: Outcome) -> str:
    """Describe an outcome in the style of a test runner."""
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
        lines += _shown(outcome)
    return "\n".join(lines)


def _shown(outcome: Outcome) -> list[str]:
    """Format the last events, or the events around a Python block, which runs after the script."""
    end = len(outcome.timeline)
    if outcome.moment is not None:
        end = min(end, outcome.moment + 1 + MOMENTS_SHOWN // 2)
    start = max(0, end - MOMENTS_SHOWN)
    lines = []
    for i, moment in enumerate(outcome.timeline[start:end], start):
        of = "" if moment.line is None else str(moment.line)
        mark = "   <- fails" if i == outcome.moment else ""
        lines.append(f"    {moment.time_s:12.6f} {of:>5}  {moment.what}{mark}")
    return lines


def summary(outcomes: Sequence[Outcome]) -> str:
    """Return the number of scripts per verdict.

    Examples
    --------
    >>> summary([Outcome("a.pkt", "passed"), Outcome("b.pkt", "failed")])
    '2 scripts: 1 passed, 1 failed, 0 unsupported'
    """
    counts = {verdict: sum(o.verdict == verdict for o in outcomes) for verdict in WORDS}
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{len(outcomes)} script{'s' if len(outcomes) != 1 else ''}: {listed}"
