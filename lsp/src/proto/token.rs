//! The legend of semantic tokens: the protocol's names for the kinds and modifiers of
//! [`crate::features::read::token`].

use tower_lsp::ls_types as lsp;

use crate::features::read::token::{DEFINITION_BIT, NOISY_BIT, TokenClass};

pub(crate) fn legend() -> lsp::SemanticTokensLegend {
    let modifiers = [(DEFINITION_BIT, "definition"), (NOISY_BIT, "noisy")];
    debug_assert!(modifiers.iter().enumerate().all(|(n, it)| it.0 == 1 << n));
    lsp::SemanticTokensLegend {
        token_types: TokenClass::ALL.map(|it| lsp::SemanticTokenType::new(name(it))).to_vec(),
        token_modifiers: modifiers.map(|it| lsp::SemanticTokenModifier::new(it.1)).to_vec(),
    }
}

fn name(kind: TokenClass) -> &'static str {
    match kind {
        TokenClass::Comment => "comment",
        TokenClass::String => "string",
        TokenClass::Number => "number",
        TokenClass::Keyword => "keyword",
        TokenClass::Op => "macro",
        TokenClass::Value => "variable",
        TokenClass::Symbol => "function",
        TokenClass::Block => "label",
        TokenClass::Type => "type",
        TokenClass::Attribute => "decorator",
        TokenClass::Property => "property",
    }
}
