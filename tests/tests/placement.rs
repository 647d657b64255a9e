//! Placements and what proves them, before a judge of its own (`noisy_tests::certificate`).

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use noisy_analyses::Document;
use noisy_analyses::fix::extract::{Calls, Objective, Request, extract};
use noisy_placement::{
    Instance, Limits, Node, PartCertificate, Placement, Proof, Rule, Site, WeighedCore, place,
};
use noisy_tests::certificate::{check, check_certificate, noise};
use serde_json::Value;

/// Limits under which the answer is the same on every machine.
fn limits(work: u64) -> Limits {
    Limits { time: None, work: Some(work), ..Limits::default() }
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
        let calls = Calls::new(&document);
        for function in document.ir().functions() {
            for (objective, replace) in [
                (Objective::Executed, false),
                (Objective::Count, false),
                (Objective::Executed, true),
            ] {
                let (functions, closed) = (&[function][..], &HashSet::default());
                let request = Request { functions, closed, objective, replace };
                let Ok(question) = extract(&document, &calls, &request) else { continue };
                let Ok(placement) = place(&question.instance, &limits(5_000_000)) else { continue };
                let name = document.function_name(function);
                if let Err(why) = check(&question.instance, &placement) {
                    panic!("{}: @{name}: {why}", path.display());
                }
                assert_eq!(placement.proof, Proof::Optimal, "{}: @{name}", path.display());
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

/// Additions and multiplications of recent values, with weights, joins, shared sites and backward uses.
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
            out.push(Rule::Source(12), &[], 26, None);
            continue;
        }
        let operands = [recent(random), recent(random)];
        let rule = match random.below(10) {
            0 => Rule::Sum(0),
            1 => Rule::Max(0),
            _ => Rule::Max(1),
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

#[test]
fn random_placements_stand_before_the_judge() {
    let mut random = Random(5);
    let (mut n_placed, mut by_cores) = (0, 0);
    for _ in 0..600 {
        let n = 5 + random.below(60);
        let instance = random_instance(&mut random, n);
        let work = 1_000 << random.below(12);
        let Ok(placement) = place(&instance, &limits(work)) else { continue };
        if let Err(why) = check(&instance, &placement) {
            panic!("{why}\n{placement:?}\n{instance:?}");
        }
        n_placed += 1;
        by_cores += usize::from(placement.certificate.bound() == placement.cost);
        assert!(placement.certificate.disjoint().len() as u64 <= placement.cost);
    }
    assert!(n_placed > 300 && by_cores > n_placed / 2, "{n_placed}, {by_cores}");
}

/// A chain of squarings: three forced sites.
fn squarings() -> (Instance, Placement) {
    let mut instance = Instance::default();
    let mut last = instance.push(Rule::Source(12), &[], 26, None);
    for _ in 0..4 {
        let site = instance.push_site(1, 12);
        last = instance.push(Rule::Sum(0), &[last, last], 26, Some(site));
    }
    let placement = place(&instance, &limits(100_000)).unwrap();
    (instance, placement)
}

#[test]
fn the_judge_is_not_deceived() {
    let (instance, placement) = squarings();
    assert_eq!(check(&instance, &placement), Ok(()));
    assert_eq!((placement.cost, placement.certificate.disjoint().len()), (3, 3));
    let deceive = |with: &dyn Fn(&mut Placement)| {
        let mut placement = placement.clone();
        with(&mut placement);
        assert!(check(&instance, &placement).is_err(), "{placement:?}");
    };
    deceive(&|it| {
        it.sites.pop();
    });
    deceive(&|it| it.cost = 2);
    deceive(&|it| it.lower_bound = 4);
    deceive(&|it| it.proof = Proof::Gap);
    deceive(&|it| it.certificate.parts[0].bound = 2);
    deceive(&|it| it.certificate.parts[0].cores[0].multiplier = 0);
    deceive(&|it| it.certificate.parts[0].cores[0].sites = vec![Site(3)]);
    deceive(&|it| {
        let part = it.certificate.parts[0].clone();
        it.certificate.parts.push(part);
    });
    let nothing = PartCertificate {
        cores: vec![WeighedCore { sites: vec![], multiplier: 1 << 24 }],
        grain: 1,
        bound: 1,
    };
    let mut certificate = placement.certificate.clone();
    certificate.parts.push(nothing);
    assert!(check_certificate(&instance, &certificate).is_err());
    // Noise as it is.
    let before = noise(&instance, &|site| site.0 < 3).unwrap();
    assert_eq!(before, [12, 24, 24, 24, 24]);
    assert_eq!(noise(&instance, &|_| false), None);
}

/// What `verify_certificate.py` says to a question and an answer as text: whether it exits with 0, and its words.
fn script(name: &str, question: &str, answer: &str) -> (bool, Value) {
    let path = |kind: &str| {
        let file = format!("noisy-certificate-{}-{name}-{kind}.json", std::process::id());
        std::env::temp_dir().join(file)
    };
    let (question_path, answer_path) = (path("question"), path("answer"));
    fs::write(&question_path, question).unwrap();
    fs::write(&answer_path, answer).unwrap();
    let output = Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("verify_certificate.py"))
        .args([&question_path, &answer_path])
        .output()
        .expect("python3 is installed");
    fs::remove_file(question_path).unwrap();
    fs::remove_file(answer_path).unwrap();
    let words = String::from_utf8(output.stdout).unwrap();
    let words = serde_json::from_str(&words)
        .unwrap_or_else(|it| panic!("{it}: {words} {}", String::from_utf8_lossy(&output.stderr)));
    (output.status.success(), words)
}

/// A way to forge an answer. Says whether there was anything to forge.
type Forgery = fn(&mut Value) -> bool;

/// The first core of the certificate with several sites.
fn first_core(answer: &mut Value) -> Option<&mut Value> {
    let parts = answer["certificate"]["parts"].as_array_mut().unwrap();
    let cores = parts.iter_mut().flat_map(|it| it["cores"].as_array_mut().unwrap());
    cores.into_iter().find(|it| it["sites"].as_array().unwrap().len() > 1)
}

const FORGERIES: [(&str, Forgery); 8] = [
    ("is over its limit", |it| it["sites"].as_array_mut().unwrap().pop().is_some()),
    ("it costs", |it| {
        it["cost"] = (it["cost"].as_u64().unwrap() + 1).into();
        true
    }),
    ("its rows prove", |it| {
        let part = it["certificate"]["parts"].as_array_mut().unwrap().first_mut();
        let Some(part) = part else { return false };
        part["bound"] = (part["bound"].as_u64().unwrap() + part["grain"].as_u64().unwrap()).into();
        true
    }),
    ("is no core", |it| {
        let core = first_core(it);
        core.map(|core| core["sites"].as_array_mut().unwrap().clear()).is_some()
    }),
    ("a site twice", |it| {
        let Some(core) = first_core(it) else { return false };
        let sites = core["sites"].as_array_mut().unwrap();
        sites.push(sites[0].clone());
        true
    }),
    ("a site that there is not", |it| {
        let Some(core) = first_core(it) else { return false };
        core["sites"].as_array_mut().unwrap().push(1_000_000.into());
        true
    }),
    ("too", |it| {
        let parts = it["certificate"]["parts"].as_array_mut().unwrap();
        let is_used = |part: &&Value| !part["cores"].as_array().unwrap().is_empty();
        let Some(part) = parts.iter().find(is_used).cloned() else { return false };
        parts.push(part);
        true
    }),
    ("it cannot be read", |it| it.as_object_mut().unwrap().remove("certificate").is_some()),
];

#[test]
fn the_script_verifies_answers_and_refuses_forged_ones() {
    let mut random = Random(11);
    let mut n_placed = 0;
    let mut n_forged = [0; FORGERIES.len()];
    while n_placed < 12 {
        let n = 20 + random.below(80);
        let instance = random_instance(&mut random, n);
        let Ok(placement) = place(&instance, &limits(2_000_000)) else { continue };
        if placement.certificate.bound() == 0 {
            continue;
        }
        n_placed += 1;
        let question = serde_json::to_string(&instance).unwrap();
        let answer = serde_json::to_value(&placement).unwrap();
        let name = format!("{n_placed}");
        let (is_verified, words) = script(&name, &question, &answer.to_string());
        assert!(is_verified, "{words} {question} {answer}");
        let wanted = serde_json::json!({
            "verified": true, "cost": placement.cost, "bound": placement.certificate.bound(),
        });
        assert_eq!(words, wanted);
        for ((why, forge), n_forged) in FORGERIES.iter().zip(&mut n_forged) {
            let mut forged = answer.clone();
            if !forge(&mut forged) {
                continue;
            }
            *n_forged += 1;
            let (is_verified, words) = script(&name, &question, &forged.to_string());
            let said = words["why"].as_str().unwrap_or_default();
            assert!(!is_verified && said.contains(why), "{words}, wanted {why}: {forged}");
        }
        // Damaged, and the answer to another question.
        assert!(!script(&name, &question, &answer.to_string()[1..]).0);
        assert!(!script(&name, r#"{"nodes":[],"sites":[]}"#, &answer.to_string()).0);
    }
    assert!(n_forged.iter().all(|it| *it > 2), "{n_forged:?}");
}
