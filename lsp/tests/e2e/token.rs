//! Semantic tokens: all, as a difference, and of a range.

use serde_json::{Value, json};

use crate::client::{Client, URI, illegal, range};

fn absolute(data: &Value) -> Vec<[u64; 5]> {
    let data: Vec<u64> = data.as_array().expect("data").iter().filter_map(Value::as_u64).collect();
    let (mut line, mut column) = (0, 0);
    data.chunks(5)
        .map(|it| {
            column = if it[0] == 0 { column + it[1] } else { it[1] };
            line += it[0];
            [line, column, it[2], it[3], it[4]]
        })
        .collect()
}

#[test]
fn tokens_of_a_range_are_a_part_of_all_tokens() {
    let mut client = Client::new();
    client.open(URI, &format!("// \u{1F600}\r\n{}", illegal()));
    let full = absolute(&client.request_about("semanticTokens/full", URI, json!({}))["data"]);
    assert_eq!(full[0], [0, 0, 5, 0, 0]);
    let part = json!({ "range": { "start": { "line": 2, "character": 0 }, "end": { "line": 4, "character": 0 } } });
    let part = absolute(&client.request_about("semanticTokens/range", URI, part)["data"]);
    let wanted: Vec<_> = full.iter().filter(|it| (2..4).contains(&it[0])).copied().collect();
    assert_eq!(part, wanted);
}

#[test]
fn applying_a_difference_gives_the_new_tokens() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    let full = client.request_about("semanticTokens/full", URI, json!({}));
    client.change(URI, 2, Some(range(2, 0, 0)), "  // new\n");
    let delta = client.request_about(
        "semanticTokens/full/delta",
        URI,
        json!({ "previousResultId": full["resultId"] }),
    );
    let mut data: Vec<Value> = full["data"].as_array().cloned().expect("data");
    for edit in delta["edits"].as_array().expect("edits").iter().rev() {
        let start = usize::try_from(edit["start"].as_u64().expect("a number")).expect("small");
        let n = usize::try_from(edit["deleteCount"].as_u64().expect("a number")).expect("small");
        data.splice(start..start + n, edit["data"].as_array().cloned().unwrap_or_default());
    }
    let again = client.request_about("semanticTokens/full", URI, json!({}));
    assert_eq!(again["data"], Value::Array(data));
    let unknown =
        client.request_about("semanticTokens/full/delta", URI, json!({ "previousResultId": "x" }));
    assert_eq!(unknown["data"], again["data"], "of what is not known everything is sent");
}
