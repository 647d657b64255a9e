//! Random programs of affine loops over one memref, and their execution.

use std::fmt::Write as _;

pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, n: i64) -> i64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n as u64) as i64
    }

    pub(crate) fn in_100(&mut self, percent: i64) -> bool {
        self.below(100) < percent
    }
}

/// A sum of variables and a constant, with `floordiv` (`Some((true, by))`) or `mod` (`Some((false,
/// by))`).
#[derive(Clone)]
pub(crate) struct Expr {
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

pub(crate) enum Node {
    For { lower: Vec<Expr>, upper: Vec<Expr>, step: i64, is_parallel: bool, body: Vec<Node> },
    If { when: Vec<(Expr, bool)>, yes: Vec<Node>, no: Vec<Node> },
    Access { id: usize, is_store: bool, indices: Vec<Expr> },
}

pub(crate) struct ProgramGenerator {
    pub(crate) random: Random,
    pub(crate) n_accesses: usize,
    pub(crate) rank: usize,
}

impl ProgramGenerator {
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

    pub(crate) fn nodes(&mut self, depth: usize, left: usize) -> Vec<Node> {
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

pub(crate) fn print(nodes: &[Node], depth: usize, rank: usize, out: &mut String) {
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

/// An instance of an access: the index of the access, the enclosing loops (by address) with their
/// variables, and the element.
pub(crate) struct Instance {
    pub(crate) id: usize,
    pub(crate) is_store: bool,
    pub(crate) iteration: Vec<(usize, i64)>,
    pub(crate) element: Vec<i64>,
}

pub(crate) fn run(nodes: &[Node], around: &mut Vec<(usize, i64)>, out: &mut Vec<Instance>) {
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

/// A random program, its text, and its accesses in execution order. A loop is identified by the
/// address of its node.
pub(crate) struct Program {
    pub(crate) nodes: Vec<Node>,
    pub(crate) text: String,
    pub(crate) instances: Vec<Instance>,
}

impl Program {
    pub(crate) fn new(seed: u64, depth: usize) -> Self {
        let random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let mut maker = ProgramGenerator { random, n_accesses: 0, rank: 1 + (seed % 2) as usize };
        let nodes = maker.nodes(0, depth);
        let shape = vec!["?"; maker.rank].join("x");
        let mut text = format!("func.func @f(%A: memref<{shape}xf32>, %x: f32) {{\n");
        print(&nodes, 0, maker.rank, &mut text);
        text.push_str("return\n}\n");
        let mut instances = Vec::new();
        run(&nodes, &mut Vec::new(), &mut instances);
        Self { nodes, text, instances }
    }
}
