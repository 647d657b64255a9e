// Positions on the graph page. The rows are given; after each fold they are positioned again, in linear time.
"use strict";

const FONT = "12px ui-monospace, Menlo, Consolas, monospace";
const TITLE_FONT = "bold 15px ui-monospace, Menlo, Consolas, monospace";
const MARGIN = 24;
const TITLE = 34;
/** Edges that are longer than this number of units are faint, and only their visible parts are painted. */
const LONG = 1000;
/** Number of parts of a long edge. */
const PARTS = 48;

/** Returns the scene of some graphs; `textWidth` measures a text in a font. */
function makeScene({ sizes, graphs }, textWidth) {
  /** Nodes and regions. `seen` is the visible item for each: the item, or the outermost folded region around it. */
  const items = [];

  for (const graph of graphs) {
    const add = (it, kind) => {
      const width = Math.max(textWidth(it.label, FONT), textWidth(it.detail, FONT)) + 20;
      Object.assign(it, { id: items.length, kind, own: width, isMatch: false, parent: undefined });
      items.push(it);
    };
    for (const [number, region] of graph.regions.entries()) {
      add(region, "region");
      Object.assign(region, { number, isFolded: false });
      region.name = region.line === null ? region.label : `${region.label}, line ${region.line}`;
      region.own = Math.max(region.own, textWidth(`▾ ${region.name}`, FONT) + 20);
    }
    for (const node of graph.nodes) add(node, "node");
    for (const region of graph.regions) {
      region.rows = region.rows.map((row) =>
        row.map((it) => ("node" in it ? graph.nodes[it.node] : graph.regions[it.region])),
      );
      for (const row of region.rows) for (const it of row) it.parent = region;
    }
    graph.body = graph.regions[0];
  }
  const bodies = new Set(graphs.map((it) => it.body));
  const regions = items.filter((it) => it.kind === "region" && !bodies.has(it));

  const rowWidth = (row) =>
    row.reduce((sum, it) => sum + it.width, 0) + sizes.gap * Math.max(row.length - 1, 0);

  /** Computes the sizes of a region and of its items, and the positions of the items in the region. */
  const stack = (region) => {
    const isBody = bodies.has(region);
    for (const row of region.rows) {
      for (const it of row) {
        if (it.kind === "region" && !it.isFolded) stack(it);
        else [it.width, it.height] = [it.own, sizes.height];
      }
    }
    const [pad, head] = isBody ? [0, 0] : [sizes.pad, sizes.head];
    const width = region.rows.reduce(
      (most, row) => Math.max(most, rowWidth(row)),
      isBody ? 0 : region.own,
    );
    let y = head + pad;
    for (const row of region.rows) {
      let x = pad + (width - rowWidth(row)) / 2;
      let height = 0;
      for (const it of row) {
        [it.x, it.y] = [x, y];
        x += it.width + sizes.gap;
        height = Math.max(height, it.height);
      }
      y += height + sizes.drop;
    }
    region.width = width + 2 * pad;
    region.height = (region.rows.length === 0 ? y : y - sizes.drop) + pad;
  };

  /** Converts positions inside a region to positions in the picture. */
  const settle = (region, x, y) => {
    for (const row of region.rows) {
      for (const it of row) {
        it.x += x;
        it.y += y;
        if (it.kind === "region" && !it.isFolded) settle(it, it.x, it.y);
      }
    }
  };

  /** Positions all items. Returns the size of the picture, and the edges between visible items. */
  const place = () => {
    const size = { width: 0, height: 0 };
    const lines = [];
    // Outer items precede inner ones.
    for (const it of items) {
      const { parent } = it;
      it.seen =
        parent === undefined ? it : parent.isFolded || parent.seen !== parent ? parent.seen : it;
    }
    for (const graph of graphs) {
      stack(graph.body);
      [graph.body.x, graph.body.y] = [size.width + MARGIN, MARGIN + TITLE];
      settle(graph.body, graph.body.x, graph.body.y);
      let right = graph.body.x + Math.max(graph.body.width, textWidth(graph.title, TITLE_FONT));
      const seen = new Set();
      for (const [from, to, carried] of graph.edges) {
        const [a, b] = [graph.nodes[from].seen, graph.nodes[to].seen];
        if (a === b) continue;
        const key = (a.id * items.length + b.id) * 2 + carried;
        if (seen.has(key)) continue;
        seen.add(key);
        const line = lineOf(a, b, carried === 1);
        lines.push(line);
        right = Math.max(right, line.right);
      }
      size.width = right + MARGIN;
      size.height = Math.max(size.height, graph.body.y + graph.body.height + MARGIN);
    }
    return { size, lines };
  };

  const lineOf = (a, b, carried) => {
    const [x1, y1] = [a.x + a.width / 2, a.y + a.height];
    const [x2, y2] = [b.x + b.width / 2, b.y - 1];
    // An edge that goes back is drawn around the side.
    const side = Math.max(a.x + a.width, b.x + b.width) + sizes.gap;
    const [c1, c2, bend] = y2 > y1 ? [x1, x2, (y2 - y1) / 2] : [side, side, sizes.drop];
    const line = { a, b, carried, x1, y1, x2, y2, c1, c2, bend };
    line.left = Math.min(x1, x2);
    line.right = Math.max(x1, x2, c1, c2);
    line.top = Math.min(y1, y2 - bend, y2);
    line.bottom = Math.max(y2, y1 + bend, y1);
    line.isLong = line.right - line.left > LONG || line.bottom - line.top > LONG;
    return line;
  };

  return { items, regions, bodies, place };
}

/** Returns points on the curve of an edge, x and y alternating; computed once. */
function pointsOf(line) {
  if (line.points !== undefined) return line.points;
  const { x1, y1, x2, y2, c1, c2, bend } = line;
  const points = new Float64Array(2 * PARTS + 2);
  for (let part = 0; part <= PARTS; part += 1) {
    const t = part / PARTS;
    const r = 1 - t;
    const [first, second, third, last] = [r * r * r, 3 * r * r * t, 3 * r * t * t, t * t * t];
    points[2 * part] = first * x1 + second * c1 + third * c2 + last * x2;
    points[2 * part + 1] = first * y1 + second * (y1 + bend) + third * (y2 - bend) + last * y2;
  }
  line.points = points;
  return points;
}
