//! `kept.json` in a commit below `refs/onloop/sessions/`: which files of a checkout onloop kept before
//! a call of a session. The content of the first file is called `1` there, of the second `2`.

use serde::{Deserialize, Serialize};

/// The name of the document in its commit.
pub const NAME: &str = "kept.json";

/// What was kept before one call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptFiles {
    /// What the call runs, on one line.
    pub about: String,
    /// The files.
    pub files: Vec<KeptPath>,
}

/// A file that was kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptPath {
    /// Relative to the top folder of the checkout.
    pub path: String,
    /// Whether it can be executed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub executable: bool,
}

impl KeptFiles {
    /// The document.
    pub fn write(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("the document has only string keys")
    }

    /// The document in `bytes`; `None` if it is damaged, or names a path outside the checkout.
    pub fn read(bytes: &[u8]) -> Option<KeptFiles> {
        let kept: KeptFiles = serde_json::from_slice(bytes).ok()?;
        let is_plain =
            |part: &str| !matches!(part, "" | "." | "..") && !part.eq_ignore_ascii_case(".git");
        let stays_inside = |file: &KeptPath| file.path.split('/').all(is_plain);
        kept.files.iter().all(stays_inside).then_some(kept)
    }

    /// The name of the content of the file at `index`.
    pub fn content_name(index: usize) -> String {
        (index + 1).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_is_read_as_it_was_written_and_leads_nowhere_else() {
        let path = |path: &str| KeptPath { path: path.to_owned(), executable: path == "a/b.sh" };
        let kept = KeptFiles { about: "rm a".to_owned(), files: vec![path("a/b.sh"), path(".c")] };
        assert_eq!(KeptFiles::read(&kept.write()), Some(kept.clone()));
        for bad in ["../a", "/a", "a//b", "a/../../b", "", ".git/config", "a/.GIT/hooks/x"] {
            let kept = KeptFiles { files: vec![path(bad)], ..kept.clone() };
            assert_eq!(KeptFiles::read(&kept.write()), None, "{bad}");
        }
        assert_eq!(KeptFiles::read(b"{}"), None);
    }
}
