"""Handling of the signals that end a command: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

The first signal that arrives raises KeyboardInterrupt in the main thread. All later signals are
ignored, so that they do not disturb the clean-up.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType

SIGNALS = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)


class EndedError(KeyboardInterrupt):
    """Raised in the main thread when a signal ends the process.

    Python executes some code from strings, for example to create a dataclass. If code from a string
    raises a plain KeyboardInterrupt, Python exits as if SIGINT had killed the process, even if the
    program catches the exception. If code from a string raises a subclass of KeyboardInterrupt and
    the program catches the exception, Python continues.
    """


received: int | None = None
"""Number of the signal that ends this process; None before a signal."""
AGAIN_S = 0.01
"""Delay in s before an exception that Python discarded is raised again."""
_held = 0
_raised = False


def _is_command() -> bool:
    """Return True if this process executes the command `aqmlab`.

    The original arguments are examined, because ``sys.argv[0]`` is ``-m`` while ``python -m``
    imports a module.
    """
    given = sys.orig_argv
    processes = sys.modules.get("multiprocessing")
    if processes and processes.parent_process():  # a worker has the arguments of its parent
        return False
    module = "-m" in given and given[given.index("-m") + 1 :][:1] == ["aqmlab"]
    return module or os.path.basename(sys.argv[0]) == "aqmlab"  # noqa: PTH119 (pathlib takes time)


def _on_early_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    os.write(2, b"aqmlab: error: interrupted; nothing was written\n")
    os._exit(128 + number)


def listen(handler: Callable[[int, FrameType | None], None] | None = None) -> None:
    """Raise KeyboardInterrupt for each signal in `SIGNALS` that the process does not ignore.

    The command nohup, for example, starts a process that ignores SIGHUP.
    """
    sys.unraisablehook = _on_unraisable
    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler or _on_signal)


def ignore() -> None:
    """Ignore all further signals."""
    signal.setitimer(signal.ITIMER_REAL, 0)
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def _on_signal(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
    global received
    received = received or number
    _raise()


def _raise() -> None:
    global _raised
    if received and not _held and not _raised:
        _raised = True
        ignore()
        raise EndedError


def _on_unraisable(lost: "sys.UnraisableHookArgs") -> None:
    """Raise `EndedError` again if Python has discarded it, because it occurred in a callback.

    Python discards the exceptions of `__del__` and of the callbacks of weak references, which the
    import system uses for its locks. Any other discarded exception is reported as usual.
    """
    global _raised
    if not isinstance(lost.exc_value, EndedError):
        sys.__unraisablehook__(lost)
        return
    _raised = False
    signal.signal(signal.SIGALRM, _on_signal)
    signal.setitimer(signal.ITIMER_REAL, AGAIN_S)


@contextmanager
def uninterrupted() -> Iterator[None]:
    """Delay all signals in `SIGNALS` until the `with` block ends."""
    global _held
    _held += 1
    try:
        yield
    finally:
        _held -= 1
    _raise()


def interrupt(threads: Iterable[int]) -> None:
    """Raise KeyboardInterrupt in other threads; a thread that executes C code continues with it.

    Parameters
    ----------
    threads : iterable of int
        Identifiers of the threads, from ``threading.get_ident``.
    """
    import ctypes

    for thread in threads:
        kind = ctypes.py_object(KeyboardInterrupt)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), kind)


if _is_command():  # during the imports, a signal ends the process with one line
    listen(_on_early_signal)
