//! Random programs for the laws: functions that call each other in any way, loops of every kind,
//! branches, and graphs of blocks that may be irreducible. Values are noisy or integers, and
//! integers decide the control flow. Every program is valid except for its noise.

use std::fmt::Write as _;

use crate::laws::Random;

/// The parameters of each function.
const PARAMETERS: &str = "%x: !noisy.i32, %p: i5, %c: i1, %n: index";
const TYPES: &str = "(!noisy.i32, i5, i1, index) -> (!noisy.i32, i5)";
const RESULTS: &str = "(!noisy.i32, i5)";

/// The names that are visible at a position, by their type.
#[derive(Clone, Default)]
struct Scope {
    noisy: Vec<String>,
    ints: Vec<String>,
    bools: Vec<String>,
    indices: Vec<String>,
}

struct Writer {
    random: Random,
    out: String,
    n: usize,
    n_functions: usize,
    /// Remaining number of ops with regions in the function.
    n_remaining_nested: usize,
}

/// Returns a program of `n_functions` functions with about `size` ops each.
pub(super) fn program(seed: u64, n_functions: usize, size: usize) -> String {
    let random = Random::new(seed);
    let mut it = Writer { random, out: String::new(), n: 0, n_functions, n_remaining_nested: 0 };
    for at in 0..n_functions {
        it.function(at, size);
    }
    if it.random.one_in(8) {
        // The address of a function is taken, so that it may be called indirectly.
        let of = it.random.below(n_functions);
        let _ = writeln!(
            it.out,
            "func.func @taken() {{\n  %f = func.constant @f{of} : {TYPES}\n  return\n}}"
        );
    }
    it.out
}

impl Writer {
    fn name(&mut self) -> String {
        self.n += 1;
        format!("%v{}", self.n)
    }

    fn pick(&mut self, of: &[String]) -> String {
        // Prefers recent values.
        let from = if self.random.one_in(3) { 0 } else { of.len().saturating_sub(3) };
        of[from + self.random.below(of.len() - from)].clone()
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn function(&mut self, at: usize, size: usize) {
        let private = if at > 0 && !self.random.one_in(4) { "private " } else { "" };
        let (mut parameters, mut results) = (PARAMETERS.to_owned(), RESULTS.to_owned());
        if self.random.one_in(8) {
            let bound = 8 + self.random.below(16);
            parameters =
                parameters.replacen("i32,", &format!("i32 {{noisy.bound = {bound} : i64}},"), 1);
        }
        if self.random.one_in(8) {
            let bound = 10 + self.random.below(16);
            results = results.replacen("i32,", &format!("i32 {{noisy.bound = {bound} : i64}},"), 1);
        }
        self.line(&format!("func.func {private}@f{at}({parameters}) -> {results} {{"));
        let name = |it: &str| it.to_owned();
        let mut scope = Scope {
            noisy: vec![name("%x")],
            ints: vec![name("%p")],
            bools: vec![name("%c")],
            indices: vec![name("%n")],
        };
        for number in [0, 1, 3] {
            self.line(&format!("%c{number} = arith.constant {number} : index"));
            scope.indices.push(format!("%c{number}"));
            self.line(&format!("%k{number} = arith.constant {number} : i5"));
            scope.ints.push(format!("%k{number}"));
        }
        self.n_remaining_nested = 4;
        self.ops(size, 0, &mut scope);
        if self.random.one_in(3) {
            return self.blocks(size, &scope);
        }
        let (noise, int) = (self.pick(&scope.noisy), self.pick(&scope.ints));
        self.line(&format!("return {noise}, {int} : !noisy.i32, i5\n}}"));
    }

    fn ops(&mut self, size: usize, depth: usize, scope: &mut Scope) {
        for _ in 0..=self.random.below(size) {
            match self.random.below(10) {
                0..4 => self.noisy(scope),
                4..6 => self.int(scope),
                6 => self.call(scope),
                _ if depth < 3 && self.n_remaining_nested > 0 => {
                    self.n_remaining_nested -= 1;
                    self.nested(size / 2 + 1, depth, scope);
                }
                _ => self.noisy(scope),
            }
        }
    }

    fn noisy(&mut self, scope: &mut Scope) {
        let (to, a, b) = (self.name(), self.pick(&scope.noisy), self.pick(&scope.noisy));
        let (int, bool) = (self.pick(&scope.ints), self.pick(&scope.bools));
        let text = match self.random.below(12) {
            0..3 => format!("noisy.reduce_noise {a} : !noisy.i32"),
            3..5 => format!("noisy.mul {a}, {b} : !noisy.i32"),
            5 => format!("noisy.encode {int} : i5 -> !noisy.i32"),
            6 => format!("arith.select {bool}, {a}, {b} : !noisy.i32"),
            7 => format!("noisy.sub {a}, {b} : !noisy.i32"),
            _ => format!("noisy.add {a}, {b} : !noisy.i32"),
        };
        self.line(&format!("{to} = {text}"));
        scope.noisy.push(to);
    }

    fn int(&mut self, scope: &mut Scope) {
        let (to, a, b) = (self.name(), self.pick(&scope.ints), self.pick(&scope.ints));
        match self.random.below(8) {
            0 | 1 => {
                let compare = *self.random.pick(&["eq", "ne", "slt", "ult", "sge"]);
                self.line(&format!("{to} = arith.cmpi {compare}, {a}, {b} : i5"));
                scope.bools.push(to);
                return;
            }
            2 => {
                self.line(&format!("{to} = arith.index_cast {a} : i5 to index"));
                scope.indices.push(to);
                return;
            }
            3 => {
                let from = self.pick(&scope.indices);
                self.line(&format!("{to} = arith.index_cast {from} : index to i5"));
            }
            _ => {
                let op = *self
                    .random
                    .pick(&["addi", "addi", "andi", "subi", "xori", "muli", "minui", "maxsi"]);
                self.line(&format!("{to} = arith.{op} {a}, {b} : i5"));
            }
        }
        scope.ints.push(to);
    }

    fn call(&mut self, scope: &mut Scope) {
        let callee = self.random.below(self.n_functions);
        let (to, noise, int) = (self.name(), self.pick(&scope.noisy), self.pick(&scope.ints));
        let (bool, index) = (self.pick(&scope.bools), self.pick(&scope.indices));
        self.line(&format!(
            "{to}:2 = func.call @f{callee}({noise}, {int}, {bool}, {index}) : {TYPES}"
        ));
        scope.noisy.push(format!("{to}#0"));
        scope.ints.push(format!("{to}#1"));
    }

    /// Writes the ops and the terminator of a region.
    fn body(&mut self, size: usize, depth: usize, mut inner: Scope, end: &str) {
        self.ops(size, depth + 1, &mut inner);
        let (noise, int) = (self.pick(&inner.noisy), self.pick(&inner.ints));
        self.line(&format!("{end} {noise}, {int} : !noisy.i32, i5"));
    }

    /// Writes nested loops with many noisy iteration arguments. Each iteration applies an op to one
    /// of them and permutes all.
    fn rotation(&mut self, scope: &mut Scope) {
        let n = 3 + self.random.below(5);
        let initial: Vec<String> = (0..n).map(|_| self.pick(&scope.noisy)).collect();
        let depth = 1 + self.random.below(2);
        let given = self.rotated(&initial, depth, scope);
        scope.noisy.extend(given);
    }

    fn rotated(&mut self, carried: &[String], depth: usize, scope: &Scope) -> Vec<String> {
        let n = carried.len();
        let mut given = carried.to_vec();
        if depth == 0 {
            let (at, to) = (self.random.below(n), self.name());
            let (a, b) = (self.pick(carried), self.pick(carried));
            let op = *self.random.pick(&["add", "add", "mul"]);
            self.line(&format!("{to} = noisy.{op} {a}, {b} : !noisy.i32"));
            given[at] = to;
            given.swap(0, at);
        } else {
            let (to, by, upper) = (self.name(), self.name(), self.pick(&scope.indices));
            let inner: Vec<String> = (0..n).map(|_| self.name()).collect();
            let inits = inner.iter().zip(carried).map(|(to, from)| format!("{to} = {from}"));
            let inits = inits.collect::<Vec<_>>().join(", ");
            let types = vec!["!noisy.i32"; n].join(", ");
            self.line(&format!(
                "{to}:{n} = scf.for {by} = %c0 to {upper} step %c1 iter_args({inits}) -> ({types}) {{"
            ));
            let yielded = self.rotated(&inner, depth - 1, scope).join(", ");
            self.line(&format!("scf.yield {yielded} : {types}\n}}"));
            given = (0..n).map(|it| format!("{to}#{it}")).collect();
        }
        given.rotate_left(self.random.below(n));
        given
    }

    fn nested(&mut self, size: usize, depth: usize, scope: &mut Scope) {
        if self.random.one_in(8) {
            return self.rotation(scope);
        }
        let (to, a, i) = (self.name(), self.pick(&scope.noisy), self.pick(&scope.ints));
        let (acc, count) = (self.name(), self.name());
        let mut inner = scope.clone();
        let kind = self.random.below(8);
        if kind > 2 {
            inner.noisy.push(acc.clone());
            inner.ints.push(count.clone());
        }
        let carried = format!("iter_args({acc} = {a}, {count} = {i}) -> (!noisy.i32, i5)");
        match kind {
            0..=2 => {
                let condition = self.pick(&scope.bools);
                self.line(&format!("{to}:2 = scf.if {condition} -> (!noisy.i32, i5) {{"));
                self.body(size, depth, inner.clone(), "scf.yield");
                self.line("} else {");
                self.body(size, depth, inner, "scf.yield");
            }
            3 | 4 => {
                let by = self.name();
                let upper = self.pick(&scope.indices);
                self.line(&format!("{to}:2 = scf.for {by} = %c0 to {upper} step %c1 {carried} {{"));
                inner.indices.push(by);
                self.body(size, depth, inner, "scf.yield");
            }
            5 => {
                let (by, upper) = (self.name(), self.random.below(6));
                self.line(&format!("{to}:2 = affine.for {by} = 0 to {upper} {carried} {{"));
                inner.indices.push(by);
                self.body(size, depth, inner, "affine.yield");
            }
            _ => {
                self.line(&format!(
                    "{to}:2 = scf.while ({acc} = {a}, {count} = {i}) : (!noisy.i32, i5) -> (!noisy.i32, i5) {{"
                ));
                self.ops(size, depth + 1, &mut inner);
                let condition = self.pick(&inner.bools);
                self.body(0, depth, inner, &format!("scf.condition({condition})"));
                let (moved, number) = (self.name(), self.name());
                self.line(&format!("}} do {{\n^bb0({moved}: !noisy.i32, {number}: i5):"));
                let mut inner = scope.clone();
                inner.noisy.push(moved);
                inner.ints.push(number);
                self.body(size, depth, inner, "scf.yield");
            }
        }
        self.line("}");
        scope.noisy.push(format!("{to}#0"));
        scope.ints.push(format!("{to}#1"));
    }

    /// Ends a function with blocks that branch to each other in any way. The values of a block are
    /// passed to others as arguments, and not used directly.
    fn blocks(&mut self, size: usize, scope: &Scope) {
        let n = 2 + self.random.below(4);
        let first = self.n;
        let passed = |it: &mut Self, scope: &Scope| {
            let to = it.random.below(n);
            let (noise, int) = (it.pick(&scope.noisy), it.pick(&scope.ints));
            format!("^l{first}_{to}({noise}, {int} : !noisy.i32, i5)")
        };
        let to = passed(self, scope);
        self.line(&format!("cf.br {to}"));
        for block in 0..n {
            let (noise, int) = (self.name(), self.name());
            self.line(&format!("^l{first}_{block}({noise}: !noisy.i32, {int}: i5):"));
            let mut inner = scope.clone();
            inner.noisy.push(noise);
            inner.ints.push(int);
            self.ops(size / 2 + 1, 1, &mut inner);
            if block + 1 == n || self.random.one_in(5) {
                let (noise, int) = (self.pick(&inner.noisy), self.pick(&inner.ints));
                self.line(&format!("return {noise}, {int} : !noisy.i32, i5"));
            } else if self.random.one_in(4) {
                let to = passed(self, &inner);
                self.line(&format!("cf.br {to}"));
            } else {
                let condition = self.pick(&inner.bools);
                let (to, or) = (passed(self, &inner), passed(self, &inner));
                self.line(&format!("cf.cond_br {condition}, {to}, {or}"));
            }
        }
        self.line("}");
    }
}
