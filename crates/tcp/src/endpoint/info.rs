//! Values of a connection that an application can request, with the names of Linux's TCP_INFO.

use units::Duration;

use super::Endpoint;
use super::state::State;
use crate::receiver::Receiver;
use crate::sender::{CaState, Sender};

/// Values of a connection. The values of TCP_INFO are in microseconds for times, in bytes for
/// sizes, and in segments for windows.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Info {
    /// Name and value of each field of Linux's structure tcp_info, in the order of the structure;
    /// names are without the prefix `tcpi_`.
    pub fields: Vec<(&'static str, u64)>,
}

fn micros(d: Duration) -> u64 {
    d.0 / 1_000_000
}

/// Return the number by which Linux represents a state of a connection.
fn number(state: State) -> u64 {
    match state {
        State::Established => 1,
        State::SynSent => 2,
        State::SynReceived => 3,
        State::FinWait1 => 4,
        State::FinWait2 => 5,
        State::TimeWait => 6,
        State::Closed => 7,
        State::CloseWait => 8,
        State::LastAck => 9,
        State::Listen => 10,
        State::Closing => 11,
    }
}

impl Info {
    /// Collect the values of an endpoint, its sender and its receiver.
    fn of(end: &Endpoint, sender: Option<&Sender>, receiver: Option<&Receiver>) -> Self {
        let tcp = end.tcp();
        let window = end.window();
        let (sack, timestamps, scaling, their_scale, our_scale) = end.negotiated_options();
        let (ca_state, doublings, expirations) = sender.map_or((0, 0, 0), |s| {
            let phase = match s.state() {
                CaState::Open if s.counts().1 > 0 => 1, // TCP_CA_Disorder
                CaState::Open => 0,
                CaState::Cwr => 2,
                CaState::Recovery => 3,
                CaState::Loss => 4,
            };
            (phase, u64::from(s.tcb.doublings()), u64::from(s.tcb.expirations))
        });
        let (syn_data, failure) = end.fast_open_result();
        let options = u64::from(timestamps)
            | u64::from(sack) << 1
            | u64::from(scaling) << 2
            | u64::from(end.uses_ecn()) << 3
            | u64::from(syn_data) << 5;
        let (srtt, deviation) = sender.map_or_else(Default::default, |s| s.tcb.smoothed(tcp));
        let (out, sacked, lost, resent) = sender.map_or((0, 0, 0, 0), Sender::counts);
        let segments =
            |bytes: f64| if bytes.is_finite() { (bytes / window.smss).floor() as u64 } else { 0x7fff_ffff };
        let inflated = sender.is_some_and(|s| s.state() == CaState::Recovery);
        let cwnd = window.cwnd + if inflated { window.inflation } else { 0.0 }; // inflated as in RFC 5681 §3.2
        let stats = end.sender_stats();
        let got = end.receiver_stats();
        let (outstanding, unsent) = end.outstanding();
        let rate = sender.and_then(|s| s.pacing_rate(tcp)).map_or(u64::MAX, |r| r.0 / 8);
        let (received_ce, here, there) = end.ecn_counts();
        let fields = vec![
            ("state", number(end.application_state())),
            ("ca_state", ca_state),
            ("retransmits", expirations),
            ("probes", 0),
            ("backoff", doublings),
            ("options", options),
            ("snd_wscale", u64::from(their_scale)),
            ("rcv_wscale", u64::from(our_scale)),
            ("rto", micros(end.rto())),
            ("ato", micros(tcp.ack.timeout)),
            ("snd_mss", window.smss as u64),
            ("rcv_mss", receiver.map_or(536, |r| u64::from(r.largest()).max(536).min(tcp.mss.0))),
            ("unacked", u64::from(out)),
            ("sacked", u64::from(sacked)),
            ("lost", u64::from(lost)),
            ("retrans", u64::from(resent)),
            ("fackets", 0),
            ("pmtu", tcp.mss.0 + 40),
            ("rcv_ssthresh", u64::from(end.receive_window())),
            ("rtt", micros(srtt)),
            ("rttvar", micros(deviation)),
            ("snd_ssthresh", segments(window.ssthresh)),
            ("snd_cwnd", segments(cwnd + 1e-6)),
            ("advmss", tcp.mss.0),
            ("reordering", sender.map_or(tcp.recovery.duplicate_acks.0 as u64, |s| s.reordering_degree(tcp))),
            (
                "rcv_space",
                u64::from(receiver.and_then(|r| r.read_per_round_trip()).unwrap_or(end.receive_window())),
            ),
            ("total_retrans", stats.retransmitted_segments),
            ("pacing_rate", rate),
            ("bytes_acked", end.acked()),
            ("bytes_received", got.bytes - got.duplicate_bytes),
            ("segs_out", stats.segments + end.sent().0),
            ("segs_in", got.segments),
            ("notsent_bytes", unsent),
            ("min_rtt", sender.and_then(Sender::min_rtt).map_or(u64::from(u32::MAX), micros)),
            ("data_segs_in", got.segments),
            ("data_segs_out", stats.segments),
            (
                "delivered",
                sender
                    .and_then(Sender::delivered)
                    .unwrap_or_else(|| end.acked())
                    .div_ceil(window.smss as u64),
            ),
            ("bytes_sent", stats.bytes),
            ("bytes_retrans", stats.retransmitted_bytes),
            ("snd_wnd", window.rwnd as u64),
            ("delivered_ce", u64::from(stats.delivered_ce)),
            ("received_ce", u64::from(received_ce)),
            ("delivered_e1_bytes", u64::from(there[2])),
            ("delivered_e0_bytes", u64::from(there[0])),
            ("delivered_ce_bytes", u64::from(there[1])),
            ("received_e1_bytes", u64::from(here[2])),
            ("received_e0_bytes", u64::from(here[0])),
            ("received_ce_bytes", u64::from(here[1])),
            ("outq", outstanding),
            ("fastopen_client_fail", failure as u64),
        ];
        Info { fields }
    }
}

impl Endpoint {
    /// Return all values that an application can request (Linux, TCP_INFO).
    pub fn info(&self) -> Info {
        match &self.sender {
            Some(sender) => Info::of(self, Some(sender), self.receiver.as_deref()),
            None if self.state > State::SynReceived => {
                Info::of(self, Some(&self.new_sender()), self.receiver.as_deref())
            }
            None => Info::of(self, None, self.receiver.as_deref()),
        }
    }
}
