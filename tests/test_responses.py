"""Tests of the response times of a run, and of the command `aqmlab responses`."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import aqmlab
from aqmlab.command.main import execute
from aqmlab.measures.responses import Responses
from aqmlab.statistics import share_within, time_quantile

LISTED = """user,connection,at_s,request_bytes,response_bytes
0,0,0.5,500,300
0,0,0.6,500,300
0,1,3,500,20000
0,2,9.9,500,9000000
"""


def scenario(folder: Path) -> dict[str, Any]:
    (folder / "list.csv").write_text(LISTED)
    return {
        "duration": "10 s",
        "network": {
            "kind": "dumbbell", "rate": "1 Mbit/s", "delay": "20 ms", "left_rate": "1 Gbit/s",
            "left_delay": "0 ms", "right_rate": "1 Gbit/s", "right_delay": "0 ms",
            "queue": {"kind": "drop_tail", "limit": "100 packets"},
        },
        "flows": [
            {"from": "right-0", "to": "left-0",
             "traffic": {"kind": "requests", "list": str(folder / "list.csv")}},
        ],
        "record": {"series": ["requests"]},
    }  # fmt: skip


def test_a_run_has_the_response_time_of_every_request(tmp_path: Path) -> None:
    every = Responses.of(aqmlab.run(scenario(tmp_path)))
    assert every.ended.tolist() == [True, True, True, False]
    assert every.times[3] == pytest.approx(0.1, abs=1e-9)
    # The response time of a connection's first request includes the handshake: two delays of 20 ms,
    # and two transmissions of 40 B.
    assert every.handshakes[[0, 2, 3]] == pytest.approx([0.0406] * 3, abs=1e-3)
    assert np.isnan(every.handshakes[1])
    assert every.slow_handshakes(1.0) == 0
    late = Responses.of(aqmlab.run(scenario(tmp_path) | {"warm_up": "1 s"}))
    assert late.times.tolist() == every.times[-2:].tolist()
    assert every.of_sizes(1e4, 1e5).sizes.tolist() == [20000]
    assert every.within([0, 100]).tolist() == [0, 1]


def test_a_lost_syn_ack_counts_as_a_timeout_of_both_endpoints(tmp_path: Path) -> None:
    lossy = scenario(tmp_path)
    lossy["network"]["impairments"] = [{"kind": "listed_loss", "packets": [1]}]
    every = Responses.of(aqmlab.run(lossy))
    assert every.handshakes[0] > 1
    assert every.slow_handshakes(1.0) == pytest.approx(1 / 3)
    assert every.timeouts[0].sum() >= 1
    assert every.timeouts[1].sum() == 0, "request 1 has a timeout of another request"


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=40))
def test_shares_and_quantiles_agree(transfers: list[tuple[int, bool]]) -> None:
    times, ended = [t for t, _ in transfers], [end for _, end in transfers]
    shares = share_within(times, ended, np.arange(22))
    assert (np.diff(shares) >= -1e-12).all()
    if all(ended):
        assert shares == pytest.approx([np.mean(np.array(times) <= t) for t in range(22)])
    for share in (0.25, 0.5, 0.9):
        time, known = time_quantile(times, ended, share)
        if known:
            assert shares[int(time)] >= share - 1e-9
            assert not time or shares[int(time) - 1] < share + 1e-9


def test_the_command_prints_a_table_and_draws_a_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, run = tmp_path / "some.json", tmp_path / "run"
    file.write_text(json.dumps(scenario(tmp_path)))
    aqmlab.run(file).write(run)
    figure = tmp_path / "figure.svg"
    assert execute(["responses", str(run), str(file), "--plot", str(figure)]) == 0
    printed = capsys.readouterr().out
    assert "up to 10 kB" in printed
    assert "requests answered within this time (%)" in figure.read_text()
    assert execute(["responses", str(run), "--replications", "2"]) == 2
    assert "is a finished run" in capsys.readouterr().err
    assert execute(["responses", str(file), "--plot", str(tmp_path / "x.txt")]) == 2
    assert "must end in one of" in capsys.readouterr().err


def test_the_command_refuses_traffic_without_requests_and_explains_an_empty_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, run = tmp_path / "some.json", tmp_path / "run"
    bulk = scenario(tmp_path)
    bulk["flows"][0]["traffic"] = {"kind": "bulk", "size": "10 kB"}
    file.write_text(json.dumps(bulk))
    aqmlab.run(file).write(run)
    for source in (file, run):
        assert execute(["responses", str(source)]) == 2
        assert capsys.readouterr().err.endswith(
            f"{source}: the traffic has no requests, because its kind is bulk; give a "
            "scenario with traffic of the kind ping, request_response, requests or web\n"
        )
    file.write_text(json.dumps(scenario(tmp_path)))
    assert execute(["responses", str(file), "--warm-up", "9.95 s"]) == 0
    assert "some has no row in the table, because no request began after" in capsys.readouterr().out
