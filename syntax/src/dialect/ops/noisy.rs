//! Rows of `noisy`: integers with noise in their low bits.

use crate::dialect::prelude::*;

pub(in crate::dialect) const ADD: OpSpec = OpSpec {
    name: "noisy.add",
    doc: "Adds two noisy integers. The noise of the result is the larger of the two, plus 1.",
    traits: Traits::COMMUTATIVE,
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
    syntax: &[Operands(2), AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const SUB: OpSpec = OpSpec {
    name: "noisy.sub",
    doc: "Subtracts two noisy integers. The noise of the result is the larger of the two, \
          plus 1.",
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
    syntax: &[Operands(2), AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const MUL: OpSpec = OpSpec {
    name: "noisy.mul",
    doc: "Multiplies two noisy integers. The noise of the result is the sum of both.",
    traits: Traits::COMMUTATIVE,
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
    syntax: &[Operands(2), AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const ENCODE: OpSpec = OpSpec {
    name: "noisy.encode",
    doc: "Encodes an integer of 1 to 5 bits as a noisy integer, with fresh noise.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Plain], &[TypeClass::Noisy]),
    syntax: &[
        Operands(1),
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operands),
        ARROW,
        TypeOf(TypeBinding::Result),
    ],
    ..OpSpec::PURE
};

pub(in crate::dialect) const DECODE: OpSpec = OpSpec {
    name: "noisy.decode",
    doc: "Decodes a noisy integer to an integer of 1 to 5 bits. The noise of its operand must be \
          within the budget.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Plain]),
    speculation: Speculation::Never,
    syntax: &[
        Operands(1),
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operands),
        ARROW,
        TypeOf(TypeBinding::Result),
    ],
    ..OpSpec::PURE
};

pub(in crate::dialect) const REDUCE_NOISE: OpSpec = OpSpec {
    name: "noisy.reduce_noise",
    doc: "Resets the noise of a noisy integer to that of a fresh one (bootstrapping). \
          This is expensive, and the noise of the operand must be within the budget.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Noisy], &[TypeClass::Noisy]),
    speculation: Speculation::Never,
    syntax: &[Operands(1), AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..OpSpec::PURE
};
