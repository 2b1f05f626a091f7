"""Kernel of the testbed: its build from Debian's sources, and its place on this machine."""

import hashlib
import os
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

SERIES = "6.12"
"""Series of kernels whose sources are used."""
SOURCES = Path(f"/usr/src/linux-source-{SERIES}.tar.xz")
PACKAGES = (f"linux-source-{SERIES}", "gcc", "make", "flex", "bison", "bc", "xz-utils")
"""Debian packages that the build needs."""
CONFIG = Path(__file__).with_name("kernel.config")
REGISTERS = "arch/x86/um/os-Linux/registers.c"
CHANGES = (
    ("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", "config HZ\n\tint\n\tdefault 1000\n"),
    ("arch/x86/um/user-offsets.c", "(HOST_FP_SIZE, 2696)", "(HOST_FP_SIZE, 16384)"),
    (
        REGISTERS,
        "int have_xstate_support;",
        "int have_xstate_support;\nstatic unsigned long xstate_bytes;",
    ),
    (
        REGISTERS,
        "iov_len = FP_SIZE * sizeof(unsigned long);\n\t\tif (ptrace(PTRACE_SETREGSET",
        "iov_len = xstate_bytes;\n\t\tif (ptrace(PTRACE_SETREGSET",
    ),
    (
        REGISTERS,
        "\t\thave_xstate_support = 1;",
        "\t\thave_xstate_support = 1, xstate_bytes = iov.iov_len;",
    ),
)
"""Changes of the sources: file, text and new text. The clock ticks 1000 times per second, as in the
kernels of many distributions; PIE's timer of 15 ms would be 20 ms at the 100 Hz of ARCH=um. The
other changes make room for the registers of a processor with AMX, and restore exactly the bytes
that the host saved; Linux 6.12 panics at its first process on such a processor.
"""
BUILD_COMMAND = "aqmlab doctor --build-kernel"


@cache
def name() -> str:
    """Return the name of the kernel: its series, and the digest of its settings."""
    text = CONFIG.read_text() + repr(CHANGES)
    return f"linux-{SERIES}-{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def path() -> Path:
    """Return the path of the kernel, which does not exist before the build."""
    cache_folder = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(cache_folder) / "aqmlab" / name()


def found() -> Path:
    """Return the path of the kernel.

    Raises
    ------
    FileNotFoundError
        If the kernel is not built.
    """
    if not path().is_file():
        raise FileNotFoundError(
            f"the kernel of the testbed, {path()}, does not exist; build it with "
            f"`{BUILD_COMMAND}` (some 10 minutes of processor time)"
        )
    return path()


def missing() -> str:
    """Return the command that installs what the build of the kernel lacks, or an empty text."""
    programs = [p for p in ("gcc", "make", "flex", "bison", "bc", "xz") if not shutil.which(p)]
    if SOURCES.exists() and not programs:
        return ""
    return f"apt-get install --no-install-recommends {' '.join(PACKAGES)}"


def build(report: Callable[[str], None], jobs: int) -> Path:
    """Build the kernel unless it exists, and return its path.

    Parameters
    ----------
    report : callable
        Receives a line of text at each step.
    jobs : int
        Number of parallel compilations.

    Raises
    ------
    FileNotFoundError
        If a package is not installed.
    OSError
        If the build fails.
    """
    if path().is_file():
        return path()
    if command := missing():
        raise FileNotFoundError(f"the build needs Debian packages; run `{command}`")
    path().parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="kernel-", dir=path().parent) as folder:
        report(f"unpacking {SOURCES}")
        with tarfile.open(SOURCES) as archive:
            archive.extractall(folder, filter="data")
        tree = next(Path(folder).iterdir())
        _configure(tree)
        report(f"compiling in {tree}")
        _make(tree, f"-j{jobs}", "linux")
        built = tree / "linux"
        subprocess.run(["strip", str(built)], check=False)
        built.replace(path())
    return path()


def _configure(tree: Path) -> None:
    """Change the sources, and write the configuration of the kernel."""
    for file, before, after in CHANGES:
        text = (tree / file).read_text()
        if text.count(before) != 1:
            raise OSError(f"{file} of {SOURCES} does not contain {before!r} once")
        (tree / file).write_text(text.replace(before, after))
    _make(tree, "defconfig")
    with (tree / ".config").open("a") as config:
        config.write(CONFIG.read_text())
    _make(tree, "olddefconfig")


def _make(tree: Path, *targets: str) -> None:
    """Run make in the kernel's sources."""
    command = ["make", "ARCH=um", *targets]
    done = subprocess.run(command, cwd=tree, capture_output=True, text=True, check=False)
    if done.returncode:
        last = "\n".join(done.stderr.strip().splitlines()[-5:])
        raise OSError(f"`{' '.join(command)}` failed: {last}")
