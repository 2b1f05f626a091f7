//! Compare each decision of RED with a literal transcription of figure 2 of Floyd & Jacobson 1993.
//! The arrivals are random, with bursts, idle times and full buffers.

use engine::Stream;
use net::{Aqm, Arrival, Backlog, Packet, Verdict, Why};
use queues::red::Red;
use queues::{AqmParams, QueueContext};
use units::{Depth, Rate, Read, Time};

/// Transcription of figure 2. The transcription takes random numbers in the same order as the
/// implementation: one for each packet that arrives while the average is between the thresholds.
struct Figure2 {
    avg: f64,
    count: i64,
    q_time: Option<f64>,
    random: Stream,
    minth: f64,
    maxth: f64,
    maxp: f64,
    wq: f64,
    s: f64,
}

impl Figure2 {
    /// Process a packet arrival. The first returned value is true if RED signals the packet. The
    /// second value is true if the average is above maxth.
    fn arrival(&mut self, time: f64, q: u32) -> (bool, bool) {
        // calculate the new average queue size avg
        if let Some(q_time) = self.q_time.take() {
            let m = (time - q_time) / self.s;
            self.avg *= (1.0 - self.wq).powf(m);
        }
        self.avg = (1.0 - self.wq) * self.avg + self.wq * f64::from(q);
        if self.minth <= self.avg && self.avg < self.maxth {
            // increment count; with probability pa mark the arriving packet, count <- 0
            self.count += 1;
            let pb = self.maxp * (self.avg - self.minth) / (self.maxth - self.minth);
            if pb == 0.0 {
                return (false, false);
            }
            let pa = if self.count as f64 * pb < 1.0 { pb / (1.0 - self.count as f64 * pb) } else { 1.0 };
            let marked = self.random.uniform() < pa;
            if marked {
                self.count = 0;
            }
            (marked, false)
        } else if self.maxth <= self.avg {
            // mark the arriving packet; count <- 0
            self.count = 0;
            (true, true)
        } else {
            self.count = -1;
            (false, false)
        }
    }
}

#[test]
fn red_decides_like_figure_2() {
    for (minth, maxth, maxp, wq) in
        [(5, 15, 0.1, 0.002), (20, 60, 0.02, 0.002), (2, 6, 0.5, 0.05), (1, 3, 1.0, 0.25)]
    {
        let text = serde_json::json!({
            "minth": format!("{minth} packets"), "maxth": format!("{maxth} packets"), "maxp": maxp, "wq": wq, "gentle": false,
        });
        let params = Red::read(&text, "red").unwrap();
        let rate = Rate(1_500_000);
        let (limit, random) = (Depth::Packets(100.0), Stream::new(1, "red"));
        let mut aqm = params.aqm(QueueContext::new(rate, limit, random));
        let mut reference = Figure2 {
            avg: 0.0,
            count: -1,
            q_time: None,
            random: Stream::new(1, "red"),
            minth: f64::from(minth),
            maxth: f64::from(maxth),
            maxp,
            wq,
            s: 500.0 * 8.0 / 1.5e6,
        };
        let mut traffic = Stream::new(2, "traffic");
        let (mut now, mut queue, mut marks) = (0u64, 0u32, [0u64; 2]);
        for i in 0..1_000_000 {
            let u = traffic.uniform();
            let mut idle_since = None;
            // The queue length is a random walk with bursts. At random times the queue becomes
            // empty and idle.
            if u < 0.002 {
                queue = 0;
                idle_since = Some(Time(now));
                reference.q_time = Some(now as f64 * 1e-12);
                now += (traffic.uniform() * 2e11) as u64;
            } else if u < 0.5 {
                queue = queue.saturating_sub(traffic.below(4) as u32);
            } else {
                queue = (queue + traffic.below(4) as u32).min(maxth * 2);
            }
            now += traffic.below(8_000_000_000);
            let backlog = Backlog { packets: queue, bytes: 0 };
            let at = Arrival { now: Time(now), backlog, free_at: idle_since.unwrap_or(Time::NEVER) };
            let verdict = aqm.on_arrival(&Packet::default(), &at);
            let (marked, forced) = reference.arrival(now as f64 * 1e-12, queue);
            let expected = match (marked, forced) {
                (true, true) => Verdict::Drop(Why::Threshold),
                (true, false) => Verdict::Signal(Why::Early),
                _ => Verdict::Pass,
            };
            let close = (aqm.average().unwrap().amount() - reference.avg).abs() < 1e-6;
            assert!(
                verdict == expected && close,
                "arrival {i}: {verdict:?} for {expected:?}, average {}",
                reference.avg
            );
            marks[usize::from(forced)] += u64::from(marked);
            if queue >= maxth * 2 && traffic.uniform() < 0.5 {
                aqm.on_overflow(Time(now)); // a full buffer restarts the count (ns-2; the paper lacks a limit)
                reference.count = 0;
            }
        }
        assert!(marks[0] > 1000, "too few early marks: {marks:?}");
    }
}
