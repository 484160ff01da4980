//! The shell's own commands, and programs that run other commands.

use super::super::judge::{builtins, folder, tasks, wrappers};
use super::Class::{Administers, Describes, Escalates, Prints, Reads, Runs, Wraps};
use super::Role::{Command, Data, List, Read, Shell};
use super::{ProgramEntry, attached, makes, makes_with, plain, program, takes};

/// Where the options come from.
pub(super) const SOURCE: &str = "manuals of bash 5.2, POSIX sh, coreutils 9.7, findutils 4.10";

pub(super) const TABLE: &[ProgramEntry] = &[
    program("echo", Prints, "prints its arguments").open().any_options(),
    program("printf", Prints, "prints its arguments").open().any_options().check(builtins::printf),
    program("true false : times dirs suspend", Prints, "steers the script").any_options(),
    program("exit return break continue shift disown", Prints, "steers the script")
        .options(&[plain("-h -a -r")])
        .check(builtins::steers),
    // `wait -p` names a variable, whose subscript is evaluated; `jobs -x` runs a command.
    program("wait", Prints, "waits for jobs").options(&[plain("-f -n")]).open().check(builtins::waits_for),
    program("jobs", Prints, "lists jobs").options(&[plain("-l -n -p -r -s")]),
    program("test [", Reads, "checks files and values")
        .operands(&[Data])
        .open()
        .any_options()
        .check(builtins::test),
    program("type", Prints, "names programs; on another system, prints files")
        .options(&[plain("-a -f -p -P -t")])
        .operands(&[Read]),
    program("set", Prints, "changes how the shell runs").any_options().check(builtins::set),
    // Any setting changes what patterns become, or how the shell reads what follows.
    program("shopt", Prints, "shows how the shell runs").options(&[plain("-p -q -o")]),
    program("export readonly declare typeset local", Prints, "sets variables")
        .any_options()
        .check(builtins::declare),
    program("unset getopts", Prints, "changes variables")
        .options(&[plain("-v -f -n")])
        .check(builtins::plain_names),
    program("read", Prints, "reads a line into variables")
        .options(&[takes("-d -n -N -p -t -u -i -a", Data), plain("-r -e -s")])
        .check(builtins::plain_names),
    program("mapfile readarray", Prints, "reads lines into a variable")
        .options(&[takes("-d -n -O -s -u", Data), plain("-t"), makes_with("-C -c", Data, Runs)])
        .check(builtins::plain_names),
    program("let", Runs, "evaluates arithmetic"),
    program("cd pushd popd chdir", Prints, "changes the working folder")
        .options(&[plain("-L -P -e -@ -n")])
        .open()
        .check(folder::judge),
    program("eval", Wraps, "runs its arguments as a command").any_options().check(wrappers::eval),
    program("exec", Wraps, "replaces the shell by a command")
        // By the name that it is given, a program may do something else than its entry says.
        .options(&[makes_with("-a", Data, Runs), makes("-c", Runs), plain("-l")])
        .operands(&[Command]),
    program("command builtin", Wraps, "runs a command without looking for functions")
        .options(&[plain("-p"), makes("-v -V", Prints)])
        .operands(&[Command])
        .check(wrappers::command),
    program("trap", Wraps, "runs a command later").any_options().check(wrappers::trap),
    program("source .", Runs, "runs a file in this shell")
        .operands(&[Read])
        .check(wrappers::source),
    program("alias", Runs, "renames commands").check(wrappers::alias),
    program(
        "unalias enable hash complete compgen bind ulimit umask history fc caller logout \
             newgrp",
        Runs,
        "changes the shell",
    ),
    program("env", Describes, "runs a command with other variables").check(wrappers::env),
    program("printenv", Describes, "prints variables"),
    program("nohup unbuffer catchsegv", Wraps, "runs a command detached").operands(&[Command]),
    program("setsid", Wraps, "runs a command detached")
        .options(&[plain("-c -f -w --wait --fork")])
        .operands(&[Command])
        .check(wrappers::setsid),
    program("nice ionice", Wraps, "runs a command with a priority")
        .options(&[
            takes("-n --adjustment -c --class --classdata", Data),
            plain("-t --ignore"),
            // Another process, and not a command.
            makes_with("-p --pid -P --pgid -u --uid", Data, Administers),
        ])
        .operands(&[Command]),
    program("taskset", Wraps, "runs a command on some processors")
        .options(&[plain("-a --all-tasks -c --cpu-list"), makes("-p --pid", Administers)])
        .operands(&[Data, Command]),
    program("time gtime", Wraps, "measures a command")
        .options(&[
            plain("-p -v --verbose"),
            takes("-f --format", Data),
            takes("-o --output", super::Role::Write),
        ])
        .operands(&[Command]),
    program("timeout gtimeout", Wraps, "runs a command for a limited time")
        .options(&[
            takes("-k --kill-after -s --signal", Data),
            plain("--foreground --preserve-status -v --verbose"),
        ])
        .operands(&[Data, Command]),
    program("stdbuf", Wraps, "runs a command with other buffers")
        .options(&[takes("-i --input -o --output -e --error", Data)])
        .operands(&[Command]),
    program("flock", Wraps, "runs a command under a lock")
        .options(&[
            takes("-w --wait --timeout -E --conflict-exit-code", Data),
            takes("-c --command", Shell),
            plain("-n --nonblock -x -s -u -o --close -F --verbose"),
        ])
        .operands(&[super::Role::Write, Command])
        .check(wrappers::flock),
    program("xargs gxargs", Wraps, "runs a command with arguments from its input")
        .any_options()
        .check(wrappers::xargs),
    program("watch", Wraps, "runs a command again and again")
        .options(&[
            takes("-n --interval -q --equexit", Data),
            plain(
                "-b --beep -c --color -C --no-color -e --errexit -g --chgexit -p --precise -t \
                   --no-title -w --no-wrap -x --exec",
            ),
            attached("-d --differences"),
        ])
        .operands(&[Command])
        .check(wrappers::watch),
    program("chrt", Runs, "runs a command with a priority")
        .options(&[makes("-p --pid", Administers)])
        .check(wrappers::rest_is_command),
    program("parallel", Runs, "runs many commands").check(wrappers::rest_is_command),
    program(
        "sh bash zsh dash ksh mksh ash fish rbash busybox toybox csh tcsh elvish nu xonsh",
        Runs,
        "runs shell code",
    )
    .check(wrappers::shell),
    program(
        "sudo doas su pkexec runuser sudoedit gosu su-exec runas machinectl visudo",
        Escalates,
        "runs a command as another user",
    )
    .options(&[takes("-u --user -g --group -p --prompt -C -D -h -r -t -T -U -R", Data)])
    .check(wrappers::privileged),
    program(
        "chroot unshare nsenter firejail bwrap proot fakeroot systemd-run capsh setpriv",
        Runs,
        "runs a command in another environment",
    )
    .check(wrappers::rest_is_outside),
    program("tmux screen", Runs, "runs commands in a terminal of its own")
        .check(wrappers::rest_is_outside),
    program(
        "strace ltrace gdb lldb perf valgrind script expect dbus-run-session xvfb-run rlwrap entr inotifywait nodemon hyperfine direnv mise asdf dotenv op-run \
             with-contenv caffeinate systemd-inhibit chronic ifne sg runcon faketime datefudge eatmydata \
         dbus-launch torsocks tsocks proxychains proxychains4 fakechroot tini dumb-init \
         dockerize cpulimit prlimit chpst softlimit numactl arch linux64 setarch ccache \
             distcc sccache cross-env cross-env-shell env-cmd concurrently",
        Runs,
        "runs a command",
    )
    .check(wrappers::rest_is_command),
    program(
        "python python2 python3 pypy pypy3 ipython node nodejs ruby perl php lua luajit tclsh \
         Rscript julia groovy guile sbcl erl elixir iex irb ghci jshell osqueryi tsx ts-node zx \
         vite-node babel-node jiti esno esmo esr tsm tsimp ts-node-dev ts-node-esm swc-node \
         sucrase-node",
        Runs,
        "runs code",
    )
    .check(tasks::interpreter),
    program(
        "m4 bc dc ed ex vi vim nvim view emacs nano pico less more most man info",
        Runs,
        "runs code, or commands from within",
    )
    .check(wrappers::rest_is_command),
    program(
        "powershell pwsh powershell.exe pwsh.exe cmd cmd.exe wscript cscript mshta rundll32 \
             regsvr32 wsl wsl.exe",
        Runs,
        "runs Windows code",
    )
    .check(wrappers::rest_is_command),
    // A function that evaluates what a variable of the shell names: `LMOD_SETTARG_CMD`.
    program("module ml", Runs, "loads a tool chain").any_options(),
    program("date", Prints, "shows the time")
        .options(&[
            takes("-d --date", Data),
            takes("-f --file", Read),
            takes("-r --reference", List),
            attached("-I --iso-8601 --rfc-3339"),
            makes_with("-s --set", Data, Administers),
            plain("-u --utc --universal -R --rfc-email -j"),
        ])
        .check(builtins::date),
    // Their words are an expression, whose values may begin with a dash.
    program("expr factor", Prints, "computes").any_options(),
    program("sleep", Prints, "waits").check(builtins::waits),
    program("nproc", Prints, "counts processors").options(&[takes("--ignore", Data), plain("--all")]),
    program("uname", Prints, "names the system").options(&[plain(
        "-a --all -s --kernel-name -n --nodename -r --kernel-release -v --kernel-version -m \
         --machine -p --processor -i --hardware-platform -o --operating-system",
    )]),
    program("tput", Prints, "asks about the terminal").options(&[takes("-T", Data), plain("-S -x")]),
    program("getconf", Prints, "shows limits").options(&[takes("-v", Data), plain("-a")]),
    program("cal", Prints, "shows a calendar").options(&[
        takes("-n --months -A -B -d", Data),
        plain("-3 -h -j -m -s -w -y -Y --three --sunday --monday --julian --year --week"),
    ]),
    program("locale", Prints, "shows the language").options(&[plain(
        "-a --all-locales -m --charmaps -c --category-name -k --keyword-name -v --verbose",
    )]),
    program("seq", Prints, "prints numbers")
        .options(&[takes("-f --format -s --separator -t", Data), plain("-w --equal-width")]),
    program(
        "id whoami groups hostname who w last users uptime free lsof ps top htop pgrep lscpu lsblk \
         dmesg vmstat netstat ss",
        Describes,
        "describes the machine",
    ),
];
