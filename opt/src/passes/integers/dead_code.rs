//! `test-dead-code-analysis`: prints which blocks and branches are live, and their control
//! predecessors, as upstream does.

use std::fmt::Write as _;

use noisy_dataflow::flow::{self, Flow, Interval};
use noisy_integers::constant::Constant;
use noisy_syntax::{AttrData, Block, Ir, Op, OpKind, Region, Traits, print};

use crate::passes::general::symbols::{Visibility, visibility};
use crate::passes::integers::facts::ConstantFacts;
use crate::passes::report::printers::say;
use crate::passes::{Context, Failure, Options, PassInfo};
use crate::rewrite::{nested_first, outermost};

pub(crate) const PASSES: &[PassInfo] = &[PassInfo {
    name: "test-dead-code-analysis",
    class: "TestDeadCodeAnalysisPass",
    anchor: None,
    summary: "Print which blocks of ops with a `tag` are live, and their predecessors",
    options: &[],
    run,
}];

/// Control predecessors; false if there may be others.
type Sources = (Vec<Op>, bool);

struct Printer<'a> {
    ir: &'a Ir,
    facts: &'a ConstantFacts,
    out: String,
}

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let facts = cx.analyses.of::<ConstantFacts>(cx.ir, op);
    cx.analyses.preserve_all();
    let ir = &*cx.ir;
    let mut printer = Printer { ir, facts: &facts, out: String::new() };
    for op in nested_first(ir, op) {
        let tag = ir.attr(op, "tag").map(|it| ir.interner.attr_data(it));
        if let Some(AttrData::String(tag, _)) = tag {
            let _ = writeln!(printer.out, "{}:", ir.interner.str(*tag));
            printer.op(op);
        }
    }
    say(&printer.out);
    Ok(())
}

impl Printer<'_> {
    fn op(&mut self, op: Op) {
        // A function whose calls are all known and none of them live.
        let is_function = self.ir.op(op).kind == OpKind::FuncFunc;
        let is_never = self.behind(op).is_some_and(|(calls, is_all)| calls.is_empty() && is_all);
        let is_entered = !(is_function && is_never);
        for (n, region) in self.regions(op).into_iter().enumerate() {
            let _ = writeln!(self.out, " region #{n}");
            let blocks = self.ir.blocks(region);
            // A declaration has a region without blocks.
            let blocks = if self.ir.items(region).next().is_none() { Vec::new() } else { blocks };
            for (n, &block) in blocks.iter().enumerate() {
                let is_live = is_entered && self.facts.0.is_block_live(block);
                let _ = writeln!(self.out, "  ^bb{n} = {}", word(is_live));
                if is_live {
                    self.branches(block, &blocks);
                }
            }
            if let Some(sources) = self.sources_of(op, region) {
                self.sources("region_preds", &sources);
            }
        }
        if let Some(sources) = self.behind(op) {
            self.sources("op_preds", &sources);
        }
    }

    fn regions(&self, op: Op) -> Vec<Region> {
        self.ir.op(op).regions.iter().map(|it| it.1).collect()
    }

    /// Returns the branches to a block, the last first, as in upstream's lists.
    fn branches(&mut self, block: Block, blocks: &[Block]) {
        for &(branch, successor) in self.ir.block(block).preds.iter().rev() {
            let from = self.ir.block_of(branch);
            let number = blocks.iter().position(|&it| it == from).unwrap_or_default();
            let may_take = self.is_live(branch) && self.may_take(branch, successor as usize);
            let _ = writeln!(self.out, "   from ^bb{number} = {}", word(may_take));
        }
    }

    fn is_live(&self, op: Op) -> bool {
        self.facts.0.is_live(self.ir, op)
    }

    fn may_take(&self, op: Op, index: usize) -> bool {
        let decider = flow::decider(self.ir, op).and_then(|at| self.ir.op(op).operands[at].value);
        let interval = decider.map_or(Interval::Any, |value| {
            let fact = self.facts.0.fact(value).copied().unwrap_or(Constant::Unknown);
            fact.interval(&self.ir.interner, self.ir.value(value).ty)
        });
        flow::may_take(self.ir, op, index, interval)
    }

    /// Returns the live terminators of a region.
    fn ends(&self, region: Region) -> Vec<Op> {
        let last = self.ir.blocks(region).into_iter().filter_map(|it| self.ir.last_op(it));
        let ends = last.filter(|&it| {
            let is_end = self.ir.op(it).kind.has(Traits::TERMINATOR);
            is_end && self.ir.extra(it).successors.is_empty() && self.is_live(it)
        });
        ends.collect()
    }

    /// Returns the control predecessors of a region of a choice or loop.
    fn sources_of(&self, op: Op, region: Region) -> Option<Sources> {
        if !self.facts.0.is_block_live(self.ir.entry_block(region)) {
            return None;
        }
        let mut sources = vec![op];
        match (Flow::of(self.ir, op), &self.regions(op)[..]) {
            (Flow::Choice, _) => {}
            (Flow::For { .. }, _) => sources.extend(self.ends(region)),
            (Flow::While, &[before, after]) if region == before => sources.extend(self.ends(after)),
            (Flow::While, &[before, _]) => sources = self.ends(before),
            _ => return None,
        }
        Some((sources, true))
    }

    /// Returns the control predecessors after an op, or of a function.
    fn behind(&self, op: Op) -> Option<Sources> {
        let regions = self.regions(op);
        let all_ends = || regions.iter().flat_map(|&it| self.ends(it)).collect::<Vec<Op>>();
        match (Flow::of(self.ir, op), self.ir.op(op).kind) {
            (_, OpKind::FuncFunc) => {
                let (calls, is_all) = flow::calls_of(self.ir, op);
                let is_all = is_all && visibility(self.ir, op) == Visibility::Private;
                let calls: Vec<Op> = calls.into_iter().filter(|&it| self.is_live(it)).collect();
                let has_body = flow::body(self.ir, op).is_some();
                let is_known = has_body || !calls.is_empty();
                is_known.then(|| if has_body { (calls, is_all) } else { (Vec::new(), true) })
            }
            _ if !self.is_live(op) => None,
            (_, OpKind::FuncCall) => {
                let body = flow::callee(self.ir, op).and_then(|it| flow::body(self.ir, it));
                Some(body.map_or((Vec::new(), false), |it| (self.ends(it), true)))
            }
            (Flow::Choice, _) => {
                let has_other = regions.iter().all(|&it| self.ir.items(it).next().is_some());
                let mut sources = all_ends();
                if !has_other {
                    sources.insert(0, op);
                }
                Some((sources, true))
            }
            (Flow::For { .. }, _) => Some(([vec![op], all_ends()].concat(), true)),
            (Flow::While, _) => Some((self.ends(*regions.first()?), true)),
            _ => None,
        }
    }

    fn sources(&mut self, what: &str, (ops, is_all): &Sources) {
        let all = if *is_all { "(all) " } else { "" };
        let _ = writeln!(self.out, "{what}: {all}predecessors:");
        let style = print::Style { is_custom: true, has_names: true, ..print::Style::default() };
        for &it in ops {
            let text = print::op_within(self.ir, it, outermost(self.ir, it), style);
            let _ = writeln!(self.out, "  {}", text.trim_end());
        }
        self.out.push('\n');
    }
}

fn word(is_live: bool) -> &'static str {
    if is_live { "live" } else { "dead" }
}
