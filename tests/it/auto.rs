//! rw-auto: vectors, real files, properties, and whole runs.

mod corpus;
mod document;
#[cfg(unix)]
mod finding;
mod long_child;
mod machine;
mod on_disk;
mod properties;
mod real;
mod routing;
mod runs;
mod vectors;
