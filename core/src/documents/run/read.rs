//! Reading records of every generation.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use super::*;
use crate::documents::finish::{read_finish, read_intent};

/// Puts a verdict together again; `None`: the check has no result.
pub(in crate::documents) fn verdict_from_parts(
    passed: Option<bool>,
    verdict: Option<&str>,
    reason: Option<String>,
) -> Option<CheckVerdict> {
    let reason = reason.unwrap_or_default();
    Some(match (verdict, passed) {
        (Some("passed"), _) | (None, Some(true)) => CheckVerdict::Passed,
        (Some("needs_human"), _) => CheckVerdict::NeedsHuman { prompt: reason },
        (Some("cannot_evaluate"), _) => CheckVerdict::CannotEvaluate { reason },
        (Some(_), _) | (None, Some(false)) => CheckVerdict::Failed { reason },
        (None, None) => return None,
    })
}

pub(super) fn from_document(document: RunDocument) -> Result<Record, ReadError> {
    let started_at = read_time(document.started_at.as_deref()).unwrap_or(Timestamp::EPOCH);
    let steps = document.steps.into_iter().enumerate().map(read_step).collect::<Result<_, _>>()?;
    Ok(Record {
        status: read_run_status(&document.status)?,
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
        terms: Terms {
            intent: document.intent,
            success_criteria: document.success_criteria,
            risk: read_risk(document.risk_level.as_deref())?,
            auto_approve: document.auto_approve,
            progress_verbose: document.options.progress_verbose,
            report_full: document.options.report_full,
            budgets: read_budgets(&document.budgets.limits),
            plan_digest: document.plan_digest,
            written: document.written.auto_approve.map(|auto_approve| Written {
                auto_approve,
                budgets: read_budgets(&document.written.limits.unwrap_or_default()),
            }),
            reverify: !document.options.no_reverify,
            review_agent: document.options.review_agent,
        },
        steps,
        events: document.events.into_iter().map(read_event).collect(),
        revision: document.revision,
        started_at,
        last_update: read_time(document.last_update.as_deref()).unwrap_or(started_at),
        completed_at: read_time(document.completed_at.as_deref()),
        active_ms: document.budgets.observed.active_ms,
        usage: read_usage(&document.budgets.observed),
        reviews: read_reviews(document.reviews),
        reverified: document.reverified,
        finish: read_finish(document.finish).map_err(damaged)?,
        finish_intent: read_intent(document.finish_intent).map_err(damaged)?,
        unknown: document.unknown,
        unknown_inside: BTreeMap::new(),
    })
}

/// Older agents passed the word `null` for values they did not know.
fn present(value: Option<String>) -> Option<String> {
    value.filter(|text| !text.is_empty() && text != "null")
}

fn read_time(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(Timestamp::parse)
}

fn read_run_status(word: &str) -> Result<RunStatus, ReadError> {
    Ok(match word {
        "running" => RunStatus::Running,
        "paused" => RunStatus::Paused,
        "blocked" => RunStatus::Blocked,
        "ready_to_finish" => RunStatus::ReadyToFinish,
        "completed" => RunStatus::Completed,
        "abandoned" => RunStatus::Abandoned,
        other => {
            return Err(damaged(format!("`status` is {:?}", text::ellipsis(other, 80))));
        }
    })
}

fn read_risk(word: Option<&str>) -> Result<Risk, ReadError> {
    Ok(match word.unwrap_or("low") {
        "low" => Risk::Low,
        "medium" => Risk::Medium,
        "high" => Risk::High,
        other => {
            return Err(damaged(format!("`risk_level` is {:?}", text::ellipsis(other, 80))));
        }
    })
}

fn read_usage(observed: &ObservedDocument) -> Usage {
    let unknown = |name: &str| observed.unknown_usage.iter().any(|entry| entry == name);
    let amount = |name, value: Option<u64>| match value {
        _ if unknown(name) => Amount::Unknown,
        value => Amount::Known(value.unwrap_or(0)),
    };
    Usage {
        agents: observed.agents,
        cost_usd_micros: amount("cost_usd", micros(observed.cost_usd)),
        tokens: amount("tokens", observed.tokens),
    }
}

/// Millionths of a dollar; what is no amount of money is left out.
fn micros(usd: Option<f64>) -> Option<u64> {
    usd.filter(|usd| usd.is_finite() && *usd >= 0.0).map(|usd| (usd * 1e6).round() as u64)
}

fn read_budgets(limits: &LimitsDocument) -> Budgets {
    Budgets {
        total_attempts: limits.total_attempts,
        agents: limits.agents,
        cost_usd_micros: micros(limits.cost_usd),
        elapsed_minutes: limits.elapsed_minutes,
    }
}

fn read_reviews(document: ReviewsDocument) -> Reviews {
    Reviews {
        base: present(document.base),
        reviewed_step: document.reviewed_step,
        finally_reviewed: document.finally_reviewed,
        standing: document.standing.map(|standing| StandingVerdict {
            step: standing.step,
            verdict: read_verdict(&standing.verdict),
            findings: standing.findings,
        }),
    }
}

/// A verdict that cannot be read holds the run up.
pub(in crate::documents) fn read_verdict(words: &str) -> Verdict {
    match words {
        "READY" => Verdict::Ready,
        "READY WITH WARNINGS" => Verdict::ReadyWithWarnings,
        "NOT READY" => Verdict::Block,
        _ => Verdict::Missing,
    }
}

fn read_event(document: EventDocument) -> LogEntry {
    LogEntry {
        at: Timestamp::parse(&document.at).unwrap_or(Timestamp::EPOCH),
        event: document.event,
        step: document.step,
        text: document.text,
        detail: document.detail.unwrap_or_default(),
    }
}

fn read_step((index, document): (usize, StepDocument)) -> Result<StepRecord, ReadError> {
    let number = index as u32 + 1;
    let status = read_step_status(number, &document)?;
    let (checks, results) = read_verify(number, document.verify)?;
    let gate = match (document.gate_result.as_deref(), document.gate_mode.as_deref()) {
        (None, _) => None,
        (Some(result), mode) => Some(GateRecord {
            decision: match result {
                "approved" => Decision::Approved,
                _ => Decision::Rejected,
            },
            mode: if mode == Some("auto") { Mode::Auto } else { Mode::Human },
        }),
    };
    Ok(StepRecord {
        step: Step {
            number,
            name: document.name,
            action: document.action,
            script: document.script.map(read_script).transpose()?,
            repeat: read_loop(document.r#loop.as_deref(), document.max_iterations),
            checks,
            gate: match document.gate.as_deref() {
                None | Some("null" | "") => None,
                Some("auto") => Some(Gate::Auto),
                // Whatever else an old file says asks a person.
                Some(_) => Some(Gate::Human),
            },
            sensitive: document.security_sensitive,
        },
        status,
        attempts: document.attempts,
        forgiven: document.forgiven_attempts,
        started_at: read_time(document.started_at.as_deref()),
        completed_at: read_time(document.completed_at.as_deref()),
        results,
        last_failure: document
            .last_failure
            .map(|failure| LastFailure { reason: failure.reason, output: failure.output }),
        gate,
        unknown: document.unknown,
    })
}

fn read_step_status(number: u32, document: &StepDocument) -> Result<StepStatus, ReadError> {
    Ok(match document.status.as_str() {
        "pending" => StepStatus::Pending,
        "in_progress" => StepStatus::InProgress(match document.phase.as_deref() {
            Some("acted") => Phase::Acted,
            Some("interrupted") => Phase::Interrupted,
            Some(_) | None => Phase::Acting,
        }),
        "done" => StepStatus::Done,
        "failed" => StepStatus::Failed {
            reason: document.failure_reason.clone().unwrap_or_else(|| "verify failed".to_owned()),
        },
        "blocked" => StepStatus::Blocked(BlockReason::from_text(
            document.block_reason.as_deref().unwrap_or_default(),
        )),
        other => {
            let word = text::ellipsis(other, 80);
            return Err(damaged(format!("`status` of step {number} is {word:?}")));
        }
    })
}

fn read_script(document: ScriptDocument) -> Result<Script, ReadError> {
    let shell = read_shell(&document.shell)
        .ok_or_else(|| damaged(format!("script shell {:?}", document.shell)))?;
    Ok(Script { shell, text: document.text })
}

fn read_loop(word: Option<&str>, max_iterations: u32) -> Loop {
    let limit = NonZeroU32::new(max_iterations)
        .or(NonZeroU32::new(limits::DEFAULT_ITERATIONS))
        .unwrap_or(NonZeroU32::MIN);
    match word.and_then(|word| word.strip_prefix("until")) {
        Some(condition) => Loop::Until { condition: condition.trim().to_owned(), limit },
        None => Loop::Never,
    }
}

fn read_verify(
    step: u32,
    document: Option<CheckDocument>,
) -> Result<(Vec<Check>, Vec<CheckResult>), ReadError> {
    let items = match document {
        None => Vec::new(),
        Some(document) if document.r#type.as_deref() == Some("multi") => {
            document.checks.unwrap_or_default()
        }
        // Older generations wrote an empty shell command for a step without verify.
        Some(document)
            if document.r#type.as_deref().unwrap_or("shell") == "shell"
                && document.command.as_deref().unwrap_or_default().trim().is_empty() =>
        {
            Vec::new()
        }
        Some(document) => vec![document],
    };
    let mut checks = Vec::with_capacity(items.len());
    let mut results = Vec::new();
    for (index, item) in items.into_iter().enumerate() {
        let verdict = verdict_from_parts(item.passed, item.verdict.as_deref(), item.reason.clone());
        if let Some(verdict) = verdict {
            results.push(CheckResult {
                check: index as u32,
                verdict,
                stdout: item.stdout.clone().unwrap_or_default(),
                stderr: item.stderr.clone().unwrap_or_default(),
            });
        }
        checks.push(read_check(step, item)?);
    }
    Ok((checks, results))
}

fn read_check(step: u32, document: CheckDocument) -> Result<Check, ReadError> {
    let kind = document.r#type.as_deref().unwrap_or("shell");
    Ok(match kind {
        "shell" => {
            let shell = match document.shell.as_deref() {
                None => Shell::Bash,
                Some(word) => read_shell(word)
                    .ok_or_else(|| damaged(format!("step {step}: verify shell {word:?}")))?,
            };
            Check::Shell(ShellCheck {
                command: document.command.unwrap_or_default(),
                expect: match document.expect.as_deref() {
                    Some("fail") => Expectation::Fail,
                    Some(_) | None => Expectation::Pass,
                },
                timeout_ms: document.timeout_ms,
                cwd: document.cwd,
                env: document.env.unwrap_or_default(),
                shell,
            })
        }
        "browser" => Check::Browser {
            url: document.url.unwrap_or_default(),
            check: document.check.unwrap_or_default(),
        },
        "human-review" => Check::HumanReview { prompt: document.prompt.unwrap_or_default() },
        "artifact" => Check::Artifact {
            path: document.path.unwrap_or_default(),
            assertion: read_assertion(step, document.assert)?,
        },
        // An older runtime accepted any word. Nobody but a person can say what it meant.
        other => Check::HumanReview {
            prompt: format!("unsupported verify type: {}", text::one_line(other)),
        },
    })
}

fn read_assertion(step: u32, document: Option<AssertDocument>) -> Result<Assertion, ReadError> {
    let document = document.unwrap_or_default();
    let value = document.value.unwrap_or_default();
    Ok(match document.kind.as_str() {
        "exists" => Assertion::Exists,
        "contains" => Assertion::Contains(value),
        "matches-glob" => Assertion::MatchesGlob(value),
        other => {
            let word = text::ellipsis(other, 80);
            return Err(damaged(format!("step {step}: assert kind {word:?}")));
        }
    })
}

fn read_shell(word: &str) -> Option<Shell> {
    Some(match word {
        "bash" => Shell::Bash,
        "sh" => Shell::Sh,
        "pwsh" => Shell::Pwsh,
        "cmd" => Shell::Cmd,
        _ => return None,
    })
}
