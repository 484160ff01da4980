//! Lock files and who has them.

use onloop_core::effect::{
    Durability, Expect, Failure, FailureKind, FileKind, LockHolder, Outcome, ProcessIdentity,
};
use onloop_core::time::Timestamp;

use super::SimHost;

/// Who has a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    /// A program of this machine; dead unless it is the present one.
    Pid(u32),
    /// Somebody alive, until then.
    Other { until: Timestamp },
}

impl SimHost {
    /// Somebody else, alive, holds a lock for the next `duration_ms`.
    pub fn hold_lock(&mut self, path: &str, duration_ms: u64) {
        let until = self.after(duration_ms);
        self.disk.put(path, "held by somebody else\n");
        self.locks.insert(self.disk.absolute(path), Holder::Other { until });
    }

    pub(super) fn lock(&mut self, path: &str, wait_ms: u64, private: bool) -> Result<(), Failure> {
        let at = self.disk.absolute(path);
        let busy =
            |who: &str| Failure::new(FailureKind::Busy, format!("`{path}` is held by {who}"));
        match self.locks.get(&at).copied() {
            Some(Holder::Pid(pid)) if pid == self.pid => return Err(busy("this program")),
            Some(Holder::Pid(pid)) if self.suspended.contains(&pid) => {
                self.take_interrupt()?;
                self.now = self.after(wait_ms);
                return Err(busy("a program that waits"));
            }
            Some(Holder::Other { until }) if until > self.now => {
                self.take_interrupt()?;
                let left_ms = until.millis_since(self.now);
                self.now = self.after(left_ms.min(wait_ms));
                if left_ms > wait_ms {
                    return Err(busy("somebody else"));
                }
            }
            Some(Holder::Pid(_) | Holder::Other { .. }) => {}
            None => {
                if let Ok(stat) = self.disk.stat(path) {
                    // A file that is no lock of ours does not say who holds it.
                    return Err(match stat.kind {
                        FileKind::File => busy("nobody knows whom"),
                        FileKind::Folder | FileKind::Link | FileKind::Other => no_lock(path),
                    });
                }
            }
        }
        let line = format!("{{\"pid\":{}}}\n", self.pid);
        self.disk.write(path, line.as_bytes(), &Expect::Any, Durability::Relaxed, private)?;
        self.locks.insert(at, Holder::Pid(self.pid));
        Ok(())
    }

    pub(super) fn unlock(&mut self, path: &str) -> Result<(), Failure> {
        let at = self.disk.absolute(path);
        if self.locks.get(&at) != Some(&Holder::Pid(self.pid)) {
            let message = format!("this program does not hold `{path}`");
            return Err(Failure::new(FailureKind::Conflict, message));
        }
        self.locks.remove(&at);
        self.disk.remove(path).map_err(|failure| match failure.kind {
            FailureKind::NotFound => {
                Failure::new(FailureKind::Conflict, format!("the lock `{path}` was taken away"))
            }
            _ => failure,
        })
    }

    pub(super) fn holder(&self, path: &str) -> Result<Outcome, Failure> {
        let identity = |pid| ProcessIdentity { pid, ..self.start(&[]).process };
        let holder = match self.locks.get(&self.disk.absolute(path)).copied() {
            Some(Holder::Pid(pid)) => {
                let live = pid == self.pid || self.suspended.contains(&pid);
                Some(LockHolder { process: identity(pid), live, role: None })
            }
            Some(Holder::Other { until }) => {
                let live = until > self.now;
                Some(LockHolder { process: identity(1), live, role: None })
            }
            None => match self.disk.stat(path).map(|stat| stat.kind) {
                Err(_) => None,
                Ok(FileKind::File) => {
                    return Err(Failure::new(FailureKind::Busy, format!("`{path}` names nobody")));
                }
                Ok(FileKind::Folder | FileKind::Link | FileKind::Other) => {
                    return Err(no_lock(path));
                }
            },
        };
        Ok(Outcome::Holder { holder })
    }

    pub(super) fn release_own_locks(&mut self) {
        let own = Holder::Pid(self.pid);
        let paths: Vec<String> =
            self.locks.iter().filter(|(_, h)| **h == own).map(|(p, _)| p.clone()).collect();
        for path in paths {
            self.locks.remove(&path);
            let _ = self.disk.remove(&path);
        }
    }
}

fn no_lock(path: &str) -> Failure {
    Failure::new(FailureKind::Invalid, format!("`{path}` is no regular file"))
}
