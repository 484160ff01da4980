//! Redirections, and the standard input that a line contains.

use super::{Judge, workflow};
use crate::expand::{Arg, Variables};
use crate::paths::{Access, PathClass};
use crate::shell::{ParsedShell, Redirection, RedirectionKind, Word};

impl Judge<'_> {
    /// Judges where a redirection leads.
    pub(super) fn redirection(
        &mut self,
        script: &ParsedShell,
        redirection: &Redirection,
        variables: &Variables<'_>,
        index: usize,
    ) {
        let access = match redirection.kind {
            RedirectionKind::Text | RedirectionKind::Document(_) => return,
            RedirectionKind::Read => Access::Read,
            RedirectionKind::Write | RedirectionKind::ReadWrite => Access::Write,
            RedirectionKind::Duplicate => {
                let target = redirection.target.as_literal().unwrap_or_default();
                let number = target.strip_suffix('-').unwrap_or(target);
                if !target.is_empty() && number.bytes().all(|b| b.is_ascii_digit()) {
                    return;
                }
                Access::Write
            }
        };
        let target = variables.single(&redirection.target, index);
        if self.own_state(&target) && workflow::completes_state(script, index, self.context) {
            return;
        }
        let is_stream =
            target.known().is_some_and(|path| self.places.class(path) == PathClass::Stream);
        if !is_stream {
            self.uses_file();
        }
        if access == Access::Write && !is_stream {
            self.writes(&[&target]);
        } else if !is_stream {
            self.consider(self.context.client.file(&target, Access::Read, &self.places));
        }
        self.consider(self.places.judge(&target, access));
    }

    /// Whether `target` is the state file of the session that makes this call.
    pub(super) fn own_state(&self, target: &Arg) -> bool {
        target.known().is_some_and(|path| self.places.class(path) == PathClass::OwnState)
    }

    /// The text that a command gets on its standard input, when the line contains it.
    pub(super) fn standard_input(
        &self,
        script: &ParsedShell,
        redirections: &[Redirection],
        variables: &Variables<'_>,
        index: usize,
    ) -> Option<Arg> {
        let last = redirections.iter().rfind(|redirection| redirection.is_input)?;
        Some(variables.single(text(script, last)?, index))
    }

    /// Asks about texts in redirections that hold a secret: the command, or one in a group, may print it.
    pub(super) fn redirected_secrets(
        &mut self,
        script: &ParsedShell,
        redirections: &[Redirection],
        variables: &Variables<'_>,
        index: usize,
    ) {
        for word in redirections.iter().filter_map(|redirection| text(script, redirection)) {
            if variables.single(word, index).secret {
                self.shows_secret();
            }
        }
    }
}

/// The text that the line contains for a redirection.
fn text<'s>(script: &'s ParsedShell, redirection: &'s Redirection) -> Option<&'s Word> {
    match redirection.kind {
        RedirectionKind::Text => Some(&redirection.target),
        RedirectionKind::Document(slot) => script.documents.get(slot),
        RedirectionKind::Read
        | RedirectionKind::Write
        | RedirectionKind::ReadWrite
        | RedirectionKind::Duplicate => None,
    }
}
