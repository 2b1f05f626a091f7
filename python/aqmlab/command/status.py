"""`aqmlab status`: the progress of the runs of a folder."""

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.terminal import say

EXAMPLES = ("aqmlab status results/queue_size", "aqmlab status results/store")


def status_command(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of a sweep, of a comparison, or of --store.", metavar="DIR"),
    ],
) -> None:
    """Show the progress of runs: done, failed, running, their rate, and the latest errors.

    The command only reads, so it may be called while the runs continue.
    """
    from aqmlab.store import status
    from aqmlab.store.database import FILE
    from aqmlab.words import shortened

    inside = folder / "runs"
    at = status(inside if not (folder / FILE).exists() and (inside / FILE).exists() else folder)
    by = f"running, process {at.process}" if at.process else "not running"
    say(f"{folder}: {by}; {at.total} runs are stored")
    say(
        f"done {at.stored + at.finished} of {at.requested} ({at.stored} were stored before), "
        f"failed {at.failed}, running {at.running}, waiting {at.left - at.running}"
    )
    if at.process:
        left = "" if at.left_s is None else f"; about {_time(at.left_s)} left"
        say(f"{at.rate:.3g} runs/s{left}")
    for address, error in at.errors:
        say(f"failed: {address} {shortened(' '.join(error.split()))}")


def _time(seconds: float) -> str:
    """Return a time in words, to the unit that suits it.

    Examples
    --------
    >>> [_time(s) for s in (4.2, 600, 90_000)]
    ['4 s', '10 min', '25 h']
    """
    for bound, unit, name in ((120, 1, "s"), (7200, 60, "min")):
        if seconds < bound:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 3600:.0f} h"
