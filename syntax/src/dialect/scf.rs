//! Rows of `scf`: structured control flow.

macro_rules! scf {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Runs one of two regions. Their `scf.yield` gives the results.
        ScfIf = "scf.if" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::exactly(1),
            results: Count::ANY,
            regions: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::I1], &[]),
            implicit_terminator: Some(OpKind::ScfYield),
            effects: Effects::NONE,
            speculation: Speculation::Regions,
            form: &[
                Element::Use(Type::I1), Element::OptArrowTypes, Element::Region, Element::OptElse,
                Element::AttrDict,
            ],
            ..OpSpec::NONE
        }
        /// Counts from the lower bound to below the upper bound by the step. `iter_args` are carried from one iteration to the
        /// next; the last ones are the results.
        ScfFor = "scf.for" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::at_least(3),
            results: Count::ANY,
            regions: Count::exactly(1),
            types: TypeRule::new(
                &[TypeClass::SignlessOrIndex, TypeClass::SignlessOrIndex, TypeClass::SignlessOrIndex, TypeClass::Any],
                &[],
            ),
            attrs: &[AttrSpec::optional("unsignedCmp", AttrClass::Any)],
            implicit_terminator: Some(OpKind::ScfYield),
            effects: Effects::NONE,
            speculation: Speculation::UnitStep,
            form: &[Element::ScfFor, Element::Region, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Repeats the `before` region while its `scf.condition` is true, each time passing its operands to the `do` region,
        /// whose `scf.yield` feeds `before`.
        ScfWhile = "scf.while" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::ANY,
            results: Count::ANY,
            regions: Count::exactly(2),
            effects: Effects::NONE,
            form: &[
                Element::ScfWhile, Element::Region, Element::Word("do"), Element::Region,
                Element::AttrDictWithKeyword,
            ],
            ..OpSpec::NONE
        }
        /// Ends the `before` region of `scf.while`: go on, with these values for `do`, or stop with them as results.
        ScfCondition = "scf.condition" {
            operands: Count::at_least(1),
            types: TypeRule::new(&[TypeClass::I1, TypeClass::Any], &[]),
            parents: &[OpKind::ScfWhile],
            form: &[
                Element::Punct(TokenKind::LParen), Element::Use(Type::I1), Element::Punct(TokenKind::RParen),
                Element::AttrDict, Element::OptUsesTypes,
            ],
            ..OpSpec::TERMINATOR
        }
        /// Ends a region of an `scf` op with the values that the op yields or carries.
        ScfYield = "scf.yield" {
            parents: &[
                OpKind::ScfExecuteRegion, OpKind::ScfFor, OpKind::ScfIf, OpKind::ScfIndexSwitch, OpKind::ScfWhile,
            ],
            form: &[Element::AttrDict, Element::OptUsesTypes],
            ..OpSpec::TERMINATOR
        }
        /// Runs its region for all points of a space, in any order; `scf.reduce` combines results.
        ScfParallel = "scf.parallel" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::ANY,
            segments: &[Count::ANY, Count::ANY, Count::ANY, Count::ANY],
            results: Count::ANY,
            regions: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Any], &[]),
            attrs: &[AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32)],
            implicit_terminator: Some(OpKind::ScfReduce),
            effects: Effects::NONE,
            form: &[Element::ScfParallel, Element::Region, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Ends `scf.parallel`: each operand is combined by its region over all iterations.
        ScfReduce = "scf.reduce" {
            traits: Traits::TERMINATOR,
            operands: Count::ANY,
            regions: Count::ANY,
            parents: &[OpKind::ScfParallel],
            effects: Effects::NONE,
            speculation: Speculation::Regions,
            form: &[Element::ScfReduce, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Ends a region of `scf.reduce` with the combined value.
        ScfReduceReturn = "scf.reduce.return" {
            operands: Count::exactly(1),
            parents: &[OpKind::ScfReduce],
            form: &[Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands)],
            ..OpSpec::TERMINATOR
        }
        /// Runs its region for all points of a space, possibly at once; `scf.forall.in_parallel` assembles the shared outputs.
        ScfForall = "scf.forall" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::ANY,
            segments: &[Count::ANY, Count::ANY, Count::ANY, Count::ANY],
            results: Count::ANY,
            regions: Count::exactly(1),
            attrs: &[
                AttrSpec::optional("mapping", AttrClass::Array),
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
                AttrSpec::required("staticLowerBound", AttrClass::DenseI64),
                AttrSpec::required("staticStep", AttrClass::DenseI64),
                AttrSpec::required("staticUpperBound", AttrClass::DenseI64),
            ],
            implicit_terminator: Some(OpKind::ScfForallInParallel),
            effects: Effects::NONE,
            form: &[Element::ScfForall, Element::Region, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Ends `scf.forall` with the ops that write the shared outputs.
        ScfForallInParallel = "scf.forall.in_parallel" {
            traits: Traits::TERMINATOR
                .union(Traits::SINGLE_BLOCK)
                .union(Traits::NO_TERMINATOR)
                .union(Traits::GRAPH_REGION),
            regions: Count::exactly(1),
            parents: &[OpKind::ScfForall],
            effects: Effects::NONE,
            speculation: Speculation::Regions,
            form: &[Element::Region, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Runs its region once; the region may have several blocks.
        ScfExecuteRegion = "scf.execute_region" {
            results: Count::ANY,
            regions: Count::exactly(1),
            attrs: &[AttrSpec::optional("no_inline", AttrClass::Unit)],
            effects: Effects::NONE,
            form: &[
                Element::OptArrowTypes, Element::OptWord("no_inline", "no_inline"), Element::Region,
                Element::AttrDict,
            ],
            ..OpSpec::NONE
        }
        /// Runs the region of the case that the operand equals, else the default.
        ScfIndexSwitch = "scf.index_switch" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::exactly(1),
            results: Count::ANY,
            regions: Count::at_least(1),
            types: TypeRule::new(&[TypeClass::Index], &[]),
            attrs: &[AttrSpec::required("cases", AttrClass::DenseI64)],
            implicit_terminator: Some(OpKind::ScfYield),
            effects: Effects::NONE,
            speculation: Speculation::Regions,
            form: &[Element::Use(Type::INDEX), Element::AttrDict, Element::OptArrowResultTypes, Element::IndexSwitch],
            ..OpSpec::NONE
        }
    } };
}
