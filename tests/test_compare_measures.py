"""Tests of the measures of `aqmlab compare`: flows, significance, names, links and warm-up."""

import json
import math
import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aqmlab
from aqmlab.command import execute
from aqmlab.comparison import Comparison, compare
from aqmlab.comparison.comparison import SCENARIO
from aqmlab.comparison.output import _drawn
from aqmlab.comparison.queues import Arm
from aqmlab.comparison.run import Run
from aqmlab.comparison.show import answers, difference, hint, mean, strength
from aqmlab.custom import buffer_of, places
from aqmlab.engine import Network
from aqmlab.measures import MeasuredRun, column, measures
from aqmlab.measures.of_run import ALL, opinion_score, score_of_rating
from aqmlab.scenario import normalize
from aqmlab.statistics import jain, mean_interval, time_quantile
from aqmlab.store import FolderStore

QUEUES = ["drop_tail", "red:minth=4 packets,maxth=12 packets", "codel"]


def comparison(*arms: list[float]) -> Comparison:
    """Return a comparison of the measure `jain`, with the given values of each arm."""
    runs = [[Run(i, {"jain": v}) for i, v in enumerate(values)] for values in arms]
    names = [Arm(f"queue-{i}", queue=f"queue-{i}") for i in range(len(arms))]
    jain = [m for m in ALL if m.name == "jain"]
    return Comparison({"title": ""}, ["a>b"], names, runs, jain, ("jain",))


def test_a_star_requires_a_primary_measure_and_a_small_corrected_p_value() -> None:
    random = np.random.default_rng(7)
    first = list(random.uniform(1, 4, 10))
    close, far = ([x + shift + e for x, e in zip(first, random.normal(0, 0.2, 10), strict=True)]
                  for shift in (0.05, 4))  # fmt: skip
    alone, both = comparison(first, close), comparison(first, close, far)
    raw = alone.p_value(1, "jain")
    assert alone.corrected(1, "jain") == raw
    assert both.corrected(2, "jain") == 2 * both.p_value(2, "jain") == 4 / 1024
    assert both.corrected(1, "jain") == raw > 0.05
    assert [both.is_clear(arm, "jain") for arm in (0, 1, 2)] == [False, False, True]
    text = difference(both, 2, both.measures[0])
    assert text.startswith("+")
    assert text.endswith("*")
    secondary = replace(both, primary=())
    assert not secondary.is_clear(2, "jain")
    assert "*" not in difference(secondary, 2, secondary.measures[0])


def test_a_difference_without_variance_is_significant_and_stated_in_a_sentence() -> None:
    first = [0.2 + 0.01 * i for i in range(10)]
    constant = comparison(first, [x + 0.5 for x in first])
    assert constant.p_value(1, "jain") == 2 / 1024
    assert difference(constant, 1, constant.measures[0]) == "+0.500 ±0.000*"
    (sentence,) = answers(constant)
    raises = "queue-1 raises Jain's fairness index from 0.245 to 0.745"
    assert sentence == f"Compared with queue-0, {raises}."
    assert hint(constant) == ""
    assert strength(constant, 1, constant.measures[0]) == "large"
    slight = comparison(first, [1.001 * x for x in first])
    assert slight.is_clear(1, "jain")
    assert strength(slight, 1, slight.measures[0]) == "small"
    assert answers(slight) == ["queue-1 changes Jain's fairness index by less than 1 %."]
    opposite = comparison([0.9] * 10, [0.4] * 10)
    (sentence,) = answers(replace(constant, alternatives={"second half": opposite}))
    assert sentence.endswith(
        "In the second half of the runs, queue-1 lowers Jain's fairness index from 0.900 to 0.400 "
        "(-56 %) instead."
    )


@pytest.mark.parametrize(("arms", "needed"), [(2, 6), (4, 7)])
def test_too_few_replications_are_stated(arms: int, needed: int) -> None:
    """One test needs 2/2^6 < 0.05, and three tests need 3 times 2/2^7 < 0.05."""
    few = comparison(*([float(arm + i) for i in range(needed - 1)] for arm in range(arms)))
    assert not few.is_clear(1, "jain")
    assert f"use --replications {needed} or more" in hint(few)
    assert answers(few)[0] == "queue-1 has no significant difference in Jain's fairness index."
    enough = comparison(*([float(arm + i) for i in range(needed)] for arm in range(arms)))
    assert enough.is_clear(1, "jain")
    assert hint(enough) == ""


def test_equal_arms_rarely_get_a_star() -> None:
    random = np.random.default_rng(8)
    with_star = sum(
        any(compared.is_clear(arm, "jain") for arm in range(1, 9))
        for compared in (comparison(*random.normal(0, 1, (9, 6)).tolist()) for _ in range(300))
    )
    assert with_star / 300 < 0.06


def test_a_queue_with_the_same_results_is_labelled_identical(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["compare", "drop_tail", "same=drop_tail:limit=16 packets", "codel"]
    args += ["--scenario", str(scenario), "--replications", "2", "--out", str(tmp_path / "out")]
    assert execute(args) == 0
    printed = capsys.readouterr().out
    assert "same (identical)" in printed
    assert "same: drop_tail:limit=16 packets" in printed
    assert "codel (identical)" not in printed
    page = (tmp_path / "out" / "report.html").read_text("utf-8")
    assert "same (identical)" in page
    assert "drop_tail:limit=16 packets" in page


def test_measures_exclude_flows_that_do_not_cross_the_link(scenario: Path) -> None:
    base = json.loads(scenario.read_text())
    reverse = {"name": "reverse", "from": "right-0", "to": "left-0",
            "traffic": {"kind": "bulk", "size": "3 MB"}}  # fmt: skip
    base["flows"].append(reverse)
    base["duration"] = "4 s"
    compared = compare(["drop_tail"], base, 1)
    base["network"]["queue"] = {"kind": "drop_tail", "limit": "16 packets"}
    flows = aqmlab.run(base).flows.set_index("flow")
    assert flows.loc["reverse", "acked_bytes"] > 300_000
    forward = flows.loc[["C0", "C1"]]
    (run,) = compared.runs[0]
    running_s = 4 - forward["start_s"].min()
    assert run.measures["goodput_bps"] == pytest.approx(
        8 * forward["acked_bytes"].sum() / running_s
    )
    assert run.measures["jain"] == pytest.approx(jain(forward["goodput_bps"]))
    assert not [name for name in run.measures if "reverse" in name]
    other = compare(["drop_tail"], base, 1, link="right>left").runs[0][0]
    assert other.measures["goodput_bps"] == pytest.approx(flows.loc["reverse", "goodput_bps"])
    assert math.isnan(other.measures["jain"])


def test_all_measures_exclude_the_warm_up() -> None:
    """The measures equal those computed from the recorded series after the warm-up."""
    changes = [("duration", "8 s"), ("network.queue", '{ kind = "red", limit = "167 packets" }')]
    (run,) = compare(["red"], overrides=changes, replications=1, warm_up="3 s").runs[0]
    series = '["drops", "transfers", "waits", "delays", "window", "queue"]'
    changes += [("record.series", series), ("record.interval", "10 ms")]
    result = aqmlab.run(json.loads(normalize(SCENARIO, overrides=changes)))
    early = aqmlab.run(json.loads(normalize(SCENARIO, overrides=[*changes, ("duration", "3 s")])))
    at = result.links.set_index("link").loc["left>right"]
    before = early.links.set_index("link").loc["left>right"]
    arrived = at["arrived_packets"] - before["arrived_packets"]
    drops = result.series("drops").query("link == 'left>right' and time_s > 3")
    assert run.measures["drop_rate"] == len(drops) / arrived > 0
    busy = at["busy_s"] - before["busy_s"]
    assert run.measures["utilization"] == pytest.approx(busy / 5)

    window = result.series("window").set_index("flow").query("time_s == 3")
    flows = result.flows.set_index("flow")
    bulk = [name for name in flows.index if name != "short"]
    rates = (flows.loc[bulk, "acked_bytes"] - window.loc[bulk, "acked_bytes"]) * 8 / 5
    assert run.measures["goodput_bps@bulk"] == pytest.approx(rates.sum())
    assert run.measures["jain"] == pytest.approx(jain(rates))
    short = 8 * (flows.loc["short", "acked_bytes"]
                 - early.flows.set_index("flow").loc["short", "acked_bytes"]) / 5  # fmt: skip
    assert run.measures["goodput_bps"] == pytest.approx(rates.sum() + short)

    transfers = result.series("transfers").query("start_s >= 3")
    assert run.measures["unfinished@short"] == transfers["completed_s"].isna().mean()
    times = transfers["duration_s"].fillna(8 - transfers["start_s"])
    median, _ = time_quantile(times, transfers["completed_s"].notna(), 0.5)
    assert run.measures["median_completion_s@short"] == pytest.approx(median)

    # The mean delay agrees with Little's law. Percentiles of the delay equal those of the histogram
    # of the whole run minus the histogram of the warm-up.
    queue = result.series("queue").query("link == 'left>right' and time_s > 3")
    departed = at["departed_packets"] - before["departed_packets"]
    waiting = departed * run.measures["mean_delay_s"] / 5
    assert waiting == pytest.approx(queue["queue_packets"].mean(), rel=0.03)
    whole = result.series("delays").set_index("link").loc["left>right"]
    assert run.measures["p95_delay_s"] != whole["p95_delay_s"]
    bins = [
        of.series("waits").query("link == 'left>right'").set_index("wait_s")["packets"]
        for of in (result, early)
    ]
    late = bins[0].sub(bins[1], fill_value=0)
    assert late.sum() == departed
    for share in (0.95, 0.99):
        quantile = late.index[late.cumsum() >= share * departed][0]
        measured = run.measures[f"p{share * 100:.0f}_delay_s"]
        assert measured == pytest.approx(quantile, rel=0.008)
    assert run.measures["mean_delay_s"] < run.measures["p95_delay_s"] < run.measures["p99_delay_s"]


def test_a_warm_up_of_1_ns_does_not_change_the_measures(scenario: Path) -> None:
    plain = compare(["codel"], scenario, 1).runs[0][0].measures
    warm = compare(["codel"], scenario, 1, warm_up="1 ns").runs[0][0].measures
    assert warm.keys() == plain.keys()
    for name, value in plain.items():
        if "completion" not in name and "unfinished" not in name:  # flows start within the warm-up
            assert warm[name] == pytest.approx(value, rel=0.008, nan_ok=True), name


def test_a_warm_up_longer_than_a_run_without_duration_is_refused(scenario: Path) -> None:
    with pytest.raises(ValueError, match=r'warm_up: "1000 s" is not shorter than the run'):
        compare(["codel"], scenario, 1, warm_up="1000 s")


def test_a_stored_run_with_another_warm_up_is_not_used(scenario: Path, tmp_path: Path) -> None:
    store = FolderStore(tmp_path / "runs")
    plain = compare(["codel"], scenario, 1, store=store)
    warm = compare(["codel"], scenario, 1, warm_up="1 s", store=store)
    assert plain.values(0, "goodput_bps") != warm.values(0, "goodput_bps")
    repeated = compare(["codel"], scenario, 1, warm_up="1 s", store=store)
    assert repeated.values(0, "goodput_bps") == warm.values(0, "goodput_bps")
    assert len(list(store)) == 2


def test_an_unfinished_transfer_has_a_lower_bound_of_its_time(scenario: Path) -> None:
    """Lower bound of the completion time of an unfinished download: the duration of the run."""
    base = json.loads(scenario.read_text()) | {"duration": "2 s"}
    compared = compare(["drop_tail", "codel"], base, 2)
    assert compared.values(0, "unfinished@C") == [1, 1]
    (measure,) = (m for m in compared.measures if m.name == "median_completion_s@C")
    assert compared.is_exceeded(0, measure.name)
    assert mean(compared, 0, measure).startswith("> 2.0")
    assert difference(compared, 1, measure) == ""
    assert not compared.is_clear(1, measure.name)
    assert compared.as_dict()["queues"][0]["runs"][0]["at_least"]


def test_a_comparison_may_change_the_queues_of_several_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The comparison has measures per link, and counts all flows that cross the link."""
    lot = Path("examples/parking_lot.toml")
    links = ["r0>r1", "r1>r2"]
    changes = [("duration", "3 s")]
    compared = compare(["codel"], lot, 1, link=links, overrides=changes)
    assert compared.links == links
    for place in (places(compared.scenario)[link] for link in links):
        assert buffer_of(compared.scenario, place)
        node: Any = compared.scenario
        for part in place.split("."):
            node = node[int(part)] if isinstance(node, list) else node[part]
        assert node["kind"] == "codel"
    names = {m.name for m in compared.measures}
    assert {f"mean_delay_s@{link}" for link in links} <= names
    result = aqmlab.run(compared.scenario)
    routes = {flow.name: flow.forward for flow in Network.of(normalize(compared.scenario)).flows}
    for link in links:
        flows = result.flows[[link in routes[name] for name in result.flows["flow"]]]
        assert 0 < len(flows) < len(result.flows)
        goodput = 8 * flows["acked_bytes"].sum() / (3 - flows["start_s"].min())
        assert compared.values(0, f"goodput_bps@{link}") == [pytest.approx(goodput)]
    goodputs = [name for name in compared.primary if name.startswith("goodput")]
    assert goodputs == [f"goodput_bps@{link}" for link in links]
    assert "all links: goodput" in [m.title for m in compared.measures]
    options = [text for link in links for text in ("--link", link)]
    out = tmp_path / "out"
    args = ["compare", "codel", "drop_tail", "--scenario", str(lot), "--set", "duration=3 s"]
    assert execute([*args, *options, "--replications", "2", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert f"{links[1]}: delay" in printed
    for name in ("trade-off-1", "trade-off-2", "queue-2", "fairness"):
        assert (out / "figures" / f"{name}.png").stat().st_size > 1000


def test_flows_with_different_round_trip_times_are_shown_one_by_one(scenario: Path) -> None:
    compared = compare(["drop_tail", "codel"], "rfc7928-rtt", 2, overrides=[("duration", "4 s")])
    flows = compared.runs[1][0].flows
    assert {flow: time_s for flow, (time_s, _) in flows.items()} == {
        "category-I": 0.1, "category-II": 0.02,
    }  # fmt: skip
    rates = aqmlab.run(compared.scenario).flows.set_index("flow")["goodput_bps"]
    assert compared.runs[0][0].flows["category-I"][1] == pytest.approx(rates["category-I"])
    written = json.loads(json.dumps(compared.as_dict()))["queues"][1]["flows"]
    expected = mean_interval([run.flows["category-I"][1] for run in compared.runs[1]])
    assert written["category-I"] == {"round_trip_s": 0.1, "goodput_bps": expected._asdict()}
    assert "round-trips" in [name for name, *_ in _drawn(compared)]
    axes = compared.plot.round_trips().axes[0]
    assert axes.get_xlabel() == "round-trip time without queueing (ms)"
    equal = compare(["codel"], scenario, 1)
    assert equal.runs[0][0].flows == {}
    assert "round-trips" not in [name for name, *_ in _drawn(equal)]
    with pytest.raises(ValueError, match="equal round-trip times"):
        equal.plot.round_trips()


def test_transfers_of_varying_sizes_have_times_by_size_class() -> None:
    compared = compare(["drop_tail"], "examples/web.toml", 1, overrides=[("duration", "10 s")])
    (run,) = compared.runs[0]
    table = aqmlab.run(compared.scenario).series("transfers")
    table["duration_s"] = table["duration_s"].fillna(10 - table["start_s"])
    for name, above, at_most in (("small", 0, 1e4), ("medium", 1e4, 1e5)):
        done, size = table["completed_s"].notna(), table["acked_bytes"]
        of_class = table[(size <= at_most) & ((size > above) | ~done)]
        assert of_class["completed_s"].notna().sum() >= 20
        for share, quantile in ((0.5, "median"), (0.95, "p95")):
            time_s, _ = time_quantile(
                of_class["duration_s"], of_class["completed_s"].notna(), share
            )
            assert run.measures[f"{quantile}_{name}_s@web"] == pytest.approx(time_s)
    names = [m.name for m in compared.measures]
    assert "p95_large_s@web" not in names, "too few transfers are larger than 100 kB"
    assert "p95_small_s@web" not in compared.primary
    fixed = compare(["drop_tail"], overrides=[("duration", "1 s")], replications=1)
    assert "p95_small_s@short" not in fixed.runs[0][0].measures


def test_each_group_of_flows_has_its_own_rows() -> None:
    compared = compare(["codel"], overrides=[("duration", "4 s")], replications=1)
    titles = [m.title for m in compared.measures]
    for title in (
        "goodput",
        "bulk: goodput",
        "short: goodput",
        "short: time, 99 %",
        "short: unfinished",
    ):
        assert title in titles
    assert "bulk: time, median" not in titles, "endless bulk flows have no completion time"
    parts = [compared.values(0, f"goodput_bps@{name}")[0] for name in ("bulk", "short")]
    (whole,) = compared.values(0, "goodput_bps")
    assert parts[0] < whole <= sum(parts), "the short transfers begin after the bulk flows"


def test_the_second_half_of_the_runs_excludes_the_start_up() -> None:
    changes = [("duration", "4 s")]
    compared = compare(["drop_tail", "codel"], overrides=changes, replications=2)
    late = compare(["drop_tail", "codel"], overrides=changes, replications=2, warm_up="2 s")
    assert late.second_half is None
    assert compared.second_half
    assert compared.second_half.values(1, "goodput_bps") == late.values(1, "goodput_bps")
    assert (
        compared.as_dict()["second_half"][1]["measures"]["p95_delay_s"]
        == (late.as_dict()["queues"][1]["measures"]["p95_delay_s"])
    )


def test_ecn_is_enabled_only_in_flows_that_do_not_use_ecn(scenario: Path) -> None:
    base = json.loads(scenario.read_text()) | {"tcp": {"stack": "linux"}}
    base["flows"] = [
        base["flows"][0] | {"name": f"{control}{{i}}", "tcp": {"congestion": control}}
        for control in ("cubic", "prague", "dctcp")
    ]
    compared = compare(["dualpi2"], base, 1, ecn=True)
    flows = Network.of(normalize(compared.scenario)).flows
    assert [flow.ecn for flow in flows[::2]] == ["rfc3168", "accurate", "dctcp"]


def test_requests_and_calls_have_measures(scenario: Path) -> None:
    """A ping beside downloads has request times, and a call has delay, loss and a quality."""
    base = json.loads(scenario.read_text()) | {"duration": "8 s"}
    path = {"from": "left-0", "to": "right-1"}
    base["flows"][0]["traffic"] = "bulk"
    base["flows"] += [path | {"name": "ping", "traffic": {"kind": "ping"}},
                      path | {"name": "call", "traffic": "voip"}]  # fmt: skip
    compared = compare(["drop_tail", "codel"], base, 2)
    assert "p95_request_s@ping" in compared.primary
    exchanges, datagrams = (
        aqmlab.run(json.loads(normalize(compared.scenario))).series(name)
        for name in ("exchanges", "datagrams")
    )
    first = compared.runs[0][0].measures
    assert first["median_request_s@ping"] == exchanges["median_duration_s"][0]
    assert first["responsiveness_rpm@ping"] == exchanges["responsiveness_rpm"][0]
    assert (
        first["datagram_loss@call"] == datagrams["lost_packets"][0] / datagrams["sent_packets"][0]
    )
    assert first["p99_one_way_s@call"] == datagrams["p99_delay_s"][0]
    assert compared.difference(1, "responsiveness_rpm@ping").middle > 0


@given(st.floats(0, 2), st.floats(0, 1), st.floats(0, 0.5), st.floats(0, 0.5))
def test_the_voice_quality_falls_with_delay_and_loss(
    delay_s: float, lost: float, later_s: float, more: float
) -> None:
    score = opinion_score(delay_s, lost)
    assert 1 <= opinion_score(delay_s + later_s, min(1, lost + more)) <= score + 1e-12
    assert score <= opinion_score(0, 0) == pytest.approx(4.43, abs=0.01)


@pytest.mark.parametrize(
    ("rating", "score"), [(90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58)]
)
def test_scores_of_ratings_are_those_of_g_107(rating: float, score: float) -> None:
    # Table B.1 of ITU-T G.107. Its value 4.03 is not the rounded result of its formula, 4.024.
    assert score_of_rating(rating) == pytest.approx(score, abs=0.007)


def test_the_bounds_of_the_score_are_those_of_g_107() -> None:
    assert [score_of_rating(rating) for rating in (-10, 0, 3, 100, 120)] == [1, 1, 1, 4.5, 4.5]


@pytest.mark.parametrize(("lost", "impairment"), [(0.01, 5), (0.05, 15), (0.2, 45)])
def test_the_impairment_of_random_losses_is_near_that_of_g_113(
    lost: float, impairment: float
) -> None:
    # ITU-T G.113 Appendix I (1999): G.711 with packet loss concealment, random losses.
    rating = 94.2 - impairment
    assert opinion_score(0, lost) == pytest.approx(score_of_rating(rating), abs=0.2)


def test_the_measures_of_option_measure_are_primary(
    scenario: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compared = compare(["codel"], scenario, 1, measure=["p99_delay_s", "flows.timeouts.sum"])
    assert compared.primary == ("p99_delay_s", "flows.timeouts.sum")
    timeouts = aqmlab.run(json.loads(normalize(compared.scenario))).flows["timeouts"].sum()
    assert compared.values(0, "flows.timeouts.sum") == [timeouts]
    sampled = compare(["codel"], scenario, 1, measure=["rtt.srtt_s.mean"])
    assert 0.04 < sampled.values(0, "rtt.srtt_s.mean")[0] < 1, "the series rtt was not recorded"
    assert execute(["compare", "codel", "--measure", "dealy"]) == 2
    error = capsys.readouterr().err
    assert "--measure 'dealy' is not a measure; choose from goodput_bps, jain" in error


def test_the_goodput_of_finished_transfers_excludes_the_time_after_them(
    scenario: Path,
) -> None:
    """Goodput excludes the time after the last transfer, which is most of the run."""
    base = json.loads(scenario.read_text()) | {"duration": "20 s"}
    base["flows"] += [{"name": "one", "from": "left-0", "to": "right-1",
                       "traffic": {"kind": "bulk", "size": "100 kB"}}]  # fmt: skip
    red = {"kind": "red", "minth": "2 packets", "maxth": "4 packets", "wq": 0.1}
    compared = compare(["drop_tail", red], base, 2)
    queues: list[dict[str, object]] = [{"kind": "drop_tail"}, red]
    for arm, queue in enumerate(queues):
        base["network"]["queue"] = queue | {"limit": "16 packets"}
        for at in (0, 1):
            flows = aqmlab.run(base, base["seed"] + at).flows.set_index("flow")
            assert flows["completed_s"].max() < 7
            running_s = flows["completed_s"].max() - flows["start_s"].min()
            goodput = 8 * flows["acked_bytes"].sum() / running_s
            assert compared.values(arm, "goodput_bps")[at] == pytest.approx(goodput)
            alone = flows.loc["one", "goodput_bps"]
            assert compared.values(arm, "goodput_bps@one")[at] == pytest.approx(alone)
    assert compared.values(0, "goodput_bps@one") != compared.values(1, "goodput_bps@one")
    goodputs = list(MeasuredRun.of_result(aqmlab.run(base)).goodputs().values())
    assert goodputs == pytest.approx(list(aqmlab.run(base).flows["goodput_bps"]))


def test_names_of_queues_may_have_markup_characters(
    scenario: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ["[/red]", "_$x^{y$", "<script>"]
    queues = [f"{name}={queue}" for name, queue in zip(names, QUEUES, strict=True)]
    args = ["compare", *queues, "--scenario", str(scenario), "--replications", "2"]
    assert execute([*args, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in names)
    assert "<script>" not in (tmp_path / "out" / "report.html").read_text("utf-8")


def test_a_comparison_accepts_names_of_queues(scenario: Path) -> None:
    gentle = aqmlab.Red(minth="4 packets", maxth="12 packets")
    by_name = compare({"gentle": gentle, "plain": "drop_tail"}, scenario, 1)
    assert [arm.label for arm in by_name.arms] == ["gentle", "plain"]
    written = compare(["gentle=red:minth=4 packets,maxth=12 packets"], scenario, 1)
    assert written.arms[0].label == "gentle"
    assert written.runs[0][0].measures == pytest.approx(
        by_name.runs[0][0].measures, nan_ok=True, rel=0
    )


def test_a_queue_in_python_is_compared_after_the_warm_up(scenario: Path) -> None:
    class Passing(aqmlab.CustomQueue):
        def on_arrival(self, packet: aqmlab.Packet, at: aqmlab.Arrival) -> aqmlab.Verdict:  # noqa: ARG002
            return aqmlab.PASS

    compared = compare({"passing": Passing(), "drop_tail": "drop_tail"}, scenario, 2, warm_up="1 s")
    assert compared.is_identical(1)


def test_a_comparison_and_its_measures_can_be_pickled(scenario: Path) -> None:
    """Comparisons and measures can be pickled, so that a process of a pool can return them."""
    compared = compare(["drop_tail", "codel"], scenario, 1)
    copied = pickle.loads(pickle.dumps(compared))
    assert copied.as_dict() == compared.as_dict()
    series = {"record": {"series": ["delays"]}}
    seen = MeasuredRun.of_result(aqmlab.run(json.loads(scenario.read_text()) | series))
    columns = [column("flows.goodput_bps.p50"), column("links.busy_s[left>right]")]
    for measure in [*measures(["left>right"], seen.crossing), *columns]:
        copy = pickle.loads(pickle.dumps(measure))
        assert (copy.name, copy.of(seen)) == (measure.name, measure.of(seen))
