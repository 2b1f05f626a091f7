//! RIO: RED with In and Out.
//!
//! Source: Clark & Fang 1998, "Explicit allocation of best-effort packet delivery service"
//! (`clark1998rio`), the algorithm of its figure "RIO": for an In packet the average of the In packets
//! and the In parameters, for an Out packet the average of all packets and the Out parameters. The
//! decoupled variant averages the Out packets alone. The machinery is WRED's.
//!
//! The paper was not at hand. Compared with ns-2's rio.cc, to which one of its authors contributed: which
//! average and thresholds decide on which packets agrees, and maxp (0.02 and 0.2). Its thresholds are
//! others (15/30 and 5/15), and there only In packets update the averages; here every packet updates that
//! of all, as the figure has it. That figure and the section number are from memory.

use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Read, params, words};

use crate::diffserv::{Dscp, low};
use crate::law::{Configures, Place};
use crate::red::check_thresholds;
use crate::spacing::{AboveMaxth, Spacing};
use crate::wred::{Averaged, Precedence, Wred, WredLaw};

words! {
    /// What the average of the Out packets counts.
    pub enum Coupling {
        /// In and Out packets (RIO-C): Out packets are dropped first, whatever fills the queue.
        Coupled = "coupled",
        /// Out packets alone (RIO-D).
        Decoupled = "decoupled",
    }
}

params! {
    /// RIO is twin RED for packets that are in or out of their sender's profile, told by their
    /// codepoints. Out packets are signalled earlier, more often, and by the whole queue's average; In
    /// packets only by that of the In packets. Its In thresholds are higher than those for Out.
    pub struct Rio: "rio", checked by check {
        /// The codepoints of In packets; all others are Out.
        in_dscp: Vec<Dscp> = (low()), in Range::ANY, from "rfc2597 §6: low drop precedence";
        /// Average of the In packets below which none of them is signalled.
        in_minth: Depth = (Depth::Packets(40.0)), in Range::above(0.0), from "clark1998rio §IV: 40/70/0.02";
        /// Average of the In packets above which every one of them is signalled.
        in_maxth: Depth = (Depth::Packets(70.0)), in Range::above(0.0), from "clark1998rio §IV: 40/70/0.02";
        /// Signal probability of In packets at in_maxth.
        in_maxp: Probability = (Probability(0.02)), in Range::above_to(0.0, 1.0), from "clark1998rio §IV: 40/70/0.02";
        /// Average below which no Out packet is signalled.
        out_minth: Depth = (Depth::Packets(10.0)), in Range::above(0.0), from "clark1998rio §IV: 10/30/0.2";
        /// Average above which every Out packet is signalled.
        out_maxth: Depth = (Depth::Packets(30.0)), in Range::above(0.0), from "clark1998rio §IV: 10/30/0.2";
        /// Signal probability of Out packets at out_maxth.
        out_maxp: Probability = (Probability(0.2)), in Range::above_to(0.0, 1.0), from "clark1998rio §IV: 10/30/0.2";
        /// What the average of the Out packets counts.
        coupling: Coupling = (Coupling::Coupled), in Range::ANY, from "clark1998rio: the average of all packets";
        /// Weight of the present queue in the averages (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// How signals are spaced.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// What happens to a packet above its maxth.
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// No packet is signalled while this many or fewer wait, whatever the average; 0: the average alone decides.
        least_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "clark1998rio has none; ns-2's RED has 1";
        /// Size of the packets that are pretended to have arrived while the queue was idle.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; 500 B is ns-2's";
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
            least_backlog: self.least_backlog,
            idle_packet_size: self.idle_packet_size,
        }
    }
}

fn check(rio: &Rio, path: &str) -> Result<(), Invalid> {
    for (minth, maxth, of) in [(rio.in_minth, rio.in_maxth, "in"), (rio.out_minth, rio.out_maxth, "out")] {
        check_thresholds(minth, maxth, path).map_err(|_| {
            Invalid::at(&join(path, format!("{of}_minth")), format!("must be below {of}_maxth"))
        })?;
    }
    if !rio.in_minth.counts_as(rio.out_minth) {
        let path = join(path, "out_minth");
        return Err(Invalid::new(&path, &rio.out_minth.write(), "must count what in_minth counts"));
    }
    let mut dscp = rio.in_dscp.clone();
    dscp.sort_unstable();
    dscp.dedup();
    if dscp.len() < rio.in_dscp.len() {
        let path = join(path, "in_dscp");
        return Err(Invalid::new(&path, &rio.in_dscp.write(), "must be different codepoints"));
    }
    Ok(())
}

impl Configures for Rio {
    type Law = WredLaw;
    const COUNTS_ON_ORDER: bool = true;

    fn law(&self, place: Place) -> WredLaw {
        self.wred().law(place)
    }
}
