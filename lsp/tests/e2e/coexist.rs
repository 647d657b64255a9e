//! Features of another server for MLIR are not offered twice.

use serde_json::{Value, json};

use crate::client::{Client, URI, capabilities, illegal, range};

/// Capabilities of `mlir-lsp-server` of LLVM 19, except for those to which both servers contribute:
/// hover, diagnostics and code actions.
const LLVM_SERVER_CAPABILITIES: [&str; 4] =
    ["completionProvider", "definitionProvider", "documentSymbolProvider", "referencesProvider"];

/// Further capabilities that another server for MLIR may have.
const OTHER_SERVER_CAPABILITIES: [&str; 9] = [
    "callHierarchyProvider",
    "documentHighlightProvider",
    "foldingRangeProvider",
    "linkedEditingRangeProvider",
    "renameProvider",
    "selectionRangeProvider",
    "semanticTokensProvider",
    "signatureHelpProvider",
    "workspaceSymbolProvider",
];

fn only_noise() -> (Client, Value) {
    let mut capabilities = capabilities();
    capabilities["textDocument"]["publishDiagnostics"]["tagSupport"] = json!({ "valueSet": [1] });
    Client::with(capabilities, json!({ "features": { "onlyNoise": true } }))
}

#[test]
fn does_not_offer_features_of_another_server() {
    let (_, everything) = Client::with(capabilities(), Value::Null);
    let (_, server) = only_noise();
    for provider in LLVM_SERVER_CAPABILITIES.iter().chain(&OTHER_SERVER_CAPABILITIES) {
        assert!(everything.get(*provider).is_some_and(|it| *it != false), "{provider} by default");
        assert!(server.get(*provider).is_none(), "{provider} beside another server");
    }
    let mut left: Vec<&str> =
        server.as_object().expect("capabilities").keys().map(|it| &**it).collect();
    left.sort_unstable();
    let wanted = [
        "codeActionProvider",
        "codeLensProvider",
        "documentLinkProvider",
        "executeCommandProvider",
        "hoverProvider",
        "inlayHintProvider",
        "positionEncoding",
        "textDocumentSync",
        "workspace",
    ];
    assert_eq!(left, wanted);
}

#[test]
fn reports_only_noise() {
    let (mut client, _) = only_noise();
    // An undefined name, and noise over the budget.
    client.open(URI, &format!("{}\"t.a\"(%u) : (i32) -> ()\n", illegal()));
    let codes: Vec<_> = client.diagnostics(URI, 1).iter().map(|it| it["code"].clone()).collect();
    assert_eq!(codes, ["noise-overflow"]);
    // Hovers of this server show noise; the other server shows the rest.
    let hover = client.at("hover", URI, 3, 3);
    assert!(hover["contents"]["value"].as_str().is_some_and(|it| it.contains("noise")), "{hover}");
    assert!(client.at("hover", URI, 0, 14).is_null(), "an argument that is not noisy");
    assert!(client.at("hover", URI, 0, 11).is_null(), "a symbol");
    let hints = client.request_about("inlayHint", URI, json!({ "range": range(3, 0, 80) }));
    assert!(hints.as_array().is_some_and(|it| !it.is_empty()));
}
