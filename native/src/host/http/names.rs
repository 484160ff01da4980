//! Name resolution for a statically linked C library.

/// Resolves names with `/etc/hosts` and DNS from now on, and ignores other sources of
/// `/etc/nsswitch.conf`.
///
/// The static library would load a module built for the system's C library, and crash.
#[cfg(c_library_inside)]
#[expect(unsafe_code, reason = "the C library offers this to C alone")]
pub(in crate::host) fn without_modules_of_the_system() {
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
        // It refuses only invalid settings, and these are valid.
        debug_assert!(!refused, "the C library knows where names of servers come from");
    });
}

/// The system's own library resolves names.
#[cfg(not(c_library_inside))]
pub(in crate::host) fn without_modules_of_the_system() {}
