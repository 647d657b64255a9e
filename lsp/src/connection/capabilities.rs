//! The capabilities of the client that the server uses.

use tower_lsp::ls_types as lsp;

use crate::text::encoding::Encoding;
use crate::text::position::negotiate;

#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one for each capability")]
pub(crate) struct ClientCapabilities {
    /// The unit of columns.
    pub encoding: Encoding,
    /// True if the client pulls diagnostics.
    pub pulls_diagnostics: bool,
    /// True if the client shows related information of a diagnostic.
    pub related_information: bool,
    /// True if the client shows unnecessary and deprecated code.
    pub diagnostic_tags: bool,
    /// True if the client shows titles of edits.
    pub annotates_edits: bool,
    /// True if the client asks the user before it applies an edit of the server that needs to be
    /// confirmed, but not before it applies the edit of an action.
    pub confirms_edits: bool,
    /// True if the client accepts edits of document versions.
    pub document_changes: bool,
    /// True if the client accepts symbols as a tree.
    pub symbol_tree: bool,
    /// True if the client shows details beside the labels of completions.
    pub label_details: bool,
    /// True if the client accepts completions with placeholders.
    pub snippets: bool,
    /// True if the client resolves the edits of code actions lazily.
    pub resolves_actions: bool,
    /// True if the client accepts literal code actions.
    pub action_literals: bool,
    /// True if the client lets the server request new inlay hints.
    pub refreshes_hints: bool,
    /// True if the client lets the server request new code lenses.
    pub refreshes_lenses: bool,
    /// True if the client shows disabled actions with the reason.
    pub disabled_actions: bool,
    /// True if the client shows progress of the server.
    pub progress: bool,
    /// True if the client shows the status of the server.
    pub server_status: bool,
    /// True if the client follows links of diagnostic codes.
    pub code_description: bool,
    /// True if the client keeps the data of diagnostics.
    pub diagnostic_data: bool,
    /// True if the client lets the server request new diagnostics.
    pub refreshes_diagnostics: bool,
    /// True if the client answers questions about its configuration.
    pub configuration: bool,
    /// True if the client lets the server register for changes of its configuration.
    pub registers_configuration: bool,
    /// True if the client lets the server register for changes of files.
    pub registers_watching: bool,
    /// True if the client lets the server register for documents with other names, and for requests
    /// about them.
    pub registers_documents: bool,
    /// True if the client accepts semantic tokens as differences.
    pub token_deltas: bool,
    /// True if the client folds whole lines only.
    pub folds_lines: bool,
    /// True if the client accepts links from definitions.
    pub definition_links: bool,
    /// True if the client applies edits on request of the server.
    pub applies_edits: bool,
    /// True if the client asks for the range of a rename before it asks for the rename.
    pub prepares_renames: bool,
    /// True if the client shows hovers without markup.
    pub needs_plain_hovers: bool,
    /// True if the client shows the documentation of completions without markup.
    pub needs_plain_completions: bool,
    /// True if the client shows the documentation of signatures without markup.
    pub needs_plain_signatures: bool,
    /// True if the client accepts parameters of a signature as ranges of its label.
    pub parameter_ranges: bool,
    /// Kinds of completions that the client shows; `None` means those of the first version of the
    /// protocol.
    pub completion_kinds: Option<Vec<lsp::CompletionItemKind>>,
}

/// Kinds of completions of the first version of the protocol.
const FIRST_KINDS: [lsp::CompletionItemKind; 18] = {
    use lsp::CompletionItemKind as Kind;
    [
        Kind::TEXT,
        Kind::METHOD,
        Kind::FUNCTION,
        Kind::CONSTRUCTOR,
        Kind::FIELD,
        Kind::VARIABLE,
        Kind::CLASS,
        Kind::INTERFACE,
        Kind::MODULE,
        Kind::PROPERTY,
        Kind::UNIT,
        Kind::VALUE,
        Kind::ENUM,
        Kind::KEYWORD,
        Kind::SNIPPET,
        Kind::COLOR,
        Kind::FILE,
        Kind::REFERENCE,
    ]
};

/// True if the client accepts only plain text. A client without a list of formats is assumed to
/// accept markup.
fn is_plain(formats: Option<&Vec<lsp::MarkupKind>>) -> bool {
    formats.is_some_and(|it| !it.is_empty() && !it.contains(&lsp::MarkupKind::Markdown))
}

impl ClientCapabilities {
    /// Reads the capabilities from the message `initialize`.
    pub(crate) fn of(capabilities: &lsp::ClientCapabilities) -> Self {
        // Follows a path of optional fields to its value, if there is one.
        macro_rules! has {
            ($first:ident $(. $rest:ident)*) => {
                capabilities.$first.as_ref()$(.and_then(|it| it.$rest.as_ref()))*
            };
        }
        let offered = has!(general.position_encodings).map_or(&[][..], Vec::as_slice);
        let yes = |flag: Option<&bool>| flag == Some(&true);
        let resolves = has!(text_document.code_action.resolve_support)
            .is_some_and(|it| it.properties.iter().any(|it| it == "edit"));
        Self {
            encoding: negotiate(offered),
            pulls_diagnostics: has!(text_document.diagnostic).is_some(),
            related_information: yes(has!(text_document.publish_diagnostics.related_information)),
            diagnostic_tags: has!(text_document.publish_diagnostics.tag_support).is_some(),
            annotates_edits: has!(workspace.workspace_edit.change_annotation_support).is_some(),
            confirms_edits: has!(experimental).is_some_and(|it| it["confirmsEdits"] == true),
            document_changes: yes(has!(workspace.workspace_edit.document_changes)),
            symbol_tree: yes(has!(
                text_document.document_symbol.hierarchical_document_symbol_support
            )),
            label_details: yes(has!(
                text_document.completion.completion_item.label_details_support
            )),
            snippets: yes(has!(text_document.completion.completion_item.snippet_support)),
            resolves_actions: resolves && yes(has!(text_document.code_action.data_support)),
            action_literals: has!(text_document.code_action.code_action_literal_support).is_some(),
            refreshes_hints: yes(has!(workspace.inlay_hint.refresh_support)),
            refreshes_lenses: yes(has!(workspace.code_lens.refresh_support)),
            disabled_actions: yes(has!(text_document.code_action.disabled_support)),
            progress: yes(has!(window.work_done_progress)),
            server_status: has!(experimental)
                .is_some_and(|it| it["serverStatusNotification"] == true),
            code_description: yes(has!(text_document.publish_diagnostics.code_description_support)),
            diagnostic_data: yes(has!(text_document.publish_diagnostics.data_support)),
            refreshes_diagnostics: yes(has!(workspace.diagnostics.refresh_support)),
            configuration: yes(has!(workspace.configuration)),
            registers_configuration: yes(has!(
                workspace.did_change_configuration.dynamic_registration
            )),
            registers_watching: yes(has!(workspace.did_change_watched_files.dynamic_registration)),
            registers_documents: yes(has!(text_document.synchronization.dynamic_registration))
                && yes(has!(text_document.completion.dynamic_registration))
                && yes(has!(text_document.hover.dynamic_registration)),
            token_deltas: has!(text_document.semantic_tokens).is_some_and(|it| {
                use lsp::SemanticTokensFullOptions::Delta;
                matches!(it.requests.full, Some(Delta { delta: Some(true) }))
            }),
            folds_lines: yes(has!(text_document.folding_range.line_folding_only)),
            definition_links: yes(has!(text_document.definition.link_support)),
            applies_edits: yes(has!(workspace.apply_edit)),
            prepares_renames: yes(has!(text_document.rename.prepare_support)),
            needs_plain_hovers: is_plain(has!(text_document.hover.content_format)),
            needs_plain_completions: is_plain(has!(
                text_document.completion.completion_item.documentation_format
            )),
            needs_plain_signatures: is_plain(has!(
                text_document.signature_help.signature_information.documentation_format
            )),
            parameter_ranges: yes(has!(
                text_document
                    .signature_help
                    .signature_information
                    .parameter_information
                    .label_offset_support
            )),
            completion_kinds: has!(text_document.completion.completion_item_kind.value_set)
                .cloned(),
        }
    }

    /// Returns `kind` if the client shows it.
    pub(crate) fn completion_kind(
        &self,
        kind: lsp::CompletionItemKind,
    ) -> Option<lsp::CompletionItemKind> {
        let known = self.completion_kinds.as_deref().unwrap_or(&FIRST_KINDS);
        known.contains(&kind).then_some(kind)
    }
}
