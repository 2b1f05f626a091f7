"""Tests of the study red-wired-testbed: published data, scenarios and quick form."""

import csv
import json
import re
from pathlib import Path

import numpy as np
import pytest

from aqmlab import studies
from aqmlab.command import execute
from aqmlab.engine import Simulator
from aqmlab.experiment import run_many
from aqmlab.scenario import normalize
from aqmlab.studies.framework import Need, Runs
from aqmlab.studies.framework.verdicts import CONTRADICTED, OPEN, REPRODUCED, SINGLE_RUN
from aqmlab.studies.red_wired_testbed import beside, beyond, printed, readings, three_flows
from aqmlab.studies.red_wired_testbed.claims import CLAIMS
from aqmlab.studies.red_wired_testbed.memory import printed_first
from aqmlab.studies.red_wired_testbed.outcomes import THIRD, measure, reduce
from aqmlab.studies.red_wired_testbed.scenarios import (
    LONG,
    ONE_CLASS,
    RED,
    SHORT,
    TAIL_DROP,
    TWO_CLASS,
    Beside,
    Three,
)

STUDY = studies.load("red-wired-testbed")
PUBLISHED = CLAIMS.path.parent


def test_the_settings_are_those_of_the_published_tables() -> None:
    three = {three_flows.setting(r) for f in ("5_1", "5_4") for r in printed.rows(f"table{f}.csv")}
    assert len(three) == 17
    cases = [
        beside.setting(row)
        for file in ("table8_8.csv", "table8_9.csv", "table8_10.csv")
        for row in printed.rows(file)
    ]
    assert len(set(cases)) == len(cases) == 60
    for at, row in zip(cases, [r for f in beside.FILES.values() for r in printed.rows(f)],
                       strict=True):  # fmt: skip
        assert int(row["tcp_bytes_sent"]) == at.case.tcp_bytes
        assert int(row["udp_packets_sent"]) == at.case.cbr_packets


@pytest.mark.parametrize(
    ("file", "doubtful"),
    [("table8_3.csv", {"mean", "stdev"}), ("table8_6.csv", {"mean", "stdev", "min", "max"})],
)
def test_printed_statistics_follow_from_printed_replications(file: str, doubtful: set[str]) -> None:
    """The thesis's rule for quartiles gives the published quartiles of the published runs."""
    replications = {"table8_3.csv": "table8_2.csv", "table8_6.csv": "table8_5.csv"}[file]
    checked = 0
    for row in printed.rows(file):
        if row["statistic"] in doubtful:
            continue
        values = [
            float(r["elapsed_time_s"])
            for r in printed.rows(replications)
            if r["flow"] == row["flow"]
        ]
        ours = printed.estimate(row["statistic"], values).value
        assert ours == pytest.approx(float(row["elapsed_time_s"]), abs=0.0051)
        checked += 1
    assert checked >= 9


def test_the_first_printed_replication_retransmits_most() -> None:
    """In the first published replication, the hosts had no TCP metrics of an earlier connection."""
    for file in ("table8_1.csv", "table8_2.csv", "table8_5.csv"):
        first, others = printed_first(file)
        assert first > 2 * others


def test_scenarios_have_the_parameters_of_the_thesis() -> None:
    scenario = json.loads(normalize(Three(RED, 2.0).scenario(3)))
    rates = [link["rate"] for link in scenario["network"]["links"]]
    assert rates == ["100 Mbit/s", "10 Mbit/s", "10 Mbit/s"]
    (_, leaf) = scenario["network"]["links"][2]["queue"]["classes"]
    assert (leaf["queue"]["min"], leaf["queue"]["max"]) == ("5000 B", "18000 B")
    assert leaf["queue"]["limit"] == "20000 B"
    assert "initial_ssthresh" not in Three(RED, 2.0).scenario(0)["tcp"]["cwnd"]
    assert "initial_ssthresh" in Three(RED, 2.0).scenario(1)["tcp"]["cwnd"]
    two = json.loads(normalize(Beside(LONG, TAIL_DROP, TWO_CLASS, 1).scenario(0)))
    (_, cbr, tcp) = two["network"]["links"][2]["queue"]["classes"]
    assert cbr["match"]["protocol"] == "udp"
    assert (cbr["queue"]["limit"], tcp["queue"]["limit"]) == ("5000 B", "20000 B")


def test_a_run_is_reduced_to_the_printed_quantities() -> None:
    (result,) = run_many([Three(TAIL_DROP, 2.0).scenario(1)])
    run = reduce(result)
    flows = result.columns("flows")
    third = run.at(THIRD)
    assert third.elapsed_s == pytest.approx(flows["closed_s"][2] - flows["start_s"][2])
    assert 0 < third.handshake_s < third.elapsed_s
    assert 0 < third.acks.transmit_s < third.elapsed_s
    assert measure(THIRD, "throughput_bytes_per_s").of(run) == 46720 / third.elapsed_s
    for flow in run.transfers:
        assert flow.acks.triples <= flow.acks.duplicates / 3
        assert flow.resent_bytes <= 1448 * flow.resent
    # The link needs at least this time to send all segments, with the headers that HTB counts.
    assert run.at("slowest").closed_s > 8 * (437 * 52 + 630_720 - 1600) / 143_360


def test_every_figure_of_the_thesis_has_an_item() -> None:
    figures = [item.name for item in STUDY.items if item.name.startswith("figure")]
    assert figures == [f"figure-5-{i}" for i in range(1, 24)]


def test_each_setting_beyond_the_study_changes_one_parameter() -> None:
    three = Three(RED, 2.0, memory=False)
    plain = json.loads(normalize(three.scenario(3) | {"record": {"series": []}}))
    assert json.loads(normalize(beyond.Today(three).scenario(3))) == plain
    for queue in beyond.QUEUES:
        changed = json.loads(normalize(beyond.Today(three, queue).scenario(3)))
        (_, leaf) = changed["network"]["links"][2]["queue"]["classes"]
        assert leaf["queue"]["limit"] == "20000 B"
        assert (changed["tcp"]["ecn"]["mode"] == "rfc3168") == (queue == "RED with ECN")
    far = json.loads(normalize(beyond.Today(three, rtt_ms=50).scenario(3)))
    assert far["network"]["links"][0]["delay"] == "25.05 ms"
    large = json.loads(normalize(beyond.Today(three, scale=10).scenario(3)))
    assert [f["traffic"]["size"] for f in large["flows"]] == ["2920000 B", "2920000 B", "467200 B"]
    hosts = json.loads(normalize(beyond.Today(three, stack="linux").scenario(3)))
    assert hosts["tcp"]["congestion"]["kind"] == "cubic"


def test_a_larger_burst_of_htb_drops_more_cbr_packets() -> None:
    """With ACKs at once and bursts of 2400 B, the loss of test case 1 is that of the thesis."""
    base = Beside(LONG, TAIL_DROP, ONE_CLASS, 0)
    pair = (readings.BURST_2400, readings.AT_ONCE)
    scenarios = [base.scenario(1), readings.Under(base, pair).scenario(1)]
    default, larger = (reduce(result) for result in run_many(scenarios))
    assert larger.cbr_received < 0.95 * default.cbr_received
    assert larger.tcp.elapsed_s < default.tcp.elapsed_s
    (row,) = (row for row in readings.LONG_ROWS if float(row["cbr_start_s"]) == 0)
    assert larger.cbr_received == pytest.approx(float(row["udp_received_median_packets"]), rel=0.05)


def test_readings_change_scenarios_and_pairs_change_two_settings() -> None:
    for name in readings.READINGS:
        for base in (Three(TAIL_DROP, 2.0), Beside(LONG, TAIL_DROP, ONE_CLASS, 0)):
            changed = readings.Under(base, (name,), recorded=True).scenario(1)
            assert normalize(changed) != normalize(base.scenario(1))
    assert set(readings.PAIRS) <= set(readings.EVERY_PAIR)
    settings = {reading.of for reading in readings.READINGS.values()}
    assert len(settings) < len(readings.READINGS)


def test_extremes_are_those_of_twenty_replications() -> None:
    values = [*range(20), *range(100, 120)]
    assert printed.estimate("min", values).value == 50
    assert printed.estimate("max", values).value == (19 + 119) / 2
    assert printed.estimate("min", [3, 1, 2]).value == 1


def test_a_short_transfer_whose_fin_was_sacked_needs_no_timeout() -> None:
    """The last segment carries the FIN, so the sender retransmits only the gap before it."""
    base = Beside(SHORT, TAIL_DROP, TWO_CLASS, 0.5)
    scenario = readings.Under(base, (readings.AT_ONCE,)).scenario(1)
    (outcome,) = map(reduce, run_many([scenario]))
    assert outcome.tcp.timeouts == 0
    assert outcome.tcp.bytes == SHORT.tcp_bytes


def test_delayed_acks_let_more_cbr_packets_into_the_queue() -> None:
    """A CBR packet enters a full queue after a departure, unless a TCP segment arrives first."""
    base = Beside(LONG, TAIL_DROP, ONE_CLASS, 0)
    exact, at_once = (
        readings.Under(base, (readings.NO_HYSTERESIS, *more)).scenario(1)
        for more in ((), (readings.AT_ONCE,))
    )
    late, early = (reduce(result).cbr_received for result in run_many([exact, at_once]))
    assert early < late < LONG.cbr_packets


def test_every_claim_is_decided() -> None:
    """Two replications of each setting are enough to give every claim a verdict."""
    runs = Runs(2, reduce, Simulator())
    for item in STUDY.items:
        if not item.name.startswith("figure"):
            runs.request(Need(need.setting, at_most=2, record=need.record) for need in item.needs())
    runs.run()
    decided = CLAIMS.decide(runs, [item.name for item in STUDY.items])
    assert len(decided) == 153
    verdicts = {claim.id: decision.verdict for claim, decision in decided}
    assert set(verdicts.values()) <= {REPRODUCED, SINGLE_RUN, CONTRADICTED, OPEN}
    assert all(decision.ours and decision.evidence for _, decision in decided)
    assert verdicts["RW-025"] == CONTRADICTED  # The claim is about twenty replications.
    assert verdicts["RW-095"] == REPRODUCED


def test_a_quick_reproduction(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "study"
    assert execute(["reproduce", "red-wired-testbed", "--quick", "--out", str(out)]) == 0
    assert "starts of 0, 2 and 5.5 s" in capsys.readouterr().out
    manifest = json.loads((out / "manifest.json").read_text("utf-8"))
    assert manifest["quick"]
    assert manifest["items"] == [item.name for item in STUDY.items]
    report = (out / "report.html").read_text("utf-8")
    assert not re.search(r"""(src|href)=["'](?!#)""", report)  # The page loads no other file.
    assert ">nan" not in report

    with (out / "cells.csv").open(encoding="utf-8", newline="") as file:
        cells = list(csv.DictReader(file))
    slow = [
        c for c in cells
        if c["item"] in ("table-5-1", "table-5-4") and c["flow"] == "slowest"
        and c["quantity"] == "elapsed" and c["statistic"] == "median"
    ]  # fmt: skip
    assert len(slow) == 7  # Each table has three starts, and Table 5-5 adds RED at 5 s.
    for c in slow:  # The simulated link has the rate of the testbed.
        assert float(c["ours"]) == pytest.approx(float(c["published"]), rel=0.03)
    two = [c for c in cells if c["classes"] == TWO_CLASS and c["quantity"] == "cbr_received"]
    assert two
    assert np.all([float(c["ours"]) == float(c["published"]) for c in two if c["published"]])
