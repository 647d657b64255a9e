/** What the extension has in common on a machine and in a browser. */

import * as vscode from "vscode";
import type { Middleware, StaticFeature } from "vscode-languageclient";
import { besideServer, forServer, sectionForServer, sections } from "./settings.ts";

/** The programs of a server that reads the disk. */
export const selector = [
  { scheme: "file", language: "mlir" },
  { scheme: "untitled", language: "mlir" },
];

/** A server that can be asked. */
export interface Asked {
  /** Has the server execute one of its commands; without a server the user is told, and the answer is undefined. */
  execute<T>(command: string, ...args: object[]): Promise<T | undefined>;
  /** Asks the server; without one, or without an answer, undefined. */
  ask<T>(method: string, params: object): Promise<T | undefined>;
  /** The server has started or stopped, or has begun or ended a search. */
  readonly onDidChange: vscode.Event<void>;
}

/** The extension for MLIR of LLVM. */
const OTHER = "llvm-vs-code-extensions.vscode-mlir";

/** How the server says it is. */
export interface ServerStatus {
  health: "ok" | "warning" | "error";
  quiescent: boolean;
  message?: string | null;
}

/** Tells the server that its status is shown. */
export const asksForStatus: StaticFeature = {
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

/** The settings the server starts with; it is told of changes, and asks, as the protocol has it. */
export function serverSettings(): object {
  const settings = vscode.workspace.getConfiguration("noisy");
  const own = Object.fromEntries(
    sections.map((name) => [name, forServer(settings.get(name), name)]),
  );
  // Objects of VS Code's settings are proxies, which no worker can be sent.
  return JSON.parse(JSON.stringify(besideServer(own, hasOtherServer()))) as object;
}

/** Whether the extension of LLVM is there and was told of a server: `mlir-lsp-server`, or one of HEIR's. */
function hasOtherServer(): boolean {
  const path = vscode.workspace.getConfiguration("mlir").get<string>("server_path", "");
  return vscode.extensions.getExtension(OTHER) !== undefined && path !== "";
}

/** Has the server know the settings as {@link serverSettings} says them. */
export function middleware(
  client: () => { sendNotification(method: string, params: object): Promise<void> },
): Middleware {
  return {
    workspace: {
      // What is sent, and what is asked for, is what the server knows.
      didChangeConfiguration: () =>
        client().sendNotification("workspace/didChangeConfiguration", {
          settings: { noisy: serverSettings() },
        }),
      configuration: async (params, token, next) => {
        const values = await next(params, token);
        return Array.isArray(values)
          ? values.map((it, n) => {
              const section = params.items[n]?.section;
              const own = sectionForServer(section, it) as object;
              return section === "noisy" ? besideServer(own, hasOtherServer()) : own;
            })
          : values;
      },
    },
  };
}

/** What the server knows of itself, for reports of faults: a text to read and to copy, not to save. */
export class DebugInformation implements vscode.TextDocumentContentProvider {
  static readonly scheme = "noisy-debug";
  private static readonly uri = vscode.Uri.parse(
    `${DebugInformation.scheme}:Noisy Debug Information`,
  );
  private readonly changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.changed.event;
  private text = "";

  provideTextDocumentContent(): string {
    return this.text;
  }

  async show(text: string): Promise<void> {
    this.text = text;
    this.changed.fire(DebugInformation.uri);
    const document = await vscode.workspace.openTextDocument(DebugInformation.uri);
    await vscode.window.showTextDocument(document, { preview: true });
  }
}
