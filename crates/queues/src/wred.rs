//! RED with drop precedences: WRED and GRED.
//!
//! Source: the mechanism is that of Clark & Fang 1998 (`clark1998rio`) for any number of classes, as
//! RFC 2597 §2 and §4 (`rfc2597`) ask of an AF queue: one queue, first in, first out, and for each drop
//! precedence its own thresholds and maxp. Which queue the average of a class is of tells the products
//! apart: the whole queue (Cisco's WRED), the class's own packets (Linux's GRED), or its own and those
//! of better classes (RIO and GRED's rio mode). An idle link lets every average decay.
//!
//! RFC 2597 was at hand, the paper was not. Compared with ns-2's diffserv/dsredq.cc, which is neither's
//! authors': its modes wred, rio_c and rio_d average what `all`, `own-and-better` and `own` do here. There
//! a class is idle while it and the better ones have no packet, here while the link is; and the thresholds
//! themselves belong to the range below them.

use engine::Stream;
use net::{Aqm, Arrival, Packet, Verdict};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Time, params, words};

use crate::average::Average;
use crate::diffserv::Dscp;
use crate::law::{Configures, Place, measure};
use crate::lazy::Departures;
use crate::red::{Curve, check_thresholds, is_spared};
use crate::spacing::{AboveMaxth, Chooser, Pressure, Spacing};

words! {
    /// Whose packets the average of a class counts.
    pub enum Averaged {
        /// All: one average for every class (WRED).
        All = "all",
        /// Those of the class alone (GRED).
        Own = "own",
        /// Those of the class and of all better ones (RIO, coupled).
        OwnAndBetter = "own-and-better",
    }
}

params! {
    /// What WRED does to the packets of one drop precedence.
    pub struct Precedence: "precedence", checked by check_precedence {
        /// The codepoints of its packets; the last precedence also takes what no other names.
        dscp: Vec<Dscp> = (Vec::new()), in Range::ANY, from "rfc2597 §6";
        /// Average queue below which no packet is signalled.
        minth: Depth = required, in Range::above(0.0), from "";
        /// Average queue above which every packet is signalled.
        maxth: Depth = required, in Range::above(0.0), from "";
        /// Signal probability when the average reaches maxth.
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
    }
}

fn check_precedence(p: &Precedence, path: &str) -> Result<(), Invalid> {
    check_thresholds(p.minth, p.maxth, path)
}

params! {
    /// RED that treats drop precedences differently: the packets of each, told by their codepoints,
    /// have their own minth, maxth and maxp. The best comes first in the list; each entry has the keys
    /// dscp (a list of codepoints), minth, maxth and maxp. With `averaged = "all"` it is WRED as routers
    /// have it; with `averaged = "own-and-better"` (or "own") it is Linux's GRED in (or out of) its RIO mode.
    pub struct Wred: "wred", checked by check {
        /// The precedences, best first.
        precedences: Vec<Precedence> = required, in Range::ANY, from "rfc2597 §2: an AF class has three";
        /// Whose packets the average of a precedence counts.
        averaged: Averaged = (Averaged::All), in Range::ANY, from "WRED as routers have it";
        /// Weight of the present queue in the averages (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// Above maxth the probability rises from maxp to 1 at twice maxth, instead of jumping to 1.
        gentle: bool = (false), in Range::ANY, from "clark1998rio has none";
        /// How signals are spaced.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// What happens to a packet above maxth (twice maxth when gentle).
        above_maxth: AboveMaxth = (AboveMaxth::Drop), in Range::ANY, from "rfc3168 §7";
        /// No packet is signalled while this many or fewer wait, whatever the average; 0: the average alone decides.
        least_backlog: Packets = (Packets(0.0)), in Range::at_least(0.0).whole(), from "clark1998rio has none; ns-2's RED has 1";
        /// Size of the packets that are pretended to have arrived while the queue was idle.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; 500 B is ns-2's";
    }
}

fn check(wred: &Wred, path: &str) -> Result<(), Invalid> {
    let path = join(path, "precedences");
    let Some(first) = wred.precedences.first() else {
        return Err(Invalid::at(&path, "has no precedence").remedy("give at least one"));
    };
    if wred.precedences.len() > 64 {
        return Err(Invalid::at(&path, "has more precedences than there are codepoints (64)"));
    }
    let mut seen = [false; 64];
    for (i, p) in wred.precedences.iter().enumerate() {
        let path = join(&path, i);
        if !p.minth.counts_as(first.minth) {
            return Err(Invalid::at(
                &path,
                "counts something else than the first: all packets, or all bytes",
            ));
        }
        for &dscp in &p.dscp {
            match seen.get_mut(usize::from(dscp.0)) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => return Err(Invalid::at(&path, format!("codepoint {dscp} is named twice"))),
                None => {}
            }
        }
    }
    Ok(())
}

impl Configures for Wred {
    type Law = WredLaw;
    const COUNTS_ON_ORDER: bool = true;

    fn law(&self, place: Place) -> WredLaw {
        let mut of_dscp = [self.precedences.len().saturating_sub(1) as u8; 64];
        for (i, p) in self.precedences.iter().enumerate() {
            for &dscp in &p.dscp {
                of_dscp[usize::from(dscp.0 & 63)] = i as u8;
            }
        }
        let class = |p: &Precedence| Class {
            curve: Curve {
                minth: p.minth.amount(),
                maxth: p.maxth.amount(),
                maxp: p.maxp.0,
                gentle: self.gentle,
            },
            average: Average::new(self.wq.0, place.rate, self.idle_packet_size),
            chooser: Chooser::new(self.spacing, self.above_maxth),
            waiting: 0,
        };
        WredLaw {
            counts: self.precedences.first().map_or(Depth::Packets(0.0), |p| p.minth),
            averaged: self.averaged,
            least_backlog: self.least_backlog.0 as u32,
            of_dscp,
            classes: self.precedences.iter().map(class).collect(),
            departures: Departures::default(),
            random: place.random,
        }
    }
}

/// A precedence at work.
#[derive(Clone, Debug)]
struct Class {
    curve: Curve,
    average: Average,
    chooser: Chooser,
    /// Its packets, or their bytes, in the queue.
    waiting: u64,
}

/// The state of WRED.
#[derive(Clone, Debug)]
pub struct WredLaw {
    counts: Depth,
    averaged: Averaged,
    least_backlog: u32,
    /// The precedence of each codepoint.
    of_dscp: [u8; 64],
    classes: Vec<Class>,
    departures: Departures,
    random: Stream,
}

impl WredLaw {
    fn amount(&self, size: u16) -> u64 {
        match self.counts {
            Depth::Packets(_) => 1,
            Depth::Bytes(_) => u64::from(size),
        }
    }

    /// Brings the averages up to date that an arrival of class `c` touches.
    fn update(&mut self, c: usize, at: &Arrival) {
        for class in &mut self.classes {
            class.average.decay(at.now, at.idle_since());
        }
        match self.averaged {
            Averaged::All => {
                let all = measure(at.backlog, self.counts);
                self.classes.iter_mut().for_each(|class| class.average.sample(all));
            }
            Averaged::Own => {
                let own = self.classes[c].waiting as f64;
                self.classes[c].average.sample(own);
            }
            Averaged::OwnAndBetter => {
                let mut sum = 0;
                for (i, class) in self.classes.iter_mut().enumerate() {
                    sum += class.waiting;
                    if i >= c {
                        class.average.sample(sum as f64);
                    }
                }
            }
        }
    }

    fn class_of(&self, packet: &Packet) -> usize {
        usize::from(self.of_dscp[usize::from(packet.label.dscp())])
    }
}

impl Aqm for WredLaw {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while let Some(d) = self.departures.next(at.now) {
            let amount = self.amount(d.size);
            self.classes[d.tag as usize].waiting -= amount;
        }
        let c = self.class_of(packet);
        self.update(c, at);
        let spared = is_spared(at, self.least_backlog);
        let class = &mut self.classes[c];
        let pressure = if spared { Pressure::None } else { class.curve.pressure(class.average.value()) };
        class.chooser.judge(pressure, &mut self.random)
    }

    fn on_departure(&mut self, now: Time) {
        self.departures.leave(now);
    }

    fn on_admitted(&mut self, packet: &Packet, at: &Arrival) {
        let c = self.class_of(packet);
        self.classes[c].waiting += self.amount(packet.size);
        self.departures.add(packet, at, c as u32);
    }

    fn on_overflow(&mut self, _: Time) {
        self.classes.iter_mut().for_each(|class| class.chooser.restart());
    }

    /// The average of the last precedence, the most inclusive.
    fn average(&self) -> Option<Depth> {
        self.classes.last().map(|class| self.counts.like(class.average.value()))
    }
}
