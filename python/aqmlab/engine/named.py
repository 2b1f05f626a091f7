"""Engines by the names that ``--engine`` takes."""

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
NAMES = (SIMULATOR, "recorded:FOLDER", "MODULE:CLASS")
"""The forms of an engine's name."""


def engine_named(name: str) -> Engine:
    """Return an engine by its name.

    Parameters
    ----------
    name : str
        ``simulator``; ``recorded:FOLDER`` for the runs in a folder; or an import path such as
        ``my_module:Engine``. A class is called without arguments. The current folder is searched
        for the module.

    Raises
    ------
    ValueError
        If there is no such engine.
    OSError
        If recorded runs cannot be read.

    Examples
    --------
    >>> engine_named("simulator").build == Simulator().build
    True
    >>> engine_named("testbed")
    Traceback (most recent call last):
        ...
    ValueError: --engine 'testbed' must be one of simulator, recorded:FOLDER, MODULE:CLASS
    """
    if name == SIMULATOR:
        return Simulator()
    module, colon, rest = name.partition(":")
    if not colon or not module or not rest:
        raise ValueError(f"--engine {name!r} must be one of {', '.join(NAMES)}")
    if module == "recorded":
        if not Path(rest).is_dir():
            raise FileNotFoundError(f"--engine {name}: there is no folder {rest}")
        if not any(Path(rest).rglob(MANIFEST)):
            raise FileNotFoundError(
                f"--engine {name}: {rest} holds no runs; give a folder that aqmlab run --out wrote"
            )
        return Recorded.read(rest)
    return _imported(name, module, rest)


def _imported(name: str, module: str, attribute: str) -> Engine:
    """Return the engine that a module has under a name."""
    with _here():
        try:
            target = getattr(importlib.import_module(module), attribute)
            engine = target() if isinstance(target, type) else target
        except OSError:
            raise
        except Exception as e:
            raise ValueError(
                f"--engine {name!r}: cannot be imported ({type(e).__name__}: {e}); give module and "
                "class, as my_module:Engine, of a module in this folder or in PYTHONPATH"
            ) from None
    for part in ("build", "capabilities", "run"):
        if not hasattr(engine, part):
            raise ValueError(
                f"--engine {name!r}: is not an engine because it has no `{part}`; see "
                "docs/how-to/add-an-engine.md"
            )
    return engine  # type: ignore[no-any-return]


@contextmanager
def _here() -> "Iterator[None]":
    """Search the current folder for modules, as `python` does."""
    sys.path.insert(0, "")
    try:
        yield
    finally:
        sys.path.remove("")
