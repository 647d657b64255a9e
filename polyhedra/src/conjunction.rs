//! Conjunctions of affine constraints, and queries about their integer points.

use std::cell::OnceCell;

use num_bigint::BigInt;
use smallvec::SmallVec;

use crate::budget::{Budget, QueryFailure};
use crate::number::Number;
use crate::rows::Rows;
use crate::search::FormBounds;
use crate::system::{Feasibility, System};

/// The integer points that satisfy a list of equalities and inequalities. Each row is an affine
/// form: one coefficient per variable, and then the constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Conjunction {
    n_vars: usize,
    /// Forms that are 0.
    equalities: Vec<Vec<i128>>,
    /// Forms that are at least 0.
    inequalities: Vec<Vec<i128>>,
}

/// An affine constraint that names only the variables with a coefficient.
#[derive(Clone, Debug, Default)]
pub struct SparseRow {
    /// Variables with coefficients. Those of equal variables are added.
    pub terms: SmallVec<[(usize, i128); 8]>,
    /// The constant of the form.
    pub constant: i128,
    /// True if the form is 0, false if it is at least 0.
    pub is_equality: bool,
}

/// The least and the greatest value of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FormInterval {
    /// The least value; `None` if the form has no lower bound.
    pub least: Option<i128>,
    /// The greatest value; `None` if the form has no upper bound.
    pub greatest: Option<i128>,
}

impl FormInterval {
    /// Returns the smallest interval that contains both intervals.
    #[must_use]
    pub fn hull(self, other: Self) -> Self {
        Self {
            least: self.least.zip(other.least).map(|(a, b)| a.min(b)),
            greatest: self.greatest.zip(other.greatest).map(|(a, b)| a.max(b)),
        }
    }
}

impl Conjunction {
    /// Returns the conjunction without constraints: all points of a space of `n_vars` dimensions.
    pub fn new(n_vars: usize) -> Self {
        Self { n_vars, equalities: Vec::new(), inequalities: Vec::new() }
    }

    /// Returns the points that satisfy sparse rows; `None` on overflow.
    ///
    /// # Panics
    /// If a row names a variable that is not below `n_vars`.
    pub fn of_rows(n_vars: usize, rows: &[SparseRow]) -> Option<Self> {
        let mut out = Self::new(n_vars);
        for it in rows {
            let mut row = vec![0_i128; n_vars + 1];
            for &(variable, by) in &it.terms {
                row[variable] = row[variable].checked_add(by)?;
            }
            row[n_vars] = it.constant;
            if it.is_equality { out.add_equality(row) } else { out.add_inequality(row) }
        }
        Some(out)
    }

    /// Returns the number of variables.
    pub fn n_vars(&self) -> usize {
        self.n_vars
    }

    /// Returns the forms that are 0.
    pub fn equalities(&self) -> &[Vec<i128>] {
        &self.equalities
    }

    /// Returns the forms that are at least 0.
    pub fn inequalities(&self) -> &[Vec<i128>] {
        &self.inequalities
    }

    /// Adds a variable that may be any integer, and returns its index.
    pub(crate) fn add_variable(&mut self) -> usize {
        for row in self.equalities.iter_mut().chain(&mut self.inequalities) {
            row.insert(self.n_vars, 0);
        }
        self.n_vars += 1;
        self.n_vars - 1
    }

    /// Adds the constraint that a form is 0.
    ///
    /// # Panics
    /// If it has another number of variables.
    pub fn add_equality(&mut self, row: Vec<i128>) {
        assert_eq!(row.len(), self.n_vars + 1, "a coefficient per variable and the constant");
        self.equalities.push(row);
    }

    /// Adds the constraint that a form is at least 0.
    ///
    /// # Panics
    /// If it has another number of variables.
    pub fn add_inequality(&mut self, row: Vec<i128>) {
        assert_eq!(row.len(), self.n_vars + 1, "a coefficient per variable and the constant");
        self.inequalities.push(row);
    }

    /// Adds a variable for the form divided by `by` and rounded down, and returns its index.
    ///
    /// # Panics
    /// If `by` is not positive.
    pub fn add_quotient(&mut self, mut form: Vec<i128>, by: i128) -> usize {
        assert!(by > 0, "a positive divisor");
        let var = self.add_variable();
        form.insert(var, 0);
        // 0 <= form - by q <= by - 1
        let mut low = form.clone();
        low[var] = -by;
        let mut high: Vec<i128> = form.iter().map(|it| -it).collect();
        high[var] = by;
        high[self.n_vars] += by - 1;
        self.add_inequality(low);
        self.add_inequality(high);
        var
    }

    /// Returns true if a point satisfies all constraints.
    pub fn contains(&self, point: &[i128]) -> bool {
        let value = |row: &Vec<i128>| {
            row.iter().zip(point).map(|(a, x)| a * x).sum::<i128>() + row[self.n_vars]
        };
        self.equalities.iter().all(|it| value(it) == 0)
            && self.inequalities.iter().all(|it| value(it) >= 0)
    }

    /// Returns true if no integer point satisfies all constraints.
    ///
    /// # Errors
    /// If the budget is spent first.
    pub fn is_empty(&self, budget: &mut Budget) -> Result<bool, QueryFailure> {
        Relation::new(self.clone(), Vec::new()).is_empty(&[], budget)
    }

    /// Returns the least and the greatest value of a form. `None` if there is no point.
    ///
    /// # Errors
    /// If the budget is spent first.
    pub fn bounds(
        &self,
        form: Vec<i128>,
        budget: &mut Budget,
    ) -> Result<Option<FormInterval>, QueryFailure> {
        Relation::new(self.clone(), vec![form]).bounds(&[], 0, budget)
    }

    fn system<T: Number>(&self, outputs: &[Vec<i128>]) -> Option<System<T>> {
        Some(System {
            n_vars: self.n_vars,
            equalities: Rows::of(self.n_vars + 1, &self.equalities)?,
            inequalities: Rows::of(self.n_vars + 1, &self.inequalities)?,
            outputs: Rows::of(self.n_vars + 1, outputs)?,
        })
    }
}

/// A condition on an output, added to the constraints for one query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputCondition {
    /// The output with this index equals the number.
    Equals(usize, i128),
    /// The output with this index is at least the number.
    AtLeast(usize, i128),
    /// The output with this index is at most the number.
    AtMost(usize, i128),
}

/// A conjunction with output forms, prepared for many queries about the outputs.
#[derive(Debug)]
pub struct Relation {
    points: Conjunction,
    outputs: Vec<Vec<i128>>,
    /// The simplified system in machine words.
    words: OnceCell<PreparedSystem<i64>>,
    /// The simplified system in numbers of any size.
    large: OnceCell<PreparedSystem<BigInt>>,
}

/// The result of simplifying a system, shared by all queries.
#[derive(Debug)]
enum PreparedSystem<T> {
    /// A number does not fit into `T`.
    Overflow,
    /// The system has no point.
    Empty,
    /// The system may have a point.
    Open(System<T>),
}

impl Relation {
    /// Returns the relation of `points` and `outputs`. Each output is a row of the same form as a
    /// constraint.
    pub fn new(points: Conjunction, outputs: Vec<Vec<i128>>) -> Self {
        Self { points, outputs, words: OnceCell::new(), large: OnceCell::new() }
    }

    /// Returns the points.
    pub fn points(&self) -> &Conjunction {
        &self.points
    }

    /// Returns the output forms.
    pub fn outputs(&self) -> &[Vec<i128>] {
        &self.outputs
    }

    /// Answers a query with machine words and, if they overflow, again with numbers of any size.
    /// `empty` is the answer for a system without points.
    fn answer<A>(
        &self,
        budget: &mut Budget,
        empty: A,
        words: impl Fn(&System<i64>, &mut Budget) -> Result<A, QueryFailure>,
        large: impl Fn(&System<BigInt>, &mut Budget) -> Result<A, QueryFailure>,
    ) -> Result<A, QueryFailure> {
        match prepared(&self.words, self, budget)? {
            PreparedSystem::Empty => return Ok(empty),
            PreparedSystem::Open(system) => match words(system, budget) {
                Err(QueryFailure::Overflow) => {}
                answer => return answer,
            },
            PreparedSystem::Overflow => {}
        }
        match prepared(&self.large, self, budget)? {
            PreparedSystem::Empty => Ok(empty),
            PreparedSystem::Open(system) => large(system, budget),
            PreparedSystem::Overflow => Err(QueryFailure::Overflow),
        }
    }

    /// Returns true if no point satisfies all conditions.
    ///
    /// # Errors
    /// If the budget is spent first.
    pub fn is_empty(
        &self,
        asked: &[OutputCondition],
        budget: &mut Budget,
    ) -> Result<bool, QueryFailure> {
        self.answer(
            budget,
            true,
            |it, budget| with_conditions(it, asked)?.has_point(budget).map(|it| !it),
            |it, budget| with_conditions(it, asked)?.has_point(budget).map(|it| !it),
        )
    }

    /// Returns the least and the greatest value of an output over the points that satisfy all
    /// conditions. `None` if there is no such point.
    ///
    /// # Errors
    /// If the budget is spent first, or a bound has more than 127 bits.
    pub fn bounds(
        &self,
        asked: &[OutputCondition],
        output: usize,
        budget: &mut Budget,
    ) -> Result<Option<FormInterval>, QueryFailure> {
        self.answer(
            budget,
            None,
            |it, budget| {
                with_conditions(it, asked)?.bounds(output, budget)?.map(to_interval).transpose()
            },
            |it, budget| {
                with_conditions(it, asked)?.bounds(output, budget)?.map(to_interval).transpose()
            },
        )
    }
}

/// Returns the simplified system, which is computed at the first call.
fn prepared<'a, T: Number>(
    cell: &'a OnceCell<PreparedSystem<T>>,
    relation: &Relation,
    budget: &mut Budget,
) -> Result<&'a PreparedSystem<T>, QueryFailure> {
    if let Some(it) = cell.get() {
        return Ok(it);
    }
    let made = match relation.points.system::<T>(&relation.outputs) {
        None => PreparedSystem::Overflow,
        Some(mut system) => match system.simplify(budget) {
            Ok(Feasibility::Empty) => PreparedSystem::Empty,
            Ok(Feasibility::Open) => PreparedSystem::Open(system),
            Err(QueryFailure::Overflow) => PreparedSystem::Overflow,
            Err(stop) => return Err(stop),
        },
    };
    Ok(cell.get_or_init(|| made))
}

fn to_interval<T: Number>(it: FormBounds<T>) -> Result<FormInterval, QueryFailure> {
    let value = |it: Option<T>| it.map(|it| it.get().ok_or(QueryFailure::Overflow)).transpose();
    Ok(FormInterval { least: value(it.least)?, greatest: value(it.greatest)? })
}

fn with_conditions<T: Number>(
    system: &System<T>,
    asked: &[OutputCondition],
) -> Result<System<T>, QueryFailure> {
    let mut out = system.clone();
    let end = out.n_vars;
    for &it in asked {
        let (OutputCondition::Equals(at, value)
        | OutputCondition::AtLeast(at, value)
        | OutputCondition::AtMost(at, value)) = it;
        let value: T = System::number(value)?;
        let mut row = out.outputs.row(at).to_vec();
        row[end] = row[end].plus(&value.negated()).ok_or(QueryFailure::Overflow)?;
        match it {
            OutputCondition::Equals(..) => out.equalities.push(&row),
            OutputCondition::AtLeast(..) => out.inequalities.push(&row),
            OutputCondition::AtMost(..) => {
                let row: Vec<T> = row.iter().map(Number::negated).collect();
                out.inequalities.push(&row);
            }
        }
    }
    Ok(out)
}
