//! The dataflow analysis of the ranges of the real numbers that a program computes, from the ranges
//! of its inputs.
//!
//! *Facts.* The fact of a value contains every number that the plaintext program may compute for
//! the value or for an element of it, in exact arithmetic or in floats, if the inputs are in their
//! ranges. Noise and the errors of approximations are ignored. `{noisy.range = [-1.0, 1.0]}` on an
//! argument of a function states its range for unknown callers; `heir.input-range` is the range of
//! all encrypted arguments. Nothing is assumed about other arguments, and the results of ops
//! without a rule are unknown.
//!
//! *Loops.* A loop with a known trip count is iterated that often. Bounds that increase in each
//! iteration of another loop are widened to powers of two, and then become unknown.

use noisy_syntax::{Attr, AttrData, Dim, Form, Interner, Ir, Op, OpKind, Type, TypeData, Value};
use rustc_hash::FxHashMap;

use crate::facts::ciphertext::COEFFICIENTS;
use crate::facts::ciphertext::is_secret_argument;
use crate::facts::estimate::{Estimate, Measure};
use crate::ops::rules;
use crate::real_range::{Precision, RealRange};
use noisy_dataflow::attributes::{self, ValueSide};
use noisy_dataflow::sparse::{
    AnalysisContext, CallPolicy, LoopPolicy, SparseForward, SparseSolver,
};
use noisy_dataflow::view::{HasInterner, ProgramView};
use noisy_integers::Integers;
use noisy_integers::constant::Constant;
use noisy_integers::elements;

/// The attribute that states the range of an argument.
pub(crate) const RANGE_ATTRIBUTE: &str = "noisy.range";

/// The fact about the numbers of a value.
pub type ValueRange = Estimate<RealRange>;

impl Measure for RealRange {
    fn join(self, other: Self) -> Option<Self> {
        Some(self.hull(other))
    }

    fn widened(self, next: Self) -> Option<Self> {
        next.widened_from(self)
    }
}

/// The range facts of a program.
#[derive(Clone, Copy, Debug)]
pub struct ValueRangeFacts<'a>(pub &'a SparseSolver<ValueRangeAnalysis>);

impl ValueRangeFacts<'_> {
    /// Returns the range of a value; `None` if it is unknown.
    pub fn of(&self, value: Value) -> Option<RealRange> {
        self.0.fact(value)?.known()
    }
}

/// The range that an attribute of an argument states.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum StatedRange {
    /// This range.
    Range(RealRange),
    /// The attribute is not a range.
    Unreadable,
}

fn stated_in_dictionary(ir: &impl ProgramView, dict: Attr) -> Option<StatedRange> {
    let name = ir.interner().find_name(RANGE_ATTRIBUTE)?;
    let AttrData::Dict(entries) = ir.interner().attr_data(dict) else { return None };
    let (_, attr) = entries.iter().find(|it| it.0 == name)?;
    let AttrData::Array(bounds) = ir.interner().attr_data(*attr) else {
        return Some(StatedRange::Unreadable);
    };
    let range = match **bounds {
        [lower, upper] => number_of_attr(ir, lower).zip(number_of_attr(ir, upper)),
        _ => None,
    };
    let range = range.and_then(|it| RealRange::new(it.0, it.1));
    Some(range.map_or(StatedRange::Unreadable, StatedRange::Range))
}

/// Returns the number in an attribute.
pub(crate) fn number_of_attr(ir: &impl ProgramView, attr: Attr) -> Option<f64> {
    match ir.interner().attr_data(attr) {
        AttrData::Float { bits, .. } => Some(f64::from_bits(*bits)),
        AttrData::Int { value, .. } => Some(*value as f64),
        _ => None,
    }
}

/// Returns the range that an argument of a function states.
pub(crate) fn stated_range(
    ir: &impl ProgramView,
    function: Op,
    index: usize,
) -> Option<StatedRange> {
    stated_in_dictionary(ir, attributes::dictionary(ir, function, ValueSide::Argument, index)?)
}

/// Returns true if an argument of some function states a range. *Cost.* One lookup if the attribute
/// occurs nowhere, else linear in the arguments of all functions.
pub fn has_stated_ranges(ir: &Ir) -> bool {
    let is_stated = |function: Op| {
        let all = attributes::dictionaries(ir, function).into_iter();
        all.filter(|it| it.0 == ValueSide::Argument)
            .any(|it| stated_in_dictionary(ir, it.2).is_some())
    };
    ir.interner.find_name(RANGE_ATTRIBUTE).is_some() && ir.functions().into_iter().any(is_stated)
}

/// The dataflow analysis of ranges.
#[derive(Debug, Default)]
pub struct ValueRangeAnalysis {
    /// The range of encrypted arguments of functions.
    input: Option<RealRange>,
    constants: FxHashMap<(Attr, Type), ValueRange>,
}

impl ValueRangeAnalysis {
    /// Creates the analysis with the range of encrypted arguments.
    pub fn new(input: Option<RealRange>) -> Self {
        Self { input, constants: FxHashMap::default() }
    }

    fn constant(&mut self, ir: &impl ProgramView, op: Op, ty: Type) -> ValueRange {
        let Some(attr) = ir.attr(op, "value") else { return ValueRange::Unknown };
        let read = || hull_of_constant(ir, attr, ty).into();
        *self.constants.entry((attr, ty)).or_insert_with(read)
    }
}

/// Returns the range of the numbers in a constant.
fn hull_of_constant(ir: &impl ProgramView, attr: Attr, ty: Type) -> Option<RealRange> {
    let point = |it: &Constant| match it {
        Constant::Float(bits) => RealRange::of_number(f64::from_bits(*bits)),
        _ => None,
    };
    if let it @ Constant::Float(_) = Constant::of_attr(ir, attr, ty) {
        return point(&it);
    }
    let all = elements::elements(ir, attr, ty)?;
    let mut all = all.iter().map(point);
    let first = all.next()??;
    all.try_fold(first, |hull, it| Some(hull.hull(it?)))
}

/// Returns the format of the numbers of a type, if the analysis tracks their ranges: `f32` and
/// `f64`, containers and secrets of them, and the plaintexts and ciphertexts of CKKS.
fn precision(interner: &Interner, ty: Type) -> Option<Precision> {
    match interner.type_data(ty) {
        TypeData::Float("f32") => Some(Precision::Single),
        TypeData::Float("f64") => Some(Precision::Double),
        TypeData::Tensor { element, .. } | TypeData::Vector { element, .. } if *element != ty => {
            precision(interner, *element)
        }
        TypeData::Dialect(body) => precision_of_dialect_type(interner.str(*body)),
        _ => None,
    }
}

/// Returns the format of the numbers of a dialect type, from its text without `!`.
fn precision_of_dialect_type(text: &str) -> Option<Precision> {
    if let Some(inner) = text.strip_prefix("secret.secret<") {
        let element = inner.trim_end_matches('>').rsplit('x').next()?.trim();
        return match element {
            // The contents of buffers change.
            _ if inner.contains("memref") => None,
            "f32" => Some(Precision::Single),
            "f64" => Some(Precision::Double),
            _ => None,
        };
    }
    let is_encoded =
        text.starts_with("lwe.lwe_ciphertext") || text.starts_with("lwe.lwe_plaintext");
    (is_encoded && text.contains("inverse_canonical_encoding")).then_some(Precision::Double)
}

/// The effect of an op on the ranges of its operands.
#[derive(Clone, Copy)]
enum RangeRule {
    Add,
    Subtract,
    Multiply,
    Divide,
    MultiplyAdd,
    Negate,
    Absolute,
    Max,
    Min,
    Round,
    /// The hull of the operands from the first index up to, but not including, the second one.
    HullOfOperands(usize, usize),
    /// The hull of the first operand and 0.
    HullWithZero,
    /// An increasing function, its domain and its results.
    Increasing(fn(f64) -> f64, [f64; 2], [f64; 2]),
    /// The range from -1 to 1.
    Unit,
    Chebyshev,
    RotateAndReduce,
    /// Sums of products of the first two operands, added to the third.
    Contract,
}

const ANY: [f64; 2] = [-1e30, 1e30];

fn range_rule(name: &str) -> Option<RangeRule> {
    Some(match name {
        "arith.addf" | "linalg.add" | "ckks.add" | "ckks.add_plain" | "lwe.radd"
        | "lwe.radd_plain" => RangeRule::Add,
        "arith.subf" | "linalg.sub" | "ckks.sub" | "ckks.sub_plain" | "lwe.rsub"
        | "lwe.rsub_plain" => RangeRule::Subtract,
        "arith.mulf" | "linalg.mul" | "ckks.mul" | "ckks.mul_plain" | "lwe.rmul"
        | "lwe.rmul_plain" => RangeRule::Multiply,
        "arith.divf" => RangeRule::Divide,
        "math.fma" => RangeRule::MultiplyAdd,
        "arith.negf" | "linalg.negf" | "ckks.negate" | "lwe.rnegate" => RangeRule::Negate,
        "math.absf" => RangeRule::Absolute,
        "arith.maximumf" | "arith.maxnumf" => RangeRule::Max,
        "arith.minimumf" | "arith.minnumf" => RangeRule::Min,
        "arith.truncf" => RangeRule::Round,
        "arith.select" => RangeRule::HullOfOperands(1, 3),
        "tensor.insert" | "tensor.insert_slice" => RangeRule::HullOfOperands(0, 2),
        "tensor.from_elements" | "tensor.concat" => RangeRule::HullOfOperands(0, usize::MAX),
        "arith.extf"
        | "tensor.cast"
        | "tensor.collapse_shape"
        | "tensor.expand_shape"
        | "tensor.extract"
        | "tensor.extract_slice"
        | "tensor.reshape"
        | "tensor.splat"
        | "tensor_ext.assign_layout"
        | "tensor_ext.convert_layout"
        | "tensor_ext.rotate"
        | "tensor_ext.unpack"
        | "mgmt.adjust_scale"
        | "mgmt.bootstrap"
        | "mgmt.init"
        | "mgmt.level_reduce"
        | "mgmt.level_reduce_min"
        | "mgmt.modreduce"
        | "mgmt.relinearize"
        | "secret.conceal"
        | "secret.reveal"
        | "secret.separator"
        | "ckks.bootstrap"
        | "ckks.level_reduce"
        | "ckks.relinearize"
        | "ckks.rescale"
        | "ckks.rotate"
        | "lwe.rlwe_decode"
        | "lwe.rlwe_decrypt"
        | "lwe.rlwe_encode"
        | "lwe.rlwe_encrypt" => RangeRule::HullOfOperands(0, 1),
        "tensor_ext.remap" => RangeRule::HullWithZero,
        "math.exp" => RangeRule::Increasing(f64::exp, ANY, [0.0, 1e30]),
        "math.sqrt" => RangeRule::Increasing(f64::sqrt, [0.0, 1e30], [0.0, 1e30]),
        "math.tanh" => RangeRule::Increasing(f64::tanh, ANY, [-1.0, 1.0]),
        "math.cos" | "math.erf" | "math.sin" => RangeRule::Unit,
        "kernel.eval_chebyshev" => RangeRule::Chebyshev,
        "tensor_ext.rotate_and_reduce" => RangeRule::RotateAndReduce,
        "linalg.dot" | "linalg.matmul" | "linalg.matvec" | "linalg.vecmat" => RangeRule::Contract,
        _ => return None,
    })
}

/// Returns the range of a Chebyshev polynomial on `[-1, 1]`: its magnitude is at most the sum of
/// the magnitudes of its coefficients.
fn chebyshev_range(ir: &impl ProgramView, op: Op, given: RealRange) -> Option<RealRange> {
    let AttrData::Array(coefficients) = ir.interner().attr_data(ir.attr(op, COEFFICIENTS)?) else {
        return None;
    };
    if !RealRange::UNIT.contains(given) {
        return None;
    }
    coefficients.iter().try_fold(RealRange::of_number(0.0)?, |sum, &it| {
        let magnitude = number_of_attr(ir, it)?.abs();
        sum.add(RealRange::new(-magnitude, magnitude)?, Precision::Double)
    })
}

/// Returns the first dimension of an operand.
fn first_dimension(ir: &impl ProgramView, op: Op, index: usize) -> Option<u64> {
    let TypeData::Tensor { dims: Some(dims), .. } =
        ir.interner().type_data(ir.operand_ty(op, index)?)
    else {
        return None;
    };
    match dims.first()? {
        Dim::Fixed(n) => Some(*n),
        _ => None,
    }
}

fn rotate_and_reduce_range(
    ir: &impl ProgramView,
    op: Op,
    given: &[ValueRange],
    to: Precision,
) -> Option<RealRange> {
    let is_sum = ir.attr(op, "reduceOp").is_none_or(|it| {
        matches!(ir.interner().attr_data(it),
            AttrData::String(name, _) if ir.interner().str(*name) == "arith.addf")
    });
    let steps = ir.interner().int_value(ir.attr(op, "steps")?)?;
    let steps = u64::try_from(steps).ok().filter(|_| is_sum)?;
    let summand = match *given {
        [ValueRange::Known(a)] => a,
        [ValueRange::Known(a), ValueRange::Known(b)] => a.multiply(b, to)?,
        _ => return None,
    };
    summand.sum_of(steps, RealRange::of_number(0.0)?, to)
}

/// Computes the range of the result of an op with a rule.
fn result_range(
    ir: &impl ProgramView,
    op: Op,
    rule: RangeRule,
    given: &[ValueRange],
    to: Precision,
) -> Option<RealRange> {
    let at = |index: usize| given.get(index)?.known();
    let operand = |index: usize| ir.op(op).operands.get(index).and_then(|it| it.value);
    let is_square = operand(0).is_some() && operand(0) == operand(1);
    match rule {
        RangeRule::Add => at(0)?.add(at(1)?, to),
        RangeRule::Subtract => at(0)?.subtract(at(1)?, to),
        RangeRule::Multiply if is_square => at(0)?.square(to),
        RangeRule::Multiply => at(0)?.multiply(at(1)?, to),
        RangeRule::Divide => at(0)?.divide(at(1)?, to),
        RangeRule::MultiplyAdd => at(0)?.multiply(at(1)?, to)?.add(at(2)?, to),
        RangeRule::Negate => at(0)?.negate(),
        RangeRule::Absolute => at(0)?.absolute(),
        RangeRule::Max => at(0)?.max(at(1)?),
        RangeRule::Min => at(0)?.min(at(1)?),
        RangeRule::Round => at(0)?.rounded(to),
        RangeRule::HullOfOperands(from, end) => {
            let mut all = (from..end.min(given.len())).map(at);
            let first = all.next()??;
            all.try_fold(first, |hull, it| Some(hull.hull(it?)))
        }
        RangeRule::HullWithZero => Some(at(0)?.hull(RealRange::of_number(0.0)?)),
        RangeRule::Increasing(function, [from, to_most], [least, most]) => {
            let given = at(0)?;
            let within = RealRange::new(least, most)?;
            RealRange::new(from, to_most)?.contains(given).then_some(())?;
            given.apply_increasing(function, within, to)
        }
        RangeRule::Unit => Some(RealRange::UNIT),
        RangeRule::Chebyshev => chebyshev_range(ir, op, at(0)?),
        RangeRule::RotateAndReduce => rotate_and_reduce_range(ir, op, given, to),
        RangeRule::Contract if ir.attr(op, "indexing_maps").is_some() => None,
        RangeRule::Contract => {
            let product = at(0)?.multiply(at(1)?, to)?;
            product.sum_of(first_dimension(ir, op, 1)?, at(2)?, to)
        }
    }
}

impl SparseForward for ValueRangeAnalysis {
    type Fact = ValueRange;
    type Base = Integers;

    const LOOPS: LoopPolicy = LoopPolicy::Replayed;

    fn calls(&self) -> CallPolicy {
        CallPolicy::FOR_DISPLAY
    }

    fn has_fact(&self, interner: &Interner, ty: Type) -> bool {
        precision(interner, ty).is_some()
    }

    fn entry_argument_fact(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        index: usize,
        value: Value,
        _: &[ValueRange],
    ) -> ValueRange {
        if ir.op(op).kind != OpKind::FuncFunc {
            return ValueRange::Unknown;
        }
        match stated_range(ir, op, index) {
            Some(StatedRange::Range(it)) => ValueRange::Known(it),
            Some(StatedRange::Unreadable) => ValueRange::Unknown,
            None => self.input.filter(|_| is_secret_argument(ir, op, index, value)).into(),
        }
    }

    fn transfer(
        &mut self,
        ir: &AnalysisContext<'_, Integers>,
        op: Op,
        index: usize,
        operands: &[ValueRange],
    ) -> ValueRange {
        let data = ir.op(op);
        if rules::facts_of_operands(ir, op, operands).contains(&ValueRange::Bottom) {
            return ValueRange::Bottom;
        }
        let ty = data.results.get(index).map(|&it| ir.ty(it));
        let to = ty.and_then(|it| precision(ir.interner(), it));
        let (Some(ty), Some(to)) = (ty, to.filter(|_| data.form != Form::Broken)) else {
            return ValueRange::Unknown;
        };
        if data.kind == OpKind::ArithConstant {
            return self.constant(ir, op, ty);
        }
        range_rule(ir.op_name(op)).and_then(|it| result_range(ir, op, it, operands, to)).into()
    }

    fn unbounded(&self, fact: &ValueRange) -> Option<ValueRange> {
        (*fact == ValueRange::Unknown).then_some(ValueRange::Unknown)
    }
}
