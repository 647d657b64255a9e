//! Code lenses: the maximum noise of each function, with the action that lowers it; the cost of
//! each function and of each `secret.generic` of HEIR. If a function has a single generic and the
//! same cost, the cost is shown once.

use std::ops::Range;

use noisy_analyses::explain::{CostTally, SaturationCache};
use noisy_analyses::{Bits, Document};
use noisy_dataflow::flow;
use noisy_syntax::{Name, Op, OpData, OpKind, Value};

use crate::features::read::ciphertext;
use crate::features::texts;
use crate::features::walk::{ITEMS_PER_STEP, ItemWalk, WalkedItem};

/// A line above a function or a `secret.generic`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lens {
    /// The range of the function name or of the op name.
    pub range: Range<usize>,
    /// Offset (without leading trivia) and name of the function, if a placement may lower its
    /// noise.
    pub function: Option<(usize, String)>,
    pub title: String,
}

/// Finds the lenses of a document in steps.
#[derive(Debug)]
pub(crate) struct LensJob {
    walk: ItemWalk,
    /// The function and the generics that contain the current op, innermost last.
    enclosing_ops: Vec<EnclosingOp>,
    is_of_heir: bool,
    /// The name of the op that reduces noise, if the document has it.
    reset_op: Option<Name>,
    saturation: SaturationCache,
}

/// A function or generic that contains the current op.
#[derive(Debug)]
struct EnclosingOp {
    item: WalkedItem,
    /// The maximum noise so far, and a value with this noise.
    max_noise: Option<(Bits, Value)>,
    /// Number of ops that reduce noise.
    n_resets: usize,
    /// Costs of its ops, in a program of HEIR.
    tally: Option<CostTally>,
    /// The lens of its only generic so far, which is shown only if its own lens differs.
    inner_lens: Option<Lens>,
    /// True if a generic was found in it.
    has_inner: bool,
}

impl LensJob {
    pub(crate) fn new(document: &Document) -> Self {
        let ir = document.ir();
        Self {
            walk: ItemWalk::all(ir),
            enclosing_ops: Vec::new(),
            is_of_heir: document.ciphertexts().is_some(),
            reset_op: ir.interner.find_name(&document.model().reset_op),
            saturation: SaturationCache::default(),
        }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, document: &Document, found: &mut impl FnMut(Lens)) -> bool {
        for _ in 0..ITEMS_PER_STEP {
            let Some(item) = self.walk.next(document.ir()) else {
                self.close(document, 0, found);
                return false;
            };
            self.visit(document, item, found);
        }
        true
    }

    fn visit(&mut self, document: &Document, item: WalkedItem, found: &mut impl FnMut(Lens)) {
        let ir = document.ir();
        let data = ir.op(item.op);
        if self.enclosing_ops.last().is_some_and(|it| it.item.depth >= item.depth) {
            self.close(document, item.depth, found);
        }
        self.add_noise(document, data);
        if self.is_of_heir {
            self.add_op(document, item.op);
        }
        let is_function = data.kind == OpKind::FuncFunc;
        if is_function || self.is_of_heir && ir.is_secret_generic(item.op) {
            if is_function {
                self.close(document, 0, found);
            }
            let tally = self.is_of_heir.then(|| CostTally::new(item.op));
            let (most, inner) = (None, None);
            self.enclosing_ops.push(EnclosingOp {
                item,
                max_noise: most,
                n_resets: 0,
                tally,
                inner_lens: inner,
                has_inner: false,
            });
        }
        // The arguments of regions count for the op that contains the regions.
        if self.is_of_heir {
            self.add_arguments(document, item.op);
        }
    }

    /// Adds the noise of an op to all functions and generics that contain it.
    fn add_noise(&mut self, document: &Document, data: &OpData) {
        let is_reduce = Some(data.name) == self.reset_op;
        for holder in &mut self.enclosing_ops {
            for &value in &data.results {
                let hi = document.noise(value).hi();
                if let Some(hi) = hi.filter(|&hi| holder.max_noise.is_none_or(|it| it.0 < hi)) {
                    holder.max_noise = Some((hi, value));
                }
            }
            holder.n_resets += usize::from(is_reduce);
        }
    }

    /// Adds the cost of an op of HEIR to all functions and generics that contain it.
    fn add_op(&mut self, document: &Document, op: Op) {
        let Some((heir, _)) = document.ciphertexts() else { return };
        let data = document.ir().op(op);
        for tally in self.enclosing_ops.iter_mut().filter_map(|it| it.tally.as_mut()) {
            tally.add_op(document.ir(), document.integers(), heir, op);
        }
        // The results of a label are its arguments, which `add_arguments` adds.
        if data.kind != OpKind::Label {
            self.add_values(document, &data.results);
        }
    }

    fn add_arguments(&mut self, document: &Document, op: Op) {
        let ir = document.ir();
        if ir.op(op).kind == OpKind::Label {
            return self.add_values(document, &ir.block(ir.label_block(op)).args);
        }
        for &(_, region) in &ir.op(op).regions {
            // The header of an unknown op may name values that are not arguments. If there is a
            // label, it lists the arguments.
            let entry = ir.block(flow::entry_block(ir, region));
            if entry.label.is_none() {
                self.add_values(document, &entry.args);
            }
        }
    }

    fn add_values(&mut self, document: &Document, values: &[Value]) {
        let Some((heir, _)) = document.ciphertexts() else { return };
        for &value in values {
            let depth = document.depth(value);
            for tally in self.enclosing_ops.iter_mut().filter_map(|it| it.tally.as_mut()) {
                tally.add_value(document.ir(), heir, depth, value);
            }
        }
    }

    /// Emits the lenses of the functions and generics that end before an item of this depth.
    fn close(&mut self, document: &Document, depth: usize, found: &mut impl FnMut(Lens)) {
        while let Some(holder) = self.enclosing_ops.pop_if(|it| it.item.depth >= depth) {
            self.emit(document, holder, found);
        }
    }

    fn emit(&mut self, document: &Document, mut holder: EnclosingOp, found: &mut impl FnMut(Lens)) {
        let (cost, inner) = (cost_lens(document, &holder), holder.inner_lens.take());
        let is_same = cost.as_ref().map(|it| &it.title) == inner.as_ref().map(|it| &it.title);
        let inner = inner.filter(|_| !is_same);
        noise_lens(document, &holder, &mut self.saturation)
            .into_iter()
            .chain(inner)
            .for_each(&mut *found);
        let is_function = document.ir().op(holder.item.op).kind == OpKind::FuncFunc;
        match self.enclosing_ops.last_mut().filter(|_| !is_function) {
            // The enclosing op may have the same cost as this generic.
            Some(outer) if !outer.has_inner => (outer.has_inner, outer.inner_lens) = (true, cost),
            Some(outer) => outer.inner_lens.take().into_iter().chain(cost).for_each(found),
            None => cost.into_iter().for_each(found),
        }
    }
}

/// The lens of the noise of a function.
fn noise_lens(
    document: &Document,
    holder: &EnclosingOp,
    known: &mut SaturationCache,
) -> Option<Lens> {
    let (ir, op) = (document.ir(), holder.item.op);
    let (max, value) = holder.max_noise.filter(|_| ir.op(op).kind == OpKind::FuncFunc)?;
    let is_over = max > document.model().budget;
    let start = holder.item.start + ir.op(op).lead_len as usize;
    Some(Lens {
        range: name_range(document, holder.item)?,
        function: is_over.then(|| (start, document.function_name(op))),
        title: noise_title(document, value, holder.n_resets, known),
    })
}

/// The lens of the cost of a function or generic of HEIR.
fn cost_lens(document: &Document, holder: &EnclosingOp) -> Option<Lens> {
    let title = ciphertext::cost_text(document, holder.tally.as_ref()?)?;
    Some(Lens { range: name_range(document, holder.item)?, function: None, title })
}

/// The range of the name of a function, or of the op name of a generic.
fn name_range(document: &Document, item: WalkedItem) -> Option<Range<usize>> {
    let ir = document.ir();
    let data = ir.op(item.op);
    let symbol = ir.extra(item.op).symbol.map(|it| it.1);
    let span = symbol.or((data.kind != OpKind::FuncFunc).then_some(data.name_span))?;
    Some(ir.absolute_at(item.op, item.start, span))
}

/// Text about the maximum noise of a function, which `value` has, and its number of ops that reduce
/// noise.
fn noise_title(
    document: &Document,
    value: Value,
    n_reduces: usize,
    known: &mut SaturationCache,
) -> String {
    let reduces = match n_reduces {
        0 => String::new(),
        n => format!(", {}", texts::op_count_text(n as u64, "reduction")),
    };
    format!("{}{reduces}", texts::max_noise_text(document, value, known))
}
