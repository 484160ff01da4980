//! Where fields are written, noted while a file is read.

use onloop_syntax::diagnostic::Span;

use super::format::{FIELDS, Field, Section};

/// What stands at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A field of the format, by the name that it has in [`FIELDS`].
    Field(Section, &'static str),
    /// A variable below `env`.
    Variable,
    /// The dash of an item below `verify`.
    Item,
    /// A name that the format does not know where it stands.
    Unknown(Section),
}

/// A field and its value, or an item of `verify`. What stands inside of another follows it and is
/// inside of its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// What it is.
    pub what: PlaceKind,
    /// Its name as it is written, without the colon; the dash of an item.
    pub key: Span,
    /// From the first to the last byte of its value; empty, behind the colon, where there is none.
    /// Of an item that is an object: its fields.
    pub value: Span,
}

impl FieldPlace {
    /// Its row in the table of fields.
    pub fn field(&self) -> Option<&'static Field> {
        let PlaceKind::Field(section, name) = self.what else { return None };
        FIELDS.iter().find(|field| field.section == section && field.name == name)
    }

    /// Whether it is the field of this section with this name.
    pub fn is(&self, section: Section, name: &str) -> bool {
        matches!(self.what, PlaceKind::Field(of, named) if of == section && named == name)
    }

    /// From its name to the end of its value.
    pub fn span(&self) -> Span {
        Span::new(self.key.start, self.value.end.max(self.key.end))
    }
}

/// The places of one file, in its order.
#[derive(Debug, Default)]
pub(super) struct FieldPlaces(Vec<FieldPlace>);

impl FieldPlaces {
    /// Notes a place, and returns its position for [`FieldPlaces::set_value`] and [`FieldPlaces::enclose`].
    pub(super) fn note(&mut self, what: PlaceKind, key: Span, value: Span) -> usize {
        self.0.push(FieldPlace { what, key, value });
        self.0.len() - 1
    }

    /// The value of a place that was noted before it was read.
    pub(super) fn set_value(&mut self, at: usize, value: Span) {
        self.0[at].value = value;
    }

    /// The value of a place is what was noted since.
    pub(super) fn enclose(&mut self, at: usize) {
        let inside = &self.0[at + 1..];
        let Some(first) = inside.first() else { return };
        let end = inside.iter().map(|place| place.span().end).max();
        self.0[at].value = Span::new(first.key.start, end.unwrap_or(first.key.end));
    }

    pub(super) fn into_vec(self) -> Vec<FieldPlace> {
        self.0
    }
}
