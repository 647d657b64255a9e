//! Levels and polynomials, kept up to date by edits.
//!
//! *Law.* After an edit that is taken in, all facts equal those from scratch. All facts are found
//! from scratch at the next query after an edit that
//!
//! - adds or removes an op with regions, or changes a part of one that counts elsewhere
//!   (`header.rs`),
//! - changes the levels that bootstraps use, if there are some,
//! - changes the largest level of the program, if the level of some value follows from it,
//! - is in a file with several parts or with modules within modules.
//!
//! *Cost.* In proportion to the facts that the edit changes, and to the calls of the program.

use std::collections::BTreeMap;

use noisy_syntax::{Attr, Def, Delta, Ir, Name, Op, OpKind, Region, Type, Value};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::fact::{Ciphertext, Level};
use crate::facts::header::Header;
use crate::facts::known::{Heir, is_current};
use crate::facts::{clients, conflicts, loops, plaintext};
use crate::ops::rules;
use crate::text::annotation;
use crate::text::setting::{Difference, Settings};
use noisy_dataflow::flow;
use noisy_dataflow::sparse::{Input, Moved};
use noisy_integers::Integers;
use std::sync::{Arc, OnceLock};

/// The values and ops that an edit may have affected.
#[derive(Debug, Default)]
pub struct Touched {
    /// Values of which something else may be known.
    pub(crate) values: Vec<Value>,
    /// The ops that changed, those that define or use such values, and those that encode plaintexts
    /// for any of these; all alive, each once.
    pub ops: Vec<Op>,
}

impl Touched {
    /// The values that follow from changed ones, and the ops near these and the changed ops.
    pub fn new(ir: &Ir, heir: &Heir, moved: &[Value], delta: &Delta) -> Self {
        let mut values: Vec<Value> = Vec::new();
        let mut seen = FxHashSet::default();
        let mut stack: Vec<Value> = moved.to_vec();
        while let Some(value) = stack.pop() {
            if !is_current(ir, value) || !seen.insert(value) {
                continue;
            }
            values.push(value);
            // A value may take its level from the values that feed it.
            for &(user, index) in &ir.value(value).uses {
                if !ir.op(user).regions.is_empty() || flow::is_yield(ir, user) {
                    stack.extend(flow::feeds(ir, user, index as usize));
                }
            }
        }
        let mut ops = delta.changed.clone();
        let mut seen: FxHashSet<Op> = ops.iter().copied().collect();
        for &value in &values {
            let users = ir.value(value).uses.iter().map(|it| it.0);
            for op in ir.definition_site(value).into_iter().chain(users) {
                if ir.is_alive(op) && seen.insert(op) {
                    ops.push(op);
                }
            }
        }
        // The number of rounds of a loop follows from constants, which are no ciphertexts that
        // move.
        let bounded = delta.changed.iter().flat_map(|&it| loops::bounded_by(ir, it));
        ops.extend(bounded.filter(|&it| seen.insert(it)));
        let is_init = |op: Op| ir.op_name(op) == "mgmt.init";
        // The op around, if a plaintext that an op wants at a level becomes its argument or result.
        let around = |&(user, index): &(Op, u32)| {
            if flow::is_yield(ir, user) {
                return ir.parent_op(user);
            }
            Some(user).filter(|_| !flow::feeds(ir, user, index as usize).is_empty())
        };
        let mut at = 0;
        let mut looked_at: FxHashSet<Value> = FxHashSet::default();
        while let Some(&op) = ops.get(at) {
            at += 1;
            let data = ir.op(op);
            let near = if is_init(op) {
                data.results.to_vec()
            } else {
                plaintext::taken(ir, op, &|it| heir.ciphertext(it))
            };
            let wants = data.regions.is_empty() && !flow::is_yield(ir, op);
            for value in near.into_iter().filter(|&it| looked_at.insert(it)) {
                let uses = &ir.value(value).uses;
                let meeting = uses.iter().filter(|_| wants).filter_map(around);
                let near = ir.defining_op(value).into_iter().chain(uses.iter().map(|it| it.0));
                let encoding = near.filter(|&it| is_init(it));
                ops.extend(encoding.chain(meeting).filter(|&it| seen.insert(it)));
            }
        }
        Self { values, ops }
    }
}

/// The facts in the text of the definition of a value, as others read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Said {
    ty: Type,
    annotation: Option<Attr>,
    /// The name of the op.
    by: Option<Name>,
}

impl Said {
    fn of(ir: &Ir, value: Value) -> Self {
        Self {
            ty: ir.value(value).ty,
            annotation: annotation::holder(ir, value).map(|it| it.1),
            by: ir.defining_op(value).map(|it| ir.op(it).name),
        }
    }
}

/// Of an op: the largest level that it gives, and flags for an unknown level and for the last one.
const UNKNOWN: u32 = 1 << 31;
const LAST: u32 = 1 << 30;
const LARGEST: u32 = LAST - 1;

/// The effect of an edit on levels and the layers above.
#[derive(Debug)]
pub struct Upkept {
    /// The values of which something else may be known.
    pub values: Vec<Value>,
    /// True if the parameters changed, so that noise, scales and reports must be found from
    /// scratch.
    pub has_other_params: bool,
}

/// The levels and polynomials of a program, kept up to date by edits where they can be.
#[derive(Debug)]
pub(crate) struct Kept {
    /// The facts.
    pub(crate) heir: Heir,
    /// The indices for edits; `None` if every edit needs a solution from scratch.
    upkeep: Option<Upkeep>,
}

impl Kept {
    /// Analyzes a program; `None` for one that is not HEIR's.
    pub(crate) fn new(ir: &Ir, integers: &Integers) -> Option<Self> {
        let heir = Heir::new(ir, integers)?;
        let upkeep = Upkeep::new(ir, &heir);
        Some(Self { heir, upkeep })
    }

    /// Takes in an edit, which the integers have taken in; `None` if all must be made anew.
    pub(crate) fn update(&mut self, ir: &Ir, integers: &Integers, delta: &Delta) -> Option<Upkept> {
        let mut upkeep = self.upkeep.take()?;
        let heir = &mut self.heir;
        if upkeep.is_structural(ir, delta) {
            return None;
        }
        let is_module = |it: &&Op| ir.op(**it).kind == OpKind::BuiltinModule;
        let difference = match delta.changed.iter().find(is_module) {
            Some(_) => resettle(heir, ir, &upkeep)?,
            None => Difference::default(),
        };
        for &op in &delta.changed {
            heir.facts.analysis.note_call(ir, op);
        }
        let mut functions = delta.changed.iter().filter(|&&it| ir.op(it).kind == OpKind::FuncFunc);
        if functions.any(|&it| heir.facts.analysis.is_called_otherwise(ir, it)) {
            return None;
        }
        let input = Input { ir, base: integers.constants() };
        heir.facts.update(&input, delta, integers.moved());
        let Moved::These(moved) = heir.facts.moved() else { return None };
        let mut moved = moved.clone();
        let near = near_values(ir, &Touched::new(ir, heir, &moved, delta));
        let before = heir.facts.analysis.conflicts.keys().copied();
        let near = conflicts::near(ir, near.into_iter().chain(before));
        let changed = heir.find_conflicts(ir, &near);
        if !changed.is_empty() {
            heir.facts.reconsider(&input, &changed);
            let Moved::These(also) = heir.facts.moved() else { return None };
            moved.extend(also);
        }
        if clients::entries(ir, &heir.facts) != heir.facts.analysis.entries {
            return None;
        }
        // An op at the end of a loop decides the level that the loop carries.
        let edited = delta.changed.iter().chain(&delta.removed);
        let holders = edited.filter_map(|&it| ir.region(ir.op(it).parent).parent);
        let loops: FxHashSet<Op> =
            holders.filter(|&it| ir.is_alive(it) && loops::is_loop(ir, it)).collect();
        let carried = loops.into_iter().flat_map(|it| plaintext::defined(ir, it));
        heir.left.resize(ir.bounds().1, None);
        moved.extend(carried.filter(|&it| heir.find_left(ir, it) != heir.left[it.index()]));
        moved.extend(upkeep.said_anew(ir, heir, delta));
        let touched = Touched::new(ir, heir, &moved, delta);
        upkeep.recount(ir, heir, &touched.ops, &delta.removed)?;
        let largest = vec![upkeep.largest()];
        if largest != heir.largest && upkeep.has_last() {
            return None;
        }
        heir.largest = largest;
        heir.sources = OnceLock::new();
        heir.changing_functions = Default::default();
        let all = if difference.n_moduli { plaintext::values(ir) } else { Vec::new() };
        for &value in touched.values.iter().chain(&all) {
            heir.left[value.index()] = heir.find_left(ir, value);
        }
        self.upkeep = Some(upkeep);
        let has_other_params = difference.params || difference.n_moduli || difference.moves;
        Some(Upkept { values: touched.values, has_other_params })
    }
}

/// Takes in what modules say now; `None` if levels hang on what is other.
fn resettle(heir: &mut Heir, ir: &Ir, upkeep: &Upkeep) -> Option<Difference> {
    let settings = Settings::new(ir);
    let difference = heir.settings().difference(&settings)?;
    let says_so = heir.facts.analysis.marks_any() || settings.all().any(|it| it.scheme.is_some());
    if !says_so || difference.moves && upkeep.hangs_on_library() {
        return None;
    }
    heir.facts.analysis.settings = Arc::new(settings);
    Some(difference)
}

/// The indices that edits need.
#[derive(Debug)]
pub(crate) struct Upkeep {
    /// Ops that hold others, and calls, with what they say; `None` if that cannot be compared.
    headers: FxHashMap<Op, Option<Header>>,
    calls: Vec<Op>,
    /// The facts in the text of the definition of each value.
    said: Vec<Option<Said>>,
    /// By op.
    levels: Vec<u32>,
    /// The ops whose levels the library of the module decides.
    by_library: FxHashSet<Op>,
    /// Number of ops whose largest level is the key.
    n_with: BTreeMap<u32, usize>,
    n_unknown: usize,
    n_last: usize,
}

impl Upkeep {
    /// Of a program; `None` if no edit can be taken in.
    pub(crate) fn new(ir: &Ir, heir: &Heir) -> Option<Self> {
        let known = &heir.facts.analysis;
        let says_so = known.marks_any() || heir.settings().all().any(|it| it.scheme.is_some());
        if !says_so || !heir.settings().is_one() {
            return None;
        }
        let mut it = Self {
            headers: FxHashMap::default(),
            calls: Vec::new(),
            said: vec![None; ir.bounds().1],
            levels: vec![0; ir.bounds().0],
            by_library: FxHashSet::default(),
            n_with: BTreeMap::new(),
            n_unknown: 0,
            n_last: 0,
        };
        it.add_all(ir, heir, ir.root())?;
        Some(it)
    }

    /// `None` if an op cannot be kept up.
    fn add_all(&mut self, ir: &Ir, heir: &Heir, region: Region) -> Option<()> {
        for op in ir.items(region) {
            if is_structural(ir, op) {
                self.headers.insert(op, Header::of(ir, op));
                if ir.op(op).kind == OpKind::FuncCall {
                    self.calls.push(op);
                }
            }
            self.count(op, levels(ir, heir, op)?);
            self.note_library(ir, op);
            for value in plaintext::defined(ir, op) {
                self.said[value.index()] = Some(Said::of(ir, value));
            }
            for &(_, inner) in &ir.op(op).regions {
                self.add_all(ir, heir, inner)?;
            }
        }
        Some(())
    }

    /// Of the values that changed ops define, those of which something else is said or left, and
    /// new ones.
    pub(crate) fn said_anew(&mut self, ir: &Ir, heir: &Heir, delta: &Delta) -> Vec<Value> {
        self.said.resize(ir.bounds().1, None);
        // The op around annotates the arguments of a label.
        let entries = delta.changed.iter().flat_map(|&it| {
            let regions = ir.op(it).regions.iter();
            regions.flat_map(|it| &ir.block(flow::entry_block(ir, it.1)).args).copied()
        });
        let defined = delta.changed.iter().flat_map(|&it| plaintext::defined(ir, it));
        let defined: FxHashSet<Value> = defined.chain(entries).collect();
        let is_other = |&value: &Value| {
            let now = Some(Said::of(ir, value));
            let before = std::mem::replace(&mut self.said[value.index()], now);
            before != now || heir.find_left(ir, value) != heir.left[value.index()]
        };
        defined.into_iter().filter(is_other).collect()
    }

    fn note_library(&mut self, ir: &Ir, op: Op) {
        if rules::is_by_library(ir.op_name(op)) {
            self.by_library.insert(op);
        } else if !self.by_library.is_empty() {
            self.by_library.remove(&op);
        }
    }

    /// Returns true if the library of the module decides the level of some op.
    pub(crate) fn hangs_on_library(&self) -> bool {
        !self.by_library.is_empty()
    }

    /// Returns true if an edit changes an op with regions in a way that counts elsewhere.
    pub(crate) fn is_structural(&mut self, ir: &Ir, delta: &Delta) -> bool {
        if delta.removed.iter().any(|it| self.headers.contains_key(it)) {
            return true;
        }
        for &op in &delta.changed {
            let is_other = match self.headers.get(&op) {
                Some(before) => match (before, Header::of(ir, op)) {
                    (Some(before), Some(now)) => {
                        let is_renamed = || before.is_renamed(&now) && !self.names_functions();
                        *before != now && !is_renamed()
                    }
                    _ => true,
                },
                None => is_structural(ir, op),
            };
            if is_other {
                return true;
            }
        }
        // The first and the last op of what holds them may be others now.
        let all = delta.changed.iter().chain(&delta.removed);
        let holders = all.filter_map(|&it| ir.region(ir.op(it).parent).parent);
        let mut holders: Vec<Op> = holders.filter(|it| self.headers.contains_key(it)).collect();
        holders.sort_unstable();
        holders.dedup();
        for op in holders {
            let now = Header::of(ir, op);
            let before = self.headers.get(&op).and_then(Option::as_ref);
            // The op around feeds the arguments of a label.
            if before.map(Header::n_arguments) != now.as_ref().map(Header::n_arguments) {
                return true;
            }
            self.headers.insert(op, now);
        }
        false
    }

    /// Returns true if some op calls a function, or names the function whose client it is.
    fn names_functions(&self) -> bool {
        !self.calls.is_empty() || self.headers.values().flatten().any(Header::names_function)
    }

    /// Takes note of the levels of ops; `None` if they cannot be counted.
    pub(crate) fn recount(
        &mut self,
        ir: &Ir,
        heir: &Heir,
        ops: &[Op],
        removed: &[Op],
    ) -> Option<()> {
        self.levels.resize(ir.bounds().0, 0);
        for &op in removed {
            self.count(op, 0);
            self.by_library.remove(&op);
        }
        for &op in ops {
            self.count(op, levels(ir, heir, op)?);
            self.note_library(ir, op);
        }
        Some(())
    }

    fn count(&mut self, op: Op, now: u32) {
        let before = std::mem::replace(&mut self.levels[op.index()], now);
        if before == now {
            return;
        }
        let (was, is) = (before & LARGEST, now & LARGEST);
        if was > 0
            && let Some(n) = self.n_with.get_mut(&was)
        {
            *n -= 1;
            if *n == 0 {
                self.n_with.remove(&was);
            }
        }
        if is > 0 {
            *self.n_with.entry(is).or_default() += 1;
        }
        self.n_unknown += usize::from(now & UNKNOWN != 0);
        self.n_unknown -= usize::from(before & UNKNOWN != 0);
        self.n_last += usize::from(now & LAST != 0);
        self.n_last -= usize::from(before & LAST != 0);
    }

    /// The largest level of any ciphertext, and whether it is known to be that.
    pub(crate) fn largest(&self) -> (u32, bool) {
        (self.n_with.last_key_value().map_or(0, |it| *it.0), self.n_unknown == 0)
    }

    /// Returns true if the level of some ciphertext is the largest one, whichever that is.
    pub(crate) fn has_last(&self) -> bool {
        self.n_last > 0
    }
}

/// Returns true if a change of an op affects ops around it or elsewhere.
fn is_structural(ir: &Ir, op: Op) -> bool {
    let data = ir.op(op);
    !data.regions.is_empty()
        || matches!(data.kind, OpKind::FuncFunc | OpKind::FuncCall)
        || matches!(data.kind, OpKind::Chunk | OpKind::BuiltinModule)
}

/// The values that touched ops take and define, those that loops give to their next rounds, and
/// those that calls pass as touched arguments.
fn near_values(ir: &Ir, touched: &Touched) -> Vec<Value> {
    let mut out = Vec::new();
    for &value in &touched.values {
        let Def::Argument(block, index) = ir.value(value).def else { continue };
        let holder = ir.region(ir.block(block).region).parent;
        let Some(function) = holder.filter(|&it| ir.op(it).kind == OpKind::FuncFunc) else {
            continue;
        };
        let calls = flow::calls_of(ir, function).0.into_iter();
        out.extend(calls.filter_map(|it| ir.op(it).operands.get(index as usize)?.value));
    }
    for &op in &touched.ops {
        out.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
        out.extend(plaintext::defined(ir, op));
        let holder = if flow::is_yield(ir, op) { ir.parent_op(op) } else { None };
        for op in holder.into_iter().chain([op]) {
            loops::carried_by(ir, op, &mut |it| out.push(it.yielded));
        }
    }
    out
}

/// The levels that an op gives, as they are counted.
fn levels(ir: &Ir, heir: &Heir, op: Op) -> Option<u32> {
    let mut out = 0;
    for value in plaintext::defined(ir, op) {
        out = match heir.ciphertext(value) {
            Ciphertext::Encrypted { level: Level::Used(n), .. } => {
                if n > LARGEST {
                    return None;
                }
                (out & !LARGEST) | n.max(out & LARGEST)
            }
            Ciphertext::Encrypted { level: Level::All, .. } => out | LAST,
            Ciphertext::Unknown => out | UNKNOWN,
            _ => out,
        };
    }
    Some(out)
}
