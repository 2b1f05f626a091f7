"""Queue disciplines of the kernel in place of the queues of a scenario."""

import json
from dataclasses import replace
from typing import Any

from aqmlab.engine.testbed.capabilities import CAPABILITIES, SERIES
from aqmlab.scenario import bits_per_second
from aqmlab.tc import KINDS, write

WITHOUT = ("dropped_full", "dropped_early", "dropped_threshold")
"""Columns of links that need the reason of a drop, which the kernel does not report."""

_keys = {key: values for key, values in (CAPABILITIES.keys or {}).items() if ".wire." not in key}
_columns = dict(CAPABILITIES.columns or {})
_columns["links"] = [name for name in _columns["links"] if name not in WITHOUT]
WITH_QDISCS = replace(
    CAPABILITIES,
    queues=KINDS,
    keys={**_keys, "network.kind": ["dumbbell"]},
    series=[name for name in SERIES if name not in ("drops", "why")],
    columns=_columns,
)
"""Capabilities of the testbed with queue disciplines of the kernel, which count bytes of IP."""
OF_GUEST = replace(WITH_QDISCS, queues=[kind for kind in KINDS if kind != "dualpi2"])
"""Capabilities with the queue disciplines of Linux 6.12, which has no DualPI2."""


def of_scenario(text: str) -> tuple[list[tuple[str, str]], list[dict[str, str]]]:
    """Return the commands of tc for the two links between the routers of a dumbbell.

    Parameters
    ----------
    text : str
        Scenario as :func:`aqmlab.scenario.normalize` writes it.

    Returns
    -------
    commands : list of (str, str)
        Name of each link, and its commands.
    warnings : list of dict
        What the commands stand for, if this differs from the queue of the scenario.

    Raises
    ------
    ValueError
        If the kernel has no queue discipline for a queue.
    """
    network: dict[str, Any] = json.loads(text)["network"]
    reverse = network["reverse"]
    links = {
        "left>right": (network["queue"], network["rate"]),
        "right>left": (reverse["queue"], reverse["rate"] or network["rate"]),
    }
    commands, warnings = [], []
    for link, (queue, rate) in links.items():
        translation = write(queue)
        bits = round(bits_per_second(rate))
        of_rate = f"bandwidth {bits}bit"
        lines = [line.replace("bandwidth 10Mbit", of_rate) for line in translation.commands]
        commands.append((link, "\n".join(lines)))
        notes = [note for note in translation.notes if not note.startswith("bandwidth:")]
        about = "; ".join([*lines, *notes])
        warnings.append({"about": "qdisc", "text": f"{link}: {about}"})
    return commands, warnings
