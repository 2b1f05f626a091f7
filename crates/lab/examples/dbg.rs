use lab::*;
fn main() {
    let text = std::fs::read_to_string(std::env::args().nth(1).unwrap()).unwrap();
    let t0 = std::time::Instant::now();
    let s = read(&text, Format::Toml, &[]).unwrap();
    let o = run(&s, &Watch::default()).unwrap();
    eprintln!("end {} events {} ties {} wall {:?}", o.end, o.events, o.ties, t0.elapsed());
    for t in &o.tables {
        if t.name == "links" { for (n, c) in &t.columns { if let Column::Count(v) = c { println!("{n} {:?}", &v[..2]); } } }
        if t.name == "flows" { for (n, c) in &t.columns { println!("{n} {:?}", c); } }
        if t.name == "drops" { for (n, c) in &t.columns { println!("{n} {:?}", c); } }
    }
}
