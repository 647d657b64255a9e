//! Schedules: bands of permutable rows, and the order of statements inside bands.
//!
//! *Search.* Rows are found one by one, for all statements of a group ([`super::farkas`]). If no
//! further row respects all dependences, the band ends. Dependences that it carries are satisfied,
//! and the rest of the graph is split into a sequence of strongly connected components. Adjacent
//! components form a group if no statement gets fewer independent rows in the band because of that.
//!
//! *Law.* Each row is checked exactly against each dependence that no enclosing band carries: no
//! pair may have a negative difference. A row that fails is not used.

use noisy_loops::{TimeCondition, TimeDifference};
use noisy_polyhedra::Budget;

use super::farkas::{self, ConstrainedEdge, orthogonal_complement};
use super::nest::{StatementDependence, StatementNest};

/// A node of a schedule tree: the statements that share a band, and the sequence of inner nodes.
#[derive(Clone, Debug)]
pub(super) struct PlanNode {
    pub(super) members: Vec<usize>,
    /// The range of the rows of the band.
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) inner: Vec<PlanNode>,
}

/// A schedule.
#[derive(Clone, Debug)]
pub(super) struct SchedulePlan {
    pub(super) root: Vec<PlanNode>,
    /// The rows of each statement: coefficients of its variables, and the constant.
    pub(super) rows: Vec<Vec<Vec<i128>>>,
}

/// Maximum work for one query, in machine words (see [`Budget`]).
const MAX_WORK: u64 = 5_000_000;

/// Finds a schedule of a nest.
pub(super) fn find_plan(
    nest: &StatementNest,
    edges: &[StatementDependence<'_>],
) -> Option<SchedulePlan> {
    let all: Vec<usize> = (0..nest.statements.len()).collect();
    let mut rows = vec![Vec::new(); all.len()];
    let edges = edges.iter().map(|&edge| ConstrainedEdge { edge, equal: Vec::new() }).collect();
    let root = sequence(nest, &all, edges, 0, &mut rows)?;
    Some(SchedulePlan { root, rows })
}

/// A band under construction.
struct PartialBand<'a> {
    members: Vec<usize>,
    dependences: Vec<ConstrainedEdge<'a>>,
    /// The rows of all statements of the nest, including those of the band.
    rows: Vec<Vec<Vec<i128>>>,
    end: usize,
}

/// Returns the nodes of the strongly connected components of members, in sequence. Adjacent
/// components share a band if no statement gets fewer independent rows because of that.
fn sequence(
    nest: &StatementNest,
    members: &[usize],
    dependences: Vec<ConstrainedEdge<'_>>,
    start: usize,
    rows: &mut [Vec<Vec<i128>>],
) -> Option<Vec<PlanNode>> {
    let within = |group: &[usize]| -> Vec<ConstrainedEdge<'_>> {
        let is_inside = |it: &&ConstrainedEdge<'_>| {
            group.contains(&it.edge.source) && group.contains(&it.edge.target)
        };
        dependences.iter().filter(is_inside).cloned().collect()
    };
    let parts = components(members, dependences.iter().map(|it| (it.edge.source, it.edge.target)));
    let alone: Vec<PartialBand<'_>> =
        parts.iter().map(|it| find_band(nest, it, within(it), start, rows)).collect();
    let mut needed = vec![0; nest.statements.len()];
    for part in &alone {
        for &it in &part.members {
            needed[it] = rank(nest, it, &part.rows);
        }
    }
    let is_as_deep = |band: &PartialBand<'_>| {
        band.end > start && band.members.iter().all(|&it| rank(nest, it, &band.rows) >= needed[it])
    };
    let mut groups: Vec<PartialBand<'_>> = Vec::new();
    if alone.len() > 2 {
        groups.extend(
            Some(find_band(nest, members, within(members), start, rows)).filter(is_as_deep),
        );
    }
    if groups.is_empty() {
        for part in alone {
            if let Some(last) = groups.last_mut() {
                let both = [&last.members[..], &part.members].concat();
                let both = find_band(nest, &both, within(&both), start, rows);
                if is_as_deep(&both) {
                    *last = both;
                    continue;
                }
            }
            groups.push(part);
        }
    }
    groups.into_iter().map(|it| build_node(nest, it, start, rows)).collect()
}

/// Returns the number of independent rows of a statement.
fn rank(nest: &StatementNest, statement: usize, rows: &[Vec<Vec<i128>>]) -> usize {
    let n = nest.statements[statement].ivs.len();
    n - orthogonal_complement(&rows[statement], n).map_or(n, |free| free.len())
}

/// Returns true if all statements have as many independent rows as variables.
fn is_full(nest: &StatementNest, members: &[usize], rows: &[Vec<Vec<i128>>]) -> bool {
    members.iter().all(|&it| rank(nest, it, rows) == nest.statements[it].ivs.len())
}

/// Finds the rows of a band of the given statements.
fn find_band<'a>(
    nest: &StatementNest,
    members: &[usize],
    dependences: Vec<ConstrainedEdge<'a>>,
    start: usize,
    rows: &[Vec<Vec<i128>>],
) -> PartialBand<'a> {
    let mut rows = rows.to_vec();
    let mut end = start;
    while !is_full(nest, members, &rows) {
        let found = farkas::SEARCH_SPACES.into_iter().find_map(|space| {
            let found = farkas::find_row(nest, members, &rows, &dependences, space)?;
            let fits = is_independent(nest, members, &rows, &found, space.may_wait)
                && dependences.iter().all(|it| is_respected(nest, members, it, &found));
            fits.then_some(found)
        });
        let Some(found) = found else { break };
        for (&it, row) in members.iter().zip(found) {
            rows[it].push(row);
        }
        end += 1;
    }
    PartialBand { members: members.to_vec(), dependences, rows, end }
}

/// Builds the node of a band and its inner nodes, and writes the rows of its members into `rows`.
fn build_node(
    nest: &StatementNest,
    band: PartialBand<'_>,
    start: usize,
    rows: &mut [Vec<Vec<i128>>],
) -> Option<PlanNode> {
    let PartialBand { members, dependences, rows: found, end } = band;
    for &it in &members {
        rows[it].clone_from(&found[it]);
    }
    if is_full(nest, &members, rows) {
        return Some(PlanNode { members, start, end, inner: Vec::new() });
    }
    if start == end {
        return None;
    }
    // Keep the dependences that the band does not carry, with pairs that are equal in all of its
    // rows.
    let mut left = Vec::new();
    for mut it in dependences {
        let (source, target) =
            (&rows[it.edge.source][start..end], &rows[it.edge.target][start..end]);
        it.equal.extend(source.iter().cloned().zip(target.iter().cloned()));
        if has_pair(nest, &it, None) {
            left.push(it);
        }
    }
    let inner = sequence(nest, &members, left, end, rows)?;
    Some(PlanNode { members, start, end, inner })
}

/// Returns true if a dependence has a pair that is equal in the rows of the enclosing bands, and
/// satisfies `asked`: a condition on a row of the source and of the target.
fn has_pair(
    nest: &StatementNest,
    it: &ConstrainedEdge<'_>,
    asked: Option<(&[i128], &[i128], TimeDifference)>,
) -> bool {
    let time = |row: &[i128]| nest.to_time(row);
    let mut times: Vec<(Vec<i128>, Vec<i128>, TimeDifference)> = Vec::new();
    for (source, target) in &it.equal {
        times.push((time(source), time(target), TimeDifference::Exactly(0)));
    }
    if let Some((source, target, differs)) = asked {
        times.push((time(source), time(target), differs));
    }
    let conditions: Vec<TimeCondition<'_>> = times.iter().map(|it| (&it.0, &it.1, it.2)).collect();
    it.edge.pairs.has_pair(&conditions, &mut Budget::new(MAX_WORK))
}

fn is_respected(
    nest: &StatementNest,
    members: &[usize],
    it: &ConstrainedEdge<'_>,
    found: &[Vec<i128>],
) -> bool {
    let of = |statement| members.iter().position(|it| *it == statement).map(|at| &found[at]);
    let (Some(source), Some(target)) = (of(it.edge.source), of(it.edge.target)) else {
        return false;
    };
    !has_pair(nest, it, Some((source, target, TimeDifference::AtMost(-1))))
}

/// Returns true if each statement that needs an independent row gets it.
fn is_independent(
    nest: &StatementNest,
    members: &[usize],
    rows: &[Vec<Vec<i128>>],
    found: &[Vec<i128>],
    may_wait: bool,
) -> bool {
    let Some(all) = farkas::directions(nest, members, rows, may_wait) else { return false };
    all.iter().zip(found).all(|(directions, row)| {
        let product = |it: &Vec<i128>| it.iter().zip(row).map(|(a, b)| a * b).sum::<i128>() != 0;
        directions.is_empty() || directions.iter().any(product)
    })
}

/// Returns the strongly connected components in a topological order that keeps the order of
/// `members` where possible.
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
        // The first member that depends only on members of its own component.
        let is_free =
            |a: usize, left: &[usize]| left.iter().all(|&b| a == b || !reach[b][a] || reach[a][b]);
        let Some(&a) = left.iter().find(|&&a| is_free(a, &left)) else { break };
        let is_same = |b: &usize| *b == a || (reach[a][*b] && reach[*b][a]);
        out.push(left.iter().filter(|it| is_same(it)).map(|&it| members[it]).collect());
        left.retain(|it| !is_same(it));
    }
    out
}
