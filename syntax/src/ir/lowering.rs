//! Lowers items to IR. The results of the skeleton and the grammar become ops, values, blocks and
//! regions (`arena.rs`), or update an existing op (`again.rs`). Names are entered in the name
//! tables and removed from them (`names.rs`).

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::grammar::{AliasUse, Aliases, Form, GrammarEnv, ParsedArgument, ParsedItem, parse_item};
use crate::ir::names::Use;
use crate::ir::seq::{self, SeqPiece};
use crate::ir::{OpData, OpExtra, Operand, ResultName, Successor, ValueData};
use crate::lex::error_in;
use crate::skeleton::{
    DEPENDS_ON_DIALECT, ItemRegion, ItemShape, OpenParts, RegionPart, Skeleton, SkeletonItem,
};
use crate::token_stream::TokenStream;
use crate::{
    Block, Code, Def, Ir, Name, Op, OpKind, Problem, Region, Span, TokenKind, Type, Value,
};

mod arena;
mod names;
mod relower;

/// The ops created so far, and the uses that must be linked.
#[derive(Debug, Default)]
pub(crate) struct LoweringWork {
    /// Ops that are new or changed, in textual order; each op comes before its nested ops.
    pub(crate) new_or_changed: Vec<Op>,
    /// Uses of surviving ops whose meaning may have changed.
    pub(crate) uses_to_resolve: Vec<Use>,
    /// Successors of surviving ops whose meaning may have changed.
    pub(crate) successors_to_resolve: Vec<Use>,
    /// Values with the same id but a different type.
    pub(crate) retyped: Vec<Value>,
    /// Values whose names must be entered in the tables.
    pub(crate) values_to_define: Vec<Value>,
    /// Removed ops.
    pub(crate) removed: Vec<Op>,
    /// For each item of the run, the existing op that is reused for it.
    pub(crate) pairs: Vec<Option<Op>>,
    /// Runs of old items that are kept: the first op and the number of items.
    pub(crate) kept: FxHashMap<Op, usize>,
    /// The trees of these runs, cut out of their regions.
    pub(crate) trees: Vec<seq::TreeRoot>,
    /// The ops whose items were still open at the end of the last stretch, outermost first.
    open: Vec<Option<OpenOp>>,
    parsed: Option<Box<ParsedItem>>,
}

/// An op whose item is open. Its regions are being filled; its header is not parsed yet.
#[derive(Debug)]
struct OpenOp {
    op: Op,
    /// Its regions and their contents, which are not yet in the sequences of the regions.
    regions: Vec<(Region, Vec<SeqPiece>)>,
}

/// The input of lowering: tokens and items.
#[derive(Clone, Copy)]
pub(crate) struct LoweringInput<'a> {
    pub(crate) stream: &'a TokenStream<'a>,
    pub(crate) skeleton: &'a Skeleton,
    /// The region of the chunk that contains the run. Its aliases are visible in the run.
    pub(crate) chunk: Region,
    /// The meanings of aliases, if they differ from those of the chunk.
    pub(crate) aliases: Option<&'a Aliases>,
    /// True if the text starts at the start of the file.
    pub(crate) is_at_file_start: bool,
}

impl<'a> LoweringInput<'a> {
    pub(crate) fn item(&self, index: u32) -> &'a SkeletonItem {
        &self.skeleton.items[index as usize]
    }
}

/// Converts positions in a run to positions in the own text of an item, each in logarithmic time in
/// the number of regions.
struct OwnTextMap<'a> {
    item: &'a SkeletonItem,
}

impl OwnTextMap<'_> {
    fn at(&self, at: u32) -> u32 {
        if self.item.regions.is_empty() {
            return at.max(self.item.start) - self.item.start;
        }
        let n_before = self.item.regions.partition_point(|it| at >= it.close);
        let last = n_before.checked_sub(1).map(|it| &self.item.regions[it]);
        let cut = last.map_or(0, |it| it.cut + it.close - it.open);
        at.max(self.item.start) - self.item.start - cut
    }

    fn span(&self, span: Span) -> Span {
        Span::new(self.at(span.start), self.at(span.end))
    }
}

impl Ir {
    /// Builds the contents of a region. Each item becomes the existing op that it is paired with,
    /// or a new op. Kept items are moved to the region.
    pub(crate) fn build_parts(
        &mut self,
        run: LoweringInput<'_>,
        region: Region,
        parts: &[RegionPart],
        work: &mut LoweringWork,
    ) -> Vec<SeqPiece> {
        let mut pieces = Vec::with_capacity(parts.len());
        for &part in parts {
            pieces.push(match part {
                RegionPart::Item(index) => {
                    let op = match work.pairs.get(index as usize).copied().flatten() {
                        Some(op) => self.lower_inside(run, index, op, work),
                        None => self.lower(run, index, region, work),
                    };
                    seq::update_own_sums(self, op);
                    SeqPiece::Item(op, run.item(index).len)
                }
                RegionPart::Kept(index) => {
                    let tree = work.trees[index as usize];
                    if run.skeleton.kept[index as usize].region != region {
                        for op in seq::items(self, tree) {
                            self.ops[op.index()].parent = region;
                        }
                    }
                    SeqPiece::Tree(tree)
                }
            });
        }
        pieces
    }

    /// Builds the contents of the items that are open at the end of a stretch. Each open item
    /// itself is lowered in the stretch in which it ends.
    pub(crate) fn build_open(
        &mut self,
        run: LoweringInput<'_>,
        region: Region,
        open: &[OpenParts],
        work: &mut LoweringWork,
    ) {
        let mut parent = region;
        for (level, it) in open.iter().enumerate() {
            let mut at = match work.open.get_mut(level).and_then(Option::take) {
                Some(at) if !it.is_new => at,
                _ => OpenOp { op: self.start_op(parent, work), regions: Vec::new() },
            };
            for (n, parts) in (it.from..).zip(&it.parts) {
                if n == at.regions.len() {
                    at.regions.push((self.new_region(Some(at.op)), Vec::new()));
                }
                let (region, pieces) = &mut at.regions[n];
                pieces.extend(self.build_parts(run, *region, parts, work));
                parent = *region;
            }
            if level == work.open.len() {
                work.open.push(None);
            }
            work.open[level] = Some(at);
        }
        work.open.truncate(open.len());
    }

    /// Creates an op without contents in a region. It is not yet in the sequence of the region.
    fn start_op(&mut self, parent: Region, work: &mut LoweringWork) -> Op {
        let op = self.new_op(OpData::new(parent, OpKind::Unknown));
        work.new_or_changed.push(op);
        op
    }

    /// Replaces the contents of an existing op by those of its item.
    fn lower_inside(
        &mut self,
        run: LoweringInput<'_>,
        index: u32,
        op: Op,
        work: &mut LoweringWork,
    ) -> Op {
        for (n, inner) in run.item(index).regions.iter().enumerate() {
            let region = self.op(op).regions[n].1;
            self.lower_parts(run, region, inner, Vec::new(), work);
        }
        op
    }

    /// Fills a region with `pieces`, which were built in earlier stretches, and with the parts of
    /// this stretch.
    fn lower_parts(
        &mut self,
        run: LoweringInput<'_>,
        region: Region,
        inner: &ItemRegion,
        mut pieces: Vec<SeqPiece>,
        work: &mut LoweringWork,
    ) {
        pieces.extend(self.build_parts(run, region, &inner.parts, work));
        seq::fill(self, region, &pieces);
        let data = &mut self.regions[region.index()];
        data.tail_len = inner.close - inner.end;
        data.is_closed = inner.is_closed;
    }

    /// Lowers an item to a new op, or to the op that was created when the item was open. The op is
    /// not yet in the sequence of its region.
    fn lower(
        &mut self,
        run: LoweringInput<'_>,
        index: u32,
        parent: Region,
        work: &mut LoweringWork,
    ) -> Op {
        let item = run.item(index);
        let open = item.level.and_then(|level| work.open.get_mut(level)?.take());
        let (op, made) = match open {
            Some(it) => (it.op, it.regions),
            None => (self.start_op(parent, work), Vec::new()),
        };
        let mut parsed = work.parsed.take().unwrap_or_default();
        let is_misplaced = match item.shape {
            ItemShape::TypeAlias | ItemShape::AttrAlias => parent != run.chunk,
            ItemShape::Label => parent == run.chunk,
            ItemShape::Junk => true,
            ItemShape::Op | ItemShape::Resources => false,
        };
        if is_misplaced {
            junk(run, item, &mut parsed);
        } else {
            self.parse(run, item, &mut parsed);
        }
        self.fill(op, item, &mut parsed, &[]);
        if self.names.is_in_order {
            // Later text refers to this alias.
            self.define_alias(op);
        }
        if parsed.kind == OpKind::Label {
            let block = self.new_block(parent, Some(op));
            let args = self.new_arguments(block, item, &parsed.arguments, &[]);
            self.blocks[block.index()].args.clone_from(&args);
            self.ops[op.index()].results = args.iter().copied().collect();
            self.set_label_block(op, Some(block));
        }
        let arguments = std::mem::take(&mut parsed.region_arguments);
        work.parsed = Some(parsed);
        let mut made = made.into_iter();
        for (n, inner) in item.regions.iter().enumerate() {
            let (region, pieces) =
                made.next().unwrap_or_else(|| (self.new_region(Some(op)), Vec::new()));
            let arguments = arguments.get(n).map_or(&[][..], Vec::as_slice);
            self.start_region(item, op, region, inner, arguments);
            self.lower_parts(run, region, inner, pieces, work);
        }
        op
    }

    /// Adds a region with its arguments to an op.
    fn start_region(
        &mut self,
        item: &SkeletonItem,
        op: Op,
        region: Region,
        inner: &ItemRegion,
        arguments: &[ParsedArgument],
    ) {
        let open = OwnTextMap { item }.at(inner.open);
        self.ops[op.index()].regions.push((open, region));
        let entry = self.regions[region.index()].entry;
        let args = self.new_arguments(entry, item, arguments, &[]);
        if arguments.iter().any(|it| it.attrs.is_some()) {
            let attrs = arguments.iter().map(|it| it.attrs).collect();
            self.ops[op.index()].extra.get_or_insert_default().argument_attrs = attrs;
        }
        self.blocks[entry.index()].args = args;
        if self.ops[op.index()].form == Form::Opaque {
            self.new_maybe_arguments(op, region);
        }
    }

    /// Creates values for the arguments that the header of an opaque op may define.
    fn new_maybe_arguments(&mut self, op: Op, region: Region) {
        let entry = self.regions[region.index()].entry;
        for index in 0..self.ops[op.index()].operands.len() {
            let operand = self.ops[op.index()].operands[index];
            if operand.may_be_argument && operand.number == 0 {
                let number = self.blocks[entry.index()].args.len() as u32;
                let value = self.new_value(ValueData {
                    def: Def::Argument(entry, number),
                    ty: operand.ty,
                    is_guessed: true,
                    name: operand.name,
                    number: 0,
                    span: operand.span,
                    uses: SmallVec::new(),
                });
                self.blocks[entry.index()].args.push(value);
            }
        }
    }

    fn parse(&mut self, run: LoweringInput<'_>, item: &SkeletonItem, out: &mut ParsedItem) {
        out.clear();
        let (from, to) = (item.tokens.0 as usize, item.tokens.1 as usize);
        let tokens = if item.regions.is_empty() {
            &run.stream.tokens()[from..to]
        } else {
            &run.skeleton.own[from..to]
        };
        let aliases = run.aliases.unwrap_or_else(|| self.names.aliases.meanings_in(run.chunk));
        let default_dialect = item.default_dialect;
        let mut env = GrammarEnv { interner: &mut self.interner, aliases, default_dialect };
        parse_item(run.stream.text(), tokens, &mut env, out);
        if let Some(region) = item.regions.iter().find(|it| !it.is_closed)
            && !out.has_reported_syntax_problem
        {
            // MLIR's parser reports the error at the last token. The end of that token is also the
            // end of the own text.
            let end = tokens.last().map_or(region.open, |it| it.end).max(region.close);
            out.problems.push(Problem {
                code: Code::UnclosedRegion,
                span: Span::new(end, end),
                message: "expected '}' to close the region".into(),
            });
        }
    }

    /// Fills an op, which must be unlinked, from a parsed item. The values of `keep` are reused for
    /// its results.
    fn fill(&mut self, op: Op, item: &SkeletonItem, parsed: &mut ParsedItem, keep: &[Value]) {
        let own = OwnTextMap { item };
        let mut results: SmallVec<[Value; 1]> = SmallVec::new();
        let mut result_names: SmallVec<[ResultName; 1]> = SmallVec::new();
        let mut result = |ir: &mut Ir, name: Name, number: u32, span: Span| {
            let index = results.len();
            let data = ValueData {
                def: Def::Result(op, index as u32),
                ty: parsed.result_types.get(index).copied().unwrap_or(Type::UNKNOWN),
                is_guessed: parsed.is_guessed,
                name,
                number,
                span,
                uses: SmallVec::new(),
            };
            results.push(match keep.get(index) {
                Some(&value) => {
                    let uses = std::mem::take(&mut ir.values[value.index()].uses);
                    ir.values[value.index()] = ValueData { uses, ..data };
                    value
                }
                None => ir.new_value(data),
            });
        };
        for name in &parsed.results {
            let span = own.span(name.span);
            result_names.push(ResultName { name: name.name, span, count: name.count });
            // An excessive count is reported as a problem. The number of created values is bounded.
            for number in 0..name.count.min(MAX_PACK) {
                result(self, name.name, number, span);
            }
        }
        if parsed.results.is_empty() && !parsed.is_guessed {
            // Results without names are allowed; the number of types gives their number.
            let start = own.at(parsed.name_span.start);
            for number in 0..parsed.result_types.len() {
                result(self, Name::EMPTY, number as u32, Span::new(start, start));
            }
        }
        let operands = parsed.operands.iter().map(|it| Operand {
            name: it.name,
            number: it.number,
            span: own.span(it.span),
            ty: it.ty,
            may_be_argument: it.may_be_argument && !item.regions.is_empty(),
            value: None,
            slot: u32::MAX,
        });
        let operands: SmallVec<[Operand; 2]> = operands.collect();
        let plain = parsed.successors.is_empty()
            && parsed.attrs.is_empty()
            && parsed.symbol.is_none()
            && parsed.symbol_uses.is_empty()
            && parsed.alias_uses.is_empty()
            && parsed.alias_reads.is_empty()
            && parsed.alias.is_none()
            && parsed.problems.is_empty()
            && (parsed.arguments.is_empty() || parsed.kind == OpKind::Label);
        let extra = (!plain).then(|| {
            parsed.alias_reads.sort_unstable_by_key(|it| it.0);
            parsed.alias_reads.dedup();
            let successors = parsed.successors.iter().map(|it| Successor {
                name: it.name,
                span: own.span(it.span),
                operands: it.operands.clone(),
                block: None,
            });
            Box::new(OpExtra {
                successors: successors.collect(),
                attrs: parsed.attrs.clone(),
                symbol: parsed.symbol.map(|it| (it.name, own.span(it.span))),
                symbol_uses: parsed
                    .symbol_uses
                    .iter()
                    .map(|it| (it.name, it.root, own.span(it.span)))
                    .collect(),
                alias_uses: parsed
                    .alias_uses
                    .iter()
                    .map(|&it| AliasUse { span: own.span(it.span), ..it })
                    .collect(),
                alias_reads: parsed.alias_reads.clone(),
                alias: parsed.alias,
                problems: parsed
                    .problems
                    .drain(..)
                    .map(|it| Problem { span: own.span(it.span), ..it })
                    .collect(),
                is_followed_by_junk: parsed.is_followed_by_junk,
                argument_attrs: Vec::new(),
            })
        });
        let cut: u32 = item.regions.iter().map(|it| it.close - it.open).sum();
        let data = &mut self.ops[op.index()];
        data.kind = parsed.kind;
        data.form = parsed.form;
        data.name = parsed.name.unwrap_or(Name::EMPTY);
        data.name_span = own.span(parsed.name_span);
        data.lead_len = item.first - item.start;
        data.own_len = item.end - item.start - cut;
        data.is_quoted = item.is_quoted;
        data.context_deps =
            item.context_deps | if parsed.depends_on_dialect { DEPENDS_ON_DIALECT } else { 0 };
        data.lookahead = item.lookahead;
        data.results = results;
        data.result_names = result_names;
        data.operands = operands;
        data.extra = extra;
        self.note_suspect(op);
    }

    fn note_suspect(&mut self, op: Op) {
        let extra = self.extra(op);
        if !extra.problems.is_empty() || !extra.alias_uses.is_empty() {
            self.names.suspects.insert(op);
        }
    }

    /// Creates the arguments of a block. The first ones are those of `keep`.
    fn new_arguments(
        &mut self,
        block: Block,
        item: &SkeletonItem,
        arguments: &[ParsedArgument],
        keep: &[Value],
    ) -> SmallVec<[Value; 2]> {
        let own = OwnTextMap { item };
        let mut out = SmallVec::from_slice(keep);
        for (index, argument) in arguments.iter().enumerate().skip(keep.len()) {
            out.push(self.new_value(ValueData {
                def: Def::Argument(block, index as u32),
                ty: argument.ty,
                is_guessed: false,
                name: argument.name.unwrap_or(Name::EMPTY),
                number: 0,
                span: own.span(argument.span),
                uses: SmallVec::new(),
            }));
        }
        out
    }
}

/// Fills `out` for text where no item can start: an alias that is not at the top level, a label at
/// the top level, or any other text.
fn junk(run: LoweringInput<'_>, item: &SkeletonItem, out: &mut ParsedItem) {
    out.clear();
    let token = run.stream.tokens()[item.tokens.0 as usize];
    let first = token.span();
    out.kind = OpKind::Junk;
    out.form = Form::Broken;
    out.name_span = first;
    // A malformed op name in quotes.
    if token.kind == TokenKind::Error
        && let (place, message) = error_in(&run.stream.text()[token.range()])
        && place.start > 0
    {
        let [start, end] = [place.start, place.end].map(|it| first.start + it as u32);
        out.problems.push(Problem {
            code: Code::UnexpectedCharacter,
            span: Span::new(start, end),
            message: message.into(),
        });
        return;
    }
    out.problems.push(Problem {
        code: Code::ExpectedOperation,
        span: first,
        message: "expected an operation here".into(),
    });
}

/// Maximum number of values for one name to the left of `=`.
const MAX_PACK: u32 = 1 << 16;
