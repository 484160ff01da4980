//! Processes: run to their end, announced before they act, or followed line by line.

use super::{Io, Redaction, answer, unexpected};
use crate::request::*;
use crate::{Failure, ProcessEnd, ProcessGroup, ProcessIdentity, ProcessSpec};

/// What becomes of a program whose lines were looked at.
pub enum Watched {
    /// It goes on; what it does now, for the status line.
    Continues(Option<String>),
    /// It is ended.
    Ends,
}

impl Io {
    /// [`Request::Ancestors`].
    pub async fn ancestors(&self) -> Result<Vec<ProcessIdentity>, Failure> {
        answer!(self.request(Request::Ancestors), Outcome::Processes { processes } => processes)
    }

    /// [`Request::Process`], then [`Request::Wait`] until the process has ended. What it said comes
    /// without the values of secret environment variables.
    pub async fn process(&self, spec: ProcessSpec) -> Result<ProcessEnd, Failure> {
        let spec = self.placed(spec);
        let spec = ProcessSpec { announce: false, wake_after_ms: self.pulse_ms(), ..spec };
        let own_secrets = Redaction::new(&spec.env_set);
        self.follow_process(Request::Process(spec), &own_secrets).await
    }

    /// As [`Io::process`], and tells `on_start` which process group runs before it waits for
    /// it. An error there ends the program: nothing acts that nobody knows of.
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

    /// As [`Io::process_announced`], where a program that is over within `quick_ms` is told of only then;
    /// 0: none is. `on_start` gets whether it still runs.
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
                let wait = self.wait(None, self.pulse_ms());
                Ok(self.follow_process(wait, &own_secrets).await?)
            }
        }
    }

    /// As [`Io::process_announced`], and hands `on_lines` what the program writes to standard
    /// output while it runs, as it comes, and nothing when `look_every_ms` have gone by without
    /// any. What of it comes last, and on some hosts all of it, is only in the capture. `None`:
    /// `on_lines` had the program ended.
    ///
    /// # Errors
    ///
    /// Those of [`Io::process_announced`].
    pub async fn process_followed<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        look_every_ms: u64,
        on_start: impl AsyncFnOnce(ProcessGroup) -> Result<(), E>,
        mut on_lines: impl AsyncFnMut(&[u8]) -> Watched,
    ) -> Result<Option<ProcessEnd>, E> {
        let own_secrets = Redaction::new(&spec.env_set);
        let spec = ProcessSpec { wake_on_lines: true, ..spec };
        let on_start = async |group, _| on_start(group).await;
        if let Some(end) = self.started(spec, 0, on_start).await? {
            return Ok(Some(self.ended(end, &own_secrets)));
        }
        let (mut activity, mut beaten) = (None, self.now());
        let every_ms = self.pulse_ms().map_or(look_every_ms, |pulse| pulse.min(look_every_ms));
        loop {
            let bytes = match self.request(self.wait(activity.clone(), Some(every_ms))).await? {
                Outcome::Process(end) => return Ok(Some(self.ended(end, &own_secrets))),
                Outcome::Lines { bytes } => bytes.into(),
                Outcome::Running => Vec::new(),
                other => return Err(unexpected(&other).into()),
            };
            match on_lines(&bytes).await {
                Watched::Continues(doing) => activity = doing,
                Watched::Ends => {
                    self.done(Request::End).await?;
                    return Ok(None);
                }
            }
            // Whoever writes all the time is not woken by the clock.
            if let Some(pulse) = &self.pulse
                && self.now().millis_since(beaten) >= pulse.every_ms
            {
                (pulse.beat)().await;
                beaten = self.now();
            }
        }
    }

    /// Starts a program and tells `on_start` which group it is, and whether it still runs. Its end, where
    /// it is over within `quick_ms`, or the host only runs programs to their end.
    async fn started<E: From<Failure>>(
        &self,
        spec: ProcessSpec,
        quick_ms: u64,
        on_start: impl AsyncFnOnce(ProcessGroup, bool) -> Result<(), E>,
    ) -> Result<Option<ProcessEnd>, E> {
        let spec = self.placed(spec);
        let spec = ProcessSpec { announce: true, wake_after_ms: self.pulse_ms(), ..spec };
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
            // A host that runs every program to its end has nobody to name.
            Outcome::Process(end) => Ok(Some(end)),
            other => Err(unexpected(&other).into()),
        }
    }

    /// How the program that was started last has ended, where it does so within this time.
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

    /// What a program said, without secrets.
    fn ended(&self, mut end: ProcessEnd, own_secrets: &Redaction) -> ProcessEnd {
        self.redaction.end(&mut end);
        own_secrets.end(&mut end);
        end
    }

    /// With a `PWD` that says where the program runs. It inherits ours, which names another folder
    /// unless a shell is in between, and some programs believe it.
    fn placed(&self, mut spec: ProcessSpec) -> ProcessSpec {
        if spec.cwd.starts_with('/') {
            spec.env_set.entry("PWD".to_owned()).or_insert_with(|| spec.cwd.clone());
        }
        spec
    }

    fn pulse_ms(&self) -> Option<u64> {
        self.pulse.as_ref().map(|pulse| pulse.every_ms)
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
            match (self.request(request).await?, &self.pulse) {
                (Outcome::Process(end), _) => return Ok(self.ended(end, own_secrets)),
                (Outcome::Running, Some(pulse)) => (pulse.beat)().await,
                // Nobody asked to be woken.
                (Outcome::Running, None) => {}
                (other, _) => return Err(unexpected(&other)),
            }
            request = self.wait(None, self.pulse_ms());
        }
    }

    /// [`Request::EndGroup`]: how many processes had survived.
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
    pub async fn launch(
        &self,
        argv: impl IntoIterator<Item = &str>,
        wait_ms: u64,
    ) -> Result<(), Failure> {
        let argv = argv.into_iter().map(str::to_owned).collect();
        self.done(Request::Launch { argv, wait_ms }).await
    }
}
