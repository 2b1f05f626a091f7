"""Ready scenarios: scenarios of the package, which every command accepts by name.

A ready scenario is a TOML file in the folder `data/scenarios` of the package. Its name is the name
of the file without the suffix. The first comment of the file is its description: the sources of its
values, and the keys to vary. docs/scenarios.md shows the results of each ready scenario.
"""

import os
import tomllib
from difflib import get_close_matches
from os import PathLike
from pathlib import Path

from aqmlab._core import ScenarioError

FOLDER = Path(__file__).parent / "data" / "scenarios"
"""Folder of the package with the ready scenarios."""


def names() -> list[str]:
    """Return the names of the ready scenarios in alphabetical order."""
    return sorted(path.stem for path in FOLDER.glob("*.toml"))


def located(scenario: str | PathLike[str], folder: Path = Path()) -> Path:
    """Return the path of a scenario that is given by its path or by the name of a ready scenario.

    Parameters
    ----------
    scenario : str or path
        Path of a file, or name of a ready scenario. If both exist, the file is used.
    folder : Path, optional
        Folder to which a relative path refers; default: the current folder.

    Raises
    ------
    ScenarioError
        If a name without a suffix is neither a file nor a ready scenario. The message lists similar
        names.

    Examples
    --------
    >>> located("rfc7928").name, located("examples/one_flow.toml").name
    ('rfc7928.toml', 'one_flow.toml')
    >>> located("rfc7982")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
        ...
    aqmlab.ScenarioError: 'rfc7982' is neither a file nor …; did you mean rfc7928? …
    """
    path, name = folder / scenario, os.fspath(scenario)
    exists = path.exists() or path.is_symlink()
    if exists and not path.is_dir():
        return path
    known = names()
    if name in known:
        return FOLDER / f"{name}.toml"
    if exists or path.suffix or os.sep in name:
        return path
    near = get_close_matches(name.lower().replace("_", "-"), known, n=3)
    hint = f"did you mean {' or '.join(near)}?" if near else f"the names are {', '.join(known)}."
    raise ScenarioError(
        f"{name!r} is neither a file nor a ready scenario; {hint} `aqmlab list scenarios` "
        "describes them"
    )


def title(name: str) -> str:
    """Return the title of a ready scenario, which states rates, delays and traffic.

    Examples
    --------
    >>> title("rfc7928-rtt")
    'RFC 7928, round-trip times: 20 Mbit/s, 100 and 20 ms; two downloads'
    """
    return str(tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))["title"])


def description(name: str) -> str:
    """Return the first comment of a ready scenario, without the comment characters.

    Examples
    --------
    >>> description("rfc7928").splitlines()[0]
    'Mild congestion of a bottleneck according to RFC 7928 (rfc7928).'
    """
    comment = (FOLDER / f"{name}.toml").read_text("utf-8").partition("\n\n")[0]
    return "\n".join(line.removeprefix("#").removeprefix(" ") for line in comment.splitlines())
