//! The cost of an order of loops: cycles per iteration of a statement, from the cache lines that it
//! fetches.
//!
//! *Model.* The elements that an access uses in the inner loops of a loop form a box, which each
//! step of the loop shifts. The intersection of the boxes before and after a step is reused.
//! Between the two uses, all accesses execute their inner loops. If their lines fit into a cache,
//! the line comes from this cache, otherwise from memory. Consecutive lines are cheap because they
//! are prefetched. Strided lines are expensive, and more so if they are on different pages. Tiles
//! are loops like others, so the same formula compares orders with and without tiles. If each
//! iteration depends on the previous one, an iteration takes at least the latency of its
//! operations. A loop with a strided access is not vectorized; an iteration takes a cycle per
//! access.
//!
//! The constants are rounded cycles of common 64-bit processors. They only need to show if one
//! order is clearly cheaper than another.

use noisy_loops::FunctionBody;
use noisy_syntax::{Dim, Ir, TypeData};
use rustc_hash::FxHashMap;

use super::cost::{element_size, is_invariant_along, subscripts};
use super::nest::{ScheduledStatement, StatementNest};
use super::plan::PlanNode;
use super::scan::CodeGeneration;
use crate::rewrite::operands;

/// A loop of an order: the change of the variables of the statement per step, and the trip count.
#[derive(Clone, Debug)]
struct OrderLoop {
    step: Vec<i128>,
    trips: f64,
}

/// Size of a cache line and of a page, in bytes.
const LINE_BYTES: f64 = 64.0;
const PAGE_BYTES: f64 = 4096.0;
/// The first-level cache: its size in bytes, and the number of entries of the first-level TLB.
const FIRST_LEVEL: (f64, f64) = (32.0 * 1024.0, 64.0);
/// Number of entries of the second-level TLB.
const MAX_TLB_PAGES: f64 = 1024.0;
/// Size of the last-level cache per thread, in bytes.
const LAST_LEVEL_BYTES: f64 = 8.0 * 1024.0 * 1024.0;
/// Cycles for a line from the second-level cache.
const SECOND_LEVEL_CYCLES: f64 = 2.5;
/// Cycles for a line from the last-level cache and from memory: for consecutive lines, for strided
/// lines, and for strided lines that miss the TLB.
const LAST_LEVEL_CYCLES: [f64; 3] = [8.0, 20.0, 60.0];
const MEMORY_CYCLES: [f64; 3] = [20.0, 40.0, 80.0];
/// The assumed trip count of an unknown loop.
const DEFAULT_TRIPS: f64 = 1000.0;

/// Returns the trip count of a loop from the bounds of its variable.
fn trips(least: Option<i128>, greatest: Option<i128>) -> f64 {
    let n = least.zip(greatest).and_then(|(a, b)| b.checked_sub(a));
    n.map_or(DEFAULT_TRIPS, |n| (n as f64 + 1.0).max(1.0))
}

/// Accesses that differ only by constants: the coefficients of their subscripts.
struct AccessGroup {
    rows: Vec<Vec<i128>>,
    element: f64,
    /// Size of a row of the memref, in bytes.
    row: f64,
}

impl AccessGroup {
    /// Returns the change of each subscript per step.
    fn subscript_steps(&self, step: &[i128]) -> Vec<i128> {
        let product = |row: &Vec<i128>| row.iter().zip(step).map(|(a, b)| a * b).sum();
        self.rows.iter().map(product).collect()
    }

    /// Returns the box of elements that the loops access: the number of elements along each
    /// subscript, and the number of iterations that access different elements.
    fn box_of(&self, loops: &[OrderLoop]) -> (Vec<f64>, f64) {
        let mut extents = vec![1.0; self.rows.len()];
        let mut n = 1.0;
        for level in loops {
            let moves = self.subscript_steps(&level.step);
            if moves.iter().any(|it| *it != 0) {
                n *= level.trips;
            }
            for (extent, by) in extents.iter_mut().zip(moves) {
                *extent += by.unsigned_abs() as f64 * (level.trips - 1.0);
            }
        }
        (extents, n)
    }

    /// Returns the fraction of the box of the inner loops that a step of a loop reuses.
    fn overlap(&self, step: &[i128], inside: &[OrderLoop]) -> f64 {
        let (mut extents, _) = self.box_of(inside);
        if let Some(last) = extents.last_mut() {
            *last = last.max(LINE_BYTES / self.element);
        }
        let moves = self.subscript_steps(step);
        let each = moves.iter().zip(extents).map(|(by, extent)| by.unsigned_abs() as f64 / extent);
        each.map(|it| (1.0 - it).max(0.0)).product()
    }

    /// Returns the numbers of lines and pages that the loops access.
    fn accessed_lines(&self, loops: &[OrderLoop]) -> (f64, f64) {
        let (extents, n) = self.box_of(loops);
        let Some((last, outer)) = extents.split_last() else { return (1.0, 1.0) };
        let rows: f64 = outer.iter().product();
        let bytes = last * self.element;
        let lines = (rows * (1.0 + bytes / LINE_BYTES)).min(n).max(1.0);
        // Several short rows share a page.
        let pages = rows * bytes.max(self.row.min(PAGE_BYTES)) / PAGE_BYTES;
        (lines, pages.min(n).max(1.0))
    }
}

fn groups(
    ir: &Ir,
    body: &FunctionBody,
    nest: &StatementNest,
    statement: &ScheduledStatement,
) -> Vec<AccessGroup> {
    let mut seen = Vec::new();
    let mut out = Vec::new();
    for &access in &statement.accesses {
        // Accesses with unknown subscripts cost the same in all orders.
        let Some(rows) = subscripts(body, access, nest.n_outer) else { continue };
        let view = body.accesses[access].memref.base;
        if seen.contains(&(view, rows.clone())) {
            continue;
        }
        seen.push((view, rows.clone()));
        let ty = ir.interner.type_data(ir.value(view).ty);
        let TypeData::MemRef { dims: Some(dims), element, .. } = ty else { continue };
        let element = element_size(ir, *element) as f64;
        let row = match dims.last() {
            Some(Dim::Fixed(n)) => *n as f64 * element,
            _ => DEFAULT_TRIPS * element,
        };
        out.push(AccessGroup { rows, element, row });
    }
    out
}

/// Returns the cycles per iteration of a statement in an order, innermost loop last. An iteration
/// of the innermost loop takes at least `latency` cycles. `cache` is the size of the second-level
/// cache in bytes.
fn cycles(
    groups: &[AccessGroup],
    n_accesses: usize,
    order: &[OrderLoop],
    latency: f64,
    cache: i128,
) -> f64 {
    // The footprint of all accesses in one iteration of each loop.
    let between: Vec<(f64, f64)> = (1..=order.len())
        .map(|at| {
            let each = groups.iter().map(|it| it.accessed_lines(&order[at..]));
            each.fold((0.0, 0.0), |sum, (lines, pages)| (sum.0 + lines * LINE_BYTES, sum.1 + pages))
        })
        .collect();
    let Some(innermost) = order.last() else { return latency };
    let jumps = |group: &AccessGroup| {
        let moves = group.subscript_steps(&innermost.step);
        moves.split_last().is_some_and(|it| it.1.iter().any(|it| *it != 0))
    };
    let mut sum = if groups.iter().any(jumps) { n_accesses as f64 } else { 1.0 };
    for group in groups {
        let jumps = jumps(group);
        let mut left = 1.0;
        for (at, &(bytes, pages)) in between.iter().enumerate().rev() {
            let again = group.overlap(&order[at].step, &order[at + 1..]);
            let after = left * (1.0 - again * (1.0 - 1.0 / order[at].trips));
            let how = if jumps { 1 + usize::from(pages > MAX_TLB_PAGES) } else { 0 };
            let cost = if bytes <= FIRST_LEVEL.0 && pages <= FIRST_LEVEL.1 {
                0.0
            } else if bytes <= cache as f64 && how < 2 {
                SECOND_LEVEL_CYCLES
            } else if bytes <= LAST_LEVEL_BYTES {
                LAST_LEVEL_CYCLES[how]
            } else {
                MEMORY_CYCLES[how]
            };
            sum += (left - after) * cost;
            left = after;
        }
        sum += left * MEMORY_CYCLES[usize::from(jumps)];
    }
    latency.max(sum)
}

/// Returns the longest latency from a load of an element to a store of the same element, along the
/// ops between; 0 if there is no such chain.
fn latency(ir: &Ir, body: &FunctionBody, statement: &ScheduledStatement) -> f64 {
    let mut since: FxHashMap<_, f64> = FxHashMap::default();
    let mut longest: f64 = 0.0;
    for &op in &statement.ops {
        let access = statement.accesses.iter().map(|&it| &body.accesses[it]).find(|it| it.op == op);
        let inputs = operands(ir, op);
        match access {
            Some(load) if !load.is_store => {
                let is_target = |it: &&usize| {
                    let store = &body.accesses[**it];
                    store.is_store
                        && store.memref == load.memref
                        && store.subscripts == load.subscripts
                };
                if let (Some(_), Some(&result)) =
                    (statement.accesses.iter().find(is_target), ir.op(op).results.first())
                {
                    since.insert(result, 0.0);
                }
            }
            Some(_) => {
                longest = longest
                    .max(inputs.first().and_then(|it| since.get(it)).copied().unwrap_or(0.0));
            }
            None => {
                let start = inputs.iter().filter_map(|it| since.get(it)).copied().reduce(f64::max);
                let takes = match ir.op_name(op) {
                    "arith.divf" | "arith.divsi" | "arith.divui" | "arith.remsi" => 14.0,
                    "arith.muli" => 3.0,
                    name if name.ends_with('f') => 4.0,
                    _ => 1.0,
                };
                for &result in &ir.op(op).results {
                    since.extend(start.map(|it| (result, it + takes)));
                }
            }
        }
    }
    longest
}

impl CodeGeneration<'_> {
    /// Returns the cost of a tiled band, relative to the cost of the order of the program.
    pub(super) fn relative_cost(&mut self, node: &PlanNode, members: &[usize]) -> Option<f64> {
        let band: Vec<usize> = (node.start..node.end).collect();
        let innermost = self.innermost(members, &band, true)?;
        let (mut old, mut new) = (0.0, 0.0);
        for &it in members {
            let statement = &self.nest.statements[it];
            let (n, waits) = (statement.ivs.len(), latency(self.ir, self.body, statement));
            let mut before = Vec::new();
            for at in 0..n {
                let mut step = vec![0; n];
                step[at] = 1;
                before.push(OrderLoop { step, trips: self.trips(it, self.ivs[it][at].clone()) });
            }
            let is_sum = |step: &[i128]| {
                let is_it = |&&access: &&usize| self.body.accesses[access].is_store;
                let mut stores = statement.accesses.iter().filter(is_it);
                stores.any(|&access| is_invariant_along(self.body, self.nest, it, access, step))
            };
            let chain = before.last().is_some_and(|it| is_sum(&it.step));
            let n_runs: f64 = before.iter().map(|it| it.trips).product();
            let mut tiles = Vec::new();
            let mut points = Vec::new();
            // The innermost loop of the band comes last, unless the band contains another one.
            let inside = (node.end..self.rows[it].len()).collect::<Vec<_>>();
            let is_last = inside.is_empty();
            let of_band = band.iter().copied().filter(|&row| row != innermost || !is_last);
            let last = is_last.then_some(innermost);
            let rows: Vec<usize> = of_band.chain(last).chain(inside).collect();
            for &row in &rows {
                let Some(step) = self.direction(it, row) else { continue };
                let mut unit = vec![0; self.n_columns + 1];
                unit[row] = 1;
                let trips = self.trips(it, unit);
                if row >= node.end {
                    points.push(OrderLoop { step, trips });
                    continue;
                }
                let size = if row == innermost { self.sizes.innermost } else { self.sizes.others };
                let wide = step.iter().map(|by| by * size).collect();
                tiles.push(OrderLoop { step: wide, trips: (trips / size as f64).ceil() });
                points.push(OrderLoop { step, trips: trips.min(size as f64) });
            }
            let is_jammed = is_last && self.row_to_jam(it, &band, innermost).is_some();
            let groups = groups(self.ir, self.body, self.nest, statement);
            let cost = |order: &[OrderLoop], chain: f64| {
                let n_accesses = statement.accesses.len();
                n_runs * cycles(&groups, n_accesses, order, chain, self.sizes.cache)
            };
            old += cost(&before, if chain { waits } else { 0.0 });
            let is_chain = points.last().is_some_and(|it| is_sum(&it.step));
            tiles.append(&mut points);
            new += cost(&tiles, if is_chain && !is_jammed { waits } else { 0.0 });
        }
        Some(new / old)
    }

    /// Returns the number of values of a row for a statement.
    fn trips(&mut self, statement: usize, row: Vec<i128>) -> f64 {
        match self.points[statement].bounds(row, &mut self.budget) {
            Ok(Some(it)) => trips(it.least, it.greatest),
            Ok(None) => 1.0,
            Err(_) => DEFAULT_TRIPS,
        }
    }
}
