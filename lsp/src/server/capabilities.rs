//! The capabilities that the server announces.

use tower_lsp::ls_types as lsp;

use crate::connection::Connection;
use crate::proto::action::ACTION_KINDS;
use crate::proto::token;
use crate::requests::command;
use crate::text::position::encoding_kind;

/// The capabilities for a client and its settings.
pub(crate) fn server_capabilities(connection: &Connection) -> lsp::ServerCapabilities {
    let client = connection.capabilities();
    let all = !connection.settings.editor().is_noise_only();
    lsp::ServerCapabilities {
        position_encoding: Some(encoding_kind(client.encoding)),
        text_document_sync: Some(lsp::TextDocumentSyncCapability::Options(
            lsp::TextDocumentSyncOptions {
                open_close: Some(true),
                change: Some(lsp::TextDocumentSyncKind::INCREMENTAL),
                ..lsp::TextDocumentSyncOptions::default()
            },
        )),
        workspace: Some(lsp::WorkspaceServerCapabilities {
            workspace_folders: Some(lsp::WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(lsp::OneOf::Left(true)),
            }),
            file_operations: None,
        }),
        hover_provider: Some(lsp::HoverProviderCapability::Simple(true)),
        inlay_hint_provider: Some(lsp::OneOf::Right(lsp::InlayHintServerCapabilities::Options(
            lsp::InlayHintOptions {
                resolve_provider: Some(true),
                ..lsp::InlayHintOptions::default()
            },
        ))),
        code_action_provider: client.action_literals.then(|| {
            lsp::CodeActionProviderCapability::Options(lsp::CodeActionOptions {
                code_action_kinds: Some(ACTION_KINDS.map(lsp::CodeActionKind::new).to_vec()),
                resolve_provider: Some(true),
                ..lsp::CodeActionOptions::default()
            })
        }),
        execute_command_provider: Some(lsp::ExecuteCommandOptions {
            commands: command::all(client).into_iter().map(str::to_owned).collect(),
            ..lsp::ExecuteCommandOptions::default()
        }),
        diagnostic_provider: client.pulls_diagnostics.then(|| {
            lsp::DiagnosticServerCapabilities::Options(lsp::DiagnosticOptions {
                identifier: Some("noisy".to_owned()),
                ..lsp::DiagnosticOptions::default()
            })
        }),
        definition_provider: all.then_some(lsp::OneOf::Left(true)),
        references_provider: all.then_some(lsp::OneOf::Left(true)),
        document_highlight_provider: all.then_some(lsp::OneOf::Left(true)),
        document_symbol_provider: all.then_some(lsp::OneOf::Left(true)),
        rename_provider: all.then(|| {
            if !client.prepares_renames {
                return lsp::OneOf::Left(true);
            }
            lsp::OneOf::Right(lsp::RenameOptions {
                prepare_provider: Some(true),
                work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
            })
        }),
        folding_range_provider: all.then_some(lsp::FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: all
            .then_some(lsp::SelectionRangeProviderCapability::Simple(true)),
        semantic_tokens_provider: all.then(|| {
            lsp::SemanticTokensOptions {
                legend: token::legend(),
                range: Some(true),
                full: Some(lsp::SemanticTokensFullOptions::Delta { delta: Some(true) }),
                ..lsp::SemanticTokensOptions::default()
            }
            .into()
        }),
        signature_help_provider: all.then(|| lsp::SignatureHelpOptions {
            trigger_characters: Some(["(", ",", " "].map(str::to_owned).to_vec()),
            ..lsp::SignatureHelpOptions::default()
        }),
        linked_editing_range_provider: all
            .then_some(lsp::LinkedEditingRangeServerCapabilities::Simple(true)),
        document_link_provider: Some(lsp::DocumentLinkOptions {
            resolve_provider: Some(false),
            work_done_progress_options: lsp::WorkDoneProgressOptions::default(),
        }),
        document_formatting_provider: all.then_some(lsp::OneOf::Left(true)),
        document_range_formatting_provider: all.then_some(lsp::OneOf::Left(true)),
        document_on_type_formatting_provider: all.then(|| lsp::DocumentOnTypeFormattingOptions {
            first_trigger_character: "\n".to_owned(),
            more_trigger_character: Some(vec!["}".to_owned()]),
        }),
        code_lens_provider: Some(lsp::CodeLensOptions { resolve_provider: Some(false) }),
        call_hierarchy_provider: all.then_some(lsp::CallHierarchyServerCapability::Simple(true)),
        workspace_symbol_provider: all.then_some(lsp::OneOf::Left(true)),
        completion_provider: all.then(|| lsp::CompletionOptions {
            resolve_provider: Some(true),
            trigger_characters: Some(["%", "^", "@", "!", "#", "."].map(str::to_owned).to_vec()),
            ..lsp::CompletionOptions::default()
        }),
        ..lsp::ServerCapabilities::default()
    }
}
