"""The address of a run: what was run, and what ran it.

The scenario counts with every default filled in, as the simulator writes it: keys have one order
then, whatever order they were given in. Its title does not count. The engine counts with its build,
so that what an older one did is never taken for a run of this one.
"""

import hashlib
import json
import re
from typing import Any

from aqmlab.custom import KIND

TITLE = re.compile(r'"title":(null|"([^"\\]|\\.)*"),?')


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
    >>> address('{"title":"a","seed":1}', "x") == address('{"title":"b","seed":1}', "x")
    True
    >>> address('{"title":"a","seed":1}', "x") == address('{"title":"a","seed":1}', "y")
    False
    """
    if f'"{KIND}"' in text and _names_law(json.loads(text)):
        return None
    title = TITLE.match(text, 1)
    said = text[title.end() :] if title else text
    return hashlib.sha256(f"{build}\n{said}".encode()).hexdigest()[:16]


def _names_law(node: Any) -> bool:
    """Whether a part of a scenario names a law written in Python."""
    if isinstance(node, dict):
        return node.get("kind") == KIND or any(map(_names_law, node.values()))
    return isinstance(node, list) and any(map(_names_law, node))
