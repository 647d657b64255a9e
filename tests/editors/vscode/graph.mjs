// The page of `noisy-check graph --format html` with 5,000 ops, in a browser: folding, search, the keyboard, what a frame paints.
//
//   node tests/editors/vscode/graph.mjs --check FILE [--screenshots FOLDER]
//
// The exit code is 0 when every step passes. Times are not measured; what a frame paints is counted.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { eventually, main, newPage, pictures, scratch, soon, step } from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 300_000;
const OPS = 5000;

const { values } = parseArgs({
  options: { check: { type: "string" }, screenshots: { type: "string" } },
});
assert.ok(values.check, "--check names noisy-check");

/** Numbers that are the same in each run. */
function random(seed) {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

/** A function of so many noisy ops, in loops up to three deep or in none. */
function program(isNested) {
  const next = random(7);
  const lines = ["func.func @main(%x: i5) -> !noisy.i32 {"];
  for (const [name, value] of [
    ["c0", 0],
    ["c1", 1],
    ["c4", 4],
  ]) {
    lines.push(`  %${name} = arith.constant ${value} : index`);
  }
  let made = 0;
  let loops = 0;
  const value = (indent, text) => {
    lines.push(`${indent}%v${made} = noisy.${text} !noisy.i32`);
    made += 1;
    return `%v${made - 1}`;
  };
  const outer = [];
  for (let n = 0; n < 8; n += 1) outer.push(value("  ", "encode %x : i5 ->"));
  const pick = (of) => of[Math.max(0, of.length - 12) + next(Math.min(12, of.length))];
  const body = (values, depth) => {
    const here = [...values];
    const indent = "  ".repeat(depth + 1);
    for (let left = 8 + next(10); left > 0 && made < OPS; left -= 1) {
      if (isNested && depth < 3 && next(4) === 0) {
        const id = loops;
        loops += 1;
        lines.push(
          `${indent}%r${id} = scf.for %i${id} = %c0 to %c4 step %c1 iter_args(%b${id} = ${pick(here)}) -> (!noisy.i32) {`,
        );
        const last = body([...here, `%b${id}`], depth + 1);
        lines.push(`${indent}  scf.yield ${last} : !noisy.i32`, `${indent}}`);
        here.push(`%r${id}`);
        continue;
      }
      const op = ["add", "sub", "mul", "reduce_noise", "reduce_noise"][next(5)];
      const operands = op === "reduce_noise" ? pick(here) : `${pick(here)}, ${pick(here)}`;
      here.push(value(indent, `${op} ${operands} :`));
    }
    return value(indent, `reduce_noise ${here.at(-1)} :`);
  };
  while (made < OPS) outer.push(body(outer, 0));
  lines.push(`  return ${outer.at(-1)} : !noisy.i32`, "}", "");
  return lines.join("\n");
}

/** Runs in the page before its script: notes the texts and boxes of each frame. */
function watch() {
  const { prototype } = CanvasRenderingContext2D;
  const frame = { texts: [], boxes: [], segments: 0 };
  window.painted = frame;
  const wrap = (name, note) => {
    const real = prototype[name];
    prototype[name] = function wrapped(...args) {
      note(this, ...args);
      return real.apply(this, args);
    };
  };
  wrap("clearRect", () => Object.assign(frame, { texts: [], boxes: [], segments: 0 }));
  wrap("roundRect", (_, x, y, width, height) => frame.boxes.push({ x, y, width, height }));
  wrap("lineTo", () => (frame.segments += 1));
  wrap("bezierCurveTo", () => (frame.segments += 1));
  wrap("fillText", (paper, text, x, y) => {
    const { width } = paper.measureText(text);
    const left = paper.textAlign === "center" ? x - width / 2 : x;
    frame.texts.push({ text, left, right: left + width, y, colour: paper.fillStyle });
  });
}

async function run() {
  const page = await newPage();
  await page.addInitScript(watch);
  const shot = pictures(page, values.screenshots);
  const graph = page.getByRole("application");
  const search = page.getByRole("searchbox");
  const found = page.locator("output");
  const status = () => page.locator("[role=status]").innerText();
  const says = (what) => eventually(`${what}`, async () => what.test(await status()));
  const press = (key) => graph.press(key);
  /** What the next frame paints. */
  const painted = async () => {
    await page.evaluate(() => new Promise((wake) => requestAnimationFrame(() => setTimeout(wake))));
    return page.evaluate(() => window.painted);
  };
  const open = async (name, text) => {
    const file = path.join(scratch, `${name}.mlir`);
    const html = path.join(scratch, `${name}.html`);
    writeFileSync(file, text);
    execFileSync(values.check, ["graph", file, "--format", "html", "-o", html]);
    await page.goto(pathToFileURL(html).href);
  };
  /** The folded regions that are painted. */
  const folds = ({ texts }) => texts.filter((it) => it.text.startsWith("▸")).length;
  const heads = ({ texts }) => texts.filter((it) => it.text.startsWith("▾")).length;
  const isWhole = ({ texts, boxes }) => {
    assert.ok(texts.length > 10, "there is text");
    for (const it of texts.filter((one) => !one.text.startsWith("@"))) {
      const isIn = boxes.some(
        (box) =>
          it.left >= box.x &&
          it.right <= box.x + box.width &&
          it.y > box.y &&
          it.y <= box.y + box.height,
      );
      assert.ok(isIn || it.text === "", `no box holds ${JSON.stringify(it)}`);
    }
    const distinct = [...new Map(boxes.map((it) => [`${it.x} ${it.y}`, it])).values()];
    for (const a of distinct) {
      for (const b of distinct) {
        const isApart =
          a.x + a.width <= b.x ||
          b.x + b.width <= a.x ||
          a.y + a.height <= b.y ||
          b.y + b.height <= a.y;
        const holds = (c, d) =>
          c.x <= d.x &&
          c.y <= d.y &&
          c.x + c.width >= d.x + d.width &&
          c.y + c.height >= d.y + d.height;
        assert.ok(isApart || holds(a, b) || holds(b, a), JSON.stringify([a, b]));
      }
    }
  };

  await step("5,000 ops in loops begin folded, and what is in sight can be read", async () => {
    await open("loops", program(true));
    await says(/line \d+/);
    const frame = await painted();
    assert.ok(folds(frame) > 0 && heads(frame) === 0, "folded");
    isWhole(frame);
    assert.ok(frame.texts.length < 1000, `${frame.texts.length} texts`);
    await shot("graph-large-folded");
  });

  await step("a frame paints what is in sight, however much there is", async () => {
    await press("u");
    await press("n");
    await says(/mul|add|sub/);
    const frame = await painted();
    assert.ok(folds(frame) === 0 && heads(frame) > 0, "unfolded");
    isWhole(frame);
    assert.ok(frame.texts.length < 1000, `${frame.texts.length} texts`);
    assert.ok(frame.segments < 20_000, `${frame.segments} parts of edges`);
    await shot("graph-large");
    // Where all is in sight nothing is written.
    await press("0");
    assert.equal((await painted()).texts.length, 0);
    await shot("graph-large-whole");
  });

  await step("one region folds and unfolds, and what is selected stays", async () => {
    await press("n");
    const inner = await status();
    assert.equal(folds(await painted()), 0);
    await press(" ");
    await says(/^scf\.for .*values, [1-9]\d* over budget.*line \d+$/);
    assert.equal(folds(await painted()), 1);
    await press(" ");
    assert.equal(folds(await painted()), 0);
    await press("f");
    assert.equal(heads(await painted()), 0);
    await press("n");
    await eventually("open again", async () => heads(await painted()) > 0);
    assert.notEqual(await status(), inner);
  });

  await step("a search finds what is folded, and opens it", async () => {
    await press("f");
    await search.fill("= mul");
    const all = program(true).match(/noisy\.mul/g).length;
    assert.ok(all > 100);
    await soon(async () => assert.equal(await found.innerText(), `${all} found`));
    await search.press("Enter");
    await says(/= mul/);
    const first = await status();
    await search.press("Enter");
    await eventually("the next", async () => (await status()) !== first);
    await search.press("Shift+Enter");
    await eventually("the first", async () => (await status()) === first);
    await search.press("Escape");
    await soon(async () => assert.equal(await found.innerText(), ""));
  });

  await step("the keyboard follows edges and rows", async () => {
    const seen = new Set();
    for (const key of ["ArrowDown", "ArrowRight", "ArrowUp", "ArrowRight", "ArrowDown"]) {
      await press(key);
      seen.add(await status());
    }
    assert.ok(seen.size >= 3, [...seen].join("; "));
  });

  await step("5,000 ops without a loop begin at the first one over the budget", async () => {
    await open("flat", program(false));
    await says(/= (mul|add|sub) +\[0, \d+\] +line \d+$/);
    const [, high] = /\[0, (\d+)\]/.exec(await status());
    assert.ok(Number(high) > 26, high);
    isWhole(await painted());
    assert.ok(await page.getByRole("button", { name: "Fold all", exact: true }).isDisabled());
    await shot("graph-large-flat");
  });

  await step("light, dark and high contrast have their colours", async () => {
    for (const [name, back, edge] of [
      ["vscode-light", "rgb(255, 255, 255)", "#607d8b"],
      ["vscode-dark", "rgb(30, 30, 30)", "#90a4ae"],
      ["vscode-high-contrast", "rgb(0, 0, 0)", "#ffffff"],
      ["vscode-high-contrast vscode-high-contrast-light", "rgb(255, 255, 255)", "#000000"],
    ]) {
      await page.evaluate((it) => (document.body.className = it), name);
      const is = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(is, back, name);
      await painted();
      const strokes = await page.evaluate(() => {
        const seen = new Set();
        const { prototype } = CanvasRenderingContext2D;
        const { stroke } = prototype;
        prototype.stroke = function noted(...args) {
          seen.add(this.strokeStyle);
          return stroke.apply(this, args);
        };
        window.dispatchEvent(new Event("resize"));
        return new Promise((wake) =>
          requestAnimationFrame(() =>
            setTimeout(() => {
              prototype.stroke = stroke;
              wake([...seen]);
            }),
          ),
        );
      });
      assert.ok(strokes.includes(edge), `${name}: ${strokes}`);
      await shot(`graph-large-${name.split(" ").at(-1)}`);
    }
  });
}

await main(WHOLE, run);
