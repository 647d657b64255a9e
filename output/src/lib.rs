//! Output of programs: to a stream or a file, completely or not at all. Also the display of
//! untrusted text ([`shown()`]) and the limits of input.
//!
//! A file is written beside its target under a random name and then takes its place. The temporary
//! file disappears with the process, also if that is interrupted ([`clean_up_on_signals`]). If
//! replacing the target would change its identity (it has other names, another owner, or an access
//! list), its content is overwritten instead.

mod kind;
mod shown;
mod staged;
mod target;

pub use kind::{Kind, is_replaceable};
pub use shown::{is_hidden, picture, plain_path, quoted_name, shown, shown_line, shown_path};
pub use staged::{Staged, Temporary, clean_up_on_signals, remake};
pub use target::{Output, identity, is_no_input, is_stream};

/// The largest file that is read, in bytes. Positions in a text are numbers of 32 bits, and the
/// structures made of a text take several times its size.
pub const MAX_FILE: u64 = 1 << 30;
/// The most that is read of a file without a known size, in bytes: all of it is read before it is
/// known to be too large.
pub const MAX_STREAM: u64 = 256 << 20;

/// Returns a system error without the parts that only programmers read.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
