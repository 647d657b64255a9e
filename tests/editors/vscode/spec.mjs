// VS Code with the packaged extension: an illegal program is opened, seen, fixed and seen clean.
//
//   node tests/editors/vscode/spec.mjs --vsix FILE [--screenshot FILE]
//
// The workbench is code-server's, the browser a Chromium of the machine (CHROMIUM, else looked for on
// PATH). The server is the one bundled in the VSIX. The exit code is 0 when every step passes.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  accessSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { chromium } from "playwright-core";

/** Milliseconds for one step, and for everything. */
const PATIENCE = 30_000;
const WHOLE = 240_000;

const here = path.dirname(fileURLToPath(import.meta.url));
const root = path.resolve(here, "../../..");
const codeServer = path.resolve(here, "../node_modules/code-server/out/node/entry.js");
const { values } = parseArgs({
  options: { vsix: { type: "string" }, screenshot: { type: "string" } },
});
assert.ok(values.vsix, "--vsix names the packaged extension");

const scratch = mkdtempSync(path.join(tmpdir(), "noisy-vscode-"));
const project = path.join(scratch, "project");
const userData = path.join(scratch, "user-data");
const extensions = path.join(scratch, "extensions");
const file = path.join(project, "squarings.mlir");
const before = readFileSync(path.join(root, "examples/squarings.mlir"), "utf8");

/** What must be ended however this ends, newest first. */
const endings = [];
let steps = 0;

async function step(name, body) {
  steps += 1;
  try {
    const value = await body();
    console.log(`ok ${steps} - ${name}`);
    return value;
  } catch (error) {
    console.log(`not ok ${steps} - ${name}`);
    throw error;
  }
}

async function eventually(what, read) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${PATIENCE} ms`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

/** Starts Node on `args` in a process group of its own, which the end of this program ends, too. */
function node(args) {
  const child = spawn(process.execPath, args, {
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: {
      // A proxy is not for a server on loopback, and VSCODE_* is of an editor around this.
      ...Object.fromEntries(
        Object.entries(process.env).filter(([name]) => !/^VSCODE_|_proxy$/i.test(name)),
      ),
      XDG_DATA_HOME: path.join(scratch, "data"),
      // No gallery: nothing is asked of the network.
      EXTENSIONS_GALLERY: JSON.stringify({ serviceUrl: "", itemUrl: "", resourceUrlTemplate: "" }),
    },
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text) => (output += text));
  }
  const exited = new Promise((resolve) => child.on("exit", resolve));
  endings.unshift(async () => {
    for (const signal of ["SIGTERM", "SIGKILL"]) {
      try {
        process.kill(-child.pid, signal);
      } catch {
        return; // the whole group is gone
      }
      await Promise.race([exited, new Promise((wake) => setTimeout(wake, 2000))]);
    }
  });
  return { exited, output: () => output };
}

function findChromium() {
  const folders = (process.env.PATH ?? "").split(path.delimiter);
  const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];
  const files = names.flatMap((name) => folders.map((folder) => path.join(folder, name)));
  files.unshift(process.env.CHROMIUM ?? "");
  files.push("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome");
  const found = files.find((candidate) => {
    try {
      accessSync(candidate, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
  assert.ok(found, "no Chromium found; CHROMIUM may name one");
  return found;
}

async function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer()
      .on("error", reject)
      .listen(0, "127.0.0.1", () => {
        const { port } = probe.address();
        probe.close(() => resolve(port));
      });
  });
}

/** The reduce_noise ops of `text`, and the rest of its lines. */
function split(text) {
  const lines = text.split("\n");
  const isReduce = (line) => /^\s*%\S+ = noisy\.reduce_noise /.test(line);
  return {
    reduces: lines.filter(isReduce),
    rest: lines.filter((line) => !isReduce(line)),
  };
}

/** The settings of the workspace; unlike those of the user code-server sees when they change. */
function writeSettings(settings) {
  mkdirSync(path.join(project, ".vscode"), { recursive: true });
  writeFileSync(path.join(project, ".vscode/settings.json"), JSON.stringify(settings));
}

async function run() {
  mkdirSync(path.join(userData, "User"), { recursive: true });
  mkdirSync(project);
  copyFileSync(path.join(root, "examples/squarings.mlir"), file);
  writeSettings({});
  writeFileSync(
    path.join(userData, "User/settings.json"),
    JSON.stringify({
      "security.workspace.trust.enabled": false,
      "workbench.startupEditor": "none",
      "workbench.colorTheme": "Default Dark Modern",
      "workbench.secondarySideBar.defaultVisibility": "hidden",
      "chat.disableAIFeatures": true,
      "editor.minimap.enabled": false,
      "editor.stickyScroll.enabled": false,
      "editor.fontSize": 15,
      "files.autoSave": "off",
      "telemetry.telemetryLevel": "off",
      "extensions.autoUpdate": false,
      "extensions.ignoreRecommendations": true,
    }),
  );
  const folders = [
    ...["--config", path.join(scratch, "config.yaml")],
    ...["--user-data-dir", userData, "--extensions-dir", extensions],
  ];

  await step("the packaged extension installs", async () => {
    const install = node([codeServer, ...folders, "--install-extension", values.vsix]);
    assert.equal(await install.exited, 0, install.output());
  });

  const port = await freePort();
  const server = await step("the workbench starts", async () => {
    const child = node([
      codeServer,
      ...["--auth", "none", "--bind-addr", `127.0.0.1:${port}`],
      ...folders,
      "--disable-telemetry",
      "--disable-update-check",
      "--disable-workspace-trust",
      "--disable-getting-started-override",
      project,
    ]);
    let gone = false;
    void child.exited.then(() => (gone = true));
    await eventually("the server", async () => {
      assert.ok(!gone, child.output());
      const health = await fetch(`http://127.0.0.1:${port}/healthz`).catch(() => undefined);
      return health?.ok;
    });
    return child;
  });

  const page = await step("a browser opens it", async () => {
    const browser = await chromium.launch({
      executablePath: findChromium(),
      args: [
        ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
        ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
      ],
    });
    endings.unshift(() => browser.close());
    const opened = await browser.newPage({ viewport: { width: 1120, height: 620 } });
    opened.setDefaultTimeout(PATIENCE);
    await opened.goto(`http://127.0.0.1:${port}/?folder=${encodeURIComponent(project)}`);
    await opened.locator(".explorer-folders-view").waitFor();
    return opened;
  });

  const squiggle = page.locator(".squiggly-error");
  const boxes = (locator) =>
    locator.evaluateAll((all) => all.map((element) => element.getBoundingClientRect().toJSON()));
  const editorText = () => page.locator(".view-lines").first().innerText();
  // The rendered line that defines a value; a hint may stand behind the name.
  const definition = (value) =>
    page.locator(".view-line", { hasText: new RegExp(`^\\s*${value}\\b.*=\\s`) }).first();

  try {
    await step("an illegal program gets one squiggle", async () => {
      await page.getByRole("treeitem", { name: "squarings.mlir" }).dblclick();
      await squiggle.first().waitFor();
      // The editor draws anew whenever it learns more, so what is drawn may be gone when it is measured.
      await eventually("one squiggle, on the first squaring", async () => {
        const [drawn, line] = await Promise.all([boxes(squiggle), boxes(definition("%5"))]);
        return drawn.length === 1 && Math.abs(drawn[0].y - line[0]?.y) < line[0]?.height;
      });
    });

    await step("hints show the noise ranges", async () => {
      await eventually("[0, 24]", async () => /\[0, 24\]/.test(plain(await editorText())));
      const mul = plain(await definition("%4").innerText());
      assert.match(mul, /\[0, 24\]/);
    });

    await step("ops are highlighted", async () => {
      const colour = (text) =>
        definition("%4")
          .locator("span", { hasText: text })
          .last()
          .evaluate((span) => getComputedStyle(span).color);
      assert.notEqual(await colour(/^noisy\.mul$/), await colour(/=/));
    });

    await step("the quick fix menu offers the placement", async () => {
      await definition("%5").click();
      await page.keyboard.press("F8"); // Go to the problem; its message opens below the line
      await page.locator(".marker-widget").waitFor();
      const message = plain(await page.locator(".marker-widget").innerText());
      assert.match(message, /48/);
      assert.match(message, /26/);
      if (values.screenshot) {
        await screenshot(page, values.screenshot);
      }
      await page.keyboard.press("Escape");
      await page.locator(".marker-widget").waitFor({ state: "hidden" });
      const fix = page
        .locator(".action-widget .action")
        .filter({ hasText: /Insert.*reduce_noise/ });
      // A key pressed while the focus is on its way back to the editor goes nowhere.
      await eventually("the quick fix menu", async () => {
        await page.keyboard.press("Control+.");
        return fix
          .first()
          .waitFor({ timeout: 3000 })
          .then(
            () => true,
            () => false,
          );
      });
      await fix.first().click();
    });

    await step("the fix leaves no squiggle and inserts exactly three", async () => {
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
      // The hints that other extensions and the server draw are not part of the text; the file is.
      await page.keyboard.press("Control+s");
      const after = await eventually("the saved file", () => {
        const text = readFileSync(file, "utf8");
        return text !== before && text;
      });
      const { reduces, rest } = split(after);
      assert.equal(reduces.length, 3, after);
      const withoutOperands = (lines) => lines.map((text) => text.replace(/(noisy\.\w+) .*/, "$1"));
      assert.deepEqual(withoutOperands(rest), withoutOperands(before.split("\n")));
      assert.equal(await squiggle.count(), 0);
    });

    await step("undo brings the squiggle back, and the command fixes the file", async () => {
      await definition("%5").click();
      await page.keyboard.press("Control+z");
      await squiggle.first().waitFor();
      await page.keyboard.press("F1");
      await page.keyboard.type("Noisy: Insert Optimal");
      // While the list is being narrowed Enter would take what was first before.
      await page
        .locator(".quick-input-list .monaco-list-row.focused", { hasText: "Noisy: Insert" })
        .waitFor();
      await page.keyboard.press("Enter");
      await eventually("no squiggle", async () => (await squiggle.count()) === 0);
      assert.match(plain(await editorText()), /noisy\.reduce_noise/);
    });

    await step("the settings reach the running server", async () => {
      writeSettings({ "noisy.inlayHints.noise": false });
      await eventually("no hints", async () => !/\[0, \d+\]/.test(plain(await editorText())));
    });

    await step("a server that is not there is an error that leads to the setting", async () => {
      writeSettings({ "noisy.server.path": "~/no-such-server" });
      const toast = page.locator(".notification-toast", { hasText: "noisy.server.path names" });
      await toast.waitFor();
      assert.doesNotMatch(plain(await toast.innerText()), /~/);
      await toast.getByRole("button", { name: "Open Settings" }).click();
      await page.locator(".settings-editor", { hasText: "Noisy" }).waitFor();
      await page.keyboard.press("Control+w");
    });

    await step("with the setting gone the bundled server is back", async () => {
      writeSettings({});
      await eventually("hints", async () => /\[0, 12\]/.test(plain(await editorText())));
    });
  } catch (error) {
    const shot = path.join(tmpdir(), "noisy-vscode-failure.png");
    await page.screenshot({ path: shot }).catch(() => {});
    console.log(`  the page as it was: ${shot}`);
    console.log(server.output().split("\n").slice(-12).join("\n").replaceAll(/^/gm, "  | "));
    throw error;
  }
}

/** Text as a person reads it: VS Code renders spaces as no-break spaces. */
function plain(text) {
  return text.replaceAll(/[\u00a0\u2007]/g, " ").replaceAll(/[\u200b\u200c]/g, "");
}

async function screenshot(page, target) {
  mkdirSync(path.dirname(path.resolve(target)), { recursive: true });
  await page.keyboard.press("Control+b"); // the side bar goes
  await page.locator(".explorer-folders-view").waitFor({ state: "hidden" });
  await page.mouse.move(5, 5);
  await page.waitForTimeout(500); // what the pointer had brought up goes, too
  await page.screenshot({ path: target });
  console.log(`  screenshot: ${target}`);
}

const timer = setTimeout(() => {
  console.log(`not ok - not done within ${WHOLE / 1000} s`);
  void finish(1);
}, WHOLE);

let finishing = false;
async function finish(code) {
  if (finishing) return;
  finishing = true;
  clearTimeout(timer);
  for (const end of endings) {
    await end().catch(() => {});
  }
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  console.log(
    code === 0 ? `${steps} passed, 0 failed` : `${Math.max(steps - 1, 0)} passed, 1 failed`,
  );
  process.exit(code);
}
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => void finish(1));
}

try {
  await run();
  await finish(0);
} catch (error) {
  console.log(`  ${String(error?.stack ?? error).replaceAll("\n", "\n  ")}`);
  await finish(1);
}
