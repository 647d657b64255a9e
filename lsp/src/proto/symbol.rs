//! The structure of a document: symbols, folds, selections, calls.

use tower_lsp::ls_types as lsp;

use crate::features::read::folding::{self, Fold};
use crate::features::read::symbol::{self, Symbol};
use crate::proto::view::DocumentView;

/// A symbol without its children.
pub(crate) fn document_symbol(view: &DocumentView<'_>, it: &Symbol) -> lsp::DocumentSymbol {
    #[expect(deprecated, reason = "the field is part of the struct")]
    lsp::DocumentSymbol {
        name: it.name.clone(),
        detail: Some(it.detail.clone()),
        kind: symbol_kind(it),
        tags: None,
        deprecated: None,
        range: view.range(&it.range),
        selection_range: view.range(&it.name_range),
        children: None,
    }
}

/// A symbol for clients that do not accept a tree.
pub(crate) fn symbol_information(view: &DocumentView<'_>, it: Symbol) -> lsp::SymbolInformation {
    #[expect(deprecated, reason = "the field is part of the struct")]
    lsp::SymbolInformation {
        kind: symbol_kind(&it),
        name: it.name,
        tags: None,
        deprecated: None,
        location: lsp::Location { uri: view.uri.clone(), range: view.range(&it.range) },
        container_name: None,
    }
}

fn symbol_kind(it: &Symbol) -> lsp::SymbolKind {
    match it.kind {
        symbol::SymbolKind::Module => lsp::SymbolKind::MODULE,
        symbol::SymbolKind::Function => lsp::SymbolKind::FUNCTION,
        symbol::SymbolKind::Other => lsp::SymbolKind::VARIABLE,
    }
}

/// A fold, for clients that fold lines or characters.
pub(crate) fn fold(view: &DocumentView<'_>, it: &Fold) -> Option<lsp::FoldingRange> {
    let mut end = it.lines.1;
    if view.connection.capabilities().folds_lines {
        // The line of the closing brace stays visible.
        if it.kind == folding::FoldKind::Region {
            end -= 1;
        }
        if end <= it.lines.0 {
            return None;
        }
        return Some(lsp::FoldingRange {
            start_line: it.lines.0 as u32,
            end_line: end as u32,
            kind: Some(kind(it)),
            ..lsp::FoldingRange::default()
        });
    }
    let range = view.range(&it.range);
    Some(lsp::FoldingRange {
        start_line: range.start.line,
        start_character: Some(range.start.character),
        end_line: range.end.line,
        end_character: Some(range.end.character),
        kind: Some(kind(it)),
        ..lsp::FoldingRange::default()
    })
}

fn kind(it: &Fold) -> lsp::FoldingRangeKind {
    match it.kind {
        folding::FoldKind::Comment => lsp::FoldingRangeKind::Comment,
        folding::FoldKind::Region | folding::FoldKind::Chunk => lsp::FoldingRangeKind::Region,
    }
}

/// Nested ranges, innermost first.
pub(crate) fn selection(
    view: &DocumentView<'_>,
    ranges: &[std::ops::Range<usize>],
) -> lsp::SelectionRange {
    let mut parent = None;
    for range in ranges.iter().rev() {
        parent = Some(Box::new(lsp::SelectionRange { range: view.range(range), parent }));
    }
    parent.map_or_else(lsp::SelectionRange::default, |it| *it)
}

/// A function in a call hierarchy.
pub(crate) fn call_item(
    view: &DocumentView<'_>,
    op: noisy_syntax::Op,
) -> Option<lsp::CallHierarchyItem> {
    let ir = view.document.ir();
    let (name, span) = ir.extra(op).symbol?;
    Some(lsp::CallHierarchyItem {
        name: symbol::visible_name(ir.interner.str(name)),
        kind: lsp::SymbolKind::FUNCTION,
        tags: None,
        detail: Some(ir.op_name(op).to_owned()),
        uri: view.uri.clone(),
        range: view.range(&ir.range(op)),
        selection_range: view.range(&ir.absolute(op, span)),
        data: None,
    })
}
