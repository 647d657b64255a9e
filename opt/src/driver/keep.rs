//! `--keep-source`: the effect of a pipeline as edits of the text, so that unchanged ops keep their
//! text, names and comments.
//!
//! Three programs are compared: the text with its positions, the program parsed from it, and the
//! result of the pipeline. Ops have the same ids in all three, so it is known which ops stayed,
//! moved or are new. In an op that stayed, only the names of changed operands are replaced. The
//! text of an op that moved is moved, with the comments directly above it. An op that is new or
//! changed in another way is printed. When an op is removed, comments above it are kept, and a
//! comment after it on its line is removed. Constants return to their old positions if they
//! dominate all users from there.
//!
//! *Law.* The edited text parses to the result of the pipeline, except for the positions of
//! constants. An op is not printed if printing would lose a part of it: an op with an unknown
//! custom form, or an unknown op with properties. *Cost.* O(n log n), because of position lookups.
//! The text is parsed four times.

mod layout;
mod regions;

use std::cell::Cell;
use std::ops::Range;

use noisy_analyses::TextEdit;
use noisy_syntax::print::{self, PrintedNames, Style};
use noisy_syntax::rewrite::InsertionPoint;
use noisy_syntax::{Block, Def, Form, Ir, Name, Op, OpKind, Source, Traits, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::manager::{ManagerSettings, PassManager};
use super::pipeline::Pipeline;
use super::wrap_in_module;
use crate::actions::Actions;
use crate::diagnostics::{DiagnosticSink, InputText};
use crate::timing::Timing;

/// Maximum number of bytes that may be printed for new ops, in addition to a multiple of the size
/// of the text.
const MAX_PRINTED_BYTES: usize = 64 << 20;

/// Returns the edits of a text that have the effect of a pipeline, in order. The pipeline runs on
/// the op that starts at the byte `at` and matches its anchor, or on the whole module.
///
/// # Errors
/// If the text has errors, a pass fails, or edits cannot express the change.
pub fn edits(text: &str, pipeline: &Pipeline, at: Option<usize>) -> Result<Vec<TextEdit>, String> {
    let source = Source::new(text);
    if let Some((_, _, problem)) = source.problems().first() {
        return Err(format!("the text has errors: {}", problem.message));
    }
    let mut before = Source::new(text).into_ir();
    let mut after = Source::new(text).into_ir();
    let (target, top) = match at {
        Some(at) => {
            let found = ops_from_top(&after).find(|&it| {
                after.op_name(it) == pipeline.anchor
                    && after.origin(it).is_some_and(|range| range.start == at)
            });
            (found.ok_or("the passes have no op to run on")?, None)
        }
        None => {
            let top = wrap_in_module(&mut after);
            (top, Some(wrap_in_module(&mut before)))
        }
    };
    run(&mut after, target, pipeline)?;
    restore_constant_positions(&before, &mut after);
    let wanted = print::generic(&after);
    let mut why = String::new();
    for is_strict in [false, true] {
        let keep = SourceEdits::new(text, &source, &before, &after, is_strict);
        let edits = keep.all_edits(top.unwrap_or(target));
        match edits
            .and_then(|edits| check_result(text, &edits, &wanted, at.is_none()).map(|()| edits))
        {
            Ok(edits) => return Ok(edits),
            Err(error) => why = error,
        }
    }
    Err(why)
}

/// Returns all ops of a program.
fn ops_from_top(ir: &Ir) -> impl Iterator<Item = Op> + '_ {
    let mut ops = Vec::new();
    ir.walk(ir.root(), &mut |op| ops.push(op));
    ops.into_iter()
}

fn run(ir: &mut Ir, op: Op, pipeline: &Pipeline) -> Result<(), String> {
    let mut actions = Actions::default();
    let settings = ManagerSettings { verify_each: true, ..ManagerSettings::default() };
    let mut sink = DiagnosticSink::new(InputText::new("", String::new(), 0), true);
    let mut timing = Timing::default();
    let mut manager = PassManager::new(&settings, &mut sink, &mut timing, &mut actions);
    if manager.run(ir, op, pipeline).is_ok() {
        return Ok(());
    }
    let said = sink.unexpected();
    let first = said.first().map_or("", |it| it.as_str());
    Err(format!("a pass failed: {first}"))
}

/// Returns an error if the edited text does not parse to the wanted program.
fn check_result(
    text: &str,
    edits: &[TextEdit],
    wanted: &str,
    is_wrapped: bool,
) -> Result<(), String> {
    let source = Source::new(&TextEdit::apply_all(edits, text));
    if let Some((_, _, problem)) = source.problems().first() {
        return Err(format!(
            "cannot express the result as edits of the source: {}",
            problem.message
        ));
    }
    let mut ir = source.into_ir();
    if is_wrapped {
        wrap_in_module(&mut ir);
    }
    if print::generic(&ir) == wanted {
        Ok(())
    } else {
        Err("cannot express the result as edits of the source; run without --keep-source"
            .to_owned())
    }
}

/// Moves constants back to their old positions if they dominate all users from there.
fn restore_constant_positions(before: &Ir, after: &mut Ir) {
    for op in ops_from_top(before) {
        let stays = before.op(op).kind.has(Traits::CONSTANT)
            && after.is_alive(op)
            && after.origin(op).is_some()
            && after.origin(op) == before.origin(op);
        if !stays {
            continue;
        }
        let old = before.op(op).parent;
        // Find the nearest preceding op that is still in its place.
        let holds = |it: Op, after: &Ir| {
            after.is_alive(it)
                && after.op(it).parent == old
                && after.origin(it) == before.origin(it)
                && after.op(it).kind == before.op(it).kind
        };
        let mut at = before.prev(op);
        while let Some(it) = at.filter(|&it| !holds(it, after)) {
            at = before.prev(it);
        }
        let Some(previous) = at else { continue };
        if after.prev(op) == Some(previous) {
            continue;
        }
        let point = match after.op(previous).kind {
            OpKind::Label => InsertionPoint::Start(after.label_block(previous)),
            kind if kind.has(Traits::TERMINATOR) => continue,
            _ => InsertionPoint::After(previous),
        };
        let block = after.block_of(previous);
        let is_entry = after.entry_block(after.block(block).region) == block;
        let reaches = |user: Op| {
            let mut at = user;
            while after.op(at).parent != old {
                match after.parent_op(at) {
                    Some(around) => at = around,
                    None => return false,
                }
            }
            if after.block_of(at) == block {
                at != previous && after.is_before(previous, at)
            } else {
                is_entry
            }
        };
        let is_fine = after
            .op(op)
            .results
            .iter()
            .all(|&it| after.value(it).uses.iter().all(|&(user, _)| reaches(user)));
        if is_fine {
            after.move_op(op, point);
        }
    }
}

/// The compared text and programs.
#[derive(Debug)]
struct SourceEdits<'a> {
    text: &'a str,
    /// The text with its positions.
    source: &'a Source,
    /// The program before the passes.
    before: &'a Ir,
    /// The program after the passes.
    after: &'a Ir,
    names: PrintedNames,
    /// True if each op that changed or moved is printed, and none is edited.
    is_strict: bool,
    /// Number of bytes that may still be printed; `None` after the limit was exceeded.
    printable_bytes: Cell<Option<usize>>,
    /// An op that lost a part of its text when it was printed.
    lossy_op: Cell<Option<Op>>,
}

/// Returns names for all values and blocks of the new program. Values and blocks that stayed keep
/// their names.
fn assigned_names(source: &Source, before: &Ir, after: &Ir, is_strict: bool) -> PrintedNames {
    let ir = source.ir();
    let mut counts: FxHashMap<Name, usize> = FxHashMap::default();
    let mut taken: FxHashSet<String> = FxHashSet::default();
    let mut blocks: FxHashSet<String> = FxHashSet::default();
    let mut defined = |value: Value| {
        let data = ir.value(value);
        if data.name != Name::EMPTY && data.number == 0 {
            *counts.entry(data.name).or_default() += 1;
            taken.insert(ir.interner.str(data.name).to_owned());
        }
    };
    for op in ops_from_top(ir) {
        ir.op(op).results.iter().for_each(|&it| defined(it));
        for &(_, region) in &ir.op(op).regions {
            for block in ir.blocks(region) {
                ir.block(block).args.iter().for_each(|&it| defined(it));
                if let Some(label) = ir.block(block).label {
                    blocks.insert(ir.interner.str(ir.op(label).name).to_owned());
                }
            }
        }
    }
    let mut names = FreshNames {
        taken,
        blocks,
        next: FxHashMap::default(),
        n_blocks: 0,
        out: PrintedNames::default(),
    };
    // A name that several values have is kept only by values that did not move, because elsewhere
    // it may refer to another value.
    let is_unique = |value: Value| counts.get(&ir.value(value).name) == Some(&1);
    let old = |value: Value, has_moved: bool| {
        let is_there = value.index() < ir.n_slots().1 && ir.value(value).name != Name::EMPTY;
        (is_there && (!has_moved || is_unique(value))).then(|| ir.value_text(value))
    };
    let mut moved: FxHashSet<Op> = FxHashSet::default();
    for op in ops_from_top(after) {
        let stays = after.origin(op).is_some() && after.origin(op) == before.origin(op);
        let around = after.parent_op(op);
        let has_moved = is_strict
            || around.is_some_and(|it| moved.contains(&it))
            || stays && before.op(op).parent != after.op(op).parent;
        if has_moved {
            moved.insert(op);
        }
        let data = after.op(op);
        let kept: Option<Vec<String>> = data.results.iter().map(|&it| old(it, has_moved)).collect();
        match kept.filter(|_| stays && data.results == ir.op(op).results) {
            Some(kept) => names.out.values.extend(data.results.iter().copied().zip(kept)),
            None => names.results(after, op),
        }
        for &(_, region) in &data.regions {
            for block in after.blocks(region) {
                names.block(ir, after, block);
                for &value in &after.block(block).args {
                    let is_old = value.index() < ir.n_slots().1
                        && matches!(ir.value(value).def, Def::Argument(it, _) if it == block);
                    let name = old(value, has_moved).filter(|_| is_old);
                    let name = name.unwrap_or_else(|| names.fresh("arg"));
                    names.out.values.insert(value, name);
                }
            }
        }
    }
    names.out
}

/// The names that are already used, and those that were assigned.
#[derive(Debug)]
struct FreshNames {
    taken: FxHashSet<String>,
    blocks: FxHashSet<String>,
    /// The next number for each stem.
    next: FxHashMap<String, usize>,
    n_blocks: usize,
    out: PrintedNames,
}

impl FreshNames {
    /// Returns an unused name: the stem, with a number appended if necessary.
    fn fresh(&mut self, stem: &str) -> String {
        let has_number = matches!(stem, "" | "arg");
        if !has_number && self.taken.insert(stem.to_owned()) {
            return format!("%{stem}");
        }
        let next = self.next.entry(stem.to_owned()).or_default();
        loop {
            let line = if has_number { "" } else { "_" };
            let name = format!("{stem}{line}{next}");
            *next += 1;
            if self.taken.insert(name.clone()) {
                return format!("%{name}");
            }
        }
    }

    fn results(&mut self, ir: &Ir, op: Op) {
        let results = &ir.op(op).results;
        if results.is_empty() {
            return;
        }
        let stem = print::suggested_name(ir, op).unwrap_or_default();
        let name = self.fresh(&stem);
        for (n, &value) in results.iter().enumerate() {
            let name = if results.len() == 1 { name.clone() } else { format!("{name}#{n}") };
            self.out.values.insert(value, name);
        }
    }

    /// Assigns a block its old label if it stayed, or a new label.
    fn block(&mut self, old: &Ir, after: &Ir, block: Block) {
        let label = after.block(block).label;
        let kept = label.filter(|it| it.index() < old.n_slots().0).and_then(|it| {
            let is_same = old.is_alive(it) && old.op(it).kind == OpKind::Label;
            (is_same && old.label_block(it) == block).then(|| old.op(it).name)
        });
        let name = match kept {
            Some(name) => old.interner.str(name).to_owned(),
            None => loop {
                let name = format!("bb{}", self.n_blocks);
                self.n_blocks += 1;
                if self.blocks.insert(name.clone()) {
                    break name;
                }
            },
        };
        self.out.blocks.insert(block, name);
    }
}

impl<'a> SourceEdits<'a> {
    fn new(
        text: &'a str,
        source: &'a Source,
        before: &'a Ir,
        after: &'a Ir,
        is_strict: bool,
    ) -> Self {
        let names = assigned_names(source, before, after, is_strict);
        let room = Cell::new(Some(MAX_PRINTED_BYTES + 4 * text.len()));
        Self {
            text,
            source,
            before,
            after,
            names,
            is_strict,
            printable_bytes: room,
            lossy_op: Cell::new(None),
        }
    }

    /// Returns the edits of the op `top` and all ops in it.
    fn all_edits(&self, top: Op) -> Result<Vec<TextEdit>, String> {
        let mut edits = Vec::new();
        if self.after.origin(top).is_some() {
            let is_said = self.edit_op(top, &mut edits);
            if !is_said {
                edits.clear();
                let range = self.range(top);
                let indent = layout::indent_of(self.text, range.start);
                edits.push(TextEdit { range, text: self.printed(top, &indent) });
            }
        } else {
            for &(_, region) in &self.after.op(top).regions {
                self.edit_region(region, &mut edits);
            }
        }
        if self.printable_bytes.get().is_none() {
            return Err("cannot express the result as edits of the source: its types or attributes are too long to print".to_owned());
        }
        if let Some(op) = self.lossy_op.get() {
            let name = self.source.ir().op_name(op);
            return Err(format!(
                "cannot express the result as edits of the source: the unknown op {name} would have to be printed"
            ));
        }
        edits.retain(|it| self.text[it.range.clone()] != *it.text);
        TextEdit::in_order(edits).ok_or_else(|| {
            "cannot express the result as edits of the source: two edits overlap".to_owned()
        })
    }

    /// Returns the byte range of an op in the text.
    fn range(&self, op: Op) -> Range<usize> {
        self.source.ir().range(op)
    }

    /// Returns printed text, and subtracts its length from the limit. Returns an empty text if the
    /// limit is exceeded; then there are no edits.
    fn within_print_limit(&self, printed: impl FnOnce(usize) -> Option<String>) -> String {
        let room = self.printable_bytes.get();
        let text = room.and_then(printed);
        self.printable_bytes.set(text.as_ref().and_then(|it| room?.checked_sub(it.len())));
        text.unwrap_or_default()
    }

    /// Prints an op, with all lines but the first indented. Nested ops that stayed keep their text.
    fn printed(&self, op: Op, indent: &str) -> String {
        let style = Style { is_custom: true, ..Style::default() };
        let plain = |op: Op| {
            let text = self
                .within_print_limit(|_| print::op_with_names(self.after, op, style, &self.names));
            text.trim_end().to_owned()
        };
        if self.is_print_lossy(op) {
            self.lossy_op.set(Some(op));
        }
        let whole = plain(op);
        let (mut out, mut rest) = (String::new(), whole.as_str());
        for &(_, region) in &self.after.op(op).regions {
            for child in self.after.items(region).filter(|&it| self.after.op(it).kind.is_op()) {
                let line = format!("\n  {}\n", layout::reindented(&plain(child), "", "  "));
                if let Some((before, behind)) = rest.split_once(&line) {
                    out += &format!("{before}\n  {}", self.inserted_text(child, "  "));
                    rest = &rest[rest.len() - behind.len() - 1..];
                } else {
                    self.record_lossy_ops(child);
                }
            }
        }
        layout::reindented(&(out + rest), "", indent)
    }

    /// Returns true if printing an op would lose a part of its text.
    fn is_print_lossy(&self, op: Op) -> bool {
        if !self.stays(op) {
            return false;
        }
        let ir = self.source.ir();
        let has_properties = || self.text[ir.head_range(op)].contains("<{");
        match ir.op(op).form {
            Form::Opaque | Form::Broken => true,
            Form::Generic => ir.op(op).kind == OpKind::Unknown && has_properties(),
            Form::Custom => false,
        }
    }

    /// Sets `lossy_op` if printing an op or a nested op loses a part of its text.
    fn record_lossy_ops(&self, op: Op) {
        let mut look = |it: Op| {
            if self.is_print_lossy(it) {
                self.lossy_op.set(Some(it));
            }
        };
        look(op);
        for &(_, region) in &self.after.op(op).regions {
            self.after.walk(region, &mut look);
        }
    }

    /// Returns true if an op or a label is still at its position in the text.
    fn stays(&self, op: Op) -> bool {
        let after = self.after;
        if !after.is_alive(op) {
            return false;
        }
        if after.op(op).kind == OpKind::Label {
            let old = self.source.ir();
            return op.index() < old.n_slots().0
                && old.is_alive(op)
                && old.op(op).kind == OpKind::Label
                && old.label_block(op) == after.label_block(op);
        }
        after.origin(op).is_some() && after.origin(op) == self.before.origin(op)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text after the passes, with all changed ops printed.
    fn printed_anew(text: &str, passes: &str) -> Result<String, String> {
        let source = Source::new(text);
        let (mut before, mut after) = (Source::new(text).into_ir(), Source::new(text).into_ir());
        wrap_in_module(&mut before);
        let top = wrap_in_module(&mut after);
        run(&mut after, top, &Pipeline::parse(passes).expect("a pipeline"))?;
        let edits = SourceEdits::new(text, &source, &before, &after, true).all_edits(top)?;
        Ok(TextEdit::apply_all(&edits, text))
    }

    #[test]
    fn ops_that_printing_would_truncate_are_not_printed() {
        let of = |op: &str| {
            let text = format!(
                "func.func @f(%a: i32) {{\n  %zero = arith.constant 0 : i32\n  %b = arith.addi %a, %zero : i32\n  {op}\n  return\n}}\n"
            );
            printed_anew(&text, "builtin.module(canonicalize)")
        };
        let found = of("\"t.x\"(%b)  {n = 7 : i32} : (i32) -> ()").expect("it is printed");
        assert!(found.contains("  \"t.x\"(%a) {n = 7 : i32} : (i32) -> ()\n"), "{found}");
        for op in ["\"t.x\"(%b) <{n = 7 : i32}> : (i32) -> ()", "t.x twice %b : i32"] {
            let why = of(op).expect_err("something would be lost");
            assert!(why.contains("the unknown op t.x would have to be printed"), "{why}");
        }
    }
}
