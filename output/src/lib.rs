//! Output of programs: to a stream or a file, completely or not at all. The display of untrusted
//! text ([`shown()`]). Limits of input.
//!
//! A new file is written beside its target under a random name, and then replaces the target. The
//! temporary file is removed when the process ends, even if it is interrupted
//! ([`clean_up_on_signals`]). If replacing the target would change its identity (it has other
//! names, another owner, or an access list), its content is overwritten instead.

mod kind;
mod shown;
mod staged;
mod target;

pub use kind::{FileKind, check_replaceable};
pub use shown::{is_hidden, picture, plain_path, quoted_name, shown, shown_line, shown_path};
pub use staged::{StagedFile, TemporaryFile, clean_up_on_signals, replace_without_sync};
pub use target::{Output, check_not_an_input, identity, is_stream};

/// Size in bytes of the largest file that is read. Positions in a text are 32-bit numbers, and the
/// structures built from a text take several times its size.
pub const MAX_FILE: u64 = 1 << 30;
/// Maximum number of bytes that are read from a stream of unknown size: all of them are read before
/// the size is known to be too large.
pub const MAX_STREAM: u64 = 256 << 20;

/// Returns the message of a system error without its number, which is only useful for programmers.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
