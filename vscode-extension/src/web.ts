/** In a browser without a machine behind it no server can run: highlighting works, and this says why the rest does not. */

import * as vscode from "vscode";
import { registerStart } from "./start.ts";

const WHY =
  "Noisy analyzes programs with a native server, which cannot run in a browser. Open the folder in VS Code on a machine, over SSH, " +
  "in a container or in a codespace. Highlighting and snippets work here.";

export function activate(context: vscode.ExtensionContext): void {
  const status = vscode.languages.createLanguageStatusItem("noisy.server", { language: "mlir" });
  status.name = "Noisy";
  status.text = "Noisy: no server in a browser";
  status.detail = WHY;
  status.severity = vscode.LanguageStatusSeverity.Warning;
  const tell = (): void => {
    void vscode.window.showWarningMessage(WHY);
  };
  const commands = [
    "noisy.fixFile",
    "noisy.restartServer",
    "noisy.showLogs",
    "noisy.showDebugInformation",
    "noisy.showGraph",
    "noisy.showNest",
  ];
  context.subscriptions.push(
    status,
    registerStart(context),
    ...commands.map((it) => vscode.commands.registerCommand(it, tell)),
  );
  tell();
}
