"""Runs over the TCP of this machine's kernel, in real time."""

import os
import platform
from collections.abc import Generator, Sequence
from pathlib import Path

from aqmlab import _core
from aqmlab.engine.protocol import Failed, Progress
from aqmlab.engine.simulator import POLL_S
from aqmlab.engine.testbed.backend import Backend
from aqmlab.engine.testbed.qdiscs import WITH_QDISCS
from aqmlab.results import Packed, Result

LATE_S = 2e-4
"""Lateness of a packet in s that 1 % of the packets may exceed without a warning."""
TOO_LATE_S = 5e-3
"""Lateness of a packet in s that 1 % of the packets may exceed before the run fails."""


class HostTestbed(Backend):
    """Runs over the TCP of this machine's kernel, in real time.

    The clients and servers are sockets in network namespaces of their own, so nothing outside of
    them is touched, and nothing remains after the process ends. The process needs the right to
    create network namespaces and TUN devices, which root has. :class:`Backend` has the parameters.
    """

    with_qdiscs = WITH_QDISCS

    @property
    def name(self) -> str:
        """Name of the back end and version of the kernel."""
        return f"testbed:host{'-tc' if self._qdiscs else ''}, Linux {platform.release()}"

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
            qdiscs, warnings = self._commands(text)
        except ValueError as error:
            return Failed(error)
        folders = self._captures[i : i + 1]
        batch = _core.Batch([text], 1, folders, self._aqms, "{}", hosts="real-time", qdiscs=qdiscs)
        try:
            while True:
                try:
                    finished = batch.next(POLL_S)
                except (_core.InvariantViolation, _core.ScenarioError, MemoryError) as error:
                    return Failed(error)
                if progress:
                    progress(i + (1 if finished else batch.progress()[0]), count)
                if finished:
                    return _judged(self._measured(Packed(*finished[1]), warnings))
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
