//! Rows of `scf`: structured control flow.

use crate::dialect::prelude::*;
use crate::dialect::syntax::loops::{
    INDEX_SWITCH_CASES, OPT_ELSE, SCF_FOR, SCF_FORALL, SCF_PARALLEL, SCF_REDUCE, SCF_WHILE,
};
use crate::dialect::syntax::types::OPT_ARROW_PAREN_TYPES;

pub(in crate::dialect) const IF: OpSpec = OpSpec {
    name: "scf.if",
    doc: "Runs one of two regions. The operands of their `scf.yield` are the results.",
    operands: CountRange::exactly(1),
    regions: CountRange::exactly(2),
    types: TypeRule::new(&[TypeClass::I1], &[]),
    implicit_terminator: Some(OpKind::ScfYield),
    speculation: Speculation::Regions,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_if_regions(op)),
        n_required_blocks: 1,
        ..VerifierRules::NONE
    },
    syntax: &[Operand(Type::I1), OPT_ARROW_PAREN_TYPES, Region, OPT_ELSE, AttrDict],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const FOR: OpSpec = OpSpec {
    name: "scf.for",
    doc: "A counted loop over [lower, upper) with the given step. `iter_args` are \
          carried from one iteration to the next; the last ones are the results.",
    operands: CountRange::at_least(3),
    types: TypeRule::new(
        &[
            TypeClass::SignlessOrIndex,
            TypeClass::SignlessOrIndex,
            TypeClass::SignlessOrIndex,
            TypeClass::Any,
        ],
        &[],
    ),
    attrs: &[AttrSpec::optional("unsignedCmp", AttrClass::Any)],
    implicit_terminator: Some(OpKind::ScfYield),
    speculation: Speculation::UnitStep,
    rules: VerifierRules {
        types: &[|it, op| it.check_scf_for_bounds(op)],
        regions: Some(|it, op| it.check_loop_values(op, 3)),
        ..VerifierRules::NONE
    },
    syntax: &[SCF_FOR, Region, AttrDict],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const WHILE: OpSpec = OpSpec {
    name: "scf.while",
    doc: "Repeats the `before` and `do` regions while the `scf.condition` of `before` is true. \
          The operands of `scf.condition` are passed to `do`, and the operands of its `scf.yield` to \
          `before`.",
    regions: CountRange::exactly(2),
    rules: VerifierRules { regions: Some(|it, op| it.check_scf_while(op)), ..VerifierRules::NONE },
    syntax: &[SCF_WHILE, Region, Word("do"), Region, AttrDictWithKeyword],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const CONDITION: OpSpec = OpSpec {
    name: "scf.condition",
    doc: "Ends the `before` region of `scf.while`. If the condition is true, \
          the values are passed to the `do` region; otherwise they are the results.",
    operands: CountRange::at_least(1),
    types: TypeRule::new(&[TypeClass::I1, TypeClass::Any], &[]),
    parents: &["scf.while"],
    syntax: &[
        Token(TokenKind::LParen),
        Operand(Type::I1),
        Token(TokenKind::RParen),
        AttrDict,
        OptOperandsTypes,
    ],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const YIELD: OpSpec = OpSpec {
    name: "scf.yield",
    doc: "Ends a region of an `scf` op with the values that the op yields or carries.",
    parents: &["scf.execute_region", "scf.for", "scf.if", "scf.index_switch", "scf.while"],
    syntax: &[AttrDict, OptOperandsTypes],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const PARALLEL: OpSpec = OpSpec {
    name: "scf.parallel",
    doc: "Runs its region for all points of a space, in any order; `scf.reduce` combines \
          results.",
    segments: &[CountRange::ANY, CountRange::ANY, CountRange::ANY, CountRange::ANY],
    types: TypeRule::new(&[TypeClass::Any], &[]),
    attrs: &[AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32)],
    implicit_terminator: Some(OpKind::ScfReduce),
    rules: VerifierRules {
        regions: Some(|it, op| it.check_scf_parallel(op)),
        reads_indices: true,
        ..VerifierRules::NONE
    },
    syntax: &[SCF_PARALLEL, Region, AttrDict],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const REDUCE: OpSpec = OpSpec {
    name: "scf.reduce",
    doc: "Ends `scf.parallel`. Each region combines its operand over all iterations.",
    traits: Traits::TERMINATOR.union(Traits::ALWAYS_PRINTED),
    operands: CountRange::ANY,
    regions: CountRange::ANY,
    parents: &["scf.parallel"],
    effects: Effects::NONE,
    speculation: Speculation::Regions,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_scf_reduce(op)),
        blocks: Some(|it, op| it.check_reduce_operands(op)),
        ..VerifierRules::NONE
    },
    syntax: &[SCF_REDUCE, AttrDict],
    ..OpSpec::NONE
};

pub(in crate::dialect) const REDUCE_RETURN: OpSpec = OpSpec {
    name: "scf.reduce.return",
    doc: "Ends a region of `scf.reduce` with the combined value.",
    operands: CountRange::exactly(1),
    parents: &["scf.reduce"],
    rules: VerifierRules {
        blocks: Some(|it, op| it.check_reduce_return(op)),
        ..VerifierRules::NONE
    },
    syntax: &[Operands(1), AttrDict, COLON, TypeOf(TypeBinding::Operands)],
    ..OpSpec::TERMINATOR
};

pub(in crate::dialect) const FORALL: OpSpec = OpSpec {
    name: "scf.forall",
    doc: "Runs its region for all points of a space, possibly in parallel; \
          `scf.forall.in_parallel` assembles the shared outputs.",
    segments: &[CountRange::ANY, CountRange::ANY, CountRange::ANY, CountRange::ANY],
    attrs: &[
        AttrSpec::optional("mapping", AttrClass::Array),
        AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
        AttrSpec::required("staticLowerBound", AttrClass::DenseI64),
        AttrSpec::required("staticStep", AttrClass::DenseI64),
        AttrSpec::required("staticUpperBound", AttrClass::DenseI64),
    ],
    implicit_terminator: Some(OpKind::ScfForallInParallel),
    rules: VerifierRules { regions: Some(|it, op| it.check_scf_forall(op)), ..VerifierRules::NONE },
    syntax: &[SCF_FORALL, Region, AttrDict],
    ..OpSpec::STRUCTURED
};

pub(in crate::dialect) const FORALL_IN_PARALLEL: OpSpec = OpSpec {
    name: "scf.forall.in_parallel",
    doc: "Ends `scf.forall` with the ops that write the shared outputs.",
    traits: Traits::TERMINATOR
        .union(Traits::SINGLE_BLOCK)
        .union(Traits::NO_TERMINATOR)
        .union(Traits::GRAPH_REGION),
    regions: CountRange::exactly(1),
    parents: &["scf.forall"],
    effects: Effects::NONE,
    speculation: Speculation::Regions,
    syntax: &[Region, AttrDict],
    ..OpSpec::NONE
};

pub(in crate::dialect) const EXECUTE_REGION: OpSpec = OpSpec {
    name: "scf.execute_region",
    doc: "Runs its region once; the region may have several blocks.",
    results: CountRange::ANY,
    regions: CountRange::exactly(1),
    attrs: &[AttrSpec::optional("no_inline", AttrClass::Unit)],
    effects: Effects::NONE,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_execute_region(op)),
        ..VerifierRules::NONE
    },
    syntax: &[OptArrowTypes, OptWord("no_inline", "no_inline"), Region, AttrDict],
    ..OpSpec::NONE
};

pub(in crate::dialect) const INDEX_SWITCH: OpSpec = OpSpec {
    name: "scf.index_switch",
    doc: "Runs the region of the case that matches the operand, otherwise the default region.",
    traits: Traits::SINGLE_BLOCK.union(Traits::DEFAULT_REGION_LAST),
    operands: CountRange::exactly(1),
    results: CountRange::ANY,
    regions: CountRange::at_least(1),
    types: TypeRule::new(&[TypeClass::Index], &[]),
    attrs: &[AttrSpec::required("cases", AttrClass::DenseI64)],
    implicit_terminator: Some(OpKind::ScfYield),
    effects: Effects::NONE,
    speculation: Speculation::Regions,
    rules: VerifierRules {
        regions: Some(|it, op| it.check_index_switch(op)),
        ..VerifierRules::NONE
    },
    syntax: &[Operand(Type::INDEX), AttrDict, INDEX_SWITCH_CASES],
    ..OpSpec::NONE
};
