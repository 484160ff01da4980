//! Whether git itself finds what it tells onloop. What a command in the sandbox leaves in the folder of git
//! may have it write other files than it shows.

use crate::git::checkout::{self, Checkout};
use crate::git::hardened;
use onloop_effect::{FailureKind, Io};
use onloop_permission::{Class, Examined};
use onloop_syntax::limits;

/// Why a person must decide about commands that are allowed and write files of commits; `None` if git
/// writes what it shows.
pub(super) async fn question(io: &Io, root: &str, commands: &[Examined]) -> Option<String> {
    let writes = |command: &&Examined| {
        command.name.starts_with("git ")
            && matches!(command.class, Some(Class::Updates | Class::Changes))
    };
    commands.iter().find(writes)?;
    let checkout = checkout::own(io, root).await?;
    if !has_sorted_references(io, &checkout).await {
        return Some("git may find other references than it lists (`.git/packed-refs`)".to_owned());
    }
    if !has_index(io, &checkout).await && !is_unborn(io, root).await {
        return Some("without an index git writes all files of a commit".to_owned());
    }
    None
}

/// Whether the file with the references of git has them in order: git halves it until it finds a name.
async fn has_sorted_references(io: &Io, checkout: &Checkout) -> bool {
    let path = format!("{}/packed-refs", checkout.common_folder(io).await);
    let bytes = match io.read(&path, limits::GIT_INDEX_BYTES).await {
        Ok((bytes, _)) => bytes,
        Err(failure) => return failure.is_not_found(),
    };
    // Behind the header stand names behind those of objects, and what tags lead to.
    let lines = bytes.split(|byte| *byte == b'\n');
    let lines = lines.skip(usize::from(bytes.starts_with(b"#")));
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with(b"^"));
    let names = lines.map(|line| {
        let (object, name) = line.split_at(line.iter().position(u8::is_ascii_whitespace)?);
        matches!(object.len(), 40 | 64).then_some(name)
    });
    let names: Option<Vec<&[u8]>> = names.collect();
    names.is_some_and(|names| names.is_sorted_by(|before, after| before < after))
}

/// Whether there is an index with entries: git takes one without for none.
async fn has_index(io: &Io, checkout: &Checkout) -> bool {
    let path = format!("{}/index", checkout.git_folder);
    let index = io.read(&path, limits::GIT_INDEX_BYTES).await;
    // Behind four letters and the version stands how many there are.
    index.is_ok_and(|(bytes, _)| bytes.get(8..12).is_some_and(|count| count != [0; 4]))
}

/// Whether git answers that there is no commit yet.
async fn is_unborn(io: &Io, root: &str) -> bool {
    let said = hardened::text(io, root, &["rev-parse", "--verify", "--quiet", "HEAD"]).await;
    said.is_err_and(|failure| failure.kind == FailureKind::Other)
}
