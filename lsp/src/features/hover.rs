//! Hover: what a value is and where its noise comes from, what an op does, what a symbol is.

use std::fmt::Write as _;
use std::ops::Range;

use noisy_analyses::{Document, Growth, Noise};
use noisy_syntax::{Ir, Op, OpKind, Type, Value};

use super::cursor::{self, Thing};
use super::definition::defining;
use super::hint;

/// A text about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hover {
    /// The place, in bytes.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
}

/// A signature longer than this is cut.
const MAX_CODE: usize = 400;

/// What there is to say about what stands at an offset.
pub(crate) fn hover(document: &Document, offset: usize) -> Option<Hover> {
    let mention = cursor::mention_at(document.source(), offset)?;
    let ir = document.ir();
    let text = match mention.thing {
        Thing::Value(value) => about_value(document, value),
        Thing::OpName(op) => about_op(document, op),
        Thing::Block(block) => {
            let n = ir.block(block).preds.len();
            let from = if n == 1 { "1 place".to_owned() } else { format!("{n} places") };
            let label = ir.block(block).label.map_or(String::new(), |it| head(document, it));
            format!("{}\nReached from {from}.", code(&label))
        }
        Thing::Symbol(op) => about_symbol(document, op),
        Thing::Alias(..) => {
            let (op, _) = defining(ir, mention.thing)?;
            code(&head(document, op))
        }
    };
    Some(Hover { range: mention.range, text })
}

fn code(text: &str) -> String {
    let mut end = text.len().min(MAX_CODE);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = if end < text.len() { " ..." } else { "" };
    // A fence longer than any in the text.
    let fence = "`".repeat(if text.contains("```") { 8 } else { 3 });
    format!("{fence}mlir\n{}{more}\n{fence}\n", &text[..end])
}

/// The text of an op up to its first region, without comments in front.
fn head(document: &Document, op: Op) -> String {
    let range = document.ir().head_range(op);
    let end = range.end.min(range.start + 4 * MAX_CODE);
    let rope = document.source().text();
    let end = rope.char_to_byte(rope.byte_to_char(end));
    document.source().slice(range.start..end).trim_end().trim_end_matches('{').trim_end().to_owned()
}

fn type_text(ir: &Ir, ty: Type) -> String {
    if ty == Type::UNKNOWN { "unknown type".to_owned() } else { ir.interner.type_text(ty) }
}

fn about_value(document: &Document, value: Value) -> String {
    let ir = document.ir();
    let data = ir.value(value);
    let name = ir.value_text(value);
    let mut out = code(&format!("{name} : {}", type_text(ir, data.ty)));
    noise(document, value, &mut out);
    if let Some(range) = hint::in_words(document, value) {
        let _ = writeln!(out, "value {range}\n");
    }
    if let Some(op) = ir.definer(value)
        && !document.integers().is_live(ir, op)
    {
        out.push_str("never reached: control does not come here\n\n");
    }
    match (data.def, ir.definer(value)) {
        (noisy_syntax::Def::Argument(..), Some(op)) if ir.op(op).kind == OpKind::FuncFunc => {
            let _ = writeln!(out, "\nParameter of `@{}`.", document.function_name(op));
        }
        (noisy_syntax::Def::Argument(..), Some(_)) => out.push_str("\nBlock argument.\n"),
        (noisy_syntax::Def::Result(..), Some(op)) => {
            let _ = writeln!(out, "\nResult of `{}`.", ir.op_name(op));
        }
        (_, None) => {}
    }
    let n = data.uses.len();
    let _ = writeln!(
        out,
        "{}",
        if n == 1 { "Used once.".to_owned() } else { format!("Used {n} times.") }
    );
    out
}

/// The noise of a value and how it came about.
fn noise(document: &Document, value: Value, out: &mut String) {
    let budget = document.model().budget;
    let is_noisy = document.is_noisy(value);
    match *document.noise(value) {
        noise @ Noise::Range { hi, .. } => {
            let left = if hi > budget {
                format!("**{} over the budget of {budget}**", hi - budget)
            } else {
                format!("{} left of {budget}", budget - hi)
            };
            let _ = writeln!(out, "noise **{noise}**, {left}\n");
        }
        Noise::Unknown if is_noisy => out.push_str("noise **unknown**\n\n"),
        _ => return,
    }
    let derivation = document.derivation(value);
    if derivation.steps.len() > 1 || derivation.shortened {
        let ir = document.ir();
        let width =
            derivation.steps.iter().map(|it| ir.value_text(it.value).len()).max().unwrap_or(0);
        out.push_str("```text\n");
        if derivation.shortened {
            out.push_str("...\n");
        }
        for step in &derivation.steps {
            let op = step.op.map_or("", |op| ir.op_name(op));
            let _ = writeln!(
                out,
                "{:width$}  {:<7}  {op}: {}",
                ir.value_text(step.value),
                step.noise.to_string(),
                step.rule
            );
        }
        out.push_str("```\n");
    } else if let Some(step) = derivation.steps.first() {
        let _ = writeln!(out, "{}\n", step.rule);
    }
}

fn about_op(document: &Document, op: Op) -> String {
    let ir = document.ir();
    let name = ir.op_name(op);
    let spec = ir.op(op).kind.spec();
    let mut out = format!("**{name}**\n\n");
    if spec.doc.is_empty() {
        out.push_str("An op that is not described here.\n");
    } else {
        let _ = writeln!(out, "{}", spec.doc.trim());
    }
    if let Some(rounds) = hint::rounds(document, op) {
        let _ = writeln!(out, "\nRuns {rounds}.");
    }
    if ir.op(op).kind.is_op() && !document.integers().is_live(ir, op) {
        out.push_str("\nNever reached: control does not come here.\n");
    }
    let model = document.model();
    if let Some(rule) = model.rule(name)
        && let Some(growth) = model.growth(ir, op, rule)
        && ir.op(op).results.iter().any(|&it| document.is_noisy(it))
    {
        let rule = match growth {
            Growth::Fresh(level) => format!("fresh noise, {level} bits"),
            Growth::Max(0) => "the noise of the noisiest operand".to_owned(),
            Growth::Max(k) => format!("the noise of the noisiest operand + {k}"),
            Growth::Sum(0) => "the sum of the operands' noise".to_owned(),
            Growth::Sum(k) => format!("the sum of the operands' noise + {k}"),
            Growth::Reset(level) => format!("{level} bits, whatever the operand's"),
        };
        let _ =
            writeln!(out, "\nNoise of the result: {rule}. The budget is {} bits.\n", model.budget);
        if let Some(&value) = ir.op(op).results.first() {
            noise(document, value, &mut out);
        }
    }
    out
}

fn about_symbol(document: &Document, op: Op) -> String {
    let mut out = code(&head(document, op));
    // Comment lines right above it are its documentation.
    let ir = document.ir();
    let start = ir.start(op);
    let lead = (ir.op(op).lead as usize).min(4096);
    let rope = document.source().text();
    let from = rope.char_to_byte(rope.byte_to_char(start + ir.op(op).lead as usize - lead));
    let trivia = document.source().slice(from..start + ir.op(op).lead as usize);
    let mut lines: Vec<&str> =
        trivia.lines().rev().map(str::trim).skip_while(|it| it.is_empty()).collect();
    let n =
        lines.iter().take_while(|it| it.starts_with("//") && !it.starts_with("// -----")).count();
    lines.truncate(n);
    if !lines.is_empty() {
        out.push('\n');
    }
    for line in lines.iter().rev() {
        let _ = writeln!(out, "{}  ", line.trim_start_matches('/').trim());
    }
    out
}
