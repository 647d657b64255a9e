//! Draws the flow of noise through a function.
//!
//! Nodes are the values with noise, and the ops that only consume noise. Each use is an edge. Flow
//! without a computing op (loop-carried values, block arguments, results of branches) is a dashed
//! edge. Nodes are grouped by the regions of the program, which the page can fold.

mod build;
mod dot;
mod html;
mod layout;
mod svg;

use noisy_analyses::Document;
use noisy_syntax::Op;

use self::build::graph;
pub use self::dot::draw as dot;
pub use self::html::draw as html;
pub use self::svg::draw as svg;

/// The graph of a function.
#[derive(Debug, PartialEq, Eq)]
pub struct Graph {
    title: String,
    nodes: Vec<GraphNode>,
    edges: Vec<Edge>,
    /// The regions; the first one is the body of the function. Each region precedes its inner
    /// regions.
    regions: Vec<GraphRegion>,
}

/// A region of an op that contains a value with noise, or the body of the function.
#[derive(Debug, PartialEq, Eq)]
struct GraphRegion {
    /// Index of the enclosing region; the body of the function refers to itself.
    parent: usize,
    /// `scf.for`, or `scf.if then`.
    label: String,
    /// Line of its op in the drawn text.
    line: usize,
    /// Line of its op in the file.
    origin: Option<usize>,
    /// Nodes and inner regions, in program order.
    items: Vec<GraphItem>,
}

/// A node or a region inside a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum GraphItem {
    Node(usize),
    Region(usize),
}

#[derive(Debug, PartialEq, Eq)]
struct GraphNode {
    /// `%4 = mul`: the name of the op has no dialect.
    label: String,
    /// The noise, such as `[0, 24]`.
    detail: String,
    /// Name of the value; empty for an op without a result.
    name: String,
    /// Line in the drawn text, shown in tooltips.
    line: usize,
    /// Line in the file; `None` for a proposed op.
    origin: Option<usize>,
    look: NodeLook,
    /// Index of the enclosing region.
    region: usize,
}

/// The look of a node, in increasing severity. A folded region has the most severe look of its
/// nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum NodeLook {
    /// Consumes noise and produces none.
    Sink,
    /// Lowers noise.
    Reset,
    /// A proposed op that would lower noise.
    Proposed,
    /// Within the budget; the noise in hundredths of the budget.
    Within(u32),
    /// Noise is unknown.
    Unknown,
    /// Over the budget because of an earlier node.
    OverBudget,
    /// The first node over the budget.
    FirstOverBudget,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Edge {
    from: usize,
    to: usize,
    /// True for flow without a computing op.
    is_carried: bool,
}

/// Returns the graph of a function. `fixed` is the same program after applying a fix with this
/// title; then the graph of the function in that program is also returned.
pub fn build_graphs(
    document: &Document,
    function: Op,
    fixed: Option<(&Document, &str)>,
) -> Vec<Graph> {
    let mut graphs = vec![graph(document, function, "")];
    if let Some((after, title)) = fixed {
        graphs[0].title.push_str(", before");
        // A fix does not change the order of functions.
        let index = document.ir().functions().iter().position(|&it| it == function);
        let function = index.and_then(|it| after.ir().functions().get(it).copied());
        if let Some(function) = function {
            let mut after = graph(after, function, &format!(", after: {title}"));
            trace_back(&mut after, &graphs[0]);
            graphs.push(after);
        }
    }
    graphs
}

/// Maps the nodes of a fixed function to the lines of the original function, and marks the inserted
/// nodes. A fix does not change names or their order; all other nodes are inserted.
fn trace_back(after: &mut Graph, before: &Graph) {
    let mut old = before.nodes.iter().peekable();
    for node in &mut after.nodes {
        let is_same = |it: &&GraphNode| it.name == node.name && it.label == node.label;
        // Nodes that the fix removed are skipped.
        let found = old.clone().position(|it| is_same(&it));
        if let Some(n) = found {
            node.origin = old.nth(n).and_then(|it| it.origin);
        } else {
            node.origin = None;
            if node.look == NodeLook::Reset {
                node.look = NodeLook::Proposed;
            }
        }
    }
    // A fix moves no ops between regions.
    for (region, old) in after.regions.iter_mut().zip(&before.regions) {
        region.origin = old.origin;
    }
}

/// Returns the function with this name. Without a name, returns the first function over the budget,
/// or the first function if there is none.
///
/// # Errors
///
/// If there is no function, or none with this name.
pub fn choose_function(document: &Document, name: Option<&str>) -> Result<Op, String> {
    let ir = document.ir();
    let functions = ir.functions();
    if let Some(name) = name {
        let name = name.trim_start_matches('@');
        let found = functions.iter().find(|&&it| document.function_name(it) == name);
        let names = || {
            functions
                .iter()
                .map(|&it| format!("@{}", document.function_name(it)))
                .collect::<Vec<_>>()
        };
        return found.copied().ok_or_else(|| match &names()[..] {
            [] => format!("there is no function @{name}"),
            names => format!("there is no function @{name}; there are {}", names.join(", ")),
        });
    }
    let mut over: Vec<Op> = Vec::new();
    for (value, _) in document.overflows() {
        over.extend(ir.definition_site(value).and_then(|it| ir.function_of(it)));
    }
    let first = functions.iter().find(|it| over.contains(it)).or_else(|| functions.first());
    first.copied().ok_or_else(|| "there is no function".to_owned())
}

/// The fill color and the border color of a node.
fn colors(look: NodeLook) -> (String, &'static str) {
    match look {
        // From almost white to orange: the colour emphasizes how little budget is left.
        NodeLook::Within(part) => {
            let part = part.min(100);
            (format!("#ff{:02x}{:02x}", 250 - part, 235 - part * 17 / 10), "#8a6d3b")
        }
        NodeLook::FirstOverBudget => ("#d32f2f".to_owned(), "#7f0000"),
        NodeLook::OverBudget => ("#ffcdd2".to_owned(), "#c62828"),
        NodeLook::Reset => ("#a5d6a7".to_owned(), "#1b5e20"),
        NodeLook::Proposed => ("#e8f5e9".to_owned(), "#1b5e20"),
        NodeLook::Unknown => ("#e0e0e0".to_owned(), "#757575"),
        NodeLook::Sink => ("#ffffff".to_owned(), "#9e9e9e"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    const PROGRAM: &str = "\
func.func @clean() { return }
func.func @main(%a: !noisy.i32, %n: index, %x: !other.t) -> i5 {
  %0 = noisy.mul %a, %a : !noisy.i32
  %1 = noisy.mul %0, %0 : !noisy.i32
  %2 = noisy.reduce_noise %1 : !noisy.i32
  %c0 = arith.constant 0 : index
  %3 = scf.for %i = %c0 to %n step %n iter_args(%b = %2) -> !noisy.i32 {
    %4 = noisy.sub %b, %a : !noisy.i32
    scf.yield %2 : !noisy.i32
  }
  %5 = \"a.b\"(%3) : (!noisy.i32) -> !noisy.i32
  %6 = noisy.decode %5 : !noisy.i32 -> i5
  return %6 : i5
}
";

    #[test]
    fn draws_first_function_over_budget() {
        let document = Document::new(PROGRAM);
        let function = choose_function(&document, None).expect("a function");
        expect![[r##"
            digraph noise {
              node [shape=box, style=filled, fontname=monospace];
              subgraph cluster_0 {
                label="@main";
                n0_0 [label="%a\n[0, 12]", fillcolor="#ffcc9d", color="#8a6d3b", tooltip="line 2"];
                n0_1 [label="%0 = mul\n[0, 24]", fillcolor="#ff9e4f", color="#8a6d3b", tooltip="line 3"];
                n0_2 [label="%1 = mul\n[0, 48]", fillcolor="#d32f2f", color="#7f0000", penwidth=3, fontcolor=white, tooltip="line 4"];
                n0_3 [label="%2 = reduce_noise\n[0, 12]", fillcolor="#a5d6a7", color="#1b5e20", tooltip="line 5"];
                n0_4 [label="%b\n[0, 12]", fillcolor="#ffcc9d", color="#8a6d3b", tooltip="line 7"];
                n0_5 [label="%3 = for\n[0, 12]", fillcolor="#ffcc9d", color="#8a6d3b", tooltip="line 7"];
                n0_6 [label="%4 = sub\n[0, 13]", fillcolor="#ffc896", color="#8a6d3b", tooltip="line 8"];
                n0_7 [label="%5 = b\nunknown", fillcolor="#e0e0e0", color="#757575", tooltip="line 11"];
                n0_8 [label="decode", fillcolor="#ffffff", color="#9e9e9e", tooltip="line 12"];
                n0_0 -> n0_1;
                n0_0 -> n0_1;
                n0_0 -> n0_6;
                n0_1 -> n0_2;
                n0_1 -> n0_2;
                n0_2 -> n0_3;
                n0_3 -> n0_4 [style=dashed];
                n0_3 -> n0_5 [style=dashed];
                n0_4 -> n0_6;
                n0_5 -> n0_7;
                n0_7 -> n0_8;
              }
            }
        "##]].assert_eq(&dot::draw(&[graph(&document, function, "")]));
    }

    #[test]
    fn every_noisy_operand_has_an_edge() {
        let program = "\
func.func @f(%a: !noisy.i32, %b: !noisy.i32, %c: i1) -> !noisy.i32 {
  %0 = \"a.region\"(%a) ({
    \"a.yield\"(%b) : (!noisy.i32) -> ()
  }) : (!noisy.i32) -> !noisy.i32
  \"a.sink\"(%0, %b) ({
  }) : (!noisy.i32, !noisy.i32) -> ()
  cf.cond_br %c, ^bb1(%0 : !noisy.i32), ^bb1(%b : !noisy.i32)
^bb1(%x: !noisy.i32):
  return %x : !noisy.i32
}
";
        let document = Document::new(program);
        let function = choose_function(&document, None).expect("a function");
        let graph = graph(&document, function, "");
        let label = |it: usize| graph.nodes[it].label.as_str();
        let edges: Vec<_> = graph
            .edges
            .iter()
            .map(|it| {
                let arrow = if it.is_carried { "-->" } else { "->" };
                format!("{} {arrow} {}", label(it.from), label(it.to))
            })
            .collect();
        expect![[r#"
            %a -> %0 = region
            %b --> %x
            %b -> yield
            %b -> sink
            %x -> return
            %0 = region --> %x
            %0 = region -> sink
        "#]]
        .assert_eq(&(edges.join("\n") + "\n"));
    }

    #[test]
    fn chooses_functions_by_name() {
        let document = Document::new(PROGRAM);
        assert_eq!(
            choose_function(&document, Some("@clean")),
            choose_function(&document, Some("clean"))
        );
        assert_eq!(
            choose_function(&document, Some("x")),
            Err("there is no function @x; there are @clean, @main".to_owned())
        );
        assert!(choose_function(&Document::new(""), None).is_err());
    }

    #[test]
    fn distinguishes_proposed_ops_from_existing_ones() {
        let before = "func.func @f(%x: !noisy.i32) {\n  %0 = noisy.mul %x, %x : !noisy.i32\n  %1 = noisy.reduce_noise %0 : !noisy.i32\n  \
                      %2 = noisy.mul %1, %0 : !noisy.i32\n  return\n}\n";
        let old = "  %2 = noisy.mul %1, %0";
        let after = before.replace(
            old,
            &format!("  %r = noisy.reduce_noise %0 : !noisy.i32\n{}", old.replace("%0", "%r")),
        );
        let draw = |text: &str| {
            let document = Document::new(text);
            let function = choose_function(&document, None).expect("a function");
            graph(&document, function, "")
        };
        let (before, mut after) = (draw(before), draw(&after));
        trace_back(&mut after, &before);
        let shown: Vec<_> =
            after.nodes.iter().map(|it| (it.name.as_str(), it.line, it.origin, it.look)).collect();
        assert_eq!(
            shown,
            [
                ("%x", 1, Some(1), NodeLook::Within(46)),
                ("%0", 2, Some(2), NodeLook::Within(92)),
                ("%1", 3, Some(3), NodeLook::Reset),
                ("%r", 4, None, NodeLook::Proposed),
                ("%2", 5, Some(4), NodeLook::Within(92)),
            ]
        );
    }

    #[test]
    fn the_page_runs_its_own_script_only() {
        let document = Document::new(PROGRAM);
        let function = choose_function(&document, None).expect("a function");
        let mut graph = graph(&document, function, "");
        graph.title.push_str("</script><b>");
        let page = html::draw("<b>.mlir", std::slice::from_ref(&graph));
        assert!(page.contains("<title>&lt;b&gt;.mlir: noise</title>"), "{page}");
        assert!(!page.contains("<b>"), "{page}");
        let nonce = page.split_once("'nonce-").and_then(|it| it.1.split_once('\'')).map(|it| it.0);
        let nonce = nonce.expect("a policy with a nonce");
        assert_eq!(nonce.len(), 64);
        assert_eq!(page.matches("<script").count(), 2);
        assert!(page.contains(&format!("<script nonce=\"{nonce}\">")), "{page}");
        assert!(!page.contains("src=") && !page.contains("href="));
        let (_, data) = page.split_once("<script type=\"application/json\">").expect("data");
        let (data, _) = data.split_once("</script>").expect("its end");
        let data: serde_json::Value = serde_json::from_str(data).expect("JSON");
        let drawn = &data["graphs"][0];
        assert_eq!(drawn["title"], graph.title.as_str());
        for (part, wanted) in [("nodes", graph.nodes.len()), ("edges", graph.edges.len())] {
            assert_eq!(drawn[part].as_array().map(Vec::len), Some(wanted), "{part}");
        }
        let rows = &drawn["regions"];
        assert_eq!(rows[1]["label"], "scf.for");
        assert_eq!(rows[1]["detail"], "2 values");
        assert_eq!(rows[1]["rows"], serde_json::json!([[{ "node": 4 }], [{ "node": 6 }]]));
    }

    #[test]
    fn the_picture_is_well_formed_and_whole() {
        let document = Document::new(PROGRAM);
        let function = choose_function(&document, None).expect("a function");
        let graph = graph(&document, function, " <&>");
        let picture = svg::draw(std::slice::from_ref(&graph));
        assert_eq!(picture.matches("<g class=\"node").count(), graph.nodes.len());
        assert_eq!(picture.matches("<path class=\"edge").count(), graph.edges.len());
        assert!(
            picture.contains("@main &lt;&amp;&gt;") && !picture.contains("href=\"http"),
            "{picture}"
        );
    }
}
