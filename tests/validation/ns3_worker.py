"""Run dumbbells in ns-3: read one JSON object per line, and print its measures as JSON.

``ns3.py`` starts this program with a Python interpreter that has the package ``ns3``.
"""

import json
import sys
from typing import Any

STEP_S = 0.01
"""Time between two samples of the queue, in s."""


def text(ns: Any, value: Any) -> Any:
    """Return the value of an attribute as a string value of ns-3."""
    return ns.StringValue(str(value))


def pair(ns: Any, a: Any, b: Any, rate: float, delay: float, limit: str) -> Any:
    """Connect two nodes by a point-to-point link and return the two devices of the link."""
    link = ns.PointToPointHelper()
    link.SetDeviceAttribute("DataRate", text(ns, f"{rate:.0f}bps"))
    link.SetChannelAttribute("Delay", text(ns, f"{delay * 1e9:.0f}ns"))
    link.SetQueue("ns3::DropTailQueue<Packet>")
    devices = link.Install(a, b)
    for i in range(2):
        devices.Get(i).GetQueue().SetAttribute("MaxSize", text(ns, limit))
    return devices


def run(ns: Any, request: dict[str, Any]) -> dict[str, float]:
    """Run one dumbbell in ns-3 and return its measures.

    Parameters
    ----------
    ns : module
        The bindings of ns-3.
    request : dict
        Request with the keys `seed`, `rate`, `access`, `delay`, `starts`, `delays`, `duration` and
        `warmup` of the setting, `limit` of the device's queue, `queue` (None, or type and
        attributes of the queue discipline), `defaults` (attributes of TCP) and `cbr` (rate and
        packet size of each CBR flow; CBR flows come after the TCP flows).
    """
    ns.RngSeedManager.SetSeed(1)
    ns.RngSeedManager.SetRun(request["seed"])
    ns.Config.Reset()
    for name, value in request["defaults"].items():
        ns.Config.SetDefault(name, text(ns, value))
    routers = ns.NodeContainer()
    routers.Create(2)
    hosts = ns.NodeContainer()
    count = len(request["starts"])
    hosts.Create(2 * count)
    stack = ns.InternetStackHelper()
    stack.SetIpv6StackInstall(False)
    stack.Install(routers)
    stack.Install(hosts)
    left, right = routers.Get(0), routers.Get(1)
    bottleneck = pair(ns, left, right, request["rate"], request["delay"], request["limit"])
    bottleneck.Get(1).GetQueue().SetAttribute("MaxSize", text(ns, "100000p"))
    links = [bottleneck]
    for i, delay in enumerate(request["delays"]):
        links.append(pair(ns, hosts.Get(i), left, request["access"], delay, "100000p"))
        links.append(pair(ns, right, hosts.Get(count + i), request["access"], 0.001, "100000p"))
    control = ns.TrafficControlHelper()
    discipline = None
    if request["queue"]:
        kind, attributes = request["queue"]
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
    tcp_flows = count - len(request["cbr"])
    for i, start in enumerate(request["starts"]):
        to = ns.InetSocketAddress(at[2 + 2 * i].GetAddress(1), 5000).ConvertTo()
        here = ns.InetSocketAddress(ns.Ipv4Address.GetAny(), 5000).ConvertTo()
        if i < tcp_flows:
            factory = "ns3::TcpSocketFactory"
            source = ns.BulkSendHelper(factory, to)
            source.SetAttribute("MaxBytes", text(ns, 0))
        else:
            factory = "ns3::UdpSocketFactory"
            rate, packet = request["cbr"][i - tcp_flows]
            source = ns.OnOffHelper(factory, to)
            source.SetConstantRate(ns.DataRate(f"{rate * (packet - 30) / packet:.0f}bps"),
                                   packet - 30)  # fmt: skip
        started = source.Install(hosts.Get(i))
        started.Start(ns.Seconds(start))
        sinks.append(ns.PacketSinkHelper(factory, here).Install(hosts.Get(count + i)))
    device = bottleneck.Get(0).GetQueue()
    waiting, samples, now = 0, 0, 0.0
    while now < request["duration"] - STEP_S / 2:
        ns.Simulator.Stop(ns.Seconds(STEP_S))
        ns.Simulator.Run()
        now += STEP_S
        if now > request["warmup"]:
            waiting += device.GetNPackets() + (discipline.GetNPackets() if discipline else 0)
            samples += 1
    received = [sink.Get(0).GetTotalRx() for sink in sinks]
    numbers = {
        "goodput": sum(received[:tcp_flows]) * 8e-6 / request["duration"],
        "cbr": sum(
            x * packet / (packet - 30)
            for x, (_, packet) in zip(received[tcp_flows:], request["cbr"], strict=True)
        ) * 8e-6 / request["duration"],
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
    """Run the dumbbell in each line of standard input, and print its measures."""
    from ns import ns  # type: ignore[import-not-found, unused-ignore]

    for line in sys.stdin:
        print("> " + json.dumps(run(ns, json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
