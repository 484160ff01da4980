//! What of a home folder is seen and written, and what one process leaves for the next.

use std::os::unix::fs::PermissionsExt;

use super::mechanisms;
use super::place::{Place, SECRET};
use crate::rounds::sampled;

/// Where programs keep what lets somebody log in, below a home.
const CREDENTIALS: &[&str] = &[
    ".databrickscfg",
    ".snowsql/config",
    ".railway/config.json",
    ".bundle/config",
    ".pip/pip.conf",
    ".config/pypoetry/auth.toml",
    ".bunfig.toml",
    ".wgetrc",
    ".msmtprc",
    ".mbsyncrc",
    ".config/Signal/config.json",
    ".librewolf/p/logins.json",
    ".config/vivaldi/Default/Cookies",
    ".config/Slack/Cookies",
    ".config/Code/User/globalStorage/state.vscdb",
    ".local/share/TelegramDesktop/tdata/key",
    ".ngrok2/ngrok.yml",
    ".config/.wrangler/config/default.toml",
    ".cache/huggingface/token",
    ".config/wandb/settings",
    ".local/share/jupyter/runtime/jpserver-1.json",
    ".local/share/atuin/history.db",
    ".local/state/nvim/shada/main.shada",
    ".sqlite_history",
    ".zhistory",
    ".config/zsh/.zsh_history",
    ".lesshst",
    ".config/lab/lab.toml",
    ".config/linode-cli",
    ".config/scw/config.yaml",
    ".pulumi/credentials.json",
    ".config/openai/key",
    ".copilot/config.json",
    ".config/goose/secrets.yaml",
    ".config/remmina/x.remmina",
    ".config/jira/.config.yml",
    ".mycli-history",
    ".local/share/mycli/x",
    ".config/syncthing/key.pem",
    ".config/tailscale/x",
    ".config/spotify/x",
    ".secrets",
    ".gem/credentials",
    ".local/share/gem/credentials",
    ".pub-cache/credentials.json",
    ".m2/settings.xml",
    ".gradle/gradle.properties",
    ".cargo/credentials",
    ".julia/servers/x/auth.toml",
    ".dotnet/corefx/cryptography/x509stores/my/key.pfx",
    ".local/share/opencode/auth.json",
    ".codex/auth.json",
    ".bun/x",
    ".hex/hex.config",
    ".terraform.d/credentials.tfrc.json",
    ".config/git/credentials",
    ".local/share/keyrings/login.keyring",
    ".vercel/auth.json",
    ".local/share/com.vercel.cli/auth.json",
    ".fly/config.yml",
    ".config/firebase/x.json",
    "notes/passwords.txt",
    ".rye/credentials",
    ".opam/plugins/opam-publish/token",
    ".npm-global/etc/npmrc",
    ".nvm/versions/node/v20.1.0/etc/npmrc",
    "miniforge3/.condarc",
];

/// Configurations that are seen without credentials only, and their text with some.
const CONFIGURATIONS: &[(&str, &str)] = &[
    (".cargo/config.toml", "[registries.a]\ntoken = "),
    (".config/go/env", "GOPROXY=https://u:hidden-7f3a@example.org # "),
];

#[test]
fn no_credentials_of_a_home_can_be_read() {
    for mechanism in mechanisms() {
        let place = Place::new();
        for path in CREDENTIALS {
            place.write(&format!("home/{path}"), &format!("{SECRET}\n"));
        }
        for (path, text) in CONFIGURATIONS {
            place.write(&format!("home/{path}"), &format!("{text}{SECRET}\n"));
        }
        let one_by_one: String =
            CREDENTIALS.iter().map(|path| format!("cat ~/'{path}'; ")).collect();
        let line = format!("{one_by_one} find ~ -type f -exec cat {{}} +; true");
        let run = place.confine(&["--with", mechanism], &line);
        assert_eq!(run.exit, Some(0), "{mechanism}: {}", run.stderr);
        let count = run.stdout.matches(SECRET).count();
        assert_eq!(count, 0, "{mechanism}: {}", run.stdout);
    }
}

#[test]
fn toolchains_are_seen_and_whatever_the_user_adds() {
    for mechanism in sampled(2, mechanisms()) {
        let place = Place::new();
        let files = [".cargo/bin/tool", ".foo/a", "tools/x/share/a", ".nvm/a"];
        let environments =
            ["env/bin/a", "env/lib/a", "env/pyvenv.cfg", "other/lib/a", "pyvenv.cfg"];
        for path in files.iter().chain(&environments) {
            place.write(&format!("home/{path}"), "seen\n");
        }
        place.write("home/tools/x/bin/x", "#!/bin/sh\ncat \"${0%/*}/../share/a\"\n");
        let program = place.path("home/tools/x/bin/x");
        std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
        std::fs::create_dir_all(place.path("home/.local/bin")).unwrap();
        std::os::unix::fs::symlink(&program, place.path("home/.local/bin/x")).unwrap();
        let try_it = |line: &str| {
            let mut command = place.command(crate::workspace::program(), "wt");
            let path = std::env::var("PATH").unwrap();
            let own = place.path("home/.local/bin");
            let more =
                ["env/bin", "other/bin", "bin"].map(|folder| place.path(&format!("home/{folder}")));
            let more = more.map(|folder| folder.display().to_string()).join(":");
            let path = format!("{}:{more}:{path}", own.display());
            command.env("PATH", path).env_remove("CARGO_HOME");
            command.args(["confine", "--with", mechanism, "--", "sh", "-c", line]);
            crate::workspace::Run::from(command.output().unwrap())
        };
        let seen = try_it("cat ~/.cargo/bin/tool ~/.nvm/a && readlink -f ~/.local/bin/x");
        assert!(seen.stdout.starts_with("seen\nseen\n"), "{mechanism}: {seen:?}");
        assert_eq!(try_it("cat ~/env/lib/a; cat ~/other/lib/a").stdout, "seen\n", "{mechanism}");
        let led = try_it("sh \"$(readlink -f \"$(command -v x)\")\"");
        assert_eq!(led.stdout, "seen\n", "{mechanism}: {led:?}");
        let missing = try_it("cat ~/.foo/a");
        assert_eq!(missing.exit, Some(1), "{mechanism}: {missing:?}");
        let hint = "note: not found inside the sandbox: `~/.foo/a`; allow it with \
                    `run: {confine_read: [~/.foo/a]}` in `.agentize.local.yaml`";
        assert!(crate::flat(&missing.stderr).contains(hint), "{mechanism}: {missing:?}");
        let by_variable = try_it("cat \"$HOME/.foo/a\"");
        assert!(crate::flat(&by_variable.stderr).contains(hint), "{mechanism}: {by_variable:?}");
        place.write("home/.agentize.local.yaml", "run: {confine_read: [~/.foo/a]}\n");
        assert_eq!(try_it("cat ~/.foo/a").stdout, "seen\n", "{mechanism}");
    }
}

#[test]
fn git_knows_the_user_without_the_credentials() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let config = format!(
            "[user]\n\tname = Somebody\n\temail = s@example.org\n[http]\n\textraHeader = {SECRET}\n"
        );
        place.write("home/.gitconfig", &config);
        let line = "git config user.name; git config --get-all http.extraHeader; cat ~/.gitconfig";
        let run = place.confine(&["--with", mechanism], line);
        assert_eq!(run.stdout, "Somebody\n", "{mechanism}: {run:?}");
    }
}

#[test]
fn the_configuration_of_a_repository_has_no_credentials() {
    let url = format!("[remote \"origin\"]\n\turl = https://u:{SECRET}@example.org/r.git\n");
    let line = "cat $(git rev-parse --git-common-dir)/{config,modules/a/b/config}; \
                git config --get user.name; git -C \"$PWD\" remote";
    for folder in ["repo", "wt"] {
        let place = Place::new();
        let own = place.read("repo/.git/config");
        place.write("repo/.git/config", &format!("{own}{url}"));
        place.write("repo/.git/modules/a/b/config", &format!("[core]\n\tbare = false\n{url}"));
        place.write("repo/.git/modules/a/b/HEAD", "ref: refs/heads/main\n");
        let run = place.confine_in(folder, &["--with", "bubblewrap"], line);
        assert!(!run.stdout.contains(SECRET), "{folder}: {run:?}");
        assert!(run.stdout.contains("bare = false\n[remote \"origin\"]"), "{folder}: {run:?}");
        assert!(run.stdout.ends_with("Somebody\norigin\n"), "{folder}: {run:?}");
        assert!(place.read("repo/.git/config").contains(SECRET), "{folder}");
    }
}

/// A run in the checkout itself, whose agent is a script.
fn run(place: &Place, mechanism: &str, more: &str, (script, verify): (&str, &str)) -> String {
    place.write(
        "wt/hotl-workflow-try.md",
        &format!(
            "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n\
             dirty_worktree: allow\nconfine: on\n---\n\n- [ ] **Step 1: Go**\naction: Go.\n\
             loop: false\nverify:\n  - type: shell\n    command: {verify}\n\n\
             ```bash\n{script}\n```\n"
        ),
    );
    let mut command = place.command(crate::workspace::program(), "wt");
    command.args([
        "run",
        "hotl-workflow-try.md",
        "--mode",
        "none",
        "--no-reverify",
        "--agent",
        more,
    ]);
    command.env_remove("CARGO_HOME");
    if mechanism == "landlock" {
        command.env("PATH", place.path_without("bwrap"));
    }
    let output = command.output().unwrap();
    let ledger = place.ledgers();
    assert!(ledger.contains(&format!("\"by\":\"{mechanism}\"")), "{mechanism}: {ledger}");
    format!("{:?} {}", output.status.code(), String::from_utf8_lossy(&output.stderr))
}

/// Without a folder of cargo in the home, its own is among the temporary files.
#[test]
fn a_turn_leaves_nothing_for_the_check_but_the_worktree() {
    for mechanism in sampled(2, mechanisms()) {
        let place = Place::new();
        std::fs::remove_dir_all(place.path("home/.cargo")).unwrap();
        let script = "mkdir -p \"$CARGO_HOME\" demo/tests demo/src; touch demo/src/lib.rs\n\
            printf '[package]\\nname = \"demo\"\\nedition = \"2024\"\\n[workspace]\\n' > demo/Cargo.toml\n\
            echo '#[test] fn t() { panic!() }' > demo/tests/t.rs\n\
            printf '[build]\\n[target.\"cfg(all())\"]\\nrunner = \"true\"\\n' > \"$CARGO_HOME/config.toml\"\n\
            echo left > \"$TMPDIR/left\"; cat \"$CARGO_HOME/config.toml\" > said\n";
        let cargo = std::path::Path::new(env!("CARGO"));
        let rustc = cargo.with_file_name("rustc");
        let test = format!("RUSTC={} {} test -q --offline", rustc.display(), cargo.display());
        let verify = format!("cd demo && ls -A \"$TMPDIR\" > ../found; {test}");
        let said = run(&place, mechanism, "script", (script, &verify));
        assert!(said.starts_with("Some(1)"), "{mechanism}: {said}");
        assert!(said.contains("verify failed: exit code 101"), "{mechanism}: {said}");
        assert!(place.read("wt/said").contains("runner"), "{mechanism}: the attack was not tried");
        assert!(
            !place.read("wt/found").contains("left"),
            "{mechanism}: {}",
            place.read("wt/found")
        );
    }
}

/// Files of clients that are run or obeyed later, and what a session writes, as the samples have them.
const CLIENTS: &[(&str, &str, bool)] = &[
    ("claude", ".claude/statusline.sh", false),
    ("claude", ".claude/shell-snapshots/s.sh", false),
    ("claude", ".claude/projects/p/memory/MEMORY.md", false),
    ("claude", ".claude/settings.json", false),
    ("claude", ".claude/.credentials.json", true),
    ("codex", ".codex/hooks/x.sh", false),
    ("codex", ".codex/memories/m.md", false),
    ("codex", ".codex/sessions/s.jsonl", true),
    ("opencode", ".local/share/opencode/bin/rg", false),
    ("opencode", ".config/opencode/package.json", false),
    ("opencode", ".local/share/opencode/opencode.db", true),
    ("cursor", ".cursor/extensions/e/main.js", false),
    ("cursor", ".cursor/argv.json", false),
    ("gemini", ".gemini/skills/x.md", false),
    ("copilot", ".copilot/pkg/index.js", false),
    ("copilot", ".copilot/settings.json", false),
    ("copilot", ".copilot/session-state/s.json", true),
];

/// Programs that answer as clients do when they are asked for their version, and then write.
fn stand_ins(place: &Place) -> std::path::PathBuf {
    for (client, program) in [
        ("claude", "claude"),
        ("codex", "codex"),
        ("opencode", "opencode"),
        ("cursor", "cursor-agent"),
        ("gemini", "gemini"),
        ("copilot", "copilot"),
    ] {
        let mut script =
            "#!/bin/sh\ncase \"$*\" in *--version*) echo 99.0.0; exit;; esac\n".to_owned();
        for (_, path, _) in CLIENTS.iter().filter(|(of, _, _)| *of == client) {
            script += &format!(
                "mkdir -p \"$HOME/{path}\" 2>/dev/null; rmdir \"$HOME/{path}\" 2>/dev/null\n\
                 echo written > \"$HOME/{path}\"\necho tried >> tried\n"
            );
        }
        place.write(&format!("clients/{program}"), &script);
        let path = place.path(&format!("clients/{program}"));
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    place.path("clients")
}

#[test]
fn a_client_keeps_what_a_session_writes_and_nothing_that_runs_later() {
    let ways = [true, false].map(|before| mechanisms().into_iter().map(move |by| (by, before)));
    let ways: Vec<_> = ways.into_iter().flatten().collect();
    let clients = ["claude", "codex", "opencode", "cursor", "gemini", "copilot"];
    let all = clients.into_iter().flat_map(|client| ways.iter().map(move |way| (client, *way)));
    for (client, (mechanism, there_before)) in sampled(5, all) {
        let place = Place::new();
        let of_client = || CLIENTS.iter().filter(|(of, _, _)| *of == client);
        for (_, path, _) in of_client().filter(|_| there_before) {
            place.write(&format!("home/{path}"), "as it was\n");
        }
        // Some are there in any case.
        let before: Vec<Option<String>> = of_client()
            .map(|(_, path, _)| std::fs::read_to_string(place.path(&format!("home/{path}"))).ok())
            .collect();
        let clients = stand_ins(&place);
        place.write(
            "wt/hotl-workflow-try.md",
            "---\nintent: Try\nsuccess_criteria: It works\nrisk_level: low\n\
             dirty_worktree: allow\nconfine: on\n---\n\n- [ ] **Step 1: Go**\naction: Go.\n\
             loop: false\nverify: 'true'\n",
        );
        let path = match mechanism {
            "landlock" => place.path_without("bwrap").display().to_string(),
            _ => std::env::var("PATH").unwrap(),
        };
        let mut command = place.command(crate::workspace::program(), "wt");
        command.env("PATH", format!("{}:{path}", clients.display()));
        command.args(["run", "hotl-workflow-try.md", "--mode", "none", "--agent", client]);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(place.read("wt/tried").contains("tried"), "{client} did nothing: {said}");
        for ((_, path, kept), before) in of_client().zip(before) {
            let now = std::fs::read_to_string(place.path(&format!("home/{path}"))).ok();
            // A file that a session writes has to be there before.
            let is_folder = path.contains("session") || path.contains("/opencode/");
            let expected = match kept {
                true if before.is_some() || is_folder => Some("written\n".to_owned()),
                true | false => before,
            };
            assert_eq!(now, expected, "{mechanism}: {client}: {path}: {said}");
        }
    }
}

#[test]
fn a_state_home_that_others_may_read_is_closed_and_that_is_said_once() {
    let place = Place::new();
    let state = place.path("state");
    let mode = || std::fs::metadata(&state).unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).unwrap();
    let said = place.onloop("repo", &["status"]).stderr;
    let expected = format!(
        "warning: the state home `{}` was open to other users; it is for its owner alone now",
        state.display()
    );
    assert!(crate::flat(&said).starts_with(&expected), "{said}");
    assert_eq!(mode(), 0o700);
    let again = place.onloop("repo", &["status"]).stderr;
    assert!(!again.contains("was open"), "{again}");
    // Not every folder that a variable names is a state home.
    std::fs::remove_dir_all(state.join("runs")).unwrap();
    std::fs::set_permissions(&state, std::fs::Permissions::from_mode(0o755)).unwrap();
    place.onloop("repo", &["status"]);
    assert_eq!(mode(), 0o755);
}
