//! The bounds of an `affine.for`, computed from its maps, and its trip count.
//!
//! A bound is a linear combination of values plus a rest in a known range. Common terms of two
//! bounds cancel in their difference, so a tile from `%i` to `min(%i + 4, 10)` runs at most 4 times
//! for any `%i`.
//!
//! *Law.* Maps compute in 64 bits and wrap around. A lower bound that may wrap is unknown. An upper
//! bound that overflows becomes smaller, so the loop runs less often.

use noisy_syntax::affine::{AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::{Op, Value};
use smallvec::SmallVec;

use super::trips::TripCount;
use crate::view::ProgramView;

/// The least and the greatest number of a range.
type AffineRange = (i128, i128);

/// The range of the type `index`.
const INDEX_RANGE: AffineRange = (i64::MIN as i128, i64::MAX as i128);

fn times(it: AffineRange, by: i128) -> Option<AffineRange> {
    let (a, b) = (it.0.checked_mul(by)?, it.1.checked_mul(by)?);
    Some((a.min(b), a.max(b)))
}

fn plus(a: AffineRange, b: AffineRange) -> Option<AffineRange> {
    Some((a.0.checked_add(b.0)?, a.1.checked_add(b.1)?))
}

fn is_index(it: AffineRange) -> bool {
    INDEX_RANGE.0 <= it.0 && it.1 <= INDEX_RANGE.1
}

/// Returns the range of a number after a possible wrap-around.
fn wrapped(it: AffineRange) -> AffineRange {
    if is_index(it) { it } else { INDEX_RANGE }
}

/// A bound as a linear combination.
#[derive(Clone, Default)]
struct LinearBound {
    terms: SmallVec<[(Value, i128); 2]>,
    rest: AffineRange,
}

/// Operands of a loop with their ranges.
type OperandRanges = SmallVec<[(Value, AffineRange); 4]>;

/// Operands of a map, dimensions first.
struct MapOperands<'a> {
    n_dims: usize,
    values: SmallVec<[Option<Value>; 4]>,
    known: &'a OperandRanges,
}

impl MapOperands<'_> {
    /// Returns the linear combination that an expression computes.
    fn linear_bound(&self, expr: &AffineExpr) -> Option<LinearBound> {
        let mut out = LinearBound::default();
        self.add(expr, 1, &mut out)?;
        Some(out)
    }

    fn add(&self, expr: &AffineExpr, factor: i128, out: &mut LinearBound) -> Option<()> {
        match expr {
            AffineExpr::Const(number) => {
                out.add_range((i128::from(*number), i128::from(*number)), factor)
            }
            AffineExpr::Dim(at) => out.add_term(*self.values.get(*at as usize)?, factor),
            AffineExpr::Symbol(at) => {
                out.add_term(*self.values.get(self.n_dims + *at as usize)?, factor)
            }
            AffineExpr::Binary(op, both) => match (op, &both.0, &both.1) {
                (AffineOperator::Add, a, b) => {
                    self.add(a, factor, out)?;
                    self.add(b, factor, out)
                }
                (AffineOperator::Mul, it, &AffineExpr::Const(by))
                | (AffineOperator::Mul, &AffineExpr::Const(by), it) => {
                    self.add(it, factor.checked_mul(by.into())?, out)
                }
                (AffineOperator::Mul, ..) => None,
                (_, it, &AffineExpr::Const(by)) if by > 0 => {
                    let by = i128::from(by);
                    let (lo, hi) = wrapped(self.linear_bound(it)?.range(self.known)?);
                    let of = match op {
                        AffineOperator::FloorDiv => (lo.div_euclid(by), hi.div_euclid(by)),
                        AffineOperator::CeilDiv => (-(-lo).div_euclid(by), -(-hi).div_euclid(by)),
                        _ if lo.div_euclid(by) == hi.div_euclid(by) => {
                            (lo.rem_euclid(by), hi.rem_euclid(by))
                        }
                        _ => (0, by - 1),
                    };
                    out.add_range(of, factor)
                }
                _ => None,
            },
        }
    }
}

impl LinearBound {
    fn add_range(&mut self, by: AffineRange, factor: i128) -> Option<()> {
        self.rest = plus(self.rest, times(by, factor)?)?;
        Some(())
    }

    fn add_term(&mut self, value: Option<Value>, factor: i128) -> Option<()> {
        let value = value?;
        match self.terms.iter_mut().find(|it| it.0 == value) {
            Some(it) => it.1 = it.1.checked_add(factor)?,
            None => self.terms.push((value, factor)),
        }
        Some(())
    }

    fn minus(&self, other: &LinearBound) -> Option<LinearBound> {
        let mut out = self.clone();
        out.add_range(other.rest, -1)?;
        for &(value, factor) in &other.terms {
            out.add_term(Some(value), factor.checked_neg()?)?;
        }
        Some(out)
    }

    /// Returns the range of a bound before any wrap-around.
    fn range(&self, known: &OperandRanges) -> Option<AffineRange> {
        self.terms.iter().try_fold(self.rest, |sum, &(value, factor)| {
            let of = known.iter().find(|it| it.0 == value && factor != 0);
            plus(sum, of.map_or(Some((0, 0)), |it| times(it.1, factor))?)
        })
    }
}

/// The bounds of an `affine.for`: its lower bound is the greatest of `lower`, its upper bound the
/// least of `upper`.
pub(super) struct AffineForBounds {
    lower: SmallVec<[LinearBound; 1]>,
    upper: SmallVec<[LinearBound; 1]>,
    step: i128,
    known: OperandRanges,
}

impl AffineForBounds {
    /// Returns the bounds of a loop, from the ranges of its operands.
    pub(super) fn of(
        ir: &impl ProgramView,
        op: Op,
        operand: &dyn Fn(usize) -> Option<AffineRange>,
    ) -> Option<Self> {
        let step = ir.interner().int_value(ir.attr(op, "step")?).filter(|it| *it > 0)?;
        let values = ir.op(op).operands.iter().map(|it| it.value);
        let values: SmallVec<[Option<Value>; 4]> = values.collect();
        let range =
            |(at, it): (usize, &Option<Value>)| Some(((*it)?, operand(at).unwrap_or(INDEX_RANGE)));
        let known: OperandRanges = values.iter().enumerate().filter_map(range).collect();
        let sums = |name: &str, first: usize| {
            let map = ir.interner().affine(ir.attr(op, name)?)?;
            let AffineBody::Map(results) = &map.body else { return None };
            let values = values.iter().skip(first).take(map.n_inputs()).copied().collect();
            let inputs = MapOperands { n_dims: map.n_dims as usize, values, known: &known };
            let sums = results.iter().map(|it| inputs.linear_bound(it));
            let sums = sums.collect::<Option<SmallVec<[LinearBound; 1]>>>()?;
            (!sums.is_empty()).then_some((sums, map.n_inputs()))
        };
        let (lower, n) = sums("lowerBoundMap", 0)?;
        let (upper, _) = sums("upperBoundMap", n)?;
        Some(Self { lower, upper, step, known })
    }

    /// Returns the ranges of the lower bound, the upper bound and the step; `None` if a bound is
    /// unknown.
    pub(super) fn ranges(&self) -> Option<[AffineRange; 3]> {
        let of = |sum: &LinearBound| sum.range(&self.known).map_or(INDEX_RANGE, wrapped);
        let lower = self.lower.iter().map(of).reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)))?;
        let upper = self.upper.iter().map(of).reduce(|a, b| (a.0.min(b.0), a.1.min(b.1)))?;
        let is_known = lower != INDEX_RANGE && upper != INDEX_RANGE;
        is_known.then_some([lower, upper, (self.step, self.step)])
    }

    /// Returns the trip count, computed from the least difference of an upper and a lower bound.
    pub(super) fn trips(&self) -> Option<TripCount> {
        let rounds = |it: i128| {
            let n = it.checked_add(self.step - 1)?.div_euclid(self.step).max(0);
            u64::try_from(n).ok()
        };
        let mut out = TripCount { least: u64::MAX, most: None };
        for lower in &self.lower {
            if !lower.range(&self.known).is_some_and(is_index) {
                return None;
            }
            for upper in &self.upper {
                let (least, most) = match (upper.range(&self.known), upper.minus(lower)) {
                    (Some(it), Some(n))
                        if INDEX_RANGE.0 <= it.0 && it.1 <= i128::from(u64::MAX) =>
                    {
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
    fn trips(bounds: &str, ranges: [AffineRange; 2]) -> TripCount {
        let text = format!(
            "func.func @f(%a: index, %b: index) {{\n  affine.for %i = {bounds} {{\n  }}\n  return\n}}\n"
        );
        let source = Source::new(&text);
        assert!(source.problems().is_empty(), "{text}: {:?}", source.problems());
        let ir = source.ir();
        let function = ir.functions()[0];
        let args = &ir.block(flow::entry_block(ir, ir.op(function).regions[0].1)).args;
        let mut found = TripCount::ANY;
        ir.walk(ir.root(), &mut |op| {
            if ir.op(op).kind == OpKind::AffineFor {
                let operand = |at: usize| {
                    let value = ir.op(op).operands.get(at)?.value;
                    args.iter().position(|&it| Some(it) == value).map(|it| ranges[it])
                };
                found = flow::trip_count(ir, op, &operand);
            }
        });
        found
    }

    #[test]
    fn cancels_common_terms_of_bounds() {
        let any = [INDEX_RANGE, INDEX_RANGE];
        let between = |least, most| TripCount { least, most: Some(most) };
        let tile = "affine_map<(d0) -> (d0)>(%a) to affine_map<(d0) -> (d0 + 4)>(%a)";
        // The largest values of `%a` may wrap.
        assert_eq!(trips(tile, any), between(0, 4));
        assert_eq!(trips(tile, [(0, 100), INDEX_RANGE]), between(4, 4));
        let rest = "affine_map<(d0) -> (d0)>(%a) to min affine_map<(d0) -> (d0 + 4, 10)>(%a)";
        assert_eq!(trips(rest, [(0, 8), INDEX_RANGE]), between(2, 4));
        assert_eq!(trips(rest, any), between(0, 4));
        let step = "affine_map<(d0, d1) -> (d0 * 8 + d1)>(%a, %b) to affine_map<(d0, d1) -> (d1 + d0 * 8 + 7)>(%a, %b) step 2";
        assert_eq!(trips(step, [(0, 9), (-3, 3)]), between(4, 4));
        assert_eq!(trips(step, any), TripCount::ANY);
        assert_eq!(trips("0 to affine_map<()[s0] -> (s0 mod 4)>()[%a]", any), between(0, 3));
        let down = "affine_map<(d0) -> (d0)>(%a) to affine_map<(d0) -> (d0 - 4)>(%a)";
        // The least values of `%a` wrap to large bounds.
        assert_eq!(trips(down, any), TripCount::ANY);
        assert_eq!(trips(down, [(0, 100), INDEX_RANGE]), between(0, 0));
    }

    #[test]
    fn bounds_all_trip_counts() {
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
            found == TripCount { least, most: Some(most) }
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
