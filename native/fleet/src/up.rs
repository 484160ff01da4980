//! `onloop fleet up`: the engine, the API server and a worker, started together and ended together.

mod args;
mod worker;

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};

use onloop_core::effect::Exit;
use onloop_core::text;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::watch;

pub(crate) use args::UpArgs;

use crate::cli::{refuse, say};
use crate::clone::REMOTE;
use crate::config::{self, ConfigError, FleetConfig};
use crate::engine::restate::{self, Options, Server, ServerEvent, find};
use crate::engine::{Archive, Settings};
use crate::key::Key;
use crate::private;
use crate::server as api;
use worker::{Worker, WorkerEvent};

/// Threads for everything: handlers and requests are short.
const THREADS: usize = 2;

pub(crate) fn up(args: &UpArgs) -> Exit {
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(THREADS).enable_all().build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return refuse(format!("cannot start threads: {error}")),
    };
    match runtime.block_on(run(args)) {
        Ok(exit) => exit,
        Err(why) => refuse(why),
    }
}

async fn run(args: &UpArgs) -> Result<Exit, String> {
    let home = config::folder().map_err(|error| error.to_string())?;
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let at = |path: &Option<PathBuf>, default: &str| match path {
        Some(path) => here.join(path),
        None => home.join(default),
    };
    let data = at(&args.data, "data");
    let cannot = |error: std::io::Error| format!("cannot use {}: {error}", data.display());
    private::create_folder(&data).map_err(cannot)?;
    let lock = private::lock(&data.join("server.lock")).map_err(cannot)?.ok_or_else(|| {
        format!(
            "another process runs the fleet of {}\n  fix: stop it first, or choose another folder with \
             `--data`",
            data.display()
        )
    })?;
    let program = find(args.server_program.as_deref(), &data).map_err(|error| error.to_string())?;
    // Not in the state home, which agents do not see.
    let repos = match (&args.repos, config::data_folder()) {
        (Some(repos), _) => here.join(repos),
        (None, Some(folder)) => folder,
        // Without a worker nothing is cloned.
        (None, None) if args.no_worker => data.clone(),
        (None, None) => return Err(
            "there is no folder for clones, because HOME is not set\n  fix: name one with --repos"
                .to_owned(),
        ),
    };
    let key_file = data.join("fleet.key");
    let key = Key::read_or_make(&key_file).map_err(|error| error.to_string())?;
    let guard = std::env::current_exe().map_err(|error| error.to_string())?;
    // Before anything is started: what comes too early would end us and not them.
    let mut ends = Ends::listen().map_err(|error| format!("cannot listen to signals: {error}"))?;

    let archive = Archive { folder: data.join("archive"), after: args.kept() };
    let settings = Settings { lease: args.lease, limits: args.limits(), archive: Some(archive) };
    let options = Options { program, guard: guard.clone(), folder: data.clone(), settings };
    let (engine, mut server) = tokio::select! {
        started = restate::start(options) => started.map_err(|error| error.to_string())?,
        () = ends.next() => return Ok(Exit::Interrupted),
    };
    let api = match api::Server::listen(args.listen, engine, key.clone()).await {
        Ok(api) => api,
        Err(error) => {
            server.stop().await;
            return Err(format!(
                "cannot listen at {}\n  cause: {error}\n  fix: choose another address with `--listen`",
                args.listen
            ));
        }
    };
    let address = api.address().map_err(|error| error.to_string())?;
    let url = format!("http://{}", reachable(address));
    let (end, ended) = watch::channel(false);
    let serving = tokio::spawn(api.serve(ended));
    let remembered = remember(&FleetConfig {
        url: url.clone(),
        key,
        key_file: key_file.clone(),
        authority: None,
    })?;
    let mut worker = (!args.no_worker).then(|| {
        Worker::start(worker::Plan {
            program: guard,
            url: url.clone(),
            key: key_file.clone(),
            repos: repos.clone(),
            data: data.clone(),
            allow: allowed(args, &here),
            name: args.name.clone(),
            slots: args.slots,
            log: data.join("worker.log"),
        })
    });
    say(introduction(&url, address, &data, worker.is_some().then_some(&repos), remembered));

    watch_over(&mut server, &mut worker, &mut ends).await;

    if let Some(worker) = worker.take() {
        say("Stopping: the worker returns its runs. Ctrl-C again stops at once.");
        tokio::select! {
            () = worker.stop() => {}
            () = ends.next() => say("Stopped without waiting for the worker."),
        }
    }
    end.send_replace(true);
    tokio::select! {
        _ = serving => {}
        () = ends.next() => {}
    }
    server.stop().await;
    drop(lock);
    say("Stopped. `onloop fleet up` continues with everything that is stored.");
    Ok(Exit::Done)
}

/// The repositories that the worker may work on: those that are named, else that of the checkout here.
fn allowed(args: &UpArgs, here: &Path) -> Vec<String> {
    match args.allow.is_empty() {
        false => args.allow.clone(),
        true => crate::git::git(here, &["remote", "get-url", REMOTE]).into_iter().collect(),
    }
}

/// Prints what happens until a person stops the fleet.
async fn watch_over(server: &mut Server, worker: &mut Option<Worker>, ends: &mut Ends) {
    loop {
        tokio::select! {
            () = ends.next() => return,
            event = server.event() => match event {
                ServerEvent::Ended(why) => {
                    let log = server.log().display().to_string();
                    say(format!("The engine has ended ({why}); restarting it. Log: {log}"));
                }
                ServerEvent::Back => say("The engine is back. Nothing is lost."),
            },
            event = worker_event(worker) => match event {
                WorkerEvent::Ended { why, log } => {
                    say(format!(
                        "The worker has ended ({why}); restarting it. Log: {}",
                        log.display()
                    ));
                }
            },
        }
    }
}

async fn worker_event(worker: &mut Option<Worker>) -> WorkerEvent {
    match worker {
        Some(worker) => worker.event().await,
        None => std::future::pending().await,
    }
}

/// Where this machine reaches a server that listens at `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        _ => address,
    }
}

/// Makes the fleet the one of this machine, unless it belongs to another one; whose server that has.
fn remember(fleet: &FleetConfig) -> Result<Option<String>, String> {
    match FleetConfig::server() {
        Ok(other) if other != fleet.url && !is_here(&other) => return Ok(Some(other)),
        // What was known was this machine, or nothing that is of any use.
        Ok(_) | Err(ConfigError::NoServer | ConfigError::Server { .. }) => {}
        Err(error) => return Err(error.to_string()),
    }
    fleet.remember().map_err(|error| error.to_string())?;
    Ok(None)
}

fn is_here(url: &str) -> bool {
    url.starts_with("http://127.0.0.1:") || url.starts_with("http://[::1]:")
}

fn introduction(
    url: &str,
    address: SocketAddr,
    data: &Path,
    repos: Option<&PathBuf>,
    other: Option<String>,
) -> String {
    let mut lines = vec![
        format!("The fleet is up at {url}."),
        format!("  data    {}", data.display()),
        format!("  key     {}", data.join("fleet.key").display()),
    ];
    if let Some(repos) = repos {
        lines.push(format!("  clones  {}", repos.display()));
    }
    lines.push(String::new());
    match other {
        None => lines.extend([
            "Submit a run:     onloop run FILE --on fleet".to_owned(),
            "Show all runs:    onloop fleet status".to_owned(),
        ]),
        Some(other) => lines.push(format!(
            "The commands of this machine use {}.\nFor this fleet, set ONLOOP_FLEET_SERVER={url} \
             and ONLOOP_FLEET_KEY_FILE={}",
            text::one_line(&other),
            data.join("fleet.key").display()
        )),
    }
    if !address.ip().is_loopback() {
        lines.push(
            "warning: other machines can reach this address without encryption, and each request carries the \
             key\n  fix: listen on 127.0.0.1, behind a proxy with TLS"
                .to_owned(),
        );
    }
    lines.push("Stop:             Ctrl-C".to_owned());
    lines.join("\n")
}

/// What asks this program to end.
struct Ends {
    interrupt: Signal,
    terminate: Signal,
    hang_up: Signal,
}

impl Ends {
    fn listen() -> std::io::Result<Ends> {
        Ok(Ends {
            interrupt: signal(SignalKind::interrupt())?,
            terminate: signal(SignalKind::terminate())?,
            hang_up: signal(SignalKind::hangup())?,
        })
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
            _ = self.hang_up.recv() => {}
        }
    }
}
