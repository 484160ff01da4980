//! The fields of a workflow file, as a table for editors and documentation.

use onloop_syntax::text::words;

words! {
    /// The section of a field.
    pub enum Section {
        /// Between the first `---` and the next.
        Frontmatter = "frontmatter",
        /// Below the header of a step.
        Step = "step",
        /// Indented below `verify`.
        Check = "check",
        /// Indented below `assert`.
        Assert = "assert",
    }
}

/// A field of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Field {
    /// Its section.
    pub section: Section,
    /// Its name, as written before the colon.
    pub name: &'static str,
    /// Its meaning, in the words of the documentation.
    pub about: &'static str,
    /// The default; empty if the meaning says it.
    pub default: &'static str,
    /// The allowed values, or their beginnings; empty: any text.
    pub values: &'static [&'static str],
    /// The types of check with this field; empty: every type.
    pub types: &'static [&'static str],
}

macro_rules! fields {
    ($($section:ident $name:literal $about:literal, $default:literal, $values:tt, $types:tt)*) => {
        /// Every field, in the order of the documentation.
        pub const FIELDS: &[Field] = &[$(Field {
            section: Section::$section,
            name: $name,
            about: $about,
            default: $default,
            values: &$values,
            types: &$types,
        }),*];
    };
}

fields! {
    Frontmatter "intent" "what this builds, in one sentence; required", "", [], []
    Frontmatter "success_criteria" "how to know that it is done: text or a list; required", "", [], []
    Frontmatter "risk_level" "`low`, `medium` or `high`; required", "", ["low", "medium", "high"], []
    Frontmatter "auto_approve" "`true`: human gates approve themselves below high risk", "`false`",
        ["true", "false"], []
    Frontmatter "branch" "branch to work on", "`hotl/<slug>`", [], []
    Frontmatter "worktree" "`true`: a worktree of its own; `false`: a branch in this checkout; `host`: this checkout and branch as they are",
        "`true`, or `host` inside a linked worktree that nothing pins", ["true", "false", "host"], []
    Frontmatter "dirty_worktree" "`allow`: start although files are uncommitted", "refuse", ["allow"], []
    Frontmatter "progress" "`verbose`: print every step at every transition", "off", ["verbose"], []
    Frontmatter "report_detail" "`full`: the report shows the output of passed checks too",
        "failures only", ["full"], []
    Frontmatter "max_total_attempts" "most attempts over all steps", "unbounded", [], []
    Frontmatter "max_agents" "most agents started", "unbounded", [], []
    Frontmatter "max_cost_usd" "most money, such as `2.50`", "unbounded", [], []
    Frontmatter "max_tokens" "most tokens that agents read and write", "unbounded", [], []
    Frontmatter "max_elapsed_minutes" "most active time; pauses do not count", "unbounded", [], []
    Frontmatter "max_parallel" "most [steps that run at the same time](parallel-steps.md), 1 to 16; above 1 needs `worktree: true`",
        "1", [], []
    Frontmatter "allow" "lines of shell that the agent of a run may use although no rule decides; a list",
        "none", [], []
    Frontmatter "protect" "files that no agent may change: names or patterns below the root, such as `ci/**`; a list",
        "at high risk the files that checks run, else none", [], []
    Frontmatter "commit" "when verified work is committed at `finish`: `end`: one commit; `step`: one for each step; `never`: not at all",
        "`end`", ["end", "step", "never"], []
    Frontmatter "review" "the agent that reviews the work before it counts as done, such as `claude`",
        "none", [], []
    Frontmatter "model" "the model of every step, in the words of the agent's client, such as `opus`",
        "the client's own", [], []
    Frontmatter "setup" "lines of shell that make a fresh worktree ready, before the first step; a list",
        "none", [], []
    Frontmatter "shell" "the shell of the commands of checks: `bash`, `sh`, `pwsh` or `cmd`", "`bash`",
        ["bash", "sh", "pwsh", "cmd"], []
    Frontmatter "platform" "the operating system that the commands of checks are written for: `linux`, `macos` or `windows`; a run elsewhere is refused",
        "every one", ["linux", "macos", "windows"], []
    Frontmatter "confine" "`on`: agents and checks run only where the machine can confine them", "what `--confine` or the configuration says",
        ["on"], []
    Frontmatter "network" "the [network](confinement.md#network) of confined agents, checks and lines of `setup`: `all`, `loopback`, `none` or a list of names",
        "agents `[@provider, @registries, @localhost]`, others `all`", ["all", "loopback", "none"], []
    Frontmatter "require_checks" "`true`: a step that no check, checkpoint review or person verifies is an error, not a warning",
        "`false`", ["true", "false"], []
    Frontmatter "verify_clean" "`true`: before the run completes, all checks run once more on a clean checkout, after `setup`",
        "what `run.verify_clean` of the configuration says", ["true", "false"], []
    Frontmatter "max_review_rounds" "how often findings of a review that says \"not ready\" go back to the agent before a person decides, 0 to 20",
        "2", [], []
    Frontmatter "baseline" "`true`: the checks of every step run once before its agent does; one that passes already is a warning",
        "`false`", ["true", "false"], []
    Frontmatter "policy_profile" "`standard`; accepted for other readers of the format", "",
        ["standard"], []

    Step "action" "what to do; required", "", [], []
    Step "loop" "`false`, or `until <condition>`; required. The condition is for people and agents: the checks decide",
        "", ["false", "until "], []
    Step "max_iterations" "attempts of an `until` loop, 1 to 1000; 3 when left out", "", [], []
    Step "verify" "what must hold afterwards", "", [], []
    Step "gate" "`human`: a person approves the finished step; `auto`: the approval is recorded by itself",
        "", ["human", "auto"], []
    Step "depends_on" "the earlier steps that this one needs, as a list of their numbers; `[]`: none; the step before when left out",
        "", [], []
    Step "baseline" "`true`: the checks run once before the agent does; one that passes already is a warning",
        "what the frontmatter says", ["true", "false"], []
    Step "may_change" "files that decide what checks check and that this step is meant to change, such as `tests/**`; a list. They are listed, not warned about",
        "none", [], []
    Step "network" "the [network](confinement.md#network) of the agent and the checks of this step, as in the frontmatter",
        "what the frontmatter says", ["all", "loopback", "none"], []
    Step "model" "the model of this step, as in the frontmatter", "what the frontmatter says", [], []

    Check "type" "what kind of check this is; required", "",
        ["shell", "browser", "human-review", "artifact"], []
    Check "command" "the command, on one line or as a block", "", [], ["shell"]
    Check "expect" "`pass`: exits 0. `fail`: runs, and the code fails it; a command that cannot run, a missing target or file, no tests and a timeout do not count",
        "`pass`", ["pass", "fail"], ["shell"]
    Check "timeout" "`250ms`, `90s`, `5m`, `1h30m`, `1d`; at most a week", "10 minutes", [], ["shell"]
    Check "cwd" "folder below the root of the checkout", "the root", [], ["shell"]
    Check "env" "variables added to the environment, one per line", "", [], ["shell"]
    Check "shell" "`bash`, `sh`, `pwsh` or `cmd`", "what the frontmatter says", ["bash", "sh", "pwsh", "cmd"], ["shell"]
    Check "platform" "the operating system that the command is written for: `linux`, `macos` or `windows`; elsewhere the check is refused",
        "what the frontmatter says", ["linux", "macos", "windows"], ["shell"]
    Check "network" "`all`, `loopback` (one of its own), `none` or a list of names, see [network](confinement.md#network); holds where the check is confined",
        "what the step says", ["all", "loopback", "none"], ["shell"]
    Check "allow_no_tests" "`true`: the check passes although its test runner says that no test ran", "`false`",
        ["true", "false"], ["shell"]
    Check "url" "the page to open", "", [], ["browser"]
    Check "check" "what to look for on the page", "", [], ["browser"]
    Check "prompt" "what a person is to look at", "", [], ["human-review"]
    Check "path" "the file or folder, relative to the root of the checkout", "", [], ["artifact"]
    Check "assert" "what must hold of the file or folder", "", [], ["artifact"]

    Assert "kind" "`exists`, `contains` (a text) or `matches-glob` (a file name in the folder)", "",
        ["exists", "contains", "matches-glob"], []
    Assert "value" "the text or the pattern; `exists` has none", "", [], []
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{field, frontmatter, parse, verify};

    fn names(section: Section) -> Vec<&'static str> {
        FIELDS.iter().filter(|field| field.section == section).map(|field| field.name).collect()
    }

    #[test]
    fn the_table_names_what_the_reader_knows_and_nothing_else() {
        assert_eq!(names(Section::Frontmatter), frontmatter::FrontmatterKey::WORDS);
        assert_eq!(names(Section::Step), field::FIELDS);
        // `kind` may also be directly below the check, with a warning.
        let (kind, check) = verify::FIELDS.split_last().expect("a check has fields");
        assert_eq!(names(Section::Check), check);
        assert_eq!(names(Section::Assert), [*kind, "value"]);
    }

    /// A workflow without findings in which `field` has `value`.
    fn file_with(field: &Field, value: &str) -> String {
        let line = format!("{}: {value}\n", field.name);
        let mut front = "intent: a\nsuccess_criteria: b\nrisk_level: low\n".to_owned();
        let mut step = "action: do\nloop: false\nverify: make test\n".to_owned();
        match field.section {
            Section::Frontmatter if field.name == "risk_level" => {
                front = front.replace("risk_level: low\n", &line);
            }
            Section::Frontmatter => front += &line,
            Section::Step if field.name == "loop" => step = step.replace("loop: false\n", &line),
            Section::Step => step += &line,
            Section::Check if field.name == "type" => {
                let rest = match value {
                    "shell" => "command: make test",
                    "browser" => "url: http://localhost\n  check: red",
                    "human-review" => "prompt: look",
                    _ => "path: a\n  assert:\n    kind: exists",
                };
                let check = format!("verify:\n  {line}  {rest}\n");
                step = step.replace("verify: make test\n", &check);
            }
            Section::Check => {
                let check = format!("verify:\n  type: shell\n  command: make test\n  {line}");
                step = step.replace("verify: make test\n", &check);
            }
            Section::Assert => {
                let more = if value == "exists" { "" } else { "    value: \"*.md\"\n" };
                let check =
                    format!("verify:\n  type: artifact\n  path: a\n  assert:\n    {line}{more}");
                step = step.replace("verify: make test\n", &check);
            }
        }
        format!("---\n{front}---\n- [ ] **Step 1: A**\n{step}")
    }

    #[test]
    fn every_value_of_the_table_is_accepted_and_no_other() {
        for field in FIELDS.iter().filter(|field| !field.values.is_empty()) {
            for value in field.values {
                let value = if *value == "until " { "until it passes" } else { value };
                let file = file_with(field, value);
                let found = parse("hotl-workflow-a.md", file.as_bytes()).diagnostics;
                assert!(found.is_empty(), "{file}\n{found:?}");
            }
            let file = file_with(field, "bogus");
            let found = parse("hotl-workflow-a.md", file.as_bytes()).diagnostics;
            assert!(found.iter().any(|found| found.message.contains("bogus")), "{file}\n{found:?}");
        }
    }

    #[test]
    fn the_types_of_checks_are_those_that_have_fields() {
        let of_type = FIELDS.iter().find(|field| field.name == "type").expect("the field");
        for kind in of_type.values {
            assert!(FIELDS.iter().any(|field| field.types.contains(kind)), "{kind}");
        }
        let known = |kind: &&str| of_type.values.contains(kind);
        assert!(FIELDS.iter().flat_map(|field| field.types).all(known));
    }
}
