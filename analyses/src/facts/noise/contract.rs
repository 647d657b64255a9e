//! Contracts: `{noisy.bound = N : i64}` on an argument or a result of a function states that its
//! noise is at most `N` bits.
//!
//! For an argument, the body assumes the bound and callers must satisfy it. For a result, the body
//! must satisfy the bound and callers may assume it, even without a body.

use std::ops::Range;

use noisy_dataflow::attributes::{dictionaries, dictionary, listed_attributes};
use noisy_syntax::{Attr, AttrData, Ir, Op, Source, Type, TypeData};
use rustc_hash::FxHashMap;

use noisy_dataflow::view::ProgramView;

pub use noisy_dataflow::attributes::ValueSide;

use crate::facts::noise::model::Bits;

/// Name of the attribute.
pub const NAME: &str = "noisy.bound";

/// The content of a contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contract {
    /// An upper bound of the noise, in bits.
    Bound(Bits),
    /// An attribute that is not a valid number of bits.
    Invalid,
}

fn in_dict(ir: &impl ProgramView, dict: Attr) -> Option<Contract> {
    let AttrData::Dict(entries) = ir.interner().attr_data(dict) else { return None };
    let name = ir.interner().find_name(NAME)?;
    let (_, attr) = entries.iter().find(|(it, _)| *it == name)?;
    Some(match ir.interner().attr_data(*attr) {
        AttrData::Int { value, .. } => {
            Bits::try_from(*value).map_or(Contract::Invalid, Contract::Bound)
        }
        _ => Contract::Invalid,
    })
}

/// Returns the contract on an argument or a result of a function.
pub fn of(ir: &impl ProgramView, function: Op, side: ValueSide, index: usize) -> Option<Contract> {
    in_dict(ir, dictionary(ir, function, side, index)?)
}

/// Returns all contracts of a function.
pub(crate) fn all(ir: &Ir, function: Op) -> Vec<(ValueSide, usize, Contract)> {
    let all = dictionaries(ir, function).into_iter();
    all.filter_map(|(side, index, dict)| Some((side, index, in_dict(ir, dict)?))).collect()
}

/// Returns true if a function states a contract.
pub(crate) fn has_contract(ir: &Ir, function: Op) -> bool {
    ir.interner.find_name(NAME).is_some() && !all(ir, function).is_empty()
}

/// Returns the types of the arguments or results of a function; empty if its type is unknown.
pub(crate) fn signature_types(ir: &Ir, function: Op, side: ValueSide) -> &[Type] {
    let Some(attr) = ir.attr(function, "function_type") else { return &[] };
    let AttrData::Type(ty) = ir.interner.attr_data(attr) else { return &[] };
    match (ir.interner.type_data(*ty), side) {
        (TypeData::Function { inputs, .. }, ValueSide::Argument) => inputs,
        (TypeData::Function { results, .. }, ValueSide::Result) => results,
        _ => &[],
    }
}

/// Text ranges of contracts. *Cost.* Consecutive queries for one function read its text once.
#[derive(Debug)]
pub struct ContractRanges<'a> {
    source: &'a Source,
    of: Option<Op>,
    found: FxHashMap<(ValueSide, usize), Range<usize>>,
}

impl<'a> ContractRanges<'a> {
    /// Creates an empty cache for the functions of a source.
    pub fn new(source: &'a Source) -> Self {
        Self { source, of: None, found: FxHashMap::default() }
    }

    /// Returns the range of a contract, `noisy.bound = 20 : i64`; that of the head of the function
    /// if the contract is not found in the text.
    pub fn of(&mut self, function: Op, side: ValueSide, index: usize) -> Range<usize> {
        if self.of != Some(function) {
            self.of = Some(function);
            let all = listed_attributes(self.source, function, NAME).into_iter();
            self.found = all.map(|(side, at, place)| ((side, at), place.whole)).collect();
        }
        let found = self.found.get(&(side, index)).cloned();
        found.unwrap_or_else(|| self.source.ir().head_range(function))
    }
}
