//! Reading records of every generation.
//!
//! What this program writes is read strictly: a word that it does not know, or a member that
//! does not fit the others, is an error. Older generations were laxer, and what they accepted is
//! read so that a person decides.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::*;
use crate::checkpoint::read_checkpoint;
use crate::document::DocumentError;
use crate::finish::{read_finish, read_intent};
use onloop_effect::ProcessGroup;
use onloop_syntax::text::UnknownWord;

/// Puts a verdict together again.
///
/// # Errors
///
/// The word is not known.
pub(crate) fn verdict_from_parts(
    verdict: &str,
    reason: Option<String>,
) -> Result<CheckVerdict, UnknownWord> {
    let reason = reason.unwrap_or_default();
    Ok(match verdict {
        "passed" => CheckVerdict::Passed,
        "failed" => CheckVerdict::Failed { reason },
        "needs_human" => CheckVerdict::NeedsHuman { prompt: reason },
        "cannot_evaluate" => CheckVerdict::CannotEvaluate { reason },
        other => {
            let expected = vec!["passed", "failed", "needs_human", "cannot_evaluate"];
            return Err(UnknownWord::new(other, expected));
        }
    })
}

/// What is wrong with the member at `path`: `what` goes on after its name.
fn bad(path: &str, what: impl std::fmt::Display) -> ReadError {
    damaged(format!("`{path}` {what}"))
}

/// The path of a member, from its name. A large plan has tens of thousands, so paths are put into
/// words where something is wrong.
type At<'a> = &'a dyn Fn(&str) -> String;

fn missing(path: &str) -> ReadError {
    bad(path, "is missing")
}

fn word<T: std::str::FromStr<Err = UnknownWord>>(path: &str, word: &str) -> Result<T, ReadError> {
    word.parse().map_err(|error| bad(path, error))
}

fn unknown<T>(path: &str, found: &str, expected: &[&'static str]) -> Result<T, ReadError> {
    Err(bad(path, UnknownWord::new(found, expected.to_vec())))
}

pub(super) fn from_document(
    document: RunDocument,
    generation: Generation,
) -> Result<Record, ReadError> {
    let written = match document.written {
        None => None,
        Some(written) => match (written.auto_approve, written.limits) {
            (None, None) => None,
            (None, Some(_)) => return Err(missing("written.auto_approve")),
            (Some(auto_approve), limits) => {
                let limits = limits.as_ref().map(|limits| read_budgets("written.limits", limits));
                Some(Written { auto_approve, budgets: limits.transpose()?.unwrap_or_default() })
            }
        },
    };
    let steps = document.steps.into_iter().enumerate();
    let events = document.events.into_iter().enumerate();
    Ok(Record {
        status: word("status", &document.status)?,
        pause_reason: document.pause_reason,
        place: Place {
            workflow_path: document.workflow_path,
            source_workflow_path: present(document.source_workflow_path),
            source_branch: present(document.source_branch),
            source_head: present(document.source_head),
            branch: present(document.branch),
            repo_root: present(document.repo_root),
            execution_root: present(document.execution_root).unwrap_or_default(),
            worktree_path: present(document.worktree_path),
            executor_mode: present(document.executor_mode).unwrap_or_default(),
            driver: present(document.driver),
            host: present(document.host),
            slug: present(document.workflow_slug).unwrap_or_default(),
            report_path: present(document.report_path)
                .unwrap_or_else(|| format!(".hotl/reports/{}.md", document.run_id)),
        },
        id: document.run_id,
        settings: RunSettings {
            intent: document.intent,
            success_criteria: document.success_criteria,
            risk: read_risk(&document.risk_level)?,
            auto_approve: document.auto_approve,
            allow: document.allow.unwrap_or_default(),
            protect: document.protect.unwrap_or_default(),
            commit: match document.commit {
                Some(when) => word("commit", &when)?,
                None => CommitWhen::default(),
            },
            setup: document.setup.unwrap_or_default(),
            confine: match document.confine.as_deref() {
                None => false,
                Some("on") => true,
                Some(other) => return unknown("confine", other, &["on"]),
            },
            progress_verbose: document.options.progress_verbose,
            report_full: document.options.report_full,
            budgets: read_budgets("budgets.limits", &document.budgets.limits)?,
            plan_digest: document.plan_digest,
            written,
            reverify: !document.options.no_reverify,
            review_agent: document.options.review_agent,
        },
        steps: steps.map(|step| read_step(step, generation)).collect::<Result<_, _>>()?,
        events: events.map(read_event).collect::<Result<_, _>>()?,
        revision: document.revision,
        started_at: read_time("started_at", &document.started_at)?,
        last_update: read_time("last_update", &document.last_update)?,
        completed_at: present(document.completed_at)
            .map(|text| read_time("completed_at", &text))
            .transpose()?,
        active_ms: document.budgets.observed.active_ms,
        usage: read_usage(&document.budgets.observed)?,
        reviews: read_reviews(document.reviews)?,
        reverified: document.reverified,
        finish: read_finish(document.finish).map_err(|error| damaged(error.to_string()))?,
        finish_intent: read_intent(document.finish_intent)
            .map_err(|error| damaged(error.to_string()))?,
        turns: document.turns.unwrap_or_default().into_iter().map(read_turn).collect(),
        waits: document
            .waits
            .into_iter()
            .flatten()
            .map(read_wait)
            .collect::<Result<_, _>>()
            .map_err(|error| damaged(error.to_string()))?,
        set_up: document.set_up.map(|done| SetUp { copied: done.copied, commands: done.commands }),
        acting: document.acting.map(read_acting).transpose()?,
        holds: read_holds(document.confined.unwrap_or_default())?,
        finished_commit: present(document.finished_commit),
        checkpoints: document
            .checkpoints
            .into_iter()
            .map(read_checkpoint)
            .collect::<Result<_, _>>()
            .map_err(|error| damaged(error.to_string()))?,
        unknown: document.unknown,
        unknown_inside: BTreeMap::new(),
    })
}

/// Older agents passed the word `null` for values they did not know.
fn present(value: Option<String>) -> Option<String> {
    value.filter(|text| !text.is_empty() && text != "null")
}

fn read_time(path: &str, text: &str) -> Result<Timestamp, ReadError> {
    Timestamp::parse(text)
        .ok_or_else(|| bad(path, format!("is {:?}, expected a time", text::ellipsis(text, 80))))
}

fn read_risk(word: &str) -> Result<Risk, ReadError> {
    word.parse().or_else(|_| unknown("risk_level", word, &["low", "medium", "high"]))
}

fn read_usage(observed: &ObservedDocument) -> Result<Usage, ReadError> {
    if let Some(name) =
        observed.unknown_usage.iter().find(|name| !["cost_usd", "tokens"].contains(&name.as_str()))
    {
        return unknown("budgets.observed.unknown_usage", name, &["cost_usd", "tokens"]);
    }
    let unknown = |name: &str| observed.unknown_usage.iter().any(|entry| entry == name);
    let cost = read_money("budgets.observed.cost_usd", observed.cost_usd)?;
    Ok(Usage {
        agents: observed.agents,
        cost: match unknown("cost_usd") {
            true => Amount::Unknown,
            false => Amount::Known(cost.unwrap_or_default()),
        },
        tokens: match unknown("tokens") {
            true => Amount::Unknown,
            false => Amount::Known(observed.tokens.unwrap_or_default()),
        },
    })
}

fn read_money(path: &str, usd: Option<f64>) -> Result<Option<Money>, ReadError> {
    let Some(usd) = usd else { return Ok(None) };
    let expected = || bad(path, format!("is {usd}, expected an amount from 0"));
    Money::from_usd(usd).map(Some).ok_or_else(expected)
}

fn read_budgets(path: &str, limits: &LimitsDocument) -> Result<Budgets, ReadError> {
    Ok(Budgets {
        total_attempts: limits.total_attempts,
        agents: limits.agents,
        cost: read_money(&format!("{path}.cost_usd"), limits.cost_usd)?,
        tokens: limits.tokens,
        elapsed_minutes: limits.elapsed_minutes,
    })
}

fn read_acting(document: ActingDocument) -> Result<Acting, ReadError> {
    let worker = match document.worker.as_str() {
        "" => Worker::Agent,
        name => word("acting.worker", name)?,
    };
    acting_of(worker, document).map_err(|error| damaged(error.to_string()))
}

pub(crate) fn acting_of(worker: Worker, document: ActingDocument) -> Result<Acting, DocumentError> {
    let ActingDocument { step, pid, started, boot, host, confined, .. } = document;
    let hold = confined.map(hold::read).transpose()?;
    Ok(Acting { worker, step, group: ProcessGroup { pid, started, boot }, host, hold })
}

fn read_holds(documents: Vec<WorkHoldDocument>) -> Result<Vec<WorkHold>, ReadError> {
    let holds: Result<_, _> = documents.into_iter().map(hold::read_work).collect();
    holds.map_err(|error| damaged(error.to_string()))
}

/// The limits of a run; see [`limits_document`].
pub(crate) fn read_limits(limits: &LimitsDocument) -> Result<Budgets, ReadError> {
    read_budgets("limits", limits)
}

/// A step of a plan, as [`step_document`] writes one that has not begun.
pub(crate) fn read_plan_step((index, document): (usize, StepDocument)) -> Result<Step, ReadError> {
    read_step((index, document), Generation::Present).map(|record| record.step)
}

fn read_reviews(document: ReviewsDocument) -> Result<Reviews, ReadError> {
    let read = |place: &str, standing: Option<StandingDocument>| match standing {
        None => Ok(None),
        Some(StandingDocument { step, verdict, findings, .. }) => {
            let verdict = word(&format!("reviews.{place}.verdict"), &verdict)?;
            Ok::<_, ReadError>(Some(BlockingReview { step, verdict, findings }))
        }
    };
    let standing = read("standing", document.standing)?;
    Ok(Reviews {
        base: present(document.base),
        reviewed_step: document.reviewed_step,
        finally_reviewed: document.finally_reviewed,
        standing,
        last: read("last", document.last)?,
    })
}

fn read_event((index, document): (usize, EventDocument)) -> Result<LogEntry, ReadError> {
    Ok(LogEntry {
        at: read_time(&format!("events[{index}].at"), &document.at)?,
        event: document.event,
        step: document.step,
        text: document.text,
        detail: document.detail.unwrap_or_default(),
    })
}

fn read_step(
    (index, document): (usize, StepDocument),
    generation: Generation,
) -> Result<StepRecord, ReadError> {
    let at = |name: &str| format!("steps[{index}].{name}");
    let status = read_step_status(&at, &document)?;
    let (checks, results) = read_verify(&at, document.verify, generation)?;
    let repeat = read_loop(&at, document.r#loop.as_deref(), document.max_iterations)?;
    let gate = match (document.gate.as_deref(), generation) {
        (None, _) | (Some("null" | ""), Generation::Older) => None,
        (Some("auto"), _) => Some(Gate::Auto),
        // Whatever else an old file says asks a person.
        (Some("human"), _) | (Some(_), Generation::Older) => Some(Gate::Human),
        (Some(other), _) => return unknown(&at("gate"), other, &["human", "auto"]),
    };
    let gate_record = read_gate(
        &at,
        present(document.gate_result).as_deref(),
        present(document.gate_mode).as_deref(),
        generation,
    )?;
    let script = document.script.map(|script| {
        let shell = read_shell(|| at("script.shell"), &script.shell)?;
        Ok(Script { shell, text: script.text })
    });
    let time = |name: &str, text: Option<String>| {
        present(text).map(|text| read_time(&at(name), &text)).transpose()
    };
    Ok(StepRecord {
        step: Step {
            number: u32::try_from(index).unwrap_or(u32::MAX).saturating_add(1),
            name: document.name,
            action: document.action,
            script: script.transpose()?,
            repeat,
            checks,
            gate,
            sensitive: document.security_sensitive,
        },
        status,
        attempts: document.attempts,
        uncounted: document.uncounted_attempts,
        started_at: time("started_at", document.started_at)?,
        completed_at: time("completed_at", document.completed_at)?,
        results,
        last_failure: document
            .last_failure
            .map(|failure| LastFailure { reason: failure.reason, output: failure.output }),
        gate: gate_record,
        unknown: document.unknown,
    })
}

fn read_gate(
    at: At<'_>,
    result: Option<&str>,
    mode: Option<&str>,
    generation: Generation,
) -> Result<Option<GateRecord>, ReadError> {
    let (decision, mode) = match (result, mode, generation) {
        (None, None, _) | (None, Some(_), Generation::Older) => return Ok(None),
        (Some("approved"), mode, Generation::Older) => (GateDecision::Approved, mode),
        (Some(_), mode, Generation::Older) => (GateDecision::Rejected, mode),
        (Some(result), Some(mode), _) => {
            let mode = word(&at("gate_mode"), mode)?;
            return Ok(Some(GateRecord { decision: word(&at("gate_result"), result)?, mode }));
        }
        (None, Some(_), _) => return Err(bad(&at("gate_result"), "is null beside a `gate_mode`")),
        (Some(_), None, _) => return Err(bad(&at("gate_mode"), "is null beside a `gate_result`")),
    };
    let mode = if mode == Some("auto") { Mode::Auto } else { Mode::Human };
    Ok(Some(GateRecord { decision, mode }))
}

fn read_step_status(at: At<'_>, document: &StepDocument) -> Result<StepStatus, ReadError> {
    Ok(match document.status.as_str() {
        "pending" => StepStatus::Pending,
        "in_progress" => StepStatus::InProgress(match document.phase.as_deref() {
            // Older generations knew no phases.
            None => Phase::Acting,
            Some(phase) => word(&at("phase"), phase)?,
        }),
        "done" => StepStatus::Done,
        "failed" => StepStatus::Failed {
            reason: document.failure_reason.clone().unwrap_or_else(|| "verify failed".to_owned()),
        },
        "blocked" => StepStatus::Blocked(BlockReason::from_text(
            document.block_reason.as_deref().unwrap_or_default(),
        )),
        other => {
            let expected = ["pending", "in_progress", "done", "failed", "blocked"];
            return unknown(&at("status"), other, &expected);
        }
    })
}

fn read_loop(at: At<'_>, word: Option<&str>, max_iterations: u32) -> Result<Loop, ReadError> {
    let limit = NonZeroU32::new(max_iterations)
        .or(NonZeroU32::new(limits::DEFAULT_ITERATIONS))
        .unwrap_or(NonZeroU32::MIN);
    match word {
        None | Some("false" | "null" | "") => Ok(Loop::Never),
        Some(word) => match word.strip_prefix("until") {
            Some(condition) => Ok(Loop::Until { condition: condition.trim().to_owned(), limit }),
            None => unknown(&at("loop"), word, &["false", "until …"]),
        },
    }
}

fn read_verify(
    at: At<'_>,
    document: Option<Box<CheckDocument>>,
    generation: Generation,
) -> Result<(Vec<Check>, Vec<CheckResult>), ReadError> {
    let mut read = (Vec::new(), Vec::new());
    let Some(mut document) = document else { return Ok(read) };
    if document.r#type.as_deref() == Some("multi") {
        let items = document.checks.take().ok_or_else(|| missing(&at("verify.checks")))?;
        for (index, item) in items.into_iter().enumerate() {
            let at = |name: &str| at(&format!("verify.checks[{index}].{name}"));
            read_item(&at, item, generation, &mut read)?;
        }
    } else if !is_empty_check(&document, generation) {
        let at = |name: &str| at(&format!("verify.{name}"));
        read_item(&at, *document, generation, &mut read)?;
    }
    Ok(read)
}

/// Adds a check and its result to those that were read before.
fn read_item(
    at: At<'_>,
    item: CheckDocument,
    generation: Generation,
    (checks, results): &mut (Vec<Check>, Vec<CheckResult>),
) -> Result<(), ReadError> {
    let result = read_result(at, checks.len() as u32, &item, generation);
    checks.push(read_check(at, item, generation)?);
    results.extend(result?);
    Ok(())
}

/// Older generations wrote an empty shell command for a step without verify.
fn is_empty_check(document: &CheckDocument, generation: Generation) -> bool {
    generation == Generation::Older
        && document.r#type.as_deref() == Some("shell")
        && document.command.as_deref().is_some_and(|command| command.trim().is_empty())
}

fn read_result(
    at: At<'_>,
    check: u32,
    item: &CheckDocument,
    generation: Generation,
) -> Result<Option<CheckResult>, ReadError> {
    let verdict = match (item.verdict.as_deref(), item.passed, generation) {
        (Some(verdict), passed, _) => {
            let verdict = verdict_from_parts(verdict, item.reason.clone())
                .map_err(|error| bad(&at("verdict"), error))?;
            let (expected, ..) = verdict_parts(&verdict);
            match (passed, expected) {
                (None, Some(_)) => return Err(missing(&at("passed"))),
                (passed, expected) if passed != expected => {
                    return Err(bad(&at("passed"), "does not fit the verdict"));
                }
                _ => {}
            }
            verdict
        }
        (None, Some(true), Generation::Older) => CheckVerdict::Passed,
        (None, Some(false), Generation::Older) => {
            CheckVerdict::Failed { reason: item.reason.clone().unwrap_or_default() }
        }
        (None, None, Generation::Older) => return Ok(None),
        (None, passed, _) => {
            let is_result = passed.is_some() || item.stdout.is_some() || item.stderr.is_some();
            return if is_result { Err(missing(&at("verdict"))) } else { Ok(None) };
        }
    };
    let output = |name: &str, text: &Option<String>| match (text, generation) {
        (Some(text), _) => Ok(text.clone()),
        (None, Generation::Older) => Ok(String::new()),
        (None, _) => Err(missing(&at(name))),
    };
    if item.reason.is_none() && generation != Generation::Older && verdict != CheckVerdict::Passed {
        return Err(missing(&at("reason")));
    }
    let (stdout, stderr) = (output("stdout", &item.stdout)?, output("stderr", &item.stderr)?);
    Ok(Some(CheckResult { check, verdict, stdout, stderr, measured: None, warnings: Vec::new() }))
}

fn read_check(
    at: At<'_>,
    document: CheckDocument,
    generation: Generation,
) -> Result<Check, ReadError> {
    let needed = |value: Option<String>, name: &str| value.ok_or_else(|| missing(&at(name)));
    let kind = needed(document.r#type, "type")?;
    Ok(match kind.as_str() {
        "shell" => Check::Shell(ShellCheck {
            command: needed(document.command, "command")?,
            expect: match document.expect.as_deref() {
                None | Some("pass") => Expectation::Pass,
                Some("fail") => Expectation::Fail,
                Some(other) => return unknown(&at("expect"), other, &["pass", "fail"]),
            },
            timeout_ms: document.timeout_ms,
            cwd: document.cwd,
            env: document.env.unwrap_or_default(),
            shell: match document.shell.as_deref() {
                None => Shell::Bash,
                Some(word) => read_shell(|| at("shell"), word)?,
            },
            network: match document.network.as_deref() {
                None => Network::All,
                Some(name) => word(&at("network"), name)?,
            },
        }),
        "browser" => Check::Browser {
            url: needed(document.url, "url")?,
            check: needed(document.check, "check")?,
        },
        "human-review" => Check::HumanReview { prompt: needed(document.prompt, "prompt")? },
        "artifact" => Check::Artifact {
            path: needed(document.path, "path")?,
            assertion: read_assertion(at, document.assert)?,
        },
        // An older runtime accepted any word. Nobody but a person can say what it meant.
        other if generation == Generation::Older => Check::HumanReview {
            prompt: format!("unsupported verify type: {}", text::one_line(other)),
        },
        other => {
            let expected = ["shell", "browser", "human-review", "artifact", "multi"];
            return unknown(&at("type"), other, &expected);
        }
    })
}

fn read_assertion(
    at: At<'_>,
    document: Option<Box<AssertDocument>>,
) -> Result<Assertion, ReadError> {
    let document = document.ok_or_else(|| missing(&at("assert")))?;
    let value = document.value.ok_or_else(|| missing(&at("assert.value")));
    Ok(match document.kind.as_str() {
        "exists" => Assertion::Exists,
        "contains" => Assertion::Contains(value?),
        "matches-glob" => Assertion::MatchesGlob(value?),
        other => {
            return unknown(&at("assert.kind"), other, &["exists", "contains", "matches-glob"]);
        }
    })
}

fn read_shell(path: impl FnOnce() -> String, word: &str) -> Result<Shell, ReadError> {
    word.parse().or_else(|_| unknown(&path(), word, &["bash", "sh", "pwsh", "cmd"]))
}
