//! Runs a TOML scenario and prints how much work it was: for profilers and instruction counters.
//!
//! `cargo run --release -p lab --example run_scenario -- FILE`

use lab::{Column, Format, Watch, read, run};

fn main() {
    let path = std::env::args().nth(1).unwrap_or_else(|| fail("usage: run_scenario FILE"));
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| fail(&format!("{path}: {e}")));
    let scenario = read(&text, Format::Toml, &[]).unwrap_or_else(|e| fail(&e.to_string()));
    let outcome = run(&scenario, &Watch::default()).unwrap_or_else(|e| fail(&e.to_string()));
    let seconds = outcome.running.cpu_s;
    let links = outcome.tables.iter().find(|t| t.name == "links");
    let count = |name: &str| match links.and_then(|t| t.columns.iter().find(|c| c.0 == name)) {
        Some((_, Column::Count(v))) => v.clone(),
        _ => Vec::new(),
    };
    let delivered = count("delivered_packets");
    let hops: u64 = delivered.iter().sum();
    println!(
        "simulated {:.3} s in {seconds:.3} s of CPU: {} events, {hops} hops, {} packets over the first link ({:.2} M/s, {:.2} M hops/s), {} dropped",
        outcome.end.seconds(),
        outcome.events,
        delivered[0],
        delivered[0] as f64 / seconds * 1e-6,
        hops as f64 / seconds * 1e-6,
        count("dropped_packets")[0],
    );
}

fn fail(problem: &str) -> ! {
    eprintln!("{problem}");
    std::process::exit(2)
}
