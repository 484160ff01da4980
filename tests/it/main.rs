//! One binary for all integration tests: one link, and tests run in parallel.

mod workflow_corpus;
mod workflow_docs;
mod workflow_hostile;
