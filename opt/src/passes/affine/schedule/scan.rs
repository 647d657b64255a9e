//! Generation of loops and their bounds from a schedule.
//!
//! *Columns.* All statements of a nest share the columns: rows of the schedule (y), tiles (z, with
//! `size z <= y <= size z + size - 1`), blocks of jammed rows, and parameters. The points of a
//! statement are those of its domain, with its variables expressed by its rows. So n independent
//! rows of a statement with n variables must have an integer inverse; otherwise the nest is not
//! supported.
//!
//! *Loops.* The bounds of a loop are the shadow of the points along all columns that are not
//! scanned yet. If several statements share a loop, its bounds are relaxed until they hold for all
//! of them, and the rest becomes a guard of each statement. Statements share a loop over points
//! only while they depend on each other in a cycle.
//!
//! *Law.* Each statement runs exactly for its points: each of their constraints is a bound or a
//! guard, or is implied by bounds and guards.

use noisy_loops::{FunctionBody, InstancePairs, TimeCondition, TimeDifference};
use noisy_polyhedra::{Budget, Conjunction};
use noisy_syntax::Ir;

use super::cost;
use super::nest::{StatementDependence, StatementNest};
use super::plan::{PlanNode, SchedulePlan, components};

/// A carried element: the accesses of the statement that read and write it, in order.
pub(super) type CarriedElement = Vec<usize>;

/// Generated code.
#[derive(Clone, Debug)]
pub(super) enum LoopCode {
    /// A loop over a column. The bounds are rows that must be nonnegative.
    Loop { column: usize, low: Vec<Vec<i128>>, high: Vec<Vec<i128>>, body: Vec<LoopCode> },
    /// A condition: `body` runs where all rows are nonnegative, `otherwise` elsewhere.
    Guard { rows: Vec<Vec<i128>>, body: Vec<LoopCode>, otherwise: Vec<LoopCode> },
    /// A statement, with a row for each of its variables.
    Statement { statement: usize, ivs: Vec<Vec<i128>> },
    /// A loop over a column that carries elements. It contains copies of a statement, each with a
    /// row for each variable.
    CarryingLoop {
        column: usize,
        low: Vec<Vec<i128>>,
        high: Vec<Vec<i128>>,
        statement: usize,
        elements: Vec<CarriedElement>,
        copies: Vec<Vec<Vec<i128>>>,
    },
}

/// Options: the size of the cache in bytes, the tile sizes of the loop that becomes the innermost
/// one (`innermost`) and of other loops (`others`), and the number of values of a row that are
/// jammed into an innermost loop (`block`).
#[derive(Clone, Copy, Debug)]
pub(super) struct ScheduleSizes {
    pub(super) cache: i128,
    pub(super) innermost: i128,
    pub(super) others: i128,
    pub(super) block: i128,
}

/// Number of 64-bit elements in a cache line.
const ELEMENTS_PER_LINE: i128 = 8;
/// Maximum number of rows of a shadow.
const MAX_ROWS: usize = 150;

/// Generates loops for a schedule. `None` if they are not better than the current ones, or not
/// known to be correct. Also returns the number of columns.
pub(super) fn generate_loops(
    ir: &Ir,
    body: &FunctionBody,
    nest: &StatementNest,
    plan: &SchedulePlan,
    edges: &[StatementDependence<'_>],
    all: &[InstancePairs],
    sizes: ScheduleSizes,
) -> Option<(Vec<LoopCode>, usize)> {
    let n_rows = plan.rows.iter().map(Vec::len).max()?;
    // Each row may be tiled once, and jammed once.
    let n_columns = 3 * n_rows + nest.params.len();
    let mut scan = CodeGeneration {
        ir,
        body,
        nest,
        edges,
        all,
        sizes,
        rows: plan.rows.clone(),
        n_rows,
        n_columns,
        points: Vec::new(),
        ivs: Vec::new(),
        enforced: vec![Conjunction::new(n_columns); nest.statements.len()],
        pending: vec![Vec::new(); nest.statements.len()],
        innermost: None,
        is_better: false,
        budget: Budget::new(400_000_000),
    };
    for statement in 0..nest.statements.len() {
        let (points, ivs) = scan.points_of(statement)?;
        scan.points.push(points);
        scan.ivs.push(ivs);
    }
    for statement in 0..nest.statements.len() {
        // Constraints on parameters alone, which no loop enforces.
        let of_params = scan.points[statement].inequalities().iter();
        let of_params = of_params.filter(|row| !scan.depends_on_loops(row)).cloned();
        scan.pending[statement] = of_params.collect();
    }
    let mut out = Vec::new();
    for node in &plan.root {
        scan.emit_node(node, &node.members, Vec::new(), true, &mut out)?;
    }
    scan.is_better.then_some((out, n_columns))
}

/// Lower and upper bounds of a column: nonnegative rows.
pub(super) type ColumnBounds = (Vec<Vec<i128>>, Vec<Vec<i128>>);

pub(super) struct CodeGeneration<'a> {
    pub(super) ir: &'a Ir,
    pub(super) body: &'a FunctionBody,
    pub(super) nest: &'a StatementNest,
    pub(super) edges: &'a [StatementDependence<'a>],
    /// All dependences of the body, including those inside a single execution of a statement.
    pub(super) all: &'a [InstancePairs],
    pub(super) sizes: ScheduleSizes,
    /// The rows of each statement.
    pub(super) rows: Vec<Vec<Vec<i128>>>,
    n_rows: usize,
    pub(super) n_columns: usize,
    /// The points of each statement.
    pub(super) points: Vec<Conjunction>,
    /// The variables of each statement as rows.
    pub(super) ivs: Vec<Vec<Vec<i128>>>,
    /// The rows that enclosing loops and guards enforce, by statement.
    pub(super) enforced: Vec<Conjunction>,
    /// The rows that inner loops and guards must still enforce, by statement.
    pending: Vec<Vec<Vec<i128>>>,
    /// The row that must become the innermost one, regardless of costs.
    pub(super) innermost: Option<usize>,
    pub(super) is_better: bool,
    pub(super) budget: Budget,
}

impl CodeGeneration<'_> {
    fn tile_of(&self, row: usize) -> usize {
        self.n_rows + row
    }

    pub(super) fn block_of(&self, row: usize) -> usize {
        2 * self.n_rows + row
    }

    /// Returns the number of columns of loops, which precede those of parameters.
    fn n_loops(&self) -> usize {
        3 * self.n_rows
    }

    /// Returns true if a row depends on a column of a loop.
    fn depends_on_loops(&self, row: &[i128]) -> bool {
        row[..self.n_loops()].iter().any(|it| *it != 0)
    }

    /// Returns a conjunction without the inequalities on parameters alone.
    fn without_parameter_rows(&self, it: &Conjunction) -> Conjunction {
        let mut out = Conjunction::new(self.n_columns);
        for row in it.inequalities().iter().filter(|it| self.depends_on_loops(it)) {
            out.add_inequality(row.clone());
        }
        for row in it.equalities() {
            out.add_equality(row.clone());
        }
        out
    }

    /// Returns the points of a statement over all columns, and its variables.
    fn points_of(&self, statement: usize) -> Option<(Conjunction, Vec<Vec<i128>>)> {
        let rows = &self.rows[statement];
        let it = &self.nest.statements[statement];
        let n = it.ivs.len();
        let width = self.n_columns + 1;
        let (chosen, inverse) = independent_rows_with_inverse(rows, n)?;
        // The variables are iv = inverse (y - constant).
        let mut ivs = Vec::new();
        for line in &inverse {
            let mut row = vec![0_i128; width];
            for (&at, &by) in chosen.iter().zip(line) {
                row[at] = row[at].checked_add(by)?;
                row[width - 1] = row[width - 1].checked_sub(by.checked_mul(rows[at][n])?)?;
            }
            ivs.push(row);
        }
        // Converts a row over the variables of the statement and parameters to a row over all
        // columns.
        let over = |row: &[i128]| -> Option<Vec<i128>> {
            let mut out = vec![0_i128; width];
            for (by, iv) in row[..n].iter().zip(&ivs) {
                for (out, it) in out.iter_mut().zip(iv) {
                    *out = out.checked_add(it.checked_mul(*by)?)?;
                }
            }
            for (at, by) in row[n..row.len() - 1].iter().enumerate() {
                let column = self.n_loops() + at;
                out[column] = out[column].checked_add(*by)?;
            }
            out[width - 1] = out[width - 1].checked_add(row[row.len() - 1])?;
            Some(out)
        };
        let mut points = Conjunction::new(self.n_columns);
        for row in &it.domain {
            points.add_inequality(over(row)?);
        }
        for (at, row) in rows.iter().enumerate() {
            if !chosen.contains(&at) {
                let mut row = over(row)?;
                row[at] = row[at].checked_sub(1)?;
                points.add_equality(row);
            }
        }
        Some((points, ivs))
    }

    /// Returns the direction of one step of a statement along a row of the schedule, as a vector
    /// over its variables. `None` if other rows determine the row.
    pub(super) fn direction(&self, statement: usize, row: usize) -> Option<Vec<i128>> {
        let out: Vec<i128> = self.ivs[statement].iter().map(|it| it[row]).collect();
        out.iter().any(|it| *it != 0).then_some(out)
    }

    /// Returns the cost of a step of a statement in a direction.
    pub(super) fn step_cost(&self, statement: usize, direction: &[i128], is_tiled: bool) -> i64 {
        let how = (is_tiled, self.sizes.cache);
        cost::step_cost(self.ir, self.body, self.nest, statement, direction, how)
    }

    /// Returns the row of a band that should become the innermost loop.
    pub(super) fn innermost(
        &self,
        members: &[usize],
        rows: &[usize],
        is_tiled: bool,
    ) -> Option<usize> {
        let cost = |row: usize| -> i64 {
            let each = members.iter().filter_map(|&it| {
                let direction = self.direction(it, row)?;
                Some(self.step_cost(it, &direction, is_tiled))
            });
            let deepest = members.iter().any(|&it| self.direction(it, row).is_some());
            if deepest { each.sum() } else { i64::MAX }
        };
        let given = self.innermost.filter(|it| rows.contains(it));
        given.or_else(|| rows.iter().rev().copied().min_by_key(|&row| cost(row)))
    }

    fn emit_node(
        &mut self,
        node: &PlanNode,
        members: &[usize],
        mut scanned: Vec<usize>,
        is_outermost: bool,
        out: &mut Vec<LoopCode>,
    ) -> Option<()> {
        let band: Vec<usize> = (node.start..node.end).collect();
        let mut reuse = None;
        if is_outermost && band.len() >= 2 {
            let innermost = self.innermost(members, &band, false)?;
            let (ir, body, nest, cache) = (self.ir, self.body, self.nest, self.sizes.cache);
            let each = members.iter().filter_map(|&it| {
                cost::reuse(ir, body, nest, it, &self.direction(it, innermost)?, cache)
            });
            reuse = each.max();
        }
        let is_tiled = reuse.is_some()
            && (self.sizes.cache == 0 || self.relative_cost(node, members)? < cost::GAIN_RATIO);
        // Statements that share a loop run one after the other in it, so with tiles, shared
        // elements are still in the cache. Another innermost loop may cost more than this gains.
        let (mut is_shared, mut pays) = (false, true);
        if is_outermost && !is_tiled && members.len() > 1 {
            is_shared = cost::is_shared(self.ir, self.body, self.nest, members, self.sizes.cache);
            pays = !is_shared
                || band.len() < 2
                || self.relative_cost(node, members)? < cost::LOSS_RATIO;
        }
        let mut along = None;
        if is_outermost && node.inner.is_empty() && band.len() >= 2 {
            let innermost = self.innermost(members, &band, true)?;
            along = self.wavefront_row(members, &band, innermost);
        }
        self.is_better |= is_tiled || along.is_some();
        if !is_tiled && !is_shared && along.is_none() {
            return self.emit_point_loops(node, members, band, false, &mut scanned, out);
        }
        let was_better = self.is_better;
        let innermost = self.innermost(members, &band, true)?;
        // Without reuse of elements, a wavefront needs only as many adjacent rows as are
        // prefetched.
        let others = match (along, reuse) {
            (Some(_), None | Some(cost::TileReuse::Lines)) => {
                self.sizes.others.min(ELEMENTS_PER_LINE)
            }
            _ => self.sizes.others,
        };
        for &row in &band {
            let size = if row == innermost { self.sizes.innermost } else { others };
            let (tile, end) = (self.tile_of(row), self.n_columns);
            for &it in members {
                // The tile is size z <= y <= size z + size - 1.
                let mut low = vec![0; end + 1];
                (low[row], low[tile]) = (1, -size);
                let mut high: Vec<i128> = low.iter().map(|it| -it).collect();
                high[end] = size - 1;
                self.points[it].add_inequality(low);
                self.points[it].add_inequality(high);
            }
        }
        let tiles: Vec<usize> = band.iter().map(|&it| self.tile_of(it)).collect();
        if let Some(along) = along {
            self.skew(members, innermost, along)?;
            self.innermost = Some(along);
        }
        let done = self.emit_tile_loops(node, members, &tiles, band, &mut scanned, out);
        self.innermost = None;
        if !pays && along.is_none() {
            self.is_better = was_better;
        }
        done
    }

    fn emit_tile_loops(
        &mut self,
        node: &PlanNode,
        members: &[usize],
        tiles: &[usize],
        band: Vec<usize>,
        scanned: &mut Vec<usize>,
        out: &mut Vec<LoopCode>,
    ) -> Option<()> {
        let Some((&tile, rest)) = tiles.split_first() else {
            return self.emit_point_loops(node, members, band, true, scanned, out);
        };
        let mut body = Vec::new();
        let (low, high) = self.bounds_of_column(members, tile, scanned)?;
        scanned.push(tile);
        self.emit_tile_loops(node, members, rest, band, scanned, &mut body)?;
        scanned.pop();
        out.push(LoopCode::Loop { column: tile, low, high, body });
        Some(())
    }

    /// Emits loops over the points of a band, and its inner nodes.
    fn emit_point_loops(
        &mut self,
        node: &PlanNode,
        members: &[usize],
        left: Vec<usize>,
        is_tiled: bool,
        scanned: &mut Vec<usize>,
        out: &mut Vec<LoopCode>,
    ) -> Option<()> {
        for part in self.sorted_groups(members, scanned) {
            let saved = (self.enforced.clone(), self.pending.clone());
            let mut inner = Vec::new();
            let mut guard = Vec::new();
            if let [only] = part[..] {
                guard = std::mem::take(&mut self.pending[only]);
                for row in &guard {
                    self.enforced[only].add_inequality(row.clone());
                }
            }
            if left.is_empty() {
                match (&node.inner[..], &part[..]) {
                    ([], [only]) => {
                        let ivs = self.ivs[*only].clone();
                        inner.push(LoopCode::Statement { statement: *only, ivs });
                    }
                    // Statements that depend on each other in a cycle at the same point have no
                    // order.
                    ([], _) => return None,
                    (nodes, _) => {
                        for child in nodes {
                            let members: Vec<usize> = part
                                .iter()
                                .copied()
                                .filter(|it| child.members.contains(it))
                                .collect();
                            if !members.is_empty() {
                                self.emit_node(
                                    child,
                                    &members,
                                    scanned.clone(),
                                    false,
                                    &mut inner,
                                )?;
                            }
                        }
                    }
                }
            } else {
                let innermost = self.innermost(&part, &left, is_tiled)?;
                let single = match part[..] {
                    [only] if node.inner.is_empty() => Some(only),
                    _ => None,
                };
                let jammed = single.and_then(|it| self.row_to_jam(it, &left, innermost));
                if let (Some(only), Some(row), [_, _]) = (single, jammed, &left[..]) {
                    self.record_better_innermost(&part, innermost);
                    inner.push(self.emit_jammed(only, row, innermost, scanned)?);
                } else {
                    let is_next = |it: &&usize| **it != innermost && Some(**it) != jammed;
                    let next = match node.inner[..] {
                        // The innermost loop comes last, after the jammed one.
                        [] => *left.iter().find(is_next).unwrap_or(&innermost),
                        _ => left[0],
                    };
                    if left.len() == 1 && node.inner.is_empty() {
                        self.record_better_innermost(&part, next);
                    }
                    let rest: Vec<usize> = left.iter().copied().filter(|it| *it != next).collect();
                    let outside = single.map(|it| self.enforced[it].clone());
                    let bounds = self.bounds_of_column(&part, next, scanned)?;
                    inner.push(match (single, outside) {
                        (Some(only), Some(outside)) if rest.is_empty() => {
                            self.emit_innermost_loop(only, next, bounds, &outside)
                        }
                        _ => {
                            let (low, high) = bounds;
                            let mut body = Vec::new();
                            scanned.push(next);
                            self.emit_point_loops(node, &part, rest, is_tiled, scanned, &mut body)?;
                            scanned.pop();
                            LoopCode::Loop { column: next, low, high, body }
                        }
                    });
                }
            }
            if guard.is_empty() {
                out.append(&mut inner);
            } else {
                out.push(LoopCode::Guard { rows: guard, body: inner, otherwise: Vec::new() });
            }
            (self.enforced, self.pending) = saved;
        }
        Some(())
    }

    /// Sets `is_better` if the innermost loop differs from the current one.
    fn record_better_innermost(&mut self, part: &[usize], row: usize) {
        self.is_better |= part.iter().any(|&it| {
            let n = self.nest.statements[it].ivs.len();
            self.direction(it, row).is_some_and(|it| it[..n - 1].iter().any(|it| *it != 0))
        });
    }

    /// Returns groups of members in an order that respects all dependences in the same iteration of
    /// the scanned loops. Members in a cycle are in one group.
    fn sorted_groups(&mut self, members: &[usize], scanned: &[usize]) -> Vec<Vec<usize>> {
        let rows: Vec<usize> = scanned.iter().copied().filter(|it| *it < self.n_rows).collect();
        let inside: Vec<StatementDependence<'_>> = self
            .edges
            .iter()
            .filter(|it| it.source != it.target)
            .filter(|it| members.contains(&it.source) && members.contains(&it.target))
            .copied()
            .collect();
        let mut pairs = Vec::new();
        for edge in inside {
            if pairs.contains(&(edge.source, edge.target)) {
                continue;
            }
            let time = |it: usize, row: usize| self.nest.to_time(&self.rows[it][row]);
            let times: Vec<(Vec<i128>, Vec<i128>)> =
                rows.iter().map(|&row| (time(edge.source, row), time(edge.target, row))).collect();
            let conditions: Vec<TimeCondition<'_>> =
                times.iter().map(|it| (&it.0, &it.1, TimeDifference::Exactly(0))).collect();
            if edge.pairs.has_pair(&conditions, &mut self.budget) {
                pairs.push((edge.source, edge.target));
            }
        }
        components(members, pairs.into_iter())
    }

    /// Returns the bounds of a loop over a column for the given statements, and records them as
    /// enforced. `None` if there are no bounds.
    pub(super) fn bounds_of_column(
        &mut self,
        members: &[usize],
        column: usize,
        scanned: &[usize],
    ) -> Option<ColumnBounds> {
        let mut shadows = Vec::new();
        for &it in members {
            let mut shadow = self.without_parameter_rows(&self.points[it]);
            for other in 0..self.n_loops() {
                if other != column && !scanned.contains(&other) {
                    shadow = self.without_parameter_rows(&shadow.rational_shadow(other)?);
                    if shadow.inequalities().len() > MAX_ROWS {
                        return None;
                    }
                    if shadow.inequalities().len() > 24 {
                        shadow = shadow.without_implied(&mut self.budget);
                    }
                }
            }
            shadows.push(shadow.without_implied(&mut self.budget));
        }
        let bounds = |it: &Conjunction| -> Vec<Vec<i128>> {
            it.inequalities().iter().filter(|row| row[column] != 0).cloned().collect()
        };
        let mut rows: Vec<Vec<i128>> = Vec::new();
        if let [only] = &shadows[..] {
            rows = bounds(only);
        } else {
            for shadow in &shadows {
                for mut row in bounds(shadow) {
                    // Relax the bound until it holds for all statements.
                    let end = row.len() - 1;
                    let mut is_bound = true;
                    for other in &shadows {
                        match other.bounds(row.clone(), &mut self.budget) {
                            Ok(None) => {}
                            Ok(Some(it)) => match it.least {
                                Some(least) if least < 0 => {
                                    row[end] = row[end].checked_sub(least)?;
                                }
                                Some(_) => {}
                                None => is_bound = false,
                            },
                            Err(_) => is_bound = false,
                        }
                    }
                    if is_bound && !rows.contains(&row) {
                        rows.push(row);
                    }
                }
            }
        }
        // Keep the tightest of parallel rows.
        let rows = tightest(rows);
        let (low, high): (Vec<_>, Vec<_>) = rows.into_iter().partition(|it| it[column] > 0);
        if low.is_empty() || high.is_empty() {
            return None;
        }
        // Sums of smaller numbers fit into 64 bits.
        let is_fine = |row: &Vec<i128>| row.iter().all(|it| it.unsigned_abs() < 1 << 40);
        if !low.iter().chain(&high).all(is_fine) {
            return None;
        }
        for (&it, shadow) in members.iter().zip(&shadows) {
            for row in low.iter().chain(&high) {
                self.enforced[it].add_inequality(row.clone());
            }
            if members.len() > 1 {
                for row in bounds(shadow) {
                    if !self.enforced[it].implies(&row, &mut self.budget) {
                        self.pending[it].push(row);
                    }
                }
            }
        }
        Some((low, high))
    }
}

/// Returns the indices of n independent rows, and the inverse of their matrix. `None` if the
/// inverse is not integral.
fn independent_rows_with_inverse(
    rows: &[Vec<i128>],
    n: usize,
) -> Option<(Vec<usize>, Vec<Vec<i128>>)> {
    let mut chosen: Vec<usize> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let before: Vec<Vec<i128>> = chosen.iter().map(|&it| rows[it].clone()).collect();
        let free = super::farkas::orthogonal_complement(&before, n)?;
        let is_new = |a: &Vec<i128>| a.iter().zip(row).map(|(a, b)| a * b).sum::<i128>() != 0;
        if free.iter().any(is_new) {
            chosen.push(at);
        }
    }
    if chosen.len() != n {
        return None;
    }
    // Gauss-Jordan elimination of [matrix | identity].
    let mut lines: Vec<Vec<i128>> = chosen
        .iter()
        .enumerate()
        .map(|(at, &it)| {
            let mut line = rows[it][..n].to_vec();
            line.extend((0..n).map(|other| i128::from(other == at)));
            line
        })
        .collect();
    for column in 0..n {
        let pivot = (column..n).find(|&it| lines[it][column] != 0)?;
        lines.swap(column, pivot);
        let line = lines[column].clone();
        for (at, other) in lines.iter_mut().enumerate() {
            if at != column && other[column] != 0 {
                let (a, b) = (line[column], other[column]);
                for (x, y) in other.iter_mut().zip(&line) {
                    *x = x.checked_mul(a)?.checked_sub(y.checked_mul(b)?)?;
                }
            }
        }
    }
    let mut out = Vec::new();
    for (at, line) in lines.iter().enumerate() {
        let by = line[at];
        if line[n..].iter().any(|it| it % by != 0) {
            return None;
        }
        out.push(line[n..].iter().map(|it| it / by).collect());
    }
    Some((chosen, out))
}

/// Keeps the tightest of rows that differ only by a constant.
pub(super) fn tightest(rows: Vec<Vec<i128>>) -> Vec<Vec<i128>> {
    let all = rows.clone();
    rows.into_iter()
        .filter(|row| {
            let end = row.len() - 1;
            !all.iter().any(|it| it[..end] == row[..end] && it[end] < row[end])
        })
        .collect()
}
