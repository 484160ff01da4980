//! `onloop plan`: a workflow file, drafted by an agent or converted from tasks, and approved by a
//! person.

mod candidate;
mod convert;
mod draft;
mod drafting;
mod source;
mod tasks;

use crate::completion::answer;
use crate::new::{exists, workflow_path, write_workflow};
use candidate::Candidate;
use onloop_effect::{Exit, Io};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::agent::AgentArgs;
use onloop_engine::lookup::project::{ProjectTests, find_tests};
use onloop_engine::lookup::select::{Fitting, open};
use onloop_engine::terminal::ask::is_attended;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::Task;
use source::Source;

/// Arguments of `onloop plan`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct PlanArgs {
    /// What to achieve, in a sentence [default: the title of --from]
    #[arg(required_unless_present_any = ["from", "from_run"])]
    pub intent: Option<String>,
    /// Tasks: a checklist, a folder of spec-kit or OpenSpec, or an issue
    #[arg(long, value_name = "FILE|DIR|ISSUE")]
    pub from: Option<String>,
    /// Convert the tasks of --from without an agent
    #[arg(long, requires = "from")]
    pub no_agent: bool,
    /// Write the workflow of a run, such as one of `onloop do`
    #[arg(long, value_name = "RUN", conflicts_with_all = ["intent", "from"])]
    pub from_run: Option<String>,
    /// File to write [default: in docs/plans, else here]
    #[arg(long, value_name = "FILE")]
    pub out: Option<String>,
    /// Write the draft without asking
    #[arg(long)]
    pub yes: bool,
    /// Draft anew although a draft of this plan is kept
    #[arg(long)]
    pub fresh: bool,
    /// Who drafts
    #[command(flatten)]
    pub agent: AgentArgs,
}

/// What is planned.
#[derive(Clone, Debug)]
struct Goal {
    /// What the work is for, on one line.
    intent: String,
    /// The tests of the project.
    tests: Option<ProjectTests>,
}

/// What a person decides about a draft.
enum Decision {
    /// Write it.
    Approve,
    /// Open it in an editor.
    Edit,
    /// The agent drafts again, with this note.
    SendBack(String),
    /// Keep it for later.
    Keep,
    /// Remove it.
    Discard,
}

/// `onloop plan`: writes a workflow file and prints its path. Without a terminal it asks nothing; in no
/// case does the workflow run.
///
/// # Errors
///
/// There is nothing to plan from, the agent cannot draft, or the file exists.
pub(crate) async fn plan(io: &Io, args: &PlanArgs) -> Result<Exit, CommandError> {
    if let Some(run) = &args.from_run {
        return write_out(io, args, run).await;
    }
    let given = args.intent.as_deref().map(|intent| text::one_line(intent).trim().to_owned());
    if given.as_ref().is_some_and(String::is_empty) {
        return Err(CommandError::usage("the goal is empty")
            .fix_by("say what is to be built", "onloop plan 'Add rate limiting to the API'"));
    }
    let source = match &args.from {
        Some(word) => Some(Source::read(io, word).await?),
        None => None,
    };
    let intent = given.or(source.as_ref().map(|source| source.intent.clone())).unwrap_or_default();
    let slug = Task { intent: intent.clone(), ..Task::default() }.slug();
    let out = match &args.out {
        Some(out) => out.clone(),
        None => workflow_path(io, &slug).await,
    };
    if io.stat(&out).await.is_ok() {
        return Err(exists(&out).fix("name another file with --out"));
    }
    if let Some(source) = &source {
        tell_source(io, source).await;
    }
    let goal = Goal { intent, tests: find_tests(io).await };
    match (&source, args.no_agent) {
        (Some(source), true) => convert_tasks(io, args, (&goal, source), &out).await,
        (source, _) => drafting::draft(io, args, (&goal, source.as_ref()), (&slug, &out)).await,
    }
}

/// Says how many tasks there are, and every line that is not one.
async fn tell_source(io: &Io, source: &Source) {
    let tasks = text::counted(source.tasks.len() as u64, "open task");
    io.note(format!("Tasks: {tasks} in {}", text::one_line(&source.origin))).await;
    if !source.left_out.is_empty() {
        let lines: Vec<String> =
            source.left_out.iter().map(|line| format!("  {}", text::ellipsis(line, 160))).collect();
        io.note(format!("Not made into steps:\n{}", lines.join("\n"))).await;
    }
}

/// Writes what the tasks say as a workflow, without an agent.
async fn convert_tasks(
    io: &Io,
    args: &PlanArgs,
    (goal, source): (&Goal, &Source),
    out: &str,
) -> Result<Exit, CommandError> {
    let bytes = convert::workflow(goal, source).into_bytes();
    let candidate = Candidate::untried(out, bytes, "no agent has drafted them");
    io.note(candidate.table()).await;
    let question = "[a]pprove [x] discard, Enter discards: ";
    match decide(io, args, question, false).await? {
        Decision::Approve => write(io, out, candidate.bytes).await,
        Decision::Edit | Decision::SendBack(_) | Decision::Keep | Decision::Discard => {
            io.note("Nothing was written.").await;
            Ok(Exit::Done)
        }
    }
}

/// Writes the workflow of a run as a file.
async fn write_out(io: &Io, args: &PlanArgs, run: &str) -> Result<Exit, CommandError> {
    let store = open(io, Some(run), Fitting::Latest).await?;
    let place = &store.run().place;
    let source = place.source_workflow_path.as_ref().unwrap_or(&place.workflow_path);
    let (bytes, _) = io.read(source, limits::WORKFLOW_BYTES as u64).await?;
    let out = match &args.out {
        Some(out) => out.clone(),
        None => workflow_path(io, &place.slug).await,
    };
    write(io, &out, bytes).await
}

/// Asks the person at the terminal; without one, or with `--yes`, the draft is approved.
async fn decide(
    io: &Io,
    args: &PlanArgs,
    question: &str,
    has_agent: bool,
) -> Result<Decision, CommandError> {
    if args.yes || !is_attended(io) {
        return Ok(Decision::Approve);
    }
    for _ in 0..limits::ANSWERS_PER_QUESTION {
        let Some(typed) = answer(io, question).await? else { break };
        match (typed.as_str(), has_agent) {
            ("a" | "approve", _) => return Ok(Decision::Approve),
            ("x" | "discard", _) => return Ok(Decision::Discard),
            ("e" | "edit", true) => return Ok(Decision::Edit),
            ("s" | "send back", true) => {
                match answer(io, "What should change? ").await?.filter(|note| !note.is_empty()) {
                    Some(note) => return Ok(Decision::SendBack(note)),
                    None => io.note("Nothing was sent back.").await,
                }
            }
            ("", _) => return Ok(Decision::Keep),
            (_, true) => io.note("Please answer a, e, s or x.").await,
            (_, false) => io.note("Please answer a or x.").await,
        }
    }
    Ok(Decision::Keep)
}

/// Writes an approved workflow and says what comes next.
async fn write(io: &Io, out: &str, bytes: Vec<u8>) -> Result<Exit, CommandError> {
    write_workflow(io, out, bytes).await?;
    let word = text::shell_word(out);
    io.note(format!("\nNext:\n  onloop lint {word}\n  onloop run {word}")).await;
    Ok(Exit::Done)
}
