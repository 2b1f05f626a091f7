//! Captures of a run: a pcapng file for each link and host that the scenario names, in a folder or
//! in memory.
//!
//! The capture of a link contains each packet as it is when its transmission begins, so the packet
//! includes the mark that the queue may have set. The capture of a link does not contain dropped
//! packets. The capture of a host contains the packets of the host's flows. A packet is captured
//! when the host sends it, before any queue, and when the host receives it. The IP addresses and
//! ports are synthetic. Hosts are numbered in the order of their first use by a flow, and each
//! connection has its own pair of ports.

use std::collections::{HashMap, HashSet, VecDeque};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use net::{End, Packet};
use units::Read;
use units::Time;
use units::param::{Invalid, did_you_mean};
use wire::{Capture, CaptureError, Content, Endpoints, Family, Interface, SegmentExtras};

use crate::build::Plan;
use crate::observed_packet::ObservedPacket;
use crate::scenario::{CapturedPart, IpVersion, Scenario};

/// Place into which a run writes its captures.
#[derive(Clone, Copy, Debug)]
pub enum CaptureTarget<'a> {
    /// Existing folder. Each link or host has a file.
    Folder(&'a Path),
    /// Memory. The result of the run has the content of the files.
    Memory,
}

/// Maximum size in bytes of a capture in memory.
const MAX_IN_MEMORY: usize = 256 << 20;

/// File of a capture, or its content in memory.
#[derive(Debug)]
enum CaptureFile {
    OnDisk(BufWriter<File>),
    InMemory(Vec<u8>),
}

impl CaptureFile {
    /// Create a file with the given name. A file on disk must not exist.
    fn create(target: CaptureTarget, name: &str) -> io::Result<CaptureFile> {
        match target {
            CaptureTarget::Folder(folder) => File::create_new(folder.join(name))
                .map(|file| CaptureFile::OnDisk(BufWriter::with_capacity(1 << 16, file))),
            CaptureTarget::Memory => Ok(CaptureFile::InMemory(Vec::new())),
        }
    }

    /// Write all buffered data, and return the content of a file in memory.
    fn finish(self) -> io::Result<Option<Vec<u8>>> {
        match self {
            CaptureFile::OnDisk(mut file) => file.flush().map(|()| None),
            CaptureFile::InMemory(content) => Ok(Some(content)),
        }
    }
}

impl Write for CaptureFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            CaptureFile::OnDisk(file) => file.write(bytes),
            CaptureFile::InMemory(content) if content.len() + bytes.len() > MAX_IN_MEMORY => {
                let limit = MAX_IN_MEMORY >> 20;
                Err(io::Error::other(format!("a capture in memory has at most {limit} MiB; shorten the run")))
            }
            CaptureFile::InMemory(content) => content.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            CaptureFile::OnDisk(file) => file.flush(),
            CaptureFile::InMemory(_) => Ok(()),
        }
    }
}

/// Link or host whose packets are captured, by its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tapped {
    Link(usize),
    Host(u32),
}

/// Hosts of a scenario, and the links and hosts whose packets are captured.
#[derive(Debug)]
struct CapturedPlaces {
    hosts: Vec<String>,
    /// For each flow, the host that sends the data and the host that receives the data.
    of_flows: Vec<[u32; 2]>,
    captured: Vec<Tapped>,
}

impl CapturedPlaces {
    /// Find the links and hosts that the key `record.pcap.on` names.
    fn find(scenario: &Scenario, plan: &Plan) -> Result<CapturedPlaces, Invalid> {
        let mut hosts: Vec<String> = Vec::new();
        let mut numbers: HashMap<String, u32> = HashMap::new();
        let mut number = |name: String| {
            *numbers.entry(name).or_insert_with_key(|name| {
                hosts.push(name.clone());
                hosts.len() as u32 - 1
            })
        };
        let of_flows = (0..plan.flows()).map(|f| [number(plan.from(f)), number(plan.to(f))]).collect();
        let links: Vec<String> = plan.links.iter().map(|l| l.name()).collect();
        let find = |(i, name): (usize, &String)| {
            let link = links.iter().position(|l| l == name).map(Tapped::Link);
            link.or(numbers.get(name).map(|&h| Tapped::Host(h))).ok_or_else(|| {
                let known: Vec<&str> = links.iter().chain(&hosts).map(String::as_str).take(30).collect();
                let problem = "is neither a link nor a host of a flow";
                Invalid::new(&format!("record.pcap.on.{i}"), &name.write(), problem)
                    .remedy(did_you_mean(name, &known))
            })
        };
        let captured = scenario.record.pcap.on.iter().enumerate().map(find).collect::<Result<_, _>>()?;
        Ok(CapturedPlaces { hosts, of_flows, captured })
    }
}

/// Refuse captures of unknown links and hosts.
pub fn check(scenario: &Scenario, plan: &Plan) -> Result<(), Invalid> {
    if scenario.record.pcap.on.is_empty() { Ok(()) } else { CapturedPlaces::find(scenario, plan).map(drop) }
}

/// Packet that the simulator will write into a capture at a later simulated time.
#[derive(Debug)]
struct Pending {
    at: Time,
    packet: Packet,
    carried: SegmentExtras,
    ends: Endpoints,
}

/// Capture of one link or host.
#[derive(Debug)]
struct Tap {
    /// Name of the file.
    name: String,
    capture: Capture<CaptureFile>,
    interface: Interface,
    /// Packets of the capture that still wait in the queue of the link, in the order of their
    /// transmission.
    pending: VecDeque<Pending>,
}

impl Tap {
    /// Write the packets whose time is the current time or earlier.
    fn write_until(&mut self, now: Time) -> Result<(), CaptureError> {
        while let Some(p) = self.pending.front().filter(|p| p.at <= now) {
            self.capture.packet(self.interface, p.at, &p.packet, &p.carried, &p.ends)?;
            self.pending.pop_front();
        }
        Ok(())
    }
}

/// Captures of a run.
#[derive(Debug)]
pub struct Captures {
    taps: Vec<Tap>,
    /// Finished files in memory, each with its name.
    finished: Vec<(String, Vec<u8>)>,
    /// For each link, the index of its capture, or `None`.
    links: Vec<Option<u32>>,
    hosts: Vec<Option<u32>>,
    of_flows: Vec<[u32; 2]>,
    family: Family,
    /// For each connection slot, the number of the current connection.
    connections: Vec<u32>,
    opened: u32,
    failed: Option<CaptureError>,
}

impl Captures {
    /// Create the files of all captures, and a file with the addresses of the hosts.
    pub fn begin(
        scenario: &Scenario,
        plan: &Plan,
        target: CaptureTarget,
        slots: usize,
    ) -> Result<Captures, String> {
        let places = CapturedPlaces::find(scenario, plan).map_err(|e| e.to_string())?;
        let pcap = &scenario.record.pcap;
        let family = match pcap.ip {
            IpVersion::V4 => Family::V4,
            IpVersion::V6 => Family::V6,
        };
        let content = match pcap.keep {
            CapturedPart::Headers => Content::Headers,
            CapturedPart::Whole => Content::Whole,
        };
        let mut all = Captures {
            taps: Vec::new(),
            finished: Vec::new(),
            links: vec![None; plan.links.len()],
            hosts: vec![None; places.hosts.len()],
            of_flows: places.of_flows,
            family,
            connections: (0..slots as u32).collect(),
            opened: slots as u32,
            failed: None,
        };
        let mut used_names = HashSet::new();
        for (name, &place) in pcap.on.iter().zip(&places.captured) {
            let tap = match place {
                Tapped::Link(l) => &mut all.links[l],
                Tapped::Host(h) => &mut all.hosts[h as usize],
            };
            if tap.is_some() {
                continue; // The name occurs twice.
            }
            *tap = Some(all.taps.len() as u32);
            let file = file_name(name, &mut used_names);
            let open = || {
                let mut capture = Capture::new(CaptureFile::create(target, &file)?, content)?;
                let interface = capture.interface(name)?;
                Ok(Tap { name: file.clone(), capture, interface, pending: VecDeque::new() })
            };
            all.taps.push(open().map_err(|e: io::Error| unwritable(target, &file, &e))?);
        }
        let hosts = write_hosts(target, family, &places.hosts).map_err(|e| unwritable(target, HOSTS, &e))?;
        all.finished.extend(hosts.map(|content| (HOSTS.into(), content)));
        Ok(all)
    }

    /// Assign a number to the connection that was opened in a connection slot.
    pub fn opened(&mut self, slot: u32) {
        self.connections.resize(self.connections.len().max(slot as usize + 1), 0);
        self.connections[slot as usize] = self.opened;
        self.opened += 1;
    }

    /// Capture a packet whose transmission on a link begins at the time `at`.
    pub fn on_link(&mut self, link: u32, now: Time, at: Time, observed: &ObservedPacket) {
        self.capture(self.links[link as usize], now, at, observed);
    }

    /// Capture a packet that the host of an endpoint sends or receives.
    pub fn at_host(&mut self, now: Time, end: End, observed: &ObservedPacket) {
        let host = self.of_flows[observed.flow as usize][end.sends().index()];
        self.capture(self.hosts[host as usize], now, now, observed);
    }

    /// Add a packet to a capture, and write the packets whose time is the current time or earlier.
    fn capture(&mut self, tap: Option<u32>, now: Time, at: Time, observed: &ObservedPacket) {
        let Some(tap) = tap.filter(|_| self.failed.is_none()) else { return };
        let [from, to] = self.of_flows[observed.flow as usize];
        let number = self.connections[observed.packet.connection as usize];
        let tap = &mut self.taps[tap as usize];
        let result =
            Endpoints::of(self.family, from, to, number).map_err(CaptureError::from).and_then(|ends| {
                let carried = SegmentExtras {
                    protocol: observed.protocol,
                    options: observed.options,
                    shift: observed.shift,
                };
                tap.pending.push_back(Pending { at, packet: *observed.packet, carried, ends });
                tap.write_until(now)
            });
        self.failed = result.err();
    }

    /// Return the error message of a capture that failed, if any.
    pub fn failure(&self) -> Option<String> {
        self.failed.as_ref().map(ToString::to_string)
    }

    /// Write the packets that were observed up to the end of the run, and close the files. Return
    /// the names and contents of the files in memory.
    pub fn finish(mut self, end: Time) -> Result<Vec<(String, Vec<u8>)>, String> {
        if let Some(failed) = self.failed {
            return Err(failed.to_string());
        }
        for mut tap in self.taps {
            tap.write_until(end).map_err(|e| e.to_string())?;
            let content = tap.capture.finish().and_then(CaptureFile::finish).map_err(|e| e.to_string())?;
            self.finished.extend(content.map(|content| (tap.name, content)));
        }
        Ok(self.finished)
    }
}

/// Return the error about a file that cannot be created.
fn unwritable(target: CaptureTarget, name: &str, error: &io::Error) -> String {
    match target {
        CaptureTarget::Folder(folder) => format!("{}: {error}", folder.join(name).display()),
        CaptureTarget::Memory => format!("{name}: {error}"),
    }
}

/// Name of the file with the addresses and names of the hosts. Wireshark reads the file if it is in
/// the folder of a capture.
const HOSTS: &str = "hosts";

/// Write the file with the addresses and names of the hosts. Return the content of a file in
/// memory.
fn write_hosts(target: CaptureTarget, family: Family, hosts: &[String]) -> io::Result<Option<Vec<u8>>> {
    let mut file = CaptureFile::create(target, HOSTS)?;
    for (h, name) in hosts.iter().enumerate() {
        if let Ok(ends) = Endpoints::of(family, h as u32, h as u32, 0) {
            writeln!(file, "{}\t{name}", ends.source())?;
        }
    }
    file.finish()
}

/// Return an unused file name for a link or host. Characters that are unsafe in file names are
/// replaced. For example, the file of `left>right` is `left_to_right.pcapng`.
pub fn file_name(name: &str, used_names: &mut HashSet<String>) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_.".contains(c) { c } else { '_' };
    let stem: String = name.replace('>', "_to_").chars().map(plain).collect();
    let stem = stem.trim_start_matches('.');
    let names = std::iter::once(format!("{stem}.pcapng")).chain((2..).map(|n| format!("{stem}-{n}.pcapng")));
    let mut free = names.filter(|name| !used_names.contains(name));
    let chosen = free.next().unwrap_or_default();
    used_names.insert(chosen.clone());
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_capture_has_its_own_file_name() {
        let mut used_names = HashSet::new();
        let names =
            ["left>right", "left_to_right", "../a b", "left-0"].map(|n| file_name(n, &mut used_names));
        assert_eq!(names, ["left_to_right.pcapng", "left_to_right-2.pcapng", "_a_b.pcapng", "left-0.pcapng"]);
    }
}
