//! The op table: what is known of each op, in one place.
//!
//! *A row* has the op's documentation (shown on hover), its [`OpKind`], name, traits, inherent attributes and its custom form.
//! The rows stand in one file per dialect; each file is a macro that adds its rows to those of the next, and `table!`
//! turns all of them into the enum and the static table. To add an op, add a row: its custom form is read and printed along it
//! (see [mod@format]), the verifier takes its traits, the generic form its inherent attributes.
//!
//! *Inherent attributes* (properties) are those that the generic form writes between `<{` and `}>`. One with a default is
//! left out of [`crate::Parsed::attrs`] when it has that value, so that plain arithmetic carries no attributes.

pub mod format;
#[macro_use]
mod affine;
#[macro_use]
mod arith;
#[macro_use]
mod builtin;
#[macro_use]
mod cf;
#[macro_use]
mod func;
#[macro_use]
mod memref;
#[macro_use]
mod noisy;
#[macro_use]
mod scf;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::{TokenKind, Type};
use format::{ARROW, BINARY_FAST, Bind, COLON, COMMA, Element, FASTMATH, OVERFLOW, UNARY_FAST};

/// A set of properties of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits(pub u16);

impl Traits {
    /// No property.
    pub const NONE: Traits = Traits(0);
    /// No effect besides its results.
    pub const PURE: Traits = Traits(1);
    /// Ends a block.
    pub const TERMINATOR: Traits = Traits(1 << 1);
    /// Goes to the blocks it names.
    pub const BRANCH: Traits = Traits(1 << 2);
    /// Runs its region any number of times.
    pub const LOOP: Traits = Traits(1 << 3);
    /// Its regions use no values from outside.
    pub const ISOLATED: Traits = Traits(1 << 4);
    /// It defines a symbol.
    pub const SYMBOL: Traits = Traits(1 << 5);
    /// Symbols in its region are its own.
    pub const SYMBOL_TABLE: Traits = Traits(1 << 6);
    /// The order of ops in its region says nothing about dominance.
    pub const GRAPH_REGION: Traits = Traits(1 << 7);
    /// Its operands may be exchanged.
    pub const COMMUTATIVE: Traits = Traits(1 << 8);
    /// Leaves the region of its parent op with its operands.
    pub const RETURN: Traits = Traits(1 << 9);
    /// Each of its regions has one block.
    pub const SINGLE_BLOCK: Traits = Traits(1 << 10);
    /// The blocks of its region need no terminator.
    pub const NO_TERMINATOR: Traits = Traits(1 << 11);
    /// Its result is a constant of the program text.
    pub const CONSTANT: Traits = Traits(1 << 12);
    /// May not be executed by its region's parent in order: it is picked (`scf.if`, `scf.index_switch`).
    pub const CHOICE: Traits = Traits(1 << 13);

    /// Whether all of `other` are among them.
    pub const fn has(self, other: Traits) -> bool {
        self.0 & other.0 == other.0
    }

    /// Both together.
    #[must_use]
    pub const fn and(self, other: Traits) -> Traits {
        Traits(self.0 | other.0)
    }
}

/// What is known of an op.
#[derive(Debug)]
pub struct OpSpec {
    /// Full name.
    pub name: &'static str,
    /// Its properties.
    pub traits: Traits,
    /// One paragraph of documentation for hover, Markdown.
    pub doc: &'static str,
    /// Its inherent attributes by name, each with the text of its default or an empty string.
    pub inherent: &'static [(&'static str, &'static str)],
    /// Its custom form; empty for what is no known op.
    pub format: &'static [Element],
}

/// Turns the rows of all dialects into [`OpKind`] and the table.
macro_rules! table {
    ([] $($(#[doc = $doc:literal])* $kind:ident = $name:literal, $($trait_:ident)|+, $inherent:expr, $format:expr;)*) => {
        /// A known op, or what else may stand where ops stand.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        pub enum OpKind {
            /// An op that the table does not know.
            #[default]
            Unknown,
            /// `^bb0(%a: i32):`
            Label,
            /// `!name = type`
            TypeAlias,
            /// `#name = attribute`
            AttrAlias,
            /// `{-# ... #-}`
            Resources,
            /// A part of the file between `// -----` lines.
            Chunk,
            /// Text where no item starts.
            Junk,
            $($(#[doc = $doc])* $kind,)*
        }

        /// The rows, in the order of the variants, after those of what is no op.
        static TABLE: &[OpSpec] = &[
            $(OpSpec {
                name: $name,
                traits: Traits(0 $(| Traits::$trait_.0)+),
                doc: concat!($($doc, "\n"),*),
                inherent: &$inherent,
                format: &$format,
            },)*
        ];

        /// All known ops.
        pub const ALL: &[OpKind] = &[$(OpKind::$kind,)*];
    };
}

builtin! { [func arith cf scf affine memref noisy table] }

impl OpKind {
    /// Whether it is an op, and not a label, alias, resource section, chunk or junk.
    pub fn is_op(self) -> bool {
        use OpKind::{AttrAlias, Chunk, Junk, Label, Resources, TypeAlias};
        !matches!(self, Label | TypeAlias | AttrAlias | Resources | Chunk | Junk)
    }

    /// The row of the table; for what is no known op, a row without traits.
    pub fn spec(self) -> &'static OpSpec {
        static NONE: OpSpec =
            OpSpec { name: "", traits: Traits::NONE, doc: "", inherent: &[], format: &[] };
        (self as usize).checked_sub(OpKind::Junk as usize + 1).map_or(&NONE, |row| &TABLE[row])
    }

    /// Whether its row has the trait.
    pub fn has(self, it: Traits) -> bool {
        self.spec().traits.has(it)
    }

    /// The kind of an op by its full name. The interner remembers it by [`crate::Name`]: see [`crate::Interner::op_kind`].
    pub fn of(name: &str) -> OpKind {
        static BY_NAME: OnceLock<FxHashMap<&'static str, OpKind>> = OnceLock::new();
        let by_name = BY_NAME.get_or_init(|| ALL.iter().map(|it| (it.spec().name, *it)).collect());
        by_name.get(name).copied().unwrap_or_default()
    }

    /// The op that ends a block of its regions where the text leaves the terminator out.
    pub fn implicit_terminator(self) -> Option<OpKind> {
        use OpKind::{
            AffineFor, AffineIf, AffineParallel, AffineYield, MemrefAllocaScope,
            MemrefAllocaScopeReturn, ScfFor, ScfForall, ScfForallInParallel, ScfIf, ScfIndexSwitch,
            ScfParallel, ScfReduce, ScfYield,
        };
        match self {
            ScfFor | ScfIf | ScfIndexSwitch => Some(ScfYield),
            ScfParallel => Some(ScfReduce),
            ScfForall => Some(ScfForallInParallel),
            AffineFor | AffineIf | AffineParallel => Some(AffineYield),
            MemrefAllocaScope => Some(MemrefAllocaScopeReturn),
            _ => None,
        }
    }
}

/// Whether an unknown op or type of the dialect is an error: nobody else adds to it, and it does not grow.
pub fn is_closed(dialect: &str) -> bool {
    matches!(dialect, "noisy" | "func" | "arith" | "cf" | "builtin")
}

/// Whether `mlir-opt` has the dialect, and so reads what stands in its types and attributes (`mlir-opt --show-dialects` of LLVM 19).
pub(crate) fn is_read_by_mlir(dialect: &str) -> bool {
    matches!(
        dialect,
        "acc"
            | "affine"
            | "amdgpu"
            | "amx"
            | "arith"
            | "arm_neon"
            | "arm_sme"
            | "arm_sve"
            | "async"
            | "bufferization"
            | "builtin"
            | "cf"
            | "complex"
            | "dlti"
            | "emitc"
            | "func"
            | "gpu"
            | "index"
            | "irdl"
            | "linalg"
            | "llvm"
            | "math"
            | "memref"
            | "mesh"
            | "ml_program"
            | "mpi"
            | "nvgpu"
            | "nvvm"
            | "omp"
            | "pdl"
            | "pdl_interp"
            | "polynomial"
            | "ptr"
            | "quant"
            | "rocdl"
            | "scf"
            | "shape"
            | "sparse_tensor"
            | "spirv"
            | "tensor"
            | "test"
            | "test_dyn"
            | "tosa"
            | "transform"
            | "ub"
            | "vector"
            | "x86vector"
            | "xegpu"
    )
}

/// Whether `name` (no dot) is an op of that default dialect; such a name at the start of a line starts an op.
pub fn is_unprefixed_op(dialect: &str, name: &str) -> bool {
    match dialect {
        "builtin" => matches!(name, "module" | "unrealized_conversion_cast"),
        "func" => matches!(name, "func" | "call" | "call_indirect" | "constant" | "return"),
        "pdl" => matches!(
            name,
            "pattern"
                | "rewrite"
                | "operation"
                | "operand"
                | "operands"
                | "type"
                | "types"
                | "attribute"
                | "result"
                | "results"
                | "replace"
                | "erase"
                | "apply_native_constraint"
                | "apply_native_rewrite"
                | "range"
        ),
        "transform" => matches!(
            name,
            "yield"
                | "sequence"
                | "named_sequence"
                | "include"
                | "foreach"
                | "foreach_match"
                | "alternatives"
                | "match.operation_name"
                | "print"
                | "cast"
                | "merge_handles"
                | "split_handle"
                | "replicate"
                | "select"
                | "with_pdl_patterns"
                | "collect_matching"
                | "apply_patterns"
                | "apply_cse"
                | "apply_dce"
                | "apply_licm"
                | "annotate"
                | "get_parent_op"
                | "get_producer_of_operand"
                | "get_consumers_of_result"
                | "get_defining_op"
                | "get_result"
                | "get_operand"
                | "get_type"
                | "num_associations"
                | "verify"
        ),
        "async" => matches!(
            name,
            "return"
                | "yield"
                | "execute"
                | "await"
                | "await_all"
                | "call"
                | "func"
                | "add_to_group"
                | "create_group"
        ),
        "shape" => matches!(
            name,
            "return"
                | "yield"
                | "func"
                | "add"
                | "any"
                | "assuming"
                | "assuming_all"
                | "assuming_yield"
                | "broadcast"
                | "concat"
                | "const_shape"
                | "const_size"
                | "const_witness"
                | "cstr_broadcastable"
                | "cstr_eq"
                | "cstr_require"
                | "dim"
                | "div"
                | "from_extent_tensor"
                | "from_extents"
                | "function_library"
                | "get_extent"
                | "index_to_size"
                | "is_broadcastable"
                | "max"
                | "meet"
                | "min"
                | "mul"
                | "num_elements"
                | "rank"
                | "reduce"
                | "shape_eq"
                | "shape_of"
                | "size_to_index"
                | "split_at"
                | "to_extent_tensor"
                | "value_as_shape"
                | "value_of"
                | "with_shape"
        ),
        _ => false,
    }
}

/// The default dialect at the top level of a file.
pub(crate) const TOP: Option<&str> = Some("builtin");

/// Whether `name` (no dot) is an op of some default dialect.
pub(crate) fn is_unprefixed_anywhere(name: &str) -> bool {
    ["builtin", "func", "pdl", "transform", "async", "shape"]
        .iter()
        .any(|dialect| is_unprefixed_op(dialect, name))
}

/// The default dialect inside the regions of an op that nobody knows: it may have any, so a name without a dot may be right there.
pub const SOME_DIALECT: &str = "?";

/// The default dialect inside the regions of an op written in custom form with the name `written`, where `around` is that of the
/// op's own name; `None`: names need a dialect there.
pub fn inner_dialect(around: Option<&'static str>, written: &str) -> Option<&'static str> {
    match around {
        _ if written.contains('.') => default_dialect_of(written),
        Some(SOME_DIALECT) => around,
        Some(around) => default_dialect_of(&format!("{around}.{written}")),
        None => None,
    }
}

fn default_dialect_of(full_name: &str) -> Option<&'static str> {
    let dialect = full_name.split('.').next().unwrap_or_default();
    match full_name {
        "builtin.module" => Some("builtin"),
        "func.func" => Some("func"),
        "transform.sequence"
        | "transform.named_sequence"
        | "transform.with_pdl_patterns"
        | "transform.foreach"
        | "transform.alternatives" => Some("transform"),
        "pdl.pattern" | "pdl.rewrite" => Some("pdl"),
        "async.func" => Some("async"),
        "shape.func" | "shape.function_library" => Some("shape"),
        _ if is_closed(dialect) || matches!(dialect, "scf" | "affine" | "memref") => None,
        _ => Some(SOME_DIALECT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_op_is_found_by_its_name() {
        for &kind in ALL {
            assert_eq!(OpKind::of(kind.spec().name), kind);
            assert!(!kind.spec().doc.is_empty(), "{kind:?} has no documentation");
        }
        assert_eq!(OpKind::of("arith.nothing"), OpKind::Unknown);
    }

    #[test]
    fn inherent_attributes_are_sorted_as_they_are_printed() {
        for &kind in ALL {
            assert!(kind.spec().inherent.is_sorted(), "{kind:?}");
        }
    }

    #[test]
    fn kinds_are_named_after_their_ops() {
        for &kind in ALL {
            let mut camel = String::new();
            for part in kind.spec().name.split(['.', '_']) {
                camel.push_str(&part[..1].to_uppercase());
                camel.push_str(&part[1..]);
            }
            assert_eq!(format!("{kind:?}"), camel);
        }
    }
}
