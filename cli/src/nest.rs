//! `nest`: draws the iterations of two loops as points, the dependences between them as arrows, and
//! the effect of another order on them.

mod html;
mod svg;

use std::io;

use noisy_loops::AliasAssumptions;
use noisy_loops::nest::is_loop;
use noisy_loops::space::{
    DependenceArrow, DrawingSize, IterationSpace, PointPart, ReorderedPoints, Reordering,
};
use noisy_output::FileKind;
use noisy_syntax::{Ir, Op, Source};
use serde_json::json;

use crate::input::args::{self, LoopOrder, NestFormat};
use crate::output::page;

/// Draws two loops; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &args::NestArgs) -> io::Result<i32> {
    let kind = match args.format {
        NestFormat::Html => FileKind::Html,
        NestFormat::Svg => FileKind::Svg,
        NestFormat::Json => FileKind::Json,
    };
    let target = page::PictureTarget { file: args.output_file.as_deref(), kind, force: args.force };
    page::write_picture(|| draw(args), &args.path, target)
}

fn draw(args: &args::NestArgs) -> Result<String, String> {
    let input = page::PictureInput::read(&args.path, &args.settings)?;
    let loops = input.settings.loops;
    let aliasing = AliasAssumptions { arguments_may_alias: loops.arguments_may_alias };
    let source = Source::new(&input.text);
    let in_file = |why: String| input.error(&why);
    let op = choose_loop(&source, args.line).map_err(in_file)?;
    let size = DrawingSize { points: args.size, tile: args.tile };
    let space = IterationSpace::new(&source, op, size, aliasing).map_err(in_file)?;
    let after = match args.after {
        None => None,
        Some(order) => Some(index_of_order(&space, order).ok_or_else(|| {
            in_file(format!(
                "another order of the loops over {} is not shown: {}",
                space.iv_names.join(" and "),
                why_no_orders(&space)
            ))
        })?),
    };
    Ok(match args.format {
        NestFormat::Html => html::draw(&input.name, &space, after),
        NestFormat::Svg => svg::draw(&input.name, &space, after.map(|it| &space.changes[it])),
        NestFormat::Json => format!("{:#}\n", to_json(&space)),
    })
}

/// The index of an order in the changes of a space.
fn index_of_order(space: &IterationSpace, order: LoopOrder) -> Option<usize> {
    space.changes.iter().position(|it| {
        let same = match it.change {
            Reordering::Interchange => LoopOrder::Interchange,
            Reordering::Skew => LoopOrder::Skew,
            Reordering::Wavefront => LoopOrder::Wavefront,
            Reordering::ReverseOuter => LoopOrder::ReverseOuter,
            Reordering::ReverseInner => LoopOrder::ReverseInner,
            Reordering::Tile(_) => LoopOrder::Tile,
        };
        same == order
    })
}

/// The reason why a space has no other orders.
fn why_no_orders(space: &IterationSpace) -> &'static str {
    if space.points.iter().any(|it| it.part != PointPart::Whole) {
        "there are other ops before or after the inner loop"
    } else {
        "there is only one loop"
    }
}

/// The loop that contains a line, or the first loop with another loop in it.
fn choose_loop(source: &Source, line: Option<usize>) -> Result<Op, String> {
    let ir = source.ir();
    let Some(line) = line else {
        let mut loops = Vec::new();
        ir.walk(ir.root(), &mut |op| {
            if is_loop(ir, op) {
                loops.push(op);
            }
        });
        let has_inner =
            |&&op: &&Op| loops.iter().any(|&it| it != op && ancestors(ir, it).any(|it| it == op));
        return loops
            .iter()
            .find(has_inner)
            .or(loops.first())
            .copied()
            .ok_or_else(|| "there is no loop".to_owned());
    };
    let text = source.text();
    let n = text.len_lines();
    if line == 0 || line > n {
        return Err(format!("there is no line {line}: the file has {n}"));
    }
    let start = text.line_to_byte(line - 1);
    let blanks = text.line(line - 1).chars().take_while(|it| matches!(it, ' ' | '\t')).count();
    let at = ir.item_at(start + blanks);
    let found = at.and_then(|it| ancestors(ir, it).find(|&it| is_loop(ir, it)));
    found.ok_or_else(|| format!("line {line} is not in a loop"))
}

/// An op and its ancestors, innermost first.
fn ancestors(ir: &Ir, op: Op) -> impl Iterator<Item = Op> + '_ {
    std::iter::successors(Some(op), |&it| ir.parent_op(it))
}

/// The kind of dependence of an arrow, in one word.
fn dependence_kind(it: &DependenceArrow) -> &'static str {
    it.kind.map_or("carried value", noisy_loops::DependenceKind::name)
}

/// The space as JSON. Arrows refer to points, and orders to both, by index.
fn to_json(space: &IterationSpace) -> serde_json::Value {
    let points: Vec<_> = space
        .points
        .iter()
        .map(|it| {
            let part = match it.part {
                PointPart::Before => "before",
                PointPart::Whole => "whole",
                PointPart::After => "after",
            };
            json!({ "at": it.at, "part": part, "used": it.is_used })
        })
        .collect();
    let arrow = |it: &DependenceArrow| json!({ "from": it.from, "to": it.to, "source": it.source, "target": it.target, "kind": dependence_kind(it) });
    let changed = |it: &ReorderedPoints| {
        json!({
            "name": it.change.name(),
            "title": it.change.title(&space.iv_names),
            "allowed": it.legality.is_ok(),
            "why": it.legality.as_ref().err(),
            "backward": it.backward,
            "order": it.order,
        })
    };
    let around: serde_json::Map<_, _> =
        space.fixed_ivs.iter().map(|it| (it.0.clone(), json!(it.1))).collect();
    json!({
        "loops": space.iv_names,
        "lines": space.lines,
        "around": around,
        "points": points,
        "arrows": space.arrows.iter().map(arrow).collect::<Vec<_>>(),
        "orders": space.changes.iter().map(changed).collect::<Vec<_>>(),
        "notes": space.notes,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROGRAM: &str = "func.func @f(%A: memref<9x9xf32>, %n: index) {
  affine.for %i = 1 to 5 {
    affine.for %j = 0 to %n {
      %0 = affine.load %A[%i - 1, %j + 1] : memref<9x9xf32>
      affine.store %0, %A[%i, %j] : memref<9x9xf32>
    }
  }
  affine.for %k = 0 to 3 {
  }
  return
}
";

    fn space(line: Option<usize>) -> Result<IterationSpace, String> {
        let source = Source::new(PROGRAM);
        let size = DrawingSize { points: 3, tile: 2 };
        IterationSpace::new(&source, choose_loop(&source, line)?, size, AliasAssumptions::default())
    }

    #[test]
    fn chooses_the_loops_of_a_line() {
        for line in [None, Some(2), Some(3), Some(4)] {
            assert_eq!(space(line).expect("a nest").lines, [2, 3], "{line:?}");
        }
        assert_eq!(space(Some(8)).expect("a loop").lines, [8]);
        assert_eq!(space(Some(1)).unwrap_err(), "line 1 is not in a loop");
        assert_eq!(space(Some(99)).unwrap_err(), "there is no line 99: the file has 12");
        let none = Source::new("func.func @f() { return }");
        assert_eq!(choose_loop(&none, None).unwrap_err(), "there is no loop");
    }

    #[test]
    fn a_refused_order_has_red_arrows_and_its_reason() {
        let space = space(None).expect("a nest");
        assert_eq!(space.points.len(), 9);
        let data = to_json(&space);
        let orders = data["orders"].as_array().expect("orders");
        let of = |name: &str| orders.iter().find(|it| it["name"] == name).expect("an order");
        let interchange = of("interchange");
        assert_eq!(interchange["allowed"], false);
        assert_eq!(interchange["why"], "forbidden by flow from line 5 to line 4, distance (1, -1)");
        assert_eq!(interchange["backward"].as_array().map(Vec::len), Some(space.arrows.len()));
        assert_eq!(of("reverse-inner")["allowed"], true);
        let picture = svg::draw("a.mlir", &space, Some(&space.changes[0]));
        assert_eq!(picture.matches("class=\"point").count(), 18);
        assert_eq!(picture.matches(" backward\"").count(), space.arrows.len());
        assert!(!picture.contains("var("), "{picture}");
    }

    #[test]
    fn the_page_has_all_orders_and_its_own_script_only() {
        let space = space(None).expect("a nest");
        let page = html::draw("<b>.mlir", &space, None);
        assert!(page.contains("<title>&lt;b&gt;.mlir: "), "{page}");
        assert_eq!(page.matches("<script").count(), 1);
        assert!(!page.contains("src=") && !page.contains("href="));
        assert_eq!(page.matches("type=\"radio\"").count(), 6);
        assert_eq!(page.matches("<svg").count(), 7);
    }
}
