//! What both sides agreed on.

use crate::config::{Tcp, WindowScaling};

/// What both sides agreed on with options.
#[derive(Clone, Copy, Debug, Default)]
pub struct NegotiatedOptions {
    /// The other side's MSS, and its window scale and ours.
    pub mss: u16,
    pub their_scale: u8,
    pub our_scale: u8,
    /// Windows are scaled (or carried in full).
    pub scaling: bool,
    pub sack: bool,
    pub timestamps: bool,
}

impl NegotiatedOptions {
    /// The largest payload: the smaller MSS, less the room that timestamps take (RFC 6691).
    pub fn smss(&self, tcp: &Tcp) -> u32 {
        let mine = tcp.mss.0 as u32;
        let theirs = match self.mss {
            0 if tcp.window.scaling == WindowScaling::Full && !tcp.sack && !tcp.timestamps => mine, // no option is sent
            0 => 536, // RFC 9293 §3.7.1
            mss => u32::from(mss),
        };
        let options = if self.timestamps { 12 } else { 0 };
        mine.min(theirs.max(tcp.connection.min_mss.0 as u32)).saturating_sub(options).max(1)
    }
}
