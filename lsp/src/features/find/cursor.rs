//! The entity at an offset: a value, a block, a symbol, an alias, the name of an op.

use std::ops::Range;

use noisy_syntax::{Block, Ir, Name, Op, OpKind, Source, Span, Value};

/// An entity with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Entity {
    Value(Value),
    Block(Block),
    /// A symbol, by the op that defines it.
    Symbol(Op),
    /// An alias with its sigil, as visible in this op.
    Alias(Op, Name),
    /// The name of an op.
    OpName(Op),
}

/// A name in the text that refers to an entity or defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mention {
    pub entity: Entity,
    /// The op whose text contains the name.
    pub op: Op,
    /// The name, in bytes of the file.
    pub range: Range<usize>,
}

/// The mention at an offset, or directly before it.
pub(crate) fn mention_at(source: &Source, offset: usize) -> Option<Mention> {
    let ir = source.ir();
    let here = ir.item_at(offset).and_then(|op| mention_in(ir, op, offset));
    // A cursor after the last character of a name refers to that name, even if the next item starts
    // at the cursor.
    here.or_else(|| {
        let op = ir.item_at(offset.checked_sub(1)?)?;
        mention_in(ir, op, offset)
    })
}

/// The mention in an op at an offset.
fn mention_in(ir: &Ir, op: Op, offset: usize) -> Option<Mention> {
    let data = ir.op(op);
    let rest = ir.extra(op);
    let start = ir.start(op);
    let at = |span: Span| {
        let range = ir.absolute_at(op, start, span);
        (range.start <= offset && offset <= range.end && !range.is_empty()).then_some(range)
    };
    let found = |entity: Entity, range: Range<usize>| Some(Mention { entity, op, range });
    for operand in &data.operands {
        if let (Some(range), Some(value)) = (at(operand.span), operand.value) {
            return found(Entity::Value(value), range);
        }
    }
    let mut first = 0;
    for name in &data.result_names {
        if let (Some(range), Some(&value)) = (at(name.span), data.results.get(first)) {
            return found(Entity::Value(value), range);
        }
        first += name.count as usize;
    }
    for value in arguments_in(ir, op) {
        if let Some(range) = at(ir.value(value).span) {
            return found(Entity::Value(value), range);
        }
    }
    for successor in &rest.successors {
        if let (Some(range), Some(block)) = (at(successor.span), successor.block) {
            return found(Entity::Block(block), range);
        }
    }
    if let Some((_, span)) = rest.symbol
        && let Some(range) = at(span)
    {
        return found(Entity::Symbol(op), range);
    }
    for &(last, first, span) in &rest.symbol_uses {
        if let (Some(range), Some(target)) = (at(span), resolve_symbol(ir, op, first, last)) {
            return found(Entity::Symbol(target), range);
        }
    }
    for it in &rest.alias_uses {
        if let Some(range) = at(it.span) {
            return found(Entity::Alias(op, it.name), range);
        }
    }
    let range = at(data.name_span)?;
    match data.kind {
        OpKind::Label => found(Entity::Block(ir.label_block(op)), range),
        OpKind::TypeAlias | OpKind::AttrAlias => found(Entity::Alias(op, data.name), range),
        kind if kind.is_op() => found(Entity::OpName(op), range),
        _ => None,
    }
}

/// Resolves a symbol reference with the names `first` to `last`. Returns the op of the last name
/// that is found.
pub(crate) fn resolve_symbol(ir: &Ir, from: Op, first: Name, last: Name) -> Option<Op> {
    resolve_path(ir, from, first, last).last().copied()
}

/// Resolves the names of a symbol reference from `first` to `last`, each inside the op of the
/// previous name. Stops at the first name that is not found.
pub(crate) fn resolve_path(ir: &Ir, from: Op, first: Name, last: Name) -> Vec<Op> {
    let Some(outer) = ir.resolve_symbol(from, first) else { return Vec::new() };
    let mut out = vec![outer];
    if first == last {
        return out;
    }
    let all = ir.interner.symbol_paths_in(ir.extra(from).attrs.iter().map(|it| it.1));
    let is_meant = |it: &&[Name]| it.first() == Some(&first) && it.last() == Some(&last);
    for &name in all.iter().map(|it| &it[..]).find(is_meant).map_or(&[last][..], |it| &it[1..]) {
        let regions = out.last().into_iter().flat_map(|&it| ir.op(it).regions.iter());
        let Some(&inner) = regions.flat_map(|it| ir.symbol_defs(it.1, name)).next() else { break };
        out.push(inner);
    }
    out
}

/// The block arguments whose names are in the text of an op: the arguments of a label, or those of
/// the entry blocks of the op's regions.
pub(crate) fn arguments_in(ir: &Ir, op: Op) -> impl Iterator<Item = Value> + '_ {
    let data = ir.op(op);
    let own = (data.kind == OpKind::Label).then(|| ir.block(ir.label_block(op)));
    let entries = data.regions.iter().map(|&(_, region)| ir.block(ir.region(region).entry));
    own.into_iter().chain(entries).flat_map(|block| block.args.iter().copied())
}

/// The range of the name at the definition of a value; `None` if the value has no name in the text.
pub(crate) fn definition_range(ir: &Ir, value: Value) -> Option<Range<usize>> {
    let span = ir.value(value).span;
    (span.start < span.end)
        .then(|| ir.absolute(ir.definition_site(value).unwrap_or_else(|| Op::from_index(0)), span))
}

/// The values that share a name: the results of a pack (`%a:2`), or the value alone.
pub(crate) fn values_with_same_name(ir: &Ir, value: Value) -> Vec<Value> {
    let noisy_syntax::Def::Result(op, index) = ir.value(value).def else { return vec![value] };
    let data = ir.op(op);
    let mut first = 0;
    for name in &data.result_names {
        let end = first + name.count as usize;
        if (first..end).contains(&(index as usize)) {
            return data
                .results
                .get(first..end.min(data.results.len()))
                .unwrap_or_default()
                .to_vec();
        }
        first = end;
    }
    vec![value]
}

/// The function that contains an offset.
pub(crate) fn function_at(ir: &Ir, offset: usize) -> Option<Op> {
    ir.item_at(offset)
        .and_then(|op| ir.function_of(op))
        .or_else(|| ir.function_of(ir.item_at(offset.checked_sub(1)?)?))
}

/// True if two ranges overlap or touch.
pub(crate) fn is_touching(a: &Range<usize>, b: &Range<usize>) -> bool {
    a.start <= b.end && b.start <= a.end
}
