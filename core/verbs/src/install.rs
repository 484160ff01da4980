//! `onloop install` and `onloop uninstall`: what [`onloop_install`] describes, on disk.
//!
//! Everything is decided before anything is written: a file that cannot be edited leaves all
//! of them as they are.

use onloop_auto::prompts::AGENTS;
use onloop_effect::{
    Command, Durability, Exit, Expect, Failure, FailureKind, Io, ProcessStatus, Version,
};
use onloop_engine::client_files::host_help;
use onloop_engine::client_files::{HostFileError, known, look, quiet, setting};
use onloop_engine::error::{CommandError, ErrorKind};
use onloop_install::{EditError, HostFile, InstallScope, Setting, advice, diff, host_files};
use onloop_syntax::limits;
use onloop_syntax::text::{one_line, printable};

/// Arguments of `onloop install` and `onloop uninstall`.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct InstallArgs {
    /// The host, by the name that [`onloop_sessions::hooks::Host::as_str`] gives it.
    #[arg(value_name = "HOST", help = host_help())]
    pub host: String,
    /// Whose sessions [default: project for vscode and copilot, else user]
    #[arg(long, value_enum)]
    pub scope: Option<InstallScope>,
    /// Show what would change, as a diff, and change nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// What is kept of a file before its first change.
pub(crate) const BACKUP: &str = ".onloop-backup";

/// `onloop install`.
pub async fn install(io: &Io, args: &InstallArgs) -> Result<Exit, CommandError> {
    let host = known(&args.host)?;
    let scope = args.scope.unwrap_or(InstallScope::usual(host));
    let setting = setting(io, host, scope).await?;
    let mut changes = Vec::new();
    let mut refusals = Vec::new();
    for host_file in host_files(host, &setting, &AGENTS) {
        match install_change(io, &setting, host_file).await {
            Ok(change) => changes.push(change),
            Err(why) => refusals.push(why),
        }
    }
    if make(io, &changes, refusals, args.dry_run).await? == Made::Shown {
        return Ok(Exit::Done);
    }
    let name = host.title();
    if changes.iter().any(Change::is_one) {
        io.note(format!("onloop is installed in {name} ({} scope).", scope.as_str())).await;
    } else {
        io.note(format!("onloop is installed in {name} already; nothing was changed.")).await;
    }
    for paragraph in advice(host, scope) {
        io.note(format!("  {paragraph}")).await;
    }
    if setting.program.iter().any(|word| word.contains("/_npx/")) {
        io.note(
            "  The hooks call a copy in npx's cache, which may be emptied: `npm install -g \
             onloop`, then `onloop install` again.",
        )
        .await;
    }
    io.note(format!("  `onloop doctor {}` tries each hook.", host.as_str())).await;
    Ok(Exit::Done)
}

/// `onloop uninstall`.
pub async fn uninstall(io: &Io, args: &InstallArgs) -> Result<Exit, CommandError> {
    let host = known(&args.host)?;
    let scopes = args.scope.map_or(InstallScope::ALL.to_vec(), |scope| vec![scope]);
    let (mut changes, mut refusals) = (Vec::new(), Vec::new());
    for scope in scopes {
        let setting = setting(io, host, scope).await?;
        for host_file in host_files(host, &setting, &AGENTS) {
            match uninstall_change(io, &setting, host_file).await {
                Ok(change) => changes.push(change),
                Err(why) => refusals.push(why),
            }
        }
    }
    if make(io, &changes, refusals, args.dry_run).await? == Made::Shown {
        return Ok(Exit::Done);
    }
    let name = host.title();
    if changes.iter().any(Change::is_one) {
        io.note(format!("onloop is no longer in {name}.")).await;
    } else {
        io.note(format!("onloop is not in {name}; nothing was changed.")).await;
    }
    Ok(Exit::Done)
}

/// What became of the changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Made {
    /// They were made.
    Changed,
    /// They were only shown.
    Shown,
}

/// Makes the changes, or shows them for a dry run, unless one of them was refused.
async fn make(
    io: &Io,
    changes: &[Change],
    refusals: Vec<HostFileError>,
    dry_run: bool,
) -> Result<Made, CommandError> {
    if !refusals.is_empty() {
        let is_planted = |why: &HostFileError| matches!(why, HostFileError::Planted(_));
        let is_refused = refusals.iter().any(is_planted);
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
    if dry_run {
        show(io, changes).await;
        return Ok(Made::Shown);
    }
    for change in changes {
        perform(io, change).await.map_err(|failure| {
            let path = one_line(change.host_file.path());
            CommandError::from(failure).context(format!("`{path}` could not be changed"))
        })?;
    }
    Ok(Made::Changed)
}

/// What is to become of one file.
struct Change {
    host_file: HostFile,
    /// The file behind a symbolic link, or the path itself.
    path: String,
    /// What is there, and its version.
    found: Option<(String, Version)>,
    /// What should be there.
    wanted: Option<String>,
}

impl Change {
    fn is_one(&self) -> bool {
        self.found.as_ref().map(|(text, _)| text) != self.wanted.as_ref()
    }
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
    let was_there = match &host_file {
        HostFile::Shared(_) | HostFile::Server(_) => {
            io.stat(&format!("{path}{BACKUP}")).await.is_ok()
        }
        HostFile::Own(_) => false,
    };
    let stays = was_there || !remains.is_nothing;
    Ok(Change { host_file, path, found, wanted: stays.then_some(remains.text) })
}

fn not_editable(host_file: &HostFile, why: EditError) -> HostFileError {
    HostFileError::NotEditable { path: host_file.path().to_owned(), why }
}

/// Shows every change as a diff, on standard output.
async fn show(io: &Io, changes: &[Change]) {
    for change in changes.iter().filter(|change| change.is_one()) {
        let old = change.found.as_ref().map_or("", |(text, _)| text.as_str());
        let new = change.wanted.as_deref().unwrap_or_default();
        let name = |is_there: bool| if is_there { change.path.as_str() } else { "/dev/null" };
        let names = (name(change.found.is_some()), name(change.wanted.is_some()));
        io.result(printable(&diff::unified(names, old, new))).await;
    }
    io.note("Nothing was changed (`--dry-run`).").await;
}

async fn perform(io: &Io, change: &Change) -> Result<(), Failure> {
    if !change.is_one() {
        return Ok(());
    }
    let is_shared = matches!(change.host_file, HostFile::Shared(_) | HostFile::Server(_));
    let backup = format!("{}{BACKUP}", change.path);
    let Some(wanted) = &change.wanted else {
        io.remove(&change.path).await?;
        io.note(format!("removed  {}", one_line(&change.path))).await;
        return remove_own_folder(io, change).await;
    };
    let (verb, expect) = match &change.found {
        None => ("wrote   ", Expect::Absent),
        Some((_, version)) => ("changed ", Expect::Version(version.clone())),
    };
    if let Some((text, _)) = change.found.as_ref().filter(|_| is_shared) {
        // Only what is there before us is worth keeping.
        if change.host_file.removed(text).is_ok_and(|remains| remains.text == *text) {
            keep(io, &backup, text).await?;
        }
    }
    io.write(&change.path, wanted.clone().into_bytes(), expect, Durability::Durable).await?;
    io.note(format!("{verb} {}", one_line(&change.path))).await;
    match &change.host_file {
        HostFile::Own(file) if file.executable => make_executable(io, &change.path).await?,
        HostFile::Own(_) | HostFile::Shared(_) | HostFile::Server(_) => {}
    }
    // What was kept says nothing new once the file is as it was.
    let kept = io.read(&backup, limits::HOST_FILE_BYTES).await;
    if is_shared && kept.is_ok_and(|(bytes, _)| bytes == wanted.as_bytes()) {
        io.remove(&backup).await?;
    }
    Ok(())
}

/// Keeps what is there before its first change; a later one leaves that alone. Settings may hold
/// what only their owner may read, and a copy must not be readable by more people.
async fn keep(io: &Io, backup: &str, text: &str) -> Result<(), Failure> {
    let bytes = text.as_bytes().to_vec();
    match io.write_private(backup, bytes, Expect::Absent, Durability::Durable).await {
        Ok(_) => {
            io.note(format!("kept     {}", one_line(backup))).await;
            Ok(())
        }
        Err(failure) if failure.is_exists() => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// The folder that we made for a file, when nothing else is in it.
async fn remove_own_folder(io: &Io, change: &Change) -> Result<(), Failure> {
    let owns_folder = match &change.host_file {
        HostFile::Own(file) => file.owns_folder,
        HostFile::Shared(_) | HostFile::Server(_) => false,
    };
    let folder = change.path.rsplit_once('/').map(|(folder, _)| folder);
    if let Some(folder) = folder.filter(|_| owns_folder)
        && io.list(folder).await.is_ok_and(|names| names.is_empty())
    {
        io.remove(folder).await?;
    }
    Ok(())
}

async fn make_executable(io: &Io, path: &str) -> Result<(), Failure> {
    let words = ["chmod", "755", path].map(str::to_owned).to_vec();
    let end = io.process(quiet(Command::Argv(words), None)).await?;
    match end.status {
        ProcessStatus::Exited(0) => Ok(()),
        ProcessStatus::Interrupted => {
            Err(Failure::new(FailureKind::Interrupted, "interrupted".to_owned()))
        }
        ProcessStatus::Exited(_) | ProcessStatus::Signalled(_) | ProcessStatus::TimedOut => {
            let why = one_line(&end.stderr.text());
            Err(Failure::new(FailureKind::Other, format!("cannot make it executable: {why}")))
        }
    }
}
