//! Rows of `affine`: loops and accesses whose indices are affine maps.

macro_rules! affine {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Counts between affine bounds by a constant step. `iter_args` are carried from one iteration to the next.
        AffineFor = "affine.for" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::ANY,
            segments: &[Count::ANY, Count::ANY, Count::ANY],
            results: Count::ANY,
            regions: Count::exactly(1),
            attrs: &[
                AttrSpec::required("lowerBoundMap", AttrClass::Map),
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
                AttrSpec::required("step", AttrClass::Index), AttrSpec::required("upperBoundMap", AttrClass::Map),
            ],
            implicit_terminator: Some(OpKind::AffineYield),
            effects: Effects::NONE,
            speculation: Speculation::UnitStep,
            form: &[Element::AffineFor, Element::Region, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Runs one of two regions, by an affine set.
        AffineIf = "affine.if" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::ANY,
            results: Count::ANY,
            regions: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::Index], &[]),
            attrs: &[AttrSpec::discardable("condition", AttrClass::Set)],
            implicit_terminator: Some(OpKind::AffineYield),
            effects: Effects::NONE,
            speculation: Speculation::Regions,
            form: &[
                Element::AffineApply("condition"), Element::OptArrowTypes, Element::Region, Element::OptElse,
                Element::AttrDict,
            ],
            ..OpSpec::NONE
        }
        /// Runs its region for all points of a hyperrectangle, possibly at once.
        AffineParallel = "affine.parallel" {
            traits: Traits::SINGLE_BLOCK,
            operands: Count::ANY,
            results: Count::ANY,
            regions: Count::exactly(1),
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
            effects: Effects::NONE,
            speculation: Speculation::Regions,
            form: &[Element::AffineParallel, Element::Region, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Ends a region of an `affine` op with its results.
        AffineYield = "affine.yield" {
            parents: &[OpKind::AffineFor, OpKind::AffineIf, OpKind::AffineParallel],
            form: &[Element::AttrDict, Element::OptUsesTypes],
            ..OpSpec::TERMINATOR
        }
        /// Applies an affine map of one result to indices.
        AffineApply = "affine.apply" {
            operands: Count::ANY,
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Index], &[TypeClass::Index]),
            attrs: &[AttrSpec::required("map", AttrClass::Map)],
            speculation: Speculation::Map,
            form: &[Element::AffineApply("map"), Element::AttrDict, Element::ResultIs(Type::INDEX)],
            ..OpSpec::PURE
        }
        /// The smallest result of an affine map.
        AffineMin = "affine.min" {
            operands: Count::ANY,
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Index], &[TypeClass::Index]),
            attrs: &[AttrSpec::required("map", AttrClass::Map)],
            speculation: Speculation::Map,
            form: &[Element::AffineApply("map"), Element::AttrDict, Element::ResultIs(Type::INDEX)],
            ..OpSpec::PURE
        }
        /// The largest result of an affine map.
        AffineMax = "affine.max" {
            operands: Count::ANY,
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Index], &[TypeClass::Index]),
            attrs: &[AttrSpec::required("map", AttrClass::Map)],
            speculation: Speculation::Map,
            form: &[Element::AffineApply("map"), Element::AttrDict, Element::ResultIs(Type::INDEX)],
            ..OpSpec::PURE
        }
        /// Reads an element of a memref at affine indices.
        AffineLoad = "affine.load" {
            operands: Count::at_least(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::required("map", AttrClass::Map)],
            effects: Effects::Known(&[(Access::Read, Buffer::Operand(0))]),
            form: &[Element::AffineAccess("map"), Element::AttrDict, COLON, Element::Type(Bind::ElementOf(0))],
            ..OpSpec::NONE
        }
        /// Writes an element of a memref at affine indices.
        AffineStore = "affine.store" {
            operands: Count::at_least(2),
            types: TypeRule::new(&[TypeClass::Any, TypeClass::MemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::required("map", AttrClass::Map)],
            effects: Effects::Known(&[(Access::Write, Buffer::Operand(1))]),
            form: &[
                Element::Uses(1), COMMA, Element::AffineAccess("map"), Element::AttrDict, COLON,
                Element::Type(Bind::StoreTo),
            ],
            ..OpSpec::NONE
        }
        /// Reads a vector of a memref at affine indices.
        AffineVectorLoad = "affine.vector_load" {
            operands: Count::at_least(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::required("map", AttrClass::Map)],
            effects: Effects::Known(&[(Access::Read, Buffer::Operand(0))]),
            form: &[
                Element::AffineAccess("map"), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), COMMA,
                Element::Type(Bind::Result),
            ],
            ..OpSpec::NONE
        }
        /// Writes a vector to a memref at affine indices.
        AffineVectorStore = "affine.vector_store" {
            operands: Count::at_least(2),
            types: TypeRule::new(&[TypeClass::Any, TypeClass::MemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::required("map", AttrClass::Map)],
            effects: Effects::Known(&[(Access::Write, Buffer::Operand(1))]),
            form: &[
                Element::Uses(1), COMMA, Element::AffineAccess("map"), Element::AttrDict, COLON,
                Element::Type(Bind::Operand(1)), COMMA, Element::Type(Bind::Operand(0)),
            ],
            ..OpSpec::NONE
        }
        /// Prefetches an element of a memref.
        AffinePrefetch = "affine.prefetch" {
            operands: Count::at_least(1),
            types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[]),
            attrs: &[
                AttrSpec::required("isDataCache", AttrClass::Bool), AttrSpec::required("isWrite", AttrClass::Bool),
                AttrSpec::required("localityHint", AttrClass::I32), AttrSpec::required("map", AttrClass::Map),
            ],
            form: &[
                Element::AffineAccess("map"), COMMA, Element::PrefetchKind, Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)),
            ],
            ..OpSpec::NONE
        }
        /// Starts to copy elements of one memref to another, told apart by an element of a third; all accessed at affine indices.
        AffineDmaStart = "affine.dma_start" {
            operands: Count::at_least(1),
            attrs: &[
                AttrSpec::discardable("dst_map", AttrClass::Map), AttrSpec::discardable("src_map", AttrClass::Map),
                AttrSpec::discardable("tag_map", AttrClass::Map),
            ],
            form: &[
                Element::AffineAccess("src_map"), COMMA, Element::AffineAccess("dst_map"), COMMA,
                Element::AffineAccess("tag_map"), COMMA, Element::Use(Type::INDEX), Element::OptStride, COLON,
                Element::AccessedTypes(&["src_map", "dst_map", "tag_map"]),
            ],
            ..OpSpec::NONE
        }
        /// Waits until what `affine.dma_start` started with the same tag is done.
        AffineDmaWait = "affine.dma_wait" {
            operands: Count::at_least(1),
            attrs: &[AttrSpec::discardable("tag_map", AttrClass::Map)],
            form: &[
                Element::AffineAccess("tag_map"), COMMA, Element::Use(Type::INDEX), COLON,
                Element::AccessedTypes(&["tag_map"]),
            ],
            ..OpSpec::NONE
        }
        /// Splits a linear index into one index per dimension.
        AffineDelinearizeIndex = "affine.delinearize_index" {
            operands: Count::at_least(1),
            results: Count::ANY,
            types: TypeRule::new(&[TypeClass::Index], &[]),
            attrs: &[AttrSpec::optional("static_basis", AttrClass::DenseI64)],
            speculation: Speculation::Never,
            form: &[Element::Use(Type::INDEX), Element::Delinearize],
            ..OpSpec::PURE
        }
        /// Joins indices into one linear index.
        AffineLinearizeIndex = "affine.linearize_index" {
            operands: Count::ANY,
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Index], &[]),
            attrs: &[
                AttrSpec::optional("disjoint", AttrClass::Unit),
                AttrSpec::optional("operandSegmentSizes", AttrClass::DenseI32),
                AttrSpec::optional("static_basis", AttrClass::DenseI64),
            ],
            form: &[Element::Linearize],
            ..OpSpec::PURE
        }
    } };
}
