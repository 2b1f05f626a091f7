//! Parameters that other parameters imply. A congestion control implies the loss recovery that its
//! RFC, draft or kernel requires, and loss recovery by SACK implies SACK.
//!
//! The implied parameters of a control replace the parameters that the stack sets. Parameters that
//! the document itself sets take precedence over the implied parameters.

use serde_json::json;
use units::param::{Json, JsonMap, Params, merge};

use crate::config::{RateReduction, Tcp};
use crate::congestion::Algorithm;
use crate::recovery::RecoveryKind;

/// Keys of `recovery` that require SACK's scoreboard.
const SCOREBOARD_KEYS: [&str; 3] = ["rack", "tail_loss_probe", "reduction"];

/// Return the name of a congestion control, or of the control that it modifies.
fn control_name(control: &Json) -> &str {
    match control.get("over") {
        Some(over) => control_name(over),
        None => control.as_str().or_else(|| control.get("kind")?.as_str()).unwrap_or(""),
    }
}

/// Insert into the document `map` the entries of `keys` that exist neither in `map` nor in the base
/// of the document.
fn insert_below(map: &mut JsonMap, base: &JsonMap, mut keys: Json) {
    let Some(keys) = keys.as_object_mut() else { return };
    for (name, table) in base {
        match (keys.get_mut(name), table) {
            (Some(Json::Object(under)), Json::Object(table)) => {
                under.retain(|key, _| !table.contains_key(key))
            }
            _ => drop(keys.shift_remove(name)),
        }
    }
    keys.retain(|_, value| value.as_object().is_none_or(|table| !table.is_empty()));
    merge(keys, map);
    *map = std::mem::take(keys);
}

/// Insert the implied parameters of a document. The document's own keys take precedence. `base`
/// contains the parameters before the changes of the document, in the format of a scenario. If the
/// document has a text where a table is allowed, the function replaces the text by the table.
pub fn apply(document: &mut Json, base: &Json) {
    let Some(map) = document.as_object_mut() else { return };
    let mut base = base.as_object().cloned().unwrap_or_default();
    Tcp::expand_shorthands(map);
    Tcp::expand_shorthands(&mut base);
    let method = |map: &JsonMap| map.get("recovery").and_then(|table| table.get("method")).cloned();
    let recovery = method(map).or_else(|| method(&base));
    let uses_scoreboard =
        recovery.as_ref().and_then(Json::as_str).is_none_or(|r| matches!(r, "sack" | "fack"));
    let no_sack =
        map.get("sack").or_else(|| base.get("sack")) == Some(&Json::Bool(false)) || !uses_scoreboard;
    if no_sack {
        if map.contains_key("sack") || method(map).is_some() {
            insert_below(map, &JsonMap::new(), without_scoreboard(recovery.is_none()));
        }
        return;
    }
    // If the document names a stack but no congestion control, the congestion control in `base`
    // applies. The parameters that the congestion control implied in `base` are not copied.
    let control = map.get("congestion").or_else(|| map.get("stack").and(base.get("congestion")));
    let mut implied =
        control.map_or_else(|| json!({}), |c| Algorithm::implied_recovery(control_name(c)).parameters());
    if map.get("sack") == Some(&Json::Bool(true)) {
        implied["recovery"]["method"] = "sack".into();
    }
    insert_below(map, &base, implied);
}

/// Return the parameters that a connection without SACK's scoreboard uses instead of the parameters
/// of its stack.
fn without_scoreboard(needs_method: bool) -> Json {
    let mut none = json!({"recovery": {"rack": false, "tail_loss_probe": false, "reduction": "halve"}});
    if needs_method {
        none["recovery"]["method"] = "newreno".into();
    }
    none
}

impl Tcp {
    /// If a parameter requires SACK's scoreboard and the connection has no scoreboard, return the
    /// path of the parameter and the remedy. Return `None` if SACK's scoreboard is present or not
    /// required.
    pub fn lacks_scoreboard(&self) -> Option<(String, &'static str)> {
        let recovery = &self.recovery;
        let uses_scoreboard = matches!(recovery.method, RecoveryKind::Sack | RecoveryKind::Fack);
        if uses_scoreboard && !self.sack {
            return Some(("recovery.method".into(), "set sack = true, or recovery = \"newreno\""));
        }
        let enabled = [recovery.rack, recovery.tail_loss_probe, recovery.reduction != RateReduction::AtOnce];
        let first = enabled.iter().position(|&on| on && !uses_scoreboard)?;
        let remedy = "set sack = true and recovery.method = \"sack\", or remove this key";
        Some((format!("recovery.{}", SCOREBOARD_KEYS[first]), remedy))
    }
}

#[cfg(test)]
mod tests {
    use units::Read;

    use super::*;

    fn with_implied(mut document: Json, base: Json) -> Json {
        apply(&mut document, &base);
        document
    }

    #[test]
    fn modern_congestion_control_implies_recovery_by_sack() {
        let cubic = with_implied(json!({"congestion": "cubic"}), json!({}));
        assert_eq!(
            (&cubic["sack"], &cubic["recovery"]["method"], &cubic["recovery"]["rack"]),
            (&json!(true), &json!("sack"), &json!(true))
        );
        let over = with_implied(json!({"congestion": {"kind": "abe", "over": "cubic"}}), json!({}));
        assert_eq!(over["recovery"]["reduction"], "prr");
        assert_eq!(with_implied(json!({"congestion": "htcp"}), json!({}))["recovery"]["method"], "sack");
        assert_eq!(with_implied(json!({"congestion": "reno"}), json!({})), json!({"congestion": "reno"}));
    }

    #[test]
    fn explicit_keys_replace_implied_keys() {
        let cubic = with_implied(
            json!({"congestion": "cubic", "recovery": {"rack": false}}),
            json!({"recovery": {"reduction": "halve"}}),
        );
        let recovery = &cubic["recovery"];
        assert_eq!((&recovery["rack"], recovery.get("reduction")), (&json!(false), None));
        for base in [json!({"sack": false}), json!({"recovery": "newreno"})] {
            assert_eq!(with_implied(json!({"congestion": "cubic"}), base), json!({"congestion": "cubic"}));
        }
    }

    #[test]
    fn sack_implies_its_recovery_and_no_sack_removes_it() {
        assert_eq!(with_implied(json!({"sack": true}), json!({}))["recovery"]["method"], "sack");
        assert_eq!(
            with_implied(json!({"sack": true, "recovery": "fack"}), json!({}))["recovery"]["method"],
            "fack"
        );
        let none =
            with_implied(json!({"sack": false, "congestion": "cubic"}), json!({"recovery": {"rack": true}}));
        assert_eq!(
            (&none["recovery"]["method"], &none["recovery"]["rack"]),
            (&json!("newreno"), &json!(false))
        );
        let none = with_implied(json!({"stack": "linux", "recovery": "reno"}), json!({}));
        assert_eq!((&none["recovery"]["rack"], none.get("sack")), (&json!(false), None));
    }

    /// A flow may name a stack that differs from the stack of all other flows.
    #[test]
    fn stack_over_a_base_is_consistent() {
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

    /// A second insertion of the implied parameters does not change the document. A manifest, which
    /// contains the implied parameters, can therefore be run again.
    #[test]
    fn implied_parameters_are_idempotent() {
        for document in [json!({"congestion": "cubic"}), json!({"sack": false}), json!({"sack": true})] {
            let once = with_implied(document, json!({}));
            assert_eq!(with_implied(once.clone(), json!({})), once);
        }
    }

    #[test]
    fn parameter_without_its_scoreboard_is_named() {
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
