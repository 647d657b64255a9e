//! Ways to forge a certificate, with the errors that the verifiers report.

use serde_json::{Value, json};

/// A way to forge a system of a certificate: functions that were placed together. Returns true if
/// there was something to forge.
pub(super) type Forgery = fn(&mut Value) -> bool;

/// Changes the first core with several sites.
fn forge_core(it: &mut Value, with: impl Fn(&mut Vec<Value>)) -> bool {
    for part in it["parts"].as_array_mut().unwrap() {
        for row in part["rows"].as_array_mut().unwrap() {
            if let Some(core) = row["core"].as_array_mut().filter(|it| it.len() > 1) {
                with(core);
                return true;
            }
        }
    }
    false
}

/// Changes the first step of a kind, in a part or in a piece of a split.
fn forge_step(it: &mut Value, kind: &str, with: &dyn Fn(&mut Value)) -> bool {
    for part in it["parts"].as_array_mut().unwrap() {
        for step in part["steps"].as_array_mut().unwrap() {
            if let Some(step) = step.get_mut(kind) {
                with(step);
                return true;
            }
            if let Some(pieces) = step.get_mut("split") {
                let mut inner = json!({ "parts": pieces.take() });
                let is_forged = forge_step(&mut inner, kind, with);
                *pieces = inner["parts"].take();
                if is_forged {
                    return true;
                }
            }
        }
    }
    false
}

/// Changes the first cut among the rows of the parts.
fn forge_cut(it: &mut Value, with: impl Fn(&mut Value)) -> bool {
    let parts = it["parts"].as_array_mut().unwrap().iter_mut();
    let mut rows = parts.flat_map(|it| it["rows"].as_array_mut().unwrap());
    let cut = rows.find_map(|it| it.get_mut("cut"));
    cut.map(with).is_some()
}

/// Changes the first part.
fn forge_part(it: &mut Value, with: impl Fn(&mut Value)) -> bool {
    it["parts"].as_array_mut().unwrap().first_mut().map(with).is_some()
}

/// The forgeries, each with a part of the error message.
pub(super) const FORGERIES: &[(&str, Forgery)] = &[
    ("is proven for", |it| {
        forge_cut(it, |cut| cut["least"] = (cut["least"].as_u64().unwrap() + 1_000_000).into())
    }),
    ("a site twice", |it| {
        forge_cut(it, |cut| {
            let terms = cut["terms"].as_array_mut().unwrap();
            terms.push(terms[0].clone());
        })
    }),
    ("its sites are not those", |it| {
        forge_cut(it, |cut| {
            cut["terms"].as_array_mut().unwrap().remove(0);
        })
    }),
    // Weights that are too small for the proof of the cut, or for a step that settles a site.
    (", not ", |it| {
        let parts = it["parts"].as_array_mut().unwrap().iter_mut();
        let rows = parts.flat_map(|it| it["rows"].as_array_mut().unwrap());
        let cuts = rows.filter_map(|it| it.get_mut("cut"));
        // Many cuts have only weights of 1.
        let mut terms = cuts.map(|it| it["terms"].as_array_mut().unwrap());
        let terms = terms.find(|it| it.iter().any(|it| it[1] != 1));
        terms.map(|it| it.iter_mut().for_each(|it| it[1] = 1.into())).is_some()
    }),
    ("is not a core", |it| {
        forge_cut(it, |cut| {
            let rows = cut["proof"]["rows"].as_array_mut().unwrap();
            for row in rows {
                row["core"] = json!([]);
            }
        })
    }),
    ("is not legal", |it| it["chosen"].as_array_mut().unwrap().pop().is_some()),
    ("the answer costs", |it| {
        it["cost"] = (it["cost"].as_u64().unwrap() + 1).into();
        true
    }),
    ("the parts prove", |it| {
        it["bound"] = (it["bound"].as_u64().unwrap() + 1).into();
        true
    }),
    ("its steps prove", |it| {
        let part = it["parts"].as_array_mut().unwrap().first_mut();
        let Some(part) = part else { return false };
        part["bound"] = (part["bound"].as_u64().unwrap() + 1_000_000).into();
        true
    }),
    ("is not a core", |it| forge_core(it, Vec::clear)),
    ("not increasing", |it| forge_core(it, |core| core.push(core[0].clone()))),
    ("there is no such site", |it| forge_core(it, |core| core.push(1_000_000.into()))),
    ("is in part", |it| {
        let parts = it["parts"].as_array_mut().unwrap();
        let Some(part) = parts.first().cloned() else { return false };
        parts.push(part);
        true
    }),
    ("it cannot be read", |it| it.as_object_mut().unwrap().remove("parts").is_some()),
    ("end too early", |it| {
        let Some(part) = it["parts"].as_array_mut().unwrap().first_mut() else { return false };
        part["steps"].as_array_mut().unwrap().clear();
        true
    }),
    ("more follow", |it| {
        let Some(part) = it["parts"].as_array_mut().unwrap().first_mut() else { return false };
        part["steps"].as_array_mut().unwrap().push(json!({ "bound": 0 }));
        true
    }),
    ("prove", |it| {
        let Some(part) = it["parts"].as_array_mut().unwrap().first_mut() else { return false };
        if part["bound"] == 0 || part["steps"].as_array().unwrap().len() > 1 {
            return false;
        }
        // A sweep may prove the bound without multipliers.
        let list = part["multipliers"][0].as_array_mut().unwrap();
        let is_needed = !list.is_empty();
        list.clear();
        is_needed
    }),
    ("no number of at least zero", |it| {
        let parts = it["parts"].as_array_mut().unwrap();
        let lists = parts.iter_mut().flat_map(|it| it["multipliers"].as_array_mut().unwrap());
        let first = lists.flat_map(|it| it.as_array_mut().unwrap()).next();
        first.map(|it| it[1] = (-1).into()).is_some()
    }),
    ("there is no such row", |it| {
        let parts = it["parts"].as_array_mut().unwrap();
        let list = parts.iter_mut().flat_map(|it| it["multipliers"].as_array_mut().unwrap()).next();
        list.map(|it| it.as_array_mut().unwrap().push(json!([1_000_000, 1]))).is_some()
    }),
    ("there is no such row", |it| {
        forge_cut(it, |cut| {
            let list = cut["proof"]["multipliers"][0].as_array_mut().unwrap();
            list.push(json!([1_000_000, 1]));
        })
    }),
    ("no such multipliers", |it| forge_step(it, "bound", &|step| *step = 1_000_000.into())),
    ("no such multipliers", |it| {
        forge_step(it, "settle", &|step| step["multipliers"] = 1_000_000.into())
    }),
    ("no such multipliers", |it| {
        forge_step(it, "sweep", &|step| step["multipliers"] = 1_000_000.into())
    }),
    ("there is no such node", |it| {
        forge_step(it, "sweep", &|step| step["order"] = json!([1_000_000]))
    }),
    ("no number of at least zero", |it| {
        forge_step(it, "sweep", &|step| step["order"] = json!([-1]))
    }),
    ("there is no such step", |it| {
        forge_part(it, |part| part["steps"] = json!([{ "trust": { "least": part["bound"] } }]))
    }),
    // Branches with one case instead of two, with three, on a decided site, and on an unknown site.
    ("end too early", |it| {
        forge_part(it, |part| {
            let branch = json!({ "branch": part["sites"][0] });
            part["steps"] = json!([branch, { "bound": 0 }]);
        })
    }),
    ("more follow", |it| {
        forge_part(it, |part| {
            let branch = json!({ "branch": part["sites"][0] });
            part["steps"] = json!([branch, { "bound": 0 }, { "bound": 0 }, { "bound": 0 }]);
        })
    }),
    ("decided already", |it| {
        forge_part(it, |part| {
            let branch = json!({ "branch": part["sites"][0] });
            part["steps"] = json!([branch, branch, { "bound": 0 }, { "bound": 0 }, { "bound": 0 }]);
        })
    }),
    ("or is none", |it| {
        forge_part(it, |part| {
            part["steps"] = json!([{ "branch": 1_000_000 }, { "bound": 0 }, { "bound": 0 }]);
        })
    }),
    // The proof of a subproblem counts once, and only for its own bound.
    ("a site of another piece", |it| {
        forge_step(it, "split", &|pieces| {
            let pieces = pieces.as_array_mut().unwrap();
            pieces.push(pieces[0].clone());
        })
    }),
    ("its steps prove", |it| {
        forge_step(it, "split", &|pieces| {
            pieces[0]["bound"] = (pieces[0]["bound"].as_u64().unwrap() + 1_000_000).into();
        })
    }),
    ("not increasing", |it| {
        let part =
            it["parts"].as_array_mut().unwrap().iter_mut().find(|it| it["sites"][1] != Value::Null);
        part.map(|it| it["sites"].as_array_mut().unwrap().reverse()).is_some()
    }),
    ("there is no such site", |it| {
        forge_part(it, |part| part["sites"].as_array_mut().unwrap().push(1_000_000.into()))
    }),
    ("there is no such site", |it| {
        forge_cut(it, |cut| cut["terms"].as_array_mut().unwrap().push(json!([1_000_000, 1])))
    }),
    ("no number of at least zero", |it| forge_cut(it, |cut| cut["terms"][0][1] = (-1).into())),
    // The bound that the proof of a cut claims.
    ("its steps prove", |it| {
        forge_cut(it, |cut| {
            cut["proof"]["bound"] = (cut["proof"]["bound"].as_u64().unwrap() + 1_000_000).into();
        })
    }),
    ("not increasing", |it| {
        let chosen = it["chosen"].as_array_mut().unwrap();
        chosen.first().cloned().map(|it| chosen.push(it)).is_some()
    }),
    ("there is no such site", |it| {
        it["chosen"].as_array_mut().unwrap().push(1_000_000.into());
        true
    }),
    ("is not legal", |it| {
        it["chosen"] = json!([]);
        it["cost"] = 0.into();
        true
    }),
    ("no number of at least zero", |it| {
        it["bound"] = (-1).into();
        true
    }),
    ("is settled for", |it| {
        forge_step(it, "settle", &|step| {
            step["least"] = (step["least"].as_u64().unwrap() + 1_000_000).into();
        })
    }),
    ("a sweep finds", |it| {
        forge_step(it, "sweep", &|step| {
            step["least"] = (step["least"].as_u64().unwrap() + 1).into();
        })
    }),
    ("decided already", |it| {
        forge_step(it, "settle", &|step| {
            let lists = ["absent", "chosen"].map(|of| step[of].as_array().unwrap().clone());
            let again = lists.concat()[0].clone();
            step["absent"].as_array_mut().unwrap().push(again);
            step["least"] = 0.into();
        })
    }),
];
