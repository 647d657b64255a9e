//! Functions that the solver can follow calls into.

use noisy_syntax::{Form, Ir, Op, OpKind};

use crate::flow::{self, Flow};

/// Limit on the nesting of calls and regions. Results of calls that nest deeper are unknown. Each
/// level takes about 2 kB of stack.
pub const MAX_CALL_DEPTH: usize = if cfg!(target_family = "wasm") { 200 } else { 400_000 };

/// Least number of free bytes of stack at the start of the work on a body; with fewer the stack
/// grows.
const MIN_STACK: usize = 256 << 10;
/// Number of bytes by which the stack grows.
const STACK_GROWTH: usize = 8 << 20;

/// Runs the work on one body on a stack that grows on demand. The caller limits the nesting to
/// [`MAX_CALL_DEPTH`].
pub fn with_growing_stack<T>(work: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(MIN_STACK, STACK_GROWTH, work)
}

/// Returns true if calls can be followed into a function: only modules are around it, and its body
/// was fully parsed.
pub fn is_callable(ir: &Ir, function: Op) -> bool {
    let mut around = std::iter::successors(ir.parent_op(function), |&it| ir.parent_op(it));
    around.all(|it| Flow::of(ir, it) == Flow::Group)
        && flow::function_body(ir, function).is_some()
        && ir.op(function).regions.len() == 1
}

/// Returns true if a function may have unknown callers: it is not private, or an op other than a
/// call mentions it.
pub fn may_have_unknown_callers(ir: &Ir, function: Op) -> bool {
    let Some((name, _)) = ir.extra(function).symbol else { return true };
    !flow::is_private(ir, function)
        || ir.symbol_users(name).iter().any(|&it| ir.op(it).kind != OpKind::FuncCall)
}

/// Returns the callee of a call if the call can be followed into its body. `None` if the call
/// cannot be followed: it is malformed, its callee is not [callable](is_callable), or their types
/// differ.
pub fn followed_callee(ir: &Ir, call: Op) -> Option<Op> {
    let data = ir.op(call);
    if data.kind != OpKind::FuncCall || matches!(data.form, Form::Broken | Form::Opaque) {
        return None;
    }
    let function = flow::callee(ir, call).filter(|&it| is_callable(ir, it))?;
    let args = ir.block(flow::entry_block(ir, flow::function_body(ir, function)?)).args.len();
    (args == data.operands.len() && flow::n_results(ir, function) == data.results.len())
        .then_some(function)
}

/// Sorts functions by name, then by the names of the enclosing modules, then by position in the
/// text.
pub(super) fn sort_by_name(ir: &Ir, functions: &mut [Op]) {
    let name = |op: Op| ir.extra(op).symbol.map_or("", |it| ir.interner.str(it.0));
    functions.sort_by_cached_key(|&it| name(it));
    for same in functions.chunk_by_mut(|&a, &b| name(a) == name(b)).filter(|it| it.len() > 1) {
        same.sort_by_cached_key(|&function| {
            let around = std::iter::successors(ir.parent_op(function), |&it| ir.parent_op(it));
            (around.map(name).collect::<Vec<_>>(), ir.start(function))
        });
    }
}
