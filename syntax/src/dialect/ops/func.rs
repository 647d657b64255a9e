//! Rows of `func`: functions and calls.

use crate::dialect::prelude::*;
use crate::dialect::syntax::flags::OPT_NO_INLINE;
use crate::dialect::syntax::func::{SIGNATURE, SYMBOL_NAME, VISIBILITY};

pub(in crate::dialect) const FUNC: OpSpec = OpSpec {
    name: "func.func",
    doc: "Defines or declares a function. The body cannot use values defined outside of it.",
    traits: Traits::ISOLATED.union(Traits::SYMBOL),
    regions: CountRange::exactly(1),
    attrs: &[
        AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
        AttrSpec::required("function_type", AttrClass::FunctionType),
        AttrSpec::optional("no_inline", AttrClass::Unit),
        AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
        AttrSpec::required("sym_name", AttrClass::Str),
        AttrSpec::optional("sym_visibility", AttrClass::Str),
    ],
    default_dialect: Some("func"),
    rules: VerifierRules {
        symbols: Some(|it, op| it.check_function(op)),
        regions: Some(|it, op| it.check_entry_arguments(op)),
        blocks: Some(|it, op| it.check_empty_body(op)),
        ..VerifierRules::NONE
    },
    syntax: &[VISIBILITY, SYMBOL_NAME, SIGNATURE, OptRegion],
    ..OpSpec::NONE
};

pub(in crate::dialect) const CALL: OpSpec = OpSpec {
    name: "func.call",
    doc: "Calls the function of this name; operands and results have the types of its \
          signature.",
    operands: CountRange::ANY,
    results: CountRange::ANY,
    attrs: &[
        AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
        AttrSpec::required("callee", AttrClass::FlatSymbol),
        AttrSpec::optional("no_inline", AttrClass::Unit),
        AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
    ],
    rules: VerifierRules { symbols: Some(|it, op| it.check_call(op)), ..VerifierRules::NONE },
    syntax: &[SymbolUse("callee"), ParenOperands, OPT_NO_INLINE, AttrDict, COLON, FunctionType(0)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const CALL_INDIRECT: OpSpec = OpSpec {
    name: "func.call_indirect",
    doc: "Calls a value of function type.",
    operands: CountRange::at_least(1),
    results: CountRange::ANY,
    types: TypeRule::new(&[TypeClass::Function, TypeClass::Any], &[]),
    attrs: &[
        AttrSpec::optional("arg_attrs", AttrClass::Dictionaries),
        AttrSpec::optional("res_attrs", AttrClass::Dictionaries),
    ],
    rules: VerifierRules::of_types(&[|it, op| it.check_call_indirect(op)]),
    syntax: &[Operand(Type::UNKNOWN), ParenOperands, AttrDict, COLON, FunctionType(1)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const CONSTANT: OpSpec = OpSpec {
    name: "func.constant",
    doc: "Returns a function as a value.",
    traits: Traits::CONSTANT,
    results: CountRange::exactly(1),
    attrs: &[AttrSpec::required("value", AttrClass::FlatSymbol)],
    result_names: ResultNames::Each(&["f"]),
    rules: VerifierRules {
        symbols: Some(|it, op| it.check_function_constant(op)),
        ..VerifierRules::NONE
    },
    syntax: &[AttrDict, SymbolUse("value"), COLON, TypeOf(TypeBinding::Result)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const RETURN: OpSpec = OpSpec {
    name: "func.return",
    doc: "Returns from a function with the values of its results.",
    parents: &["func.func"],
    rules: VerifierRules { blocks: Some(|it, op| it.check_return(op)), ..VerifierRules::NONE },
    syntax: &[AttrDict, OptOperandsTypes],
    ..OpSpec::TERMINATOR
};
