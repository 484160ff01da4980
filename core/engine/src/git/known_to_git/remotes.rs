//! Pushes and fetches whose target only git knows.

use crate::git::{checkout, hardened};
use onloop_effect::{Failure, Io};
use onloop_permission::expand::HOLE;
use onloop_permission::{Class, Context, Examined, is_protected_branch, names_secret};
use onloop_syntax::text;
use std::collections::BTreeSet;

/// Commands of git that contact a remote.
const REACH: [&str; 3] = ["git push", "git fetch", "git pull"];
/// Commands that change what the next push without a name pushes, or where to.
const RETARGET: [&str; 3] = ["git switch", "git checkout", "git branch"];
/// Settings that say what a push sends.
const PUSH_SETTINGS: &str = r"^(push\.(default|followtags)|remote\..*\.(push|mirror))$";
/// Commands of git that make no folder in the checkout.
const IN_PLACE: [&str; 4] = ["git add", "git commit", "git push", "git fetch"];
/// The files that commits add or change, whatever settings say. What follows are the commits; a branch
/// that is not there yet is left out.
pub(super) const FILES_OF_COMMITS: [&str; 11] = [
    "log",
    "-c",
    "-z",
    "--root",
    "--format=",
    "--name-only",
    "--no-renames",
    "--no-relative",
    "--no-show-signature",
    "--diff-filter=d",
    "--ignore-missing",
];
/// Settings that say where a remote is.
const REMOTE_URLS: &str = r"^remote\..*\.url$";
/// Settings that say which remote a command without the name of one reaches.
const REMOTE_OF_BRANCH: &str = r"^(remote\.pushdefault|branch\..*\.(remote|pushremote))$";
/// Names that the engine takes for remotes. Without such a remote git takes what a file of this name in its
/// folder says, or a folder of this name.
const REMOTES: [&str; 2] = ["origin", "upstream"];

/// Why a person must decide about commands that are allowed and contact a remote; `None` if git knows of
/// nothing.
pub(super) async fn question(io: &Io, context: &Context, commands: &[Examined]) -> Option<String> {
    let reaches = |name: &String| REACH.contains(&name.as_str());
    let place = Place { io, folder: &context.places.cwd };
    let retargets = commands.iter().any(|command| RETARGET.contains(&command.name.as_str()));
    let makes_folders = commands.iter().any(may_make_files);
    for command in commands.iter().filter(|command| reaches(&command.name)) {
        let (_, verb) = command.name.split_once(' ').unwrap_or_default();
        let mut words = command.words.iter().skip_while(|word| *word != verb).skip(1);
        let operands: Vec<&str> = words.by_ref().filter_map(|word| operand(word)).collect();
        if let Some(reason) = place.no_remote(&operands, makes_folders).await {
            return Some(reason);
        }
        let is_any = retargets || command.words.iter().any(|word| word == "--all");
        if operands.is_empty()
            && let Some(reason) = place.other_remote(verb, is_any).await
        {
            return Some(reason);
        }
        if verb != "push" {
            continue;
        }
        let refs = operands.get(1..).unwrap_or_default();
        if let Some(reason) = place.elsewhere(refs.is_empty(), retargets).await {
            return Some(reason);
        }
        let reason = match refs {
            [] => place.target().await,
            refs => place.tag(refs).await,
        };
        let reason = match reason {
            None => place.symbolic(refs).await,
            reason => reason,
        };
        if reason.is_some() {
            return reason;
        }
        // What the line makes or switches to begins at the last commit.
        let is_made = refs.is_empty() || retargets;
        let mut sources: Vec<&str> = refs.iter().copied().map(source).collect();
        sources.extend(is_made.then_some("HEAD"));
        for other in commands.iter().filter(|other| may_bring_commits(other)) {
            sources.extend(other.words.iter().skip(2).flat_map(|word| revisions(word)));
            sources.extend(other.name.starts_with("git stash").then_some("refs/stash"));
        }
        match place.secret(&sources, context).await {
            Ok(None) => {}
            Ok(Some(path)) => {
                let what = "in a commit, and its name says that it is a secret";
                return Some(format!("it pushes `{path}` {what}"));
            }
            Err(failure) => return Some(format!("it is not known what it pushes: {failure}")),
        }
    }
    None
}

fn operand(word: &str) -> Option<&str> {
    (!word.starts_with('-')).then_some(word)
}

/// What a refspec sends.
pub(super) fn source(refspec: &str) -> &str {
    let refspec = refspec.strip_prefix('+').unwrap_or(refspec);
    refspec.split(':').next().unwrap_or_default()
}

/// Whether a command may make files or folders in the checkout.
pub(super) fn may_make_files(command: &Examined) -> bool {
    !IN_PLACE.contains(&command.name.as_str()) && !command.class.is_some_and(Class::only_reads)
}

/// Whether a command may put other commits, or files of them, into what is pushed.
fn may_bring_commits(command: &Examined) -> bool {
    command.name.starts_with("git ") && may_make_files(command)
}

/// What may be a revision in a word of git: all that there are if it is not known.
pub(super) fn revisions(word: &str) -> Vec<&str> {
    if word.contains(HOLE) {
        return vec!["--all"];
    }
    let value = match word.strip_prefix('-') {
        Some(option) => option.split_once('=').map_or(option.get(1..), |(_, value)| Some(value)),
        None => Some(word),
    };
    let ends = value.unwrap_or_default().split("..");
    ends.map(|end| end.trim_matches(['.', '^', '-'])).filter(|end| !end.is_empty()).collect()
}

struct Place<'p> {
    io: &'p Io,
    folder: &'p str,
}

impl Place<'_> {
    /// Lines that git answers; none where it refuses.
    async fn says(&self, words: &[&str]) -> Vec<String> {
        let said = hardened::text(self.io, self.folder, words).await.unwrap_or_default();
        said.lines().map(text::one_line).collect()
    }

    /// Without a remote of a name, git takes a folder of this name, and runs its hooks, or a bundle. It
    /// looks in the top folder.
    async fn no_remote(&self, words: &[&str], makes_folders: bool) -> Option<String> {
        let named: Vec<&&str> = words.iter().filter(|word| REMOTES.contains(word)).collect();
        if named.is_empty() {
            return None;
        }
        let known = self.says(&["config", "--name-only", "--get-regexp", REMOTE_URLS]).await;
        let is_known = |name: &&&str| known.contains(&format!("remote.{name}.url"));
        let missing = named.into_iter().find(|name| !is_known(name))?;
        let found = checkout::find(self.io, self.folder).await?;
        let (top, git) = (&found.root, found.common_folder(self.io).await);
        let mut is_there = makes_folders;
        for folder in [self.folder, top, &format!("{git}/remotes"), &format!("{git}/branches")] {
            for ending in ["", ".git", ".bundle"] {
                is_there |= self.io.stat(&format!("{folder}/{missing}{ending}")).await.is_ok();
            }
        }
        is_there.then(|| {
            format!(
                "this repository has no remote `{missing}`, so that git takes a folder of this name"
            )
        })
    }

    /// Settings by which a command that names no remote reaches another than those of the project.
    async fn other_remote(&self, verb: &str, retargets: bool) -> Option<String> {
        let settings = self.says(&["config", "--get-regexp", REMOTE_OF_BRANCH]).await;
        let branch = self.says(&["symbolic-ref", "--quiet", "--short", "HEAD"]).await;
        let counts = |name: &str| match name.rsplit_once('.') {
            Some((_, "pushdefault" | "pushremote")) if verb != "push" => false,
            // What the line switches to may be any branch.
            Some((section, _)) if !retargets => {
                let of = section.strip_prefix("branch.");
                of.is_none_or(|of| branch.first().is_some_and(|branch| branch == of))
            }
            _ => true,
        };
        let is_other =
            |remote: &str| !REMOTES.contains(&remote) && (remote != "." || verb == "push");
        let setting = settings.iter().find(|line| {
            let (name, remote) = line.split_once(' ').unwrap_or((line.as_str(), ""));
            counts(name) && is_other(remote)
        });
        if let Some(setting) = setting {
            let what = "git reaches another remote than the project's";
            return Some(format!("by the setting `{setting}` {what}"));
        }
        // Git takes the only one where no setting says which; a branch that the line makes may follow any.
        let known = self.says(&["config", "--name-only", "--get-regexp", REMOTE_URLS]).await;
        let known: BTreeSet<&str> =
            known.iter().filter_map(|name| name.split_once('.')?.1.strip_suffix(".url")).collect();
        let other = known.iter().find(|name| is_other(name))?;
        (known.len() == 1 || retargets)
            .then(|| format!("git may reach `{other}`, which is another remote than the project's"))
    }

    /// Settings that make a push send something else than the branch of the same name.
    async fn elsewhere(&self, is_bare: bool, retargets: bool) -> Option<String> {
        let settings = self.says(&["config", "--get-regexp", PUSH_SETTINGS]).await;
        let sends_more = |line: &&String| {
            let (name, value) = line.split_once(' ').unwrap_or((line.as_str(), "true"));
            match name {
                "push.default" if matches!(value, "upstream" | "tracking") => !is_bare || retargets,
                "push.default" => value == "matching",
                "push.followtags" => value != "false",
                _ => true,
            }
        };
        let setting = settings.iter().find(sends_more)?;
        Some(format!("the setting `{setting}` of git may push something else than the branch"))
    }

    /// Where a push without a name goes, if that is a protected branch.
    async fn target(&self) -> Option<String> {
        let target = self.says(&["rev-parse", "--abbrev-ref", "@{push}"]).await;
        let (_, branch) = target.first()?.split_once('/')?;
        is_protected_branch(branch).then(|| format!("it pushes the protected branch `{branch}`"))
    }

    /// Where refs without a target lead, if it is a protected branch. A branch may stand for another one.
    async fn symbolic(&self, refs: &[&str]) -> Option<String> {
        let refs = if refs.is_empty() { &["HEAD"] } else { refs };
        for name in refs.iter().filter(|name| !name.contains(':')) {
            let name = name.trim_start_matches('+');
            // A tag or a file of this name hides the branch.
            for spelling in [name.to_owned(), format!("refs/heads/{name}")] {
                let led = self.says(&["rev-parse", "--symbolic-full-name", &spelling]).await;
                let led = led.into_iter().next().unwrap_or_default();
                let branch = led.strip_prefix("refs/heads/").unwrap_or(&led);
                if is_protected_branch(branch) {
                    return Some(format!("it pushes the protected branch `{branch}`"));
                }
            }
        }
        None
    }

    /// A file with the name of a secret in a commit of `sources` that no branch of a remote is known to
    /// have.
    async fn secret(&self, sources: &[&str], context: &Context) -> Result<Option<String>, Failure> {
        let pushed = ["--not", "--remotes", "--not"];
        let words = FILES_OF_COMMITS.iter().chain(&pushed).chain(sources).copied().chain(["--"]);
        let words: Vec<&str> = words.collect();
        let said = hardened::text(self.io, self.folder, &words).await?;
        let root = context.places.root.as_deref().unwrap_or(self.folder);
        let is_secret = |path: &&str| names_secret(&format!("{root}/{path}"), context);
        Ok(said.split_terminator('\0').find(is_secret).map(text::one_line))
    }

    async fn tag(&self, refs: &[&str]) -> Option<String> {
        let plain = refs.iter().filter(|name| !name.contains(':'));
        let names: Vec<String> = plain.map(|name| format!("refs/tags/{name}")).collect();
        if names.is_empty() {
            return None;
        }
        let words = ["for-each-ref", "--format=%(refname:short)", "--"].into_iter();
        let words: Vec<&str> = words.chain(names.iter().map(String::as_str)).collect();
        let tag = self.says(&words).await.into_iter().next()?;
        Some(format!("it pushes the tag `{tag}`"))
    }
}
