//! `onloop auto init`: the files that a run works with.

use super::args::AutoInitArgs;
use onloop_auto::templates;
use onloop_effect::{Durability, Exit, Expect, Failure, FailureKind, Io, OptionalExt};
use onloop_engine::error::CommandError;
use onloop_syntax::limits;

const GITIGNORE: &str = ".gitignore";

/// Lays out `.ai/`. A file that is there stays as it is.
pub async fn init(io: Io, args: AutoInitArgs) -> Result<Exit, CommandError> {
    for (path, text) in templates::FILES {
        let done = lay(&io, path, text, args.dry_run).await.map_err(unwritten(path))?;
        io.result(format!("{done} {path}\n")).await;
    }
    let done = ignore(&io, args.dry_run).await.map_err(unwritten(GITIGNORE))?;
    io.result(format!("{done} {GITIGNORE}\n")).await;
    Ok(Exit::Done)
}

/// Writes a file unless it exists; the result in one word.
async fn lay(io: &Io, path: &str, text: &str, is_dry: bool) -> Result<&'static str, Failure> {
    if io.stat(path).await.optional()?.is_some() {
        return Ok("kept");
    }
    if is_dry {
        return Ok("missing");
    }
    let bytes = text.as_bytes().to_vec();
    match io.write(path, bytes, Expect::Absent, Durability::Durable).await {
        Ok(_) => Ok("created"),
        Err(failure) if failure.is_exists() => Ok("kept"),
        Err(failure) => Err(failure),
    }
}

async fn ignore(io: &Io, is_dry: bool) -> Result<&'static str, Failure> {
    let (text, expect) = match io.read(GITIGNORE, limits::AUTO_FILE_BYTES).await.optional()? {
        Some((bytes, version)) => {
            let text = String::from_utf8(bytes).map_err(|_| {
                Failure::new(FailureKind::Invalid, "it is not UTF-8, so it is left alone")
            })?;
            (text, Expect::Version(version))
        }
        None => (String::new(), Expect::Absent),
    };
    let Some(text) = templates::ignoring_runtime_files(&text) else { return Ok("kept") };
    if is_dry {
        return Ok("missing a line in");
    }
    io.write(GITIGNORE, text.into_bytes(), expect, Durability::Durable).await?;
    Ok("changed")
}

fn unwritten(path: &str) -> impl Fn(Failure) -> CommandError {
    move |failure| CommandError::from(failure).context(format!("cannot write `{path}`"))
}
