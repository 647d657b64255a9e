//! Execution of a nest that evaluates only bounds, guards and subscripts. It gives the element of
//! each access in each iteration.
//!
//! *Cost.* Linear in the number of iterations and accesses, up to a budget.

use noisy_syntax::Value;
use rustc_hash::FxHashSet;

use crate::body::{Body, Constraint, ScopeKind};
use crate::form::{Form, Term};

/// The reason why a run ended early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// A bound, a guard or a subscript has an unknown value.
    Unknown,
    /// The budget of iterations is spent.
    Spent,
    /// The visitor ended the run.
    Enough,
}

/// The iterations of a loop that are visited.
#[derive(Clone, Copy, Debug)]
pub(super) enum Extent {
    /// Only this iteration.
    At(i64),
    /// At most this many iterations.
    First(i64),
}

/// The state of an execution. All symbols have the same value, except that those in lower bounds
/// but in no upper bound are 0.
pub(super) struct Run<'a> {
    pub(super) body: &'a Body,
    pub(super) symbol: i64,
    /// The visited iterations, by index of the loop.
    pub(super) extents: Vec<Extent>,
    /// The number of iterations that may still be visited.
    pub(super) left: usize,
    /// The loops with more iterations than were visited.
    pub(super) cut: FxHashSet<u32>,
    /// The symbols that were replaced by a number.
    pub(super) symbols: FxHashSet<Value>,
    /// The symbols in lower bounds but in no upper bound.
    pub(super) lows: FxHashSet<Value>,
    ivs: Vec<Option<i128>>,
}

impl<'a> Run<'a> {
    pub(super) fn new(body: &'a Body, symbol: i64, extents: Vec<Extent>, left: usize) -> Self {
        let ivs = vec![None; body.loops.len()];
        let (cut, symbols) = (FxHashSet::default(), FxHashSet::default());
        let of = |bounds: &dyn Fn(&'a crate::body::Loop) -> Option<&'a Vec<Form>>| {
            let forms = body.loops.iter().filter_map(bounds).flatten();
            let symbol = |it: &(Term, i128)| match it.0 {
                Term::Symbol(value) => Some(value),
                _ => None,
            };
            forms.flat_map(|it| &it.terms).filter_map(symbol).collect::<FxHashSet<Value>>()
        };
        let mut lows = of(&|it| it.lower.as_ref());
        let highs = of(&|it| it.upper.as_ref());
        lows.retain(|it| !highs.contains(it));
        Self { body, symbol, extents, left, cut, symbols, lows, ivs }
    }

    /// Calls `visit` each time a scope is entered, in order.
    pub(super) fn each(
        &mut self,
        scope: Option<u32>,
        visit: &mut dyn FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let mut scopes: Vec<u32> = self.body.scopes_around(scope).collect();
        scopes.reverse();
        self.enter(&scopes, visit)
    }

    fn enter(
        &mut self,
        scopes: &[u32],
        visit: &mut dyn FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        let Some((&scope, inner)) = scopes.split_first() else { return visit(self) };
        let scope = &self.body.scopes[scope as usize];
        match scope.kind {
            ScopeKind::Choice(_) => Err(Stop::Unknown),
            ScopeKind::Guard => {
                if self.holds(&scope.when)? {
                    self.enter(inner, visit)?;
                }
                Ok(())
            }
            ScopeKind::Loop(at) => {
                let it = &self.body.loops[at as usize];
                let step = it.step.filter(|it| *it > 0).ok_or(Stop::Unknown)?;
                let low = self.ends(it.lower.as_deref())?.into_iter().max();
                let high = self.ends(it.upper.as_deref())?.into_iter().min();
                let (low, high) = low.zip(high).ok_or(Stop::Unknown)?;
                let mut iv = low;
                let mut n = 0;
                while iv < high {
                    self.left = self.left.checked_sub(1).ok_or(Stop::Spent)?;
                    match self.extents[at as usize] {
                        Extent::At(only) if iv > i128::from(only) => break,
                        Extent::First(most) if n >= most => {
                            self.cut.insert(at);
                            break;
                        }
                        Extent::At(only) if iv < i128::from(only) => {}
                        _ => {
                            self.ivs[at as usize] = Some(iv);
                            self.enter(inner, visit)?;
                        }
                    }
                    n += 1;
                    iv = iv.checked_add(step).ok_or(Stop::Unknown)?;
                }
                self.ivs[at as usize] = None;
                Ok(())
            }
        }
    }

    fn ends(&mut self, bounds: Option<&[Form]>) -> Result<Vec<i128>, Stop> {
        bounds.ok_or(Stop::Unknown)?.iter().map(|it| self.value(it)).collect()
    }

    fn holds(&mut self, when: &[Vec<Constraint>]) -> Result<bool, Stop> {
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
    pub(super) fn value(&mut self, form: &Form) -> Result<i128, Stop> {
        let mut sum = form.constant;
        for &(term, by) in &form.terms {
            let value = match term {
                Term::Iv(at) => self.ivs[at as usize].ok_or(Stop::Unknown)?,
                Term::Symbol(value) => {
                    self.symbols.insert(value);
                    if self.lows.contains(&value) { 0 } else { i128::from(self.symbol) }
                }
                Term::Quotient(at) => {
                    let it = self.body.quotients.get(at);
                    self.value(&it.form)?.div_euclid(it.by)
                }
                Term::Local(_) | Term::Step(_) => return Err(Stop::Unknown),
            };
            let product = value.checked_mul(by).ok_or(Stop::Unknown)?;
            sum = sum.checked_add(product).ok_or(Stop::Unknown)?;
        }
        Ok(sum)
    }

    /// Returns the value of the induction variable of a loop in the current iteration.
    pub(super) fn iv(&self, loop_: u32) -> Result<i64, Stop> {
        let it = self.ivs[loop_ as usize].ok_or(Stop::Unknown)?;
        i64::try_from(it).map_err(|_| Stop::Unknown)
    }
}
