//! Polynomials in shared values, and transformations of them into forms with few operations and
//! little noise.
//!
//! *Expanding* computes the normal form, in which terms cancel. *Factoring* takes out the factor
//! that occurs in most terms. *Horner's scheme by blocks* handles several powers of a variable at a
//! time. *Doubling* computes `c + c x + .. + c x^(n-1)` with squares of `x`.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::search::dag::{DagNode, ExpressionDag, NodeId};

/// Maximum exponent of a factor.
const MAX_EXPONENT: u32 = 4096;

/// Factors with exponents, sorted by factor.
pub(crate) type Monomial = SmallVec<[(NodeId, u32); 4]>;

/// Monomials with nonzero coefficients.
pub(crate) type Polynomial = BTreeMap<Monomial, u64>;

/// With fewer terms than this, a factor is taken out of groups of four terms, because a balanced
/// sum of four products fits into the budget.
const MIN_TERMS_FOR_ALL: usize = 6;

/// The strategy for taking out common factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Factoring {
    /// No factors are taken out.
    None,
    /// Factors of few terms are taken out of groups of four.
    Groups,
    /// Factors are taken out of all terms.
    All,
}

/// A form of a polynomial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PolynomialForm {
    /// Sums and products after taking out factors.
    Factored(Factoring),
    /// Horner's scheme with blocks of this many powers of a variable.
    HornerBlocks(NodeId, u32),
    /// Doubling, if consecutive powers of a variable have the same coefficient.
    Doubling(NodeId),
}

/// Returns the polynomial of a node in the nodes that `is_variable` accepts; `None` if it has too
/// many monomials.
pub(crate) fn expand(
    dag: &ExpressionDag,
    root: NodeId,
    is_variable: &mut dyn FnMut(NodeId) -> bool,
    most: usize,
) -> Option<Polynomial> {
    let mask = dag.mask();
    let mut known: FxHashMap<NodeId, Polynomial> = FxHashMap::default();
    let below = dag.below(root, is_variable);
    let mut n_left = 64 * most;
    for id in below {
        let of = |it: NodeId, known: &FxHashMap<NodeId, Polynomial>| match known.get(&it) {
            Some(it) => it.clone(),
            None => variable(it),
        };
        let polynomial = match dag.node(id) {
            DagNode::Leaf(_) => variable(id),
            DagNode::Sum(terms) => {
                let mut out = Polynomial::new();
                for &(it, coefficient) in terms.iter() {
                    for (monomial, value) in of(it, &known) {
                        add(&mut out, monomial, value.wrapping_mul(coefficient), mask);
                    }
                    n_left = n_left.checked_sub(1)?;
                }
                out
            }
            DagNode::Product(factors) => {
                let mut out = Polynomial::from([(Monomial::new(), 1)]);
                for &(it, exponent) in factors.iter() {
                    let factor = of(it, &known);
                    if let (1, Some((monomial, 1))) =
                        (factor.len(), factor.first_key_value().map(|it| (it.0, *it.1)))
                    {
                        let mut power = monomial.clone();
                        for it in &mut power {
                            it.1 = it.1.checked_mul(exponent).filter(|&it| it <= MAX_EXPONENT)?;
                        }
                        out =
                            times(&out, &Polynomial::from([(power, 1)]), mask, most, &mut n_left)?;
                        continue;
                    }
                    for _ in 0..exponent {
                        out = times(&out, &factor, mask, most, &mut n_left)?;
                    }
                }
                out
            }
        };
        if polynomial.len() > most {
            return None;
        }
        known.insert(id, polynomial);
    }
    known.remove(&root)
}

/// Returns the polynomial that consists of a variable. Constants are variables too, because a
/// constant is only available as a leaf.
fn variable(id: NodeId) -> Polynomial {
    Polynomial::from([(SmallVec::from_slice(&[(id, 1)]), 1)])
}

fn add(into: &mut Polynomial, monomial: Monomial, coefficient: u64, mask: u64) {
    use std::collections::btree_map::Entry;
    let coefficient = coefficient & mask;
    if coefficient == 0 {
        return;
    }
    match into.entry(monomial) {
        Entry::Vacant(it) => drop(it.insert(coefficient)),
        Entry::Occupied(mut it) => {
            let sum = it.get().wrapping_add(coefficient) & mask;
            if sum == 0 {
                it.remove();
            } else {
                it.insert(sum);
            }
        }
    }
}

fn times(
    a: &Polynomial,
    b: &Polynomial,
    mask: u64,
    most: usize,
    n_left: &mut usize,
) -> Option<Polynomial> {
    let mut out = Polynomial::new();
    for (left, x) in a {
        for (right, y) in b {
            *n_left = n_left.checked_sub(1)?;
            add(&mut out, product(left, right)?, x.wrapping_mul(*y), mask);
            if out.len() > most {
                return None;
            }
        }
    }
    Some(out)
}

fn product(a: &Monomial, b: &Monomial) -> Option<Monomial> {
    let mut out = Monomial::new();
    let (mut i, mut j) = (0, 0);
    while i < a.len() || j < b.len() {
        let take_a = j == b.len() || i < a.len() && a[i].0 <= b[j].0;
        let take_b = i == a.len() || j < b.len() && b[j].0 <= a[i].0;
        let (id, exponent) = match (take_a, take_b) {
            (true, true) => (a[i].0, a[i].1 + b[j].1),
            (true, false) => a[i],
            (false, _) => b[j],
        };
        if exponent > MAX_EXPONENT {
            return None;
        }
        out.push((id, exponent));
        i += usize::from(take_a);
        j += usize::from(take_b);
    }
    Some(out)
}

/// Divides a monomial by a power of a variable.
fn divide_by_power(monomial: &Monomial, of: NodeId, power: u32) -> Monomial {
    let lowered = monomial.iter().map(|&(id, n)| (id, if id == of { n - power } else { n }));
    lowered.filter(|it| it.1 > 0).collect()
}

fn degree(monomial: &Monomial, of: NodeId) -> u32 {
    monomial.iter().find(|it| it.0 == of).map_or(0, |it| it.1)
}

/// Returns the variables with degree three or more in a polynomial, with their degrees, the highest
/// first.
pub(crate) fn high_degree_variables(polynomial: &Polynomial) -> Vec<(NodeId, u32)> {
    let mut degrees: FxHashMap<NodeId, u32> = FxHashMap::default();
    for &(id, n) in polynomial.keys().flatten() {
        let most = degrees.entry(id).or_default();
        *most = n.max(*most);
    }
    let mut out: Vec<(NodeId, u32)> = degrees.into_iter().filter(|it| it.1 >= 3).collect();
    out.sort_unstable_by_key(|&(id, n)| (std::cmp::Reverse(n), id));
    out
}

/// Creates the nodes of a polynomial in a form. The polynomial has no monomial without factors,
/// because all constants are leaves.
pub(crate) fn build_form(
    dag: &mut ExpressionDag,
    polynomial: Polynomial,
    way: PolynomialForm,
) -> NodeId {
    match way {
        PolynomialForm::Factored(factoring) => factors(dag, polynomial, factoring),
        PolynomialForm::HornerBlocks(variable, size) => blocks(dag, polynomial, variable, size),
        PolynomialForm::Doubling(variable) => doubling(dag, polynomial, variable),
    }
}

fn monomial(dag: &mut ExpressionDag, of: &Monomial) -> NodeId {
    let factors = of.to_vec();
    dag.product(factors)
}

fn sum_of_monomials(dag: &mut ExpressionDag, polynomial: &Polynomial) -> NodeId {
    let terms: Vec<_> =
        polynomial.iter().map(|(it, &coefficient)| (monomial(dag, it), coefficient)).collect();
    dag.flat_sum(terms)
}

fn factors(dag: &mut ExpressionDag, mut polynomial: Polynomial, factoring: Factoring) -> NodeId {
    if factoring == Factoring::None {
        return sum_of_monomials(dag, &polynomial);
    }
    // Terms of the resulting sum.
    let mut terms: Vec<(NodeId, u64)> = Vec::new();
    while polynomial.len() > 1 {
        let mut counts: FxHashMap<NodeId, usize> = FxHashMap::default();
        for it in polynomial.keys() {
            // A term that is only the factor itself is not counted: its quotient would be 1.
            if let &[(id, 1)] = it.as_slice() {
                counts.entry(id).or_default();
                continue;
            }
            for &(id, _) in it {
                *counts.entry(id).or_default() += 1;
            }
        }
        let best = counts.into_iter().max_by_key(|&(id, n)| (n, std::cmp::Reverse(id)));
        let Some((factor, n)) = best.filter(|it| it.1 >= 2) else { break };
        let is_linear = |it: &Monomial| it.iter().map(|it| it.1).sum::<u32>() <= 2;
        let all_linear = polynomial.keys().all(|it| degree(it, factor) == 0 || is_linear(it));
        let most = match factoring {
            Factoring::Groups if n < MIN_TERMS_FOR_ALL && all_linear => 4,
            _ => usize::MAX,
        };
        let mut quotient = Polynomial::new();
        let mut rest = Polynomial::new();
        for (it, coefficient) in polynomial {
            let has = degree(&it, factor) > 0 && it.as_slice() != [(factor, 1)];
            if has && quotient.len() < most {
                quotient.insert(divide_by_power(&it, factor, 1), coefficient);
            } else {
                rest.insert(it, coefficient);
            }
        }
        polynomial = rest;
        let quotient = factors(dag, quotient, factoring);
        // Factors of the quotient are merged into this product.
        let mut all = match dag.node(quotient) {
            DagNode::Product(inner) if !dag.closed.contains(&quotient) => inner.to_vec(),
            _ => vec![(quotient, 1)],
        };
        all.push((factor, 1));
        terms.push((dag.product(all), 1));
    }
    for (it, coefficient) in &polynomial {
        terms.push((monomial(dag, it), *coefficient));
    }
    dag.flat_sum(terms)
}

/// Returns the coefficients of the powers of a variable, by power.
fn by_power(polynomial: Polynomial, variable: NodeId) -> BTreeMap<u32, Polynomial> {
    let mut out: BTreeMap<u32, Polynomial> = BTreeMap::new();
    for (it, coefficient) in polynomial {
        let n = degree(&it, variable);
        out.entry(n).or_default().insert(divide_by_power(&it, variable, n), coefficient);
    }
    out
}

/// Removes and returns the constant term of a polynomial.
fn take_number(polynomial: &mut Polynomial) -> u64 {
    polynomial.remove(&Monomial::new()).unwrap_or(0)
}

fn blocks(dag: &mut ExpressionDag, polynomial: Polynomial, variable: NodeId, size: u32) -> NodeId {
    let mut coefficients = by_power(polynomial, variable);
    let Some(&most) = coefficients.keys().next_back() else { return dag.sum(Vec::new()) };
    let step = dag.power(variable, size);
    // The result of the preceding blocks: a node plus `number`. Both are multiplied by the next
    // power.
    let mut so_far: Option<NodeId> = None;
    let mut number = 0;
    for block in (0..=most / size).rev() {
        let mut terms: Vec<(NodeId, u64)> = vec![(step, number)];
        if let Some(it) = so_far {
            terms.push((dag.product(vec![(it, 1), (step, 1)]), 1));
        }
        number = 0;
        for inner in 0..size {
            let Some(mut coefficient) = coefficients.remove(&(block * size + inner)) else {
                continue;
            };
            let alone = take_number(&mut coefficient);
            if inner == 0 {
                number = alone;
            } else {
                terms.push((dag.power(variable, inner), alone));
            }
            if coefficient.is_empty() {
                continue;
            }
            let node = factors(dag, coefficient, Factoring::Groups);
            if inner == 0 {
                terms.push((node, 1));
            } else {
                let power = dag.power(variable, inner);
                terms.push((dag.product(vec![(node, 1), (power, 1)]), 1));
            }
        }
        terms.retain(|it| it.1 != 0);
        so_far = if terms.is_empty() { None } else { Some(dag.flat_sum(terms)) };
    }
    match so_far {
        Some(it) => it,
        None => dag.sum(Vec::new()),
    }
}

fn doubling(dag: &mut ExpressionDag, polynomial: Polynomial, variable: NodeId) -> NodeId {
    let coefficients = by_power(polynomial, variable);
    // The longest run of powers with one coefficient.
    let mut best: (u32, u32) = (0, 0);
    let mut start = 0;
    let mut last: Option<(u32, &Polynomial)> = None;
    for (&power, coefficient) in &coefficients {
        let goes_on = last.is_some_and(|(at, it)| at + 1 == power && it == coefficient);
        if !goes_on {
            start = power;
        }
        if power - start + 1 > best.1 {
            best = (start, power - start + 1);
        }
        last = Some((power, coefficient));
    }
    let (first, n) = best;
    let mut rest = Polynomial::new();
    let mut run = Polynomial::new();
    for (power, coefficient) in coefficients {
        if power == first {
            run.clone_from(&coefficient);
        }
        if !(first..first + n).contains(&power) {
            for (mut it, value) in coefficient {
                if power > 0 {
                    it.push((variable, power));
                    it.sort_unstable_by_key(|it| it.0);
                }
                rest.insert(it, value);
            }
        }
    }
    let number = take_number(&mut run);
    let mut terms: Vec<(NodeId, u64)> = Vec::new();
    if !run.is_empty() {
        let coefficient = factors(dag, run, Factoring::Groups);
        let start = if first == 0 {
            coefficient
        } else {
            let power = dag.power(variable, first);
            dag.product(vec![(coefficient, 1), (power, 1)])
        };
        terms.push((geometric(dag, start, variable, n), 1));
    }
    if number != 0 {
        // There is no node for the number 1, so the powers start with the variable itself.
        let (from, n) = if first == 0 { (1, n - 1) } else { (first, n) };
        if n > 0 {
            let start = dag.power(variable, from);
            terms.push((geometric(dag, start, variable, n), number));
        }
        if first == 0 {
            // There is no node for this number; polynomials with a constant term do not occur.
            rest.insert(Monomial::new(), number);
        }
    }
    if !rest.is_empty() {
        terms.push((factors(dag, rest, Factoring::Groups), 1));
    }
    dag.flat_sum(terms)
}

/// Returns `start (1 + x + .. + x^(n - 1))`.
fn geometric(dag: &mut ExpressionDag, start: NodeId, variable: NodeId, n: u32) -> NodeId {
    let (mut sum, mut left, mut power) = (start, n, 1);
    // Pending terms, each with the factor of the remaining sum. They are added in reverse order.
    let mut over: Vec<(NodeId, NodeId)> = Vec::new();
    while left > 1 {
        let step = dag.power(variable, power);
        if left % 2 == 1 {
            over.push((sum, step));
            left -= 1;
        }
        let next = dag.product(vec![(sum, 1), (step, 1)]);
        sum = dag.sum(vec![(sum, 1), (next, 1)]);
        left /= 2;
        power *= 2;
    }
    for (first, step) in over.into_iter().rev() {
        let rest = dag.product(vec![(sum, 1), (step, 1)]);
        sum = dag.sum(vec![(first, 1), (rest, 1)]);
    }
    sum
}
