// VS Code for the Web: the workbench of code-server as static files, without a machine behind it. Extensions run in the web extension host, and the
// folder is in the memory of the page.

import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import path from "node:path";
import { promisify } from "node:util";
import { codeServer } from "./workbench.mjs";

const TYPES = {
  ".css": "text/css",
  ".html": "text/html",
  ".js": "text/javascript",
  ".json": "application/json",
  ".svg": "image/svg+xml",
  ".ttf": "font/ttf",
  ".wasm": "application/wasm",
};

/** code-server's workbench takes the server that it comes from for a machine, and keeps settings there; that of VS Code for the Web does neither. */
const OF_MACHINE = [
  ["remoteAuthority:location.host", "remoteAuthority:void 0"],
  [
    /\w+\((\w+)\.file\(this\.userDataPath\)\.with\(\{scheme:(\w+)\.vscodeRemote\}\),"User"\)/,
    '$1.file("/User").with({scheme:$2.vscodeUserData})',
  ],
];

/** Serves what `answer` returns for the path of an address; `undefined` for what is not there. */
async function serve(answer) {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    let body;
    try {
      body = answer(decodeURIComponent(pathname));
    } catch (error) {
      if (!["ENOENT", "EISDIR"].includes(error.code)) throw error;
    }
    const type = TYPES[path.extname(pathname)] ?? (pathname === "/" ? "text/html" : "text/plain");
    // Extensions come from another origin than the workbench, as those of a gallery do.
    const headers = { "content-type": type, "access-control-allow-origin": "*" };
    response.writeHead(body === undefined ? 404 : 200, headers).end(body);
  });
  await new Promise((resolve, reject) => {
    server.once("error", reject).listen(0, "127.0.0.1", resolve);
  });
  return { port: server.address().port, end: () => server.close() };
}

/** Unpacks the extension of a VSIX. */
export async function unpack(vsix, folder) {
  const yauzl = createRequire(path.join(codeServer, "lib/vscode/package.json"))("yauzl");
  const zip = await promisify(yauzl.open)(vsix, { lazyEntries: true });
  const opened = promisify(zip.openReadStream.bind(zip));
  await new Promise((resolve, reject) => {
    zip.on("error", reject).on("end", resolve);
    zip.on("entry", (entry) => {
      const inner = /^extension\/(.+[^/])$/.exec(entry.fileName)?.[1];
      if (inner === undefined || inner.startsWith("server/")) {
        zip.readEntry();
        return;
      }
      opened(entry)
        .then((stream) => stream.toArray())
        .then((parts) => {
          const file = path.join(folder, inner);
          mkdirSync(path.dirname(file), { recursive: true });
          writeFileSync(file, Buffer.concat(parts));
          zip.readEntry();
        })
        .catch(reject);
    });
    zip.readEntry();
  });
}

/** An extension with a file system in memory, which has these files (path to text). */
function memory(files) {
  const manifest = {
    ...{ name: "memory", publisher: "test", version: "1.0.0", engines: { vscode: "^1.91.0" } },
    ...{ browser: "./main.js", activationEvents: ["onFileSystem:memory"] },
  };
  const main = `(${provide.toString()})(require("vscode"), exports, ${JSON.stringify(files)})`;
  return { "/package.json": JSON.stringify(manifest), "/main.js": main };
}

/** The code of that extension. */
function provide(vscode, exports, texts) {
  const encoder = new TextEncoder();
  const files = new Map(Object.entries(texts).map(([name, text]) => [name, encoder.encode(text)]));
  const changed = new vscode.EventEmitter();
  const isFolder = (name) => [...files.keys()].some((it) => it.startsWith(`${name}/`));
  const missing = (uri) => vscode.FileSystemError.FileNotFound(uri);
  const { Directory, File } = vscode.FileType;
  let version = 1;
  exports.activate = ({ subscriptions }) => {
    const provider = {
      onDidChangeFile: changed.event,
      watch: () => ({ dispose() {} }),
      stat(uri) {
        const bytes = files.get(uri.path);
        if (bytes === undefined && !isFolder(uri.path)) throw missing(uri);
        const type = bytes === undefined ? Directory : File;
        return { type, ctime: 0, mtime: version, size: bytes?.length ?? 0 };
      },
      readDirectory(uri) {
        const at = `${uri.path}/`;
        const inner = [...files.keys()].filter((it) => it.startsWith(at));
        const names = new Set(inner.map((it) => it.slice(at.length).split("/")[0]));
        return [...names].map((it) => [it, files.has(at + it) ? File : Directory]);
      },
      createDirectory() {},
      readFile(uri) {
        const bytes = files.get(uri.path);
        if (bytes === undefined) throw missing(uri);
        return bytes;
      },
      writeFile(uri, bytes) {
        version += 1;
        const { Changed, Created } = vscode.FileChangeType;
        const type = files.has(uri.path) ? Changed : Created;
        files.set(uri.path, bytes);
        changed.fire([{ type, uri }]);
      },
      delete(uri) {
        files.delete(uri.path);
        changed.fire([{ type: vscode.FileChangeType.Deleted, uri }]);
      },
      rename(from, to) {
        provider.writeFile(to, provider.readFile(from));
        provider.delete(from);
      },
    };
    subscriptions.push(
      vscode.workspace.registerFileSystemProvider("memory", provider, { isCaseSensitive: true }),
    );
  };
}

/** Serves a workbench with this extension, with these settings, on a file system with these files, whose folder is /project. */
export async function serveWorkbench(extension, files, settings) {
  const code = path.join(codeServer, "lib/vscode");
  const ofMemory = memory(files);
  const extensions = await serve((name) => {
    const inner = /^\/memory(\/.*)/.exec(name)?.[1];
    return inner === undefined ? readFileSync(path.join(extension, name)) : ofMemory[inner];
  });
  const main = "/out/vs/code/browser/workbench/workbench.js";
  const origin = (port) => ({ scheme: "http", authority: `localhost:${port}` });
  const pages = await serve((name) => {
    if (name === "/") return page();
    const file = name.replace(/^\/static/, "");
    if (file === name) return undefined;
    const bytes = readFileSync(path.join(code, file));
    if (file !== main) return bytes;
    return OF_MACHINE.reduce((text, [ofMachine, without]) => {
      const replaced = text.replace(ofMachine, without);
      assert.notEqual(replaced, text, "the workbench of code-server has changed");
      return replaced;
    }, bytes.toString());
  });
  const page = () => {
    const configuration = {
      folderUri: { scheme: "memory", path: "/project" },
      additionalBuiltinExtensions: [
        { ...origin(extensions.port), path: "/" },
        { ...origin(extensions.port), path: "/memory" },
      ],
      configurationDefaults: settings,
      enableWorkspaceTrust: false,
      isEnabledFileDownloads: true,
      isEnabledFileUploads: true,
      isEnabledCoderGettingStarted: false,
      productConfiguration: {
        webviewContentExternalBaseUrlTemplate: `http://localhost:${pages.port}/static/out/vs/workbench/contrib/webview/browser/pre/`,
      },
    };
    const quoted = JSON.stringify(configuration).replaceAll("&", "&amp;").replaceAll('"', "&quot;");
    return `<!doctype html>
<meta charset="utf-8">
<meta id="vscode-workbench-web-configuration" data-settings="${quoted}">
<link rel="stylesheet" href="/static/out/vs/code/browser/workbench/workbench.css">
<body></body>
<script>globalThis._VSCODE_FILE_ROOT = location.origin + "/static/out/";</script>
<script type="module" src="/static/out/nls.messages.js"></script>
<script type="module" src="/static${main}"></script>
`;
  };
  const end = async () => {
    pages.end();
    extensions.end();
  };
  return { url: `http://localhost:${pages.port}/`, end };
}
