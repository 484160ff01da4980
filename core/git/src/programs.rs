//! Programs that the configuration of a repository makes git run.

use std::collections::BTreeSet;

use onloop_effect::{Failure, FailureKind};
use onloop_syntax::text::{hex, name_text, one_line, shell_word};
use sha2::{Digest, Sha256};

use crate::command::{GitProgram, IsolatedOptions};
use crate::files::answer;
use crate::paths::join;
use crate::{Step, StepReply, settings};

impl GitProgram {
    /// Returns the digest of all programs that the repository's own configuration makes git run,
    /// and refuses one other than `expected`.
    pub(crate) async fn demand_programs(
        &self,
        root: &str,
        expected: Option<&str>,
    ) -> Result<Programs, Failure> {
        let args = ["config", "--list", "--show-scope", "--show-origin", "-z"];
        let listed =
            self.answer_isolated(root, &args, &[], IsolatedOptions::default()).await?.success()?;
        let mut named = Vec::new();
        let mut keys = BTreeSet::new();
        let mut hooks = Vec::new();
        let mut fields = listed.split(|&byte| byte == 0);
        while let (Some(scope), Some(origin), Some(entry)) =
            (fields.next(), fields.next(), fields.next())
        {
            let key = entry.split(|&byte| byte == b'\n').next().unwrap_or_default();
            let key = String::from_utf8_lossy(key);
            let value = &entry[(key.len() + 1).min(entry.len())..];
            if key == "core.hookspath" {
                hooks.push(self.folder_in(root, value));
            }
            if matches!(scope, b"local" | b"worktree") && names_program(&key) {
                named.extend_from_slice(entry);
                named.push(0);
                // A key can be in a file that the configuration includes, or in one of the worktree.
                let file = origin.strip_prefix(b"file:").unwrap_or(origin);
                keys.insert((key.into_owned(), join(root, &name_text(file))));
            }
        }
        // The last value is our own, which turns hooks off.
        hooks.pop();
        let hooks = hooks.pop();
        let digest = sha256(&named);
        // The part after `+` is the digest of a hook, which does not run here.
        let expected = expected.map(|known| known.split('+').next().unwrap_or_default());
        if expected.is_none_or(|expected| expected == digest) {
            return Ok(Programs { digest, hooks });
        }
        Err(other_programs(root, &keys))
    }

    /// Resolves a configured folder against the top folder or the user's home.
    fn folder_in(&self, root: &str, named: &[u8]) -> String {
        let named = String::from_utf8_lossy(named);
        let home = self.surroundings.env.get("HOME").map_or("", String::as_str);
        match named.strip_prefix("~/") {
            Some(rest) => join(home, rest),
            None => join(root, &named),
        }
    }

    /// Digest of the `pre-push` hook; empty: there is none.
    pub(crate) async fn push_hook(&self, hooks: &str) -> String {
        let path = join(hooks, "pre-push");
        let found = self.target_of(&path).await.filter(|found| found.is_file());
        let Some(found) = found else { return String::new() };
        let step = Step::Read { path, first_bytes: Some(HOOK_BYTES), untrusted: false };
        let read = answer!(self.ask(step).await, StepReply::Content { bytes } => Vec::from(bytes));
        let Ok(mut bytes) = read else { return String::new() };
        bytes.extend_from_slice(format!("\0{}", found.size_bytes).as_bytes());
        sha256(&bytes)
    }
}

/// Why git is not run: these keys name other programs than when the run began. Programs of the
/// person's own configuration are accepted.
fn other_programs(root: &str, keys: &BTreeSet<(String, String)>) -> Failure {
    let names: Vec<String> = keys
        .iter()
        .map(|(key, file)| format!("`{}` in `{}`", key.escape_debug(), one_line(file)))
        .collect();
    let names = if names.is_empty() { "none now".to_owned() } else { names.join(", ") };
    let what = format!(
        "the configuration of the repository around `{root}` names other programs than when the \
         run began ({names}), and git would run them"
    );
    let failure = Failure::new(FailureKind::Denied, what);
    let removals: Vec<String> = keys
        .iter()
        .map(|(key, file)| {
            let (file, key) = (shell_word(file), shell_word(key));
            format!("git config --file {file} --unset-all {key}")
        })
        .collect();
    match removals.is_empty() {
        true => failure.with_fix("set again what was removed from it since", None),
        false => failure.with_fix(
            "remove them, and set what you set yourself with `git config --global` instead",
            Some(removals.join("; ")),
        ),
    }
}

/// Programs of a repository.
pub(crate) struct Programs {
    /// Digest of the configured programs.
    pub(crate) digest: String,
    /// Folder of the hooks, if it is configured.
    pub(crate) hooks: Option<String>,
}

pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Most bytes of a hook that enter its digest; its length always does.
const HOOK_BYTES: u64 = 1024 * 1024;

/// Whether the value of this setting is a program that git starts for one of our commands.
fn names_program(key: &str) -> bool {
    let section = key.split('.').next().unwrap_or_default();
    let name = key.rsplit('.').next().unwrap_or_default();
    settings::PROGRAM_SETTINGS
        .iter()
        .any(|(known, names)| *known == section && names.contains(&name))
}
