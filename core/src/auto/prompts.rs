//! Instructions for the agents that we ship.
