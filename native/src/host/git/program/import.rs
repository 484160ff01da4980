//! Imports commits that an untrusted git has packed.

use std::io::Read;
use std::path::Path;

use onloop_core::effect::{BranchName, Failure, FailureKind};
use onloop_core::limits;

use super::GitProgram;
use super::command::{IsolatedOptions, text};
use crate::host::failure;
use crate::host::files::open_untrusted;

/// Settings that bound the memory of git while it reads a pack.
const BOUNDED: [&str; 4] = ["-c", "core.bigFileThreshold=16m", "-c", "pack.threads=2"];

/// A branch to move.
pub(crate) struct NewImport<'a> {
    pub(crate) pack: &'a Path,
    pub(crate) branch: &'a BranchName,
    pub(crate) head: &'a str,
    pub(crate) commit: &'a str,
    pub(crate) tree: &'a str,
}

impl GitProgram {
    /// Takes the objects of the pack, and moves the branch once git has checked them. Each git is a
    /// process more after every turn, so one answers for the branch and for HEAD.
    pub(crate) fn import_pack(&self, root: &Path, new: &NewImport<'_>) -> Result<(), Failure> {
        let branch = format!("refs/heads/{}", new.branch);
        let args = ["for-each-ref", "--format=%(HEAD)%(objectname)", &branch];
        let found = text(&self.answer(root, &args)?.success()?);
        let (is_checked_out, found) =
            (found.starts_with('*'), found.trim_start_matches(['*', ' ']));
        if ![new.commit, new.head].contains(&found) {
            let (name, expected) = (new.branch, new.head);
            let found = if found.is_empty() { "nothing" } else { found };
            let message = format!("branch `{name}` is at {found}, expected {expected}");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.take_objects(root, &read_pack(new.pack)?)?;
        self.demand_complete(root, &[new.commit, new.tree])?;
        // The index comes first: what an index ahead of its branch has can be committed again.
        if is_checked_out {
            self.answer(root, &["read-tree", "--reset", new.tree])?.success()?;
        }
        if found != new.commit {
            let why = "onloop: import the commits of the agent";
            let args = ["update-ref", "-m", why, &branch, new.commit, new.head];
            self.answer(root, &args)?.success()?;
        }
        Ok(())
    }

    /// Stores the objects of a pack. Git computes their ids itself and checks each as
    /// `fetch.fsckObjects` does.
    fn take_objects(&self, root: &Path, pack: &[u8]) -> Result<(), Failure> {
        // The header ends with the number of objects.
        if pack.get(8..12) == Some(&[0; 4]) {
            return Ok(());
        }
        let take = |check: &str| {
            let args = ["index-pack", "--stdin", "--fix-thin", check];
            self.checked(root, &[&BOUNDED[..], &args].concat(), pack)
        };
        let Err(failure) = take("--strict") else { return Ok(()) };
        let promises = ["config", "--type=bool", "--get-regexp", r"^remote\..*\.promisor$"];
        match self.answer(root, &promises)?.yes_or_no()? {
            None => Err(failure),
            // A partial clone lacks objects that a new one may name.
            Some(_) => take("--fsck-objects"),
        }
    }

    /// Demands every object that these name and that no reference has.
    fn demand_complete(&self, root: &Path, ids: &[&str]) -> Result<(), Failure> {
        let args = ["rev-list", "--objects", "--quiet", "--exclude-promisor-objects", "--stdin"];
        let args = [&args[..], &["--not", "--all"]].concat();
        self.checked(root, &args, (ids.join("\n") + "\n").as_bytes())
    }

    fn checked(&self, root: &Path, args: &[&str], input: &[u8]) -> Result<(), Failure> {
        let answer = self.answer_isolated(root, args, input, IsolatedOptions::default())?;
        match answer.exit {
            0 => Ok(()),
            _ => Err(Failure::new(FailureKind::Conflict, answer.into_failure().message)),
        }
    }
}

/// Reads a pack from a folder that an untrusted program wrote. A link or a pipe there is refused.
fn read_pack(path: &Path) -> Result<Vec<u8>, Failure> {
    let shown = path.display().to_string();
    let failed = |error: std::io::Error| failure::of_path(&error, "read the pack", &shown);
    let file = open_untrusted(path).map_err(failed)?;
    let found = file.metadata().map_err(failed)?;
    if !found.is_file() {
        let message = format!("the pack `{shown}` is not a plain file");
        return Err(Failure::new(FailureKind::Conflict, message));
    }
    if found.len() > limits::IMPORT_PACK_BYTES {
        let most = limits::IMPORT_PACK_BYTES >> 20;
        let message = format!("the new commits are larger than {most} MiB");
        return Err(Failure::new(FailureKind::TooLarge, message));
    }
    let mut bytes = Vec::new();
    file.take(limits::IMPORT_PACK_BYTES).read_to_end(&mut bytes).map_err(failed)?;
    Ok(bytes)
}
