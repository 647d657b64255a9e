//! Folding: regions, runs of comment lines, and chunks of a split file.

use std::ops::Range;

use noisy_syntax::{OpKind, Source};

use crate::features::walk::{BATCH, Item, Walk, regions};

/// The kind of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The inside of braces.
    Region,
    Comment,
    /// A chunk between `// -----` lines.
    Chunk,
}

/// A range that can be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    pub kind: Kind,
    /// The range that is hidden when it is folded, in bytes.
    pub range: Range<usize>,
    /// The lines of its start and its end.
    pub lines: (usize, usize),
}

/// Finds the folds of a document in steps.
#[derive(Debug)]
pub(crate) struct Folds {
    walk: Walk,
    n_chunks: usize,
}

impl Folds {
    pub(crate) fn new(source: &Source) -> Self {
        let ir = source.ir();
        Self { walk: Walk::all(ir), n_chunks: ir.items(ir.root()).take(2).count() }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, source: &Source, found: &mut impl FnMut(Fold)) -> bool {
        for _ in 0..BATCH {
            let Some(item) = self.walk.next(source.ir()) else { return false };
            self.visit(source, item, found);
        }
        true
    }

    fn visit(&self, source: &Source, item: Item, found: &mut impl FnMut(Fold)) {
        let ir = source.ir();
        let data = ir.op(item.op);
        if data.kind == OpKind::Chunk {
            if self.n_chunks > 1 {
                let start = item.start + data.own_len as usize;
                let end = source.text().len_bytes().min(item.start + ir.len(item.op));
                add(source, Kind::Chunk, start..end, found);
            }
            return;
        }
        // Two comment lines have at least this many bytes.
        if data.lead >= 8 {
            comments(source, item.start..item.start + data.lead as usize, found);
        }
        for (region, range) in regions(ir, item) {
            if ir.region(region).closed {
                add(source, Kind::Region, range, found);
            }
        }
    }
}

fn comments(source: &Source, trivia: Range<usize>, found: &mut impl FnMut(Fold)) {
    let text = source.slice(trivia.clone());
    let mut at = trivia.start;
    let mut run: Option<Range<usize>> = None;
    for line in text.split_inclusive('\n') {
        let body = line.trim();
        let start = at + (line.len() - line.trim_start().len());
        let end = at + line.trim_end().len();
        // A comment after code on its line does not start a run.
        let is_first = at == trivia.start && at > 0;
        if body.starts_with("//") && !body.starts_with("// -----") && !is_first {
            run = Some(run.map_or(start, |it| it.start)..end);
        } else if let Some(run) = run.take() {
            add(source, Kind::Comment, run, found);
        }
        at += line.len();
    }
    if let Some(run) = run {
        add(source, Kind::Comment, run, found);
    }
}

fn add(source: &Source, kind: Kind, range: Range<usize>, found: &mut impl FnMut(Fold)) {
    let text = source.text();
    let lines = (text.byte_to_line(range.start), text.byte_to_line(range.end));
    if lines.0 < lines.1 {
        found(Fold { kind, range, lines });
    }
}
