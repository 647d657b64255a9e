//! The document that a query reads, as it is at that moment, with its positions in the client's
//! encoding.

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

/// The view of a query.
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
    /// Data that answers keep for later ones.
    pub cache: &'a mut Cache,
}

/// Data that answers keep for later ones.
#[derive(Debug, Default)]
pub(crate) struct Cache {
    /// The semantic tokens sent last, with their number.
    pub tokens: Option<(u64, Arc<Numbers>)>,
    /// The number of the semantic tokens sent last.
    pub last_tokens: u64,
    /// Results of the optimizer.
    pub solutions: Option<Solutions>,
    /// Dependences of loop nests.
    pub nests: Nests,
}

impl View<'_> {
    /// Returns the repair that was made in this version of the document, if there is one.
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

    /// True if another server serves everything except noise.
    pub(crate) fn is_only_noise(&self) -> bool {
        self.settings.editor.is_only_noise_in(self.document.is_of_heir())
    }

    pub(crate) fn text(&self) -> &Rope {
        self.document.source().text()
    }

    /// The byte offset of a position.
    pub(crate) fn offset(&self, position: lsp::Position) -> usize {
        position::offset(self.text(), position, self.connection.capabilities().encoding)
    }

    /// The bytes of a range.
    pub(crate) fn offsets(&self, range: lsp::Range) -> Range<usize> {
        position::offsets(self.text(), range, self.connection.capabilities().encoding)
    }

    /// The position of a byte offset.
    pub(crate) fn position(&self, offset: usize) -> lsp::Position {
        position::position(self.text(), offset, self.connection.capabilities().encoding)
    }

    /// The range of a range of bytes.
    pub(crate) fn range(&self, bytes: &Range<usize>) -> lsp::Range {
        position::range(self.text(), bytes, self.connection.capabilities().encoding)
    }
}
