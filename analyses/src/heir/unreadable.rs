//! Attributes of ops that levels, polynomials or scales depend on, and that cannot be read.
//!
//! *Law.* What cannot be read is not known, never the default. *Cost.* The attributes of the op. A `mgmt.mgmt` without a level is
//! told of in `base.rs`.

use noisy_syntax::{Attr, AttrData, Ir, Op};

use super::base;
use super::catalogue::LevelRule;
use super::rows;
use crate::noise::contract;

/// What an op says and what cannot be read of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Unreadable {
    /// The attribute, or the key in it, as it stands in the text.
    pub(crate) key: &'static str,
    /// What it should be, and what is not known therefore.
    pub(crate) message: &'static str,
}

/// The first such attribute of an op.
pub(super) fn unreadable(ir: &Ir, op: Op) -> Option<Unreadable> {
    let is_int = |attr: Attr| match ir.interner.attr_data(attr) {
        AttrData::Int { value, .. } => u32::try_from(*value).is_ok(),
        _ => false,
    };
    if let Some(LevelRule::Drop(_, Some(key))) = rows::level(ir.op_name(op))
        && ir.attr(op, key).is_some_and(|it| !is_int(it))
    {
        let message = "is not a number of levels, so the level of what follows is not known";
        return Some(Unreadable { key, message });
    }
    for key in contract::LISTS {
        let is_bad = |attr: Attr| match ir.interner.attr_data(attr) {
            AttrData::Array(all) => {
                let is_dict = |it: &Attr| matches!(ir.interner.attr_data(*it), AttrData::Dict(_));
                !all.iter().all(is_dict)
            }
            _ => true,
        };
        if ir.attr(op, key).is_some_and(is_bad) {
            let message = "is not a list of dictionaries, so levels and scales in it are not known";
            return Some(Unreadable { key, message });
        }
    }
    let keys = [
        ("dimension", "of `mgmt.mgmt` is not a number of polynomials, so 2 is taken"),
        ("scale", "of `mgmt.mgmt` is not a number, so none is taken"),
    ];
    let bad = keys
        .into_iter()
        .find(|it| base::annotations(ir, op).any(|attr| base::is_garbled(ir, attr, it.0)));
    bad.map(|(key, message)| Unreadable { key, message })
}
