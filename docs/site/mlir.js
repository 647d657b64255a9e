// Colors MLIR in blocks of code; highlight.js has no grammar for it.
"use strict";

hljs.registerLanguage("mlir", () => ({
  contains: [
    { className: "comment", begin: "//", end: "$" },
    { className: "string", begin: '"', end: '"' },
    { className: "type", begin: /![\w$.-]+|\b(?:[su]?i[0-9]+|b?f[0-9]+|index|tensor|memref|vector|none)\b/ },
    { className: "title", begin: /@[\w$.-]+/ },
    { className: "variable", begin: /%[\w$.#-]+/ },
    { className: "symbol", begin: /#[\w$.-]+|\^[\w$.-]+/ },
    { className: "keyword", begin: /\b[a-z_]\w*(?:\.\w+)+\b|\breturn\b|\bmodule\b/ },
    { className: "number", begin: /-?\b[0-9]+(?:\.[0-9]+(?:[eE][+-]?[0-9]+)?)?\b/ },
  ],
}));
for (const block of document.querySelectorAll("code.language-mlir")) {
  hljs.highlightBlock(block);
}
