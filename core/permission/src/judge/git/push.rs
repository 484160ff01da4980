//! `git push`: refspecs, and branches that others build on.

use super::super::Judge;
use super::super::entry::ParsedArgs;
use super::{REMOTES, ask_to_name, is_branch};
use crate::expand::{Arg, shown};
use crate::verdict::{Finding, Rule};

/// Words in the names of branches that others build on, or that are deployed; pushing to one asks.
const PROTECTED: [&str; 23] = [
    "main",
    "master",
    "develop",
    "trunk",
    "release",
    "releases",
    "prod",
    "production",
    "live",
    "stable",
    "staging",
    "deploy",
    "pages",
    "development",
    "dev",
    "preprod",
    "prd",
    "uat",
    "qa",
    "next",
    "mainline",
    "default",
    "hotfix",
];

/// Those that say so only as the whole name: `docs/typo` and `preview-pane` are about something. Servers deploy
/// whichever branch is set (manuals of GitHub Pages, Netlify and Heroku), by convention one of these.
const PROTECTED_WHOLE: [&str; 7] =
    ["publish", "deployment", "deployed", "website", "docs", "preview", "integration"];

/// Those that say so as any part of a name.
const PROTECTED_ANYWHERE: [&str; 6] = ["main", "master", "prod", "production", "live", "staging"];

/// `git push`: where to, what over what, and whether it is forced.
pub(crate) fn push(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let leases = parsed.values(&["--force-with-lease"]);
    // With a commit that it names (`=REF:COMMIT`), git does not ask whether that one was ever seen.
    let names_no_commit = |value: &&Arg| value.known().is_some_and(|value| !value.contains(':'));
    let is_leased = parsed.has(&["--force-with-lease"]);
    let lease = is_leased && leases.iter().all(names_no_commit);
    let forced = parsed.has(&["-f", "--force"]) || is_leased;
    let refs = parsed.operands.get(1..).unwrap_or_default();
    if let Some(remote) = parsed.operands.first()
        && !remote.known().is_some_and(|name| REMOTES.contains(&name))
    {
        let what = "pushes to something else than the project's remotes";
        ask_to_name(judge, parsed, &remote.text, what);
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
    let is_current = |arg: &Arg| {
        let current = judge.context.git_branch.as_deref();
        arg.text == "HEAD" || current.is_some_and(|name| arg.text.contains(name))
    };
    if judge.seen.switched && (refs.is_empty() || refs.iter().any(|arg| is_current(arg))) {
        judge.ask(parsed, "pushes the branch that the line switches to");
    }
    if refs.is_empty()
        && let Some(branch) = judge.context.git_branch.as_deref().filter(|name| is_protected(name))
    {
        ask_to_name(judge, parsed, branch, &format!("pushes the protected branch `{branch}`"));
    }
    for refspec in refs {
        push_refspec(judge, parsed, refspec, forced, lease);
    }
}

fn force_push(judge: &mut Judge<'_>, reason: impl Into<String>) {
    judge.add(Finding::deny(Rule::ForcePush, reason));
}

fn push_refspec(
    judge: &mut Judge<'_>,
    parsed: &ParsedArgs<'_>,
    refspec: &Arg,
    forced: bool,
    lease: bool,
) {
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
    let branch = judge.context.git_branch.as_deref();
    let own = branch.is_some_and(|branch| {
        let to = target.unwrap_or(source);
        let from = source == "HEAD" || short(source) == branch;
        from && (short(to) == branch || (target.is_none() && to == "HEAD"))
    });
    if forced || plus {
        // A lease overwrites only what was seen.
        let seen = lease && !plus && !parsed.has(&["-f", "--force"]);
        if own && seen && !branch.is_some_and(is_protected) {
            return;
        }
        return forced_refspec(judge, &text, source, target, plus);
    }
    let plain = |name: &str| is_branch(name) && !names_another_kind(name);
    if is_version(source) && target.is_none() && !own
        || !source.split(['~', '^']).all(plain)
        || target.is_some_and(|name| !plain(name))
        || source == "tag"
    {
        judge.ask(parsed, "pushes something else than a branch");
    }
    let pushed = match target.unwrap_or(source) {
        "HEAD" => branch.unwrap_or("HEAD"),
        pushed => pushed,
    };
    if is_protected(pushed) {
        let what = format!("pushes `{source}` to the protected branch `{pushed}`");
        ask_to_name(judge, parsed, &refspec.text, &what);
    }
}

/// Whether a name is that of a version, as tags are: `v1`, `1.2`, `1.0.0-rc1`.
fn is_version(name: &str) -> bool {
    let rest = name.strip_prefix('v').unwrap_or(name);
    let end = rest.bytes().position(|b| !b.is_ascii_digit() && b != b'.').unwrap_or(rest.len());
    let (number, suffix) = rest.split_at(end);
    let is_number = number.contains('.') || !number.is_empty() && rest.len() < name.len();
    is_number && (suffix.is_empty() || suffix.starts_with(['-', '+']))
}

/// Whether a full name is that of a tag or of something else that is no branch.
fn names_another_kind(name: &str) -> bool {
    let rest = name.strip_prefix("refs/").unwrap_or(name);
    rest.starts_with("tags/") || name.starts_with("refs/") && !rest.starts_with("heads/")
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
        (Some(branch), None) => format!("the current branch `{branch}` has no number of an issue"),
        (Some(branch), Some(_)) => format!("only `{branch}` itself may be forced"),
    };
    force_push(judge, format!("`git push` forces `{text}`, and {why}"));
}

fn short(name: &str) -> &str {
    name.strip_prefix("refs/heads/").or_else(|| name.strip_prefix("heads/")).unwrap_or(name)
}

/// Whether others build on a branch of this name, or it is deployed.
pub(crate) fn is_protected(name: &str) -> bool {
    let name = short(name).to_lowercase();
    if PROTECTED_WHOLE.contains(&name.as_str()) {
        return true;
    }
    let mut parts = name.split('/');
    let first = parts.next().unwrap_or_default();
    // `feature/live-search` is about one; `live-eu`, `release/1` and `env/production` are.
    first.split(['-', '_', '.']).any(|word| PROTECTED.contains(&word))
        || is_of_releases(&name)
        || parts.any(|part| PROTECTED_ANYWHERE.contains(&part))
}

/// Whether a branch has the name of a version or of one of the channels that versions are released on.
fn is_of_releases(name: &str) -> bool {
    const CHANNELS: [&str; 7] = ["alpha", "beta", "rc", "lts", "nightly", "canary", "edge"];
    let number = name.strip_prefix('v').unwrap_or(name);
    let is_part = |part: &str| part == "x" || part.bytes().all(|b| b.is_ascii_digit());
    let is_version = number.starts_with(|c: char| c.is_ascii_digit())
        && number.split('.').all(is_part)
        && (number != name || number.contains('.'));
    is_version || CHANNELS.contains(&name)
}

/// `42` of `issue-42` and `issue-42-title`.
fn issue_number(branch: &str) -> Option<&str> {
    let rest = branch.strip_prefix("issue-")?;
    let end = rest.bytes().position(|b| !b.is_ascii_digit()).unwrap_or(rest.len());
    let (number, title) = rest.split_at(end);
    (!number.is_empty() && (title.is_empty() || title.starts_with('-'))).then_some(number)
}
