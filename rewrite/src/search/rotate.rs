//! Rotation of chains of sums in which every partial sum is used: `(b + r) + a` becomes `b + (r +
//! a)` if the first form would be over the budget.
//!
//! `b + r` has other users and stays, so each rotation adds one operation and avoids noise where
//! reductions would be necessary. The next sum of the chain sees `r + a` in the same position, so
//! the less noisy part grows beside the chain until a reduction is cheaper.

use rustc_hash::FxHashMap;

use crate::scale::NoiseParameters;
use crate::straight::{Reg, StraightLine, StraightProgram};

/// Returns a program with rotated sums and the new line of each line of the original program. Adds
/// at most `most` operations.
pub(crate) fn rotate(
    program: &StraightProgram,
    scale: NoiseParameters,
    most: usize,
) -> (StraightProgram, Vec<Option<Reg>>) {
    let live = program.live_lines();
    let mut out = Rotation {
        scale,
        out: StraightProgram { leaves: program.leaves.clone(), ..StraightProgram::default() },
        noise: Vec::new(),
        known: FxHashMap::default(),
        n_left: most,
    };
    let mut new: Vec<Option<Reg>> = vec![None; program.lines.len()];
    for (at, &line) in program.lines.iter().enumerate() {
        if !live[at] {
            continue;
        }
        let of = |it: Reg| new[it.index()].unwrap_or(Reg(0));
        new[at] = Some(match line {
            StraightLine::Leaf(_) => out.put(line),
            StraightLine::Mul(a, b) => out.put(StraightLine::Mul(of(a), of(b))),
            StraightLine::Add(a, b) => out.sum(of(a), of(b), false),
            StraightLine::Sub(a, b) => out.sum(of(a), of(b), true),
        });
    }
    let mut out = out.out;
    out.outputs = program.outputs.iter().filter_map(|it| new[it.index()]).collect();
    (out, new)
}

struct Rotation {
    scale: NoiseParameters,
    out: StraightProgram,
    noise: Vec<u32>,
    known: FxHashMap<StraightLine, Reg>,
    n_left: usize,
}

impl Rotation {
    fn is_over(&self, line: StraightLine) -> bool {
        self.noise_of_line(line) > self.scale.budget
    }

    fn noise_of_line(&self, line: StraightLine) -> u32 {
        let noise = |it: Reg| self.noise[it.index()];
        match line {
            StraightLine::Leaf(index) => self.out.leaves[index as usize].noise,
            StraightLine::Add(a, b) | StraightLine::Sub(a, b) => {
                noise(a).max(noise(b)) + self.scale.add
            }
            StraightLine::Mul(a, b) => noise(a) + noise(b),
        }
    }

    /// Adds a line, and reduces its operands if the line would be over the budget.
    fn put(&mut self, line: StraightLine) -> Reg {
        if let Some(&it) = self.known.get(&line) {
            return it;
        }
        while self.is_over(line) {
            let worst = line.operands().max_by_key(|it| self.noise[it.index()]);
            match worst.filter(|it| self.noise[it.index()] > self.scale.reset) {
                Some(it) => self.noise[it.index()] = self.scale.reset,
                None => break,
            }
        }
        self.noise.push(self.noise_of_line(line));
        let reg = self.out.push(line);
        self.known.insert(line, reg);
        reg
    }

    fn sum(&mut self, a: Reg, b: Reg, is_difference: bool) -> Reg {
        let line = |a, b, is_difference| {
            if is_difference { StraightLine::Sub(a, b) } else { StraightLine::Add(a, b) }
        };
        let whole = line(a, b, is_difference);
        if self.is_over(whole) && self.n_left > 0 {
            let noise = |it: Reg| self.noise[it.index()];
            let is_first = noise(a) >= noise(b);
            let (chain, other) = if is_first { (a, b) } else { (b, a) };
            // Signs of the chain and of the other operand.
            let (chain_sign, other_sign) = match (is_difference, is_first) {
                (false, _) => (false, false),
                (true, true) => (false, true),
                (true, false) => (true, false),
            };
            if let StraightLine::Add(x, y) | StraightLine::Sub(x, y) = self.out.lines[chain.index()]
            {
                let y_sign = matches!(self.out.lines[chain.index()], StraightLine::Sub(..));
                let ((base, base_sign), (rest, rest_sign)) = if noise(x) >= noise(y) {
                    ((x, false), (y, y_sign))
                } else {
                    ((y, y_sign), (x, false))
                };
                let (base_sign, rest_sign) = (base_sign != chain_sign, rest_sign != chain_sign);
                let height = noise(rest).max(noise(other)) + self.scale.add;
                let fits = noise(base).max(height) + self.scale.add <= self.scale.budget;
                if fits && noise(base) > noise(rest).max(noise(other)) {
                    self.n_left -= 1;
                    // The sum of the rest and the other operand, and its sign.
                    let (second, sign) = match (rest_sign, other_sign) {
                        (false, false) => (self.put(StraightLine::Add(rest, other)), false),
                        (true, true) => (self.put(StraightLine::Add(rest, other)), true),
                        (false, true) => (self.put(StraightLine::Sub(rest, other)), false),
                        (true, false) => (self.put(StraightLine::Sub(other, rest)), false),
                    };
                    match (base_sign, sign) {
                        (false, false) => return self.put(StraightLine::Add(base, second)),
                        (false, true) => return self.put(StraightLine::Sub(base, second)),
                        (true, false) => return self.put(StraightLine::Sub(second, base)),
                        // A negated sum is not a single operation, so the line stays.
                        (true, true) => {}
                    }
                }
            }
        }
        self.put(whole)
    }
}
