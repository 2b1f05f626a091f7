"""Tests of main effects and interactions: contrasts in closed form, and coverage of intervals."""

import itertools
from typing import Any

import numpy as np
import pytest
from statsmodels.regression.linear_model import OLS

from aqmlab.experiment import Experiment, conduct, design
from aqmlab.statistics import effects

Levels = dict[str, list[Any]]


def factorial(replications: int, **levels: list[Any]) -> tuple[Levels, list[int]]:
    """Return the levels and the seed of each run: every combination of levels, with every seed."""
    points = list(itertools.product(*levels.values()))
    rows = points * replications
    seeds = [seed for seed in range(replications) for _ in points]
    return {name: [row[i] for row in rows] for i, name in enumerate(levels)}, seeds


def test_effects_are_differences_of_means() -> None:
    random = np.random.default_rng(1)
    factors, seeds = factorial(3, a=["x", "y", "z"], b=[1, 2])
    y = random.normal(0, 1, len(seeds))
    a, b = np.array(factors["a"]), np.array(factors["b"])
    middles = {(e.factors, e.levels): e.interval.middle for e in effects(factors, y, seeds).effects}
    assert middles[("a",), (("x", "z"),)] == pytest.approx(y[a == "z"].mean() - y[a == "x"].mean())
    assert middles[("b",), ((1, 2),)] == pytest.approx(y[b == 2].mean() - y[b == 1].mean())

    def at(one: str, other: int) -> float:
        return float(y[(a == one) & (b == other)].mean())

    both = (at("y", 2) - at("x", 2)) - (at("y", 1) - at("x", 1))
    assert middles[("a", "b"), (("x", "y"), (1, 2))] == pytest.approx(both)
    assert len(middles) == 2 + 1 + 2


def test_the_effect_of_a_seed_is_removed() -> None:
    random = np.random.default_rng(2)
    factors, seeds = factorial(5, a=[0, 1], b=[0, 1])
    y = np.array(factors["a"]) + random.normal(0, 0.01, 20)
    luck = random.normal(0, 100, 5)[seeds]
    alone, together = effects(factors, y, seeds), effects(factors, y + luck, seeds)
    for one, other in zip(alone.effects, together.effects, strict=True):
        assert one.interval == pytest.approx(other.interval)
    without = effects(factors, y + luck).effects[0].interval
    assert without.high - without.low > 100 * (
        together.effects[0].interval.high - together.effects[0].interval.low
    )


def test_intervals_agree_with_least_squares_with_a_term_per_block() -> None:
    """The intervals equal those of statsmodels, even with missing runs and unequal variances."""
    random = np.random.default_rng(4)
    factors, seeds = factorial(9, a=[0, 1], b=[0, 1])
    rows = np.sort(random.choice(len(seeds), 29, replace=False))
    factors = {name: list(np.array(of)[rows]) for name, of in factors.items()}
    blocks = np.array(seeds)[rows]
    a, b = (1 - 2 * np.array(factors[name]) for name in "ab")
    y = 2 * a + a * b + random.normal(0, 1, 29) * (2 + a) + blocks
    terms = [*(blocks == seed for seed in sorted(set(blocks))), a, b, a * b]
    whole = np.column_stack([np.asarray(term, dtype=float) for term in terms])
    fit = OLS(y, whole).fit(cov_type="HC2", use_t=True)
    changes = {("a",): (-3, -2), ("b",): (-2, -2), ("a", "b"): (-1, 4)}
    levels = {"a": [0, 1], "b": [0, 1]}
    for effect in effects(factors, y, list(blocks), levels=levels).effects:
        at, change = changes[effect.factors]
        row = np.zeros(whole.shape[1])
        row[at] = change
        test = fit.t_test(row)
        low, high = test.conf_int()[0]
        assert (effect.interval.low, effect.interval.high) == pytest.approx((low, high))
        assert effect.p == pytest.approx(float(test.pvalue))


def test_effects_of_20_000_blocks_are_computed() -> None:
    factors, seeds = factorial(20_000, a=[0, 1], b=[0, 1])
    y = np.random.default_rng(6).normal(0, 1, len(seeds)) + 3 * np.array(factors["a"])
    (effect, *_) = effects(factors, y, seeds).effects
    assert effect.interval.middle == pytest.approx(3, abs=0.05)


def test_aliased_interactions_of_a_fractional_design_are_listed() -> None:
    values = {name: [-1, 1] for name in "abcd"}
    points = design.fractional(values, {"d": ["a", "b", "c"]}) * 2
    factors = {name: [point[name] for point in points] for name in values}
    random = np.random.default_rng(3)
    y: list[float] = [2 * p["a"] + p["a"] * p["b"] + random.normal(0, 0.1) for p in points]
    analysis = effects(factors, y)
    assert analysis.aliased == [("b", "c"), ("b", "d"), ("c", "d")]
    by = {e.factors: e.interval.middle for e in analysis.effects}
    assert by["a",] == pytest.approx(4, abs=0.3)
    assert by["a", "b"] == pytest.approx(4, abs=0.5)
    assert by["d",] == pytest.approx(0, abs=0.3)


def test_p_values_are_corrected_for_all_effects() -> None:
    factors, seeds = factorial(4, a=[0, 1], b=[0, 1], c=[0, 1])
    y = np.random.default_rng(4).normal(0, 1, len(seeds)) + 5 * np.array(factors["b"])
    estimates = effects(factors, y, seeds).effects
    assert all(e.p <= e.p_discovery <= e.p_holm <= 1 for e in estimates)
    assert [e.factors for e in estimates if e.p_holm < 0.05] == [("b",)]


@pytest.mark.parametrize(
    ("factors", "y", "message"),
    [
        ({"a": [0, 1]}, [1.0, 2.0], "add replications"),
        ({"a": [0, 1, 0, 1]}, [1.0, 2.0, float("nan"), 3.0], "1 of 4 values are missing"),
        ({"a": list(range(30))}, [0.0] * 30, "at most 12"),
        ({"a": [0, 1] * 4, "b": [0, 1] * 4}, [0.0] * 8, "effect of b cannot be distinguished"),
    ],
)
def test_data_without_computable_effects_raises_an_error(
    factors: Levels, y: list[float], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        effects(factors, y)


@pytest.mark.parametrize("uneven", [False, True])
def test_intervals_have_their_nominal_coverage(uneven: bool) -> None:
    """HC2 intervals have a coverage of 95 %, even if the variance depends on a factor."""
    random = np.random.default_rng(5)
    factors, seeds = factorial(3, a=[0, 1], b=[0, 1])
    a, b = np.array(factors["a"]), np.array(factors["b"])
    truth = {("a",): 4, ("b",): 2, ("a", "b"): 2}
    covered = []
    for _ in range(80):
        noise = random.normal(0, 1, len(a)) * (1 + 9 * a * uneven)
        estimates = effects(factors, 3 * a + b + 2 * a * b + noise, seeds).effects
        covered += [e.interval.low <= truth[e.factors] <= e.interval.high for e in estimates]
    assert np.mean(covered) > 0.88


def test_the_effects_of_an_experiment_are_differences_of_its_cells(small: dict[str, Any]) -> None:
    outcome = conduct(Experiment.from_dict({
        "scenario": small, "replications": 3, "measures": ["utilization", "mark_rate"],
        "arms": {"off": {"tcp.ecn": "off"}, "on": {"tcp.ecn": "rfc3168"}},
        "factors": [{"values": {"network.rate": ["1 Mbit/s", "2 Mbit/s"]}}],
    }))  # fmt: skip
    by_factors = {e.factors: e for e in outcome.effects("mark_rate").effects}
    assert by_factors["arm",].interval.low > 0
    assert by_factors["arm",].levels == (("off", "on"),)
    cells = {(c.at["network.rate"], c.arm): c.estimate.value for c in
             outcome.estimates(measures=["mark_rate"])}  # fmt: skip
    rates = ("1 Mbit/s", "2 Mbit/s")
    on, off = (sum(cells[rate, arm] for rate in rates) / 2 for arm in ("on", "off"))
    assert by_factors["arm",].interval.middle == pytest.approx(on - off)
    table = outcome.effects_table()
    assert set(table["measure"]) == {"utilization", "mark_rate"}
    assert len(table) == 2 * 3
