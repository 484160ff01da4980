//! The version of a client. It is asked once; what it said is kept in the state home for as long as
//! its program is the same file.

use crate::lookup::agent::find_on_path;
use crate::run::checks::private_names;
use crate::state::store::StateHome;
use onloop_agents::{Client, Preset};
use onloop_documents::client_version::ClientVersionDocument;
use onloop_documents::ledger::sha256;
use onloop_effect::{Durability, Expect, Failure, Io, ProcessSpec, ProcessStatus};
use onloop_syntax::text;

/// Time that a client may take to tell its version.
const VERSION_TIMEOUT_MS: u64 = 30_000;
/// Bytes of a version.
const VERSION_BYTES: usize = 40;
/// Largest description of a package that is looked at.
const PACKAGE_BYTES: u64 = 256 * 1024;
/// Largest file that keeps a version.
const KEPT_BYTES: u64 = 64 * 1024;

/// The version that the client of a preset tells, or has told; `None`: it tells none, or is not
/// there.
///
/// # Errors
///
/// Only when the person interrupted.
pub(super) async fn of(
    io: &Io,
    home: &StateHome,
    preset: &Preset,
) -> Result<Option<String>, Failure> {
    let Some(found) = find_on_path(io, preset.program).await else { return Ok(None) };
    let Some(file) = look(io, &found).await else { return Ok(None) };
    let kept_at = home.client(&file.path);
    let kept = io.read(&kept_at, KEPT_BYTES).await.ok();
    let kept = kept.and_then(|(bytes, _)| ClientVersionDocument::of(&bytes));
    if let Some(kept) = kept.filter(|kept| kept.is_about(&file)) {
        return Ok(kept.version);
    }
    let spec = ProcessSpec::argv([preset.program, "--version"])
        .without_env(private_names(io))
        .with_stdin("")
        .timeout_ms(VERSION_TIMEOUT_MS);
    let end = match io.process(spec).await {
        Ok(end) if end.status == ProcessStatus::Interrupted => {
            return Err(Failure::interrupted());
        }
        Ok(end) => end,
        Err(failure) if failure.is_interrupted() => return Err(failure),
        Err(_) => return Ok(None),
    };
    let version = version_in(&end.stdout.text());
    // One that could not answer may be able to later.
    if end.status == ProcessStatus::Exited(0) {
        let bytes = ClientVersionDocument { version: version.clone(), ..file }.to_bytes();
        // Where that is not possible it is asked again.
        let _ = io.write(&kept_at, bytes, Expect::Any, Durability::Relaxed).await;
    }
    Ok(version)
}

/// The state of the file to which a path on `PATH` leads.
async fn look(io: &Io, found: &str) -> Option<ClientVersionDocument> {
    let path = io.canonical(found).await.ok()?;
    let stat = io.stat(&path).await.ok()?;
    let mut package = None;
    let mut folder = path.as_str();
    // `cli.js` and `bin/cli.js`.
    for _ in 0..2 {
        folder = folder.rsplit_once('/')?.0;
        if let Ok((bytes, _)) = io.read(&format!("{folder}/package.json"), PACKAGE_BYTES).await {
            package = Some(sha256(&bytes));
            break;
        }
    }
    Some(ClientVersionDocument::of_file(path, stat.size_bytes, stat.modified, package))
}

/// The first word that looks like a version.
fn version_in(said: &str) -> Option<String> {
    let is_version =
        |word: &&str| word.contains('.') && word.starts_with(|c: char| c.is_ascii_digit());
    let word = said.split_whitespace().find(is_version)?;
    Some(text::ellipsis(&text::one_line(word), VERSION_BYTES))
}

/// The oldest version that can be started with our hook, where `version` is an older one.
pub(super) fn too_old(client: Client, version: &str) -> Option<&'static str> {
    let oldest = match client {
        // Hooks are started without a shell since then.
        Client::Claude => "2.1.139",
        // What else is missing is seen by what they say when they are started.
        Client::Codex | Client::Opencode | Client::Acp => return None,
    };
    let parts = |version: &str| -> Option<Vec<u64>> {
        let numbers = version.split(['-', '+']).next()?;
        numbers.split('.').map(|part| part.parse().ok()).collect()
    };
    (parts(version)? < parts(oldest)?).then_some(oldest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_found_in_what_clients_say() {
        let table = [
            ("2.1.330 (Claude Code)\n", Some("2.1.330")),
            ("codex-cli 0.169.0\n", Some("0.169.0")),
            ("1.18.33", Some("1.18.33")),
            ("", None),
            ("{\"type\":\"result\"}", None),
            ("version 12", None),
        ];
        for (said, expected) in table {
            assert_eq!(version_in(said).as_deref(), expected, "{said}");
        }
        assert!(version_in(&format!("1.{}", "9".repeat(1000))).unwrap().len() <= VERSION_BYTES);
    }

    #[test]
    fn only_a_version_that_is_known_to_be_older_is_too_old() {
        let table = [
            ("2.1.138", true),
            ("1.99.999", true),
            ("2.1.139", false),
            ("2.2", false),
            ("2.1.330-beta.1", false),
            ("3.0.0", false),
            ("2.x", false),
        ];
        for (version, expected) in table {
            assert_eq!(too_old(Client::Claude, version).is_some(), expected, "{version}");
            assert_eq!(too_old(Client::Codex, version), None);
        }
    }
}
