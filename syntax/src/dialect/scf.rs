//! Rows of `scf`: structured control flow.

macro_rules! scf {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Runs one of two regions. Their `scf.yield` gives the results.
        ScfIf = "scf.if", CHOICE|SINGLE_BLOCK, [], [E::Use(Type::I1), E::OptArrowTypes, E::Region, E::OptElse, E::AttrDict];
        /// Counts from the lower bound to below the upper bound by the step. `iter_args` are carried from one iteration to the next; the last ones are the results.
        ScfFor = "scf.for", LOOP|SINGLE_BLOCK, [("unsignedCmp", "")], [E::ScfFor, E::Region, E::AttrDict];
        /// Repeats the `before` region while its `scf.condition` is true, each time passing its operands to the `do` region, whose `scf.yield` feeds `before`.
        ScfWhile = "scf.while", LOOP|SINGLE_BLOCK, [], [E::ScfWhile, E::Region, E::Word("do"), E::Region, E::AttrDictWithKeyword];
        /// Ends the `before` region of `scf.while`: go on, with these values for `do`, or stop with them as results.
        ScfCondition = "scf.condition", PURE|TERMINATOR, [], [E::Punct(T::LParen), E::Use(Type::I1), E::Punct(T::RParen), E::AttrDict, E::OptUsesTypes];
        /// Ends a region of an `scf` op with the values that the op yields or carries.
        ScfYield = "scf.yield", PURE|TERMINATOR|RETURN, [], [E::AttrDict, E::OptUsesTypes];
        /// Runs its region for all points of a space, in any order; `scf.reduce` combines results.
        ScfParallel = "scf.parallel", LOOP|SINGLE_BLOCK, [("operandSegmentSizes", "")], [E::ScfParallel, E::Region, E::AttrDict];
        /// Ends `scf.parallel`: each operand is combined by its region over all iterations.
        ScfReduce = "scf.reduce", TERMINATOR, [], [E::ScfReduce, E::AttrDict];
        /// Ends a region of `scf.reduce` with the combined value.
        ScfReduceReturn = "scf.reduce.return", PURE|TERMINATOR, [], [E::Uses(1), E::AttrDict, COLON, E::Type(Bind::Operands)];
        /// Runs its region for all points of a space, possibly at once; `scf.forall.in_parallel` assembles the shared outputs.
        ScfForall = "scf.forall", LOOP|SINGLE_BLOCK, [("mapping", ""), ("operandSegmentSizes", ""), ("staticLowerBound", ""), ("staticStep", ""), ("staticUpperBound", "")], [E::ScfForall, E::Region, E::AttrDict];
        /// Ends `scf.forall` with the ops that write the shared outputs.
        ScfForallInParallel = "scf.forall.in_parallel", PURE|TERMINATOR|SINGLE_BLOCK|NO_TERMINATOR|GRAPH_REGION, [], [E::Region, E::AttrDict];
        /// Runs its region once; the region may have several blocks.
        ScfExecuteRegion = "scf.execute_region", NONE, [("no_inline", "")], [E::OptArrowTypes, E::OptWord("no_inline", "no_inline"), E::Region, E::AttrDict];
        /// Runs the region of the case that the operand equals, else the default.
        ScfIndexSwitch = "scf.index_switch", CHOICE|SINGLE_BLOCK, [("cases", "")], [E::Use(Type::INDEX), E::AttrDict, E::OptArrowResultTypes, E::IndexSwitch];
    } };
}
