//! Set the maximum memory of the WebAssembly module.

/// Maximum memory of the module in bytes: 1 GiB. A run that needs more ends with an error.
const MAX_MEMORY: u64 = 1 << 30;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_FAMILY").is_ok_and(|family| family == "wasm") {
        println!("cargo::rustc-link-arg-cdylib=--max-memory={MAX_MEMORY}");
    }
}
