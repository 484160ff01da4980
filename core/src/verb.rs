//! Verbs of the command line as programs: one file each, arguments included.

pub(crate) mod adopt;
mod approve;
pub mod auto;
mod doctor;
mod finalize;
mod finish;
pub(crate) mod gate;
mod hook;
mod init;
mod install;
mod lint;
pub(crate) mod locate;
mod new;
mod normalize;
pub mod permit;
mod prepare;
mod replay;
pub(crate) mod resume;
pub(crate) mod run;
mod schema;
mod session;
pub(crate) mod status;
pub(crate) mod step;

pub use approve::{ApproveArgs, approve};
pub use doctor::{DoctorArgs, doctor};
pub use finalize::{FinalizeArgs, finalize};
pub use finish::{DispositionWord, FinishArgs, finish};
pub use gate::{DecisionWord, GateArgs, ModeWord, gate};
pub use hook::{HookArgs, answer_of_a_broken_hook, called_as_hook, hook};
pub use init::{InitArgs, init};
pub use install::{InstallArgs, ScopeWord, install, uninstall};
pub use lint::{LintArgs, LintFormat, lint, mend};
pub use locate::{LocateArgs, locate};
pub use new::{NewArgs, new};
pub use normalize::{NormalizeArgs, normalize};
pub use prepare::{PrepareArgs, prepare};
pub use replay::{ReplayArgs, replay};
pub use resume::{Interrupted, ResumeArgs, resume};
pub use run::{ConductArgs, RunArgs, run};
pub use schema::{SchemaArgs, schema};
pub use session::{
    SessionIdArgs, SessionListArgs, SessionShowArgs, session_clear, session_done, session_list,
    session_show, session_stop,
};
pub use status::{
    NextArgs, ReceiptArgs, ReportArgs, StatusArgs, SummaryArgs, instruction, next, receipt, report,
    status, summary,
};
pub use step::{StepAction, StepArgs, step};
