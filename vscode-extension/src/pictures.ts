/** Pictures beside the text: the noise of a function, the iterations of a loop. */

import * as vscode from "vscode";
import type { Programs } from "./program.ts";

/** A picture of what is under the cursor. */
export interface Picture {
  command: string;
  view: string;
  /** What the panel is called, if nothing more is known. */
  name: string;
  /** What to say if it cannot be drawn. */
  failure: string;
  /** The title of the panel. */
  title(document: vscode.TextDocument, line: number): string;
  /** Its page. */
  page(document: vscode.TextDocument, line: number): Promise<string>;
}

/** The noise graph, whoever draws it. */
export const noiseOf: Omit<Picture, "page"> = {
  command: "noisy.showGraph",
  view: "noisy.graph",
  name: "Noise",
  failure: "The noise graph cannot be drawn",
  title(document, line) {
    const name = functionAt(document, line);
    return name === undefined ? "Noise" : `Noise of @${name}`;
  },
};

export function registerPictures(
  context: vscode.ExtensionContext,
  programs: Programs,
  log: vscode.LogOutputChannel,
  pictures: Picture[],
): vscode.Disposable {
  return vscode.Disposable.from(
    ...pictures.map((it) => registerPicture(it, context, programs, log)),
  );
}

function registerPicture(
  picture: Picture,
  context: vscode.ExtensionContext,
  programs: Programs,
  log: vscode.LogOutputChannel,
): vscode.Disposable {
  let panel: vscode.WebviewPanel | undefined;
  /** What is drawn. */
  let drawn: { document: vscode.TextDocument; version: number; line: number } | undefined;

  /** The panel, which says where its reader clicks. */
  const newPanel = (): vscode.WebviewPanel => {
    const it = vscode.window.createWebviewPanel(
      picture.view,
      picture.name,
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
        } else if (drawn !== undefined && isReady(message)) {
          void it.webview.postMessage({ select: drawn.line + 1 });
        }
      }),
    );
    return it;
  };

  const draw = async (document: vscode.TextDocument, line: number): Promise<void> => {
    const { version } = document;
    try {
      const html = await picture.page(document, line);
      panel ??= newPanel();
      drawn = { document, version, line };
      panel.title = picture.title(document, line);
      panel.webview.html = html;
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      log.error(why);
      void vscode.window.showErrorMessage(`${picture.failure}: ${why}`);
    }
  };

  return vscode.Disposable.from(
    vscode.commands.registerCommand(picture.command, async () => {
      const editor = await programs.editor();
      if (editor !== undefined) {
        await draw(editor.document, editor.selection.active.line);
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

/** Whether a page says that it can be told the line of the cursor. */
function isReady(message: unknown): boolean {
  return typeof message === "object" && message !== null && "isReady" in message;
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
export function functionAt(document: vscode.TextDocument, line: number): string | undefined {
  for (let at = line; at >= 0; at -= 1) {
    const found = /\bfunc(?:\.func)?\s+(?:\w+\s+)?@([\w$.-]+)/.exec(document.lineAt(at).text);
    if (found !== null) {
      return found[1];
    }
  }
  return undefined;
}
