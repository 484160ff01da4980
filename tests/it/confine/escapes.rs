//! Ways out, tried from inside by real processes.
//!
//! Each line that may read a secret writes it to standard output if it works; each line that reaches
//! for something which is no file says `out` if it works. What a line may change is compared before
//! and after. The lines about files are also tried unconfined, where they have to work: a line that
//! never works shows nothing.

mod ways;

use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::process::{Child, Command, Stdio};

use super::mechanisms;
use super::place::{Place, SECRET};
use crate::rounds::sampled;
use crate::run::wait_until;
use crate::workspace::program;
use ways::{CALLS, CHANGES, FURTHER_READS, OBEYED, PLANTED, PLANTED_IN_MAIN, READS};

/// Somebody outside, with a secret in the environment and an open file.
struct Other(Child);

impl Other {
    fn new(place: &Place) -> Other {
        let mut command = Command::new("sh");
        let line = "exec 7< home/.ssh/id_ed25519; echo up; exec sleep 1000";
        command.args(["-c", line]).current_dir(place.path("")).env("A_SECRET", SECRET);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut up = [0; 3];
        std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut up).unwrap();
        Other(child)
    }

    fn lives(&mut self) -> bool {
        let state = std::fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        self.0.try_wait().unwrap().is_none() && !state.contains(") T ")
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Who tries a way out.
#[derive(Clone, Copy, Debug)]
enum Who {
    /// A command of `onloop confine`.
    Command,
    /// The agent of a run.
    Agent,
    /// A check of a run.
    Check,
}

/// What is tried, in the place and beside somebody.
struct Attempts<'a> {
    place: &'a Place,
    other: &'a Other,
    mechanism: &'static str,
}

impl Attempts<'_> {
    /// All lines in one shell, each in one of its own, with what each has said.
    fn all(&self, who: Who, lines: &[&str]) -> Vec<String> {
        let place = self.place;
        let other = self.other.0.id();
        let top = place.path("").display().to_string();
        let mut script = format!("export T='{top}' OTHER={other} SHM=onloop-test-{other}\n");
        for line in lines {
            let quoted = line.replace('\'', "'\\''");
            script += &format!(
                "(timeout 20 bash -c '{quoted}' </dev/null 2>/dev/null 9<&9); printf '%s%s\\n' next- {other}\n"
            );
        }
        place.write("wt/attempts.sh", &script);
        let mut command = place.command("bash", "wt");
        // A descriptor that nobody meant to pass on.
        let line = "exec 9< ../home/.ssh/id_ed25519; export ONLOOP=$$; exec \"$@\"";
        command.args(["-c", line, "sh", program()]);
        for name in ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DOCKER_HOST"]
        {
            command.env(name, format!("/{SECRET}"));
        }
        let said = match who {
            Who::Command => {
                command.args(["confine", "--with", self.mechanism, "--", "bash", "attempts.sh"]);
                String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
            }
            Who::Agent | Who::Check => self.in_a_run(who, command),
        };
        // No line shows this: it is put together, and some of them print whatever they find.
        let next = format!("next-{other}\n");
        let parts: Vec<String> = said.split(&next).map(str::to_owned).collect();
        assert_eq!(parts.len(), lines.len() + 1, "{who:?} by {}: {said}", self.mechanism);
        parts
    }

    /// A run in the checkout itself, whose agent or check tries it and keeps what is said.
    fn in_a_run(&self, who: Who, mut command: Command) -> String {
        let place = self.place;
        let attempt = "bash attempts.sh > said 9<&9 || true";
        let (act, verify) = match who {
            Who::Agent => (attempt, "true"),
            Who::Command | Who::Check => ("true", attempt),
        };
        place.write(
            "wt/hotl-workflow-try.md",
            &format!(
                "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n\
                 dirty_worktree: allow\nconfine: on\n---\n\n- [ ] **Step 1: Go**\naction: Go.\n\
                 loop: false\nverify:\n  - type: shell\n    command: {verify}\n\n\
                 ```bash\n{act}\n```\n"
            ),
        );
        let options = ["--mode", "none", "--no-reverify", "--agent", "script"];
        command.args(["run", "hotl-workflow-try.md"]).args(options);
        if self.mechanism == "landlock" {
            command.env("PATH", place.path_without("bwrap"));
        }
        let output = command.output().unwrap();
        let problem = String::from_utf8_lossy(&output.stderr);
        let ledgers = place.ledgers();
        let by = format!("\"by\":\"{}\"", self.mechanism);
        assert!(ledgers.contains(&by), "{who:?} by {}: {problem}\n{ledgers}", self.mechanism);
        let said = place.read("wt/said");
        assert!(!said.is_empty(), "{who:?} by {}: {problem}\n{ledgers}", self.mechanism);
        said
    }
}

const EVERYBODY: [Who; 3] = [Who::Command, Who::Agent, Who::Check];

#[test]
fn a_hundred_ways_are_tried() {
    let lists = [READS, FURTHER_READS, CHANGES, PLANTED, OBEYED];
    let mut lines = lists.concat();
    let count = lines.len();
    lines.sort_unstable();
    lines.dedup();
    assert_eq!(lines.len(), count, "one is tried twice");
    let is_call = |line: &&str| line.starts_with("attempt(") || line.starts_with("call(");
    let calls = CALLS.lines().filter(is_call).count();
    // With `--all` each as a command, those of the first three as an agent and as a check, too.
    assert!(READS.len() + FURTHER_READS.len() + CHANGES.len() >= 100 && calls >= 40, "{calls}");
}

#[test]
fn nothing_hidden_can_be_read() {
    for (mechanism, who) in sampled(4, everybody()) {
        let place = Place::new();
        let mut other = Other::new(&place);
        let shared = format!("/dev/shm/onloop-test-{}", other.0.id());
        let _ = std::fs::write(&shared, SECRET);
        let before = place.outside();
        let lines = [READS, FURTHER_READS].concat();
        let said = Attempts { place: &place, other: &other, mechanism }.all(who, &lines);
        let _ = std::fs::remove_file(&shared);
        let found: Vec<_> =
            lines.iter().zip(&said).filter(|(_, said)| said.contains(SECRET)).collect();
        assert!(found.is_empty(), "{who:?} by {mechanism}: read: {found:#?}");
        assert!(other.lives());
        assert_eq!(place.changes_since(&before), [""; 0], "{who:?} by {mechanism}");
    }
}

#[test]
fn nothing_outside_can_be_changed() {
    // In the other order, so that a run without `--all` has everybody.
    for (mechanism, who) in sampled(4, everybody().into_iter().rev()) {
        let place = Place::new();
        let other = Other::new(&place);
        let before = place.outside();
        Attempts { place: &place, other: &other, mechanism }.all(who, CHANGES);
        assert_eq!(place.changes_since(&before), [""; 0], "{who:?} by {mechanism}");
    }
}

/// Every mechanism with everybody who is confined by it.
fn everybody() -> Vec<(&'static str, Who)> {
    let by = |mechanism| EVERYBODY.into_iter().map(move |who| (mechanism, who));
    mechanisms().into_iter().flat_map(by).collect()
}

#[test]
fn nothing_is_planted_where_git_would_find_it() {
    for mechanism in mechanisms() {
        for (folder, lines) in [("wt", PLANTED), ("repo", PLANTED_IN_MAIN)] {
            let place = Place::new();
            for path in ["HEAD", "config", "hooks/pre-commit"] {
                place.write(&format!("repo/.git/modules/sub/{path}"), "as it was\n");
            }
            let guarded = |place: &Place| {
                let mut outside = place.outside();
                outside.retain(|path, _| folder == "wt" || is_guarded(path));
                outside
            };
            let before = guarded(&place);
            for line in sampled(3, lines) {
                let line = line.replace("$T", &place.path("").display().to_string());
                place.confine_in(folder, &["--with", mechanism], &line);
                assert_eq!(guarded(&place), before, "{mechanism}: {folder}: {line}");
            }
        }
    }
}

/// Landlock cannot hold these, and others change them meanwhile.
#[test]
fn the_other_worktrees_of_a_main_checkout_stay_as_they_are() {
    let place = Place::new();
    let before =
        ["HEAD", "index"].map(|name| place.read(&format!("repo/.git/worktrees/wt/{name}")));
    let line = "cd .git/worktrees/wt; echo x > HEAD; cp ../wt2/index index; rm -f HEAD index";
    place.confine_in("repo", &["--with", "bubblewrap"], line);
    let after = ["HEAD", "index"].map(|name| place.read(&format!("repo/.git/worktrees/wt/{name}")));
    assert_eq!(after, before);
}

#[test]
fn nothing_is_planted_where_an_agent_would_obey_it() {
    const KEPT: [&str; 13] = [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".claude/hooks/a",
        ".agentize.local.yaml",
        ".mcp.json",
        ".codex/config.toml",
        ".opencode/plugin/a.js",
        ".opencode/opencode.jsonc",
        ".opencode/tool/a.js",
        ".qwen/settings.json",
        ".envrc",
        ".cursor/hooks.json",
        "opencode.json",
    ];
    for mechanism in mechanisms() {
        let place = Place::new();
        place.write("wt/.claude/settings.json", "as it was\n");
        // With others in the same folder: each has to be held by itself.
        for path in
            [".claude/hooks/b", ".cursor/cli.json", ".cursor/hooks.json", ".opencode/plugin/b.js"]
        {
            place.write(&format!("wt/{path}"), "as it was\n");
        }
        let obeyed = || KEPT.map(|path| std::fs::read(place.path("wt").join(path)).ok());
        let before = obeyed();
        for line in sampled(3, OBEYED) {
            place.confine_in("wt", &["--with", mechanism], line);
            assert_eq!(obeyed(), before, "{mechanism}: {line}");
        }
    }
}

#[test]
fn files_that_run_by_themselves_stay_as_they_are() {
    const NEW: [&str; 9] = [
        ".npmrc",
        ".vscode/tasks.json",
        ".claude/skills/a.md",
        ".husky.d/pre-push",
        ".github/workflows/new.yml",
        ".lintstagedrc.json",
        "Procfile",
        "own.code-workspace",
        "Directory.Build.props",
    ];
    for mechanism in mechanisms() {
        let place = Place::new();
        place.write("wt/.github/workflows/ci.yml", "as it was\n");
        place.write("wt/Jenkinsfile", "as it was\n");
        let line = "mkdir -p .vscode .claude/skills .husky.d .github/workflows node_modules/.bin\n\
            for file in \"$@\" .github/workflows/ci.yml Jenkinsfile node_modules/.bin/a src; do echo x > $file; done";
        let words = [&["confine", "--with", mechanism, "--", "bash", "-c", line, "sh"], &NEW[..]];
        let run = place.onloop("wt", &words.concat());
        let stays = NEW.iter().filter(|name| place.path("wt").join(name).exists());
        assert_eq!(stays.collect::<Vec<_>>(), Vec::<&&str>::new(), "{mechanism}: {}", run.stderr);
        for name in [".github/workflows/ci.yml", "Jenkinsfile"] {
            assert_eq!(place.read(&format!("wt/{name}")), "as it was\n", "{mechanism}: {name}");
        }
        assert!(run.stderr.contains("Procfile"), "{mechanism}: {}", run.stderr);
        // What package managers and people write.
        for name in ["node_modules/.bin/a", "src"] {
            assert_eq!(place.read(&format!("wt/{name}")), "x\n", "{mechanism}: {name}");
        }
    }
}

#[test]
fn no_link_stays_where_an_agent_would_look_for_a_folder() {
    for mechanism in mechanisms() {
        let place = Place::new();
        place.write("wt/.github/a.md", "as it was\n");
        let line =
            "mkdir own; ln -s own .claude; ln -s own .codex; mv .github other; ln -s other .github";
        place.confine_in("wt", &["--with", mechanism], line);
        for name in [".claude", ".codex", ".github"] {
            assert!(!place.path("wt").join(name).is_symlink(), "{mechanism}: {name}");
        }
        assert_eq!(place.read("wt/other/a.md"), "as it was\n", "{mechanism}");
    }
}

/// A client ends a command that takes too long with all of its descendants.
#[test]
fn nothing_stays_planted_where_the_command_is_killed() {
    const PLANTED: [&str; 5] = [
        ".claude/settings.local.json",
        ".mcp.json",
        ".git/rebase-merge",
        "rust-toolchain.toml",
        "Procfile",
    ];
    for mechanism in mechanisms() {
        let place = Place::new();
        let line = "mkdir .claude .git/rebase-merge; echo x | tee .claude/settings.local.json .mcp.json rust-toolchain.toml Procfile; \
                    touch planted; exec sleep 600";
        let mut command = place.command(program(), "repo");
        command.args(["confine", "--with", mechanism, "--", "bash", "-c", line]);
        let mut child = command.stdout(Stdio::null()).spawn().unwrap();
        wait_until("all is planted", || place.path("repo/planted").exists());
        let mut killed = vec![child.id().to_string()];
        killed.extend(descendants(child.id()));
        killed.reverse();
        Command::new("kill").arg("-9").args(&killed).status().unwrap();
        child.wait().unwrap();
        let is_gone = |name: &&str| !place.path("repo").join(name).exists();
        wait_until("what was planted is removed", || PLANTED.iter().all(is_gone));
    }
}

/// The numbers of all processes below `parent`, those above others first.
fn descendants(parent: u32) -> Vec<String> {
    let listed = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output().unwrap();
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let pairs = listed.lines().filter_map(|line| line.trim().split_once(' '));
    let pairs: Vec<_> = pairs.map(|(pid, above)| (pid, above.trim())).collect();
    let mut found = vec![parent.to_string()];
    let mut at = 0;
    while let Some(above) = found.get(at).cloned() {
        let children = pairs.iter().filter(|pair| pair.1 == above);
        found.extend(children.map(|pair| pair.0.to_owned()));
        at += 1;
    }
    found.split_off(1)
}

#[test]
fn nothing_that_is_no_file_can_be_reached() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let mut other = Other::new(&place);
        let name = format!("onloop-test-{}", other.0.id());
        let address = SocketAddr::from_abstract_name(&name).unwrap();
        let _abstract = UnixListener::bind_addr(&address).unwrap();
        let _path = UnixListener::bind(place.path("outside/socket")).unwrap();
        place.write("wt/calls.py", CALLS);
        let mut command = place.command("bash", "wt");
        let line = "exec 9< ../home/.ssh/id_ed25519; export ONLOOP=$$; exec \"$@\"";
        command.args(["-c", line, "sh", program(), "confine", "--with", mechanism]);
        command.args(["--", "python3", "calls.py"]).env("ABSTRACT", &name);
        command.env("T", place.path("")).env("OTHER", other.0.id().to_string());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let problem = String::from_utf8_lossy(&output.stderr);
        assert_eq!((said.as_str(), output.status.code()), ("", Some(0)), "{mechanism}: {problem}");
        assert!(other.lives(), "{mechanism}");
    }
}

#[test]
fn nothing_runs_on() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let line =
            "setsid -f sh -c 'sleep 2; echo late > late' </dev/null >/dev/null 2>&1; echo ok";
        let run = place.confine(&["--with", mechanism], line);
        assert_eq!(run.stdout, "ok\n", "{mechanism}: {}", run.stderr);
        let cwd = place.path("wt");
        let left = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|folder| folder == cwd)
        });
        assert!(!left, "{mechanism}: something still runs in {}", cwd.display());
    }
}

/// What of a main checkout tells git what to run.
fn is_guarded(path: &str) -> bool {
    let guarded = [
        "config",
        "config.worktree",
        "hooks",
        "info",
        "commondir",
        "worktrees/wt/commondir",
        "modules/sub/config",
        "modules/sub/hooks",
        "objects/info/alternates",
        "objects/info/commit-graph",
        "packed-refs",
        "logs/evil",
        "refs/heads/evil",
        "refs/replace",
    ];
    guarded.iter().any(|name| {
        let guarded = format!("repo/.git/{name}");
        path == guarded || path.starts_with(&format!("{guarded}/"))
    })
}

/// Without confinement these lines do what they say.
#[test]
fn the_ways_out_are_ways() {
    let place = Place::new();
    let unconfined = |line: &str| {
        let mut command = place.command("timeout", "wt");
        command.args(["20", "bash", "-c", line]).env("T", place.path(""));
        String::from_utf8_lossy(&command.output().unwrap().stdout).into_owned()
    };
    let silent: Vec<_> = READS.iter().filter(|line| !unconfined(line).contains(SECRET)).collect();
    // Reading a secret as a script runs it: what is said is an error, which has the name in it.
    let silent: Vec<_> = silent.into_iter().filter(|line| !line.contains("2>&1")).collect();
    assert!(silent.is_empty(), "these show nothing: {silent:#?}");
    for line in &CHANGES[..9] {
        let before = place.outside();
        unconfined(line);
        assert_ne!(place.outside(), before, "{line} changes nothing");
        place.write("outside/file", "as it was\n");
    }
}
