"""Options that several commands have, and how their values are read."""

from pathlib import Path
from typing import Annotated

import typer

MOST_DIGITS = 6
"""Of a number of things: more would only fill the memory."""
LONGEST_S, FASTEST_BPS = 1e7, 1e15
"""Of times and rates, as in scenarios."""

WarningsOption = Annotated[
    bool,
    typer.Option("--warnings/--no-warnings", help="Tell what is legal and probably not meant."),
]

StoreOption = Annotated[
    Path | None,
    typer.Option(
        "--store",
        help="Folder where finished runs are found and kept, whatever asked for them.",
        metavar="DIR",
    ),
]


def read_change(
    change: str, example: str = "network.queue.limit='64 packets'", option: str = "--set"
) -> tuple[str, str]:
    """Return key and value of what `--set`, or another option, has."""
    key, equals, value = change.partition("=")
    if not equals or not key.strip() or not value.strip():
        raise ValueError(f"{option} {change!r} must be KEY=VALUE, for example {example}")
    return key.strip(), value.strip()


def read_count(option: str, text: str | None) -> int | None:
    """Return the value of an option that is a number of things; None: it was not given."""
    if text is None:
        return None
    if len(text) > MOST_DIGITS and text.isdecimal():
        raise ValueError(f"{option} {text!r} must be at most {10**MOST_DIGITS - 1}")
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{option} {text!r} must be a whole number, 1 or more")
    return int(text)


def read_time(option: str, text: str) -> float:
    """Return a time above 0 in s."""
    from aqmlab.scenario import seconds

    try:
        found = seconds(text)
    except (ValueError, KeyError):
        found = -1.0
    if not 0 < found <= LONGEST_S:
        raise ValueError(f"{option} {text!r} must be a time above 0, for example '20 ms'")
    return found


def read_rate(option: str, text: str) -> float:
    """Return a rate above 0 in bit/s."""
    from aqmlab.scenario import bits_per_second

    try:
        found = bits_per_second(text)
    except (ValueError, KeyError):
        found = -1.0
    if not 0 < found <= FASTEST_BPS:
        raise ValueError(f"{option} {text!r} must be a rate above 0, for example '10 Mbit/s'")
    return found
