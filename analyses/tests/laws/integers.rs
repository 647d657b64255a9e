//! The laws of constants and ranges on random programs: facts after edits equal those from scratch,
//! and the cost of an edit is proportional to its change.

use std::fmt::Write as _;

use crate::laws::{Random, check_edits};
use crate::{Document, Severity};

/// Writes random programs over integers: arithmetic, conditions, loops, blocks and calls, which may
/// be recursive.
struct Writer {
    random: Random,
    out: String,
    n: usize,
    n_functions: usize,
}

const BINARY: [&str; 20] = [
    "addi",
    "subi",
    "muli",
    "andi",
    "ori",
    "xori",
    "divsi",
    "divui",
    "remsi",
    "remui",
    "maxsi",
    "minsi",
    "maxui",
    "minui",
    "shli",
    "shrsi",
    "shrui",
    "ceildivsi",
    "floordivsi",
    "ceildivui",
];
const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];

impl Writer {
    fn program(seed: u64, size: usize) -> String {
        let mut it = Writer {
            random: Random::new(seed),
            out: String::new(),
            n: 0,
            n_functions: 1 + (seed % 3) as usize,
        };
        it.out
            .push_str("memref.global \"private\" constant @g : memref<3xi8> = dense<[1, 3, 7]>\n");
        for at in 0..it.n_functions {
            let visibility = if at == 0 { "" } else { "private " };
            let _ = writeln!(it.out, "func.func {visibility}@f{at}(%a: i8, %c: i1) -> i8 {{");
            for number in [0, 1, 3, 7, -2, 100] {
                let name = format!("%k{}", number + 2);
                let _ = writeln!(it.out, "  {name} = arith.constant {number} : i8");
            }
            it.out.push_str(
                "  %t = arith.constant true\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %c4 = arith.constant 4 : index\n",
            );
            it.out.push_str(
                "  %d = arith.constant dense<[3, 1]> : vector<2xi8>\n  %e = arith.muli %d, %d : vector<2xi8>\n  %m = memref.get_global @g : memref<3xi8>\n  %l = affine.load %m[1] : memref<3xi8>\n",
            );
            let mut scope: Vec<String> =
                ["%a", "%k0", "%k2", "%k3", "%k5", "%l"].map(str::to_owned).to_vec();
            it.ops(size, 1, &mut scope);
            if it.random.one_in(2) {
                it.blocks(&mut scope);
            }
            let last = it.pick(&scope);
            let _ = writeln!(it.out, "  return {last} : i8\n}}");
        }
        it.out
    }

    fn name(&mut self) -> String {
        self.n += 1;
        format!("%v{}", self.n)
    }

    fn pick(&mut self, scope: &[String]) -> String {
        let from = if self.random.one_in(3) { 0 } else { scope.len().saturating_sub(4) };
        scope[from + self.random.below(scope.len() - from)].clone()
    }

    fn condition(&mut self, depth: usize, scope: &[String]) -> String {
        if self.random.one_in(4) {
            return (*self.random.pick(&["%c", "%t"])).to_owned();
        }
        let (name, a, b) = (self.name(), self.pick(scope), self.pick(scope));
        let predicate = *self.random.pick(&PREDICATES);
        let indent = "  ".repeat(depth);
        let _ = writeln!(self.out, "{indent}{name} = arith.cmpi {predicate}, {a}, {b} : i8");
        name
    }

    fn ops(&mut self, size: usize, depth: usize, scope: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        for _ in 0..size {
            let choice = self.random.below(if depth < 3 { 24 } else { 18 });
            let (a, b) = (self.pick(scope), self.pick(scope));
            match choice {
                0..=13 => {
                    let (name, op) = (self.name(), *self.random.pick(&BINARY));
                    let _ = writeln!(self.out, "{indent}{name} = arith.{op} {a}, {b} : i8");
                    scope.push(name);
                }
                14..=15 => {
                    let condition = self.condition(depth, scope);
                    let name = self.name();
                    let _ = writeln!(
                        self.out,
                        "{indent}{name} = arith.select {condition}, {a}, {b} : i8"
                    );
                    scope.push(name);
                }
                16 => {
                    let (wide, name) = (self.name(), self.name());
                    let _ = writeln!(
                        self.out,
                        "{indent}{wide} = arith.extui {a} : i8 to i16\n{indent}{name} = arith.trunci {wide} : i16 to i8"
                    );
                    scope.push(name);
                }
                17 => {
                    let callee = self.random.below(self.n_functions);
                    let name = self.name();
                    let _ = writeln!(
                        self.out,
                        "{indent}{name} = func.call @f{callee}({a}, %c) : (i8, i1) -> i8"
                    );
                    scope.push(name);
                }
                _ => self.nested(choice, depth, scope),
            }
        }
    }

    fn nested(&mut self, choice: usize, depth: usize, scope: &mut Vec<String>) {
        let indent = "  ".repeat(depth);
        let size = 1 + self.random.below(4);
        let (init, other) = (self.pick(scope), self.pick(scope));
        let mut inner = scope.clone();
        match choice {
            18..=19 => {
                let condition = self.condition(depth, scope);
                let name = self.name();
                let _ = writeln!(self.out, "{indent}{name} = scf.if {condition} -> (i8) {{");
                for half in 0..2 {
                    inner.clone_from(scope);
                    self.ops(size, depth + 1, &mut inner);
                    let last = self.pick(&inner);
                    let end = if half == 0 { "} else {" } else { "}" };
                    let _ = writeln!(self.out, "{indent}  scf.yield {last} : i8\n{indent}{end}");
                }
                scope.push(name);
            }
            20..=22 => {
                let (name, i, p, q) = (self.name(), self.name(), self.name(), self.name());
                let upper = *self.random.pick(&["%c4", "%c1", "%c0"]);
                let _ = writeln!(
                    self.out,
                    "{indent}{name}:2 = scf.for {i} = %c0 to {upper} step %c1 iter_args({p} = {init}, {q} = {other}) -> (i8, i8) {{"
                );
                let cast = self.name();
                let _ = writeln!(self.out, "{indent}  {cast} = arith.index_cast {i} : index to i8");
                inner.extend([cast, p, q]);
                self.ops(size, depth + 1, &mut inner);
                let (last, also) = (self.pick(&inner), self.pick(&inner));
                let _ =
                    writeln!(self.out, "{indent}  scf.yield {last}, {also} : i8, i8\n{indent}}}");
                scope.push(format!("{name}#0"));
                scope.push(format!("{name}#1"));
            }
            _ => {
                let (name, p, moved) = (self.name(), self.name(), self.name());
                let _ =
                    writeln!(self.out, "{indent}{name} = scf.while ({p} = {init}) : (i8) -> i8 {{");
                inner.push(p);
                self.ops(size, depth + 1, &mut inner);
                let condition = self.condition(depth + 1, &inner);
                let passed = self.pick(&inner);
                let _ = writeln!(
                    self.out,
                    "{indent}  scf.condition({condition}) {passed} : i8\n{indent}}} do {{\n{indent}^bb0({moved}: i8):"
                );
                let mut inner = scope.clone();
                inner.push(moved);
                self.ops(size, depth + 1, &mut inner);
                let last = self.pick(&inner);
                let _ = writeln!(self.out, "{indent}  scf.yield {last} : i8\n{indent}}}");
                scope.push(name);
            }
        }
    }

    /// Ends the body with blocks that mostly branch forward and sometimes backward.
    fn blocks(&mut self, scope: &mut Vec<String>) {
        let n = 2 + self.random.below(4);
        let first = self.n;
        let start = self.pick(scope);
        let _ = writeln!(self.out, "  cf.br ^l{first}_0({start} : i8)");
        for block in 0..n {
            let arg = self.name();
            let _ = writeln!(self.out, "^l{first}_{block}({arg}: i8):");
            let mut inner = scope.clone();
            inner.push(arg);
            self.ops(2, 1, &mut inner);
            let (a, b) = (self.pick(&inner), self.pick(&inner));
            let target = |random: &mut Random| {
                if random.one_in(4) {
                    random.below(n)
                } else {
                    (block + 1 + random.below(2)).min(n)
                }
            };
            let (to, or) = (target(&mut self.random), target(&mut self.random));
            if self.random.one_in(4) {
                let _ = writeln!(
                    self.out,
                    "  cf.switch {a} : i8, [default: ^l{first}_{to}({a} : i8), 3: ^l{first}_{or}({b} : i8)]"
                );
                continue;
            }
            let condition = self.condition(1, &inner);
            let _ = writeln!(
                self.out,
                "  cf.cond_br {condition}, ^l{first}_{to}({a} : i8), ^l{first}_{or}({b} : i8)"
            );
        }
        let arg = self.name();
        let _ = writeln!(self.out, "^l{first}_{n}({arg}: i8):");
        scope.push(arg);
    }
}

#[test]
fn programs_are_valid() {
    for seed in 1..=40 {
        let text = Writer::program(seed, 8);
        let diagnostics = Document::new(&text).diagnostics();
        assert!(diagnostics.iter().all(|it| it.severity != Severity::Error), "{text}");
    }
}

#[test]
fn integers_after_edits_equal_those_from_scratch() {
    let n = if cfg!(debug_assertions) { 100 } else { 400 };
    for seed in 1..=n {
        check_edits(seed, Writer::program(seed, 3 + seed as usize % 12));
    }
}

/// Returns the facts of the operands of the return: the constant, or its elements.
fn returned(document: &Document) -> Vec<String> {
    let (ir, integers) = (document.ir(), document.integers());
    let body = ir.op(ir.functions()[0]).regions[0].1;
    let end = ir.last_op(ir.region(body).entry).map(|it| &ir.op(it).operands);
    let values = end.into_iter().flatten().filter_map(|it| it.value);
    let text = |it| match integers.elements(it) {
        Some(all) => all.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
        None => it.to_string(),
    };
    values.map(|it| text(integers.constant(ir, it))).collect()
}

#[test]
fn elements_that_differ_are_folded_one_by_one() {
    let document = Document::new(
        "func.func @f(%x: vector<2xi8>) -> (vector<2xi8>, vector<2xi1>, vector<2xi8>, vector<2xi8>, vector<2xi8>, vector<2xf32>, tensor<9xi1>) {
  %a = arith.constant dense<[1, -128]> : vector<2xi8>
  %b = arith.constant dense<[3, -1]> : vector<2xi8>
  %z = arith.constant dense<[2, 0]> : vector<2xi8>
  %0 = arith.addi %a, %b : vector<2xi8>
  %1 = arith.cmpi slt, %a, %b : vector<2xi8>
  %2 = arith.select %1, %b, %a : vector<2xi1>, vector<2xi8>
  %3 = arith.divsi %a, %z : vector<2xi8>
  %4 = arith.subi %b, %b : vector<2xi8>
  %f = arith.constant dense<[0.5, 0x7FC00000]> : vector<2xf32>
  %5 = arith.mulf %f, %f : vector<2xf32>
  %h = arith.constant dense<\"0x0301\"> : tensor<9xi1>
  return %0, %1, %2, %3, %4, %5, %h : vector<2xi8>, vector<2xi1>, vector<2xi8>, vector<2xi8>, vector<2xi8>, vector<2xf32>, tensor<9xi1>
}
",
    );
    let expected = ["4 127", "-1", "3 -1", "unknown", "0", "0.25 NaN", "-1 -1 0 0 0 0 0 0 -1"];
    assert_eq!(returned(&document), expected);
}

#[test]
fn edits_of_a_constant_global_reach_its_loads() {
    let text = "memref.global \"private\" constant @g : memref<2x2xi8> = dense<[[1, 2], [3, 4]]>
memref.global \"private\" @h : memref<2xi8> = dense<7>
func.func @f(%i: index) -> (i8, i8, i8) {
  %g = memref.get_global @g : memref<2x2xi8>
  %h = memref.get_global @h : memref<2xi8>
  %0 = affine.load %g[1, 0] : memref<2x2xi8>
  %1 = affine.load %g[symbol(%i), 0] : memref<2x2xi8>
  %2 = affine.load %h[0] : memref<2xi8>
  return %0, %1, %2 : i8, i8, i8
}
";
    let mut document = Document::new(text);
    assert_eq!(returned(&document), ["3", "unknown", "unknown"]);
    let dense = "dense<[[1, 2], [3, 4]]>";
    let at = text.find(dense).expect("the needle is in the text");
    document.edit(at..at + dense.len(), "dense<9>");
    assert_eq!(returned(&document), ["9", "9", "unknown"]);
    document.edit(at..at + "dense<9>".len(), "uninitialized");
    assert_eq!(returned(&document), ["unknown", "unknown", "unknown"]);
}

/// Returns a function with a chain of `n` additions.
fn long(n: usize) -> String {
    let mut text = "func.func @f(%a: i32) -> i32 {\n  %c = arith.constant 15 : i32\n  %0 = arith.andi %a, %c : i32\n".to_owned();
    for at in 1..n {
        let a = at - 1;
        let op = if at % 3 == 0 { "andi" } else { "addi" };
        let _ = writeln!(text, "  %{at} = arith.{op} %{a}, %c : i32");
    }
    let _ = writeln!(text, "  return %{} : i32\n}}", n - 1);
    text
}

#[test]
fn an_edit_that_changes_no_fact_visits_a_constant_number_of_ops() {
    let text = long(100_000);
    let mut document = Document::new(&text);
    assert!(document.integers().n_visits() <= 2 * 100_010);
    let at = text.find("%50004 = arith.andi").expect("the needle is in the text");
    let operands = at + "%50004 = arith.andi ".len();
    // Swaps the operands.
    let end = operands + "%50003, %c".len();
    let mut visits = Vec::new();
    for new in ["%c, %50003", "%50003, %c"] {
        document.edit(operands..end, new);
        visits.push(document.integers().n_visits());
    }
    assert!(visits.iter().all(|&it| it <= 8), "{visits:?}");
    // Facts change up to the next mask, and the cost is proportional to them.
    let at = text.find("%50005 = arith.addi").expect("the needle is in the text")
        + "%50005 = arith.".len();
    document.edit(at..at + 4, "muli");
    assert!(document.integers().n_visits() < 20, "{}", document.integers().n_visits());
}

#[test]
fn switch_cases_wrap_to_the_type_of_the_flag() {
    // A number above the maximum of its type wraps, and `true` is -1.
    for (ty, flag, case) in [
        ("i8", "-1", "255"),
        ("i8", "255", "-1"),
        ("i1", "true", "1"),
        ("i1", "true", "-1"),
        ("i16", "-32768", "32768"),
    ] {
        let constant = if flag == "true" { "true".to_owned() } else { format!("{flag} : {ty}") };
        let text = format!(
            "func.func @f() {{\n  %c = arith.constant {constant}\n  cf.switch %c : {ty}, [default: ^no, {case}: ^yes]\n^no:\n  return\n\
             ^yes:\n  return\n}}\n"
        );
        let document = Document::new(&text);
        let ir = document.ir();
        let function = ir.functions()[0];
        let blocks = ir.blocks(ir.op(function).regions[0].1);
        let live = blocks.iter().map(|&it| document.integers().is_block_live(it));
        assert_eq!(live.collect::<Vec<_>>(), [true, false, true], "{text}");
    }
}
