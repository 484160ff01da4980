//! Refs that several machines share: files in commits of their own, and refs of a remote that
//! change together or not at all.

use onloop_effect::{Failure, FailureKind, KeptFile, NamedCheckpoint, RefUpdate};
use onloop_syntax::time::Timestamp;

use crate::command::{GitProgram, IsolatedOptions, lines_until_nul, text};
use crate::references::CHECKPOINTS;

/// A commit to make from files.
pub(crate) struct NewFiles<'a> {
    pub(crate) files: &'a [KeptFile],
    /// The full name of the ref, if the commit gets one.
    pub(crate) reference: Option<&'a str>,
    pub(crate) parent: Option<&'a str>,
    pub(crate) message: &'a str,
    pub(crate) at: Timestamp,
}

/// A remote that is configured.
pub(crate) struct KnownRemote<'n> {
    pub(crate) name: &'n str,
    /// It is a folder of this machine, as far as is known.
    pub(crate) is_folder: bool,
}

impl GitProgram {
    /// Makes a commit with these files.
    pub(crate) async fn keep_files(
        &self,
        cwd: &str,
        new: &NewFiles<'_>,
    ) -> Result<String, Failure> {
        let mut entries = Vec::new();
        for KeptFile { name, bytes } in new.files {
            let args = ["hash-object", "-w", "--stdin", "--no-filters"];
            let made = self
                .answer_isolated(cwd, &args, bytes, IsolatedOptions::default())
                .await?
                .success()?;
            entries.extend(format!("100644 blob {}\t{name}\0", text(&made)).into_bytes());
        }
        let tree = self
            .answer_isolated(cwd, &["mktree", "-z"], &entries, IsolatedOptions::default())
            .await?;
        let tree = text(&tree.success()?);
        let mut args = vec!["commit-tree", "--no-gpg-sign"];
        if let Some(parent) = new.parent {
            args.extend(["-p", parent]);
        }
        args.extend(["-F", "-", &tree]);
        let options = IsolatedOptions { committed: Some(new.at), ..IsolatedOptions::default() };
        let made =
            self.answer_isolated(cwd, &args, new.message.as_bytes(), options).await?.success()?;
        let commit = text(&made);
        if let Some(reference) = new.reference {
            let args = ["update-ref", "--no-deref", reference, &commit];
            self.answer_isolated(cwd, &args, &[], IsolatedOptions::default()).await?.success()?;
        }
        Ok(commit)
    }

    /// Returns the content of a file in a commit.
    pub(crate) async fn read_kept(
        &self,
        cwd: &str,
        commit: &str,
        name: &str,
        limit_bytes: u64,
    ) -> Result<Vec<u8>, Failure> {
        let args = ["ls-tree", "-z", "--full-tree", commit, "--", name];
        let listed =
            self.answer_isolated(cwd, &args, &[], IsolatedOptions::default()).await?.success()?;
        let entry = lines_until_nul(&listed).next().map(String::from_utf8_lossy);
        let Some(entry) = entry else {
            let message = format!("there is no `{name}` in {commit}");
            return Err(Failure::new(FailureKind::NotFound, message));
        };
        let words: Vec<&str> = entry.split([' ', '\t']).collect();
        let ["100644" | "100755", "blob", blob, ..] = words.as_slice() else {
            let message = format!("`{name}` in {commit} is not a file");
            return Err(Failure::new(FailureKind::Invalid, message));
        };
        let options = IsolatedOptions { limit_bytes, ..IsolatedOptions::default() };
        self.answer_isolated(cwd, &["cat-file", "blob", blob], &[], options).await?.success()
    }

    /// Changes refs in a remote repository if each has its expected commit.
    pub(crate) async fn push_refs(
        &self,
        cwd: &str,
        &KnownRemote { name: remote, is_folder }: &KnownRemote<'_>,
        updates: &[RefUpdate],
    ) -> Result<(), Failure> {
        let mut args: Vec<String> = [
            "push",
            "--porcelain",
            "--atomic",
            "--no-follow-tags",
            "--no-signed",
            "--recurse-submodules=no",
        ]
        .map(str::to_owned)
        .into();
        args.extend(only_below(updates).filter(|_| is_folder).as_ref().map(receive_pack));
        for RefUpdate { name, expected, .. } in updates {
            let expected = expected.as_deref().unwrap_or_default();
            args.push(format!("--force-with-lease={CHECKPOINTS}{name}:{expected}"));
        }
        args.extend(["--".to_owned(), remote.to_owned()]);
        for RefUpdate { name, commit, .. } in updates {
            args.push(format!("{}:{CHECKPOINTS}{name}", commit.as_deref().unwrap_or_default()));
        }
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let failure = match self.act_with_hooks(cwd, &args).await {
            Ok(pushed) if pushed.exit == 0 => return Ok(()),
            Ok(pushed) => match self.refused_by_hook(cwd, &pushed).await? {
                Some(refusal) => return Err(refusal),
                None => crate::remote::unpushed_refs(remote, pushed),
            },
            Err(failure) if failure.is_interrupted() => return Err(failure),
            Err(failure) => failure,
        };
        // The state of the remote decides: its messages about a race vary, and a connection can end
        // after the change.
        match self.undisturbed().remote_refs(cwd, remote, updates).await {
            Ok(found) => came_of_it(remote, updates, &found, failure),
            Err(_) => Err(failure),
        }
    }

    /// Returns the commits of these refs in a remote repository.
    async fn remote_refs(
        &self,
        cwd: &str,
        remote: &str,
        updates: &[RefUpdate],
    ) -> Result<Vec<Option<String>>, Failure> {
        let names: Vec<String> =
            updates.iter().map(|update| format!("{CHECKPOINTS}{}", update.name)).collect();
        let mut args = vec!["ls-remote", "--", remote];
        args.extend(names.iter().map(String::as_str));
        let listed = text(&self.answer(cwd, &args).await?.success()?);
        let commit = |name: &String| {
            let mut lines = listed.lines().filter_map(|line| line.split_once('\t'));
            lines.find(|(_, found)| found == name).map(|(id, _)| id.to_owned())
        };
        Ok(names.iter().map(commit).collect())
    }

    /// Fetches the refs below a prefix of a remote repository.
    pub(crate) async fn fetch_refs(
        &self,
        cwd: &str,
        remote: &str,
        prefix: &str,
    ) -> Result<Vec<NamedCheckpoint>, Failure> {
        let into = format!("{CHECKPOINTS}{prefix}/fetched/{remote}/");
        let refspec = format!("+{CHECKPOINTS}{prefix}/*:{into}*");
        let args = [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            "--no-filter",
            "--prune",
            "--refmap=",
            "--",
            remote,
            &refspec,
        ];
        let fetched = self.act(cwd, &args).await?;
        if fetched.exit != 0 {
            return Err(crate::remote::unanswered(remote, fetched));
        }
        self.named_below(cwd, &into).await
    }
}

/// Settings for the git of a remote on this machine. It hides refs other than those of the pushed
/// run, because git reads each ref and its commit, and there may be thousands. It receives objects
/// without a quarantine, which would list every ref again. It runs no maintenance during a push.
fn only_below(updates: &[RefUpdate]) -> Option<[String; 4]> {
    let (run, _) = updates.first()?.name.split_once('/')?;
    let is_of_run = |update: &RefUpdate| {
        update.name.strip_prefix(run).is_some_and(|rest| rest.starts_with('/'))
    };
    // A shell may interpret it.
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-');
    if !run.bytes().all(plain) || !updates.iter().all(is_of_run) {
        return None;
    }
    let all = CHECKPOINTS.trim_end_matches('/');
    Some([
        format!("receive.hideRefs={all}"),
        format!("receive.hideRefs=!{all}/{run}"),
        "core.alternateRefsCommand=true".to_owned(),
        "receive.autoGC=false".to_owned(),
    ])
}

/// Returns the option that starts the remote's git with these settings.
fn receive_pack(settings: &[String; 4]) -> String {
    let settings: String = settings.iter().map(|setting| format!(" -c '{setting}'")).collect();
    format!("--receive-pack=git{settings} receive-pack")
}

/// Returns whether a failed push has changed the refs after all, or why not.
fn came_of_it(
    remote: &str,
    updates: &[RefUpdate],
    found: &[Option<String>],
    failure: Failure,
) -> Result<(), Failure> {
    let mut pairs = updates.iter().zip(found);
    if pairs.clone().all(|(update, found)| update.commit == *found) {
        return Ok(());
    }
    let Some((update, found)) = pairs.find(|(update, found)| update.expected != **found) else {
        return Err(failure);
    };
    let said = |commit: &Option<String>| commit.clone().unwrap_or_else(|| "nothing".to_owned());
    let (found, expected, name) = (said(found), said(&update.expected), &update.name);
    let message = format!(
        "`{CHECKPOINTS}{name}` of `{remote}` names {found}, expected {expected}: another \
         machine changed it; nothing was pushed"
    );
    Err(Failure::new(FailureKind::Conflict, message))
}
