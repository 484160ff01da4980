//! Every bound that onloop puts on its input and its work.
//!
//! Units come last in the names. Reaching a limit is a named diagnostic or failure, never a silent
//! cut.

/// Largest workflow file that is read.
pub const WORKFLOW_BYTES: usize = 4 * 1024 * 1024;
/// Most steps one workflow may have.
pub const WORKFLOW_STEPS: usize = 10_000;
/// Longest single line of a workflow file.
pub const WORKFLOW_LINE_BYTES: usize = 64 * 1024;
/// Longest step name kept for display; a longer one is a diagnostic.
pub const STEP_NAME_BYTES: usize = 1024;
/// Most diagnostics reported for one file; onloop counts the rest.
pub const DIAGNOSTICS_PER_FILE: usize = 1000;
/// Largest frontmatter handed to the YAML parser.
pub const FRONTMATTER_BYTES: usize = 64 * 1024;
/// Most open `[` and `{` in frontmatter: the YAML parser is quadratic in nesting.
pub const FRONTMATTER_OPEN_BRACKETS: usize = 64;
/// Most checks in one `verify` list.
pub const CHECKS_PER_STEP: usize = 200;
/// Highest `max_iterations`.
pub const ITERATIONS_PER_STEP: u32 = 1000;
/// Most steps of a run that run at the same time.
pub const PARALLEL_STEPS: u32 = 16;
/// Attempts of an `until` loop that names no `max_iterations` (the format's default).
pub const DEFAULT_ITERATIONS: u32 = 3;

/// Largest record that is read back.
pub const RECORD_BYTES: u64 = 256 * 1024 * 1024;
/// Records up to this size are rewritten whole; larger ones get a journal between rewrites.
pub const RECORD_REWRITE_BYTES: usize = 64 * 1024;

/// Time a verification command may take unless its step or the command line says otherwise.
pub const VERIFY_TIMEOUT_MS: u64 = 10 * 60 * 1000;
/// Time an agent may take for one attempt unless the command line says otherwise.
pub const AGENT_TIMEOUT_MS: u64 = 2 * 60 * 60 * 1000;
/// Time without output, while no tool runs, after which onloop ends a turn, unless the command line
/// says otherwise.
pub const STALL_TIMEOUT_MS: u64 = 10 * 60 * 1000;
/// The same while a tool runs. A longer time on the command line applies here, too.
pub const TOOL_STALL_TIMEOUT_MS: u64 = 45 * 60 * 1000;
/// Interval at which onloop checks a turn whose client writes nothing.
pub const TURN_LOOK_MS: u64 = 2000;
/// Repetitions of one error in a turn, such as a refused key, before onloop ends the turn. Clients
/// repeat such requests for minutes or without end.
pub const SAME_ERRORS: u32 = 3;
/// Longest pause that a client may make before it asks its provider again. For a longer pause
/// onloop ends the turn and the run waits.
pub const CLIENT_PAUSE_MS: u64 = 60 * 1000;
/// Time that a run waits for a provider that refuses requests, unless the command line says
/// otherwise.
pub const MAX_WAIT_MS: u64 = 6 * 60 * 60 * 1000;
/// Pause after a provider's first refusal without a retry time. Each further refusal doubles it.
pub const PROVIDER_PAUSE_MS: u64 = 15 * 1000;
/// Longest of these pauses.
pub const PROVIDER_LONGEST_PAUSE_MS: u64 = 15 * 60 * 1000;
/// Margin after the retry time that a provider names.
pub const PROVIDER_RESET_MARGIN_MS: u64 = 5 * 1000;
/// Longest sleep of a waiting run: after a machine's own sleep the run looks at the clock soon.
pub const WAIT_LOOK_MS: u64 = 30 * 1000;
/// Time in which a client that ends with its turn has exited after a cut answer.
pub const CLIENT_EXIT_MS: u64 = 3 * 1000;
/// Longest line of an agent's stream that is read; onloop skips a longer one with a note.
pub const AGENT_LINE_BYTES: usize = 4 * 1024 * 1024;
/// Most requests to a model, per turn, whose tokens are counted separately. With more, the number
/// of tokens is unknown.
pub const AGENT_REQUESTS: usize = 20_000;
/// Most tool calls, per turn, that onloop follows at once; it does not show further ones.
pub const AGENT_CALLS: usize = 1000;
/// Most tool calls, per turn, whose times the ledger has; the others are counted.
pub const TURN_CALLS: usize = 200;
/// Longest name of a tool in the ledger.
pub const TOOL_NAME_BYTES: usize = 80;
/// Bytes kept of one message of an agent.
pub const AGENT_TEXT_BYTES: usize = 64 * 1024;
/// Bytes kept, at least, of the end of an agent's text in one turn, where it is read as an answer.
pub const AGENT_ANSWER_BYTES: usize = 512 * 1024;
/// Time in which an agent that speaks the Agent Client Protocol answers a request of onloop. Only the
/// prompt may take as long as the turn.
pub const ACP_ANSWER_MS: u64 = 2 * 60 * 1000;
/// Bytes that such an agent may write in one turn; onloop ends the turn after them.
pub const ACP_BYTES: u64 = 512 * 1024 * 1024;
/// Messages of such an agent, per turn, that do not fit the protocol; onloop ends the turn after them.
pub const ACP_FAULTS: usize = 1000;
/// Requests of such an agent for a permission that may be open at once; onloop refuses further ones.
pub const ACP_OPEN_REQUESTS: usize = 16;
/// Time between asking a process group to end and killing it.
pub const KILL_GRACE_MS: u64 = 2000;
/// Bytes kept from the start, and again from the end, of each output stream.
pub const CAPTURE_BYTES: usize = 64 * 1024;
/// Bytes kept from the start of a program's log.
pub const LOG_HEAD_BYTES: usize = 8 * 1024 * 1024;
/// Bytes kept from its end; a line in between says how many are left out.
pub const LOG_TAIL_BYTES: usize = 8 * 1024 * 1024;
/// How often the findings of a review that says "not ready" go back to the agent before a person decides,
/// where the workflow file does not say it.
pub const REVIEW_ROUNDS: u32 = 2;
/// Bytes of the end of an attempt's log that are looked at for what its agent said at the end.
pub const LAST_MESSAGE_BYTES: u64 = 2048;
/// Bytes of each stream stored in the record for one check.
pub const RECORDED_OUTPUT_BYTES: usize = 4096;
/// Bytes of a failed check's output that the next attempt's prompt repeats.
pub const PROMPT_OUTPUT_BYTES: usize = 8 * 1024;
/// Largest file, and longest patch of a file, that onloop reads to tell whether it changed a check.
pub const CHANGED_CHECK_BYTES: u64 = 1024 * 1024;
/// Most files named in a request for a difference; for more files the whole difference is shown.
pub const DIFF_PATHS: usize = 500;
/// Most files that a check names and that are read for the files that they name.
pub const CHANGED_CHECK_FILES: usize = 64;
/// Most files that a host watches while a check runs. Each of them leaves at most two events in the
/// queue of inotify, which holds 16,384.
pub const OBSERVED_FILES: usize = 4096;
/// Most files that the result of a check names because the run changed them and the check opened
/// them; a count stands for the others.
pub const CHECK_INPUTS: usize = 200;
/// Most checkpoints searched for the step that changed a file, newest first.
pub const CHANGED_CHECK_CHECKPOINTS: usize = 500;
/// Longest text of a pull request; services accept 65,536 characters.
pub const PULL_REQUEST_BYTES: usize = 60_000;
/// Shortest time between two looks at a pull request; it doubles while nothing changes.
pub const PULL_REQUEST_LOOK_MS: u64 = 10_000;
/// Longest time between two looks at a pull request.
pub const PULL_REQUEST_LOOK_MOST_MS: u64 = 300_000;
/// Longest wait for a change of a pull request before a person is told.
pub const PULL_REQUEST_WAIT_MS: u64 = 24 * 60 * 60 * 1000;
/// Time after a push in which a server may still show the commit before and no checks.
pub const PULL_REQUEST_SETTLE_MS: u64 = 120_000;
/// Longest wait for a check that a server needs for a merge and does not list yet.
pub const PULL_REQUEST_BLOCKED_MS: u64 = 30 * 60 * 1000;
/// Most rounds in which remarks of reviewers go back to the agent.
pub const PULL_REQUEST_REVIEW_ROUNDS: usize = 10;
/// Looks at a pull request that may fail one after another.
pub const PULL_REQUEST_FAILED_LOOKS: u32 = 20;
/// Largest signed receipt that is verified.
pub const RECEIPT_BYTES: u64 = 16 * 1024 * 1024;
/// Longest wait for another onloop process to finish its read-modify-write of a record.
pub const LOCK_WAIT_MS: u64 = 10_000;
/// Attempts to append lines to a ledger that another writer appends to.
pub const APPEND_TRIES: u32 = 8;

/// Longest name of a branch. The folder of its worktree has the same name and stays below the 255
/// bytes of file systems.
pub const BRANCH_NAME_BYTES: usize = 200;
/// Most names below `refs/onloop/` that one push changes: they are arguments of a command, and some
/// systems limit a command line to 32 KiB.
pub const PUSHED_NAMES: usize = 60;
/// Most dirty files listed one by one in the reason to stop.
pub const DIRTY_FILES_LISTED: usize = 20;
/// Longest file of a project that is searched for its tests.
pub const PROJECT_FILE_BYTES: u64 = 1024 * 1024;
/// Most text of an issue, title and comments included, that an agent is shown.
pub const ISSUE_BYTES: usize = 32 * 1024;
/// Largest file that holds an issue.
pub const ISSUE_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Most rounds in which the findings about a drafted workflow go back to its agent.
pub const PLAN_ROUNDS: u32 = 3;
/// Most tasks that a workflow is planned from.
pub const PLAN_TASKS: usize = 500;
/// Largest file of tasks, and most of it that an agent is shown.
pub const PLAN_SOURCE_BYTES: usize = 128 * 1024;
/// Most generated workflows of one name in a checkout.
pub const TASKS_OF_ONE_NAME: u32 = 100;
/// Most runs listed one by one when the beginning of an id fits several.
pub const RUNS_LISTED: usize = 20;
/// Invalid answers after which a question counts as unanswered.
pub const ANSWERS_PER_QUESTION: u32 = 3;
/// Longest time for the pull request of a hands-off session to be read when its agent stops; what
/// takes longer counts as unreadable.
pub const SESSION_REQUEST_MS: u64 = 15_000;
/// Largest file below `.ai/` that rw-auto reads; a larger one counts as unreadable.
pub const AUTO_FILE_BYTES: u64 = 4 * 1024 * 1024;
/// Largest lock of rw-auto that is read; a larger one counts as unreadable.
pub const AUTO_LOCK_BYTES: u64 = 64 * 1024;
/// Interval between stamps in rw-auto's lock while a child runs. A lock is stale after 600 s, so
/// two late stamps still hold it.
pub const AUTO_STAMP_EVERY_MS: u64 = 3 * 60 * 1000;
/// Bytes kept from the start, and again from the end, of a child agent's answer.
pub const AUTO_ANSWER_BYTES: usize = 4 * 1024 * 1024;
/// Largest file of scenarios; standard input has no limit.
pub const SCENARIO_FILE_BYTES: u64 = 256 * 1024 * 1024;
/// Longest line of a file of scenarios.
pub const SCENARIO_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Longest shell text that the permission engine reads; it never allows a longer one.
pub const SHELL_BYTES: usize = 256 * 1024;
/// Deepest nesting of shell constructs. Each costs a few stack frames, and a stack overflow ends a
/// wasm instance.
pub const SHELL_DEPTH: usize = 100;
/// Bytes of shell text that may be read more than once (backquotes, arithmetic).
pub const SHELL_REREAD_BYTES: usize = 1024 * 1024;
/// Deepest nesting of shell code inside arguments (`sh -c`, `eval`, `xargs`).
pub const SHELL_REREAD_DEPTH: usize = 16;
/// Most commands of one line that are examined.
pub const SHELL_COMMANDS: usize = 10_000;
/// Most folders that a command of a shell line may run in, after `cd`. More folders make it ask.
pub const SHELL_FOLDERS: usize = 4;

/// Largest file that a checkpoint stores, unless a filter makes it small (Git LFS). A larger file
/// that is not ignored is usually a dump or a build product. Hosts of repositories warn at this
/// size, and git copies the file at each change.
pub const CHECKPOINT_FILE_BYTES: u64 = 50 * 1024 * 1024;
/// Files that a checkpoint leaves out, or that block one, which a message names; it counts the
/// rest.
pub const CHECKPOINT_FILES_NAMED: usize = 20;
/// Largest difference between two checkpoints that is shown; `--stat` summarizes larger ones.
pub const CHECKPOINT_DIFF_BYTES: u64 = 16 * 1024 * 1024;
/// Bytes for line-by-line changes in an HTML report, shared by all of them. Of a longer one it has
/// the beginning, and the command that shows all of it.
pub const REPORT_PATCH_BYTES: usize = 1024 * 1024;
/// Bytes for logs, prompts and the output of checks in an HTML report, shared by all of them. Of a
/// longer one it has the end.
pub const REPORT_TEXT_BYTES: usize = 1024 * 1024;
/// Events of a run that an HTML report has; the newest ones.
pub const REPORT_EVENTS: usize = 2000;
/// Longest time of git for one part of a checkpoint. A hanging filter, or a named pipe in place of
/// a file, must not block the run.
pub const CHECKPOINT_TIMEOUT_MS: u64 = 5 * 60 * 1000;
/// Longest time of git for one query. A longer query waits for a remote, a filter or a password
/// prompt.
pub const GIT_QUESTION_TIMEOUT_MS: u64 = 5 * 60 * 1000;
/// Longest time of git for one change: a push waits for hooks that run tests, a checkout for files
/// to fetch.
pub const GIT_ACT_TIMEOUT_MS: u64 = 30 * 60 * 1000;
/// Largest answer of git that is read.
pub const GIT_ANSWER_BYTES: u64 = 256 * 1024 * 1024;
/// Largest pack of an agent's commits that is imported after one turn. A larger one is usually a dump
/// or a build product, and git holds the pack in memory.
pub const IMPORT_PACK_BYTES: u64 = 256 * 1024 * 1024;
/// How often an import is tried while another program holds the index of the checkout.
pub const IMPORT_TRIES: u32 = 20;
/// Pause between two such tries.
pub const IMPORT_PAUSE_MS: u64 = 100;
/// Most files that `.worktreeinclude` copies into a new worktree. A command of `setup` restores
/// whole package trees faster.
pub const SETUP_FILES: usize = 10_000;
/// Largest of these files.
pub const SETUP_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Names in messages about these files; messages count the rest.
pub const SETUP_FILES_NAMED: usize = 10;
/// Longest time for one line of `setup`, which may install packages over a slow connection.
pub const SETUP_TIMEOUT_MS: u64 = 30 * 60 * 1000;
/// Lines shown of a failed command's output; the log or the report has the rest.
pub const FAILURE_LINES: usize = 12;

/// Largest settings file of a client that a hook reads. Of a larger one every call is asked about.
pub const CLIENT_SETTINGS_BYTES: u64 = 4 * 1024 * 1024;
/// Longest line of standard input that a batch of permission calls may have.
pub const PERMIT_LINE_BYTES: u64 = 16 * 1024 * 1024;
/// Largest configuration file.
pub const CONFIG_BYTES: usize = 64 * 1024;
/// Most `[` and `{` in a configuration file, including those in patterns.
pub const CONFIG_OPEN_BRACKETS: usize = 512;
/// Most notes about one configuration file; onloop counts the rest.
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
/// Most sessions of a machine whose folders are remembered; the newest count.
pub const SESSION_PLACES: usize = 2000;
/// Time without activity after which a screen calls an open session quiet.
pub const SESSION_QUIET_MS: u64 = 60 * 60 * 1000;
/// Time without a prompt, a stop or a tool call after which a session is no longer continued.
pub const SESSION_STALE_MS: u64 = 24 * 60 * 60 * 1000;
/// Longest time from the decision that a command runs confined until it says itself that it runs.
pub const CONFINED_START_MS: u64 = 10_000;
/// Interval at which a session records that its tools are called.
pub const SESSION_SIGN_MS: u64 = 60 * 60 * 1000;
/// Most run ids that are looked up in the output of a call.
pub const RUNS_PRINTED: usize = 4;
/// Consecutive continuations without progress after which an agent is not continued.
pub const SESSION_STALLED: u32 = 5;
/// The same where progress is unknown: no transcript, no last message.
pub const SESSION_STALLED_UNKNOWN: u32 = 9;
/// Time that an agent that has stopped may wait for its background tasks.
pub const BACKGROUND_WAIT_MS: u64 = 30 * 60 * 1000;
/// Most background tasks of one agent that are remembered.
pub const BACKGROUND_TASKS: usize = 32;
/// Time within which a second hook may report a stop that was already counted.
pub const STOP_ECHO_MS: u64 = 60 * 1000;
/// Most further hooks for one stop: those of two scopes, of a plugin, of a client that reads the
/// files of another client.
pub const STOP_ECHOES: u32 = 3;
/// Time that a stop waits for the agent's last message in its transcript: clients write it while
/// they call hooks.
pub const TRANSCRIPT_LAG_MS: u64 = 400;
/// Interval at which a late transcript is read again.
pub const TRANSCRIPT_POLL_MS: u64 = 20;
/// Bytes at the end of a transcript that are read.
pub const TRANSCRIPT_TAIL_BYTES: u64 = 64 * 1024;
/// Bytes at the end of a transcript in which the settings of a turn are looked for.
pub const TRANSCRIPT_TURN_BYTES: u64 = 4 * 1024 * 1024;
/// Largest input of a hook.
pub const HOOK_INPUT_BYTES: u64 = 8 * 1024 * 1024;
/// Longest wait of a hook for another hook of the same session.
pub const HOOK_LOCK_WAIT_MS: u64 = 8000;
/// Characters of a cached plan that a continuation prompt repeats.
pub const PLAN_EXCERPT_CHARS: usize = 500;
/// Largest cached plan that is read.
pub const PLAN_BYTES: u64 = 4 * 1024 * 1024;
/// Time in which the answer to one event of a call also answers its other event.
pub const ESCALATION_MS: u64 = 2 * 60 * 1000;
/// Most answers that are remembered for one session.
pub const ESCALATIONS_KEPT: usize = 32;
/// Largest file of git that is read to learn a branch or a remote.
pub const GIT_FILE_BYTES: u64 = 64 * 1024;
/// Largest git index, or list of references, that is searched; in a larger one every file counts as
/// present.
pub const GIT_INDEX_BYTES: u64 = 256 * 1024 * 1024;
/// Most other checkouts that are searched for environment files before a program is confined.
pub const CHECKOUTS_LOOKED_AT: usize = 256;
/// Most home folders of other users in which confinement hides files.
pub const HOMES_LOOKED_AT: usize = 64;
/// Most programs in home folders whose links are resolved before a program is confined.
pub const PROGRAMS_LOOKED_AT: usize = 512;
/// Largest git configuration that is searched for credentials; a larger one is hidden.
pub const GIT_CONFIG_BYTES: u64 = 256 * 1024;
/// Most entries of a client's folder that are visible in its confined turn.
pub const CLIENT_ENTRIES_LOOKED_AT: usize = 256;
/// Most folders that are searched for submodules before a program is confined.
pub const SUBMODULES_LOOKED_AT: usize = 256;
/// Most paths of one call whose symbolic links are resolved. A call with more is asked about.
pub const RESOLVED_PATHS: usize = 256;
/// Longest time of git to tell whether it has a file that a call deletes, or which files a call
/// stages. After that time the call is asked about.
pub const HOOK_GIT_TIMEOUT_MS: u64 = 2_000;
/// Most files that onloop keeps before one call of a session. A call that removes more is asked about.
pub const KEPT_FILES: usize = 500;
/// Most bytes of all files that onloop keeps before one call of a session. A call that removes more is
/// asked about.
pub const KEPT_BYTES: u64 = 16 * 1024 * 1024;
/// Size at which a debug log is rotated; the previous one is kept beside it.
pub const HOOK_LOG_BYTES: u64 = 256 * 1024;
/// Size at which the audit log is rotated; the previous one is kept beside it.
pub const AUDIT_LOG_BYTES: u64 = 1024 * 1024;
/// Longest text in the audit log.
pub const AUDIT_LOG_TEXT_BYTES: usize = 400;
/// Entries of the audit log about one session that screens show.
pub const AUDIT_LOG_SHOWN: usize = 20;
/// Most messages of one question in a chat; a longer call can only be denied.
pub const APPROVAL_MESSAGES: usize = 5;
/// Most updates of a chat that are fetched at once.
pub const APPROVAL_UPDATES: usize = 20;
/// Largest answer of Telegram that is read.
pub const APPROVAL_ANSWER_BYTES: u64 = 2 * 1024 * 1024;
/// Longest time that one request for updates stays open.
pub const APPROVAL_POLL_MS: u64 = 25_000;
/// Longest time that one call of Telegram's API may take, without the wait for updates.
pub const APPROVAL_HTTP_MS: u64 = 10_000;
/// Longest pause after a failed call of Telegram's API; each further failure doubles the pause.
pub const APPROVAL_LONGEST_PAUSE_MS: u64 = 60_000;
/// Longest time of such a call once the wait is over.
pub const APPROVAL_LAST_CALL_MS: u64 = 2_000;
/// Margin between the end of the wait for an answer and the client's own limit. It covers the last
/// calls: an open request for updates, its reply, and the closing message.
pub const APPROVAL_MARGIN_MS: u64 = 10_000;
/// Age at which questions and answers of ended processes are removed.
pub const APPROVAL_KEPT_MS: u64 = 60 * 60 * 1000;
/// Largest document of a question, an answer or a pending call.
pub const APPROVAL_DOCUMENT_BYTES: u64 = 1024 * 1024;

/// Longest time for one notification to one receiver.
pub const NOTICE_TIMEOUT_MS: u64 = 5_000;
/// The same while a client waits for a hook.
pub const NOTICE_HOOK_MS: u64 = 3_000;
/// Largest address, token or command line of a notification receiver.
pub const NOTICE_ADDRESS_BYTES: usize = 4 * 1024;
/// Largest answer of a notification receiver that is read.
pub const NOTICE_ANSWER_BYTES: u64 = 64 * 1024;
/// Largest text of a notification; chats accept little more.
pub const NOTICE_BYTES: usize = 3_500;
/// The same for Discord.
pub const NOTICE_DISCORD_BYTES: usize = 1_800;
/// Largest file with the options of a run.
pub const OPTIONS_BYTES: u64 = 64 * 1024;
/// Largest file about the notifications of a run.
pub const NOTICES_TOLD_BYTES: u64 = 64 * 1024;
/// Longest time for one export of telemetry.
pub const TELEMETRY_TIMEOUT_MS: u64 = 5_000;
/// Largest answer of a telemetry collector that is read.
pub const TELEMETRY_ANSWER_BYTES: u64 = 64 * 1024;

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

/// Age at which an unanswered deferred call, or an unread answer, is removed.
pub const PENDING_KEPT_MS: u64 = 7 * 24 * 60 * 60 * 1000;
/// Most deferred calls that are listed.
pub const PENDING_CALLS: usize = 1000;

/// Most folders in which a program waits for changes at once; the first ones count.
pub const WATCHED_FOLDERS: usize = 2048;
/// Most runs that a screen shows, and most sessions of one folder; the last changed ones are shown.
pub const BOARD_RUNS: usize = 500;
/// Longest line on a screen that lists runs, or of a log there; longer ones are cut.
pub const BOARD_LINE_BYTES: usize = 1024;
/// Longest text of several lines on such a screen; a longer one is cut.
pub const BOARD_TEXT_BYTES: usize = 64 * 1024;
/// Longest tool call that a screen shows for approval; a longer one cannot be approved there.
pub const CALL_SHOWN_BYTES: usize = 8 * 1024;
/// Bytes of the end of a log that such a screen reads.
pub const BOARD_LOG_BYTES: u64 = 32 * 1024;
/// Most recent events of a run that such a screen shows.
pub const BOARD_EVENTS: usize = 100;

/// Largest client configuration file that is edited.
pub const HOST_FILE_BYTES: u64 = 1024 * 1024;
/// Deepest nesting in a client configuration file.
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
/// Longest time without a message to a client that follows the progress of a call.
pub const MCP_SIGN_MS: u64 = 10_000;
/// Longest wait for a client of version 2026-07-28 to call again with a person's answer. After that
/// the question is unanswered.
pub const MCP_ANSWER_WAIT_MS: u64 = 60 * 60 * 1000;
/// Most runs that a server drives in the background at the same time.
pub const MCP_BACKGROUND_RUNS: usize = 4;
/// Most resources that a client subscribes to at the same time, or with one stream.
pub const MCP_SUBSCRIPTIONS: usize = 64;
/// Interval at which subscribed resources are checked.
pub const MCP_LOOK_MS: u64 = 1_000;
/// Most run ids in a completion.
pub const MCP_COMPLETIONS: usize = 100;
/// Longest log message to a client.
pub const MCP_LOG_CHARS: usize = 2_000;

/// Time in which the link that `onloop web` prints is valid.
pub const WEB_KEY_MS: u64 = 10 * 60 * 1000;
/// Time without a call after which a browser is signed out.
pub const WEB_SESSION_MS: u64 = 12 * 60 * 60 * 1000;
/// Most signed-in browsers; one more signs out the first one.
pub const WEB_SESSIONS: usize = 16;
/// Most pages that receive changes at once; further ones poll.
pub const WEB_STREAMS: usize = 16;
/// Shortest interval between checks for changes while a page follows them.
pub const WEB_LOOK_MS: u64 = 1_000;
/// Interval of keep-alive messages to a page that follows changes; longest interval between checks.
pub const WEB_STILL_MS: u64 = 15_000;
/// Bytes of a change that the page shows; of a longer one the beginning.
pub const WEB_PATCH_BYTES: usize = 1024 * 1024;
/// Bytes of the log or the prompt of an attempt that the page shows; of a longer one the end.
pub const WEB_LOG_BYTES: u64 = 256 * 1024;
/// Largest body of a call to `onloop web`.
pub const WEB_BODY_BYTES: usize = 64 * 1024;
/// Largest head of a call to `onloop web`: request line and headers.
pub const WEB_HEAD_BYTES: usize = 16 * 1024;
/// Longest time in which the head or the body of a call to `onloop web` has to arrive.
pub const WEB_ARRIVAL_MS: u64 = 10_000;
/// Longest time that a call to `onloop web` waits for its answer, and that a browser has to read a
/// whole answer.
pub const WEB_ANSWER_MS: u64 = 60_000;
/// Most connections to `onloop web` at a time; further ones are closed.
pub const WEB_CONNECTIONS: usize = 64;
/// Most calls to `onloop web` that wait for an answer; further ones are rejected.
pub const WEB_CALLS: usize = 32;
/// Parts of an open answer that may wait for a slow reader; then onloop disconnects the reader.
pub const WEB_PARTS: usize = 16;

/// Bytes that a trace keeps of one text, file or output; it records how many it left out.
pub const TRACE_BODY_BYTES: usize = 1024 * 1024;
/// Largest trace that is replayed.
pub const TRACE_BYTES: u64 = 512 * 1024 * 1024;

/// Longest header of a message of a client of `onloop lsp`. A longer one hides where the next
/// message begins, and the conversation ends.
pub const LSP_HEADER_BYTES: usize = 4 * 1024;
/// Longest message of a client of `onloop lsp`; a longer one is skipped and answered with an error.
pub const LSP_MESSAGE_BYTES: u64 = 16 * 1024 * 1024;
/// Largest document that an editor may open. For workflows beyond [`WORKFLOW_BYTES`] the only
/// diagnostic is their size.
pub const LSP_DOCUMENT_BYTES: usize = 8 * 1024 * 1024;
/// Most documents that an editor may have open.
pub const LSP_DOCUMENTS: usize = 1000;
/// Most folders that are accepted from an editor.
pub const LSP_FOLDERS: usize = 64;
/// Most bytes that are read from an editor at once.
pub const LSP_READ_BYTES: u64 = 64 * 1024;

/// Most names in a `network` list.
pub const NETWORK_NAMES: usize = 200;
/// Most connections at once through the proxy of one confined program; later ones wait.
pub const PROXY_CONNECTIONS: usize = 256;
/// Longest header of a request to that proxy.
pub const PROXY_HEADER_BYTES: usize = 32 * 1024;
/// Longest time for a request to that proxy to arrive, and for a connection to a server.
pub const PROXY_CONNECT_MS: u64 = 30 * 1000;
/// Longest time without data in either direction, after which the proxy closes a connection.
pub const PROXY_IDLE_MS: u64 = 60 * 60 * 1000;
/// Most refused names that the proxy reports of one program.
pub const PROXY_REFUSED_NAMES: usize = 50;
/// Most ports of this machine that a confined program reaches.
pub const PROXY_PORTS: usize = 200;
