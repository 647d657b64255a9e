//! `affine-loop-tile`: tiles perfectly nested loops, if tiles of any size are legal.
//!
//! Each loop becomes a loop over tiles, with the tile size as the step, and a loop over the points
//! of a tile. All loops over tiles enclose the loops over points. Bounds must not depend on
//! variables of the nest, and loops must not have `iter_args`. With `separate`, an `affine.if`
//! distinguishes full tiles from partial ones; the bounds of the loops for full tiles have no
//! minimum.

mod cache;

use noisy_syntax::affine::{Affine, AffineBody, AffineExpr, AffineOperator};
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Ir, Op};
use rustc_hash::FxHashMap;

use crate::passes::affine::for_loop::{
    AffineFor, difference, make_for, map_attr, perfect_nest, replace_nest, set_bounds,
};
use crate::passes::affine::legal;
use crate::passes::affine::nests::permute::{is_rectangular, outermost};
use crate::passes::{OptionInfo, OptionKind, PassContext, PassFailure, PassInfo, PassOptions};
use crate::patterns::affine::maps::{AppliedMap, exprs};
use crate::rewrite::Rewriter;

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "affine-loop-tile",
    class: "AffineLoopTiling",
    anchor: Some("func.func"),
    summary: "Tile affine loop nests",
    options: &[
        OptionInfo {
            name: "cache-size",
            default: "512",
            kind: OptionKind::Int,
            summary: "Set size of cache to tile for in KiB (default: 512)",
        },
        OptionInfo {
            name: "separate",
            default: "false",
            kind: OptionKind::Bool,
            summary: "Separate full and partial tiles (default: false)",
        },
        OptionInfo {
            name: "tile-size",
            default: "",
            kind: OptionKind::Int,
            summary: "Use this tile size for all loops",
        },
        OptionInfo {
            name: "tile-sizes",
            default: "",
            kind: OptionKind::Ints,
            summary: "List of tile sizes for each perfect nest (overridden by -tile-size)",
        },
    ],
    run,
}];

/// The default tile size.
const DEFAULT_SIZE: i64 = 4;

fn run(cx: &mut PassContext<'_>, op: Op, options: &PassOptions) -> Result<(), PassFailure> {
    let body = legal::body_of(cx.ir, op);
    let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
    let cache = options.int("cache-size").unwrap_or(512).saturating_mul(1024);
    for root in outermost(cx.ir, op) {
        let nest = perfect_nest(cx.ir, root);
        let band: Option<Vec<u32>> = nest.iter().map(|it| legality.loop_of(it.op)).collect();
        let Some(band) = band.filter(|_| is_rectangular(cx.ir, &nest)) else { continue };
        if legality.check_tiling(&band).is_err() {
            continue;
        }
        let sizes = sizes(options, nest.len())
            .or_else(|| cache::sizes(cx.ir, &body, &nest, cache))
            .unwrap_or_else(|| vec![DEFAULT_SIZE; nest.len()]);
        let fits = nest.iter().zip(&sizes).all(|(it, size)| {
            *size > 0 && it.step.checked_mul(*size).is_some_and(|it| i32::try_from(it).is_ok())
        });
        if fits {
            tile(cx.ir, &nest, &sizes, options.is_on("separate"));
        }
    }
    Ok(())
}

/// Returns the tile sizes for a nest of n loops, if the options state them.
fn sizes(options: &PassOptions, n: usize) -> Option<Vec<i64>> {
    if let Some(size) = options.int("tile-size") {
        return Some(vec![size; n]);
    }
    let given = options.ints("tile-sizes");
    if given.is_empty() {
        return (options.int("cache-size") == Some(0)).then(|| vec![1; n]);
    }
    let more = std::iter::repeat(DEFAULT_SIZE);
    Some(given.into_iter().chain(more).take(n).collect())
}

fn tile(ir: &mut Ir, nest: &[AffineFor], sizes: &[i64], separates: bool) {
    let (Some(root), Some(innermost)) = (nest.first(), nest.last()) else { return };
    let mut at = InsertionPoint::Before(root.op);
    let mut tiles = Vec::new();
    for (it, size) in nest.iter().zip(sizes) {
        let (_, body) = make_for(ir, at, &it.lower, &it.upper, it.step * size, &[]);
        tiles.push(ir.block(body).args[0]);
        at = InsertionPoint::Start(body);
    }
    let (mut points, mut loops) = (Vec::new(), Vec::new());
    // The differences between the upper bounds of loops and the ends of their tiles.
    let mut over: Option<AppliedMap> = None;
    let mut inside = innermost.body;
    for ((it, &size), &tile) in nest.iter().zip(sizes).zip(&tiles) {
        let low = AppliedMap::value(tile);
        let span = size * it.step;
        let plus = |by: i64| {
            AffineExpr::binary(AffineOperator::Add, AffineExpr::Dim(0), AffineExpr::Const(by))
        };
        let end = |by: i64| low.map_results(|_| plus(by));
        let high = match it.trip_count() {
            Some(trips) if trips < size => end(trips * it.step),
            Some(trips) if trips % size == 0 => end(span),
            _ if size == 1 => end(span),
            _ => {
                let own = difference(&it.upper, &end(span));
                over = Some(over.map_or_else(|| own.clone(), |all| all.joined(&own)));
                with_tile_end(&it.upper, &end(span))
            }
        };
        let (op, body) = make_for(ir, at, &low, &high, it.step, &[]);
        // The first of several upper bounds is the end of the tile.
        let first = exprs(&high.map.body).swap_remove(0);
        let whole = Affine { body: AffineBody::Map(vec![first]), ..high.map };
        loops.push((op, AppliedMap { map: whole, operands: high.operands }));
        points.push(ir.block(body).args[0]);
        at = InsertionPoint::Start(body);
        inside = body;
    }
    replace_nest(ir, nest, &points, inside);
    if separates && nest.iter().all(|it| it.step == 1) {
        separate_full_tiles(ir, &loops, over);
    }
}

/// Adds a copy of the loops for full tiles, with the given upper bounds. `over` has the expressions
/// that are nonnegative for full tiles; `None` if there is no partial tile.
fn separate_full_tiles(ir: &mut Ir, loops: &[(Op, AppliedMap)], over: Option<AppliedMap>) {
    let Some(&(root, _)) = loops.first() else { return };
    let set = match over {
        Some(all) => {
            let constraints = exprs(&all.map.body).into_iter().map(|it| (it, false)).collect();
            AppliedMap { map: Affine { body: AffineBody::Set(constraints), ..all.map }, ..all }
                .canonical(ir)
        }
        None => {
            let body = AffineBody::Set(vec![(AffineExpr::Const(0), true)]);
            AppliedMap { map: Affine { n_dims: 0, n_symbols: 0, body }, operands: Vec::new() }
        }
    };
    let condition = map_attr(ir, &set.map);
    let new = NewOp::new("affine.if").operands(&set.operands).attr("condition", condition);
    let choice = ir.insert(new.regions(2), InsertionPoint::Before(root));
    let mut ends = Vec::new();
    for which in 0..2 {
        let region = ir.op(choice).regions[which].1;
        let block = ir.add_block(region, &[]);
        ends.push(ir.insert(NewOp::new("affine.yield"), InsertionPoint::End(block)));
    }
    let copy = Rewriter::new(ir).clone_op(
        root,
        InsertionPoint::Before(ends[0]),
        &mut FxHashMap::default(),
    );
    ir.move_op(root, InsertionPoint::Before(ends[1]));
    // The copy has the same nested loops. Its bounds use the variables over tiles, which enclose
    // both.
    let copies = perfect_nest(ir, copy);
    for (it, (_, high)) in copies.iter().zip(loops) {
        let high = high.merged_and_simplified();
        set_bounds(ir, it, &it.lower, &high, it.step);
    }
}

/// Returns a map with the end of a tile, followed by the upper bounds of the loop. The operand of
/// `end` becomes the last dimension.
fn with_tile_end(high: &AppliedMap, end: &AppliedMap) -> AppliedMap {
    let both = high.joined(end);
    let mut all = exprs(&both.map.body);
    all.rotate_right(1);
    AppliedMap { map: Affine { body: AffineBody::Map(all), ..both.map }, operands: both.operands }
}
