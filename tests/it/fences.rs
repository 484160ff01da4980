//! The fenced blocks of a document, for tests that execute it.

/// A fenced block of a document.
#[derive(Debug)]
pub(crate) struct Fence {
    /// Words after the fence: the language, then what the runner does with it.
    pub(crate) words: Vec<String>,
    /// Line numbers, from 0, of the first line inside and of the closing fence.
    pub(crate) lines: std::ops::Range<usize>,
    /// What is inside.
    pub(crate) text: String,
}

/// The fences of a document. A fence inside a longer fence is text.
pub(crate) fn fences(document: &str) -> Vec<Fence> {
    let mut fences = Vec::new();
    let mut open: Option<(&str, Fence)> = None;
    for (number, line) in document.lines().enumerate() {
        let ticks = &line[..line.len() - line.trim_start_matches('`').len()];
        match &mut open {
            None if ticks.len() >= 3 => {
                let words = line[ticks.len()..].split_whitespace().map(str::to_owned).collect();
                let fence = Fence { words, lines: number + 1..number + 1, text: String::new() };
                open = Some((ticks, fence));
            }
            None => {}
            Some((opening, fence)) if ticks.len() >= opening.len() && line == ticks => {
                fence.lines.end = number;
                fences.extend(open.take().map(|(_, fence)| fence));
            }
            Some((_, fence)) => {
                fence.text.push_str(line);
                fence.text.push('\n');
            }
        }
    }
    assert!(open.is_none(), "a fence is not closed: {open:?}");
    fences
}
