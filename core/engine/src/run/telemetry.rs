//! Export of traces and metrics when a run stops: to a file and to an OpenTelemetry collector.
//!
//! It is off unless a variable names a receiver. A failed export is one warning: it changes neither
//! the run nor its exit code, and takes at most [`limits::TELEMETRY_TIMEOUT_MS`].

use crate::state::config;
use crate::state::store::{Paths, Store};
use onloop_documents::telemetry;
use onloop_effect::{Durability, Failure, FailureKind, HttpMethod, HttpSpec, Io, OptionalExt};
use onloop_run::StepRecord;
use onloop_syntax::limits;
use onloop_syntax::syntax::file_uri::percent_decoded;
use onloop_syntax::text;
use onloop_syntax::time::Timestamp;

/// How often lines are tried to be added to a file while other processes add theirs.
const TRIES: u32 = 20;

/// A collector of the OpenTelemetry protocol, reached by HTTP.
struct Collector<'e> {
    /// The address without `/v1/traces`.
    endpoint: &'e str,
    headers: Vec<(String, String)>,
    timeout_ms: u64,
}

/// What is sent, by signal.
struct Documents {
    traces: String,
    metrics: String,
}

/// The variable by which a program learns which span it is a part of, as W3C Trace Context has it.
const TRACE_PARENT: &str = "TRACEPARENT";

/// Exports what is known about the run, also what an earlier export had.
pub(crate) async fn export(io: &Io, store: &Store) {
    // What a fork does is exported with the run that it belongs to.
    if is_off(io) || store.run().fork_of.is_some() {
        return;
    }
    let (file, endpoint) = receivers(io);
    let Some(documents) = documents(io, store).await else { return };
    if let Some(file) = file
        && let Err(failure) = append(io, &io.caller_path(file), &documents).await
    {
        warn(io, &failure).await;
    }
    if let Some(endpoint) = endpoint {
        let sent = match Collector::of(io, endpoint) {
            Ok(collector) => collector.send(io, &documents).await,
            Err(failure) => Err(failure),
        };
        if let Err(failure) = sent {
            warn(io, &failure).await;
        }
    }
}

/// The file and the collector that get what is exported.
fn receivers(io: &Io) -> (Option<&str>, Option<&str>) {
    (io.env("ONLOOP_OTLP_FILE"), io.env("OTEL_EXPORTER_OTLP_ENDPOINT"))
}

fn is_off(io: &Io) -> bool {
    let disabled = io.env("OTEL_SDK_DISABLED").unwrap_or_default();
    receivers(io) == (None, None) || disabled.eq_ignore_ascii_case("true")
}

/// The variable that makes the client's own spans a part of the next turn at `record`; none where
/// nothing is exported.
pub(crate) async fn context(
    io: &Io,
    store: &Store,
    record: &StepRecord,
) -> Option<(&'static str, String)> {
    if is_off(io) {
        return None;
    }
    let run = store.run();
    let (own, _) = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await.ok()?;
    // The spans of a fork are in the trace of the run that it belongs to.
    let whole = match &run.fork_of {
        Some(fork_of) => {
            let path = Paths::new(store.home(), "", &fork_of.run).ledger();
            io.read(&path, limits::RECORD_BYTES).await.ok()?.0
        }
        None => own.clone(),
    };
    let (step, attempt) = (record.step.number, record.attempts);
    let turn = telemetry::TurnPlace { step, attempt, earlier: run.turns_of(step, attempt) };
    let parent = telemetry::trace_parent(&whole, &own, turn).ok()?;
    Some((TRACE_PARENT, parent))
}

async fn warn(io: &Io, failure: &Failure) {
    let why = text::one_line(&failure.message);
    io.note(format!("warning: telemetry was not exported: {why}")).await;
}

/// `None`: the ledger cannot be read, which its next reader reports.
async fn documents(io: &Io, store: &Store) -> Option<Documents> {
    let place = &store.run().place;
    // Not the worktree: what lies there came with the repository, or from an agent.
    let folder = place.repo_root.as_ref().unwrap_or(&place.execution_root);
    let with_content = config::own(io, folder).await.telemetry_content;
    let (ledger, _) = io.read(&store.paths().ledger(), limits::RECORD_BYTES).await.ok()?;
    let mut forks = Vec::new();
    for fork in store.run().steps.iter().filter_map(|record| record.fork.as_ref()) {
        let path = Paths::new(store.home(), "", &fork.run).ledger();
        if let Ok((ledger, _)) = io.read(&path, limits::RECORD_BYTES).await {
            forks.push(ledger);
        }
    }
    let rendered = telemetry::render(&ledger, &forks, with_content).ok()?;
    Some(Documents {
        traces: io.redacted(&rendered.traces.to_string()),
        metrics: io.redacted(&rendered.metrics.to_string()),
    })
}

/// Adds one line for each signal to the file.
async fn append(io: &Io, path: &str, documents: &Documents) -> Result<(), Failure> {
    let lines = format!("{}\n{}\n", documents.traces, documents.metrics);
    let mut tries = 1;
    loop {
        let size_bytes = io.stat(path).await.optional()?.map_or(0, |stat| stat.size_bytes);
        let bytes = lines.clone().into_bytes();
        match io.append(path, bytes, size_bytes, Durability::Relaxed).await {
            Err(failure) if failure.is_conflict() && tries < TRIES => tries += 1,
            done => return done,
        }
    }
}

impl<'e> Collector<'e> {
    fn of(io: &'e Io, endpoint: &'e str) -> Result<Collector<'e>, Failure> {
        let headers = io.env("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default();
        let headers = headers_of(headers).ok_or_else(|| {
            let why =
                "`OTEL_EXPORTER_OTLP_HEADERS` is not a list of NAME=VALUE with commas between";
            Failure::new(FailureKind::Invalid, why)
        })?;
        let timeout = io.env("OTEL_EXPORTER_OTLP_TIMEOUT").and_then(|ms| ms.trim().parse().ok());
        let timeout_ms = timeout.unwrap_or(u64::MAX).clamp(1, limits::TELEMETRY_TIMEOUT_MS);
        Ok(Collector { endpoint: endpoint.trim_end_matches('/'), headers, timeout_ms })
    }

    /// Sends both documents; the second one has the time that the first one has left.
    async fn send(&self, io: &Io, documents: &Documents) -> Result<(), Failure> {
        let until = io.now().later(self.timeout_ms);
        self.post(io, "traces", &documents.traces, until).await?;
        self.post(io, "metrics", &documents.metrics, until).await
    }

    async fn post(
        &self,
        io: &Io,
        signal: &str,
        body: &str,
        until: Timestamp,
    ) -> Result<(), Failure> {
        let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        headers.extend(self.headers.iter().cloned());
        let spec = HttpSpec {
            method: HttpMethod::Post,
            url: format!("{}/v1/{signal}", self.endpoint),
            headers,
            body: Some(body.as_bytes().to_vec().into()),
            timeout_ms: until.millis_since(io.now()).clamp(1, self.timeout_ms),
            limit_bytes: limits::TELEMETRY_ANSWER_BYTES,
        };
        let origin = spec.origin().map(str::to_owned).ok_or_else(|| {
            let why = "`OTEL_EXPORTER_OTLP_ENDPOINT` is not an address of a server";
            Failure::new(FailureKind::Invalid, why)
        })?;
        match io.http(spec).await?.status {
            200..=299 => Ok(()),
            status => {
                let why = format!("{origin} answered with status {status}");
                Err(Failure::new(FailureKind::Other, why))
            }
        }
    }
}

/// Reads `NAME=VALUE,NAME=VALUE`, in which values are percent-encoded.
fn headers_of(list: &str) -> Option<Vec<(String, String)>> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    let parts = list.split(',').map(str::trim).filter(|part| !part.is_empty());
    let header = |part: &str| {
        let (name, value) = part.split_once('=')?;
        let (name, value) = (name.trim().to_lowercase(), percent_decoded(value.trim())?);
        let fits = !name.is_empty() && name.chars().all(is_name);
        (fits && !value.contains(char::is_control)).then_some((name, value))
    };
    parts.map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_read_as_the_protocol_names_them() {
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        let table = [
            ("", Some(vec![])),
            (
                "Authorization=Bearer%20t=1, x-a = b ,",
                Some(vec![pair("authorization", "Bearer t=1"), pair("x-a", "b")]),
            ),
            ("novalue", None),
            ("=x", None),
            ("a b=x", None),
            ("a=%0d%0aevil: 1", None),
            ("a=%zz", None),
        ];
        for (list, expected) in table {
            assert_eq!(headers_of(list), expected, "{list}");
        }
    }
}
