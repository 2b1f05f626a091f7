use serde_json::{Value, json};

use super::*;
use crate::{Duration, Packets, choice, params, words};

words! {
    /// Colour of a toy.
    pub enum Colour {
        /// Colour of blood.
        Red = "red",
        /// Colour of the sky.
        Blue = "blue",
    }
}

params! {
    /// Test struct with one parameter of each type.
    pub struct Toy: "toy", checked by check_toy {
        /// Number of toys.
        count: Packets = (Packets(5.0)), in Range::at_least(1.0), from "me 2026";
        /// Waiting time.
        wait: Duration = required, in Range::above(0.0), from "";
        /// Colour of the toy.
        colour: Colour = (Colour::Blue), in Range::ANY, from "";
    }
}

fn check_toy(t: &Toy, path: &str) -> Result<(), Invalid> {
    if t.colour == Colour::Red && t.count.0 > 10.0 {
        return Err(Invalid::new(&join(path, "count"), &t.count.write(), "is too many for red"));
    }
    Ok(())
}

params! {
    /// Choice without parameters.
    pub struct Plain: "plain" {}
}

choice! {
    /// Choice between two structs.
    pub enum Either { Toy(Toy), Plain(Plain), }
}

fn refusal(v: Value) -> String {
    Toy::read(&v, "a.b").unwrap_err().to_string()
}

#[test]
fn defaults_replace_absent_keys() {
    let toy = Toy::read(&json!({"wait": "1 s"}), "").unwrap();
    assert_eq!((toy.count, toy.colour), (Packets(5.0), Colour::Blue));
    assert_eq!(Toy::read(&toy.write(), "").unwrap(), toy);
}

#[test]
fn errors_contain_path_value_and_bound() {
    assert!(refusal(json!({})).contains("a.b.wait: is missing; this required key gives the waiting time"));
    assert!(
        refusal(json!({"wait": "1 s", "cuont": 1}))
            .contains("a.b.cuont: is not a known key; did you mean count?")
    );
    assert!(refusal(json!({"wait": "0 s"})).contains("a.b.wait: \"0 s\" must be above 0 s"));
    assert!(refusal(json!({"wait": "1 s", "colour": "green"})).contains("known: red, blue"));
    assert!(refusal(json!({"wait": "1 s", "colour": "red", "count": "11 packets"})).contains("too many"));
    assert!(refusal(json!(3)).contains("must be a table"));
}

#[test]
fn the_kind_selects_a_choice() {
    assert_eq!(Either::read(&json!("plain"), "").unwrap(), Either::Plain(Plain {}));
    let toy = Either::read(&json!({"kind": "toy", "wait": "1 s"}), "").unwrap();
    assert_eq!(Either::read(&toy.write(), "").unwrap(), toy);
    let e = Either::read(&json!({"kind": "tyo"}), "x").unwrap_err().to_string();
    assert!(e.contains("x.kind: \"tyo\" is not known; did you mean toy?"), "{e}");
    assert!(Either::read(&json!({}), "x").unwrap_err().to_string().contains("x.kind: is missing"));
}

#[test]
fn every_choice_has_a_page() {
    assert_eq!(Either::pages().len(), 2);
}

#[test]
fn parameters_are_listed_by_kind() {
    let names = Either::keys_of("toy").unwrap();
    assert_eq!(names, ["count", "wait", "colour"]);
    assert!(Either::keys_of("plain").unwrap().is_empty() && Either::keys_of("tyo").is_none());
}

#[test]
fn pages_contain_source_and_range() {
    let page = page::<Toy>();
    assert_eq!(page["parameters"][0]["source"], "me 2026");
    assert_eq!(page["parameters"][0]["range"], "at least 1 packet");
    assert_eq!(page["parameters"][1]["default"], Value::Null);
}

params! {
    /// A gear, which is a part of the test struct `Machine`.
    pub struct Gear: "machine.gear", shorthand for kind_of {
        /// Its kind.
        kind_of: Colour = (Colour::Blue), in Range::ANY, from "";
        /// Number of teeth.
        teeth: u64 = (12), in Range::between(3.0, 100.0), from "";
    }
}

/// Old names of parameters of the test struct `Machine`.
const OLD: &[Renamed] = &[
    Renamed::key("gear_teeth", "gear.teeth"),
    Renamed { old: "tint", new: "colour", words: &[("crimson", "red")] },
];

params! {
    /// Test struct with a parameter that is another struct, `Gear`.
    pub struct Machine: "machine", renamed by OLD {
        /// Its gear.
        gear: Gear = (Gear::defaults()), in Range::ANY, from "";
        /// Its colour.
        colour: Colour = (Colour::Blue), in Range::ANY, from "";
    }
}

#[test]
fn a_text_stands_for_a_table() {
    let machine = Machine::read(&json!({"gear": "red"}), "").unwrap();
    assert_eq!(machine.gear, Gear { kind_of: Colour::Red, teeth: 12 });
    assert_eq!(Machine::read(&machine.write(), "").unwrap(), machine);
    let e = Machine::read(&json!({"gear": "green"}), "m").unwrap_err().to_string();
    assert!(e.contains("m.gear.kind_of: \"green\" is not one"), "{e}");
    assert!(Machine::read(&json!({"gear": 3}), "m").unwrap_err().to_string().contains("must be a table"));
    assert_eq!((Machine::shorthand_of("gear"), Machine::shorthand_of("colour")), (Some("kind_of"), None));
    let mut document = json!({"gear": "red", "colour": "red"});
    Machine::expand_shorthands(document.as_object_mut().unwrap());
    assert_eq!(document, json!({"gear": {"kind_of": "red"}, "colour": "red"}));
    let schema = Machine::schema();
    let gear = &schema["properties"]["gear"];
    assert_eq!((&gear["x-shorthand"], &gear["default"]["teeth"]), (&json!("kind_of"), &json!(12)));
    assert_eq!(gear["anyOf"][1]["properties"]["teeth"]["type"], "integer");
}

#[test]
fn a_former_key_names_its_present_path() {
    let refusal = |v: Value| Machine::read(&v, "m").unwrap_err().to_string();
    assert_eq!(
        refusal(json!({"gear_teeth": 9})),
        "m.gear_teeth: is now gear.teeth; write gear = { teeth = 9 }"
    );
    assert_eq!(refusal(json!({"tint": "crimson"})), "m.tint: is now colour; write colour = \"red\"");
    assert_eq!(refusal(json!({"tint": "blue"})), "m.tint: is now colour; write colour = \"blue\"");
    assert!(refusal(json!({"tint": "x".repeat(99)})).len() < 120);
    assert_eq!(Machine::schema()["x-renamed"]["gear_teeth"], "gear.teeth");
    assert_eq!(page::<Machine>()["renamed"]["tint"], "colour");
}

#[test]
fn tables_are_laid_over_each_other_key_by_key() {
    let mut base = json!({"a": 1, "t": {"x": 1, "y": 2}, "q": {"kind": "red", "n": 1}});
    let over = json!({"t": {"y": 3}, "q": {"kind": "blue"}, "b": {"z": 1}});
    merge(base.as_object_mut().unwrap(), over.as_object().unwrap());
    let all = json!({"a": 1, "t": {"x": 1, "y": 3}, "q": {"kind": "blue"}, "b": {"z": 1}});
    assert_eq!(base, all);
}
