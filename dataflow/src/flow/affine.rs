//! The bounds of an `affine.for`, computed from its maps, and its trip count.
//!
//! A bound is a linear combination of values plus a rest in a known range. Common terms of two
//! bounds cancel in their difference, so a tile from `%i` to `min(%i + 4, 10)` runs at most 4 times
//! for any `%i`.
//!
//! *Law.* Maps compute in 64 bits and wrap around. A lower bound that may wrap is unknown. An upper
//! bound that overflows becomes smaller, so the loop runs less often.

use noisy_syntax::affine::{Body, Expr, Operator};
use noisy_syntax::{Op, Value};
use smallvec::SmallVec;

use super::trips::Trips;
use crate::view::View;

/// The least and the greatest number of a range.
type Range = (i128, i128);

/// The range of the type `index`.
const INDEX: Range = (i64::MIN as i128, i64::MAX as i128);

fn times(it: Range, by: i128) -> Option<Range> {
    let (a, b) = (it.0.checked_mul(by)?, it.1.checked_mul(by)?);
    Some((a.min(b), a.max(b)))
}

fn plus(a: Range, b: Range) -> Option<Range> {
    Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
}

fn is_index(it: Range) -> bool {
    INDEX.0 <= it.0 && it.1 <= INDEX.1
}

/// Returns the range of a number after a possible wrap-around.
fn wrapped(it: Range) -> Range {
    if is_index(it) { it } else { INDEX }
}

/// A bound as a linear combination.
#[derive(Clone, Default)]
struct Sum {
    terms: SmallVec<[(Value, i128); 2]>,
    rest: Range,
}

/// Operands of a loop with their ranges.
type OperandRanges = SmallVec<[(Value, Range); 4]>;

/// Operands of a map, dimensions first.
struct Inputs<'a> {
    n_dims: usize,
    values: SmallVec<[Option<Value>; 4]>,
    known: &'a OperandRanges,
}

impl Inputs<'_> {
    /// Returns the linear combination that an expression computes.
    fn sum(&self, expr: &Expr) -> Option<Sum> {
        let mut out = Sum::default();
        self.add(expr, 1, &mut out)?;
        Some(out)
    }

    fn add(&self, expr: &Expr, factor: i128, out: &mut Sum) -> Option<()> {
        match expr {
            Expr::Const(number) => out.shift((i128::from(*number), i128::from(*number)), factor),
            Expr::Dim(at) => out.term(*self.values.get(*at as usize)?, factor),
            Expr::Symbol(at) => out.term(*self.values.get(self.n_dims + *at as usize)?, factor),
            Expr::Binary(op, both) => match (op, &both.0, &both.1) {
                (Operator::Add, a, b) => {
                    self.add(a, factor, out)?;
                    self.add(b, factor, out)
                }
                (Operator::Mul, it, &Expr::Const(by)) | (Operator::Mul, &Expr::Const(by), it) => {
                    self.add(it, factor.checked_mul(by.into())?, out)
                }
                (Operator::Mul, ..) => None,
                (_, it, &Expr::Const(by)) if by > 0 => {
                    let by = i128::from(by);
                    let (lo, hi) = wrapped(self.sum(it)?.range(self.known)?);
                    let of = match op {
                        Operator::FloorDiv => (lo.div_euclid(by), hi.div_euclid(by)),
                        Operator::CeilDiv => (-(-lo).div_euclid(by), -(-hi).div_euclid(by)),
                        _ if lo.div_euclid(by) == hi.div_euclid(by) => {
                            (lo.rem_euclid(by), hi.rem_euclid(by))
                        }
                        _ => (0, by - 1),
                    };
                    out.shift(of, factor)
                }
                _ => None,
            },
        }
    }
}

impl Sum {
    fn shift(&mut self, by: Range, factor: i128) -> Option<()> {
        self.rest = plus(self.rest, times(by, factor)?)?;
        Some(())
    }

    fn term(&mut self, value: Option<Value>, factor: i128) -> Option<()> {
        let value = value?;
        match self.terms.iter_mut().find(|it| it.0 == value) {
            Some(it) => it.1 = it.1.checked_add(factor)?,
            None => self.terms.push((value, factor)),
        }
        Some(())
    }

    fn minus(&self, other: &Sum) -> Option<Sum> {
        let mut out = self.clone();
        out.shift(other.rest, -1)?;
        for &(value, factor) in &other.terms {
            out.term(Some(value), factor.checked_neg()?)?;
        }
        Some(out)
    }

    /// Returns the range of a bound before any wrap-around.
    fn range(&self, known: &OperandRanges) -> Option<Range> {
        self.terms.iter().try_fold(self.rest, |sum, &(value, factor)| {
            let of = known.iter().find(|it| it.0 == value && factor != 0);
            plus(sum, of.map_or(Some((0, 0)), |it| times(it.1, factor))?)
        })
    }
}

/// The bounds of an `affine.for`: its lower bound is the greatest of `lower`, its upper bound the
/// least of `upper`.
pub(super) struct Bounds {
    lower: SmallVec<[Sum; 1]>,
    upper: SmallVec<[Sum; 1]>,
    step: i128,
    known: OperandRanges,
}

impl Bounds {
    /// Returns the bounds of a loop, from the ranges of its operands.
    pub(super) fn of(
        ir: &impl View,
        op: Op,
        operand: &dyn Fn(usize) -> Option<Range>,
    ) -> Option<Self> {
        let step = ir.interner().int_value(ir.attr(op, "step")?).filter(|it| *it > 0)?;
        let values = ir.op(op).operands.iter().map(|it| it.value);
        let values: SmallVec<[Option<Value>; 4]> = values.collect();
        let range =
            |(at, it): (usize, &Option<Value>)| Some(((*it)?, operand(at).unwrap_or(INDEX)));
        let known: OperandRanges = values.iter().enumerate().filter_map(range).collect();
        let sums = |name: &str, first: usize| {
            let map = ir.interner().affine(ir.attr(op, name)?)?;
            let Body::Map(results) = &map.body else { return None };
            let values = values.iter().skip(first).take(map.n_inputs()).copied().collect();
            let inputs = Inputs { n_dims: map.n_dims as usize, values, known: &known };
            let sums = results.iter().map(|it| inputs.sum(it));
            let sums = sums.collect::<Option<SmallVec<[Sum; 1]>>>()?;
            (!sums.is_empty()).then_some((sums, map.n_inputs()))
        };
        let (lower, n) = sums("lowerBoundMap", 0)?;
        let (upper, _) = sums("upperBoundMap", n)?;
        Some(Self { lower, upper, step, known })
    }

    /// Returns the ranges of the lower bound, the upper bound and the step; `None` if a bound is
    /// unknown.
    pub(super) fn ranges(&self) -> Option<[Range; 3]> {
        let of = |sum: &Sum| sum.range(&self.known).map_or(INDEX, wrapped);
        let lower = self.lower.iter().map(of).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))?;
        let upper = self.upper.iter().map(of).reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))?;
        let is_known = lower != INDEX && upper != INDEX;
        is_known.then_some([lower, upper, (self.step, self.step)])
    }

    /// Returns the trip count, computed from the least difference of an upper and a lower bound.
    pub(super) fn trips(&self) -> Option<Trips> {
        let rounds = |it: i128| {
            let n = it.checked_add(self.step - 1)?.div_euclid(self.step).max(0);
            u64::try_from(n).ok()
        };
        let mut out = Trips { least: u64::MAX, most: None };
        for lower in &self.lower {
            if !lower.range(&self.known).is_some_and(is_index) {
                return None;
            }
            for upper in &self.upper {
                let (least, most) = match (upper.range(&self.known), upper.minus(lower)) {
                    (Some(it), Some(n)) if INDEX.0 <= it.0 && it.1 <= i128::from(u64::MAX) => {
                        let (lo, hi) = n.range(&self.known)?;
                        (if is_index(it) { rounds(lo) } else { None }, rounds(hi))
                    }
                    _ => (None, None),
                };
                out.least = out.least.min(least.unwrap_or(0));
                out.most = out.most.into_iter().chain(most).min();
            }
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use noisy_syntax::{OpKind, Source};

    use super::*;
    use crate::flow;

    /// Returns the trip count of a loop with operands in the given ranges.
    fn trips(bounds: &str, ranges: [Range; 2]) -> Trips {
        let text = format!(
            "func.func @f(%a: index, %b: index) {{\n  affine.for %i = {bounds} {{\n  }}\n  return\n}}\n"
        );
        let source = Source::new(&text);
        assert!(source.problems().is_empty(), "{text}: {:?}", source.problems());
        let ir = source.ir();
        let function = ir.functions()[0];
        let args = &ir.block(flow::entry_block(ir, ir.op(function).regions[0].1)).args;
        let mut found = Trips::ANY;
        ir.walk(ir.root(), &mut |op| {
            if ir.op(op).kind == OpKind::AffineFor {
                let operand = |at: usize| {
                    let value = ir.op(op).operands.get(at)?.value;
                    args.iter().position(|&it| Some(it) == value).map(|it| ranges[it])
                };
                found = flow::trips(ir, op, &operand);
            }
        });
        found
    }

    #[test]
    fn cancels_common_terms_of_bounds() {
        let any = [INDEX, INDEX];
        let between = |least, most| Trips { least, most: Some(most) };
        let tile = "affine_map<(d0) -> (d0)>(%a) to affine_map<(d0) -> (d0 + 4)>(%a)";
        // The largest values of `%a` may wrap.
        assert_eq!(trips(tile, any), between(0, 4));
        assert_eq!(trips(tile, [(0, 100), INDEX]), between(4, 4));
        let rest = "affine_map<(d0) -> (d0)>(%a) to min affine_map<(d0) -> (d0 + 4, 10)>(%a)";
        assert_eq!(trips(rest, [(0, 8), INDEX]), between(2, 4));
        assert_eq!(trips(rest, any), between(0, 4));
        let step = "affine_map<(d0, d1) -> (d0 * 8 + d1)>(%a, %b) to affine_map<(d0, d1) -> (d1 + d0 * 8 + 7)>(%a, %b) step 2";
        assert_eq!(trips(step, [(0, 9), (-3, 3)]), between(4, 4));
        assert_eq!(trips(step, any), Trips::ANY);
        assert_eq!(trips("0 to affine_map<()[s0] -> (s0 mod 4)>()[%a]", any), between(0, 3));
        let down = "affine_map<(d0) -> (d0)>(%a) to affine_map<(d0) -> (d0 - 4)>(%a)";
        // The least values of `%a` wrap to large bounds.
        assert_eq!(trips(down, any), Trips::ANY);
        assert_eq!(trips(down, [(0, 100), INDEX]), between(0, 0));
    }

    #[test]
    fn bounds_every_run() {
        type Bound = (&'static str, fn(i128, i128) -> i128);
        const BOUNDS: [Bound; 8] = [
            ("d0", |a, _| a),
            ("d1", |_, b| b),
            ("d0 * 3 - d1", |a, b| a * 3 - b),
            ("d0 mod 3 + d1", |a, b| a.rem_euclid(3) + b),
            ("d0 floordiv 2", |a, _| a.div_euclid(2)),
            ("5 - d1 ceildiv 2", |_, b| 5 + (-b).div_euclid(2)),
            ("4", |_, _| 4),
            ("d0 + d1 * 2", |a, b| a + b * 2),
        ];
        let ranges = [(-2, 4), (1, 3)];
        let check = |lower: Bound, upper: Bound, other: Bound, step: i128| {
            let bounds = format!(
                "affine_map<(d0, d1) -> ({})>(%a, %b) to min affine_map<(d0, d1) -> ({}, {})>(%a, %b) step {step}",
                lower.0, upper.0, other.0
            );
            let found = trips(&bounds, ranges);
            let (mut least, mut most) = (u64::MAX, 0);
            for a in ranges[0].0..=ranges[0].1 {
                for b in ranges[1].0..=ranges[1].1 {
                    let end = (upper.1)(a, b).min((other.1)(a, b));
                    let n = (end - (lower.1)(a, b) + step - 1).div_euclid(step);
                    let n = n.max(0) as u64;
                    (least, most) = (least.min(n), most.max(n));
                }
            }
            assert!(found.least <= least, "{bounds}: {found:?}, {least}");
            assert!(found.most.is_some_and(|it| it >= most), "{bounds}: {found:?}");
            found == Trips { least, most: Some(most) }
        };
        let mut n_exact = 0;
        for lower in BOUNDS {
            for upper in BOUNDS {
                for other in BOUNDS {
                    n_exact += usize::from(check(lower, upper, other, 1));
                    n_exact += usize::from(check(lower, upper, other, 3));
                }
            }
        }
        assert!(n_exact > 500, "{n_exact}");
    }
}
