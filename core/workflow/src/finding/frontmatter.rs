//! Findings about the frontmatter.

use onloop_syntax::diagnostic::{Diagnostic, Edit, Span};
use onloop_syntax::limits;

use super::super::{FieldPlace, rule};
use super::{NETWORK_HELP, meant, shown};
use onloop_effect::InvalidNetwork;

fixed! {
    unterminated UNTERMINATED_FRONTMATTER "unterminated frontmatter"
        "write a line `---` after its last key"
    unused_max_parallel UNUSED_MAX_PARALLEL "`max_parallel` has no effect, because each step needs the one before"
        "write `depends_on` on a step that does not need the step before, or remove the line"
    not_a_key FRONTMATTER_LINE "this line is neither `key: value` nor indented below a key; it is ignored"
        "indent it to continue the value above, or begin it with `#`"
}

/// `written`: the value of `worktree`; `None`: the file does not say it.
pub(crate) fn parallel_without_worktree(place: FieldPlace, written: Option<&str>) -> Diagnostic {
    let why = match written {
        Some(written) => format!("`worktree` is `{}`", shown(written)),
        None => "the file does not say `worktree: true`".to_owned(),
    };
    let found = rule::PARALLEL_WITHOUT_WORKTREE
        .at(place.span(), format!("`max_parallel` above 1 needs `worktree: true`, but {why}"))
        .with_help("steps that run at the same time need worktrees of their own");
    match written {
        Some(_) => found,
        None => {
            let line = Edit::insert(place.value.end, "\nworktree: true");
            found.with_fix("add `worktree: true`", vec![line])
        }
    }
}

pub(crate) fn missing(span: Span, has_content: bool) -> Diagnostic {
    let message = match has_content {
        true => "the file does not begin with frontmatter",
        false => "the file is empty",
    };
    rule::MISSING_FRONTMATTER
        .at(span, message)
        .with_help(
            "begin with a line `---`, then `intent:`, `success_criteria:` and `risk_level:`, \
             then another `---`; `onloop new` writes a file to start from",
        )
        .with_hotl_text("Missing YAML frontmatter (file must start with ---)")
}

pub(crate) fn too_large(span: Span, bytes: usize) -> Diagnostic {
    rule::FRONTMATTER_TOO_LARGE.at(
        span,
        format!("the frontmatter has {bytes} bytes; the limit is {}", limits::FRONTMATTER_BYTES),
    )
}

pub(crate) fn too_nested(span: Span) -> Diagnostic {
    rule::FRONTMATTER_TOO_NESTED.at(
        span,
        format!("the value has more than {} opening brackets", limits::FRONTMATTER_OPEN_BRACKETS),
    )
}

pub(crate) fn duplicate_key(span: Span, key: &str) -> Diagnostic {
    rule::DUPLICATE_KEY.at(span, format!("`{key}` is given twice")).with_help("keep one of the two")
}

pub(crate) fn unknown_key(span: Span, key: &str, suggestion: Option<&str>) -> Diagnostic {
    let found = rule::UNKNOWN_KEY.at(span, format!("`{}` is not a known key", shown(key)));
    match suggestion {
        Some(known) => meant(found, span, "rename it to", known),
        None => found.with_help(concat!(
            "it has no effect; the known keys: ",
            env!("CARGO_PKG_REPOSITORY"),
            "/blob/main/docs/workflow-format.md"
        )),
    }
}

pub(crate) fn missing_key(span: Span, key: &'static str, help: &str) -> Diagnostic {
    rule::MISSING_KEY
        .at(span, format!("the frontmatter has no `{key}`"))
        .about(key)
        .with_help(help)
        .with_hotl_text(format!("Frontmatter missing '{key}:' field"))
}

pub(crate) fn empty_key(span: Span, key: &str) -> Diagnostic {
    rule::EMPTY_KEY
        .at(span, format!("`{key}` has no value"))
        .with_help(format!("write the value after `{key}:`, or remove the line"))
}

/// A value that its key does not allow.
pub(crate) fn invalid_value(
    span: Span,
    key: &str,
    found: &str,
    expected: &str,
    hotl_text: Option<String>,
) -> Diagnostic {
    let message = format!("`{key}` is `{}`; expected {expected}", shown(found));
    let diagnostic = rule::INVALID_KEY_VALUE.at(span, message);
    match hotl_text {
        Some(text) => diagnostic.with_hotl_text(text),
        None => diagnostic,
    }
}

pub(crate) fn invalid_network(
    span: Span,
    key: &str,
    found: &str,
    invalid: &InvalidNetwork,
) -> Diagnostic {
    rule::INVALID_KEY_VALUE
        .at(span, format!("`{key}` is `{}`: {}", shown(found), invalid.reason))
        .with_help(NETWORK_HELP)
}

pub(crate) fn ignored_text(word: Span, rest: Span, ignored: &str) -> Diagnostic {
    rule::IGNORED_TEXT
        .at(rest, format!("`{}` is ignored; the value is one word", shown(ignored)))
        .with_help("start a comment with ` #`")
        .with_fix("remove the text", vec![Edit::replace(Span::new(word.end, rest.end), "")])
}

pub(crate) fn unreadable_quotes(span: Span, key: &str) -> Diagnostic {
    rule::UNREADABLE_QUOTES
        .at(
            span,
            format!("`{key}` looks like YAML but is not valid YAML; it is read as plain text"),
        )
        .with_help("close every quote and bracket, or write plain text")
}
