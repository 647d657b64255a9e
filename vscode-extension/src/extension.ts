/**
 * The rim between VS Code and `noisy-lsp`: finds the server, starts it, passes the settings on and
 * shows its state. All knowledge of MLIR and noise is in the server.
 */

import { homedir } from "node:os";
import * as vscode from "vscode";
import {
  LanguageClient,
  State,
  type LanguageClientOptions,
  type StaticFeature,
} from "vscode-languageclient/node";
import { findServer, type Server } from "./server.ts";

const selector = [
  { scheme: "file", language: "mlir" },
  { scheme: "untitled", language: "mlir" },
];

let session: Session | undefined;

export async function activate(context: vscode.ExtensionContext): Promise<void> {
  const log = vscode.window.createOutputChannel("Noisy", { log: true });
  const trace = vscode.window.createOutputChannel("Noisy Trace", { log: true });
  const status = vscode.languages.createLanguageStatusItem("noisy.server", selector);
  status.name = "Noisy";
  status.command = { command: "noisy.showLogs", title: "Show Logs" };
  const current = new Session(context, log, trace, status);
  session = current;

  context.subscriptions.push(
    log,
    trace,
    status,
    vscode.commands.registerCommand("noisy.restartServer", () => current.restart()),
    vscode.commands.registerCommand("noisy.showLogs", () => {
      log.show();
    }),
    vscode.commands.registerCommand("noisy.showDebugInformation", () => current.showDebug()),
    vscode.commands.registerCommand("noisy.fixFile", () => current.fixFile()),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      // What the server offers is settled when it starts; it asks for the other settings by itself.
      const atStart = ["noisy.server.path", "noisy.features"];
      if (atStart.some((setting) => event.affectsConfiguration(setting))) {
        await current.restart();
      }
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => current.restart()),
  );
  await current.restart();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}

/** The settings the server starts with; it is told of changes, and asks, as the protocol has it. */
function serverSettings(): object {
  const settings = vscode.workspace.getConfiguration("noisy");
  const names = ["codeLens", "configuration", "features", "inlayHints", "placement", "rules"];
  return Object.fromEntries(names.map((name) => [name, settings.get(name)]));
}

/** How the server says it is. */
interface ServerStatus {
  health: "ok" | "warning" | "error";
  quiescent: boolean;
  message?: string | null;
}

/** Tells the server that its status is shown. */
const asksForStatus: StaticFeature = {
  fillClientCapabilities(capabilities) {
    const experimental = (capabilities.experimental ?? {}) as Record<string, unknown>;
    capabilities.experimental = { ...experimental, serverStatusNotification: true };
  },
  initialize() {
    // Nothing to set up.
  },
  getState() {
    return { kind: "static" };
  },
  clear() {
    // Nothing to take down.
  },
};

/** One server at a time. Starts and stops are queued, so that two restarts cannot overlap. */
class Session {
  private readonly context: vscode.ExtensionContext;
  private readonly log: vscode.LogOutputChannel;
  private readonly trace: vscode.LogOutputChannel;
  private readonly status: vscode.LanguageStatusItem;
  private client: LanguageClient | undefined;
  private queue: Promise<void> = Promise.resolve();

  constructor(
    context: vscode.ExtensionContext,
    log: vscode.LogOutputChannel,
    trace: vscode.LogOutputChannel,
    status: vscode.LanguageStatusItem,
  ) {
    this.context = context;
    this.log = log;
    this.trace = trace;
    this.status = status;
  }

  restart(): Promise<void> {
    return this.enqueue(async () => {
      await this.stopClient();
      await this.startClient();
    });
  }

  stop(): Promise<void> {
    return this.enqueue(() => this.stopClient());
  }

  private enqueue(step: () => Promise<void>): Promise<void> {
    this.queue = this.queue.then(step).catch((error: unknown) => {
      this.fail(error instanceof Error ? error.message : String(error));
    });
    return this.queue;
  }

  private async startClient(): Promise<void> {
    this.show(vscode.LanguageStatusSeverity.Information, "Noisy: starting", true);
    const server = await findServer(
      {
        setting: vscode.workspace.getConfiguration("noisy").get("server.path", ""),
        extensionFolder: this.context.extensionPath,
        home: homedir(),
        searchPath: process.env["PATH"] ?? "",
        trusted: vscode.workspace.isTrusted,
        platform: process.platform,
      },
      (line) => {
        this.log.info(line);
      },
    );
    const options: LanguageClientOptions = {
      documentSelector: selector,
      outputChannel: this.log,
      traceOutputChannel: this.trace,
      initializationOptions: serverSettings(),
    };
    const client = new LanguageClient("noisy", "Noisy", { command: server.file }, options);
    client.registerFeature(asksForStatus);
    client.onNotification("experimental/serverStatus", (status: ServerStatus) => {
      this.follow(client.state, server, status);
    });
    client.onDidChangeState(({ newState }) => {
      this.follow(newState, server);
    });
    this.client = client;
    await client.start();
  }

  private async stopClient(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    // A client that never came up cannot be stopped, only forgotten.
    if (client?.state === State.Running) {
      await client.dispose();
    }
  }

  /**
   * Places in the file that is edited. The server sends the edit and says what it did; a source action would do the same, but
   * VS Code drops one whenever a change of the problems makes it look for a light bulb meanwhile.
   */
  async fixFile(): Promise<void> {
    const document = vscode.window.activeTextEditor?.document;
    if (document !== undefined) {
      const uri = document.uri.toString();
      await this.execute("noisy.insertReduceNoise", { uri });
    }
  }

  /** Opens what the server knows of itself, for reports of faults. */
  async showDebug(): Promise<void> {
    const content = await this.execute<string>("noisy.printDebugInformation");
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ content }));
  }

  /** Has the server execute one of its commands; without a server that is an error, which VS Code shows. */
  private execute<T>(command: string, ...args: object[]): Promise<T> {
    if (this.client === undefined) {
      throw new Error("noisy-lsp is not running.");
    }
    return this.client.sendRequest<T>("workspace/executeCommand", { command, arguments: args });
  }

  private follow(state: State, server: Server, status?: ServerStatus): void {
    if (state === State.Stopped) {
      this.show(vscode.LanguageStatusSeverity.Error, "Noisy: server stopped", false, server.file);
      return;
    }
    if (state !== State.Running) {
      return;
    }
    const { Information, Warning } = vscode.LanguageStatusSeverity;
    const severity = status?.health === "warning" ? Warning : Information;
    const text = `noisy-lsp ${server.version}`;
    this.show(severity, text, status?.quiescent === false, status?.message ?? server.file);
  }

  private fail(message: string): void {
    this.log.error(message);
    this.show(vscode.LanguageStatusSeverity.Error, "Noisy: no server", false, message);
    const settings = "Open Settings";
    const logs = "Show Logs";
    void vscode.window.showErrorMessage(message, settings, logs).then((choice) => {
      if (choice === settings) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "noisy.server.path");
      } else if (choice === logs) {
        this.log.show();
      }
    });
  }

  private show(
    severity: vscode.LanguageStatusSeverity,
    text: string,
    busy: boolean,
    detail = "",
  ): void {
    this.status.severity = severity;
    this.status.text = text;
    this.status.busy = busy;
    this.status.detail = detail;
  }
}
