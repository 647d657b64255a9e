/** The answers of the server as providers of Monaco. */

import * as monaco from "monaco-editor/editor/editor.api.js";
import { Refused, type Client } from "./client.ts";
import type * as lsp from "vscode-languageserver-types";

type Model = monaco.editor.ITextModel;
type Token = monaco.CancellationToken;

export const LANGUAGE = "mlir";
export const SETTINGS = "noisy-toml";

export const range = (it: lsp.Range): monaco.Range =>
  new monaco.Range(
    it.start.line + 1,
    it.start.character + 1,
    it.end.line + 1,
    it.end.character + 1,
  );

export const toRange = (it: monaco.IRange): lsp.Range => ({
  start: { line: it.startLineNumber - 1, character: it.startColumn - 1 },
  end: { line: it.endLineNumber - 1, character: it.endColumn - 1 },
});

const toPosition = (it: monaco.IPosition): lsp.Position => ({
  line: it.lineNumber - 1,
  character: it.column - 1,
});

const document = (model: Model) => ({ textDocument: { uri: model.uri.toString() } });
const at = (model: Model, position: monaco.IPosition) => ({
  ...document(model),
  position: toPosition(position),
});

const edit = (it: lsp.TextEdit): monaco.languages.TextEdit => ({
  range: range(it.range),
  text: it.newText,
});

const location = (it: lsp.Location): monaco.languages.Location => ({
  uri: monaco.Uri.parse(it.uri),
  range: range(it.range),
});

type Markup = lsp.MarkupContent | lsp.MarkedString | lsp.MarkedString[];

const markdown = (it: Markup): monaco.IMarkdownString[] => {
  if (Array.isArray(it)) {
    return it.flatMap(markdown);
  }
  if (typeof it === "string") {
    return [{ value: it }];
  }
  if ("language" in it) {
    return [{ value: `\`\`\`${it.language}\n${it.value}\n\`\`\`` }];
  }
  return [{ value: it.value }];
};

const documentation = (
  it: string | lsp.MarkupContent | undefined,
): string | monaco.IMarkdownString | undefined =>
  typeof it === "object" ? { value: it.value } : it;

/** The edits of a document, in the layout of Monaco. */
export function editsOf(it: lsp.WorkspaceEdit, uri: string): lsp.TextEdit[] {
  const changes = (it.documentChanges ?? []).flatMap((change) =>
    "textDocument" in change && change.textDocument.uri === uri ? change.edits : [],
  );
  return [...(it.changes?.[uri] ?? []), ...(changes as lsp.TextEdit[])];
}

const workspaceEdit = (it: lsp.WorkspaceEdit, model: Model): monaco.languages.WorkspaceEdit => ({
  edits: editsOf(it, model.uri.toString()).map((one) => ({
    resource: model.uri,
    versionId: undefined,
    textEdit: edit(one),
  })),
});

/** Codes as they are sent: the server expects the diagnostics that it sent. */
export const diagnostics = new Map<string, lsp.Diagnostic[]>();

export function register(
  client: Client,
  legend: lsp.SemanticTokensLegend,
  refresh: monaco.IEvent<void>,
  triggers: string[],
): monaco.IDisposable[] {
  const { languages } = monaco;
  /** An answer about a text that has changed is none; Monaco asks again by itself. */
  const ask = async <T>(method: string, params: object, token: Token): Promise<T | null> => {
    try {
      return await client.ask<T | null>(method, params, token);
    } catch (error) {
      if (error instanceof Refused) {
        return null;
      }
      throw error;
    }
  };
  const both = [LANGUAGE, SETTINGS];

  return [
    languages.registerHoverProvider(both, {
      async provideHover(model, position, token) {
        const it = await ask<lsp.Hover>("textDocument/hover", at(model, position), token);
        return (
          it && { contents: markdown(it.contents), ...(it.range ? { range: range(it.range) } : {}) }
        );
      },
    }),

    languages.registerCompletionItemProvider(both, {
      triggerCharacters: triggers,
      async provideCompletionItems(model, position, context, token) {
        const found = await ask<lsp.CompletionList | lsp.CompletionItem[]>(
          "textDocument/completion",
          {
            ...at(model, position),
            context: {
              triggerKind: context.triggerKind + 1,
              triggerCharacter: context.triggerCharacter,
            },
          },
          token,
        );
        const list = Array.isArray(found) ? { items: found, isIncomplete: false } : found;
        const word = model.getWordUntilPosition(position);
        const here = new monaco.Range(
          position.lineNumber,
          word.startColumn,
          position.lineNumber,
          word.endColumn,
        );
        return {
          incomplete: list?.isIncomplete ?? false,
          suggestions: (list?.items ?? []).map((it) => {
            const of = it.textEdit && "range" in it.textEdit ? it.textEdit : undefined;
            return {
              label: it.labelDetails ? { label: it.label, ...it.labelDetails } : it.label,
              kind: (it.kind ?? 1) === 1 ? languages.CompletionItemKind.Text : kindOf(it.kind!),
              detail: it.detail,
              documentation: documentation(it.documentation),
              sortText: it.sortText,
              filterText: it.filterText,
              insertText: of?.newText ?? it.insertText ?? it.label,
              insertTextRules:
                it.insertTextFormat === 2
                  ? languages.CompletionItemInsertTextRule.InsertAsSnippet
                  : undefined,
              range: of ? range(of.range) : here,
              additionalTextEdits: it.additionalTextEdits?.map(edit),
              own: it,
            } as monaco.languages.CompletionItem;
          }),
        };
      },
      async resolveCompletionItem(item, token) {
        const { own } = item as unknown as { own: lsp.CompletionItem };
        const it = await ask<lsp.CompletionItem>("completionItem/resolve", own, token);
        return it
          ? { ...item, detail: it.detail, documentation: documentation(it.documentation) }
          : item;
      },
    } as monaco.languages.CompletionItemProvider),

    languages.registerSignatureHelpProvider(LANGUAGE, {
      signatureHelpTriggerCharacters: ["(", ",", " "],
      async provideSignatureHelp(model, position, token) {
        const it = await ask<lsp.SignatureHelp>(
          "textDocument/signatureHelp",
          at(model, position),
          token,
        );
        return it && { value: it as monaco.languages.SignatureHelp, dispose: () => undefined };
      },
    }),

    languages.registerInlayHintsProvider(LANGUAGE, {
      onDidChangeInlayHints: refresh,
      async provideInlayHints(model, within, token) {
        const all = await ask<lsp.InlayHint[]>(
          "textDocument/inlayHint",
          { ...document(model), range: toRange(within) },
          token,
        );
        return {
          hints: (all ?? []).map((it) => ({
            label:
              typeof it.label === "string"
                ? it.label
                : it.label.map((part) => ({ label: part.value })),
            position: { lineNumber: it.position.line + 1, column: it.position.character + 1 },
            kind: it.kind as monaco.languages.InlayHintKind | undefined,
            paddingLeft: it.paddingLeft,
            paddingRight: it.paddingRight,
            own: it,
          })) as unknown as monaco.languages.InlayHint[],
          dispose: () => undefined,
        };
      },
      async resolveInlayHint(hint, token) {
        const { own } = hint as unknown as { own: lsp.InlayHint };
        const it = await ask<lsp.InlayHint>("inlayHint/resolve", own, token);
        return it
          ? ({ ...hint, tooltip: documentation(it.tooltip) } as monaco.languages.InlayHint)
          : hint;
      },
    }),

    languages.registerDocumentSemanticTokensProvider(LANGUAGE, {
      getLegend: () => legend,
      async provideDocumentSemanticTokens(model, last, token) {
        const method = `textDocument/semanticTokens/full${last ? "/delta" : ""}`;
        const it = await ask<lsp.SemanticTokens | lsp.SemanticTokensDelta>(
          method,
          { ...document(model), previousResultId: last },
          token,
        );
        if (it === null) {
          // Monaco asks again when this fails, and shows no tokens where it is empty.
          throw new Error("content modified");
        }
        return "edits" in it
          ? {
              resultId: it.resultId,
              edits: it.edits.map((one) => ({ ...one, data: new Uint32Array(one.data ?? []) })),
            }
          : { resultId: it.resultId, data: new Uint32Array(it.data) };
      },
      releaseDocumentSemanticTokens: () => undefined,
    } as monaco.languages.DocumentSemanticTokensProvider),

    languages.registerCodeLensProvider(LANGUAGE, {
      onDidChange: refresh as unknown as monaco.IEvent<monaco.languages.CodeLensProvider>,
      async provideCodeLenses(model, token) {
        const all = await ask<lsp.CodeLens[]>("textDocument/codeLens", document(model), token);
        return {
          lenses: (all ?? []).map((it) => ({
            range: range(it.range),
            command: it.command && {
              id: it.command.command,
              title: it.command.title,
              arguments: it.command.arguments,
            },
          })) as monaco.languages.CodeLens[],
          dispose: () => undefined,
        };
      },
    }),

    languages.registerCodeActionProvider(LANGUAGE, {
      async provideCodeActions(model, within, context, token) {
        const known = diagnostics.get(model.uri.toString()) ?? [];
        const here = monaco.Range.lift(within);
        const all = await ask<lsp.CodeAction[]>(
          "textDocument/codeAction",
          {
            ...document(model),
            range: toRange(within),
            context: {
              diagnostics: known.filter((it) =>
                monaco.Range.areIntersectingOrTouching(range(it.range), here),
              ),
              triggerKind: context.trigger,
              ...(context.only ? { only: [context.only] } : {}),
            },
          },
          token,
        );
        return {
          actions: (all ?? []).map((it) => ({
            title: it.title,
            kind: it.kind,
            isPreferred: it.isPreferred,
            disabled: it.disabled?.reason,
            ...(it.edit ? { edit: workspaceEdit(it.edit, model) } : {}),
            // What takes time is shown before it is applied.
            ...(it.edit || it.disabled
              ? {}
              : { command: { id: "noisy.preview", title: it.title, arguments: [it] } }),
          })) as monaco.languages.CodeAction[],
          dispose: () => undefined,
        };
      },
    }),

    languages.registerDocumentFormattingEditProvider(LANGUAGE, {
      async provideDocumentFormattingEdits(model, options, token) {
        return (
          await ask<lsp.TextEdit[]>(
            "textDocument/formatting",
            { ...document(model), options },
            token,
          )
        )?.map(edit);
      },
    }),

    languages.registerDocumentRangeFormattingEditProvider(LANGUAGE, {
      async provideDocumentRangeFormattingEdits(model, within, options, token) {
        const params = { ...document(model), range: toRange(within), options };
        return (await ask<lsp.TextEdit[]>("textDocument/rangeFormatting", params, token))?.map(
          edit,
        );
      },
    }),

    languages.registerOnTypeFormattingEditProvider(LANGUAGE, {
      autoFormatTriggerCharacters: ["\n", "}"],
      async provideOnTypeFormattingEdits(model, position, ch, options, token) {
        const params = { ...at(model, position), ch, options };
        return (await ask<lsp.TextEdit[]>("textDocument/onTypeFormatting", params, token))?.map(
          edit,
        );
      },
    }),

    languages.registerDefinitionProvider(LANGUAGE, {
      async provideDefinition(model, position, token) {
        const it = await ask<lsp.Location | lsp.Location[]>(
          "textDocument/definition",
          at(model, position),
          token,
        );
        return it && (Array.isArray(it) ? it : [it]).map(location);
      },
    }),

    languages.registerReferenceProvider(LANGUAGE, {
      async provideReferences(model, position, context, token) {
        const params = { ...at(model, position), context };
        return (await ask<lsp.Location[]>("textDocument/references", params, token))?.map(location);
      },
    }),

    languages.registerDocumentHighlightProvider(LANGUAGE, {
      async provideDocumentHighlights(model, position, token) {
        const all = await ask<lsp.DocumentHighlight[]>(
          "textDocument/documentHighlight",
          at(model, position),
          token,
        );
        return all?.map((it) => ({
          range: range(it.range),
          kind: ((it.kind ?? 1) - 1) as monaco.languages.DocumentHighlightKind,
        }));
      },
    }),

    languages.registerRenameProvider(LANGUAGE, {
      async provideRenameEdits(model, position, newName, token) {
        try {
          const it = await client.ask<lsp.WorkspaceEdit | null>(
            "textDocument/rename",
            { ...at(model, position), newName },
            token,
          );
          return it === null
            ? { edits: [], rejectReason: "nothing to rename here" }
            : workspaceEdit(it, model);
        } catch (error) {
          return {
            edits: [],
            rejectReason: error instanceof Error ? error.message : String(error),
          };
        }
      },
    }),

    languages.registerFoldingRangeProvider(LANGUAGE, {
      async provideFoldingRanges(model, _, token) {
        const all = await ask<lsp.FoldingRange[]>(
          "textDocument/foldingRange",
          document(model),
          token,
        );
        return all?.map((it) => ({ start: it.startLine + 1, end: it.endLine + 1 }));
      },
    }),

    languages.registerSelectionRangeProvider(LANGUAGE, {
      async provideSelectionRanges(model, positions, token) {
        const params = { ...document(model), positions: positions.map(toPosition) };
        const all = await ask<lsp.SelectionRange[]>("textDocument/selectionRange", params, token);
        return all?.map((it) => {
          const chain = [];
          for (let at: lsp.SelectionRange | undefined = it; at !== undefined; at = at.parent) {
            chain.push({ range: range(at.range) });
          }
          return chain;
        });
      },
    }),

    languages.registerDocumentSymbolProvider(LANGUAGE, {
      async provideDocumentSymbols(model, token) {
        const all = await ask<lsp.DocumentSymbol[]>(
          "textDocument/documentSymbol",
          document(model),
          token,
        );
        const symbol = (it: lsp.DocumentSymbol): monaco.languages.DocumentSymbol => ({
          name: it.name,
          detail: it.detail ?? "",
          kind: (it.kind - 1) as monaco.languages.SymbolKind,
          tags: [],
          range: range(it.range),
          selectionRange: range(it.selectionRange),
          children: it.children?.map(symbol) ?? [],
        });
        return all?.map(symbol);
      },
    }),
  ];
}

/** The kinds of completion have other numbers in Monaco. */
function kindOf(kind: lsp.CompletionItemKind): monaco.languages.CompletionItemKind {
  const of = monaco.languages.CompletionItemKind;
  const all = [
    of.Text,
    of.Text,
    of.Method,
    of.Function,
    of.Constructor,
    of.Field,
    of.Variable,
    of.Class,
    of.Interface,
    of.Module,
    of.Property,
    of.Unit,
    of.Value,
    of.Enum,
    of.Keyword,
    of.Snippet,
    of.Color,
    of.File,
    of.Reference,
    of.Folder,
    of.EnumMember,
    of.Constant,
    of.Struct,
    of.Event,
    of.Operator,
    of.TypeParameter,
  ];
  return all[kind] ?? of.Text;
}
