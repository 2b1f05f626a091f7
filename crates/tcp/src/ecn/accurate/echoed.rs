//! The Data Sender of Accurate ECN (RFC 9768 §3.2, `rfc9768`) decodes the feedback in ACKs about
//! the packets that it sent.
//!
//! If the ACE field may have wrapped, the number of marks is estimated as in RFC 9768, appendix
//! A.2.1, but only while ACKs usually acknowledge few packets. If ACKs always acknowledged many
//! packets, the estimate would assume at every ACK that the ACE field has wrapped.
//!
//! If the ACK has an AccECN option, its marked bytes are divided by the mean size of the
//! acknowledged packets. Of the possible numbers of marks, the estimate is the number that is
//! nearest to the marked bytes divided by the mean packet size. The estimated number of marks is
//! exact if all packets have the same size. The example of RFC 9768, appendix A.2.2, uses another
//! estimate. If the marked bytes do not fit into the smallest possible number of marked packets,
//! the example uses the largest possible number of marks.

use net::{AccEcn, Flags, Options};

use super::field::{self, DIVACE};
use super::path::ContinuousMarking;
use crate::sender::NewlyAcked;

/// Threshold for the mean number of packets that an ACK acknowledges. If the mean is below the
/// threshold, an ACK that acknowledges many packets indicates that earlier ACKs were lost ("well
/// below 8", appendix A.2.1). The mean and its weight are those of Linux (ACK_COMP_THRESH,
/// PKTS_ACKED_WEIGHT).
const FEW: f32 = 4.0;
const WEIGHT: f32 = 1.0 / 64.0;

/// Counters of this endpoint's packets, as the other side reports them.
#[derive(Clone, Copy, Debug)]
pub struct Echoed {
    /// s.cep: number of marked packets that the other side reported, plus 5.
    packets: u32,
    /// s.e0b, s.ceb and s.e1b: bytes that the other side reported for ECT(0), CE and ECT(1).
    bytes: [u32; 3],
    /// True if a byte counter of the first AccECN option was zero, which is invalid. If `zeroed` is
    /// true, the sender ignores all AccECN options (RFC 9768 §3.2.3.2.4).
    zeroed: bool,
    /// True if the sender no longer responds to feedback (RFC 9768, table 4, note 1; §3.2.2.3,
    /// §3.2.2.4).
    disabled: bool,
    /// True after the first feedback that follows the handshake has arrived.
    begun: bool,
    /// True if an ACK since the last AccECN option acknowledged enough packets to make the ACE
    /// field wrap.
    uncertain: bool,
    /// Latest timestamp (TSval) of the other side.
    latest: Option<u32>,
    /// Mean number of packets per ACK; 0 before the first ACK.
    mean: f32,
    /// Number of marked packets counted since the last AccECN option.
    since_option: u32,
    ahead: u32,
    /// Marked bytes that have not been attributed to acknowledged bytes.
    unplaced: u32,
    continuous: ContinuousMarking,
}

impl Default for Echoed {
    /// Return the initial counters (RFC 9768 §3.2.1).
    fn default() -> Self {
        Echoed {
            packets: 5,
            bytes: [1, 0, 1],
            zeroed: false,
            disabled: false,
            begun: false,
            uncertain: false,
            latest: None,
            mean: 0.0,
            since_option: 0,
            ahead: 0,
            unplaced: 0,
            continuous: ContinuousMarking::default(),
        }
    }
}

/// Feedback that one ACK gives, decoded from the ACE field and the AccECN option.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AceFeedback {
    /// Newly marked packets.
    pub packets: u32,
    /// Newly acknowledged bytes that were marked.
    pub bytes: u32,
    /// True if the path or the other endpoint changes ECN fields improperly, so that all packets
    /// must be Not-ECT.
    pub mangled: bool,
}

impl Echoed {
    /// Process the SYN-ACK, or the first segment that acknowledges this endpoint's SYN-ACK, with or
    /// without AccECN option. If the first AccECN option arrives only in a later segment, the
    /// sender processes it too (RFC 9768 §3.2.3.2.3). If `tests` is true, a byte counter of zero
    /// indicates that the path cleared the counter (RFC 9768 §3.2.3.2.4).
    pub fn on_first(&mut self, options: &Options, tests: bool) {
        self.latest = options.timestamps.map(|t| t.0);
        let Some(option) = options.accurate_ecn else { return };
        self.zeroed = tests && (option.ee0b() == Some(0) || option.ee1b() == Some(0));
        if !self.zeroed {
            self.on_option(&option);
        }
    }

    /// Process the pure ACK of this endpoint's SYN-ACK, which reports the ECN field of the SYN-ACK
    /// (RFC 9768, table 4). Return true if the SYN-ACK was marked.
    pub fn on_handshake(&mut self, ace: u32) -> bool {
        self.disabled = ace == 0b000;
        self.packets = if ace == 0b110 { 6 } else { 5 };
        ace == 0b110
    }

    /// Process a data segment that acknowledges this endpoint's SYN-ACK in place of a pure ACK. The
    /// data segment carries the ACE counter (RFC 9768 §3.2.2.2). Return true if the ACE counter
    /// reports a mark.
    pub fn on_data_for_handshake(&mut self, ace: u32) -> bool {
        let marked = ace.wrapping_sub(self.packets) % DIVACE;
        self.packets += marked;
        marked > 0
    }

    /// Return true if the sender no longer responds to feedback.
    pub fn is_disabled(&self) -> bool {
        self.disabled
    }

    /// Decode the feedback of an ACK (RFC 9768 §3.2.2.2, §3.2.3.1). An ACK that a later ACK has
    /// overtaken gives no feedback. If `tests` is true, the sender tests the first ACE field (RFC
    /// 9768 §3.2.2.4), and tests whether every packet is marked (RFC 9768 §3.2.2.3).
    pub fn on_ack(
        &mut self,
        flags: Flags,
        options: &Options,
        newly: &NewlyAcked,
        tests: bool,
    ) -> AceFeedback {
        if self.disabled || self.is_superseded(options, newly) {
            return AceFeedback::default();
        }
        let ace = field::ace(flags);
        if tests && !std::mem::replace(&mut self.begun, true) && ace == 0 {
            self.disabled = true;
            return AceFeedback { mangled: true, ..AceFeedback::default() };
        }
        let lower = ace.wrapping_sub(self.packets) % DIVACE;
        let option = options.accurate_ecn.filter(|_| !self.zeroed);
        let marked = option.and_then(|option| self.on_option(&option));
        if self.mean == 0.0 {
            self.mean = newly.segments as f32;
        }
        // If an AccECN option has no counter ECEB, no packet was marked since the previous AccECN
        // option (RFC 9768 §3.2.3). The previous AccECN option may have been lost.
        let packets = self.estimate_packets(lower, marked.or(option.map(|_| 0)), newly);
        if newly.segments > 0 {
            self.mean += WEIGHT * (newly.segments as f32 - self.mean);
        }
        self.packets = self.packets.wrapping_add(packets);
        self.since_option += packets;
        self.uncertain |= newly.segments >= DIVACE;
        // RFC 9768 §3.2.3.2.5: the feedback reports marked bytes without a marked packet.
        let mut mangled = marked.is_some_and(|b| b > 0) && self.since_option == 0 && !self.uncertain;
        if tests && self.continuous.on_ack((newly.segments, packets), newly.ack, newly.max) {
            (self.disabled, mangled) = (true, true);
        }
        AceFeedback { packets, bytes: self.place_bytes(packets, marked, newly), mangled }
    }

    /// Return true if a later ACK has overtaken this ACK, which is the case if this ACK
    /// acknowledges no new data and has no newer timestamp (RFC 9768 §3.2.2.2, appendix A.1).
    fn is_superseded(&mut self, options: &Options, newly: &NewlyAcked) -> bool {
        let Some((value, _)) = options.timestamps else { return !newly.advances };
        let ahead = self.latest.map_or(1, |latest| value.wrapping_sub(latest) as i32);
        if ahead > 0 {
            self.latest = Some(value);
        }
        ahead < 0 || (ahead == 0 && !newly.advances)
    }

    /// Process the byte counters of an AccECN option (RFC 9768 §3.2.3.1). Return the newly marked
    /// bytes, if the AccECN option has the counter of marked bytes.
    fn on_option(&mut self, option: &AccEcn) -> Option<u32> {
        let fields = [option.ee0b(), option.eceb(), option.ee1b()];
        let mut grown = [0; 3];
        for ((counter, field), grown) in self.bytes.iter_mut().zip(fields).zip(&mut grown) {
            if let Some(field) = field {
                *grown = field.wrapping_sub(*counter) & 0xFF_FFFF;
                *counter = counter.wrapping_add(*grown);
            }
        }
        option.eceb().map(|_| grown[1])
    }

    /// Estimate the number of marked packets, which is `lower` plus a multiple of eight (RFC 9768
    /// §3.2.2.5.2). `marked` is the number of newly marked bytes that the AccECN option reports.
    fn estimate_packets(&self, lower: u32, marked: Option<u32>, newly: &NewlyAcked) -> u32 {
        if newly.segments < DIVACE {
            return lower; // also if it exceeds the acknowledged packets: control packets may be marked
        }
        let upper = newly.segments - (newly.segments - lower) % DIVACE; // dSafer.cep of RFC 9768, appendix A.2.1
        match marked {
            None if self.mean >= FEW => lower,
            None => upper,
            Some(bytes) => {
                let size = f64::from(newly.bytes.max(1)) / f64::from(newly.segments);
                let beyond = f64::from(bytes) / size - f64::from(self.since_option + lower);
                let around = (beyond / f64::from(DIVACE)).round().max(0.0) as u32;
                lower.saturating_add(around.saturating_mul(DIVACE)).min(upper)
            }
        }
    }

    /// Return the marked bytes among those that the ACK delivers. If the ACK has no AccECN option,
    /// the sender assumes that each marked packet has the mean packet size (RFC 9768, appendix
    /// A.3). The next AccECN option corrects this estimate. If there are more marked bytes than
    /// delivered bytes, the excess is attributed to later ACKs.
    fn place_bytes(&mut self, packets: u32, marked: Option<u32>, newly: &NewlyAcked) -> u32 {
        let bytes = match marked {
            Some(bytes) => {
                let more = bytes.saturating_sub(self.ahead);
                self.ahead = self.ahead.saturating_sub(bytes);
                (self.since_option, self.uncertain) = (0, false);
                more
            }
            None => {
                let size = newly.bytes.checked_div(newly.segments).unwrap_or(newly.size);
                let bytes = packets.saturating_mul(size);
                self.ahead = self.ahead.saturating_add(bytes);
                bytes
            }
        };
        let unplaced = self.unplaced.saturating_add(bytes);
        let placed = unplaced.min(newly.bytes);
        self.unplaced = unplaced - placed;
        placed
    }

    /// Return the bytes that the other side received with ECT(0), CE and ECT(1), according to its
    /// AccECN options.
    pub fn counts(&self) -> [u32; 3] {
        let from = Echoed::default();
        [0, 1, 2].map(|i| self.bytes[i].wrapping_sub(from.bytes[i]))
    }
}

#[cfg(test)]
mod tests {
    use net::{AccEcnOrder, Ecn};

    use super::*;

    const MSS: u32 = 1460;

    /// Return an ACK of `segments` full segments.
    fn newly_acked(segments: u32) -> NewlyAcked {
        NewlyAcked {
            bytes: segments * MSS,
            segments,
            advances: segments > 0,
            size: MSS,
            ..NewlyAcked::default()
        }
    }

    /// Return the options of an ACK with timestamp `at` and the counter `ceb` of marked bytes.
    fn options(at: Option<u32>, ceb: Option<u32>) -> Options {
        let mut options = Options::NONE;
        options.timestamps = at.map(|value| (value, 0));
        options.accurate_ecn = ceb.map(|ceb| AccEcn::of(AccEcnOrder::Ect0First, 1, ceb, 1, 3));
        options
    }

    fn option(ceb: u32) -> Options {
        options(None, Some(ceb))
    }

    fn ack(echoed: &mut Echoed, counter: u32, options: &Options, newly: &NewlyAcked) -> (u32, u32) {
        let feedback = echoed.on_ack(field::flags(counter % 8), options, newly, false);
        assert!(!feedback.mangled);
        (feedback.packets, feedback.bytes)
    }

    /// Return a sender whose ACKs have each acknowledged two packets.
    fn few_packet_sender() -> Echoed {
        let mut echoed = Echoed::default();
        assert_eq!(ack(&mut echoed, 5, &Options::NONE, &newly_acked(2)), (0, 0));
        echoed
    }

    #[test]
    fn the_packet_counter_wraps() {
        let (mut echoed, mut counter) = (Echoed::default(), 5);
        for marks in [0, 1, 3, 0, 7, 2] {
            counter += marks;
            assert_eq!(ack(&mut echoed, counter, &Options::NONE, &newly_acked(7)).0, marks);
        }
    }

    /// RFC 9768, appendix A.2.1: with the same ACE counter, an ACK of nine packets reports two
    /// marks, and an ACK of ten packets reports ten marks.
    #[test]
    fn without_option_the_safest_number_of_marks_counts() {
        assert_eq!(ack(&mut few_packet_sender(), 5 + 2, &Options::NONE, &newly_acked(9)), (2, 2 * MSS));
        assert_eq!(ack(&mut few_packet_sender(), 5 + 2, &Options::NONE, &newly_acked(10)), (10, 10 * MSS));
        assert_eq!(ack(&mut few_packet_sender(), 5, &Options::NONE, &newly_acked(8)).0, 8);
    }

    /// RFC 9768, appendix A.2.1 does not apply if ACKs usually acknowledge many packets.
    #[test]
    fn acks_that_always_cover_many_packets_indicate_no_wrap() {
        let mut echoed = Echoed::default();
        for _ in 0..5 {
            assert_eq!(ack(&mut echoed, 5, &Options::NONE, &newly_acked(16)).0, 0);
        }
    }

    /// If ACKs have the AccECN option, the marked bytes determine how often the ACE counter has
    /// wrapped.
    #[test]
    fn with_option_the_marked_bytes_determine_the_wraps() {
        for marks in [0, 1, 2, 9, 10, 17, 30] {
            let feedback = ack(&mut few_packet_sender(), 5 + marks, &option(marks * MSS), &newly_acked(40));
            assert_eq!(feedback, (marks, marks * MSS));
        }
        // If an ACK without the AccECN option has reported marked bytes, a later AccECN option does
        // not count these bytes again.
        let mut echoed = few_packet_sender();
        assert_eq!(ack(&mut echoed, 5 + 3, &Options::NONE, &newly_acked(4)), (3, 3 * MSS));
        assert_eq!(ack(&mut echoed, 5 + 13, &option(13 * MSS), &newly_acked(20)), (10, 10 * MSS));
    }

    /// RFC 9768 §3.2.2.2: an ACK that acknowledges no new data was overtaken, unless its timestamp
    /// is newer.
    #[test]
    fn an_overtaken_ack_gives_no_feedback() {
        let mut echoed = few_packet_sender();
        assert_eq!(ack(&mut echoed, 5 + 4, &Options::NONE, &newly_acked(4)).0, 4);
        assert_eq!(ack(&mut echoed, 5 + 3, &Options::NONE, &newly_acked(0)).0, 0);
        assert_eq!(ack(&mut echoed, 5 + 5, &Options::NONE, &newly_acked(2)).0, 1);
        let at = |value| options(Some(value), None);
        assert_eq!(ack(&mut echoed, 5 + 6, &at(10), &newly_acked(0)).0, 1);
        assert_eq!(ack(&mut echoed, 5 + 5, &at(10), &newly_acked(0)).0, 0, "the timestamp is not newer");
        assert_eq!(ack(&mut echoed, 5 + 5, &at(9), &newly_acked(1)).0, 0, "the timestamp is older");
        assert_eq!(ack(&mut echoed, 5 + 7, &at(11), &newly_acked(0)).0, 1);
    }

    /// If an ACK reports more marks than it acknowledges packets, control packets were marked (RFC
    /// 9768 §3.2.2.5.2).
    #[test]
    fn marks_on_control_packets_count() {
        assert_eq!(ack(&mut few_packet_sender(), 5 + 5, &Options::NONE, &newly_acked(2)), (5, 2 * MSS));
    }

    /// RFC 9768, appendix A.3: without an AccECN option, the sender assumes that each marked packet
    /// has the mean packet size. The next AccECN option corrects the number of marked bytes.
    #[test]
    fn bytes_are_estimated_without_option() {
        let mut echoed = few_packet_sender();
        let small =
            NewlyAcked { bytes: 300, segments: 3, advances: true, size: MSS, ..NewlyAcked::default() };
        assert_eq!(ack(&mut echoed, 5 + 1, &Options::NONE, &small), (1, 100));
        assert_eq!(ack(&mut echoed, 5 + 2, &option(60 + MSS), &newly_acked(2)), (1, MSS - 40));
    }

    /// Without SACK, data that arrived out of order is reported as marked before an ACK delivers
    /// it.
    #[test]
    fn marked_bytes_are_attributed_to_the_ack_that_delivers_them() {
        let mut echoed = few_packet_sender();
        let later = options(Some(5), Some(2 * MSS));
        assert_eq!(ack(&mut echoed, 5 + 2, &later, &newly_acked(0)), (2, 0));
        let latest = options(Some(6), Some(2 * MSS));
        assert_eq!(ack(&mut echoed, 5 + 2, &latest, &newly_acked(3)), (0, 2 * MSS));
    }

    /// RFC 9768 §3.2.3.2.5: feedback of marked bytes without a marked packet is contradictory.
    #[test]
    fn contradictory_counters_are_detected() {
        let mut echoed = few_packet_sender();
        let feedback = echoed.on_ack(field::flags(5), &option(MSS), &newly_acked(2), false);
        assert!(feedback.mangled);
        // The byte and packet counters may differ if an earlier ACK had no AccECN option or no ECEB
        // counter, or if the ACE counter may have wrapped.
        let mut echoed = few_packet_sender();
        ack(&mut echoed, 5 + 1, &Options::NONE, &newly_acked(2));
        assert_eq!(ack(&mut echoed, 5 + 1, &option(MSS), &newly_acked(2)), (0, 0));
        let mut short = Options::NONE;
        short.accurate_ecn = Some(AccEcn::of(AccEcnOrder::Ect0First, 1, 0, 1, 1));
        assert_eq!(ack(&mut echoed, 5 + 2, &short, &newly_acked(2)).0, 1);
        assert_eq!(ack(&mut echoed, 5 + 2, &option(2 * MSS), &newly_acked(2)), (0, 0));
        assert_eq!(
            ack(&mut echoed, 5 + 2, &short, &newly_acked(20)).0,
            0,
            "an ACK of many packets reports that no packet was marked"
        );
        assert_eq!(ack(&mut echoed, 5 + 10, &option(10 * MSS), &newly_acked(40)).0, 8);
    }

    /// The sender ignores byte counters that the path cleared (RFC 9768 §3.2.3.2.4), and a packet
    /// counter that the path cleared (RFC 9768 §3.2.2.4).
    #[test]
    fn counters_that_the_path_cleared_are_ignored() {
        let mut zero = Options::NONE;
        zero.accurate_ecn = Some(AccEcn::of(AccEcnOrder::Ect1First, 0, 0, 0, 1));
        for (tests, bytes) in [(true, MSS), (false, 20)] {
            let mut echoed = Echoed::default();
            echoed.on_first(&zero, tests);
            assert_eq!(ack(&mut echoed, 5 + 1, &option(20), &newly_acked(2)), (1, bytes));
        }
        let mut echoed = Echoed::default();
        assert!(echoed.on_ack(field::flags(0), &Options::NONE, &newly_acked(1), true).mangled);
        assert!(echoed.is_disabled());
        let mut echoed = Echoed::default();
        assert_eq!(ack(&mut echoed, 0, &Options::NONE, &newly_acked(3)).0, 3);
    }

    use proptest::prelude::*;

    use super::super::received::Received;

    proptest! {
        /// The feedback gives exactly the packets and bytes that arrived marked, after any sequence
        /// of marks, lost ACKs, and ACKs without an AccECN option. No ACK in the test covers enough
        /// packets to make the ACE counter wrap.
        #[test]
        fn the_feedback_equals_the_marks_that_arrived(
            packets in prop::collection::vec((0u8..4, 1u32..3, any::<bool>(), any::<bool>()), 1..300),
            share in 0u8..5,
            size in 1u32..1461,
        ) {
            let (mut received, mut echoed) = (Received::default(), Echoed::default());
            let (mut marks, mut feedback, mut out) = ((0, 0), (0, 0), 0);
            for (i, &(mark, every, lost, with_option)) in packets.iter().enumerate() {
                let marked = mark < share;
                let field = if marked { Ecn::Ce } else { Ecn::Ect0 };
                let at_once = received.on_packet(field, size as u16, false);
                marks = if marked { (marks.0 + 1, marks.1 + size) } else { marks };
                out += 1;
                let last = i + 1 == packets.len();
                if !at_once && !last && !(i as u32).is_multiple_of(every) {
                    continue;
                }
                received.on_ack_sent();
                let mut options = Options::NONE;
                options.accurate_ecn = received.option(12).filter(|_| with_option || last);
                if lost && !last && out < 6 {
                    continue;
                }
                let newly = NewlyAcked { bytes: out * size, segments: out, advances: true, size, ..NewlyAcked::default() };
                let one = echoed.on_ack(received.flags(), &options, &newly, false);
                prop_assert!(!one.mangled);
                feedback = (feedback.0 + one.packets, feedback.1 + one.bytes);
                out = 0;
            }
            prop_assert_eq!(feedback, marks);
        }
    }

    /// RFC 9768, table 4: the ACE field of the ACK of the SYN-ACK sets the initial counter.
    #[test]
    fn the_ack_of_the_syn_ack_sets_the_initial_counter() {
        for (value, marked, counter) in [
            (1, false, 5),
            (2, false, 5),
            (3, false, 5),
            (4, false, 5),
            (5, false, 5),
            (6, true, 6),
            (7, false, 5),
        ] {
            let mut echoed = Echoed::default();
            assert_eq!(echoed.on_handshake(value), marked);
            assert_eq!(ack(&mut echoed, counter, &Options::NONE, &newly_acked(1)).0, 0);
        }
        let mut echoed = Echoed::default();
        assert!(!echoed.on_handshake(0) && echoed.is_disabled());
        assert_eq!(ack(&mut echoed, 6, &Options::NONE, &newly_acked(1)).0, 0);
    }
}
