//! Rows of `scf`: structured control flow.

macro_rules! scf {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Runs one of two regions. Their `scf.yield` gives the results.
        ScfIf = "scf.if", CHOICE|SINGLE_BLOCK, [], [Element::Use(Type::I1), Element::OptArrowTypes, Element::Region, Element::OptElse, Element::AttrDict];
        /// Counts from the lower bound to below the upper bound by the step. `iter_args` are carried from one iteration to the next; the last ones are the results.
        ScfFor = "scf.for", LOOP|SINGLE_BLOCK, [("unsignedCmp", "")], [Element::ScfFor, Element::Region, Element::AttrDict];
        /// Repeats the `before` region while its `scf.condition` is true, each time passing its operands to the `do` region, whose `scf.yield` feeds `before`.
        ScfWhile = "scf.while", LOOP|SINGLE_BLOCK, [], [Element::ScfWhile, Element::Region, Element::Word("do"), Element::Region, Element::AttrDictWithKeyword];
        /// Ends the `before` region of `scf.while`: go on, with these values for `do`, or stop with them as results.
        ScfCondition = "scf.condition", PURE|TERMINATOR, [], [Element::Punct(TokenKind::LParen), Element::Use(Type::I1), Element::Punct(TokenKind::RParen), Element::AttrDict, Element::OptUsesTypes];
        /// Ends a region of an `scf` op with the values that the op yields or carries.
        ScfYield = "scf.yield", PURE|TERMINATOR|RETURN, [], [Element::AttrDict, Element::OptUsesTypes];
        /// Runs its region for all points of a space, in any order; `scf.reduce` combines results.
        ScfParallel = "scf.parallel", LOOP|SINGLE_BLOCK, [("operandSegmentSizes", "")], [Element::ScfParallel, Element::Region, Element::AttrDict];
        /// Ends `scf.parallel`: each operand is combined by its region over all iterations.
        ScfReduce = "scf.reduce", TERMINATOR, [], [Element::ScfReduce, Element::AttrDict];
        /// Ends a region of `scf.reduce` with the combined value.
        ScfReduceReturn = "scf.reduce.return", PURE|TERMINATOR, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands)];
        /// Runs its region for all points of a space, possibly at once; `scf.forall.in_parallel` assembles the shared outputs.
        ScfForall = "scf.forall", LOOP|SINGLE_BLOCK, [("mapping", ""), ("operandSegmentSizes", ""), ("staticLowerBound", ""), ("staticStep", ""), ("staticUpperBound", "")], [Element::ScfForall, Element::Region, Element::AttrDict];
        /// Ends `scf.forall` with the ops that write the shared outputs.
        ScfForallInParallel = "scf.forall.in_parallel", PURE|TERMINATOR|SINGLE_BLOCK|NO_TERMINATOR|GRAPH_REGION, [], [Element::Region, Element::AttrDict];
        /// Runs its region once; the region may have several blocks.
        ScfExecuteRegion = "scf.execute_region", NONE, [("no_inline", "")], [Element::OptArrowTypes, Element::OptWord("no_inline", "no_inline"), Element::Region, Element::AttrDict];
        /// Runs the region of the case that the operand equals, else the default.
        ScfIndexSwitch = "scf.index_switch", CHOICE|SINGLE_BLOCK, [("cases", "")], [Element::Use(Type::INDEX), Element::AttrDict, Element::OptArrowResultTypes, Element::IndexSwitch];
    } };
}
