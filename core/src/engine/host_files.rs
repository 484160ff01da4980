//! The machine's side of an agent host: which one is meant, where its files are, what they hold.

use crate::effect::{Command, Failure, FileKind, Io, OptionalExt, ProcessSpec, Version};
use crate::engine::{checkout, config};
use crate::hooks::Host;
use crate::install::{Scope, Setting, Waits, user_folder};
use crate::limits;
use crate::text::{ellipsis, one_line};

/// The host of that name; says so where there is none.
pub(crate) async fn known(io: &Io, word: &str) -> Option<Host> {
    let host = Host::from_word(word);
    if host.is_none() {
        let words: Vec<&str> = Host::ALL.iter().map(|host| host.word()).collect();
        let word = ellipsis(&one_line(word), 64);
        let words = words.join(", ");
        io.note(format!("error: `{word}` is not a known host; expected one of {words}")).await;
    }
    host
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

/// What is at a path, and the path behind symbolic links.
pub(crate) async fn look(
    io: &Io,
    path: &str,
) -> Result<(String, Option<(String, Version)>), String> {
    let problem = |failure: Failure| format!("`{path}`: {failure}");
    let is_link = io.stat(path).await.is_ok_and(|stat| stat.kind == FileKind::Link);
    // A link is how people keep their settings elsewhere; it stays one.
    let target = if is_link { io.canonical(path).await.map_err(problem)? } else { path.to_owned() };
    let found = io.read(&target, limits::HOST_FILE_BYTES).await.optional().map_err(problem)?;
    let Some((bytes, version)) = found else { return Ok((target, None)) };
    match String::from_utf8(bytes) {
        Ok(text) => Ok((target, Some((text, version)))),
        Err(_) => Err(format!("`{path}` is not UTF-8")),
    }
}

/// A short program that nobody watches.
pub(crate) fn quiet(command: Command, stdin: Option<Vec<u8>>) -> ProcessSpec {
    ProcessSpec {
        command,
        cwd: ".".to_owned(),
        env_remove: Vec::new(),
        env_set: Vec::new(),
        stdin,
        timeout_ms: Some(limits::CANARY_TIMEOUT_MS),
        capture_bytes: limits::CAPTURE_BYTES,
        stream_to: None,
        label: None,
        interactive: false,
        wake_after_ms: None,
        wake_on_input: false,
    }
}
