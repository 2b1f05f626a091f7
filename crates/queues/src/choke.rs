//! CHOKe: choose and keep for responsive flows, choose and kill for unresponsive flows.
//!
//! Source: Pan, Prabhakar & Psounis 2000, "CHOKe: a stateless active queue management scheme for
//! approximating fair bandwidth allocation" (`pan2000choke`), the algorithm of figure 1 in section
//! II: the average and probability of RED and, above minth, a comparison with a packet of the
//! queue.
//!
//! Neither the paper on CHOKe nor its authors' code was available. The implementation is from
//! memory, and was compared with Linux's sch_choke.c. The order of decisions agrees with
//! sch_choke.c. CHOKe first updates the average, and passes the packet if the average is at most
//! minth. If the average is above minth, CHOKe compares the packet with a randomly chosen waiting
//! packet, and drops both packets if they belong to the same flow. Then RED decides, and finally
//! the limit of the buffer applies. Linux compares an arriving packet with one waiting packet. The
//! CHOKe of Linux uses Linux's RED (`tc_red`), in which the count of packets since the last signal
//! begins at -1 after a drop above maxth. In aqmlab the count of packets since the last signal
//! begins at 0 after a drop above maxth (Floyd & Jacobson 1993). The section numbers of the paper
//! on CHOKe are not verified.

use engine::Stream;
use net::{
    Aqm as _, Arrival, Backlog, Declared, Explanation, Fates, Next, QueueDiscipline, QueuedPacket, Verdict,
    Why, rules,
};
use units::param::Invalid;
use units::{Bytes, Depth, Packets, Probability, Range, Time, params};

use crate::aqm::{AqmParams, DisciplineParams, QueueContext};
use crate::fifo::{Buffer, Limit, Marking};
use crate::red::{ChanceBy, Red, RedAqm, check_thresholds};
use crate::spacing::{AboveMaxth, Spacing};
use crate::store::Store;

params! {
    /// CHOKe is a RED that limits unresponsive flows without per-flow state. While the average
    /// queue length is above minth, each arriving packet is compared with a randomly chosen waiting
    /// packet. If the arriving packet and the chosen packet belong to the same flow, both packets
    /// are dropped. Otherwise RED decides. The chosen packet most often belongs to a flow with many
    /// waiting packets, so such a flow loses the most packets.
    pub struct Choke: "choke", checked by check {
        /// Average queue length below which every packet passes (minth).
        minth: Depth = (Depth::Packets(5.0)), in Range::above(0.0), from "floyd1993red §6";
        /// Average queue length above which every packet is dropped (maxth).
        maxth: Depth = (Depth::Packets(15.0)), in Range::above(0.0), from "floyd1997parameters: maxth is three times minth";
        /// Signal probability when the average queue length reaches maxth (maxp).
        maxp: Probability = (Probability(0.1)), in Range::above_to(0.0, 1.0), from "floyd1997parameters: 1/10";
        /// Weight of the current queue length in the moving average of the queue length (wq).
        wq: Probability = (Probability(0.002)), in Range::above_to(0.0, 1.0), from "pan2000choke §III: 0.002";
        /// Number of randomly chosen waiting packets with which an arriving packet is compared.
        candidates: u64 = (1), in Range::between(1.0, 1000.0), from "pan2000choke §II: 1";
        /// Packet size that converts idle time into a number of virtual packets, each of which lets
        /// the average queue length decay.
        idle_packet_size: Bytes = (Bytes(500)), in Range::between(1.0, 65535.0), from "floyd1993red §4; ns-2 uses 500 B";
    }
}

fn check(choke: &Choke, path: &str) -> Result<(), Invalid> {
    check_thresholds(choke.minth, choke.maxth, path)
}

impl DisciplineParams for Choke {
    type Discipline = ChokeQueue;
    const DECLARED: &'static [Declared] = &[
        crate::average::DECLARED,
        Declared { rules: &[], variables: <crate::red::RedVariables as net::Variables>::LIST },
        crate::spacing::DECLARED,
        Declared { rules: RULES, variables: &[] },
    ];

    fn discipline(&self, buffer: &Buffer, context: QueueContext) -> ChokeQueue {
        let red = Red {
            minth: self.minth,
            maxth: self.maxth,
            maxp: self.maxp,
            wq: self.wq,
            gentle: false,
            spacing: Spacing::Uniform,
            above_maxth: AboveMaxth::Drop,
            chance_by: ChanceBy::Packet,
            reference_size: self.idle_packet_size,
            min_backlog: Packets(0.0),
            mark_below: Probability(1.0),
            idle_packet_size: self.idle_packet_size,
        };
        ChokeQueue {
            minth: self.minth.amount(),
            candidates: self.candidates,
            limit: Limit::of(buffer, context.limit),
            marks: buffer.ecn == Marking::Mark,
            random: context.random.branch("candidates"),
            red: red.aqm(context),
            store: Store::default(),
        }
    }
}

rules! {
    /// The average is above minth, and the arriving packet and a randomly chosen waiting packet
    /// belong to the same flow. Both packets are dropped.
    SAME_FLOW = "same-flow", from "pan2000choke fig. 1";
}

/// State of CHOKe.
#[derive(Debug)]
pub struct ChokeQueue {
    minth: f64,
    candidates: u64,
    limit: Limit,
    marks: bool,
    red: RedAqm,
    store: Store,
    random: Stream,
}

impl ChokeQueue {
    /// Return the function that explains a drop or a mark. RED explains its decision `why`, and
    /// `rule` replaces RED's rule.
    fn explainer(
        &self,
        why: Why,
        backlog: Backlog,
        rule: Option<&'static net::Rule>,
    ) -> impl FnOnce(&mut Explanation) {
        move |to| {
            self.limit.explain(backlog, to);
            self.red.explain(why, to);
            if let Some(rule) = rule {
                to.by(rule);
            }
        }
    }

    /// Compare a packet of the flow `flow` with randomly chosen waiting packets (candidates), and
    /// drop the candidates of the same flow. Return true if a candidate was dropped.
    fn meets_itself(&mut self, flow: u32, at: &Arrival, fates: &mut Fates) -> bool {
        let mut met = false;
        for _ in 0..self.candidates {
            if self.store.is_empty() {
                break;
            }
            let position = self.random.below(self.store.len() as u64) as usize;
            if self.store.get(position).is_some_and(|h| h.packet.connection == flow)
                && let Some(held) = self.store.remove(position)
            {
                fates.drop(held.packet, Why::Early, self.explainer(Why::Full, at.backlog, Some(&SAME_FLOW)));
                met = true;
            }
        }
        met
    }
}

impl QueueDiscipline for ChokeQueue {
    fn enqueue(&mut self, mut held: QueuedPacket, at: &Arrival, fates: &mut Fates) {
        let average = self.red.update_average(at);
        if average > self.minth && self.meets_itself(held.packet.connection, at, fates) {
            let explain = self.explainer(Why::Full, at.backlog, Some(&SAME_FLOW));
            return fates.drop(held.packet, Why::Early, explain);
        }
        let verdict = self.red.judge(&held.packet, at);
        if self.limit.is_full(&held.packet, at) {
            return fates.drop(held.packet, Why::Full, self.explainer(Why::Full, at.backlog, None));
        }
        match verdict {
            Verdict::Pass => {}
            Verdict::Signal(why) if self.marks && held.packet.ecn.is_capable() => {
                fates.mark(&mut held.packet, why, self.explainer(why, at.backlog, None));
            }
            Verdict::Signal(why) | Verdict::Drop(why) => {
                return fates.drop(held.packet, why, self.explainer(why, at.backlog, None));
            }
        }
        self.store.push(held);
    }

    fn dequeue(&mut self, _: Time, _: &mut Fates) -> Next {
        self.store.pop().into()
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }

    fn next_size(&self) -> u64 {
        self.store.next_size()
    }

    fn each(&self, see: &mut dyn FnMut(&QueuedPacket)) {
        self.store.iter().for_each(see);
    }

    fn average(&self) -> Option<Depth> {
        self.red.average()
    }
}
