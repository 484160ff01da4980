//! `onloop install` and `onloop uninstall`: what [`onloop_install`] describes, on disk.
//!
//! Everything is decided before anything is written: a file that cannot be edited leaves all
//! of them as they are. A file that cannot be written does, too: what was written is taken back.

mod change;
mod folders;

use change::Change;
use onloop_auto::prompts::AGENTS;
use onloop_effect::{Exit, Io};
use onloop_engine::client_files::{HostFileError, host_help, known, look, setting};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_install::{EditError, HostFile, InstallScope, Setting, advice, diff, host_files};
use onloop_syntax::limits;
use onloop_syntax::text::{counted, one_line, printable};

/// Arguments of `onloop install` and `onloop uninstall`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InstallArgs {
    /// The host, by the name that [`onloop_sessions::hooks::Host::as_str`] gives it.
    #[arg(value_name = "HOST", help = host_help())]
    pub host: String,
    /// Whose sessions [default: project for vscode and copilot, else user]
    #[arg(long, value_enum)]
    pub scope: Option<InstallScope>,
    /// List the files that would change, and change nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Also show the changes
    #[arg(long, requires = "dry_run")]
    pub diff: bool,
}

/// What is kept of a file before its first change.
pub(crate) const BACKUP: &str = ".onloop-backup";

/// `onloop install`.
pub(crate) async fn install(io: &Io, args: &InstallArgs) -> Result<Exit, CommandError> {
    let host = known(&args.host)?;
    let scope = args.scope.unwrap_or(InstallScope::usual(host));
    let setting = setting(io, host, scope).await?;
    let mut changes = Vec::new();
    for host_file in host_files(host, &setting, &AGENTS) {
        changes.push(install_change(io, &setting, host_file).await);
    }
    let name = host.title();
    let said = match make(io, changes, args).await? {
        Made::Shown => return Ok(Exit::Done),
        Made::Changed => format!("onloop is installed in {name} ({} scope).", scope.as_str()),
        Made::Nothing => format!("onloop is installed in {name} already; nothing was changed."),
    };
    io.note(said).await;
    for paragraph in advice(host, scope) {
        io.note_wrapped(&format!("  {paragraph}"), 2).await;
    }
    if setting.program.iter().any(|word| word.contains("/_npx/")) {
        let why = "  The hooks call a copy in the cache of npx, which npm may empty. Install onloop for \
                   good, then run `onloop install` again.";
        io.note_wrapped(why, 2).await;
    }
    io.note(format!("  `onloop doctor {}` tries each hook.", host.as_str())).await;
    Ok(Exit::Done)
}

/// `onloop uninstall`.
pub(crate) async fn uninstall(io: &Io, args: &InstallArgs) -> Result<Exit, CommandError> {
    let host = known(&args.host)?;
    let scopes = args.scope.map_or(InstallScope::ALL.to_vec(), |scope| vec![scope]);
    let mut changes = Vec::new();
    for scope in scopes {
        let setting = setting(io, host, scope).await?;
        for host_file in host_files(host, &setting, &AGENTS) {
            changes.push(uninstall_change(io, &setting, host_file).await);
        }
    }
    let name = host.title();
    let said = match make(io, changes, args).await? {
        Made::Shown => return Ok(Exit::Done),
        Made::Changed => format!("onloop is no longer in {name}."),
        Made::Nothing => format!("onloop is not in {name}; nothing was changed."),
    };
    io.note(said).await;
    Ok(Exit::Done)
}

/// What became of the changes.
enum Made {
    /// They were made.
    Changed,
    /// There was nothing to change.
    Nothing,
    /// They were only shown.
    Shown,
}

/// Makes the changes, or shows them for a dry run, unless one of them was refused.
async fn make(
    io: &Io,
    found: Vec<Result<Change, HostFileError>>,
    args: &InstallArgs,
) -> Result<Made, CommandError> {
    let (mut changes, mut refusals) = (Vec::new(), Vec::new());
    for change in found {
        match change {
            Ok(change) => changes.push(change),
            Err(why) => refusals.push(why),
        }
    }
    if !refusals.is_empty() {
        let is_untrusted = |why: &HostFileError| matches!(why, HostFileError::Untrusted(_));
        let is_refused = refusals.iter().any(is_untrusted);
        let kind = if is_refused { ErrorKind::Refused } else { ErrorKind::Usage };
        let mut why: Vec<String> = refusals.iter().map(ToString::to_string).collect();
        // Several files may lie behind one link.
        why.dedup();
        let what = match why.as_slice() {
            [_] => "a file cannot be edited; nothing was changed",
            _ => "some files cannot be edited; nothing was changed",
        };
        return Err(CommandError::new(kind, what).listing(why));
    }
    if args.dry_run {
        show(io, &changes, args.diff).await;
        return Ok(Made::Shown);
    }
    change::perform_all(io, &changes).await?;
    Ok(if changes.iter().any(Change::is_one) { Made::Changed } else { Made::Nothing })
}

async fn install_change(
    io: &Io,
    setting: &Setting,
    host_file: HostFile,
) -> Result<Change, HostFileError> {
    let (path, found) = look(io, setting, host_file.path()).await?;
    let text = found.as_ref().map(|(text, _)| text.as_str());
    let wanted = host_file.installed(text).map_err(|why| not_editable(&host_file, why))?;
    Ok(Change { host_file, path, found, wanted: Some(wanted) })
}

async fn uninstall_change(
    io: &Io,
    setting: &Setting,
    host_file: HostFile,
) -> Result<Change, HostFileError> {
    let (path, found) = look(io, setting, host_file.path()).await?;
    let Some((text, _)) = &found else {
        return Ok(Change { host_file, path, found, wanted: None });
    };
    let remains = host_file.removed(text).map_err(|why| not_editable(&host_file, why))?;
    // A file that was there before us stays, whatever is in it.
    let kept = match &host_file {
        HostFile::Shared(_) | HostFile::Server(_) => {
            let read = io.read(&format!("{path}{BACKUP}"), limits::HOST_FILE_BYTES).await;
            read.ok().map(|(bytes, _)| bytes)
        }
        HostFile::Own(_) => None,
    };
    let wanted = match kept {
        None => (!remains.is_nothing).then_some(remains.text),
        // An empty file is no document of its host, so removing entries does not lead back to it.
        Some(kept) if remains.is_nothing && kept.trim_ascii().is_empty() => {
            Some(String::from_utf8_lossy(&kept).into_owned())
        }
        Some(_) => Some(remains.text),
    };
    Ok(Change { host_file, path, found, wanted })
}

fn not_editable(host_file: &HostFile, why: EditError) -> HostFileError {
    HostFileError::NotEditable { path: host_file.path().to_owned(), why }
}

/// Lists every change, and with `with_diff` shows it, on standard output.
async fn show(io: &Io, changes: &[Change], with_diff: bool) {
    let changes: Vec<&Change> = changes.iter().filter(|change| change.is_one()).collect();
    if changes.is_empty() {
        return io.note("Nothing would change.").await;
    }
    let files = counted(changes.len() as u64, "file");
    let mut out = format!("onloop would change {files}:\n");
    for Change { path, found, wanted, .. } in &changes {
        let verb = match (found, wanted) {
            (None, _) => "write",
            (Some(_), Some(_)) => "change",
            (Some(_), None) => "remove",
        };
        out += &format!("  {verb:<8}{}\n", one_line(path));
    }
    io.result(out).await;
    for Change { path, found, wanted, .. } in changes.iter().filter(|_| with_diff) {
        let old = found.as_ref().map_or("", |(text, _)| text.as_str());
        let new = wanted.as_deref().unwrap_or_default();
        let name = |is_there: bool| if is_there { path.as_str() } else { "/dev/null" };
        let names = (name(found.is_some()), name(wanted.is_some()));
        io.result(printable(&diff::unified(names, old, new))).await;
    }
    let hint = if with_diff { "" } else { "; `--diff` shows the changes" };
    io.note(format!("Nothing was changed (`--dry-run`){hint}.")).await;
}
