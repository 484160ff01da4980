//! Agents: what is read of their streams, and how long a run waits for their providers.

mod acp;
mod streams;
mod waiting;
