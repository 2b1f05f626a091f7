//! The table of congestion controls: how a scenario names them and how they are built.

use units::param::Json;
use units::{Duration, Params, Rate, Time, choice};

use super::control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks, defaults};
use crate::congestion::growth::Growth;
use crate::window::Window;

/// From the table: what a scenario can name, and what a connection can hold. Reno's state is in the controller itself, that of
/// the others in a box.
macro_rules! controls {
    ([$($Before:ident($B:path),)+] $Small:ident($S:path), [$($After:ident($A:path),)+]) => {
        choice! {
            /// The congestion controls.
            pub enum Algorithm { $($Before($B),)+ $Small($S), $($After($A),)+ }
        }

        /// The controller of a connection: a closed choice, so that a call is a jump and not a pointer.
        #[derive(Clone, Debug)]
        pub enum Controller {
            #[doc = concat!("See [`", stringify!($S), "`].")]
            $Small(<$S as Control>::State),
            $(
                #[doc = concat!("See [`", stringify!($B), "`].")]
                $Before(Box<<$B as Control>::State>),
            )+
            $(
                #[doc = concat!("See [`", stringify!($A), "`].")]
                $After(Box<<$A as Control>::State>),
            )+
        }

        controls! { @all $Small: $Small($S), $($Before($B),)+ $($After($A),)+ }
    };
    (@all $Small:ident: $($Name:ident($Type:path),)+) => {
        impl Algorithm {
            /// What marks are to it.
            #[inline]
            pub fn marks(&self) -> Marks {
                match self { $(Algorithm::$Name(_) => <$Type as Control>::MARKS,)+ }
            }

            /// Whether it has the slow start of RFC 5681 or one that takes its place.
            pub fn has_slow_start(&self) -> bool {
                match self { $(Algorithm::$Name(_) => <$Type as Control>::HAS_SLOW_START,)+ }
            }

            /// What the control of a kind presumes of loss recovery.
            pub fn implied_recovery(kind: &str) -> ImpliedRecovery {
                match kind {
                    $(<$Type as Params>::KEY => <$Type as Control>::IMPLIED_RECOVERY,)+
                    _ => ImpliedRecovery::None,
                }
            }

            /// What Linux changes of the defaults of the control of a kind.
            pub fn in_linux(kind: &str) -> Json {
                match kind {
                    $(<$Type as Params>::KEY => <$Type as Control>::in_linux(),)+
                    _ => Json::Null,
                }
            }
        }

        impl Controller {
            /// The controller of a connection before its first ACK, with the window as it is then.
            pub fn new(algorithm: &Algorithm, window: &Window) -> Self {
                match algorithm { $(Algorithm::$Name(control) => Controller::$Name(control.begin(window).into()),)+ }
            }
        }

        impl CongestionControl for Controller {
            #[inline]
            fn cwnd_on_ack(&mut self, window: &Window, ack: &Ack) -> f64 {
                match self { $(Controller::$Name(c) => c.cwnd_on_ack(window, ack),)+ }
            }

            fn before_cut(&mut self, delivered: u32, marked: u32, round: bool) {
                match self { $(Controller::$Name(c) => c.before_cut(delivered, marked, round),)+ }
            }

            fn ssthresh_on(&mut self, window: &Window, congestion: Congestion, now: Time) -> f64 {
                match self { $(Controller::$Name(c) => c.ssthresh_on(window, congestion, now),)+ }
            }

            fn cwnd_on(&mut self, window: &Window, congestion: Congestion, now: Time) -> Option<f64> {
                match self { $(Controller::$Name(c) => c.cwnd_on(window, congestion, now),)+ }
            }

            #[inline]
            fn observe(&mut self, window: &Window, ack: &Ack) {
                match self { $(Controller::$Name(c) => c.observe(window, ack),)+ }
            }

            #[inline]
            fn ssthresh_on_ack(&mut self, window: &Window) -> Option<f64> {
                match self { $(Controller::$Name(c) => c.ssthresh_on_ack(window),)+ }
            }

            #[inline]
            fn on_ack(&mut self, window: &Window, ack: &Ack, opens: bool) -> (f64, Option<f64>) {
                match self { $(Controller::$Name(c) => c.on_ack(window, ack, opens),)+ }
            }

            fn undo(&mut self, window: &Window) {
                match self { $(Controller::$Name(c) => c.undo(window),)+ }
            }

            fn on_restart(&mut self, now: Time, idle: Duration) {
                match self { $(Controller::$Name(c) => c.on_restart(now, idle),)+ }
            }

            #[inline]
            fn paces(&self) -> bool {
                match self { $(Controller::$Name(c) => c.paces(),)+ }
            }

            #[inline]
            fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
                match self { $(Controller::$Name(c) => c.pacing_rate(window, srtt),)+ }
            }

            #[inline]
            fn answers_mark(&self, now: Time, again: bool) -> bool {
                match self { $(Controller::$Name(c) => c.answers_mark(now, again),)+ }
            }

            #[inline]
            fn is_scalable(&self) -> bool {
                match self { $(Controller::$Name(c) => c.is_scalable(),)+ }
            }

            #[inline]
            fn rules_recovery(&self) -> bool {
                match self { $(Controller::$Name(c) => c.rules_recovery(),)+ }
            }

            #[inline]
            fn needs_measurements(&self) -> bool {
                match self { $(Controller::$Name(c) => c.needs_measurements(),)+ }
            }

            fn needs_delivery_rate(&self) -> bool {
                match self { $(Controller::$Name(c) => c.needs_delivery_rate(),)+ }
            }

            #[inline(always)]
            fn byte_growth(&mut self) -> Option<&mut Growth> {
                match self { Controller::$Small(c) => c.byte_growth(), _ => None }
            }

            fn send_buffer_windows(&self) -> u64 {
                match self { $(Controller::$Name(c) => c.send_buffer_windows(),)+ }
            }

            fn min_super_packet(&self, rate: Rate) -> u32 {
                match self { $(Controller::$Name(c) => c.min_super_packet(rate),)+ }
            }
        }
    };
}

controls! {
    [
        Abe(super::abe::Abe),
        Bbr(super::bbr::v1::Bbr),
        Bbr3(super::bbr::v3::Bbr3),
        Cubic(super::cubic::Cubic),
        Dctcp(super::dctcp::Dctcp),
        HighSpeed(super::highspeed::HighSpeed),
        Htcp(super::htcp::Htcp),
        Illinois(super::illinois::Illinois),
        Ledbat(super::ledbat::Ledbat),
        Prague(super::prague::Prague),
    ]
    Reno(super::reno::Reno),
    [
        Scalable(super::scalable::Scalable),
        Vegas(super::vegas::Vegas),
        Westwood(super::westwood::Westwood),
    ]
}

impl Default for Algorithm {
    fn default() -> Self {
        Algorithm::Reno(defaults())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::congestion::control::RateSample;
    use proptest::prelude::*;
    use units::Read;

    #[test]
    fn a_controller_is_small() {
        assert!(size_of::<Controller>() <= 16, "{}", size_of::<Controller>());
    }

    fn all() -> Vec<Algorithm> {
        let kinds: Vec<String> =
            Algorithm::pages().iter().map(|p| p["name"].as_str().unwrap().to_string()).collect();
        assert!(kinds.len() >= 13);
        let mut all: Vec<_> = kinds.iter().map(|k| serde_json::json!(k)).collect();
        for kind in &kinds {
            let mut linux = Algorithm::in_linux(kind);
            linux["kind"] = kind.as_str().into();
            all.push(linux);
        }
        let start = serde_json::json!({"kind": "hystart"});
        all.push(serde_json::json!({"kind": "reno", "slow_start": start, "avoidance": "per-window"}));
        all.push(serde_json::json!({"kind": "abe", "over": "cubic"}));
        all.push(serde_json::json!({"kind": "prague", "fallback": "delay", "transition": "0 packets"}));
        all.iter().map(|v| Algorithm::read(v, "congestion").unwrap()).collect()
    }

    /// What may happen to a controller.
    #[derive(Clone, Debug)]
    enum Event {
        Ack {
            ms: u64,
            acked: u32,
            marked: u32,
            rtt_us: Option<u64>,
            round: bool,
            limited: bool,
            recovery: bool,
            lost: u32,
        },
        Congestion(Congestion),
        Undo,
        Restart {
            ms: u64,
        },
    }

    fn events() -> impl Strategy<Value = Vec<Event>> {
        let ack =
            (
                (0u64..3000, 0u32..200_000, 0u32..200_000, proptest::option::of(0u64..5_000_000)),
                (any::<bool>(), any::<bool>(), any::<bool>(), 0u32..100_000),
            )
                .prop_map(|((ms, acked, marked, rtt_us), (round, limited, recovery, lost))| {
                    Event::Ack { ms, acked, marked, rtt_us, round, limited, recovery, lost }
                });
        let congestion = prop_oneof![
            Just(Congestion::FastRetransmit),
            Just(Congestion::Ecn),
            any::<bool>().prop_map(|again| Congestion::Timeout { again }),
        ];
        let event = prop_oneof![
            20 => ack,
            2 => congestion.prop_map(Event::Congestion),
            1 => Just(Event::Undo),
            1 => (0u64..100_000).prop_map(|ms| Event::Restart { ms }),
        ];
        proptest::collection::vec(event, 1..200)
    }

    /// A sender that believes whatever it is told.
    fn survives(algorithm: &Algorithm, events: &[Event], flight: f64) -> Result<(), TestCaseError> {
        let smss = 1460.0;
        let mut w = Window {
            cwnd: 10.0 * smss,
            ssthresh: f64::INFINITY,
            flight: 0.0,
            pipe: 0.0,
            inflation: 0.0,
            rwnd: 1e9,
            smss,
        };
        let mut controller = Controller::new(algorithm, &w);
        let (mut now, mut delivered, mut srtt) = (Time::ZERO, 0, Duration::ZERO);
        let mut min_rtt = Duration(u64::MAX);
        for event in events {
            w.flight = (flight * w.cwnd).min(1e9);
            w.pipe = w.flight;
            match *event {
                Event::Ack { ms, acked, marked, rtt_us, round, limited, recovery, lost } => {
                    now += Duration::from_millis(ms);
                    let rtt = rtt_us.map(|us| Duration(us * 1_000_000));
                    srtt = rtt.unwrap_or(srtt);
                    min_rtt = min_rtt.min(rtt.unwrap_or(min_rtt));
                    delivered += u64::from(acked);
                    let sample = RateSample {
                        delivered: u64::from(acked) * 2,
                        interval: srtt,
                        app_limited: !limited,
                        prior_delivered: delivered.saturating_sub(u64::from(acked) * 2),
                        lost: u64::from(lost),
                    };
                    let ack = Ack {
                        now,
                        acked,
                        delivered: acked,
                        counted: acked,
                        marked,
                        total_delivered: delivered,
                        rtt,
                        srtt,
                        min_rtt,
                        round,
                        cwnd_limited: limited,
                        in_recovery: recovery,
                        rate: rtt.map(|_| sample),
                        held_for: Duration::from_millis(ms % 7),
                    };
                    controller.observe(&w, &ack);
                    if !recovery || controller.rules_recovery() {
                        w.cwnd = controller.cwnd_on_ack(&w, &ack);
                        w.ssthresh = controller.ssthresh_on_ack(&w).unwrap_or(w.ssthresh);
                    }
                }
                Event::Congestion(congestion) => {
                    let before = w;
                    w.ssthresh = controller.ssthresh_on(&before, congestion, now).max(2.0 * smss); // as the sender
                    let timeout = matches!(congestion, Congestion::Timeout { .. });
                    let usual = if timeout { smss } else { w.ssthresh };
                    // Only a first timeout sets ssthresh: what it never set cannot become cwnd.
                    let usual = if usual.is_finite() { usual } else { before.cwnd };
                    w.cwnd = controller.cwnd_on(&before, congestion, now).unwrap_or(usual);
                }
                Event::Undo => controller.undo(&w),
                Event::Restart { ms } => {
                    now += Duration::from_millis(ms);
                    controller.on_restart(now, Duration::from_millis(ms));
                }
            }
            prop_assert!(w.cwnd.is_finite() && w.cwnd >= smss, "cwnd {} after {event:?}", w.cwnd);
            prop_assert!(w.ssthresh >= smss, "ssthresh {} after {event:?}", w.ssthresh);
            let rate = controller.pacing_rate(&w, srtt);
            prop_assert!(rate.is_none_or(|r| r.0 > 0), "{rate:?}");
            prop_assert!(controller.paces() || rate.is_none(), "{rate:?}");
        }
        Ok(())
    }

    proptest! {
        #[test]
        fn cwnd_is_finite_and_at_least_a_segment(events in events(), flight in 0.0f64..2.0) {
            for algorithm in all() {
                survives(&algorithm, &events, flight)?;
            }
        }
    }

    #[test]
    fn every_kind_is_read_by_its_word_and_written_back() {
        for algorithm in all() {
            let written = algorithm.write();
            assert_eq!(Algorithm::read(&written, "congestion").unwrap(), algorithm);
        }
        let e = Algorithm::read(&serde_json::json!("cubik"), "tcp.congestion").unwrap_err().to_string();
        assert!(e.contains("did you mean cubic?"), "{e}");
        let table = serde_json::json!({"kind": "cubic", "beta": 1.5});
        assert!(
            Algorithm::read(&table, "tcp.congestion")
                .unwrap_err()
                .to_string()
                .contains("tcp.congestion.beta")
        );
    }
}
