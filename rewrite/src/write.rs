//! Conversion of straight-line programs to text edits. The edits are minimal: names, comments and
//! formatting of remaining ops are preserved.
//!
//! A line with the same value as an existing op keeps the name and the position of that op. Other
//! lines are inserted before their first use, with fresh names. Ops without a corresponding line
//! are removed.

use noisy_analyses::{FreshNames, Program, TextEdit};
use noisy_syntax::{Block, Def, Form, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::extract::{ExtractedBlock, is_ring_op};
use crate::search::ProgramVariant;
use crate::straight::{Reg, StraightLine};

/// A block and its replacement.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BlockReplacement<'a> {
    pub block: &'a ExtractedBlock,
    pub variant: &'a ProgramVariant,
}

/// Returns the edits for some changes, in which outer blocks precede inner ones. `None` if a value
/// would be used where it is not defined.
pub(crate) fn edits(program: &Program, changes: &[BlockReplacement<'_>]) -> Option<Vec<TextEdit>> {
    let mut names = FreshNames::of(program.ir());
    let mut renamed: FxHashMap<Value, String> = FxHashMap::default();
    let mut plans = Vec::new();
    for &change in changes {
        plans.push(BlockPlan::new(program, change, &mut names, &mut renamed));
    }
    let mut out = Vec::new();
    // Ops whose text is already replaced.
    let mut settled: FxHashSet<Op> = FxHashSet::default();
    for plan in &mut plans {
        plan.write(program, &renamed, &mut out)?;
        settled.extend(plan.change.block.members.iter().copied());
    }
    let ir = program.ir();
    let is_gone = |op: Op| {
        std::iter::successors(Some(op), |&it| ir.parent_op(it)).any(|it| settled.contains(&it))
    };
    let mut touched: Vec<(&Value, &String)> = renamed.iter().collect();
    touched.sort_unstable();
    for (&value, text) in touched {
        for &(user, index) in &ir.value(value).uses {
            if !is_gone(user) {
                let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
                out.push(TextEdit { range, text: text.clone() });
            }
        }
    }
    out.sort_by_key(|it| (it.range.start, it.range.end));
    out.dedup();
    TextEdit::in_order(out)
}

struct BlockPlan<'a> {
    change: BlockReplacement<'a>,
    /// The name of each line other than leaves.
    names: FxHashMap<Reg, String>,
    /// The line that each remaining op computes, by result.
    lines: FxHashMap<Value, Reg>,
    live: Vec<bool>,
}

impl<'a> BlockPlan<'a> {
    fn new(
        program: &Program,
        change: BlockReplacement<'a>,
        names: &mut FreshNames<'_>,
        renamed: &mut FxHashMap<Value, String>,
    ) -> Self {
        let ir = program.ir();
        let BlockReplacement { block, variant } = change;
        let new = &variant.program;
        let live = new.live_lines();
        let by_line: FxHashMap<StraightLine, Reg> =
            new.lines.iter().zip(0..).map(|(&line, at)| (line, Reg(at))).collect();
        let mut taken: FxHashSet<Reg> = FxHashSet::default();
        let mut lines: FxHashMap<Value, Reg> = FxHashMap::default();
        let mut known: FxHashMap<Reg, Reg> = FxHashMap::default();
        // The first round uses the mapping of the search; the second also finds equal operations
        // with equal operands.
        let is_computed =
            |it: Reg| live[it.index()] && !matches!(new.lines[it.index()], StraightLine::Leaf(_));
        for round in 0..2 {
            for &(value, reg) in &block.values {
                if let StraightLine::Leaf(_) = block.straight.lines[reg.index()] {
                    continue;
                }
                let mut to = variant.new_lines[reg.index()].or_else(|| known.get(&reg).copied());
                if to.is_none() && round == 1 {
                    let of = |it: Reg| match block.straight.lines[it.index()] {
                        StraightLine::Leaf(_) => Some(leaf_line(&by_line, block, it)?),
                        _ => known.get(&it).copied(),
                    };
                    let found = match block.straight.lines[reg.index()] {
                        StraightLine::Leaf(_) => None,
                        StraightLine::Add(a, b) => of(a).zip(of(b)).and_then(|(a, b)| {
                            by_line
                                .get(&StraightLine::Add(a, b))
                                .or_else(|| by_line.get(&StraightLine::Add(b, a)))
                        }),
                        StraightLine::Sub(a, b) => of(a)
                            .zip(of(b))
                            .and_then(|(a, b)| by_line.get(&StraightLine::Sub(a, b))),
                        StraightLine::Mul(a, b) => of(a).zip(of(b)).and_then(|(a, b)| {
                            by_line
                                .get(&StraightLine::Mul(a, b))
                                .or_else(|| by_line.get(&StraightLine::Mul(b, a)))
                        }),
                    };
                    to = found.copied();
                }
                let Some(to) = to else { continue };
                known.insert(reg, to);
                let has_line = definable_name(ir, value).is_some();
                if has_line && is_computed(to) && !lines.contains_key(&value) && taken.insert(to) {
                    lines.insert(value, to);
                }
            }
        }
        let mut texts: FxHashMap<Reg, String> =
            lines.iter().map(|(&value, &reg)| (reg, ir.value_text(value))).collect();
        for (at, line) in new.lines.iter().enumerate() {
            let reg = Reg(at as u32);
            if live[at] && !texts.contains_key(&reg) {
                let base = match line {
                    StraightLine::Leaf(_) => continue,
                    StraightLine::Add(..) => "sum",
                    StraightLine::Sub(..) => "difference",
                    StraightLine::Mul(..) => "product",
                };
                texts.insert(reg, fresh_name(names, base));
            }
        }
        let plan = Self { change, names: texts, lines, live };
        for &(value, reg) in &block.values {
            let Some(output) = block.straight.outputs.iter().position(|&it| it == reg) else {
                continue;
            };
            let Some(&to) = new.outputs.get(output) else { continue };
            let text = plan.text(ir, to, renamed);
            if text != ir.value_text(value) {
                renamed.insert(value, text);
            }
        }
        plan
    }

    fn text(&self, ir: &Ir, reg: Reg, renamed: &FxHashMap<Value, String>) -> String {
        if let StraightLine::Leaf(index) = self.change.variant.program.lines[reg.index()] {
            let value = self.change.block.leaves[index as usize];
            return renamed.get(&value).cloned().unwrap_or_else(|| ir.value_text(value));
        }
        self.names.get(&reg).cloned().unwrap_or_default()
    }

    fn write(
        &mut self,
        program: &Program,
        renamed: &FxHashMap<Value, String>,
        out: &mut Vec<TextEdit>,
    ) -> Option<()> {
        let ir = program.ir();
        let BlockReplacement { block, variant } = self.change;
        let new = &variant.program;
        let items: Vec<Op> = ir.block_ops(block.block).collect();
        let place: FxHashMap<Op, usize> = items.iter().copied().zip(0..).collect();
        // The first position at which each line can be inserted: the index after the last item that
        // it needs.
        let mut after = vec![0_usize; new.lines.len()];
        for (at, line) in new.lines.iter().enumerate() {
            after[at] = match *line {
                StraightLine::Leaf(index) => match ir.value(block.leaves[index as usize]).def {
                    Def::Result(op, _) => place.get(&op).map_or(0, |it| it + 1),
                    Def::Argument(..) => 0,
                },
                _ => line.operands().map(|it| after[it.index()]).max().unwrap_or(0),
            };
        }
        let mut needs: FxHashMap<Op, Vec<Reg>> = FxHashMap::default();
        for &(value, reg) in &block.values {
            let Some(at) = block.straight.outputs.iter().position(|&it| it == reg) else {
                continue;
            };
            let to = *new.outputs.get(at)?;
            for &(user, _) in &ir.value(value).uses {
                let item = item_of(ir, user, &place)?;
                if !block.members.contains(&item) {
                    needs.entry(item).or_default().push(to);
                }
            }
        }
        let style = BlockStyle::of(program, block);
        let mut written = vec![false; new.lines.len()];
        for (at, line) in new.lines.iter().enumerate() {
            written[at] = matches!(line, StraightLine::Leaf(_));
        }
        for (at, &op) in items.iter().enumerate() {
            let mut before: Vec<String> = Vec::new();
            let mut wanted: Vec<Reg> = Vec::new();
            let mut own: Option<Reg> = None;
            if block.members.contains(&op) {
                if let [value] = ir.op(op).results.as_slice()
                    && let Some(&reg) = self.lines.get(value)
                    && after[reg.index()] <= at
                    && !written[reg.index()]
                {
                    if ir.op(op).regions.is_empty() {
                        wanted.extend(new.lines[reg.index()].operands());
                        own = Some(reg);
                    } else {
                        wanted.push(reg);
                    }
                }
            } else if let Some(regs) = needs.get(&op) {
                wanted.extend(regs.iter().copied());
            }
            for reg in wanted {
                self.write_with_operands(
                    ir,
                    reg,
                    at,
                    &after,
                    &mut written,
                    &style,
                    renamed,
                    &mut before,
                )?;
            }
            if !block.members.contains(&op) {
                if !before.is_empty() {
                    out.push(program.source().in_front_of(op, &before));
                }
                continue;
            }
            let range = ir.range(op);
            let newline = program.source().newline(range.end);
            let join = format!("{newline}{}", program.source().indentation(range.start));
            match own {
                None if before.is_empty() => {
                    out.push(TextEdit {
                        range: program.source().lines_of(op, true),
                        text: String::new(),
                    });
                }
                None => out.push(TextEdit { range, text: before.join(&join) }),
                Some(reg) => {
                    written[reg.index()] = true;
                    let is_kept = self.edit_operands(ir, op, reg, renamed, out);
                    if is_kept {
                        if !before.is_empty() {
                            out.push(program.source().in_front_of(op, &before));
                        }
                    } else {
                        before.push(self.line(ir, reg, &style, renamed));
                        out.push(TextEdit { range, text: before.join(&join) });
                    }
                }
            }
        }
        let is_done = |it: &Reg| written[it.index()];
        new.outputs.iter().all(is_done).then_some(())
    }

    /// Replaces the operands of an op with those of a line. Returns false if the op must be written
    /// again.
    fn edit_operands(
        &self,
        ir: &Ir,
        op: Op,
        reg: Reg,
        renamed: &FxHashMap<Value, String>,
        out: &mut Vec<TextEdit>,
    ) -> bool {
        let line = self.change.variant.program.lines[reg.index()];
        let data = ir.op(op);
        let kind = match line {
            StraightLine::Leaf(_) => return false,
            StraightLine::Add(..) => OpKind::NoisyAdd,
            StraightLine::Sub(..) => OpKind::NoisySub,
            StraightLine::Mul(..) => OpKind::NoisyMul,
        };
        if data.kind != kind || data.operands.len() != 2 {
            return false;
        }
        let mut texts: Vec<String> = line.operands().map(|it| self.text(ir, it, renamed)).collect();
        let old: Vec<String> =
            data.operands.iter().filter_map(|it| Some(ir.value_text(it.value?))).collect();
        // Swapped operands of a commutative op need no edit.
        if !matches!(line, StraightLine::Sub(..)) && texts[0] == old[1] && texts[1] == old[0] {
            texts.swap(0, 1);
        }
        for ((text, old), operand) in texts.into_iter().zip(old).zip(&data.operands) {
            if text != old {
                out.push(TextEdit { range: ir.absolute(op, operand.span), text });
            }
        }
        true
    }

    /// Appends the text of a line and of its missing operands, to be inserted before an item.
    /// Returns `None` if an operand is not yet defined there.
    #[expect(clippy::too_many_arguments, reason = "the state of one pass over a block")]
    fn write_with_operands(
        &self,
        ir: &Ir,
        reg: Reg,
        at: usize,
        after: &[usize],
        written: &mut [bool],
        style: &BlockStyle,
        renamed: &FxHashMap<Value, String>,
        out: &mut Vec<String>,
    ) -> Option<()> {
        let mut stack = vec![(reg, false)];
        while let Some((reg, are_operands_written)) = stack.pop() {
            let leaf_is_late = after[reg.index()] > at;
            if leaf_is_late {
                return None;
            }
            if written[reg.index()] {
                continue;
            }
            if are_operands_written {
                written[reg.index()] = true;
                out.push(self.line(ir, reg, style, renamed));
                continue;
            }
            stack.push((reg, true));
            let operands: Vec<Reg> =
                self.change.variant.program.lines[reg.index()].operands().collect();
            stack.extend(operands.into_iter().rev().map(|it| (it, false)));
        }
        Some(())
    }

    fn line(
        &self,
        ir: &Ir,
        reg: Reg,
        style: &BlockStyle,
        renamed: &FxHashMap<Value, String>,
    ) -> String {
        debug_assert!(self.live[reg.index()]);
        let line = self.change.variant.program.lines[reg.index()];
        let name = match line {
            StraightLine::Leaf(_) => "",
            StraightLine::Add(..) => "add",
            StraightLine::Sub(..) => "sub",
            StraightLine::Mul(..) => "mul",
        };
        let result = self.text(ir, reg, renamed);
        let operands: Vec<String> = line.operands().map(|it| self.text(ir, it, renamed)).collect();
        binary_op_text(style.is_generic, &style.ty, &result, name, &operands.join(", "))
    }
}

/// Returns the line of a leaf in the new program; leaves have the same indices in both programs.
fn leaf_line(
    by_line: &FxHashMap<StraightLine, Reg>,
    block: &ExtractedBlock,
    reg: Reg,
) -> Option<Reg> {
    by_line.get(&block.straight.lines[reg.index()]).copied()
}

/// Returns the name of a value if a line can define it: it is a single result, and its op is
/// rewritten.
fn definable_name(ir: &Ir, value: Value) -> Option<String> {
    let Def::Result(op, _) = ir.value(value).def else { return None };
    let data = ir.op(op);
    let text = ir.value_text(value);
    let is_alone = data.results.len() == 1 && data.result_names.len() == 1 && !text.contains('#');
    let stays = !data.regions.is_empty() || is_ring_op(ir, op);
    (is_alone && stays).then_some(text)
}

/// Returns the text of a sum, a difference or a product.
pub(crate) fn binary_op_text(
    is_generic: bool,
    ty: &str,
    result: &str,
    name: &str,
    operands: &str,
) -> String {
    if is_generic {
        format!("{result} = \"noisy.{name}\"({operands}) : ({ty}, {ty}) -> {ty}")
    } else {
        format!("{result} = noisy.{name} {operands} : {ty}")
    }
}

/// The syntax of new lines in a block.
struct BlockStyle {
    ty: String,
    is_generic: bool,
}

impl BlockStyle {
    fn of(program: &Program, block: &ExtractedBlock) -> Self {
        let ir = program.ir();
        let value = block.values.first().map(|it| it.0);
        let op = value.and_then(|it| ir.defining_op(it));
        Self {
            ty: value.map_or_else(String::new, |it| ir.interner.type_text(ir.value(it).ty)),
            is_generic: op.is_some_and(|it| ir.op(it).form == Form::Generic),
        }
    }
}

/// Returns the op itself or its ancestor that is an item of the block.
fn item_of(ir: &Ir, op: Op, place: &FxHashMap<Op, usize>) -> Option<Op> {
    std::iter::successors(Some(op), |&it| ir.parent_op(it)).find(|it| place.contains_key(it))
}

/// A free name with a base, or with another one if that is a number.
pub(crate) fn fresh_name(names: &mut FreshNames<'_>, base: &str) -> String {
    let is_number = base.starts_with(|it: char| it.is_ascii_digit());
    format!("%{}", names.numbered(if is_number { "copy" } else { base }))
}

/// Returns the blocks of a function, outer ones before inner ones.
pub(crate) fn blocks(ir: &Ir, function: Op) -> Vec<Block> {
    let mut out = Vec::new();
    let mut stack: Vec<Op> = vec![function];
    while let Some(op) = stack.pop() {
        for &(_, region) in &ir.op(op).regions {
            for block in ir.blocks(region) {
                out.push(block);
                stack.extend(ir.block_ops(block).filter(|&it| !ir.op(it).regions.is_empty()));
            }
        }
    }
    out
}
