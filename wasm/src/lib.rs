//! The functions of onloop's core for JavaScript. The npm package wraps them in a typed interface;
//! nobody else calls them. The module with the programs besides is made from the crate in
//! `programs/`.
//!
//! Documents cross the border as JSON text, which measures faster than building objects for
//! anything with tagged variants. Bytes cross as `Uint8Array`s beside the text.
//!
//! Nothing that lives here is handed out: programs are known by number, records are text.
//! After a trap the caller drops the whole instance, and no object is left that could reach
//! into the next one.

mod panic;
pub mod pure;
pub mod utf16;

use wasm_bindgen::prelude::*;

/// Prepares the instance; called once by the loader.
#[wasm_bindgen(start)]
pub fn start() {
    panic::report_to_javascript();
}

/// The version of onloop.
#[wasm_bindgen]
pub fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

/// Memory of the instance; it only grows.
#[wasm_bindgen]
pub fn memory_bytes() -> f64 {
    #[cfg(target_arch = "wasm32")]
    let pages = core::arch::wasm32::memory_size::<0>();
    // Where this is only compiled to be checked there is no such memory.
    #[cfg(not(target_arch = "wasm32"))]
    let pages = 0_usize;
    (pages * 65_536) as f64
}
