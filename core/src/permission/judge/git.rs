//! What the table cannot say about git and gh: refspecs, remotes, listings.

use super::{Judge, workflow};
use crate::permission::expand::{Arg, shown};
use crate::permission::options::ParsedArgs;
use crate::permission::paths::Access;
use crate::permission::programs::Class;
use crate::permission::verdict::{Finding, Rule};

/// The remotes of a project. Any other name may be a folder, whose hooks would run.
const REMOTES: [&str; 2] = ["origin", "upstream"];
/// The branches that work may be rebased onto.
const MAIN_BRANCHES: [&str; 2] = ["main", "master"];
/// Branches that others build on; pushing another branch over one asks.
const PROTECTED: [&str; 8] =
    ["main", "master", "develop", "trunk", "release", "production", "stable", "gh-pages"];

pub(super) fn outer(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for value in parsed.values(&["-C"]) {
        let places = &judge.context.places;
        let folder = value.known().map(|path| places.absolute(path));
        // Any folder below the root may have been made to look like a repository, and the
        // configuration of a repository is executed.
        if folder.is_none() || folder != places.root {
            judge.ask(parsed, "works in another folder, whose configuration is not known");
        }
    }
    // An alias given on the command line is code.
    for value in parsed.values(&["-c"]) {
        if let Some((_, code)) = value.text.split_once("=!") {
            judge.guessed_code(code);
        }
    }
}

pub(super) fn listing(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const LISTING: [&str; 17] = [
        "--list",
        "-l",
        "-a",
        "--all",
        "-r",
        "--remotes",
        "-v",
        "-vv",
        "--verbose",
        "--contains",
        "--no-contains",
        "--merged",
        "--no-merged",
        "--points-at",
        "--show-current",
        "--sort",
        "--format",
    ];
    let name = |arg: &Arg| arg.text.split('=').next().unwrap_or_default().to_owned();
    let lists = parsed.args.iter().any(|arg| LISTING.contains(&name(arg).as_str()));
    let only = parsed.args.iter().all(|arg| {
        arg.known().is_some()
            && (!arg.text.starts_with('-') || LISTING.contains(&name(arg).as_str()))
    });
    // `branch -v topic` still makes a branch.
    let explicit = parsed.args.iter().any(|arg| {
        ["--list", "-l", "--contains", "--merged", "--no-merged", "--points-at"]
            .contains(&name(arg).as_str())
    });
    if !(lists && only && (explicit || parsed.operands.is_empty())) {
        judge.classified(Class::Changes, parsed);
    }
}

pub(super) fn nested_listing(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words: Option<Vec<&str>> = parsed.args.iter().map(Arg::known).collect();
    let sub = parsed.name.rsplit(' ').next().unwrap_or_default();
    let shows = match (sub, words.as_deref().unwrap_or_default()) {
        ("worktree" | "stash", ["list", rest @ ..]) => rest.iter().all(|w| !w.starts_with("--o")),
        ("stash", ["show", ..]) => parsed.args.iter().all(|arg| !arg.text.starts_with("--")),
        ("submodule", ["status"]) | ("notes" | "bisect", ["list" | "log"]) => true,
        _ => false,
    };
    if shows {
        return;
    }
    judge.classified(Class::Changes, parsed);
    if let ("submodule", Some(["foreach", code @ ..])) = (sub, words.as_deref()) {
        judge.guessed_code(&code.join(" "));
    }
    if let ("bisect", Some(["run", _, ..])) = (sub, words.as_deref()) {
        let command = parsed.args[1..].to_vec();
        judge.command(&command, None);
    }
}

pub(super) fn reflog(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if let Some(first) = parsed.operands.first()
        && matches!(first.text.as_str(), "expire" | "delete" | "drop")
    {
        judge.classified(Class::Discards, parsed);
    }
}

pub(super) fn checkout(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.classified(Class::Changes, parsed);
    let forced =
        |arg: &Arg| matches!(arg.text.as_str(), "-f" | "--force" | "--discard-changes" | "--hard");
    if parsed.args.iter().any(forced) {
        judge.ask(parsed, "throws changes away");
    }
}

pub(super) fn fetch(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(operands) = parsed.known_operands() else {
        return judge.ask(parsed, "fetches from somewhere that is not known");
    };
    let [remote, refs @ ..] = operands.as_slice() else {
        return;
    };
    if !REMOTES.contains(remote) {
        judge.ask(parsed, "fetches from something else than the project's remotes");
    }
    if refs.iter().any(|name| !is_branch(name)) {
        judge.ask(parsed, "writes local branches");
    }
}

pub(super) fn rebase(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let steps = parsed.has(&["--continue", "--abort"]);
    let operands = parsed.known_operands();
    let onto_main = match operands.as_deref() {
        Some([remote, branch]) => REMOTES.contains(remote) && MAIN_BRANCHES.contains(branch),
        Some([upstream]) => upstream.split_once('/').is_some_and(|(remote, branch)| {
            REMOTES.contains(&remote) && MAIN_BRANCHES.contains(&branch)
        }),
        Some([]) => steps,
        _ => false,
    };
    if !onto_main {
        judge.ask(parsed, "rebases onto something else than the main branch");
    }
    for code in parsed.values(&["-x", "--exec"]) {
        judge.shell_argument(code);
    }
}

fn is_branch(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '.'])
        && !name.contains("..")
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_-.".contains(&b))
}

pub(super) fn push(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let lease = parsed.has(&["--force-with-lease"]);
    let forced = parsed.has(&["-f", "--force"]) || lease;
    let refs = parsed.operands.get(1..).unwrap_or_default();
    if let Some(remote) = parsed.operands.first()
        && !remote.known().is_some_and(|name| REMOTES.contains(&name))
    {
        judge.ask(parsed, "pushes to something else than the project's remotes");
    }
    let every = ["--all", "--mirror", "--tags", "--branches", "--prune"];
    if forced && parsed.has(&every) {
        force_push(judge, "`git push` forces more than one branch");
    }
    if forced && refs.is_empty() {
        force_push(judge, "`git push` forces branches that it does not name");
    }
    if forced && refs.len() > 1 {
        force_push(judge, "`git push` forces more than one branch");
    }
    for refspec in refs {
        push_refspec(judge, parsed, refspec, forced);
    }
}

fn force_push(judge: &mut Judge<'_>, reason: impl Into<String>) {
    judge.add(Finding::deny(Rule::ForcePush, reason));
}

fn push_refspec(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, refspec: &Arg, forced: bool) {
    let text = shown(&refspec.text);
    let (plus, rest) = match refspec.text.strip_prefix('+') {
        Some(rest) => (true, rest),
        None => (false, refspec.text.as_str()),
    };
    let (source, target) = match rest.split_once(':') {
        Some((source, target)) => (source, Some(target)),
        None => (rest, None),
    };
    if target.is_some() && source.is_empty() {
        let reason = format!("`git push {text}` deletes a branch of the remote");
        return judge.add(Finding::deny(Rule::DeleteBranch, reason));
    }
    if refspec.known().is_none() {
        return judge.ask(parsed, "pushes a branch whose name is not known");
    }
    if forced || plus {
        return forced_refspec(judge, &text, source, target, plus);
    }
    if !source.split(['~', '^']).all(is_branch) || target.is_some_and(|name| !is_branch(name)) {
        judge.ask(parsed, "pushes something else than a branch");
    }
    if let Some(target) = target
        && is_protected(target)
        && short(source) != short(target)
    {
        judge.ask(parsed, &format!("pushes `{source}` over the protected branch `{target}`"));
    }
}

/// Only the branch of the issue that is checked out may be forced.
fn forced_refspec(
    judge: &mut Judge<'_>,
    text: &str,
    source: &str,
    target: Option<&str>,
    plus: bool,
) {
    let target = target.unwrap_or(source);
    let branch = judge.context.git_branch.as_deref();
    let own = branch.and_then(issue_number);
    let same = own.is_some() && issue_number(target) == own;
    let from_own = source == "HEAD" || issue_number(source) == own;
    if same && from_own && is_branch(target) && !plus && !target.contains('/') {
        return;
    }
    let why = match (branch, own) {
        (None, _) => "there is no branch to compare with".to_owned(),
        (Some(branch), None) => format!("the current branch `{branch}` is not one of an issue"),
        (Some(branch), Some(_)) => format!("only `{branch}` itself may be forced"),
    };
    force_push(judge, format!("`git push` forces `{text}`, and {why}"));
}

fn short(name: &str) -> &str {
    name.strip_prefix("refs/heads/").unwrap_or(name)
}

fn is_protected(name: &str) -> bool {
    let name = short(name).to_lowercase();
    PROTECTED.iter().any(|branch| {
        name == *branch || name.strip_prefix(branch).is_some_and(|rest| rest.starts_with('/'))
    })
}

/// `42` of `issue-42` and `issue-42-title`.
fn issue_number(branch: &str) -> Option<&str> {
    let rest = branch.strip_prefix("issue-")?;
    let end = rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    let (number, title) = rest.split_at(end);
    (!number.is_empty() && (title.is_empty() || title.starts_with('-'))).then_some(number)
}

pub(super) fn forge_query(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for value in parsed.values(&["-q", "--jq", "--template", "--format"]) {
        let words = value.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '$');
        if words.into_iter().any(|word| matches!(word, "env" | "ENV" | "$ENV")) {
            judge.ask(parsed, "gets a filter that reads the environment");
        }
    }
}

pub(super) fn issue_edit(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let number = parsed.operands.first().and_then(|arg| arg.known()).unwrap_or_default();
    let numbered = parsed.operands.len() == 1
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit());
    let edits = ["-t", "--title", "-b", "--body", "-F", "--body-file"];
    let only = !parsed.seen.is_empty() && parsed.seen.iter().all(|seen| edits.contains(&seen.name));
    let edit = parsed.name.ends_with(" edit");
    if edit && numbered && only && workflow::is_planner(judge.context) {
        return;
    }
    judge.classified(Class::Publishes, parsed);
}

pub(super) fn label(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let create = parsed.name.ends_with(" create");
    let known = ["--force", "-f", "--color", "-c", "--description", "-d"];
    let options = parsed.args.iter().filter(|arg| arg.text.starts_with('-'));
    let only = options
        .into_iter()
        .all(|arg| known.contains(&arg.text.split('=').next().unwrap_or_default()));
    if create && only && workflow::is_board(judge.context) {
        return;
    }
    judge.classified(Class::Publishes, parsed);
}

pub(super) fn repo_view(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words: Option<Vec<&str>> = parsed.args.iter().map(Arg::known).collect();
    let owner = match words.as_deref() {
        Some(["--json", "owner"] | ["--json=owner"]) => true,
        Some(["--json", "owner", "-q" | "--jq", filter]) => {
            filter.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        }
        _ => false,
    };
    if !(owner && parsed.name.ends_with(" view") && workflow::is_board(judge.context)) {
        judge.classified(Class::Connects, parsed);
    }
}

pub(super) fn auth(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words: Option<Vec<&str>> = parsed.args.iter().map(Arg::known).collect();
    let status = matches!(words.as_deref(), Some(["status"]));
    if !(status && workflow::is_board(judge.context)) {
        judge.classified(Class::Reveals, parsed);
    }
}

pub(super) fn api(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let graphql = parsed.args.first().and_then(Arg::known) == Some("graphql");
    let mut files = false;
    let mut plain = true;
    let mut args = parsed.args.iter().skip(1);
    while let Some(arg) = args.next() {
        match arg.text.as_str() {
            "-f" | "--raw-field" | "-q" | "--jq" | "-H" | "--header" => {
                plain &= args.next().is_some_and(|value| !value.opaque_start());
            }
            "-F" | "--field" => {
                if let Some(value) = args.next() {
                    files |= value.text.contains("=@");
                    plain &= !value.opaque_start();
                    let file = value.text.split_once("=@").map(|(_, file)| Arg::exact(file));
                    judge.consider(file.and_then(|f| judge.context.places.judge(&f, Access::Read)));
                }
            }
            "--paginate" | "--silent" | "-i" | "--include" => {}
            _ => plain = false,
        }
    }
    let deletes = parsed.args.iter().any(|arg| arg.text.contains("delete"));
    if !(graphql && plain && !files && !deletes && workflow::is_board(judge.context)) {
        judge.classified(Class::Connects, parsed);
    }
}
