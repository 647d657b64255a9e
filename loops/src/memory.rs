//! The origins of memrefs, and the aliasing between memrefs.

use noisy_syntax::{AttrData, Def, Ir, Op, OpKind, Value};

/// The origin of the elements of a memref.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum MemoryOrigin {
    /// An allocation.
    Allocation(Value),
    /// An argument of the function, by its value.
    Argument(Value),
    /// A `memref.global`, by its symbol.
    Global(String),
    /// An unknown origin: the result of a call, a block argument, an element of another memref.
    Unknown(Value),
}

/// A memref, as a view of the elements of its origin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemrefView {
    pub origin: MemoryOrigin,
    /// The memref to whose elements the indices refer: the source of all `memref.cast`s.
    pub base: Value,
    /// Number of outer loops that must be in the same iteration for the value to be the same
    /// memref.
    pub depth: u32,
    /// True if its indices are those of its origin.
    is_whole: bool,
}

/// The aliasing of two memrefs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AliasRelation {
    /// The memrefs share no elements.
    NoAlias,
    /// Equal indices address the same element if this many outer common loops are in the same
    /// iteration. Otherwise the memrefs share no elements.
    SameMemref(u32),
    /// The memrefs may share elements, in an unknown way.
    Unknown,
}

/// Assumptions about memrefs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AliasAssumptions {
    /// True if different arguments of a function, and arguments and globals, may share elements.
    pub arguments_may_alias: bool,
}

/// Maximum length of a chain of views. The origin of a longer one is unknown.
const MAX_VIEWS: usize = 64;

impl MemrefView {
    /// Follows the views of a memref to its origin. `depth_of` returns the number of outer loops
    /// that must be in the same iteration for a value to be the same.
    pub(crate) fn of(ir: &Ir, memref: Value, depth_of: &dyn Fn(Value) -> u32) -> Self {
        let mut view = memref;
        let mut at = memref;
        let mut is_cast = true;
        for _ in 0..MAX_VIEWS {
            let root = match ir.value(at).def {
                Def::Argument(block, _) => {
                    let region = ir.block(block).region;
                    let owner = ir.region(region).parent;
                    let is_entry = ir.blocks(region).first() == Some(&block);
                    if is_entry && owner.is_some_and(|it| ir.op(it).kind == OpKind::FuncFunc) {
                        MemoryOrigin::Argument(at)
                    } else {
                        MemoryOrigin::Unknown(at)
                    }
                }
                Def::Result(op, _) => match ir.op(op).kind {
                    OpKind::MemrefAlloc | OpKind::MemrefAlloca => MemoryOrigin::Allocation(at),
                    OpKind::MemrefGetGlobal => global(ir, op).unwrap_or(MemoryOrigin::Unknown(at)),
                    kind if is_view(kind) => {
                        let Some(source) = ir.op(op).operands.first().and_then(|it| it.value)
                        else {
                            break;
                        };
                        is_cast &= kind == OpKind::MemrefCast;
                        at = source;
                        if is_cast {
                            view = at;
                        }
                        continue;
                    }
                    _ => MemoryOrigin::Unknown(at),
                },
            };
            return Self { origin: root, base: view, depth: depth_of(view), is_whole: is_cast };
        }
        Self {
            origin: MemoryOrigin::Unknown(at),
            base: view,
            depth: depth_of(view),
            is_whole: false,
        }
    }

    /// Returns the aliasing with another memref.
    pub fn alias_relation(&self, other: &MemrefView, aliasing: AliasAssumptions) -> AliasRelation {
        if self.base == other.base {
            return match self.origin {
                MemoryOrigin::Allocation(value) if value == self.base => {
                    AliasRelation::SameMemref(self.depth)
                }
                // Another iteration may have a different view of the same elements.
                _ if self.depth > 0 => AliasRelation::Unknown,
                _ => AliasRelation::SameMemref(0),
            };
        }
        if self.origin == other.origin {
            // All uses of a global access the same elements.
            let whole =
                |it: &MemrefView| matches!(it.origin, MemoryOrigin::Global(_)) && it.is_whole;
            return if whole(self) && whole(other) {
                AliasRelation::SameMemref(0)
            } else {
                AliasRelation::Unknown
            };
        }
        match (&self.origin, &other.origin) {
            (MemoryOrigin::Unknown(_), _) | (_, MemoryOrigin::Unknown(_)) => AliasRelation::Unknown,
            (MemoryOrigin::Allocation(_), _)
            | (_, MemoryOrigin::Allocation(_))
            | (MemoryOrigin::Global(_), MemoryOrigin::Global(_)) => AliasRelation::NoAlias,
            _ if aliasing.arguments_may_alias => AliasRelation::Unknown,
            _ => AliasRelation::NoAlias,
        }
    }
}

fn global(ir: &Ir, op: Op) -> Option<MemoryOrigin> {
    match ir.interner.attr_data(ir.attr(op, "name")?) {
        AttrData::Symbol(path) => {
            let path: Vec<&str> = path.iter().map(|it| ir.interner.str(*it)).collect();
            Some(MemoryOrigin::Global(path.join("::")))
        }
        _ => None,
    }
}

fn is_view(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::MemrefCast
            | OpKind::MemrefMemorySpaceCast
            | OpKind::MemrefSubview
            | OpKind::MemrefReinterpretCast
            | OpKind::MemrefCollapseShape
            | OpKind::MemrefExpandShape
            | OpKind::MemrefTranspose
            | OpKind::MemrefView
            | OpKind::MemrefReshape
            | OpKind::MemrefExtractStridedMetadata
    )
}
