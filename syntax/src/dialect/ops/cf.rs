//! Rows of `cf`: branches between blocks.

use crate::dialect::prelude::*;
use crate::dialect::syntax::branch::{OPT_WEIGHTS, SUCCESSOR_SEGMENTS, SWITCH_CASES};

pub(in crate::dialect) const BR: OpSpec = OpSpec {
    name: "cf.br",
    doc: "Branches to a block and passes its arguments.",
    successors: CountRange::exactly(1),
    passed_operands: PassedOperands::All,
    syntax: &[Successor, AttrDict],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const COND_BR: OpSpec = OpSpec {
    name: "cf.cond_br",
    doc: "Branches to the first block if the condition is true, otherwise to the second.",
    operands: CountRange::at_least(1),
    segments: &[CountRange::exactly(1), CountRange::ANY, CountRange::ANY],
    successors: CountRange::exactly(2),
    types: TypeRule::new(&[TypeClass::I1, TypeClass::Any], &[]),
    attrs: &[
        AttrSpec::optional("branch_weights", AttrClass::Any),
        AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
    ],
    passed_operands: PassedOperands::Segments,
    syntax: &[
        Operand(Type::I1),
        OPT_WEIGHTS,
        COMMA,
        Successor,
        COMMA,
        Successor,
        AttrDict,
        SUCCESSOR_SEGMENTS,
    ],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const SWITCH: OpSpec = OpSpec {
    name: "cf.switch",
    doc: "Branches to the block of the case that matches the flag, otherwise to the default block.",
    operands: CountRange::at_least(1),
    segments: &[CountRange::exactly(1), CountRange::ANY, CountRange::ANY],
    successors: CountRange::at_least(1),
    types: TypeRule::new(&[TypeClass::Integer, TypeClass::Any], &[]),
    attrs: &[
        AttrSpec::required("case_operand_segments", AttrClass::DenseI32),
        AttrSpec::optional("case_values", AttrClass::IntElements),
        AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
    ],
    passed_operands: PassedOperands::Cases,
    rules: VerifierRules::of_types(&[|it, op| it.check_case_count(op)]),
    syntax: &[
        Operand(Type::UNKNOWN),
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        COMMA,
        Token(TokenKind::LSquare),
        SWITCH_CASES,
        Token(TokenKind::RSquare),
        AttrDict,
    ],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const ASSERT: OpSpec = OpSpec {
    name: "cf.assert",
    doc: "Stops the program with a message unless the condition is true.",
    operands: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::I1], &[]),
    attrs: &[AttrSpec::required("msg", AttrClass::Str)],
    syntax: &[Operand(Type::I1), COMMA, StrAttr("msg"), AttrDict],
    ..OpSpec::NONE
};
