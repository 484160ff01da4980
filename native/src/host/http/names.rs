//! Names of servers, looked up by a program that has its C library inside.

/// Looks names up in `/etc/hosts` and by DNS from now on, whatever else `/etc/nsswitch.conf` names.
///
/// For anything else the library would load a module of the system into this process, made for the
/// system's own C library. A program that came from elsewhere crashes in it.
#[cfg(c_library_inside)]
#[expect(unsafe_code, reason = "the C library offers this to C alone")]
pub(super) fn without_modules_of_the_system() {
    use std::ffi::{c_char, c_int};
    use std::sync::Once;

    unsafe extern "C" {
        fn __nss_configure_lookup(database: *const c_char, sources: *const c_char) -> c_int;
    }
    static CONFIGURED: Once = Once::new();
    CONFIGURED.call_once(|| {
        // SAFETY: both strings end with a zero byte and live for ever, the library copies what it
        // needs, and no other thread of ours is in this call.
        let refused =
            unsafe { __nss_configure_lookup(c"hosts".as_ptr(), c"files dns".as_ptr()) } != 0;
        // It refuses what it cannot read, and it can read this.
        debug_assert!(!refused, "the C library knows where names of servers come from");
    });
}

/// The system's own library looks names up, as the system is told to.
#[cfg(not(c_library_inside))]
pub(super) fn without_modules_of_the_system() {}
