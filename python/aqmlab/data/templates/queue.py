"""A queue in Python, compared with Drop Tail.

    python FILE

The AQM signals each packet with a probability that rises from 0 at `low` waiting packets to 1 at
`high` waiting packets. docs/how-to/add-a-queue.md describes the methods and their arguments.
"""

import aqmlab


class MyQueue(aqmlab.CustomQueue):
    """AQM with a signal probability that rises with the number of waiting packets."""

    def __init__(self, low: int = 10, high: int = 60, **buffer: object) -> None:
        super().__init__(**buffer)  # keys of the buffer, e.g. limit="100 packets"
        self.low, self.high = low, high

    def on_arrival(self, packet: aqmlab.Packet, at: aqmlab.Arrival) -> aqmlab.Verdict:
        """Return PASS, `signal` (mark or drop) or `drop` for each arriving packet."""
        p = (at.packets - self.low) / (self.high - self.low)
        if p >= 1:
            return aqmlab.signal("threshold")
        return aqmlab.signal("early") if self.place.uniform() < p else aqmlab.PASS


if __name__ == "__main__":
    compared = aqmlab.compare({"drop_tail": "drop_tail", "my queue": MyQueue()}, "rfc7928", 3)
    for measure in compared.measures:
        first, second = (measure.text(compared.interval(i, measure.name).middle) for i in (0, 1))
        print(f"{measure.title} ({measure.unit}): Drop Tail {first}, my queue {second}")
