"""Network of a scenario for an engine: every host, every link and every single flow."""

import json
from dataclasses import dataclass
from typing import Any

from aqmlab import _core


@dataclass(frozen=True)
class Link:
    """One direction of a link.

    Attributes
    ----------
    name, source, target : str
        Name ``source>target`` of the link, and the names of the nodes at its two ends.
    rate_bps : int
        Rate in bit/s.
    delay_s : float
        Propagation delay in s, including the random part that the seed of the scenario determines.
    queue : dict
        Table of the queue with all its keys.
    limit_packets, limit_bytes : int, optional
        Limit of the queue's buffer, in packets or in bytes. If the limit is in packets,
        `limit_bytes` is None. If the limit is in bytes, `limit_packets` is None.
    condition, impairments : list of dict
        Rules of the traffic conditioner before the queue, and impairments of the link behind the
        queue.
    rate_changes : dict, optional
        Table with the changes of the link's rate over time.
    """

    name: str
    source: str
    target: str
    rate_bps: int
    delay_s: float
    queue: dict[str, Any]
    limit_packets: int | None
    limit_bytes: int | None
    condition: list[dict[str, Any]]
    impairments: list[dict[str, Any]]
    rate_changes: dict[str, Any] | None


@dataclass(frozen=True)
class Flow:
    """One of the `count` flows that a ``[[flows]]`` table describes.

    Attributes
    ----------
    name, source, target : str
        Name of the flow, name of the host that sends its data, and name of the host that receives
        the data.
    table : int
        Index of the ``[[flows]]`` table that describes the flow.
    protocol : {"tcp", "udp"}
        Transport protocol.
    start_s : float
        Start time in s, including the random part that the seed of the scenario determines.
    size_bytes : int, optional
        Size of a bulk transfer in bytes. The value is None for a transfer of unlimited size, for a
        flow with many connections, and for other kinds of traffic.
    dscp : int
        DiffServ codepoint.
    traffic : dict
        Table with all keys of the flow's traffic.
    arrivals : dict, optional
        Table with the arrivals of the flow's connections.
    forward, reverse : tuple of str
        Names of the links from source to target, and from target to source. For a UDP flow,
        `reverse` is empty.
    sender, receiver : dict
        TCP parameters of the source, and TCP parameters of the target.
    ecn : str
        ECN that the source negotiates, such as "rfc3168". Some congestion controls replace the mode
        in `sender`: Prague without a mode negotiates "accurate".
    """

    name: str
    source: str
    target: str
    table: int
    protocol: str
    start_s: float
    size_bytes: int | None
    dscp: int
    traffic: dict[str, Any]
    arrivals: dict[str, Any] | None
    forward: tuple[str, ...]
    reverse: tuple[str, ...]
    sender: dict[str, Any]
    receiver: dict[str, Any]
    ecn: str


@dataclass(frozen=True)
class Network:
    """Hosts, links and flows of a scenario.

    Attributes
    ----------
    scenario : dict
        The scenario with every default filled in.
    hosts : tuple of str
        Names of the hosts that send or receive data.
    links : tuple of Link
        All directions of all links, in the order of the table ``links``.
    flows : tuple of Flow
        All flows, in the order of the tables ``flows`` and ``datagrams``.

    Examples
    --------
    >>> from aqmlab.scenario import normalize
    >>> network = Network.of(normalize("examples/two_flows.toml"))
    >>> network.hosts, network.links[0].limit_packets, network.links[0].rate_bps
    (('left-0', 'right-0', 'right-1'), 64, 1500000)
    >>> [(f.name, f.size_bytes, f.forward) for f in network.flows][1]
    ('download-1', 5242880, ('left-0>left', 'left>right', 'right>right-1'))
    """

    scenario: dict[str, Any]
    hosts: tuple[str, ...]
    links: tuple[Link, ...]
    flows: tuple[Flow, ...]

    @classmethod
    def of(cls, text: str) -> "Network":
        """Expand a scenario.

        Parameters
        ----------
        text : str
            The scenario as :func:`aqmlab.scenario.normalize` writes it.

        Raises
        ------
        ScenarioError
            If the scenario is wrong.
        """
        parts = json.loads(_core.expanded(text))
        links = (Link(**_ends(link)) for link in parts["links"])
        flows = (Flow(**_ends(flow) | _ways(flow) | parts["tcp"][flow["tcp"]])
                 for flow in parts["flows"])  # fmt: skip
        return cls(json.loads(text), tuple(parts["hosts"]), tuple(links), tuple(flows))

    def link(self, name: str) -> Link:
        """Return a link, given its name.

        Raises
        ------
        KeyError
            If the network does not have a link with this name.
        """
        return {link.name: link for link in self.links}[name]


def _ends(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with its keys `from` and `to` renamed to `source` and `target`."""
    rest = {key: value for key, value in table.items() if key not in ("from", "to", "tcp")}
    return rest | {"source": table["from"], "target": table["to"]}


def _ways(flow: dict[str, Any]) -> dict[str, Any]:
    """Return the names of a flow's links in each direction as tuples."""
    return {"forward": tuple(flow["forward"]), "reverse": tuple(flow["reverse"])}
