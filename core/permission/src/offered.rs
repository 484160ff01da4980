//! The names of the skills and commands that onloop installs into hosts. Their texts are in
//! `install`; the names are here because an agent may use them without being asked.

/// The plugin, whose name is the first part of the names of what is in it.
pub const PLUGIN: &str = "hotl";

/// Drives a workflow to its end.
pub const LOOP_SKILL: &str = "onloop-loop";
/// Continues a run.
pub const RESUME_SKILL: &str = "onloop-resume";
/// Writes a workflow.
pub const WRITE_PLAN_SKILL: &str = "onloop-write-plan";
/// Runs the checks of a step.
pub const VERIFY_SKILL: &str = "onloop-verify";
/// Reviews the work of a run.
pub const REVIEW_SKILL: &str = "onloop-review";
const SKILLS: [&str; 5] = [LOOP_SKILL, RESUME_SKILL, WRITE_PLAN_SKILL, VERIFY_SKILL, REVIEW_SKILL];

/// The command that drives a workflow to its end.
pub const LOOP: &str = "loop";
/// The command that continues a run.
pub const RESUME: &str = "resume";
/// The command that writes a workflow.
pub const WRITE_PLAN: &str = "write-plan";
/// The command that carries out a plan.
pub const EXECUTE_PLAN: &str = "execute-plan";
/// The command that shows how runs stand.
pub const STATUS: &str = "status";
const COMMANDS: [&str; 5] = [LOOP, RESUME, WRITE_PLAN, EXECUTE_PLAN, STATUS];

/// Whether `name` is a skill or a command of ours: instructions for verbs that are judged when
/// they are called. Commands have such a name only in the plugin.
pub(super) fn is_ours(name: &str) -> bool {
    let in_plugin = name.strip_prefix(PLUGIN).and_then(|rest| rest.strip_prefix(':'));
    SKILLS.contains(&in_plugin.unwrap_or(name))
        || in_plugin.is_some_and(|name| COMMANDS.contains(&name))
}
