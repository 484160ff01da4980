//! What a pull request says has to change, as data for an agent: bounded, and only from people who may
//! say so.

use super::watch::{folder, url};
use crate::forge::{Answer, Forge, ForgeError, ServerCheck, ServerReview};
use onloop_effect::Io;
use onloop_engine::error::CommandError;
use onloop_engine::git::hardened;
use onloop_engine::state::config;
use onloop_run::{RepairCause, Run};
use onloop_syntax::limits;
use onloop_syntax::text;
use std::collections::BTreeSet;

/// What has to change.
pub(super) struct Feedback {
    /// Which kind of repair that is; `None`: only a person can help.
    pub(super) cause: Option<RepairCause>,
    /// Why, as a clause on one line.
    pub(super) reason: String,
    /// What the agent is shown.
    pub(super) output: String,
    /// The reviews in it.
    pub(super) reviews: Vec<String>,
}

/// Most failed checks whose logs are read.
const LOGS: usize = 4;

impl Feedback {
    /// Something that no agent can repair.
    pub(super) fn of_person(reason: &str) -> Feedback {
        let (reason, output) = (reason.to_owned(), String::new());
        Feedback { cause: None, reason, output, reviews: Vec::new() }
    }

    fn of(cause: RepairCause, reason: String, output: String) -> Feedback {
        Feedback { cause: Some(cause), reason, output, reviews: Vec::new() }
    }
}

/// The failed checks, with the ends of their logs.
pub(super) async fn checks(
    io: &Io,
    run: &Run,
    failed: &[&ServerCheck],
) -> Result<Feedback, CommandError> {
    let (url, folder) = (url(run), folder(run));
    let forge = Forge::of_address(io, &url).await;
    let shown = limits::PROMPT_OUTPUT_BYTES / failed.len().clamp(1, LOGS);
    let mut output = String::new();
    for check in failed.iter().take(LOGS) {
        let log = match forge.log(io, &folder, &url, check).await {
            Ok(log) if !log.trim().is_empty() => log,
            Ok(_) => "it has no log here".to_owned(),
            Err(error) => format!("its log cannot be read: {}", error.reason()?),
        };
        let (name, place) = (text::one_line(&check.name), text::one_line(&check.url));
        let head = format!("Check {name} ({place}), the end of its log:\n");
        let log = text::printable(&log);
        let rest = shown.saturating_sub(head.len() + 1);
        output += &format!("{head}{}\n", text::suffix(log.trim_end(), rest));
    }
    let names: Vec<String> = failed.iter().take(LOGS).map(|c| text::one_line(&c.name)).collect();
    let more = match failed.len().saturating_sub(LOGS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let are = if failed.len() == 1 { "check fails" } else { "checks fail" };
    let (count, names) = (failed.len(), names.join(", "));
    let reason = text::ellipsis(&format!("{count} {are} on the server: {names}{more}"), 300);
    Ok(Feedback::of(RepairCause::Checks, reason, output))
}

/// The branch conflicts with its target. The target is fetched, so that the agent can merge it.
pub(super) async fn conflict(io: &Io, run: &Run) -> Result<Feedback, CommandError> {
    let tracked = run.pull_request.as_ref();
    let target = tracked.and_then(|tracked| tracked.target_branch.as_deref());
    let (Some(tracked), Some(target)) = (tracked, target) else {
        return Ok(Feedback::of_person("the branch conflicts with its target"));
    };
    let remote = tracked.remote.as_str();
    let reason = format!("the branch conflicts with `{}`", text::one_line(target));
    let commit = match fetch(io, run, remote, target).await {
        Ok(commit) => commit,
        Err(error) => {
            let why = text::one_line(&error.reason()?);
            return Ok(Feedback::of_person(&format!(
                "{reason}, and `{remote}` cannot be read: {why}"
            )));
        }
    };
    let output = format!(
        "Run `git merge {commit}`, which is {target} now, resolve every conflict in the files, keep \
         the purpose of both sides, and commit the merge.\n"
    );
    Ok(Feedback::of(RepairCause::Conflict, reason, output))
}

/// Fetches a branch of the remote and returns its commit. No branch and no file here changes.
async fn fetch(io: &Io, run: &Run, remote: &str, target: &str) -> Answer<String> {
    let name = format!("refs/onloop/{}/target", run.id);
    let update = format!("+refs/heads/{target}:{name}");
    // A server is as little trusted as an agent.
    let fetch = [
        "-c",
        "fetch.fsckObjects=true",
        "fetch",
        "--quiet",
        "--no-tags",
        "--no-recurse-submodules",
        "--no-write-fetch-head",
        "--no-auto-maintenance",
    ];
    let fetch = [&fetch[..], &["--", remote, &update]].concat();
    let commit = format!("{name}^{{commit}}");
    let (folder, mut said) = (folder(run), Vec::new());
    for words in [&fetch[..], &["rev-parse", "--verify", &commit]] {
        let asked = hardened::says(io, &folder, words, None, limits::GIT_ACT_TIMEOUT_MS);
        said = match asked.await {
            Ok(said) => said,
            Err(failure) if failure.is_interrupted() => {
                return Err(CommandError::interrupted().into());
            }
            Err(failure) => {
                return Err(ForgeError::NoAnswer(text::ellipsis(&failure.message, 500)));
            }
        };
    }
    Ok(String::from_utf8_lossy(&said).trim().to_owned())
}

/// What reviewers who may decide ask for and no agent has been told yet.
pub(super) async fn reviews(io: &Io, run: &Run) -> Answer<Option<Feedback>> {
    let (url, folder) = (url(run), folder(run));
    let forge = Forge::of_address(io, &url).await;
    let Some(tracked) = &run.pull_request else { return Ok(None) };
    let answered: BTreeSet<&String> =
        tracked.repairs.iter().flat_map(|repair| &repair.reviews).collect();
    let found = forge.reviews(io, &folder, &url).await?;
    let new: Vec<ServerReview> =
        found.into_iter().filter(|review| !answered.contains(&review.id)).collect();
    if new.is_empty() {
        return Ok(None);
    }
    let trusted = config::own(io, &folder).await.review_from;
    let mut may: Vec<ServerReview> = Vec::new();
    let mut asked: BTreeSet<(String, bool)> = BTreeSet::new();
    for review in new {
        let known = asked.iter().find(|(account, _)| *account == review.account);
        let counts = match known {
            Some((_, counts)) => *counts,
            None => {
                let is_named =
                    trusted.iter().any(|login| login.eq_ignore_ascii_case(&review.login));
                is_named || forge.may_write(io, &folder, &url, &review.account).await?
            }
        };
        asked.insert((review.account.clone(), counts));
        if counts {
            may.push(review);
        }
    }
    Ok(requested(&may))
}

fn requested(reviews: &[ServerReview]) -> Option<Feedback> {
    let first = reviews.first()?;
    let (login, others) = (text::one_line(&first.login), reviews.len() - 1);
    let others = match others {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let shown = limits::PROMPT_OUTPUT_BYTES / reviews.len();
    let output = reviews.iter().map(|review| {
        let head = format!("{}:\n", text::one_line(&review.login));
        let words = text::printable(&review.text);
        let rest = shown.saturating_sub(head.len() + 2);
        format!("{head}{}\n\n", text::prefix(&words, rest))
    });
    let reason = format!("a reviewer asks for the changes below: {login}{others}");
    Some(Feedback {
        reviews: reviews.iter().map(|review| review.id.clone()).collect(),
        ..Feedback::of(RepairCause::Review, reason, output.collect())
    })
}
