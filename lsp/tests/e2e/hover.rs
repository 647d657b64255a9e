//! Hover.

use expect_test::expect;

use crate::client::{Client, URI, illegal, short};

fn hover(line: u32, column: u32) -> String {
    let mut client = Client::new();
    client.open(URI, &format!("// Squares twice.\n{}", illegal()));
    let hover = client.at("hover", URI, line, column);
    format!(
        "{}\n{}",
        short(&hover["range"]),
        hover["contents"]["value"].as_str().unwrap_or("nothing")
    )
}

#[test]
fn of_a_value_says_where_its_noise_comes_from() {
    expect![[r#"
        4:2-4:4
        ```mlir
        %1 : !noisy.i32
        ```
        noise **[0, 48]**, **22 over the budget of 26**

        ```text
        %x  [0, 12]  noisy.encode: fresh: 12
        %0  [0, 24]  noisy.mul: 12 + 12 = 24
        %1  [0, 48]  noisy.mul: 24 + 24 = 48
        ```

        Result of `noisy.mul`.
        Used once.
    "#]]
    .assert_eq(&hover(4, 3));
}

#[test]
fn of_an_op_says_its_rule() {
    expect![[r#"
        3:7-3:16
        **noisy.mul**

        Multiplies two noisy integers. The noise of the result is the sum of both.

        Noise of the result: the sum of the operands' noise. The budget is 26 bits.

        noise **[0, 24]**, 2 left of 26

        ```text
        %x  [0, 12]  noisy.encode: fresh: 12
        %0  [0, 24]  noisy.mul: 12 + 12 = 24
        ```
    "#]]
    .assert_eq(&hover(3, 10));
}

#[test]
fn of_a_symbol_shows_its_signature_and_comment() {
    expect![[r#"
        1:10-1:12
        ```mlir
        func.func @f(%a: i5) -> i5
        ```

        Squares twice.  
    "#]]
    .assert_eq(&hover(1, 11));
}

#[test]
fn of_nothing_is_nothing() {
    let mut client = Client::new();
    client.open(URI, &illegal());
    assert!(client.at("hover", URI, 5, 0).is_null());
    assert!(client.at("hover", "file:///not/open.mlir", 0, 0).is_null());
}
