//! The outline: every op that defines a symbol, and every module.

use std::fmt::Write as _;
use std::ops::Range;

use noisy_syntax::{Ir, OpKind, Source, Traits};

use crate::features::walk::{ITEMS_PER_STEP, ItemWalk, WalkedItem};

/// Maximum depth of symbols; deeper ones are shown as children of the last level. Clients parse
/// answers recursively.
const MAX_DEPTH: usize = 48;

/// The kind of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SymbolKind {
    Module,
    Function,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Symbol {
    /// The name without `@` in a visible form, or the name of the op.
    pub name: String,
    /// The name of the op.
    pub detail: String,
    pub kind: SymbolKind,
    /// The range of the op.
    pub range: Range<usize>,
    /// The range of its name.
    pub name_range: Range<usize>,
    /// Number of enclosing symbols.
    pub depth: usize,
}

/// Finds the symbols of a document in steps and in textual order.
#[derive(Debug)]
pub(crate) struct OutlineJob {
    walk: ItemWalk,
    /// Symbols that contain the next item.
    ancestors: Vec<WalkedItem>,
}

impl OutlineJob {
    pub(crate) fn new(source: &Source) -> Self {
        Self { walk: ItemWalk::all(source.ir()), ancestors: Vec::new() }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, source: &Source, found: &mut impl FnMut(Symbol)) -> bool {
        for _ in 0..ITEMS_PER_STEP {
            let Some(item) = self.walk.next(source.ir()) else { return false };
            self.visit(source.ir(), item, found);
        }
        true
    }

    fn visit(&mut self, ir: &Ir, item: WalkedItem, found: &mut impl FnMut(Symbol)) {
        if !ir.op(item.op).kind.is_op() {
            return;
        }
        while self.ancestors.last().is_some_and(|it| it.depth >= item.depth) {
            self.ancestors.pop();
        }
        if let Some(symbol) = symbol(ir, item, self.ancestors.len().min(MAX_DEPTH)) {
            found(symbol);
            self.ancestors.push(item);
        }
        // Functions contain no symbols, and may have 100,000 ops.
        let kind = ir.op(item.op).kind;
        if kind == OpKind::FuncFunc || (kind != OpKind::Unknown && !kind.has(Traits::SYMBOL_TABLE))
        {
            self.walk.skip_contents(ir, item);
        }
    }
}

fn symbol(ir: &Ir, item: WalkedItem, depth: usize) -> Option<Symbol> {
    let data = ir.op(item.op);
    let range = item.start + data.lead_len as usize..item.start + ir.item_len(item.op);
    let detail = ir.op_name(item.op).to_owned();
    let kind = match data.kind {
        OpKind::BuiltinModule => SymbolKind::Module,
        OpKind::FuncFunc => SymbolKind::Function,
        _ if detail.split('.').next_back() == Some("func") => SymbolKind::Function,
        _ if detail.split('.').next_back() == Some("module") => SymbolKind::Module,
        _ => SymbolKind::Other,
    };
    let (name, name_range) = match ir.extra(item.op).symbol {
        Some((name, span)) => {
            let name = ir.interner.str(name);
            let name = if name.is_empty() { detail.clone() } else { visible_name(name) };
            (name, ir.absolute_at(item.op, item.start, span))
        }
        None if data.kind == OpKind::BuiltinModule => {
            ("module".to_owned(), ir.absolute_at(item.op, item.start, data.name_span))
        }
        None => return None,
    };
    let name_range = name_range.start.max(range.start)..name_range.end.min(range.end);
    Some(Symbol { name, detail, kind, range, name_range, depth })
}

/// The name of a symbol in a visible form, because the protocol forbids blank names. A name without
/// a visible character is quoted, and all its bytes except spaces are escaped.
pub(crate) fn visible_name(name: &str) -> String {
    let is_invisible = |it: char| {
        it.is_whitespace()
            || it.is_control()
            || matches!(
                it,
                '\u{ad}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
            )
            || matches!(it, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{2800}')
            || matches!(it, '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}')
    };
    if !name.chars().all(is_invisible) {
        return name.to_owned();
    }
    let mut out = String::from('"');
    for byte in name.bytes() {
        if byte == b' ' {
            out.push(' ');
        } else {
            let _ = write!(out, "\\{byte:02X}");
        }
    }
    out + "\""
}

/// True if the characters of a query occur in a name, in the same order, ignoring case.
pub(crate) fn matches_query(name: &str, query: &str) -> bool {
    let mut rest = name.chars().flat_map(char::to_lowercase);
    query
        .trim_start_matches('@')
        .chars()
        .flat_map(char::to_lowercase)
        .all(|c| rest.any(|it| it == c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_without_a_visible_character_are_quoted() {
        for (name, shown) in [
            (" ", "\" \""),
            ("", "\"\""),
            ("\t \n", "\"\\09 \\0A\""),
            ("\u{a0}", "\"\\C2\\A0\""),
            ("\u{200b}", "\"\\E2\\80\\8B\""),
            ("a b", "a b"),
            (" a", " a"),
            ("\u{e9}", "\u{e9}"),
        ] {
            assert_eq!(visible_name(name), shown, "{name:?}");
        }
    }

    #[test]
    fn no_symbol_of_an_outline_is_blank() {
        let source = Source::new(
            "func.func private @\" \"()\nmodule @\"\\09\" {\n  func.func private @\"\\E3\\80\\80\"()\n}\nmodule {}\n\"t.x\"() {sym_name = \"\"} : () -> ()\n",
        );
        let (mut outline, mut names) = (OutlineJob::new(&source), Vec::new());
        while outline.step(&source, &mut |it| names.push(it.name)) {}
        assert_eq!(names, ["\" \"", "\"\\09\"", "\"\\E3\\80\\80\"", "module", "t.x"]);
    }
}
