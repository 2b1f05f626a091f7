//! Run a TOML scenario, and print the number of events and packets. The example is meant for use
//! under a profiler or an instruction counter.
//!
//! `cargo run --release -p lab --example run_scenario -- FILE [KEY=VALUE]…`

use lab::{Column, Format, Watch, read, run};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let path = arguments.next().unwrap_or_else(|| fail("usage: run_scenario FILE [KEY=VALUE]…"));
    let changes: Vec<_> = arguments
        .map(|a| a.split_once('=').map(|(key, value)| (key.to_string(), value.to_string())))
        .map(|change| change.unwrap_or_else(|| fail("a change is KEY=VALUE")))
        .collect();
    let text = std::fs::read_to_string(&path).unwrap_or_else(|e| fail(&format!("{path}: {e}")));
    let scenario = read(&text, Format::Toml, &changes).unwrap_or_else(|e| fail(&e.to_string()));
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
        "simulated {:.3} s in {seconds:.4} s of CPU: {} events, {hops} hops, {} packets over the first link ({:.2} M/s, {:.2} M hops/s), {} dropped",
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
