//! `affine-loop-tile`: perfectly nested loops in tiles, where that is allowed for tiles of any size.
//!
//! Each loop becomes one over tiles, whose step is the size, and one over the points of a tile; all of the former stand around all of the
//! latter. Bounds may not read variables of the nest, and nothing may be carried.

use noisy_syntax::affine::{Affine, Body, Expr, Operator};
use noisy_syntax::rewrite::Point;
use noisy_syntax::{Ir, Op};

use super::for_loop::{For, make_for, perfect_nest, replace_nest};
use super::legal;
use super::permute::{is_rectangular, outermost};
use crate::passes::{Context, Failure, OptionInfo, OptionKind, Options, PassInfo};
use crate::patterns::affine::maps::{Applied, exprs};

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

/// The size of tiles of which nothing better is known.
const DEFAULT_SIZE: i64 = 4;

fn run(cx: &mut Context<'_>, op: Op, options: &Options) -> Result<(), Failure> {
    let body = legal::body_of(cx.ir, op);
    let legality = legal::legality(&body);
    for root in outermost(cx.ir, op) {
        let nest = perfect_nest(cx.ir, root);
        let band: Option<Vec<u32>> = nest.iter().map(|it| legality.loop_of(it.op)).collect();
        let Some(band) = band.filter(|_| is_rectangular(cx.ir, &nest)) else { continue };
        if legality.tiles(&band).is_err() {
            continue;
        }
        let sizes = sizes(options, nest.len());
        let fits = nest.iter().zip(&sizes).all(|(it, size)| {
            *size > 0 && it.step.checked_mul(*size).is_some_and(|it| i32::try_from(it).is_ok())
        });
        if fits {
            tile(cx.ir, &nest, &sizes);
        }
    }
    Ok(())
}

/// The sizes for a nest of so many loops.
fn sizes(options: &Options, n: usize) -> Vec<i64> {
    if let Some(size) = options.int("tile-size") {
        return vec![size; n];
    }
    let given = options.ints("tile-sizes");
    if given.is_empty() && options.int("cache-size") == Some(0) {
        return vec![1; n];
    }
    let more = std::iter::repeat(DEFAULT_SIZE);
    given.into_iter().chain(more).take(n).collect()
}

fn tile(ir: &mut Ir, nest: &[For], sizes: &[i64]) {
    let (Some(root), Some(innermost)) = (nest.first(), nest.last()) else { return };
    let mut at = Point::Before(root.op);
    let mut tiles = Vec::new();
    for (it, size) in nest.iter().zip(sizes) {
        let (_, body) = make_for(ir, at, &it.low, &it.high, it.step * size, &[]);
        tiles.push(ir.block(body).args[0]);
        at = Point::Start(body);
    }
    let mut points = Vec::new();
    let mut inside = innermost.body;
    for ((it, &size), &tile) in nest.iter().zip(sizes).zip(&tiles) {
        let low = Applied::value(tile);
        let span = size * it.step;
        let plus = |by: i64| Expr::binary(Operator::Add, Expr::Dim(0), Expr::Const(by));
        let end = |by: i64| low.then(|_| plus(by));
        let high = match it.trip_count() {
            Some(trips) if trips < size => end(trips * it.step),
            Some(trips) if trips % size == 0 => end(span),
            _ => with_end(&it.high, &end(span)),
        };
        let (_, body) = make_for(ir, at, &low, &high, it.step, &[]);
        points.push(ir.block(body).args[0]);
        at = Point::Start(body);
        inside = body;
    }
    replace_nest(ir, nest, &points, inside);
}

/// The upper bounds of a loop and the end of its tile, which comes first and whose only operand is the last dimension.
fn with_end(high: &Applied, end: &Applied) -> Applied {
    let both = high.joined(end);
    let mut all = exprs(&both.map.body);
    all.rotate_right(1);
    Applied { map: Affine { body: Body::Map(all), ..both.map }, operands: both.operands }
}
