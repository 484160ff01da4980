//! The commands that continue a run, wherever it is driven.

use crate::run::adopt::{FileEdit, edit_of};
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
    let resume = resume_command(run);
    if !commands.contains(&resume) {
        return commands;
    }
    match edit_of(io, paths, run).await {
        Some(edit) => after_edit(&commands, &resume, edit),
        None => commands,
    }
}

/// `commands`, where `resume` needs to be told what becomes of the edited workflow file.
fn after_edit(commands: &str, resume: &str, edit: FileEdit) -> String {
    let mut out = match edit {
        FileEdit::Valid => {
            "The workflow file was edited since the run began. `--adopt` uses the edited file,\n\
             `--no-adopt` the plan that the run has."
        }
        FileEdit::Invalid => {
            "The workflow file was edited since the run began and has errors. Correct them, or\n\
             use the plan that the run has with `--no-adopt`."
        }
    }
    .to_owned();
    for line in commands.lines() {
        match line.trim_start().starts_with(resume) {
            true => edit.choices().iter().for_each(|word| out += &format!("\n{line} {word}")),
            false => out += &format!("\n{line}"),
        }
    }
    out
}
