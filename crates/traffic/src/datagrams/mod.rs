//! Datagrams, as over UDP: packets that belong to no connection and are not acknowledged. The
//! sender of datagrams therefore does not depend on the arrival of its packets. Each kind of
//! datagrams is one file in this folder and one line in `lib.rs`.

mod cbr;
mod emitter;
mod even;
mod on_off;
mod poisson;
mod replay;
mod voip;

pub use cbr::Cbr;
pub use emitter::{Datagrams, Emitter};
pub use on_off::OnOff;
pub use poisson::Poisson;
pub use replay::Replay;
pub use voip::Voip;

#[cfg(test)]
mod tests {
    use super::Emitter;
    use crate::Traffic;
    use engine::Stream;
    use serde_json::{Value, json};
    use units::Read;

    fn emitter(v: Value, seed: u64) -> Emitter {
        Traffic::read(&v, "").unwrap().emitter(Stream::new(seed, "e")).unwrap()
    }

    fn gaps(mut e: Emitter, n: usize) -> Vec<f64> {
        std::iter::from_fn(|| e.next_packet()).take(n).map(|(gap, _)| gap.seconds()).collect()
    }

    #[test]
    fn constant_intervals_are_exact() {
        let cbr = json!({"kind": "cbr", "rate": "1 Mbit/s", "packets": 3});
        assert_eq!(gaps(emitter(cbr, 1), 9), [0.0, 0.008, 0.008]);
        assert_eq!(gaps(emitter(json!("voip"), 1), 3), [0.0, 0.02, 0.02]);
        let e = emitter(json!("voip"), 1);
        assert_eq!((e.sizes(), e.ends()), ((132, 132), false));
        let lasts = json!({"kind": "voip", "lasts": "60 ms"});
        assert_eq!(gaps(emitter(lasts, 1), 9).len(), 3);
    }

    #[test]
    fn packets_follow_their_trace() {
        let mut e = emitter(json!({"kind": "replay", "trace": [[0.5, 100], [0.5, 1472], [2, 1]]}), 1);
        assert_eq!(e.sizes(), (29, 1500));
        let packets: Vec<_> = std::iter::from_fn(|| e.next_packet()).map(|(g, p)| (g.seconds(), p)).collect();
        assert_eq!(packets, [(0.5, 100), (0.0, 1472), (1.5, 1)]);
        assert!(e.ends() && e.share_done() == 1.0);
    }

    /// The mean of exponential intervals is m and their variance is m², both within six standard
    /// errors (√8 m²/√n for the variance).
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
    fn constant_periods_are_exact() {
        let v = json!({"kind": "on_off", "rate": "1 Mbit/s", "on": "20 ms", "off": "100 ms", "lengths": "constant"});
        // Packets are due when the on-periods have lasted 0, 8, 16 and 24 ms in total. The packet
        // that is due at 24 ms is sent 4 ms after the beginning of the second on-period.
        let found = gaps(emitter(v, 1), 6);
        let expected = [0.0, 0.008, 0.008, 0.108, 0.008, 0.008];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
    }

    /// The mean rate is rate · on/(on + off). The measured fraction of the time that belongs to
    /// on-periods differs from on/(on + off) by at most six standard errors. The standard error is
    /// that of a renewal process, and is computed from the variance of the period lengths. For a
    /// Pareto distribution with shape 3, this variance is 1/3 of the squared mean.
    #[test]
    fn the_mean_rate_follows_from_the_mean_periods() {
        for (lengths, square) in [("exponential", 1.0), ("pareto", 1.0 / 3.0)] {
            for (on, off) in [(50.0, 200.0), (1.0, 3.0)] {
                let v = json!({"kind": "on_off", "rate": "1 Mbit/s", "on": format!("{on} ms"), "off": format!("{off} ms"),
                    "lengths": lengths, "shape": 3.0});
                let n = 200_000;
                let total: f64 = gaps(emitter(v, 2), n).iter().sum();
                let share = 0.008 * n as f64 / total;
                let (expected, cycles) = (on / (on + off), total * 1e3 / (on + off));
                // The variance of the fraction of on-time is π²(1−π)² (c² + c²)/cycles.
                let error = expected * (1.0 - expected) * (2.0_f64 * square / cycles).sqrt();
                assert!((share - expected).abs() < 6.0 * error, "{lengths} {share} {expected} {error}");
            }
        }
    }

    #[test]
    fn periods_far_below_the_interval_are_refused() {
        let v = json!({"kind": "on_off", "rate": "1 bit/s", "on": "1 ns", "off": "0 s"});
        let e = Traffic::read(&v, "t").unwrap_err().to_string();
        assert!(e.contains("t.on: \"1 ns\" is"), "{e}");
    }
}
