//! What a choice presumes of the rest of TCP: a congestion control the loss recovery that its RFC, draft or kernel builds on,
//! loss recovery by SACK that SACK is on. It is laid under what a document says itself, and over its preset.

use serde_json::json;
use units::param::Json;

use crate::config::{RateReduction, Tcp};
use crate::congestion::Algorithm;
use crate::recovery::RecoveryKind;

/// Everything that works on SACK's scoreboard.
const ON_SCOREBOARD: [&str; 3] = ["rack", "tail_loss_probe", "rate_reduction"];

/// The name of a congestion control, or of the one that it modifies.
fn kind(said: &Json) -> &str {
    match said.get("over") {
        Some(over) => kind(over),
        None => said.as_str().or_else(|| said.get("kind")?.as_str()).unwrap_or(""),
    }
}

/// Lays what a document's choices presume under what it says; `base` has what it changes, as that was said.
pub fn lay(document: &mut Json, base: &Json) {
    let Some(map) = document.as_object_mut() else { return };
    let said =
        |map: &serde_json::Map<String, Json>, key: &str| map.get(key).or_else(|| base.get(key)).cloned();
    let recovery = said(map, "recovery");
    let by_sack = recovery.as_ref().and_then(Json::as_str).is_none_or(|r| matches!(r, "sack" | "fack"));
    let without = said(map, "sack") == Some(Json::Bool(false)) || !by_sack;
    if without {
        if map.contains_key("sack") || map.contains_key("recovery") {
            take_away(map, recovery.is_none());
        }
        return;
    }
    // Beside a preset of its own a document keeps the control of its base, but not what that brought.
    let control = map.get("congestion").or_else(|| map.get("preset").and(base.get("congestion")));
    let mut presumed = control.map_or_else(|| json!({}), |c| Algorithm::presumed_by(kind(c)).parameters());
    if map.get("sack") == Some(&Json::Bool(true)) {
        presumed["recovery"] = "sack".into();
    }
    for (key, value) in presumed.as_object().into_iter().flatten() {
        if said(map, key).is_none() {
            map.insert(key.clone(), value.clone());
        }
    }
}

/// Without SACK's scoreboard nothing can work on it, whatever the preset has.
fn take_away(map: &mut serde_json::Map<String, Json>, recovery: bool) {
    let mut none = json!({"rack": false, "tail_loss_probe": false, "rate_reduction": "halve"});
    if recovery {
        none["recovery"] = "newreno".into();
    }
    for (key, value) in none.as_object().into_iter().flatten() {
        map.entry(key.clone()).or_insert(value.clone());
    }
}

impl Tcp {
    /// The parameter that works on SACK's scoreboard where there is none, if there is one, and what to do.
    pub fn lacks_scoreboard(&self) -> Option<(&'static str, &'static str)> {
        let by_sack = matches!(self.recovery, RecoveryKind::Sack | RecoveryKind::Fack);
        if by_sack && !self.sack {
            return Some(("recovery", "set sack = true, or recovery = \"newreno\""));
        }
        let on = [self.rack, self.tail_loss_probe, self.rate_reduction != RateReduction::AtOnce];
        let first = on.iter().position(|&on| on && !by_sack)?;
        Some((ON_SCOREBOARD[first], "set sack = true and recovery = \"sack\", or leave it out"))
    }
}

#[cfg(test)]
mod tests {
    use units::Read;

    use super::*;

    fn laid(mut document: Json, base: Json) -> Json {
        lay(&mut document, &base);
        document
    }

    #[test]
    fn a_modern_control_brings_recovery_by_sack() {
        let cubic = laid(json!({"congestion": "cubic"}), json!({}));
        assert_eq!(
            (&cubic["sack"], &cubic["recovery"], &cubic["rack"]),
            (&json!(true), &json!("sack"), &json!(true))
        );
        let over = laid(json!({"congestion": {"kind": "abe", "over": "cubic"}}), json!({}));
        assert_eq!(over["rate_reduction"], "prr");
        assert_eq!(laid(json!({"congestion": "htcp"}), json!({}))["recovery"], "sack");
        assert_eq!(laid(json!({"congestion": "reno"}), json!({})), json!({"congestion": "reno"}));
    }

    #[test]
    fn what_is_said_holds() {
        let cubic = laid(json!({"congestion": "cubic", "rack": false}), json!({"rate_reduction": "halve"}));
        assert_eq!((&cubic["rack"], cubic.get("rate_reduction")), (&json!(false), None));
        for base in [json!({"sack": false}), json!({"recovery": "newreno"})] {
            assert_eq!(laid(json!({"congestion": "cubic"}), base), json!({"congestion": "cubic"}));
        }
    }

    #[test]
    fn sack_brings_its_recovery_and_takes_it_away() {
        assert_eq!(laid(json!({"sack": true}), json!({}))["recovery"], "sack");
        assert_eq!(laid(json!({"sack": true, "recovery": "fack"}), json!({}))["recovery"], "fack");
        let none = laid(json!({"sack": false, "congestion": "cubic"}), json!({"rack": true}));
        assert_eq!((&none["recovery"], &none["rack"]), (&json!("newreno"), &json!(false)));
        let none = laid(json!({"preset": "linux", "recovery": "reno"}), json!({}));
        assert_eq!((&none["rack"], none.get("sack")), (&json!(false), None));
    }

    /// A flow with a preset of its own over other parameters of all flows.
    #[test]
    fn a_preset_over_a_base_agrees_with_itself() {
        let over = |base: Json| {
            let mut all = base.clone();
            Tcp::expand(&mut all, &Json::Null);
            let mut flow = json!({"preset": "rfc"});
            Tcp::expand(&mut flow, &base);
            all.as_object_mut().unwrap().extend(flow.as_object().unwrap().clone());
            Tcp::read(&all, "tcp").unwrap()
        };
        for base in
            [json!({"congestion": "cubic"}), json!({"preset": "linux"}), json!({"sack": true, "rack": true})]
        {
            assert_eq!(over(base.clone()).lacks_scoreboard(), None, "{base}");
        }
        assert_eq!(over(json!({"congestion": "cubic"})).recovery, RecoveryKind::Sack);
    }

    /// Laying twice changes nothing: a manifest can be run again.
    #[test]
    fn it_is_done_once() {
        for document in [json!({"congestion": "cubic"}), json!({"sack": false}), json!({"sack": true})] {
            let once = laid(document, json!({}));
            assert_eq!(laid(once.clone(), json!({})), once);
        }
    }

    #[test]
    fn what_needs_a_scoreboard_is_named() {
        let tcp = |json: Json| Tcp::preset("rfc", &json).unwrap();
        assert_eq!(tcp(json!({})).lacks_scoreboard(), None);
        assert_eq!(tcp(json!({"congestion": "cubic"})).lacks_scoreboard(), None);
        assert_eq!(tcp(json!({"sack": false, "recovery": "sack"})).lacks_scoreboard().unwrap().0, "recovery");
        assert_eq!(tcp(json!({"tail_loss_probe": true})).lacks_scoreboard().unwrap().0, "tail_loss_probe");
        assert_eq!(tcp(json!({"rate_reduction": "prr"})).lacks_scoreboard().unwrap().0, "rate_reduction");
    }
}
