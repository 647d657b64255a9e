// The graph page: folding, zoom, search, keyboard; in a panel of an editor also navigation to and from its cursor.
// Only the visible part is painted. No library, no network.
(() => {
  const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;
  const main = document.querySelector("main");
  const canvas = main.querySelector("canvas");
  const frame = main.querySelector("#selected");
  const search = document.querySelector("input");
  const count = document.querySelector("output");
  const status = document.querySelector("[role=status]");
  const paper = canvas.getContext("2d");
  const data = JSON.parse(document.querySelector("script[type='application/json']").textContent);
  const { sizes, graphs } = data;
  const { items, regions, bodies, place } = makeScene(data, (text, font) => {
    paper.font = font;
    return paper.measureText(text).width;
  });
  /** A graph with more nodes than this starts with folded regions. */
  const MANY = 400;
  /** Below this scale text is not readable and is not painted. */
  const READABLE = 0.4;

  let { size, lines } = place();
  let view = { x: 0, y: 0, scale: 1 };
  let selected;
  let matches = [];
  let look = {};

  /** Reads the colours of the surrounding page. */
  const readLook = () => {
    const style = getComputedStyle(document.body);
    const of = (name) => style.getPropertyValue(name).trim();
    look = {
      ...{ back: of("--back"), fore: of("--fore"), edge: of("--edge"), lit: of("--lit") },
      isHighContrast: /vscode-high-contrast/.test(document.body.className),
    };
    paint();
  };

  let isAsked = false;
  /** Paints in the next frame. */
  const paint = () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      paintNow();
    });
  };

  const paintNow = () => {
    const box = main.getBoundingClientRect();
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [main.clientWidth, main.clientHeight];
    if (
      canvas.width !== Math.round(width * ratio) ||
      canvas.height !== Math.round(height * ratio)
    ) {
      [canvas.width, canvas.height] = [Math.round(width * ratio), Math.round(height * ratio)];
    }
    const { x, y, scale } = view;
    paper.setTransform(1, 0, 0, 1, 0, 0);
    paper.clearRect(0, 0, canvas.width, canvas.height);
    paper.setTransform(scale * ratio, 0, 0, scale * ratio, -x * scale * ratio, -y * scale * ratio);
    const [right, bottom] = [x + box.width / scale, y + box.height / scale];
    const isSeen = (it) =>
      it.x < right && it.x + it.width > x && it.y < bottom && it.y + it.height > y;
    const isReadable = scale >= READABLE;
    for (const graph of graphs) {
      if (!isReadable) break;
      paper.font = TITLE_FONT;
      paper.textAlign = "left";
      paper.fillStyle = look.fore;
      paper.fillText(graph.title, graph.body.x, MARGIN + 6);
    }
    const shown = items.filter((it) => !bodies.has(it) && it.seen === it && isSeen(it));
    for (const it of shown) if (it.kind === "region" && !it.isFolded) paintRegion(it, isReadable);
    paintLines({ x, y, right, bottom }, isReadable);
    for (const it of shown) if (it.kind === "node" || it.isFolded) paintNode(it, isReadable);
    const at = selected && selected.seen;
    frame.hidden = at === undefined;
    if (at !== undefined) {
      const height = at.kind === "region" && !at.isFolded ? sizes.head : at.height;
      const edge = 3;
      Object.assign(frame.style, {
        left: `${(at.x - x) * scale - edge}px`,
        top: `${(at.y - y) * scale - edge}px`,
        width: `${at.width * scale + 2 * edge}px`,
        height: `${height * scale + 2 * edge}px`,
      });
    }
  };

  const outline = (it, radius) => {
    paper.beginPath();
    paper.roundRect(it.x, it.y, it.width, it.height, radius);
  };

  const paintRegion = (it, isReadable) => {
    outline(it, 6);
    paper.globalAlpha = 0.08;
    paper.fillStyle = look.edge;
    paper.fill();
    paper.globalAlpha = 1;
    paper.lineWidth = it.isMatch ? 3 : 1;
    paper.strokeStyle = it.isMatch ? look.lit : look.edge;
    paper.stroke();
    if (!isReadable) return;
    paper.font = FONT;
    paper.textAlign = "left";
    paper.fillStyle = look.fore;
    paper.fillText(`▾ ${it.name}`, it.x + 10, it.y + 16);
  };

  /** Paints the visible edges: short ones, long ones, and those of the selected node, which are highlighted. */
  const paintLines = (sight, isReadable) => {
    const at = selected?.seen;
    const groups = { short: [], long: [], lit: [] };
    for (const it of lines) {
      if (!isCrossing(sight, it.left, it.right, it.top, it.bottom)) continue;
      // If text is readable, a long edge without a visible end gives no information.
      const isLit = it.a === at || it.b === at;
      const hasEnd = isIn(sight, it.x1, it.y1) || isIn(sight, it.x2, it.y2);
      if (isReadable && it.isLong && !isLit && !hasEnd) continue;
      groups[isLit ? "lit" : it.isLong ? "long" : "short"].push(it);
    }
    paper.fillStyle = paper.strokeStyle = look.edge;
    paper.lineWidth = 1.2;
    paper.globalAlpha = look.isHighContrast ? 0.6 : 0.35;
    paintGroup(groups.long, sight, isReadable);
    paper.globalAlpha = 1;
    paintGroup(groups.short, sight, isReadable);
    paper.fillStyle = paper.strokeStyle = look.lit;
    paper.lineWidth = isReadable ? 2.6 : 2 / view.scale;
    paintGroup(groups.lit, sight, isReadable);
  };

  const isIn = (sight, x, y) => isCrossing(sight, x, x, y, y);

  const isCrossing = (sight, left, right, top, bottom) =>
    left < sight.right && right > sight.x && top < sight.bottom && bottom > sight.y;

  const paintGroup = (group, sight, isReadable) => {
    for (const isDashed of [false, true]) {
      paper.setLineDash(isDashed && isReadable ? [5, 3] : []);
      paper.beginPath();
      for (const it of group) {
        if (it.carried !== isDashed) continue;
        const { x1, y1, x2, y2, c1, c2, bend } = it;
        if (it.isLong && isReadable) trace(it, sight);
        else {
          paper.moveTo(x1, y1);
          if (isReadable) paper.bezierCurveTo(c1, y1 + bend, c2, y2 - bend, x2, y2);
          else paper.lineTo(x2, y2);
        }
      }
      paper.stroke();
    }
    paper.setLineDash([]);
    if (!isReadable) return;
    paper.beginPath();
    for (const { x2, y2, c2, bend } of group) {
      // The curve ends in the direction from its second control point.
      const length = Math.hypot(x2 - c2, bend) || 1;
      const [dx, dy] = [((x2 - c2) / length) * 7, (bend / length) * 7];
      paper.moveTo(x2, y2);
      paper.lineTo(x2 - dx - dy / 2, y2 - dy + dx / 2);
      paper.lineTo(x2 - dx + dy / 2, y2 - dy - dx / 2);
    }
    paper.fill();
  };

  /** Draws the visible parts of a long edge, as straight lines. */
  const trace = (line, sight) => {
    const points = pointsOf(line);
    for (let at = 2; at < points.length; at += 2) {
      const [x, y, nx, ny] = [points[at - 2], points[at - 1], points[at], points[at + 1]];
      const [left, right] = x < nx ? [x, nx] : [nx, x];
      const [top, bottom] = y < ny ? [y, ny] : [ny, y];
      if (!isCrossing(sight, left - 1, right + 1, top - 1, bottom + 1)) continue;
      paper.moveTo(x, y);
      paper.lineTo(nx, ny);
    }
  };

  const paintNode = (it, isReadable) => {
    const isRound = it.look === "reset" || it.look === "proposed";
    const isViolation = it.look === "violation";
    if (isReadable) outline(it, isRound ? 16 : 5);
    paper.fillStyle = isViolation && look.isHighContrast ? "#b71c1c" : it.fill;
    if (isReadable) paper.fill();
    else paper.fillRect(it.x, it.y, it.width, it.height);
    if (it.isMatch || isReadable) {
      const isStrong = it.isMatch || isViolation || it.look === "proposed";
      paper.strokeStyle = it.isMatch ? look.lit : look.isHighContrast ? look.fore : it.rim;
      paper.lineWidth = isStrong ? 3 : look.isHighContrast ? 2 : 1;
      if (it.isMatch && !isReadable) paper.lineWidth = 3 / view.scale;
      if (!isReadable) outline(it, 0);
      if (it.look === "proposed") paper.setLineDash([6, 3]);
      paper.stroke();
      paper.setLineDash([]);
    }
    if (!isReadable) return;
    const middle = it.x + it.width / 2;
    paper.font = FONT;
    paper.textAlign = "center";
    paper.fillStyle = isViolation ? "#fff" : "#1a1a1a";
    const label = it.kind === "region" ? `▸ ${it.label}` : it.label;
    paper.fillText(label, middle, it.y + (it.detail === "" ? 23 : 16));
    paper.fillText(it.detail, middle, it.y + 31);
  };

  /** Keeps the picture visible, and paints. */
  const show = () => {
    const inside = (at, part, all) =>
      Math.min(Math.max(at, Math.min(0, all - part)), Math.max(0, all - part));
    view.x = inside(view.x, main.clientWidth / view.scale, size.width);
    view.y = inside(view.y, main.clientHeight / view.scale, size.height);
    paint();
  };

  const wholeScale = () =>
    Math.min(1, main.clientWidth / size.width, main.clientHeight / size.height);

  /** Zooms by a factor. A point of the window, by default its center, keeps its position. */
  const zoom = (factor, at) => {
    const scale = Math.min(Math.max(view.scale * factor, wholeScale() / 2), 4);
    const { x, y } = at ?? { x: main.clientWidth / 2, y: main.clientHeight / 2 };
    view.x += x / view.scale - x / scale;
    view.y += y / view.scale - y / scale;
    view.scale = scale;
    show();
  };

  /** Shows the whole picture; a small one is not enlarged. */
  const fit = () => {
    view = { x: 0, y: 0, scale: wholeScale() };
    view.x = (size.width - main.clientWidth / view.scale) / 2;
    show();
  };

  /** Makes an item visible, large enough to read. */
  const reveal = (item) => {
    const { x, y, width, height } = item.seen;
    const tall = Math.min(height, sizes.height);
    const [w, h] = [main.clientWidth / view.scale, main.clientHeight / view.scale];
    const isInside =
      x >= view.x && x + width <= view.x + w && y >= view.y && y + tall <= view.y + h;
    if (isInside && view.scale >= READABLE) return;
    view.scale = Math.max(view.scale, 0.8);
    view.x = x + width / 2 - main.clientWidth / view.scale / 2;
    view.y = y + tall / 2 - main.clientHeight / view.scale / 2;
    show();
  };

  const words = (it) => {
    const where = it.line === null ? "proposed" : `line ${it.line}`;
    return [it.label, it.detail, where].filter((part) => part !== "").join("  ");
  };

  /** Selects an item, highlights its edges, and makes it visible. */
  const select = (item, isTold) => {
    selected = item;
    const at = item && item.seen;
    const inside = item !== at ? `, in the folded ${at.label} of line ${at.line}` : "";
    status.textContent = item === undefined ? "" : words(item) + inside;
    frame.setAttribute("aria-label", status.textContent);
    if (item !== undefined) reveal(item);
    paint();
    if (item !== undefined && isTold && item.line !== null)
      editor?.postMessage({ line: item.line });
  };

  /** Folds or unfolds some regions, in both pictures. The selected item keeps its position in the window. */
  const fold = (some, isFolded) => {
    const before = selected && { ...selected.seen };
    for (const it of some) {
      for (const graph of graphs) {
        const same = graph.regions[it.number];
        if (same?.label === it.label) same.isFolded = isFolded;
      }
    }
    ({ size, lines } = place());
    if (before !== undefined) {
      const now = selected.seen;
      view.x += now.x - before.x;
      view.y += now.y - before.y;
    }
    show();
    if (selected !== undefined) select(selected);
  };

  /** Folds or unfolds the selected region, or the region around the selected node. */
  const toggle = () => {
    if (selected === undefined) return;
    const seen = selected.seen;
    const region = seen.kind === "region" ? seen : seen.parent;
    if (bodies.has(region)) return;
    if (!region.isFolded || selected !== region) selected = region;
    fold([region], !region.isFolded);
  };

  /** Unfolds the regions around an item, and selects it. */
  const open = (item, isTold) => {
    const around = [];
    for (let at = item.parent; at !== undefined; at = at.parent) if (at.isFolded) around.push(at);
    if (around.length > 0) fold(around, false);
    select(item, isTold);
  };

  /** Returns a successor of an item, or a predecessor. */
  const next = (item, isDown) => {
    const at = item.seen;
    const of = lines.find((it) => (isDown ? it.a : it.b) === at);
    return of && (isDown ? of.b : of.a);
  };

  /** Returns the nearest item beside an item, in its row. */
  const beside = (item, side) => {
    const at = item.seen;
    const row = at.parent?.rows.find((it) => it.includes(at)) ?? [];
    return row[row.indexOf(at) + side];
  };

  /** Returns the next of some items after the selected one; the first one follows the last. */
  const after = (some, step) => {
    const at = some.indexOf(selected);
    const start = at < 0 && step < 0 ? 0 : at;
    return some[(start + step + some.length) % some.length];
  };

  const violations = items.filter((it) => it.kind === "node" && it.look === "violation");
  const nextViolation = (step) => {
    const isHidden = violations.includes(selected) && selected.seen !== selected;
    if (violations.length > 0) open(isHidden ? selected : after(violations, step), true);
    else status.textContent = "No op is over the budget";
  };

  const find = () => {
    const wanted = search.value.trim().toLowerCase();
    matches = [];
    for (const it of items) it.isMatch = false;
    for (const it of items) {
      if (wanted === "" || bodies.has(it) || !words(it).toLowerCase().includes(wanted)) continue;
      matches.push(it);
      it.isMatch = true;
      it.seen.isMatch = true;
    }
    count.textContent = wanted === "" ? "" : `${matches.length} found`;
    paint();
  };

  const nextMatch = (step) => {
    if (matches.length > 0) open(after(matches, step), false);
  };

  search.addEventListener("input", find);
  search.addEventListener("keydown", (event) => {
    if (event.key === "Enter") nextMatch(event.shiftKey ? -1 : 1);
    else if (event.key === "Escape") {
      search.value = "";
      find();
      main.focus();
    } else return;
    event.preventDefault();
  });

  const first = () => graphs[0].nodes[0];
  const go = (to) => {
    const it = (selected && to(selected)) ?? selected ?? first();
    if (it !== undefined) select(it);
  };
  const keys = {
    "+": () => zoom(1.25),
    "=": () => zoom(1.25),
    "-": () => zoom(0.8),
    0: fit,
    "/": () => search.focus(),
    " ": toggle,
    f: () => fold(regions, true),
    u: () => fold(regions, false),
    n: () => nextViolation(1),
    N: () => nextViolation(-1),
    Escape: () => select(undefined),
    Enter: () => select(selected, true),
    ArrowDown: () => go((it) => next(it, true)),
    ArrowUp: () => go((it) => next(it, false)),
    ArrowLeft: () => go((it) => beside(it, -1)),
    ArrowRight: () => go((it) => beside(it, 1)),
  };
  main.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  for (const button of document.querySelectorAll("button")) {
    button.addEventListener("click", keys[button.dataset.key]);
    if ("fu".includes(button.dataset.key)) button.disabled = regions.length === 0;
  }

  const point = (event) => {
    const box = main.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };

  /** Returns the item at a point of the window. An unfolded region is only hit at its title line. */
  const itemAt = ({ x, y }) => {
    const [px, py] = [view.x + x / view.scale, view.y + y / view.scale];
    return items.findLast((it) => {
      if (bodies.has(it) || it.seen !== it) return false;
      const height = it.kind === "region" && !it.isFolded ? sizes.head : it.height;
      return px >= it.x && px <= it.x + it.width && py >= it.y && py <= it.y + height;
    });
  };

  main.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(-event.deltaY / 300), point(event));
      else {
        view.x += (event.shiftKey ? event.deltaY : event.deltaX) / view.scale;
        view.y += (event.shiftKey ? 0 : event.deltaY) / view.scale;
        show();
      }
    },
    { passive: false },
  );
  let drag;
  main.addEventListener("pointerdown", (event) => {
    drag = { x: event.clientX, y: event.clientY, view: { ...view }, isMoved: false };
  });
  main.addEventListener("pointermove", (event) => {
    if (drag === undefined || event.buttons === 0) {
      const it = itemAt(point(event));
      main.style.cursor = it === undefined ? "" : "pointer";
      canvas.title = it === undefined ? "" : words(it);
      return;
    }
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.isMoved ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (!drag.isMoved) return;
    view.x = drag.view.x - dx / view.scale;
    view.y = drag.view.y - dy / view.scale;
    show();
  });
  main.addEventListener("click", (event) => {
    const isMoved = drag?.isMoved;
    drag = undefined;
    if (isMoved) return;
    const it = itemAt(point(event));
    select(it, it?.kind === "node");
    if (it?.kind === "region") toggle();
  });

  // The cursor line of the editor, counted from 1.
  window.addEventListener("message", ({ data }) => {
    if (typeof data?.select !== "number") return;
    const here = items.filter((it) => it.line === data.select && !bodies.has(it));
    const it = here.find((it) => it.kind === "node") ?? here[0];
    if (it !== undefined && it !== selected) select(it, false);
  });
  window.addEventListener("resize", show);
  new MutationObserver(readLook).observe(document.body, { attributeFilter: ["class"] });
  window.matchMedia("(prefers-color-scheme:dark)").addEventListener("change", readLook);

  if (items.filter((it) => it.kind === "node").length > MANY) {
    for (const it of regions) it.isFolded = true;
    ({ size, lines } = place());
  }
  readLook();
  fit();
  // If the whole picture is too small to read, show the first op over the budget, or the top.
  if (view.scale < READABLE && first() !== undefined) {
    select(violations.find((it) => it.seen === it) ?? violations[0] ?? first());
  }
  editor?.postMessage({ isReady: true });
})();
