"""Runs over the TCP of this machine's kernel, in real time."""

import json
import os
import platform
from collections.abc import Generator, Sequence
from pathlib import Path

from aqmlab import _core
from aqmlab.custom import CustomAqms
from aqmlab.engine.capabilities import Capabilities
from aqmlab.engine.protocol import Failed, Progress
from aqmlab.engine.simulator import POLL_S, Simulator
from aqmlab.engine.testbed.capabilities import CAPABILITIES, measured
from aqmlab.engine.testbed.qdiscs import WITH_QDISCS, of_scenario
from aqmlab.results import Result

LATE_S = 2e-4
"""Lateness of a packet in s that 1 % of the packets may exceed without a warning."""
TOO_LATE_S = 5e-3
"""Lateness of a packet in s that 1 % of the packets may exceed before the run fails."""


class HostTestbed:
    """Runs over the TCP of this machine's kernel, in real time.

    The clients and servers are sockets in network namespaces of their own, so nothing outside of
    them is touched, and nothing remains after the process ends. The process needs the right to
    create network namespaces and TUN devices, which root has.

    Parameters
    ----------
    aqms : CustomAqms, optional
        AQMs written in Python that the scenarios use.
    qdiscs : bool
        True to use queue disciplines of the kernel for the links between the routers.
    """

    def __init__(self, aqms: CustomAqms | None = None, *, qdiscs: bool = False) -> None:
        self._aqms = CustomAqms() if aqms is None else aqms
        self._qdiscs = qdiscs

    @property
    def build(self) -> str:
        """Name of the engine, version of the kernel, and digest of the router."""
        return f"{self._name}, router {Simulator().build}"

    @property
    def _name(self) -> str:
        return f"testbed:host{'-tc' if self._qdiscs else ''}, Linux {platform.release()}"

    @property
    def capabilities(self) -> Capabilities:
        """Capabilities of the testbed."""
        return WITH_QDISCS if self._qdiscs else CAPABILITIES

    def with_aqms(self, aqms: CustomAqms) -> "HostTestbed":
        """Return an engine that has the given AQMs; see :class:`aqmlab.engine.Programmable`."""
        return HostTestbed(aqms, qdiscs=self._qdiscs)

    def run(
        self, texts: Sequence[str], jobs: int | None = None, progress: Progress | None = None
    ) -> Generator[tuple[int, Result | Failed]]:
        """Run scenarios one after the other; see :class:`aqmlab.engine.Engine`.

        Raises
        ------
        OSError
            If the kernel refuses a namespace, a device or a setting.
        """
        del jobs  # Runs in real time would disturb each other.
        for i, text in enumerate(texts):
            yield i, self._run_one(text, i, len(texts), progress)

    def _run_one(self, text: str, i: int, count: int, progress: Progress | None) -> Result | Failed:
        """Run one scenario."""
        try:
            qdiscs, warnings = of_scenario(text) if self._qdiscs else ([], [])
        except ValueError as error:
            return Failed(error)
        batch = _core.Batch([text], 1, [], self._aqms, "{}", hosts="real-time", qdiscs=qdiscs)
        try:
            while True:
                try:
                    finished = batch.next(POLL_S)
                except (_core.InvariantViolation, _core.ScenarioError, MemoryError) as error:
                    return Failed(error)
                if progress:
                    progress(i + (1 if finished else batch.progress()[0]), count)
                if finished:
                    _, result = finished
                    manifest = json.loads(result["manifest"])
                    manifest["warnings"] += warnings
                    tables = result["tables"]
                    return _judged(measured(self._name, manifest, tables, self.capabilities))
        finally:
            batch.cancel()


def _judged(result: Result) -> Result | Failed:
    """Return a result with a warning if its packets were late, or a failure if they were too late.

    A run that fails is not part of any mean.
    """
    late = result.manifest["lateness"]
    if not late["p99_s"] > LATE_S:
        return result
    late_ms = 1e3 * late["p99_s"]
    text = (
        f"1 % of the packets left the network more than {late_ms:.2g} ms late; end other programs, "
        "run the command as root, which gives the router a real-time priority, or use "
        "testbed:kernel, which does not depend on the load of the machine"
    )
    if late["p99_s"] > TOO_LATE_S:
        return Failed(OSError(f"{text}. More than {1e3 * TOO_LATE_S:g} ms are too late"))
    result.manifest["warnings"].append({"about": "lateness", "text": text})
    return result


def missing() -> str:
    """Return why this machine cannot run the testbed, or an empty text."""
    if platform.system() != "Linux":
        return "the testbed needs Linux"
    if not Path("/dev/net/tun").exists():
        return "/dev/net/tun does not exist; load the module tun"
    if os.geteuid() != 0:
        return "only root may create network namespaces; run the command as root"
    return ""
