// Replays a recording: applies the changes of each step, forward and back. Only visible lines have elements. No library, no network.
"use strict";
(() => {
  const { texts, program, values, blocks, steps, leftOut } = JSON.parse(
    document.querySelector("script[type='application/json']").textContent,
  );
  const [GROUP, WHAT, PLACE, LINE, HUNKS, FACTS, READS, BLOCKS, WAITING, N_WAITING] = Array(10).keys();
  const ROW = 20;
  const PLAY = 120;
  const NEXT = 8;
  const editor = typeof acquireVsCodeApi === "function" ? acquireVsCodeApi() : undefined;
  const box = document.querySelector("#program");
  const space = box.firstElementChild;
  const slider = document.querySelector("input[type=range]");
  const counter = document.querySelector("output");
  const status = document.querySelector("[role=status]");
  const panel = document.querySelector("#what");
  const play = document.querySelector("[data-key=' ']");
  slider.max = steps.length;

  /** Number of steps that are applied to the variables below. */
  let at = 0;
  let lines = program;
  const facts = values.map(() => -1);
  const alive = blocks.map(() => false);

  /** For each group: the values of each line, and the innermost block around it. */
  const byGroup = new Map();
  const shapeOf = (group) => {
    let shape = byGroup.get(group);
    if (shape !== undefined) return shape;
    shape = { values: new Map(), blocks: new Int32Array(program.length).fill(-1) };
    byGroup.set(group, shape);
    values.forEach(([line, , of], value) => {
      if (of !== group) return;
      if (!shape.values.has(line)) shape.values.set(line, []);
      shape.values.get(line).push(value);
    });
    // Outer blocks precede inner ones, which overwrite them.
    blocks.forEach(([, first, last, of], block) => {
      if (of === group) shape.blocks.fill(block, first, last + 1);
    });
    return shape;
  };

  const replace = (from, n, items) => {
    if (items.length < 1000) lines.splice(from, n, ...items);
    else lines = lines.slice(0, from).concat(items, lines.slice(from + n));
  };
  const forward = (step) => {
    for (const [from, old, items] of step[HUNKS].toReversed()) replace(from, old.length, items);
    for (const [value, , after] of step[FACTS]) facts[value] = after;
    for (const [block, is] of step[BLOCKS]) alive[block] = is;
  };
  /** Returns the hunks with their positions after the step. */
  const moved = (step) => {
    let by = 0;
    return step[HUNKS].map(([from, old, items]) => {
      const place = from + by;
      by += items.length - old.length;
      return [place, old, items];
    });
  };
  const back = (step) => {
    for (const [from, old, items] of moved(step).toReversed()) replace(from, items.length, old);
    for (const [value, before] of step[FACTS].toReversed()) facts[value] = before;
    for (const [block, is] of step[BLOCKS].toReversed()) alive[block] = !is;
  };

  /** The shown lines: an index of `lines`, or `~n` for line n of the removed ones. */
  let view = new Int32Array(0);
  let gone = [];
  let fresh = new Set();
  let focus = -1;
  const arrange = (step) => {
    gone = [];
    fresh = new Set();
    const hunks = step === undefined ? [] : moved(step);
    const n = hunks.reduce((sum, [, old]) => sum + old.length, lines.length);
    view = new Int32Array(n);
    let row = 0;
    let line = 0;
    focus = -1;
    for (const [from, old, items] of hunks) {
      while (line < from) view[row++] = line++;
      if (focus < 0) focus = row;
      for (const text of old) {
        view[row++] = ~gone.length;
        gone.push(text);
      }
      for (let it = 0; it < items.length; it += 1) {
        fresh.add(line);
        view[row++] = line++;
      }
    }
    while (row < n) view[row++] = line++;
    if (focus < 0 && step !== undefined && step[LINE] !== null) focus = step[LINE];
  };

  const rows = [];
  const paint = () => {
    const step = steps[at - 1];
    const hasFacts = values.length + blocks.length > 0;
    const shape = hasFacts ? shapeOf(steps[Math.max(at - 1, 0)]?.[GROUP]) : undefined;
    const changed = new Set(step?.[FACTS].map(([value]) => value));
    const first = Math.max(0, Math.floor(box.scrollTop / ROW) - 4);
    const n = Math.min(view.length - first, Math.ceil(box.clientHeight / ROW) + 8);
    space.style.height = `${view.length * ROW}px`;
    while (rows.length < n) {
      const row = document.createElement("div");
      row.append(...["b", "i", "code", "em"].map((it) => document.createElement(it)));
      rows.push(row);
      space.append(row);
    }
    rows.forEach((row, index) => {
      row.hidden = index >= n;
      row.style.display = row.hidden ? "none" : "";
      if (row.hidden) return;
      const line = view[first + index];
      const isGone = line < 0;
      const [number, sign, code, fact] = row.children;
      row.style.top = `${(first + index) * ROW}px`;
      number.textContent = isGone ? "" : line + 1;
      sign.textContent = isGone ? "\u2212" : fresh.has(line) ? "+" : "";
      const text = texts[isGone ? gone[~line] : lines[line]];
      code.textContent = text.trimStart();
      code.style.paddingLeft = `${text.length - text.trimStart().length}ch`;
      const known = (isGone ? [] : (shape?.values.get(line) ?? [])).filter((it) => facts[it] >= 0);
      fact.textContent = known.map((it) => `${texts[values[it][1]]} = ${texts[facts[it]]}`).join(", ");
      fact.className = known.some((it) => changed.has(it)) ? "moved" : "";
      const block = isGone || shape === undefined ? -1 : shape.blocks[line];
      const classes = ["row"];
      if (isGone) classes.push("old");
      if (fresh.has(line)) classes.push("new");
      if (first + index === focus) classes.push("here");
      if (block >= 0 && !alive[block]) classes.push("dead");
      row.className = classes.join(" ");
    });
  };

  const element = (name, text, ...children) => {
    const it = document.createElement(name);
    if (text !== undefined) it.textContent = text;
    it.append(...children);
    return it;
  };
  const table = (head, body) =>
    element(
      "table",
      undefined,
      element("tr", undefined, ...head.map((it) => element("th", it))),
      ...body.map((row) => element("tr", undefined, ...row.map((it) => element("td", it)))),
    );

  const describe = () => {
    const step = steps[at - 1];
    const parts = [];
    if (step === undefined) {
      status.textContent = "The program before the first step";
    } else {
      const words = [step[GROUP], step[WHAT], step[PLACE]].map((it) => texts[it]);
      const place = step[LINE] === null || step[LINE] < 0 ? "" : `, line ${step[LINE] + 1}`;
      status.textContent = `${words[0]}: ${words.slice(1).filter((it) => it !== "").join(", ")}${place}`;
      const [less, more] = [1, 2].map((it) => step[HUNKS].reduce((sum, hunk) => sum + hunk[it].length, 0));
      if (less + more > 0) {
        const count = (n) => (n === 1 ? "1 line" : `${n} lines`);
        parts.push(element("p", `${count(less)} gone, ${more} new; ${lines.length} in all`));
      }
      if (step[READS].length > 0) {
        const read = step[READS].map(([name, fact]) => [texts[name], texts[fact]]);
        parts.push(element("h2", "Read"), table(["value", "fact"], read));
      }
      if (step[FACTS].length > 0) {
        const all = step[FACTS].slice(0, 50).map(([value, before, after]) =>
          [texts[values[value][1]], texts[before], texts[after]],
        );
        parts.push(element("h2", "Facts"), table(["value", "before", "after"], all));
      }
      if (step[BLOCKS].length > 0) {
        const all = step[BLOCKS].slice(0, 50).map(([block, is]) =>
          [texts[blocks[block][0]], String(blocks[block][1] + 1), is ? "comes alive" : "is dead"],
        );
        parts.push(element("h2", "Blocks"), table(["block", "line", ""], all));
      }
    }
    const waiting = step?.[WAITING] ?? [];
    if (waiting.length > 0) {
      const list = element("ol", undefined, ...waiting.map((it) => element("li", texts[it].trim())));
      parts.push(element("h2", `Worklist: ${step[N_WAITING]} waiting, the next`), list);
    }
    const next = steps.slice(at, at + NEXT);
    if (waiting.length === 0 && next.length > 0) {
      const list = next.map((it) => element("li", `${texts[it[WHAT]]} ${texts[it[PLACE]]}`));
      parts.push(element("h2", "Next steps"), element("ol", undefined, ...list));
    }
    if (at === steps.length && leftOut > 0) {
      parts.push(element("p", `${leftOut} more steps are not recorded.`));
    }
    panel.replaceChildren(...parts);
    counter.textContent = `${at} of ${steps.length}`;
    slider.value = at;
    slider.setAttribute("aria-valuetext", `${at}: ${status.textContent}`);
  };

  let wanted = 0;
  let isDue = false;
  const show = () => {
    isDue = false;
    while (at < wanted) forward(steps[at++]);
    while (at > wanted) back(steps[--at]);
    arrange(steps[at - 1]);
    space.style.height = `${view.length * ROW}px`;
    const isIn = focus * ROW >= box.scrollTop && (focus + 1) * ROW <= box.scrollTop + box.clientHeight;
    if (focus >= 0 && !isIn) box.scrollTop = Math.max(0, focus * ROW - box.clientHeight / 2);
    describe();
    paint();
    const line = steps[at - 1]?.[LINE];
    if (typeof line === "number") editor?.postMessage({ line: line + 1 });
  };
  const go = (step) => {
    wanted = Math.min(Math.max(step, 0), steps.length);
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(show);
  };

  let timer;
  const stop = () => {
    clearInterval(timer);
    timer = undefined;
    play.setAttribute("aria-pressed", "false");
  };
  const start = () => {
    if (wanted === steps.length) go(0);
    play.setAttribute("aria-pressed", "true");
    timer = setInterval(() => (wanted < steps.length ? go(wanted + 1) : stop()), PLAY);
  };
  /** Goes to the start of the next or previous pass or analysis. */
  const jump = (by) => {
    const group = (it) => steps[it - 1]?.[GROUP];
    let to = wanted + by;
    if (by < 0) while (to > 1 && group(to) === group(to - 1)) to -= 1;
    else while (to < steps.length && group(to) === group(to - 1)) to += 1;
    go(to);
  };
  const keys = {
    ArrowRight: () => go(wanted + 1),
    ArrowLeft: () => go(wanted - 1),
    Home: () => go(0),
    End: () => go(steps.length),
    "[": () => jump(-1),
    "]": () => jump(1),
    " ": () => (timer === undefined ? start() : stop()),
  };
  const act = (key) => {
    if (key !== " ") stop();
    keys[key]();
  };
  document.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === " " && event.target.closest("button") !== null) return;
    event.preventDefault();
    act(event.key);
  });
  for (const button of document.querySelectorAll("[data-key]")) {
    button.addEventListener("click", () => act(button.dataset.key));
  }
  slider.addEventListener("input", () => {
    stop();
    go(Number(slider.value));
  });
  box.addEventListener("scroll", paint);
  window.addEventListener("resize", paint);
  show();
})();
