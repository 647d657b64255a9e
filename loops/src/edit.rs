//! Transformations of loops as text edits, which keep comments and names.
//!
//! *Law.* The edits of a transformation do not change the results of the program. A transformation
//! that a dependence forbids is offered without edits, with the dependence as the reason. Where
//! possible, the body of a loop stays unchanged: an `affine.apply` at its start defines the old
//! variable.

mod header;
pub mod names;
mod tile_size;
mod unroll;

use std::ops::Range;

use noisy_syntax::lex::ends_in_comment;
use noisy_syntax::{Ir, Op, OpKind, Source, TextEdit};

use self::header::LoopHeader;
use self::names::{fresh_name, names_in, with_names_replaced};
use crate::dependence::DependenceLimits;
use crate::legality::{Legality, Obstacle};
use crate::memory::AliasAssumptions;
use crate::nest::{INTERACTIVE_LIMITS, LoopNest, MAX_NEST_ACCESSES, line_of, outermost_loop};
use crate::refusal;

/// A transformation of a loop, legal or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransformationOffer {
    /// The title for the menu of the editor.
    pub title: String,
    /// The edits, or the reason why the transformation is not possible.
    pub edits: Result<Vec<TextEdit>, String>,
}

/// Options of the transformations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LoopOptions {
    /// Number of iterations of a tile in each loop. By default, as many as fit into the cache.
    pub tile_size: Option<i64>,
    /// The size of the cache in bytes.
    pub cache_bytes: i64,
    /// The assumptions about aliasing of memrefs.
    pub aliasing: AliasAssumptions,
}

impl Default for LoopOptions {
    /// The cache size is that of the first-level data cache of common processors.
    fn default() -> Self {
        Self { tile_size: None, cache_bytes: 32 * 1024, aliasing: AliasAssumptions::default() }
    }
}

/// The unroll factor.
const UNROLL_FACTOR: i64 = 4;
/// Maximum size of a copied loop body, in bytes.
const MAX_COPIED_BYTES: usize = 1 << 16;

/// The titles of all offers for a loop with a header that cannot be read, or in a nest that is too
/// large.
const FALLBACK_TITLES: &[&str] = &[
    "Interchange the loop",
    "Skew the loop",
    "Tile the loop",
    "Run the loop backwards",
    PARALLEL,
    "Unroll the loop",
    "Unroll the loop and jam",
    PEEL,
    NORMALIZE,
    "Fuse the loop",
    DISTRIBUTE,
];

const PARALLEL: &str = "Convert the loop to affine.parallel";
const PEEL: &str = "Peel the first iteration";
const NORMALIZE: &str = "Count from 0 by 1";
const DISTRIBUTE: &str = "Distribute over two loops";

/// Returns the transformations of an `affine.for`, each with its edits or the reason against it.
pub fn offers(source: &Source, op: Op, options: &LoopOptions) -> Vec<TransformationOffer> {
    let ir = source.ir();
    let Some(root) = outermost_loop(ir, op).filter(|_| ir.op(op).kind == OpKind::AffineFor) else {
        return Vec::new();
    };
    let refused = |why: &str| {
        let of =
            |it: &&str| TransformationOffer { title: (*it).to_owned(), edits: Err(why.to_owned()) };
        FALLBACK_TITLES.iter().map(of).collect()
    };
    let Some(it) = LoopHeader::of(source, op) else {
        return refused("the loop is not written in the form of affine.for");
    };
    let nest = LoopNest::new(ir, root, options.aliasing);
    if !nest.is_analyzed() {
        return refused("its nest has too many accesses");
    }
    let limits = DependenceLimits { aliasing: options.aliasing, ..INTERACTIVE_LIMITS };
    let Some(legality) = Legality::new(&nest.body, &limits) else {
        return refused("its nest has too many dependences");
    };
    let cx = EditBuilder { source, ir, nest: &nest, legality: &legality, limits };
    let Some(loop_) = nest.loop_of(op) else { return Vec::new() };
    let mut out = Vec::new();
    let mut add = |title: String, edits| out.push(TransformationOffer { title, edits });
    if let Some(inner) = cx.only_inner_loop(&it) {
        add(format!("Interchange with the loop over {}", inner.iv), cx.interchange(&it, &inner));
        add(format!("Skew the loop over {} by {}", inner.iv, it.iv), cx.skew(&it, &inner));
    }
    let size = options.tile_size.unwrap_or_else(|| cx.tile_size(&it, options.cache_bytes));
    add(format!("Tile by {size}"), cx.tile(&it, size));
    add(format!("Run the loop over {} backwards", it.iv), cx.reverse(&it, loop_));
    add(PARALLEL.to_owned(), cx.parallelize(&it, loop_));
    add(format!("Unroll by {UNROLL_FACTOR}"), cx.unroll(&it));
    if let Some(edits) = cx.unroll_and_jam(&it) {
        add(format!("Unroll by {UNROLL_FACTOR} and jam"), edits);
    }
    add(PEEL.to_owned(), cx.peel(&it));
    if it.constant_bounds.0 != Some(0) || it.step != 1 {
        add(NORMALIZE.to_owned(), cx.normalize(&it));
    }
    if let Some(next) = cx.next_loop(&it) {
        add(format!("Fuse with the loop over {} after it", next.iv), cx.fuse(&it, &next));
    }
    if it.body_ops(ir).len() > 1 {
        add(DISTRIBUTE.to_owned(), cx.distribute(&it, loop_));
    }
    out
}

/// The data that all transformations read.
struct EditBuilder<'a> {
    source: &'a Source,
    ir: &'a Ir,
    nest: &'a LoopNest,
    legality: &'a Legality<'a>,
    limits: DependenceLimits,
}

type EditResult = Result<Vec<TextEdit>, String>;

/// Returns an error if one of the loops has `iter_args`.
fn check_no_iter_args(all: &[&LoopHeader]) -> Result<(), String> {
    match all.iter().find(|it| it.iter_args.is_some()) {
        None => Ok(()),
        Some(it) => {
            Err(format!("the loop over {} carries values from one iteration to the next", it.iv))
        }
    }
}

fn insertion(at: usize, text: String) -> TextEdit {
    TextEdit { range: at..at, text }
}

impl EditBuilder<'_> {
    fn text(&self, range: &Range<usize>) -> String {
        self.source.slice(range.clone())
    }

    /// Returns the indentation of the line of an op.
    fn indent(&self, op: Op) -> String {
        self.source.indentation(self.ir.range(op).start)
    }

    /// Describes an obstacle.
    fn describe(&self, it: Obstacle) -> String {
        refusal::describe_obstacle(self.source, self.nest, self.legality, it)
    }

    /// Returns the inner loop if it is the only op in the body.
    fn only_inner_loop(&self, it: &LoopHeader) -> Option<LoopHeader> {
        match it.body_ops(self.ir)[..] {
            [only] => LoopHeader::of(self.source, only),
            _ => None,
        }
    }

    /// Returns the next op, if it is a loop.
    fn next_loop(&self, it: &LoopHeader) -> Option<LoopHeader> {
        let next = self.ir.next(it.op)?;
        LoopHeader::of(self.source, next)
    }

    /// Returns true if the bounds of a loop use the variable `iv`.
    fn has_bound_on(&self, it: &LoopHeader, iv: &str) -> bool {
        let bounds = self.text(&(it.lower.start..it.range.end));
        !names_in(&bounds, |name| name == iv).is_empty()
    }

    fn interchange(&self, outer: &LoopHeader, inner: &LoopHeader) -> EditResult {
        check_no_iter_args(&[outer, inner])?;
        if self.has_bound_on(inner, &outer.iv) {
            return Err(format!("the bounds of the inner loop depend on {}", outer.iv));
        }
        let band =
            [outer.op, inner.op].iter().filter_map(|it| self.nest.loop_of(*it)).collect::<Vec<_>>();
        self.legality.check_permutation(&band, &[1, 0]).map_err(|it| self.describe(it))?;
        Ok(vec![
            TextEdit { range: outer.range.clone(), text: self.text(&inner.range) },
            TextEdit { range: inner.range.clone(), text: self.text(&outer.range) },
        ])
    }

    /// Returns an edit that defines the old variable at the start of the body, computed from new
    /// variables.
    fn redefine_old_iv(&self, it: &LoopHeader, map: &str, operands: &str) -> TextEdit {
        let indent = self.indent(it.op);
        let text = format!("\n{indent}  {} = affine.apply affine_map<{map}>({operands})", it.iv);
        insertion(it.body.start, text)
    }

    /// Returns a new name for a variant of the variable.
    fn new_name(&self, it: &LoopHeader, suffix: &str) -> String {
        fresh_name(&self.text_of_names(it), &it.iv, suffix)
    }

    /// Returns a text with all names that a new name near a loop must differ from: that of the
    /// function, or the whole text if the loop is in no `func.func`.
    fn text_of_names(&self, it: &LoopHeader) -> String {
        let function = self.ir.function_of(it.op);
        let whole = || 0..self.source.text().len_bytes();
        self.text(&function.map_or_else(whole, |it| self.ir.range(it)))
    }

    fn skew(&self, outer: &LoopHeader, inner: &LoopHeader) -> EditResult {
        let (Some(low), Some(high)) = inner.constant_bounds else {
            return Err("the bounds of the inner loop are not numbers".to_owned());
        };
        let name = self.new_name(inner, "_skewed");
        let bound = |by: i64| format!("affine_map<(d0) -> (d0 + {by})>({})", outer.iv);
        let step = if inner.step == 1 { String::new() } else { format!(" step {}", inner.step) };
        let header = format!("{name} = {} to {}{step}", bound(low), bound(high));
        let operands = format!("{}, {name}", outer.iv);
        Ok(vec![
            TextEdit { range: inner.range.clone(), text: header },
            self.redefine_old_iv(inner, "(d0, d1) -> (d1 - d0)", &operands),
        ])
    }

    /// Returns the perfectly nested loops from `it` inwards that can be tiled together.
    fn band(&self, it: &LoopHeader) -> Vec<LoopHeader> {
        let mut out = vec![it.clone()];
        while let Some(inner) = out.last().and_then(|it| self.only_inner_loop(it)) {
            let reads = out.iter().any(|outer| self.has_bound_on(&inner, &outer.iv));
            if reads || inner.iter_args.is_some() {
                break;
            }
            out.push(inner);
        }
        out
    }

    /// Returns the tile size that the cache model chooses.
    fn tile_size(&self, it: &LoopHeader, cache: i64) -> i64 {
        let band = self.band(it);
        let band: Vec<u32> = band.iter().filter_map(|it| self.nest.loop_of(it.op)).collect();
        tile_size::tile_size(self.ir, &self.nest.body, &band, cache.into())
    }

    fn tile(&self, it: &LoopHeader, size: i64) -> EditResult {
        check_no_iter_args(&[it])?;
        let band = self.band(it);
        let numbers: Vec<u32> = band.iter().filter_map(|it| self.nest.loop_of(it.op)).collect();
        self.legality.check_tiling(&numbers).map_err(|it| self.describe(it))?;
        let indent = self.indent(it.op);
        let (mut heads, mut edits) = (String::new(), Vec::new());
        let mut ends = String::new();
        for it in &band {
            let tile = self.new_name(it, "_tile");
            let size = it.step.checked_mul(size).ok_or("the step is too large")?;
            let low = self.text(&it.lower);
            let high = self.text(&it.upper);
            heads += &format!("affine.for {tile} = {low} to {high} step {size} {{\n{indent}");
            ends += &format!("\n{indent}}}");
            let end = match (it.constant_bounds.1, high.starts_with('%')) {
                (Some(high), _) => format!("affine_map<(d0) -> (d0 + {size}, {high})>({tile})"),
                (None, true) => {
                    format!("affine_map<(d0, d1) -> (d0 + {size}, d1)>({tile}, {high})")
                }
                (None, false) => {
                    return Err("an upper bound is neither a number nor a value".to_owned());
                }
            };
            let step = if it.step == 1 { String::new() } else { format!(" step {}", it.step) };
            let header = format!("{} = affine_map<(d0) -> (d0)>({tile}) to min {end}{step}", it.iv);
            edits.push(TextEdit { range: it.range.clone(), text: header });
        }
        let whole = self.ir.range(it.op);
        edits.insert(0, insertion(whole.start, heads));
        edits.push(insertion(whole.end, ends));
        Ok(edits)
    }

    fn reverse(&self, it: &LoopHeader, loop_: u32) -> EditResult {
        check_no_iter_args(&[it])?;
        self.legality.check_reversal(loop_).map_err(|it| self.describe(it))?;
        let (Some(low), Some(trips)) = (it.constant_bounds.0, it.trip_count()) else {
            return Err("the bounds are not numbers".to_owned());
        };
        let sum = trips
            .checked_sub(1)
            .and_then(|it_| it_.checked_mul(it.step)?.checked_add(low)?.checked_add(low))
            .ok_or("the bounds are too large")?;
        let name = self.new_name(it, "_reversed");
        Ok(vec![
            TextEdit { range: it.iv_range.clone(), text: name.clone() },
            self.redefine_old_iv(it, &format!("(d0) -> (-d0 + {sum})"), &name),
        ])
    }

    fn normalize(&self, it: &LoopHeader) -> EditResult {
        let (Some(low), Some(trips)) = (it.constant_bounds.0, it.trip_count()) else {
            return Err("the bounds are not numbers".to_owned());
        };
        let name = self.new_name(it, "_count");
        Ok(vec![
            TextEdit { range: it.range.clone(), text: format!("{name} = 0 to {trips}") },
            self.redefine_old_iv(it, &format!("(d0) -> (d0 * {} + {low})", it.step), &name),
        ])
    }

    fn parallelize(&self, it: &LoopHeader, loop_: u32) -> EditResult {
        check_no_iter_args(&[it])?;
        self.legality.check_parallel(loop_).map_err(|it| self.describe(it))?;
        let bound = |text: &str| {
            let is_plain = text.starts_with('%') || text.parse::<i64>().is_ok();
            is_plain.then(|| text.to_owned()).ok_or("a bound is neither a number nor a value")
        };
        let low = bound(&self.text(&it.lower))?;
        let high = bound(&self.text(&it.upper))?;
        let step = if it.step == 1 { String::new() } else { format!(" step ({})", it.step) };
        let head = self.ir.range(it.op).start..it.range.end;
        let text = format!("affine.parallel ({}) = ({low}) to ({high}){step}", it.iv);
        Ok(vec![TextEdit { range: head, text }])
    }

    /// Returns the text of the body without trailing white space.
    fn body_text(&self, it: &LoopHeader) -> String {
        self.text(&it.body).trim_end().to_owned()
    }

    fn fuse(&self, it: &LoopHeader, next: &LoopHeader) -> EditResult {
        check_no_iter_args(&[it, next])?;
        let bounds = |it: &LoopHeader| self.text(&(it.lower.start..it.range.end));
        if bounds(it) != bounds(next) {
            return Err("the loops have different bounds".to_owned());
        }
        // Analyzes the whole function, because the nest of the first loop does not contain the
        // second.
        let function = self.ir.function_of(it.op).ok_or("the loop is not in a function")?;
        let body = crate::body::FunctionBody::new(self.ir, function);
        if body.accesses.len() > MAX_NEST_ACCESSES {
            return Err("the function has too many accesses".to_owned());
        }
        let legality = Legality::new(&body, &self.limits);
        let legality = legality.ok_or("the function has too many dependences")?;
        let both = legality.loop_of(it.op).zip(legality.loop_of(next.op));
        let (first, second) = both.ok_or("the loops have a form that is not supported")?;
        legality.check_fusion(first, second).map_err(|why| match why {
            Obstacle::Dependence(at) => {
                let line = |access: usize| line_of(self.source, body.accesses[access].op);
                let it = &legality.dependences()[at];
                let (from, to) = (line(it.source), line(it.target));
                format!(
                    "forbidden by the dependence of line {to} on a later iteration of line {from}"
                )
            }
            other => self.describe(other),
        })?;
        let own = names::names_defined_in(self.source, it.op);
        let all = self.text(&self.ir.range(function));
        let rename = |name: &str| fresh_name(&all, name, "_fused");
        let mut clashing: Vec<String> = names::names_defined_in(self.source, next.op);
        clashing.push(next.iv.clone());
        clashing.retain(|name| own.contains(name) || (*name == it.iv && *name != next.iv));
        let second = with_names_replaced(&self.body_text(next), &clashing, &rename);
        let inside = self.body_text(it);
        let indent = self.indent(it.op);
        let mut text = String::new();
        if it.iv != next.iv {
            let is_taken = own.contains(&next.iv);
            let name = if is_taken { rename(&next.iv) } else { next.iv.clone() };
            text +=
                &format!("\n{indent}  {name} = affine.apply affine_map<(d0) -> (d0)>({})", it.iv);
        }
        if text.is_empty() && ends_in_comment(&inside) {
            text = format!("\n{indent}  ");
        }
        text += &second;
        let from = self.ir.range(it.op).end;
        let between = self.text(&(from..self.ir.range(next.op).start));
        let gone = TextEdit {
            range: from..self.ir.range(next.op).end,
            text: between.trim_end().to_owned(),
        };
        let added = insertion(it.body.start + inside.len(), text);
        Ok(vec![self.source.keep_code_after(added), self.source.keep_code_after(gone)])
    }

    fn distribute(&self, it: &LoopHeader, loop_: u32) -> EditResult {
        check_no_iter_args(&[it])?;
        if let Some(op) = self.legality.effect_in(loop_) {
            return Err(self.describe(Obstacle::Effect(op)));
        }
        let ops = it.body_ops(self.ir);
        let depth = self.nest.body.loops[loop_ as usize].depth as usize;
        let region = self.ir.op(it.op).regions[0].1;
        // The index of the op of the body that contains a nested op.
        let place = |op: Op| {
            let mut around = std::iter::successors(Some(op), |&it| self.ir.parent_op(it));
            let top = around.find(|&it| self.ir.op(it).parent == region)?;
            ops.iter().position(|it| *it == top)
        };
        let mut why = None;
        for cut in 1..ops.len() {
            let crosses = ops[..cut].iter().any(|&op| {
                self.ir.op(op).results.iter().any(|&value| {
                    let uses = &self.ir.value(value).uses;
                    uses.iter().any(|it| place(it.0).is_some_and(|it| it >= cut))
                })
            });
            let is_last_of_pure = !self.has_access(&ops[..cut]) || !self.has_access(&ops[cut..]);
            if crosses || is_last_of_pure {
                continue;
            }
            let bad = self.legality.dependences().iter().position(|pair| {
                let at = |access: usize| place(self.nest.body.accesses[access].op);
                pair.level == depth
                    && at(pair.source).is_some_and(|it| it >= cut)
                    && at(pair.target).is_some_and(|it| it < cut)
            });
            if let Some(at) = bad {
                why = why.or(Some(self.describe(Obstacle::Dependence(at))));
                continue;
            }
            let indent = self.indent(it.op);
            let end = self.ir.range(ops[cut - 1]).end;
            let header = self.text(&it.range);
            let text = format!("\n{indent}}}\n{indent}affine.for {header} {{");
            return Ok(vec![insertion(end, text)]);
        }
        Err(why.unwrap_or_else(|| {
            "the body cannot be split into two parts without shared values".to_owned()
        }))
    }

    fn has_access(&self, ops: &[Op]) -> bool {
        let accesses = &self.nest.body.accesses;
        ops.iter().any(|&op| {
            accesses.iter().any(|it| {
                let mut around = std::iter::successors(Some(it.op), |&it| self.ir.parent_op(it));
                around.any(|it| it == op)
            })
        })
    }
}
