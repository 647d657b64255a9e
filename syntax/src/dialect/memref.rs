//! Rows of `memref`, read where they fit: what does not fit is passed over as an unknown op.

macro_rules! memref {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Allocates a buffer.
        MemrefAlloc = "memref.alloc", NONE, [("alignment", ""), ("operandSegmentSizes", "")], [Element::Indices(TokenKind::LParen), Element::Indices(TokenKind::LSquare), Element::OptInt("alignment"), Element::AttrDict, COLON, Element::Type(Bind::Result)];
        /// Allocates a buffer that lives as long as the function runs.
        MemrefAlloca = "memref.alloca", NONE, [("alignment", ""), ("operandSegmentSizes", "")], [Element::Indices(TokenKind::LParen), Element::Indices(TokenKind::LSquare), Element::OptInt("alignment"), Element::AttrDict, COLON, Element::Type(Bind::Result)];
        /// Reads an element.
        MemrefLoad = "memref.load", NONE, [("nontemporal", "")], [Element::Uses(1), Element::Indices(TokenKind::LSquare), Element::OptNontemporal, Element::AttrDict, COLON, Element::Type(Bind::ElementOf(0))];
        /// Writes an element.
        MemrefStore = "memref.store", NONE, [("nontemporal", "")], [Element::Uses(2), Element::Indices(TokenKind::LSquare), Element::OptNontemporal, Element::AttrDict, COLON, Element::Type(Bind::StoreTo)];
        /// Frees a buffer.
        MemrefDealloc = "memref.dealloc", NONE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands)];
        /// The size of a dimension.
        MemrefDim = "memref.dim", PURE, [], [Element::AttrDict, Element::Uses(1), COMMA, Element::Use(Type::INDEX), COLON, Element::Type(Bind::Operand(0)), Element::ResultIs(Type::INDEX)];
        /// The same buffer with another type.
        MemrefCast = "memref.cast", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// The same buffer in another memory space.
        MemrefMemorySpaceCast = "memref.memory_space_cast", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// Copies one buffer to another.
        MemrefCopy = "memref.copy", NONE, [], [Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::Word("to"), Element::Type(Bind::Operand(1))];
        /// A strided part of a buffer.
        MemrefSubview = "memref.subview", PURE, [("operandSegmentSizes", ""), ("static_offsets", ""), ("static_sizes", ""), ("static_strides", "")], [Element::Uses(1), Element::Subview, Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::Word("to"), Element::Type(Bind::Result)];
        /// A buffer with other offsets, sizes and strides.
        MemrefReinterpretCast = "memref.reinterpret_cast", PURE, [("operandSegmentSizes", ""), ("static_offsets", ""), ("static_sizes", ""), ("static_strides", "")], [Element::Uses(1), Element::ReinterpretCast, Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::Word("to"), Element::Type(Bind::Result)];
        /// Joins dimensions.
        MemrefCollapseShape = "memref.collapse_shape", PURE, [("reassociation", "")], [Element::Uses(1), Element::Reassociation, Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::Word("into"), Element::Type(Bind::Result)];
        /// Splits dimensions.
        MemrefExpandShape = "memref.expand_shape", PURE, [("reassociation", ""), ("static_output_shape", "")], [Element::Uses(1), Element::Reassociation, Element::OutputShape, Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::Word("into"), Element::Type(Bind::Result)];
        /// A buffer that is there from the start.
        MemrefGlobal = "memref.global", SYMBOL, [("alignment", ""), ("constant", ""), ("initial_value", ""), ("sym_name", ""), ("sym_visibility", ""), ("type", "")], [Element::Global, Element::AttrDict];
        /// A global buffer as a value.
        MemrefGetGlobal = "memref.get_global", PURE, [("name", "")], [Element::SymbolUse("name"), COLON, Element::Type(Bind::Result), Element::AttrDict];
        /// A region whose `alloca`s end with it.
        MemrefAllocaScope = "memref.alloca_scope", NONE, [], [Element::OptArrowTypes, Element::Region, Element::AttrDict];
        /// Ends `memref.alloca_scope` with its results.
        MemrefAllocaScopeReturn = "memref.alloca_scope.return", PURE|TERMINATOR|RETURN, [], [Element::AttrDict, Element::OptUsesTypes];
        /// Reads, combines and writes an element at once.
        MemrefAtomicRmw = "memref.atomic_rmw", NONE, [("kind", "")], [Element::RmwKind, Element::Uses(2), Element::Indices(TokenKind::LSquare), Element::AttrDict, COLON, Element::RmwTypes];
        /// Reads an element, computes a new one in its region and writes it, at once.
        MemrefGenericAtomicRmw = "memref.generic_atomic_rmw", NONE, [], [Element::Uses(1), Element::Indices(TokenKind::LSquare), COLON, Element::Type(Bind::ElementOf(0)), Element::Region, Element::AttrDict];
        /// Ends `memref.generic_atomic_rmw` with the new element.
        MemrefAtomicYield = "memref.atomic_yield", PURE|TERMINATOR|RETURN, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands)];
        /// States the alignment of a buffer.
        MemrefAssumeAlignment = "memref.assume_alignment", NONE, [("alignment", "")], [Element::Uses(1), COMMA, Element::Int32("alignment"), Element::AttrDict, COLON, Element::Type(Bind::Assumed)];
        /// Permutes dimensions.
        MemrefTranspose = "memref.transpose", PURE, [("permutation", "")], [Element::Uses(1), Element::Permutation("permutation"), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result)];
        /// A buffer of rank 1 with other element type and shape.
        MemrefView = "memref.view", PURE, [], [Element::Uses(1), Element::Punct(TokenKind::LSquare), Element::Use(Type::INDEX), Element::Punct(TokenKind::RSquare), Element::Indices(TokenKind::LSquare), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::Word("to"), Element::Type(Bind::Result)];
        /// A buffer of rank 0, the offset, the sizes and the strides that make up a memref.
        MemrefExtractStridedMetadata = "memref.extract_strided_metadata", PURE, [], [Element::Uses(1), COLON, Element::Type(Bind::Operand(0)), ARROW, Element::ResultTypes, Element::AttrDict];
        /// The address of a buffer.
        MemrefExtractAlignedPointerAsIndex = "memref.extract_aligned_pointer_as_index", PURE, [], [Element::Uses(1), COLON, Element::Type(Bind::Operand(0)), ARROW, Element::Type(Bind::Result), Element::AttrDict];
        /// The same buffer in a shape that is computed.
        MemrefReshape = "memref.reshape", PURE, [], [Element::Uses(1), Element::Punct(TokenKind::LParen), Element::Uses(1), Element::Punct(TokenKind::RParen), Element::AttrDict, COLON, Element::FunctionType(0)];
        /// Prefetches an element of a memref.
        MemrefPrefetch = "memref.prefetch", NONE, [("isDataCache", ""), ("isWrite", ""), ("localityHint", "")], [Element::Uses(1), Element::Indices(TokenKind::LSquare), COMMA, Element::PrefetchKind, COLON, Element::Type(Bind::Operand(0))];
        /// The rank of a memref.
        MemrefRank = "memref.rank", PURE, [], [Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::ResultIs(Type::INDEX)];
    } };
}
