//! Affine maps with their operands: composition, canonical form and simplification.
//!
//! *Canonical form*: No operand is an `affine.apply`, a constant, repeated or unused. Each operand
//! that may be a symbol is a symbol. Affine expressions are sums of dimensions, symbols and
//! quotients with constant coefficients, in this order. *Law.* The value is the same at each point.
//! *Cost.* Each composition adds the size of the operand's expression. A composition that could
//! exceed [`MAX_NODES`] nodes is not made.

use noisy_polyhedra::gcd;
use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::{Ir, OpKind, Value};

use crate::rewrite::constants::int_of;
use crate::rewrite::{operand, operands};

/// Maximum number of nodes of composed expressions.
const MAX_NODES: usize = 1000;

/// A map (or set) with its operands.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct AppliedMap {
    pub(crate) map: Affine,
    pub(crate) operands: Vec<Value>,
}

/// Returns the expressions of a map or set.
pub(crate) fn exprs(body: &AffineBody) -> Vec<AffineExpr> {
    match body {
        AffineBody::Map(all) => all.clone(),
        AffineBody::Set(all) => all.iter().map(|it| it.0.clone()).collect(),
    }
}

/// Renumbers the dimensions and symbols of an expression so that they follow `n_dims` dimensions
/// and `n_symbols` symbols.
pub(crate) fn renumbered(expr: &AffineExpr, n_dims: u32, n_symbols: u32) -> AffineExpr {
    replace_leaves(expr, &|it| match it {
        AffineExpr::Dim(at) => AffineExpr::Dim(at + n_dims),
        AffineExpr::Symbol(at) => AffineExpr::Symbol(at + n_symbols),
        other => other.clone(),
    })
}

/// Returns a body with other expressions of the same kind.
pub(crate) fn with_exprs(body: &AffineBody, exprs: Vec<AffineExpr>) -> AffineBody {
    match body {
        AffineBody::Map(_) => AffineBody::Map(exprs),
        AffineBody::Set(all) => {
            AffineBody::Set(exprs.into_iter().zip(all).map(|(it, old)| (it, old.1)).collect())
        }
    }
}

/// Replaces the dimensions and symbols of an expression.
pub(crate) fn replace_leaves(
    expr: &AffineExpr,
    of: &dyn Fn(&AffineExpr) -> AffineExpr,
) -> AffineExpr {
    match expr {
        AffineExpr::Const(_) => expr.clone(),
        AffineExpr::Dim(_) | AffineExpr::Symbol(_) => of(expr),
        AffineExpr::Binary(op, both) => {
            AffineExpr::binary(*op, replace_leaves(&both.0, of), replace_leaves(&both.1, of))
        }
    }
}

fn n_nodes(expr: &AffineExpr) -> usize {
    match expr {
        AffineExpr::Binary(_, both) => 1 + n_nodes(&both.0) + n_nodes(&both.1),
        _ => 1,
    }
}

/// Returns true if a value may be a symbol of a map: it is a constant, is defined at the top level
/// of a function, or is an `affine.apply` of such values.
pub(crate) fn is_symbol(ir: &Ir, value: Value) -> bool {
    let mut stack = vec![value];
    let mut n = 0;
    while let Some(value) = stack.pop() {
        n += 1;
        if n > 100 {
            return false;
        }
        let region = ir.def_region(value);
        let is_top = ir.region(region).parent.is_some_and(|it| ir.op(it).kind == OpKind::FuncFunc);
        if is_top || int_of(ir, value).is_some() {
            continue;
        }
        match ir.defining_op(value) {
            Some(op) if ir.op(op).kind == OpKind::AffineApply => stack.extend(operands(ir, op)),
            _ => return false,
        }
    }
    true
}

/// Returns the dimension or symbol of an operand.
fn leaf_of_operand(map: &Affine, at: usize) -> AffineExpr {
    let at = at as u32;
    if at < map.n_dims { AffineExpr::Dim(at) } else { AffineExpr::Symbol(at - map.n_dims) }
}

impl AppliedMap {
    /// Returns the map in canonical form.
    pub(crate) fn canonical(&self, ir: &Ir) -> Self {
        let mut out = self.clone();
        while out.compose_one(ir) {}
        out.promote_to_symbols(ir);
        let constant = |it: Value| int_of(ir, it).and_then(|it| i64::try_from(it).ok());
        out.merge_operands(&constant);
        out.simplify();
        // Simplification may leave operands unused.
        out.merge_operands(&constant);
        out
    }

    /// Composes with the first operand that is an `affine.apply`.
    fn compose_one(&mut self, ir: &Ir) -> bool {
        let total: usize = exprs(&self.map.body).iter().map(n_nodes).sum();
        for at in 0..self.operands.len() {
            let Some(apply) = ir
                .defining_op(self.operands[at])
                .filter(|&it| ir.op(it).kind == OpKind::AffineApply)
            else {
                continue;
            };
            let Some(inner) = ir.attr(apply, "map").and_then(|it| ir.interner.affine(it)) else {
                continue;
            };
            let AffineBody::Map(results) = &inner.body else { continue };
            let [expr] = &results[..] else { continue };
            if n_nodes(expr) * total.max(1) > MAX_NODES {
                continue;
            }
            let (n_dims, n_symbols) = (self.map.n_dims, self.map.n_symbols);
            // Dimensions and symbols of the inner map follow those of the outer map.
            let shifted = renumbered(expr, n_dims, n_symbols);
            let gone = leaf_of_operand(&self.map, at);
            let of = |it: &AffineExpr| if *it == gone { shifted.clone() } else { it.clone() };
            let exprs = exprs(&self.map.body).iter().map(|it| replace_leaves(it, &of)).collect();
            self.map.body = with_exprs(&self.map.body, exprs);
            let inner_operands = operands(ir, apply);
            let (dims, symbols) = self.operands.split_at(n_dims as usize);
            let (inner_dims, inner_symbols) =
                inner_operands.split_at((inner.n_dims as usize).min(inner_operands.len()));
            self.operands = [dims, inner_dims, symbols, inner_symbols].concat();
            self.map.n_dims += inner.n_dims;
            self.map.n_symbols += inner.n_symbols;
            // The composed operand is now unused.
            let at = if at < n_dims as usize { at } else { at + inner.n_dims as usize };
            self.drop_operand(at);
            return true;
        }
        false
    }

    /// Removes an unused operand.
    fn drop_operand(&mut self, at: usize) {
        let gone = leaf_of_operand(&self.map, at);
        let of = |it: &AffineExpr| match (it, &gone) {
            (AffineExpr::Dim(a), AffineExpr::Dim(b)) if a > b => AffineExpr::Dim(a - 1),
            (AffineExpr::Symbol(a), AffineExpr::Symbol(b)) if a > b => AffineExpr::Symbol(a - 1),
            _ => it.clone(),
        };
        let exprs = exprs(&self.map.body).iter().map(|it| replace_leaves(it, &of)).collect();
        self.map.body = with_exprs(&self.map.body, exprs);
        match gone {
            AffineExpr::Dim(_) => self.map.n_dims -= 1,
            _ => self.map.n_symbols -= 1,
        }
        self.operands.remove(at);
    }

    /// Converts dimensions that may be symbols to symbols, after the existing symbols.
    fn promote_to_symbols(&mut self, ir: &Ir) {
        let (n_dims, n_symbols) = (self.map.n_dims as usize, self.map.n_symbols);
        let mut of_dims = Vec::new();
        let (mut kept, mut moved) = (Vec::new(), Vec::new());
        for &value in &self.operands[..n_dims] {
            if is_symbol(ir, value) {
                of_dims.push(AffineExpr::Symbol(n_symbols + moved.len() as u32));
                moved.push(value);
            } else {
                of_dims.push(AffineExpr::Dim(kept.len() as u32));
                kept.push(value);
            }
        }
        let of = |it: &AffineExpr| match it {
            AffineExpr::Dim(at) => of_dims[*at as usize].clone(),
            other => other.clone(),
        };
        let exprs = exprs(&self.map.body).iter().map(|it| replace_leaves(it, &of)).collect();
        self.map.body = with_exprs(&self.map.body, exprs);
        self.map.n_dims = kept.len() as u32;
        self.map.n_symbols += moved.len() as u32;
        self.operands = [&kept, &self.operands[n_dims..], &moved].concat();
    }

    /// Simplifies each expression of the map.
    pub(crate) fn simplify(&mut self) {
        let exprs = exprs(&self.map.body).iter().map(|it| simplified(it, &self.map)).collect();
        self.map.body = with_exprs(&self.map.body, exprs);
    }

    /// Removes unused operands, substitutes constant operands, and merges equal operands.
    pub(crate) fn merge_operands(&mut self, constant_of: &dyn Fn(Value) -> Option<i64>) {
        let mut used = vec![false; self.operands.len()];
        let mut stack: Vec<AffineExpr> = exprs(&self.map.body);
        while let Some(it) = stack.pop() {
            match it {
                AffineExpr::Const(_) => {}
                AffineExpr::Dim(at) => used[at as usize] = true,
                AffineExpr::Symbol(at) => used[(at + self.map.n_dims) as usize] = true,
                AffineExpr::Binary(_, both) => stack.extend([both.0, both.1]),
            }
        }
        let n_dims = self.map.n_dims as usize;
        let (mut dims, mut symbols): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
        let mut of_all = Vec::new();
        for (at, &value) in self.operands.iter().enumerate() {
            let number = constant_of(value);
            let list = if at < n_dims { &mut dims } else { &mut symbols };
            of_all.push(match number {
                _ if !used[at] => AffineExpr::Const(0),
                Some(number) => AffineExpr::Const(number),
                None => {
                    let place = list.iter().position(|it| *it == value).unwrap_or_else(|| {
                        list.push(value);
                        list.len() - 1
                    }) as u32;
                    if at < n_dims { AffineExpr::Dim(place) } else { AffineExpr::Symbol(place) }
                }
            });
        }
        let of = |it: &AffineExpr| match it {
            AffineExpr::Dim(at) => of_all[*at as usize].clone(),
            AffineExpr::Symbol(at) => of_all[*at as usize + n_dims].clone(),
            other => other.clone(),
        };
        let exprs = exprs(&self.map.body).iter().map(|it| replace_leaves(it, &of)).collect();
        self.map.body = with_exprs(&self.map.body, exprs);
        self.map.n_dims = dims.len() as u32;
        self.map.n_symbols = symbols.len() as u32;
        self.operands = [dims, symbols].concat();
    }
}

/// A linear combination of dimensions, symbols, quotients and products.
#[derive(Clone, Debug, Default)]
struct LinearSum {
    /// The coefficients of dimensions, then of symbols.
    coefficients: Vec<i64>,
    /// The coefficients of quotients, products, and divisions by nonconstants, in the order of
    /// their first use. All sums of an expression number these terms alike.
    locals: Vec<i64>,
    constant: i64,
}

/// Returns an expression in canonical form. Products and divisions that are not affine keep their
/// form, with operands in canonical form. An expression whose coefficients overflow is unchanged.
pub(crate) fn simplified(expr: &AffineExpr, map: &Affine) -> AffineExpr {
    let mut locals = Vec::new();
    match flatten(expr, map, &mut locals) {
        Some(sum) => rebuilt(&sum, map, &locals),
        None => expr.clone(),
    }
}

/// Returns a constraint expression that holds for the same points, in canonical form and divided by
/// the common factor of all coefficients.
pub(crate) fn simplified_constraint(
    expr: &AffineExpr,
    is_equality: bool,
    map: &Affine,
) -> AffineExpr {
    let mut locals = Vec::new();
    let Some(mut sum) = flatten(expr, map, &mut locals) else { return expr.clone() };
    let factors = sum.coefficients.iter().chain(&sum.locals);
    let divisor = factors.fold(0, |a, &b| gcd(a, i128::from(b)));
    // If the constant is not a multiple, an equality never holds and is left unchanged. In an
    // inequality, the constant may be rounded down.
    let divisor = i64::try_from(divisor).unwrap_or(1);
    if divisor > 1 && (!is_equality || sum.constant % divisor == 0) {
        for it in sum.coefficients.iter_mut().chain(&mut sum.locals) {
            *it /= divisor;
        }
        sum.constant = sum.constant.div_euclid(divisor);
    }
    rebuilt(&sum, map, &locals)
}

/// Returns the coefficients of dimensions and symbols, and the constant. `None` if the expression
/// has other terms.
pub(crate) fn linear_coefficients(expr: &AffineExpr, map: &Affine) -> Option<Vec<i64>> {
    let mut locals = Vec::new();
    let sum = flatten(expr, map, &mut locals)?;
    locals.is_empty().then(|| sum.all_coefficients().collect())
}

fn rebuilt(sum: &LinearSum, map: &Affine, locals: &[AffineExpr]) -> AffineExpr {
    let mut out = AffineExpr::Const(0);
    let term = |it: AffineExpr, by: i64| {
        AffineExpr::binary(AffineOperator::Mul, it, AffineExpr::Const(by))
    };
    let mut add = |it: AffineExpr, by: i64| {
        let sum = std::mem::replace(&mut out, AffineExpr::Const(0));
        out = AffineExpr::binary(AffineOperator::Add, sum, term(it, by));
    };
    // A product of two dimensions or symbols follows the term of the first one. Other products
    // follow all quotients.
    let used: Vec<(&AffineExpr, i64)> = locals.iter().zip(sum.locals.iter().copied()).collect();
    let used = used.into_iter().filter(|it| it.1 != 0);
    let (mut products, quotients): (Vec<_>, Vec<_>) =
        used.partition(|it| matches!(it.0, AffineExpr::Binary(AffineOperator::Mul, _)));
    products.sort_by_key(|it| leaf_indices(map, it.0));
    let mut products = products.into_iter().peekable();
    for (at, &by) in sum.coefficients.iter().enumerate() {
        if by != 0 {
            add(leaf_of_operand(map, at), by);
        }
        while let Some((it, by)) = products.next_if(|it| leaf_indices(map, it.0).0 == at) {
            add(it.clone(), by);
        }
    }
    for (it, by) in quotients.into_iter().chain(products) {
        add(it.clone(), by);
    }
    if sum.constant != 0 {
        out = AffineExpr::binary(AffineOperator::Add, out, AffineExpr::Const(sum.constant));
    }
    out
}

/// Returns the indices of the two dimensions or symbols of a product, and maximum indices for any
/// other term.
fn leaf_indices(map: &Affine, it: &AffineExpr) -> (usize, usize) {
    let number = |it: &AffineExpr| match it {
        AffineExpr::Dim(at) => Some(*at as usize),
        AffineExpr::Symbol(at) => Some((*at + map.n_dims) as usize),
        _ => None,
    };
    match it {
        AffineExpr::Binary(AffineOperator::Mul, both) => number(&both.0).zip(number(&both.1)),
        _ => None,
    }
    .unwrap_or((usize::MAX, usize::MAX))
}

impl LinearSum {
    fn all_coefficients(&self) -> impl Iterator<Item = i64> + '_ {
        self.coefficients.iter().chain(&self.locals).copied().chain([self.constant])
    }

    /// Returns the constant if all coefficients are zero.
    fn constant_value(&self) -> Option<i64> {
        let is_number = self.coefficients.iter().chain(&self.locals).all(|it| *it == 0);
        is_number.then_some(self.constant)
    }

    fn map(&self, of: impl Fn(i64) -> Option<i64>) -> Option<Self> {
        Some(Self {
            coefficients: self.coefficients.iter().map(|&it| of(it)).collect::<Option<_>>()?,
            locals: self.locals.iter().map(|&it| of(it)).collect::<Option<_>>()?,
            constant: of(self.constant)?,
        })
    }

    fn plus_multiple(&self, other: &Self, by: i64) -> Option<Self> {
        let n = self.locals.len().max(other.locals.len());
        let add = |a: i64, b: i64| a.checked_add(b.checked_mul(by)?);
        let at = |list: &[i64], at: usize| list.get(at).copied().unwrap_or(0);
        Some(Self {
            coefficients: self
                .coefficients
                .iter()
                .zip(&other.coefficients)
                .map(|(&a, &b)| add(a, b))
                .collect::<Option<_>>()?,
            locals: (0..n)
                .map(|it| add(at(&self.locals, it), at(&other.locals, it)))
                .collect::<Option<_>>()?,
            constant: add(self.constant, other.constant)?,
        })
    }
}

fn flatten(expr: &AffineExpr, map: &Affine, locals: &mut Vec<AffineExpr>) -> Option<LinearSum> {
    let n = (map.n_dims + map.n_symbols) as usize;
    let nothing = || LinearSum { coefficients: vec![0; n], locals: Vec::new(), constant: 0 };
    match expr {
        AffineExpr::Const(value) => Some(LinearSum { constant: *value, ..nothing() }),
        AffineExpr::Dim(at) | AffineExpr::Symbol(at) => {
            let mut out = nothing();
            let shift = if matches!(expr, AffineExpr::Dim(_)) { 0 } else { map.n_dims };
            *out.coefficients.get_mut((at + shift) as usize)? = 1;
            Some(out)
        }
        AffineExpr::Binary(AffineOperator::Add, both) => {
            let a = flatten(&both.0, map, locals)?;
            a.plus_multiple(&flatten(&both.1, map, locals)?, 1)
        }
        AffineExpr::Binary(AffineOperator::Mul, both) => {
            let (a, b) = (flatten(&both.0, map, locals)?, flatten(&both.1, map, locals)?);
            match (a.constant_value(), b.constant_value()) {
                (_, Some(by)) => a.map(|it| it.checked_mul(by)),
                (Some(by), _) => b.map(|it| it.checked_mul(by)),
                // A product of nonconstants is not affine. It becomes a term of its own.
                _ => {
                    let (a, b) = (rebuilt(&a, map, locals), rebuilt(&b, map, locals));
                    Some(local_term(AffineExpr::binary(AffineOperator::Mul, a, b), n, locals))
                }
            }
        }
        AffineExpr::Binary(op, both) => {
            let AffineExpr::Const(by) = both.1 else {
                let sides = [&both.0, &both.1].map(|it| flatten(it, map, locals));
                let [Some(a), Some(b)] = sides else { return None };
                // A divisor that simplifies to a constant is not supported here.
                if b.constant_value().is_some() {
                    return None;
                }
                let (a, b) = (rebuilt(&a, map, locals), rebuilt(&b, map, locals));
                return Some(local_term(AffineExpr::binary(*op, a, b), n, locals));
            };
            if by <= 0 {
                return None;
            }
            let sum = flatten(&both.0, map, locals)?;
            let divisor = sum.all_coefficients().fold(i128::from(by), |a, b| gcd(a, i128::from(b)));
            let divisor = i64::try_from(divisor).unwrap_or(1).max(1);
            let small = sum.map(|it| Some(it / divisor))?;
            let small_by = by / divisor;
            if small_by == 1 {
                return Some(if *op == AffineOperator::Mod { nothing() } else { small });
            }
            let kind = if *op == AffineOperator::CeilDiv { *op } else { AffineOperator::FloorDiv };
            let dividend = rebuilt(&small, map, locals);
            let quotient = AffineExpr::binary(kind, dividend, AffineExpr::Const(small_by));
            if let AffineExpr::Const(value) = quotient {
                let out = LinearSum { constant: value, ..nothing() };
                return if *op == AffineOperator::Mod {
                    sum.plus_multiple(&out, by.checked_neg()?)
                } else {
                    Some(out)
                };
            }
            let out = local_term(quotient, n, locals);
            if *op == AffineOperator::Mod {
                sum.plus_multiple(&out, by.checked_neg()?)
            } else {
                Some(out)
            }
        }
    }
}

/// Returns a sum with one term, an expression that it adds to the list of terms if needed.
fn local_term(it: AffineExpr, n: usize, names: &mut Vec<AffineExpr>) -> LinearSum {
    let place = names.iter().position(|old| *old == it).unwrap_or_else(|| {
        names.push(it);
        names.len() - 1
    });
    let mut locals = vec![0; place + 1];
    locals[place] = 1;
    LinearSum { coefficients: vec![0; n], locals, constant: 0 }
}

/// Returns a map attribute of an op with its operands, which start at operand number `first`.
pub(crate) fn applied_map(
    ir: &Ir,
    op: noisy_syntax::Op,
    name: &str,
    first: usize,
) -> Option<AppliedMap> {
    let map = ir.interner.affine(ir.attr(op, name)?)?.clone();
    let n = map.n_inputs();
    let operands = (first..first + n).map(|it| operand(ir, op, it)).collect::<Option<_>>()?;
    Some(AppliedMap { map, operands })
}
