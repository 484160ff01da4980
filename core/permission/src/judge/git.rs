//! What the table cannot say about git and gh: refspecs, remotes, listings.

mod push;
mod stage;

pub(crate) use push::{is_protected, push};
pub use stage::{Staging, Taken};
pub(crate) use stage::{commit, stage, stash};

use super::entry::{ParsedArgs, is_number};
use super::{Judge, network, scripts};
use crate::expand::{Arg, HOLE, Shape};
use crate::paths::{self, Access, PathClass, tidy};
use crate::programs::Class;
use crate::verdict::{Decision, Finding, PathRule, Rule};

/// The remotes of a project. Any other name may be a folder, whose hooks would run.
const REMOTES: [&str; 2] = ["origin", "upstream"];
/// Options that end or skip a merge, and take back what was edited since it stopped.
const ENDINGS: [&str; 2] = ["--abort", "--skip"];
/// Sub-commands of git that need a server.
const NEED_A_SERVER: [&str; 5] = ["push", "fetch", "pull", "clone", "ls-remote"];
/// The branches that work may be rebased onto.
const MAIN_BRANCHES: [&str; 2] = ["main", "master"];

/// git's options before the sub-command.
pub(crate) fn outer(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    for value in parsed.values(&["-C"]) {
        judge.consider(judge.places.judge(value, Access::List));
        match value.known() {
            Some(path) => {
                let folder = judge.places.physical(path);
                judge.go(folder.unwrap_or_else(|| judge.places.absolute(path)));
            }
            None => judge.seen.lost = true,
        }
    }
    judge.git_folder(parsed);
    if parsed.args.iter().any(|arg| arg.text.contains(":remotename")) {
        judge.about(parsed, Decision::Ask, true, ADDRESSES);
    }
    // An alias given on the command line is code.
    for value in parsed.values(&["-c"]) {
        if let Some((_, code)) = value.text.split_once("=!") {
            judge.guessed_code(code);
        }
    }
}

/// `git tag`: with an option that lists, it only lists.
pub(crate) fn listing(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const NAMES: [&str; 6] =
        ["--list", "-l", "--contains", "--merged", "--no-merged", "--points-at"];
    const SHAPES: [&str; 3] = ["--no-contains", "--sort", "--format"];
    let name = |arg: &Arg| arg.text.split('=').next().unwrap_or_default().to_owned();
    let is_of = |arg: &Arg, known: &[&str]| known.contains(&name(arg).as_str());
    let lists = parsed.args.iter().any(|arg| is_of(arg, &NAMES) || is_of(arg, &SHAPES));
    let only = parsed.args.iter().all(|arg| {
        let is_word = !arg.text.starts_with('-');
        arg.known().is_some() && (is_word || is_of(arg, &NAMES) || is_of(arg, &SHAPES))
    });
    let explicit = parsed.args.iter().any(|arg| is_of(arg, &NAMES));
    match lists && only && (explicit || parsed.operands.is_empty()) {
        true => judge.leaves_files(),
        false => judge.classified(Class::Changes, parsed),
    }
}

/// `git submodule`, `git notes` and `git bisect`, some of whose sub-commands only show.
pub(crate) fn nested_listing(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_args();
    let sub = parsed.name.rsplit(' ').next().unwrap_or_default();
    if matches!(
        (sub, words.as_deref().unwrap_or_default()),
        ("submodule", ["status"]) | ("notes" | "bisect", ["list" | "log"])
    ) {
        return;
    }
    judge.classified(parsed.program.class, parsed);
    if let ("bisect", Some(["run", ..])) = (sub, words.as_deref()) {
        judge.about(parsed, Decision::Ask, true, "runs a command on other commits");
    } else if matches!(
        words.as_deref(),
        Some(["foreach" | "run" | "replay" | "add" | "set-url", ..]) | None
    ) {
        judge.ask(parsed, "runs commands or changes where code comes from");
    }
    if let ("submodule", Some(["foreach", code @ ..])) = (sub, words.as_deref()) {
        judge.guessed_code(&code.join(" "));
    }
    if let ("bisect", Some(["run", _, ..])) = (sub, words.as_deref()) {
        let command = parsed.args[1..].to_vec();
        judge.command(&command, None);
    }
}

/// `git reflog`: showing it, not expiring it.
pub(crate) fn reflog(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if let Some(first) = parsed.operands.first()
        && matches!(first.text.as_str(), "expire" | "delete" | "drop")
    {
        judge.classified(Class::Discards, parsed);
    }
}

/// `git checkout`: a branch keeps what is not committed, a file does not.
pub(crate) fn checkout(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let separated = parsed.args.iter().any(|arg| arg.text == "--");
    let creates = parsed.has(&["-b"]);
    switch(judge, parsed);
    if separated && !creates {
        return discards(judge, parsed, &parsed.operands);
    }
    let current = judge.context.git_branch.as_deref();
    match parsed.operands.as_slice() {
        [] | [_] if creates => {}
        [] if parsed.has_certainly(&["-d", "--detach"]) => {}
        [only]
            if only.known() == Some("-") || only.known().is_some() && only.known() == current => {}
        // A file or folder of this name is taken back where no branch has it.
        [only] if !is_everything(only) => {
            judge.takes_edits_back();
            if !only.known().is_some_and(|name| MAIN_BRANCHES.contains(&name)) {
                judge.takes_back(&parsed.operands);
                judge.classified(Class::Changes, parsed);
            }
        }
        files => discards(judge, parsed, files),
    }
}

/// `git switch`: a branch that is made here has a name that is judged when it is pushed.
pub(crate) fn switch(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let made = parsed.values(&["-b", "-c", "--create"]);
    let current = judge.context.git_branch.as_deref();
    let stays = matches!(parsed.operands.as_slice(), [only] if only.known() == current);
    let makes = parsed.has_certainly(&["-b", "-c", "--create"]);
    if makes && parsed.operands.is_empty() {
        judge.leaves_files();
    }
    let is_new = makes && !made.iter().any(|name| is_protected(&name.text));
    judge.seen.switched |= !is_new && !stays;
}

/// `git stash branch`: it makes a branch and switches to it.
pub(crate) fn stash_branch(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let is_new = |name: &&Arg| name.known().is_some_and(|name| !is_protected(name));
    judge.seen.switched |= !parsed.operands.first().is_some_and(is_new);
}

/// `git merge` and its kin: a strategy with a folder writes where the commits do not say.
pub(crate) fn merge(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has(&ENDINGS) {
        judge.takes_edits_back();
    }
    const STRATEGIES: [&str; 10] = [
        "ours",
        "theirs",
        "patience",
        "ignore-space-change",
        "ignore-all-space",
        "ignore-space-at-eol",
        "ignore-cr-at-eol",
        "renormalize",
        "no-renormalize",
        "no-renames",
    ];
    for value in parsed.values(&["-X", "--strategy-option"]) {
        let plain = |text: &str| {
            STRATEGIES.contains(&text)
                || text.starts_with("diff-algorithm=")
                || text.starts_with("find-renames=")
        };
        if !value.known().is_some_and(plain) {
            judge.ask(parsed, "gets an option of its strategy that is not known");
        }
    }
}

/// `git pull`: as a fetch and a merge.
pub(crate) fn pull(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    fetch(judge, parsed);
    merge(judge, parsed);
}

/// `git restore`: `--staged` alone only takes files out of the index.
pub(crate) fn restore(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has_certainly(&["-S", "--staged"]) && !parsed.has(&["-W", "--worktree"]) {
        return judge.leaves_files();
    }
    discards(judge, parsed, &parsed.operands);
}

/// Files whose changes are thrown away: those that are named one by one may be meant.
fn discards(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, files: &[&Arg]) {
    if files.is_empty() || files.iter().any(|file| is_everything(file)) {
        return judge.classified(Class::Discards, parsed);
    }
    judge.takes_back(files);
    if files.iter().all(|file| judge.is_kept_by_git(file)) {
        return judge.removes_what_is_kept(parsed);
    }
    let rule = Rule::Program(parsed.name.to_owned());
    let reason =
        format!("`{}` throws away what is not committed in the files that it names", parsed.name);
    let named = files.iter().all(|file| file.known().is_some());
    judge.add(Finding { containable: named, ..Finding::ask(rule, reason).for_good() });
}

impl Judge<'_> {
    /// Notes the folder that git runs in. Any folder below the root may have been made to look like a
    /// repository, and git executes the configuration of a repository.
    pub(super) fn git_folder(&mut self, parsed: &ParsedArgs<'_>) {
        let is_git = parsed.name == "git";
        let what = match self.places.has_confined_command {
            true => Some("may use what a confined command leaves that still runs"),
            // One may be started meanwhile.
            false if self.seen.background && is_git => Some("runs in the background"),
            false if self.seen.waited.is_some() && is_git => {
                Some("runs after a command that waits")
            }
            false => None,
        };
        if let Some(what) = what {
            let word = parsed.rest.and_then(|at| parsed.args.get(at)).and_then(Arg::known);
            let stays = word.is_some_and(|word| !NEED_A_SERVER.contains(&word));
            let reason = format!("`{}` {what}", parsed.name);
            let found = Finding::ask(Rule::HiddenCode, reason);
            self.add(Finding { containable: is_git && stays, ..found });
        }
        let folder = self.places.cwd.clone();
        let places = &self.places;
        // Outside a project the folder that the agent works in is all that is known.
        let start = places.root.as_ref().unwrap_or(&self.context.places.cwd);
        let inner = places.untrusted_repository.as_deref();
        let is_known = !self.seen.lost && !places.is_nested && inner.is_none();
        if is_known && *start == folder {
            return;
        }
        let below =
            places.root.as_deref().is_some_and(|root| paths::below(&folder, root).is_some());
        let reason = match is_known && below {
            true if self.recovering.is_some() => return,
            true if places.plain_folders.contains(&folder) => {
                self.seen.in_plain = true;
                return;
            }
            true => format!("`{folder}` may be a repository of its own, whose settings run"),
            false => match inner {
                Some(inner) => format!("git enters `{inner}`, whose settings may run programs"),
                None => "git works in a folder whose settings are not known".to_owned(),
            },
        };
        if is_known && below {
            self.seen.git_folders.push(folder);
        }
        let rule = Rule::Program(parsed.name.to_owned());
        self.add(Finding { containable: self.only_shows(parsed), ..Finding::ask(rule, reason) });
    }

    /// Whether the sub-command only reads, so that a sandbox holds what else may run.
    fn only_shows(&self, parsed: &ParsedArgs<'_>) -> bool {
        let word = parsed.rest.and_then(|at| parsed.args.get(at)).and_then(Arg::known);
        let sub =
            word.and_then(|word| parsed.program.every_subcommand().find(|s| s.is_called(word)));
        sub.is_some_and(|sub| sub.class.is_containable())
    }

    /// Whether git has this file exactly as it is, so that it can be thrown away.
    pub(super) fn is_kept_by_git(&mut self, file: &Arg) -> bool {
        let named = file.known().filter(|_| !is_everything(file)).map(str::to_owned);
        let Some(path) = named.or_else(|| files_below(file)) else { return false };
        if self.places.class(&path) != PathClass::Repository {
            return false;
        }
        let path = self.places.absolute(&path);
        self.is_kept(path)
    }

    /// Whether git can bring back the file at this path, or what is in the folder where it ends in a
    /// slash.
    pub(super) fn is_kept(&mut self, path: String) -> bool {
        self.seen.loses = true;
        if let Some(losses) = &mut self.recovering {
            losses.removed.insert(path);
            return true;
        }
        let (restorable, kept) =
            (self.places.unchanged.contains(&path), self.places.kept.contains(&path));
        self.seen.restorable |= restorable;
        self.seen.kept |= kept && !restorable;
        restorable || kept
    }

    /// Judges a command whose files are all free to lose: those that the host keeps are lost in a
    /// sandbox only.
    pub(super) fn removes_what_is_kept(&mut self, parsed: &ParsedArgs<'_>) {
        if std::mem::take(&mut self.seen.kept) {
            let rule = Rule::Program(parsed.name.to_owned());
            let reason = format!("`{}` removes content that onloop keeps first", parsed.name);
            self.add(Finding::containable(rule, reason));
        }
    }

    /// Notes a file that a command overwrites.
    pub(super) fn overwrites(&mut self, file: &Arg) {
        let Some(path) = file.known() else { return };
        let is_ours = self.places.class(path) == PathClass::Repository;
        self.seen.loses |= is_ours;
        let path = self.places.absolute(path);
        if let Some(losses) = self.recovering.as_mut().filter(|_| is_ours) {
            losses.overwritten.insert(path);
        }
    }

    /// Judges operands whose files git writes. Those that are revisions name ordinary files.
    pub(super) fn takes_back(&mut self, operands: &[&Arg]) {
        for operand in operands {
            self.consider(self.context.client.file(operand, Access::Write, &self.places));
            if self.places.class(operand.guessed()) != PathClass::Repository {
                self.consider(self.places.judge(operand, Access::Write));
            }
        }
    }

    /// Notes that a command may take back every change of a tracked file.
    fn takes_edits_back(&mut self) {
        if let Some(losses) = &mut self.recovering {
            losses.edits = true;
        }
    }
}

/// What a pattern for names with an ending stands for, at most: `logs/**/*.log`. git has no files of its
/// own with such endings.
fn files_below(pattern: &Arg) -> Option<String> {
    const OF_GIT: [&str; 7] = ["pack", "idx", "rev", "lock", "keep", "bitmap", "sample"];
    let (folder, name) = pattern.text.rsplit_once('/').unwrap_or((".", &pattern.text));
    let (_, end) = name.rsplit_once('.')?;
    let is_plain = !end.is_empty() && end.bytes().all(|b| b.is_ascii_alphanumeric());
    let is_certain = pattern.shape == Shape::Pattern && !pattern.text.contains(['[', '\\', HOLE]);
    let folder = folder.split('/').take_while(|part| !part.contains(['*', '?']));
    let folder = folder.collect::<Vec<_>>().join("/");
    (is_certain && is_plain && !OF_GIT.contains(&end)).then(|| format!("{folder}/**/{name}"))
}

/// Whether a pathspec stands for a folder or for files that it does not name.
fn is_everything(arg: &Arg) -> bool {
    let text = arg.text.as_str();
    text.is_empty()
        || text == "*"
        || matches!(tidy(text).as_str(), "." | "./")
        || text.ends_with("/.")
        || text.starts_with(':')
        || text.ends_with('/')
        || text.ends_with("..")
        // git takes a backslash out of a name.
        || text.contains(['*', '?', '[', '\\'])
}

/// `git rm`: a pathspec may stand for files that run by themselves and that it does not name.
pub(crate) fn removed(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    // These leave the files where they are.
    if parsed.has_certainly(&["-n", "--dry-run", "--cached"]) {
        return;
    }
    let stands_for_others = |file: &&Arg| {
        let text = file.guessed();
        text.starts_with(':')
            || text.contains(['*', '?', '[', '\\'])
            || judge.places.is_around(text)
            || judge.places.is_above_automation(text)
    };
    if parsed.operands.iter().any(stands_for_others) {
        judge.ask(parsed, "may remove files that run by themselves and that it does not name");
    }
}

/// `git clean`: what is not tracked cannot be brought back.
pub(crate) fn clean(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has_certainly(&["-n", "--dry-run"]) {
        return;
    }
    let forced = parsed.has(&["-f", "--force"]);
    judge.classified(if forced { Class::Discards } else { Class::Deletes }, parsed);
}

/// `git diff`: with `--no-index` or a path outside of the checkout it compares files and whole folders
/// without a repository, as `diff -r` does.
pub(crate) fn diff(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has(&["--no-index"]) {
        for file in &parsed.operands {
            judge.reads(file);
        }
        judge.about(parsed, Decision::Ask, true, "compares files without the repository");
    }
    let leaves = parsed.operands.iter().any(|arg| {
        let text = arg.guessed();
        let is_path = text.starts_with('/') || text.split('/').any(|part| part == "..");
        text.starts_with('~') || is_path && !judge.places.is_inside(text)
    });
    if leaves {
        let rule = Rule::Path(PathRule::Outside);
        judge.add(Finding::containable(rule, "it compares what is outside the checkout"));
    }
}

/// `git branch`: lists, makes, and deletes what is merged.
pub(crate) fn branch(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let deletes = parsed.has(&["-d", "--delete"]);
    if deletes && parsed.has(&["-f", "--force"]) {
        return judge.classified(Class::Discards, parsed);
    }
    let named = parsed.operands.iter().all(|arg| {
        arg.known().is_some_and(|name| {
            !name.is_empty() && !name.starts_with('-') && !name.contains([':', '\\', ' '])
        })
    });
    let protected = deletes && parsed.operands.iter().any(|arg| is_protected(&arg.text));
    if !named || protected {
        judge.classified(Class::Changes, parsed);
    }
}

/// `git clone`: other addresses may name programs.
pub(crate) fn clone(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let address = parsed.operands.first().map_or("", |arg| arg.text.as_str());
    let starts = ["https://", "ssh://", "git@"];
    let is_plain = starts.iter().any(|start| address.starts_with(start));
    if !is_plain || address.contains("::") || address.contains(HOLE) {
        ask_to_name(judge, parsed, address, "fetches from something else than the web");
    }
    // An address of the web that carries nothing away is within reach of a sandbox.
    let first = parsed.operands.first().filter(|arg| arg.text.starts_with("https://"));
    match first.map(|arg| network::address(arg)) {
        Some(None) if parsed.known_args().is_some() => {
            judge.about(parsed, Decision::Ask, true, Class::Fetches.sentence());
        }
        _ => judge.classified(Class::Fetches, parsed),
    }
}

const ADDRESSES: &str = "shows addresses, which may hold a password";

/// Settings whose values are no secrets.
const SHOWN_SETTINGS: [&str; 13] = [
    "user.", "core.", "init.", "branch.", "pull.", "push.", "merge.", "rebase.", "diff.", "color.",
    "commit.", "tag.", "fetch.",
];

/// `git config`: shows a setting that holds no secret.
pub(crate) fn config(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_args();
    let rest = match words.as_deref() {
        Some(["--get" | "--get-all" | "get", rest @ ..]) => rest,
        Some(["--global" | "--local" | "--system", "--get" | "get", rest @ ..]) => rest,
        Some([.., "--list" | "-l"] | ["list" | "--list" | "-l", ..]) => {
            return judge.classified(Class::Reveals, parsed);
        }
        Some(rest @ [_]) => rest,
        _ => return judge.classified(Class::Rewires, parsed),
    };
    let shown = |key: &str| {
        let key = key.to_lowercase();
        // In place of its name a remote may have its address, with a password.
        !key.ends_with("remote") && SHOWN_SETTINGS.iter().any(|known| key.starts_with(known))
    };
    if !matches!(rest, [key] if shown(key)) {
        judge.classified(Class::Reveals, parsed);
    }
}

/// `git grep` and `git blame`: git opens tracked files behind a link in place of a folder, and what
/// settings name.
pub(crate) fn opens_files(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.name == "git grep" {
        scripts::pattern_option(judge, parsed);
    }
    if !parsed.has(&["--cached"]) {
        judge.classified(Class::Finds, parsed);
    }
}

/// `git remote`: listing names, and addresses, which may hold a password.
pub(crate) fn remote(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_args();
    match words.as_deref() {
        Some([]) => {}
        Some(["-v" | "--verbose"] | ["get-url", "origin" | "upstream"]) => {
            judge.about(parsed, Decision::Ask, true, ADDRESSES);
        }
        Some(["show" | "update" | "prune", remotes @ ..])
            if remotes.iter().all(|remote| REMOTES.contains(remote)) =>
        {
            judge.classified(Class::Fetches, parsed);
        }
        _ => judge.classified(Class::Rewires, parsed),
    }
}

/// `git fetch`: from the project's remotes, into its remote-tracking branches.
pub(crate) fn fetch(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let Some(operands) = parsed.known_operands() else {
        return judge.ask(parsed, "fetches from somewhere that is not known");
    };
    let [remote, refs @ ..] = operands.as_slice() else {
        return;
    };
    if !REMOTES.contains(remote) {
        let what = "fetches from something else than the project's remotes";
        ask_to_name(judge, parsed, remote, what);
    }
    if refs.iter().any(|name| !is_branch(name) && !is_pull_request(name)) {
        judge.ask(parsed, "writes local branches");
    }
}

/// `pull/12/head:pr-12`: a pull request, as a branch that has its number in its name. Git completes
/// other names to references of its own, such as those that say what a remote has.
fn is_pull_request(refspec: &str) -> bool {
    let Some((from, branch)) = refspec.split_once(':') else { return false };
    let begin = ["pull/", "merge-requests/"].iter().find_map(|begin| from.strip_prefix(begin));
    let number = begin.and_then(|rest| rest.strip_suffix("/head"));
    let is_plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"-_".contains(&b);
    number.is_some_and(|number| is_number(number) && branch.contains(number))
        && !branch.starts_with('-')
        && branch.bytes().all(is_plain)
        && !is_protected(branch)
}

/// Asks about a remote or a branch, which an allow rule covers that names it with `word`.
fn ask_to_name(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>, word: &str, what: &str) {
    let rule = Rule::Option(format!("{} {word}", parsed.name));
    judge.add(Finding::ask(rule, format!("`{}` {what}", parsed.name)));
}

/// `git rebase`: on top of one revision; the commits before stay in the log of the branch.
pub(crate) fn rebase(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    if parsed.has(&ENDINGS) {
        judge.takes_edits_back();
    }
    let steps = parsed.has(&["--continue", "--abort", "--skip"]);
    let shows = parsed.has_certainly(&["--show-current-patch"]);
    // A second word is a branch to switch to, and the last step switches back to the branch.
    judge.seen.switched |= parsed.operands.len() > 1 || judge.context.git_branch.is_none();
    let operands = parsed.known_operands();
    let is_known = match operands.as_deref() {
        Some([remote, branch]) => REMOTES.contains(remote) && MAIN_BRANCHES.contains(branch),
        Some([upstream]) => is_revision(upstream),
        Some([]) => steps || shows || parsed.has(&["--root"]),
        _ => false,
    };
    if !is_known {
        judge.ask(parsed, "rebases onto something else than one revision");
    } else if parsed.has(&["--onto", "--root"]) {
        // A sandbox writes no files that run by themselves, whatever commits are put on whatever.
        judge.about(parsed, Decision::Ask, true, "puts commits on others than those they follow");
    }
    for code in parsed.values(&["-x", "--exec"]) {
        judge.shell_argument(code);
    }
}

/// Whether a word is a branch or another revision, such as `HEAD~3`.
fn is_revision(word: &str) -> bool {
    let end = word.find(['~', '^']).unwrap_or(word.len());
    let is_step = |c: char| matches!(c, '~' | '^') || c.is_ascii_digit();
    is_branch(&word[..end]) && word[end..].chars().all(is_step)
}

/// Whether a name is that of a branch and no revision or option.
fn is_branch(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['-', '.'])
        && !name.contains("..")
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/_-.".contains(&b))
}
