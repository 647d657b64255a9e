//! Rows of `func`: functions and calls.

use crate::dialect::prelude::*;
use crate::dialect::syntax::flags::OPT_NO_INLINE;
use crate::dialect::syntax::func::{SIGNATURE, SYMBOL_NAME, VISIBILITY};

pub(in crate::dialect) const FUNC: OpSpec = OpSpec {
    name: "func.func",
    doc: "Defines or declares a function. The body cannot use values defined outside of it.",
    traits: Traits::ISOLATED.union(Traits::SYMBOL),
    regions: Count::exactly(1),
    attrs: &[
        AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
        AttrSpec::required("function_type", AttrClass::FunctionType),
        AttrSpec::optional("no_inline", AttrClass::Unit),
        AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
        AttrSpec::required("sym_name", AttrClass::Str),
        AttrSpec::optional("sym_visibility", AttrClass::Str),
    ],
    default_dialect: Some("func"),
    rules: Rules {
        symbols: Some(|it, op| it.function(op)),
        regions: Some(|it, op| it.signature(op)),
        blocks: Some(|it, op| it.empty_body(op)),
        ..Rules::NONE
    },
    syntax: &[VISIBILITY, SYMBOL_NAME, SIGNATURE, OptRegion],
    ..OpSpec::NONE
};

pub(in crate::dialect) const CALL: OpSpec = OpSpec {
    name: "func.call",
    doc: "Calls the function of this name; operands and results have the types of its \
          signature.",
    operands: Count::ANY,
    results: Count::ANY,
    attrs: &[
        AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
        AttrSpec::required("callee", AttrClass::FlatSymbol),
        AttrSpec::optional("no_inline", AttrClass::Unit),
        AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
    ],
    rules: Rules { symbols: Some(|it, op| it.call(op)), ..Rules::NONE },
    syntax: &[SymbolUse("callee"), ParenOperands, OPT_NO_INLINE, AttrDict, COLON, FunctionType(0)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const CALL_INDIRECT: OpSpec = OpSpec {
    name: "func.call_indirect",
    doc: "Calls a value of function type.",
    operands: Count::at_least(1),
    results: Count::ANY,
    types: TypeRule::new(&[TypeClass::Function, TypeClass::Any], &[]),
    attrs: &[
        AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
        AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
    ],
    rules: Rules::of_types(&[|it, op| it.call_indirect(op)]),
    syntax: &[Operand(Type::UNKNOWN), ParenOperands, AttrDict, COLON, FunctionType(1)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const CONSTANT: OpSpec = OpSpec {
    name: "func.constant",
    doc: "Returns a function as a value.",
    traits: Traits::CONSTANT,
    results: Count::exactly(1),
    attrs: &[AttrSpec::required("value", AttrClass::FlatSymbol)],
    result_names: ResultNames::Each(&["f"]),
    rules: Rules { symbols: Some(|it, op| it.reference(op)), ..Rules::NONE },
    syntax: &[AttrDict, SymbolUse("value"), COLON, TypeOf(Bind::Result)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const RETURN: OpSpec = OpSpec {
    name: "func.return",
    doc: "Returns from a function with the values of its results.",
    parents: &["func.func"],
    rules: Rules { blocks: Some(|it, op| it.returned(op)), ..Rules::NONE },
    syntax: &[AttrDict, OptOperandsTypes],
    ..OpSpec::TERMINATOR
};
