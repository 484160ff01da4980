//! What a person reads about a run that waits: the reason, and the commands that continue it.

use onloop_run::{
    ForkOf, GateRule, Next, PullRequestState, Question, Run, RunStatus, Verdict, exceeded,
    gate_rule,
};
use onloop_syntax::text;

/// What the run waits for, on one line for the record.
pub(crate) fn reason(run: &Run, question: &Question) -> String {
    match question {
        Question::Gate { step } => {
            let rule = run.step(*step).map(|record| gate_rule(run, record));
            let why = match rule {
                Some(GateRule::Human(reason)) if run.settings.auto_approve => {
                    reason.despite_auto_approve()
                }
                _ => None,
            };
            let why =
                why.map_or_else(String::new, |why| format!(" in spite of `auto_approve`: {why}"));
            format!("the gate of step {step} needs a human decision{why}")
        }
        Question::Review { step, .. } => format!("step {step} needs a human review"),
        Question::Verdict { .. } => blocking_verdict(run).problem().to_owned(),
        Question::Interrupted { step } => {
            format!("step {step} was interrupted and no check can tell how far it got")
        }
        Question::Budget { .. } => budget_words(run),
    }
}

/// The verdict that a person is asked about.
pub(crate) fn blocking_verdict(run: &Run) -> Verdict {
    run.reviews.blocking.as_ref().map_or(Verdict::Missing, |review| review.verdict)
}

/// Which bounds are reached.
pub(crate) fn budget_words(run: &Run) -> String {
    let words = exceeded(run).into_iter().map(|exceeded| {
        format!("{} is {} (used: {})", exceeded.name, exceeded.limit, exceeded.observed)
    });
    format!("Budget reached: {}", words.collect::<Vec<_>>().join(", "))
}

/// The exact commands that take the run further.
pub fn next_commands(run: &Run) -> String {
    let id = &run.id;
    let resume = resume_command(run);
    if let Some(ForkOf { run: whole, step, .. }) = &run.fork_of {
        return format!("Step {step} of another run, which continues it:\n  onloop status {whole}");
    }
    match run.next() {
        Next::Ask(Question::Gate { step }) => decision_commands(run, step),
        Next::Ask(Question::Review { step, prompt }) if prompt.is_empty() => {
            decision_commands(run, step)
        }
        Next::Ask(Question::Review { step, prompt }) => {
            let review = text::wrapped(&format!("To review: {prompt}"), text::COLUMNS - 4, 2);
            format!("{review}\n{}", decision_commands(run, step))
        }
        Next::Ask(Question::Verdict { .. }) => {
            let (fix, accept) = match blocking_verdict(run) {
                Verdict::Ready | Verdict::ReadyWithWarnings | Verdict::Block => {
                    ("what the review found", "accept the verdict and continue")
                }
                Verdict::Missing | Verdict::Failed => ("the reviewer", "continue without a review"),
            };
            format!(
                "Fix {fix}, then review again:\n  {resume}\n\
                 Or {accept}:\n  onloop approve {id}"
            )
        }
        Next::Ask(Question::Budget { .. }) => budget_commands(run),
        Next::Ask(Question::Interrupted { step }) => format!(
            "Step {step} was interrupted. Run it again:\n  {resume} --interrupted redo\n\
             Or inspect it and mark it as done:\n  {resume} --interrupted done"
        ),
        Next::Blocked(blocker) if blocker.rejected => format!(
            "Approve after all, and continue:\n  onloop approve {id}\n{}\
             End the run:\n  onloop abandon {id} --reason TEXT",
            redo_command(run, blocker.step)
        ),
        Next::Blocked(blocker) if run.is_driven_by_verbs() => format!(
            "Fix the cause, then have its agent try again, with a note for it:\n  \
             onloop step {} reopen --reason TEXT --run-id {id}\n\
             End the run:\n  onloop abandon {id} --reason TEXT",
            blocker.step
        ),
        Next::Blocked(blocker) => format!(
            "Fix the cause, then continue (verifies first, then tries again):\n  {resume}\n\
             Try again at once, with a note for the agent:\n  \
             onloop step {} reopen --reason TEXT --run-id {id}\n\
             End the run:\n  onloop abandon {id} --reason TEXT",
            blocker.step
        ),
        Next::Finished if run.status == RunStatus::Abandoned => {
            format!("Its record and its work are kept. See the work:\n  onloop diff {id}")
        }
        Next::Act { step } if run.step(step).is_some_and(|step| run.waits_for_provider(step)) => {
            format!(
                "Continue when the limit ends, with another agent (--agent NAME), or wait\nlonger \
             (--max-wait TIME):\n  {resume}"
            )
        }
        _ if continues_by_verbs(run) => {
            format!("The agent that drives it continues with:\n  {}", next_verb(run))
        }
        Next::Start { .. }
        | Next::Act { .. }
        | Next::Verify { .. }
        | Next::Approve { .. }
        | Next::Block { .. }
        | Next::Review { .. }
        | Next::Repeat
        | Next::Finalize
        | Next::Finished => format!("Continue:\n  {resume}"),
    }
}

/// What a person does about a bound that the run has reached.
pub(crate) fn budget_commands(run: &Run) -> String {
    format!(
        "{}\nRaise it and continue, for example:\n  {}{}",
        budget_words(run),
        resume_command(run),
        raise_options(run)
    )
}

/// What a person does about an unfinished run first, and the command for it.
pub fn first_command(run: &Run) -> (String, String) {
    let id = &run.id;
    match run.next() {
        Next::Ask(question @ (Question::Gate { .. } | Question::Review { .. })) => {
            let what = format!("{}; approve it", run.waits_for(&question));
            (what, format!("onloop approve {id}"))
        }
        _ if continues_by_verbs(run) => (format!("see how run `{id}` continues"), next_verb(run)),
        _ => (format!("continue run `{id}`"), resume_command(run)),
    }
}

/// Whether an agent drives the run by verbs, and can go on: no other agent is started for it.
fn continues_by_verbs(run: &Run) -> bool {
    run.is_driven_by_verbs() && run.status == RunStatus::Running
}

fn next_verb(run: &Run) -> String {
    format!("onloop next --run-id {}", run.id)
}

/// The commands for a pull request that onloop does not follow any more.
pub fn pull_request_commands(run: &Run) -> String {
    let id = &run.id;
    let Some(tracked) = &run.pull_request else { return String::new() };
    match tracked.state {
        PullRequestState::Merged => String::new(),
        PullRequestState::Green => {
            format!(
                "Once it is merged, remove branch and worktree:\n  onloop finish {id} pr --watch"
            )
        }
        PullRequestState::Pending | PullRequestState::Red => format!(
            "Look at it:\n  {}\nFollow it again, with more repairs:\n  \
             onloop finish {id} pr --watch --repair {}",
            tracked.url,
            tracked.repair_limit + 1
        ),
        PullRequestState::Closed => {
            format!("Discard the work:\n  {} --force", discard_command(run))
        }
    }
}

/// The command that throws the work of a run away.
pub fn discard_command(run: &Run) -> String {
    format!("onloop finish {} discard --confirm discard", run.id)
}

/// The options that lift every bound that is reached: lifting one only would stop at the next.
pub(crate) fn raise_options(run: &Run) -> String {
    let names = exceeded(run).into_iter().map(|exceeded| exceeded.name);
    names.map(|name| format!(" --raise {name}=unlimited")).collect()
}

/// The command that continues the run with its own options. A step beside others is continued by its run.
pub fn resume_command(run: &Run) -> String {
    let whole = run.fork_of.as_ref().map_or(&run.id, |fork| &fork.run);
    format!("onloop resume {whole}")
}

/// The same for a run that a fleet drives: a decision continues it.
pub(crate) fn next_commands_in_fleet(run: &Run) -> String {
    let id = &run.id;
    match run.next() {
        Next::Ask(Question::Gate { step } | Question::Review { step, .. }) => {
            decision_commands(run, step)
        }
        Next::Blocked(blocker) if blocker.rejected => decision_commands(run, blocker.step),
        Next::Blocked(blocker) => format!(
            "Try again, with a note for the agent:\n  \
             onloop step {} reopen --reason TEXT --run-id {id}\n\
             End the run:\n  onloop abandon {id} --reason TEXT\n\
             Bring it home:\n  {}",
            blocker.step,
            resume_command(run)
        ),
        _ => format!("Bring it home:\n  {}", resume_command(run)),
    }
}

/// The commands for a decision about a step, which continues the run.
fn decision_commands(run: &Run, step: u32) -> String {
    let id = &run.id;
    format!(
        "Approve and continue:\n  onloop approve {id}\n{}\
         Reject, which ends the run:\n  onloop reject {id} --reason TEXT",
        redo_command(run, step)
    )
}

/// Empty where later steps have built on the step.
fn redo_command(run: &Run, step: u32) -> String {
    match run.may_redo(step) {
        true => format!("Request changes:\n  onloop reject {} --redo --reason TEXT\n", run.id),
        false => String::new(),
    }
}
