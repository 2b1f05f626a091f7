//! Queue disciplines of the kernel as queues of the network. A packet enters a namespace by one TUN
//! device. The kernel forwards it to another TUN device, where HTB shapes the rate and the queue
//! discipline is its leaf. The packet returns when the kernel releases it.
//!
//! The identification of the IP header has the ticket of the packet, because a packet that must not
//! be fragmented needs no identification (RFC 6864 §4.1).

use std::os::fd::OwnedFd;

use net::Ecn;
use queues::external::Ticket;
use rustix::io::Errno;
use units::{Duration, Rate};
use wire::Ip;

use crate::clock::Pace;
use crate::error::Error;
use crate::host::{Namespace, TUN_QUEUE, batch};
use crate::sys;

/// Devices by which packets enter and leave the namespace.
const ENTRY: &str = "aqmlab-in";
const EXIT: &str = "aqmlab-out";
/// Queue length of the exit in packets, from which several queue disciplines take their default
/// limit. The translation to tc assumes the value of an ordinary device.
const QUEUE_LENGTH: u32 = 1000;
/// Handle of HTB, which no translated queue has.
const SHAPER: &str = "fff0";
/// Time for which HTB makes up if it was late, in virtual and in real time. The bytes of this time
/// are fewer than a packet, because HTB would otherwise release a packet while the packet before it
/// is still in service.
const MAKES_UP: [Duration; 2] = [Duration(2_000_000), Duration(100_000_000)];

/// Queue discipline of the kernel in a namespace of its own.
#[derive(Debug)]
pub struct Qdisc {
    /// Link to which the queue belongs.
    pub link: u32,
    namespace: Namespace,
    entry: OwnedFd,
    /// Device from which the router reads the packets that the kernel releases.
    pub exit: OwnedFd,
    header: Vec<u8>,
    bytes: Vec<u8>,
}

impl Qdisc {
    /// Create the queue discipline of a link with the given rate and MTU. `commands` are lines of
    /// tc(8) for the device DEV, one of which is the root. The calling thread is in the namespace
    /// afterwards.
    pub fn create(link: u32, rate: Rate, mtu: u64, commands: &str, pace: Pace) -> Result<Qdisc, Error> {
        let namespace = Namespace::create()?;
        let tun = |name| sys::create_tun(name).map_err(Error::of("/dev/net/tun cannot create a device"));
        let (entry, exit) = (tun(ENTRY)?, tun(EXIT)?);
        for name in ["ip_forward", "conf/all/forwarding"] {
            crate::host::set_sysctl(name, "1")?;
        }
        for name in ["conf/all/rp_filter", "conf/default/rp_filter", "conf/aqmlab-in/rp_filter"] {
            crate::host::set_sysctl(name, "0")?;
        }
        let up = |name, packets| format!("link set dev {name} txqueuelen {packets} mtu {mtu} up\n");
        let devices = up(ENTRY, TUN_QUEUE) + &up(EXIT, QUEUE_LENGTH);
        batch("ip", &[], &format!("{devices}route add default dev {EXIT}\n"))?;
        let Rate(bits) = rate;
        let late = MAKES_UP[usize::from(pace == Pace::Real)].seconds();
        let burst = ((bits as f64 * late / 8.0) as u64).clamp(1, mtu - 1);
        let below: Vec<String> = commands
            .lines()
            .map(|line| {
                let line = line.trim().trim_start_matches("tc ");
                line.replace("dev DEV root", &format!("dev {EXIT} parent {SHAPER}:1"))
                    .replace("dev DEV", &format!("dev {EXIT}"))
            })
            .collect();
        let rate = format!("rate {bits}bit ceil {bits}bit burst {burst} cburst {burst}");
        batch(
            "tc",
            &[],
            &format!(
                "qdisc add dev {EXIT} root handle {SHAPER}: htb default 1\n\
                 class add dev {EXIT} parent {SHAPER}: classid {SHAPER}:1 htb {rate}\n{}\n",
                below.join("\n")
            ),
        )?;
        Ok(Qdisc { link, namespace, entry, exit, header: Vec::with_capacity(60), bytes: Vec::new() })
    }

    /// Return the statistics of the queue discipline as JSON text of tc(8). The calling thread is
    /// in the namespace afterwards.
    pub fn statistics(&self) -> Result<String, Error> {
        self.namespace.enter()?;
        batch("tc", &["-s", "-j"], &format!("qdisc show dev {EXIT}\n"))
    }

    /// Pass a packet to the kernel.
    pub fn pass(&mut self, ticket: Ticket, ecn: Ecn, packet: &[u8]) -> Result<(), Error> {
        let Ok((mut ip, _)) = Ip::read(packet) else { return Ok(()) };
        ip.set_ecn(ecn);
        if let Ip::V4(header) = &mut ip {
            (header.identification, header.time_to_live) = (ticket, 64);
        }
        self.header.clear();
        ip.write(&mut self.header);
        self.bytes.clear();
        self.bytes.extend_from_slice(packet);
        self.bytes[..self.header.len()].copy_from_slice(&self.header);
        rustix::io::write(&self.entry, &self.bytes).map_err(Error::of("a TUN device cannot be written"))?;
        Ok(())
    }

    /// Return the ticket of the next packet that the kernel has released, and whether it has a
    /// mark, or `None` if no packet is left.
    pub fn next(&mut self, buffer: &mut [u8]) -> Result<Option<(Ticket, bool)>, Error> {
        loop {
            let size = match rustix::io::read(&self.exit, &mut *buffer) {
                Ok(size) => size,
                Err(Errno::AGAIN) => return Ok(None),
                Err(error) => return Err(Error::of("a TUN device cannot be read")(error)),
            };
            if let Ok((ip, _)) = Ip::read(&buffer[..size])
                && let Ip::V4(header) = &ip
            {
                return Ok(Some((header.identification, ip.ecn() == Ecn::Ce)));
            }
        }
    }
}
