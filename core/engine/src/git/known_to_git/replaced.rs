//! Programs that the search path finds in the checkout, where an agent may have written them.

use onloop_effect::{Io, is_within};
use onloop_permission::{Context, Ruling};

/// Adds to `context` the programs of an allowed call that are files of the checkout. Whether there are
/// any.
pub(super) async fn learn(io: &Io, context: &mut Context, ruling: &Ruling) -> bool {
    let root = context.places.root.clone().unwrap_or_else(|| context.places.cwd.clone());
    let path = io.env("PATH").unwrap_or_default();
    let entries = path.split(':').map(|entry| match entry {
        "" => context.places.cwd.clone(),
        entry => context.places.absolute(entry),
    });
    let folders: Vec<String> = entries.filter(|entry| is_within(entry, &root)).collect();
    for folder in folders {
        for command in &ruling.commands {
            let name = command.name.split(' ').next().unwrap_or_default();
            if !name.is_empty() && io.stat(&format!("{folder}/{name}")).await.is_ok() {
                context.replaced.insert(name.to_owned());
            }
        }
    }
    !context.replaced.is_empty()
}
