//! What the workflow of a session may do beyond the tables, and the verbs of our own program.

use super::Judge;
use super::entry::{ParsedArgs, is_number};
use crate::Context;
use crate::expand::Arg;
use crate::paths::{PathClass, file_name};
use crate::programs::Class;
use crate::shell::{ParsedShell, Word};
use crate::verdict::{Finding, Rule};

/// Values of `.state` that end a session.
const FINAL_STATES: [&str; 4] = ["done", "completed", "error", "failed"];

fn workflow(context: &Context) -> &str {
    context.session.as_ref().map_or("", |session| session.workflow.as_str())
}

/// A workflow that writes plans into issues.
pub(super) fn is_planner(context: &Context) -> bool {
    matches!(workflow(context), "ultra-planner" | "mega-planner")
}

/// A workflow that is told to leave a comment on its issue for the people who take over.
pub(super) fn leaves_comments(context: &Context) -> bool {
    is_planner(context) || matches!(workflow(context), "issue-to-impl" | "sync-master")
}

/// The workflow that sets up a project board.
pub(super) fn is_board(context: &Context) -> bool {
    workflow(context) == "setup-viewboard"
}

/// Whether the command at `index` is `jq '.state = "done"' FILE`, which may write the file
/// that replaces the session's own state.
pub(super) fn completes_state(script: &ParsedShell, index: usize, context: &Context) -> bool {
    let simple = &script.commands[index];
    let words: Option<Vec<&str>> = simple.words.iter().map(Word::as_literal).collect();
    let Some([program, filter, file]) = words.as_deref() else {
        return false;
    };
    let places = &context.places;
    let ends = FINAL_STATES.iter().any(|state| {
        let compact: String = filter.chars().filter(|c| !c.is_whitespace()).collect();
        compact == format!(".state=\"{state}\"")
    });
    *program == "jq" && ends && places.class(file) == PathClass::OwnState && file.ends_with(".json")
}

/// Whether this is `mv FILE.tmp FILE` for the session's own state.
pub(super) fn moves_state(parsed: &ParsedArgs<'_>, judge: &Judge<'_>) -> bool {
    let [from, to] = parsed.args else {
        return false;
    };
    let own = judge.own_state(from) && judge.own_state(to);
    own && from.text.ends_with(".json.tmp")
        && file_name(&to.text).ends_with(".json")
        && from.text.strip_suffix(".tmp") == Some(&to.text)
}

/// `onloop session done ID` and `session stop ID`, for the session that makes this call.
pub(crate) fn own_session(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_args();
    let own = judge.context.session.as_ref().map(|session| session.id.as_str());
    let ends = matches!(words.as_deref(), Some(["done" | "stop", id]) if Some(*id) == own);
    let shows = matches!(words.as_deref(), Some(["list"] | ["show", _]));
    if !ends && !shows {
        judge.classified(Class::Administers, parsed);
    }
}

/// `onloop install` and `uninstall`: an agent does not choose who judges it. Asking would not
/// do, because some hosts run what we ask about.
pub(crate) fn changes_guard(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    judge.deny(parsed, "changes the hooks that judge this agent");
}

/// `onloop approve` and `permit trust`: what they record is a person's word, and the agent
/// whose calls are judged cannot give it. `permit` also explains, which changes nothing.
pub(crate) fn answers_for_a_person(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let verb = parsed.args.first().and_then(Arg::known);
    if parsed.name.ends_with("permit") && matches!(verb, Some("explain" | "batch")) {
        return;
    }
    judge.deny(parsed, "answers for the person who watches this agent");
}

/// `onloop gate`, `finish` and others: a person decides about a run, or whether there is one.
pub(crate) fn decides_about_a_run(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let reason = format!("`{}` decides about a run, which is a person's part", parsed.name);
    judge.add(Finding::ask(Rule::Person(parsed.name.to_owned()), reason));
}

/// `onloop auto begin`, `resume` and `route`, which start nobody; `onloop auto` itself does.
pub(crate) fn steps_auto(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_args();
    let starts_nobody = match words.as_deref() {
        // A line for the health of the workspace is run.
        Some(["begin" | "resume" | "route", rest @ ..]) => {
            rest.iter().all(|word| !word.starts_with("--health"))
        }
        Some(_) | None => false,
    };
    if !starts_nobody {
        decides_about_a_run(judge, parsed);
    }
}

/// `onloop step N start|verify|retry|block`: it records what an agent does in a run that a
/// person has begun, and runs the checks that the record holds.
pub(crate) fn drives_run(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_operands();
    let drives = match words.as_deref() {
        Some([step, verb]) => {
            is_number(step) && matches!(*verb, "start" | "verify" | "retry" | "block")
        }
        Some(_) | None => false,
    };
    if !drives {
        judge.classified(Class::Administers, parsed);
    }
}

/// `onloop gate N approved --mode auto`: the record takes it only where its own rules approve
/// the gate. Every other decision is a person's.
pub(crate) fn decides_by_rule(judge: &mut Judge<'_>, parsed: &ParsedArgs<'_>) {
    let words = parsed.known_operands();
    let modes: Vec<Option<&str>> = parsed
        .seen
        .iter()
        .filter(|seen| seen.name == "--mode")
        .map(|seen| seen.value.as_ref().and_then(Arg::known))
        .collect();
    let approves = matches!(words.as_deref(), Some([step, "approved"]) if is_number(step));
    if !(approves && modes == [Some("auto")]) {
        decides_about_a_run(judge, parsed);
    }
}
