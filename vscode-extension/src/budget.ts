/** The noise budget at a glance: a thin bar beside each op for how much of it is used, and the most of the function under the cursor. */

import * as vscode from "vscode";
import type { Asked } from "./common.ts";

/** What the server answers. */
interface Budget {
  ops: { line: number; percent: number }[];
  function: { name: string; text: string; isOver: boolean } | null;
}

/** So many heights has a bar. */
const STEPS = 8;

/** Milliseconds without a change, a move or a scroll, after which the server is asked. */
const CALM = 80;

/** A bar in the gutter, filled from below. */
function bar(filled: number, colour: string, frame: string): vscode.Uri {
  const height = Math.round((filled / STEPS) * 16);
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" width="18" height="18">` +
    `<rect x="12.5" y="1.5" width="4" height="15" fill="none" stroke="${frame}"/>` +
    `<rect x="12" y="${String(17 - height)}" width="5" height="${String(height)}" fill="${colour}"/></svg>`;
  return vscode.Uri.parse(`data:image/svg+xml;utf8,${encodeURIComponent(svg)}`);
}

/** The look of a bar; the last is of what is over the budget. */
function look(step: number): vscode.TextEditorDecorationType {
  const isOver = step > STEPS;
  const filled = Math.min(step, STEPS);
  const [light, dark] = isOver
    ? ["#c62828", "#ff5c5c"]
    : filled > 6
      ? ["#b26a00", "#ffb74d"]
      : ["#2e7d32", "#81c784"];
  return vscode.window.createTextEditorDecorationType({
    light: { gutterIconPath: bar(filled, light, isOver ? light : "#9e9e9e") },
    dark: { gutterIconPath: bar(filled, dark, isOver ? dark : "#757575") },
    gutterIconSize: "contain",
    ...(isOver && {
      overviewRulerColor: new vscode.ThemeColor("editorError.foreground"),
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
  });
}

export function registerBudget(
  session: Asked,
  selector: vscode.DocumentSelector,
): vscode.Disposable {
  const looks = Array.from({ length: STEPS + 2 }, (_, step) => look(step));
  const status = vscode.window.createStatusBarItem(
    "noisy.budget",
    vscode.StatusBarAlignment.Right,
    101,
  );
  status.name = "Noise of the Function";
  status.command = "noisy.showGraph";
  let timer: ReturnType<typeof setTimeout> | undefined;

  const wantsBars = (document: vscode.TextDocument): boolean =>
    vscode.workspace.getConfiguration("noisy", document.uri).get("budgetBars.enable", false);

  const draw = (editor: vscode.TextEditor, ops: Budget["ops"]): void => {
    const lines = new Map<number, number>();
    for (const { line, percent } of ops) {
      lines.set(line, Math.max(percent, lines.get(line) ?? 0));
    }
    const ranges: vscode.Range[][] = looks.map(() => []);
    for (const [line, percent] of lines) {
      const step = percent > 100 ? STEPS + 1 : Math.ceil((percent / 100) * STEPS);
      ranges[step]?.push(new vscode.Range(line, 0, line, 0));
    }
    looks.forEach((it, step) => {
      editor.setDecorations(it, ranges[step] ?? []);
    });
  };

  const show = (most: Budget["function"]): void => {
    if (most === null) {
      status.hide();
      return;
    }
    status.text = `$(pulse) ${most.text}`;
    status.tooltip = `@${most.name}: ${most.text}. Click for the graph.`;
    status.backgroundColor = most.isOver
      ? new vscode.ThemeColor("statusBarItem.errorBackground")
      : undefined;
    status.show();
  };

  const update = async (editor: vscode.TextEditor): Promise<void> => {
    const { document, visibleRanges, selection } = editor;
    const bars = wantsBars(document);
    const { version } = document;
    const isActive = editor === vscode.window.activeTextEditor;
    if (!bars) {
      draw(editor, []);
      if (!isActive) return;
    }
    const [first, last] = [visibleRanges[0], visibleRanges.at(-1)];
    const range =
      bars && first !== undefined && last !== undefined
        ? new vscode.Range(first.start.line, 0, last.end.line + 1, 0)
        : new vscode.Range(selection.active, selection.active);
    const found = await session.ask<Budget>("noisy/budget", {
      textDocument: { uri: document.uri.toString() },
      range,
      position: selection.active,
    });
    // What was asked before an edit is about another text.
    if (document.version !== version) return;
    if (bars) draw(editor, found?.ops ?? []);
    if (editor === vscode.window.activeTextEditor) show(found?.function ?? null);
  };

  const updateAll = (): void => {
    const all = vscode.window.visibleTextEditors.filter(
      (it) => vscode.languages.match(selector, it.document) > 0,
    );
    const active = vscode.window.activeTextEditor;
    if (active === undefined || !all.includes(active)) {
      status.hide();
    }
    for (const editor of all) {
      void update(editor);
    }
  };

  const soon = (): void => {
    clearTimeout(timer);
    timer = setTimeout(updateAll, CALM);
  };

  soon();
  return vscode.Disposable.from(
    status,
    ...looks,
    {
      dispose: () => {
        clearTimeout(timer);
      },
    },
    session.onDidChange(soon),
    vscode.window.onDidChangeActiveTextEditor(soon),
    vscode.window.onDidChangeVisibleTextEditors(soon),
    vscode.window.onDidChangeTextEditorSelection(soon),
    vscode.window.onDidChangeTextEditorVisibleRanges(soon),
    vscode.workspace.onDidChangeTextDocument(soon),
    vscode.languages.onDidChangeDiagnostics(soon),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("noisy")) soon();
    }),
  );
}
