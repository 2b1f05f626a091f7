//! Checks that refuse a scenario with contradictory keys, or with keys that would have no effect.

use engine::Stream;
use impairments::Impairment;
use tcp::Tcp;
use traffic::application::Side;
use traffic::{After, Application, Opener};
use units::Read;
use units::param::{Invalid, join};

use super::{Directions, Dumbbell, Flow, Link, Reverse, Scenario};

/// Maximum number of impairments of a wire, and maximum number of impairments that duplicate
/// packets. The maximum for duplication is lower, because each impairment that duplicates packets
/// can double the number of packets.
const MAX_IMPAIRMENTS: (usize, usize) = (16, 4);

/// Refuse a list of impairments that is longer than the maximum.
fn not_too_many(forward: &[Impairment], reverse: &Reverse, path: &str) -> Result<(), Invalid> {
    let (max, max_doubling) = MAX_IMPAIRMENTS;
    for (list, key) in [(forward, "impairments"), (&reverse.impairments, "reverse.impairments")] {
        let doubling = list.iter().filter(|impairment| impairment.duplicates()).count();
        if list.len() > max || doubling > max_doubling {
            let problem = format!(
                "has {} impairments, and {doubling} of these impairments duplicate packets",
                list.len()
            );
            let remedy =
                format!("give at most {max} impairments, and at most {max_doubling} that duplicate packets");
            return Err(Invalid::at(&join(path, key), problem).remedy(remedy));
        }
    }
    Ok(())
}

impl Dumbbell {
    /// Refuse keys whose values contradict each other.
    pub(super) fn check(&self, path: &str) -> Result<(), Invalid> {
        for (key, listed, hosts_key, hosts) in [
            ("left_rate", self.left_rate.listed(), "left_hosts", self.left_hosts),
            ("left_delay", self.left_delay.listed(), "left_hosts", self.left_hosts),
            ("right_rate", self.right_rate.listed(), "right_hosts", self.right_hosts),
            ("right_delay", self.right_delay.listed(), "right_hosts", self.right_hosts),
        ] {
            if let Some(listed) = listed.filter(|&listed| listed as u64 != hosts) {
                let problem = format!("has {listed} entries, and {hosts_key} is {hosts}");
                return Err(Invalid::at(&join(path, key), problem)
                    .remedy("give one value per host, or one value for all hosts"));
            }
        }
        not_too_many(&self.impairments, &self.reverse, path)
    }
}

/// Maximum length in bytes of the name of a host or a flow. The length is limited because names
/// become file names.
const MAX_NAME_BYTES: usize = 200;

/// Refuse a name that is too long, or that a spreadsheet would read as a formula.
fn check_name(name: &String, path: &str) -> Result<(), Invalid> {
    if name.starts_with(['=', '+', '-', '@']) {
        return Err(Invalid::new(path, &name.write(), "begins like a formula (=, +, -, @)")
            .remedy("begin the name with a letter, because a spreadsheet computes formulas"));
    }
    if name.len() > MAX_NAME_BYTES {
        return Err(Invalid::new(
            path,
            &name.write(),
            format!("must be at most {MAX_NAME_BYTES} bytes long"),
        ));
    }
    Ok(())
}

impl Link {
    /// Refuse keys whose values contradict each other.
    pub(super) fn check(&self, path: &str) -> Result<(), Invalid> {
        check_name(&self.from, &join(path, "from"))?;
        check_name(&self.to, &join(path, "to"))?;
        if self.directions == Directions::One && self.reverse != Reverse::default() {
            let problem = "cannot be used in a link with directions = \"one\"";
            return Err(Invalid::at(&join(path, "reverse"), problem)
                .remedy("leave out the key reverse or the key directions"));
        }
        not_too_many(&self.impairments, &self.reverse, path)
    }
}

/// Refuse a flow that never ends in a scenario without a duration.
fn must_end(flow: &Flow, path: &str) -> Result<(), Invalid> {
    let Some(application) = flow.traffic.application() else {
        return Ok(()); // An endless stream of datagrams ends with the other flows.
    };
    let arrivals = flow.arrivals.as_ref().map_or(Ok(()), Opener::ends);
    let (key, what) = match (arrivals, application.ends()) {
        (Err((key, what)), _) => (format!("arrivals.{key}"), what),
        (_, Err((key, what))) => (format!("traffic.{key}"), what),
        (Ok(()), Ok(())) => return Ok(()),
    };
    let problem = "is absent, so the flow never ends, and the scenario has no duration";
    let remedy = format!("give the flow {what}, or give the scenario a duration");
    Err(Invalid::at(&join(path, &key), problem).remedy(remedy))
}

/// Refuse the key `arrivals.after = "response"` if the traffic of the flow has no responses.
fn check_responses(flow: &Flow, path: &str) -> Result<(), Invalid> {
    let after = flow.arrivals.as_ref().map(|arrivals| arrivals.after);
    let answers = |application: &dyn Application| application.needs(Side::Client).events;
    if after != Some(After::Response) || flow.traffic.application().is_none_or(answers) {
        return Ok(());
    }
    let problem = format!(
        "needs traffic with responses, and traffic of the kind {} has no responses",
        flow.traffic.kind()
    );
    let remedy = "set after = \"closing\", or use traffic of the kind request_response or ping";
    Err(Invalid::new(&join(path, "arrivals.after"), &After::Response.write(), problem).remedy(remedy))
}

/// If SACK is off, refuse TCP parameters that need the scoreboard of SACK. Without SACK, these
/// parameters would have no effect.
fn check_scoreboard(tcp: &Tcp, flow: &Flow, path: &str) -> Result<(), Invalid> {
    let Some((key, remedy)) = tcp.lacks_scoreboard().filter(|_| !flow.traffic.is_datagrams()) else {
        return Ok(());
    };
    let value = tcp.write().pointer(&format!("/{}", key.replace('.', "/"))).cloned().unwrap_or_default();
    let path = join(&join(path, "tcp"), key);
    let why = if tcp.sack {
        format!("recovery.method is {}", tcp.recovery.method.write())
    } else {
        "sack is false".into()
    };
    Err(Invalid::new(&path, &value, format!("needs SACK, and {why}")).remedy(remedy))
}

impl Scenario {
    /// Refuse keys whose values contradict each other.
    pub(super) fn check(&self, path: &str) -> Result<(), Invalid> {
        let flows = join(path, "flows");
        if self.flows.is_empty() {
            return Err(Invalid::at(&flows, "is empty").remedy("describe at least one flow"));
        }
        for (i, flow) in self.flows.iter().enumerate() {
            let path = join(&flows, i);
            for (key, name) in [("name", &flow.name), ("from", &flow.from), ("to", &flow.to)] {
                check_name(name, &join(&path, key))?;
            }
            if self.duration.is_none() {
                must_end(flow, &path)?;
            }
            if flow.traffic.is_datagrams() {
                for (key, there) in [
                    ("arrivals", flow.arrivals.is_some()),
                    ("tcp", !flow.tcp.is_none()),
                    ("receiver_tcp", !flow.receiver_tcp.is_none()),
                ] {
                    if there {
                        let problem = "cannot be used in a flow of datagrams, which has no connections";
                        return Err(Invalid::at(&join(&path, key), problem).remedy("remove this key"));
                    }
                }
            }
            let opens = |application: &dyn Application| application.opener().is_some();
            if let Some(arrivals) = &flow.arrivals
                && flow.traffic.application().is_some_and(opens)
            {
                let kind = flow.traffic.kind();
                let problem =
                    format!("cannot be used with traffic of kind {kind}, which opens its own connections");
                return Err(Invalid::new(&join(&path, "arrivals"), &arrivals.write(), problem)
                    .remedy("remove this key"));
            }
            check_responses(flow, &path)?;
            let tcp = flow.tcp.apply(&self.tcp, &join(&path, "tcp"))?;
            check_scoreboard(&tcp, flow, &path)?;
            flow.receiver_tcp.apply(&tcp, &join(&path, "receiver_tcp"))?;
        }
        let is_endless =
            |flow: &Flow| flow.traffic.emitter(Stream::new(0, "")).is_some_and(|datagrams| !datagrams.ends());
        if self.duration.is_none() && self.flows.iter().all(is_endless) {
            let problem = "are endless streams of datagrams, and the scenario has no duration";
            return Err(Invalid::at(&flows, problem).remedy(
                "set packets or lasts in the traffic of a flow, or set the duration of the scenario",
            ));
        }
        self.check_warm_up(path)?;
        self.check_samples(path)
    }

    /// Refuse a warm-up that is not shorter than the maximum duration of the run.
    fn check_warm_up(&self, path: &str) -> Result<(), Invalid> {
        let (key, end) = match self.duration {
            Some(duration) => ("duration", duration),
            None => ("time_limit", self.time_limit),
        };
        if self.warm_up < end {
            return Ok(());
        }
        let problem = format!("must be shorter than the run, whose {key} is {end}");
        Err(Invalid::new(&join(path, "warm_up"), &self.warm_up.write(), problem)
            .remedy(format!("shorten the warm-up, or lengthen {key}")))
    }
}
