//! Every form of `verify`, and the findings of wrong ones.

use super::*;
use onloop_effect::{Network, OperatingSystem, Shell};

#[test]
fn verify_in_every_form() {
    let extended = ShellCheck {
        command: "make \"x\" # no comment".to_owned(),
        expect: Expectation::Fail,
        timeout_ms: Some(90 * 60 * 1000),
        cwd: Some("app".to_owned()),
        env: vec![("A".to_owned(), "b c".to_owned()), ("B_2".to_owned(), "x: y".to_owned())],
        shell: Shell::Sh,
        platform: None,
        network: Some(Network::Loopback),
        allow_no_tests: true,
    };
    let artifact = |assertion| Check::Artifact { path: "out".to_owned(), assertion };
    let review = |prompt: &str| Check::HumanReview { prompt: prompt.to_owned() };
    let table: Vec<(&str, Vec<Check>)> = vec![
        (" pytest tests/", vec![shell("pytest tests/")]),
        (" ! grep -q x f", vec![shell("! grep -q x f")]),
        (" make '#1' # note", vec![shell("make '#1' # note")]),
        ("\n  type: shell\n  command: make", vec![shell("make")]),
        ("\n\n  # why\n  command: make\n\n  type: shell # that one", vec![shell("make")]),
        (" |\n  set -e\n  a\n\n  b", vec![shell("set -e\na\n\nb")]),
        (" a &&\n  b", vec![shell("a &&\nb")]),
        (
            " python3 - <<'PY'\nimport x\n- [ ] **Step 7: no**\nPY\n",
            vec![shell("python3 - <<'PY'\nimport x\n- [ ] **Step 7: no**\nPY")],
        ),
        (
            "\n  type: shell\n  command: cat <<EOF\n    a\n  b\n  EOF\n  timeout: 5s",
            vec![Check::Shell(ShellCheck {
                timeout_ms: Some(5000),
                ..ShellCheck::new("cat <<EOF\n  a\nb\nEOF")
            })],
        ),
        (
            "\n  type: shell\n  command: |\n    cat <<EOF\n    a\n    EOF",
            vec![shell("cat <<EOF\na\nEOF")],
        ),
        (
            "\n  type: shell\n  command: make \"x\" # no comment\n  expect: fail\n  timeout: 1h30m\n  \
             cwd: app\n  env:\n    A: \"b c\"\n    B_2: x: y\n  shell: sh\n  network: loopback\n  allow_no_tests: true",
            vec![Check::Shell(extended)],
        ),
        (
            "\n  - npm test\n  - curl -H \"Content-type: x\" u",
            vec![shell("npm test"), shell("curl -H \"Content-type: x\" u")],
        ),
        ("\n- npm test\n- type: shell\n  command: b", vec![shell("npm test"), shell("b")]),
        (
            "\n  -\n    type: shell\n    command: a\n\n  -   type: shell\n      command: b",
            vec![shell("a"), shell("b")],
        ),
        (" \"grep -q \\\"a b\\\" f\"", vec![shell("grep -q \"a b\" f")]),
        (" 'it''s here'", vec![shell("it's here")]),
        (" \"a\" \"b\"", vec![shell("\"a\" \"b\"")]),
        (" \"grep \\.md f\"", vec![shell("grep \\.md f")]),
        (" |\n  \"a b\"", vec![shell("\"a b\"")]),
        ("\n  - 'npm test'", vec![shell("npm test")]),
        ("\n  type: human-review\n  prompt: \"look\"", vec![review("look")]),
        ("\n  type: human-review\n  prompt: look", vec![review("look")]),
        ("\n  type: human-review\n  prompt: |\n    one\n    two", vec![review("one\ntwo")]),
        (
            "\n  type: browser\n  url: http://localhost:3000/x\n  check: badge: visible",
            vec![Check::Browser {
                url: "http://localhost:3000/x".to_owned(),
                check: "badge: visible".to_owned(),
            }],
        ),
        (
            "\n  type: artifact\n  path: out\n  assert:\n    kind: exists",
            vec![artifact(Assertion::Exists)],
        ),
        (
            "\n  type: artifact\n  path: \"out\"\n  assert:\n    kind: contains\n    value: 'a b'",
            vec![artifact(Assertion::Contains("a b".to_owned()))],
        ),
        (
            "\n  type: artifact\n  path: out\n  assert:\n      kind: matches-glob\n      value: \"*.sql\"",
            vec![artifact(Assertion::MatchesGlob("*.sql".to_owned()))],
        ),
    ];
    for (text, expected) in table {
        assert_eq!(checks(text), expected, "\n{text}");
    }
}

#[test]
fn verify_that_cannot_be_used() {
    verify_table(&[
        ("", "error empty-verify \"verify\"\n"),
        (" # nothing", "error empty-verify \"verify\"\n"),
        (" |", "error empty-verify \"verify\"\n"),
        (" \"\"", "error empty-verify \"verify\"\n"),
        (" []", "error empty-verify \"verify\"\n"),
        (" [a, b]", "error flow-verify \"[a, b]\"\n"),
        (" null", "error empty-verify \"verify\"\n"),
        ("\n  type: shell\n  command: ''", "error missing-check-field \"command\"\n"),
        ("\n  -\n", "error empty-verify \"-\"\n"),
        ("\n  just text", "error verify-layout \"just text\"\n"),
        ("\n  type: shell\n  command:", "error missing-check-field \"command\"\n"),
        ("\n  type: shell", "error missing-check-field \"type\"\n"),
        ("\n  type: shell\n  command: a\n   x: y", "warning last-line-decides \"a\\n   x: y\"\n"),
        ("\n  command: make", "error missing-check-type \"command\"\n"),
        ("\n  type:\n  command: make", "error missing-check-type \"type\"\n"),
        ("\n  type: shel\n  command: make", "error unknown-check-type \"shel\"\n"),
        ("\n  type: sql\n  command: make", "error unknown-check-type \"sql\"\n"),
        ("\n  type: browser\n  url: http://x", "error missing-check-field \"type\"\n"),
        (
            "\n  type: browser",
            "error missing-check-field \"type\"\nerror missing-check-field \"type\"\n",
        ),
        ("\n  type: human-review", "error missing-check-field \"type\"\n"),
        (
            "\n  type: artifact\n  path: x\n  command: make\n  assert:\n    kind: exists",
            "error foreign-check-field \"command\"\n",
        ),
        ("\n  type: artifact\n  path: x", "error missing-check-field \"type\"\n"),
        (
            "\n  type: artifact\n  path: x\n  assert: exists",
            "error invalid-check-value \"exists\"\n",
        ),
        (
            "\n  type: artifact\n  path: x\n  assert: {kind: exists}",
            "error missing-check-field \"assert\"\nerror flow-verify \"{kind: exists}\"\n",
        ),
        (
            "\n  type: artifact\n  path: x\n  assert:\n    kind: json-keys",
            "error unknown-assert-kind \"json-keys\"\n",
        ),
        (
            "\n  type: artifact\n  path: x\n  assert:\n    kind: contains",
            "error missing-assert-value \"contains\"\n",
        ),
        (
            "\n  type: artifact\n  path: x\n  assert:\n    kind: matches-glob\n    value: \"\"",
            "error missing-assert-value \"matches-glob\"\n",
        ),
        (
            "\n  type: artifact\n  path: x\n  assert:\n    kind: matches-glob\n    value: src/*",
            "error glob-with-folder \"src/*\"\n",
        ),
        (
            "\n  type: artifact\n  path: /etc/x\n  assert:\n    kind: exists",
            "error path-outside \"/etc/x\"\n",
        ),
        (
            "\n  type: artifact\n  path: a/../../x\n  assert:\n    kind: exists",
            "error path-outside \"a/../../x\"\n",
        ),
        ("\n  type: shell\n  command: a\n  cwd: ../x", "error path-outside \"../x\"\n"),
        ("\n  type: shell\n  command: a\n  timeout: 90", "error invalid-check-value \"90\"\n"),
        ("\n  type: shell\n  command: a\n  timeout: soon", "error invalid-check-value \"soon\"\n"),
        (
            "\n  type: shell\n  command: a\n  expect: nonzero",
            "error invalid-check-value \"nonzero\"\n",
        ),
        ("\n  type: shell\n  command: a\n  shell: fish", "error invalid-check-value \"fish\"\n"),
        (
            "\n  type: shell\n  command: a\n  env:\n    A-B: c",
            "error invalid-check-value \"A-B\"\n",
        ),
        (
            "\n  type: shell\n  command: a\n  env:\n    A: b\n    A: c",
            "error duplicate-field \"A\"\n",
        ),
        (
            "\n  type: shell\n  command: a\n  exit_code: 1",
            "error unknown-check-field \"exit_code\"\n",
        ),
        (
            "\n  type: shell\n  comand: a",
            "error missing-check-field \"type\"\nerror unknown-check-field \"comand\"\n",
        ),
        ("\n  type: shell\n  command: a\n  command: b", "error duplicate-field \"command\"\n"),
        (" {type: shell, command: a}", "error flow-verify \"{type: shell, command: a}\"\n"),
        (" [\"a\", \"b\"]", "error flow-verify \"[\\\"a\\\", \\\"b\\\"]\"\n"),
        (" cat <<EOF\n", "error unterminated-heredoc \"cat <<EOF\"\n"),
        (
            "\n  type: shell\n  command: |\n    cat <<EOF\n    a\n      EOF",
            "error unterminated-heredoc \"cat <<EOF\\n    a\\n      EOF\"\n",
        ),
        (" ma\u{200b}ke", "error hidden-character \"ma\\u{200b}ke\"\n"),
    ]);
}

#[test]
fn verify_that_is_suspicious() {
    verify_table(&[
        (" true", "warning vacuous-verify \"true\"\n"),
        (" grep -r x src | wc -l", "warning vacuous-verify \"grep -r x src | wc -l\"\n"),
        (" pytest --co -q", "warning vacuous-verify \"pytest --co -q\"\n"),
        ("\n  type: shell\n  command: cargo test --no-run\n  allow_no_tests: true", ""),
        (" \"npm test\"", "warning quoted-value \"\\\"npm test\\\"\"\n"),
        (" `npm test`", "warning quoted-value \"`npm test`\"\n"),
        ("\n  - type: \"shell\"\n    command: 'make'", "warning quoted-value \"'make'\"\n"),
        (
            " cd sub && git status --short",
            "warning vacuous-verify \"cd sub && git status --short\"\n",
        ),
        (" dotnet test | findstr x", "warning windows-command \"dotnet test | findstr x\"\n"),
        (" All tests pass.", "warning prose-verify \"All tests pass.\"\n"),
        (" .\\gradlew.bat test", "warning windows-command \".\\\\gradlew.bat test\"\n"),
        ("\n  type: shell\n  command: .\\gradlew.bat test\n  shell: pwsh", ""),
        ("\n  type: shell\n  command: cat <<EOF\n  shell: cmd", ""),
        (
            " cd /d e:\\work\\app && make",
            "warning windows-command \"cd /d e:\\\\work\\\\app && make\"\nwarning machine-path \
             \"e:\\\\work\\\\app\"\n",
        ),
        ("\n  type: shell\n  command: dir C:\\Windows\\x\n  shell: cmd", ""),
        (" cd /Users/me/x && make", "warning machine-path \"/Users/me/x\"\n"),
        (" npm run lint\n  npm test", "warning last-line-decides \"npm run lint\\n  npm test\"\n"),
        (
            "\n  - type: human-review\n    prompt: look\n  - make",
            "warning review-before-checks \"verify\"\n",
        ),
        ("\n  type: human-review\n  check: look", "warning review-check-alias \"check\"\n"),
        (
            "\n  type: browser\n  url: localhost:3000\n  check: x",
            "warning url-without-scheme \"localhost:3000\"\n",
        ),
        ("\n  type: artifact\n  path: x\n  kind: exists", "warning flattened-assert \"kind\"\n"),
        (
            "\n  type: artifact\n  path: x\n  assert:\n    kind: exists\n    value: y",
            "warning unused-assert-value \"y\"\n",
        ),
        ("\n  type: shell\n  command: true\n  expect: fail", ""),
        ("\n  type: shell\n  command: make\n  note: why", ""),
    ]);
}

#[test]
fn the_frontmatter_says_what_commands_are_written_for() {
    let front = FRONT.replace("---\nintent", "---\nshell: pwsh\nplatform: windows\nintent");
    let checks = "verify:\n  - Get-Item a\n  - type: shell\n    command: make\n    shell: bash\n    \
         platform: linux\n";
    let file = format!("{front}- [ ] **Step 1: A**\naction: do\nloop: false\n{checks}");
    let plan = plan(&file);
    let shells = plan.steps[0].checks.iter().map(|check| match check {
        Check::Shell(shell) => (shell.shell, shell.platform),
        other => panic!("{other:?}"),
    });
    let expected = [
        (Shell::Pwsh, Some(OperatingSystem::Windows)),
        (Shell::Bash, Some(OperatingSystem::Linux)),
    ];
    assert_eq!(shells.collect::<Vec<_>>(), expected);
}
