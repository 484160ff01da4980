//! rw-auto: vectors, real files, properties, and whole runs.

mod corpus;
mod routing;
mod vectors;
