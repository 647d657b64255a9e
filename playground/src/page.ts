/** The playground: a program, its settings, and everything that the server says about them. */

import * as monaco from "monaco-editor/editor/editor.api.js";
import "monaco-editor/features/register.all.js";
import type * as lsp from "vscode-languageserver-types";
import { Client, Refused } from "./client.ts";
import type { Early } from "./early.ts";
import { EXAMPLES } from "./examples.ts";
import { registerLanguages } from "./language.ts";
import { Panels } from "./panels.ts";
import { LANGUAGE, SETTINGS, diagnostics, editsOf, range, register } from "./providers.ts";
import { LONGEST, fragment, shared } from "./share.ts";

/** A longer text is kept, but not sent: it would take the memory of the page. */
const MOST = 8_000_000;

const PROGRAM = "file:///playground/program.mlir";
const FILE = "/playground/noisy.toml";

const element = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;

self.MonacoEnvironment = { getWorker: () => new Worker("editor.js") };
registerLanguages();

const program = monaco.editor.createModel("", LANGUAGE, monaco.Uri.parse(PROGRAM));
const settings = monaco.editor.createModel("", SETTINGS, monaco.Uri.parse(`file://${FILE}`));
const common: monaco.editor.IStandaloneEditorConstructionOptions = {
  automaticLayout: true,
  minimap: { enabled: false },
  scrollBeyondLastLine: false,
  fontSize: 14,
  fixedOverflowWidgets: true,
  "semanticHighlighting.enabled": true,
};
const editor = monaco.editor.create(element("program"), {
  ...common,
  model: program,
  ariaLabel: "Program",
  glyphMargin: false,
});
monaco.editor.create(element("settings"), {
  ...common,
  model: settings,
  ariaLabel: "Settings: noisy.toml",
  lineNumbers: "off",
});

const refresh = new monaco.Emitter<void>();
let providers: monaco.IDisposable[] = [];
/** The texts that the server has. */
const sent = new Set<monaco.editor.ITextModel>();

/** Subject of the banner: a start of the server, a shorter text or an edit takes back its own text only. */
type Subject = "server" | "length" | "event";
let subject: Subject | undefined;

function banner(about: Subject, text: string, again = false): void {
  subject = about;
  const it = element("banner");
  it.hidden = text === "";
  it.querySelector("span")!.textContent = text;
  element("again").hidden = !again;
}

function takeBack(about: Subject): void {
  if (subject === about) {
    banner(about, "");
  }
}

const status = (text: string): void => {
  element("status").textContent = text;
};

const client = new Client(
  (globalThis as unknown as { noisyEarly: Early }).noisyEarly,
  {
    processId: null,
    clientInfo: { name: "playground" },
    rootUri: "file:///playground",
    workspaceFolders: [{ uri: "file:///playground", name: "playground" }],
    initializationOptions: {},
    capabilities: {
      general: { positionEncodings: ["utf-16"] },
      window: { workDoneProgress: true },
      workspace: {
        applyEdit: true,
        workspaceEdit: { documentChanges: true },
        inlayHint: { refreshSupport: true },
        codeLens: { refreshSupport: true },
      },
      textDocument: {
        synchronization: { dynamicRegistration: true },
        publishDiagnostics: {
          relatedInformation: true,
          versionSupport: true,
          codeDescriptionSupport: false,
          dataSupport: true,
          tagSupport: { valueSet: [1, 2] },
        },
        hover: { contentFormat: ["markdown", "plaintext"], dynamicRegistration: true },
        completion: {
          dynamicRegistration: true,
          completionItem: {
            snippetSupport: true,
            documentationFormat: ["markdown"],
            resolveSupport: { properties: ["documentation", "detail"] },
          },
        },
        codeAction: {
          codeActionLiteralSupport: {
            codeActionKind: { valueSet: ["", "quickfix", "refactor", "source", "source.fixAll"] },
          },
          resolveSupport: { properties: ["edit"] },
          dataSupport: true,
          isPreferredSupport: true,
          disabledSupport: true,
        },
        inlayHint: { resolveSupport: { properties: ["tooltip"] } },
        documentSymbol: { hierarchicalDocumentSymbolSupport: true },
        semanticTokens: {
          requests: { full: { delta: true } },
          tokenTypes: [],
          tokenModifiers: [],
          formats: ["relative"],
        },
        foldingRange: { lineFoldingOnly: true },
      },
      experimental: { serverStatusNotification: true },
    },
  },
  { started, ended, notified, asked },
);

const panels = new Panels(client, editor, PROGRAM);

let hasStarted = false;

function started(): void {
  hasStarted = true;
  takeBack("server");
  status("checked");
  providers.forEach((it) => {
    it.dispose();
  });
  sent.clear();
  providers = register(client, LEGEND, refresh.event, [
    "%",
    "^",
    "@",
    "!",
    "#",
    ".",
    "[",
    "=",
    '"',
  ]);
  sendSettings();
  [settings, program].forEach(send);
}

/** The settings that count: none if they are too long. */
function sendSettings(): void {
  const text = settings.getValueLength() > MOST ? null : settings.getValue();
  client.notify("noisy/files", { files: { [FILE]: text } });
}

function ended(why: string, again: boolean): void {
  sent.clear();
  busy("");
  status(again ? "starting again" : "no server");
  const hasWebAssembly = typeof WebAssembly === "object";
  banner(
    "server",
    again
      ? `The server stopped (${why}) and is restarted. Your text is kept.`
      : `There is no server: ${why}. Your text is kept. ${
          hasStarted
            ? "Undo your last change and restart the server."
            : hasWebAssembly
              ? "Reload the page; if that does not help, use another browser."
              : "Use another browser to check it."
        }`,
    !again && hasWebAssembly,
  );
}

/** Has the server hold a text, or let go of one that is too long. */
function send(model: monaco.editor.ITextModel): void {
  const uri = model.uri.toString();
  if (model.getValueLength() > MOST) {
    if (sent.delete(model)) {
      client.notify("textDocument/didClose", { textDocument: { uri } });
    }
    show({ uri, diagnostics: [] });
    banner(
      "length",
      `The text has more than ${String(MOST / 1e6)} million characters: too many for a browser. Use noisy-check for it.`,
    );
    return;
  }
  takeBack("length");
  if (client.isRunning && !sent.has(model)) {
    sent.add(model);
    client.notify("textDocument/didOpen", {
      textDocument: {
        uri,
        languageId: model.getLanguageId(),
        version: model.getVersionId(),
        text: model.getValue(),
      },
    });
  }
}

for (const model of [program, settings]) {
  model.onDidChangeContent((event) => {
    takeBack("event");
    if (!sent.has(model) || model.getValueLength() > MOST) {
      send(model);
    } else {
      client.notify("textDocument/didChange", {
        textDocument: { uri: model.uri.toString(), version: model.getVersionId() },
        contentChanges: event.changes.map((it) => ({
          range: {
            start: { line: it.range.startLineNumber - 1, character: it.range.startColumn - 1 },
            end: { line: it.range.endLineNumber - 1, character: it.range.endColumn - 1 },
          },
          text: it.text,
        })),
      });
    }
    later();
    if (model === settings) {
      sendSettings();
    } else {
      panels.changed();
    }
  });
}

/** Shows diagnostics as squiggles and in the panel. */
function show(params: { uri: string; diagnostics: lsp.Diagnostic[] }): void {
  diagnostics.set(params.uri, params.diagnostics);
  const model = monaco.editor.getModel(monaco.Uri.parse(params.uri));
  if (model === null) {
    return;
  }
  const { MarkerSeverity } = monaco;
  const severity = [
    MarkerSeverity.Error,
    MarkerSeverity.Error,
    MarkerSeverity.Warning,
    MarkerSeverity.Info,
    MarkerSeverity.Hint,
  ];
  const place = (it: lsp.Range) => {
    const { startLineNumber, startColumn, endLineNumber, endColumn } = range(it);
    return { startLineNumber, startColumn, endLineNumber, endColumn };
  };
  monaco.editor.setModelMarkers(
    model,
    "noisy",
    params.diagnostics.map((it) => ({
      ...place(it.range),
      message: typeof it.message === "string" ? it.message : it.message.value,
      severity: severity[it.severity ?? 1]!,
      source: it.source,
      code: it.code === undefined ? undefined : String(it.code),
      tags: it.tags as monaco.MarkerTag[] | undefined,
      relatedInformation: it.relatedInformation?.map((one) => ({
        ...place(one.location.range),
        resource: monaco.Uri.parse(one.location.uri),
        message: one.message,
      })),
    })),
  );
  if (params.uri === PROGRAM) {
    panels.showProblems(params.diagnostics);
    performance.mark("noisy-diagnostics");
  }
}

let progress: string | undefined;

function busy(text: string): void {
  element("progress").textContent = text;
  element("cancel").hidden = text === "";
}

function notified(method: string, params: unknown): void {
  if (method === "textDocument/publishDiagnostics") {
    show(params as { uri: string; diagnostics: lsp.Diagnostic[] });
  } else if (method === "experimental/serverStatus") {
    const { quiescent, message, health } = params as {
      quiescent: boolean;
      message?: string;
      health: string;
    };
    status(message ?? (quiescent ? (health === "ok" ? "checked" : health) : "working"));
  } else if (method === "$/progress") {
    const { token, value } = params as {
      token: string;
      value: { kind: string; title?: string; message?: string };
    };
    progress = value.kind === "end" ? undefined : token;
    busy(value.kind === "end" ? "" : (value.message ?? value.title ?? ""));
  } else if (method === "window/showMessage") {
    const { type, message } = params as { type: number; message: string };
    if (type <= 2) {
      banner("event", message);
    } else {
      status(message);
    }
  }
}

async function asked(method: string, params: unknown): Promise<unknown> {
  switch (method) {
    case "workspace/applyEdit": {
      const { edit, label } = params as { edit: lsp.WorkspaceEdit; label?: string };
      const applied = await preview(edit, label ?? "Insert reduce_noise");
      return applied ? { applied } : { applied, failureReason: "you cancelled" };
    }
    case "workspace/configuration":
      return (params as { items: unknown[] }).items.map(() => null);
    case "workspace/inlayHint/refresh":
    case "workspace/codeLens/refresh":
      refresh.fire();
      return null;
    default:
      return null;
  }
}

let diff: monaco.editor.IStandaloneDiffEditor | undefined;

/** Shows what an edit changes, and makes it if the user says so. */
async function preview(edit: lsp.WorkspaceEdit, title: string): Promise<boolean> {
  const edits = editsOf(edit, PROGRAM).map((it) => ({ range: range(it.range), text: it.newText }));
  const version = program.getVersionId();
  const before = monaco.editor.createModel(program.getValue(), "plaintext");
  const after = monaco.editor.createModel(program.getValue(), "plaintext");
  after.pushEditOperations([], edits, () => null);
  const dialog = element<HTMLDialogElement>("preview");
  element("preview-title").textContent = title;
  dialog.returnValue = "cancel";
  dialog.showModal();
  // One for all previews: disposing it would take services along that the program's editor uses.
  diff ??= monaco.editor.createDiffEditor(element("preview-diff"), {
    automaticLayout: true,
    readOnly: true,
    useInlineViewWhenSpaceIsLimited: true,
    minimap: { enabled: false },
    hideUnchangedRegions: { enabled: true },
    ariaLabel: "What changes",
  } as monaco.editor.IStandaloneDiffEditorConstructionOptions);
  diff.setModel({ original: before, modified: after });
  await new Promise((closed) => {
    dialog.addEventListener("close", closed, { once: true });
  });
  diff.setModel(null);
  before.dispose();
  after.dispose();
  editor.focus();
  if (dialog.returnValue !== "apply") {
    return false;
  }
  if (program.getVersionId() !== version) {
    banner("event", "The program has changed meanwhile, so nothing was applied.");
    return false;
  }
  editor.pushUndoStop();
  editor.executeEdits("noisy", edits);
  editor.pushUndoStop();
  return true;
}

/** Does something, and says why if that is not possible. */
async function attempt<T>(act: () => Promise<T>): Promise<T | undefined> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refused)) {
      throw error;
    }
    status(error.message);
    return undefined;
  }
}

const execute = (command: string, ...args: unknown[]) =>
  attempt(() => client.ask("workspace/executeCommand", { command, arguments: args }));

const place = () => execute("noisy.insertReduceNoise", { uri: PROGRAM });

monaco.editor.registerCommand("noisy.insertReduceNoise", (_: unknown, ...args: unknown[]) =>
  execute("noisy.insertReduceNoise", ...args),
);
monaco.editor.registerCommand("noisy.preview", async (_: unknown, action: lsp.CodeAction) => {
  const resolved = await attempt(() => client.ask<lsp.CodeAction>("codeAction/resolve", action));
  if (resolved?.edit !== undefined) {
    await preview(resolved.edit, resolved.title);
  }
});

async function share(): Promise<void> {
  const hash = await fragment({ program: program.getValue(), settings: settings.getValue() });
  if (hash.length > LONGEST) {
    banner(
      "event",
      `The program is too long for a link (${String(hash.length)} characters, ${String(LONGEST)} at most).`,
    );
    return;
  }
  history.replaceState(null, "", hash);
  try {
    await navigator.clipboard.writeText(location.href);
    status("the link is on the clipboard");
  } catch {
    status("the link is in the address bar");
  }
}

/** Keeps the fragment up to date, so that the address is always a link to what is shown. */
let timer: ReturnType<typeof setTimeout> | undefined;
function later(): void {
  clearTimeout(timer);
  timer = setTimeout(() => {
    const bare = location.pathname + location.search;
    if (Math.max(program.getValueLength(), settings.getValueLength()) > 1_000_000) {
      written = "";
      history.replaceState(null, "", bare);
      return;
    }
    void fragment({ program: program.getValue(), settings: settings.getValue() }).then((hash) => {
      written = hash;
      history.replaceState(null, "", hash.length > LONGEST ? bare : hash);
    });
  }, 400);
}
let written = "";

const examples = element<HTMLSelectElement>("example");
for (const it of EXAMPLES) {
  examples.add(new Option(it.name, it.id));
}
examples.onchange = (): void => {
  choose(examples.value);
};

function choose(id: string): void {
  const it = EXAMPLES.find((one) => one.id === id) ?? EXAMPLES[0]!;
  examples.value = it.id;
  settings.setValue(it.settings ?? "");
  program.setValue(it.program);
}

/** Opens what the address names: a shared program, or an example by `?example=NAME`. */
async function open(): Promise<void> {
  const wanted = new URLSearchParams(location.search).get("example");
  try {
    const it = await shared(location.hash);
    if (it !== undefined) {
      examples.selectedIndex = -1;
      settings.setValue(it.settings);
      program.setValue(it.program);
      return;
    }
  } catch (error) {
    const why =
      error instanceof Error && error.message.startsWith("it ")
        ? error.message
        : "a part of it is missing or changed";
    const isEmpty = program.getValueLength() === 0;
    if (isEmpty) {
      choose(wanted ?? "");
    }
    banner(
      "event",
      `This link is damaged (${why}), so ${isEmpty ? "an example is shown" : "your text is kept"}. Ask for the link again.`,
    );
    return;
  }
  choose(wanted ?? "");
}

const themes = element<HTMLSelectElement>("theme");
const prefers = (what: string): boolean => matchMedia(`(${what})`).matches;
function theme(): void {
  const isDark = prefers("prefers-color-scheme: dark");
  const isContrast = prefers("prefers-contrast: more") || prefers("forced-colors: active");
  const auto = `${isContrast ? "contrast-" : ""}${isDark ? "dark" : "light"}`;
  const name = themes.value === "auto" ? auto : themes.value;
  document.documentElement.dataset["theme"] = name;
  monaco.editor.setTheme(name);
}
themes.value = localStorage.getItem("theme") ?? "auto";
themes.onchange = (): void => {
  localStorage.setItem("theme", themes.value);
  theme();
};
for (const it of [
  "prefers-color-scheme: dark",
  "prefers-contrast: more",
  "forced-colors: active",
]) {
  matchMedia(`(${it})`).onchange = theme;
}
theme();

element("place").onclick = (): void => void place();
element("format").onclick = (): void =>
  void editor.getAction("editor.action.formatDocument")?.run();
element("share").onclick = (): void => void share();
element("again").onclick = (): void => void client.restart();
element("cancel").onclick = (): void => {
  client.notify("window/workDoneProgress/cancel", { token: progress });
};
addEventListener("keydown", (event) => {
  const act = {
    KeyP: place,
    KeyS: share,
    KeyG: () => panels.open("graph"),
    KeyE: () => panels.open("explain"),
  }[event.code];
  if (act !== undefined && event.altKey && !event.shiftKey && !event.ctrlKey && !event.metaKey) {
    event.preventDefault();
    void act();
  }
});
addEventListener("hashchange", () => {
  if (location.hash !== written) {
    void open();
  }
});

/** The kinds of tokens that the server names. */
const LEGEND: lsp.SemanticTokensLegend = {
  tokenTypes: [
    "comment",
    "string",
    "number",
    "keyword",
    "macro",
    "variable",
    "function",
    "label",
    "type",
    "decorator",
    "property",
  ],
  tokenModifiers: ["definition", "noisy"],
};

void open();
void client.run();
if ("serviceWorker" in navigator) {
  navigator.serviceWorker.register("offline.js").catch((error: unknown) => {
    console.warn(`no offline use: ${String(error)}`);
  });
}
// For the console and for tests.
(globalThis as { noisy?: object }).noisy = { editor, program, settings, client };
