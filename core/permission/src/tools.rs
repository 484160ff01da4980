//! The tools of agent hosts: what each one's input means.

mod circumstances;
mod members;
mod search;

use serde_json::Value;

use super::Context;
use super::expand::Arg;
use super::judge::Judge;
use super::lookalike;
use super::offered;
use super::paths::Access;
use super::target::Target;
use super::verdict::{Decision, Finding, PathRule, Rule, Worst};
use super::web;
pub(super) use members::paths;

/// What a tool does, which tells what in its input has to be judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tool {
    /// Runs a shell line.
    Shell,
    /// Runs a program given as a list of words, or a shell line.
    Program,
    /// Reads a file.
    Read,
    /// Shows names of files below a folder, and no content.
    List,
    /// Searches files below a folder.
    Search,
    /// Writes a file of the repository.
    Write,
    /// Writes a file whose content is executed where it is opened.
    Notebook,
    /// Changes the files that a patch names.
    Patch,
    /// Deletes a file.
    Delete,
    /// Fetches a URL.
    Fetch,
    /// Follows a written procedure.
    Skill,
    /// Plans, asks the user, or starts an agent whose own calls are judged.
    Harmless,
    /// A person has to allow it.
    Person,
}

/// Every tool we know, with the names that hosts give it.
const TOOLS: &[(Tool, &[&str])] = &[
    (
        Tool::Shell,
        &[
            "Bash",
            "Monitor",
            "Shell",
            "bash",
            "run_in_terminal",
            "runInTerminal",
            "execute_command",
            "run_terminal_cmd",
            "run_shell_command",
        ],
    ),
    (Tool::Program, &["shell", "local_shell", "exec_command", "container.exec"]),
    (
        Tool::Read,
        &[
            "Read",
            "LSP",
            "read",
            "read_file",
            "readFile",
            "view_image",
            "NotebookRead",
            "copilot_readFile",
            "get_errors",
            "list_code_usages",
        ],
    ),
    (
        Tool::List,
        &[
            "Glob",
            "LS",
            "List",
            "glob",
            "list",
            "ls",
            "list_dir",
            "listDirectory",
            "file_search",
            "list_files",
        ],
    ),
    (
        Tool::Search,
        &[
            "Grep",
            "grep",
            "grep_search",
            "semantic_search",
            "codebase_search",
            "search_files",
            "list_code_definition_names",
        ],
    ),
    (
        Tool::Write,
        &[
            "Write",
            "Edit",
            "MultiEdit",
            "write",
            "edit",
            "multiedit",
            "create_file",
            "createFile",
            "replace_string_in_file",
            "multi_replace_string_in_file",
            "insert_edit_into_file",
            "write_to_file",
            "replace_in_file",
            "edit_file",
            "create_directory",
            "search_replace",
        ],
    ),
    (Tool::Notebook, &["NotebookEdit", "edit_notebook_file", "create_new_jupyter_notebook"]),
    (Tool::Patch, &["apply_patch", "patch"]),
    (Tool::Delete, &["Delete", "delete_file"]),
    (Tool::Fetch, &["WebFetch", "webfetch", "fetch_webpage", "web_fetch"]),
    (Tool::Skill, &["Skill", "skill"]),
    (
        Tool::Harmless,
        &[
            "WebSearch",
            "websearch",
            "web_search",
            "Task",
            "Agent",
            "task",
            "TodoWrite",
            "TodoRead",
            "todowrite",
            "todoread",
            "AskUserQuestion",
            "question",
            "ask_followup_question",
            "attempt_completion",
            "TaskCreate",
            "TaskUpdate",
            "TaskList",
            "TaskGet",
            "TaskOutput",
            "TaskStop",
            "BashOutput",
            "update_plan",
            "manage_todo_list",
            "runSubagent",
            "ToolSearch",
            "EnterPlanMode",
            "plan_mode_respond",
            "think",
            "get_terminal_output",
            "await_terminal",
        ],
    ),
    (
        Tool::Person,
        &[
            "ExitPlanMode",
            "KillShell",
            "KillBash",
            "PowerShell",
            "powershell",
            "write_stdin",
            "SlashCommand",
            "create_and_run_task",
            "run_task",
            "run_vscode_command",
            "install_extension",
            "send_to_terminal",
        ],
    ),
];

/// Skills that file or review what the workflows produce.
const SKILLS: [&str; 10] = [
    "open-pr",
    "open-issue",
    "fork-dev-branch",
    "commit-msg",
    "review-standard",
    "external-consensus",
    "external-synthesize",
    "milestone",
    "code-review",
    "pull-request",
];

fn kind_of(tool: &str) -> Option<Tool> {
    TOOLS.iter().find(|(_, names)| names.contains(&tool)).map(|(kind, _)| *kind)
}

/// The names of all tools that are known.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    TOOLS.iter().flat_map(|(_, names)| names.iter().copied())
}

/// Whether a tool runs a line in a shell.
pub(super) fn runs_a_line(tool: &str) -> bool {
    kind_of(tool) == Some(Tool::Shell)
}

/// Whether a tool starts programs, which can be confined; what a host does itself cannot.
pub(super) fn starts_programs(tool: &str) -> bool {
    matches!(kind_of(tool), Some(Tool::Shell | Tool::Program))
}

/// Whether a tool reads files, by name or by searching.
pub(super) fn reads_files(tool: &str) -> bool {
    matches!(kind_of(tool), Some(Tool::Read | Tool::List | Tool::Search))
}

/// Whether a tool changes files.
pub(super) fn writes_files(tool: &str) -> bool {
    matches!(kind_of(tool), Some(Tool::Write | Tool::Notebook | Tool::Patch | Tool::Delete))
}

/// Whether a call may change anything but a file that the client itself names.
pub(super) fn changes(tool: &str, input: &Value, judge: &Judge<'_>) -> bool {
    if starts_programs(tool) {
        return judge.changes();
    }
    let paths = paths(input);
    let own = paths.iter().all(|path| judge.places.is_client_file(path)) && !paths.is_empty();
    writes_files(tool) && !own
}

/// Judges one call.
pub(super) fn judge(tool: &str, input: &Value, judge: &mut Judge<'_>) {
    let Some(kind) = kind_of(tool) else {
        return unknown(tool, input, judge);
    };
    if !input.is_object() {
        return judge.add(malformed(tool));
    }
    match kind {
        Tool::Shell | Tool::Program => shell(tool, kind, input, judge),
        Tool::Read | Tool::Write | Tool::Notebook | Tool::Delete => file(tool, kind, input, judge),
        Tool::List | Tool::Search => search::judge(tool, kind, input, judge),
        Tool::Patch => patch(tool, input, judge),
        Tool::Fetch => fetch(tool, input, judge),
        Tool::Skill => skill(tool, input, judge),
        Tool::Harmless => rules(tool, &[members::target(input, judge)], Worst::default(), judge),
        Tool::Person => {
            let mut worst = Worst::default();
            worst.add(ask(tool, format!("`{tool}` is for a person to allow")));
            rules(tool, &[members::target(input, judge)], worst, judge);
        }
    }
}

fn file(tool: &str, kind: Tool, input: &Value, judge: &mut Judge<'_>) {
    let paths = paths(input);
    if paths.is_empty() || paths.contains(&"") {
        return judge.add(malformed(tool));
    }
    let mut worst = Worst::default();
    let access = if kind == Tool::Read { Access::Read } else { Access::Write };
    for path in &paths {
        members::judge_path(path, access, judge, &mut worst);
    }
    if kind == Tool::Notebook {
        worst.add(ask(tool, "a notebook is run where it is opened"));
    }
    if kind == Tool::Delete {
        worst.add(ask(tool, "it deletes a file"));
    }
    let targets: Vec<_> = paths.iter().flat_map(|path| Target::file(path, &judge.places)).collect();
    rules(tool, &targets, worst, judge);
}

fn fetch(tool: &str, input: &Value, judge: &mut Judge<'_>) {
    let urls = urls(input);
    if urls.is_empty() {
        return judge.add(malformed(tool));
    }
    let mut worst = Worst::default();
    for url in &urls {
        worst.consider(web::judge(url));
    }
    let targets: Vec<_> = urls.into_iter().map(Target::url).collect();
    rules(tool, &targets, worst, judge);
}

fn skill(tool: &str, input: &Value, judge: &mut Judge<'_>) {
    let Some(names) = members::alternatives(input, &["skill", "command", "name"]) else {
        return judge.add(malformed(tool));
    };
    let mut worst = Worst::default();
    let mut targets = Vec::new();
    for name in names {
        let bare = name.strip_prefix("agentize:").unwrap_or(name);
        let to_forbid = vec![name.to_owned(), bare.to_owned()];
        targets.push(Target { to_forbid, ..Target::text(name) });
        if !SKILLS.contains(&bare) && !offered::is_ours(name) {
            worst.add(ask(tool, "there is no rule for this skill"));
        }
    }
    rules(tool, &targets, worst, judge);
}

fn ask(tool: &str, reason: impl Into<String>) -> Finding {
    Finding::ask(Rule::Tool(tool.to_owned()), reason)
}

fn malformed(tool: &str) -> Finding {
    Finding::ask(Rule::MalformedInput, format!("the input of `{tool}` is not as expected"))
}

/// Members in which hosts give a line of shell.
const LINE_KEYS: [&str; 3] = ["command", "cmd", "script"];

fn unknown(tool: &str, input: &Value, judge: &mut Judge<'_>) {
    let mut worst = Worst::default();
    let shown = onloop_syntax::text::one_line(tool);
    worst.add(Finding::ask(Rule::UnknownTool, format!("there is no rule for the tool `{shown}`")));
    rules(tool, &[members::target(input, judge)], worst, judge);
    // Whatever the tool does with them, a rule about the tool says nothing about secrets.
    members::judge_secrets(input, &[], judge);
    // A shell by another name must not hide what is forbidden.
    for line in LINE_KEYS.iter().filter_map(|key| input.get(*key)?.as_str()) {
        judge.guessed_code(line);
    }
}

/// Combines what was found with the user's rules, for a tool other than a shell.
fn rules(tool: &str, targets: &[Target], found: Worst, judge: &mut Judge<'_>) {
    let matched = judge.context.rules.target(tool, targets);
    match (matched, found.decision()) {
        (Some(finding), Decision::Allow | Decision::Ask) if finding.decision > Decision::Allow => {
            judge.add(finding);
        }
        (Some(finding), Decision::Ask) => {
            judge.add(found.firm_for_tool().cloned().unwrap_or(finding));
        }
        _ => judge.consider(found.into_finding()),
    }
}

fn shell(tool: &str, kind: Tool, input: &Value, judge: &mut Judge<'_>) {
    let mut lines = LINE_KEYS.iter().filter_map(|key| input.get(*key));
    let line = lines.next();
    circumstances::judge(tool, input, judge);
    // Which of them the host runs is not known.
    for other in lines.filter(|other| Some(*other) != line) {
        judge.add(ask(tool, "it has more than one command"));
        if let Some(other) = other.as_str() {
            judge.guessed_code(other);
        }
    }
    match line {
        Some(Value::String(line)) if !line.trim().is_empty() => shell_line(line, judge),
        Some(Value::Array(words)) if kind == Tool::Program => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            match words {
                Some(words) if !words.is_empty() => {
                    let args: Vec<Arg> = words.into_iter().map(Arg::exact).collect();
                    judge.command(&args, None);
                }
                _ => judge.add(malformed(tool)),
            }
        }
        _ => judge.add(malformed(tool)),
    }
}

fn shell_line(line: &str, judge: &mut Judge<'_>) {
    if let Some(character) = lookalike::hidden(line) {
        judge.add(Finding::ask(
            Rule::HiddenText,
            format!(
                "the line contains a character that does not show (U+{:04X})",
                u32::from(character)
            ),
        ));
    }
    if line.len() <= onloop_syntax::limits::SHELL_BYTES {
        judge.consider(judge.context.rules.line(line));
        if let Some(folded) = lookalike::folded(line) {
            judge.guessed_code(&folded);
        }
    }
    judge.code(line);
}

/// Every address in an input.
pub(super) fn urls(input: &Value) -> Vec<&str> {
    match (input.get("url").and_then(Value::as_str), input.get("urls").and_then(Value::as_array)) {
        (Some(url), None) => vec![url],
        (None, Some(urls)) => urls.iter().map(|url| url.as_str().unwrap_or_default()).collect(),
        _ => Vec::new(),
    }
}

/// Members of which a host takes one for the patch.
const PATCH_KEYS: [&str; 5] = ["input", "patch", "command", "patchText", "patch_text"];

/// The files in a patch, each behind what is done with it.
fn patched(text: &str) -> Vec<(&str, &str)> {
    const HEADS: [&str; 4] =
        ["*** Add File:", "*** Update File:", "*** Delete File:", "*** Move to:"];
    let of_line =
        |line| HEADS.iter().find_map(|head| Some((*head, str::strip_prefix(line, head)?)));
    let lines = text.lines().map(str::trim);
    lines.filter_map(of_line).map(|(head, path)| (head, path.trim())).collect()
}

/// Every path that a call of `tool` names, those in a patch among them.
pub(super) fn named_paths<'v>(tool: &str, input: &'v Value) -> Vec<&'v str> {
    let mut found = paths(input);
    if kind_of(tool) == Some(Tool::Patch) {
        let patches = PATCH_KEYS.iter().filter_map(|key| input.get(*key)?.as_str());
        found.extend(patches.flat_map(patched).flat_map(|(_, path)| members::readings(path)));
    }
    found
}

fn patch(tool: &str, input: &Value, judge: &mut Judge<'_>) {
    let Some(patches) = members::alternatives(input, &PATCH_KEYS) else {
        return judge.add(malformed(tool));
    };
    let mut worst = Worst::default();
    let mut targets = Vec::new();
    for files in patches.into_iter().map(patched) {
        if files.is_empty() {
            judge.add(malformed(tool));
        }
        for (head, path) in files {
            targets.extend(Target::file(path, &judge.places));
            for path in members::readings(path) {
                members::judge_path(path, Access::Write, judge, &mut worst);
            }
            if head.contains("Delete") {
                worst.add(ask(tool, "it deletes a file"));
            }
        }
    }
    rules(tool, &targets, worst, judge);
}

/// Asks about a call with so many paths that the host does not know which are links.
pub(super) fn unfollowed(context: &Context) -> Option<Finding> {
    context.places.has_unfollowed.then(|| {
        let most = onloop_syntax::limits::RESOLVED_PATHS;
        Finding::containable(
            Rule::Path(PathRule::Unknown),
            format!("it names more than {most} paths, too many to follow their links"),
        )
    })
}

/// Asks about every call while a configuration file cannot be used.
pub(super) fn floor(context: &Context) -> Option<Finding> {
    let fault = context.rules.fault()?;
    Some(Finding::ask(
        Rule::ConfigurationFault,
        format!("{fault}; nothing is allowed until it is fixed"),
    ))
}
