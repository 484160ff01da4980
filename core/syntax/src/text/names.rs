//! Names of files as text, although a name may be any bytes.
//!
//! A request that names a file has to reach that file. So a byte that is not part of UTF-8 text becomes a
//! character of its own, which stands for this byte in both directions. `npm/src/node/git_files.ts` does
//! the same.

use std::borrow::Cow;

/// The characters for bytes, from 0x80 on. They are private use, and no font shows them.
const FIRST: u32 = 0x10_fe80;
const LAST: u32 = 0x10_feff;

/// The byte that `c` stands for in a name.
pub(super) fn byte_of(c: char) -> Option<u8> {
    let code = u32::from(c);
    (FIRST..=LAST).contains(&code).then_some((code & 0xff) as u8)
}

/// The name as text. Different names have different texts, and [`name_bytes`] takes them back.
pub fn name_text(name: &[u8]) -> String {
    let mut out = String::with_capacity(name.len());
    let stands_for = |byte: u8| char::from_u32(FIRST - 0x80 + u32::from(byte)).unwrap_or_default();
    for chunk in name.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                // Such a character in a name is text of its bytes, else two names were one text.
                Some(_) => {
                    out.extend(c.encode_utf8(&mut [0; 4]).bytes().map(stands_for));
                }
                None => out.push(c),
            }
        }
        out.extend(chunk.invalid().iter().copied().map(stands_for));
    }
    out
}

/// The bytes of a name whose text [`name_text`] made.
pub fn name_bytes(text: &str) -> Cow<'_, [u8]> {
    if !text.chars().any(|c| byte_of(c).is_some()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::{name_bytes, name_text};
    use crate::text::{one_line, printable, visible};

    #[test]
    fn every_name_comes_back_and_no_two_are_the_same_text() {
        let names: [&[u8]; 6] = [
            b"ci/a.yml",
            b"ci/\xffx.yml",
            b"\xc3\xa4\x80\xf4",
            "ä/\u{fffd}".as_bytes(),
            // What one of the bytes is shown as.
            "ci/\u{10feff}x.yml".as_bytes(),
            "\u{10fe80}\u{10fe7f}\u{10ff00}".as_bytes(),
        ];
        let mut texts: Vec<String> = names.iter().map(|name| name_text(name)).collect();
        for (name, text) in names.iter().zip(&texts) {
            assert_eq!(name_bytes(text), *name, "{text:?}");
        }
        assert_eq!(texts[0], "ci/a.yml");
        assert!(texts[1].starts_with("ci/") && texts[1].ends_with("x.yml"), "{:?}", texts[1]);
        texts.sort();
        texts.dedup();
        assert_eq!(texts.len(), names.len());
    }

    #[test]
    fn people_see_the_bytes_of_a_name() {
        let name = name_text(b"ci/\xffx.yml");
        assert_eq!(printable(&name), r"ci/\xffx.yml");
        assert_eq!(one_line(&name), r"ci/\xffx.yml");
        assert_eq!(visible(&name, &[]), r"ci/\xffx.yml");
    }
}
