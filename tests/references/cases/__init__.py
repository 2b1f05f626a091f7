"""Cases of the comparison: a queue of the simulator, and its reference with equal parameters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from references.disciplines import Transmitter
from references.draws import Draws
from references.fifo import Aqm, AqmLink

Reference = Callable[..., Any]
Link = AqmLink | Transmitter


@dataclass
class Case:
    """Queue of a scenario, and a reference implementation of this queue with equal parameters."""

    name: str
    queue: dict[str, Any]
    reference: Reference
    parameters: dict[str, Any] = field(default_factory=dict)
    rate: int = 10_000_000
    limit: int = 100
    flows: int = 10
    expects: str = "EM"
    """Outcomes that must occur: E early drop, M mark, T signal at a threshold, F full buffer."""

    def build(self, seed: int) -> Link:
        """Return a link with a new instance of the reference queue."""
        limit, unit = self.limit, "packets"
        if "limit" in self.queue:
            limit, unit = int(self.queue["limit"].split()[0]) * 1000, "bytes"
        reference = self.reference(Draws(seed, "queue"), self.rate, **self.parameters)
        if isinstance(reference, Aqm):
            return AqmLink(reference, self.rate, limit, unit)
        return Transmitter(reference, self.rate)


RED = {"minth": 5, "maxth": 15, "maxp": 0.1, "wq": 0.002}
"""Default parameters of RED in the references."""
LOW_KEYS = {"minth": "3 packets", "maxth": "9 packets", "maxp": 0.2, "wq": 0.05}
LOW_SETTINGS = {"minth": 3, "maxth": 9, "maxp": 0.2, "wq": 0.05}
"""RED with low thresholds: `LOW_KEYS` for a scenario, `LOW_SETTINGS` for the references."""
