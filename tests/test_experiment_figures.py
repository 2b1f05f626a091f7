"""Tests of the figures of experiments; a figure without enough data is omitted."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from aqmlab.experiment import Experiment, Measured, Outcome, conduct
from aqmlab.experiment.file import PLOTS
from aqmlab.figures import save
from aqmlab.figures.experiment import DRAWN, figures_of, over_factor
from aqmlab.figures.style import legend_below, limits, sheet, stroke

LIMIT, DELAY = "network.queue.limit", "network.delay"


@pytest.fixture
def outcome(small: dict[str, Any]) -> Outcome:
    """Run an experiment with two arms, two factors and three replications."""
    return conduct(Experiment.from_dict({
        "scenario": small, "replications": 3, "measures": ["goodput_bps"], "plots": list(PLOTS),
        "arms": {"off": {"tcp.ecn": "off"}, "on": {"tcp.ecn": "rfc3168"}},
        "factors": [{"values": {LIMIT: ["16 packets", "8 packets"], DELAY: ["5 ms", "20 ms"]}}],
    }))  # fmt: skip


def test_every_plot_is_drawn_and_written(outcome: Outcome, tmp_path: Path) -> None:
    assert set(PLOTS) == set(DRAWN)
    figures = dict(figures_of(outcome))
    assert list(figures) == [f"{plot}-goodput_bps" for plot in PLOTS]
    for name, figure in figures.items():
        assert save(figure, tmp_path / f"{name}.png").stat().st_size > 5000


def test_lines_of_interactions_are_the_means_of_arms(outcome: Outcome) -> None:
    figure = DRAWN["interactions"](outcome, "goodput_bps")
    first = figure.axes[0]
    assert first.get_xlabel() == "queue limit (packets)"
    assert [t.get_text() for t in first.get_xticklabels()] == ["8", "16"]
    assert first.get_ylabel() == "goodput (Mbit/s)"
    means = {(c.at[LIMIT], c.arm): c.estimate.value for c in outcome.estimates([LIMIT])}
    lines = [np.asarray(line.get_ydata(), dtype=float).tolist() for line in first.get_lines()]
    for arm in ("off", "on"):
        expected = [means["8 packets", arm], means["16 packets", arm]]
        assert any(ys == pytest.approx(expected) for ys in lines)


def test_ratios_are_sorted_and_0_5_for_equal_arms(small: dict[str, Any]) -> None:
    outcome = conduct(Experiment.from_dict({
        "scenario": small, "replications": 2, "measures": ["goodput_bps"],
        "arms": {"a": {}, "same": {}, "on": {"network.rate": "3 Mbit/s"}},
        "factors": [{"values": {LIMIT: ["4 packets", "8 packets", "16 packets"]}}],
    }))  # fmt: skip
    axes = DRAWN["sorted-ratios"](outcome, "goodput_bps").axes[0]
    by_name = {str(line.get_label()): line for line in axes.get_lines()}
    same, faster = (
        np.asarray(by_name[name].get_ydata(), dtype=float).tolist()
        for name in ("same / (a + same)", "on / (a + on)")
    )
    assert same == pytest.approx([0.5] * 3)
    assert faster == sorted(faster)
    assert faster[0] > 0.5


def test_a_heat_map_has_its_levels_in_order(outcome: Outcome) -> None:
    axes = DRAWN["heat-map"](outcome, "goodput_bps").axes
    assert [t.get_text() for t in axes[0].get_xticklabels()] == ["8 packets", "16 packets"]
    assert [t.get_text() for t in axes[0].get_yticklabels()] == ["5 ms", "20 ms"]
    cells = {(c.at[LIMIT], c.at[DELAY], c.arm): c.estimate.value for c in outcome.estimates()}
    image = axes[1].get_images()[0].get_array()
    assert image is not None
    assert float(image[0][1]) == pytest.approx(cells["16 packets", "5 ms", "on"])
    for panel in axes[:2]:
        assert all("\n±" in text.get_text() for text in panel.texts), (
            "each cell of the figure must show half the width of its interval"
        )


def test_figures_without_enough_data_are_omitted(small: dict[str, Any]) -> None:
    outcome = conduct(Experiment.from_dict({
        "scenario": small, "replications": 2, "measures": ["goodput_bps"], "plots": list(PLOTS),
    }))  # fmt: skip
    assert [name for name, _ in figures_of(outcome)] == ["distributions-goodput_bps"]


def test_a_measure_over_a_factor_has_a_line_and_intervals_per_arm(outcome: Outcome) -> None:
    figure = over_factor(outcome, by=["limit"])
    (axes,) = figure.axes
    assert axes.get_xlabel() == "queue limit (packets)"
    assert axes.get_ylabel() == "goodput (Mbit/s)"
    assert [t.get_text() for t in axes.get_xticklabels()] == ["8", "16"]
    bars = {str(bar.get_label()): bar for bar in axes.containers}
    assert list(bars) == ["off", "on"]
    for cell in outcome.estimates([LIMIT]):
        at = ["8 packets", "16 packets"].index(cell.at[LIMIT])
        line, _, (whiskers,) = bars[cell.arm]
        assert line.get_ydata()[at] == pytest.approx(cell.estimate.value)
        low, high = (point[1] for point in whiskers.get_segments()[at])
        assert (low, high) == pytest.approx((cell.estimate.low, cell.estimate.high))


def test_a_second_factor_has_a_column_per_level(outcome: Outcome) -> None:
    figure = over_factor(outcome, ["goodput_bps"], [LIMIT, DELAY], "median")
    titles = [axes.get_title() for axes in figure.axes]
    assert titles == ["network delay = 5 ms", "network delay = 20 ms"]
    assert [axes.get_xlabel() for axes in figure.axes] == ["queue limit (packets)"] * 2


def runs_at(levels: list[Any], values: list[float]) -> Outcome:
    """Return an outcome with one arm, and with one run of each value at each level."""
    rows = [{"point": i, "level": level, "arm": "a", "seed": seed, "m": value + 0.01 * seed}
            for i, (level, value) in enumerate(zip(levels, values, strict=True))
            for seed in range(3)]  # fmt: skip
    runs = pd.DataFrame(rows).assign(warnings="", failed="")
    return Outcome(runs, ["level"], ["a"], [Measured("m", "ms", 1.0, 0, "delay (ms)")])


@pytest.mark.parametrize(
    ("levels", "places", "scale", "label"),
    [
        (["5 ms", "40 ms", "0.09 s"], [5, 40, 90], "linear", "level (ms)"),
        ([0.002, 0.02, 0.2], [0.002, 0.02, 0.2], "log", "level"),
        (["red", "pie", "codel"], [0, 1, 2], "linear", "level"),
        (["5 ms", "5 packets", "6"], [0, 1, 2], "linear", "level"),
        (["5 ms", "5.0 ms", "$x"], [0, 1, 2], "linear", "level"),
    ],
)
def test_quantities_have_a_numeric_axis(
    levels: list[Any], places: list[float], scale: str, label: str
) -> None:
    (axes,) = over_factor(runs_at(levels, [1, 2, 3])).axes
    assert axes.get_xlabel() == label
    assert axes.get_xscale() == scale
    line = axes.get_lines()[0]
    assert np.asarray(line.get_xdata(), dtype=float).tolist() == pytest.approx(places)


def test_an_axis_does_not_show_only_noise() -> None:
    (axes,) = over_factor(runs_at([1, 2], [100.0, 100.5])).axes
    low, high = axes.get_ylim()
    assert low < 95.5
    assert high > 105
    (axes,) = over_factor(runs_at([1, 2], [10.0, 100.0])).axes
    assert axes.get_ylim()[0] == 0
    (axes,) = over_factor(runs_at([1, 2], [0.0, 0.0])).axes
    low, high = axes.get_ylim()
    assert low < 0.02 < high
    assert limits([]) == limits([float("nan")])
    assert limits([-3.0, 5.0])[0] < -3


def test_a_legend_of_several_rows_makes_the_figure_higher() -> None:
    figure, axes = sheet()
    for i in range(6):
        axes.plot([0, 1], label=f"a line with a long label, {i}", **stroke(i))
    legend_below(figure, axes)
    assert figure.get_size_inches()[1] == pytest.approx(4.2 + 2 * 0.2)
    assert len({(stroke(i)["color"], stroke(i)["linestyle"]) for i in range(32)}) == 32


def test_a_plot_over_no_factor_or_three_is_refused(outcome: Outcome, small: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="can show one or two factors, and not 3"):
        over_factor(outcome, by=[LIMIT, DELAY, LIMIT])
    alone = conduct(Experiment.from_dict({"scenario": small, "measures": ["goodput_bps"]}))
    with pytest.raises(ValueError, match="the plot needs a factor that varies"):
        over_factor(alone)
