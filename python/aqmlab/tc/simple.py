"""Queue disciplines of tc whose options correspond one by one to keys of aqmlab's queues.

Sources: the manual page of each queue discipline, for example tc-codel(8); the file tc/q_NAME.c of
iproute2 7.1 for the syntax and the defaults of tc; net/sched/sch_NAME.c of Linux 6.12 for the
defaults of the kernel. sch_dualpi2.c is that of Linux 6.17.

Linux counts the Ethernet header of 14 B in the size of a packet. The values of sizes are not
changed by the translation, and the MTU of the AQMs is 1500 B without this header.
"""

import math
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.tc.line import Command
from aqmlab.tc.qdisc import Attached, Given, Option, Qdisc, Queue, Written, default_limit
from aqmlab.tc.units import (
    COUNT,
    DECIMAL,
    DECIMAL_PACKETS,
    FLOAT,
    GAIN,
    HUNDREDTHS,
    MILLISECONDS,
    PACKETS,
    PERCENT,
    PLAIN_SIZE,
    SECONDS,
    SIXTEENTHS,
    SIZE,
    SIZED_PACKETS,
    TEXT,
    TIME,
    in_bytes,
    read_time,
)

QUEUE_LENGTH = 1000
"""Length of the queue of an Ethernet device in packets (txqueuelen, DEFAULT_TX_QUEUE_LEN)."""
FRAME = 1514
"""Maximum size of a packet in bytes in Linux: MTU 1500 B and Ethernet header (psched_mtu)."""

ECN_OFF = (Option("ecn", key="ecn", value="mark"),
           Option("noecn", key="ecn", value="drop", default=True))  # fmt: skip
ECN_ON = (Option("ecn", key="ecn", value="mark", default=True),
          Option("noecn", key="ecn", value="drop"))  # fmt: skip
ROOTS = "Linux computes the square roots of CoDel in 32 bits"
HASH = "Linux has another hash function"
HZ = "hz: set this key to the timer frequency (HZ) of the kernel; aqmlab assumes 1000"
BUFFER = frozenset({"limit", "limit_counts", "drop_from", "mark_at"})


def option(word: str, unit: Any, key: str, default: Any = None, *, zero: bool = True) -> Option:
    """Return an option with a value, for which tc passes only values other than 0 to the kernel."""
    return Option(word, unit, key, default, zero=zero)


def memory(kind: str) -> Option:
    """Return the option of the limit of the memory, which aqmlab does not have: 32 MiB."""
    lacks = f"aqmlab's {kind} has no limit of the memory"
    return Option("memory_limit", SIZE, lacks=lacks, inert=32 * 2**20)


@dataclass(frozen=True)
class Fifo(Qdisc):
    """First-in-first-out queue: pfifo, bfifo or pfifo_head_drop."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the queue, and a note about the default limit."""
        if "limit" not in given:
            given.notes.append(default_limit(QUEUE_LENGTH))
        return super().read(given, attached)

    def accepts(self, queue: Queue) -> bool:
        """Return True if the limit and drop_from are those of this queue discipline."""
        if in_bytes(queue["limit"]):
            return self.name == "bfifo"
        return self.name == ("pfifo_head_drop" if queue["drop_from"] == "front" else "pfifo")


def _fifo(name: str, unit: Any, limit: int, **fixed: str) -> Fifo:
    limited = (option("limit", unit, "limit", limit, zero=False),)
    return Fifo(name, "drop_tail", limited, fixed, frozenset({"mark_at", "ecn"}))


FIFOS = (
    _fifo("pfifo", SIZED_PACKETS, QUEUE_LENGTH),
    _fifo("bfifo", SIZE, QUEUE_LENGTH * FRAME),
    _fifo("pfifo_head_drop", SIZED_PACKETS, QUEUE_LENGTH, drop_from="front"),
)


@dataclass(frozen=True)
class Codel(Qdisc):
    """CoDel, alone or in each queue of FQ-CoDel."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the queue; refuse ce_threshold without ECN."""
        queue = super().read(given, attached)
        if "ce_threshold" in given and queue["ecn"] == "drop":
            raise given.error(
                "ce_threshold: Linux then marks packets although ECN is off, and aqmlab does not; "
                "add ecn", "ce_threshold",
            )  # fmt: skip
        if "quantum" in queue:  # fq_codel_change
            at_least = max(256, PLAIN_SIZE.from_key(queue["quantum"]))
            queue["quantum"] = PLAIN_SIZE.to_key(at_least)
            if at_least != given.get("quantum", at_least):
                given.notes.append("quantum: Linux raises a quantum below 256 to 256")
        return queue

    def write(self, queue: Queue) -> Written:
        """Return the options, without ce_threshold if ECN is off."""
        return super().write(queue | ({"ce_threshold": None} if queue["ecn"] == "drop" else {}))


_CODEL = (
    option("target", TIME, "target", 5000),
    option("interval", TIME, "interval", 100_000),
    option("ce_threshold", TIME, "ce_threshold", zero=False),
)
CODEL = Codel(
    "codel", "codel", (option("limit", PACKETS, "limit", 1000), *_CODEL, *ECN_OFF),
    differences=(ROOTS,),
)  # fmt: skip
FQ_CODEL = Codel(
    "fq_codel",
    "fq_codel",
    (
        option("limit", PACKETS, "packet_limit", 10_240),
        option("flows", COUNT, "flows", 1024),
        option("quantum", PLAIN_SIZE, "quantum", FRAME),
        *_CODEL,
        *ECN_ON,
        Option("drop_batch", COUNT, inert=64, zero=True, lacks="aqmlab's fq_codel drops half of "
               "the packets of the longest queue"),
        memory("fq_codel"),
        Option("ce_threshold_selector", TEXT, lacks="aqmlab's fq_codel applies ce_threshold to "
               "every packet"),
    ),
    unused=BUFFER,
    differences=(ROOTS, HASH, "above the limit, Linux drops at most 64 packets and half of the "
                 "bytes of the longest queue, and aqmlab half of its packets"),
)  # fmt: skip


@dataclass(frozen=True)
class Pie(Qdisc):
    """PIE, alone or in each queue of FQ-PIE."""

    def parse(self, command: Command) -> Given:
        """Parse the options; refuse gains above the maxima of tc (ALPHA_MAX, BETA_MAX)."""
        given = super().parse(command)
        for name in ("alpha", "beta"):
            if given.get(name, 0) > 32:
                raise given.error(f"{name} {given.get(name)}: must be at most 32", name)
        if given.get("ecn_prob", 0) >= 100:
            raise given.error("ecn_prob: must be below 100", "ecn_prob")
        return given


PIE = Pie(
    "pie",
    "tc_pie",
    (
        option("limit", PACKETS, "limit", 1000),
        option("target", TIME, "target", 15_000),
        option("tupdate", TIME, "t_update", 15_000),
        option("alpha", COUNT, "alpha", 2),
        option("beta", COUNT, "beta", 20),
        *ECN_OFF,
        Option("bytemode", key="chance_by", value="size"),
        Option("nobytemode", key="chance_by", value="packet", default=True),
        Option("dq_rate_estimator", key="latency", value="departure-rate"),
        Option("no_dq_rate_estimator", key="latency", value="timestamps", default=True),
    ),
    unused=frozenset({"hz"}),
    differences=(HZ,),
)
PIE_OF_RFC = replace(
    PIE,
    kind="pie",
    options=(*PIE.options[:3], option("alpha", SIXTEENTHS, "alpha", 2),
             option("beta", SIXTEENTHS, "beta", 20), *ECN_OFF),
    fixed={"tosses": "accumulated"},
    unused=frozenset(),
    differences=("Linux's PIE differs from that of RFC 8033; tc_pie makes its decisions",),
)  # fmt: skip
"""PIE of RFC 8033, which the qdisc pie approximates."""
_NO_MODE = "aqmlab's fq_pie has only the mode of tc's default"
FQ_PIE = Pie(
    "fq_pie",
    "fq_pie",
    (
        option("limit", PACKETS, "packet_limit", 10_240),
        option("flows", COUNT, "flows", 1024),
        option("target", TIME, "target", 15_000),
        option("tupdate", TIME, "t_update", 15_000),
        option("alpha", SIXTEENTHS, "alpha", 2),
        option("beta", SIXTEENTHS, "beta", 20),
        option("quantum", SIZE, "quantum", FRAME),
        option("ecn_prob", HUNDREDTHS, "mark_below", 10),
        *ECN_OFF,
        memory("fq_pie"),
        Option("bytemode", lacks=_NO_MODE),
        Option("nobytemode", lacks=_NO_MODE, inert=True),
        Option("dq_rate_estimator", lacks=_NO_MODE),
        Option("no_dq_rate_estimator", lacks=_NO_MODE, inert=True),
    ),
    fixed={"rules": "linux"},
    unused=BUFFER | {"hz"},
    differences=(HASH, HZ),
)


@dataclass(frozen=True)
class Sfb(Qdisc):
    """Stochastic fair BLUE."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the queue; without max or target, tc computes one from the other (q_sfb.c)."""
        queue = super().read(given, attached)
        most, target = given.get("max", 0), given.get("target", 0)
        most = most or ((target * 5 + 1) // 4 if target else 25)
        queue |= {"max": f"{most} packets", "target": f"{target or (most * 4 + 3) // 5} packets"}
        for name in ("increment", "decrement"):
            if name in given and math.floor(given.get(name) * 0xFFFF + 0.5) == 0:
                raise given.error(
                    f"{name}: tc rounds this value to 0; write at least 0.00001", name
                )
        if "limit" not in given:
            given.notes.append(default_limit(QUEUE_LENGTH))
        return queue


SFB = Sfb(
    "sfb",
    "tc_sfb",
    (
        option("rehash", MILLISECONDS, "rehash", 600_000, zero=False),
        option("db", MILLISECONDS, "warmup", 60_000, zero=False),
        option("limit", PACKETS, "limit", QUEUE_LENGTH),
        option("max", PACKETS, "max"),
        option("target", PACKETS, "target"),
        option("increment", FLOAT, "increment", 0.0005, zero=False),
        option("decrement", FLOAT, "decrement", 0.00005, zero=False),
        option("penalty_rate", COUNT, "penalty_rate", 10, zero=False),
        option("penalty_burst", PACKETS, "penalty_burst", 20, zero=False),
    ),
    fixed={"ecn": "mark"},
    differences=(HASH,),
)


@dataclass(frozen=True)
class Sfq(Qdisc):
    """Stochastic fairness queueing."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the queue, with the limits of sfq_change."""
        queue = super().read(given, attached)
        divisor, limit = given.get("divisor", 1024), given.get("limit", 127)
        if divisor & (divisor - 1) or divisor > 65536:
            raise given.error(f"divisor {divisor}: must be a power of 2, at most 65536", "divisor")
        if limit < 2:
            raise given.error("limit: must be at least 2", "limit")
        depth = min(given.get("depth", 127), 127)
        flows = min(given.get("flows", 127), 65_408, divisor)
        if "limit" in given and limit > depth * flows:
            limit = depth * flows
            given.notes.append(f"limit: Linux reduces it to depth times flows, {limit} packets")
        for name, value in (("depth", depth), ("flows", flows)):
            if limit <= value:
                continue
            what = "packets of a flow" if name == "depth" else "flows at the same time"
            lacks = f"Linux stores at most {value} {what}, and aqmlab's sfq has no such limit"
            if name in given:
                raise given.error(
                    f"{name} {value}: {lacks}; remove {name} or lower limit to {value}", name
                )  # fmt: skip
            given.notes.append(f"{name}: {lacks}")
        return queue | {"limit": f"{limit} packets"}

    def write(self, queue: Queue) -> Written:
        """Return the options; the quantum is always present in tc."""
        written = super().write(queue)
        if queue["quantum"] is None:
            written.notes.append(f"quantum: a flow sends {FRAME} B per turn instead of one packet")
        return written


_NO_RED = "aqmlab's sfq has no RED in its queues"
SFQ = Sfq(
    "sfq",
    "sfq",
    (
        option("limit", PACKETS, "limit", 127, zero=False),
        option("perturb", SECONDS, "perturb"),
        option("quantum", SIZE, "quantum", FRAME),
        option("divisor", COUNT, "queues", 1024),
        Option("flows", COUNT, zero=True),
        Option("depth", COUNT, zero=True),
        Option("headdrop", lacks="aqmlab's sfq drops the last packet of the longest queue"),
        *(
            Option(word, TEXT, lacks=_NO_RED)
            for word in ("redflowlimit", "min", "max", "burst", "avpkt", "probability")
        ),
        *(Option(word, lacks=_NO_RED) for word in ("ecn", "harddrop")),
    ),
    unused=frozenset({"mark_at", "ecn"}),
    differences=(HASH,),
)


def _step(text: str) -> int:
    """Parse step_thresh, which is a time in aqmlab; tc also accepts a number of packets."""
    if text.rstrip("abcdefghijklmnopqrstuvwxyz").isdecimal() and text.endswith(
        ("p", "pkt", "pkts", "packet", "packets")
    ):
        raise ValueError("aqmlab's dualpi2 has no threshold in packets; write a time such as 1ms")
    return read_time(text)


@dataclass(frozen=True)
class DualPi2(Qdisc):
    """DualPI2 of Linux 6.17."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the queue; max_rtt and typical_rtt determine four keys, as in q_dualpi2.c."""
        queue = super().read(given, attached)
        # get_memory_limit: by default the memory of the packets is twice their maximum size.
        if given.get("memlimit", math.inf) < 2 * FRAME * given.get("limit", 10_000):
            raise given.error("memlimit: aqmlab's dualpi2 has no limit of the memory", "memlimit")
        for name in ("alpha", "beta"):
            if given.get(name) == 0:
                raise given.error(f"{name}: the kernel needs at least 0.00390625 (1/256)", name)
        if not 1 <= given.get("coupling_factor", 2) <= 255:
            raise given.error("coupling_factor: must be from 1 to 255", "coupling_factor")
        longest, typical = given.get("max_rtt", 0), given.get("typical_rtt", 0)
        if not longest and not typical:
            return queue
        typical = typical or max(longest // 6, 1)
        longest = longest or typical * 6
        if typical > longest:
            raise given.error("typical_rtt: must be at most max_rtt", "typical_rtt")
        for name in ("alpha", "beta", "tupdate", "target"):
            if name in given:
                given.notes.append(f"{name}: max_rtt or typical_rtt replaces it")
        t_update = max(1, math.floor(min(typical, longest / 3)))
        alpha = math.floor(t_update / longest / longest * 1e6 * 0.1 * 256)
        beta = math.floor(0.3 / longest * 1e6 * 256)
        if not alpha or not beta:
            raise given.error(
                "max_rtt: is so long that alpha or beta is 0", "max_rtt", "typical_rtt"
            )
        return queue | {
            "target": f"{typical} us", "t_update": f"{t_update} us",
            "alpha": alpha / 256, "beta": beta / 256,
        }  # fmt: skip


_STEP = replace(TIME, read=_step)
_NO_GSO = "aqmlab's packets are single segments"
DUALPI2 = DualPi2(
    "dualpi2",
    "dualpi2",
    (
        option("limit", DECIMAL_PACKETS, "limit", 10_000),
        option("target", TIME, "target", 15_000),
        option("tupdate", TIME, "t_update", 16_000),
        option("alpha", GAIN, "alpha", 41, zero=False),
        option("beta", GAIN, "beta", 819, zero=False),
        option("coupling_factor", COUNT, "coupling", 2, zero=False),
        option("step_thresh", _STEP, "min_th", 1000),
        option("min_qlen_step", DECIMAL_PACKETS, "th_len", 0, zero=False),
        option("classic_protection", PERCENT, "classic_share", 10, zero=False),
        Option("max_rtt", TIME, zero=True),
        Option("typical_rtt", TIME, zero=True),
        Option("memlimit", DECIMAL, zero=True),
        Option("l4s_ect"),
        Option("any_ect", lacks="aqmlab's L queue stores only packets with ECT(1) or CE"),
        Option("drop_on_overload", lacks=_NO_GSO, inert=True),
        Option("overflow", lacks="aqmlab's dualpi2 drops packets on overload"),
        Option("drop_dequeue", lacks=_NO_GSO, inert=True),
        Option("drop_enqueue", lacks="aqmlab's dualpi2 drops packets at dequeue"),
        Option("split_gso", lacks=_NO_GSO, inert=True),
        Option("no_split_gso", lacks=_NO_GSO, inert=True),
    ),
    fixed={"sparing": "linux", "choice": "random", "range": "0 s", "ecn": "mark"},
    unused=frozenset({"time_shift"}),
    differences=("the credit of the scheduler starts at 0 in aqmlab, and at eight MTU in favour "
                 "of L in Linux",),
)  # fmt: skip

_PRESETS = {
    "datacentre": (5, 100), "lan": (50, 1000), "metro": (500, 10_000), "regional": (1500, 30_000),
    "internet": (5000, 100_000), "oceanic": (15_000, 300_000), "satellite": (50_000, 1_000_000),
    "interplanetary": (50_000_000, 1_000_000_000),
}  # fmt: skip
"""Target and interval of CAKE's presets in us (q_cake.c)."""


@dataclass(frozen=True)
class Cake(Qdisc):
    """CAKE without its flow queues, tins and shaper: only its AQM, COBALT."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return COBALT; refuse a line that does not turn off flow queues and tins."""
        for word, lacking in (("flowblind", "flow queues"), ("besteffort", "tins of DiffServ")):
            if word not in given:
                raise given.error(
                    f"cake: aqmlab has the AQM of CAKE, but not its {lacking}; add {word} if you "
                    "want the AQM alone"
                )
        target, interval = _PRESETS["internet"]
        for option, value in given.items():
            if option.word == "rtt":
                target, interval = max(value // 20, 1), value
            elif option.word in _PRESETS:
                target, interval = _PRESETS[option.word]
        # cake_set_rate: without a rate, the interval is at least twice the target.
        return super().read(given, attached) | {
            "target": f"{target} us", "interval": f"{max(interval, 2 * target)} us",
        }  # fmt: skip

    def write(self, queue: Queue) -> Written:
        """Return the options, in which the target is a twentieth of the interval."""
        written = super().write(queue)
        rtt = TIME.from_key(queue["interval"])
        written.words = ["besteffort", "flowblind", "rtt", TIME.write(rtt), *written.words]
        return written


def _cake_options() -> tuple[Option, ...]:
    lacking = {
        "a shaper": ("autorate-ingress",), "an ACK filter": ("ack-filter", "ack-filter-aggressive"),
        "tins": ("precedence", "diffserv3", "diffserv4", "diffserv8", "diffserv"),
        "flow queues": ("srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost",
                        "triple-isolate"),
        "the option wash": ("wash",), "the mode ingress": ("ingress",),
    }  # fmt: skip
    # Without flow queues and without a shaper, these words do not change the behaviour.
    inert = (
        "unlimited", "nat", "nonat", "nowash", "split-gso", "no-split-gso", "egress",
        "no-ack-filter", "noatm", "atm", "ptm", "raw", "conservative", "ethernet", "docsis",
        "ether-vlan", "via-ethernet", "pppoe-ptm", "bridged-ptm",
    )  # fmt: skip
    return (
        option("memlimit", SIZE, "limit", 10_240 * FRAME),
        option("rtt", TIME, ""),
        *(Option(word) for word in ("besteffort", "flowblind", *_PRESETS)),
        Option("bandwidth", TEXT, lacks="aqmlab's cobalt has no shaper; put it below tbf"),
        *(Option(word, lacks=f"aqmlab's cobalt does not have {what}")
          for what, words in lacking.items() for word in words),
        *(Option(word, lacks="aqmlab's cobalt has no shaper", inert=True) for word in inert),
    )  # fmt: skip


CAKE = Cake(
    "cake",
    "cobalt",
    _cake_options(),
    fixed={"first_signal": "next-packet", "mtu": "1 B", "ecn": "mark"},
    differences=("Linux computes the square roots of COBALT in 32 bits, limits the memory of the "
                 "packets instead of their bytes, and drops the first packet of a full queue",),
)  # fmt: skip

SIMPLE: tuple[Qdisc, ...] = (
    *FIFOS, CODEL, FQ_CODEL, PIE, PIE_OF_RFC, FQ_PIE, SFB, SFQ, DUALPI2, CAKE,
)  # fmt: skip
