//! Process requests: to the end, with an announcement first, or line by line.

use super::{Io, Redaction, SearchPath, answer, unexpected};
use crate::request::*;
use crate::{Failure, ProcessEnd, ProcessGroup, ProcessIdentity, ProcessSpec};

/// The decision about a program whose lines were read.
pub enum OutputAction {
    /// Let it run. The text is its activity for the status line.
    Continue(Option<String>),
    /// End it.
    End,
}

impl Io {
    /// [`Request::Ancestors`].
    pub async fn ancestors(&self) -> Result<Vec<ProcessIdentity>, Failure> {
        answer!(self.request(Request::Ancestors), Outcome::Processes { processes } => processes)
    }

    /// [`Request::Process`], then [`Request::Wait`] until the process has ended. The output is
    /// without the values of secret environment variables.
    pub async fn process(&self, spec: ProcessSpec) -> Result<ProcessEnd, Failure> {
        let spec = self.placed(spec).await;
        let spec = ProcessSpec { announce: false, wake_after_ms: self.heartbeat_ms(), ..spec };
        let own_secrets = Redaction::new(&spec.env_set);
        self.follow_process(Request::Process(spec), &own_secrets).await
    }

    /// As [`Io::process`], and calls `on_start` with the process group before it waits. An error of
    /// `on_start` ends the program, so that no unrecorded process runs.
    ///
    /// # Errors
    ///
    /// Those of [`Io::process`], and the one of `on_start`.
    pub async fn process_announced<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        on_start: impl AsyncFnOnce(ProcessGroup) -> Result<(), E>,
    ) -> Result<ProcessEnd, E> {
        self.process_told(spec, 0, async |group, _| on_start(group).await).await
    }

    /// As [`Io::process_announced`], but a program that ends within `quick_ms` is announced only
    /// then; 0 announces every program at its start. `on_start` learns whether the program still
    /// runs.
    pub async fn process_told<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        quick_ms: u64,
        on_start: impl AsyncFnOnce(ProcessGroup, bool) -> Result<(), E>,
    ) -> Result<ProcessEnd, E> {
        let own_secrets = Redaction::new(&spec.env_set);
        match self.started(spec, quick_ms, on_start).await? {
            Some(end) => Ok(self.ended(end, &own_secrets)),
            None => {
                let wait = self.wait(None, self.heartbeat_ms());
                Ok(self.follow_process(wait, &own_secrets).await?)
            }
        }
    }

    /// As [`Io::process_announced`], and calls `on_lines` with standard output while the program
    /// runs. Every `look_every_ms` without output it calls `on_lines` with nothing. The last
    /// output, and on some hosts all of it, is only in the capture. `None`: `on_lines` ended the
    /// program.
    ///
    /// # Errors
    ///
    /// Those of [`Io::process_announced`].
    pub async fn process_followed<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        look_every_ms: u64,
        on_start: impl AsyncFnOnce(ProcessGroup) -> Result<(), E>,
        mut on_lines: impl AsyncFnMut(&[u8]) -> OutputAction,
    ) -> Result<Option<ProcessEnd>, E> {
        let own_secrets = Redaction::new(&spec.env_set);
        let spec = ProcessSpec { wake_on_lines: true, ..spec };
        let on_start = async |group, _| on_start(group).await;
        if let Some(end) = self.started(spec, 0, on_start).await? {
            return Ok(Some(self.ended(end, &own_secrets)));
        }
        let (mut activity, mut last_beat) = (None, self.now());
        let every_ms =
            self.heartbeat_ms().map_or(look_every_ms, |heartbeat| heartbeat.min(look_every_ms));
        loop {
            let bytes = match self.request(self.wait(activity.clone(), Some(every_ms))).await? {
                Outcome::Process(end) => return Ok(Some(self.ended(end, &own_secrets))),
                Outcome::Lines { bytes } => bytes.into(),
                Outcome::Running => Vec::new(),
                other => return Err(unexpected(&other).into()),
            };
            match on_lines(&bytes).await {
                OutputAction::Continue(doing) => activity = doing,
                OutputAction::End => {
                    self.done(Request::End).await?;
                    return Ok(None);
                }
            }
            // The clock does not wake a caller whose program writes all the time.
            if let Some(heartbeat) = &self.heartbeat
                && self.now().millis_since(last_beat) >= heartbeat.every_ms
            {
                (heartbeat.beat)().await;
                last_beat = self.now();
            }
        }
    }

    /// Starts a program and calls `on_start` with its group and whether it still runs. Returns its
    /// end if it ends within `quick_ms`, or if the host only runs programs to their end.
    async fn started<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        quick_ms: u64,
        on_start: impl AsyncFnOnce(ProcessGroup, bool) -> Result<(), E>,
    ) -> Result<Option<ProcessEnd>, E> {
        let spec = self.placed(spec).await;
        let spec = ProcessSpec { announce: true, wake_after_ms: self.heartbeat_ms(), ..spec };
        match self.request(Request::Process(spec)).await? {
            Outcome::Started { group } => {
                let end = self.ended_within(quick_ms).await?;
                match on_start(group, end.is_none()).await {
                    Ok(()) => Ok(end),
                    Err(error) if end.is_some() => Err(error),
                    Err(error) => {
                        self.done(Request::End).await?;
                        Err(error)
                    }
                }
            }
            // A host that runs every program to its end reports no group.
            Outcome::Process(end) => Ok(Some(end)),
            other => Err(unexpected(&other).into()),
        }
    }

    /// The end of the program that was started last, if it ends within this time.
    async fn ended_within(&self, quick_ms: u64) -> Result<Option<ProcessEnd>, Failure> {
        if quick_ms == 0 {
            return Ok(None);
        }
        match self.request(self.wait(None, Some(quick_ms))).await? {
            Outcome::Process(end) => Ok(Some(end)),
            Outcome::Running => Ok(None),
            other => Err(unexpected(&other)),
        }
    }

    /// The end of a program with redacted output.
    fn ended(&self, mut end: ProcessEnd, own_secrets: &Redaction) -> ProcessEnd {
        self.redaction.end(&mut end);
        own_secrets.end(&mut end);
        end
    }

    /// Sets `PWD` to the program's folder. The inherited `PWD` names another folder unless a shell
    /// corrects it, and some programs trust it.
    async fn placed(&self, mut spec: ProcessSpec) -> ProcessSpec {
        if spec.cwd.starts_with('/') {
            spec.env_set.entry("PWD".to_owned()).or_insert_with(|| spec.cwd.clone());
        }
        if let Some(path) = self.search_path().await {
            spec.env_set.entry("PATH".to_owned()).or_insert(path);
        }
        spec
    }

    async fn search_path(&self) -> Option<String> {
        let SearchPath { find, found } = self.path.as_ref()?;
        if found.get().is_none() {
            let path = find(Io { path: None, ..self.clone() }).await;
            let _ = found.set(path);
        }
        found.get().cloned().flatten()
    }

    fn heartbeat_ms(&self) -> Option<u64> {
        self.heartbeat.as_ref().map(|heartbeat| heartbeat.every_ms)
    }

    fn wait(&self, activity: Option<String>, wake_after_ms: Option<u64>) -> Request {
        Request::Wait { wake_after_ms, wake_on_input: false, activity }
    }

    /// Sends `request`, then [`Request::Wait`] until the process has ended.
    async fn follow_process(
        &self,
        mut request: Request,
        own_secrets: &Redaction,
    ) -> Result<ProcessEnd, Failure> {
        loop {
            match (self.request(request).await?, &self.heartbeat) {
                (Outcome::Process(end), _) => return Ok(self.ended(end, own_secrets)),
                (Outcome::Running, Some(heartbeat)) => (heartbeat.beat)().await,
                // This request does not ask for a wake-up.
                (Outcome::Running, None) => {}
                (other, _) => return Err(unexpected(&other)),
            }
            request = self.wait(None, self.heartbeat_ms());
        }
    }

    /// [`Request::EndGroup`]: the number of processes that had survived.
    pub async fn end_group(
        &self,
        group: ProcessGroup,
        host: &str,
        mark: Option<String>,
    ) -> Result<u32, Failure> {
        let request = Request::EndGroup { group, host: host.to_owned(), mark };
        answer!(self.request(request), Outcome::Ended { survivors } => survivors)
    }

    /// [`Request::Launch`].
    pub async fn launch(&self, spec: LaunchSpec) -> Result<(), Failure> {
        self.done(Request::Launch(spec)).await
    }

    /// [`Request::Interrupt`].
    pub async fn interrupt(&self, process: ProcessIdentity, now: bool) -> Result<(), Failure> {
        self.done(Request::Interrupt { process, now }).await
    }
}
