"""Meters that follow the texts of their RFCs; they add tokens one by one at exact times."""

from fractions import Fraction

from references.draws import Draws

GREEN, YELLOW, RED = 0, 1, 2
PICOSECOND = Fraction(1, 10**12)


class Ticks:
    """Counter of the bytes that a rate allows since time 0."""

    def __init__(self, bits_per_second: int) -> None:
        self.bytes_per_second = Fraction(bits_per_second, 8)
        self.done = 0

    def until(self, time: int) -> int:
        """Return the bytes that the rate allows since the last call; `time` is in picoseconds."""
        total = int(time * PICOSECOND * self.bytes_per_second)
        new, self.done = total - self.done, total
        return new


class TokenBucket:
    """Token bucket of RFC 2475 §2.3.2 and RFC 3290 §5.1.3."""

    def __init__(self, rate: int, burst: int, loose: bool = False) -> None:
        self.ticks, self.burst, self.loose = Ticks(rate), burst, loose
        self.tokens = burst

    def colour(self, time: int, size: int, _: int) -> int:
        """Return the colour of a packet of `size` bytes at `time` in picoseconds."""
        for _ in range(self.ticks.until(time)):
            if self.tokens == self.burst:
                break  # The bucket is full, so later tokens do not count.
            self.tokens += 1
        if self.tokens > 0 if self.loose else self.tokens - size >= 0:
            self.tokens -= size
            return GREEN
        return RED


class Srtcm:
    """Single rate three colour marker of RFC 2697 §3."""

    def __init__(self, cir: int, cbs: int, ebs: int, aware: bool = False) -> None:
        self.ticks, self.cbs, self.ebs, self.aware = Ticks(cir), cbs, ebs, aware
        self.tc, self.te = cbs, ebs

    def colour(self, time: int, size: int, precolour: int) -> int:
        """Return the colour of a packet of `size` bytes at `time` in picoseconds."""
        for _ in range(self.ticks.until(time)):
            if self.tc < self.cbs:
                self.tc += 1
            elif self.te < self.ebs:
                self.te += 1
            else:
                break  # The bucket is full, so later tokens do not count.
        if not self.aware:
            if self.tc - size >= 0:
                self.tc = max(self.tc - size, 0)
                return GREEN
            if self.te - size >= 0:
                self.te = max(self.te - size, 0)
                return YELLOW
            return RED
        if precolour == GREEN and self.tc - size >= 0:
            self.tc = max(self.tc - size, 0)
            return GREEN
        if precolour in (GREEN, YELLOW) and self.te - size >= 0:
            self.te = max(self.te - size, 0)
            return YELLOW
        return RED


class Trtcm:
    """Two rate three colour marker of RFC 2698 §3."""

    def __init__(self, pir: int, pbs: int, cir: int, cbs: int, aware: bool = False) -> None:
        self.peak, self.committed = Ticks(pir), Ticks(cir)
        self.pbs, self.cbs, self.aware = pbs, cbs, aware
        self.tp, self.tc = pbs, cbs

    def colour(self, time: int, size: int, precolour: int) -> int:
        """Return the colour of a packet of `size` bytes at `time` in picoseconds."""
        for _ in range(self.peak.until(time)):
            if self.tp == self.pbs:
                break  # The bucket is full, so later tokens do not count.
            self.tp += 1
        for _ in range(self.committed.until(time)):
            if self.tc == self.cbs:
                break
            self.tc += 1
        if not self.aware:
            if self.tp - size < 0:
                return RED
            if self.tc - size < 0:
                self.tp -= size
                return YELLOW
            self.tp -= size
            self.tc -= size
            return GREEN
        if precolour == RED or self.tp - size < 0:
            return RED
        if precolour == YELLOW or self.tc - size < 0:
            self.tp -= size
            return YELLOW
        self.tp -= size
        self.tc -= size
        return GREEN


class Tswtcm:
    """Time sliding window three colour marker of RFC 2859, figures 2 and 3, in floating point."""

    def __init__(self, draws: Draws, ctr: int, ptr: int, avg_interval: float = 1.0) -> None:
        self.draws, self.avg_interval = draws, avg_interval
        self.ctr, self.ptr = ctr / 8, ptr / 8
        self.avg_rate, self.t_front = self.ctr, 0

    def colour(self, time: int, size: int, _: int) -> int:
        """Return the colour of a packet of `size` bytes at `time` in picoseconds."""
        bytes_in_win = self.avg_rate * self.avg_interval
        new_bytes = bytes_in_win + size
        self.avg_rate = new_bytes / ((time - self.t_front) / 1e12 + self.avg_interval)
        self.t_front = time
        if self.avg_rate <= self.ctr:
            return GREEN
        drawn = self.draws.uniform()
        if self.avg_rate <= self.ptr:
            p0 = (self.avg_rate - self.ctr) / self.avg_rate
            return YELLOW if drawn < p0 else GREEN
        p1 = (self.avg_rate - self.ptr) / self.avg_rate
        p2 = (self.ptr - self.ctr) / self.avg_rate
        if drawn < p1:
            return RED
        return YELLOW if drawn < p1 + p2 else GREEN
