//! Loss rates, burst lengths and delays of impairments are measured and compared with closed forms.
//!
//! Each value is measured with 100 seeds, and each of the 100 results is compared with the closed
//! form. If the confidence intervals are right, at least 95 of 100 deviations lie inside the 99 %
//! interval (probability of fewer: 0.0005). Between 30 and 70 of 100 deviations lie inside the 50 %
//! interval (probability of other numbers: 0.00003).

use engine::Stream;
use impairments::{Impairment, Wire, Witness};
use net::{Explanation, Fate, Packet, Probe};
use serde_json::{Value, json};
use units::{Duration, Read, Time};

const SEEDS: u64 = 100;
const N: u32 = 12_000;

/// Record of the packets that the wire lost.
#[derive(Default)]
struct Seen {
    lost: Vec<bool>,
}

impl Probe for Seen {
    fn fate(&mut self, _: Time, fate: &Fate, _: Option<&Explanation>) {
        let Fate::Dropped(packet, _) = fate else {
            panic!("the wire reported a mark, but a wire only loses packets")
        };
        self.lost[packet.segment.seq.0 as usize] = true;
    }
}

impl Witness for Seen {
    fn copy(&mut self, packet: &Packet) -> Packet {
        *packet
    }
}

fn wire(list: &[Value], seed: u64) -> Wire {
    let list: Vec<Impairment> = list.iter().map(|v| Impairment::read(v, "").unwrap()).collect();
    Wire::new(&list, |kind, i| Stream::new(seed, &format!("{kind}-{i}")))
}

fn packet(seq: u32, size: u16) -> Packet {
    let mut p = Packet { size, ..Packet::default() };
    p.segment.seq.0 = seq;
    p
}

/// Send `N` packets, one millisecond apart, and return true for each lost packet.
fn losses(impairment: &Value, seed: u64, size: u16) -> Vec<bool> {
    let mut wire = wire(std::slice::from_ref(impairment), seed);
    let mut seen = Seen { lost: vec![false; N as usize] };
    for seq in 0..N {
        let now = Time::ZERO + Duration::from_millis(u64::from(seq));
        wire.receive(now, packet(seq, size), &mut seen);
        while wire.deliver(now).is_some() {}
    }
    wire.check().unwrap();
    seen.lost
}

/// Return the lengths of all bursts of consecutive losses.
fn bursts(lost: &[bool]) -> Vec<f64> {
    let runs = lost.chunk_by(|a, b| a == b).filter(|run| run[0]);
    runs.map(|run| run.len() as f64).collect()
}

/// Compare normalized deviations (in standard errors) with the standard normal distribution.
fn assert_normal(name: &str, deviations: &[f64]) {
    let within = |z: f64| deviations.iter().filter(|d| d.abs() <= z).count();
    let (half, most) = (within(0.674_490), within(2.575_829));
    assert!(most >= 95 && (30..=70).contains(&half), "{name}: {half} inside 50 %, {most} inside 99 %");
}

/// Compare a measured loss rate and a mean burst length with the expected means. Each expected mean
/// has an asymptotic variance, per packet or per burst.
fn compare(impairment: &Value, size: u16, rate: (f64, f64), burst: Option<(f64, f64)>) {
    let (mut of_rate, mut of_burst) = (Vec::new(), Vec::new());
    for seed in 0..SEEDS {
        let lost = losses(impairment, seed, size);
        let share = lost.iter().filter(|l| **l).count() as f64 / f64::from(N);
        of_rate.push((share - rate.0) / (rate.1 / f64::from(N)).sqrt());
        if let Some((mean, variance)) = burst {
            let bursts = bursts(&lost);
            let n = bursts.len() as f64;
            of_burst.push((bursts.iter().sum::<f64>() / n - mean) / (variance / n).sqrt());
        }
    }
    assert_normal(&format!("rate of {impairment}"), &of_rate);
    if burst.is_some() {
        assert_normal(&format!("bursts of {impairment}"), &of_burst);
    }
}

/// Return mean and variance of a geometrically distributed length, where each element is the last
/// one with probability `q`.
fn geometric(q: f64) -> (f64, f64) {
    (1.0 / q, (1.0 - q) / (q * q))
}

#[test]
fn random_loss_has_its_rate_and_bursts() {
    for p in [0.01, 0.2, 0.5] {
        let impairment = json!({"kind": "loss", "probability": p});
        compare(&impairment, 1500, (p, p * (1.0 - p)), Some(geometric(1.0 - p)));
    }
}

#[test]
fn bit_errors_depend_on_the_packet_size() {
    for (rate, size) in [(1e-5, 1500), (1e-4, 40)] {
        let p = 1.0 - f64::powi(1.0 - rate, 8 * i32::from(size));
        compare(
            &json!({"kind": "bit_errors", "rate": rate}),
            size,
            (p, p * (1.0 - p)),
            Some(geometric(1.0 - p)),
        );
    }
}

/// The two-state chain of Gilbert's model has the loss rate π, and its burst lengths are
/// geometrically distributed. The variance of a time average over a two-state Markov chain has the
/// factor (1 + λ)/(1 − λ), where λ = 1 − p − r is the eigenvalue of the chain.
#[test]
fn gilbert_loss_has_its_rate_and_bursts() {
    for (p, r) in [(0.02, 0.4), (0.01, 0.1), (0.3, 0.9)] {
        let (share, lambda) = (p / (p + r), 1.0 - p - r);
        let variance = share * (1.0 - share) * (1.0 + lambda) / (1.0 - lambda);
        let impairment = json!({"kind": "gilbert_elliott", "good_to_bad": p, "bad_to_good": r});
        compare(&impairment, 1500, (share, variance), Some(geometric(r)));
    }
}

/// Return mean and variance of the length of a loss burst in Elliott's model. The burst length has
/// a discrete phase-type distribution (`neuts1981matrix`, §2.2). In Elliott's model, a loss burst
/// begins in state j with a probability proportional to Σ π_i (1 − l_i) P_ij l_j and continues with
/// the matrix T_ij = P_ij l_j. The mean of the burst length L is α (I − T)⁻¹ 1, and E[L (L − 1)] =
/// 2 α T (I − T)⁻² 1.
fn elliott_burst(p: f64, r: f64, loses: [f64; 2]) -> (f64, f64) {
    let steps = [[1.0 - p, p], [r, 1.0 - r]];
    let stationary = [r / (p + r), p / (p + r)];
    let begins = [0, 1].map(|j| {
        let from = |i: usize| stationary[i] * (1.0 - loses[i]) * steps[i][j] * loses[j];
        from(0) + from(1)
    });
    let t = [0, 1].map(|i| [0, 1].map(|j| steps[i][j] * loses[j]));
    // (I − T)⁻¹ v, and T v.
    let solve = |v: [f64; 2]| {
        let [[a, b], [c, d]] = [[1.0 - t[0][0], -t[0][1]], [-t[1][0], 1.0 - t[1][1]]];
        let det = a * d - b * c;
        [(d * v[0] - b * v[1]) / det, (a * v[1] - c * v[0]) / det]
    };
    let times = |v: [f64; 2]| [0, 1].map(|i| t[i][0] * v[0] + t[i][1] * v[1]);
    let from_begin = |v: [f64; 2]| (begins[0] * v[0] + begins[1] * v[1]) / (begins[0] + begins[1]);
    let ones = solve([1.0, 1.0]);
    let (mean, more) = (from_begin(ones), 2.0 * from_begin(times(solve(ones))));
    (mean, more + mean - mean * mean)
}

/// In Elliott's model, the losses of two packets that are n transitions apart have the covariance
/// (h − k)² π (1 − π) λ^n.
#[test]
fn elliott_loss_has_its_rate_and_bursts() {
    let (p, r, good, bad) = (0.02, 0.2, 0.01, 0.5);
    let (share, lambda) = (p / (p + r), 1.0 - p - r);
    let rate = (1.0 - share) * good + share * bad;
    let together = (bad - good) * (bad - good) * share * (1.0 - share) * lambda / (1.0 - lambda);
    let impairment = json!({"kind": "gilbert_elliott", "good_to_bad": p, "bad_to_good": r, "loss_in_good": good, "loss_in_bad": bad});
    compare(
        &impairment,
        1500,
        (rate, rate * (1.0 - rate) + 2.0 * together),
        Some(elliott_burst(p, r, [good, bad])),
    );
}

/// Send packets one millisecond apart. Return the number and the time of each packet that leaves
/// the wire, in the order of leaving.
fn order(list: &[Value], n: u32, seed: u64) -> Vec<(u32, Time)> {
    let mut wire = wire(list, seed);
    let (mut out, mut seen) = (Vec::new(), Seen { lost: vec![false; n as usize] });
    for seq in 0..n {
        let now = Time::ZERO + Duration::from_millis(u64::from(seq));
        while wire.due() < now {
            let due = wire.due();
            out.push((wire.deliver(due).unwrap().packet.segment.seq.0, due));
        }
        wire.receive(now, packet(seq, 100), &mut seen);
    }
    while let Some(entry) = wire.deliver(wire.due()) {
        out.push((entry.packet.segment.seq.0, entry.leaves));
    }
    wire.check().unwrap();
    out
}

/// Return the number of reordered packets, which arrive after a packet that was sent later (RFC
/// 4737 §3.3).
fn reordered(order: &[(u32, Time)]) -> usize {
    let mut next = 0;
    let late = order.iter().filter(|(seq, _)| {
        let late = *seq < next;
        next = next.max(seq + 1);
        late
    });
    late.count()
}

/// A delayed packet is reordered if at least one of the n packets that can overtake it is not
/// delayed, so the ratio is p (1 − p^n).
#[test]
fn reordering_has_its_ratio() {
    for (p, held, n) in [(0.1, "2.5 ms", 2), (0.3, "1.5 ms", 1), (0.2, "0.5 ms", 0)] {
        let impairment = json!({"kind": "reordering", "probability": p, "delay": held});
        let ratio = p * (1.0 - f64::powi(p, n));
        let n = 50_000;
        let measured = reordered(&order(&[impairment], n, 5)) as f64 / f64::from(n);
        // Neighbouring packets are not independent, so the test allows twice the standard error of
        // independent packets.
        let error = 2.0 * 2.576 * (ratio * (1.0 - ratio) / f64::from(n)).sqrt();
        assert!((measured - ratio).abs() <= error, "{measured} {ratio} {error}");
    }
}

#[test]
fn only_reordering_impairments_reorder() {
    let ordered = [
        json!({"kind": "jitter", "mean": "5 ms"}),
        json!({"kind": "jitter", "mean": "5 ms", "distribution": "exponential"}),
        json!({"kind": "delay_spikes", "length": "50 ms", "interval": "200 ms", "spacing": "exponential"}),
        json!({"kind": "outage", "length": "50 ms", "interval": "200 ms"}),
        json!({"kind": "loss", "probability": 0.1}),
        json!({"kind": "duplication", "probability": 0.1}),
        json!({"kind": "corruption", "probability": 0.1}),
    ];
    for seed in 0..20 {
        let together = order(&ordered, 3000, seed);
        let first: Vec<_> = together.chunk_by(|a, b| a.0 == b.0).map(|copies| copies[0]).collect();
        assert!(first.len() > 1000);
        assert_eq!(reordered(&first), 0);
    }
    let any = json!({"kind": "jitter", "mean": "5 ms", "order": "any"});
    assert!(reordered(&order(&[any], 3000, 1)) > 100);
}

/// The measured mean delay is within six standard errors of the expected mean m. The standard
/// deviation is m/√3 for delays that are uniform on (0, 2m), and m for exponential delays.
#[test]
fn jitter_has_its_mean() {
    for (distribution, deviation) in [("uniform", 1.0 / f64::sqrt(3.0)), ("exponential", 1.0)] {
        let impairment =
            json!({"kind": "jitter", "mean": "5 ms", "distribution": distribution, "order": "any"});
        let n = 20_000;
        let sent = |seq: u32| f64::from(seq) * 1e-3;
        let order = order(&[impairment], n, 3);
        let mean = order.iter().map(|(seq, at)| at.seconds() - sent(*seq)).sum::<f64>() / f64::from(n);
        assert!((mean / 0.005 - 1.0).abs() < 6.0 * deviation / f64::from(n).sqrt(), "{mean}");
    }
}

/// Packets that arrive during a delay spike leave the wire at the end of the spike, in order.
/// Packets that arrive during an outage are lost.
#[test]
fn spikes_delay_and_outages_lose() {
    let spike = json!({"kind": "delay_spikes", "start": "3 ms", "length": "4 ms"});
    let at = |list: &[(u32, Time)]| list.iter().map(|(s, t)| (*s, t.0 / 1_000_000_000)).collect::<Vec<_>>();
    let held = at(&order(&[spike], 9, 1));
    assert_eq!(held, [(0, 0), (1, 1), (2, 2), (3, 7), (4, 7), (5, 7), (6, 7), (7, 7), (8, 8)]);
    let outage = json!({"kind": "outage", "start": "3 ms", "length": "4 ms"});
    assert_eq!(at(&order(&[outage], 9, 1)), [(0, 0), (1, 1), (2, 2), (7, 7), (8, 8)]);
}

/// A copy of a packet passes only the later impairments of the list. An impairment that duplicated
/// a packet does not duplicate the copy again.
#[test]
fn copies_follow_their_packets() {
    let twice = json!({"kind": "duplication", "probability": 1.0, "delay": "1.5 ms"});
    let second = json!({"kind": "periodic_loss", "every": 2});
    let numbers = |list: &[Value]| order(list, 3, 1).iter().map(|o| o.0).collect::<Vec<_>>();
    assert_eq!(numbers(std::slice::from_ref(&twice)), [0, 1, 0, 2, 1, 2]);
    assert_eq!(numbers(&[twice, second]), [0, 1, 2]);
}
