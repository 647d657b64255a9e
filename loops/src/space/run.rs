//! Execution of a nest that evaluates only bounds, guards and subscripts. It gives the element of
//! each access in each iteration.
//!
//! *Cost.* Linear in the number of iterations and accesses, up to a budget.

use noisy_syntax::Value;
use rustc_hash::FxHashSet;

use crate::body::{Constraint, FunctionBody, ScopeKind};
use crate::form::{LinearForm, LinearTerm};

/// The reason why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunStopped {
    /// A bound, a guard or a subscript has an unknown value.
    Unknown,
    /// The budget of iterations is spent.
    BudgetSpent,
    /// The visitor ended the run.
    StoppedByVisitor,
}

/// The iterations of a loop that are visited.
#[derive(Clone, Copy, Debug)]
pub(super) enum VisitedIterations {
    /// Only this iteration.
    At(i64),
    /// At most this many iterations.
    First(i64),
}

/// The state of an execution. All symbols have the same value, except that those in lower bounds
/// but in no upper bound are 0.
pub(super) struct NestRun<'a> {
    pub(super) body: &'a FunctionBody,
    pub(super) symbol_value: i64,
    /// The visited iterations, by index of the loop.
    pub(super) extents: Vec<VisitedIterations>,
    /// The number of iterations that may still be visited.
    pub(super) remaining_visits: usize,
    /// The loops with more iterations than were visited.
    pub(super) truncated_loops: FxHashSet<u32>,
    /// The symbols that were replaced by a number.
    pub(super) symbols: FxHashSet<Value>,
    /// The symbols in lower bounds but in no upper bound.
    pub(super) symbols_in_lower_bounds: FxHashSet<Value>,
    ivs: Vec<Option<i128>>,
}

impl<'a> NestRun<'a> {
    pub(super) fn new(
        body: &'a FunctionBody,
        symbol: i64,
        extents: Vec<VisitedIterations>,
        left: usize,
    ) -> Self {
        let ivs = vec![None; body.loops.len()];
        let (cut, symbols) = (FxHashSet::default(), FxHashSet::default());
        let of = |bounds: &dyn Fn(&'a crate::body::NestLoop) -> Option<&'a Vec<LinearForm>>| {
            let forms = body.loops.iter().filter_map(bounds).flatten();
            let symbol = |it: &(LinearTerm, i128)| match it.0 {
                LinearTerm::Symbol(value) => Some(value),
                _ => None,
            };
            forms.flat_map(|it| &it.terms).filter_map(symbol).collect::<FxHashSet<Value>>()
        };
        let mut lows = of(&|it| it.lower.as_ref());
        let highs = of(&|it| it.upper.as_ref());
        lows.retain(|it| !highs.contains(it));
        Self {
            body,
            symbol_value: symbol,
            extents,
            remaining_visits: left,
            truncated_loops: cut,
            symbols,
            symbols_in_lower_bounds: lows,
            ivs,
        }
    }

    /// Calls `visit` each time a scope is entered, in order.
    pub(super) fn for_each_entry(
        &mut self,
        scope: Option<u32>,
        visit: &mut dyn FnMut(&mut Self) -> Result<(), RunStopped>,
    ) -> Result<(), RunStopped> {
        let mut scopes: Vec<u32> = self.body.scopes_around(scope).collect();
        scopes.reverse();
        self.enter(&scopes, visit)
    }

    fn enter(
        &mut self,
        scopes: &[u32],
        visit: &mut dyn FnMut(&mut Self) -> Result<(), RunStopped>,
    ) -> Result<(), RunStopped> {
        let Some((&scope, inner)) = scopes.split_first() else { return visit(self) };
        let scope = &self.body.scopes[scope as usize];
        match scope.kind {
            ScopeKind::Choice(_) => Err(RunStopped::Unknown),
            ScopeKind::Guard => {
                if self.is_satisfied(&scope.constraints)? {
                    self.enter(inner, visit)?;
                }
                Ok(())
            }
            ScopeKind::Loop(at) => {
                let it = &self.body.loops[at as usize];
                let step = it.step.filter(|it| *it > 0).ok_or(RunStopped::Unknown)?;
                let low = self.bound_values(it.lower.as_deref())?.into_iter().max();
                let high = self.bound_values(it.upper.as_deref())?.into_iter().min();
                let (low, high) = low.zip(high).ok_or(RunStopped::Unknown)?;
                let mut iv = low;
                let mut n = 0;
                while iv < high {
                    self.remaining_visits =
                        self.remaining_visits.checked_sub(1).ok_or(RunStopped::BudgetSpent)?;
                    match self.extents[at as usize] {
                        VisitedIterations::At(only) if iv > i128::from(only) => break,
                        VisitedIterations::First(most) if n >= most => {
                            self.truncated_loops.insert(at);
                            break;
                        }
                        VisitedIterations::At(only) if iv < i128::from(only) => {}
                        _ => {
                            self.ivs[at as usize] = Some(iv);
                            self.enter(inner, visit)?;
                        }
                    }
                    n += 1;
                    iv = iv.checked_add(step).ok_or(RunStopped::Unknown)?;
                }
                self.ivs[at as usize] = None;
                Ok(())
            }
        }
    }

    fn bound_values(&mut self, bounds: Option<&[LinearForm]>) -> Result<Vec<i128>, RunStopped> {
        bounds.ok_or(RunStopped::Unknown)?.iter().map(|it| self.value(it)).collect()
    }

    fn is_satisfied(&mut self, when: &[Vec<Constraint>]) -> Result<bool, RunStopped> {
        for all in when {
            let mut holds = true;
            for it in all {
                let value = self.value(&it.form)?;
                holds &= if it.is_equality { value == 0 } else { value >= 0 };
            }
            if holds {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the value of a form in the current iteration.
    pub(super) fn value(&mut self, form: &LinearForm) -> Result<i128, RunStopped> {
        let mut sum = form.constant;
        for &(term, by) in &form.terms {
            let value = match term {
                LinearTerm::Iv(at) => self.ivs[at as usize].ok_or(RunStopped::Unknown)?,
                LinearTerm::Symbol(value) => {
                    self.symbols.insert(value);
                    if self.symbols_in_lower_bounds.contains(&value) {
                        0
                    } else {
                        i128::from(self.symbol_value)
                    }
                }
                LinearTerm::Quotient(at) => {
                    let it = self.body.quotients.get(at);
                    self.value(&it.form)?.div_euclid(it.divisor)
                }
                LinearTerm::Local(_) | LinearTerm::Step(_) => return Err(RunStopped::Unknown),
            };
            let product = value.checked_mul(by).ok_or(RunStopped::Unknown)?;
            sum = sum.checked_add(product).ok_or(RunStopped::Unknown)?;
        }
        Ok(sum)
    }

    /// Returns the value of the induction variable of a loop in the current iteration.
    pub(super) fn iv(&self, loop_: u32) -> Result<i64, RunStopped> {
        let it = self.ivs[loop_ as usize].ok_or(RunStopped::Unknown)?;
        i64::try_from(it).map_err(|_| RunStopped::Unknown)
    }
}
