"""Tests of the translation between tc and aqmlab: values, round trips, and errors with a caret."""

import json
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aqmlab import manual, tc
from aqmlab.command import execute
from aqmlab.comparison.queues import arm
from aqmlab.tc import LineError, red, units
from aqmlab.tc.form import normal
from aqmlab.tc.translation import OTHERS, QDISCS
from references.draws import Draws
from references.tc_red import TcRed

LARGEST = 2**32 - 1


def number(low: int, high: int, suffix: str = "") -> st.SearchStrategy[str]:
    return st.integers(low, high).map(lambda n: f"{n}{suffix}")


PACKETS = number(1, 100_000)
TIME = st.one_of(number(1, 500_000, "us"), number(1, 900, "ms"), number(1, 50_000))
SIZE = st.one_of(number(2000, 10**6), number(2, 900, "kb"), number(20, 900, "Kbit"))
RATE = st.one_of(number(8, 10**6, "kbit"), number(1, 900, "Mbit"), number(1, 99, "mbps"))
SHARE = st.floats(0.01, 0.5).map(repr)
BANDS = st.lists(number(0, 3), min_size=16, max_size=16).map(" ".join)

FLOWS = {"flows": number(1, 65_536), "quantum": number(1, 10**6)}
CODEL = {"limit": PACKETS, "target": TIME, "interval": TIME}
PIE = {"limit": PACKETS, "target": TIME, "tupdate": TIME, "alpha": number(1, 32),
       "beta": number(1, 32)}  # fmt: skip
RED = {"probability": SHARE, "bandwidth": number(1, 900, "Mbit")}
LINES: dict[str, tuple[str, dict[str, st.SearchStrategy[str]], list[str]]] = {
    "pfifo": ("", {"limit": PACKETS}, []),
    "bfifo": ("", {"limit": SIZE}, []),
    "pfifo_head_drop": ("", {"limit": PACKETS}, []),
    "pfifo_fast": ("", {}, []),
    "codel": ("", CODEL, ["ecn", "ecn ce_threshold 800us", "noecn"]),
    "fq_codel": ("", CODEL | FLOWS, ["noecn", "ce_threshold 1ms", "drop_batch 64"]),
    "pie": ("", PIE, ["ecn", "bytemode", "dq_rate_estimator", "ecn nobytemode"]),
    "fq_pie": ("", PIE | FLOWS | {"ecn_prob": number(1, 99)}, ["ecn", "nobytemode"]),
    "sfb": ("", {
        "limit": PACKETS, "max": number(1, 60_000), "target": number(1, 60_000),
        "increment": SHARE, "decrement": SHARE, "rehash": number(0, 10**6),
        "db": number(0, 10**5), "penalty_rate": number(0, 1000), "penalty_burst": number(0, 99),
    }, []),
    "sfq": ("", {
        "limit": number(2, 127), "perturb": number(0, 60), "quantum": SIZE,
        "divisor": st.integers(7, 16).map(lambda n: str(2**n)),
    }, []),
    "dualpi2": ("", {
        "limit": PACKETS, "target": TIME, "tupdate": TIME, "alpha": SHARE, "beta": SHARE,
        "coupling_factor": number(1, 255), "step_thresh": TIME, "min_qlen_step": number(0, 9),
        "classic_protection": number(0, 100, "%"),
    }, ["max_rtt 100ms", "typical_rtt 15ms", "l4s_ect"]),
    "cake": ("besteffort flowblind", {"rtt": number(100, 10**6), "memlimit": SIZE}, ["metro"]),
    "red": (
        "limit 1mb min 30000 max 90000 avpkt 1000",
        RED | {"burst": number(30, 500)},
        ["ecn", "harddrop", "ecn harddrop", "ecn harddrop adaptive", "adaptive"],
    ),
    "choke": (
        "limit 1000 bandwidth 10Mbit",
        RED | {"min": number(2, 40), "max": number(60, 999), "avpkt": number(100, 1500)},
        ["ecn"],
    ),
    "tbf": (
        "rate 1mbit burst 5kb", {}, ["limit 3000", "latency 70ms", "lat 50ms",
                                     "limit 9kb peakrate 2mbit mtu 1540"],
    ),
    "prio": ("bands 4", {"priomap": BANDS}, []),
    "ets": ("bands 4", {"priomap": BANDS, "quanta": number(1000, 9999)},
            ["strict 1", "strict 2", "strict 3"]),
}  # fmt: skip
"""Required options, options with values, and flags of each queue discipline."""


@st.composite
def lines(draw: st.DrawFn, name: str) -> str:
    """Draw a valid line of a queue discipline."""
    required, options, flags = LINES[name]
    names = draw(st.lists(st.sampled_from(sorted(options)), unique=True)) if options else []
    words = [name, required, *(f"{option} {draw(options[option])}" for option in names)]
    needs_flag = name == "tbf"
    chosen = draw(st.sampled_from(flags if needs_flag else ["", *flags]))
    return " ".join(filter(None, [*words, chosen]))


@pytest.mark.parametrize("name", LINES)
@settings(max_examples=12)
@given(data=st.data())
def test_a_translation_to_aqmlab_and_back_stands_for_the_same_queue(
    name: str, data: st.DataObject
) -> None:
    line = data.draw(lines(name))
    first = tc.read(line)
    back = tc.write(first.queue)
    again = tc.read("\n".join(back.commands))
    assert again.queue == first.queue
    assert tc.write(again.queue).commands == back.commands
    assert not [note for note in back.notes if "the commands" in note]


def test_at_least_fifteen_queue_disciplines_have_a_round_trip() -> None:
    assert len(LINES) >= 15
    assert {*LINES, "htb"} == set(tc.NAMES)


HTB = """tc qdisc add dev eth0 root handle 1: htb default 20 r2q 5
tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit burst 15k  # the whole link
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 2mbit ceil 10mbit prio 1 quantum 3000
tc qdisc add dev eth0 parent 1:20 handle 20: tbf rate 5mbit burst 10kb limit 30k
tc qdisc add dev eth0 parent 20:1 fq_codel limit 600"""


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        (HTB, ["htb", "tbf", "fq_codel"]),
        ("qdisc add root handle 1: prio; qdisc add parent 1:1 pie limit 9", ["priority", "tc_pie"]),
        ("qdisc add root handle a: ets strict 1 quanta 3000 priomap 1 1 1 1 1 1 0\nqdisc add "
         "parent a:2 handle b: sfq", ["priority", "drr", "sfq"]),
        ("tc qdisc add dev eth0 parent 1:1 handle 10: \\\n red limit 99999 avpkt 1000", ["tc_red"]),
    ],
)  # fmt: skip
def test_attached_queue_disciplines_are_queues_of_classes(text: str, kinds: list[str]) -> None:
    translated = tc.read(text)
    table = json.dumps(translated.queue)
    assert all(f'"kind": "{kind}"' in table for kind in kinds)
    back = tc.write(translated.queue)
    assert tc.read("\n".join(back.commands)).queue == translated.queue
    assert back.commands[0].startswith("tc qdisc add dev DEV root ")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("pfifo", "drop_tail:limit=1000 packets"),
        ("bfifo", "drop_tail:limit=1514000 B"),
        ("codel", "codel:limit=1000 packets,ecn=drop"),
        ("fq_codel", "fq_codel:ecn=mark"),
        ("fq_codel quantum 300 limit 0x100", "fq_codel:quantum=300 B,packet_limit=256 packets,"
                                             "ecn=mark"),
        ("fq_codel quantum 100", "fq_codel:quantum=256 B,ecn=mark"),
        ("pie", "tc_pie:limit=1000 packets,ecn=drop"),
        ("pie tupdate 30ms bytemode ecn", "tc_pie:t_update=30 ms,chance_by=size,limit=1000 packets,"
                                          "ecn=mark"),
        ("fq_pie", "fq_pie:rules=linux,ecn=drop"),
        ("fq_pie alpha 4 ecn_prob 20", "fq_pie:rules=linux,alpha=0.25,mark_below=0.2,ecn=drop"),
        ("sfb", "tc_sfb:limit=1000 packets,ecn=mark"),
        ("sfb target 40", "tc_sfb:target=40 packets,max=50 packets,limit=1000 packets,ecn=mark"),
        ("sfb max 30", "tc_sfb:target=24 packets,max=30 packets,limit=1000 packets,ecn=mark"),
        ("sfq", "sfq:quantum=1514 B,limit=127 packets,ecn=mark"),
        ("dualpi2", "dualpi2:alpha=0.16015625,beta=3.19921875,min_th=1 ms,range=0 s,"
                    "th_len=0 packets,sparing=linux,choice=random,classic_share=0.1,"
                    "limit=10000 packets,ecn=mark"),
        ("cake flowblind besteffort lan", "cobalt:target=50 us,interval=1 ms,mtu=1 B,"
                                          "first_signal=next-packet,limit=15503360 B,ecn=mark"),
        ("tbf rate 0.5mbit burst 5kb latency 70ms peakrate 1mbit minburst 1540",
         'tbf:rate=500 kbit/s,burst=5120 B,peak_rate=1 Mbit/s,mtu=1540 B,queue={"kind" = '
         '"drop_tail", "limit" = "9495 B"}'),
        ("red limit 400000 avpkt 1000 burst 60",
         "tc_red:min=33333 B,max=100000 B,burst=60 packets,limit=400000 B,ecn=drop"),
        ("red limit 400000 min 20000 avpkt 1000 ecn adaptive",
         "adaptive_red:minth=20000 B,maxth=60000 B,wq=0.0625,mean_packet_size=1000 B,maxp=0.02,"
         "gentle=false,above_maxth=mark,min_backlog=0 packets,limit=400000 B,ecn=mark"),
        ("choke limit 1000 bandwidth 10Mbit",
         "choke:minth=83 packets,maxth=250 packets,maxp=0.02,wq=0.015625,"
         "idle_packet_size=1000 B,limit=1000 packets,ecn=drop"),
    ],
)  # fmt: skip
def test_a_line_gets_the_defaults_of_tc_and_of_the_kernel(line: str, text: str) -> None:
    """The values are those of the manual pages, of tc/q_*.c and of net/sched/sch_*.c."""
    translated = tc.read(line)
    assert translated.text == text
    table = dict(arm(text).changes)
    assert normal({"kind": table.pop("kind")}, [*table.items()]) == translated.queue
    assert f'kind = "{translated.queue["kind"]}"' in translated.toml


@settings(max_examples=30)
@given(
    avpkt=st.integers(50, 1500), packets=st.integers(2, 100), more=st.integers(0, 300),
    width=st.integers(1, 10**6), probability=st.floats(0.001, 1),
    bandwidth=st.integers(10**5, 10**9),
)  # fmt: skip
def test_the_parameters_of_red_equal_those_of_the_reference(
    avpkt: int, packets: int, more: int, width: int, probability: float, bandwidth: int
) -> None:
    least, burst = avpkt * packets, packets + more
    log = red.wlog(least, burst, avpkt)
    if log is None:
        return
    reference = TcRed(
        Draws(1, "red"), 1, qmin=least, qmax=least + width, avpkt=avpkt, burst=burst,
        probability=probability, bandwidth=8 * bandwidth,
    )  # fmt: skip
    bits = red.plog(least, least + width, probability)
    assert bits is not None
    assert (log, 2**bits - 1) == (reference.wlog, reference.rmask)
    assert red.scell_log(log, avpkt, bandwidth) == reference.cell_log
    smallest = red.burst_of(log, least, avpkt)
    assert smallest is not None
    assert red.wlog(least, smallest, avpkt) == log
    assert smallest <= burst


@settings(max_examples=40)
@given(packets=st.integers(2, 60), more=st.integers(0, 60))
def test_wlog_is_the_smallest_that_fulfils_the_inequality_of_tc_red_8(
    packets: int, more: int
) -> None:
    """The test computes burst + 1 - min/avpkt <= (1 - (1 - W)^burst)/W in exact arithmetic."""
    burst = packets + more
    fulfilled = []
    for log in range(1, 14):
        w = Fraction(1, 2**log)
        fulfilled.append(burst + 1 - packets <= (1 - (1 - w) ** burst) / w)
    expected = fulfilled.index(True) + 1
    assert red.wlog(1000 * packets, burst, 1000) == expected


def test_the_parameters_of_red_equal_those_that_a_kernel_reports() -> None:
    """`tc -d qdisc show` of Linux 6.12.117 prints ewma 3, probability 0.1 and Scell_log 16."""
    line = "red limit 96000 min 15000 max 45000 avpkt 1000 burst 20 probability 0.1 bandwidth"
    assert tc.read(f"{line} 1500kbit").kernel == {"Wlog": 3, "Plog": 19, "Scell_log": 16}
    choke = tc.read("choke limit 1000 min 15 max 45 burst 20 probability 0.1 bandwidth 1500kbit")
    assert choke.kernel == {"Wlog": 3, "Plog": 19, "Scell_log": 16}
    assert choke.queue["wq"] == 1 / 8


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (units.read_size, "1.5k", 1536), (units.read_size, "2MB", 2 * 2**20),
        (units.read_size, "8kbit", 1024), (units.read_size, "1g", 2**30),
        (units.read_size, "1e3b", 1000), (units.read_size, "0.9", 0),
        (units.read_rate, "10Mbit", 1_250_000), (units.read_rate, "1MBps", 10**6),
        (units.read_rate, "8kibit", 1024), (units.read_rate, "1KiBps", 1024),
        (units.read_rate, "9", 1), (units.read_rate, "1tbit", None),
        (units.read_time, "1.5ms", 1500), (units.read_time, "2secs", 2 * 10**6),
        (units.read_time, "20", 20), (units.read_time, "5m", None),
        (units.read_count, "010", 8), (units.read_count, "0xff", 255),
        (units.read_count, "09", None), (units.read_count, "1k", None),
        (units.read_count, "-1", None), (units.read_count, "", None),
        (units.read_decimal, "010", 10), (units.read_size, "4g", None),
        (units.read_size, "inf", None), (units.read_size, "-1", None),
        (units.read_float, "1e999", None), (units.read_rate, "50%", None),
        (units.read_percent, "10%", 10), (units.read_percent, "101", None),
    ],
)  # fmt: skip
def test_numbers_and_units_are_those_of_tc(read: Any, text: str, expected: int | None) -> None:
    if expected is None:
        with pytest.raises(ValueError, match=r"write|must be"):
            read(text)
    else:
        assert read(text) == expected


MALFORMED = [
    ("red limit 400000 avpkt 1000 bandwdth 10Mbit", "bandwdth", "did you mean bandwidth?"),
    ("codle limit 5", "codle", "did you mean codel"),
    ("codel limit 5x", "5x", "whole number"),
    ("codel limit", "limit", "needs a value"),
    ("codel target 5min", "5min", "'min' is not a unit"),
    ("codel ce_threshold 1ms", "1ms", "add ecn"),
    ("fq_codel memory_limit 1Mb", "1Mb", "no limit of the memory"),
    ("fq_codel flows 70000", "70000", "at most 65536"),
    ("pie alpha 33", "33", "at most 32"),
    ("pie limit 4294967296", "4294967296", "at most 4294967295"),
    ("fq_pie bytemode", "bytemode", "only the mode"),
    ("red limit 400000", "red", "avpkt is missing"),
    ("red limit 400000 min 9000 max 9000 avpkt 1000", "9000", "must be below max"),
    ("red limit 400000 min 30000 max 90000 avpkt 1000 burst 20", "20", "burst from 30 on"),
    ("red limit 400000 avpkt 1000 nodrop", "nodrop", "drops the packets"),
    ("red limit 400000 avpkt 1000 qevent early_drop", "early_drop", "no qevents"),
    ("red limit 1gb min 30000 max 90000000 avpkt 1000 burst 60", "90000000", "kernel refuses"),
    ("choke limit 100", "choke", "bandwidth is missing"),
    ("choke limit 100 max 200 bandwidth 1mbit", "200", "at most the limit"),
    ("sfq limit 1000 depth 10", "10", "lower limit to 10"),
    ("sfq divisor 1000", "1000", "power of 2"),
    ("sfq headdrop", "headdrop", "last packet"),
    ("sfb increment 0.000001", "0.000001", "rounds this value to 0"),
    ("dualpi2 any_ect", "any_ect", "ECT(1)"),
    ("dualpi2 step_thresh 5p", "5p", "write a time"),
    ("dualpi2 max_rtt 1ms typical_rtt 2ms", "2ms", "at most max_rtt"),
    ("cake besteffort", "cake", "add flowblind"),
    ("cake besteffort flowblind bandwidth 1mbit", "1mbit", "no shaper"),
    ("tbf rate 1mbit burst 5k", "tbf", "limit or latency"),
    ("tbf rate 1mbit burst 5k/3 limit 9k", "5k/3", "power of 2"),
    ("tbf rate 10% burst 5k limit 9k", "10%", "share of a device"),
    ("tbf rate 2mbit burst 5k limit 9k peakrate 1mbit mtu 1500", "1mbit", "above the rate"),
    ("tbf rate 1mbit burst 5k limit 9k overhead 4", "4", "without further overhead"),
    ("prio bands 3 priomap 1 2 3", "3", "numbers below 3"),
    ("ets quanta 1000 0", "0", "above 0"),
    ("pfifo limit 0", "0", "at least 1 packet"),
    ("pfifo_fast limit 3", "limit", "has no options"),
    ("fq maxrate 1mbit", "fq", "do not pace"),
    ("qdisc del dev eth0 root", "del", "write add"),
    ("tc filter add", "filter", "does not read filters"),
    ("tc qdisc add dev eth0 root", None, "is missing after root"),
    ("tc qdisc add dev eth0 parent 1:z codel", "1:z", "not an identifier"),
    ("codel; pie", "pie", "second root"),
    ("qdisc add root handle 1: codel; qdisc add parent 1:1 pie", "1:1", "not a class of codel"),
    ("qdisc add root handle 1: prio; qdisc add parent 2:1 pie", "2:1", "handle 1:"),
    ("qdisc add parent 2: handle 1: prio; qdisc add parent 1: handle 2: prio", "2:", "the root"),
    ("qdisc add root handle 1: htb default 1", "htb", "0 leaf classes"),
    ("class add parent 1: classid 1:1 htb rate 1mbit", "htb", "before it"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "wrong", "problem"), MALFORMED)
def test_a_malformed_line_has_an_error_with_a_caret(
    line: str, wrong: str | None, problem: str
) -> None:
    with pytest.raises(LineError) as info:
        tc.read(line)
    assert problem in info.value.problem
    assert "\n" not in info.value.problem
    quoted, carets = info.value.quotation
    assert quoted in line
    under = quoted[len(carets) - carets.count("^") : len(carets)]
    assert under == (wrong or ""), f"{quoted}\n{carets}"
    assert str(info.value).endswith(f"\n    {quoted}\n    {carets}")


def test_each_other_queue_discipline_has_a_reason() -> None:
    assert not set(OTHERS) & set(tc.NAMES)
    for name in OTHERS:
        with pytest.raises(LineError, match=name):
            tc.read(name)


WORDS = [word for line, *_ in MALFORMED for word in line.split()] + [
    "handle", "1:", "parent", "classid", "1:1", ";", "\n", "#", "\\\n", "é", "\x1b[31m", "9" * 50,
    "1e999", "-1", "/", "0x", "٣", "priomap", "quanta", "strict", "harddrop", "ecn", "limit", "tc",
]  # fmt: skip


@given(st.lists(st.sampled_from(WORDS), max_size=14))
def test_any_words_are_a_queue_or_an_error_of_a_line(words: list[str]) -> None:
    try:
        translated = tc.read(" ".join(words))
    except LineError as e:
        shown = (e.problem != "", *map(str.isprintable, e.quotation))
    else:
        shown = (normal(translated.queue) == translated.queue,)
    assert all(shown)


def test_a_long_line_is_quoted_around_its_error() -> None:
    with pytest.raises(LineError) as info:
        tc.read("codel " + "ecn " * 1000 + "wrong " + "noecn " * 1000)
    quoted, carets = info.value.quotation
    assert len(quoted) < 100
    assert quoted[len(carets) - 5 : len(carets)] == "wrong"


def test_options_belong_to_keys_of_the_queue() -> None:
    pages = manual.pages()
    for qdisc in QDISCS:
        keys = {p.name for p in pages[qdisc.kind].parameters}
        if qdisc.name in ("red", "choke"):
            continue  # the options determine other keys
        assert {option.key for option in qdisc.options} - {""} <= keys, qdisc.name
        assert {*qdisc.fixed, *qdisc.unused} <= keys, qdisc.name


@pytest.mark.parametrize(
    ("queue", "command", "note"),
    [
        ("codel:", "codel limit 100 ecn", None),
        ("codel:root=exact", "codel limit 100 ecn", "root=exact: the commands stand for newton"),
        ("codel:ecn=drop,ce_threshold=1 ms", "codel limit 100", "ce_threshold=1 ms: the commands "
         "have no such value"),
        ("red:", "red limit 150000 min 7500 max 22500 avpkt 500 burst 91 probability 0.1 bandwidth "
         "10Mbit ecn harddrop", "gentle=true: the commands stand for false"),
        ("red:gentle=false,wq=0.03125,minth=30 kB,maxth=90 kB,idle_packet_size=1000 B",
         "red limit 150000 min 30000 max 90000 avpkt 1000 burst 45 probability 0.1 bandwidth "
         "10Mbit ecn harddrop", "limit=100 packets: the commands stand for 150000 B"),
        ("pie:alpha=0.13", "pie limit 100 ecn", "alpha=0.13: the commands stand for 0.125"),
        ("tc_pie:hz=250", "pie ecn", None),
        ("dualpi2:", "dualpi2 step_thresh 800us min_qlen_step 1 classic_protection 6%",
         "limit=250 ms: the commands stand for 10000 packets"),
        ("drop_tail:drop_from=random", "pfifo limit 100", "drop_from=random: the commands stand "
         "for tail"),
        ("sfq:", "sfq limit 100", "quantum: a flow sends 1514 B per turn instead of one packet"),
    ],
)  # fmt: skip
def test_keys_without_an_option_are_listed(
    queue: str, command: str, note: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["tc", queue, "--json"]) == 0
    forms = json.loads(capsys.readouterr().out)
    assert forms["tc"] == [f"tc qdisc add dev DEV root {command}"]
    if note:
        assert note in forms["notes"]
    else:
        assert not [n for n in forms["notes"] if "the commands" in n]


@pytest.mark.parametrize(
    ("queue", "problem"),
    [
        ("wred:", "precedences"),
        ("blue:", "tc has no such queue discipline"),
        ("adaptive_red:", "set minth, maxth and wq"),
        ("priority:classes=[{match={dscp='EF'}},{}]", "bits 1 and 2"),
        ("htb:classes=[{rate='1 Mbit/s'},{rate='1 Mbit/s',match={dscp='EF'}}]", "need filters"),
        ("red:limit=100 ms", "in bytes or in packets"),
        ("red:minth=100 B,maxth=1 kB,wq=1e-9", "for this maxth; raise wq"),
        ("codel:target=5", "target"),
        ("x=codle:", "did you mean codel"),
    ],
)
def test_a_queue_that_tc_lacks_is_an_error_of_one_line(
    queue: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert execute(["tc", queue]) == 2
    error = capsys.readouterr().err
    assert problem in error
    assert error.count("\n") == 1


def test_the_command_prints_all_forms_of_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    words = "red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn bandwidth 10Mbit"
    assert execute(["tc", *words.split()]) == 0
    printed = capsys.readouterr().out
    assert execute(["tc", f"tc:{words}"]) == 0
    assert capsys.readouterr().out == printed
    assert printed.splitlines() == [
        "tc_red:min=30000 B,max=90000 B,burst=55 packets,limit=400000 B,ecn=mark", "",
        "[network.queue]", 'kind = "tc_red"', 'min = "30000 B"', 'max = "90000 B"',
        'burst = "55 packets"', 'limit = "400000 B"', 'ecn = "mark"', "",
        "kernel: Wlog 5, Plog 22, Scell_log 15",
    ]  # fmt: skip


def test_the_command_prints_a_caret_below_the_wrong_word(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert execute(["tc", "codel limt 5"]) == 2
    assert capsys.readouterr().err.splitlines() == [
        "aqmlab: error: 'limt' is not an option of codel; did you mean limit?",
        "    codel limt 5",
        "          ^^^^",
    ]


def test_a_line_of_tc_is_a_queue_of_a_comparison() -> None:
    line = "tc:codel limit 500 target 10ms"
    queue = arm(line)
    assert (queue.label, queue.queue) == (line, line)
    changes = dict(queue.changes)
    assert (changes["target"], changes["limit"]) == ('"10 ms"', '"500 packets"')
    assert (changes["ecn"], changes["drop_from"], changes["mark_at"]) == (
        '"drop"',
        '"tail"',
        '"tail"',
    )
    named = arm("linux=tc:red limit 400000 avpkt 1000")
    assert (named.label, dict(named.changes)["kind"]) == ("linux", "tc_red")
    assert named.notes == ("bandwidth: tc assumes 10Mbit",)
    with pytest.raises(LineError) as info:
        arm("a=tc:codel limt 5")
    assert info.value.quotation[0] == "codel limt 5"


def test_the_weight_of_choke_follows_from_packets() -> None:
    """The product of min and avpkt is a number of bytes, so that Wlog depends only on packets."""
    small, large = (
        tc.read(f"choke limit 1000 min 30 max 90 burst 55 avpkt {size} bandwidth 1gbit").kernel
        for size in (500, 1500)
    )
    assert small["Wlog"] == large["Wlog"] == 5
    assert math.log2((90 - 30) * 500 / 0.02) < small["Plog"] < large["Plog"]
