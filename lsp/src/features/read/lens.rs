//! Code lenses: the maximum noise of each function, with the action that lowers it; the cost of
//! each function and of each `secret.generic` of HEIR. If a function has a single generic and the
//! same cost, the cost is shown once.

use std::ops::Range;

use noisy_analyses::explain::{Saturation, Tally};
use noisy_analyses::{Bits, Document};
use noisy_dataflow::flow;
use noisy_syntax::{Name, Op, OpData, OpKind, Value};

use crate::features::read::ciphertext;
use crate::features::walk::{BATCH, Item, Walk};
use crate::features::words;

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
pub(crate) struct Lenses {
    walk: Walk,
    /// The function and the generics that contain the current op, innermost last.
    open: Vec<Holder>,
    is_of_heir: bool,
    /// The name of the op that reduces noise, if the document has it.
    reset_op: Option<Name>,
    known: Saturation,
}

/// A function or generic that contains the current op.
#[derive(Debug)]
struct Holder {
    item: Item,
    /// The maximum noise so far, and a value with this noise.
    most: Option<(Bits, Value)>,
    /// Number of ops that reduce noise.
    n_reduces: usize,
    /// Costs of its ops, in a program of HEIR.
    tally: Option<Tally>,
    /// The lens of its only generic so far, which is shown only if its own lens differs.
    inner: Option<Lens>,
    /// True if a generic was found in it.
    has_inner: bool,
}

impl Lenses {
    pub(crate) fn new(document: &Document) -> Self {
        let ir = document.ir();
        Self {
            walk: Walk::all(ir),
            open: Vec::new(),
            is_of_heir: document.ciphertexts().is_some(),
            reset_op: ir.interner.find_name(&document.model().reset_op),
            known: Saturation::default(),
        }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, document: &Document, found: &mut impl FnMut(Lens)) -> bool {
        for _ in 0..BATCH {
            let Some(item) = self.walk.next(document.ir()) else {
                self.close(document, 0, found);
                return false;
            };
            self.visit(document, item, found);
        }
        true
    }

    fn visit(&mut self, document: &Document, item: Item, found: &mut impl FnMut(Lens)) {
        let ir = document.ir();
        let data = ir.op(item.op);
        if self.open.last().is_some_and(|it| it.item.depth >= item.depth) {
            self.close(document, item.depth, found);
        }
        self.add(document, data);
        if self.is_of_heir {
            self.add_op(document, item.op);
        }
        let is_function = data.kind == OpKind::FuncFunc;
        if is_function || self.is_of_heir && ir.is_secret_generic(item.op) {
            if is_function {
                self.close(document, 0, found);
            }
            let tally = self.is_of_heir.then(|| Tally::new(item.op));
            let (most, inner) = (None, None);
            self.open.push(Holder { item, most, n_reduces: 0, tally, inner, has_inner: false });
        }
        // The arguments of regions count for the op that contains the regions.
        if self.is_of_heir {
            self.add_arguments(document, item.op);
        }
    }

    /// Adds the noise of an op to all functions and generics that contain it.
    fn add(&mut self, document: &Document, data: &OpData) {
        let is_reduce = Some(data.name) == self.reset_op;
        for holder in &mut self.open {
            for &value in &data.results {
                let hi = document.noise(value).hi();
                if let Some(hi) = hi.filter(|&hi| holder.most.is_none_or(|it| it.0 < hi)) {
                    holder.most = Some((hi, value));
                }
            }
            holder.n_reduces += usize::from(is_reduce);
        }
    }

    /// Adds the cost of an op of HEIR to all functions and generics that contain it.
    fn add_op(&mut self, document: &Document, op: Op) {
        let Some((heir, _)) = document.ciphertexts() else { return };
        let data = document.ir().op(op);
        for tally in self.open.iter_mut().filter_map(|it| it.tally.as_mut()) {
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
            for tally in self.open.iter_mut().filter_map(|it| it.tally.as_mut()) {
                tally.add_value(document.ir(), heir, depth, value);
            }
        }
    }

    /// Emits the lenses of the functions and generics that end before an item of this depth.
    fn close(&mut self, document: &Document, depth: usize, found: &mut impl FnMut(Lens)) {
        while let Some(holder) = self.open.pop_if(|it| it.item.depth >= depth) {
            self.tell(document, holder, found);
        }
    }

    fn tell(&mut self, document: &Document, mut holder: Holder, found: &mut impl FnMut(Lens)) {
        let (cost, inner) = (cost(document, &holder), holder.inner.take());
        let is_same = cost.as_ref().map(|it| &it.title) == inner.as_ref().map(|it| &it.title);
        let inner = inner.filter(|_| !is_same);
        noise(document, &holder, &mut self.known).into_iter().chain(inner).for_each(&mut *found);
        let is_function = document.ir().op(holder.item.op).kind == OpKind::FuncFunc;
        match self.open.last_mut().filter(|_| !is_function) {
            // The enclosing op may have the same cost as this generic.
            Some(outer) if !outer.has_inner => (outer.has_inner, outer.inner) = (true, cost),
            Some(outer) => outer.inner.take().into_iter().chain(cost).for_each(found),
            None => cost.into_iter().for_each(found),
        }
    }
}

/// The lens of the noise of a function.
fn noise(document: &Document, holder: &Holder, known: &mut Saturation) -> Option<Lens> {
    let (ir, op) = (document.ir(), holder.item.op);
    let (max, value) = holder.most.filter(|_| ir.op(op).kind == OpKind::FuncFunc)?;
    let is_over = max > document.model().budget;
    let start = holder.item.start + ir.op(op).lead as usize;
    Some(Lens {
        range: name(document, holder.item)?,
        function: is_over.then(|| (start, document.function_name(op))),
        title: title(document, value, holder.n_reduces, known),
    })
}

/// The lens of the cost of a function or generic of HEIR.
fn cost(document: &Document, holder: &Holder) -> Option<Lens> {
    let title = ciphertext::cost(document, holder.tally.as_ref()?)?;
    Some(Lens { range: name(document, holder.item)?, function: None, title })
}

/// The range of the name of a function, or of the op name of a generic.
fn name(document: &Document, item: Item) -> Option<Range<usize>> {
    let ir = document.ir();
    let data = ir.op(item.op);
    let symbol = ir.extra(item.op).symbol.map(|it| it.1);
    let span = symbol.or((data.kind != OpKind::FuncFunc).then_some(data.name_span))?;
    Some(ir.absolute_at(item.op, item.start, span))
}

/// Text about the maximum noise of a function, which `value` has, and its number of ops that reduce
/// noise.
fn title(document: &Document, value: Value, n_reduces: usize, known: &mut Saturation) -> String {
    let reduces = match n_reduces {
        0 => String::new(),
        n => format!(", {}", words::count(n as u64, "reduction")),
    };
    format!("{}{reduces}", words::maximum(document, value, known))
}
