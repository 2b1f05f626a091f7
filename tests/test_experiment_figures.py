"""Tests of the figures of experiments; a figure without enough data is omitted."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from aqmlab.experiment import Experiment, Outcome, conduct
from aqmlab.experiment.file import PLOTS
from aqmlab.figures import save
from aqmlab.figures.experiment import DRAWN, figures_of, over_factor

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
    assert first.get_xlabel() == LIMIT
    assert [t.get_text() for t in first.get_xticklabels()] == ["8 packets", "16 packets"]
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
    assert axes.get_xlabel() == LIMIT
    assert axes.get_ylabel() == "goodput (Mbit/s)"
    assert [t.get_text() for t in axes.get_xticklabels()] == ["8 packets", "16 packets"]
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
    assert titles == [f"{DELAY} = 5 ms", f"{DELAY} = 20 ms"]
    assert [axes.get_xlabel() for axes in figure.axes] == [LIMIT, LIMIT]


def test_a_plot_over_no_factor_or_three_is_refused(outcome: Outcome, small: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="can show one or two factors, and not 3"):
        over_factor(outcome, by=[LIMIT, DELAY, LIMIT])
    alone = conduct(Experiment.from_dict({"scenario": small, "measures": ["goodput_bps"]}))
    with pytest.raises(ValueError, match="the plot needs a factor that varies"):
        over_factor(alone)
