//! The same promises, kept by the real host and by the one that stands in for it.

use std::fs::File;
use std::io::Write;
use std::process::{Command, Stdio};

use onloop::host::Host;
use onloop_tests::SimHost;
use onloop_tests::conformance::{Bench, cases, replay};

use serde_json::Value;

use super::World;
use crate::temporary::temporary_folder;

impl Bench for World {
    fn host(&mut self) -> &mut dyn Host {
        &mut self.host
    }

    fn link(&mut self, path: &str, target: &str) {
        std::os::unix::fs::symlink(target, self.path(path)).unwrap();
    }

    fn device(&mut self, path: &str) {
        drop(std::os::unix::net::UnixListener::bind(self.path(path)).unwrap());
    }

    fn real_folder(&self) -> Option<std::path::PathBuf> {
        // Links on the way to it are resolved by git.
        self.folder.path().canonicalize().ok()
    }

    fn executable(&mut self, path: &str, text: &str) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(self.path(path), text).unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(self.path(path), mode).unwrap();
    }
}

fn all_cases(bench: impl Fn() -> Box<dyn Bench>) {
    let wrong: Vec<String> =
        cases().iter().flat_map(|case| replay(case, bench().as_mut())).collect();
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_native_host_conforms() {
    all_cases(|| Box::new(World::new()));
}

/// What the standard streams of a case are connected to.
fn stdout_of(streams: &Value) -> Stdio {
    match streams["stdout"].as_str() {
        Some("full") => File::options().write(true).open("/dev/full").unwrap().into(),
        // Its other end is dropped here.
        Some("gone") => std::io::pipe().unwrap().1.into(),
        Some(other) => panic!("unknown stream `{other}`"),
        None => Stdio::null(),
    }
}

#[test]
fn the_standard_streams_of_the_native_host_conform() {
    let mut count = 0;
    for case in cases() {
        let Some(streams) = case.get("streams") else { continue };
        let folder = temporary_folder();
        let mut command = Command::new(env!("CARGO_BIN_EXE_host-probe"));
        command.arg("vector").arg(case["case"].as_str().unwrap()).current_dir(folder.path());
        command.stdin(Stdio::piped()).stdout(stdout_of(streams)).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let input = streams["stdin"].as_str().unwrap_or_default();
        child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
        let end = child.wait_with_output().unwrap();
        assert!(end.status.success(), "{}", String::from_utf8_lossy(&end.stderr));
        count += 1;
    }
    assert!(count > 0, "no case has streams");
}

#[test]
fn the_simulated_host_conforms() {
    all_cases(|| Box::new(SimHost::new()));
}
