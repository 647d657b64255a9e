//! Hover: what a value is and where its noise comes from, what an op does, what a symbol is.

use std::fmt::Write as _;
use std::ops::Range;

use noisy_analyses::liveness::Liveness;
use noisy_analyses::{Bits, Document, Growth, Noise};
use noisy_syntax::{Block, Def, Ir, Op, OpKind, Region, Type, Value};

use super::cursor::{self, Entity};
use super::definition::defining;
use super::hint;

/// A text about a place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hover {
    /// The place, in bytes.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
    /// Whether it is about something noisy.
    pub is_of_noise: bool,
}

/// A signature longer than this is cut.
const MAX_CODE: usize = 400;

/// What there is to say about what stands at an offset.
pub(crate) fn hover(document: &Document, offset: usize) -> Option<Hover> {
    let mention = cursor::mention_at(document.source(), offset)?;
    let ir = document.ir();
    let text = match mention.entity {
        Entity::Value(value) => about_value(document, value),
        Entity::OpName(op) => about_op(document, op),
        Entity::Block(block) => {
            let n = ir.block(block).preds.len();
            let from = if n == 1 { "1 place".to_owned() } else { format!("{n} places") };
            let label = ir.block(block).label.map_or(String::new(), |it| head(document, it));
            let mut out = format!("{}\nReached from {from}.\n", code(&label));
            if let Some(live) = live_in(document, block) {
                let _ = writeln!(out, "\n{live}");
            }
            out
        }
        Entity::Symbol(op) => about_symbol(document, op),
        Entity::Alias(..) => {
            let (op, _) = defining(ir, mention.entity)?;
            code(&head(document, op))
        }
    };
    let is_of_noise = match mention.entity {
        Entity::Value(value) => document.is_noisy(value),
        Entity::OpName(op) => {
            let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
            let mut all = ir.op(op).results.iter().copied().chain(operands);
            all.any(|it| document.is_noisy(it))
        }
        _ => false,
    };
    Some(Hover { range: mention.range, text, is_of_noise })
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
    if let Some(range) = document.integers().range(value).in_words() {
        let _ = writeln!(out, "value {range}\n");
    }
    if let Some(op) = ir.defining_op(value)
        && !document.integers().is_live(ir, op)
    {
        out.push_str("never reached: control does not come here\n\n");
    }
    out.truncate(out.trim_end().len());
    out.push_str("\n\n");
    match (data.def, ir.defining_op(value)) {
        (Def::Argument(..), Some(op)) if ir.op(op).kind == OpKind::FuncFunc => {
            let why = document.assumption(value).map(|it| it.text(document.model().fresh));
            let why = why.map_or(String::new(), |it| format!(", {it}"));
            let _ = writeln!(out, "Parameter of `@{}`{why}.", document.function_name(op));
        }
        (Def::Argument(..), Some(_)) => out.push_str("Block argument.\n"),
        (Def::Result(..), Some(op)) => {
            let _ = writeln!(out, "Result of `{}`.", ir.op_name(op));
        }
        (_, None) => {}
    }
    let lines = last_uses(document, value);
    out.push_str(&match (data.uses.len(), &*lines) {
        (0, _) => "Not used.".to_owned(),
        (1, [line]) => format!("Used once, on line {line}."),
        (1, _) => "Used once.".to_owned(),
        (n, []) => format!("Used {n} times."),
        (n, [line]) => format!("Used {n} times, last on line {line}."),
        (n, [first @ .., line]) => {
            let first: Vec<String> = first.iter().map(ToString::to_string).collect();
            format!("Used {n} times, last on line {} or {line}.", first.join(", "))
        }
    });
    out.push('\n');
    out
}

/// Last uses are looked for among at most so many.
const MAX_USES: usize = 4096;
/// Liveness is solved in regions of at most so many bytes.
const MAX_REGION: usize = 1 << 18;
/// No more lines or names than this are listed.
const MAX_LIST: usize = 8;

/// The liveness of a region with labels, if the region is not too long for the moment that a hover has.
fn liveness(ir: &Ir, region: Region) -> Option<Liveness> {
    (ir.region_len(region) <= MAX_REGION).then(|| Liveness::new(ir, region))
}

/// The lines, from 1, of the uses behind which a value is no longer live, one on each way that control takes; none if that would take long to find or
/// long to read.
fn last_uses(document: &Document, value: Value) -> Vec<usize> {
    let ir = document.ir();
    let uses = &ir.value(value).uses;
    let region = match ir.value(value).def {
        Def::Result(op, _) => ir.op(op).parent,
        Def::Argument(block, _) => ir.block(block).region,
    };
    if uses.len() > MAX_USES {
        return Vec::new();
    }
    let mut starts: Vec<usize> = uses.iter().map(|it| ir.name_range(it.0).start).collect();
    starts.sort_unstable();
    if ir.has_labels(region) {
        let Some(liveness) = liveness(ir, region) else { return Vec::new() };
        // Ops of the region; the uses may stand in regions of theirs.
        let ops = liveness.last_uses(ir, region, value).into_iter().map(|it| ir.range(it));
        let last = ops.filter_map(|it| starts[..starts.partition_point(|&at| at < it.end)].last());
        let mut last: Vec<usize> = last.copied().collect();
        last.sort_unstable();
        starts = last;
    } else {
        starts.drain(..starts.len().saturating_sub(1));
    }
    if starts.len() > MAX_LIST {
        return Vec::new();
    }
    let mut lines: Vec<usize> =
        starts.into_iter().map(|it| document.source().text().byte_to_line(it) + 1).collect();
    lines.dedup();
    lines
}

/// The values that are live where a block starts, besides its arguments, in words.
fn live_in(document: &Document, block: Block) -> Option<String> {
    let ir = document.ir();
    let liveness = liveness(ir, ir.block(block).region)?;
    let live = liveness.live_in(block)?.as_slice();
    let mut names: Vec<String> = live.iter().map(|&it| ir.value_text(it)).collect();
    names.sort_unstable();
    if names.len() > MAX_LIST {
        let more = names.len() - MAX_LIST;
        names.truncate(MAX_LIST);
        names.push(format!("and {more} more"));
    }
    (!names.is_empty()).then(|| format!("Live where it starts: {}.", names.join(", ")))
}

/// The noise of a value and how it came about.
fn noise(document: &Document, value: Value, out: &mut String) {
    let budget = document.model().budget;
    let is_noisy = document.is_noisy(value);
    match *document.noise(value) {
        noise @ Noise::Range { hi, .. } => {
            let left = if hi == Bits::MAX {
                format!("**grows from round to round, over the budget of {budget}**")
            } else if hi > budget {
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
            let op = step.op.map_or(String::new(), |op| match ir.op(op).kind {
                OpKind::Label => format!("^{}", ir.interner.str(ir.op(op).name)),
                _ => ir.op_name(op).to_owned(),
            });
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
    if let Some(growth) = hint::growth(document, op) {
        let _ = writeln!(out, "\nOver its rounds: {growth}.");
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
