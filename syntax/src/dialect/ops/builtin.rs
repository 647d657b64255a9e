//! Rows of `builtin`.

use crate::dialect::prelude::*;
use crate::dialect::syntax::func::OPT_SYMBOL_NAME;

pub(in crate::dialect) const MODULE: OpSpec = OpSpec {
    name: "builtin.module",
    doc: "Contains functions and other top-level ops. It has its own symbol table, \
          and the order of its ops does not matter.",
    traits: Traits::ISOLATED
        .union(Traits::SYMBOL)
        .union(Traits::SYMBOL_TABLE)
        .union(Traits::GRAPH_REGION)
        .union(Traits::SINGLE_BLOCK)
        .union(Traits::NO_TERMINATOR),
    regions: CountRange::exactly(1),
    attrs: &[
        AttrSpec::optional("sym_name", AttrClass::Str),
        AttrSpec::optional("sym_visibility", AttrClass::Str),
    ],
    default_dialect: Some("builtin"),
    rules: VerifierRules { regions: Some(|it, op| it.check_module(op)), ..VerifierRules::NONE },
    syntax: &[OPT_SYMBOL_NAME, AttrDictWithKeyword, Region],
    ..OpSpec::NONE
};

pub(in crate::dialect) const UNREALIZED_CONVERSION_CAST: OpSpec = OpSpec {
    name: "builtin.unrealized_conversion_cast",
    doc: "Casts values between types during a conversion; a later conversion resolves it.",
    operands: CountRange::ANY,
    results: CountRange::at_least(1),
    syntax: &[OptOperandsTypes, Word("to"), ResultTypes, AttrDict],
    ..OpSpec::PURE
};
