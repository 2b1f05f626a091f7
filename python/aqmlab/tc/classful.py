"""Schedulers and shapers of tc: tbf, htb, prio, pfifo_fast and ets.

Sources: tc-tbf(8), tc-htb(8), tc-prio(8), tc-pfifo_fast(8) and tc-ets(8); tc/q_NAME.c of iproute2
7.1; sch_NAME.c and sch_generic.c of Linux 6.12. Without filters, the priority of a packet selects
its band. The kernel derives the priority of a forwarded packet, and of a packet of a socket with
IP_TOS, from its TOS byte (ip_tos2prio in net/ipv4/route.c, rt_tos2priority in include/net/route.h).
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from aqmlab.tc.form import codepoints, normal
from aqmlab.tc.qdisc import Attached, Given, Option, Qdisc, Queue, Written, default_limit
from aqmlab.tc.simple import FRAME, QUEUE_LENGTH
from aqmlab.tc.units import (
    DECIMAL,
    DECIMAL_SIZE,
    RATE64,
    SIZE,
    SIZE64,
    TEXT,
    TIME,
    NotInTcError,
    in_bytes,
)

PFIFO = {"kind": "drop_tail", "limit": f"{QUEUE_LENGTH} packets"}
"""Queue of a class without a queue discipline of its own."""
PRIORITIES = (0, 2, 6, 4)
"""Priority of a packet by bits 1 and 2 of its codepoint (ip_tos2prio): best effort, bulk,
interactive, interactive bulk."""
PRIOMAP = (1, 2, 2, 2, 1, 2, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1)
"""Band of each priority by default (q_prio.c, sch_generic.c)."""
_FRAMING = "aqmlab counts the bytes of packets without further overhead"
HEX = replace(DECIMAL, read=lambda text: _hexadecimal(text))


def _hexadecimal(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise ValueError("write the minor number of a class, such as 10") from None


@dataclass(frozen=True)
class Tbf(Qdisc):
    """Token bucket filter."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the shaper and its queue, whose limit tc may compute from the latency."""
        for name, example in (("rate", "10Mbit"), ("burst", "5kb")):
            if not given.get(name):
                raise given.error(
                    f"{name} is missing; tc requires it, as in {name} {example}", name
                )
        if "peakrate" in given and "mtu" not in given:
            raise given.error("mtu is missing; tc requires it with peakrate", "peakrate")
        if "limit" in given and "latency" in given:
            raise given.error("latency: tc accepts only one of limit and latency", "latency")
        limit = given.get("limit", 0)
        if not limit and not given.get("latency"):
            raise given.error("limit or latency is missing; tc requires one of them")
        if not limit:
            wait, burst = given.get("latency") / 1e6, given.get("burst")
            lengths = [given.get("rate") * wait + burst]
            if "peakrate" in given:
                lengths.append(given.get("peakrate") * wait + given.get("mtu"))
            limit = math.floor(min(lengths))
        queue = super().read(given, attached)
        if "peakrate" not in given:
            queue.pop("mtu", None)
        child = attached.queue(0, 1)
        if child:
            given.notes.append("limit: the attached queue discipline has its own limit")
        return queue | {"queue": child or {"kind": "drop_tail", "limit": f"{limit} B"}}

    def write(self, queue: Queue) -> Written:
        """Return the options; a queue other than a bfifo needs a command of its own."""
        written = super().write(queue if queue["peak_rate"] else queue | {"mtu": None})
        child = queue["queue"]
        plain = child["kind"] == "drop_tail" and child["drop_from"] == "tail"
        if plain and in_bytes(child["limit"]):
            limit = str(SIZE.from_key(child["limit"]))
            return replace(written, words=[*written.words, "limit", limit])
        words = [*written.words, "limit", str(SIZE64.from_key(queue["burst"]))]
        return replace(written, words=words, children={1: child})


TBF = Tbf(
    "tbf",
    "tbf",
    (
        Option("limit", SIZE, zero=True),
        Option("latency", TIME, zero=True),
        Option("burst", SIZE64, "burst", aliases=("buffer", "maxburst")),
        Option("mtu", SIZE64, "mtu", aliases=("minburst",), zero=True),
        Option("mpu", SIZE, lacks=_FRAMING, inert=0),
        Option("rate", RATE64, "rate"),
        Option("peakrate", RATE64, "peak_rate", zero=True),
        Option("overhead", DECIMAL, lacks=_FRAMING, inert=0),
        Option("linklayer", TEXT, lacks=_FRAMING, inert="ethernet"),
    ),
    prefixes=True,
)


HTB_CLASS = Qdisc(
    "htb",
    "htb",
    (
        Option("prio", DECIMAL, "prio", 0),
        Option("mtu", DECIMAL, lacks="aqmlab computes the bursts for an mtu of 1600", inert=1600),
        Option("mpu", DECIMAL, lacks=_FRAMING, inert=0),
        Option("overhead", DECIMAL, lacks=_FRAMING, inert=0),
        Option("linklayer", TEXT, lacks=_FRAMING, inert="ethernet"),
        Option("quantum", DECIMAL_SIZE, "quantum", zero=True),
        Option("burst", SIZE64, "burst", aliases=("buffer", "maxburst"), zero=True),
        Option("cburst", SIZE64, "cburst", aliases=("cbuffer", "cmaxburst"), zero=True),
        Option("ceil", RATE64, "ceil", zero=True),
        Option("rate", RATE64, "rate"),
    ),
    prefixes=True,
)


@dataclass(frozen=True)
class Htb(Qdisc):
    """Hierarchical token bucket with one leaf, which gets all packets without filters."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the classes and the queue of the leaf."""
        commands = attached.classes()
        parents = {c.parent_minor() for c in commands}
        leaves = [c for c in commands if c.minor not in parents]
        if len(leaves) != 1:
            where = leaves[1].kind if leaves else given.command.kind
            raise where.error(
                f"htb has {len(leaves)} leaf classes; aqmlab reads no filters, so write exactly one"
            )
        (leaf,) = leaves
        if given.get("default", 0) != leaf.minor:
            raise given.error(
                f"default must be {leaf.minor:x}, because other packets bypass the classes",
                "default",
            )
        queue, classes, known = super().read(given, attached), [], {0}
        for command in commands:
            parent = command.parent_minor()
            if command.kind.text != "htb" or parent not in known or command.minor in known:
                raise command.kind.error("each class must be an htb class below an earlier class")
            known.add(command.minor)
            options = HTB_CLASS.parse(command)
            if not options.get("rate"):
                raise options.error("rate is missing; tc requires it, as in rate 10Mbit", "rate")
            given.notes += options.notes
            keys = HTB_CLASS.keys(options) | {"name": f"1:{command.minor:x}"}
            classes.append(keys | ({"parent": f"1:{parent:x}"} if parent else {}))
        child = attached.queue(leaf.minor)
        if child is None:
            given.notes.append(default_limit(QUEUE_LENGTH))
        classes[commands.index(leaf)]["queue"] = child or PFIFO
        return queue | {"classes": classes}

    def write(self, queue: Queue) -> Written:
        """Return the options and the classes of a tree with one leaf."""
        names = [one["name"] for one in queue["classes"]]
        parents = [one["parent"] for one in queue["classes"]]
        leaves = [i for i, name in enumerate(names) if name is None or name not in parents]
        if len(leaves) != 1:
            raise NotInTcError(
                "htb: several leaves need filters of tc, which aqmlab does not write"
            )
        written, minors = super().write(queue), _minors(names)
        written.words = ["default", f"{minors[leaves[0]]:x}", *written.words]
        for minor, one in zip(minors, queue["classes"], strict=True):
            parent = minors[names.index(one["parent"])] if one["parent"] else 0
            words = HTB_CLASS.write(one)
            written.notes += words.notes
            written.classes.append((parent, minor, " ".join(words.words)))
        child = queue["classes"][leaves[0]]["queue"] or normal({"kind": "drop_tail"})
        if not _is_pfifo(child):
            written.children[minors[leaves[0]]] = child
        return written


def _minors(names: Sequence[str | None]) -> list[int]:
    """Return the minor number of each class: that of its name, such as 1:10, or its position."""
    matches = [re.fullmatch(r"1:([0-9a-f]{1,4})", name or "") for name in names]
    minors = [int(match[1], 16) for match in matches if match]
    return minors if len(set(minors) - {0}) == len(names) else [*range(1, len(names) + 1)]


HTB = Htb(
    "htb",
    "htb",
    (
        Option("r2q", DECIMAL, "r2q", 10),
        Option("default", HEX),
        Option("debug", TEXT, lacks="it is for developers", inert="0"),
        Option("direct_qlen", DECIMAL, lacks="aqmlab's htb has no direct queue"),
        Option("offload", lacks="aqmlab's htb has no hardware"),
    ),
    prefixes=True,
)


def _codepoints(bands: Sequence[int]) -> dict[int, list[int]]:
    """Return the codepoints of each band, for the bands of the 16 priorities."""
    of_band: dict[int, list[int]] = {}
    for number in range(64):
        of_band.setdefault(bands[PRIORITIES[number >> 1 & 3]], []).append(number)
    return of_band


def _classes(queues: list[tuple[int, Queue]], of_band: dict[int, list[int]]) -> list[Queue]:
    """Return the classes of the bands that get packets; best effort is in the class of the rest."""
    used = [(band, queue) for band, queue in queues if band in of_band]
    rest = next((band for band, _ in used if 0 in of_band[band]), used[0][0])
    return [
        queue if band == rest else {"match": {"dscp": of_band[band]}, **queue}
        for band, queue in used
    ]


def _bands(classes: Sequence[Queue], taken: Sequence[int] = ()) -> list[int | None]:
    """Return the class of each priority in PRIORITIES; None for a priority in `taken`.

    Raises
    ------
    NotInTcError
        If a class matches other packets than those of some priorities.
    """
    numbers = codepoints()
    classes_of: list[int | None] = [None] * len(PRIORITIES)
    for i, one in enumerate(classes):
        match = {key: value for key, value in (one["match"] or {}).items() if value is not None}
        if not match:
            continue
        names = match.pop("dscp", [])
        mine = {numbers[str(name)] for name in (names if isinstance(names, list) else [names])}
        groups = {number >> 1 & 3 for number in mine}
        if match or len(mine) != 16 * len(groups):
            raise NotInTcError(
                f"classes.{i}.match: without a filter, Linux classifies packets by bits 1 and 2 of "
                "the codepoint"
            )
        for group in groups:
            classes_of[group] = i if classes_of[group] is None else classes_of[group]
    rest = next(i for i, one in enumerate(classes) if not one["match"])
    return [
        None if group in taken else rest if band is None else band
        for group, band in enumerate(classes_of)
    ]


def _priomap(bands: Sequence[int | None]) -> list[str]:
    """Return the 16 numbers of priomap for the band of each priority in PRIORITIES."""
    of_priority = dict(zip(PRIORITIES, bands, strict=True))
    return [str(of_priority.get(priority, bands[0])) for priority in range(16)]


def _is_pfifo(queue: Queue) -> bool:
    return all(queue.get(key) == value for key, value in (PFIFO | {"drop_from": "tail"}).items())


def _checked(given: Given, bands: int, most: int) -> None:
    """Raise LineError if tc or the kernel refuses the number of bands or the map of priorities."""
    if not 1 <= bands <= most:
        raise given.error(f"bands {bands}: must be from 1 to {most}", "bands", "quanta", "strict")
    numbers = given.get("priomap", [])
    if len(numbers) > len(PRIOMAP) or any(number >= bands for number in numbers):
        raise given.error(f"priomap: must have at most 16 numbers below {bands}", "priomap")


def _note_of_bands(given: Given, of_band: dict[int, list[int]], bands: int) -> None:
    given.notes.append(
        "priomap: the band of a packet follows from its codepoint, as in Linux for packets that it "
        "forwards"
    )
    idle = [str(band) for band in range(bands) if band not in of_band]
    if idle:
        given.notes.append(f"band {', '.join(idle)}: gets no packet")


@dataclass(frozen=True)
class Prio(Qdisc):
    """Strict priority: prio and pfifo_fast."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return the classes of the bands that get packets."""
        bands = given.get("bands", 3)
        _checked(given, bands, 16)
        priomap = [*given.get("priomap", []), *PRIOMAP[len(given.get("priomap", [])) :]]
        if bands < 2 or max(priomap) >= bands:
            raise given.error(f"bands {bands}: the kernel needs at least 2 bands, and a priomap "
                              "below bands for all 16 priorities", "bands")  # fmt: skip
        of_band = _codepoints(priomap)
        queues = [(band, {"queue": attached.queue(band + 1) or PFIFO}) for band in range(bands)]
        _note_of_bands(given, of_band, bands)
        given.notes.append(default_limit(QUEUE_LENGTH))
        return {"kind": self.kind, "classes": _classes(queues, of_band)}

    def accepts(self, queue: Queue) -> bool:
        """Return True unless the last class is a DRR, which makes the queue an ets."""
        return bool(queue["classes"][-1]["queue"]["kind"] != "drr")

    def write(self, queue: Queue) -> Written:
        """Return bands and priomap, and the queues that are not a pfifo."""
        classes = queue["classes"]
        priomap = _priomap(_bands(classes))
        words = ["bands", str(max(2, len(classes))), "priomap", *priomap]
        children = {
            i + 1: one["queue"] for i, one in enumerate(classes) if not _is_pfifo(one["queue"])
        }
        return Written(words, children)


@dataclass(frozen=True)
class Ets(Qdisc):
    """Enhanced transmission selection: strict bands before bands with a deficit round robin."""

    def read(self, given: Given, attached: Attached) -> Queue:
        """Return a priority queue, whose last class is the DRR, or only one of the two."""
        strict, quanta = given.get("strict", 0), given.get("quanta", [])
        bands = given.get("bands", 0) or strict + len(quanta)
        if not bands:
            raise given.error("bands, strict or quanta is missing; tc requires one of them")
        _checked(given, bands, 16)
        if strict + len(quanta) > bands or not all(quanta):
            raise given.error("quanta: must be above 0, and fit into the bands", "quanta", "strict")
        # ets_qdisc_change: other priorities belong to the last band; other quanta are an MTU.
        priomap = [*given.get("priomap", []), *[bands - 1] * 16][:16]
        quanta = [*quanta, *[FRAME] * bands][: bands - strict]
        of_band = _codepoints(priomap)
        queues = [{"queue": attached.queue(band + 1) or PFIFO} for band in range(bands)]
        drr = [
            (band, {"quantum": f"{quantum} B", **queues[band]})
            for band, quantum in enumerate(quanta, strict)
        ]
        _note_of_bands(given, of_band, bands)
        given.notes.append(default_limit(QUEUE_LENGTH))
        shared = [number for band, _ in drr for number in of_band.get(band, [])]
        strictly = [(band, queue) for band, queue in enumerate(queues[:strict]) if band in of_band]
        round_robin = {"kind": "drr", "classes": _classes(drr, of_band)} if shared else None
        if not strictly or not shared:
            return round_robin or {"kind": "priority", "classes": _classes(strictly, of_band)}
        strict_bands = {band: of_band[band] for band, _ in strictly} | {strict: shared}
        queue = {"queue": round_robin}
        return {"kind": "priority", "classes": _classes([*strictly, (strict, queue)], strict_bands)}

    def write(self, queue: Queue) -> Written:
        """Return strict, quanta and priomap, and the queues that are not a pfifo."""
        strict: list[Any] = []
        groups: list[int | None] = [None] * len(PRIORITIES)
        drr = queue["classes"]
        if queue["kind"] == "priority":
            strict, drr = queue["classes"][:-1], queue["classes"][-1]["queue"]["classes"]
            outer = _bands(queue["classes"])
            groups = [None if band == len(strict) else band for band in outer]
        taken = [group for group, band in enumerate(groups) if band is not None]
        inner = _bands(drr, taken)
        bands = [
            one if one is not None else len(strict) + (other or 0)
            for one, other in zip(groups, inner, strict=True)
        ]
        words = [*(["strict", str(len(strict))] if strict else []), "quanta"]
        words += [str(SIZE.from_key(one["quantum"])) for one in drr]
        children = {
            i + 1: one["queue"]
            for i, one in enumerate([*strict, *drr])
            if not _is_pfifo(one["queue"])
        }
        return Written([*words, "priomap", *_priomap(bands)], children)


_PRIOMAP = Option("priomap", DECIMAL, many=True)
_SOCKETS = "Linux classifies packets of local sockets by their own priority (SO_PRIORITY)"
PRIO = Prio(
    "prio",
    "priority",
    (Option("bands", DECIMAL), _PRIOMAP,
     Option("multiqueue", lacks="aqmlab's links have one transmitter")),
    differences=(_SOCKETS,),
)  # fmt: skip
PFIFO_FAST = Prio("pfifo_fast", "priority", differences=(_SOCKETS,))
_ETS = Ets(
    "ets",
    "drr",
    (Option("bands", DECIMAL, zero=True), Option("strict", DECIMAL, zero=True),
     Option("quanta", DECIMAL, many=True), _PRIOMAP),
    differences=(_SOCKETS,),
)  # fmt: skip
ETS = (_ETS, replace(_ETS, kind="priority"))
CLASSFUL: tuple[Qdisc, ...] = (TBF, HTB, PRIO, PFIFO_FAST, *ETS)
