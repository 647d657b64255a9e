//! Reads of an analysis besides the facts of operands. An op is visited again when something that
//! it read changes.
//!
//! *Law.* An analysis sees the program and its base only through an [`AnalysisContext`], for one op
//! at a time. Each read is recorded for that op, or needs no record because a change causes a visit
//! anyway:
//!
//! 1. The op itself, and facts and types of its operands: no record. A changed op is visited, and
//!    so are the users of values with new facts or types.
//! 2. The op that defines an operand: one bit per reader. The readers are found among the users of
//!    the values that the changed op defines.
//! 3. Any other op (such as a definition two steps away, a callee, or a global): an edge to that
//!    op.
//! 4. The resolution of a symbol name: edges to the name and to the resolved op.
//! 5. Facts of the base about a value: an edge to the value; none if the op itself defines the
//!    value, because the ops that define values with changed facts are visited.
//!
//! *Cost.* A read of the first kind costs one comparison, a read of the second kind one comparison
//! per operand. For an op with more than [`MAX_OPERANDS_FOR_BIT`] operands, reads of the second
//! kind are recorded like those of the third. Each edge is in two lists: the reads of the reader,
//! and the readers of the subject. A new edge costs a search of the shorter list and a look-up in a
//! hash table. The reads of an op are removed when it is edited or removed, each edge in constant
//! time.

use std::cell::{Cell, RefCell};

use noisy_syntax::{
    Attr, Def, Interner, Ir, Name, Op, OpData, OpExtra, Type, Value, reserve_with_slack,
};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use super::BaseAnalyses;
use crate::flow;
use crate::view::{HasInterner, ProgramView};

/// The subject of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum ReadSubject {
    Op(Op),
    /// The resolution of a symbol name.
    Name(Name),
    /// The facts of the base about a value.
    Base(Value),
}

/// Largest number of operands for which one bit records that their definitions were read.
const MAX_OPERANDS_FOR_BIT: usize = 4;

/// Number of reads of an op that are searched before the readers of the subject are searched too.
const N_SEARCHED_FIRST: usize = 8;

/// Index that means "no edge".
const NO_EDGE: u32 = u32::MAX;

/// A read by an op, in two linked lists.
#[derive(Debug)]
struct ReadEdge {
    read: ReadSubject,
    reader: Op,
    /// The next read by the same op; for a free edge, the next free edge.
    next_of_reader: u32,
    /// The edges of the next and the previous reader of the same subject.
    next: u32,
    previous: u32,
}

/// All recorded reads, by reader and by subject.
#[derive(Debug)]
pub(super) struct Subscriptions {
    edges: Vec<ReadEdge>,
    /// First free edge.
    free: u32,
    /// By op: the edge of its first read.
    reads: Vec<u32>,
    /// By op: true if it read the definitions of its operands.
    reads_definers: Vec<bool>,
    /// The edge of the first reader, by subject.
    readers: FxHashMap<ReadSubject, u32>,
    /// True if ops read facts of the base about their own values.
    pub(super) reads_own: bool,
}

impl Default for Subscriptions {
    fn default() -> Self {
        Self {
            edges: Vec::new(),
            free: NO_EDGE,
            reads: Vec::new(),
            reads_definers: Vec::new(),
            readers: FxHashMap::default(),
            reads_own: false,
        }
    }
}

impl Subscriptions {
    /// Records that an op read the definitions of its operands.
    fn insert_definers(&mut self, op: Op) {
        if self.reads_definers.len() <= op.index() {
            reserve_with_slack(&mut self.reads_definers, op.index() + 1);
            self.reads_definers.resize(op.index() + 1, false);
        }
        self.reads_definers[op.index()] = true;
    }

    /// Returns true if an op read the definitions of its operands.
    pub(super) fn has_read_definers(&self, op: Op) -> bool {
        self.reads_definers.get(op.index()).copied().unwrap_or(false)
    }

    /// Records a read by an op.
    fn insert(&mut self, op: Op, read: ReadSubject) {
        if self.reads.len() <= op.index() {
            reserve_with_slack(&mut self.reads, op.index() + 1);
            self.reads.resize(op.index() + 1, NO_EDGE);
        }
        let first = self.reads[op.index()];
        let edge = |at: u32| self.edges.get(at as usize);
        let own = std::iter::successors(edge(first), |it| edge(it.next_of_reader));
        let mut own = own.map(|it| it.read).peekable();
        if own.by_ref().take(N_SEARCHED_FIRST).any(|it| it == read) {
            return;
        }
        // The edge would be in both lists, and one of them may be much longer: both are searched in
        // parallel.
        if own.peek().is_some() && own.zip(self.readers(read)).any(|it| it.0 == read || it.1 == op)
        {
            return;
        }
        let slot = if self.free == NO_EDGE { self.edges.len() as u32 } else { self.free };
        let next = self.readers.insert(read, slot).unwrap_or(NO_EDGE);
        if let Some(next) = self.edges.get_mut(next as usize) {
            next.previous = slot;
        }
        let edge = ReadEdge { read, reader: op, next_of_reader: first, next, previous: NO_EDGE };
        match self.edges.get_mut(slot as usize) {
            Some(free) => {
                self.free = free.next_of_reader;
                *free = edge;
            }
            None => self.edges.push(edge),
        }
        self.reads[op.index()] = slot;
    }

    /// Removes the reads of an op.
    pub(super) fn forget(&mut self, op: Op) {
        if let Some(it) = self.reads_definers.get_mut(op.index()) {
            *it = false;
        }
        let Some(first) = self.reads.get_mut(op.index()) else { return };
        let mut at = std::mem::replace(first, NO_EDGE);
        while at != NO_EDGE {
            let ReadEdge { read, next_of_reader, next, previous, .. } = self.edges[at as usize];
            if next != NO_EDGE {
                self.edges[next as usize].previous = previous;
            }
            match (previous, next) {
                (NO_EDGE, NO_EDGE) => {
                    self.readers.remove(&read);
                }
                (NO_EDGE, _) => {
                    self.readers.insert(read, next);
                }
                _ => self.edges[previous as usize].next = next,
            }
            self.edges[at as usize].next_of_reader = std::mem::replace(&mut self.free, at);
            at = next_of_reader;
        }
    }

    /// Returns the readers of a subject, in no particular order.
    pub(super) fn readers(&self, read: ReadSubject) -> impl Iterator<Item = Op> + '_ {
        let edge = |at: u32| self.edges.get(at as usize);
        let first = self.readers.get(&read).and_then(|&it| edge(it));
        std::iter::successors(first, move |it| edge(it.next)).map(|it| it.reader)
    }

    #[cfg(test)]
    pub(super) fn n_edges(&self) -> usize {
        let is_free = std::iter::successors(self.edges.get(self.free as usize), |it| {
            self.edges.get(it.next_of_reader as usize)
        });
        self.edges.len() - is_free.count()
    }
}

/// The program and the facts of the base, as an analysis reads them for one op. Records the reads
/// of that op. The program is read through [`ProgramView`].
#[derive(Debug)]
pub struct AnalysisContext<'a, B> {
    ir: &'a Ir,
    base: &'a B,
    /// The reader.
    op: Op,
    log: &'a ReadLog,
}

impl<B: BaseAnalyses> super::AnalysisInput<'_, B> {
    /// Calls `question` with a context that records no reads, for uses of an analysis outside of
    /// the solver.
    pub fn query_unrecorded<T>(&self, question: impl FnOnce(&AnalysisContext<'_, B>) -> T) -> T {
        let log = ReadLog::default();
        question(&AnalysisContext::new(self.ir, self.base, Op::from_index(0), &log))
    }
}

/// Reads during one call of the analysis.
#[derive(Debug, Default)]
pub(super) struct ReadLog {
    reads: RefCell<SmallVec<[ReadSubject; 4]>>,
    /// The last op that was read, except the reader.
    last: Cell<Option<Op>>,
    /// True if definitions of operands were read.
    reads_definers: Cell<bool>,
    /// True if facts of the base about values of the reader itself were read.
    reads_own: Cell<bool>,
}

impl ReadLog {
    /// Adds the reads of an op to its subscriptions.
    #[inline]
    pub(super) fn flush(self, op: Op, to: &mut Subscriptions) {
        to.reads_own |= self.reads_own.get();
        if self.reads_definers.get() {
            to.insert_definers(op);
        }
        let reads = self.reads.into_inner();
        if !reads.is_empty() {
            reads.into_iter().for_each(|it| to.insert(op, it));
        }
    }
}

impl<'a, B: BaseAnalyses> AnalysisContext<'a, B> {
    /// Creates a context for an op, the values that it defines and the arguments of its regions.
    #[inline]
    pub(super) fn new(ir: &'a Ir, base: &'a B, op: Op, log: &'a ReadLog) -> Self {
        Self { ir, base, op, log }
    }

    /// Returns the facts of the base about a value.
    #[inline]
    pub fn base_facts(&self, value: Value) -> B::Facts<'_> {
        if self.ir.definition_site(value) == Some(self.op) {
            self.log.reads_own.set(true);
        } else {
            self.note(ReadSubject::Base(value));
            self.note_definition(value);
        }
        self.base.facts_of(&self.ir.interner, self.ir.value(value).ty, value)
    }

    /// Returns the op around the region and the index of the argument, if a value is an argument of
    /// the entry block of a region.
    #[inline]
    pub fn entry_argument(&self, value: Value) -> Option<(Op, usize)> {
        let Def::Argument(block, index) = self.def(value) else { return None };
        let region = self.ir.block(block).region;
        let holder = self.ir.region(region).parent?;
        self.note_op(holder);
        (flow::entry_block(self.ir, region) == block).then_some((holder, index as usize))
    }

    #[cold]
    fn note(&self, read: ReadSubject) {
        let mut reads = self.log.reads.borrow_mut();
        if reads.last() != Some(&read) {
            reads.push(read);
        }
    }

    #[inline]
    fn note_op(&self, op: Op) {
        if op != self.op && self.log.last.get() != Some(op) {
            self.note_other(op);
        }
    }

    fn note_other(&self, op: Op) {
        self.log.last.set(Some(op));
        let operands = &self.ir.op(self.op).operands;
        let defines = |value: Value| self.ir.definition_site(value) == Some(op);
        if operands.len() <= MAX_OPERANDS_FOR_BIT
            && operands.iter().any(|it| it.value.is_some_and(defines))
        {
            self.log.reads_definers.set(true);
        } else {
            self.note(ReadSubject::Op(op));
        }
    }

    #[inline]
    fn note_definition(&self, value: Value) {
        if let Some(op) = self.ir.definition_site(value) {
            self.note_op(op);
        }
    }
}

impl<B: BaseAnalyses> HasInterner for AnalysisContext<'_, B> {
    #[inline]
    fn interner(&self) -> &Interner {
        &self.ir.interner
    }
}

impl<B: BaseAnalyses> ProgramView for AnalysisContext<'_, B> {
    #[inline]
    fn op(&self, op: Op) -> &OpData {
        self.note_op(op);
        self.ir.op(op)
    }

    #[inline]
    fn extra(&self, op: Op) -> &OpExtra {
        self.note_op(op);
        self.ir.extra(op)
    }

    #[inline]
    fn attr(&self, op: Op, name: &str) -> Option<Attr> {
        self.note_op(op);
        self.ir.attr(op, name)
    }

    #[inline]
    fn has_problem(&self, op: Op) -> bool {
        self.note_op(op);
        self.ir.has_problem(op)
    }

    #[inline]
    fn op_name(&self, op: Op) -> &str {
        self.note_op(op);
        self.ir.op_name(op)
    }

    #[inline]
    fn def(&self, value: Value) -> Def {
        self.note_definition(value);
        self.ir.value(value).def
    }

    #[inline]
    fn ty(&self, value: Value) -> Type {
        self.note_definition(value);
        self.ir.value(value).ty
    }

    #[inline]
    fn operand_ty(&self, op: Op, index: usize) -> Option<Type> {
        let value = self.op(op).operands.get(index)?.value?;
        // If a value gets another type, its users are visited anyway.
        Some(if op == self.op { self.ir.value(value).ty } else { self.ty(value) })
    }

    fn resolve_symbol(&self, from: Op, name: Name) -> Option<Op> {
        self.note_op(from);
        self.note(ReadSubject::Name(name));
        let found = self.ir.resolve_symbol(from, name);
        if let Some(found) = found {
            self.note_op(found);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;
    use std::collections::BTreeSet;

    #[test]
    fn behaves_as_a_set_of_pairs() {
        let (mut lists, mut set) = (Subscriptions::default(), BTreeSet::new());
        let mut random = Random::new(17);
        // The numbers of reads and readers exceed `N_SEARCHED_FIRST`.
        for _ in 0..4000 {
            let op = Op::from_index(random.below(12));
            if random.below(16) == 0 {
                lists.forget(op);
                set.retain(|it: &(ReadSubject, Op)| it.1 != op);
            } else {
                let at = random.below(10);
                let value = ReadSubject::Base(Value::from_index(at));
                let read = *random.pick(&[ReadSubject::Op(Op::from_index(at)), value]);
                lists.insert(op, read);
                set.insert((read, op));
            }
            for at in 0..10 {
                for read in
                    [ReadSubject::Op(Op::from_index(at)), ReadSubject::Base(Value::from_index(at))]
                {
                    let mut readers: Vec<Op> = lists.readers(read).collect();
                    readers.sort_unstable();
                    let expected = set.iter().filter(|it| it.0 == read).map(|it| it.1);
                    assert_eq!(readers, expected.collect::<Vec<_>>());
                }
            }
            assert_eq!(lists.n_edges(), set.len());
            // Slots of removed edges are used again.
            assert!(lists.edges.len() <= 12 * 20);
        }
    }
}
