//! Rows of `memref`: buffers. Other ops of the dialect are parsed as unknown ops.

use crate::dialect::prelude::*;
use crate::dialect::syntax::affine::PREFETCH_KIND;
use crate::dialect::syntax::memref::{
    ALIGNMENT, ALLOCATED_SIZES, GLOBAL_HEADER, OPT_ALIGNMENT, OPT_NONTEMPORAL, OUTPUT_SHAPE,
    PERMUTATION, REASSOCIATION, REINTERPRET_CAST_LISTS, RMW_KIND, RMW_TYPES, SUBVIEW_LISTS,
};
use crate::dialect::syntax::types::OPT_ARROW_PAREN_TYPES;

pub(in crate::dialect) const ALLOC: OpSpec = OpSpec {
    name: "memref.alloc",
    doc: "Allocates a buffer.",
    operands: CountRange::ANY,
    segments: &[CountRange::ANY, CountRange::ANY],
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Index], &[TypeClass::RankedMemRef]),
    attrs: &[
        AttrSpec::optional("alignment", AttrClass::I64),
        AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
    ],
    effects: Effects::Known(&[(Access::Allocate, Buffer::Result(0))]),
    result_names: ResultNames::OfOp,
    rules: VerifierRules::of_types(&[
        |it, op| it.check_dynamic_sizes(op),
        |it, op| it.check_alloc(op),
    ]),
    syntax: &[ALLOCATED_SIZES, OPT_ALIGNMENT, AttrDict, COLON, TypeOf(TypeBinding::Result)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const ALLOCA: OpSpec = OpSpec {
    name: "memref.alloca",
    doc: "Allocates a buffer that lives as long as the function runs.",
    ..ALLOC
};

pub(in crate::dialect) const LOAD: OpSpec = OpSpec {
    name: "memref.load",
    doc: "Reads an element.",
    operands: CountRange::at_least(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[]),
    attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
    effects: Effects::Known(&[(Access::Read, Buffer::Operand(0))]),
    rules: VerifierRules::of_types(&[
        |it, op| it.check_index_count(op, 0),
        |it, op| it.check_loaded_element(op),
    ]),
    syntax: &[
        Operands(1),
        Indices,
        OPT_NONTEMPORAL,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::ElementOf(0)),
    ],
    ..OpSpec::NONE
};

pub(in crate::dialect) const STORE: OpSpec = OpSpec {
    name: "memref.store",
    doc: "Writes an element.",
    operands: CountRange::at_least(2),
    types: TypeRule::new(&[TypeClass::Any, TypeClass::RankedMemRef, TypeClass::Index], &[]),
    attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
    effects: Effects::Known(&[(Access::Write, Buffer::Operand(1))]),
    rules: VerifierRules::of_types(&[
        |it, op| it.check_index_count(op, 1),
        |it, op| it.check_stored_element(op),
    ]),
    syntax: &[Operands(2), Indices, OPT_NONTEMPORAL, AttrDict, COLON, TypeOf(TypeBinding::StoreTo)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const DEALLOC: OpSpec = OpSpec {
    name: "memref.dealloc",
    doc: "Frees a buffer.",
    operands: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::MemRef], &[]),
    effects: Effects::Known(&[(Access::Free, Buffer::Operand(0))]),
    syntax: &[Operands(1), AttrDict, COLON, TypeOf(TypeBinding::Operands)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const DIM: OpSpec = OpSpec {
    name: "memref.dim",
    doc: "The size of a dimension.",
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[TypeClass::Index]),
    speculation: Speculation::Dimension,
    result_names: ResultNames::OfOp,
    syntax: &[
        AttrDict,
        Operands(1),
        COMMA,
        Operand(Type::INDEX),
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        ResultIs(Type::INDEX),
    ],
    ..OpSpec::PURE
};

pub(in crate::dialect) const CAST: OpSpec = OpSpec {
    name: "memref.cast",
    doc: "Casts a buffer to another type.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::MemRef], &[TypeClass::MemRef]),
    result_names: ResultNames::OfOp,
    rules: VerifierRules::of_types(&[|it, op| it.check_memref_cast(op)]),
    syntax: converted!(TypeBinding::Operands, "to"),
    ..OpSpec::PURE
};

pub(in crate::dialect) const MEMORY_SPACE_CAST: OpSpec = OpSpec {
    name: "memref.memory_space_cast",
    doc: "Casts a buffer to another memory space.",
    result_names: ResultNames::Each(&["memspacecast"]),
    rules: VerifierRules::of_types(&[|it, op| it.check_memory_space_cast(op)]),
    ..CAST
};

pub(in crate::dialect) const COPY: OpSpec = OpSpec {
    name: "memref.copy",
    doc: "Copies one buffer to another.",
    operands: CountRange::exactly(2),
    types: TypeRule::new(&[TypeClass::MemRef, TypeClass::MemRef], &[]),
    effects: Effects::Known(&[
        (Access::Read, Buffer::Operand(0)),
        (Access::Write, Buffer::Operand(1)),
    ]),
    rules: VerifierRules::of_types(&[|it, op| it.check_memref_copy(op)]),
    syntax: &[
        Operands(2),
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        Word("to"),
        TypeOf(TypeBinding::Operand(1)),
    ],
    ..OpSpec::NONE
};

pub(in crate::dialect) const SUBVIEW: OpSpec = OpSpec {
    name: "memref.subview",
    doc: "Views a strided part of a buffer.",
    operands: CountRange::at_least(1),
    segments: &[CountRange::exactly(1), CountRange::ANY, CountRange::ANY, CountRange::ANY],
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
    attrs: &[
        AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
        AttrSpec::required("static_offsets", AttrClass::DenseI64),
        AttrSpec::required("static_sizes", AttrClass::DenseI64),
        AttrSpec::required("static_strides", AttrClass::DenseI64),
    ],
    result_names: ResultNames::OfOp,
    rules: VerifierRules::of_types(&[
        |it, op| it.check_slice(op),
        |it, op| it.check_elements_and_space(op),
    ]),
    syntax: converted!(TypeBinding::Operand(0), "to", SUBVIEW_LISTS),
    ..OpSpec::PURE
};

pub(in crate::dialect) const REINTERPRET_CAST: OpSpec = OpSpec {
    name: "memref.reinterpret_cast",
    doc: "Views a buffer with other offsets, sizes and strides.",
    types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
    syntax: converted!(TypeBinding::Operand(0), "to", REINTERPRET_CAST_LISTS),
    ..SUBVIEW
};

pub(in crate::dialect) const COLLAPSE_SHAPE: OpSpec = OpSpec {
    name: "memref.collapse_shape",
    doc: "Joins dimensions.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef], &[TypeClass::RankedMemRef]),
    attrs: &[AttrSpec::required("reassociation", AttrClass::I64Arrays)],
    result_names: ResultNames::OfOp,
    rules: VerifierRules::of_types(&[
        |it, op| it.check_reassociation(op, false),
        |it, op| it.check_elements_and_space(op),
    ]),
    syntax: converted!(TypeBinding::Operand(0), "into", REASSOCIATION),
    ..OpSpec::PURE
};

pub(in crate::dialect) const EXPAND_SHAPE: OpSpec = OpSpec {
    name: "memref.expand_shape",
    doc: "Splits dimensions.",
    operands: CountRange::at_least(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
    attrs: &[
        AttrSpec::required("reassociation", AttrClass::I64Arrays),
        AttrSpec::required("static_output_shape", AttrClass::DenseI64),
    ],
    rules: VerifierRules::of_types(&[
        |it, op| it.check_reassociation(op, true),
        |it, op| it.check_elements_and_space(op),
    ]),
    syntax: converted!(TypeBinding::Operand(0), "into", REASSOCIATION, OUTPUT_SHAPE),
    ..COLLAPSE_SHAPE
};

pub(in crate::dialect) const GLOBAL: OpSpec = OpSpec {
    name: "memref.global",
    doc: "Declares a global buffer.",
    traits: Traits::SYMBOL,
    attrs: &[
        AttrSpec::optional("alignment", AttrClass::I64),
        AttrSpec::optional("constant", AttrClass::Unit),
        AttrSpec::optional("initial_value", AttrClass::Any),
        AttrSpec::required("sym_name", AttrClass::Str),
        AttrSpec::optional("sym_visibility", AttrClass::Str),
        AttrSpec::required("type", AttrClass::Type),
    ],
    rules: VerifierRules::of_types(&[|it, op| it.check_global(op)]),
    syntax: &[GLOBAL_HEADER, AttrDict],
    ..OpSpec::NONE
};

pub(in crate::dialect) const GET_GLOBAL: OpSpec = OpSpec {
    name: "memref.get_global",
    doc: "Returns a global buffer as a value.",
    results: CountRange::exactly(1),
    types: TypeRule::new(&[], &[TypeClass::RankedMemRef]),
    attrs: &[AttrSpec::required("name", AttrClass::FlatSymbol)],
    rules: VerifierRules {
        symbols: Some(|it, op| it.check_global_reference(op)),
        ..VerifierRules::NONE
    },
    syntax: &[SymbolUse("name"), COLON, TypeOf(TypeBinding::Result), AttrDict],
    ..OpSpec::PURE
};

pub(in crate::dialect) const ALLOCA_SCOPE: OpSpec = OpSpec {
    name: "memref.alloca_scope",
    doc: "A scope: buffers of `memref.alloca` inside it are freed at its end.",
    traits: Traits::SINGLE_BLOCK,
    results: CountRange::ANY,
    regions: CountRange::exactly(1),
    implicit_terminator: Some(OpKind::MemrefAllocaScopeReturn),
    effects: Effects::NONE,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_alloca_scope(op)),
        ..VerifierRules::NONE
    },
    syntax: &[OPT_ARROW_PAREN_TYPES, Region, AttrDict],
    ..OpSpec::NONE
};

pub(in crate::dialect) const ALLOCA_SCOPE_RETURN: OpSpec = OpSpec {
    name: "memref.alloca_scope.return",
    doc: "Ends `memref.alloca_scope` with its results.",
    parents: &["memref.alloca_scope"],
    syntax: &[AttrDict, OptOperandsTypes],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const ATOMIC_RMW: OpSpec = OpSpec {
    name: "memref.atomic_rmw",
    doc: "Reads, combines and writes an element atomically.",
    operands: CountRange::at_least(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Any, TypeClass::RankedMemRef, TypeClass::Index], &[]),
    attrs: &[AttrSpec::required("kind", AttrClass::I64)],
    effects: Effects::Known(&[
        (Access::Read, Buffer::Operand(1)),
        (Access::Write, Buffer::Operand(1)),
    ]),
    rules: VerifierRules::of_types(&[
        |it, op| it.check_index_count(op, 1),
        |it, op| it.check_atomic_rmw(op),
    ]),
    syntax: &[RMW_KIND, Operands(2), Indices, AttrDict, COLON, RMW_TYPES],
    ..OpSpec::NONE
};

pub(in crate::dialect) const GENERIC_ATOMIC_RMW: OpSpec = OpSpec {
    name: "memref.generic_atomic_rmw",
    doc: "Reads an element, computes a new one in its region and writes it, atomically.",
    traits: Traits::NO_ACCESS_INSIDE,
    operands: CountRange::at_least(1),
    results: CountRange::exactly(1),
    regions: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[]),
    rules: VerifierRules {
        types: &[|it, op| it.check_index_count(op, 0), |it, op| it.check_loaded_element(op)],
        regions: Some(|it, op| it.check_atomic_body(op)),
        ..VerifierRules::NONE
    },
    syntax: &[Operands(1), Indices, COLON, TypeOf(TypeBinding::ElementOf(0)), Region, AttrDict],
    ..OpSpec::NONE
};

pub(in crate::dialect) const ATOMIC_YIELD: OpSpec = OpSpec {
    name: "memref.atomic_yield",
    doc: "Ends `memref.generic_atomic_rmw` with the new element.",
    operands: CountRange::exactly(1),
    parents: &["memref.generic_atomic_rmw"],
    syntax: &[Operands(1), AttrDict, COLON, TypeOf(TypeBinding::Operands)],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const ASSUME_ALIGNMENT: OpSpec = OpSpec {
    name: "memref.assume_alignment",
    doc: "States the alignment of a buffer.",
    operands: CountRange::exactly(1),
    results: CountRange { least: 0, most: 1 },
    types: TypeRule::new(&[TypeClass::MemRef], &[]),
    attrs: &[AttrSpec::required("alignment", AttrClass::I32)],
    rules: VerifierRules::of_types(&[|it, op| it.check_alignment(op)]),
    syntax: &[Operands(1), COMMA, ALIGNMENT, AttrDict, COLON, TypeOf(TypeBinding::Assumed)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const TRANSPOSE: OpSpec = OpSpec {
    name: "memref.transpose",
    doc: "Permutes dimensions.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef], &[TypeClass::RankedMemRef]),
    attrs: &[AttrSpec::required("permutation", AttrClass::Map)],
    result_names: ResultNames::OfOp,
    rules: VerifierRules::of_types(&[|it, op| it.check_memref_transpose(op)]),
    syntax: converted!(TypeBinding::Operands, "to", PERMUTATION),
    ..OpSpec::PURE
};

pub(in crate::dialect) const VIEW: OpSpec = OpSpec {
    name: "memref.view",
    doc: "Views a buffer of rank 1 with another element type and shape.",
    operands: CountRange::at_least(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
    result_names: ResultNames::OfOp,
    rules: VerifierRules::of_types(&[|it, op| it.check_memref_view(op)]),
    syntax: converted!(
        TypeBinding::Operand(0),
        "to",
        Token(TokenKind::LSquare),
        Operand(Type::INDEX),
        Token(TokenKind::RSquare),
        Indices
    ),
    ..OpSpec::PURE
};

pub(in crate::dialect) const EXTRACT_STRIDED_METADATA: OpSpec = OpSpec {
    name: "memref.extract_strided_metadata",
    doc: "Splits a memref into a buffer of rank 0, its offset, its sizes and its strides.",
    operands: CountRange::exactly(1),
    results: CountRange::at_least(2),
    types: TypeRule::new(&[TypeClass::RankedMemRef], &[TypeClass::RankedMemRef]),
    result_names: ResultNames::StridedMetadata,
    rules: VerifierRules::of_types(&[|it, op| it.check_strided_metadata(op)]),
    syntax: &[Operands(1), COLON, TypeOf(TypeBinding::Operand(0)), ARROW, ResultTypes, AttrDict],
    ..OpSpec::PURE
};

pub(in crate::dialect) const EXTRACT_ALIGNED_POINTER_AS_INDEX: OpSpec = OpSpec {
    name: "memref.extract_aligned_pointer_as_index",
    doc: "Returns the address of a buffer.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::MemRef], &[TypeClass::Index]),
    result_names: ResultNames::Each(&["intptr"]),
    syntax: &[
        Operands(1),
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        ARROW,
        TypeOf(TypeBinding::Result),
        AttrDict,
    ],
    ..OpSpec::PURE
};

pub(in crate::dialect) const RESHAPE: OpSpec = OpSpec {
    name: "memref.reshape",
    doc: "Views a buffer in a computed shape.",
    operands: CountRange::exactly(2),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::MemRef, TypeClass::RankedMemRef], &[TypeClass::MemRef]),
    result_names: ResultNames::OfOp,
    rules: VerifierRules::of_types(&[|it, op| it.check_memref_reshape(op)]),
    syntax: &[
        Operands(1),
        Token(TokenKind::LParen),
        Operands(1),
        Token(TokenKind::RParen),
        AttrDict,
        COLON,
        FunctionType(0),
    ],
    ..OpSpec::PURE
};

pub(in crate::dialect) const PREFETCH: OpSpec = OpSpec {
    name: "memref.prefetch",
    doc: "Prefetches an element of a memref.",
    operands: CountRange::at_least(1),
    types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[]),
    attrs: &[
        AttrSpec::required("isDataCache", AttrClass::Bool),
        AttrSpec::required("isWrite", AttrClass::Bool),
        AttrSpec::required("localityHint", AttrClass::I32),
    ],
    rules: VerifierRules::of_types(&[|it, op| {
        it.check_index_count(op, 0);
        it.check_enum_case(op, "localityHint", 4);
    }]),
    syntax: &[Operands(1), Indices, COMMA, PREFETCH_KIND, COLON, TypeOf(TypeBinding::Operand(0))],
    ..OpSpec::NONE
};

pub(in crate::dialect) const RANK: OpSpec = OpSpec {
    name: "memref.rank",
    doc: "The rank of a memref.",
    operands: CountRange::exactly(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::MemRef], &[TypeClass::Index]),
    syntax: &[Operands(1), AttrDict, COLON, TypeOf(TypeBinding::Operand(0)), ResultIs(Type::INDEX)],
    ..OpSpec::PURE
};
