"""Lookup of engines by the value of the option ``--engine``."""

import importlib
import sys
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from aqmlab.engine.protocol import Engine
from aqmlab.engine.recorded import Recorded
from aqmlab.engine.simulator import Simulator
from aqmlab.results import MANIFEST

if TYPE_CHECKING:
    from collections.abc import Iterator

SIMULATOR = "simulator"
TESTBED = "testbed"
TESTBEDS = ("testbed", "testbed:kernel", "testbed:uml", "testbed:host", "testbed:host-tc")
NAMES = (SIMULATOR, *TESTBEDS, "recorded:FOLDER", "MODULE:CLASS")
"""Forms of the value of ``--engine``."""


def engine_named(name: str) -> Engine:
    """Return the engine that a value of ``--engine`` names.

    Parameters
    ----------
    name : str
        ``simulator``, a back end of the testbed such as ``testbed:kernel``, ``recorded:FOLDER`` for
        recorded runs in a folder, or an import path such as
        ``my_module:Engine``. If the import path names a class, the class is called without
        arguments. The module may be in the current folder.

    Raises
    ------
    ValueError
        If the engine does not exist.
    OSError
        If recorded runs cannot be read.

    Examples
    --------
    >>> engine_named("simulator").build == Simulator().build
    True
    >>> engine_named("emulator")
    Traceback (most recent call last):
        ...
    ValueError: --engine is 'emulator'; it must be one of simulator, testbed, testbed:kernel, \
testbed:uml, testbed:host, testbed:host-tc, recorded:FOLDER, MODULE:CLASS
    """
    if name == SIMULATOR:
        return Simulator()
    if name.split(":")[0] == TESTBED:
        return testbed_named(name)
    module, colon, rest = name.partition(":")
    if not colon or not module or not rest:
        raise ValueError(f"--engine is {name!r}; it must be one of {', '.join(NAMES)}")
    if module == "recorded":
        if not Path(rest).is_dir():
            raise FileNotFoundError(f"--engine {name}: the folder {rest} does not exist")
        if not any(Path(rest).rglob(MANIFEST)):
            raise FileNotFoundError(
                f"--engine {name}: {rest} contains no runs; give a folder that "
                "`aqmlab run --out` wrote"
            )
        return Recorded.read(rest)
    return _imported(name, module, rest)


def testbed_named(name: str) -> Engine:
    """Return the back end of the testbed that a value of ``--engine`` names.

    The name ``testbed`` stands for ``testbed:kernel`` if its kernel is built, and for
    ``testbed:host`` otherwise.

    Raises
    ------
    ValueError
        If the back end does not exist.
    OSError
        If the back end cannot run on this machine.
    """
    from aqmlab.engine.testbed import HostTestbed, KernelTestbed, image
    from aqmlab.engine.testbed.host import missing

    built = image.path().is_file()
    qdiscs = name in ("testbed:uml", "testbed:host-tc")
    if name in ("testbed:kernel", "testbed:uml") or (name == TESTBED and built):
        return KernelTestbed(qdiscs=qdiscs)
    if name not in (TESTBED, "testbed:host", "testbed:host-tc"):
        raise ValueError(f"--engine is {name!r}; it must be one of {', '.join(NAMES)}")
    if why := missing():
        other = f"; for testbed:kernel, run `{image.BUILD_COMMAND}`" if name == TESTBED else ""
        raise OSError(f"--engine {name}: {why}{other}")
    return HostTestbed(qdiscs=qdiscs)


def _imported(name: str, module: str, attribute: str) -> Engine:
    """Import a module and return the engine that the named attribute of the module provides."""
    with _current_folder_first():
        try:
            target = getattr(importlib.import_module(module), attribute)
            engine = target() if isinstance(target, type) else target
        except OSError:
            raise
        except Exception as e:
            raise ValueError(
                f"--engine {name!r}: the import fails ({type(e).__name__}: {e}); write "
                "my_module:Engine, where my_module is in the current folder or in PYTHONPATH"
            ) from None
    for part in ("build", "capabilities", "run"):
        if not hasattr(engine, part):
            raise ValueError(
                f"--engine {name!r}: the object is not an engine, because it has no attribute "
                f"`{part}`; see "
                "docs/how-to/add-an-engine.md"
            )
    return engine  # type: ignore[no-any-return]


@contextmanager
def _current_folder_first() -> "Iterator[None]":
    """Let Python import modules from the current folder, as `python` itself does."""
    sys.path.insert(0, "")
    try:
        yield
    finally:
        sys.path.remove("")
