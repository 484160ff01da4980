//! Ways in which a line runs something that does not stand there as a command: builtins that evaluate
//! or take commands, variables that name code, scripts that are written first. Whatever bash runs, the line
//! is not allowed, in whatever it is wrapped.

use std::path::Path;

use onloop_core::permission::{Call, Context, Decision, decide};

use super::{Lines, Playground};
use crate::rounds::sampled;

/// `PROG` stands for the name of a program. Each of these must really run it.
const WAYS: &[&str] = &[
    // Builtins that run or evaluate.
    "jobs -x PROG",
    "command PROG",
    "command -p -- env PROG",
    "builtin eval PROG",
    "builtin command eval 'PROG'",
    "eval PROG",
    "eval 'e'al\\ PROG || PROG",
    "exec PROG",
    "exec -a x PROG",
    "exec -c -a x env PATH=$PATH LOG=$LOG PROG",
    "coproc PROG; wait",
    "coproc x { PROG; }; wait",
    "trap PROG EXIT",
    "trap -- 'PROG' DEBUG; :",
    "trap 'PROG' ERR; false",
    "trap 'PROG' RETURN; . /dev/null",
    "set -x; PS4='$(PROG)'; :",
    "PS4='`PROG`'; set -x; echo",
    "x='$(PROG)'; echo \"${x@P}\"",
    "x='a[$(PROG)]'; echo $((x))",
    "x='a[$(PROG)]'; ((x))",
    "x='a[$(PROG)]'; [[ x -eq 1 ]]",
    "x='a[$(PROG)]'; let x",
    "x='a[$(PROG)]'; y=$x; : $((y + 1))",
    "x='a[$(PROG)]'; declare -i y; y=x",
    "declare -i y='a[$(PROG)]'",
    "declare 'a[$(PROG)]=1'",
    "read 'a[$(PROG)]' <<< 1",
    "read -a 'b' <<< 1; [[ 1 -eq 'a[$(PROG)]' ]]",
    "printf -v 'a[$(PROG)]' x",
    "printf '%d' 1 -v; printf -v 'a[`PROG`]' %s x",
    "test -v 'a[$(PROG)]'",
    "[ -v 'a[$(PROG)]' ]",
    "a=(1); unset -v 'a[$(PROG)]'",
    "sleep 0 & wait -n -p 'a[$(PROG)]'",
    "mapfile -C PROG -c 1 <<< x",
    "readarray -c1 -C'PROG y' z <<< x",
    "compgen -C PROG x",
    "compgen -W '$(PROG)'",
    "compgen -F f x; f() { PROG; }; compgen -F f x",
    "enable -n echo; echo() { PROG; }; echo",
    "alias ls=PROG; shopt -s expand_aliases\nls",
    "shopt -s expand_aliases; alias x='PROG '\nx",
    "hash -p $(command -v PROG) ls; ls",
    "set -- PROG; \"$@\"",
    "set -- x PROG; shift; $1",
    "local x 2> /dev/null; f() { local 'a[$(PROG)]=1'; }; f",
    "f() { declare -n r='a[$(PROG)]'; r=1; }; f",
    "declare -n r='a[$(PROG)]'; echo $r",
    "a=(x); echo ${a[$(PROG)]}",
    "x=abc; echo ${x:$(PROG; echo 0)}",
    "x=abc; i='a[$(PROG)]'; echo ${x:i}",
    "echo ${!x*}; x=y; y='a[$(PROG)]'; echo $((${!x}))",
    "x=( [$(PROG; echo 1)]=2 )",
    "for ((i=0; i < 1; i += $(PROG; echo 1))); do :; done",
    "select x in a; do PROG; break; done <<< 1",
    "case x in $(PROG; echo x)) :;; esac",
    "time -p PROG",
    "! PROG",
    // Variables that name code.
    "BASH_ENV=s bash -c :",
    "export BASH_ENV=s; bash -c :",
    "declare -x BASH_ENV=s; bash -c :",
    "ENV=s bash --posix -i -c : 2>&1",
    "env BASH_ENV=s bash -c :",
    "PROMPT_COMMAND=PROG bash --norc -i <<< : 2>&1",
    "BASH_FUNC_ls%%='() { PROG; }' bash -c ls; env 'BASH_FUNC_ls%%=() { PROG; }' bash -c ls",
    "env -S 'PROG x'",
    "env --split-string='-u X PROG'",
    "env -i LOG=$LOG PATH=$PATH PROG",
    // Files that are written and run.
    "echo PROG > w; bash w",
    "echo PROG > w; . ./w",
    "echo PROG > w && source w",
    "echo PROG | tee w > /dev/null; bash < w",
    "printf 'PROG\\n' > w; bash w",
    "cat > w <<E\nPROG\nE\nbash w",
    "cp s w && bash w",
    "ln -s s w; bash ./w",
    "mv s w; bash w",
    "bash s",
    "bash ./s",
    "bash < s",
    "cat s | bash",
    "bash <(cat s)",
    ". <(echo PROG)",
    "source /dev/stdin <<< PROG",
    "bash <<< PROG",
    "bash -s <<< 'PROG'",
    "bash -c \"$(cat s)\"",
    "bash -c 'eval \"$1\"' x PROG",
    "bash -c '\"$@\"' x PROG",
    "bash -c '$0' PROG",
    "bash --rcfile s -i <<< : 2>&1",
    "bash --init-file s -i -c : 2>&1",
    // Wrappers.
    "xargs PROG < /dev/null",
    "echo PROG | xargs env",
    "echo x | xargs -I{} PROG {}",
    "echo x | xargs -I PROG PROG x",
    "echo x | xargs -a /dev/null PROG",
    "find . -maxdepth 0 -exec PROG {} +",
    "find . -maxdepth 0 -exec env PROG ';'",
    "find . -maxdepth 0 -execdir PROG ';' 2> /dev/null; find . -maxdepth 0 -exec PROG {} \\;",
    "nice PROG",
    "nice -n 1 PROG",
    "nohup PROG",
    "timeout 5 PROG",
    "timeout -k 1 5 PROG",
    "setsid -w PROG",
    "stdbuf -o0 PROG",
    "env nice timeout 5 PROG",
    "sed '1e PROG' s",
    "sed -n 's/.*/PROG/e' s",
    "sed -e 1{e -e PROG -e } s; sed '1ePROG' s",
    "sed 's,a\\,b,c,;1e PROG' s",
    "awk 'BEGIN { system(\"PROG\") }'",
    "awk 'BEGIN { print | \"PROG\" }'",
    "awk 'BEGIN { \"PROG\" | getline }'",
    "awk 'BEGIN { y = 4 / 2; system(\"PROG\"); z = 1 / 1 }'",
    "awk '! /\"/ { system(\"PROG\") } # \"' s",
    "sort --compress-program=PROG -S 1b s s s > /dev/null; PROG",
    "tar cf /dev/null --checkpoint=1 --checkpoint-action=exec=PROG s",
    "tar cf x.tar -I PROG s",
    "tar cf x.tar s; tar xf x.tar --to-command=PROG",
    "git -c alias.x='!PROG' x",
    "git -c core.pager=PROG -p version; git -c alias.y=!PROG y",
    "git grep --no-index -OPROG p",
    "git grep --no-index --open-files-in-pager=PROG p",
    "GIT_PAGER=PROG git -p version; GIT_EXTERNAL_DIFF=PROG git diff --no-index s t",
    "git diff --no-index --ext-diff s t; git -c diff.external=PROG diff --no-index s t",
    // A name that is put together.
    "x=PROG; $x",
    "x=PROG y=x; ${!y}",
    "$(echo PROG)",
    "\"$(printf %s PROG)\"",
    "`echo PROG`",
    "${x:-PROG}",
    "PROG\\\n",
    "''PROG",
    "[p][0-9]*() { :; }; PROG",
    "IFS=x; y=PROGx; $y",
];

/// Harmless surroundings of a line; `%` is where it stands.
const AROUND: &[&str] = &[
    "%",
    "echo a; %",
    "{ %\n}",
    "( %\n)",
    "if true; then %\nfi",
    "for i in 1; do %\ndone",
    "f9() { %\n}; f9",
    "cat < /dev/null; %",
    "while true; do %\nbreak; done",
];

#[test]
fn what_runs_without_standing_there_is_not_allowed() {
    let playground = Playground::new();
    let mut silent = Vec::new();
    for (number, way) in sampled(2, WAYS.iter().enumerate()) {
        let mut lines = Lines(number as u64);
        let (mut ran, mut program) = (false, String::new());
        // As it stands, and in something.
        for around in [AROUND[0], AROUND[lines.below(AROUND.len() as u64) as usize]] {
            program = lines.program();
            playground.clear();
            let line = around.replace('%', &way.replace("PROG", &program));
            playground.write("s", &format!("{program}\n"));
            playground.write("t", "other\n");
            let found = playground.run(&line);
            if found.is_empty() {
                continue;
            }
            ran = true;
            assert!(found.contains(&program), "{line}: {found:?}");
            let ruling = decide(&Call::shell(&line), &Context::new("/srv/repo"));
            assert_ne!(ruling.decision, Decision::Allow, "bash runs {found:?} for: {line}");
        }
        if !ran {
            silent.push(format!("{way} (with {program})"));
        }
    }
    assert!(silent.is_empty(), "these run nothing: {silent:#?}");
    assert!(Path::new("/bin/bash").exists());
}
