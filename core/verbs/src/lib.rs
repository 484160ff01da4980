//! Verbs of the command line as programs: one file each, arguments included.
#![forbid(unsafe_code)]

use std::pin::Pin;

use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;

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
mod undo;

pub use abandon::AbandonArgs;
pub use adopt::{AdoptArgs, RelocateArgs};
pub use approve::{ApproveArgs, RejectArgs};
pub use compile::{CompileArgs, CompileTarget};
pub use confine::ConfineArgs;
pub use cost::{CostArgs, CostBy};
pub use demo::DemoArgs;
pub use diff::DiffArgs;
pub use do_task::DoArgs;
pub use doctor::DoctorArgs;
pub use fetch::FetchArgs;
pub use finalize::FinalizeArgs;
pub use finish::{CommitWord, DispositionWord, FinishArgs};
pub use gate::{DisplayedDecision, DisplayedRun, GateArgs};
pub use hook::{HookArgs, answer_of_a_broken_hook, called_as_hook};
pub use init::{BeginArgs, InitArgs};
pub use install::InstallArgs;
pub use lint::{LintArgs, LintFormat, fix};
pub use locate::LocateArgs;
pub use new::NewArgs;
pub use normalize::NormalizeArgs;
pub use notify::NotifyArgs;
pub use plan::PlanArgs;
pub use prepare::PrepareArgs;
pub use push::PushArgs;
pub use receipt::{ReceiptArgs, ReceiptFormat, ReceiptVerifyArgs, receipt_key};
pub use replay::{ReplayArgs, replay};
pub use report::ReportArgs;
pub use resume::{Interrupted, ResumeArgs};
pub use run::{RunArgs, RunsOn, no_fleet};
pub use schema::SchemaArgs;
pub use session::{
    SessionClearArgs, SessionIdArgs, SessionListArgs, SessionLogArgs, SessionShowArgs,
    SessionUndoArgs,
};
pub use settle::settle;
pub use status::{ListArgs, NextArgs, StatusArgs, SummaryArgs};
pub use step::{StepAction, StepArgs};
pub use stop::{StopArgs, interrupt};
pub use submit::{Submitted, SubmittedCheckout, only_for_a_person, remember_submitted, submitted};
pub use undo::UndoArgs;

/// A verb under way: how it ends.
pub type Performed<'a> = Pin<Box<dyn Future<Output = Result<Exit, CommandError>> + 'a>>;

/// Puts each verb on the heap, in this crate: an `async fn` is compiled again, with all that it
/// awaits, in each crate that awaits it.
macro_rules! on_the_heap {
    ($($module:ident::$verb:ident($args:ty),)*) => {$(
        #[doc = concat!("The verb of [`", stringify!($args), "`].")]
        pub fn $verb<'a>(io: &'a Io, args: &'a $args) -> Performed<'a> {
            Box::pin($module::$verb(io, args))
        }
    )*};
}

on_the_heap! {
    abandon::abandon(AbandonArgs),
    adopt::adopt(AdoptArgs),
    adopt::relocate(RelocateArgs),
    approve::approve(ApproveArgs),
    approve::reject(RejectArgs),
    compile::compile(CompileArgs),
    confine::confine(ConfineArgs),
    cost::cost(CostArgs),
    demo::demo(DemoArgs),
    diff::diff(DiffArgs),
    do_task::do_task(DoArgs),
    doctor::doctor(DoctorArgs),
    fetch::fetch(FetchArgs),
    finalize::finalize(FinalizeArgs),
    finish::finish(FinishArgs),
    gate::gate(GateArgs),
    gate::gate_for_agent(GateArgs),
    permit::batch(permit::BatchArgs),
    permit::explain_call(permit::ExplainArgs),
    permit::trust(permit::TrustArgs),
    hook::hook(HookArgs),
    init::begin_driven(BeginArgs),
    init::init(InitArgs),
    install::install(InstallArgs),
    install::uninstall(InstallArgs),
    lint::lint(LintArgs),
    locate::locate(LocateArgs),
    new::new(NewArgs),
    normalize::normalize(NormalizeArgs),
    notify::notify(NotifyArgs),
    plan::plan(PlanArgs),
    prepare::prepare(PrepareArgs),
    push::push(PushArgs),
    receipt::receipt(ReceiptArgs),
    receipt::receipt_verify(ReceiptVerifyArgs),
    report::report(ReportArgs),
    resume::resume(ResumeArgs),
    run::run(RunArgs),
    schema::schema(SchemaArgs),
    session::session_clear(SessionClearArgs),
    session::session_done(SessionIdArgs),
    session::session_list(SessionListArgs),
    session::session_log(SessionLogArgs),
    session::session_show(SessionShowArgs),
    session::session_stop(SessionIdArgs),
    session::session_undo(SessionUndoArgs),
    status::list(ListArgs),
    status::next(NextArgs),
    status::status(StatusArgs),
    status::summary(SummaryArgs),
    step::step(StepArgs),
    stop::stop(StopArgs),
    undo::undo(UndoArgs),
}

/// The verb of [`auto::AutoArgs`].
pub fn auto(io: &Io, args: &auto::AutoArgs) -> Performed<'static> {
    Box::pin(auto::auto(io.clone(), args.clone()))
}
