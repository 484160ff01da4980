//! `onloop install` and `onloop uninstall`: what [`crate::install`] describes, on disk.
//!
//! Everything is decided before anything is written: a file that cannot be edited leaves all
//! of them as they are.

use crate::effect::{
    Command, Durability, Exit, Expect, Failure, FailureKind, FileKind, Io, ProcessSpec,
    ProcessStatus, Version,
};
use crate::engine::{checkout, config};
use crate::hooks::Host;
use crate::install::{Piece, Scope, Setting, Waits, advice, diff, pieces, user_folder};
use crate::limits;
use crate::text::{ellipsis, one_line, printable};

/// Arguments of `onloop install` and `onloop uninstall`.
#[derive(Clone, Debug, Default)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct InstallArgs {
    /// claude, codex, cursor, vscode, opencode, cline or copilot
    #[cfg_attr(feature = "cli", arg(value_name = "HOST"))]
    pub host: String,
    /// All sessions of this user, or those in this project
    #[cfg_attr(feature = "cli", arg(long, value_enum))]
    pub scope: Option<ScopeWord>,
    /// Show what would change, as a diff, and change nothing
    #[cfg_attr(feature = "cli", arg(long))]
    pub dry_run: bool,
}

/// [`Scope`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
pub enum ScopeWord {
    /// All sessions of this user.
    User,
    /// Sessions in this project.
    Project,
}

impl ScopeWord {
    fn scope(self) -> Scope {
        match self {
            ScopeWord::User => Scope::User,
            ScopeWord::Project => Scope::Project,
        }
    }
}

/// What is kept of a file before its first change.
pub(crate) const BACKUP: &str = ".onloop-backup";

/// `onloop install`.
pub async fn install(io: &Io, args: &InstallArgs) -> Exit {
    let Some(host) = known(io, &args.host).await else { return Exit::Usage };
    let scope = args.scope.map_or(Scope::usual(host), ScopeWord::scope);
    let setting = match setting(io, host, scope).await {
        Ok(setting) => setting,
        Err(why) => return refuse(io, &[why], Exit::Refused).await,
    };
    let mut changes = Vec::new();
    let mut refusals = Vec::new();
    for piece in pieces(host, &setting) {
        match install_change(io, piece).await {
            Ok(change) => changes.push(change),
            Err(why) => refusals.push(why),
        }
    }
    if !refusals.is_empty() {
        refusals.push("nothing was changed".to_owned());
        return refuse(io, &refusals, Exit::Usage).await;
    }
    let changed = changes.iter().filter(|change| change.is_one()).count();
    if args.dry_run {
        return show(io, &changes).await;
    }
    for change in &changes {
        if let Err(failure) = perform(io, change).await {
            let why = format!("`{}`: {failure}", change.piece.path());
            return refuse(io, &[why], Exit::Refused).await;
        }
    }
    let name = host.title();
    if changed == 0 {
        io.note(format!("onloop is installed in {name} already; nothing was changed.")).await;
    } else {
        io.note(format!("onloop is installed in {name} ({} scope).", scope.word())).await;
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
    io.note(format!("  `onloop doctor {}` tries each hook.", host.word())).await;
    Exit::Done
}

/// `onloop uninstall`.
pub async fn uninstall(io: &Io, args: &InstallArgs) -> Exit {
    let Some(host) = known(io, &args.host).await else { return Exit::Usage };
    let scopes = args.scope.map_or(Scope::ALL.to_vec(), |scope| vec![scope.scope()]);
    let (mut changes, mut refusals) = (Vec::new(), Vec::new());
    for scope in scopes {
        let setting = match setting(io, host, scope).await {
            Ok(setting) => setting,
            Err(why) => return refuse(io, &[why], Exit::Refused).await,
        };
        for piece in pieces(host, &setting) {
            match uninstall_change(io, piece).await {
                Ok(change) => changes.push(change),
                Err(why) => refusals.push(why),
            }
        }
    }
    if !refusals.is_empty() {
        refusals.push("nothing was changed".to_owned());
        return refuse(io, &refusals, Exit::Usage).await;
    }
    if args.dry_run {
        return show(io, &changes).await;
    }
    for change in &changes {
        if let Err(failure) = perform(io, change).await {
            let why = format!("`{}`: {failure}", change.piece.path());
            return refuse(io, &[why], Exit::Refused).await;
        }
    }
    let name = host.title();
    if changes.iter().any(Change::is_one) {
        io.note(format!("onloop is no longer in {name}.")).await;
    } else {
        io.note(format!("onloop is not in {name}; nothing was changed.")).await;
    }
    Exit::Done
}

/// The host of that name; says so where there is none.
pub(crate) async fn known(io: &Io, word: &str) -> Option<Host> {
    let host = Host::from_word(word);
    if host.is_none() {
        let words: Vec<&str> = Host::ALL.iter().map(|host| host.word()).collect();
        let word = ellipsis(&one_line(word), 64);
        let words = words.join(", ");
        io.note(format!("error: `{word}` is no host; expected one of {words}")).await;
    }
    host
}

async fn refuse(io: &Io, why: &[String], exit: Exit) -> Exit {
    for why in why {
        io.note(format!("error: {}", printable(why))).await;
    }
    exit
}

/// Where things are on this machine.
pub(crate) async fn setting(io: &Io, host: Host, scope: Scope) -> Result<Setting, String> {
    let program = io.start().program.clone();
    if program.is_empty() {
        return Err("this host of onloop cannot be started by others, so no hook can".to_owned());
    }
    let home = io.env("HOME").or_else(|| io.env("USERPROFILE"));
    let Some(home) = home.map(|home| home.trim_end_matches('/').to_owned()) else {
        return Err("`HOME` is not set, so nobody knows where your settings are".to_owned());
    };
    let cwd = io.start().cwd.clone();
    let project = checkout::find(io, &cwd).await.map_or(cwd, |checkout| checkout.root);
    let configured = match scope {
        Scope::User => &home,
        Scope::Project => &project,
    };
    let waits = Waits::of(&config::load(io, configured).await.config);
    let user_folder = user_folder(host, &home, |name| io.env(name));
    Ok(Setting { program, scope, home, project, user_folder, waits })
}

/// What is to become of one file.
struct Change {
    piece: Piece,
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

async fn install_change(io: &Io, piece: Piece) -> Result<Change, String> {
    let (path, found) = look(io, piece.path()).await?;
    let text = found.as_ref().map(|(text, _)| text.as_str());
    let wanted = piece.installed(text).map_err(|why| format!("`{}`: {why}", piece.path()))?;
    Ok(Change { piece, path, found, wanted: Some(wanted) })
}

async fn uninstall_change(io: &Io, piece: Piece) -> Result<Change, String> {
    let (path, found) = look(io, piece.path()).await?;
    let Some((text, _)) = &found else {
        return Ok(Change { piece, path, found, wanted: None });
    };
    let remains = piece.removed(text).map_err(|why| format!("`{}`: {why}", piece.path()))?;
    // A file that was there before us stays, whatever is in it.
    let was_there = match &piece {
        Piece::Shared(_) | Piece::Server(_) => io.stat(&format!("{path}{BACKUP}")).await.is_ok(),
        Piece::Own(_) => false,
    };
    let stays = was_there || !remains.is_nothing;
    Ok(Change { piece, path, found, wanted: stays.then_some(remains.text) })
}

/// What is at a path, and the path behind symbolic links.
pub(crate) async fn look(
    io: &Io,
    path: &str,
) -> Result<(String, Option<(String, Version)>), String> {
    let problem = |failure: Failure| format!("`{path}`: {failure}");
    let is_link = io.stat(path).await.is_ok_and(|stat| stat.kind == FileKind::Link);
    // A link is how people keep their settings elsewhere; it stays one.
    let target = if is_link { io.canonical(path).await.map_err(problem)? } else { path.to_owned() };
    match io.read(&target, limits::HOST_FILE_BYTES).await {
        Ok((bytes, version)) => match String::from_utf8(bytes) {
            Ok(text) => Ok((target, Some((text, version)))),
            Err(_) => Err(format!("`{path}` is not UTF-8")),
        },
        Err(failure) if failure.kind == FailureKind::NotFound => Ok((target, None)),
        Err(failure) => Err(problem(failure)),
    }
}

/// Shows every change as a diff, on standard output.
async fn show(io: &Io, changes: &[Change]) -> Exit {
    for change in changes.iter().filter(|change| change.is_one()) {
        let old = change.found.as_ref().map_or("", |(text, _)| text.as_str());
        let new = change.wanted.as_deref().unwrap_or_default();
        let name = |is_there: bool| if is_there { change.path.as_str() } else { "/dev/null" };
        let names = (name(change.found.is_some()), name(change.wanted.is_some()));
        io.result(printable(&diff::unified(names, old, new))).await;
    }
    io.note("Nothing was changed (`--dry-run`).").await;
    Exit::Done
}

async fn perform(io: &Io, change: &Change) -> Result<(), Failure> {
    if !change.is_one() {
        return Ok(());
    }
    let is_shared = matches!(change.piece, Piece::Shared(_) | Piece::Server(_));
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
        if change.piece.removed(text).is_ok_and(|remains| remains.text == *text) {
            keep(io, &backup, text).await?;
        }
    }
    io.write(&change.path, wanted.clone().into_bytes(), expect, Durability::Durable).await?;
    io.note(format!("{verb} {}", one_line(&change.path))).await;
    match &change.piece {
        Piece::Own(file) if file.executable => make_executable(io, &change.path).await?,
        Piece::Own(_) | Piece::Shared(_) | Piece::Server(_) => {}
    }
    // What was kept says nothing new once the file is as it was.
    let kept = io.read(&backup, limits::HOST_FILE_BYTES).await;
    if is_shared && kept.is_ok_and(|(bytes, _)| bytes == wanted.as_bytes()) {
        io.remove(&backup).await?;
    }
    Ok(())
}

/// Keeps what is there before its first change; a later one leaves that alone.
async fn keep(io: &Io, backup: &str, text: &str) -> Result<(), Failure> {
    let bytes = text.as_bytes().to_vec();
    match io.write(backup, bytes, Expect::Absent, Durability::Durable).await {
        Ok(_) => {
            io.note(format!("kept     {}", one_line(backup))).await;
            Ok(())
        }
        Err(failure) if failure.kind == FailureKind::Exists => Ok(()),
        Err(failure) => Err(failure),
    }
}

/// The folder that we made for a file, when nothing else is in it.
async fn remove_own_folder(io: &Io, change: &Change) -> Result<(), Failure> {
    let owns_folder = match &change.piece {
        Piece::Own(file) => file.owns_folder,
        Piece::Shared(_) | Piece::Server(_) => false,
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

/// A short program that nobody watches.
pub(crate) fn quiet(command: Command, stdin: Option<Vec<u8>>) -> ProcessSpec {
    ProcessSpec { stdin: stdin.map(Into::into), ..ProcessSpec::new(command) }
        .timeout_ms(limits::CANARY_TIMEOUT_MS)
}
