//! [`Reply`] as hosts send it.

use serde::Deserialize;
use serde_json::Value;

use super::{Attachment, Malformed, Message};
use crate::documents::tagged;
use crate::effect::{
    Capture, Failure, FailureKind, FileKind, HttpAnswer, Outcome, ProcessEnd, ProcessStatus, Reply,
    Stat, Version,
};
use crate::effect::{GitSurvey, Repository, WorktreeEntry};
use crate::syntax::strict_json;
use crate::time::Timestamp;

/// The member that names an outcome.
const TAG: &str = "is";

#[derive(Deserialize)]
struct FailureDocument {
    kind: KindDocument,
    message: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum KindDocument {
    NotFound,
    Exists,
    Conflict,
    Denied,
    Full,
    TooLarge,
    Invalid,
    Busy,
    Closed,
    Interrupted,
    Unsupported,
    Other,
}

/// Named by its member [`TAG`].
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum OutcomeDocument {
    Done {},
    File {
        bytes: Attachment,
        version: String,
    },
    Tail {
        bytes: Attachment,
        size_bytes: u64,
    },
    Written {
        version: String,
    },
    Names {
        names: Vec<String>,
    },
    Stat {
        kind: FileKindDocument,
        size_bytes: u64,
        modified_ms: i64,
        executable: bool,
    },
    Path {
        path: String,
    },
    Process {
        status: StatusDocument,
        stdout: CaptureDocument,
        stderr: CaptureDocument,
        duration_ms: u64,
    },
    Survey {
        repository: Option<RepositoryDocument>,
    },
    Worktrees {
        worktrees: Vec<WorktreeDocument>,
    },
    Commit {
        commit: Option<String>,
    },
    Answer {
        answer: String,
    },
    Input {
        bytes: Attachment,
    },
    Running {},
    NoInput {},
    Http {
        status: u16,
        body: Attachment,
    },
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum FileKindDocument {
    File,
    Folder,
    Link,
    Other,
}

/// `{"exited": 0}`, `{"signalled": 9}`, `"timed_out"` or `"interrupted"`.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum StatusDocument {
    Exited(i32),
    Signalled(i32),
    TimedOut,
    Interrupted,
}

#[derive(Deserialize)]
struct CaptureDocument {
    head: Attachment,
    tail: Attachment,
    total_bytes: u64,
}

#[derive(Deserialize)]
struct RepositoryDocument {
    root: String,
    main_root: String,
    linked: bool,
    branch: Option<String>,
    head: Option<String>,
    dirty: Vec<String>,
    target_commit: Option<String>,
    target_checked_out_at: Option<String>,
}

#[derive(Deserialize)]
struct WorktreeDocument {
    path: String,
    branch: Option<String>,
}

/// Reads `{"at_ms": …, "outcome": {…}}` or `{"at_ms": …, "failure": {…}}`.
pub(super) fn read(message: Message) -> Result<Reply, Malformed> {
    let malformed = |error: String| Malformed::new("reply", error);
    let mut members =
        strict_json::parse(&message.json).and_then(tagged::members).map_err(malformed)?;
    let at_ms = members.get("at_ms").and_then(Value::as_i64);
    let at_ms = at_ms.ok_or_else(|| malformed("`at_ms` is not a whole number".to_owned()))?;
    let outcome = match (members.remove("outcome"), members.remove("failure")) {
        (Some(outcome), None) => {
            let outcome = tagged::members(outcome).and_then(|members| tagged::read(TAG, members));
            Ok(read_outcome(outcome.map_err(malformed)?, &mut Attachments(message.attachments))?)
        }
        (None, Some(failure)) => {
            let failure: FailureDocument =
                serde_json::from_value(failure).map_err(|error| malformed(error.to_string()))?;
            Err(Failure { kind: read_kind(&failure.kind), message: failure.message })
        }
        (Some(_), Some(_)) | (None, None) => {
            return Err(malformed("expected either `outcome` or `failure`".to_owned()));
        }
    };
    Ok(Reply { at: Timestamp::from_millis(at_ms), outcome })
}

/// Attachments that were not taken yet; each is taken once, without a copy.
struct Attachments(Vec<Vec<u8>>);

impl Attachments {
    fn take(&mut self, at: Attachment) -> Result<Vec<u8>, Malformed> {
        let count = self.0.len();
        match self.0.get_mut(at) {
            Some(bytes) => Ok(std::mem::take(bytes)),
            None => {
                Err(Malformed::new("reply", format!("attachment {at} is missing; {count} came")))
            }
        }
    }

    fn capture(&mut self, document: &CaptureDocument) -> Result<Capture, Malformed> {
        let (head, tail) = (self.take(document.head)?, self.take(document.tail)?);
        if ((head.len() + tail.len()) as u64) > document.total_bytes {
            return Err(Malformed::new("reply", "`total_bytes` is less than what was kept"));
        }
        Ok(Capture { head, tail, total_bytes: document.total_bytes })
    }
}

fn read_outcome(
    document: OutcomeDocument,
    attachments: &mut Attachments,
) -> Result<Outcome, Malformed> {
    Ok(match document {
        OutcomeDocument::Done {} => Outcome::Done,
        OutcomeDocument::File { bytes, version } => {
            Outcome::File { bytes: attachments.take(bytes)?, version: Version(version) }
        }
        OutcomeDocument::Tail { bytes, size_bytes } => {
            Outcome::Tail { bytes: attachments.take(bytes)?, size_bytes }
        }
        OutcomeDocument::Written { version } => Outcome::Written(Version(version)),
        OutcomeDocument::Names { names } => Outcome::Names(names),
        OutcomeDocument::Stat { kind, size_bytes, modified_ms, executable } => {
            Outcome::Stat(Stat {
                kind: match kind {
                    FileKindDocument::File => FileKind::File,
                    FileKindDocument::Folder => FileKind::Folder,
                    FileKindDocument::Link => FileKind::Link,
                    FileKindDocument::Other => FileKind::Other,
                },
                size_bytes,
                modified: Timestamp::from_millis(modified_ms),
                executable,
            })
        }
        OutcomeDocument::Path { path } => Outcome::Path(path),
        OutcomeDocument::Process { status, stdout, stderr, duration_ms } => {
            Outcome::Process(ProcessEnd {
                status: match status {
                    StatusDocument::Exited(code) => ProcessStatus::Exited(code),
                    StatusDocument::Signalled(signal) => ProcessStatus::Signalled(signal),
                    StatusDocument::TimedOut => ProcessStatus::TimedOut,
                    StatusDocument::Interrupted => ProcessStatus::Interrupted,
                },
                stdout: attachments.capture(&stdout)?,
                stderr: attachments.capture(&stderr)?,
                duration_ms,
            })
        }
        OutcomeDocument::Survey { repository } => {
            Outcome::Survey(GitSurvey { repository: repository.map(read_repository) })
        }
        OutcomeDocument::Worktrees { worktrees } => {
            let entry = |WorktreeDocument { path, branch }| WorktreeEntry { path, branch };
            Outcome::Worktrees(worktrees.into_iter().map(entry).collect())
        }
        OutcomeDocument::Commit { commit } => Outcome::Commit(commit),
        OutcomeDocument::Answer { answer } => Outcome::Answer(answer),
        OutcomeDocument::Input { bytes } => Outcome::Input(attachments.take(bytes)?),
        OutcomeDocument::Running {} => Outcome::Running,
        OutcomeDocument::NoInput {} => Outcome::NoInput,
        OutcomeDocument::Http { status, body } => {
            Outcome::Http(HttpAnswer { status, body: attachments.take(body)? })
        }
    })
}

fn read_repository(document: RepositoryDocument) -> Repository {
    let RepositoryDocument {
        root,
        main_root,
        linked,
        branch,
        head,
        dirty,
        target_commit,
        target_checked_out_at,
    } = document;
    Repository {
        root,
        main_root,
        linked,
        branch,
        head,
        dirty,
        target_commit,
        target_checked_out_at,
    }
}

fn read_kind(kind: &KindDocument) -> FailureKind {
    match kind {
        KindDocument::NotFound => FailureKind::NotFound,
        KindDocument::Exists => FailureKind::Exists,
        KindDocument::Conflict => FailureKind::Conflict,
        KindDocument::Denied => FailureKind::Denied,
        KindDocument::Full => FailureKind::Full,
        KindDocument::TooLarge => FailureKind::TooLarge,
        KindDocument::Invalid => FailureKind::Invalid,
        KindDocument::Busy => FailureKind::Busy,
        KindDocument::Closed => FailureKind::Closed,
        KindDocument::Interrupted => FailureKind::Interrupted,
        KindDocument::Unsupported => FailureKind::Unsupported,
        KindDocument::Other => FailureKind::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(json: &str, attachments: &[&[u8]]) -> Result<Reply, Malformed> {
        let attachments = attachments.iter().map(|bytes| bytes.to_vec()).collect();
        read(Message { json: json.to_owned(), attachments })
    }

    fn outcome(document: &str, attachments: &[&[u8]]) -> Outcome {
        let json = format!(r#"{{"at_ms":5,"outcome":{document}}}"#);
        let reply = reply(&json, attachments).unwrap();
        assert_eq!(reply.at.as_millis(), 5);
        reply.outcome.unwrap()
    }

    #[test]
    fn outcomes_are_read_with_their_attachments() {
        assert_eq!(outcome(r#"{"is":"done"}"#, &[]), Outcome::Done);
        assert_eq!(
            outcome(r#"{"is":"file","bytes":1,"version":"v"}"#, &[b"no", b"\xff\0"]),
            Outcome::File { bytes: b"\xff\0".to_vec(), version: Version("v".to_owned()) }
        );
        assert_eq!(
            outcome(r#"{"is":"tail","bytes":0,"size_bytes":9}"#, &[b"end"]),
            Outcome::Tail { bytes: b"end".to_vec(), size_bytes: 9 }
        );
        let process = r#"{"is":"process","status":{"signalled":9},"duration_ms":3,
            "stdout":{"head":0,"tail":1,"total_bytes":10},
            "stderr":{"head":2,"tail":3,"total_bytes":0}}"#;
        assert_eq!(
            outcome(process, &[b"abc", b"def", b"", b""]),
            Outcome::Process(ProcessEnd {
                status: ProcessStatus::Signalled(9),
                stdout: Capture { head: b"abc".to_vec(), tail: b"def".to_vec(), total_bytes: 10 },
                stderr: Capture::default(),
                duration_ms: 3,
            })
        );
        let survey = r#"{"is":"survey","repository":null}"#;
        assert_eq!(outcome(survey, &[]), Outcome::Survey(GitSurvey::default()));
        let http = Outcome::Http(HttpAnswer { status: 404, body: b"no".to_vec() });
        assert_eq!(outcome(r#"{"is":"http","status":404,"body":0}"#, &[b"no"]), http);
        assert_eq!(outcome(r#"{"is":"commit","commit":null}"#, &[]), Outcome::Commit(None));
    }

    #[test]
    fn a_failure_is_an_answer_too() {
        let json = r#"{"at_ms":0,"failure":{"kind":"too_large","message":"m"}}"#;
        let failure = reply(json, &[]).unwrap().outcome.unwrap_err();
        assert_eq!(failure, Failure::new(FailureKind::TooLarge, "m"));
    }

    #[test]
    fn what_is_no_reply_says_why() {
        let table = [
            (r#"{"at_ms":0}"#, "expected either `outcome` or `failure`"),
            (r#"{"at_ms":0,"outcome":{"is":"done"},"failure":{}}"#, "expected either"),
            (r#"{"at_ms":"0","outcome":{"is":"done"}}"#, "`at_ms` is not a whole number"),
            (r#"{"at_ms":0,"outcome":{"is":"dunno"}}"#, "unknown variant `dunno`"),
            (
                r#"{"at_ms":0,"outcome":{"is":"file","bytes":2,"version":""}}"#,
                "attachment 2 is missing; 1 came",
            ),
            (
                r#"{"at_ms":0,"outcome":{"is":"process","status":"timed_out","duration_ms":0,
                 "stdout":{"head":0,"tail":0,"total_bytes":0},
                 "stderr":{"head":0,"tail":0,"total_bytes":0}}}"#,
                "`total_bytes` is less than what was kept",
            ),
            ("", "EOF"),
        ];
        for (json, expected) in table {
            let error = reply(json, &[b"x"]).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
