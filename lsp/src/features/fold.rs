//! Folding: regions, runs of comment lines, and the parts of a split file.

use std::ops::Range;
use std::time::Instant;

use noisy_syntax::{OpKind, Source};

use super::walk::{Item, Walk, regions};

/// What is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// The inside of braces.
    Region,
    /// Comment lines.
    Comment,
    /// A part between `// -----` lines.
    Chunk,
}

/// Something that can be folded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fold {
    /// What it is.
    pub kind: Kind,
    /// From the character that stays to the one behind what goes, in bytes.
    pub range: Range<usize>,
    /// The lines of the ends.
    pub lines: (usize, usize),
}

/// The folds of a document, found bit by bit.
#[derive(Debug)]
pub(crate) struct Folds {
    walk: Walk,
    n_chunks: usize,
    found: Vec<Fold>,
}

impl Folds {
    /// Of a whole document.
    pub(crate) fn new(source: &Source) -> Self {
        let ir = source.ir();
        Self {
            walk: Walk::all(ir),
            n_chunks: ir.items(ir.root()).take(2).count(),
            found: Vec::new(),
        }
    }

    /// Goes on until done or `until`.
    pub(crate) fn step(&mut self, source: &Source, until: Instant) -> Option<Vec<Fold>> {
        let mut n = 0;
        while let Some(item) = self.walk.next(source.ir()) {
            self.visit(source, item);
            n += 1;
            if n % 64 == 0 && Instant::now() >= until {
                return None;
            }
        }
        Some(std::mem::take(&mut self.found))
    }

    fn visit(&mut self, source: &Source, item: Item) {
        let ir = source.ir();
        let data = ir.op(item.op);
        if data.kind == OpKind::Chunk {
            if self.n_chunks > 1 {
                let start = item.start + data.own_len as usize;
                let end = source.text().len_bytes().min(item.start + ir.len(item.op));
                self.add(source, Kind::Chunk, start..end);
            }
            return;
        }
        // Two comment lines have at least this many bytes.
        if data.lead >= 8 {
            self.comments(source, item.start..item.start + data.lead as usize);
        }
        for (region, range) in regions(ir, item) {
            if ir.region(region).closed {
                self.add(source, Kind::Region, range);
            }
        }
    }

    fn comments(&mut self, source: &Source, trivia: Range<usize>) {
        let text = source.slice(trivia.clone());
        let mut at = trivia.start;
        let mut run: Option<Range<usize>> = None;
        for line in text.split_inclusive('\n') {
            let body = line.trim();
            let start = at + (line.len() - line.trim_start().len());
            let end = at + line.trim_end().len();
            // What stands behind code on its line does not start a run.
            let is_first = at == trivia.start && at > 0;
            if body.starts_with("//") && !body.starts_with("// -----") && !is_first {
                run = Some(run.map_or(start, |it| it.start)..end);
            } else if let Some(run) = run.take() {
                self.add(source, Kind::Comment, run);
            }
            at += line.len();
        }
        if let Some(run) = run {
            self.add(source, Kind::Comment, run);
        }
    }

    fn add(&mut self, source: &Source, kind: Kind, range: Range<usize>) {
        let text = source.text();
        let lines = (text.byte_to_line(range.start), text.byte_to_line(range.end));
        if lines.0 < lines.1 {
            self.found.push(Fold { kind, range, lines });
        }
    }
}
