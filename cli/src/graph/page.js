// The graph page: zoom, search, keyboard; in an editor's panel also to and from its cursor. No library, no network.
"use strict";
(() => {
  const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;
  const main = document.querySelector("main");
  const svg = main.querySelector("svg");
  const search = document.querySelector("input");
  const count = document.querySelector("output");
  const status = document.querySelector("[role=status]");
  const nodes = [...svg.querySelectorAll(".node")];
  const edges = [...svg.querySelectorAll(".edge")];
  const byId = new Map(nodes.map((it) => [it.id, it]));
  const whole = svg.viewBox.baseVal;
  const size = { width: whole.width, height: whole.height };
  let view = { x: 0, y: 0, width: size.width, height: size.height };
  let selected;
  let matches = [];

  /** Shows the view, moved so that the picture is not out of sight. */
  const show = () => {
    const inside = (at, part, all) =>
      Math.min(Math.max(at, Math.min(0, all - part)), Math.max(0, all - part));
    view.x = inside(view.x, view.width, size.width);
    view.y = inside(view.y, view.height, size.height);
    svg.setAttribute("viewBox", `${view.x} ${view.y} ${view.width} ${view.height}`);
  };

  /** Zooms by a factor and keeps a point of the picture where it is, or the middle. */
  const zoom = (factor, at) => {
    const width = Math.min(Math.max(view.width * factor, 80), Math.max(size.width, 400) * 4);
    const real = width / view.width;
    const fixed = at ?? { x: view.x + view.width / 2, y: view.y + view.height / 2 };
    view = {
      x: fixed.x - (fixed.x - view.x) * real,
      y: fixed.y - (fixed.y - view.y) * real,
      width,
      height: view.height * real,
    };
    show();
  };

  /** The whole width, from the top; a small picture is not blown up. */
  const fit = () => {
    const box = main.getBoundingClientRect();
    const width = Math.max(size.width, box.width);
    view = { x: 0, y: 0, width, height: (width * box.height) / Math.max(box.width, 1) };
    view.x = (size.width - width) / 2;
    show();
  };

  const place = (node) => {
    const rect = node.querySelector("rect");
    const dx = Number(node.parentNode.dataset.dx);
    const at = (name) => Number(rect.getAttribute(name));
    return { x: dx + at("x") + at("width") / 2, y: at("y") + at("height") / 2 };
  };

  /** Marks a node and what it is joined to, and brings it into sight. */
  const select = (node, isTold) => {
    selected?.classList.remove("selected");
    edges.forEach((it) => it.classList.remove("lit"));
    selected = node;
    if (node === undefined) {
      status.textContent = "";
      return;
    }
    node.classList.add("selected");
    for (const edge of edges) {
      if (edge.dataset.from === node.id || edge.dataset.to === node.id) edge.classList.add("lit");
    }
    const { x, y } = place(node);
    const isInside =
      x > view.x && x < view.x + view.width && y > view.y && y < view.y + view.height;
    if (!isInside) {
      view.x = x - view.width / 2;
      view.y = y - view.height / 2;
      show();
    }
    const line = node.dataset.line;
    const of = (name) => node.querySelector(name).textContent;
    status.textContent = [".label", ".detail", "title"].map(of).filter(Boolean).join("  ");
    if (isTold && line !== undefined) editor?.postMessage({ line: Number(line) });
  };

  /** The nodes that a node feeds, or by which it is fed. */
  const next = (node, isDown) => {
    const [here, there] = isDown ? ["from", "to"] : ["to", "from"];
    const of = edges.filter((it) => it.dataset[here] === node.id && it.dataset[there] !== node.id);
    return byId.get(of[0]?.dataset[there]);
  };

  /** The nearest node beside one, in its row. */
  const beside = (node, side) => {
    const from = place(node);
    const distance = (it) => (place(it).x - from.x) * side;
    const row = nodes.filter((it) => Math.abs(place(it).y - from.y) < 1 && distance(it) > 0);
    return row.sort((a, b) => distance(a) - distance(b))[0];
  };

  const find = () => {
    const wanted = search.value.trim().toLowerCase();
    matches = [];
    for (const node of nodes) {
      const isMatch = wanted !== "" && node.textContent.toLowerCase().includes(wanted);
      node.classList.toggle("match", isMatch);
      if (isMatch) matches.push(node);
    }
    count.textContent = wanted === "" ? "" : `${matches.length} found`;
  };

  const nextMatch = (step) => {
    if (matches.length === 0) return;
    const at = matches.indexOf(selected);
    const start = at < 0 && step < 0 ? 0 : at;
    select(matches[(start + step + matches.length) % matches.length], false);
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

  const keys = {
    "+": () => zoom(0.8),
    "=": () => zoom(0.8),
    "-": () => zoom(1.25),
    0: fit,
    "/": () => search.focus(),
    Escape: () => select(undefined),
    Enter: () => select(selected, true),
    ArrowDown: () => select((selected && next(selected, true)) ?? selected ?? nodes[0]),
    ArrowUp: () => select((selected && next(selected, false)) ?? selected ?? nodes[0]),
    ArrowLeft: () => select((selected && beside(selected, -1)) ?? selected ?? nodes[0]),
    ArrowRight: () => select((selected && beside(selected, 1)) ?? selected ?? nodes[0]),
  };
  main.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  for (const button of document.querySelectorAll("button")) {
    button.addEventListener("click", keys[button.dataset.key]);
  }

  const point = (event) => {
    const box = svg.getBoundingClientRect();
    const scale = view.width / Math.max(box.width, 1);
    return {
      x: view.x + (event.clientX - box.left) * scale,
      y: view.y + (event.clientY - box.top) * scale,
      scale,
    };
  };
  main.addEventListener(
    "wheel",
    (event) => {
      event.preventDefault();
      const { scale, ...at } = point(event);
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY / 300), at);
      else {
        view.x += (event.shiftKey ? event.deltaY : event.deltaX) * scale;
        view.y += (event.shiftKey ? 0 : event.deltaY) * scale;
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
    if (drag === undefined || event.buttons === 0) return;
    const { scale } = point(event);
    const [dx, dy] = [event.clientX - drag.x, event.clientY - drag.y];
    drag.isMoved ||= Math.abs(dx) + Math.abs(dy) > 4;
    if (!drag.isMoved) return;
    view.x = drag.view.x - dx * scale;
    view.y = drag.view.y - dy * scale;
    show();
  });
  main.addEventListener("click", (event) => {
    const isMoved = drag?.isMoved;
    drag = undefined;
    if (!isMoved) select(event.target.closest(".node") ?? undefined, true);
  });

  // The cursor of the editor, as a line from 1.
  window.addEventListener("message", ({ data }) => {
    if (typeof data?.select !== "number") return;
    const node = nodes.find((it) => it.dataset.line === String(data.select));
    if (node !== undefined && node !== selected) select(node, false);
  });
  window.addEventListener("resize", fit);
  fit();
})();
