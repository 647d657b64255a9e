//! The one file that knows HiGHS: rows and columns in, a status and numbers out.
//!
//! Two shapes: [`Mip`], solved once, and [`Lp`], which keeps its basis while rows come and go. Both can be
//! stopped from outside at any moment and by a count of simplex iterations, which makes an answer
//! repeatable where a time limit is not. HiGHS offers that through callbacks which the safe `highs`
//! crate does not expose; hence the few unsafe lines below. Nothing here is believed by anybody:
//! placements are verified and bounds are recomputed from the multipliers in integers, but for the bound
//! of a branch-and-bound run, which is HiGHS's word.
//!
//! One thread, gaps of zero (HiGHS's default relative gap of 1e-4 is not a proof), no console output.
#![allow(unsafe_code, reason = "HiGHS is stopped through callbacks, which are C function pointers")]
#![allow(clippy::doc_markdown, reason = "HiGHS is a name, not code")]

use std::ffi::{c_char, c_int, c_void};

use highs::{Col, HighsModelStatus, HighsSolutionStatus, Model, RowProblem, Sense, SolvedModel};

/// How long HiGHS may work.
pub(super) struct Effort<'a> {
    /// Asked often; true ends the run.
    pub stop: &'a dyn Fn() -> bool,
    /// Simplex iterations after which the run ends.
    pub iterations: u64,
    /// Branch-and-bound nodes after which the run ends.
    pub nodes: u64,
}

/// A variable between 0 and `upper`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column {
    pub cost: f64,
    pub lower: f64,
    pub upper: f64,
    pub integer: bool,
}

/// `sum of terms >= least`.
#[derive(Clone, Debug)]
pub(super) struct Row {
    pub least: f64,
    pub terms: Vec<(u32, f64)>,
}

/// A mixed integer program to minimize.
#[derive(Clone, Debug, Default)]
pub(super) struct Mip {
    pub columns: Vec<Column>,
    pub rows: Vec<Row>,
}

/// What came of a branch-and-bound run.
#[derive(Clone, Debug)]
pub(super) struct MipAnswer {
    /// The best point found, if any.
    pub values: Option<Vec<f64>>,
    /// No point costs less than this.
    pub bound: f64,
    /// The point is optimal (then it is there), or there is none.
    pub finished: bool,
    /// There is no point.
    pub infeasible: bool,
    /// Simplex iterations spent.
    pub iterations: u64,
}

impl Mip {
    /// Solves, from a known point if one is given. `None` when HiGHS fails.
    pub(super) fn solve(&self, start: Option<&[f64]>, effort: &Effort) -> Option<MipAnswer> {
        let mut model = build(&self.columns, &self.rows)?;
        set(&mut model, "mip_rel_gap", 0.0)?;
        // Costs are integers: a gap under one is none.
        set(&mut model, "mip_abs_gap", 0.99)?;
        set(&mut model, "mip_feasibility_tolerance", 1e-7)?;
        let nodes = i32::try_from(effort.nodes).unwrap_or(i32::MAX);
        model.try_set_option("mip_max_nodes", nodes).ok()?;
        if let Some(start) = start {
            model.try_set_solution(Some(start), None, None, None).ok()?;
        }
        let solved = run(model, effort)?;
        let status = solved.status();
        let feasible = solved.primal_solution_status() == HighsSolutionStatus::Feasible;
        let values = feasible
            .then(|| solved.get_solution().columns().to_vec())
            .filter(|values| values.len() == self.columns.len());
        let bound = solved.double_info_value(c"mip_dual_bound").ok()?;
        Some(MipAnswer {
            finished: status == HighsModelStatus::Optimal && values.is_some()
                || status == HighsModelStatus::Infeasible,
            infeasible: status == HighsModelStatus::Infeasible,
            values,
            bound,
            iterations: iterations(&solved),
        })
    }
}

/// A linear program that grows, solved again from where it stood.
pub(super) struct Lp {
    model: Option<Model>,
    n_columns: usize,
    n_rows: usize,
}

/// Which columns and rows are basic, in HiGHS's numbers.
#[derive(Clone, Debug)]
pub(super) struct Basis {
    pub columns: Vec<c_int>,
    pub rows: Vec<c_int>,
}

/// An optimal point of a linear program.
#[derive(Clone, Debug)]
pub(super) struct LpAnswer {
    pub values: Vec<f64>,
    /// The multiplier of each row, at least zero but for rounding.
    pub multipliers: Vec<f64>,
    /// Simplex iterations spent.
    pub iterations: u64,
}

impl Lp {
    /// A program without rows.
    pub(super) fn new(columns: &[Column]) -> Option<Lp> {
        let model = build(columns, &[])?;
        Some(Lp { model: Some(model), n_columns: columns.len(), n_rows: 0 })
    }

    /// Number of rows.
    pub(super) fn n_rows(&self) -> usize {
        self.n_rows
    }

    /// Adds `sum of the columns >= least`.
    pub(super) fn add(&mut self, rows: &[&[u32]], least: f64) -> Option<()> {
        let model = self.model.as_mut()?;
        let n_terms: usize = rows.iter().map(|row| row.len()).sum();
        let (mut starts, mut index) = (Vec::with_capacity(rows.len()), Vec::with_capacity(n_terms));
        for row in rows {
            starts.push(c_int::try_from(index.len()).ok()?);
            index.extend(row.iter().map(|&col| col as c_int));
        }
        let lower = vec![least; rows.len()];
        let upper = vec![f64::INFINITY; rows.len()];
        let value = vec![1.0; n_terms];
        // SAFETY: the pointers are to arrays of the lengths passed, which live until the call returns.
        let status = unsafe {
            highs_sys::Highs_addRows(
                model.as_mut_ptr(),
                c_int::try_from(rows.len()).ok()?,
                lower.as_ptr(),
                upper.as_ptr(),
                c_int::try_from(n_terms).ok()?,
                starts.as_ptr(),
                index.as_ptr(),
                value.as_ptr(),
            )
        };
        self.n_rows += rows.len();
        (status != highs_sys::STATUS_ERROR).then_some(())
    }

    /// Removes the rows whose mask is set; the others keep their order.
    pub(super) fn remove(&mut self, mask: &[bool]) -> Option<()> {
        let model = self.model.as_mut()?;
        let mut mask: Vec<c_int> = mask.iter().map(|&out| c_int::from(out)).collect();
        if mask.len() != self.n_rows {
            return None;
        }
        let n_out = mask.iter().filter(|&&out| out == 1).count();
        // SAFETY: the mask has one entry per row and outlives the call.
        let status =
            unsafe { highs_sys::Highs_deleteRowsByMask(model.as_mut_ptr(), mask.as_mut_ptr()) };
        self.n_rows -= n_out;
        (status != highs_sys::STATUS_ERROR).then_some(())
    }

    /// The basis of the last solution.
    pub(super) fn basis(&mut self) -> Option<Basis> {
        let model = self.model.as_mut()?;
        let mut basis = Basis { columns: vec![0; self.n_columns], rows: vec![0; self.n_rows] };
        // SAFETY: the arrays have one entry per column and row, which is what HiGHS writes.
        let status = unsafe {
            highs_sys::Highs_getBasis(
                model.as_mut_ptr(),
                basis.columns.as_mut_ptr(),
                basis.rows.as_mut_ptr(),
            )
        };
        (status != highs_sys::STATUS_ERROR).then_some(basis)
    }

    /// Where the next solve starts.
    pub(super) fn set_basis(&mut self, basis: &Basis) -> Option<()> {
        let model = self.model.as_mut()?;
        if basis.columns.len() != self.n_columns || basis.rows.len() != self.n_rows {
            return None;
        }
        // SAFETY: the arrays have one entry per column and row.
        let status = unsafe {
            highs_sys::Highs_setBasis(
                model.as_mut_ptr(),
                basis.columns.as_ptr(),
                basis.rows.as_ptr(),
            )
        };
        (status != highs_sys::STATUS_ERROR).then_some(())
    }

    /// Solves to optimality. `None` when stopped or when HiGHS fails; the program is then lost.
    pub(super) fn solve(&mut self, effort: &Effort) -> Option<LpAnswer> {
        let solved = run(self.model.take()?, effort)?;
        if solved.status() != HighsModelStatus::Optimal {
            return None;
        }
        let solution = solved.get_solution();
        let answer = LpAnswer {
            values: solution.columns().to_vec(),
            multipliers: solution.dual_rows().to_vec(),
            iterations: iterations(&solved),
        };
        self.model = Some(Model::from(solved));
        let whole =
            answer.values.len() == self.n_columns && answer.multipliers.len() == self.n_rows;
        whole.then_some(answer)
    }
}

fn build(columns: &[Column], rows: &[Row]) -> Option<Model> {
    let mut problem = RowProblem::new();
    let cols: Vec<Col> = columns
        .iter()
        .map(|column| {
            let bounds = column.lower..=column.upper;
            if column.integer {
                problem.add_integer_column(column.cost, bounds)
            } else {
                problem.add_column(column.cost, bounds)
            }
        })
        .collect();
    for row in rows {
        problem.add_row(row.least.., row.terms.iter().map(|&(col, k)| (cols[col as usize], k)));
    }
    let mut model = problem.try_optimise(Sense::Minimise).ok()?;
    model.make_quiet();
    model.try_set_option("threads", 1).ok()?;
    model.try_set_option("parallel", "off").ok()?;
    model.try_set_option("random_seed", 1).ok()?;
    Some(model)
}

fn set(model: &mut Model, option: &str, value: f64) -> Option<()> {
    model.try_set_option(option, value).ok()
}

fn iterations(solved: &SolvedModel) -> u64 {
    solved.int_info_value(c"simplex_iteration_count").map_or(0, |n| u64::try_from(n).unwrap_or(0))
}

/// Runs with the callbacks on.
fn run(mut model: Model, effort: &Effort) -> Option<SolvedModel> {
    if (effort.stop)() {
        return None;
    }
    let user = std::ptr::from_ref::<Effort>(effort).cast_mut().cast::<c_void>();
    // SAFETY: `interrupt` has the type HiGHS expects. `effort` outlives the run, which is the only time it
    // is called; afterwards the callbacks are off.
    let solved = unsafe {
        let highs = model.as_mut_ptr();
        highs_sys::Highs_setCallback(highs, Some(interrupt), user);
        for kind in CALLBACKS {
            highs_sys::Highs_startCallback(highs, kind);
        }
        let mut solved = model.try_solve().ok()?;
        for kind in CALLBACKS {
            highs_sys::Highs_stopCallback(solved.as_mut_ptr(), kind);
        }
        solved
    };
    Some(solved)
}

const SIMPLEX: c_int = 1;
const INTERIOR: c_int = 2;
const MIP: c_int = 6;

/// Simplex, interior point and branch and bound ask whether to go on.
const CALLBACKS: [c_int; 3] = [SIMPLEX, INTERIOR, MIP];

unsafe extern "C" fn interrupt(
    kind: c_int,
    _message: *const c_char,
    out: *const highs_sys::HighsCallbackDataOut,
    into: *mut highs_sys::HighsCallbackDataIn,
    user: *mut c_void,
) {
    if out.is_null() || into.is_null() || user.is_null() {
        return;
    }
    // SAFETY: HiGHS passes valid structs for the length of the call, and `user` is the effort of `run`.
    unsafe {
        let effort = &*user.cast_const().cast::<Effort>();
        // NB: HiGHS leaves the counts that do not belong to the kind of callback unset.
        let simplex = match kind {
            SIMPLEX => i64::from((*out).simplex_iteration_count),
            MIP => (*out).mip_total_lp_iterations,
            _ => 0,
        };
        let spent = u64::try_from(simplex).unwrap_or(0) > effort.iterations;
        if spent || (effort.stop)() {
            (*into).user_interrupt = 1;
        }
    }
}
