//! Pages for a browser: one file each, which loads nothing and runs nothing.
//!
//! What is shown comes from workflow files, agents and repositories. Text is written with
//! `html::escaped`, Markdown with `markdown::rendered`, and a policy in the page itself forbids
//! scripts and requests, should either have a hole.

mod html;
mod markdown;
mod patch;
mod report;
#[cfg(test)]
mod tests;
mod timeline;

pub use report::{ReportEvidence, StepPatch, report_page};
