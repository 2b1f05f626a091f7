//! Import of the module: the progress of a run.

#[cfg(target_family = "wasm")]
#[allow(unsafe_code)]
mod imports {
    #[link(wasm_import_module = "aqmlab")]
    unsafe extern "C" {
        /// Receive the completed share of a run, between 0 and 1, and the number of its events.
        pub safe fn progress(share: f64, events: f64);
    }
}

/// Report the progress of a run to the caller of the module.
pub fn progress(share: f64, events: u64) {
    #[cfg(target_family = "wasm")]
    imports::progress(share, events as f64);
    #[cfg(not(target_family = "wasm"))]
    let _ = (share, events);
}
