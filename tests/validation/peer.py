"""The interface of a peer, and the peers in the order of the page."""

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol, cast

from validation.row import Row


class Peer(Protocol):
    """A module that compares aqmlab with one peer."""

    NAME: str
    """Name of the peer as a heading, such as "ns-2"."""
    ABOUT: str
    """Markdown below the heading: the settings, both sides' seeds, and what a measure means."""

    def missing(self) -> str | None:
        """Return the reason why the peer cannot run here, with the remedy; None if it can."""

    def version(self) -> str:
        """Return name and version of what is compared, such as "ns-2.35 (Debian)"."""

    def rows(self) -> Iterable[Row]:
        """Run both sides and yield the rows."""


KEYS = ("ns2", "ns3", "linux", "l4s", "closed_forms")
"""Modules of this package; the key also names the table of a peer in docs/validation/."""


def peers() -> dict[str, Peer]:
    """Return the peers by their keys, without those whose module does not exist."""
    there = [key for key in KEYS if find_spec(f"validation.{key}")]
    return {key: cast(Peer, import_module(f"validation.{key}")) for key in there}
