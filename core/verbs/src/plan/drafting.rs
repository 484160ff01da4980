//! Drafting by an agent: an ordinary run in a worktree of its own, which is removed afterwards.

use std::collections::BTreeSet;

use super::candidate::Candidate;
use super::source::Source;
use super::{Decision, Goal, PlanArgs, decide, write};
use crate::completion::redo;
use crate::do_task::store_workflow;
use crate::finish::discard;
use crate::plan::draft;
use onloop_effect::{Exit, Io, ProcessSpec, ProcessStatus, Shell};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_engine::lookup::agent::{choose_agents, demand_present};
use onloop_engine::lookup::runs::{Found, find_all, is_of};
use onloop_engine::lookup::select::{Fitting, open};
use onloop_engine::run::decider::decider;
use onloop_engine::run::options::DriveArgs;
use onloop_engine::run::resume::{ResumeArgs, resume_run};
use onloop_engine::run::start::{RunArgs, run_workflow};
use onloop_engine::terminal::ask::is_attended;
use onloop_run::{Decider, DecisionChannel};
use onloop_syntax::limits;
use onloop_syntax::text;

/// The run that drafts.
struct Drafting<'d> {
    io: &'d Io,
    /// Its results are not those of `onloop plan`.
    inner: Io,
    args: &'d PlanArgs,
    drive: DriveArgs,
    source: Option<&'d Source>,
    /// The draft, at the top of the worktree.
    file: String,
    /// What it is to be called.
    out: &'d str,
    id: String,
}

/// Has an agent draft the workflow, hands findings back to it, and writes what a person approves.
///
/// # Errors
///
/// There is no commit or no agent, the run fails, or the draft has errors and there is no terminal.
pub(super) async fn draft(
    io: &Io,
    args: &PlanArgs,
    (goal, source): (&Goal, Option<&Source>),
    (slug, out): (&str, &str),
) -> Result<Exit, CommandError> {
    let root = demand_commit(io).await?;
    let agents = choose_agents(io, &args.agent, None).await?;
    demand_present(io, &agents).await?;
    let file = format!("hotl-workflow-{slug}.md");
    let bytes = draft::workflow(goal, source, &file).into_bytes();
    let workflow = store_workflow(io, &root, &format!("plan-{slug}"), bytes).await?;
    let drive = DriveArgs { agent: args.agent.clone(), is_part: true, ..DriveArgs::default() };
    let inner = io.with_results_as_notes();
    let id = match kept(io, &workflow).await.filter(|_| !args.fresh) {
        Some(id) => {
            io.note(format!("The draft of run {id} is kept from before (--fresh drafts anew)."))
                .await;
            id
        }
        None => {
            let run = RunArgs {
                file: Some(workflow),
                drive: drive.clone(),
                fresh: args.fresh,
                ..RunArgs::default()
            };
            let end = run_workflow(&inner, &run).await?;
            match (end.exit, end.id) {
                (Exit::Done, Some(id)) => id,
                (exit, _) => return Ok(exit),
            }
        }
    };
    let out = text::one_line(out);
    Drafting { io, inner, args, drive, source, file, out: &out, id }.settle().await
}

/// The top of the repository. Without a commit there is no throw-away worktree to draft in.
async fn demand_commit(io: &Io) -> Result<String, CommandError> {
    let survey = io.git_survey(&io.start().cwd, "main").await?;
    match survey.repository {
        Some(repository) if repository.head.is_some() => Ok(repository.root),
        Some(_) | None => {
            Err(CommandError::refused("an agent plans in a git repository with a commit")
                .because("it works in a worktree that is removed afterwards")
                .fix("make a commit here, or convert a list of tasks with --from and --no-agent"))
        }
    }
}

/// The completed run of this workflow whose draft no person has decided about.
async fn kept(io: &Io, workflow: &str) -> Option<String> {
    let workflow = io.canonical(workflow).await.ok()?;
    let stores = find_all(io).await.into_iter().filter_map(Found::into_store);
    let mut stores = stores.filter(|store| is_of(store.run(), &workflow));
    let store = stores.find(|store| store.run().may_be_handed_on())?;
    Some(store.run().id.clone())
}

impl Drafting<'_> {
    /// Improves the draft until it has no findings or the rounds are used up, then has a person decide.
    async fn settle(&self) -> Result<Exit, CommandError> {
        let (io, mut rounds, mut told) = (self.io, 0, Vec::new());
        let mut made = BTreeSet::new();
        loop {
            let root = self.root().await?;
            let at = (root.as_str(), self.file.as_str());
            let looked = Candidate::look(io, at, (self.out, self.source), &mut made).await;
            let candidate = looked.map_err(|error| match error.kind() {
                ErrorKind::Interrupted => error,
                _ => error.context("the draft cannot be read").fix("draft anew with --fresh"),
            })?;
            let findings = candidate.findings();
            let is_new = |words: &String| !told.contains(words);
            let due = findings.iter().filter(|found| !found.is_doubtful || is_new(&found.words));
            let due: Vec<String> = due.map(|found| found.words.clone()).collect();
            if !due.is_empty() && rounds < limits::PLAN_ROUNDS {
                rounds += 1;
                let count = text::counted(due.len() as u64, "finding");
                io.note(format!("\n{count} about the draft, sent back to the agent:")).await;
                for words in &due {
                    io.note(format!("  {words}")).await;
                }
                let reason = format!("onloop found: {}", due.join("; "));
                told.extend(due);
                if let Some(exit) = self.again(&reason, None).await? {
                    return Ok(exit);
                }
                continue;
            }
            self.show(&candidate).await;
            match self.decide(&candidate).await? {
                Decision::Approve if candidate.plan.is_none() => {
                    io.note("The draft has errors. Edit it, or send it back.").await;
                }
                Decision::Approve => {
                    let exit = write(io, self.out, candidate.bytes).await?;
                    self.discard().await;
                    return Ok(exit);
                }
                Decision::Edit => {
                    self.edit(&root).await?;
                    rounds = limits::PLAN_ROUNDS;
                }
                Decision::SendBack(note) => {
                    (rounds, told) = (0, Vec::new());
                    let by = decider(io, DecisionChannel::Terminal);
                    if let Some(exit) = self.again(&note, Some(by)).await? {
                        return Ok(exit);
                    }
                }
                Decision::Keep => {
                    io.note(format!(
                        "The draft stays in {root}/{}.\nThe same command continues with it.",
                        self.file
                    ))
                    .await;
                    return Ok(Exit::Paused);
                }
                Decision::Discard => {
                    self.discard().await;
                    io.note("Nothing was written.").await;
                    return Ok(Exit::Done);
                }
            }
        }
    }

    /// The folder that the run works in.
    async fn root(&self) -> Result<String, CommandError> {
        let store = open(self.io, Some(&self.id), Fitting::Latest).await?;
        Ok(store.run().place.execution_root.clone())
    }

    /// Has the agent draft again. Returns how the run ended, unless there is another draft.
    async fn again(&self, why: &str, by: Option<Decider>) -> Result<Option<Exit>, CommandError> {
        let store = open(self.io, Some(&self.id), Fitting::Latest).await?;
        redo(self.io, store, why, by).await?;
        let (run, drive) = (Some(self.id.clone()).into(), self.drive.clone());
        let args = ResumeArgs { run, drive, ..ResumeArgs::default() };
        let end = resume_run(&self.inner, &args).await?;
        Ok((end.exit != Exit::Done).then_some(end.exit))
    }

    /// Shows the steps, or the errors that keep them from being steps.
    async fn show(&self, candidate: &Candidate) {
        let errors = candidate.errors(self.io, self.out);
        let shown = if errors.is_empty() { candidate.table() } else { errors };
        self.io.note(shown).await;
    }

    /// What a person decides. Without a person, a draft with errors is not written.
    async fn decide(&self, candidate: &Candidate) -> Result<Decision, CommandError> {
        let is_asked = !self.args.yes && is_attended(self.io);
        if candidate.plan.is_none() && !is_asked {
            let id = &self.id;
            return Err(CommandError::failed("the draft still has errors, and was not written")
                .because(format!("it stays in the worktree of run {id}"))
                .fix_by("see what the agent wrote", format!("onloop diff {id}"))
                .fix("then plan again with --fresh, or with another --agent"));
        }
        let question = "[a]pprove [e]dit [s]end back [x] discard, Enter keeps the draft: ";
        decide(self.io, self.args, question, true).await
    }

    /// Opens the draft in the person's editor.
    async fn edit(&self, root: &str) -> Result<(), CommandError> {
        let editor = ["VISUAL", "EDITOR"].into_iter().find_map(|name| self.io.env(name));
        let editor = editor.filter(|editor| !editor.trim().is_empty()).unwrap_or("vi");
        let path = text::shell_word(&format!("{root}/{}", self.file));
        let spec = ProcessSpec::shell(Shell::Sh, format!("{editor} {path}"));
        let spec = ProcessSpec { timeout_ms: None, interactive: true, ..spec };
        let end = self.io.process(spec.in_folder(self.io.start().cwd.clone())).await?;
        match end.status {
            ProcessStatus::Exited(0) => {}
            ProcessStatus::Interrupted => return Err(CommandError::interrupted()),
            ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
                self.io.note(format!("warning: `{editor}` failed; the draft is as it is")).await;
            }
        }
        Ok(())
    }

    /// Removes the worktree and branch of the run. The plan does not depend on it.
    async fn discard(&self) {
        if let Err(error) = discard(self.io, &self.id).await {
            error.context("warning: the draft's worktree stays").report(self.io).await;
        }
    }
}
