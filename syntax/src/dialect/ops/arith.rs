//! Rows of `arith`: constants, arithmetic, comparisons and casts.

use crate::dialect::prelude::*;
use crate::dialect::syntax::flags::{
    CMPF_PREDICATE, CMPI_PREDICATE, CONSTANT_VALUE, OPT_FASTMATH, OPT_OVERFLOW, OPT_ROUNDING,
};
use crate::dialect::syntax::types::SELECT_TYPES;

/// `overflow<nsw, nuw>`
pub(super) const OVERFLOW_FLAGS: AttrSpec = AttrSpec::with_default(
    "overflowFlags",
    AttrClass::Dialect("#arith.overflow"),
    "#arith.overflow<none>",
);

/// `fastmath<nnan, ninf>`
pub(super) const FASTMATH_FLAGS: AttrSpec = AttrSpec::with_default(
    "fastmath",
    AttrClass::Dialect("#arith.fastmath"),
    "#arith.fastmath<none>",
);

/// An op on two integers with a result of the same type.
pub(super) const INT_BINARY: OpSpec = OpSpec {
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike]).agree(Agreement::Same),
    syntax: &[Operands(2), AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..OpSpec::PURE
};

/// An op on two floats with a result of the same type.
pub(super) const FLOAT_BINARY: OpSpec = OpSpec {
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FloatLike]).agree(Agreement::Same),
    attrs: &[FASTMATH_FLAGS],
    syntax: &[Operands(2), OPT_FASTMATH, AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..OpSpec::PURE
};

/// A conversion of one value to another type.
pub(super) const CAST: OpSpec = OpSpec {
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    syntax: converted!(TypeBinding::Operands, "to"),
    ..OpSpec::PURE
};

pub(in crate::dialect) const CONSTANT: OpSpec = OpSpec {
    name: "arith.constant",
    doc: "A constant.",
    traits: Traits::CONSTANT,
    results: CountRange::exactly(1),
    attrs: &[AttrSpec::required("value", AttrClass::Typed)],
    result_names: ResultNames::ConstantValue,
    rules: VerifierRules::of_types(&[|it, op| it.check_constant(op)]),
    syntax: &[AttrDict, CONSTANT_VALUE],
    ..OpSpec::PURE
};

pub(in crate::dialect) const ADDI: OpSpec = OpSpec {
    name: "arith.addi",
    doc: "Integer addition, wrapping.",
    traits: Traits::COMMUTATIVE,
    attrs: &[OVERFLOW_FLAGS],
    syntax: &[Operands(2), OPT_OVERFLOW, AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..INT_BINARY
};

pub(in crate::dialect) const SUBI: OpSpec = OpSpec {
    name: "arith.subi",
    doc: "Integer subtraction, wrapping.",
    attrs: &[OVERFLOW_FLAGS],
    syntax: &[Operands(2), OPT_OVERFLOW, AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..INT_BINARY
};

pub(in crate::dialect) const MULI: OpSpec =
    OpSpec { name: "arith.muli", doc: "Integer multiplication, wrapping.", ..ADDI };

pub(in crate::dialect) const SHLI: OpSpec = OpSpec {
    name: "arith.shli",
    doc: "Shift left; the amount must be less than the width.",
    ..SUBI
};

pub(in crate::dialect) const DIVSI: OpSpec = OpSpec {
    name: "arith.divsi",
    doc: "Signed integer division, towards zero.",
    attrs: &[AttrSpec::optional("isExact", AttrClass::Any)],
    speculation: Speculation::SignedDivisor,
    syntax: &[Operands(2), OptWord("exact", "isExact"), AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..INT_BINARY
};

pub(in crate::dialect) const DIVUI: OpSpec = OpSpec {
    name: "arith.divui",
    doc: "Unsigned integer division.",
    speculation: Speculation::Divisor,
    ..DIVSI
};

pub(in crate::dialect) const SHRSI: OpSpec = OpSpec {
    name: "arith.shrsi",
    doc: "Arithmetic shift right.",
    speculation: Speculation::Always,
    ..DIVSI
};

pub(in crate::dialect) const SHRUI: OpSpec =
    OpSpec { name: "arith.shrui", doc: "Logical shift right.", ..SHRSI };

pub(in crate::dialect) const CEILDIVSI: OpSpec = OpSpec {
    name: "arith.ceildivsi",
    doc: "Signed integer division, rounded up.",
    speculation: Speculation::SignedDivisor,
    ..INT_BINARY
};

pub(in crate::dialect) const CEILDIVUI: OpSpec = OpSpec {
    name: "arith.ceildivui",
    doc: "Unsigned integer division, rounded up.",
    speculation: Speculation::Divisor,
    ..INT_BINARY
};

pub(in crate::dialect) const FLOORDIVSI: OpSpec = OpSpec {
    name: "arith.floordivsi",
    doc: "Signed integer division, rounded down.",
    speculation: Speculation::SignedDivisor,
    ..INT_BINARY
};

pub(in crate::dialect) const REMSI: OpSpec = OpSpec {
    name: "arith.remsi",
    doc: "Signed remainder, with the sign of the dividend.",
    speculation: Speculation::SignedDivisor,
    ..INT_BINARY
};

pub(in crate::dialect) const REMUI: OpSpec = OpSpec {
    name: "arith.remui",
    doc: "Unsigned remainder.",
    speculation: Speculation::Divisor,
    ..INT_BINARY
};

pub(in crate::dialect) const ANDI: OpSpec =
    OpSpec { name: "arith.andi", doc: "Bitwise and.", traits: Traits::COMMUTATIVE, ..INT_BINARY };

pub(in crate::dialect) const ORI: OpSpec =
    OpSpec { name: "arith.ori", doc: "Bitwise or.", traits: Traits::COMMUTATIVE, ..INT_BINARY };

pub(in crate::dialect) const XORI: OpSpec = OpSpec {
    name: "arith.xori",
    doc: "Bitwise exclusive or.",
    traits: Traits::COMMUTATIVE,
    ..INT_BINARY
};

pub(in crate::dialect) const MAXSI: OpSpec = OpSpec {
    name: "arith.maxsi",
    doc: "Signed maximum.",
    traits: Traits::COMMUTATIVE,
    ..INT_BINARY
};

pub(in crate::dialect) const MAXUI: OpSpec = OpSpec {
    name: "arith.maxui",
    doc: "Unsigned maximum.",
    traits: Traits::COMMUTATIVE,
    ..INT_BINARY
};

pub(in crate::dialect) const MINSI: OpSpec = OpSpec {
    name: "arith.minsi",
    doc: "Signed minimum.",
    traits: Traits::COMMUTATIVE,
    ..INT_BINARY
};

pub(in crate::dialect) const MINUI: OpSpec = OpSpec {
    name: "arith.minui",
    doc: "Unsigned minimum.",
    traits: Traits::COMMUTATIVE,
    ..INT_BINARY
};

pub(in crate::dialect) const ADDF: OpSpec = OpSpec {
    name: "arith.addf",
    doc: "Floating-point addition.",
    traits: Traits::COMMUTATIVE,
    ..FLOAT_BINARY
};

pub(in crate::dialect) const SUBF: OpSpec =
    OpSpec { name: "arith.subf", doc: "Floating-point subtraction.", ..FLOAT_BINARY };

pub(in crate::dialect) const MULF: OpSpec = OpSpec {
    name: "arith.mulf",
    doc: "Floating-point multiplication.",
    traits: Traits::COMMUTATIVE,
    ..FLOAT_BINARY
};

pub(in crate::dialect) const DIVF: OpSpec =
    OpSpec { name: "arith.divf", doc: "Floating-point division.", ..FLOAT_BINARY };

pub(in crate::dialect) const REMF: OpSpec =
    OpSpec { name: "arith.remf", doc: "Floating-point remainder.", ..FLOAT_BINARY };

pub(in crate::dialect) const MAXIMUMF: OpSpec = OpSpec {
    name: "arith.maximumf",
    doc: "Floating-point maximum; NaN if either operand is NaN.",
    traits: Traits::COMMUTATIVE,
    ..FLOAT_BINARY
};

pub(in crate::dialect) const MINIMUMF: OpSpec = OpSpec {
    name: "arith.minimumf",
    doc: "Floating-point minimum; NaN if either operand is NaN.",
    traits: Traits::COMMUTATIVE,
    ..FLOAT_BINARY
};

pub(in crate::dialect) const MAXNUMF: OpSpec = OpSpec {
    name: "arith.maxnumf",
    doc: "Floating-point maximum; if one operand is NaN, the other operand.",
    traits: Traits::COMMUTATIVE,
    ..FLOAT_BINARY
};

pub(in crate::dialect) const MINNUMF: OpSpec = OpSpec {
    name: "arith.minnumf",
    doc: "Floating-point minimum; if one operand is NaN, the other operand.",
    traits: Traits::COMMUTATIVE,
    ..FLOAT_BINARY
};

pub(in crate::dialect) const NEGF: OpSpec = OpSpec {
    name: "arith.negf",
    doc: "Floating-point negation.",
    operands: CountRange::exactly(1),
    syntax: &[Operands(1), OPT_FASTMATH, AttrDict, COLON, TypeOf(TypeBinding::All)],
    ..FLOAT_BINARY
};

pub(in crate::dialect) const CMPI: OpSpec = OpSpec {
    name: "arith.cmpi",
    doc: "Compares two integers by the predicate. The result is `i1`, or a vector or tensor of `i1`.",
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::BoolLike]).agree(Agreement::Compared),
    attrs: &[AttrSpec::required("predicate", AttrClass::I64)],
    rules: VerifierRules::of_types(&[|it, op| it.check_enum_case(op, "predicate", 10)]),
    syntax: &[CMPI_PREDICATE, COMMA, Operands(2), AttrDict, COLON, TypeOf(TypeBinding::Compared)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const CMPF: OpSpec = OpSpec {
    name: "arith.cmpf",
    doc: "Compares two floating-point numbers by the predicate. The result is `i1`, or a vector or tensor of `i1`.",
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::BoolLike])
        .agree(Agreement::Compared),
    attrs: &[FASTMATH_FLAGS, AttrSpec::required("predicate", AttrClass::I64)],
    rules: VerifierRules::of_types(&[|it, op| it.check_enum_case(op, "predicate", 16)]),
    syntax: &[
        CMPF_PREDICATE,
        COMMA,
        Operands(2),
        OPT_FASTMATH,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Compared),
    ],
    ..OpSpec::PURE
};

pub(in crate::dialect) const SELECT: OpSpec = OpSpec {
    name: "arith.select",
    doc: "Returns the second operand if the condition is true, otherwise the third.",
    operands: CountRange::exactly(3),
    results: CountRange::exactly(1),
    rules: VerifierRules::of_types(&[|it, op| it.check_select(op)]),
    syntax: &[Operands(3), AttrDict, COLON, SELECT_TYPES],
    ..OpSpec::PURE
};

pub(in crate::dialect) const EXTSI: OpSpec = OpSpec {
    name: "arith.extsi",
    doc: "Widens an integer, repeating the sign bit.",
    types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FixedIntLike])
        .agree(Agreement::Cast(WidthChange::Grows)),
    ..CAST
};

pub(in crate::dialect) const EXTUI: OpSpec = OpSpec {
    name: "arith.extui",
    doc: "Widens an integer with zeros.",
    attrs: &[AttrSpec::optional("nonNeg", AttrClass::Any)],
    syntax: converted!(TypeBinding::Operands, "to", OptWord("nneg", "nonNeg")),
    ..EXTSI
};

pub(in crate::dialect) const TRUNCI: OpSpec = OpSpec {
    name: "arith.trunci",
    doc: "Keeps the low bits of an integer.",
    types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FixedIntLike])
        .agree(Agreement::Cast(WidthChange::Shrinks)),
    attrs: &[AttrSpec::with_new_default(
        "overflowFlags",
        AttrClass::Dialect("#arith.overflow"),
        "#arith.overflow<none>",
    )],
    syntax: converted!(TypeBinding::Operands, "to", OPT_OVERFLOW),
    ..CAST
};

pub(in crate::dialect) const EXTF: OpSpec = OpSpec {
    name: "arith.extf",
    doc: "Widens a floating-point number.",
    types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FloatLike])
        .agree(Agreement::Cast(WidthChange::Grows)),
    attrs: &[AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath"))],
    syntax: converted!(TypeBinding::Operands, "to", OPT_FASTMATH),
    ..CAST
};

pub(in crate::dialect) const TRUNCF: OpSpec = OpSpec {
    name: "arith.truncf",
    doc: "Narrows a floating-point number, rounding.",
    types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FloatLike])
        .agree(Agreement::Cast(WidthChange::Shrinks)),
    attrs: &[
        AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath")),
        AttrSpec::optional("roundingmode", AttrClass::I32),
    ],
    syntax: converted!(TypeBinding::Operands, "to", OPT_ROUNDING, OPT_FASTMATH),
    ..CAST
};

pub(in crate::dialect) const SITOFP: OpSpec = OpSpec {
    name: "arith.sitofp",
    doc: "Converts a signed integer to floating point.",
    types: TypeRule::new(&[TypeClass::FixedIntLike], &[TypeClass::FloatLike])
        .agree(Agreement::Cast(WidthChange::Any)),
    ..CAST
};

pub(in crate::dialect) const UITOFP: OpSpec = OpSpec {
    name: "arith.uitofp",
    doc: "Converts an unsigned integer to floating point.",
    attrs: &[AttrSpec::optional("nonNeg", AttrClass::Any)],
    syntax: converted!(TypeBinding::Operands, "to", OptWord("nneg", "nonNeg")),
    ..SITOFP
};

pub(in crate::dialect) const FPTOSI: OpSpec = OpSpec {
    name: "arith.fptosi",
    doc: "Converts floating point to a signed integer, rounding towards zero.",
    types: TypeRule::new(&[TypeClass::FloatLike], &[TypeClass::FixedIntLike])
        .agree(Agreement::Cast(WidthChange::Any)),
    ..CAST
};

pub(in crate::dialect) const FPTOUI: OpSpec = OpSpec {
    name: "arith.fptoui",
    doc: "Converts floating point to an unsigned integer, rounding towards zero.",
    ..FPTOSI
};

pub(in crate::dialect) const INDEX_CAST: OpSpec = OpSpec {
    name: "arith.index_cast",
    doc: "Converts between `index` and integers, with sign extension.",
    types: TypeRule::new(&[TypeClass::IndexCast], &[TypeClass::IndexCast])
        .agree(Agreement::Cast(WidthChange::Any)),
    rules: VerifierRules::of_types(&[|it, op| it.check_index_cast(op)]),
    ..CAST
};

pub(in crate::dialect) const INDEX_CASTUI: OpSpec = OpSpec {
    name: "arith.index_castui",
    doc: "Converts between `index` and integers, with zero extension.",
    attrs: &[AttrSpec::optional("nonNeg", AttrClass::Any)],
    syntax: converted!(TypeBinding::Operands, "to", OptWord("nneg", "nonNeg")),
    ..INDEX_CAST
};

pub(in crate::dialect) const BITCAST: OpSpec = OpSpec {
    name: "arith.bitcast",
    doc: "Reinterprets the bits as another type of the same width.",
    types: TypeRule::new(&[TypeClass::Bits], &[TypeClass::Bits])
        .agree(Agreement::Cast(WidthChange::Stays)),
    ..CAST
};

pub(in crate::dialect) const SCALING_EXTF: OpSpec = OpSpec {
    name: "arith.scaling_extf",
    doc: "Widens a floating-point number and scales it.",
    operands: CountRange::exactly(2),
    attrs: &[AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath"))],
    syntax: &[
        Operands(2),
        OPT_FASTMATH,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        COMMA,
        TypeOf(TypeBinding::Operand(1)),
        Word("to"),
        TypeOf(TypeBinding::Result),
    ],
    ..CAST
};

pub(in crate::dialect) const SCALING_TRUNCF: OpSpec = OpSpec {
    name: "arith.scaling_truncf",
    doc: "Scales a floating-point number and narrows it.",
    operands: CountRange::exactly(2),
    attrs: &[
        AttrSpec::optional("fastmath", AttrClass::Dialect("#arith.fastmath")),
        AttrSpec::optional("roundingmode", AttrClass::I32),
    ],
    syntax: &[
        Operands(2),
        OPT_ROUNDING,
        OPT_FASTMATH,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        COMMA,
        TypeOf(TypeBinding::Operand(1)),
        Word("to"),
        TypeOf(TypeBinding::Result),
    ],
    ..CAST
};

pub(in crate::dialect) const CONVERTF: OpSpec = OpSpec {
    name: "arith.convertf",
    doc: "Converts between floating-point types of the same width.",
    types: CAST.types,
    ..TRUNCF
};

pub(in crate::dialect) const ADDUI_EXTENDED: OpSpec = OpSpec {
    name: "arith.addui_extended",
    doc: "Unsigned addition with the carry as second result.",
    traits: Traits::COMMUTATIVE,
    result_names: ResultNames::Each(&["sum", "overflow"]),
    ..SUBUI_EXTENDED
};

pub(in crate::dialect) const SUBUI_EXTENDED: OpSpec = OpSpec {
    name: "arith.subui_extended",
    doc: "Unsigned subtraction with the borrow as second result.",
    operands: CountRange::exactly(2),
    results: CountRange::exactly(2),
    types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike, TypeClass::BoolLike]),
    rules: VerifierRules::of_types(&[|it, op| it.check_carry(op)]),
    syntax: &[
        Operands(2),
        AttrDict,
        COLON,
        TypeOf(TypeBinding::AllAnd(1)),
        COMMA,
        TypeOf(TypeBinding::NextResult),
    ],
    ..OpSpec::PURE
};

pub(in crate::dialect) const MULSI_EXTENDED: OpSpec = OpSpec {
    name: "arith.mulsi_extended",
    doc: "Signed multiplication; low and high half as two results.",
    traits: Traits::COMMUTATIVE,
    operands: CountRange::exactly(2),
    results: CountRange::exactly(2),
    types: TypeRule::new(&[TypeClass::IntLike], &[TypeClass::IntLike, TypeClass::IntLike])
        .agree(Agreement::Exactly),
    result_names: ResultNames::Each(&["low", "high"]),
    syntax: &[Operands(2), AttrDict, COLON, TypeOf(TypeBinding::AllAnd(2))],
    ..OpSpec::PURE
};

pub(in crate::dialect) const MULUI_EXTENDED: OpSpec = OpSpec {
    name: "arith.mului_extended",
    doc: "Unsigned multiplication; low and high half as two results.",
    ..MULSI_EXTENDED
};
