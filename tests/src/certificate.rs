//! A judge of placements and their certificates that shares nothing with the optimizer but the question and the answer: its own
//! evaluation of noise, no solver.

use noisy_placement::{Bits, Certificate, Instance, Placement, Proof, Rule, Site};

/// The noise that leaves each node's op under a choice of sites: the least solution, by rounds from nothing. `None` as soon as a node is over its
/// limit (which a limit of the largest number never is).
pub fn noise(instance: &Instance, is_chosen: &dyn Fn(Site) -> bool) -> Option<Vec<u64>> {
    const ENDLESS: u64 = Bits::MAX as u64;
    let n = instance.nodes.len();
    let mut before = vec![0_u64; n];
    let mut n_rounds = 0;
    loop {
        let mut grew = false;
        for (v, node) in instance.nodes.iter().enumerate() {
            let from = node.first_operand as usize;
            let operands = &instance.operands[from..from + node.n_operands as usize];
            let leaving = operands.iter().map(|u| {
                let u = u.0 as usize;
                match instance.nodes[u].site {
                    Some(site) if is_chosen(site) => {
                        u64::from(instance.sites[site.0 as usize].reset)
                    }
                    _ => before[u],
                }
            });
            let now = match node.rule {
                Rule::Source(noise) => u64::from(noise),
                Rule::Max(plus) => leaving.max().unwrap_or(0) + u64::from(plus),
                Rule::Sum(plus) => leaving.sum::<u64>() + u64::from(plus),
            };
            // What still grows after as many rounds as there are nodes grows for ever.
            let now = if n_rounds > n && now > before[v] { ENDLESS } else { now.min(ENDLESS) };
            if now > u64::from(node.limit) {
                return None;
            }
            grew |= now > before[v];
            before[v] = before[v].max(now);
        }
        if !grew {
            return Some(before);
        }
        n_rounds += 1;
    }
}

/// Whether choosing a site never raises noise: no reset is above the least noise that can come to it.
fn is_monotone(instance: &Instance) -> bool {
    let free = Instance {
        nodes: instance
            .nodes
            .iter()
            .map(|it| noisy_placement::NodeData { limit: Bits::MAX, ..*it })
            .collect(),
        ..instance.clone()
    };
    let Some(least) = noise(&free, &|_| true) else { return false };
    instance.nodes.iter().zip(least).all(|(node, least)| {
        node.site.is_none_or(|site| u64::from(instance.sites[site.0 as usize].reset) <= least)
    })
}

/// Checks everything that a placement claims, but that a bound beyond the certificate's holds.
///
/// # Errors
///
/// The first claim that is not true.
pub fn check(instance: &Instance, placement: &Placement) -> Result<(), String> {
    let is_chosen = |site: Site| placement.sites.binary_search(&site).is_ok();
    if noise(instance, &is_chosen).is_none() {
        return Err("it is not legal".to_owned());
    }
    let cost = placement.sites.iter().map(|it| u128::from(instance.sites[it.0 as usize].cost));
    let cost = u64::try_from(cost.sum::<u128>()).unwrap_or(u64::MAX);
    if cost != placement.cost {
        return Err(format!("it costs {cost} and says {}", placement.cost));
    }
    if placement.lower_bound > cost {
        return Err(format!("a bound of {} on {cost}", placement.lower_bound));
    }
    if (placement.proof == Proof::Optimal) != (placement.lower_bound == cost) {
        return Err(format!("{:?} of {} to {cost}", placement.proof, placement.lower_bound));
    }
    check_certificate(instance, &placement.certificate)?;
    let mut seen = std::collections::BTreeSet::new();
    for core in placement.certificate.disjoint() {
        if noise(instance, &|site| !core.contains(&site)).is_some() {
            return Err(format!("{core:?} is no core: all other sites suffice"));
        }
        if let Some(site) = core.iter().find(|it| !seen.insert(**it)) {
            return Err(format!("{site:?} is in two of the disjoint cores"));
        }
    }
    let bound = placement.certificate.bound();
    if bound > placement.lower_bound {
        return Err(format!("the cores prove {bound}, the bound is {}", placement.lower_bound));
    }
    Ok(())
}

/// Checks that every core is one, and that the bounds follow from them.
///
/// # Errors
///
/// The first claim that is not true.
pub fn check_certificate(instance: &Instance, certificate: &Certificate) -> Result<(), String> {
    const UNIT: i128 = 1 << 24;
    if certificate.parts.iter().any(|part| !part.cores.is_empty()) && !is_monotone(instance) {
        return Err("cores where choosing a site may raise noise".to_owned());
    }
    let mut owner = vec![usize::MAX; instance.sites.len()];
    for (index, part) in certificate.parts.iter().enumerate() {
        let mut paid = std::collections::BTreeMap::<Site, i128>::new();
        let mut sum = 0_i128;
        for core in &part.cores {
            if noise(instance, &|site| core.sites.binary_search(&site).is_err()).is_some() {
                return Err(format!("{:?} is no core: all other sites suffice", core.sites));
            }
            let multiplier = i128::try_from(core.multiplier).map_err(|it| it.to_string())?;
            sum += multiplier;
            for &site in &core.sites {
                *paid.entry(site).or_default() += multiplier;
                let first = std::mem::replace(&mut owner[site.0 as usize], index);
                if first != usize::MAX && first != index {
                    return Err(format!("{site:?} is in two parts"));
                }
            }
        }
        for (site, paid) in paid {
            let cost = instance.sites[site.0 as usize].cost;
            if !cost.is_multiple_of(part.grain.max(1)) {
                return Err(format!("the cost of {site:?} is no multiple of {}", part.grain));
            }
            sum += ((i128::from(cost) * UNIT) - paid).min(0);
        }
        let grain = i128::from(part.grain.max(1)) * UNIT;
        let proven = (sum.max(0) + grain - 1) / grain * i128::from(part.grain.max(1));
        if i128::from(part.bound) > proven {
            return Err(format!("part {index}: its cores prove {proven}, not {}", part.bound));
        }
    }
    Ok(())
}
