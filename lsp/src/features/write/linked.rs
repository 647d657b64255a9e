//! Linked editing: all mentions of a value, block, symbol or alias, edited together.

use std::ops::Range;

use noisy_syntax::Source;

use crate::features::find::cursor::{self, Entity};
use crate::features::find::reference;
use crate::features::write::rename;

/// Maximum number of mentions that are edited together.
const MAX_MENTIONS: usize = 500;

/// The mentions of the entity at an offset, without their sigils, if their texts are equal. Empty
/// if there is only one.
pub(crate) fn linked_ranges(source: &Source, offset: usize) -> Vec<Range<usize>> {
    let Some(mention) = cursor::mention_at(source, offset) else { return Vec::new() };
    if matches!(mention.entity, Entity::OpName(_)) {
        return Vec::new();
    }
    let all =
        reference::mentions_of_name(source.ir(), mention.entity, MAX_MENTIONS).unwrap_or_default();
    if !all.iter().any(|it| it.is_definition) {
        return Vec::new();
    }
    let bare = |range: Range<usize>| {
        let name = rename::name_range_in(source, mention.entity, range);
        name.start + 1..name.end
    };
    let mut out: Vec<_> = all.into_iter().map(|it| bare(it.range)).collect();
    let here = bare(mention.range);
    let text = source.slice(here.clone());
    out.retain(|it| source.slice(it.clone()) == text);
    // Quoted names are not edited together.
    let is_plain = !text.contains('"') && !text.is_empty();
    if out.len() < 2 || !is_plain || offset < here.start { Vec::new() } else { out }
}
