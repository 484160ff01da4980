//! Beginning a run: the workflow file becomes a plan, the plan a record.

use std::collections::BTreeSet;

use crate::error::{CommandError, ErrorKind};
use crate::lookup::runs::copies;
use crate::run::decider::decider;
use crate::state::store::{Paths, StateHome, Store, StoreError, refuse_state_links};
use onloop_documents::ledger::Origin;
use onloop_effect::{Failure, FailureKind, Io};
use onloop_run::preflight::Prepared;
use onloop_run::{Beginning, DecisionChannel, Place, Run, unique_id};
use onloop_syntax::diagnostic::{Diagnostic, Severity, human};
use onloop_syntax::limits;
use onloop_syntax::text;
use onloop_workflow::{self as workflow, Check, FileClass, Plan};

/// Refuses a plan with a check that is written for another operating system, before anything is done
/// for it.
///
/// # Errors
///
/// The first such check.
pub fn demand_platform(io: &Io, plan: &Plan) -> Result<(), CommandError> {
    let checks =
        plan.steps.iter().flat_map(|step| step.checks.iter().map(move |check| (step, check)));
    for (step, check) in checks {
        let Check::Shell(shell) = check else { continue };
        if let Some(why) = shell.not_for(io.start().system) {
            let number = step.number;
            return Err(CommandError::refused(format!("step {number} cannot be checked here"))
                .because(format!("`{}`: {why}", text::one_line(&shell.command)))
                .fix("run it on a machine with that system"));
        }
    }
    Ok(())
}

/// Reads and checks the file; errors are shown with their source lines, warnings counted.
pub async fn read_plan(io: &Io, file: &str) -> Result<Plan, CommandError> {
    let (plan, warnings) = parse_plan(io, file).await?;
    if warnings > 0 {
        let count = text::counted(warnings as u64, "warning");
        let word = text::shell_word(file);
        io.note(format!("{count}: see `onloop lint {word}`")).await;
    }
    Ok(plan)
}

/// The same for a file whose warnings were counted before; how many there are.
pub(super) async fn parse_plan(io: &Io, file: &str) -> Result<(Plan, usize), CommandError> {
    let bytes = match io.read(file, limits::WORKFLOW_BYTES as u64).await {
        Ok((bytes, _)) => bytes,
        Err(failure) => {
            let is_usage = matches!(
                failure.kind,
                FailureKind::NotFound | FailureKind::TooLarge | FailureKind::Invalid
            );
            let failure_kind = failure.kind;
            let kind = if is_usage { ErrorKind::Usage } else { ErrorKind::Refused };
            let error = CommandError::from(failure).of_kind(kind);
            return Err(match failure_kind {
                FailureKind::NotFound => error.fix_by("write one", "onloop new NAME"),
                _ => error,
            });
        }
    };
    // Behind frontmatter, the findings say more.
    if workflow::classify(file, &bytes) == FileClass::Other && !bytes.starts_with(b"---") {
        let what = format!("`{}` is not a workflow file", text::one_line(file));
        let error = CommandError::usage(what).fix_by("write one", "onloop new NAME");
        return Err(match file.ends_with(".md") {
            true => error.fix_by("or make one of its list of tasks", tasks_of(file)),
            false => error,
        });
    }
    let parsed = workflow::parse(file, &bytes);
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let errors = parsed.diagnostics.iter().filter(is_error).count();
    let warnings = parsed.diagnostics.len() - errors;
    match parsed.plan {
        Some(plan) => Ok((plan, warnings)),
        None => Err(invalid_workflow(io, file, &bytes, &parsed.diagnostics)),
    }
}

/// The command that makes a workflow of the tasks in a file.
fn tasks_of(file: &str) -> String {
    format!("onloop plan --from {}", text::shell_word(file))
}

/// The errors of a workflow file, with their source lines.
pub fn invalid_workflow(
    io: &Io,
    file: &str,
    bytes: &[u8],
    diagnostics: &[Diagnostic],
) -> CommandError {
    let is_error = |d: &&Diagnostic| d.severity == Severity::Error;
    let errors: Vec<_> = diagnostics.iter().filter(is_error).cloned().collect();
    let terminal = io.start().terminal;
    let columns = usize::from(terminal.columns);
    let count = text::counted(errors.len() as u64, "error");
    CommandError::usage(format!("`{}` has {count}", text::one_line(file)))
        .with_findings(human::render(file, bytes, &errors, terminal.stderr, columns))
}

/// Writes the record of a run that begins in `prepared`, with what `adapt` makes of its
/// beginning, and holds its driver lock; `wanted` is the id that it is to have.
pub async fn create(
    io: &Io,
    plan: &Plan,
    prepared: &Prepared,
    wanted: Option<&str>,
    adapt: impl Fn(Beginning) -> Beginning,
) -> Result<Store, CommandError> {
    let root = &prepared.execution_root;
    // A untrusted record of that name would be overwritten by our copy.
    let mut taken: BTreeSet<String> = copies(io, root).await.into_iter().collect();
    let unwritten = |error: StoreError| {
        CommandError::from(error).context("the record of the run could not be written")
    };
    let home = usable_home(io, prepared).await.map_err(|failure| unwritten(failure.into()))?;
    let by = decider(io, DecisionChannel::Command);
    // Another process may take the id between the look and the write: try the next one.
    for _ in 0..100 {
        let id = match wanted {
            Some(wanted) if taken.contains(wanted) => return Err(taken_id(wanted)),
            Some(wanted) => wanted.to_owned(),
            None => unique_id(&plan.slug, io.now(), |id| taken.contains(id)),
        };
        let driver = Paths::new(&home, root, &id).driver_lock();
        if let Err(failure) = io.lock_to_drive(&driver, &id).await {
            if failure.is_busy() {
                taken.insert(id);
                continue;
            }
            return Err(unwritten(failure.into()));
        }
        let run = Run::begin(plan, adapt(beginning(io, prepared, plan, id.clone())));
        match Store::create(io, run, &Origin::Begun, Some(&by)).await {
            Ok(mut store) => {
                // Ticks of an earlier run say nothing about this one.
                if let Some(warning) = store.repair_boxes().await.warning {
                    io.note(warning).await;
                }
                return Ok(store);
            }
            Err(StoreError::Failed(failure)) if failure.is_exists() => {
                let _ = io.unlock(&driver).await;
                taken.insert(id);
            }
            Err(error) => return Err(unwritten(error)),
        }
    }
    Err(CommandError::refused("a hundred runs of this workflow began in this second")
        .fix("wait a second, then try again"))
}

fn taken_id(id: &str) -> CommandError {
    CommandError::refused(format!("a run `{id}` exists already"))
        .fix_by("look at it", format!("onloop status {id}"))
}

/// The state home, where neither it nor the copies of its records would be misplaced.
async fn usable_home(io: &Io, prepared: &Prepared) -> Result<StateHome, Failure> {
    let home = StateHome::of(io)?;
    let roots = prepared.repo_root.iter().chain([&prepared.execution_root]);
    for root in roots {
        home.demand_outside(io, root).await?;
    }
    refuse_state_links(io, &prepared.execution_root).await?;
    Ok(home)
}

/// What a run begins with in `prepared`.
pub(crate) fn beginning(io: &Io, prepared: &Prepared, plan: &Plan, id: String) -> Beginning {
    Beginning {
        place: Place {
            workflow_path: prepared.workflow_path.clone(),
            source_workflow_path: Some(prepared.source_workflow_path.clone()),
            source_branch: prepared.source_branch.clone(),
            source_head: prepared.source_head.clone(),
            branch: prepared.branch.clone(),
            repo_root: prepared.repo_root.clone(),
            execution_root: prepared.execution_root.clone(),
            worktree_path: prepared.worktree_path.clone(),
            executor_mode: prepared.mode.as_str().to_owned(),
            driver: None,
            host: None,
            slug: plan.slug.clone(),
            report_path: format!(".hotl/reports/{id}.md"),
        },
        id,
        at: io.now().whole_seconds(),
        auto_approve: false,
        reverify: true,
        review_agent: plan.review.clone(),
        issue: None,
        issue_text: String::new(),
        pr_repairs: None,
    }
}
