"""The hosts, links and flows of a scenario, expanded for an engine."""

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
        The name of the link is ``source>target``.
    rate_bps : int
        Rate in bit/s.
    delay_s : float
        Propagation delay in s, with the random offset of the scenario's seed.
    queue : dict
        The queue with every key, as the scenario has it.
    limit_packets, limit_bytes : int, optional
        Limit of the queue's buffer; one of them is None.
    condition, impairments : list of dict
        Rules of the conditioner before the queue, and impairments behind it.
    rate_changes : dict, optional
        Changes of the rate over time.
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
    """A flow, one of the `count` of a ``[[flows]]`` table.

    Attributes
    ----------
    name, source, target : str
        Its name, and the hosts that send and receive its data.
    table : int
        The ``[[flows]]`` table that describes it.
    protocol : {"tcp", "udp"}
        The transport protocol.
    start_s : float
        Time of its start in s, with the random offset of the scenario's seed.
    size_bytes : int, optional
        Size of a bulk transfer in bytes; None for data without end, for flows with many
        connections, and for other traffic.
    dscp : int
        DiffServ codepoint.
    traffic : dict
        The traffic with every key, as the scenario has it.
    arrivals : dict, optional
        Arrivals of its connections.
    forward, reverse : tuple of str
        Names of the links from source to target, and of those back. A flow of datagrams has no way
        back.
    sender, receiver : dict
        TCP parameters of the host that sends the data, and of the other host.
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


@dataclass(frozen=True)
class Network:
    """A scenario expanded: its hosts, its links and its flows.

    Attributes
    ----------
    scenario : dict
        The scenario with every default filled in.
    hosts : tuple of str
        Names of the hosts that send or receive.
    links : tuple of Link
        Each direction of each link, in the order of the table ``links``.
    flows : tuple of Flow
        Every flow, in the order of the tables ``flows`` and ``datagrams``.

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
            The scenario as :func:`aqmlab.scenario.normalize` writes it, and as an engine gets it.

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
        """Return a link by its name.

        Raises
        ------
        KeyError
            If the network has no such link.
        """
        return {link.name: link for link in self.links}[name]


def _ends(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with the two ends under names that Python allows."""
    rest = {key: value for key, value in table.items() if key not in ("from", "to", "tcp")}
    return rest | {"source": table["from"], "target": table["to"]}


def _ways(flow: dict[str, Any]) -> dict[str, Any]:
    """Return the links of a flow in both directions."""
    return {"forward": tuple(flow["forward"]), "reverse": tuple(flow["reverse"])}
