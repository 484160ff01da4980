//! What the documents tell their readers to type is typed here, and what they say comes of it
//! is compared with what really comes of it.
//!
//! In a document a fence ```` ```sh run ```` is executed in a shell, `run exit=3` expects that
//! exit code. All fences of a document share one project, in order. A fence
//! ```` ```text output ```` that follows is everything that the commands say, with the folder
//! that holds the project written as `/home/you`. A fence ```` ```markdown file=NAME ```` (of
//! any language) is written to that file of the project first. What a fence
//! ```` ```text recorded=NAME ```` shows is compared by the tests with real hosts.
//!
//! With `ONLOOP_WRITE_DOCUMENTS=1` the outputs in the documents are replaced instead.

use crate::fences::{Fence, fences};
use crate::workspace::{Workspace, source_root};

enum Role {
    /// Written to a file of the project.
    File(String),
    /// Executed; the exit code that is expected.
    Run(i32),
    /// What the fence before it said.
    Output,
    /// Only read.
    Shown,
}

fn role(fence: &Fence) -> Role {
    match fence.words.get(1).map(String::as_str) {
        Some("run") => {
            let exit = fence.words.get(2).map_or("0", |word| {
                word.strip_prefix("exit=").unwrap_or_else(|| panic!("`{word}` in {fence:?}"))
            });
            Role::Run(exit.parse().unwrap_or_else(|_| panic!("exit code in {fence:?}")))
        }
        Some("output") => Role::Output,
        Some(word) if word.starts_with("recorded=") => Role::Shown,
        Some(word) => match word.strip_prefix("file=") {
            Some(name) => Role::File(name.to_owned()),
            None => panic!("a fence must not say `{word}`: {fence:?}"),
        },
        None => Role::Shown,
    }
}

/// Executes a document; returns it with what its commands really said.
fn execute(document: &str) -> String {
    // Time stands still, so that run ids are the same each time.
    let workspace = Workspace::git().with_env("ONLOOP_NOW", "2026-03-20T21:23:15Z");
    let around = workspace.path("..").canonicalize().unwrap();
    let around = around.to_str().expect("a temporary folder has a plain name");
    // Clients of agent hosts that somebody has installed must not show.
    let path = format!("{around}/bin:/usr/bin:/bin");
    let workspace = workspace.with_env("PATH", &path);
    let home = format!("{around}/home");
    let mut lines: Vec<String> = document.lines().map(|line| format!("{line}\n")).collect();
    let mut said: Option<String> = None;
    for fence in fences(document) {
        match role(&fence) {
            Role::File(name) => workspace.write(&name, &fence.text),
            Role::Run(exit) => {
                let run = workspace.shell(&format!("exec 2>&1\n{}", fence.text));
                assert_eq!(run.exit, Some(exit), "of\n{}\n{}", fence.text, run.stdout);
                // The documents name one sandbox, and machines have another.
                let run_said = run.stdout.replace("Sandbox: landlock", "Sandbox: bubblewrap");
                let said_of_you = run_said.replace(&home, "/home/you");
                said = Some(said_of_you.replace(around, "/home/you"));
            }
            Role::Output => {
                let said = said.take().expect("commands stand before their output");
                lines[fence.lines.clone()].fill(String::new());
                // Empty lines at the ends would only look odd. The output goes before the
                // closing fence, so that an empty fence can be filled.
                lines[fence.lines.end].insert_str(0, &format!("{}\n", said.trim_matches('\n')));
            }
            Role::Shown => {}
        }
    }
    lines.concat()
}

#[track_caller]
fn assert_true(name: &str) {
    let path = source_root().join(name);
    let written = std::fs::read_to_string(&path).unwrap().replace("\r\n", "\n");
    let real = execute(&written);
    if real == written {
        return;
    }
    if std::env::var_os("ONLOOP_WRITE_DOCUMENTS").is_some() {
        std::fs::write(&path, real).unwrap();
        return;
    }
    let line = written.lines().zip(real.lines()).take_while(|(a, b)| a == b).count();
    panic!(
        "{name}, line {}: the document says\n  {}\nand the program says\n  {}\n\n--- all of it\n{real}",
        line + 1,
        written.lines().nth(line).unwrap_or_default(),
        real.lines().nth(line).unwrap_or_default(),
    );
}

#[test]
#[cfg(unix)]
fn the_first_run_says_what_happens() {
    assert_true("docs/guide.md");
}

#[test]
#[cfg(unix)]
fn the_recovered_run_says_what_happens() {
    assert_true("docs/recover.md");
}

/// The page of each host.
#[test]
#[cfg(unix)]
fn the_pages_about_hosts_say_what_happens() {
    for host in onloop_core::hooks::Host::ALL {
        assert_true(&format!("docs/hosts/{}.md", host.as_str()));
    }
}

#[test]
fn a_document_that_says_something_else_is_noticed() {
    let document = "```text file=a/b.txt\none\n```\n```sh run\ncat a/b.txt\n```\n\
                    ```text output\ntwo\nthree\n```\nend\n```sh run exit=7\nexit 7\n```\n";
    let real = execute(document);
    assert_eq!(real, document.replace("two\nthree\n", "one\n"));
}

#[test]
#[should_panic(expected = "of\nexit 1")]
fn an_exit_code_that_the_document_does_not_announce_is_noticed() {
    execute("```sh run\nexit 1\n```\n");
}

#[test]
fn a_fence_in_a_longer_fence_is_text() {
    let found = fences("````markdown file=x.md\n```sh run\nexit 1\n```\n````\n");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].text, "```sh run\nexit 1\n```\n");
}
