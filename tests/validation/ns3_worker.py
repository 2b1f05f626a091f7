"""Run dumbbells in ns-3: reads one JSON object per line, writes the measures of each as JSON.

Runs under an interpreter that has the package ``ns3``; ``ns3.py`` starts it.
"""

import json
import sys
from typing import Any

STEP_S = 0.01
"""Time between samples of the queue."""


def text(ns: Any, value: Any) -> Any:
    """Return a value of an attribute, as ns-3 reads it from a string."""
    return ns.StringValue(str(value))


def pair(ns: Any, a: Any, b: Any, rate: float, delay: float, limit: str) -> Any:
    """Connect two nodes by a point-to-point link and return its devices."""
    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", text(ns, f"{rate:.0f}bps"))
    link.SetChannelAttribute("Delay", text(ns, f"{delay * 1e9:.0f}ns"))
    link.SetQueue("ns3::DropTailQueue<Packet>")
    devices = link.Install(a, b)
    for i in range(2):
        devices.Get(i).GetQueue().SetAttribute("MaxSize", text(ns, limit))
    return devices


def run(ns: Any, given: dict[str, Any]) -> dict[str, float]:
    """Run one dumbbell and return its measures.

    Parameters
    ----------
    ns : module
        The bindings of ns-3.
    given : dict
        `seed`, `rate`, `access`, `delay`, `starts`, `delays`, `duration`, `warmup`, `limit` of the
        device's queue, `queue` (None or type and attributes of the queue discipline), `defaults`
        (attributes of TCP), `cbr` (rate and packet size of each CBR flow, after the TCP flows).
    """
    ns.RngSeedManager.SetSeed(1)
    ns.RngSeedManager.SetRun(given["seed"])
    ns.Config.Reset()
    for name, value in given["defaults"].items():
        ns.Config.SetDefault(name, text(ns, value))
    routers = ns.NodeContainer()
    routers.Create(2)
    hosts = ns.NodeContainer()
    count = len(given["starts"])
    hosts.Create(2 * count)
    stack = ns.InternetStackHelper()
    stack.SetIpv6StackInstall(False)
    stack.Install(routers)
    stack.Install(hosts)
    left, right = routers.Get(0), routers.Get(1)
    bottleneck = pair(ns, left, right, given["rate"], given["delay"], given["limit"])
    bottleneck.Get(1).GetQueue().SetAttribute("MaxSize", text(ns, "100000p"))
    links = [bottleneck]
    for i, delay in enumerate(given["delays"]):
        links.append(pair(ns, hosts.Get(i), left, given["access"], delay, "100000p"))
        links.append(pair(ns, right, hosts.Get(count + i), given["access"], 0.001, "100000p"))
    control = ns.TrafficControlHelper()
    discipline = None
    if given["queue"]:
        kind, attributes = given["queue"]
        control.SetRootQueueDisc(kind)
        discipline = control.Install(bottleneck.Get(0)).Get(0)
        for name, value in attributes.items():
            discipline.SetAttribute(name, text(ns, value))
    addresses = ns.Ipv4AddressHelper()
    base, mask = ns.Ipv4Address("10.0.0.0"), ns.Ipv4Mask("255.255.255.252")
    addresses.SetBase(base, mask)
    at = []
    for index, link in enumerate(links):
        at.append(addresses.Assign(link))
        addresses.NewNetwork()
        for i in range(2):
            if not (discipline and index == 0 and i == 0):
                control.Uninstall(link.Get(i))
    ns.Ipv4GlobalRoutingHelper.PopulateRoutingTables()
    sinks = []
    tcp_flows = count - len(given["cbr"])
    for i, start in enumerate(given["starts"]):
        to = ns.InetSocketAddress(at[2 + 2 * i].GetAddress(1), 5000).ConvertTo()
        here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 5000).ConvertTo()
        if i < tcp_flows:
            factory = "ns3::TcpSocketFactory"
            source = ns.BulkSendHelper(factory, to)
            source.SetAttribute("MaxBytes", text(ns, 0))
        else:
            factory = "ns3::UdpSocketFactory"
            rate, packet = given["cbr"][i - tcp_flows]
            source = ns.OnOffHelper(factory, to)
            source.SetConstantRate(ns.DataRate(f"{rate * (packet - 30) / packet:.0f}bps"),
                                   packet - 30)  # fmt: skip
        started = source.Install(hosts.Get(i))
        started.Start(ns.Seconds(start))
        sinks.append(ns.PacketSinkHelper(factory, here).Install(hosts.Get(count + i)))
    device = bottleneck.Get(0).GetQueue()
    waiting, samples, now = 0, 0, 0.0
    while now < given["duration"] - STEP_S / 2:
        ns.Simulator.Stop(ns.Seconds(STEP_S))
        ns.Simulator.Run()
        now += STEP_S
        if now > given["warmup"]:
            waiting += device.GetNPackets() + (discipline.GetNPackets() if discipline else 0)
            samples += 1
    received = [sink.Get(0).GetTotalRx() for sink in sinks]
    numbers = {
        "goodput": sum(received[:tcp_flows]) * 8e-6 / given["duration"],
        "cbr": sum(
            x * packet / (packet - 30)
            for x, (_, packet) in zip(received[tcp_flows:], given["cbr"], strict=True)
        ) * 8e-6 / given["duration"],
        "queue": waiting / samples,
        "drops": float(device.GetTotalDroppedPackets()),
        "marks": 0.0,
    }  # fmt: skip
    if discipline:
        counts = discipline.GetStats()
        numbers["drops"] += counts.nTotalDroppedPackets
        numbers["marks"] = float(counts.nTotalMarkedPackets)
    ns.Simulator.Destroy()
    return numbers


def main() -> None:
    """Answer every line of standard input."""
    from ns import ns  # type: ignore[import-not-found, unused-ignore]

    for line in sys.stdin:
        print("> " + json.dumps(run(ns, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
