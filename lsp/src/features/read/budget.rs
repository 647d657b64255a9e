//! The share of the noise budget that each op uses, and the largest noise of a function. An editor
//! shows the shares beside the text, and the maximum in its status line.

use std::ops::Range;

use noisy_analyses::explain::SaturationCache;
use noisy_analyses::{Bits, Document};
use noisy_syntax::{Op, OpKind, Value};

use crate::features::find::cursor;
use crate::features::texts;
use crate::features::walk::{ITEMS_PER_STEP, ItemWalk, WalkedItem};

/// The share of the budget that an op uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BudgetUse {
    /// Byte offset of the name of the op.
    pub offset: usize,
    /// Noise of its noisiest result in percent of the budget; over 100 if it exceeds the budget.
    pub percent: u32,
}

/// The largest noise in a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LargestNoise {
    pub function: String,
    /// The maximum as text: `max noise 48 of 26 bits`.
    pub text: String,
    /// True if it exceeds the budget.
    pub is_over: bool,
}

/// Visits the ops of a range, and then those of the function at an offset, in steps.
#[derive(Debug)]
pub(crate) struct BudgetJob {
    range: Range<usize>,
    around: Vec<WalkedItem>,
    walk: ItemWalk,
    function: Option<FunctionMaximum>,
}

#[derive(Debug)]
struct FunctionMaximum {
    function: Op,
    end: usize,
    walk: ItemWalk,
    largest: Option<(Bits, Value)>,
}

impl BudgetJob {
    /// Visits a range, and the function at `cursor`, if given.
    pub(crate) fn new(document: &Document, range: Range<usize>, cursor: Option<usize>) -> Self {
        let ir = document.ir();
        let (around, walk) = ItemWalk::starting_at(ir, range.start);
        let function = cursor.and_then(|it| cursor::function_at(ir, it)).map(|function| {
            let whole = ir.range(function);
            let (_, walk) = ItemWalk::starting_at(ir, whole.start);
            FunctionMaximum { function, end: whole.end, walk, largest: None }
        });
        Self { range, around, walk, function }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, document: &Document, found: &mut impl FnMut(BudgetUse)) -> bool {
        for item in std::mem::take(&mut self.around) {
            report_use(document, item, &self.range, found);
        }
        for _ in 0..ITEMS_PER_STEP {
            let next = self.walk.next(document.ir()).filter(|it| it.start <= self.range.end);
            if let Some(item) = next {
                report_use(document, item, &self.range, found);
                continue;
            }
            self.walk = ItemWalk::default();
            let Some(within) = &mut self.function else { return false };
            let next = within.walk.next(document.ir()).filter(|it| it.start < within.end);
            let Some(item) = next else { return false };
            within.add(document, item.op);
        }
        true
    }

    /// The largest noise of the function, after the last step; `None` if no value has noise.
    pub(crate) fn largest_noise(&self, document: &Document) -> Option<LargestNoise> {
        let within = self.function.as_ref()?;
        let (most, value) = within.largest?;
        Some(LargestNoise {
            function: document.function_name(within.function),
            text: texts::max_noise_text(document, value, &mut SaturationCache::default()),
            is_over: most > document.model().budget,
        })
    }
}

impl FunctionMaximum {
    fn add(&mut self, document: &Document, op: Op) {
        let ir = document.ir();
        let arguments = cursor::arguments_in(ir, op);
        for value in ir.op(op).results.iter().copied().chain(arguments) {
            let hi = document.noise(value).hi();
            if let Some(hi) = hi.filter(|&hi| self.largest.is_none_or(|it| it.0 < hi)) {
                self.largest = Some((hi, value));
            }
        }
    }
}

fn report_use(
    document: &Document,
    item: WalkedItem,
    range: &Range<usize>,
    found: &mut impl FnMut(BudgetUse),
) {
    let ir = document.ir();
    let data = ir.op(item.op);
    let name = ir.absolute_at(item.op, item.start, data.name_span);
    if data.kind == OpKind::Label || name.end < range.start || range.end < name.start {
        return;
    }
    let noise = data.results.iter().filter_map(|&it| document.noise(it).hi()).max();
    let budget = u64::from(document.model().budget).max(1);
    if let Some(hi) = noise {
        let percent = (u64::from(hi) * 100).div_ceil(budget).min(u64::from(u32::MAX)) as u32;
        found(BudgetUse { offset: name.start, percent });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str, cursor: &str) -> (Vec<u32>, Option<LargestNoise>) {
        let document = Document::new(text);
        let mut search = BudgetJob::new(&document, 0..text.len(), text.find(cursor));
        let mut out = Vec::new();
        while search.step(&document, &mut |it| out.push(it.percent)) {}
        let most = search.largest_noise(&document);
        (out, most)
    }

    #[test]
    fn each_op_and_the_function_around() {
        let text = "func.func @g(%a: !noisy.i32) {
  return
}
func.func @f(%x: i5) -> i5 {
  %0 = noisy.encode %x : i5 -> !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.mul %1, %1 : !noisy.i32
  %3 = arith.constant 0 : i5
  return %3 : i5
}
";
        let (used, most) = all(text, "noisy.mul");
        assert_eq!(used, [47, 93, 185], "12, 24 and 48 of 26, rounded up");
        let most = most.expect("noise");
        assert_eq!((&*most.function, &*most.text), ("f", "max noise 48 of 26 bits"));
        assert!(most.is_over);
        let (_, most) = all(text, "return");
        assert_eq!(
            most.map(|it| (it.text, it.is_over)),
            Some(("max noise 12 of 26 bits".to_owned(), false))
        );
        assert_eq!(all("func.func @f() {\n  return\n}\n", "return").1, None);
    }

    #[test]
    fn noise_equal_to_the_budget_is_not_over() {
        let add = |n: i32| format!("  %{n} = noisy.add %{}, %0 : !noisy.i32\n", n - 1);
        let adds = (1..=15).map(add).collect::<Vec<_>>().concat();
        let text = format!("func.func @f(%0: !noisy.i32) {{\n{adds}  return\n}}\n");
        let (used, _) = all(&text, "return");
        assert_eq!(used[used.len() - 2..], [100, 104], "26 and 27 of 26");
    }
}
