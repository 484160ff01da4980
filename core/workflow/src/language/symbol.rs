//! The outline of a file: frontmatter, steps, their fields and checks.

use super::Reading;
use super::reading::is_container;
use crate::graph::step_list;
use crate::{FieldPlace, PlaceKind, Section};
use onloop_syntax::diagnostic::Span;
use onloop_syntax::text::{self, words};

/// A part of a file with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// Its name, without line breaks or control characters.
    pub name: String,
    /// The beginning of its value; empty if the name is enough.
    pub detail: String,
    /// Its kind.
    pub kind: SymbolKind,
    /// Its whole range.
    pub span: Span,
    /// The range that editors select; inside `span`.
    pub selection: Span,
    /// Its parts.
    pub children: Vec<Symbol>,
}

words! {
    /// The kind of a part.
    pub enum SymbolKind {
        /// The frontmatter.
        Frontmatter = "frontmatter",
        /// A step.
        Step = "step",
        /// A field.
        Field = "field",
        /// An item of `verify`.
        Check = "check",
    }
}

/// Longest detail, and longest name of a check.
const SHOWN_BYTES: usize = 80;

/// The parts of a file, in its order.
pub fn symbols(reading: Reading<'_>) -> Vec<Symbol> {
    let mut found = Vec::new();
    if let Some(front) = reading.parsed.outline.frontmatter.filter(|front| front.end > front.start)
    {
        found.push(Symbol {
            name: "Frontmatter".to_owned(),
            detail: String::new(),
            kind: SymbolKind::Frontmatter,
            span: front,
            selection: reading.line(front.start),
            children: tree(reading, reading.frontmatter()),
        });
    }
    for (at, step) in reading.steps().iter().enumerate() {
        let planned = reading.parsed.plan.as_ref().and_then(|plan| plan.steps.get(at));
        let needed = planned.and_then(|step| step.depends_on.as_deref());
        let span = Span::new(step.span.start, reading.trimmed_end(step.span));
        found.push(Symbol {
            name: format!("Step {}: {}", step.number, step.name),
            detail: needed.map_or(String::new(), |needed| format!("needs {}", step_list(needed))),
            kind: SymbolKind::Step,
            span,
            selection: step.title,
            children: tree(reading, reading.fields_in(step.span)),
        });
    }
    found
}

/// Positions as a tree: everything inside the value of a container is its child.
fn tree(reading: Reading<'_>, places: &[FieldPlace]) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut rest = places;
    while let Some((place, after)) = rest.split_first() {
        let inside = match is_container(place, reading.text) {
            true => after.partition_point(|other| other.key.start < place.value.end),
            false => 0,
        };
        let (children, after) = after.split_at(inside);
        if !matches!(place.what, PlaceKind::Unknown(_)) {
            symbols.push(symbol(reading, place, children));
        }
        rest = after;
    }
    symbols
}

fn symbol(reading: Reading<'_>, place: &FieldPlace, children: &[FieldPlace]) -> Symbol {
    let shown = |span: Span| shown(reading.slice(span));
    let (name, detail, kind) = match place.what {
        PlaceKind::Field(_, name) if children.is_empty() => {
            (name.to_owned(), shown(place.value), SymbolKind::Field)
        }
        PlaceKind::Field(_, name) => (name.to_owned(), String::new(), SymbolKind::Field),
        PlaceKind::Variable | PlaceKind::Unknown(_) => {
            (shown(place.key), shown(place.value), SymbolKind::Field)
        }
        PlaceKind::Item if children.is_empty() => {
            (shown(place.value), String::new(), SymbolKind::Check)
        }
        PlaceKind::Item => {
            let of_type = children.iter().find(|child| child.is(Section::Check, "type"));
            let main = children.iter().find(|child| {
                matches!(
                    child.what,
                    PlaceKind::Field(Section::Check, "command" | "path" | "prompt" | "url")
                )
            });
            let value = |place: Option<&FieldPlace>| place.map(|place| shown(place.value));
            let name = value(of_type).filter(|name| !name.is_empty());
            let detail = value(main).unwrap_or_default();
            (name.unwrap_or_else(|| "check".to_owned()), detail, SymbolKind::Check)
        }
    };
    // Clients refuse empty names.
    let name = if name.is_empty() { "check".to_owned() } else { name };
    Symbol {
        name,
        detail,
        kind,
        span: place.span(),
        selection: place.key,
        children: tree(reading, children),
    }
}

/// The first line of a value, safe for a list.
fn shown(value: &str) -> String {
    let first = value.lines().next().unwrap_or_default();
    text::ellipsis(&text::one_line(text::prefix(first, 4 * SHOWN_BYTES)), SHOWN_BYTES)
}
