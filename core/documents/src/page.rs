//! Pages for a browser.
//!
//! The report is one file, which loads nothing and runs nothing; the pages of `onloop web` load the files that
//! are here, and forms send what a person decides. What is shown comes from workflow files, agents and
//! repositories. Text is written with `html::escaped`, Markdown with `markdown::rendered`, and a policy forbids
//! foreign scripts and requests, should either have a hole.

mod checks;
mod graph;
mod html;
mod markdown;
mod patch;
mod report;
#[cfg(test)]
mod tests;
mod timeline;
pub mod web;

pub use report::{ReportEvidence, StepPatch, report_page};
