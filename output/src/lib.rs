//! Where programs write: to a stream, or into a file, all of it or nothing; how text of strangers is written for people ([`shown()`]); and how
//! much of it is read.
//!
//! A file is written beside the one whose place it takes in the end, under a random name that goes away with the process, also when
//! that is interrupted ([`clean_up_on_signals`]). Where taking its place would change what the file is (it has other names, belongs to
//! somebody else, or has an access list), what it holds is replaced instead.

mod shown;
mod staged;
mod target;

pub use shown::{is_hidden, picture, plain_path, quoted_name, shown, shown_line, shown_path};
pub use staged::{Staged, Temporary, clean_up_on_signals, remake};
pub use target::{Output, identity, is_no_input, is_stream};

/// The largest file that is read, in bytes. Places in a text are numbers of 32 bits, and what is made of one takes several times its size.
pub const MAX_FILE: u64 = 1 << 30;
/// The most that is read of what does not say how large it is, in bytes: all of it is read before it is known to be too large.
pub const MAX_STREAM: u64 = 256 << 20;

/// An error of the system, without what only programmers read.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
