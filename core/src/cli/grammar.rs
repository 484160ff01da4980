//! What can be said on the command line.

use clap::{Args, Parser, Subcommand};

use onloop_servers::watch::WatchArgs;
use onloop_servers::web::WebArgs;
use onloop_verbs::auto::AutoArgs;
use onloop_verbs::permit;
use onloop_verbs::{
    AbandonArgs, AdoptArgs, ApproveArgs, CompileArgs, ConfineArgs, DiffArgs, DoctorArgs, FetchArgs,
    FinalizeArgs, FinishArgs, GateArgs, HookArgs, InitArgs, InstallArgs, LintArgs, ListArgs,
    LocateArgs, NewArgs, NextArgs, NormalizeArgs, NotifyArgs, PrepareArgs, PushArgs, ReceiptArgs,
    ReceiptVerifyArgs, RelocateArgs, ReplayArgs, ReportArgs, ResumeArgs, RunArgs, SchemaArgs,
    SessionClearArgs, SessionIdArgs, SessionListArgs, SessionShowArgs, StatusArgs, StepArgs,
    SummaryArgs, TranscriptArgs, UndoArgs,
};

/// A human-on-the-loop runtime for coding agents.
///
/// Runs workflow files step by step: an agent acts, onloop verifies, retries,
/// asks at gates and keeps the record.
#[derive(Debug, Parser)]
#[command(
    name = "onloop",
    verbatim_doc_comment,
    version,
    propagate_version = false,
    disable_help_subcommand = true,
    disable_help_flag = true,
    max_term_width = 90,
    after_help = "Examples:
  onloop new add-rate-limit --intent 'Limit requests per user'
  onloop lint hotl-workflow-add-rate-limit.md
  onloop run hotl-workflow-add-rate-limit.md --agent claude
  onloop status
  onloop resume

Exit codes: 0 done, 1 failed, 2 usage or invalid file, 3 paused for a human,
4 refused by the host, 70 a bug in onloop, 130 interrupted."
)]
pub(super) struct Cli {
    #[command(subcommand)]
    pub(super) verb: Verb,
    // One help instead of a short and a long one: the short one has lines that do not fit.
    /// Print help
    #[arg(short, long, global = true, action = clap::ArgAction::HelpLong)]
    pub(super) help: Option<bool>,
}

#[derive(Debug, Subcommand)]
pub(super) enum Verb {
    /// Run a workflow file until it is completed, blocked or paused
    #[command(after_help = "Examples:
  onloop run                                   the only workflow file here
  onloop run wf.md --agent codex               let Codex act
  onloop run wf.md --agent claude,codex        Codex where Claude is not served
  onloop run wf.md --max-wait 12h              wait longer for a limit to end
  onloop run wf.md --agent-command './act.sh'  let any command act
  onloop run wf.md --mode none                 work here, leave git alone
  onloop run wf.md --auto-approve --review claude
  onloop run wf.md --simulate                  what would happen")]
    Run(RunArgs),
    /// Continue an interrupted, paused or blocked run
    #[command(after_help = "Examples:
  onloop resume                               the only unfinished run
  onloop resume hotl-workflow-add-auth.md     the latest run of a file
  onloop resume --interrupted redo            let the agent act again
  onloop resume add-auth-20260320T212315Z --adopt")]
    Resume(ResumeArgs),
    /// Check workflow files and show what is wrong where
    #[command(after_help = "Examples:
  onloop lint                         the only workflow file here
  onloop lint hotl-workflow-*.md      these files
  onloop lint --fix --deny-warnings   fix what can be fixed, fail on the rest")]
    Lint(LintArgs),
    /// Write a workflow file that lints clean
    #[command(after_help = "Examples:
  onloop new add-rate-limit --intent 'Limit requests per user'
  onloop new login-loop --template bugfix")]
    New(NewArgs),
    /// Print a workflow file as `hotl.workflow/v1` JSON
    #[command(after_help = "Examples:
  onloop normalize hotl-workflow-add-auth.md
  onloop normalize | jq .steps")]
    Normalize(NormalizeArgs),
    /// Make a workflow of GitHub Actions out of a workflow file
    #[command(
        after_help = "A job goes up to the next gate that a person decides; a gate is a job whose
environment has required reviewers. The run travels from job to job below
refs/onloop/ of the repository.

Examples:
  onloop compile wf.md --to github --out .github/workflows/onloop-wf.yml
  onloop compile wf.md --to github --agent claude --secret ANTHROPIC_API_KEY
  onloop compile wf.md --to github --agent codex --install ./ci/codex.sh"
    )]
    Compile(CompileArgs),
    /// Show unfinished runs here and in worktrees, or one run
    #[command(after_help = "Examples:
  onloop status                              what is unfinished
  onloop status add-auth-20260320T212315Z    every step of one run
  onloop status --all --json")]
    Status(StatusArgs),
    /// Show all runs, finished ones too
    #[command(after_help = "Examples:
  onloop list
  onloop list --json
  onloop list --everywhere    of every folder on this machine")]
    List(ListArgs),
    /// Watch all runs and sessions full screen, and decide what waits
    #[command(
        after_help = "Press ? for the keys. Needs a terminal; for one that cannot draw there are
`onloop status` and `onloop list --everywhere`.

Examples:
  onloop watch                               everything on this machine
  onloop watch add-auth-20260320T212315Z     one run"
    )]
    Watch(WatchArgs),
    /// Say what should happen now, and the command that does it
    #[command(after_help = "Examples:
  onloop next
  onloop next --json")]
    Next(NextArgs),
    /// Print the report of a run
    #[command(after_help = "Examples:
  onloop report add-auth-20260320T212315Z
  onloop report add-auth-20260320T212315Z --html --out report.html")]
    Report(ReportArgs),
    /// Print the summary of a run
    #[command(after_help = "Examples:
  onloop summary add-auth-20260320T212315Z
  onloop summary add-auth-20260320T212315Z --platform codex")]
    Summary(SummaryArgs),
    /// Record or verify one step of a run that an agent drives itself
    #[command(after_help = "Examples:
  onloop step 1 start
  onloop step 1 verify
  onloop step 1 block --reason 'no access to the database'
  onloop step 1 reopen --reason 'the database is there now'")]
    Step(StepArgs),
    /// Record the decision at a gate or a human review
    #[command(after_help = "Examples:
  onloop gate 4 approved --run-id add-auth-20260320T212315Z
  onloop gate 4 rejected")]
    Gate(GateArgs),
    /// Begin a run that an agent drives itself; prints the run id
    #[command(after_help = "Examples:
  onloop init hotl-workflow-add-auth.md
  onloop init hotl-workflow-add-auth.md --branch hotl/add-auth")]
    Init(InitArgs),
    /// Prepare branch and worktree for such a run; prints JSON
    #[command(after_help = "Examples:
  onloop prepare hotl-workflow-add-auth.md
  onloop prepare hotl-workflow-add-auth.md --mode branch --on-existing reuse")]
    Prepare(PrepareArgs),
    /// Find runs; prints a JSON array
    #[command(after_help = "Examples:
  onloop locate
  onloop locate --workflow hotl-workflow-add-auth.md --all")]
    Locate(LocateArgs),
    /// Repeat the checks, end such a run and print its summary
    #[command(after_help = "Examples:
  onloop finalize
  onloop finalize --run-id add-auth-20260320T212315Z")]
    Finalize(FinalizeArgs),
    /// Keep, merge, publish or discard the work of an ended run
    #[command(after_help = "Examples:
  onloop finish add-auth-20260320T212315Z keep --notes 'merge by hand'
  onloop finish add-auth-20260320T212315Z merge --target-branch main
  onloop finish add-auth-20260320T212315Z publish --create-pr
  onloop finish add-auth-20260320T212315Z discard --confirm discard")]
    Finish(FinishArgs),
    /// Show what a run, or one of its steps, has changed
    #[command(after_help = "Examples:
  onloop diff add-auth-20260320T212315Z            the whole run
  onloop diff add-auth-20260320T212315Z 2 --stat   its second step")]
    Diff(DiffArgs),
    /// Take the files back to how they were after a step
    #[command(
        after_help = "What is there now is kept first and can be brought back. Branch and index
stay as they are.

Examples:
  onloop undo add-auth-20260320T212315Z 2     as they were after step 2
  onloop undo add-auth-20260320T212315Z 0     as they were at the beginning"
    )]
    Undo(UndoArgs),
    /// Print what the record of a run proves, as JSON or signed
    #[command(
        args_conflicts_with_subcommands = true,
        subcommand_negates_reqs = true,
        after_help = "Examples:
  onloop receipt add-auth-20260320T212315Z > receipt.json
  onloop receipt add-auth-20260320T212315Z --format intoto --out add-auth.dsse
  onloop receipt key > onloop.pub                     for the verifier
  onloop receipt verify add-auth.dsse --key onloop.pub"
    )]
    Receipt {
        /// What to do instead
        #[command(subcommand)]
        verb: Option<ReceiptVerb>,
        #[command(flatten)]
        args: Option<ReceiptArgs>,
    },
    /// Take over a record that came with a clone or from an older onloop
    #[command(after_help = "Shows every command that the run would start, and asks. Before that,
onloop runs no command of the untrusted record.

Examples:
  onloop adopt add-auth-20260320T212315Z
  onloop adopt add-auth-20260320T212315Z --yes   unasked")]
    Adopt(AdoptArgs),
    /// Say where the checkout of a run was moved to
    #[command(after_help = "Examples:
  onloop relocate add-auth-20260320T212315Z --to ~/src/shop")]
    Relocate(RelocateArgs),
    /// Push a run to a remote, to resume it on another machine
    #[command(
        after_help = "Its record and its checkpoints go below refs/onloop/ of the repository, all
of them or none. Everyone with read access to the repository can read them.

Examples:
  onloop push add-auth-20260320T212315Z
  onloop push add-auth-20260320T212315Z --remote backup"
    )]
    Push(PushArgs),
    /// Fetch a run that was pushed, and put it to work here
    #[command(after_help = "Shows every command that the run would start, and asks. It works in a
worktree of its own here, with the files of its last checkpoint.

Examples:
  onloop fetch add-auth-20260320T212315Z
  onloop fetch add-auth-20260320T212315Z --yes   unasked")]
    Fetch(FetchArgs),
    /// Give up a run; its record and its work are kept
    #[command(after_help = "Examples:
  onloop abandon add-auth-20260320T212315Z --reason 'the plan was wrong'")]
    Abandon(AbandonArgs),
    /// Show or test the channels that receive notifications
    #[command(after_help = "Examples:
  onloop notify           who is set up
  onloop notify --test    send each of them a notice")]
    Notify(NotifyArgs),
    /// Run one command that can touch this checkout and little else
    #[command(
        after_help = "Keys and tokens, other checkouts' .env files, agents, buses and daemons are
out of its reach; it writes this checkout, its own TMPDIR and build caches.
Exits as the command does, and with 4 where that cannot be enforced; whether
it can, `onloop doctor confine` tries.

Examples:
  onloop confine -- cargo test
  onloop confine --network none -- ./build.sh
  onloop confine --network loopback -- npm test    servers of its own"
    )]
    Confine(ConfineArgs),
    /// Route between a planner and a loop agent until the work is done
    #[command(after_help = "Examples:
  onloop auto 'add a rate limit to the API' --agent claude
  onloop auto --max-cycles 3 --loop-runner onloop
  onloop auto route       where a run would go, without starting it")]
    Auto(Box<AutoArgs>),
    /// Say whether a tool call of an agent may go ahead, and why
    Permit {
        /// What to do
        #[command(subcommand)]
        verb: PermitVerb,
    },
    /// Answer one event of an agent host, from standard input
    #[command(after_help = "Hosts call this, people do not: one event as JSON in, the host's
answer out, nothing where there is no opinion. It always ends with 0.

Examples:
  onloop hook claude < event.json
  onloop hook codex --timeout 60 < event.json")]
    Hook(HookArgs),
    /// Show and stop unattended agent sessions
    Session {
        /// What to do
        #[command(subcommand)]
        verb: SessionVerb,
    },
    /// List calls that wait for a person, or answer one
    #[command(after_help = "Examples:
  onloop approve                              what waits
  onloop approve 1f2e3d4c                     let it run, once
  onloop approve 1f2e3d4c --deny --resume     deny it and continue the session
  onloop approve --telegram --resume          ask about all in the chat")]
    Approve(ApproveArgs),
    /// Put hooks, skills and commands into an agent host
    #[command(after_help = "Examples:
  onloop install claude                   for all your sessions
  onloop install codex --scope project    for this repository
  onloop install cursor --dry-run         show what would change

Other people's entries, comments and spaces in a shared file stay as they are.")]
    Install(InstallArgs),
    /// Take them out again; without --scope, everywhere
    #[command(after_help = "Examples:
  onloop uninstall claude
  onloop uninstall codex --scope project --dry-run")]
    Uninstall(InstallArgs),
    /// Show what is installed where, and try every hook
    #[command(
        after_help = "Each hook gets a call that must be refused; nothing is run. Exits with 1
when a hook would not protect anything, and says what to do.

Examples:
  onloop doctor
  onloop doctor claude
  onloop doctor confine    whether commands can be confined here"
    )]
    Doctor(DoctorArgs),
    /// Serve these verbs as tools of the Model Context Protocol
    #[command(after_help = "For agent hosts: messages on standard input and output, until the
input ends. `onloop install HOST` configures it.

Examples:
  claude mcp add onloop -- onloop mcp               Claude Code, without hooks
  codex mcp add onloop -- onloop mcp                Codex
  npx @modelcontextprotocol/inspector onloop mcp    try it by hand")]
    Mcp,
    /// Serve workflow files to editors over the Language Server Protocol
    #[command(
        after_help = "An editor starts it and ends it. Messages come on standard input, answers
go to standard output. No file is read or written. docs/lsp.md has the
set-up for Neovim, Helix, Emacs and Sublime Text.

Examples:
  onloop lsp    the command that an editor is configured with"
    )]
    Lsp,
    /// Show all runs in a browser and decide at their gates there
    #[command(
        after_help = "Prints a link that lets one browser in. It is served on this machine alone,
also to a phone through a tunnel or a proxy of your own.

Examples:
  onloop web                      any free port
  onloop web --open               and open it
  onloop web --port 8787          for a tunnel: ssh -L 8787:127.0.0.1:8787 HOST
  onloop web --port 8787 --proxy https://box.example.ts.net"
    )]
    Web(WebArgs),
    /// Conduct runs on many machines, by the program onloop-fleet
    #[command(
        disable_help_flag = true,
        after_help = "The program `onloop-fleet` does it, from beside this one or from PATH.

Examples:
  onloop fleet up                                  a server and one worker here
  onloop fleet worker --server URL --repos DIR     one more machine
  onloop fleet status                              runs, workers, what waits"
    )]
    Fleet(FleetArgs),
    /// Repeat a recorded call and compare its requests
    #[command(
        after_help = "Nothing is performed. Exits with 0 when every request is as recorded and
with 1 when one differs.

Examples:
  ONLOOP_TRACE=trace.jsonl onloop status    record
  onloop replay trace.jsonl                 compare"
    )]
    Replay(ReplayArgs),
    /// Read what an agent's client wrote, from standard input
    #[command(after_help = "Examples:
  onloop transcript claude < 1-1.jsonl           for people
  onloop transcript codex --json < 1-1.jsonl     one event a line, and the turn")]
    Transcript(TranscriptArgs),
    /// Print the JSON Schema of a document
    #[command(after_help = "Examples:
  onloop schema workflow > workflow.schema.json")]
    Schema(SchemaArgs),
    /// Print a completion script for a shell
    #[command(after_help = "Examples:
  onloop completions bash > ~/.local/share/bash-completion/completions/onloop
  onloop completions fish > ~/.config/fish/completions/onloop.fish")]
    Completions(CompletionsArgs),
    /// Print the manual page
    #[command(after_help = "Examples:
  onloop man | man -l -")]
    Man,
}

#[derive(Debug, Subcommand)]
pub(super) enum PermitVerb {
    /// Show how a call is understood, what is decided and by which rule
    #[command(after_help = "Examples:
  onloop permit explain 'git push --force'
  onloop permit explain Write '{\"file_path\": \"/etc/hosts\"}' --json")]
    Explain(permit::ExplainArgs),
    /// Judge calls, one JSON object a line, from standard input
    #[command(after_help = "Examples:
  onloop permit batch < calls.jsonl")]
    Batch(permit::BatchArgs),
    /// Let the project's own file allow things, as it is now
    #[command(after_help = "Examples:
  onloop permit trust
  onloop permit trust --revoke")]
    Trust(permit::TrustArgs),
}

#[derive(Debug, Subcommand)]
pub(super) enum ReceiptVerb {
    /// Tell whether a signed receipt is as it was signed
    #[command(after_help = "Ends with 0 where it is, else with 1 and why.

Examples:
  onloop receipt verify add-auth.dsse
  onloop receipt verify add-auth.dsse --key onloop.pub")]
    Verify(ReceiptVerifyArgs),
    /// Print the public key of this state home
    #[command(after_help = "Examples:
  onloop receipt key > onloop.pub")]
    Key,
}

#[derive(Debug, Subcommand)]
pub(super) enum SessionVerb {
    /// Show all sessions that are kept here
    #[command(after_help = "Examples:
  onloop session list
  onloop session list --everywhere    of every folder, with what happened
  onloop session list --json")]
    List(SessionListArgs),
    /// Show one session
    #[command(after_help = "Examples:
  onloop session show 4f0c1f0e-demo")]
    Show(SessionShowArgs),
    /// Say that a session has reached its goal
    #[command(after_help = "Examples:
  onloop session done 4f0c1f0e-demo")]
    Done(SessionIdArgs),
    /// Stop sending an agent on
    #[command(after_help = "Examples:
  onloop session stop 4f0c1f0e-demo")]
    Stop(SessionIdArgs),
    /// Forget a session, or many
    #[command(after_help = "Examples:
  onloop session clear 4f0c1f0e-demo
  onloop session clear --older-than 7d --everywhere")]
    Clear(SessionClearArgs),
}

/// What is for another program to read.
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
