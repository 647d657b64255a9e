//! Straight-line programs over noisy values: the input and the output of the search.

use crate::scale::Scale;

/// The value of a line, by index into [`Straight::lines`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Reg(pub u32);

impl Reg {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A line of a program. Operands are values of lines before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Line {
    /// A value from outside: number `index` of the leaves.
    Leaf(u32),
    Add(Reg, Reg),
    Sub(Reg, Reg),
    Mul(Reg, Reg),
}

impl Line {
    pub(crate) fn operands(self) -> impl Iterator<Item = Reg> {
        let pair = match self {
            Line::Leaf(_) => None,
            Line::Add(a, b) | Line::Sub(a, b) | Line::Mul(a, b) => Some([a, b]),
        };
        pair.into_iter().flatten()
    }
}

/// A value from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Leaf {
    /// Its noise, at most.
    pub noise: u32,
    /// Its plaintext, if it is the same in each run.
    pub constant: Option<u64>,
}

/// A straight-line program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Straight {
    pub leaves: Vec<Leaf>,
    pub lines: Vec<Line>,
    /// The values that are used outside.
    pub outputs: Vec<Reg>,
}

impl Straight {
    pub(crate) fn push(&mut self, line: Line) -> Reg {
        self.lines.push(line);
        Reg(self.lines.len() as u32 - 1)
    }

    pub(crate) fn leaf(&mut self, leaf: Leaf) -> Reg {
        self.leaves.push(leaf);
        self.push(Line::Leaf(self.leaves.len() as u32 - 1))
    }

    /// For each line, true if an output depends on it.
    pub(crate) fn live(&self) -> Vec<bool> {
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
        let live = self.live();
        let ops = self.lines.iter().zip(live);
        ops.filter(|(line, is_live)| *is_live && !matches!(line, Line::Leaf(_))).count()
    }

    /// Number of reductions that a simple placement needs: it reduces the noisier operand where an operation would exceed the budget.
    pub(crate) fn greedy_reductions(&self, scale: Scale) -> u64 {
        let live = self.live();
        let mut noise = vec![0; self.lines.len()];
        let mut n = 0;
        for (at, &line) in self.lines.iter().enumerate() {
            if !live[at] {
                continue;
            }
            loop {
                noise[at] = match line {
                    Line::Leaf(index) => self.leaves[index as usize].noise,
                    Line::Add(a, b) | Line::Sub(a, b) => {
                        noise[a.index()].max(noise[b.index()]) + scale.add
                    }
                    Line::Mul(a, b) => noise[a.index()] + noise[b.index()],
                };
                let Some(worst) = line.operands().max_by_key(|it| noise[it.index()]) else { break };
                if noise[at] <= scale.budget || noise[worst.index()] <= scale.reset {
                    break;
                }
                noise[worst.index()] = scale.reset;
                n += 1;
            }
        }
        n
    }
}
