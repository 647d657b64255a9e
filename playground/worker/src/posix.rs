//! Functions of POSIX that newer versions of WASI's library of C have, and Debian's has not.
//!
//! The system refuses each thread, so that the callers do the work themselves.

use std::ffi::{c_char, c_int, c_void};

/// "Not supported".
const REFUSED: c_int = 58;

#[unsafe(no_mangle)]
extern "C" fn pthread_attr_init(_: *mut c_void) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn pthread_attr_setstacksize(_: *mut c_void, _: usize) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn pthread_attr_destroy(_: *mut c_void) -> c_int {
    0
}

#[unsafe(no_mangle)]
extern "C" fn pthread_create(
    _: *mut c_void,
    _: *const c_void,
    _: *const c_void,
    _: *mut c_void,
) -> c_int {
    REFUSED
}

#[unsafe(no_mangle)]
extern "C" fn pthread_detach(_: *mut c_void) -> c_int {
    REFUSED
}

unsafe extern "C" {
    fn strdup(text: *const c_char) -> *mut c_char;
}

/// The disk of a worker has no links: a path is its own.
///
/// # Safety
///
/// The path is a string of C.
#[unsafe(no_mangle)]
unsafe extern "C" fn realpath(path: *const c_char, _: *mut c_char) -> *mut c_char {
    // SAFETY: the caller promises it. It frees the copy.
    unsafe { strdup(path) }
}
