//! What people and agents do all day goes on working.

use super::place::Place;
use super::{has, mechanisms};
use crate::rounds::sampled;

/// A name, the program that it takes, and a line that must succeed.
const TOOLS: &[(&str, &str, &str)] = &[
    (
        "git",
        "git",
        "echo b > b.txt && git add b.txt && git commit -qm 'Add b' && git branch further && \
         echo c > b.txt && git stash -q && git stash list | grep -q 'WIP on work' && \
         git stash apply -q && git checkout -q -- b.txt && git diff --quiet && \
         git checkout -q further && git checkout -q work && git tag v1 && git status -s",
    ),
    (
        "cargo",
        "cargo",
        "mkdir -p demo/src && cd demo && \
         printf '[package]\\nname = \"demo\"\\nedition = \"2024\"\\n[workspace]\\n' > Cargo.toml && \
         echo 'fn main() { println!(\"Hello, world!\"); }' > src/main.rs && \
         cargo build -q --offline --target-dir t && test \"$(./t/debug/demo)\" = 'Hello, world!'",
    ),
    (
        "node",
        "node",
        "node -e \"require('fs').writeFileSync('n', require('os').tmpdir()); \
         require('child_process').execSync('echo $PWD')\"",
    ),
    (
        "npm",
        "npm",
        "echo '{\"name\":\"x\",\"scripts\":{\"t\":\"node -e 0 && echo ran\"}}' > package.json && \
         npm run --silent t | grep -q ran",
    ),
    ("venv", "python3", "python3 -m venv --without-pip v && v/bin/python -c 'import json'"),
    (
        "pip",
        "python3",
        "python3 -c 'import ensurepip' || exit 0; python3 -m venv v; python3 -c \"
import zipfile
wheel = zipfile.ZipFile('dep-1.0-py3-none-any.whl', 'w')
wheel.writestr('dep.py', '')
about = 'dep-1.0.dist-info/'
wheel.writestr(about + 'METADATA', 'Metadata-Version: 2.1\\nName: dep\\nVersion: 1.0\\n')
wheel.writestr(about + 'WHEEL', 'Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n')
wheel.writestr(about + 'RECORD', '')\" && \
         v/bin/python -m pip install -q --no-index ./dep-1.0-py3-none-any.whl && \
         v/bin/python -c 'import dep'",
    ),
    ("go", "go", GO_MODULE),
    (
        "gradle",
        "gradle",
        "echo \"task t { doLast { println 'ran' } }\" > build.gradle && \
         export GRADLE_USER_HOME=\"${GRADLE_USER_HOME:-$HOME/.gradle}\" && \
         gradle --offline --no-daemon -q t | grep -q ran",
    ),
    ("make", "make", "printf 'a:\\n\\techo x > a\\n' > Makefile && make -s && test -s a"),
    ("cc", "cc", "echo 'int main(){return 0;}' > m.c && cc m.c -o m && ./m"),
    (
        "server",
        "python3",
        "python3 -c \"
import socket, threading
s = socket.create_server(('127.0.0.1', 0))
threading.Thread(target=lambda: s.accept()[0].sendall(b'ok')).start()
assert socket.create_connection(s.getsockname()).recv(2) == b'ok'\"",
    ),
    (
        "pipes",
        "bash",
        "mkfifo p && (echo x > p &) && read -r x < p && test $x = x && cat <(echo y) | grep -q y && \
         echo z > /dev/null && head -c 4 /dev/urandom > r && sort -T \"$TMPDIR\" a.txt",
    ),
    ("names", "getent", "getent passwd root > /dev/null"),
];

/// A module is fetched from a proxy that is a folder, compiled and run.
const GO_MODULE: &str = r#"
    proxy=$PWD/proxy/example.org/dep/@v
    mkdir -p "$proxy" demo
    printf 'module example.org/dep\n\ngo 1.16\n' > "$proxy/v1.0.0.mod"
    echo v1.0.0 > "$proxy/list"
    echo '{"Version":"v1.0.0","Time":"2026-01-01T00:00:00Z"}' > "$proxy/v1.0.0.info"
    python3 -c "
import sys, zipfile
module = zipfile.ZipFile(sys.argv[1] + '/v1.0.0.zip', 'w')
module.write(sys.argv[1] + '/v1.0.0.mod', 'example.org/dep@v1.0.0/go.mod')
module.writestr('example.org/dep@v1.0.0/dep.go', 'package dep\n\nfunc One() int { return 1 }\n')
module.close()" "$proxy"
    printf 'module demo\n\ngo 1.16\n\nrequire example.org/dep v1.0.0\n' > demo/go.mod
    printf 'package main\n\nimport "example.org/dep"\n\nfunc main() { println(dep.One()) }\n' \
        > demo/main.go
    cd demo
    export GOPROXY="file://${proxy%/example.org*}" GONOSUMDB='*' GOFLAGS='-mod=mod -modcacherw'
    export GOTOOLCHAIN=local
    go build -o d .
    ./d 2>&1 | grep -qx 1"#;

#[test]
fn tools_work() {
    let tools: Vec<_> = TOOLS.iter().filter(|(_, program, _)| has(program)).collect();
    let all = mechanisms().into_iter().flat_map(|by| tools.iter().map(move |tool| (by, *tool)));
    for (mechanism, (name, program, line)) in sampled(5, all) {
        if (mechanism, *name) == ("landlock", "gradle") {
            // Its settings in the home are there and cannot be read, at which it gives up.
            continue;
        }
        let place = Place::new();
        let run = place.confine(&["--with", mechanism], &format!("set -e; {line}"));
        assert_eq!(run.exit, Some(0), "{mechanism}: {name} ({program}): {run:?}");
    }
}

/// The programs of the toolchain itself: what is on `PATH` may look for its own in a home.
fn with_toolchain(line: &str) -> String {
    let cargo = std::path::Path::new(env!("CARGO"));
    let rustc = cargo.with_file_name("rustc");
    format!(
        "set -e; cargo() {{ RUSTC='{}' '{}' \"$@\"; }}; {line}",
        rustc.display(),
        cargo.display()
    )
}

const GIT_DEPENDENCY: &str = "git init -q dep; mkdir -p dep/src demo/src; \
    printf '[package]\\nname = \"dep\"\\nversion = \"1.0.0\"\\n' > dep/Cargo.toml; \
    touch dep/src/lib.rs demo/src/lib.rs; (cd dep; git add .; git commit -qm dep); cd demo; \
    printf '[package]\\nname = \"demo\"\\n[dependencies]\\ndep = { git = \"file://%s/dep\" }\\n[workspace]\\n' \
    \"$(dirname \"$PWD\")\" > Cargo.toml; cargo fetch -q";
const PACKAGE: &str = "mkdir dep; echo '{\"name\":\"dep\",\"version\":\"1.0.0\"}' > dep/package.json; \
    npm pack --silent ./dep > /dev/null; echo '{\"name\":\"x\"}' > package.json; \
    npm install --silent --no-audit --no-fund ./dep-1.0.0.tgz; test -e node_modules/dep; \
    rm -r node_modules; npm ci --silent --offline --no-audit; test -e node_modules/dep";
const FOLDERS: &str = "case $PIP_CACHE_DIR$GOCACHE in $TMPDIR/caches/*$TMPDIR/caches/*) ;; \
    *) exit 9 ;; esac; mkdir -p \"$PIP_CACHE_DIR\"; test ! -e ~/.cache; test ! -e ~/go";

/// What fetches something, as far as this machine has it: a program, and a line.
fn fetching() -> Vec<(&'static str, &'static str)> {
    let lines = [("git", GIT_DEPENDENCY), ("npm", PACKAGE), ("sh", FOLDERS), ("go", GO_MODULE)];
    lines.into_iter().filter(|(program, _)| *program != "go" || has(program)).collect()
}

/// What is fetched for the first time has to be put somewhere.
#[test]
fn tools_that_were_never_used_work() {
    // With no home of the tool, and with one that has nothing in it.
    let homes = ["rm -r .cargo", "rm -r .cargo/registry; mkdir .npm"];
    let ways = homes.map(|begin| mechanisms().into_iter().map(move |by| (begin, by)));
    let ways: Vec<_> = ways.into_iter().flatten().collect();
    let all = fetching().into_iter().flat_map(|tool| ways.iter().map(move |way| (tool, *way)));
    for ((program, line), (begin, mechanism)) in sampled(5, all) {
        let place = Place::new();
        let made = place.command("bash", "home").args(["-c", begin]).status().unwrap();
        assert!(made.success() && has(program), "{begin}");
        let line = with_toolchain(line);
        let mut command = place.command(crate::workspace::program(), "wt");
        command.args(["confine", "--with", mechanism, "--network", "none"]);
        command.args(["--", "bash", "-c", &line]).env_remove("CARGO_HOME");
        let run: crate::workspace::Run = command.output().unwrap().into();
        assert_eq!(run.exit, Some(0), "{mechanism}: {begin}: {line}: {run:?}");
        let kept = place.path("home/.cargo/git/db").exists();
        let expected = program == "git" && begin != "rm -r .cargo";
        assert_eq!(kept, expected, "{mechanism}: {begin}: {line}");
    }
}

#[test]
fn a_main_checkout_can_be_committed_in() {
    for mechanism in mechanisms() {
        let place = Place::new();
        let line =
            "echo b > b && git add b && git commit -qm b && git checkout -qb c && git log -1";
        let run = place.confine_in("repo", &["--with", mechanism], line);
        assert_eq!(run.exit, Some(0), "{mechanism}: {run:?}");
    }
}

#[test]
fn a_server_has_a_loopback_of_its_own() {
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let place = Place::new();
    let connect =
        format!("python3 -c \"import socket; socket.create_connection(('127.0.0.1', {port}), 2)\"");
    let options = |network| ["--with", "bubblewrap", "--network", network];
    assert_eq!(place.confine(&options("all"), &connect).exit, Some(0));
    assert_eq!(place.confine(&options("loopback"), &connect).exit, Some(1));
    let (_, _, own) = TOOLS.iter().find(|(name, _, _)| *name == "server").unwrap();
    let run = place.confine(&options("loopback"), own);
    assert_eq!(run.exit, Some(0), "{run:?}");
}

#[test]
fn without_a_network_there_is_none() {
    for mechanism in mechanisms() {
        let line = "python3 -c 'import socket; socket.socket()'";
        let place = Place::new();
        let run = place.confine(&["--with", mechanism, "--network", "none"], line);
        assert_eq!(run.exit, Some(1), "{mechanism}: {run:?}");
        assert!(run.stderr.contains("PermissionError"), "{mechanism}: {run:?}");
    }
}
