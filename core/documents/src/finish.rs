//! What became of the work, and what is being done with it, as records and journals store it.

use serde_json::Value;

use super::document::{DocumentError, document};
use onloop_run::{Disposition, Finish, FinishAct, FinishIntent, FinishOutcome, PullRequest};
use onloop_syntax::text::{self, UnknownWord};
use onloop_syntax::time::Timestamp;

document! {
    /// What became of the work: the nine members that every generation writes. All of them
    /// are `null` where nothing is settled yet.
    pub(super) struct FinishDocument {
        disposition: Option<String>,
        recorded_at: Option<String> [first],
        target_branch: Option<String> [first],
        remote: Option<String> [first],
        pr_url: Option<String> [first],
        branch_action: Option<String> [first],
        worktree_action: Option<String> [first],
        artifacts_preserved_at: Option<String> [first],
        notes: Option<String> [first],
    }
}

document! {
    /// What is being done with the work.
    pub(super) struct IntentDocument {
        disposition: String,
        since: Option<String>,
        commit: Option<String>,
        target_branch: Option<String>,
        remote: Option<String>,
        create_pr: bool,
        pr_url: Option<String>,
        notes: Option<String>,
    }
}

impl FinishDocument {
    /// Whether it says what became of the work.
    pub(super) fn is_settled(&self) -> bool {
        self.disposition.as_deref().is_some_and(|word| !word.is_empty() && word != "null")
    }
}

/// The nine members, for summaries and receipts.
pub(super) fn finish_value(finish: Option<&Finish>) -> Value {
    let document = finish.map(finish_document).unwrap_or_default();
    serde_json::to_value(document).expect("the document has only string keys")
}

pub(super) fn finish_document(finish: &Finish) -> FinishDocument {
    FinishDocument {
        recorded_at: Some(finish.recorded_at.to_rfc3339()),
        unknown: finish.unknown.clone(),
        ..outcome_document(&finish.outcome)
    }
}

pub(super) fn outcome_document(outcome: &FinishOutcome) -> FinishDocument {
    FinishDocument {
        disposition: Some(outcome.disposition.as_str().to_owned()),
        target_branch: outcome.target_branch.clone(),
        remote: outcome.remote.clone(),
        pr_url: outcome.pr_url.clone(),
        branch_action: outcome.branch_action.clone(),
        worktree_action: outcome.worktree_action.clone(),
        artifacts_preserved_at: outcome.artifacts_preserved_at.clone(),
        notes: outcome.notes.clone(),
        ..FinishDocument::default()
    }
}

pub(super) fn intent_document(intent: &FinishIntent) -> IntentDocument {
    act_document(&intent.act, Some(intent.since), intent.notes.as_deref())
}

/// An act as it is stored; in a journal the time is that of its line.
pub(super) fn act_document(
    act: &FinishAct,
    since: Option<Timestamp>,
    notes: Option<&str>,
) -> IntentDocument {
    let document = IntentDocument {
        disposition: act.disposition().as_str().to_owned(),
        since: since.map(Timestamp::to_rfc3339),
        commit: act.commit().map(str::to_owned),
        notes: notes.map(str::to_owned),
        ..IntentDocument::default()
    };
    match act {
        FinishAct::Merge { target, .. } => {
            IntentDocument { target_branch: Some(target.clone()), ..document }
        }
        FinishAct::Publish { remote, pull_request, .. } => {
            let (create_pr, pr_url) = match pull_request {
                PullRequest::NotAsked { .. } => (false, None),
                PullRequest::Create { .. } => (true, None),
                PullRequest::Existing { url, .. } => (false, Some(url.clone())),
            };
            let target_branch = pull_request.target().map(str::to_owned);
            let remote = Some(remote.clone());
            IntentDocument { target_branch, remote, create_pr, pr_url, ..document }
        }
        FinishAct::Discard { .. } => document,
    }
}

/// What was recorded, if anything was.
pub(super) fn read_finish(
    document: Option<FinishDocument>,
) -> Result<Option<Finish>, DocumentError> {
    let Some(document) = document.filter(FinishDocument::is_settled) else { return Ok(None) };
    let recorded_at = read_time("finish.recorded_at", document.recorded_at.as_deref())?;
    Ok(Some(Finish {
        recorded_at,
        unknown: document.unknown.clone(),
        outcome: read_outcome(document)?,
    }))
}

/// An outcome, in a record or in a journal.
pub(super) fn read_outcome(document: FinishDocument) -> Result<FinishOutcome, DocumentError> {
    let word = document.disposition.unwrap_or_default();
    Ok(FinishOutcome {
        disposition: read_disposition("finish", &word)?,
        target_branch: present(document.target_branch),
        remote: present(document.remote),
        pr_url: present(document.pr_url),
        branch_action: present(document.branch_action),
        worktree_action: present(document.worktree_action),
        artifacts_preserved_at: present(document.artifacts_preserved_at),
        notes: present(document.notes),
    })
}

/// What was being done, if anything was.
pub(super) fn read_intent(
    document: Option<IntentDocument>,
) -> Result<Option<FinishIntent>, DocumentError> {
    let Some(document) = document else { return Ok(None) };
    let since = read_time("finish_intent.since", document.since.as_deref())?;
    let notes = document.notes.clone();
    Ok(Some(FinishIntent { act: read_act(document)?, since, notes }))
}

pub(super) fn read_act(document: IntentDocument) -> Result<FinishAct, DocumentError> {
    let needed = |value: Option<String>, name: &str| {
        value.ok_or_else(|| DocumentError::member("finish_intent", format!("has no `{name}`")))
    };
    let target = document.target_branch;
    Ok(match read_disposition("finish_intent", &document.disposition)? {
        Disposition::Kept => {
            return Err(DocumentError::member("finish_intent.disposition", "is \"kept\""));
        }
        Disposition::Merged => FinishAct::Merge {
            commit: needed(document.commit, "commit")?,
            target: needed(target, "target_branch")?,
        },
        Disposition::Published => FinishAct::Publish {
            commit: needed(document.commit, "commit")?,
            remote: needed(document.remote, "remote")?,
            pull_request: match (document.create_pr, document.pr_url) {
                (true, _) => PullRequest::Create { target: needed(target, "target_branch")? },
                (false, Some(url)) => PullRequest::Existing { url, target },
                (false, None) => PullRequest::NotAsked { target },
            },
        },
        Disposition::Discarded => FinishAct::Discard { commit: document.commit },
    })
}

fn read_disposition(document: &str, word: &str) -> Result<Disposition, DocumentError> {
    let path = format!("{document}.disposition");
    word.parse().map_err(|error: UnknownWord| DocumentError::member(path, error))
}

/// Older agents passed the word `null` for values they did not know.
fn present(value: Option<String>) -> Option<String> {
    value.filter(|text| !text.is_empty() && text != "null")
}

fn read_time(path: &str, text: Option<&str>) -> Result<Timestamp, DocumentError> {
    let text = text.ok_or_else(|| DocumentError::member(path, "is null"))?;
    Timestamp::parse(text).ok_or_else(|| {
        let found = text::ellipsis(text, 80);
        DocumentError::member(path, format!("is {found:?}, expected a time"))
    })
}
