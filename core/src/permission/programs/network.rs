//! Programs that talk to other machines or to services.

use super::Class::{Administers, Builds, Connects, Publishes, Reads, Reveals, Runs};
use super::Role::{AtFile, Data, Read, Shell, Write};
use super::{ArgCheck, ProgramEntry, makes, makes_with, plain, program, takes};

pub(super) const TABLE: &[ProgramEntry] = &[
    program(&["curl"], Connects, "fetches or sends over the network").options(&[
        takes(
            &[
                "-o",
                "--output",
                "-D",
                "--dump-header",
                "-c",
                "--cookie-jar",
                "--trace",
                "--trace-ascii",
                "--stderr",
                "--output-dir",
                "--hsts",
                "--alt-svc",
            ],
            Write,
        ),
        takes(
            &[
                "-T",
                "--upload-file",
                "-K",
                "--config",
                "-E",
                "--cert",
                "--key",
                "--cacert",
                "--netrc-file",
            ],
            Read,
        ),
        takes(
            &[
                "-d",
                "--data",
                "--data-ascii",
                "--data-binary",
                "--data-urlencode",
                "--json",
                "-b",
                "--cookie",
                "-H",
                "--header",
            ],
            AtFile,
        ),
        takes(&["-F", "--form"], AtFile),
        takes(
            &[
                "-X",
                "--request",
                "-A",
                "--user-agent",
                "-e",
                "--referer",
                "-m",
                "--max-time",
                "--connect-timeout",
                "-u",
                "--user",
                "-w",
                "--write-out",
                "-x",
                "--proxy",
                "--retry",
                "--url",
                "-r",
                "--range",
                "--resolve",
            ],
            Data,
        ),
        makes(&["-n", "--netrc", "--netrc-optional"], Reveals),
    ]),
    program(
        &["wget", "wget2", "aria2c", "axel", "http", "https", "xh", "lynx", "w3m", "links"],
        Connects,
        "fetches over the network",
    )
    .options(&[
        takes(
            &["-O", "--output-document", "-o", "--output-file", "-P", "--directory-prefix"],
            Write,
        ),
        takes(&["--post-file", "--body-file", "-i", "--input-file", "--config"], Read),
        makes_with(&["--use-askpass", "-e", "--execute"], Data, Runs),
    ]),
    program(
        &[
            "nc",
            "ncat",
            "netcat",
            "socat",
            "telnet",
            "ftp",
            "tftp",
            "openssl",
            "nmap",
            "ping",
            "traceroute",
            "dig",
            "nslookup",
            "host",
            "whois",
            "ip",
            "ifconfig",
            "iptables",
            "tcpdump",
            "ngrok",
            "cloudflared",
        ],
        Connects,
        "talks to a network",
    ),
    program(&["ssh", "mosh", "autossh"], Connects, "runs commands on another machine")
        .options(&[
            takes(
                &[
                    "-b", "-c", "-D", "-e", "-I", "-J", "-L", "-l", "-m", "-O", "-p", "-Q", "-R",
                    "-S", "-W", "-w", "-B",
                ],
                Data,
            ),
            takes(&["-i", "-F"], Read),
            takes(&["-E"], Write),
            makes_with(&["-o"], Data, Runs),
        ])
        .operands(&[Data, Shell])
        .check(ArgCheck::Remote),
    program(
        &[
            "ssh-add",
            "ssh-agent",
            "ssh-keygen",
            "ssh-copy-id",
            "gpg",
            "gpg2",
            "age",
            "pass",
            "op",
            "bw",
            "vault",
            "security",
            "keytool",
            "secret-tool",
        ],
        Reveals,
        "handles keys",
    ),
    program(
        &[
            "docker",
            "podman",
            "nerdctl",
            "docker-compose",
            "kubectl",
            "oc",
            "minikube",
            "kind",
            "k3s",
            "crictl",
            "ctr",
            "lxc",
            "buildah",
            "skopeo",
        ],
        Connects,
        "controls containers",
    )
    .check(ArgCheck::Container),
    program(
        &[
            "psql",
            "mysql",
            "mariadb",
            "sqlite3",
            "redis-cli",
            "mongo",
            "mongosh",
            "sqlcmd",
            "duckdb",
            "cqlsh",
            "influx",
        ],
        Connects,
        "queries a database",
    ),
    program(
        &["mail", "mailx", "sendmail", "mutt", "osascript", "open", "xdg-open", "start"],
        Publishes,
        "sends or opens things",
    ),
    program(&["onloop", "hotl-rt"], Reads, "this program")
        .only_these_options()
        .options(&[plain(&["--version"])])
        .subcommands(&[
            program(&["lint", "normalize"], Reads, "checks a workflow file")
                .operands(&[Read])
                .options(&[plain(&["--json", "--deny-warnings"]), takes(&["--format"], Data)])
                .only_these_options(),
            program(
                &["status", "list", "next", "report", "summary", "receipt"],
                Reads,
                "shows a run",
            )
            .options(&[plain(&["--json", "--all"]), takes(&["--run-id", "--platform"], Data)])
            .only_these_options(),
            program(&["session"], Administers, "controls sessions").check(ArgCheck::OwnSession),
            program(&["step"], Builds, "records and verifies a step")
                .options(&[takes(&["--run-id", "--reason"], Data)])
                .only_these_options()
                .check(ArgCheck::DrivesRun),
            program(&["gate"], Builds, "records what the rules of a run decide")
                .options(&[takes(&["--run-id", "--mode"], Data)])
                .only_these_options()
                .check(ArgCheck::DecidesByRule),
            program(&["finalize"], Builds, "repeats the checks of a run")
                .options(&[takes(&["--run-id"], Data), plain(&["--json"])])
                .only_these_options(),
            program(
                &["run", "resume", "init", "finish", "auto", "new", "prepare"],
                Builds,
                "begins, changes or ends a run",
            )
            .check(ArgCheck::DecidesAboutRun),
            program(
                &["permit", "approve", "adopt", "abandon", "relocate"],
                Reads,
                "says what an agent may do",
            )
            .check(ArgCheck::AnswersForPerson),
            program(&["hook"], Administers, "answers an agent host"),
            program(&["install", "uninstall"], Administers, "changes who judges the agent")
                .check(ArgCheck::ChangesGuard),
        ]),
    program(
        &[
            "claude",
            "codex",
            "opencode",
            "gemini",
            "aider",
            "goose",
            "cursor-agent",
            "copilot",
            "llm",
            "ollama",
        ],
        Runs,
        "starts another agent",
    )
    .options(&[plain(&["--version"])]),
];
