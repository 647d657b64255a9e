//! Answers about a configuration file.

use noisy_settings::ConfigProblem;
use noisy_settings::assist::{Explanation, ProposalKind, SettingProposal, SettingProposals};
use tower_lsp::ls_types as lsp;

use crate::connection::Connection;
use crate::proto::markup::markup_content;
use crate::text::config_file::ConfigFile;
use crate::text::position;

/// The diagnostics of a file.
pub(crate) fn diagnostics(
    connection: &Connection,
    file: &ConfigFile,
    problems: &[ConfigProblem],
) -> Vec<lsp::Diagnostic> {
    let diagnostic = |it: &ConfigProblem| lsp::Diagnostic {
        range: position::range(&file.text, &it.range, connection.capabilities().encoding),
        severity: Some(lsp::DiagnosticSeverity::ERROR),
        source: Some("noisy".to_owned()),
        message: it.message.clone(),
        ..lsp::Diagnostic::default()
    };
    problems.iter().map(diagnostic).collect()
}

/// The meaning of a key or a value.
pub(crate) fn hover(connection: &Connection, file: &ConfigFile, it: Explanation) -> lsp::Hover {
    let capabilities = connection.capabilities();
    lsp::Hover {
        contents: lsp::HoverContents::Markup(markup_content(
            capabilities.needs_plain_hovers,
            it.text,
        )),
        range: Some(position::range(&file.text, &it.range, capabilities.encoding)),
    }
}

/// A list of proposals.
pub(crate) fn completion(
    connection: &Connection,
    file: &ConfigFile,
    found: SettingProposals,
) -> lsp::CompletionList {
    let capabilities = connection.capabilities();
    let range = position::range(&file.text, &found.replaced_range, capabilities.encoding);
    let item = |(n, it): (usize, SettingProposal)| {
        let snippet = capabilities.snippets.then(|| snippet(&it)).flatten();
        lsp::CompletionItem {
            kind: capabilities.completion_kind(match it.kind {
                ProposalKind::Key => lsp::CompletionItemKind::PROPERTY,
                ProposalKind::Table => lsp::CompletionItemKind::MODULE,
                ProposalKind::Value => lsp::CompletionItemKind::VALUE,
            }),
            detail: (!it.detail.is_empty()).then_some(it.detail),
            documentation: Some(it.documentation).filter(|it| !it.is_empty()).map(|text| {
                let text = markup_content(capabilities.needs_plain_completions, text);
                lsp::Documentation::MarkupContent(text)
            }),
            sort_text: Some(format!("{n:04}")),
            filter_text: Some(it.label.clone()),
            insert_text_format: snippet.is_some().then_some(lsp::InsertTextFormat::SNIPPET),
            text_edit: Some(lsp::CompletionTextEdit::Edit(lsp::TextEdit {
                range,
                new_text: snippet.unwrap_or(it.text),
            })),
            label: it.label,
            ..lsp::CompletionItem::default()
        }
    };
    let items = found.all.into_iter().enumerate().map(item).collect();
    lsp::CompletionList { is_incomplete: false, items }
}

/// The text of a proposal with a placeholder; `None` if it has none.
fn snippet(it: &SettingProposal) -> Option<String> {
    let blank = it.placeholder.as_ref()?;
    let plain = |text: &str| {
        let special = |c: char| if "$}\\".contains(c) { format!("\\{c}") } else { c.to_string() };
        text.chars().map(special).collect::<String>()
    };
    let default = &it.text[blank.range.clone()];
    let place = if blank.choices.is_empty() {
        format!("${{1:{}}}", plain(default))
    } else {
        // The default comes first, because clients insert the first choice.
        let (first, others): (Vec<_>, Vec<_>) = blank.choices.iter().partition(|it| *it == default);
        let all: Vec<String> = first
            .into_iter()
            .chain(others)
            .map(|it| plain(it).replace(',', "\\,").replace('|', "\\|"))
            .collect();
        format!("${{1|{}|}}", all.join(","))
    };
    let (before, after) = (&it.text[..blank.range.start], &it.text[blank.range.end..]);
    Some(format!("{}{place}{}", plain(before), plain(after)))
}
