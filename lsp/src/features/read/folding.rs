//! Folding: regions, runs of comment lines, and chunks of a split file.

use std::ops::Range;

use noisy_syntax::{OpKind, Source};

use crate::features::walk::{ITEMS_PER_STEP, ItemWalk, WalkedItem, region_ranges};

/// The kind of a fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FoldKind {
    /// The inside of braces.
    Region,
    Comment,
    /// A chunk between `// -----` lines.
    Chunk,
}

/// A range that can be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    pub kind: FoldKind,
    /// The range that is hidden when it is folded, in bytes.
    pub range: Range<usize>,
    /// The lines of its start and its end.
    pub lines: (usize, usize),
}

/// Finds the folds of a document in steps.
#[derive(Debug)]
pub(crate) struct FoldJob {
    walk: ItemWalk,
    n_chunks: usize,
}

impl FoldJob {
    pub(crate) fn new(source: &Source) -> Self {
        let ir = source.ir();
        Self { walk: ItemWalk::all(ir), n_chunks: ir.items(ir.root()).take(2).count() }
    }

    /// Runs one step; returns true if more steps remain.
    pub(crate) fn step(&mut self, source: &Source, found: &mut impl FnMut(Fold)) -> bool {
        for _ in 0..ITEMS_PER_STEP {
            let Some(item) = self.walk.next(source.ir()) else { return false };
            self.visit(source, item, found);
        }
        true
    }

    fn visit(&self, source: &Source, item: WalkedItem, found: &mut impl FnMut(Fold)) {
        let ir = source.ir();
        let data = ir.op(item.op);
        if data.kind == OpKind::Chunk {
            if self.n_chunks > 1 {
                let start = item.start + data.own_len as usize;
                let end = source.text().len_bytes().min(item.start + ir.item_len(item.op));
                add(source, FoldKind::Chunk, start..end, found);
            }
            return;
        }
        // Two comment lines have at least this many bytes.
        if data.lead_len >= 8 {
            comments(source, item.start..item.start + data.lead_len as usize, found);
        }
        for (region, range) in region_ranges(ir, item) {
            if ir.region(region).is_closed {
                add(source, FoldKind::Region, range, found);
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
            add(source, FoldKind::Comment, run, found);
        }
        at += line.len();
    }
    if let Some(run) = run {
        add(source, FoldKind::Comment, run, found);
    }
}

fn add(source: &Source, kind: FoldKind, range: Range<usize>, found: &mut impl FnMut(Fold)) {
    let text = source.text();
    let lines = (text.byte_to_line(range.start), text.byte_to_line(range.end));
    if lines.0 < lines.1 {
        found(Fold { kind, range, lines });
    }
}
