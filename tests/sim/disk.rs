//! A file system in memory, with the habits of a real one: symbolic links, folders in the
//! way, read-only corners, a capacity, and content that a power cut takes back.

mod file;

use std::collections::{BTreeMap, BTreeSet};

use onloop_core::effect::{Durability, Expect, Failure, FailureKind, FileKind, Stat, Version};
use onloop_core::time::Timestamp;

use file::File;

/// Longest name of one file, as on every common file system.
const NAME_BYTES: usize = 255;
/// Longest path.
const PATH_BYTES: usize = 4095;
/// Most symbolic links followed for one path.
const LINKS_FOLLOWED: usize = 40;

/// What is at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Node {
    Folder,
    Link(String),
    Other,
    File(File),
}

/// All files of a simulated machine. Paths are absolute, or relative to `cwd`.
#[derive(Clone, Debug)]
pub struct Disk {
    cwd: String,
    nodes: BTreeMap<String, Node>,
    read_only: BTreeSet<String>,
    /// Files and folders for their owner alone.
    private: BTreeSet<String>,
    capacity_bytes: u64,
    next_version: u64,
    /// Time of the request being performed.
    pub now: Timestamp,
}

type Done<T> = Result<T, Failure>;

fn fail<T>(kind: FailureKind, path: &str, what: &str) -> Done<T> {
    Err(Failure::new(kind, format!("cannot use `{path}`: {what}")))
}

impl Disk {
    /// A disk with nothing but the folder `cwd`.
    pub fn new(cwd: &str) -> Disk {
        let mut disk = Disk {
            cwd: cwd.to_owned(),
            nodes: BTreeMap::from([("/".to_owned(), Node::Folder)]),
            read_only: BTreeSet::new(),
            private: BTreeSet::new(),
            capacity_bytes: u64::MAX,
            next_version: 1,
            now: Timestamp::EPOCH,
        };
        disk.make_folders(cwd, false).expect("a fresh disk takes folders");
        disk
    }

    /// Puts a durable file there, as if it had always been; for setting up and for scripted
    /// programs that write files.
    ///
    /// # Panics
    ///
    /// When the path cannot be.
    pub fn put(&mut self, path: &str, bytes: impl AsRef<[u8]>) {
        self.write(path, bytes.as_ref(), &Expect::Any, Durability::Durable, false)
            .unwrap_or_else(|failure| panic!("cannot set up `{path}`: {failure}"));
    }

    /// Puts a file that may be run there.
    ///
    /// # Panics
    ///
    /// When the path cannot be.
    pub fn put_executable(&mut self, path: &str, bytes: impl AsRef<[u8]>) {
        self.put(path, bytes);
        let at = self.resolve(path, Follow::All).expect("just written");
        if let Some(Node::File(file)) = self.nodes.get_mut(&at) {
            file.executable = true;
        }
    }

    /// Puts a symbolic link there.
    ///
    /// # Panics
    ///
    /// When the path cannot be.
    pub fn put_link(&mut self, path: &str, target: &str) {
        let at = self.place(path, false).expect("a link needs a possible path");
        self.nodes.insert(at, Node::Link(target.to_owned()));
    }

    /// Puts something there that is neither file nor folder.
    ///
    /// # Panics
    ///
    /// When the path cannot be.
    pub fn put_device(&mut self, path: &str) {
        let at = self.place(path, false).expect("a device needs a possible path");
        self.nodes.insert(at, Node::Other);
    }

    /// Makes a folder and what is missing above it.
    ///
    /// # Panics
    ///
    /// When something else is in the way.
    pub fn put_folder(&mut self, path: &str) {
        let path = self.absolute(path);
        self.make_folders(&path, false).expect("nothing is in the way");
    }

    /// The content of a file, if there is one.
    pub fn get(&self, path: &str) -> Option<&[u8]> {
        let at = self.resolve(path, Follow::All).ok()?;
        match self.nodes.get(&at)? {
            Node::File(file) => Some(file.bytes()),
            Node::Folder | Node::Link(_) | Node::Other => None,
        }
    }

    /// The content of a file as text.
    ///
    /// # Panics
    ///
    /// When there is no such file or it is not UTF-8.
    pub fn text(&self, path: &str) -> &str {
        let bytes = self.get(path).unwrap_or_else(|| panic!("there is no file `{path}`"));
        std::str::from_utf8(bytes).unwrap_or_else(|_| panic!("`{path}` is not UTF-8"))
    }

    /// Whether what is at a path is for its owner alone.
    pub fn is_private(&self, path: &str) -> bool {
        self.resolve(path, Follow::Folders).is_ok_and(|at| self.private.contains(&at))
    }

    /// What is in a folder, so that every change of it makes another text; `None`: it is not there.
    pub(crate) fn entries(&self, folder: &str) -> Option<String> {
        let at = self
            .resolve(folder, Follow::All)
            .ok()
            .filter(|at| matches!(self.nodes.get(at), Some(Node::Folder)))?;
        let inside = format!("{}/", at.trim_end_matches('/'));
        let below = self.nodes.iter().filter_map(|(path, node)| {
            let name = path.strip_prefix(&inside).filter(|name| !name.contains('/'))?;
            Some(match node {
                Node::File(file) => format!("{name} {:?} {:?}\n", file.bytes(), file.version()),
                Node::Folder | Node::Link(_) | Node::Other => format!("{name}\n"),
            })
        });
        Some(below.collect())
    }

    /// Every file and link below `folder`, as absolute paths.
    pub fn files(&self, folder: &str) -> Vec<String> {
        let inside = format!("{}/", self.absolute(folder).trim_end_matches('/'));
        let is_file = |node: &Node| !matches!(node, Node::Folder);
        let below =
            self.nodes.iter().filter(|(path, node)| path.starts_with(&inside) && is_file(node));
        below.map(|(path, _)| path.clone()).collect()
    }

    /// From now on nothing at or below `folder` can be changed.
    pub fn make_read_only(&mut self, folder: &str) {
        self.read_only.insert(self.absolute(folder));
    }

    /// From now on there is room for `bytes` more.
    pub fn leave_room(&mut self, bytes: u64) {
        self.capacity_bytes = self.used_bytes() + bytes;
    }

    /// The power goes: what was not written durably is as it was before, if `lose_relaxed`;
    /// a real disk may do either.
    pub(crate) fn cut_power(&mut self, lose_relaxed: bool) {
        if lose_relaxed {
            self.nodes.retain(|_, node| match node {
                Node::File(file) => file.lose_relaxed(),
                Node::Folder | Node::Link(_) | Node::Other => true,
            });
        }
    }

    pub(crate) fn is_folder(&self, path: &str) -> bool {
        let at = self.resolve(path, Follow::All);
        at.is_ok_and(|at| matches!(self.nodes.get(&at), Some(Node::Folder)))
    }

    pub(crate) fn read(&self, path: &str, limit_bytes: u64) -> Done<(Vec<u8>, Version)> {
        let file = self.file(path, Follow::All)?;
        if file.bytes().len() as u64 > limit_bytes {
            return fail(FailureKind::TooLarge, path, "it is larger than the limit");
        }
        Ok((file.bytes().to_vec(), file.version()))
    }

    pub(crate) fn read_tail(&self, path: &str, limit_bytes: u64) -> Done<(Vec<u8>, u64)> {
        let bytes = self.file(path, Follow::All)?.bytes();
        let limit = usize::try_from(limit_bytes).unwrap_or(usize::MAX);
        Ok((bytes[bytes.len().saturating_sub(limit)..].to_vec(), bytes.len() as u64))
    }

    pub(crate) fn write(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect: &Expect,
        durability: Durability,
        private: bool,
    ) -> Done<Version> {
        let existing = self.existing(path)?;
        match (expect, existing) {
            (Expect::Any, _) | (Expect::Absent, None) => {}
            (Expect::Absent, Some(_)) => return fail(FailureKind::Exists, path, "it exists"),
            (Expect::Version(expected), Some(file)) if file.version() == *expected => {}
            (Expect::Version(_), _) => {
                return fail(FailureKind::Conflict, path, "it is another version");
            }
        }
        let freed = existing.map_or(0, |file| file.bytes().len());
        self.writable(path)?;
        self.has_room(path, bytes.len().saturating_sub(freed))?;
        let at = self.place(path, private)?;
        if private {
            self.private.insert(at.clone());
        }
        self.next_version += 1;
        let (number, now) = (self.next_version, self.now);
        Ok(match self.nodes.get_mut(&at) {
            Some(Node::File(file)) => file.rewrite(bytes, durability, number, now),
            _ => {
                let file = File::new(bytes, durability, number, now);
                let version = file.version();
                self.nodes.insert(at, Node::File(file));
                version
            }
        })
    }

    pub(crate) fn append(
        &mut self,
        path: &str,
        bytes: &[u8],
        expect_len_bytes: u64,
        durability: Durability,
        private: bool,
    ) -> Done<()> {
        let exists = match self.existing(path)? {
            None if expect_len_bytes > 0 => {
                return fail(FailureKind::Conflict, path, "it is gone");
            }
            Some(file) if file.bytes().len() as u64 != expect_len_bytes => {
                return fail(FailureKind::Conflict, path, "it has another size");
            }
            existing => existing.is_some(),
        };
        self.has_room(path, bytes.len())?;
        if !exists {
            return self.write(path, bytes, &Expect::Absent, durability, private).map(|_| ());
        }
        self.writable(path)?;
        let at = self.place(path, private)?;
        if private {
            self.private.insert(at.clone());
        }
        self.next_version += 1;
        let (number, now) = (self.next_version, self.now);
        self.file_at(&at).append(bytes, durability, number, now);
        Ok(())
    }

    pub(crate) fn patch(&mut self, path: &str, offset: u64, old: &[u8], new: &[u8]) -> Done<()> {
        if old.len() != new.len() {
            return fail(FailureKind::Invalid, path, "old and new differ in length");
        }
        let file = self.file(path, Follow::Folders)?;
        self.writable(path)?;
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let place = start.checked_add(old.len()).and_then(|end| file.bytes().get(start..end));
        if place != Some(old) {
            return fail(FailureKind::Conflict, path, "it holds something else");
        }
        let at = self.resolve(path, Follow::Folders)?;
        self.next_version += 1;
        let (number, now) = (self.next_version, self.now);
        self.file_at(&at).patch(start, new, number, now);
        Ok(())
    }

    /// Removes a file, or a folder with everything in it; scripted programs do too.
    ///
    /// # Errors
    ///
    /// `NotFound` when nothing is there.
    pub fn remove(&mut self, path: &str) -> Done<()> {
        let at = self.resolve(path, Follow::Folders)?;
        if at == "/" || format!("{}/", self.cwd).starts_with(&format!("{at}/")) {
            return fail(FailureKind::Invalid, path, "it contains the current folder");
        }
        if !self.nodes.contains_key(&at) {
            return fail(FailureKind::NotFound, path, "no such file or folder");
        }
        self.writable(path)?;
        let inside = format!("{at}/");
        let stays = |path: &String| *path != at && !path.starts_with(&inside);
        self.nodes.retain(|path, _| stays(path));
        self.private.retain(stays);
        Ok(())
    }

    pub(crate) fn list(&self, path: &str) -> Done<Vec<String>> {
        let at = self.resolve(path, Follow::All)?;
        match self.nodes.get(&at) {
            Some(Node::Folder) => {}
            Some(_) => return fail(FailureKind::Invalid, path, "it is no folder"),
            None => return fail(FailureKind::NotFound, path, "no such file or folder"),
        }
        let inside = format!("{}/", at.trim_end_matches('/'));
        let names = self.nodes.keys().filter_map(|path| path.strip_prefix(&inside));
        Ok(names
            .filter(|name| !name.is_empty() && !name.contains('/'))
            .map(str::to_owned)
            .collect())
    }

    pub(crate) fn stat(&self, path: &str) -> Done<Stat> {
        let at = self.resolve(path, Follow::Folders)?;
        let (kind, size_bytes, modified, executable) = match self.nodes.get(&at) {
            None => return fail(FailureKind::NotFound, path, "no such file or folder"),
            Some(Node::Folder) => (FileKind::Folder, 0, self.now, false),
            Some(Node::Link(target)) => (FileKind::Link, target.len() as u64, self.now, false),
            Some(Node::Other) => (FileKind::Other, 0, self.now, false),
            Some(Node::File(file)) => {
                (FileKind::File, file.bytes().len() as u64, file.modified(), file.executable)
            }
        };
        Ok(Stat { kind, size_bytes, modified, executable, foreign: false })
    }

    pub(crate) fn canonical(&self, path: &str) -> Done<String> {
        let at = self.resolve(path, Follow::All)?;
        if self.nodes.contains_key(&at) {
            Ok(at)
        } else {
            fail(FailureKind::NotFound, path, "no such file or folder")
        }
    }

    /// Where `path` leads; its last part need not exist.
    pub(crate) fn absolute(&self, path: &str) -> String {
        if path.starts_with('/') { path.to_owned() } else { format!("{}/{path}", self.cwd) }
    }

    fn file(&self, path: &str, follow: Follow) -> Done<&File> {
        let at = self.resolve(path, follow)?;
        match self.nodes.get(&at) {
            Some(Node::File(file)) => Ok(file),
            Some(Node::Folder) => fail(FailureKind::Invalid, path, "it is a folder"),
            Some(Node::Link(_)) => fail(FailureKind::Invalid, path, "it is a symbolic link"),
            Some(Node::Other) => fail(FailureKind::Invalid, path, "it is no regular file"),
            None => fail(FailureKind::NotFound, path, "no such file or folder"),
        }
    }

    /// The file that is to be written; `None`: nothing is there.
    fn existing(&self, path: &str) -> Done<Option<&File>> {
        match self.file(path, Follow::Folders) {
            Ok(file) => Ok(Some(file)),
            Err(failure) if failure.kind == FailureKind::NotFound => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    /// The file at a place where one was just seen.
    fn file_at(&mut self, at: &str) -> &mut File {
        match self.nodes.get_mut(at) {
            Some(Node::File(file)) => file,
            _ => panic!("the file at `{at}` was there a moment ago"),
        }
    }

    /// Follows links and `..` part by part, as a kernel does.
    fn resolve(&self, path: &str, follow: Follow) -> Done<String> {
        if path.is_empty() || path.contains('\0') || path.len() > PATH_BYTES {
            return fail(FailureKind::Invalid, path, "no path looks like that");
        }
        let absolute = self.absolute(path);
        let mut at = String::with_capacity(absolute.len());
        let mut parts = parts_of(&absolute);
        let mut links = 0;
        while let Some(part) = parts.pop() {
            match part {
                "." => continue,
                ".." => {
                    at.truncate(at.rfind('/').unwrap_or(0));
                    continue;
                }
                name if name.len() > NAME_BYTES => {
                    return fail(FailureKind::Invalid, path, "a name is too long");
                }
                name => {
                    at.push('/');
                    at.push_str(name);
                }
            }
            let last = parts.is_empty();
            match self.nodes.get(&at) {
                Some(Node::Link(target)) if !last || follow == Follow::All => {
                    links += 1;
                    if links > LINKS_FOLLOWED {
                        return fail(FailureKind::Invalid, path, "its links lead nowhere");
                    }
                    let absolute = target.starts_with('/');
                    at.truncate(if absolute { 0 } else { at.rfind('/').unwrap_or(0) });
                    parts.extend(parts_of(target));
                }
                Some(Node::File(_) | Node::Other) if !last => {
                    return fail(FailureKind::Invalid, path, "a part of it is no folder");
                }
                None if !last => {
                    return fail(FailureKind::NotFound, path, "a part of it is missing");
                }
                _ => {}
            }
        }
        Ok(if at.is_empty() { "/".to_owned() } else { at })
    }

    /// Where a new file at `path` goes, with its folders made.
    fn place(&mut self, path: &str, private: bool) -> Done<String> {
        let absolute = self.absolute(path);
        if let Some((folder, _)) = absolute.rsplit_once('/') {
            self.make_folders(folder, private)?;
        }
        self.resolve(path, Follow::Folders)
    }

    fn make_folders(&mut self, path: &str, private: bool) -> Done<()> {
        // Mostly they are there.
        if self.is_folder(path) {
            return Ok(());
        }
        let mut so_far = String::new();
        for part in parts_of(path).into_iter().rev() {
            so_far = format!("{so_far}/{part}");
            let at = self.resolve(&so_far, Follow::All)?;
            match self.nodes.get(&at) {
                Some(Node::Folder) => {}
                Some(_) => return fail(FailureKind::Invalid, path, "a part of it is no folder"),
                None => {
                    if private {
                        self.private.insert(at.clone());
                    }
                    self.nodes.insert(at, Node::Folder);
                }
            }
        }
        Ok(())
    }

    fn writable(&self, path: &str) -> Done<()> {
        if self.read_only.is_empty() {
            return Ok(());
        }
        let at = format!("{}/", self.absolute(path));
        if self.read_only.iter().any(|folder| at.starts_with(&format!("{folder}/"))) {
            return fail(FailureKind::Denied, path, "the file system is read-only");
        }
        Ok(())
    }

    fn has_room(&self, path: &str, more_bytes: usize) -> Done<()> {
        if self.capacity_bytes == u64::MAX {
            return Ok(());
        }
        if self.used_bytes() + more_bytes as u64 > self.capacity_bytes {
            return fail(FailureKind::Full, path, "no space is left on the device");
        }
        Ok(())
    }

    fn used_bytes(&self) -> u64 {
        let size = |node: &Node| match node {
            Node::File(file) => file.bytes().len() as u64,
            Node::Folder | Node::Link(_) | Node::Other => 0,
        };
        self.nodes.values().map(size).sum()
    }
}

/// What of a path is followed when it is a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follow {
    /// Every part.
    All,
    /// Every part but the last.
    Folders,
}

/// The parts of a path, the first one last.
fn parts_of(path: &str) -> Vec<&str> {
    path.rsplit('/').filter(|part| !part.is_empty()).collect()
}
