//! Schedules: bands of rows within each of which loops may stand in any order, and the order of what bands hold.
//!
//! *Search.* Rows are found one by one for all statements of a group ([`super::farkas`]). Where there is no more row that respects all
//! dependences, the band ends: what it carries is done, and what is left is split into strongly connected components, which are scheduled
//! one behind the other, each for itself.
//!
//! *Law.* Each row is checked exactly against each dependence that no band around carries: no pair differs by less than 0. A row that fails
//! is not used.

use noisy_loops::{Condition, Differs};
use noisy_polyhedra::Budget;

use super::farkas::{self, Constrained, complement};
use super::nest::{Edge, Nest};

/// A part of a schedule: statements that share a band, and what comes inside, one behind the other.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) members: Vec<usize>,
    /// The rows of the band: from the first to before the last.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) inner: Vec<Node>,
}

/// A schedule.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) root: Vec<Node>,
    /// The rows of each statement: coefficients of its variables, and the constant.
    pub(super) rows: Vec<Vec<Vec<i128>>>,
}

/// The most work on one question, in numbers touched.
const WORK: u64 = 5_000_000;

/// A schedule of a nest: of all statements together, or of components one behind the other where that gives deeper bands to statements of
/// three loops and more, which use again what they read.
pub(super) fn plan(nest: &Nest, edges: &[Edge<'_>]) -> Option<Plan> {
    let all: Vec<usize> = (0..nest.statements.len()).collect();
    let together = fused(nest, edges, &all);
    let components = components(&all, edges.iter().map(|it| (it.source, it.target)));
    if components.len() == 1 {
        return together;
    }
    let is_deep = |plan: &Plan| {
        all.iter().all(|&it| {
            let depth = nest.statements[it].ivs.len();
            depth < 3 || outermost_band(plan, it) >= depth
        })
    };
    if together.as_ref().is_some_and(is_deep) {
        return together;
    }
    let mut apart = Plan { root: Vec::new(), rows: vec![Vec::new(); nest.statements.len()] };
    for members in &components {
        let Some(part) = fused(nest, edges, members) else { return together };
        for &it in members {
            apart.rows[it].clone_from(&part.rows[it]);
        }
        apart.root.extend(part.root);
    }
    let depth = |plan: &Plan| {
        let deep = all.iter().filter(|&&it| nest.statements[it].ivs.len() >= 3);
        deep.map(|&it| outermost_band(plan, it)).sum::<usize>()
    };
    match together {
        Some(together) if depth(&together) >= depth(&apart) => Some(together),
        _ => Some(apart),
    }
}

fn outermost_band(plan: &Plan, statement: usize) -> usize {
    let node = plan.root.iter().find(|it| it.members.contains(&statement));
    node.map_or(0, |it| it.end - it.start)
}

fn fused(nest: &Nest, edges: &[Edge<'_>], members: &[usize]) -> Option<Plan> {
    let mut rows = vec![Vec::new(); nest.statements.len()];
    let is_inside = |it: &&Edge<'_>| members.contains(&it.source) && members.contains(&it.target);
    let inside = edges.iter().filter(is_inside);
    let inside = inside.map(|&edge| Constrained { edge, equal: Vec::new() }).collect();
    let root = vec![node(nest, members, inside, 0, &mut rows)?];
    Some(Plan { root, rows })
}

/// Whether all statements have as many independent rows as variables.
fn is_full(nest: &Nest, members: &[usize], rows: &[Vec<Vec<i128>>]) -> bool {
    members.iter().all(|&it| {
        complement(&rows[it], nest.statements[it].ivs.len()).is_some_and(|it| it.is_empty())
    })
}

fn node(
    nest: &Nest,
    members: &[usize],
    dependences: Vec<Constrained<'_>>,
    start: usize,
    rows: &mut Vec<Vec<Vec<i128>>>,
) -> Option<Node> {
    let mut end = start;
    while !is_full(nest, members, rows) {
        let found = farkas::SPACES.into_iter().find_map(|space| {
            let found = farkas::row(nest, members, rows, &dependences, space)?;
            let fits = is_independent(nest, members, rows, &found)
                && dependences.iter().all(|it| respects(nest, members, it, &found));
            fits.then_some(found)
        });
        let Some(found) = found else { break };
        for (&it, row) in members.iter().zip(found) {
            rows[it].push(row);
        }
        end += 1;
    }
    if is_full(nest, members, rows) {
        return Some(Node { members: members.to_vec(), start, end, inner: Vec::new() });
    }
    // What the band does not carry: all of its rows are equal.
    let mut left = Vec::new();
    for mut it in dependences {
        let (source, target) =
            (&rows[it.edge.source][start..end], &rows[it.edge.target][start..end]);
        it.equal.extend(source.iter().cloned().zip(target.iter().cloned()));
        if exists(nest, &it, None) {
            left.push(it);
        }
    }
    let components = components(members, left.iter().map(|it| (it.edge.source, it.edge.target)));
    if components.len() == 1 && start == end {
        return None;
    }
    let mut inner = Vec::new();
    for part in components {
        let is_inside = |it: &&Constrained<'_>| {
            part.contains(&it.edge.source) && part.contains(&it.edge.target)
        };
        let inside = left.iter().filter(is_inside).cloned().collect();
        inner.push(node(nest, &part, inside, end, rows)?);
    }
    Some(Node { members: members.to_vec(), start, end, inner })
}

/// Whether there is a pair of a dependence, of which the row differs as asked.
fn exists(nest: &Nest, it: &Constrained<'_>, asked: Option<(&[i128], &[i128], Differs)>) -> bool {
    let time = |row: &[i128]| nest.time(row);
    let mut times: Vec<(Vec<i128>, Vec<i128>, Differs)> = Vec::new();
    for (source, target) in &it.equal {
        times.push((time(source), time(target), Differs::By(0)));
    }
    if let Some((source, target, differs)) = asked {
        times.push((time(source), time(target), differs));
    }
    let conditions: Vec<Condition<'_>> = times.iter().map(|it| (&it.0, &it.1, it.2)).collect();
    it.edge.pairs.exist(&conditions, &mut Budget::new(WORK))
}

fn respects(nest: &Nest, members: &[usize], it: &Constrained<'_>, found: &[Vec<i128>]) -> bool {
    let of = |statement| members.iter().position(|it| *it == statement).map(|at| &found[at]);
    let (Some(source), Some(target)) = (of(it.edge.source), of(it.edge.target)) else {
        return false;
    };
    !exists(nest, it, Some((source, target, Differs::AtMost(-1))))
}

/// Whether each statement that lacks rows gets one.
fn is_independent(
    nest: &Nest,
    members: &[usize],
    rows: &[Vec<Vec<i128>>],
    found: &[Vec<i128>],
) -> bool {
    members.iter().zip(found).all(|(&it, row)| {
        let n = nest.statements[it].ivs.len();
        let Some(old) = complement(&rows[it], n) else { return false };
        let product = |a: &Vec<i128>| a.iter().zip(row).any(|(a, b)| a * b != 0);
        old.is_empty() || old.iter().any(product)
    })
}

/// Strongly connected components, each before those that depend on it, else in order.
pub(super) fn components(
    members: &[usize],
    edges: impl Iterator<Item = (usize, usize)>,
) -> Vec<Vec<usize>> {
    let n = members.len();
    let place = |it: usize| members.iter().position(|other| *other == it);
    let mut reach = vec![vec![false; n]; n];
    for (a, b) in edges {
        if let (Some(a), Some(b)) = (place(a), place(b)) {
            reach[a][b] = true;
        }
    }
    for k in 0..n {
        let through = reach[k].clone();
        for from in reach.iter_mut().filter(|it| it[k]) {
            for (it, more) in from.iter_mut().zip(&through) {
                *it |= more;
            }
        }
    }
    let mut left: Vec<usize> = (0..n).collect();
    let mut out = Vec::new();
    while !left.is_empty() {
        // The first one that nothing outside of its component comes before.
        let is_free =
            |a: usize, left: &[usize]| left.iter().all(|&b| a == b || !reach[b][a] || reach[a][b]);
        let Some(&a) = left.iter().find(|&&a| is_free(a, &left)) else { break };
        let is_same = |b: &usize| *b == a || (reach[a][*b] && reach[*b][a]);
        out.push(left.iter().filter(|it| is_same(it)).map(|&it| members[it]).collect());
        left.retain(|it| !is_same(it));
    }
    out
}
