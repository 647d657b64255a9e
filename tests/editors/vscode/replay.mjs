// The pages of `noisy-opt --replay` with more than 5,000 rewrites and of `noisy-check --dump trace --output-format html`, in a browser.
//
//   node tests/editors/vscode/replay.mjs --opt FILE --check FILE [--screenshots FOLDER]
//
// The exit code is 0 when every step passes. Times are told and not judged; the elements of a frame are counted.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { eventually, main, newPage, pictures, scratch, step } from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 300_000;
const OPS = 5000;

const { values } = parseArgs({
  options: {
    check: { type: "string" },
    opt: { type: "string" },
    screenshots: { type: "string" },
  },
});
assert.ok(values.check && values.opt, "--opt and --check name the programs");

/** A function of which canonicalize and cse leave little, in more than so many rewrites. */
function program() {
  const lines = ["func.func @f(%a: i32) -> i32 {", "  %c0 = arith.constant 0 : i32"];
  for (let n = 0; n < 2 * OPS; n += 1) {
    const from = n === 0 ? "%a" : `%v${n - 1}`;
    const other = n % 10 === 9 ? "%a" : "%c0";
    lines.push(`  %v${n} = arith.addi ${from}, ${other} : i32`);
  }
  lines.push(`  return %v${2 * OPS - 1} : i32`, "}", "");
  return lines.join("\n");
}

const LOOP = `func.func @f(%c: i32) -> i32 {
  %one = arith.constant 1 : i32
  cf.br ^head(%one : i32)
^head(%x: i32):
  %b = arith.cmpi eq, %x, %one : i32
  cf.cond_br %b, ^join(%x : i32), ^never
^never:
  %two = arith.addi %one, %x : i32
  cf.br ^join(%two : i32)
^join(%y: i32):
  %p = arith.cmpi slt, %c, %one : i32
  cf.cond_br %p, ^head(%y : i32), ^end
^end:
  return %y : i32
}
`;

async function run() {
  const page = await newPage();
  const errors = [];
  page.on("pageerror", (error) => errors.push(error.message));
  page.on("request", (it) => it.url().startsWith("file:") || errors.push(it.url()));
  const shot = pictures(page, values.screenshots);
  const counter = () => page.locator("output").innerText();
  const status = () => page.locator("[role=status]").innerText();
  const settled = () =>
    page.evaluate(() => new Promise((wake) => requestAnimationFrame(() => setTimeout(wake))));
  const press = async (key) => {
    await page.keyboard.press(key);
    await settled();
  };
  const open = async (name) => page.goto(pathToFileURL(path.join(scratch, name)).href);
  /** The rows that are painted: their numbers, signs, texts, facts and classes. */
  const rows = () =>
    page.$$eval(".row", (all) =>
      all
        .filter((it) => it.style.display !== "none")
        .sort((a, b) => Number.parseInt(a.style.top, 10) - Number.parseInt(b.style.top, 10))
        .map((it) => ({
          number: it.children[0].textContent,
          sign: it.children[1].textContent,
          text: it.children[2].textContent,
          fact: it.children[3].textContent,
          isDead: it.classList.contains("dead"),
        })),
    );
  /** All lines of the program, by scrolling. */
  const listing = async () => {
    const all = new Map();
    const box = page.locator("#program");
    const height = await box.evaluate((it) => it.scrollHeight);
    for (let top = 0; top < height; top += 400) {
      await box.evaluate((it, to) => (it.scrollTop = to), top);
      await settled();
      for (const row of await rows()) {
        if (row.number !== "") all.set(Number(row.number), row.text);
      }
    }
    await box.evaluate((it) => (it.scrollTop = 0));
    await settled();
    return [...all].sort((a, b) => a[0] - b[0]).map((it) => it[1]);
  };
  const generic = (name, text) => {
    const file = path.join(scratch, name);
    writeFileSync(file, text);
    return execFileSync(values.opt, ["--mlir-print-op-generic", file], { encoding: "utf8" });
  };

  const source = path.join(scratch, "many.mlir");
  const after = path.join(scratch, "after.mlir");
  writeFileSync(source, program());
  const passes = ["-canonicalize", "-cse", source, "-o", after];
  execFileSync(values.opt, [...passes, `--replay=${path.join(scratch, "many.html")}`]);
  let last;

  await step("the page begins with the program", async () => {
    await open("many.html");
    last = Number(/^0 of (\d+)$/.exec(await counter())[1]);
    assert.ok(last > 5000, `${last} steps`);
    assert.equal(
      generic("start.mlir", (await listing()).join("\n")),
      generic("is.mlir", program()),
    );
    await shot("replay-start");
  });

  await step("keys step forward and back, and back is where it was", async () => {
    const start = await rows();
    const seen = [];
    for (let n = 1; n <= 12; n += 1) {
      await press("ArrowRight");
      assert.equal(await counter(), `${n} of ${last}`);
      seen.push([await status(), await rows()]);
    }
    assert.ok(
      seen.some(([, all]) => all.some((it) => it.sign === "\u2212")),
      "lines go",
    );
    assert.ok(
      seen.some(([, all]) => all.some((it) => it.sign === "+")),
      "lines come",
    );
    assert.ok(seen.some(([said]) => /^Canonicalizer: a fold, arith\.addi/.test(said)));
    await shot("replay-fold");
    for (let n = 11; n >= 1; n -= 1) {
      await press("ArrowLeft");
      assert.deepEqual([await status(), await rows()], seen[n - 1]);
    }
    await press("ArrowLeft");
    await press("ArrowLeft");
    assert.equal(await counter(), `0 of ${last}`);
    assert.deepEqual(await rows(), start);
  });

  await step("the worklist is beside the program", async () => {
    await press("]");
    await page.locator("input[type=range]").fill("20");
    await settled();
    assert.match(await page.locator("aside").innerText(), /Worklist: \d+ waiting/);
    assert.equal(await page.locator("aside li").count(), 10);
  });

  await step("the slider goes anywhere, and the last step is what the passes left", async () => {
    const slider = page.locator("input[type=range]");
    await slider.fill(String(Math.floor(last / 2)));
    await settled();
    assert.equal(await counter(), `${Math.floor(last / 2)} of ${last}`);
    const middle = await rows();
    await press("End");
    assert.equal(await counter(), `${last} of ${last}`);
    const end = (await listing()).join("\n");
    assert.equal(generic("end.mlir", end), generic("done.mlir", readFileSync(after, "utf8")));
    await shot("replay-end");
    await slider.fill(String(Math.floor(last / 2)));
    await settled();
    await page.locator("#program").evaluate((it) => (it.scrollTop = 0));
    await press("ArrowRight");
    await press("ArrowLeft");
    assert.deepEqual((await rows()).length, middle.length);
    await press("Home");
    assert.equal(await counter(), `0 of ${last}`);
    await press("]");
    await press("]");
    assert.match(await status(), /^CSE: begins/);
    await press("[");
    assert.match(await status(), /^Canonicalizer: begins/);
  });

  await step("each of 5,000 steps is a frame of few elements", async () => {
    await press("Home");
    const told = await page.evaluate(async (n) => {
      const frame = () => new Promise((wake) => requestAnimationFrame(wake));
      const times = [];
      let most = 0;
      const forward = document.querySelector("[data-key=ArrowRight]");
      for (let at = 0; at < n; at += 1) {
        const start = performance.now();
        forward.click();
        await frame();
        times.push(performance.now() - start);
        most = Math.max(most, document.querySelectorAll("*").length);
      }
      times.sort((a, b) => a - b);
      return {
        most,
        median: times[n >> 1],
        late: times[Math.floor(n * 0.99)],
        worst: times[n - 1],
      };
    }, OPS);
    assert.equal(await counter(), `${OPS} of ${last}`);
    assert.ok(told.most < 400, `${told.most} elements`);
    const [median, late, worst] = [told.median, told.late, told.worst].map((it) => it.toFixed(1));
    console.log(
      `# ${OPS} steps, each with its frame: median ${median} ms, 99 % within ${late} ms, worst ${worst} ms`,
    );
  });

  await step("playing stops at the end and at a key", async () => {
    await page.locator("input[type=range]").fill(String(last - 3));
    await page.keyboard.press(" ");
    await eventually("the end", async () => (await counter()) === `${last} of ${last}`);
    await eventually(
      "stopped",
      async () => (await page.locator("[data-key=' ']").getAttribute("aria-pressed")) === "false",
    );
  });

  writeFileSync(path.join(scratch, "loop.mlir"), LOOP);
  const trace = ["--dump", "trace", "--output-format", "html", path.join(scratch, "loop.mlir")];
  writeFileSync(path.join(scratch, "loop.html"), execFileSync(values.check, trace));

  await step(
    "blocks come alive as the solver visits them, and facts stand beside lines",
    async () => {
      await open("loop.html");
      assert.ok(
        (await rows()).slice(1, -1).every((it) => it.isDead),
        "nothing is reached yet",
      );
      let before = await rows();
      const alive = (all) => all.filter((it) => it.text !== "" && !it.isDead).map((it) => it.text);
      for (;;) {
        await press("ArrowRight");
        if (/\^head/.test(await status())) break;
        before = await rows();
      }
      assert.ok(!alive(before).includes("^head(%x: i32):"));
      assert.ok(alive(await rows()).includes("^head(%x: i32):"));
      assert.match(await page.locator("aside").innerText(), /comes alive/);
      assert.match(await page.locator("aside").innerText(), /%x\s+unreached\s+1/);
      await shot("replay-solver");
      await press("]");
      assert.match(await status(), /^ranges/);
      await press("ArrowLeft");
      const end = await rows();
      assert.match(await status(), /^constants/);
      const fact = (text) => end.find((it) => it.text.startsWith(text)).fact;
      assert.equal(fact("%b ="), "%b = -1");
      assert.equal(fact("^join"), "%y = 1");
      // The block that the constants prove dead.
      assert.deepEqual(
        end
          .filter((it) => it.isDead)
          .map((it) => it.text)
          .slice(0, 2),
        ["^never:", "%two = arith.addi %one, %x : i32"],
      );
    },
  );

  await step("light, dark and high contrast have their colours", async () => {
    for (const [name, back] of [
      ["vscode-light", "rgb(255, 255, 255)"],
      ["vscode-dark", "rgb(30, 30, 30)"],
      ["vscode-high-contrast", "rgb(0, 0, 0)"],
      ["vscode-high-contrast vscode-high-contrast-light", "rgb(255, 255, 255)"],
    ]) {
      await page.evaluate((it) => (document.body.className = it), name);
      const is = await page.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(is, back, name);
      await shot(`replay-${name.split(" ").at(-1)}`);
    }
  });

  await step("nothing failed in the page, and nothing was asked of a network", async () => {
    assert.deepEqual(errors, []);
  });
}

await main(WHOLE, run);
