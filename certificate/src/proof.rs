//! Verifies proofs: recomputes the bound of each step.

use std::collections::{BTreeMap, BTreeSet};

use crate::failure::{Failure, is_increasing};
use crate::file::{Multiplier, Proof, Row, Step};
use crate::noise::LeastNoise;
use crate::reduced_weights::{Decision, ReducedWeights, SCALE, gcd};
use crate::sweep;

/// The state of a walk over the proofs of one instance.
#[derive(Debug)]
pub(crate) struct ProofWalk<'a> {
    noise: LeastNoise<'a>,
    decided: Vec<Decision>,
    /// The assumed levels: a node, a level, and true if the noise after the node is at least the
    /// level.
    levels: Vec<(u32, u32, bool)>,
    /// The nesting depth of the current proof.
    depth: usize,
}

/// The deepest nesting of proofs that is accepted.
const MAX_DEPTH: usize = 40;

/// A step whose child steps are not complete.
enum PendingStep {
    /// Waits for the step without the site, then for the step with it.
    Branch { site: u32, without: Option<u64> },
    /// Waits for the step below the level, then for the step at or above it, in which the site of
    /// the node may be absent.
    Level { node: u32, level: u32, below: Option<u64>, absent: Option<u32> },
    /// Waits for the step in which some sites are decided.
    Settle { least: u64, settled: Vec<u32> },
}

impl<'a> ProofWalk<'a> {
    pub(crate) fn new(noise: LeastNoise<'a>) -> ProofWalk<'a> {
        let decided = vec![Decision::Open; noise.instance.sites.len()];
        ProofWalk { noise, decided, levels: Vec::new(), depth: 0 }
    }

    /// Verifies a proof about sites with the given weights. Returns its bound.
    pub(crate) fn verify_proof(
        &mut self,
        proof: &Proof,
        weights: &BTreeMap<u32, u64>,
        place: &str,
    ) -> Result<u64, Failure> {
        let wrong = |why: String| Failure { place: place.to_owned(), why };
        if self.depth > MAX_DEPTH {
            return Err(wrong("proofs are nested too deep".into()));
        }
        if !is_increasing(&proof.sites) || !proof.sites.iter().eq(weights.keys()) {
            return Err(wrong("its sites are not those that it is about, in order".into()));
        }
        self.depth += 1;
        for (number, row) in proof.rows.iter().enumerate() {
            self.verify_row(row, &format!("{place}, row {number}"))?;
        }
        for (number, list) in proof.multipliers.iter().enumerate() {
            if let Some(it) = list.iter().find(|it| it.0 as usize >= proof.rows.len()) {
                let why = format!("multipliers {number}: there is no row {}", it.0);
                return Err(wrong(why));
            }
        }
        let proven = self.verify_steps(proof, weights, place)?;
        self.depth -= 1;
        if proven < proof.bound {
            return Err(wrong(format!("its steps prove {proven}, not {}", proof.bound)));
        }
        Ok(proof.bound)
    }

    /// Verifies that a row holds for all legal choices that are still open.
    fn verify_row(&mut self, row: &Row, place: &str) -> Result<(), Failure> {
        let wrong = |why: String| Failure { place: place.to_owned(), why };
        let n = self.decided.len() as u32;
        match row {
            Row::Core(sites) => {
                if !is_increasing(sites) || sites.last().is_some_and(|&s| s >= n) {
                    return Err(wrong(
                        "its sites are not increasing, or there is no such site".into(),
                    ));
                }
                if !self.noise.is_core(sites) {
                    return Err(wrong("is not a core: all other sites suffice".into()));
                }
            }
            Row::CoreWhere { core, below, least } => {
                if !is_increasing(core) || core.last().is_some_and(|&s| s >= n) {
                    return Err(wrong(
                        "its sites are not increasing, or there is no such site".into(),
                    ));
                }
                let n_nodes = self.noise.instance.nodes.len() as u32;
                if let Some(it) = below.iter().chain(least).find(|it| it.0 >= n_nodes) {
                    return Err(wrong(format!("there is no node {}", it.0)));
                }
                if !self.noise.is_conditional_core(core, below, least) {
                    return Err(wrong("is not a core there: all other sites suffice".into()));
                }
            }
            Row::Cut { terms, least, proof } => {
                let weights: BTreeMap<u32, u64> = terms.iter().copied().collect();
                if weights.len() != terms.len()
                    || weights.keys().next_back().is_some_and(|&s| s >= n)
                {
                    return Err(wrong("a site twice, or there is no such site".into()));
                }
                let proven = self.verify_proof(proof, &weights, place)?;
                if proven < *least {
                    return Err(wrong(format!("is proven for {proven}, not {least}")));
                }
            }
        }
        Ok(())
    }

    fn verify_steps(
        &mut self,
        proof: &Proof,
        weights: &BTreeMap<u32, u64>,
        place: &str,
    ) -> Result<u64, Failure> {
        let mut frames: Vec<PendingStep> = Vec::new();
        for (number, step) in proof.steps.iter().enumerate() {
            let here = || format!("{place}, step {number}");
            let wrong = |why: String| Failure { place: here(), why };
            let mut value = match step {
                Step::Bound(list) => {
                    let prices = self.reduced_weights(proof, *list, weights).map_err(wrong)?;
                    prices.least()
                }
                Step::Branch(site) => {
                    self.decide(&[*site], Decision::Absent).map_err(wrong)?;
                    frames.push(PendingStep::Branch { site: *site, without: None });
                    continue;
                }
                Step::Level(node, level) => {
                    if *node as usize >= self.noise.instance.nodes.len() {
                        return Err(wrong(format!("there is no node {node}")));
                    }
                    self.levels.push((*node, *level, false));
                    frames.push(PendingStep::Level {
                        node: *node,
                        level: *level,
                        below: None,
                        absent: None,
                    });
                    continue;
                }
                Step::Settle { multipliers, least, absent, chosen } => {
                    let prices =
                        self.reduced_weights(proof, *multipliers, weights).map_err(wrong)?;
                    for (list, decision) in [(absent, Decision::Absent), (chosen, Decision::Chosen)]
                    {
                        for &site in list {
                            let proven = prices.least_without(site, decision);
                            if proven < *least {
                                let why =
                                    format!("site {site} is settled for {proven}, not {least}");
                                return Err(wrong(why));
                            }
                        }
                    }
                    self.decide(absent, Decision::Absent).map_err(wrong)?;
                    self.decide(chosen, Decision::Chosen).map_err(wrong)?;
                    let settled = absent.iter().chain(chosen).copied().collect();
                    frames.push(PendingStep::Settle { least: *least, settled });
                    continue;
                }
                Step::Split(pieces) => self.verify_split(pieces, weights, &here())?,
                Step::Sweep { order, multipliers, least } => {
                    let prices =
                        self.reduced_weights(proof, *multipliers, weights).map_err(wrong)?;
                    let terms = sweep::SweepInput {
                        decided: &self.decided,
                        weights,
                        order,
                        least: *least,
                        proof,
                        multipliers: *multipliers as usize,
                        reduced_weights: &prices,
                    };
                    sweep::sweep(&self.noise, &terms).map_err(wrong)?;
                    *least
                }
            };
            // The bound is passed up to the steps that wait for it.
            loop {
                match frames.pop() {
                    None => {
                        let is_last = number + 1 == proof.steps.len();
                        return if is_last {
                            Ok(value)
                        } else {
                            Err(wrong("is the last, and more follow".into()))
                        };
                    }
                    Some(PendingStep::Branch { site, without: None }) => {
                        self.decided[site as usize] = Decision::Chosen;
                        frames.push(PendingStep::Branch { site, without: Some(value) });
                        break;
                    }
                    Some(PendingStep::Branch { site, without: Some(without) }) => {
                        self.decided[site as usize] = Decision::Open;
                        value = value.min(without);
                    }
                    Some(PendingStep::Level { node, level, below: None, .. }) => {
                        self.levels.pop();
                        self.levels.push((node, level, true));
                        // If the site were chosen, the noise after the node would be its reset.
                        let instance = self.noise.instance;
                        let absent = instance.nodes[node as usize].site.filter(|&s| {
                            instance.sites[s as usize].reset < level
                                && self.decided[s as usize] == Decision::Open
                        });
                        if let Some(site) = absent {
                            self.decided[site as usize] = Decision::Absent;
                        }
                        frames.push(PendingStep::Level { node, level, below: Some(value), absent });
                        break;
                    }
                    Some(PendingStep::Level { below: Some(below), absent, .. }) => {
                        self.levels.pop();
                        if let Some(site) = absent {
                            self.decided[site as usize] = Decision::Open;
                        }
                        value = value.min(below);
                    }
                    Some(PendingStep::Settle { least, settled }) => {
                        for site in settled {
                            self.decided[site as usize] = Decision::Open;
                        }
                        value = value.min(least);
                    }
                }
            }
        }
        Err(Failure { place: place.to_owned(), why: "its steps end too early".into() })
    }

    fn decide(&mut self, sites: &[u32], decision: Decision) -> Result<(), String> {
        for &site in sites {
            match self.decided.get_mut(site as usize) {
                None => return Err(format!("there is no site {site}")),
                Some(it) if *it != Decision::Open => {
                    return Err(format!("site {site} is decided already"));
                }
                Some(it) => *it = decision,
            }
        }
        Ok(())
    }

    /// Verifies independent proofs under the current decisions. Returns the sum of their bounds.
    fn verify_split(
        &mut self,
        pieces: &[Proof],
        weights: &BTreeMap<u32, u64>,
        place: &str,
    ) -> Result<u64, Failure> {
        let absent: Vec<u32> = (0..self.decided.len() as u32)
            .filter(|&s| self.decided[s as usize] == Decision::Absent)
            .collect();
        let outer: Vec<u32> =
            (0..self.decided.len() as u32).filter(|&s| self.noise.is_absent[s as usize]).collect();
        self.noise.set_absent(&absent);
        let mut owned: BTreeSet<u32> = BTreeSet::new();
        let mut sum = 0_u64;
        for (number, piece) in pieces.iter().enumerate() {
            let place = format!("{place}, piece {number}");
            let mut inside = BTreeMap::new();
            for &s in &piece.sites {
                let weight = weights.get(&s).filter(|_| owned.insert(s));
                let Some(&weight) = weight else {
                    let why = format!("site {s} is in another piece, or not what this is about");
                    return Err(Failure { place, why });
                };
                inside.insert(s, weight);
            }
            sum = sum.saturating_add(self.verify_proof(piece, &inside, &place)?);
        }
        for (&s, &weight) in weights {
            if self.decided[s as usize] == Decision::Chosen && !owned.contains(&s) {
                sum = sum.saturating_add(weight);
            }
        }
        self.noise.set_absent(&outer);
        Ok(sum)
    }

    /// Computes the reduced weights and the bound of a list of multipliers.
    fn reduced_weights(
        &self,
        proof: &Proof,
        list: u32,
        weights: &BTreeMap<u32, u64>,
    ) -> Result<ReducedWeights, String> {
        const TOO_LARGE: &str = "the numbers are too large";
        let list = proof.multipliers.get(list as usize);
        let list = list.ok_or_else(|| "there are no such multipliers".to_owned())?;
        let grain = weights.values().fold(0, |grain, &weight| gcd(grain, weight)).max(1);
        let mut reduced: BTreeMap<u32, i128> =
            weights.iter().map(|(&s, &weight)| (s, i128::from(weight / grain) << SCALE)).collect();
        let mut sum = 0_i128;
        let times = |y: i128, by: u64| y.checked_mul(i128::from(by)).ok_or(TOO_LARGE);
        for &(row, Multiplier(y)) in list {
            let y = i128::try_from(y).map_err(|_| TOO_LARGE)?;
            let mut pay = |s: u32, by: u64| -> Result<(), &str> {
                let it = reduced.entry(s).or_default();
                *it = it.checked_sub(times(y, by)?).ok_or(TOO_LARGE)?;
                Ok(())
            };
            let least = match &proof.rows[row as usize] {
                Row::Core(sites) => {
                    for &s in sites {
                        pay(s, 1)?;
                    }
                    1
                }
                Row::CoreWhere { core, below, least } => {
                    let holds = below.iter().all(|&(v, level)| {
                        self.levels.iter().any(|it| !it.2 && it.0 == v && it.1 <= level)
                    }) && least.iter().all(|&(v, level)| {
                        self.levels.iter().any(|it| it.2 && it.0 == v && it.1 >= level)
                    });
                    if !holds {
                        return Err(format!("row {row} does not hold here"));
                    }
                    for &s in core {
                        pay(s, 1)?;
                    }
                    1
                }
                Row::Cut { terms, least, .. } => {
                    for &(s, weight) in terms {
                        pay(s, weight)?;
                    }
                    *least
                }
            };
            sum = sum.checked_add(times(y, least)?).ok_or(TOO_LARGE)?;
        }
        for (&s, &it) in &reduced {
            let least = match self.decided[s as usize] {
                Decision::Open => it.min(0),
                Decision::Absent => 0,
                Decision::Chosen => it,
            };
            sum = sum.checked_add(least).ok_or(TOO_LARGE)?;
        }
        Ok(ReducedWeights { sum, reduced, grain })
    }
}
