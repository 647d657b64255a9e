//! Rows of `affine`: loops and accesses whose indices are affine maps.

macro_rules! affine {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Counts between affine bounds by a constant step. `iter_args` are carried from one iteration to the next.
        AffineFor = "affine.for", LOOP|SINGLE_BLOCK, [("lowerBoundMap", ""), ("operandSegmentSizes", ""), ("step", ""), ("upperBoundMap", "")], [E::AffineFor, E::Region, E::AttrDict];
        /// Runs one of two regions, by an affine set.
        AffineIf = "affine.if", CHOICE|SINGLE_BLOCK, [], [E::AffineApply("condition"), E::OptArrowTypes, E::Region, E::OptElse, E::AttrDict];
        /// Runs its region for all points of a hyperrectangle, possibly at once.
        AffineParallel = "affine.parallel", LOOP|SINGLE_BLOCK, [("lowerBoundsGroups", ""), ("lowerBoundsMap", ""), ("reductions", ""), ("steps", ""), ("upperBoundsGroups", ""), ("upperBoundsMap", "")], [E::AffineParallel, E::Region, E::AttrDict];
        /// Ends a region of an `affine` op with its results.
        AffineYield = "affine.yield", PURE|TERMINATOR|RETURN, [], [E::AttrDict, E::OptUsesTypes];
        /// Applies an affine map of one result to indices.
        AffineApply = "affine.apply", PURE, [("map", "")], [E::AffineApply("map"), E::AttrDict, E::ResultIs(Type::INDEX)];
        /// The smallest result of an affine map.
        AffineMin = "affine.min", PURE, [("map", "")], [E::AffineApply("map"), E::AttrDict, E::ResultIs(Type::INDEX)];
        /// The largest result of an affine map.
        AffineMax = "affine.max", PURE, [("map", "")], [E::AffineApply("map"), E::AttrDict, E::ResultIs(Type::INDEX)];
        /// Reads an element of a memref at affine indices.
        AffineLoad = "affine.load", NONE, [("map", "")], [E::AffineAccess("map"), E::AttrDict, COLON, E::Type(Bind::ElementOf(0))];
        /// Writes an element of a memref at affine indices.
        AffineStore = "affine.store", NONE, [("map", "")], [E::Uses(1), COMMA, E::AffineAccess("map"), E::AttrDict, COLON, E::Type(Bind::StoreTo)];
        /// Reads a vector of a memref at affine indices.
        AffineVectorLoad = "affine.vector_load", NONE, [("map", "")], [E::AffineAccess("map"), E::AttrDict, COLON, E::Type(Bind::Operand(0)), COMMA, E::Type(Bind::Result)];
        /// Writes a vector to a memref at affine indices.
        AffineVectorStore = "affine.vector_store", NONE, [("map", "")], [E::Uses(1), COMMA, E::AffineAccess("map"), E::AttrDict, COLON, E::Type(Bind::Operand(1)), COMMA, E::Type(Bind::Operand(0))];
        /// Prefetches an element of a memref.
        AffinePrefetch = "affine.prefetch", NONE, [("isDataCache", ""), ("isWrite", ""), ("localityHint", ""), ("map", "")], [E::AffineAccess("map"), COMMA, E::PrefetchKind, E::AttrDict, COLON, E::Type(Bind::Operand(0))];
        /// Starts to copy elements of one memref to another, told apart by an element of a third; all accessed at affine indices.
        AffineDmaStart = "affine.dma_start", NONE, [], [E::AffineAccess("src_map"), COMMA, E::AffineAccess("dst_map"), COMMA, E::AffineAccess("tag_map"), COMMA, E::Use(Type::INDEX), E::OptStride, COLON, E::AccessedTypes(&["src_map", "dst_map", "tag_map"])];
        /// Waits until what `affine.dma_start` started with the same tag is done.
        AffineDmaWait = "affine.dma_wait", NONE, [], [E::AffineAccess("tag_map"), COMMA, E::Use(Type::INDEX), COLON, E::AccessedTypes(&["tag_map"])];
        /// Splits a linear index into one index per dimension.
        AffineDelinearizeIndex = "affine.delinearize_index", PURE, [("static_basis", "")], [E::Use(Type::INDEX), E::Delinearize];
        /// Joins indices into one linear index.
        AffineLinearizeIndex = "affine.linearize_index", PURE, [("disjoint", ""), ("operandSegmentSizes", ""), ("static_basis", "")], [E::Linearize];
    } };
}
