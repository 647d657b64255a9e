//! Control flow derived from ranges of integers: the taken branches and regions, and trip counts.

use noisy_syntax::{AttrData, Form, Ir, Op, OpKind};

use super::Flow;
use super::affine::AffineForBounds;
use super::trips::TripCount;
use crate::view::ProgramView;

/// The range of an integer, read as a signed number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interval {
    /// No value: the integer is never computed.
    Empty,
    /// Numbers between two bounds, both included.
    Bounded {
        /// The least number.
        lo: i128,
        /// The greatest number.
        hi: i128,
    },
    /// The range is unknown, or the value is not an integer.
    Unknown,
}

impl Interval {
    /// Returns the bounds of a range; `None` if it is empty or unknown.
    pub fn bounds(self) -> Option<(i128, i128)> {
        match self {
            Interval::Bounded { lo, hi } => Some((lo, hi)),
            Interval::Empty | Interval::Unknown => None,
        }
    }
}

/// Returns true if control may leave an op through successor or region number `index`. For
/// `scf.condition`, index 0 leaves the loop and index 1 enters the next iteration.
/// `controlling_range` is the range of the controlling operand ([`super::controlling_operand`]).
pub fn may_take(ir: &Ir, op: Op, index: usize, controlling_range: Interval) -> bool {
    let (lo, hi) = match controlling_range {
        Interval::Empty => return false,
        Interval::Unknown => return true,
        Interval::Bounded { lo, hi } if lo == hi => return takes_successor(ir, op, index, lo),
        Interval::Bounded { lo, hi } => (lo, hi),
    };
    let name = match ir.op(op).kind {
        OpKind::CfSwitch => "case_values",
        OpKind::ScfIndexSwitch => "cases",
        _ => return true,
    };
    let Some(at) = case_position(ir, op, index).checked_sub(1) else { return true };
    case_value(ir, op, name, at).is_none_or(|it| (lo..=hi).contains(&it))
}

/// Returns true if an op takes the successor or region number `index`, as in [`may_take`], for a
/// sign-extended value of its [`super::controlling_operand`].
fn takes_successor(ir: &Ir, op: Op, index: usize, decider: i128) -> bool {
    match ir.op(op).kind {
        OpKind::CfCondBr | OpKind::ScfIf => (decider != 0) == (index == 0),
        OpKind::ScfCondition => (decider != 0) == (index == 1),
        OpKind::CfSwitch => {
            let cases =
                ir.attr(op, "case_values").and_then(|it| ir.interner.sign_extended_elements(it));
            cases.is_none_or(|cases| match index.checked_sub(1) {
                None => !cases.contains(&decider),
                // Callers test all cases one by one, so only the cases before a matching one are
                // searched.
                Some(at) => cases.get(at) == Some(&decider) && !cases[..at].contains(&decider),
            })
        }
        OpKind::ScfIndexSwitch => {
            let Some(at) = case_position(ir, op, index).checked_sub(1) else {
                return case_values(ir, op, "cases").is_none_or(|it| !it.contains(&decider));
            };
            case_value(ir, op, "cases", at).is_none_or(|it| it == decider)
                && case_values_before(ir, op, at).all(|it| it != decider)
        }
        _ => true,
    }
}

/// Returns the position of successor or region number `index` of a switch in the order of the
/// generic form: 0 for the default, then the cases. Regions are numbered as they are written, and
/// the custom form of `scf.index_switch` writes the default last.
pub fn case_position(ir: &Ir, op: Op, index: usize) -> usize {
    let data = ir.op(op);
    if data.kind != OpKind::ScfIndexSwitch || data.form == Form::Generic {
        return index;
    }
    if index + 1 == data.regions.len() { 0 } else { index + 1 }
}

/// Returns the value of one case of a switch, sign-extended.
fn case_value(ir: &Ir, op: Op, name: &str, at: usize) -> Option<i128> {
    let attr = ir.attr(op, name)?;
    match ir.interner.attr_data(attr) {
        AttrData::DenseArray { values, .. } => ir.interner.int_value(*values.get(at)?),
        _ => ir.interner.sign_extended_elements(attr)?.get(at).copied(),
    }
}

/// Returns the values of the cases of an `scf.index_switch` before the case at `at`.
fn case_values_before(ir: &Ir, op: Op, at: usize) -> impl Iterator<Item = i128> {
    (0..at).map_while(move |it| case_value(ir, op, "cases", it))
}

/// Returns the values of the cases of a switch, sign-extended.
pub fn case_values(ir: &Ir, op: Op, name: &str) -> Option<Vec<i128>> {
    let attr = ir.attr(op, name)?;
    match ir.interner.attr_data(attr) {
        AttrData::DenseArray { values, .. } => {
            values.iter().map(|&it| ir.interner.int_value(it)).collect()
        }
        _ => ir.interner.sign_extended_elements(attr).map(<[i128]>::to_vec),
    }
}

/// Returns the trip count of a [`Flow::For`] or [`Flow::Parallel`]. `operand` returns the least and
/// the greatest value of an operand if they are known.
pub fn trip_count(ir: &Ir, op: Op, operand: &dyn Fn(usize) -> Option<(i128, i128)>) -> TripCount {
    match Flow::of(ir, op) {
        Flow::Parallel { first } => {
            let n = first / 3;
            (0..n).fold(TripCount::exactly(1), |all, at| {
                let dimension = [operand(at), operand(n + at), operand(2 * n + at)];
                let it = match dimension {
                    [Some(lower), Some(upper), Some(step)] => trip_count_from([lower, upper, step]),
                    _ => TripCount::ANY,
                };
                let most = match (all.most, it.most) {
                    (Some(0), _) | (_, Some(0)) => Some(0),
                    (Some(a), Some(b)) => a.checked_mul(b),
                    _ => None,
                };
                TripCount { least: all.least.saturating_mul(it.least), most }
            })
        }
        _ if ir.op(op).kind == OpKind::AffineFor => {
            let bounds = AffineForBounds::of(ir, op, operand);
            bounds.and_then(|it| it.trips()).unwrap_or(TripCount::ANY)
        }
        _ => loop_bounds(ir, op, operand).map_or(TripCount::ANY, trip_count_from),
    }
}

/// Returns the trip count of a loop from the ranges of its lower bound, upper bound and step.
fn trip_count_from([lower, upper, step]: [(i128, i128); 3]) -> TripCount {
    if step.0 <= 0 {
        return TripCount::ANY;
    }
    let rounds = |from: i128, to: i128, step: i128| {
        let n = if to > from { (to - from + step - 1) / step } else { 0 };
        u64::try_from(n).unwrap_or(u64::MAX)
    };
    let most = rounds(lower.0, upper.1, step.0);
    TripCount { least: rounds(lower.1, upper.0, step.1), most: (most < u64::MAX).then_some(most) }
}

/// Returns the least and the greatest values of the lower bound, the upper bound and the step of a
/// [`Flow::For`].
pub fn loop_bounds(
    ir: &impl ProgramView,
    op: Op,
    operand: &dyn Fn(usize) -> Option<(i128, i128)>,
) -> Option<[(i128, i128); 3]> {
    match ir.op(op).kind {
        OpKind::ScfFor => {
            let [lower, upper, step] = [operand(0)?, operand(1)?, operand(2)?];
            // Unsigned and signed comparisons agree if no number is negative.
            let differs = ir.attr(op, "unsignedCmp").is_some() && (lower.0 < 0 || upper.0 < 0);
            (!differs).then_some([lower, upper, step])
        }
        OpKind::AffineFor => AffineForBounds::of(ir, op, operand)?.ranges(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use noisy_syntax::Source;

    /// Returns the first op of a kind.
    fn find(ir: &Ir, kind: OpKind) -> Op {
        let mut found = None;
        ir.walk(ir.root(), &mut |op| {
            found = found.or((ir.op(op).kind == kind).then_some(op));
        });
        found.expect("it is there")
    }

    /// Returns the successors or regions that may be taken if the controlling operand is in a
    /// range.
    fn ways(text: &str, kind: OpKind, n: usize, lo: i128, hi: i128) -> Vec<usize> {
        let source = Source::new(text);
        assert!(source.problems().is_empty(), "{text}: {:?}", source.problems());
        let ir = source.ir();
        let op = find(ir, kind);
        (0..n).filter(|&it| may_take(ir, op, it, Interval::Bounded { lo, hi })).collect()
    }

    #[test]
    fn counts_trips_from_bounds_and_steps() {
        let count = |lower: i128, upper: i128, step: i128| {
            let (mut n, mut at) = (0, lower);
            while at < upper {
                (n, at) = (n + 1, at + step);
            }
            n
        };
        let intervals = |from: i128, to: i128| {
            (from..=to).flat_map(move |lo| (lo..=to).map(move |hi| (lo, hi)))
        };
        for lower in intervals(-2, 2) {
            for upper in intervals(-2, 4) {
                for step in intervals(1, 4) {
                    let all = (lower.0..=lower.1).flat_map(|a| {
                        (upper.0..=upper.1)
                            .flat_map(move |b| (step.0..=step.1).map(move |it| count(a, b, it)))
                    });
                    let all: Vec<u64> = all.collect();
                    let trips = trip_count_from([lower, upper, step]);
                    let found = (Some(trips.least), trips.most);
                    let wanted = (all.iter().min().copied(), all.iter().max().copied());
                    assert_eq!(found, wanted, "{lower:?} {upper:?} {step:?}");
                }
            }
        }
    }

    #[test]
    fn rejects_negative_unsigned_bounds() {
        let text = "func.func @f(%a: i32) {\n  \"scf.for\"(%a, %a, %a) ({\n  ^bb0(%i: i32):\n    scf.yield\n  }) {unsignedCmp} : (i32, i32, i32) -> ()\n  return\n}\n";
        let source = Source::new(text);
        let op = find(source.ir(), OpKind::ScfFor);
        for (lower, upper, is_known) in [(0, 5, true), (-1, 5, false), (0, -1, false)] {
            let operands = [(lower, lower), (upper, upper), (1, 1)];
            let found = loop_bounds(source.ir(), op, &|at| operands.get(at).copied());
            assert_eq!(found.is_some(), is_known, "{lower} {upper}");
        }
    }

    #[test]
    fn finds_the_region_of_a_case_in_both_forms() {
        let custom = "func.func @f(%i: index) {\n  scf.index_switch %i\n  case 2 {\n    scf.yield\n  }\n  case 5 {\n    scf.yield\n  }\n  default {\n    scf.yield\n  }\n  return\n}\n";
        let region = "{\n    scf.yield\n  }";
        let generic = format!(
            "func.func @f(%i: index) {{\n  \"scf.index_switch\"(%i) <{{cases = array<i64: 2, 5>}}> ({region}, {region}, {region}) : (index) -> ()\n  return\n}}\n"
        );
        let of = |text: &str, lo, hi| ways(text, OpKind::ScfIndexSwitch, 3, lo, hi);
        // Regions are in the order of the text: the custom form has the default last.
        assert_eq!([of(custom, 2, 2), of(custom, 5, 5), of(custom, 7, 7)], [[0], [1], [2]]);
        assert_eq!([of(&generic, 2, 2), of(&generic, 5, 5), of(&generic, 7, 7)], [[1], [2], [0]]);
        assert_eq!(
            [of(custom, 3, 5), of(custom, 3, 4), of(custom, 2, 4)].map(|it| it.len()),
            [2, 1, 2]
        );
    }

    #[test]
    fn takes_the_first_of_equal_cases() {
        let text = "func.func @f(%x: i32) {\n  cf.switch %x : i32, [\n    default: ^d,\n    3: ^e,\n    3: ^d,\n    7: ^d\n  ]\n^d:\n  return\n^e:\n  return\n}\n";
        let of = |lo, hi| ways(text, OpKind::CfSwitch, 4, lo, hi);
        assert_eq!([of(3, 3), of(7, 7), of(4, 4)], [[1], [3], [0]]);
        assert_eq!(of(4, 7), [0, 3]);
        assert_eq!(of(4, 6), [0]);
    }

    #[test]
    fn passes_segments_to_successors_of_a_generic_switch() {
        let text = "func.func @f(%x: i32, %a: i8) {
  \"cf.switch\"(%x, %a, %a, %a, %a)[^d, ^e, ^g] <{case_operand_segments = array<i32: 2, 1>, case_values = dense<[3, 7]> : tensor<2xi32>, operandSegmentSizes = array<i32: 1, 1, 3>}> : (i32, i8, i8, i8, i8) -> ()
^d(%p: i8):
  return
^e(%q: i8, %r: i8):
  return
^g(%s: i8):
  return
}
";
        let source = Source::new(text);
        assert!(source.problems().is_empty(), "{:?}", source.problems());
        let ir = source.ir();
        let op = find(ir, OpKind::CfSwitch);
        let passed = [0, 1, 2].map(|it| crate::flow::successor_operands(ir, op, it));
        assert_eq!(passed, [Some(1..2), Some(2..4), Some(4..5)]);
    }
}
