//! What analyses of numbers stand on: scheme parameters, levels, and what `mgmt.mgmt` says in the text.

use std::fmt;

use noisy_syntax::{Attr, AttrData, Block, Def, Form, Ir, Op, OpKind, Value};

use super::Heir;
use super::params::SchemeParams;
use super::scheme::{Scheme, Setting};
use crate::noise::contract::{self, Side};
use crate::view::View;

/// The scheme of a module, and its parameters.
pub(super) fn params(setting: &Setting) -> Option<(Scheme, &SchemeParams)> {
    Some((setting.scheme?, setting.params.as_ref()?.as_ref().ok()?))
}

/// How many levels are left for a value: what `mgmt.mgmt` says of it, else what the levels that are used leave of the moduli.
pub(super) fn left(ir: &Ir, heir: &Heir, value: Value) -> Option<usize> {
    if let Some(level) = annotated(ir, value, "level") {
        return usize::try_from(level).ok();
    }
    if let Some(level) = heir.level_by_type(ir, value) {
        return Some(level);
    }
    if let Def::Argument(block, _) = ir.value(value).def
        && let Some(from) = forwarded(ir, block, value)
    {
        return left(ir, heir, from);
    }
    let used = usize::try_from(heir.level(ir, value)?).ok()?;
    params(heir.setting_for(ir, value)?)?.1.max_level().checked_sub(used)
}

/// The value that a region takes as an argument once, if it does.
pub(super) fn forwarded(ir: &Ir, block: Block, value: Value) -> Option<Value> {
    let holder = ir.region(ir.block(block).region).parent?;
    match crate::flow::feeders(ir, value).as_slice() {
        [(op, from)] if *op == holder => Some(*from),
        _ => None,
    }
}

/// What holds the annotation of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holder {
    /// The op that gives it, for all that it gives.
    Op(Op),
    /// An op that lists the annotations of what its region takes: a function of its arguments, others of their operands.
    Taken(Op, usize),
    /// An op that lists the annotations of its results, or a function.
    Given(Op, usize),
}

impl Holder {
    /// The op in whose text the annotation stands.
    pub(crate) fn op(self) -> Op {
        match self {
            Holder::Op(op) | Holder::Taken(op, _) | Holder::Given(op, _) => op,
        }
    }
}

/// A number in `#mgmt.mgmt<level = 3, dimension = 2, scale = 45>` on what defines a value.
pub(super) fn annotated(ir: &Ir, value: Value, key: &str) -> Option<u32> {
    held(ir, value, key).map(|it| it.1)
}

/// What `mgmt.mgmt` says of a ciphertext of two polynomials.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Annotation {
    /// The levels that are left.
    pub(crate) level: u32,
    /// The logarithm to base 2 of the scale in CKKS, else the scale.
    pub(crate) scale: Option<u32>,
}

/// What is written on a value; `None` if that is no level.
pub(crate) fn annotation(ir: &Ir, value: Value) -> Option<Annotation> {
    let level = annotated(ir, value, "level")?;
    Some(Annotation { level, scale: annotated(ir, value, "scale") })
}

impl fmt::Display for Annotation {
    /// As HEIR writes it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { level, scale } = self;
        match scale {
            Some(scale) => write!(f, "mgmt.mgmt = #mgmt.mgmt<level = {level}, scale = {scale}>"),
            None => write!(f, "mgmt.mgmt = #mgmt.mgmt<level = {level}>"),
        }
    }
}

/// As [`annotated`], with what holds it.
fn held(ir: &Ir, value: Value, key: &str) -> Option<(Holder, u32)> {
    let (holder, attr) = holder(ir, value)?;
    Some((holder, number(ir, attr, key)?))
}

/// The `mgmt.mgmt` of a value, and what holds it.
pub(super) fn holder(ir: &Ir, value: Value) -> Option<(Holder, Attr)> {
    match ir.value(value).def {
        Def::Result(op, index) => {
            let index = index as usize;
            let listed = listed(ir, op, Side::Result, index);
            let listed = listed.map(|it| (Holder::Given(op, index), it));
            listed.or_else(|| Some((Holder::Op(op), ir.attr(op, "mgmt.mgmt")?)))
        }
        Def::Argument(block, index) => {
            let region = ir.block(block).region;
            let holder = ir.region(region).parent?;
            if crate::flow::entry_block(ir, region) != block {
                return None;
            }
            let at = match ir.op(holder).kind {
                OpKind::FuncFunc => index as usize,
                _ => {
                    let feeding = crate::flow::feeding_operands(ir, value);
                    feeding.into_iter().find(|it| it.0 == holder)?.1
                }
            };
            Some((Holder::Taken(holder, at), listed(ir, holder, Side::Argument, at)?))
        }
    }
}

/// The `mgmt.mgmt` of a result of a function, with the value that is returned; none if that is another one at each return.
pub(super) fn returned(ir: &Ir, function: Op, index: usize) -> Option<(Value, Attr)> {
    let attr = listed(ir, function, Side::Result, index)?;
    let ends = crate::flow::yields(ir, crate::flow::body(ir, function)?);
    let [end] = ends.as_slice() else { return None };
    Some((ir.op(*end).operands.get(index)?.value?, attr))
}

/// As [`annotated`], on what an op gives.
pub(super) fn on_result(ir: &impl View, op: Op, key: &str) -> Option<u32> {
    number(ir, ir.attr(op, "mgmt.mgmt")?, key)
}

/// As [`annotated`], on an argument of a function.
pub(super) fn on_argument(ir: &impl View, function: Op, index: usize, key: &str) -> Option<u32> {
    number(ir, listed(ir, function, Side::Argument, index)?, key)
}

fn listed(ir: &impl View, op: Op, side: Side, index: usize) -> Option<Attr> {
    in_dictionary(ir, contract::dictionary(ir, op, side, index)?)
}

/// The annotation in a dictionary.
fn in_dictionary(ir: &impl View, dict: Attr) -> Option<Attr> {
    let AttrData::Dict(entries) = ir.interner().attr_data(dict) else { return None };
    let found = entries.iter().find(|it| ir.interner().str(it.0) == "mgmt.mgmt")?;
    Some(found.1)
}

/// Whether an op has an annotation without a level that can be read, for itself or for one of what it takes or gives.
pub(super) fn is_unreadable(ir: &Ir, op: Op) -> bool {
    let is_bad = |attr: Attr| match ir.interner.attr_data(attr) {
        AttrData::Text(text, _) => {
            let text = ir.interner.str(*text);
            let keys = text.split(['<', ',']).skip(1);
            let n_levels = keys.filter(|it| it.trim_start().starts_with("level")).count();
            n_levels != 1 || level_in(text).is_none()
        }
        _ => true,
    };
    annotations(ir, op).any(is_bad)
}

/// All `mgmt.mgmt` of an op, its own and those that it lists.
pub(super) fn annotations(ir: &Ir, op: Op) -> impl Iterator<Item = Attr> {
    let listed = contract::dictionaries(ir, op).into_iter();
    ir.attr(op, "mgmt.mgmt").into_iter().chain(listed.filter_map(|it| in_dictionary(ir, it)))
}

/// Whether a `mgmt.mgmt` has a key whose value is no number, or has it twice.
pub(super) fn is_garbled(ir: &Ir, attr: Attr, key: &str) -> bool {
    let AttrData::Text(text, _) = ir.interner.attr_data(attr) else { return false };
    let entries = ir.interner.str(*text).split(['<', ',', '>']).skip(1);
    // HEIR writes -1 for a scale that nothing says.
    let least = if key == "scale" { -1 } else { 0 };
    let mut values = entries.filter_map(|it| it.trim().strip_prefix(key));
    let is_number = |it: &str| {
        let number = it.trim_start().strip_prefix('=').map(|it| it.trim().parse::<i64>());
        number.is_some_and(|it| it.is_ok_and(|it| it >= least && it <= i64::from(u32::MAX)))
    };
    values.next().is_some_and(|it| !is_number(it)) || values.next().is_some()
}

fn level_in(text: &str) -> Option<u32> {
    in_text(text, "level").filter(|&it| it <= MOST_LEVELS)
}

/// The polynomials of an annotation that does not say how many they are.
pub(super) const UNSAID_DIMENSION: u32 = 2;

/// More levels than any program has.
const MOST_LEVELS: u32 = 1 << 30;

/// A number in a `mgmt.mgmt`.
pub(super) fn number(ir: &impl View, attr: Attr, key: &str) -> Option<u32> {
    let AttrData::Text(text, _) = ir.interner().attr_data(attr) else { return None };
    let text = ir.interner().str(*text);
    if key == "level" { level_in(text) } else { in_text(text, key) }
}

/// A number in the text of a `#mgmt.mgmt<...>`.
pub(super) fn in_text(text: &str, key: &str) -> Option<u32> {
    let body = &text[text.find('<')? + 1..];
    let body = body.split('>').next()?;
    let entry = body.split(',').find_map(|it| it.trim().strip_prefix(key))?;
    entry.trim_start().strip_prefix('=')?.trim().parse().ok()
}

/// The facts of the operands of an op without those that are names of arguments in the header of an op whose form is not known.
pub(crate) fn known<F: Copy>(ir: &impl View, op: Op, operands: &[F]) -> Vec<F> {
    let data = ir.op(op);
    let is_operand = |it: &noisy_syntax::Operand| {
        it.value.is_some() || !(it.maybe_argument && data.form == Form::Opaque)
    };
    data.operands.iter().zip(operands).filter(|it| is_operand(it.0)).map(|it| *it.1).collect()
}
