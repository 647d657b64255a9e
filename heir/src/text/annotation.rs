//! Reads the annotations of HEIR (`mgmt.mgmt`), and finds the ops that hold them.

use std::fmt;

use noisy_syntax::{Attr, AttrData, Block, Def, Ir, Op, OpKind, Value};

use crate::text::entries::entries;
use crate::text::params::SchemeParams;
use crate::text::setting::{ModuleSetting, Scheme};
use noisy_dataflow::attributes::{self, ValueSide};
use noisy_dataflow::view::ProgramView;

/// Returns the scheme of a module, and its parameters.
pub(crate) fn scheme_and_params(setting: &ModuleSetting) -> Option<(Scheme, &SchemeParams)> {
    Some((setting.scheme?, setting.params.as_ref()?.as_ref().ok()?))
}

/// Returns the value that is passed to a block argument, if the op around the region passes it and
/// no other op does.
pub(crate) fn forwarded_operand(ir: &Ir, block: Block, value: Value) -> Option<Value> {
    let holder = ir.region(ir.block(block).region).parent?;
    match noisy_dataflow::flow::feeding_values(ir, value).as_slice() {
        [(op, from)] if *op == holder => Some(*from),
        _ => None,
    }
}

/// The op that holds the annotation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AnnotationHolder {
    /// The defining op, with one annotation for all of its results.
    OwnAttribute(Op),
    /// An op that lists annotations of arguments of its region, and the index in the list. For a
    /// function, the list is that of its arguments; for other ops, that of their operands.
    OfArgument(Op, usize),
    /// An op or a function that lists the annotations of its results, and the index of the result.
    OfResult(Op, usize),
}

/// Returns the number under a key of `#mgmt.mgmt<level = 3, dimension = 2, scale = 45>` on the
/// definition of a value.
pub(crate) fn annotated_number(ir: &Ir, value: Value, key: &str) -> WrittenNumber {
    find_annotation(ir, value).map_or(WrittenNumber::Absent, |it| read_number(ir, it.1, key))
}

/// The `mgmt.mgmt` of a ciphertext of two polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Annotation {
    /// The remaining levels.
    pub level: u32,
    /// The logarithm to base 2 of the scale in CKKS, the scale itself in other schemes.
    pub scale: Option<u32>,
}

/// Returns the annotation of a value; `None` if it has no level or is not readable.
pub fn annotation(ir: &Ir, value: Value) -> Option<Annotation> {
    let (_, attr) = find_annotation(ir, value)?;
    let level = read_number(ir, attr, "level").number()?;
    let scale = match read_number(ir, attr, "scale") {
        WrittenNumber::Number(it) => Some(it),
        WrittenNumber::Absent => None,
        WrittenNumber::Unreadable => return None,
    };
    Some(Annotation { level, scale })
}

impl fmt::Display for Annotation {
    /// Writes the annotation in HEIR's syntax.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, scale } = self;
        match scale {
            Some(scale) => write!(f, "mgmt.mgmt = #mgmt.mgmt<level = {level}, scale = {scale}>"),
            None => write!(f, "mgmt.mgmt = #mgmt.mgmt<level = {level}>"),
        }
    }
}

/// Returns the `mgmt.mgmt` of a value, and its holder.
pub(crate) fn find_annotation(ir: &Ir, value: Value) -> Option<(AnnotationHolder, Attr)> {
    match ir.value(value).def {
        Def::Result(op, index) => {
            let index = index as usize;
            let listed = listed_annotation(ir, op, ValueSide::Result, index);
            let listed = listed.map(|it| (AnnotationHolder::OfResult(op, index), it));
            listed.or_else(|| Some((AnnotationHolder::OwnAttribute(op), ir.attr(op, "mgmt.mgmt")?)))
        }
        Def::Argument(block, index) => {
            let region = ir.block(block).region;
            let holder = ir.region(region).parent?;
            if noisy_dataflow::flow::entry_block(ir, region) != block {
                return None;
            }
            let at = match ir.op(holder).kind {
                OpKind::FuncFunc => index as usize,
                _ => {
                    let feeding = noisy_dataflow::flow::feeding_operands(ir, value);
                    feeding.into_iter().find(|it| it.0 == holder)?.1
                }
            };
            Some((
                AnnotationHolder::OfArgument(holder, at),
                listed_annotation(ir, holder, ValueSide::Argument, at)?,
            ))
        }
    }
}

/// Returns the `mgmt.mgmt` of a result of a function, and the returned value; `None` if there are
/// several returns.
pub(crate) fn returned_annotation(ir: &Ir, function: Op, index: usize) -> Option<(Value, Attr)> {
    let attr = listed_annotation(ir, function, ValueSide::Result, index)?;
    let ends =
        noisy_dataflow::flow::yield_ops(ir, noisy_dataflow::flow::function_body(ir, function)?);
    let [end] = ends.as_slice() else { return None };
    Some((ir.op(*end).operands.get(index)?.value?, attr))
}

/// Returns the number under a key of the annotation of the results of an op.
pub(crate) fn number_on_result(ir: &impl ProgramView, op: Op, key: &str) -> WrittenNumber {
    ir.attr(op, "mgmt.mgmt").map_or(WrittenNumber::Absent, |it| read_number(ir, it, key))
}

/// Returns the number under a key of the annotation of an argument of a function.
pub(crate) fn number_on_argument(
    ir: &impl ProgramView,
    function: Op,
    index: usize,
    key: &str,
) -> WrittenNumber {
    listed_annotation(ir, function, ValueSide::Argument, index)
        .map_or(WrittenNumber::Absent, |it| read_number(ir, it, key))
}

fn listed_annotation(ir: &impl ProgramView, op: Op, side: ValueSide, index: usize) -> Option<Attr> {
    annotation_in_dictionary(ir, attributes::dictionary(ir, op, side, index)?)
}

/// Returns the annotation in a dictionary.
fn annotation_in_dictionary(ir: &impl ProgramView, dict: Attr) -> Option<Attr> {
    let AttrData::Dict(entries) = ir.interner().attr_data(dict) else { return None };
    let found = entries.iter().find(|it| ir.interner().str(it.0) == "mgmt.mgmt")?;
    Some(found.1)
}

/// The keys of an annotation.
pub(crate) const ANNOTATION_KEYS: [&str; 3] = ["level", "dimension", "scale"];

/// Returns true if an op holds an annotation without a readable level.
pub fn has_unreadable_level(ir: &Ir, op: Op) -> bool {
    annotations(ir, op)
        .any(|(_, attr)| !matches!(read_number(ir, attr, "level"), WrittenNumber::Number(_)))
}

/// Returns true if an op holds an annotation without a readable level or with an unknown key.
pub(crate) fn has_unreadable_annotation(ir: &Ir, op: Op) -> bool {
    let has_unknown_key = |attr: Attr| {
        let AttrData::Text(text, _) = ir.interner.attr_data(attr) else { return false };
        let body = annotation_body(ir.interner.str(*text));
        body.is_some_and(|it| entries(it).any(|it| !ANNOTATION_KEYS.contains(&it.key)))
    };
    has_unreadable_level(ir, op) || annotations(ir, op).any(|it| has_unknown_key(it.1))
}

/// Returns all `mgmt.mgmt` that an op holds, its own and those that it lists, each with its holder.
pub(crate) fn annotations(ir: &Ir, op: Op) -> impl Iterator<Item = (AnnotationHolder, Attr)> {
    let listed =
        attributes::dictionaries(ir, op).into_iter().filter_map(move |(side, at, dict)| {
            let holder = match side {
                ValueSide::Argument => AnnotationHolder::OfArgument(op, at),
                ValueSide::Result => AnnotationHolder::OfResult(op, at),
            };
            Some((holder, annotation_in_dictionary(ir, dict)?))
        });
    let own = ir.attr(op, "mgmt.mgmt").map(|it| (AnnotationHolder::OwnAttribute(op), it));
    own.into_iter().chain(listed)
}

/// The number under a key of a `mgmt.mgmt`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WrittenNumber {
    /// There is no entry.
    Absent,
    /// The entry is a number.
    Number(u32),
    /// The entry is not a number, or there are several entries.
    Unreadable,
}

impl WrittenNumber {
    /// Returns the number, if the entry is one.
    pub(crate) fn number(self) -> Option<u32> {
        match self {
            WrittenNumber::Number(it) => Some(it),
            _ => None,
        }
    }
}

/// The number of polynomials if an annotation states none.
pub(crate) const DEFAULT_DIMENSION: u32 = 2;

/// The largest level that is accepted; no program has as many levels.
const MAX_LEVELS: u32 = 1 << 30;

/// Returns the text of a `#mgmt.mgmt<...>` from its `<` on; `None` for another attribute. The
/// attribute may be spelled `#mgmt<mgmt<...>>`.
pub(crate) fn annotation_body(text: &str) -> Option<&str> {
    let rest = text.strip_prefix("#mgmt.mgmt");
    let rest = rest.or_else(|| text.strip_prefix("#mgmt<")?.trim_start().strip_prefix("mgmt"))?;
    rest.trim_start().starts_with('<').then_some(rest)
}

/// Returns the number under a key of a `mgmt.mgmt`.
pub(crate) fn read_number(ir: &impl ProgramView, attr: Attr, key: &str) -> WrittenNumber {
    let AttrData::Text(text, _) = ir.interner().attr_data(attr) else {
        return WrittenNumber::Unreadable;
    };
    let Some(text) = annotation_body(ir.interner().str(*text)) else {
        return WrittenNumber::Unreadable;
    };
    let mut found = entries(text).filter(|it| it.key == key);
    let Some(entry) = found.next() else { return WrittenNumber::Absent };
    let most = if key == "level" { MAX_LEVELS } else { u32::MAX };
    match entry.integer() {
        _ if found.next().is_some() => WrittenNumber::Unreadable,
        // HEIR writes -1 for an unknown scale.
        Some(-1) if key == "scale" => WrittenNumber::Absent,
        Some(it) => u32::try_from(it)
            .ok()
            .filter(|&it| it <= most)
            .map_or(WrittenNumber::Unreadable, WrittenNumber::Number),
        None => WrittenNumber::Unreadable,
    }
}
