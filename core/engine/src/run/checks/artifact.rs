//! Evaluating checks of files.

use super::{Evaluated, Inside, cannot, inside};
use onloop_effect::{Failure, FailureKind, FileKind, Io};
use onloop_run::CheckVerdict;
use onloop_workflow::Assertion;

/// Largest artifact that is searched for a text.
const ARTIFACT_BYTES: u64 = 64 * 1024 * 1024;

pub(super) async fn look_at_artifact(
    io: &Io,
    root: &str,
    path: &str,
    assertion: &Assertion,
) -> Evaluated {
    let said = |holds: bool, what: String| {
        let verdict = match holds {
            true => CheckVerdict::Passed,
            false => CheckVerdict::Failed { reason: what.clone() },
        };
        Evaluated::said(verdict, what)
    };
    let found = match inside(io, root, path).await {
        Inside::At(found) => found,
        Inside::Outside(why) => return cannot(format!("artifact `{path}` {why}")),
        Inside::Absent => {
            return said(
                false,
                match assertion {
                    Assertion::Exists | Assertion::Contains(_) => {
                        format!("artifact missing: {path}")
                    }
                    Assertion::MatchesGlob(_) => format!("artifact directory missing: {path}"),
                },
            );
        }
    };
    let kind = match io.stat(&found).await {
        Ok(stat) => stat.kind,
        Err(failure) => return cannot(format!("artifact {path}: {}", failure.message)),
    };
    match (assertion, kind) {
        (Assertion::Contains(_), FileKind::Folder) => {
            return said(false, format!("artifact is a folder, not a file: {path}"));
        }
        (Assertion::MatchesGlob(_), FileKind::File) => {
            return said(false, format!("artifact is a file, not a folder: {path}"));
        }
        (_, _) => {}
    }
    match assertion {
        Assertion::Exists => said(true, format!("artifact exists: {path}")),
        Assertion::Contains(wanted) => match io.read(&found, ARTIFACT_BYTES).await {
            Ok((bytes, _)) if memchr::memmem::find(&bytes, wanted.as_bytes()).is_some() => {
                said(true, format!("artifact contains expected text: {path}"))
            }
            Ok(_) => said(false, format!("artifact missing expected text in {path}")),
            Err(failure) => cannot(format!("artifact {path}: {}", failure.message)),
        },
        Assertion::MatchesGlob(glob) => match matching_name(io, &found, glob).await {
            Ok(true) => said(true, format!("artifact matches glob: {path}/{glob}")),
            Ok(false) => said(false, format!("no artifact matches {glob} in {path}")),
            Err(why) => cannot(format!("artifact {path}: {why}")),
        },
    }
}

/// Whether the folder directly contains a regular file whose name matches.
async fn matching_name(io: &Io, folder: &str, pattern: &str) -> Result<bool, Failure> {
    let pattern = glob::Pattern::new(pattern)
        .map_err(|error| Failure::new(FailureKind::Invalid, error.to_string()))?;
    let options = glob::MatchOptions {
        case_sensitive: true,
        require_literal_separator: true,
        require_literal_leading_dot: true,
    };
    let names = io.list(folder).await?;
    for name in names.iter().filter(|name| pattern.matches_with(name, options)) {
        if let Ok(found) = io.canonical(&format!("{folder}/{name}")).await
            && let Ok(stat) = io.stat(&found).await
            && stat.kind == FileKind::File
        {
            return Ok(true);
        }
    }
    Ok(false)
}
