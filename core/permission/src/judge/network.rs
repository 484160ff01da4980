//! What the table cannot say about programs that talk to networks and services.

use super::Judge;
use super::entry::{ParsedArgs, Role, is_number, lists};
use crate::expand::{Arg, HOLE};
use crate::paths::Access;
use crate::programs::Class;
use crate::verdict::{Decision, Finding, Rule};
use crate::web;
use onloop_syntax::syntax::file_uri;

/// Longest address that only names what is fetched; a longer one may carry something away.
const ADDRESS_BYTES: usize = 512;

/// Judges an address that a program fetches.
pub(super) fn address(arg: &Arg) -> Option<Finding> {
    let text = arg.text.as_str();
    if is_local(arg) {
        // A server that was started for trying something.
        return None;
    }
    let asks = |what: &str| Some(Finding::ask(Rule::Web, what).for_good());
    if arg.known().is_none() && arg.shape != crate::expand::Shape::Pattern {
        return asks("the address is put together when the line runs");
    }
    let scheme = text.split_once("://").map_or("http", |(scheme, _)| scheme);
    let odd = text.contains('@') || text.len() > ADDRESS_BYTES;
    if !matches!(scheme, "http" | "https") || odd || text.starts_with(['-', '/', '.']) {
        return asks("the address is written in an unusual way");
    }
    web::judge(&format!("http://{}", web::without_scheme(text)))
}

/// `psql` and the like: a sandbox holds what is sent to a server of this machine.
pub(crate) fn database(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let hosts = parsed.values(&["-h", "--host", "-S"]);
    let is_here = |arg: &&Arg| arg.known().is_some_and(is_this_machine);
    // An address or a list of settings names a host, too.
    let by_name = parsed.name.starts_with("mongo");
    let first_is_host = |arg: &&Arg| {
        let text = arg.text.as_str();
        parsed.name == "cqlsh" && !text.contains(' ') && !is_number(text) && !is_this_machine(text)
    };
    let is_postgres = ["p", "createdb", "dropdb"].iter().any(|name| parsed.name.starts_with(name));
    // Only what is no option's value; code connects to others by a call.
    let is_host = |arg: &&Arg| {
        let text = arg.text.as_str();
        let host = text.split(['/', ':']).next().unwrap_or_default();
        text.contains(['/', ':', '.']) && !text.contains("://") && !is_this_machine(host)
    };
    let connects = |arg: &&Arg| ["connect", "Mongo("].iter().any(|call| arg.text.contains(call));
    let is_named = by_name
        && (parsed.operands.iter().any(is_host) || parsed.values(&["--eval"]).iter().any(connects));
    let names_host = |arg: &Arg| {
        let text = arg.text.as_str();
        let here = text.strip_prefix("--host=").is_some_and(is_this_machine);
        is_server_elsewhere(text)
            || !here && !is_here_by_settings(text) && names_host_in_settings(text)
            || hides_host(text, if is_postgres { "AaEeHlnqsStXxz1wW" } else { OTHER_LETTERS })
            || arg.opaque_start()
    };
    let containable = hosts.iter().all(is_here)
        && !is_named
        && !parsed.args.iter().any(names_host)
        && !parsed.operands.iter().any(first_is_host);
    let rule = Rule::Program(parsed.name.to_owned());
    let reason = format!("`{}` {}", parsed.name, Class::Connects.sentence());
    judge.add(Finding { containable, lasting: !containable, ..Finding::ask(rule, reason) });
}

/// Whether settings of a connection name a host: `host = db1`, `hostaddr=…`, `service=…`.
fn names_host_in_settings(text: &str) -> bool {
    let decoded = file_uri::percent_decoded(text);
    let packed: String =
        decoded.as_deref().unwrap_or(text).chars().filter(|c| !c.is_whitespace()).collect();
    ["host=", "hostaddr=", "service="].iter().any(|setting| packed.contains(setting))
}

/// Whether settings of a connection are plain ones, each host of which is this machine.
fn is_here_by_settings(text: &str) -> bool {
    let text = text.strip_prefix("--dbname=").unwrap_or(text);
    let plain = |c: char| c.is_ascii_alphanumeric() || "_./-".contains(c);
    text.split(' ').filter(|setting| !setting.is_empty()).all(|setting| {
        let (name, value) = setting.split_once('=').unwrap_or((setting, "="));
        let is_host = name.starts_with("host");
        let is_name = name.bytes().all(|b| b.is_ascii_lowercase() || b == b'_');
        is_name
            && value.chars().all(plain)
            && !name.starts_with("service")
            && (!is_host || !value.is_empty() && is_this_machine(value))
    })
}

/// Letters of mysql and redis-cli, and of their kin, that take nothing.
const OTHER_LETTERS: &str = "AabBcCEfGHiIjKLmnNoqrstTvwXx?0123456789";

/// Whether `-h` stands behind other letters of one word, which take nothing: `-qhdb1`.
fn hides_host(word: &str, plain: &str) -> bool {
    let letters = word.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let behind = letters.map(|letters| letters.trim_start_matches(|c| plain.contains(c)));
    behind.is_some_and(|behind| behind.starts_with('h') && Some(behind) != letters)
}

/// Whether these name the machine itself, or a socket on it. Some programs take several hosts.
pub(crate) fn is_this_machine(hosts: &str) -> bool {
    let is_here =
        |host: &str| matches!(host, "" | "::1" | "[") || is_loopback(host) || host.starts_with('/');
    hosts.split(',').all(is_here)
}

/// Whether a name or number is this machine wherever it is looked up. Names below `localhost` are (RFC 6761).
fn is_loopback(host: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let is_below = |host: &str| !host.is_empty() && host.chars().all(is_plain);
    matches!(host, "localhost" | "127.0.0.1" | "0.0.0.0")
        || host.strip_suffix(".localhost").is_some_and(is_below)
}

/// Whether an address names a server on another machine.
pub(crate) fn is_server_elsewhere(address: &str) -> bool {
    let Some((_, rest)) = address.split_once("://") else { return false };
    let authority = rest.split(['/', '?']).next().unwrap_or_default();
    let hosts = authority.rsplit('@').next().unwrap_or_default();
    let is_here = |host: &str| {
        host.starts_with("[::1]") || is_this_machine(host.split(':').next().unwrap_or_default())
    };
    !hosts.split(',').all(is_here) || names_host_in_settings(rest)
}

/// Beginnings of the schemes of databases and brokers.
const DATABASES: [&str; 9] =
    ["postgres", "mysql", "mariadb", "mongodb", "redis", "rediss", "sqlserver", "mssql", "amqp"];

/// Whether a word has the address of a database on another machine in it.
pub(crate) fn is_database_elsewhere(word: &str) -> bool {
    let Some((before, _)) = word.split_once("://") else { return false };
    let of_scheme = |c: char| c.is_ascii_alphanumeric() || "+.-".contains(c);
    let begin = before.trim_end_matches(of_scheme).len();
    let scheme = before[begin..].to_lowercase();
    DATABASES.iter().any(|known| scheme.starts_with(known)) && is_server_elsewhere(&word[begin..])
}

impl Judge<'_> {
    /// Asks about a program that may change a database that others use.
    pub(super) fn reaches_database(&mut self, name: &str, args: &[Arg]) {
        if args.iter().any(|arg| is_database_elsewhere(arg.guessed())) {
            let rule = Rule::Program(name.to_owned());
            let reason = format!("`{name}` gets a database that is not on this machine");
            self.add(Finding::ask(rule, reason).for_good());
        }
    }
}

/// Whether the words of a program that fetches may carry something away: they are put together when
/// the line runs, or one is an address that nothing else judges.
pub(super) fn sends(parsed: &ParsedArgs<'_>) -> bool {
    let judges = parsed.program.operands.contains(&Role::Address);
    if is_local_only(parsed) {
        return false;
    }
    parsed.args.iter().any(|arg| arg.text.contains(HOLE) || (!judges && arg.text.contains("://")))
}

/// Whether a program that takes addresses gets one, and only such of this machine.
pub(super) fn is_local_only(parsed: &ParsedArgs<'_>) -> bool {
    let elsewhere = [
        "-x",
        "--proxy",
        "--preproxy",
        "--resolve",
        "--connect-to",
        "-K",
        "--config",
        "-e",
        "--execute",
    ];
    // Of curl it shows headers.
    let lists = parsed.name.starts_with("wget") && parsed.has(&["-i", "--input-file"]);
    parsed.program.operands.contains(&Role::Address)
        && !parsed.operands.is_empty()
        && parsed.operands.iter().all(|arg| is_local(arg))
        && !parsed.has(&elsewhere)
        && !parsed.has(&["--url", "--doh-url", "--socks4", "--socks5"])
        && !lists
}

/// Whether an address is certainly one of this machine.
fn is_local(arg: &Arg) -> bool {
    let authority = web::authority(&arg.text);
    let host = authority.split_once(':').map_or(authority, |(host, _)| host);
    let is_numbered = |rest: &str| rest.is_empty() || rest.starts_with(':');
    let is_here = is_loopback(host) || authority.strip_prefix("[::1]").is_some_and(is_numbered);
    is_here && !authority.contains('@')
}

/// httpie and xh: the first word is the address, or the method and the second one is. A sandbox holds what
/// goes to this machine.
pub(crate) fn request(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const ELSEWHERE: [&str; 3] = ["--proxy", "--resolve", "--unix-socket"];
    let mut words = parsed.operands.as_slice();
    if let [method, rest @ ..] = words
        && !rest.is_empty()
        && method.text.bytes().all(|b| b.is_ascii_alphabetic())
    {
        words = rest;
    }
    let is_here = |arg: &&Arg| {
        // `://host` is short for `http://host`.
        let rest = arg.text.strip_prefix(':').filter(|rest| !rest.starts_with("//"));
        let port = rest.map(|rest| rest.split('/').next());
        let is_port =
            |port: Option<&str>| port.is_some_and(|port| port.is_empty() || is_number(port));
        arg.known().is_some() && (port.is_some_and(is_port) || is_local(arg))
    };
    let containable = words.first().is_some_and(is_here)
        && parsed.is_certain()
        && parsed.args.iter().all(|arg| !arg.opaque_start())
        && !parsed.has(&ELSEWHERE);
    for (_, file) in words.iter().skip(1).filter_map(|arg| arg.text.split_once('@')) {
        judge.opens(&Arg::exact(file), Access::Read);
    }
    let rule = Rule::Program(parsed.name.to_owned());
    let reason = format!("`{}` {}", parsed.name, Class::Connects.sentence());
    judge.add(Finding { containable, lasting: !containable, ..Finding::ask(rule, reason) });
}

/// Programs of which an option says that nothing leaves the machine or is shown: the entry lists no others
/// that would take that back.
pub(crate) fn rehearsal(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let dry = parsed.values(&["--dry-run"]);
    let is_dry = !dry.is_empty()
        && dry.len() == parsed.count(&["--dry-run"])
        && dry.iter().all(|value| value.known() == Some("client"));
    let tells = parsed.has(&[
        "--syntax-check",
        "--list-tasks",
        "--list-tags",
        "--list-hosts",
        "--services",
        "--images",
        "--profiles",
        "--volumes",
        "-q",
        "--quiet",
    ]);
    let is_held = (tells || is_dry) && parsed.is_certain();
    let class = match is_held {
        // It may name an address.
        true if is_dry => Class::Fetches,
        true => Class::Runs,
        false => parsed.program.class,
    };
    judge.classified(class, parsed);
}

/// `nc -z`: only looks whether a port is open.
pub(crate) fn probe(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let plain = |arg: &Arg| {
        arg.known().is_some_and(|text| {
            let letters = text.strip_prefix('-').unwrap_or_default();
            let number = |t: &str| t.bytes().all(|b| b.is_ascii_digit());
            match text.starts_with('-') {
                true => letters.bytes().all(|b| b"zvn4w".contains(&b)) || number(letters),
                false => number(text) || matches!(text, "localhost" | "127.0.0.1" | "::1"),
            }
        })
    };
    let looks = parsed.args.iter().any(|arg| arg.text.starts_with('-') && arg.text.contains('z'));
    let class = match looks && parsed.args.iter().all(plain) {
        true => Class::Describes,
        false => Class::Connects,
    };
    judge.classified(class, parsed);
}

/// `kubectl get`: what is shown must not be secrets.
pub(crate) fn cluster(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let secret = |arg: &Arg| arg.text.to_lowercase().contains("secret");
    let reads_a_file = |arg: &Arg| arg.text.contains("file=");
    let unknown = parsed.args.iter().any(|arg| arg.known().is_none());
    if parsed.args.iter().any(|arg| secret(arg) || reads_a_file(arg)) || unknown {
        judge.classified(Class::Reveals, parsed);
    }
}

/// Services of aws of which lists and descriptions hold no secrets.
const CLOUD_SERVICES: &str = "ec2 eks rds elbv2 route53 cloudwatch autoscaling s3api \
                              cloudfront acm sqs sns";

/// `aws`: what only lists and describes.
pub(crate) fn cloud(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_args();
    let words = words.unwrap_or_default();
    let reads = match words.as_slice() {
        ["s3", "ls", rest @ ..] => plain_values(rest),
        ["sts", "get-caller-identity", rest @ ..] => plain_values(rest),
        [service, verb, rest @ ..] => {
            let known = CLOUD_SERVICES.split_ascii_whitespace().any(|known| known == *service);
            let shows = verb.starts_with("describe-") || verb.starts_with("list-");
            known && shows && plain_values(rest)
        }
        ["help" | "version"] => true,
        _ => false,
    };
    let class = if reads { Class::Queries } else { Class::Connects };
    judge.classified(class, parsed);
}

/// Whether no word names a file to send or another server.
fn plain_values(words: &[&str]) -> bool {
    let known = [
        "--profile",
        "--region",
        "--output",
        "--query",
        "--no-cli-pager",
        "--max-items",
        "--page-size",
        "--filters",
        "--instance-ids",
        "--recursive",
        "--human-readable",
        "--summarize",
        "--bucket",
        "--prefix",
        "--names",
        "--cluster-name",
    ];
    words.iter().all(|word| {
        let option = word.split('=').next().unwrap_or_default();
        !word.contains("://") && (!word.starts_with('-') || known.contains(&option))
            || word.starts_with("s3://")
    })
}

/// `kill %1`: a job of the line itself. What is only known when the line runs is what it started, as
/// a rule; in a sandbox no other process is within reach.
pub(crate) fn kill(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    const SIGNALS: &str = "-0 -9 -15 -TERM -INT -KILL -HUP -l";
    let is_job = |text: &str| {
        let job = text.strip_prefix('%');
        job.is_some_and(|job| job.bytes().all(|b| b.is_ascii_alphanumeric() || b"%+-".contains(&b)))
    };
    let named = match parsed.args {
        [signal, rest @ ..] if signal.known().is_some_and(|text| lists(SIGNALS, text)) => rest,
        args => args,
    };
    let unknown = named.iter().any(|arg| arg.known().is_none());
    if !named.iter().filter_map(Arg::known).all(is_job) || parsed.args.is_empty() {
        judge.classified(Class::Administers, parsed);
    } else if unknown {
        judge.about(parsed, Decision::Ask, true, "ends a process that the line may have started");
    }
}
