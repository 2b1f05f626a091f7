"""What a comparison keeps of a run."""

import math
from dataclasses import dataclass, field
from typing import Any, Self

from aqmlab.measures import AtLeast, Measure, Seen


@dataclass(frozen=True)
class Run:
    """What is kept of a run: seed, measures, and of each link times and packets of its queue.

    Of the measures in `at_least` it is known that they are greater. What the engine did not measure
    is in `not_measured`, and NaN in `measures`. Queues are those of sampled runs. Warnings are by
    what they are about.
    """

    seed: int
    measures: dict[str, float]
    at_least: tuple[str, ...] = ()
    traces: dict[str, list[list[float]]] | None = None
    warnings: dict[str, str] = field(default_factory=dict)
    not_measured: tuple[str, ...] = ()

    @classmethod
    def of(cls, seen: Seen, possible: list[Measure[Seen]]) -> Self:
        """Measure a run."""
        values = {m.name: m.read(seen) for m in possible}
        traces: dict[str, list[list[float]]] | None = None
        if "queue" in seen.result.tables:
            table, traces = seen.result.columns("queue"), {}
            rows = zip(table["link"], table["time_s"], table["queue_packets"], strict=True)
            for link, time_s, n in rows:
                trace = traces.setdefault(link, [[], []])
                trace[0].append(float(time_s))
                trace[1].append(float(n))
        return cls(
            seen.result.manifest["seed"],
            {name: math.nan if value is None else float(value) for name, value in values.items()},
            tuple(name for name, value in values.items() if isinstance(value, AtLeast)),
            traces,
            {w["about"]: w["text"] for w in seen.result.manifest.get("warnings", [])},
            tuple(name for name, value in values.items() if value is None),
        )

    def as_dict(self, names: list[str]) -> dict[str, Any]:
        """Return seed and measures as JSON has them."""
        known: dict[str, Any] = {"seed": self.seed}
        known |= {n: _null(self.measures[n]) for n in names}
        return known | ({"at_least": list(self.at_least)} if self.at_least else {})


def _null(x: float) -> float | None:
    return None if math.isnan(x) else x
