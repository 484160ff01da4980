//! `onloop fleet up`: the engine, the API server and a worker, started together and ended together.

mod args;
mod worker;

use std::fs::File;
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
use crate::engine::restate::{self, Options, Server, find};
use crate::engine::{Archive, Settings};
use crate::key::Key;
use crate::private;
use crate::server as api;
use crate::supervisor::{ProcessEvent, Supervisor};
use worker::WorkerOptions;

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
    let setup = Setup::new(args)?;
    let lock = setup.lock()?;
    // A signal that comes before this ends nothing but this process.
    let mut ends = Ends::listen().map_err(|error| format!("cannot listen to signals: {error}"))?;
    let (engine, mut server) = tokio::select! {
        started = restate::start(setup.engine(args)) => started.map_err(|error| error.to_string())?,
        () = ends.next() => return Ok(Exit::Interrupted),
    };
    let api = match api::Server::listen(args.listen, engine, setup.key.clone()).await {
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
    let other = remember(&setup.config(&url))?;
    let worker_log = setup.data.join("worker.log");
    let worker = (!args.no_worker).then(|| setup.start_worker(args, &url, &worker_log));
    let mut worker = worker.transpose()?;
    let repos = worker.is_some().then_some(&setup.repos);
    say(introduction(&url, address, &setup.data, repos, other));

    print_events(&mut server, &mut worker, &worker_log, &mut ends).await;

    if let Some(worker) = worker {
        stop_worker(worker, &mut ends).await;
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

/// The folders, the key and the programs of the fleet on this machine.
struct Setup {
    /// The current folder.
    here: PathBuf,
    data: PathBuf,
    /// Folder for clones.
    repos: PathBuf,
    key: Key,
    key_file: PathBuf,
    /// This program.
    program: PathBuf,
    /// The program of the engine.
    server_program: PathBuf,
}

impl Setup {
    fn new(args: &UpArgs) -> Result<Setup, String> {
        let here = std::env::current_dir().map_err(|error| error.to_string())?;
        let data = match &args.data {
            Some(data) => here.join(data),
            None => config::folder().map_err(|error| error.to_string())?.join("data"),
        };
        private::create_folder(&data).map_err(|error| unusable(&data, &error))?;
        let server_program = find(args.server_program.as_deref(), &data);
        let server_program = server_program.map_err(|error| error.to_string())?;
        // Agents cannot see the state home, so the clones are outside of it.
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
        let program = std::env::current_exe().map_err(|error| error.to_string())?;
        Ok(Setup { here, data, repos, key, key_file, program, server_program })
    }

    fn lock(&self) -> Result<File, String> {
        let lock = private::lock(&self.data.join("server.lock"));
        lock.map_err(|error| unusable(&self.data, &error))?.ok_or_else(|| {
            format!(
                "another process runs the fleet of {}\n  fix: stop it first, or choose another folder with \
                 `--data`",
                self.data.display()
            )
        })
    }

    fn engine(&self, args: &UpArgs) -> Options {
        let archive = Archive { folder: self.data.join("archive"), after: args.kept() };
        Options {
            program: self.server_program.clone(),
            guard: self.program.clone(),
            folder: self.data.clone(),
            settings: Settings { lease: args.lease, limits: args.limits(), archive: Some(archive) },
        }
    }

    fn config(&self, url: &str) -> FleetConfig {
        FleetConfig {
            url: url.to_owned(),
            key: self.key.clone(),
            key_file: self.key_file.clone(),
            authority: None,
        }
    }

    fn start_worker(&self, args: &UpArgs, url: &str, log: &Path) -> Result<Supervisor, String> {
        let started = worker::start(WorkerOptions {
            program: self.program.clone(),
            url: url.to_owned(),
            key: self.key_file.clone(),
            repos: self.repos.clone(),
            data: self.data.clone(),
            allow: allowed(args, &self.here),
            name: args.name.clone(),
            slots: args.slots,
            log: log.to_owned(),
        });
        started.map_err(|error| format!("cannot start a worker: {error}"))
    }
}

fn unusable(folder: &Path, error: &std::io::Error) -> String {
    format!("cannot use {}: {error}", folder.display())
}

/// Returns the repositories that the worker accepts: those of `--allow`, else that of the checkout here.
fn allowed(args: &UpArgs, here: &Path) -> Vec<String> {
    match args.allow.is_empty() {
        false => args.allow.clone(),
        true => crate::git::git(here, &["remote", "get-url", REMOTE]).into_iter().collect(),
    }
}

async fn stop_worker(mut worker: Supervisor, ends: &mut Ends) {
    say("Stopping: the worker returns its runs. Ctrl-C again stops at once.");
    let is_stopped = tokio::select! {
        () = worker.stop() => true,
        () = ends.next() => false,
    };
    if !is_stopped {
        worker.kill();
        say("Stopped without waiting for the worker.");
    }
}

/// Prints the events of the processes until a person stops the fleet.
async fn print_events(
    server: &mut Server,
    worker: &mut Option<Supervisor>,
    worker_log: &Path,
    ends: &mut Ends,
) {
    loop {
        tokio::select! {
            () = ends.next() => return,
            event = server.event() => match event {
                ProcessEvent::Ended(why) => {
                    let log = server.log().display();
                    say(format!("The engine has ended ({why}); restarting it. Log: {log}"));
                }
                ProcessEvent::Restarted => say("The engine is back. Nothing is lost."),
            },
            event = event_of(worker) => if let ProcessEvent::Ended(why) = event {
                let log = worker_log.display();
                say(format!("The worker has ended ({why}); restarting it. Log: {log}"));
            },
        }
    }
}

async fn event_of(worker: &mut Option<Supervisor>) -> ProcessEvent {
    match worker {
        Some(worker) => worker.event().await,
        None => std::future::pending().await,
    }
}

/// Returns the address at which this machine reaches a server that listens at `address`.
fn reachable(address: SocketAddr) -> SocketAddr {
    match address.ip() {
        ip if ip.is_unspecified() => {
            SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), address.port())
        }
        _ => address,
    }
}

/// Makes this the machine's fleet. If the machine uses the fleet of another machine, it keeps that one and
/// returns its address.
fn remember(fleet: &FleetConfig) -> Result<Option<String>, String> {
    match FleetConfig::server() {
        Ok(other) if other != fleet.url && !is_here(&other) => return Ok(Some(other)),
        // The configuration names this machine, or nothing usable.
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

/// The signals that end this program.
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
