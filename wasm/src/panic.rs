//! A panic becomes a JavaScript exception with its text. The instance is lost all the same:
//! nothing was unwound.

use wasm_bindgen::throw_str;

/// Marks a panic for the loader.
const MARK: &str = "internal error in onloop";

/// Throws from the panic hook, which is the last moment at which the text is known.
pub(crate) fn report_to_javascript() {
    std::panic::set_hook(Box::new(|panic| {
        let message = panic.payload_as_str().unwrap_or("no message");
        let place = panic.location().map_or_else(String::new, |place| format!(" at {place}"));
        throw_str(&format!("{MARK}{place}: {message}"));
    }));
}
