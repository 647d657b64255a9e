use std::time::Duration;

use crate::placing::clock::TimeLimit;
use crate::scale::NoiseParameters;
use crate::search::{ProgramVariant, RewriteEffort, search};
use crate::straight::{ProgramInput, Reg, StraightLine, StraightProgram};

fn leaves(program: &mut StraightProgram, n: usize) -> Vec<Reg> {
    (0..n).map(|_| program.leaf(ProgramInput { noise: 12, constant: None })).collect()
}

fn chain(program: &mut StraightProgram, line: fn(Reg, Reg) -> StraightLine, of: &[Reg]) -> Reg {
    let mut out = of[0];
    for &it in &of[1..] {
        out = program.push(line(out, it));
    }
    out
}

fn best(program: &StraightProgram) -> ProgramVariant {
    let n_ops = program.lines.len() - program.leaves.len();
    let clock = TimeLimit::new(Duration::from_secs(60), None);
    let effort = RewriteEffort { clock, max_ops: n_ops * 3 / 2 };
    search(program, NoiseParameters::tutorial(), &effort).swap_remove(0)
}

/// Returns the values of all lines, modulo 32.
fn run(program: &StraightProgram, leaves: &[u64]) -> Vec<u64> {
    let mut out: Vec<u64> = Vec::new();
    for line in &program.lines {
        let value = match *line {
            StraightLine::Leaf(it) => leaves[it as usize],
            StraightLine::Add(a, b) => out[a.index()] + out[b.index()],
            StraightLine::Sub(a, b) => out[a.index()] + 32 - out[b.index()],
            StraightLine::Mul(a, b) => out[a.index()] * out[b.index()],
        };
        out.push(value % 32);
    }
    out
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

#[test]
fn a_sum_needs_no_reduction() {
    let mut program = StraightProgram::default();
    let of = leaves(&mut program, 128);
    program.outputs = vec![chain(&mut program, StraightLine::Add, &of)];
    assert_eq!(program.greedy_reductions(NoiseParameters::tutorial()), 9);
    let best = best(&program);
    assert_eq!((best.n_reductions, best.n_ops), (0, 127));
}

#[test]
fn a_dot_product_reduces_four_products_at_once() {
    let mut program = StraightProgram::default();
    let (a, b) = (leaves(&mut program, 64), leaves(&mut program, 64));
    let products: Vec<Reg> =
        a.into_iter().zip(b).map(|(a, b)| program.push(StraightLine::Mul(a, b))).collect();
    program.outputs = vec![chain(&mut program, StraightLine::Add, &products)];
    assert_eq!(program.greedy_reductions(NoiseParameters::tutorial()), 31);
    assert_eq!(best(&program).n_reductions, 16);
}

#[test]
fn horner_takes_several_powers_at_once() {
    let mut program = StraightProgram::default();
    let of = leaves(&mut program, 64);
    let x = leaves(&mut program, 1)[0];
    let mut out = of[0];
    for &it in &of[1..] {
        let product = program.push(StraightLine::Mul(out, x));
        out = program.push(StraightLine::Add(product, it));
    }
    program.outputs = vec![out];
    assert_eq!(program.greedy_reductions(NoiseParameters::tutorial()), 62);
    assert!(best(&program).n_reductions <= 23);
}

#[test]
fn powers_are_made_of_squares() {
    let mut program = StraightProgram::default();
    let x = leaves(&mut program, 1)[0];
    program.outputs = vec![chain(&mut program, StraightLine::Mul, &[x; 41])];
    assert_eq!(best(&program).n_reductions, 6);
}

#[test]
fn a_product_of_different_values_needs_all_reductions() {
    let mut program = StraightProgram::default();
    let of = leaves(&mut program, 20);
    program.outputs = vec![chain(&mut program, StraightLine::Mul, &of)];
    assert_eq!(best(&program).n_reductions, 18);
}

#[test]
fn repeated_squaring_does_not_explode() {
    let mut program = StraightProgram::default();
    let x = leaves(&mut program, 1)[0];
    let mut out = x;
    for _ in 0..60 {
        out = program.push(StraightLine::Mul(out, out));
        out = program.push(StraightLine::Add(out, out));
    }
    program.outputs = vec![out];
    assert!(best(&program).n_ops <= 180);
}

#[test]
fn cancelled_terms_are_zero() {
    let mut program = StraightProgram::default();
    let of = leaves(&mut program, 2);
    let sum = program.push(StraightLine::Add(of[0], of[1]));
    let back = program.push(StraightLine::Sub(sum, of[1]));
    let zero = program.push(StraightLine::Sub(back, of[0]));
    program.outputs = vec![zero, back];
    let best = best(&program);
    for leaves in [[3, 5], [31, 16]] {
        let values = run(&best.program, &leaves);
        let outputs: Vec<u64> = best.program.outputs.iter().map(|it| values[it.index()]).collect();
        assert_eq!(outputs, [0, leaves[0]]);
    }
}

/// The programs have shared values, constants, and leaves with different noise. Outputs and mapped
/// lines are compared.
#[test]
fn random_programs_compute_the_same() {
    let mut random = Random(3);
    for round in 0..600 {
        let mut program = StraightProgram::default();
        for _ in 0..=random.below(6) {
            let constant = (random.below(4) == 0).then(|| random.below(32) as u64);
            program.leaf(ProgramInput { noise: 12 + random.below(4) as u32, constant });
        }
        let window = [3, 8, 20][random.below(3)];
        let n_products = random.below(4);
        for _ in 0..3 + random.below(40) {
            let n = program.lines.len();
            let mut pick = || Reg((n - 1 - random.below(n.min(window))) as u32);
            let (a, b) = (pick(), pick());
            program.push(match random.below(8) {
                it if it < n_products => StraightLine::Mul(a, b),
                it if it < 6 => StraightLine::Add(a, b),
                _ => StraightLine::Sub(a, b),
            });
        }
        let n = program.lines.len();
        program.outputs = (0..=random.below(3)).map(|it| Reg((n - 1 - it % n) as u32)).collect();
        program.outputs.dedup();
        let n_ops = program.lines.len() - program.leaves.len();
        let clock = TimeLimit::new(Duration::from_secs(60), None);
        let found = search(
            &program,
            NoiseParameters::tutorial(),
            &RewriteEffort { clock, max_ops: 2 * n_ops },
        );
        for variant in found {
            assert!(variant.n_ops <= 2 * n_ops, "round {round}");
            for _ in 0..4 {
                let leaves: Vec<u64> = program
                    .leaves
                    .iter()
                    .map(|it| it.constant.unwrap_or(random.below(32) as u64))
                    .collect();
                let (old, new) = (run(&program, &leaves), run(&variant.program, &leaves));
                for (a, b) in program.outputs.iter().zip(&variant.program.outputs) {
                    assert_eq!(old[a.index()], new[b.index()], "round {round}");
                }
                for (at, same) in variant.new_lines.iter().enumerate() {
                    if let Some(it) = same {
                        assert_eq!(old[at], new[it.index()], "round {round}, line {at}");
                    }
                }
            }
        }
    }
}

#[test]
fn search_without_time_only_rotates_sums() {
    let mut program = StraightProgram::default();
    let of = leaves(&mut program, 40);
    let products: Vec<Reg> =
        of.iter().zip(&of[1..]).map(|it| program.push(StraightLine::Mul(*it.0, *it.1))).collect();
    program.outputs = vec![chain(&mut program, StraightLine::Add, &products)];
    let search = |seconds| {
        let clock = TimeLimit::new(Duration::from_secs(seconds), None);
        search(&program, NoiseParameters::tutorial(), &RewriteEffort { clock, max_ops: 1000 })
    };
    // Only the rotation of sums ignores the time limit; other forms are not tried.
    assert_eq!((search(0).len(), search(60).len()), (1, 3));
    assert!(search(60)[0].n_reductions < search(0)[0].n_reductions);
}
