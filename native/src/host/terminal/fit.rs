//! What fits into one line of a terminal, in columns: characters of some scripts and emoji take two.

use unicode_width::UnicodeWidthChar;

/// What a status line says.
pub(super) struct StatusParts<'a> {
    /// What runs.
    pub(super) label: &'a str,
    /// For how long.
    pub(super) elapsed: &'a str,
    /// What it does; what it has used comes last, behind ` · `.
    pub(super) activity: &'a str,
}

/// Between the parts of an activity.
const BETWEEN: &str = " · ";
/// Columns of a part of an activity that is kept when the rest is cut: `18k tokens`, `$0.42`.
const SHORT_COLUMNS: usize = 14;
/// How many of these there are.
const SHORT_PARTS: usize = 2;

/// The label, and what stands behind it and a blank, in at most `columns`. What is being done is cut
/// before how much it has used, and the label gives way to both.
pub(super) fn fit(parts: &StatusParts<'_>, columns: usize) -> (String, String) {
    let StatusParts { label, elapsed, activity } = parts;
    let beside = width(elapsed) + 1 + usize::from(!activity.is_empty());
    let room = columns.saturating_sub(beside);
    let wanted = width(activity);
    // An activity gets two thirds, or what the label leaves.
    let label = cut(label, room.saturating_sub(wanted).max(room / 3));
    let activity = cut_before_used(activity, room.saturating_sub(width(&label)));
    let rest = match activity.is_empty() {
        true => (*elapsed).to_owned(),
        false => format!("{elapsed} {activity}"),
    };
    let rest = cut(&rest, columns.saturating_sub(width(&label) + 1));
    (label, rest)
}

/// Cuts what is done before what it has used.
fn cut_before_used(activity: &str, columns: usize) -> String {
    let mut head = activity;
    for _ in 0..SHORT_PARTS {
        match head.rsplit_once(BETWEEN) {
            Some((before, part)) if width(part) <= SHORT_COLUMNS => head = before,
            Some(_) | None => break,
        }
    }
    let used = &activity[head.len()..];
    match columns.checked_sub(width(used)) {
        // A few columns show nothing useful.
        Some(room) if room >= 8 || room >= width(head) => format!("{}{used}", cut(head, room)),
        Some(_) | None => cut(activity, columns),
    }
}

/// As much of `text` as fits, with a sign where something was cut.
pub(crate) fn cut(text: &str, columns: usize) -> String {
    if width(text) <= columns {
        return text.to_owned();
    }
    let Some(room) = columns.checked_sub(1) else { return String::new() };
    let (mut kept, mut used) = (String::new(), 0);
    for c in text.chars() {
        used += width_of(c);
        if used > room {
            break;
        }
        kept.push(c);
    }
    format!("{}…", kept.trim_end())
}

/// Columns of `text` in a terminal that draws each character by itself. One that joins some of them
/// needs fewer.
fn width(text: &str) -> usize {
    text.chars().map(width_of).sum()
}

fn width_of(c: char) -> usize {
    match c {
        // Makes a picture of the character before, which then takes one column more.
        '\u{fe0f}' => 1,
        c => c.width().unwrap_or(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(label: &str, activity: &str, columns: usize) -> String {
        let (label, rest) = fit(&StatusParts { label, elapsed: "3m 12s", activity }, columns);
        format!("{label} {rest}")
    }

    #[test]
    fn a_status_line_says_most_of_what_matters_in_the_columns_there_are() {
        let long = "Bash: cargo test --workspace --all-features · 18k tokens · $0.42";
        let table = [
            ("Step 1: Make it", "", 77, "Step 1: Make it 3m 12s"),
            (
                "Step 1: Make it",
                "Bash: cargo test · 18k tokens · $0.42",
                77,
                "Step 1: Make it 3m 12s Bash: cargo test · 18k tokens · $0.42",
            ),
            (
                "Step 1: Make it",
                long,
                77,
                "Step 1: Make it 3m 12s Bash: cargo test --workspace --a… · 18k tokens · $0.42",
            ),
            (
                "Step 1: Make all the files that anybody could ever want",
                long,
                77,
                "Step 1: Make all the f… 3m 12s Bash: cargo test --works… · 18k tokens · $0.42",
            ),
            ("Step 1: Make it", long, 37, "Step 1:… 3m 12s Bash: cargo test --w…"),
            ("Step 1: 日本語の名前", "", 20, "Step 1: 日本… 3m 12s"),
            (
                "Step 1: a",
                "見る: 日本語のとても長いコマンド",
                37,
                "Step 1: a 3m 12s 見る: 日本語のとて…",
            ),
            ("Step 1: a", "Bash: 🚀🚀🚀🚀🚀🚀🚀🚀🚀", 30, "Step 1… 3m 12s Bash: 🚀🚀🚀🚀…"),
            ("Step 1: a", "x", 5, " 3m…"),
        ];
        for (label, activity, columns, expected) in table {
            assert_eq!(line(label, activity, columns), expected, "{columns}");
        }
    }

    #[test]
    fn no_line_is_ever_wider_than_it_may_be() {
        let texts = [
            "",
            "a",
            "Step 12: 日本語の名前 and more",
            "👩\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{301} e\u{301}",
            "Bash: ls · 1 tokens · $0.1",
            " ·  ·  · ",
            "Bash: a · b · c · 日本語日本語日本語 · ~$12.34",
        ];
        for label in texts {
            for activity in texts {
                for columns in 0..100 {
                    let line = line(label, activity, columns);
                    // The blank between the two is the template's.
                    assert!(width(&line) <= columns.max(1), "{columns}: {line:?}");
                }
            }
        }
    }
}
