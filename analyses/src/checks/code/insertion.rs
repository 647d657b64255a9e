//! Putting new ops before an op.

use noisy_syntax::{Op, Value};
use rustc_hash::FxHashSet;

use crate::program::Program;
use crate::report::diagnostic::TextEdit;

/// Fresh names for values. All fixes of one request share them.
#[derive(Debug, Default)]
pub(in crate::checks) struct NewNames {
    given: FxHashSet<String>,
}

impl NewNames {
    /// A name, with its `%`, that no value in the function of an op has: one like that of a value.
    pub(in crate::checks) fn fresh(
        &mut self,
        program: &Program,
        op: Op,
        like: Value,
    ) -> Option<String> {
        let ir = program.ir();
        let counts = program.names(ir.function_of(op)?)?;
        let stem = ir.value_text(like).trim_start_matches('%').replace('#', "_");
        // `%4_r` would be two tokens.
        let is_number = stem.starts_with(|it: char| it.is_ascii_digit());
        let stem = if is_number { format!("r{stem}") } else { format!("{stem}_r") };
        let numbered = (1..).map(|n| format!("{stem}_{n}"));
        let mut names = std::iter::once(stem.clone()).chain(numbered);
        let name = names.find(|it| !counts.contains_key(it) && !self.given.contains(it))?;
        self.given.insert(name.clone());
        Some(format!("%{name}"))
    }
}

/// The edit that puts lines before an op, in its indentation.
pub(in crate::checks) fn in_front(program: &Program, op: Op, lines: &[String]) -> TextEdit {
    let at = program.ir().range(op).start;
    let end = if program.source().is_first_on_line(at) {
        format!("\n{}", program.source().indentation(at))
    } else {
        " ".to_owned()
    };
    let text: String = lines.iter().flat_map(|it| [it.as_str(), &end]).collect();
    TextEdit { range: at..at, text }
}
