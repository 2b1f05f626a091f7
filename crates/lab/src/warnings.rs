//! Warnings about scenarios that are valid but probably unintended. Each warning appears once per
//! run on stderr, in the manifest and in reports.

use net::End;
use queues::Queue;
use queues::dualpi2::DualPi2;
use tcp::congestion::Marks;
use tcp::{Ecn, Endpoint, Tcp};
use traffic::Traffic;
use units::{Depth, Read, Time};

use crate::baseline::LinkCounts;
use crate::record::Warning;
use crate::run::Simulation;

/// AQMs whose default parameters are constants for one link, and their counterparts that adapt to
/// the link.
const CONSTANT: [(&str, &str); 4] = [
    ("red", "adaptive_red, whose wq and maxp follow the link (floyd2001adaptive)"),
    ("blue", "pie or codel, whose parameters are times"),
    ("pi", "pie or pi2, whose parameters are times"),
    ("rem", "pie or codel, whose parameters are times"),
];
/// Share of the time in which a congested link is idle, above which the parameters of its AQM cost
/// much goodput.
const IDLE: f64 = 0.1;
/// Minimum number of drops of a full buffer that show an AQM without effect.
const OVERFLOWS: u64 = 20;

/// Condition on the connection with a given index, which is tested at the end of the run.
type Condition = fn(&Simulation, usize) -> bool;

/// Warnings about flows. Each entry has the topic of the warning, the condition on a connection,
/// and the text that follows the names of the flows.
const OF_FLOWS: [(&str, Condition, &str); 5] = [
    (
        "receive-window",
        is_held_by_window,
        "at the end of the run, cwnd is at least the receive window, so the receive window limits the senders \
         instead of congestion control; raise tcp.receive_window if this limit is unintended",
    ),
    (
        "slow-start",
        is_in_slow_start,
        "the first slow start lasts until the end of the run, so the run has no steady state; \
         make the duration longer",
    ),
    (
        "ecn-fallback",
        fell_back,
        "the client requested ECN, but a SYN was lost, so the connection does not use ECN (tcp.ecn.fallback); \
         set tcp.ecn.fallback = false if congestion caused the loss of the SYN",
    ),
    (
        "dctcp-in-classic-queue",
        is_dctcp_in_dualpi2,
        "DCTCP sends packets with ECT(0), which DualPI2 puts into its classic queue; \
         use congestion = \"prague\" for the low-latency queue",
    ),
    (
        "classic-ecn-of-scalable-sender",
        has_classic_ecn_and_scalable_congestion_control,
        "the congestion control responds to the share of marked packets, but with this value of tcp.ecn the \
         receiver reports marks only once per round trip; remove the key ecn, or set tcp.ecn = \"accurate\"",
    ),
];

impl Simulation<'_> {
    /// Return all warnings of the run.
    pub(crate) fn warnings(&self) -> Vec<Warning> {
        let simulated = self.connections.records.real.is_none();
        let mut all = Vec::new();
        if simulated {
            all.extend(OF_FLOWS.iter().filter_map(|of| self.of_flows(of)));
        }
        all.extend(self.never_started());
        all.extend(self.small_buffer());
        if simulated {
            all.extend(self.without_marks());
        }
        all.extend(self.without_congestion());
        all.extend(self.parameters_of_another_link());
        all
    }

    /// Return the warning about the flows whose connections satisfy the condition, or `None` if no
    /// connection satisfies it.
    fn of_flows(&self, (about, holds, what): &(&'static str, Condition, &str)) -> Option<Warning> {
        let mut counts = vec![(0, 0); self.plan.tables()];
        for s in 0..self.connections.single {
            let (of, all) = &mut counts[self.plan.table(self.connections.records.slots[s].flow as usize)];
            *of += usize::from(holds(self, s));
            *all += 1;
        }
        let of = |t: usize| format!("{} ({} of {})", self.plan.texts(t)[0], counts[t].0, counts[t].1);
        let named: Vec<String> = (0..counts.len()).filter(|&t| counts[t].0 > 0).map(of).collect();
        let rest = named.len().saturating_sub(5);
        let names = named[..named.len() - rest].join(", ");
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        (!named.is_empty()).then(|| Warning { about, text: format!("connections of {names}{more}: {what}") })
    }

    /// Warn if a flow starts at or after the end of the run.
    fn never_started(&self) -> Option<Warning> {
        let end = self.scenario.duration?;
        let late = self.scenario.flows.iter().find(|flow| flow.start >= end)?;
        let text = format!(
            "the flow {} starts at {}, and the run ends at {end}, so the flow sends nothing; \
             start the flow earlier, or make the duration longer",
            late.name, late.start
        );
        Some(Warning { about: "late-start", text })
    }

    /// Warn if a queue dropped packets and the limit of the queue is below two packets.
    fn small_buffer(&self) -> Option<Warning> {
        let dropped = |l: &usize| self.network.links[*l].counters().signals().dropped.packets > 0;
        let l = (0..self.network.links.len())
            .filter(dropped)
            .find(|&l| is_small(self.plan.links[l].queue(), &self.scenario.tcp))?;
        let text = format!(
            "the limit of the queue of {} is below two packets, so the queue drops the second of two packets that arrive \
             together; raise the limit if this is unintended",
            self.plan.links[l].name()
        );
        Some(Warning { about: "small-buffer", text })
    }

    /// Return the number of dropped packets of all links.
    fn dropped(&self) -> u64 {
        self.network.links.iter().map(|l| l.counters().signals().dropped.packets).sum()
    }

    /// Return the number of marked packets of all links.
    fn marked(&self) -> u64 {
        self.network.links.iter().map(|l| l.counters().signals().marked()).sum()
    }

    /// Warn if connections use ECN and the queues drop packets but mark no packet.
    fn without_marks(&self) -> Option<Warning> {
        let able = (0..self.connections.single).filter(|&s| self.sender(s).uses_ecn()).count();
        let dropped = self.dropped();
        let text = || {
            format!(
                "{able} of {} connections use ECN, and {dropped} packets were dropped, but no packet was marked; \
                 use an AQM with ecn = \"mark\" in the queue that drops packets, or turn off ECN",
                self.connections.single
            )
        };
        (able > 0 && dropped > 0 && self.marked() == 0).then(|| Warning { about: "no-marks", text: text() })
    }

    /// Warn if no packet was dropped or marked.
    fn without_congestion(&self) -> Option<Warning> {
        let some = self.connections.single > 0 || !self.connections.arriving_flows.is_empty();
        let none = some && self.network.wires.is_empty() && self.dropped() == 0 && self.marked() == 0;
        let text = "no packet was dropped or marked in the whole run, so the run cannot show a difference \
                    between queues or congestion controls; raise the load if congestion was intended";
        none.then(|| Warning { about: "no-congestion", text: text.into() })
    }

    /// Warn if the parameters of an AQM do not fit its link: the buffer overflows more often than
    /// the AQM signals, or the AQM leaves the link idle although flows have unlimited data.
    fn parameters_of_another_link(&self) -> Option<Warning> {
        if self.dropped() + self.marked() == 0 {
            return None;
        }
        let counts = self.link_counts();
        let since = |l: usize| counts[l].since(self.baseline.links.get(l).unwrap_or(&LinkCounts::default()));
        let counted_s = self.end.since(self.begins()).seconds();
        let busiest = (0..counts.len()).max_by_key(|&l| since(l).busy)?;
        let unlimited = (0..self.plan.flows())
            .any(|f| matches!(self.plan.traffic(f), Traffic::Bulk(bulk) if bulk.size.is_none()));
        let problem = |l: usize, kind: &str| {
            let [full, early, threshold] = since(l).dropped_why;
            let signals = early + threshold + since(l).marked;
            let idle = 1.0 - since(l).busy.seconds() / counted_s;
            if full >= OVERFLOWS && full > signals {
                Some(format!(
                    "the buffer of {} overflowed {full} times, and {kind} signalled {signals} packets",
                    self.plan.links[l].name()
                ))
            } else if l == busiest && unlimited && signals > 0 && full == 0 && idle > IDLE {
                let name = self.plan.links[l].name();
                Some(format!("{kind} left {name} idle for {:.0} % of the time", 100.0 * idle))
            } else {
                None
            }
        };
        let signalled = |&l: &usize| since(l).dropped.packets + since(l).marked > 0;
        (0..counts.len()).filter(signalled).find_map(|l| {
            let kind = self.plan.links[l].queue().write();
            let (kind, instead) = CONSTANT.iter().find(|(name, _)| kind["kind"] == *name)?;
            let text = format!(
                "{}, so the parameters of {kind} probably do not suit this link; use {instead}, \
                 or set the parameters of {kind} for this link",
                problem(l, kind)?
            );
            Some(Warning { about: "aqm-parameters", text })
        })
    }

    /// Return the sending endpoint of the connection with index `s`.
    fn sender(&self, s: usize) -> &Endpoint {
        &self.connections.endpoints[End::sender(s as u32)]
    }
}

/// Return true if the limit of a queue is below two packets.
fn is_small(queue: &Queue, tcp: &Tcp) -> bool {
    let limit = queue.write().get("limit").and_then(|limit| Depth::read(limit, "").ok());
    let packet = (tcp.mss.0 + tcp.wire.data_header.0) as f64;
    match limit {
        Some(Depth::Packets(n)) => n < 2.0,
        Some(Depth::Bytes(n)) => n < 2.0 * packet,
        None => false,
    }
}

/// Return true if, at the end of the run, the receive window limits the sender.
fn is_held_by_window(sim: &Simulation, s: usize) -> bool {
    let (window, acked) = (sim.sender(s).window(), sim.sender(s).acked() as f64);
    window.cwnd >= window.rwnd && window.rwnd > 0.0 && acked > 2.0 * window.rwnd
}

/// Return true if, at the end of the run, a bulk transfer is still in its first slow start.
fn is_in_slow_start(sim: &Simulation, s: usize) -> bool {
    let end = sim.sender(s);
    let starts_slowly = end.tcp().congestion.has_slow_start();
    let bulk = matches!(sim.plan.traffic(sim.connections.records.slots[s].flow as usize), Traffic::Bulk(_));
    let stats = end.sender_stats();
    let reduced = stats.timeouts + stats.fast_retransmits + stats.ecn_reductions > 0;
    let window = end.window();
    let unfinished = end.milestones().1 == Time::NEVER && stats.segments > 0;
    bulk && unfinished
        && starts_slowly
        && !reduced
        && window.cwnd < window.ssthresh
        && !is_held_by_window(sim, s)
}

/// Return true if a connection does not use ECN, although the client requested ECN and the server
/// accepts ECN. The cause is a lost SYN: the client retransmitted the SYN without a request for
/// ECN.
fn fell_back(sim: &Simulation, s: usize) -> bool {
    let [sender, receiver] = sim.connections.endpoints.of(s as u32);
    let requested = !matches!(sender.tcp().ecn_in_force(), Ecn::Off | Ecn::Passive);
    let established = sender.milestones().0 != Time::NEVER;
    let accepted = receiver.tcp().ecn_in_force() != Ecn::Off;
    sender.tcp().ecn.fallback && requested && accepted && established && !sender.uses_ecn()
}

/// Return true if the congestion control of a sender is DCTCP, and a queue of the network is
/// DualPI2.
fn is_dctcp_in_dualpi2(sim: &Simulation, s: usize) -> bool {
    let is_proportional = sim.sender(s).tcp().congestion.marks() == Marks::Proportional;
    is_proportional && sim.plan.links.iter().any(|l| l.queue().kind.params::<DualPi2>().is_some())
}

/// Return true if the congestion control of a sender responds to the share of marked packets, but
/// its ECN is Classic ECN, which reports marks only once per round trip (RFC 3168 §6.1.3).
fn has_classic_ecn_and_scalable_congestion_control(sim: &Simulation, s: usize) -> bool {
    let tcp = sim.sender(s).tcp();
    let classic = matches!(
        tcp.ecn_in_force(),
        Ecn::Rfc3168
            | Ecn::EcnPlus
            | Ecn::EcnPlusUnheeded
            | Ecn::EcnPlusWait
            | Ecn::EcnPlusTryOnce
            | Ecn::EcnPlusPlus
    );
    classic && matches!(tcp.congestion.marks(), Marks::Proportional | Marks::L4s)
}
