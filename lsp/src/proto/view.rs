//! The current document as a query sees it, with positions in the client's encoding.

use std::ops::Range;
use std::sync::Arc;

use noisy_analyses::{self as analyses, Category, Diagnostic};
use ropey::Rope;
use tower_lsp::ls_types as lsp;

use crate::connection::Connection;
use crate::connection::settings::EffectiveSettings;
use crate::features::nest::NestCache;
use crate::features::read::token::EncodedTokens;
use crate::features::write::action::RepairRequest;
use crate::optimizer::Solution;
use crate::text::position;

/// The document, settings and caches that a query uses.
#[derive(Debug)]
pub(crate) struct DocumentView<'a> {
    /// Text, IR and facts.
    pub document: &'a analyses::Document,
    /// The version of the text.
    pub version: i32,
    pub uri: &'a lsp::Uri,
    /// The settings of the document.
    pub settings: &'a Arc<EffectiveSettings>,
    /// The client and its settings.
    pub connection: &'a Connection,
    /// Data that is cached between queries.
    pub cache: &'a mut QueryCache,
}

/// Data that is cached between queries.
#[derive(Debug, Default)]
pub(crate) struct QueryCache {
    /// The semantic tokens of the last answer, with their number.
    pub tokens: Option<(u64, Arc<EncodedTokens>)>,
    /// The number of the last semantic tokens.
    pub last_tokens_id: u64,
    /// Results of the optimizer for the current text and settings; `None` before the first search.
    pub solutions: Option<Vec<Solution>>,
    /// Dependences of loop nests.
    pub nests: NestCache,
}

impl DocumentView<'_> {
    /// Returns the result of a repair in this version of the document, if it was computed.
    pub(crate) fn solution(&self, repair: &RepairRequest) -> Option<&Solution> {
        self.cache.solutions.as_ref()?.iter().find(|it| it.repair == *repair)
    }

    /// The diagnostics under the document's settings.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = self.settings.file.rules.diagnostics(self.document);
        if self.is_noise_only() {
            found.retain(|it| matches!(it.category, Category::Noise | Category::Lint));
        }
        found
    }

    /// True if another server handles everything except noise.
    pub(crate) fn is_noise_only(&self) -> bool {
        self.settings.editor.is_noise_only_in(self.document.is_heir_program())
    }

    pub(crate) fn text(&self) -> &Rope {
        self.document.source().text()
    }

    /// Converts a position of the protocol to a byte offset.
    pub(crate) fn offset(&self, position: lsp::Position) -> usize {
        position::offset(self.text(), position, self.connection.capabilities().encoding)
    }

    /// Converts a range of the protocol to a byte range.
    pub(crate) fn offsets(&self, range: lsp::Range) -> Range<usize> {
        position::offsets(self.text(), range, self.connection.capabilities().encoding)
    }

    /// Converts a byte offset to a position of the protocol.
    pub(crate) fn position(&self, offset: usize) -> lsp::Position {
        position::position(self.text(), offset, self.connection.capabilities().encoding)
    }

    /// Converts a byte range to a range of the protocol.
    pub(crate) fn range(&self, bytes: &Range<usize>) -> lsp::Range {
        position::range(self.text(), bytes, self.connection.capabilities().encoding)
    }
}
