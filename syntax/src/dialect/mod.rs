//! The op table: all knowledge about each op, in one place.
//!
//! A *row* ([`OpSpec`], in `row.rs`) contains everything that the name of an op determines: counts,
//! types, attributes, traits, effects, its custom syntax. The rows of built-in ops are constants,
//! one file per dialect in `ops/`; `built_in.rs` assigns their kinds. The *registry*
//! (`registry.rs`) finds rows and accepts further ones at run time.
//!
//! *Inherent attributes* (properties) are those that the generic form prints between `<{` and `}>`.
//! An op with the default value of an attribute does not store it, so plain arithmetic has no
//! attributes.

mod built_in;
mod ops;
mod prelude;
mod registry;
mod row;
mod snippet;
mod syntax;

pub use crate::namespace::{is_closed, is_read_by_mlir};
pub use crate::op_traits::{
    Access, Agreement, AttrClass, AttrSpec, Buffer, CountRange, Effects, PassedOperands, Presence,
    RMW_KINDS, Speculation, Traits, TypeClass, TypeRule, WidthChange,
};
pub use built_in::{ALL, N_BUILT_IN};
pub use registry::{RegisterError, ops, register};
pub use row::OpSpec;
pub use syntax::{ARROW, COLON, COMMA, Element, Syntax, TypeBinding};

pub use crate::OpKind;
pub use crate::print::ResultNames;

impl OpKind {
    /// Returns true for ops; false for labels, aliases, resource sections, chunks and junk.
    pub fn is_op(self) -> bool {
        !matches!(
            self,
            OpKind::Label
                | OpKind::TypeAlias
                | OpKind::AttrAlias
                | OpKind::Resources
                | OpKind::Chunk
                | OpKind::Junk
        )
    }

    /// Returns true if the op has all these traits.
    #[inline]
    pub fn has(self, it: Traits) -> bool {
        self.spec().traits.contains(it)
    }

    /// Returns the terminator that the text may omit in the regions of the op.
    pub(crate) fn implicit_terminator(self) -> Option<OpKind> {
        self.spec().implicit_terminator
    }

    /// Returns true if the op has no effects and no regions. It may still be undefined for some
    /// operands: see [`OpSpec::speculation`].
    #[inline]
    pub fn is_pure(self) -> bool {
        self.spec().is_pure()
    }

    /// Returns true if the dialect of this op name is closed and none of its ops has a region.
    pub(crate) fn dialect_has_no_regions(name: &str) -> bool {
        let Some((dialect, _)) = name.split_once('.') else { return false };
        is_closed(dialect) && ops_of(dialect).all(|it| it.spec().regions.most == 0)
    }

    /// Returns the message about an unknown op of a closed dialect. It suggests the nearest name.
    pub(crate) fn unknown_message(dialect: &str, full: &str) -> String {
        let near = ops_of(dialect)
            .map(|it| it.spec().name)
            .min_by_key(|it| distance(it, full))
            .filter(|it| distance(it, full) <= 3);
        match near {
            Some(near) => format!("unknown op `{full}`; did you mean `{near}`?"),
            None => format!("unknown op `{full}` in dialect `{dialect}`"),
        }
    }
}

/// Returns the ops of a dialect.
fn ops_of(dialect: &str) -> impl Iterator<Item = OpKind> {
    ops().filter(move |it| it.spec().name.split('.').next() == Some(dialect))
}

/// Returns the number of letters to change, add or remove.
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
