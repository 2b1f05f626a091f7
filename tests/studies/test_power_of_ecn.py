"""Tests of the study power-of-ecn: scenarios, reduced runs, claims and quick form."""

import csv
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from aqmlab import studies, traffic
from aqmlab.command import execute
from aqmlab.engine import Simulator
from aqmlab.experiment import run_many
from aqmlab.results import Result
from aqmlab.scenario import normalize, with_keys
from aqmlab.statistics import time_quantile
from aqmlab.studies.framework import Runs
from aqmlab.studies.framework.stored_verdicts import read_verdicts
from aqmlab.studies.framework.verdicts import (
    ABSENT,
    CONTRADICTED,
    NOT_TESTABLE,
    OPEN,
    REPRODUCED,
)
from aqmlab.studies.power_of_ecn import (
    calibration,
    deployment,
    readings,
    rfc5562,
    testbed,
    today,
    variants,
)
from aqmlab.studies.power_of_ecn.claims import CLAIMS
from aqmlab.studies.power_of_ecn.mixes import CAPPED, SIGMA, share_below, sizes
from aqmlab.studies.power_of_ecn.model import Alike, Mixed, Waited
from aqmlab.studies.power_of_ecn.outcomes import EDGES, Outcome, Responses, reduce
from aqmlab.studies.power_of_ecn.scenarios import (
    AS_READ,
    CLIENTS,
    NAMED,
    WARM_UP_S,
    Setting,
    queue,
    scenario,
)
from aqmlab.studies.power_of_ecn.users import BROWSERS
from aqmlab.studies.power_of_ecn.words import (
    ECN,
    ECN_PLUS,
    ENDS,
    EXPONENTIAL,
    GENERAL,
    LIGHT,
    LOGNORMAL,
    OFF,
    PERSISTENT,
    PI,
    RED,
    RED_STAR,
    SMALL,
    UNCONGESTED,
    WEB,
)
from aqmlab.traffic import distribution

STUDY = studies.load("power-of-ecn")
MARKS = readings.MARKED
PARAMETERS = CLAIMS.path.parent / "parameters.csv"


def printed(name: str) -> float:
    """Return the published value of a parameter of the paper."""
    with PARAMETERS.open(encoding="utf-8", newline="") as file:
        (text,) = {row["value"] for row in csv.DictReader(file) if row["name"] == name}
    return float(text)


def test_scenarios_have_the_parameters_of_the_paper() -> None:
    read = json.loads(normalize(Setting(PI, ECN_PLUS, LIGHT).scenario(0)))
    network = read["network"]
    assert network["rate"] == "100 Mbit/s"
    assert network["queue"]["qref"] == f"{printed('pi_queue_reference'):g} B"
    delays = [float(network["right_delay"][k].split()[0]) for k in ("first", "last")]
    rtts = [2e-3 * (d + 1 + 0.5) for d in delays]
    assert rtts == pytest.approx([printed("rtt_min"), printed("rtt_max")])
    users: dict[str, int] = {}
    for flow in read["flows"]:
        window = flow["tcp"]["receive_window"]
        users[window] = users.get(window, 0) + flow["count"]
    shares = [n / sum(users.values()) for n in users.values()]
    assert shares == pytest.approx(
        [printed(f"advertised_window_{w}k_fraction") for w in (8, 16, 64)], abs=0.002
    )
    assert read["tcp"]["rto"]["initial"] == f"{printed('syn_timeout_initial'):g} s"
    free = json.loads(normalize(Setting(UNCONGESTED, OFF, LIGHT).scenario(0)))
    assert free["network"]["rate"] == "1 Gbit/s"
    red, star = (queue(scheme) for scheme in (RED, RED_STAR))
    assert not red["gentle"]
    assert (red["above_maxth"], star["above_maxth"]) == ("drop", "mark")


def means(mix: str) -> tuple[float, float]:
    """Return the mean sizes in bytes of body and tail of a mix, computed from quantiles."""
    from scipy import stats

    body, tail = (part["of"] for part in sizes(mix)["parts"])
    u = (np.arange(2_000_000) + 0.5) / 2_000_000
    mean, smallest, largest = (float(body[k].split()[0]) for k in ("mean", "min", "max"))
    normal = stats.norm(np.log(mean) - body["sigma"] ** 2 / 2, body["sigma"])
    low, high = normal.cdf(np.log([smallest, largest]))
    small = np.exp(normal.ppf(low + u[::20] * (high - low)))
    first, a = float(tail["min"].split()[0]), tail["shape"]
    large = first * (1 - u * (1 - (first / 1e9) ** a)) ** (-1 / a)
    assert small.max() < large.min()
    return float(small.mean()), float(large.mean())


@pytest.mark.parametrize(("mix", "share"), [(WEB, 0.8), (GENERAL, 0.9)])
def test_sizes_have_the_printed_mean_and_share_of_the_tail(mix: str, share: float) -> None:
    small, large = means(mix)
    mean = 0.85 * small + 0.15 * large
    assert 0.15 * large / mean == pytest.approx(share, abs=0.01)
    if mix == WEB:
        assert mean == pytest.approx(printed("file_size_mean"), rel=0.02)


def request_digest(result: Result, *, first: bool = False) -> str:
    """Return the SHA-256 of flow, connection, time and sizes of all requests of a run.

    If `first` is true, the digest covers only the first request of each connection, because the
    times of later requests depend on the responses.
    """
    columns = result.columns("requests")
    flow = np.array(columns["flow"])
    keys = ("connection", "start_s", "request_bytes", "response_bytes")
    connection, start, *sizes = (np.asarray(columns[key]) for key in keys)
    order = np.lexsort((start, connection, flow))
    if first:
        flows, connections = flow[order], connection[order]
        order = order[
            np.r_[True, (flows[1:] != flows[:-1]) | (connections[1:] != connections[:-1])]
        ]
    assert len(order) > 500
    digest = hashlib.sha256("\n".join(flow[order]).encode())
    for column in (connection, start, *sizes):
        digest.update(column[order].tobytes())
    return digest.hexdigest()


def syn_acks_lost(result: Result) -> int:
    """Return the number of dropped SYN-ACKs."""
    drops = result.columns("drops")
    return int((np.asarray(drops["syn"]) & np.asarray(drops["reply"])).sum())


def test_every_arm_has_the_same_requests() -> None:
    """Users send the same requests with every queue, ECN mode and link rate."""
    free = Setting(UNCONGESTED, OFF, PERSISTENT, seconds=3)
    schemes = (*(name for name in NAMED if name != UNCONGESTED), *today.QUEUES)
    arms = [replace(free, scheme=scheme, ends=ends) for scheme in schemes for ends in ENDS]
    arms += [replace(free, scheme=RED_STAR, ends=ends) for ends in variants.ENDS]
    arms += [replace(free, scheme=RED_STAR, ends=ECN_PLUS, share=n) for n in deployment.SHARES]
    every = dict.fromkeys((*arms, free))
    arms_by_digest: dict[str, list[str]] = {}
    lost: dict[tuple[str, str, str], int] = {}
    for rate in ("100 Mbit/s", "25 Mbit/s"):
        scenarios = [at.scenario(0) | {"duration": "12 s", "warm_up": "0 s"} for at in every]
        for one, at in zip(scenarios, every, strict=True):
            if at != free:
                one["network"]["rate"] = rate
        for at, result in zip(every, run_many(scenarios), strict=True):
            arms_by_digest.setdefault(request_digest(result), []).append(
                f"{at.scheme}, {at.ends}, {rate}"
            )
            lost[at.scheme, at.ends, rate] = syn_acks_lost(result)
    assert len(arms_by_digest) == 1, arms_by_digest
    assert lost[RED_STAR, OFF, "25 Mbit/s"] > 1000
    assert lost[RED_STAR, ECN_PLUS, "25 Mbit/s"] < lost[RED_STAR, OFF, "25 Mbit/s"] / 2


def test_the_open_loop_of_the_testbed_requests_the_same_pages() -> None:
    first = {"duration": "30 s", "warm_up": "0 s"}
    arms = [at.scenario(0) | first for at in testbed.OPEN.values()]
    runs = run_many(arms)
    assert len({request_digest(result, first=True) for result in runs}) == 1
    assert syn_acks_lost(runs[0]) > 10


def test_the_number_of_users_follows_from_the_load() -> None:
    """From a run with many users, the calibration computes how many users have the wanted load."""
    result = calibration.run(WEB, 0, seconds=10)
    carried = calibration.carried(WEB, 0, 10)
    few, many = (calibration.users(result, carried, load, 10) for load in (50, 100))
    assert 1.6 < many / few < 2.4
    at = Setting(UNCONGESTED, OFF, LIGHT, seconds=10)
    (ran,) = run_many([scenario(at, 0, many)])
    assert reduce(ran).throughput == pytest.approx(1, abs=0.05)


def test_the_number_of_browsers_follows_from_the_offered_throughput() -> None:
    """Over the uncongested network, the calibrated browsers receive the 15 Mbit/s of the paper."""
    assert calibration.browsers(0) == BROWSERS[0]
    (ran,) = run_many([testbed.FREE.scenario(0)])
    offered = 100 * testbed.OFFERED_BPS / testbed.CONGESTED_BPS
    assert testbed.share(reduce(ran)) == pytest.approx(offered, abs=2)


def test_lognormal_sizes_have_the_share_of_bytes_of_the_closed_form() -> None:
    """Small lognormal objects have the share of bytes that the partial expectation gives."""
    mean = distribution("size", sizes(LOGNORMAL)).mean
    assert mean == pytest.approx(7200)
    largest = norm.ppf(0.85)
    assert norm.cdf(SIGMA - largest) == pytest.approx(0.8, abs=0.001)
    for limit in (10_000, 100_000):
        at = (np.log(limit / mean) + SIGMA**2 / 2) / SIGMA - SIGMA
        assert share_below(LOGNORMAL, limit) == pytest.approx(100 * norm.cdf(at), abs=0.1)
    assert share_below(CAPPED, 1_000_000) == pytest.approx(100, abs=1e-6)


def test_response_times_include_unfinished_requests() -> None:
    random = np.random.default_rng(1)
    times, ends = random.exponential(1, 5000), random.exponential(3, 5000)
    responses = Responses.of(np.minimum(times, ends), times <= ends)
    assert responses.number == 5000
    for x in (0.5, 1.0, 2.0):
        assert responses.within(x) == pytest.approx(1 - np.exp(-x), abs=0.02)
    median, known = time_quantile(np.minimum(times, ends), times <= ends, 0.5)
    assert known
    assert abs(np.interp(0.5, responses.cdf(), EDGES) - median) < 0.02
    both = responses + responses
    assert both.number == 10_000
    assert both.profile() == pytest.approx(responses.profile(), abs=1e-3)


@pytest.fixture(scope="module")
def run() -> Result:
    """Return a run with persistent congestion, in which half of the clients use ECN."""
    (result,) = run_many([Setting(RED_STAR, ECN, PERSISTENT, seconds=10, share=10).scenario(0)])
    return result


@pytest.fixture(scope="module")
def mixed(run: Result) -> Outcome:
    """Return the measures that the study stores of the run with persistent congestion."""
    return reduce(run)


def test_a_run_is_reduced_to_the_time_after_its_warm_up(run: Result, mixed: Outcome) -> None:
    result, of, late = run, mixed, run.table("requests")
    assert late["start_s"].min() >= WARM_UP_S
    assert of.all.number == len(late)
    assert of.served == late["completed_s"].notna().sum()
    seen = late[late["start_s"] < result.manifest["simulated_s"] - 0.5]
    assert of.all.within(0.5) == pytest.approx((seen["duration_s"] <= 0.5).mean(), abs=0.005)
    drops = result.table("drops")
    assert drops["time_s"].min() >= WARM_UP_S
    drops = drops[drops["link"] == "left>right"]
    lost = drops[(drops["syn"] == 1) & (drops["reply"] == 1)]
    assert of.syn_ack_drops == len(lost)
    assert of.data_drops == len(drops) - len(lost)
    assert of.empty_drops == (drops["bytes"] == 0).sum() - len(lost)
    links = run.table("links").set_index("link").loc["left>right"]
    assert of.arrivals == pytest.approx(links["arrived_packets"], abs=1000)
    assert 0.9 < of.throughput <= 1.01
    assert of.kinds["ecn"].number + of.kinds["plain"].number == of.all.number
    assert 0.45 < of.kinds["ecn"].number / of.all.number < 0.55


def text_of(at: Setting) -> str:
    """Return the scenario of a setting as a text; settings with equal texts share one run."""
    return normalize(at.scenario(0) | {"title": ""})


def test_without_ecn_the_response_to_marks_changes_no_result() -> None:
    """Without ECN, RED and RED* have equal results, for every response of the hosts to marks."""
    assert text_of(Setting(RED, OFF, LIGHT)) == text_of(Setting(RED_STAR, OFF, LIGHT))
    unmarked = replace(readings.setting(RED_STAR, OFF, MARKS), seconds=10).scenario(0)
    scenarios = [unmarked, unmarked | {"tcp": with_keys(unmarked["tcp"], dict(MARKS.tcp))}]
    scenarios += [unmarked | {"network": unmarked["network"] | {"queue": queue(RED_STAR)}}]
    assert len({normalize(one) for one in scenarios}) == 3
    runs = run_many([one | {"duration": "20 s", "warm_up": "0 s"} for one in scenarios])
    for table in runs[0].tables:
        first, *others = (run.table(table) for run in runs)
        assert all(first.equals(other) for other in others), table
    assert len(runs[0].table("drops")) > 100


def test_settings_have_different_scenarios_except_those_without_marks() -> None:
    every = [
        *(readings.setting(s, e, r, mix) for s, r, mix in readings.cases() for e in ENDS),
        *today.cases(),
        *variants.cases(),
        *(at for _, _, at in rfc5562.cases()),
    ]
    texts = {text_of(at) for at in every}
    marks_only = (readings.MARKED, readings.GOING_ON)
    unmarked = [at for at in every if at.ends == OFF and at.reading in marks_only]
    assert len(unmarked) == 2 * len(marks_only)
    assert len(texts) == len(set(every)) - len(unmarked)
    for at in unmarked:
        assert text_of(at) == text_of(replace(at, reading=AS_READ))
    linux = today.setting("codel", OFF, today.LINUX).scenario(0)
    assert linux["tcp"] == {"stack": "linux"}  # No TCP key of the paper's hosts remains.
    assert CLIENTS == 35


class Everywhere(Runs):
    """Substitute for `Runs` that returns one given result for every setting."""

    def __init__(self, outcome: Outcome) -> None:
        super().__init__(2, STUDY.reduce, Simulator())
        self.outcome = outcome

    def has(self, setting: Any) -> bool:  # noqa: ARG002
        """Return True for every setting."""
        return True

    def by_replication(self, setting: Any) -> Iterator[tuple[int, Outcome | Waited]]:
        """Yield a result for replications 0 and 1; results of the queueing model are invented."""
        waited = Waited((0.001, 0.01), (900.0, 100.0), 20.0, 30.0)
        of = waited if isinstance(setting, Alike | Mixed) else self.outcome
        yield from enumerate([of, of])


def test_every_claim_is_decided_and_every_item_has_tables(mixed: Outcome) -> None:
    """Even if all settings have equal results, claims have verdicts and items have tables."""
    runs = Everywhere(mixed)
    for item in STUDY.items:
        section = item.make(runs)
        assert section.tables
        assert all(np.isfinite(cell.ours.value) for cell in section.cells)
    decided = CLAIMS.decide(runs, [item.name for item in STUDY.items])
    verdicts = {claim.id: decision.verdict for claim, decision in decided}
    assert len(verdicts) == 49
    assert set(verdicts.values()) <= {REPRODUCED, CONTRADICTED, OPEN, NOT_TESTABLE}
    assert (
        verdicts["PE-040"] == CONTRADICTED
    )  # The claim needs a difference between two equal results.
    assert all(d.evidence for _, d in decided)


def compare_with_the_whole_study(folder: Path, text: str) -> dict[str, str]:
    """Return the verdicts of the quick form; assert that none contradicts the whole study."""
    with (folder / "claims.csv").open(encoding="utf-8", newline="") as file:
        now = {row["id"]: row["verdict"] for row in csv.DictReader(file)}
    whole = read_verdicts(STUDY.verdicts_path)
    for claim, verdict in now.items():
        if verdict not in (OPEN, ABSENT) and whole[claim] != OPEN:
            assert verdict == whole[claim], claim
    assert "verdicts are equal to those of the whole study" in text
    return now


def test_a_quick_reproduction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The quick form agrees with the whole study; in congestion, ECN+ has the fastest responses."""
    out = tmp_path / "study"
    chosen = ["--only", "figure-3", "model", "testbed"]
    assert execute(["reproduce", "power-of-ecn", "--quick", *chosen, "--out", str(out)]) == 0
    now = compare_with_the_whole_study(out, printed_text := capsys.readouterr().out)
    assert "quick form" in printed_text
    assert Counter(now.values()) == {CONTRADICTED: 12, REPRODUCED: 3, OPEN: 1}
    report = (out / "report.html").read_text("utf-8")
    assert not re.search(r"""(src|href)=["'](?!#)""", report)  # The page loads no other file.
    assert ">nan" not in report
    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["quantity"] == "mean_cdf_to_2_s"]
    profile = {(row["scheme"], row["ends"], row["load"]): float(row["ours"]) for row in rows}
    free = profile[UNCONGESTED, "no ECN", "105"]
    plus = profile[RED_STAR, "ECN+", "105"]
    assert free > plus > profile[RED_STAR, "ECN", "105"]
    assert plus > profile[RED_STAR, "no ECN", "105"]
    assert profile[RED_STAR, "ECN", "90"] > profile[RED_STAR, "ECN", "105"]


@pytest.mark.nightly
def test_the_quick_form_decides_as_the_whole_study(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "study"
    assert execute(["reproduce", "power-of-ecn", "--quick", "--out", str(out)]) == 0
    now = compare_with_the_whole_study(out, capsys.readouterr().out)
    counts = Counter(now.values())
    assert (counts[NOT_TESTABLE], counts[ABSENT], counts.total()) == (4, 1, 49)
    assert counts[REPRODUCED] + counts[CONTRADICTED] > counts[OPEN], (
        "the quick form leaves most claims open"
    )
    report = (out / "report.html").read_text("utf-8")
    assert all(text in report for text in (OPEN, ABSENT, "Whole study"))


def test_the_share_of_clients_with_ecn_is_that_of_the_setting() -> None:
    for share in deployment.SHARES:
        flows = deployment.setting(share).scenario(0)["flows"]
        capable = sum(f["count"] for f in flows if f["tcp"]["ecn"] != OFF)
        assert capable / sum(f["count"] for f in flows) == pytest.approx(share / 20, abs=0.003)


def test_the_link_of_rfc_5562_has_the_thresholds_of_ns_2() -> None:
    """RED of ns-2.35: minth is half of the packets of 500 B that the link sends in 5 ms."""
    network = rfc5562.PACKETS.at(ECN, 95).scenario(0)["network"]
    assert network["rate"] == "10000000 bit/s"
    assert network["queue"]["target_delay"] == "5 ms"
    minth = 0.005 * 10e6 / 8 / 500 / 2
    explicit = dict(rfc5562.NS2.queue)
    assert explicit["minth"] == f"{minth:g} packets"
    assert explicit["maxth"] == f"{3 * minth:g} packets"
    assert rfc5562.IN_BYTES.at(ECN, 95).scenario(0)["network"]["queue"]["chance_by"] == "bytes"
    assert list(rfc5562.LOADS) == [95, 110, 125, 150]


def test_small_objects_are_web_objects_scaled_to_3_kb() -> None:
    for limit in (7200, 72_000, 720_000):
        of_web = share_below(WEB, limit)
        assert share_below(SMALL, limit * 3 // 7.2) == pytest.approx(of_web, abs=0.5)
    assert distribution("size", sizes(EXPONENTIAL)).mean == pytest.approx(3000)


def test_the_users_of_rfc_5562_offer_the_load() -> None:
    loads = [(SMALL, 95), (SMALL, 150), (EXPONENTIAL, 90)]
    free = [Setting(UNCONGESTED, OFF, load, mix, seconds=60) for mix, load in loads]
    for (_, load), result in zip(loads, run_many([at.scenario(0) for at in free]), strict=True):
        assert testbed.share(reduce(result)) == pytest.approx(load, abs=2)


def test_red_star_drops_packets_without_data_in_the_tables_of_rfc_5562() -> None:
    """With RED*, ECN+ has more drops than ECN, but no dropped packet has data."""
    (case,) = (one for one in rfc5562.FURTHER if one.name == f"RED*, {rfc5562.SHORT}")
    ecn, plus = (
        reduce(result)
        for result in run_many([case.at(ends, 95).scenario(0) for ends in (ECN, rfc5562.PLUS)])
    )
    assert plus.drops / plus.arrivals > 1.3 * ecn.drops / ecn.arrivals
    assert plus.data_drops == plus.empty_drops > 10_000
    assert plus.syn_ack_drops < 0.01 * ecn.syn_ack_drops
    assert plus.all.within(2.0) > ecn.all.within(2.0)


def test_browsers_of_the_testbed_have_the_page_gaps_of_tpc_w() -> None:
    preset = json.loads(normalize(traffic.of_preset("tpc-w")))["flows"][0]["traffic"]
    (own,) = testbed.FREE.scenario(0)["flows"]
    for key in ("mean", "kind"):
        assert preset["page_gap"][key] == own["traffic"]["page_gap"][key]
    for key in ("page_gap_from", "request", "connections"):
        assert preset[key] == own["traffic"][key]


def test_the_presets_are_the_traffic_of_the_study() -> None:
    for mix, preset in ((WEB, "power-of-ecn"), (GENERAL, "general-mix")):
        scenario_of_study = Setting(RED, OFF, LIGHT, mix, seconds=10).scenario(0)
        of_study = [json.loads(normalize(scenario_of_study))["flows"][0]["traffic"]]
        scenario_of_study["flows"][0]["traffic"] = {
            "kind": "web",
            "preset": preset,
            "page_gap_from": "start",
        }
        of_preset = [json.loads(normalize(scenario_of_study))["flows"][0]["traffic"]]
        of_preset[0]["preset"] = of_study[0]["preset"]
        assert of_preset == of_study
