//! RED with drop precedences: WRED and GRED.
//!
//! Source: WRED applies the mechanism of Clark & Fang 1998 (`clark1998rio`) to any number of
//! classes, as RFC 2597 §2 and §4 (`rfc2597`) require of an AF queue. The queue is one
//! first-in-first-out queue. Each drop precedence is a class with its own thresholds and maxp.
//! Implementations differ in the packets that they count in the average of a class. Cisco's WRED
//! counts the whole queue. Linux's GRED counts only the packets of the class. RIO and the RIO mode
//! of GRED count the packets of the class and of better classes. While the link is idle, the
//! averages of all classes decay.
//!
//! RFC 2597 was available, and the paper on RIO was not. The modes wred, rio_c and rio_d of ns-2's
//! diffserv/dsredq.cc count the same packets as `all`, `own-and-better` and `own` in aqmlab. The
//! authors of dsredq.cc are neither those of RFC 2597 nor those of the paper. In ns-2 a class is
//! idle while the queue contains no packet of the class or of a better class. In aqmlab every class
//! is idle while the link is idle. If an average is equal to a threshold, ns-2 treats it as below
//! the threshold, and aqmlab treats it as above the threshold.

use engine::Stream;
use net::{Aqm, Arrival, Declared, Explanation, Packet, Variables as _, Verdict, Why, variables};
use units::param::{Invalid, join};
use units::{Bytes, Depth, Packets, Probability, Range, Time, params, words};

use crate::aqm::{AqmParams, FORMER_BACKLOG_KEY, QueueContext, measure};
use crate::average::Average;
use crate::diffserv::Dscp;
use crate::lazy::Departures;
use crate::red::{Curve, check_thresholds, is_spared};
use crate::spacing::{AboveMaxth, Chooser, Pressure, Spacing};

words! {
    /// Packets that count in the average of a class.
    pub enum Averaged {
        /// All packets count, so that all classes have the same average (WRED).
        All = "all",
        /// The average of a class includes only the packets of this class (GRED).
        Own = "own",
        /// The packets of the class and of all better classes count (RIO, coupled).
        OwnAndBetter = "own-and-better",
    }
}

params! {
    /// Codepoints and thresholds of one drop precedence of WRED.
    pub struct Precedence: "precedence", checked by check_precedence {
        /// Codepoints of this precedence. The last precedence also contains every codepoint that is
        /// not in any of the lists.
        dscp: Vec<Dscp> = (Vec::new()), in Range::ANY, from "rfc2597 §6";
        /// Average queue length below which no packet of this precedence is signalled.
        minth: Depth = required, in Range::above(0.0), from "";
        /// Average queue length at which the signal probability reaches maxp.
        maxth: Depth = required, in Range::above(0.0), from "";
        /// Signal probability when the average queue length reaches maxth.
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
    }
}

fn check_precedence(p: &Precedence, path: &str) -> Result<(), Invalid> {
    check_thresholds(p.minth, p.maxth, path)
}

params! {
    /// RED with a separate minth, maxth and maxp for each drop precedence. The codepoint of a
    /// packet determines its drop precedence. The list starts with the best precedence, and each
    /// entry has the keys dscp (a list of codepoints), minth, maxth and maxp. With `averaged =
    /// "all"` this queue is the WRED of routers. With `averaged = "own"` this queue is Linux's
    /// GRED, and with `averaged = "own-and-better"` it is GRED in its RIO mode.
    pub struct Wred: "wred", checked by check, renamed by FORMER_BACKLOG_KEY {
        /// Drop precedences, from the best to the worst.
        precedences: Vec<Precedence> = required, in Range::ANY, from "rfc2597 §2: an AF class has three drop precedences";
        /// Packets that are included in the average queue length of each drop precedence.
        averaged: Averaged = (Averaged::All), in Range::ANY, from "WRED in routers has one average of all packets";
        /// Weight of the current queue length in each moving average (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "floyd1993red §6: 0.002";
        /// If gentle is true, the signal probability rises linearly from maxp at maxth to 1 at
        /// twice maxth. If gentle is false, the signal probability jumps from maxp to 1 at maxth.
        gentle: bool = (false), in Range::ANY, from "clark1998rio does not have gentle";
        /// Distribution of the number of packets between two signals.
        spacing: Spacing = (Spacing::Uniform), in Range::ANY, from "floyd1993red §7, method 2";
        /// Action on a packet while the average queue length is above maxth (above twice maxth if
        /// gentle).
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

fn check(wred: &Wred, path: &str) -> Result<(), Invalid> {
    let path = join(path, "precedences");
    let Some(first) = wred.precedences.first() else {
        return Err(Invalid::at(&path, "has 0 entries").remedy("give at least one precedence"));
    };
    if wred.precedences.len() > 64 {
        return Err(Invalid::at(&path, "has more entries than there are codepoints (64)"));
    }
    let mut seen = [false; 64];
    for (i, p) in wred.precedences.iter().enumerate() {
        let path = join(&path, i);
        if !p.minth.counts_as(first.minth) {
            return Err(Invalid::at(
                &path,
                "has thresholds in another unit than the first precedence; give all in packets or all in bytes",
            ));
        }
        for &dscp in &p.dscp {
            match seen.get_mut(usize::from(dscp.0)) {
                Some(seen) if !*seen => *seen = true,
                Some(_) => {
                    return Err(Invalid::at(
                        &path,
                        format!("lists codepoint {dscp} a second time; list each codepoint once"),
                    ));
                }
                None => {}
            }
        }
    }
    Ok(())
}

impl AqmParams for Wred {
    type Aqm = WredAqm;
    const COUNTS_ON_ORDER: bool = true;
    const DECLARED: &'static [Declared] = DECLARED;

    fn aqm(&self, context: QueueContext) -> WredAqm {
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
            average: Average::new(self.wq.0, context.rate, self.idle_packet_size),
            chooser: Chooser::new(self.spacing, self.above_maxth),
            waiting: 0,
        };
        WredAqm {
            counts: self.precedences.first().map_or(Depth::Packets(0.0), |p| p.minth),
            averaged: self.averaged,
            min_backlog: self.min_backlog.0 as u32,
            of_dscp,
            classes: self.precedences.iter().map(class).collect(),
            last: 0,
            departures: Departures::default(),
            random: context.random,
        }
    }
}

variables! {
    /// Variables of WRED and RIO.
    pub struct PrecedenceVariables {
        /// Index of the packet's drop precedence, counted from 0 for the best precedence.
        precedence in "", from "rfc2597 §2";
    }
}

/// Rules and variables of WRED and RIO. The average is that of the packet's precedence.
pub(crate) const DECLARED: &[Declared] = &[
    Declared { rules: &[], variables: PrecedenceVariables::LIST },
    crate::average::DECLARED,
    crate::spacing::DECLARED,
];

/// State of one precedence.
#[derive(Clone, Debug)]
struct Class {
    curve: Curve,
    average: Average,
    chooser: Chooser,
    /// Number of waiting packets of the class, or number of their bytes.
    waiting: u64,
}

/// State of WRED.
#[derive(Clone, Debug)]
pub struct WredAqm {
    counts: Depth,
    averaged: Averaged,
    min_backlog: u32,
    /// Index of the precedence to which each codepoint belongs.
    of_dscp: [u8; 64],
    classes: Vec<Class>,
    /// Precedence of the packet that arrived last.
    last: usize,
    departures: Departures,
    random: Stream,
}

impl WredAqm {
    fn amount(&self, size: u16) -> u64 {
        match self.counts {
            Depth::Packets(_) => 1,
            Depth::Bytes(_) => u64::from(size),
        }
    }

    /// Update the averages in which a packet of class `c` counts.
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

impl Aqm for WredAqm {
    fn on_arrival(&mut self, packet: &Packet, at: &Arrival) -> Verdict {
        while let Some(d) = self.departures.next(at.now) {
            let amount = self.amount(d.size);
            self.classes[d.tag as usize].waiting -= amount;
        }
        let c = self.class_of(packet);
        self.last = c;
        self.update(c, at);
        let spared = is_spared(at, self.min_backlog);
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

    /// Return the average queue length of the last drop precedence, which includes at least as many
    /// packets as every other average.
    fn average(&self) -> Option<Depth> {
        self.classes.last().map(|class| self.counts.like(class.average.value()))
    }

    fn explain(&self, why: Why, to: &mut Explanation) {
        let class = &self.classes[self.last];
        to.with(PrecedenceVariables { precedence: self.last as f64 });
        class.average.explain(to);
        class.chooser.explain(why, to);
    }
}
