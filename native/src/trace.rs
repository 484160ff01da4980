//! `ONLOOP_TRACE=FILE`: what passes between the program and this host, for `onloop replay`.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};

use onloop_core::effect::trace::Tracer;
use onloop_core::effect::{Exit, Program, Request, Start, Turn};

use crate::host::Host;

/// Names the file.
pub(crate) const VARIABLE: &str = "ONLOOP_TRACE";

/// A recording that has begun.
pub(crate) struct Recording {
    tracer: Tracer,
    /// `None`: a line could not be written. A recording with a gap is not continued.
    file: Option<File>,
}

impl Recording {
    /// Starts the recording that the environment asks for. If it cannot be written, the program
    /// runs without it: a hook has to answer.
    pub(crate) fn begin(start: &Start) -> Option<Recording> {
        let path = start.env.get(VARIABLE).filter(|path| !path.is_empty())?;
        let (tracer, header) = Tracer::new(start, "native");
        match create(path) {
            Ok(file) => {
                let mut recording = Recording { tracer, file: Some(file) };
                recording.append(&header);
                Some(recording)
            }
            Err(error) => {
                warn(&error);
                None
            }
        }
    }

    /// One write for each line, so that the lines before a crash are complete.
    fn append(&mut self, line: &str) {
        let Some(file) = &mut self.file else { return };
        if let Err(error) = file.write_all(line.as_bytes()) {
            warn(&error);
            self.file = None;
        }
    }
}

fn warn(error: &io::Error) {
    let _ =
        writeln!(io::stderr(), "warning: cannot write the trace that {VARIABLE} names: {error}");
}

/// Creates or empties the file, readable by its owner only.
fn create(path: &str) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    let file = options.open(path)?;
    // Before anything is in it: the file may be an older one that others can read.
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        file.set_permissions(std::fs::Permissions::from_mode(0o600))?;
    }
    file.set_len(0)?;
    Ok(file)
}

/// Like [`drive`](crate::drive), but records each request and reply.
pub(crate) fn drive_recorded(
    host: &mut dyn Host,
    mut program: Program,
    mut recording: Recording,
) -> Exit {
    let mut reply = None;
    loop {
        let turn = program.resume(reply.take());
        recording.append(&recording.tracer.turn(&turn));
        match turn {
            Turn::Request(request) => {
                let answer = host.perform(unrecorded(request));
                recording.append(&recording.tracer.reply(&answer));
                reply = Some(answer);
            }
            Turn::Exit(exit) => return exit,
        }
    }
}

/// An onloop started by a program that we run must not overwrite the same file.
fn unrecorded(mut request: Request) -> Request {
    if let Request::Process(spec) = &mut request {
        spec.env_remove.push(VARIABLE.to_owned());
    }
    request
}
