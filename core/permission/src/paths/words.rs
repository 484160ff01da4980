//! Paths in words of which no table says what they are.

use super::secret;

/// What a word may name as a path: itself, and what stands behind `=`, `:`, `@`, `,` and the letter of an
/// option. In a text these are punctuation, and only the first `=` and the last `:` count.
pub(crate) fn paths_in(word: &str) -> impl Iterator<Item = &str> {
    const MARKS: [char; 4] = ['=', ':', '@', ','];
    let value = word.split_once('=').map(|(_, value)| value);
    let behind_colon = word.rsplit_once(':').map(|(_, path)| path);
    let single = if word.contains(char::is_whitespace) { "" } else { word };
    let behind = single.match_indices(MARKS).map(|(at, _)| &single[at + 1..]);
    let letter = single.strip_prefix('-').filter(|letters| !letters.starts_with('-'));
    let behind_letter =
        letter.and_then(|letters| Some(&letters[letters.chars().next()?.len_utf8()..]));
    let all = [Some(word), value, behind_colon, behind_letter].into_iter().flatten();
    all.chain(behind).chain(single.split(MARKS)).filter(|path| !path.is_empty())
}

/// The parts of a word that may be paths, whatever the word is for.
pub(crate) fn parts(word: &str) -> impl Iterator<Item = &str> {
    let parts = word.split(|c: char| c.is_whitespace() || "\"'`=:,;|()<>&{}@".contains(c));
    parts.filter(|part| !part.is_empty())
}

/// Whether a word, whatever it is for, mentions a file that is secret by its name.
pub(crate) fn mentions_secret(text: &str) -> bool {
    parts(&text.to_lowercase()).any(secret::is_mentioned)
}
