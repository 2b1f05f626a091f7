//! What a choice presumes of the rest of TCP: a congestion control the loss recovery that its RFC, draft or kernel builds on,
//! loss recovery by SACK that SACK is on. It is laid under what a document says itself, and over its stack.

use serde_json::json;
use units::param::{Json, JsonMap, Params, merge};

use crate::config::{RateReduction, Tcp};
use crate::congestion::Algorithm;
use crate::recovery::RecoveryKind;

/// The keys of recovery that require SACK's scoreboard.
const ON_SCOREBOARD: [&str; 3] = ["rack", "tail_loss_probe", "reduction"];

/// The name of a congestion control, or of the one that it modifies.
fn kind(said: &Json) -> &str {
    match said.get("over") {
        Some(over) => kind(over),
        None => said.as_str().or_else(|| said.get("kind")?.as_str()).unwrap_or(""),
    }
}

/// Lay keys under those of a document, apart from keys that its base has.
fn insert_below(map: &mut JsonMap, base: &JsonMap, mut under: Json) {
    let Some(all) = under.as_object_mut() else { return };
    for (name, table) in base {
        match (all.get_mut(name), table) {
            (Some(Json::Object(under)), Json::Object(table)) => {
                under.retain(|key, _| !table.contains_key(key))
            }
            _ => drop(all.shift_remove(name)),
        }
    }
    all.retain(|_, value| value.as_object().is_none_or(|table| !table.is_empty()));
    merge(all, map);
    *map = std::mem::take(all);
}

/// Lay what a document's choices presume under its own keys; `base` has the keys that it changes, as they were written. Each
/// text that stands for a table becomes the table.
pub fn apply(document: &mut Json, base: &Json) {
    let Some(map) = document.as_object_mut() else { return };
    let mut base = base.as_object().cloned().unwrap_or_default();
    Tcp::expand_shorthands(map);
    Tcp::expand_shorthands(&mut base);
    let method = |map: &JsonMap| map.get("recovery").and_then(|table| table.get("method")).cloned();
    let recovery = method(map).or_else(|| method(&base));
    let by_sack = recovery.as_ref().and_then(Json::as_str).is_none_or(|r| matches!(r, "sack" | "fack"));
    let without = map.get("sack").or_else(|| base.get("sack")) == Some(&Json::Bool(false)) || !by_sack;
    if without {
        if map.contains_key("sack") || method(map).is_some() {
            insert_below(map, &JsonMap::new(), without_scoreboard(recovery.is_none()));
        }
        return;
    }
    // Beside a stack of its own a document keeps the control of its base, but not what that brought.
    let control = map.get("congestion").or_else(|| map.get("stack").and(base.get("congestion")));
    let mut presumed =
        control.map_or_else(|| json!({}), |c| Algorithm::implied_recovery(kind(c)).parameters());
    if map.get("sack") == Some(&Json::Bool(true)) {
        presumed["recovery"]["method"] = "sack".into();
    }
    insert_below(map, &base, presumed);
}

/// The parameters of a connection without SACK's scoreboard, whatever its stack has.
fn without_scoreboard(needs_method: bool) -> Json {
    let mut none = json!({"recovery": {"rack": false, "tail_loss_probe": false, "reduction": "halve"}});
    if needs_method {
        none["recovery"]["method"] = "newreno".into();
    }
    none
}

impl Tcp {
    /// Return the path of the parameter that requires SACK's scoreboard where there is none, and the remedy; `None` if there is
    /// no such parameter.
    pub fn lacks_scoreboard(&self) -> Option<(String, &'static str)> {
        let recovery = &self.recovery;
        let by_sack = matches!(recovery.method, RecoveryKind::Sack | RecoveryKind::Fack);
        if by_sack && !self.sack {
            return Some(("recovery.method".into(), "set sack = true, or recovery = \"newreno\""));
        }
        let on = [recovery.rack, recovery.tail_loss_probe, recovery.reduction != RateReduction::AtOnce];
        let first = on.iter().position(|&on| on && !by_sack)?;
        let remedy = "set sack = true and recovery.method = \"sack\", or leave it out";
        Some((format!("recovery.{}", ON_SCOREBOARD[first]), remedy))
    }
}

#[cfg(test)]
mod tests {
    use units::Read;

    use super::*;

    fn laid(mut document: Json, base: Json) -> Json {
        apply(&mut document, &base);
        document
    }

    #[test]
    fn a_modern_control_brings_recovery_by_sack() {
        let cubic = laid(json!({"congestion": "cubic"}), json!({}));
        assert_eq!(
            (&cubic["sack"], &cubic["recovery"]["method"], &cubic["recovery"]["rack"]),
            (&json!(true), &json!("sack"), &json!(true))
        );
        let over = laid(json!({"congestion": {"kind": "abe", "over": "cubic"}}), json!({}));
        assert_eq!(over["recovery"]["reduction"], "prr");
        assert_eq!(laid(json!({"congestion": "htcp"}), json!({}))["recovery"]["method"], "sack");
        assert_eq!(laid(json!({"congestion": "reno"}), json!({})), json!({"congestion": "reno"}));
    }

    #[test]
    fn what_is_said_holds() {
        let cubic = laid(
            json!({"congestion": "cubic", "recovery": {"rack": false}}),
            json!({"recovery": {"reduction": "halve"}}),
        );
        let recovery = &cubic["recovery"];
        assert_eq!((&recovery["rack"], recovery.get("reduction")), (&json!(false), None));
        for base in [json!({"sack": false}), json!({"recovery": "newreno"})] {
            assert_eq!(laid(json!({"congestion": "cubic"}), base), json!({"congestion": "cubic"}));
        }
    }

    #[test]
    fn sack_brings_its_recovery_and_takes_it_away() {
        assert_eq!(laid(json!({"sack": true}), json!({}))["recovery"]["method"], "sack");
        assert_eq!(laid(json!({"sack": true, "recovery": "fack"}), json!({}))["recovery"]["method"], "fack");
        let none = laid(json!({"sack": false, "congestion": "cubic"}), json!({"recovery": {"rack": true}}));
        assert_eq!(
            (&none["recovery"]["method"], &none["recovery"]["rack"]),
            (&json!("newreno"), &json!(false))
        );
        let none = laid(json!({"stack": "linux", "recovery": "reno"}), json!({}));
        assert_eq!((&none["recovery"]["rack"], none.get("sack")), (&json!(false), None));
    }

    /// A flow with a stack of its own over other parameters of all flows.
    #[test]
    fn a_stack_over_a_base_agrees_with_itself() {
        let over = |base: Json| {
            let mut all = base.clone();
            Tcp::expand(&mut all, &Json::Null);
            let mut flow = json!({"stack": "rfc"});
            Tcp::expand(&mut flow, &base);
            merge(all.as_object_mut().unwrap(), flow.as_object().unwrap());
            Tcp::read(&all, "tcp").unwrap()
        };
        for base in [
            json!({"congestion": "cubic"}),
            json!({"stack": "linux"}),
            json!({"sack": true, "recovery": {"rack": true}}),
        ] {
            assert_eq!(over(base.clone()).lacks_scoreboard(), None, "{base}");
        }
        assert_eq!(over(json!({"congestion": "cubic"})).recovery.method, RecoveryKind::Sack);
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
        let tcp = |json: Json| Tcp::of_stack("rfc", &json).unwrap();
        assert_eq!(tcp(json!({})).lacks_scoreboard(), None);
        assert_eq!(tcp(json!({"congestion": "cubic"})).lacks_scoreboard(), None);
        assert_eq!(
            tcp(json!({"sack": false, "recovery": "sack"})).lacks_scoreboard().unwrap().0,
            "recovery.method"
        );
        assert_eq!(
            tcp(json!({"recovery": {"tail_loss_probe": true}})).lacks_scoreboard().unwrap().0,
            "recovery.tail_loss_probe"
        );
        assert_eq!(
            tcp(json!({"recovery": {"reduction": "prr"}})).lacks_scoreboard().unwrap().0,
            "recovery.reduction"
        );
    }
}
