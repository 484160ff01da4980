//! rw-auto: vectors, real files, properties, and whole runs.

mod corpus;
mod machine;
mod on_disk;
mod properties;
mod routing;
mod vectors;
