//! Patterns of `memref.extract_strided_metadata`, `memref.reinterpret_cast` and
//! `memref.alloca_scope`.

use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Def, Dim, Op, OpKind, StridedLayout, Type, Value};

use rustc_hash::FxHashSet;

use super::memref::{DYNAMIC, subview_parts};
use super::patterns;
use super::scf::{inline_region, only_block, regions};
use crate::rewrite::greedy::Pattern;
use crate::rewrite::{Rewriter, nested_ops, operands};
use noisy_analyses::facts::effects::{self, dims_of};

pub(super) const PATTERNS: &[Pattern] = patterns! {
    MemrefExtractStridedMetadata: known_layout;
    MemrefReinterpretCast: view_of_view, view_of_parts, view_of_same;
    MemrefAllocaScope: needless_scope, hoisted_allocas;
};

/// Replaces the extracted offset, sizes and strides that are static in the type by constants.
fn known_layout(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let buffer = rewriter.operand(op, 0);
    let results = rewriter.ir.op(op).results.clone();
    let Some(StridedLayout { offset, strides }) = rewriter.ir.interner.layout(rewriter.ty(buffer))
    else {
        return false;
    };
    let Some(dims) = dims_of(rewriter.ir, buffer) else { return false };
    let sizes = dims.iter().map(|it| match it {
        Dim::Fixed(size) => i64::try_from(*size).ok(),
        _ => None,
    });
    let known: Vec<Option<i64>> = std::iter::once(offset).chain(sizes).chain(strides).collect();
    if results.len() != known.len() + 1 {
        return false;
    }
    let mut is_changed = false;
    for (&result, known) in results[1..].iter().zip(known) {
        let Some(known) = known.filter(|_| !rewriter.ir.value(result).uses.is_empty()) else {
            continue;
        };
        let number = rewriter.int(known.into(), Type::INDEX, op);
        rewriter.replace_uses(result, number);
        is_changed = true;
    }
    is_changed
}

/// Replaces the source of a `reinterpret_cast` by the source of an intermediate view with the same
/// base. The result does not depend on the shape and strides of its source.
fn view_of_view(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let source = rewriter.operand(op, 0);
    let Some(inner) = rewriter.ir.defining_op(source) else { return false };
    let has_same_base = match rewriter.ir.op(inner).kind {
        OpKind::MemrefReinterpretCast | OpKind::MemrefCast => true,
        OpKind::MemrefSubview => {
            subview_parts(rewriter.ir, inner).is_some_and(|it| it.0[0].iter().all(|&it| it == 0))
        }
        _ => false,
    };
    if has_same_base {
        let base = rewriter.operand(inner, 0);
        rewriter.set_operand(op, 0, base);
    }
    has_same_base
}

/// Replaces a `reinterpret_cast` to the extracted offset, sizes and strides of a buffer by the
/// buffer.
fn view_of_parts(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let base = rewriter.operand(op, 0);
    let Some(parts) = rewriter.defined_by(base, OpKind::MemrefExtractStridedMetadata) else {
        return false;
    };
    let results = rewriter.ir.op(parts).results.clone();
    if results.first() != Some(&base) {
        return false;
    }
    let buffer = rewriter.operand(parts, 0);
    let Some(StridedLayout { offset, strides }) = rewriter.ir.interner.layout(rewriter.ty(buffer))
    else {
        return false;
    };
    let Some((lists, values)) = subview_parts(rewriter.ir, op) else { return false };
    let Some(dims) = dims_of(rewriter.ir, buffer) else { return false };
    let sizes: Vec<Option<i64>> = dims
        .iter()
        .map(|it| match it {
            Dim::Fixed(size) => i64::try_from(*size).ok(),
            _ => None,
        })
        .collect();
    let n = sizes.len();
    if results.len() != 2 + 2 * n {
        return false;
    }
    // For each list: the static entries of the type, and the index of the first result with dynamic
    // values.
    let truth = [(vec![offset], 1), (sizes, 2), (strides, 2 + n)];
    for (((list, values), (known, first)), n) in lists.iter().zip(&values).zip(truth).zip([1, n, n])
    {
        if list.len() != n {
            return false;
        }
        let mut next = values.iter();
        for (at, &number) in list.iter().enumerate() {
            let value = if number == DYNAMIC { next.next().copied() } else { None };
            let said = match value {
                Some(value) => rewriter.int_of(value).and_then(|it| i64::try_from(it).ok()),
                None => Some(number),
            };
            let is_same = value == Some(results[first + at]) || said.is_some() && said == known[at];
            if !is_same {
                return false;
            }
        }
    }
    let ty = rewriter.ty(rewriter.ir.op(op).results[0]);
    if ty == rewriter.ty(buffer) {
        rewriter.replace(op, &[buffer]);
    } else {
        rewriter.replace_with(op, NewOp::new("memref.cast").operands(&[buffer]).results(&[ty]));
    }
    true
}

/// Removes a `reinterpret_cast` whose source has the same static type with offset zero.
fn view_of_same(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let source = rewriter.operand(op, 0);
    let ty = rewriter.ty(rewriter.ir.op(op).results[0]);
    let is_known = rewriter
        .ir
        .interner
        .layout(ty)
        .is_some_and(|it| it.offset == Some(0) && it.strides.iter().all(Option::is_some));
    let is_static = dims_of(rewriter.ir, source)
        .is_some_and(|it| it.iter().all(|it| matches!(it, Dim::Fixed(_))));
    let is_same = rewriter.ty(source) == ty && is_known && is_static;
    if is_same {
        rewriter.replace(op, &[source]);
    }
    is_same
}

/// Returns true if `memref.alloca` ops in an op of this kind live until the end of the op.
fn is_scope(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::FuncFunc
            | OpKind::ScfFor
            | OpKind::ScfParallel
            | OpKind::ScfForall
            | OpKind::AffineFor
            | OpKind::AffineParallel
            | OpKind::MemrefAllocaScope
    )
}

/// Returns true if an op is the last one before the terminator of a region with one block.
fn is_last_before_terminator(rewriter: &Rewriter<'_>, op: Op) -> bool {
    let next = rewriter.ir.next(op);
    only_block(rewriter.ir, rewriter.ir.op(op).parent).is_some()
        && next.is_some_and(|it| {
            rewriter.ir.next(it).is_none()
                && (rewriter.ir.op(it).kind.has(noisy_syntax::Traits::TERMINATOR)
                    || rewriter.ir.op(it).kind == OpKind::Unknown)
        })
}

/// Returns the ops in a scope, without those in nested scopes.
fn own_ops(rewriter: &Rewriter<'_>, scope: Op) -> Vec<Op> {
    let mut out = Vec::new();
    let mut stack = vec![scope];
    while let Some(op) = stack.pop() {
        for region in regions(rewriter.ir, op) {
            for inner in rewriter.ir.items(region).filter(|&it| rewriter.ir.op(it).kind.is_op()) {
                out.push(inner);
                if !is_scope(rewriter.ir.op(inner).kind) {
                    stack.push(inner);
                }
            }
        }
    }
    out
}

/// Inlines a scope that has no allocations or is the last op of the enclosing scope.
fn needless_scope(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let may_allocate = own_ops(rewriter, op).into_iter().any(|it| {
        let data = rewriter.ir.op(it);
        if is_scope(data.kind) {
            return false;
        }
        match effects::accesses(rewriter.ir, it) {
            None => true,
            Some(_) => data.kind == OpKind::MemrefAlloca,
        }
    });
    if may_allocate {
        let is_in_scope =
            rewriter.ir.parent_op(op).is_some_and(|it| is_scope(rewriter.ir.op(it).kind));
        if !is_in_scope || !is_last_before_terminator(rewriter, op) {
            return false;
        }
    }
    let [region] = regions(rewriter.ir, op)[..] else { return false };
    inline_region(rewriter, op, region, &[])
}

/// Moves allocations out of a scope that ends together with the enclosing scope, before the ops
/// between both scopes.
fn hoisted_allocas(rewriter: &mut Rewriter<'_>, op: Op) -> bool {
    let is_scope_op = |rewriter: &Rewriter<'_>, it: Op| is_scope(rewriter.ir.op(it).kind);
    let Some(mut outer) = rewriter.ir.parent_op(op) else { return false };
    if is_scope_op(rewriter, outer) || !is_last_before_terminator(rewriter, op) {
        return false;
    }
    loop {
        if !rewriter.ir.op(outer).kind.is_op() || !is_last_before_terminator(rewriter, outer) {
            return false;
        }
        let Some(around) = rewriter.ir.parent_op(outer) else { return false };
        if is_scope_op(rewriter, around) {
            break;
        }
        outer = around;
    }
    let inside: FxHashSet<Op> = nested_ops(rewriter.ir, outer).into_iter().collect();
    let is_outside = |rewriter: &Rewriter<'_>, value: Value| match rewriter.ir.value(value).def {
        Def::Result(it, _) => !inside.contains(&it),
        Def::Argument(block, _) => {
            let around = rewriter.ir.region(rewriter.ir.block(block).region).parent;
            around.is_some_and(|it| it != outer && !inside.contains(&it))
        }
    };
    let allocas: Vec<Op> = own_ops(rewriter, op)
        .into_iter()
        .filter(|&it| rewriter.ir.op(it).kind == OpKind::MemrefAlloca)
        .filter(|&it| operands(rewriter.ir, it).into_iter().all(|it| is_outside(rewriter, it)))
        .collect();
    for &it in &allocas {
        rewriter.move_op(it, InsertionPoint::Before(outer));
    }
    !allocas.is_empty()
}
