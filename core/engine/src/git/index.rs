//! Whether git tracks a file, from the index alone: hooks run before every tool call, and starting
//! git would take longer than everything else.
//!
//! The form is described in git's `gitformat-index`. What is not understood here is not guessed
//! at; the caller takes the answer that gives less.

/// Bytes of an entry before the name of its object: times, device, mode, owner and size.
const STAT_BYTES: usize = 40;
/// Where the mode is in them.
const MODE_AT: usize = 24;
/// The part of a mode that git looks at.
const KIND: u32 = 0o170000;
/// The mode of a repository.
const LINK_MODE: u32 = 0o160000;
/// The mode of a folder whose files are not named.
const FOLDER_MODE: u32 = 0o040000;
/// What follows the entries where most of them are in another file.
const SPLIT_INDEX: &[u8] = b"link";
const EXTENDED: u16 = 0x4000;
const NAME_LENGTH: u16 = 0x0fff;

/// Whether `path`, relative to the top of the checkout, is in this index. `None`: the index cannot
/// be understood, or does not have everything.
///
/// Letters match in either case, as they do on file systems where the file would be found so.
pub(crate) fn is_tracked(index: &[u8], path: &str) -> Option<bool> {
    // The names of objects are SHA-1 or, in few repositories, SHA-256.
    [20, 32].into_iter().find_map(|hash_bytes| search(index, hash_bytes, path.as_bytes()))
}

/// The paths of the repositories that this index names, in a repository whose objects have names of so many
/// bytes. `None`: the index cannot be understood, does not have everything, or has a path that is not UTF-8.
pub(crate) fn links(index: &[u8], hash_bytes: usize) -> Option<Vec<String>> {
    let mut links = Vec::new();
    let is_whole = walk(index, hash_bytes, |name, mode| {
        if mode & KIND == LINK_MODE {
            links.push(String::from_utf8(name.to_vec()).ok());
        }
    })?;
    is_whole.then(|| links.into_iter().collect())?
}

fn search(index: &[u8], hash_bytes: usize, path: &[u8]) -> Option<bool> {
    let mut is_found = false;
    let is_whole = walk(index, hash_bytes, |name, _| is_found |= name.eq_ignore_ascii_case(path))?;
    (is_found || is_whole).then_some(is_found)
}

/// Whether git writes no such name. It opens what a name says, also outside of the checkout.
fn is_odd(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"/").unwrap_or(name);
    let mut parts = name.split(|byte| *byte == b'/');
    parts.any(|part| matches!(part, b"" | b"." | b"..") || part.eq_ignore_ascii_case(b".git"))
}

/// Whether blocks of entries, each with where it begins and how many it has, are the entries that begin in
/// `starts`. Several threads of git read one each.
fn are_blocks(content: &[u8], starts: &[Option<usize>]) -> Option<bool> {
    let mut rest = Rest(content);
    rest.take(4)?;
    let mut starts = starts.iter();
    while !rest.0.is_empty() {
        let (at, entries) = (rest.number()?, rest.number()?);
        let first = *starts.next()?;
        let is_there = first == usize::try_from(at).ok() && entries > 0;
        let others = usize::try_from(entries).ok()?.saturating_sub(1);
        if !is_there || starts.by_ref().take(others).count() < others {
            return Some(false);
        }
    }
    Some(starts.next().is_none())
}

/// Calls `each` with name and mode of every entry. Whether every file is named in this file; `None` where the
/// index cannot be understood, or git may read it in another way.
fn walk(index: &[u8], hash_bytes: usize, mut each: impl FnMut(&[u8], u32)) -> Option<bool> {
    let mut rest = Rest(index);
    if rest.take(4)? != b"DIRC" {
        return None;
    }
    let version = rest.number()?;
    let entries = rest.number()?;
    let mut name = Vec::new();
    let mut is_whole = true;
    // Where entries begin whose names are whole.
    let mut starts = Vec::new();
    for _ in 0..entries {
        let before = rest.0.len();
        let mode = Rest(rest.take(STAT_BYTES + hash_bytes)?.get(MODE_AT..)?).number()?;
        let flags = rest.short()?;
        if flags & EXTENDED != 0 {
            rest.take(2)?;
        }
        match version {
            2 | 3 => name.clear(),
            // What the name shares with the one before is left out.
            4 => name.truncate(name.len().checked_sub(rest.varint()?)?),
            _ => return None,
        }
        starts.push(name.is_empty().then_some(index.len() - before));
        let end = rest.0.iter().position(|&byte| byte == 0)?;
        name.extend(rest.take(end)?);
        rest.take(1)?;
        if version < 4 {
            // Each entry is as long as a multiple of eight.
            let padding = (before - rest.0.len()).next_multiple_of(8) - (before - rest.0.len());
            rest.take(padding)?;
        }
        // Another length than the flags say: objects have names of another kind.
        let length = usize::from(flags & NAME_LENGTH);
        // The greatest one says nothing, as git reads it.
        if ![name.len(), usize::from(NAME_LENGTH)].contains(&length) || is_odd(&name) {
            return None;
        }
        is_whole &= mode & KIND != FOLDER_MODE;
        each(&name, mode);
    }
    // Git may begin with what follows the entries, where the last part says that it begins.
    let last = index.len().checked_sub(12 + 2 * hash_bytes).map(|at| Rest(&index[at..]));
    if let Some(mut last) = last.filter(|last| last.0.starts_with(b"EOIE")) {
        last.take(8)?;
        if usize::try_from(last.number()?).ok() != Some(index.len() - rest.0.len()) {
            return None;
        }
    }
    while rest.0.len() > hash_bytes {
        let extension = rest.take(4)?;
        let length = usize::try_from(rest.number()?).ok()?;
        let content = rest.take(length)?;
        match extension {
            SPLIT_INDEX => is_whole = false,
            b"IEOT" if !are_blocks(content, &starts)? => return None,
            b"EOIE" | b"FSMN" | b"IEOT" | b"REUC" | b"TREE" | b"UNTR" | b"sdir" => {}
            _ => return None,
        }
    }
    (rest.0.len() == hash_bytes).then_some(is_whole)
}

/// What is not read yet.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, len: usize) -> Option<&'b [u8]> {
        let (taken, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// As in packs: seven bits a byte, each byte but the last one more than it says.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = self.take(1)?[0];
        let mut value = usize::from(byte & 0x7f);
        while byte & 0x80 != 0 {
            byte = self.take(1)?[0];
            value =
                value.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
        }
        Some(value)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// An index of this version with these names, which are in order.
    pub(crate) fn index(version: u32, hash_bytes: usize, names: &[&str], more: &[u8]) -> Vec<u8> {
        let mut out = b"DIRC".to_vec();
        out.extend(version.to_be_bytes());
        out.extend(u32::try_from(names.len()).unwrap().to_be_bytes());
        let mut last = "";
        for name in names {
            let begin = out.len();
            // Zeros in the middle, as in times and names of objects.
            out.extend(vec![7; STAT_BYTES + hash_bytes - 30]);
            out.extend(vec![0; 30]);
            let extended = if version == 3 { EXTENDED } else { 0 };
            out.extend(
                (u16::try_from(name.len()).unwrap().min(NAME_LENGTH) | extended).to_be_bytes(),
            );
            if version == 3 {
                out.extend([0, 0]);
            }
            if version == 4 {
                let shared = name.bytes().zip(last.bytes()).take_while(|(a, b)| a == b).count();
                let dropped = last.len() - shared;
                if dropped >= 128 {
                    out.push(0x80 | u8::try_from((dropped >> 7) - 1).unwrap());
                }
                out.push(u8::try_from(dropped & 0x7f).unwrap());
                out.extend(&name.as_bytes()[shared..]);
                out.push(0);
            } else {
                out.extend(name.as_bytes());
                out.push(0);
                while !(out.len() - begin).is_multiple_of(8) {
                    out.push(0);
                }
            }
            last = name;
        }
        out.extend(more);
        out.extend(vec![9; hash_bytes]);
        out
    }

    #[test]
    fn a_file_is_found_in_every_form_of_the_index() {
        let long = format!("a/{}", "x".repeat(300));
        let names = [".agentize.yaml", ".agentize.yml", "A/b", long.as_str(), "docs/.me", "z"];
        for version in [2, 3, 4] {
            for hash_bytes in [20, 32] {
                for more in [&b""[..], b"TREE\0\0\0\x02ab"] {
                    let index = index(version, hash_bytes, &names, more);
                    for name in names {
                        assert_eq!(is_tracked(&index, name), Some(true), "{version} {name}");
                    }
                    for name in [".agentize.yam", "me", ".me", "docs", "a"] {
                        assert_eq!(is_tracked(&index, name), Some(false), "{version} {name}");
                    }
                    assert_eq!(is_tracked(&index, "a/B"), Some(true), "{version}");
                }
            }
        }
    }

    #[test]
    fn repositories_inside_are_found_by_their_mode() {
        let mut bytes = index(2, 20, &["nest", "src"], b"");
        assert_eq!(links(&bytes, 20), Some(Vec::new()));
        // Behind the header.
        let mode = 12 + MODE_AT;
        let mut with_mode = |value: u32| {
            bytes[mode..mode + 4].copy_from_slice(&value.to_be_bytes());
            bytes.clone()
        };
        // The repositories in a folder that stands for its files are not named.
        let folder = with_mode(FOLDER_MODE);
        assert_eq!((links(&folder, 20), is_tracked(&folder, "nest/a")), (None, None));
        let bytes = with_mode(LINK_MODE);
        assert_eq!(links(&bytes, 20), Some(vec!["nest".to_owned()]));
        assert_eq!(links(&bytes[..40], 20), None);
        // Git looks at a part of the mode, and takes no length for any.
        let mut odd = with_mode(LINK_MODE | 0o755);
        odd[12 + STAT_BYTES + 20..][..2].copy_from_slice(&NAME_LENGTH.to_be_bytes());
        assert_eq!(links(&odd, 20), Some(vec!["nest".to_owned()]));
        assert_eq!(links(&index(2, 20, &["a"], b"link\0\0\0\x01x"), 20), None);
    }

    #[test]
    fn an_index_that_git_may_read_in_another_way_is_not_understood() {
        let end = |names: &[&str]| u32::try_from(index(2, 20, names, b"").len() - 20).unwrap();
        let extension = |name: &[u8], content: &[u8]| {
            let length = u32::try_from(content.len()).unwrap().to_be_bytes();
            [name, &length, content].concat()
        };
        // Where the entries end, for a program that begins with what follows.
        let eoie = |at: u32| extension(b"EOIE", &[&at.to_be_bytes()[..], &[1; 20]].concat());
        // Where blocks of entries begin, and how many each has.
        let ieot = |blocks: &[[u32; 2]]| {
            let numbers = std::iter::once(1).chain(blocks.iter().flatten().copied());
            extension(b"IEOT", &numbers.flat_map(u32::to_be_bytes).collect::<Vec<_>>())
        };
        let names = ["a", "b"];
        let (first, second) = (12, end(&["a"]));
        let known = |more: &[u8]| is_tracked(&index(2, 20, &names, more), "b");
        let at = end(&names);
        let blocks = ieot(&[[first, 1], [second, 1]]);
        for more in [&blocks, &ieot(&[[first, 2]]), &extension(b"UNTR", b"x")] {
            assert_eq!(known(&[more, &eoie(at)[..]].concat()), Some(true));
        }
        for more in [
            eoie(at + 8),
            extension(b"TREE", &eoie(at + 8)),
            extension(b"ZZZZ", &extension(b"link", b"x")),
            ieot(&[[first, 1], [first, 1]]),
            ieot(&[[first, 1]]),
            ieot(&[[second, 1], [first, 1]]),
        ] {
            assert_eq!(known(&more), None, "{more:?}");
        }
        for name in
            ["../a", "a/../../b", "/etc/passwd", "a//b", ".git/config", "a/.GIT/x", "./a", ""]
        {
            assert_eq!(links(&index(2, 20, &[name], b""), 20), None, "{name}");
        }
        for name in ["...", "a/.gitignore", "a..b/c"] {
            assert_eq!(links(&index(2, 20, &[name], b""), 20), Some(Vec::new()), "{name}");
        }
        // The name of the second entry has a part of the first one.
        let shared = index(4, 20, &["aa", "ab"], b"");
        let long = shared.len() - 20 - 12;
        let second = u32::try_from(12 + long / 2 + 1).unwrap();
        let index = index(4, 20, &["aa", "ab"], &ieot(&[[12, 1], [second, 1]]));
        assert_eq!(is_tracked(&index, "ab"), None);
    }

    #[test]
    fn what_is_not_understood_is_not_guessed_at() {
        let whole = index(2, 20, &["a", "b"], b"");
        for len in 0..whole.len() {
            assert_eq!(is_tracked(&whole[..len], "a"), None, "{len}");
        }
        assert_eq!(is_tracked(&index(5, 20, &["a"], b""), "a"), None);
        // The rest of a split index is in another file.
        let split = index(2, 20, &["a"], b"link\0\0\0\x01x");
        assert_eq!((is_tracked(&split, "a"), is_tracked(&split, "b")), (Some(true), None));
        assert_eq!(is_tracked(&index(2, 20, &[], b""), "a"), Some(false));
    }
}
