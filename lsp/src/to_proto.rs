//! From plain data in bytes to the protocol's types.

use std::collections::HashMap;

use noisy_analyses::{Category, Diagnostic, Severity, Tag, TextEdit};
use ropey::Rope;
use tower_lsp::ls_types as lsp;

use crate::actor::View;
use crate::features::action::{Action, Placement};
use crate::features::completion::{self, Completion};
use crate::features::definition::Definition;
use crate::features::fold::{self, Fold};
use crate::features::hint::Hint;
use crate::features::hover::Hover;
use crate::features::lens::Lens;
use crate::features::reference::Reference;
use crate::features::signature::Signature;
use crate::features::symbol::{self, Symbol};
use crate::from_proto::Place;
use crate::position::{self, Encoding};
use crate::session::Session;

/// Not more diagnostics than this are sent for a document.
const MAX_DIAGNOSTICS: usize = 1000;

/// The diagnostics of a document: all, or the worst and a note that counts the others.
pub(crate) fn diagnostics(view: &View<'_>) -> Vec<lsp::Diagnostic> {
    let mut found = view.document.diagnostics();
    if view.session.config().features.only_noise {
        found.retain(|it| matches!(it.category, Category::Noise | Category::Lint));
    }
    let n_left = found.len().saturating_sub(MAX_DIAGNOSTICS);
    if n_left > 0 {
        found.sort_by_key(|it| it.severity);
        found.truncate(MAX_DIAGNOSTICS);
        found.sort_by_key(|it| it.range.start);
    }
    let mut out: Vec<_> = found.iter().map(|it| diagnostic(view, it)).collect();
    if n_left > 0 {
        out.push(lsp::Diagnostic {
            severity: Some(lsp::DiagnosticSeverity::INFORMATION),
            code: Some(lsp::NumberOrString::String("more".to_owned())),
            source: Some("noisy".to_owned()),
            message: format!("{n_left} more diagnostics in this file are not shown"),
            ..lsp::Diagnostic::default()
        });
    }
    out
}

/// What is said of a document that cannot be analyzed.
pub(crate) fn failure() -> lsp::Diagnostic {
    lsp::Diagnostic {
        severity: Some(lsp::DiagnosticSeverity::WARNING),
        code: Some(lsp::NumberOrString::String("internal-error".to_owned())),
        source: Some("noisy".to_owned()),
        message: "noisy-lsp failed on this text; please report it".to_owned(),
        ..lsp::Diagnostic::default()
    }
}

fn diagnostic(view: &View<'_>, it: &Diagnostic) -> lsp::Diagnostic {
    let abilities = view.session.abilities();
    let range = view.range(&it.range);
    let mut message = it.message.clone();
    let mut related = Vec::new();
    let mut relate = |range, message| {
        let location = lsp::Location { uri: view.uri.clone(), range };
        related.push(lsp::DiagnosticRelatedInformation { location, message });
    };
    if abilities.related_information {
        for step in &it.related {
            relate(view.range(&step.range), step.message.clone());
        }
        if let Some(help) = &it.help {
            relate(range, format!("help: {help}"));
        }
    } else if let Some(help) = &it.help {
        message = format!("{message}\nhelp: {help}");
    }
    let tag = |tag: &Tag| match tag {
        Tag::Unnecessary => lsp::DiagnosticTag::UNNECESSARY,
    };
    let tags: Vec<_> = if abilities.tags { it.tags.iter().map(tag).collect() } else { Vec::new() };
    lsp::Diagnostic {
        range,
        severity: Some(match it.severity {
            Severity::Error => lsp::DiagnosticSeverity::ERROR,
            Severity::Warning => lsp::DiagnosticSeverity::WARNING,
            Severity::Info => lsp::DiagnosticSeverity::INFORMATION,
            Severity::Hint => lsp::DiagnosticSeverity::HINT,
        }),
        code: Some(lsp::NumberOrString::String(it.code.to_owned())),
        source: Some("noisy".to_owned()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        tags: (!tags.is_empty()).then_some(tags),
        ..lsp::Diagnostic::default()
    }
}

/// A hover.
pub(crate) fn hover(view: &View<'_>, it: Hover) -> lsp::Hover {
    let contents = lsp::MarkupContent { kind: lsp::MarkupKind::Markdown, value: it.text };
    lsp::Hover {
        contents: lsp::HoverContents::Markup(contents),
        range: Some(view.range(&it.range)),
    }
}

/// An inlay hint.
pub(crate) fn hint(view: &View<'_>, it: Hint) -> lsp::InlayHint {
    lsp::InlayHint {
        position: view.position(it.offset),
        label: it.label.into(),
        kind: Some(lsp::InlayHintKind::TYPE),
        text_edits: None,
        tooltip: None,
        padding_left: Some(true),
        padding_right: None,
        data: serde_json::to_value((view.uri, view.version, it.offset)).ok(),
    }
}

/// Definitions, as links where the client takes them.
pub(crate) fn definition(view: &View<'_>, it: &Definition) -> lsp::GotoDefinitionResponse {
    let name = view.range(&it.name);
    if view.session.abilities().definition_links {
        return lsp::GotoDefinitionResponse::Link(vec![lsp::LocationLink {
            origin_selection_range: Some(view.range(&it.origin)),
            target_uri: view.uri.clone(),
            target_range: view.range(&it.whole),
            target_selection_range: name,
        }]);
    }
    lsp::GotoDefinitionResponse::Array(vec![lsp::Location { uri: view.uri.clone(), range: name }])
}

/// References, with or without the definition.
pub(crate) fn locations(
    view: &View<'_>,
    all: &[Reference],
    with_definition: bool,
) -> Vec<lsp::Location> {
    all.iter()
        .filter(|it| with_definition || !it.defines)
        .map(|it| lsp::Location { uri: view.uri.clone(), range: view.range(&it.range) })
        .collect()
}

/// Highlights.
pub(crate) fn highlights(view: &View<'_>, all: &[Reference]) -> Vec<lsp::DocumentHighlight> {
    let kind = |it: &Reference| {
        if it.defines {
            lsp::DocumentHighlightKind::WRITE
        } else {
            lsp::DocumentHighlightKind::READ
        }
    };
    let highlight = |it: &Reference| lsp::DocumentHighlight {
        range: view.range(&it.range),
        kind: Some(kind(it)),
    };
    all.iter().map(highlight).collect()
}

/// Edits of a text.
pub(crate) fn edits(text: &Rope, encoding: Encoding, edits: &[TextEdit]) -> Vec<lsp::TextEdit> {
    let edit = |it: &TextEdit| lsp::TextEdit {
        range: position::range(text, &it.range, encoding),
        new_text: it.text.clone(),
    };
    edits.iter().map(edit).collect()
}

/// Edits of a version of a document.
pub(crate) fn workspace_edit(
    session: &Session,
    uri: &lsp::Uri,
    version: i32,
    edits: Vec<lsp::TextEdit>,
) -> lsp::WorkspaceEdit {
    if session.abilities().document_changes {
        let text_document = lsp::OptionalVersionedTextDocumentIdentifier {
            uri: uri.clone(),
            version: Some(version),
        };
        let edits = edits.into_iter().map(lsp::OneOf::Left).collect();
        let changes =
            lsp::DocumentChanges::Edits(vec![lsp::TextDocumentEdit { text_document, edits }]);
        return lsp::WorkspaceEdit {
            document_changes: Some(changes),
            ..lsp::WorkspaceEdit::default()
        };
    }
    let changes = HashMap::from([(uri.clone(), edits)]);
    lsp::WorkspaceEdit { changes: Some(changes), ..lsp::WorkspaceEdit::default() }
}

/// What a placement is called.
pub(crate) fn title(placement: &Placement) -> String {
    match placement {
        Placement::Function(_, name) => format!("Insert optimal reduce_noise in @{name}"),
        Placement::File => "Insert optimal reduce_noise in the whole file".to_owned(),
    }
}

/// The name of the command that places; see [`Place`].
pub(crate) const PLACE: &str = "noisy.insertReduceNoise";

/// A code action of a kind.
pub(crate) fn action(view: &View<'_>, it: &Action, kind: lsp::CodeActionKind) -> lsp::CodeAction {
    match it {
        Action::Place(placement, mended) => {
            let function = match placement {
                Placement::Function(start, name) => Some((*start, name.clone())),
                Placement::File => None,
            };
            let place = Place { uri: view.uri.clone(), version: Some(view.version), function };
            let data = serde_json::to_value(place).unwrap_or_default();
            let title = title(placement);
            let lazily = view.session.abilities().resolves_actions;
            let command = lsp::Command {
                title: title.clone(),
                command: PLACE.to_owned(),
                arguments: Some(vec![data.clone()]),
            };
            lsp::CodeAction {
                title,
                kind: Some(kind),
                diagnostics: Some(mended.iter().map(|it| diagnostic(view, it)).collect()),
                is_preferred: matches!(placement, Placement::Function(..)).then_some(true),
                command: (!lazily).then_some(command),
                data: lazily.then_some(data),
                ..lsp::CodeAction::default()
            }
        }
        Action::Fix(fix, mended) => {
            let edits = edits(view.text(), view.session.abilities().encoding, &fix.edits);
            lsp::CodeAction {
                title: fix.title.clone(),
                kind: Some(kind),
                diagnostics: Some(vec![diagnostic(view, mended)]),
                edit: Some(workspace_edit(view.session, view.uri, view.version, edits)),
                is_preferred: (fix.applicability == noisy_analyses::Applicability::Safe)
                    .then_some(true),
                ..lsp::CodeAction::default()
            }
        }
    }
}

/// A symbol with its ranges converted; [`tree`] makes a tree of them.
pub(crate) fn symbol(view: &View<'_>, it: &Symbol) -> (usize, lsp::DocumentSymbol) {
    #[expect(deprecated, reason = "the field is part of the struct")]
    let symbol = lsp::DocumentSymbol {
        name: it.name.clone(),
        detail: Some(it.detail.clone()),
        kind: match it.kind {
            symbol::Kind::Module => lsp::SymbolKind::MODULE,
            symbol::Kind::Function => lsp::SymbolKind::FUNCTION,
            symbol::Kind::Other => lsp::SymbolKind::VARIABLE,
        },
        tags: None,
        deprecated: None,
        range: view.range(&it.range),
        selection_range: view.range(&it.name_range),
        children: None,
    };
    (it.depth, symbol)
}

/// Makes a tree of symbols in textual order with their depths.
pub(crate) fn tree(symbols: Vec<(usize, lsp::DocumentSymbol)>) -> Vec<lsp::DocumentSymbol> {
    let mut roots: Vec<lsp::DocumentSymbol> = Vec::new();
    let mut open: Vec<lsp::DocumentSymbol> = Vec::new();
    let mut close = |open: &mut Vec<lsp::DocumentSymbol>| {
        let Some(last) = open.pop() else { return };
        match open.last_mut() {
            Some(parent) => parent.children.get_or_insert_default().push(last),
            None => roots.push(last),
        }
    };
    for (depth, symbol) in symbols {
        while open.len() > depth {
            close(&mut open);
        }
        open.push(symbol);
    }
    while !open.is_empty() {
        close(&mut open);
    }
    roots
}

/// Symbols for clients that take no tree.
pub(crate) fn flat(
    uri: &lsp::Uri,
    symbols: Vec<(usize, lsp::DocumentSymbol)>,
) -> Vec<lsp::SymbolInformation> {
    let information = |(_, it): (usize, lsp::DocumentSymbol)| {
        #[expect(deprecated, reason = "the field is part of the struct")]
        lsp::SymbolInformation {
            name: it.name,
            kind: it.kind,
            tags: None,
            deprecated: None,
            location: lsp::Location { uri: uri.clone(), range: it.range },
            container_name: None,
        }
    };
    symbols.into_iter().map(information).collect()
}

/// A fold, for clients that fold lines or characters.
pub(crate) fn fold(view: &View<'_>, it: &Fold) -> Option<lsp::FoldingRange> {
    let mut end = it.lines.1;
    if view.session.abilities().folds_lines {
        // The line of the closing brace stays.
        if it.kind == fold::Kind::Region {
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
        fold::Kind::Comment => lsp::FoldingRangeKind::Comment,
        fold::Kind::Region | fold::Kind::Chunk => lsp::FoldingRangeKind::Region,
    }
}

/// Nested ranges, innermost first.
pub(crate) fn selection(view: &View<'_>, ranges: &[std::ops::Range<usize>]) -> lsp::SelectionRange {
    let mut parent = None;
    for range in ranges.iter().rev() {
        parent = Some(Box::new(lsp::SelectionRange { range: view.range(range), parent }));
    }
    parent.map_or_else(lsp::SelectionRange::default, |it| *it)
}

/// A list of proposals.
pub(crate) fn completion(view: &View<'_>, it: Completion) -> lsp::CompletionList {
    let range = view.range(&it.range);
    let snippets = view.session.abilities().snippets;
    let item = |(n, it): (usize, completion::Proposal)| {
        let snippet = it.snippet.filter(|_| snippets);
        lsp::CompletionItem {
            kind: Some(match it.kind {
                completion::Kind::Op => lsp::CompletionItemKind::FUNCTION,
                completion::Kind::Value => lsp::CompletionItemKind::VARIABLE,
                completion::Kind::Block => lsp::CompletionItemKind::REFERENCE,
                completion::Kind::Symbol => lsp::CompletionItemKind::MODULE,
                completion::Kind::Type => lsp::CompletionItemKind::CLASS,
                completion::Kind::Attribute => lsp::CompletionItemKind::CONSTANT,
            }),
            detail: (!it.detail.is_empty()).then_some(it.detail),
            sort_text: Some(format!("{n:04}")),
            filter_text: Some(it.label.clone()),
            insert_text_format: snippet.is_some().then_some(lsp::InsertTextFormat::SNIPPET),
            text_edit: Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit {
                range,
                new_text: snippet.unwrap_or_else(|| it.label.clone()),
            })),
            label: it.label,
            ..lsp::CompletionItem::default()
        }
    };
    let items = it.proposals.into_iter().enumerate().map(item).collect();
    lsp::CompletionList { is_incomplete: it.is_cut, items }
}

/// The help for a signature.
pub(crate) fn signature(it: &Signature) -> lsp::SignatureHelp {
    // Labels are counted in UTF-16 units, whatever the document's positions count.
    let units = |at: usize| Encoding::Utf16.width(&it.label[..at]) as u32;
    let parameter = |range: &std::ops::Range<usize>| lsp::ParameterInformation {
        label: lsp::ParameterLabel::LabelOffsets([units(range.start), units(range.end)]),
        documentation: None,
    };
    lsp::SignatureHelp {
        signatures: vec![lsp::SignatureInformation {
            label: it.label.clone(),
            documentation: (!it.doc.is_empty()).then(|| {
                lsp::Documentation::MarkupContent(lsp::MarkupContent {
                    kind: lsp::MarkupKind::Markdown,
                    value: it.doc.clone(),
                })
            }),
            parameters: Some(it.parameters.iter().map(parameter).collect()),
            active_parameter: None,
        }],
        active_signature: Some(0),
        active_parameter: Some(it.active as u32),
    }
}

/// A code lens; one on a function over the budget places when it is clicked.
pub(crate) fn lens(view: &View<'_>, it: &Lens) -> lsp::CodeLens {
    let place = Place {
        uri: view.uri.clone(),
        version: Some(view.version),
        function: Some(it.function.clone()),
    };
    let is_over = it.max > it.budget;
    let arguments = is_over.then(|| vec![serde_json::to_value(place).unwrap_or_default()]);
    // Without a command a lens is only text.
    let command = if is_over { PLACE.to_owned() } else { String::new() };
    lsp::CodeLens {
        range: view.range(&it.range),
        command: Some(lsp::Command { title: it.title(), command, arguments }),
        data: None,
    }
}

/// A function in a call hierarchy.
pub(crate) fn call_item(view: &View<'_>, op: noisy_syntax::Op) -> Option<lsp::CallHierarchyItem> {
    let ir = view.document.ir();
    let (name, span) = ir.rest(op).symbol?;
    Some(lsp::CallHierarchyItem {
        name: ir.interner.str(name).to_owned(),
        kind: lsp::SymbolKind::FUNCTION,
        tags: None,
        detail: Some(ir.op_name(op).to_owned()),
        uri: view.uri.clone(),
        range: view.range(&ir.range(op)),
        selection_range: view.range(&ir.absolute(op, span)),
        data: None,
    })
}
