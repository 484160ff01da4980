//! Namespaces, set up by `bwrap`.
//!
//! `bwrap` starts without an environment and reads everything but the command from a descriptor. So
//! the confined program's environment can neither change `bwrap`, as `LD_PRELOAD` would, nor appear
//! in the process list.

mod credentials;
mod remembered;

use std::ffi::{OsStr, OsString};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};
use std::process::{Command as OsCommand, Stdio};
use std::sync::OnceLock;

use onloop_core::effect::{Confinement, Failure, Network, PrivateGit, Reach};
use rustix::fs::{Access, MemfdFlags, access, memfd_create};
use rustix::process::geteuid;

use remembered::Remembered;

use super::paths::ConfinedPaths;
use super::private_git::{Contents, GitFile, Shown};
use super::{impossible, private_git};
use crate::host::egress::Entry;
use crate::host::failure;

/// Folders that programs use for temporary files; their content is lost with the program.
const SCRATCH: [&str; 2] = ["/tmp", "/var/tmp"];

/// The `bwrap` of this machine.
#[derive(Debug)]
pub(super) struct Bubblewrap {
    path: PathBuf,
    /// Whether a folder can be made with a mode (`--perms`, since 0.5). A mount for itself that is
    /// made read-only afterwards takes the program ten times as long.
    makes_modes: bool,
}

/// Returns `bwrap` if it is installed and works. It is tried once, and again when `bwrap` or the
/// kernel has changed.
pub(super) fn usable() -> Result<&'static Bubblewrap, String> {
    static TRIED: OnceLock<Result<Bubblewrap, String>> = OnceLock::new();
    TRIED.get_or_init(attempt).as_ref().map_err(Clone::clone)
}

fn attempt() -> Result<Bubblewrap, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let program = std::env::split_paths(&path)
        .filter(|folder| folder.is_absolute())
        .map(|folder| folder.join("bwrap"))
        .find(|program| program.is_file())
        .ok_or("`bwrap` is not installed")?;
    let remembered = Remembered::of(&program);
    if let Some(makes_modes) = remembered.as_ref().and_then(Remembered::recall) {
        return Ok(Bubblewrap { path: program, makes_modes });
    }
    let makes_modes = works(&program, &["--perms", "0555", "--tmpfs", "/tmp"]).is_ok();
    if !makes_modes {
        works(&program, &[])?;
    }
    if let Some(remembered) = remembered {
        remembered.keep(makes_modes);
    }
    Ok(Bubblewrap { path: program, makes_modes })
}

fn works(program: &Path, more: &[&str]) -> Result<(), String> {
    let mut command = OsCommand::new(program);
    command.args(NAMESPACES).args(["--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"]);
    // The trial runs `bwrap` itself, the only program that is certainly there.
    command.args(more).args(["--", "/proc/self/exe", "--version"]);
    let output = command.env_clear().stdin(Stdio::null()).output();
    let output = output.map_err(|error| format!("`bwrap`: {}", failure::reason(&error)))?;
    let said = String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(()) } else { Err(last_line(&said)) }
}

fn last_line(said: &str) -> String {
    let line = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("`bwrap` failed");
    onloop_core::text::ellipsis(&onloop_core::text::one_line(line), 200)
}

const NAMESPACES: [&str; 7] = [
    "--unshare-user",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--die-with-parent",
    "--cap-drop",
    "ALL",
];

/// A command in `bwrap`.
pub(super) struct Wrapped {
    pub(super) command: OsCommand,
    /// Descriptors of `bwrap` in addition to its three streams.
    pub(super) inherited: Vec<OwnedFd>,
    pub(super) status: Status,
}

/// The status output of `bwrap`.
pub(super) struct Status(std::io::PipeReader);

impl Status {
    /// Is at its end when `bwrap` has ended.
    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }

    /// Whether the confined program was started. Call it after `bwrap` has ended.
    pub(super) fn was_started(mut self) -> bool {
        let mut said = String::new();
        // No other process has the other end.
        self.0.read_to_string(&mut said).is_ok() && said.contains("\"exit-code\"")
    }
}

/// What a confined program is made of, besides its confinement.
pub(super) struct Parts<'p> {
    pub(super) paths: &'p ConfinedPaths,
    /// What a private git folder in memory begins with.
    pub(super) contents: Option<Contents>,
    /// Sockets outside.
    pub(super) sockets: &'p [PathBuf],
    /// What starts before it.
    pub(super) entry: Option<Entry>,
}

/// Returns a command that runs `command` in `bwrap`.
pub(super) fn wrap(
    bubblewrap: &Bubblewrap,
    command: &OsCommand,
    confinement: &Confinement,
    parts: Parts<'_>,
) -> Result<Wrapped, Failure> {
    let Parts { paths, contents, sockets, entry } = parts;
    let failed = |error: std::io::Error| impossible(failure::reason(&error));
    let (status, said) = std::io::pipe().map_err(failed)?;
    let said = OwnedFd::from(said);
    let mut words: Vec<OsString> = NAMESPACES.iter().map(OsString::from).collect();
    words.push("--json-status-fd".into());
    words.push(said.as_raw_fd().to_string().into());
    if confinement.network != Network::All {
        words.push("--unshare-net".into());
    }
    mounts(bubblewrap, paths, sockets, &mut words);
    let mut inherited = Vec::new();
    if let Some(git) = &confinement.git {
        inherited = private_folder(git, contents, &mut words).map_err(failed)?;
    }
    for (path, text) in credentials::clean_configurations(confinement) {
        let file = in_memory(text.as_bytes()).map_err(failed)?;
        words.extend(["--ro-bind-data".into(), file.as_raw_fd().to_string().into(), path.into()]);
        inherited.push(file);
    }
    if let Some(folder) = command.get_current_dir() {
        words.push("--chdir".into());
        words.push(folder.into());
    }
    for (name, value) in environment(command) {
        words.extend(["--setenv".into(), name, value]);
    }
    let list = arguments(&words).map_err(failed)?;
    let mut wrapped = OsCommand::new(&bubblewrap.path);
    wrapped.env_clear().arg("--args").arg(list.as_raw_fd().to_string()).arg("--");
    if let Some(Entry { words, inherited: needed }) = entry {
        wrapped.args(words);
        inherited.extend(needed);
    }
    wrapped.arg(command.get_program()).args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        wrapped.current_dir(folder);
    }
    inherited.extend([list, said]);
    Ok(Wrapped { command: wrapped, inherited, status: Status(status) })
}

/// Returns the environment of the program.
fn environment(command: &OsCommand) -> Vec<(OsString, OsString)> {
    let mut all: std::collections::BTreeMap<OsString, OsString> = std::env::vars_os().collect();
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => all.insert(name.to_owned(), value.to_owned()),
            None => all.remove(name),
        };
    }
    all.into_iter().collect()
}

/// A file with arguments, each terminated by NUL.
fn arguments(words: &[OsString]) -> std::io::Result<OwnedFd> {
    let mut bytes = Vec::new();
    for word in words {
        bytes.extend(word.as_bytes());
        bytes.push(0);
    }
    in_memory(&bytes)
}

/// A file without a name, at its start.
fn in_memory(bytes: &[u8]) -> std::io::Result<OwnedFd> {
    let mut file = std::fs::File::from(memfd_create("onloop", MemfdFlags::CLOEXEC)?);
    file.write_all(bytes)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(file.into())
}

/// Writes the mounts. For each one but a `--tmpfs`, `bwrap` reads the list of all mounts, which
/// takes most of its time.
fn mounts(
    bubblewrap: &Bubblewrap,
    paths: &ConfinedPaths,
    sockets: &[PathBuf],
    words: &mut Vec<OsString>,
) {
    let mut add = |option: &str, paths: &[&OsStr]| {
        words.push(option.into());
        words.extend(paths.iter().map(|path| path.to_os_string()));
    };
    let null = OsStr::new("/dev/null");
    add("--ro-bind", &[OsStr::new("/"), OsStr::new("/")]);
    add("--dev", &[OsStr::new("/dev")]);
    add("--proc", &[OsStr::new("/proc")]);
    if may_set_the_kernel() {
        // `bwrap` protects the rest of `/proc` from root.
        let settings = OsStr::new("/proc/sys");
        add("--ro-bind-try", &[settings, settings]);
    }
    let mut emptied = Vec::new();
    for rule in &paths.there {
        let path = rule.path.as_os_str();
        match rule.reach {
            Reach::Write => add("--bind", &[path, path]),
            Reach::Read | Reach::Others => add("--ro-bind", &[path, path]),
            Reach::Scratch => add("--tmpfs", &[path]),
            Reach::Hidden if rule.is_folder => {
                let is_scratch = SCRATCH.iter().any(|scratch| rule.path == Path::new(scratch));
                if bubblewrap.makes_modes && !is_scratch {
                    add("--perms", &[OsStr::new("0555")]);
                }
                add("--tmpfs", &[path]);
                if !bubblewrap.makes_modes && !is_scratch {
                    emptied.push(path);
                }
            }
            // A device cannot be opened there, like a file without permissions.
            Reach::Hidden => add("--ro-bind", &[null, path]),
        }
    }
    for (link, target) in &paths.links {
        add("--symlink", &[target.as_os_str(), link.as_os_str()]);
    }
    for socket in sockets {
        if paths.around(socket) == Reach::Read {
            add("--ro-bind", &[null, socket.as_os_str()]);
        }
    }
    // This comes last, because mounts inside them needed mount points.
    emptied.into_iter().for_each(|path| add("--remount-ro", &[path]));
}

/// Shows the private git folder in the place of the real one, over every earlier mount.
/// One in memory begins with `contents`, which `bwrap` reads from the returned descriptors.
fn private_folder(
    git: &PrivateGit,
    contents: Option<Contents>,
    words: &mut Vec<OsString>,
) -> std::io::Result<Vec<OwnedFd>> {
    let (common, mut inherited) = (Path::new(&git.common), Vec::new());
    match &git.folder {
        Some(folder) => words.extend(["--bind".into(), folder.into(), common.into()]),
        None => words.extend(["--tmpfs".into(), common.into()]),
    }
    if let Some(Contents { folders, files }) = contents {
        for folder in folders {
            words.extend(["--dir".into(), common.join(folder).into()]);
        }
        for GitFile { path, bytes, .. } in files {
            let file = in_memory(&bytes)?;
            let number = file.as_raw_fd().to_string();
            words.extend(["--file".into(), number.into(), common.join(path).into()]);
            inherited.push(file);
        }
    }
    for Shown { real, at, is_writable } in private_git::shown(git) {
        let option = if is_writable { "--bind" } else { "--ro-bind" };
        words.extend([option.into(), real.into(), at.into()]);
    }
    Ok(inherited)
}

/// Whether this user, or one that the namespace maps, is root and could write kernel settings.
fn may_set_the_kernel() -> bool {
    let setting = "/proc/sys/kernel/core_pattern";
    geteuid().is_root() || access(setting, Access::WRITE_OK).is_ok()
}

/// Searches the program like a shell, so that a missing program fails as usual.
pub(super) fn is_there(command: &OsCommand) -> bool {
    let program = command.get_program();
    if program.as_bytes().contains(&b'/') {
        let folder = command.get_current_dir().unwrap_or(Path::new("."));
        return folder.join(program).exists();
    }
    let path = environment(command).into_iter().find(|(name, _)| name == "PATH");
    let path = path.map_or_else(|| OsString::from_vec(b"/bin:/usr/bin".to_vec()), |(_, path)| path);
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
