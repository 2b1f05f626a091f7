"""Section 4.2: packet captures for standard tools, and graphs that show marks."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from aqmlab.experiment.runs import run_quietly
from aqmlab.figures import sequence
from aqmlab.report import Table
from aqmlab.results import Result
from aqmlab.studies.framework import Attachment, Figure, Item, Runs, Section
from aqmlab.studies.rfc2884.scenarios import BEGINS_S, BULK, ECN_OFF, ECN_ON, MODERATE, Setting

SHOWN = Setting(BULK, MODERATE, 0.1)
LASTS_S = 25
FROM_S, TO_S = BEGINS_S + 4.0, BEGINS_S + 14.0
NAMES = {ECN_ON: "the ECN flow", ECN_OFF: "the non-ECN flow"}


def scenario() -> dict[str, Any]:
    """Return the scenario of a short run that captures the packets of both clients."""
    captured = {"on": [ECN_ON, ECN_OFF], "keep": "headers"}
    record = {
        "series": ["segments", "drops", "marks"],
        "traced": [ECN_ON, ECN_OFF],
        "pcap": captured,
    }
    return SHOWN.scenario(0) | {"duration": f"{BEGINS_S + LASTS_S} s", "record": record}


def _rows(result: Result) -> list[list[str]]:
    segments = result.series("segments")
    rows = []
    for flow, about in NAMES.items():
        of = segments[segments["flow"] == flow]
        flags = of["flags"].str.split()
        data = of[(of["direction"] == "sent") & (of["bytes"] > 0)]
        acks = of["direction"] == "received"
        syn = flags.map(lambda f: "SYN" in f)
        handshake = [
            f"{row['flags']} ({row['ecn']})"
            for which in (~acks & syn, acks & syn)
            for _, row in of[which].head(1).iterrows()
        ]
        marks = result.series("marks")
        ece = int((acks & flags.map(lambda f: "ECE" in f) & ~syn).sum())
        cwr = int((~acks & flags.map(lambda f: "CWR" in f) & ~syn).sum())
        capable = data["ecn"].isin(["ect0", "ect1"]).mean()
        drops = result.series("drops")
        rows.append(
            [
                about, *handshake, f"{100 * capable:.0f}", str(int((marks["flow"] == flow).sum())),
                str(ece), str(cwr), str(int((drops["flow"] == flow).sum())),
                str(int(data["resent"].sum())),
            ]
        )  # fmt: skip
    return rows


def _make(_: Runs) -> Section:
    section = Section(
        [
            "The authors of the memo examined traces with versions of tcpdump and tcptrace that "
            "they had extended to show marks. This item has a run with five congesting flows and "
            "maxp 0.1, which captures packets at both clients for the first 25 s of the competing "
            "flows. The captures are pcapng files, which tcpdump, tshark and tcptrace can read. "
            "The graphs have the form of tcptrace's graphs, and also show marks, ECN-Echo and "
            "CWR.",
        ]
    )
    with tempfile.TemporaryDirectory() as folder:
        result = run_quietly(scenario(), pcap=folder)
        for host, about in NAMES.items():
            content = (Path(folder) / f"{host}.pcapng").read_bytes()
            description = f"captured packets of the client of {about}"
            section.files.append(Attachment(f"{host}.pcapng", description, content))
    head = ["", "SYN (ECN field)", "SYN-ACK", "ECN-capable data (%)", "Marks", "ACKs with ECE",
            "Segments with CWR", "Drops", "Retransmitted"]  # fmt: skip
    section.tables.append(Table("ECN fields, as recorded at the server", head, _rows(result)))
    for host, about in NAMES.items():
        section.figures.append(
            Figure(
                f"sequence-{host}",
                f"Ten seconds of {about}: segments, ACKs, marks, ECN-Echo, CWR, drops and "
                "retransmissions.",
                sequence(result, host, (FROM_S, TO_S)),
            )
        )
    return section


ITEM = Item(
    "validation", "Section 4.2: traces of an ECN flow and of a non-ECN flow", lambda: (), _make
)
