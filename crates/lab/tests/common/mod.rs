//! Scenarios and functions that several tests of this crate share.
#![allow(dead_code)]

use lab::{Column, Failure, Format, Outcome, Scenario, Watch, read, run};

/// Scenario with two downloads over a dumbbell. Each test changes some keys of this scenario.
pub const TWO_DOWNLOADS: &str = r#"
    phase_breaking = { start = "1 ms" }
    network = { kind = "dumbbell", rate = "1.5 Mbit/s", delay = "20 ms", left_rate = "10 Mbit/s", left_delay = "0.5 ms",
        right_rate = "10 Mbit/s", right_delay = "0.5 ms", right_hosts = 2,
        queue = { kind = "red", limit = "64 packets", minth = "20 packets", maxth = "60 packets" } }
    flows = [{ name = "C{i}", count = 2, from = "left-0", to = "right-{i}", traffic = { kind = "bulk", size = "1 MiB" } }]
    tcp = { ecn = "rfc3168" }
"#;

/// Sets of TCP parameters that select different algorithms.
pub const TCP: [&str; 8] = [
    r#"ecn = "off", rto.estimator = "jacobson1988""#,
    r#"ecn = "rfc3168""#,
    r#"recovery.method = "newreno", recovery.limited_transmit = true, recovery.frto = "basic", timestamps = true, recovery.eifel = true"#,
    r#"recovery = "tahoe", connection.nagle = "rfc896""#,
    r#"recovery = "sack", sack = true, ecn = "ecn+""#,
    r#"recovery.method = "fack", sack = true, recovery.reduction = "prr", ecn = "accurate""#,
    r#"recovery.method = "sack", sack = true, timestamps = true, window.scaling = "on", recovery.rack = true, recovery.tail_loss_probe = true, recovery.reduction = "prr", recovery.frto = "sack", recovery.eifel = true, recovery.limited_transmit = true, rto.estimator = "linux", rto.min = "200 ms", details.flight_unit = "segments", cwnd.validation = "limited", ack.quick = "16 packets""#,
    r#"receive_window = "3000 B", connection.nagle = "minshall", ecn = "nonce""#,
];

/// TCP parameters of Linux with a larger number of retries, because a random network can lose many
/// packets in a row.
pub const LINUX: [&str; 2] = [
    r#"stack = "linux", connection.retries = 250, connection.syn_retries = 100, connection.synack_retries = 100"#,
    r#"stack = "linux", connection.retries = 250, connection.syn_retries = 100, connection.synack_retries = 100, ecn = "rfc3168", congestion = "reno", offload = "linux""#,
];

/// Read a scenario with changes to its keys. Return the scenario, or the text of the error.
pub fn scenario(text: &str, changes: &[(&str, &str)]) -> Result<Scenario, String> {
    let changes: Vec<(String, String)> =
        changes.iter().map(|(k, v)| (k.to_string(), v.to_string())).collect();
    read(text, Format::Toml, &changes).map_err(|e| e.to_string())
}

/// Run a valid scenario with changes to its keys, and return the result of the run. Panic if the
/// run fails.
pub fn outcome(text: &str, changes: &[(&str, &str)]) -> Outcome {
    try_outcome(text, changes).unwrap()
}

/// Run a valid scenario with changes to its keys, and return the result or the failure of the run.
pub fn try_outcome(text: &str, changes: &[(&str, &str)]) -> Result<Outcome, Failure> {
    run(&scenario(text, changes).unwrap(), &Watch::default())
}

/// Return a column of a table as numbers. In a column of names, each name is replaced by its index.
pub fn numbers(outcome: &Outcome, table: &str, column: &str) -> Vec<f64> {
    let table = outcome.tables.iter().find(|t| t.name == table).unwrap();
    match &table.columns.iter().find(|c| c.0 == column).unwrap().1 {
        Column::Float(v) => v.clone(),
        Column::Count(v) => v.iter().map(|&x| x as f64).collect(),
        Column::Name(codes, _) => codes.iter().map(|&x| f64::from(x)).collect(),
    }
}

/// Return a hash of all tables of a result (FNV-1a).
pub fn digest(outcome: &Outcome) -> String {
    let mut h = 0xcbf2_9ce4_8422_2325_u64;
    let mut hash_bytes =
        |bytes: &[u8]| bytes.iter().for_each(|b| h = (h ^ u64::from(*b)).wrapping_mul(0x100_0000_01b3));
    for table in &outcome.tables {
        hash_bytes(table.name.as_bytes());
        for (name, column) in &table.columns {
            hash_bytes(name.as_bytes());
            match column {
                Column::Float(v) => v.iter().for_each(|x| hash_bytes(&x.to_bits().to_le_bytes())),
                Column::Count(v) => v.iter().for_each(|x| hash_bytes(&x.to_le_bytes())),
                Column::Name(codes, names) => {
                    codes.iter().for_each(|&c| hash_bytes(names[c as usize].as_bytes()))
                }
            }
        }
    }
    format!("{h:016x}")
}
