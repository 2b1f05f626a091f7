"""Runs over the TCP of a kernel of their own: User-Mode Linux in virtual time."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from pathlib import Path
from shlex import quote
from threading import Event

from aqmlab._core import InvariantViolation, ScenarioError
from aqmlab.custom import CustomAqms
from aqmlab.engine.protocol import Failed, Progress
from aqmlab.engine.simulator import POLL_S, available_cores
from aqmlab.engine.testbed import image
from aqmlab.engine.testbed.backend import Backend
from aqmlab.engine.testbed.guest import ANSWER, CAPTURES, PROGRESS, REQUEST, read, request
from aqmlab.engine.testbed.qdiscs import OF_GUEST
from aqmlab.results import Packed, Result

MEMORY_MIB = 1024
"""Memory of a guest. The host provides only the pages that the guest uses."""
SPACE_MIB = 256
"""Free space that a guest needs in the folder for temporary files, which contains its memory."""
PREFIX = "aqmlab-testbed-"
"""Begin of the names of exchange folders, followed by the number of their process."""
CONFINED = ("setpriv", "--pdeathsig", "KILL", "unshare", "--pid", "--fork", "--kill-child")
"""Command that starts a guest so that all its processes end with this process."""
AS_ROOT = ("unshare", "--user", "--map-root-user")
"""Command that gives an ordinary user the rights for the other commands. It comes first, because a
process that becomes root in a new namespace forgets the signal of its parent's death."""
CHILD = ("sh", "-c", '"$@"; exit $?', "sh")
"""Command that starts a guest as the second process of its namespace. A kernel that panics aborts,
which has no effect on the first process."""
ERRORS = {error.__name__: error for error in (ScenarioError, InvariantViolation, MemoryError)}
"""Errors of a run that leave the other runs alone."""
INIT = """#!/bin/sh
mount() {{ setpriv --no-new-privs mount "$@"; }}
mount -t proc proc /proc && mount -t sysfs sys /sys && mount -t tmpfs run /run &&
mkdir /run/exchange && mount -t hostfs exchange /run/exchange -o {folder} &&
{environment} {python} -m aqmlab.engine.testbed.guest /run/exchange
echo o > /proc/sysrq-trigger
sleep 60
"""
"""First process of a guest. Its root is the file system of this machine, read-only. There the files
of root may belong to another user, so the program mount must not change to its owner."""


class KernelTestbed(Backend):
    """Runs over the TCP of a kernel of their own, in virtual time.

    Each run boots User-Mode Linux, an ordinary process that needs no rights. Computing costs no
    virtual time, so a run does not depend on the load of the machine. :class:`Backend` has the
    parameters.

    Raises
    ------
    FileNotFoundError
        If the kernel is not built.
    """

    with_qdiscs = OF_GUEST

    def __init__(
        self, aqms: CustomAqms | None = None, *, qdiscs: bool = False,
        captures: Sequence[Path] = (),
    ) -> None:  # fmt: skip
        super().__init__(aqms, qdiscs=qdiscs, captures=captures)
        self._kernel = image.found()

    @property
    def name(self) -> str:
        """Name of the back end, and digest of the kernel's settings."""
        return f"{'testbed:uml' if self._qdiscs else 'testbed:kernel'}, {image.name()}"

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios in parallel, each in its own guest; see :class:`aqmlab.engine.Engine`.

        Raises
        ------
        OSError
            If a guest does not boot or ends without a result.
        """
        _remove_left_folders()
        _check_space(Path(tempfile.gettempdir()))
        done = [0.0] * len(texts)
        guests: list[subprocess.Popen[bytes]] = []
        ending = Event()

        def run_one(i: int) -> Result | Failed:
            return self._run_one(texts[i], i, done, guests, ending)

        with ThreadPoolExecutor(min(jobs or available_cores(), len(texts) or 1)) as pool:
            try:
                running: dict[Future[Result | Failed], int] = {
                    pool.submit(run_one, i): i for i in range(len(texts))
                }
                while running:
                    ended, _ = wait(running, timeout=POLL_S, return_when=FIRST_COMPLETED)
                    if progress:
                        progress(sum(done), len(texts))
                    for future in ended:
                        yield running.pop(future), future.result()
            finally:
                ending.set()
                pool.shutdown(wait=False, cancel_futures=True)
                for guest in list(guests):
                    guest.kill()

    def _run_one(
        self,
        text: str,
        i: int,
        done: list[float],
        guests: "list[subprocess.Popen[bytes]]",
        ending: Event,
    ) -> Result | Failed:
        """Run one scenario."""
        try:
            qdiscs, warnings = self._commands(text)
        except ValueError as error:
            return Failed(error)
        with _exchange() as folder:
            (folder / REQUEST).write_bytes(request(text, self._aqms, qdiscs))
            captured = self._captures[i : i + 1]
            if captured:
                (folder / CAPTURES).mkdir()
            with self._booted(folder) as guest:
                guests.append(guest)
                if ending.is_set():  # the guest began while the others were killed
                    guest.kill()
                lines = _console(guest, i, done)
            guests.remove(guest)
            done[i] = 1.0
            answer = read(folder / ANSWER)
            for target in captured:
                _move_files(folder / CAPTURES, target)
        if answer is None:
            panics = [line for line in lines if "Kernel panic" in line]
            last = "; ".join(panics or lines[-3:]) or "(none)"
            raise OSError(f"the guest of the testbed wrote no result; its last lines: {last}")
        if "error" in answer:
            kind, message = answer["error"]
            if kind in ERRORS:
                return Failed(ERRORS[kind](message))
            raise OSError(f"the testbed cannot run: {message}")
        return self._measured(Packed(*answer["result"]), warnings)

    @contextmanager
    def _booted(self, folder: Path) -> "Iterator[subprocess.Popen[bytes]]":
        """Boot a guest, and kill it on exit."""
        _check_tools()
        init = folder / "init"
        environment = " ".join(f"{k}={quote(v)}" for k, v in _environment().items())
        python = quote(sys.executable)
        shared = quote(str(folder))
        init.write_text(INIT.format(folder=shared, environment=environment, python=python))
        init.chmod(0o700)
        command = [
            *(() if os.geteuid() == 0 else AS_ROOT),
            *CONFINED,
            *CHILD,
            *(str(self._kernel), f"mem={MEMORY_MIB}M", "root=/dev/root", "rootfstype=hostfs"),
            *("rootflags=/", "ro", f"init={init}", "con=null", "con0=null,fd:1", "quiet"),
            *("time-travel=inf-cpu", f"uml_dir={folder}"),
        ]
        guest = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=os.environ | {"TMPDIR": str(folder)},
            start_new_session=True,  # Ctrl-C reaches only this process, which ends the guest.
        )
        try:
            yield guest
        finally:
            guest.kill()
            guest.wait()
            if guest.stdout:
                guest.stdout.close()


def _environment() -> dict[str, str]:
    """Return the environment of Python in a guest."""
    path = [entry for entry in sys.path if entry]
    return {"PYTHONPATH": ":".join(path), "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}


def _console(guest: "subprocess.Popen[bytes]", i: int, done: list[float]) -> list[str]:
    """Read the console of a guest until it ends. Return its lines without reports of progress."""
    lines: list[str] = []
    assert guest.stdout is not None
    for raw in guest.stdout:
        line = raw.decode(errors="replace").strip()
        if line.startswith(PROGRESS):
            done[i] = float(line.removeprefix(PROGRESS))
        elif line:
            lines.append(line)
    return lines


def _check_tools() -> None:
    """Fail if the programs that confine a guest do not exist."""
    for program in ("setpriv", "unshare"):
        if not shutil.which(program):
            raise FileNotFoundError(
                f"the testbed needs the program {program}; install the Debian package util-linux"
            )


def _remove_left_folders() -> None:
    """Remove the folders of processes that ended without removing them, after kill -9."""
    for folder in Path(tempfile.gettempdir()).glob(f"{PREFIX}*"):
        process = folder.name.removeprefix(PREFIX).partition("-")[0]
        if process.isdecimal() and not Path("/proc", process).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _check_space(folder: Path) -> None:
    """Fail if the folder for temporary files has too little space for a guest."""
    free_mib = shutil.disk_usage(folder).free / 2**20
    if free_mib < SPACE_MIB:
        raise OSError(
            f"{folder} has only {free_mib:.0f} MiB of free space, and a guest of the testbed needs "
            f"{SPACE_MIB} MiB for its memory; free some space, or set TMPDIR to another folder"
        )


def _move_files(source: Path, target: Path) -> None:
    """Move all files of a folder; an error names the target."""
    for file in source.iterdir():
        try:
            shutil.move(file, target / file.name)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(target / file.name)) from None


@contextmanager
def _exchange() -> Iterator[Path]:
    """Return a private folder through which this process and a guest exchange files."""
    folder = Path(tempfile.mkdtemp(prefix=f"{PREFIX}{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
