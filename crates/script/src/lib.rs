//! Packet scripts: a transcript of system calls and segments, run against the TCP endpoint in virtual
//! time.
//!
//! The language is packetdrill's (Cardwell et al., "packetdrill: Scriptable Network Stack Testing, from
//! Sockets to Packets", USENIX ATC 2013). Text → [`Script`] ([`parse`]) → [`Report`] ([`run`]). Python
//! blocks are not evaluated here: the report carries them with what they ask about.
//!
//! Missing: IPv6, UDP, ICMP and urgent data. The verdict of a script that needs one of them names it.

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

/// Reads a script and runs it.
pub fn run_text(text: &str, setup: &Setup) -> Report {
    match parse_with(text, &setup.defines) {
        Ok(script) => run(&script, setup),
        Err(e) => Report::unreadable(e),
    }
}
