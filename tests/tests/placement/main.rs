//! Placements and their proofs, checked by an independent verifier (`noisy_tests::certificate`).

mod forgeries;

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use noisy_analyses::Document;
use noisy_analyses::repair::placement::extract::{
    ExtractionRequest, LiveCalls, MAX_COPIES, Objective, extract,
};
use noisy_placement::{
    EnabledSteps, Instance, Node, NodeRule, Optimality, Placement, PlacementLimits, Site, place,
};
use noisy_tests::certificate::{certificate_system, check_placement, verify_system};
use serde_json::{Value, json};

use forgeries::FORGERIES;

/// Limits with which the placement is the same on every machine.
fn limits(work: u64) -> PlacementLimits {
    PlacementLimits { time: None, work: Some(work), ..PlacementLimits::default() }
}

fn files(folder: &Path, out: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|it| it.path()) {
        if path.is_dir() {
            files(&path, out);
        } else if path.extension().is_some_and(|it| it == "mlir") {
            out.push(path);
        }
    }
}

#[test]
fn every_program_of_the_suite_is_placed_and_proven() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    files(&root.join("suite"), &mut paths);
    files(&root.join("../examples"), &mut paths);
    let (mut n_placed, mut n_reduced) = (0, 0);
    for path in paths {
        let document = Document::new(&fs::read_to_string(&path).unwrap());
        let calls = LiveCalls::new(&document);
        for function in document.ir().functions() {
            for (objective, replace) in [
                (Objective::Executed, false),
                (Objective::Count, false),
                (Objective::Executed, true),
            ] {
                let (functions, closed) = (&[function][..], &HashSet::default());
                let copies = MAX_COPIES;
                let request = ExtractionRequest {
                    functions,
                    excluded: closed,
                    objective,
                    replace,
                    max_copies: copies,
                };
                let Ok(question) = extract(&document, &calls, &request) else { continue };
                let Ok(placement) = place(&question.instance, &limits(5_000_000)) else { continue };
                let name = document.function_name(function);
                if let Err(why) = check_placement(&question.instance, &placement) {
                    panic!("{}: @{name}: {why}", path.display());
                }
                assert_eq!(placement.proof, Optimality::Optimal, "{}: @{name}", path.display());
                n_placed += 1;
                n_reduced += usize::from(!placement.sites.is_empty());
            }
        }
    }
    assert!(n_placed > 50 && n_reduced > 10, "{n_placed}, {n_reduced}");
}

/// A small generator of numbers: `SplitMix64` (Steele, Lea, Flood).
struct Random(u64);

impl Random {
    fn below(&mut self, n: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut it = self.0;
        it = (it ^ it >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        it = (it ^ it >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((it ^ it >> 31) % u64::from(n)) as u32
    }
}

/// A random instance: additions and multiplications of recent values, with weights, joins, shared
/// sites and cyclic uses.
fn random_instance(random: &mut Random, n: u32) -> Instance {
    let mut out = Instance::default();
    let has_cycles = random.below(3) == 0;
    let has_weights = random.below(2) == 0;
    for v in 0..n {
        let recent = |random: &mut Random| {
            if has_cycles && random.below(20) == 0 {
                Node(random.below(n))
            } else {
                Node(v - 1 - random.below(v.min(12)))
            }
        };
        if v < 3 {
            out.push(NodeRule::Source(12), &[], 26, None);
            continue;
        }
        let operands = [recent(random), recent(random)];
        let rule = match random.below(10) {
            0 => NodeRule::Sum(0),
            1 => NodeRule::Max(0),
            _ => NodeRule::Max(1),
        };
        let cost = if has_weights { 1 + 9 * u64::from(random.below(2)) } else { 1 };
        let site = match random.below(12) {
            0 => None,
            1 if !out.sites.is_empty() => Some(Site(random.below(out.sites.len() as u32))),
            _ => Some(out.push_site(cost, 12)),
        };
        out.push(rule, &operands, 26 - random.below(8) / 7, site);
    }
    out
}

/// A random instance with levels as noise, where only sweeps prove strong bounds.
fn levels_instance(random: &mut Random, n: u32) -> Instance {
    let mut out = Instance::default();
    for v in 0..n {
        if v < 3 {
            out.push(NodeRule::Source(0), &[], 3, None);
            continue;
        }
        let mut recent = || Node(v - 1 - random.below(v.min(10)));
        let operands = [recent(), recent()];
        let rule = NodeRule::Max(u32::from(random.below(5) < 2));
        let site = out.push_site(1, 0);
        out.push(rule, &operands, 3, Some(site));
    }
    out
}

/// A random instance of full adders, where local cuts prove stronger bounds than cores.
fn adders_instance(random: &mut Random, n: u32) -> Instance {
    let mut out = Instance::default();
    let mut op = |rule, operands: &[Node]| {
        let site = out.push_site(1, 12);
        out.push(rule, operands, 26, Some(site))
    };
    let mut values: Vec<Node> = (0..4).map(|_| op(NodeRule::Source(12), &[])).collect();
    for _ in 0..n / 6 {
        let mut recent =
            || values[values.len() - 1 - random.below(values.len().min(8) as u32) as usize];
        let (x, y, c) = (recent(), recent(), recent());
        let half = op(NodeRule::Max(1), &[x, y]);
        let low = op(NodeRule::Max(1), &[half, c]);
        let (left, right) = (op(NodeRule::Max(1), &[y, c]), op(NodeRule::Max(1), &[x, c]));
        let both = op(NodeRule::Sum(0), &[left, right]);
        let high = op(NodeRule::Max(1), &[both, c]);
        values.extend([low, high]);
    }
    out
}

#[test]
fn local_cuts_pass_verification() {
    let mut random = Random(17);
    let mut n_cut = 0;
    for round in 0..12 {
        let instance = adders_instance(&mut random, 90);
        let mut limits = limits(1_000_000 << (round % 6));
        limits.steps =
            EnabledSteps { branch: false, frontier_dp: false, fix: round % 2 == 0, ..limits.steps };
        let placement = place(&instance, &limits).unwrap();
        if let Err(why) = check_placement(&instance, &placement) {
            panic!("{why}\n{placement:?}\n{instance:?}");
        }
        n_cut +=
            usize::from(certificate_system(&instance, &placement).to_string().contains("\"cut\""));
    }
    assert!(n_cut > 2, "{n_cut} with cuts");
}

#[test]
fn random_placements_pass_verification() {
    let mut random = Random(5);
    let (mut n_placed, mut by_cores) = (0, 0);
    for _ in 0..600 {
        let n = 5 + random.below(60);
        let instance = random_instance(&mut random, n);
        let mut limits = limits(1_000 << random.below(12));
        limits.steps.sweep_first = n.is_multiple_of(2);
        let Ok(placement) = place(&instance, &limits) else { continue };
        if let Err(why) = check_placement(&instance, &placement) {
            panic!("{why}\n{placement:?}\n{instance:?}");
        }
        n_placed += 1;
        by_cores += usize::from(placement.certificate.bound() == placement.cost);
        assert!(placement.certificate.disjoint_cores().len() as u64 <= placement.cost);
    }
    assert!(n_placed > 300 && by_cores > n_placed / 2, "{n_placed}, {by_cores}");
}

/// A chain of squarings: three forced sites.
fn squarings() -> (Instance, Placement) {
    let mut instance = Instance::default();
    let mut last = instance.push(NodeRule::Source(12), &[], 26, None);
    for _ in 0..4 {
        let site = instance.push_site(1, 12);
        last = instance.push(NodeRule::Sum(0), &[last, last], 26, Some(site));
    }
    let placement = place(&instance, &limits(100_000)).unwrap();
    (instance, placement)
}

#[test]
fn false_claims_are_rejected() {
    let (instance, placement) = squarings();
    assert_eq!(check_placement(&instance, &placement), Ok(()));
    assert_eq!((placement.cost, placement.certificate.disjoint_cores().len()), (3, 3));
    let deceive = |with: &dyn Fn(&mut Placement)| {
        let mut placement = placement.clone();
        with(&mut placement);
        assert!(check_placement(&instance, &placement).is_err(), "{placement:?}");
    };
    deceive(&|it| {
        it.sites.pop();
    });
    deceive(&|it| it.cost = 2);
    deceive(&|it| it.lower_bound = 4);
    deceive(&|it| it.proof = Optimality::Gap);
    deceive(&|it| it.certificate.parts[0].bound = 2);
}

/// Runs `verify_certificate.py` on a certificate. Returns true if it exits with 0, and the first
/// line of its output.
fn run_verifier_script(name: &str, certificate: &str) -> (bool, Value) {
    let file = format!("noisy-certificate-{}-{name}.json", std::process::id());
    let path = std::env::temp_dir().join(file);
    fs::write(&path, certificate).unwrap();
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("verify_certificate.py"))
        .arg(&path)
        .output()
        .expect("python3 is installed");
    fs::remove_file(path).unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    let first = words.lines().next().unwrap_or_default();
    let said = serde_json::from_str(first)
        .unwrap_or_else(|it| panic!("{it}: {words} {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.success(), said)
}

/// A chain of three additions that needs one reduction. The proof branches on the noise of the
/// first addition: below 13 bits, its own site must be chosen; otherwise the site of the second.
fn proven_by_level() -> Value {
    let node = |rule: Value, operands: &[u32], site: Option<u32>| json!({ "rule": rule, "operands": operands, "limit": 14, "site": site });
    let add = json!({ "max": 1 });
    let nodes = json!([
        node(json!({ "source": 12 }), &[], None),
        node(add.clone(), &[0], Some(0)),
        node(add.clone(), &[1], Some(1)),
        node(add, &[2], Some(2)),
    ]);
    let site = json!({ "cost": 1, "reset": 12 });
    let below = json!({ "core_where": { "core": [0], "below": [[1, 13]], "least": [] } });
    let least = json!({ "core_where": { "core": [1], "below": [], "least": [[1, 13]] } });
    let one = 1_u64 << 32;
    let part = json!({
        "sites": [0, 1, 2],
        "rows": [below, least],
        "multipliers": [[[0, one]], [[1, one]]],
        "steps": [{ "level": [1, 13] }, { "bound": 0 }, { "bound": 1 }],
        "bound": 1,
    });
    json!({
        "functions": [{ "index": 0, "name": "f" }],
        "instance": { "nodes": nodes, "sites": [site, site, site] },
        "chosen": [0], "cost": 1, "bound": 1, "unit": 1, "parts": [part],
    })
}

#[test]
fn both_verifiers_reject_forged_level_proofs() {
    let say = |system: &Value| {
        let whole = json!({
            "format": "noisy-certificate", "version": 1, "objective": "executed", "replace": false,
            "systems": [system], "left": [],
        });
        let (is_verified, words) = run_verifier_script("level", &whole.to_string());
        (
            is_verified,
            words["why"].as_str().unwrap_or_default().to_owned(),
            verify_system(system).err(),
        )
    };
    assert_eq!(say(&proven_by_level()), (true, String::new(), None));
    let forgeries: &[(&str, &str, Value)] = &[
        ("/rows/0/core_where/core", "is not a core there", json!([])),
        ("/rows/0/core_where/core", "there is no such site", json!([9])),
        ("/rows/0/core_where/below", "is not a core there", json!([])),
        ("/rows/0/core_where/below", "is not a core there", json!([[1, 14]])),
        ("/rows/0/core_where/below", "there is no", json!([[9, 13]])),
        ("/rows/1/core_where/core", "is not a core there", json!([2])),
        ("/rows/1/core_where/least", "is not a core there", json!([])),
        ("/rows/1/core_where/least", "is not a core there", json!([[1, 12]])),
        ("/rows/1/core_where/least", "does not hold here", json!([[1, 14]])),
        ("/steps/0/level", "does not hold here", json!([1, 14])),
        ("/steps/0/level", "does not hold here", json!([1, 12])),
        ("/steps/0/level", "does not hold here", json!([2, 13])),
        ("/steps/0/level", "there is no", json!([9, 13])),
        ("/steps/1", "does not hold here", json!({ "bound": 1 })),
        ("/steps/2", "does not hold here", json!({ "bound": 0 })),
        ("/steps/2", "end too early", json!({ "level": [2, 13] })),
        ("/steps", "does not hold here", json!([{ "bound": 0 }])),
    ];
    for (at, why, put) in forgeries {
        let mut forged = proven_by_level();
        *forged["parts"][0].pointer_mut(at).unwrap() = put.clone();
        let (is_verified, said, told) = say(&forged);
        assert!(!is_verified && said.contains(why), "{at} {put}: {said}, wanted {why}");
        assert!(
            told.as_ref().is_some_and(|it| it.contains(why)),
            "{at} {put}: {told:?}, wanted {why}"
        );
    }
}

#[test]
fn both_verifiers_reject_forged_certificates() {
    let mut random = Random(11);
    let mut n_placed = 0;
    let mut n_forged = vec![0; FORGERIES.len()];
    while n_placed < 6 || n_forged.contains(&0) && n_placed < 40 {
        let n = 20 + random.below(60);
        let make = [random_instance, levels_instance, adders_instance][n_placed % 3];
        let instance = make(&mut random, n);
        let mut limits = limits(2_000_000);
        limits.steps.sweep_first = n_placed % 2 == 0;
        if n_placed % 3 == 2 {
            // Without these steps, only the cuts prove the bound.
            limits.steps =
                EnabledSteps { branch: false, frontier_dp: false, fix: false, ..limits.steps };
            limits.work = Some(30_000_000);
        }
        let Ok(placement) = place(&instance, &limits) else { continue };
        if placement.certificate.bound() == 0 {
            continue;
        }
        n_placed += 1;
        let mut system = certificate_system(&instance, &placement);
        system["functions"] = json!([{ "index": 0, "name": "f" }]);
        let whole = |system: &Value| {
            let systems = [system];
            json!({
                "format": "noisy-certificate", "version": 1, "objective": "executed", "replace": false,
                "systems": systems, "left": [],
            })
            .to_string()
        };
        let name = format!("{n_placed}");
        let (is_verified, words) = run_verifier_script(&name, &whole(&system));
        assert!(is_verified, "{words} {system}");
        let (cost, bound) = (placement.cost, placement.lower_bound);
        let wanted = json!({ "verified": true, "function": "f", "cost": cost, "bound": bound });
        assert_eq!(words, wanted);
        assert!(verify_system(&system).is_ok());
        for ((why, forge), n_forged) in FORGERIES.iter().zip(&mut n_forged) {
            let mut forged = system.clone();
            if *n_forged > 2 || !forge(&mut forged) {
                continue;
            }
            *n_forged += 1;
            let (is_verified, words) = run_verifier_script(&name, &whole(&forged));
            let said = words["why"].as_str().unwrap_or_default();
            assert!(!is_verified && said.contains(why), "{words}, wanted {why}: {forged}");
            let Err(told) = verify_system(&forged) else { panic!("{why}: {forged}") };
            // Both verifiers report the same place, unless one of them cannot parse the
            // certificate.
            let place = |it: &str| it.split_once(": ").map(|it| it.0.to_owned());
            let places =
                [place(said), place(&told)].map(|it| it.filter(|it| it.starts_with("part ")));
            let are_equal = places[0] == places[1] || places.contains(&None);
            assert!(are_equal, "{said}, but {told}: {forged}");
        }
        // Forgeries of the whole certificate.
        let mut twice: Value = serde_json::from_str(&whole(&system)).unwrap();
        twice["systems"].as_array_mut().unwrap().push(system.clone());
        assert!(!run_verifier_script(&name, &twice.to_string()).0);
        for (from, to) in
            [("noisy-certificate", "certificate"), (r#""version":1"#, r#""version":2"#)]
        {
            let forged = whole(&system).replacen(from, to, 1);
            assert!(forged != whole(&system) && !run_verifier_script(&name, &forged).0, "{to}");
        }
        // A truncated certificate, and one of another instance.
        assert!(!run_verifier_script(&name, &whole(&system)[1..]).0);
        system["instance"] = json!({ "nodes": [], "sites": [] });
        assert!(!run_verifier_script(&name, &whole(&system)).0);
        assert!(verify_system(&system).is_err());
    }
    assert!(n_forged.iter().all(|it| *it > 0), "{n_forged:?}");
}
