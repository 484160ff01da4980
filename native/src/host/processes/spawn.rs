//! Starts a program: with shared memory on Linux, with the standard library on other systems.

#[cfg(target_os = "linux")]
mod image;
#[cfg(target_os = "linux")]
mod linux;
#[cfg(any(not(target_os = "linux"), test))]
mod usual;

#[cfg(target_os = "linux")]
pub(super) use linux::spawn;
#[cfg(not(target_os = "linux"))]
pub(super) use usual::spawn;

#[cfg(all(test, target_os = "linux"))]
mod tests;
