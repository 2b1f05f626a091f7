"""Packet scripts: sequences of system calls and segments that test the simulator's TCP.

The scripts are written in the language of packetdrill, which docs/how-to/packet-scripts.md
describes.
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
# Maximum size in bytes of a shell script that is read, because a shell script that prepares a host
# is small.
MOST_BYTES = 100_000
MOST_SCRIPT_BYTES = 64 << 20


@dataclass(frozen=True)
class Moment:
    """Event of a script: time on the clock of the script, line of the script, and description."""

    time_s: float
    line: int | None
    what: str


@dataclass(frozen=True)
class Outcome:
    """Result of a script.

    ``verdict`` is "passed", "failed" or "unsupported". ``line`` is the line of the failure, or of
    the first unsupported feature. If a Python block failed, ``moment`` is the index of this block
    in the timeline. ``printed`` is the output of the Python blocks.
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
        """Return all fields as a dict of numbers, texts and lists."""
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
        Text of the script.
    file
        Name of the script for messages.
    stack
        TCP stack whose parameters are the defaults: "linux" or "rfc".
    changes
        Names and values of TCP parameters that differ from the stack; ``aqmlab explain tcp`` lists
        the names. A value is TOML or plain text.
    tolerance
        Maximum difference between simulated times and the times in the script, for example "4 ms".
        If the script sets a tolerance, the script's value is used instead. None stands for 4 ms, as
        in packetdrill.
    preparation
        Names and texts of the shell scripts, such as ``defaults.sh``, with which the packet script
        prepares its host. The simulated host adopts the settings in these shell scripts, which are
        never executed. If a setting has no equivalent in the simulator, the packet script is
        unsupported. All other shell commands are skipped and listed in the timeline.
    defines
        Words of the script, each with its replacement: a value, an error, a Fast Open cookie, or a
        command in backticks.

    Raises
    ------
    ScenarioError
        If the stack, the tolerance or a TCP parameter is invalid.
    ValueError
        If a word in `defines` is not a valid name.

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
                f"-D {name!r}: a name must begin with a letter or _; write NAME=value, with "
                "letters, digits and _ in NAME"
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
    """Return the verdict "unsupported" with a list of the distinct unsupported features."""
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
    """Evaluate the Python blocks in order; return the first failure, or None."""
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
    """Return the paths of scripts: the given files, and all files ``*.pkt`` in given folders.

    Raises
    ------
    FileNotFoundError
        If a file or folder does not exist.
    ValueError
        If a folder contains no script.
    """
    scripts = []
    for path in paths:
        path.stat()
        if not path.is_dir():
            scripts.append(path)
            continue
        inside = sorted(path.rglob(f"*{SUFFIX}"))
        if not inside:
            raise ValueError(
                f"{path}: has no scripts (*{SUFFIX}); give a folder with packet scripts"
            )
        scripts += inside
    return scripts


def run_files(paths: Iterable[Path], **options: Any) -> Iterator[Outcome]:
    """Run the scripts in several files; `options` are passed to :func:`run`.

    If a file cannot be read, the outcome of this file is a failure, and the other files still run.
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
        raise ValueError(
            f"the file is larger than {MOST_SCRIPT_BYTES >> 20} MiB; check that it is a packet "
            "script"
        )
    try:
        return content.decode("utf-8").replace("\r\n", "\n")
    except UnicodeDecodeError as e:
        line = content.count(b"\n", 0, e.start) + 1
        wrong = f"byte {content[e.start]:#04x} in line {line} is not UTF-8"
        raise ValueError(f"{wrong}; save the script as UTF-8 text") from None


def _called(text: str, folder: Path) -> list[tuple[str, str]]:
    """Return the names and texts of the shell scripts that the commands of a script call."""
    commands = " ".join(re.findall(r"`([^`]*)`", text))
    shell_scripts = []
    for name in dict.fromkeys(re.findall(r"[\w./-]+\.sh\b", commands)):
        path = folder / name
        with suppress(OSError, UnicodeDecodeError):
            if path.is_file() and path.stat().st_size <= MOST_BYTES:
                shell_scripts.append((name, path.read_text("utf-8")))
    return shell_scripts


def describe(outcome: Outcome) -> str:
    """Format an outcome for the terminal in the style of a test runner."""
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
    """Format the last events of the timeline, or the events around a Python block that failed."""
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
    """Format the number of scripts for each verdict.

    Examples
    --------
    >>> summary([Outcome("a.pkt", "passed"), Outcome("b.pkt", "failed")])
    '2 scripts: 1 passed, 1 failed, 0 unsupported'
    """
    counts = {verdict: sum(o.verdict == verdict for o in outcomes) for verdict in WORDS}
    listed = ", ".join(f"{count} {verdict}" for verdict, count in counts.items())
    return f"{len(outcomes)} script{'s' if len(outcomes) != 1 else ''}: {listed}"
