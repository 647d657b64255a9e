/** Files of MLIR bytecode: they cannot be shown as text, so the editor says what to do with them. */

import * as vscode from "vscode";

export function registerBytecode(): vscode.Disposable {
  return vscode.window.registerCustomEditorProvider("noisy.bytecode", {
    openCustomDocument: (uri: vscode.Uri) => ({
      uri,
      dispose: () => {
        // Nothing is held.
      },
    }),
    resolveCustomEditor: (document: vscode.CustomDocument, panel: vscode.WebviewPanel) => {
      panel.webview.html = page(document.uri);
    },
  });
}

function page(uri: vscode.Uri): string {
  const file = escape(uri.path.split("/").at(-1) ?? "file.mlirbc");
  const text = file.replace(/\.mlirbc$/, ".mlir");
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>body { padding: 2em; font-size: var(--vscode-font-size) } code { user-select: all }</style></head>
<body><h2>MLIR bytecode</h2>
<p><b>${file}</b> is MLIR in its binary form, which Noisy does not read. Convert it to text and open the result:</p>
<p><code>mlir-opt ${file} --allow-unregistered-dialect -o ${text}</code></p>
</body></html>`;
}

function escape(text: string): string {
  return text.replace(/[&<>"]/g, (it) => `&#${String(it.charCodeAt(0))};`);
}
