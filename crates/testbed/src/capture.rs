//! Captures of the packets that the hosts send and receive, with the bytes that the kernel wrote.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::Path;

use lab::{CapturedPart, Failure, Forwarding, Scenario, capture_file_name};
use net::Direction;
use units::param::{Invalid, did_you_mean};
use units::{Read, Time};
use wire::{Capture, Content, Interface};

/// Captures of the hosts that the key `record.pcap.on` names.
#[derive(Debug, Default)]
pub struct Captures {
    taps: Vec<(Capture<BufWriter<File>>, Interface)>,
    /// Capture of the host that sends the packets of a flow in each direction.
    of_flows: Vec<[Option<usize>; 2]>,
    failed: Option<io::Error>,
}

impl Captures {
    /// Create the files of all captures in a folder.
    pub fn begin(scenario: &Scenario, network: &Forwarding, folder: &Path) -> Result<Captures, Failure> {
        let ends: Vec<[String; 2]> = (0..network.flows()).map(|flow| network.ends(flow)).collect();
        let content = match scenario.record.pcap.keep {
            CapturedPart::Headers => Content::Headers,
            CapturedPart::Whole => Content::Whole,
        };
        let hosts: BTreeSet<&str> = ends.iter().flatten().map(String::as_str).collect();
        let (mut taps, mut numbers, mut used) = (Vec::new(), HashMap::new(), HashSet::new());
        for (i, name) in scenario.record.pcap.on.iter().enumerate() {
            if numbers.contains_key(name) {
                continue; // The name occurs twice.
            }
            if !hosts.contains(name.as_str()) {
                let known: Vec<&str> = hosts.iter().copied().take(30).collect();
                let problem = "is not a host of a flow; the testbed captures packets at hosts";
                let invalid = Invalid::new(&format!("record.pcap.on.{i}"), &name.write(), problem);
                return Err(invalid.remedy(did_you_mean(name, &known)).into());
            }
            let path = folder.join(capture_file_name(name, &mut used));
            let open = || {
                let mut capture = Capture::create(&path, content)?;
                let interface = capture.interface(name)?;
                Ok((capture, interface))
            };
            let failed = |error: io::Error| Failure::Capture(format!("{}: {error}", path.display()));
            numbers.insert(name, taps.len());
            taps.push(open().map_err(failed)?);
        }
        let of_flows = ends.iter().map(|of| [0, 1].map(|side| numbers.get(&of[side]).copied())).collect();
        Ok(Captures { taps, of_flows, failed: None })
    }

    /// Add a packet that a host of a flow sends.
    pub fn sent(&mut self, now: Time, flow: u32, direction: Direction, bytes: &[u8]) {
        self.add(now, flow, direction.index(), bytes);
    }

    /// Add a packet that a host of a flow receives.
    pub fn received(&mut self, now: Time, flow: u32, direction: Direction, bytes: &[u8]) {
        self.add(now, flow, direction.opposite().index(), bytes);
    }

    fn add(&mut self, now: Time, flow: u32, side: usize, bytes: &[u8]) {
        let Some(tap) = self.of_flows.get(flow as usize).and_then(|sides| sides[side]) else { return };
        let (capture, interface) = &mut self.taps[tap];
        if self.failed.is_none() {
            self.failed = capture.bytes(*interface, now, bytes).err();
        }
    }

    /// Close the files.
    pub fn finish(self) -> Result<(), Failure> {
        let failed = |error: io::Error| Failure::Capture(error.to_string());
        if let Some(error) = self.failed {
            return Err(failed(error));
        }
        for (capture, _) in self.taps {
            capture.finish().and_then(|mut file| file.flush()).map_err(failed)?;
        }
        Ok(())
    }
}
