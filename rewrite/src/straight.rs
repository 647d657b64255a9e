//! Straight-line programs over noisy values: the input and the output of the search.

use std::ops::Range;

use rustc_hash::FxHashMap;

use crate::scale::NoiseParameters;

/// The value of a line: an index into [`StraightProgram::lines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Reg(pub u32);

impl Reg {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A line of a program. Operands are values of preceding lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum StraightLine {
    /// An input: an index into [`StraightProgram::leaves`].
    Leaf(u32),
    Add(Reg, Reg),
    Sub(Reg, Reg),
    Mul(Reg, Reg),
}

impl StraightLine {
    pub(crate) fn operands(self) -> impl Iterator<Item = Reg> {
        let pair = match self {
            StraightLine::Leaf(_) => None,
            StraightLine::Add(a, b) | StraightLine::Sub(a, b) | StraightLine::Mul(a, b) => {
                Some([a, b])
            }
        };
        pair.into_iter().flatten()
    }
}

/// An input of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ProgramInput {
    /// Upper bound of the noise.
    pub noise: u32,
    /// The plaintext if it is a constant.
    pub constant: Option<u64>,
}

/// A straight-line program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct StraightProgram {
    pub leaves: Vec<ProgramInput>,
    pub lines: Vec<StraightLine>,
    /// The values that are used outside of the program.
    pub outputs: Vec<Reg>,
}

impl StraightProgram {
    pub(crate) fn push(&mut self, line: StraightLine) -> Reg {
        self.lines.push(line);
        Reg(self.lines.len() as u32 - 1)
    }

    pub(crate) fn leaf(&mut self, leaf: ProgramInput) -> Reg {
        self.leaves.push(leaf);
        self.push(StraightLine::Leaf(self.leaves.len() as u32 - 1))
    }

    /// Returns, for each line, true if an output depends on it.
    pub(crate) fn live_lines(&self) -> Vec<bool> {
        let mut live = vec![false; self.lines.len()];
        for it in &self.outputs {
            live[it.index()] = true;
        }
        for at in (0..self.lines.len()).rev() {
            if live[at] {
                for it in self.lines[at].operands() {
                    live[it.index()] = true;
                }
            }
        }
        live
    }

    /// Number of operations that outputs depend on.
    pub(crate) fn n_live_ops(&self) -> usize {
        let live = self.live_lines();
        let ops = self.lines.iter().zip(live);
        ops.filter(|(line, is_live)| *is_live && !matches!(line, StraightLine::Leaf(_))).count()
    }

    /// Returns the number of reductions in a greedy placement.
    pub(crate) fn greedy_reductions(&self, scale: NoiseParameters) -> u64 {
        self.greedy_placement(scale).0
    }

    /// Computes a greedy placement: while an operation would exceed the budget, its noisier operand
    /// is reduced. Returns the number of reductions and the noise of each value, after its
    /// reduction if there is one.
    pub(crate) fn greedy_placement(&self, scale: NoiseParameters) -> (u64, Vec<u32>) {
        let live = self.live_lines();
        let mut noise = vec![0; self.lines.len()];
        let mut n = 0;
        for (at, &line) in self.lines.iter().enumerate() {
            if !live[at] {
                continue;
            }
            loop {
                noise[at] = match line {
                    StraightLine::Leaf(index) => self.leaves[index as usize].noise,
                    StraightLine::Add(a, b) | StraightLine::Sub(a, b) => {
                        noise[a.index()].max(noise[b.index()]) + scale.add
                    }
                    StraightLine::Mul(a, b) => noise[a.index()] + noise[b.index()],
                };
                let Some(worst) = line.operands().max_by_key(|it| noise[it.index()]) else { break };
                if noise[at] <= scale.budget || noise[worst.index()] <= scale.reset {
                    break;
                }
                noise[worst.index()] = scale.reset;
                n += 1;
            }
        }
        (n, noise)
    }

    /// Extracts a range of lines as a separate program: values of earlier lines are leaves, and
    /// values with later users are outputs. Also returns the new line of each line of the range.
    pub(crate) fn extract_range(
        &self,
        range: Range<usize>,
        noise: &[u32],
    ) -> (StraightProgram, Vec<Reg>) {
        let live = self.live_lines();
        let mut is_used = vec![false; range.len()];
        let later = self.lines.iter().enumerate().skip(range.end).filter(|it| live[it.0]);
        let used = later.flat_map(|it| it.1.operands()).chain(self.outputs.iter().copied());
        for it in used.filter(|it| range.contains(&it.index())) {
            is_used[it.index() - range.start] = true;
        }
        let mut out = StraightProgram::default();
        let mut outside: FxHashMap<Reg, Reg> = FxHashMap::default();
        let mut inside: Vec<Reg> = Vec::with_capacity(range.len());
        for at in range.clone() {
            let mut of = |reg: Reg, out: &mut StraightProgram| {
                if reg.index() >= range.start {
                    return inside[reg.index() - range.start];
                }
                *outside.entry(reg).or_insert_with(|| {
                    let constant = match self.lines[reg.index()] {
                        StraightLine::Leaf(index) => self.leaves[index as usize].constant,
                        _ => None,
                    };
                    out.leaf(ProgramInput { noise: noise[reg.index()], constant })
                })
            };
            let reg = match self.lines[at] {
                StraightLine::Leaf(index) => out.leaf(self.leaves[index as usize]),
                StraightLine::Add(a, b) => {
                    let (a, b) = (of(a, &mut out), of(b, &mut out));
                    out.push(StraightLine::Add(a, b))
                }
                StraightLine::Sub(a, b) => {
                    let (a, b) = (of(a, &mut out), of(b, &mut out));
                    out.push(StraightLine::Sub(a, b))
                }
                StraightLine::Mul(a, b) => {
                    let (a, b) = (of(a, &mut out), of(b, &mut out));
                    out.push(StraightLine::Mul(a, b))
                }
            };
            inside.push(reg);
        }
        out.outputs = inside.iter().zip(&is_used).filter(|it| *it.1).map(|it| *it.0).collect();
        (out, inside)
    }
}
