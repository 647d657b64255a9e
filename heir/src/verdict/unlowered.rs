//! Finds ops that HEIR's lowering has no pattern for, or whose operands it cannot type.
//!
//! *Law.* Each case has the message of the pass that refuses it, and the file of HEIR. A value
//! whose facts are not checked does not count as a ciphertext here. Edits of other ops may affect
//! the result, so the index keeps candidates, and they are checked when they are listed. *Cost.*
//! Linear in the operands; for a loop, in the uses of its initial values; for a call, in the calls
//! that may be refused.

mod calls;
mod ends;
mod patterns;
mod regions;

use noisy_syntax::{AttrData, Ir, Op, OpKind, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext_facts::CiphertextFacts;
use crate::facts::fact::{Ciphertext, Dimension, Level};
use crate::text::setting::Scheme;
use crate::verdict::out_of_range;
use calls::CallsByCallee;

/// The reason why an op is not lowered. If there are several reasons, the first variant is
/// reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum UnloweredReason {
    /// The domain of an approximation is empty.
    EmptyDomain,
    /// Two `debug.validate` have the same name.
    DuplicateName,
    /// No pattern matches the op.
    NoPattern,
    /// No pattern matches the op. It changes the shape or the layout of a ciphertext.
    Layout,
    /// A slice is not one complete row of a tensor of rank 2.
    Slice,
    /// A plaintext is inserted into ciphertexts, or a ciphertext into plaintexts.
    MixedSlice,
    /// The result of the last op of a generic or a loop is yielded twice.
    YieldedTwice,
    /// A generic yields a plaintext.
    YieldedPlain,
    /// The initial value of a loop is used in its body, where it becomes a secret.
    InitialValueInBody,
    /// The condition of an `if` is a ciphertext.
    SecretCondition,
    /// The branches of an `if` yield two values from outside, so MLIR replaces it by a select.
    FoldedToSelect,
    /// An `if` has two ciphertext results, whose types are not converted.
    TwoCiphertextResults,
    /// The branches of an `if` yield ciphertexts of different levels or numbers of polynomials.
    DifferentBranches,
    /// The operands are floats, but BGV and BFV compute on integers.
    FloatsInIntegers,
    /// The operands are scalars, but BGV and BFV compute on tensors: `heir-opt` crashes. A warning.
    ScalarInIntegers,
    /// Secret tensors have different last dimensions, which HEIR 2026.9.1 refuses in BGV. A
    /// warning.
    SlotsDiffer,
    /// A generic calls a function with a body.
    CalledBody,
    /// A generic calls a declaration that has another call.
    CalledTwice,
    /// A call passes a ciphertext with another level or number of polynomials than the argument of
    /// the function has.
    CallWithOtherNumbers,
}

impl UnloweredReason {
    /// All reasons, each with HEIR's message and the file that reports it.
    pub const ALL: [(Self, &'static str, &'static str); 19] = [
        (
            Self::EmptyDomain,
            "domain_lower must be strictly less than domain_upper",
            "lib/Transforms/PolynomialApproximation/PolynomialApproximation.cpp",
        ),
        (
            Self::DuplicateName,
            "duplicate debug.validate name",
            "lib/Dialect/Debug/Transforms/ValidateNames.cpp",
        ),
        (Self::NoPattern, ILLEGAL, "lib/Dialect/Secret/Conversions/Patterns.cpp"),
        (Self::Layout, ILLEGAL, "lib/Dialect/Secret/Conversions/Patterns.cpp"),
        (Self::Slice, ILLEGAL, "lib/Dialect/Secret/Conversions/Patterns.cpp"),
        (
            Self::MixedSlice,
            "expected scalar to be a scalar ciphertext",
            "lib/Dialect/Secret/Conversions/Patterns.cpp",
        ),
        (Self::YieldedTwice, "requires one result", "lib/Utils/ContextAwareConversionUtils.h"),
        (
            Self::YieldedPlain,
            "failed to legalize operation 'secret.conceal'",
            "lib/Dialect/Secret/Conversions/Patterns.cpp",
        ),
        (
            Self::InitialValueInBody,
            "but got '!secret.secret",
            "lib/Dialect/Secret/Transforms/DistributeGeneric.cpp",
        ),
        (Self::SecretCondition, ILLEGAL, "lib/Dialect/Secret/Transforms/DistributeGeneric.cpp"),
        (Self::FoldedToSelect, ILLEGAL, "lib/Dialect/Secret/Conversions/Patterns.cpp"),
        (
            Self::TwoCiphertextResults,
            "along control flow edge",
            "lib/Utils/ContextAwareTypeConversion.cpp",
        ),
        (
            Self::DifferentBranches,
            "types mismatch between yield op and its parent",
            "lib/Utils/ContextAwareTypeConversion.cpp",
        ),
        (
            Self::FloatsInIntegers,
            "Floating point types are not supported in BGV",
            "lib/Dialect/Secret/Conversions/SecretToBGV/SecretToBGV.cpp",
        ),
        (
            Self::ScalarInIntegers,
            "unexpected non-tensor secret type",
            "lib/Dialect/Secret/Conversions/SecretToBGV/SecretToBGV.cpp",
        ),
        (
            Self::SlotsDiffer,
            "last dimension matching ring parameter",
            "lib/Dialect/Secret/Conversions/SecretToBGV/SecretToBGV.cpp",
        ),
        (Self::CalledBody, "cannot lower call", "lib/Utils/ContextAwareConversionUtils.cpp"),
        (
            Self::CalledTwice,
            "expected exactly one caller to the callee",
            "lib/Utils/ContextAwareConversionUtils.cpp",
        ),
        (
            Self::CallWithOtherNumbers,
            "output ring basis size should be less than the input ring basis size",
            "lib/Dialect/LWE/IR/LWEOps.h",
        ),
    ];
}

const ILLEGAL: &str = "explicitly marked illegal";

/// An op that HEIR does not lower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unlowered {
    /// The op.
    pub op: Op,
    /// The index of the operand at which the op is reported.
    pub operand: u32,
    /// The reason.
    pub reason: UnloweredReason,
    /// The scheme of the module, if it names one.
    pub scheme: Option<Scheme>,
    /// The other value or op that is involved: the value of the other branch, the other call, the
    /// argument of the called function.
    pub related: Option<RelatedPlace>,
}

impl Unlowered {
    /// Returns true if the op is refused by a pass that runs before those that need parameters.
    pub(crate) fn is_refused_before_parameters(&self) -> bool {
        matches!(self.reason, UnloweredReason::EmptyDomain | UnloweredReason::DuplicateName)
    }

    /// Returns true if the lowering crashes, or fails only in some versions of HEIR.
    pub fn is_warning(&self) -> bool {
        matches!(self.reason, UnloweredReason::ScalarInIntegers | UnloweredReason::SlotsDiffer)
    }

    /// Returns true if HEIR's passes on programs without management ops may still lower the op, or
    /// unroll or inline the ops around it.
    pub(crate) fn is_possibly_lowered_later(&self, ir: &Ir) -> bool {
        match self.reason {
            UnloweredReason::Layout
            | UnloweredReason::Slice
            | UnloweredReason::MixedSlice
            | UnloweredReason::SecretCondition
            | UnloweredReason::FoldedToSelect
            | UnloweredReason::TwoCiphertextResults
            | UnloweredReason::CalledBody
            | UnloweredReason::CalledTwice
            | UnloweredReason::ScalarInIntegers
            | UnloweredReason::SlotsDiffer => true,
            UnloweredReason::YieldedTwice => !ir.is_secret_yield(self.op),
            _ => false,
        }
    }
}

/// The second location of a refusal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RelatedPlace {
    /// A value.
    Value(Value),
    /// An op.
    Op(Op),
}

/// An operand at which an op is refused, with the reason.
#[derive(Clone, Copy, Debug)]
struct RefusedOperand {
    at: u32,
    reason: UnloweredReason,
    other: Option<RelatedPlace>,
}

impl RefusedOperand {
    fn new(at: u32, reason: UnloweredReason) -> Self {
        Self { at, reason, other: None }
    }
}

/// Returns true if an op may not be lowered, according to its own text and the facts of its
/// operands. The ops around it and the uses of values are checked later: they may change without
/// the op.
pub(crate) fn is_candidate(ir: &Ir, heir: &CiphertextFacts, op: Op) -> bool {
    let kind = ir.op(op).kind;
    let is_region = ir.is_secret_generic(op) || is_loop(ir, op) || is_if(ir, op);
    let is_end = ir.is_secret_yield(op) || is_inner_terminator(ir, op);
    is_region
        || is_end
        || kind == OpKind::FuncCall
        || is_early_candidate(ir, heir, op)
        || patterns::refused(ir, heir, op).is_some()
}

/// Checks the candidates.
pub(crate) struct LoweringJudge<'a> {
    ir: &'a Ir,
    heir: &'a CiphertextFacts,
    calls: CallsByCallee,
    /// The first `debug.validate` with each name, by part of the document.
    names: FxHashMap<(usize, &'a str), Op>,
    /// The first secret that a generic takes, by part of the document.
    slots: FxHashMap<usize, Value>,
}

impl<'a> LoweringJudge<'a> {
    /// Creates a judge for all candidates, which are in textual order.
    pub(crate) fn new(ir: &'a Ir, heir: &'a CiphertextFacts, candidates: &[Op]) -> Self {
        let (mut names, mut slots) = (FxHashMap::default(), FxHashMap::default());
        for &op in candidates {
            if let Some(name) = validate_name(ir, op) {
                names.entry((heir.settings().part_index(op), name)).or_insert(op);
            }
            if ir.is_secret_generic(op)
                && let Some(value) = regions::first_tensor(ir, op)
            {
                slots.entry(heir.settings().part_index(op)).or_insert(value);
            }
        }
        Self { ir, heir, calls: CallsByCallee::new(ir, candidates), names, slots }
    }

    /// Returns the reason why a pass before the lowering refuses a candidate.
    pub(crate) fn refused_early(&self, op: Op) -> Option<Unlowered> {
        let (ir, heir) = (self.ir, self.heir);
        if !is_early_candidate(ir, heir, op) {
            return None;
        }
        let (reason, other) = match validate_name(ir, op) {
            Some(name) => {
                let &first = self
                    .names
                    .get(&(heir.settings().part_index(op), name))
                    .filter(|&&it| it != op)?;
                (UnloweredReason::DuplicateName, Some(RelatedPlace::Op(first)))
            }
            None => (UnloweredReason::EmptyDomain, None),
        };
        let scheme = heir.setting_of(op).and_then(|it| it.scheme);
        Some(Unlowered { op, operand: 0, reason, scheme, related: other })
    }

    /// Returns the reason why HEIR does not lower a candidate. For a loop, returns the refused ops
    /// in its body. Each op occurs at most once.
    pub(crate) fn unlowered(&self, op: Op) -> Vec<Unlowered> {
        let (ir, heir) = (self.ir, self.heir);
        let Some(scheme) = heir.setting_of(op).and_then(|it| it.scheme) else {
            return Vec::new();
        };
        let at = |op: Op, RefusedOperand { at, reason, other }| Unlowered {
            op,
            operand: at,
            reason,
            scheme: Some(scheme),
            related: other,
        };
        if is_loop(ir, op) {
            let uses = regions::uses_of_initial_values(ir, heir, op).into_iter();
            return uses
                .map(|it| at(it.0, RefusedOperand::new(it.1, UnloweredReason::InitialValueInBody)))
                .collect();
        }
        let found = if ir.is_secret_generic(op) {
            let slots = || self.slots.get(&heir.settings().part_index(op)).copied();
            regions::refused_secret(ir, scheme, op, &slots)
        } else if is_if(ir, op) {
            regions::refused_condition(ir, heir, op)
        } else if ir.is_secret_yield(op) {
            ends::refused_yield(ir, heir, op)
        } else if is_inner_terminator(ir, op) {
            regions::refused_branches(ir, heir, op).or_else(|| ends::yielded_twice(ir, heir, op))
        } else if ir.op(op).kind == OpKind::FuncCall {
            self.calls.refused(ir, heir, op)
        } else {
            patterns::refused(ir, heir, op).filter(|_| !patterns::may_fold(ir, op))
        };
        found.into_iter().map(|it| at(op, it)).collect()
    }
}

/// Returns the name of a `debug.validate`.
fn validate_name(ir: &Ir, op: Op) -> Option<&str> {
    if ir.op_name(op) != "debug.validate" {
        return None;
    }
    match ir.interner.attr_data(ir.attr(op, "name")?) {
        AttrData::String(name, _) => Some(ir.interner.str(*name)),
        _ => None,
    }
}

/// Returns true if a pass before the lowering may refuse an op.
fn is_early_candidate(ir: &Ir, heir: &CiphertextFacts, op: Op) -> bool {
    let is_secret = |it: Value| matches!(heir.ciphertext(it), Ciphertext::Encrypted { .. });
    validate_name(ir, op).is_some()
        || out_of_range::has_empty_domain(ir, op)
            && first_operand_where(ir, op, is_secret).is_some()
}

fn is_loop(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::ScfFor | OpKind::AffineFor)
}

fn is_if(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::ScfIf | OpKind::AffineIf)
}

/// Returns true for the terminator of a loop or a branch.
fn is_inner_terminator(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::ScfYield | OpKind::AffineYield)
}

/// Returns true if a value is a ciphertext whose facts are checked.
fn is_checked_ciphertext(heir: &CiphertextFacts, value: Value) -> bool {
    matches!(heir.ciphertext(value), Ciphertext::Encrypted { .. })
        && !heir.number_sources(value).has_unchecked()
}

/// Returns the level and the number of polynomials of a ciphertext, if they are known.
fn level_and_dimension(heir: &CiphertextFacts, value: Value) -> Option<(u32, u32)> {
    match heir.ciphertext(value) {
        Ciphertext::Encrypted { level: Level::Used(level), dimension: Dimension::Known(n) } => {
            Some((level, n))
        }
        _ => None,
    }
}

/// Returns the index of the first operand that fulfils a condition.
fn first_operand_where(ir: &Ir, op: Op, wanted: impl Fn(Value) -> bool) -> Option<u32> {
    let mut operands = (0..).zip(&ir.op(op).operands);
    operands.find(|it| it.1.value.is_some_and(&wanted)).map(|it| it.0)
}

/// Returns true if a result of an op has a use.
fn is_result_used(ir: &Ir, op: Op, at: u32) -> bool {
    let result = ir.op(op).results.get(at as usize);
    result.is_some_and(|&it| !ir.value(it).uses.is_empty())
}
