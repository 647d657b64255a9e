//! Unified diffs.

use std::fmt::Write as _;
use std::ops::Range;

use super::{LineChange, changes};

/// Number of unchanged lines shown before and after a change.
const CONTEXT: usize = 3;

/// Returns the diff of two versions of a file for `patch -p0`; empty if they are equal. A tab
/// follows a name that contains blanks, as in git's diffs: otherwise `patch` reads the text after
/// the first blank as a time.
pub fn unified(name: &str, before: &str, after: &str) -> String {
    let (before, after): (Vec<_>, Vec<_>) =
        (before.split_inclusive('\n').collect(), after.split_inclusive('\n').collect());
    let mut out = String::new();
    let mut hunks = changes(&before, &after).into_iter().peekable();
    while let Some(first) = hunks.next() {
        if out.is_empty() {
            let end = if name.contains(' ') { "\t" } else { "" };
            let _ = writeln!(out, "--- {name}{end}\n+++ {name}{end}");
        }
        // Changes whose contexts touch are shown together.
        let mut group = vec![first];
        while let Some(next) =
            hunks.next_if(|it| it.before.start <= group[group.len() - 1].before.end + 2 * CONTEXT)
        {
            group.push(next);
        }
        draw(&mut out, &before, &after, &group);
    }
    out
}

/// Writes a hunk of changes that are shown together.
fn draw(out: &mut String, old: &[&str], new: &[&str], group: &[LineChange]) {
    let (first, last) = (&group[0], &group[group.len() - 1]);
    let lead = CONTEXT.min(first.before.start);
    let trail = CONTEXT.min(old.len() - last.before.end);
    let before = first.before.start - lead..last.before.end + trail;
    let after = first.after.start - lead..last.after.end + trail;
    let _ = writeln!(out, "@@ -{} +{} @@", header_range(&before), header_range(&after));
    let mut put = |sign: char, lines: &[&str]| {
        for line in lines {
            let _ = write!(out, "{sign}{line}");
            if !line.ends_with('\n') {
                out.push_str("\n\\ No newline at end of file\n");
            }
        }
    };
    let mut at = before.start;
    for it in group {
        put(' ', &old[at..it.before.start]);
        put('-', &old[it.before.clone()]);
        put('+', &new[it.after.clone()]);
        at = it.before.end;
    }
    put(' ', &old[at..before.end]);
}

/// Returns the first line and the number of lines, as in `diff -u`: the number 1 is omitted, and an
/// empty range is given by the line before it.
fn header_range(lines: &Range<usize>) -> String {
    match lines.end - lines.start {
        0 => format!("{},0", lines.start),
        1 => (lines.start + 1).to_string(),
        n => format!("{},{n}", lines.start + 1),
    }
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
    fn a_diff_of_an_empty_text() {
        expect![[r#"
            --- f
            +++ f
            @@ -0,0 +1 @@
            +a
        "#]]
        .assert_eq(&unified("f", "", "a\n"));
    }

    #[test]
    fn a_tab_ends_a_name_with_blanks() {
        let head = "--- a b.mlir\t\n+++ a b.mlir\t\n@@ ";
        assert!(unified("a b.mlir", "a\n", "b\n").starts_with(head));
    }

    #[test]
    fn equal_texts_have_no_diff() {
        assert_eq!(unified("f", "a\n", "a\n"), "");
    }

    /// The numbers of a linear congruential generator.
    fn numbers(mut state: u64) -> impl FnMut(usize) -> usize {
        move |n| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % n
        }
    }

    /// Applies a diff like `patch`.
    fn patched(before: &str, diff: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut out, mut at) = (String::new(), 0);
        let mut lines = diff.split_inclusive('\n').skip(2).peekable();
        while let Some(line) = lines.next() {
            if let Some(it) = line.strip_prefix("@@ -") {
                let (header_range, _) = it.split_once(' ').expect("two places");
                let (start, n) = header_range.split_once(',').unwrap_or((header_range, "1"));
                let start: usize = start.parse().expect("a number");
                let start = if n == "0" { start } else { start - 1 };
                out.push_str(&old[at..start].concat());
                at = start;
                continue;
            }
            let is_open = lines.peek().is_some_and(|it| it.starts_with('\\'));
            let text = &line[1..line.len() - usize::from(is_open)];
            match &line[..1] {
                "+" => out.push_str(text),
                "\\" => {}
                sign => {
                    assert_eq!(old[at], text);
                    at += 1;
                    if sign == " " {
                        out.push_str(text);
                    }
                }
            }
        }
        out.push_str(&old[at..].concat());
        out
    }

    #[test]
    fn applying_a_diff_gives_the_other_text() {
        let mut below = numbers(11);
        for _ in 0..500 {
            let mut text = |most| {
                let n = below(most);
                let mut out: String =
                    (0..n).map(|_| ["a\n", "b\n", "c\n", "\n"][below(4)]).collect();
                if below(2) == 0 {
                    out.push('e');
                }
                out
            };
            let (before, after) = (text(40), text(40));
            assert_eq!(patched(&before, &unified("f", &before, &after)), after);
        }
    }
}
