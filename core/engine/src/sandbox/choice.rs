//! Whether what works for a run is confined: decided once in a program, put in force for each process,
//! and said in the ledger.

use std::fmt;

use crate::error::CommandError;
use crate::sandbox::confinement::{
    CacheUse, ConfineError, Confined, Temporary, fresh_folder, temporary_name,
};
use crate::sandbox::leftovers;
use crate::sandbox::network::{NetworkRequest, asks_for_names};
use crate::state::config;
use onloop_agents::confine::{GitFolder, Needs};
use onloop_effect::{
    Failure, FailureKind, Io, Mechanism, Network, ProcessSpec, ProcessStatus, Shell,
};
use onloop_run::{Run, SandboxStatus};
use onloop_sessions::handsoff::config::ConfineWhen;
use std::cell::Cell;

/// How the processes of a run are confined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandbox {
    /// Not at all.
    Off {
        /// Why, on one line.
        why: String,
        /// Whether a person wants it so, and need not be told.
        chosen: bool,
    },
    /// By this means, which has been tried; where it fails later, nothing is started.
    By {
        /// The means.
        mechanism: Mechanism,
        /// The folder around those for temporary files, of which each process has its own.
        temporary: String,
        /// Processes that were confined so far.
        count: Cell<u32>,
        /// Whether they find what others have cached.
        caches: CacheUse,
    },
}

/// What is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct SandboxRequest {
    /// `--confine`.
    pub(crate) flag: Option<ConfineWhen>,
    /// `confine: on` in the workflow file: it can ask for more, never for less.
    pub(crate) file: bool,
    /// Whether the workflow file has names in `network`.
    pub(crate) names: bool,
}

impl SandboxRequest {
    /// What it comes to, with what is configured for `folder`.
    pub(crate) async fn when(self, io: &Io, folder: &str) -> ConfineWhen {
        match (self.file, self.flag) {
            (true, _) => ConfineWhen::On,
            (false, Some(flag)) => flag,
            (false, None) => config::load(io, folder).await.config.confine,
        }
    }
}

impl fmt::Display for Sandbox {
    /// The name of the mechanism and what it leaves open, or why there is none.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sandbox::By { mechanism: mechanism @ Mechanism::Bubblewrap, .. } => {
                f.write_str(mechanism.as_str())
            }
            Sandbox::By { mechanism, .. } => {
                write!(f, "{}; no host is refused, which needs bubblewrap", mechanism.as_str())
            }
            Sandbox::Off { why, .. } => write!(f, "none ({why})"),
        }
    }
}

impl Sandbox {
    /// How programs of `folder` are confined. [`Sandbox::end`] removes their temporary files.
    ///
    /// # Errors
    ///
    /// It has to be done and cannot.
    pub(crate) async fn decide(
        io: &Io,
        folder: &str,
        wish: SandboxRequest,
    ) -> Result<Sandbox, CommandError> {
        let when = wish.when(io, folder).await;
        let off = |why: &str| Ok(Sandbox::Off { why: why.to_owned(), chosen: true });
        match (when, wish.flag) {
            (ConfineWhen::Off, Some(_)) => return off("`--confine off`"),
            (ConfineWhen::Off, None) => return off("`run.confine: off`"),
            (ConfineWhen::Auto | ConfineWhen::On, _) => {}
        }
        leftovers::sweep(io).await;
        let temporary = temporary_name(io);
        // Without a record the folder stays after a kill.
        let _ = leftovers::claim(io, &temporary, &[], &[]).await;
        let attempted = Sandbox::attempt(io, folder).await;
        if attempted.is_err() {
            leftovers::release(io, &temporary).await;
        }
        let why = match attempted {
            Ok(sandbox) => return sandbox.demand_names(io, folder, wish.names).await,
            Err(failure) if failure.is_interrupted() => return Err(CommandError::interrupted()),
            Err(failure) => onloop_syntax::text::one_line(&failure.message),
        };
        if when == ConfineWhen::Auto {
            return Ok(Sandbox::Off { why, chosen: false });
        }
        let who = match (wish.file, wish.flag) {
            (true, _) => "the workflow file says `confine: on`",
            (false, Some(_)) => "`--confine on`",
            (false, None) => "`run.confine: on`",
        };
        Err(CommandError::refused(format!("{who}, and this machine has no sandbox"))
            .because(why)
            .fix_by("see what this machine can do", "onloop doctor confine"))
    }

    /// How the programs of a run are confined that is driven step by step. Who drives it is not told
    /// at each step; the ledger says it.
    ///
    /// # Errors
    ///
    /// As `Sandbox::decide`.
    pub async fn of(io: &Io, run: &Run) -> Result<Sandbox, CommandError> {
        let file = run.settings.confine;
        let wish = SandboxRequest { flag: None, file, names: run_asks_for_names(run) };
        Sandbox::decide(io, &run.place.execution_root, wish).await
    }

    /// The sandbox, if it enforces the names that the workflow file or `run.network` asks for.
    async fn demand_names(
        self,
        io: &Io,
        folder: &str,
        by_file: bool,
    ) -> Result<Sandbox, CommandError> {
        if self.mechanism() == Some(Mechanism::Bubblewrap) {
            return Ok(self);
        }
        let configured = async || config::own(io, folder).await.network;
        let who = match by_file {
            true => "the workflow file",
            false if configured().await.is_some_and(|network| network.is_list()) => "`run.network`",
            false => return Ok(self),
        };
        self.end(io).await;
        let what = format!("{who} has names in `network`, and this machine has no bubblewrap");
        Err(CommandError::refused(what).fix_by(
            "install bubblewrap, and see what this machine can do",
            "onloop doctor confine",
        ))
    }

    /// The same, without the caches that other processes can have written, earlier ones with fresh
    /// caches included. It has the same temporary files, and ends with the first.
    pub(crate) async fn with_fresh_caches(&self, io: &Io) -> Sandbox {
        let mut sandbox = self.clone();
        if let Sandbox::By { caches, temporary, .. } = &mut sandbox {
            *caches = CacheUse::Fresh;
            // Mostly it is not there.
            let _ = io.remove(&fresh_folder(temporary)).await;
        }
        sandbox
    }

    /// What enforces it.
    pub fn mechanism(&self) -> Option<Mechanism> {
        match self {
            Sandbox::Off { .. } => None,
            Sandbox::By { mechanism, .. } => Some(*mechanism),
        }
    }

    /// The folder around those for temporary files of what is confined.
    pub(crate) fn temporary(&self) -> Option<&str> {
        match self {
            Sandbox::Off { .. } => None,
            Sandbox::By { temporary, .. } => Some(temporary),
        }
    }

    /// `spec` confined to the checkout around `folder`, and how it will have been. What it leaves
    /// outside of the checkout and the caches no later process finds.
    ///
    /// # Errors
    ///
    /// Nothing can be confined to that folder.
    pub(crate) async fn put_in_force(
        &self,
        io: &Io,
        folder: &str,
        spec: ProcessSpec,
        (network, needs): (NetworkRequest, &Needs),
        git_folder: GitFolder,
    ) -> Result<(ProcessSpec, SandboxStatus, Option<Confined>), Failure> {
        let (by, shared, count, caches) = match self {
            Sandbox::Off { why, .. } => {
                return Ok((spec, SandboxStatus::Unconfined { why: why.clone() }, None));
            }
            Sandbox::By { mechanism, temporary, count, caches } => {
                (*mechanism, temporary, count, *caches)
            }
        };
        count.set(count.get() + 1);
        let name = match caches {
            CacheUse::Shared => String::new(),
            CacheUse::Fresh => "fresh-".to_owned(),
        };
        let own = format!("{shared}/{name}{}", count.get());
        let temporary = Temporary { own: &own, shared, caches };
        let confined =
            Confined::prepare_in(io, (folder, None), temporary, (network, Some(by)), git_folder)
                .await;
        let mut confined = confined.map_err(failure_of)?;
        confined.add(io, needs);
        let (network, caches) = (confined.network.clone(), confined.caches.clone());
        let status = SandboxStatus::Confined { by, network, caches };
        Ok((confined.apply(io, spec), status, Some(confined)))
    }

    /// Confines a program that does nothing, to see whether it can be done.
    ///
    /// # Errors
    ///
    /// It cannot, and why.
    pub async fn attempt(io: &Io, folder: &str) -> Result<Sandbox, Failure> {
        let shared = temporary_name(io);
        let own = format!("{shared}/0");
        let temporary = Temporary { own: &own, shared: &shared, caches: CacheUse::Shared };
        let confined = Confined::prepare_in(
            io,
            (folder, None),
            temporary,
            (everything(), None),
            GitFolder::Shared,
        )
        .await;
        let confined = confined.map_err(failure_of)?;
        let spec = ProcessSpec::shell(Shell::Sh, ":").in_folder(folder);
        let ended = io.process(confined.apply(io, spec)).await;
        confined.remove(io).await;
        let why = match ended {
            Ok(end) => match (end.status, end.confined) {
                (ProcessStatus::Exited(0), Some(mechanism)) => {
                    return Ok(Sandbox::By {
                        mechanism,
                        temporary: shared,
                        count: Cell::new(0),
                        caches: CacheUse::Shared,
                    });
                }
                (ProcessStatus::Interrupted, _) => {
                    Failure::new(FailureKind::Interrupted, "interrupted")
                }
                (_, None) => Failure::new(FailureKind::Unsupported, "the host does not do it"),
                (_, Some(_)) => {
                    let said = end.stderr.text();
                    let why = format!("a program that does nothing failed: {}", said.trim());
                    Failure::new(FailureKind::Unsupported, why)
                }
            },
            Err(failure) => failure,
        };
        Err(why)
    }

    /// Whether a short program, confined like this, ends well.
    pub(crate) async fn succeeds(&self, io: &Io, folder: &str, spec: ProcessSpec) -> bool {
        let extent = (everything(), &Needs::default());
        let spec = spec.in_folder(folder);
        let ready = self.put_in_force(io, folder, spec, extent, GitFolder::Shared).await;
        let Ok((spec, _, confined)) = ready else { return false };
        let ended = io.process(spec).await;
        if let Some(confined) = confined {
            confined.remove(io).await;
        }
        ended.is_ok_and(|end| end.status == ProcessStatus::Exited(0))
    }

    /// Removes the temporary files.
    pub async fn end(self, io: &Io) {
        if let Sandbox::By { temporary, .. } = self {
            // They are in a folder that systems clear out.
            let _ = io.remove(&temporary).await;
            leftovers::release(io, &temporary).await;
        }
    }
}

/// The network of what is only tried.
fn everything() -> NetworkRequest {
    NetworkRequest::exactly(Network::All)
}

/// Whether the plan of a run has names in `network`.
pub(crate) fn run_asks_for_names(run: &Run) -> bool {
    asks_for_names(run.settings.network.as_ref(), run.steps.iter().map(|record| &record.step))
}

fn failure_of(error: ConfineError) -> Failure {
    match error {
        ConfineError::Failed(failure) => failure,
        error @ (ConfineError::Unsuitable(_) | ConfineError::Path { .. } | ConfineError::Names) => {
            Failure::new(FailureKind::Unsupported, error.to_string())
        }
    }
}
