//! Inference of the bounds of a result from the bounds of the operands. Each rule gives the bounds
//! of MLIR 19's `InferIntRangeCommon` or tighter ones. All arithmetic uses 128 bits, in which
//! 64-bit operations other than an unsigned product do not overflow.

use noisy_syntax::{AttrData, Op, OpKind, Value};
use smallvec::SmallVec;

use super::compare::{has_equal_operands, is_true_for_equal, predicate};
use super::fold;
use super::range::{self, Bounds, Range};
use noisy_dataflow::flow;
use noisy_dataflow::view::ProgramView;

/// Returns the bounds of a result. `None` if they are unknown, and for constants, which another
/// analysis computes.
pub(super) fn infer(
    ir: &impl ProgramView,
    op: Op,
    result: usize,
    operands: &[Range],
) -> Option<Bounds> {
    let data = ir.op(op);
    let width = range::width(ir, *data.results.get(result)?)?;
    let operand = |index: usize| {
        operands.get(index)?.bounds(range::type_width(ir, ir.operand_ty(op, index)?)?)
    };
    match data.kind {
        OpKind::ArithSelect => select(width, operands),
        OpKind::ArithCmpi => {
            compare(predicate(ir, op)?, operand(0)?, operand(1)?, has_equal_operands(ir, op))
                .map(|is| Bounds::one(1, -i64::from(is)))
        }
        OpKind::ArithExtsi | OpKind::ArithIndexCast => {
            let a = operand(0)?;
            Some(if a.width <= width {
                Bounds::signed(width, a.smin, a.smax)
            } else {
                truncated(a, width)
            })
        }
        OpKind::ArithExtui | OpKind::ArithIndexCastui => {
            let a = operand(0)?;
            Some(if a.width <= width {
                Bounds::unsigned(width, a.umin, a.umax)
            } else {
                truncated(a, width)
            })
        }
        OpKind::ArithTrunci => Some(truncated(operand(0)?, width)),
        OpKind::AffineApply | OpKind::AffineMin | OpKind::AffineMax => {
            let single = |at| Some(i128::from(operand(at)?.single()?));
            Some(Bounds::one(width, fold::evaluate_affine(ir, op, &single)?))
        }
        OpKind::MemrefDim | OpKind::MemrefRank => Some(Bounds::signed(64, 0, i64::MAX)),
        kind => {
            let (a, b) = (operand(0)?, operand(1)?);
            if a.width != b.width {
                return None;
            }
            let second = result == 1 && data.results.len() == 2;
            if second { carry(kind, a, b) } else { binary(kind, a, b, flags(ir, op)) }
        }
    }
}

/// The overflow flags of an op: no signed wrap, no unsigned wrap.
#[derive(Clone, Copy, Debug, Default)]
struct OverflowFlags {
    nsw: bool,
    nuw: bool,
}

fn flags(ir: &impl ProgramView, op: Op) -> OverflowFlags {
    if ir.op(op).extra.is_none() {
        return OverflowFlags::default();
    }
    match ir.attr(op, "overflowFlags").map(|it| ir.interner().attr_data(it)) {
        Some(AttrData::Text(text, _)) => {
            let text = ir.interner().str(*text);
            OverflowFlags { nsw: text.contains("nsw"), nuw: text.contains("nuw") }
        }
        _ => OverflowFlags::default(),
    }
}

fn binary(kind: OpKind, a: Bounds, b: Bounds, flags: OverflowFlags) -> Option<Bounds> {
    let width = a.width;
    let [aul, auh, bul, buh] = [a.umin, a.umax, b.umin, b.umax].map(i128::from);
    let [asl, ash, bsl, bsh] = [a.smin, a.smax, b.smin, b.smax].map(i128::from);
    let both = |u: (i128, i128), s: (i128, i128)| {
        Some(unsigned(width, u, flags.nuw).intersected(signed(width, s, flags.nsw)))
    };
    match kind {
        OpKind::ArithAddi | OpKind::ArithAdduiExtended => {
            both((aul + bul, auh + buh), (asl + bsl, ash + bsh))
        }
        OpKind::ArithSubi | OpKind::ArithSubuiExtended => {
            both((aul - buh, auh - bul), (asl - bsh, ash - bsl))
        }
        OpKind::ArithMuli | OpKind::ArithMulsiExtended | OpKind::ArithMuluiExtended => {
            let s = extremes(&[asl, ash], &[bsl, bsh], |x, y| Some(x * y))?;
            match (aul.checked_mul(bul), auh.checked_mul(buh)) {
                (Some(low), Some(high)) => both((low, high), s),
                _ => Some(signed(width, s, flags.nsw)),
            }
        }
        OpKind::ArithShli => {
            let amounts = shifts(b)?;
            let by = |x: i128, y: i128| x.checked_mul(1 << y);
            let s = extremes(&[asl, ash], &amounts, by);
            let u = extremes(&[aul, auh], &amounts, by);
            match (u, s) {
                (Some(u), Some(s)) => both(u, s),
                _ => None,
            }
        }
        OpKind::ArithShrui => {
            let it = extremes(&[aul, auh], &shifts(b)?, |x, y| Some(x >> y))?;
            Some(unsigned(width, it, false))
        }
        OpKind::ArithShrsi => {
            let it = extremes(&[asl, ash], &shifts(b)?, |x, y| Some(x >> y))?;
            Some(signed(width, it, false))
        }
        OpKind::ArithDivui | OpKind::ArithCeildivui => {
            let up = kind == OpKind::ArithCeildivui;
            let div = |x: i128, y: i128| (x + if up { y - 1 } else { 0 }) / y;
            let least = if buh == 0 { 0 } else { div(aul, buh) };
            Some(unsigned(width, (least, div(auh, bul.max(1))), false))
        }
        OpKind::ArithDivsi | OpKind::ArithFloordivsi | OpKind::ArithCeildivsi => {
            if bsl <= 0 && bsh >= 0 {
                return None;
            }
            let div = |x: i128, y: i128| {
                let rounds = x % y != 0;
                let is_negative = (x < 0) != (y < 0);
                let by = match kind {
                    OpKind::ArithFloordivsi => -i128::from(rounds && is_negative),
                    OpKind::ArithCeildivsi => i128::from(rounds && !is_negative),
                    _ => 0,
                };
                Some(x / y + by)
            };
            Some(signed(width, extremes(&[asl, ash], &[bsl, bsh], div)?, false))
        }
        OpKind::ArithRemui => Some(unsigned(width, remainder((aul, auh), (bul, buh))?, false)),
        OpKind::ArithRemsi => {
            if bsl <= 0 && bsh >= 0 {
                return None;
            }
            // The sign is the dividend's; the divisor's does not matter.
            let by = (bsl.abs().min(bsh.abs()), bsl.abs().max(bsh.abs()));
            let high = if ash > 0 { remainder((asl.max(0), ash), by)? } else { (0, 0) };
            let low = if asl < 0 { remainder(((-ash).max(0), -asl), by)? } else { (0, 0) };
            let it = match (asl >= 0, ash <= 0) {
                (true, _) => high,
                (_, true) => (-low.1, -low.0),
                _ => (-low.1, high.1),
            };
            Some(signed(width, it, false))
        }
        OpKind::ArithAndi | OpKind::ArithOri | OpKind::ArithXori => Some(bits(kind, a, b)),
        OpKind::ArithMaxsi => {
            let it = Bounds::signed(width, a.smin.max(b.smin), a.smax.max(b.smax));
            Some(it.intersected(a.joined(b)))
        }
        OpKind::ArithMinsi => {
            let it = Bounds::signed(width, a.smin.min(b.smin), a.smax.min(b.smax));
            Some(it.intersected(a.joined(b)))
        }
        OpKind::ArithMaxui => {
            let it = Bounds::unsigned(width, a.umin.max(b.umin), a.umax.max(b.umax));
            Some(it.intersected(a.joined(b)))
        }
        OpKind::ArithMinui => {
            let it = Bounds::unsigned(width, a.umin.min(b.umin), a.umax.min(b.umax));
            Some(it.intersected(a.joined(b)))
        }
        _ => None,
    }
}

/// Returns the bounds of the second result of an extended operation, if it is a known carry bit.
fn carry(kind: OpKind, a: Bounds, b: Bounds) -> Option<Bounds> {
    let most = Bounds::full(a.width).umax;
    let (least, greatest) = match kind {
        OpKind::ArithAdduiExtended => (
            u128::from(a.umin) + u128::from(b.umin) > u128::from(most),
            u128::from(a.umax) + u128::from(b.umax) > u128::from(most),
        ),
        OpKind::ArithSubuiExtended => (a.umax < b.umin, a.umin < b.umax),
        _ => return None,
    };
    (least == greatest).then(|| Bounds::one(1, -i64::from(least)))
}

/// Returns the bounds of unsigned numbers from `low` to `high`, which wrap at `width` bits. If
/// `is_wrap_free`, they do not wrap, and are clamped to the bounds of the type.
fn unsigned(width: u32, (low, high): (i128, i128), is_wrap_free: bool) -> Bounds {
    let size = 1_i128 << width;
    let (low, high) = if is_wrap_free {
        (low.clamp(0, size - 1), high.clamp(0, size - 1))
    } else if low.div_euclid(size) == high.div_euclid(size) {
        (low.rem_euclid(size), high.rem_euclid(size))
    } else {
        (0, size - 1)
    };
    Bounds::unsigned(width, low as u64, high as u64)
}

/// Like [`unsigned`], for signed numbers.
fn signed(width: u32, (low, high): (i128, i128), is_wrap_free: bool) -> Bounds {
    let (size, half) = (1_i128 << width, 1_i128 << (width - 1));
    let (low, high) = if is_wrap_free {
        (low.clamp(-half, half - 1), high.clamp(-half, half - 1))
    } else if (low + half).div_euclid(size) == (high + half).div_euclid(size) {
        ((low + half).rem_euclid(size) - half, (high + half).rem_euclid(size) - half)
    } else {
        (-half, half - 1)
    };
    Bounds::signed(width, low as i64, high as i64)
}

/// Returns the least and the greatest result of a function at the corners of a rectangle. `None` if
/// it has no result at a corner.
fn extremes(
    a: &[i128],
    b: &[i128],
    of: impl Fn(i128, i128) -> Option<i128>,
) -> Option<(i128, i128)> {
    let mut all: SmallVec<[i128; 4]> = SmallVec::new();
    for &x in a {
        for &y in b {
            all.push(of(x, y)?);
        }
    }
    Some((*all.iter().min()?, *all.iter().max()?))
}

/// Returns the least and the greatest amount of a shift, if all amounts are less than the width.
fn shifts(by: Bounds) -> Option<[i128; 2]> {
    (by.umax < u64::from(by.width)).then(|| [i128::from(by.umin), i128::from(by.umax)])
}

/// Returns the bounds of the remainder of a division. Neither the dividend nor the divisor is
/// negative.
fn remainder(of: (i128, i128), by: (i128, i128)) -> Option<(i128, i128)> {
    if by.0 == 0 {
        // The remainder is less than the divisor, if that is not zero, and at most the dividend.
        return Some((0, if by.1 == 0 { of.1 } else { of.1.min(by.1 - 1) }));
    }
    if of.1 < by.0 {
        return Some(of);
    }
    if by.0 == by.1 && of.0 / by.0 == of.1 / by.0 {
        return Some((of.0 % by.0, of.1 % by.0));
    }
    Some((0, of.1.min(by.1 - 1)))
}

/// Returns the bounds of a bitwise operation, from the known bits of its operands. The bits above
/// the first bit in which the bounds differ are known.
fn bits(kind: OpKind, a: Bounds, b: Bounds) -> Bounds {
    let full = Bounds::full(a.width).umax;
    // The mask of known zeros, and the mask of known ones.
    let known = |it: Bounds| {
        let differ = it.umin ^ it.umax;
        let unknown = if differ == 0 { 0 } else { u64::MAX >> differ.leading_zeros() };
        (!it.umax & !unknown & full, it.umin & !unknown)
    };
    let ((a0, a1), (b0, b1)) = (known(a), known(b));
    let (zeros, ones) = match kind {
        OpKind::ArithAndi => (a0 | b0, a1 & b1),
        OpKind::ArithOri => (a0 & b0, a1 | b1),
        _ => ((a0 & b0) | (a1 & b1), (a0 & b1) | (a1 & b0)),
    };
    let (mut low, mut high) = (ones, !zeros & full);
    match kind {
        OpKind::ArithAndi => high = high.min(a.umax).min(b.umax),
        OpKind::ArithOri => low = low.max(a.umin).max(b.umin),
        _ => {}
    }
    Bounds::unsigned(a.width, low, high)
}

/// Returns the bounds of the low bits of a number.
fn truncated(a: Bounds, width: u32) -> Bounds {
    let u = unsigned(width, (i128::from(a.umin), i128::from(a.umax)), false);
    let s = signed(width, (i128::from(a.smin), i128::from(a.smax)), false);
    u.intersected(s)
}

fn select(width: u32, operands: &[Range]) -> Option<Bounds> {
    let &[condition, a, b] = operands else { return None };
    match condition.single() {
        Some(0) => b.bounds(width),
        Some(_) => a.bounds(width),
        None => Some(a.bounds(width)?.joined(b.bounds(width)?)),
    }
}

/// Returns the result of `arith.cmpi`, if it is the same for all numbers within the bounds.
fn compare(predicate: i128, a: Bounds, b: Bounds, is_same: bool) -> Option<bool> {
    if is_same {
        return Some(is_true_for_equal(predicate));
    }
    let less = |a: (i128, i128), b: (i128, i128)| {
        if a.1 < b.0 {
            Some(true)
        } else if a.0 >= b.1 {
            Some(false)
        } else {
            None
        }
    };
    let s = |it: Bounds| (i128::from(it.smin), i128::from(it.smax));
    let u = |it: Bounds| (i128::from(it.umin), i128::from(it.umax));
    match predicate {
        0 | 1 => {
            let is_apart = a.smax < b.smin || b.smax < a.smin || a.umax < b.umin || b.umax < a.umin;
            let equal = if is_apart {
                Some(false)
            } else {
                (a.single().is_some() && a.single() == b.single()).then_some(true)
            };
            equal.map(|it| it == (predicate == 0))
        }
        2 => less(s(a), s(b)),
        3 => less(s(b), s(a)).map(|it| !it),
        4 => less(s(b), s(a)),
        5 => less(s(a), s(b)).map(|it| !it),
        6 => less(u(a), u(b)),
        7 => less(u(b), u(a)).map(|it| !it),
        8 => less(u(b), u(a)),
        9 => less(u(a), u(b)).map(|it| !it),
        _ => None,
    }
}

/// Returns the bounds of the argument with number `index` of a loop's region, if it is an induction
/// variable.
pub(super) fn induction_bounds(
    ir: &impl ProgramView,
    op: Op,
    index: usize,
    argument: Value,
    operand: &dyn Fn(usize) -> Option<(i128, i128)>,
) -> Option<Bounds> {
    let data = ir.op(op);
    let width = range::width(ir, argument)?;
    let (lower, upper, step) = match data.kind {
        OpKind::ScfFor | OpKind::AffineFor if index == 0 => {
            let [lower, upper, step] = flow::loop_bounds(ir, op, operand)?;
            (lower, upper, step)
        }
        OpKind::ScfParallel => {
            let n_own = data.operands.len().checked_sub(data.results.len())?;
            // If an operand is missing, bounds and steps cannot be told apart.
            let n = (n_own % 3 == 0 && index < n_own / 3).then_some(n_own / 3)?;
            (operand(index)?, operand(n + index)?, operand(2 * n + index)?)
        }
        _ => return None,
    };
    let mut last = upper.1 - 1;
    if lower.0 == lower.1 && step.0 == step.1 && step.0 > 0 && last >= lower.0 {
        last = lower.0 + (last - lower.0) / step.0 * step.0;
    }
    if step.1 < 0 || last < lower.0 {
        return None;
    }
    let full = Bounds::full(width);
    let clamp = |it: i128| it.clamp(i128::from(full.smin), i128::from(full.smax)) as i64;
    Some(Bounds::signed(width, clamp(lower.0), clamp(last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [OpKind; 20] = [
        OpKind::ArithAddi,
        OpKind::ArithSubi,
        OpKind::ArithMuli,
        OpKind::ArithShli,
        OpKind::ArithShrsi,
        OpKind::ArithShrui,
        OpKind::ArithDivsi,
        OpKind::ArithDivui,
        OpKind::ArithCeildivsi,
        OpKind::ArithCeildivui,
        OpKind::ArithFloordivsi,
        OpKind::ArithRemsi,
        OpKind::ArithRemui,
        OpKind::ArithAndi,
        OpKind::ArithOri,
        OpKind::ArithXori,
        OpKind::ArithMaxsi,
        OpKind::ArithMinsi,
        OpKind::ArithMaxui,
        OpKind::ArithMinui,
    ];

    /// Returns all bounds of 3-bit integers that a signed range or an unsigned range determines.
    fn sample() -> Vec<Bounds> {
        let mut out = Vec::new();
        for low in -4_i64..4 {
            for high in low..4 {
                out.push(Bounds::signed(3, low, high));
            }
        }
        for low in 0..8 {
            for high in low..8 {
                let it = Bounds::unsigned(3, low, high);
                if !out.contains(&it) {
                    out.push(it);
                }
            }
        }
        out
    }

    fn members(it: Bounds) -> Vec<i64> {
        (it.smin..=it.smax)
            .filter(|&x| {
                let bits = x.cast_unsigned() & 7;
                it.umin <= bits && bits <= it.umax
            })
            .collect()
    }

    fn holds(it: Bounds, x: i64) -> bool {
        let bits = x.cast_unsigned() & Bounds::full(it.width).umax;
        it.smin <= x && x <= it.smax && it.umin <= bits && bits <= it.umax
    }

    #[test]
    fn results_lie_within_inferred_ranges() {
        for kind in KINDS {
            for a in sample() {
                for b in sample() {
                    let found =
                        binary(kind, a, b, OverflowFlags::default()).unwrap_or(Bounds::full(3));
                    for &x in &members(a) {
                        for &y in &members(b) {
                            let Some(it) = fold::fold_two(kind, i128::from(x), i128::from(y), 3)
                            else {
                                continue;
                            };
                            assert!(
                                holds(found, it as i64),
                                "{kind:?} {a} {b}: {x}, {y} give {it}, found {found}"
                            );
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn single_values_give_single_values() {
        for kind in KINDS {
            for x in -4..4_i64 {
                for y in -4..4_i64 {
                    let Some(it) = fold::fold_two(kind, i128::from(x), i128::from(y), 3) else {
                        continue;
                    };
                    let found = binary(
                        kind,
                        Bounds::one(3, x),
                        Bounds::one(3, y),
                        OverflowFlags::default(),
                    );
                    assert_eq!(found, Some(Bounds::one(3, it as i64)), "{kind:?} {x} {y}");
                }
            }
        }
    }

    #[test]
    fn shift_that_may_reach_the_width_is_unknown() {
        for kind in [OpKind::ArithShli, OpKind::ArithShrsi, OpKind::ArithShrui] {
            let by = |most: u64| {
                let by = Bounds::unsigned(3, 1, most);
                binary(kind, Bounds::one(3, 2), by, OverflowFlags::default())
            };
            assert!(by(2).is_some_and(|it| it != Bounds::full(3)), "{kind:?}");
            assert!(by(3).is_none_or(|it| it == Bounds::full(3)), "{kind:?}: {:?}", by(3));
        }
    }

    #[test]
    fn inference_is_monotone() {
        let sample = sample();
        for kind in KINDS {
            for &a in &sample {
                for &wider in &sample {
                    // A division by zero has no result, so the bounds for a divisor of exactly zero
                    // are wider.
                    let is_zero = |it: Bounds| it.single() == Some(0);
                    if a.joined(wider) != wider || (is_zero(a) && !is_zero(wider)) {
                        continue;
                    }
                    for &b in &sample {
                        if is_zero(b) {
                            continue;
                        }
                        for (low, high) in [
                            (
                                binary(kind, a, b, OverflowFlags::default()),
                                binary(kind, wider, b, OverflowFlags::default()),
                            ),
                            (
                                binary(kind, b, a, OverflowFlags::default()),
                                binary(kind, b, wider, OverflowFlags::default()),
                            ),
                        ] {
                            let (low, high) =
                                (low.unwrap_or(Bounds::full(3)), high.unwrap_or(Bounds::full(3)));
                            assert_eq!(low.joined(high), high, "{kind:?} {a} in {wider}, {b}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn comparisons_hold_for_all_members() {
        let mut n_undecided = 0;
        for predicate in 0..10 {
            for a in sample() {
                for b in sample() {
                    let found = compare(predicate, a, b, false);
                    let mut seen = [false; 2];
                    for &x in &members(a) {
                        for &y in &members(b) {
                            let is = super::super::compare::holds_cmpi(
                                predicate,
                                i128::from(x),
                                i128::from(y),
                                3,
                            );
                            seen[usize::from(is == Some(true))] = true;
                        }
                    }
                    match found {
                        Some(is) => assert!(!seen[usize::from(!is)], "{predicate} {a} {b}"),
                        // All members agree, but the comparison is undecided: an imprecision.
                        None => n_undecided += usize::from(seen[0] != seen[1]),
                    }
                }
            }
        }
        // These 144 cases need the signed and the unsigned bounds together.
        assert!(n_undecided <= 144, "{n_undecided}");
    }
}
