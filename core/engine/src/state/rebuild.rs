//! Damaged records: kept aside, never overwritten, and begun anew from the workflow file.

use crate::error::CommandError;
use crate::run::begin::read_plan;
use crate::run::decider::decider;
use crate::state::store::{Paths, StateHome, Store};
use onloop_documents::ledger::Origin;
use onloop_effect::{Durability, Expect, Io, OptionalExt};
use onloop_run::{Beginning, DecisionChannel, Event, Place, Run};
use onloop_syntax::limits;
use onloop_workflow as workflow;

/// Puts the damaged record of run `id` aside and begins it anew from `file`. Steps whose box
/// is ticked are verified before anything is done again.
pub(crate) async fn rebuild(io: &Io, id: &str, file: &str) -> Result<Store, CommandError> {
    let plan = read_plan(io, file).await?;
    let root = io.canonical(&io.start().cwd).await.unwrap_or_else(|_| io.start().cwd.clone());
    let root = root.as_str();
    let ticked = ticked_steps(io, file).await;
    set_aside(io, id).await?;
    let workflow_path = io.canonical(file).await.unwrap_or_else(|_| file.to_owned());
    let head = io.git_head(root).await.ok().flatten();
    let beginning = Beginning {
        id: id.to_owned(),
        place: Place {
            source_workflow_path: Some(workflow_path.clone()),
            workflow_path,
            source_head: head,
            execution_root: root.to_owned(),
            executor_mode: "rebuilt".to_owned(),
            slug: plan.slug.clone(),
            report_path: format!(".hotl/reports/{id}.md"),
            ..Place::default()
        },
        at: io.now().whole_seconds(),
        auto_approve: false,
        reverify: true,
        review_agent: None,
        issue: None,
        issue_text: String::new(),
        pr_repairs: None,
    };
    let by = decider(io, DecisionChannel::Command);
    let created = Store::create(io, Run::begin(&plan, beginning), &Origin::Begun, Some(&by)).await;
    let unwritten = "the record could not be begun anew";
    let mut store = created.map_err(|error| CommandError::from(error).context(unwritten))?;
    let steps = plan.steps.len() as u32;
    let ticked: Vec<u32> = ticked.into_iter().filter(|step| *step <= steps).collect();
    store.apply(Event::RecordRebuilt { ticked })?;
    Ok(store)
}

async fn ticked_steps(io: &Io, file: &str) -> Vec<u32> {
    let Ok((bytes, _)) = io.read(file, limits::WORKFLOW_BYTES as u64).await else {
        return Vec::new();
    };
    let boxes = workflow::parse(file, &bytes).checkboxes;
    boxes.into_iter().filter(|found| found.ticked).map(|found| found.step).collect()
}

/// Copies the damaged ledger to a name that nothing reads, then removes it.
pub async fn set_aside(io: &Io, id: &str) -> Result<(), CommandError> {
    let paths = Paths::new(&StateHome::of(io)?, "", id);
    let (bytes, _) = io.read(&paths.ledger(), limits::RECORD_BYTES).await?;
    let stamp = io.now().to_run_id_stamp();
    let aside = paths.ledger_named(&format!("damaged-{stamp}"));
    io.write(&aside, bytes, Expect::Absent, Durability::Durable).await?;
    io.remove(&paths.head()).await.optional()?;
    io.remove(&paths.ledger()).await?;
    io.note(format!("The damaged record is kept as {aside}")).await;
    Ok(())
}
