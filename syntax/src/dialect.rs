//! The op table: what is known of each op, in one place.
//!
//! *A row* ([`OpSpec`], in `row.rs`) says all that is known of an op by its name. The rows stand in one file per dialect; each file is a
//! macro that adds its rows to those of the next, and `table!` turns all of them into the enum [`OpKind`] and the static table. To
//! add an op, add a row: its custom form is read and printed along it (see `format.rs`), the verifier takes its counts, types,
//! attributes and traits, the skeleton whether it has regions, completion how it is written, passes what it does.
//!
//! *Inherent attributes* (properties) are those that the generic form writes between `<{` and `}>`. One with a default is
//! left out of the attributes of an op when it has that value, so that plain arithmetic carries no attributes.

pub(crate) mod format;
mod prefix;
mod row;
mod template;
#[macro_use]
mod affine;
#[macro_use]
mod arith;
#[macro_use]
mod builtin;
#[macro_use]
mod cf;
#[macro_use]
mod example;
#[macro_use]
mod func;
#[macro_use]
mod math;
#[macro_use]
mod memref;
#[macro_use]
mod noisy;
#[macro_use]
mod scf;
#[macro_use]
mod vector;

use std::sync::OnceLock;

use rustc_hash::FxHashMap;

use crate::{TokenKind, Type};
pub use format::RMW;
use format::{ARROW, Bind, COLON, COMMA, Element, FASTMATH, OVERFLOW};
pub(crate) use prefix::{
    SOME_DIALECT, TOP, has_no_regions, inner_dialect, is_unprefixed_anywhere, is_unprefixed_op,
};
pub use prefix::{is_closed, is_read_by_mlir};
pub use row::{Access, Buffer, Count, Effects, OpSpec, Speculation, Traits, TypeClass};
pub(crate) use row::{Agreement, AttrClass, AttrSpec, Presence, TypeRule, WidthChange};

/// HEIR's op that computes on what is encrypted. It has no row: its custom form is read like that of any op that nobody knows, but for what
/// [`crate::Ir::is_secret_generic`] tells.
pub(crate) const SECRET_GENERIC: &str = "secret.generic";

/// The name of its end.
pub(crate) const SECRET_YIELD: &str = "secret.yield";

/// Dialects of HEIR in whose ops without a region each name behind `%` is an operand, in custom form, too.
pub(crate) const OF_OPERANDS: [&str; 8] =
    ["bgv", "ckks", "lattigo", "lwe", "mgmt", "openfhe", "secret", "tensor_ext"];

/// Turns the rows of all dialects into [`OpKind`] and the table.
macro_rules! table {
    ([] $($(#[doc = $doc:literal])* $kind:ident = $name:literal { $($field:tt)* })*) => {
        /// A known op, or what else may stand where ops stand.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[repr(u16)]
        #[non_exhaustive]
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
                doc: concat!($($doc, "\n"),*),
                $($field)*
            },)*
        ];

        /// All known ops.
        pub const ALL: &[OpKind] = &[$(OpKind::$kind,)*];
    };
}

builtin! { [func arith cf scf affine memref math vector noisy example table] }

impl OpKind {
    /// Whether it is an op, and not a label, alias, resource section, chunk or junk.
    pub fn is_op(self) -> bool {
        use OpKind::{AttrAlias, Chunk, Junk, Label, Resources, TypeAlias};
        !matches!(self, Label | TypeAlias | AttrAlias | Resources | Chunk | Junk)
    }

    /// The row of the table; for what is no known op, a row without traits.
    #[inline]
    pub fn spec(self) -> &'static OpSpec {
        static NONE: OpSpec = OpSpec::NONE;
        (self as usize).checked_sub(OpKind::Junk as usize + 1).map_or(&NONE, |row| &TABLE[row])
    }

    /// Whether its row has the traits.
    #[inline]
    pub fn has(self, it: Traits) -> bool {
        self.spec().traits.contains(it)
    }

    /// The kind of an op by its full name. The interner remembers it by [`crate::Name`]: see [`crate::Interner::op_kind`].
    pub fn of(name: &str) -> OpKind {
        static BY_NAME: OnceLock<FxHashMap<&'static str, OpKind>> = OnceLock::new();
        let by_name = BY_NAME.get_or_init(|| ALL.iter().map(|it| (it.spec().name, *it)).collect());
        by_name.get(name).copied().unwrap_or_default()
    }

    /// The op that ends a block of its regions where the text leaves the terminator out.
    pub(crate) fn implicit_terminator(self) -> Option<OpKind> {
        self.spec().implicit_terminator
    }

    /// Whether it has no effects and no regions; it may still be undefined for some operands: see [`OpSpec::speculation`].
    #[inline]
    pub fn is_pure(self) -> bool {
        self.spec().is_pure()
    }
}

/// What is said of an op that its dialect does not have.
pub(crate) fn unknown_op(dialect: &str, full: &str) -> String {
    let near = ALL
        .iter()
        .map(|it| it.spec().name)
        .filter(|it| it.starts_with(dialect) && it.as_bytes().get(dialect.len()) == Some(&b'.'))
        .min_by_key(|it| distance(it, full))
        .filter(|it| distance(it, full) <= 3);
    match near {
        Some(near) => format!("unknown op `{full}`; did you mean `{near}`?"),
        None => format!("unknown op `{full}` in dialect `{dialect}`"),
    }
}

/// The number of letters to change, add or remove.
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<u8> = b.bytes().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.iter().enumerate() {
            let change = diagonal + usize::from(x != *y);
            diagonal = row[j + 1];
            row[j + 1] = change.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests;
