//! Conversion of panics into errors. A panic means that the simulator has a defect. A panic ends
//! only the run in which it occurs. The error names the scenario of the run, and all other runs
//! continue.

use std::any::Any;
use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use queues::CustomAqms;

use super::{Watch, run_with};
use crate::capture::CaptureTarget;
use crate::failure::Failure;
use crate::record::Outcome;
use crate::scenario::Scenario;

thread_local! {
    /// Message of a panic in the function that [`catch_panic`] guards on this thread. The message
    /// is `None` while [`catch_panic`] runs no function on this thread.
    static PANIC_MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Install a panic hook that stores the message of each panic in a function that [`catch_panic`]
/// guards. For all other panics, the hook calls the previous hook.
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

/// Return the message of a panic.
fn words(payload: &dyn Any) -> &str {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("no message")
}

/// Call the function `work`, and return its result or the message of its panic.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    PANIC_MESSAGE.with(|message| *message.borrow_mut() = Some(String::new()));
    let done = catch_unwind(AssertUnwindSafe(work));
    let message = PANIC_MESSAGE.with(|message| message.borrow_mut().take());
    done.map_err(|_| message.unwrap_or_default())
}

/// Run a scenario as [`run_with`] does, but convert a panic into an error.
pub fn run_catching_panics(
    scenario: &Scenario,
    watch: &Watch,
    target: Option<CaptureTarget>,
    custom_aqms: &dyn CustomAqms,
) -> Result<Outcome, Failure> {
    catch_panic(|| run_with(scenario, watch, target, custom_aqms))
        .unwrap_or_else(|message| Err(Failure::Panic(message)))
}

/// Return the title and the seed of a scenario, for an error message about a defect.
pub fn describe(scenario: &Scenario) -> String {
    let title = if scenario.title.is_empty() { "Untitled scenario" } else { &scenario.title };
    format!("scenario {title:?}, seed {}", scenario.seed)
}
