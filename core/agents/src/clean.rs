//! Making what clients say short and fit to be shown.

use onloop_syntax::text;

/// Bytes of a name: of a tool, a call, a session, a model.
const NAME_BYTES: usize = 200;
/// Bytes of the line that says what a call does.
const ABOUT_BYTES: usize = 400;
/// Bytes of a tool's output that are kept.
const OUTPUT_BYTES: usize = 2000;

/// `text`, printable and at most `limit_bytes` long.
pub(super) fn cleaned(text: &str, limit_bytes: usize) -> String {
    // Cleaning a text of megabytes only to cut it would cost more than reading its line.
    text::ellipsis(&text::printable(text::prefix(text, limit_bytes.saturating_mul(4))), limit_bytes)
}

/// A name, on one line.
pub(super) fn name(text: &str) -> String {
    text::ellipsis(&text::one_line(text::prefix(text, 4 * NAME_BYTES)), NAME_BYTES)
}

/// What a tool said.
pub(super) fn output(text: &str) -> String {
    cleaned(text.trim_end(), OUTPUT_BYTES)
}

/// One line about a call.
pub(super) fn line(text: &str) -> String {
    text::ellipsis(&text::one_line(text::prefix(text.trim(), 4 * ABOUT_BYTES)), ABOUT_BYTES)
}
