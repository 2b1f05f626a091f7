//! A panic is a defect of the simulator: it ends its own run with an error that names the scenario, and no other.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::path::Path;
use std::sync::Once;

use queues::CustomAqms;

use super::{Watch, run_with};
use crate::failure::Failure;
use crate::record::Outcome;
use crate::scenario::Scenario;

thread_local! {
    /// What panicked in a guarded run of this thread; none: no run is guarded.
    static PANIC_MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Panics of guarded runs are kept, others are told as before.
fn install_hook() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let guarded = PANIC_MESSAGE.with(|message| match message.borrow_mut().as_mut() {
                Some(text) if text.is_empty() => {
                    let place = info.location().map(|l| format!("{}:{}: ", l.file(), l.line()));
                    let words = words(info.payload());
                    *text = format!("{}{words}", place.unwrap_or_default());
                    true
                }
                message => message.is_some(),
            });
            if !guarded {
                before(info);
            }
        }));
    });
}

fn words(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no words")
}

/// What `work` gives, or what it panicked with.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    PANIC_MESSAGE.with(|message| *message.borrow_mut() = Some(String::new()));
    let done = catch_unwind(AssertUnwindSafe(work));
    let message = PANIC_MESSAGE.with(|message| message.borrow_mut().take());
    done.map_err(|_| message.unwrap_or_default())
}

/// As [`run_with`], but for panics.
pub fn run_catching_panics(
    scenario: &Scenario,
    watch: &Watch,
    folder: Option<&Path>,
    custom_aqms: &dyn CustomAqms,
) -> Result<Outcome, Failure> {
    catch_panic(|| run_with(scenario, watch, folder, custom_aqms))
        .unwrap_or_else(|message| Err(Failure::Panic(message)))
}

/// The scenario of a defect, as its message names it.
pub fn describe(scenario: &Scenario) -> String {
    let title = if scenario.title.is_empty() { "Untitled scenario" } else { &scenario.title };
    format!("scenario {title:?}, seed {}", scenario.seed)
}
