//! Arguments that make a program do more than it seems to.

use super::lines::{assert_decisions, confined};
use super::*;

/// Asserts that a sandbox holds each of `lines`, and that without one they are asked about.
fn assert_contained(lines: &[&str]) {
    let decisions = |decision| lines.iter().map(|line| (*line, decision)).collect::<Vec<_>>();
    assert_decisions(&Context::new("/srv/repo"), &decisions(Decision::Ask));
    assert_decisions(&confined(), &decisions(Decision::Allow));
}

#[test]
fn a_script_that_is_not_one_plain_line_is_contained() {
    assert_contained(&[
        "sed 'a\\\ns/\ne touch x\n#/x/' a.txt",
        "sed 'i\\\ny/\ne touch x\n#/x/' a.txt",
        "sed 'a foo\ns/a/b/' a.txt",
        "sed -e 'a\\' -e 's/' -e 'e touch x' -e '#/x/' a.txt",
        "sed '1i // license' a.txt",
        "sed 's/a/b/\ns/c/d/' a.txt",
        "sed -e 's/a/b\\' -e 'c/' a.txt",
        "sed 's/[]/a/;sg]g/touch x/eg' a.txt",
        "sed 's/[^]/a/;sg]g/touch x/eg' a.txt",
        "sed 's/[[:alpha:]/a/;sg]g/touch x/eg' a.txt",
        "sed 's/[\\]x[]/a/;s,],/b/w ../x,' a.txt",
        "sed 's/[[.a.]/a/;s,],/b/w ../x,' a.txt",
        "sed 's/\\c[[]/a/;s,],/b/w ../x,' a.txt",
        "sed 's/\\x5b]/a/;s,],/b/w ../x,' a.txt",
        "awk 'BEGIN{print 1,\n\n2 > \".git/hooks/x\"}'",
        "awk '{ n++ }\nEND { print n }' a.txt",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("sed -n '1,/^$/p' a.txt", Decision::Allow),
            ("sed -e 's/a/b/' -e '/x/d' a.txt", Decision::Allow),
            ("sed '/x/{s/a/b/;p}' a.txt", Decision::Allow),
            ("sed 's/[[:space:]]*$//; s/[^a-z\\t]/x/g; s/[^\\/]*$//' a.txt", Decision::Allow),
            ("sed 's/\\x1b\\[[0-9;]*m//g' a.txt", Decision::Allow),
            ("awk '$3 > 5 { print $1, $2; n++ } END { print n }' a.txt", Decision::Allow),
            ("awk '/a|b/ || $2 >= 3 { print }' a.txt", Decision::Allow),
        ],
    );
}

#[test]
fn a_pattern_is_no_program() {
    assert_contained(&[
        "awk B*",
        "awk B* a.txt",
        "awk 'x = 1system(\"evil\")' a.txt",
        "awk 'x = 0x1fsystem(\"evil\")' a.txt",
        "awk '1getline' a.txt",
        "sed s,hi,*, README.md",
        "sed -e s,hi,*, README.md",
        "awk -v x=* '{ print }' README.md",
        "zgrep -A1 x a.txt",
        "sha256sum -c sums",
        "sh <<< 'exec <evil.sh'",
        "bash <<'E'\nread -n 6 x\ntrue #touch x\nE",
        "zsh -c 'echo $commands'",
        "mksh -c 'echo x'",
        "grep -R x src",
        "rg -L x src",
        "rg --follow x src",
        "rg --debug x src",
        "rg --trace x",
        "python --version",
        "true; grep -- ${y:-T .env} README.md",
        "sed -l 5* p README.md",
        "grep -r --include src/*.rs x .",
        "find . -name *",
        "find . -name $x",
        "find . -exec ls {} * -ok sh evil.sh \\;",
        "find . -exec ls \"$x\" -ok sh evil.sh \\;",
        "find . -exec ls {} ';'* -ok sh evil.sh \\;",
        "find . -name -del*",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            (
                "shopt -s nullglob; awk docs/zz* 'BEGIN{system(\"touch x\")}' README.md",
                Decision::Ask,
            ),
            ("shopt -s nullglob; ls docs/zz*", Decision::Ask),
            ("shopt -s dotglob globstar", Decision::Ask),
            ("shopt -u failglob", Decision::Ask),
            ("bash -O nullglob -c 'ls docs/zz*'", Decision::Ask),
            ("jq -n 0,e*", Decision::Ask),
            ("yq 0,e*", Decision::Ask),
            ("gh issue list --json title --jq 0,e*", Decision::Ask),
            ("find . -name '*.rs' -exec grep -n foo {} +", Decision::Allow),
        ],
    );
}

#[test]
fn a_command_is_the_one_that_the_wrapper_runs() {
    assert_contained(&[
        "taskset df sh evil.sh",
        "taskset -a ff sh evil.sh",
        "taskset -c 0-3 sh evil.sh",
        "chrt 5 ls",
        "chrt -o ls 5",
        "ionice -c3 sh evil.sh",
        "watch -x sh evil.sh",
        "LMOD_SETTARG_CMD=./evil.sh; module list",
        "module load gcc",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("taskset -p 3 1", Decision::Ask),
            ("taskset -c 0-3 ls", Decision::Allow),
            ("taskset 3 ls", Decision::Allow),
            ("nice -5 ls", Decision::Allow),
            ("nice -n 5 ls", Decision::Allow),
            ("ionice -c 3 -n 7 ls", Decision::Allow),
            ("ls | xargs --process-slot-var PATH ls", Decision::Ask),
            ("ls | xargs --process-slot-var=PATH ls", Decision::Ask),
            ("fdfind evil -xsh ls", Decision::Ask),
            ("fdfind evil --exec=sh ls", Decision::Ask),
            ("fdfind evil -X=sh ls", Decision::Ask),
            ("fdfind evil ls -x echo ';' -x sh", Decision::Ask),
            ("watch -x bash -c 'cat .env'", Decision::Deny),
            ("watch -n 5 -x bash -c 'awk -f evil.awk'", Decision::Ask),
            ("watch ls -x '`sh evil.sh`'", Decision::Ask),
            ("watch -n 5 'ls -l'", Decision::Allow),
            ("watch -d -x ls -l", Decision::Allow),
        ],
    );
}

#[test]
fn a_package_manager_runs_the_project_where_it_has_no_such_command() {
    assert_contained(&[
        "yarn prefix",
        "yarn why x",
        "yarn list",
        "yarn --version",
        "yarn help",
        "bun query",
        "bun ll",
        "pnpm query",
        "pnpm why x",
        "pnpm explain x",
        "pdm --version",
        "uv pip list",
        "uv pip freeze",
        "poetry pip check",
        "poetry tool list",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("npm ls", Decision::Allow),
            ("npm explain x", Decision::Allow),
            ("npm help", Decision::Allow),
            ("pip list", Decision::Ask),
        ],
    );
}

#[test]
fn npm_is_contained_where_it_may_read_settings_below_the_top() {
    assert_contained(&[
        "npm --prefix src ls",
        "npm --prefix=src root",
        "npm -C src ls",
        "npm ls -C src",
        "npm help --userconfig src/npmrc",
        "npm ls --globalconfig=src/npmrc",
        "cd src && npm ls",
        "(cd src && npm help)",
        "npm -C src test",
    ]);
    let allow = "permissions: {allow: ['^npm (-C src )?(test|ls)']}";
    let context = Context::new("/srv/repo").with_rules(Source::Local, allow);
    for line in ["npm test", "npm -C src test", "npm -C src ls"] {
        assert_decisions(&context, &[(line, Decision::Allow)]);
    }
}

#[test]
fn an_option_in_place_of_a_value_is_contained() {
    assert_contained(&[
        "cargo clean --target --target-dir src --target x86_64-unknown-linux-gnu",
        "pip list -e --path=site -e --log=.git/hooks/x",
        "sort -k -o a.txt",
        "jq --arg -f x . a.json",
        "tree -Io x .git/hooks/pre-commit",
        "tree -L2",
        "shellcheck -a -x a.sh",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("shellcheck -C .env", Decision::Ask),
            ("shellcheck -x a.sh", Decision::Ask),
            ("tree -aL 2", Decision::Allow),
            ("du -x ~/.ssh", Decision::Ask),
            ("terraform providers mirror ../out", Decision::Ask),
            ("terraform providers", Decision::Ask),
            ("x='1 .env'; head -n$x", Decision::Ask),
            ("x='1 .env'; tail --lines=$x a.txt", Decision::Ask),
            ("tac --separator=$(cat x)", Decision::Ask),
            ("x=5; head -n$x a.txt", Decision::Allow),
            ("gh -R evil.example/o/r pr list", Decision::Ask),
            ("gh -R o/r pr list", Decision::Allow),
            ("git rev-parse --resolve-git-dir ~/notes.txt", Decision::Ask),
            ("rg -g '.pgpas?' x", Decision::Deny),
            ("rg -e x -f=.env", Decision::Deny),
            ("jq -R -1 a.txt", Decision::Ask),
            ("x='5 ./evil.sh'; timeout -- $x ls", Decision::Ask),
            ("timeout -- $(echo 5 ./evil.sh) ls", Decision::Ask),
            ("echo 5 ./evil.sh | xargs timeout --", Decision::Ask),
            ("echo 1 ./evil.sh | xargs taskset --", Decision::Ask),
            ("x='1 ./evil.sh'; env -- CI=$x ls", Decision::Ask),
            ("x='T .env'; grep -- $x README.md", Decision::Deny),
            ("rg x -g=src/*.rs", Decision::Allow),
            ("rg -g '.htpass*' x", Decision::Deny),
            ("rg -g '*pgpass' x", Decision::Deny),
            ("grep -r --include='*vault-token' x .", Decision::Deny),
            ("rg -g '*token*' x", Decision::Allow),
            ("cat .pgpas*", Decision::Deny),
            ("rg -g '.github/*.yml' x", Decision::Allow),
            ("/usr/bin//ls", Decision::Allow),
            ("shuf -n 5 a.txt", Decision::Allow),
            ("shuf .env", Decision::Deny),
            ("grep -e -x a.txt", Decision::Allow),
            ("rg -n -e --flag src", Decision::Allow),
            ("git grep -e --flag", Decision::Allow),
            ("git log -S --flag", Decision::Allow),
            ("git log --grep -x", Decision::Allow),
            ("git commit -m '--flag is an option'", Decision::Allow),
            ("git commit -m '- one'", Decision::Allow),
            ("gh issue create --title '--flag fails' --body '- one'", Decision::Allow),
            ("head -n -5 a.txt", Decision::Allow),
            ("head -c -1k a.txt", Decision::Allow),
            ("date -d '-1 day'", Decision::Allow),
            ("cut -d - -f 1 a.txt", Decision::Allow),
        ],
    );
}

#[test]
fn files_that_a_contained_line_overwrites_are_kept_first() {
    for (line, overwritten) in [
        ("dd if=/dev/null of=cache/db", "cache/db"),
        ("cp -t cache src/a.rs", "cache/a.rs"),
        ("cp src/a.rs --target-directory=cache", "cache/a.rs"),
        ("mv -t cache src/a.rs", "cache/a.rs"),
        ("install -t cache src/a.rs", "cache/a.rs"),
        ("ln -f -t cache src/a.rs", "cache/a.rs"),
        ("ln -sf a.rs cache/db", "cache/db"),
        ("ln -f cache/a.rs", "a.rs"),
        ("truncate -s 0 cache/db", "cache/db"),
        ("true | tee cache/db", "cache/db"),
        ("true | sponge cache/db", "cache/db"),
        ("patch -o cache/db a.txt x.diff", "cache/db"),
        ("patch cache/db x.diff", "cache/db"),
        ("sort -o cache/db a.txt", "cache/db"),
        ("curl -o cache/db https://example.com", "cache/db"),
        ("wget -O cache/db https://example.com", "cache/db"),
        ("true > cache/db", "cache/db"),
    ] {
        let found = losses::losses(&Call::shell(line), &Context::new("/srv/repo")).overwritten;
        assert!(found.contains(&format!("/srv/repo/{overwritten}")), "{line}: {found:?}");
    }
}

#[test]
fn gh_gives_its_token_to_no_server_but_its_own() {
    for repository in
        ["git@h:o/r", "h:o/r", "ssh://h/o/r", "https://h/o/r", "h/o/r", "o/r/", "a b/r", "r"]
    {
        for line in ["gh pr list -R", "gh issue view 1 --repo"] {
            let line = format!("{line} '{repository}'");
            let found = decide(&Call::shell(&line), &confined()).decision;
            assert_eq!(found, Decision::Ask, "{line}");
        }
    }
    for repository in ["o/r", "o-x/r.git_y", "github.com/o/r", "https://github.com/o/r"] {
        let line = format!("gh pr list -R {repository}");
        assert_decisions(&Context::new("/srv/repo"), &[(&line, Decision::Allow)]);
    }
}

#[test]
fn letters_behind_an_option_without_a_value_are_options() {
    assert_decisions(
        &confined(),
        &[
            ("kubectl get -ws https://example.com pods", Decision::Ask),
            ("kubectl get -wf http://127.0.0.1/x", Decision::Ask),
            ("kubectl get -wk k", Decision::Ask),
            ("kubectl get pods -Aws https://example.com", Decision::Ask),
            ("oc describe -wf .env", Decision::Ask),
            ("gh workflow list -aR127.0.0.1:8000/o/r", Decision::Ask),
            ("gh workflow list --json name -aq env", Decision::Ask),
            ("gh workflow list -a --json name -q '.[].name'", Decision::Allow),
            ("gh issue create -t x -b y --assignee @copilot", Decision::Ask),
            ("gh issue create -t x -b y -a me,'@Cop'ilot", Decision::Ask),
            ("gh pr create -t x -b y -r copilot-swe-agent", Decision::Ask),
            ("gh issue create -t x -b 'ask @copilot' -a @me", Decision::Allow),
            ("gh issue list -a @me -s open -l bug", Decision::Allow),
            ("gh pr list -a @me -dB main", Decision::Allow),
            ("gh label list -S bug --sort name", Decision::Allow),
            ("gh project list --owner x --closed", Decision::Allow),
            ("kubectl get pods -w", Decision::Allow),
            ("kubectl get pods -Aw --watch=false -o wide", Decision::Allow),
            ("git checkout -tf origin/x", Decision::Deny),
            ("git switch -tf origin/x", Decision::Deny),
            ("git checkout -t origin/x", Decision::Allow),
            ("git checkout --track=direct origin/x", Decision::Allow),
        ],
    );
    assert_contained(&["mkdir -Zx a"]);
}

#[test]
fn a_value_that_some_version_reads_otherwise_is_contained_or_judged() {
    assert_contained(&[
        "gojq -n --rawfile=a ../x '$a'",
        "gojq -n --slurpfile=a b.json '$a'",
        "jq --arg=a b .",
        "yq q.yq README.md",
        "yq q.yq",
        "yq -P q.yq README.md",
    ]);
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("jq -n --rawfile a README.md '$a'", Decision::Allow),
            ("yq . q.yaml", Decision::Allow),
            ("lsd -t ~/.ssh", Decision::Ask),
            ("lsd -L ~/.ssh", Decision::Ask),
            ("lsd -lt /root", Decision::Ask),
            ("eza --blocksize ~/.ssh", Decision::Ask),
            ("ls -lT ~/.ssh", Decision::Ask),
            ("ls -w ~/.ssh", Decision::Ask),
            ("eza -L 2 -t modified src", Decision::Allow),
            ("du -d 1 --exclude .git src", Decision::Allow),
            ("tree -I 'node_modules|.git' -L 2", Decision::Allow),
            ("fd x -e rs -E .env src", Decision::Allow),
            ("du -d 1 --exclude .env src", Decision::Allow),
            ("tree src -I '.env|node_modules'", Decision::Allow),
            ("ls -I '*.pyc' -w 80", Decision::Allow),
        ],
    );
}
