"""Comparison of a run with all models that apply to it."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from aqmlab.measures import MeasuredRun
from aqmlab.models.batch_queue import BatchQueue
from aqmlab.models.comparison import datagrams, loops, responses, transfers
from aqmlab.models.comparison.place import Place
from aqmlab.models.comparison.row import NotApplicable, Row
from aqmlab.models.fluid.margins import Loop
from aqmlab.results import Result

if TYPE_CHECKING:
    import numpy as np

SERIES = ("delays", "waits", "queue")
OF_TRANSFERS = ("rtt",)
OF_RESPONSES = ("requests",)


@dataclass
class Comparison:
    """Result of the comparison of a run with models.

    Attributes
    ----------
    link : str
        Name of the compared link.
    rows : list of Row
        Rows of the comparison, one per quantity; empty if no model applies.
    left_out : list of str
        Reasons why other models do not apply, one phrase per model.
    queue : BatchQueue or None
        Queue model, if its distribution of waiting times is known.
    loop : Loop or None
        Control loop of the AQM and the flows, if the fluid model applies.
    begin_s : float
        Start of the measurements in s: the end of the warm-up.
    waits : tuple of ndarray or None
        Distinct waiting times of packets at the link in s, and the number of packets with each
        time. None if the run did not record the waiting times.
    """

    link: str = ""
    rows: list[Row] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    queue: BatchQueue | None = None
    loop: Loop | None = None
    begin_s: float = 0.0
    waits: "tuple[np.ndarray, np.ndarray] | None" = None


def compare(result: Result) -> Comparison:
    """Compare a run with the models that apply to it.

    Parameters
    ----------
    result : Result
        Result of a run that recorded the series that :func:`needed` returns.

    Examples
    --------
    >>> from aqmlab import _core, results
    >>> import json
    >>> described = {"duration": "10 s", "network": {"kind": "graph", "links": [
    ...     {"from": "a", "to": "b", "rate": "8 Mbit/s", "delay": "0 s"}]},
    ...     "flows": [{"from": "a", "to": "b", "traffic": {"kind": "poisson", "rate": "4 Mbit/s"}}],
    ...     "record": {"series": ["delays"]}}
    >>> text = _core.check(json.dumps(described), "json", [])
    >>> needed(json.loads(text))
    ['delays', 'waits', 'queue']
    """
    seen = MeasuredRun(result, [])
    comparison = Comparison(begin_s=seen.begin_s)
    try:
        place = Place.busiest(seen)
        comparison.link = place.link
        if not (place.count("arrived_packets") and place.count("departed_packets")):
            when = f" after {seen.begin_s:g} s" if seen.begin_s else ""
            raise NotApplicable(f"no packet crosses {place.link}{when}")
        comparison.waits = place.waits if "waits" in result.tables else None
        if place.answering:
            comparison.rows, comparison.queue = responses.rows(place)
            return comparison
        if not place.crossing:
            raise NotApplicable(f"no data crosses {place.link}, the busiest link")
    except NotApplicable as e:
        comparison.left_out.append(str(e))
        return comparison
    try:
        rows, comparison.queue = datagrams.rows(place)
        comparison.rows += rows
    except NotApplicable as e:
        comparison.left_out.append(str(e))
    try:
        rows, reasons = transfers.rows(place)
        comparison.rows += rows
        comparison.left_out += reasons
    except NotApplicable as e:
        comparison.left_out.append(str(e))
    try:
        rows, comparison.loop = loops.rows(place)
        comparison.rows += rows
    except NotApplicable as e:
        comparison.left_out.append(str(e))
    return comparison


def needed(scenario: dict[str, Any]) -> list[str]:
    """Return the series that a run of a normalized scenario must record for the comparison."""
    flows = scenario["flows"]
    series = [*SERIES]
    series += OF_TRANSFERS if any(map(transfers.endless, flows)) else ()
    responds = any(flow["traffic"]["kind"] in responses.ASKING for flow in flows)
    return [*series, *OF_RESPONSES] if responds else series
