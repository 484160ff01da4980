//! Imports commits that an untrusted git has packed.

use onloop_effect::{BranchName, Failure, FailureKind};
use onloop_syntax::limits;

use crate::command::{GitProgram, IsolatedOptions, text};
use crate::files::answer;
use crate::{Step, StepReply};

/// Settings that bound the memory of git while it reads a pack.
const BOUNDED: [&str; 4] = ["-c", "core.bigFileThreshold=16m", "-c", "pack.threads=2"];

/// A branch to move.
pub(crate) struct NewImport<'a> {
    pub(crate) pack: &'a str,
    pub(crate) branch: &'a BranchName,
    pub(crate) head: &'a str,
    pub(crate) commit: &'a str,
    pub(crate) tree: &'a str,
}

impl GitProgram {
    /// Takes the objects of the pack, and moves the branch once git has checked them. Each git is a
    /// process more after every turn, so one answers for the branch and for HEAD.
    pub(crate) async fn import_pack(&self, root: &str, new: &NewImport<'_>) -> Result<(), Failure> {
        let branch = format!("refs/heads/{}", new.branch);
        let args = ["for-each-ref", "--format=%(HEAD)%(objectname)", &branch];
        let found = text(&self.answer(root, &args).await?.success()?);
        let (is_checked_out, found) =
            (found.starts_with('*'), found.trim_start_matches(['*', ' ']));
        if ![new.commit, new.head].contains(&found) {
            let (name, expected) = (new.branch, new.head);
            let found = if found.is_empty() { "nothing" } else { found };
            let message = format!("branch `{name}` is at {found}, expected {expected}");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.take_objects(root, &self.read_pack(new.pack).await?).await?;
        self.demand_complete(root, &[new.commit, new.tree]).await?;
        // The index comes first: what an index ahead of its branch has can be committed again.
        if is_checked_out {
            self.answer(root, &["read-tree", "--reset", new.tree]).await?.success()?;
        }
        if found != new.commit {
            let why = "onloop: import the commits of the agent";
            let args = ["update-ref", "-m", why, &branch, new.commit, new.head];
            self.answer(root, &args).await?.success()?;
        }
        Ok(())
    }

    /// Stores the objects of a pack. Git computes their ids itself and checks each as
    /// `fetch.fsckObjects` does.
    async fn take_objects(&self, root: &str, pack: &[u8]) -> Result<(), Failure> {
        // The header ends with the number of objects.
        if pack.get(8..12) == Some(&[0; 4]) {
            return Ok(());
        }
        let take = async |check: &str| {
            let args = ["index-pack", "--stdin", "--fix-thin", check];
            self.checked(root, &[&BOUNDED[..], &args].concat(), pack).await
        };
        let Err(failure) = take("--strict").await else { return Ok(()) };
        let promises = ["config", "--type=bool", "--get-regexp", r"^remote\..*\.promisor$"];
        match self.answer(root, &promises).await?.yes_or_no()? {
            None => Err(failure),
            // A partial clone lacks objects that a new one may name.
            Some(_) => take("--fsck-objects").await,
        }
    }

    /// Demands every object that these name and that no reference has.
    async fn demand_complete(&self, root: &str, ids: &[&str]) -> Result<(), Failure> {
        let args = ["rev-list", "--objects", "--quiet", "--exclude-promisor-objects", "--stdin"];
        let args = [&args[..], &["--not", "--all"]].concat();
        self.checked(root, &args, (ids.join("\n") + "\n").as_bytes()).await
    }

    async fn checked(&self, root: &str, args: &[&str], input: &[u8]) -> Result<(), Failure> {
        let answer = self.answer_isolated(root, args, input, IsolatedOptions::default()).await?;
        match answer.exit {
            0 => Ok(()),
            _ => Err(Failure::new(FailureKind::Conflict, answer.into_failure().message)),
        }
    }
    /// Reads a pack from a folder that an untrusted program wrote. A link or a pipe there is refused.
    async fn read_pack(&self, pack: &str) -> Result<Vec<u8>, Failure> {
        let (path, most) = (pack.to_owned(), limits::IMPORT_PACK_BYTES);
        let found = self.look(vec![path.clone()]).await.pop().flatten();
        let step = Step::Read { path, first_bytes: Some(most + 1), untrusted: true };
        let bytes = match found {
            Some(found) if found.size_bytes > most => None,
            Some(_) | None => {
                let read = self.ask(step).await;
                let read = answer!(read, StepReply::Content { bytes } => Vec::from(bytes));
                Some(read.map_err(|failure| match failure.kind {
                    FailureKind::Invalid => Failure::new(FailureKind::Conflict, failure.message),
                    _ => failure,
                })?)
            }
        };
        bytes.filter(|bytes| bytes.len() as u64 <= most).ok_or_else(|| {
            let message = format!("the new commits are larger than {} MiB", most >> 20);
            Failure::new(FailureKind::TooLarge, message)
        })
    }
}
