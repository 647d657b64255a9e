//! The legend of semantic tokens: the protocol's names for the kinds and modifiers of
//! [`crate::features::token`].

use tower_lsp::ls_types as lsp;

use crate::features::token::{DEFINITION, Kind, NOISY};

pub(crate) fn legend() -> lsp::SemanticTokensLegend {
    let modifiers = [(DEFINITION, "definition"), (NOISY, "noisy")];
    debug_assert!(modifiers.iter().enumerate().all(|(n, it)| it.0 == 1 << n));
    lsp::SemanticTokensLegend {
        token_types: Kind::ALL.map(|it| lsp::SemanticTokenType::new(name(it))).to_vec(),
        token_modifiers: modifiers.map(|it| lsp::SemanticTokenModifier::new(it.1)).to_vec(),
    }
}

fn name(kind: Kind) -> &'static str {
    match kind {
        Kind::Comment => "comment",
        Kind::String => "string",
        Kind::Number => "number",
        Kind::Keyword => "keyword",
        Kind::Op => "macro",
        Kind::Value => "variable",
        Kind::Symbol => "function",
        Kind::Block => "label",
        Kind::Type => "type",
        Kind::Attribute => "decorator",
        Kind::Property => "property",
    }
}
