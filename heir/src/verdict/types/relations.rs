//! The relations of types that HEIR's verifiers and lowerings require.

use smallvec::SmallVec;

use super::spaces::{space_after_switch, space_of_product};
use super::typed::{LoweringTarget, TypeFault, TypedOp, ValueType};
use super::words::{
    ciphertext_words, count_text, kind_text, polynomial_count_text, ring_words, space_words,
};
use crate::text::scheme_type::{
    self, CiphertextType, Coefficients, ModulusChain, PlaintextSpace, PolynomialRing, SchemeType,
};
use crate::verdict::requirements::{self, Condition};

impl TypedOp<'_> {
    pub(super) fn check_condition(&self, condition: Condition) -> Option<TypeFault> {
        match condition {
            Condition::Ciphertexts => {
                // Shifts and keys follow the ciphertext.
                let n = if requirements::is_binary(self.name()) { 2 } else { 1 };
                let parts = self.operands.iter().take(n).chain(&self.result);
                let part = parts.into_iter().find(|it| it.kind.is_surely_not_ciphertext())?;
                let message = format!(
                    "{} is no ciphertext, but {} takes and gives ciphertexts",
                    self.text(part),
                    self.name()
                );
                Some(Self::fault(&[part], message))
            }
            Condition::OnePlaintext => self.check_one_plaintext(),
            Condition::OneRing => {
                self.check_same(|it| Some(&it.kind.ciphertext()?.ring), ring_words, "ring")
            }
            Condition::OneSpace => {
                self.check_same(|it| it.kind.space(), space_words, "plaintext space")
            }
            Condition::OneType => {
                self.check_same(|it| it.kind.ciphertext(), ciphertext_words, "type of ciphertexts")
            }
            Condition::SizeOfProduct => {
                let n = match (self.two_ciphertexts(), self.ciphertext_and_plaintext()) {
                    (Some((a, b)), _) => (a.n_polynomials + b.n_polynomials).saturating_sub(1),
                    (_, Some((a, _))) => a.n_polynomials,
                    _ => return None,
                };
                let has = self.result.as_ref()?.kind.ciphertext()?.n_polynomials;
                if has == n {
                    None
                } else {
                    self.wrong_result((polynomial_count_text(has), polynomial_count_text(n)))
                }
            }
            Condition::SpaceOfProduct => {
                let (a, b) = match self.two_ciphertexts() {
                    Some((a, b)) => (&a.space, &b.space),
                    None => self.ciphertext_and_plaintext().map(|(a, b)| (&a.space, b))?,
                };
                self.check_space(&space_of_product(a, b)?)
            }
            Condition::InferredType => {
                let gives = self.inferred_type()?;
                let has = self.result.as_ref()?.kind.ciphertext()?;
                if *has == gives { None } else { self.wrong_result(ciphertext_words(has, &gives)) }
            }
            Condition::TwoPolynomialsByType => {
                let first = self.operands.first()?;
                let size =
                    first.kind.ciphertext().map(|it| it.n_polynomials).filter(|&it| it != 2)?;
                let message = format!(
                    "{} has {}, but {} takes 2",
                    self.text(first),
                    polynomial_count_text(size),
                    self.name()
                );
                Some(Self::fault(&[first], message))
            }
            Condition::OneShift => {
                let is_static = self.ir.attr(self.op, "static_shift").is_some();
                let words = match (self.operands.len(), is_static) {
                    (1, false) => "no shift",
                    (2, true) => "two shifts",
                    _ => return None,
                };
                let message = format!("{} has {words}, but takes one", self.name());
                Some(TypeFault { at: None, values: SmallVec::new(), message })
            }
            Condition::FromBasis | Condition::ToBasis => self.check_basis(condition),
            Condition::LibraryBasis => {
                let basis = self.numbers("to_basis")?;
                (self.target.is_openfhe && basis != [0, 1]).then(|| TypeFault {
                    at: None,
                    values: SmallVec::new(),
                    message: format!("OpenFHE relinearizes to the basis [0, 1], not {basis:?}"),
                })
            }
            Condition::ToRing => {
                let (_, _, result) = self.operand_and_result()?;
                let ring = self.ring("to_ring")?;
                (ring != result.ring).then_some(())?;
                let (has, gives) = ring_words(&result.ring, &ring);
                let result = self.result.as_ref()?;
                let message = format!("{} has {has}, but to_ring has {gives}", self.text(result));
                Some(Self::fault(&[result], message))
            }
            Condition::FewerModuli => self.check_fewer_moduli(),
            Condition::SwitchedSpace => {
                let (_, operand, result) = self.operand_and_result()?;
                let space = space_after_switch(operand, result)?;
                self.check_space(&space)
            }
            Condition::DroppedLevels => self.check_dropped_levels(),
            Condition::TargetLevel => {
                let target = self.number("targetLevel")?;
                let result = self.result.as_ref()?;
                let level = result.kind.ciphertext()?.chain.as_ref()?.current;
                (i128::try_from(level).ok()? != target).then(|| {
                    let name = self.text(result);
                    let message =
                        format!("{name} is at level {level}, but the target level is {target}");
                    Self::fault(&[result], message)
                })
            }
            Condition::Encoding => self.check_encoding(),
            Condition::RingOfKey => self.check_ring_of_key(),
            Condition::NoLowering => self.check_lowering(),
            Condition::OneLevel
            | Condition::StatedTypes
            | Condition::TwoPolynomials
            | Condition::RotatedKey
            | Condition::LevelOfRing
            | Condition::PackedModulus => None,
        }
    }

    /// Checks that HEIR lowers the op for the library of the target.
    fn check_lowering(&self) -> Option<TypeFault> {
        let LoweringTarget { is_openfhe, is_lattigo, is_ckks } = self.target;
        let (is_refused, what) = match self.name() {
            "bgv.rotate_rows" => ([is_openfhe, is_lattigo], ""),
            "ckks.bootstrap" => {
                let has_target = self.ir.attr(self.op, "targetLevel").is_some();
                let what = if is_openfhe { " to a target level" } else { " in BGV and BFV" };
                ([is_openfhe && has_target, is_lattigo && !is_ckks], what)
            }
            _ => ([false, is_lattigo], ""),
        };
        let library = match is_refused {
            [true, _] => "OpenFHE",
            [_, true] => "Lattigo",
            _ => return None,
        };
        let message = format!("HEIR has no lowering of {}{what} to {library}", self.name());
        Some(TypeFault { at: None, values: SmallVec::new(), message })
    }

    pub(super) fn check_stated_types(&self) -> Option<TypeFault> {
        let part = self.stated.first()?;
        let given = self.operands.iter().find(|it| it.at == part.at)?;
        let (ValueType::Known(has), ValueType::Known(states)) = (&given.kind, &part.kind) else {
            return None;
        };
        let (a, b) = match (&**has, &**states) {
            (SchemeType::Ciphertext(a), SchemeType::Ciphertext(b)) => ciphertext_words(a, b),
            (SchemeType::Plaintext(a), SchemeType::Plaintext(b)) => space_words(a, b),
            (SchemeType::Key(a), SchemeType::Key(b)) => ring_words(a, b),
            (a, b) => (kind_text(a).to_owned(), kind_text(b).to_owned()),
        };
        let (value, name) = (self.text(given), self.name());
        let message = format!("{value} has {a}, but the type that {name} states for it has {b}");
        Some(Self::fault(&[given], message))
    }

    fn check_one_plaintext(&self) -> Option<TypeFault> {
        let [a, b] = self.operands.as_slice() else { return None };
        let words = match (&a.kind, &b.kind) {
            (ValueType::Unknown, _) | (_, ValueType::Unknown) => return None,
            (a, b) if a.ciphertext().is_some() && b.is_plaintext() => return None,
            (a, b) if a.is_plaintext() && b.ciphertext().is_some() => return None,
            (a, b) if a.ciphertext().is_some() && b.ciphertext().is_some() => "are ciphertexts",
            (a, b) if a.is_plaintext() && b.is_plaintext() => "are plaintexts",
            _ => "are not both encoded",
        };
        let message = format!(
            "{} and {} {words}, but {} takes a ciphertext and a plaintext",
            self.text(a),
            self.text(b),
            self.name()
        );
        Some(Self::fault(&[a, b], message))
    }

    fn check_space(&self, gives: &PlaintextSpace) -> Option<TypeFault> {
        let has = &self.result.as_ref()?.kind.ciphertext()?.space;
        if has == gives { None } else { self.wrong_result(space_words(has, gives)) }
    }

    /// Returns the type that HEIR infers for the result.
    fn inferred_type(&self) -> Option<CiphertextType> {
        match self.name().rsplit('.').next()? {
            "add" | "sub" | "radd" | "rsub" => {
                let (a, b) = self.two_ciphertexts()?;
                Some(CiphertextType {
                    n_polynomials: a.n_polynomials.max(b.n_polynomials),
                    ..a.clone()
                })
            }
            "mul" | "rmul" => {
                let (a, b) = self.two_ciphertexts()?;
                let size = (a.n_polynomials + b.n_polynomials).saturating_sub(1);
                Some(CiphertextType {
                    space: space_of_product(&a.space, &b.space)?,
                    n_polynomials: size,
                    ..a.clone()
                })
            }
            "add_plain" | "sub_plain" | "radd_plain" | "rsub_plain" => {
                Some(self.ciphertext_and_plaintext()?.0.clone())
            }
            "mul_plain" | "rmul_plain" => {
                let (it, plaintext) = self.ciphertext_and_plaintext()?;
                Some(CiphertextType {
                    space: space_of_product(&it.space, plaintext)?,
                    ..it.clone()
                })
            }
            "relinearize" => {
                let (_, it, _) = self.operand_and_result()?;
                let size = u32::try_from(self.numbers("to_basis")?.len()).ok()?;
                Some(CiphertextType { n_polynomials: size, ..it.clone() })
            }
            "level_reduce" => {
                let (_, it, _) = self.operand_and_result()?;
                let chain = it.chain.as_ref()?;
                let current = chain.current.checked_sub(self.levels_to_drop()?)?;
                let residues = chain.moduli.get(..=current)?.iter();
                let residues = residues.map(|it| format!("!mod_arith.int<{it}>")).collect();
                let coefficients = Coefficients::Residues(residues);
                let ring = PolynomialRing { coefficients, modulus: it.ring.modulus.clone() };
                let chain = Some(ModulusChain { moduli: chain.moduli.clone(), current });
                Some(CiphertextType { ring, chain, ..it.clone() })
            }
            _ => None,
        }
    }

    fn check_basis(&self, condition: Condition) -> Option<TypeFault> {
        let (key, part) = match condition {
            Condition::FromBasis => ("from_basis", self.operands.first()?),
            _ => ("to_basis", self.result.as_ref()?),
        };
        let n = self.numbers(key)?.len();
        let size = part.kind.ciphertext()?.n_polynomials;
        (usize::try_from(size).ok()? != n).then(|| {
            let (has, entries) = (polynomial_count_text(size), count_text(n, "entry", "entries"));
            Self::fault(&[part], format!("{} has {has}, but {key} has {entries}", self.text(part)))
        })
    }

    fn check_fewer_moduli(&self) -> Option<TypeFault> {
        let (part, operand, result) = self.operand_and_result()?;
        let gives = self.result.as_ref()?;
        let (from, to) = (operand.ring.residues()?, result.ring.residues()?);
        let message = if from.len() <= to.len() {
            format!(
                "{} has {} and {} has {}, but {} uses a level",
                self.text(part),
                count_text(from.len(), "modulus", "moduli"),
                self.text(gives),
                count_text(to.len(), "modulus", "moduli"),
                self.name()
            )
        } else if !from.starts_with(to) {
            format!(
                "the moduli of {} are not the first ones of {}",
                self.text(gives),
                self.text(part)
            )
        } else {
            return None;
        };
        Some(Self::fault(&[part, gives], message))
    }

    fn check_dropped_levels(&self) -> Option<TypeFault> {
        let (part, operand, result) = self.operand_and_result()?;
        let n = self.levels_to_drop()?;
        let level = operand.chain.as_ref()?.current;
        let Some(gives) = level.checked_sub(n) else {
            let levels = count_text(n, "level", "levels");
            let message = format!(
                "{} drops {levels} of {}, which is at level {level}",
                self.name(),
                self.text(part)
            );
            return Some(Self::fault(&[part], message));
        };
        let has = result.chain.as_ref()?.current;
        if has == gives {
            return None;
        }
        self.wrong_result((format!("level {has}"), format!("level {gives}")))
    }

    /// Checks the encodings of ops that encode, decode, encrypt or decrypt plaintexts.
    fn check_encoding(&self) -> Option<TypeFault> {
        let operand = self.operands.first()?;
        let result = self.result.as_ref()?;
        let (a, b, parts) = match self.name() {
            "lwe.rlwe_encode" | "lwe.rlwe_decode" => {
                let part = if self.name().ends_with("encode") { result } else { operand };
                let text = self.attr_text("encoding")?;
                (
                    part.kind.space()?.encoding.clone(),
                    scheme_type::parse_encoding(&text)?,
                    [part, part],
                )
            }
            _ => {
                let (a, b) = (operand.kind.space()?, result.kind.space()?);
                if self.name() == "lwe.trivial_encrypt" && a.encoding == b.encoding {
                    return self.check_space(a);
                }
                (a.encoding.clone(), b.encoding.clone(), [operand, result])
            }
        };
        if a == b {
            return None;
        }
        let (has, other) = if a.name == b.name {
            (format!("scale {}", a.scale), format!("scale {}", b.scale))
        } else {
            (a.name, b.name)
        };
        let [part, other_part] = parts;
        let of = if part.value == other_part.value {
            format!("the encoding of {}", self.name())
        } else {
            self.text(other_part)
        };
        let message = format!("{} has {has}, but {of} has {other}", self.text(part));
        Some(Self::fault(&parts[..=usize::from(part.value != other_part.value)], message))
    }

    fn check_ring_of_key(&self) -> Option<TypeFault> {
        let [operand, key] = self.operands.as_slice() else { return None };
        let part = if self.name() == "lwe.rlwe_encrypt" { self.result.as_ref()? } else { operand };
        let ValueType::Known(of_key) = &key.kind else { return None };
        let SchemeType::Key(of_key) = &**of_key else { return None };
        let ring = part.kind.ring()?;
        if ring == of_key {
            return None;
        }
        let (has, other) = ring_words(ring, of_key);
        let message =
            format!("{} has {has}, but the key {} has {other}", self.text(part), self.text(key));
        Some(Self::fault(&[key, part], message))
    }
}
