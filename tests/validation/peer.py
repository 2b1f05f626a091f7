"""Interface of a peer, and the list of the peers in the order of their sections on the page."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from validation.row import Row


class Peer(Protocol):
    """Module that compares aqmlab with one peer: a simulator, a host or formulas."""

    NAME: str
    """Name of the peer as a heading, such as "ns-2"."""
    ABOUT: str
    """Markdown text below the heading, about the settings, the seeds and the measures."""

    def missing(self) -> str | None:
        """Return the reason why the peer cannot run, with the remedy, or None if it can run."""

    def version(self) -> str:
        """Return the name and version of the peer, such as "ns-2.35 (Debian)"."""

    def rows(self) -> Iterable[Row]:
        """Run each comparison in aqmlab and in the peer, and yield the rows."""


KEYS = ("ns2", "ns3", "linux", "testbed", "testbed_linux", "l4s", "closed_forms")
"""Keys of the peers: `KEY.py` is the module and docs/validation/KEY.csv the table of a peer."""


def peers() -> dict[str, Peer]:
    """Return the peers by their keys, without peers whose module does not exist."""
    existing = [key for key in KEYS if find_spec(f"validation.{key}")]
    return {key: cast(Peer, import_module(f"validation.{key}")) for key in existing}
