//! Finds types of ciphertexts that contradict each other, after lowering to `ckks`, `bgv` and
//! `lwe`.
//!
//! *Law.* An op is checked by its own text and the types of its operands, as in HEIR's verifiers,
//! which also check ops without uses. A relation with an unknown type is not checked. The first
//! requirement that does not hold is reported. *Cost.* Linear in the types of the op; each type is
//! parsed once.

mod relations;
pub(crate) mod remedy;
mod spaces;
mod typed;
mod words;

use noisy_syntax::{Alias, Ir, Op, Type, Value};
use smallvec::SmallVec;

pub(crate) use self::typed::{LoweringTarget, SchemeTypes, is_scheme_op};
use self::typed::{TypeFault, TypeSignature, TypedOp, has_guessed_type};
use self::words::count_text;
use crate::facts::plaintext;
use crate::text::scheme_type::SchemeType;
use crate::verdict::requirements::{self, Condition, Requirement};

/// An op or a value whose type HEIR refuses.
#[derive(Clone, Debug)]
pub struct TypeContradiction {
    /// The op.
    pub op: Op,
    /// The index of the operand at which the contradiction is reported; `None` for the op itself.
    pub operand: Option<u32>,
    /// The values with the types in question.
    pub values: SmallVec<[Value; 2]>,
    /// The contradiction.
    pub message: String,
    /// The requirement that does not hold.
    pub requirement: &'static Requirement,
    /// The type, if it is invalid itself, independent of its use.
    pub(crate) ty: Option<Type>,
}

impl TypeFault {
    fn on_op(self, op: Op, requirement: &'static Requirement) -> TypeContradiction {
        let Self { at, values, message } = self;
        TypeContradiction { op, operand: at, values, message, requirement, ty: None }
    }
}

/// Returns true if an op does not meet a requirement on types, for some target. *Cost.* Ops with
/// the same signature are checked once.
pub(crate) fn has_type_contradiction(ir: &Ir, types: &mut SchemeTypes, op: Op) -> bool {
    let signature = is_scheme_op(ir, op).then(|| TypeSignature::of(ir, op));
    if signature.as_ref().is_some_and(|it| types.checked.contains(it)) {
        return false;
    }
    let found = type_contradiction(ir, LoweringTarget::ANY, types, op);
    if found.is_none() {
        types.checked.extend(signature);
    }
    found.is_some()
}

/// Returns the first requirement on types that an op does not meet.
pub(crate) fn type_contradiction(
    ir: &Ir,
    target: LoweringTarget,
    types: &mut SchemeTypes,
    op: Op,
) -> Option<TypeContradiction> {
    let alias = match ir.extra(op).alias {
        Some(Alias::Type(ty)) => Some((ty, None)),
        _ => None,
    };
    let values =
        plaintext::defined_values(ir, op).into_iter().map(|it| (ir.value(it).ty, Some(it)));
    for (ty, value) in alias.into_iter().chain(values) {
        let Some(read) = types.of(ir, ty) else { continue };
        let name = || value.map_or(ir.op_name(op).to_owned(), |it| ir.value_text(it));
        if let Some((condition, message)) = contradiction_in_type(&name, &read) {
            let requirement = requirements::requirement_on_each_type(condition)?;
            let values = value.into_iter().collect();
            return Some(TypeContradiction {
                op,
                operand: None,
                values,
                message,
                requirement,
                ty: Some(ty),
            });
        }
    }
    // Terminators and calls state the types of the results of ops of a scheme.
    let is_given = |it: Value| ir.value(it).is_guessed && !has_guessed_type(ir, it);
    let operands = &ir.op(op).operands;
    let is_scheme = is_scheme_op(ir, op);
    let is_judged = is_scheme || operands.iter().any(|it| it.value.is_some_and(is_given));
    if !is_judged || operands.iter().any(|it| it.value.is_none()) {
        return None;
    }
    let this = TypedOp::new(ir, target, types, op);
    if let Some(it) = this.check_stated_types() {
        return Some(it.on_op(op, requirements::requirement_on_each_type(Condition::StatedTypes)?));
    }
    let mut rows = requirements::type_requirements(ir.op_name(op)).filter(|_| is_scheme);
    rows.find_map(|it| Some(this.check_condition(it.condition)?.on_op(op, it)))
}

/// Returns a contradiction within the type of a value.
fn contradiction_in_type(
    name: &dyn Fn() -> String,
    ty: &SchemeType,
) -> Option<(Condition, String)> {
    let space = match ty {
        SchemeType::Ciphertext(it) => {
            if it.n_rotated_slots != 0 && it.n_polynomials != 2 {
                let message = format!(
                    "{} has {} polynomials under a rotated key, which takes 2",
                    name(),
                    it.n_polynomials
                );
                return Some((Condition::RotatedKey, message));
            }
            if let (Some(residues), Some(chain)) = (it.ring.residues(), &it.chain)
                && residues.len() != chain.current + 1
            {
                let n = residues.len();
                let message = format!(
                    "the ring of {} has {}, but its modulus chain is at level {}",
                    name(),
                    count_text(n, "modulus", "moduli"),
                    chain.current
                );
                return Some((Condition::LevelOfRing, message));
            }
            &it.space
        }
        SchemeType::Plaintext(it) => it,
        SchemeType::Key(_) => return None,
    };
    if space.encoding.name == "#lwe.full_crt_packing_encoding"
        && let (Some(t), Some(n)) = (space.ring.single_modulus(), space.ring.cyclotomic_degree())
        && n > 1
        && t % n != 1
    {
        let message =
            format!("{} packs {n} slots, but its plaintext modulus {t} is not 1 mod {n}", name());
        return Some((Condition::PackedModulus, message));
    }
    None
}
