//! redundant-reduce: a `reduce_noise` that lowers nothing
//!
//! A `reduce_noise` whose operand has no more noise than the op leaves. It costs a bootstrapping and changes nothing.
//!
//! ```mlir
//! %0 = noisy.encode %x : i5 -> !noisy.i32       // noise 12
//! %1 = noisy.reduce_noise %0 : !noisy.i32       // noise 12
//! ```
//!
//! The fix uses the operand instead and removes the op: no noise anywhere gets larger by that.

use noisy_syntax::{Form, Op, OpKind};

use super::Check;
use crate::derivation::core_range;
use crate::model::Growth;
use crate::{Applicability, Category, Diagnostic, Document, Fix, Severity, Tag, TextEdit};

pub(super) const CHECK: Check = Check {
    code: "redundant-reduce",
    category: Category::Lint,
    severity: Severity::Hint,
    tag: Some(Tag::Unnecessary),
    source: include_str!("redundant_reduce.rs"),
    run: check,
    fix: Some(fix),
};

fn check(document: &Document, out: &mut Vec<Diagnostic>) {
    let ir = document.ir();
    for op in document.facts().analysis.idle_resets(ir) {
        let Some(rule) = document.model().rule(ir.op_name(op)) else { continue };
        let Some(Growth::Reset(level)) = document.model().growth(ir, op, rule) else { continue };
        let operand = document.model().carriers(ir, op, rule).next().flatten();
        let noise = operand.and_then(|it| document.noise(it).hi());
        let Some(noise) = noise.filter(|&it| it <= level) else { continue };
        let message = format!("the noise is {noise} before, and {level} after");
        let mut it = CHECK.at(core_range(ir, op), message);
        it.help = Some("use its operand instead".into());
        out.push(it);
    }
}

fn fix(document: &Document, diagnostic: &Diagnostic) -> Option<Fix> {
    removal(document, document.ir().item_at(diagnostic.range.start)?)
}

/// Uses the operand in place of the result and takes the op out, with its line if nothing else stands there.
fn removal(document: &Document, op: Op) -> Option<Fix> {
    let (ir, text) = (document.ir(), document.source().text());
    let data = ir.op(op);
    if data.kind == OpKind::Unknown || matches!(data.form, Form::Broken | Form::Opaque) {
        return None;
    }
    let (&[result], [operand]) = (data.results.as_slice(), data.operands.as_slice()) else {
        return None;
    };
    let by = document.source().span_text(op, operand.span);
    let mut edits: Vec<TextEdit> = Vec::new();
    for &(user, index) in &ir.value(result).uses {
        let range = ir.absolute(user, ir.op(user).operands[index as usize].span);
        edits.push(TextEdit { range, text: by.clone() });
    }
    let mut range = ir.range(op);
    let line = text.byte_to_line(range.start);
    let line_start = text.line_to_byte(line);
    let line_end = text.line_to_byte(line + 1);
    let before = text.byte_slice(line_start..range.start).to_string();
    let after = text.byte_slice(range.end..line_end.max(range.end)).to_string();
    if before.trim().is_empty() && after.trim().is_empty() {
        range = line_start..line_end.max(range.end);
    }
    if edits.iter().any(|it| it.range.start < range.end && range.start < it.range.end) {
        return None;
    }
    edits.push(TextEdit { range, text: String::new() });
    edits.sort_by_key(|it| it.range.start);
    Some(Fix {
        title: format!("Remove this {}", ir.op_name(op).rsplit('.').next().unwrap_or_default()),
        applicability: Applicability::Safe,
        edits,
    })
}
