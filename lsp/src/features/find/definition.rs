//! Go to definition: of values, blocks, symbols and aliases.

use std::ops::Range;

use noisy_syntax::{Ir, Op, OpKind, Source};

use crate::features::find::cursor::{self, Entity};

/// The ranges that an editor needs to go to a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Definition {
    /// The mention at the cursor.
    pub origin: Range<usize>,
    /// The name at the definition.
    pub name: Range<usize>,
    /// The whole definition.
    pub whole: Range<usize>,
}

/// The definition of the entity at an offset.
pub(crate) fn definition(source: &Source, offset: usize) -> Option<Definition> {
    let ir = source.ir();
    let mention = cursor::mention_at(source, offset)?;
    let (op, name) = defining_op(ir, mention.entity)?;
    let head = ir.head_range(op);
    let whole = head.start.min(name.start)..head.end.max(name.end);
    Some(Definition { origin: mention.range, name, whole })
}

/// The op that defines an entity, and the name in it.
pub(crate) fn defining_op(ir: &Ir, entity: Entity) -> Option<(Op, Range<usize>)> {
    match entity {
        Entity::Value(value) => {
            Some((ir.definition_site(value)?, cursor::definition_range(ir, value)?))
        }
        Entity::Block(block) => {
            let label = ir.block(block).label?;
            Some((label, ir.name_range(label)))
        }
        Entity::Symbol(op) => Some((op, ir.absolute(op, ir.extra(op).symbol?.1))),
        Entity::Alias(from, name) => {
            let op = alias(ir, from, ir.interner.str(name))?;
            Some((op, ir.name_range(op)))
        }
        Entity::OpName(_) => None,
    }
}

/// The definition of an alias (`#map`, `!type`) in the chunk of an op.
fn alias(ir: &Ir, from: Op, name: &str) -> Option<Op> {
    let &(_, region) = ir.op(ir.chunk_of(from)).regions.first()?;
    let kind = if name.starts_with('!') { OpKind::TypeAlias } else { OpKind::AttrAlias };
    let bare = name.trim_start_matches(['!', '#']);
    ir.items(region).find(|&op| {
        let data = ir.op(op);
        data.kind == kind && ir.interner.str(data.name).trim_start_matches(['!', '#']) == bare
    })
}
