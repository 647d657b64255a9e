// VS Code for the Web with the packaged extension: its server runs in a worker of the browser, and the folder is a file system of another extension.
//
//   node tests/editors/vscode/web.mjs --vsix FILE [--screenshots FOLDER]
//
// The VSIX is packaged with --web playground/dist. A machine behind the page would not do: VS Code starts no workers for extensions that are
// installed there (microsoft/vscode#144235).

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import { serveWorkbench, unpack } from "./static.mjs";
import {
  command,
  ending,
  eventually,
  main,
  newPage,
  pictures,
  plain,
  pointAt,
  quickFix,
  root,
  scratch,
  soon,
  step,
} from "./workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 600_000;

const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshots: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

const FILES = {
  "/project/squarings.mlir": readFileSync(path.join(root, "examples/squarings.mlir"), "utf8"),
  "/project/noisy.toml": "",
  "/project/small/noisy.toml": 'extends = "../base.toml"\n',
  "/project/small/one.mlir": `func.func @one(%x: !noisy.i32) -> !noisy.i32 {
  %0 = noisy.mul %x, %x : !noisy.i32
  return %0 : !noisy.i32
}
`,
  "/project/base.toml": "[model]\nbudget = 23\n",
};

async function run() {
  const extension = path.join(scratch, "extension");
  await step("the package holds an extension", () => unpack(values.vsix, extension));
  const { url, end } = await serveWorkbench(extension, FILES, {
    "workbench.startupEditor": "none",
    "workbench.colorTheme": "Dark Modern",
    "workbench.secondarySideBar.defaultVisibility": "hidden",
    "chat.disableAIFeatures": true,
    "editor.minimap.enabled": false,
    "editor.fontSize": 15,
    "files.autoSave": "off",
    "telemetry.telemetryLevel": "off",
  });
  ending(end);
  const page = await newPage();
  const shot = pictures(page, values.screenshots);
  const squiggle = page.locator(".squiggly-error");
  const text = async () => plain(await page.locator(".view-lines").first().innerText());
  const line = (value) =>
    page.locator(".view-line", { hasText: new RegExp(`^\\s*${value}\\b.*=\\s`) }).first();
  const show = async (name) => {
    await page.getByRole("treeitem", { name }).dblclick();
    await page.locator(".tab.active", { hasText: name }).waitFor();
  };
  /** Replaces the file of the active editor, and saves it. */
  const save = async (written) => {
    await page.locator(".view-lines").first().click();
    await page.keyboard.press("Control+a");
    await page.keyboard.type(written);
    await page.keyboard.press("Control+s");
    await page.locator(".tab.active:not(.dirty)").waitFor();
  };

  try {
    await step("a browser opens the workbench", async () => {
      // It loads twenty megabytes.
      await page.goto(url, { waitUntil: "commit" });
      await page.getByRole("treeitem", { name: "squarings.mlir" }).waitFor({ timeout: 240_000 });
    });
    await step("an illegal program gets a squiggle", async () => {
      await show("squarings.mlir");
      await squiggle.first().waitFor();
    });
    await step("hints show the noise ranges", () =>
      soon(async () => assert.match(await text(), /\[0, 24\]/)),
    );
    await step("a hover tells the noise", async () => {
      const hover = page.locator(".monaco-hover", { hasText: "noise may reach 48" }).first();
      await pointAt(page, line("%5").getByText("noisy.mul").first(), hover);
      await shot("web-hover");
      await page.mouse.move(5, 5);
    });
    await step("the next problem is shown with its chain", async () => {
      await line("%5").click();
      await page.keyboard.press("F8");
      await page.locator(".marker-widget").waitFor();
      await shot("web-squiggle");
      await page.keyboard.press("Escape");
    });
    await step("the noise graph is drawn by the server", async () => {
      await line("%5").click();
      await command(page, "Noisy: Show Noise Graph");
      await page.locator(".tab", { hasText: "Noise of @squarings" }).waitFor();
      const outer = page.frameLocator("iframe.webview").first();
      await outer.frameLocator("iframe").locator("canvas").first().waitFor();
      await shot("web-graph");
      await command(page, "View: Close All Editors");
      await show("squarings.mlir");
      await squiggle.first().waitFor();
    });
    await step("the quick fix places, with the solver in a worker of its own", async () => {
      await line("%5").getByText("noisy.mul").first().click();
      await (await quickFix(page, /Insert.*reduce_noise/)).click();
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
      assert.equal((await text()).match(/noisy\.reduce_noise/g)?.length, 3);
      await page.keyboard.press("Control+s");
      await page.locator(".tab.active:not(.dirty)").waitFor();
    });
    await step("noisy.toml counts when it is saved, and when it is deleted", async () => {
      await show("noisy.toml");
      await save("[model]\nbudget = 20");
      await show("squarings.mlir");
      await squiggle.first().waitFor();
      await page.locator(".codelens-decoration", { hasText: "24 of 20 bits" }).waitFor();
      await shot("web-settings");
      await page.getByRole("treeitem", { name: "noisy.toml" }).click();
      await page.keyboard.press("Shift+Delete");
      await page.getByRole("button", { name: "Delete" }).click();
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
    });
    await step("a base of noisy.toml counts from the start, and when it is saved", async () => {
      await page.getByRole("treeitem", { name: "small" }).click();
      await show("one.mlir");
      await squiggle.first().waitFor();
      await show("base.toml");
      await save("[model]\nbudget = 24");
      await show("one.mlir");
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
    });
    await step("what needs a machine says so", async () => {
      await command(page, "Noisy: Show Iteration Space");
      await page
        .locator(".notification-toast", { hasText: "noisy-check, which cannot run in a browser" })
        .waitFor();
      await command(page, "Notifications: Clear All Notifications");
    });
    await step("the server tells of itself, and starts again", async () => {
      await command(page, "Noisy: Restart Server");
      await command(page, "Noisy: Show Debug Information");
      await page.locator(".tab", { hasText: "Noisy Debug Information" }).waitFor();
      await soon(async () => assert.match(await text(), /noisy-lsp/));
    });
  } catch (error) {
    await shot("web-failure");
    console.log(`  the editor shows:\n${await text().catch(String)}`);
    throw error;
  }
}

await main(WHOLE, run);
