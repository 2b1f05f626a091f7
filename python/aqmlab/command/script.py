"""`aqmlab script`: packet scripts against the TCP endpoint."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.options import SetOption, read_change
from aqmlab.command.terminal import say

FAILED = 1
EXAMPLE = "tcp.congestion=reno"
EXAMPLES = (
    "aqmlab script tests/scripts/handshake",
    "aqmlab script tests/scripts --set tcp.sack=false --json",
)


def script_command(
    files: Annotated[
        list[Path],
        typer.Argument(help="Packet scripts, or folders with files *.pkt in them."),
    ],
    stack: Annotated[
        str,
        typer.Option(
            help="Defaults of the TCP keys: linux, or rfc for those of the RFCs.", metavar="NAME"
        ),
    ] = "linux",
    changes: SetOption = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="Maximum deviation of a time from the script, e.g. '1 ms'. A script may state "
            "its own.",
            metavar="TIME",
            show_default="4 ms",
        ),
    ] = None,
    defines: Annotated[
        list[str] | None,
        typer.Option(
            "-D",
            "--define",
            metavar="NAME=VALUE",
            help="Replace a word of the scripts by a value, e.g. SIZE=1000. Repeat the option for "
            "several words.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcomes as JSON, one object per script.")
    ] = False,
) -> int:
    """Run packet scripts against the TCP endpoint, in simulated time.

    The language is that of packetdrill. --set changes keys of the table tcp only. The exit code is
    1 if a script fails.
    """
    import json

    from aqmlab import script

    outcomes = []
    options = {
        "stack": stack,
        "changes": read_tcp_changes(changes or []),
        "tolerance": tolerance,
        "defines": [read_change(text, "SIZE=1000", "-D") for text in defines or []],
    }
    for outcome in script.run_files(script.find(files), **options):
        outcomes.append(outcome)
        if not as_json:
            say(script.describe(outcome))
    if as_json:
        typer.echo(json.dumps([outcome.as_dict() for outcome in outcomes], indent=1))
    else:
        typer.echo(script.summary(outcomes))
    return FAILED if any(outcome.verdict == script.FAILED for outcome in outcomes) else 0


def read_tcp_changes(changes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the keys of the table ``tcp`` that ``--set`` changes, with their values.

    Raises
    ------
    ValueError
        If a key is not one of ``tcp``.

    Examples
    --------
    >>> read_tcp_changes(["tcp.congestion=reno"])
    [('congestion', 'reno')]
    """
    keys = []
    for change in changes:
        key, value = read_change(change, EXAMPLE)
        table, _, name = key.partition(".")
        if table != "tcp" or not name:
            raise ValueError(
                f"--set {change!r} must begin with tcp., as in a scenario: a script has no other "
                f"tables. Write for example --set tcp.{key}={value}"
            )
        keys.append((name, value))
    return keys
