//! Files that a step may change, the network that it may use, and its model.

use super::*;

#[test]
fn a_step_lists_the_files_that_it_is_meant_to_change() {
    let file = |value: &str| {
        format!(
            "{FRONT}- [ ] **Step 1: A**\naction: do\nloop: false\nverify: make test\nmay_change: {value}\n"
        )
    };
    for (value, expected) in [
        ("tests/**", vec!["tests/**"]),
        ("[\"tests/**\", 'a b.txt', c]", vec!["tests/**", "a b.txt", "c"]),
        ("\n  - tests/**  # and below\n  - \"c\"", vec!["tests/**", "c"]),
    ] {
        let parsed = parse("hotl-workflow-a.md", file(value).as_bytes());
        assert!(parsed.diagnostics.is_empty(), "{value}: {:?}", parsed.diagnostics);
        assert_eq!(parsed.plan.expect("a plan").steps[0].may_change, expected, "{value}");
    }
    for value in ["", "[]", "/etc/passwd", "a/../../b", "[a, \"b: c\"]", "\"[\""] {
        let found = parse("hotl-workflow-a.md", file(value).as_bytes()).diagnostics;
        assert_eq!(found.len(), 1, "{value}: {found:?}");
        assert_eq!(found[0].code, "invalid-may-change", "{value}");
    }
}

#[test]
fn a_network_is_a_word_or_a_list_of_names() {
    let front = |line: &str| FRONT.replacen("risk_level", &format!("{line}risk_level"), 1);
    let file = |at: &str, value: &str| {
        let line = format!("network: {value}\n");
        let step = "- [ ] **Step 1: A**\naction: do\nloop: false\n";
        match at {
            "frontmatter" => format!("{}{step}verify: make test\n", front(&line)),
            "step" => format!("{FRONT}{step}{line}verify: make test\n"),
            _ => {
                let line = line.replace('\n', "\n    ");
                let line = line.trim_end();
                format!(
                    "{FRONT}{step}verify:\n  - type: shell\n    command: make\n    {line}\n    timeout: 5s\n"
                )
            }
        }
    };
    for at in ["frontmatter", "step", "check"] {
        for (value, expected) in [
            ("none", "none"),
            ("all # as before", "all"),
            ("a.example", "a.example"),
            (
                "[\"@registries\", '*.b.example', localhost:80]",
                "@registries,*.b.example,localhost:80",
            ),
            ("\n  - \"@localhost\"  # databases\n  - A.example", "@localhost,a.example"),
        ] {
            let file = file(at, value);
            let parsed = parse("hotl-workflow-a.md", file.as_bytes());
            assert!(parsed.diagnostics.is_empty(), "{file}: {:?}", parsed.diagnostics);
            let plan = parsed.plan.expect("a plan");
            let of_check = match &plan.steps[0].checks[0] {
                Check::Shell(shell) => shell.network.clone(),
                other => panic!("{other:?}"),
            };
            let found = plan.network.clone().or(plan.steps[0].network.clone()).or(of_check);
            assert_eq!(found.expect("a network").to_string(), expected, "{file}");
        }
        for value in ["[]", "[a.example, all]", "http://a.example", "[\"@registry\"]", "lopback"] {
            let file = file(at, value);
            let found = parse("hotl-workflow-a.md", file.as_bytes()).diagnostics;
            let code = match at {
                "frontmatter" => "invalid-key-value",
                "step" => "invalid-network",
                _ => "invalid-check-value",
            };
            assert_eq!(found.len(), 1, "{file}: {found:?}");
            assert_eq!(found[0].code, code, "{file}");
            assert!(found[0].help.is_some(), "{file}");
        }
    }
}

#[test]
fn a_step_has_a_model_of_its_own_or_that_of_the_file() {
    let file = |front: &str, step: &str| {
        let front = FRONT.replacen("risk_level", &format!("{front}risk_level"), 1);
        let step = format!("{step}verify: make test\n");
        format!("{front}- [ ] **Step 1: A**\naction: do\nloop: false\n{step}")
    };
    for (front, step, expected) in [
        ("", "", None),
        ("model: opus # the large one\n", "", Some("opus")),
        ("model: opus\n", "model: \"openai/gpt-5.2\"\n", Some("openai/gpt-5.2")),
        ("", "model: opus[1m]\n", Some("opus[1m]")),
    ] {
        let file = file(front, step);
        let parsed = parse("hotl-workflow-a.md", file.as_bytes());
        assert!(parsed.diagnostics.is_empty(), "{file}: {:?}", parsed.diagnostics);
        assert_eq!(parsed.plan.expect("a plan").steps[0].model.as_deref(), expected, "{file}");
    }
    for (front, step, code) in [
        ("model: --danger\n", "", "invalid-key-value"),
        ("model: two words\n", "", "invalid-key-value"),
        ("", "model: a,b\n", "invalid-model"),
        ("", "model:\n", "invalid-model"),
        ("", "model: -m\n", "invalid-model"),
    ] {
        let file = file(front, step);
        let found = parse("hotl-workflow-a.md", file.as_bytes()).diagnostics;
        assert_eq!(found.iter().map(|found| found.code).collect::<Vec<_>>(), [code], "{file}");
    }
}

#[test]
fn only_steps_with_a_box_have_a_state() {
    let file = b"---\nintent: x\n---\n\
        - [ ] **Step 1: a**\n```\n- [ ] **Step 2: not a step**\n```\n\
        - [X] **Step 2: b**\n### 3. c\n";
    let checkboxes = crate::parse("", file).checkboxes;
    let states = checkboxes.iter().map(|checkbox| (checkbox.step, checkbox.ticked));
    assert_eq!(states.collect::<Vec<_>>(), [(1, false), (2, true)]);
    assert!(checkboxes.iter().zip(*b" X").all(|(checkbox, mark)| file[checkbox.offset] == mark));
}
