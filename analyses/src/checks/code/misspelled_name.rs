//! misspelled-name: a name that is almost a known name
//!
//! Ops of unknown dialects are allowed, because programs mix dialects. But if the name of a
//! dialect, an op or an attribute differs from a known name by at most two letters, it is probably
//! misspelled. The effects of a misspelled op are unknown, so the noise of everything computed from
//! it is not checked. A misspelled attribute has no effect. An unknown dialect is reported only if
//! the similar known dialect has such an op.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32) -> !noisy.i32 {
//!   %0 = nosy.mul %a, %a : !noisy.i32      // noisy.mul
//!   return %0 : !noisy.i32
//! }
//! ```
//!
//! Correct the name. If the name is right, turn the rule off: `misspelled-name = "off"` under
//! `[rules]`.
//!
//! ```mlir
//! func.func @f(%a: !noisy.i32) -> !noisy.i32 {
//!   %0 = noisy.mul %a, %a : !noisy.i32
//!   return %0 : !noisy.i32
//! }
//! ```

use std::ops::Range;

use noisy_syntax::{Name, Op};

use crate::checks::{Check, FixFunction, Index};
use crate::facts::misspelling::{correction, names_to_check};
use crate::program::Program;
use crate::report::diagnostic::{Applicability, Category, Diagnostic, Fix, TextEdit};

pub(in crate::checks) const CHECK: Check = Check {
    code: "misspelled-name",
    category: Category::Name,
    header: header!("misspelled_name.rs"),
    run: check,
    fix: Some(FixFunction::Each(fix)),
    ..Check::WARNING
};

/// Maximum length in bytes of the head of an op that is searched for the name of an attribute.
const MAX_HEADER: usize = 1 << 16;

fn check(program: &Program, index: &Index, out: &mut Vec<Diagnostic>) {
    let ir = program.ir();
    let mut found: Vec<Op> = index.misspelled_ops.iter().copied().collect();
    found.sort_unstable();
    for op in found {
        let mut known: Vec<Name> = Vec::new();
        for (name, is_attribute) in names_to_check(ir, op) {
            let written = ir.interner.str(name);
            let Some(meant) = correction(written, is_attribute) else { continue };
            if known.contains(&name) {
                continue;
            }
            known.push(name);
            for range in places(program, op, written, is_attribute) {
                out.push(diagnostic(range, written, &meant, is_attribute));
            }
        }
    }
}

fn diagnostic(range: Range<usize>, written: &str, meant: &str, is_attribute: bool) -> Diagnostic {
    let what = if is_attribute { "attribute" } else { "op" };
    let mut it =
        CHECK.diagnostic_at(range, format!("unknown {what} `{written}`; did you mean `{meant}`?"));
    let (dialect, of) = (written.split('.').next(), meant.split('.').next());
    it.help = Some(match (is_attribute, dialect == of) {
        (true, _) => format!("Write `{meant}`: an unknown attribute has no effect"),
        (false, true) => {
            format!("Write `{meant}`: nothing after an unknown op is checked for noise")
        }
        (false, false) => format!(
            "Write `{meant}`: no dialect `{}` is known, and nothing after an unknown op is checked for noise",
            dialect.unwrap_or_default()
        ),
    });
    it
}

/// Returns the ranges of a name in the text of an op.
fn places(program: &Program, op: Op, name: &str, is_attribute: bool) -> Vec<Range<usize>> {
    let (ir, source) = (program.ir(), program.source());
    if !is_attribute {
        let range = ir.name_range(op);
        let quotes = usize::from(source.slice(range.clone()).starts_with('"'));
        let inside = range.start + quotes..range.end - quotes;
        return Vec::from([inside]);
    }
    let range = ir.head_range(op);
    if range.len() > MAX_HEADER {
        return Vec::new();
    }
    let text = source.slice(range.clone());
    let is_word = |it: char| it.is_alphanumeric() || matches!(it, '_' | '.' | '$');
    let found = text.match_indices(name).filter(|(at, _)| {
        let (before, after) =
            (text[..*at].chars().next_back(), text[at + name.len()..].chars().next());
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    });
    found.map(|(at, _)| range.start + at..range.start + at + name.len()).collect()
}

fn fix(program: &Program, it: &Diagnostic) -> Option<Fix> {
    let written = program.source().slice(it.range.clone());
    let meant = correction(&written, it.message.starts_with("unknown attribute"))?;
    Some(Fix {
        title: format!("Replace by {meant}"),
        applicability: Applicability::Safe,
        edits: vec![TextEdit { range: it.range.clone(), text: meant }],
    })
}
