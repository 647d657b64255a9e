//! Positions the nodes of a graph.
//!
//! *Law.* A region is a box inside the box of its parent, and its items are in rows. Each item is
//! one row below its lowest predecessor. An item without a predecessor is one row above its first
//! successor. Edges back to earlier parts of the program are ignored. Rows and their order do not
//! depend on folding, so a page that folds a region only positions the same rows again.
//!
//! *Cost.* The items of a row are ordered by the positions of their neighbours, in a few passes
//! down and up: linear in nodes, edges and the depth of regions, except for sorting.
//! [docs/performance.md](../../../docs/performance.md) compares the times with other libraries.

use rustc_hash::FxHashMap;

use super::{Graph, GraphItem};

/// Height of a node and of a folded region.
pub(super) const NODE_HEIGHT: f64 = 38.0;
/// Gap between the items of a row.
pub(super) const ITEM_GAP: f64 = 18.0;
/// Gap between rows.
pub(super) const ROW_GAP: f64 = 36.0;
/// Gap between the border of a region and its items.
pub(super) const REGION_PADDING: f64 = 14.0;
/// Height of the title line of a region.
pub(super) const REGION_TITLE_HEIGHT: f64 = 24.0;
/// Number of passes that order the rows.
const SWEEPS: usize = 6;

/// A box; `x` and `y` are its upper left corner.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct NodeBox {
    pub x: f64,
    pub y: f64,
    pub width: f64,
    pub height: f64,
}

/// The layout without folded regions.
#[derive(Debug)]
pub(super) struct Layout {
    /// The rows of each region.
    pub rows: Vec<Vec<Vec<GraphItem>>>,
    pub nodes: Vec<NodeBox>,
    /// The first one is the function, without a border.
    pub regions: Vec<NodeBox>,
}

/// Computes the layout of a graph. `width` returns the width of the text of a node or region.
pub(super) fn layout(graph: &Graph, width: impl Fn(GraphItem) -> f64) -> Layout {
    let edges = edges_of_regions(graph);
    let node = |it| NodeBox {
        width: width(GraphItem::Node(it)),
        height: NODE_HEIGHT,
        ..NodeBox::default()
    };
    let mut out = Layout {
        rows: vec![Vec::new(); graph.regions.len()],
        nodes: (0..graph.nodes.len()).map(node).collect(),
        regions: vec![NodeBox::default(); graph.regions.len()],
    };
    // Inner regions first, because outer ones need their size.
    for region in (0..graph.regions.len()).rev() {
        let items = &graph.regions[region].items;
        let sizes: Vec<f64> = items.iter().map(|&it| out.place(it).width).collect();
        let rows = ordered_rows(&sizes, &edges[region]);
        out.rows[region] =
            rows.iter().map(|row| row.iter().map(|&at| items[at]).collect()).collect();
        let title = if region == 0 { 0.0 } else { width(GraphItem::Region(region)) };
        out.stack(region, title);
    }
    // Converts positions inside a region to positions in the picture.
    for region in 0..graph.regions.len() {
        let NodeBox { x, y, .. } = out.regions[region];
        for &item in &graph.regions[region].items {
            let place = out.place_mut(item);
            place.x += x;
            place.y += y;
        }
    }
    out
}

impl Layout {
    pub(super) fn place(&self, item: GraphItem) -> NodeBox {
        match item {
            GraphItem::Node(it) => self.nodes[it],
            GraphItem::Region(it) => self.regions[it],
        }
    }

    fn place_mut(&mut self, item: GraphItem) -> &mut NodeBox {
        match item {
            GraphItem::Node(it) => &mut self.nodes[it],
            GraphItem::Region(it) => &mut self.regions[it],
        }
    }

    /// Stacks the rows of a region, centered, and computes the size of the region.
    fn stack(&mut self, region: usize, title: f64) {
        let (pad, head) =
            if region == 0 { (0.0, 0.0) } else { (REGION_PADDING, REGION_TITLE_HEIGHT) };
        let rows = self.rows[region].clone();
        let of = |row: &[GraphItem], it: &Self| {
            let widths: f64 = row.iter().map(|&item| it.place(item).width).sum();
            widths + ITEM_GAP * row.len().saturating_sub(1) as f64
        };
        let width = rows.iter().map(|row| of(row, self)).fold(title, f64::max);
        let mut y = head + pad;
        for row in &rows {
            let mut x = pad + (width - of(row, self)) / 2.0;
            let mut height = 0.0_f64;
            for &item in row {
                let place = self.place_mut(item);
                (place.x, place.y) = (x, y);
                x += place.width + ITEM_GAP;
                height = height.max(place.height);
            }
            y += height + ROW_GAP;
        }
        let height = if rows.is_empty() { y } else { y - ROW_GAP } + pad;
        self.regions[region] = NodeBox { width: width + 2.0 * pad, height, ..NodeBox::default() };
    }
}

/// Returns the edges between the items of each region, by the indices of the items. An edge between
/// nodes connects items of the innermost region that contains both nodes: the items that contain
/// them.
fn edges_of_regions(graph: &Graph) -> Vec<Vec<(usize, usize)>> {
    let mut number: FxHashMap<GraphItem, usize> = FxHashMap::default();
    let mut depth = vec![0_usize; graph.regions.len()];
    for (at, region) in graph.regions.iter().enumerate() {
        depth[at] = if at == 0 { 0 } else { depth[region.parent] + 1 };
        number.extend(region.items.iter().enumerate().map(|(n, &item)| (item, n)));
    }
    let mut out = vec![Vec::new(); graph.regions.len()];
    for edge in &graph.edges {
        let mut ends = [edge.from, edge.to].map(|it| (GraphItem::Node(it), graph.nodes[it].region));
        while ends[0].1 != ends[1].1 {
            let deeper = usize::from(depth[ends[1].1] > depth[ends[0].1]);
            let region = ends[deeper].1;
            ends[deeper] = (GraphItem::Region(region), graph.regions[region].parent);
        }
        if let [Some(&from), Some(&to)] = ends.map(|it| number.get(&it.0)) {
            out[ends[0].1].push((from, to));
        }
    }
    out
}

/// Returns the rows of items with these widths. The items are in program order.
fn ordered_rows(widths: &[f64], edges: &[(usize, usize)]) -> Vec<Vec<usize>> {
    let n = widths.len();
    let (mut above, mut below) = (vec![Vec::new(); n], vec![Vec::new(); n]);
    for &(from, to) in edges.iter().filter(|it| it.0 < it.1) {
        above[to].push(from);
        below[from].push(to);
    }
    // Since items are in program order, one pass finds the rows.
    let mut row_of = vec![0_usize; n];
    for item in 0..n {
        row_of[item] = above[item].iter().map(|&it: &usize| row_of[it] + 1).max().unwrap_or(0);
    }
    for item in 0..n {
        if let (true, Some(first)) =
            (above[item].is_empty(), below[item].iter().map(|&it: &usize| row_of[it]).min())
        {
            row_of[item] = first - 1;
        }
    }
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); row_of.iter().max().map_or(0, |it| it + 1)];
    (0..n).for_each(|item| rows[row_of[item]].push(item));
    let mut x = vec![0.0_f64; n];
    let place = |row: &[usize], x: &mut [f64]| {
        let total: f64 = row.iter().map(|&it| widths[it] + ITEM_GAP).sum();
        let mut at = -total / 2.0;
        for &item in row {
            x[item] = at + widths[item] / 2.0;
            at += widths[item] + ITEM_GAP;
        }
    };
    for row in &rows {
        place(row, &mut x);
    }
    for sweep in 0..SWEEPS {
        let down = sweep % 2 == 0;
        let neighbours = if down { &above } else { &below };
        for step in 0..rows.len() {
            let at = if down { step } else { rows.len() - 1 - step };
            let key = |item: usize| match &neighbours[item][..] {
                [] => x[item],
                of => of.iter().map(|&it| x[it]).sum::<f64>() / of.len() as f64,
            };
            let mut row: Vec<(f64, usize)> = rows[at].iter().map(|&it| (key(it), it)).collect();
            row.sort_by(|a, b| a.0.total_cmp(&b.0));
            rows[at] = row.into_iter().map(|it| it.1).collect();
            place(&rows[at], &mut x);
        }
    }
    rows
}
