//! Rows of `affine`: loops, and accesses with affine indices.

use crate::dialect::prelude::*;
use crate::dialect::syntax::affine::{
    ACCESS, CONDITION, COPIED_TYPES, DELINEARIZE, DESTINATION_ACCESS, LINEARIZE, MAP, OPT_STRIDE,
    PREFETCH_KIND, SOURCE_ACCESS, TAG_ACCESS, WAITED_TYPE,
};
use crate::dialect::syntax::affine_loops::{AFFINE_FOR, AFFINE_PARALLEL};
use crate::dialect::syntax::loops::OPT_ELSE;

pub(in crate::dialect) const FOR: OpSpec = OpSpec {
    name: "affine.for",
    doc: "Counts between affine bounds by a constant step. `iter_args` are carried from one \
          iteration to the next.",
    segments: &[CountRange::ANY, CountRange::ANY, CountRange::ANY],
    attrs: &[
        AttrSpec::required("lowerBoundMap", AttrClass::Map),
        AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
        AttrSpec::required("step", AttrClass::Index),
        AttrSpec::required("upperBoundMap", AttrClass::Map),
    ],
    implicit_terminator: Some(OpKind::AffineYield),
    speculation: Speculation::UnitStep,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_affine_for(op)),
        indices: Some(|it, op| it.check_affine_for_bounds(op)),
        ..VerifierRules::NONE
    },
    syntax: &[AFFINE_FOR, Region, AttrDict],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const IF: OpSpec = OpSpec {
    name: "affine.if",
    doc: "Runs one of two regions, chosen by an affine set.",
    regions: CountRange::exactly(2),
    types: TypeRule::new(&[TypeClass::Index], &[]),
    attrs: &[AttrSpec::discardable("condition", AttrClass::Set)],
    implicit_terminator: Some(OpKind::AffineYield),
    speculation: Speculation::Regions,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_if_regions(op)),
        n_required_blocks: 0,
        indices: Some(|it, op| it.check_condition_operands(op)),
        ..VerifierRules::NONE
    },
    syntax: &[CONDITION, OptArrowTypes, Region, OPT_ELSE, AttrDict],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const PARALLEL: OpSpec = OpSpec {
    name: "affine.parallel",
    doc: "Runs its region for all points of a hyperrectangle, possibly in parallel.",
    types: TypeRule::new(&[TypeClass::Index], &[]),
    attrs: &[
        AttrSpec::required("lowerBoundsGroups", AttrClass::I32Elements),
        AttrSpec::required("lowerBoundsMap", AttrClass::Map),
        AttrSpec::required("reductions", AttrClass::I64Array),
        AttrSpec::required("steps", AttrClass::I64Array),
        AttrSpec::required("upperBoundsGroups", AttrClass::I32Elements),
        AttrSpec::required("upperBoundsMap", AttrClass::Map),
    ],
    implicit_terminator: Some(OpKind::AffineYield),
    speculation: Speculation::Regions,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_affine_parallel(op)),
        indices: Some(|it, op| it.check_affine_parallel_bounds(op)),
        ..VerifierRules::NONE
    },
    syntax: &[AFFINE_PARALLEL, Region, AttrDict],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const YIELD: OpSpec = OpSpec {
    name: "affine.yield",
    doc: "Ends a region of an `affine` op with its results.",
    parents: &["affine.for", "affine.if", "affine.parallel"],
    rules: VerifierRules {
        blocks: Some(|it, op| it.check_affine_yield(op)),
        ..VerifierRules::NONE
    },
    syntax: &[AttrDict, OptOperandsTypes],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const APPLY: OpSpec = OpSpec {
    name: "affine.apply",
    doc: "Applies an affine map of one result to indices.",
    operands: CountRange::ANY,
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Index], &[TypeClass::Index]),
    attrs: &[AttrSpec::required("map", AttrClass::Map)],
    speculation: Speculation::Map,
    rules: VerifierRules::of_indices(&[|it, op| it.check_affine_apply(op)], |it, op| {
        it.check_map_operand_count(op, 0);
    }),
    syntax: &[MAP, AttrDict, ResultIs(Type::INDEX)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const MIN: OpSpec = OpSpec {
    name: "affine.min",
    doc: "The smallest result of an affine map.",
    operands: CountRange::ANY,
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Index], &[TypeClass::Index]),
    attrs: &[AttrSpec::required("map", AttrClass::Map)],
    speculation: Speculation::Map,
    rules: VerifierRules {
        indices: Some(|it, op| it.check_map_operand_count(op, 0)),
        ..VerifierRules::NONE
    },
    syntax: &[MAP, AttrDict, ResultIs(Type::INDEX)],
    ..OpSpec::PURE
};

pub(in crate::dialect) const MAX: OpSpec =
    OpSpec { name: "affine.max", doc: "The largest result of an affine map.", ..MIN };

pub(in crate::dialect) const LOAD: OpSpec = OpSpec {
    name: "affine.load",
    doc: "Reads an element of a memref at affine indices.",
    operands: CountRange::at_least(1),
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[]),
    attrs: &[AttrSpec::required("map", AttrClass::Map)],
    effects: Effects::Known(&[(Access::Read, Buffer::Operand(0))]),
    rules: VerifierRules::of_indices(&[|it, op| it.check_affine_access(op, 0)], |it, op| {
        it.check_access_indices(op, 1);
    }),
    syntax: &[ACCESS, AttrDict, COLON, TypeOf(TypeBinding::ElementOf(0))],
    ..OpSpec::NONE
};

pub(in crate::dialect) const STORE: OpSpec = OpSpec {
    name: "affine.store",
    doc: "Writes an element of a memref at affine indices.",
    operands: CountRange::at_least(2),
    types: TypeRule::new(&[TypeClass::Any, TypeClass::MemRef, TypeClass::Index], &[]),
    attrs: &[AttrSpec::required("map", AttrClass::Map)],
    effects: Effects::Known(&[(Access::Write, Buffer::Operand(1))]),
    rules: VerifierRules::of_indices(&[|it, op| it.check_affine_access(op, 1)], |it, op| {
        it.check_access_indices(op, 2);
    }),
    syntax: &[Operands(1), COMMA, ACCESS, AttrDict, COLON, TypeOf(TypeBinding::StoreTo)],
    ..OpSpec::NONE
};

pub(in crate::dialect) const VECTOR_LOAD: OpSpec = OpSpec {
    name: "affine.vector_load",
    doc: "Reads a vector of a memref at affine indices.",
    rules: VerifierRules::of_indices(&[|it, op| it.check_affine_vector_access(op, 0)], |it, op| {
        it.check_access_indices(op, 1);
    }),
    syntax: &[
        ACCESS,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operand(0)),
        COMMA,
        TypeOf(TypeBinding::Result),
    ],
    ..LOAD
};

pub(in crate::dialect) const VECTOR_STORE: OpSpec = OpSpec {
    name: "affine.vector_store",
    doc: "Writes a vector to a memref at affine indices.",
    rules: VerifierRules::of_indices(&[|it, op| it.check_affine_vector_access(op, 1)], |it, op| {
        it.check_access_indices(op, 2);
    }),
    syntax: &[
        Operands(1),
        COMMA,
        ACCESS,
        AttrDict,
        COLON,
        TypeOf(TypeBinding::Operand(1)),
        COMMA,
        TypeOf(TypeBinding::Operand(0)),
    ],
    ..STORE
};

pub(in crate::dialect) const PREFETCH: OpSpec = OpSpec {
    name: "affine.prefetch",
    doc: "Prefetches an element of a memref.",
    operands: CountRange::at_least(1),
    types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[]),
    attrs: &[
        AttrSpec::required("isDataCache", AttrClass::Bool),
        AttrSpec::required("isWrite", AttrClass::Bool),
        AttrSpec::required("localityHint", AttrClass::I32),
        AttrSpec::required("map", AttrClass::Map),
    ],
    rules: VerifierRules::of_indices(
        &[|it, op| {
            it.check_affine_access(op, 0);
            it.check_enum_case(op, "localityHint", 4);
        }],
        |it, op| it.check_access_indices(op, 1),
    ),
    syntax: &[ACCESS, COMMA, PREFETCH_KIND, AttrDict, COLON, TypeOf(TypeBinding::Operand(0))],
    ..OpSpec::NONE
};

pub(in crate::dialect) const DMA_START: OpSpec = OpSpec {
    name: "affine.dma_start",
    doc: "Starts to copy elements of one memref to another; an element of the tag memref identifies the copy.",
    operands: CountRange::at_least(1),
    attrs: &[
        AttrSpec::discardable("dst_map", AttrClass::Map),
        AttrSpec::discardable("src_map", AttrClass::Map),
        AttrSpec::discardable("tag_map", AttrClass::Map),
    ],
    rules: VerifierRules::of_indices(&[|it, op| it.check_dma_operands(op)], |it, op| {
        it.check_dma_indices(op);
    }),
    syntax: &[
        SOURCE_ACCESS,
        COMMA,
        DESTINATION_ACCESS,
        COMMA,
        TAG_ACCESS,
        COMMA,
        Operand(Type::INDEX),
        OPT_STRIDE,
        COLON,
        COPIED_TYPES,
    ],
    ..OpSpec::NONE
};

pub(in crate::dialect) const DMA_WAIT: OpSpec = OpSpec {
    name: "affine.dma_wait",
    doc: "Waits for the copy that `affine.dma_start` started with the same tag.",
    operands: CountRange::at_least(1),
    attrs: &[AttrSpec::discardable("tag_map", AttrClass::Map)],
    rules: VerifierRules::of_indices(&[|it, op| it.check_dma_operands(op)], |it, op| {
        it.check_dma_indices(op);
    }),
    syntax: &[TAG_ACCESS, COMMA, Operand(Type::INDEX), COLON, WAITED_TYPE],
    ..OpSpec::NONE
};

pub(in crate::dialect) const DELINEARIZE_INDEX: OpSpec = OpSpec {
    name: "affine.delinearize_index",
    doc: "Splits a linear index into one index per dimension.",
    operands: CountRange::at_least(1),
    results: CountRange::ANY,
    types: TypeRule::new(&[TypeClass::Index], &[]),
    attrs: &[AttrSpec::optional("static_basis", AttrClass::DenseI64)],
    speculation: Speculation::Never,
    rules: VerifierRules::of_types(&[|it, op| it.check_delinearize_index(op)]),
    syntax: &[Operand(Type::INDEX), DELINEARIZE],
    ..OpSpec::PURE
};

pub(in crate::dialect) const LINEARIZE_INDEX: OpSpec = OpSpec {
    name: "affine.linearize_index",
    doc: "Joins indices into one linear index.",
    operands: CountRange::ANY,
    results: CountRange::exactly(1),
    types: TypeRule::new(&[TypeClass::Index], &[]),
    attrs: &[
        AttrSpec::optional("disjoint", AttrClass::Unit),
        AttrSpec::optional("operandSegmentSizes", AttrClass::DenseI32),
        AttrSpec::optional("static_basis", AttrClass::DenseI64),
    ],
    syntax: &[LINEARIZE],
    ..OpSpec::PURE
};
