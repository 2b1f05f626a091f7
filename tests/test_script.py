"""Tests of packet scripts: the command `aqmlab script`, its output and Python blocks."""

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aqmlab import ScenarioError, script
from aqmlab.assertions import SYMBOLS, Evaluator, FailedError, UnsupportedError, unsupported
from aqmlab.command import execute

PAGE = Path("docs/how-to/packet-scripts.md").read_text("utf-8")
REFUSING = "0 < S 0:0(0) win 1000\n+0 > R. 0:0(0) ack 1\n"
OPENING = "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0...1 connect(3, ..., ...) = 0\n"


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, "utf-8")
    return path


def test_the_example_of_the_guide_passes() -> None:
    (example,) = re.findall(r"```packet-script\n(.*?)```", PAGE, flags=re.DOTALL)
    outcome = script.run(example)
    assert outcome.verdict == "passed", script.describe(outcome)


def test_the_command_prints_each_verdict(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "a.pkt", REFUSING)
    write(tmp_path, "b.pkt", REFUSING.replace("ack 1", "ack 2"))
    (tmp_path / "c").mkdir()
    write(tmp_path / "c", "c.pkt", "0 splice(3, 4) = 0")
    write(tmp_path / "c", "d.pkt", "0 close(3")
    write(tmp_path / "c", "e.txt", "not a script")
    assert execute(["script", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"OK           {tmp_path}/a.pkt",
        f"FAIL         {tmp_path}/b.pkt:2: ack: 2 expected, 1 sent",
        "    expected  > R. 0:0(0) ack 2",
        "    happened  > R. 0:0(0) ack 1 win 0 at 0.000000 s",
        "    timeline  (seconds, line of the script)",
        "        0.000000     1  < S 0:0(0) win 1000",
        "        0.000000     2  > R. 0:0(0) ack 1 win 0",
        f"UNSUPPORTED  {tmp_path}/c/c.pkt:1: system call splice",
        f"FAIL         {tmp_path}/c/d.pkt:1:10: expected ',' or ')', found the end of the script",
        "4 scripts: 1 passed, 2 failed, 1 unsupported",
    ]


def test_the_command_succeeds_with_unsupported_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path, "a.pkt", REFUSING)
    b = write(tmp_path, "b.pkt", "0 splice(3, 4) = 0")
    assert execute(["script", str(a), str(b)]) == 0
    assert capsys.readouterr().out.endswith("2 scripts: 1 passed, 0 failed, 1 unsupported\n")


def test_the_command_prints_outcomes_as_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path, "a.pkt", REFUSING)
    assert execute(["script", "--json", str(a)]) == 0
    (outcome,) = json.loads(capsys.readouterr().out)
    assert (outcome["file"], outcome["verdict"], outcome["line"]) == (str(a), "passed", None)
    assert outcome["timeline"][1] == {"time_s": 0.0, "line": 2, "what": "> R. 0:0(0) ack 1 win 0"}


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["no.pkt"], ["no.pkt", "does not exist"]),
        (["tests/studies"], ["tests/studies", "has no scripts"]),
        (["{a}", "--stack", "bsd"], ["stack", "bsd", "rfc or linux"]),
        (["{a}", "--set", "mss"], ["--set is 'mss'", "tcp.congestion=reno"]),
        (
            ["{a}", "--set", "mss=1460"],
            ["--set is 'mss=1460'", "begin with tcp.", "--set tcp.mss=1460"],
        ),
        (["{a}", "--set", "tcp.mss=1460"], ["tcp.mss", "1460", "unit"]),
        (["{a}", "--set", "tcp.mmss='1 B'"], ["tcp.mmss", "did you mean mss"]),
        (["{a}", "--tolerance", "5"], ["tolerance", "unit"]),
        (["{a}", "-D", "SIZE"], ["-D is 'SIZE'", "SIZE=1000"]),
        (["{a}", "--define", "1=2"], ["-D '1'", "must begin with a letter", "NAME=value"]),
        (["{a}", "no.pkt"], ["no.pkt", "does not exist"]),
        ([], ["Missing argument"]),
    ],
)
def test_invalid_input_is_an_error(
    args: list[str], words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path, "a.pkt", REFUSING)
    assert execute(["script", *[arg.format(a=a) for arg in args]]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert all(word in err for word in words), err


def test_parameters_change_the_sent_segments() -> None:
    text = """
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 fcntl(3, F_SETFL, O_RDWR|O_NONBLOCK) = 0
+0 connect(3, ..., ...) = -1 EINPROGRESS (Operation now in progress)
+0 > S 0:0(0) <...>
+3 > S 0:0(0) <...>
"""
    assert script.run(text).verdict == "failed"
    assert script.run(text, changes=[("rto.initial", "'3 s'")]).verdict == "passed"
    assert script.run(text, changes=[("tcp.rto.initial", "3 s")]).verdict == "passed"
    late = text.replace("+3", "+3.1")
    assert script.run(late, changes=[("rto.initial", "3 s")]).verdict == "failed"
    changed = script.run(late, changes=[("rto.initial", "3 s")], tolerance="200 ms")
    assert changed.verdict == "passed"


def test_an_assertion_fails_at_its_line() -> None:
    text = OPENING + "+0 > S 0:0(0) <...>\n+.5 %{\nx = tcpi_snd_cwnd\nassert x == 9, 'x'\n}%\n"
    outcome = script.run(text)
    assert (outcome.verdict, outcome.line) == ("failed", 6)
    assert "assert x == 9 does not hold: x (x = 10)" in str(outcome.problem)
    outcome = script.run(text.replace("x == 9", "tcpi_new_field == 9"))
    assert (outcome.verdict, outcome.line) == ("unsupported", 6)
    assert "name tcpi_new_field" in str(outcome.problem)


def test_all_unsupported_features_are_listed_at_once() -> None:
    text = (
        "--strict_segments=1\n`tc qdisc add dev tun0 root netem`\n"
        "0 splice(3, 4) = 0\n0 < U. 1:1(0) ack 1 win 5 <md5 00>\n"
        "0 %{\nassert open('x')\nassert tcpi_magic == y\n}%\n0 %{ y = 1 }%\n"
    )
    outcome = script.run(text)
    assert (outcome.verdict, outcome.line) == ("unsupported", 1)
    assert outcome.problem == (
        "--strict_segments=1; line 2: command `tc qdisc add dev tun0 root netem`; "
        "line 3: system call splice; line 4: TCP option md5 00; urgent data; "
        "line 6: function open; line 7: name tcpi_magic"
    )


def test_a_failed_assertion_is_shown_among_the_events_around_it() -> None:
    text = (
        OPENING
        + "+0 > S 0:0(0) <...>\n+.1 < S. 0:0(0) ack 1 win 65535 <mss 1000>\n+0 > . 1:1(0) ack 1\n"
    )
    text = text.replace("+0...1 ", "+0...0.1 ")
    text += "".join(
        f"+.1 write(3, ..., 10) = 10\n+0 > P. {n}:{n + 10}(10) ack 1\n"
        f"+.01 < . 1:1(0) ack {n + 10} win 65535\n"
        for n in range(1, 100, 10)
    )
    lines = text.splitlines(keepends=True)
    lines.insert(20, "+0 %{\nassert tcpi_snd_cwnd == 10\nassert tcpi_snd_cwnd == 9\n}%\n")
    outcome = script.run("".join(lines))
    assert (outcome.verdict, outcome.line) == ("failed", 23)
    rows = script.describe(outcome).splitlines()[2:]
    numbers = [int(row.split()[1]) for row in rows]
    assert numbers == [17, 18, 19, 20, 21, 25, 26, 27, 28, 29]
    assert rows[4].endswith("%{ assert tcpi_snd_cwnd == 10 … }%   <- fails")
    assert sum("<- fails" in row for row in rows) == 1
    assert "> P. 41:51(10) ack 1" in rows[2]


def test_the_output_of_a_block_is_shown() -> None:
    outcome = script.run("0 %{ print('cwnd', 10) }%")
    assert outcome.printed == ("cwnd 10",)
    assert "printed   cwnd 10" in script.describe(outcome)


@pytest.mark.parametrize(
    "text",
    [
        " assert tcpi_snd_cwnd == 10, tcpi_snd_cwnd ",
        "\n    assert tcpi_snd_cwnd * 2 + 1 == 21\n    assert not tcpi_lost",
        "assert tcpi_options & TCPI_OPT_SACK\nassert tcpi_ca_state == TCP_CA_Open",
        "assert 5 < tcpi_snd_cwnd <= 10 and (tcpi_lost == 1 or tcpi_lost == 0)",
        "assert abs(tcpi_snd_cwnd - 9) <= 1",
        "if tcpi_lost:\n    assert False\nelse:\n    y = 1\nassert y == 1, 'lost %d' % tcpi_lost",
        "assert tcpi_snd_cwnd in (9, 10); assert (1 if tcpi_lost else 2) == 2; pass",
        "assert -1 < +1; assert ~0 == -1; assert 7 // 2 == 3; assert 2 ** 10 == 1 << 10",
        "x = 1\nx += tcpi_snd_cwnd; x -= 1; x *= 2; x //= 4; x |= 8; assert x == 13, x",
        "assert tcpi_snd_cwnd == 10;\\\n   assert tcpi_lost == 0;\\\n",
        " assert tcpi_snd_cwnd == 10 ;\\ ",
    ],
)
def test_a_block_with_true_assertions_passes(text: str) -> None:
    Evaluator().run(
        text, {"tcpi_snd_cwnd": 10, "tcpi_lost": 0, "tcpi_options": 7, "tcpi_ca_state": 0}
    )


@pytest.mark.parametrize(
    "text",
    [
        "assert 1 == 2",
        "assert 1 / 0",
        "assert (",
        "assert 'a' + 1",
        "assert min()",
        "assert 1 < 'a'",
        "x = 'a'; x += 1",
        "x = 2 ** 127; x *= 4",
    ],
)
def test_a_block_with_a_false_or_invalid_assertion_fails(text: str) -> None:
    with pytest.raises(FailedError):
        Evaluator().run(text, {})


@pytest.mark.parametrize(
    "text",
    [
        "import os",
        "__import__('os')",
        "open('/etc/passwd')",
        "().__class__",
        "print.__self__",
        "x = [y for y in (1, 2)]",
        "while True: pass",
        "for x in (1, 2): pass",
        "def f(): pass",
        "lambda: 1",
        "f'{1:1000000000}'",
        "x = {}",
        "x[0]",
        "print(*(1, 2))",
        "print(1, sep='')",
        "(x := 1)",
        "del x",
        "global x",
        "eval('1')",
        "x, y = 1, 2",
        "b'x'",
        "1j",
        "1 @ 2",
        "x @= 2",
        "y += 1",
        "x.y += 1",
        "x[0] += 1",
    ],
)
def test_forbidden_operations_of_blocks_fail(text: str) -> None:
    with pytest.raises(UnsupportedError):
        Evaluator().run(text, {"x": 1})
    assert unsupported([(1, text)], ["x"])


def test_unsupported_fields_are_detected_anywhere_in_a_block() -> None:
    block = "if 1:\n    x = 2\nelse:\n    x = f(y) + z.w\nassert x and tcpi_a, sum(1)"
    assert unsupported([(3, block)], ["tcpi_a"]) == [
        (6, "function f"),
        (6, "name y"),
        (6, "Python's Attribute in a block"),
        (7, "function sum"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "9 ** 9 ** 9",
        "1 << 10 ** 9",
        "'a' * 10 ** 9",
        "(1, 2) * 10 ** 9",
        "10 ** 9 * 'a'",
        "'%1000000000d' % 1",
        "'%*d' % (1000000000, 1)",
        "2 ** 127 * 2 ** 127",
        "str(1) + " * 200 + "1",
        "(" * 5000 + ")" * 5000,
        "-" * 15000 + "1",
        "x" * 30_000,
    ],
)
def test_blocks_cannot_exhaust_time_or_memory(text: str) -> None:
    with pytest.raises((FailedError, UnsupportedError)):
        Evaluator().run(text, {})


@given(
    st.text(max_size=60)
    | st.lists(
        st.sampled_from(
            [
                "assert",
                "tcpi_x",
                "(",
                ")",
                "==",
                "1",
                "**",
                "<<",
                "%",
                "'a'",
                "print",
                ",",
                "if",
                ":",
                "\n",
                "    ",
                "=",
                *SYMBOLS,
            ]
        ),
        max_size=20,
    ).map(" ".join)
)
def test_an_arbitrary_block_has_an_outcome(text: str) -> None:
    with suppress(FailedError, UnsupportedError):
        Evaluator().run(text, {"tcpi_x": 3})
    unsupported([(1, text)], ["tcpi_x"])


@given(st.text(max_size=200))
def test_an_arbitrary_text_has_an_outcome(text: str) -> None:
    assert script.run(text).verdict in script.WORDS


def test_an_unknown_stack_is_an_error() -> None:
    with pytest.raises(ScenarioError, match="stack"):
        script.run("", stack="minix")


def test_the_error_of_the_former_option_preset_names_the_new_option() -> None:
    outcome = script.run("--preset=rfc\n" + REFUSING)
    assert (outcome.verdict, outcome.line) == ("unsupported", 1)
    assert "--preset=rfc, which is now --stack" in script.describe(outcome)


def test_an_unreadable_file_does_not_affect_other_scripts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a.pkt").write_bytes(b"// ok\n// caf\xe9\n" + REFUSING.encode())
    write(tmp_path, "b.pkt", "// nothing\n")
    write(tmp_path, "c.pkt", REFUSING)
    assert execute(["script", str(tmp_path)]) == 1
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == (
        f"FAIL         {tmp_path}/a.pkt: cannot be read: "
        "byte 0xe9 in line 2 is not UTF-8; save the script as UTF-8 text"
    )
    assert lines[1].startswith(f"FAIL         {tmp_path}/b.pkt:1: the script has no event")
    assert lines[2:] == [
        f"OK           {tmp_path}/c.pkt",
        "3 scripts: 1 passed, 2 failed, 0 unsupported",
    ]
    outcomes = list(script.run_files([tmp_path / "gone.pkt", tmp_path / "c.pkt"]))
    assert [outcome.verdict for outcome in outcomes] == ["failed", "passed"]
    assert outcomes[0].problem == "cannot be read: No such file or directory"


def test_symbols_may_be_defined_on_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a = write(tmp_path, "a.pkt", "0 socket(..., KIND|SOCK_NONBLOCK, IPPROTO_TCP) = NUMBER\n")
    assert execute(["script", str(a), "-D", "KIND=SOCK_STREAM", "--define", "NUMBER=7"]) == 0
    assert "1 passed" in capsys.readouterr().out
    assert execute(["script", str(a), "-D", "KIND=SOCK_STREAM"]) == 0
    assert "symbol NUMBER" in capsys.readouterr().out


def test_an_unsupported_setting_in_a_shell_script_is_reported(tmp_path: Path) -> None:
    (tmp_path / "defaults.sh").write_text("sysctl -q net.ipv4.tcp_mtu_probing=2\n", "utf-8")
    path = write(tmp_path, "a.pkt", "`./defaults.sh`\n" + REFUSING)
    (outcome,) = script.run_files([path])
    assert (outcome.verdict, outcome.line) == ("unsupported", 1)
    assert outcome.problem == (
        "sysctl net.ipv4.tcp_mtu_probing=2: path MTU probing is not supported, in ./defaults.sh"
    )


def test_a_shell_script_beside_a_script_prepares_its_host(tmp_path: Path) -> None:
    opening = (
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3\n+0 bind(3, ..., ...) = 0\n"
        "+0 listen(3, 1) = 0\n"
        "+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,wscale 7>\n"
        "+0 > S. 0:0(0) ack 1 <mss 1460,nop,nop,sackOK,nop,wscale {}>\n"
    )
    called = "`./defaults.sh`\n" + opening
    (tmp_path / "defaults.sh").write_text(
        'unknown --thing\nsysctl -q net.ipv4.tcp_rmem="4096 131072 $((15*1024*1024))"\n', "utf-8"
    )
    paths = [
        write(tmp_path, "called.pkt", called.format(8)),
        write(tmp_path, "other.pkt", called.format(9)),
        write(tmp_path, "plain.pkt", opening.format(7)),
        write(tmp_path, "missing.pkt", called.replace("./defaults", "nowhere/defaults").format(9)),
    ]
    verdicts = [outcome.verdict for outcome in script.run_files(paths)]
    assert verdicts == ["passed", "failed", "passed", "passed"]
