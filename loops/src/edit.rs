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

use noisy_syntax::{Ir, Op, OpKind, Source, TextEdit};

use self::header::Header;
use self::names::{defined_in, fresh, renamed};
use crate::dependence::Limits;
use crate::legality::{Legality, Obstacle};
use crate::memory::Aliasing;
use crate::nest::{LIMITS, MOST_ACCESSES, Nest, line, root_of};
use crate::refusal;

/// A transformation of a loop, legal or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The title for the menu of the editor.
    pub title: String,
    /// The edits, or the reason why the transformation is not possible.
    pub edits: Result<Vec<TextEdit>, String>,
}

/// Options of the transformations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Number of iterations of a tile in each loop. By default, as many as fit into the cache.
    pub tile_size: Option<i64>,
    /// The size of the cache in bytes.
    pub cache: i64,
    /// The assumptions about aliasing of memrefs.
    pub aliasing: Aliasing,
}

impl Default for Options {
    /// The cache size is that of the first-level data cache of common processors.
    fn default() -> Self {
        Self { tile_size: None, cache: 32 * 1024, aliasing: Aliasing::default() }
    }
}

/// The unroll factor.
const UNROLL: i64 = 4;
/// Maximum size of a copied loop body, in bytes.
const MOST_COPIED: usize = 1 << 16;

/// The titles of all offers for a loop with a header that cannot be read, or in a nest that is too
/// large.
const TITLES: &[&str] = &[
    "Interchange the loop",
    "Skew the loop",
    "Tile the loop",
    "Run the loop backwards",
    PARALLEL,
    "Unroll the loop",
    "Unroll the loop and jam",
    PEEL,
    COUNT,
    "Fuse the loop",
    DISTRIBUTE,
];

const PARALLEL: &str = "Convert the loop to affine.parallel";
const PEEL: &str = "Peel the first iteration";
const COUNT: &str = "Count from 0 by 1";
const DISTRIBUTE: &str = "Distribute over two loops";

/// Returns the transformations of an `affine.for`, each with its edits or the reason against it.
pub fn offers(source: &Source, op: Op, options: &Options) -> Vec<Offer> {
    let ir = source.ir();
    let Some(root) = root_of(ir, op).filter(|_| ir.op(op).kind == OpKind::AffineFor) else {
        return Vec::new();
    };
    let refused = |why: &str| {
        let of = |it: &&str| Offer { title: (*it).to_owned(), edits: Err(why.to_owned()) };
        TITLES.iter().map(of).collect()
    };
    let Some(it) = Header::of(source, op) else {
        return refused("the loop is not written in the form of affine.for");
    };
    let nest = Nest::new(ir, root, options.aliasing);
    if !nest.is_understood() {
        return refused("its nest has too many accesses");
    }
    let limits = Limits { aliasing: options.aliasing, ..LIMITS };
    let Some(legality) = Legality::new(&nest.body, &limits) else {
        return refused("its nest has too many dependences");
    };
    let cx = Edits { source, ir, nest: &nest, legality: &legality, limits };
    let Some(loop_) = nest.loop_of(op) else { return Vec::new() };
    let mut out = Vec::new();
    let mut add = |title: String, edits| out.push(Offer { title, edits });
    if let Some(inner) = cx.inner(&it) {
        add(format!("Interchange with the loop over {}", inner.iv), cx.interchange(&it, &inner));
        add(format!("Skew the loop over {} by {}", inner.iv, it.iv), cx.skew(&it, &inner));
    }
    let size = options.tile_size.unwrap_or_else(|| cx.tile_size(&it, options.cache));
    add(format!("Tile by {size}"), cx.tile(&it, size));
    add(format!("Run the loop over {} backwards", it.iv), cx.reverse(&it, loop_));
    add(PARALLEL.to_owned(), cx.parallelize(&it, loop_));
    add(format!("Unroll by {UNROLL}"), cx.unroll(&it));
    if let Some(edits) = cx.unroll_and_jam(&it) {
        add(format!("Unroll by {UNROLL} and jam"), edits);
    }
    add(PEEL.to_owned(), cx.peel(&it));
    if it.numbers.0 != Some(0) || it.step != 1 {
        add(COUNT.to_owned(), cx.normalize(&it));
    }
    if let Some(next) = cx.next(&it) {
        add(format!("Fuse with the loop over {} after it", next.iv), cx.fuse(&it, &next));
    }
    if it.ops(ir).len() > 1 {
        add(DISTRIBUTE.to_owned(), cx.distribute(&it, loop_));
    }
    out
}

/// The data that all transformations read.
struct Edits<'a> {
    source: &'a Source,
    ir: &'a Ir,
    nest: &'a Nest,
    legality: &'a Legality<'a>,
    limits: Limits,
}

type EditResult = Result<Vec<TextEdit>, String>;

/// Returns an error if one of the loops has `iter_args`.
fn carry_nothing(all: &[&Header]) -> Result<(), String> {
    match all.iter().find(|it| it.carried.is_some()) {
        None => Ok(()),
        Some(it) => {
            Err(format!("the loop over {} carries values from one iteration to the next", it.iv))
        }
    }
}

fn insert(at: usize, text: String) -> TextEdit {
    TextEdit { range: at..at, text }
}

impl Edits<'_> {
    fn text(&self, range: &Range<usize>) -> String {
        self.source.slice(range.clone())
    }

    /// Returns the indentation of the line of an op.
    fn indent(&self, op: Op) -> String {
        self.source.indentation(self.ir.range(op).start)
    }

    /// Describes an obstacle.
    fn why(&self, it: Obstacle) -> String {
        refusal::words(self.source, self.nest, self.legality, it)
    }

    /// Returns the inner loop if it is the only op in the body.
    fn inner(&self, it: &Header) -> Option<Header> {
        match it.ops(self.ir)[..] {
            [only] => Header::of(self.source, only),
            _ => None,
        }
    }

    /// Returns the next op, if it is a loop.
    fn next(&self, it: &Header) -> Option<Header> {
        let next = self.ir.next(it.op)?;
        Header::of(self.source, next)
    }

    /// Returns true if the bounds of a loop use the variable `iv`.
    fn reads(&self, it: &Header, iv: &str) -> bool {
        let bounds = self.text(&(it.low.start..it.high.end));
        !defined_in(&bounds, |name| name == iv).is_empty()
    }

    fn interchange(&self, outer: &Header, inner: &Header) -> EditResult {
        carry_nothing(&[outer, inner])?;
        if self.reads(inner, &outer.iv) {
            return Err(format!("the bounds of the inner loop depend on {}", outer.iv));
        }
        let band =
            [outer.op, inner.op].iter().filter_map(|it| self.nest.loop_of(*it)).collect::<Vec<_>>();
        self.legality.permutes(&band, &[1, 0]).map_err(|it| self.why(it))?;
        Ok(vec![
            TextEdit { range: outer.range.clone(), text: self.text(&inner.range) },
            TextEdit { range: inner.range.clone(), text: self.text(&outer.range) },
        ])
    }

    /// Returns an edit that defines the old variable at the start of the body, computed from new
    /// variables.
    fn under_old_name(&self, it: &Header, map: &str, operands: &str) -> TextEdit {
        let indent = self.indent(it.op);
        let text = format!("\n{indent}  {} = affine.apply affine_map<{map}>({operands})", it.iv);
        insert(it.body.start, text)
    }

    fn new_name(&self, it: &Header, suffix: &str) -> String {
        let function = self.ir.function_of(it.op).unwrap_or(it.op);
        fresh(&self.text(&self.ir.range(function)), &it.iv, suffix)
    }

    fn skew(&self, outer: &Header, inner: &Header) -> EditResult {
        let (Some(low), Some(high)) = inner.numbers else {
            return Err("the bounds of the inner loop are not numbers".to_owned());
        };
        let name = self.new_name(inner, "_skewed");
        let bound = |by: i64| format!("affine_map<(d0) -> (d0 + {by})>({})", outer.iv);
        let step = if inner.step == 1 { String::new() } else { format!(" step {}", inner.step) };
        let header = format!("{name} = {} to {}{step}", bound(low), bound(high));
        let operands = format!("{}, {name}", outer.iv);
        Ok(vec![
            TextEdit { range: inner.range.clone(), text: header },
            self.under_old_name(inner, "(d0, d1) -> (d1 - d0)", &operands),
        ])
    }

    /// Returns the perfectly nested loops from `it` inwards that can be tiled together.
    fn band(&self, it: &Header) -> Vec<Header> {
        let mut out = vec![it.clone()];
        while let Some(inner) = out.last().and_then(|it| self.inner(it)) {
            let reads = out.iter().any(|outer| self.reads(&inner, &outer.iv));
            if reads || inner.carried.is_some() {
                break;
            }
            out.push(inner);
        }
        out
    }

    /// Returns the tile size that the cache model chooses.
    fn tile_size(&self, it: &Header, cache: i64) -> i64 {
        let band = self.band(it);
        let band: Vec<u32> = band.iter().filter_map(|it| self.nest.loop_of(it.op)).collect();
        tile_size::tile_size(self.ir, &self.nest.body, &band, cache.into())
    }

    fn tile(&self, it: &Header, size: i64) -> EditResult {
        carry_nothing(&[it])?;
        let band = self.band(it);
        let numbers: Vec<u32> = band.iter().filter_map(|it| self.nest.loop_of(it.op)).collect();
        self.legality.tiles(&numbers).map_err(|it| self.why(it))?;
        let indent = self.indent(it.op);
        let (mut heads, mut edits) = (String::new(), Vec::new());
        let mut ends = String::new();
        for it in &band {
            let tile = self.new_name(it, "_tile");
            let size = it.step.checked_mul(size).ok_or("the step is too large")?;
            let low = self.text(&it.low);
            let high = self.text(&(it.high.start..self.end_of_high(it)));
            heads += &format!("affine.for {tile} = {low} to {high} step {size} {{\n{indent}");
            ends += &format!("\n{indent}}}");
            let end = match (it.numbers.1, high.starts_with('%')) {
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
        edits.insert(0, insert(whole.start, heads));
        edits.push(insert(whole.end, ends));
        Ok(edits)
    }

    /// Returns the offset at which the upper bound ends, before the step.
    fn end_of_high(&self, it: &Header) -> usize {
        let text = self.text(&it.high);
        match text.rfind(" step ") {
            Some(at) if it.step != 1 || text[at..].trim() == "step 1" => it.high.start + at,
            _ => it.high.end,
        }
    }

    fn reverse(&self, it: &Header, loop_: u32) -> EditResult {
        carry_nothing(&[it])?;
        self.legality.reverses(loop_).map_err(|it| self.why(it))?;
        let (Some(low), Some(trips)) = (it.numbers.0, it.trips()) else {
            return Err("the bounds are not numbers".to_owned());
        };
        let sum = trips
            .checked_sub(1)
            .and_then(|it_| it_.checked_mul(it.step)?.checked_add(low)?.checked_add(low))
            .ok_or("the bounds are too large")?;
        let name = self.new_name(it, "_reversed");
        Ok(vec![
            TextEdit { range: it.iv_range.clone(), text: name.clone() },
            self.under_old_name(it, &format!("(d0) -> (-d0 + {sum})"), &name),
        ])
    }

    fn normalize(&self, it: &Header) -> EditResult {
        let (Some(low), Some(trips)) = (it.numbers.0, it.trips()) else {
            return Err("the bounds are not numbers".to_owned());
        };
        let name = self.new_name(it, "_count");
        Ok(vec![
            TextEdit { range: it.range.clone(), text: format!("{name} = 0 to {trips}") },
            self.under_old_name(it, &format!("(d0) -> (d0 * {} + {low})", it.step), &name),
        ])
    }

    fn parallelize(&self, it: &Header, loop_: u32) -> EditResult {
        carry_nothing(&[it])?;
        self.legality.is_parallel(loop_).map_err(|it| self.why(it))?;
        let bound = |text: &str| {
            let is_plain = text.starts_with('%') || text.parse::<i64>().is_ok();
            is_plain.then(|| text.to_owned()).ok_or("a bound is neither a number nor a value")
        };
        let low = bound(&self.text(&it.low))?;
        let high = bound(&self.text(&(it.high.start..self.end_of_high(it))))?;
        let step = if it.step == 1 { String::new() } else { format!(" step ({})", it.step) };
        let head = self.ir.range(it.op).start..it.range.end;
        let text = format!("affine.parallel ({}) = ({low}) to ({high}){step}", it.iv);
        Ok(vec![TextEdit { range: head, text }])
    }

    /// Returns the text of the body without trailing white space.
    fn inside(&self, it: &Header) -> String {
        self.text(&it.body).trim_end().to_owned()
    }

    fn fuse(&self, it: &Header, next: &Header) -> EditResult {
        carry_nothing(&[it, next])?;
        let bounds = |it: &Header| self.text(&(it.low.start..it.range.end));
        if bounds(it) != bounds(next) {
            return Err("the loops have different bounds".to_owned());
        }
        // Analyzes the whole function, because the nest of the first loop does not contain the
        // second.
        let function = self.ir.function_of(it.op).ok_or("the loop is not in a function")?;
        let body = crate::body::Body::new(self.ir, function);
        if body.accesses.len() > MOST_ACCESSES {
            return Err("the function has too many accesses".to_owned());
        }
        let legality = Legality::new(&body, &self.limits);
        let legality = legality.ok_or("the function has too many dependences")?;
        let both = legality.loop_of(it.op).zip(legality.loop_of(next.op));
        let (first, second) = both.ok_or("the loops have a form that is not supported")?;
        legality.fuses(first, second).map_err(|why| match why {
            Obstacle::Dependence(at) => {
                let line = |access: usize| line(self.source, body.accesses[access].op);
                let it = &legality.dependences()[at];
                let (from, to) = (line(it.source), line(it.target));
                format!(
                    "forbidden by the dependence of line {to} on a later iteration of line {from}"
                )
            }
            other => self.why(other),
        })?;
        let own = names::definitions(self.source, it.op);
        let all = self.text(&self.ir.range(function));
        let rename = |name: &str| fresh(&all, name, "_fused");
        let mut clashing: Vec<String> = names::definitions(self.source, next.op);
        clashing.push(next.iv.clone());
        clashing.retain(|name| own.contains(name) || (*name == it.iv && *name != next.iv));
        let second = renamed(&self.inside(next), &clashing, &rename);
        let inside = self.inside(it);
        let indent = self.indent(it.op);
        let mut text = String::new();
        if it.iv != next.iv {
            let is_taken = own.contains(&next.iv);
            let name = if is_taken { rename(&next.iv) } else { next.iv.clone() };
            text +=
                &format!("\n{indent}  {name} = affine.apply affine_map<(d0) -> (d0)>({})", it.iv);
        }
        text += &second;
        let from = self.ir.range(it.op).end;
        let between = self.text(&(from..self.ir.range(next.op).start));
        let gone = TextEdit {
            range: from..self.ir.range(next.op).end,
            text: between.trim_end().to_owned(),
        };
        Ok(vec![insert(it.body.start + inside.len(), text), gone])
    }

    fn distribute(&self, it: &Header, loop_: u32) -> EditResult {
        carry_nothing(&[it])?;
        if let Some(op) = self.legality.effect_in(loop_) {
            return Err(self.why(Obstacle::Effect(op)));
        }
        let ops = it.ops(self.ir);
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
            let is_last_of_pure =
                !self.touches_memory(&ops[..cut]) || !self.touches_memory(&ops[cut..]);
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
                why = why.or(Some(self.why(Obstacle::Dependence(at))));
                continue;
            }
            let indent = self.indent(it.op);
            let end = self.ir.range(ops[cut - 1]).end;
            let header = self.text(&it.range);
            let text = format!("\n{indent}}}\n{indent}affine.for {header} {{");
            return Ok(vec![insert(end, text)]);
        }
        Err(why.unwrap_or_else(|| {
            "the body cannot be split into two parts without shared values".to_owned()
        }))
    }

    fn touches_memory(&self, ops: &[Op]) -> bool {
        let accesses = &self.nest.body.accesses;
        ops.iter().any(|&op| {
            accesses.iter().any(|it| {
                let mut around = std::iter::successors(Some(it.op), |&it| self.ir.parent_op(it));
                around.any(|it| it == op)
            })
        })
    }
}
