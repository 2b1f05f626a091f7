"""`aqmlab status`: the progress of a sweep, a comparison or another set of runs."""

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.terminal import print_text

EXAMPLES = ("aqmlab status results/queue_size", "aqmlab status results/store")


def status_command(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Output folder of aqmlab sweep or aqmlab compare, or a folder that was given as "
            "--store.",
            metavar="DIR",
        ),
    ],
) -> None:
    """Show the progress of a sweep, a comparison or a store of runs.

    The output has the numbers of finished, failed and running runs, the rate of the runs, and the
    latest errors. The command only reads the folder, so it can be used while the runs continue.
    """
    from aqmlab.store import status
    from aqmlab.store.database import FILE
    from aqmlab.words import shortened

    inside = folder / "runs"
    runs = status(inside if not (folder / FILE).exists() and (inside / FILE).exists() else folder)
    process = f"running, process {runs.process}" if runs.process else "not running"
    print_text(f"{folder}: {process}; {runs.total} runs are stored")
    print_text(
        f"done {runs.stored + runs.finished} of {runs.requested} ({runs.stored} from the store), "
        f"failed {runs.failed}, running {runs.running}, waiting {runs.left - runs.running}"
    )
    if runs.process:
        left = "" if runs.left_s is None else f"; about {_time(runs.left_s)} left"
        print_text(f"{runs.rate:.3g} runs/s{left}")
    for address, error in runs.errors:
        print_text(f"failed: {address} {shortened(' '.join(error.split()))}")


def _time(seconds: float) -> str:
    """Format a time in seconds, minutes or hours.

    Examples
    --------
    >>> [_time(s) for s in (4.2, 600, 90_000)]
    ['4 s', '10 min', '25 h']
    """
    for bound, unit, name in ((120, 1, "s"), (7200, 60, "min")):
        if seconds < bound:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 3600:.0f} h"
