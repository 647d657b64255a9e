//! A unified diff, made of the edits: no search for what changed is needed.

use std::fmt::Write as _;
use std::ops::Range;

use noisy_analyses::TextEdit;

/// Lines shown around a change.
const CONTEXT: usize = 3;

/// Lines of the old text that go, and what comes for them.
struct Change {
    old: Range<usize>,
    new: Vec<String>,
}

/// The diff of a text and what edits (in order, disjoint) make of it; empty if that is the same.
pub(crate) fn unified(name: &str, before: &str, edits: &[TextEdit]) -> String {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let changes = changes(before, &lines, edits);
    let mut out = String::new();
    let mut offset: isize = 0;
    let mut at = 0;
    while at < changes.len() {
        let mut end = at + 1;
        while end < changes.len()
            && changes[end].old.start <= changes[end - 1].old.end + 2 * CONTEXT
        {
            end += 1;
        }
        if out.is_empty() {
            let _ = write!(out, "--- {name}\n+++ {name}\n");
        }
        offset += hunk(&mut out, &lines, &changes[at..end], offset);
        at = end;
    }
    out
}

/// Writes a hunk; how many lines it adds.
fn hunk(out: &mut String, lines: &[&str], changes: &[Change], offset: isize) -> isize {
    let first = changes[0].old.start.saturating_sub(CONTEXT);
    let last = (changes[changes.len() - 1].old.end + CONTEXT).min(lines.len());
    let added: isize = changes.iter().map(|it| it.new.len() as isize - it.old.len() as isize).sum();
    let n_old = last - first;
    let n_new = n_old.saturating_add_signed(added);
    // A side without lines is counted from the line before.
    let number = |start: usize, n: usize| if n == 0 { start } else { start + 1 };
    let new_first = first.saturating_add_signed(offset);
    let _ = writeln!(
        out,
        "@@ -{},{n_old} +{},{n_new} @@",
        number(first, n_old),
        number(new_first, n_new)
    );
    let mut at = first;
    for change in changes {
        lines[at..change.old.start].iter().for_each(|it| push(out, ' ', it));
        lines[change.old.clone()].iter().for_each(|it| push(out, '-', it));
        change.new.iter().for_each(|it| push(out, '+', it));
        at = change.old.end;
    }
    lines[at..last].iter().for_each(|it| push(out, ' ', it));
    added
}

fn push(out: &mut String, sign: char, line: &str) {
    out.push(sign);
    out.push_str(line);
    if !line.ends_with('\n') {
        out.push_str("\n\\ No newline at end of file\n");
    }
}

fn changes(before: &str, lines: &[&str], edits: &[TextEdit]) -> Vec<Change> {
    let mut starts = vec![0];
    starts.extend(lines.iter().scan(0, |at, line| {
        *at += line.len();
        Some(*at)
    }));
    let line_of = |byte: usize| starts.partition_point(|it| *it <= byte) - 1;
    let mut out: Vec<Change> = Vec::new();
    let mut at = 0;
    while at < edits.len() {
        // Edits that share lines are one change.
        let first = line_of(edits[at].range.start).min(lines.len().saturating_sub(1));
        let mut last = line_of(edits[at].range.end).min(lines.len().saturating_sub(1));
        let mut end = at + 1;
        while end < edits.len() && line_of(edits[end].range.start) <= last {
            last = last.max(line_of(edits[end].range.end)).min(lines.len().saturating_sub(1));
            end += 1;
        }
        let (mut byte, stop) = (starts[first], starts[(last + 1).min(lines.len())]);
        let mut text = String::new();
        for edit in &edits[at..end] {
            text.push_str(&before[byte..edit.range.start]);
            text.push_str(&edit.text);
            byte = edit.range.end;
        }
        text.push_str(&before[byte.min(stop)..stop]);
        let new: Vec<String> = text.split_inclusive('\n').map(str::to_owned).collect();
        let old = first..(last + 1).min(lines.len());
        let same = |a: &&str, b: &String| **a == **b;
        let prefix = lines[old.clone()].iter().zip(&new).take_while(|(a, b)| same(a, b)).count();
        let room = old.len().min(new.len()) - prefix;
        let ends = lines[old.clone()].iter().rev().zip(new.iter().rev());
        let suffix = ends.take_while(|(a, b)| same(a, b)).count().min(room);
        let change = Change {
            old: old.start + prefix..old.end - suffix,
            new: new[prefix..new.len() - suffix].to_vec(),
        };
        match out.last_mut() {
            _ if change.old.is_empty() && change.new.is_empty() => {}
            // What goes and what comes at one place is one change.
            Some(last) if last.old.end == change.old.start => {
                last.old.end = change.old.end;
                last.new.extend(change.new);
            }
            _ => out.push(change),
        }
        at = end;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect;

    fn edit(before: &str, what: &str, text: &str) -> TextEdit {
        let start = before.find(what).unwrap_or(0);
        TextEdit { range: start..start + what.len(), text: text.to_owned() }
    }

    #[test]
    fn inserted_and_changed_lines() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn";
        let edits = [edit(before, "b\n", "b\nx\n"), edit(before, "d", "D"), edit(before, "n", "N")];
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
        .assert_eq(&unified("f.mlir", before, &edits));
    }

    #[test]
    fn an_insertion_behind_a_line_takes_only_new_lines() {
        let before = "a\n  b\nc\n";
        let at = before.find("b\n").unwrap_or(0) + 1;
        let edits = [TextEdit { range: at..at, text: "\n  r".to_owned() }];
        expect![[r#"
            --- f.mlir
            +++ f.mlir
            @@ -1,3 +1,4 @@
             a
               b
            +  r
             c
        "#]]
        .assert_eq(&unified("f.mlir", before, &edits));
    }

    #[test]
    fn nothing_is_nothing() {
        assert_eq!(unified("f", "a\n", &[]), "");
    }
}
