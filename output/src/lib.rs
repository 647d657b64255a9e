//! Where programs write: to a stream, or into a file, all of it or nothing; and how text of strangers is written for people ([`shown()`]).
//!
//! A file is written beside the one whose place it takes in the end, under a random name that goes away with the process, also when
//! that is interrupted ([`clean_up_on_signals`]). Where taking its place would change what the file is (it has other names, or belongs to
//! somebody else), it is written in place instead.

mod shown;
mod staged;
mod target;

pub use shown::{is_hidden, picture, quoted_name, shown, shown_line, shown_path};
pub use staged::{
    Staged, Temporary, clean_up_on_signals, is_other_when_replaced, remake, undisturbed,
};
pub use target::Output;

/// An error of the system, without what only programmers read.
pub fn reason(error: &std::io::Error) -> String {
    let text = error.to_string();
    text.split(" (os error").next().unwrap_or(&text).to_owned()
}
