// A VS Code workbench with the packaged extension: code-server's, in a Chromium of the machine (CHROMIUM, else looked for on PATH). The server is the
// one bundled in the VSIX.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  accessSync,
  constants,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  utimes,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";

/** Milliseconds for one step. */
export const PATIENCE = 30_000;

const here = path.dirname(fileURLToPath(import.meta.url));
export const root = path.resolve(here, "../../..");
/** The package code-server. */
export const codeServer = path.resolve(here, "../node_modules/code-server");

const entry = path.join(codeServer, "out/node/entry.js");

export const scratch = mkdtempSync(path.join(tmpdir(), "noisy-vscode-"));
export const project = path.join(scratch, "project");
const userData = path.join(scratch, "user-data");
const extensions = path.join(scratch, "extensions");

/** What must be ended however this ends, newest first. */
const endings = [];
let passed = 0;
let failed = 0;

/** Has the end of this program end something. */
export function ending(end) {
  endings.unshift(end);
}

/** Runs a step; `onward`: a failure is told, counted and outlived. */
export async function step(name, body, { onward = false } = {}) {
  const n = passed + failed + 1;
  try {
    const value = await body();
    passed += 1;
    console.log(`ok ${n} - ${name}`);
    return value;
  } catch (error) {
    failed += 1;
    console.log(`not ok ${n} - ${name}`);
    if (!onward) throw error;
    console.log(String(error?.stack ?? error).replaceAll(/^/gm, "  "));
  }
}

export async function eventually(what, read, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const value = await read();
    if (value) return value;
    if (Date.now() > end) throw new Error(`${what}: not within ${patience} ms`);
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

/** Runs assertions about what is drawn until they hold, else their last error: what was drawn before may still be there. */
export async function soon(assertions) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    try {
      return await assertions();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
    await new Promise((wake) => setTimeout(wake, 50));
  }
}

/** Whether the element is there soon. */
export function appears(element, patience = 3000) {
  return element.waitFor({ timeout: patience }).then(
    () => true,
    () => false,
  );
}

/** Points at `target` until `hover` is there: a hint or a lens that comes late moves the text away from the pointer. */
export function pointAt(page, target, hover, options = {}) {
  return eventually("a hover", async () => {
    await page.mouse.move(5, 5);
    await target.hover(options);
    return appears(hover);
  });
}

/** Whether there is a process of that number. */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
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

/** An empty page of a browser of its own. */
export async function newPage() {
  const browser = await chromium.launch({
    executablePath: findChromium(),
    args: [
      ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
      ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
    ],
  });
  endings.unshift(() => browser.close());
  const page = await browser.newPage({ viewport: { width: 1120, height: 620 } });
  page.setDefaultTimeout(PATIENCE);
  return page;
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

const workspaceSettings = path.join(project, ".vscode/settings.json");

/** The settings of the workspace; unlike those of the user code-server sees when they change. */
export function writeSettings(settings) {
  mkdirSync(path.dirname(workspaceSettings), { recursive: true });
  writeFileSync(workspaceSettings, JSON.stringify(settings));
}

/**
 * Gives the settings of the workspace a new date every two seconds: VS Code's watch of files may lose a change that follows another one within
 * moments, and looks again then. Settings that it has read already are no change to it, so that nothing is repeated to the extension or to the server.
 */
function touchSettings() {
  const timer = setInterval(() => {
    const now = new Date();
    utimes(workspaceSettings, now, now, () => {});
  }, 2000);
  endings.unshift(async () => clearInterval(timer));
}

/** Writes a program of the shell and returns its path. */
export function script(name, text) {
  const file = path.join(scratch, name);
  writeFileSync(file, `#!/bin/sh\n${text}`, { mode: 0o755 });
  return file;
}

/** Text as a person reads it: VS Code renders spaces as no-break spaces. */
export function plain(text) {
  return text.replaceAll(/[\u00a0\u2007]/g, " ").replaceAll(/[\u200b\u200c]/g, "");
}

/** The text in the first editor, as a person reads it. */
export async function editorText(page) {
  return plain(await page.locator(".view-lines").first().innerText());
}

/** Near the start of a line: lines are as wide as the widest one, and to reach the middle of it the editor would scroll. */
export const AT_START = { position: { x: 22, y: 8 } };

/** Milliseconds in which what comes up fades in. */
const FADE = 400;

/** Pictures of a page, each by its name, in a folder; none without one. */
export function pictures(page, folder) {
  return async (name) => {
    if (folder) {
      mkdirSync(folder, { recursive: true });
      await page.waitForTimeout(FADE);
      await page.screenshot({ path: path.join(folder, `${name}.png`) });
    }
  };
}

/**
 * Opens a workbench with the extension, if one is named, on a folder with these files (name to text) and the example of the squarings, with these
 * settings of the user beside those of all tests.
 */
export async function open(vsix, files = {}, ofUser = {}) {
  mkdirSync(path.join(userData, "User"), { recursive: true });
  mkdirSync(project);
  copyFileSync(path.join(root, "examples/squarings.mlir"), path.join(project, "squarings.mlir"));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(project, name), text);
  }
  writeSettings({});
  touchSettings();
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
      ...ofUser,
    }),
  );
  const folders = [
    ...["--config", path.join(scratch, "config.yaml")],
    ...["--user-data-dir", userData, "--extensions-dir", extensions],
  ];

  if (vsix) {
    await step("the packaged extension installs", async () => {
      const install = node([entry, ...folders, "--install-extension", vsix]);
      assert.equal(await install.exited, 0, install.output());
    });
  }

  const port = await freePort();
  const server = await step("the workbench starts", async () => {
    const child = node([
      entry,
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
    const opened = await newPage();
    // It loads megabytes.
    const timeout = 240_000;
    const url = `http://127.0.0.1:${port}/?folder=${encodeURIComponent(project)}`;
    await opened.goto(url, { waitUntil: "commit", timeout });
    await opened.locator(".explorer-folders-view").waitFor({ timeout });
    return opened;
  });
  return { page, server };
}

/** Runs a command of the palette by the start of its title. */
export async function command(page, title) {
  const row = page.locator(`.quick-input-list .monaco-list-row[aria-label^="${title}"]`).first();
  // A list that is shown before the extension is known stays without its commands.
  await eventually(title, async () => {
    await page.keyboard.press("F1");
    const input = page.locator(".quick-input-widget input");
    if (!(await appears(input))) return false;
    await input.fill(`>${title}`);
    if (await appears(row)) return true;
    await page.keyboard.press("Escape");
    return false;
  });
  await row.click();
}

/**
 * Runs `body` in the light theme and in high contrast, told the name of a picture and the background of an editor; the settings are those and `others`,
 * at the end `others` alone.
 */
export async function inOtherThemes(page, others, body) {
  for (const [theme, name, workbench, background] of [
    ["Default Light Modern", "light", ".vs", "rgb(255, 255, 255)"],
    ["Default High Contrast", "high-contrast", ".hc-black", "rgb(0, 0, 0)"],
  ]) {
    writeSettings({ ...others, "workbench.colorTheme": theme });
    await page.locator(`.monaco-workbench${workbench}`).first().waitFor();
    await body(name, background);
  }
  writeSettings(others);
  await page.locator(".monaco-workbench.vs-dark").first().waitFor();
}

/** Opens the menu of quick fixes at the cursor; the one with this title, to be clicked. */
export async function quickFix(page, title) {
  const fix = page.locator(".action-widget .action").filter({ hasText: title }).first();
  // A key pressed while the focus is on its way back to the editor goes nowhere.
  await eventually("the quick fix menu", async () => {
    await page.keyboard.press("Control+.");
    return appears(fix);
  });
  return fix;
}

/**
 * What steps on a page have in common, `onward` above all: a step that leaves nothing behind, however it ends. Of these steps only those run whose name
 * has `only` in it.
 */
export function handsOn(page, shot, only = "") {
  /** A picture in each theme, of what `show` shows, with these settings. */
  const shots = async (name, others = {}, show = async () => {}) => {
    await show();
    await shot(name);
    await inOtherThemes(page, others, async (theme) => {
      await show();
      await shot(`${name}-${theme}`);
    });
  };
  const text = () => editorText(page);
  const hints = () => eventually("hints", async () => /\[0, 24\]/.test(await text()));
  const noHints = () => eventually("no hints", async () => !/\[0, 24\]/.test(await text()));
  const toast = (hasText) => page.locator(".notification-toast", { hasText });
  const toasts = page.locator(".notification-toast");
  const show = async (name) => {
    await page.getByRole("treeitem", { name }).dblclick();
    await page.locator(".tab.active", { hasText: name }).waitFor();
  };
  const close = async () => {
    const unsaved = page.locator(".tab.dirty");
    await eventually("what is being saved", async () => (await unsaved.count()) === 0);
    await command(page, "View: Close All Editors");
    await page.locator(".tab").first().waitFor({ state: "detached" });
  };
  const clear = async () => {
    await command(page, "Notifications: Clear All Notifications");
    await eventually("no message", async () => (await toasts.count()) === 0);
  };
  /** Back to the bundled server and a clean slate. */
  const mend = async () => {
    writeSettings({});
    await hints();
    await clear();
  };
  const onward = async (name, body) => {
    if (!name.includes(only)) return;
    let done = false;
    await step(
      name,
      async () => {
        await body();
        done = true;
      },
      { onward: true },
    );
    if (!done) {
      const told = await toasts.allInnerTexts();
      if (told.length > 0) console.log(`  messages: ${told.map(plain).join(" | ")}`);
      console.log(`  the editor shows:\n${await text().catch(String)}`);
      await shot(`failed-${name.replaceAll(/\W+/g, "-")}`);
      writeSettings({});
      for (let n = 0; n < 3; n += 1) await page.keyboard.press("Escape");
      await command(page, "View: Close All Editors");
      await command(page, "Notifications: Clear All Notifications");
      await show("squarings.mlir").catch(() => {});
    }
  };
  return { clear, close, hints, mend, noHints, onward, shots, show, text, toast, toasts };
}

let finishing = false;

/** Ends everything that was started; the exit code is 0 if nothing failed. */
async function finish(wrong) {
  if (finishing) return;
  finishing = true;
  for (const end of endings) {
    await end().catch(() => {});
  }
  rmSync(scratch, { recursive: true, force: true, maxRetries: 5 });
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(wrong || failed > 0 ? 1 : 0);
}

/** Runs all steps within so many milliseconds, and ends. */
export async function main(milliseconds, run) {
  const timer = setTimeout(() => {
    console.log(`not ok - not done within ${milliseconds / 1000} s`);
    void finish(true);
  }, milliseconds);
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => void finish(true));
  }
  try {
    await run();
    clearTimeout(timer);
    await finish(false);
  } catch (error) {
    console.log(`  ${String(error?.stack ?? error).replaceAll("\n", "\n  ")}`);
    await finish(true);
  }
}
