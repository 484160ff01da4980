//! What the help of each verb for agents, scripts and hosts ends with.

use super::{VerbHelp, verb};

/// One entry for each of these verbs.
pub(in super::super) const PLUMBING_HELPS: &[VerbHelp] = &[
    verb(
        "normalize",
        "",
        [
            ("Print one file", "onloop normalize hotl-workflow-add-auth.md"),
            ("Print the only workflow of this repository", "onloop normalize"),
            ("List its steps", "onloop normalize | jq .steps"),
        ],
        &["lint", "schema"],
    ),
    verb(
        "list",
        "",
        [
            ("Show all runs of this repository", "onloop list"),
            ("Show all runs of this machine", "onloop list --everywhere"),
            ("Print them as JSON", "onloop list --json"),
        ],
        &["status", "report"],
    ),
    verb(
        "next",
        "",
        [
            ("Show it for the only unfinished run", "onloop next"),
            ("Show it for the latest run of a workflow", "onloop next add-auth"),
            ("Print JSON", "onloop next --json"),
        ],
        &["status", "step"],
    ),
    verb(
        "summary",
        "",
        [
            ("Print the latest run here as JSON", "onloop summary"),
            ("Print the latest run of a workflow", "onloop summary add-auth"),
            ("Print the text for a client", "onloop summary add-auth --platform codex"),
        ],
        &["report", "status"],
    ),
    verb(
        "step",
        "",
        [
            ("Record that work on step 1 begins", "onloop step 1 start"),
            ("Run its checks", "onloop step 1 verify"),
            (
                "Let a blocked step be tried again",
                "onloop step 1 reopen --reason 'the database is there now'",
            ),
        ],
        &["init", "gate", "finalize"],
    ),
    verb(
        "gate",
        "",
        [
            ("Approve step 4 of the only unfinished run", "onloop gate 4 approved"),
            ("Reject it", "onloop gate 4 rejected add-auth"),
            (
                "Send it back to the agent",
                "onloop gate 4 rejected --redo --reason 'name the limit'",
            ),
        ],
        &["status", "approve", "resume"],
    ),
    verb(
        "init",
        "",
        [
            ("Begin a run of a file", "onloop init hotl-workflow-add-auth.md"),
            (
                "Work on a branch that you name",
                "onloop init hotl-workflow-add-auth.md --branch hotl/add-auth",
            ),
            (
                "Say how the work is isolated",
                "onloop init hotl-workflow-add-auth.md --executor-mode worktree",
            ),
        ],
        &["step", "gate", "finalize"],
    ),
    verb(
        "prepare",
        "",
        [
            ("Prepare as the file says", "onloop prepare hotl-workflow-add-auth.md"),
            ("Work in this checkout", "onloop prepare hotl-workflow-add-auth.md --mode branch"),
            (
                "Use the worktree that exists",
                "onloop prepare hotl-workflow-add-auth.md --on-existing reuse",
            ),
        ],
        &["init", "run"],
    ),
    verb(
        "locate",
        "",
        [
            ("Find unfinished runs", "onloop locate"),
            ("Find all runs of a file", "onloop locate --workflow hotl-workflow-add-auth.md --all"),
            ("Find one run", "onloop locate --run-id add-auth-20260320T212315Z --all"),
        ],
        &["list", "status"],
    ),
    verb(
        "finalize",
        "",
        [
            ("End the only unfinished run", "onloop finalize"),
            ("End the latest run of a workflow", "onloop finalize add-auth"),
            ("Name the run by an option", "onloop finalize --run-id add-auth-20260320T212315Z"),
        ],
        &["step", "finish"],
    ),
    verb(
        "receipt",
        "",
        [
            ("Print what the record proves", "onloop receipt add-auth > receipt.json"),
            ("Sign it", "onloop receipt add-auth --format intoto --out add-auth.dsse"),
            ("Verify it elsewhere", "onloop receipt verify add-auth.dsse --key onloop.pub"),
        ],
        &["report", "summary"],
    ),
    verb(
        "receipt verify",
        "Exits with 0 if the signature is valid, else with 1 and the reason.",
        [
            ("Verify with the key of this machine", "onloop receipt verify add-auth.dsse"),
            (
                "Verify with the key of the signer",
                "onloop receipt verify add-auth.dsse --key onloop.pub",
            ),
            ("Verify a file of another folder", "onloop receipt verify ../add-auth.dsse"),
        ],
        &["receipt"],
    ),
    verb(
        "receipt key",
        "",
        [
            ("Print it", "onloop receipt key"),
            ("Save it for the verifier", "onloop receipt key > onloop.pub"),
            ("Verify with it", "onloop receipt verify add-auth.dsse --key onloop.pub"),
        ],
        &["receipt"],
    ),
    verb(
        "adopt",
        "It shows every command that the run would start, and asks. Before that, onloop runs no \
         command of the untrusted record.",
        [
            ("Adopt a run", "onloop adopt add-auth-20260320T212315Z"),
            ("Adopt it without a question", "onloop adopt add-auth-20260320T212315Z --yes"),
            ("Adopt a saved ledger", "onloop adopt ledger.jsonl"),
        ],
        &["status", "resume"],
    ),
    verb(
        "relocate",
        "",
        [
            ("Name the new folder", "onloop relocate add-auth-20260320T212315Z --to ~/src/shop"),
            ("Use the current folder", "onloop relocate add-auth-20260320T212315Z --to ."),
            ("Use a neighboring folder", "onloop relocate add-auth-20260320T212315Z --to ../shop"),
        ],
        &["status", "resume"],
    ),
    verb(
        "push",
        "Record and checkpoints go below refs/onloop/ of the repository, all or none. Everyone \
         with read access to the repository can read them.",
        [
            ("Push the latest run of a workflow", "onloop push add-auth"),
            ("Push it to another remote", "onloop push add-auth --remote backup"),
            ("Push one run by its id", "onloop push add-auth-20260320T212315Z"),
        ],
        &["fetch", "resume"],
    ),
    verb(
        "fetch",
        "It shows every command that the run would start, and asks. The run gets a worktree of \
         its own, with the files of its last checkpoint.",
        [
            ("Fetch a run", "onloop fetch add-auth-20260320T212315Z"),
            ("Fetch it without a question", "onloop fetch add-auth-20260320T212315Z --yes"),
            (
                "Fetch it from another remote",
                "onloop fetch add-auth-20260320T212315Z --remote backup",
            ),
        ],
        &["push", "resume"],
    ),
    verb(
        "notify",
        "",
        [
            ("Show the configured channels", "onloop notify"),
            ("Send a message to each of them", "onloop notify --test"),
            ("Read how they are configured", "onloop help notify"),
        ],
        &["doctor", "status"],
    ),
    verb(
        "confine",
        "The command writes this checkout, a temporary folder and build caches. It cannot read \
         keys, tokens and .env files of other checkouts. It exits as the command does, or with \
         4 where this machine has no sandbox; see `onloop doctor confine`.",
        [
            ("Run the tests", "onloop confine -- cargo test"),
            ("Run a build without network", "onloop confine --network none -- ./build.sh"),
            ("Allow servers on this machine", "onloop confine --network loopback -- npm test"),
        ],
        &["doctor", "permit"],
    ),
    verb(
        "hook",
        "Agent hosts call this: one event as JSON in, the answer of the host out, nothing where \
         there is no opinion. It exits with 0, or with 2 where it wakes a waiting client.",
        [
            ("Answer an event of Claude Code", "onloop hook claude < event.json"),
            ("Answer within a minute", "onloop hook codex --timeout 60 < event.json"),
            ("Answer an event of Cursor", "onloop hook cursor < event.json"),
        ],
        &["install", "doctor", "permit"],
    ),
    verb(
        "mcp",
        "Messages come on standard input, answers go to standard output, until the input ends. \
         `onloop install HOST` configures it.",
        [
            ("Add it to Claude Code, without hooks", "claude mcp add onloop -- onloop mcp"),
            ("Add it to Codex", "codex mcp add onloop -- onloop mcp"),
            ("Try it by hand", "npx @modelcontextprotocol/inspector onloop mcp"),
        ],
        &["install", "lsp"],
    ),
    verb(
        "lsp",
        "An editor starts and ends it. It reads and writes no file. docs/lsp.md has the set-up \
         for Neovim, Helix, Emacs and Sublime Text.",
        [
            ("The command that an editor is configured with", "onloop lsp"),
            ("Read the same findings in a terminal", "onloop lint"),
            ("Read this", "onloop help lsp"),
        ],
        &["lint", "mcp"],
    ),
    verb(
        "replay",
        "It performs no request. It exits with 0 if every request is as recorded, with 1 if one \
         differs.",
        [
            ("Record a verb", "ONLOOP_TRACE=trace.jsonl onloop status"),
            ("Compare", "onloop replay trace.jsonl"),
            ("Compare a trace of another folder", "onloop replay ../trace.jsonl"),
        ],
        &["doctor"],
    ),
    verb(
        "schema",
        "",
        [
            ("Save the schema of workflow files", "onloop schema workflow > workflow.schema.json"),
            ("Print the schema of the state file", "onloop schema state"),
            ("Print the schema of the configuration", "onloop schema config"),
        ],
        &["normalize", "lint"],
    ),
    verb(
        "completions",
        "",
        [
            (
                "Install them for bash",
                "onloop completions bash > ~/.local/share/bash-completion/completions/onloop",
            ),
            (
                "Install them for fish",
                "onloop completions fish > ~/.config/fish/completions/onloop.fish",
            ),
            ("Print them for zsh", "onloop completions zsh"),
        ],
        &["help", "man"],
    ),
    verb(
        "man",
        "",
        [
            ("Read it", "onloop man | man -l -"),
            ("Save it", "onloop man > onloop.1"),
            ("Read the help instead", "onloop help"),
        ],
        &["help", "completions"],
    ),
    verb(
        "help",
        "",
        [
            ("Show the verbs in their groups", "onloop help"),
            ("Explain one verb", "onloop help run"),
            ("Show the verbs for agents and scripts too", "onloop help --all"),
        ],
        &["man"],
    ),
];
