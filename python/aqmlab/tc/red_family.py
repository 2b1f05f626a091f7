"""RED and CHOKe of tc, whose kernel parameters tc computes from burst, avpkt and bandwidth.

Sources: tc-red(8) and tc-choke(8); tc/q_red.c and tc/q_choke.c of iproute2 7.1; sch_red.c and
sch_choke.c of Linux 6.12. The plain RED of Linux is aqmlab's `tc_red`, which makes the same
decisions. `tc_red` always marks ECN-capable packets above max and has a constant probability.
Therefore the option harddrop leads to aqmlab's `red`, and the option adaptive to `adaptive_red`,
each with the weight 2^-Wlog that tc computes.
"""

import math
from dataclasses import dataclass

from aqmlab.tc import red
from aqmlab.tc.qdisc import Attached, Given, Option, Qdisc, Queue, Written
from aqmlab.tc.units import (
    COUNT,
    FLOAT,
    NUMBER,
    PACKETS,
    PACKETS_OR_BYTES,
    RATE,
    SIZE,
    TEXT,
    NotInTcError,
    amount,
)

BANDWIDTH = 1_250_000
"""Default bandwidth in bytes per second: 10 Mbit/s (q_red.c)."""
PACKET = "a length in packets counts 1500 B per packet in tc"
NO_BANDWIDTH = (
    "bandwidth: set this option of tc to the rate of the link, which aqmlab's {kind} uses instead"
)
LINK_RATE = "bandwidth: aqmlab's {kind} uses the rate of the link instead"

_FLAGS = ("ecn", "harddrop", "adaptive")
RED_OPTIONS = (
    Option("limit", SIZE, "limit", zero=True),
    Option("min", SIZE, "min", zero=True),
    Option("max", SIZE, "max", zero=True),
    Option("avpkt", SIZE, "avpkt", zero=True),
    Option("burst", COUNT, "burst", zero=True),
    Option("probability", FLOAT, "probability", 0.02),
    Option("bandwidth", RATE, "bandwidth", zero=True),
    Option("ecn"),
    Option("harddrop"),
    Option("nodrop", lacks="aqmlab's RED drops the packets that it signals and that are not "
           "ECN-capable"),
    Option("adaptive", aliases=("adaptative",)),
    Option("qevent", TEXT, lacks="aqmlab has no qevents"),
)  # fmt: skip
CHOKE_OPTIONS = (
    Option("limit", COUNT, "limit", zero=True),
    Option("min", COUNT, "minth", zero=True),
    Option("max", COUNT, "maxth", zero=True),
    Option("avpkt", SIZE, "idle_packet_size", zero=True),
    Option("burst", COUNT, zero=True),
    Option("probability", FLOAT, "maxp", 0.02),
    Option("bandwidth", RATE, zero=True),
    Option("ecn"),
)


@dataclass(frozen=True)
class Computed:
    """Parameters of RED after tc's defaults: lengths in bytes (CHOKe: packets), rate in bytes/s."""

    limit: int
    min: int
    max: int
    avpkt: int
    burst: int
    probability: float
    bandwidth: int
    wlog: int


def compute(given: Given, *, in_packets: bool = False) -> Computed:
    """Apply the defaults of tc, and compute the parameters that tc passes to the kernel.

    `in_packets` is True for CHOKe, whose thresholds are in packets.

    Raises
    ------
    LineError
        If tc or the kernel refuses the options.
    """
    limit, avpkt = given.get("limit", 0), given.get("avpkt", 1000)
    scale = avpkt if in_packets else 1  # bytes per unit of the thresholds
    least, most = given.get("min", 0), given.get("max", 0)
    most = most or (3 * least if least and not in_packets else limit // 4)
    least = least or most // 3
    burst = given.get("burst", 0) or (2 * least + most) // (3 * avpkt // scale)
    rate, probability = given.get("bandwidth", BANDWIDTH), given.get("probability", 0.02)
    if not 0 < probability <= 1:
        raise given.error("probability: must be above 0 and at most 1", "probability")
    if least >= most:
        raise given.error(f"min {least}: must be below max, which is {most}", "min", "max", "limit")
    log = red.wlog(scale * least, burst, avpkt)
    if log is None:
        need = -(-scale * least // avpkt)
        raise given.error(
            f"burst {burst}: tc cannot compute Wlog; write a burst from {need} on, and a min of "
            "more than avpkt", "burst", "min", "max", "limit",
        )  # fmt: skip
    if not red.fits(most, log):
        raise given.error(f"max {most}: the kernel refuses it with Wlog {log}; lower burst or max",
                          "max", "burst")  # fmt: skip
    bits = red.plog(scale * least, scale * most, probability)
    cells = red.scell_log(log, avpkt, rate)
    if bits is None:
        raise given.error("probability: is too small for max - min", "probability", "max")
    if cells is None:
        raise given.error("bandwidth: is too low for avpkt and Wlog", "bandwidth")
    if log >= 10:
        given.notes.append(f"burst {burst}: tc warns that it seems to be too large")
    given.kernel |= {"Wlog": log, "Plog": bits, "Scell_log": cells}
    return Computed(limit, least, most, avpkt, burst, probability, rate, log)


@dataclass(frozen=True)
class Red(Qdisc):
    """RED of tc; the kinds are tc_red, red with harddrop, and adaptive_red with adaptive."""

    @staticmethod
    def kind_of(given: Given) -> str:
        """Return the kind of aqmlab's queue for the options of a line."""
        if "adaptive" in given:
            return "adaptive_red"
        return "red" if "harddrop" in given and "ecn" in given else "tc_red"

    def read(self, given: Given, attached: Attached) -> Queue:  # noqa: ARG002
        """Return the queue with the weight, the thresholds and the defaults of tc."""
        for name in ("limit", "avpkt"):
            if name not in given:
                raise given.error(f"{name} is missing; tc requires it, as in {name} "
                                  f"{'400000' if name == 'limit' else '1000'}")  # fmt: skip
        it = compute(given)
        if self.kind == "adaptive_red" and it.probability > 0.5:
            raise given.error("probability: must be at most 0.5 with adaptive", "probability")
        ecn = "mark" if "ecn" in given else "drop"
        if "bandwidth" not in given:
            given.notes.append("bandwidth: tc assumes 10Mbit")
        if ecn == "drop" and "harddrop" in given:
            given.notes.append("harddrop: without ecn it does not change the behaviour")
        queue = {"kind": self.kind, "limit": f"{it.limit} B", "ecn": ecn}
        if self.kind == "tc_red":
            return queue | {
                "min": f"{it.min} B", "max": f"{it.max} B", "avpkt": f"{it.avpkt} B",
                "burst": f"{it.burst} packets", "probability": it.probability,
                "bandwidth": f"{8 * it.bandwidth} bit/s",
            }  # fmt: skip
        given.notes.append(LINK_RATE.format(kind=self.kind))
        size = "mean_packet_size" if self.kind == "adaptive_red" else "idle_packet_size"
        return queue | {
            "minth": f"{it.min} B", "maxth": f"{it.max} B", "maxp": it.probability,
            "wq": 2.0**-it.wlog, "gentle": False, "min_backlog": "0 packets",
            "above_maxth": "drop" if "harddrop" in given else "mark", size: f"{it.avpkt} B",
        }  # fmt: skip

    def write(self, queue: Queue) -> Written:
        """Return the options; a length in packets becomes bytes."""
        written = Written()
        limit = _bytes(queue, "limit", written)
        if self.kind == "tc_red":
            plain = super().write(queue | {"limit": f"{limit} B", "burst": None})
            written.words = plain.words
            if queue["burst"] is not None:
                written.words += ["burst", str(amount(queue["burst"], NUMBER))]
        else:
            absent = [key for key in ("minth", "maxth", "wq") if queue[key] is None]
            if absent:
                raise NotInTcError(
                    f"{self.kind}.{absent[0]}: aqmlab computes it from the rate of the link; set "
                    "minth, maxth and wq"
                )
            size = queue["mean_packet_size" if self.kind == "adaptive_red" else "idle_packet_size"]
            least, most = (_bytes(queue, key, written) for key in ("minth", "maxth"))
            log = _wlog(queue["wq"], most)
            avpkt, burst = _burst(log, max(1, least), SIZE.from_key(size))
            options = {"limit": limit, "min": least, "max": most, "avpkt": avpkt, "burst": burst,
                       "probability": queue["maxp"]}  # fmt: skip
            written.words = [word for item in options.items() for word in map(str, item)]
            written.words += ["bandwidth", "10Mbit"]
            written.notes.append(NO_BANDWIDTH.format(kind=self.kind))
        flags = {
            "ecn": queue["ecn"] == "mark",
            "harddrop": queue["ecn"] == "mark" and queue.get("above_maxth") == "drop",
            "adaptive": self.kind == "adaptive_red",
        }
        written.words += [flag for flag in _FLAGS if flags[flag]]
        return written


def _bytes(queue: Queue, key: str, written: Written) -> int:
    """Return a length in bytes.

    Raises
    ------
    NotInTcError
        If the length is a time.
    """
    try:
        length = amount(queue[key], PACKETS_OR_BYTES)
    except NotInTcError:
        raise NotInTcError(f"{key}={queue[key]}: write the length in bytes or in packets") from None
    if "packet" in queue[key]:
        written.notes.append(PACKET)
    return length


def _wlog(wq: float, most: int) -> int:
    """Return the nearest Wlog of a weight.

    Raises
    ------
    NotInTcError
        If the kernel refuses this Wlog for the threshold `most`.
    """
    log = min(31, max(1, round(-math.log2(wq))))
    if not red.fits(most, log):
        raise NotInTcError(f"wq={wq}: the kernel refuses Wlog {log} for this maxth; raise wq")
    return log


def _burst(log: int, least: int, avpkt: int) -> tuple[int, int]:
    """Return avpkt in bytes and burst in packets for which tc computes a Wlog.

    The returned avpkt is the given one, or is smaller if no burst leads to this Wlog.
    """
    size = min(avpkt, least)
    while size >= 1:
        burst = red.burst_of(log, least, size)
        if burst is not None:
            return size, burst
        size //= 2
    raise NotInTcError(f"wq: tc cannot compute Wlog {log} for this minth; raise wq or minth")


@dataclass(frozen=True)
class Choke(Qdisc):
    """CHOKe, whose thresholds are in packets."""

    def read(self, given: Given, attached: Attached) -> Queue:  # noqa: ARG002
        """Return the queue with the weight, the thresholds and the defaults of tc."""
        for name, example in (("limit", "1000"), ("bandwidth", "10Mbit")):
            if name not in given:
                raise given.error(f"{name} is missing; tc requires it, as in {name} {example}")
        avpkt = given.get("avpkt", 1000)
        it = compute(given, in_packets=True)
        if it.max > it.limit:
            raise given.error(f"max {it.max}: must be at most the limit {it.limit}", "max")
        given.notes.append(LINK_RATE.format(kind=self.kind))
        if "ecn" in given:
            given.notes.append("ecn: above max, Linux marks ECN-capable packets, and aqmlab's "
                               "choke drops them")  # fmt: skip
        return {
            "kind": self.kind, "limit": f"{it.limit} packets", "minth": f"{it.min} packets",
            "maxth": f"{it.max} packets", "maxp": it.probability, "wq": 2.0**-it.wlog,
            "idle_packet_size": f"{avpkt} B", "ecn": "mark" if "ecn" in given else "drop",
        }  # fmt: skip

    def write(self, queue: Queue) -> Written:
        """Return the options; lengths in bytes become packets of 1500 B."""
        written = Written()
        keys = {"limit": "limit", "min": "minth", "max": "maxth"}
        numbers = {
            word: PACKETS.from_key(queue[key]) if "packet" in queue[key]
            else _bytes(queue, key, written) // 1500
            for word, key in keys.items()
        }  # fmt: skip
        log = _wlog(queue["wq"], numbers["max"])
        burst = red.burst_of(log, max(1, numbers["min"]), 1)
        if burst is None:
            raise NotInTcError(f"wq: tc cannot compute Wlog {log} for this minth; raise minth")
        numbers |= {"avpkt": SIZE.from_key(queue["idle_packet_size"]), "burst": burst}
        numbers |= {"probability": queue["maxp"], "bandwidth": "10Mbit"}
        written.words = [word for item in numbers.items() for word in map(str, item)]
        written.words += ["ecn"] if queue["ecn"] == "mark" else []
        written.notes.append(NO_BANDWIDTH.format(kind=self.kind))
        return written


FLOATS = ("aqmlab computes with floating-point numbers, and Linux with integers",)
REDS = (
    Red("red", "tc_red", RED_OPTIONS),
    Red("red", "red", RED_OPTIONS, differences=FLOATS),
    Red("red", "adaptive_red", RED_OPTIONS, differences=FLOATS),
)
CHOKE = Choke("choke", "choke", CHOKE_OPTIONS, differences=FLOATS)
