//! Verbs of the command line as programs: one file each, arguments included.
#![forbid(unsafe_code)]

mod abandon;
mod adopt;
mod approve;
pub mod auto;
mod compile;
mod completion;
mod confine;
mod cost;
mod demo;
mod diff;
mod do_task;
mod doctor;
mod fetch;
mod finalize;
mod finish;
mod forge;
pub mod gate;
mod hook;
mod init;
mod install;
mod issue;
mod lint;
mod locate;
mod new;
mod normalize;
mod notify;
pub mod permit;
mod plan;
mod prepare;
mod pull_request;
mod push;
mod receipt;
mod replay;
mod report;
mod resume;
mod run;
mod schema;
pub mod session;
mod settle;
pub mod status;
mod step;
mod stop;
mod submit;
mod transcript;
mod undo;

pub use abandon::{AbandonArgs, abandon};
pub use adopt::{AdoptArgs, RelocateArgs, adopt, relocate};
pub use approve::{ApproveArgs, RejectArgs, approve, reject};
pub use compile::{CompileArgs, CompileTarget, compile};
pub use confine::{ConfineArgs, confine};
pub use cost::{CostArgs, CostBy, cost};
pub use demo::{DemoArgs, demo};
pub use diff::{DiffArgs, diff};
pub use do_task::{DoArgs, do_task};
pub use doctor::{DoctorArgs, doctor};
pub use fetch::{FetchArgs, fetch};
pub use finalize::{FinalizeArgs, finalize};
pub use finish::{CommitWord, DispositionWord, FinishArgs, finish};
pub use gate::{DecisionWord, DisplayedDecision, DisplayedRun, GateArgs, ModeWord, gate};
pub use hook::{HookArgs, answer_of_a_broken_hook, called_as_hook, hook};
pub use init::{BeginArgs, InitArgs, begin_driven, init};
pub use install::{InstallArgs, install, uninstall};
pub use lint::{LintArgs, LintFormat, fix, lint};
pub use locate::{LocateArgs, locate};
pub use new::{NewArgs, new};
pub use normalize::{NormalizeArgs, normalize};
pub use notify::{NotifyArgs, notify};
pub use plan::{PlanArgs, plan};
pub use prepare::{PrepareArgs, prepare};
pub use push::{PushArgs, push};
pub use receipt::{
    ReceiptArgs, ReceiptFormat, ReceiptVerifyArgs, receipt, receipt_key, receipt_verify,
};
pub use replay::{ReplayArgs, replay};
pub use report::{ReportArgs, report};
pub use resume::{Interrupted, ResumeArgs, resume};
pub use run::{RunArgs, RunsOn, no_fleet, run};
pub use schema::{SchemaArgs, schema};
pub use session::{
    SessionClearArgs, SessionIdArgs, SessionListArgs, SessionLogArgs, SessionShowArgs,
    SessionUndoArgs, session_clear, session_done, session_list, session_log, session_show,
    session_stop, session_undo,
};
pub use settle::settle;
pub use status::{ListArgs, NextArgs, StatusArgs, SummaryArgs, list, next, status, summary};
pub use step::{StepAction, StepArgs, step};
pub use stop::{StopArgs, interrupt, stop};
pub use submit::{Submitted, SubmittedCheckout, only_for_a_person, remember_submitted, submitted};
pub use transcript::{TranscriptArgs, transcript};
pub use undo::{UndoArgs, undo};
