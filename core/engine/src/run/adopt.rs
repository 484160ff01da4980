//! A run is bound to the plan it began with. An edited workflow is shown and refused, or
//! adopted on request; it is never used silently.

use std::collections::BTreeSet;

use crate::error::{CommandError, ErrorKind};
use crate::run::begin::invalid_workflow;
use crate::state::store::{Paths, Store};
use onloop_documents::ledger;
use onloop_effect::{Durability, Expect, Failure, Io, Version};
use onloop_run::{Event, Run};
use onloop_syntax::diagnostic::Diagnostic;
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::{self as workflow, Plan, Step};

/// What a person wants where the workflow file was edited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edited {
    /// To be told.
    Told,
    /// To have the edited file used.
    Adopted,
    /// To continue with the plan that the run has.
    Left,
}

/// A workflow file as it is now.
struct Looked {
    path: String,
    bytes: Vec<u8>,
    version: Version,
    /// `None`: it has errors.
    plan: Option<Plan>,
    diagnostics: Vec<Diagnostic>,
}

/// How the workflow files stand beside the plan of a run.
enum Comparison {
    /// They say what the run does, or cannot be looked at.
    Same,
    /// The file at `from` was adopted, and the power went before it was copied.
    LeftOver { from: Looked, to: Looked },
    /// `file` was edited; `copy_to` is where the run works, where that is another file.
    Edited { file: Looked, copy_to: Option<Looked> },
}

/// Makes sure that the workflow file still says what the run does: the one where the run works, and
/// the one that the person started it with where that is another.
///
/// # Errors
///
/// A file was edited and no option says what is to become of that, or the file that is to be adopted has
/// errors.
pub(crate) async fn agree(
    io: &Io,
    store: &mut Store,
    edited: Edited,
    again: &str,
) -> Result<(), CommandError> {
    match compare(io, store.paths(), store.run(), edited == Edited::Adopted).await {
        Ok(Comparison::Same) if edited == Edited::Adopted => {
            io.note("Nothing was adopted: the workflow file says what the run does.").await;
            Ok(())
        }
        Ok(Comparison::Same) => Ok(()),
        Ok(Comparison::LeftOver { from, to }) => copy(io, &from, &to).await,
        Ok(Comparison::Edited { file, copy_to }) => {
            settle(io, store, (edited, again), &file, copy_to.as_ref()).await
        }
        Err(failure) if failure.is_interrupted() => Err(CommandError::interrupted()),
        Err(failure) => {
            // The record holds everything that the run needs.
            io.note(format!("warning: the workflow file is not looked at: {failure}")).await;
            Ok(())
        }
    }
}

/// What became of a workflow file of which a person has to say whether the run uses it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileEdit {
    /// Another plan.
    Valid,
    /// It has errors, so it cannot be adopted.
    Invalid,
}

impl FileEdit {
    /// The options of `resume` that are accepted.
    pub(crate) fn choices(self) -> &'static [&'static str] {
        match self {
            FileEdit::Valid => &["--adopt", "--no-adopt"],
            FileEdit::Invalid => &["--no-adopt"],
        }
    }
}

/// What a person has to decide about before the run continues; `None`: nothing.
pub(crate) async fn edit_of(io: &Io, paths: &Paths, run: &Run) -> Option<FileEdit> {
    match compare(io, paths, run, false).await {
        Ok(Comparison::Edited { file, copy_to: _ }) => match file.plan {
            None => Some(FileEdit::Invalid),
            Some(plan) => (!differences(run, &plan).is_empty()).then_some(FileEdit::Valid),
        },
        Ok(Comparison::Same | Comparison::LeftOver { .. }) | Err(_) => None,
    }
}

/// Warns the agent that drives a run by verbs of an edited workflow file: the run keeps its plan until a
/// person decides otherwise.
pub async fn warn_of_edit(io: &Io, store: &Store) {
    let run = store.run();
    if !run.is_driven_by_verbs() {
        return;
    }
    let id = &run.id;
    let fix = match edit_of(io, store.paths(), run).await {
        None => return,
        Some(FileEdit::Valid) => {
            format!("if a person wants the edited file to be used:\n    onloop resume {id} --adopt")
        }
        Some(FileEdit::Invalid) => "correct its errors, if it is to be used".to_owned(),
    };
    io.note(format!(
        "warning: the workflow file was edited since the run began; the run keeps its plan\n  \
         fix: {fix}"
    ))
    .await;
}

/// The file in the person's own checkout comes first: the other one could be an agent's edit. `asked`:
/// a person wants to adopt, so that one with errors counts as well.
async fn compare(io: &Io, paths: &Paths, run: &Run, asked: bool) -> Result<Comparison, Failure> {
    let place = &run.place;
    let (path, source) = (place.workflow_path.clone(), place.source_workflow_path.clone());
    if run.settings.plan_digest.is_empty() || run.fork_of.is_some() {
        // Records of older generations are not bound to a file, and a fork to the one of its run.
        return Ok(Comparison::Same);
    }
    let worked_on = look(io, &path).await?;
    let source = match source.filter(|source| *source != path) {
        // A person may have switched branches: nothing there is no edit.
        Some(source) => look(io, &source).await.ok(),
        None => None,
    };
    let known = match source {
        Some(_) => plans_of(io, paths).await,
        None => BTreeSet::new(),
    };
    let digest = &run.settings.plan_digest;
    let is_left_over = |plan: &Plan, source: &Looked| {
        let adopted = source.plan.as_ref().map(|plan| &plan.digest);
        known.contains(&plan.digest) && adopted == Some(digest)
    };
    let is_unchanged = worked_on.plan.as_ref().is_some_and(|plan| plan.digest == *digest);
    Ok(match (&worked_on.plan, source) {
        (_, Some(source))
            if is_new(&source, &known) || (asked && is_unchanged && source.plan.is_none()) =>
        {
            Comparison::Edited { file: source, copy_to: Some(worked_on) }
        }
        (_, _) if is_unchanged => Comparison::Same,
        (Some(plan), Some(source)) if is_left_over(plan, &source) => {
            Comparison::LeftOver { from: source, to: worked_on }
        }
        (Some(_) | None, _) => Comparison::Edited { file: worked_on, copy_to: None },
    })
}

async fn look(io: &Io, path: &str) -> Result<Looked, Failure> {
    let (bytes, version) = io.read(path, limits::WORKFLOW_BYTES as u64).await?;
    let parsed = workflow::parse(path, &bytes);
    let (plan, diagnostics) = (parsed.plan, parsed.diagnostics);
    Ok(Looked { path: path.to_owned(), bytes, version, plan, diagnostics })
}

/// Digests of every plan that the run has had.
async fn plans_of(io: &Io, paths: &Paths) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    if let Ok((bytes, _)) = io.read(&paths.ledger(), limits::RECORD_BYTES).await {
        let add = |_, run: &Run| {
            known.insert(run.settings.plan_digest.clone());
        };
        // A ledger that cannot be read has been refused before.
        let _ = ledger::walk(&bytes, u64::MAX, None, add);
    }
    known
}

/// Whether the file in the person's own checkout is none that the run has ever had. One with errors is
/// still being written.
fn is_new(source: &Looked, known: &BTreeSet<String>) -> bool {
    source.plan.as_ref().is_some_and(|plan| !known.contains(&plan.digest))
}

/// Puts what a person adopted where the run works.
async fn copy(io: &Io, from: &Looked, to: &Looked) -> Result<(), CommandError> {
    let expect = Expect::Version(to.version.clone());
    match io.write(&to.path, from.bytes.clone(), expect, Durability::Durable).await {
        Ok(_) => Ok(()),
        Err(failure) => {
            let (from, to) = (text::one_line(&from.path), text::one_line(&to.path));
            let what = format!("`{from}` could not be copied to `{to}`");
            Err(CommandError::from(failure).context(what))
        }
    }
}

/// Does with an edited file what the person wants; `again` are the options of their command, each
/// after a space. `copy_to` is where the run works, where the file
/// is another one.
async fn settle(
    io: &Io,
    store: &mut Store,
    (edited, again): (Edited, &str),
    file: &Looked,
    copy_to: Option<&Looked>,
) -> Result<(), CommandError> {
    let which = match copy_to {
        Some(_) => format!("the workflow file in your checkout, `{}`,", text::one_line(&file.path)),
        None => "the workflow file".to_owned(),
    };
    let id = &store.run().id;
    let keep = format!("onloop resume {id} --no-adopt{again}");
    let Some(plan) = &file.plan else {
        if edited == Edited::Left {
            io.note(format!("Not adopted: {which} was edited and has errors now")).await;
            return Ok(());
        }
        let invalid = invalid_workflow(io, &file.path, &file.bytes, &file.diagnostics);
        let kind = match edited {
            Edited::Adopted => ErrorKind::Usage,
            Edited::Told | Edited::Left => ErrorKind::Refused,
        };
        let what = "the workflow file was edited since the run began and has errors now";
        return Err(invalid
            .context(what)
            .of_kind(kind)
            .fix("correct the file")
            .fix_by("continue with the plan that the run has", keep));
    };
    let differences = differences(store.run(), plan);
    if differences.is_empty() {
        io.note("The workflow file was edited, but nothing that the run uses.").await;
        return Ok(());
    }
    let list: String = differences.iter().map(|line| format!("  {line}\n")).collect();
    match edited {
        Edited::Told => {
            let file = text::shell_word(&file.path);
            Err(CommandError::refused(format!("{which} was edited since the run began"))
                .listing(differences)
                .fix_by(
                    "use the edited file and keep the finished steps",
                    format!("onloop resume {id} --adopt{again}"),
                )
                .fix_by("continue with the plan that the run has", keep)
                .fix_by("start anew with it", format!("onloop run {file} --fresh{again}")))
        }
        Edited::Left => {
            io.note(format!("Not adopted: {which} was edited since the run began:\n{list}")).await;
            Ok(())
        }
        Edited::Adopted => {
            let file_name = text::one_line(&file.path);
            io.note(format!("Adopted the edited workflow `{file_name}`:\n{list}")).await;
            adopt(store, plan).await?;
            match copy_to {
                Some(to) => copy(io, file, to).await,
                None => Ok(()),
            }
        }
    }
}

/// Continues the run with `plan`, durably.
pub(crate) async fn adopt(store: &mut Store, plan: &Plan) -> Result<(), CommandError> {
    store.apply(Event::PlanAdopted(Box::new(plan.clone().into_parts())))?;
    Ok(store.commit().await?)
}

/// What differs between the plan that the run began with and the one in the file, a line each.
fn differences(run: &Run, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let mut whole = |name: &str, same: bool| {
        if !same {
            lines.push(format!("{name} changed"));
        }
    };
    whole("intent", run.settings.intent == plan.intent);
    whole("allow", run.settings.allow == plan.allow);
    whole("protect", run.settings.protect == plan.protect);
    whole("commit", run.settings.commit == plan.commit);
    whole("max_parallel", run.settings.max_parallel == plan.max_parallel);
    whole("setup", run.settings.setup == plan.setup);
    whole("confine", run.settings.confine == plan.confine);
    whole("network", run.settings.network == plan.network);
    let (rules, new) = (run.settings.evidence, plan.evidence);
    whole("require_checks", rules.require_checks == new.require_checks);
    whole("verify_clean", rules.verify_clean == new.verify_clean);
    whole("max_review_rounds", rules.max_review_rounds == new.max_review_rounds);
    whole("success_criteria", run.settings.success_criteria == plan.success_criteria);
    whole("risk_level", run.settings.risk == plan.risk);
    if let Some(written) = &run.settings.written {
        whole("auto_approve", written.auto_approve == plan.auto_approve);
        whole("budgets", written.budgets == plan.budgets);
    }
    let count = run.steps.len().max(plan.steps.len());
    for index in 0..count {
        let number = index + 1;
        match (run.steps.get(index).map(|record| &record.step), plan.steps.get(index)) {
            (Some(old), Some(new)) if old == new => {}
            (Some(old), Some(new)) => lines.push(changed(old, new)),
            (Some(old), None) => lines.push(format!("- Step {number}: {} (removed)", old.name)),
            (None, Some(new)) => lines.push(format!("+ Step {number}: {} (new)", new.name)),
            (None, None) => {}
        }
    }
    lines
}

fn changed(old: &Step, new: &Step) -> String {
    let parts = [
        ("name", old.name == new.name),
        ("action", old.action == new.action),
        ("script", old.script == new.script),
        ("loop", old.repeat == new.repeat),
        ("verify", old.checks == new.checks),
        ("gate", old.gate == new.gate),
        ("depends_on", old.depends_on == new.depends_on),
        ("baseline", old.baseline == new.baseline),
        ("may_change", old.may_change == new.may_change),
        ("network", old.network == new.network),
        ("model", old.model == new.model),
    ];
    let names: Vec<&str> = parts.iter().filter(|(_, same)| !same).map(|(name, _)| *name).collect();
    format!("~ Step {}: {} ({} changed)", new.number, new.name, names.join(", "))
}
