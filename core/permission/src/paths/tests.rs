use super::*;
use crate::verdict::Decision;

fn decision(path: &str, access: Access) -> Decision {
    let places = Places::new("/srv/repo");
    places.judge_text(path, access).map_or(Decision::Allow, |finding| finding.decision)
}

#[test]
fn the_folder_of_the_run_is_free_and_what_lies_around_it_is_not() {
    use Decision::{Allow, Ask, Deny};
    let mut places = Places::new("/srv/repo");
    places.own_temporary = Some("/tmp/onloop-1".to_owned());
    for (path, list, read, write, run) in [
        ("/tmp/onloop-1/a/b", Allow, Allow, Allow, Ask),
        ("/tmp/onloop-1", Allow, Allow, Allow, Ask),
        ("/tmp/onloop-2/a", Allow, Allow, Ask, Ask),
        ("/tmp/onloop-1/../x", Allow, Allow, Ask, Ask),
        ("/tmp/onloop-1/.env", Ask, Deny, Deny, Deny),
        ("/tmp/onloop-1/.git/config", Allow, Ask, Deny, Deny),
        ("..", Ask, Ask, Deny, Ask),
        ("/", Ask, Ask, Deny, Ask),
        ("../other", Allow, Allow, Deny, Ask),
    ] {
        let accesses = [Access::List, Access::Read, Access::Write, Access::Run];
        let found = accesses.map(|access| {
            places.judge_text(path, access).map_or(Allow, |finding| finding.decision)
        });
        assert_eq!(found, [list, read, write, run], "{path}");
    }
}

#[test]
fn every_place_has_its_policy() {
    use Decision::{Allow, Ask, Deny};
    for (path, list, read, write) in [
        ("src/main.rs", Allow, Allow, Allow),
        ("/srv/repo/./a/../b", Allow, Allow, Allow),
        ("/dev/null", Allow, Allow, Allow),
        (".git/HEAD", Allow, Allow, Deny),
        (".git/config", Allow, Ask, Deny),
        (".git/", Allow, Ask, Deny),
        ("sub/.GIT/hooks/x", Allow, Allow, Deny),
        (".claude/settings.json", Allow, Allow, Deny),
        (".github/workflows/ci.yml", Allow, Allow, Ask),
        (".hotl/state/x.json", Allow, Allow, Deny),
        (".tmp/hooked-sessions/x.json", Allow, Allow, Deny),
        (".env", Ask, Deny, Deny),
        ("a/.ENV.local", Ask, Deny, Deny),
        (".env.example", Allow, Allow, Allow),
        ("~/.ssh/id_rsa", Ask, Deny, Deny),
        ("id_ed25519.pub", Allow, Allow, Allow),
        ("/proc/self/environ", Ask, Deny, Deny),
        ("/proc/cpuinfo", Allow, Allow, Deny),
        ("/proc/self/status", Allow, Allow, Deny),
        ("/proc/self/", Ask, Deny, Deny),
        ("/proc/thread-self", Ask, Deny, Deny),
        ("/proc/1", Ask, Deny, Deny),
        ("/proc", Ask, Deny, Deny),
        ("src/secrets/mod.rs", Allow, Allow, Allow),
        ("src/secrets/prod.json", Ask, Deny, Deny),
        ("src/secrets", Ask, Deny, Deny),
        ("LICENSES/Apache-2.0.txt", Allow, Allow, Allow),
        ("licenses/MIT.txt", Allow, Allow, Allow),
        ("licenses/acme.txt", Ask, Deny, Deny),
        ("/usr/share/doc/x", Allow, Allow, Deny),
        ("/srv/repository/x", Allow, Allow, Deny),
        ("../x", Allow, Allow, Deny),
        ("~/notes", Ask, Ask, Deny),
        ("/home/u/.cargo/registry/x", Allow, Allow, Deny),
        ("~/..", Ask, Ask, Deny),
        ("/tmp/x", Allow, Allow, Ask),
        ("/dev/sda", Deny, Deny, Deny),
        ("", Ask, Ask, Ask),
        ("a\\b", Ask, Ask, Ask),
        ("GIT~1/config", Ask, Ask, Ask),
        ("-rf", Allow, Allow, Ask),
    ] {
        assert_eq!(decision(path, Access::List), list, "list {path}");
        assert_eq!(decision(path, Access::Read), read, "read {path}");
        assert_eq!(decision(path, Access::Write), write, "write {path}");
    }
}

#[test]
fn hooks_among_the_files_of_the_repository_are_read_and_not_written() {
    let mut places = Places::new("/srv/repo");
    places.git_hooks.insert("/srv/repo/tools/hooks".to_owned());
    places.links.insert("/srv/repo/h".to_owned(), Link::To("/srv/repo/tools/hooks".to_owned()));
    for path in ["tools/hooks", "tools/Hooks/pre-commit", "h"] {
        assert!(places.judge_text(path, Access::Read).is_none(), "{path}");
        let finding = places.judge_text(path, Access::Write).expect("a hook is denied");
        assert_eq!(finding.decision, Decision::Deny, "{path}");
    }
    assert!(places.is_above_automation("tools"));
    assert!(places.judge_text("tools/hooks.md", Access::Write).is_none());
}

#[test]
fn files_that_run_by_themselves_are_a_persons_to_write() {
    use Decision::{Allow, Ask, Deny};
    for (paths, write) in [
        (".github/agents/x.agent.md .github/skills/x/SKILL.md .pi/extensions/x.ts", Deny),
        (".readthedocs.yaml buildspec.yaml buildspec.yml .build.yml .zuul.yaml zuul.d/x.yaml", Ask),
        (
            ".taskcluster.yml .ebextensions/x.config appspec.yml .mergify.yml .mergify/config.yml",
            Ask,
        ),
        (
            ".lefthook.toml .lefthook.yml lefthook.json lefthook-local.yaml .config/lefthook.yml",
            Ask,
        ),
        (".lefthook-local.toml .cargo-husky/hooks/x git-hooks/x .githooks/x githooks/x", Ask),
        (
            ".nano-staged.json nano-staged.js captainhook.json grumphp.yml .flox/env/manifest.toml",
            Ask,
        ),
        (".autoenv_leave.zsh .rvmrc jupyter_server_config.py jupyter_config.json .pnp.cjs", Ask),
        (".venv/lib/python3/site-packages/x.pth .venv/bin/python venv/Scripts/x.exe", Ask),
        ("hie.yaml .user.ini web/.htaccess .RData .perldb .sl/config .vs/tasks.vs.json", Ask),
        ("Directory.Build.targets src/Directory.Build.props .codesandbox/tasks.json", Ask),
        (
            "src/mise.rs docs/azure-pipelines.md docs/rust-toolchain.md src/JenkinsfileParser.java",
            Allow,
        ),
        (
            "node_modules/x/index.js package.json Cargo.toml build.rs model.pth docs/lefthook.md",
            Allow,
        ),
        ("src/git-hooks.rs Directory.Packages.props .github/prompts/x.md AGENTS.md", Allow),
    ] {
        for path in paths.split(' ') {
            assert_eq!(decision(path, Access::Write), write, "{path}");
        }
    }
}

#[test]
fn a_link_is_as_bad_as_what_it_points_to() {
    let mut places = Places::new("/srv/repo");
    places.links.insert("/srv/repo/docs".to_owned(), Link::To("/etc".to_owned()));
    places.links.insert("/srv/repo/.git".to_owned(), Link::To("/srv/repo/x".to_owned()));
    places.links.insert("/srv/repo/up".to_owned(), Link::To("../.ssh/id_rsa".to_owned()));
    places.links.insert("/srv/repo/new".to_owned(), Link::Dangling);
    assert_eq!(places.class("docs"), PathClass::Outside);
    assert_eq!(places.class(".git"), PathClass::Git);
    assert_eq!(places.class("up"), PathClass::Secret);
    let finding = places.judge_text("new", Access::Write).expect("a dangling link is denied");
    assert_eq!(finding.decision, Decision::Deny);
    assert_eq!(finding.reason, "`new` is a link that leads nowhere");
}

#[test]
fn a_path_that_goes_up_from_a_link_asks() {
    let mut places = Places::new("/srv/repo");
    for (path, target) in [("docs/../note.txt", "note.txt"), ("docs/a/../b", "docs/b")] {
        places.links.insert(format!("/srv/repo/{path}"), Link::To(format!("/home/u/{target}")));
    }
    places.links.insert("/proc/net/../environ".to_owned(), Link::To("/proc/7/environ".to_owned()));
    let secret = places.judge_text("/proc/net/../environ", Access::Read).expect("it is denied");
    assert_eq!(secret.decision, Decision::Deny);
    assert_eq!(decision("/var/run/../srv/x", Access::Write), Decision::Deny);
    for (cwd, path, allowed) in [
        ("/srv/repo", "docs/../note.txt", false),
        ("/srv/repo", "docs/a/../b", false),
        ("/proc/self/cwd", "../b", false),
        ("/srv/repo", "/proc/net/../environ", false),
        ("/srv/repo", "/proc/self/cwd/../note.txt", false),
        ("/srv/repo", "/dev/fd/../cwd/x", false),
        ("/srv/repo", "/var/run/../srv/x", false),
        ("/srv/repo", "/Run/user/../x", false),
        ("/srv/repo", "src/../docs2", true),
        ("/srv/repo", "../proc/a/../b", true),
        ("/srv/repo", "a..b/c", true),
        ("/srv/repo", "/proc/cpuinfo", true),
        ("/srv/repo/src", "../../x/..y", true),
    ] {
        places.cwd = cwd.to_owned();
        let found = places.judge_text(path, Access::Read);
        assert_eq!(found.is_none(), allowed, "{cwd} {path}");
    }
    // Such as where a pipe has its end.
    places.links.insert("/dev/fd/63".to_owned(), Link::To("/proc/7/fd/pipe:[1]".to_owned()));
    places.links.insert("/dev/stdout".to_owned(), Link::Dangling);
    assert!(places.judge_text("/dev/fd/63", Access::Read).is_none());
    assert!(places.judge_text("/dev/stdout", Access::Write).is_none());
}

#[test]
fn patterns_are_judged_by_what_they_can_match() {
    let places = Places::new("/srv/repo");
    let read = |pattern: &str| {
        let arg = Arg { shape: Shape::Pattern, ..Arg::exact(pattern) };
        places.judge(&arg, Access::Read).is_none()
    };
    for pattern in [
        "*.rs",
        "src/*.c",
        "src/**/*.ts",
        "a?b",
        "[ab].c",
        "/usr/include/*.h",
        "src/[[:alpha:]]*.rs",
        "src/[]a]x.c",
        "s?cret_test.rs",
        "LICENSE?",
        "app/[locale]/[id]/page.tsx",
        "docs/[0-9][0-9]-[a-z]*",
        "src/*.[jt]s",
        "test_*p.rs",
        "a?.txt",
    ] {
        assert!(read(pattern), "{pattern}");
    }
    for pattern in [
        "*",
        "src/*",
        "*.*",
        ".e*",
        ".en?",
        "*.pem",
        ".[e]nv",
        "~/*",
        "*/../../x",
        "/proc/*/environ",
        "*.env",
        "id_*",
        ".en[[:alpha:]]",
        ".en[]v]",
        ".en[!]a]",
        ".en[^a-u]",
        ".en[[=v=]]",
        ".en[[.v.]]",
        ".[[:lower:]]nv",
        "[[:punct:]]env",
        "../.ss[[:alpha:]]/confi[]g]",
        "/proc/self/enviro[[:alpha:]]",
        "/proc/self/[e]nviron",
        "s?crets/db",
        ".gi?/config",
        ".git/conf[i]g",
        ".g*/conf*",
        "prod?pem",
        "x?key",
        "a/stage?env",
        "*[.]tfvars",
        "*tfvars",
        "db[!a]tfvars?json",
        "a[+--]p8",
        "[.[a]pem",
    ] {
        assert!(!read(pattern), "{pattern}");
    }
}

#[test]
fn a_slash_in_a_bracket_may_be_one_of_its_characters() {
    let places = Places::new("/srv/repo");
    let reads = |pattern: &str| {
        let arg = Arg { shape: Shape::Pattern, ..Arg::exact(pattern) };
        places.judge(&arg, Access::Read).is_none() && places.judge_glob(&arg).is_none()
    };
    for pattern in [
        "[!/]env",
        "[.-/]env",
        ".[e/]nv",
        "a/[!/]env",
        "[[:punct:]/]env",
        "[]/]env",
        "[[]a]/[!/]env",
        "[a]/[[]b]/[.//]env",
        ".[s/]sh/x*y",
        "prod[.]pem",
        "prod[/.]pem",
    ] {
        assert!(!reads(pattern), "{pattern}");
    }
    for pattern in ["[!/]*.rs", "src/[a-z/]x.c", "app/[[id]]/a[b/c].ts"] {
        assert!(reads(pattern), "{pattern}");
    }
    assert!(!reads(&"[]/".repeat(20_000)));
}

#[test]
fn brackets_end_where_a_program_may_see_their_end() {
    for (pattern, name, expected) in [
        ("", "", true),
        ("*", "", true),
        ("a*b*c", "axbxc", true),
        ("a*b*c", "axbx", false),
        ("[ab]c", "bc", true),
        ("[ab]c", "b", false),
        ("[[:alpha:]]c", "bc", true),
        ("[]]c", "bc", true),
        ("[a", "[a", true),
        ("[a", "a", false),
        ("[ab]c]d", "xd", false),
        ("a\\bc", "abc", true),
        ("a\\*c", "abc", false),
        ("a\\", "a\\", true),
    ] {
        let found = secret::matches(pattern, name, secret::Dots::Matched);
        assert_eq!(found, expected, "{pattern} {name}");
    }
    assert!(!secret::matches(&"[".repeat(60_000), ".env.production", secret::Dots::Matched));
}
