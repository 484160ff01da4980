//! Programs that publish or change a database, unless an option says otherwise.

use super::super::Judge;
use super::super::entry::{ParsedArgs, lists};
use super::{Leaving, TaskPlace, names_leaving_task, publishes_if};
use crate::expand::Arg;
use crate::programs::Class;

/// `cargo publish --dry-run`, which makes and checks the package. Not every program has such an option.
pub(crate) fn dry_run(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let tries = matches!(parsed.name, "cargo publish" | "npm publish" | "pnpm publish")
        && parsed.has_certainly(&["--dry-run"])
        && parsed.args.iter().all(|arg| {
            // npm takes a word behind an option for its value.
            let is_value = matches!(arg.text.as_str(), "false" | "null" | "0" | "no");
            arg.known().is_some() && !is_value && !arg.text.starts_with("--dry-run=")
        });
    judge.classified(if tries { Class::Runs } else { parsed.program.class }, parsed);
}

/// `dotnet publish`: into a folder, unless something chooses a server or a registry.
pub(crate) fn dotnet_publish(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const CHOOSE: [&str; 5] = ["publishprofile", "container", "deploy", "webpublish", "registry"];
    let leaves = |arg: &Arg| {
        let lower = arg.text.to_lowercase();
        arg.known().is_none()
            || CHOOSE.iter().any(|part| lower.contains(part))
            || lower.starts_with('@')
            || lower.contains("//")
            || lower.ends_with(".pubxml")
    };
    let leaves = parsed.args.iter().any(leaves)
        || names_leaving_task(parsed.args, TaskPlace::Each).is_some();
    publishes_if(leaves, judge, parsed);
}

/// `alembic upgrade` and the like, which change a database that may be anywhere.
pub(crate) fn migration(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const CHANGES: &str = "upgrade downgrade update drop up down redo reset stamp rollback revert fresh \
                           refresh sync load setup migrate";
    let texts = || parsed.args.iter().map(|arg| arg.text.as_str());
    let migrates = texts().any(|text| text.contains("migrat"));
    // Of these, `migrate` writes a file.
    let writes =
        lists("flask aerich", parsed.name) || texts().any(|text| lists("add info generate", text));
    // `up-by-one`, `schema:update`
    let changes = |verb: &str| match verb {
        "migrate" => !writes,
        "run" => migrates,
        verb => lists(CHANGES, verb),
    };
    let verb = texts().find(|text| {
        let first = text.split('-').next().unwrap_or_default();
        first.split(':').any(changes)
    });
    let unknown = parsed.operands.iter().find(|arg| arg.known().is_none()).map(|_| "");
    judge.task_leaves(parsed, verb.or(unknown).map(|verb| Leaving::of(verb, true)));
}

/// electron-builder: it publishes what it packs unless it is told not to.
pub(crate) fn packs(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let published = parsed.values(&["-p", "--publish"]);
    let publishes = published.iter().any(|value| value.known() != Some("never"));
    publishes_if(publishes, judge, parsed);
}
