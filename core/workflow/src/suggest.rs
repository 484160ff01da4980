//! Suggestions for misspelled words: the closest known word.

/// Longest word that is compared; longer words are not misspellings.
const COMPARED_BYTES: usize = 40;

/// The known word nearest to `word`, if it is near enough.
pub fn nearest<'k>(word: &str, known: &[&'k str]) -> Option<&'k str> {
    let plain = |word: &str| {
        let kept = word.chars().filter(|c| !matches!(c, '_' | '-' | '\\' | ' '));
        kept.map(|c| c.to_ascii_lowercase()).collect::<String>()
    };
    if word.len() > COMPARED_BYTES {
        return None;
    }
    let word = plain(word);
    let begins = |candidate: &&&str| word.len() > 3 && plain(candidate).starts_with(&word);
    let mut begun = known.iter().filter(begins);
    if let (Some(only), None) = (begun.next(), begun.next()) {
        return Some(*only);
    }
    let (distance, nearest) = known
        .iter()
        .map(|candidate| (distance(&word, &plain(candidate)), *candidate))
        .min_by_key(|(distance, _)| *distance)?;
    // One letter makes a short word a different word: `date` does not mean `gate`.
    let near = match nearest.len() {
        0..=4 => distance <= 1 && nearest.starts_with(word.get(..1)?),
        _ => distance <= 2,
    };
    near.then_some(nearest)
}

/// The number of insertions, deletions, replacements and swaps of neighbors between `a` and `b`.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before = vec![0; b.len() + 1];
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i; b.len() + 1];
        for j in 1..=b.len() {
            let replaced = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            row[j] = replaced.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                row[j] = row[j].min(before[j - 2] + 1);
            }
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn near_words_are_suggested_and_far_ones_are_not() {
        let known = ["intent", "success_criteria", "risk_level", "gate", "loop"];
        let table = [
            ("intnet", Some("intent")),
            ("success-criteria", Some("success_criteria")),
            ("max", None),
            ("risk\\_level", Some("risk_level")),
            ("gat", Some("gate")),
            ("date", None),
            ("success", Some("success_criteria")),
            ("title", None),
            ("", None),
        ];
        for (word, expected) in table {
            assert_eq!(nearest(word, &known), expected, "{word}");
        }
    }
}
