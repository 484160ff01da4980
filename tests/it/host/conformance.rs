//! The same promises, kept by the real host and by the one that stands in for it.

use onloop::host::Host;
use onloop_tests::SimHost;
use onloop_tests::conformance::{Bench, cases, replay};

use super::World;

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

    fn executable(&mut self, path: &str) {
        use std::os::unix::fs::PermissionsExt;
        std::fs::write(self.path(path), "").unwrap();
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

#[test]
fn the_simulated_host_conforms() {
    all_cases(|| Box::new(SimHost::new()));
}
