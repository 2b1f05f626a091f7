"""A progress bar for what takes longer than a second, on a terminal."""

import time
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

PATIENCE_S = 1.0


class Bar:
    """Shows how much is done, on stderr; call it with the runs done and their number.

    Nothing is shown in the first second, nor when stderr is no terminal.
    """

    def __init__(self) -> None:
        columns = ("Running", BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("run", total=1.0)
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: float, total: int) -> None:
        """Show that `done` of `total` runs are done."""
        if self._bar.console.is_terminal and time.monotonic() - self._began > PATIENCE_S:
            self._bar.start()  # does nothing once it is started
            self._bar.update(self._task, completed=done, total=total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._bar.live.is_started:
            self._bar.stop()


class Count(Bar):
    """Shows runs done, their number, their rate, the time left, and how many failed."""

    def __init__(self) -> None:
        columns = (
            "Runs", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("{task.fields[failed]}"),
        )  # fmt: skip
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("run", total=1.0, rate="", failed="")
        self._began = time.monotonic()

    def __call__(self, done: float, total: int, failed: int = 0) -> None:
        """Show that `done` of `total` runs are done, and that some failed."""
        took = time.monotonic() - self._began
        told = f"{failed} failed" if failed else ""
        self._bar.update(self._task, rate=f"{done / max(took, 1e-9):.3g} runs/s", failed=told)
        super().__call__(done, total)
