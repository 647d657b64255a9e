//! Rows of `builtin`.

macro_rules! builtin {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// A container of functions and other top-level ops. Its symbols are its own, and the order of its ops does not matter.
        BuiltinModule = "builtin.module" {
            traits: Traits::ISOLATED
                .union(Traits::SYMBOL)
                .union(Traits::SYMBOL_TABLE)
                .union(Traits::GRAPH_REGION)
                .union(Traits::SINGLE_BLOCK)
                .union(Traits::NO_TERMINATOR),
            regions: Count::exactly(1),
            attrs: &[
                AttrSpec::optional("sym_name", AttrClass::Str),
                AttrSpec::optional("sym_visibility", AttrClass::Str),
            ],
            form: &[Element::OptSymbolName, Element::AttrDictWithKeyword, Element::Region],
            ..OpSpec::NONE
        }
        /// Casts values between types in the middle of a conversion; what it means is left to who resolves it.
        BuiltinUnrealizedConversionCast = "builtin.unrealized_conversion_cast" {
            operands: Count::ANY,
            results: Count::at_least(1),
            form: &[Element::OptUsesTypes, Element::Word("to"), Element::ResultTypes, Element::AttrDict],
            ..OpSpec::PURE
        }
    } };
}
