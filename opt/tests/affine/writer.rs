//! Random programs.

use std::fmt::Write as _;

/// A xorshift random number generator.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % n
    }

    pub(crate) fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// Writes random programs: loop nests that access two memrefs of 64-bit integers.
pub(crate) struct ProgramWriter {
    random: Random,
    out: String,
    n: usize,
    /// All loops have the same bounds.
    is_plain: bool,
}

impl ProgramWriter {
    fn subscript(&mut self, depth: usize) -> String {
        let shift = self.random.pick(&["", "", " + 1", " - 1", " + 2", " - 2"]);
        if depth == 0 {
            return format!("{}", self.random.below(4));
        }
        let iv = self.random.below(depth as u64);
        if depth > 1 && self.random.below(6) == 0 {
            let other = self.random.below(depth as u64);
            let sign = self.random.pick(&["+", "-"]);
            return format!("%i{iv} {sign} %i{other}{shift}");
        }
        format!("%i{iv}{shift}")
    }

    fn access(&mut self, depth: usize) -> String {
        let (a, b) = (self.subscript(depth), self.subscript(depth));
        format!("{}[{a}, {b}]", self.random.pick(&["%A", "%B"]))
    }

    fn statement(&mut self, depth: usize) {
        let n = self.n;
        self.n += 1;
        let (from, other, to) = (self.access(depth), self.access(depth), self.access(depth));
        let op = self.random.pick(&["addi", "subi", "muli"]);
        let ty = "memref<?x?xi64>";
        let _ = writeln!(self.out, "%a{n} = affine.load {from} : {ty}");
        let _ = writeln!(self.out, "%b{n} = affine.load {other} : {ty}");
        let _ = writeln!(self.out, "%c{n} = arith.{op} %a{n}, %b{n} : i64");
        let _ = writeln!(self.out, "%d{n} = arith.addi %c{n}, %k : i64");
        let _ = writeln!(self.out, "affine.store %d{n}, {to} : {ty}");
    }

    fn nest(&mut self, depth: usize, left: usize) {
        let low = match (depth, self.random.below(5)) {
            (1.., 0) => format!("affine_map<(d0) -> (d0)>(%i{})", self.random.below(depth as u64)),
            (1.., 1) => {
                format!(
                    "max affine_map<(d0) -> (d0 - 1, 1)>(%i{})",
                    self.random.below(depth as u64)
                )
            }
            _ => self.random.pick(&["0", "1", "2"]).to_owned(),
        };
        let high = match (depth, self.random.below(6)) {
            (1.., 0) => {
                format!("affine_map<(d0) -> (d0 + 2)>(%i{})", self.random.below(depth as u64))
            }
            (1.., 1) => {
                format!(
                    "min affine_map<(d0) -> (d0 + 3, 6)>(%i{})",
                    self.random.below(depth as u64)
                )
            }
            (_, 2) => "%n".to_owned(),
            _ => self.random.pick(&["0", "3", "5", "7"]).to_owned(),
        };
        let step = self.random.pick(&["", "", "", "", " step 2"]);
        let (low, high, step) =
            if self.is_plain { ("0".into(), "5".into(), "") } else { (low, high, step) };
        let _ = writeln!(self.out, "affine.for %i{depth} = {low} to {high}{step} {{");
        let is_last = left <= 1;
        if is_last || self.random.below(4) == 0 {
            self.statement(depth + 1);
        }
        if is_last {
            if self.random.below(4) == 0 {
                let iv = self.random.below(depth as u64 + 1);
                let _ = writeln!(self.out, "affine.if affine_set<(d0) : (d0 - 2 >= 0)>(%i{iv}) {{");
                self.statement(depth + 1);
                self.out.push_str("}\n");
            } else if self.random.below(3) == 0 {
                self.statement(depth + 1);
            }
        } else {
            self.nest(depth + 1, left - 1);
            if self.random.below(4) == 0 {
                self.statement(depth + 1);
            }
        }
        self.out.push_str("}\n");
    }

    pub(crate) fn program(seed: u64) -> String {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        let is_plain = random.below(3) == 0;
        let mut it = Self { random, out: String::new(), n: 0, is_plain };
        it.out.push_str(
            "func.func @f(%s0: index, %s1: index, %s2: index, %A: memref<?x?xi64>, %B: memref<?x?xi64>, %n: index, %k: i64) {\n",
        );
        for _ in 0..=it.random.below(2) {
            let depth = 1 + it.random.below(3) as usize;
            it.nest(0, depth);
        }
        it.out.push_str("return\n}\n");
        it.out
    }
}
