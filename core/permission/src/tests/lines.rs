//! Lines of shells and what is decided about them.

use super::*;

pub(super) fn assert_decisions(context: &Context, lines: &[(&str, Decision)]) {
    let found = lines.iter().map(|(line, _)| (*line, decide(&Call::shell(line), context).decision));
    let (found, expected): (Vec<_>, Vec<_>) =
        found.zip(lines.iter().copied()).filter(|(found, expected)| found != expected).unzip();
    assert_eq!(found, expected);
}

pub(super) fn confined() -> Context {
    Context::new("/srv/repo").confine()
}

#[test]
fn a_secret_is_followed_from_variable_to_variable() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("echo $API_TOKEN", Decision::Ask),
            ("x=$API_TOKEN; echo $x", Decision::Ask),
            ("x=\"a${API_TOKEN%b}\"; echo b $x", Decision::Ask),
            ("y=$x; x=$API_TOKEN; echo $y", Decision::Ask),
            ("for x in \"$API_TOKEN\" b; do echo \"$x\"; done", Decision::Ask),
            ("API_TOKEN=a; echo $API_TOKEN", Decision::Allow),
            ("x=$API_TOKEN; test -n \"$x\"", Decision::Allow),
            ("x=$HOME; y=$x; echo $y", Decision::Allow),
        ],
    );
}

#[test]
fn a_push_to_a_protected_branch_asks_whatever_is_checked_out() {
    for (branch, line, decision) in [
        (Some("main"), "git push", Decision::Ask),
        (Some("main"), "git push -u origin HEAD", Decision::Ask),
        (Some("main"), "git push origin main", Decision::Ask),
        (Some("topic"), "git push origin topic:release/2", Decision::Ask),
        (None, "git push origin main", Decision::Ask),
        (Some("topic"), "git push", Decision::Allow),
        (Some("topic"), "git push -u origin HEAD", Decision::Allow),
        (Some("feature/live-search"), "git push origin feature/live-search", Decision::Allow),
    ] {
        let mut context = Context::new("/srv/repo");
        context.git_branch = branch.map(str::to_owned);
        context.confined = true;
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{branch:?} {line}");
    }
}

#[test]
fn a_task_that_loses_a_database_or_deploys_asks_also_in_a_sandbox() {
    assert_decisions(
        &confined(),
        &[
            ("rake db:drop", Decision::Ask),
            ("bundle exec rake db:reset", Decision::Ask),
            ("npm run db-wipe", Decision::Ask),
            ("npx @railway/cli up", Decision::Ask),
            ("npx @railway/cli@3 up", Decision::Ask),
            ("skaffold run", Decision::Ask),
            ("skaffold dev", Decision::Allow),
            ("npx @nestjs/cli generate x", Decision::Allow),
            ("npm run reset", Decision::Allow),
            ("rake db:setup", Decision::Allow),
        ],
    );
}

#[test]
fn git_diff_of_what_is_outside_the_checkout_is_contained() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("git diff .. .", Decision::Ask),
            ("git diff . ..", Decision::Ask),
            ("git diff -- ../x a.txt", Decision::Ask),
            ("X=..; git diff $X .", Decision::Ask),
            ("git diff /etc .", Decision::Ask),
            ("git diff HEAD..", Decision::Allow),
            ("git diff main..topic -- src/a.rs", Decision::Allow),
            ("git diff origin/main...HEAD", Decision::Allow),
            ("git diff src/../a.txt", Decision::Allow),
        ],
    );
}

#[test]
fn what_follows_a_change_of_folder_is_judged_from_every_folder_that_it_may_run_in() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            // Nothing has changed the folder, or not for certain.
            ("echo popd && perl -e 1", Decision::Ask),
            ("echo popd && cat ~/.ssh/config", Decision::Deny),
            ("pushd src; popd && perl -e 1", Decision::Ask),
            ("! popd && perl -e 1", Decision::Ask),
            ("popd", Decision::Ask),
            ("echo cd src && touch ../a", Decision::Deny),
            ("cd() { :; }; cd src && touch ../a", Decision::Ask),
            ("eval 'cd() { :; }'; cd src && touch ../a", Decision::Ask),
            ("cd src | true && touch ../a", Decision::Deny),
            ("! cd src && touch ../a", Decision::Deny),
            ("{ ! cd src; } && touch ../a", Decision::Deny),
            ("pushd -n src && touch ../a", Decision::Deny),
            ("cd src && cd /srv/repo && touch ../a", Decision::Deny),
            ("pushd src && popd && touch ../a", Decision::Ask),
            // The command has another name, or stands in another.
            ("c=cd; $c .github; echo x > workflows/ci.yml", Decision::Ask),
            ("eval 'cd .github'; echo x > workflows/ci.yml", Decision::Ask),
            ("command cd .cargo; echo x > config.toml", Decision::Ask),
            ("{cd,.cargo}; echo x > config.toml", Decision::Ask),
            ("for c in cd; do $c .cargo; done; echo x > config.toml", Decision::Ask),
            ("pushd -n .cargo; popd; echo x > config.toml", Decision::Ask),
            ("eval 'cd .cargo'; ls $PWD/..", Decision::Ask),
            // It runs again, or later.
            ("for i in 1 2; do echo x > config.toml; cd .cargo; done", Decision::Ask),
            ("for d in .github workflows; do cd $d; done; echo x > ci.yml", Decision::Ask),
            ("f() { touch ../a; }; cd src && cd /srv/repo && f", Decision::Deny),
            ("f() { cd /srv/repo; }; cd src && f && touch ../a", Decision::Ask),
            ("cd src && trap 'touch ../a' EXIT && cd /srv/repo", Decision::Ask),
            ("trap 'cd /srv/repo' DEBUG; cd src && touch ../a", Decision::Ask),
            // Lines of every day.
            ("cd src && cat ../a.txt | head -3", Decision::Allow),
            ("cd src && ls > /dev/null && touch ../a", Decision::Allow),
            ("cd -- src && touch ../a", Decision::Allow),
            ("pushd src && ls", Decision::Allow),
            ("if cd src; then ls; fi", Decision::Allow),
            ("{ cd src && ls; } 2>&1 | head", Decision::Allow),
        ],
    );
}

#[test]
fn what_another_shell_than_bash_reads_otherwise_asks() {
    assert_decisions(
        &confined(),
        &[
            ("sh -c '[[ x || touch a ]]'", Decision::Ask),
            ("dash -c \"echo \\$'a\\\\'; touch a #'\"", Decision::Ask),
            ("sh -c '((ls))'", Decision::Ask),
            ("sh -c 'touch {a,b}'", Decision::Ask),
            ("sh <<'E'\n[[ x ]]\nE", Decision::Ask),
            ("sh -c 'eval \"[[ x ]]\"'", Decision::Ask),
            ("watch '[[ x ]]'", Decision::Ask),
            ("sh -c 'bash -c \"[[ x ]]\"'", Decision::Allow),
            ("bash -c '[[ x ]] && ls'", Decision::Allow),
            ("eval '[[ x ]]'", Decision::Allow),
            ("sh -c 'if [ -f a ]; then cat a; fi'", Decision::Allow),
        ],
    );
}

#[test]
fn a_zone_or_a_language_is_a_name_and_not_a_file() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("TZ=Europe/Berlin date", Decision::Allow),
            ("LC_ALL=C.UTF-8 sort a.txt", Decision::Allow),
            ("LANG=de_DE.utf8@euro; sort a.txt", Decision::Allow),
            ("LC_ALL=zh_CN.GBK\necho x", Decision::Ask),
            ("LANG=zh_TW; echo x", Decision::Ask),
            ("LANGUAGE=de:en ls", Decision::Allow),
            ("TZ=~/.netrc date", Decision::Ask),
            ("TZ=:/etc/x date", Decision::Ask),
            ("LANGUAGE=de:../../a ls", Decision::Ask),
            ("LANG=$x ls", Decision::Ask),
        ],
    );
}

#[test]
fn what_follows_a_pattern_may_be_a_later_operand() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("rg --context-separator *.txt ~", Decision::Ask),
            ("rg *.txt ~", Decision::Ask),
            ("rg --context-separator '*.txt' ~", Decision::Allow),
            ("grep -n main src/*.rs a.txt", Decision::Allow),
        ],
    );
}

#[test]
fn whatever_is_there_is_not_read() {
    for (line, decision) in [
        ("cat *", Decision::Ask),
        ("cat src/*", Decision::Ask),
        ("for f in *; do cat \"$f\"; done", Decision::Ask),
        ("for f in src/*; do head -3 $f; done", Decision::Ask),
        ("for f in *.rs; do cat \"$f\"; done", Decision::Ask),
        ("for f in *; do echo \"$f\"; done", Decision::Ask),
        ("ls *", Decision::Allow),
        ("wc -l src/*", Decision::Allow),
        ("find .. -name x", Decision::Ask),
        ("find / -name x", Decision::Ask),
        ("ls ..", Decision::Ask),
        ("grep -r x ..", Decision::Ask),
        ("find . -name x", Decision::Allow),
        ("rg --hidden x", Decision::Ask),
        ("rg -. x", Decision::Ask),
        ("rg -uu x", Decision::Ask),
        ("rg -u -u x", Decision::Ask),
        ("rg -u x", Decision::Allow),
    ] {
        let mut context = Context::new("/srv/repo");
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
        context.confined = true;
        assert_eq!(decide(&Call::shell(line), &context).decision, Decision::Allow, "{line}");
    }
}

#[test]
fn lines_of_every_day_run_confined_and_what_they_resemble_asks() {
    assert_decisions(
        &confined(),
        &[
            ("dotnet build -c Release", Decision::Allow),
            ("swift test -c release", Decision::Allow),
            ("xcodebuild -scheme App -configuration Release build", Decision::Allow),
            ("docker build --target production -t app .", Decision::Allow),
            ("dotnet publish -c Release -p:PublishProfile=x", Decision::Ask),
            ("npx tool -c deploy", Decision::Ask),
            ("npx tool --mode x release", Decision::Ask),
            ("npx jest --coverage --runInBand -t 'parses dates'", Decision::Allow),
            ("npx vitest --run src/a.test.ts", Decision::Allow),
            ("apt list --installed", Decision::Allow),
            ("apt install jq", Decision::Ask),
            ("git rebase main", Decision::Allow),
            ("git rebase -i HEAD~3", Decision::Allow),
            ("git rebase -x ./evil main", Decision::Ask),
            ("git rebase --onto main a b", Decision::Ask),
        ],
    );
}

#[test]
fn what_reads_more_than_it_names_is_contained_or_asked_about() {
    let lines = ["diff -r . src", "diff -N . src", "diff src/ lib", "diff --from-file . a"];
    for line in lines {
        let decided = |context: &Context| decide(&Call::shell(line), context).decision;
        assert_eq!(decided(&Context::new("/srv/repo")), Decision::Ask, "{line}");
        assert_eq!(decided(&confined()), Decision::Allow, "{line}");
    }
    let context = Context::new("/srv/repo");
    assert_decisions(
        &context,
        &[
            ("diff -u a.txt src/b.txt", Decision::Allow),
            ("tar czf x.tgz a.txt Makefile", Decision::Allow),
            ("tar czf x.tgz .", Decision::Ask),
            ("tar cf x.tar src", Decision::Allow),
            ("tar -czvf x.tgz ../beside", Decision::Ask),
            ("tar cf x.tar /usr/share/doc", Decision::Ask),
            ("tree --fromfile list", Decision::Ask),
            ("awk 1 /inet/tcp/0/localhost/80", Decision::Ask),
        ],
    );
}

#[test]
fn a_line_that_switches_to_another_branch_asks_before_it_pushes() {
    let mut context = Context::new("/srv/repo");
    context.git_branch = Some("topic".to_owned());
    let lines = [
        "git rebase origin main && git push",
        "git stash branch production && git push -u origin HEAD",
        "git push origin HEAD:env/production",
    ];
    assert_decisions(&context, &lines.map(|line| (line, Decision::Ask)));
    assert_decisions(&context, &[("git rebase origin/main && git push", Decision::Allow)]);
    // During a rebase no branch is checked out.
    context.git_branch = None;
    let line = "GIT_EDITOR=true git rebase --continue && git push";
    assert_decisions(&context, &[(line, Decision::Ask)]);
}

#[test]
fn what_the_shell_writes_or_evaluates_itself_is_not_known() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("_=README.md; : .env; cat $_", Decision::Ask),
            ("REPLY=README.md; read -r <list; cat $REPLY", Decision::Ask),
            ("MAPFILE=README.md; mapfile -t <list; cat $MAPFILE", Decision::Ask),
            ("OPTARG=README.md; set -- -a.env; getopts a: o; cat $OPTARG", Decision::Ask),
            ("x=README.md; y=x; read $y <list; cat $x", Decision::Ask),
            ("x=README.md; y=x=; declare $y.env; cat $x", Decision::Ask),
            ("x=README.md; y=.env; local x=$y; cat $x", Decision::Ask),
            ("r=read; x=README.md; $r x <list; cat $x", Decision::Ask),
            ("r='read x'; x=README.md; $r <list; cat $x", Decision::Ask),
            ("r=read; x=README.md; command $r x <list; cat $x", Decision::Ask),
            ("x=README.md; {read,x} <list; cat $x", Decision::Ask),
            ("for r in read; do $r x <list; done; x=README.md; cat $x", Decision::Ask),
            ("x=README.md; read -rax <list; cat $x", Decision::Ask),
            ("x=README.md; read -ra x <list; cat $x", Decision::Ask),
            ("x=README.md; read -r y <list; cat $x", Decision::Allow),
            ("e=eval; x=README.md; $e x=.env; cat $x", Decision::Ask),
            ("l=ls; x=README.md; $l src; cat $x", Decision::Allow),
            ("x=README.md; printf '%s\\n' \"$x\"; cat $x", Decision::Allow),
            ("for RANDOM in 'a[$(touch pwn)]'; do :; done", Decision::Ask),
            ("for RANDOM in a; do :; done", Decision::Ask),
            ("set -- 'a[$(touch pwn)]'; RANDOM=$1", Decision::Ask),
            ("set -- 'a[$(touch pwn)]'; OPTIND=$1", Decision::Ask),
            ("LINENO='a[1]'", Decision::Ask),
            ("read SECONDS <<< 'a[$(touch pwn)]'", Decision::Ask),
            ("COLUMNS=$x ls", Decision::Ask),
            ("SECONDS=0; ls; OPTIND=1", Decision::Allow),
            ("COLUMNS=200 ls", Decision::Allow),
        ],
    );
}

#[test]
fn what_the_shell_looks_up_and_how_it_splits_is_not_changed() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("unset PATH; ls", Decision::Ask),
            ("unset -v PATH && ls", Decision::Ask),
            ("unset GIT_CONFIG_GLOBAL; git commit -m x", Decision::Ask),
            ("env -u HOME git commit -m x", Decision::Ask),
            ("exec -c git commit -m x", Decision::Ask),
            ("gh pr list -R git@example.org:o/r", Decision::Ask),
            ("git config branch.main.remote", Decision::Ask),
            ("git for-each-ref --format='%(upstream:remotename)'", Decision::Ask),
            ("git for-each-ref --format='%(upstream:short)'", Decision::Allow),
            ("echo x > /srv/REPO/a.txt", Decision::Deny),
            ("echo x > /srv/REPO/.git/config", Decision::Deny),
            ("env --unset=XDG_CONFIG_HOME git commit -m x", Decision::Ask),
            ("env -i git commit -m x", Decision::Ask),
            ("git show main\"$(echo :.env)\"", Decision::Ask),
            ("git show HEAD~$n", Decision::Ask),
            ("env -u CI cat a.txt", Decision::Allow),
            ("f() { local PATH; ls; }; f", Decision::Ask),
            ("exec {PATH}<README.md; ls", Decision::Ask),
            (": {PATH}<README.md; ls", Decision::Ask),
            ("exec {x}<README.md; cat ../$x", Decision::Ask),
            ("unset CARGO_HOME x; ls", Decision::Allow),
            ("RIPGREP_CONFIG_PATH=./rc; export RIPGREP_CONFIG_PATH; rg a b", Decision::Ask),
            ("RUSTFMT=./evil; declare -x RUSTFMT; ls", Decision::Ask),
            ("CI=1; export CI; ls", Decision::Allow),
            ("declare -x", Decision::Ask),
            ("typeset -x | head", Decision::Ask),
            ("declare IFS=,; x=aa,b; cat $x", Decision::Ask),
            ("declare -r IFS=,", Decision::Ask),
            ("export IFS=:; x=aa:.env:b; cat $x", Decision::Ask),
            ("POSIXLY_CORRECT=1; IFS=: :; x=aa:.env:b; cat $x", Decision::Ask),
            ("sh -c 'IFS=: :; x=aa:b; cat $x'", Decision::Ask),
            ("GLOBIGNORE=x; cat ?env", Decision::Ask),
            ("IFS=: read -ra parts < f", Decision::Allow),
            ("for f in x*/pwn; do sort $f; done", Decision::Ask),
            ("for f in x*; do cat $f; done", Decision::Ask),
            ("for d in y*; do find $d -name a; done", Decision::Ask),
        ],
    );
}

#[test]
fn a_secret_is_not_printed_by_the_shell_or_from_a_redirection() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("a=(\"$API_TOKEN\" x); echo \"${a[0]}\"", Decision::Ask),
            ("{ cat; } <<< \"$API_TOKEN\"", Decision::Ask),
            ("while read -r l; do echo \"$l\"; done <<< \"$API_TOKEN\"", Decision::Ask),
            ("cat <<< \"$API_TOKEN\" 3<<<x", Decision::Ask),
            ("cat 3<<< \"$API_TOKEN\" <&3", Decision::Ask),
            ("[ \"$API_TOKEN\" -eq 0 ]", Decision::Ask),
            ("test a $API_TOKEN", Decision::Ask),
            (": \"${NOPE?$API_TOKEN}\"", Decision::Ask),
            ("eval 'x=$API_TOKEN'; echo \"$x\"", Decision::Ask),
            ("x=$API_TOKEN; eval 'echo \"$x\"'", Decision::Ask),
            ("trap 'echo \"$x\"' EXIT; x=$API_TOKEN", Decision::Ask),
            ("CI=\"$API_TOKEN\" sh -c 'echo $CI'", Decision::Ask),
            ("GIT_AUTHOR_NAME=\"$API_TOKEN\" git commit -m x", Decision::Ask),
            ("PS3=$API_TOKEN; select x in a; do :; done", Decision::Ask),
            ("select x in \"$API_TOKEN\"; do :; done", Decision::Ask),
            ("GIT_AUTHOR_NAME=$API_TOKEN; git commit -m x", Decision::Ask),
            ("x=$API_TOKEN; bash -c ls", Decision::Allow),
            ("x=$HOME; eval 'echo \"$x\"'", Decision::Allow),
            (": \"a${NOPE?$API_TOKEN}\"", Decision::Ask),
            ("x=$API_TOKEN; : \"${NOPE?$x}\"", Decision::Ask),
            ("x=\"a${NOPE?$API_TOKEN}\"", Decision::Ask),
            ("for TOKEN in a b; do :; done; echo $TOKEN", Decision::Ask),
            ("for TOKEN in \"$API_TOKEN\"; do echo $TOKEN; done", Decision::Ask),
            ("x=$API_TOKEN; echo ${a:-${b:-$c$x}}", Decision::Ask),
            (": \"a${x:=$API_TOKEN}\"; echo \"$x\"", Decision::Ask),
            ("shopt -s failglob; : a$API_TOKEN*", Decision::Ask),
            ("set -x; : \"$API_TOKEN\"", Decision::Ask),
            ("set -o xtrace; x=$API_TOKEN", Decision::Ask),
            ("bash -xc ': \"$API_TOKEN\"'", Decision::Ask),
            ("set -x; x=$API_TOKEN; [ -n \"$x\" ]", Decision::Ask),
            ("set -eux; git --version", Decision::Allow),
            ("[ -n \"$API_TOKEN\" ] && echo yes", Decision::Allow),
            ("[ \"$API_TOKEN\" = x ]", Decision::Allow),
            ("printf '%s' API_TOKEN; echo $API_TOKEN", Decision::Ask),
            ("export API_TOKEN; echo $API_TOKEN", Decision::Ask),
            ("API_TOKEN=a true; echo $API_TOKEN", Decision::Ask),
            ("(API_TOKEN=a); echo $API_TOKEN", Decision::Ask),
            ("echo $API_TOKEN; API_TOKEN=a", Decision::Ask),
            (": ${API_TOKEN:=x}; echo $API_TOKEN", Decision::Ask),
        ],
    );
}

#[test]
fn what_a_program_runs_is_the_line_that_it_gets() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("bash <<< ls", Decision::Ask),
            ("bash 0<<< ls", Decision::Ask),
            ("bash <<'E' 2>&1\nls\nE", Decision::Ask),
            ("bash <<< ls < evil.sh", Decision::Ask),
            ("bash <<< ls 0< evil.sh", Decision::Ask),
            ("bash <<'E' < evil.sh\nls\nE", Decision::Ask),
            ("cat evil.sh | bash 3<<'E'\nls\nE", Decision::Ask),
            ("cat evil.sh | bash {x}<<< ls", Decision::Ask),
            ("bash 3<<< ls <&3", Decision::Ask),
            ("timeout i* cat pre-commit ../.git/hooks/", Decision::Ask),
            ("nice -n i* cat a b", Decision::Ask),
            ("env -u i* cat a b", Decision::Ask),
            ("ls | xargs -n i* cat", Decision::Ask),
            ("watch -n i* cat a b", Decision::Ask),
            ("git -C s* status", Decision::Ask),
            ("timeout 5 cat src/*.rs", Decision::Allow),
            ("pytest --help", Decision::Ask),
            ("flask --version", Decision::Ask),
            ("cargo test --help", Decision::Ask),
            ("tsc --version", Decision::Ask),
            ("jq -n '$ ENV'", Decision::Ask),
            ("jq -n '$\n__prog_args'", Decision::Ask),
            ("jq -n '$ENV.HOME'", Decision::Ask),
            ("jq -n 'env'", Decision::Ask),
            ("jq '..env' a.json", Decision::Ask),
            ("jq '.env' a.json", Decision::Allow),
            ("jq '.a.env[0].ENV?' a.json", Decision::Allow),
            ("jq --arg env x '.[$env]' a.json", Decision::Allow),
            ("yq '.a | env(HOME)' a.yaml", Decision::Ask),
        ],
    );
}

#[test]
fn a_pattern_of_a_program_may_name_a_secret() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("rg -g '.e\\nv' x", Decision::Deny),
            ("grep -r --include='.e\\nv' x .", Decision::Deny),
            ("grep -r --include='.en[[:alpha:]]' x .", Decision::Deny),
            ("find . -name '.en[[:alpha:]]' -exec cat {} +", Decision::Ask),
            ("find . -name '.e\\nv' -exec cat {} +", Decision::Ask),
            ("cat < .en[[:alpha:]]", Decision::Deny),
            ("cat /var/run/..$HOME/.ss[[:alpha:]]/config", Decision::Deny),
            ("rg -g '[!/]env' x", Decision::Deny),
            ("grep -r --include='[!/]env' x .", Decision::Deny),
            ("find . -path '*[!/]env' -exec cat {} +", Decision::Ask),
            ("rg -g 'prod[.]pem' x", Decision::Deny),
            ("find . -name 'prod?tfvars' -exec cat {} +", Decision::Ask),
            ("cat *[.]tfvars", Decision::Deny),
            ("rg -g '*.[ch]' x", Decision::Allow),
            ("find . -name '[A-Z]*.rs' -exec cat {} +", Decision::Allow),
            ("ls -d */", Decision::Allow),
            ("ls -d src/*/", Decision::Allow),
            ("diff <(sort a) <(sort b)", Decision::Allow),
            ("diff src docs", Decision::Ask),
            ("diff a/src b/src", Decision::Ask),
            ("diff \"$x\" docs", Decision::Ask),
            ("diff src/a.rs docs/a.rs", Decision::Allow),
            ("diff src a.rs", Decision::Allow),
            ("diff Makefile a/Makefile", Decision::Allow),
            ("diff <(sort a) -", Decision::Allow),
            ("cat .en[x\"]\"v]", Decision::Deny),
            ("cat .en[x\\]v]", Decision::Deny),
            ("x='x]v'; cat .en[\"$x\"]", Decision::Deny),
            ("x='v]'; cat .en[$x", Decision::Ask),
            ("cat a[b\"]\"", Decision::Allow),
            ("sort a -o /dev/stdout", Decision::Allow),
        ],
    );
}

#[test]
fn an_option_takes_the_next_word_where_the_value_behind_it_is_empty() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("env -u\"$1\" cat sh evil.sh", Decision::Ask),
            ("env -u$1 cat a", Decision::Ask),
            ("env -u* cat sh evil.sh", Decision::Ask),
            ("exec -a\"$1\" cat sh evil.sh", Decision::Ask),
            ("exec -a* cat sh evil.sh", Decision::Ask),
            ("nice -n\"$1\" cat sh evil.sh", Decision::Ask),
            ("nice \"-$1\" cat sh evil.sh", Decision::Ask),
            ("timeout -k\"$1\" 5 cat 1 sh evil.sh", Decision::Ask),
            ("ls | xargs -I\"$1\" cat sh cat", Decision::Ask),
            ("ls | xargs -I \"$1\" cat sh cat", Decision::Ask),
            ("ls | xargs -I* cat sh cat", Decision::Ask),
            ("awk -F\"$1\" -v -f evil.awk README.md", Decision::Ask),
            ("awk -F* -v -f evil.awk README.md", Decision::Ask),
            ("git grep -e\"$1\" -e -Osh", Decision::Ask),
            ("git log -S\"$1\" -S --output=../h/x", Decision::Ask),
            ("git commit -m\"$1\" -m -n", Decision::Ask),
            ("paste -d\"$1\" -d .env", Decision::Ask),
            ("grep -v -e\"$1\" -e .env", Decision::Ask),
            ("rg -e\"$1$2\" -e .env", Decision::Ask),
            ("git commit -m \"$1\" a.rs", Decision::Allow),
            ("git commit -m\"fix: $1\" a.rs", Decision::Allow),
            ("git commit -am\"$1\"", Decision::Allow),
            ("grep -e\"$1.rs\" a.txt", Decision::Allow),
            ("grep --regexp=\"$1\" a.txt", Decision::Allow),
            ("env -uX cat a", Decision::Allow),
            ("ls | xargs -I% cat src/a.rs", Decision::Allow),
            ("x=b; grep -e\"$x\" a.txt", Decision::Allow),
        ],
    );
}

#[test]
fn what_find_finds_may_be_counted() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("find src -type f -exec wc -l {} +", Decision::Allow),
            ("find . -type f -exec stat {} \\;", Decision::Allow),
            ("find src -type f -exec wc --files0-from={} \\;", Decision::Ask),
            ("find src -type f -exec wc --files0-from {} \\;", Decision::Ask),
            ("find src -type f -exec cat {} +", Decision::Ask),
            ("find src -type f -exec git log {} +", Decision::Ask),
            ("find \"$x\" -type f -exec wc -l {} +", Decision::Ask),
            ("find ~/.ssh -type f -exec wc -l {} +", Decision::Ask),
        ],
    );
}

#[test]
fn a_link_is_removed_and_not_what_it_leads_to() {
    use crate::paths::Link;
    let mut context = Context { confined: true, ..Context::new("/srv/repo") };
    let links = [("l", "/etc/hosts"), ("out", "/etc"), ("out/hosts", "/etc/hosts")];
    context.places.links =
        links.map(|(at, to)| (format!("/srv/repo/{at}"), Link::To(to.to_owned()))).into();
    context.places.links.insert("/srv/repo/gone".to_owned(), Link::Dangling);
    for (line, decision) in [
        ("rm l", Decision::Allow),
        ("rm gone", Decision::Allow),
        ("mv l a", Decision::Allow),
        ("rm l/", Decision::Deny),
        ("rm out/hosts", Decision::Deny),
        ("mv out/hosts a", Decision::Deny),
        ("cp a l", Decision::Deny),
        ("echo x > l", Decision::Deny),
    ] {
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
    }
}
