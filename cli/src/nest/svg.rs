//! Draws the iterations of a loop nest as points and its dependences as arrows. The outer loop is
//! drawn downwards and the inner loop to the right, so that the reading order is the execution
//! order.

use std::fmt::Write as _;

use noisy_loops::space::{IterationPoint, IterationSpace, PointPart, ReorderedPoints};
use rustc_hash::FxHashMap;

use super::dependence_kind;
use noisy_page::escape_xml;

/// Left margin, which contains an axis, as does the upper margin.
const LEFT_MARGIN: f64 = 74.0;
const TOP_MARGIN: f64 = 62.0;
const MARGIN: f64 = 30.0;
/// Gap between tiles.
const GAP: f64 = 16.0;
/// Width of a character of the 12-pixel monospaced font.
const CHAR_WIDTH: f64 = 7.3;

/// The style of pictures. Colors are those of the surrounding page, or the default after the comma.
pub(super) const STYLE: &str = "text{font:12px ui-monospace,Menlo,Consolas,monospace;fill:var(--fore,#222)}\
.back{fill:var(--back,#fff)}.title,.axis{font-weight:bold}.title{font-size:14px}\
.point circle,.point rect{fill:var(--back,#fff);stroke:var(--fore,#222);stroke-width:1.2}\
.point text{font-size:9px;text-anchor:middle;pointer-events:none}\
.unused circle{stroke-dasharray:2 2}\
.arrow{fill:none;stroke:var(--lit,#0057b8);stroke-width:1.6}.anti{stroke-dasharray:6 3}.output{stroke-dasharray:2 3}\
.backward{stroke:var(--bad,#c62828);stroke-width:2.6}\
.tip{fill:var(--lit,#0057b8)}.tip.bad{fill:var(--bad,#c62828)}\
.tile{fill:none;stroke:var(--edge,#607d8b);stroke-dasharray:4 3}";

/// A picture of the iterations in one order.
pub(super) struct Figure {
    /// SVG elements.
    pub(super) body: String,
    pub(super) width: f64,
    pub(super) height: f64,
}

impl Figure {
    /// The picture as an `<svg>` element with these attributes.
    pub(super) fn element(&self, attributes: &str) -> String {
        let (width, height) = (self.width, self.height);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\"{attributes}>\n{}</svg>\n",
            self.body
        )
    }
}

/// A standalone picture: the original order and, beside it, another one.
pub(super) fn draw(name: &str, space: &IterationSpace, after: Option<&ReorderedPoints>) -> String {
    let mut parts = vec![(format!("{name}: as written"), figure(space, None, "a"))];
    if let Some(it) = after {
        let title = match &it.legality {
            Ok(()) => format!("{}: allowed", it.change.title(&space.iv_names)),
            Err(why) => format!("{}: {why}", it.change.title(&space.iv_names)),
        };
        parts.push((title, figure(space, Some(it), "b")));
    }
    let (mut body, mut x, mut height) = (String::new(), 0.0, 0.0_f64);
    for (title, it) in &parts {
        let _ = write!(
            body,
            "<g transform=\"translate({x:.1} 0)\">\n<text class=\"title\" x=\"10\" y=\"20\">{}</text>\n<g transform=\"translate(0 24)\">\n{}</g>\n</g>\n",
            escape_xml(title),
            it.body
        );
        x += it.width.max(title.chars().count() as f64 * CHAR_WIDTH * 1.2 + 20.0);
        height = height.max(it.height + 24.0);
    }
    for (n, note) in space.notes.iter().enumerate() {
        let y = height + 16.0 + 18.0 * n as f64;
        let _ = writeln!(body, "<text x=\"10\" y=\"{y:.0}\">{}</text>", escape_xml(note));
        x = x.max(note.chars().count() as f64 * CHAR_WIDTH + 20.0);
    }
    height += 18.0 * space.notes.len() as f64 + 10.0;
    let back = "<rect class=\"back\" width=\"100%\" height=\"100%\"/>";
    let body = format!("<style>{}</style>\n{back}\n{body}", with_default_colors(STYLE));
    Figure { body, width: x, height }.element("")
}

/// Replaces the variables of a style, which only browsers support, by their defaults.
fn with_default_colors(style: &str) -> String {
    let mut parts = style.split("var(");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for it in parts {
        let (variable, rest) = it.split_once(')').unwrap_or((it, ""));
        out += variable.split_once(',').map_or("", |it| it.1);
        out += rest;
    }
    out
}

/// The positions of the numbers on an axis.
struct Axis {
    name: String,
    /// Each shown number and its position.
    positions: Vec<(i64, f64)>,
    /// Distance between neighbours.
    unit: i64,
    spacing: f64,
    least: i64,
}

impl Axis {
    fn new(name: String, mut values: Vec<i64>, tile: Option<i64>) -> Self {
        values.sort_unstable();
        values.dedup();
        let least = values.first().copied().unwrap_or(0);
        let unit = values.iter().fold(0, |a, it| gcd(a, it - least)).max(1);
        let span = values.last().map_or(0, |it| (it - least) / unit) + 1;
        let spacing = (640.0 / span as f64).clamp(26.0, 46.0);
        let mut it = Self { name, positions: Vec::new(), unit, spacing, least };
        it.positions = values.iter().map(|&value| (value, it.position(value, tile))).collect();
        it
    }

    /// The position of a number, with `tile` numbers per tile.
    fn position(&self, value: i64, tile: Option<i64>) -> f64 {
        let n = (value - self.least) / self.unit;
        let gaps = tile.map_or(0, |it| (value - self.least).div_euclid(it));
        n as f64 * self.spacing + gaps as f64 * GAP
    }

    fn end(&self) -> f64 {
        self.positions.last().map_or(0.0, |it| it.1)
    }
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a.abs() } else { gcd(b, a % b) }
}

/// Draws the changed order, or the original one for `None`. The ids of arrow heads start with
/// `prefix`.
pub(super) fn figure(
    space: &IterationSpace,
    changed: Option<&ReorderedPoints>,
    prefix: &str,
) -> Figure {
    let place = |it: &IterationPoint| {
        changed.map_or_else(|| it.at.clone(), |to| to.change.new_position(&it.at))
    };
    let names =
        changed.map_or_else(|| space.iv_names.clone(), |it| it.change.axis_names(&space.iv_names));
    let places: Vec<Vec<i64>> = space.points.iter().map(place).collect();
    // A single loop has columns only.
    let n = space.iv_names.len();
    let tile = |at: usize| match changed?.change {
        noisy_loops::space::Reordering::Tile(size) => Some(size * space.steps[at]),
        _ => None,
    };
    let column = |it: &Vec<i64>| it.get(n - 1).copied();
    let row = |it: &Vec<i64>| if n > 1 { it[0] } else { 0 };
    let has = |part: PointPart| space.points.iter().any(|it| it.part == part);
    let columns =
        Axis::new(names[n - 1].clone(), places.iter().filter_map(column).collect(), tile(n - 1));
    let rows = Axis::new(
        if n > 1 { names[0].clone() } else { String::new() },
        places.iter().map(row).collect(),
        if n > 1 { tile(0) } else { None },
    );
    let shift = if has(PointPart::Before) { columns.spacing } else { 0.0 };
    let at: Vec<(f64, f64)> = space
        .points
        .iter()
        .zip(&places)
        .map(|(point, place)| {
            let x = match point.part {
                PointPart::Before => -columns.spacing,
                PointPart::Whole => columns.position(place[n - 1], tile(n - 1)),
                PointPart::After => columns.end() + columns.spacing,
            };
            (
                LEFT_MARGIN + shift + x,
                TOP_MARGIN + rows.position(row(place), if n > 1 { tile(0) } else { None }),
            )
        })
        .collect();
    let mut body = format!(
        "<defs>{}{}</defs>\n",
        arrow_head(&format!("{prefix}-tip"), "tip"),
        arrow_head(&format!("{prefix}-bad"), "tip bad")
    );
    draw_axes(&mut body, &columns, &rows, shift);
    let radius = if columns.spacing.min(rows.spacing) > 30.0 { 10.0 } else { 8.0 };
    if let Some(it) = changed {
        draw_tiles(&mut body, space, it, &at, radius);
    }
    draw_arrows(&mut body, space, changed, (&at, radius), prefix);
    let order: Vec<usize> = changed.map_or_else(|| (0..at.len()).collect(), |it| it.order.clone());
    let mut numbers = vec![0; at.len()];
    for (n, &it) in order.iter().enumerate() {
        numbers[it] = n + 1;
    }
    for (number, point) in space.points.iter().enumerate() {
        draw_point(&mut body, space, (number, point), numbers[number], at[number], radius);
    }
    let last = |it: fn(&(f64, f64)) -> f64| at.iter().map(it).fold(0.0, f64::max);
    let width = last(|it| it.0).max(LEFT_MARGIN + columns.name.chars().count() as f64 * CHAR_WIDTH)
        + MARGIN;
    Figure { body, width, height: last(|it| it.1) + MARGIN }
}

fn arrow_head(id: &str, class: &str) -> String {
    format!(
        "<marker id=\"{id}\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" markerUnits=\"userSpaceOnUse\" orient=\"auto\">\
         <path class=\"{class}\" d=\"M0 0L8 4L0 8z\"/></marker>"
    )
}

fn draw_axes(out: &mut String, columns: &Axis, rows: &Axis, shift: f64) {
    let _ = writeln!(
        out,
        "<text class=\"axis\" x=\"{:.1}\" y=\"16\">{} \u{2192}</text>",
        LEFT_MARGIN + shift,
        escape_xml(&columns.name)
    );
    if !rows.name.is_empty() {
        let _ = writeln!(
            out,
            "<text class=\"axis\" x=\"8\" y=\"{:.1}\">{} \u{2193}</text>",
            TOP_MARGIN - 24.0,
            escape_xml(&rows.name)
        );
        for (value, y) in &rows.positions {
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{value}</text>",
                LEFT_MARGIN - 24.0,
                TOP_MARGIN + y + 4.0
            );
        }
    }
    for (value, x) in &columns.positions {
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{value}</text>",
            LEFT_MARGIN + shift + x,
            TOP_MARGIN - 22.0
        );
    }
}

/// Draws frames around tiles.
fn draw_tiles(
    out: &mut String,
    space: &IterationSpace,
    changed: &ReorderedPoints,
    at: &[(f64, f64)],
    radius: f64,
) {
    let low = |n: usize| space.points.iter().map(|it| it.at[n]).min().unwrap_or(0);
    let first: Vec<i64> = (0..space.iv_names.len()).map(low).collect();
    let mut frames: FxHashMap<Vec<i64>, [f64; 4]> = FxHashMap::default();
    for (point, &(x, y)) in space.points.iter().zip(at) {
        let Some(tile) = changed.change.tile(&point.at, &first, &space.steps) else { return };
        let it = frames.entry(tile).or_insert([x, y, x, y]);
        *it = [it[0].min(x), it[1].min(y), it[2].max(x), it[3].max(y)];
    }
    let mut frames: Vec<_> = frames.into_iter().collect();
    frames.sort_by(|a, b| a.0.cmp(&b.0));
    let rim = radius + 5.0;
    for (_, [x1, y1, x2, y2]) in frames {
        let _ = writeln!(
            out,
            "<rect class=\"tile\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\" rx=\"6\"/>",
            x1 - rim,
            y1 - rim,
            x2 - x1 + 2.0 * rim,
            y2 - y1 + 2.0 * rim
        );
    }
}

/// Draws one curve for all arrows between two points.
fn draw_arrows(
    out: &mut String,
    space: &IterationSpace,
    changed: Option<&ReorderedPoints>,
    (at, radius): (&[(f64, f64)], f64),
    prefix: &str,
) {
    for group in space.arrows.chunk_by(|a, b| (a.from, a.to) == (b.from, b.to)) {
        let Some(first) = group.first() else { continue };
        // Arrows between the same points have the same direction.
        let number = space.arrows.partition_point(|it| (it.from, it.to) < (first.from, first.to));
        let is_backward = changed.is_some_and(|it| it.backward.binary_search(&number).is_ok());
        let ((x1, y1), (x2, y2)) = (at[first.from], at[first.to]);
        let (dx, dy) = (x2 - x1, y2 - y1);
        let length = dx.hypot(dy).max(1.0);
        // Long curves bend around the points in between.
        let is_near = length < 1.5 * (46.0 + GAP);
        let bend = if is_near { 0.0 } else { 0.18 * length };
        let (cx, cy) = (
            f64::midpoint(x1, x2) - dy / length * bend,
            f64::midpoint(y1, y2) + dx / length * bend,
        );
        let end = |x: f64, y: f64| {
            let far = (cx - x).hypot(cy - y).max(1.0);
            (x + (cx - x) / far * (radius + 1.0), y + (cy - y) / far * (radius + 1.0))
        };
        let ((x1, y1), (x2, y2)) = (end(x1, y1), end(x2, y2));
        let words: Vec<String> = group
            .iter()
            .map(|it| format!("{}: line {} to line {}", dependence_kind(it), it.source, it.target))
            .collect();
        let lines: Vec<String> =
            group.iter().flat_map(|it| [it.source, it.target]).map(|it| it.to_string()).collect();
        let class = first.kind.map_or("value", noisy_loops::DependenceKind::name);
        let (backward, tip) = if is_backward { (" backward", "bad") } else { ("", "tip") };
        let _ = writeln!(
            out,
            "<path class=\"arrow {class}{backward}\" data-from=\"{}\" data-to=\"{}\" data-line=\"{}\" data-lines=\"{}\" marker-end=\"url(#{prefix}-{tip})\" \
             d=\"M{x1:.1} {y1:.1}Q{cx:.1} {cy:.1} {x2:.1} {y2:.1}\"><title>{}</title></path>",
            first.from,
            first.to,
            first.target,
            lines.join(" "),
            escape_xml(&words.join("; "))
        );
    }
}

/// Draws a point with its number in the execution order.
fn draw_point(
    out: &mut String,
    space: &IterationSpace,
    (number, point): (usize, &IterationPoint),
    turn: usize,
    (x, y): (f64, f64),
    radius: f64,
) {
    let variables: Vec<String> =
        space.iv_names.iter().zip(&point.at).map(|(iv, it)| format!("{iv} = {it}")).collect();
    let part = match point.part {
        PointPart::Before => ", before the inner loop",
        PointPart::Whole => "",
        PointPart::After => ", after the inner loop",
    };
    let unused = if point.is_used { "" } else { " unused" };
    let shape = if point.part == PointPart::Whole {
        format!("<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>")
    } else {
        format!(
            "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{}\" height=\"{}\"/>",
            x - radius,
            y - radius,
            2.0 * radius,
            2.0 * radius
        )
    };
    let _ = writeln!(
        out,
        "<g class=\"point{unused}\" data-point=\"{number}\" data-turn=\"{turn}\"><title>{}{part}</title>{shape}<text x=\"{x:.1}\" y=\"{:.1}\">{turn}</text></g>",
        escape_xml(&variables.join(", ")),
        y + 3.0
    );
}
