/** The noise of the function under the cursor as a picture, drawn by `noisy-check graph`. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import { findCheck } from "./check.ts";
import type { Session } from "./session.ts";

export function registerGraph(
  context: vscode.ExtensionContext,
  session: Session,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  let panel: vscode.WebviewPanel | undefined;
  return vscode.commands.registerCommand("noisy.showGraph", async () => {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) {
      return;
    }
    const name = functionAt(editor.document, editor.selection.active.line);
    const file = await findCheck(session.serverFile, process.platform);
    // A file is named as such where its text is what is drawn.
    const { uri, isDirty } = editor.document;
    const input = uri.scheme === "file" && !isDirty ? uri.fsPath : "-";
    const args = ["graph", input, "--fix", "--format", "html"];
    if (name !== undefined) {
      args.push("--function", name);
    }
    const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
    try {
      const html = await run(file, args, editor.document.getText(), folder);
      if (panel === undefined) {
        panel = vscode.window.createWebviewPanel("noisy.graph", "Noise", {
          viewColumn: vscode.ViewColumn.Beside,
          preserveFocus: true,
        });
        context.subscriptions.push(
          panel.onDidDispose(() => {
            panel = undefined;
          }),
        );
      }
      panel.title = name === undefined ? "Noise" : `Noise of @${name}`;
      panel.webview.html = html;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.error(why);
      void vscode.window.showErrorMessage(`The noise graph cannot be drawn: ${why}`);
    }
  });
}

/** The name of the function whose header stands in a line or nearest above it. */
function functionAt(document: vscode.TextDocument, line: number): string | undefined {
  for (let at = line; at >= 0; at -= 1) {
    const found = /\bfunc(?:\.func)?\s+(?:\w+\s+)?@([\w$.-]+)/.exec(document.lineAt(at).text);
    if (found !== null) {
      return found[1];
    }
  }
  return undefined;
}

/** Milliseconds for one picture. */
const PATIENCE = 30_000;

function run(
  file: string,
  args: string[],
  input: string,
  folder: string | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const options = { timeout: PATIENCE, maxBuffer: 1 << 28, windowsHide: true, cwd: folder };
    const child = execFile(file, args, options, (error, stdout, stderr) => {
      if (error === null) {
        resolve(stdout);
      } else if (error.code === "ENOENT") {
        reject(new Error("noisy-check was found neither beside the server nor on PATH"));
      } else {
        reject(new Error(stderr.trim().replace(/^noisy-check: /, "") || error.message));
      }
    });
    child.stdin?.on("error", () => {
      // It ended without reading; how it ended says why.
    });
    child.stdin?.end(input);
  });
}
