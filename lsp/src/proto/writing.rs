//! Completion and signatures.

use tower_lsp::ls_types as lsp;

use crate::features::write::completion::{self, Completion};
use crate::features::write::signature::Signature;
use crate::proto::markup::markup_content;
use crate::proto::view::DocumentView;
use crate::text::encoding::Encoding;

/// A list of proposals.
pub(crate) fn completion(view: &DocumentView<'_>, it: Completion) -> lsp::CompletionList {
    let range = view.range(&it.range);
    let capabilities = view.connection.capabilities();
    let (snippets, details) = (capabilities.snippets, capabilities.label_details);
    let item = |(n, it): (usize, completion::Proposal)| {
        let snippet = it.snippet.clone().filter(|_| snippets);
        lsp::CompletionItem {
            kind: capabilities.completion_kind(match it.kind {
                completion::ProposalKind::Op => lsp::CompletionItemKind::FUNCTION,
                completion::ProposalKind::Value => lsp::CompletionItemKind::VARIABLE,
                completion::ProposalKind::Block => lsp::CompletionItemKind::REFERENCE,
                completion::ProposalKind::Symbol => lsp::CompletionItemKind::MODULE,
                completion::ProposalKind::Type => lsp::CompletionItemKind::CLASS,
                completion::ProposalKind::Attribute => lsp::CompletionItemKind::CONSTANT,
            }),
            // Shown beside the label on every row, if the client supports it.
            label_details: details.then(|| lsp::CompletionItemLabelDetails {
                detail: it.noise.as_ref().map(|it| format!(" {it}")),
                description: (it.kind == completion::ProposalKind::Value)
                    .then(|| it.detail.clone()),
            }),
            detail: detail(&it),
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
    lsp::CompletionList { is_incomplete: it.is_incomplete, items }
}

/// The detail of a proposal: its type and noise, or a sentence.
fn detail(it: &completion::Proposal) -> Option<String> {
    let noise = it.noise.as_ref().map(|noise| format!("{} {noise}", it.detail));
    noise.or_else(|| (!it.detail.is_empty()).then(|| it.detail.clone()))
}

/// The help for a signature.
pub(crate) fn signature(view: &DocumentView<'_>, it: &Signature) -> lsp::SignatureHelp {
    let capabilities = view.connection.capabilities();
    // Offsets in labels are in UTF-16 units, independent of the encoding of positions.
    let units = |at: usize| Encoding::Utf16.width(&it.label[..at]) as u32;
    let parameter = |range: &std::ops::Range<usize>| lsp::ParameterInformation {
        label: if capabilities.parameter_ranges {
            lsp::ParameterLabel::LabelOffsets([units(range.start), units(range.end)])
        } else {
            lsp::ParameterLabel::Simple(it.label[range.clone()].to_owned())
        },
        documentation: None,
    };
    lsp::SignatureHelp {
        signatures: vec![lsp::SignatureInformation {
            label: it.label.clone(),
            documentation: (!it.doc.is_empty()).then(|| {
                let text = markup_content(capabilities.needs_plain_signatures, it.doc.clone());
                lsp::Documentation::MarkupContent(text)
            }),
            parameters: Some(it.parameters.iter().map(parameter).collect()),
            active_parameter: None,
        }],
        active_signature: Some(0),
        active_parameter: Some(it.active_parameter as u32),
    }
}
