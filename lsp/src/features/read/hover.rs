//! Hovers. For a value: its type, its noise and the derivation of its noise. For an op: its
//! documentation and its effect. For a symbol: its definition.

use std::fmt::Write as _;
use std::ops::Range;

use noisy_analyses::explain::SaturationCache;
use noisy_analyses::facts::liveness::Liveness;
use noisy_analyses::program::depth::Depth;
use noisy_analyses::program::secretness::Secretness;
use noisy_analyses::{DerivationStep, Document, Growth};
use noisy_dataflow::flow;
use noisy_settings::LoopSettings;
use noisy_syntax::{Block, Def, Ir, Op, OpKind, Region, Type, Value, floor_char_boundary};

use crate::features::find::cursor::{self, Entity};
use crate::features::find::definition::defining_op;
use crate::features::read::ciphertext;
use crate::features::read::hint;
use crate::features::write::completion::first_sentence;
use crate::features::{nest, texts};

/// A text about a range.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Hover {
    /// The range, in bytes.
    pub range: Range<usize>,
    /// Markdown.
    pub text: String,
    /// True if it is about a noisy entity.
    pub is_about_noise: bool,
}

/// Maximum length of a signature, in bytes.
const MAX_CODE: usize = 400;

/// The hover at an offset.
pub(crate) fn hover(document: &Document, offset: usize, loops: LoopSettings) -> Option<Hover> {
    let mention = cursor::mention_at(document.source(), offset)?;
    let ir = document.ir();
    let text = match mention.entity {
        Entity::Value(value) => value_text(document, value),
        Entity::OpName(op) => op_text(document, op, loops),
        Entity::Block(block) => {
            let n = ir.block(block).preds.len();
            let is_entry = flow::entry_block(ir, ir.block(block).region) == block;
            let from = match n {
                0 if is_entry => "The entry block: control starts here".to_owned(),
                0 => "Unreachable: no branch leads here".to_owned(),
                1 => "Reached by 1 branch".to_owned(),
                n => format!("Reached by {n} branches"),
            };
            let label = ir.block(block).label.map_or(String::new(), |it| head_text(document, it));
            let mut out = format!("{}\n{from}.\n", code_block(&label));
            if let Some(live) = live_in_text(document, block) {
                let _ = writeln!(out, "\n{live}");
            }
            out
        }
        Entity::Symbol(op) => symbol_text(document, op),
        Entity::Alias(..) => {
            let (op, _) = defining_op(ir, mention.entity)?;
            code_block(&head_text(document, op))
        }
    };
    let carries = |value: Value| {
        document.is_noisy(value) || ciphertext::numbers_of(document, value).is_some()
    };
    let is_of_noise = match mention.entity {
        Entity::Value(value) => carries(value),
        Entity::OpName(op) => {
            let operands = ir.op(op).operands.iter().filter_map(|it| it.value);
            let mut all = ir.op(op).results.iter().copied().chain(operands);
            all.any(carries)
        }
        _ => false,
    };
    Some(Hover { range: mention.range, text, is_about_noise: is_of_noise })
}

fn code_block(text: &str) -> String {
    let end = floor_char_boundary(text, MAX_CODE);
    let more = if end < text.len() { " ..." } else { "" };
    // The fence is longer than any fence in the text.
    let fence = "`".repeat(if text.contains("```") { 8 } else { 3 });
    format!("{fence}mlir\n{}{more}\n{fence}\n", &text[..end])
}

/// The text of an op up to its first region, without comments before it.
fn head_text(document: &Document, op: Op) -> String {
    let range = document.ir().head_range(op);
    let end = range.end.min(range.start + 4 * MAX_CODE);
    let rope = document.source().text();
    let end = rope.char_to_byte(rope.byte_to_char(end));
    document.source().slice(range.start..end).trim_end().trim_end_matches('{').trim_end().to_owned()
}

fn type_text(ir: &Ir, ty: Type) -> String {
    if ty == Type::UNKNOWN { "unknown type".to_owned() } else { ir.interner.short_type_text(ty) }
}

fn value_text(document: &Document, value: Value) -> String {
    let ir = document.ir();
    let data = ir.value(value);
    let name = ir.value_text(value);
    let mut out = code_block(&format!("{name} : {}", type_text(ir, data.ty)));
    write_noise_summary(document, value, &mut out);
    let encrypted = ciphertext::summary(document, value);
    let range = document.integers().range(value).description().filter(|_| encrypted.is_none());
    if let Some(encrypted) = encrypted {
        let _ = writeln!(out, "{encrypted}\n");
    }
    let encryption = (document.source().text().len_bytes() <= MAX_TEXT)
        .then(|| encryption_text(document, value));
    if let Some(encryption) = encryption.flatten() {
        let _ = writeln!(out, "{encryption}\n");
    }
    if let Some(range) = range {
        let _ = writeln!(out, "value {range}\n");
    }
    if let Some(op) = ir.definition_site(value)
        && !document.integers().is_live(ir, op)
    {
        out.push_str("unreachable\n\n");
    }
    write_derivation(document, value, &mut out);
    out.push_str(&ciphertext::derivation_table(document, value).unwrap_or_default());
    out.truncate(out.trim_end().len());
    out.push_str("\n\n");
    match (data.def, ir.definition_site(value)) {
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

/// Maximum number of uses that are searched for last uses.
const MAX_USES: usize = 4096;
/// Maximum size of a region, in bytes, for which liveness is solved.
const MAX_REGION: usize = 1 << 18;
/// Maximum number of listed lines or names.
const MAX_LIST: usize = 8;

/// The liveness of a region with labels, if the region is short enough for a hover.
fn liveness(ir: &Ir, region: Region) -> Option<Liveness> {
    (ir.region_len(region) <= MAX_REGION).then(|| Liveness::new(ir, region))
}

/// The lines (from 1) of the last uses of a value, one on each path of control flow. Empty if there
/// are too many uses or lines.
fn last_uses(document: &Document, value: Value) -> Vec<usize> {
    let ir = document.ir();
    let uses = &ir.value(value).uses;
    let region = ir.def_region(value);
    if uses.len() > MAX_USES {
        return Vec::new();
    }
    let mut starts: Vec<usize> = uses.iter().map(|it| ir.name_range(it.0).start).collect();
    starts.sort_unstable();
    if ir.has_labels(region) {
        let Some(liveness) = liveness(ir, region) else { return Vec::new() };
        // The uses may be in nested regions. `ops` are the ops of this region that contain them.
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

/// Maximum size of a text, in bytes, for which depth and secrecy are computed: their first use
/// visits every op.
const MAX_TEXT: usize = 1 << 22;

/// The multiplicative depth of a value, if it is not 0, and its dependence on encrypted data, if
/// its type does not show it.
fn encryption_text(document: &Document, value: Value) -> Option<String> {
    let depth = document.depth(value);
    let is_shown = depth != Depth::AtMost(0)
        && ciphertext::numbers_of(document, value).is_none_or(|it| !it.is_without_level_uses);
    let depth = texts::depth_text(depth).filter(|_| is_shown);
    let depth = depth.map(|it| format!("multiplicative {it}"));
    let is_secret = document.secretness(value) == Secretness::Secret;
    // The hover of a ciphertext already says that it is encrypted.
    let is_told = document.is_noisy(value) || ciphertext::numbers_of(document, value).is_some();
    let secret = (is_secret && !is_told).then_some("depends on encrypted data");
    match (depth, secret) {
        (Some(depth), Some(secret)) => Some(format!("{secret}, {depth}")),
        (depth, secret) => depth.or_else(|| secret.map(str::to_owned)),
    }
}

/// Text about the values, other than its arguments, that are live at the start of a block.
fn live_in_text(document: &Document, block: Block) -> Option<String> {
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
    (!names.is_empty()).then(|| format!("Live at its start: {}.", names.join(", ")))
}

/// Maximum number of shown steps. Longer derivations are shown without their middle.
const MAX_STEPS: usize = 12;

/// Writes a line about the noise of a value.
fn write_noise_summary(document: &Document, value: Value, out: &mut String) {
    let is_told = document.is_noisy(value) || document.noise(value).hi().is_some();
    if let Some(verdict) = texts::noise_summary(document, value).filter(|_| is_told) {
        let _ = writeln!(out, "{verdict}\n");
    }
}

/// Writes the derivation of the noise of a value.
fn write_derivation(document: &Document, value: Value, out: &mut String) {
    if document.noise(value).hi().is_none() && !document.is_noisy(value) {
        return;
    }
    let derivation = document.derivation(value);
    let ir = document.ir();
    if let [step] = &*derivation.steps {
        // For a parameter the assumption is shown instead.
        if document.assumption(value).is_none() {
            let _ = writeln!(out, "{}\n", step.rule);
        }
        return;
    }
    let (steps, left_out) = derivation.brief(MAX_STEPS);
    if steps.is_empty() {
        return;
    }
    let mut known = SaturationCache::default();
    let of = |step: &DerivationStep| {
        let op = step.op.map_or(String::new(), |op| match ir.op(op).kind {
            OpKind::Label => format!("^{}", ir.interner.str(ir.op(op).name)),
            _ => ir.op_name(op).to_owned(),
        });
        let noise = texts::noise_text(document, step.value, &mut known).unwrap_or_default();
        [ir.value_text(step.value), noise, format!("{op}: {}", step.rule)]
    };
    let rows: Vec<[String; 3]> = steps.into_iter().map(of).collect();
    let (names, noises) = (texts::column_width(&rows, 0), texts::column_width(&rows, 1));
    out.push_str("```text\n");
    if derivation.is_shortened {
        out.push_str("...\n");
    }
    for (n, [name, noise, rule]) in rows.iter().enumerate() {
        let _ = writeln!(out, "{name:names$}  {noise:noises$}  {rule}");
        if let Some((after, n_left)) = left_out
            && n + 1 == after
        {
            let _ = writeln!(out, "... {} more ...", texts::op_count_text(n_left as u64, "step"));
        }
    }
    out.push_str("```\n\n");
}

fn op_text(document: &Document, op: Op, loops: LoopSettings) -> String {
    let ir = document.ir();
    let name = ir.op_name(op);
    let doc = texts::join_lines(ir.op(op).kind.spec().doc);
    let mut out = format!("**{name}**\n\n");
    let model = document.model();
    let result = ir.op(op).results.first().copied().filter(|&it| document.is_noisy(it));
    let growth = model.rule(name).and_then(|rule| model.growth(ir, op, rule));
    let is_encrypted = write_ciphertext(document, op, &mut out);
    if let Some((value, growth)) = result.zip(growth) {
        write_noise_summary(document, value, &mut out);
        let rule = match growth {
            Growth::Fresh(level) => format!("{level} bits, freshly encoded"),
            Growth::Max(0) => "the noise of the noisiest operand".to_owned(),
            Growth::Max(k) => format!("the noise of the noisiest operand + {k}"),
            Growth::Sum(0) => "the sum of the operands' noise".to_owned(),
            Growth::Sum(k) => format!("the sum of the operands' noise + {k}"),
            Growth::Reset(level) => format!("{level} bits, independent of the operand"),
        };
        // The noise model describes the noise, because the user may change the model. The rest of
        // the documentation would repeat it.
        let _ = writeln!(out, "{} Noise of the result: {rule}.", first_sentence(&doc));
    } else if doc.is_empty() {
        if !is_encrypted {
            out.push_str("No documentation available for this op.\n");
        }
    } else {
        let _ = writeln!(out, "{doc}");
    }
    if let Some(iterations) = hint::trip_count_text(document, op) {
        let _ = writeln!(out, "\nRuns {iterations}.");
    }
    if let Some(growth) = hint::growth_text(document, op) {
        let _ = writeln!(out, "\nOver its iterations: {growth}.");
    }
    if let Some(carried) = nest::hover_text(document, op, loops) {
        let _ = writeln!(out, "\n{carried}");
    }
    if ir.op(op).kind.is_op() && !document.integers().is_live(ir, op) {
        out.push_str("\nUnreachable: no execution reaches this op.\n");
    }
    out
}

/// Describes the ciphertext that an op produces, or consumes if it ends a region. Returns true if
/// there is one.
fn write_ciphertext(document: &Document, op: Op, out: &mut String) -> bool {
    let data = document.ir().op(op);
    let operands = data.operands.iter().filter_map(|it| it.value);
    let mut all = data.results.iter().copied().chain(operands.filter(|_| data.results.is_empty()));
    let told = all.find_map(|it| Some((it, ciphertext::summary(document, it)?)));
    let Some((value, verdict)) = told else { return false };
    let _ = writeln!(out, "{verdict}\n");
    if let Some(effect) = ciphertext::effect_sentence(document, op) {
        let _ = writeln!(out, "{effect}\n");
    }
    out.push_str(&ciphertext::derivation_table(document, value).unwrap_or_default());
    true
}

fn symbol_text(document: &Document, op: Op) -> String {
    let mut out = code_block(&head_text(document, op));
    // Comment lines directly above an op are its documentation.
    let ir = document.ir();
    let start = ir.start(op);
    let lead = (ir.op(op).lead_len as usize).min(4096);
    let rope = document.source().text();
    let from = rope.char_to_byte(rope.byte_to_char(start + ir.op(op).lead_len as usize - lead));
    let trivia = document.source().slice(from..start + ir.op(op).lead_len as usize);
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
    if ir.op(op).kind == OpKind::FuncFunc
        && document.source().text().len_bytes() <= MAX_TEXT
        && let Some(depth) = texts::depth_text(document.max_depth(op))
    {
        let _ = writeln!(out, "\nMultiplicative {depth} on the deepest path.");
    }
    out
}
