use serde_json::json;

use super::*;
use crate::paths::Link;
use crate::{Call, Context, Decision, contained, decide};

fn with_claude(settings: &Value) -> Context {
    let mut context = Context::new("/srv/repo");
    context.places.user_home = Some("/home/me".to_owned());
    context.client.add_claude(settings, &["/srv/repo"], Some("/home/me"));
    context
}

fn with_opencode(configuration: &Value) -> Context {
    let mut context = Context::new("/srv/repo");
    context.client.set_opencode(configuration);
    context
}

/// What is decided, and whether the call may run as another line.
fn answer(context: &Context, call: &Call) -> (Decision, bool) {
    let ruling = decide(call, context);
    let program = ["onloop".to_owned()];
    (ruling.decision, contained(call, context, &ruling, &program, &[]).is_some())
}

#[test]
fn a_line_that_claude_code_denies_or_asks_about_is_neither_allowed_nor_rewritten() {
    let settings = json!({ "permissions": {
        "deny": ["Bash(./tool.sh check:*)", "Read(./notes/**)", "Bash(git push *)"],
        "ask": ["Bash(make test)", "Bash(* --danger)", "Edit(/src/locked/**)", "WebFetch(domain:*.example)"],
    } });
    let context = with_claude(&settings);
    let (allow, ask, deny) = (Decision::Allow, Decision::Ask, Decision::Deny);
    let table = [
        ("./tool.sh check", deny, false),
        ("./tool.sh check --now", deny, false),
        ("cd a && FOO=1 timeout 5 ./tool.sh check x", deny, false),
        ("echo $(./tool.sh check)", deny, false),
        ("bash -c './tool.sh check'", deny, false),
        ("./tool.sh checks", ask, true),
        ("./tool.sh build", ask, true),
        ("cat notes/a/b.txt", deny, false),
        ("cat < notes/a", deny, false),
        ("cat not*/a", ask, false),
        ("head -1 */*", ask, false),
        ("head -1 src/*.rs", allow, false),
        ("git show HEAD:notes/a", deny, false),
        ("curl file:///srv/repo/notes/a", deny, false),
        ("git push", deny, false),
        ("make test", ask, false),
        ("make test -k", allow, false),
        ("./x --danger", ask, false),
        ("sed -i s/a/b/ src/locked/a.rs", ask, false),
        ("echo a > src/locked/a.rs", ask, false),
        ("cat src/locked/a.rs", allow, false),
        ("git status", allow, false),
    ];
    for (line, decision, rewritten) in table {
        assert_eq!(answer(&context, &Call::shell(line)), (decision, rewritten), "{line}");
    }
    let tools = [
        ("Read", json!({ "file_path": "/srv/repo/notes/a" }), deny),
        ("Grep", json!({ "pattern": "x", "path": "notes" }), deny),
        ("Read", json!({ "file_path": "/srv/repo/src/a" }), allow),
        ("Write", json!({ "file_path": "/srv/repo/src/locked/a" }), ask),
        ("MultiEdit", json!({ "file_path": "src/locked/a", "edits": [] }), ask),
        ("WebFetch", json!({ "url": "https://docs.a.example/x" }), ask),
    ];
    for (tool, input, decision) in tools {
        let call = Call { tool: tool.to_owned(), input };
        assert_eq!(answer(&context, &call).0, decision, "{call:?}");
    }
}

#[test]
fn what_a_line_may_read_or_write_of_a_client_s_files_is_asked_about() {
    let settings = json!({ "permissions": {
        "deny": ["Read(./private/**)", "Edit(./docs/**)", "Read(./.conf)"],
    } });
    let context = with_claude(&settings);
    let (allow, ask, deny) = (Decision::Allow, Decision::Ask, Decision::Deny);
    for (line, decision, rewritten) in [
        ("cat $(pwd)/private/p", ask, false),
        ("cat \"$(pwd)\"/private/p", ask, false),
        ("cat $OLDPWD/private/p", ask, false),
        ("cat ~+/private/p", ask, false),
        ("./tool --in=$(pwd)/private/p", ask, false),
        ("cd $(pwd)/private && cat p", ask, false),
        ("for d in *; do cat $d/p; done", ask, false),
        ("for d in *; do cat \"$d/p\"; done", ask, false),
        ("x=$(ls); cat $x", ask, false),
        ("cat < \"$x\"", ask, false),
        ("cat $D/.conf", ask, false),
        ("dd if=private/p", deny, false),
        ("dd if=priv*/p", ask, false),
        ("dd if=\"$x\"", ask, false),
        ("sed -i s/a/b/ d*/n", ask, false),
        ("sed -i s/a/b/ docs/n", deny, false),
        ("echo x > d*/n", ask, false),
        ("x=$(pwd)/docs/n; echo x > $x", ask, false),
        ("echo x > \"$(pwd)/docs/n\"", deny, false),
        ("tee \"$x\"", ask, false),
        ("dd of=\"$x\"", ask, false),
        ("cp n do*", ask, false),
        ("grep --include=key.txt -r p .", ask, false),
        ("rg -g '*.txt' p", ask, false),
        ("rg -g 'priv*/**/*.txt' p", ask, false),
        ("rg -g '*.txt' p src", allow, false),
        ("rg -g 'src/*.txt' p", allow, false),
        // What cannot be one of them is as it was.
        ("cat $x/a; git checkout main", ask, false),
        ("echo \"exit $?\" $X", allow, false),
        ("make test X=\"$D/x\"", ask, true),
        ("cd \"$(git rev-parse --show-toplevel)\" && cat README.md", ask, true),
        ("cat src/*.rs", allow, false),
        ("echo x > src/a", allow, false),
        ("dd if=src/a of=src/b", ask, true),
    ] {
        assert_eq!(answer(&context, &Call::shell(line)), (decision, rewritten), "{line}");
    }
    let context = with_claude(&json!({ "permissions": { "deny": ["Edit(./docs/n)"] } }));
    for line in ["cp n docs", "mv n docs/", "ln n docs", "cp -t docs n"] {
        assert_eq!(answer(&context, &Call::shell(line)), (deny, false), "{line}");
    }
}

#[test]
fn files_of_a_command_of_which_its_use_is_not_known_are_asked_about() {
    let settings = json!({ "permissions": {
        "deny": ["Read(./private/**)", "Edit(./docs/**)", "Edit(*.key)"],
    } });
    let context = with_claude(&settings);
    let (allow, ask, deny) = (Decision::Allow, Decision::Ask, Decision::Deny);
    for (line, decision, rewritten) in [
        ("mktemp docs/XXXX", deny, false),
        ("mktemp -p docs a.XXXX", deny, false),
        ("perl -pi -e s/x/EVIL/ docs/n", ask, false),
        ("cd docs && perl -pi -e s/x/EVIL/ n", ask, false),
        ("gzip docs/m", ask, false),
        ("split README.md docs/x", ask, false),
        ("tar xf sub/a.tar -C docs", ask, false),
        ("tar xf sub/a.tar -Cdocs", ask, false),
        ("iconv -o docs/ic README.md", ask, false),
        ("iconv --output=docs/ic README.md", ask, false),
        ("openssl rand -out docs/rnd", ask, false),
        ("script -qc true docs/typescript", ask, false),
        ("sed -n 'w docs/sedw' README.md", ask, false),
        ("npx prettier --write docs", ask, false),
        ("npx prettier --write 'd*/n'", ask, false),
        ("black a.key", ask, false),
        ("python3 -c 'open(\"docs/n\", \"w\")'", ask, false),
        ("python3 -c 'open(\"private/n\")'", ask, false),
        ("ed docs/n", ask, false),
        ("zip docs/n.zip", ask, false),
        ("timeout 5 ./tool --out docs/n", ask, false),
        ("curl -s -d @private/p http://localhost:1", deny, false),
        ("curl -F f=@private/p http://localhost:1", deny, false),
        ("gcc @private/p", deny, false),
        ("gcc -Iprivate x.c", deny, false),
        // What these read and write is known, or is something else.
        ("cat docs/n", allow, false),
        ("git add docs/n", allow, false),
        ("git commit -m 'Write docs/n'", allow, false),
        ("perl -pi -e s/x/y/ src/n", ask, true),
        ("cargo test key", ask, true),
        ("make test", allow, false),
    ] {
        assert_eq!(answer(&context, &Call::shell(line)), (decision, rewritten), "{line}");
    }
    let context = with_claude(&json!({ "permissions": { "deny": ["Edit"] } }));
    for (line, decision, rewritten) in [
        ("perl -pi -e s/x/y/ n", ask, false),
        ("cargo test", ask, false),
        ("sed -n 'w x' README.md", ask, false),
        ("mktemp x.XXXX", deny, false),
        ("cat n", allow, false),
        ("sed -n 1p n", allow, false),
        ("git status", allow, false),
        ("git commit -m x", allow, false),
        ("gh issue list", allow, false),
    ] {
        assert_eq!(answer(&context, &Call::shell(line)), (decision, rewritten), "{line}");
    }
}

#[test]
fn a_command_is_compared_as_it_is_written_too() {
    let settings = json!({ "permissions": { "deny": [
        "Bash(./tool.sh \"a b\")",
        "Bash(python3 -c \"import *\")",
        "Bash(NODE_ENV=production *)",
        "Bash(FOO=1 ./tool.sh:*)",
        "Bash(./run $HOME)",
    ] } });
    let context = with_claude(&settings);
    for line in [
        "cd src; ./tool.sh \"a b\"",
        "cd src && ./tool.sh 'a b'",
        "timeout 5 ./tool.sh a\\ b > out",
        "X=1 ./tool.sh \"a b\" | cat",
        "true && python3 -c \"import os\"",
        "cd a && NODE_ENV=production npm run build",
        "(NODE_ENV=production ./x)",
        "cd a; FOO=1 ./tool.sh --now",
        "cd a; BAR=2 FOO=1 ./tool.sh",
        "echo $(FOO=1 ./tool.sh)",
        "true; ./run $HOME",
        "if true; then ./run \"$HOME\"; fi",
    ] {
        assert_eq!(answer(&context, &Call::shell(line)), (Decision::Deny, false), "{line}");
    }
    for line in ["./tool.sh a", "FOO=2 ./tool.sh", "NODE_ENV=test npm test", "./run ."] {
        assert_eq!(answer(&context, &Call::shell(line)), (Decision::Ask, true), "{line}");
    }
}

#[test]
fn a_rule_of_claude_code_about_a_tool_is_about_all_that_does_the_same() {
    let call = |tool: &str, input| Call { tool: tool.to_owned(), input };
    let file = |tool: &str| call(tool, json!({ "file_path": "/srv/repo/src/a", "content": "x" }));
    let table = [
        ("Bash", call("Monitor", json!({ "command": "./tool.sh" })), true),
        ("Bash(./tool.sh:*)", call("Monitor", json!({ "command": "./tool.sh x" })), true),
        ("Bash", file("Read"), false),
        ("Read", call("Grep", json!({ "pattern": "x" })), true),
        ("Read", Call::shell("cat src/a"), true),
        ("Read", Call::shell("sed -n 1p src/a"), true),
        ("Read", Call::shell("grep x src/a"), true),
        ("Read", Call::shell("wc -l < src/a"), true),
        ("Read", Call::shell("git status"), false),
        ("Read", Call::shell("echo a > src/b"), false),
        ("Read", file("Write"), false),
        ("Edit", Call::shell("sed -i s/a/b/ src/a"), true),
        ("Edit", Call::shell("echo a > src/a"), true),
        ("Edit", Call::shell("cat src/a"), false),
        ("Edit", file("MultiEdit"), true),
        ("Edit", Call::shell("ls 2> /dev/null"), false),
    ];
    for (list, decision) in [("deny", Decision::Deny), ("ask", Decision::Ask)] {
        for (rule, call, is_about) in &table {
            let context = with_claude(&json!({ "permissions": { list: [rule] } }));
            let ruling = decide(call, &context);
            let by_client = ruling.rule == Rule::Client(decision);
            assert_eq!(by_client, *is_about, "{list} {rule} {call:?}: {ruling:?}");
            assert!(!is_about || !answer(&context, call).1, "{list} {rule} {call:?}");
        }
    }
}

#[test]
fn a_link_is_what_it_leads_to_for_the_rules_of_clients() {
    let linked = |mut context: Context| {
        let target = Link::To("/srv/repo/notes/a".to_owned());
        context.places.links.insert("/srv/repo/nn/a".to_owned(), target);
        context
    };
    for rule in ["Read(./notes/**)", "Edit(./notes/**)"] {
        let context = linked(with_claude(&json!({ "permissions": { "ask": [rule] } })));
        let tool = rule.split('(').next().unwrap();
        let call = Call { tool: tool.to_owned(), input: json!({ "file_path": "nn/a" }) };
        assert_eq!(decide(&call, &context).decision, Decision::Ask, "{rule}");
    }
    let context =
        linked(with_opencode(&json!({ "permission": { "read": { "notes/*": "deny" } } })));
    let call = Call { tool: "read".to_owned(), input: json!({ "filePath": "/srv/repo/nn/a" }) };
    assert_eq!(decide(&call, &context).decision, Decision::Deny);
}

#[test]
fn what_goes_up_from_a_link_is_what_the_system_finds_for_the_rules_of_clients() {
    let (allow, deny) = (Decision::Allow, Decision::Deny);
    let settings = json!({ "permissions": {
        "deny": ["Read(./private/**)", "Edit(./private/**)"],
    } });
    let linked = |mut context: Context| {
        for (path, target) in
            [("docl", "private/sub"), ("docl/..", "private"), ("docl/../p", "private/p")]
        {
            let target = Link::To(format!("/srv/repo/{target}"));
            context.places.links.insert(format!("/srv/repo/{path}"), target);
        }
        context
    };
    let context = linked(with_claude(&settings));
    for (line, decision) in [
        ("cat docl/../p", deny),
        ("cd docl && cat ../p", deny),
        ("cd -P docl/.. && cat p", deny),
        ("pushd docl/.. && cat p", deny),
        ("git -C docl/.. show HEAD:./p", deny),
        ("cd -P docl/.. && echo hacked > p", deny),
        ("echo hacked > docl/../p", deny),
        ("sed -i s/a/b/ docl/../p", deny),
        ("./tool --in=docl/../p", deny),
        ("cat src/../p", allow),
        ("cd src/.. && cat p", allow),
    ] {
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
    }
    let paths = crate::classified_paths(&Call::shell("./tool --in=docl/../p"), &context);
    assert!(paths.contains("/srv/repo/docl/../p"), "{paths:?}");
    let context =
        linked(with_opencode(&json!({ "permission": { "read": { "private/*": "deny" } } })));
    let call = Call { tool: "read".to_owned(), input: json!({ "filePath": "docl/../p" }) };
    assert_eq!(decide(&call, &context).decision, deny);
}

#[test]
fn what_git_takes_back_is_written_for_the_rules_of_clients() {
    let context = with_claude(&json!({ "permissions": { "deny": ["Edit(./private/**)"] } }));
    for line in [
        "git checkout HEAD~1 private/p",
        "git checkout HEAD~1 -- private",
        "git checkout private/p",
        "git checkout -- private/p",
        "cd private && git checkout main p",
        "git checkout HEAD~1 'privat\\e/p'",
        "git restore private/p",
        "git restore -s HEAD~1 -SW private/p",
        "git stash push private/p",
        "git stash push -m x -- private/p",
        "git rm private/p",
        "git mv private/p a",
        "git mv a private/p",
    ] {
        assert_eq!(answer(&context, &Call::shell(line)), (Decision::Deny, false), "{line}");
    }
    for line in ["git checkout HEAD~1 src/a", "git restore src/a", "git stash push src/a"] {
        assert_eq!(answer(&context, &Call::shell(line)), (Decision::Ask, true), "{line}");
    }
    let allowed = ["git checkout main", "git restore --staged private/p", "git add private/p"];
    for line in allowed {
        assert_eq!(answer(&context, &Call::shell(line)).0, Decision::Allow, "{line}");
    }
}

#[test]
fn a_rule_of_claude_code_may_be_about_a_member_of_the_input() {
    let call = |tool: &str, input| Call { tool: tool.to_owned(), input };
    let bash = |more: &str, value| call("Bash", json!({ "command": "git status", more: value }));
    let agent = call("Agent", json!({ "prompt": "x", "model": "opus" }));
    for (rule, call, is_about) in [
        ("Bash(run_in_background:true)", bash("run_in_background", json!(true)), true),
        ("Bash(run_in_background:true)", bash("run_in_background", json!(false)), false),
        ("Bash(timeout:9*)", bash("timeout", json!(9000)), true),
        ("Bash(timeout:*)", bash("timeout", json!(9000)), false),
        ("Agent(model:opus)", agent.clone(), true),
        ("Task(model:o*)", agent.clone(), true),
        ("Agent(model:haiku)", agent.clone(), false),
        ("Task(general-purpose)", agent.clone(), true),
        ("Task(Explore)", agent, false),
        ("mcp__a__b(owner:x)", call("mcp__a__b", json!({ "owner": "x" })), true),
        ("mcp__a__b(owner:x)", call("mcp__a__c", json!({ "owner": "x" })), false),
    ] {
        let context = with_claude(&json!({ "permissions": { "ask": [rule] } }));
        let ruling = decide(&call, &context);
        assert_eq!(ruling.rule == Rule::Client(Decision::Ask), is_about, "{rule} {call:?}");
    }
}

#[test]
fn rules_of_claude_code_name_tools_servers_and_everything() {
    let settings = json!({ "permissions": {
        "deny": ["mcp__tracker", "Skill(open-pr)", "NotebookRead"], "ask": ["Bash"],
    } });
    let mut context = with_claude(&settings);
    let call = |tool: &str, input| Call { tool: tool.to_owned(), input };
    let deny = Decision::Deny;
    assert_eq!(decide(&call("mcp__tracker__get", json!({})), &context).decision, deny);
    assert_eq!(decide(&call("Skill", json!({ "skill": "open-pr" })), &context).decision, deny);
    assert_eq!(decide(&call("NotebookRead", json!({ "path": "a" })), &context).decision, deny);
    assert_eq!(answer(&context, &Call::shell("ls")), (Decision::Ask, false));
    assert_eq!(decide(&call("Read", json!({ "path": "a" })), &context).decision, Decision::Allow);
    context.client.add_unreadable("not JSON");
    assert_eq!(decide(&call("Read", json!({ "path": "a" })), &context).decision, Decision::Ask);
}

#[test]
fn paths_in_rules_of_claude_code_start_where_its_documentation_says() {
    let table = [
        ("Read(//etc/app/**)", "/etc/app/a/b", true),
        ("Read(//etc/app/**)", "/srv/repo/etc/app/a", false),
        ("Read(~/notes/*.md)", "/home/me/notes/a.md", true),
        ("Read(~/notes/*.md)", "~/notes/a.md", true),
        ("Read(~/notes/*.md)", "/home/me/notes/a/b.md", false),
        ("Read(*.log)", "/srv/repo/a/b.log", true),
        ("Read(local.cfg)", "/srv/repo/a/local.cfg", true),
        ("Read(/a/b)", "/srv/repo/a/b/c", true),
        ("Read(/a/b)", "/srv/repo/x/a/b", false),
        ("Read(a/**/z)", "/srv/repo/a/z", true),
        ("Read(a/**/z)", "/srv/repo/a/b/c/z", true),
    ];
    for (rule, path, matches) in table {
        let context = with_claude(&json!({ "permissions": { "deny": [rule] } }));
        let call = Call { tool: "Read".to_owned(), input: json!({ "file_path": path }) };
        let by_client = decide(&call, &context).rule == Rule::Client(Decision::Deny);
        assert_eq!(by_client, matches, "{rule} {path}");
    }
}

#[test]
fn rules_of_opencode_are_read_as_it_reads_them() {
    let file =
        |tool: &str, path: &str| Call { tool: tool.to_owned(), input: json!({ "filePath": path }) };
    let secret = "/home/me/.cargo/registry/x";
    for (configuration, call, is_about) in [
        (json!({ "permission": { "read": { "~/.cargo/*": "ask" } } }), file("read", secret), true),
        (
            json!({ "permission": { "read": { "$HOME/.cargo/*": "ask" } } }),
            file("read", secret),
            true,
        ),
        (json!({ "permission": { "read": { "~/.npm/*": "ask" } } }), file("read", secret), false),
        (json!({ "tools": { "write": false } }), file("write", "src/a"), true),
        (json!({ "tools": { "write": false } }), file("read", "src/a"), false),
        (json!({ "permission": { "bash": { "x *": "{env:X}" } } }), Call::shell("ls"), true),
        (json!({ "permission": { "bash": { "{file:x}": "deny" } } }), Call::shell("ls"), true),
        (json!({ "agent": { "a": { "permission": "{env:X}" } } }), Call::shell("ls"), true),
        (json!({ "agent": { "a": { "prompt": "{file:x}" } } }), Call::shell("ls"), false),
    ] {
        let mut context = with_opencode(&configuration);
        context.places.user_home = Some("/home/me".to_owned());
        let by_client = matches!(decide(&call, &context).rule, Rule::Client(_));
        assert_eq!(by_client, is_about, "{configuration} {call:?}");
    }
}

#[test]
fn in_opencode_the_last_rule_that_matches_counts() {
    let context = with_opencode(&json!({
        "permission": {
            "bash": { "*": "allow", "./tool.sh deploy*": "deny", "make *": "ask", "make check": "allow" },
            "edit": { "*.md": "ask" },
        },
        "agent": { "plan": { "permission": { "bash": { "npm *": "deny" } } } },
    }));
    let table = [
        ("./tool.sh deploy --now", Decision::Deny, false),
        ("cd a && ./tool.sh deploy", Decision::Deny, false),
        ("./tool.sh build", Decision::Ask, true),
        ("make all", Decision::Ask, false),
        ("make check", Decision::Allow, false),
        // Which agent calls is not known.
        ("npm test", Decision::Ask, false),
        ("git status", Decision::Allow, false),
    ];
    for (line, decision, rewritten) in table {
        let call = Call { tool: "bash".to_owned(), input: json!({ "command": line }) };
        assert_eq!(answer(&context, &call), (decision, rewritten), "{line}");
    }
    let call = Call { tool: "edit".to_owned(), input: json!({ "filePath": "a.md" }) };
    assert_eq!(decide(&call, &context).decision, Decision::Ask);
    let context = with_opencode(&json!({ "permission": "ask" }));
    assert_eq!(decide(&call, &context).decision, Decision::Ask);
}

#[test]
fn rules_of_opencode_are_compared_with_every_name_of_a_path() {
    let context = with_opencode(&json!({ "permission": {
        "edit": { "*": "deny", "src/*": "allow", "src/locked/*": "ask" },
        "read": { "notes/*": "deny" },
        "list": { "private": "deny", "/srv/repo": "ask" },
        "task": { "explore": "deny" },
        "bash": { "./tool.sh \"a b\"": "deny" },
    } }));
    let patch = |path: &str| json!({ "patchText": format!("*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch") });
    let (allow, ask, deny) = (Decision::Allow, Decision::Ask, Decision::Deny);
    let table = [
        ("edit", json!({ "filePath": "/srv/repo/src/a" }), allow),
        ("edit", json!({ "filePath": "src/a" }), allow),
        ("write", json!({ "filePath": "/srv/repo/src/locked/a", "content": "x" }), ask),
        ("edit", json!({ "filePath": "/srv/repo/notes/a" }), deny),
        ("patch", patch("src/a"), allow),
        ("patch", patch("/srv/repo/src/locked/a"), ask),
        ("patch", patch("notes/a"), deny),
        ("read", json!({ "filePath": "/srv/repo/notes/a" }), deny),
        ("read", json!({ "filePath": "/srv/repo/a" }), allow),
        ("list", json!({ "path": "/srv/repo/private" }), deny),
        ("list", json!({}), ask),
        ("task", json!({ "subagent_type": "explore", "prompt": "x" }), deny),
        ("task", json!({ "subagent_type": "general", "prompt": "x" }), allow),
        ("bash", json!({ "command": "cd src; X=1 ./tool.sh \"a b\"" }), deny),
    ];
    for (tool, input, decision) in table {
        let call = Call { tool: tool.to_owned(), input };
        assert_eq!(decide(&call, &context).decision, decision, "{call:?}");
    }
}

#[test]
fn rules_of_codex_ask_about_and_forbid_what_begins_so() {
    let mut context = Context::new("/srv/repo");
    let rules = r#"
# Pushing is mine.
prefix_rule(
    pattern = ["git", ["push", "fetch"]], # Both.
    decision = "forbidden",
    justification = 'Say "push", and I do',
    match = [["git", "push"], "git fetch origin",],
)
prefix_rule(pattern=["make", "test"], decision="prompt")
prefix_rule(pattern=["ls"])
network_rule(host = "example.org", decision = "deny")
host_executable(name = "git", paths = ["/usr/bin/git"])
"#;
    assert!(context.client.add_codex("a.rules", rules));
    let table = [
        ("git push", Decision::Deny),
        ("/usr/bin/git fetch origin", Decision::Deny),
        ("cd src && FOO=1 git push --force", Decision::Deny),
        ("bash -c 'git push'", Decision::Deny),
        ("git pull", Decision::Allow),
        ("make test -k", Decision::Ask),
        ("make check", Decision::Allow),
        ("ls -l", Decision::Allow),
    ];
    for (line, decision) in table {
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
    }
    for unknown in ["x = 1", "prefix_rule(pattern = P)", "prefix_rule(decision = \"odd\")", "f("] {
        assert!(!context.client.add_codex("a.rules", unknown), "{unknown}");
    }
}

#[test]
fn requirements_of_codex_ask_and_forbid() {
    for rules in [
        r#"
            allowed_sandbox_modes = ["read-only"]
            [rules]
            prefix_rules = [
                { pattern = [{ token = "git" }, { any_of = ["push", "log"] }], decision = "forbidden" },
                { pattern = [{ token = "ls" }], decision = "prompt", justification = "Why" },
            ]
        "#,
        r#"
            [[rules.prefix_rules]]
            pattern = [{ token = "git" }, { any_of = ["push", "log"] }]
            decision = "forbidden"
            [[rules.prefix_rules]]
            pattern = [{ token = "ls" }]
            decision = "prompt"
        "#,
    ] {
        let mut context = Context::new("/srv/repo");
        assert!(context.client.add_codex("requirements.toml", rules));
        for (line, decision) in
            [("git log -1", Decision::Deny), ("git status", Decision::Allow), ("ls", Decision::Ask)]
        {
            assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
        }
    }
    let mut client = Context::new("/srv/repo").client;
    assert!(client.add_codex("requirements.toml", "allowed_web_search_modes = []"));
    for unknown in [
        "rules = [",
        "rules.prefix_rules = [{ pattern = ['ls'], decision = 'prompt' }]",
        "rules.prefix_rules = [{ pattern = [{ token = 'ls' }] }]",
    ] {
        assert!(!client.add_codex("requirements.toml", unknown), "{unknown}");
    }
}

#[test]
fn a_command_is_compared_without_options_in_front_of_its_sub_command_too() {
    let deny = Decision::Deny;
    let claude = json!({ "permissions": { "deny": ["Bash(git push:*)", "Bash(gh pr merge *)"] } });
    let opencode = |rules: Value| with_opencode(&json!({ "permission": { "bash": rules } }));
    let mut codex = Context::new("/srv/repo");
    let rules = "prefix_rule(pattern = [\"git\", \"push\"], decision = \"forbidden\")";
    assert!(codex.client.add_codex("default.rules", rules));
    let contexts =
        [with_claude(&claude), opencode(json!({ "*": "allow", "git push*": "deny" })), codex];
    for context in contexts {
        for line in ["git -P push", "git -C . push origin x", "timeout 9 git --no-pager push"] {
            assert_eq!(answer(&context, &Call::shell(line)), (deny, false), "{line}");
        }
        assert_ne!(answer(&context, &Call::shell("git -P log push")).0, deny);
    }
    for (rules, decision) in [
        // opencode takes the last rule that matches.
        (json!({ "*": "ask", "git -P log*": "allow" }), Decision::Allow),
        (json!({ "git log*": "deny", "git -P*": "allow" }), Decision::Allow),
        (json!({ "git -P*": "ask", "git log*": "allow" }), Decision::Ask),
    ] {
        assert_eq!(
            answer(&opencode(rules.clone()), &Call::shell("git -P log")).0,
            decision,
            "{rules}"
        );
    }
}
