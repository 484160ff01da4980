//! Files at the top of a checkout that run by themselves. Where a command runs in the checkout of a person,
//! they stay as they are.

use onloop_effect::{Confinement, Io};
use onloop_permission::paths::{automation, configures_agents, may_hold_guarded, runs_by_itself};

/// Folders in which agents find what they obey. Clients make the folder around them meanwhile.
const OF_CLIENTS: [&str; 3] = [".claude/agents", ".claude/commands", ".claude/skills"];

/// Keeps what runs by itself, or configures agents, in the checkout at `root` as it is.
pub(super) async fn keep(io: &Io, root: &str, confinement: &mut Confinement) {
    let mut ahead = vec![String::new()];
    while let Some(folder) = ahead.pop() {
        for name in io.list(&format!("{root}/{folder}")).await.unwrap_or_default() {
            let inside = format!("{folder}{name}");
            if runs_by_itself(&inside) || configures_agents(&inside) {
                confinement.may_read.push(format!("{root}/{inside}"));
            } else if may_hold_guarded(&inside) {
                ahead.push(inside + "/");
            }
        }
    }
    let new = automation().chain(OF_CLIENTS).map(|pattern| format!("{root}/{pattern}"));
    confinement.without_new.extend(new);
}
