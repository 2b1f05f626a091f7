"""Comparison of a measure of a setting between aqmlab and a peer, with tolerance and verdict."""

from dataclasses import dataclass
from math import inf, sqrt
from statistics import mean, variance

from scipy import stats

HOLDS, UNDECIDED, MISSES = "holds", "undecided", "misses"
VERDICTS = (MISSES, UNDECIDED, HOLDS)
"""Verdicts on a row, in the order of the page."""
OPEN = "open"
"""Text of the column `cause` for a row that misses its tolerance without a known cause."""


@dataclass(frozen=True)
class Tolerance:
    """Rule for the verdict on a row, by the difference between the means of aqmlab and of the peer.

    The bound of the difference is `relative` or `absolute`, whichever is larger. If `interval` is
    true, the 95 % interval of the difference decides: a row holds if the interval lies within the
    bound, misses if the interval lies outside the bound, and is undecided otherwise. A row is
    therefore undecided if the runs vary too much for a decision. If `interval` is false, the
    difference of the means decides.

    Parameters
    ----------
    relative : float
        Bound as a fraction of the peer's mean.
    absolute : float
        Bound in the unit of the measure.
    interval : bool
        True to compare the bound with the 95 % interval of the difference, by Welch's method.
    in_range : bool
        True if a row also holds when the mean of aqmlab lies in the range of the peer's runs.
    paired : bool
        True if run i of aqmlab and run i of the peer use the same random start times and delays.
        The interval is computed from the differences within these pairs of runs.
    """

    relative: float = 0.0
    absolute: float = 0.0
    interval: bool = True
    in_range: bool = False
    paired: bool = False

    def bound(self, theirs: tuple[float, ...]) -> float:
        """Return the bound in the unit of the measure; `theirs` has the values of the peer."""
        return max(self.relative * abs(mean(theirs)), self.absolute)

    def verdict(self, ours: tuple[float, ...], theirs: tuple[float, ...]) -> str:
        """Return the verdict on the values of aqmlab and of the peer, one of `VERDICTS`."""
        bound = self.bound(theirs) * (1 + 1e-12)
        if self.in_range and min(theirs) <= mean(ours) <= max(theirs):
            return HOLDS
        difference = abs(mean(ours) - mean(theirs))
        half = half_width(ours, theirs, self.paired) if self.interval else 0.0
        if difference + half <= bound:
            return HOLDS
        return MISSES if difference - half > bound else UNDECIDED

    def text(self, unit: str) -> str:
        """Return the tolerance as a text, such as "5 % or 1 ms"."""
        parts = [f"{100 * self.relative:g} %"] if self.relative else []
        if self.absolute:
            parts.append(f"{self.absolute:g} {unit}" if unit else f"a count of {self.absolute:g}")
        if self.in_range:
            parts.append("inside the peer's range")
        text = " or ".join(parts) if parts else "equal"
        return text if self.interval else f"{text}, means only"


def half_width(ours: tuple[float, ...], theirs: tuple[float, ...], paired: bool = False) -> float:
    """Return half the width of the 95 % interval of the difference between two means.

    If `paired` is true, the interval is Student's t interval of the differences within the pairs.
    If `paired` is false, the interval is Welch's interval. If `ours` or `theirs` contains a single
    value, this value adds no variance.
    """
    sides = [tuple(a - b for a, b in zip(ours, theirs, strict=True))] if paired else [ours, theirs]
    terms = [(variance(x) / len(x), len(x) - 1) for x in sides if len(x) > 1]
    total = sum(v for v, _ in terms)
    if total == 0:
        return 0.0
    degrees = total**2 / sum(v**2 / n for v, n in terms if v)
    return float(stats.t.ppf(0.975, degrees)) * sqrt(total)


@dataclass(frozen=True)
class Row:
    """Comparison of one measure of one setting between aqmlab and a peer.

    Parameters
    ----------
    setting : str
        Name of the setting, unique within the peer.
    measure : str
        Name of the measure, such as "goodput".
    unit : str
        Unit of the values, such as "Mbit/s"; empty for counts.
    ours, theirs : tuple of float
        Values of aqmlab and of the peer: one value per run, or one value for a closed form.
    tolerance : Tolerance
        Rule that decides the verdict.
    cause : str
        Cause of a difference beyond the tolerance, confirmed by runs with the mechanism switched
        on and off; empty if the cause is not known.
    """

    setting: str
    measure: str
    unit: str
    ours: tuple[float, ...]
    theirs: tuple[float, ...]
    tolerance: Tolerance
    cause: str = ""

    @property
    def difference(self) -> float:
        """Mean of aqmlab divided by the mean of the peer, minus 1; 0 if both means are 0."""
        a, b = mean(self.ours), mean(self.theirs)
        return a / b - 1 if b else (0.0 if a == 0 else inf)

    @property
    def verdict(self) -> str:
        """Verdict on the row by the row's tolerance, one of `VERDICTS`."""
        return self.tolerance.verdict(self.ours, self.theirs)

    @property
    def explained(self) -> str:
        """Cause if the row misses its tolerance, or `OPEN`; empty for rows with other verdicts."""
        return (self.cause or OPEN) if self.verdict == MISSES else ""
