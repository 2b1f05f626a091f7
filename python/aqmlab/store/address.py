"""The address of a run: what was run, and what ran it.

The scenario counts with every default filled in and whatever the order of its keys, but without its
title. The engine counts with its build, so that what an older one did is never taken for a run of
this one.
"""

import hashlib
import json
from typing import Any

from aqmlab.custom import KIND
from aqmlab.scenario import content


def address(text: str, build: str) -> str | None:
    """Return the address of a run.

    Parameters
    ----------
    text : str
        A scenario as :func:`aqmlab.scenario.normalize` writes it.
    build : str
        The build of the engine.

    Returns
    -------
    str or None
        Sixteen digits. None: the scenario names a law written in Python, and so does not say what
        the law does.

    Examples
    --------
    >>> address('{"seed": 1, "title": "a"}', "x") == address('{"title": "b", "seed": 1}', "x")
    True
    >>> address('{"seed": 1}', "x") == address('{"seed": 1}', "y")
    False
    """
    if f'"{KIND}"' in text and _names_law(json.loads(text)):
        return None
    return hashlib.sha256(f"{build}\n{content(text)}".encode()).hexdigest()[:16]


def _names_law(node: Any) -> bool:
    """Whether a part of a scenario names a law written in Python."""
    if isinstance(node, dict):
        return node.get("kind") == KIND or any(map(_names_law, node.values()))
    return isinstance(node, list) and any(map(_names_law, node))
