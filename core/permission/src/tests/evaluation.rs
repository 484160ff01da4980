//! Lines in which the shell evaluates, writes or repeats more than their words show.

use super::lines::{assert_decisions, confined};
use super::*;

#[test]
fn what_the_shell_reads_as_a_subscript_or_writes_itself_is_not_taken_for_text() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("declare -A a; a[\"]=\"]=x; sh evil.sh; b=\" # \"", Decision::Ask),
            ("set -- 'y[$(touch pwn)]'; a=([$1]=1)", Decision::Ask),
            ("set -- 'y[$(touch pwn)]'; echo {a[$1]}<README.md", Decision::Ask),
            ("echo {PATH[0]}<README.md; ls", Decision::Ask),
            ("PATH() { :; }; coproc PATH [[ x ]]; ls", Decision::Ask),
            ("echo \"${CDPATH[0]:=..}\"; cd tmp && touch pwn", Decision::Ask),
            ("x=; echo \"${x[0]:=../../}\"; touch \"${x}pwn\"", Decision::Ask),
            ("x=; echo \"${x[0]=../../}\"; touch \"${x}pwn\"", Decision::Ask),
            ("a=(1 2); a[0]=3; echo \"${a[0]}\" \"${a[1]:-3=4}\"", Decision::Allow),
            ("FUNCNAME=README.md; .env() { cat $FUNCNAME; }; .env", Decision::Ask),
            ("BASH_COMMAND=README.md; cat $BASH_COMMAND", Decision::Ask),
            ("PIPESTATUS=README.md; cat $PIPESTATUS", Decision::Ask),
            ("GROUPS=README.md; cat $GROUPS", Decision::Ask),
            ("COMP_LINE=README.md; cat $COMP_LINE", Decision::Ask),
            ("COPROC_PID=README.md; cat $COPROC_PID", Decision::Ask),
            ("COMPONENT=README.md; cat $COMPONENT", Decision::Allow),
        ],
    );
}

#[test]
fn xargs_that_counts_words_appends_them_although_it_has_a_mark() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("ls | xargs -I{} find y", Decision::Allow),
            ("ls | xargs -I{} -n9 find y", Decision::Ask),
            ("ls | xargs -I{} -L2 find y", Decision::Ask),
            ("ls | xargs -I{} -0n 9 find y", Decision::Ask),
            ("ls | xargs -I{} --max-args 9 find y", Decision::Ask),
            ("ls | xargs -I{} --max-lines=2 find y", Decision::Ask),
            ("ls | xargs -I{} -l find y", Decision::Ask),
            ("ls | xargs -I{} -P4 wc -l src/a.rs", Decision::Allow),
        ],
    );
}

#[test]
fn popd_that_runs_again_leads_to_what_pushd_behind_it_keeps() {
    let line = "pushd src; for i in 1 2; do cd /srv/repo/src && popd && echo x > workflows/ci.yml; \
                cd /srv/repo/.github && pushd /srv/repo/src; done";
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            (line, Decision::Ask),
            (
                "pushd src; f() { popd; echo x > workflows/ci.yml; }; pushd .github; pushd /srv/repo/src; f",
                Decision::Ask,
            ),
        ],
    );
}

#[test]
fn what_bash_reads_by_a_file_or_a_written_variable_is_not_known() {
    let context = Context::new("/srv/repo");
    for line in [
        "echo ${}\nperl z.pl\n}",
        "PWD=~/.ssh; cat ~+/config",
        "PWD=..; touch ~+/f",
        "TEXTDOMAIN=x; TEXTDOMAINDIR=q\necho $\"hi\"",
        "pnpm list",
        "pnpm --version",
        "poetry --help",
        "git ls-remote --get-url",
        "echo x > .poetry/plugins/e.pth",
    ] {
        assert_ne!(decide(&Call::shell(line), &context).decision, Decision::Allow, "{line}");
    }
    assert_eq!(decide(&Call::shell("npm ls"), &context).decision, Decision::Allow);
}

#[test]
fn loops_functions_and_tests_run_in_the_sandbox_only() {
    for line in [
        "frob() { ls; }; frob a | head",
        "frob() { ls; }; eval 'frob a'; trap frob EXIT",
        "bash -c 'frob() { ls; }; frob'",
        "ls() { command ls -la \"$@\"; }; ls",
        "for f in src/*.rs; do wc -l \"$f\"; done",
        "while read -r x; do echo \"$x\"; done < a; cd src; ls",
        "case x in x) ls;; esac",
        "echo $([[ -f a ]] && ls)",
        "(( 1 + 2 ))",
    ] {
        let of = |context: &Context| decide(&Call::shell(line), context).decision;
        assert_eq!(of(&Context::new("/srv/repo")), Decision::Ask, "{line}");
        assert_eq!(of(&confined()), Decision::Allow, "{line}");
    }
    assert_decisions(
        &confined(),
        &[
            ("[[ x == @( #) ]] || frob\n]]", Decision::Ask),
            ("for x# in a; do :; done; frob\ndo :; done", Decision::Ask),
            ("false && echo $((1+\"\\\"))\" + 2)); frob #\"", Decision::Ask),
            ("ls() { command ls | ls; }; ls", Decision::Deny),
            ("ls() { ls | command ls; }; ls", Decision::Deny),
            ("ls() { command eval ls; }; ls", Decision::Deny),
        ],
    );
}

#[test]
fn patterns_may_match_the_endings_of_key_material() {
    for line in
        ["cat vault.kdb?", "cat prod.p1?", "cat a.tfstat?", "cat a.kdb*", "rg -g '*.kdb?' x"]
    {
        assert_ne!(decide(&Call::shell(line), &confined()).decision, Decision::Allow, "{line}");
    }
    for line in
        ["cat src/*.py", "cat README*", "cat src/a.js*", "rg -g '*.ts*' x", "cat docs/*.t?t"]
    {
        assert_eq!(
            decide(&Call::shell(line), &Context::new("/srv/repo")).decision,
            Decision::Allow,
            "{line}"
        );
    }
}

#[test]
fn braces_are_lists_of_words_or_not_understood() {
    assert_decisions(
        &Context::new("/srv/repo"),
        &[
            ("cat src/{a,b{c,d}}.rs", Decision::Allow),
            ("git show HEAD@{1}", Decision::Allow),
            ("find . -name x -exec wc {} +", Decision::Allow),
            ("cat {x},.env}", Decision::Ask),
            ("touch {x},../y}", Decision::Ask),
            ("awk -F {,} -F 'BEGIN{system(\"ls\")}'", Decision::Ask),
            ("cat {1'..'2}", Decision::Ask),
            ("cat {01..02}", Decision::Ask),
            ("declare -a CI='([b]=1)'", Decision::Ask),
            ("declare -a CI=\"$x\"", Decision::Ask),
            ("readonly CI='(x)'", Decision::Ask),
        ],
    );
}

#[test]
fn nothing_is_removed_unasked_in_a_folder_that_is_not_known() {
    for line in [
        "cd \"$x\" && rm a",
        "popd; rm a",
        "for i in 1 2; do rm a; cd src; done",
        "cd \"$x\" && echo b > a",
        "trap 'rm a' EXIT; cd src",
        "f() { rm a; }; cd src; f",
    ] {
        let mut context = confined();
        context.places.kept = ["/srv/repo/a", "/srv/repo/src/a"].map(str::to_owned).into();
        assert_eq!(decide(&Call::shell(line), &context).decision, Decision::Ask, "{line}");
        let known =
            line.replace("\"$x\"", "src").replace("popd", "cd src").replace("cd src; done", "done");
        if known != line {
            assert_eq!(decide(&Call::shell(&known), &context).decision, Decision::Allow, "{known}");
        }
    }
}

#[test]
fn a_variable_that_the_shell_is_given_reaches_programs() {
    let mut context = Context::new("/srv/repo");
    for (line, decision) in [
        ("RIPGREP_CONFIG_PATH=./rc; rg x README.md", Decision::Allow),
        ("read -r RIPGREP_CONFIG_PATH <<< rc; rg x README.md", Decision::Allow),
    ] {
        assert_eq!(decide(&Call::shell(line), &context).decision, decision, "{line}");
    }
    context.exported.insert("RIPGREP_CONFIG_PATH".to_owned());
    for line in [
        "RIPGREP_CONFIG_PATH=./rc; rg x README.md",
        "read -r RIPGREP_CONFIG_PATH <<< rc; rg x README.md",
    ] {
        assert_ne!(decide(&Call::shell(line), &context).decision, Decision::Allow, "{line}");
    }
    assert_eq!(decide(&Call::shell("x=1; echo $x"), &context).decision, Decision::Allow);
}

#[test]
fn a_variable_that_holds_a_secret_is_one_whatever_its_name_says() {
    let mut context = Context::new("/srv/repo");
    let shown = [
        "echo $CONNECTION_STRING",
        "printf %s \"${CONNECTION_STRING#x}\" > f.txt",
        "git commit -m \"$CONNECTION_STRING\"",
        "x=$CONNECTION_STRING; echo $x",
    ];
    for line in shown {
        assert_eq!(decide(&Call::shell(line), &context).decision, Decision::Allow, "{line}");
    }
    context.secret_variables.insert("CONNECTION_STRING".to_owned());
    for line in shown {
        let ruling = decide(&Call::shell(line), &context);
        assert_eq!((ruling.decision, ruling.rule), (Decision::Ask, Rule::SecretVariable), "{line}");
    }
    for line in [
        "echo $HOST",
        "test -n \"$CONNECTION_STRING\"",
        "CONNECTION_STRING=x; echo $CONNECTION_STRING",
    ] {
        assert_eq!(decide(&Call::shell(line), &context).decision, Decision::Allow, "{line}");
    }
}

#[test]
fn help_of_programs_that_load_the_project_and_formatters_are_contained() {
    for line in [
        "cargo xtask --help",
        "flake8 --version",
        "prettier --version",
        "poetry run --help",
        "yarn test --help",
        "cargo fmt --check",
        "rustfmt --check src/main.rs",
        "ruff check",
        "cargo tree --offline",
        "pip list",
        "git diff --submodule=diff HEAD~1",
    ] {
        let of = |context: &Context| decide(&Call::shell(line), context).decision;
        assert_eq!(of(&Context::new("/srv/repo")), Decision::Ask, "{line}");
        assert_eq!(of(&confined()), Decision::Allow, "{line}");
    }
    let mut context = confined();
    context.places.asks_git = true;
    let clean = Call::shell("cargo clean");
    assert_eq!(decide(&clean, &context).decision, Decision::Ask);
    context.places.unchanged.insert("/srv/repo/target/".to_owned());
    assert_eq!(decide(&clean, &context).decision, Decision::Allow);
}
