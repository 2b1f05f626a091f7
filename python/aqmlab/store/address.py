"""Address of a run in a store: a hash of its scenario and of the build of its engine.

The hash is computed from the normalized scenario, which has all default values and a fixed order of
keys. The address therefore does not depend on the order of the keys in the scenario file. The title
of the scenario does not change the address. Because the hash includes the build of the engine, a
store never returns a result of another build.
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
        Scenario as :func:`aqmlab.scenario.normalize` returns it.
    build : str
        The build of the engine.

    Returns
    -------
    str or None
        Sixteen hexadecimal digits. None if the scenario uses an AQM written in Python, because the
        scenario contains only the name of such an AQM.

    Examples
    --------
    >>> address('{"title":"a","seed":1}', "x") == address('{"title":"b","seed":1}', "x")
    True
    >>> address('{"title":"a","seed":1}', "x") == address('{"title":"a","seed":1}', "y")
    False
    """
    if f'"{KIND}"' in text and _names_custom_aqm(json.loads(text)):
        return None
    title = TITLE.match(text, 1)
    hashed = text[title.end() :] if title else text
    return hashlib.sha256(f"{build}\n{hashed}".encode()).hexdigest()[:16]


def _names_custom_aqm(node: Any) -> bool:
    """Return True if a part of a scenario refers to an AQM written in Python."""
    if isinstance(node, dict):
        return node.get("kind") == KIND or any(map(_names_custom_aqm, node.values()))
    return isinstance(node, list) and any(map(_names_custom_aqm, node))
