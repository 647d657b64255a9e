//! Dependences against the plainest way to find them: run the program, note who touches which element when, compare all pairs.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use noisy_loops::{Body, Interval, Limits, dependences};
use noisy_syntax::Source;

/// Random numbers by xorshift.
struct Random(u64);

impl Random {
    fn below(&mut self, n: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as i64
    }

    fn in_100(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }
}

/// A sum of variables and a constant, divided (`Some((true, by))`) or reduced (`Some((false, by))`).
#[derive(Clone)]
struct Expr {
    terms: Vec<(usize, i64)>,
    constant: i64,
    division: Option<(bool, i64)>,
}

impl Expr {
    fn eval(&self, ivs: &[i64]) -> i64 {
        let sum = self.terms.iter().map(|&(at, by)| ivs[at] * by).sum::<i64>() + self.constant;
        match self.division {
            Some((true, by)) => sum.div_euclid(by),
            Some((false, by)) => sum.rem_euclid(by),
            None => sum,
        }
    }

    fn text(&self, name: &dyn Fn(usize) -> String) -> String {
        let mut out = String::from("(");
        for &(at, by) in &self.terms {
            let _ = write!(out, "{} * {by} + ", name(at));
        }
        let _ = write!(out, "{})", self.constant);
        match self.division {
            Some((true, by)) => format!("{out} floordiv {by}"),
            Some((false, by)) => format!("{out} mod {by}"),
            None => out,
        }
    }
}

enum Node {
    For { lower: Vec<Expr>, upper: Vec<Expr>, step: i64, is_parallel: bool, body: Vec<Node> },
    If { when: Vec<(Expr, bool)>, yes: Vec<Node>, no: Vec<Node> },
    Access { id: usize, is_store: bool, indices: Vec<Expr> },
}

struct Maker {
    random: Random,
    n_accesses: usize,
    rank: usize,
}

impl Maker {
    fn expr(&mut self, depth: usize) -> Expr {
        let r = &mut self.random;
        let n = if depth == 0 { 0 } else { 1 + usize::from(r.in_100(35)) };
        let terms = (0..n).map(|_| {
            (r.below(depth as i64) as usize, [1, 1, 1, -1, 2, -2, 3][r.below(7) as usize])
        });
        let terms = terms.collect();
        let constant = r.below(9) - 4;
        let division = r.in_100(15).then(|| (r.in_100(50), 2 + r.below(3)));
        Expr { terms, constant, division }
    }

    fn bound(&mut self, depth: usize, base: i64) -> Vec<Expr> {
        let n = 1 + usize::from(self.random.in_100(20));
        let one = |it: &mut Self| {
            if depth > 0 && it.random.in_100(35) {
                let mut out = it.expr(depth);
                out.constant += base / 2;
                out
            } else {
                Expr { terms: Vec::new(), constant: base + it.random.below(3) - 1, division: None }
            }
        };
        (0..n).map(|_| one(self)).collect()
    }

    fn nodes(&mut self, depth: usize, left: usize) -> Vec<Node> {
        let n = 1 + self.random.below(2);
        (0..n).map(|_| self.node(depth, left)).collect()
    }

    fn node(&mut self, depth: usize, left: usize) -> Node {
        if left > 0 && (depth == 0 || self.random.in_100(55)) {
            let (lower, upper) = (self.bound(depth, 0), self.bound(depth, 4));
            let step = [1, 1, 1, 2, 3][self.random.below(5) as usize];
            let is_parallel = self.random.in_100(15);
            let body = self.nodes(depth + 1, left - 1);
            return Node::For { lower, upper, step, is_parallel, body };
        }
        if left > 0 && self.random.in_100(30) {
            let n = 1 + self.random.below(2);
            let when = (0..n).map(|_| (self.expr(depth), self.random.in_100(30))).collect();
            let yes = self.nodes(depth, left - 1);
            let no = if self.random.in_100(60) { self.nodes(depth, left - 1) } else { Vec::new() };
            return Node::If { when, yes, no };
        }
        self.n_accesses += 1;
        let indices = (0..self.rank).map(|_| self.expr(depth)).collect();
        Node::Access { id: self.n_accesses - 1, is_store: self.random.in_100(55), indices }
    }
}

fn print(nodes: &[Node], depth: usize, rank: usize, out: &mut String) {
    let dims: Vec<String> = (0..depth).map(|it| format!("d{it}")).collect();
    let ivs: Vec<String> = (0..depth).map(|it| format!("%i{it}")).collect();
    let (dims, ivs) = (dims.join(", "), ivs.join(", "));
    let dim = |at: usize| format!("d{at}");
    let shape = vec!["?"; rank].join("x");
    for node in nodes {
        match node {
            Node::For { lower, upper, step, is_parallel, body } => {
                let list = |it: &[Expr], name: &dyn Fn(usize) -> String| {
                    it.iter().map(|it| it.text(name)).collect::<Vec<_>>().join(", ")
                };
                if *is_parallel {
                    let iv = |at: usize| format!("%i{at}");
                    let (lower, upper) = (list(lower, &iv), list(upper, &iv));
                    let _ = writeln!(
                        out,
                        "affine.parallel (%i{depth}) = (max({lower})) to (min({upper})) step ({step}) {{"
                    );
                } else {
                    let (lower, upper) = (list(lower, &dim), list(upper, &dim));
                    let _ = writeln!(
                        out,
                        "affine.for %i{depth} = max affine_map<({dims}) -> ({lower})>({ivs}) to \
                         min affine_map<({dims}) -> ({upper})>({ivs}) step {step} {{"
                    );
                }
                print(body, depth + 1, rank, out);
                out.push_str("}\n");
            }
            Node::If { when, yes, no } => {
                let each = when.iter().map(|(it, is_equality)| {
                    format!("{} {} 0", it.text(&dim), if *is_equality { "==" } else { ">=" })
                });
                let when = each.collect::<Vec<_>>().join(", ");
                let _ = writeln!(out, "affine.if affine_set<({dims}) : ({when})>({ivs}) {{");
                print(yes, depth, rank, out);
                if !no.is_empty() {
                    out.push_str("} else {\n");
                    print(no, depth, rank, out);
                }
                out.push_str("}\n");
            }
            Node::Access { id, is_store, indices } => {
                let iv = |at: usize| format!("%i{at}");
                let indices: Vec<String> = indices.iter().map(|it| it.text(&iv)).collect();
                let indices = indices.join(", ");
                let _ = if *is_store {
                    writeln!(out, "affine.store %x, %A[{indices}] : memref<{shape}xf32>")
                } else {
                    writeln!(out, "%v{id} = affine.load %A[{indices}] : memref<{shape}xf32>")
                };
            }
        }
    }
}

/// An instance of an access: which, the loops around (by the number of the loop) and their variables, the element.
struct Instance {
    id: usize,
    is_store: bool,
    iteration: Vec<(usize, i64)>,
    element: Vec<i64>,
}

fn run(nodes: &[Node], around: &mut Vec<(usize, i64)>, out: &mut Vec<Instance>) {
    for node in nodes {
        let ivs: Vec<i64> = around.iter().map(|it| it.1).collect();
        match node {
            Node::For { lower, upper, step, body, .. } => {
                let name = std::ptr::from_ref(node) as usize;
                let low = lower.iter().map(|it| it.eval(&ivs)).max().unwrap_or(0);
                let high = upper.iter().map(|it| it.eval(&ivs)).min().unwrap_or(0);
                let mut iv = low;
                while iv < high {
                    around.push((name, iv));
                    run(body, around, out);
                    around.pop();
                    iv += step;
                }
            }
            Node::If { when, yes, no } => {
                let holds = |(it, is_equality): &(Expr, bool)| {
                    let value = it.eval(&ivs);
                    if *is_equality { value == 0 } else { value >= 0 }
                };
                run(if when.iter().all(holds) { yes } else { no }, around, out);
            }
            Node::Access { id, is_store, indices } => out.push(Instance {
                id: *id,
                is_store: *is_store,
                iteration: around.clone(),
                element: indices.iter().map(|it| it.eval(&ivs)).collect(),
            }),
        }
    }
}

type Found = BTreeMap<(usize, usize, usize), Vec<(i128, i128)>>;

fn expected(instances: &[Instance]) -> Found {
    let mut out = Found::new();
    for (at, s) in instances.iter().enumerate() {
        for t in &instances[at + 1..] {
            if !(s.is_store || t.is_store) || s.element != t.element {
                continue;
            }
            let both = s.iteration.iter().zip(&t.iteration);
            let common: Vec<i64> =
                both.take_while(|(a, b)| a.0 == b.0).map(|(a, b)| b.1 - a.1).collect();
            let level = common.iter().position(|it| *it != 0).unwrap_or(common.len()) + 1;
            let range = out.entry((s.id, t.id, level)).or_insert_with(|| {
                common.iter().map(|&it| (i128::from(it), i128::from(it))).collect()
            });
            for (range, &it) in range.iter_mut().zip(&common) {
                *range = (range.0.min(it.into()), range.1.max(it.into()));
            }
        }
    }
    out
}

#[test]
fn dependences_are_those_of_a_run() {
    let mut n_found = 0;
    for seed in 1..=600_u64 {
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut maker = Maker { random, n_accesses: 0, rank: 1 + (seed % 2) as usize };
        let nodes = maker.nodes(0, 4);
        let shape = vec!["?"; maker.rank].join("x");
        let mut text = format!("func.func @f(%A: memref<{shape}xf32>, %x: f32) {{\n");
        print(&nodes, 0, maker.rank, &mut text);
        text.push_str("return\n}\n");
        let mut instances = Vec::new();
        run(&nodes, &mut Vec::new(), &mut instances);
        let expected = expected(&instances);

        let source = Source::new(&text);
        let ir = source.ir();
        let wrong = ir.verify();
        assert!(wrong.is_empty(), "{wrong:?}\n{text}");
        let body = Body::new(ir, ir.functions()[0]);
        let found = dependences(&body, &Limits::default());
        assert_eq!(found.unknown, [], "seed {seed}\n{text}");
        let mut got = Found::new();
        for it in &found.known {
            assert!(it.is_exact, "seed {seed}: {it:?}\n{text}");
            let end = |it: Option<i128>| it.expect("all loops are bounded");
            let range = |it: &Interval| (end(it.least), end(it.greatest));
            let distance = it.distance.iter().map(range).collect();
            got.insert((it.source, it.target, it.level), distance);
        }
        assert_eq!(got, expected, "seed {seed}\n{text}");
        n_found += got.len();
    }
    assert!(n_found > 2000, "only {n_found} dependences were compared");
}
