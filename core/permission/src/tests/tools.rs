//! Calls of tools other than shells, and what is decided about them.

use super::*;
use Decision::{Allow, Ask, Deny};

fn context() -> Context {
    let mut context = Context::new("/srv/repo");
    context.places.user_home = Some("/home/u".to_owned());
    context
}

fn assert_calls(context: &Context, calls: &[(&str, Value, Decision)]) {
    for (tool, input, decision) in calls {
        let call = Call { tool: (*tool).to_owned(), input: input.clone() };
        assert_eq!(decide(&call, context).decision, *decision, "{tool} {input}");
    }
}

#[test]
fn every_member_that_a_host_may_take_is_judged() {
    let harmless = "*** Begin Patch\n*** Update File: src/a.rs\n*** End Patch";
    let hook = "*** Begin Patch\n*** Add File: .git/hooks/pre-commit\n+x\n*** End Patch";
    assert_calls(
        &context(),
        &[
            ("apply_patch", json!({ "input": harmless }), Allow),
            ("apply_patch", json!({ "input": harmless, "patchText": null }), Allow),
            ("apply_patch", json!({ "input": harmless, "patchText": hook }), Deny),
            ("apply_patch", json!({ "patch_text": hook, "command": harmless }), Deny),
            ("apply_patch", json!({ "input": harmless, "patch": ["x"] }), Ask),
            ("apply_patch", json!({ "input": harmless, "patch": "x" }), Ask),
            ("skill", json!({ "skill": "open-pr" }), Allow),
            ("skill", json!({ "skill": "open-pr", "name": "evil" }), Ask),
            ("skill", json!({ "skill": "open-pr", "name": 7 }), Ask),
            ("Write", json!({ "file_path": "a", "files": [".git/hooks/x"] }), Deny),
            ("Write", json!({ "a": { "b": { "c": { "d": { "e": { "path": ".env" } } } } } }), Deny),
            ("Write", json!({ "file_path": "a", "paths": [7] }), Ask),
            ("get_errors", json!({ "filePaths": ["src/a.rs", "/srv/repo/b.rs"] }), Allow),
            ("get_errors", json!({ "filePaths": ["src/a.rs", "/home/u/.netrc"] }), Deny),
        ],
    );
}

#[test]
fn a_search_is_judged_by_every_folder_and_pattern() {
    assert_calls(
        &context(),
        &[
            ("Grep", json!({ "pattern": "x", "path": "src", "glob": "*.rs" }), Allow),
            ("Grep", json!({ "pattern": "\\.env" }), Allow),
            ("Grep", json!({ "pattern": "x", "glob": "*.{ts,tsx}" }), Allow),
            ("Grep", json!({ "pattern": "x", "glob": "*.rs,*.toml *.md" }), Allow),
            ("Grep", json!({ "pattern": "x", "glob": "*.rs,.env,*.ts" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": "*.rs .env" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": "{a,b},{.env,c}" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": "?env" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": "[[:punct:]]env" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": "[]a.]env" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": "[!/]env" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": "prod?pem" }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": ["*.rs", ".env"] }), Deny),
            ("Grep", json!({ "pattern": "x", "glob": { "a": 1 } }), Ask),
            ("Grep", json!({ "pattern": "x", "path": ["src", "/home/u/.ssh"] }), Deny),
            ("Grep", json!({ "pattern": "x", "path": ["src"] }), Ask),
            ("Grep", json!({ "pattern": "x", "path": 7 }), Ask),
            ("grep", json!({ "pattern": "x", "paths": ["/home/u/.aws"] }), Deny),
            ("grep", json!({ "pattern": "x", "where": ["/home/u/.aws"] }), Deny),
            ("codebase_search", json!({ "query": "x", "target_directories": ["~/.ssh"] }), Deny),
            ("codebase_search", json!({ "query": "the .env", "target_directories": [] }), Allow),
            ("list_dir", json!({ "target_directory": "~/.ssh" }), Deny),
            ("grep_search", json!({ "query": "x", "include_pattern": ".env" }), Deny),
            (
                "grep_search",
                json!({ "query": "x", "include_pattern": "*.rs", "exclude_pattern": ".env" }),
                Allow,
            ),
            ("search_files", json!({ "regex": "x", "path": "src", "file_pattern": ".env" }), Deny),
            // A pattern is about files below the path.
            ("Grep", json!({ "pattern": "url", "path": ".git", "glob": "config" }), Ask),
            ("Grep", json!({ "pattern": "url", "path": "a/.git/modules/x", "glob": "con*" }), Ask),
            ("Grep", json!({ "pattern": "url", "path": ".git", "glob": "{HEAD,config}" }), Ask),
            ("Grep", json!({ "pattern": "url", "path": ".git", "glob": "/con*g" }), Ask),
            ("Grep", json!({ "pattern": "url", "path": ".git/" }), Ask),
            ("Grep", json!({ "pattern": "url", "path": ".git/modules/x", "glob": "!HEAD" }), Ask),
            ("search_files", json!({ "regex": "u", "path": ".git", "file_pattern": "con*" }), Ask),
            (
                "Grep",
                json!({ "pattern": "x", "path": "src/../.docker", "glob": "{a,config}.json" }),
                Deny,
            ),
            ("Grep", json!({ "pattern": "x", "path": "app/[...id]", "glob": "*.ts" }), Allow),
            ("Grep", json!({ "pattern": "x", "path": "/srv/repo/src", "glob": "config" }), Allow),
            ("Glob", json!({ "pattern": "HEAD", "path": ".git" }), Allow),
            // A pattern of a search makes it read hidden and ignored files.
            ("Grep", json!({ "pattern": "x", "glob": "src/**" }), Ask),
            ("Glob", json!({ "pattern": "**/*" }), Allow),
            ("Glob", json!({ "pattern": "src/*" }), Allow),
            ("glob", json!({ "pattern": "*", "path": "src" }), Allow),
            ("Glob", json!({ "pattern": "/home/u/.ssh/*" }), Deny),
            ("Glob", json!({ "pattern": "~/*" }), Ask),
            ("Glob", json!({ "pattern": "*/../../*" }), Ask),
            ("Grep", json!({ "pattern": "x", "path": "/proc/self" }), Deny),
            ("Grep", json!({ "pattern": "x", "path": "/proc" }), Deny),
        ],
    );
}

#[test]
fn a_shell_is_known_by_its_name_and_its_folder() {
    let call = |member: &str, shell: &str| json!({ "command": "ls", member: shell });
    for member in ["shell", "executable", "interpreter"] {
        assert_calls(
            &context(),
            &[
                ("Bash", call(member, "bash"), Allow),
                ("Bash", call(member, "/bin/sh"), Allow),
                ("Bash", call(member, "fish"), Ask),
                ("Bash", call(member, "/tmp/bash"), Ask),
                ("Bash", call(member, "./sh"), Ask),
            ],
        );
    }
}

#[test]
fn an_address_of_a_file_is_judged_as_its_path() {
    assert_calls(
        &context(),
        &[
            ("create_file", json!({ "filePath": "file:///srv/repo/src/a%20b.rs" }), Allow),
            ("read_file", json!({ "filePath": "file:///srv/repo/src/a%20b.rs" }), Allow),
            ("read_file", json!({ "filePath": "file:///home/u/%2essh/id_x" }), Deny),
            ("create_file", json!({ "filePath": "file:///srv/repo/%2egit/hooks/x" }), Deny),
            ("create_file", json!({ "filePath": "file:/srv/repo/%2egit/hooks/x" }), Ask),
            ("create_file", json!({ "filePath": "vscode-userdata:/User/settings.json" }), Ask),
            ("read_file", json!({ "filePath": "vscode-userdata:/User/settings.json" }), Ask),
            ("Write", json!({ "file_path": "src/a:b.rs" }), Allow),
        ],
    );
    let yaml = "permissions:\n  allow: [{tool: '*', pattern: '.*'}]\n";
    let context = context().with_rules(Source::Local, yaml);
    let paths = json!({ "filePath": ".envrc.d/x", "path": "vscode-userdata:/x" });
    assert_calls(&context, &[("create_file", paths, Ask)]);
    let paths = json!({ "filePath": ".github/workflows/x", "path": "vscode-userdata:/x" });
    assert_calls(&context, &[("create_file", paths, Ask)]);
}

#[test]
fn what_a_host_strips_from_a_path_hides_nothing() {
    let mut context = context();
    let settings = json!({ "permissions": { "deny": ["Edit(./private/**)"] } });
    context.client.add_claude(&settings, &["/srv/repo"], None);
    for blank in [" ", "\t", "\n", "\u{feff}", "\u{a0}", "\u{2028}", " \u{feff} "] {
        for (tool, path, decision) in [
            ("Write", ".git/hooks/pre-commit", Deny),
            ("Write", ".envrc", Deny),
            ("Write", ".github/workflows/a.yml", Ask),
            ("Read", "certs/server.pem", Deny),
            ("Edit", "private/p", Deny),
            ("Grep", "/home/u/.ssh", Deny),
            ("Write", "src/a.rs", Ask),
        ] {
            let key = if tool == "Grep" { "path" } else { "file_path" };
            for path in [format!("{blank}{path}"), format!("{path}{blank}")] {
                assert_calls(&context, &[(tool, json!({ (key): path, "pattern": "x" }), decision)]);
            }
        }
    }
    let patch = "*** Begin Patch\n*** Add File: \u{feff}private/p\n+x\n*** End Patch";
    assert_calls(
        &context,
        &[
            ("apply_patch", json!({ "input": patch }), Deny),
            ("write_to_file", json!({ "path": "@p:.git/hooks/x", "content": "x" }), Deny),
            ("write_to_file", json!({ "absolutePath": "/srv/repo/.git/hooks/x" }), Deny),
            ("read_file", json!({ "path": "@my app: .env" }), Deny),
            ("write_to_file", json!({ "path": "@p:src/a", "content": "x" }), Ask),
            ("Write", json!({ "file_path": " " }), Ask),
            ("Write", json!({ "file_path": "node_modules/@a/b c.js" }), Allow),
            ("Write", json!({ "file_path": "@a/b.js" }), Allow),
        ],
    );
}

#[test]
fn no_rule_about_a_server_covers_secrets() {
    let yaml = "permissions:\n  allow: [{tool: 'mcp__*', pattern: '.*'}]\n";
    let context = context().with_rules(Source::Local, yaml);
    for (input, decision) in [
        (json!({ "file": "src/a.rs" }), Allow),
        (json!({ "query": "the .env file" }), Allow),
        (json!({ "query": "why is config/.env read" }), Allow),
        (json!({ "body": "We read /home/u/.ssh/id_rsa.\nWhy?" }), Allow),
        (json!({ "label": "credentials" }), Allow),
        (json!({ "url": "https://example.com/secrets/x" }), Allow),
        (json!({ "cmd": "rm -rf /" }), Deny),
        (json!({ "files": { ".env": "r" } }), Deny),
        (json!({ "file": "~/.netrc" }), Deny),
        (json!({ "file": "credentials" }), Deny),
        (json!({ "x": "id_rsa" }), Deny),
        (json!({ "x": "server.pem" }), Deny),
        (json!({ "x": "/home/u/my notes/.ssh/config" }), Deny),
        (json!({ "path": "my notes/.env" }), Deny),
        (json!({ "files": [{ "uri": "/home/u/.ssh/id_rsa" }] }), Deny),
        (json!({ "x": [["a", ["/home/u/.aws/config"]]] }), Deny),
        (json!({ "uri": "file:///home/x/.ssh/id_rsa" }), Deny),
        (json!({ "x": ["FILE:///home/x/%2essh/config?a#b"] }), Deny),
        (json!({ "x": "file://localhost/home/x/.ssh/config" }), Deny),
        (json!({ "x": "file:/home/x/.ssh/config" }), Deny),
        (json!({ "x": "vscode-remote://ssh/home/x/.ssh/config" }), Deny),
        (json!({ "x": "C:\\Users\\x\\.ssh\\config" }), Deny),
        (json!({ "path": ".env" }), Deny),
        (json!({ "cmd": "cat .env" }), Deny),
        (json!({ "cmd": "make test 2>config/.env" }), Deny),
        (json!({ "cmd": "npm run 'lint:all'" }), Allow),
        (json!({ "glob": ".e?v" }), Deny),
        (json!({ "include": ["src/*.rs", "**/.en[v]"] }), Deny),
        (json!({ "path": "id_rs*" }), Deny),
        (json!({ "path": "app/[id]/page.tsx", "glob": "**/*.ts", "regex": ".*\\.ts$" }), Allow),
        (json!({ "pattern": ".*", "query": "*" }), Allow),
        (json!({ "args": "{\"path\":\".env\"}" }), Deny),
        (json!({ "arguments": "{\"a\":[{\"cmd\":\"cat .env\"}]}" }), Deny),
        (json!({ "arguments": "{\"a\":\"{\\\"glob\\\":\\\".e?v\\\"}\"}" }), Deny),
        (json!({ "arguments": "{\"path\":\"src/a.rs\"}", "body": "[.env] is {read}" }), Allow),
    ] {
        assert_calls(&context, &[("mcp__files__read", input, decision)]);
    }
}

#[test]
fn a_judgement_tells_every_path_that_it_depends_on() {
    let patch = "*** Begin Patch\n it's\n*** Update File: lnk/hooks/x\n*** End Patch";
    let nested = json!({ "replacements": [{ "filePath": "/srv/repo/lnk/hooks/x" }] });
    let many: String = (0..80).map(|at| format!(" f{at}")).collect();
    for (tool, input, path) in [
        ("apply_patch", json!({ "patchText": patch }), "/srv/repo/lnk/hooks/x"),
        ("apply_patch", json!({ "command": patch }), "/srv/repo/lnk/hooks/x"),
        ("multi_replace_string_in_file", nested, "/srv/repo/lnk/hooks/x"),
        (
            "Bash",
            json!({ "command": format!("cat{many} src/plain.txt") }),
            "/srv/repo/src/plain.txt",
        ),
        ("Bash", json!({ "command": "cd lnk && cat hooks/x" }), "/srv/repo/lnk/hooks/x"),
        ("Bash", json!({ "command": "sed -i s/a/b/ lnk/../x" }), "/srv/repo/lnk/../x"),
        ("Bash", json!({ "command": "sort --output=lnk a" }), "/srv/repo/lnk"),
        ("Bash", json!({ "command": "cat ~/lnk" }), "/home/u/lnk"),
        ("Bash", json!({ "command": "x=lnk; cat \"$x\"/a" }), "/srv/repo/lnk/a"),
        ("Bash", json!({ "command": "rm lnk/a" }), "/srv/repo/lnk/a"),
        ("mcp__x__y", json!({ "x": ["src/lnk"] }), "/srv/repo/src/lnk"),
    ] {
        let call = Call { tool: tool.to_owned(), input };
        let paths = classified_paths(&call, &context());
        assert!(paths.contains(path), "{call:?}: {paths:?}");
    }
}

#[test]
fn a_call_with_more_paths_than_the_host_follows_asks() {
    let mut context = context();
    context.places.has_unfollowed = true;
    let call = Call::shell("cat a");
    assert_eq!(decide(&call, &context).decision, Ask);
    context.confined = true;
    assert_eq!(decide(&call, &context).decision, Allow);
    let everything = "permissions:\n  allow: ['.*', {tool: '*', pattern: '.*'}]\n";
    context.confined = false;
    let context = context.with_rules(Source::Local, everything);
    assert_eq!(decide(&call, &context).decision, Ask);
    assert_calls(&context, &[("Write", json!({ "file_path": "a" }), Ask)]);
}
