//! The picture of core's rooms in `docs/architecture.md`, drawn from what the code imports.

use std::collections::{BTreeMap, BTreeSet};

use super::direction::{ROWS, room};
use super::modules::Modules;

/// The document that holds the picture.
pub(crate) const DOCUMENT: &str = "docs/architecture.md";

const BEGIN: &str = "```text rooms\n";
const END: &str = "```\n";

/// Width of the lines: they are read in terminals, too.
const COLUMNS: usize = 96;

/// The document with the picture as it should be.
pub(crate) fn with_drawing(document: &str, modules: &Modules) -> Result<String, String> {
    let no_place = || format!("{DOCUMENT}: there is no block that begins with `{}`", BEGIN.trim());
    let begin = document.find(BEGIN).ok_or_else(no_place)? + BEGIN.len();
    let length = document[begin..].find(END).ok_or_else(no_place)?;
    Ok(format!("{}{}{}", &document[..begin], drawing(modules), &document[begin + length..]))
}

/// One line for each room, row by row: what it takes from others, nearest first.
fn drawing(modules: &Modules) -> String {
    let mut taken: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for import in modules.imports() {
        let (from, to) = (room(&import.from), room(&import.to));
        if from != to && !from.is_empty() && !to.is_empty() {
            taken.entry(from.to_owned()).or_default().insert(to.to_owned());
        }
    }
    let rooms = modules.rooms();
    let width = rooms.iter().map(|room| room.len()).max().unwrap_or(0);
    let rows = ROWS.iter().map(|row| {
        let mut lines = String::new();
        for name in row.iter().filter(|name| rooms.contains(**name)) {
            let near = ROWS.iter().rev().flat_map(|row| row.iter());
            let words: Vec<&str> = near
                .filter(|other| taken.get(*name).is_some_and(|taken| taken.contains(**other)))
                .copied()
                .collect();
            lines.push_str(&lines_of(name, &words, width));
        }
        lines
    });
    let rule = format!("{}\n", "─".repeat(COLUMNS - 20));
    rows.filter(|row| !row.is_empty()).collect::<Vec<_>>().join(&rule)
}

fn lines_of(name: &str, words: &[&str], width: usize) -> String {
    let mut lines = vec![format!("{name:width$}  ")];
    for word in words {
        let line = lines.last_mut().expect("there is always a line");
        if line.chars().count() + 1 + word.len() > COLUMNS - 20 {
            lines.push(" ".repeat(width + 2));
        }
        let line = lines.last_mut().expect("there is always a line");
        if !line.ends_with(' ') {
            line.push(' ');
        }
        line.push_str(word);
    }
    lines.iter().map(|line| format!("{}\n", line.trim_end())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sources::SourceFile;

    #[test]
    fn the_picture_stands_in_for_the_one_that_was_there() {
        let file = |path: &str, text: &str| SourceFile {
            path: format!("core/src/{path}.rs"),
            text: text.to_owned(),
        };
        let files = [
            file("lib", "pub mod run;"),
            file("text", ""),
            file("workflow", "use crate::text::Line;"),
            file("run", "mod next;"),
            file("run/next", "use crate::workflow::Plan;\nuse crate::text::Line;"),
        ];
        let modules = Modules::read(&files).unwrap();
        let document = "before\n```text rooms\nold\n```\nafter\n";
        let rule = "─".repeat(76);
        assert_eq!(
            with_drawing(document, &modules).unwrap(),
            format!(
                "before\n```text rooms\ntext\n{rule}\nrun       workflow text\nworkflow  text\n```\nafter\n"
            )
        );
        assert_eq!(
            with_drawing("nothing", &modules).unwrap_err(),
            "docs/architecture.md: there is no block that begins with ````text rooms`"
        );
    }
}
