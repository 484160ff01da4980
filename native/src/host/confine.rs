//! Enforcing a [`Confinement`] with the kernel, all of it or nothing.
//!
//! Linux: [`bubblewrap`] where it can be used, else [`landlock`]; with both, what else the kernel
//! can close ([`restrict`]). What neither can hold in a folder that may be written is compared
//! afterwards and put right ([`kept`]). macOS: [`seatbelt`]. Elsewhere nothing is started.

#[cfg(target_os = "linux")]
mod bubblewrap;
#[cfg(target_os = "linux")]
mod filter;
#[cfg(unix)]
mod kept;
#[cfg(target_os = "linux")]
mod landlock;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
mod nowhere;
#[cfg(unix)]
mod places;
#[cfg(target_os = "linux")]
mod restrict;
#[cfg(any(target_os = "macos", all(unix, test)))]
mod seatbelt;
#[cfg(target_os = "linux")]
mod sockets;

use onloop_core::effect::{Failure, FailureKind};

#[cfg(target_os = "linux")]
pub(super) use linux::{Confined, confine};
#[cfg(all(unix, not(any(target_os = "linux", target_os = "macos"))))]
pub(super) use nowhere::{Confined, confine};
#[cfg(target_os = "linux")]
pub(super) use restrict::Restrictions;
#[cfg(target_os = "macos")]
pub(super) use seatbelt::{Confined, confine};

/// Nothing that a child has to do itself.
#[cfg(all(unix, not(target_os = "linux")))]
pub(super) enum Restrictions {}

/// That a program was not started, because it cannot be confined.
fn impossible(why: impl std::fmt::Display) -> Failure {
    Failure::new(FailureKind::Unsupported, why.to_string())
}

/// The answer of a system whose kernel is not known to confine anything.
#[cfg(any(not(any(target_os = "linux", target_os = "macos")), test))]
pub(super) fn unknown() -> Failure {
    impossible("this is neither Linux nor macOS")
}
