"""`aqmlab script`: packet scripts, run with the TCP endpoint."""

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
        typer.Argument(help="Packet scripts, or folders that contain files *.pkt."),
    ],
    stack: Annotated[
        str,
        typer.Option(
            help="TCP stack whose behaviour is the default: linux, or rfc for that of the RFCs.",
            metavar="NAME",
        ),
    ] = "linux",
    changes: SetOption = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="Maximum difference between the time of a packet and its time in the script, e.g. "
            "'1 ms'. A script may set its own tolerance.",
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
            help="Replace a word in the scripts by a value, e.g. SIZE=1000. Repeat the option for "
            "several words.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcomes as JSON, one object per script.")
    ] = False,
) -> int:
    """Run packet scripts with the TCP endpoint, in simulated time.

    The scripts have the language of packetdrill. --set can change only keys of the table tcp. The
    exit code is 1 if a script fails.
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
    """Return the changes of the table ``tcp`` by ``--set``, as keys and values.

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
                f"--set {change!r} must begin with tcp., because a script uses only the table tcp "
                f"of a scenario; write for example --set tcp.{key}={value}"
            )
        keys.append((name, value))
    return keys
