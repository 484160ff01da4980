//! Damaged records: kept aside, never overwritten, and begun anew from the workflow file.

use crate::effect::{Durability, Exit, Expect, Io};
use crate::engine::begin::read_plan;
use crate::engine::store::{Paths, Store};
use crate::limits;
use crate::run::{Beginning, Event, Place, Run};
use crate::text;
use crate::workflow;

/// Puts the damaged record of run `id` aside and begins it anew from `file`. Steps whose box
/// is ticked are verified before anything is done again.
pub(crate) async fn rebuild(io: &Io, root: &str, id: &str, file: &str) -> Result<Store, Exit> {
    let plan = read_plan(io, file).await?;
    let ticked = ticked_steps(io, file).await;
    set_aside(io, root, id).await.map_err(|_| Exit::Refused)?;
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
        at: io.now(),
        auto_approve: false,
        reverify: true,
        review_agent: None,
    };
    let created = Store::create(io, Run::begin(&plan, beginning)).await;
    let mut store = match created {
        Ok(store) => store,
        Err(error) => {
            io.note(format!("error: the record could not be begun anew: {error}")).await;
            return Err(Exit::Refused);
        }
    };
    let steps = plan.steps.len() as u32;
    let ticked: Vec<u32> = ticked.into_iter().filter(|step| *step <= steps).collect();
    if let Err(refusal) = store.apply(Event::RecordRebuilt { ticked }) {
        io.note(format!("error: {refusal}")).await;
        return Err(Exit::Refused);
    }
    Ok(store)
}

async fn ticked_steps(io: &Io, file: &str) -> Vec<u32> {
    let Ok((bytes, _)) = io.read(file, limits::WORKFLOW_BYTES as u64).await else {
        return Vec::new();
    };
    let boxes = workflow::parse(file, &bytes).checkboxes;
    boxes.into_iter().filter(|found| found.ticked).map(|found| found.step).collect()
}

/// Copies record and journal to names that nothing reads, then removes them.
async fn set_aside(io: &Io, root: &str, id: &str) -> Result<(), ()> {
    let paths = Paths::new(root, id);
    let stamp = io.now().to_run_id_stamp();
    for path in [paths.journal(), paths.state()] {
        let Ok((bytes, _)) = io.read(&path, limits::RECORD_BYTES).await else { continue };
        let aside = format!("{path}.damaged-{stamp}");
        let kept = io.write(&aside, bytes, Expect::Absent, Durability::Durable).await;
        let removed = match kept {
            Ok(_) => io.remove(&path).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = removed {
            io.note(format!("error: {failure}")).await;
            return Err(());
        }
        io.note(format!("The damaged record is kept as {aside}")).await;
    }
    Ok(())
}

/// How to go on from a damaged record.
pub(crate) fn advice(id: &str) -> String {
    let file = text::shell_word("hotl-workflow-<slug>.md");
    format!(
        "  Nothing was changed. Keep it aside and begin anew from the workflow file; ticked \
         steps are\n  verified before anything is done again:\n    \
         onloop resume {id} --rebuild {file}"
    )
}
