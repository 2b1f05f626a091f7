//! Packets that nobody answers, as over UDP: what is sent does not depend on what arrives.

/// A kind of datagrams: its own parameters, then those that all have who send at a pace of their own.
macro_rules! datagrams {
    ($(#[doc = $doc:literal])+ pub struct $Name:ident: $key:literal $(, checked by $check:path)? { $($own:tt)* }) => {
        units::params! {
            $(#[doc = $doc])+
            pub struct $Name: $key $(, checked by $check)? {
                $($own)*
                /// IP and UDP headers of a packet.
                headers: units::Bytes = (super::HEADERS), in units::Range::between(1.0, 1000.0),
                    from "rfc791 §3.1, rfc768: 20 B and 8 B";
                /// Their ECN field.
                ecn: super::Field = (super::Field::NotEct), in units::Range::ANY, from "rfc3168 §5";
                /// How many packets; absent: no end.
                packets: Option<u64> = (None), in units::Range::between(1.0, 4e9), from "";
                /// For how long it sends; absent: no end.
                lasts: Option<units::Duration> = (None), in units::Range::above(0.0), from "";
            }
        }
    };
}

mod cbr;
mod on_off;
mod poisson;
mod replay;
mod voip;

pub use cbr::Cbr;
pub use on_off::OnOff;
pub use poisson::Poisson;
pub use replay::Replay;
pub use voip::Voip;

use engine::Stream;
use net::Ecn;
use units::{Bytes, Duration, Rate, words};

use crate::Traffic;
use crate::spacing::Spacing;

/// IPv4 and UDP (RFC 791 §3.1, RFC 768).
const HEADERS: Bytes = Bytes(28);

words! {
    /// The ECN field of packets that nobody answers.
    pub enum Field {
        /// Not ECN-capable.
        NotEct = "not-ect",
        /// ECT(0).
        Ect0 = "ect0",
        /// ECT(1).
        Ect1 = "ect1",
    }
}

impl Field {
    /// As the packet has it.
    pub fn ecn(self) -> Ecn {
        match self {
            Field::NotEct => Ecn::NotEct,
            Field::Ect0 => Ecn::Ect0,
            Field::Ect1 => Ecn::Ect1,
        }
    }
}

/// The time between packets of a rate, at least a picosecond.
fn interval(rate: Rate, payload: Bytes, headers: Bytes) -> Duration {
    rate.transmission_time(Bytes(payload.0 + headers.0)).max(Duration(1))
}

/// What the times between packets follow.
#[derive(Clone, Debug)]
enum Gaps {
    Even(Duration),
    Poisson(Duration, Stream),
    OnOff(on_off::Stretches),
    Replay(Vec<(Duration, u16)>),
}

/// What all kinds have.
#[derive(Clone, Copy, Debug)]
struct Common {
    payload: u16,
    headers: u16,
    ecn: Ecn,
    /// Packets in all.
    packets: Option<u64>,
    /// Time from the first possible packet to the last.
    lasts: Option<Duration>,
}

/// A sender of packets that nobody answers.
#[derive(Clone, Debug)]
pub struct Emitter {
    gaps: Gaps,
    common: Common,
    /// Packets so far, and the time from the start to the last.
    packets: u64,
    elapsed: Duration,
    sizes: (u16, u16),
}

/// Takes what all kinds have from one.
macro_rules! common {
    ($p:expr) => {
        Common {
            payload: $p.payload.0 as u16,
            headers: $p.headers.0 as u16,
            ecn: $p.ecn.ecn(),
            packets: $p.packets,
            lasts: $p.lasts,
        }
    };
}

impl Emitter {
    /// That of this traffic, if it is of datagrams; `random` gives its randomness.
    pub fn new(traffic: &Traffic, random: Stream) -> Option<Self> {
        let (gaps, common) = match traffic {
            Traffic::Cbr(p) => (Gaps::Even(interval(p.rate, p.payload, p.headers)), common!(p)),
            Traffic::Voip(p) => (Gaps::Even(p.interval), common!(p)),
            Traffic::Poisson(p) => {
                (Gaps::Poisson(interval(p.rate, p.payload, p.headers), random), common!(p))
            }
            Traffic::OnOff(p) => (Gaps::OnOff(on_off::Stretches::new(p, random)), common!(p)),
            Traffic::Replay(p) => {
                let packets = p.trace.packets();
                let common = Common {
                    payload: 0,
                    headers: p.headers.0 as u16,
                    ecn: p.ecn.ecn(),
                    packets: Some(packets.len() as u64),
                    lasts: None,
                };
                (Gaps::Replay(packets.to_vec()), common)
            }
            _ => return None,
        };
        let payloads = match &gaps {
            Gaps::Replay(packets) => {
                let payloads = packets.iter().map(|p| p.1);
                payloads.fold((u16::MAX, 0), |(least, most), p| (least.min(p), most.max(p)))
            }
            _ => (common.payload, common.payload),
        };
        let sizes = (payloads.0 + common.headers, payloads.1 + common.headers);
        Some(Emitter { gaps, common, packets: 0, elapsed: Duration::ZERO, sizes })
    }

    /// The next packet: how long after the one before, or after the start, and its payload. `None`: there is none.
    pub fn next_packet(&mut self) -> Option<(Duration, u16)> {
        if self.common.packets.is_some_and(|most| self.packets >= most) {
            return None;
        }
        let first = self.packets == 0;
        let (gap, payload) = match &mut self.gaps {
            Gaps::Even(_) if first => (Duration::ZERO, self.common.payload),
            Gaps::OnOff(_) if first => (Duration::ZERO, self.common.payload),
            Gaps::Even(interval) => (*interval, self.common.payload),
            Gaps::Poisson(mean, random) => {
                (Spacing::Exponential.draw(*mean, random.uniform()), self.common.payload)
            }
            Gaps::OnOff(stretches) => (stretches.gap(), self.common.payload),
            Gaps::Replay(packets) => {
                let (time, payload) = *packets.get(self.packets as usize)?;
                (Duration(time.0 - self.elapsed.0), payload)
            }
        };
        self.elapsed = self.elapsed + gap;
        self.packets += 1;
        // The end itself is after the last.
        let over = self.common.lasts.is_some_and(|lasts| self.elapsed >= lasts);
        (!over).then_some((gap, payload))
    }

    /// Bytes of the headers of a packet.
    pub fn headers(&self) -> u16 {
        self.common.headers
    }

    /// The ECN field of its packets.
    pub fn ecn(&self) -> Ecn {
        self.common.ecn
    }

    /// The least and the largest size on the wire.
    pub fn sizes(&self) -> (u16, u16) {
        self.sizes
    }

    /// Whether it ends.
    pub fn ends(&self) -> bool {
        self.common.packets.is_some() || self.common.lasts.is_some()
    }

    /// What is done of it, between 0 and 1; of one that does not end, all.
    pub fn share_done(&self) -> f64 {
        let packets = self.common.packets.map_or(0.0, |most| self.packets as f64 / most as f64);
        let time = self.common.lasts.map_or(0.0, |lasts| self.elapsed.seconds() / lasts.seconds());
        if self.ends() { packets.max(time).min(1.0) } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};
    use units::Read;

    fn emitter(v: Value, seed: u64) -> Emitter {
        Emitter::new(&Traffic::read(&v, "").unwrap(), Stream::new(seed, "e")).unwrap()
    }

    fn gaps(mut e: Emitter, n: usize) -> Vec<f64> {
        std::iter::from_fn(|| e.next_packet()).take(n).map(|(gap, _)| gap.seconds()).collect()
    }

    #[test]
    fn even_packets() {
        let cbr = json!({"kind": "cbr", "rate": "1 Mbit/s", "packets": 3});
        assert_eq!(gaps(emitter(cbr, 1), 9), [0.0, 0.008, 0.008]);
        assert_eq!(gaps(emitter(json!("voip"), 1), 3), [0.0, 0.02, 0.02]);
        let e = emitter(json!("voip"), 1);
        assert_eq!((e.sizes(), e.ends()), ((132, 132), false));
        let lasts = json!({"kind": "voip", "lasts": "60 ms"});
        assert_eq!(gaps(emitter(lasts, 1), 9).len(), 3);
    }

    #[test]
    fn a_trace_is_followed() {
        let mut e = emitter(json!({"kind": "replay", "trace": [[0.5, 100], [0.5, 1472], [2, 1]]}), 1);
        assert_eq!(e.sizes(), (29, 1500));
        let packets: Vec<_> = std::iter::from_fn(|| e.next_packet()).map(|(g, p)| (g.seconds(), p)).collect();
        assert_eq!(packets, [(0.5, 100), (0.0, 1472), (1.5, 1)]);
        assert!(e.ends() && e.share_done() == 1.0);
    }

    /// Mean and variance of exponential intervals: m and m², within six standard errors (of the variance: √8 m²/√n).
    #[test]
    fn poisson_intervals_are_exponential() {
        let n = 100_000;
        let gaps = gaps(emitter(json!({"kind": "poisson", "rate": "1 Mbit/s"}), 1), n);
        let (n, m) = (n as f64, 0.008);
        let mean = gaps.iter().sum::<f64>() / n;
        let variance = gaps.iter().map(|g| (g - m) * (g - m)).sum::<f64>() / n;
        assert!((mean / m - 1.0).abs() < 6.0 / n.sqrt(), "{mean}");
        assert!((variance / (m * m) - 1.0).abs() < 6.0 * 8f64.sqrt() / n.sqrt(), "{variance}");
    }

    #[test]
    fn constant_stretches_are_exact() {
        let v = json!({"kind": "on_off", "rate": "1 Mbit/s", "on": "20 ms", "off": "100 ms", "lengths": "constant"});
        // On-time 0, 8, 16, 24: the last is 4 ms into the second stretch.
        let found = gaps(emitter(v, 1), 6);
        let expected = [0.0, 0.008, 0.008, 0.108, 0.008, 0.008];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    /// The mean rate is rate · on/(on + off): the share of on-time within six standard errors of a
    /// renewal process whose stretches have the variance of their law (Pareto: of shape 3, 1/3 of the square of the mean).
    #[test]
    fn the_mean_rate_is_that_of_the_shares() {
        for (lengths, square) in [("exponential", 1.0), ("pareto", 1.0 / 3.0)] {
            for (on, off) in [(50.0, 200.0), (1.0, 3.0)] {
                let v = json!({"kind": "on_off", "rate": "1 Mbit/s", "on": format!("{on} ms"), "off": format!("{off} ms"),
                    "lengths": lengths, "shape": 3.0});
                let n = 200_000;
                let total: f64 = gaps(emitter(v, 2), n).iter().sum();
                let share = 0.008 * n as f64 / total;
                let (expected, cycles) = (on / (on + off), total * 1e3 / (on + off));
                // Var of the share: π²(1−π)² (c² + c²)/cycles.
                let error = expected * (1.0 - expected) * (2.0_f64 * square / cycles).sqrt();
                assert!((share - expected).abs() < 6.0 * error, "{lengths} {share} {expected} {error}");
            }
        }
    }

    #[test]
    fn hostile_stretches_are_refused() {
        let v = json!({"kind": "on_off", "rate": "1 bit/s", "on": "1 ns", "off": "0 s"});
        let e = Traffic::read(&v, "t").unwrap_err().to_string();
        assert!(e.contains("t.on: \"1 ns\" gives"), "{e}");
    }
}
