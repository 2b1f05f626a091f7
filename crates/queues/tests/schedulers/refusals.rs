//! An invalid scheduler is refused with an error that names the wrong key.

use serde_json::{Value, json};

use super::bench::Named;

/// A list of classes that does not define a valid tree is refused.
#[test]
fn invalid_trees_are_refused() {
    let e = |classes: Value| {
        <queues::Queue as units::Read>::read(&json!({"kind": "htb", "classes": classes}), "q")
            .unwrap_err()
            .to_string()
    };
    let rate = "1 Mbit/s";
    assert!(
        e(json!([{"rate": rate, "parent": "x"}]))
            .contains("q.classes.0.parent: \"x\" is not the name of an earlier class")
    );
    assert!(
        e(json!([{"name": "a", "rate": rate, "queue": "red"}, {"rate": rate, "parent": "a"}]))
            .contains("q.classes.0.queue: and match cannot be set for")
    );
    assert!(
        e(json!([{"name": "a", "rate": rate}, {"name": "a", "rate": rate}])).contains("q.classes.1.name")
    );
    assert!(
        e(json!([{"rate": rate, "ceil": "1 kbit/s"}]))
            .contains("q.classes.0.ceil: \"1 kbit/s\" must be at least the rate (")
    );
    let chain: Vec<Value> = (0..9).map(|i| json!({"name": format!("{i}"), "rate": rate, "parent": (i > 0).then(|| format!("{}", i - 1))})).collect();
    assert!(e(json!(chain)).contains("q.classes.7: is more than 8 levels deep"));
}

#[test]
fn refusals_contain_the_class() {
    let e = |v: Value| {
        let queue = <queues::Queue as units::Read>::read(&v, "q");
        queue.and_then(|q| q.check_matches(&Named(3), "q")).unwrap_err().to_string()
    };
    let rest = json!({"queue": "drop_tail"});
    let f = |n: u64| json!({"match": {"flows": format!("f{n}")}});
    assert!(e(json!({"kind": "priority", "classes": []})).contains("q.classes: must have between 1"));
    assert!(e(json!({"kind": "drr", "classes": [f(0), f(1)]})).contains("remove match from one class"));
    assert!(e(json!({"kind": "wrr", "classes": [rest, f(0), rest]})).contains("q.classes.2: has no match"));
    assert!(e(json!({"kind": "drr", "limit": "5 packets", "classes": [rest]})).contains("q.limit: "));
    assert!(
        e(json!({"kind": "drr", "classes": [rest, f(7)]}))
            .contains("q.classes.1.match.flows: \"f7\" is not the name of a flow")
    );
    assert!(
        e(json!({"kind": "drr", "classes": [{"queue": {"kind": "red", "minht": 1}}]}))
            .contains("q.classes.0.queue.minht")
    );
    let low = json!({"service": "strict", "match": {"dscp": "EF"}});
    assert!(e(json!({"kind": "mdrr", "classes": [low, low, rest]})).contains("q.classes.1.service"));
}

/// Queues with a thousand levels of queues within them are refused, and so are queues with one
/// level too many.
#[test]
fn deep_queues_are_refused() {
    // Each step moves the inner JSON value into the outer JSON value, because operations such as a
    // copy call themselves once per level.
    let nest = |deep: usize| {
        (1..deep).fold(json!("drop_tail"), |queue, _| {
            let (mut class, mut outer) = (serde_json::Map::new(), serde_json::Map::new());
            class.insert("queue".into(), queue);
            outer.insert("kind".into(), "priority".into());
            outer.insert("classes".into(), Value::Array(vec![Value::Object(class)]));
            Value::Object(outer)
        })
    };
    let read = |queue: Value| <queues::Queue as units::Read>::read(&queue, "q");
    assert!(read(nest(12)).is_ok());
    for deep in [13, 100, 1000] {
        let e = read(nest(deep)).unwrap_err().to_string();
        assert!(e.contains("q: has queues nested more than 12 deep"), "{e}");
    }
}
