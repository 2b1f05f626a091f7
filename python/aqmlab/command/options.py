"""Options that several commands share, each defined once, and the parsers of their values.

A shared option has the same name, type, meaning and rule for its default in every command.
``docs/reference/options.md`` lists the commands of each option.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from aqmlab.engine import Engine

MAX_DIGITS = 6
"""Maximum number of digits of a count, because a larger number of runs exceeds any memory."""
MAX_TIME_S, MAX_RATE_BPS = 1e7, 1e15
"""Maximum time in s and maximum rate in bit/s, as in scenarios."""


@dataclass(frozen=True)
class Option:
    """Option that several commands share.

    Attributes
    ----------
    name : str
        Name on the command line.
    metavar : str
        Placeholder of the value in the help; "" for a flag.
    meaning : str
        Meaning in whole sentences.
    default : str
        Default of all commands, or "" if the default depends on the command.
    """

    name: str
    metavar: str
    meaning: str
    default: str = ""

    def of(self, default: str = "") -> Any:
        """Return the option for a command. The help of the option states its default.

        Parameters
        ----------
        default : str
            Default of the command, if the default depends on the command.
        """
        names = [self.name]
        if self.name == "--warnings":
            names = ["--warnings/--no-warnings"]
        stated = self.default or default
        return typer.Option(
            *names, help=self.meaning, metavar=self.metavar or None, show_default=stated or False
        )


VOCABULARY = {
    option.name: option
    for option in (
        Option("--out", "PATH", "Write the output to this path."),
        Option(
            "--force",
            "",
            "Replace the output that an earlier call of this command wrote.",
            "refuse to replace it",
        ),
        Option(
            "--resume",
            "",
            "Continue in the output folder of an earlier call. Runs that finished there are not "
            "repeated.",
            "start a new folder",
        ),
        Option(
            "--store",
            "DIR",
            "Take finished runs from this folder instead of repeating them, and add new runs to "
            "it. Commands may share a store.",
        ),
        Option(
            "--set",
            "KEY=VALUE",
            "Change a key of the scenario, e.g. network.delay='5 ms'. Repeat the option for "
            "several keys.",
            "no change",
        ),
        Option(
            "--seed",
            "N",
            "Seed of the random numbers, 0 or more. Replications have the seeds N, N + 1 and so "
            "on.",
            "the seed of the scenario",
        ),
        Option("--replications", "N", "Run N replications, which differ only in their seeds."),
        Option(
            "--jobs",
            "N",
            "Execute at most N runs at the same time.",
            "the number of CPU cores",
        ),
        Option(
            "--warm-up",
            "TIME",
            "Exclude this time at the beginning of each run from every measure, e.g. '20 s'.",
            "the warm_up of the scenario",
        ),
        Option(
            "--engine",
            "NAME",
            "Run the scenarios with this engine: simulator, recorded:FOLDER for the runs in a "
            "folder, or an import path such as my_module:Engine.",
            "simulator",
        ),
        Option(
            "--plot",
            "FILE",
            "Also draw the results into this image file: .png, .svg or .pdf.",
            "no image",
        ),
        Option(
            "--warnings",
            "",
            "Warn about settings that are valid but probably unintended.",
            "--warnings",
        ),
    )
}
"""Options that several commands share, by name."""


def out(default: str) -> Any:
    """Return ``--out`` with the default path of a command."""
    return VOCABULARY["--out"].of(default)


def replications(default: str) -> Any:
    """Return ``--replications`` with the default number of a command."""
    return VOCABULARY["--replications"].of(default)


def store(default: str = "no store") -> Any:
    """Return ``--store`` with the default folder of a command."""
    return VOCABULARY["--store"].of(default)


ForceOption = Annotated[bool, VOCABULARY["--force"].of()]
ResumeOption = Annotated[bool, VOCABULARY["--resume"].of()]
StoreOption = Annotated[Path | None, store()]
SetOption = Annotated[list[str] | None, VOCABULARY["--set"].of()]
SeedOption = Annotated[str | None, VOCABULARY["--seed"].of()]
JobsOption = Annotated[str | None, VOCABULARY["--jobs"].of()]
WarmUpOption = Annotated[str | None, VOCABULARY["--warm-up"].of()]
EngineOption = Annotated[str | None, VOCABULARY["--engine"].of()]
PlotOption = Annotated[Path | None, VOCABULARY["--plot"].of()]
WarningsOption = Annotated[bool, VOCABULARY["--warnings"].of()]

RENAMED = {
    ("model loop", "--set"): ("--parameter", "aqmlab model loop red --parameter maxp=0.05"),
    ("model queue", "--room"): ("--limit", "aqmlab model queue --limit 20"),
    ("plot", "--reply"): ("--reverse", "aqmlab plot sequence RUN --reverse"),
    ("script", "--preset"): ("--stack", "aqmlab script a.pkt --stack rfc"),
    ("traffic", "--plot"): ("--out", "aqmlab traffic surge --out results/surge"),
}
"""New name and an example for each command and each old name of its options."""


def renamed(command: str, option: str) -> str | None:
    """Return the error for the old name of an option; None for every other name."""
    if (command, option) not in RENAMED:
        return None
    name, example = RENAMED[command, option]
    return f"{option} of aqmlab {command} is now {name}; write for example: {example}"


def read_engine(name: str | None) -> "Engine | None":
    """Return the engine that ``--engine`` names; None for the simulator."""
    if name in (None, "simulator"):
        return None
    from aqmlab.engine import engine_named

    return engine_named(name)


def read_change(
    change: str, example: str = "network.queue.limit='64 packets'", option: str = "--set"
) -> tuple[str, str]:
    """Split ``KEY=VALUE``, the value of ``--set`` or another option, into key and value."""
    key, equals, value = change.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValueError(f"{option} {change!r} must be KEY=VALUE, for example {example}")
    return key.strip(), value.strip()


def read_overrides(
    changes: Sequence[str] | None,
    seed: str | None = None,
    warm_up: str | None = None,
    example: str = "network.queue.limit='64 packets'",
) -> list[tuple[str, str]]:
    """Return the changes by ``--set``, ``--seed`` and ``--warm-up`` as keys and values."""
    from aqmlab.scenario import warm_up_change

    overrides = [read_change(change, example) for change in changes or []]
    if seed is not None:
        overrides.append(("seed", seed))
    return overrides + warm_up_change(warm_up)


def read_count(option: str, text: str | None) -> int | None:
    """Return the value of an option that is a count of 1 or more; None if the option is absent."""
    if text is None:
        return None
    if len(text) > MAX_DIGITS and text.isdecimal():
        raise ValueError(f"{option} {text!r} must be at most {10**MAX_DIGITS - 1}")
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{option} {text!r} must be a whole number, 1 or more")
    return int(text)


def read_time(option: str, text: str) -> float:
    """Return the value of an option that is a time above 0, in s."""
    from aqmlab.scenario import seconds

    try:
        time = seconds(text)
    except (ValueError, KeyError):
        time = -1.0
    if not 0 < time <= MAX_TIME_S:
        raise ValueError(f"{option} {text!r} must be a time above 0, for example '20 ms'")
    return time


def read_instant(option: str, text: str | None, example: str = "20 s") -> float | None:
    """Return the value in s of an option that is a time of 0 or more; None if it is absent."""
    from aqmlab.scenario import seconds

    if text is None:
        return None
    try:
        time = seconds(text)
    except (ValueError, KeyError):
        time = -1.0
    if not 0 <= time <= MAX_TIME_S:
        raise ValueError(f"{option} {text!r} must be a time with its unit, for example '{example}'")
    return time


def read_rate(option: str, text: str) -> float:
    """Return the value of an option that is a rate above 0, in bit/s."""
    from aqmlab.scenario import bits_per_second

    try:
        rate = bits_per_second(text)
    except (ValueError, KeyError):
        rate = -1.0
    if not 0 < rate <= MAX_RATE_BPS:
        raise ValueError(f"{option} {text!r} must be a rate above 0, for example '10 Mbit/s'")
    return rate
