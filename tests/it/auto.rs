//! rw-auto: vectors, real files, properties, and whole runs.

mod corpus;
mod document;
mod machine;
mod on_disk;
mod properties;
mod routing;
mod runs;
mod vectors;
