"""All models that fit a run."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aqmlab.measures import Seen
from aqmlab.models.batch_queue import BatchQueue
from aqmlab.models.beside import datagrams, loops, responses, transfers
from aqmlab.models.beside.place import Place
from aqmlab.models.beside.row import NotHere, Row
from aqmlab.models.fluid.margins import Loop
from aqmlab.results import Result

if TYPE_CHECKING:
    import numpy as np

SERIES = ("delays", "waits", "queue")
OF_TRANSFERS = ("rtt",)
OF_RESPONSES = ("requests",)


@dataclass
class Beside:
    """Models beside a run.

    Attributes
    ----------
    link : str
        The link that is looked at.
    rows : list of Row
        What models say and what was measured; empty if none fits.
    left_out : list of str
        Why other models do not fit, a sentence each.
    queue : BatchQueue or None
        The queue whose distribution is known.
    loop : Loop or None
        The loop of law and flows.
    begin_s : float
        When what was measured began, in s: the end of the warm-up.
    waits : tuple of ndarray or None
        The waits of the link's packets, in s, and how many had each; None if not recorded.
    """

    link: str = ""
    rows: list[Row] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    queue: BatchQueue | None = None
    loop: Loop | None = None
    begin_s: float = 0.0
    waits: "tuple[np.ndarray, np.ndarray] | None" = None


def beside(result: Result) -> Beside:
    """Return what models say of a run, beside what it measured.

    Parameters
    ----------
    result : Result
        A run; it has to have the series that :func:`needed` names.

    Examples
    --------
    >>> from aqmlab import _core, results
    >>> import json
    >>> said = {"duration": "10 s", "network": {"kind": "graph", "links": [
    ...     {"from": "a", "to": "b", "rate": "8 Mbit/s", "delay": "0 s"}]},
    ...     "flows": [{"from": "a", "to": "b", "traffic": {"kind": "poisson", "rate": "4 Mbit/s"}}],
    ...     "record": {"series": ["delays"]}}
    >>> text = _core.check(json.dumps(said), "json", [])
    >>> needed(json.loads(text))
    ['delays', 'waits', 'queue']
    """
    seen = Seen(result, [])
    found = Beside(begin_s=seen.begin_s)
    try:
        place = Place.busiest(seen)
        found.link = place.link
        if not (place.count("arrived_packets") and place.count("departed_packets")):
            when = f" after {seen.begin_s:g} s" if seen.begin_s else ""
            raise NotHere(f"no packet crosses {place.link}{when}")
        found.waits = place.waits if "waits" in result.tables else None
        if place.answering:
            found.rows, found.queue = responses.rows(place)
            return found
        if not place.crossing:
            raise NotHere(f"no data crosses {place.link}, the busiest link")
    except NotHere as e:
        found.left_out.append(str(e))
        return found
    try:
        rows, found.queue = datagrams.rows(place)
        found.rows += rows
    except NotHere as e:
        found.left_out.append(str(e))
    try:
        rows, reasons = transfers.rows(place)
        found.rows += rows
        found.left_out += reasons
    except NotHere as e:
        found.left_out.append(str(e))
    try:
        rows, found.loop = loops.rows(place)
        found.rows += rows
    except NotHere as e:
        found.left_out.append(str(e))
    return found


def needed(scenario: dict[str, Any]) -> list[str]:
    """Return the series that a run of a normalized scenario has to record for its models."""
    flows = scenario["flows"]
    found = [*SERIES]
    found += OF_TRANSFERS if any(map(transfers.endless, flows)) else ()
    asks = any(flow["traffic"]["kind"] in responses.ASKING for flow in flows)
    return [*found, *OF_RESPONSES] if asks else found
