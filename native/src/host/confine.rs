//! Enforces a [`Confinement`] with the kernel, all of it or nothing.
//!
//! Linux uses [`bubblewrap`] or else [`landlock`], and the restrictions of [`restrict`] with both.
//! What neither can enforce in a writable folder is compared afterwards and repaired
//! ([`read_only`]). macOS uses [`seatbelt`]. On other systems nothing starts.

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(target_os = "linux")]
mod guard;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(unix)]
mod paths;
#[cfg(target_os = "linux")]
mod private_git;
#[cfg(unix)]
mod read_only;
#[cfg(target_os = "linux")]
mod restrict;
#[cfg(any(target_os = "macos", all(unix, test)))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod sockets;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
mod unsupported;

use onloop_core::effect::{Failure, FailureKind};
#[cfg(unix)]
use onloop_core::effect::{Mechanism, RefusedName};

#[cfg(target_os = "linux")]
pub(super) use linux::{Confined, confine};
#[cfg(target_os = "linux")]
pub(super) use restrict::Restrictions;
#[cfg(target_os = "macos")]
pub(super) use seatbelt::{Confined, confine};
#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
pub(super) use unsupported::{Confined, confine};

/// What is known of a confined program after its end.
#[cfg(unix)]
pub(super) struct Finished {
    /// What enforced the confinement.
    pub(super) mechanism: Mechanism,
    /// Paths that were repaired.
    pub(super) repaired: Vec<String>,
    /// Names that it was refused.
    pub(super) refused: Vec<RefusedName>,
}

/// A child has no restrictions to apply.
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) enum Restrictions {}

/// The failure when a program cannot be confined.
fn impossible(why: impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Unsupported, why.to_string())
}

/// The failure of a mechanism that cannot show one folder in the place of another.
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn no_private_git() -> Failure {
    impossible("a git folder of its own takes `bwrap`")
}

/// The failure on a system without a known sandbox.
#[cfg(any(not(any(target_os = "linux", target_os = "macos")), test))]
pub(super) fn unknown() -> Failure {
    impossible("this is neither Linux nor macOS")
}
