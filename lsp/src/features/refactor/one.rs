//! What passes know of one op: it computes what another op has computed (`cse`), its value is one constant (`sccp`), it does not change in the
//! loop around (`loop-invariant-code-motion`).
//!
//! Offering asks what the passes ask; the edits are made by the pass itself, which changes nothing but this op, and are proven as those of
//! cleaning up ([`noisy_opt::driver::keep`]). *Cost.* Offering looks at the users of an operand, up to [`MOST`] of them.

use noisy_analyses::{Constant, Document, TextEdit, effects, invariant, same};
use noisy_opt::driver::keep;
use noisy_opt::driver::pipeline::Pipeline;
use noisy_syntax::{Ir, Op, Traits, Type};

use super::{Kind, clean};
use crate::features::cursor;

/// How many ops are compared.
const MOST: usize = 256;

/// What can be done to the op at an offset, and what that is called.
pub(super) fn offered(document: &Document, offset: usize) -> Vec<(Kind, String)> {
    let ir = document.ir();
    let mut out = Vec::new();
    let Some(op) = ir.item_at(offset).filter(|&it| is_plain(ir, it)) else { return out };
    if let Some(same) = earlier(ir, op) {
        let line = document.source().text().byte_to_line(ir.range(same).start) + 1;
        let name = ir.value_text(ir.op(same).results[0]);
        out.push((Kind::Merge, format!("Use {name} of line {line}, which is the same value")));
    }
    if let [value] = ir.op(op).results[..]
        && let constant @ (Constant::Int(_) | Constant::Float(_)) =
            document.integers().constant(ir, value)
    {
        let name = ir.value_text(value);
        let value = match constant {
            Constant::Int(it) if ir.value(value).ty == Type::I1 => (it != 0).to_string(),
            it => it.to_string(),
        };
        out.push((Kind::Fold, format!("Replace {name} by its value, {value}")));
    }
    if invariant::may_leave_loop(ir, op) {
        let title = "Move before the loop: it does not change in there".to_owned();
        out.push((Kind::Hoist, title));
    }
    let function = cursor::function_at(ir, offset);
    if !function.is_some_and(|it| clean::is_possible(document, it)) {
        out.clear();
    }
    out
}

/// Whether an op computes something from operands and does nothing else.
fn is_plain(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    data.kind.is_op()
        && !data.kind.has(Traits::CONSTANT)
        && !data.results.is_empty()
        && data.regions.is_empty()
        && effects::is_free_of_effects(ir, op)
}

/// An op before it in its block, or before an op around in the block of that, that computes the same.
fn earlier(ir: &Ir, op: Op) -> Option<Op> {
    let first = ir.op(op).operands.first()?.value?;
    let users = ir.value(first).uses.iter().take(MOST).map(|it| it.0);
    let mut users = users.filter(|&it| it != op && same::computes_same(ir, it, op, &|it| it));
    users.find(|&it| {
        let mut at = Some(op);
        while let Some(inner) = at.filter(|&at| ir.block_of(at) != ir.block_of(it)) {
            // What is isolated sees nothing of what is around.
            at = ir.parent_op(inner).filter(|&it| !ir.op(it).kind.has(Traits::ISOLATED));
        }
        at.is_some_and(|at| ir.is_before(it, at))
    })
}

/// The edits; an error says why there are none.
pub(super) fn edits(
    document: &Document,
    function: Op,
    kind: Kind,
    offset: usize,
) -> Result<Vec<TextEdit>, String> {
    let ir = document.ir();
    let op = ir.item_at(offset).ok_or("the op no longer exists")?;
    let pass = match kind {
        Kind::Merge => "cse",
        Kind::Fold => "sccp",
        _ => "loop-invariant-code-motion",
    };
    let pipeline = Pipeline::parse(&format!("func.func({pass})")).map_err(|it| it.message)?;
    let text = document.source().text().to_string();
    let (at, only) = (ir.range(function).start, ir.range(op).start);
    let edits = keep::edits_of_one(&text, &pipeline, at, only)?;
    if edits.is_empty() {
        return Err(format!("`{pass}` of this function alone leaves the op as it is"));
    }
    Ok(edits)
}
