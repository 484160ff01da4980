//! The words that braces make.

use super::EXPANSIONS;
use crate::shell::Piece;

/// Most braces in one word; they nest, and each costs a stack frame.
const BRACE_GROUPS: usize = 16;

/// The words that the braces in `pieces` make; `None` when there are more than `limit`.
pub(super) fn braces(pieces: &[Piece], limit: usize) -> Option<Vec<Vec<Piece>>> {
    let groups = pieces.iter().filter(|piece| **piece == Piece::BraceOpen).count();
    if groups > BRACE_GROUPS {
        return None;
    }
    let Some((open, close)) = first_group(pieces) else {
        return Some(vec![pieces.to_vec()]);
    };
    let (head, inner, tail) = (&pieces[..open], &pieces[open + 1..close], &pieces[close + 1..]);
    let mut words = Vec::new();
    for choice in choices(inner)? {
        let mut word = head.to_vec();
        word.extend(choice);
        word.extend_from_slice(tail);
        words.extend(braces(&word, limit)?);
        if words.len() > limit {
            return None;
        }
    }
    Some(words)
}

/// The first brace group that expands: it has a comma or a range.
fn first_group(pieces: &[Piece]) -> Option<(usize, usize)> {
    for (open, _) in pieces.iter().enumerate().filter(|(_, p)| **p == Piece::BraceOpen) {
        let mut depth = 0;
        let mut expands = false;
        for (at, piece) in pieces.iter().enumerate().skip(open + 1) {
            match piece {
                Piece::BraceOpen => depth += 1,
                Piece::BraceClose if depth > 0 => depth -= 1,
                Piece::BraceClose if expands => return Some((open, at)),
                Piece::BraceClose => break,
                Piece::BraceComma if depth == 0 => expands = true,
                Piece::Text(text) if depth == 0 => expands |= text.contains(".."),
                _ => {}
            }
        }
    }
    None
}

fn choices(inner: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let mut choices = vec![Vec::new()];
    let mut depth = 0;
    for piece in inner {
        match piece {
            Piece::BraceComma if depth == 0 => {
                choices.push(Vec::new());
                continue;
            }
            Piece::BraceOpen => depth += 1,
            Piece::BraceClose => depth -= 1,
            _ => {}
        }
        choices.last_mut()?.push(piece.clone());
    }
    match (choices.len(), inner) {
        (1, [Piece::Text(range)]) => Some(number_range(range)?),
        (1, _) => None,
        _ => Some(choices),
    }
}

fn number_range(range: &str) -> Option<Vec<Vec<Piece>>> {
    let (from, to) = range.split_once("..")?;
    let (from, to) = (from.parse::<i32>().ok()?, to.parse::<i32>().ok()?);
    if from.abs_diff(to) as usize >= EXPANSIONS {
        return None;
    }
    let number = |n: i32| vec![Piece::Text(n.to_string())];
    Some((from.min(to)..=from.max(to)).map(number).collect())
}
