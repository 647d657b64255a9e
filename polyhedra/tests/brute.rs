//! Compares answers with an enumeration of all points of a box.

use noisy_polyhedra::{Budget, Conjunction, FormInterval, OutputCondition, Relation};
use proptest::prelude::*;

const BOX: i128 = 6;

/// The cost of an operation on numbers of any size, in operations on machine words (`number.rs`).
const LARGE: u64 = 40;

/// The number of variables, the rows (`true` for an equality), and a form.
type Case = (usize, Vec<(bool, Vec<i128>)>, Vec<i128>);

/// Generates constraints over a small box.
fn system() -> impl Strategy<Value = Case> {
    (1_usize..=4).prop_flat_map(|n| {
        let row = proptest::collection::vec(-7_i128..=7, n)
            .prop_flat_map(|it| (Just(it), -20_i128..=20))
            .prop_map(|(mut it, constant)| {
                it.push(constant);
                it
            });
        let rows = proptest::collection::vec((prop::bool::weighted(0.25), row.clone()), 0..5);
        (Just(n), rows, row)
    })
}

fn conjunction(n: usize, rows: &[(bool, Vec<i128>)], scale: i128) -> Conjunction {
    let mut out = Conjunction::new(n);
    for var in 0..n {
        for sign in [1, -1] {
            let mut row = vec![0; n + 1];
            (row[var], row[n]) = (sign, BOX);
            out.add_inequality(row);
        }
    }
    for (is_equality, row) in rows {
        let row = row.iter().map(|it| it * scale).collect();
        if *is_equality { out.add_equality(row) } else { out.add_inequality(row) }
    }
    out
}

fn points(n: usize) -> Vec<Vec<i128>> {
    let mut out = vec![Vec::new()];
    for _ in 0..n {
        let longer = out.iter().flat_map(|it: &Vec<i128>| {
            (-BOX..=BOX).map(move |x| it.iter().copied().chain([x]).collect())
        });
        out = longer.collect();
    }
    out
}

fn value(form: &[i128], point: &[i128]) -> i128 {
    form.iter().zip(point).map(|(a, x)| a * x).sum::<i128>() + form[point.len()]
}

fn range(values: impl Iterator<Item = i128>) -> Option<FormInterval> {
    values.fold(None, |out: Option<FormInterval>, it| {
        let one = FormInterval { least: Some(it), greatest: Some(it) };
        Some(out.map_or(one, |out| out.hull(one)))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(debug_assertions) { 100 } else { 500 }))]

    #[test]
    fn points_and_bounds_are_those_of_the_box((n, rows, form) in system()) {
        let set = conjunction(n, &rows, 1);
        let inside: Vec<_> = points(n).into_iter().filter(|it| set.contains(it)).collect();
        let mut budget = Budget::new(20_000_000);
        prop_assert_eq!(set.is_empty(&mut budget), Ok(inside.is_empty()));
        let expected = range(inside.iter().map(|it| value(&form, it)));
        prop_assert_eq!(set.bounds(form.clone(), &mut budget), Ok(expected));
    }

    /// Scaled coefficients near the limit of a machine word give the same answers.
    #[test]
    fn scaling_to_large_numbers_keeps_the_bounds((n, rows, form) in system(), scale in (1_i128 << 60)..(1_i128 << 62)) {
        let large = conjunction(n, &rows, scale);
        let small = conjunction(n, &rows, 1);
        let mut budget = Budget::new(20_000_000 * LARGE);
        let form: Vec<i128> = form.iter().map(|it| it * scale).collect();
        let inside = points(n).into_iter().filter(|it| small.contains(it));
        let expected = range(inside.map(|it| value(&form, &it)));
        prop_assert_eq!(large.bounds(form, &mut budget), Ok(expected));
    }

    /// A prepared relation gives the same answers as a system with the same rows.
    #[test]
    fn condition_on_output_equals_constraint((n, rows, form) in system(), k in -20_i128..20, kind in 0..3) {
        let set = conjunction(n, &rows, 1);
        let mut other = vec![0; n + 1];
        other[0] = 1;
        let relation = Relation::new(set.clone(), vec![form.clone(), other.clone()]);
        let (asked, keep): (_, fn(i128, i128) -> bool) = match kind {
            0 => (OutputCondition::Equals(0, k), |a, b| a == b),
            1 => (OutputCondition::AtLeast(0, k), |a, b| a >= b),
            _ => (OutputCondition::AtMost(0, k), |a, b| a <= b),
        };
        let mut budget = Budget::new(20_000_000);
        let inside: Vec<_> = points(n).into_iter().filter(|it| set.contains(it) && keep(value(&form, it), k)).collect();
        let expected = range(inside.iter().map(|it| value(&other, it)));
        prop_assert_eq!(relation.is_empty(&[asked], &mut budget), Ok(expected.is_none()));
        prop_assert_eq!(relation.bounds(&[asked], 1, &mut budget), Ok(expected));
    }

    #[test]
    fn quotients_are_rounded_down(x in -1000_i128..1000, by in 1_i128..50) {
        let mut set = Conjunction::new(1);
        set.add_equality(vec![1, -x]);
        let quotient = set.add_quotient(vec![1, 0], by);
        let mut form = vec![0; 3];
        form[quotient] = 1;
        let expected = FormInterval { least: Some(x.div_euclid(by)), greatest: Some(x.div_euclid(by)) };
        prop_assert_eq!(set.bounds(form, &mut Budget::new(100_000)), Ok(Some(expected)));
    }
}

/// `x` is a multiple of 6 and of 4, and at least 25.
#[test]
fn bounds_may_be_missing() {
    let mut set = Conjunction::new(3);
    set.add_equality(vec![1, -6, 0, 0]);
    set.add_equality(vec![1, 0, -4, 0]);
    set.add_inequality(vec![1, 0, 0, -25]);
    let found = set.bounds(vec![1, 0, 0, 0], &mut Budget::new(100_000));
    assert_eq!(found, Ok(Some(FormInterval { least: Some(36), greatest: None })));
}

#[test]
fn reports_a_spent_budget() {
    let mut set = Conjunction::new(3);
    set.add_inequality(vec![27, -11, 13, -5]);
    set.add_inequality(vec![-27, 11, -13, 9]);
    assert_eq!(set.is_empty(&mut Budget::new(3)), Err(noisy_polyhedra::QueryFailure::Exhausted));
}
