/**
 * The extension in a browser without a machine behind it: the server runs in a worker, and reads `noisy.toml` of virtual folders
 * through VS Code. What needs a process (the iterations of a loop, tasks) says so.
 */

import * as vscode from "vscode";
import { CloseAction, LanguageClient, State } from "vscode-languageclient/browser";
import { registerBudget } from "./budget.ts";
import { registerBytecode } from "./bytecode.ts";
import {
  DebugInformation,
  asksForStatus,
  middleware,
  serverSettings,
  type Asked,
  type ServerStatus,
} from "./common.ts";
import { noiseOf, registerPictures } from "./pictures.ts";
import { Programs } from "./program.ts";
import { registerStart } from "./start.ts";

/** Programs of any file system. */
const selector = [{ language: "mlir" }];

/** Files whose settings apply below their folder. */
const NAMES = [".noisy.toml", "noisy.toml"];

/** A server that stops more often than this within so many minutes is not started again by itself. */
const MOST_STOPS = 4;
const MINUTES = 3;

const NEEDS_MACHINE =
  "This needs the program noisy-check, which cannot run in a browser: open the folder in desktop VS Code, over SSH, in a container or in a codespace.";

class WebSession implements Asked {
  private client: LanguageClient | undefined;
  private worker: Worker | undefined;
  private stops: number[] = [];
  private queue: Promise<void> = Promise.resolve();
  /** The configuration files that were looked for, and those that they extend. */
  private readonly known = new Set<string>();
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;

  private readonly folder: vscode.Uri;
  private readonly log: vscode.LogOutputChannel;
  private readonly status: vscode.LanguageStatusItem;

  constructor(folder: vscode.Uri, log: vscode.LogOutputChannel, status: vscode.LanguageStatusItem) {
    this.folder = folder;
    this.log = log;
    this.status = status;
  }

  restart(): Promise<void> {
    this.stops = [];
    return this.again();
  }

  private again(): Promise<void> {
    this.queue = this.queue
      .then(async () => {
        await this.stop();
        await this.start();
      })
      .catch((error: unknown) => {
        this.fail(error instanceof Error ? error.message : String(error));
      });
    return this.queue;
  }

  async stop(): Promise<void> {
    const { client, worker } = this;
    this.client = undefined;
    this.worker = undefined;
    if (client?.state === State.Running) {
      await client.dispose().catch((error: unknown) => {
        this.log.warn(String(error));
      });
    }
    worker?.terminate();
  }

  private async start(): Promise<void> {
    this.show("Noisy: starting", "", true);
    const file = (name: string): string =>
      vscode.Uri.joinPath(this.folder, "dist", "web", name).toString(true);
    this.known.clear();
    const worker = new Worker(file("worker.js"));
    this.worker = worker;
    worker.postMessage({
      module: file("noisy.wasm"),
      solver: file("solver.js"),
      highs: file("highs.wasm"),
      environment: [],
    });
    const client: LanguageClient = new LanguageClient("noisy", "Noisy", worker, {
      documentSelector: selector,
      outputChannel: this.log,
      initializationOptions: serverSettings,
      initializationFailedHandler: () => false,
      errorHandler: {
        error: (error, message, count) =>
          client.createDefaultErrorHandler().error(error, message, count),
        closed: () => ({ action: CloseAction.DoNotRestart, handled: true }),
      },
      middleware: {
        ...middleware(() => client),
        didOpen: (document, next) => {
          // Not awaited: the change of a document must not be sent before the document.
          void this.readConfiguration(document.uri);
          return next(document);
        },
      },
    });
    this.client = client;
    client.registerFeature(asksForStatus);
    const died = new Promise<never>((_, reject) => {
      client.onNotification("noisy/died", ({ message }: { message: string }) => {
        reject(new Error(message));
        if (client.state === State.Running) {
          this.died(client, message);
        }
      });
      worker.onerror = (event): void => {
        reject(new Error(event.message || "the worker did not start"));
      };
    });
    // It matters only while the server starts.
    died.catch(() => undefined);
    client.onNotification("experimental/serverStatus", (it: ServerStatus) => {
      this.changed.fire();
      this.show("noisy-lsp in this browser", it.message ?? "", !it.quiescent);
    });
    client.onDidChangeState(() => {
      this.changed.fire();
    });
    await Promise.race([client.start(), died]);
    this.show("noisy-lsp in this browser", "", false);
  }

  private died(client: LanguageClient, why: string): void {
    if (this.client !== client) {
      return;
    }
    const now = Date.now();
    this.stops = [...this.stops, now].filter((it) => now - it <= MINUTES * 60_000);
    this.log.error(why);
    if (this.stops.length > MOST_STOPS) {
      void this.stop();
      this.fail(`it stopped ${String(this.stops.length)} times, the last time because ${why}`);
      return;
    }
    void this.again();
  }

  private fail(why: string): void {
    this.log.error(why);
    this.show("Noisy: no server", why, false, vscode.LanguageStatusSeverity.Error);
    this.status.command = { command: "noisy.restartServer", title: "Restart" };
    void vscode.window
      .showErrorMessage(`Noisy cannot run its server: ${why}`, "Restart")
      .then((choice) => {
        if (choice !== undefined) {
          void this.restart();
        }
      });
  }

  private show(
    text: string,
    detail: string,
    busy: boolean,
    severity = vscode.LanguageStatusSeverity.Information,
  ): void {
    this.status.text = text;
    this.status.detail = detail;
    this.status.busy = busy;
    this.status.severity = severity;
    this.status.command = { command: "noisy.showLogs", title: "Show Logs" };
  }

  /** Passes the configuration files that a program may have to the server, whose file system has no others. */
  private async readConfiguration(program: vscode.Uri): Promise<void> {
    const root = vscode.workspace.getWorkspaceFolder(program)?.uri;
    const named = vscode.workspace
      .getConfiguration("noisy", program)
      .get<string>("configuration", "");
    const found = named === "" || root === undefined ? [] : [inside(root, named)];
    for (let { path } = program; path.includes("/");) {
      path = path.slice(0, path.lastIndexOf("/"));
      found.push(...NAMES.map((it) => program.with({ path: `${path}/${it}` })));
    }
    const files: Files = {};
    const isNew = (it: vscode.Uri): boolean => !this.known.has(it.toString());
    await Promise.all(found.filter(isNew).map((it) => this.read(it, files)));
    await this.send(Object.fromEntries(Object.entries(files).filter(([, it]) => it !== null)));
  }

  /** Passes a file that has changed, if it is a configuration file. */
  async pass(changed: vscode.Uri): Promise<void> {
    if (this.known.has(changed.toString())) {
      const files: Files = {};
      await this.read(changed, files);
      await this.send(files);
    }
  }

  private async send(files: Files): Promise<void> {
    if (Object.keys(files).length > 0 && this.client?.state === State.Running) {
      await this.client.sendNotification("noisy/files", { files });
    }
  }

  /** Reads a configuration file, and those that it extends; null if there is none. */
  private async read(uri: vscode.Uri, files: Files): Promise<void> {
    if (uri.path in files) {
      return;
    }
    files[uri.path] = null;
    this.known.add(uri.toString());
    let text: string;
    try {
      text = new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    } catch (error) {
      this.log.trace(`${uri.toString()}: ${String(error)}`);
      return;
    }
    files[uri.path] = text;
    const base = /^\s*extends\s*=\s*(["'])(.+?)\1/m.exec(text)?.[2];
    if (base !== undefined) {
      await this.read(inside(vscode.Uri.joinPath(uri, ".."), base), files);
    }
  }

  async execute<T>(command: string, ...args: object[]): Promise<T | undefined> {
    if (this.client?.state !== State.Running) {
      this.fail("it has not started");
      return undefined;
    }
    return this.client.sendRequest<T>("workspace/executeCommand", { command, arguments: args });
  }

  async ask<T>(method: string, params: object): Promise<T | undefined> {
    if (this.client?.state !== State.Running) {
      return undefined;
    }
    try {
      return await this.client.sendRequest<T>(method, params);
    } catch (error) {
      this.log.debug(`${method}: ${String(error)}`);
      return undefined;
    }
  }
}

/** Texts by path; null for a file that is not there. */
type Files = Record<string, string | null>;

/** A path from a folder, or an absolute one. */
function inside(folder: vscode.Uri, path: string): vscode.Uri {
  return path.startsWith("/") ? folder.with({ path }) : vscode.Uri.joinPath(folder, path);
}

let session: WebSession | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Noisy", { log: true });
  const status = vscode.languages.createLanguageStatusItem("noisy.server", selector);
  status.name = "Noisy";
  const current = new WebSession(context.extensionUri, log, status);
  session = current;
  const programs = new Programs(selector);
  const debug = new DebugInformation();
  const watcher = vscode.workspace.createFileSystemWatcher("**/*.toml");
  const pass = (uri: vscode.Uri): Promise<void> => current.pass(uri);
  const needsMachine = (): void => {
    void vscode.window.showInformationMessage(NEEDS_MACHINE);
  };
  const graph = {
    ...noiseOf,
    async page(document: vscode.TextDocument, line: number): Promise<string> {
      const params = {
        textDocument: { uri: document.uri.toString() },
        position: { line, character: 0 },
      };
      const page =
        (await current.ask<string>("noisy/graph", { ...params, fix: true })) ??
        (await current.ask<string>("noisy/graph", params));
      if (page === undefined) {
        throw new Error("there is no function here, or no server");
      }
      return page;
    },
  };
  context.subscriptions.push(
    log,
    status,
    programs,
    watcher,
    watcher.onDidCreate(pass),
    watcher.onDidChange(pass),
    watcher.onDidDelete(pass),
    vscode.commands.registerCommand("noisy.restartServer", () => current.restart()),
    vscode.commands.registerCommand("noisy.showLogs", () => {
      log.show();
    }),
    vscode.commands.registerCommand("noisy.showNest", needsMachine),
    vscode.workspace.registerTextDocumentContentProvider(DebugInformation.scheme, debug),
    vscode.commands.registerCommand("noisy.showDebugInformation", async () => {
      const text = await current.execute<string>("noisy.printDebugInformation");
      if (text !== undefined) {
        await debug.show(text);
      }
    }),
    vscode.commands.registerCommand("noisy.fixFile", async () => {
      const editor = await programs.editor();
      if (editor !== undefined) {
        const uri = editor.document.uri.toString();
        await current.execute("noisy.insertReduceNoise", { uri });
      }
    }),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      // A file that a setting names is read when the server starts.
      const atStart = ["noisy.features", "noisy.configuration", "mlir.server_path"];
      if (atStart.some((it) => event.affectsConfiguration(it))) {
        await current.restart();
      }
    }),
    registerStart(context),
    registerBytecode(),
    registerBudget(current, selector),
    registerPictures(context, programs, log, [graph]),
  );
  await current.restart();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
