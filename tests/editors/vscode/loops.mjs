// VS Code with the packaged extension on a program with loops: hints, the table of a hover, a refused interchange, the picture of the iterations.
//
//   node tests/editors/vscode/loops.mjs --vsix FILE [--screenshots FOLDER]
//
// The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import {
  command,
  editorText,
  eventually,
  inOtherThemes,
  main,
  open,
  pictures,
  plain,
  pointAt,
  root,
  soon,
  step,
  writeSettings,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 300_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

const STENCIL = readFileSync(path.join(root, "examples/stencil.mlir"), "utf8");

async function run() {
  const { page } = await open(values.vsix, { "stencil.mlir": STENCIL });
  const shot = pictures(page, values.screenshots);
  const text = () => editorText(page);
  const inLine = (hasText) => page.locator(".view-line", { hasText }).first();

  await step("hints say what a loop carries, once they are asked for", async () => {
    await page.getByRole("treeitem", { name: "stencil.mlir" }).dblclick();
    await page.locator(".tab.active", { hasText: "stencil.mlir" }).waitFor();
    writeSettings({ "noisy.inlayHints.dependences": "on" });
    await eventually("hints", async () => /carries \d dependences?/.test(await text()));
    await shot("loops-hints");
  });

  await step("hover on a loop shows the table of what it carries", async () => {
    const hover = page.locator(".monaco-hover:visible").first();
    const loop = inLine("affine.for").locator("span", { hasText: "affine.for" }).last();
    await pointAt(page, loop, hover.locator("table").first());
    await soon(async () => {
      const said = plain(await hover.innerText());
      assert.match(said, /from line/);
      assert.match(said, /\(1, -1\)/);
    });
    // It fades in.
    await eventually("an opaque hover", async () =>
      hover.evaluate((it) => getComputedStyle(it).opacity === "1"),
    );
    await shot("loops-hover");
    await page.keyboard.press("Escape");
  });

  await step("an interchange that is not allowed is shown with its reason", async () => {
    await inLine("affine.for").locator("span", { hasText: "affine.for" }).last().click();
    await command(page, "Refactor");
    const widget = page.locator(".action-widget").first();
    await widget.getByText("Show Disabled").click();
    const refused = widget.locator(".monaco-list-row", { hasText: "Interchange" });
    await soon(async () => {
      assert.match((await refused.getAttribute("class")) ?? "", /disabled|option-disabled/);
      const said = `${await refused.getAttribute("aria-label")} ${await refused.getAttribute("title")}`;
      assert.match(said, /forbidden by flow from line 12 to line 8, distance \(1, -1\)/);
    });
    await refused.hover();
    await shot("loops-refused");
    await page.keyboard.press("Escape");
  });

  await step("the iterations are drawn beside the text, before and after", async () => {
    await inLine("%right").click();
    await command(page, "Noisy: Show Iteration Space");
    const frame = page.frameLocator("iframe.webview").frameLocator("iframe");
    await frame.locator("#before svg").waitFor();
    await frame
      .locator(".order:visible p", { hasText: "forbidden by flow from line 12 to line 8" })
      .waitFor();
    await eventually(
      "red arrows",
      async () => (await frame.locator(".order:visible .backward").count()) > 3,
    );
    // There is room for both pictures without the side bar, in a larger window.
    await command(page, "View: Toggle Primary Side Bar Visibility");
    await page.setViewportSize({ width: 1960, height: 760 });
    const before = frame.locator("#before svg");
    const after = frame.locator(".order:visible svg");
    await eventually("pictures side by side", async () => {
      const [left, right] = [await before.boundingBox(), await after.boundingBox()];
      return left && right && right.x >= left.x + left.width && right.x + right.width <= 1960;
    });
    await shot("loops-picture");

    // Another order by the keyboard; it is allowed.
    await frame.locator("input[type=radio]").first().focus();
    await page.keyboard.press("ArrowDown");
    await frame.locator(".order:visible", { hasText: "Allowed" }).waitFor();
    await soon(async () =>
      assert.equal(await frame.locator(".order:visible .backward").count(), 0),
    );

    // A point by the keyboard, and from its dependence to the text.
    await frame.locator("#before svg").press("ArrowDown");
    await frame.locator("#before svg").press("ArrowDown");
    await soon(async () =>
      assert.match(
        await frame.locator("[role=status]").innerText(),
        /%i = 2, %j = 1: executed as number 7, in the other order as number/,
      ),
    );
    const cursor = () => page.getByRole("button", { name: /^Ln \d+/ }).innerText();
    await frame.locator("#before svg").press("Enter");
    await eventually("a line", async () => !(await cursor()).includes("Ln 8,"));

    // The cursor lights the arrows of its line.
    await inLine("%left").locator("span", { hasText: "%left" }).last().click();
    await eventually("arrows of the line", async () =>
      /Arrows of line 7/.test(await frame.locator("[role=status]").innerText()),
    );

    const back = () => frame.locator("body").evaluate((it) => getComputedStyle(it).backgroundColor);
    await inOtherThemes(page, {}, async (name, colour) => {
      await eventually("the theme's colours", async () => (await back()) === colour);
      await shot(`loops-picture-${name}`);
    });
  });
}

await main(WHOLE, run);
