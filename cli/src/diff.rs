//! Unified diffs.

use similar::{Algorithm, TextDiff};

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// The diff of two texts under one name, which `patch -p0` reads; empty if they are the same.
pub(crate) fn unified(name: &str, before: &str, after: &str) -> String {
    let diff = TextDiff::configure().algorithm(Algorithm::Myers).diff_lines(before, after);
    diff.unified_diff().context_radius(CONTEXT).header(name, name).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    #[test]
    fn inserted_and_changed_lines() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn";
        let after = "a\nb\nx\nc\nD\ne\nf\ng\nh\ni\nj\nk\nl\nm\nN";
        expect![[r#"
            --- f.mlir
            +++ f.mlir
            @@ -1,7 +1,8 @@
             a
             b
            +x
             c
            -d
            +D
             e
             f
             g
            @@ -11,4 +12,4 @@
             k
             l
             m
            -n
            \ No newline at end of file
            +N
            \ No newline at end of file
        "#]]
        .assert_eq(&unified("f.mlir", before, after));
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(unified("f", "a\n", "a\n"), "");
    }
}
