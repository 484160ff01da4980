//! A run is bound to the plan it began with. An edited workflow is shown and refused, or
//! adopted on request; it is never used silently.

use crate::diagnostic::{self, Severity};
use crate::effect::{Exit, Io};
use crate::engine::store::Store;
use crate::limits;
use crate::run::{Adoption, Event, Run, Written};
use crate::text;
use crate::workflow::{self, Plan, Step};

/// Makes sure that the workflow file still says what the run does.
///
/// # Errors
///
/// [`Exit::Refused`] when the file was edited and `adopt` is not given, [`Exit::Usage`] when
/// the file that is to be adopted has errors. Both have been explained.
pub(crate) async fn agree(io: &Io, store: &mut Store, adopt: bool) -> Result<(), Exit> {
    let run = store.run();
    if run.terms.plan_digest.is_empty() {
        // Records of older generations are not bound to a file.
        return Ok(());
    }
    let path = run.place.workflow_path.clone();
    let bytes = match io.read(&path, limits::WORKFLOW_BYTES as u64).await {
        Ok((bytes, _)) => bytes,
        Err(failure) if failure.is_interrupted() => return Err(Exit::Interrupted),
        Err(failure) => {
            // The record holds everything that the run needs.
            io.note(format!("warning: the workflow file is not looked at: {failure}")).await;
            return Ok(());
        }
    };
    let parsed = workflow::parse(&path, &bytes);
    let Some(plan) = parsed.plan else {
        let is_error = |d: &&diagnostic::Diagnostic| d.severity == Severity::Error;
        let errors: Vec<_> = parsed.diagnostics.iter().filter(is_error).cloned().collect();
        let terminal = io.start().terminal;
        let columns = usize::from(terminal.columns);
        io.note(diagnostic::human::render(&path, &bytes, &errors, terminal.stderr, columns)).await;
        io.note("error: the workflow file was edited since the run began and has errors now").await;
        return Err(if adopt { Exit::Usage } else { Exit::Refused });
    };
    if plan.digest == run.terms.plan_digest {
        return Ok(());
    }
    let differences = differences(run, &plan);
    if differences.is_empty() {
        io.note("The workflow file was edited, but nothing that the run uses.").await;
        return Ok(());
    }
    let list: String = differences.iter().map(|line| format!("  {line}\n")).collect();
    if !adopt {
        let (id, file) = (run.id.clone(), text::shell_word(&path));
        io.note(format!(
            "error: the workflow file was edited since the run began:\n{list}\
             Use the edited file and keep the finished steps:\n  onloop resume {id} --adopt\n\
             Or start anew with it:\n  onloop run {file} --fresh"
        ))
        .await;
        return Err(Exit::Refused);
    }
    io.note(format!("Adopted the edited workflow:\n{list}")).await;
    let written = Written::of(&plan);
    let plan = plan.into_parts();
    let adoption = Adoption {
        written,
        intent: plan.intent,
        success_criteria: plan.success_criteria,
        risk: plan.risk,
        allow: plan.allow,
        protect: plan.protect,
        commit: plan.commit,
        setup: plan.setup,
        confine: plan.confine,
        steps: plan.steps,
        digest: plan.digest,
    };
    if let Err(refusal) = store.apply(Event::PlanAdopted(Box::new(adoption))) {
        io.note(format!("error: {refusal}")).await;
        return Err(Exit::Refused);
    }
    Ok(())
}

/// What differs between the plan that the run began with and the one in the file, a line each.
fn differences(run: &Run, plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    let mut whole = |name: &str, same: bool| {
        if !same {
            lines.push(format!("{name} changed"));
        }
    };
    whole("intent", run.terms.intent == plan.intent);
    whole("allow", run.terms.allow == plan.allow);
    whole("protect", run.terms.protect == plan.protect);
    whole("commit", run.terms.commit == plan.commit);
    whole("setup", run.terms.setup == plan.setup);
    whole("confine", run.terms.confine == plan.confine);
    whole("success_criteria", run.terms.success_criteria == plan.success_criteria);
    whole("risk_level", run.terms.risk == plan.risk);
    if let Some(written) = &run.terms.written {
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
    ];
    let names: Vec<&str> = parts.iter().filter(|(_, same)| !same).map(|(name, _)| *name).collect();
    format!("~ Step {}: {} ({} changed)", new.number, new.name, names.join(", "))
}
