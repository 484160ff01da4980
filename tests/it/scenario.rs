//! Whole runs on a simulated machine.
