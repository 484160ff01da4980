//! Agents: what is read of their streams.

mod streams;
