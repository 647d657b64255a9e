//! Edits of ops that stayed, and of their regions.

use noisy_analyses::TextEdit;
use noisy_syntax::{Op, OpKind, Region, Traits, Value};

use super::{SourceEdits, layout};

/// The ops that are inserted between two items that stay in place.
#[derive(Debug, Default)]
struct InsertedOps {
    ops: Vec<Op>,
}

impl SourceEdits<'_> {
    /// Adds the edits of an op that stayed. Returns false if edits cannot express its change; then
    /// it is printed.
    pub(super) fn edit_op(&self, op: Op, out: &mut Vec<TextEdit>) -> bool {
        let (before, after) = (self.before, self.after);
        let (old, new) = (before.op(op), after.op(op));
        let n_written = out.len();
        let is_same = old.name == new.name
            && old.results == new.results
            && old.operands.len() == new.operands.len()
            && old.regions.len() == new.regions.len()
            && old.regions.iter().zip(&new.regions).all(|(a, b)| a.1 == b.1)
            && before.extra(op).attrs == after.extra(op).attrs
            && before.extra(op).argument_attrs == after.extra(op).argument_attrs
            && new.results.iter().all(|&it| before.value(it).ty == after.value(it).ty)
            && new.regions.iter().all(|it| self.has_same_arguments(it.1))
            && new.regions.iter().all(|it| {
                before.items(it.1).next().is_some() == after.items(it.1).next().is_some()
            });
        let is_said = is_same
            && self.edit_results(op, out)
            && self.edit_operands(op, out)
            && self.edit_successors(op, out);
        if !is_said || self.is_strict && out.len() > n_written {
            out.truncate(n_written);
            return false;
        }
        for &(_, region) in &new.regions {
            self.edit_region(region, out);
        }
        true
    }

    /// Returns true if the entry block of a region has the same arguments as before.
    fn has_same_arguments(&self, region: Region) -> bool {
        let (before, after) = (self.before, self.after);
        let (old, new) = (before.entry_block(region), after.entry_block(region));
        let (old, new) = (&before.block(old).args, &after.block(new).args);
        let is_same = |&it: &Value| {
            before.value(it).ty == after.value(it).ty
                && self.names.values.get(&it) == Some(&self.source.ir().value_text(it))
        };
        old == new && new.iter().all(is_same)
    }

    /// Adds edits for results with new names. Returns false if edits are not possible.
    fn edit_results(&self, op: Op, out: &mut Vec<TextEdit>) -> bool {
        let ir = self.source.ir();
        let data = ir.op(op);
        let mut at = 0;
        for it in &data.result_names {
            let Some(name) = data.results.get(at).and_then(|it| self.names.values.get(it)) else {
                return false;
            };
            let stem = name.split('#').next().unwrap_or(name);
            let range = ir.absolute(op, it.span);
            if self.text.get(range.clone()).is_some_and(|old| old != stem) {
                out.push(TextEdit { range, text: stem.to_owned() });
            }
            at += it.count as usize;
        }
        // Results without a name in the text need one if they are used now.
        at == data.results.len()
            || data.results.iter().all(|&it| self.after.value(it).uses.is_empty())
    }

    /// Adds edits for operands that changed or have new names. Returns false if edits are not
    /// possible.
    fn edit_operands(&self, op: Op, out: &mut Vec<TextEdit>) -> bool {
        let (before, after, ir) = (self.before, self.after, self.source.ir());
        for (at, operand) in after.op(op).operands.iter().enumerate() {
            let (Some(new), Some(old)) = (operand.value, before.op(op).operands[at].value) else {
                return false;
            };
            let Some(name) = self.names.values.get(&new) else { return false };
            let Some(written) = ir.op(op).operands.get(at) else { return false };
            let range = ir.absolute(op, written.span);
            if self.text.get(range.clone()) == Some(name.as_str()) && old == new {
                continue;
            }
            if written.span.range().is_empty() || before.value(old).ty != after.value(new).ty {
                return false;
            }
            if ir.value_text(old) != *name {
                out.push(TextEdit { range, text: name.clone() });
            }
        }
        true
    }

    /// Adds edits for changed successors. Returns false if edits are not possible.
    fn edit_successors(&self, op: Op, out: &mut Vec<TextEdit>) -> bool {
        let ir = self.source.ir();
        let (old, new) = (&self.before.extra(op).successors, &self.after.extra(op).successors);
        if old.len() != new.len() {
            return false;
        }
        for (at, (old, new)) in old.iter().zip(new).enumerate() {
            let Some(name) = new.block.and_then(|it| self.names.blocks.get(&it)) else {
                return false;
            };
            let Some(written) = ir.extra(op).successors.get(at) else { return false };
            if old.operands != new.operands {
                return false;
            }
            let range = ir.absolute(op, written.span);
            let name = format!("^{name}");
            if self.text.get(range.clone()).is_some_and(|it| it != name) {
                out.push(TextEdit { range, text: name });
            }
        }
        true
    }

    /// Adds the edits of a label that stayed.
    fn edit_label(&self, label: Op, out: &mut Vec<TextEdit>) {
        let (before, after) = (self.before, self.after);
        let block = after.label_block(label);
        let args = &after.block(block).args;
        let is_same = *args == before.block(block).args
            && args.iter().all(|&it| {
                before.value(it).ty == after.value(it).ty
                    && self.names.values.get(&it) == Some(&self.source.ir().value_text(it))
            });
        if !is_same {
            out.push(TextEdit { range: self.range(label), text: self.label_text(label) });
        }
    }

    /// Prints a label: `^bb1(%a: i32):`.
    fn label_text(&self, label: Op) -> String {
        let block = self.after.label_block(label);
        let name = self.names.blocks.get(&block).map_or("bb", |it| it.as_str());
        let args: Vec<String> = self
            .after
            .block(block)
            .args
            .iter()
            .map(|it| {
                let ty = self.after.value(*it).ty;
                let ty =
                    self.within_print_limit(|room| self.after.interner.bounded_type_text(ty, room));
                let name = self.names.values.get(it).map_or("%?", |it| it.as_str());
                format!("{name}: {ty}")
            })
            .collect();
        if args.is_empty() { format!("^{name}:") } else { format!("^{name}({}):", args.join(", ")) }
    }

    /// Returns true if an item is implicit in the text: the label of an entry block, or a
    /// terminator without operands.
    fn is_implicit(&self, item: Op) -> bool {
        let (before, after, ir) = (self.before, self.after, self.source.ir());
        let is_old = item.index() < before.n_slots().0
            && before.is_alive(item)
            && before.op(item).kind == after.op(item).kind
            && (item.index() >= ir.n_slots().0 || !ir.is_alive(item));
        match after.op(item).kind {
            OpKind::Label => {
                let block = after.label_block(item);
                is_old || after.entry_block(after.op(item).parent) == block && !self.stays(item)
            }
            _ => is_old && after.op(item).operands.is_empty(),
        }
    }

    /// Adds the edits of the items of a region.
    pub(super) fn edit_region(&self, region: Region, out: &mut Vec<TextEdit>) {
        let (after, ir) = (self.after, self.source.ir());
        let old: Vec<Op> = if region.index() < ir.n_slots().3 && self.is_region_in_text(region) {
            ir.items(region).collect()
        } else {
            self.before.items(region).filter(|&it| self.before.origin(it).is_some()).collect()
        };
        let rank: rustc_hash::FxHashMap<Op, usize> =
            old.iter().enumerate().map(|(n, &it)| (it, n)).collect();
        let new: Vec<Op> = after.items(region).filter(|&it| !self.is_implicit(it)).collect();
        let ranks: Vec<Option<usize>> =
            new.iter().map(|it| rank.get(it).copied().filter(|_| self.stays(*it))).collect();
        let in_place = longest_increasing(&ranks);
        let mut stays = vec![false; old.len()];
        let mut gaps: Vec<InsertedOps> = vec![InsertedOps::default()];
        let mut anchors: Vec<Op> = Vec::new();
        for (at, &item) in new.iter().enumerate() {
            if let Some(rank) = ranks[at].filter(|_| in_place[at]) {
                stays[rank] = true;
                anchors.push(item);
                gaps.push(InsertedOps::default());
            } else if let Some(gap) = gaps.last_mut() {
                gap.ops.push(item);
            }
        }
        for (rank, &item) in old.iter().enumerate() {
            if !stays[rank] {
                let range = layout::line_span(self.text, &self.range(item));
                let has_moved =
                    self.stays(item) && after.is_alive(item) && after.op(item).kind.is_op();
                let start = if has_moved && layout::is_first_on_line(self.text, range.start) {
                    layout::start_with_comments(self.text, range.start)
                } else {
                    range.start
                };
                out.push(TextEdit { range: start..range.end, text: String::new() });
            }
        }
        for &item in &anchors {
            if after.op(item).kind == OpKind::Label {
                self.edit_label(item, out);
            } else if !self.edit_op(item, out) {
                let range = self.range(item);
                let indent = layout::indent_of(self.text, range.start);
                out.push(TextEdit { range, text: self.printed(item, &indent) });
            }
        }
        for (at, gap) in gaps.iter().enumerate() {
            if gap.ops.is_empty() {
                continue;
            }
            let previous = at.checked_sub(1).map(|it| anchors[it]);
            self.insert_ops(region, gap, previous, anchors.get(at).copied(), out);
        }
    }

    /// Returns true if a region belongs to the same op in the text.
    fn is_region_in_text(&self, region: Region) -> bool {
        self.source.ir().region(region).parent.is_some()
            && self.before.region(region).parent == self.source.ir().region(region).parent
    }

    /// Inserts ops after the item `previous` or before the item `next`, which stay in place.
    /// Without either, inserts them at the start of the region.
    fn insert_ops(
        &self,
        region: Region,
        gap: &InsertedOps,
        previous: Option<Op>,
        next: Option<Op>,
        out: &mut Vec<TextEdit>,
    ) {
        let text = self.text;
        let texts = |indent: &str| -> Vec<String> {
            gap.ops.iter().map(|&it| self.inserted_text(it, indent)).collect()
        };
        let whole_lines = |indent: &str| -> String {
            let mut out = String::new();
            for it in texts(indent) {
                out.push_str(indent);
                out.push_str(&it);
                out.push('\n');
            }
            out
        };
        // Constants are inserted after the previous item, other ops before the next one.
        let is_constant = gap.ops.iter().all(|&it| self.after.op(it).kind.has(Traits::CONSTANT));
        let is_op = |it: &Op| self.after.op(*it).kind != OpKind::Label;
        let goes_before = next.is_some_and(|it| is_op(&it)) && !is_constant;
        if let Some(previous) = previous.filter(|_| !goes_before) {
            let end = self.range(previous).end;
            let is_label = self.after.op(previous).kind == OpKind::Label;
            let mut indent = layout::indent_of(text, self.range(previous).start);
            if is_label {
                indent = match next {
                    Some(next) if self.after.op(next).kind != OpKind::Label => {
                        layout::indent_of(text, self.range(next).start)
                    }
                    _ => indent + "  ",
                };
            }
            if layout::is_last_on_line(text, end) {
                let at = layout::line_end(text, end);
                let missing = if text[..at].ends_with('\n') { "" } else { "\n" };
                let lines = format!("{missing}{}", whole_lines(&indent));
                out.push(TextEdit { range: at..at, text: lines });
            } else {
                let inserted = format!(" {}", texts(&indent).join(" "));
                out.push(TextEdit { range: end..end, text: inserted });
            }
            return;
        }
        if let Some(next) = next {
            let start = self.range(next).start;
            let indent = layout::indent_of(text, start);
            if layout::is_first_on_line(text, start) {
                let at = layout::start_with_comments(text, layout::line_start(text, start));
                out.push(TextEdit { range: at..at, text: whole_lines(&indent) });
            } else {
                let inserted = format!("{} ", texts(&indent).join(" "));
                out.push(TextEdit { range: start..start, text: inserted });
            }
            return;
        }
        // Insert after the opening brace.
        let ir = self.source.ir();
        let Some(holder) = ir.region(region).parent else { return };
        let Some(&(own, _)) = ir.op(holder).regions.iter().find(|it| it.1 == region) else {
            return;
        };
        let Some(tail) = self.range_of_region(holder, own) else { return };
        let indent = layout::indent_of(text, tail) + "  ";
        let lines = whole_lines(&indent);
        if layout::is_last_on_line(text, tail) {
            let at = layout::line_end(text, tail);
            out.push(TextEdit { range: at..at, text: lines });
        } else {
            let outer = layout::indent_of(text, tail);
            out.push(TextEdit { range: tail..tail, text: format!("\n{lines}{outer}") });
        }
    }

    /// Returns the position after the `{` of a region, given its offset in the own text of its op.
    fn range_of_region(&self, holder: Op, own: u32) -> Option<usize> {
        let span = noisy_syntax::Span::new(own.checked_sub(1)?, own);
        Some(self.source.ir().absolute(holder, span).end)
    }

    /// Returns the text of an item that is inserted into a region. A moved item keeps its text.
    pub(super) fn inserted_text(&self, item: Op, indent: &str) -> String {
        if self.after.op(item).kind == OpKind::Label {
            return self.label_text(item);
        }
        if !self.stays(item) || self.is_strict {
            return self.printed(item, indent);
        }
        let mut edits = Vec::new();
        if !self.edit_op(item, &mut edits) {
            return self.printed(item, indent);
        }
        let range = self.range(item);
        edits.retain(|it| range.start <= it.range.start && it.range.end <= range.end);
        edits.sort_by_key(|it| (it.range.start, it.range.end));
        for it in &mut edits {
            it.range = it.range.start - range.start..it.range.end - range.start;
        }
        let text = &self.text[range.clone()];
        let mut out = TextEdit::apply_all(&edits, text);
        let old = layout::indent_of(self.text, range.start);
        out = layout::reindented(&out, &old, indent);
        let lines = layout::line_span(self.text, &range);
        if lines == range || !layout::is_first_on_line(self.text, range.start) {
            return out;
        }
        let behind = self.text[range.end..lines.end].trim_end();
        let above = layout::start_with_comments(self.text, lines.start)..lines.start;
        let mut comments = String::new();
        for (n, line) in self.text[above].lines().enumerate() {
            comments.push_str(if n > 0 { indent } else { "" });
            comments.push_str(line.trim_start());
            comments.push('\n');
        }
        if comments.is_empty() {
            format!("{out}{behind}")
        } else {
            format!("{comments}{indent}{out}{behind}")
        }
    }
}

/// Marks the elements of a longest increasing subsequence.
fn longest_increasing(ranks: &[Option<usize>]) -> Vec<bool> {
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; ranks.len()];
    for (at, rank) in ranks.iter().enumerate() {
        let Some(rank) = rank else { continue };
        let n = ends.partition_point(|&it| ranks[it] < Some(*rank));
        before[at] = n.checked_sub(1).map(|it| ends[it]);
        if n == ends.len() {
            ends.push(at);
        } else {
            ends[n] = at;
        }
    }
    let mut out = vec![false; ranks.len()];
    let mut at = ends.last().copied();
    while let Some(it) = at {
        out[it] = true;
        at = before[it];
    }
    out
}
