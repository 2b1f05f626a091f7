"""Ctrl-C, SIGTERM and SIGHUP: one clean way out.

The first raises KeyboardInterrupt in the main thread, and the others are ignored from then on, so
that nothing disturbs what is put in order on the way out.
"""

import signal
from collections.abc import Iterator
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
_held = 0
_told = False


def listen() -> None:
    """Turn the signals into KeyboardInterrupt; those that are ignored (nohup) stay ignored."""
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, _on_signal)


def ignore() -> None:
    """Ignore the signals from now on."""
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
