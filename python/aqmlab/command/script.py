"""`aqmlab script`: tests of the simulator's TCP endpoint by packet scripts."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.options import SetOption, read_change
from aqmlab.command.terminal import print_text

FAILED = 1
EXAMPLE = "tcp.congestion=reno"
EXAMPLES = (
    "aqmlab script tests/scripts/handshake",
    "aqmlab script tests/scripts --set tcp.sack=false --json",
)


def script_command(
    files: Annotated[
        list[Path],
        typer.Argument(help="Packet scripts, or folders with files whose names end in .pkt."),
    ],
    stack: Annotated[
        str,
        typer.Option(
            help="TCP stack that the endpoint imitates: linux, or rfc for the behaviour that the "
            "RFCs specify.",
            metavar="NAME",
        ),
    ] = "linux",
    changes: SetOption = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="Maximum difference between the time of a packet in the simulation and its time "
            "in the script, e.g. '1 ms'. If the script sets a tolerance, the command ignores the "
            "value of --tolerance.",
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
            help="Replace a word in the scripts by a value, e.g. SIZE=1000. Repeat -D to replace "
            "several words.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcomes as JSON, one object per script.")
    ] = False,
) -> int:
    """Test the simulator's TCP endpoint with packet scripts.

    Packet scripts are written in the language of the tool packetdrill. --set can change only keys
    of the scenario table tcp. The exit code is 1 if a script fails.
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
            print_text(script.describe(outcome))
    if as_json:
        typer.echo(json.dumps([outcome.as_dict() for outcome in outcomes], indent=1))
    else:
        typer.echo(script.summary(outcomes))
    return FAILED if any(outcome.verdict == script.FAILED for outcome in outcomes) else 0


def read_tcp_changes(changes: Sequence[str]) -> list[tuple[str, str]]:
    """Return the keys and values of the table ``tcp`` that ``--set`` changes.

    Raises
    ------
    ValueError
        If a key is not in the table ``tcp``.

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
                f"--set is {change!r}; its key must begin with tcp., because a script uses only "
                "the table tcp "
                f"of a scenario; write for example --set tcp.{key}={value}"
            )
        keys.append((name, value))
    return keys
