//! Rename: values (a pack as a whole), blocks, symbols and aliases. What would change the meaning of the program is refused.

use std::ops::Range;

use noisy_analyses::TextEdit;
use noisy_syntax::identifier::{is_bare, is_suffix};
use noisy_syntax::{Ir, Op, OpKind, Region, Source};

use super::cursor::{self, Entity};
use super::definition::defining;
use super::reference;

/// What would be renamed: the name without its sigil and `#number`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Target {
    /// The name under the cursor, sigil included.
    pub range: Range<usize>,
    /// Its text.
    pub text: String,
}

/// What a rename at an offset would rename.
pub(crate) fn prepare(source: &Source, offset: usize) -> Option<Target> {
    let mention = cursor::mention_at(source, offset)?;
    defining(source.ir(), mention.entity)?;
    let range = name_in(source, mention.entity, mention.range);
    Some(Target { text: source.slice(range.clone()), range })
}

/// The part of a mention that is the name: without `#1`, and of `@m::@f` only what names the entity.
pub(crate) fn name_in(source: &Source, entity: Entity, range: Range<usize>) -> Range<usize> {
    let ir = source.ir();
    match entity {
        Entity::Value(value) => {
            let len = 1 + ir.interner.str(ir.value(value).name).len();
            range.start..(range.start + len).min(range.end)
        }
        Entity::Symbol(op) => {
            let text = source.slice(range.clone());
            let name = ir.extra(op).symbol.map_or("", |it| ir.interner.str(it.0));
            let mut at = range.start;
            for part in text.split("::") {
                let bare = part.trim().trim_start_matches('@').trim_matches('"');
                if bare == name {
                    let lead = part.len() - part.trim_start().len();
                    return at + lead..at + part.trim_end().len();
                }
                at += part.len() + 2;
            }
            range
        }
        _ => range,
    }
}

/// The edits that give what stands at an offset a new name (its sigil may be left out), or why there are none.
pub(crate) fn rename(source: &Source, offset: usize, new: &str) -> Result<Vec<TextEdit>, String> {
    let ir = source.ir();
    let mention = cursor::mention_at(source, offset).ok_or("there is nothing here to rename")?;
    let sigil = match mention.entity {
        Entity::Value(_) => "%",
        Entity::Block(_) => "^",
        Entity::Symbol(_) => "@",
        Entity::Alias(_, name) => &ir.interner.str(name)[..1],
        Entity::OpName(_) => return Err("the name of an op cannot be changed".to_owned()),
    };
    let bare = new.trim().strip_prefix(sigil).unwrap_or(new.trim());
    let is_symbol = matches!(mention.entity, Entity::Symbol(_));
    if bare.is_empty() || (!is_symbol && !is_suffix(bare)) {
        return Err(format!(
            "'{new}' is not a name: expected {sigil} and letters, digits, _ $ . - (or digits only)"
        ));
    }
    if is_symbol && bare.contains(['"', '\\', '\n', '\r']) {
        return Err(format!("'{new}' is not a name of a symbol"));
    }
    if let Some(why) = conflict(ir, mention.entity, bare) {
        return Err(why);
    }
    let references = reference::named(ir, mention.entity, usize::MAX).unwrap_or_default();
    if !references.iter().any(|it| it.defines) {
        return Err("its definition is not in this file".to_owned());
    }
    let edits = references.into_iter().map(|it| {
        let range = name_in(source, mention.entity, it.range);
        let quoted = is_symbol && source.slice(range.clone()).starts_with('"');
        let text = match (quoted, is_symbol && !is_bare(bare)) {
            (true, _) => format!("\"{bare}\""),
            (false, true) => format!("@\"{bare}\""),
            (false, false) => format!("{sigil}{bare}"),
        };
        TextEdit { range, text }
    });
    Ok(edits.collect())
}

/// Why an entity cannot be called that.
fn conflict(ir: &Ir, entity: Entity, new: &str) -> Option<String> {
    match entity {
        Entity::Value(value) => {
            let name = ir.interner.find_name(new)?;
            let own = cursor::pack(ir, value);
            let is_other =
                |region: Region| ir.defs(region, name).iter().any(|it| !own.contains(it));
            let region = ir.def_region(value);
            // Names never shadow: neither around may it be defined, nor inside.
            let mut taken = false;
            let mut outer = Some(region);
            while let Some(it) = outer {
                taken |= is_other(it);
                outer = ir
                    .region(it)
                    .parent
                    .filter(|&op| ir.op(op).kind != OpKind::FuncFunc)
                    .map(|op| ir.op(op).parent);
            }
            ir.walk(region, &mut |op| taken |= ir.op(op).regions.iter().any(|it| is_other(it.1)));
            taken.then(|| format!("%{new} is defined already where both would be visible"))
        }
        Entity::Block(block) => {
            let mut others =
                ir.blocks(ir.block(block).region).into_iter().filter(|it| *it != block);
            let is_new =
                |label: Option<Op>| label.is_some_and(|it| ir.interner.str(ir.op(it).name) == new);
            others
                .any(|it| is_new(ir.block(it).label))
                .then(|| format!("^{new} is defined already in this region"))
        }
        Entity::Symbol(op) => {
            let name = ir.interner.find_name(new)?;
            let others = ir.symbol_defs(ir.op(op).parent, name);
            others.iter().any(|it| *it != op).then(|| format!("@{new} is defined already"))
        }
        Entity::Alias(..) | Entity::OpName(_) => None,
    }
}
