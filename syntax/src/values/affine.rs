//! Affine maps and sets as data.
//!
//! Expressions are built by [`AffineExpr::binary`]. It simplifies exactly as MLIR does (folds
//! constants, moves constants and symbols to the right, recombines `d0 floordiv c * c + d0 mod c`),
//! so equal texts of MLIR's printer mean equal data.

use std::fmt;

use smallvec::SmallVec;

/// An affine map or set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Affine {
    /// Number of dimensions.
    pub n_dims: u32,
    /// Number of symbols.
    pub n_symbols: u32,
    /// The results of a map, or the constraints of a set.
    pub body: AffineBody,
}

/// The results of an affine map, or the constraints of an affine set.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AffineBody {
    /// The results of a map.
    Map(Vec<AffineExpr>),
    /// The constraints of a set: an expression that is `== 0` (`true`) or `>= 0` (`false`).
    Set(Vec<(AffineExpr, bool)>),
}

/// An affine expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum AffineExpr {
    /// A number.
    Const(i64),
    /// `d0`
    Dim(u32),
    /// `s0`
    Symbol(u32),
    /// An operation on two expressions.
    Binary(AffineOperator, Box<(AffineExpr, AffineExpr)>),
}

/// An operation on two affine expressions; subtraction is addition of a product with -1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AffineOperator {
    /// `+`
    Add,
    /// `*`
    Mul,
    /// `mod`
    Mod,
    /// `floordiv`
    FloorDiv,
    /// `ceildiv`
    CeilDiv,
}

use AffineOperator::{Add, CeilDiv, FloorDiv, Mod, Mul};

impl Affine {
    /// `() -> (value)`
    pub fn constant(value: i64) -> Self {
        Self { n_dims: 0, n_symbols: 0, body: AffineBody::Map(vec![AffineExpr::Const(value)]) }
    }

    /// `()[s0] -> (s0)`
    pub fn symbol() -> Self {
        Self { n_dims: 0, n_symbols: 1, body: AffineBody::Map(vec![AffineExpr::Symbol(0)]) }
    }

    /// `(d0) -> (d0)`
    pub fn identity(n: u32) -> Self {
        Self {
            n_dims: n,
            n_symbols: 0,
            body: AffineBody::Map((0..n).map(AffineExpr::Dim).collect()),
        }
    }

    /// The number of results, or of constraints.
    pub fn n_results(&self) -> usize {
        match &self.body {
            AffineBody::Map(results) => results.len(),
            AffineBody::Set(constraints) => constraints.len(),
        }
    }

    /// Number of inputs: dimensions and symbols.
    pub fn n_inputs(&self) -> usize {
        (self.n_dims + self.n_symbols) as usize
    }

    /// Approximate length of the text, in tokens.
    pub(crate) fn n_parts(&self) -> usize {
        self.n_inputs() + 4 * self.n_results()
    }

    /// Evaluates a map for integer inputs, dimensions first, in wrapping 64-bit arithmetic. Inputs
    /// that no result reads may be unknown. Returns `None` for a set, if a read input is unknown or
    /// does not fit into 64 bits, or if a result is undefined.
    pub fn evaluate(&self, input: &dyn Fn(usize) -> Option<i128>) -> Option<SmallVec<[i64; 2]>> {
        let AffineBody::Map(results) = &self.body else { return None };
        let n_dims = self.n_dims as usize;
        let inputs: SmallVec<[Option<i64>; 4]> =
            (0..self.n_inputs()).map(|at| i64::try_from(input(at)?).ok()).collect();
        let known: SmallVec<[i64; 4]> = inputs.iter().map(|it| it.unwrap_or(0)).collect();
        let is_known = |at: usize| inputs.get(at).copied().flatten().is_some();
        let value = |expr: &AffineExpr| {
            let is_read = expr.reads_only(n_dims, &is_known);
            is_read.then(|| expr.evaluate(&known[..n_dims], &known[n_dims..]))?
        };
        results.iter().map(value).collect()
    }

    /// Returns true for a set.
    pub(crate) fn is_set(&self) -> bool {
        matches!(self.body, AffineBody::Set(_))
    }
}

impl AffineExpr {
    /// Returns true if the expression contains only constants and symbols.
    pub fn is_symbolic(&self) -> bool {
        match self {
            AffineExpr::Const(_) | AffineExpr::Symbol(_) => true,
            AffineExpr::Dim(_) => false,
            AffineExpr::Binary(_, both) => both.0.is_symbolic() && both.1.is_symbolic(),
        }
    }

    /// Returns true if `is_among` is true for the index of every input that the expression reads
    /// (dimensions first).
    fn reads_only(&self, n_dims: usize, is_among: &dyn Fn(usize) -> bool) -> bool {
        match self {
            AffineExpr::Const(_) => true,
            AffineExpr::Dim(at) => is_among(*at as usize),
            AffineExpr::Symbol(at) => is_among(*at as usize + n_dims),
            AffineExpr::Binary(_, both) => {
                both.0.reads_only(n_dims, is_among) && both.1.reads_only(n_dims, is_among)
            }
        }
    }

    /// The largest number that is known to divide the expression; 0 for the constant 0.
    pub fn largest_known_divisor(&self) -> u64 {
        match self {
            AffineExpr::Const(value) => value.unsigned_abs(),
            AffineExpr::Dim(_) | AffineExpr::Symbol(_) => 1,
            AffineExpr::Binary(Mul, both) => {
                both.0.largest_known_divisor().saturating_mul(both.1.largest_known_divisor())
            }
            AffineExpr::Binary(Add | Mod, both) => {
                gcd(both.0.largest_known_divisor(), both.1.largest_known_divisor())
            }
            AffineExpr::Binary(FloorDiv | CeilDiv, both) => match both.1 {
                AffineExpr::Const(by) if by > 0 => {
                    let divisor = both.0.largest_known_divisor();
                    if divisor.is_multiple_of(by.unsigned_abs()) {
                        divisor / by.unsigned_abs()
                    } else {
                        1
                    }
                }
                _ => 1,
            },
        }
    }

    /// Combines two expressions and simplifies the result.
    #[must_use]
    pub fn binary(op: AffineOperator, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        match op {
            Add => add(a, b),
            Mul => mul(a, b),
            Mod => modulo(a, b),
            FloorDiv | CeilDiv => divide(op, a, b),
        }
    }

    /// `-self`
    #[must_use]
    pub fn negated(self) -> AffineExpr {
        mul(self, AffineExpr::Const(-1))
    }

    /// Writes the expression in MLIR's syntax. `leaf` writes dimensions and symbols.
    ///
    /// # Errors
    /// The errors of `out` and `leaf`.
    pub fn write<W: fmt::Write>(
        &self,
        out: &mut W,
        leaf: &dyn Fn(&mut W, &AffineExpr) -> fmt::Result,
    ) -> fmt::Result {
        write_expr(out, self, Binding::Weak, leaf)
    }

    fn unsimplified(op: AffineOperator, a: AffineExpr, b: AffineExpr) -> AffineExpr {
        AffineExpr::Binary(op, Box::new((a, b)))
    }

    /// Evaluates the expression in wrapping 64-bit arithmetic. `None` if it is undefined: a
    /// division by zero, or a remainder by less than one.
    pub fn evaluate(&self, dims: &[i64], symbols: &[i64]) -> Option<i64> {
        match self {
            AffineExpr::Const(value) => Some(*value),
            AffineExpr::Dim(at) => dims.get(*at as usize).copied(),
            AffineExpr::Symbol(at) => symbols.get(*at as usize).copied(),
            AffineExpr::Binary(op, both) => {
                let (a, b) = (both.0.evaluate(dims, symbols)?, both.1.evaluate(dims, symbols)?);
                match op {
                    Add => Some(a.wrapping_add(b)),
                    Mul => Some(a.wrapping_mul(b)),
                    Mod => (b > 0).then(|| a.rem_euclid(b)),
                    FloorDiv => (b != 0).then(|| floor(a, b)).flatten(),
                    CeilDiv => (b != 0).then(|| ceil(a, b)).flatten(),
                }
            }
        }
    }
}

fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

fn floor(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient })
}

fn ceil(a: i64, b: i64) -> Option<i64> {
    let quotient = a.checked_div(b)?;
    Some(if a % b != 0 && (a < 0) == (b < 0) { quotient + 1 } else { quotient })
}

fn is_const(expr: &AffineExpr) -> bool {
    matches!(expr, AffineExpr::Const(_))
}

fn add(a: AffineExpr, b: AffineExpr) -> AffineExpr {
    if let (AffineExpr::Const(x), AffineExpr::Const(y)) = (&a, &b) {
        if let Some(sum) = x.checked_add(*y) {
            return AffineExpr::Const(sum);
        }
        return AffineExpr::unsimplified(Add, a, b);
    }
    // Constants and symbols go to the right.
    if is_const(&a) || (a.is_symbolic() && !b.is_symbolic()) {
        return add(b, a);
    }
    if b == AffineExpr::Const(0) {
        return a;
    }
    // (x + c1) + c2 = x + (c1 + c2)
    if let (AffineExpr::Binary(Add, left), AffineExpr::Const(y)) = (&a, &b)
        && let AffineExpr::Const(x) = left.1
        && let Some(sum) = x.checked_add(*y)
    {
        return add(left.0.clone(), AffineExpr::Const(sum));
    }
    // x * c1 + x * c2 = x * (c1 + c2)
    let factor = |expr: &AffineExpr| match expr {
        AffineExpr::Binary(Mul, both) => match both.1 {
            AffineExpr::Const(by) => (both.0.clone(), by),
            _ => (expr.clone(), 1),
        },
        _ => (expr.clone(), 1),
    };
    let ((left, x), (right, y)) = (factor(&a), factor(&b));
    if left == right
        && let Some(sum) = x.checked_add(y)
    {
        return mul(left, AffineExpr::Const(sum));
    }
    // (x + c) + y = (x + y) + c. Two constants whose sum does not fit are not combined.
    if let AffineExpr::Binary(Add, both) = &a
        && is_const(&both.1)
        && !is_const(&b)
    {
        return add(add(both.0.clone(), b), both.1.clone());
    }
    // x - x floordiv c * c = x mod c
    if let AffineExpr::Binary(Mul, right) = &b {
        if right.1 == AffineExpr::Const(-1)
            && let AffineExpr::Binary(Mul, inner) = &right.0
            && let AffineExpr::Binary(FloorDiv, div) = &inner.0
            && a == div.0
            && inner.1 == div.1
        {
            return modulo(a, div.1.clone());
        }
        if let (AffineExpr::Const(c), AffineExpr::Binary(FloorDiv, div)) = (&right.1, &right.0)
            && let AffineExpr::Const(by) = div.1
            && a == div.0
            && c.checked_neg() == Some(by)
        {
            return modulo(a, AffineExpr::Const(by));
        }
    }
    AffineExpr::unsimplified(Add, a, b)
}

fn mul(a: AffineExpr, b: AffineExpr) -> AffineExpr {
    if let (AffineExpr::Const(x), AffineExpr::Const(y)) = (&a, &b) {
        if let Some(product) = x.checked_mul(*y) {
            return AffineExpr::Const(product);
        }
        return AffineExpr::unsimplified(Mul, a, b);
    }
    // At most one side is not symbolic: it becomes the left one.
    if (!b.is_symbolic() && a.is_symbolic()) || is_const(&a) {
        return mul(b, a);
    }
    if b == AffineExpr::Const(1) {
        return a;
    }
    if b == AffineExpr::Const(0) {
        return b;
    }
    if let AffineExpr::Binary(Mul, left) = &a
        && is_const(&left.1)
    {
        // (x * c1) * c2 = x * (c1 * c2), (x * c) * y = (x * y) * c
        if let (AffineExpr::Const(x), AffineExpr::Const(y)) = (&left.1, &b)
            && let Some(product) = x.checked_mul(*y)
        {
            return mul(left.0.clone(), AffineExpr::Const(product));
        }
        if !is_const(&b) {
            return mul(mul(left.0.clone(), b), left.1.clone());
        }
    }
    AffineExpr::unsimplified(Mul, a, b)
}

/// `a floordiv b` or `a ceildiv b`.
fn divide(op: AffineOperator, a: AffineExpr, b: AffineExpr) -> AffineExpr {
    let by = match b {
        AffineExpr::Const(by) if by != 0 => by,
        _ => return AffineExpr::unsimplified(op, a, b),
    };
    if let AffineExpr::Const(x) = a {
        let quotient = if op == FloorDiv { floor(x, by) } else { ceil(x, by) };
        return quotient.map_or_else(|| AffineExpr::unsimplified(op, a, b), AffineExpr::Const);
    }
    if by == 1 {
        return a;
    }
    if let AffineExpr::Binary(Mul, both) = &a
        && let AffineExpr::Const(factor) = both.1
        && factor.checked_rem(by) == Some(0)
    {
        return mul(both.0.clone(), AffineExpr::Const(factor / by));
    }
    if op == FloorDiv
        && let AffineExpr::Binary(Add, both) = &a
    {
        let size = by.unsigned_abs();
        if both.0.largest_known_divisor().is_multiple_of(size)
            || both.1.largest_known_divisor().is_multiple_of(size)
        {
            return add(divide(op, both.0.clone(), b.clone()), divide(op, both.1.clone(), b));
        }
    }
    AffineExpr::unsimplified(op, a, b)
}

fn modulo(a: AffineExpr, b: AffineExpr) -> AffineExpr {
    let AffineExpr::Const(by) = b else {
        return AffineExpr::unsimplified(Mod, a, b);
    };
    if by < 1 {
        return AffineExpr::unsimplified(Mod, a, b);
    }
    if let AffineExpr::Const(x) = a {
        return AffineExpr::Const(x.rem_euclid(by));
    }
    if a.largest_known_divisor().is_multiple_of(by.unsigned_abs()) {
        return AffineExpr::Const(0);
    }
    if let AffineExpr::Binary(Add, both) = &a {
        if both.0.largest_known_divisor().is_multiple_of(by.unsigned_abs()) {
            return modulo(both.1.clone(), b);
        }
        if both.1.largest_known_divisor().is_multiple_of(by.unsigned_abs()) {
            return modulo(both.0.clone(), b);
        }
    }
    if let AffineExpr::Binary(Mod, both) = &a
        && let AffineExpr::Const(inner) = both.1
        && inner > 0
        && inner % by == 0
    {
        return modulo(both.0.clone(), b);
    }
    AffineExpr::unsimplified(Mod, a, b)
}

/// Precedence of the context of an expression. Decides about parentheses.
#[derive(Clone, Copy, PartialEq)]
enum Binding {
    Weak,
    Strong,
}

fn write_expr<W: fmt::Write>(
    f: &mut W,
    expr: &AffineExpr,
    around: Binding,
    leaf: &dyn Fn(&mut W, &AffineExpr) -> fmt::Result,
) -> fmt::Result {
    match expr {
        AffineExpr::Const(value) => write!(f, "{value}"),
        AffineExpr::Dim(_) | AffineExpr::Symbol(_) => leaf(f, expr),
        AffineExpr::Binary(Add, both) => {
            let (a, b) = &**both;
            if around == Binding::Strong {
                f.write_str("(")?;
            }
            match b {
                // a + b * -1 is printed as a - b, a + b * -c as a - b * c.
                AffineExpr::Binary(Mul, product)
                    if matches!(product.1, AffineExpr::Const(i64::MIN..0)) =>
                {
                    let AffineExpr::Const(by) = product.1 else { unreachable!("matched above") };
                    write_expr(f, a, Binding::Weak, leaf)?;
                    f.write_str(" - ")?;
                    if by == -1 {
                        // A sum under the minus keeps its parentheses.
                        let inner = matches!(product.0, AffineExpr::Binary(Add, _));
                        write_expr(
                            f,
                            &product.0,
                            if inner { Binding::Strong } else { Binding::Weak },
                            leaf,
                        )?;
                    } else {
                        write_expr(f, &product.0, Binding::Strong, leaf)?;
                        write!(f, " * {}", by.unsigned_abs())?;
                    }
                }
                AffineExpr::Const(value) if *value < 0 => {
                    write_expr(f, a, Binding::Weak, leaf)?;
                    write!(f, " - {}", value.unsigned_abs())?;
                }
                _ => {
                    write_expr(f, a, Binding::Weak, leaf)?;
                    f.write_str(" + ")?;
                    write_expr(f, b, Binding::Weak, leaf)?;
                }
            }
            if around == Binding::Strong {
                f.write_str(")")?;
            }
            Ok(())
        }
        AffineExpr::Binary(op, both) => {
            let (a, b) = &**both;
            if around == Binding::Strong {
                f.write_str("(")?;
            }
            if *op == Mul && *b == AffineExpr::Const(-1) {
                f.write_str("-")?;
                write_expr(f, a, Binding::Strong, leaf)?;
            } else {
                write_expr(f, a, Binding::Strong, leaf)?;
                f.write_str(match op {
                    Add => " + ",
                    Mul => " * ",
                    Mod => " mod ",
                    FloorDiv => " floordiv ",
                    CeilDiv => " ceildiv ",
                })?;
                write_expr(f, b, Binding::Strong, leaf)?;
            }
            if around == Binding::Strong {
                f.write_str(")")?;
            }
            Ok(())
        }
    }
}

impl fmt::Display for AffineExpr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, &|f, leaf| match leaf {
            AffineExpr::Symbol(at) => write!(f, "s{at}"),
            AffineExpr::Dim(at) => write!(f, "d{at}"),
            _ => Ok(()),
        })
    }
}

/// Writes the text that MLIR prints between the angle brackets: `(d0)[s0] -> (d0 + s0)`.
impl fmt::Display for Affine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |f: &mut fmt::Formatter<'_>, prefix: char, n: u32| {
            for i in 0..n {
                write!(f, "{}{prefix}{i}", if i == 0 { "" } else { ", " })?;
            }
            Ok(())
        };
        f.write_str("(")?;
        list(f, 'd', self.n_dims)?;
        f.write_str(")")?;
        if self.n_symbols > 0 {
            f.write_str("[")?;
            list(f, 's', self.n_symbols)?;
            f.write_str("]")?;
        }
        match &self.body {
            AffineBody::Map(results) => {
                f.write_str(" -> (")?;
                for (i, expr) in results.iter().enumerate() {
                    write!(f, "{}{expr}", if i == 0 { "" } else { ", " })?;
                }
            }
            AffineBody::Set(constraints) => {
                f.write_str(" : (")?;
                for (i, (expr, is_equality)) in constraints.iter().enumerate() {
                    let sign = if *is_equality { "==" } else { ">=" };
                    write!(f, "{}{expr} {sign} 0", if i == 0 { "" } else { ", " })?;
                }
            }
        }
        f.write_str(")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn d(at: u32) -> AffineExpr {
        AffineExpr::Dim(at)
    }

    fn c(value: i64) -> AffineExpr {
        AffineExpr::Const(value)
    }

    fn check(expr: &AffineExpr, text: &str) {
        assert_eq!(expr.to_string(), text);
    }

    #[test]
    fn sums_are_simplified_as_mlir_does() {
        check(&add(c(1), d(0)), "d0 + 1");
        check(&add(add(d(0), c(1)), c(-1)), "d0");
        check(&add(d(0), d(1).negated()), "d0 - d1");
        check(&add(d(0), d(0)), "d0 * 2");
        check(&add(add(d(0), c(1)), d(1)), "d0 + d1 + 1");
        check(&add(add(d(0), c(3)).negated(), c(0)), "-(d0 + 3)");
        check(&add(d(0), mul(d(1), c(-4))), "d0 - d1 * 4");
    }

    #[test]
    fn constants_that_do_not_fit_together_stay() {
        let (big, small) = (c(i64::MAX), c(i64::MIN));
        check(&add(add(d(0), c(7)), big.clone()), "d0 + 7 + 9223372036854775807");
        let both = add(add(d(0), small), c(-1));
        check(&add(both, d(1)), "d0 + d1 - 9223372036854775808 - 1");
        check(&mul(mul(d(0), c(2)), big.clone()), "(d0 * 2) * 9223372036854775807");
        let twice = add(mul(d(0), big.clone()), mul(d(0), big));
        check(&twice, "d0 * 9223372036854775807 + d0 * 9223372036854775807");
    }

    #[test]
    fn divisions_of_multiples_vanish() {
        check(&divide(FloorDiv, mul(d(0), c(8)), c(4)), "d0 * 2");
        check(&modulo(mul(d(0), c(8)), c(4)), "0");
        check(&modulo(add(mul(d(0), c(8)), d(1)), c(4)), "d1 mod 4");
        check(&mul(divide(FloorDiv, d(0), c(4)), c(4)), "(d0 floordiv 4) * 4");
    }

    #[test]
    fn maps_and_sets_print_with_dims_and_symbols() {
        let map = Affine {
            n_dims: 2,
            n_symbols: 1,
            body: AffineBody::Map(vec![add(d(0), AffineExpr::Symbol(0))]),
        };
        assert_eq!(map.to_string(), "(d0, d1)[s0] -> (d0 + s0)");
        let set = Affine {
            n_dims: 1,
            n_symbols: 0,
            body: AffineBody::Set(vec![(d(0), false), (d(0), true)]),
        };
        assert_eq!(set.to_string(), "(d0) : (d0 >= 0, d0 == 0)");
    }
}
