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

use self::typed::{Fault, Signature, Typed, is_guess};
pub(crate) use self::typed::{SchemeTypes, Target, is_of_scheme};
use self::words::counted;
use crate::facts::plaintext;
use crate::text::scheme_type::SchemeType;
use crate::verdict::requirements::{self, Condition, Requirement};

/// An op or a value whose type HEIR refuses.
#[derive(Clone, Debug)]
pub struct Mistyped {
    /// The op.
    pub op: Op,
    /// The index of the operand at which the contradiction is reported; `None` for the op itself.
    pub at: Option<u32>,
    /// The values with the types in question.
    pub values: SmallVec<[Value; 2]>,
    /// The contradiction.
    pub message: String,
    /// The requirement that does not hold.
    pub requirement: &'static Requirement,
    /// The type, if it is invalid itself, independent of its use.
    pub(crate) ty: Option<Type>,
}

impl Fault {
    fn of(self, op: Op, requirement: &'static Requirement) -> Mistyped {
        let Self { at, values, message } = self;
        Mistyped { op, at, values, message, requirement, ty: None }
    }
}

/// Returns true if an op does not meet a requirement on types, for some target. *Cost.* Ops with
/// the same signature are checked once.
pub(crate) fn is_mistyped(ir: &Ir, types: &mut SchemeTypes, op: Op) -> bool {
    let signature = is_of_scheme(ir, op).then(|| Signature::of(ir, op));
    if signature.as_ref().is_some_and(|it| types.sound.contains(it)) {
        return false;
    }
    let found = mistyped(ir, Target::ANY, types, op);
    if found.is_none() {
        types.sound.extend(signature);
    }
    found.is_some()
}

/// Returns the first requirement on types that an op does not meet.
pub(crate) fn mistyped(
    ir: &Ir,
    target: Target,
    types: &mut SchemeTypes,
    op: Op,
) -> Option<Mistyped> {
    let alias = match ir.extra(op).alias {
        Some(Alias::Type(ty)) => Some((ty, None)),
        _ => None,
    };
    let values = plaintext::defined(ir, op).into_iter().map(|it| (ir.value(it).ty, Some(it)));
    for (ty, value) in alias.into_iter().chain(values) {
        let Some(read) = types.of(ir, ty) else { continue };
        let name = || value.map_or(ir.op_name(op).to_owned(), |it| ir.value_text(it));
        if let Some((condition, message)) = invalid(&name, &read) {
            let requirement = requirements::of_each_type(condition)?;
            let values = value.into_iter().collect();
            return Some(Mistyped { op, at: None, values, message, requirement, ty: Some(ty) });
        }
    }
    // Terminators and calls state the types of the results of ops of a scheme.
    let is_given = |it: Value| ir.value(it).guessed && !is_guess(ir, it);
    let operands = &ir.op(op).operands;
    let is_scheme = is_of_scheme(ir, op);
    let is_judged = is_scheme || operands.iter().any(|it| it.value.is_some_and(is_given));
    if !is_judged || operands.iter().any(|it| it.value.is_none()) {
        return None;
    }
    let this = Typed::new(ir, target, types, op);
    if let Some(it) = this.stated_types() {
        return Some(it.of(op, requirements::of_each_type(Condition::StatedTypes)?));
    }
    let mut rows = requirements::of_types(ir.op_name(op)).filter(|_| is_scheme);
    rows.find_map(|it| Some(this.broken(it.condition)?.of(op, it)))
}

/// Returns a contradiction within the type of a value.
fn invalid(name: &dyn Fn() -> String, ty: &SchemeType) -> Option<(Condition, String)> {
    let space = match ty {
        SchemeType::Ciphertext(it) => {
            if it.slot != 0 && it.size != 2 {
                let message = format!(
                    "{} has {} polynomials under a rotated key, which takes 2",
                    name(),
                    it.size
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
                    counted(n, "modulus", "moduli"),
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
        && let (Some(t), Some(n)) = (space.ring.single_modulus(), space.ring.cyclotomic())
        && n > 1
        && t % n != 1
    {
        let message =
            format!("{} packs {n} slots, but its plaintext modulus {t} is not 1 mod {n}", name());
        return Some((Condition::PackedModulus, message));
    }
    None
}
