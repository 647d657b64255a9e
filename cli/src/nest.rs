//! `nest`: draws the iterations of two loops as points, the dependences between them as arrows, and
//! the effect of another order on them.

mod html;
mod svg;

use std::io;
use std::path::Path;

use noisy_loops::Aliasing;
use noisy_loops::nest::is_loop;
use noisy_loops::space::{Arrow, Change, Changed, DrawingSize, PointPart, Space};
use noisy_output::{Kind, shown_line};
use noisy_syntax::{Ir, Op, Source};
use serde_json::json;

use crate::file::check;
use crate::input::args::{self, NestPicture, Reorder};
use crate::input::setup;
use crate::input::walk::Input;
use crate::output::page;

/// Draws two loops; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &args::Nest) -> io::Result<i32> {
    let kind = match args.format {
        NestPicture::Html => Kind::Html,
        NestPicture::Svg => Kind::Svg,
        NestPicture::Json => Kind::Json,
    };
    let target = page::Target { file: args.output_file.as_deref(), kind, force: args.force };
    page::deliver(|| draw(args), &args.path, target)
}

fn draw(args: &args::Nest) -> Result<String, String> {
    let input =
        if args.path == Path::new("-") { Input::Stdin } else { Input::File(args.path.clone()) };
    let name = check::shown_name(&input, "<stdin>");
    let resolver = setup::resolver(&args.settings)?;
    let loops = setup::settings(&resolver, input.path("<stdin>"))?.loops;
    let aliasing = Aliasing { arguments_may_alias: loops.arguments_may_alias };
    let text =
        check::guarded(|| check::read(&input)).map_err(|it| format!("{name}: {}", it.message))?;
    let source = Source::new(&text);
    let in_file = |why: String| format!("{name}: {}", shown_line(&why));
    let op = choose(&source, args.line).map_err(in_file)?;
    let size = DrawingSize { points: args.size, tile: args.tile };
    let space = Space::new(&source, op, size, aliasing).map_err(in_file)?;
    let after = match args.after {
        None => None,
        Some(order) => Some(changed(&space, order).ok_or_else(|| {
            in_file(format!(
                "another order of the loops over {} is not shown: {}",
                space.ivs.join(" and "),
                why_not(&space)
            ))
        })?),
    };
    Ok(match args.format {
        NestPicture::Html => html::draw(&name, &space, after),
        NestPicture::Svg => svg::draw(&name, &space, after.map(|it| &space.changes[it])),
        NestPicture::Json => format!("{:#}\n", data(&space)),
    })
}

/// The index of an order in the changes of a space.
fn changed(space: &Space, order: Reorder) -> Option<usize> {
    space.changes.iter().position(|it| {
        let same = match it.change {
            Change::Interchange => Reorder::Interchange,
            Change::Skew => Reorder::Skew,
            Change::Wavefront => Reorder::Wavefront,
            Change::ReverseOuter => Reorder::ReverseOuter,
            Change::ReverseInner => Reorder::ReverseInner,
            Change::Tile(_) => Reorder::Tile,
        };
        same == order
    })
}

/// The reason why a space has no other orders.
fn why_not(space: &Space) -> &'static str {
    if space.points.iter().any(|it| it.part != PointPart::Whole) {
        "there are other ops before or after the inner loop"
    } else {
        "there is only one loop"
    }
}

/// The loop that contains a line, or the first loop with another loop in it.
fn choose(source: &Source, line: Option<usize>) -> Result<Op, String> {
    let ir = source.ir();
    let Some(line) = line else {
        let mut loops = Vec::new();
        ir.walk(ir.root(), &mut |op| {
            if is_loop(ir, op) {
                loops.push(op);
            }
        });
        let has_inner =
            |&&op: &&Op| loops.iter().any(|&it| it != op && around(ir, it).any(|it| it == op));
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
    let found = at.and_then(|it| around(ir, it).find(|&it| is_loop(ir, it)));
    found.ok_or_else(|| format!("line {line} is not in a loop"))
}

/// An op and its ancestors, innermost first.
fn around(ir: &Ir, op: Op) -> impl Iterator<Item = Op> + '_ {
    std::iter::successors(Some(op), |&it| ir.parent_op(it))
}

/// The kind of dependence of an arrow, in one word.
fn kind(it: &Arrow) -> &'static str {
    it.kind.map_or("carried value", noisy_loops::DependenceKind::name)
}

/// The space as JSON. Arrows refer to points, and orders to both, by index.
fn data(space: &Space) -> serde_json::Value {
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
    let arrow = |it: &Arrow| json!({ "from": it.from, "to": it.to, "source": it.source, "target": it.target, "kind": kind(it) });
    let changed = |it: &Changed| {
        json!({
            "name": it.change.name(),
            "title": it.change.title(&space.ivs),
            "allowed": it.verdict.is_ok(),
            "why": it.verdict.as_ref().err(),
            "backward": it.backward,
            "order": it.order,
        })
    };
    let around: serde_json::Map<_, _> =
        space.around.iter().map(|it| (it.0.clone(), json!(it.1))).collect();
    json!({
        "loops": space.ivs,
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

    fn space(line: Option<usize>) -> Result<Space, String> {
        let source = Source::new(PROGRAM);
        let size = DrawingSize { points: 3, tile: 2 };
        Space::new(&source, choose(&source, line)?, size, Aliasing::default())
    }

    #[test]
    fn a_line_names_its_loops() {
        for line in [None, Some(2), Some(3), Some(4)] {
            assert_eq!(space(line).expect("a nest").lines, [2, 3], "{line:?}");
        }
        assert_eq!(space(Some(8)).expect("a loop").lines, [8]);
        assert_eq!(space(Some(1)).unwrap_err(), "line 1 is not in a loop");
        assert_eq!(space(Some(99)).unwrap_err(), "there is no line 99: the file has 12");
        let none = Source::new("func.func @f() { return }");
        assert_eq!(choose(&none, None).unwrap_err(), "there is no loop");
    }

    #[test]
    fn a_refused_order_has_red_arrows_and_its_reason() {
        let space = space(None).expect("a nest");
        assert_eq!(space.points.len(), 9);
        let data = data(&space);
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
