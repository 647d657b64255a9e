//! Affine forms over the variables of a [`FunctionBody`](crate::FunctionBody).

use noisy_syntax::Value;
use noisy_syntax::affine::{AffineExpr, AffineOperator};

/// A variable of a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LinearTerm {
    /// The induction variable of a loop: an index into
    /// [`FunctionBody::loops`](crate::FunctionBody::loops).
    Iv(u32),
    /// Number of the current iteration of a loop with a step above 1, from 0.
    Step(u32),
    /// A value that is the same in all iterations of all loops.
    Symbol(Value),
    /// A value that has one value per iteration of the loops around its definition.
    Local(Value),
    /// A rounded quotient: an index into [`Quotients`].
    Quotient(u32),
}

/// An affine form: a sum of terms with coefficients, and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinearForm {
    /// The terms with their coefficients, sorted by term. No coefficient is 0.
    pub terms: Vec<(LinearTerm, i128)>,
    /// The constant.
    pub constant: i128,
}

/// The quotient of a form and a positive number, rounded down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Quotient {
    /// The dividend.
    pub form: LinearForm,
    /// The divisor.
    pub divisor: i128,
    /// The nesting depth of quotients.
    depth: u32,
    /// True if the quotient is the same in all iterations.
    pub is_symbolic: bool,
}

/// Maximum size of forms and nesting of quotients and expressions. Larger ones are not affine; no
/// real program needs them.
const MAX_TERMS: usize = 128;
const MAX_QUOTIENT_DEPTH: u32 = 32;
const MAX_EXPR_DEPTH: usize = 256;

/// The error for an expression that is not affine with constant coefficients, or is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotAffine;

impl LinearForm {
    /// Returns a constant form.
    pub fn constant(constant: i128) -> Self {
        Self { terms: Vec::new(), constant }
    }

    /// Returns the form of a single term.
    pub fn term(term: LinearTerm) -> Self {
        Self { terms: vec![(term, 1)], constant: 0 }
    }

    /// Returns `self + other * by`.
    ///
    /// # Errors
    /// If a number or the form gets too large.
    pub fn plus(&self, other: &LinearForm, by: i128) -> Result<LinearForm, NotAffine> {
        let scaled = |it: i128| it.checked_mul(by).ok_or(NotAffine);
        let mut terms = Vec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            let (term, coefficient) = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) if x.0 == y.0 => {
                    let sum = x.1.checked_add(scaled(y.1)?).ok_or(NotAffine)?;
                    let term = x.0;
                    a.next();
                    b.next();
                    (term, sum)
                }
                (Some(&&x), y) if y.is_none_or(|y| x.0 < y.0) => {
                    a.next();
                    x
                }
                (_, Some(&&y)) => {
                    b.next();
                    (y.0, scaled(y.1)?)
                }
                (_, None) => break,
            };
            if coefficient != 0 {
                terms.push((term, coefficient));
            }
        }
        let constant = self.constant.checked_add(scaled(other.constant)?).ok_or(NotAffine)?;
        if terms.len() > MAX_TERMS { Err(NotAffine) } else { Ok(LinearForm { terms, constant }) }
    }

    /// Returns `self * by`.
    ///
    /// # Errors
    /// If a number gets too large.
    pub fn times(&self, by: i128) -> Result<LinearForm, NotAffine> {
        LinearForm::default().plus(self, by)
    }

    /// Returns `self + constant`.
    ///
    /// # Errors
    /// If a number gets too large.
    pub fn offset(&self, constant: i128) -> Result<LinearForm, NotAffine> {
        let constant = self.constant.checked_add(constant).ok_or(NotAffine)?;
        Ok(LinearForm { terms: self.terms.clone(), constant })
    }

    /// Returns the constant if the form has no term.
    pub fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.constant)
    }
}

/// The interned quotients of a body.
#[derive(Clone, Debug, Default)]
pub struct Quotients {
    all: Vec<Quotient>,
}

impl Quotients {
    pub fn get(&self, at: u32) -> &Quotient {
        &self.all[at as usize]
    }

    /// Returns the quotient of a form and a number, rounded down.
    ///
    /// # Errors
    /// If the number is not positive, or quotients are nested too deeply.
    pub fn floor_div(&mut self, form: &LinearForm, by: i128) -> Result<LinearForm, NotAffine> {
        if by <= 0 {
            return Err(NotAffine);
        }
        // Terms that are divisible by `by` are split off: (by a + b) / by = a + b / by.
        let mut outer = LinearForm::constant(form.constant.div_euclid(by));
        let mut inner = LinearForm::constant(form.constant.rem_euclid(by));
        for &(term, coefficient) in &form.terms {
            let side = if coefficient % by == 0 { &mut outer } else { &mut inner };
            side.terms
                .push((term, if coefficient % by == 0 { coefficient / by } else { coefficient }));
        }
        if inner.terms.is_empty() {
            return Ok(outer);
        }
        let at = match self.all.iter().position(|it| it.divisor == by && it.form == inner) {
            Some(at) => at,
            None => {
                let nested = inner.terms.iter().filter_map(|it| match it.0 {
                    LinearTerm::Quotient(at) => Some(self.get(at).depth),
                    _ => None,
                });
                let depth = nested.max().map_or(0, |it| it + 1);
                if depth > MAX_QUOTIENT_DEPTH {
                    return Err(NotAffine);
                }
                let is_symbolic = inner.terms.iter().all(|it| match it.0 {
                    LinearTerm::Symbol(_) => true,
                    LinearTerm::Quotient(at) => self.get(at).is_symbolic,
                    _ => false,
                });
                self.all.push(Quotient { form: inner, divisor: by, depth, is_symbolic });
                self.all.len() - 1
            }
        };
        outer.plus(&LinearForm::term(LinearTerm::Quotient(at as u32)), 1)
    }

    /// Returns the form of an expression, given the forms of its dimensions and symbols.
    ///
    /// # Errors
    /// If the expression is not affine with constant coefficients, or is too large.
    pub fn form(
        &mut self,
        expr: &AffineExpr,
        dims: &[LinearForm],
        symbols: &[LinearForm],
    ) -> Result<LinearForm, NotAffine> {
        self.form_within(expr, dims, symbols, MAX_EXPR_DEPTH)
    }

    fn form_within(
        &mut self,
        expr: &AffineExpr,
        dims: &[LinearForm],
        symbols: &[LinearForm],
        nesting: usize,
    ) -> Result<LinearForm, NotAffine> {
        let nesting = nesting.checked_sub(1).ok_or(NotAffine)?;
        let (op, both) = match expr {
            AffineExpr::Const(value) => return Ok(LinearForm::constant(i128::from(*value))),
            AffineExpr::Dim(at) => return dims.get(*at as usize).cloned().ok_or(NotAffine),
            AffineExpr::Symbol(at) => return symbols.get(*at as usize).cloned().ok_or(NotAffine),
            AffineExpr::Binary(op, both) => (*op, both),
        };
        let a = self.form_within(&both.0, dims, symbols, nesting)?;
        let b = self.form_within(&both.1, dims, symbols, nesting)?;
        match op {
            AffineOperator::Add => a.plus(&b, 1),
            AffineOperator::Mul => match (a.as_constant(), b.as_constant()) {
                (_, Some(by)) => a.times(by),
                (Some(by), _) => b.times(by),
                _ => Err(NotAffine),
            },
            AffineOperator::FloorDiv => self.floor_div(&a, b.as_constant().ok_or(NotAffine)?),
            AffineOperator::CeilDiv => {
                let by = b.as_constant().ok_or(NotAffine)?;
                let raised = a.offset(by.checked_sub(1).ok_or(NotAffine)?)?;
                self.floor_div(&raised, by)
            }
            AffineOperator::Mod => {
                let by = b.as_constant().ok_or(NotAffine)?;
                let quotient = self.floor_div(&a, by)?;
                a.plus(&quotient, by.checked_neg().ok_or(NotAffine)?)
            }
        }
    }
}
