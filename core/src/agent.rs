//! Agents that act on steps, and the command lines that start them.
