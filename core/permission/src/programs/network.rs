//! Programs that talk to other machines or to services.

use super::super::judge::{network, workflow, wrappers};
use super::Class::{
    Administers, Builds, Connects, Fetches, Prints, Publishes, Reads, Reveals, Runs,
};
use super::Role::{Address, AtFile, Data, Read, Shell, Write};
use super::{ProgramEntry, makes, makes_with, plain, program, takes};

/// Where the options come from.
pub(super) const SOURCE: &str = "manuals of curl 8.11, wget 1.24, OpenSSH 9.9; our own";

pub(super) const TABLE: &[ProgramEntry] = &[
    program("curl", Fetches, "fetches or sends over the network")
        .options(&[
            takes(
                "-o --output -D --dump-header -c --cookie-jar --trace --trace-ascii --stderr \
                 --output-dir --hsts --alt-svc --etag-save --libcurl",
                Write,
            ),
            makes_with("-T --upload-file", Read, Connects),
            makes_with("-K --config -E --cert --key --cacert --netrc-file --proxy-cert", Read, Connects),
            makes_with(
                "-d --data --data-ascii --data-binary --data-raw --data-urlencode --json \
                 --url-query",
                AtFile,
                Connects,
            ),
            makes_with("-b --cookie -H --header", AtFile, Connects),
            makes_with("-F --form --form-string", AtFile, Connects),
            makes_with(
                "-X --request -u --user -x --proxy --resolve --connect-to --preproxy --socks5 \
                 --socks4 --unix-socket --abstract-unix-socket --interface -Q --quote -t \
                 --telnet-option --oauth2-bearer --aws-sigv4 --mail-from --mail-rcpt -P \
                 --ftp-port -C --engine --doh-url",
                Data,
                Connects,
            ),
            takes(
                "-A --user-agent -e --referer -m --max-time --connect-timeout -w --write-out \
                 --retry --retry-delay --retry-max-time --url -r --range --max-redirs -y -Y \
                 --limit-rate --max-filesize -z --time-cond",
                Data,
            ),
            plain(
                "-s --silent -S --show-error -L --location -f --fail --fail-with-body -i \
                 --include -I --head -v --verbose -k --insecure -O --remote-name -J \
                 --remote-header-name -g --globoff --compressed -N --no-buffer -# \
                 --progress-bar --create-dirs -4 -6 --ipv4 --ipv6 -0 --http1.0 --http1.1 --http2 \
                 --http3 --tlsv1.2 --tlsv1.3 --no-progress-meter -R --remote-time --parallel -Z \
                 -q --disable --retry-all-errors --retry-connrefused -G --get --raw --remote-name-all",
            ),
            makes("-n --netrc --netrc-optional", Reveals),
        ])
        .operands(&[Address]),
    program("wget wget2", Fetches, "fetches over the network")
        .options(&[
            takes(
                "-O --output-document -o --output-file -a --append-output -P --directory-prefix \
                 --save-cookies --warc-file",
                Write,
            ),
            makes_with("--post-file --body-file -i --input-file --config --load-cookies", Read, Connects),
            makes_with("--use-askpass", Data, Runs),
            makes_with(
                "-e --execute --post-data --body-data --method --header --user --password --http-user \
                 --http-password --proxy-user",
                Data,
                Connects,
            ),
            takes(
                "-t --tries -T --timeout -w --wait -U --user-agent --referer -l --level -A \
                 --accept -R --reject --max-redirect --limit-rate -Q --quota --cut-dirs -D \
                 --domains --connect-timeout --read-timeout",
                Data,
            ),
            plain(
                "-q --quiet -v --verbose -nv --no-verbose -c --continue -N --timestamping -S \
                 --server-response --spider -r --recursive -np --no-parent -nc --no-clobber -nd \
                 -nH --no-check-certificate --show-progress --content-disposition -4 -6 -k -p -E \
                 --no-directories --no-host-directories",
            ),
        ])
        .operands(&[Address]),
    program("aria2c axel lynx w3m links", Connects, "fetches over the network").any_options(),
    program("http https xh xhs", Connects, "sends requests")
        .options(&[
            takes("-o --output", Write),
            takes("--cert --cert-key --verify", Read),
            takes(
                "-p --print -a --auth -A --auth-type -s --style --pretty --timeout --max-redirects \
                 --proxy --resolve --unix-socket --raw",
                Data,
            ),
            plain(
                "-j --json -f --form -m --multipart -v --verbose -h --headers -b --body -d --download \
                 -c --continue -F --follow -S --stream -q --quiet -I --check-status --ignore-stdin \
                 --all --sorted --unsorted --offline",
            ),
        ])
        .check(network::request),
    program("nc ncat netcat", Connects, "talks to a network").any_options().check(network::probe),
    program("ping traceroute dig nslookup host whois", Fetches, "asks the network").any_options(),
    program(
        "socat telnet ftp tftp nmap ip ifconfig iptables tcpdump ngrok cloudflared",
        Connects,
        "talks to a network",
    ),
    program("openssl", Runs, "handles keys and certificates")
        .any_options()
        .subcommands(&[
            program("s_client s_server s_time ocsp cmp", Connects, "talks to a network")
                .any_options(),
            program("version", Prints, "shows its version")
                .options(&[plain("-a -b -d -f -m -o -p -r -v -c")]),
        ])
        .otherwise(Runs),
    program("ssh mosh autossh", Connects, "runs commands on another machine")
        .options(&[
            takes(
                "-b -c -D -e -I -J -L -l -m -O -p -Q -R -S -W -w -B",
                Data,
            ),
            takes("-i -F", Read),
            takes("-E", Write),
            makes_with("-o", Data, Runs),
        ])
        .operands(&[Data, Shell])
        .check(wrappers::remote),
    program(
        "ssh-add ssh-agent ssh-keygen ssh-copy-id gpg gpg2 age pass op bw vault security \
             keytool secret-tool",
        Reveals,
        "handles keys",
    ),
    program(
        "mail mailx sendmail mutt osascript open xdg-open start",
        Publishes,
        "sends or opens things",
    ),
    program("onloop hotl-rt", Reads, "this program")
        .options(&[plain("--version")])
        .subcommands(&[
            program("lint normalize", Reads, "checks a workflow file")
                .operands(&[Read])
                .options(&[plain("--json --deny-warnings"), takes("--format", Data)])
                ,
            program(
                "status list next report summary receipt diff locate schema",
                Reads,
                "shows a run",
            )
            .options(&[plain("--json --all"), takes("--run-id --platform", Data)])
            ,
            program("session", Administers, "controls sessions").check(workflow::own_session),
            program("step", Builds, "records and verifies a step")
                .options(&[takes("--run-id --reason", Data)])
                .check(workflow::drives_run),
            program("gate", Builds, "records what the rules of a run decide")
                .options(&[takes("--run-id --mode", Data)])
                .check(workflow::decides_by_rule),
            program("finalize", Builds, "repeats the checks of a run")
                .options(&[takes("--run-id", Data), plain("--json")])
                ,
            program(
                "run resume init finish new prepare",
                Builds,
                "begins, changes or ends a run",
            )
            .any_options()
            .check(workflow::decides_about_a_run),
            program("auto", Builds, "goes up to the next child of rw-auto")
                .any_options()
                .check(workflow::steps_auto),
            program(
                "permit approve reject stop adopt abandon relocate push fetch",
                Reads,
                "says what an agent may do",
            )
            .check(workflow::answers_for_a_person),
            program("hook", Administers, "answers an agent host"),
            program("install uninstall", Administers, "changes who judges the agent")
                .check(workflow::changes_guard),
        ]),
    program(
        "claude codex opencode gemini aider cursor-agent copilot llm ollama",
        Runs,
        "starts another agent",
    )
    .options(&[plain("--version")]),
];
