//! Findings about steps and their fields.

use onloop_syntax::diagnostic::{Diagnostic, Edit, Severity, Span};
use onloop_syntax::limits;
use onloop_syntax::text;

use super::super::field::FIELDS;
use super::super::graph::step_list;
use super::super::rule;
use super::{MODEL_EXPECTED, NETWORK_HELP, shown};
use onloop_effect::InvalidNetwork;

const NUMBERING: &str = "number the steps 1, 2, 3, … in the order of the file";

fixed! {
    empty_name STEP_NAME_EMPTY "the step has no name"
        "say in a few words what the step does"
    unused_max_iterations UNUSED_MAX_ITERATIONS "`max_iterations` has no effect on a step that is not repeated"
        "write `loop: until <condition>`, or remove the line"
    indented_key_in_text INDENTED_KEY_IN_TEXT "this line is part of `action`, although it looks like a field"
        "if it is a field, indent it like `action:`; if not, begin with `action: |`"
    mixed_indentation MIXED_INDENTATION "the fields of this step are indented differently"
        "start all of them in the same column"
    prose PROSE_IN_STEP "this text belongs to no field and is ignored"
        "indent it under `action:`, or put it under its own heading"
    several_scripts SEVERAL_SCRIPTS "the step already has a script; only one can run"
        "join the two, or indent one under `action:` if it is an example"
}

pub(crate) fn none(span: Span) -> Diagnostic {
    rule::NO_STEPS
        .at(span, "the file has no steps")
        .with_help("begin a step with a line `- [ ] **Step 1: Name**`")
        .with_hotl_text(
            "No steps found (expected either '### N. Step name' or '- [ ] **Step N: Step name**')",
        )
}

pub(crate) fn too_many(span: Span) -> Diagnostic {
    rule::TOO_MANY_STEPS
        .at(span, format!("too many steps; the limit is {}", limits::WORKFLOW_STEPS))
        .with_help("split the work into several files")
}

pub(crate) fn misspelt_header(line: Span, line_start: usize, canonical: String) -> Diagnostic {
    let whole = Span::new(line_start, line.end);
    rule::STEP_HEADER
        .at(line, "this line is not written as a step header; other readers of the format skip it")
        .with_help(format!("write `{}`", shown(&canonical)))
        .with_fix("rewrite the header", vec![Edit::replace(whole, canonical)])
}

pub(crate) fn wrong_number(span: Span, found: &str, expected: u32) -> Diagnostic {
    let message = format!("the step is numbered `{}`; expected `{expected}`", shown(found));
    rule::STEP_NUMBER.at(span, message).with_help(NUMBERING)
}

pub(crate) fn duplicate_number(span: Span, number: u32) -> Diagnostic {
    let message = format!("there is already a step {number}");
    rule::DUPLICATE_STEP_NUMBER.at(span, message).with_help(NUMBERING)
}

pub(crate) fn long_name(span: Span) -> Diagnostic {
    rule::STEP_NAME_TOO_LONG
        .at(
            span,
            format!(
                "the name has {} bytes; it is cut off after {}",
                span.end - span.start,
                limits::STEP_NAME_BYTES
            ),
        )
        .with_help("give the step a short name and put the rest into `action`")
}

pub(crate) fn text_after_name(span: Span, text: &str) -> Diagnostic {
    rule::TEXT_AFTER_STEP_NAME
        .at(span, format!("`{}` after the name is ignored", shown(text)))
        .with_help("move it into the name, before `**`, or into `action`")
}

pub(crate) fn missing_action(span: Span, step: &str) -> Diagnostic {
    rule::MISSING_ACTION
        .at(span, "the step has no `action`")
        .with_help("add a line `action: …` that says what to do")
        .with_hotl_text(format!("Step '{step}' missing 'action:' field"))
}

pub(crate) fn missing_loop(span: Span, step: &str, fix: Edit) -> Diagnostic {
    rule::MISSING_LOOP
        .at(span, "the step has no `loop`")
        .with_help("add `loop: false` for one attempt, or `loop: until <condition>`")
        .with_fix("add `loop: false`", vec![fix])
        .with_hotl_text(format!("Step '{step}' missing 'loop:' field"))
}

pub(crate) fn invalid_loop(span: Span, found: &str) -> Diagnostic {
    rule::INVALID_LOOP
        .at(span, format!("`loop` is `{}`; expected `false` or `until <condition>`", shown(found)))
        .with_help("write `loop: until <condition>` to repeat the step until its checks pass")
}

pub(crate) fn empty_condition(span: Span) -> Diagnostic {
    rule::INVALID_LOOP
        .at(span, "`loop: until` names no condition")
        .with_help("say in words what ends the loop, as in `until the tests pass`")
        .with_fix("name the checks", vec![Edit::insert(span.end, " the checks pass")])
}

pub(crate) fn lone_until(span: Span, edits: Vec<Edit>) -> Diagnostic {
    rule::INVALID_LOOP
        .at(span, "`until` is not a field; the condition belongs to `loop`")
        .with_help("write `loop: until <condition>`")
        .with_fix("move the condition to `loop`", edits)
}

pub(crate) fn until_without_verify(span: Span, step: &str) -> Diagnostic {
    rule::UNTIL_WITHOUT_VERIFY
        .at(span, "the step is repeated until its checks pass, but it has no `verify`")
        .with_help("add a `verify` that fails until the work is done, or write `loop: false`")
        .with_hotl_text(format!("Step '{step}' has loop:until but missing 'verify:' field"))
}

pub(crate) fn invalid_max_iterations(span: Span, found: &str) -> Diagnostic {
    rule::INVALID_MAX_ITERATIONS.at(
        span,
        format!(
            "`max_iterations` is `{}`; expected a whole number from 1 to {}",
            shown(found),
            limits::ITERATIONS_PER_STEP
        ),
    )
}

pub(crate) fn invalid_gate(span: Span, found: &str) -> Diagnostic {
    let diagnostic = rule::INVALID_GATE
        .at(span, format!("`gate` is `{}`; expected `human` or `auto`", shown(found)))
        .with_help("a step without a gate has no `gate` line");
    match found.to_ascii_lowercase().as_str() {
        "true" | "yes" | "required" | "manual" | "review" | "approval" => {
            diagnostic.with_fix("write `human`", vec![Edit::replace(span, "human")])
        }
        _ => diagnostic,
    }
}

pub(crate) fn duplicate_field(span: Span, field: &str) -> Diagnostic {
    rule::DUPLICATE_FIELD
        .at(span, format!("the step already has `{field}`"))
        .with_help("keep one of the two; several checks are a list under one `verify`")
}

pub(crate) fn unknown_field(span: Span, field: &str) -> Diagnostic {
    rule::UNKNOWN_FIELD
        .at(span, format!("`{}` is not a field of a step; the line is ignored", shown(field)))
        .with_help(format!(
            "the fields are {}",
            FIELDS.map(|field| format!("`{field}`")).join(", ")
        ))
}

pub(crate) fn misspelt_field(span: Span, known: &str) -> Diagnostic {
    rule::MISSPELT_FIELD
        .at(span, format!("the field `{known}` is misspelled"))
        .with_help(format!("write `{known}:` at the start of the line"))
        .with_fix(format!("write `{known}:`"), vec![Edit::replace(span, format!("{known}:"))])
}

pub(crate) fn indented_field(span: Span, line_start: usize, indent: &str) -> Diagnostic {
    let blanks = Span::new(line_start, span.start);
    rule::INDENTED_FIELD
        .at(span, "this line is indented under another field, so it is part of that field")
        .with_help("give all fields of the step the same indentation")
        .with_fix("indent it like the other fields", vec![Edit::replace(blanks, indent)])
}

pub(crate) fn unexpected_lines(span: Span, field: &str) -> Diagnostic {
    rule::UNEXPECTED_LINES
        .at(span, format!("`{field}` is a single line, but more lines are indented under it"))
}

pub(crate) fn outside_step(span: Span, field: &str) -> Diagnostic {
    rule::FIELD_OUTSIDE_STEP
        .at(span, format!("`{field}` is outside every step and is ignored"))
        .with_help("a step ends at a heading of level 1 to 3; move the field above the heading")
}

pub(crate) fn hidden_character(span: Span, what: &str) -> Diagnostic {
    rule::HIDDEN_CHARACTER
        .at(span, format!("`{what}` contains an invisible character"))
        .with_help("control and formatting characters make a line look different from what runs")
}

pub(crate) fn invalid_baseline(span: Span, found: &str) -> Diagnostic {
    let message = format!("`baseline` is `{}`; expected `true` or `false`", shown(found));
    rule::INVALID_BASELINE.at(span, message)
}

pub(crate) fn invalid_depends_on(span: Span, found: &str) -> Diagnostic {
    let message = format!("`depends_on` is `{}`; expected a list of earlier steps", shown(found));
    rule::INVALID_DEPENDS_ON
        .at(span, message)
        .with_help("write their numbers, such as `[1, 2]`, or `[]` for a step that needs none")
}

pub(crate) fn unusable_dependency(span: Span, message: impl Into<String>) -> Diagnostic {
    rule::INVALID_DEPENDS_ON
        .at(span, message)
        .with_help("`depends_on` lists the numbers of steps above this one, each once")
}

/// Most steps and files that a message lists.
const LISTED: usize = 5;

pub(crate) fn unneeded_steps(span: Span, last: u32, unneeded: &[u32]) -> Diagnostic {
    let (shown, more) = unneeded.split_at(unneeded.len().min(LISTED));
    let mut steps = step_list(shown);
    if !more.is_empty() {
        steps += &format!(", and {} more", more.len());
    }
    rule::UNNEEDED_STEP
        .at(span, format!("step {last}, the last one, does not wait for {steps}"))
        .with_help("list the steps that it checks in `depends_on`")
}

pub(crate) fn shared_files(span: Span, one: u32, other: u32, files: &[String]) -> Diagnostic {
    let names: Vec<String> =
        files.iter().take(LISTED).map(|file| format!("`{}`", shown(file))).collect();
    let more = match files.len().saturating_sub(LISTED) {
        0 => String::new(),
        more => format!(", and {}", text::counted(more as u64, "more file")),
    };
    let message = format!(
        "steps {one} and {other} can run at the same time, and both name {}{more}",
        names.join(", ")
    );
    rule::SHARED_FILE.at(span, message).with_help(format!(
        "changes of both at one place conflict: let step {other} depend on step {one}, or name \
         different files"
    ))
}

pub(crate) fn invalid_may_change(span: Span, found: &str) -> Diagnostic {
    let message = format!(
        "`may_change` is `{}`; expected names or patterns of files below the root, such as `tests/**`",
        shown(found)
    );
    rule::INVALID_MAY_CHANGE.at(span, message)
}

pub(crate) fn invalid_model(span: Span, found: &str) -> Diagnostic {
    let message = format!("`model` is `{}`; expected {MODEL_EXPECTED}", shown(found));
    rule::INVALID_MODEL.at(span, message)
}

pub(crate) fn invalid_network(span: Span, found: &str, invalid: &InvalidNetwork) -> Diagnostic {
    rule::INVALID_NETWORK
        .at(span, format!("`network` is `{}`: {}", shown(found), invalid.reason))
        .with_help(NETWORK_HELP)
}

/// `required`: the frontmatter says `require_checks: true`, so the finding is an error.
pub(crate) fn unchecked(span: Span, required: bool) -> Diagnostic {
    let mut diagnostic = rule::UNCHECKED_STEP.at(span, "no check verifies this step");
    if required {
        diagnostic.severity = Severity::Error;
    }
    diagnostic.with_help(CHECK_HELP)
}

/// The same at `require_checks: true` for a step whose checks cannot fail.
pub(crate) fn unchecked_by_vacuous(span: Span) -> Diagnostic {
    let mut diagnostic = rule::UNCHECKED_STEP.at(span, "no check of this step can fail");
    diagnostic.severity = Severity::Error;
    diagnostic.with_help(CHECK_HELP)
}

const CHECK_HELP: &str =
    "add `verify: …` with a command that fails until the step is done, or `gate: human`";

/// `certain`: hotl-rt knows these words too, so the finding is an error.
pub(crate) fn security_without_gate(
    span: Span,
    step: &str,
    words: &[&str],
    certain: bool,
) -> Diagnostic {
    let list = words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>().join(", ");
    let message = format!(
        "the step touches security ({list}) at `risk_level: high` but has no `gate: human`"
    );
    let mut diagnostic = rule::SECURITY_WITHOUT_GATE.at(span, message);
    if !certain {
        diagnostic.severity = Severity::Warning;
    }
    diagnostic.with_help("add `gate: human`").with_hotl_text(format!(
        "Step '{step}' has security keywords with risk_level:high but missing 'gate: human'"
    ))
}
