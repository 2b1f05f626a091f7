"""`aqmlab script`: packet scripts against the TCP endpoint."""

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.options import read_change
from aqmlab.command.terminal import say

FAILED = 1


def script_command(
    files: Annotated[
        list[Path], typer.Argument(help="Packet scripts, or folders with *.pkt in them.")
    ],
    preset: Annotated[
        str, typer.Option(help="Parameters of TCP to begin with: linux or rfc.", metavar="NAME")
    ] = "linux",
    changes: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a parameter of TCP, e.g. congestion=reno; may be given again.",
        ),
    ] = None,
    tolerance: Annotated[
        str | None,
        typer.Option(
            help="How far times may be off, unless a script says; default 4 ms.", metavar="TIME"
        ),
    ] = None,
    defines: Annotated[
        list[str] | None,
        typer.Option(
            "-D",
            "--define",
            metavar="NAME=VALUE",
            help="Let a word of the scripts stand for a value, e.g. SIZE=1000; may be given again.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the outcomes as JSON, one object a script.")
    ] = False,
) -> int:
    """Run packet scripts (packetdrill's language) against the TCP endpoint, in virtual time."""
    import json

    from aqmlab import script

    outcomes = []
    options = {
        "preset": preset,
        "changes": [read_change(change, "congestion=reno") for change in changes or []],
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
