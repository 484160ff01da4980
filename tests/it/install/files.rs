//! What is on disk before and after.

use std::os::unix::fs::PermissionsExt;

use proptest::prelude::*;
use serde_json::Value;

use super::{HOSTS, everything, onloop};
use crate::rounds::{cases, sampled};
use crate::workspace::Workspace;

fn hosts_and_scopes() -> impl Iterator<Item = (&'static str, &'static str)> {
    HOSTS.into_iter().flat_map(|host| ["user", "project"].map(|scope| (host, scope)))
}

#[test]
fn every_host_is_left_as_it_was_found() {
    for (host, scope) in sampled(3, hosts_and_scopes()) {
        let project = Workspace::plain();
        onloop(&project, &format!("install {host} --scope {scope}")).expect_exit(0);
        let installed = everything(&project);
        assert!(!installed.is_empty(), "{host}");
        let again = onloop(&project, &format!("install {host} --scope {scope}")).expect_exit(0);
        assert!(again.stderr.contains("nothing was changed"), "{again:?}");
        assert_eq!(everything(&project), installed, "{host}");
        onloop(&project, &format!("uninstall {host}")).expect_exit(0);
        assert_eq!(everything(&project), [], "{host} {scope}");
        let again = onloop(&project, &format!("uninstall {host}")).expect_exit(0);
        assert!(again.stderr.contains("nothing was changed"), "{again:?}");
    }
}

#[test]
fn folders_and_empty_files_are_left_as_they_were_found() {
    for (host, scope) in sampled(3, hosts_and_scopes()) {
        let project = Workspace::plain();
        let tree = || {
            let all = "find . ../home -path ../home/.state -prune -o";
            let files = format!("{all} -type f -printf 'f %s %p\\n' | sort");
            project.shell(&format!("{files}; {all} -type d -print | sort")).stdout
        };
        project.shell("mkdir -p ../home/.claude/agents ../home/.agents ../home/.codex .vscode");
        for path in [".codex/hooks.json", ".cursor/hooks.json", ".claude/settings.json"] {
            project.write(&format!("../home/{path}"), "");
        }
        project.write(".vscode/mcp.json", "");
        let before = tree();
        assert!(before.contains("f 0 ../home/.codex/hooks.json\n"), "{before}");
        onloop(&project, &format!("install {host} --scope {scope}")).expect_exit(0);
        assert_ne!(tree(), before, "{host} {scope}");
        onloop(&project, &format!("uninstall {host}")).expect_exit(0);
        assert_eq!(tree(), before, "{host} {scope}");
    }
}

#[test]
fn one_file_that_cannot_be_written_leaves_all_as_they_are() {
    let project = Workspace::plain();
    project.write("../home/.codex/config.toml", "model = \"x\"\n");
    project.write("../home/.codex/config.toml.onloop-backup/x", "in the way of the backup\n");
    let before = everything(&project);
    let run = onloop(&project, "install codex").expect_exit(4);
    let said = crate::flat(&run.stderr);
    assert!(said.contains(".codex/config.toml`; nothing was changed cause: "), "{run:?}");
    assert!(!said.contains("wrote "), "{run:?}");
    assert_eq!(everything(&project), before);
    let folders = project.shell("find ../home -mindepth 1 -type d -not -path '*/.state*' | sort");
    assert_eq!(folders.stdout, "../home/.codex\n../home/.codex/config.toml.onloop-backup\n");
}

#[test]
fn what_is_not_ours_stays_and_is_kept() {
    let project = Workspace::plain();
    let mine = "{\r\n\t\"model\": \"opus\", // mine\r\n}";
    project.write("../home/.claude/settings.json", mine);
    let run = onloop(&project, "install claude").expect_exit(0);
    assert!(run.stderr.contains("kept "), "{run:?}");
    assert_eq!(project.read("../home/.claude/settings.json.onloop-backup"), mine);
    // Settings may hold keys; nobody else may read a copy of them.
    let mode = project.shell("ls -l ../home/.claude/settings.json.onloop-backup | cut -c1-10");
    assert_eq!(mode.stdout, "-rw-------\n");
    assert!(
        project
            .read("../home/.claude/settings.json")
            .starts_with("{\r\n\t\"model\": \"opus\", // mine\r\n")
    );
    onloop(&project, "uninstall claude").expect_exit(0);
    let path = project.path("../home").join(".claude/settings.json");
    assert_eq!(everything(&project), [(path.to_string_lossy().into_owned(), mine.to_owned())]);
}

#[test]
fn a_dry_run_lists_files_or_shows_a_diff_and_changes_nothing() {
    let project = Workspace::plain();
    project.write("../home/.cursor/hooks.json", "{\n  \"version\": 1,\n  \"hooks\": {}\n}\n");
    let before = everything(&project);
    let listed = onloop(&project, "install cursor --dry-run").expect_exit(0);
    assert!(listed.stdout.starts_with("onloop would change 2 files:\n"), "{listed:?}");
    assert!(!listed.stdout.contains("beforeSubmitPrompt"), "{listed:?}");
    let run = onloop(&project, "install cursor --dry-run --diff").expect_exit(0);
    assert!(
        run.stdout.contains("\n-  \"hooks\": {}\n+  \"hooks\": {\"beforeSubmitPrompt\": [\n"),
        "{run:?}"
    );
    assert_eq!(everything(&project), before);
    let run = onloop(&project, "install codex --dry-run --diff").expect_exit(0);
    assert!(run.stdout.contains("\n--- /dev/null\n+++ "), "{run:?}");
    assert_eq!(everything(&project), before);
}

#[test]
fn one_file_that_cannot_be_edited_leaves_all_as_they_are() {
    let project = Workspace::plain();
    project.write("../home/.claude/settings.json", "{\"a\": 1, \"a\": 2}");
    project.write("../home/.claude/agents/rw-loop.md", "an agent of mine\n");
    let before = everything(&project);
    let run = onloop(&project, "install claude").expect_exit(2);
    let said = crate::flat(&run.stderr);
    assert!(said.contains("settings.json`: line 1: `a` is given twice"), "{run:?}");
    assert!(
        said.contains("rw-loop.md`: this file was not written by onloop; move it away first"),
        "{run:?}"
    );
    let first = "error: some files cannot be edited; nothing was changed ";
    assert!(said.starts_with(first), "{run:?}");
    assert_eq!(everything(&project), before);
    let run = onloop(&project, "install emacs").expect_exit(2);
    assert!(
        crate::flat(&run.stderr)
            .contains("`emacs` is not a known client fix: name one of claude, "),
        "{run:?}"
    );
}

#[test]
fn a_link_to_settings_elsewhere_stays_one() {
    let project = Workspace::plain();
    project.write("../home/dotfiles/claude.json", "{}\n");
    std::fs::create_dir(project.path("../home/.claude")).unwrap();
    let link = project.path("../home/.claude/settings.json");
    std::os::unix::fs::symlink("../dotfiles/claude.json", &link).unwrap();
    onloop(&project, "install claude").expect_exit(0);
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(project.read("../home/dotfiles/claude.json").contains("PreToolUse"));
    onloop(&project, "uninstall claude").expect_exit(0);
    assert_eq!(project.read("../home/dotfiles/claude.json"), "{}\n");
}

#[test]
fn hooks_call_the_program_by_the_path_that_it_was_called_by() {
    let project = Workspace::plain();
    onloop(&project, "install claude --scope project").expect_exit(0);
    let settings: Value = serde_json::from_str(&project.read(".claude/settings.json")).unwrap();
    let handler = &settings["hooks"]["PreToolUse"][0]["hooks"][0];
    let expected = project.path("../bin/onloop");
    let expected = expected.parent().unwrap().canonicalize().unwrap().join("onloop");
    assert_eq!(handler["command"], expected.to_str().unwrap());
    assert_eq!(handler["onFailure"], "block");
}

#[test]
fn hooks_of_cline_are_programs() {
    let project = Workspace::plain();
    onloop(&project, "install cline --scope project").expect_exit(0);
    let mode =
        project.path(".clinerules/hooks/PreToolUse").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o111, 0o111);
    let call = r#"{"hookName":"PreToolUse","taskId":"t","preToolUse":{"toolName":"execute_command","parameters":{"command":"git status"}}}"#;
    let run =
        project.shell(&format!("echo '{call}' | .clinerules/hooks/PreToolUse")).expect_exit(0);
    assert_eq!(run.stdout, "{\"cancel\":false}\n");
}

#[test]
fn codex_entries_are_the_same_after_every_installation() {
    let project = Workspace::plain();
    onloop(&project, "install codex").expect_exit(0);
    let first = project.read("../home/.codex/hooks.json");
    project
        .write("../home/.agentize.local.yaml", "handsoff:\n  supervisor:\n    provider: claude\n");
    onloop(&project, "install codex").expect_exit(0);
    assert_eq!(project.read("../home/.codex/hooks.json"), first);
    onloop(&project, "uninstall codex").expect_exit(0);
    onloop(&project, "install codex").expect_exit(0);
    assert_eq!(project.read("../home/.codex/hooks.json"), first);
}

/// Text as people leave it: any line ends, with or without a byte order mark or a final one.
fn foreign_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        Just("# mine"),
        Just("[features]"),
        Just("hooks = true # on"),
        Just("permissions: { allow: ['^make'] }"),
        Just("  - \"日本\": \t'x'  "),
        Just("---"),
        Just(""),
        Just("<!-- onloop -->"),
    ];
    let end = prop_oneof![Just("\n"), Just("\r\n")];
    let lines = prop::collection::vec((line, end), 0..6);
    (any::<bool>(), lines, any::<bool>()).prop_map(|(mark, lines, whole)| text(mark, &lines, whole))
}

fn text(mark: bool, lines: &[(&str, &str)], whole: bool) -> String {
    let mut text = if mark { "\u{feff}".to_owned() } else { String::new() };
    lines.iter().for_each(|(line, end)| text += &format!("{line}{end}"));
    if whole { text } else { text.trim_end().to_owned() }
}

/// A configuration of somebody else: some of these lines, each of which fits behind the others.
fn foreign_toml() -> impl Strategy<Value = String> {
    const LINES: &[&str] = &[
        "# a warning",
        "model = 'o' # mine",
        "dotted.a = \"日本\"",
        "note = \"\"\"\n[mcp_servers.onloop]\n\"\"\"",
        "",
        "list = [\n  1, # one\n]",
        "dotted.b = { c = 2 }",
        "[features]",
        "\thooks = true\t",
        "[mcp_servers.other]",
        "command = 'x'",
        "# another",
        "[[lists]]",
        "a = 1",
        "[mcp_servers.other.env]",
    ];
    let lines = prop::sample::subsequence(LINES, 0..=LINES.len());
    (any::<bool>(), lines, any::<bool>(), any::<bool>()).prop_map(|(mark, lines, cr, whole)| {
        let end = if cr { "\r\n" } else { "\n" };
        let lines: Vec<(&str, &str)> = lines.into_iter().map(|line| (line, end)).collect();
        text(mark, &lines, whole)
    })
}

/// Files of others in the very folders that we write into.
const BESIDE: [&str; 11] = [
    "../home/.codex/AGENTS.md",
    "../home/.agents/skills/mine/SKILL.md",
    "../home/.claude/commands/hotl/mine.md",
    "../home/.claude/agents/mine.md",
    "../home/.config/opencode/opencode.yaml",
    "../home/Documents/Cline/Hooks/TaskStart",
    ".agentize.yaml",
    ".github/prompts/mine.prompt.md",
    ".github/hooks/mine.json",
    ".github/agents/mine.agent.md",
    ".opencode/plugins/mine.js",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(cases(1, 8)))]

    #[test]
    fn whatever_lies_beside_ours_is_as_it_was(
        toml in foreign_toml(),
        texts in prop::collection::vec(foreign_text(), BESIDE.len()),
    ) {
        let project = Workspace::plain();
        for (path, text) in BESIDE.iter().zip(&texts) {
            project.write(path, text);
        }
        project.write("../home/.codex/config.toml", toml);
        let before = everything(&project);
        let old = project.path("../old/onloop");
        let each = |line: &str| -> String {
            let hosts = HOSTS.join(" ");
            format!("for host in {hosts}; do for scope in user project; do {line}; done; done")
        };
        project.shell("mkdir ../old && cp -P ../bin/onloop ../old/").expect_exit(0);
        for program in [old.to_str().expect("a plain path"), "onloop", "onloop"] {
            let install = each(&format!("{program} install $host --scope $scope || exit 1"));
            project.shell(&install).expect_exit(0);
        }
        let during = everything(&project);
        prop_assert!(during.len() > before.len() + 30, "{}", during.len());
        project.shell(&each("onloop uninstall $host || exit 1")).expect_exit(0);
        prop_assert_eq!(everything(&project), before);
    }
}
