"""Queues of scenarios, each with its reference and the same parameters."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from references.draws import Draws
from references.fifo import Law, Shell
from references.kept import Transmitter

Reference = Callable[..., Any]
Link = Shell | Transmitter


@dataclass
class Case:
    """A queue of a scenario, and its reference with the same parameters."""

    name: str
    queue: dict[str, Any]
    reference: Reference
    given: dict[str, Any] = field(default_factory=dict)
    rate: int = 10_000_000
    limit: int = 100
    flows: int = 10
    expects: str = "EM"
    """What the traffic must bring about: early drops, Marks, Threshold, Full."""

    def build(self, seed: int) -> Link:
        """Return a link with the reference."""
        limit, unit = self.limit, "packets"
        if "limit" in self.queue:
            limit, unit = int(self.queue["limit"].split()[0]) * 1000, "bytes"
        law = self.reference(Draws(seed, "queue"), self.rate, **self.given)
        if isinstance(law, Law):
            return Shell(law, self.rate, limit, unit)
        return Transmitter(law, self.rate)


RED = {"minth": 5, "maxth": 15, "maxp": 0.1, "wq": 0.002}
SOON = {"minth": "3 packets", "maxth": "9 packets", "maxp": 0.2, "wq": 0.05}
SOON_GIVEN = {"minth": 3, "maxth": 9, "maxp": 0.2, "wq": 0.05}
