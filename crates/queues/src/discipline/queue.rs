//! Queue of a scenario: one table with the keys of the buffer and the keys of the queue's kind.

use engine::Stream;
use net::Variable;
use units::param::{Invalid, Json, JsonMap, join, object, page, refuse_unknown};
use units::{Params, Rate, Read};

use super::{Discipline, Kind, StoringQueue};
use crate::aqm::{CustomAqms, QueueContext};
use crate::diffserv::Flows;
use crate::drop_tail::DropTail;
use crate::fifo::{Buffer, DropFrom, HUNDRED_PACKETS, MarkAt};
use crate::schedulers::check_depth;

/// Queue of a scenario: a buffer and a kind with its parameters, written as one table (`{ kind =
/// "red", limit = "64 packets", minth = "20 packets" }`).
#[derive(Clone, Debug, PartialEq)]
pub struct Queue {
    /// Buffer of the queue, with its limit.
    pub buffer: Buffer,
    /// Kind of the queue, with its parameters.
    pub kind: Kind,
}

impl Queue {
    /// Return the manual page of each kind of queue. A page lists the parameters of the kind,
    /// followed by those of the buffer.
    pub fn pages() -> Vec<Json> {
        let buffer = page::<Buffer>();
        let mut pages = Kind::pages();
        for page in &mut pages {
            if is_scheduler(&page["name"]) {
                continue;
            }
            let limit = Kind::limit_of(page["name"].as_str().unwrap_or_default());
            if let (Some(all), Some(more)) =
                (page["parameters"].as_array_mut(), buffer["parameters"].as_array())
            {
                all.extend(more.iter().cloned());
                for parameter in all.iter_mut().filter(|p| p["name"] == "limit" && limit != HUNDRED_PACKETS) {
                    parameter["default"] = limit.write();
                    parameter["source"] = "default limit of this kind of queue".into();
                }
            }
        }
        pages
    }

    /// Return the JSON Schema of a queue: the schema of each kind, extended by the keys of the
    /// buffer.
    pub fn definition() -> Json {
        let mut schema = Kind::schema();
        let buffer = Buffer::schema();
        fn add(node: &mut Json, buffer: &Json) {
            if let Some(properties) = node.get_mut("properties").and_then(Json::as_object_mut)
                && !properties.get("kind").is_some_and(|kind| is_scheduler(&kind["const"]))
            {
                properties.extend(buffer["properties"].as_object().cloned().unwrap_or_default());
            }
            for option in node.get_mut("anyOf").and_then(Json::as_array_mut).into_iter().flatten() {
                add(option, buffer);
            }
        }
        add(&mut schema, &buffer);
        schema
    }

    /// Call the function `see` with this queue and with each queue in its classes, at any depth.
    pub fn each(&self, see: &mut dyn FnMut(&Queue)) {
        see(self);
        self.kind.children().iter().for_each(|child| child.queue.each(see));
    }

    /// Return the variables by which this queue, and each queue in its classes, explain their drops
    /// and marks. Each name occurs once. The variables of the buffer come first.
    pub fn variables(&self) -> Vec<&'static Variable> {
        let mut all: Vec<&'static Variable> = crate::fifo::DECLARED.variables.iter().collect();
        self.each(&mut |queue| {
            for variable in queue.kind.declared().iter().flat_map(|declared| declared.variables) {
                if all.iter().all(|known| known.name != variable.name) {
                    all.push(variable);
                }
            }
        });
        all
    }

    /// Build the queue of the link with this name and rate. `random` is the random stream of the
    /// queue, `custom` supplies the AQMs that this crate does not contain, and `flows` are the
    /// flows of the scenario.
    pub fn build(
        &self,
        name: &str,
        rate: Rate,
        random: Stream,
        custom: &dyn CustomAqms,
        flows: &dyn Flows,
    ) -> Discipline {
        let context = QueueContext::new(rate, self.buffer.limit.at(rate), random);
        self.kind.build(&self.buffer, QueueContext { name, custom, flows, ..context })
    }

    /// Build the queue discipline that stores its packets until a dequeue.
    pub(crate) fn build_storing(&self, context: QueueContext) -> Box<dyn StoringQueue> {
        self.kind.build_storing(&self.buffer, context)
    }

    /// Refuse classes whose `match` names a flow that the scenario does not have.
    pub fn check_matches(&self, flows: &dyn Flows, path: &str) -> Result<(), Invalid> {
        for child in self.kind.children() {
            let path = if child.path.is_empty() { path.to_string() } else { join(path, &child.path) };
            if let Some(takes) = child.takes {
                takes.check(flows, &join(&path, "match"))?;
            }
            child.queue.check_matches(flows, &join(&path, "queue"))?;
        }
        Ok(())
    }
}

fn is_scheduler(kind: &Json) -> bool {
    kind.as_str().is_some_and(Kind::is_scheduler)
}

fn is_buffer_key(key: &str) -> bool {
    Buffer::KEYS.contains(&key)
}

/// Read the keys of a queue's buffer, such as `limit`, from a scenario. The argument `kind` is the
/// kind of the queue. If the scenario does not set a limit, use the default limit of the kind.
fn read_buffer(kind: &str, mut given: JsonMap, path: &str) -> Result<Buffer, Invalid> {
    given.entry("limit").or_insert_with(|| Kind::limit_of(kind).write());
    Buffer::read(&Json::Object(given), path)
}

/// Return the table that defines a queue, or refuse a value of another type.
fn table<'a>(value: &'a Json, path: &str) -> Result<&'a JsonMap, Invalid> {
    object(value, path).map_err(|refusal| refusal.remedy("write for example \"red\", or { kind = \"red\" }"))
}

/// Refuse keys that neither this kind of queue nor its buffer has. The error lists the known keys
/// of the queue.
fn refuse_unknown_keys(table: &JsonMap, path: &str) -> Result<(), Invalid> {
    let mut keys = table.clone();
    let kind = keys.shift_remove("kind").unwrap_or_default();
    let Some(aqm) = kind.as_str().and_then(Kind::keys_of) else {
        return Ok(()); // reading the kind reports the error
    };
    let buffer = if is_scheduler(&kind) { &[] } else { Buffer::KEYS };
    let known = [aqm, buffer].concat();
    let former = Kind::former_keys_of(kind.as_str().unwrap_or_default());
    keys.retain(|key, _| former.iter().all(|renamed| renamed.old != key)); // an error of the kind
    refuse_unknown(&keys, &known, path)
}

/// Refuse `drop_from` for a kind that drops only arriving packets, and `mark_at` for a kind that
/// itself chooses the packets that it marks.
fn check_places(queue: &Queue, path: &str) -> Result<(), Invalid> {
    let Buffer { drop_from, mark_at, .. } = queue.buffer;
    let refuse = |key: &str, value: Json, why: &str| {
        Err(Invalid::new(&join(path, key), &value, why).remedy(format!("remove {key}")))
    };
    if drop_from != DropFrom::Tail && queue.kind.counts_on_order() {
        return refuse(
            "drop_from",
            drop_from.write(),
            "cannot be set for this kind, which drops only arriving packets",
        );
    }
    if mark_at != MarkAt::Tail && queue.kind.places_marks() {
        return refuse(
            "mark_at",
            mark_at.write(),
            "cannot be set for this kind, which chooses the packets that it marks",
        );
    }
    Ok(())
}

impl Default for Queue {
    fn default() -> Self {
        let nothing = Json::Object(JsonMap::new());
        let buffer = Buffer::read(&nothing, "").expect("every key of a buffer has a default");
        Queue { buffer, kind: Kind::read(&DropTail::KEY.into(), "").expect("Drop Tail has no parameters") }
    }
}

impl Read for Queue {
    fn read(value: &Json, path: &str) -> Result<Self, Invalid> {
        check_depth(value, path)?;
        if let Some(kind) = value.as_str() {
            return Ok(Queue {
                kind: Kind::read(value, path)?,
                buffer: read_buffer(kind, JsonMap::new(), path)?,
            });
        }
        let (buffer, aqm): (JsonMap, JsonMap) =
            table(value, path)?.clone().into_iter().partition(|(key, _)| is_buffer_key(key));
        if let Some((key, value)) = buffer.iter().next().filter(|_| aqm.get("kind").is_some_and(is_scheduler))
        {
            let problem =
                "belongs to the queues of the classes, because a scheduler itself does not store packets";
            return Err(Invalid::new(&join(path, key), value, problem)
                .remedy("move the key into the queue of a class"));
        }
        refuse_unknown_keys(table(value, path)?, path)?;
        let kind = aqm.get("kind").and_then(Json::as_str).unwrap_or_default().to_string();
        let queue =
            Queue { kind: Kind::read(&Json::Object(aqm), path)?, buffer: read_buffer(&kind, buffer, path)? };
        check_places(&queue, path)?;
        Ok(queue)
    }

    fn write(&self) -> Json {
        let mut all = JsonMap::new();
        if let Json::Object(aqm) = self.kind.write() {
            all.extend(aqm);
        }
        if let Json::Object(buffer) = self.buffer.write()
            && !all.get("kind").is_some_and(is_scheduler)
        {
            all.extend(buffer);
        }
        Json::Object(all)
    }

    /// Return a JSON Schema that refers to [`Queue::definition`] by name, because a queue may
    /// contain other queues.
    fn schema() -> Json {
        units::param::reference("queue")
    }
}

#[cfg(test)]
mod tests {
    use super::Queue;
    use serde_json::json;
    use units::{Depth, Rate, Read, Room};

    #[test]
    fn a_queue_is_one_table() {
        let q = Queue::read(
            &json!({"kind": "red", "limit": "64 packets", "minth": "20 packets", "maxth": "60 packets"}),
            "q",
        )
        .unwrap();
        assert_eq!(Queue::read(&q.write(), "q").unwrap(), q);
        assert_eq!(q.buffer.limit, Room::Depth(Depth::Packets(64.0)));
        assert!(Queue::read(&json!("drop_tail"), "q").is_ok());
    }

    /// The limit of a queue is a number of packets, a number of bytes, or a time. A limit in the
    /// scenario replaces the default limit of the kind.
    #[test]
    fn limits_may_be_packets_bytes_or_times() {
        let limit = |v| Queue::read(&v, "q").unwrap().buffer.limit;
        let packets = |n| Room::Depth(Depth::Packets(n));
        assert_eq!(limit(json!("red")), packets(100.0));
        // RFC 9332 Appendix A.1, figure 2: the default limit is the traffic that the link sends in
        // 250 ms.
        for dualpi2 in [json!("dualpi2"), json!({"kind": "dualpi2", "target": "10 ms"})] {
            assert_eq!(limit(dualpi2).at(Rate(10_000_000)), Depth::Bytes(312_500.0));
        }
        assert_eq!(limit(json!({"kind": "dualpi2", "limit": "64 packets"})), packets(64.0));
        assert_eq!(
            limit(json!({"kind": "codel", "limit": "50 ms"})).at(Rate(8_000_000)),
            Depth::Bytes(50_000.0)
        );
        assert!(Queue::read(&json!({"kind": "red", "limit": "0 ms"}), "q").is_err());
        let counted =
            json!({"kind": "drop_tail", "limit": "50 ms", "limit_counts": "waiting-and-in-service"});
        assert!(Queue::read(&counted, "q").unwrap_err().to_string().contains("q.limit_counts"));
        let counted = json!({"kind": "drop_tail", "limit": "50 packets", "limit_counts": "waiting-before"});
        assert!(Queue::read(&counted, "q").unwrap_err().to_string().contains("in bytes"));
    }

    #[test]
    fn a_mistyped_key_is_refused_with_the_keys_of_kind_and_buffer() {
        let e = |v| Queue::read(&v, "q").unwrap_err().to_string();
        let buffer = "limit, limit_counts, drop_from, mark_at, ecn";
        for (key, meant, known) in [
            ("limi", "limit", ["minth, maxth", buffer]),
            ("mintth", "minth", ["minth, maxth", buffer]),
            ("drop_fom", "drop_from", ["minth, maxth", buffer]),
        ] {
            let refusal = e(json!({"kind": "red", key: "64 packets"}));
            assert!(
                refusal.starts_with(&format!("q.{key}: is not a known key; did you mean {meant}? ")),
                "{refusal}"
            );
            assert!(known.iter().all(|keys| refusal.contains(keys)), "{refusal}");
        }
        assert!(e(json!({"kind": "drop_tail", "limi": "64 packets"})).ends_with(&format!("Known: {buffer}")));
        // A scheduler itself does not have a buffer, because the queue of each class has its own
        // buffer.
        let refusal = e(json!({"kind": "drr", "limi": "64 packets"}));
        assert!(
            refusal.contains("q.limi: is not a known key") && !refusal.contains("drop_from"),
            "{refusal}"
        );
        let classes = json!([{"queue": {"kind": "red", "limi": "64 packets"}}]);
        assert!(
            e(json!({"kind": "drr", "classes": classes}))
                .contains("queue.limi: is not a known key; did you mean limit?")
        );
    }

    #[test]
    fn refusals_contain_the_key() {
        let e = |v| Queue::read(&v, "link.queue").unwrap_err().to_string();
        assert!(e(json!({"kind": "red", "mintth": "5 packets"})).contains("link.queue.mintth"));
        assert!(
            e(json!({"kind": "red", "limit": "0 packets"}))
                .contains("link.queue.limit: \"0 packets\" must be a whole number")
        );
        assert!(e(json!({"kind": "drop_tail", "minth": "5 packets"})).contains("link.queue.minth"));
        assert!(e(json!({"limit": "5 packets"})).contains("link.queue.kind: is missing"));
    }
}
