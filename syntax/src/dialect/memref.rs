//! Rows of `memref`, read where they fit: what does not fit is passed over as an unknown op.

macro_rules! memref {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Allocates a buffer.
        MemrefAlloc = "memref.alloc", NONE, [("alignment", ""), ("operandSegmentSizes", "")], [E::Indices(T::LParen), E::Indices(T::LSquare), E::OptInt("alignment"), E::AttrDict, COLON, E::Type(Bind::Result)];
        /// Allocates a buffer that lives as long as the function runs.
        MemrefAlloca = "memref.alloca", NONE, [("alignment", ""), ("operandSegmentSizes", "")], [E::Indices(T::LParen), E::Indices(T::LSquare), E::OptInt("alignment"), E::AttrDict, COLON, E::Type(Bind::Result)];
        /// Reads an element.
        MemrefLoad = "memref.load", NONE, [("nontemporal", "")], [E::Uses(1), E::Indices(T::LSquare), E::OptNontemporal, E::AttrDict, COLON, E::Type(Bind::ElementOf(0))];
        /// Writes an element.
        MemrefStore = "memref.store", NONE, [("nontemporal", "")], [E::Uses(2), E::Indices(T::LSquare), E::OptNontemporal, E::AttrDict, COLON, E::Type(Bind::StoreTo)];
        /// Frees a buffer.
        MemrefDealloc = "memref.dealloc", NONE, [], [E::Uses(1), E::AttrDict, COLON, E::Type(Bind::Operands)];
        /// The size of a dimension.
        MemrefDim = "memref.dim", PURE, [], [E::AttrDict, E::Uses(1), COMMA, E::Use(Type::INDEX), COLON, E::Type(Bind::Operand(0)), E::ResultIs(Type::INDEX)];
        /// The same buffer with another type.
        MemrefCast = "memref.cast", PURE, [], [E::Uses(1), E::AttrDict, COLON, E::Type(Bind::Operands), E::Word("to"), E::Type(Bind::Result)];
        /// The same buffer in another memory space.
        MemrefMemorySpaceCast = "memref.memory_space_cast", PURE, [], [E::Uses(1), E::AttrDict, COLON, E::Type(Bind::Operands), E::Word("to"), E::Type(Bind::Result)];
        /// Copies one buffer to another.
        MemrefCopy = "memref.copy", NONE, [], [E::Uses(2), E::AttrDict, COLON, E::Type(Bind::Operand(0)), E::Word("to"), E::Type(Bind::Operand(1))];
        /// A strided part of a buffer.
        MemrefSubview = "memref.subview", PURE, [("operandSegmentSizes", ""), ("static_offsets", ""), ("static_sizes", ""), ("static_strides", "")], [E::Uses(1), E::Subview, E::AttrDict, COLON, E::Type(Bind::Operand(0)), E::Word("to"), E::Type(Bind::Result)];
        /// A buffer with other offsets, sizes and strides.
        MemrefReinterpretCast = "memref.reinterpret_cast", PURE, [("operandSegmentSizes", ""), ("static_offsets", ""), ("static_sizes", ""), ("static_strides", "")], [E::Uses(1), E::ReinterpretCast, E::AttrDict, COLON, E::Type(Bind::Operand(0)), E::Word("to"), E::Type(Bind::Result)];
        /// Joins dimensions.
        MemrefCollapseShape = "memref.collapse_shape", PURE, [("reassociation", "")], [E::Uses(1), E::Reassociation, E::AttrDict, COLON, E::Type(Bind::Operand(0)), E::Word("into"), E::Type(Bind::Result)];
        /// Splits dimensions.
        MemrefExpandShape = "memref.expand_shape", PURE, [("reassociation", ""), ("static_output_shape", "")], [E::Uses(1), E::Reassociation, E::OutputShape, E::AttrDict, COLON, E::Type(Bind::Operand(0)), E::Word("into"), E::Type(Bind::Result)];
        /// A buffer that is there from the start.
        MemrefGlobal = "memref.global", SYMBOL, [("alignment", ""), ("constant", ""), ("initial_value", ""), ("sym_name", ""), ("sym_visibility", ""), ("type", "")], [E::Global, E::AttrDict];
        /// A global buffer as a value.
        MemrefGetGlobal = "memref.get_global", PURE, [("name", "")], [E::SymbolUse("name"), COLON, E::Type(Bind::Result), E::AttrDict];
        /// A region whose `alloca`s end with it.
        MemrefAllocaScope = "memref.alloca_scope", NONE, [], [E::OptArrowTypes, E::Region, E::AttrDict];
        /// Ends `memref.alloca_scope` with its results.
        MemrefAllocaScopeReturn = "memref.alloca_scope.return", PURE|TERMINATOR|RETURN, [], [E::AttrDict, E::OptUsesTypes];
        /// Reads, combines and writes an element at once.
        MemrefAtomicRmw = "memref.atomic_rmw", NONE, [("kind", "")], [E::RmwKind, E::Uses(2), E::Indices(T::LSquare), E::AttrDict, COLON, E::RmwTypes];
        /// Reads an element, computes a new one in its region and writes it, at once.
        MemrefGenericAtomicRmw = "memref.generic_atomic_rmw", NONE, [], [E::Uses(1), E::Indices(T::LSquare), COLON, E::Type(Bind::ElementOf(0)), E::Region, E::AttrDict];
        /// Ends `memref.generic_atomic_rmw` with the new element.
        MemrefAtomicYield = "memref.atomic_yield", PURE|TERMINATOR|RETURN, [], [E::Uses(1), E::AttrDict, COLON, E::Type(Bind::Operands)];
        /// States the alignment of a buffer.
        MemrefAssumeAlignment = "memref.assume_alignment", NONE, [("alignment", "")], [E::Uses(1), COMMA, E::Int32("alignment"), E::AttrDict, COLON, E::Type(Bind::Assumed)];
        /// Permutes dimensions.
        MemrefTranspose = "memref.transpose", PURE, [("permutation", "")], [E::Uses(1), E::Permutation("permutation"), E::AttrDict, COLON, E::Type(Bind::Operands), E::Word("to"), E::Type(Bind::Result)];
        /// A buffer of rank 1 with other element type and shape.
        MemrefView = "memref.view", PURE, [], [E::Uses(1), E::Punct(T::LSquare), E::Use(Type::INDEX), E::Punct(T::RSquare), E::Indices(T::LSquare), E::AttrDict, COLON, E::Type(Bind::Operand(0)), E::Word("to"), E::Type(Bind::Result)];
        /// A buffer of rank 0, the offset, the sizes and the strides that make up a memref.
        MemrefExtractStridedMetadata = "memref.extract_strided_metadata", PURE, [], [E::Uses(1), COLON, E::Type(Bind::Operand(0)), ARROW, E::ResultTypes, E::AttrDict];
        /// The address of a buffer.
        MemrefExtractAlignedPointerAsIndex = "memref.extract_aligned_pointer_as_index", PURE, [], [E::Uses(1), COLON, E::Type(Bind::Operand(0)), ARROW, E::Type(Bind::Result), E::AttrDict];
        /// The same buffer in a shape that is computed.
        MemrefReshape = "memref.reshape", PURE, [], [E::Uses(1), E::Punct(T::LParen), E::Uses(1), E::Punct(T::RParen), E::AttrDict, COLON, E::FunctionType(0)];
        /// Prefetches an element of a memref.
        MemrefPrefetch = "memref.prefetch", NONE, [("isDataCache", ""), ("isWrite", ""), ("localityHint", "")], [E::Uses(1), E::Indices(T::LSquare), COMMA, E::PrefetchKind, COLON, E::Type(Bind::Operand(0))];
        /// The rank of a memref.
        MemrefRank = "memref.rank", PURE, [], [E::Uses(1), E::AttrDict, COLON, E::Type(Bind::Operand(0)), E::ResultIs(Type::INDEX)];
    } };
}
