//! Rows of `vector`: the accesses to which accesses of `affine` are lowered. The other ops of the
//! dialect are unknown.

use crate::dialect::prelude::*;

pub(in crate::dialect) const LOAD: OpSpec = OpSpec {
    name: "vector.load",
    doc: "Reads a vector from neighbouring elements of a memref.",
    operands: CountRange::at_least(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::Vector]),
    attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
    effects: Effects::Known(&[(Access::Read, Buffer::Operand(0))]),
    rules: VerifierRules::of_types(&[|it, op| it.check_index_count(op, 0)]),
    syntax: &[
        Operands(1),
        Indices,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        COMMA,
        TypeOf(TypeBinding::Result),
    ],
    ..OpSpec::NONE
};

pub(in crate::dialect) const STORE: OpSpec = OpSpec {
    name: "vector.store",
    doc: "Writes a vector to neighbouring elements of a memref.",
    operands: CountRange::at_least(2),
    types: TypeRule::new(&[TypeClass::Vector, TypeClass::RankedMemRef, TypeClass::Index], &[]),
    attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
    effects: Effects::Known(&[(Access::Write, Buffer::Operand(1))]),
    rules: VerifierRules::of_types(&[|it, op| it.check_index_count(op, 1)]),
    syntax: &[
        Operands(1),
        COMMA,
        Operands(1),
        Indices,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operand(1)),
        COMMA,
        TypeOf(TypeBinding::Operand(0)),
    ],
    ..OpSpec::NONE
};
