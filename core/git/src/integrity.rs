//! What an agent may have written into the folder of git, and git believes: objects with other content
//! than their ids say, and links through which git would write elsewhere.

use onloop_effect::{Failure, FailureKind};
use onloop_syntax::text::hex;
use sha1_checked::{Digest, Sha1};

use crate::command::{GitProgram, IsolatedOptions, text};
use crate::files::answer;
use crate::paths::{ancestors, join};
use crate::programs::sha256;
use crate::{Step, StepReply};

/// Commands that write to the folder of git.
const WRITES: [&str; 13] = [
    "branch",
    "fetch",
    "merge",
    "notes",
    "push",
    "read-tree",
    "reset",
    "stash",
    "switch",
    "symbolic-ref",
    "update-index",
    "update-ref",
    "worktree",
];

/// What git writes by name at the top of its folder.
const WRITTEN: [&str; 9] = [
    "HEAD",
    "index",
    "packed-refs",
    "logs",
    "refs",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "COMMIT_EDITMSG",
    "MERGE_MSG",
];

/// Most bytes of objects that are read at once.
const AT_ONCE_BYTES: u64 = 32 << 20;

/// An object that git says it has.
struct Listed<'l> {
    id: &'l str,
    /// Where it is in a tree, as far as that is known.
    path: &'l str,
    size: u64,
}

impl GitProgram {
    /// Refuses a command that would write through a link in the folder of git around `cwd`.
    pub(crate) async fn demand_no_links(&self, cwd: &str, args: &[&str]) -> Result<(), Failure> {
        if !args.first().is_some_and(|command| WRITES.contains(command)) {
            return Ok(());
        }
        let folders = self.git_folders(cwd).await;
        let paths = folders.iter().flat_map(|folder| WRITTEN.map(|name| join(folder, name)));
        let step = Step::FindLink { paths: paths.collect() };
        match answer!(self.ask(step).await, StepReply::Path { path } => path)? {
            None => Ok(()),
            Some(link) => {
                let message = format!(
                    "`{link}` is a link, through which git would write elsewhere; look at it and \
                     remove it, then try again"
                );
                Err(Failure::new(FailureKind::Conflict, message))
            }
        }
    }

    /// The checkout's own folder of git and the one that all worktrees share.
    async fn git_folders(&self, cwd: &str) -> Vec<String> {
        let entries: Vec<String> = ancestors(cwd).map(|folder| join(folder, ".git")).collect();
        let found = self.follow(entries.clone()).await;
        for ((entry, found), folder) in entries.into_iter().zip(found).zip(ancestors(cwd)) {
            let Some(found) = found else { continue };
            if found.is_folder() {
                return vec![entry];
            }
            let Some(text) = self.read_text(&entry).await else { continue };
            let Some(own) = text.strip_prefix("gitdir:") else { continue };
            let own = join(folder, own.trim());
            let common = self.read_text(&join(&own, "commondir")).await;
            let common = common.map(|common| join(&own, common.trim()));
            return [own].into_iter().chain(common).collect();
        }
        vec![cwd.to_owned()]
    }

    /// Compares every object of `commit`, and of the commits since `base`, with its id. Git itself does
    /// not when it checks out a file.
    ///
    /// # Errors
    ///
    /// `Conflict` with the first object that has another content.
    pub(crate) async fn demand_intact(
        &self,
        cwd: &str,
        commit: &str,
        base: Option<&str>,
    ) -> Result<(), Failure> {
        let ask = async |args: &[&str], input: &[u8]| {
            let options = IsolatedOptions::default();
            self.answer_isolated(cwd, args, input, options).await?.success()
        };
        let commits = match base {
            Some(base) => ask(&["rev-list", commit, &format!("^{base}")], &[]).await?,
            None => Vec::new(),
        };
        let commits = [commit.as_bytes(), b"\n", &commits].concat();
        let args = ["rev-list", "--objects", "--no-walk", "--missing=allow-any", "--stdin"];
        let listed = text(&ask(&args, &commits).await?);
        let lines: Vec<(&str, &str)> =
            listed.lines().map(|line| line.split_once(' ').unwrap_or((line, ""))).collect();
        let ids: String = lines.iter().map(|(id, _)| format!("{id}\n")).collect();
        let sizes = text(&ask(&["cat-file", "--batch-check"], ids.as_bytes()).await?);
        let sizes = sizes.lines().map(|line| line.rsplit(' ').next()?.parse::<u64>().ok());
        let found = lines.into_iter().zip(sizes);
        // What is missing here was missing before: a partial clone.
        let found = found.filter_map(|((id, path), size)| Some(Listed { id, path, size: size? }));
        let (mut part, mut bytes) = (Vec::new(), 0_u64);
        for object in found {
            if bytes > 0 && bytes.saturating_add(object.size) > AT_ONCE_BYTES {
                self.demand_ids(cwd, &part, bytes).await?;
                (part, bytes) = (Vec::new(), 0);
            }
            bytes = bytes.saturating_add(object.size);
            part.push(object);
        }
        self.demand_ids(cwd, &part, bytes).await
    }

    async fn demand_ids(
        &self,
        cwd: &str,
        objects: &[Listed<'_>],
        bytes: u64,
    ) -> Result<(), Failure> {
        let ids: String = objects.iter().map(|object| format!("{}\n", object.id)).collect();
        // A line of an id, a kind and a size before each, and an end of line after it.
        let limit_bytes = bytes.saturating_add(128 * objects.len() as u64);
        let options = IsolatedOptions { limit_bytes, ..IsolatedOptions::default() };
        let answer =
            self.answer_isolated(cwd, &["cat-file", "--batch"], ids.as_bytes(), options).await?;
        let (exit, said) = (answer.exit, answer.said());
        let mut rest = answer.stdout.as_slice();
        for object in objects {
            let (is_own, after) = next_is(rest, object.id);
            if !is_own {
                return Err(other_content(cwd, object, &said));
            }
            rest = after;
        }
        match exit {
            0 => Ok(()),
            _ => Err(Failure::new(FailureKind::Conflict, said)),
        }
    }
}

/// Whether the first object of a batch has this id by its content, and what follows it.
fn next_is<'b>(batch: &'b [u8], id: &str) -> (bool, &'b [u8]) {
    let read = || {
        let end = batch.iter().position(|byte| *byte == b'\n')?;
        let (line, rest) = (std::str::from_utf8(&batch[..end]).ok()?, &batch[end + 1..]);
        let (_, kind_and_size) = line.split_once(' ')?;
        let (kind, size) = kind_and_size.split_once(' ')?;
        let size: usize = size.parse().ok()?;
        let content = rest.get(..size)?;
        Some((id_of(kind, content, id.len())? == id, rest.get(size + 1..)?))
    };
    read().unwrap_or((false, &[]))
}

/// The id of an object, which is as long as those of its repository are.
fn id_of(kind: &str, content: &[u8], length: usize) -> Option<String> {
    let head = format!("{kind} {}\0", content.len()).into_bytes();
    if length == 64 {
        return Some(sha256(&[&head, content].concat()));
    }
    let mut hasher = Sha1::new();
    hasher.update(&head);
    hasher.update(content);
    let result = hasher.try_finalize();
    // Two contents of one id can be made, and the hash tells that they were.
    (!result.has_collision()).then(|| hex(result.hash()))
}

fn other_content(cwd: &str, object: &Listed<'_>, said: &str) -> Failure {
    let Listed { id, path, .. } = object;
    let of_path = if path.is_empty() { String::new() } else { format!(" (`{path}`)") };
    let said = if said.is_empty() { String::new() } else { format!(": {said}") };
    let message = format!(
        "the object {id}{of_path} in the repository of `{cwd}` has other content than its id says, so it \
         is not what was verified{said}; `git fsck` lists such objects"
    );
    Failure::new(FailureKind::Conflict, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_git() {
        let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391";
        assert_eq!(id_of("blob", b"", 40).as_deref(), Some(empty));
        let empty = "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813";
        assert_eq!(id_of("blob", b"", 64).as_deref(), Some(empty));
        let batch = format!("{empty} blob 0\n\nrest");
        assert_eq!(next_is(batch.as_bytes(), empty), (true, &b"rest"[..]));
        assert!(!next_is(b"x blob 1\na\n", empty).0);
        assert!(!next_is(b"x missing\n", empty).0);
    }
}
