//! Positions of fields, recorded while a file is read.

use onloop_syntax::diagnostic::Span;

use super::format::{FIELDS, Field, Section};

/// The kind of a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// A field of the format, by its name in [`FIELDS`].
    Field(Section, &'static str),
    /// A variable below `env`.
    Variable,
    /// The dash of an item below `verify`.
    Item,
    /// A name that the format does not know at this position.
    Unknown(Section),
}

/// A field and its value, or an item of `verify`. Nested fields follow it and are inside its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldPlace {
    /// Its kind.
    pub what: PlaceKind,
    /// Its name as written, without the colon; the dash of an item.
    pub key: Span,
    /// From the first to the last byte of its value; empty, after the colon, without a value. For
    /// an item that is an object: its fields.
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

/// The positions of one file, in its order.
#[derive(Debug, Default)]
pub(super) struct FieldPlaces(Vec<FieldPlace>);

impl FieldPlaces {
    /// Records a position, and returns its index for [`FieldPlaces::set_value`] and
    /// [`FieldPlaces::enclose`].
    pub(super) fn note(&mut self, what: PlaceKind, key: Span, value: Span) -> usize {
        self.0.push(FieldPlace { what, key, value });
        self.0.len() - 1
    }

    /// Sets the value of a position that was recorded before its value was read.
    pub(super) fn set_value(&mut self, at: usize, value: Span) {
        self.0[at].value = value;
    }

    /// Sets the value of a position to the positions recorded since.
    pub(super) fn enclose(&mut self, at: usize) {
        let inside = &self.0[at + 1..];
        let Some(first) = inside.first() else { return };
        let end = inside.iter().map(|place| place.span().end).max();
        self.0[at].value = Span::new(first.key.start, end.unwrap_or(first.key.end));
    }

    /// The first field of this section with this name.
    pub(super) fn of(&self, section: Section, name: &str) -> Option<FieldPlace> {
        self.0.iter().find(|place| place.is(section, name)).copied()
    }

    pub(super) fn into_vec(self) -> Vec<FieldPlace> {
        self.0
    }
}
