// VS Code with the packaged extension in the web extension host: its server runs in a worker of the browser, and reads files through VS Code.
//
//   node tests/editors/vscode/web.mjs --vsix FILE [--screenshots FOLDER]
//
// The VSIX is packaged with --web playground/dist.

import assert from "node:assert/strict";
import { parseArgs } from "node:util";
import {
  command,
  eventually,
  main,
  open,
  pictures,
  plain,
  quickFix,
  soon,
  step,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 300_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

async function run() {
  // The extension host of the browser is asked to run it, though there is a machine.
  const host = { "remote.extensionKind": { "noisy.noisy": ["web"] } };
  const { page } = await open(values.vsix, { "noisy.toml": "" }, host);
  const shot = pictures(page, values.screenshots);
  const squiggle = page.locator(".squiggly-error");
  const text = async () => plain(await page.locator(".view-lines").first().innerText());
  const line = (value) =>
    page.locator(".view-line", { hasText: new RegExp(`^\\s*${value}\\b.*=\\s`) }).first();

  try {
    await step("an illegal program gets a squiggle", async () => {
      await page.getByRole("treeitem", { name: "squarings.mlir" }).dblclick();
      await squiggle.first().waitFor();
    });
    await step("the server is that of the browser", async () => {
      await command(page, "Noisy: Show Debug Information");
      await page.locator(".tab", { hasText: "Noisy Debug Information" }).waitFor();
      await page.keyboard.press("Control+w");
    });
    await step("hints show the noise ranges", () =>
      soon(async () => assert.match(await text(), /\[0, 24\]/)),
    );
    await step("a hover tells the noise", async () => {
      await line("%5").getByText("noisy.mul").first().hover();
      await page.locator(".monaco-hover", { hasText: "noisy.mul" }).first().waitFor();
      await shot("web-hover");
      await page.mouse.move(5, 5);
    });
    await step("the quick fix places, with the solver in a worker of its own", async () => {
      await line("%5").click();
      await page.keyboard.press("F8");
      await page.locator(".marker-widget").waitFor();
      await shot("web-squiggle");
      await page.keyboard.press("Escape");
      await (await quickFix(page, /Insert.*reduce_noise/)).click();
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
      assert.equal((await text()).match(/noisy\.reduce_noise/g)?.length, 3);
      await page.keyboard.press("Control+s");
    });
    await step("the noise graph is drawn by the server", async () => {
      await line("%5").click();
      await command(page, "Noisy: Show Noise Graph");
      await page.locator(".tab", { hasText: "Noise of @squarings" }).waitFor();
      await shot("web-graph");
      await command(page, "View: Close All Editors");
    });
    await step("noisy.toml of the folder counts", async () => {
      await page.getByRole("treeitem", { name: "noisy.toml" }).dblclick();
      await page.locator(".tab.active", { hasText: "noisy.toml" }).waitFor();
      await page.locator(".view-lines").first().click();
      await page.keyboard.type("[model]\nbudget = 11");
      await page.keyboard.press("Control+s");
      await page.getByRole("treeitem", { name: "squarings.mlir" }).dblclick();
      await squiggle.first().waitFor();
      await shot("web-settings");
    });
  } catch (error) {
    await shot("web-failure");
    console.log(`  the editor shows:\n${await text().catch(String)}`);
    throw error;
  }
}

await main(WHOLE, run);
