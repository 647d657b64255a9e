//! The description of a noise model that users write: plain data for serde, and its validation.
//!
//! ```toml
//! fresh = 0
//! budget = 3
//! types = ["!ckks.ct"]
//! insert = { op = "ckks.bootstrap", cost = 100 }
//!
//! [ops]
//! "ckks.mul" = { growth = "max", plus = 1 }
//! "ckks.add" = { growth = "max" }
//! "ckks.bootstrap" = { growth = "reset" }
//! ```
//!
//! Omitted keys have the values of the built-in model; rows of `ops` are added to its rows. Serde
//! reads the model from any file format.

use std::collections::BTreeMap;
use std::fmt;

use noisy_syntax::OpKind;
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::pattern::TypePattern;
use super::{Bits, Carriers, GrowthRule, NoiseModel};

/// The noise model: the growth of noise, the budget, and the op that lowers noise.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSpec {
    /// The noise of a fresh value: of the result of an encoding op, and of function arguments
    /// without a contract. In bits (or in levels, where a scheme counts those).
    pub fresh: Bits,
    /// The largest legal noise, in bits.
    pub budget: Bits,
    /// The types that carry noise, as MLIR prints them; `*` matches any characters.
    pub types: Vec<String>,
    /// The op that is inserted to lower noise.
    pub insert: InsertSpec,
    /// The growth of noise, by the full name of an op, for example `"noisy.add"`. The noise of
    /// other ops is unknown.
    #[serde(deserialize_with = "over_the_built_in")]
    pub ops: BTreeMap<String, GrowthRow>,
}

/// The op that is inserted to lower noise.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct InsertSpec {
    /// The full name of the op. Its row in `ops` has the growth `reset`.
    pub op: String,
    /// The price of executing it once; at least 1.
    pub cost: u64,
    /// The text of the op, on one line: `{result}`, `{operand}` and `{type}` are replaced by the
    /// names and the type. By default `{result} = OP {operand} : {type}`, or the generic form
    /// if the surrounding ops are in generic form.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The rule that gives the noise of an op's results from that of its operands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GrowthRow {
    /// The kind of growth.
    pub growth: GrowthKind,
    /// Bits added by `max` and `sum`; 0 by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plus: Option<Bits>,
    /// The noise after `fresh` and `reset`; the model's `fresh` by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub level: Option<Bits>,
    /// An integer attribute of the op that states `plus` or `level`, if the op has it. Without the
    /// attribute, the values in this row apply; without either, the noise is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribute: Option<String>,
    /// The operands that carry noise, counted from 0; by default those of a noisy type.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operands: Option<Vec<u32>>,
    /// The results that carry noise, counted from 0; by default those of a noisy type. Others of a
    /// noisy type have a noise of 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<Vec<u32>>,
}

/// The kinds of growth.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Deserialize, Serialize, schemars::JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum GrowthKind {
    /// New noise, for any operands.
    #[default]
    Fresh,
    /// The noisiest operand, plus a constant.
    Max,
    /// The sum of the operands, plus a constant.
    Sum,
    /// A fixed level, for any operands.
    Reset,
}

impl Default for InsertSpec {
    fn default() -> Self {
        InsertSpec { op: "noisy.reduce_noise".into(), cost: 1, text: None }
    }
}

impl Default for ModelSpec {
    /// The `noisy` dialect of the MLIR tutorial: fresh 12, budget 26.
    fn default() -> Self {
        let types = vec!["!noisy.i32".into()];
        ModelSpec { fresh: 12, budget: 26, types, insert: InsertSpec::default(), ops: built_in() }
    }
}

/// Returns the rows of the built-in model.
fn built_in() -> BTreeMap<String, GrowthRow> {
    let row = |growth, plus, operands: &[u32]| GrowthRow {
        growth,
        plus,
        // Explicit indices, so that an operand of another type has unknown noise instead of none.
        operands: (!operands.is_empty()).then(|| operands.to_vec()),
        ..GrowthRow::default()
    };
    let rows = [
        ("noisy.encode", row(GrowthKind::Fresh, None, &[])),
        ("noisy.add", row(GrowthKind::Max, Some(1), &[0, 1])),
        ("noisy.sub", row(GrowthKind::Max, Some(1), &[0, 1])),
        ("noisy.mul", row(GrowthKind::Sum, None, &[0, 1])),
        ("noisy.reduce_noise", row(GrowthKind::Reset, None, &[0])),
        // Returns one of its operands unchanged.
        ("arith.select", row(GrowthKind::Max, None, &[1, 2])),
    ];
    rows.into_iter().map(|(name, row)| (name.to_owned(), row)).collect()
}

/// Reads rows, and adds them to the built-in ones.
fn over_the_built_in<'de, D>(data: D) -> Result<BTreeMap<String, GrowthRow>, D::Error>
where
    D: serde::Deserializer<'de>,
{
    let mut ops = built_in();
    ops.extend(BTreeMap::<String, GrowthRow>::deserialize(data)?);
    Ok(ops)
}

/// An error in the description of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModelError {
    /// The keys of the wrong entry, from the root: `["ops", "noisy.add", "plus"]`.
    pub path: Vec<String>,
    pub message: String,
}

impl fmt::Display for ModelError {
    /// `ops."noisy.add".plus: ...`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, key) in self.path.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            let is_bare = key.chars().all(|it| it.is_ascii_alphanumeric() || "_-".contains(it));
            if is_bare { write!(f, "{dot}{key}")? } else { write!(f, "{dot}\"{key}\"")? }
        }
        write!(f, ": {}", self.message)
    }
}

impl std::error::Error for ModelError {}

fn error<T>(path: &[&str], message: impl Into<String>) -> Result<T, ModelError> {
    let path = path.iter().map(|&it| it.to_owned()).collect();
    Err(ModelError { path, message: message.into() })
}

/// See [`NoiseModel::new`].
pub(super) fn compile(spec: &ModelSpec) -> Result<NoiseModel, ModelError> {
    let ModelSpec { fresh, budget, types, insert, ops } = spec;
    let (fresh, budget) = (*fresh, *budget);
    // The largest number means "no bound".
    if budget == Bits::MAX {
        return error(&["budget"], format!("at most {}", Bits::MAX - 1));
    }
    if fresh > budget {
        return error(
            &["fresh"],
            format!("{fresh} is over the budget of {budget}: no program would be legal"),
        );
    }
    if types.is_empty() {
        return error(&["types"], "at least one type carries noise");
    }
    let types: Vec<TypePattern> = types.iter().map(|it| TypePattern::new(it)).collect();
    if types.iter().any(TypePattern::is_empty) {
        return error(&["types"], "an empty string is not a type");
    }
    let mut rules = FxHashMap::default();
    let mut attributes: Vec<String> = Vec::new();
    for (name, op) in ops {
        rules.insert(name.clone(), rule(name, op, fresh, &mut attributes)?);
    }
    let reset_level = check_insert(insert, ops, fresh, budget)?;
    Ok(NoiseModel {
        fresh,
        budget,
        reset_op: insert.op.clone(),
        reset_level,
        reset_cost: insert.cost,
        reset_text: insert.text.clone(),
        is_dialect_type_noisy: types.iter().any(|it| it.is_match("!", "noisy.i32")),
        types,
        attributes,
        rules,
        heir: noisy_heir::HeirOptions::default(),
    })
}

fn rule(
    name: &str,
    op: &GrowthRow,
    fresh: Bits,
    attributes: &mut Vec<String>,
) -> Result<GrowthRule, ModelError> {
    let is_word = |it: &str| {
        !it.is_empty() && it.chars().all(|it| it.is_ascii_alphanumeric() || "_$".contains(it))
    };
    if !name.contains('.') || !name.split('.').all(is_word) {
        return error(&["ops", name], "not the full name of an op, such as `dialect.op`");
    }
    let GrowthRow { growth, plus, level, attribute, operands, results } = op;
    let constant = match growth {
        GrowthKind::Fresh | GrowthKind::Reset => {
            if plus.is_some() {
                return error(&["ops", name, "plus"], "only `max` and `sum` add; give a `level`");
            }
            level.or(attribute.is_none().then_some(fresh))
        }
        GrowthKind::Max | GrowthKind::Sum => {
            if level.is_some() {
                return error(&["ops", name, "level"], "only `fresh` and `reset` have a level");
            }
            plus.or(attribute.is_none().then_some(0))
        }
    };
    let attribute = match attribute {
        None => None,
        Some(it) if it.is_empty() => {
            return error(
                &["ops", name, "attribute"],
                "an empty string is not the name of an attribute",
            );
        }
        Some(it) => {
            let known = attributes.iter().position(|other| other == it);
            Some(known.unwrap_or_else(|| {
                attributes.push(it.clone());
                attributes.len() - 1
            }) as u32)
        }
    };
    let known = OpKind::of(name);
    let most = |it: fn(&noisy_syntax::OpSpec) -> usize| {
        if known == OpKind::Unknown { usize::MAX } else { it(known.spec()) }
    };
    let (most_operands, most_results) = (most(|it| it.operands.most), most(|it| it.results.most));
    let operands = carriers(operands.as_deref(), most_operands, &["ops", name, "operands"])?;
    if matches!(operands, Carriers::These(0)) && matches!(growth, GrowthKind::Max | GrowthKind::Sum)
    {
        return error(&["ops", name, "operands"], "`max` and `sum` need an operand with noise");
    }
    let results = carriers(results.as_deref(), most_results, &["ops", name, "results"])?;
    Ok(GrowthRule { kind: *growth, constant, attribute, operands, results })
}

/// Returns the operands or results with the indices of a list, all of which must be below `most`.
fn carriers(list: Option<&[u32]>, most: usize, path: &[&str]) -> Result<Carriers, ModelError> {
    let Some(list) = list else { return Ok(Carriers::ByType) };
    let mut mask = 0_u64;
    for &index in list {
        if index as usize >= most {
            let what = path.last().map_or("", |it| it.trim_end_matches('s'));
            let there = match most {
                0 => format!("the op has no {what}s"),
                1 => format!("the op has one {what}, number 0"),
                _ => format!("the last {what} of the op is number {}", most - 1),
            };
            return error(path, format!("there is no {what} {index}: {there}"));
        }
        let Some(bit) = 1_u64.checked_shl(index) else {
            return error(
                path,
                format!("{index} is too large; the last one that can be named is 63"),
            );
        };
        if mask & bit != 0 {
            return error(path, format!("{index} is named twice"));
        }
        mask |= bit;
    }
    Ok(Carriers::These(mask))
}

/// Validates the inserted op. Returns the noise after it, in bits.
fn check_insert(
    insert: &InsertSpec,
    ops: &BTreeMap<String, GrowthRow>,
    fresh: Bits,
    budget: Bits,
) -> Result<Bits, ModelError> {
    let Some(op) = ops.get(&insert.op) else {
        return error(&["insert", "op"], format!("no row in `ops` describes `{}`", insert.op));
    };
    if op.growth != GrowthKind::Reset {
        let message = format!("the growth of `{}` must be `reset`", insert.op);
        return error(&["insert", "op"], message);
    }
    // The attributes in the text of the inserted op are not read, so its level cannot depend on
    // one.
    let level = match (op.level, &op.attribute) {
        (Some(level), _) => level,
        (None, None) => fresh,
        (None, Some(_)) => {
            return error(&["ops", &insert.op, "level"], "the inserted op needs a level");
        }
    };
    if level > budget {
        let message =
            format!("{level} is over the budget of {budget}: inserting it would not help");
        return error(&["ops", &insert.op, "level"], message);
    }
    if insert.cost == 0 {
        return error(
            &["insert", "cost"],
            "at least 1: an op without cost would be inserted everywhere",
        );
    }
    if let Some(text) = &insert.text {
        let count = |what: &str| text.matches(what).count();
        if count("{result}") != 1 || count("{operand}") != 1 {
            return error(
                &["insert", "text"],
                "`{result}` and `{operand}` must occur in it exactly once",
            );
        }
        if text.contains(['\n', '\r']) || text.contains("//") {
            return error(&["insert", "text"], "one line without a comment");
        }
        if !text.contains(insert.op.as_str()) {
            return error(&["insert", "text"], format!("`{}` does not occur in it", insert.op));
        }
    }
    Ok(level)
}

/// Returns a template with its placeholders replaced.
pub(super) fn fill(text: &str, result: &str, operand: &str, ty: &str) -> String {
    let mut out = String::with_capacity(text.len() + 32);
    let mut rest = text;
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let places = [("{result}", result), ("{operand}", operand), ("{type}", ty)];
        match places.iter().find(|it| rest.starts_with(it.0)) {
            Some((place, by)) => {
                out.push_str(by);
                rest = &rest[place.len()..];
            }
            None => {
                out.push('{');
                rest = &rest[1..];
            }
        }
    }
    out.push_str(rest);
    out
}
