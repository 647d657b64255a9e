//! Rows of `builtin`.

macro_rules! builtin {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// A container of functions and other top-level ops. Its symbols are its own, and the order of its ops does not matter.
        BuiltinModule = "builtin.module", ISOLATED|SYMBOL|SYMBOL_TABLE|GRAPH_REGION|SINGLE_BLOCK|NO_TERMINATOR, [("sym_name", ""), ("sym_visibility", "")], [Element::OptSymbolName, Element::AttrDictWithKeyword, Element::Region];
        /// Casts values between types in the middle of a conversion; what it means is left to who resolves it.
        BuiltinUnrealizedConversionCast = "builtin.unrealized_conversion_cast", PURE, [], [Element::OptUsesTypes, Element::Word("to"), Element::ResultTypes, Element::AttrDict];
    } };
}
