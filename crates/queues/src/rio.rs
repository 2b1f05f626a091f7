//! RIO: RED with In and Out.
//!
//! Source: Clark & Fang 1998, "Explicit allocation of best-effort packet delivery service"
//! (`clark1998rio`), the algorithm of its figure "RIO". The average number of In packets and the In
//! parameters decide on an In packet. The average number of all packets and the Out parameters
//! decide on an Out packet. In the decoupled variant the average number of Out packets alone
//! decides on an Out packet. The file `wred.rs` implements both variants.
//!
//! The paper on RIO was not available. Two properties agree with ns-2's rio.cc, to which one of the
//! authors contributed: the averages and thresholds that decide on each kind of packet, and maxp
//! (0.02 and 0.2). The default thresholds of ns-2 (15/30 and 5/15) differ from those of aqmlab, and
//! in ns-2 only In packets update the averages. In aqmlab every arriving packet updates the average
//! of all packets, as in the figure of the paper. The figure and the section number of the paper
//! are from memory.

use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Read, params, words};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext};
use crate::diffserv::{Dscp, low};
use crate::red::check_thresholds;
use crate::spacing::{AboveMaxth, Spacing};
use crate::wred::{Averaged, Precedence, Wred, WredAqm};

words! {
    /// Packets that count in the average that decides on Out packets.
    pub enum Coupling {
        /// In and Out packets (RIO-C): if In packets fill the queue, Out packets are dropped first.
        Coupled = "coupled",
        /// Out packets alone (RIO-D).
        Decoupled = "decoupled",
    }
}

params! {
    /// RIO has two RED curves in one queue: one curve for packets inside the profile of their
    /// sender (In), and one for packets outside the profile (Out). The codepoint of a packet
    /// distinguishes In from Out. The average length of the whole queue decides on Out packets,
    /// which RIO signals earlier and more often than In packets. The average number of In packets
    /// alone decides on In packets.
    pub struct Rio: "rio", checked by check, renamed by FORMER_BACKLOG_KEY {
        /// Codepoints of In packets. Packets with any other codepoint are Out packets.
        in_dscp: Vec<Dscp> = (low()), in Range::ANY, from "rfc2597 §6: codepoints of low drop precedence";
        /// Average number of In packets below which no In packet is signalled.
        in_minth: Depth = (Depth::Packets(40.0)), in Range::above(0.0), from "clark1998rio §IV: 40/70/0.02";
        /// Average number of In packets above which every In packet is signalled.
        in_maxth: Depth = (Depth::Packets(70.0)), in Range::above(0.0), from "clark1998rio §IV: 40/70/0.02";
        /// Signal probability of an In packet when the average number of In packets reaches
        /// in_maxth.
        in_maxp: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "clark1998rio §IV: 40/70/0.02";
        /// Average queue length below which no Out packet is signalled.
        out_minth: Depth = (Depth::Packets(10.0)), in Range::above(0.0), from "clark1998rio §IV: 10/30/0.2";
        /// Average queue length above which every Out packet is signalled.
        out_maxth: Depth = (Depth::Packets(30.0)), in Range::above(0.0), from "clark1998rio §IV: 10/30/0.2";
        /// Signal probability of an Out packet when the average queue length reaches out_maxth.
        out_maxp: Probability = (Probability(0.2)), in Range::above_to(0.0, 1.0), from "clark1998rio §IV: 10/30/0.2";
        /// Packets that count in the average that decides on Out packets.
        coupling: Coupling = (Coupling::Coupled), in Range::ANY, from "clark1998rio uses the average of all packets";
        /// Weight of the current queue length in each moving average (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// Distribution of the number of packets between two signals.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// Action on an In packet while its average is above in_maxth, and on an Out packet while
        /// its average is above out_maxth.
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// Maximum number of waiting packets at which every arriving packet passes, for any average
        /// queue length. If min_backlog is 0 packets, the average queue length alone decides on a
        /// signal.
        min_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "clark1998rio has no minimum backlog; RED in ns-2 has 1 packet";
        /// Packet size that converts idle time into a number of virtual packets, each of which lets
        /// the average queue length decay.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; ns-2 uses 500 B";
    }
}

impl Rio {
    fn wred(&self) -> Wred {
        Wred {
            precedences: vec![
                Precedence {
                    dscp: self.in_dscp.clone(),
                    minth: self.in_minth,
                    maxth: self.in_maxth,
                    maxp: self.in_maxp,
                },
                Precedence {
                    dscp: Vec::new(),
                    minth: self.out_minth,
                    maxth: self.out_maxth,
                    maxp: self.out_maxp,
                },
            ],
            averaged: match self.coupling {
                Coupling::Coupled => Averaged::OwnAndBetter,
                Coupling::Decoupled => Averaged::Own,
            },
            wq: self.wq,
            gentle: false,
            spacing: self.spacing,
            above_maxth: self.above_maxth,
            min_backlog: self.min_backlog,
            idle_packet_size: self.idle_packet_size,
        }
    }
}

fn check(rio: &Rio, path: &str) -> Result<(), Invalid> {
    for (minth, maxth, of) in [(rio.in_minth, rio.in_maxth, "in"), (rio.out_minth, rio.out_maxth, "out")] {
        check_thresholds(minth, maxth, path).map_err(|_| {
            Invalid::at(
                &join(path, format!("{of}_minth")),
                format!("must be below {of}_maxth and have the same unit"),
            )
        })?;
    }
    if !rio.in_minth.counts_as(rio.out_minth) {
        let path = join(path, "out_minth");
        return Err(Invalid::new(&path, &rio.out_minth.write(), "must have the unit of in_minth")
            .remedy("give all thresholds in packets or all in bytes"));
    }
    let mut dscp = rio.in_dscp.clone();
    dscp.sort_unstable();
    dscp.dedup();
    if dscp.len() < rio.in_dscp.len() {
        let path = join(path, "in_dscp");
        return Err(Invalid::new(&path, &rio.in_dscp.write(), "contains a codepoint twice")
            .remedy("list each codepoint once"));
    }
    Ok(())
}

impl AqmParams for Rio {
    type Aqm = WredAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [net::Declared] = crate::wred::DECLARED;

    fn aqm(&self, context: QueueContext) -> WredAqm {
        self.wred().aqm(context)
    }
}
