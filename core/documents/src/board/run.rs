//! One run: as a list shows it, and in detail.

use serde::Serialize;

use super::{
    Driving, GraphView, PullRequestCard, RunCard, RunState, WorkerCard, line, moment, moment_if,
};
use crate::cost::charges;
use onloop_run::preflight::IsolationMode;
use onloop_run::{
    Attention, ChangedWork, CheckFact, CheckVerdict, Facts, Next, PullRequestState, Question, Run,
    RunStatus, StepRecord, StepStatus, TrackedPullRequest, after_steps, checks, symbol_and_word,
};
use onloop_syntax::limits;
use onloop_syntax::money::Money;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;
use onloop_workflow::Risk;

/// A run in detail.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct RunView {
    /// What a list shows of it.
    pub card: RunCard,
    /// Its steps, in their order.
    pub steps: Vec<StepView>,
    /// The graph of the steps, unless they are one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub graph: Option<GraphView>,
    /// What is asked; `None`: nothing.
    pub choice: Option<Choice>,
    /// What there is to know before that is answered.
    pub facts: Option<FactsView>,
    /// The end of what was said and done in the present attempt, oldest first.
    pub log: Vec<String>,
    /// What happened in the run, the end of it, oldest first.
    pub events: Vec<LoggedLine>,
    /// The actions that are possible now, as [`actions`] names them.
    pub actions: Vec<&'static str>,
    /// The commands that fit now, one for each choice.
    pub commands: Vec<String>,
    /// The workflow file.
    pub workflow: String,
    /// The report.
    pub report: String,
    /// Names the record as it was looked at, by the digest of its last line: a decision is about this
    /// and nothing that came after. Empty: the record cannot be read.
    pub seen: String,
}

/// A step in a list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepView {
    /// Its number, from 1.
    pub number: u32,
    /// Its name.
    pub name: String,
    /// The symbol that people see in lists.
    pub symbol: &'static str,
    /// How it stands, in a word or a few.
    pub status: &'static str,
    /// Attempts so far.
    pub attempts: u32,
    /// Most attempts.
    pub limit: u32,
    /// When it was last started.
    #[serde(serialize_with = "moment_if")]
    pub started_at: Option<Timestamp>,
    /// When it was done.
    #[serde(serialize_with = "moment_if")]
    pub completed_at: Option<Timestamp>,
    /// Its checks, and what came of the last verification.
    pub checks: Vec<CheckView>,
    /// `approved` or `rejected`, where its gate was decided.
    pub gate: Option<&'static str>,
    /// Who decided it: `human` or `auto`.
    pub gate_by: Option<&'static str>,
    /// Why the last attempt failed, or why it is blocked.
    pub reason: Option<String>,
    /// `after steps 2 and 3`: what it waits for, where the steps are not one after the other.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// How its work comes into the run, where it works beside others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork: Option<String>,
}

/// A check and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckView {
    /// What is checked.
    pub what: String,
    /// `passed`, `failed`, `waits` for a person, or `open` while it was not evaluated.
    pub result: &'static str,
    /// Why it failed, or what the person is asked.
    pub reason: Option<String>,
    /// How long it took, in milliseconds.
    pub took_ms: Option<u64>,
    /// When it was evaluated last.
    #[serde(serialize_with = "moment_if")]
    pub at: Option<Timestamp>,
    /// What there is to warn about it.
    pub warnings: Vec<String>,
    /// The files that it opened and that the run had changed, on one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<String>,
}

/// What is asked of a person, and how it is answered.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Choice {
    /// The step that it is about; `None`: the run as a whole.
    pub step: Option<u32>,
    /// What is asked, as a clause.
    pub question: String,
    /// Whether it is answered with a decision about the step's gate or review.
    pub is_gate: bool,
    /// Where the risk is high: the name of the step, which has to be typed to approve it.
    pub type_name: Option<String>,
}

/// What there is to know at a gate: the same facts as in a terminal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactsView {
    /// The lines that a terminal of 80 columns shows.
    pub text: String,
    /// What was to be done.
    pub action: String,
    /// `low`, `medium` or `high`.
    pub risk: &'static str,
    /// The checks, in their order.
    pub checks: Vec<CheckView>,
    /// Warnings on checks of other steps that no person has approved yet.
    pub earlier: Vec<String>,
    /// How many lines of which file changed, as git says it; empty: none, or nobody knows.
    pub changes: String,
    /// The same of the step alone; empty: nothing, or all of `changes`.
    pub own_changes: String,
    /// The end of what the agent of the last attempt said.
    pub said: String,
    /// The step since whose approval that is; `None`: since the run began.
    pub since_step: Option<u32>,
    /// Why it cannot be told what changed.
    pub changes_unknown: Option<String>,
    /// What a review has found.
    pub review: Option<ReviewView>,
}

/// What a review has found.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReviewView {
    /// Its verdict.
    pub verdict: &'static str,
    /// Its words, with their line breaks.
    pub findings: String,
}

/// A line of what happened.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LoggedLine {
    /// When.
    #[serde(serialize_with = "moment")]
    pub at: Timestamp,
    /// What.
    pub text: String,
}

/// A line of a text that an attempt left.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TextLine {
    /// When it was written, if that is known; the lines after it have no later time than the next one.
    #[serde(serialize_with = "moment_if", skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
    /// Its text.
    pub text: String,
}

/// A run as a list shows it; nobody knows yet what was said last.
pub fn card(run: &Run, driving: Driving) -> RunCard {
    let attention = run.attention();
    let state = state(run, attention.as_ref(), driving);
    let mut summary = run.status_summary();
    let stopped = match state {
        RunState::Interrupted => Some("nobody works on it: its onloop was killed"),
        RunState::Idle if run.status == RunStatus::Running => Some("nobody works on it"),
        _ => None,
    };
    if let Some(stopped) = stopped {
        summary.now = stopped.to_owned();
        (summary.since, summary.then) = (Some(run.last_update), run.next_words());
    }
    let number = attention.as_ref().and_then(Attention::step).unwrap_or(run.current_step());
    let step = run.step(number);
    let worker = run.acting.as_ref().filter(|_| state == RunState::Running).map(|acting| {
        let agent = run.turns.iter().rfind(|turn| turn.step == acting.step);
        WorkerCard {
            worker: acting.worker.as_str(),
            process: acting.group.pid,
            agent: agent.map(|turn| line(&turn.agent)),
        }
    });
    // The finish may have removed both.
    let outcome = run.finish.as_ref().map(|finish| &finish.outcome);
    let has = |action: Option<&String>, word: &str| action.is_some_and(|action| action == word);
    let is_removed = has(outcome.and_then(|outcome| outcome.worktree_action.as_ref()), "removed");
    let is_deleted = has(outcome.and_then(|outcome| outcome.branch_action.as_ref()), "deleted");
    let checkout = run.place.repo_root.as_ref().filter(|_| is_removed);
    let folder = checkout.unwrap_or(&run.place.execution_root);
    let is_in_place = run.place.executor_mode == IsolationMode::None.as_str();
    let has_branch = !is_in_place && !is_deleted;
    let branch = run.place.branch.as_deref().filter(|_| has_branch);
    RunCard {
        id: run.id.clone(),
        state,
        news: attention.as_ref().map(Attention::kind),
        now: line(&summary.now),
        since: summary.since,
        then: summary.then.as_deref().map(line),
        intent: line(&run.settings.intent),
        folder: text::one_line(folder),
        repository: repository(run),
        branch: branch.map(text::one_line),
        step: number,
        step_name: step.map_or_else(String::new, |record| line(&record.step.name)),
        current_steps: match run.current_steps() {
            steps if steps.len() > 1 => steps,
            _ => Vec::new(),
        },
        steps: run.steps.len(),
        done: run.settled_steps(),
        risk: run.settings.risk.as_str(),
        started_at: Some(run.started_at),
        changed_at: Some(run.last_update),
        ended_at: run.completed_at,
        agent: (run.turns.last().map(|turn| line(&turn.agent)))
            .or_else(|| charges(run).pop().map(|charge| charge.agent)),
        attempts: run.steps.iter().map(|record| u64::from(record.attempts)).sum(),
        active_ms: run.active_ms,
        cost_usd: run.usage.cost.known().map(Money::usd),
        tokens: run.usage.tokens.known(),
        used: run.used(),
        worker,
        driver: match driving {
            Driving::Here { process } => Some(process),
            Driving::Elsewhere | Driving::Nobody | Driving::Killed => None,
        },
        in_fleet: false,
        last: None,
        pull_request: run.pull_request_url().map(|url| PullRequestCard {
            url: line(url),
            state: run.pull_request.as_ref().map(|tracked| tracked.state.as_str()),
            line: run.pull_request.as_ref().map(TrackedPullRequest::line),
        }),
    }
}

/// The last part of the path of the checkout that a run was started in.
fn repository(run: &Run) -> String {
    let root = run.place.repo_root.as_ref().unwrap_or(&run.place.execution_root);
    let name = root.trim_end_matches(['/', '\\']).rsplit(['/', '\\']).next().unwrap_or_default();
    line(name)
}

/// What a person can do to a run with one button now: `approve`, `redo` and `reject` at a gate, `retry`
/// (with a note) and `resume`, `stop`, `undo`, `merge`, `pr` and `discard`. A screen offers these alone.
pub fn actions(run: &Run, card: &RunCard) -> Vec<&'static str> {
    let is_gate = choice(run).is_some_and(|choice| choice.is_gate);
    let mut actions = match card.state {
        _ if is_gate => vec!["approve", "redo", "reject"],
        _ if card.in_fleet => Vec::new(),
        _ if card.driver.is_some() => vec!["stop"],
        RunState::Blocked => match run.next() {
            Next::Blocked(blocker) if blocker.rejected => Vec::new(),
            _ if run.is_driven_by_verbs() => vec!["retry"],
            _ => vec!["retry", "resume"],
        },
        RunState::Interrupted | RunState::Idle | RunState::Limited | RunState::Paused => {
            vec!["resume"]
        }
        RunState::Completed if run.may_be_handed_on() && run.place.branch.is_some() => {
            vec!["merge", "pr", "discard"]
        }
        RunState::Waits
        | RunState::Running
        | RunState::Unreadable
        | RunState::Completed
        | RunState::Checks
        | RunState::Abandoned => Vec::new(),
    };
    let is_at_rest = card.driver.is_none() && card.state != RunState::Running && !run.is_over();
    if is_at_rest && !card.in_fleet && !run.checkpoints.is_empty() {
        actions.push("undo");
    }
    actions
}

fn state(run: &Run, attention: Option<&Attention>, driving: Driving) -> RunState {
    match attention {
        _ if run.is_discarded() => RunState::Abandoned,
        Some(Attention::Asks(_)) => RunState::Waits,
        Some(Attention::Blocked(_)) => RunState::Blocked,
        Some(Attention::Completed) => RunState::Completed,
        Some(Attention::PullRequest { state, .. }) => match state {
            PullRequestState::Green | PullRequestState::Merged => RunState::Completed,
            PullRequestState::Red | PullRequestState::Closed | PullRequestState::Pending => {
                RunState::Waits
            }
        },
        Some(Attention::Limit { .. } | Attention::Paused { .. }) | None
            if driving == Driving::Killed =>
        {
            RunState::Interrupted
        }
        Some(Attention::Limit { .. }) => RunState::Limited,
        Some(Attention::Paused { .. }) => RunState::Paused,
        None => match run.status {
            // An agent that drives a run by verbs has no driver between two of them.
            RunStatus::Running if driving == Driving::Nobody && !run.is_driven_by_verbs() => {
                RunState::Idle
            }
            RunStatus::Running => RunState::Running,
            RunStatus::Paused => RunState::Paused,
            RunStatus::Blocked => RunState::Blocked,
            RunStatus::Completed if run.pull_request_is_due() => match driving {
                Driving::Nobody => RunState::Idle,
                Driving::Here { .. } | Driving::Elsewhere | Driving::Killed => RunState::Checks,
            },
            RunStatus::ReadyToFinish | RunStatus::Completed => RunState::Completed,
            RunStatus::Abandoned => RunState::Abandoned,
        },
    }
}

/// A run in a list for a terminal: its state, what it builds, what it is at, and where it works.
pub fn entry(card: &RunCard, now: Timestamp) -> String {
    let (mark, id, words) = (card.state.mark(), &card.id, card.state.words());
    let ago = card
        .since
        .or(card.changed_at)
        .map_or_else(String::new, |at| format!(", {}", text::ago(now.millis_since(at))));
    let at = match card.state {
        RunState::Abandoned => String::new(),
        RunState::Completed if card.now == card.state.words().to_lowercase() => String::new(),
        RunState::Completed
        | RunState::Waits
        | RunState::Blocked
        | RunState::Unreadable
        | RunState::Checks => card.now.clone(),
        _ if card.current_steps.len() > 1 => {
            let steps: Vec<String> = card.current_steps.iter().map(u32::to_string).collect();
            format!("steps {} of {}", steps.join(", "), card.steps)
        }
        _ => format!("step {} of {}: {}", card.step, card.steps, card.step_name),
    };
    let branch = card.branch.as_ref().map_or_else(String::new, |branch| format!("{branch} "));
    let place = match card.folder.as_str() {
        "" => String::new(),
        folder => format!("{branch}in {folder}"),
    };
    let request = card.pull_request.as_ref();
    let request = request.map_or_else(String::new, |found| match &found.line {
        Some(line) => format!("{} ({line})", found.url),
        None => found.url.clone(),
    });
    let mut out = format!("{mark} {id}  {words}{ago}\n");
    for line in [card.intent.as_str(), &at, &place, &request] {
        for line in text::wrapped(line, 76, 2).lines() {
            out += &format!("    {line}\n");
        }
    }
    out
}

/// A run whose record cannot be read, and why.
pub fn unreadable(id: &str, why: &str) -> RunCard {
    RunCard {
        id: text::one_line(id),
        state: RunState::Unreadable,
        now: line(why),
        ..RunCard::default()
    }
}

/// The newest `most` events of a run, and before them how many more there are.
pub fn events(run: &Run, most: usize) -> Vec<LoggedLine> {
    let skipped = run.events.len().saturating_sub(most);
    let left_out = (skipped > 0).then(|| LoggedLine {
        at: run.started_at,
        text: format!(
            "{} left out: onloop report {}",
            text::counted(skipped as u64, "earlier event"),
            run.id
        ),
    });
    let shown = run.events[skipped..].iter();
    let shown = shown.map(|entry| LoggedLine { at: entry.at, text: line(&entry.text) });
    left_out.into_iter().chain(shown).collect()
}

/// The steps of a run, as a list shows them.
pub fn steps(run: &Run) -> Vec<StepView> {
    run.steps.iter().map(|record| step(run, record)).collect()
}

fn step(run: &Run, record: &StepRecord) -> StepView {
    let (symbol, status) = symbol_and_word(run, record);
    let reason = match &record.status {
        StepStatus::Failed { reason } => Some(line(reason)),
        StepStatus::Blocked(reason) => Some(line(&reason.text())),
        StepStatus::Pending | StepStatus::InProgress(_) => {
            record.last_failure.as_ref().map(|failure| line(&failure.reason))
        }
        StepStatus::Done => None,
    };
    StepView {
        number: record.step.number,
        name: line(&record.step.name),
        symbol,
        status,
        attempts: record.attempts,
        limit: record.last_attempt(),
        started_at: record.started_at,
        completed_at: record.completed_at,
        checks: checks(record).iter().map(check_view).collect(),
        gate: record.gate.map(|gate| gate.decision.as_str()),
        gate_by: record.gate.map(|gate| gate.mode.as_str()),
        reason,
        after: after_steps(run, record),
        fork: record.fork_line(),
    }
}

/// A check as a list shows it.
pub fn check_view(fact: &CheckFact) -> CheckView {
    let (result, reason) = match &fact.verdict {
        Some(CheckVerdict::Passed) => ("passed", None),
        Some(CheckVerdict::Failed { reason } | CheckVerdict::CannotEvaluate { reason }) => {
            ("failed", Some(reason))
        }
        Some(CheckVerdict::NeedsHuman { prompt }) => ("waits", Some(prompt)),
        None => ("open", None),
    };
    CheckView {
        what: line(&fact.what),
        result,
        reason: reason.map(|reason| line(reason)).filter(|reason| !reason.is_empty()),
        took_ms: fact.took_ms,
        at: fact.at,
        warnings: fact.warnings.iter().map(|warning| line(warning)).collect(),
        opened: fact.opened.as_deref().map(line),
    }
}

/// What a run asks; `None`: nothing.
pub fn choice(run: &Run) -> Option<Choice> {
    let attention = run.attention()?;
    let Attention::Asks(question) = &attention else { return None };
    let is_gate = matches!(question, Question::Gate { .. } | Question::Review { .. });
    let record = attention.step().and_then(|step| run.step(step));
    let is_high = is_gate && run.settings.risk == Risk::High;
    Some(Choice {
        step: attention.step(),
        question: line(&run.waits_for(question)),
        is_gate,
        type_name: record.filter(|_| is_high).map(|record| text::one_line(&record.step.name)),
    })
}

/// The facts about a step that waits for a decision.
pub fn facts(facts: &Facts) -> FactsView {
    let (changes, since_step, changes_unknown) = match &facts.changes {
        ChangedWork::Unkept => (String::new(), None, None),
        ChangedWork::Unknown(why) => (String::new(), None, Some(line(why))),
        ChangedWork::Stat { since, lines } => (text::printable(lines), *since, None),
    };
    let bounded = |words: &str| text::ellipsis(words, limits::BOARD_TEXT_BYTES);
    FactsView {
        text: bounded(&facts.to_string()),
        action: bounded(&facts.action),
        risk: facts.risk.as_str(),
        checks: facts.checks.iter().map(check_view).collect(),
        earlier: facts.earlier.iter().map(|warning| line(warning)).collect(),
        changes: bounded(&changes),
        own_changes: bounded(&text::printable(&facts.own_changes)),
        said: bounded(&facts.said),
        since_step,
        changes_unknown,
        review: facts.review.as_ref().map(|(verdict, findings)| ReviewView {
            verdict,
            findings: bounded(&text::printable(findings)),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::telemetry::tests::forked;

    #[test]
    fn nobody_works_on_a_run_without_a_driver() {
        let (book, _) = forked();
        let driven = card(&book.run, Driving::Here { process: 7 });
        assert_eq!(
            (driven.state, driven.now.as_str()),
            (RunState::Running, "step 1 is about to start")
        );
        let idle = card(&book.run, Driving::Nobody);
        assert_eq!((idle.state, idle.now.as_str()), (RunState::Idle, "nobody works on it"));
        assert_eq!(idle.since, Some(book.run.last_update));
        assert_eq!(idle.then.as_deref(), Some("step 1: Go"));
    }
}
