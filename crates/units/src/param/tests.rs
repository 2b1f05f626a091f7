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
    /// Toy with a parameter of each sort.
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
    assert!(refusal(json!({})).contains("a.b.wait: is missing: waiting time"));
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
