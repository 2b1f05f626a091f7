"""Command-line options that several commands share, and the functions that parse their values.

A shared option has the same name, type and meaning in every command. ``docs/reference/options.md``
lists the commands of each option.
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
MAX_SEED = 2**64 - 1 - 10**MAX_DIGITS
"""Maximum seed of a first replication, so that the seeds of all replications are below 2**64."""
MAX_TIME_S, MAX_RATE_BPS = 1e7, 1e15
"""Maximum time in s and maximum rate in bit/s of an option; a scenario has the same maxima."""


@dataclass(frozen=True)
class Option:
    """Command-line option that several commands share.

    Attributes
    ----------
    name : str
        Name of the option on the command line, such as ``--out``.
    metavar : str
        Placeholder of the value in the help; "" for a flag.
    meaning : str
        Help text of the option, in whole sentences.
    default : str
        Default value as the help shows it; "" if each command has a different default.
    """

    name: str
    metavar: str
    meaning: str
    default: str = ""

    def of(self, default: str = "") -> Any:
        """Return the option for a command; the help of the option states the default value.

        Parameters
        ----------
        default : str
            Default value in this command, if the commands have different defaults.
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
        Option("--out", "PATH", "Path of the output file or folder."),
        Option(
            "--force",
            "",
            "Replace the output if an earlier call of the same command wrote it.",
            "refuse to replace it",
        ),
        Option(
            "--resume",
            "",
            "Continue an earlier call of the same command in its output folder, without repeating "
            "the finished runs.",
            "start a new folder",
        ),
        Option(
            "--store",
            "DIR",
            "Folder that stores finished runs. The command reads the runs that the folder already "
            "contains, executes only the missing runs, and stores them. Several commands can use "
            "the same folder.",
        ),
        Option(
            "--set",
            "KEY=VALUE",
            "Change the value of a scenario key, e.g. network.delay='5 ms'. Repeat --set to "
            "change several keys.",
            "no change",
        ),
        Option(
            "--seed",
            "N",
            "Seed of the random numbers, 0 or more. The first replication has the seed N, the "
            "second N + 1 and so on.",
            "the seed of the scenario",
        ),
        Option(
            "--replications", "N", "Run each scenario N times, each time with a different seed."
        ),
        Option(
            "--jobs",
            "N",
            "Maximum number of runs that execute at the same time.",
            "the number of CPU cores",
        ),
        Option(
            "--warm-up",
            "TIME",
            "Duration of the warm-up, e.g. '20 s'. The measures exclude the warm-up.",
            "the warm_up of the scenario",
        ),
        Option(
            "--engine",
            "NAME",
            "Program that runs the scenarios: simulator, testbed for the TCP of a Linux kernel "
            "(testbed:kernel in virtual time, testbed:host in real time, testbed:uml and "
            "testbed:host-tc with the queue disciplines of the kernel), recorded:FOLDER for "
            "recorded runs in a folder, or the import path of a Python class such as "
            "my_module:Engine.",
            "simulator",
        ),
        Option(
            "--plot",
            "FILE",
            "Also write a figure of the results to this image file: .png, .svg or .pdf.",
            "no image",
        ),
        Option(
            "--warnings",
            "",
            "Print warnings about settings that are valid but probably unintended.",
            "--warnings",
        ),
    )
}
"""Options that several commands share, by name."""


def out(default: str) -> Any:
    """Return ``--out`` with the default path of a command."""
    return VOCABULARY["--out"].of(default)


def replications(default: str) -> Any:
    """Return the option ``--replications``; `default` is the default value in the help."""
    return VOCABULARY["--replications"].of(default)


def store(default: str = "no store") -> Any:
    """Return the definition of the option ``--store`` with the default folder of a command."""
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
"""Map from a command and the old name of an option to the new name and an example command."""


def renamed(command: str, option: str) -> str | None:
    """Return the error message for the old name of a renamed option; None for every other name."""
    if (command, option) not in RENAMED:
        return None
    name, example = RENAMED[command, option]
    return f"{option} of aqmlab {command} is now {name}; write for example: {example}"


def read_engine(name: str | None) -> "Engine | None":
    """Return the engine for a value of ``--engine``; None for the simulator."""
    if name in (None, "simulator"):
        return None
    from aqmlab.engine import engine_named

    return engine_named(name)


def read_change(
    change: str, example: str = "network.queue.limit='64 packets'", option: str = "--set"
) -> tuple[str, str]:
    """Split ``KEY=VALUE``, the value of an option such as ``--set``, into key and value."""
    key, equals, value = change.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValueError(f"{option} is {change!r}; it must be KEY=VALUE, for example {example}")
    return key.strip(), value.strip()


def read_overrides(
    changes: Sequence[str] | None,
    seed: str | None = None,
    warm_up: str | None = None,
    example: str = "network.queue.limit='64 packets'",
) -> list[tuple[str, str]]:
    """Return the scenario keys and values that ``--set``, ``--seed`` and ``--warm-up`` change."""
    from aqmlab.scenario import warm_up_change

    overrides = [read_change(change, example) for change in changes or []]
    if seed is not None:
        overrides.append(("seed", seed))
    return overrides + warm_up_change(warm_up)


def read_count(option: str, text: str | None) -> int | None:
    """Parse the value of an option as a count of 1 or more; return None if the option is absent."""
    if text is None:
        return None
    if len(text) > MAX_DIGITS and text.isdecimal():
        raise ValueError(f"{option} is {text!r}; it must be at most {10**MAX_DIGITS - 1}")
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{option} is {text!r}; it must be a whole number of at least 1")
    return int(text)


def read_seed(text: str | None) -> int | None:
    """Parse the value of ``--seed``; return None without the option."""
    if text is None:
        return None
    if not (text.isascii() and text.isdecimal()) or len(text) > 20 or int(text) > MAX_SEED:
        raise ValueError(f"--seed is {text!r}; it must be a whole number from 0 to {MAX_SEED}")
    return int(text)


def read_time(option: str, text: str) -> float:
    """Parse the value of an option as a time above 0, and return the time in s."""
    from aqmlab.scenario import seconds

    try:
        time = seconds(text)
    except (ValueError, KeyError):
        time = -1.0
    if not 0 < time <= MAX_TIME_S:
        raise ValueError(
            f"{option} is {text!r}; it must be a time above 0 with its unit, for example '20 ms'"
        )
    return time


def read_instant(option: str, text: str | None, example: str = "20 s") -> float | None:
    """Parse the value of an option as a time of 0 or more, in s; return None without the option."""
    from aqmlab.scenario import seconds

    if text is None:
        return None
    try:
        time = seconds(text)
    except (ValueError, KeyError):
        time = -1.0
    if not 0 <= time <= MAX_TIME_S:
        raise ValueError(
            f"{option} is {text!r}; it must be a time with its unit, for example '{example}'"
        )
    return time


def read_rate(option: str, text: str) -> float:
    """Parse the value of an option as a rate above 0, and return the rate in bit/s."""
    from aqmlab.scenario import bits_per_second

    try:
        rate = bits_per_second(text)
    except (ValueError, KeyError):
        rate = -1.0
    if not 0 < rate <= MAX_RATE_BPS:
        raise ValueError(
            f"{option} is {text!r}; it must be a rate above 0 with its unit, for example '10 "
            "Mbit/s'"
        )
    return rate
