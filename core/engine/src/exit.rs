//! From what went wrong to the code that a shell sees: the only place that maps them.

use crate::store::StoreError;
use onloop_effect::{Exit, Io};

impl From<&StoreError> for Exit {
    fn from(error: &StoreError) -> Exit {
        match error {
            StoreError::Failed(failure) => failure.into(),
            StoreError::Missing
            | StoreError::Unreadable(_)
            | StoreError::Overtaken(_)
            | StoreError::Changed { .. } => Exit::Refused,
        }
    }
}

/// Says why a record could not be opened or changed.
pub async fn refused_by(io: &Io, error: &StoreError) -> Exit {
    io.note(format!("error: {error}")).await;
    error.into()
}

/// The verbs that drive a run step by step know one code for everything that went wrong.
pub fn step_by_step(exit: Exit) -> Exit {
    match exit {
        Exit::Interrupted => Exit::Interrupted,
        Exit::Done
        | Exit::Failed
        | Exit::Usage
        | Exit::Paused
        | Exit::Refused
        | Exit::Bug
        | Exit::Custom(_) => Exit::Failed,
    }
}
