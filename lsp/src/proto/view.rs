//! The current document as a query sees it, with positions in the client's encoding.

use std::ops::Range;
use std::sync::Arc;

use noisy_analyses::{self as analyses, Category, Diagnostic};
use ropey::Rope;
use tower_lsp::ls_types as lsp;

use crate::connection::Connection;
use crate::connection::settings::Effective;
use crate::features::nest::Nests;
use crate::features::read::token::Numbers;
use crate::features::write::action::RepairRequest;
use crate::optimizer::{Solution, Solutions};
use crate::text::position;

/// The document, settings and caches that a query uses.
#[derive(Debug)]
pub(crate) struct View<'a> {
    /// Text, IR and facts.
    pub document: &'a analyses::Document,
    /// The version of the text.
    pub version: i32,
    pub uri: &'a lsp::Uri,
    /// The settings of the document.
    pub settings: &'a Arc<Effective>,
    /// The client and its settings.
    pub connection: &'a Connection,
    /// Data that is cached between queries.
    pub cache: &'a mut Cache,
}

/// Data that is cached between queries.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The semantic tokens of the last answer, with their number.
    pub tokens: Option<(u64, Arc<Numbers>)>,
    /// The number of the last semantic tokens.
    pub last_tokens: u64,
    /// Results of the optimizer.
    pub solutions: Option<Solutions>,
    /// Dependences of loop nests.
    pub nests: Nests,
}

impl View<'_> {
    /// Returns the result of a repair in this version of the document, if it was computed.
    pub(crate) fn solution(&self, repair: &RepairRequest) -> Option<&Solution> {
        let solutions = self.cache.solutions.as_ref().filter(|it| it.version == self.version)?;
        solutions.all.iter().find(|it| it.repair == *repair)
    }

    /// The diagnostics under the document's settings.
    pub(crate) fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = self.settings.file.rules.diagnostics(self.document);
        if self.is_only_noise() {
            found.retain(|it| matches!(it.category, Category::Noise | Category::Lint));
        }
        found
    }

    /// True if another server handles everything except noise.
    pub(crate) fn is_only_noise(&self) -> bool {
        self.settings.editor.is_only_noise_in(self.document.is_of_heir())
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
