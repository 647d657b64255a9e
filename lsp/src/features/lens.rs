//! Code lenses: the noise of each function at a glance, and the way to bring it down.

use std::ops::Range;

use noisy_analyses::{Bits, Document};
use noisy_syntax::{Op, OpKind, Value};

use super::walk::{BATCH, Item, Walk};
use super::words;

/// A line above a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lens {
    /// The function's name.
    pub range: Range<usize>,
    /// Where the function starts, leading trivia left out, and its name.
    pub function: (usize, String),
    /// What it says.
    pub title: String,
    /// Whether noise exceeds the budget.
    pub is_over: bool,
}

/// The lenses of a document, found bit by bit.
#[derive(Debug)]
pub(crate) struct Lenses {
    walk: Walk,
    function: Option<Function>,
}

/// The function that the walk is in.
#[derive(Debug)]
struct Function {
    item: Item,
    /// The most noise so far, and a value that has it.
    most: Option<(Bits, Value)>,
    /// How many ops reduce noise.
    n_reduces: usize,
}

impl Lenses {
    /// Of a whole document.
    pub(crate) fn new(document: &Document) -> Self {
        Self { walk: Walk::all(document.ir()), function: None }
    }

    /// Goes on a little; whether there is more.
    pub(crate) fn step(&mut self, document: &Document, found: &mut impl FnMut(Lens)) -> bool {
        for _ in 0..BATCH {
            let Some(item) = self.walk.next(document.ir()) else {
                self.close(document, found);
                return false;
            };
            self.visit(document, item, found);
        }
        true
    }

    fn visit(&mut self, document: &Document, item: Item, found: &mut impl FnMut(Lens)) {
        let ir = document.ir();
        let data = ir.op(item.op);
        if self.function.as_ref().is_some_and(|it| it.item.depth >= item.depth) {
            self.close(document, found);
        }
        if data.kind == OpKind::FuncFunc {
            self.close(document, found);
            self.function = Some(Function { item, most: None, n_reduces: 0 });
        }
        if let Some(function) = &mut self.function {
            for &value in &data.results {
                let hi = document.noise(value).hi();
                if let Some(hi) = hi.filter(|&hi| function.most.is_none_or(|it| it.0 < hi)) {
                    function.most = Some((hi, value));
                }
            }
            let is_reduce = ir.op_name(item.op) == document.model().reset_op;
            function.n_reduces += usize::from(is_reduce);
        }
    }

    fn close(&mut self, document: &Document, found: &mut impl FnMut(Lens)) {
        let Some(Function { item, most: Some((max, value)), n_reduces }) = self.function.take()
        else {
            return;
        };
        let ir = document.ir();
        let op: Op = item.op;
        let Some((_, span)) = ir.extra(op).symbol else { return };
        found(Lens {
            range: ir.absolute_at(op, item.start, span),
            function: (item.start + ir.op(op).lead as usize, document.function_name(op)),
            title: title(document, value, n_reduces),
            is_over: max > document.model().budget,
        });
    }
}

/// The most noise in a function, at a value, and how many of its ops reduce noise.
fn title(document: &Document, value: Value, n_reduces: usize) -> String {
    let reduces = match n_reduces {
        0 => String::new(),
        n => format!(", {}", words::count(n as u64, "reduction")),
    };
    format!("{}{reduces}", words::maximum(document, value))
}
