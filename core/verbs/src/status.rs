//! Looking at runs: `status`, `list`, `next`, `summary`.

use onloop_documents as documents;
use onloop_documents::board::{self, Driving, RunCard};
use onloop_effect::{Exit, Io, LockHolder, ProcessRole};
use onloop_engine::error::CommandError;
use onloop_engine::lookup::runs::{Found, find_all, find_everywhere};
use onloop_engine::lookup::select::{Fitting, RunName, open};
use onloop_engine::run::adopt::warn_of_edit;
use onloop_engine::run::advice::pull_request_commands;
use onloop_engine::run::continuation::what_takes_further;
use onloop_engine::run::driver_lock::driving_of;
use onloop_engine::run::forks;
use onloop_engine::run::gate::facts;
use onloop_engine::run::instruction::{Instruction, instruction_of};
use onloop_engine::state::auto_runs::{self, AutoRun};
use onloop_engine::state::store::Store;
use onloop_run::{Next, Platform, Run, RunStatus, render_summary, sandbox_line, step_list};
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// Arguments of `onloop status`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct StatusArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// Finished runs as well
    #[arg(long)]
    pub all: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `onloop list`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ListArgs {
    /// The runs of every folder, not only of this one
    #[arg(long)]
    pub everywhere: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `onloop summary`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct SummaryArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// Print JSON; this is what happens anyway without --platform
    #[arg(long)]
    pub json: bool,
    /// Print the text that fits a platform instead of JSON
    #[arg(long, value_enum, conflicts_with = "json")]
    pub platform: Option<Platform>,
}

const NO_RUNS: &str = "No runs here. Start one with `onloop run FILE`.";

/// `onloop status`.
pub async fn status(io: &Io, args: &StatusArgs) -> Result<Exit, CommandError> {
    if let Some(id) = args.run.as_deref() {
        if let Some(auto) = auto_runs::named(io, id).await {
            let shown = match args.json {
                true => format!("{:#}\n", auto.entry_document()),
                false => auto.entry(io.now()),
            };
            io.result(shown).await;
            return Ok(Exit::Done);
        }
        return Box::pin(status_of(io, id, args.json)).await;
    }
    let mut found = find_all(io).await;
    if !args.all {
        found.retain(|found| found.run().map_or(true, Run::is_open));
    }
    let nothing = match args.all {
        true => NO_RUNS,
        false => "No unfinished runs here. `onloop list` shows finished ones too.",
    };
    let autos = autos_around(io).await;
    show(io, (&found, &autos), args.json, nothing).await;
    Ok(Exit::Done)
}

/// The runs of rw-auto in this folder, above and below it.
async fn autos_around(io: &Io) -> Vec<AutoRun> {
    let cwd = &io.start().cwd;
    let mut found = auto_runs::all(io).await;
    found.retain(|auto| auto.is_around(cwd));
    found
}

/// `onloop list`.
pub async fn list(io: &Io, args: &ListArgs) -> Result<Exit, CommandError> {
    let (found, autos, nothing) = match args.everywhere {
        true => {
            let mut found = find_everywhere(io).await;
            found.retain(|found| !found.is_fork());
            (found, auto_runs::all(io).await, "No runs on this machine.")
        }
        false => (find_all(io).await, autos_around(io).await, NO_RUNS),
    };
    show(io, (&found, &autos), args.json, nothing).await;
    Ok(Exit::Done)
}

/// Shows runs, and those of rw-auto before them.
async fn show(io: &Io, (found, autos): (&[Found], &[AutoRun]), json: bool, nothing: &str) {
    if json {
        let autos = autos.iter().map(AutoRun::entry_document);
        let all: serde_json::Value = autos.chain(found.iter().map(Found::document)).collect();
        io.result(format!("{all:#}\n")).await;
    } else if found.is_empty() && autos.is_empty() {
        io.note(nothing).await;
    } else {
        let autos = autos.iter().map(|auto| auto.entry(io.now()));
        let runs = found.iter().map(|found| entry(found, io.now()));
        io.result(autos.chain(runs).collect::<String>()).await;
    }
}

async fn status_of(io: &Io, id: &str, json: bool) -> Result<Exit, CommandError> {
    let store = open(io, Some(id), Fitting::Latest).await?;
    if json {
        let mut status = documents::summary::summary(store.run());
        for (step, view) in board::steps(store.run()).into_iter().enumerate() {
            status["steps"][step]["checks"] = serde_json::json!(view.checks);
        }
        if let Some(asks) = asks(io, &store).await {
            status["asks"] = asks;
        }
        io.result(format!("{status:#}\n")).await;
        return Ok(Exit::Done);
    }
    let driving = driving_of(io, &store).await;
    let interrupted = driving == Driving::Killed;
    let run = store.run();
    let card = board::card(run, driving);
    let mut out =
        format!("{} {}  {}\n  {}\n\n", card.state.mark(), run.id, card.state.words(), card.intent);
    out += &match card.state.is_stopped() {
        true => step_list(&run.stopped()),
        false => step_list(run),
    };
    out.push('\n');
    if !interrupted {
        out += &status_lines(io, &store, &card).await;
    }
    let (root, report) = (&run.place.execution_root, store.paths().report());
    out += &format!("Works in: {root}\nReport: {report}\n");
    if let Some(url) = run.pull_request_url() {
        let followed = run.pull_request.as_ref();
        let state = followed.map_or_else(String::new, |tracked| format!(" ({})", tracked.line()));
        out += &format!("Pull request: {url}{state}\n");
    }
    if let Some(line) = sandbox_line(&run.sandboxes) {
        out += &text::wrapped(&format!("Confined: {line}"), 80, 2);
        out.push('\n');
    }
    io.result(out).await;
    if interrupted && run.is_over() {
        io.note(format!(
            "\nThe process that followed its pull request is gone. Follow it again:\n  \
             onloop resume {}",
            run.id
        ))
        .await;
    } else if interrupted {
        io.note(format!(
            "\nThe process that drove it is gone. Resume stops what its agent left, then verifies\n\
             step {} before it continues:\n  onloop resume {}",
            run.current_step(),
            run.id,
        ))
        .await;
    } else if run.is_over() {
        let commands = pull_request_commands(run);
        if !commands.is_empty() && !run.is_open() && run.finish.is_some() {
            io.note(format!("\n{commands}")).await;
        }
    } else {
        io.note(format!("\n{}", what_takes_further(io, store.paths(), run).await)).await;
    }
    Ok(Exit::Done)
}

/// What happens now, since when, who works, and what comes next, one line each.
async fn status_lines(io: &Io, store: &Store, card: &RunCard) -> String {
    let run = store.run();
    let (now, then) = (&card.now, &card.then);
    let since = card.since.map_or_else(String::new, |since| {
        let ms = io.now().millis_since(since);
        match run.is_over() {
            true => format!(" ({})", text::ago(ms)),
            false => format!(" (for {})", text::span(ms)),
        }
    });
    let mut lines = vec![format!("Now: {now}{since}")];
    let driver = io.holder(&store.paths().driver_lock()).await.ok().flatten();
    let driver = driver.filter(|holder| holder.live);
    let is_background =
        driver.as_ref().is_some_and(|holder| holder.role == Some(ProcessRole::Background));
    let driver = driver.map(|LockHolder { process, .. }| {
        let place = if is_background { " in the background" } else { "" };
        let host = text::one_line(&process.host);
        format!("process {} on {host} drives it{place}", process.pid)
    });
    let worker =
        run.acting.as_ref().filter(|_| run.status == RunStatus::Running).map(|acting| {
            format!("the {} is process {}", acting.worker.as_str(), acting.group.pid)
        });
    let who: Vec<String> = driver.into_iter().chain(worker).collect();
    if !who.is_empty() {
        lines.push(format!("Who: {}", who.join(", ")));
    }
    lines.extend(forks::in_background(io, run).await);
    lines.extend(then.as_ref().map(|then| format!("Then: {then}")));
    let mut out: String = lines.iter().map(|line| text::wrapped(line, 80, 2) + "\n").collect();
    if is_background {
        out += &format!("Log: {}\n", store.paths().driver_log());
    }
    out
}

/// A run in a list.
fn entry(found: &Found, now: Timestamp) -> String {
    let card = found.card();
    match found.is_untrusted() && found.run().is_ok() {
        true => format!("? {0}  Untrusted: onloop adopt {0}\n    {1}\n", card.id, card.intent),
        false => {
            let repair = found.repair();
            let repair = repair.map(|(what, command)| format!("    {what}\n      {command}\n"));
            board::entry(&card, now) + &repair.unwrap_or_default()
        }
    }
}

/// The record of a run as it is stored.
pub async fn record(io: &Io, run_id: &str) -> Result<Exit, CommandError> {
    with_run(io, Some(run_id), |run| {
        String::from_utf8(documents::run::write(run)).expect("JSON is UTF-8")
    })
    .await
}

/// `onloop summary`.
pub async fn summary(io: &Io, args: &SummaryArgs) -> Result<Exit, CommandError> {
    with_run(io, args.run.as_deref(), |run| match args.platform {
        Some(platform) => render_summary(run, platform),
        None => format!("{:#}\n", documents::summary::summary(run)),
    })
    .await
}

/// What the run asks of a person, with what there is to know before they answer; `None`: nothing.
async fn asks(io: &Io, store: &Store) -> Option<serde_json::Value> {
    let run = store.run();
    let choice = board::choice(run)?;
    let facts = match choice.step.filter(|_| choice.is_gate) {
        Some(step) => facts(io, run, step).await.map(|found| board::facts(&found)),
        None => None,
    };
    Some(serde_json::json!({
        "step": choice.step, "question": choice.question, "is_gate": choice.is_gate,
        "type_name": choice.type_name, "facts": facts, "seen": store.head_sha256(),
    }))
}

async fn with_run(
    io: &Io,
    id: Option<&str>,
    render: impl Fn(&Run) -> String,
) -> Result<Exit, CommandError> {
    let store = open(io, id, Fitting::Latest).await?;
    io.result(render(store.run())).await;
    Ok(Exit::Done)
}

/// Arguments of `onloop next`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct NextArgs {
    /// The run
    #[command(flatten)]
    pub run: RunName,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Whether an agent reads it: it is told no command that only a person may run.
    #[arg(skip)]
    pub for_agent: bool,
}

/// `onloop next`: what should happen now, and the commands that do it, one for each choice.
pub async fn next(io: &Io, args: &NextArgs) -> Result<Exit, CommandError> {
    // An agent of a run has the number of its step.
    let for_agent = args.for_agent || io.env("ONLOOP_STEP").is_some();
    let store = open(io, args.run.as_deref(), Fitting::Unfinished).await?;
    let next = instruction_of(io, &store).await;
    warn_of_edit(io, &store).await;
    io.result(next_words(store.run(), &next, for_agent, args.json)).await;
    Ok(Exit::Done)
}

fn next_words(run: &Run, next: &Instruction, for_agent: bool, json: bool) -> String {
    let waits = next.needs_person && for_agent;
    let commands = if waits { &[] } else { next.commands.as_slice() };
    if json {
        let document = serde_json::json!({
            "run_id": run.id, "status": run.status.as_str(), "action": next.action,
            "step": next.step, "command": next.command(), "commands": commands,
            "needs_person": next.needs_person, "driver": next.driver,
        });
        return format!("{document:#}\n");
    }
    let step = next.step.map_or_else(String::new, |step| format!(" (step {step})"));
    let mut out = format!("{}{step}\n", next.action);
    commands.iter().for_each(|command| out += &format!("{command}\n"));
    if let Some(process) = next.driver {
        out += &format!("# process {process} drives this run: wait for it\n");
    } else if waits {
        // A shell that is given this line does nothing.
        out += "# only a person may decide this: wait for them\n";
    } else if let Next::Act { step } = run.next()
        && run.is_driven_by_verbs()
    {
        // The command alone would record a step that nobody worked on.
        let then = match run.step(step).is_some_and(|record| !record.step.checks.is_empty()) {
            true => "this runs its checks",
            false => "no check verifies it, and this records it as done",
        };
        out += &format!("# after the work of step {step}: {then}\n");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use onloop_engine::run::instruction::instruction;
    use onloop_run::{Beginning, Event, Place};
    use onloop_workflow as workflow;

    #[test]
    fn next_says_that_the_work_of_a_step_comes_before_its_verification() {
        let table = [
            ("", "# after the work of step 1: no check verifies it, and this records it as done\n"),
            ("verify: make test\n", "# after the work of step 1: this runs its checks\n"),
        ];
        for (check, note) in table {
            let file = format!(
                "---\nintent: a\nsuccess_criteria: b\nrisk_level: low\n---\n### 1. One\n\
                 action: do\nloop: false\n{check}"
            );
            let plan = workflow::parse("hotl-workflow-a.md", file.as_bytes()).plan.unwrap();
            let beginning = Beginning {
                id: "a-1".to_owned(),
                place: Place { executor_mode: "loop".to_owned(), ..Place::default() },
                reverify: true,
                ..Beginning::default()
            };
            let mut run = Run::begin(&plan, beginning);
            run.apply(Timestamp::EPOCH, &Event::StepStarted { step: 1 }).unwrap();
            let said = next_words(&run, &instruction(&run), true, false);
            let command = "onloop step 1 verify --run-id a-1";
            assert_eq!(said, format!("act (step 1)\n{command}\n{note}"));
        }
    }
}
