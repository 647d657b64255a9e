//! What all parts of the server share: the client's abilities, the settings, the open documents, the way out.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock};

use rustc_hash::FxHashMap;
use tower_lsp::Client;
use tower_lsp::ls_types as lsp;

use crate::actor::Document;
use crate::config::Config;
use crate::outbox::Outbox;
use crate::position::Encoding;

/// One connection.
#[derive(Debug, Default)]
pub(crate) struct Session {
    /// The way to the client.
    pub outbox: Outbox,
    abilities: OnceLock<Abilities>,
    config: RwLock<Arc<Config>>,
    documents: Mutex<FxHashMap<String, Document>>,
    client: OnceLock<Client>,
}

/// What the client can do, as far as it matters here.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "one for each ability")]
pub(crate) struct Abilities {
    /// What columns count.
    pub encoding: Encoding,
    /// It asks for diagnostics itself.
    pub pulls_diagnostics: bool,
    /// It shows places that explain a diagnostic.
    pub related_information: bool,
    /// It shows what is unnecessary or deprecated.
    pub tags: bool,
    /// It takes edits of versions of documents.
    pub document_changes: bool,
    /// It takes symbols as a tree.
    pub symbol_tree: bool,
    /// It takes completions with placeholders.
    pub snippets: bool,
    /// It takes lazily resolved edits of code actions.
    pub resolves_actions: bool,
    /// It takes literal code actions at all.
    pub action_literals: bool,
    /// It lets the server ask for new inlay hints.
    pub refreshes_hints: bool,
    /// It lets the server ask for new diagnostics.
    pub refreshes_diagnostics: bool,
    /// It answers questions about its configuration.
    pub configuration: bool,
    /// It lets the server register for changes of its configuration.
    pub registers_configuration: bool,
    /// It shows only whole lines as folded.
    pub folds_lines: bool,
    /// It takes links from definitions.
    pub definition_links: bool,
}

impl Abilities {
    /// Reads them out of the client's capabilities.
    pub(crate) fn of(capabilities: &lsp::ClientCapabilities) -> Self {
        // A path of optional fields that ends in a value or in nothing.
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
            encoding: Encoding::negotiate(offered),
            pulls_diagnostics: has!(text_document.diagnostic).is_some(),
            related_information: yes(has!(text_document.publish_diagnostics.related_information)),
            tags: has!(text_document.publish_diagnostics.tag_support).is_some(),
            document_changes: yes(has!(workspace.workspace_edit.document_changes)),
            symbol_tree: yes(has!(
                text_document.document_symbol.hierarchical_document_symbol_support
            )),
            snippets: yes(has!(text_document.completion.completion_item.snippet_support)),
            resolves_actions: resolves && yes(has!(text_document.code_action.data_support)),
            action_literals: has!(text_document.code_action.code_action_literal_support).is_some(),
            refreshes_hints: yes(has!(workspace.inlay_hint.refresh_support)),
            refreshes_diagnostics: yes(has!(workspace.diagnostics.refresh_support)),
            configuration: yes(has!(workspace.configuration)),
            registers_configuration: yes(has!(
                workspace.did_change_configuration.dynamic_registration
            )),
            folds_lines: yes(has!(text_document.folding_range.line_folding_only)),
            definition_links: yes(has!(text_document.definition.link_support)),
        }
    }
}

impl Session {
    /// What the client can do; before it said so: nothing.
    pub(crate) fn abilities(&self) -> &Abilities {
        static NONE: OnceLock<Abilities> = OnceLock::new();
        self.abilities.get().unwrap_or_else(|| {
            NONE.get_or_init(|| Abilities::of(&lsp::ClientCapabilities::default()))
        })
    }

    /// Keeps what the client said that it can do; the first time counts.
    pub(crate) fn met(&self, capabilities: &lsp::ClientCapabilities) {
        let _ = self.abilities.set(Abilities::of(capabilities));
    }

    /// For requests to the client; they are spawned, never awaited by a handler.
    pub(crate) fn client(&self) -> Option<Client> {
        self.client.get().cloned()
    }

    /// Keeps the way to make requests; the first one counts.
    pub(crate) fn set_client(&self, client: Client) {
        let _ = self.client.set(client);
    }

    /// The settings now.
    pub(crate) fn config(&self) -> Arc<Config> {
        self.config.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the settings; whether they are others than before.
    pub(crate) fn configure(&self, config: Config) -> bool {
        let mut now = self.config.write().unwrap_or_else(PoisonError::into_inner);
        let changed = **now != config;
        *now = Arc::new(config);
        changed
    }

    fn documents(&self) -> MutexGuard<'_, FxHashMap<String, Document>> {
        self.documents.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An open document.
    pub(crate) fn document(&self, uri: &lsp::Uri) -> Option<Document> {
        self.documents().get(uri.as_str()).cloned()
    }

    /// All open documents, by name.
    pub(crate) fn all_documents(&self) -> Vec<Document> {
        let documents = self.documents();
        let mut all: Vec<_> = documents.iter().collect();
        all.sort_unstable_by_key(|(uri, _)| *uri);
        all.into_iter().map(|(_, document)| document.clone()).collect()
    }

    /// Opens a document in place of any of that name.
    pub(crate) fn insert(&self, uri: &lsp::Uri, document: Document) {
        self.documents().insert(uri.as_str().to_owned(), document);
    }

    /// Closes a document; whether it was open.
    pub(crate) fn remove(&self, uri: &lsp::Uri) -> bool {
        self.documents().remove(uri.as_str()).is_some()
    }
}
