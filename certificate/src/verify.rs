//! Verifies a whole system: the answer is legal and has the claimed cost, and its parts prove the
//! bound.

use std::collections::BTreeMap;

use crate::failure::{Failure, is_increasing};
use crate::file::System;
use crate::noise::LeastNoise;
use crate::proof::ProofWalk;

/// The value of [`crate::Certificate::format`].
pub const FORMAT: &str = "noisy-certificate";
/// The value of [`crate::Certificate::version`].
pub const VERSION: u32 = 1;

/// The verified facts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verified {
    /// The cost of the chosen sites.
    pub cost: u64,
    /// No legal choice costs less.
    pub bound: u64,
}

/// Verifies the answer and the proof of a system with respect to the question in it. The caller
/// verifies that this is the question of some program.
///
/// # Errors
///
/// Returns the first false claim.
pub fn verify(system: &System) -> Result<Verified, Failure> {
    let wrong = |why: String| Failure { place: String::new(), why };
    let mut noise = LeastNoise::new(&system.instance).map_err(wrong)?;
    let sites = &system.instance.sites;
    let n = sites.len() as u32;
    if !is_increasing(&system.chosen) || system.chosen.last().is_some_and(|&it| it >= n) {
        return Err(wrong("the chosen sites are not increasing, or there is no such site".into()));
    }
    let absent: Vec<u32> = (0..n).filter(|it| system.chosen.binary_search(it).is_err()).collect();
    if let Some(v) = noise.first_over(&absent) {
        return Err(wrong(format!("the answer is not legal: node {v} is over its limit")));
    }
    let cost: u128 = system.chosen.iter().map(|&s| u128::from(sites[s as usize].cost)).sum();
    let cost = u64::try_from(cost).unwrap_or(u64::MAX);
    if cost != system.cost {
        return Err(wrong(format!("the answer costs {cost}, not {}", system.cost)));
    }
    let mut owner: BTreeMap<u32, usize> = BTreeMap::new();
    let mut walk = ProofWalk::new(noise);
    let mut bound = 0_u64;
    for (number, part) in system.parts.iter().enumerate() {
        let place = format!("part {number}");
        let mut weights = BTreeMap::new();
        for &s in &part.sites {
            let Some(site) = sites.get(s as usize) else {
                return Err(Failure { place, why: format!("there is no site {s}") });
            };
            if let Some(first) = owner.insert(s, number) {
                let why = format!("site {s} is in part {first} too");
                return Err(Failure { place, why });
            }
            weights.insert(s, site.cost);
        }
        let proven = walk.verify_proof(part, &weights, &place)?;
        bound = bound.saturating_add(proven);
    }
    if bound < system.bound {
        return Err(wrong(format!("the parts prove {bound}, not {}", system.bound)));
    }
    if system.bound > cost {
        return Err(wrong(format!("a bound of {} on an answer of {cost}", system.bound)));
    }
    Ok(Verified { cost, bound: system.bound })
}
