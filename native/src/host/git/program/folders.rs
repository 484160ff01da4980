//! Which folders of a checkout may hold files that nobody knows yet, by what was remembered of each.
//!
//! A file that is new changes both times of its folder. Git's untracked cache builds on that, and this
//! follows its rule, taken strictly: a folder holds what it held when it is the same folder with the same
//! times, they were not young when they were looked at, and nothing that says what to ignore has changed
//! since. Git is asked about every other folder, and about all of them where anything is unusual. What is
//! remembered counts only for the very index that the files were taken into.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::str;
use std::time::SystemTime;

use git2::Index;
use onloop_core::documents::ledger::sha256;
use onloop_core::effect::Failure;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::GitProgram;
use super::changes::{Changes, OURS};
use super::command::{Aside, lines_until_nul, until_nul};
use super::tree::{beside, identity};

/// With more folders than this git is always asked about all of them.
const FOLDERS: usize = 20_000;
/// Git is asked about this many folders one by one; more of them are all of them.
const ASKED: usize = 50;
/// Times are those of the last tick of the kernel's clock, which comes every 10 ms at the least.
const TICK_NS: i128 = 50_000_000;
/// Where a file system keeps whole seconds only.
const SECOND_NS: i128 = 2_000_000_000;

const IGNORE: &[u8] = b".gitignore";
/// What no other version of this reads.
const VERSION: &str = "folders/1";

/// File systems of Linux on which a new file changes the times of its folder, as their numbers in
/// `statfs(2)`: ext2 to ext4, xfs, btrfs, tmpfs, f2fs, overlayfs.
const KNOWN: [u64; 6] = [0xef53, 0x5846_5342, 0x9123_683e, 0x0102_1994, 0xf2f5_2010, 0x794c_7630];

/// What a folder or a file was when it was looked at; `None`: too young to be sure of.
type Mark = Option<String>;

enum Found {
    /// Nothing, or something of another kind.
    Nothing,
    Marked(Mark),
}

/// What is remembered.
#[derive(Clone, Debug, Default)]
struct Folders {
    /// What says which files to ignore, apart from `.gitignore`.
    rules: String,
    folders: BTreeMap<Vec<u8>, Mark>,
    /// Each `.gitignore`, by its folder.
    ignores: BTreeMap<Vec<u8>, Mark>,
    /// Folders that are ignored with everything in them.
    ignored: BTreeSet<Vec<u8>>,
}

/// What git has to be asked.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Ask {
    Nothing,
    /// About these folders and everything below them.
    Below(Vec<String>),
    Everything,
}

/// A look at the folders, from before git is asked.
#[derive(Debug)]
pub(super) struct Look {
    now: Folders,
    ask: Ask,
    /// Folders without a file in the index, of which it is not known whether they are ignored.
    unknown: BTreeSet<Vec<u8>>,
}

/// What the folders were that are remembered beside an index, and which of them are not as they were.
pub(super) struct Before {
    root: OwnedFd,
    device: u64,
    at_ns: i128,
    remembered: Option<(Folders, BTreeSet<Vec<u8>>)>,
}

/// Looks at every folder that is remembered beside `index`; `None`: nothing can be remembered of this
/// checkout.
pub(super) fn before(root: &Path, index: &Path) -> Option<Before> {
    let at_ns = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()?.as_nanos();
    let root = opened(rustix::fs::CWD, root.as_os_str().as_encoded_bytes()).ok()?;
    let kind = u64::try_from(rustix::fs::fstatfs(&root).ok()?.f_type).ok()?;
    if !KNOWN.contains(&kind) {
        return None;
    }
    let device = rustix::fs::fstat(&root).ok()?.st_dev;
    let mut before = Before { root, device, at_ns: i128::try_from(at_ns).ok()?, remembered: None };
    before.remembered = Folders::read(index).and_then(|mut folders| {
        let changed = before.changed(&mut folders)?;
        Some((folders, changed))
    });
    Some(before)
}

impl Before {
    /// Folders that are not as they were. Those that are gone are forgotten. `None`: one cannot be looked
    /// at, and nobody knows what will have changed once it can.
    fn changed(&self, folders: &mut Folders) -> Option<BTreeSet<Vec<u8>>> {
        let mut changed = BTreeSet::new();
        let mut gone = Vec::new();
        for (path, mark) in &folders.folders {
            match self.found(path, FileType::Directory).ok()? {
                Found::Nothing => gone.push(path.clone()),
                Found::Marked(now) if mark.is_some() && now == *mark => {}
                Found::Marked(_) => drop(changed.insert(path.clone())),
            }
        }
        for (path, mark) in &folders.ignores {
            match self.found(&joined(path, IGNORE), FileType::RegularFile).ok()? {
                Found::Marked(now) if mark.is_some() && now == *mark => {}
                Found::Marked(_) | Found::Nothing => drop(changed.insert(path.clone())),
            }
        }
        for path in gone {
            folders.folders.remove(&path);
            folders.ignores.remove(&path);
            changed.remove(&path);
        }
        Some(changed)
    }

    /// What lies at `path` in the checkout, if it is of that kind.
    fn found(&self, path: &[u8], kind: FileType) -> rustix::io::Result<Found> {
        let path = if path.is_empty() { b"." } else { path };
        match rustix::fs::statat(&self.root, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) if FileType::from_raw_mode(found.st_mode) == kind => {
                Ok(Found::Marked(self.mark(&found)))
            }
            Ok(_) | Err(Errno::NOENT | Errno::NOTDIR) => Ok(Found::Nothing),
            Err(errno) => Err(errno),
        }
    }

    fn mark(&self, found: &Stat) -> Mark {
        let (changed, changed_ns) = (i128::from(found.st_ctime), i128::from(found.st_ctime_nsec));
        let tick = if changed_ns == 0 { SECOND_NS } else { TICK_NS };
        let is_old = changed * 1_000_000_000 + changed_ns + tick < self.at_ns;
        // Another file system in the checkout may be of any kind.
        (is_old && found.st_dev == self.device).then(|| {
            format!(
                "{:x}-{:x}-{:x}.{:x}-{:x}.{:x}",
                found.st_ino,
                found.st_size,
                found.st_mtime,
                found.st_mtime_nsec,
                found.st_ctime,
                found.st_ctime_nsec
            )
        })
    }

    /// Looks into the folders that have changed; `index` is the one of the checkpoint before. `rules` say
    /// what to ignore, apart from `.gitignore`. `None`: there are too many, or one cannot be read.
    pub(super) fn look(self, index: &Index, rules: String) -> Option<Look> {
        let (now, changed) = match &self.remembered {
            Some((folders, changed)) if folders.rules == rules => {
                (folders.clone(), changed.iter().cloned().collect::<Vec<_>>())
            }
            Some(_) | None => (Folders::default(), vec![Vec::new()]),
        };
        let ask = match &changed[..] {
            [] => Ask::Nothing,
            some if some.len() <= ASKED && !some.contains(&Vec::new()) => {
                let text = |path: &Vec<u8>| str::from_utf8(path).map(str::to_owned);
                some.iter().map(text).collect::<Result<_, _>>().map_or(Ask::Everything, Ask::Below)
            }
            _ => Ask::Everything,
        };
        let mut look = Look { now: Folders { rules, ..now }, ask, unknown: BTreeSet::new() };
        for path in changed {
            look.forget_what_is_ignored_below(&path);
            look.visit(&self, index, path)?;
        }
        Some(look)
    }
}

impl Look {
    pub(super) fn ask(&self) -> &Ask {
        &self.ask
    }

    /// A `.gitignore` may say otherwise now; a folder that is still ignored is asked about once more.
    fn forget_what_is_ignored_below(&mut self, path: &[u8]) {
        let below: Vec<_> =
            self.now.ignored.iter().filter(|folder| is_below(folder, path)).cloned().collect();
        for folder in below {
            self.now.ignored.remove(&folder);
            self.unknown.insert(folder);
        }
    }

    /// Looks at a folder, and into those in it that are new and have files in the index.
    fn visit(&mut self, before: &Before, index: &Index, path: Vec<u8>) -> Option<()> {
        let mut folders = vec![path];
        while let Some(path) = folders.pop() {
            // Before it is read: what comes in between makes it another one.
            let Found::Marked(mark) = before.found(&path, FileType::Directory).ok()? else {
                return None;
            };
            self.now.folders.insert(path.clone(), mark);
            self.now.ignores.remove(&path);
            if self.now.folders.len() > FOLDERS {
                return None;
            }
            for (name, kind) in before.names(&path)? {
                let inside = joined(&path, &name);
                if name == IGNORE {
                    let mark = match before.found(&inside, FileType::RegularFile).ok()? {
                        Found::Marked(mark) => mark,
                        Found::Nothing => None,
                    };
                    self.now.ignores.insert(path.clone(), mark);
                }
                let is_known =
                    self.now.folders.contains_key(&inside) || self.now.ignored.contains(&inside);
                if kind != FileType::Directory || is_known {
                } else if has_files(index, &inside) {
                    self.unknown.remove(&inside);
                    folders.push(inside);
                } else {
                    self.unknown.insert(inside);
                }
            }
        }
        Some(())
    }
}

impl Before {
    /// What is in a folder, without what git does not look into; `None`: it cannot be read.
    fn names(&self, path: &[u8]) -> Option<Vec<(Vec<u8>, FileType)>> {
        let folder = opened(&self.root, if path.is_empty() { b"." } else { path }).ok()?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&folder).ok()? {
            let entry = entry.ok()?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b".." | b".git") || (path.is_empty() && name == OURS) {
                continue;
            }
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let found = rustix::fs::statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW);
                    FileType::from_raw_mode(found.ok()?.st_mode)
                }
                known => known,
            };
            names.push((name.to_vec(), kind));
        }
        Some(names)
    }
}

impl GitProgram {
    /// What git says of files that it does not know, as far as it has to be asked.
    pub(super) fn others(&self, root: &Path, index: &Path, ask: &Ask) -> Result<Changes, Failure> {
        let mut args = vec!["ls-files", "--others", "--exclude-standard", "-z"];
        match ask {
            Ask::Nothing => return Ok(Changes::default()),
            Ask::Below(folders) => {
                args.push("--");
                args.extend(folders.iter().map(String::as_str));
            }
            Ask::Everything => {}
        }
        let aside = Aside { index: Some(index), ..Aside::default() };
        Changes::untracked(self.answer_aside(root, &args, &[], aside)?)
    }

    /// Remembers `look` beside `index`, into which everything has been taken that git named. Without it
    /// git is asked about everything the next time.
    pub(super) fn remember(
        &self,
        root: &Path,
        index: &Path,
        look: Look,
        taken: &Changes,
    ) -> Result<(), Failure> {
        let Look { mut now, unknown, .. } = look;
        let holds_some = |folder: &Vec<u8>| {
            let prefix = joined(folder, b"");
            let mut after = taken.present.range(prefix.clone()..);
            after.next().is_some_and(|path| path.starts_with(&prefix))
        };
        let (new, unknown): (Vec<_>, Vec<_>) = unknown.into_iter().partition(holds_some);
        let ignored = self.ignored(root, index, &unknown)?;
        // Nobody has looked at these before git did.
        let looked_at_late = unknown.into_iter().filter(|folder| !ignored.contains(folder));
        now.folders.extend(new.into_iter().chain(looked_at_late).map(|folder| (folder, None)));
        now.ignored.extend(ignored);
        now.write(index);
        Ok(())
    }

    /// Those of `folders` that are ignored with everything in them.
    fn ignored(
        &self,
        root: &Path,
        index: &Path,
        folders: &[Vec<u8>],
    ) -> Result<BTreeSet<Vec<u8>>, Failure> {
        if folders.is_empty() {
            return Ok(BTreeSet::new());
        }
        // With this in front no name is a pattern.
        const HERE: &[u8] = b"./";
        let named: Vec<Vec<u8>> = folders.iter().map(|folder| [HERE, folder].concat()).collect();
        let list = until_nul(named.iter().map(Vec::as_slice));
        let aside = Aside { index: Some(index), takes_patterns: true, ..Aside::default() };
        let said = self.answer_aside(root, &["check-ignore", "-z", "--stdin"], &list, aside)?;
        let said = said.yes_or_no()?.unwrap_or_default();
        Ok(lines_until_nul(&said)
            .filter_map(|path| Some(path.strip_prefix(HERE)?.to_vec()))
            .collect())
    }
}

impl Folders {
    /// Each record ends with NUL, the last one is the digest of all before it.
    fn write(&self, index: &Path) {
        let Some(identity) = identity(index) else { return };
        let mut out = format!("{VERSION} {identity} {}\0", self.rules).into_bytes();
        let marked = |out: &mut Vec<u8>, letter: char, marks: &BTreeMap<Vec<u8>, Mark>| {
            for (path, mark) in marks {
                let mark = mark.as_deref().unwrap_or_default();
                out.extend_from_slice(format!("{letter}{mark} ").as_bytes());
                out.extend_from_slice(path);
                out.push(0);
            }
        };
        marked(&mut out, 'f', &self.folders);
        marked(&mut out, 'i', &self.ignores);
        for path in &self.ignored {
            out.extend_from_slice(b"x ");
            out.extend_from_slice(path);
            out.push(0);
        }
        out.extend_from_slice(sha256(&out).as_bytes());
        let mut options = fs::File::options();
        let file = options.write(true).create(true).truncate(true).mode(0o600);
        // What is not written whole is not read.
        let _ = file.open(beside(index, ".folders")).and_then(|mut file| file.write_all(&out));
    }

    fn read(index: &Path) -> Option<Folders> {
        let bytes = fs::read(beside(index, ".folders")).ok()?;
        let end = bytes.iter().rposition(|&byte| byte == 0)? + 1;
        let (records, digest) = bytes.split_at(end);
        if sha256(records).as_bytes() != digest {
            return None;
        }
        let mut records = lines_until_nul(records);
        let head = str::from_utf8(records.next()?).ok()?;
        let (written, rules) = head.strip_prefix(VERSION)?.strip_prefix(' ')?.split_once(' ')?;
        if written != identity(index)? {
            return None;
        }
        let mut folders = Folders { rules: rules.to_owned(), ..Folders::default() };
        for record in records {
            let at = record.iter().position(|&byte| byte == b' ')?;
            let (mark, path) = (record.get(1..at)?, record[at + 1..].to_vec());
            let mark = str::from_utf8(mark).ok()?;
            let mark = (!mark.is_empty()).then(|| mark.to_owned());
            match record[0] {
                b'f' => drop(folders.folders.insert(path, mark)),
                b'i' => drop(folders.ignores.insert(path, mark)),
                b'x' => drop(folders.ignored.insert(path)),
                _ => return None,
            }
        }
        Some(folders)
    }
}

fn opened(at: impl AsFd, folder: &[u8]) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    rustix::fs::openat(at, folder, flags, Mode::empty())
}

fn joined(folder: &[u8], name: &[u8]) -> Vec<u8> {
    match folder {
        [] => name.to_vec(),
        _ => [folder, b"/", name].concat(),
    }
}

fn is_below(path: &[u8], folder: &[u8]) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with(b"/"))
}

fn has_files(index: &Index, folder: &[u8]) -> bool {
    index.find_prefix(joined(folder, b"")).is_ok()
}

#[cfg(test)]
mod tests;
