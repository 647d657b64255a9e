// Neovim in a terminal, with the real server, on a program with loops: hints, the table of a hover, a refused interchange, the picture of the iterations.
//
//   node tests/editors/nvim/loops.mjs --nvim FILE --server FILE --check FILE [--screenshots FOLDER]
//
// The terminal is that of a VS Code workbench. The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseArgs } from "node:util";
import {
  command,
  eventually,
  main,
  newPage,
  open,
  pictures,
  plain,
  project,
  root,
  scratch,
  script,
  step,
  writeSettings,
} from "../vscode/workbench.mjs";

/** Milliseconds for everything. */
const WHOLE = 180_000;

const { values } = parseArgs({
  options: {
    nvim: { type: "string" },
    server: { type: "string" },
    check: { type: "string" },
    screenshots: { type: "string" },
  },
});
for (const name of ["nvim", "server", "check"]) {
  assert.ok(values[name], `--${name} names the program`);
}

const STENCIL = readFileSync(path.join(root, "examples/stencil.mlir"), "utf8");
const REFUSED = /forbidden by flow from line 12 to line 8, distance \(1, -1\)/;
/** Where Neovim writes which page it was to open. */
const opened = path.join(scratch, "opened");
const lua = JSON.stringify;

const INIT = `
vim.opt.runtimepath:prepend(${lua(path.join(root, "nvim"))})
vim.opt.shortmess:append('I')
vim.cmd('filetype plugin on | syntax on')
vim.lsp.config('noisy_lsp', { cmd = { ${lua(path.resolve(values.server))} } })
vim.lsp.enable('noisy_lsp')
vim.lsp.inlay_hint.enable(true)
vim.ui.open = function(file)
  vim.fn.writefile({ file }, ${lua(opened)})
end
`;

async function run() {
  const { page } = await open(undefined, {
    "stencil.mlir": STENCIL,
    "init.lua": INIT,
    "noisy.toml": "[hints]\ndependences = true\n",
  });
  // Cells are elements of the page, so that what is shown can be read.
  writeSettings({ "terminal.integrated.gpuAcceleration": "off" });
  const shot = pictures(page, values.screenshots);
  const home = ["CONFIG", "STATE", "DATA", "CACHE"].map((it) => `XDG_${it}_HOME='${scratch}'`);
  const check = path.dirname(path.resolve(values.check));
  const nvim = script(
    "start",
    `cd '${project}' && ${home.join(" ")} PATH="${check}:$PATH" exec '${path.resolve(values.nvim)}' -n -u init.lua stencil.mlir\n`,
  );
  const screen = async () => plain(await page.locator(".xterm-rows").first().innerText());
  const shows = (what, pattern) => eventually(what, async () => pattern.test(await screen()));
  /** Keys as they are typed in Neovim, `\n` for Enter. */
  const keys = async (text) => page.keyboard.type(text, { delay: 10 });

  await step("Neovim opens the program in a terminal", async () => {
    await command(page, "View: Toggle Primary Side Bar Visibility");
    await command(page, "Terminal: Create New Terminal in Editor Area");
    await page.locator(".xterm-rows.xterm-focus").waitFor();
    await keys(`${nvim}\n`);
    await shows("the program", /func\.func @stencil/);
  });

  await step("hints say what a loop carries, as noisy.toml asks for", async () => {
    await shows("hints", /affine\.for\s+carries 2 dependences/);
    await shows("hints of the inner loop", /6 iterations, carries 1 dependence/);
    await shot("nvim-loops-hints");
  });

  await step("hover on a loop shows the table of what it carries", async () => {
    await keys(":4\n^K");
    await shows("the table", /from line[^\n]*kind[^\n]*distance/);
    const said = await screen();
    assert.match(said, /12[^\n]*8[^\n]*flow[^\n]*\(1, -1\)/);
    assert.match(said, /12[^\n]*6[^\n]*flow[^\n]*\(1, 0\)/);
    await shot("nvim-loops-hover");
    // The cursor moves: the window goes.
    await keys("l");
    await eventually("no window", async () => !/from line/.test(await screen()));
  });

  await step("an interchange that is not allowed is shown with its reason", async () => {
    await keys("^gra");
    await shows("the menu", /Code actions:/);
    const menu = await screen();
    const row = menu.split("\n").find((it) => /\d+: Interchange/.test(it));
    assert.ok(row, menu);
    // A long title goes on in the next row.
    assert.match(menu.replaceAll(/\n/g, ""), /Interchange[^:]*: forbidden by flow from line 12/);
    await shot("nvim-loops-refused");
    await keys(`${row.match(/(\d+): Interchange/)[1]}\n`);
    await eventually("the reason", async () => {
      const said = await screen();
      return !/Code actions:/.test(said) && REFUSED.test(said.replaceAll(/\n/g, ""));
    });
    await shot("nvim-loops-refused-chosen");
    assert.doesNotMatch(await screen(), /\[\+\]/, "the program is as it was");
  });

  await step("what is allowed is done: the inner loop is unrolled, and undone", async () => {
    await keys("\n:5\n^gra");
    await shows("the menu", /Code actions:/);
    const row = (await screen()).split("\n").find((it) => /\d+: Unroll by 4/.test(it));
    assert.ok(row, await screen());
    await keys(`${row.match(/(\d+): Unroll/)[1]}\n`);
    await shows("the unrolled loop", /step 4/);
    await keys("u");
    await eventually("the loop as it was", async () => !/step 4/.test(await screen()));
  });

  await step("the page of the iterations opens, before and after", async () => {
    await keys(":8\n:NoisyNest\n");
    await eventually("a page", async () => existsSync(opened));
    const file = readFileSync(opened, "utf8").trim();
    const picture = await newPage();
    await picture.goto(`file://${file}`);
    await picture.locator("#before svg").waitFor();
    const order = picture.locator(".order:visible");
    assert.match(plain(await order.innerText()), REFUSED);
    assert.ok((await order.locator(".backward").count()) > 3, "red arrows");
    assert.equal(await picture.locator("#before .backward").count(), 0);
    await pictures(picture, values.screenshots)("nvim-loops-picture");
  });

  await keys(":qa!\n");
}

await main(WHOLE, run);
