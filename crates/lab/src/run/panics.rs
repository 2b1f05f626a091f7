//! Conversion of panics into errors. A panic is a defect of the simulator. The panic of a run ends
//! this run with an error that names the scenario, and other runs continue.

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
    /// Message of the panic in the guarded call of this thread; `None` outside of a guarded call.
    static PANIC_MESSAGE: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Install a panic hook that stores the message of a panic in a guarded call. The hook passes the
/// panics outside of guarded calls to the previous hook.
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

/// Return the result of the function `work`, or the message of its panic.
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    install_hook();
    PANIC_MESSAGE.with(|message| *message.borrow_mut() = Some(String::new()));
    let done = catch_unwind(AssertUnwindSafe(work));
    let message = PANIC_MESSAGE.with(|message| message.borrow_mut().take());
    done.map_err(|_| message.unwrap_or_default())
}

/// Run a scenario as [`run_with`] does, and return a panic as an error.
pub fn run_catching_panics(
    scenario: &Scenario,
    watch: &Watch,
    folder: Option<&Path>,
    custom_aqms: &dyn CustomAqms,
) -> Result<Outcome, Failure> {
    catch_panic(|| run_with(scenario, watch, folder, custom_aqms))
        .unwrap_or_else(|message| Err(Failure::Panic(message)))
}

/// Return the title and the seed of a scenario, for the message of a defect.
pub fn describe(scenario: &Scenario) -> String {
    let title = if scenario.title.is_empty() { "Untitled scenario" } else { &scenario.title };
    format!("scenario {title:?}, seed {}", scenario.seed)
}
