//! Builds the graph of a function from its facts. *Cost.* A walk over the function, and sorting its
//! edges.

use noisy_analyses::{Document, Noise, explain};
use noisy_dataflow::flow;
use noisy_syntax::{Def, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use super::{Edge, Graph, GraphItem, GraphNode, GraphRegion, NodeLook};

/// The index of each region in the graph.
type RegionIndices = FxHashMap<noisy_syntax::Region, usize>;

/// Builds the graph of a function. Its title is the name of the function, followed by `what`.
pub(super) fn graph(document: &Document, function: Op, what: &str) -> Graph {
    let ir = document.ir();
    let roots: FxHashSet<Value> = document.overflows().into_iter().map(|it| it.0).collect();
    let title = format!("@{}{what}", document.function_name(function));
    let body = new_region(document, function, 0, 0);
    let mut out = Graph { title, nodes: Vec::new(), edges: Vec::new(), regions: vec![body] };
    let mut by_value: FxHashMap<Value, usize> = FxHashMap::default();
    let mut values: Vec<(Value, usize)> = Vec::new();
    let mut sinks: Vec<(Op, usize)> = Vec::new();
    let drawn = drawn_regions(document, function);
    let mut places = RegionIndices::default();
    let mut visit = |op: Op| {
        let data = ir.op(op);
        let here = places.get(&data.parent).copied().unwrap_or(0);
        for (number, &(_, region)) in data.regions.iter().enumerate() {
            let place = match op == function {
                true => 0,
                false if drawn.contains(&region) => out.regions.len(),
                false => continue,
            };
            if place > 0 {
                out.regions[here].items.push(GraphItem::Region(place));
                out.regions.push(new_region(document, op, number, here));
            }
            places.insert(region, place);
            for block in ir.blocks(region) {
                for &value in ir.block(block).args.iter().filter(|&&it| document.is_noisy(it)) {
                    let is_root = roots.contains(&value);
                    let new = node(document, op, value, true, is_root, place);
                    by_value.insert(value, out.nodes.len());
                    values.push((value, out.nodes.len()));
                    out.push(new);
                }
            }
        }
        let mut gives = false;
        for &value in data.results.iter().filter(|&&it| document.is_noisy(it)) {
            gives = true;
            let is_root = roots.contains(&value);
            let new = node(document, op, value, false, is_root, here);
            by_value.insert(value, out.nodes.len());
            values.push((value, out.nodes.len()));
            out.push(new);
        }
        if !gives && is_sink(document, op) {
            sinks.push((op, out.nodes.len()));
            let line = line(document, ir.range(op).start);
            out.push(GraphNode {
                label: name_without_dialect(ir, op).to_owned(),
                detail: String::new(),
                name: String::new(),
                line,
                origin: Some(line),
                look: NodeLook::Sink,
                region: here,
            });
        }
    };
    visit(function);
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut visit);
    }
    let mut edges = Vec::new();
    for &(value, to) in &values {
        for (_, from) in flow::feeding_values(ir, value) {
            edges.extend(by_value.get(&from).map(|&from| Edge { from, to, is_carried: true }));
        }
    }
    let mut uses = |op: Op, to: usize| {
        for from in computed_operands(document, op).filter_map(|it| by_value.get(&it)) {
            edges.push(Edge { from: *from, to, is_carried: false });
        }
    };
    for &(op, to) in &sinks {
        uses(op, to);
    }
    for &(value, to) in &values {
        if let Def::Result(op, _) = ir.value(value).def {
            uses(op, to);
        }
    }
    edges.sort_unstable();
    // `mul %a, %a` uses a value twice. Uncomputed flow from one value to another is drawn once.
    edges.dedup_by(|a, b| a == b && a.is_carried);
    out.edges = edges;
    out
}

impl Graph {
    fn push(&mut self, node: GraphNode) {
        self.regions[node.region].items.push(GraphItem::Node(self.nodes.len()));
        self.nodes.push(node);
    }
}

/// Returns the regions of a function with something to draw.
fn drawn_regions(document: &Document, function: Op) -> FxHashSet<noisy_syntax::Region> {
    let ir = document.ir();
    let mut drawn = FxHashSet::default();
    // Marks a region and its ancestors. The ancestors of a marked region are already marked.
    let mut mark = |mut region: noisy_syntax::Region| {
        while drawn.insert(region) {
            match ir.region(region).parent {
                Some(op) if op != function => region = ir.op(op).parent,
                _ => break,
            }
        }
    };
    let mut visit = |op: Op| {
        let data = ir.op(op);
        let is_noisy = data.results.iter().any(|&it| document.is_noisy(it));
        if is_noisy || is_sink(document, op) {
            mark(data.parent);
        }
        for &(_, region) in &data.regions {
            let mut blocks = ir.blocks(region).into_iter();
            if blocks.any(|it| ir.block(it).args.iter().any(|&it| document.is_noisy(it))) {
                mark(region);
            }
        }
    };
    for &(_, region) in &ir.op(function).regions {
        ir.walk(region, &mut visit);
    }
    drawn
}

fn new_region(document: &Document, op: Op, number: usize, parent: usize) -> GraphRegion {
    let ir = document.ir();
    let name = ir.op_name(op);
    let label = match (ir.op(op).kind, number) {
        (OpKind::ScfIf | OpKind::AffineIf, 0) => format!("{name} then"),
        (OpKind::ScfIf | OpKind::AffineIf, _) => format!("{name} else"),
        (OpKind::ScfWhile, 0) => format!("{name} before"),
        (OpKind::ScfWhile, _) => format!("{name} after"),
        _ if ir.op(op).regions.len() == 1 => name.to_owned(),
        _ => format!("{name} region #{number}"),
    };
    let line = line(document, ir.range(op).start);
    GraphRegion { parent, label, line, origin: Some(line), items: Vec::new() }
}

/// True if an op consumes noise and produces none.
fn is_sink(document: &Document, op: Op) -> bool {
    document.ir().op(op).kind.is_op() && computed_operands(document, op).next().is_some()
}

/// Returns the noisy operands with which an op computes. The other operands flow to the values that
/// [`flow::fed_values`] returns.
fn computed_operands(document: &Document, op: Op) -> impl Iterator<Item = Value> {
    let ir = document.ir();
    let operands = ir.op(op).operands.iter().enumerate();
    let noisy = operands.filter_map(|(n, it)| Some((n, it.value?)));
    noisy
        .filter(move |&(n, it)| document.is_noisy(it) && flow::fed_values(ir, op, n).is_empty())
        .map(|(_, it)| it)
}

fn node(
    document: &Document,
    op: Op,
    value: Value,
    is_argument: bool,
    is_root: bool,
    region: usize,
) -> GraphNode {
    let (ir, model) = (document.ir(), document.model());
    let name = ir.value_text(value);
    let noise = *document.noise(value);
    let is_reset = !is_argument && ir.op_name(op) == model.reset_op;
    let look = match noise {
        _ if is_root => NodeLook::FirstOverBudget,
        it if it.is_over(model.budget) => NodeLook::OverBudget,
        _ if is_reset => NodeLook::Reset,
        Noise::AtMost(hi) => {
            NodeLook::Within((u64::from(hi) * 100 / u64::from(model.budget).max(1)) as u32)
        }
        Noise::Unknown | Noise::Bottom => NodeLook::Unknown,
    };
    let line = line(document, explain::value_range(ir, value).start);
    let label = if is_argument {
        name.clone()
    } else {
        format!("{name} = {}", name_without_dialect(ir, op))
    };
    GraphNode { label, detail: noise.to_string(), name, line, origin: Some(line), look, region }
}

/// Returns the name of an op without its dialect.
fn name_without_dialect(ir: &Ir, op: Op) -> &str {
    let name = ir.op_name(op);
    name.rsplit('.').next().unwrap_or(name)
}

fn line(document: &Document, byte: usize) -> usize {
    let text = document.source().text();
    text.byte_to_line(byte.min(text.len_bytes())) + 1
}
