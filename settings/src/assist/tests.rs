use super::*;

/// Returns the proposals at the `|` of a text, each as the replaced word and the resulting line.
fn proposed(text: &str) -> Vec<String> {
    let offset = text.find('|').expect("a cursor");
    let text = text.replacen('|', "", 1);
    let found = complete(&text, offset);
    found.all.iter().map(|it| it.label.clone()).collect()
}

/// Returns the text after accepting a proposal at the `|`.
fn taken(text: &str, label: &str) -> String {
    let offset = text.find('|').expect("a cursor");
    let mut text = text.replacen('|', "", 1);
    let found = complete(&text, offset);
    let it = found.all.iter().find(|it| it.label == label).expect("a proposal");
    text.replace_range(found.replaced_range, &it.text);
    text
}

fn explained(text: &str) -> Option<String> {
    let offset = text.find('|').expect("a cursor");
    explain(&text.replacen('|', "", 1), offset).map(|it| it.text)
}

#[test]
fn proposes_missing_keys_of_the_table() {
    let all =
        ["exclude", "extends", "heir", "hints", "loops", "model", "placement", "rewrite", "rules"];
    assert_eq!(proposed("|"), all);
    assert_eq!(
        proposed("# a comment\n\n|\n[hints]\n"),
        all.map(|it| it).into_iter().filter(|it| *it != "hints").collect::<Vec<_>>()
    );
    let placement = ["objective", "replace", "time-limit"];
    assert_eq!(proposed("[placement]\n|"), placement);
    assert_eq!(proposed("[placement]\nrep|"), placement);
    assert_eq!(proposed("[placement]\nre|p = true\n"), placement);
    assert_eq!(proposed("[placement]\nreplace = true\n|\nobjective = \"count\"\n"), ["time-limit"]);
    assert_eq!(proposed("placement.|"), placement);
    assert_eq!(proposed("placement = { replace = true, | }"), ["objective", "time-limit"]);
    assert_eq!(
        proposed("[model.ops.\"noisy.mul\"]\n|").first().map(String::as_str),
        Some("attribute")
    );
    assert!(proposed("[model.ops]\n|").contains(&"\"noisy.mul\"".to_owned()));
    assert!(proposed("[rules]\n|").contains(&"redundant-reduce".to_owned()));
}

#[test]
fn proposes_headers_of_tables() {
    assert_eq!(
        proposed("[|"),
        ["heir", "hints", "loops", "model", "placement", "rewrite", "rules"]
    );
    assert_eq!(
        proposed("[|]\n"),
        ["heir", "hints", "loops", "model", "placement", "rewrite", "rules"]
    );
    assert_eq!(
        proposed("[hints]\n[mo|]\n"),
        ["heir", "loops", "model", "placement", "rewrite", "rules"]
    );
    assert_eq!(proposed("[model.|]"), ["insert", "ops"]);
    assert_eq!(proposed("[[|]]"), ["overrides"]);
    let overrides = ["files", "heir", "model", "placement", "rewrite", "rules"];
    assert_eq!(proposed("[[overrides]]\n|"), overrides);
    assert_eq!(
        proposed("[[overrides]]\nfiles = [\"a\"]\n[[overrides]]\n|"),
        overrides,
        "each its own"
    );
    assert!(proposed("[[overrides]]\n[overrides.rules]\n|").contains(&"lint".to_owned()));
}

#[test]
fn proposes_values() {
    let levels = ["\"off\"", "\"on\"", "\"hint\"", "\"info\"", "\"warning\"", "\"error\""];
    assert_eq!(proposed("[rules]\nunused-op = |"), levels);
    assert_eq!(proposed("[rules]\nunused-op = \"o|\"\n"), levels);
    assert_eq!(proposed("[rules]\nunused-op = \"o|\nlint = \"off\"\n"), levels);
    assert_eq!(proposed("hints.noise = |"), ["true", "false"]);
    assert_eq!(proposed("hints = { noise = tr| }"), ["true", "false"]);
    assert_eq!(
        proposed("[placement]\nobjective = |\nreplace = true"),
        ["\"executed\"", "\"count\""]
    );
    assert_eq!(proposed("[model]\nbudget = |"), ["26"]);
    assert_eq!(proposed("heir.noise-model = |").len(), 8);
    assert!(proposed("exclude = [|]").is_empty());
}

#[test]
fn proposes_nothing_where_nothing_fits() {
    for text in
        ["# |", "hints.noise = true |", "[hints] |", "[nothing]\n|", "hints.noise |", "a = [[[[|"]
    {
        assert!(proposed(text).is_empty(), "{text}");
    }
    assert!(complete(&"[".repeat(100_000), 50_000).all.is_empty());
}

#[test]
fn accepted_proposals_are_valid() {
    assert_eq!(taken("[pla|", "placement"), "[placement");
    assert_eq!(taken("[rules]\nunused-op = \"o|\"\n", "\"off\""), "[rules]\nunused-op = \"off\"\n");
    assert_eq!(
        taken("[placement]\nob| = \"count\"", "objective"),
        "[placement]\nobjective = \"count\""
    );
    // Each key of each table, with its inserted text.
    let tables = [
        "",
        "[placement]",
        "[hints]",
        "[rules]",
        "[model]",
        "[model.insert]",
        "[heir]",
        "[heir.latency]",
    ];
    for table in tables {
        for it in complete(&format!("{table}\n"), table.len() + 1).all {
            let text = format!("{table}\n{}\n", it.text);
            // A value that the user has to fill in.
            if ["extends", "input-range", "noise-model"].contains(&it.label.as_str()) {
                continue;
            }
            let read = crate::Settings::from_toml(&text);
            // Only a default text of an op can be invalid, because the model is checked as a whole.
            let is_whole =
                |it: &Vec<crate::ConfigProblem>| it.iter().all(|it| it.message.contains("`model`"));
            assert!(read.as_ref().err().is_none_or(is_whole), "{text}: {read:?}");
        }
    }
}

#[test]
fn explains_keys_and_values() {
    let found = explained("[placement]\nti|me-limit = 3").expect("an explanation");
    assert!(
        found.starts_with("**`placement.time-limit`**: number, default `10.0`\n\nSeconds that"),
        "{found}"
    );
    let found = explained("[placement]\nobjective = \"co|unt\"").expect("an explanation");
    assert!(found.starts_with("`\"count\"`\n\n"), "{found}");
    let found = explained("[ru|les]").expect("an explanation");
    assert!(found.contains("The reported diagnostics and their severities."), "{found}");
    let found = explained("rules.noise-overflow|=\"off\"").expect("an explanation");
    assert!(found.contains("`\"off\"`"), "{found}");
    assert_eq!(explained("[nothing]\nx|=1"), None);
    assert_eq!(explained("# rul|es"), None);
}

#[test]
fn accepts_any_text() {
    let text = "[model.ops.\"noisy.mul\"]\ngrowth = \"sum\" # c\r\noperands = [0, [1], {a.b = 'x'}]\n[[overrides]]\nfiles=[\"\u{e9}\"]\n\u{1f600} = \"\"\"x\n";
    for cut in (0..=text.len()).filter(|it| text.is_char_boundary(*it)) {
        for part in [&text[..cut], &text[cut..]] {
            for offset in 0..=part.len() + 1 {
                let found = complete(part, offset);
                assert!(
                    found.all.is_empty() || part.get(found.replaced_range.clone()).is_some(),
                    "{part:?} {offset}"
                );
                let _ = explain(part, offset);
            }
        }
    }
}
