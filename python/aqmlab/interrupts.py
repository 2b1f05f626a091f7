"""Ctrl-C, SIGTERM and SIGHUP: one clean way out.

The first raises KeyboardInterrupt in the main thread, and the others are ignored from then on, so
that nothing disturbs what is put in order on the way out.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class EndedError(KeyboardInterrupt):
    """A signal to end.

    It is not KeyboardInterrupt itself, by which Python ends as if SIGINT had killed it when it
    came while a string was executed, as in making a dataclass, even if it is caught.
    """


came: int | None = None
"""The signal that ends this process."""
AGAIN_S = 0.01
"""Time until the interruption is raised again where Python discarded it."""
_held = 0
_told = False


def _is_command() -> bool:
    """Whether this process is the command: while a module is looked for, it is `-m`."""
    given = sys.orig_argv
    processes = sys.modules.get("multiprocessing")
    if processes and processes.parent_process():  # a worker, whose arguments are its parent's
        return False
    module = "-m" in given and given[given.index("-m") + 1 :][:1] == ["aqmlab"]
    return module or os.path.basename(sys.argv[0]) == "aqmlab"  # noqa: PTH119 (pathlib takes time)


def _on_early_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"aqmlab: error: interrupted; nothing was written\n")
    os._exit(128 + number)


def listen(handler: Callable[[int, FrameType | None], None] | None = None) -> None:
    """Turn the signals into KeyboardInterrupt; those that are ignored (nohup) stay ignored."""
    sys.unraisablehook = _on_unraisable
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler or _on_signal)


def ignore() -> None:
    """Ignore the signals from now on."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    global came
    came = came or number
    _tell()


def _tell() -> None:
    global _told
    if came and not _held and not _told:
        _told = True
        ignore()
        raise EndedError


def _on_unraisable(lost: "sys.UnraisableHookArgs") -> None:
    """Raise the interruption again if it came in a callback, whose errors Python discards.

    Such callbacks are those of weak references, as the importer has them for its locks, and
    `__del__`. Everything else is reported as usual.
    """
    global _told
    if not isinstance(lost.exc_value, EndedError):
        sys.__unraisablehook__(lost)
        return
    _told = False
    signal.signal(signal.SIGALRM, _on_signal)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Put off the signals until the block ends."""
    global _held
    _held += 1
    try:
        yield
    finally:
        _held -= 1
    _tell()


if _is_command():  # until all is imported, an interruption ends it here, in one line
    listen(_on_early_signal)
