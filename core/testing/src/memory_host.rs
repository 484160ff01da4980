//! A host for unit tests of programs, with files in a map and output in strings.

use std::collections::BTreeMap;

use onloop_effect::{
    Exit, Expect, Failure, FailureKind, FileKind, Io, Outcome, Program, Reply, Request, Say, Start,
    Stat, Turn, Version,
};
use onloop_syntax::time::Timestamp;

/// Files by path, relative to the current folder, and the output.
#[derive(Default)]
pub struct MemoryHost {
    /// The files on the disk.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Standard output so far.
    pub stdout: String,
    /// Standard error so far.
    pub stderr: String,
}

impl MemoryHost {
    /// A host whose disk has these files and nothing else.
    pub fn with_files<P, T>(files: impl IntoIterator<Item = (P, T)>) -> Self
    where
        P: Into<String>,
        T: AsRef<[u8]>,
    {
        let files = files.into_iter().map(|(path, text)| (path.into(), text.as_ref().to_vec()));
        MemoryHost { files: files.collect(), ..MemoryHost::default() }
    }

    /// Runs a program to its end, at 2026-03-20.
    pub fn run<F: Future<Output = Exit> + 'static>(&mut self, body: impl FnOnce(Io) -> F) -> Exit {
        let at = Timestamp::parse("2026-03-20T21:23:15Z").expect("a valid time");
        let env = [("ONLOOP_STATE_HOME".to_owned(), "/state".to_owned())].into();
        let start = Start { now: at, env, ..Start::example(["onloop"]) };
        let mut program = Program::new(start, body);
        let mut reply = None;
        loop {
            match program.resume(reply.take()) {
                Turn::Exit(exit) => return exit,
                Turn::Request(request) => {
                    reply = Some(Reply { at, outcome: self.perform(request) });
                }
            }
        }
    }

    fn perform(&mut self, request: Request) -> Result<Outcome, Failure> {
        match request {
            Request::Read { path, limit_bytes } => {
                let bytes = self.files.get(&path).ok_or_else(|| missing(&path))?;
                if bytes.len() as u64 > limit_bytes {
                    return Err(Failure::new(FailureKind::TooLarge, path));
                }
                Ok(Outcome::File { bytes: bytes.clone().into(), version: version(bytes) })
            }
            Request::Write { path, bytes, expect, durability: _, private: _ } => {
                let fits = match (expect, self.files.get(&path)) {
                    (Expect::Any, _) | (Expect::Absent, None) => Ok(()),
                    (Expect::Absent, Some(_)) => Err(FailureKind::Exists),
                    (Expect::Version(expected), Some(old)) if version(old) == expected => Ok(()),
                    (Expect::Version(_), _) => Err(FailureKind::Conflict),
                };
                fits.map_err(|kind| Failure::new(kind, path.clone()))?;
                let written = version(&bytes);
                self.files.insert(path, bytes.into());
                Ok(Outcome::Written { version: written })
            }
            Request::Append { path, bytes, expect_len_bytes, .. } => {
                let file = self.files.entry(path.clone()).or_default();
                if file.len() as u64 != expect_len_bytes {
                    return Err(Failure::new(FailureKind::Conflict, path));
                }
                file.extend_from_slice(&bytes);
                Ok(Outcome::Done)
            }
            Request::ReadTail { path, limit_bytes } => {
                let bytes = self.files.get(&path).ok_or_else(|| missing(&path))?;
                let start = bytes.len().saturating_sub(limit_bytes as usize);
                Ok(Outcome::Tail {
                    bytes: bytes[start..].to_vec().into(),
                    size_bytes: bytes.len() as u64,
                })
            }
            Request::List { path } => self.list(&path),
            Request::Stat { path } => self.stat(&path),
            Request::Say(Say::Result(text)) => {
                self.stdout.push_str(&text);
                Ok(Outcome::Done)
            }
            Request::Say(Say::Note(text)) => {
                self.stderr.push_str(&text);
                Ok(Outcome::Done)
            }
            Request::Lock { .. } | Request::Unlock { .. } => Ok(Outcome::Done),
            // The host has no other process.
            Request::Holder { .. } => Ok(Outcome::Holder { holder: None }),
            Request::Ancestors => Ok(Outcome::Processes { processes: Vec::new() }),
            Request::EndGroup { .. } => Ok(Outcome::Ended { survivors: 0 }),
            other => Err(Failure::new(FailureKind::Unsupported, format!("{other:?}"))),
        }
    }

    fn list(&self, folder: &str) -> Result<Outcome, Failure> {
        let prefix = if folder == "." { String::new() } else { format!("{folder}/") };
        let below = self.files.keys().filter_map(|path| path.strip_prefix(&prefix));
        let mut names: Vec<String> =
            below.filter_map(|path| path.split('/').next()).map(str::to_owned).collect();
        names.dedup();
        if names.is_empty() && folder != "." {
            return Err(missing(folder));
        }
        Ok(Outcome::Names { names })
    }

    fn stat(&self, path: &str) -> Result<Outcome, Failure> {
        let folder = format!("{path}/");
        let (kind, size_bytes) = match self.files.get(path) {
            Some(bytes) => (FileKind::File, bytes.len() as u64),
            None if self.files.keys().any(|file| file.starts_with(&folder)) => {
                (FileKind::Folder, 0)
            }
            None => return Err(missing(path)),
        };
        let modified = Timestamp::EPOCH;
        Ok(Outcome::Stat(Stat { kind, size_bytes, modified, executable: false, foreign: false }))
    }
}

fn missing(path: &str) -> Failure {
    Failure::new(FailureKind::NotFound, format!("{path}: no such file or folder"))
}

fn version(bytes: &[u8]) -> Version {
    Version(String::from_utf8_lossy(bytes).into_owned())
}
