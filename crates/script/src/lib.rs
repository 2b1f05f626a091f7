//! Packet scripts: sequences of system calls and segments, which test the TCP endpoint in simulated
//! time.
//!
//! Scripts are written in the language of packetdrill (Cardwell et al., "packetdrill: Scriptable
//! Network Stack Testing, from Sockets to Packets", USENIX ATC 2013). [`parse`] reads a [`Script`],
//! and [`run`] returns a [`Report`]. A script may contain blocks of Python, which this crate does
//! not evaluate. The report contains each Python block with the values of the TCP_INFO fields at
//! the time of the block.
//!
//! IPv6, UDP, ICMP and urgent data are not supported. If a script needs a feature that is not
//! supported, its verdict names the feature.

mod calls;
mod command;
mod constants;
mod host;
mod kernel;
mod matching;
mod own;
mod parse;
mod print;
mod report;
mod run;
mod settings;
mod setup;
mod stack;
mod support;
pub mod syntax;

pub use parse::{SyntaxError, parse, parse_with};
pub use report::{Block, Failure, Missing, Moment, Report, Verdict};
pub use run::run;
pub use setup::Setup;
pub use syntax::Script;

/// Parse a script and run it.
pub fn run_text(text: &str, setup: &Setup) -> Report {
    match parse_with(text, &setup.defines) {
        Ok(script) => run(&script, setup),
        Err(e) => Report::unreadable(e),
    }
}
