"""Shared part of the back ends of the testbed."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

from aqmlab.custom import CustomAqms
from aqmlab.engine.capabilities import Capabilities
from aqmlab.engine.simulator import Simulator
from aqmlab.engine.testbed.capabilities import CAPABILITIES, measured
from aqmlab.engine.testbed.hosts import KEPT, hosted
from aqmlab.engine.testbed.qdiscs import of_scenario
from aqmlab.results import Packed, Result


class Backend:
    """Back end with AQMs written in Python, or with queue disciplines of the kernel.

    Parameters
    ----------
    aqms : CustomAqms, optional
        AQMs written in Python that the scenarios use.
    qdiscs : bool
        True to use queue disciplines of the kernel for the links between the routers.
    captures : sequence of pathlib.Path
        Existing folders, one per run, for the captures of hosts that ``record.pcap`` requests.
        Without a folder, a run writes no captures.
    """

    with_qdiscs: ClassVar[Capabilities]
    """Capabilities with queue disciplines of the kernel."""

    def __init__(
        self, aqms: CustomAqms | None = None, *, qdiscs: bool = False,
        captures: Sequence[Path] = (),
    ) -> None:  # fmt: skip
        self._aqms = CustomAqms() if aqms is None else aqms
        self._qdiscs, self._captures = qdiscs, captures

    @property
    def name(self) -> str:
        """Name of the back end and of its kernel."""
        raise NotImplementedError

    @property
    def build(self) -> str:
        """Name of the back end and of its kernel, and digest of the router."""
        return f"{self.name}, router {Simulator().build}"

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the testbed."""
        return self.with_qdiscs if self._qdiscs else CAPABILITIES

    def with_aqms(self, aqms: CustomAqms) -> Self:
        """Return a back end that has the given AQMs; see :class:`aqmlab.engine.Programmable`."""
        return type(self)(aqms, qdiscs=self._qdiscs, captures=self._captures)

    def with_captures(self, folders: Sequence[Path]) -> Self:
        """Return a back end that writes captures; see :class:`aqmlab.engine.Capturing`."""
        return type(self)(self._aqms, qdiscs=self._qdiscs, captures=folders)

    @property
    def hosts(self) -> str:
        """Sentence about the hosts; see :class:`aqmlab.engine.Hosting`."""
        return (
            f"The hosts have the TCP of the kernel of {self.name}. The kernel has the study's "
            f"values of {', '.join(KEPT)}, and its own behaviour in all other respects."
        )

    def hosted(self, scenario: Mapping[str, Any]) -> dict[str, Any]:
        """Return a scenario with the kernel's TCP; see :class:`aqmlab.engine.Hosting`."""
        return hosted(scenario)

    def _commands(self, text: str) -> tuple[list[tuple[str, str]], list[dict[str, str]]]:
        """Return the commands of tc for a scenario, and warnings about what they stand for."""
        return of_scenario(text) if self._qdiscs else ([], [])

    def _measured(self, packed: Packed, warnings: list[dict[str, str]]) -> Result:
        """Return the result of a run that the simulator's module returned."""
        text, tables = packed.unpacked()
        manifest = json.loads(text)
        manifest["warnings"] += warnings
        return measured(self.name, manifest, tables, self.capabilities)
