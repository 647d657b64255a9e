//! Verifies placements with `noisy_certificate`, which shares no code with the optimizer: the
//! instance and the certificate are passed as JSON.

use noisy_certificate::{System, Verified, verify};
use noisy_placement::{Instance, Optimality, Placement};
use serde_json::{Value, json};

/// Returns an instance and its placement as a system of a certificate.
pub fn certificate_system(instance: &Instance, placement: &Placement) -> Value {
    json!({
        "functions": [],
        "unit": 1,
        "instance": instance,
        "chosen": placement.sites,
        "cost": placement.cost,
        "bound": placement.lower_bound,
        "parts": placement.certificate.parts,
    })
}

/// Verifies a system in JSON.
///
/// # Errors
///
/// The first false claim, or the reason why the system cannot be parsed.
pub fn verify_system(system: &Value) -> Result<Verified, String> {
    let system: System = serde_json::from_str(&system.to_string()).map_err(|it| it.to_string())?;
    verify(&system).map_err(|it| it.to_string())
}

/// Checks all claims of a placement: cost, bound, optimality and disjoint cores.
///
/// # Errors
///
/// The first false claim.
pub fn check_placement(instance: &Instance, placement: &Placement) -> Result<(), String> {
    let Placement { cost, lower_bound, proof, .. } = *placement;
    if (proof == Optimality::Optimal) != (lower_bound == cost) {
        return Err(format!("{proof:?} of {lower_bound} to {cost}"));
    }
    let verified = verify_system(&certificate_system(instance, placement))?;
    if verified != (Verified { cost, bound: lower_bound }) {
        return Err(format!("{verified:?} is verified, and {lower_bound} to {cost} claimed"));
    }
    let mut seen = std::collections::BTreeSet::new();
    for core in placement.certificate.disjoint_cores() {
        if let Some(site) = core.iter().find(|it| !seen.insert(**it)) {
            return Err(format!("{site:?} is in two of the disjoint cores"));
        }
    }
    Ok(())
}
