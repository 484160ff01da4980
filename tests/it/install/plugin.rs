//! The plugin for Claude Code and Codex as it stands in the repository, its launcher, and the plugin that
//! opencode loads.

use std::path::Path;

use onloop_core::auto::prompts::AGENTS;
use onloop_core::install::plugin;

use super::onloop;
use crate::workspace::{Workspace, source_root};

/// `ONLOOP_BLESS=1` writes it anew.
#[track_caller]
pub(super) fn is_up_to_date(path: &Path, expected: &str) {
    if std::env::var_os("ONLOOP_BLESS").is_some() {
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        std::fs::write(path, expected).expect("a file");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "{} is old; see ONLOOP_BLESS", path.display());
}

#[test]
fn the_plugin_says_what_the_offer_says() {
    let folder = source_root().join("npm/plugin");
    for (path, expected) in plugin::files(&AGENTS) {
        is_up_to_date(&folder.join(path), &expected);
    }
    is_up_to_date(&source_root().join(".claude-plugin/marketplace.json"), &plugin::marketplace());
    let codex = source_root().join(".agents/plugins/marketplace.json");
    is_up_to_date(&codex, &plugin::codex_marketplace());
}

/// The lines of ours that a text tells an agent to run, without the program's name.
fn commands_in(text: &str) -> Vec<Vec<&str>> {
    let quoted = text.split('`').skip(1).step_by(2);
    let lines = quoted.filter_map(|line| line.strip_prefix("onloop "));
    lines.map(|line| line.split_whitespace().collect()).collect()
}

#[test]
fn skills_and_commands_name_verbs_and_options_that_there_are() {
    let grammar = onloop_core::cli::command();
    let mut count = 0;
    for (path, text) in plugin::files(&AGENTS) {
        for words in commands_in(&text) {
            let verb = grammar.find_subcommand(words[0]);
            let verb = verb.unwrap_or_else(|| panic!("{path}: no verb `{}`", words[0]));
            for option in words.iter().filter_map(|word| word.strip_prefix("--")) {
                // Some verbs have verbs of their own.
                let mut verbs = vec![verb];
                verbs.extend(verb.get_subcommands());
                let mut options = verbs.iter().flat_map(|verb| verb.get_arguments());
                let is_there = options.any(|argument| argument.get_long() == Some(option));
                assert!(is_there, "{path}: `onloop {}` has no `--{option}`", words[0]);
            }
            count += 1;
        }
    }
    assert!(count > 20, "{count} commands were found");
}

const CALL: &str =
    r#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"rm -rf /"}}"#;
const STOP: &str = r#"{"hook_event_name":"Stop"}"#;

/// A copy without the npm package around it.
fn with_launcher() -> Workspace {
    let project = Workspace::plain();
    let launcher = std::fs::read(source_root().join("npm/plugin/launch.mjs")).unwrap();
    project.write("plugin/launch.mjs", launcher);
    project
}

#[test]
fn the_launcher_starts_the_program_on_the_path() {
    let project = with_launcher();
    let line = format!("echo '{CALL}' | node plugin/launch.mjs hook claude --timeout 60");
    let run = project.shell(&line).expect_exit(0);
    assert!(run.stdout.contains("\"permissionDecision\":\"deny\""), "{run:?}");
    let named =
        format!("echo '{CALL}' | ONLOOP_BINARY=/does/not/exist node plugin/launch.mjs hook claude");
    let run = project.shell(&named).expect_exit(2);
    assert!(run.stderr.contains("onloop: cannot run `/does/not/exist`"), "{run:?}");
}

#[test]
fn without_a_program_calls_are_refused_and_nothing_else() {
    let project = with_launcher();
    // Nothing but Node on the PATH.
    project.shell("mkdir empty && ln -s \"$(command -v node)\" empty/node").expect_exit(0);
    let launch = |event: &str| {
        project.shell(&format!(
            "echo '{event}' | PATH=\"$PWD/empty\" node plugin/launch.mjs hook claude"
        ))
    };
    let run = launch(CALL).expect_exit(2);
    assert!(run.stderr.contains("docs/install.md"), "{run:?}");
    launch("{").expect_exit(2);
    launch(STOP).expect_exit(0);
    launch(r#"{"hook_event_name":"UserPromptSubmit"}"#).expect_exit(0);
}

/// Calls the plugin as opencode does and prints what comes of each call.
const DRIVER: &str = r#"
import { Onloop } from "./.opencode/plugins/onloop.mjs";
const prompts = [];
const client = { session: { prompt: async ({ path, body }) => prompts.push([path.id, body.parts[0].text]) } };
const hooks = await Onloop({ client, directory: process.cwd() });
const call = async (command) => {
  try {
    await hooks["tool.execute.before"]({ tool: "bash", sessionID: "s1", callID: "c" }, { args: { command } });
    console.log(`${command}: runs`);
  } catch (error) {
    console.log(`${command}: ${error.message}`);
  }
};
for (const command of ["git status", "rm -rf /", "frobnicate"]) await call(command);
const output = {};
await hooks["permission.ask"]({ type: "bash", sessionID: "s1", metadata: { command: "rm -rf /" } }, output);
console.log(`permission: ${output.status}`);
await hooks["chat.message"]({ sessionID: "s1", messageID: "m" }, { parts: [{ type: "text", text: "/issue-to-impl 42" }] });
await hooks.event({ event: { type: "session.idle", properties: { sessionID: "s1" } } });
console.log(`prompts: ${prompts.length} ${prompts[0]?.[0]} ${prompts[0]?.[1].includes("1/10")}`);
"#;

#[test]
fn opencode_asks_before_each_call_and_is_sent_on() {
    let project = Workspace::plain().with_env("HANDSOFF_AUTO_PERMISSION", "0");
    onloop(&project, "install opencode --scope project").expect_exit(0);
    // Node decides by the name what a module is; opencode does not need that.
    let plugin = project.read(".opencode/plugins/onloop.js");
    project.write(".opencode/plugins/onloop.mjs", plugin);
    project.write("driver.mjs", DRIVER);
    let said = project.shell("node driver.mjs").expect_exit(0).stdout;
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines[0], "git status: runs");
    assert!(lines[1].starts_with("rm -rf /: onloop ("), "{said}");
    assert_eq!(lines[2..], ["frobnicate: runs", "permission: deny", "prompts: 1 s1 true"]);
    // Without the program nothing runs.
    std::fs::remove_file(project.path("../bin/onloop")).unwrap();
    let said = project.shell("node driver.mjs").expect_exit(0).stdout;
    assert!(said.starts_with("git status: onloop could not be asked: "), "{said}");
}
