"""Progress bars for operations that take longer than one second."""

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
    """Progress bar on stderr.

    The bar is called with the number of finished runs and the number of all runs. The bar appears
    after one second, and only if stderr is a terminal.
    """

    def __init__(self) -> None:
        columns = ("Running", BarColumn(), TaskProgressColumn(), TimeRemainingColumn())
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("run", total=1.0)
        self._began = time.monotonic()

    def __enter__(self) -> Self:
        return self

    def __call__(self, done: float, total: int) -> None:
        """Show `done` of `total` runs."""
        if self._bar.console.is_terminal and time.monotonic() - self._began > PATIENCE_S:
            self._bar.start()  # has no effect on a started bar
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
    """Progress bar that also shows the rate of runs and the number of failed runs."""

    def __init__(self) -> None:
        columns = (
            "Runs", BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[rate]}"),
            TimeRemainingColumn(), TextColumn("{task.fields[failed]}"),
        )  # fmt: skip
        self._bar = Progress(*columns, console=Console(stderr=True), transient=True)
        self._task = self._bar.add_task("run", total=1.0, rate="", failed="")
        self._began = time.monotonic()

    def __call__(self, done: float, total: int, failed: int = 0) -> None:
        """Show `done` of `total` runs, and the number of failed runs."""
        took = time.monotonic() - self._began
        failures = f"{failed} failed" if failed else ""
        self._bar.update(self._task, rate=f"{done / max(took, 1e-9):.3g} runs/s", failed=failures)
        super().__call__(done, total)
