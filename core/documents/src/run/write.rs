//! From a run to its document.

use super::*;

pub(super) fn to_document(run: &Run) -> RunDocument {
    let place = run.place.clone();
    let settings = &run.settings;
    RunDocument {
        schema: SCHEMA.to_owned(),
        run_id: run.id.clone(),
        workflow_path: place.workflow_path,
        source_workflow_path: place.source_workflow_path,
        source_branch: place.source_branch,
        source_head: place.source_head,
        workflow_slug: Some(place.slug),
        intent: settings.intent.clone(),
        success_criteria: settings.success_criteria.clone(),
        risk_level: settings.risk.as_str().to_owned(),
        auto_approve: settings.auto_approve,
        branch: place.branch,
        repo_root: place.repo_root,
        execution_root: Some(place.execution_root),
        worktree_path: place.worktree_path,
        executor_mode: Some(place.executor_mode),
        driver: place.driver,
        host: place.host,
        budgets: budgets_document(run),
        revision: run.revision,
        started_at: run.started_at.to_rfc3339(),
        last_update: run.last_update.to_rfc3339(),
        completed_at: run.completed_at.map(Timestamp::to_rfc3339),
        status: run.status.as_str().to_owned(),
        pause_reason: run.pause_reason.clone(),
        current_step: run.current_step(),
        total_steps: run.steps.len() as u32,
        report_path: Some(place.report_path),
        plan_digest: settings.plan_digest.clone(),
        allow: (!settings.allow.is_empty()).then(|| settings.allow.clone()),
        protect: (!settings.protect.is_empty()).then(|| settings.protect.clone()),
        commit: (settings.commit != CommitWhen::End).then(|| settings.commit.as_str().to_owned()),
        setup: (!settings.setup.is_empty()).then(|| settings.setup.clone()),
        confine: settings.confine.then(|| "on".to_owned()),
        set_up: run.set_up.map(set_up_document),
        written: Some(settings.written.as_ref().map(written_document).unwrap_or_default()),
        options: OptionsDocument {
            progress_verbose: settings.progress_verbose,
            report_full: settings.report_full,
            no_reverify: !settings.reverify,
            review_agent: settings.review_agent.clone(),
            ..OptionsDocument::default()
        },
        reviews: reviews_document(&run.reviews),
        reverified: run.reverified,
        finish: run.finish.as_ref().map(finish_document),
        finish_intent: run.finish_intent.as_ref().map(intent_document),
        turns: (!run.turns.is_empty()).then(|| run.turns.iter().map(turn_document).collect()),
        waits: (!run.waits.is_empty()).then(|| run.waits.iter().map(wait_document).collect()),
        acting: run.acting.as_ref().map(acting_document),
        confined: (!run.holds.is_empty()).then(|| hold::documents(&run.holds)),
        finished_commit: run.finished_commit.clone(),
        checkpoints: run.checkpoints.iter().map(checkpoint_document).collect(),
        ledger: None,
        steps: run.steps.iter().map(step_document).collect(),
        events: run.events.iter().map(event_document).collect(),
        unknown: run.unknown.clone(),
        lacks: Lacks::default(),
    }
}

fn set_up_document(done: SetUp) -> SetUpDocument {
    let SetUp { copied, commands } = done;
    SetUpDocument { copied, commands, ..SetUpDocument::default() }
}

pub(crate) fn acting_document(acting: &Acting) -> ActingDocument {
    ActingDocument {
        worker: acting.worker.as_str().to_owned(),
        step: acting.step,
        pid: acting.group.pid,
        started: acting.group.started.clone(),
        boot: acting.group.boot.clone(),
        host: acting.host.clone(),
        confined: acting.hold.as_ref().map(hold::document),
        ..ActingDocument::default()
    }
}

pub(crate) fn limits_document(limits: &Budgets) -> LimitsDocument {
    LimitsDocument {
        total_attempts: limits.total_attempts,
        agents: limits.agents,
        cost_usd: limits.cost.map(Money::usd),
        tokens: limits.tokens,
        elapsed_minutes: limits.elapsed_minutes,
        ..LimitsDocument::default()
    }
}

fn written_document(written: &Written) -> WrittenDocument {
    WrittenDocument {
        auto_approve: Some(written.auto_approve),
        limits: Some(limits_document(&written.budgets))
            .filter(|limits| *limits != LimitsDocument::default()),
        ..WrittenDocument::default()
    }
}

fn budgets_document(run: &Run) -> BudgetsDocument {
    let (limits, usage) = (&run.settings.budgets, &run.usage);
    let mut unknown_usage = Vec::new();
    if usage.cost == Amount::Unknown {
        unknown_usage.push("cost_usd".to_owned());
    }
    if usage.tokens == Amount::Unknown {
        unknown_usage.push("tokens".to_owned());
    }
    BudgetsDocument {
        limits: limits_document(limits),
        observed: ObservedDocument {
            agents: usage.agents,
            cost_usd: usage.cost.known().map(Money::usd),
            tokens: usage.tokens.known(),
            active_ms: run.active_ms,
            unknown_usage,
            ..ObservedDocument::default()
        },
        ..BudgetsDocument::default()
    }
}

fn reviews_document(reviews: &Reviews) -> ReviewsDocument {
    ReviewsDocument {
        base: reviews.base.clone(),
        reviewed_step: reviews.reviewed_step,
        finally_reviewed: reviews.finally_reviewed,
        standing: reviews.standing.as_ref().map(standing_document),
        last: reviews.last.as_ref().map(standing_document),
        ..ReviewsDocument::default()
    }
}

fn standing_document(standing: &BlockingReview) -> StandingDocument {
    StandingDocument {
        step: standing.step,
        verdict: standing.verdict.as_str().to_owned(),
        findings: standing.findings.clone(),
        ..StandingDocument::default()
    }
}

fn event_document(entry: &LogEntry) -> EventDocument {
    EventDocument {
        at: entry.at.to_rfc3339(),
        event: entry.event.clone(),
        step: entry.step,
        text: entry.text.clone(),
        detail: Some(entry.detail.clone()).filter(|detail| !detail.is_empty()),
        ..EventDocument::default()
    }
}

pub(crate) fn step_document(record: &StepRecord) -> StepDocument {
    let step = &record.step;
    let (phase, failure_reason, block_reason) = match &record.status {
        StepStatus::Pending | StepStatus::Done => (None, None, None),
        StepStatus::InProgress(phase) => (Some(phase.as_str().to_owned()), None, None),
        StepStatus::Failed { reason } => (None, Some(reason.clone()), None),
        StepStatus::Blocked(reason) => (None, None, Some(reason.text())),
    };
    StepDocument {
        number: step.number,
        name: step.name.clone(),
        action: step.action.clone(),
        script: step.script.as_ref().map(script_document).map(Box::new),
        status: record.status.as_str().to_owned(),
        phase,
        attempts: record.attempts,
        uncounted_attempts: record.uncounted,
        max_iterations: match &step.repeat {
            Loop::Never => limits::DEFAULT_ITERATIONS,
            Loop::Until { limit, .. } => limit.get(),
        },
        r#loop: Some(step.repeat.text()),
        started_at: record.started_at.map(Timestamp::to_rfc3339),
        completed_at: record.completed_at.map(Timestamp::to_rfc3339),
        verify: verify_document(&step.checks, record).map(Box::new),
        gate: step.gate.map(|gate| gate.as_str().to_owned()),
        gate_result: record.gate.map(|gate| gate.decision.as_str().to_owned()),
        gate_mode: record.gate.map(|gate| gate.mode.as_str().to_owned()),
        security_sensitive: step.sensitive,
        failure_reason,
        block_reason,
        last_failure: record.last_failure.as_ref().map(failure_document).map(Box::new),
        unknown: record.unknown.clone(),
        lacks: Lacks::default(),
    }
}

fn script_document(script: &Script) -> ScriptDocument {
    ScriptDocument {
        shell: script.shell.as_str().to_owned(),
        text: script.text.clone(),
        ..ScriptDocument::default()
    }
}

fn failure_document(failure: &LastFailure) -> FailureDocument {
    FailureDocument {
        reason: failure.reason.clone(),
        output: failure.output.clone(),
        ..FailureDocument::default()
    }
}

fn verify_document(checks: &[Check], record: &StepRecord) -> Option<CheckDocument> {
    let result = |index: usize| record.results.iter().find(|r| r.check as usize == index);
    match checks {
        [] => None,
        [check] => Some(check_document(check, result(0))),
        checks => {
            let items: Vec<CheckDocument> = checks
                .iter()
                .enumerate()
                .map(|(index, check)| check_document(check, result(index)))
                .collect();
            let passed = match record.status {
                StepStatus::Done => Some(true),
                StepStatus::Failed { .. } => Some(false),
                StepStatus::Pending | StepStatus::InProgress(_) | StepStatus::Blocked(_) => None,
            };
            Some(CheckDocument {
                r#type: Some("multi".to_owned()),
                checks: Some(items),
                passed,
                ..CheckDocument::default()
            })
        }
    }
}

/// The word for what verifies a step.
pub(crate) fn check_type(checks: &[Check]) -> Option<&'static str> {
    Some(match checks {
        [] => return None,
        [Check::Shell(_)] => "shell",
        [Check::Browser { .. }] => "browser",
        [Check::HumanReview { .. }] => "human-review",
        [Check::Artifact { .. }] => "artifact",
        _ => "multi",
    })
}

fn check_document(check: &Check, result: Option<&CheckResult>) -> CheckDocument {
    let some = |text: &str| Some(text.to_owned());
    let mut document = match check {
        Check::Shell(shell) => CheckDocument {
            r#type: some("shell"),
            command: Some(shell.command.clone()),
            expect: matches!(shell.expect, Expectation::Fail).then(|| "fail".to_owned()),
            timeout_ms: shell.timeout_ms,
            cwd: shell.cwd.clone(),
            env: (!shell.env.is_empty()).then(|| shell.env.clone()),
            shell: (shell.shell != Shell::Bash).then(|| shell.shell.as_str().to_owned()),
            network: (shell.network != Network::All).then(|| shell.network.as_str().to_owned()),
            ..CheckDocument::default()
        },
        Check::Browser { url, check } => CheckDocument {
            r#type: some("browser"),
            command: Some(format!("browser: {url} - {check}")),
            url: Some(url.clone()),
            check: Some(check.clone()),
            ..CheckDocument::default()
        },
        Check::HumanReview { prompt } => CheckDocument {
            r#type: some("human-review"),
            prompt: Some(prompt.clone()),
            ..CheckDocument::default()
        },
        Check::Artifact { path, assertion } => CheckDocument {
            r#type: some("artifact"),
            path: Some(path.clone()),
            assert: Some(Box::new(assert_document(assertion))),
            ..CheckDocument::default()
        },
    };
    if let Some(result) = result {
        let (passed, verdict, reason) = verdict_parts(&result.verdict);
        document.passed = passed;
        document.verdict = some(verdict);
        document.reason = reason.map(str::to_owned);
        document.stdout = Some(result.stdout.clone());
        document.stderr = Some(result.stderr.clone());
    }
    document
}

/// The parts under which a verdict is stored: `passed`, `verdict`, `reason`.
pub(crate) fn verdict_parts(verdict: &CheckVerdict) -> (Option<bool>, &'static str, Option<&str>) {
    match verdict {
        CheckVerdict::Passed => (Some(true), "passed", None),
        CheckVerdict::Failed { reason } => (Some(false), "failed", Some(reason)),
        CheckVerdict::NeedsHuman { prompt } => (None, "needs_human", Some(prompt)),
        CheckVerdict::CannotEvaluate { reason } => (None, "cannot_evaluate", Some(reason)),
    }
}

fn assert_document(assertion: &Assertion) -> AssertDocument {
    let (kind, value) = match assertion {
        Assertion::Exists => ("exists", None),
        Assertion::Contains(text) => ("contains", Some(text.clone())),
        Assertion::MatchesGlob(glob) => ("matches-glob", Some(glob.clone())),
    };
    AssertDocument { kind: kind.to_owned(), value, ..AssertDocument::default() }
}
