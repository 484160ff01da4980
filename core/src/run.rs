//! The record of a run: what happened, what is allowed to happen, and what happens next.
