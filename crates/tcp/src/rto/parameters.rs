//! Parameters of the retransmission timer.

use units::param::{Invalid, join};
use units::{Duration, Range, Read, params};

use super::choices::*;
use crate::sender::choices::FastRetransmitTimer;

params! {
    /// Retransmission timer: the computation of the timeout, and the events that restart the timer.
    pub struct RtoParameters: "tcp.rto", checked by check {
        /// Estimator of the timeout.
        estimator: RtoEstimator = (RtoEstimator::Rfc6298), in Range::ANY, from "rfc6298 §2";
        /// Timeout before the first round-trip time is measured.
        initial: Duration = (Duration::from_millis(1000)), in Range::above(0.0), from "rfc6298 §2.1";
        /// Minimum timeout.
        min: Duration = (Duration::from_millis(1000)), in Range::above(0.0), from "rfc6298 §2.4";
        /// Maximum timeout, with or without back-off.
        max: Duration = (Duration::from_millis(60_000)), in Range::above(0.0), from "rfc6298 §2.5";
        /// Clock granularity (G): the duration of one tick.
        granularity: Duration = (Duration::from_millis(1)), in Range::above(0.0), from "rfc6298 §4: clocks finer than 100 ms perform better";
        /// Order in which an ACK of new data restarts the retransmission timer and provides its
        /// round-trip sample.
        order: RtoOrder = (RtoOrder::SampleFirst), in Range::ANY, from "rfc6298 §5.3";
        /// Event that ends the back-off of the retransmission timer.
        backoff_ends: BackoffEnds = (BackoffEnds::Sample), in Range::ANY, from "rfc6298 §5.7";
        /// Effect of the retransmissions of a recovery on the retransmission timer.
        fast_retransmit: FastRetransmitTimer = (FastRetransmitTimer::Restarts), in Range::ANY, from "4.3BSD-Reno; rfc6298 §5.1: the timer continues; rfc6675 §6";
    }
}

fn check(rto: &RtoParameters, path: &str) -> Result<(), Invalid> {
    if rto.min > rto.max {
        let problem = format!("must not exceed max ({}); raise max or lower min", rto.max);
        return Err(Invalid::new(&join(path, "min"), &rto.min.write(), problem));
    }
    Ok(())
}
