//! Constants as values, as attributes and as facts of the analyses; and the table that keeps one op for each constant of a scope.

use noisy_analyses::constant::{self, Constant};
use noisy_analyses::integer::elements::Lists;
use noisy_syntax::rewrite::{NewOp, Point};
use noisy_syntax::{
    Attr, AttrData, Dim, Ir, Op, OpKind, Region, Sign, Traits, Type, TypeData, Value,
};
use rustc_hash::FxHashMap;

use super::{Rewriter, definer};

/// The attribute of a value that a constant op defines.
pub fn attr_of(ir: &Ir, value: Value) -> Option<Attr> {
    let op = definer(ir, value)?;
    ir.op(op).kind.has(Traits::CONSTANT).then(|| ir.attr(op, "value"))?
}

/// What a constant op says of its value; lists of elements are read into `lists`.
pub fn constant_of(ir: &Ir, value: Value, lists: &mut Lists) -> Option<Constant> {
    let attr = attr_of(ir, value)?;
    let ty = ir.value(value).ty;
    match Constant::of_attr(ir, attr, ty) {
        Constant::Unknown | Constant::Bottom => None,
        Constant::Other(attr) => Some(lists.read(ir, attr, ty).unwrap_or(Constant::Other(attr))),
        known => Some(known),
    }
}

/// The integer that a value is, or that each of its elements is, sign-extended.
pub fn int_of(ir: &Ir, value: Value) -> Option<i128> {
    Constant::of_attr(ir, attr_of(ir, value)?, ir.value(value).ty).int()
}

/// The attribute that says a constant of a type.
pub fn to_attr(ir: &mut Ir, lists: &Lists, constant: Constant, ty: Type) -> Option<Attr> {
    match constant {
        Constant::Bottom | Constant::Unknown => None,
        Constant::Other(attr) => Some(attr),
        Constant::Elements(_) => {
            let elements = lists.of(constant)?.to_vec();
            shaped(ir, ty, &elements)
        }
        Constant::Int(_) | Constant::Float(_) => match element_type(ir, ty) {
            Some(_) => shaped(ir, ty, &[constant]),
            None => scalar(ir, constant, ty),
        },
    }
}

/// The type of the elements of a shape.
pub fn element_type(ir: &Ir, ty: Type) -> Option<Type> {
    match ir.interner.type_data(ty) {
        TypeData::Vector { element, .. } | TypeData::Tensor { element, .. } => Some(*element),
        _ => None,
    }
}

fn scalar(ir: &mut Ir, constant: Constant, ty: Type) -> Option<Attr> {
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
    Some(ir.interner.attr(data))
}

/// Elements as `dense<...>`; one stands for all.
fn shaped(ir: &mut Ir, ty: Type, elements: &[Constant]) -> Option<Attr> {
    let element = element_type(ir, ty)?;
    let dims: Vec<u64> = match ir.interner.type_data(ty) {
        TypeData::Vector { dims, .. } => sizes(dims, elements.len() == 1)?,
        TypeData::Tensor { dims: Some(dims), .. } => sizes(dims, false)?,
        _ => return None,
    };
    let mut words = Vec::with_capacity(elements.len());
    for &it in elements {
        let attr = scalar(ir, it, element)?;
        let text = ir.interner.attr_text(attr);
        words.push(text.split(" : ").next().unwrap_or_default().to_owned());
    }
    let mut text = String::from("dense<");
    if let [one] = &words[..] {
        text.push_str(one);
    } else {
        // A bracket opens before element n for each dimension that starts there.
        let mut strides: Vec<u64> = vec![1; dims.len()];
        for at in (0..dims.len().saturating_sub(1)).rev() {
            strides[at] = strides[at + 1].checked_mul(dims[at + 1])?;
        }
        let whole = |at: usize, n: usize| {
            let block = strides[at].saturating_mul(dims[at]);
            block > 0 && (n as u64).is_multiple_of(block)
        };
        for (n, word) in words.iter().enumerate() {
            if n > 0 {
                text.push_str(", ");
            }
            (0..dims.len()).filter(|&at| whole(at, n)).for_each(|_| text.push('['));
            text.push_str(word);
            (0..dims.len()).filter(|&at| whole(at, n + 1)).for_each(|_| text.push(']'));
        }
    }
    text.push('>');
    let name = ir.interner.name(&text);
    Some(ir.interner.attr(AttrData::Elements(name, ty)))
}

fn sizes(dims: &[Dim], may_scale: bool) -> Option<Vec<u64>> {
    let size = |it: &Dim| match it {
        Dim::Fixed(size) => Some(*size),
        Dim::Scalable(size) if may_scale => Some(*size),
        _ => None,
    };
    dims.iter().map(size).collect()
}

impl Rewriter<'_> {
    /// A constant before an op; nothing is made if no op says it.
    pub fn constant(&mut self, constant: Constant, ty: Type, before: Op) -> Option<Value> {
        let attr = to_attr(self.ir, &self.lists, constant, ty)?;
        self.constant_attr(attr, ty, before)
    }

    /// A constant that an attribute says, before an op; nothing is made if no op says it.
    pub fn constant_attr(&mut self, attr: Attr, ty: Type, before: Op) -> Option<Value> {
        let name = constant_op(self.ir, attr, ty)?;
        Some(self.value(NewOp::new(name).attr("value", attr).results(&[ty]), before))
    }

    /// An integer, or a shape of equal ones, before an op.
    ///
    /// # Panics
    /// If the type has no integers: a mistake of the caller.
    pub fn int(&mut self, value: i128, ty: Type, before: Op) -> Value {
        let width = constant::width(self.ir, ty).expect("a type of integers");
        let value = Constant::Int(constant::sign_extended(value, width));
        self.constant(value, ty, before).expect("an integer is a constant")
    }

    /// What a value is known to be, if a constant op defines it.
    pub fn constant_of(&mut self, value: Value) -> Option<Constant> {
        constant_of(self.ir, value, &mut self.lists)
    }

    /// See [`int_of`].
    pub fn int_of(&self, value: Value) -> Option<i128> {
        int_of(self.ir, value)
    }
}

/// The op that says an attribute as a value of a type.
pub fn constant_op(ir: &Ir, attr: Attr, ty: Type) -> Option<&'static str> {
    match (ir.interner.attr_data(attr), ir.interner.type_data(ty)) {
        (AttrData::Symbol(_), TypeData::Function { .. }) => Some("func.constant"),
        (AttrData::Symbol(_), _) => None,
        _ if ir.interner.attr_type(attr) == Some(ty) => Some("arith.constant"),
        _ => None,
    }
}

/// The constants of a scope, each once, at the start of the scope.
#[derive(Debug, Default)]
pub struct Uniqued {
    by_value: FxHashMap<(Region, OpKind, Attr, Type), Op>,
    owned: rustc_hash::FxHashSet<Op>,
}

impl Uniqued {
    /// Takes in a constant op: merges it with an equal one of its scope, else moves it to the start of the scope. Says
    /// whether the op is still there.
    pub fn take(&mut self, rewriter: &mut Rewriter<'_>, op: Op) -> bool {
        let ir = &*rewriter.ir;
        let block = ir.block_of(op);
        let result = ir.op(op).results[0];
        let Some(attr) = ir.attr(op, "value") else { return true };
        let scope = constant_scope(ir, ir.block(block).region);
        let key = (scope, ir.op(op).kind, attr, ir.value(result).ty);
        if let Some(&same) = self.by_value.get(&key) {
            if same == op {
                return true;
            }
            let value = ir.op(same).results[0];
            rewriter.replace(op, &[value]);
            return false;
        }
        let Some(&target) = ir.blocks(scope).first() else { return true };
        let previous = ir.prev(op).filter(|&it| ir.op(it).kind.is_op());
        let is_in_place = block == target && previous.is_none_or(|it| self.owned.contains(&it));
        if !is_in_place {
            rewriter.ir.move_op(op, Point::Start(target));
        }
        self.by_value.insert(key, op);
        self.owned.insert(op);
        true
    }
}

impl Uniqued {
    /// The constant ops that there are, by their ids.
    pub fn ops(&self) -> Vec<Op> {
        let mut out: Vec<Op> = self.owned.iter().copied().collect();
        out.sort_unstable();
        out
    }

    /// The value of a constant in the scope of an op, made at the start of the scope if it is not there.
    pub fn get(
        &mut self,
        rewriter: &mut Rewriter<'_>,
        attr: Attr,
        ty: Type,
        user: Op,
    ) -> Option<Value> {
        let name = constant_op(rewriter.ir, attr, ty)?;
        let scope = constant_scope(rewriter.ir, rewriter.ir.op(user).parent);
        let &target = rewriter.ir.blocks(scope).first()?;
        let key = (scope, OpKind::of(name), attr, ty);
        let known = self.by_value.get(&key).copied();
        let op = known.unwrap_or_else(|| {
            let new = NewOp::new(name).attr("value", attr).results(&[ty]);
            rewriter.insert(new, Point::Start(target))
        });
        if known.is_some() && rewriter.ir.block_of(user) == target {
            rewriter.ir.move_op(op, Point::Start(target));
        }
        self.by_value.insert(key, op);
        self.owned.insert(op);
        Some(rewriter.ir.op(op).results[0])
    }
}

/// The region at whose start the constants of a region stand: that of the nearest op around that is isolated, not known, or has
/// nothing around it.
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
