//! Ids of ops, values, blocks, regions and interned data: `u32` indices into the arenas of
//! [`crate::Ir`] and its interner.

use std::fmt;

macro_rules! entity {
    ($(#[$doc:meta])* $name:ident, $prefix:literal) => {
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub(crate) u32);

        impl $name {
            /// The index into the arena.
            #[inline]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// The id with this index; for tables that are kept beside the IR.
            #[inline]
            pub fn from_index(index: usize) -> Self {
                Self(index as u32)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($prefix, "{}"), self.0)
            }
        }
    };
}

entity!(
    /// An item of a region: an operation, or a pseudo-operation (block label, alias, resource
    /// section, chunk of a split file). See [`crate::OpKind`].
    Op, "op"
);
entity!(
    /// An SSA value: one result of an op, or one argument of a block.
    Value, "v"
);
entity!(
    /// A block of a region: its implicit entry, or the ops after a label.
    Block, "block"
);
entity!(
    /// A region of an op.
    Region, "region"
);
entity!(
    /// An interned type. Equal types have equal ids.
    Type, "type"
);
entity!(
    /// An interned attribute. Equal attributes have equal ids.
    Attr, "attr"
);
entity!(
    /// An interned string: an SSA name, a label, a symbol, the name of an op or of an attribute.
    Name, "name"
);
