//! Findings about `verify`.

use onloop_syntax::diagnostic::{Diagnostic, Edit, Span};
use onloop_syntax::limits;

use super::super::{Shell, rule};
use super::{NETWORK_HELP, meant, shown};
use onloop_effect::InvalidNetwork;

fixed! {
    layout VERIFY_LAYOUT "expected `key: value` or `- ` at the indentation of the lines above"
        "an object has one `key: value` per line; each item of a list begins with `- `"
    unused_assert_value UNUSED_ASSERT_VALUE "`exists` ignores `value`"
        "write `kind: contains` to look for text, or remove the value"
    looks_like_prose PROSE_VERIFY "this reads like a sentence, but it is run as a command"
        "to have a person look, write `type: human-review` with a `prompt`"
    last_line_decides LAST_LINE_DECIDES "only the last line decides whether this check passes"
        "begin with `set -e`, or join the lines with `&&`"
    review_before_checks REVIEW_BEFORE_CHECKS "a person is asked before the other checks have run"
        "put human-review at the end of the list, so that nobody reviews broken work"
}

pub(crate) fn empty(span: Span, step: &str) -> Diagnostic {
    rule::EMPTY_VERIFY
        .at(span, "`verify` checks nothing")
        .with_help("write a command after it, or remove it and let a gate decide")
        .with_hotl_text(format!("Step '{step}' has empty verify block"))
}

pub(crate) fn flow(span: Span, field: &str) -> Diagnostic {
    rule::FLOW_VERIFY
        .at(span, format!("`{field}` is written in braces or brackets, which a shell would read"))
        .with_help("write one indented `key: value` per line; each item of a list begins with `- `")
}

pub(crate) fn too_many(span: Span) -> Diagnostic {
    rule::TOO_MANY_CHECKS
        .at(span, format!("a step has at most {} checks", limits::CHECKS_PER_STEP))
        .with_help("put some of them into a script and run the script")
}

pub(crate) fn missing_type(span: Span, step: &str, guess: Option<(&str, Edit)>) -> Diagnostic {
    let diagnostic = rule::MISSING_CHECK_TYPE
        .at(span, "the check has no `type`")
        .with_help("the types are `shell`, `browser`, `human-review` and `artifact`")
        .with_hotl_text(format!(
            "Step '{step}' has structured verify block but missing 'type:' field"
        ));
    match guess {
        Some((name, edit)) => diagnostic.with_fix(format!("add `type: {name}`"), vec![edit]),
        None => diagnostic,
    }
}

pub(crate) fn unknown_type(
    span: Span,
    step: &str,
    found: &str,
    suggestion: Option<&str>,
) -> Diagnostic {
    let expected = "shell, browser, human-review, artifact";
    let diagnostic = rule::UNKNOWN_CHECK_TYPE
        .at(span, format!("`{}` is not a type of check; expected one of {expected}", shown(found)))
        .with_hotl_text(format!(
            "Step '{step}' has invalid verify type '{}' (expected: {expected})",
            shown(found)
        ));
    match suggestion {
        Some(known) => meant(diagnostic, span, "write", known),
        None => diagnostic,
    }
}

pub(crate) fn missing_field(span: Span, step: &str, kind: &str, field: &str) -> Diagnostic {
    let old = if field == "kind" { "assert.kind" } else { field };
    let message = match field {
        "kind" => format!("the {kind} check has no `kind` under `assert`"),
        _ => format!("the {kind} check has no `{field}`"),
    };
    rule::MISSING_CHECK_FIELD
        .at(span, message)
        .with_help(format!("add `{field}: …` below its `type`"))
        .with_hotl_text(
            format!("Step '{step}' verify type:{kind} missing '{old}:' field")
                .replace("'assert.kind:' field", "'assert.kind' field"),
        )
}

pub(crate) fn foreign_field(span: Span, field: &str, kind: &str) -> Diagnostic {
    rule::FOREIGN_CHECK_FIELD
        .at(span, format!("`{field}` does not belong to a check of type {kind}"))
        .with_help("a check has one type; write a list for several checks")
}

pub(crate) fn unknown_field(span: Span, field: &str, suggestion: Option<&str>) -> Diagnostic {
    let diagnostic = rule::UNKNOWN_CHECK_FIELD.at(
        span,
        format!("`{}` is not a field of a check, so nothing would check it", shown(field)),
    );
    match suggestion {
        Some(known) => meant(diagnostic, span, "rename it to", known),
        None => diagnostic.with_help("make it a command, or a comment: `# …`"),
    }
}

pub(crate) fn duplicate_field(span: Span, field: &str) -> Diagnostic {
    rule::DUPLICATE_FIELD
        .at(span, format!("the check already has `{field}`"))
        .with_help("write a list for several checks")
}

pub(crate) fn invalid_value(span: Span, field: &str, found: &str, expected: &str) -> Diagnostic {
    let message = format!("`{field}` is `{}`; expected {expected}", shown(found));
    rule::INVALID_CHECK_VALUE.at(span, message)
}

pub(crate) fn invalid_network(span: Span, found: &str, invalid: &InvalidNetwork) -> Diagnostic {
    rule::INVALID_CHECK_VALUE
        .at(span, format!("`network` is `{}`: {}", shown(found), invalid.reason))
        .with_help(NETWORK_HELP)
}

pub(crate) fn timeout_without_unit(span: Span, found: &str) -> Diagnostic {
    invalid_value(span, "timeout", found, "a number with a unit, such as `90s` or `1h30m`")
        .with_fix("read it as seconds", vec![Edit::insert(span.end, "s")])
}

pub(crate) fn unknown_kind(span: Span, found: &str, suggestion: Option<&str>) -> Diagnostic {
    let diagnostic = rule::UNKNOWN_ASSERT_KIND.at(
        span,
        format!(
            "`{}` is not a kind of assertion; expected exists, contains or matches-glob",
            shown(found)
        ),
    );
    match suggestion {
        Some(known) => meant(diagnostic, span, "write", known),
        None => diagnostic.with_help("for anything else, write a shell check, such as `grep -E`"),
    }
}

pub(crate) fn inline_assert(span: Span, kind: &str, indent: usize) -> Diagnostic {
    let nested = format!("\n{}kind: {kind}", " ".repeat(indent + 2));
    invalid_value(span, "assert", kind, "`kind: …` on an indented line of its own")
        .with_fix("move the kind below `assert`", vec![Edit::replace(span, nested)])
}

pub(crate) fn missing_assert_value(span: Span, kind: &str) -> Diagnostic {
    rule::MISSING_ASSERT_VALUE
        .at(span, format!("`{kind}` has no `value` to look for"))
        .with_help("add `value: …` below `kind`")
}

pub(crate) fn flattened_assert(span: Span, field: &str) -> Diagnostic {
    rule::FLATTENED_ASSERT
        .at(span, format!("`{field}` belongs below `assert`"))
        .with_help("indent it two spaces deeper than `assert:`")
}

pub(crate) fn glob_with_folder(span: Span, glob: &str) -> Diagnostic {
    let diagnostic = rule::GLOB_WITH_FOLDER
        .at(span, format!("the glob `{}` names a folder", shown(glob)))
        .with_help("a glob matches names in the folder `path`; name the folder there");
    match glob.rsplit_once('/') {
        Some(("**", name)) | Some((".", name)) if !name.is_empty() => diagnostic
            .with_help(format!("write `{}` to match names in the folder `path`", shown(name))),
        Some(_) | None => diagnostic,
    }
}

pub(crate) fn path_outside(span: Span, field: &str, path: &str) -> Diagnostic {
    rule::PATH_OUTSIDE
        .at(
            span,
            format!("`{field}` is `{}`, outside the folder in which the run works", shown(path)),
        )
        .with_help("write a path relative to the root of the checkout, without `..`")
}

pub(crate) fn unterminated_heredoc(span: Span, delimiter: &str) -> Diagnostic {
    rule::UNTERMINATED_HEREDOC
        .at(span, format!("unterminated heredoc: no line `{}` ends it", shown(delimiter)))
        .with_help("put the delimiter alone on a line, indented no deeper than the command")
}

pub(crate) fn vacuous(span: Span, why: &str) -> Diagnostic {
    rule::VACUOUS_VERIFY
        .at(span, format!("this check cannot fail: {why}"))
        .with_help("use a command whose exit code depends on the work, such as a test run")
}

/// A test runner that is told to run no test.
pub(crate) fn lists_tests(span: Span, runner: &str, option: &str) -> Diagnostic {
    rule::VACUOUS_VERIFY
        .at(span, format!("this check runs no test: `{runner}` has `{option}`"))
        .with_help(format!("remove `{option}`, or set `allow_no_tests: true`"))
}

/// A command in quotes, which onloop takes off and other readers of the format do not. `bare` is the
/// command without them, if it can stand alone.
pub(crate) fn quoted_command(span: Span, bare: Option<&str>) -> Diagnostic {
    let found = rule::QUOTED_VALUE
        .at(span, "other readers of the format run this command with its quotes, and it fails")
        .with_help("write the command without quotes around it");
    match bare {
        Some(bare) => found.with_fix("remove the quotes", vec![Edit::replace(span, bare)]),
        None => found,
    }
}

/// A command in backticks, as in Markdown.
pub(crate) fn command_in_backticks(span: Span, inner: &str) -> Diagnostic {
    let message = "the command fails: in backticks, its output is run as a second command";
    rule::QUOTED_VALUE
        .at(span, message)
        .with_help("write the command without backticks around it")
        .with_fix("remove the backticks", vec![Edit::replace(span, inner)])
}

/// `part` is language of `written_for`, but `shell` runs the line.
pub(crate) fn windows_command(
    span: Span,
    part: &str,
    written_for: Shell,
    shell: Shell,
) -> Diagnostic {
    let language = match written_for {
        Shell::Pwsh => "PowerShell",
        Shell::Cmd | Shell::Bash | Shell::Sh => "cmd, the shell of Windows",
    };
    let (shell, written_for) = (shell.as_str(), written_for.as_str());
    let message = format!("`{}` is written for {language}, but {shell} runs it", shown(part));
    rule::WINDOWS_COMMAND.at(span, message).with_help(format!(
        "write it for {shell}; in a workflow for Windows, write `platform: windows` and \
         `shell: {written_for}` in the frontmatter"
    ))
}

pub(crate) fn machine_path(span: Span, path: &str) -> Diagnostic {
    rule::MACHINE_PATH
        .at(span, format!("`{}` exists only on one machine", shown(path)))
        .with_help("commands start in the root of the checkout; write paths relative to it")
}

pub(crate) fn review_check_alias(span: Span) -> Diagnostic {
    rule::REVIEW_CHECK_ALIAS
        .at(span, "`check` is read as `prompt`; other readers of the format want `prompt`")
        .with_help("rename it")
        .with_fix("rename it to `prompt`", vec![Edit::replace(span, "prompt")])
}

pub(crate) fn url_without_scheme(span: Span, url: &str) -> Diagnostic {
    rule::URL_WITHOUT_SCHEME
        .at(span, format!("`{}` does not begin with `http://` or `https://`", shown(url)))
        .with_help("write the whole address")
}
