//! What the table cannot say about programs that talk to networks and services.

use super::Judge;
use super::entry::ParsedArgs;
use crate::expand::Arg;
use crate::programs::Class;
use crate::verdict::{Finding, Rule};
use crate::web;

/// Longest address that only names what is fetched; a longer one may carry something away.
const ADDRESS_BYTES: usize = 512;

/// Judges an address that a program fetches.
pub(super) fn address(arg: &Arg) -> Option<Finding> {
    let text = arg.text.as_str();
    let rule = || Rule::Web;
    if arg.known().is_none() && arg.shape != crate::expand::Shape::Pattern {
        return Some(Finding::ask(rule(), "the address is put together when the line runs"));
    }
    let scheme = text.split_once("://").map_or("http", |(scheme, _)| scheme);
    let odd = text.contains('@') || text.len() > ADDRESS_BYTES;
    if !matches!(scheme, "http" | "https") || odd || text.starts_with(['-', '/', '.']) {
        return Some(Finding::ask(rule(), "the address is written in an unusual way"));
    }
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.split_once(':').map_or(authority, |(host, _)| host);
    if matches!(host, "localhost" | "127.0.0.1") || authority.starts_with("[::1]") {
        // A server that was started for trying something.
        return None;
    }
    web::judge(&format!("http://{rest}"))
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
    let words: Option<Vec<&str>> = parsed.args.iter().map(Arg::known).collect();
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

/// `kill %1`: a job of the line itself.
pub(crate) fn kill(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let job = |arg: &Arg| {
        arg.known().is_some_and(|text| match text.strip_prefix('%') {
            Some(job) => !job.is_empty() && job.bytes().all(|b| b.is_ascii_alphanumeric()),
            None => matches!(text, "-9" | "-15" | "-TERM" | "-INT" | "-KILL" | "-HUP" | "-l"),
        })
    };
    if !parsed.args.iter().all(job) || parsed.args.is_empty() {
        judge.classified(Class::Administers, parsed);
    }
}
