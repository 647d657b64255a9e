//! Rows of `affine`: loops and accesses whose indices are affine maps.

macro_rules! affine {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Counts between affine bounds by a constant step. `iter_args` are carried from one iteration to the next.
        AffineFor = "affine.for", LOOP|SINGLE_BLOCK, [("lowerBoundMap", ""), ("operandSegmentSizes", ""), ("step", ""), ("upperBoundMap", "")], [Element::AffineFor, Element::Region, Element::AttrDict];
        /// Runs one of two regions, by an affine set.
        AffineIf = "affine.if", CHOICE|SINGLE_BLOCK, [], [Element::AffineApply("condition"), Element::OptArrowTypes, Element::Region, Element::OptElse, Element::AttrDict];
        /// Runs its region for all points of a hyperrectangle, possibly at once.
        AffineParallel = "affine.parallel", LOOP|SINGLE_BLOCK, [("lowerBoundsGroups", ""), ("lowerBoundsMap", ""), ("reductions", ""), ("steps", ""), ("upperBoundsGroups", ""), ("upperBoundsMap", "")], [Element::AffineParallel, Element::Region, Element::AttrDict];
        /// Ends a region of an `affine` op with its results.
        AffineYield = "affine.yield", PURE|TERMINATOR|RETURN, [], [Element::AttrDict, Element::OptUsesTypes];
        /// Applies an affine map of one result to indices.
        AffineApply = "affine.apply", PURE, [("map", "")], [Element::AffineApply("map"), Element::AttrDict, Element::ResultIs(Type::INDEX)];
        /// The smallest result of an affine map.
        AffineMin = "affine.min", PURE, [("map", "")], [Element::AffineApply("map"), Element::AttrDict, Element::ResultIs(Type::INDEX)];
        /// The largest result of an affine map.
        AffineMax = "affine.max", PURE, [("map", "")], [Element::AffineApply("map"), Element::AttrDict, Element::ResultIs(Type::INDEX)];
        /// Reads an element of a memref at affine indices.
        AffineLoad = "affine.load", NONE, [("map", "")], [Element::AffineAccess("map"), Element::AttrDict, COLON, Element::Type(Bind::ElementOf(0))];
        /// Writes an element of a memref at affine indices.
        AffineStore = "affine.store", NONE, [("map", "")], [Element::Uses(1), COMMA, Element::AffineAccess("map"), Element::AttrDict, COLON, Element::Type(Bind::StoreTo)];
        /// Reads a vector of a memref at affine indices.
        AffineVectorLoad = "affine.vector_load", NONE, [("map", "")], [Element::AffineAccess("map"), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), COMMA, Element::Type(Bind::Result)];
        /// Writes a vector to a memref at affine indices.
        AffineVectorStore = "affine.vector_store", NONE, [("map", "")], [Element::Uses(1), COMMA, Element::AffineAccess("map"), Element::AttrDict, COLON, Element::Type(Bind::Operand(1)), COMMA, Element::Type(Bind::Operand(0))];
        /// Prefetches an element of a memref.
        AffinePrefetch = "affine.prefetch", NONE, [("isDataCache", ""), ("isWrite", ""), ("localityHint", ""), ("map", "")], [Element::AffineAccess("map"), COMMA, Element::PrefetchKind, Element::AttrDict, COLON, Element::Type(Bind::Operand(0))];
        /// Starts to copy elements of one memref to another, told apart by an element of a third; all accessed at affine indices.
        AffineDmaStart = "affine.dma_start", NONE, [], [Element::AffineAccess("src_map"), COMMA, Element::AffineAccess("dst_map"), COMMA, Element::AffineAccess("tag_map"), COMMA, Element::Use(Type::INDEX), Element::OptStride, COLON, Element::AccessedTypes(&["src_map", "dst_map", "tag_map"])];
        /// Waits until what `affine.dma_start` started with the same tag is done.
        AffineDmaWait = "affine.dma_wait", NONE, [], [Element::AffineAccess("tag_map"), COMMA, Element::Use(Type::INDEX), COLON, Element::AccessedTypes(&["tag_map"])];
        /// Splits a linear index into one index per dimension.
        AffineDelinearizeIndex = "affine.delinearize_index", PURE, [("static_basis", "")], [Element::Use(Type::INDEX), Element::Delinearize];
        /// Joins indices into one linear index.
        AffineLinearizeIndex = "affine.linearize_index", PURE, [("disjoint", ""), ("operandSegmentSizes", ""), ("static_basis", "")], [Element::Linearize];
    } };
}
