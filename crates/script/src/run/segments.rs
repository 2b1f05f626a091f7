//! Segments of a script: their injection, and the comparison of expected segments with sent
//! segments.

use super::Runner;
use super::step::{Due, PATIENCE, Step, differs};
use crate::host::{Addressee, Connection, Sent};
use crate::matching::{Ticks, differences, to_live, to_script, with_cookies};
use crate::stack::Header;
use crate::syntax::{Flags, Packet, TcpOption};

impl Runner {
    pub(super) fn inject(&mut self, line: u32, packet: &Packet) -> Step {
        let packet = &with_cookies(packet, &self.host.kernel.fast_open);
        self.record(self.now, Some(line), packet.to_string());
        let to = self.host.addressee(self.now, packet.flags);
        let header = match to {
            Addressee::Is(index) => to_live(packet, &self.host.connections[index]),
            _ => to_live(packet, &Connection::new(self.host.kernel.tcp.clone())),
        };
        self.host.receive(self.now, to, &header);
        self.retry_call()
    }

    /// Compare `packet` with the next segment that the endpoint sent, and `due` with the time of
    /// this segment.
    pub(super) fn expect(&mut self, line: u32, packet: &Packet, due: &Due) -> Step {
        let packet = &with_cookies(packet, &self.host.kernel.fast_open);
        let latest = if due.any { self.now } else { due.to };
        self.pass(latest + PATIENCE, |host| !host.sent.is_empty())?;
        let Some(sent) = self.host.sent.pop_front() else {
            let happened = "the endpoint sends nothing more";
            return Err(differs(line, "the segment is not sent", packet.to_string(), happened));
        };
        let sent = self.gather(sent, packet);
        let connection = &mut self.host.connections[sent.connection];
        if packet.flags.has(Flags::SYN) && sent.header.flags.has(Flags::SYN) {
            connection.script_iss = packet.seq;
        }
        if let (Some(Some(stamp)), Some((live, _))) =
            (packet.options.as_ref().map(|list| stamp(list)), sent.header.options.timestamps)
        {
            connection.clock.sent(stamp, live);
        }
        let ticks = Ticks { tick: self.tick, tolerance: self.tolerance };
        let problems = differences(packet, &sent.header, connection, ticks);
        let written = to_script(&sent.header, connection).to_string();
        self.record(sent.at, Some(line), written.clone());
        if !problems.is_empty() {
            let happened = format!("{written} at {}", sent.at);
            return Err(differs(line, problems.join("; "), packet.to_string(), happened));
        }
        if !self.on_time(sent.at, due) {
            let when = if due.from == due.to {
                format!("at {}", due.from)
            } else {
                format!("between {} and {}", due.from, due.to)
            };
            let early = if sent.at < due.from { "early" } else { "late" };
            let off = if sent.at < due.from { due.from.since(sent.at) } else { sent.at.since(due.to) };
            let problem = format!("the segment is sent {off} too {early}");
            let happened = format!("the segment is sent at {}", sent.at);
            return Err(differs(line, problem, format!("{packet} {when}"), happened));
        }
        Ok(())
    }

    /// Join segments that the endpoint sent at the same time. If a window allows several segments,
    /// a Linux kernel passes their data to the interface as one large segment (TSO), and scripts
    /// expect this large segment. The joined segment has the PSH flag that the script expects,
    /// because the original segments may have different PSH flags.
    fn gather(&mut self, mut sent: Sent, expected: &Packet) -> Sent {
        while sent.header.len > 0 && sent.header.len < expected.len {
            let Some(next) = self.host.sent.front() else { break };
            if next.at != sent.at
                || next.connection != sent.connection
                || !follows(&sent.header, &next.header)
            {
                break;
            }
            sent.header.len += next.header.len;
            let push = if expected.flags.has(Flags::PSH) { Flags::PSH } else { Flags::default() };
            sent.header.flags = (sent.header.flags | next.header.flags).without(Flags::PSH) | push;
            self.host.sent.pop_front();
        }
        sent
    }
}

/// Return true if the data of `next` follows the data of `first` and both segments could be one
/// segment.
fn follows(first: &Header, next: &Header) -> bool {
    let same =
        |h: &Header| (h.ack, h.window, h.ecn, h.dscp, h.flags.without(Flags::PSH | Flags::FIN | Flags::CWR));
    next.seq == first.seq.wrapping_add(first.len)
        && next.len > 0
        && same(first) == same(next)
        && first.options == next.options
}

fn stamp(list: &[TcpOption]) -> Option<u32> {
    list.iter().find_map(|o| if let TcpOption::Timestamps(value, _) = o { Some(*value) } else { None })
}
