//! Transformations of chains: innermost loops in which each iteration depends on the previous one.
//!
//! If an iteration of the innermost loop reads a value of the previous one (a sum, a recurrence),
//! the latency of its operations determines the time, regardless of caches. These transformations
//! help without reordering sums:
//!
//! - *Jammed rows.* The iterations for a block of values of another row of the band are interleaved
//!   in the innermost loop, as independent chains. An incomplete block runs value by value.
//! - *Wavefronts.* If no row can be jammed, the sum of the innermost row and another row replaces
//!   one of them. Iterations with equal sums are independent.
//! - *Carried elements.* An element that is the same in all iterations of the innermost loop
//!   becomes a carried value: it is loaded before the loop and stored after it.
//!
//! *Law.* Rows of a band never have negative differences over a dependence, so an order that
//! respects both rows is correct. Let k be the innermost row and r the jammed one. First run all k
//! below the common bounds, separately for each value of r, then the common ones, then those above.
//! An element is carried only if no other access in the loop uses it, and only if the loop has an
//! iteration.

use noisy_loops::{InstancePairs, TimeCondition, TimeDifference};
use noisy_polyhedra::Conjunction;
use noisy_syntax::OpKind;

use super::cost;
use super::scan::{CarriedElement, CodeGeneration, ColumnBounds, LoopCode, tightest};

/// Replaces a column of a row by `times column + add`.
fn replaced(row: &[i128], old: usize, new: usize, times: i128, add: i128) -> Option<Vec<i128>> {
    let mut out = row.to_vec();
    let by = std::mem::take(&mut out[old]);
    let end = out.len() - 1;
    out[new] = out[new].checked_add(by.checked_mul(times)?)?;
    out[end] = out[end].checked_add(by.checked_mul(add)?)?;
    Some(out)
}

fn all_replaced(
    rows: &[Vec<i128>],
    old: usize,
    new: usize,
    times: i128,
    add: i128,
) -> Option<Vec<Vec<i128>>> {
    rows.iter().map(|row| replaced(row, old, new, times, add)).collect()
}

impl CodeGeneration<'_> {
    /// Returns the dependences between accesses of a statement.
    fn own_dependences(&self, statement: usize) -> impl Iterator<Item = &InstancePairs> {
        let accesses = &self.nest.statements[statement].accesses;
        self.all.iter().filter(move |it| {
            it.level > self.nest.n_outer
                && accesses.contains(&it.source)
                && accesses.contains(&it.target)
        })
    }

    /// Returns true if a dependence of a statement has a pair that satisfies the conditions on the
    /// rows in `asked`. All other rows except `free` are equal.
    fn has_pair_where(
        &mut self,
        statement: usize,
        pairs: &InstancePairs,
        asked: &[(usize, TimeDifference)],
        free: Option<usize>,
    ) -> bool {
        let times: Vec<Vec<i128>> =
            self.rows[statement].iter().map(|row| self.nest.to_time(row)).collect();
        let mut conditions: Vec<TimeCondition<'_>> = Vec::new();
        for (at, time) in times.iter().enumerate() {
            let is_asked = asked.iter().any(|it| it.0 == at);
            if !is_asked && free != Some(at) {
                conditions.push((time, time, TimeDifference::Exactly(0)));
            }
        }
        for &(at, differs) in asked {
            conditions.push((&times[at], &times[at], differs));
        }
        pairs.has_pair(&conditions, &mut self.budget)
    }

    /// Returns true if each iteration of a loop over a row depends on the previous one. Sums into
    /// the same element count only if `with_sums`: their latency is one addition per iteration,
    /// while other chains store and load the element.
    fn is_chain(&mut self, statement: usize, row: usize, with_sums: bool) -> bool {
        let Some(direction) = self.direction(statement, row) else { return false };
        let (body, nest) = (self.body, self.nest);
        let stays = |access| cost::is_invariant_along(body, nest, statement, access, &direction);
        let flows: Vec<InstancePairs> = self
            .own_dependences(statement)
            .filter(|it| {
                body.accesses[it.source].is_store
                    && !body.accesses[it.target].is_store
                    && (with_sums || !stays(it.source))
            })
            .cloned()
            .collect();
        flows.iter().any(|it| {
            self.has_pair_where(statement, it, &[(row, TimeDifference::Exactly(1))], None)
        })
    }

    /// Returns the best of the remaining rows to jam into the innermost loop, if the loop is a
    /// chain. Its values must be independent, and should share most of their input.
    pub(super) fn row_to_jam(
        &mut self,
        statement: usize,
        left: &[usize],
        innermost: usize,
    ) -> Option<usize> {
        let is_asked = self.sizes.block > 1 && left.len() >= 2;
        if !is_asked || !self.is_chain(statement, innermost, true) {
            return None;
        }
        let pairs: Vec<InstancePairs> = self.own_dependences(statement).cloned().collect();
        let mut best: Option<(usize, usize)> = None;
        for &row in left.iter().filter(|it| **it != innermost) {
            let Some(direction) = self.direction(statement, row) else { continue };
            let between = [
                (row, TimeDifference::AtLeast(1)),
                (row, TimeDifference::AtMost(self.sizes.block - 1)),
            ];
            let waits = pairs.iter().any(|it| self.has_pair_where(statement, it, &between, None));
            let moving = cost::n_moving(self.body, self.nest, statement, &direction);
            if !waits && best.is_none_or(|it| moving <= it.1) {
                best = Some((row, moving));
            }
        }
        best.map(|it| it.0)
    }

    /// Returns the row of a band for a wavefront: iterations with an equal sum of this row and the
    /// innermost row are independent. Only if the innermost loop is a chain through memory, and no
    /// row can be jammed.
    pub(super) fn wavefront_row(
        &mut self,
        members: &[usize],
        band: &[usize],
        innermost: usize,
    ) -> Option<usize> {
        let waits = members.iter().any(|&it| {
            self.is_chain(it, innermost, false) && self.row_to_jam(it, band, innermost).is_none()
        });
        let others = band.iter().copied().filter(|it| *it != innermost).filter(|_| waits);
        let cost = |row: usize| -> i64 {
            let each = members.iter().filter_map(|&it| {
                let (a, b) = (self.direction(it, row)?, self.direction(it, innermost)?);
                let direction: Vec<i128> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
                Some(self.step_cost(it, &direction, true))
            });
            each.sum()
        };
        let mut rows: Vec<(i64, usize)> = others.map(|it| (cost(it), it)).collect();
        rows.sort_unstable();
        rows.into_iter()
            .map(|it| it.1)
            .find(|&row| self.is_wavefront(members, band, innermost, row))
    }

    /// Returns true if no dependence has an equal sum of `innermost` and `row`, equal other rows of
    /// the band, and a difference in `row`.
    fn is_wavefront(
        &mut self,
        members: &[usize],
        band: &[usize],
        innermost: usize,
        row: usize,
    ) -> bool {
        let edges: Vec<_> = self
            .edges
            .iter()
            .filter(|it| members.contains(&it.source) && members.contains(&it.target))
            .copied()
            .collect();
        edges.iter().all(|edge| {
            let time = |it: usize, at: usize| self.nest.to_time(&self.rows[it][at]);
            let sum = |it: usize| -> Vec<i128> {
                time(it, row).iter().zip(&time(it, innermost)).map(|(a, b)| a + b).collect()
            };
            let mut times = vec![(sum(edge.source), sum(edge.target))];
            let others = band.iter().filter(|it| **it != innermost && **it != row);
            times.extend(others.map(|&it| (time(edge.source, it), time(edge.target, it))));
            let own = (time(edge.source, row), time(edge.target, row));
            [TimeDifference::AtLeast(1), TimeDifference::AtMost(-1)].iter().all(|differs| {
                let mut conditions: Vec<TimeCondition<'_>> =
                    times.iter().map(|it| (&it.0, &it.1, TimeDifference::Exactly(0))).collect();
                conditions.push((&own.0, &own.1, *differs));
                !edge.pairs.has_pair(&conditions, &mut self.budget)
            })
        })
    }

    /// Replaces a row by its sum with another row.
    pub(super) fn skew(&mut self, members: &[usize], row: usize, other: usize) -> Option<()> {
        // With row' = row + other: a row + b other = a row' + (b - a) other.
        let skewed = |it: &mut Vec<i128>| -> Option<()> {
            it[other] = it[other].checked_sub(it[row])?;
            Some(())
        };
        for &it in members {
            let mut points = Conjunction::new(self.n_columns);
            for old in self.points[it].inequalities() {
                let mut new = old.clone();
                skewed(&mut new)?;
                points.add_inequality(new);
            }
            for old in self.points[it].equalities() {
                let mut new = old.clone();
                skewed(&mut new)?;
                points.add_equality(new);
            }
            self.points[it] = points;
            for iv in &mut self.ivs[it] {
                skewed(iv)?;
            }
            let more = self.rows[it][other].clone();
            for (a, b) in self.rows[it][row].iter_mut().zip(more) {
                *a = a.checked_add(b)?;
            }
        }
        Some(())
    }

    /// Returns the elements that a loop over a row can carry, if several values of the row `jammed`
    /// are interleaved.
    fn carried_elements(
        &mut self,
        statement: usize,
        row: usize,
        jammed: Option<usize>,
    ) -> Vec<CarriedElement> {
        let direction = self.direction(statement, row).filter(|_| self.sizes.block > 1);
        let Some(direction) = direction else { return Vec::new() };
        let it = &self.nest.statements[statement];
        let body = self.body;
        let mut found: Vec<CarriedElement> = Vec::new();
        for &access in &it.accesses {
            let here = &body.accesses[access];
            let is_plain = it.ops.contains(&here.op)
                && matches!(self.ir.op(here.op).kind, OpKind::AffineLoad | OpKind::AffineStore)
                && self.nest.reads_variables(self.ir, statement, here.op)
                && cost::is_invariant_along(body, self.nest, statement, access, &direction);
            if !is_plain {
                continue;
            }
            let same = |other: &CarriedElement| {
                let other = &body.accesses[other[0]];
                other.memref == here.memref && other.subscripts == here.subscripts
            };
            match found.iter_mut().find(|it| same(it)) {
                Some(element) => element.push(access),
                None => found.push(vec![access]),
            }
        }
        // Sort the accesses of each element by execution order.
        for it in &mut found {
            it.sort_by_key(|&access| {
                let op = body.accesses[access].op;
                self.nest.statements[statement].ops.iter().position(|it| *it == op)
            });
        }
        found.retain(|it| {
            !body.accesses[it[0]].is_store && it.iter().any(|it| body.accesses[*it].is_store)
        });
        let pairs: Vec<InstancePairs> = self.own_dependences(statement).cloned().collect();
        let n_jammed = self.sizes.block;
        found.retain(|element| {
            pairs.iter().all(|pair| {
                let n = [pair.source, pair.target].iter().filter(|it| element.contains(it)).count();
                let near = |row| {
                    [
                        (row, TimeDifference::AtLeast(1 - n_jammed)),
                        (row, TimeDifference::AtMost(n_jammed - 1)),
                    ]
                };
                match (n, jammed) {
                    (1, None) => !self.has_pair_where(statement, pair, &[], Some(row)),
                    (1, Some(at)) => !self.has_pair_where(statement, pair, &near(at), Some(row)),
                    (0, _) | (_, None) => true,
                    // Each value of the jammed row must use different elements.
                    (_, Some(at)) => {
                        [TimeDifference::AtLeast(1), TimeDifference::AtMost(-1)].iter().all(|it| {
                            let asked = [&near(at)[..], &[(at, *it)]].concat();
                            !self.has_pair_where(statement, pair, &asked, Some(row))
                        })
                    }
                }
            })
        });
        found
    }

    /// Emits the innermost loop of a statement, with carried elements where possible.
    pub(super) fn emit_innermost_loop(
        &mut self,
        statement: usize,
        column: usize,
        (low, high): ColumnBounds,
        outside: &Conjunction,
    ) -> LoopCode {
        let ivs = self.ivs[statement].clone();
        let elements = self.carried_elements(statement, column, None);
        match (elements.is_empty(), self.nonempty_conditions(column, &low, &high, outside)) {
            (false, Some(rows)) => {
                let copies = vec![ivs];
                with_guard(
                    rows,
                    LoopCode::CarryingLoop { column, low, high, statement, elements, copies },
                )
            }
            _ => {
                let body = vec![LoopCode::Statement { statement, ivs }];
                LoopCode::Loop { column, low, high, body }
            }
        }
    }

    /// Returns the forms that must be nonnegative for a loop to have an iteration, except those
    /// that are known to be. `None` if the condition is not a set of forms.
    fn nonempty_conditions(
        &mut self,
        column: usize,
        low: &[Vec<i128>],
        high: &[Vec<i128>],
        outside: &Conjunction,
    ) -> Option<Vec<Vec<i128>>> {
        let mut out = Vec::new();
        for a in low {
            for b in high {
                if a[column] != 1 || b[column] != -1 {
                    return None;
                }
                let sum = a.iter().zip(b).map(|(a, b)| a.checked_add(*b));
                let sum: Vec<i128> = sum.collect::<Option<_>>()?;
                if !outside.implies(&sum, &mut self.budget) && !out.contains(&sum) {
                    out.push(sum);
                }
            }
        }
        Some(out)
    }

    /// Emits loops over a row and the innermost row, with the iterations for a block of values of
    /// the row interleaved. `None` if the bounds do not allow it.
    pub(super) fn emit_jammed(
        &mut self,
        statement: usize,
        row: usize,
        column: usize,
        scanned: &mut Vec<usize>,
    ) -> Option<LoopCode> {
        let (low, high) = self.bounds_of_column(&[statement], row, scanned)?;
        let outside = self.enforced[statement].clone();
        scanned.push(row);
        let bounds = self.bounds_of_column(&[statement], column, scanned);
        scanned.pop();
        let (first, last) = bounds?;
        let block = self.block_of(row);
        let one_by_one = |scan: &mut Self, low, high| {
            let bounds = (first.clone(), last.clone());
            let body = vec![scan.emit_innermost_loop(statement, column, bounds, &outside)];
            LoopCode::Loop { column: row, low, high, body }
        };
        let Some(together) = self.emit_full_block(statement, row, column, &first, &last, &outside)
        else {
            return Some(one_by_one(self, low, high));
        };
        self.is_better = true;
        let full = [
            all_replaced(&low, row, block, self.sizes.block, 0)?,
            all_replaced(&high, row, block, self.sizes.block, self.sizes.block - 1)?,
        ]
        .concat();
        let (mut from, mut to) = (low.clone(), high.clone());
        // The row r is in block z: n z <= r <= n z + n - 1.
        let mut edge = vec![0; self.n_columns + 1];
        (edge[row], edge[block]) = (1, -self.sizes.block);
        from.push(edge.clone());
        for it in &mut edge {
            *it = -*it;
        }
        edge[self.n_columns] = self.sizes.block - 1;
        to.push(edge);
        let rest = one_by_one(self, from, to);
        let low = all_replaced(&low, row, block, self.sizes.block, self.sizes.block - 1)?;
        let high = all_replaced(&high, row, block, self.sizes.block, 0)?;
        let body = vec![LoopCode::Guard { rows: full, body: together, otherwise: vec![rest] }];
        Some(LoopCode::Loop { column: block, low, high, body })
    }

    /// Emits the innermost loops of a full block.
    fn emit_full_block(
        &mut self,
        statement: usize,
        row: usize,
        column: usize,
        first: &[Vec<i128>],
        last: &[Vec<i128>],
        outside: &Conjunction,
    ) -> Option<Vec<LoopCode>> {
        let (block, n_jammed) = (self.block_of(row), self.sizes.block);
        let of = |rows: &[Vec<i128>], at: i128| all_replaced(rows, row, block, n_jammed, at);
        let (lows, highs) = (rows_with_column(first, row), rows_with_column(last, row));
        // The parts below and above a maximum or a minimum of bounds cannot be expressed as loops.
        if lows.len() + highs.len() > 1 {
            return None;
        }
        let union = |rows: &[Vec<i128>]| -> Option<Vec<Vec<i128>>> {
            let mut out: Vec<Vec<i128>> = Vec::new();
            for at in 0..n_jammed {
                for it in of(rows, at)? {
                    if !out.contains(&it) {
                        out.push(it);
                    }
                }
            }
            Some(tightest(out))
        };
        let (low, high) = (union(first)?, union(last)?);
        let elements = self.carried_elements(statement, column, Some(row));
        let ivs = self.ivs[statement].clone();
        let copies: Vec<Vec<Vec<i128>>> =
            (0..n_jammed).map(|at| of(&ivs, at)).collect::<Option<_>>()?;
        let known = if lows.is_empty() && highs.is_empty() {
            outside.clone()
        } else {
            Conjunction::new(self.n_columns)
        };
        let rows = self.nonempty_conditions(column, &low, &high, &known);
        let middle = match (elements.is_empty(), rows) {
            (false, Some(rows)) => {
                let (low, high) = (low.clone(), high.clone());
                with_guard(
                    rows,
                    LoopCode::CarryingLoop { column, low, high, statement, elements, copies },
                )
            }
            _ => {
                let runs = copies.into_iter().map(|ivs| LoopCode::Statement { statement, ivs });
                let (low, high) = (low.clone(), high.clone());
                LoopCode::Loop { column, low, high, body: runs.collect() }
            }
        };
        let mut out = Vec::new();
        let mut behind = Vec::new();
        for at in 0..n_jammed {
            let (mut from, mut to) = (of(first, at)?, of(last, at)?);
            // The bound at which the common part starts or ends.
            let edge = |common: &[Vec<i128>]| -> Option<Vec<i128>> {
                let mut edge = common.iter().find(|it| it[block] != 0)?.clone();
                for it in &mut edge {
                    *it = -*it;
                }
                edge[self.n_columns] -= 1;
                Some(edge)
            };
            if !lows.is_empty() {
                to.push(edge(&low)?);
            } else if !highs.is_empty() {
                from.push(edge(&high)?);
            } else {
                break;
            }
            let ivs = of(&self.ivs[statement].clone(), at)?;
            let body = vec![LoopCode::Statement { statement, ivs }];
            let it = LoopCode::Loop { column, low: from, high: to, body };
            if lows.is_empty() { behind.push(it) } else { out.push(it) }
        }
        out.push(middle);
        out.append(&mut behind);
        Some(out)
    }
}

/// Returns the rows that depend on a column.
fn rows_with_column(rows: &[Vec<i128>], column: usize) -> Vec<Vec<i128>> {
    rows.iter().filter(|it| it[column] != 0).cloned().collect()
}

fn with_guard(rows: Vec<Vec<i128>>, it: LoopCode) -> LoopCode {
    if rows.is_empty() {
        it
    } else {
        LoopCode::Guard { rows, body: vec![it], otherwise: Vec::new() }
    }
}
