//! The names of a step's fields.

/// Fields of a step, in the order of the documentation.
pub(super) const FIELDS: [&str; 7] =
    ["action", "loop", "max_iterations", "verify", "gate", "baseline", "may_change"];

/// Whether `key` names a field of a step.
pub(super) fn is_field(key: &str) -> bool {
    FIELDS.contains(&key)
}
