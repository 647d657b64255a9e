//! Code lenses: the noise of each function at a glance, and the way to bring it down.

use std::ops::Range;
use std::time::Instant;

use noisy_analyses::Document;
use noisy_syntax::{Op, OpKind};

use super::walk::{Item, Walk};

/// A line above a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lens {
    /// The function's name.
    pub range: Range<usize>,
    /// Where the function starts, leading trivia left out, and its name.
    pub function: (usize, String),
    /// The largest upper bound of noise.
    pub max: u32,
    /// The budget.
    pub budget: u32,
    /// How many ops reduce noise.
    pub n_reduces: usize,
}

/// The lenses of a document, found bit by bit.
#[derive(Debug)]
pub(crate) struct Lenses {
    walk: Walk,
    function: Option<(Item, Option<u32>, usize)>,
    found: Vec<Lens>,
}

impl Lenses {
    /// Of a whole document.
    pub(crate) fn new(document: &Document) -> Self {
        Self { walk: Walk::all(document.ir()), function: None, found: Vec::new() }
    }

    /// Goes on until done or `until`.
    pub(crate) fn step(&mut self, document: &Document, until: Instant) -> Option<Vec<Lens>> {
        let mut n = 0;
        while let Some(item) = self.walk.next(document.ir()) {
            self.visit(document, item);
            n += 1;
            if n % 64 == 0 && Instant::now() >= until {
                return None;
            }
        }
        self.close(document);
        Some(std::mem::take(&mut self.found))
    }

    fn visit(&mut self, document: &Document, item: Item) {
        let ir = document.ir();
        let data = ir.op(item.op);
        if self.function.as_ref().is_some_and(|it| it.0.depth >= item.depth) {
            self.close(document);
        }
        if data.kind == OpKind::FuncFunc {
            self.close(document);
            self.function = Some((item, None, 0));
        }
        if let Some((_, max, n_reduces)) = &mut self.function {
            for &value in &data.results {
                *max = (*max).max(document.noise(value).hi());
            }
            *n_reduces += usize::from(ir.op_name(item.op) == document.model().reset_op);
        }
    }

    fn close(&mut self, document: &Document) {
        let Some((item, Some(max), n_reduces)) = self.function.take() else { return };
        let ir = document.ir();
        let op: Op = item.op;
        let Some((_, span)) = ir.rest(op).symbol else { return };
        self.found.push(Lens {
            range: ir.absolute_at(op, item.start, span),
            function: (item.start + ir.op(op).lead as usize, document.function_name(op)),
            max,
            budget: document.model().budget,
            n_reduces,
        });
    }
}

impl Lens {
    /// What it says.
    pub(crate) fn title(&self) -> String {
        let Lens { max, budget, n_reduces, .. } = self;
        let reduces = match n_reduces {
            0 => String::new(),
            1 => ", 1 reduction".to_owned(),
            n => format!(", {n} reductions"),
        };
        let what = if max > budget { ": insert optimal reduce_noise" } else { "" };
        format!("max noise {max}/{budget}{reduces}{what}")
    }
}
