//! The groups of verbs, and what the help of each verb ends with.

mod plumbing;

pub(super) use plumbing::PLUMBING_HELPS;

/// What the help of a verb ends with.
pub(super) struct VerbHelp {
    /// The verb, or a verb and the verb below it.
    pub(super) verb: &'static str,
    /// What its options do not say; may be empty.
    pub(super) notes: &'static str,
    /// A comment and a command line each.
    pub(super) examples: [(&'static str, &'static str); 3],
    /// Verbs for the next or the opposite task.
    pub(super) see_also: &'static [&'static str],
}

/// A heading and its verbs.
type Group = (&'static str, &'static [&'static str]);

/// The verbs for people, in the order in which they are used.
pub(super) const GROUPS: &[Group] = &[
    ("Start work", &["do", "plan", "new", "lint", "run", "demo"]),
    ("Follow it", &["status", "watch", "web", "diff", "report", "cost"]),
    ("Decide", &["approve", "reject", "resume", "stop", "undo", "finish", "abandon"]),
    ("Agents", &["install", "uninstall", "doctor", "session", "permit", "auto"]),
    ("Scale out", &["fleet", "compile"]),
];

/// The verbs for agents, scripts and hosts.
pub(super) const PLUMBING: Group = (
    "Plumbing",
    &[
        "help",
        "list",
        "next",
        "summary",
        "receipt",
        "init",
        "prepare",
        "step",
        "gate",
        "finalize",
        "locate",
        "normalize",
        "adopt",
        "relocate",
        "push",
        "fetch",
        "notify",
        "confine",
        "hook",
        "mcp",
        "lsp",
        "replay",
        "schema",
        "completions",
        "man",
    ],
);

const fn verb(
    verb: &'static str,
    notes: &'static str,
    examples: [(&'static str, &'static str); 3],
    see_also: &'static [&'static str],
) -> VerbHelp {
    VerbHelp { verb, notes, examples, see_also }
}

/// One entry for each verb for people.
pub(super) const PEOPLE_HELPS: &[VerbHelp] = &[
    verb(
        "do",
        "The check is the project's test command, found in its files, or what --verify names. \
         The agent works in a worktree of its own until the check passes.",
        [
            ("Work until the project's tests pass", "onloop do 'Fix the failing test'"),
            (
                "Name the check and the agent",
                "onloop do 'Reject empty names' --verify 'cargo test names' --agent codex",
            ),
            ("Resolve an issue, and approve the work yourself", "onloop do --issue 12 --gate"),
        ],
        &["run", "new", "finish", "resume"],
    ),
    verb(
        "plan",
        "The agent works in a worktree that is removed afterwards. onloop lints its draft, tries each \
         check once in the sandbox and without network, and hands findings back. The steps run \
         only by `onloop run`. The same command continues with a kept draft.",
        [
            ("Have an agent draft the steps", "onloop plan 'Add rate limiting to the API'"),
            ("Start from the tasks of a specification", "onloop plan --from specs/001-login"),
            ("Convert a checklist without an agent", "onloop plan --from TODO.md --no-agent"),
        ],
        &["run", "lint", "new", "do"],
    ),
    verb(
        "demo",
        "The examples are built in. A demo needs git, and no network or account.",
        [
            ("A script fixes broken links one by one", "onloop demo"),
            ("A run that waits for a person", "onloop demo release"),
            ("A run that fails and says why", "onloop demo budget"),
        ],
        &["do", "run", "web"],
    ),
    verb(
        "run",
        "",
        [
            ("Run the only workflow of this repository", "onloop run"),
            (
                "Choose the agent; Codex works where Claude Code is unavailable",
                "onloop run add-auth --agent claude,codex",
            ),
            ("Show what would happen, and change nothing", "onloop run add-auth --simulate"),
        ],
        &["new", "lint", "resume", "finish"],
    ),
    verb(
        "resume",
        "",
        [
            ("Continue the only unfinished run", "onloop resume"),
            ("Continue the latest run of a workflow", "onloop resume add-auth"),
            (
                "Let the agent repeat an interrupted step",
                "onloop resume add-auth --interrupted redo",
            ),
        ],
        &["run", "status", "abandon"],
    ),
    verb(
        "lint",
        "",
        [
            ("Check the only workflow of this repository", "onloop lint"),
            (
                "Check some files, and fail on warnings too",
                "onloop lint hotl-workflow-add-auth.md --deny-warnings",
            ),
            ("Fix what can be fixed without a decision", "onloop lint --fix"),
        ],
        &["new", "run"],
    ),
    verb(
        "new",
        "",
        [
            (
                "Write hotl-workflow-add-auth.md for a feature",
                "onloop new add-auth --intent 'Let people sign in'",
            ),
            ("Start from the steps of a bug fix", "onloop new login-loop --template bugfix"),
            (
                "Start from the steps of a refactoring",
                "onloop new split-parser --template refactor",
            ),
        ],
        &["lint", "run"],
    ),
    verb(
        "compile",
        "A job ends at the next gate that a person decides. A gate is a job whose environment \
         has required reviewers. Jobs pass the run on through refs/onloop/ of the repository.",
        [
            (
                "Write the GitHub workflow",
                "onloop compile wf.md --to github --out .github/workflows/onloop-wf.yml",
            ),
            (
                "Give the agent its key",
                "onloop compile wf.md --to github --agent claude --secret ANTHROPIC_API_KEY",
            ),
            (
                "Install the agent first",
                "onloop compile wf.md --to github --agent codex --install ./ci/codex.sh",
            ),
        ],
        &["run", "fleet"],
    ),
    verb(
        "status",
        "",
        [
            ("Show what is unfinished here", "onloop status"),
            ("Show every step of the latest run of a workflow", "onloop status add-auth"),
            ("Print all runs as JSON", "onloop status --all --json"),
        ],
        &["watch", "report", "resume"],
    ),
    verb(
        "watch",
        "Press ? for the keys. It needs a terminal that can draw.",
        [
            ("Watch everything on this machine", "onloop watch"),
            ("Watch the latest run of a workflow", "onloop watch add-auth"),
            ("Watch one run by the beginning of its id", "onloop watch add-auth-2026"),
        ],
        &["status", "web"],
    ),
    verb(
        "report",
        "",
        [
            ("Print the report of the latest run here", "onloop report"),
            ("Print the report of the latest run of a workflow", "onloop report add-auth"),
            (
                "Write the page of the run as one file",
                "onloop report add-auth --html --out report.html",
            ),
        ],
        &["status", "diff", "receipt"],
    ),
    verb(
        "cost",
        "",
        [
            ("Show what each day cost", "onloop cost"),
            ("Show what each agent cost since a day", "onloop cost --by agent --since 2026-11-01"),
            (
                "Print the last 24 hours by repository as JSON",
                "onloop cost --by repo --since 24h --json",
            ),
        ],
        &["status", "report"],
    ),
    verb(
        "finish",
        "",
        [
            ("Merge the work into the branch on which the run started", "onloop finish merge"),
            ("Push the branch of a run and open a pull request", "onloop finish add-auth pr"),
            ("Remove branch and worktree", "onloop finish add-auth discard --confirm discard"),
        ],
        &["diff", "report", "abandon"],
    ),
    verb(
        "diff",
        "",
        [
            ("Show all changes of the latest run here", "onloop diff"),
            ("Show the changes of its second step", "onloop diff 2"),
            ("Count the changed lines of another run", "onloop diff add-auth --stat"),
        ],
        &["report", "undo", "finish"],
    ),
    verb(
        "undo",
        "onloop keeps the present files as a checkpoint first. Branch and index stay as they are.",
        [
            ("Restore the files after step 2 of the only unfinished run", "onloop undo 2"),
            ("Restore the files before the first step", "onloop undo add-auth 0"),
            ("Restore the files after the first attempt at step 2", "onloop undo add-auth 2-1"),
        ],
        &["diff", "resume"],
    ),
    verb(
        "abandon",
        "",
        [
            ("Give up the only unfinished run", "onloop abandon --reason 'the plan was wrong'"),
            ("Give up the run of a workflow", "onloop abandon add-auth --reason 'not needed'"),
            (
                "Give up one run by its id",
                "onloop abandon add-auth-20260320T212315Z --reason 'too expensive'",
            ),
        ],
        &["resume", "finish"],
    ),
    verb(
        "auto",
        "",
        [
            ("Implement a feature", "onloop auto 'add a rate limit to the API' --agent claude"),
            ("Limit the cycles", "onloop auto --max-cycles 3"),
            ("Show where it would go, and start nothing", "onloop auto route"),
        ],
        &["run", "session"],
    ),
    verb(
        "permit",
        "",
        [
            (
                "Say why a call would be allowed, denied or asked about",
                "onloop permit explain 'git push'",
            ),
            ("Judge many calls", "onloop permit batch < calls.jsonl"),
            ("Use the rules that this project's file sets", "onloop permit trust"),
        ],
        &["session", "install", "confine"],
    ),
    verb(
        "permit explain",
        "",
        [
            ("Judge a shell line", "onloop permit explain 'git push --force'"),
            (
                "Judge a tool call",
                "onloop permit explain Write '{\"file_path\": \"/etc/hosts\"}' --json",
            ),
            ("Judge a line that runs confined", "onloop permit explain 'rm -rf build' --confined"),
        ],
        &["permit", "confine"],
    ),
    verb(
        "permit batch",
        "",
        [
            ("Judge the calls of a file", "onloop permit batch < calls.jsonl"),
            ("Save the decisions", "onloop permit batch < calls.jsonl > decisions.jsonl"),
            ("Count the denied calls", "onloop permit batch < calls.jsonl | grep -c deny"),
        ],
        &["permit"],
    ),
    verb(
        "permit trust",
        "",
        [
            ("Trust the file of this project", "onloop permit trust"),
            ("Stop trusting it", "onloop permit trust --revoke"),
            ("See the effect on a line", "onloop permit explain 'make deploy'"),
        ],
        &["permit"],
    ),
    verb(
        "session",
        "A session begins when a hands-off command, such as `/plan-to-issue`, is used in a client \
         that has onloop's hooks.",
        [
            ("Show the sessions of this project", "onloop session list"),
            ("Show what happened in one", "onloop session log 4f0c1f0e-demo"),
            ("Stop the continuations of one", "onloop session stop 4f0c1f0e-demo"),
        ],
        &["install", "permit", "auto"],
    ),
    verb(
        "session list",
        "",
        [
            ("Show the sessions of this project", "onloop session list"),
            ("Show those of every folder", "onloop session list --everywhere"),
            ("Print JSON", "onloop session list --json"),
        ],
        &["session", "status"],
    ),
    verb(
        "session show",
        "",
        [
            ("Show a session", "onloop session show 4f0c1f0e-demo"),
            ("Print JSON", "onloop session show 4f0c1f0e-demo --json"),
            ("List the ids", "onloop session list"),
        ],
        &["session"],
    ),
    verb(
        "session log",
        "",
        [
            ("Show the last 24 hours", "onloop session log"),
            ("Show the last week of one session", "onloop session log 4f0c1f0e --since 7d"),
            ("Print JSON", "onloop session log --json"),
        ],
        &["session", "status"],
    ),
    verb(
        "session undo",
        "Before a shell line of an agent session runs, onloop keeps the uncommitted files\n\
         that it may remove or overwrite, as commits that no branch contains.\n\
         Newer content of a file stays unless you add --force.",
        [
            ("List what is kept", "onloop session undo 4f0c1f0e"),
            ("Bring back the files from before a call", "onloop session undo 4f0c1f0e 3"),
            ("Bring back one file", "onloop session undo 4f0c1f0e notes.txt --force"),
        ],
        &["session", "undo"],
    ),
    verb(
        "session done",
        "",
        [
            ("End a session that reached its goal", "onloop session done 4f0c1f0e-demo"),
            ("See that it ended", "onloop session show 4f0c1f0e-demo"),
            ("Stop one that did not", "onloop session stop 4f0c1f0e-demo"),
        ],
        &["session"],
    ),
    verb(
        "session stop",
        "",
        [
            ("Stop the continuations of a session", "onloop session stop 4f0c1f0e-demo"),
            ("Record that it reached its goal", "onloop session done 4f0c1f0e-demo"),
            ("Remove its record", "onloop session clear 4f0c1f0e-demo"),
        ],
        &["session"],
    ),
    verb(
        "session clear",
        "",
        [
            ("Remove the record of a session", "onloop session clear 4f0c1f0e-demo"),
            ("Remove old records of this project", "onloop session clear --older-than 7d"),
            (
                "Remove old records of every folder",
                "onloop session clear --older-than 7d --everywhere",
            ),
        ],
        &["session"],
    ),
    verb(
        "approve",
        "",
        [
            ("List what waits", "onloop approve"),
            ("Approve what a run waits for; the run continues", "onloop approve add-auth"),
            ("Allow a call once", "onloop approve 1f2e3d4c"),
        ],
        &["reject", "watch", "web"],
    ),
    verb(
        "reject",
        "",
        [
            (
                "Have the agent do the step again",
                "onloop reject add-auth --redo --reason 'name the limit'",
            ),
            ("End the run", "onloop reject add-auth --reason 'not needed'"),
            ("Deny a call", "onloop reject 1f2e3d4c --reason 'not now'"),
        ],
        &["approve", "stop", "abandon"],
    ),
    verb(
        "stop",
        "The run saves its state, and `onloop resume` continues it.",
        [
            ("Stop the only unfinished run", "onloop stop"),
            ("Stop the latest run of a workflow", "onloop stop add-auth"),
            ("Kill its agent at once", "onloop stop add-auth --now"),
        ],
        &["resume", "status", "abandon"],
    ),
    verb(
        "install",
        "Other entries, comments and spaces in a shared file stay as they are.",
        [
            ("Install for all your sessions", "onloop install claude"),
            ("Install for this repository", "onloop install codex --scope project"),
            ("Show what would change", "onloop install cursor --dry-run --diff"),
        ],
        &["uninstall", "doctor"],
    ),
    verb(
        "uninstall",
        "",
        [
            ("Remove it from your settings and this repository", "onloop uninstall claude"),
            ("Remove it from this repository", "onloop uninstall codex --scope project"),
            ("Show what would change", "onloop uninstall cursor --dry-run"),
        ],
        &["install", "doctor"],
    ),
    verb(
        "doctor",
        "Each hook gets a call that it must refuse; nothing runs. It exits with 1 if a hook \
         protects nothing, and says what to do.",
        [
            ("Examine all clients", "onloop doctor"),
            ("Examine one client", "onloop doctor claude"),
            ("Try the sandbox of this machine", "onloop doctor confine"),
        ],
        &["install", "permit"],
    ),
    verb(
        "web",
        "It prints a link that lets one browser in. It listens on this machine alone; a phone \
         reaches it through a tunnel or a proxy of your own.",
        [
            ("Open the page in a browser", "onloop web --open"),
            ("Use a fixed port, for `ssh -L 8787:127.0.0.1:8787 HOST`", "onloop web --port 8787"),
            ("Accept a proxy", "onloop web --port 8787 --proxy https://box.example.ts.net"),
        ],
        &["watch", "status"],
    ),
    verb(
        "fleet",
        "The program `onloop-fleet`, beside this one or on PATH, does it.",
        [
            ("Start a server and one worker here", "onloop fleet up"),
            ("Add a worker", "onloop fleet worker --server URL --repos DIR"),
            ("Show runs, workers and what waits", "onloop fleet status"),
        ],
        &["run", "compile"],
    ),
];
