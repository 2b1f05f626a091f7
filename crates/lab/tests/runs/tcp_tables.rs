//! Tests of the tables of TCP parameters in a scenario: the precedence of the command line, of
//! flows, of receivers and of stacks.

use crate::common::{TWO_DOWNLOADS, scenario};
use serde_json::Value;

/// Return the TCP parameters of the sender and of the receiver of the first flow, after stacks and
/// changes are applied.
fn resolved(changes: &[(&str, &str)]) -> (Value, Value) {
    let groups = lab::resolved::tcp(&scenario(TWO_DOWNLOADS, changes).unwrap()).unwrap();
    (groups[0]["sender"].clone(), groups[0]["receiver"].clone())
}

/// If a text stands where a table is expected, the text sets one key of the table. The other keys
/// of the table do not change, whether they are set before or after the text.
#[test]
fn a_text_sets_one_key_and_leaves_the_other_keys_of_its_table() {
    let packets = ("tcp.ecn.packets", "all-data");
    for changes in [[("tcp.ecn", "accurate"), packets], [packets, ("tcp.ecn", "accurate")]] {
        let ecn = &resolved(&changes).0["ecn"];
        assert_eq!((ecn["mode"].as_str(), ecn["packets"].as_str()), (Some("accurate"), Some("all-data")));
    }
    let (sender, _) =
        resolved(&[("tcp.sack", "true"), ("tcp.recovery", "fack"), ("tcp.recovery.rack", "true")]);
    assert_eq!((&sender["recovery"]["method"], &sender["recovery"]["rack"]), (&"fack".into(), &true.into()));
}

/// The table `tcp` of a flow overrides single keys of the scenario, and the table `receiver_tcp`
/// overrides single keys of the flow.
#[test]
fn flows_and_receivers_override_single_keys() {
    let (sender, receiver) = resolved(&[
        ("tcp.rto.min", "400 ms"),
        ("tcp.rto.max", "9 s"),
        ("flows.0.tcp.rto.min", "300 ms"),
        ("flows.0.receiver_tcp.rto.initial", "2 s"),
        ("flows.0.receiver_tcp.ecn", "off"),
    ]);
    let rto =
        |tcp: &Value| ["initial", "min", "max"].map(|key| tcp["rto"][key].as_str().unwrap().to_string());
    assert_eq!(rto(&sender), ["1 s", "300 ms", "9 s"]);
    assert_eq!(rto(&receiver), ["2 s", "300 ms", "9 s"]);
    assert_eq!((&sender["ecn"]["mode"], &receiver["ecn"]["mode"]), (&"rfc3168".into(), &"off".into()));
}

/// In each table of TCP parameters, the stack sets the keys that the scenario does not set.
#[test]
fn a_stack_sets_the_remaining_keys_of_each_table() {
    let (sender, _) =
        resolved(&[("tcp.stack", "linux"), ("tcp.rto.max", "9 s"), ("tcp.recovery.frto", "off")]);
    assert_eq!((&sender["rto"]["max"], &sender["rto"]["min"]), (&"9 s".into(), &"200 ms".into()));
    assert_eq!((&sender["recovery"]["frto"], &sender["recovery"]["rack"]), (&"off".into(), &true.into()));
    assert_eq!(sender["ecn"]["mode"], "rfc3168", "the key in the scenario overrides the key of the stack");
}

/// The former name of a renamed key is an error in each table of TCP parameters, also on the
/// command line.
#[test]
fn a_renamed_key_is_an_error_in_every_table() {
    for table in ["tcp", "flows.0.tcp", "flows.0.receiver_tcp"] {
        let error = scenario(TWO_DOWNLOADS, &[(&format!("{table}.rto_min"), "1 s")]).unwrap_err();
        assert_eq!(error, format!("{table}.rto_min: is now rto.min; write rto = {{ min = \"1 s\" }}"));
    }
}
