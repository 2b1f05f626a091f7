//! Table of congestion controls: their names in scenarios and their construction.

use net::Rule;
use units::param::Json;
use units::{Duration, Params, Rate, Time, choice};

use super::control::{Ack, Congestion, CongestionControl, Control, ImpliedRecovery, Marks};
use crate::congestion::growth::Growth;
use crate::congestion::recorded::RecordedState;
use crate::window::{Window, Windows};
use units::param::defaults;

/// Define the types that list the congestion controls: the choice in a scenario, and the controller
/// of a connection.
///
/// The controller contains the state of Reno directly, and the state of every other control in a
/// box.
macro_rules! controls {
    ([$($Before:ident($B:path),)+] $Small:ident($S:path), [$($After:ident($A:path),)+]) => {
        choice! {
            /// Congestion control of a connection.
            pub enum Algorithm { $($Before($B),)+ $Small($S), $($After($A),)+ }
        }

        /// Controller of a connection. The enum lists all congestion controls, so a call of a
        /// method needs no function pointer.
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
            /// Controller of any kind whose changes of cwnd and ssthresh are recorded.
            Recorded(Box<RecordedState<Controller>>),
        }

        controls! { @all $Small($S), $($Before($B),)+ $($After($A),)+ }
        controls! { @controller $Small: $Small, Recorded, $($Before,)+ $($After,)+ }
    };
    (@all $($Name:ident($Type:path),)+) => {
        impl Algorithm {
            /// Return the response of the control to marks.
            #[inline]
            pub fn marks(&self) -> Marks {
                match self { $(Algorithm::$Name(_) => <$Type as Control>::MARKS,)+ }
            }

            /// Return true if the control has the slow start of RFC 5681 or a substitute for it.
            pub fn has_slow_start(&self) -> bool {
                match self { $(Algorithm::$Name(_) => <$Type as Control>::HAS_SLOW_START,)+ }
            }

            /// Return the loss recovery that a kind of control requires.
            pub fn implied_recovery(kind: &str) -> ImpliedRecovery {
                match kind {
                    $(<$Type as Params>::KEY => <$Type as Control>::IMPLIED_RECOVERY,)+
                    _ => ImpliedRecovery::None,
                }
            }

            /// Return the rules of a kind of control.
            pub fn rules(kind: &str) -> &'static [Rule] {
                match kind {
                    $(<$Type as Params>::KEY => <$Type as Control>::RULES,)+
                    _ => &[],
                }
            }

            /// Return the parameters of a kind of control that differ from the defaults in the
            /// stack `linux`.
            pub fn linux_defaults(kind: &str) -> Json {
                match kind {
                    $(<$Type as Params>::KEY => <$Type as Control>::linux_defaults(),)+
                    _ => Json::Null,
                }
            }
        }

        impl Controller {
            /// Create the controller of a connection before its first ACK, with the initial window.
            pub fn new(algorithm: &Algorithm, window: &Window) -> Self {
                match algorithm { $(Algorithm::$Name(control) => Controller::$Name(control.new_state(window).into()),)+ }
            }

            /// Return the controller with a record of its changes of cwnd and ssthresh.
            pub fn with_record(self) -> Self {
                Controller::Recorded(Box::new(RecordedState::new(self)))
            }

            /// Return the record of the changes of cwnd and ssthresh, if the controller has one.
            #[inline]
            pub fn record(&mut self) -> Option<&mut RecordedState<Controller>> {
                if let Controller::Recorded(record) = self { Some(record) } else { None }
            }
        }

    };
    (@controller $Small:ident: $($Name:ident,)+) => {
        impl CongestionControl for Controller {
            #[inline]
            fn cwnd_on_ack(&mut self, window: &Window, ack: &Ack) -> f64 {
                match self { $(Controller::$Name(c) => c.cwnd_on_ack(window, ack),)+ }
            }

            fn before_reduction(&mut self, delivered: u32, marked: u32, round: bool) {
                match self { $(Controller::$Name(c) => c.before_reduction(delivered, marked, round),)+ }
            }

            fn ssthresh_on_congestion(&mut self, window: &Window, congestion: Congestion, now: Time) -> f64 {
                match self { $(Controller::$Name(c) => c.ssthresh_on_congestion(window, congestion, now),)+ }
            }

            fn cwnd_on_congestion(&mut self, window: &Window, congestion: Congestion, now: Time) -> Option<f64> {
                match self { $(Controller::$Name(c) => c.cwnd_on_congestion(window, congestion, now),)+ }
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
            fn on_ack(&mut self, window: &Window, ack: &Ack, may_grow: bool) -> (f64, Option<f64>) {
                match self { $(Controller::$Name(c) => c.on_ack(window, ack, may_grow),)+ }
            }

            fn rule_of_ack(&self, window: &Window, after: Windows) -> &'static Rule {
                match self { $(Controller::$Name(c) => c.rule_of_ack(window, after),)+ }
            }

            fn rule_of_congestion(&self, congestion: Congestion) -> Option<&'static Rule> {
                match self { $(Controller::$Name(c) => c.rule_of_congestion(congestion),)+ }
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
            fn responds_to_mark(&self, now: Time, new_window: bool) -> bool {
                match self { $(Controller::$Name(c) => c.responds_to_mark(now, new_window),)+ }
            }

            #[inline]
            fn is_scalable(&self) -> bool {
                match self { $(Controller::$Name(c) => c.is_scalable(),)+ }
            }

            #[inline]
            fn governs_recovery(&self) -> bool {
                match self { $(Controller::$Name(c) => c.governs_recovery(),)+ }
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
    fn controller_has_at_most_16_bytes() {
        assert!(size_of::<Controller>() <= 16, "{}", size_of::<Controller>());
    }

    /// Return parameters of every congestion control: the defaults, the defaults of the stack
    /// `linux`, and other values.
    fn all_algorithms() -> Vec<Algorithm> {
        let kinds: Vec<String> =
            Algorithm::pages().iter().map(|p| p["name"].as_str().unwrap().to_string()).collect();
        assert!(kinds.len() >= 13);
        let mut all: Vec<_> = kinds.iter().map(|k| serde_json::json!(k)).collect();
        for kind in &kinds {
            let mut linux = Algorithm::linux_defaults(kind);
            linux["kind"] = kind.as_str().into();
            all.push(linux);
        }
        let start = serde_json::json!({"kind": "hystart"});
        all.push(serde_json::json!({"kind": "reno", "slow_start": start, "avoidance": "per-window"}));
        all.push(serde_json::json!({"kind": "abe", "over": "cubic"}));
        all.push(serde_json::json!({"kind": "prague", "fallback": "delay", "transition": "0 packets"}));
        all.iter().map(|v| Algorithm::read(v, "congestion").unwrap()).collect()
    }

    /// Input to a controller.
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
            any::<bool>().prop_map(|repeated| Congestion::Timeout { repeated }),
        ];
        let event = prop_oneof![
            20 => ack,
            2 => congestion.prop_map(Event::Congestion),
            1 => Just(Event::Undo),
            1 => (0u64..100_000).prop_map(|ms| Event::Restart { ms }),
        ];
        proptest::collection::vec(event, 1..200)
    }

    /// Pass events to a controller without checks of their plausibility, and check cwnd, ssthresh
    /// and the pacing rate.
    fn check_invariants(algorithm: &Algorithm, events: &[Event], flight: f64) -> Result<(), TestCaseError> {
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
                        pacing_delay: Duration::from_millis(ms % 7),
                    };
                    controller.observe(&w, &ack);
                    if !recovery || controller.governs_recovery() {
                        w.cwnd = controller.cwnd_on_ack(&w, &ack);
                        w.ssthresh = controller.ssthresh_on_ack(&w).unwrap_or(w.ssthresh);
                    }
                }
                Event::Congestion(congestion) => {
                    let before = w;
                    // RFC 5681, equation 4
                    w.ssthresh = controller.ssthresh_on_congestion(&before, congestion, now).max(2.0 * smss);
                    let timeout = matches!(congestion, Congestion::Timeout { .. });
                    let default_cwnd = if timeout { smss } else { w.ssthresh };
                    // Only the first of several timeouts of a segment sets ssthresh. An infinite
                    // ssthresh must not become cwnd.
                    let default_cwnd = if default_cwnd.is_finite() { default_cwnd } else { before.cwnd };
                    w.cwnd = controller.cwnd_on_congestion(&before, congestion, now).unwrap_or(default_cwnd);
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
        fn cwnd_is_finite_and_at_least_one_segment(events in events(), flight in 0.0f64..2.0) {
            for algorithm in all_algorithms() {
                check_invariants(&algorithm, &events, flight)?;
            }
        }
    }

    #[test]
    fn each_kind_is_read_by_name_and_written_back() {
        for algorithm in all_algorithms() {
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
