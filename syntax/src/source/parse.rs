//! Parses a whole text in stretches of items. The tokens and the skeleton of a stretch are dropped
//! before the next one is lowered, which saves memory. A stretch may end inside regions; their
//! contents are lowered before the enclosing ops, which are lowered in the stretch in which they
//! end. In a long text, a separate thread computes the skeleton some stretches ahead, because the
//! skeleton depends only on the text.
//!
//! *Law.* The IR depends neither on the ends of stretches nor on the threads.

use std::sync::mpsc;

use ropey::str_utils::byte_to_line_idx;

use crate::ir::names::TouchedNames;
use crate::ir::seq;
use crate::lowering::{LoweringInput, LoweringWork};
use crate::skeleton::{
    ItemAction, ItemStart, OpenParts, Pause, RunContext, RunEnd, RunEndReason, Skeleton, resume,
};
use crate::token_stream::TokenStream;
use crate::{Ir, namespace, reserve_with_slack};

/// The context at the top level of a file.
pub(super) const TOP_CONTEXT: RunContext =
    RunContext { depth: 0, default_dialect: namespace::TOP_LEVEL_DIALECT, is_inside_region: false };

/// Minimum length of a stretch, in bytes. In tests every text has several stretches.
const MIN_STRETCH_LEN: usize = if cfg!(test) { 64 } else { 1 << 16 };

/// Minimum length of a text that is parsed by two threads, in bytes. In tests one thread parses all
/// texts, because work is counted by thread.
const MIN_PARALLEL_LEN: usize = if cfg!(test) { usize::MAX } else { 1 << 16 };

/// Approximate number of bytes of an item in a long text.
const BYTES_PER_ITEM: usize = 32;

/// Maximum number of stretches by which the skeleton is ahead of lowering.
const MAX_STRETCHES_AHEAD: usize = 2;

/// Parses a whole text, on at most `n_threads` threads in addition to the caller's.
pub(super) fn parse(text: &str, n_threads: usize) -> Ir {
    if n_threads == 0 || text.len() < MIN_PARALLEL_LEN {
        lower(text, Stretches::new(text, MIN_STRETCH_LEN))
    } else {
        parse_ahead(text)
    }
}

/// Parses a whole text. Computes the skeleton on a separate thread, if the system can create one.
fn parse_ahead(text: &str) -> Ir {
    std::thread::scope(|scope| {
        let (give, take) = mpsc::sync_channel(MAX_STRETCHES_AHEAD);
        let ahead = std::thread::Builder::new().spawn_scoped(scope, move || {
            for stretch in Stretches::new(text, MIN_STRETCH_LEN) {
                if give.send(stretch).is_err() {
                    return;
                }
            }
        });
        match ahead {
            Ok(_) => lower(text, take.into_iter()),
            Err(_) => lower(text, Stretches::new(text, MIN_STRETCH_LEN)),
        }
    })
}

/// Consecutive items of one chunk.
struct Stretch<'t> {
    /// The tokens of the items.
    stream: TokenStream<'t>,
    read: Skeleton,
    end: RunEnd,
    /// The contents of the items that are open at the end of the stretch.
    open: Vec<OpenParts>,
    /// The split line after the items, if the chunk ends here and another one follows.
    split: Option<SplitLine>,
}

/// Iterator over the stretches of a text.
struct Stretches<'t> {
    stream: TokenStream<'t>,
    /// Minimum length of a stretch, in bytes; at least one. A stretch ends where an item may start.
    min_len: usize,
    /// Start of the trivia before the next token.
    start: u32,
    /// The items that are open before the next token.
    pause: Pause,
    is_done: bool,
}

impl<'t> Stretches<'t> {
    fn new(text: &'t str, least: usize) -> Self {
        let stream = TokenStream::whole(text);
        Self { stream, min_len: least, start: 0, pause: Pause::default(), is_done: false }
    }
}

impl<'t> Iterator for Stretches<'t> {
    type Item = Stretch<'t>;

    fn next(&mut self) -> Option<Stretch<'t>> {
        if self.is_done {
            return None;
        }
        let far = self.start as usize + self.min_len;
        let n_bytes =
            self.stream.text().len().saturating_sub(self.start as usize).min(self.min_len);
        let mut read = Skeleton::with_room(n_bytes / BYTES_PER_ITEM);
        let take =
            &mut |here: ItemStart| if here.at >= far { ItemAction::Stop } else { ItemAction::Read };
        let pause = std::mem::take(&mut self.pause);
        let (end, pause) =
            resume(&mut self.stream, self.start, TOP_CONTEXT, pause, &mut read, take);
        self.pause = pause;
        let open = self.pause.take_parts();
        let split =
            (end.stop == RunEndReason::Split).then(|| SplitLine::after(&mut self.stream, end));
        self.is_done = !matches!(end.stop, RunEndReason::Split | RunEndReason::Requested);
        let (token, start) =
            split.map_or((end.token, end.trivia as u32), |head| (head.token, head.end));
        self.start = start;
        Some(Stretch { stream: self.stream.take_before(token), read, end, open, split })
    }
}

/// Minimum length of most lines with an op, in bytes.
const MIN_LINE_LEN: usize = 8;

/// Lowers the stretches of a text.
fn lower<'t>(text: &str, mut stretches: impl Iterator<Item = Stretch<'t>>) -> Ir {
    let mut ir = Ir::default();
    let root = ir.root;
    let mut work = LoweringWork::default();
    let mut chunks = Vec::new();
    ir.names.is_in_order = true;
    // The number of items is approximately the number of lines with enough bytes for an op. Unused
    // capacity occupies no physical memory, but the system may limit it.
    let n_lines = byte_to_line_idx(text, text.len()).min(text.len() / MIN_LINE_LEN);
    reserve_with_slack(&mut ir.ops, n_lines);
    reserve_with_slack(&mut ir.links, n_lines);
    reserve_with_slack(&mut ir.values, n_lines);
    work.new_or_changed.reserve(n_lines);
    // Most lines define a new value name, and there are few names of ops.
    ir.interner.reserve(n_lines);
    let mut next = Some(SplitLine::default());
    while let Some(head) = next.take() {
        let chunk = ir.new_chunk(head.own_len);
        let region = ir.op(chunk).regions[0].1;
        let mut pieces = Vec::new();
        for Stretch { stream, read, end, open, split } in stretches.by_ref() {
            let run = LoweringInput {
                stream: &stream,
                skeleton: &read,
                chunk: region,
                aliases: None,
                is_at_file_start: true,
            };
            pieces.extend(ir.build_parts(run, region, &read.roots, &mut work));
            ir.build_open(run, region, &open, &mut work);
            if end.stop != RunEndReason::Requested {
                ir.regions[region.index()].tail_len = (end.at - end.trivia) as u32;
                chunks.push(seq::SeqPiece::Item(chunk, (end.at - head.at) as u32));
                next = split;
                break;
            }
        }
        seq::fill(&mut ir, region, &pieces);
        seq::update_own_sums(&mut ir, chunk);
    }
    seq::fill(&mut ir, root, &chunks);
    for n in 0..work.new_or_changed.len() {
        ir.add_defs(work.new_or_changed[n], &mut work);
    }
    ir.names.is_in_order = false;
    // Nothing is linked yet, so no use needs to be resolved again.
    work.uses_to_resolve.clear();
    work.successors_to_resolve.clear();
    for n in 0..work.new_or_changed.len() {
        ir.link(work.new_or_changed[n]);
    }
    ir.names.touched = TouchedNames::default();
    ir
}

/// The split line before a chunk.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SplitLine {
    /// The token after it.
    pub(super) token: usize,
    /// Its start in the document.
    pub(super) at: usize,
    /// Its length in bytes.
    pub(super) own_len: u32,
    /// Its end in the text of the token stream.
    pub(super) end: u32,
}

impl SplitLine {
    /// Returns the split line at the end `end` of a chunk.
    pub(super) fn after(stream: &mut TokenStream<'_>, end: RunEnd) -> Self {
        let token = stream.token(end.token);
        let own_len = token.end - token.start;
        Self { token: end.token + 1, at: end.at, own_len, end: token.end }
    }
}

#[cfg(test)]
mod tests {
    use super::{MIN_STRETCH_LEN, Stretches, lower, parse_ahead};
    use crate::verify::Verdicts;
    use crate::{Ir, Source, dump};

    fn shown(text: &str, ir: Ir) -> String {
        let verdicts = Verdicts::new(&ir, 0);
        dump::ir(&Source::of(text, ir, verdicts))
    }

    #[test]
    fn a_skeleton_that_is_read_ahead_is_the_same() {
        let mut text = String::from("#a = 7 : i32\n");
        for n in 0..40 {
            text += &format!(
                "func.func @f{n}(%x: i32) -> i32 {{\n  %0 = arith.addi %x, %x : i32 // {n}\n  return %0 : i32\n}}\n"
            );
            if n % 7 == 3 {
                text += "// -----\n!b = i8\n}\n";
            }
        }
        for text in [text.as_str(), "", "}", "func.func @f() {", "// -----\n// -----"] {
            let here = lower(text, Stretches::new(text, MIN_STRETCH_LEN));
            assert_eq!(shown(text, parse_ahead(text)), shown(text, here), "{text}");
        }
    }

    /// Covers ops that are open at the end of a stretch: with several regions, labels and
    /// arguments, nested in each other, of unknown ops, and unclosed, closed too often, or closed
    /// by the end of a chunk.
    #[test]
    fn where_stretches_end_does_not_matter() {
        let nested = "module @m attributes {a = 1} { // m
  func.func @f(%c: i1, %x: i32) -> i32 attributes {b} {
    %0:2 = scf.if %c -> (i32, i32) {
      %1 = arith.addi %x, %x : i32
      scf.yield %1, %x : i32, i32
    } else {
      scf.yield %x, %x : i32, i32
    } {after}
    cf.cond_br %c, ^bb1(%x : i32), ^bb2
  ^bb1(%a: i32): // label
    \"some.op\"(%a) ({
    ^in(%b: i32):
      %2 = arith.addi %a, %b : i32
    }, {
      \"some.end\"() : () -> ()
    }, {}) {z = 2 : i8} : (i32) -> ()
    %3 = own.op(%i = %a) {
      %4 = arith.muli %i, %a : i32
      own.yield %4 : i32
    } : i32 loc(\"there\")
    return %0#1 : i32
  ^bb2:
    return %a : i32
  }
  !t = i32
  func.func private @g()
}
";
        let mut texts = vec![nested.to_owned(), nested.repeat(2) + "}\n" + nested];
        texts.push(nested.replacen("    } else {", "", 1));
        texts.push(nested.replacen("\n  }\n  !t", "\n  !t", 1));
        texts.push(nested.replacen("    return", "// -----\n  return", 1));
        texts.push(nested[..nested.len() / 2].to_owned());
        for text in &texts {
            let whole = shown(text, lower(text, Stretches::new(text, usize::MAX / 2)));
            for least in [1, 5, 17, 40, 100] {
                let some = lower(text, Stretches::new(text, least));
                assert_eq!(shown(text, some), whole, "stretches of {least}: {text}");
            }
        }
    }
}
