//! What a run that another machine drives begins with: found and checked here, where somebody can
//! still put it right.

use onloop_documents::fleet_run::{self, FleetRun};
use onloop_effect::{Durability, Expect};
use onloop_effect::{Io, OptionalExt};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::workflow::find_workflow;
use onloop_engine::run::begin::read_plan;
use onloop_engine::run::decider::demand_person;
use onloop_engine::run::start::RunArgs;
use onloop_engine::state::store::{Paths, StateHome};
use onloop_run::unique_id;
use onloop_syntax::limits;
use onloop_syntax::text;

/// What is submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// The id of the run, which no run here has.
    pub run_id: String,
    /// The workflow file, relative to the top folder of its checkout where it lies in one, else its name.
    pub workflow: String,
    /// Its content.
    pub text: String,
    /// The agents that are named, the first choice first; none: the driver of the run chooses.
    pub agents: Vec<String>,
    /// The checkout around it; `None`: it lies in none.
    pub checkout: Option<SubmittedCheckout>,
}

/// The checkout from which a run is submitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubmittedCheckout {
    /// Its top folder.
    pub root: String,
    /// Its branch.
    pub branch: Option<String>,
    /// The commit at HEAD.
    pub head: String,
    /// Files that are changed and not committed, but for the workflow file itself.
    pub uncommitted: Vec<String>,
}

/// Finds and checks what `onloop run` with these arguments would run.
///
/// # Errors
///
/// There is nothing that could be submitted.
pub async fn submitted(io: &Io, args: &RunArgs) -> Result<Submitted, CommandError> {
    demand_person(io, "handing a run over to a fleet").await?;
    let file = find_workflow(io, args.file.as_deref()).await?;
    let plan = read_plan(io, &file).await?;
    let path = io.canonical(&file).await?;
    let (bytes, _) = io.read(&path, limits::WORKFLOW_BYTES as u64).await?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
    let survey = io.git_survey(&folder, "").await?;
    let name = path.rsplit('/').next().unwrap_or(&path).to_owned();
    let (workflow, checkout) = match survey.repository {
        None => (name, None),
        Some(found) => {
            let relative = path.strip_prefix(&format!("{}/", found.root)).map(str::to_owned);
            let workflow = relative.unwrap_or(name);
            let Some(head) = found.head else {
                let what = "the repository has no commit yet at which the work could begin";
                return Err(CommandError::refused(what));
            };
            let uncommitted = found.dirty.into_iter().filter(|path| *path != workflow).collect();
            let (root, branch) = (found.root, found.branch);
            (workflow, Some(SubmittedCheckout { root, branch, head, uncommitted }))
        }
    };
    let home = StateHome::of(io)?;
    let taken = io.list(&home.runs()).await.optional()?.unwrap_or_default();
    let run_id = match &args.run_id {
        Some(id) => id.clone(),
        None => unique_id(&plan.slug, io.now(), |id| taken.iter().any(|taken| taken == id)),
    };
    let agents = agents(io, args);
    Ok(Submitted { run_id, workflow, text, agents, checkout })
}

/// The names of those who are to act, as bounds are about them.
fn agents(io: &Io, args: &RunArgs) -> Vec<String> {
    if args.drive.agent.agent_command.is_some() {
        return vec!["command".to_owned()];
    }
    let names = args.drive.agent.agent.as_deref().or_else(|| io.env("ONLOOP_AGENT"));
    let names = names.unwrap_or_default().split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).map(text::one_line).collect()
}

/// Remembers here that run `id` is a fleet's, so that it is found by its id and from its checkout.
///
/// # Errors
///
/// The state home cannot be written.
pub async fn remember_submitted(io: &Io, id: &str, run: &FleetRun) -> Result<(), CommandError> {
    let home = StateHome::of(io)?;
    let mut files = vec![(Paths::new(&home, "", id).fleet(), fleet_run::write(run))];
    if let Some(root) = &run.root {
        files.push((format!("{}/{id}", home.runs_of(root)), format!("{root}\n").into_bytes()));
    }
    for (path, bytes) in files {
        io.write_private(&path, bytes, Expect::Any, Durability::Durable).await?;
    }
    Ok(())
}

/// Refuses what only a person may do about a fleet's run where an agent is at work.
///
/// # Errors
///
/// An agent is at work.
pub async fn only_for_a_person(io: &Io, what: &str) -> Result<(), CommandError> {
    demand_person(io, what).await
}
