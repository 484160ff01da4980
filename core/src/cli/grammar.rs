//! What can be said on the command line.

use clap::{Args, Parser, Subcommand};

use super::help::HelpArgs;

use onloop_servers::watch::WatchArgs;
use onloop_servers::web::WebArgs;
use onloop_verbs::auto::AutoArgs;
use onloop_verbs::permit;
use onloop_verbs::{
    AbandonArgs, AdoptArgs, ApproveArgs, CompileArgs, ConfineArgs, CostArgs, DemoArgs, DiffArgs,
    DoArgs, DoctorArgs, FetchArgs, FinalizeArgs, FinishArgs, GateArgs, HookArgs, InitArgs,
    InstallArgs, LintArgs, ListArgs, LocateArgs, NewArgs, NextArgs, NormalizeArgs, NotifyArgs,
    PlanArgs, PrepareArgs, PushArgs, ReceiptArgs, ReceiptVerifyArgs, RejectArgs, RelocateArgs,
    ReplayArgs, ReportArgs, ResumeArgs, RunArgs, SchemaArgs, SessionClearArgs, SessionIdArgs,
    SessionListArgs, SessionLogArgs, SessionShowArgs, SessionUndoArgs, StatusArgs, StepArgs,
    StopArgs, SummaryArgs, UndoArgs,
};

/// Runs coding agents unattended and verifies every step
#[derive(Debug, Parser)]
#[command(
    name = "onloop",
    version,
    propagate_version = false,
    disable_help_subcommand = true,
    disable_help_flag = true,
    max_term_width = 80
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
    // One help instead of a short and a long one: the short one has lines that do not fit. Without a
    // long text clap would print the short one for verbs whose options have none either.
    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::HelpLong, long_help = "Print help")]
    pub(super) help: Option<bool>,
    /// Ask nothing, as without a terminal
    #[arg(long, global = true)]
    pub(super) no_input: bool,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Work on one task until the checks pass, without a workflow file
    Do(DoArgs),
    /// Have an agent draft a workflow file, and approve it
    Plan(PlanArgs),
    /// Run an example in a throw-away project
    Demo(DemoArgs),
    /// Run a workflow file until it is completed, blocked or paused
    Run(RunArgs),
    /// Continue an interrupted, paused or blocked run
    Resume(ResumeArgs),
    /// Check workflow files
    Lint(LintArgs),
    /// Write a workflow file that lints clean
    New(NewArgs),
    /// Print a workflow file as `hotl.workflow/v1` JSON
    Normalize(NormalizeArgs),
    /// Convert a workflow file to a workflow of GitHub Actions
    Compile(CompileArgs),
    /// Show unfinished runs here and in worktrees, or one run
    Status(StatusArgs),
    /// Show all runs, finished ones too
    List(ListArgs),
    /// Watch runs and sessions full screen, and decide at gates
    Watch(WatchArgs),
    /// Print what should happen now, and the command that does it
    Next(NextArgs),
    /// Print the report of a run
    Report(ReportArgs),
    /// Print the summary of a run
    Summary(SummaryArgs),
    /// Record or verify one step of a run that an agent drives itself
    Step(StepArgs),
    /// Record the decision at a gate or a human review
    Gate(GateArgs),
    /// Begin a run that an agent drives itself; prints the run id
    Init(InitArgs),
    /// Prepare the branch and worktree of such a run; prints JSON
    Prepare(PrepareArgs),
    /// Find runs; prints a JSON array
    Locate(LocateArgs),
    /// Repeat the checks, end such a run and print its summary
    Finalize(FinalizeArgs),
    /// Merge, publish, keep or discard the work of a finished run
    #[command(allow_missing_positional = true)]
    Finish(FinishArgs),
    /// Show what a run, or one of its steps, changed
    Diff(DiffArgs),
    /// Show what the agents of all runs on this machine cost
    Cost(CostArgs),
    /// Restore the files as they were after a step
    #[command(allow_missing_positional = true)]
    Undo(UndoArgs),
    /// Print what the record of a run proves
    #[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
    Receipt {
        /// Another task
        #[command(subcommand)]
        verb: Option<ReceiptVerb>,
        #[command(flatten)]
        args: ReceiptArgs,
    },
    /// Take over a record that came from another machine
    Adopt(AdoptArgs),
    /// Name the folder to which the checkout of a run was moved
    Relocate(RelocateArgs),
    /// Push a run to a remote, to resume it on another machine
    Push(PushArgs),
    /// Fetch a run that was pushed
    Fetch(FetchArgs),
    /// Give up a run; its record and its work are kept
    Abandon(AbandonArgs),
    /// Show or test the channels that receive notifications
    Notify(NotifyArgs),
    /// Run one command in the sandbox
    Confine(ConfineArgs),
    /// Plan a feature, then implement it, with two agents in turn
    Auto(Box<AutoArgs>),
    /// Decide about a tool call of an agent, and explain it
    Permit {
        /// What to do
        #[command(subcommand)]
        verb: PermitVerb,
    },
    /// Answer one event of an agent host
    Hook(HookArgs),
    /// Show and stop unattended agent sessions
    Session {
        /// What to do
        #[command(subcommand)]
        verb: SessionVerb,
    },
    /// List what waits for you, or approve a run or a tool call
    Approve(ApproveArgs),
    /// Reject the step that a run waits for, or a tool call
    Reject(RejectArgs),
    /// Interrupt the process that drives a run
    Stop(StopArgs),
    /// Add hooks, skills and commands to an agent client
    Install(InstallArgs),
    /// Remove them; without --scope, everywhere
    Uninstall(InstallArgs),
    /// Examine what is installed, and try every hook
    Doctor(DoctorArgs),
    /// Serve these verbs as tools of the Model Context Protocol
    Mcp,
    /// Serve workflow files to editors over the Language Server Protocol
    Lsp,
    /// Show all runs in a browser, and decide at gates
    Web(WebArgs),
    /// Run workflows on several machines
    #[command(disable_help_flag = true)]
    Fleet(FleetArgs),
    /// Repeat a recorded call and compare its requests
    Replay(ReplayArgs),
    /// Print the JSON Schema of a document
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    Completions(CompletionsArgs),
    /// Print the manual page
    Man,
    /// Show the verbs, or explain one
    Help(HelpArgs),
}

#[derive(Debug, Subcommand)]
pub(super) enum PermitVerb {
    /// Show how a call is read, the decision and its rule
    Explain(permit::ExplainArgs),
    /// Decide about calls, one JSON object a line
    Batch(permit::BatchArgs),
    /// Let the rules of the project's file allow calls
    Trust(permit::TrustArgs),
}

#[derive(Debug, Subcommand)]
pub(super) enum ReceiptVerb {
    /// Verify the signature of a receipt
    Verify(ReceiptVerifyArgs),
    /// Print the public key of this state home
    Key,
}

#[derive(Debug, Subcommand)]
pub(super) enum SessionVerb {
    /// Show all sessions that are kept here
    List(SessionListArgs),
    /// Show one session
    Show(SessionShowArgs),
    /// Show what happened: outages, refusals, decisions, starts and ends
    Log(SessionLogArgs),
    /// List and bring back files that onloop kept before calls of a session
    Undo(SessionUndoArgs),
    /// Record that a session reached its goal
    Done(SessionIdArgs),
    /// Stop the continuations of a session
    Stop(SessionIdArgs),
    /// Remove the record of a session, or of several
    Clear(SessionClearArgs),
}

/// Arguments of another program.
#[derive(Debug, Args)]
pub(super) struct FleetArgs {
    /// up, worker, status and their options
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "VERB")]
    pub(super) words: Vec<String>,
}

#[derive(Debug, Args)]
pub(super) struct CompletionsArgs {
    /// Shell
    #[arg(value_enum)]
    pub(super) shell: clap_complete::Shell,
}
