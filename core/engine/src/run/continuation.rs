//! The commands that continue a run, wherever it is driven.

use crate::run::adopt::is_edited;
use crate::run::advice::{next_commands, next_commands_in_fleet, resume_command};
use crate::run::instruction::driver_beside;
use crate::state::remote_owner::is_fleets;
use crate::state::store::Paths;
use onloop_effect::Io;
use onloop_run::Run;

/// The exact commands, for a person: each is accepted as the run stands now.
pub async fn what_takes_further(io: &Io, paths: &Paths, run: &Run) -> String {
    if is_fleets(io, paths).await {
        return next_commands_in_fleet(run);
    }
    if let Some(driver) = driver_beside(io, paths, run).await {
        let (pid, id) = (driver.process.pid, &run.id);
        return format!("Process {pid} drives this run. Watch it:\n  onloop watch {id}");
    }
    let commands = next_commands(run);
    match commands.contains(&resume_command(run)) && is_edited(io, paths, run).await {
        true => after_edit(&commands, &resume_command(run)),
        false => commands,
    }
}

/// `commands`, where `resume` needs to be told what becomes of the edited workflow file.
fn after_edit(commands: &str, resume: &str) -> String {
    let mut out =
        "The workflow file was edited since the run began. `--adopt` uses the edited file,\n\
                   `--no-adopt` the plan that the run has."
            .to_owned();
    for line in commands.lines() {
        out += &match line.trim_start().starts_with(resume) {
            true => format!("\n{line} --adopt\n{line} --no-adopt"),
            false => format!("\n{line}"),
        };
    }
    out
}
