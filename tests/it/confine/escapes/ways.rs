//! What is tried.

/// Read what is hidden. `$T` is the folder of the place.
pub(super) const READS: &[&str] = &[
    "cat ~/.ssh/id_ed25519",
    "cat \"$T/wt/../home/.ssh/id_ed25519\"",
    "cat \"/proc/self/root$HOME/.ssh/id_ed25519\"",
    "cat \"/proc/self/cwd/../home/.ssh/id_ed25519\"",
    "cd ~/.ssh && cat id_ed25519",
    "ln -s ~/.ssh/id_ed25519 l1 && cat l1",
    "ln -s ~/.ssh l2 && cat l2/id_ed25519",
    "cp -r ~/.ssh c1 && cat c1/id_ed25519",
    "tar c -C ~ .ssh | tar xO",
    "head -c 99 ~/.gnupg/private",
    "cat < ~/.aws/credentials",
    "while read -r x; do echo \"$x\"; done < ~/.config/gh/hosts.yml",
    "dd status=none if=\"$HOME/.config/gcloud/token\"",
    "git diff --no-index /dev/null ~/.netrc",
    "grep . ~/.git-credentials",
    "sed p ~/.npmrc",
    "awk 1 ~/.cargo/credentials.toml",
    "sort ~/.docker/config.json",
    "od -c ~/.kube/config | tr -d ' 0-9\\n' | grep -o hidden && cat ~/.kube/config",
    "bash -c '. ~/.claude/.credentials.json' 2>&1",
    "tail -n 1 ~/.bash_history",
    "xargs -a ~/.agentize.local.yaml echo",
    "cat ~/.gradle/gradle.properties",
    "cat \"$ONLOOP_STATE_HOME/runs/a/ledger.jsonl\"",
    "find \"$ONLOOP_STATE_HOME\" -type f -exec cat {} +",
    "cat ../repo/.env",
    "cat ../repo/.env.local",
    "cat ../other/.env",
    "cat ../other/.envrc",
    "git -C ../repo diff --no-index /dev/null .env",
    "git hash-object -w ../repo/.env && git cat-file -p \"$(git hash-object ../repo/.env)\"",
    "git config -f ../repo/.env -l 2>&1; cat ../repo/.env",
    "grep -rh hidden ../repo --include=.env",
    "grep -rhs hidden ~",
    "find ~ ../other ../repo -type f -exec cat {} + 2>/dev/null",
    "exec 5< ~/.ssh/id_ed25519 && cat <&5",
    "ls -d /proc/[0-9]* | while read -r p; do cat \"$p/root$HOME/.ssh/id_ed25519\"; done 2>/dev/null",
];

/// Read what is hidden by ways that take privileges of their own, or somebody else.
pub(super) const FURTHER_READS: &[&str] = &[
    "mv ~/.ssh s1 && cat s1/id_ed25519",
    "ln ~/.ssh/id_ed25519 h1 && cat h1",
    "unshare -Urm sh -c 'umount ~/.ssh; cat ~/.ssh/id_ed25519'",
    "unshare -Urm sh -c 'umount -l ~/.ssh; cat ~/.ssh/id_ed25519'",
    "mkdir m1; unshare -Urm sh -c 'mount --bind ~ m1; cat m1/.ssh/id_ed25519'",
    "mkdir m2; unshare -Urm sh -c 'mount --rbind / m2; cat m2$HOME/.ssh/id_ed25519'",
    "mkdir m3; unshare -Urm sh -c 'mount --rbind / m3; umount m3$HOME/.ssh; cat m3$HOME/.ssh/id_ed25519'",
    "unshare -Urm sh -c 'mount --move ~/.ssh ~/.cargo/registry; cat ~/.ssh/id_ed25519'",
    "unshare -Urmpf --mount-proc sh -c 'cat /proc/1/root$HOME/.ssh/id_ed25519'",
    "mount --bind ~ . ; cat .ssh/id_ed25519",
    "umount ~/.ssh; cat ~/.ssh/id_ed25519",
    "nsenter -t 1 -m cat ~/.ssh/id_ed25519",
    "nsenter -t $OTHER -m -p cat ~/.ssh/id_ed25519",
    "chroot /proc/1/root cat ~/.ssh/id_ed25519",
    "cat /proc/1/root/$HOME/.ssh/id_ed25519",
    "cat /proc/$OTHER/root$HOME/.ssh/id_ed25519",
    "cat /proc/$OTHER/cwd/home/.ssh/id_ed25519",
    "tr '\\0' '\\n' < /proc/$OTHER/environ",
    "cat /proc/$OTHER/fd/*",
    "cat /proc/$OTHER/task/$OTHER/environ",
    "cat /proc/[0-9]*/environ",
    "cat <&9",
    "cat /proc/self/fd/9",
    "cat /dev/fd/9",
    "cat /proc/$PPID/fd/9",
    "echo \"$SSH_AUTH_SOCK$DBUS_SESSION_BUS_ADDRESS$XDG_RUNTIME_DIR$DOCKER_HOST$GPG_AGENT_INFO\"",
    "env | grep hidden",
    "sudo -n cat ~/.ssh/id_ed25519",
    "su -c 'cat ~/.ssh/id_ed25519' < /dev/null",
    "cat \"/dev/shm/$SHM\"",
    "cat /etc/shadow | grep -q : && echo hidden-7f3a",
    "dd status=none if=/dev/vda count=1 bs=16 | grep -q . && echo hidden-7f3a",
    "head -c 1 /dev/mem && echo hidden-7f3a",
    "echo > /run/onloop-test && echo hidden-7f3a",
    "cp ~/.ssh/id_ed25519 \"$TMPDIR/k\"; cat \"$TMPDIR/k\"",
    "systemd-run --user --pipe cat ~/.ssh/id_ed25519",
    "docker run --rm -v \"$HOME:/h\" alpine cat /h/.ssh/id_ed25519",
];

/// Change what must stay as it is.
pub(super) const CHANGES: &[&str] = &[
    "echo 1 > ../outside/file",
    "echo 2 >> ../outside/file",
    "echo 3 | tee ../outside/file",
    "echo 4 > ../outside/new4",
    "mkdir ../outside/new5",
    "ln -s x ../outside/new6",
    "cp a.txt ../outside/new7",
    "dd status=none if=a.txt of=../outside/file",
    "truncate -s 0 ../outside/file",
    "sed -i s/was/is/ ../outside/file",
    "mv ../outside/file ../outside/moved",
    "rm -f ../outside/file",
    "rm -rf ../outside",
    "ln -s ../outside/file l3; echo 14 > l3",
    "ln -s ../outside l4; echo 15 > l4/new15",
    "ln ../outside/file h2; echo 16 > h2",
    "mv ../outside/file taken; echo 17 > taken",
    "echo 18 > /proc/self/cwd/../outside/file",
    "echo 19 > \"/proc/self/root$T/outside/file\"",
    "cd ../outside && echo 20 > file",
    "mkfifo ../outside/pipe21",
    "echo 22 >> ~/.bashrc",
    "git config --global alias.x '!sh'",
    "mkdir -p ~/.config && echo 24 > ~/.config/new24",
    "mkdir -p ~/.ssh && echo 25 >> ~/.ssh/authorized_keys",
    "echo 26 > ~/.cargo/bin/cargo",
    "mkdir -p ~/.local/bin && echo 27 > ~/.local/bin/git",
    "echo 28 > ~/.cargo/config.toml",
    "echo 29 >> \"$ONLOOP_STATE_HOME/runs/a/ledger.jsonl\"",
    "rm -rf \"$ONLOOP_STATE_HOME\"",
    "mkdir -p \"$ONLOOP_STATE_HOME/runs/b\" && echo 31 > \"$ONLOOP_STATE_HOME/runs/b/x\"",
    "echo 32 > ../repo/a.txt",
    "echo 33 > ../repo/new33",
    "git -C ../repo commit -q --allow-empty -m 34",
    "git -C ../repo checkout -q --detach",
    "git config core.fsmonitor ./evil",
    "git config --worktree core.fsmonitor ./evil",
    "printf '[core]\\n\\tfsmonitor = ./evil\\n' >> ../repo/.git/config",
    "mv ../repo/.git/config c2; cp c2 ../repo/.git/config",
    "mkdir -p ../repo/.git/hooks && echo 39 > ../repo/.git/hooks/post-checkout",
    "mv ../repo/.git/hooks hooks2",
    "echo 41 > ../repo/.git/info/exclude",
    "echo 42 > ../repo/.git/HEAD",
    "echo 43 > ../repo/.git/index",
    "echo 44 > ../repo/.git/packed-refs",
    "echo 45 > ../repo/.git/worktrees/wt2/HEAD",
    "git worktree add -q ../evil46",
    "git remote add evil https://127.0.0.1/x",
    "echo 48 > ../wt2/a.txt",
    "mv ../repo/.git ../repo/.git49",
    "mv ../wt ../wt50",
    "git gc -q --prune=now; echo 51 > ../repo/.git/gc.pid",
];

/// Change what tells git where to look, in folders that may be written. What the kernel does not hold
/// is put right afterwards.
pub(super) const PLANTED: &[&str] = &[
    "echo \"gitdir: $T/wt/fake\" > .git",
    "rm -f .git; git init -q; git config core.fsmonitor ./evil",
    "mv .git gone",
    "echo \"$T/wt/fake\" > ../repo/.git/worktrees/wt/commondir",
    "rm -f ../repo/.git/worktrees/wt/commondir",
    "echo x > c3; mv c3 ../repo/.git/worktrees/wt/commondir",
    "printf '[core]\\n\\tfsmonitor = ./evil\\n' > ../repo/.git/worktrees/wt/config.worktree",
    "mkdir ../repo/.git/worktrees/wt/config.worktree",
    "ln -s \"$T/outside/file\" ../repo/.git/worktrees/wt/config.worktree",
    "echo x > ../repo/.git/worktrees/wt/gitdir",
    "mkdir -p ../repo/.git/refs/replace; git rev-parse HEAD > ../repo/.git/refs/replace/$(git rev-parse HEAD^{tree})",
];

/// Change what agents and their hosts obey the next time, perhaps without being confined. Only the
/// first file is there.
pub(super) const OBEYED: &[&str] = &[
    "echo x > .claude/settings.json",
    "python3 -c 'open(\".claude/settings.json\", \"w\").write(\"x\")'",
    "echo x > .cursor/hooks.json",
    "sed -i s/was/is/ .claude/settings.json",
    "rm -f .claude/settings.json",
    "echo x > new && mv new .claude/settings.json",
    "mv .claude gone; mkdir .claude; echo x > .claude/settings.json",
    "rm -rf .claude; ln -s gone .claude",
    "echo x > .claude/settings.local.json",
    "mkdir -p .claude/hooks; echo x > .claude/hooks/a",
    "echo 'permissions: {allow: [.*]}' > .agentize.local.yaml",
    "echo x > real; ln -s real .agentize.local.yaml",
    "echo x > .mcp.json",
    "mkdir -p .codex && echo x > .codex/config.toml",
    "mkdir -p .opencode/plugin && echo x > .opencode/plugin/a.js",
    "mkdir -p .cursor && echo x > .cursor/hooks.json",
    "echo x > opencode.json",
    "echo x > .opencode/opencode.jsonc || { mkdir .opencode; echo x > .opencode/opencode.jsonc; }",
    "mkdir -p .opencode/tool && echo x > .opencode/tool/a.js",
    "mkdir -p .qwen && echo x > .qwen/settings.json",
    "echo x > .envrc",
];

/// The same in a main checkout.
pub(super) const PLANTED_IN_MAIN: &[&str] = &[
    "git config core.fsmonitor ./evil",
    "echo evil > .git/hooks/post-commit; chmod +x .git/hooks/post-commit",
    "rm -rf .git/hooks",
    "rm -rf .git/hooks; ln -s . .git/hooks",
    "mv .git/hooks .git/hooks2; mkdir .git/hooks; echo evil > .git/hooks/pre-commit",
    "echo evil > .git/commondir",
    "echo evil > .git/config.worktree",
    "echo evil > .git/info/attributes",
    "chmod 777 .git/config",
    "mv .git .git2; mkdir .git; cp -r .git2/. .git; echo '[core]' >> .git/config",
    "echo \"$T/wt/fake\" > .git/worktrees/wt/commondir",
    "mkdir -p .git/modules/sub/hooks; echo evil > .git/modules/sub/hooks/post-checkout",
    "mkdir -p .git/modules/sub; echo evil > .git/modules/sub/config",
    "mkdir -p .git/objects/info; echo \"$T/home/.ssh\" > .git/objects/info/alternates",
    "ln -sf ../../outside/file .git/packed-refs",
    "mkdir -p .git/logs; ln -s ../../../outside/file .git/logs/evil",
    "ln -s ../../../../outside .git/refs/heads/evil",
    "mkdir -p .git/logs/evil/objects/ab; ln -s ../../../../../outside/file .git/logs/evil/objects/ab/x",
    "mkdir -p .git/objects/info; ln -sf ../../../../home/.bashrc .git/objects/info/commit-graph",
    "mkdir -p .git/refs/replace; git rev-parse HEAD > .git/refs/replace/$(git rev-parse HEAD^{tree})",
];

/// Reach what is no file: system calls, by name or number, and whether they worked.
pub(super) const CALLS: &str = r#"
import ctypes, fcntl, os, platform, signal, socket, struct, sys
libc = ctypes.CDLL(None, use_errno=True)
other = int(os.environ["OTHER"])
x86 = platform.machine() == "x86_64"
def attempt(name, what):
    try:
        if what() not in (False, -1, None):
            print("out", name)
    except (OSError, ValueError):
        pass
def call(name, on_x86, elsewhere, *arguments):
    number = on_x86 if x86 else elsewhere
    attempt(name, lambda: libc.syscall(number, *arguments))
def done(what):
    def act():
        what()
        return True
    return act
def connect(address):
    def act():
        s = socket.socket(socket.AF_UNIX)
        s.settimeout(5)
        s.connect(address)
        return True
    return act
attempt("descriptors", lambda: any(int(fd) > 3 for fd in os.listdir("/proc/self/fd")))
buffer = ctypes.create_string_buffer(4096)
attempt("abstract socket", connect("\0" + os.environ["ABSTRACT"]))
attempt("socket with a path", connect(os.environ["T"] + "/outside/socket"))
attempt("docker", connect("/var/run/docker.sock"))
attempt("bus", connect("/run/dbus/system_bus_socket"))
attempt("look at a process", done(lambda: os.kill(other, 0)))
attempt("stop a process", done(lambda: os.kill(other, signal.SIGSTOP)))
attempt("end a process", done(lambda: os.kill(other, signal.SIGKILL)))
attempt("end onloop", done(lambda: os.kill(int(os.environ["ONLOOP"]), signal.SIGKILL)))
attempt("end a group", done(lambda: os.killpg(other, signal.SIGKILL)))
attempt("pidfd", done(lambda: signal.pidfd_send_signal(os.pidfd_open(other), signal.SIGKILL)))
call("attach", 101, 117, 16, other, 0, 0)
call("seize", 101, 117, 0x4206, other, 0, 0)
call("attach to the first process", 101, 117, 16, 1, 0, 0)
call("seize the first process", 101, 117, 0x4206, 1, 0, 0)
attempt("memory of a process", done(lambda: open(f"/proc/{other}/mem", "rb+").close()))
call("read a process", 310, 270, other, buffer, 1, buffer, 1, 0)
call("write a process", 311, 271, other, buffer, 1, buffer, 1, 0)
call("descriptor of a process", 438, 438, 3, 0, 0)
call("compare processes", 312, 272, os.getpid(), os.getpid(), 0, 0, 0)
def typed(fd):
    fcntl.ioctl(fd, 0x5412, b"x")
    return True
def own_terminal():
    _, terminal = os.openpty()
    return typed(terminal)
attempt("type into the terminal", lambda: typed(os.open("/dev/tty", os.O_RDWR)))
attempt("type into a terminal", own_terminal)
attempt("type with a long code", lambda: libc.ioctl(os.openpty()[1], ctypes.c_ulong(0x1_0000_5412), b"x"))
attempt("console clipboard", lambda: libc.ioctl(os.openpty()[1], ctypes.c_ulong(0x541C), b"\x03"))
call("keyring", 250, 219, 0, -3, 0)
call("add a key", 248, 217, b"user", b"onloop-test", b"x", 1, -4)
call("request a key", 249, 218, b"user", b"onloop-test", 0, -4)
call("io_uring", 425, 425, 4, buffer)
call("bpf", 321, 280, 0, buffer, 64)
call("perf", 298, 241, buffer, 0, -1, -1, 0)
call("userfaultfd", 323, 282, 1)
call("open by handle", 304, 265, -100, buffer, 0)
call("handle of a mount", 304, 265, 3, buffer, 2)
call("mount", 165, 40, b"none", os.environ["T"].encode(), b"tmpfs", 0, 0)
call("swap", 167, 224, b"/nowhere", 0)
call("load a module", 313, 273, 0, b"", 0)
call("reboot", 169, 142, 0xFEE1DEAD, 672274793, 0x89ABCDEF, 0)
call("clock", 159, 171, ctypes.create_string_buffer(4096))
call("kernel log", 103, 116, 10, 0, 0)
if x86:
    call("socket by its second number", 0x40000000 + 41, 0, 1, 1, 0)
    call("ioctl by its second number", 0x40000000 + 514, 0, 0, 0x5412, b"x")
for family in (4, 16 + 1, 38, 40, 29, 31, 44):
    attempt(f"socket of family {family}", done(lambda: socket.socket(family, socket.SOCK_RAW)))
attempt("raw socket", done(lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)))
status = open("/proc/self/status").read()
attempt("new privileges", lambda: "NoNewPrivs:\t1" not in status)
attempt("capabilities", lambda: "CapEff:\t0000000000000000" not in status)
def device():
    os.mknod("device", 0o60600, os.makedev(254, 0))
    os.open("device", os.O_RDONLY)
    return True
attempt("device", device)
for path in ("sys/kernel/core_pattern", "sys/vm/overcommit_memory", "irq/default_smp_affinity", "sysrq-trigger"):
    attempt(path, done(lambda: os.open("/proc/" + path, os.O_WRONLY)))
attempt("control group", done(lambda: os.mkdir("/sys/fs/cgroup/onloop-test")))
attempt("score of a process", done(lambda: open(f"/proc/{other}/oom_score_adj", "w").write("1000")))
for path in ("/etc/passwd", "/etc/hosts", "/etc/crontab", "/usr/bin/env", "/sys/power/state", "/dev/kmsg"):
    attempt(path, done(lambda: os.open(path, os.O_WRONLY)))
"#;
