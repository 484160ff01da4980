//! The other side of a push where it is a repository in a folder of this machine: `git receive-pack`, which
//! `git push` would start through a shell. Its language is that of gitprotocol-pack(5), version 0.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use onloop_core::effect::{Failure, RefUpdate};
use onloop_core::limits;

use super::GitProgram;
use super::command::lines_until_nul;
use super::references::CHECKPOINTS;
use super::shared::only_below;
use crate::host::processes::Bounds;

/// What this side understands, and wants: all names change or none.
const CAPABILITIES: &str = "report-status atomic quiet object-format=sha1 agent=onloop";
/// The id of a commit that is not there.
const NOTHING: &str = "0000000000000000000000000000000000000000";

/// Variables by which a user has git speak to some places and not to others.
const RULES: [&str; 2] = ["GIT_ALLOW_PROTOCOL", "GIT_PROTOCOL_FROM_USER"];
/// What is configured of a remote that makes no difference to a push of named commits.
const HARMLESS: [&str; 6] =
    ["fetch", "prune", "prunetags", "skipdefaultupdate", "skipfetchall", "tagopt"];

impl GitProgram {
    /// The folder that a push to a remote goes to, where nothing is configured that only `git push` knows
    /// how to heed.
    pub(crate) fn folder_to_push_to(
        &self,
        cwd: &Path,
        remote: &str,
    ) -> Result<Option<PathBuf>, Failure> {
        let listed = self.answer_with_hooks(cwd, &["config", "--list", "-z"])?.success()?;
        let has_rules = RULES.iter().any(|name| std::env::var_os(name).is_some());
        Ok(folder_in(&listed, remote).filter(|_| !has_rules))
    }

    /// Changes names in the repository in `folder`, if each names there what is expected, with the objects of
    /// `pack`. Whether it is known that it did.
    pub(crate) fn hand_over(
        &self,
        cwd: &Path,
        folder: &Path,
        updates: &[RefUpdate],
        pack: &[u8],
    ) -> Result<bool, Failure> {
        let Some(settings) = only_below(updates) else { return Ok(false) };
        let mut command = self.other_side(cwd);
        for setting in settings {
            command.args(["-c", &setting]);
        }
        // Whoever switches it off would be asked for one name after the other.
        command.args(["-c", "receive.advertiseAtomic=true", "receive-pack"]).arg(folder);
        let mut input = commands(updates);
        input.extend_from_slice(pack);
        let bounds = Bounds {
            timeout_ms: limits::GIT_ACT_TIMEOUT_MS,
            limit_bytes: limits::GIT_ANSWER_BYTES,
        };
        let answer = self.run(command, cwd, &["receive-pack"], &input, bounds)?;
        Ok(answer.exit == 0 && took_all(&answer.stdout, updates))
    }
}

/// The folder that a push to a remote goes to, by everything that is configured.
fn folder_in(listed: &[u8], remote: &str) -> Option<PathBuf> {
    let (mut addresses, mut push_addresses) = (Vec::new(), Vec::new());
    let mut replaced = Vec::new();
    let of_remote = format!("remote.{remote}.");
    for entry in lines_until_nul(listed) {
        let entry = std::str::from_utf8(entry).ok()?;
        let (key, value) = entry.split_once('\n').unwrap_or((entry, ""));
        let (section, name) = (key.split('.').next()?, key.rsplit('.').next()?);
        match (section, name, key.strip_prefix(&of_remote)) {
            ("remote", _, Some("url")) => addresses.push(value),
            ("remote", _, Some("pushurl")) => push_addresses.push(value),
            ("remote", _, Some(other)) if !HARMLESS.contains(&other) => return None,
            ("url", "insteadof" | "pushinsteadof", _) => replaced.push(value),
            ("protocol", ..) | ("push", "pushoption", _) | ("core", "hookspath", _) => return None,
            _ => {}
        }
    }
    let addresses = if push_addresses.is_empty() { addresses } else { push_addresses };
    let [address] = addresses[..] else { return None };
    let is_plain = Path::new(address).is_absolute()
        && !replaced.iter().any(|start| address.starts_with(start));
    is_plain.then(|| PathBuf::from(address))
}

/// What is to change, up to where the pack begins.
fn commands(updates: &[RefUpdate]) -> Vec<u8> {
    let mut all = Vec::new();
    for (at, RefUpdate { name, expected, commit }) in updates.iter().enumerate() {
        let id = |id: &Option<String>| id.clone().unwrap_or_else(|| NOTHING.to_owned());
        let mut line = format!("{} {} {CHECKPOINTS}{name}", id(expected), id(commit));
        if at == 0 {
            line += &format!("\0{CAPABILITIES}");
        }
        all.extend(format!("{:04x}{line}", line.len() + 4).into_bytes());
    }
    all.extend_from_slice(b"0000");
    all
}

/// Whether the other side says that it has everything and has changed every name.
fn took_all(said: &[u8], updates: &[RefUpdate]) -> bool {
    let Some((_, said)) = section(said) else { return false };
    let Some((report, _)) = section(said) else { return false };
    let expected = updates.iter().map(|update| format!("ok {CHECKPOINTS}{}", update.name));
    let expected: BTreeSet<String> = expected.chain(["unpack ok".to_owned()]).collect();
    let told: BTreeSet<String> =
        report.iter().map(|line| String::from_utf8_lossy(line).trim_end().to_owned()).collect();
    told == expected
}

/// Lines up to the next flush, and what follows.
fn section(mut said: &[u8]) -> Option<(Vec<&[u8]>, &[u8])> {
    let mut lines = Vec::new();
    loop {
        let (size, rest) = said.split_at_checked(4)?;
        let size = usize::from_str_radix(std::str::from_utf8(size).ok()?, 16).ok()?;
        if size == 0 {
            return Some((lines, rest));
        }
        let (line, rest) = rest.split_at_checked(size.checked_sub(4)?)?;
        lines.push(line);
        said = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn updates() -> Vec<RefUpdate> {
        let id = |digit: &str| Some(digit.repeat(40));
        let update =
            |name: &str, expected, commit| RefUpdate { name: name.to_owned(), expected, commit };
        vec![update("r/lease", id("1"), id("2")), update("r/1-1", None, id("3"))]
    }

    #[test]
    fn what_is_asked_for() {
        let (one, two, three) = ("1".repeat(40), "2".repeat(40), "3".repeat(40));
        let expected = format!(
            "00a4{one} {two} refs/onloop/r/lease\0report-status atomic quiet object-format=sha1 \
             agent=onloop0067{NOTHING} {three} refs/onloop/r/1-10000"
        );
        assert_eq!(String::from_utf8(commands(&updates())).unwrap(), expected);
    }

    #[test]
    fn only_a_report_about_everything_counts() {
        let line = |text: &str| format!("{:04x}{text}", text.len() + 4);
        let before = line("000 refs/heads/main\0report-status\n") + "0000";
        let whole = ["unpack ok\n", "ok refs/onloop/r/lease\n", "ok refs/onloop/r/1-1\n"];
        let report = |lines: &[&str]| {
            before.clone() + &lines.iter().copied().map(line).collect::<String>() + "0000"
        };
        let took = |said: &str| took_all(said.as_bytes(), &updates());
        assert!(took(&report(&whole)));
        for (at, instead) in
            [(0, "unpack failed\n"), (1, "ng refs/onloop/r/lease failed\n"), (2, "ok other\n")]
        {
            let mut lines = whole;
            lines[at] = instead;
            assert!(!took(&report(&lines)), "{instead}");
        }
        assert!(!took(&report(&whole[..2])));
        let said = report(&whole);
        for end in 0..said.len() {
            assert!(!took(&said[..end]), "{}", &said[..end]);
        }
        for said in ["", "zzzz", "0001", "0003x", "ffff", "00000000"] {
            assert!(!took(said), "{said}");
        }
    }

    #[test]
    fn where_a_push_goes_and_where_only_git_knows() {
        let folder = |more: &[&str]| {
            let plain = ["core.bare\nfalse", "remote.origin.fetch\n+refs/*:refs/*", "push.default"];
            let all = plain.iter().chain(more);
            let listed: String = all.map(|entry| format!("{entry}\0")).collect();
            folder_in(listed.as_bytes(), "origin")
        };
        let url = "remote.origin.url\n/shop.git";
        let there = Some(PathBuf::from("/shop.git"));
        assert_eq!(folder(&[url]), there);
        assert_eq!(
            folder(&["remote.origin.url\n/else", "remote.origin.pushurl\n/shop.git"]),
            there
        );
        assert_eq!(
            folder(&[url, "remote.other.vcs\nx", "url.git@h:.insteadof\nhttps://h/"]),
            there
        );
        for other in [
            &[][..],
            &["remote.origin.url\nshop.git"],
            &["remote.origin.url\nhttps://example.org/shop.git"],
            &[url, url],
            &[url, "remote.origin.mirror\ntrue"],
            &[url, "remote.origin.receivepack\nsh"],
            &[url, "url.x.pushinsteadof\n/sh"],
            &[url, "url.x.insteadof\n/shop.git"],
            &[url, "protocol.file.allow\nnever"],
            &[url, "push.pushoption\nci.skip"],
            &[url, "core.hookspath\n/hooks"],
        ] {
            assert_eq!(folder(other), None, "{other:?}");
        }
    }
}
