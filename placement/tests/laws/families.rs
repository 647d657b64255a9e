//! Tests with families of programs for which the optimizer was not designed. Small ones are
//! compared with exhaustive search, and larger ones are checked for the laws.

use super::*;

/// A noise model.
#[derive(Clone, Copy)]
struct NoiseScale {
    fresh: NoiseBits,
    budget: NoiseBits,
    reset: NoiseBits,
    /// Maximum noise that an addition adds.
    max_growth: usize,
    /// The largest cost of a site.
    price: usize,
}

const BUILT_IN: NoiseScale =
    NoiseScale { fresh: 12, budget: 26, reset: 12, max_growth: 1, price: 1 };
const COARSE: NoiseScale =
    NoiseScale { fresh: 40, budget: 1200, reset: 90, max_growth: 300, price: 1000 };
const LEVELS: NoiseScale = NoiseScale { fresh: 0, budget: 3, reset: 0, max_growth: 1, price: 3 };

struct Family<'a> {
    scale: NoiseScale,
    random: &'a mut Random,
    instance: Instance,
}

impl Family<'_> {
    fn fresh(&mut self) -> Node {
        self.instance.push(NodeRule::Source(self.scale.fresh), &[], self.scale.budget, None)
    }

    fn op(&mut self, rule: NodeRule, operands: &[Node]) -> Node {
        let cost = 1 + self.random.below(self.scale.price) as u64;
        let site = self.instance.push_site(cost, self.scale.reset);
        self.instance.push(rule, operands, self.scale.budget, Some(site))
    }

    fn add(&mut self, a: Node, b: Node) -> Node {
        let plus = 1 + self.random.below(self.scale.max_growth) as NoiseBits;
        self.op(NodeRule::Max(plus), &[a, b])
    }

    fn mul(&mut self, a: Node, b: Node) -> Node {
        self.op(NodeRule::Sum(0), &[a, b])
    }
}

type BuildFamily = fn(&mut Family, usize);

/// A chain of additions and some squarings.
fn chain(it: &mut Family, n: usize) {
    let mut last = it.fresh();
    for at in 0..n {
        last = if at % 7 == 3 { it.mul(last, last) } else { it.add(last, last) };
    }
}

/// A binary tree.
fn tree(it: &mut Family, n: usize) {
    let mut row: Vec<Node> = (0..=n.div_ceil(2)).map(|_| it.fresh()).collect();
    while row.len() > 1 {
        let pairs: Vec<(Node, Node)> =
            row.chunks(2).map(|of| (of[0], *of.last().unwrap_or(&of[0]))).collect();
        row = pairs
            .into_iter()
            .map(|(a, b)| if it.random.below(3) == 0 { it.mul(a, b) } else { it.add(a, b) })
            .collect();
    }
}

/// A value with many users.
fn hub(it: &mut Family, n: usize) {
    let a = it.fresh();
    let center = it.mul(a, a);
    for _ in 0..n / 4 {
        let x = it.add(center, a);
        let y = it.add(x, center);
        let z = it.add(y, y);
        if it.random.below(2) == 0 {
            it.mul(z, a)
        } else {
            it.add(z, center)
        };
    }
}

/// A grid in which each value is computed from its upper and left neighbors.
fn grid(it: &mut Family, n: usize) {
    let width = 1 + n.isqrt();
    let mut above: Vec<Node> = (0..width).map(|_| it.fresh()).collect();
    for _ in 0..n / width {
        let mut left = it.fresh();
        for at in &mut above {
            left = if it.random.below(8) == 0 { it.mul(left, *at) } else { it.add(left, *at) };
            *at = left;
        }
    }
}

/// Multiplications only.
fn muls(it: &mut Family, n: usize) {
    let mut values = vec![it.fresh(), it.fresh(), it.fresh()];
    for _ in 0..n {
        let mut pick = || values[it.random.below(values.len())];
        let (a, b) = (pick(), pick());
        values.push(it.mul(a, b));
    }
}

/// A chain that uses the first values up to the end.
fn long_lived(it: &mut Family, n: usize) {
    let a = it.fresh();
    let mut values = vec![a];
    for at in 0..n {
        let old = values[it.random.below(values.len().min(4))];
        let last = values[at];
        values.push(if it.random.below(5) == 0 { it.mul(last, old) } else { it.add(last, old) });
    }
}

/// A chain of cycles, as in loops with unknown trip counts.
fn loops(it: &mut Family, n: usize) {
    let mut before = it.fresh();
    for _ in 0..n / 3 {
        let head = Node(it.instance.nodes.len() as u32);
        let back = Node(head.0 + 2);
        it.op(NodeRule::Max(0), &[before, back]);
        let x = it.add(head, head);
        let y = it.add(x, head);
        assert_eq!(y, back);
        before = y;
    }
}

#[test]
fn sweeps_a_multiplier_in_a_narrow_order() {
    let instance = multiplier(6);
    for branch in [true, false] {
        let steps = EnabledSteps { branch, ..EnabledSteps::default() };
        let limits = PlacementLimits { work: Some(100_000_000), steps, ..quick() };
        let placement = place(&instance, &limits).unwrap();
        check_laws(&instance, &placement);
        assert_eq!((placement.cost, placement.proof), (78, Optimality::Optimal));
    }
}

const FAMILIES: [(&str, BuildFamily); 7] = [
    ("chain", chain),
    ("tree", tree),
    ("hub", hub),
    ("grid", grid),
    ("muls", muls),
    ("long lived", long_lived),
    ("loops", loops),
];

fn make(random: &mut Random, scale: NoiseScale, family: BuildFamily, n: usize) -> Instance {
    let mut it = Family { scale, random, instance: Instance::default() };
    family(&mut it, n);
    it.instance
}

#[test]
fn small_programs_equal_exhaustive_search() {
    let mut random = Random::new(31);
    for scale in [BUILT_IN, COARSE, LEVELS] {
        for (_, family) in FAMILIES {
            for n in 3..=12 {
                let instance = make(&mut random, scale, family, n);
                assert!(instance.sites.len() <= 20);
                if instance.sites.len() <= 14 {
                    check(&instance, &quick());
                }
            }
        }
    }
}

#[test]
fn larger_programs_keep_the_laws_and_most_are_proven() {
    let mut random = Random::new(32);
    for scale in [BUILT_IN, COARSE, LEVELS] {
        for (name, family) in FAMILIES {
            let mut n_proven = 0;
            for n in [20, 40, 90, 150] {
                let instance = make(&mut random, scale, family, n);
                let work = if n <= 90 { 100_000_000 } else { 1_000_000 };
                let limits = PlacementLimits { work: Some(work), ..quick() };
                match place(&instance, &limits) {
                    Ok(placement) => {
                        check_laws(&instance, &placement);
                        n_proven += usize::from(placement.proof == Optimality::Optimal);
                    }
                    Err(why) => {
                        let all = vec![true; instance.sites.len()];
                        assert!(!evaluate::is_legal(&instance, &all), "{name}: {why:?}");
                        n_proven += 1;
                    }
                }
            }
            assert!(n_proven > 2, "{name}, a budget of {}: {n_proven}", scale.budget);
        }
    }
}
