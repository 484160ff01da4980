//! Running a program with nothing but the standard library: for systems without process
//! groups, `poll` and signals that safe code can reach (Windows).
//!
//! What differs: the end of the program is looked for every few milliseconds, only the
//! program itself is ended when its time is over, and Ctrl-C ends us too.

use std::io::{Read, Write};
use std::process::Child;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use onloop_core::program::{Failure, ProcessEnd, ProcessSpec, ProcessStatus};

use super::capture::Keeper;
use super::command;
use crate::host::{Progress, Root, failure, files};

/// How often the end of the program is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(5);
/// How long we read on from pipes that descendants keep open after the program's end.
const LINGER: Duration = Duration::from_millis(200);
const CHUNK_BYTES: usize = 64 * 1024;
/// Chunks waiting to be taken; more make the program wait, so memory stays bounded.
const CHUNKS_WAITING: usize = 16;

#[derive(Clone, Copy)]
enum Which {
    Stdout,
    Stderr,
}

/// Runs `spec` to its end.
pub(super) fn run(
    root: &Root,
    spec: &ProcessSpec,
    progress: &mut dyn Progress,
) -> Result<ProcessEnd, Failure> {
    let mut command = command::prepare(root, spec)?;
    let mut log = spec
        .stream_to
        .as_deref()
        .map(|path| files::open_stream(root, path))
        .transpose()?;
    let started = Instant::now();
    let mut child = command
        .spawn()
        .map_err(|error| command::spawn_failure(&error, root, spec))?;
    let output = follow_streams(&mut child, spec);
    let mut kept = [
        Keeper::new(spec.capture_bytes),
        Keeper::new(spec.capture_bytes),
    ];
    let deadline = spec
        .timeout_ms
        .and_then(|timeout| started.checked_add(Duration::from_millis(timeout)));
    let mut timed_out = false;
    let mut ended: Option<(ProcessStatus, Instant)> = None;
    loop {
        match output.recv_timeout(LOOK_EVERY) {
            Ok((which, bytes)) => {
                kept[which as usize].push(&bytes);
                progress.output(&bytes);
                if let Some(Err(error)) = log.as_mut().map(|log| log.write_all(&bytes)) {
                    progress.warn(&format!("the log ends early: {}", failure::reason(&error)));
                    log = None;
                }
            }
            Err(RecvTimeoutError::Timeout) => progress.tick(),
            Err(RecvTimeoutError::Disconnected) if ended.is_some() => break,
            Err(RecvTimeoutError::Disconnected) => thread::sleep(LOOK_EVERY),
        }
        if let Some((_, at)) = ended {
            if at.elapsed() >= LINGER {
                break;
            }
        } else if let Some(exit) = child
            .try_wait()
            .map_err(|error| failure::of(&error, "cannot wait"))?
        {
            let own = ProcessStatus::Exited(exit.code().unwrap_or(-1));
            ended = Some((
                if timed_out {
                    ProcessStatus::TimedOut
                } else {
                    own
                },
                Instant::now(),
            ));
        } else if !timed_out && deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            timed_out = true;
            let _ = child.kill();
        }
    }
    let status = ended.map_or(ProcessStatus::TimedOut, |(status, _)| status);
    let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
    let [stdout, stderr] = kept.map(Keeper::finish);
    Ok(ProcessEnd {
        status,
        stdout,
        stderr,
        duration_ms,
    })
}

fn follow_streams(child: &mut Child, spec: &ProcessSpec) -> Receiver<(Which, Vec<u8>)> {
    if let Some((mut pipe, bytes)) = child.stdin.take().zip(spec.stdin.clone()) {
        // A program that does not want all of its input is no failure.
        thread::spawn(move || drop(pipe.write_all(&bytes)));
    }
    let (sender, receiver) = sync_channel(CHUNKS_WAITING);
    if let Some(pipe) = child.stdout.take() {
        read(pipe, Which::Stdout, sender.clone());
    }
    if let Some(pipe) = child.stderr.take() {
        read(pipe, Which::Stderr, sender);
    }
    receiver
}

fn read(mut pipe: impl Read + Send + 'static, which: Which, sender: SyncSender<(Which, Vec<u8>)>) {
    thread::spawn(move || {
        let mut chunk = vec![0; CHUNK_BYTES];
        while let Ok(len @ 1..) = pipe.read(&mut chunk) {
            if sender.send((which, chunk[..len].to_vec())).is_err() {
                return;
            }
        }
    });
}
