//! Facts about values that follow from their defining ops, and attributes of constants.

use noisy_integers::constant::Constant;
use noisy_integers::elements::ElementLists;
use noisy_syntax::{
    Attr, AttrData, Block, Def, Dim, Ir, Op, OpKind, Region, Sign, Traits, Type, TypeData, Value,
};
use rustc_hash::FxHashSet;

/// Returns an operand of an op.
pub fn operand(ir: &Ir, op: Op, index: usize) -> Option<Value> {
    ir.op(op).operands.get(index)?.value
}

/// Returns the operands of an op that are defined.
pub fn operands(ir: &Ir, op: Op) -> Vec<Value> {
    ir.op(op).operands.iter().filter_map(|it| it.value).collect()
}

/// Returns the constant op that defines a value.
fn defining_constant(ir: &Ir, value: Value) -> Option<Op> {
    ir.defining_op(value).filter(|it| ir.op(*it).kind.has(Traits::CONSTANT))
}

/// Returns true if a constant op defines a value.
pub fn is_constant(ir: &Ir, value: Value) -> bool {
    defining_constant(ir, value).is_some()
}

/// Returns the attribute of a value that a constant op defines.
pub fn attr_of(ir: &Ir, value: Value) -> Option<Attr> {
    ir.attr(defining_constant(ir, value)?, "value")
}

/// Returns the constant of a value that a constant op defines; lists of elements are read into
/// `lists`.
pub fn constant_of(ir: &Ir, value: Value, lists: &mut ElementLists) -> Option<Constant> {
    let attr = attr_of(ir, value)?;
    let ty = ir.value(value).ty;
    match Constant::of_attr(ir, attr, ty) {
        Constant::Unknown | Constant::Bottom => None,
        Constant::Other(attr) => Some(lists.read(ir, attr, ty).unwrap_or(Constant::Other(attr))),
        known => Some(known),
    }
}

/// Maximum number of ops that [`is_number`] visits.
const MAX_VISITED_OPS: usize = 64;

/// Returns true if an integer is surely a number: not read from uninitialized memory, not
/// `ub.poison`, and not the result of an overflow that a flag excludes. Function arguments are
/// assumed to be numbers. *Cost.* Visits at most `MAX_VISITED_OPS` ops, and their operands once.
pub fn is_number(ir: &Ir, value: Value) -> bool {
    let mut all = vec![value];
    let mut seen = FxHashSet::from_iter([value]);
    let mut at = 0;
    while let Some(&value) = all.get(at) {
        let is_buffer =
            matches!(ir.interner.type_data(ir.value(value).ty), TypeData::MemRef { .. });
        at += 1;
        match ir.value(value).def {
            // Only the dimensions of a buffer are read, and those are numbers.
            _ if is_buffer => {}
            Def::Argument(block, index) if is_argument_or_induction_variable(ir, block, index) => {}
            Def::Result(op, _) if at <= MAX_VISITED_OPS && preserves_numbers(ir, op) => {
                all.extend(operands(ir, op).into_iter().filter(|&it| seen.insert(it)));
            }
            _ => return false,
        }
    }
    true
}

/// Returns true if a block argument is a function argument or an induction variable, and not an
/// iteration argument.
fn is_argument_or_induction_variable(ir: &Ir, block: Block, index: u32) -> bool {
    let region = ir.block(block).region;
    ir.entry_block(region) == block
        && ir.region(region).parent.is_some_and(|it| match ir.op(it).kind {
            OpKind::FuncFunc | OpKind::AffineParallel | OpKind::ScfParallel => true,
            OpKind::ScfFor | OpKind::AffineFor => index == 0,
            _ => false,
        })
}

/// Returns true if the results of an op are numbers whenever its operands are.
fn preserves_numbers(ir: &Ir, op: Op) -> bool {
    match ir.op(op).kind {
        kind if kind.has(Traits::CONSTANT) => true,
        OpKind::ArithAddi | OpKind::ArithSubi | OpKind::ArithMuli | OpKind::ArithTrunci => {
            ir.attr(op, "overflowFlags").is_none()
        }
        OpKind::ArithAndi
        | OpKind::ArithOri
        | OpKind::ArithXori
        | OpKind::ArithMaxsi
        | OpKind::ArithMaxui
        | OpKind::ArithMinsi
        | OpKind::ArithMinui
        | OpKind::ArithDivsi
        | OpKind::ArithDivui
        | OpKind::ArithCeildivsi
        | OpKind::ArithCeildivui
        | OpKind::ArithFloordivsi
        | OpKind::ArithRemsi
        | OpKind::ArithRemui
        | OpKind::ArithCmpi
        | OpKind::ArithCmpf
        | OpKind::ArithSelect
        | OpKind::ArithExtsi
        | OpKind::ArithExtui
        | OpKind::ArithIndexCast
        | OpKind::ArithIndexCastui
        | OpKind::MemrefDim
        | OpKind::AffineApply
        | OpKind::AffineMin
        | OpKind::AffineMax => true,
        _ => false,
    }
}

/// Returns the constant integer of a value, or of all its elements, sign-extended.
pub fn int_of(ir: &Ir, value: Value) -> Option<i128> {
    Constant::of_attr(ir, attr_of(ir, value)?, ir.value(value).ty).int()
}

/// Returns the attribute of a constant of a type.
pub fn to_attr(ir: &mut Ir, lists: &ElementLists, constant: Constant, ty: Type) -> Option<Attr> {
    match constant {
        Constant::Bottom | Constant::Unknown => None,
        Constant::Other(attr) => Some(attr),
        Constant::Elements(_) => lists.attr_of(constant, ty, |it| dense_attr(ir, ty, it)),
        Constant::Int(_) | Constant::Float(_) => match element_type(ir, ty) {
            Some(_) => dense_attr(ir, ty, &[constant]),
            None => scalar_attr(ir, constant, ty),
        },
    }
}

/// Returns the element type of a vector or tensor type.
pub fn element_type(ir: &Ir, ty: Type) -> Option<Type> {
    match ir.interner.type_data(ty) {
        TypeData::Vector { element, .. } | TypeData::Tensor { element, .. } => Some(*element),
        _ => None,
    }
}

/// Returns a vector or tensor type with another element type; `element` if `ty` is another type.
pub fn with_element(ir: &mut Ir, ty: Type, element: Type) -> Type {
    let mut data = ir.interner.type_data(ty).clone();
    match &mut data {
        TypeData::Vector { element: it, .. } | TypeData::Tensor { element: it, .. } => {
            *it = element;
        }
        _ => return element,
    }
    ir.interner.intern_type(data)
}

fn scalar_attr(ir: &mut Ir, constant: Constant, ty: Type) -> Option<Attr> {
    let data = match (constant, ir.interner.type_data(ty)) {
        (Constant::Int(value), TypeData::Int { width: 1, sign: Sign::Signless }) => {
            AttrData::Bool(value != 0)
        }
        (Constant::Int(value), TypeData::Int { width, .. }) if *width <= 64 => {
            AttrData::Int { value, ty }
        }
        (Constant::Int(value), TypeData::Index) => AttrData::Int { value, ty },
        (Constant::Int(value), TypeData::Int { .. }) if i64::try_from(value).is_ok() => {
            AttrData::Int { value, ty }
        }
        (Constant::Float(bits), TypeData::Float(_)) => AttrData::Float { bits, ty },
        _ => return None,
    };
    Some(ir.interner.intern_attr(data))
}

/// Returns a `dense<...>` attribute of elements; a single element is a splat.
fn dense_attr(ir: &mut Ir, ty: Type, elements: &[Constant]) -> Option<Attr> {
    let element = element_type(ir, ty)?;
    let dims: Vec<u64> = match ir.interner.type_data(ty) {
        TypeData::Vector { dims, .. } => sizes(dims, elements.len() == 1)?,
        TypeData::Tensor { dims: Some(dims), .. } => sizes(dims, false)?,
        _ => return None,
    };
    let mut words = Vec::with_capacity(elements.len());
    for &it in elements {
        let attr = scalar_attr(ir, it, element)?;
        let text = ir.interner.attr_text(attr);
        words.push(text.split(" : ").next().unwrap_or_default().to_owned());
    }
    let text = noisy_syntax::dense_text(&ir.interner, element, &dims, &words);
    let name = ir.interner.intern_name(&text);
    Some(ir.interner.intern_attr(AttrData::Elements(name, ty)))
}

fn sizes(dims: &[Dim], may_scale: bool) -> Option<Vec<u64>> {
    let size = |it: &Dim| match it {
        Dim::Fixed(size) => Some(*size),
        Dim::Scalable(size) if may_scale => Some(*size),
        _ => None,
    };
    dims.iter().map(size).collect()
}

/// Returns the name of the op that defines a constant of a type from an attribute.
pub fn constant_op(ir: &Ir, attr: Attr, ty: Type) -> Option<&'static str> {
    match (ir.interner.attr_data(attr), ir.interner.type_data(ty)) {
        (AttrData::Symbol(_), TypeData::Function { .. }) => Some("func.constant"),
        (AttrData::Symbol(_), _) => None,
        _ if ir.interner.attr_type(attr) == Some(ty) => Some("arith.constant"),
        _ => None,
    }
}

/// Returns the region at whose start constants for a region are inserted: that of the nearest
/// enclosing op that is isolated, unknown or at the top level.
pub fn constant_scope(ir: &Ir, region: Region) -> Region {
    let mut at = region;
    loop {
        let Some(op) = ir.region(at).parent else { return at };
        let kind = ir.op(op).kind;
        let is_top = ir.parent_op(op).is_none_or(|it| !ir.op(it).kind.is_op());
        if kind == OpKind::Unknown || kind.has(Traits::ISOLATED) || is_top {
            return at;
        }
        at = ir.op(op).parent;
    }
}
