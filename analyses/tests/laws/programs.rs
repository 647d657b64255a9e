//! Random programs with loops, branches and blocks, and random edits of a text.

use std::fmt::Write as _;

use super::Random;

/// Writes a random program, with control flow if `flow` is true.
pub(super) struct Writer {
    random: Random,
    out: String,
    n: usize,
    flow: bool,
    /// The functions that may be called.
    callees: Vec<String>,
}

impl Writer {
    pub(super) fn new(seed: u64, flow: bool) -> Self {
        Writer { random: Random::new(seed), out: String::new(), n: 0, flow, callees: Vec::new() }
    }

    fn name(&mut self) -> String {
        self.n += 1;
        format!("%v{}", self.n)
    }

    pub(super) fn function(&mut self, size: usize) -> String {
        self.body("func.func @f(%x: i5, %a: !noisy.i32, %c: i1, %n: index) -> !noisy.i32", size)
    }

    /// Returns functions that call each other; some are recursive.
    pub(super) fn module(&mut self, n: usize, size: usize) -> String {
        let all: Vec<String> = (0..n).map(|at| format!("@g{at}")).collect();
        let mut out = String::new();
        for (at, name) in all.iter().enumerate() {
            // Mostly calls later functions, sometimes any function.
            let from = if self.random.one_in(5) { 0 } else { at + 1 };
            self.callees = all[from..].to_vec();
            let private = if at > 0 && self.random.one_in(2) { "private " } else { "" };
            let bound = if self.random.one_in(6) { " {noisy.bound = 20 : i64}" } else { "" };
            let given = match self.random.below(6) {
                0 => "(!noisy.i32 {noisy.bound = 20 : i64})",
                _ => "!noisy.i32",
            };
            let head = format!(
                "func.func {private}{name}(%x: i5, %a: !noisy.i32{bound}, %c: i1, %n: index) -> {given}"
            );
            out += &self.body(&head, size);
        }
        out
    }

    fn body(&mut self, head: &str, size: usize) -> String {
        self.out.push_str(head);
        self.out.push_str(
            " {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c3 = arith.constant 3 : index\n  %c40 = arith.constant 40 : index\n  %upto = arith.minui %n, %c3 : index\n  %t = arith.constant true\n",
        );
        let mut scope = vec!["%a".to_owned()];
        self.ops(size, 1, &mut scope);
        if self.flow && self.random.one_in(2) {
            self.blocks(&mut scope);
        }
        let last = scope.last().cloned().unwrap_or_default();
        let _ = writeln!(self.out, "  return {last} : !noisy.i32\n}}");
        std::mem::take(&mut self.out)
    }

    fn pick(&mut self, scope: &[String]) -> String {
        // Prefers recent values.
        let from = if self.random.one_in(3) { 0 } else { scope.len().saturating_sub(4) };
        scope[from + self.random.below(scope.len() - from)].clone()
    }

    fn ops(&mut self, size: usize, depth: usize, scope: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        for _ in 0..size {
            let choice = self.random.below(if self.flow && depth < 4 { 27 } else { 20 });
            if choice >= 20 {
                self.nested(choice, depth, scope);
                continue;
            }
            let (a, b) = (self.pick(scope), self.pick(scope));
            let name = self.name();
            let line = match choice {
                14..=17 if !self.callees.is_empty() && self.random.one_in(2) => {
                    let callee = self.random.pick(&self.callees);
                    format!(
                        "{name} = func.call {callee}(%x, {a}, %c, %n) : (i5, !noisy.i32, i1, index) -> !noisy.i32"
                    )
                }
                0..=1 => format!("{name} = noisy.encode %x : i5 -> !noisy.i32"),
                2..=4 => format!("{name} = noisy.reduce_noise {a} : !noisy.i32"),
                5..=7 => format!("{name} = noisy.mul {a}, {b} : !noisy.i32"),
                8 if self.flow => format!("{name} = arith.select %c, {a}, {b} : !noisy.i32"),
                9 if self.flow && self.random.one_in(6) => {
                    format!("{name} = \"other.op\"({a}) : (!noisy.i32) -> !noisy.i32")
                }
                10..=13 => format!("{name} = noisy.sub {a}, {b} : !noisy.i32"),
                _ => format!("{name} = noisy.add {a}, {b} : !noisy.i32"),
            };
            let _ = writeln!(self.out, "{indent}{line}");
            scope.push(name);
        }
    }

    fn nested(&mut self, choice: usize, depth: usize, scope: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        let size = 1 + self.random.below(4);
        let init = self.pick(scope);
        let name = self.name();
        let mut inner = scope.clone();
        match choice {
            20..=21 => {
                let condition = *self.random.pick(&["%c", "%c", "%t"]);
                let _ =
                    writeln!(self.out, "{indent}{name} = scf.if {condition} -> (!noisy.i32) {{");
                for half in 0..2 {
                    inner.clone_from(scope);
                    self.ops(size, depth + 1, &mut inner);
                    let last = self.pick(&inner);
                    let _ = writeln!(self.out, "{indent}  scf.yield {last} : !noisy.i32");
                    let end = if half == 0 { "} else {" } else { "}" };
                    let _ = writeln!(self.out, "{indent}{end}");
                }
            }
            22..=24 => {
                let acc = self.name();
                let (i, other, second) = (self.name(), self.name(), self.pick(scope));
                let upper = *self.random.pick(&["%n", "%c3", "%upto", "%c1", "%c0", "%c40"]);
                let _ = writeln!(
                    self.out,
                    "{indent}{name}:2 = scf.for {i} = %c0 to {upper} step %c1 iter_args({acc} = {init}, {other} = {second}) -> (!noisy.i32, !noisy.i32) {{"
                );
                inner.push(acc);
                inner.push(other);
                self.ops(size, depth + 1, &mut inner);
                let (last, also) = (self.pick(&inner), self.pick(&inner));
                let _ = writeln!(
                    self.out,
                    "{indent}  scf.yield {last}, {also} : !noisy.i32, !noisy.i32\n{indent}}}"
                );
                scope.push(format!("{name}#1"));
            }
            26 => {
                let (i, other, second) = (self.name(), self.name(), self.pick(scope));
                let upper = *self.random.pick(&["%n", "%c3", "%upto", "%c1", "%c0", "%c40"]);
                let _ = writeln!(
                    self.out,
                    "{indent}{name}:2 = scf.parallel ({i}, {other}) = (%c0, %c0) to ({upper}, %c3) step (%c1, %c1) init ({init}, {second}) -> (!noisy.i32, !noisy.i32) {{"
                );
                self.ops(size, depth + 1, &mut inner);
                let (a, b) = (self.pick(&inner), self.pick(&inner));
                let _ = writeln!(
                    self.out,
                    "{indent}  scf.reduce({a}, {b} : !noisy.i32, !noisy.i32) {{"
                );
                for half in 0..2 {
                    let (left, right) = (self.name(), self.name());
                    let _ = writeln!(
                        self.out,
                        "{indent}  ^bb0({left}: !noisy.i32, {right}: !noisy.i32):"
                    );
                    let mut combined = inner.clone();
                    combined.extend([left, right]);
                    self.ops(1 + size / 2, depth + 2, &mut combined);
                    let last = self.pick(&combined);
                    let end = if half == 0 { "}, {" } else { "}" };
                    let _ = writeln!(
                        self.out,
                        "{indent}    scf.reduce.return {last} : !noisy.i32\n{indent}  {end}"
                    );
                }
                let _ = writeln!(self.out, "{indent}}}");
                scope.push(format!("{name}#1"));
            }
            _ => {
                let (acc, moved) = (self.name(), self.name());
                let _ = writeln!(
                    self.out,
                    "{indent}{name} = scf.while ({acc} = {init}) : (!noisy.i32) -> !noisy.i32 {{"
                );
                inner.push(acc);
                self.ops(size, depth + 1, &mut inner);
                let passed = self.pick(&inner);
                let _ = writeln!(
                    self.out,
                    "{indent}  scf.condition(%c) {passed} : !noisy.i32\n{indent}}} do {{\n{indent}^bb0({moved}: !noisy.i32):"
                );
                let mut inner = scope.clone();
                inner.push(moved);
                self.ops(size, depth + 1, &mut inner);
                let last = self.pick(&inner);
                let _ = writeln!(self.out, "{indent}  scf.yield {last} : !noisy.i32\n{indent}}}");
            }
        }
        scope.push(name);
    }

    /// Ends the body with blocks that mostly branch forward and sometimes backward.
    fn blocks(&mut self, scope: &mut Vec<String>) {
        let n = 2 + self.random.below(4);
        let first = self.n;
        let start = self.pick(scope);
        let _ = writeln!(self.out, "  cf.br ^l{first}_0({start} : !noisy.i32)");
        for block in 0..n {
            let arg = self.name();
            let _ = writeln!(self.out, "^l{first}_{block}({arg}: !noisy.i32):");
            let mut inner = scope.clone();
            inner.push(arg.clone());
            self.ops(3, 1, &mut inner);
            let (a, b) = (self.pick(&inner), self.pick(&inner));
            let target = |random: &mut Random| {
                if random.one_in(4) {
                    random.below(n)
                } else {
                    (block + 1 + random.below(2)).min(n)
                }
            };
            let (to, or) = (target(&mut self.random), target(&mut self.random));
            let condition = *self.random.pick(&["%c", "%c", "%t"]);
            let _ = writeln!(
                self.out,
                "  cf.cond_br {condition}, ^l{first}_{to}({a} : !noisy.i32), ^l{first}_{or}({b} : !noisy.i32)"
            );
        }
        let arg = self.name();
        let _ = writeln!(self.out, "^l{first}_{n}({arg}: !noisy.i32):");
        scope.push(arg);
    }
}

/// Returns a random program with all forms of control flow.
pub(crate) fn program(seed: u64) -> String {
    Writer::new(seed, true).function(3 + seed as usize % 20)
}

/// Returns a random edit of a text: a range and its replacement.
pub(crate) fn random_edit(random: &mut Random, text: &str) -> (std::ops::Range<usize>, String) {
    if text.contains("@g0") && random.one_in(6) {
        let (from, to) = *random.pick(&[
            ("@g1", "@g2"),
            ("@g2", "@g1"),
            ("func private", "func"),
            ("func @g", "func private @g"),
            ("func.call", "func.constant"),
            ("= 20", "= 14"),
            ("= 20", "= 30"),
            ("!noisy.i32,", "!noisy.i32 {noisy.bound = 13 : i64},"),
        ]);
        let places: Vec<usize> = text.match_indices(from).map(|it| it.0).collect();
        if !places.is_empty() {
            let at = *random.pick(&places);
            return (at..at + from.len(), to.to_owned());
        }
    }
    if random.one_in(6) {
        // Replaces, removes or inserts a word of the text.
        let all: Vec<std::ops::Range<usize>> = words(text);
        if !all.is_empty() {
            let (place, other) = (random.pick(&all).clone(), &text[random.pick(&all).clone()]);
            return match random.below(4) {
                0 => (place, String::new()),
                1 => (place.start..place.start, format!("{other} ")),
                _ => (place, other.to_owned()),
            };
        }
    }
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let at = random.below(lines.len().max(1));
    let start: usize = lines[..at].iter().map(|it| it.len()).sum();
    let line = lines.get(at).copied().unwrap_or("");
    let whole = start..start + line.len();
    let other = lines.get(random.below(lines.len().max(1))).copied().unwrap_or("");
    let swap = |from: &str, to: &str| (whole.clone(), line.replace(from, to));
    match random.below(20) {
        0 => (whole, String::new()),
        1 => (start..start, other.to_owned()),
        2 => (whole, other.to_owned()),
        3 => swap("add", "mul"),
        4 => swap("mul", "reduce_noise"),
        5 => swap("mul", "add"),
        6 => swap("%v1", "%v2"),
        7 => swap("true", "false"),
        8 => swap("3", "5"),
        9 => swap("_0", "_1"),
        10 => swap("!noisy.i32", "i32"),
        11 => (start..start, "  cf.br ^l1\n^l1:\n".to_owned()),
        12 => swap("addi", "muli"),
        13 => swap("slt", "sge"),
        14 => swap("%c1", "%c4"),
        15 => swap("%k2", "%k5"),
        16 => swap("@f1", "@f2"),
        17 => swap("private ", ""),
        _ => {
            let at = start + random.below(line.len() + 1);
            let len = usize::from(random.one_in(2) && at < text.len());
            let new = *random.pick(&["", "%", "}", "{", " ", "0", "v", ":", "(", ")"]);
            (at..at + len, new.to_owned())
        }
    }
}

/// Returns the ranges of the words of a text: names, numbers, signs.
fn words(text: &str) -> Vec<std::ops::Range<usize>> {
    let is_of_name = |it: char| it.is_ascii_alphanumeric() || "_.%@^#!".contains(it);
    let mut out: Vec<std::ops::Range<usize>> = Vec::new();
    let mut before = ' ';
    for (at, it) in text.char_indices() {
        let end = at + it.len_utf8();
        match out.last_mut() {
            Some(last) if is_of_name(it) && is_of_name(before) => last.end = end,
            _ if it.is_whitespace() => {}
            _ => out.push(at..end),
        }
        before = it;
    }
    out
}
