//! Files at the top of a checkout that run by themselves. Where a command runs in the checkout of a person,
//! they stay as they are.

use onloop_effect::{Confinement, Io};
use onloop_permission::paths::{automation, configures_agents, may_hold_guarded, runs_by_itself};

/// Folders in which agents find what they obey. Clients make the folder around them meanwhile.
const OF_CLIENTS: [&str; 3] = [".claude/agents", ".claude/commands", ".claude/skills"];

/// Keeps what runs by itself, or configures agents, in the checkout at `root` as it is.
pub(super) async fn keep(io: &Io, root: &str, confinement: &mut Confinement) {
    confinement.may_read.extend(found(io, root).await);
    let new = automation().chain(OF_CLIENTS).map(|pattern| format!("{root}/{pattern}"));
    confinement.without_new.extend(new);
}

/// What is there of these files.
async fn found(io: &Io, root: &str) -> Vec<String> {
    let (mut found, mut ahead) = (Vec::new(), vec![String::new()]);
    while let Some(folder) = ahead.pop() {
        for name in io.list(&format!("{root}/{folder}")).await.unwrap_or_default() {
            let inside = format!("{folder}{name}");
            if runs_by_itself(&inside) || configures_agents(&inside) {
                found.push(format!("{root}/{inside}"));
            } else if may_hold_guarded(&inside) {
                ahead.push(inside + "/");
            }
        }
    }
    found
}

/// Files of the checkout at `root` to which such files lead through links, each with the name that it has
/// there.
pub(crate) async fn linked(io: &Io, root: &str) -> Vec<(String, String)> {
    let Ok(real_root) = io.canonical_once(root).await else { return Vec::new() };
    let (mut linked, mut paths) = (Vec::new(), found(io, root).await);
    for at in 0..paths.len() {
        let names = io.list(&paths[at]).await.unwrap_or_default();
        let inside = names.iter().map(|name| format!("{}/{name}", paths[at]));
        paths.extend(inside.collect::<Vec<_>>());
    }
    for path in paths {
        let real = io.canonical(&path).await.unwrap_or_else(|_| path.clone());
        let inside = path.strip_prefix(root).unwrap_or_default();
        if let Some(target) = real.strip_prefix(&real_root).filter(|target| *target != inside) {
            linked.push((format!("{root}{target}"), path));
        }
    }
    linked
}
