//! Kernel settings of a host, from its TCP parameters.

use tcp::Tcp;
use tcp::{Ecn, InitialWindow, Offload, SendBuffer, WindowScaling, WindowTuning};
use units::Read;
use units::param::Invalid;

/// Bytes of the IPv4 header and of the TCP header without options.
const HEADERS: u64 = 40;

/// Kernel settings of a host. Hosts with equal settings share a network namespace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Settings below /proc/sys/net/ipv4, with their values.
    pub sysctls: Vec<(&'static str, String)>,
    /// Maximum size of a packet in bytes.
    pub mtu: u64,
    /// True if the kernel passes segments to the device in groups, which the device splits.
    pub offload: bool,
    /// Initial congestion window in packets.
    pub initial_window: u64,
    /// Name of the congestion control in the kernel.
    pub congestion: String,
    /// True if the router sends the SYN-ACKs of the host as ECN-capable (ECN+). The kernel itself
    /// sends them as Not-ECT, and a client that receives a marked SYN-ACK does not echo the mark.
    pub capable_syn_ack: bool,
    /// Limit of the receive window in bytes, if the kernel does not tune the window.
    pub window: Option<u32>,
}

impl Settings {
    /// Return the settings of a host with the given TCP parameters.
    ///
    /// # Errors
    /// If the kernel cannot have the parameters.
    pub fn of(tcp: &Tcp) -> Result<Settings, Invalid> {
        // The names of the scenario are those of the kernel.
        let congestion = tcp.congestion.write()["kind"].as_str().unwrap_or("reno").to_string();
        if tcp.ecn.mode == Ecn::Dctcp && congestion != "dctcp" {
            let problem = "in the kernel only DCTCP has this mode";
            return Err(Invalid::new("tcp.ecn.mode", &tcp.ecn.mode.write(), problem)
                .remedy("set congestion = \"dctcp\", or another mode"));
        }
        let on = |flag: bool| u8::from(flag).to_string();
        let ecn = match tcp.ecn.mode {
            Ecn::Off => 0,
            Ecn::Passive => 2,
            _ => 1,
        };
        let capable_syn_ack = tcp.ecn.mode == Ecn::EcnPlusUnheeded;
        let tuned = tcp.window.tuning == WindowTuning::Linux;
        // Without tuning, the memory suffices for small segments, and the socket limits the window.
        let fixed = 8 * tcp.receive_window.0;
        let window = (!tuned).then_some(tcp.receive_window.0 as u32);
        let receive = if tuned { [tcp.memory.receive.0, tcp.memory.receive_max.0] } else { [fixed; 2] };
        let send = match tcp.send_buffer {
            SendBuffer::Linux => [tcp.memory.send.0, tcp.memory.send_max.0],
            SendBuffer::Unlimited => [64 << 20; 2],
        };
        let memory = |[first, most]: [u64; 2]| format!("4096 {first} {most}");
        let sysctls = vec![
            ("tcp_ecn", ecn.to_string()),
            ("tcp_ecn_fallback", on(tcp.ecn.fallback)),
            ("tcp_sack", on(tcp.sack)),
            ("tcp_timestamps", on(tcp.timestamps)),
            ("tcp_window_scaling", on(tcp.window.scaling != WindowScaling::Off)),
            ("tcp_moderate_rcvbuf", on(tuned)),
            ("tcp_rmem", memory(receive)),
            ("tcp_wmem", memory(send)),
            // A connection must not learn from an earlier one.
            ("tcp_no_metrics_save", on(true)),
        ];
        let initial_window = match tcp.initial_window {
            InitialWindow::Segments(packets) => packets.0 as u64,
            InitialWindow::Rfc3390 => 4380_u64.div_ceil(tcp.mss.0).clamp(2, 4),
        };
        Ok(Settings {
            sysctls,
            mtu: tcp.mss.0 + HEADERS,
            offload: tcp.offload != Offload::None,
            initial_window,
            congestion,
            capable_syn_ack,
            window,
        })
    }
}
