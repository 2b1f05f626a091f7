//! Hosts: network namespaces with a TUN device.

use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsFd, OwnedFd};
use std::process::{Command, Stdio};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

use crate::error::Error;
use crate::settings::Settings;
use crate::sys;

/// Name of the TUN device in each namespace.
const DEVICE: &str = "aqmlab";
/// Packets that a TUN device stores before the router reads them.
pub const TUN_QUEUE: u32 = 10_000;

/// Network namespace, which exists as long as this value.
#[derive(Debug)]
pub struct Namespace(OwnedFd);

impl Namespace {
    /// Create a namespace. The calling thread is in the namespace afterwards.
    pub fn create() -> Result<Namespace, Error> {
        sys::enter_new_network().map_err(Error::of("the kernel refuses a new network namespace"))?;
        let path = "/proc/thread-self/ns/net";
        let file = fs::File::open(path).map_err(Error::of(format!("{path} cannot be opened")))?;
        Ok(Namespace(file.into()))
    }

    /// Move the calling thread into the namespace.
    pub fn enter(&self) -> Result<(), Error> {
        move_into_link_name_space(self.0.as_fd(), Some(LinkNameSpaceType::Network))
            .map_err(Error::of("the thread cannot enter a network namespace"))
    }
}

/// Host with its own network namespace.
#[derive(Debug)]
pub struct Host {
    /// Address of the host.
    pub address: Ipv4Addr,
    /// Namespace of the host.
    pub namespace: Namespace,
    /// TUN device from which the router reads what the host sends.
    pub tun: OwnedFd,
}

impl Host {
    /// Create a host. The calling thread is in the namespace of the host afterwards.
    pub fn create(address: Ipv4Addr, peer: Ipv4Addr, settings: &Settings) -> Result<Host, Error> {
        let namespace = Namespace::create()?;
        let tun = sys::create_tun(DEVICE).map_err(Error::of("/dev/net/tun cannot create a device"))?;
        for (name, value) in &settings.sysctls {
            set_sysctl(name, value)?;
        }
        let Settings { mtu, initial_window, offload, .. } = settings;
        // The kernel groups segments even if the device cannot split a group, and splits the group
        // before it reaches the device. A group of one segment disables the offload.
        let groups = if *offload { "" } else { " gso_max_segs 1" };
        batch(
            "ip",
            &[],
            &format!(
                "link set dev {DEVICE} txqueuelen {TUN_QUEUE} mtu {mtu}{groups}\n\
             address add {address} dev {DEVICE}\n\
             link set dev {DEVICE} up\n\
             route add {peer} dev {DEVICE} initcwnd {initial_window}\n"
            ),
        )?;
        Ok(Host { address, namespace, tun })
    }
}

/// Set a value below /proc/sys/net/ipv4 in the namespace of the calling thread.
pub fn set_sysctl(name: &str, value: &str) -> Result<(), Error> {
    let path = format!("/proc/sys/net/ipv4/{name}");
    fs::write(&path, value).map_err(Error::of(format!("{path} cannot be set to {value}")))
}

/// Run commands of ip(8) or tc(8) in the namespace of the calling thread, and return the output.
pub fn batch(program: &str, options: &[&str], commands: &str) -> Result<String, Error> {
    let failed = || Error::of(format!("the command {program} (Debian package iproute2) cannot be run"));
    let mut child = Command::new(program)
        .args(options)
        .args(["-batch", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed())?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(commands.as_bytes()).map_err(failed())?;
    }
    let output = child.wait_with_output().map_err(failed())?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let text = String::from_utf8_lossy(&output.stderr).trim().to_string();
    let refused = commands.trim().replace('\n', "; ");
    let what = format!("{program} refuses `{refused}`, because the kernel lacks it or an option of it");
    Err(Error::of(what)(io::Error::other(text)))
}
