mod arguments;
mod evaluation;
mod git;
mod leaving;
mod lines;
mod rules;
mod sandboxed;
mod shells;
mod tasks;
mod tools;

use super::judge::entry::{ProgramEntry, words};
use super::programs::TABLES;
use super::rules::Source;
use super::*;

fn with(yaml: &str, line: &str) -> Ruling {
    let context = Context::new("/srv/repo").with_rules(Source::Local, yaml);
    decide(&Call::shell(line), &context)
}

#[test]
fn rules_are_about_whole_commands() {
    let yaml = "permissions:\n  allow: ['^frob (build|test)', '^tool$']\n  deny: ['^terraform destroy']\n  ask: ['^git push']\n";
    for (line, decision, rule) in [
        ("frob build x", Decision::Allow, "rules:local:allow[0]"),
        ("CI=1 timeout 5 frob test", Decision::Allow, "rules:local:allow[0]"),
        ("A=1 timeout 5 frob test", Decision::Ask, "environment"),
        ("frob builder", Decision::Ask, "program:unknown"),
        ("frob build; id", Decision::Ask, "program:id"),
        ("frob build $(id)", Decision::Ask, "program:id"),
        ("frob build > /etc/x", Decision::Deny, "path:outside"),
        ("PATH=/x frob build", Decision::Ask, "environment"),
        ("./frob build", Decision::Ask, "program:file"),
        ("tool x", Decision::Ask, "program:unknown"),
        ("ls; 'terraform'  \"destroy\" x", Decision::Deny, "rules:local:deny[0]"),
        ("git push origin x", Decision::Ask, "rules:local:ask[0]"),
    ] {
        let ruling = with(yaml, line);
        assert_eq!((ruling.decision, ruling.rule.to_string().as_str()), (decision, rule), "{line}");
    }
}

#[test]
fn a_rule_about_a_command_does_not_name_its_files_and_one_about_a_tool_does() {
    let everything = "permissions:\n  allow: ['.*', {tool: '*', pattern: '.*'}]\n";
    let context = Context::new("/srv/repo").with_rules(Source::Local, everything);
    for (path, command, tool) in [
        ("src/x", "rules:local:allow[0]", "built-in"),
        ("/tmp/x", "rules:local:allow[0]", "rules:local:allow[1]"),
        (".github/workflows/ci.yml", "path:automation", "rules:local:allow[1]"),
        (".claude/x", "path:control", "path:control"),
        ("", "path:empty", "tool:malformed"),
        ("/etc/x", "path:outside", "path:outside"),
    ] {
        let ruling = decide(&Call::shell(&format!("frob; tee '{path}'")), &context);
        assert_eq!(ruling.rule.to_string(), command, "{path}");
        let call = Call { tool: "Write".to_owned(), input: json!({ "file_path": path }) };
        assert_eq!(decide(&call, &context).rule.to_string(), tool, "{path}");
    }
}

#[test]
fn a_question_about_what_stays_in_a_sandbox_and_deletes_nothing_is_not_lasting() {
    for (line, lasting) in [
        ("git push origin HEAD:main", true),
        ("make deploy", true),
        ("./deploy.sh", true),
        ("kubectl delete pod x", true),
        ("git config core.hooksPath x", true),
        ("echo x > .github/workflows/x.yml", true),
        ("rm -r src", true),
        ("mv src/m.rs /tmp/", true),
        ("./build.sh", false),
        ("npm test", false),
        ("frobnicate", false),
        ("ls", false),
    ] {
        let mut context = Context::new("/srv/repo");
        context.git_branch = Some("topic".to_owned());
        assert_eq!(decide(&Call::shell(line), &context).lasting, lasting, "{line}");
    }
}

#[test]
fn a_path_that_is_not_text_is_a_malformed_input() {
    for path in [json!(true), json!(7), json!([]), json!(""), json!(null)] {
        let call = Call { tool: "Write".to_owned(), input: json!({ "file_path": path }) };
        let ruling = decide(&call, &Context::new("/srv/repo"));
        let found = (ruling.decision, ruling.rule.to_string());
        assert_eq!(found, (Decision::Ask, "tool:malformed".to_owned()), "{path}");
    }
}

#[test]
fn look_ahead_works_and_what_cannot_be_used_fails_closed() {
    let only_ls = "permissions:\n  deny: ['^(?!ls)']\n";
    assert_eq!(with(only_ls, "ls").decision, Decision::Allow);
    assert_eq!(with(only_ls, "pwd").decision, Decision::Deny);
    assert_eq!(with("permissions:\n  deny: ['(x']\n", "ls").decision, Decision::Ask);
    assert_eq!(with("permissions:\n  allow: ['(x', '^frob']\n", "frob").decision, Decision::Allow);
}

#[test]
fn a_broken_file_allows_nothing_and_says_so() {
    for (yaml, fault) in [
        ("- a", "is not a mapping"),
        ("permissions: 7", "has `permissions` that is not a mapping"),
        (
            "permissions: [",
            "is not YAML: did not find expected node content at line 2 column 1, while parsing \
             a flow node",
        ),
        ("permissions: {deny: 7}", "has `permissions.deny` that is not a list"),
        ("a: 1\na: 2", "is not YAML: duplicate entry with key \"a\""),
        ("permissions: {deny: [7]}", "has an entry deny[0] that is not a rule"),
        (
            "permissions: {temporary: 7}",
            "has `permissions.temporary` that is neither `allow` nor `ask`",
        ),
        (&"[".repeat(1000), "is too large to be read"),
        (&format!("x: {}", "y".repeat(70_000)), "is too large to be read"),
    ] {
        let ruling = with(yaml, "ls");
        let reason =
            format!("the local configuration {fault}; nothing is allowed until it is fixed");
        assert_eq!((ruling.decision, ruling.reason), (Decision::Ask, reason), "{yaml}");
        assert_eq!(with(yaml, "rm -rf x").decision, Decision::Deny, "{yaml}");
    }
    for yaml in
        ["", "permissions:", "permissions: {allow: }", "other: 1", "\u{feff}permissions: {}"]
    {
        assert_eq!(with(yaml, "ls").decision, Decision::Allow, "{yaml}");
    }
    let partly = "permissions:\n  deny: ['^pwd']\n  ask: 7\n";
    assert_eq!(with(partly, "pwd").decision, Decision::Deny);
}

#[test]
fn a_person_may_consent_to_runs_in_advance() {
    let yaml = "permissions:\n  allow: ['^onloop (init|prepare) ']\n";
    assert_eq!(with(yaml, "onloop init wf.md").decision, Decision::Allow);
    let with_options = with(yaml, "onloop init wf.md --branch hotl/x --source-head abc");
    // A sandbox has no records of runs, so the line is not contained.
    assert_eq!(
        with_options.rule.to_string(),
        "rules:local:allow[0]",
        "not contained: a sandbox has no records"
    );
    assert_eq!(with(yaml, "onloop gate 2 approved").decision, Decision::Ask);
    let ruling = with("", "onloop init wf.md");
    assert_eq!(ruling.rule.to_string(), "person:onloop init");
    assert!(ruling.needs_a_person() && !with("", "rm x").needs_a_person());
    assert_eq!(
        with("permissions:\n  allow: ['^onloop']\n", "onloop approve x").decision,
        Decision::Deny
    );
}

#[test]
fn a_session_may_end_itself_and_no_other() {
    let session = CallingSession { id: "s1".to_owned(), workflow: "issue-to-impl".to_owned() };
    let context = Context::new("/srv/repo").with_session(Some(session));
    let decision = |line: &str| decide(&Call::shell(line), &context).decision;
    for verb in ["done", "stop"] {
        assert_eq!(decision(&format!("onloop session {verb} s1")), Decision::Allow);
        assert_eq!(decision(&format!("onloop session {verb} s2")), Decision::Ask);
    }
    assert_eq!(decision("onloop gate 1 approved"), Decision::Ask);
    for line in [
        "onloop approve 0a1b2c3d4e5f",
        "onloop permit trust",
        "onloop uninstall claude",
        "hotl-rt install codex --dry-run",
        "sh -c 'onloop uninstall codex'",
    ] {
        assert_eq!(decision(line), Decision::Deny, "{line}");
    }
    let file = ".tmp/hooked-sessions/s1.json";
    assert_eq!(
        decision(&format!("jq '.state = \"done\"' {file} > {file}.tmp && mv {file}.tmp {file}")),
        Decision::Allow
    );
    assert_eq!(decision(&format!("jq '.x = 1' {file} > {file}.tmp")), Decision::Deny);
    assert_eq!(decision(&format!("echo x > {file}.tmp && mv {file}.tmp {file}")), Decision::Deny);
}

fn each(
    programs: Box<dyn Iterator<Item = &'static ProgramEntry>>,
    path: &str,
    visit: &mut impl FnMut(&str, &'static ProgramEntry),
) {
    for program in programs {
        let path = format!("{path} {}", words(program.names).next().unwrap_or_default());
        visit(path.trim(), program);
        each(Box::new(program.every_subcommand()), &path, visit);
    }
}

#[test]
fn the_tables_are_consistent() {
    let mut names = std::collections::BTreeSet::new();
    for table in TABLES {
        for name in table.entries.iter().flat_map(|program| words(program.names)) {
            assert!(names.insert(name), "`{name}` has two entries");
        }
        each(Box::new(table.entries.iter()), "", &mut |path, program| {
            assert!(!program.about.is_empty(), "`{path}` does not say what it is for");
            let mut options = std::collections::BTreeSet::new();
            for name in program.options.iter().flat_map(|flag| words(flag.names)) {
                assert!(name.starts_with('-'), "`{path}` has an option `{name}` without a dash");
                assert!(options.insert(name), "`{path}` has `{name}` twice");
            }
        });
    }
}

/// What is decided where the run has `/tmp/onloop-1` for itself.
fn in_run(line: &str) -> Decision {
    let mut context = Context::new("/srv/repo");
    context.places.own_temporary = Some("/tmp/onloop-1".to_owned());
    decide(&Call::shell(line), &context).decision
}

#[test]
fn temporary_files_of_the_run_are_free() {
    for line in [
        "echo x > \"$TMPDIR/a\"",
        "echo x > /tmp/onloop-1/a",
        "sort -o \"$TMPDIR/b\" a.txt && cat \"$TMPDIR/b\"",
        "mkdir -p \"$TMPDIR/a/b\"",
        "rm \"$TMPDIR/a\"",
        "rm -rf \"$TMPDIR/a\" \"${TMPDIR}/b\"",
        "rm -rf /tmp/onloop-1/build-*",
        "mktemp",
        "mktemp -d",
        "mktemp --suffix=.rs",
        "mktemp -t x.XXXX",
        "mktemp -p \"$TMPDIR\" -d x.XXXX",
        "mktemp \"$TMPDIR/x.XXXX\"",
    ] {
        assert_eq!(in_run(line), Decision::Allow, "{line}");
        let elsewhere = decide(&Call::shell(line), &Context::new("/srv/repo")).decision;
        assert_ne!(elsewhere, Decision::Allow, "{line}");
    }
    for line in [
        "TMPDIR=/home/u; rm -rf \"$TMPDIR/a\"",
        "TMPDIR=/home/u; echo x > \"$TMPDIR/a\"",
        "read TMPDIR < a; rm -rf \"$TMPDIR/a\"",
        "for TMPDIR in /etc; do echo x > \"$TMPDIR/a\"; done",
        "rm -rf \"$TMPDIR\"",
        "rm -rf \"$TMPDIR/..\"",
        "rm -rf \"$TMPDIR\"/*/../..",
        "rm -rf $TMPDIR/a /home/u",
        "rm -rf \"$TMPDIRS/a\"",
        "rm -rf /tmp/onloop-1/$X",
        "cat \"$TMPDIR/.env\"",
        "bash \"$TMPDIR/a.sh\"",
        "\"$TMPDIR/a\"",
        "mktemp --tmpdir=/home/u",
        "mktemp -t ../../x.XXXX",
        "mktemp --tmpdir ../../x.XXXX",
        "mktemp -p /etc",
        "mktemp ../x.XXXX",
        "TMPDIR=/home/u mktemp",
    ] {
        assert_ne!(in_run(line), Decision::Allow, "{line}");
    }
}

#[test]
fn what_git_has_may_be_thrown_away() {
    let repo = |name: &str| format!("/srv/repo/{name}");
    for (line, files) in [
        ("git checkout -- a.txt", &["a.txt"][..]),
        ("git restore src/a.rs b", &["src/a.rs", "b"]),
        ("git restore -s main a.txt", &["a.txt"]),
        ("cd src && git restore a.rs", &["src/a.rs"]),
        ("rm a.txt", &["a.txt"]),
        ("rm -f a.txt ./b && ls", &["a.txt", "b"]),
        ("rm a.txt; rm -rf target", &["a.txt"]),
    ] {
        let mut context = Context::new("/srv/repo");
        context.places.plain_folders.insert("/srv/repo/src".to_owned());
        let call = Call::shell(line);
        assert_eq!(decide(&call, &context).decision, Decision::Ask, "{line}");
        let lost = recoverable(&call, &context);
        assert_eq!(lost, files.iter().copied().map(repo).collect(), "{line}");
        context.places.unchanged = lost;
        assert_eq!(decide(&call, &context).decision, Decision::Allow, "{line}");
        // One of them has changed.
        context.places.unchanged.pop_first();
        assert_eq!(decide(&call, &context).decision, Decision::Ask, "{line}");
    }
    for line in [
        "git checkout -- .",
        "git checkout -- src/",
        "git checkout -- '*.rs'",
        "git checkout -- ':/a'",
        "git restore .",
        "git restore --patch a.txt",
        "git clean -fd",
        "rm -rf a/*",
        "rm -rf .",
        "rm \"$X\"",
        "git restore .claude/settings.json",
        "git checkout HEAD~1 .github/workflows/ci.yml",
        "rm .env",
        "rm .git/index",
        "rm .claude/settings.json",
        "rm .github/workflows/ci.yml",
        "rm ../a.txt",
        "rm ~/a.txt",
        "rm a.txt && ./run",
        "rm a.txt; git reset --hard",
        "ls",
    ] {
        let (call, context) = (Call::shell(line), Context::new("/srv/repo"));
        assert!(recoverable(&call, &context).is_empty(), "{line}");
    }
}

#[test]
fn a_rule_covers_an_option_only_if_it_names_it() {
    let yaml = "permissions:\n  allow: ['^pytest', '^make -f ci.mk']\n";
    for (line, decision, rule) in [
        ("pytest -k 'a and not b' -x tests/", Decision::Allow, "rules:local:allow[0]"),
        ("pytest --cov-report=term-missing", Decision::Allow, "rules:local:allow[0]"),
        ("pytest -o addopts=-pevil", Decision::Ask, "option:pytest -o"),
        ("pytest --basetemp=src", Decision::Ask, "option:pytest --basetemp"),
        ("pytest --pyargs evil", Decision::Ask, "option:pytest --pyargs"),
        ("pytest --cov-report=html:.git/x", Decision::Ask, "option:pytest html:.git/x"),
        ("make -f ci.mk test", Decision::Allow, "rules:local:allow[1]"),
        ("make -f evil.mk test", Decision::Ask, "option:make -f"),
    ] {
        let ruling = with(yaml, line);
        assert_eq!((ruling.decision, ruling.rule.to_string().as_str()), (decision, rule), "{line}");
    }
}

#[test]
fn a_rule_about_a_runner_does_not_lift_what_its_command_does_for_good() {
    let yaml = "permissions:\n  allow: ['^npx ', '^timeout ', '^xargs ']\n";
    for (line, decision) in [
        ("npx vercel --prod", Decision::Ask),
        ("npx --foo bar vercel --prod", Decision::Ask),
        ("timeout 9 npm publish", Decision::Ask),
        ("timeout 9 rm -r src", Decision::Ask),
        ("timeout 9 make x", Decision::Allow),
        ("npx tsc", Decision::Allow),
    ] {
        assert_eq!(with(yaml, line).decision, decision, "{line}");
    }
}

#[test]
fn an_offered_rule_allows_the_command() {
    for (line, offered) in [
        ("git stash", &["^git stash( |$)"][..]),
        ("frob x", &["^frob( |$)"]),
        ("/usr/bin/make x", &["^make x$"]),
        ("make deploy", &["^make deploy$"]),
        ("npm run deploy", &["^npm run deploy$"]),
        ("npm run build", &["^npm run( |$)"]),
        ("./tool.sh a", &["^\\./tool\\.sh( |$)"]),
        ("./deploy.sh a.b", &["^\\./deploy\\.sh a\\.b$"]),
        ("git push origin HEAD:main", &["^git push origin HEAD:main$"]),
        ("timeout 9 git stash", &["^git stash( |$)"]),
        ("frob x && grob y", &["^frob( |$)", "^grob( |$)"]),
        ("git -C . stash", &["^git -C \\. stash$"]),
        ("cargo make x", &["^cargo make x$"]),
        ("X=1 frob", &[]),
        ("frob ~/.ssh/id_rsa", &[]),
        ("frob \"$X\"", &[]),
        ("cp a .github/workflows/b.yml", &[]),
    ] {
        let mut context = Context::new("/srv/repo");
        context.git_branch = Some("topic".to_owned());
        let call = Call::shell(line);
        let ruling = explain(&call, &context);
        let offers = allowing::offers(&ruling, &call, &context);
        let rules: Vec<String> = offers
            .into_iter()
            .filter_map(|offer| match offer {
                allowing::Offer::Rule(rule) => Some(rule),
                allowing::Offer::NotEnough | allowing::Offer::Nothing => None,
            })
            .collect();
        assert_eq!(rules, offered, "{line}");
        if !rules.is_empty() {
            let yaml = json!({ "permissions": { "allow": rules } }).to_string();
            let after = decide(&call, &context.with_rules(Source::Local, &yaml));
            assert_eq!(after.decision, Decision::Allow, "{line}: {}", after.reason);
        }
    }
}

#[test]
fn a_rule_about_a_runner_does_not_answer_for_a_person() {
    let yaml = "permissions:\n  allow: ['^npx ', '^npm exec']\n";
    for (line, decision) in [
        ("npx tsc --noEmit", Decision::Allow),
        ("npx onloop approve x", Decision::Deny),
        ("npx onloop@latest adopt x", Decision::Deny),
        ("npx -y onloop gate 1 approved", Decision::Ask),
        ("npm exec -- onloop gate 1 approved", Decision::Ask),
        ("npx -c 'onloop gate 1 approved'", Decision::Ask),
        ("./node_modules/.bin/onloop gate 1 approved", Decision::Ask),
    ] {
        let ruling = with(yaml, line);
        assert_eq!(ruling.decision, decision, "{line}");
        assert_eq!(ruling.needs_a_person(), decision == Decision::Ask, "{line}");
    }
}

#[test]
fn a_folder_is_removed_freely_where_git_ignores_it() {
    for (line, folder) in [
        ("rm -rf dist", "/srv/repo/dist/"),
        ("rm -r dist/", "/srv/repo/dist/"),
        ("rm -rf target", "/srv/repo/target/"),
        ("find . -type d -name __pycache__ -exec rm -rf {} +", "/srv/repo/**/__pycache__/"),
    ] {
        let mut context = Context::new("/srv/repo");
        context.places.asks_git = true;
        let call = Call::shell(line);
        assert_ne!(decide(&call, &context).decision, Decision::Allow, "{line}");
        let lost = recoverable(&call, &context);
        assert_eq!(lost, [folder.to_owned()].into(), "{line}");
        context.places.unchanged = lost;
        assert_eq!(decide(&call, &context).decision, Decision::Allow, "{line}");
    }
}

#[test]
fn files_that_a_pattern_names_are_lost_only_once_they_are_kept() {
    for (line, lost) in [
        ("rm -f logs/*.log", "/srv/repo/logs/**/*.log"),
        ("rm *.txt", "/srv/repo/**/*.txt"),
        ("rm a/*/b.txt", "/srv/repo/a/**/b.txt"),
        ("find . -name '*.pyc' -delete", "/srv/repo/**/*.pyc"),
        ("find src -type f -name '*.orig' -delete", "/srv/repo/src/**/*.orig"),
        ("find . -name '*.pyc' -exec rm {} +", "/srv/repo/**/*.pyc"),
    ] {
        let mut context = Context::new("/srv/repo");
        (context.confined, context.places.asks_git) = (true, true);
        let call = Call::shell(line);
        assert_ne!(decide(&call, &context).decision, Decision::Allow, "{line}");
        assert_eq!(losses(&call, &context).removed, [lost.to_owned()].into(), "{line}");
        context.places.kept = losses(&call, &context).removed;
        let ruling = decide(&call, &context);
        assert!(matches!(ruling.rule, Rule::Contained(_)), "{line}: {ruling:?}");
    }
    for line in [
        "find . -delete -name '*.pyc'",
        "find . ! -name '*.pyc' -delete",
        "find . -name a -o -name b.pyc -delete",
        "find .. -name '*.pyc' -delete",
        "find . -name '*.pack' -delete",
        "find . -name main -delete",
        "find . -name '.env*' -delete",
        "rm *",
        "rm .e*",
        "rm ../*.log",
        "rm [a-c].txt",
    ] {
        let mut context = Context::new("/srv/repo");
        (context.confined, context.places.asks_git) = (true, true);
        let call = Call::shell(line);
        context.places.kept = losses(&call, &context).removed;
        assert_ne!(decide(&call, &context).decision, Decision::Allow, "{line}");
    }
}

#[test]
fn git_in_a_folder_that_may_be_a_repository_of_its_own_is_asked_about() {
    for (line, is_contained) in [
        ("cd vendor/x && git diff", true),
        ("git -C vendor/x status", true),
        ("(cd vendor/x; git log)", true),
        ("cd vendor/x && git commit -m x", false),
        ("cd \"$X\" && git status", true),
        ("cd \"$X\" && git commit -m x", false),
    ] {
        let mut context = Context::new("/srv/repo");
        let call = Call::shell(line);
        assert_eq!(decide(&call, &context).decision, Decision::Ask, "{line}");
        context.confined = true;
        let wanted = if is_contained { Decision::Allow } else { Decision::Ask };
        assert_eq!(decide(&call, &context).decision, wanted, "{line}");
        context.confined = false;
        let folders = git_folders(&call, &context);
        context.places.plain_folders.extend(folders);
        let is_known = !line.contains("$X");
        let wanted = if is_known { Decision::Allow } else { Decision::Ask };
        assert_eq!(decide(&call, &context).decision, wanted, "{line}");
    }
}

#[test]
fn a_line_that_may_make_a_repository_in_a_folder_and_runs_git_there_is_asked_about() {
    for (line, wanted) in [
        ("echo x > a/config && cd a && git status", Decision::Ask),
        ("cd a && git merge topic && git status", Decision::Ask),
        ("git switch topic && cd a && git status", Decision::Ask),
        ("git switch -c topic origin/topic && git -C a status", Decision::Ask),
        ("git merge topic; git -C a status", Decision::Ask),
        ("git pull && git -C a log", Decision::Ask),
        ("git rebase main && git -C a diff", Decision::Ask),
        ("git cherry-pick topic && git -C a diff", Decision::Ask),
        ("git revert HEAD && git -C a diff", Decision::Ask),
        ("git stash pop && git -C a diff", Decision::Ask),
        ("git -C a status & git merge topic", Decision::Ask),
        ("sleep 3 | xargs git -C a status | git merge topic", Decision::Ask),
        ("for b in x y; do git -C a merge $b; done", Decision::Ask),
        ("seq 2 | xargs git -C a merge", Decision::Ask),
        ("while git -C a merge topic; do :; done", Decision::Ask),
        ("cd a && git status && git diff | head", Decision::Allow),
        ("cd a && git add . && git commit -m x && git push origin topic", Decision::Allow),
        ("cd a && git pull", Decision::Allow),
        ("(cd a && git pull 2>&1 | tail -3)", Decision::Allow),
        ("cd a && git add . && git commit -m x && git pull --rebase", Decision::Allow),
        ("cd a && git switch -c topic && git add . && git commit -m x", Decision::Allow),
        ("cd a && git checkout -b topic && git status", Decision::Allow),
        ("cd a && git restore --staged x && git status", Decision::Allow),
    ] {
        let mut context = Context::new("/srv/repo");
        context.places.plain_folders.insert("/srv/repo/a".to_owned());
        assert_eq!(decide(&Call::shell(line), &context).decision, wanted, "{line}");
    }
}

#[test]
fn what_git_would_take_is_judged_too() {
    use Taken::{Ignored, Staged, Tracked, Untracked};
    for (line, expected) in [
        ("git add .", &[("/srv/repo", &["."][..], Untracked)][..]),
        ("git add -A", &[("/srv/repo", &[], Untracked)]),
        ("git stage src '*.rs'", &[("/srv/repo", &["src", "*.rs"], Untracked)]),
        ("cd src && git add -u", &[("/srv/repo/src", &[], Tracked)]),
        ("git add -f build", &[("/srv/repo", &["build"], Ignored)]),
        ("git commit -am x", &[("/srv/repo", &[], Tracked)]),
        (
            "git commit -m x && git commit -a -m y",
            &[("/srv/repo", &[], Staged), ("/srv/repo", &[], Tracked)],
        ),
        ("git commit -m x", &[("/srv/repo", &[], Staged)]),
        ("git commit --amend --no-edit", &[("/srv/repo", &[], Staged)]),
        ("git commit -m x src a.rs", &[("/srv/repo", &["src", "a.rs"], Tracked)]),
        ("git commit -m x -i a.rs", &[("/srv/repo", &[], Tracked)]),
        ("git commit -p -m x a.rs", &[("/srv/repo", &[], Tracked)]),
        ("git stash push -m x", &[]),
        ("git stash -u", &[("/srv/repo", &[], Untracked)]),
        ("git stash push -a -- src", &[("/srv/repo", &["src"], Ignored)]),
        ("git add -n .", &[]),
        ("git status", &[]),
    ] {
        let mut context = Context::new("/srv/repo");
        context.places.plain_folders.insert("/srv/repo/src".to_owned());
        let call = Call::shell(line);
        let found = stagings(&call, &context);
        let found: Vec<_> = found
            .iter()
            .map(|of| {
                let specs: Vec<&str> = of.pathspecs.iter().map(String::as_str).collect();
                (of.folder.as_str(), specs, of.takes)
            })
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|(folder, specs, takes)| (*folder, specs.to_vec(), *takes))
            .collect();
        assert_eq!(found, expected, "{line}");
        let wanted = if line.contains("stash") { Decision::Ask } else { Decision::Allow };
        assert_eq!(decide(&call, &context).decision, wanted, "{line}");
        context.places.would_stage.insert("a/.env".to_owned());
        context.confined = true;
        let ruling = decide(&call, &context);
        let wanted = if expected.is_empty() { Decision::Allow } else { Decision::Deny };
        assert_eq!(ruling.decision, wanted, "{line}: {}", ruling.reason);
    }
    let mut context = Context::new("/srv/repo");
    context.places.would_stage.insert("a/.env".to_owned());
    let ruling = decide(&Call::shell("git add ."), &context);
    assert_eq!(
        (ruling.rule.to_string().as_str(), ruling.reason.as_str()),
        ("path:secret", "`git add` would take `a/.env`, whose name says that it is a secret")
    );
}
