"""One comparison: a measure of a setting, ours and theirs, with its tolerance and its verdict."""

from dataclasses import dataclass
from math import inf, sqrt
from statistics import mean, variance

from scipy import stats

HOLDS, UNDECIDED, MISSES = "holds", "undecided", "misses"
VERDICTS = (MISSES, UNDECIDED, HOLDS)
"""The verdicts, in the order of the page."""


@dataclass(frozen=True)
class Tolerance:
    """Largest difference of the means with which a row holds.

    The bound is the larger one of `relative` and `absolute`. With `interval` a row holds if the
    95 % interval of the difference lies within the bound, misses if the interval lies outside, and
    is undecided otherwise, so that noise can earn neither verdict. Without `interval` only the
    difference of the means counts.

    Parameters
    ----------
    relative : float
        Fraction of the mean of theirs.
    absolute : float
        In the unit of the measure.
    interval : bool
        Compare the 95 % interval of the difference (Welch) with the bound.
    in_range : bool
        Let a row hold too if the mean of ours is within the range of theirs.
    """

    relative: float = 0.0
    absolute: float = 0.0
    interval: bool = True
    in_range: bool = False

    def bound(self, theirs: tuple[float, ...]) -> float:
        """Return the bound in the unit of the measure."""
        return max(self.relative * abs(mean(theirs)), self.absolute)

    def verdict(self, ours: tuple[float, ...], theirs: tuple[float, ...]) -> str:
        """Return one of `VERDICTS`."""
        bound = self.bound(theirs) * (1 + 1e-12)
        if self.in_range and min(theirs) <= mean(ours) <= max(theirs):
            return HOLDS
        difference = abs(mean(ours) - mean(theirs))
        half = half_width(ours, theirs) if self.interval else 0.0
        if difference + half <= bound:
            return HOLDS
        return MISSES if difference - half > bound else UNDECIDED

    def text(self, unit: str) -> str:
        """Return the rule in words, such as "5 % or 1 ms"."""
        parts = [f"{100 * self.relative:g} %"] if self.relative else []
        if self.absolute:
            parts.append(f"{self.absolute:g} {unit}".strip())
        if self.in_range:
            parts.append("in range")
        return " or ".join(parts) if parts else "equal"


def half_width(ours: tuple[float, ...], theirs: tuple[float, ...]) -> float:
    """Return half of the 95 % interval of the difference of the means (Welch's t).

    A side with a single value counts as exact.
    """
    terms = [(variance(x) / len(x), len(x) - 1) for x in (ours, theirs) if len(x) > 1]
    total = sum(v for v, _ in terms)
    if total == 0:
        return 0.0
    degrees = total**2 / sum(v**2 / n for v, n in terms if v)
    return float(stats.t.ppf(0.975, degrees)) * sqrt(total)


@dataclass(frozen=True)
class Row:
    """A measure of a setting.

    Parameters
    ----------
    setting : str
        Name of the setting, unique within the peer.
    measure : str
        Name of the measure, such as "goodput".
    unit : str
        Unit of the values, such as "Mbit/s"; empty for counts.
    ours, theirs : tuple of float
        One value per run; one value for a closed form.
    tolerance : Tolerance
        Decides the verdict.
    cause : str
        Cause of a miss, established by a run with the mechanism switched; empty while open.
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
        """Mean of ours over mean of theirs, less 1; 0 where both are 0."""
        a, b = mean(self.ours), mean(self.theirs)
        return a / b - 1 if b else (0.0 if a == 0 else inf)

    @property
    def verdict(self) -> str:
        """Verdict of the tolerance, one of `VERDICTS`."""
        return self.tolerance.verdict(self.ours, self.theirs)

    @property
    def explained(self) -> str:
        """Cause of a miss, or "open"; empty for a row that does not miss."""
        return (self.cause or "open") if self.verdict == MISSES else ""
