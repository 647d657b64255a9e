// VS Code with the packaged extension and a program of HEIR's: levels, polynomials and scales are shown, a missing relinearization is found, explained and fixed.
//
//   node tests/editors/vscode/heir.mjs --vsix FILE [--screenshots FOLDER]
//
// The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import {
  editorText,
  eventually,
  main,
  open,
  pictures,
  plain,
  pointAt,
  project,
  quickFix,
  root,
  soon,
  step,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 240_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");
const file = path.join(project, "heir.mlir");
const before = readFileSync(path.join(root, "examples/heir.mlir"), "utf8");

/** How often an op stands in a text. */
const count = (text, op) => text.split(`= ${op} `).length - 1;

async function run() {
  const { page } = await open(values.vsix, { "heir.mlir": before });
  const shot = pictures(page, values.screenshots);
  const squiggle = page.locator(".squiggly-error");
  // The rendered line that defines a value; a hint stands right behind the name.
  const definition = (value) =>
    page.locator(".view-line", { hasText: new RegExp(`^\\s*${value}(?!\\d).*=\\s`) }).first();
  const lenses = async () =>
    (await page.locator(".codelens-decoration").allInnerTexts()).map((it) => plain(it));

  await step("hints show level, polynomials and scale of each ciphertext", async () => {
    await page.getByRole("treeitem", { name: "heir.mlir" }).dblclick();
    await page.locator(".tab.active", { hasText: "heir.mlir" }).waitFor();
    await page.keyboard.press("Control+b"); // the side bar goes
    await page.locator(".explorer-folders-view").waitFor({ state: "hidden" });
    await eventually("L2 D2 s45", async () => /L2 D2 s45/.test(await editorText(page)));
    for (const [value, hint] of [
      ["%3", "L2 D3 s90"],
      ["%4", "L1 D3 s45"],
      ["%11", "L0 D2 s45"],
    ]) {
      await eventually(`${hint} at ${value}`, async () =>
        plain(await definition(value).innerText()).includes(`${value}${hint} =`),
      );
    }
    // What is public has none.
    await soon(async () => assert.doesNotMatch(plain(await definition("%c1").innerText()), /L\d/));
  });

  await step("the function tells what it costs", async () => {
    await soon(async () => {
      const [lens, ...others] = await lenses();
      assert.match(lens ?? "", /depth 2, 2 of 3 levels used, 1 relinearization, 2 rotations/);
      assert.match(lens ?? "", /about 540 ms; keys: relinearization; rotation by 1, 2/);
      // The generic costs the same, and is not told of again.
      assert.deepEqual(others, []);
    });
  });

  await step("one error, at the op that gets three polynomials", async () => {
    await squiggle.first().waitFor();
    await eventually("one squiggle in the line", async () => {
      const [drawn, line] = await Promise.all([
        squiggle.evaluateAll((all) => all.map((it) => it.getBoundingClientRect().y)),
        definition("%5").boundingBox(),
      ]);
      return drawn.length === 1 && line && Math.abs(drawn[0] - line.y) < line.height;
    });
    await shot("heir-hints");
    await definition("%5").click();
    await page.keyboard.press("F8");
    await page.locator(".marker-widget").waitFor();
    await soon(async () => {
      const message = plain(await page.locator(".marker-widget").innerText());
      assert.match(message, /%4 has 3 polynomials, but tensor_ext\.rotate takes 2/);
    });
    await shot("heir-error");
    await page.keyboard.press("Escape");
    await page.locator(".marker-widget").waitFor({ state: "hidden" });
  });

  await step("the hover tells where the numbers come from", async () => {
    const hover = page.locator(".monaco-hover", { hasText: "level 0, 2 of 3 levels used" });
    const op = definition("%11").locator("span", { hasText: "mgmt.modreduce" }).last();
    await pointAt(page, op, hover.first());
    await soon(async () => {
      const text = plain(await hover.first().innerText());
      assert.match(text, /2 polynomials, scale 2\^45/);
      assert.match(text, /%3 +L2 D3 s90 +arith\.mulf: product of 2 and 2 polynomials/);
      assert.match(text, /%11 +L0 D2 s45 +mgmt\.modreduce: uses 1 level/);
    });
    await shot("heir-hover");
    await page.mouse.move(5, 5);
    await page.keyboard.press("Escape");
  });

  await step("the quick fix inserts the missing relinearization and nothing else", async () => {
    await definition("%5").locator("span", { hasText: "tensor_ext.rotate" }).last().click();
    const fix = await quickFix(page, /Insert.*relinearize/);
    await shot("heir-fix");
    await fix.click();
    await eventually("no squiggle", async () => (await squiggle.count()) === 0);
    await page.keyboard.press("Control+s");
    const after = await eventually("the saved file", () => {
      const text = readFileSync(file, "utf8");
      return text !== before && text;
    });
    assert.equal(count(after, "mgmt.relinearize"), count(before, "mgmt.relinearize") + 1, after);
    assert.equal(after.split("\n").length, before.split("\n").length + 1);
    await eventually("L1 D2 s45 after it", async () =>
      plain(await definition("%4").innerText()).includes("%4L1 D2 s45 ="),
    );
    await shot("heir-fixed");
  });
}

await main(WHOLE, run);
