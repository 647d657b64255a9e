//! The threads of POSIX, which WebAssembly does not have: the system refuses each one, and the
//! callers do the work themselves. Newer versions of WASI's library of C say the same; Debian's has
//! no such functions.

use std::ffi::{c_int, c_void};

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
