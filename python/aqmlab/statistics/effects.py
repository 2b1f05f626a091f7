"""Main effects of factors and their two-factor interactions, by least squares."""

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from aqmlab.statistics.interval import Interval, check_confidence
from aqmlab.statistics.several import false_discovery, holm

if TYPE_CHECKING:
    import numpy as np

MOST_LEVELS = 12
"""Maximum number of levels of a factor. If a factor has more levels, a plot shows its effect better
than a list of comparisons.
"""

INDEPENDENT = 1e-9
"""Minimum share of the columns of a term that the columns of earlier terms do not explain. If this
share is smaller for a term, the effect of the term cannot be separated from the effects of earlier
terms, so the terms are aliased.
"""


@dataclass(frozen=True)
class Effect:
    """Main effect of one factor on the mean, or interaction of two factors.

    Attributes
    ----------
    factors : tuple of str
        Name of the factor of a main effect, or names of the two factors of an interaction.
    levels : tuple of (first, other)
        For each factor, its first level and the other level that is compared with the first.
    interval : Interval
        The effect with its interval, in the unit of the values. A main effect is the mean at the
        other level minus the mean at the first level; all levels of the remaining factors have
        equal weights. An interaction is the difference of two effects of the first factor. The
        effect at the first level of the second factor is subtracted from the effect at the other
        level of the second factor.
    p : float
        P-value of the t test of the null hypothesis that the effect is 0.
    p_holm, p_discovery : float
        P-values with a correction for the number of effects (:func:`holm`,
        :func:`false_discovery`).
    """

    factors: tuple[str, ...]
    levels: tuple[tuple[Any, Any], ...]
    interval: Interval
    p: float
    p_holm: float = math.nan
    p_discovery: float = math.nan


@dataclass(frozen=True)
class Effects:
    """All effects of a design.

    Attributes
    ----------
    effects : list of Effect
        All main effects, followed by all interactions.
    aliased : list of tuple of str
        Interactions that the design cannot distinguish from effects in `effects`.
    """

    effects: list[Effect]
    aliased: list[tuple[str, ...]]


def effects(
    factors: Mapping[str, Sequence[Any]],
    values: "Sequence[float] | np.ndarray",
    blocks: Sequence[Any] = (),
    confidence: float = 0.95,
    *,
    levels: Mapping[str, Sequence[Any]] | None = None,
) -> Effects:
    """Estimate the main effects and two-factor interactions with their confidence intervals.

    The model is ordinary least squares with a term for each factor, each pair of factors, and each
    block. The model assumes that three or more factors do not interact. The intervals allow for
    different variances at different points (HC2: ``mackinnon1985heteroskedasticity``). The means of
    the blocks are subtracted first (Frisch and Waugh), so that thousands of blocks add almost no
    computing time. Source: ``box2005statistics``, chapters 5 and 6.

    Parameters
    ----------
    factors : mapping of str to sequence
        Levels of each factor, one per run.
    values : sequence of float
        The measured value of each run.
    blocks : sequence, optional
        Block of each run, for example its seed. The estimates do not depend on differences between
        the means of the blocks.
    confidence : float
        Confidence, in 0..1; default 0.95.
    levels : mapping of str to sequence, optional
        Order of the levels of a factor; default: the order of their first occurrence in `factors`.

    Returns
    -------
    Effects
        Estimated effects, and aliased interactions.

    Raises
    ------
    ValueError
        If there are too few runs, a value is not finite, a factor has more than twelve levels, or
        two factors are aliased.

    Examples
    --------
    >>> a, b = [0, 0, 1, 1] * 3, [0, 1] * 6
    >>> noise = [0.1, -0.1, 0, 0, 0, 0.2, -0.2, 0, -0.1, 0, 0.1, 0]
    >>> model = effects({"a": a, "b": b}, [5 * x + x * y + z for x, y, z in zip(a, b, noise)])
    >>> [(e.factors, round(e.interval.middle, 2)) for e in model.effects]
    [(('a',), 5.47), (('b',), 0.53), (('a', 'b'), 1.0)]
    """
    import numpy as np
    from scipy import stats

    check_confidence(confidence)
    y = np.asarray(values, dtype=float)
    if not np.isfinite(y).all():
        raise ValueError(f"{int((~np.isfinite(y)).sum())} of {len(y)} values are missing")
    order = levels or {}
    coded = {name: _coded(name, of, order.get(name, of)) for name, of in factors.items()}
    coded = {name: of for name, of in coded.items() if len(of.levels) > 1}
    scale = float(y.std()) or 1.0
    design = _Design(_Blocks(blocks if len(blocks) else [0] * len(y)))
    for name, of in coded.items():
        if not design.add((name,), of.columns):
            raise ValueError(
                f"the effect of {name} cannot be distinguished from the effects of other factors; "
                "vary the factors independently"
            )
    aliased: list[tuple[str, ...]] = []
    for one, other in itertools.combinations(coded, 2):
        a, b = coded[one].columns, coded[other].columns
        both = (a[:, :, None] * b[:, None, :]).reshape(len(y), -1)
        if not design.add((one, other), both):
            aliased.append((one, other))
    if not design.terms:
        return Effects([], aliased)
    free = len(y) - design.terms_in_all
    if free < 1:
        raise ValueError(
            f"{len(y)} runs are not enough to estimate {design.terms_in_all} parameters and their "
            "error; add replications"
        )
    fitted, covariance = design.fit(y / scale)
    wide = float(stats.t.ppf((1 + confidence) / 2, free))
    rows = []
    for term, at in design.terms.items():
        for pairs, contrast in _contrasts([coded[name] for name in term]):
            row = np.zeros(design.matrix.shape[1])
            row[at] = contrast
            effect, error = float(row @ fitted), math.sqrt(max(0.0, row @ covariance @ row))
            low, high = effect - wide * error, effect + wide * error
            interval = Interval(low * scale, effect * scale, high * scale)
            p = 2 * float(stats.t.sf(abs(effect) / error, free)) if error > 1e-12 else math.nan
            rows.append((term, pairs, interval, p))
    ps = [p for *_, p in rows]
    corrected = zip(rows, holm(ps), false_discovery(ps), strict=True)
    return Effects([Effect(*one, a, b) for one, a, b in corrected], aliased)


@dataclass(frozen=True)
class _Coded:
    """Factor, coded in numeric columns whose sum over the levels is 0."""

    levels: list[Any]
    columns: "np.ndarray"

    def of(self, level: int) -> "np.ndarray":
        """Return the values of the columns at a level of the factor."""
        import numpy as np

        last = len(self.levels) - 1
        return -np.ones(last) if level == last else np.eye(last)[level]


def _coded(name: str, values: Sequence[Any], order: Sequence[Any]) -> _Coded:
    import numpy as np

    used = set(values)
    levels = [level for level in dict.fromkeys(order) if level in used]
    if len(levels) > MOST_LEVELS:
        raise ValueError(
            f"{name} has {len(levels)} levels, and effects can be estimated for at most "
            f"{MOST_LEVELS}"
        )
    coded = _Coded(levels, np.zeros((len(values), len(levels) - 1)))
    index = {level: i for i, level in enumerate(levels)}
    rows = np.array([coded.of(level) for level in range(len(levels))]).reshape(len(levels), -1)
    return _Coded(levels, rows[[index[value] for value in values]])


class _Blocks:
    """Blocks: groups of runs with the same value of the blocking variable, for example the seed.

    Without a blocking variable, all runs form one block.
    """

    def __init__(self, blocks: Sequence[Any]) -> None:
        import numpy as np

        _, self._of, self._sizes = np.unique(
            np.asarray(list(map(str, blocks))), return_inverse=True, return_counts=True
        )
        self.number = len(self._sizes)

    def without(self, column: "np.ndarray") -> "np.ndarray":
        """Return a column minus the mean of each block."""
        import numpy as np

        return column - (np.bincount(self._of, column) / self._sizes)[self._of]

    @property
    def leverage(self) -> "np.ndarray":
        """Leverage of each run in a model that has only the blocks."""
        share: np.ndarray = 1 / self._sizes[self._of]
        return share


class _Design:
    """Columns of all terms except the blocks, minus the block means, and indices of the columns."""

    def __init__(self, blocks: _Blocks) -> None:
        import numpy as np

        self._blocks = blocks
        self.matrix = np.zeros((len(blocks.leverage), 0))
        self.terms: dict[tuple[str, ...], slice] = {}
        self._basis = self.matrix
        """Orthonormal basis of the space that the columns of `matrix` span."""

    @property
    def terms_in_all(self) -> int:
        """Number of parameters of the model: number of columns plus number of blocks."""
        return self._blocks.number + int(self.matrix.shape[1])

    def add(self, term: tuple[str, ...], columns: "np.ndarray") -> bool:
        """Add the columns of a term to the model; return False if the term is aliased."""
        import numpy as np

        free = np.column_stack([self._blocks.without(column) for column in columns.T])
        rest = free
        for _ in range(2):  # a second projection removes the rounding error of the first
            rest = rest - self._basis @ (self._basis.T @ rest)
        basis, singular, _ = np.linalg.svd(rest, full_matrices=False)
        rank_deficient = singular.min() < INDEPENDENT * np.linalg.norm(columns, 2)
        if columns.shape[1] > len(rest) or rank_deficient:
            return False
        self.terms[term] = slice(self.matrix.shape[1], self.matrix.shape[1] + columns.shape[1])
        self.matrix = np.hstack([self.matrix, free])
        self._basis = np.hstack([self._basis, basis])
        return True

    def fit(self, y: "np.ndarray") -> "tuple[np.ndarray, np.ndarray]":
        """Return the least-squares coefficients and their covariance (HC2)."""
        import numpy as np

        q, r = np.linalg.qr(self.matrix)
        y = self._blocks.without(y)
        coefficients = np.linalg.solve(r, q.T @ y)
        # A run with leverage 1 has a residual of 0. The lower bound 1e-12 of the divisor makes the
        # quotient 0 for a run with leverage 1, instead of 0/0.
        rest = np.maximum(1 - self._blocks.leverage - (q**2).sum(axis=1), 1e-12)
        residuals = y - self.matrix @ coefficients
        half = np.linalg.solve(r, q.T * (residuals / np.sqrt(rest)))
        return coefficients, half @ half.T


def _contrasts(
    term: Sequence[_Coded],
) -> "list[tuple[tuple[tuple[Any, Any], ...], np.ndarray]]":
    """Return the contrasts of a term, each with the levels that the contrast compares."""
    import numpy as np

    changes = [
        [((of.levels[0], of.levels[i]), of.of(i) - of.of(0)) for i in range(1, len(of.levels))]
        for of in term
    ]
    contrasts = []
    for row in itertools.product(*changes):
        contrast = np.ones(1)
        for _, part in row:
            contrast = np.kron(contrast, part)
        contrasts.append((tuple(pair for pair, _ in row), contrast))
    return contrasts
