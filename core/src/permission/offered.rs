//! The names of the skills and commands that onloop installs into hosts. Their texts are in
//! `install`; the names are here because an agent may use them without being asked.

/// The plugin, whose name is the first part of the names of what is in it.
pub(crate) const PLUGIN: &str = "hotl";

pub(crate) const LOOP_SKILL: &str = "onloop-loop";
pub(crate) const RESUME_SKILL: &str = "onloop-resume";
pub(crate) const WRITE_PLAN_SKILL: &str = "onloop-write-plan";
pub(crate) const VERIFY_SKILL: &str = "onloop-verify";
pub(crate) const REVIEW_SKILL: &str = "onloop-review";
const SKILLS: [&str; 5] = [LOOP_SKILL, RESUME_SKILL, WRITE_PLAN_SKILL, VERIFY_SKILL, REVIEW_SKILL];

pub(crate) const LOOP: &str = "loop";
pub(crate) const RESUME: &str = "resume";
pub(crate) const WRITE_PLAN: &str = "write-plan";
pub(crate) const EXECUTE_PLAN: &str = "execute-plan";
pub(crate) const STATUS: &str = "status";
const COMMANDS: [&str; 5] = [LOOP, RESUME, WRITE_PLAN, EXECUTE_PLAN, STATUS];

/// Whether `name` is a skill or a command of ours: instructions for verbs that are judged when
/// they are called. Commands have such a name only in the plugin.
pub(super) fn is_ours(name: &str) -> bool {
    let in_plugin = name.strip_prefix(PLUGIN).and_then(|rest| rest.strip_prefix(':'));
    SKILLS.contains(&in_plugin.unwrap_or(name))
        || in_plugin.is_some_and(|name| COMMANDS.contains(&name))
}
