//! Where things are kept: what decides in the state home, copies for readers in the worktree.

use onloop_documents::ledger::sha256;
use onloop_effect::is_within;
use onloop_effect::{Failure, FailureKind, Io, OptionalExt, Start};

/// The folder in which onloop keeps what an agent must not write; see
/// [`Start::state_home`](onloop_effect::Start::state_home).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct StateHome(String);

impl StateHome {
    /// The state home of this process.
    ///
    /// # Errors
    ///
    /// `Unsupported` where no variable says where it is.
    pub fn of(io: &Io) -> Result<StateHome, Failure> {
        let message = "there is no state home: set ONLOOP_STATE_HOME to an absolute folder \
                       outside every checkout (HOME is not set)";
        StateHome::of_start(io.start())
            .ok_or_else(|| Failure::new(FailureKind::Unsupported, message))
    }

    /// The state home of a process that was started so, where a variable says where it is.
    pub(crate) fn of_start(start: &Start) -> Option<StateHome> {
        start.state_home().map(StateHome)
    }

    /// The folder.
    pub fn folder(&self) -> &str {
        &self.0
    }

    /// Refuses a state home in the checkout `checkout`: an agent there could write to it. A
    /// folder that is no checkout may hold it: it may be the user's home.
    ///
    /// # Errors
    ///
    /// `Denied`, with what to do.
    pub(crate) async fn demand_outside(&self, io: &Io, checkout: &str) -> Result<(), Failure> {
        let checkout = checkout.trim_end_matches('/');
        let inside =
            is_within(&self.0, checkout) || is_within(&existing(io, &self.0).await, checkout);
        if !inside || io.stat(&format!("{checkout}/.git")).await.optional()?.is_none() {
            return Ok(());
        }
        let home = &self.0;
        Err(Failure::new(
            FailureKind::Denied,
            format!(
                "the state home `{home}` is inside the checkout `{checkout}`, where agents \
                 write; set ONLOOP_STATE_HOME to a folder outside it"
            ),
        ))
    }

    /// The folder that holds a folder for each run.
    pub fn runs(&self) -> String {
        format!("{}/runs", self.0)
    }

    /// The folder that holds a file, named by its id, for each run that works in `root` or was
    /// started there.
    pub fn runs_of(&self, root: &str) -> String {
        let key = sha256(root.trim_end_matches('/').as_bytes());
        format!("{}/places/{}", self.0, &key[..32])
    }

    /// What happened in hands-off sessions.
    pub(crate) fn audit_log(&self) -> String {
        format!("{}/audit.jsonl", self.0)
    }

    /// What stood in the audit log before it was begun anew.
    pub(crate) fn audit_log_before(&self) -> String {
        format!("{}/audit.1.jsonl", self.0)
    }

    /// The folder that holds a file for each hands-off session, which says where it is.
    pub(crate) fn sessions(&self) -> String {
        format!("{}/sessions", self.0)
    }

    /// The file that says where session `id` is whose file lies below `folder`.
    pub(crate) fn session(&self, folder: &str, id: &str) -> String {
        let key = sha256(format!("{}\n{id}", folder.trim_end_matches('/')).as_bytes());
        format!("{}/{}.json", self.sessions(), &key[..32])
    }

    /// The key with which receipts are signed.
    pub(crate) fn receipt_key(&self) -> String {
        format!("{}/receipt-key.pem", self.0)
    }

    /// What the client whose program is the file `program` said about its version.
    pub(crate) fn client(&self, program: &str) -> String {
        format!("{}/clients/{}.json", self.0, &sha256(program.as_bytes())[..32])
    }

    /// The folder that holds a file for each workspace in which rw-auto is under way.
    pub fn auto_runs(&self) -> String {
        format!("{}/auto", self.0)
    }

    /// Names the run of rw-auto in the workspace `root`, and the processes of its child.
    pub fn auto_run(&self, root: &str) -> String {
        let key = sha256(root.trim_end_matches('/').as_bytes());
        format!("{}/{}.json", self.auto_runs(), &key[..32])
    }

    /// The file that leads a browser to the page that process `pid` serves.
    pub fn web_page(&self, pid: u32) -> String {
        format!("{}/web/{pid}.html", self.0)
    }

    /// Held while something is done with the work of a run of the repository whose main checkout
    /// is `root`: two merges at once would switch branches under each other.
    pub fn finish_lock(&self, root: &str) -> String {
        self.repository_lock("finish", root)
    }

    /// Held while a worktree is created for the repository whose main checkout is `root`.
    pub(crate) fn worktree_lock(&self, root: &str) -> String {
        self.repository_lock("worktree", root)
    }

    /// The folder for worktrees of the repository `name` whose main checkout is `root`, if there is no
    /// place for them beside it.
    pub(crate) fn worktrees(&self, root: &str, name: &str) -> String {
        let key = sha256(root.trim_end_matches('/').as_bytes());
        format!("{}/worktrees/{name}-{}", self.0, &key[..8])
    }

    fn repository_lock(&self, what: &str, root: &str) -> String {
        let key = sha256(root.trim_end_matches('/').as_bytes());
        format!("{}/locks/{what}-{}.lock", self.0, &key[..32])
    }
}

/// `path` with the symbolic links in the part of it that exists resolved.
async fn existing(io: &Io, path: &str) -> String {
    let mut there = path;
    loop {
        if let Ok(real) = io.canonical(there).await {
            return format!("{real}{}", &path[there.len()..]);
        }
        match there.rsplit_once('/') {
            Some((parent, _)) if !parent.is_empty() => there = parent,
            _ => return path.to_owned(),
        }
    }
}

/// Where a run keeps its files.
#[derive(Clone, Debug)]
pub struct Paths {
    /// Its folder in the state home.
    folder: String,
    root: String,
    id: String,
}

impl Paths {
    /// The files of run `id`, which works in `root`.
    pub fn new(home: &StateHome, root: &str, id: &str) -> Paths {
        let folder = format!("{}/{id}", home.runs());
        Paths { folder, root: root.trim_end_matches('/').to_owned(), id: id.to_owned() }
    }

    /// The folder of the copies of all records in a worktree.
    pub fn copies(root: &str) -> String {
        format!("{}/.hotl/state", root.trim_end_matches('/'))
    }

    /// The copy of a record in the worktree `root`.
    pub fn copy_of(root: &str, id: &str) -> String {
        format!("{}/{id}.json", Paths::copies(root))
    }

    /// The id of the run.
    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    /// Its folder in the state home.
    pub fn folder(&self) -> &str {
        &self.folder
    }

    /// The folder in which agents and checks work.
    pub fn root(&self) -> &str {
        &self.root
    }

    /// The list of events that decides what the run is.
    pub fn ledger(&self) -> String {
        format!("{}/ledger.jsonl", self.folder)
    }

    /// A file beside the ledger: `name`, when it was made, `.jsonl`.
    pub fn ledger_named(&self, name: &str) -> String {
        format!("{}/ledger.{name}.jsonl", self.folder)
    }

    /// What is known to have been written, and may be lost.
    pub fn head(&self) -> String {
        format!("{}/head.json", self.folder)
    }

    /// Says that the run is a fleet's; not there: it is this machine's.
    pub fn fleet(&self) -> String {
        format!("{}/fleet.json", self.folder)
    }

    /// The copy of the record in the worktree.
    pub fn copy(&self) -> String {
        Paths::copy_of(&self.root, &self.id)
    }

    /// The report in the worktree.
    pub fn report(&self) -> String {
        format!("{}/.hotl/reports/{}.md", self.root, self.id)
    }

    /// Held while the ledger is appended to.
    pub fn record_lock(&self) -> String {
        format!("{}/record.lock", self.folder)
    }

    /// The options that the run was started with.
    pub fn options(&self) -> String {
        format!("{}/options", self.folder)
    }

    /// Held while a step that works beside others looks whether a limit leaves it an attempt.
    pub(crate) fn budget_lock(&self) -> String {
        format!("{}/budget.lock", self.folder)
    }

    /// What the turn under way has used, for other runs; not there: no turn, or no bound.
    pub(crate) fn turn_cost(&self) -> String {
        format!("{}/turn-cost", self.folder)
    }

    /// Output of the drivers in the background.
    pub fn driver_log(&self) -> String {
        format!("{}/driver.log", self.folder)
    }

    /// What a person was told of the run.
    pub fn told(&self) -> String {
        format!("{}/notices.json", self.folder)
    }

    /// Held while a person is told.
    pub fn told_lock(&self) -> String {
        format!("{}/notices.lock", self.folder)
    }

    /// The conversation that drives the run, where one does.
    pub fn conversation(&self) -> String {
        format!("{}/conversation.json", self.folder)
    }

    /// Held as long as a process drives the run.
    pub fn driver_lock(&self) -> String {
        format!("{}/driver.lock", self.folder)
    }

    /// Output of one attempt, for people.
    pub fn log(&self, name: &str) -> String {
        format!("{}/logs/{name}.log", self.folder)
    }

    /// When the log of one attempt grew.
    pub fn log_times(&self, name: &str) -> String {
        format!("{}/logs/{name}.times", self.folder)
    }

    /// What the agent's client wrote in one attempt.
    pub fn stream(&self, name: &str) -> String {
        format!("{}/logs/{name}.jsonl", self.folder)
    }

    /// What the hook of one attempt is told.
    pub fn policy(&self, name: &str) -> String {
        format!("{}/hooks/{name}.policy.json", self.folder)
    }

    /// The calls that the hook of one attempt judged.
    pub fn calls(&self, name: &str) -> String {
        format!("{}/hooks/{name}.calls.jsonl", self.folder)
    }

    /// The plugin through which opencode asks us.
    pub fn plugin(&self, name: &str) -> String {
        format!("{}/hooks/{name}.onloop.js", self.folder)
    }

    /// Prompt of one attempt.
    pub fn prompt(&self, name: &str) -> String {
        format!("{}/prompts/{name}.md", self.folder)
    }

    /// What the agent of one attempt says it used; beside its prompt, in a folder that exists.
    pub fn usage(&self, name: &str) -> String {
        format!("{}/prompts/{name}.usage.json", self.folder)
    }

    /// What git knows of the checkout from one checkpoint to the next.
    pub fn index(&self) -> String {
        format!("{}/index", self.folder)
    }

    /// What git needs while the run lasts.
    pub(crate) fn git(&self) -> String {
        format!("{}/git", self.folder)
    }

    /// The folder of git that the agent of the run has for itself.
    pub(crate) fn agent_git(&self) -> String {
        format!("{}/agent", self.git())
    }

    /// What was imported last from the agent's folder of git.
    pub(crate) fn imported(&self) -> String {
        format!("{}/imported", self.git())
    }

    /// Something a person looks at.
    pub fn evidence(&self, name: &str) -> String {
        format!("{}/evidence/{name}", self.folder)
    }
}
