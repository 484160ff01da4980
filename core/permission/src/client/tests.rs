use serde_json::json;

use super::*;
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
