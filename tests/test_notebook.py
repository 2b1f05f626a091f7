"""Tests of the interface for notebooks: changes of a scenario, short texts, HTML and figures."""

from collections import Counter
from typing import Any
from xml.etree import ElementTree

import pytest
from matplotlib.figure import Figure

import aqmlab
from aqmlab import representation
from aqmlab.comparison import compare

DELAY = "network.delay"


def test_overrides_are_a_mapping_or_pairs_in_each_function(small: dict[str, Any]) -> None:
    for overrides in ({DELAY: "5 ms"}, [(DELAY, "5 ms")], ((DELAY, "5 ms") for _ in range(1))):
        assert aqmlab.run(small, overrides=overrides).scenario["network"]["delay"] == "5 ms"
    table = {"network.queue": aqmlab.Red(maxp=0.2), "network.queue.maxp": 0.3}
    assert aqmlab.run(small, overrides=table).scenario["network"]["queue"]["maxp"] == 0.3
    (result,) = aqmlab.replicate(small, 1, overrides={DELAY: "5 ms"})
    swept = aqmlab.sweep(small, {"network.queue.limit": ["20 packets"]}, overrides={DELAY: "5 ms"})
    compared = compare(["red"], small, 1, overrides={DELAY: "5 ms"})
    for scenario in (result.scenario, swept.results[0].scenario, compared.scenario):
        assert scenario["network"]["delay"] == "5 ms"


@pytest.mark.parametrize("wrong", ["network.delay=5 ms", 5, [5], {3: "4"}, None])
def test_the_error_of_wrong_overrides_shows_the_form(small: dict[str, Any], wrong: Any) -> None:
    with pytest.raises(aqmlab.ScenarioError, match=r"is not a mapping .* \{\"network.delay\": "):
        aqmlab.run(small, overrides=wrong)


HOSTILE = "<script>alert('$\\frac$')</script> & \u202e"


def represented(value: Any) -> str:
    """Check the short text of an object, and that its HTML is well formed; return the HTML."""
    assert "\n" not in repr(value)
    assert len(repr(value)) < 160
    html: str = value._repr_html_()
    ElementTree.fromstring(html)
    assert len(html) < 60_000
    assert "script>alert" not in html
    assert "\u202e" not in html
    return html


def test_each_kind_of_object_has_short_texts_and_html(small: dict[str, Any]) -> None:
    small["title"] = HOSTILE.replace("\u202e", "")
    scenario = aqmlab.Scenario(**small)
    assert repr(scenario).startswith("<Scenario ")
    assert "1.5 Mbit/s" in represented(scenario)
    assert repr(aqmlab.Red(maxp=0.2)) == "Red(maxp=0.2)"
    result = aqmlab.run(small)
    html = represented(result)
    assert "goodput (Mbit/s)" in html
    assert "average queue" in html
    small["record"] = {}
    assert "<svg" not in represented(aqmlab.run(small)), "no series, no picture"
    compared = compare(["drop_tail", "codel"], small, 3)
    html = represented(compared)
    assert "mean queueing delay (ms)" in html
    assert "<svg" in html
    limits = ["8 packets", "16 packets"]
    swept = aqmlab.sweep(small, {"network.queue.limit": limits, DELAY: ["5 ms"]}, 2)
    html = represented(swept)
    assert all(f">{limit}<" in html for limit in limits)
    assert "<svg" in html
    represented(aqmlab.sweep(small, {}))


def test_the_html_of_a_scenario_with_an_error_is_the_error() -> None:
    scenario = aqmlab.Scenario(network={"kind": HOSTILE}, flows=[])
    assert "network.kind" in represented(scenario)
    assert repr(scenario).startswith("<Scenario with an error: network.kind")


def test_the_html_of_a_graph_draws_its_links() -> None:
    html = represented(aqmlab.Scenario.load("examples/parking_lot.toml"))
    assert html.count("<line ") == 11
    assert html.count("2 Mbit/s") == 3


def test_shares_are_drawn_in_proportion() -> None:
    counts = Counter({"reproduced": 3, "open": 1})
    bar = representation.shares([(name, n, "#000") for name, n in counts.items()])
    assert [r.get("width") for r in ElementTree.fromstring(bar).iter("rect")] == ["300.0", "100.0"]
    assert representation.shares([]) == ""


def test_plots_of_a_run_and_of_a_comparison_are_figures(small: dict[str, Any]) -> None:
    small["record"]["series"] += ["segments", "rtt"]
    result = aqmlab.run(small)
    assert repr(result.plot) == "<Plots of a run: queue(), window(), sequence() and rtt()>"
    plots = [result.plot.queue(), result.plot.queue("left>right"), result.plot.window()]
    plots += [result.plot.window("C1"), result.plot.sequence(), result.plot.rtt("1")]
    compared = compare(["drop_tail", "codel"], small, 2)
    plots += [compared.plot.trade_off(), compared.plot.delays("left>right"), compared.plot.rates()]
    plots += [compared.plot.fairness(), compared.plot.queue()]
    assert all(isinstance(figure, Figure) for figure in plots)
    assert plots[0]._repr_png_().startswith(b"\x89PNG")  # type: ignore[attr-defined]
    with pytest.raises(ValueError, match="link: 'nowhere' has no compared queue"):
        compared.plot.delays("nowhere")
    with pytest.raises(KeyError, match="did not record the queue of 'nowhere'"):
        result.plot.queue("nowhere")
