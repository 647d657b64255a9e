// The iteration space: choosing an order, following dependences; in an editor's panel also to and from its cursor. No library, no network.
"use strict";
(() => {
  const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;
  const before = document.querySelector("#before svg");
  const status = document.querySelector("[role=status]");
  const orders = [...document.querySelectorAll(".order")];
  const radios = [...document.querySelectorAll("input[type=radio]")];
  const points = [...before.querySelectorAll(".point")];
  const arrows = [...document.querySelectorAll(".arrow")];
  const here = [...before.querySelectorAll(".arrow")];
  let selected;

  const choose = (number) => {
    for (const it of orders) it.hidden = it.dataset.order !== number;
    tell();
  };
  for (const it of radios) it.addEventListener("change", () => choose(it.value));

  const words = (it) => it?.querySelector("title")?.textContent ?? "";
  const twin = (point) => {
    const shown = orders.find((it) => !it.hidden);
    return shown?.querySelector(`.point[data-point="${point.dataset.point}"]`);
  };

  /** Says of the selected point when it runs and what meets there. */
  const tell = () => {
    if (selected === undefined) return;
    const number = selected.dataset.point;
    const after = twin(selected);
    const turns = after === undefined ? [selected] : [selected, after];
    const of = (side) => here.filter((it) => it.dataset[side] === number).length;
    status.textContent =
      `${words(selected)}: executed as number ${turns.map((it) => it.dataset.turn).join(", in the other order as number ")}; ` +
      `${of("to")} arrows in, ${of("from")} out`;
  };

  /** Marks points, and leaves only some arrows in full colour. */
  const mark = (marked, isLit) => {
    for (const it of document.querySelectorAll(".selected")) it.classList.remove("selected");
    for (const number of marked) {
      for (const it of document.querySelectorAll(`.point[data-point="${number}"]`)) {
        it.classList.add("selected");
      }
    }
    for (const it of arrows) it.classList.toggle("faint", !isLit(it));
  };

  const select = (point) => {
    selected = point;
    if (point === undefined) {
      mark([], () => true);
      status.textContent = "";
      return;
    }
    const number = point.dataset.point;
    mark([number], (it) => it.dataset.from === number || it.dataset.to === number);
    tell();
  };

  const selectArrow = (arrow) => {
    const { from, to, line } = arrow.dataset;
    selected = undefined;
    mark([from, to], (it) => it.dataset.from === from && it.dataset.to === to);
    status.textContent = `${words(points[from])} to ${words(points[to])}: ${words(arrow)}`;
    editor?.postMessage({ line: Number(line) });
  };

  for (const figure of document.querySelectorAll("svg")) {
    figure.addEventListener("click", ({ target }) => {
      const arrow = target.closest(".arrow");
      if (arrow !== null) {
        selectArrow(arrow);
        return;
      }
      const number = target.closest(".point")?.dataset.point;
      select(number === undefined ? undefined : points[number]);
    });
  }

  const middle = (point) => {
    const { x, y, width, height } = point.firstElementChild.nextElementSibling.getBBox();
    return { x: x + width / 2, y: y + height / 2 };
  };

  /** The nearest point in a direction. */
  const beside = (dx, dy) => {
    if (selected === undefined) return points[0];
    const from = middle(selected);
    const far = (it) => {
      const to = middle(it);
      const along = (to.x - from.x) * dx + (to.y - from.y) * dy;
      const aside = Math.abs((to.x - from.x) * dy) + Math.abs((to.y - from.y) * dx);
      return along > 1 ? along + 3 * aside : Infinity;
    };
    const next = points.reduce((a, b) => (far(b) < far(a) ? b : a));
    return far(next) < Infinity ? next : selected;
  };

  const keys = {
    ArrowDown: () => select(beside(0, 1)),
    ArrowUp: () => select(beside(0, -1)),
    ArrowLeft: () => select(beside(-1, 0)),
    ArrowRight: () => select(beside(1, 0)),
    Escape: () => select(undefined),
    Enter: () => {
      const number = selected?.dataset.point;
      const of = (side) => here.find((it) => it.dataset[side] === number);
      const arrow = of("to") ?? of("from");
      if (arrow !== undefined) editor?.postMessage({ line: Number(arrow.dataset.line) });
    },
  };
  before.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (act === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });

  // The cursor of the editor, as a line from 1: the arrows of the access in it.
  window.addEventListener("message", ({ data }) => {
    if (typeof data?.select !== "number") return;
    const isHere = (it) => it.dataset.lines.split(" ").includes(String(data.select));
    const isAny = arrows.some(isHere);
    selected = undefined;
    mark([], (it) => !isAny || isHere(it));
    status.textContent = isAny ? `Arrows of line ${data.select}` : "";
  });
})();
