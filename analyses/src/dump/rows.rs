//! Facts as rows of plain data, for other tools: one row for each named value and each analysis
//! with a fact about it.
//!
//! Unreachable values have no rows. A row is a JSON object: `row` and `column` (from 1, in
//! characters) of the name at its definition, `value` as in uses, `function` without `@`, `model`
//! (the analysis), and the fact. Integers beyond 2^53 are strings, because some JSON readers round
//! them.

use noisy_syntax::{Ir, Region, Value};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::facts::noise::model::Bits;
use crate::program::depth::Depth;
use crate::program::secretness::Secretness;
use crate::{Document, Noise};
use noisy_heir::{Ciphertext, HeirNoise};
use noisy_integers::constant::Constant;

/// The fact of an analysis about a value.
#[derive(Clone, Debug, PartialEq)]
pub struct FactRow {
    /// The line of the definition, from 1.
    pub row: usize,
    /// The column of the definition, from 1, in characters.
    pub column: usize,
    /// The name of the value as in its uses: `%3`, `%a#1`.
    pub value: String,
    /// The name of the enclosing function, without `@`.
    pub function: Option<String>,
    pub model: &'static str,
    pub fact: RowFact,
}

/// A fact about a value.
#[derive(Clone, Debug, PartialEq)]
pub enum RowFact {
    /// An integer between two bounds, both included.
    IntegerRange {
        /// The lower bound.
        lo: i128,
        /// The upper bound, if there is one.
        hi: Option<i128>,
    },
    /// The number that HEIR writes by default if a level or dimension is unknown.
    HeirDefault(u32),
    /// An upper bound of noise in bits, and the budget.
    NoiseBound {
        /// The upper bound; `None` if the noise is unbounded.
        hi: Option<f64>,
        /// The largest legal noise, if it is known.
        budget: Option<f64>,
    },
    /// A real number between two bounds, both included.
    RealRange {
        /// The lower bound.
        lo: f64,
        /// The upper bound.
        hi: f64,
    },
    /// A constant, as text.
    Constant(String),
    Unknown,
    /// A number that depends on the order in which HEIR visits ops.
    OrderDependent,
}

/// The largest integer that all JSON readers keep exactly.
const EXACT: i128 = 1 << 53;

struct Number(i128);

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match i64::try_from(self.0) {
            Ok(small) if self.0.abs() <= EXACT => serializer.serialize_i64(small),
            _ => serializer.collect_str(&self.0),
        }
    }
}

impl Serialize for FactRow {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("row", &self.row)?;
        map.serialize_entry("column", &self.column)?;
        map.serialize_entry("value", &self.value)?;
        if let Some(function) = &self.function {
            map.serialize_entry("function", function)?;
        }
        map.serialize_entry("model", self.model)?;
        match &self.fact {
            RowFact::IntegerRange { lo, hi } => {
                map.serialize_entry("lo", &Number(*lo))?;
                map.serialize_entry("hi", &hi.map(Number))?;
            }
            RowFact::HeirDefault(n) => {
                map.serialize_entry("lo", &0)?;
                map.serialize_entry("hi", n)?;
                map.serialize_entry("default", &true)?;
            }
            RowFact::NoiseBound { hi, budget } => {
                map.serialize_entry("lo", &0)?;
                map.serialize_entry("hi", hi)?;
                if let Some(budget) = budget {
                    map.serialize_entry("budget", budget)?;
                }
            }
            RowFact::RealRange { lo, hi } => {
                map.serialize_entry("lo", lo)?;
                map.serialize_entry("hi", hi)?;
            }
            RowFact::Constant(text) => map.serialize_entry("constant", text)?,
            RowFact::Unknown => map.serialize_entry("unknown", &true)?,
            RowFact::OrderDependent => {
                map.serialize_entry("unknown", &true)?;
                map.serialize_entry("unchecked", &true)?;
            }
        }
        map.end()
    }
}

/// Passes every row to `give`, in textual order.
pub fn for_each_row(document: &Document, give: &mut dyn FnMut(FactRow)) {
    let (ir, integers) = (document.ir(), document.integers());
    let heir = document.heir();
    let solved = document.heir_noise_of_all_models();
    let noise: Vec<HeirNoise<'_>> =
        heir.map_or(Vec::new(), |it| solved.iter().map(|of| HeirNoise::new(ir, it, of)).collect());
    let scales = document.scales();
    let ranges = document.ranges();
    let mut of = |value: Value, function: Option<&str>| {
        let Some((row, column)) = position(document, value) else { return };
        let name = ir.value_text(value);
        let mut say = |model: &'static str, fact: RowFact| {
            let function = function.map(str::to_owned);
            give(FactRow { row, column, value: name.clone(), function, model, fact });
        };
        if document.is_noisy(value) {
            match *document.noise(value) {
                Noise::Bottom => {}
                Noise::Unknown => say("noise", RowFact::Unknown),
                Noise::AtMost(hi) => {
                    let hi = (hi < Bits::MAX).then(|| hi.into());
                    say("noise", RowFact::IntegerRange { lo: 0, hi });
                }
            }
        }
        match integers.constant(ir, value) {
            Constant::Bottom | Constant::Unknown => {}
            known => say("constant", RowFact::Constant(known.to_string())),
        }
        if let Some(it) = integers.bounds(ir, value) {
            say("signed", RowFact::IntegerRange { lo: it.smin.into(), hi: Some(it.smax.into()) });
            say("unsigned", RowFact::IntegerRange { lo: it.umin.into(), hi: Some(it.umax.into()) });
        }
        match document.depth(value) {
            Depth::Bottom | Depth::Public => {}
            Depth::AtMost(n) => say("depth", RowFact::IntegerRange { lo: 0, hi: Some(n.into()) }),
            Depth::Unbounded => say("depth", RowFact::IntegerRange { lo: 0, hi: None }),
            Depth::Unknown => say("depth", RowFact::Unknown),
        }
        match document.secretness(value) {
            Secretness::Bottom => {}
            Secretness::Public => say("secret", RowFact::IntegerRange { lo: 0, hi: Some(0) }),
            Secretness::Secret => say("secret", RowFact::IntegerRange { lo: 0, hi: Some(1) }),
        }
        if let Some(it) = ranges.and_then(|it| it.of(value)) {
            let (lo, hi) = it.bounds();
            say("range", RowFact::RealRange { lo, hi });
        }
        let Some(heir) = heir else { return };
        let whole = |n: i128| RowFact::IntegerRange { lo: 0, hi: Some(n) };
        let is_encrypted = matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. });
        match (heir.level(ir, value), heir.annotated_level(ir, value)) {
            (Some(level), _) => say("level", whole(level.into())),
            (None, Some(written)) => say("level", RowFact::HeirDefault(written)),
            (None, None) if is_encrypted && heir.is_level_unchecked(value) => {
                say("level", RowFact::OrderDependent);
            }
            (None, None) => {}
        }
        match (heir.dimension(ir, value), heir.annotated_dimension(ir, value)) {
            (Some(dimension), _) => say("dimension", whole(dimension.into())),
            (None, Some(written)) => say("dimension", RowFact::HeirDefault(written)),
            (None, None) if is_encrypted && heir.is_dimension_unchecked(value) => {
                say("dimension", RowFact::OrderDependent);
            }
            (None, None) => {}
        }
        if let Some(scale) = scales.as_ref().and_then(|it| it.log2(value)) {
            say("scale", RowFact::IntegerRange { lo: scale.into(), hi: Some(scale.into()) });
        }
        for it in &noise {
            if let Some(bits) = it.bits(value) {
                let hi = bits.is_finite().then_some(bits);
                say(it.name(), RowFact::NoiseBound { hi, budget: it.budget(value) });
            }
        }
    };
    for chunk in ir.items(ir.root()) {
        for &(_, region) in &ir.op(chunk).regions {
            visit_values(document, region, None, &mut of);
        }
    }
}

fn visit_values(
    document: &Document,
    region: Region,
    function: Option<&str>,
    of: &mut dyn FnMut(Value, Option<&str>),
) {
    let ir = document.ir();
    for block in ir.blocks(region) {
        for &value in &ir.block(block).args {
            of(value, function);
        }
        for op in ir.block_ops(block) {
            for &value in &ir.op(op).results {
                of(value, function);
            }
            let name = document.function_name(op);
            let inner = if is_function(ir, op) { Some(name.as_str()) } else { function };
            for &(_, region) in &ir.op(op).regions {
                visit_values(document, region, inner, of);
            }
        }
    }
}

fn is_function(ir: &Ir, op: noisy_syntax::Op) -> bool {
    ir.op(op).kind == noisy_syntax::OpKind::FuncFunc
}

/// Returns line and column, from 1, of the name of a value at its definition; `None` for a value
/// without a name.
fn position(document: &Document, value: Value) -> Option<(usize, usize)> {
    let ir = document.ir();
    let data = ir.value(value);
    if data.name == noisy_syntax::Name::EMPTY {
        return None;
    }
    let start = ir.absolute(ir.definition_site(value)?, data.span).start;
    let text = document.source().text();
    let row = text.byte_to_line(start);
    Some((row + 1, text.byte_to_char(start) - text.line_to_char(row) + 1))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        let document = Document::new(text);
        for_each_row(&document, &mut |row| {
            out.push(serde_json::to_string(&row).unwrap_or_default());
        });
        out
    }

    #[test]
    fn every_model_has_a_row() {
        let text = "func.func @f(%x: !noisy.i32) {\n  %0 = noisy.mul %x, %x : !noisy.i32\n  %c = arith.constant 7 : i8\n  return\n}\n";
        expect![[r#"
            {"row":1,"column":14,"value":"%x","function":"f","model":"noise","lo":0,"hi":12}
            {"row":1,"column":14,"value":"%x","function":"f","model":"depth","lo":0,"hi":0}
            {"row":1,"column":14,"value":"%x","function":"f","model":"secret","lo":0,"hi":1}
            {"row":2,"column":3,"value":"%0","function":"f","model":"noise","lo":0,"hi":24}
            {"row":2,"column":3,"value":"%0","function":"f","model":"depth","lo":0,"hi":1}
            {"row":2,"column":3,"value":"%0","function":"f","model":"secret","lo":0,"hi":1}
            {"row":3,"column":3,"value":"%c","function":"f","model":"constant","constant":"7"}
            {"row":3,"column":3,"value":"%c","function":"f","model":"signed","lo":7,"hi":7}
            {"row":3,"column":3,"value":"%c","function":"f","model":"unsigned","lo":7,"hi":7}
            {"row":3,"column":3,"value":"%c","function":"f","model":"secret","lo":0,"hi":0}"#]]
        .assert_eq(&lines(text).join("\n"));
    }

    #[test]
    fn large_integers_are_strings_and_missing_bounds_are_null() {
        let rows = lines(
            "func.func @f(%n: i64, %u: index, %x: !noisy.i32) -> !noisy.i32 {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  \
             %r = scf.for %i = %c0 to %u step %c1 iter_args(%a = %x) -> (!noisy.i32) {\n    %s = noisy.add %a, %a : !noisy.i32\n    scf.yield %s : !noisy.i32\n  }\n  \
             %o = other.op %x : !noisy.i32\n  return %r : !noisy.i32\n}\n",
        );
        let has = |part: &str| rows.iter().any(|it| it.contains(part));
        assert!(has(
            r#""value":"%n","function":"f","model":"unsigned","lo":0,"hi":"18446744073709551615"}"#
        ));
        assert!(has(r#""value":"%r","function":"f","model":"noise","lo":0,"hi":null}"#));
        assert!(has(r#""value":"%o","function":"f","model":"noise","unknown":true}"#));
    }

    /// Returns the rows of an analysis, as `value hi`.
    fn of_model(text: &str, model: &str) -> Vec<String> {
        let mut out = Vec::new();
        for_each_row(&Document::new(text), &mut |row| {
            let hi = match row.fact {
                RowFact::IntegerRange { hi: Some(hi), .. } => hi.to_string(),
                RowFact::IntegerRange { hi: None, .. } => "null".to_owned(),
                _ => "unknown".to_owned(),
            };
            if row.model == model {
                out.push(format!("{} {hi}", row.value));
            }
        });
        out
    }

    #[test]
    fn depth_counts_products_through_calls_and_loops() {
        let text = "func.func @f(%x: !noisy.i32, %n: index) -> !noisy.i32 {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = func.call @square(%x) : (!noisy.i32) -> !noisy.i32
  %1 = func.call @square(%0) : (!noisy.i32) -> !noisy.i32
  %2 = affine.for %i = 0 to 40 iter_args(%a = %1) -> (!noisy.i32) {
    %3 = noisy.mul %a, %x : !noisy.i32
    affine.yield %3 : !noisy.i32
  }
  %4 = scf.for %j = %c0 to %n step %c1 iter_args(%b = %x) -> (!noisy.i32) {
    %5 = noisy.mul %b, %x : !noisy.i32
    scf.yield %5 : !noisy.i32
  }
  %6 = noisy.reduce_noise %4 : !noisy.i32
  %7 = noisy.add %6, %1 : !noisy.i32
  %8 = \"other.op\"(%7) : (!noisy.i32) -> !noisy.i32
  return %2 : !noisy.i32
}
func.func private @square(%y: !noisy.i32) -> !noisy.i32 {
  %9 = noisy.mul %y, %y : !noisy.i32
  return %9 : !noisy.i32
}
";
        let expected = [
            "%x 0",
            "%0 1",
            "%1 2",
            "%2 42",
            "%a 41",
            "%3 42",
            "%4 null",
            "%b null",
            "%5 null",
            "%6 0",
            "%7 2",
            "%8 unknown",
            "%y 1",
            "%9 2",
        ];
        assert_eq!(of_model(text, "depth"), expected);
    }

    #[test]
    fn values_that_depend_on_encrypted_data_are_secret() {
        let text = "func.func @f(%x: !noisy.i32, %p: i5, %q: i5 {secret.secret}) -> i5 {
  %0 = noisy.decode %x : !noisy.i32 -> i5
  %1 = arith.addi %p, %p : i5
  %2 = arith.addi %1, %q : i5
  %3 = func.call @g(%1, %2) : (i5, i5) -> i5
  return %3 : i5
}
func.func private @g(%a: i5, %b: i5) -> i5 {
  %4 = arith.muli %a, %a : i5
  return %4 : i5
}
";
        let expected =
            ["%x 1", "%p 0", "%q 1", "%0 1", "%1 0", "%2 1", "%3 0", "%a 0", "%b 1", "%4 0"];
        assert_eq!(of_model(text, "secret"), expected);
    }

    /// Symbols are resolved only in the module of the call.
    #[test]
    fn a_call_does_not_reach_out_of_its_module() {
        let text = "func.func private @f(%x: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.mul %x, %x : !noisy.i32
  return %0 : !noisy.i32
}
module {
  func.func @g(%y: !noisy.i32) -> !noisy.i32 {
    %1 = func.call @f(%y) : (!noisy.i32) -> !noisy.i32
    return %1 : !noisy.i32
  }
}
";
        assert_eq!(of_model(text, "depth"), ["%y 0", "%1 unknown"]);
    }

    #[test]
    fn dead_values_have_no_row_and_unstated_facts_are_unknown() {
        let text = "func.func @f(%x: !noisy.i32, %k: i1) {
  affine.for %i = 5 to 5 {
    %0 = noisy.add %x, %x : !noisy.i32
  }
  affine.for %j = 5 to 6 {
    %1 = noisy.add %x, %x : !noisy.i32
  }
  %2 = scf.if %k -> (!noisy.i32) {
    scf.yield %x : !noisy.i32
  }
  \"other.br\"(%x)[^next] : (!noisy.i32) -> ()
^next(%y: !noisy.i32):
  return
}
";
        assert_eq!(of_model(text, "noise"), ["%x 12", "%1 13", "%2 unknown", "%y unknown"]);
    }

    #[test]
    fn carried_values_are_narrowed_after_widening() {
        let text = "func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c100 = arith.constant 100 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %c0) -> (index) {
    %s = arith.addi %a, %c1 : index
    %t = arith.minui %s, %c100 : index
    scf.yield %t : index
  }
  return %r : index
}
";
        let found = of_model(text, "unsigned");
        for bound in ["%r 100", "%a 100", "%s 101", "%t 100"] {
            assert!(found.iter().any(|it| it == bound), "{bound}: {found:?}");
        }
    }
}
