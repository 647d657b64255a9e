import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, suite, test } from "node:test";
import {
  askVersion,
  candidates,
  expandHome,
  findServer,
  ServerNotFound,
  type Surroundings,
} from "../src/server.ts";

const around: Surroundings = {
  setting: "",
  extensionFolder: "/ext",
  home: "/home/ada",
  searchPath: "/usr/bin:/opt/bin",
  trusted: true,
  platform: "linux",
};

suite("the order of the lookup", () => {
  test("bundled first, then PATH from left to right", () => {
    assert.deepEqual(candidates(around), [
      { file: "/ext/server/noisy-lsp", origin: "bundled" },
      { file: "/usr/bin/noisy-lsp", origin: "PATH" },
      { file: "/opt/bin/noisy-lsp", origin: "PATH" },
    ]);
  });

  test("a setting is the only candidate", () => {
    assert.deepEqual(candidates({ ...around, setting: " ~/bin/noisy-lsp " }), [
      { file: "/home/ada/bin/noisy-lsp", origin: "setting" },
    ]);
  });

  test("relative and empty entries of PATH are passed over", () => {
    const files = candidates({ ...around, searchPath: ".:bin::/usr/bin" });
    assert.deepEqual(
      files.map(({ file }) => file),
      ["/ext/server/noisy-lsp", "/usr/bin/noisy-lsp"],
    );
  });

  test("PATH is not searched in a workspace that is not trusted", () => {
    const files = candidates({ ...around, trusted: false });
    assert.deepEqual(files, [{ file: "/ext/server/noisy-lsp", origin: "bundled" }]);
  });

  test("Windows has its own delimiter and suffix", () => {
    const files = candidates({
      ...around,
      platform: "win32",
      extensionFolder: "C:\\ext",
      searchPath: "C:\\a;D:\\b",
    });
    assert.deepEqual(
      files.map(({ file }) => file),
      ["C:\\ext\\server\\noisy-lsp.exe", "C:\\a\\noisy-lsp.exe", "D:\\b\\noisy-lsp.exe"],
    );
  });

  test("only a leading tilde of its own stands for the home folder", () => {
    assert.equal(expandHome("~", "/h"), "/h");
    assert.equal(expandHome("~/x", "/h"), "/h/x");
    assert.equal(expandHome("~x/y", "/h"), "~x/y");
    assert.equal(expandHome("/a/~/b", "/h"), "/a/~/b");
  });
});

suite("the check of what was found", { skip: process.platform === "win32" }, () => {
  let folder: string;

  async function script(name: string, body: string): Promise<string> {
    const file = path.join(folder, name);
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, `#!/bin/sh\n${body}\n`);
    await chmod(file, 0o755);
    return file;
  }

  function find(changes: Partial<Surroundings>, log: string[] = []) {
    const found = { ...around, extensionFolder: path.join(folder, "none"), searchPath: "" };
    return findServer({ ...found, ...changes }, (line) => log.push(line));
  }

  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), "noisy-server-"));
  });
  after(async () => {
    await rm(folder, { recursive: true });
  });

  test("the version comes from the server itself", async () => {
    assert.equal(await askVersion(await script("good", "echo noisy-lsp 1.2.3")), "1.2.3");
  });

  test("another program of that name is refused", async () => {
    const file = await script("other", "echo something else");
    await assert.rejects(askVersion(file), /this file is not noisy-lsp/);
  });

  test("a bundled server that fails gives way to the one on PATH, and the log says why", async () => {
    await script("ext/server/noisy-lsp", "exit 3");
    const onPath = await script("bin/noisy-lsp", "echo noisy-lsp 0.1.0");
    const log: string[] = [];
    const extensionFolder = path.join(folder, "ext");
    const server = await find({ extensionFolder, searchPath: path.dirname(onPath) }, log);
    assert.deepEqual(server, { file: onPath, origin: "PATH", version: "0.1.0" });
    assert.match(log[0] ?? "", /not using .*bundled.*--version failed \(3\)/);
  });

  test("a setting that names no file is an error, whatever else there is", async () => {
    const onPath = await script("bin/noisy-lsp", "echo noisy-lsp 0.1.0");
    const setting = path.join(folder, "missing");
    await assert.rejects(find({ setting, searchPath: path.dirname(onPath) }), (error: Error) => {
      assert.ok(error instanceof ServerNotFound);
      assert.match(error.message, /noisy\.server\.path names .*missing/);
      return true;
    });
  });

  test("nothing found says where it looked and what to do", async () => {
    await assert.rejects(find({}), /bundled with the extension or on PATH\. Build it with/);
    await assert.rejects(find({ trusted: false }), /PATH is not searched/);
  });
});
