//! Simulator as a WebAssembly module: a scenario in, columns out.
//!
//! The interface of the module is five exports and one import, all with numbers as arguments. Texts
//! are UTF-8, and all of them are JSON. A call has three steps:
//!
//! 1. The caller calls `input(bytes)` and writes the request to the returned address.
//! 2. The caller calls `describe()`, `check()` or `run()`, which returns the length of the answer.
//! 3. The caller reads the answer at the address `output()`, and the columns of a run at the
//!    addresses in the answer. The next call of `input` invalidates the addresses.
//!
//! The module calls the import `progress(share, events)` about every million events of a run.
//!
//! If the simulator panics, the call ends with a trap, and the answer at `output()` describes the
//! panic up to its first zero byte. The caller must then discard the instance. The caller cancels a
//! run in the same way: it ends the thread of the instance, or throws an exception in `progress`.

mod answer;
mod packets;
mod pages;
mod progress;
mod request;

use std::cell::RefCell;

use serde_json::Value;

/// Texts and columns that the caller can read and write.
#[derive(Default)]
struct Exchange {
    input: Vec<u8>,
    output: Vec<u8>,
    /// Result whose columns the answer of `run` refers to. The caller reads the columns.
    _outcome: Option<lab::Outcome>,
}

thread_local! {
    static EXCHANGE: RefCell<Exchange> = RefCell::default();
}

/// Store the message of a panic as the answer. A hook of panics runs before the trap.
fn install_panic_hook() {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            let text = format!("the simulator panicked: {info}\0");
            EXCHANGE.with(|exchange| {
                if let Ok(mut exchange) = exchange.try_borrow_mut() {
                    exchange.output = text.into_bytes();
                }
            });
            before(info);
        }));
    });
}

/// Call a function with the request, store its answer and its result, and return the length of the
/// answer.
fn respond(work: impl FnOnce(&str) -> (Value, Option<lab::Outcome>)) -> usize {
    install_panic_hook();
    let input = EXCHANGE.take().input;
    let (answer, outcome) = match std::str::from_utf8(&input) {
        Ok(text) => work(text),
        Err(_) => (answer::error("", "the request is not UTF-8 text"), None),
    };
    let output = serde_json::to_vec(&answer).expect("a JSON value has a JSON text");
    let length = output.len();
    EXCHANGE.set(Exchange { input, output, _outcome: outcome });
    length
}

#[allow(unsafe_code)]
mod exports {
    use super::{EXCHANGE, answer, request, respond};

    /// Free the previous answer, and return the address at which the caller writes a request of
    /// `bytes` bytes.
    #[unsafe(no_mangle)]
    pub extern "C" fn input(bytes: usize) -> *mut u8 {
        EXCHANGE.with_borrow_mut(|exchange| {
            *exchange = super::Exchange { input: vec![0; bytes], ..super::Exchange::default() };
            exchange.input.as_mut_ptr()
        })
    }

    /// Return the address of the answer.
    #[unsafe(no_mangle)]
    pub extern "C" fn output() -> *const u8 {
        EXCHANGE.with_borrow(|exchange| exchange.output.as_ptr())
    }

    /// Answer with the version, the JSON Schema, the manual pages and the columns of all tables.
    #[unsafe(no_mangle)]
    pub extern "C" fn describe() -> usize {
        respond(|_| (answer::description(), None))
    }

    /// Answer with a scenario as its author wrote it, and with the value of every default.
    #[unsafe(no_mangle)]
    pub extern "C" fn check() -> usize {
        respond(|text| (request::check(text), None))
    }

    /// Run a scenario, and answer with the manifest and the addresses of the columns.
    #[unsafe(no_mangle)]
    pub extern "C" fn run() -> usize {
        respond(request::run)
    }
}

pub use exports::{check, describe, input, output, run};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_leaves_its_message_as_the_answer() {
        let work = || respond(|_| panic!("the cause"));
        std::panic::catch_unwind(work).unwrap_err();
        let text = EXCHANGE.with_borrow(|exchange| String::from_utf8(exchange.output.clone()).unwrap());
        assert!(text.starts_with("the simulator panicked: ") && text.ends_with("the cause\0"), "{text}");
    }
}
