//! Options that both sides negotiated.

use crate::config::{Tcp, WindowScaling};

/// Options that both sides negotiated.
#[derive(Clone, Copy, Debug, Default)]
pub struct NegotiatedOptions {
    /// MSS of the other side, or 0 if the other side sent no MSS option.
    pub mss: u16,
    pub their_scale: u8,
    pub our_scale: u8,
    /// True if the advertised windows are scaled, or if the window field represents any window
    /// exactly.
    pub scaling: bool,
    pub sack: bool,
    pub timestamps: bool,
}

impl NegotiatedOptions {
    /// Return the maximum payload: the smaller MSS of the two sides, less the size of the
    /// timestamps option (RFC 6691).
    pub fn smss(&self, tcp: &Tcp) -> u32 {
        let mine = tcp.mss.0 as u32;
        let theirs = match self.mss {
            0 if tcp.window.scaling == WindowScaling::Full && !tcp.sack && !tcp.timestamps => mine, // this endpoint sends no option
            0 => 536, // RFC 9293 §3.7.1
            mss => u32::from(mss),
        };
        let options = if self.timestamps { 12 } else { 0 };
        mine.min(theirs.max(tcp.connection.min_mss.0 as u32)).saturating_sub(options).max(1)
    }
}
