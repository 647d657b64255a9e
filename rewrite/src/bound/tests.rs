//! Tests that no program needs fewer reductions than the bound: enumerates all small programs, and
//! generates random ones.

use super::least_reductions;
use crate::scale::NoiseParameters;
use crate::straight::{ProgramInput, Reg, StraightLine, StraightProgram};

fn scale(reset: u32, budget: u32) -> NoiseParameters {
    NoiseParameters { reset, budget, add: 1, mask: 31 }
}

/// A program with reductions, which is extended op by op.
#[derive(Clone)]
struct GrowingProgram {
    program: StraightProgram,
    /// The available values with their noise. A reduction adds another entry for the same line.
    values: Vec<(Reg, u32)>,
    n_reductions: u64,
}

impl GrowingProgram {
    fn new(leaves: &[ProgramInput]) -> Self {
        let mut program = StraightProgram::default();
        let values = leaves.iter().map(|&it| (program.leaf(it), it.noise)).collect();
        Self { program, values, n_reductions: 0 }
    }

    /// Returns the program with one more op, if it is legal.
    fn with(&self, kind: usize, a: usize, b: usize, scale: NoiseParameters) -> Option<Self> {
        let mut out = self.clone();
        let (left, right) = (self.values[a], self.values[b]);
        let sum = left.1.max(right.1) + 1;
        let (reg, noise) = match kind {
            0 => (out.program.push(StraightLine::Add(left.0, right.0)), sum),
            1 => (out.program.push(StraightLine::Sub(left.0, right.0)), sum),
            2 => (out.program.push(StraightLine::Mul(left.0, right.0)), left.1 + right.1),
            _ if left.1 <= scale.reset => return None,
            _ => {
                out.n_reductions += 1;
                (left.0, scale.reset)
            }
        };
        out.values.push((reg, noise));
        (noise <= scale.budget).then_some(out)
    }

    /// Compares the bound with the number of reductions. The last value is the output.
    fn check(&self, scale: NoiseParameters) -> u64 {
        let mut program = self.program.clone();
        program.outputs = self.values.last().map(|it| it.0).into_iter().collect();
        let bound = least_reductions(&program, scale, &|| false);
        let n = self.n_reductions;
        assert!(bound <= n, "at least {bound} reductions, but {n} do: {program:?} {scale:?}");
        bound
    }

    /// Checks all programs with up to `n_ops` more ops. Counts them in `found` by their bounds.
    fn all(&self, n_ops: usize, scale: NoiseParameters, found: &mut [u64; 8]) {
        found[self.check(scale) as usize] += 1;
        if n_ops == 0 {
            return;
        }
        for a in 0..self.values.len() {
            for b in 0..=a {
                for kind in [0, 2] {
                    if let Some(it) = self.with(kind, a, b, scale) {
                        it.all(n_ops - 1, scale, found);
                    }
                }
            }
            if let Some(it) = self.with(3, a, a, scale) {
                it.all(n_ops - 1, scale, found);
            }
        }
    }
}

fn variable(noise: u32) -> ProgramInput {
    ProgramInput { noise, constant: None }
}

#[test]
fn no_small_program_needs_less_than_the_bound() {
    let mut found = [0; 8];
    for (reset, budget, leaves) in [
        (1, 2, vec![variable(1); 2]),
        (1, 2, vec![variable(2), variable(1), ProgramInput { noise: 1, constant: Some(3) }]),
        (2, 4, vec![variable(2); 3]),
        (2, 5, vec![variable(2), variable(3)]),
        (1, 3, vec![variable(1); 2]),
    ] {
        GrowingProgram::new(&leaves).all(4, scale(reset, budget), &mut found);
    }
    // Enough programs have a nontrivial bound.
    assert!(found[1] > 1000, "{found:?}");
}

/// Random programs cover larger polynomials.
#[test]
fn no_random_program_needs_less_than_the_bound() {
    let mut seed = 5_u64;
    let mut below = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) as usize % n
    };
    let mut found = [0; 8];
    let mut tight = [0; 8];
    for _ in 0..20_000 {
        let reset = 1 + below(3) as u32;
        let scale = scale(reset, 2 * reset + below(4) as u32);
        let mut leaves: Vec<ProgramInput> = Vec::new();
        for _ in 0..2 + below(8) {
            let constant = (below(9) == 0).then(|| below(32) as u64);
            let noise = if below(6) == 0 { 1 + below(scale.budget as usize) as u32 } else { reset };
            leaves.push(ProgramInput { noise, constant });
        }
        let mut program = GrowingProgram::new(&leaves);
        for _ in 0..4 + below(14) {
            let n = program.values.len();
            let (a, b) = (below(n), n - 1 - below(n.min(4)));
            let kind = [0, 0, 1, 2, 2, 3][below(6)];
            if let Some(it) = program.with(kind, if kind == 3 { b } else { a }, b, scale) {
                program = it;
            }
        }
        let bound = program.check(scale) as usize;
        found[bound.min(7)] += 1;
        tight[bound.min(7)] += u64::from(bound as u64 == program.n_reductions);
    }
    assert!(found[1] > 200 && found[2] > 10 && tight[1] > 50, "{found:?} {tight:?}");
}

fn bound(leaves: usize, write: impl Fn(&mut StraightProgram, &[Reg]) -> Reg) -> u64 {
    bound_within(26, leaves, write)
}

fn bound_within(
    budget: u32,
    leaves: usize,
    write: impl Fn(&mut StraightProgram, &[Reg]) -> Reg,
) -> u64 {
    let mut program = StraightProgram::default();
    let of: Vec<Reg> = (0..leaves).map(|_| program.leaf(variable(12))).collect();
    let out = write(&mut program, &of);
    program.outputs = vec![out];
    least_reductions(&program, scale(12, budget), &|| false)
}

fn chain(line: fn(Reg, Reg) -> StraightLine) -> impl Fn(&mut StraightProgram, &[Reg]) -> Reg {
    move |program, of| of[1..].iter().fold(of[0], |out, &it| program.push(line(out, it)))
}

fn dot(program: &mut StraightProgram, of: &[Reg]) -> Reg {
    let products: Vec<Reg> =
        of.chunks(2).map(|it| program.push(StraightLine::Mul(it[0], it[1]))).collect();
    chain(StraightLine::Add)(program, &products)
}

#[test]
fn families_have_the_bounds_that_the_search_reaches() {
    // With budget 20, a bin has room for 256 values.
    let sums = [2, 256, 257, 511, 512].map(|it| bound_within(20, it, chain(StraightLine::Add)));
    assert_eq!(sums, [0, 0, 1, 1, 2]);
    let dots = [4, 5, 7, 8, 64].map(|it| bound(2 * it, dot));
    assert_eq!(dots, [0, 1, 1, 2, 16]);
    let products = [2, 3, 4].map(|it| bound(it, chain(StraightLine::Mul)));
    assert_eq!(products, [0, 1, 2]);
    let power = |n: usize| {
        move |program: &mut StraightProgram, of: &[Reg]| {
            chain(StraightLine::Mul)(program, &vec![of[0]; n])
        }
    };
    assert_eq!([2, 3, 4, 5, 8, 16].map(|it| bound(1, power(it))), [0, 1, 1, 2, 2, 3]);
}

#[test]
fn bounds_depend_only_on_polynomials() {
    let zero = |program: &mut StraightProgram, of: &[Reg]| {
        let product = chain(StraightLine::Mul)(program, of);
        program.push(StraightLine::Sub(product, product))
    };
    assert_eq!(bound(5, zero), 0);
    // (a + b)^2 - a^2 - b^2 = 2ab has no odd product.
    let double = |program: &mut StraightProgram, of: &[Reg]| {
        let sum = program.push(StraightLine::Add(of[0], of[1]));
        let square = program.push(StraightLine::Mul(sum, sum));
        let squares = [0, 1].map(|it| program.push(StraightLine::Mul(of[it], of[it])));
        let rest = program.push(StraightLine::Sub(square, squares[0]));
        program.push(StraightLine::Sub(rest, squares[1]))
    };
    assert_eq!(bound(2, double), 0);
}
