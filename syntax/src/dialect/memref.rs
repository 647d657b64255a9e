//! Rows of `memref`: buffers. Its other ops are passed over as unknown ones.

macro_rules! memref {
    ([$next:ident $($rest:ident)*] $($rows:tt)*) => { $next! { [$($rest)*] $($rows)*
        /// Allocates a buffer.
        MemrefAlloc = "memref.alloc" {
            operands: Count::ANY,
            segments: &[Count::ANY, Count::ANY],
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Index], &[TypeClass::RankedMemRef]),
            attrs: &[
                AttrSpec::optional("alignment", AttrClass::I64),
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
            ],
            effects: Effects::Known(&[(Access::Allocate, Buffer::Result(0))]),
            form: &[
                Element::Indices(TokenKind::LParen), Element::Indices(TokenKind::LSquare),
                Element::OptInt("alignment"), Element::AttrDict, COLON, Element::Type(Bind::Result),
            ],
            ..OpSpec::NONE
        }
        /// Allocates a buffer that lives as long as the function runs.
        MemrefAlloca = "memref.alloca" {
            operands: Count::ANY,
            segments: &[Count::ANY, Count::ANY],
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Index], &[TypeClass::RankedMemRef]),
            attrs: &[
                AttrSpec::optional("alignment", AttrClass::I64),
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
            ],
            effects: Effects::Known(&[(Access::Allocate, Buffer::Result(0))]),
            form: &[
                Element::Indices(TokenKind::LParen), Element::Indices(TokenKind::LSquare),
                Element::OptInt("alignment"), Element::AttrDict, COLON, Element::Type(Bind::Result),
            ],
            ..OpSpec::NONE
        }
        /// Reads an element.
        MemrefLoad = "memref.load" {
            operands: Count::at_least(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
            effects: Effects::Known(&[(Access::Read, Buffer::Operand(0))]),
            form: &[
                Element::Uses(1), Element::Indices(TokenKind::LSquare), Element::OptNontemporal, Element::AttrDict,
                COLON, Element::Type(Bind::ElementOf(0)),
            ],
            ..OpSpec::NONE
        }
        /// Writes an element.
        MemrefStore = "memref.store" {
            operands: Count::at_least(2),
            types: TypeRule::new(&[TypeClass::Any, TypeClass::RankedMemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::optional("nontemporal", AttrClass::Bool)],
            effects: Effects::Known(&[(Access::Write, Buffer::Operand(1))]),
            form: &[
                Element::Uses(2), Element::Indices(TokenKind::LSquare), Element::OptNontemporal, Element::AttrDict,
                COLON, Element::Type(Bind::StoreTo),
            ],
            ..OpSpec::NONE
        }
        /// Frees a buffer.
        MemrefDealloc = "memref.dealloc" {
            operands: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef], &[]),
            effects: Effects::Known(&[(Access::Free, Buffer::Operand(0))]),
            form: &[Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands)],
            ..OpSpec::NONE
        }
        /// The size of a dimension.
        MemrefDim = "memref.dim" {
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[TypeClass::Index]),
            speculation: Speculation::Dimension,
            form: &[
                Element::AttrDict, Element::Uses(1), COMMA, Element::Use(Type::INDEX), COLON,
                Element::Type(Bind::Operand(0)), Element::ResultIs(Type::INDEX),
            ],
            ..OpSpec::PURE
        }
        /// The same buffer with another type.
        MemrefCast = "memref.cast" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef], &[TypeClass::MemRef]),
            form: &[
                Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"),
                Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// The same buffer in another memory space.
        MemrefMemorySpaceCast = "memref.memory_space_cast" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef], &[TypeClass::MemRef]),
            form: &[
                Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands), Element::Word("to"),
                Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// Copies one buffer to another.
        MemrefCopy = "memref.copy" {
            operands: Count::exactly(2),
            types: TypeRule::new(&[TypeClass::MemRef, TypeClass::MemRef], &[]),
            effects: Effects::Known(&[(Access::Read, Buffer::Operand(0)), (Access::Write, Buffer::Operand(1))]),
            form: &[
                Element::Uses(2), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)), Element::Word("to"),
                Element::Type(Bind::Operand(1)),
            ],
            ..OpSpec::NONE
        }
        /// A strided part of a buffer.
        MemrefSubview = "memref.subview" {
            operands: Count::at_least(1),
            segments: &[Count::exactly(1), Count::ANY, Count::ANY, Count::ANY],
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
            attrs: &[
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
                AttrSpec::required("static_offsets", AttrClass::DenseI64),
                AttrSpec::required("static_sizes", AttrClass::DenseI64),
                AttrSpec::required("static_strides", AttrClass::DenseI64),
            ],
            form: &[
                Element::Uses(1), Element::Subview, Element::AttrDict, COLON, Element::Type(Bind::Operand(0)),
                Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// A buffer with other offsets, sizes and strides.
        MemrefReinterpretCast = "memref.reinterpret_cast" {
            operands: Count::at_least(1),
            segments: &[Count::exactly(1), Count::ANY, Count::ANY, Count::ANY],
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
            attrs: &[
                AttrSpec::required("operandSegmentSizes", AttrClass::DenseI32),
                AttrSpec::required("static_offsets", AttrClass::DenseI64),
                AttrSpec::required("static_sizes", AttrClass::DenseI64),
                AttrSpec::required("static_strides", AttrClass::DenseI64),
            ],
            form: &[
                Element::Uses(1), Element::ReinterpretCast, Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// Joins dimensions.
        MemrefCollapseShape = "memref.collapse_shape" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef], &[TypeClass::RankedMemRef]),
            attrs: &[AttrSpec::required("reassociation", AttrClass::I64Arrays)],
            form: &[
                Element::Uses(1), Element::Reassociation, Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)), Element::Word("into"), Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// Splits dimensions.
        MemrefExpandShape = "memref.expand_shape" {
            operands: Count::at_least(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
            attrs: &[
                AttrSpec::required("reassociation", AttrClass::I64Arrays),
                AttrSpec::required("static_output_shape", AttrClass::DenseI64),
            ],
            form: &[
                Element::Uses(1), Element::Reassociation, Element::OutputShape, Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)), Element::Word("into"), Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// A buffer that is there from the start.
        MemrefGlobal = "memref.global" {
            traits: Traits::SYMBOL,
            attrs: &[
                AttrSpec::optional("alignment", AttrClass::I64), AttrSpec::optional("constant", AttrClass::Unit),
                AttrSpec::optional("initial_value", AttrClass::Any),
                AttrSpec::required("sym_name", AttrClass::Str),
                AttrSpec::optional("sym_visibility", AttrClass::Str), AttrSpec::required("type", AttrClass::Type),
            ],
            form: &[Element::Global, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// A global buffer as a value.
        MemrefGetGlobal = "memref.get_global" {
            results: Count::exactly(1),
            types: TypeRule::new(&[], &[TypeClass::RankedMemRef]),
            attrs: &[AttrSpec::required("name", AttrClass::FlatSymbol)],
            form: &[Element::SymbolUse("name"), COLON, Element::Type(Bind::Result), Element::AttrDict],
            ..OpSpec::PURE
        }
        /// A region whose `alloca`s end with it.
        MemrefAllocaScope = "memref.alloca_scope" {
            traits: Traits::SINGLE_BLOCK,
            results: Count::ANY,
            regions: Count::exactly(1),
            implicit_terminator: Some(OpKind::MemrefAllocaScopeReturn),
            effects: Effects::NONE,
            form: &[Element::OptArrowTypes, Element::Region, Element::AttrDict],
            ..OpSpec::NONE
        }
        /// Ends `memref.alloca_scope` with its results.
        MemrefAllocaScopeReturn = "memref.alloca_scope.return" {
            parents: &[OpKind::MemrefAllocaScope],
            form: &[Element::AttrDict, Element::OptUsesTypes],
            ..OpSpec::TERMINATOR
        }
        /// Reads, combines and writes an element at once.
        MemrefAtomicRmw = "memref.atomic_rmw" {
            operands: Count::at_least(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::Any, TypeClass::RankedMemRef, TypeClass::Index], &[]),
            attrs: &[AttrSpec::required("kind", AttrClass::I64)],
            effects: Effects::Known(&[(Access::Read, Buffer::Operand(1)), (Access::Write, Buffer::Operand(1))]),
            form: &[
                Element::RmwKind, Element::Uses(2), Element::Indices(TokenKind::LSquare), Element::AttrDict, COLON,
                Element::RmwTypes,
            ],
            ..OpSpec::NONE
        }
        /// Reads an element, computes a new one in its region and writes it, at once.
        MemrefGenericAtomicRmw = "memref.generic_atomic_rmw" {
            operands: Count::at_least(1),
            results: Count::exactly(1),
            regions: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[]),
            form: &[
                Element::Uses(1), Element::Indices(TokenKind::LSquare), COLON, Element::Type(Bind::ElementOf(0)),
                Element::Region, Element::AttrDict,
            ],
            ..OpSpec::NONE
        }
        /// Ends `memref.generic_atomic_rmw` with the new element.
        MemrefAtomicYield = "memref.atomic_yield" {
            operands: Count::exactly(1),
            parents: &[OpKind::MemrefGenericAtomicRmw],
            form: &[Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operands)],
            ..OpSpec::TERMINATOR
        }
        /// States the alignment of a buffer.
        MemrefAssumeAlignment = "memref.assume_alignment" {
            operands: Count::exactly(1),
            results: Count { least: 0, most: 1 },
            types: TypeRule::new(&[TypeClass::MemRef], &[]),
            attrs: &[AttrSpec::required("alignment", AttrClass::I32)],
            form: &[
                Element::Uses(1), COMMA, Element::Int32("alignment"), Element::AttrDict, COLON,
                Element::Type(Bind::Assumed),
            ],
            ..OpSpec::NONE
        }
        /// Permutes dimensions.
        MemrefTranspose = "memref.transpose" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef], &[TypeClass::RankedMemRef]),
            attrs: &[AttrSpec::required("permutation", AttrClass::Map)],
            form: &[
                Element::Uses(1), Element::Permutation("permutation"), Element::AttrDict, COLON,
                Element::Type(Bind::Operands), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// A buffer of rank 1 with other element type and shape.
        MemrefView = "memref.view" {
            operands: Count::at_least(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[TypeClass::RankedMemRef]),
            form: &[
                Element::Uses(1), Element::Punct(TokenKind::LSquare), Element::Use(Type::INDEX),
                Element::Punct(TokenKind::RSquare), Element::Indices(TokenKind::LSquare), Element::AttrDict, COLON,
                Element::Type(Bind::Operand(0)), Element::Word("to"), Element::Type(Bind::Result),
            ],
            ..OpSpec::PURE
        }
        /// A buffer of rank 0, the offset, the sizes and the strides that make up a memref.
        MemrefExtractStridedMetadata = "memref.extract_strided_metadata" {
            operands: Count::exactly(1),
            results: Count::at_least(2),
            types: TypeRule::new(&[TypeClass::RankedMemRef], &[TypeClass::RankedMemRef]),
            form: &[
                Element::Uses(1), COLON, Element::Type(Bind::Operand(0)), ARROW, Element::ResultTypes,
                Element::AttrDict,
            ],
            ..OpSpec::PURE
        }
        /// The address of a buffer.
        MemrefExtractAlignedPointerAsIndex = "memref.extract_aligned_pointer_as_index" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef], &[TypeClass::Index]),
            form: &[
                Element::Uses(1), COLON, Element::Type(Bind::Operand(0)), ARROW, Element::Type(Bind::Result),
                Element::AttrDict,
            ],
            ..OpSpec::PURE
        }
        /// The same buffer in a shape that is computed.
        MemrefReshape = "memref.reshape" {
            operands: Count::exactly(2),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef, TypeClass::RankedMemRef], &[TypeClass::MemRef]),
            form: &[
                Element::Uses(1), Element::Punct(TokenKind::LParen), Element::Uses(1),
                Element::Punct(TokenKind::RParen), Element::AttrDict, COLON, Element::FunctionType(0),
            ],
            ..OpSpec::PURE
        }
        /// Prefetches an element of a memref.
        MemrefPrefetch = "memref.prefetch" {
            operands: Count::at_least(1),
            types: TypeRule::new(&[TypeClass::RankedMemRef, TypeClass::Index], &[]),
            attrs: &[
                AttrSpec::required("isDataCache", AttrClass::Bool), AttrSpec::required("isWrite", AttrClass::Bool),
                AttrSpec::required("localityHint", AttrClass::I32),
            ],
            form: &[
                Element::Uses(1), Element::Indices(TokenKind::LSquare), COMMA, Element::PrefetchKind, COLON,
                Element::Type(Bind::Operand(0)),
            ],
            ..OpSpec::NONE
        }
        /// The rank of a memref.
        MemrefRank = "memref.rank" {
            operands: Count::exactly(1),
            results: Count::exactly(1),
            types: TypeRule::new(&[TypeClass::MemRef], &[TypeClass::Index]),
            form: &[
                Element::Uses(1), Element::AttrDict, COLON, Element::Type(Bind::Operand(0)),
                Element::ResultIs(Type::INDEX),
            ],
            ..OpSpec::PURE
        }
    } };
}
