//! Moves common terms or factors of both cases of a branch behind the branch.
//!
//! `if c { x + a } else { x + b }` becomes `x + (if c { a } else { b })`.

use std::collections::BTreeMap;

use noisy_analyses::{Program, TextEdit};
use noisy_dataflow::flow::yield_ops;
use noisy_syntax::{Op, OpKind, Value};

use super::text::{EditPass, LineStyle};
use crate::extract::arithmetic_kind;
use crate::scale::PLAINTEXT_BITS;
use crate::write::fresh_name;

/// Maximum number of terms of a sum or factors of a product.
const MAX_TERMS: usize = 64;

/// Terms with coefficients, or factors with exponents.
type TermsOrFactors = BTreeMap<Value, i64>;

/// Returns edits that move common terms and factors out of the innermost branches. Enclosing
/// branches are handled in the next pass.
pub(super) fn merge_branches(program: &Program, functions: &[Op]) -> Option<Vec<TextEdit>> {
    let mut pass = EditPass::new(program);
    let ir = pass.ir;
    for &function in functions {
        let mut done: Vec<Op> = Vec::new();
        // Inner branches come first.
        for op in pass.nested_ops(function).into_iter().rev() {
            let is_branch = matches!(ir.op(op).kind, OpKind::ScfIf | OpKind::AffineIf);
            if is_branch && !done.iter().any(|&it| ir.is_within(it, op)) && pass.merge(op, function)
            {
                done.push(op);
            }
        }
    }
    pass.finish()
}

impl EditPass<'_> {
    /// Moves the common terms or factors out of a branch. Returns false if there are none.
    fn merge(&mut self, op: Op, function: Op) -> bool {
        let ir = self.ir;
        let data = ir.op(op);
        let names_all = data.result_names.len() == data.results.len();
        let is_whole = names_all && !ir.has_problem(op) && data.regions.len() == 2;
        let Some(next) = ir.next(op).filter(|_| is_whole) else { return false };
        let mut ends = Vec::new();
        for &(_, region) in &data.regions {
            let [end] = yield_ops(ir, region)[..] else { return false };
            if ir.op(end).operands.len() != data.results.len() || ir.only_block(region).is_none() {
                return false;
            }
            ends.push(end);
        }
        let mut after = Vec::new();
        for (at, &result) in data.results.iter().enumerate() {
            let values = ends.iter().map(|&it| ir.op(it).operands[at].value);
            let Some(values) = values.collect::<Option<Vec<Value>>>() else { continue };
            if !self.is_noisy(result) || values[0] == values[1] {
                continue;
            }
            let style = ends
                .iter()
                .find_map(|&it| ir.prev(it))
                .map_or(LineStyle::of(ir, op), |it| LineStyle::of(ir, it));
            let name = data.result_names[at];
            let sums =
                values.iter().map(|&it| self.parts(it, op, true)).collect::<Option<Vec<_>>>();
            let products =
                || values.iter().map(|&it| self.parts(it, op, false)).collect::<Option<Vec<_>>>();
            let common = |parts: Option<Vec<TermsOrFactors>>| {
                let [a, b] = <[TermsOrFactors; 2]>::try_from(parts?).ok()?;
                let common = self.common(&a, &b, op);
                (!common.is_empty()).then_some((a, b, common))
            };
            let (is_sum, (a, b, common)) = match common(sums) {
                Some(it) => (true, it),
                None => match common(products()) {
                    Some(it) => (false, it),
                    None => continue,
                },
            };
            let mut rests = [subtract_parts(&a, &common), subtract_parts(&b, &common)];
            if rests.iter().all(BTreeMap::is_empty)
                || !is_sum && rests.iter().any(BTreeMap::is_empty)
            {
                continue;
            }
            // If all other terms are negative, the result is a difference.
            let is_difference = is_sum
                && rests.iter().flat_map(BTreeMap::values).all(|&it| it < 0)
                && common.values().any(|&it| it > 0);
            if is_difference {
                rests.iter_mut().flat_map(BTreeMap::values_mut).for_each(|it| *it = -*it);
            }
            let mut zero = None;
            for (rest, &end) in rests.iter().zip(&ends) {
                let mut lines = Vec::new();
                let text = if is_sum {
                    if rest.values().all(|&it| it < 0) && zero.is_none() {
                        zero = Some(self.zero(&common, function, style));
                    }
                    self.sum(rest, zero.clone().map(|it| it.0), style, &mut lines)
                } else {
                    self.product(rest, style, &mut lines)
                };
                if !lines.is_empty() {
                    self.edits.push(self.program.source().in_front_of(end, &lines));
                }
                let range = ir.absolute(end, ir.op(end).operands[at].span);
                self.replace(range, text);
            }
            if let Some((_, line)) = zero {
                self.edits.push(self.program.source().in_front_of(op, &[line]));
            }
            let choice = fresh_name(&mut self.names, "choice");
            self.replace(ir.absolute(op, name.span), choice.clone());
            let mut lines = Vec::new();
            let to = ir.value_text(result);
            if is_sum && common.values().all(|&it| it < 0) {
                let positive = common.iter().map(|(&it, n)| (it, -n)).collect();
                let rest = self.sum(&positive, None, style, &mut lines);
                lines.push(style.line(&to, "sub", &choice, &rest));
            } else if is_sum {
                let rest = self.sum(&common, None, style, &mut lines);
                let name = if is_difference { "sub" } else { "add" };
                lines.push(style.line(&to, name, &rest, &choice));
            } else {
                let rest = self.product(&common, style, &mut lines);
                lines.push(style.line(&to, "mul", &rest, &choice));
            }
            after.extend(lines);
        }
        if after.is_empty() {
            return false;
        }
        self.edits.push(self.program.source().in_front_of(next, &after));
        true
    }

    /// Returns the terms or the factors of a value. Only arithmetic inside the regions of `of` is
    /// expanded.
    fn parts(&self, value: Value, of: Op, is_sum: bool) -> Option<TermsOrFactors> {
        let mut out = TermsOrFactors::new();
        let mut stack = vec![(value, 1)];
        let mut n = 0;
        while let Some((value, by)) = stack.pop() {
            n += 1;
            if n > 2 * MAX_TERMS {
                return None;
            }
            let op = self.ir.defining_op(value).filter(|_| !self.is_outside(value, of));
            let kind = op.and_then(|it| arithmetic_kind(self.ir, it));
            let operand = |at: usize| self.ir.op(op?).operands.get(at)?.value;
            match kind {
                Some(OpKind::NoisyAdd) if is_sum => {
                    stack.extend([(operand(0)?, by), (operand(1)?, by)]);
                }
                Some(OpKind::NoisySub) if is_sum => {
                    stack.extend([(operand(0)?, by), (operand(1)?, -by)]);
                }
                Some(OpKind::NoisyMul) if !is_sum => {
                    stack.extend([(operand(0)?, by), (operand(1)?, by)]);
                }
                _ => *out.entry(value).or_default() += by,
            }
        }
        let half = 1 << (PLAINTEXT_BITS - 1);
        if is_sum {
            for it in out.values_mut() {
                *it = (*it + half).rem_euclid(2 * half) - half;
            }
        }
        out.retain(|_, it| *it != 0);
        let n: i64 = out.values().map(|it| it.abs()).sum();
        (n <= MAX_TERMS as i64).then_some(out)
    }

    /// Returns the common parts of two values that are defined outside of an op.
    fn common(&self, a: &TermsOrFactors, b: &TermsOrFactors, op: Op) -> TermsOrFactors {
        let mut out = TermsOrFactors::new();
        // A zero (`x - x`) is skipped, because moving it gains nothing and it would be found again
        // in each pass.
        let is_zero = |it: Value| {
            let difference = self.ir.defining_op(it).map(|it| self.ir.op(it));
            difference.is_some_and(|it| {
                it.kind == OpKind::NoisySub
                    && it.operands.len() == 2
                    && it.operands[0].value == it.operands[1].value
            })
        };
        for (&value, &x) in a.iter().filter(|it| self.is_outside(*it.0, op) && !is_zero(*it.0)) {
            let y = b.get(&value).copied().unwrap_or(0);
            if x.signum() == y.signum() {
                out.insert(value, if x.abs() < y.abs() { x } else { y });
            }
        }
        out
    }

    /// Returns a name for zero, and the line that defines it.
    fn zero(&mut self, of: &TermsOrFactors, function: Op, style: LineStyle) -> (String, String) {
        let entry = self.ir.op(function).regions.first().map(|it| self.ir.entry_block(it.1));
        let args = entry.map(|it| self.ir.block(it).args.to_vec()).unwrap_or_default();
        let quiet = args.into_iter().find(|&it| self.is_noisy(it));
        let value = quiet.or_else(|| of.keys().next().copied());
        let value = value.map_or_else(String::new, |it| self.ir.value_text(it));
        let name = fresh_name(&mut self.names, "zero");
        let line = style.line(&name, "sub", &value, &value);
        (name, line)
    }

    /// Returns the name of a sum of terms, and adds the lines that compute it. `first` is the start
    /// of the sum if all terms are negative.
    fn sum(
        &mut self,
        parts: &TermsOrFactors,
        first: Option<String>,
        style: LineStyle,
        lines: &mut Vec<String>,
    ) -> String {
        let mut at = first.filter(|_| parts.values().all(|&it| it < 0));
        for is_negative in [false, true] {
            for (&value, &n) in parts.iter().filter(|it| (*it.1 < 0) == is_negative) {
                let text = self.ir.value_text(value);
                for _ in 0..n.abs() {
                    at = Some(match at {
                        None => text.clone(),
                        Some(before) => {
                            let (base, op) =
                                if is_negative { ("difference", "sub") } else { ("sum", "add") };
                            let name = fresh_name(&mut self.names, base);
                            lines.push(style.line(&name, op, &before, &text));
                            name
                        }
                    });
                }
            }
        }
        at.unwrap_or_default()
    }

    /// Returns the name of a product of factors, and adds the lines that compute it.
    fn product(
        &mut self,
        parts: &TermsOrFactors,
        style: LineStyle,
        lines: &mut Vec<String>,
    ) -> String {
        let mut at: Option<String> = None;
        for (&value, &n) in parts {
            let text = self.ir.value_text(value);
            for _ in 0..n {
                at = Some(match at {
                    None => text.clone(),
                    Some(before) => {
                        let name = fresh_name(&mut self.names, "product");
                        lines.push(style.line(&name, "mul", &before, &text));
                        name
                    }
                });
            }
        }
        at.unwrap_or_default()
    }
}

/// Subtracts some parts.
fn subtract_parts(from: &TermsOrFactors, some: &TermsOrFactors) -> TermsOrFactors {
    let rest = from.iter().map(|(&it, n)| (it, n - some.get(&it).copied().unwrap_or(0)));
    rest.filter(|it| it.1 != 0).collect()
}
