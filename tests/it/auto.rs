//! rw-auto: vectors, real files, properties, and whole runs.

mod corpus;
mod properties;
mod routing;
mod vectors;
