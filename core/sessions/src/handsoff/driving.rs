//! What shows that a conversation drives a run: its own calls of our verbs and tools, and the
//! prompts that begin or continue one. Nothing else does, and no time.

use serde_json::Value;

use super::subject::{PromptSubject, subject};
use onloop_run::is_run_id;

/// What a call does about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunCall {
    /// It begins one, whose id is known when the call has ended.
    Begins,
    /// It works on one: by this id, or on the one that is meant without it.
    WorksOn(Option<String>),
    /// It asks what to do next, which makes it the driver of a run without one.
    Asks(Option<String>),
}

/// Names that our program goes by, without the ending that Windows or Node wants.
const PROGRAMS: [&str; 3] = ["onloop", "hotl-rt", "launch"];
const ENDINGS: [&str; 4] = ["", ".exe", ".cmd", ".mjs"];
/// Programs that run another one, whose name is one of their words.
const RUNNERS: [&str; 9] = ["npx", "bunx", "pnpx", "npm", "pnpm", "yarn", "bun", "node", "deno"];
/// Words of a runner before the name of the program that it runs.
const RUNNER_WORDS: usize = 6;

/// Whether a text can name our program at all: most calls are something else, and are not taken
/// apart.
pub fn may_name_us(text: &str) -> bool {
    PROGRAMS.iter().any(|name| text.contains(name))
}

/// What a command does, given its words as the shell would pass them on.
pub fn of_words(words: &[String]) -> Option<RunCall> {
    let program = words.first()?;
    let at = match is_program(program) {
        true => 0,
        false if RUNNERS.contains(&file_name(program)) => {
            words.iter().take(RUNNER_WORDS).position(|word| is_program(word))?
        }
        false => return None,
    };
    let (verb, rest) = words[at + 1..].split_first()?;
    let given = || option(rest, "--run-id");
    Some(match verb.as_str() {
        "init" | "run" => RunCall::Begins,
        "step" | "gate" | "finalize" => RunCall::WorksOn(given()),
        "resume" | "adopt" => RunCall::WorksOn(rest.iter().find(|word| is_id(word)).cloned()),
        "next" => RunCall::Asks(given()),
        _ => return None,
    })
}

/// What a call of one of our tools does, whatever a host puts before its name.
pub fn of_tool(tool: &str, input: &Value) -> Option<RunCall> {
    let parts: Vec<&str> = tool.split("__").collect();
    let name = match parts[..] {
        ["mcp", server, name] if server == "onloop" || server.ends_with("_onloop") => name,
        // Cursor does not say which server is meant, so the input has to.
        ["mcp", "cursor", name] if is_of_us(input) => name,
        _ => tool.strip_prefix("mcp_").unwrap_or(tool).strip_prefix("onloop_")?,
    };
    let run = input["run_id"].as_str().filter(|id| is_id(id)).map(str::to_owned);
    Some(match (name, run) {
        ("run", None) | ("begin", _) => RunCall::Begins,
        ("run" | "step" | "gate" | "finalize", run) => RunCall::WorksOn(run),
        ("next", run) => RunCall::Asks(run),
        _ => return None,
    })
}

fn is_of_us(input: &Value) -> bool {
    input["run_id"].as_str().is_some_and(is_id)
        || (input["step"].is_u64()
            && (input["action"].is_string() || input["decision"].is_string()))
}

/// The run that a line names in a variable before the command.
pub fn assigned(line: &str) -> Option<String> {
    let rest = ["ONLOOP_RUN_ID=", "HOTL_RUN_ID="].iter().find_map(|name| {
        line.split_once(name).map(|(_, rest)| rest.trim_start_matches(['"', '\'']))
    })?;
    let end = rest.find(|c: char| !is_id_character(c)).unwrap_or(rest.len());
    Some(rest[..end].to_owned()).filter(|id| is_id(id))
}

/// Ids of runs in what a program printed, in their order.
pub fn ids_in(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|c: char| !is_id_character(c)).map(|word| word.trim_end_matches('.'));
    words.filter(|word| is_id(word))
}

/// What a prompt says about a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunPrompt {
    /// One begins with it.
    Begins,
    /// It continues a run: the one with this id, or the only unfinished one.
    Continues(Option<String>),
    /// It names a workflow file, to begin or continue its run.
    Names(String),
}

/// What `prompt` says about a run. A question says nothing: what is asked about is not driven.
pub fn of_prompt(prompt: &str) -> Option<RunPrompt> {
    let prompt = prompt.trim();
    let mut words = prompt.split_whitespace();
    let id = || ids_in(prompt).next().map(str::to_owned);
    if let Some(command) = words.next()?.strip_prefix(['/', '$']) {
        let bare = ["hotl:", "hotl-"].iter().find_map(|plugin| command.strip_prefix(plugin));
        let bare = bare.or_else(|| command.starts_with("onloop-").then_some(command))?;
        return match bare.trim_start_matches("onloop-") {
            "loop" | "execute-plan" => Some(RunPrompt::Begins),
            "resume" => Some(RunPrompt::Continues(id())),
            _ => None,
        };
    }
    if matches!(
        subject(prompt),
        PromptSubject::Client | PromptSubject::Question | PromptSubject::Pause
    ) {
        return None;
    }
    match id() {
        Some(id) => Some(RunPrompt::Continues(Some(id))),
        None => prompt.split_whitespace().find_map(workflow_file).map(RunPrompt::Names),
    }
}

/// A word that is the name of a workflow file, without the punctuation around it.
fn workflow_file(word: &str) -> Option<String> {
    let word =
        word.trim_matches(['`', '"', '\'', '(', ')', '<', '>', '@', ',', ';', ':', '.', '!']);
    let name = file_name(word);
    let is_workflow = (name.starts_with("hotl-workflow-") && name.ends_with(".md"))
        || name.ends_with("-workflow.md");
    is_workflow.then(|| word.to_owned())
}

fn is_program(word: &str) -> bool {
    let name = file_name(word);
    // `npx onloop@1.2.3`
    let name = name.split_once('@').map_or(name, |(name, _)| name);
    PROGRAMS.iter().any(|program| {
        name.strip_prefix(program).is_some_and(|ending| {
            // A file of any project may be called `launch`.
            ENDINGS.contains(&ending) && (*program != "launch" || ending == ".mjs")
        })
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// The value of an option, in the same word or the next one.
fn option(words: &[String], name: &str) -> Option<String> {
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(name) {
            Some("") => words.next().map(String::as_str),
            Some(value) => value.strip_prefix('='),
            None => continue,
        };
        if let Some(id) = value.filter(|id| is_id(id)) {
            return Some(id.to_owned());
        }
    }
    None
}

fn is_id_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-')
}

/// Whether a word is the id of a run: it ends in the moment at which the run began, and perhaps in
/// a number that tells it from another one.
fn is_id(word: &str) -> bool {
    if !is_run_id(word) {
        return false;
    }
    let parts: Vec<&str> = word.rsplitn(3, '-').collect();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    match parts[..] {
        [last, ..] if is_moment(last) => parts.len() > 1,
        [number, moment, _] => is_number(number) && is_moment(moment),
        _ => false,
    }
}

/// `20260320T212315Z`.
fn is_moment(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes.len() == 16
        && bytes.iter().enumerate().all(|(at, byte)| match at {
            8 => *byte == b'T',
            15 => *byte == b'Z',
            _ => byte.is_ascii_digit(),
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const ID: &str = "add-auth-20260320T212315Z";

    fn words(line: &str) -> Option<RunCall> {
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        of_words(&words)
    }

    #[test]
    fn a_command_of_ours_shows_what_it_does_about_a_run() {
        let works = |id: Option<&str>| Some(RunCall::WorksOn(id.map(str::to_owned)));
        let asks = |id: Option<&str>| Some(RunCall::Asks(id.map(str::to_owned)));
        let table = [
            ("onloop init hotl-workflow-a.md", Some(RunCall::Begins)),
            ("onloop run", Some(RunCall::Begins)),
            ("hotl-rt step 1 start", works(None)),
            ("/opt/bin/onloop step 2 verify --run-id add-auth-20260320T212315Z", works(Some(ID))),
            (
                "onloop gate 2 approved --run-id=add-auth-20260320T212315Z --mode auto",
                works(Some(ID)),
            ),
            ("onloop resume add-auth-20260320T212315Z", works(Some(ID))),
            ("onloop resume hotl-workflow-a.md", works(None)),
            ("onloop finalize --json", works(None)),
            ("onloop next --run-id add-auth-20260320T212315Z --json", asks(Some(ID))),
            ("npx onloop step 1 start", works(None)),
            ("npx --yes onloop@0.1.0 next", asks(None)),
            ("pnpm exec hotl-rt step 1 start", works(None)),
            ("node /p/launch.mjs step 1 start", works(None)),
            ("node node_modules/onloop/bin/onloop.mjs init a.md", Some(RunCall::Begins)),
            // Commands that only read, and commands of other programs.
            ("onloop status", None),
            ("onloop lint a.md", None),
            ("onloop report add-auth-20260320T212315Z", None),
            ("onloop", None),
            ("launch step 1 start", None),
            ("grep onloop step", None),
            ("onloop-fork step 1 start", None),
            ("node server.mjs step", None),
        ];
        for (line, expected) in table {
            assert_eq!(words(line), expected, "{line}");
            assert!(expected.is_none() || may_name_us(line), "{line}");
        }
    }

    #[test]
    fn a_tool_of_ours_has_another_name_in_every_host() {
        let step = json!({ "step": 1, "action": "start" });
        let of_run = json!({ "run_id": ID });
        let table = [
            ("mcp__onloop__step", &step, Some(RunCall::WorksOn(None))),
            ("mcp__plugin_hotl_onloop__step", &step, Some(RunCall::WorksOn(None))),
            ("onloop_step", &step, Some(RunCall::WorksOn(None))),
            ("mcp_onloop_gate", &of_run, Some(RunCall::WorksOn(Some(ID.to_owned())))),
            ("onloop_next", &of_run, Some(RunCall::Asks(Some(ID.to_owned())))),
            ("mcp__onloop__run", &step, Some(RunCall::Begins)),
            ("mcp__onloop__begin", &json!({}), Some(RunCall::Begins)),
            ("mcp__onloop__finalize", &of_run, Some(RunCall::WorksOn(Some(ID.to_owned())))),
            ("mcp__onloop__run", &of_run, Some(RunCall::WorksOn(Some(ID.to_owned())))),
            ("mcp__cursor__step", &step, Some(RunCall::WorksOn(None))),
            ("mcp__cursor__next", &json!({}), None),
            ("mcp__onloop__status", &of_run, None),
            ("mcp__onloop__lint", &json!({ "files": [] }), None),
            ("mcp__player__next", &json!({}), None),
            ("mcp__other__onloop__step", &step, None),
            ("Bash", &json!({ "command": "onloop step 1 start" }), None),
        ];
        for (tool, input, expected) in table {
            assert_eq!(of_tool(tool, input), expected, "{tool} {input}");
        }
    }

    #[test]
    fn a_prompt_that_asks_drives_nothing() {
        let goes_on = |id: Option<&str>| Some(RunPrompt::Continues(id.map(str::to_owned)));
        let names = |file: &str| Some(RunPrompt::Names(file.to_owned()));
        let table = [
            ("/hotl:loop hotl-workflow-a.md", Some(RunPrompt::Begins)),
            ("/hotl-loop", Some(RunPrompt::Begins)),
            ("/hotl:execute-plan docs/plans/a.md", Some(RunPrompt::Begins)),
            ("/onloop-loop hotl-workflow-a.md", Some(RunPrompt::Begins)),
            ("/hotl:onloop-resume", goes_on(None)),
            ("$onloop-resume", goes_on(None)),
            ("/hotl:resume add-auth-20260320T212315Z", goes_on(Some(ID))),
            ("/hotl:status", None),
            ("/hotl:write-plan a", None),
            ("/loop", None),
            ("go on with add-auth-20260320T212315Z.", goes_on(Some(ID))),
            ("finish `add-auth-20260320T212315Z-2`", goes_on(Some("add-auth-20260320T212315Z-2"))),
            ("run @hotl-workflow-a.md, please", names("hotl-workflow-a.md")),
            (
                "execute docs/plans/2026-03-20-auth-workflow.md",
                names("docs/plans/2026-03-20-auth-workflow.md"),
            ),
            ("explain hotl-workflow-a.md to me", None),
            ("what does add-auth-20260320T212315Z wait for?", None),
            ("explain the readme to me", None),
            ("fix the tests", None),
            ("", None),
        ];
        for (prompt, expected) in table {
            assert_eq!(of_prompt(prompt), expected, "{prompt}");
        }
    }

    #[test]
    fn ids_are_found_where_programs_print_them() {
        let found: Vec<&str> =
            ids_in("run add-auth-20260320T212315Z begins (x-20260320T212315Z-3). 20260320T212315Z")
                .collect();
        assert_eq!(found, [ID, "x-20260320T212315Z-3"]);
        assert_eq!(
            assigned("HOTL_RUN_ID='add-auth-20260320T212315Z' onloop next").as_deref(),
            Some(ID)
        );
        assert_eq!(assigned("HOTL_RUN_ID=$x onloop next"), None);
    }
}
