//! An op with the types of its operands and its result.

use std::sync::Arc;

use noisy_syntax::{Attr, AttrData, Form, Ir, Name, Op, Type, TypeData, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::ops::rules;
use crate::text::scheme_type::{self, CiphertextType, PlaintextSpace, PolynomialRing, SchemeType};
use crate::text::setting::{ModuleSetting, Scheme};

/// A cache of parsed types and of checked ops.
#[derive(Debug, Default)]
pub(crate) struct SchemeTypes {
    read: FxHashMap<Type, Option<Arc<SchemeType>>>,
    /// The signatures of ops that meet all requirements, for all targets.
    pub(super) checked: FxHashSet<TypeSignature>,
}

/// The parts of an op of a scheme on which the check of its types depends.
#[derive(Debug, PartialEq, Eq, Hash)]
pub(super) struct TypeSignature {
    name: Name,
    form: Form,
    attrs: SmallVec<[(Name, Attr); 2]>,
    /// For each operand, its type if it is known, and the type that the op states.
    operands: SmallVec<[(Option<Type>, Type); 2]>,
    results: SmallVec<[Type; 1]>,
}

impl TypeSignature {
    pub(super) fn of(ir: &Ir, op: Op) -> Self {
        let data = ir.op(op);
        let known = |it: Value| (!has_guessed_type(ir, it)).then(|| ir.value(it).ty);
        Self {
            name: data.name,
            form: data.form,
            attrs: ir.extra(op).attrs.iter().copied().collect(),
            operands: data.operands.iter().map(|it| (it.value.and_then(known), it.ty)).collect(),
            results: data.results.iter().map(|&it| ir.value(it).ty).collect(),
        }
    }
}

impl SchemeTypes {
    pub(super) fn of(&mut self, ir: &Ir, ty: Type) -> Option<Arc<SchemeType>> {
        let read = || scheme_type::read_scheme_type(&ir.interner, ty).map(Arc::new);
        self.read.entry(ty).or_insert_with(read).clone()
    }
}

/// The libraries that a program may be lowered to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LoweringTarget {
    pub(super) is_openfhe: bool,
    pub(super) is_lattigo: bool,
    /// True if Lattigo has evaluators of CKKS.
    pub(super) is_ckks: bool,
}

impl LoweringTarget {
    /// All targets: an op that none of them refuses needs no further check.
    pub(crate) const ANY: Self = Self { is_openfhe: true, is_lattigo: true, is_ckks: false };

    /// Returns the target of a module.
    pub(crate) fn of(setting: Option<&ModuleSetting>) -> Self {
        Self {
            is_openfhe: setting.is_some_and(ModuleSetting::is_openfhe),
            is_lattigo: setting.is_some_and(|it| it.is_lattigo),
            is_ckks: setting.is_none_or(|it| matches!(it.scheme, Some(Scheme::Ckks) | None)),
        }
    }
}

/// Returns true for an op of a scheme, whose types HEIR verifies.
pub(crate) fn is_scheme_op(ir: &Ir, op: Op) -> bool {
    let dialect = ir.op_name(op).split_once('.').map_or("", |it| it.0);
    matches!(dialect, "ckks" | "bgv" | "lwe")
}

/// A requirement that does not hold.
pub(super) struct TypeFault {
    pub(super) at: Option<u32>,
    pub(super) values: SmallVec<[Value; 2]>,
    pub(super) message: String,
}

/// The type of a value, as far as it is known.
#[derive(Clone, Debug)]
pub(super) enum ValueType {
    Known(Arc<SchemeType>),
    /// Not a type of `lwe`.
    Other,
    Unknown,
}

impl ValueType {
    pub(super) fn ciphertext(&self) -> Option<&CiphertextType> {
        match self {
            ValueType::Known(it) => match &**it {
                SchemeType::Ciphertext(it) => Some(it),
                _ => None,
            },
            _ => None,
        }
    }

    pub(super) fn space(&self) -> Option<&PlaintextSpace> {
        match self {
            ValueType::Known(it) => match &**it {
                SchemeType::Ciphertext(it) => Some(&it.space),
                SchemeType::Plaintext(it) => Some(it),
                SchemeType::Key(_) => None,
            },
            _ => None,
        }
    }

    /// Returns the ring of a ciphertext or a key.
    pub(super) fn ring(&self) -> Option<&PolynomialRing> {
        match self {
            ValueType::Known(it) => match &**it {
                SchemeType::Ciphertext(it) => Some(&it.ring),
                SchemeType::Key(it) => Some(it),
                SchemeType::Plaintext(_) => None,
            },
            _ => None,
        }
    }

    pub(super) fn is_plaintext(&self) -> bool {
        matches!(self, ValueType::Known(it) if matches!(**it, SchemeType::Plaintext(_)))
    }

    pub(super) fn is_surely_not_ciphertext(&self) -> bool {
        match self {
            ValueType::Known(it) => !matches!(**it, SchemeType::Ciphertext(_)),
            ValueType::Other => true,
            ValueType::Unknown => false,
        }
    }
}

/// An operand or a result with its type. `at` is the index of the operand.
#[derive(Clone, Debug)]
pub(super) struct TypedValue {
    pub(super) at: Option<u32>,
    pub(super) value: Value,
    pub(super) kind: ValueType,
}

/// An op with the types of its operands and its result.
#[derive(Clone)]
pub(super) struct TypedOp<'a> {
    pub(super) ir: &'a Ir,
    pub(super) target: LoweringTarget,
    pub(super) op: Op,
    /// The name of the op, or the name of the variant that is checked.
    pub(super) name: &'a str,
    pub(super) operands: SmallVec<[TypedValue; 3]>,
    /// The types that the op states for its operands, where they differ from the types of the
    /// operands.
    pub(super) stated: SmallVec<[TypedValue; 1]>,
    pub(super) result: Option<TypedValue>,
}

impl<'a> TypedOp<'a> {
    pub(super) fn new(ir: &'a Ir, target: LoweringTarget, types: &mut SchemeTypes, op: Op) -> Self {
        let data = ir.op(op);
        let mut kind = |ty: Type| match types.of(ir, ty) {
            Some(it) => ValueType::Known(it),
            None => match ir.interner.type_data(ty) {
                TypeData::Int { .. } | TypeData::Float(_) | TypeData::Index => ValueType::Other,
                TypeData::Tensor { element, .. } => match ir.interner.type_data(*element) {
                    TypeData::Int { .. } | TypeData::Float(_) | TypeData::Index => ValueType::Other,
                    _ => ValueType::Unknown,
                },
                _ => ValueType::Unknown,
            },
        };
        let mut operands = SmallVec::new();
        let mut stated = SmallVec::new();
        for (at, operand) in (0..).zip(&data.operands) {
            let Some(value) = operand.value else { continue };
            let ty = ir.value(value).ty;
            let given = if has_guessed_type(ir, value) { ValueType::Unknown } else { kind(ty) };
            // The general verifier checks ops in the generic form.
            if data.form != Form::Generic && operand.ty != ty {
                let states = kind(operand.ty);
                let differs = match (&given, &states) {
                    (ValueType::Known(a), ValueType::Known(b)) => a != b,
                    _ => false,
                };
                if differs {
                    stated.push(TypedValue { at: Some(at), value, kind: states });
                }
            }
            operands.push(TypedValue { at: Some(at), value, kind: given });
        }
        let result = match data.results.as_slice() {
            &[value] => Some(TypedValue { at: None, value, kind: kind(ir.value(value).ty) }),
            _ => None,
        };
        Self { ir, target, op, name: ir.op_name(op), operands, stated, result }
    }

    pub(super) fn name(&self) -> &'a str {
        self.name
    }

    /// Creates a fault with the values that contradict each other.
    pub(super) fn fault(parts: &[&TypedValue], message: String) -> TypeFault {
        let at = parts.iter().find_map(|it| it.at);
        TypeFault { at, values: parts.iter().map(|it| it.value).collect(), message }
    }

    pub(super) fn text(&self, part: &TypedValue) -> String {
        self.ir.value_text(part.value)
    }

    /// Returns the operands, then the result.
    pub(super) fn operands_and_result(&self) -> impl Iterator<Item = &TypedValue> {
        self.operands.iter().chain(&self.result)
    }

    /// Returns a fault for the first two parts with different values of a property that both have.
    pub(super) fn check_same<'s, T: PartialEq + 's>(
        &'s self,
        of: impl Fn(&'s TypedValue) -> Option<&'s T>,
        words: impl Fn(&T, &T) -> (String, String),
        one: &str,
    ) -> Option<TypeFault> {
        let mut all = self.operands_and_result().filter_map(|it| Some((it, of(it)?)));
        let (first, have) = all.next()?;
        let (other, has) = all.find(|it| it.1 != have)?;
        let (a, b) = words(have, has);
        let message = format!(
            "{} has {a} and {} has {b}, but {} takes one {one}",
            self.text(first),
            self.text(other),
            self.name()
        );
        Some(Self::fault(&[first, other], message))
    }

    /// Returns a fault for a result that differs from the inferred one.
    pub(super) fn wrong_result(&self, (has, gives): (String, String)) -> Option<TypeFault> {
        let result = self.result.as_ref()?;
        let message = format!("{} has {has}, but {} gives {gives}", self.text(result), self.name());
        Some(Self::fault(&[result], message))
    }

    pub(super) fn two_ciphertexts(&self) -> Option<(&CiphertextType, &CiphertextType)> {
        match self.operands.as_slice() {
            [a, b] => Some((a.kind.ciphertext()?, b.kind.ciphertext()?)),
            _ => None,
        }
    }

    /// Returns the ciphertext operand and the plaintext operand of an op.
    pub(super) fn ciphertext_and_plaintext(&self) -> Option<(&CiphertextType, &PlaintextSpace)> {
        match self.operands.as_slice() {
            [a, b] if b.kind.is_plaintext() => Some((a.kind.ciphertext()?, b.kind.space()?)),
            [a, b] if a.kind.is_plaintext() => Some((b.kind.ciphertext()?, a.kind.space()?)),
            _ => None,
        }
    }

    /// Returns the first operand, its ciphertext type and that of the result.
    pub(super) fn operand_and_result(
        &self,
    ) -> Option<(&TypedValue, &CiphertextType, &CiphertextType)> {
        let first = self.operands.first()?;
        Some((first, first.kind.ciphertext()?, self.result.as_ref()?.kind.ciphertext()?))
    }

    pub(super) fn levels_to_drop(&self) -> Option<usize> {
        match self.ir.attr(self.op, "levelToDrop") {
            None => Some(1),
            Some(it) => usize::try_from(self.ir.interner.int_value(it)?).ok(),
        }
    }

    pub(super) fn number(&self, key: &str) -> Option<i128> {
        self.ir.interner.int_value(self.ir.attr(self.op, key)?)
    }

    /// Returns the elements of an array attribute.
    pub(super) fn numbers(&self, key: &str) -> Option<Vec<i128>> {
        rules::dense_array(self.ir, self.op, key)
    }

    pub(super) fn attr_text(&self, key: &str) -> Option<String> {
        match self.ir.interner.attr_data(self.ir.attr(self.op, key)?) {
            AttrData::Text(text, _) => Some(self.ir.interner.str(*text).to_owned()),
            _ => None,
        }
    }

    pub(super) fn ring(&self, key: &str) -> Option<PolynomialRing> {
        scheme_type::parse_ring(&self.attr_text(key)?)
    }
}

/// Returns true if an op states one type for both its ciphertext operand and its result.
pub(super) fn has_single_stated_type(name: &str) -> bool {
    name.contains(".rotate") || name.ends_with("negate")
}

/// Returns true if the type of a value is only a guess: its definition has an unknown form and is
/// not an op of a scheme.
pub(super) fn has_guessed_type(ir: &Ir, value: Value) -> bool {
    ir.value(value).is_guessed && !ir.defining_op(value).is_some_and(|it| is_scheme_op(ir, it))
}
