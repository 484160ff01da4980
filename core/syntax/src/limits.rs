//! Every bound that onloop puts on its input and its own work, in one place.
//!
//! Units come last in the names. Hitting a limit is always a named diagnostic or failure,
//! never a silent cut.

/// Largest workflow file that is read.
pub const WORKFLOW_BYTES: usize = 4 * 1024 * 1024;
/// Most steps one workflow may have.
pub const WORKFLOW_STEPS: usize = 10_000;
/// Longest single line of a workflow file.
pub const WORKFLOW_LINE_BYTES: usize = 64 * 1024;
/// Longest step name kept for display; a longer one is a diagnostic.
pub const STEP_NAME_BYTES: usize = 1024;
/// Most diagnostics reported for one file; the rest are counted.
pub const DIAGNOSTICS_PER_FILE: usize = 1000;
/// Largest frontmatter handed to the YAML parser.
pub const FRONTMATTER_BYTES: usize = 64 * 1024;
/// Most open `[` and `{` in frontmatter: the YAML parser is quadratic in nesting.
pub const FRONTMATTER_OPEN_BRACKETS: usize = 64;
/// Most checks in one `verify` list.
pub const CHECKS_PER_STEP: usize = 200;
/// Highest `max_iterations`.
pub const ITERATIONS_PER_STEP: u32 = 1000;
/// Attempts of an `until` loop that names no `max_iterations` (the format's default).
pub const DEFAULT_ITERATIONS: u32 = 3;

/// Largest record that is read back.
pub const RECORD_BYTES: u64 = 256 * 1024 * 1024;
/// Records up to this size are rewritten whole; larger ones are journalled in between.
pub const RECORD_REWRITE_BYTES: usize = 64 * 1024;

/// Time a verification command may take unless its step or the command line says otherwise.
pub const VERIFY_TIMEOUT_MS: u64 = 10 * 60 * 1000;
/// Time an agent may take for one attempt unless the command line says otherwise.
pub const AGENT_TIMEOUT_MS: u64 = 2 * 60 * 60 * 1000;
/// Time without a sign of life, while no tool works, after which a turn is ended, unless the
/// command line says otherwise.
pub const STALL_TIMEOUT_MS: u64 = 10 * 60 * 1000;
/// The same while a tool works; a longer time on the command line counts here, too.
pub const TOOL_STALL_TIMEOUT_MS: u64 = 45 * 60 * 1000;
/// How often a turn is looked at whose client writes nothing.
pub const TURN_LOOK_MS: u64 = 2000;
/// How often a client may make the same mistake in one turn, such as asking again with a key that
/// is refused, before the turn is ended: clients go on with it for minutes, or for ever.
pub const SAME_ERRORS: u32 = 3;
/// Longest pause that a client may make by itself before it asks its provider again; for a longer
/// one its turn is ended and the run waits.
pub const CLIENT_PAUSE_MS: u64 = 60 * 1000;
/// Time that a run waits for a provider which does not serve its agent, unless the command line
/// says otherwise.
pub const MAX_WAIT_MS: u64 = 6 * 60 * 60 * 1000;
/// Pause after the first refusal of a provider that does not say when it serves again; each
/// further one takes twice as long.
pub const PROVIDER_PAUSE_MS: u64 = 15 * 1000;
/// Longest of these pauses.
pub const PROVIDER_LONGEST_PAUSE_MS: u64 = 15 * 60 * 1000;
/// How long after the time that a provider names it is asked again.
pub const PROVIDER_RESET_MARGIN_MS: u64 = 5 * 1000;
/// Longest time that a waiting run sleeps at once: a machine that was asleep itself looks at the
/// clock soon after it has woken.
pub const WAIT_LOOK_MS: u64 = 30 * 1000;
/// Longest line of an agent's stream that is read; a longer one is skipped, with a note.
pub const AGENT_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Most requests to a model, of one turn, whose tokens are counted apart; with more the number of
/// tokens is unknown.
pub const AGENT_REQUESTS: usize = 20_000;
/// Most calls of tools, of one turn, that are followed at once; further ones are not shown.
pub const AGENT_CALLS: usize = 1000;
/// Bytes kept of one text that an agent said.
pub const AGENT_TEXT_BYTES: usize = 64 * 1024;
/// Bytes kept, at least, of the end of what an agent said in one turn, where somebody reads it as an
/// answer.
pub const AGENT_ANSWER_BYTES: usize = 512 * 1024;
/// Time between asking a process group to end and killing it.
pub const KILL_GRACE_MS: u64 = 2000;
/// Bytes kept from the start, and again from the end, of each output stream.
pub const CAPTURE_BYTES: usize = 64 * 1024;
/// Bytes kept from the start of what one program writes to its log.
pub const LOG_HEAD_BYTES: usize = 8 * 1024 * 1024;
/// Bytes kept from its end; a line in between says how many are left out.
pub const LOG_TAIL_BYTES: usize = 8 * 1024 * 1024;
/// Bytes of each stream stored in the record for one check.
pub const RECORDED_OUTPUT_BYTES: usize = 4096;
/// Bytes of a failed check's output that the next attempt's prompt repeats.
pub const PROMPT_OUTPUT_BYTES: usize = 8 * 1024;
/// Largest file, and longest patch of one file, that is read for telling whether it changed a check.
pub const CHANGED_CHECK_BYTES: u64 = 1024 * 1024;
/// Most files that are named when a difference is asked for; of more all of it is shown.
pub const DIFF_PATHS: usize = 500;
/// Most files that a check names and that are read for the files which they name.
pub const CHANGED_CHECK_FILES: usize = 64;
/// Most checkpoints between which it is looked for the step in which a file changed, newest first.
pub const CHANGED_CHECK_CHECKPOINTS: usize = 500;
/// Longest text of a pull request; services take 65,536 characters.
pub const PULL_REQUEST_BYTES: usize = 60_000;
/// Largest signed receipt that is verified.
pub const RECEIPT_BYTES: u64 = 16 * 1024 * 1024;
/// Longest wait for another onloop process to finish its read-modify-write of a record.
pub const LOCK_WAIT_MS: u64 = 10_000;
/// How often lines are added anew behind what another writer has just added to a ledger.
pub const APPEND_TRIES: u32 = 8;

/// Longest name of a branch; with a worktree's folder named after it, it stays below the 255
/// bytes that file systems allow.
pub const BRANCH_NAME_BYTES: usize = 200;
/// Most names below `refs/onloop/` that one push to a remote changes: they stand on a command line,
/// and some systems end it at 32 KiB.
pub const PUSHED_NAMES: usize = 60;
/// Most dirty files listed one by one when they are the reason to stop.
pub const DIRTY_FILES_LISTED: usize = 20;
/// Invalid answers after which a question counts as unanswered.
pub const ANSWERS_PER_QUESTION: u32 = 3;
/// Largest file below `.ai/` that rw-auto reads; a larger one counts as unreadable.
pub const AUTO_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Largest lock of rw-auto that is read; a larger one counts as unreadable.
pub const AUTO_LOCK_BYTES: u64 = 64 * 1024;
/// Time between two stamps in rw-auto's lock while a child is at work. A lock counts as stale
/// after 600 s, so even two stamps that come too late leave it held.
pub const AUTO_STAMP_EVERY_MS: u64 = 3 * 60 * 1000;
/// Bytes kept from the start, and again from the end, of what a child agent answers.
pub const AUTO_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Largest file of scenarios; standard input has no limit.
pub const SCENARIO_FILE_BYTES: u64 = 256 * 1024 * 1024;
/// Longest line of a file of scenarios.
pub const SCENARIO_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Longest shell text that the permission engine reads; a longer one is never allowed.
pub const SHELL_BYTES: usize = 256 * 1024;
/// Deepest nesting of shell constructs (each costs a few stack frames, and a stack overflow
/// would end a wasm instance).
pub const SHELL_DEPTH: usize = 100;
/// Bytes of a shell text that may be looked at more than once (backquotes, arithmetic).
pub const SHELL_REREAD_BYTES: usize = 1024 * 1024;
/// Deepest nesting of shell code inside arguments (`sh -c`, `eval`, `xargs`).
pub const SHELL_REREAD_DEPTH: usize = 16;
/// Most commands of one line that are examined.
pub const SHELL_COMMANDS: usize = 10_000;
/// Most folders that a command of a shell line may run in, by the `cd` before it. More asks.
pub const SHELL_FOLDERS: usize = 4;

/// Largest file that a checkpoint keeps, unless a filter makes a small one of it (Git LFS). A
/// larger file that nobody ignores is a dump or a product of a build far more often than work, the
/// usual hosts of repositories warn at this size, and git would copy it at each change.
pub const CHECKPOINT_FILE_BYTES: u64 = 50 * 1024 * 1024;
/// Files that a checkpoint left out, or that stand in the way, which are named; the rest are counted.
pub const CHECKPOINT_FILES_NAMED: usize = 20;
/// Largest difference between two checkpoints that is shown; `--stat` shows how it is made up.
pub const CHECKPOINT_DIFF_BYTES: u64 = 16 * 1024 * 1024;
/// Changes that a report as a page shows line by line, of all steps together, as HTML; further steps
/// show how many lines of which file.
pub const REPORT_PATCH_BYTES: usize = 512 * 1024;
/// Longest time that git may take for one step of a checkpoint; a filter that hangs, or a named
/// pipe where git expects a file, must not hold up the run for ever.
pub const CHECKPOINT_TIMEOUT_MS: u64 = 5 * 60 * 1000;
/// Longest time that git may take for one question: one that is longer waits for a remote, a filter or
/// a program that knows passwords.
pub const GIT_QUESTION_TIMEOUT_MS: u64 = 5 * 60 * 1000;
/// Longest time that git may take for one act: a push waits for hooks that run tests, a checkout for
/// files that are fetched.
pub const GIT_ACT_TIMEOUT_MS: u64 = 30 * 60 * 1000;
/// Largest answer of git that is read.
pub const GIT_ANSWER_BYTES: u64 = 256 * 1024 * 1024;
/// Age at which `onloop doctor --prune` removes a checkpoint whatever became of its run.
pub const CHECKPOINT_KEPT_MS: u64 = 30 * 24 * 60 * 60 * 1000;

/// Most files that `.worktreeinclude` has copied into a fresh worktree. Whole trees of packages are
/// made by a command of `setup`, in less time.
pub const SETUP_FILES: usize = 10_000;
/// Largest of these files.
pub const SETUP_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Bytes kept from the start, and again from the end, of git's list of them; a longer one is refused.
pub const SETUP_LIST_BYTES: usize = 1024 * 1024;
/// Of these files, and of those that cannot be copied, which are named; the rest are counted.
pub const SETUP_FILES_NAMED: usize = 10;
/// Longest time for one line of `setup`: it may install packages over a slow line.
pub const SETUP_TIMEOUT_MS: u64 = 30 * 60 * 1000;
/// Lines of a failed command's output that are shown; the rest is in its log or the report.
pub const FAILURE_LINES: usize = 12;

/// Longest line of standard input that a batch of permission calls may have.
pub const PERMIT_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Largest configuration file.
pub const CONFIG_BYTES: usize = 64 * 1024;
/// Most `[` and `{` in a configuration file, including those in patterns.
pub const CONFIG_OPEN_BRACKETS: usize = 512;
/// Most notes about one configuration file; the rest are counted.
pub const CONFIG_NOTES: usize = 20;
/// Most workflows that a configuration may add.
pub const CONFIG_WORKFLOWS: usize = 100;
/// Most models whose prices a configuration may name.
pub const CONFIG_PRICES: usize = 200;
/// Most permission rules in all files together.
pub const CONFIG_RULES: usize = 1000;
/// Steps that matching one pattern may take when it uses look-around or back-references.
pub const PATTERN_STEPS: usize = 20_000;
/// Memory that one compiled pattern may take.
pub const PATTERN_BYTES: usize = 256 * 1024;

/// Longest name of an agent session; it is part of a file name.
pub const SESSION_ID_BYTES: usize = 128;
/// Largest file about a session that is read; a larger one counts as damaged.
pub const SESSION_BYTES: u64 = 64 * 1024;
/// Most sessions of a machine whose folders are remembered, the newest.
pub const SESSION_PLACES: usize = 2000;
/// Time without a sign of life after which a screen says of an open session that it is quiet.
pub const SESSION_QUIET_MS: u64 = 60 * 60 * 1000;
/// Time without a prompt, a stop or a call of a tool after which a session is not continued any
/// more.
pub const SESSION_STALE_MS: u64 = 24 * 60 * 60 * 1000;
/// How often it is written down that the tools of a session are called.
pub const SESSION_SIGN_MS: u64 = 60 * 60 * 1000;
/// Ids of runs in what a call printed that are looked up.
pub const RUNS_PRINTED: usize = 4;
/// Consecutive stops without progress after which an agent is not continued.
pub const SESSION_STALLED_STOPS: u32 = 5;
/// The same where progress cannot be determined: no transcript, no last message.
pub const SESSION_UNKNOWN_STOPS: u32 = 9;
/// Time within which another hook may be called for a stop that was already counted.
pub const STOP_ECHO_MS: u64 = 60 * 1000;
/// Most further hooks that are called for one stop: those of two scopes, of a plugin, of a host
/// that reads another one's files.
pub const STOP_ECHOES: u32 = 3;
/// How long a stop waits for the agent's last message to reach its transcript: hosts write it
/// while they call hooks.
pub const TRANSCRIPT_LAG_MS: u64 = 400;
/// Interval at which a transcript that lags behind is read again.
pub const TRANSCRIPT_POLL_MS: u64 = 20;
/// Bytes at the end of a transcript that are read.
pub const TRANSCRIPT_TAIL_BYTES: u64 = 64 * 1024;
/// Largest input of a hook.
pub const HOOK_INPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Longest wait of a hook for another one that is working on the same session.
pub const HOOK_LOCK_WAIT_MS: u64 = 8000;
/// Characters of a cached plan that a continuation prompt repeats.
pub const PLAN_EXCERPT_CHARS: usize = 500;
/// Largest cached plan that is read.
pub const PLAN_BYTES: u64 = 4 * 1024 * 1024;
/// Time in which an answer given to one event of a call counts for the other one.
pub const ESCALATION_MS: u64 = 2 * 60 * 1000;
/// Most answers that are remembered for one session.
pub const ESCALATIONS_KEPT: usize = 32;
/// Largest file of git that is read to learn a branch or a remote.
pub const GIT_FILE_BYTES: u64 = 64 * 1024;
/// Largest index of git in which a file is looked for; in a larger one everything counts as there.
pub const GIT_INDEX_BYTES: u64 = 256 * 1024 * 1024;
/// Most other checkouts in which environment files are looked for before something is confined.
pub const CHECKOUTS_LOOKED_AT: usize = 256;
/// Most home folders of other people in which something is hidden from what is confined.
pub const HOMES_LOOKED_AT: usize = 64;
/// Most programs in home folders whose links are followed before something is confined.
pub const PROGRAMS_LOOKED_AT: usize = 512;
/// Largest configuration of git in which credentials are looked for; of a larger one nothing is shown.
pub const GIT_CONFIG_BYTES: u64 = 256 * 1024;
/// Most entries of a client's folder that its confined turn sees.
pub const CLIENT_ENTRIES_LOOKED_AT: usize = 256;
/// Most folders in which those of submodules are looked for before something is confined.
pub const SUBMODULES_LOOKED_AT: usize = 256;
/// Most paths of one call whose symbolic links are resolved.
pub const RESOLVED_PATHS: usize = 64;
/// Longest time that git may take to say whether it has a file that a call throws away, or what a call
/// would stage; the call is asked about then.
pub const HOOK_GIT_TIMEOUT_MS: u64 = 2_000;
/// Size at which a debug log is rotated; the previous one is kept beside it.
pub const HOOK_LOG_BYTES: u64 = 256 * 1024;
/// Size at which the audit log is rotated; the previous one is kept beside it.
pub const AUDIT_LOG_BYTES: u64 = 1024 * 1024;
/// Longest text in the audit log.
pub const AUDIT_LOG_TEXT_BYTES: usize = 400;
/// Entries of the audit log about one session that screens show.
pub const AUDIT_LOG_SHOWN: usize = 20;
/// Most messages that one question in a chat consists of; a longer call can only be denied.
pub const APPROVAL_MESSAGES: usize = 5;
/// Most updates of a chat that are fetched at once.
pub const APPROVAL_UPDATES: usize = 20;
/// Largest answer of Telegram that is read.
pub const APPROVAL_ANSWER_BYTES: u64 = 2 * 1024 * 1024;
/// Longest time that one request for updates stays open.
pub const APPROVAL_POLL_MS: u64 = 25_000;
/// Longest time that one call of Telegram's API may take, without the wait for updates.
pub const APPROVAL_HTTP_MS: u64 = 10_000;
/// Longest pause after a call of Telegram's API that failed; each further one in a row takes twice as
/// long.
pub const APPROVAL_LONGEST_PAUSE_MS: u64 = 60_000;
/// Longest time that such a call may take once the wait is over.
pub const APPROVAL_LAST_CALL_MS: u64 = 2_000;
/// How long before the host's own limit the wait for an answer ends. Enough for the last calls:
/// an open request for updates, its reply, and the message that says that it is over.
pub const APPROVAL_MARGIN_MS: u64 = 10_000;
/// Age at which questions and answers of processes that have ended are removed.
pub const APPROVAL_KEPT_MS: u64 = 60 * 60 * 1000;
/// Largest document of a question, an answer or a pending call.
pub const APPROVAL_DOCUMENT_BYTES: u64 = 1024 * 1024;

/// Longest time that one notice to one receiver may take.
pub const NOTICE_TIMEOUT_MS: u64 = 5_000;
/// The same where a host waits for our hook.
pub const NOTICE_HOOK_MS: u64 = 3_000;
/// Largest address, token or command line of a receiver of notices.
pub const NOTICE_ADDRESS_BYTES: usize = 4 * 1024;
/// Largest answer of a receiver of notices that is read.
pub const NOTICE_ANSWER_BYTES: u64 = 64 * 1024;
/// Largest text of a notice; chats take little more.
pub const NOTICE_BYTES: usize = 3_500;
/// The same for Discord.
pub const NOTICE_DISCORD_BYTES: usize = 1_800;
/// Largest file with the options of a run.
pub const OPTIONS_BYTES: u64 = 64 * 1024;
/// Largest file about what was told of a run.
pub const NOTICES_TOLD_BYTES: u64 = 64 * 1024;

/// Time that a language model may take to judge a call.
pub const JUDGE_TIMEOUT_MS: u64 = 30_000;
/// Largest call that a language model is asked about.
pub const JUDGE_TARGET_BYTES: usize = 16 * 1024;
/// Bytes of the end of a conversation that a language model sees.
pub const JUDGE_CONTEXT_BYTES: usize = 4 * 1024;

/// Time that a supervisor may take to write a prompt.
pub const SUPERVISOR_TIMEOUT_MS: u64 = 5 * 60 * 1000;
/// Bytes of the end of a conversation that a supervisor sees.
pub const SUPERVISOR_CONTEXT_BYTES: usize = 64 * 1024;
/// Longest prompt that is accepted from a supervisor.
pub const SUPERVISOR_PROMPT_BYTES: usize = 16 * 1024;

/// Age at which an unanswered deferred call, or an answer that nobody fetched, is removed.
pub const PENDING_KEPT_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// Most deferred calls that are listed.
pub const PENDING_CALLS: usize = 1000;

/// Most folders in which a program waits for changes at once; of more the first count.
pub const WATCHED_FOLDERS: usize = 2048;
/// Most runs that a screen shows, and most sessions of one folder; those that changed last are shown.
pub const BOARD_RUNS: usize = 500;
/// Longest line on a screen that lists runs, or of a log there; a longer one is cut.
pub const BOARD_LINE_BYTES: usize = 1024;
/// Longest text of several lines on such a screen; a longer one is cut.
pub const BOARD_TEXT_BYTES: usize = 64 * 1024;
/// Most of a call of a tool that is shown where it can be allowed; one that is longer cannot be there.
pub const CALL_SHOWN_BYTES: usize = 8 * 1024;
/// Bytes of the end of a log that such a screen reads.
pub const BOARD_LOG_BYTES: u64 = 32 * 1024;
/// Events of the end of a run that such a screen shows.
pub const BOARD_EVENTS: usize = 100;

/// Largest file of an agent host that is edited.
pub const HOST_FILE_BYTES: u64 = 1024 * 1024;
/// Deepest nesting in a file of an agent host.
pub const HOST_FILE_DEPTH: usize = 100;
/// Time that an installed hook may take to answer a test call.
pub const CANARY_TIMEOUT_MS: u64 = 30_000;

/// Longest message of a client of `onloop mcp`.
pub const MCP_LINE_BYTES: u64 = 8 * 1024 * 1024;
/// Most requests of a client that are open at the same time.
pub const MCP_CALLS: usize = 16;
/// Longest name, path or identifier in a tool call of a client.
pub const MCP_WORD_CHARS: usize = 1024;
/// Longest reason in a tool call of a client.
pub const MCP_REASON_CHARS: usize = 4096;
/// Most items of a list in a tool call of a client.
pub const MCP_LIST_ITEMS: usize = 100;
/// Most bytes of a program's results in the answer of a tool.
pub const MCP_RESULT_BYTES: usize = 256 * 1024;
/// Most bytes of a program's notes in the answer of a tool.
pub const MCP_NOTES_BYTES: usize = 64 * 1024;
/// Largest record or report that is sent as a resource.
pub const MCP_RESOURCE_BYTES: usize = 8 * 1024 * 1024;
/// Most runs whose resources are listed: those that changed last.
pub const MCP_RUNS_LISTED: usize = 200;
/// Longest answer of a person that is accepted from a client.
pub const MCP_ANSWER_BYTES: usize = 4 * 1024;
/// Most bytes of earlier notes that are sent along with a question to a person.
pub const MCP_QUESTION_BYTES: usize = 4 * 1024;
/// Most folders that are accepted from a client.
pub const MCP_ROOTS: usize = 64;
/// Longest wait for the client to name its folders; then the server's own folder is used.
pub const MCP_ROOTS_WAIT_MS: u64 = 5_000;
/// Longest time without a word to a client that wants to be told about the progress of a call.
pub const MCP_SIGN_MS: u64 = 10_000;
/// Longest wait for a client of version 2026-07-28 to call again with what a person has answered;
/// then nobody has.
pub const MCP_ANSWER_WAIT_MS: u64 = 60 * 60 * 1000;
/// Most runs that a server conducts in the background at the same time.
pub const MCP_BACKGROUND_RUNS: usize = 4;
/// Most resources that a client subscribes to at the same time, or with one stream.
pub const MCP_SUBSCRIPTIONS: usize = 64;
/// Time between two looks at what clients have subscribed to.
pub const MCP_LOOK_MS: u64 = 1_000;
/// Most ids of runs that are proposed for what a person types.
pub const MCP_COMPLETIONS: usize = 100;
/// Longest log message to a client.
pub const MCP_LOG_CHARS: usize = 2_000;

/// Time in which the link that `onloop web` prints can be used.
pub const WEB_KEY_MS: u64 = 10 * 60 * 1000;
/// Time without a call after which a browser is signed out.
pub const WEB_SESSION_MS: u64 = 12 * 60 * 60 * 1000;
/// Most browsers that are signed in; one more signs out the one that signed in first.
pub const WEB_SESSIONS: usize = 16;
/// Most pages that are told at once when something changes; a further one looks by itself.
pub const WEB_STREAMS: usize = 16;
/// Shortest time between two looks whether something has changed, while a page wants to know.
pub const WEB_LOOK_MS: u64 = 1_000;
/// How often a page that wants to know hears that it is still heard; longest time between two looks.
pub const WEB_STILL_MS: u64 = 15_000;
/// Steps on one page of a run.
pub const WEB_STEPS: usize = 50;
/// Bytes of a change that a page shows, as HTML; of a longer one the beginning.
pub const WEB_PATCH_BYTES: usize = 60 * 1024;
/// Bytes of a log that a page shows, as HTML; of a longer one the end.
pub const WEB_LOG_BYTES: usize = 24 * 1024;
/// Bytes of the cards on the page of everything, as HTML, half of them for calls; it says how many more
/// there are.
pub const WEB_CARDS_BYTES: usize = 112 * 1024;
/// Largest body of a call to `onloop web`.
pub const WEB_BODY_BYTES: usize = 64 * 1024;
/// Largest head of a call to `onloop web`: its line and its headers.
pub const WEB_HEAD_BYTES: usize = 16 * 1024;
/// Longest time in which a call to `onloop web` has to arrive, head and body each.
pub const WEB_ARRIVAL_MS: u64 = 10_000;
/// Longest time that a call to `onloop web` waits for its answer, and longest time in which a browser
/// has to read one that is whole.
pub const WEB_ANSWER_MS: u64 = 60_000;
/// Most connections to `onloop web` at a time; further ones are closed.
pub const WEB_CONNECTIONS: usize = 64;
/// Most calls to `onloop web` that wait for an answer; further ones are turned away.
pub const WEB_CALLS: usize = 32;
/// Parts of an open answer that may wait for a slow reader; then it is disconnected.
pub const WEB_PARTS: usize = 16;

/// Bytes that a trace keeps of one text, file or output; it says how many it left out.
pub const TRACE_BODY_BYTES: usize = 1024 * 1024;
/// Largest trace that is replayed.
pub const TRACE_BYTES: u64 = 512 * 1024 * 1024;

/// Longest header of a message of a client of `onloop lsp`; after a longer one nobody can tell where
/// the next message begins, and the conversation ends.
pub const LSP_HEADER_BYTES: usize = 4 * 1024;
/// Longest message of a client of `onloop lsp`; a longer one is skipped and answered with an error.
pub const LSP_MESSAGE_BYTES: u64 = 16 * 1024 * 1024;
/// Largest document that an editor may open; of larger workflows than [`WORKFLOW_BYTES`] nothing is
/// said but that.
pub const LSP_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;
/// Most documents that an editor may have open.
pub const LSP_DOCUMENTS: usize = 1000;
/// Most folders that are accepted from an editor.
pub const LSP_FOLDERS: usize = 64;
/// Most bytes that are read from an editor at once.
pub const LSP_READ_BYTES: u64 = 64 * 1024;
