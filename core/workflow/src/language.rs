//! Editor features for workflow files: symbols, folding, hover, completion, quick fixes and edits.
//! They are pure functions over a [`Reading`]; positions are ranges of bytes.
//!
//! ```
//! use onloop_workflow::language::{Reading, hover};
//! use onloop_workflow as workflow;
//!
//! let text = "---\nintent: a\n---\n";
//! let parsed = workflow::parse("hotl-workflow-a.md", text.as_bytes());
//! let reading = Reading::new(text, &parsed);
//! let meaning = hover(reading, 5).expect("the cursor is on a field");
//! assert!(meaning.markdown.starts_with("**`intent`**"));
//! ```

mod arrange;
mod complete;
mod dependency;
mod document;
mod fold;
mod hover;
mod layout;
mod link;
mod quick_fix;
mod reading;
mod refer;
mod rename;
mod rewrite;
mod symbol;
#[cfg(test)]
mod tests;
mod token;

pub use arrange::{ArrangeError, arranged, inserted};
pub use complete::{Proposal, ProposalKind, plain, proposals};
pub use document::{Document, DocumentPosition, Encoding};
pub use fold::{Fold, FoldKind, folds};
pub use hover::{Hover, hover};
pub use layout::layout;
pub use link::{FileLink, links};
pub use quick_fix::{is_unnecessary, quick_fixes, related};
pub use reading::Reading;
pub use refer::{StepMention, mentions, mentions_of, steps_by_number};
pub use rename::{RenameError, StepHere, renamed, step_at};
pub use rewrite::rewrites;
pub use symbol::{Symbol, SymbolKind, symbols};
pub use token::{SemanticToken, TokenKind, token_data, tokens};
