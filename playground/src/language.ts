/** MLIR before the server has answered, and the themes. */

import * as monaco from "monaco-editor/editor/editor.api.js";
import { LANGUAGE, SETTINGS } from "./providers.ts";

export function registerLanguages(): void {
  monaco.languages.register({ id: LANGUAGE, extensions: [".mlir"] });
  monaco.languages.setLanguageConfiguration(LANGUAGE, {
    comments: { lineComment: "//" },
    brackets: [
      ["{", "}"],
      ["[", "]"],
      ["(", ")"],
    ],
    autoClosingPairs: ["{}", "[]", "()", '""'].map(([open, close]) => ({
      open: open!,
      close: close!,
    })),
    wordPattern: /[%@^#!]?[\w$.-]+/,
  });
  // The server says the rest.
  monaco.languages.setMonarchTokensProvider(LANGUAGE, {
    tokenizer: {
      root: [
        [/\/\/.*$/, "comment"],
        [/"(?:[^"\\]|\\.)*"?/, "string"],
        [/%[\w$.-]+(?:#\d+)?/, "variable"],
        [/@[\w$.-]+/, "function"],
        [/\^[\w$.-]+/, "label"],
        [/![\w$.-]+|\b(?:i|f|si|ui)\d+\b|\bindex\b/, "type"],
        [/#[\w$.-]+/, "decorator"],
        [/\b[a-z_]\w*(?:\.\w+)+/, "macro"],
        [/-?\b\d[\w.]*/, "number"],
      ],
    },
  });
  monaco.languages.register({ id: SETTINGS, extensions: [".toml"] });
  monaco.languages.setLanguageConfiguration(SETTINGS, { comments: { lineComment: "#" } });
  monaco.languages.setMonarchTokensProvider(SETTINGS, {
    tokenizer: {
      root: [
        [/#.*$/, "comment"],
        [/^\s*\[\[?[^\]]*\]\]?/, "type"],
        [/"(?:[^"\\]|\\.)*"?|'[^']*'?/, "string"],
        [/\b(?:true|false)\b|-?\b\d[\d._]*\b/, "number"],
        [/[\w-]+(?=\s*=)/, "property"],
      ],
    },
  });
  const dark = rules({
    comment: "7ca668",
    string: "ce9178",
    number: "b5cea8",
    macro: "c586c0",
    variable: "9cdcfe",
    function: "dcdcaa",
    label: "d7ba7d",
    type: "4ec9b0",
    decorator: "d7ba7d",
    property: "9cdcfe",
    keyword: "569cd6",
  });
  const light = rules({
    comment: "006400",
    string: "a31515",
    number: "096846",
    macro: "8f1fa8",
    variable: "0a3a75",
    function: "6d4f00",
    label: "6b4a00",
    type: "1d6a80",
    decorator: "6b4a00",
    property: "0a3a75",
    keyword: "0000c0",
  });
  const theme = (base: monaco.editor.BuiltinTheme, of: monaco.editor.ITokenThemeRule[]) => ({
    base,
    inherit: true,
    rules: of,
    colors: {},
  });
  monaco.editor.defineTheme("light", theme("vs", light));
  monaco.editor.defineTheme("dark", theme("vs-dark", dark));
  monaco.editor.defineTheme("contrast-light", theme("hc-light", light));
  monaco.editor.defineTheme("contrast-dark", theme("hc-black", dark));
}

function rules(colors: Record<string, string>): monaco.editor.ITokenThemeRule[] {
  const noisy = { token: "variable.noisy", fontStyle: "bold" };
  return [...Object.entries(colors).map(([token, foreground]) => ({ token, foreground })), noisy];
}
