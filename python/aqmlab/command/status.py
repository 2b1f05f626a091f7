"""`aqmlab status`: how far the runs of a folder are."""

from pathlib import Path
from typing import Annotated

import typer

from aqmlab.command.terminal import say


def status_command(
    folder: Annotated[
        Path,
        typer.Argument(help="Folder of a sweep, of a comparison or of a store.", metavar="DIR"),
    ],
) -> None:
    """Tell how far runs are: done, failed, in flight, their rate, time left, last errors."""
    from aqmlab.store import status
    from aqmlab.store.database import FILE
    from aqmlab.words import shortened

    inside = folder / "runs"
    at = status(inside if not (folder / FILE).exists() and (inside / FILE).exists() else folder)
    by = f"running, process {at.process}" if at.process else "not running"
    say(f"{folder}: {by}; {at.total} runs are kept")
    say(
        f"done {at.stored + at.finished} of {at.requested} ({at.stored} were kept before), "
        f"failed {at.failed}, in flight {at.running}, waiting {at.left - at.running}"
    )
    if at.process:
        left = "" if at.left_s is None else f"; about {_time(at.left_s)} left"
        say(f"{at.rate:.3g} runs/s{left}")
    for address, error in at.errors:
        say(f"failed: {address} {shortened(' '.join(error.split()))}")


def _time(seconds: float) -> str:
    """Return a time as people say it.

    Examples
    --------
    >>> [_time(s) for s in (4.2, 600, 90_000)]
    ['4 s', '10 min', '25 h']
    """
    for most, unit, name in ((120, 1, "s"), (7200, 60, "min")):
        if seconds < most:
            return f"{seconds / unit:.0f} {name}"
    return f"{seconds / 3600:.0f} h"
