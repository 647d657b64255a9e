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
  /** What is drawn. */
  let drawn: { document: vscode.TextDocument; version: number } | undefined;

  /** The panel, which says where its reader clicks. */
  const newPanel = (): vscode.WebviewPanel => {
    const it = vscode.window.createWebviewPanel(
      "noisy.graph",
      "Noise",
      { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true },
      { enableScripts: true, retainContextWhenHidden: true, localResourceRoots: [] },
    );
    context.subscriptions.push(
      it.onDidDispose(() => {
        panel = undefined;
        drawn = undefined;
      }),
      it.webview.onDidReceiveMessage((message: unknown) => {
        const line = lineOf(message);
        if (line !== undefined && drawn !== undefined) {
          void reveal(drawn.document, line);
        }
      }),
    );
    return it;
  };

  const draw = async (document: vscode.TextDocument, name: string | undefined): Promise<void> => {
    const file = await findCheck(session.serverFile, process.platform);
    // A file is named as such where its text is what is drawn.
    const { uri, isDirty, version } = document;
    const input = uri.scheme === "file" && !isDirty ? uri.fsPath : "-";
    const args = ["graph", input, "--fix", "--format", "html"];
    if (name !== undefined) {
      args.push("--function", name);
    }
    const folder = vscode.workspace.getWorkspaceFolder(uri)?.uri.fsPath;
    try {
      const html = await run(file, args, document.getText(), folder);
      panel ??= newPanel();
      drawn = { document, version };
      panel.title = name === undefined ? "Noise" : `Noise of @${name}`;
      panel.webview.html = html;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.error(why);
      void vscode.window.showErrorMessage(`The noise graph cannot be drawn: ${why}`);
    }
  };

  return vscode.Disposable.from(
    vscode.commands.registerCommand("noisy.showGraph", async () => {
      const editor = vscode.window.activeTextEditor;
      if (editor !== undefined) {
        await draw(editor.document, functionAt(editor.document, editor.selection.active.line));
      }
    }),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor: { document, selection } }) => {
      // The lines of an edited text are not those of the picture.
      if (document === drawn?.document && document.version === drawn.version) {
        void panel?.webview.postMessage({ select: selection.active.line + 1 });
      }
    }),
  );
}

/** The line, from 1, that a message of the page names. */
function lineOf(message: unknown): number | undefined {
  const line =
    typeof message === "object" && message !== null && "line" in message ? message.line : undefined;
  return typeof line === "number" && Number.isInteger(line) && line > 0 ? line : undefined;
}

/** Puts the cursor on a line, in the column where the document is shown or in the first. */
async function reveal(document: vscode.TextDocument, line: number): Promise<void> {
  const at = document.lineAt(Math.min(line, document.lineCount) - 1);
  const start = at.range.start.translate(0, at.firstNonWhitespaceCharacterIndex);
  const shown = vscode.window.visibleTextEditors.find((it) => it.document === document);
  await vscode.window.showTextDocument(document, {
    viewColumn: shown?.viewColumn ?? vscode.ViewColumn.One,
    selection: new vscode.Range(start, start),
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
