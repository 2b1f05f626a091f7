//! Report of the kernel and the router about a run, in addition to the tables of the run.

use std::fs;

use crate::error::Error;
use crate::lateness::Lateness;

/// Counters of the kernel, in the namespace of the calling thread.
const SOURCES: [&str; 2] = ["/proc/thread-self/net/snmp", "/proc/thread-self/net/netstat"];

/// Report about a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Lateness of the packets.
    pub lateness: Lateness,
    /// True if the router had a real-time priority and its memory was locked.
    pub real_time: bool,
    /// Counters of the hosts.
    pub counters: Vec<Counters>,
    /// Name of each link with a queue discipline of the kernel, and its statistics as JSON text of
    /// tc(8).
    pub qdiscs: Vec<(String, String)>,
}

/// Counters of the kernel of one host, as nstat(8) shows them.
#[derive(Clone, Debug)]
pub struct Counters {
    /// Flows whose clients or servers are on the host.
    pub flows: Vec<String>,
    /// True if the host has the servers of the flows, and false if it has the clients.
    pub servers: bool,
    /// Names and values of the counters that are not 0.
    pub values: Vec<(String, i64)>,
}

/// Return the counters of the calling thread's namespace that are not 0.
pub fn counters() -> Result<Vec<(String, i64)>, Error> {
    let mut values = Vec::new();
    for path in SOURCES {
        let text = fs::read_to_string(path).map_err(Error::of(format!("{path} cannot be read")))?;
        values.extend(parse(&text));
    }
    Ok(values)
}

/// Return the counters of a text that has a line of names and a line of values for each protocol.
fn parse(text: &str) -> impl Iterator<Item = (String, i64)> {
    let lines: Vec<&str> = text.lines().collect();
    let of_protocol = |pair: &[&str]| -> Vec<(String, i64)> {
        let [names, values] = [0, 1].map(|i| pair.get(i).copied().unwrap_or_default());
        let protocol = names.split(':').next().unwrap_or_default();
        let numbers = values.split_whitespace().map(|value| value.parse().unwrap_or(0));
        let named = names.split_whitespace().map(|name| format!("{protocol}{name}")).zip(numbers);
        named.skip(1).filter(|(_, value)| *value != 0).collect()
    };
    lines.chunks(2).flat_map(of_protocol).collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counters_have_the_names_of_nstat() {
        let text = "Tcp: MaxConn RetransSegs InErrs\nTcp: -1 72 0\nTcpExt: TCPTimeouts\nTcpExt: 3\n";
        let expected = [("TcpMaxConn", -1), ("TcpRetransSegs", 72), ("TcpExtTCPTimeouts", 3)];
        let expected = expected.map(|(name, value)| (name.to_string(), value));
        assert_eq!(parse(text).collect::<Vec<_>>(), expected);
        assert_eq!(parse("Tcp: A B\n").count(), 0);
        assert_eq!(parse("").count(), 0);
    }
}
