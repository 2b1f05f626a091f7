//! Table of the packets in the captures, from which the page draws the queue packet by packet.

use lab::{Column, Table};
use net::Ecn;
use wire::{Datagram, Endpoints, Transport, pcapng};

/// Suffix of the names of captures.
const SUFFIX: &str = ".pcapng";

/// Return the packets of the first capture in the order of the capture, or `None` if the run has no
/// capture.
///
/// The columns are the time in seconds at which the transmission of the packet began, the number of
/// its connection (NaN if the ports do not determine it), its size in bytes, and 1 if it has a CE
/// mark.
pub fn table(captures: &[(String, Vec<u8>)]) -> Option<Table> {
    let (_, content) = captures.iter().find(|(name, _)| name.ends_with(SUFFIX))?;
    let recording = pcapng::read(content).ok()?;
    let rows = recording.packets.len();
    let [mut times, mut connections] = [(); 2].map(|()| Vec::with_capacity(rows));
    let [mut bytes, mut marked] = [(); 2].map(|()| Vec::with_capacity(rows));
    for record in &recording.packets {
        let datagram = Datagram::read_headers(record.bytes).ok()?;
        let ports = match &datagram.transport {
            Transport::Tcp(tcp) => (tcp.source_port, tcp.destination_port),
            Transport::Udp(udp) => (udp.source_port, udp.destination_port),
        };
        times.push(record.time.seconds());
        connections.push(Endpoints::flow_of(ports.0, ports.1).map_or(f64::NAN, f64::from));
        bytes.push(record.original_len.into());
        marked.push((datagram.ip.ecn() == Ecn::Ce).into());
    }
    let columns = vec![
        ("time_s", Column::Float(times)),
        ("connection", Column::Float(connections)),
        ("bytes", Column::Count(bytes)),
        ("ce", Column::Count(marked)),
    ];
    Some(Table { name: "packets", columns })
}
