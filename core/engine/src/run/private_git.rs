//! The folder of git that the agent of a run has for itself, and the import of what it committed there.
//!
//! The file that says what was imported last decides whether the folder still belongs to the branch.
//! It is written after the branch has moved, so an import that was cut short is done again.

use crate::git::checkout;
use crate::run::checks::private_names;
use crate::run::processes::Work;
use crate::sandbox::choice::Sandbox;
use crate::sandbox::network::NetworkRequest;
use crate::state::store::{Paths, Store};
use onloop_agents::confine::{GitFolder, Needs};
use onloop_effect::{
    Durability, Expect, Failure, FailureKind, GitRequest, Io, Mechanism, Network, ProcessSpec,
    ProcessStatus, Shell,
};
use onloop_run::{SandboxStatus, Worker, WorkerSandbox};
use onloop_syntax::{limits, text};

/// Names other branches, tags and stashes whose commits the repository lacks, then packs what the branch
/// and the index have and the repository lacks. What the agent only intended to add is added first: no tree
/// has an intention. It runs confined and offline, and what it writes is
/// checked afterwards.
const PACK: &str = r#"
tip=$(git rev-parse --verify --quiet "refs/heads/$ONLOOP_BRANCH^{commit}") || {
    echo "the branch is gone in it" >&2; exit 1; }
git diff-files -z --name-only --diff-filter=A | git update-index -z --stdin
tree=$(git write-tree 2>/dev/null) || tree=$(git rev-parse "$tip^{tree}") || exit
echo "$tip $tree"
base="$(git rev-parse --git-common-dir)/base/objects"
git for-each-ref --format='%(objectname) %(refname)' refs/heads refs/tags refs/stash >"$TMPDIR/refs"
cut -d' ' -f1 "$TMPDIR/refs" | GIT_OBJECT_DIRECTORY="$base" git cat-file --batch-check |
    sed -n 's/ missing$//p' >"$TMPDIR/missing"
grep -F -f "$TMPDIR/missing" "$TMPDIR/refs" | head -n 20 | while read -r id name; do
    git merge-base --is-ancestor "$id" "$tip" || echo "$name"
done
test "$tip $tree" = "$ONLOOP_IMPORTED" && exit
mkdir "$TMPDIR/import" || exit
printf '%s\n' "$tip" "$tree" "^$ONLOOP_HEAD" |
    git pack-objects --quiet --revs --thin --delta-base-offset --stdout >"$TMPDIR/import/pack"
"#;

/// The folder of git that a process of a run sees.
pub(crate) enum PrivateFolder {
    /// That of the repository: the mechanism cannot show another, or no branch with a commit is checked
    /// out.
    Shared,
    /// The agent's, made for a branch. What is committed there is imported.
    Kept { folder: String, branch: String },
    /// One that ends with the process.
    Temporary,
}

impl PrivateFolder {
    /// What the sandbox shows.
    pub(crate) fn seen(&self) -> GitFolder {
        match self {
            PrivateFolder::Shared => GitFolder::Shared,
            PrivateFolder::Kept { folder, .. } => GitFolder::Kept(folder.clone()),
            PrivateFolder::Temporary => GitFolder::Temporary,
        }
    }
}

/// What was imported last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Imported {
    branch: String,
    commit: String,
    /// The tree of the index; empty: nothing was imported since the folder was made.
    tree: String,
    /// Names of other branches, tags and stashes with commits that the repository lacks.
    left: String,
}

impl Imported {
    async fn read(io: &Io, paths: &Paths) -> Option<Imported> {
        let (bytes, _) = io.read(&paths.imported(), limits::GIT_FILE_BYTES).await.ok()?;
        let said = String::from_utf8(bytes).ok()?;
        let mut words = said.lines().map(str::to_owned);
        let mut next = || words.next();
        Some(Imported { branch: next()?, commit: next()?, tree: next()?, left: next()? })
    }

    async fn write(&self, io: &Io, paths: &Paths) -> Result<(), Failure> {
        let bytes = format!("{}\n{}\n{}\n{}\n", self.branch, self.commit, self.tree, self.left);
        let bytes = bytes.into_bytes();
        io.write(&paths.imported(), bytes, Expect::Any, Durability::Durable).await.map(drop)
    }
}

/// The folder for `work`. The agent's stays the same until its branch moves by other means; checks and
/// reviews get new ones.
pub(crate) async fn ready(io: &Io, store: &Store, work: &Work<'_>) -> PrivateFolder {
    if work.sandbox.mechanism() != Some(Mechanism::Bubblewrap) {
        return PrivateFolder::Shared;
    }
    match work.worker {
        Worker::Agent | Worker::SetUp => kept(io, store).await.unwrap_or(PrivateFolder::Shared),
        Worker::Check | Worker::Review => PrivateFolder::Temporary,
    }
}

async fn kept(io: &Io, store: &Store) -> Option<PrivateFolder> {
    let (paths, root) = (store.paths(), &store.run().place.execution_root);
    let branch = match checkout::own(io, root).await?.branch(io).await {
        Some(branch) => branch,
        None => io.git_survey(root, "").await.ok()?.repository?.branch?,
    };
    let commit = io.git_head(root).await.ok().flatten()?;
    let folder = paths.agent_git();
    let last = Imported::read(io, paths).await;
    if last.is_none_or(|last| (&last.branch, &last.commit) != (&branch, &commit)) {
        let _ = io.remove(&folder).await;
        let begun = Imported { branch: branch.clone(), commit, ..Imported::default() };
        begun.write(io, paths).await.ok()?;
    }
    Some(PrivateFolder::Kept { folder, branch })
}

/// Imports what an interrupted turn has left.
///
/// # Errors
///
/// `Interrupted`: the person pressed Ctrl-C.
pub(crate) async fn import_rest(
    io: &Io,
    store: &mut Store,
    sandbox: &Sandbox,
) -> Result<(), Failure> {
    let folder = store.paths().agent_git();
    if sandbox.mechanism() != Some(Mechanism::Bubblewrap) || io.stat(&folder).await.is_err() {
        return Ok(());
    }
    let Some(Imported { branch, .. }) = Imported::read(io, store.paths()).await else {
        return Ok(());
    };
    import(io, store, sandbox, &PrivateFolder::Kept { folder, branch }).await
}

/// Imports what was committed and staged in a private folder. What cannot be imported is reported; the
/// files themselves are in the checkout. If git refused it, the next turn begins with a new folder.
///
/// # Errors
///
/// `Interrupted`: the person pressed Ctrl-C.
pub(crate) async fn import(
    io: &Io,
    store: &mut Store,
    sandbox: &Sandbox,
    private: &PrivateFolder,
) -> Result<(), Failure> {
    let PrivateFolder::Kept { folder, branch } = private else { return Ok(()) };
    let paths = store.paths().clone();
    let Some(last) = Imported::read(io, &paths).await else { return Ok(()) };
    let before = last.left.clone();
    match import_after(io, store, sandbox, (folder, branch), last).await {
        Ok(None) => Ok(()),
        Ok(Some(left)) => {
            if !left.is_empty() && left != before {
                store.note(format!(
                    "warning: the agent has commits outside of branch `{branch}`, which are removed \
                     with the run: {left}. Only the branch is imported: have them merged into it"
                ));
            }
            Ok(())
        }
        Err(failure) if failure.is_interrupted() => Err(failure),
        Err(failure) => {
            let why = text::one_line(&failure.message);
            store.note(format!(
                "warning: what the agent committed is not in branch `{branch}`; its files are in \
                 the checkout: {why}"
            ));
            if failure.kind == FailureKind::Conflict {
                let _ = io.remove(folder).await;
            }
            Ok(())
        }
    }
}

/// Returns what else is in the folder; `None`: nothing is known of it.
async fn import_after(
    io: &Io,
    store: &Store,
    sandbox: &Sandbox,
    (folder, branch): (&str, &str),
    last: Imported,
) -> Result<Option<String>, Failure> {
    let root = store.run().place.execution_root.clone();
    let spec = ProcessSpec::shell(Shell::Sh, PACK)
        .in_folder(&root)
        .without_env(private_names(io))
        .with_env([
            ("ONLOOP_BRANCH", branch),
            ("ONLOOP_HEAD", last.commit.as_str()),
            ("ONLOOP_IMPORTED", &format!("{} {}", last.commit, last.tree)),
            ("GIT_NO_REPLACE_OBJECTS", "1"),
            ("GIT_GRAFT_FILE", "/dev/null/none"),
        ])
        .timeout_ms(limits::GIT_QUESTION_TIMEOUT_MS);
    let needs = Needs::default();
    let folder = GitFolder::Kept(folder.to_owned());
    let extent = (NetworkRequest::exactly(Network::None), &needs);
    let (spec, _, confined) = sandbox.put_in_force(io, &root, spec, extent, folder).await?;
    let Some(confined) = confined else { return Ok(None) };
    let imported = match confined.confinement.git {
        // The repository is one whose folder of git cannot be replaced.
        None => Ok(None),
        Some(_) => {
            let pack = format!("{}/import/pack", confined.temporary());
            take(io, store, spec, (pack, branch), last).await.map(Some)
        }
    };
    confined.remove(io).await;
    imported
}

async fn take(
    io: &Io,
    store: &Store,
    spec: ProcessSpec,
    (pack, branch): (String, &str),
    last: Imported,
) -> Result<String, Failure> {
    let end = io.process(spec).await?;
    match end.status {
        ProcessStatus::Exited(0) => {}
        ProcessStatus::Interrupted => return Err(Failure::interrupted()),
        ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
            let said = end.stderr.text();
            let why = format!("its folder of git cannot be read: {}", said.trim());
            return Err(Failure::new(FailureKind::Conflict, text::ellipsis(&why, 500)));
        }
    }
    let said = end.stdout.text();
    let mut lines = said.lines();
    let Some((commit, tree)) = lines.next().and_then(|line| line.trim().split_once(' ')) else {
        return Err(Failure::new(FailureKind::Conflict, "its folder of git names no commit"));
    };
    let left: Vec<String> = lines.map(|name| text::ellipsis(&text::one_line(name), 100)).collect();
    let (commit, tree, left) = (commit.to_owned(), tree.to_owned(), left.join(", "));
    let now = Imported { branch: last.branch, commit, tree, left };
    if (&now.commit, &now.tree) == (&last.commit, &last.tree) {
        if now.left != last.left {
            now.write(io, store.paths()).await?;
        }
        return Ok(now.left);
    }
    let request = GitRequest::ImportPack {
        cwd: store.run().place.execution_root.clone(),
        pack,
        branch: branch.to_owned(),
        head: last.commit,
        commit: now.commit.clone(),
        tree: now.tree.clone(),
    };
    let mut tries = 1;
    while let Err(failure) = io.git(request.clone()).await {
        // An editor that looks at the checkout holds its index for a moment.
        if failure.kind != FailureKind::Busy || tries == limits::IMPORT_TRIES {
            return Err(failure);
        }
        tries += 1;
        io.sleep(limits::IMPORT_PAUSE_MS).await?;
    }
    now.write(io, store.paths()).await?;
    Ok(now.left)
}

/// Removes the private folder of a run that is over.
pub(crate) async fn remove(io: &Io, store: &Store) {
    let by_bubblewrap = |used: &WorkerSandbox| {
        matches!(used.status, SandboxStatus::Confined { by: Mechanism::Bubblewrap, .. })
    };
    if store.run().sandboxes.iter().any(by_bubblewrap) {
        // A folder that stays does no harm: no git outside reads it.
        let _ = io.remove(&store.paths().git()).await;
    }
}
