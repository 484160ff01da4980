//! Lines that are harmless by their words, and run in a sandbox all the same.

use super::*;

#[test]
fn files_that_a_line_uses_behind_a_change_of_the_tree_are_contained() {
    for (line, allowed) in [
        ("git switch -q a && cat d/k", false),
        ("git merge -q a && tee d/k < README.md", false),
        ("git merge -q a; git log > d/k", false),
        ("git merge -q a && git commit -q -F - < d/k", false),
        ("git mv d e && cat e/k", false),
        ("git stash pop && wc -l d/k", false),
        ("if git switch a; then head d/k; fi", false),
        ("git checkout -b b a && cat d/k", false),
        ("git checkout - && cat d/k", false),
        ("git checkout main && echo x >> d/k", false),
        ("git switch a && git diff --output=d/k", false),
        ("git merge -q a && tar -cf b.tar d/k", false),
        ("git switch a && tar -tf a.tar", false),
        ("git switch a && sed -n 'w d/k' README.md", false),
        ("git checkout -b b && cat d/k", true),
        ("git switch a && npm ls", false),
        ("git checkout -b b a; npm ls", false),
        ("git switch a && git commit -F d/k", false),
        ("git switch a && git grep -f d/k", false),
        ("git switch a && git ls-files -X d/k", false),
        ("git switch -c b a && git show --output=d/k HEAD", false),
        ("git switch a && git add d/k && git rm d/l", true),
        ("cat d/k && git switch a", true),
        ("git switch a && git status && echo done 2> /dev/null", true),
        ("git merge a > /dev/null && git push origin topic", true),
        ("git status > out.txt && cat out.txt", true),
    ] {
        let context = Context { git_branch: Some("topic".to_owned()), ..Context::new("/srv/repo") };
        let plain = decide(&Call::shell(line), &context).decision;
        assert_eq!(plain == Decision::Allow, allowed, "{line}");
        let context = Context { confined: true, ..context };
        assert_eq!(decide(&Call::shell(line), &context).decision, Decision::Allow, "{line}");
    }
}

#[test]
fn builds_are_contained_where_the_host_can_confine() {
    let context = Context { confines_builds: true, ..Context::new("/srv/repo") };
    let program = ["onloop".to_owned()];
    let is_contained = |context: &Context, line: &str| {
        let call = Call::shell(line);
        contained(&call, context, &decide(&call, context), &program, &[]).is_some()
    };
    for line in
        ["make test", "make -n all", "ninja -C out", "cmake --build out", "make build && ls"]
    {
        assert_eq!(
            decide(&Call::shell(line), &Context::new("/srv/repo")).decision,
            Decision::Allow
        );
        assert!(is_contained(&context, line), "{line}");
    }
    // So is what opens files that it finds itself, behind a link to a secret as well.
    for line in [
        "terraform fmt",
        "terraform fmt -diff -write=false",
        "tofu fmt -recursive",
        "terraform fmt main.tf",
        "gofmt -l .",
        "gofmt -w a.go",
        "shfmt -d x.sh",
        "npm ls",
        "npm ls --json --long",
        "npm query '*'",
        "npm explain x | head",
        "rustup which cargo",
        "rustup toolchain list",
        "go version",
        "git grep x",
        "git grep -n x HEAD -- src",
        "git blame README.md",
        "git annotate -L 1,2 README.md",
    ] {
        let plain = decide(&Call::shell(line), &Context::new("/srv/repo"));
        assert_eq!(plain.decision, Decision::Allow, "{line}: {}", plain.reason);
        assert!(is_contained(&context, line), "{line}");
    }
    for line in [
        "make --version",
        "ls",
        "onloop step 2 start",
        "npm root",
        "npm help",
        "grep -r x src",
        "rg x",
        "rg -l x",
        "git grep --cached x",
        "git log -p -- src",
    ] {
        assert_eq!(decide(&Call::shell(line), &context).decision, Decision::Allow, "{line}");
    }
    let deploy = Call::shell("make deploy");
    assert_eq!(decide(&deploy, &context).decision, Decision::Ask);
    assert!(!is_contained(&context, "make deploy"));
    let own = context.with_rules(Source::Local, "permissions:\n  allow: ['^make test']\n");
    assert_eq!(decide(&Call::shell("make test"), &own).decision, Decision::Allow);
}

#[test]
fn our_own_program_opens_nothing_beside_a_confined_command() {
    let mut context = Context { confined: true, ..Context::new("/srv/repo") };
    context.places.has_confined_command = true;
    for (line, decision) in [
        ("onloop lint", Decision::Allow),
        ("onloop lint < notes.txt", Decision::Ask),
        ("onloop list > log.txt", Decision::Ask),
        ("onloop lint; cat notes.txt", Decision::Ask),
    ] {
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
    }
}

#[test]
fn git_beside_other_commands_is_contained() {
    let topic = || Some("topic".to_owned());
    let plain = Context { git_branch: topic(), ..Context::new("/srv/repo") };
    let mut beside = plain.clone();
    beside.places.has_confined_command = true;
    let table = [
        ("git status", &beside, true),
        ("git commit -q -m x", &beside, true),
        ("ls", &beside, true),
        ("cat notes.txt && echo x >> log.txt", &beside, true),
        ("onloop lint", &beside, false),
        ("> log.txt", &beside, true),
        ("A=$(<notes.txt)", &beside, true),
        ("A=1", &beside, true),
        ("git status &", &plain, true),
        ("(sleep 9; git commit -q -m x) & ls", &plain, true),
        ("bash -c 'git add a &'", &plain, true),
        ("setsid git status", &plain, true),
        ("ls & git status", &plain, true),
        ("ls &", &plain, true),
        ("nohup git status && git log", &plain, false),
        ("sleep 9; git commit -q -m x", &plain, true),
        ("timeout 9 tail -f a.log; git status", &plain, true),
        ("tail -n 3 a.log; git status; sleep 1", &plain, false),
        ("sleep 9 && gh pr checks", &plain, false),
        ("sleep 9 && echo done", &plain, false),
        ("sleep 9; cat notes.txt", &plain, true),
        ("timeout 9 tail -f a.log", &plain, false),
        ("cat notes.txt; sleep 9", &plain, false),
    ];
    for (line, context, held) in table {
        let call = Call::shell(line);
        let ruling = decide(&call, context);
        let is_contained =
            contained(&call, context, &ruling, &["onloop".to_owned()], &[]).is_some();
        let is_allowed = ruling.decision == Decision::Allow;
        assert_eq!((is_contained, is_allowed), (held, !held), "{line}");
    }
    // What reaches a server, and a call in the background, has to be asked about. So has what an allow
    // rule names.
    beside.rules.add_file(Source::Local, "permissions: {allow: ['^git push', '^gh pr']}");
    for line in ["git push origin topic", "git fetch", "gh pr list", "git push origin topic &"] {
        let ruling = decide(&Call::shell(line), &beside);
        assert_eq!(ruling.decision, Decision::Ask, "{line}");
    }
    let input = json!({ "command": "git commit -q -m x", "run_in_background": true });
    let call = Call { tool: "Bash".to_owned(), input };
    assert_eq!(decide(&call, &plain).decision, Decision::Ask);
}

#[test]
fn a_checkout_in_a_temporary_folder_is_not_removed_with_it() {
    let mut context = Context::new("/tmp/built/repo").confine();
    context.places.state_homes.push("/tmp/home".to_owned());
    lines::assert_decisions(
        &context,
        &[
            ("rm -rf /tmp/built", Decision::Deny),
            ("rm -rf /tmp/built/*", Decision::Deny),
            ("rm -rf /tmp/built/r*", Decision::Deny),
            ("rm -rf /tmp/*/repo", Decision::Deny),
            ("rm -rf /tmp/*; ls", Decision::Deny),
            ("cd /tmp && rm -rf built", Decision::Deny),
            ("rm -r /tmp/built", Decision::Deny),
            ("rm -rf /tmp/home", Decision::Deny),
            ("find /tmp/built -name '*.x' -delete", Decision::Deny),
            ("rm -rf /tmp/other", Decision::Allow),
            ("rm -rf /tmp/other/*", Decision::Allow),
        ],
    );
}
