//! `test-affine-parametric-tile`: tiles perfectly nested loops with sizes from the first arguments
//! of the function, if tiles of any size are legal.
//!
//! *Law.* For sizes of at least one each iteration runs once, in the order of tiles. Smaller sizes
//! have no meaning.

use noisy_syntax::affine::{Affine, Body, Expr, Operator};
use noisy_syntax::rewrite::Point;
use noisy_syntax::{Ir, Op, Type, Value};

use crate::passes::affine::for_loop::{For, make_for, perfect_nest, replace_nest};
use crate::passes::affine::legal;
use crate::passes::affine::nests::permute::{is_rectangular, outermost};
use crate::passes::{Context, Failure, Options, PassInfo};
use crate::patterns::affine::maps::{Applied, exprs};

pub(in crate::passes) const PASSES: &[PassInfo] = &[PassInfo {
    name: "test-affine-parametric-tile",
    class: "TestAffineLoopParametricTiling",
    anchor: Some("func.func"),
    summary: "Tile affine loops using SSA values as tile sizes",
    options: &[],
    run,
}];

fn run(cx: &mut Context<'_>, op: Op, _: &Options) -> Result<(), Failure> {
    let Some(&(_, region)) = cx.ir.op(op).regions.first() else { return Ok(()) };
    let entry = cx.ir.entry_block(region);
    let args = cx.ir.block(entry).args.to_vec();
    let body = legal::body_of(cx.ir, op);
    let Some(legality) = legal::of_function(cx, op, &body) else { return Ok(()) };
    for root in outermost(cx.ir, op) {
        let nest = perfect_nest(cx.ir, root);
        let band: Option<Vec<u32>> = nest.iter().map(|it| legality.loop_of(it.op)).collect();
        let is_simple =
            is_rectangular(cx.ir, &nest) && nest.iter().all(|it| it.low.single().is_some());
        let Some(band) = band.filter(|_| is_simple) else { continue };
        if legality.tiles(&band).is_err() {
            continue;
        }
        let sizes = args.get(..nest.len()).unwrap_or_default();
        let is_index = |&it: &Value| cx.ir.value(it).ty == Type::INDEX;
        if sizes.len() != nest.len() || !sizes.iter().all(is_index) {
            let text = "too few arguments of type 'index' for the sizes of tiles".to_owned();
            return Err(Failure(Some(text)));
        }
        let sizes = sizes.to_vec();
        tile(cx.ir, &nest, &sizes);
    }
    Ok(())
}

fn sum(a: Expr, b: Expr) -> Expr {
    Expr::binary(Operator::Add, a, b)
}

/// The inputs of a tile: bounds, tile and size over common operands.
struct Space {
    map: Affine,
    operands: Vec<Value>,
    low: Expr,
    size: Expr,
}

impl Space {
    /// The operands of results, then the tile if there is one, then symbols, and last the size.
    fn new(
        of: &Applied,
        low: &Applied,
        tile: Option<Value>,
        size: Value,
    ) -> (Self, Vec<Expr>, Expr) {
        let mut both = if low.constant().is_some() { of.clone() } else { of.joined(low) };
        let mut all = exprs(&both.map.body);
        let low = match low.constant() {
            Some(value) => Expr::Const(value),
            None => all.pop().unwrap_or(Expr::Const(0)),
        };
        let n_dims = both.map.n_dims as usize;
        if let Some(tile) = tile {
            both.operands.insert(n_dims, tile);
            both.map.n_dims += 1;
        }
        both.operands.push(size);
        let size = Expr::Symbol(both.map.n_symbols);
        both.map.n_symbols += 1;
        let space = Self { map: both.map, operands: both.operands, low, size };
        (space, all, Expr::Dim(n_dims as u32))
    }

    fn applied(self, all: Vec<Expr>) -> Applied {
        Applied { map: Affine { body: Body::Map(all), ..self.map }, operands: self.operands }
    }

    /// `(tile - low) * size`
    fn offset(&self, tile: Expr) -> Expr {
        let from = sum(tile, self.low.clone().negated());
        Expr::binary(Operator::Mul, from, self.size.clone())
    }
}

fn tile(ir: &mut Ir, nest: &[For], sizes: &[Value]) {
    let (Some(root), Some(innermost)) = (nest.first(), nest.last()) else { return };
    let mut at = Point::Before(root.op);
    let mut tiles = Vec::new();
    for (it, &size) in nest.iter().zip(sizes) {
        let (space, all, _) = Space::new(&it.high, &it.low, None, size);
        // low + (high - low) ceildiv size
        let all = all.into_iter().map(|high| {
            let span = sum(high, space.low.clone().negated());
            let n = Expr::binary(Operator::CeilDiv, span, space.size.clone());
            sum(n, space.low.clone())
        });
        let all = all.collect();
        let high = space.applied(all);
        let (_, body) = make_for(ir, at, &it.low, &high, it.step, &[]);
        tiles.push(ir.block(body).args[0]);
        at = Point::Start(body);
    }
    let mut points = Vec::new();
    let mut inside = innermost.body;
    for ((it, &size), &tile) in nest.iter().zip(sizes).zip(&tiles) {
        let nothing = Applied {
            map: Affine { n_dims: 0, n_symbols: 0, body: Body::Map(Vec::new()) },
            operands: Vec::new(),
        };
        let (space, _, iv) = Space::new(&nothing, &it.low, Some(tile), size);
        let start = sum(space.offset(iv), space.low.clone());
        let low = space.applied(vec![start]);
        let (space, mut all, iv) = Space::new(&it.high, &it.low, Some(tile), size);
        let span = match it.step {
            1 => space.size.clone(),
            step => Expr::binary(Operator::Mul, space.size.clone(), Expr::Const(step)),
        };
        let end = sum(sum(space.offset(iv), span), space.low.clone());
        all.insert(0, end);
        let high = space.applied(all);
        let (_, body) = make_for(ir, at, &low, &high, it.step, &[]);
        points.push(ir.block(body).args[0]);
        at = Point::Start(body);
        inside = body;
    }
    replace_nest(ir, nest, &points, inside);
}
