//! The words that braces make.

use crate::shell::Piece;

/// Most braces in one word; they nest, and each costs a stack frame.
const BRACE_GROUPS: usize = 16;

/// The words that the braces in `pieces` make; `None` when there are more than `limit`, or the braces
/// are anything but plain lists.
pub(super) fn braces(pieces: &[Piece], limit: usize) -> Option<Vec<Vec<Piece>>> {
    let groups = pieces.iter().filter(|piece| **piece == Piece::BraceOpen).count();
    let may_be_list = |piece: &Piece| match piece {
        Piece::BraceComma => true,
        Piece::Text(text) => text.contains(".."),
        _ => false,
    };
    // Without commas and ranges, braces are text: `HEAD@{1}`.
    if groups == 0 || !pieces.iter().any(may_be_list) {
        return Some(vec![pieces.to_vec()]);
    }
    if groups > BRACE_GROUPS {
        return None;
    }
    let words = lists(pieces, limit)?;
    let is_empty = |piece: &Piece| matches!(piece, Piece::Text(text) if text.is_empty());
    // The shell drops words without text.
    (!words.iter().any(|word| word.iter().all(is_empty))).then_some(words)
}

/// The words that lists in braces make, if every brace belongs to one.
fn lists(pieces: &[Piece], limit: usize) -> Option<Vec<Vec<Piece>>> {
    let is_brace = |piece: &Piece| matches!(piece, Piece::BraceOpen | Piece::BraceClose);
    let Some(open) = pieces.iter().position(is_brace) else { return Some(vec![pieces.to_vec()]) };
    let mut depth = 0;
    let mut ends = vec![open];
    for (at, piece) in pieces.iter().enumerate().skip(open) {
        match piece {
            Piece::BraceOpen => depth += 1,
            Piece::BraceClose => depth -= 1,
            Piece::BraceComma if depth == 1 => ends.push(at),
            _ => {}
        }
        if depth <= 0 {
            ends.push(at);
            break;
        }
    }
    let [_, _, .., close] = *ends else { return None };
    if depth != 0 {
        return None;
    }
    let mut words = Vec::new();
    for choice in ends.windows(2) {
        let choice = &pieces[choice[0] + 1..choice[1]];
        let word = [&pieces[..open], choice, &pieces[close + 1..]].concat();
        words.extend(lists(&word, limit)?);
        if words.len() > limit {
            return None;
        }
    }
    Some(words)
}
