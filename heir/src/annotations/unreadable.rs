//! Finds attributes of ops that levels, polynomials or scales depend on, and that are missing or
//! unreadable.
//!
//! *Law.* The value of an unreadable attribute is unknown, never the default. *Cost.* Linear in the
//! attributes of the op. A `mgmt.mgmt` without a level is reported separately
//! (`text/annotation.rs`).

use std::ops::Range;

use noisy_syntax::{Attr, AttrData, Ir, Op, OpKind, Source};

use crate::facts::ciphertext;
use crate::facts::value_range::{self, StatedRange};
use crate::ops::catalogue::LevelRule;
use crate::ops::rules;
use crate::text::annotation::{self, AnnotationHolder, WrittenNumber};
use crate::text::places;
use noisy_dataflow::attributes::{self, ValueSide};

/// A missing or unreadable attribute of an op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnreadableAttribute {
    /// The attribute, or the key in an annotation.
    pub key: &'static str,
    /// The holder of the annotation, if the key is in an annotation.
    holder: Option<AnnotationHolder>,
    /// The rest of the message: the expected value, and the fact that is unknown without it.
    pub message: &'static str,
}

impl UnreadableAttribute {
    /// Returns the range of the key in the text of its op, or of the whole attribute if it is the
    /// range of an argument; `None` if it is missing or written in an alias.
    pub fn key_range(&self, source: &Source, op: Op) -> Option<Range<usize>> {
        match self.holder {
            Some(holder) => {
                Some(places::annotation_place(source, holder)?.entry(self.key)?.key_range.clone())
            }
            None if self.key == value_range::RANGE_ATTRIBUTE => {
                let all = attributes::listed_attributes(source, op, self.key).into_iter();
                let mut all = all.filter(|it| it.0 == ValueSide::Argument);
                Some(all.find(|it| is_unreadable_range(source.ir(), op, it.1))?.2.whole)
            }
            None => Some(attributes::own_attribute(source, op, self.key)?.name),
        }
    }
}

/// Returns true if the range that an argument of a function states is unreadable.
fn is_unreadable_range(ir: &Ir, function: Op, index: usize) -> bool {
    value_range::stated_range(ir, function, index) == Some(StatedRange::Unreadable)
}

/// Returns the first missing or unreadable attribute of an op.
pub(crate) fn first_unreadable(ir: &Ir, op: Op) -> Option<UnreadableAttribute> {
    let own = |key, message| Some(UnreadableAttribute { key, holder: None, message });
    match rules::level_rule(ir.op_name(op)) {
        Some(LevelRule::Drop(_, Some(key)))
            if ir
                .attr(op, key)
                .is_some_and(|it| ciphertext::n_dropped_levels(ir, it).is_none()) =>
        {
            return own(key, "is not a number of levels, so later levels are unknown");
        }
        Some(LevelRule::Chebyshev) => {
            let key = ciphertext::COEFFICIENTS;
            let Some(attr) = ir.attr(op, key) else {
                return own(key, "is missing, so later levels are unknown");
            };
            if ciphertext::n_coefficients(ir, attr).is_none() {
                return own(key, "is not a list, so later levels are unknown");
            }
        }
        _ => {}
    }
    if ir.op(op).kind == OpKind::FuncFunc
        && ir.interner.find_name(value_range::RANGE_ATTRIBUTE).is_some()
        && attributes::dictionaries(ir, op).iter().any(|&(side, index, _)| {
            side == ValueSide::Argument && is_unreadable_range(ir, op, index)
        })
    {
        return own(
            value_range::RANGE_ATTRIBUTE,
            "is not a list of a lower and an upper bound, so the range of the argument is not known",
        );
    }
    for key in attributes::DICTIONARY_LISTS {
        let is_bad = |attr: Attr| match ir.interner.attr_data(attr) {
            AttrData::Array(all) => {
                let is_dict = |it: &Attr| matches!(ir.interner.attr_data(*it), AttrData::Dict(_));
                !all.iter().all(is_dict)
            }
            _ => true,
        };
        if ir.attr(op, key).is_some_and(is_bad) {
            let message =
                "is not a list of dictionaries, so the levels and scales in it are unknown";
            return own(key, message);
        }
    }
    let keys = [
        ("dimension", "of `mgmt.mgmt` is not a number of polynomials, so it is not compared"),
        ("scale", "of `mgmt.mgmt` is not a number, so later scales are unknown"),
    ];
    // An annotation that is not a list of keys has no level, which is reported separately.
    let is_list = |attr: Attr| match ir.interner.attr_data(attr) {
        AttrData::Text(text, _) => annotation::annotation_body(ir.interner.str(*text)).is_some(),
        _ => false,
    };
    let is_bad = |attr: Attr, key| {
        is_list(attr) && annotation::read_number(ir, attr, key) == WrittenNumber::Unreadable
    };
    keys.into_iter().find_map(|(key, message)| {
        let found = annotation::annotations(ir, op).find(|it| is_bad(it.1, key))?;
        Some(UnreadableAttribute { key, holder: Some(found.0), message })
    })
}
