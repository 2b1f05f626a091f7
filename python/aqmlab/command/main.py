"""Execution of the command `aqmlab`, which reports every error as one line on stderr.

If the error is in a line of tc, this line follows, with a caret below the wrong word.
"""

import os
import signal
import sys
from contextlib import suppress
from typing import Any, NoReturn

from aqmlab._core import InvariantViolation, version
from aqmlab.command.terminal import Interrupted, os_error, print_error
from aqmlab.words import LineError

WRONG_INPUT = 2
INTERRUPTED = 130
DEFECT = 1
PIPE_CLOSED = 141


def execute(args: list[str]) -> int:
    """Run the command `aqmlab` with the given arguments and return the exit code."""
    try:
        status = _run_or_end(args)
        sys.stdout.flush()
    except KeyboardInterrupt:
        return _interrupted()
    except Interrupted as e:
        return _interrupted(str(e))
    except InvariantViolation as e:
        problem = "the simulator has a defect, please report it"
        return print_error(f"{problem}: {e}, in aqmlab {' '.join(args)}", DEFECT)
    except BrokenPipeError:  # the program that reads the output, such as head, has ended
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE_CLOSED
    except OSError as e:
        return print_error(os_error(e), WRONG_INPUT)
    except LineError as e:
        return print_error(e.problem, WRONG_INPUT, e.quotation)
    except ValueError as e:
        return print_error(str(e), WRONG_INPUT)
    except MemoryError as e:
        message = "the machine has too little memory; simulate fewer flows, or reduce --jobs"
        return print_error(str(e) or message, WRONG_INPUT)
    except SystemExit:
        raise
    except (SystemError, RuntimeError) as e:
        # Some C functions of Python, such as isinstance, wrap a KeyboardInterrupt in a SystemError
        # or RuntimeError. If a __set_name__ method raises KeyboardInterrupt, Python wraps the
        # KeyboardInterrupt in a RuntimeError.
        if not isinstance(e.__cause__, KeyboardInterrupt):
            return _defect(e, args)
        return _interrupted()
    except BaseException as e:  # a panic of the simulator is not an Exception
        return _defect(e, args)
    return _interrupted() if status == INTERRUPTED else int(status or 0)


def _defect(error: BaseException, args: list[str]) -> int:
    """Print an unexpected exception in one line; raise it again if AQMLAB_TRACEBACK is set."""
    if os.environ.get("AQMLAB_TRACEBACK"):
        raise error
    problem = f"{type(error).__name__}: {error}"
    command = f", in aqmlab {' '.join(args)}" if args else ""
    return print_error(
        f"a defect of aqmlab, please report it: {problem}{command} (AQMLAB_TRACEBACK=1 shows the "
        "place)",
        DEFECT,
    )


def _run_or_end(args: list[str]) -> Any:
    """Run the command; raise KeyboardInterrupt for every error that follows a signal.

    A library that is interrupted while it is imported raises another exception in its place, such
    as ImportError.
    """
    from aqmlab import interrupts

    try:
        return _run(args)
    except Interrupted:
        raise
    except Exception:
        if interrupts.received:
            raise KeyboardInterrupt from None
        raise


def _run(args: list[str]) -> Any:
    """Run the command and return its exit code, or None for 0.

    Raises
    ------
    ValueError
        If the arguments are wrong.
    """
    if args == ["--version"]:  # answered before any slow import
        sys.stdout.write(f"aqmlab {version()}\n")
        return 0
    import typer

    from aqmlab.command.app import app

    try:
        command = typer.main.get_command(app)
        return command.main(args, prog_name="aqmlab", standalone_mode=False)
    except typer.TyperException as e:
        message = e.format_message().replace("Value error, ", "").rstrip(".")
        context = getattr(e, "ctx", None)
        path = context.command_path if context else "aqmlab"
        raise ValueError(f"{message}. See {path} --help.") from None


def _interrupted(left: str | None = None) -> int:
    """Report an interruption and the paths already written; return 128 plus the signal number."""
    from aqmlab import folder, interrupts

    paths = ", ".join(map(str, folder.written))
    left = left or (f"{paths} was written before" if paths else "nothing was written")
    code = 128 + (interrupts.received or signal.SIGINT)
    return print_error(f"interrupted; {left}", code)


def main() -> NoReturn:
    """Run `aqmlab` with the arguments of this process, and end the process with the exit code."""
    from aqmlab import folder, interrupts

    interrupts.listen()
    code = 0
    try:
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        code = execute(sys.argv[1:]) if _open_streams() else WRONG_INPUT
        code = _flushed(code)
    except KeyboardInterrupt:
        code = _interrupted()
    except SystemExit as e:
        code = int(e.code or 0)
    interrupts.ignore()
    folder.release_all()
    if interrupts.received:  # the interpreter cannot finalize a library that is half imported
        for stream in filter(None, (sys.stdout, sys.stderr)):
            with suppress(OSError):
                stream.flush()
        os._exit(code)
    sys.exit(code)


def _open_streams() -> bool:
    """Open a missing standard stream on /dev/null, and return True if standard output is open.

    Otherwise the next opened file would get the file descriptor of the missing stream.
    """
    missing = [n for n, stream in enumerate((sys.stdin, sys.stdout, sys.stderr)) if stream is None]
    while missing and os.open(os.devnull, os.O_RDWR) < max(missing):
        pass
    if 2 in missing:
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if 1 in missing:
        print_error(
            "standard output is closed; redirect it to a file, or to /dev/null", WRONG_INPUT
        )
    return 1 not in missing


def _flushed(code: int) -> int:
    """Flush standard output and return the exit code; report a failed flush in one line."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError as e:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return code or print_error(os_error(e), WRONG_INPUT)
    return code
