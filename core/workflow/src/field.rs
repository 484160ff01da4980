//! The names of a step's fields.

/// Fields of a step, in the order of the documentation.
pub(super) const FIELDS: [&str; 10] = [
    "action",
    "loop",
    "max_iterations",
    "verify",
    "gate",
    "depends_on",
    "baseline",
    "may_change",
    "network",
    "model",
];

/// Whether `key` names a field of a step.
pub(super) fn is_field(key: &str) -> bool {
    FIELDS.contains(&key)
}
