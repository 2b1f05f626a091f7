"""Published studies that aqmlab reproduces; each study has its own folder."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from aqmlab.studies.framework.study import Study

__all__ = ["load", "names", "title"]

_TITLES = {
    "ecn-finite-transfers": "ECN for large finite transfers: Drop Tail, RED and RED with ECN",
    "ecn-red-simulation": "ECN and head marking in RED networks: 128 pairs of simulations",
    "rfc2884": "RFC 2884: ECN for bulk transfers and transactions on a Linux testbed",
    "power-of-ecn": "The power of ECN: ECN+ under web traffic with RED, RED*, REM and PI",
    "red-wired-testbed": "RED against Tail Drop on a wired Linux testbed, with TCP and CBR flows",
}


def names() -> list[str]:
    """Return the names of the studies.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from aqmlab import studies
    >>> "ecn-finite-transfers" in studies.names()
    True
    """
    return list(_TITLES)


def title(name: str) -> str:
    """Return the title of a study in one line, without loading the study.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Raises
    ------
    KeyError
        If the name is unknown.

    Examples
    --------
    >>> from aqmlab import studies
    >>> studies.title("ecn-finite-transfers").split(":")[0]
    'ECN for large finite transfers'
    """
    return _TITLES[name]


def load(name: str) -> Study:
    """Return a study by its name; the method `reproduce` of the study runs the reproduction.

    Parameters
    ----------
    name : str
        One of :func:`names`.

    Raises
    ------
    ValueError
        If the name is unknown. The error message lists the names of the studies.

    Examples
    --------
    >>> from aqmlab import studies
    >>> studies.load("ecn-finite-transfers").replications
    300
    """
    if name not in _TITLES:
        raise ValueError(f"study: {name!r} is unknown; use one of: {', '.join(_TITLES)}")
    module = importlib.import_module(f"aqmlab.studies.{name.replace('-', '_')}")
    study: Study = module.STUDY
    return study
