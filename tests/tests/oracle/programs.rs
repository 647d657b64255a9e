//! Random programs of integers and floats with all kinds of control flow, extreme constants,
//! oversized shifts, divisions by zero, loops without iterations, and branches with constant
//! conditions. They contain no `scf.parallel`, because LLVM 19 treats its results as unreached.

use std::fmt::Write as _;

const INTEGERS: [&str; 6] = ["i1", "i8", "i16", "i32", "i64", "index"];
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
    "ceildivui",
    "floordivsi",
];
const FLAGGED: [&str; 3] = ["addi", "subi", "muli"];
const EXTENDED: [&str; 3] = ["addui_extended", "mulsi_extended", "mului_extended"];
const PREDICATES: [&str; 10] = ["eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge"];
const FLOATS: [&str; 9] =
    ["addf", "subf", "mulf", "divf", "remf", "maximumf", "minimumf", "maxnumf", "minnumf"];
const ORDERS: [&str; 16] = [
    "false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord", "ueq", "ugt", "uge", "ult", "ule",
    "une", "uno", "true",
];
const SHAPES: [&str; 5] =
    ["vector<3xi8>", "vector<2x2xi32>", "vector<3xi1>", "vector<2xf32>", "tensor<2xindex>"];

/// Writes a program.
struct Writer {
    state: u64,
    out: String,
    n_names: usize,
    /// Number of earlier functions, which may be called.
    n_callees: usize,
    /// The visible values, with their types.
    scope: Vec<(String, String)>,
    is_main: bool,
}

/// Returns the program of a seed.
pub(crate) fn program(seed: u64) -> String {
    let mut it = Writer {
        state: seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1,
        out: String::new(),
        n_names: 0,
        scope: Vec::new(),
        n_callees: 0,
        is_main: false,
    };
    it.out.push_str(
        "memref.global \"private\" constant @g : memref<2x2xi32> = dense<[[1, 2], [-3, 4]]>\n",
    );
    it.out.push_str("memref.global \"private\" constant @s : memref<4xi8> = dense<7>\n");
    for at in 0..seed as usize % 3 {
        it.n_callees = at;
        it.write_function(&format!("private @callee{at}"), 6);
    }
    it.n_callees = seed as usize % 3;
    it.is_main = true;
    it.write_function("@main", 10 + (seed % 25) as usize);
    it.out
}

fn width(ty: &str) -> Option<u32> {
    match ty {
        "index" => Some(64),
        it => it.strip_prefix('i')?.parse().ok(),
    }
}

fn element(ty: &str) -> &str {
    match ty.find('<') {
        Some(_) if ty.contains("index") => "index",
        Some(_) => ty.trim_end_matches('>').rsplit('x').next().unwrap_or(ty),
        None => ty,
    }
}

impl Writer {
    fn below(&mut self, n: usize) -> usize {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state % n.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    fn choose<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.below(all.len())]
    }

    fn line(&mut self, text: &str) {
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn name(&mut self) -> String {
        self.n_names += 1;
        format!("%v{}", self.n_names)
    }

    /// Writes an op with one result, and adds the result to the scope.
    fn define(&mut self, ty: &str, what: &str) -> String {
        let name = self.name();
        self.line(&format!("{name} = {what}"));
        self.scope.push((name.clone(), ty.to_owned()));
        name
    }

    fn number(&mut self, ty: &str) -> String {
        match width(element(ty)) {
            Some(1) => self.choose(&["true", "false"]).to_owned(),
            Some(width) => {
                let most = i128::MAX >> (128 - width);
                let n = self.below(64) as i128;
                let width = i128::from(width);
                let all = [0, 1, -1, most, -most - 1, 2, 7, width - 1, width, most - 1, -2, n - 32];
                all[self.below(all.len())].to_string()
            }
            None => self
                .choose(&["0.0", "-0.0", "1.0", "-1.5", "0.1", "3.0e9", "1.0e-3", "65504.0", "2.5"])
                .to_owned(),
        }
    }

    fn literal(&mut self, ty: &str) -> String {
        let dims: Vec<usize> = match ty.split_once('<') {
            Some((_, inside)) => inside.split('x').filter_map(|it| it.parse().ok()).collect(),
            None => {
                return format!("{} : {ty}", self.number(ty))
                    .replace("true : i1", "true")
                    .replace("false : i1", "false");
            }
        };
        if self.one_in(3) {
            return format!("dense<{}> : {ty}", self.number(ty));
        }
        let row = |it: &mut Self, n: usize| {
            let all: Vec<String> = (0..n).map(|_| it.number(ty)).collect();
            format!("[{}]", all.join(", "))
        };
        let all = match *dims.as_slice() {
            [a, b] => format!("[{}]", (0..a).map(|_| row(self, b)).collect::<Vec<_>>().join(", ")),
            _ => row(self, dims[0]),
        };
        format!("dense<{all}> : {ty}")
    }

    /// Returns a value of a type: a recent one, or a new constant.
    fn value(&mut self, ty: &str) -> String {
        let all: Vec<String> =
            self.scope.iter().filter(|it| it.1 == ty).map(|it| it.0.clone()).collect();
        if all.is_empty() || self.one_in(4) {
            let literal = self.literal(ty);
            return self.define(ty, &format!("arith.constant {literal}"));
        }
        let from = if self.one_in(3) { 0 } else { all.len().saturating_sub(4) };
        all[from + self.below(all.len() - from)].clone()
    }

    /// Returns an index that is a valid affine symbol: a constant or an argument of the function.
    fn symbol(&mut self) -> String {
        if self.one_in(4) {
            return "%n".to_owned();
        }
        let literal = self.literal("index");
        self.define("index", &format!("arith.constant {literal}"))
    }

    /// Returns a bound of a loop, far from the limits of 64-bit integers.
    fn bound(&mut self) -> String {
        if self.one_in(3) {
            return "%n".to_owned();
        }
        let number = self.choose(&["0", "1", "-1", "2", "7", "-8", "4294967296", "-4294967297"]);
        self.define("index", &format!("arith.constant {number} : index"))
    }

    fn integer(&mut self) -> &'static str {
        self.choose(&INTEGERS)
    }

    fn write_function(&mut self, name: &str, size: usize) {
        self.scope.clear();
        let _ = writeln!(
            self.out,
            "func.func {name}(%a: i8, %b: i32, %c: i1, %n: index, %x: i64, %f: f32) -> i32 {{"
        );
        for (name, ty) in [
            ("%a", "i8"),
            ("%b", "i32"),
            ("%c", "i1"),
            ("%n", "index"),
            ("%x", "i64"),
            ("%f", "f32"),
        ] {
            self.scope.push((name.to_owned(), ty.to_owned()));
        }
        self.write_ops(size, 0);
        if self.one_in(2) {
            self.write_blocks();
        }
        let last = self.value("i32");
        self.line(&format!("return {last} : i32\n}}"));
    }

    fn write_ops(&mut self, size: usize, depth: usize) {
        for _ in 0..size {
            if depth < 2 && self.one_in(6) {
                self.write_nested_op(depth);
            } else {
                self.write_op();
            }
        }
    }

    fn write_op(&mut self) {
        match self.below(30) {
            0..=8 => {
                let ty = if self.one_in(5) { self.choose(&SHAPES) } else { self.integer() };
                let ty = if width(element(ty)).is_none() { "i8" } else { ty };
                let (mut a, b) = (self.value(ty), self.value(ty));
                if self.one_in(12) {
                    a.clone_from(&b);
                }
                let op = self.choose(&BINARY);
                // The overflow of constants is undefined, so that the tools may differ.
                let is_open = ["%a", "%b", "%n", "%x"].contains(&a.as_str()) && a != b;
                let flags = if FLAGGED.contains(&op) && is_open && self.is_main {
                    self.choose(&[" overflow<nsw>", " overflow<nuw>", " overflow<nsw, nuw>"])
                } else {
                    ""
                };
                self.define(ty, &format!("arith.{op} {a}, {b}{flags} : {ty}"));
            }
            9..=10 => {
                let ty = self.choose(&["i8", "i16", "i32", "i64"]);
                let (a, b, op, name) =
                    (self.value(ty), self.value(ty), self.choose(&EXTENDED), self.name());
                let second = if op == "addui_extended" { "i1" } else { ty };
                let types = if second == "i1" { format!("{ty}, i1") } else { ty.to_owned() };
                self.line(&format!("{name}, {name}b = arith.{op} {a}, {b} : {types}"));
                self.scope.push((name.clone(), ty.to_owned()));
                self.scope.push((format!("{name}b"), second.to_owned()));
            }
            11..=13 => {
                let _ = self.condition();
            }
            14..=15 => {
                let ty = if self.one_in(4) { self.choose(&SHAPES) } else { self.integer() };
                let (c, a, b) = (self.value("i1"), self.value(ty), self.value(ty));
                self.define(ty, &format!("arith.select {c}, {a}, {b} : {ty}"));
            }
            16..=18 => {
                let (from, to) = (self.integer(), self.integer());
                let (a, unsigned) = (self.value(from), self.one_in(2));
                let op = match (from == "index", to == "index") {
                    (true, true) => return,
                    (false, false) => match width(from).cmp(&width(to)) {
                        std::cmp::Ordering::Less if unsigned => "extui",
                        std::cmp::Ordering::Less => "extsi",
                        std::cmp::Ordering::Greater => "trunci",
                        std::cmp::Ordering::Equal => return,
                    },
                    _ if unsigned => "index_castui",
                    _ => "index_cast",
                };
                self.define(to, &format!("arith.{op} {a} : {from} to {to}"));
            }
            19 => {
                let (from, to) = *[
                    ("i32", "f32"),
                    ("f32", "i32"),
                    ("i64", "f64"),
                    ("f64", "i64"),
                    ("i16", "f16"),
                    ("bf16", "i16"),
                ]
                .get(self.below(6))
                .unwrap_or(&("i32", "f32"));
                let a = self.value(from);
                self.define(to, &format!("arith.bitcast {a} : {from} to {to}"));
            }
            20..=21 => {
                let ty = self.choose(&["f32", "f32", "f64", "f16", "bf16", "vector<2xf32>"]);
                let (a, b, op) = (self.value(ty), self.value(ty), self.choose(&FLOATS));
                self.define(ty, &format!("arith.{op} {a}, {b} : {ty}"));
            }
            22 => {
                let ty = self.choose(&["f32", "f64", "f16"]);
                let (a, b, order) = (self.value(ty), self.value(ty), self.choose(&ORDERS));
                self.define("i1", &format!("arith.cmpf {order}, {a}, {b} : {ty}"));
            }
            23 => {
                let (ty, float) =
                    (self.choose(&["i8", "i32", "i64"]), self.choose(&["f32", "f64", "f16"]));
                let op = self.choose(&["sitofp", "uitofp", "fptosi", "fptoui"]);
                let (from, to) = if op.starts_with("fp") { (float, ty) } else { (ty, float) };
                let a = self.value(from);
                self.define(to, &format!("arith.{op} {a} : {from} to {to}"));
            }
            24 => {
                let (op, from, to) = *[
                    ("extf", "f32", "f64"),
                    ("extf", "f16", "f32"),
                    ("truncf", "f64", "f32"),
                    ("truncf", "f32", "f16"),
                    ("negf", "f32", "f32"),
                ]
                .get(self.below(5))
                .unwrap_or(&("negf", "f32", "f32"));
                let a = self.value(from);
                let types = if op == "negf" { from.to_owned() } else { format!("{from} to {to}") };
                self.define(to, &format!("arith.{op} {a} : {types}"));
            }
            25..=26 => {
                let (a, b) = (self.symbol(), self.symbol());
                let what = match self.below(4) {
                    0 => format!("affine.apply affine_map<(d0)[s0] -> (d0 * 3 + s0)>({a})[{b}]"),
                    1 => format!(
                        "affine.apply affine_map<(d0, d1) -> (d0 floordiv 4 + d1 mod 3)>({a}, {b})"
                    ),
                    2 => format!("affine.min affine_map<(d0)[s0] -> (d0 + 1, s0, 8)>({a})[{b}]"),
                    _ => format!(
                        "affine.max affine_map<(d0, d1) -> (d0 ceildiv 2, d1 - 1)>({a}, {b})"
                    ),
                };
                self.define("index", &what.clone());
            }
            27 => {
                let n = self.literal("index");
                let n = self.define("index", &format!("arith.constant {n}"));
                let m = self.name();
                self.line(&format!("{m} = memref.alloc({n}) : memref<?x5xi32>"));
                let at = self.value("index");
                self.define("index", &format!("memref.dim {m}, {at} : memref<?x5xi32>"));
            }
            28 => {
                let (g, m) = (self.choose(&["g", "s"]), self.name());
                let (ty, element) =
                    if g == "g" { ("memref<2x2xi32>", "i32") } else { ("memref<4xi8>", "i8") };
                self.line(&format!("{m} = memref.get_global @{g} : {ty}"));
                let at = self.choose(&["0", "1"]);
                let index = if g == "g" { format!("{at}, 1") } else { at.to_owned() };
                if self.one_in(2) {
                    self.define(element, &format!("affine.load {m}[{index}] : {ty}"));
                } else {
                    let i = self.define("index", &format!("arith.constant {at} : index"));
                    let index = if g == "g" { format!("{i}, {i}") } else { i };
                    let op = self.choose(&["memref.load", "affine.load"]);
                    self.define(element, &format!("{op} {m}[{index}] : {ty}"));
                }
            }
            _ => {
                if self.n_callees == 0 {
                    return;
                }
                let callee = self.below(self.n_callees);
                let args = ["i8", "i32", "i1", "index", "i64", "f32"].map(|it| self.value(it));
                self.define(
                    "i32",
                    &format!(
                        "func.call @callee{callee}({}) : (i8, i32, i1, index, i64, f32) -> i32",
                        args.join(", ")
                    ),
                );
            }
        }
    }

    fn condition(&mut self) -> String {
        if self.one_in(5) {
            return self.value("i1");
        }
        let ty = self.integer();
        let (a, b, predicate) = (self.value(ty), self.value(ty), self.choose(&PREDICATES));
        self.define("i1", &format!("arith.cmpi {predicate}, {a}, {b} : {ty}"))
    }

    /// Writes the ops of a region. Their results are not visible afterwards.
    fn write_region(&mut self, args: &[(String, &str)], depth: usize, end: impl FnOnce(&mut Self)) {
        let n = self.scope.len();
        self.scope.extend(args.iter().map(|(name, ty)| (name.clone(), (*ty).to_owned())));
        let size = 1 + self.below(5);
        self.write_ops(size, depth + 1);
        end(self);
        self.scope.truncate(n);
    }

    fn write_nested_op(&mut self, depth: usize) {
        let ty = self.choose(&["i8", "i32", "index", "i1"]);
        let (name, init, other) = (self.name(), self.value(ty), self.value("i32"));
        let give = move |it: &mut Self| {
            let last = it.value(ty);
            it.line(&format!("scf.yield {last} : {ty}"));
        };
        let give_affine = move |it: &mut Self| {
            let last = it.value(ty);
            it.line(&format!("affine.yield {last} : {ty}"));
        };
        match self.below(8) {
            0 => {
                let c = self.condition();
                self.line(&format!("{name} = scf.if {c} -> ({ty}) {{"));
                self.write_region(&[], depth, give);
                self.line("} else {");
                self.write_region(&[], depth, give);
                self.line("}");
            }
            1..=2 => {
                let bounds = [self.bound(), self.bound()];
                let step = self.choose(&["1", "3", "9223372036854775807"]);
                let step = self.define("index", &format!("arith.constant {step} : index"));
                let (count, p, q) = (self.name(), self.name(), self.name());
                self.line(&format!(
                    "{name}, {name}b = scf.for {count} = {} to {} step {step} iter_args({p} = {init}, {q} = {other}) -> ({ty}, i32) {{",
                    bounds[0], bounds[1]
                ));
                self.write_region(&[(count, "index"), (p, ty), (q, "i32")], depth, |it| {
                    let (first, second) = (it.value(ty), it.value("i32"));
                    it.line(&format!("scf.yield {first}, {second} : {ty}, i32"));
                });
                self.line("}");
                self.scope.push((format!("{name}b"), "i32".to_owned()));
                self.scope.push((name.clone(), ty.to_owned()));
                return;
            }
            3 => {
                let (p, moved) = (self.name(), self.name());
                self.line(&format!("{name} = scf.while ({p} = {init}) : ({ty}) -> {ty} {{"));
                self.write_region(&[(p, ty)], depth, |it| {
                    let (c, passed) = (it.condition(), it.value(ty));
                    it.line(&format!("scf.condition({c}) {passed} : {ty}"));
                });
                self.line(&format!("}} do {{\n^bb0({moved}: {ty}):"));
                self.write_region(&[(moved, ty)], depth, give);
                self.line("}");
            }
            4 => {
                let c = self.value("index");
                self.line(&format!("{name} = scf.index_switch {c} -> {ty}\ncase 0 {{"));
                self.write_region(&[], depth, give);
                self.line("}\ncase 7 {");
                self.write_region(&[], depth, give);
                self.line("}\ndefault {");
                self.write_region(&[], depth, give);
                self.line("}");
            }
            5 => {
                self.line(&format!("{name} = scf.execute_region -> {ty} {{"));
                self.write_region(&[], depth, give);
                self.line("}");
            }
            6 => {
                let (i, p) = (self.name(), self.name());
                let bounds =
                    self.choose(&["0 to 10", "3 to 3", "5 to 0", "0 to 1", "-4 to 100 step 7"]);
                self.line(&format!(
                    "{name} = affine.for {i} = {bounds} iter_args({p} = {init}) -> ({ty}) {{"
                ));
                self.write_region(&[(i, "index"), (p, ty)], depth, give_affine);
                self.line("}");
            }
            _ => {
                let set = self.choose(&["(d0 >= 0)", "(d0 - 3 == 0)", "(0 == 0)", "(-1 >= 0)"]);
                let n = self.define("index", "affine.apply affine_map<() -> (3)>()");
                self.line(&format!("{name} = affine.if affine_set<(d0) : {set}>({n}) -> {ty} {{"));
                self.write_region(&[], depth, give_affine);
                self.line("} else {");
                self.write_region(&[], depth, give_affine);
                self.line("}");
            }
        }
        self.scope.push((name, ty.to_owned()));
    }

    /// Ends the body with several blocks, which branch forward and sometimes backward.
    fn write_blocks(&mut self) {
        let n = 2 + self.below(4);
        let first = self.n_names;
        let start = self.value("i32");
        self.line(&format!("cf.br ^l{first}_0({start} : i32)"));
        let outer = self.scope.len();
        for block in 0..n {
            let arg = self.name();
            self.line(&format!("^l{first}_{block}({arg}: i32):"));
            self.scope.push((arg, "i32".to_owned()));
            self.write_ops(3, 1);
            let (a, b) = (self.value("i32"), self.value("i32"));
            let target = |it: &mut Self| {
                let to = if it.one_in(4) { it.below(n) } else { (block + 1 + it.below(2)).min(n) };
                format!("^l{first}_{to}")
            };
            let (to, or) = (target(self), target(self));
            if self.one_in(4) {
                let flag = self.value("i8");
                self.line(&format!(
                    "cf.switch {flag} : i8, [default: {to}({a} : i32), 3: {or}({b} : i32), 255: {or}({a} : i32)]"
                ));
            } else {
                let c = self.condition();
                self.line(&format!("cf.cond_br {c}, {to}({a} : i32), {or}({b} : i32)"));
            }
            self.scope.truncate(outer);
        }
        let arg = self.name();
        self.line(&format!("^l{first}_{n}({arg}: i32):"));
        self.scope.push((arg, "i32".to_owned()));
    }
}
