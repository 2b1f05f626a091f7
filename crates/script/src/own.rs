//! TCP parameters that the socket options of one connection have set.

use tcp::congestion::Algorithm;
use tcp::{Tcp, WindowTuning};
use units::{Bytes, Duration};

/// TCP parameters that the socket options of one connection have set.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// TCP_MAXSEG.
    pub mss: Option<u64>,
    /// TCP_USER_TIMEOUT. The value 0 of TCP_USER_TIMEOUT disables the timeout.
    pub user_timeout: Option<Duration>,
    /// TCP_SYNCNT.
    pub syn_retries: Option<u64>,
    /// Half of SO_RCVBUF.
    pub receive_window: Option<u64>,
    /// TCP_CONGESTION.
    pub congestion: Option<Algorithm>,
}

impl Own {
    /// Replace those TCP parameters that options of the socket have set.
    pub fn lay_over(&self, tcp: &mut Tcp) {
        if let Some(mss) = self.mss {
            tcp.mss = Bytes(tcp.mss.0.min(mss)); // a value above the MSS of the interface has no effect (tcp(7))
        }
        if let Some(timeout) = self.user_timeout {
            tcp.connection.user_timeout = (timeout > Duration::ZERO).then_some(timeout);
        }
        if let Some(retries) = self.syn_retries {
            (tcp.connection.syn_retries, tcp.connection.synack_retries) = (retries, retries);
        }
        if let Some(window) = self.receive_window {
            tcp.receive_window = Bytes(window);
            tcp.window.tuning = WindowTuning::Off; // SO_RCVBUF disables tuning (tcp(7))
        }
        if let Some(congestion) = &self.congestion {
            tcp.congestion = congestion.clone();
        }
    }
}
