//! Annotated levels and polynomials that differ from those that follow from the ops.
//!
//! Polynomials that are not written are two, in HEIR and here. Four kinds of annotations are not
//! judged: those on values whose level or polynomials HEIR does not know, those after lowering to a
//! scheme, goals, and two polynomials in a function in which nothing is relinearized. *Goals* are
//! levels and polynomials of arguments and results of generics and functions in which no op has an
//! annotation and no `mgmt` op is placed: `--ilp-bootstrap-placement` is to reach them.
//!
//! HEIR writes the levels that are *left*; the analysis counts those that are *used*. The two add
//! up to one number everywhere: the largest level of the module. In an edited program a vote
//! decides that number: the sum of most annotations of a function, if at least two agree, else that
//! of most annotations of its part of the document, else the most levels used. So a wrong
//! annotation is reported where it stands, and not at all values that follow from it.
//!
//! *Cost.* A change of an op costs in proportion to its annotations; a query, in proportion to the
//! mismatches and the functions.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use noisy_syntax::{Attr, Ir, Op, OpKind, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use crate::facts::fact::{HeirNumber, Level};
use crate::facts::known::Heir;
use crate::facts::plaintext;
use crate::ops::rules;
use crate::text::annotation::{self, Holder, Said};
use noisy_dataflow::flow;

/// A level that is written and is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// The value.
    pub value: Value,
    /// The holder of the annotation.
    pub holder: Holder,
    /// The levels left that are written.
    pub written: u32,
    /// The levels that are used.
    pub used: u32,
    /// The levels that a fresh ciphertext has.
    pub all: u32,
}

/// Polynomials that are written, or that go without saying, and are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Resized {
    /// The value.
    pub value: Value,
    /// The holder of the annotation.
    pub holder: Holder,
    /// The polynomials that are written; `None` if none are, which says two.
    pub written: Option<u32>,
    /// The polynomials that it has.
    pub dimension: u32,
}

impl Resized {
    /// Returns true if two are written.
    pub(crate) fn says_two(&self) -> bool {
        self.written.unwrap_or(annotation::UNSAID_DIMENSION) == annotation::UNSAID_DIMENSION
    }
}

/// An annotated level of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Claim {
    value: Value,
    holder: Holder,
    written: u32,
    used: u32,
    /// True if the level is right whatever the vote: the type of an encrypted value has it, or it
    /// is the last level and written as such.
    is_right: bool,
}

impl Claim {
    /// The levels that a fresh ciphertext has by this.
    fn all(&self) -> u32 {
        self.written.saturating_add(self.used)
    }
}

/// The annotations of an op.
#[derive(Debug)]
struct Noted {
    function: Option<Op>,
    part: usize,
    said: SmallVec<[Claim; 1]>,
}

/// The ops that vote for one number.
#[derive(Debug, Default)]
struct Votes {
    n: usize,
    ops: FxHashSet<Op>,
}

/// The ops of a function with other polynomials written than follow.
#[derive(Debug, Default)]
struct OfFunction {
    /// The ops with another number.
    others: FxHashSet<Op>,
    /// The ops all of whose annotations are two.
    twos: FxHashSet<Op>,
}

/// The progress of HEIR in a function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Stage {
    /// It has placed ops of `mgmt`.
    pub(crate) is_managed: bool,
    /// Ops that say where levels are used are among them.
    pub(crate) uses_levels: bool,
    /// Relinearizations are among them.
    pub(crate) is_relinearized: bool,
}

/// The functions whose annotations are goals.
#[derive(Debug, Default)]
struct Goals {
    functions: FxHashSet<Option<Op>>,
    /// The number of annotations in them for each sum, by part of the document.
    said: FxHashMap<(usize, u32), usize>,
    /// The signs of goals in each function with a generic, a call or a level.
    alone: FxHashMap<Option<Op>, Alone>,
}

/// The signs of goals in a function itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Alone {
    /// True if only generics, calls outside of these and the function itself have levels, and no op
    /// says where levels are used.
    is_open: bool,
    /// A generic in it computes with ciphertexts.
    computes: bool,
}

/// The progress of HEIR in each function.
pub(crate) type StageOf<'a> = &'a dyn Fn(Option<Op>) -> Stage;

/// The number with more votes than any other.
fn winner(votes: impl Iterator<Item = (u32, usize)> + Clone) -> Option<u32> {
    let most = votes.clone().map(|it| it.1).max()?;
    let mut first = votes.filter(|it| it.1 == most);
    let winner = first.next()?.0;
    first.next().is_none().then_some(winner)
}

/// The levels that are written in a program.
#[derive(Debug, Default)]
pub(crate) struct Written {
    /// By op that holds annotations.
    said: FxHashMap<Op, Noted>,
    /// By function, and by the levels that a fresh ciphertext has.
    by_function: FxHashMap<Option<Op>, BTreeMap<u32, Votes>>,
    /// The number of votes for each sum, by part of the document.
    by_part: BTreeMap<usize, BTreeMap<u32, usize>>,
    /// By function.
    generics: FxHashMap<Option<Op>, Vec<Op>>,
    /// The functions that call others.
    calling: FxHashSet<Option<Op>>,
    /// Found when somebody asks, and kept until a function says something else.
    goals: OnceLock<Goals>,
    /// The functions with ops that changed since, each with true if its levels changed.
    anew: FxHashMap<Option<Op>, bool>,
    /// By op that takes a plaintext: which ops encode it, or something else from the same source.
    encoding: FxHashMap<Op, SmallVec<[Op; 1]>>,
    /// By op that holds annotations: other polynomials than follow, and the function.
    resized: FxHashMap<Op, (Option<Op>, SmallVec<[Resized; 1]>)>,
    resized_in: FxHashMap<Option<Op>, OfFunction>,
}

impl Written {
    /// The ops that encode a plaintext for this op, to be looked at again with it.
    pub(crate) fn stands_on(&mut self, op: Op) -> SmallVec<[Op; 1]> {
        if self.encoding.is_empty() {
            SmallVec::new()
        } else {
            self.encoding.remove(&op).unwrap_or_default()
        }
    }

    /// Takes note of a generic or a call; what edits where these are makes all anew.
    pub(crate) fn add(&mut self, ir: &Ir, op: Op) {
        let function = || ir.function_of(op);
        if ir.is_secret_generic(op) {
            self.generics.entry(function()).or_default().push(op);
        } else if ir.op(op).kind == OpKind::FuncCall {
            self.calling.insert(function());
        }
    }

    /// Takes note of what is written on an op.
    pub(crate) fn note(&mut self, ir: &Ir, heir: &Heir, op: Op) {
        let before = self.take(op);
        self.find(ir, heir, op);
        let now = self.said.get(&op);
        let said = |it: Option<&Noted>| it.map(|it| it.said.clone()).unwrap_or_default();
        let is_other = said(before.as_ref()) != said(now);
        *self.anew.entry(ir.function_of(op)).or_default() |= is_other;
        // Another function may be called.
        if ir.op(op).kind == OpKind::FuncCall {
            self.goals = OnceLock::new();
        }
    }

    /// Forgets what was written on an op.
    pub(crate) fn forget(&mut self, op: Op) {
        if let Some(Noted { function, .. }) = self.take(op) {
            self.anew.insert(function, true);
        }
    }

    /// Takes in all that was noted and forgotten.
    pub(crate) fn settle(&mut self, ir: &Ir, heir: &Heir, stage: StageOf<'_>) {
        let anew = std::mem::take(&mut self.anew);
        let Some(goals) = self.goals.get() else { return };
        let is_other = |(&function, &is_other): (&Option<Op>, &bool)| {
            let before = goals.alone.get(&function).copied().unwrap_or_default();
            is_other && goals.functions.contains(&function)
                || before != self.alone(ir, heir, function, stage(function))
        };
        if anew.iter().any(is_other) {
            self.goals = OnceLock::new();
        }
    }

    /// Finds what is written on an op.
    fn find(&mut self, ir: &Ir, heir: &Heir, op: Op) {
        if ir.op_name(op) == "mgmt.init" && ir.attr(op, "mgmt.mgmt").is_some() {
            let data = ir.op(op);
            let source = data.operands.iter().filter_map(|it| it.value);
            for value in source.chain(data.results.iter().copied()) {
                let users = ir.value(value).uses.iter().map(|it| it.0);
                // The op around knows what a branch ends with.
                let around = |op: Op| ir.parent_op(op).filter(|_| flow::is_yield(ir, op));
                let users = users.flat_map(|it| [Some(it), around(it)]).flatten();
                for user in users.filter(|&it| ir.op_name(it) != "mgmt.init") {
                    let encoding = self.encoding.entry(user).or_default();
                    if !encoding.contains(&op) {
                        encoding.push(op);
                    }
                }
            }
        }
        let note = |value: Value, holder: Holder, written: u32| {
            let used = match heir.ciphertext(value).level() {
                Some(_) => heir.written(ir, value)?,
                None if heir.written_as(value).level == HeirNumber::Fresh => return None,
                // HEIR writes 0 where it sees no ciphertexts.
                None if plaintext::is_init(ir, value) => {
                    if written == 0 && !heir.is_encoded(ir, value) {
                        return None;
                    }
                    heir.written(ir, value)?
                }
                // HEIR writes the level of what is decrypted.
                None => {
                    let op = ir.defining_op(value).filter(|&it| rules::decrypts(ir.op_name(it)))?;
                    let mut taken = ir.op(op).operands.iter().filter_map(|it| it.value);
                    heir.written(ir, taken.find(|&it| heir.ciphertext(it).level().is_some())?)?
                }
            };
            // An encrypted value has the level of its type.
            let is_encryption =
                ir.defining_op(value).is_some_and(|it| rules::encrypts(ir.op_name(it)));
            // A trivial encryption is one at whatever level is written.
            let is_trivial =
                ir.defining_op(value).is_some_and(|it| ir.op_name(it) == "lwe.trivial_encrypt");
            let is_typed = is_trivial
                || is_encryption && heir.level_by_type(ir, value) == usize::try_from(written).ok();
            // The last level is 0 also where a fresh ciphertext has more than are used.
            let is_last = heir.ciphertext(value).level() == Some(Level::All) && written == 0;
            Some(Claim { value, holder, written, used, is_right: is_typed || is_last })
        };
        let of = |value: Value| {
            let (holder, attr) = annotation::holder(ir, value)?;
            Some((value, holder, attr))
        };
        let data = ir.op(op);
        let mut all: SmallVec<[(Value, Holder, Attr); 1]> = SmallVec::new();
        // The op around annotates the arguments of a label.
        if data.kind != OpKind::Label {
            all.extend(data.results.iter().copied().filter_map(of));
        }
        for &(_, region) in &data.regions {
            let args = ir.block(flow::entry_block(ir, region)).args.iter().copied();
            all.extend(args.filter_map(of));
        }
        if data.kind == OpKind::FuncFunc {
            all.extend((0..flow::n_results(ir, op)).filter_map(|at| {
                let (value, attr) = annotation::returned(ir, op, at)?;
                Some((value, Holder::Given(op, at), attr))
            }));
        }
        let resized = all.iter().filter_map(|&(value, holder, attr)| {
            annotation::said(ir, attr, "level").number()?;
            let written = match annotation::said(ir, attr, "dimension") {
                Said::Number(it) => Some(it),
                Said::Nothing => None,
                Said::Unreadable => return None,
            };
            let dimension = heir.comparable_dimension(ir, value)?;
            let is_other = dimension != written.unwrap_or(annotation::UNSAID_DIMENSION);
            is_other.then_some(Resized { value, holder, written, dimension })
        });
        let resized: SmallVec<[Resized; 1]> = resized.collect();
        let (function, part) = (ir.function_of(op), heir.settings().part(op));
        if !resized.is_empty() {
            let here = self.resized_in.entry(function).or_default();
            let says_two = resized.iter().all(Resized::says_two);
            if says_two { &mut here.twos } else { &mut here.others }.insert(op);
            self.resized.insert(op, (function, resized));
        }
        let levels = all.iter().filter_map(|&(value, holder, attr)| {
            note(value, holder, annotation::said(ir, attr, "level").number()?)
        });
        let found: SmallVec<[Claim; 1]> = levels.collect();
        if found.is_empty() {
            return;
        }
        let votes = self.by_function.entry(function).or_default();
        let of_part = self.by_part.entry(part).or_default();
        for it in &found {
            let all = votes.entry(it.all()).or_default();
            all.n += 1;
            all.ops.insert(op);
            *of_part.entry(it.all()).or_default() += 1;
        }
        self.said.insert(op, Noted { function, part, said: found });
    }

    /// Takes out what was written on an op.
    fn take(&mut self, op: Op) -> Option<Noted> {
        if let Some((function, _)) = self.resized.remove(&op)
            && let Some(here) = self.resized_in.get_mut(&function)
        {
            here.others.remove(&op);
            here.twos.remove(&op);
        }
        let noted = self.said.remove(&op)?;
        let Noted { function, part, ref said } = noted;
        let (Some(votes), Some(of_part)) =
            (self.by_function.get_mut(&function), self.by_part.get_mut(&part))
        else {
            return Some(noted);
        };
        for it in said {
            if let Some(all) = votes.get_mut(&it.all()) {
                all.n -= 1;
                all.ops.remove(&op);
                if all.n == 0 {
                    votes.remove(&it.all());
                }
            }
            if let Some(n) = of_part.get_mut(&it.all()) {
                *n -= 1;
                if *n == 0 {
                    of_part.remove(&it.all());
                }
            }
        }
        if votes.is_empty() {
            self.by_function.remove(&function);
        }
        Some(noted)
    }

    /// The levels that a fresh ciphertext has in the function of a value.
    pub(crate) fn levels(&self, ir: &Ir, heir: &Heir, stage: StageOf<'_>, value: Value) -> u32 {
        let Some(op) = ir.definition_site(value) else { return heir.levels() };
        self.of(heir, self.goals(ir, heir, stage), ir.function_of(op), op)
    }

    /// The levels that a fresh ciphertext has in a function with an op.
    fn of(&self, heir: &Heir, goals: &Goals, function: Option<Op>, op: Op) -> u32 {
        let votes = self.by_function.get(&function);
        let here = votes.and_then(|it| winner(it.iter().map(|it| (*it.0, it.1.n))));
        // One alone may be the wrong one.
        let is_said_twice = |all: &u32| votes.and_then(|it| it.get(all)).is_some_and(|it| it.n > 1);
        let of_part = || {
            let part = heir.settings().part(op);
            let votes = self.by_part.get(&part)?.iter().map(|(&all, &n)| {
                (all, n - goals.said.get(&(part, all)).copied().unwrap_or_default())
            });
            winner(votes.filter(|it| it.1 > 0))
        };
        here.filter(is_said_twice).or_else(of_part).unwrap_or_else(|| heir.levels())
    }

    /// Returns true if the annotations of a function are goals.
    pub(crate) fn is_goal(
        &self,
        ir: &Ir,
        heir: &Heir,
        stage: StageOf<'_>,
        function: Option<Op>,
    ) -> bool {
        self.by_function.contains_key(&function)
            && self.goals(ir, heir, stage).functions.contains(&function)
    }

    /// Open functions in which a generic computes have goals, and open ones that call such.
    fn goals(&self, ir: &Ir, heir: &Heir, stage: StageOf<'_>) -> &Goals {
        self.goals.get_or_init(|| {
            let mut goals = Goals::default();
            let all = self.generics.keys().chain(&self.calling).chain(self.by_function.keys());
            for &function in all {
                let alone = || self.alone(ir, heir, function, stage(function));
                goals.alone.entry(function).or_insert_with(alone);
            }
            let computing = goals.alone.iter().filter(|it| it.1.computes).map(|it| *it.0);
            let mut stack: Vec<Option<Op>> = computing.collect();
            while let Some(function) = stack.pop() {
                let is_open = goals.alone.get(&function).is_some_and(|it| it.is_open);
                if is_open && goals.functions.insert(function) {
                    let callers = function.map(|it| flow::callers_of(ir, it));
                    stack.extend(callers.into_iter().flatten().map(Some));
                }
            }
            let of_goals = self.by_function.iter().filter(|it| goals.functions.contains(it.0));
            let ops: FxHashSet<&Op> =
                of_goals.flat_map(|it| it.1.values().flat_map(|it| &it.ops)).collect();
            let noted: Vec<&Noted> = ops.into_iter().filter_map(|it| self.said.get(it)).collect();
            for it in noted {
                for said in &it.said {
                    *goals.said.entry((it.part, said.all())).or_default() += 1;
                }
            }
            goals
        })
    }

    /// The signs of goals in a function itself.
    fn alone(&self, ir: &Ir, heir: &Heir, function: Option<Op>, stage: Stage) -> Alone {
        let is_in_generic = |op: Op| rules::generic_around(ir, op).is_some();
        let is_rim = |&op: &Op| match ir.op(op).kind {
            OpKind::FuncFunc => true,
            OpKind::FuncCall => !is_in_generic(op),
            _ => ir.is_secret_generic(op),
        };
        let is_encrypted = |it: &Value| heir.ciphertext(*it).level().is_some();
        // A label computes nothing.
        let computes = |op: Op| {
            let data = ir.op(op);
            data.kind != OpKind::Label && data.results.iter().any(is_encrypted)
        };
        let generics = self.generics.get(&function).into_iter().flatten();
        let mut regions = generics.flat_map(|&it| &ir.op(it).regions);
        let mut written = self.by_function.get(&function).into_iter().flat_map(|it| it.values());
        Alone {
            is_open: !stage.uses_levels && written.all(|it| it.ops.iter().all(is_rim)),
            computes: regions.any(|it| ir.items(it.1).any(computes)),
        }
    }

    /// All that is wrong, in textual order.
    pub(crate) fn mismatches(&self, ir: &Ir, heir: &Heir, stage: StageOf<'_>) -> Vec<Mismatch> {
        let goals = self.goals(ir, heir, stage);
        let wrong_in = |(&function, votes): (&Option<Op>, &BTreeMap<u32, Votes>)| {
            let Some(&op) = votes.values().find_map(|it| it.ops.iter().next()) else {
                return Vec::new();
            };
            if goals.functions.contains(&function) {
                return Vec::new();
            }
            let all = self.of(heir, goals, function, op);
            let wrong = votes.iter().filter(|it| *it.0 != all);
            wrong.flat_map(|it| it.1.ops.iter().map(|&op| (op, all))).collect::<Vec<_>>()
        };
        let mut ops: Vec<(Op, u32)> = self.by_function.iter().flat_map(wrong_in).collect();
        ops.sort_by_cached_key(|it| (ir.start(it.0), it.0.index()));
        ops.dedup();
        ops.into_iter().flat_map(|(op, all)| self.mismatches_among(op, all)).collect()
    }

    /// As [`Written::mismatches`], of one op.
    pub(crate) fn mismatches_of(
        &self,
        ir: &Ir,
        heir: &Heir,
        stage: StageOf<'_>,
        op: Op,
    ) -> Vec<Mismatch> {
        let Some(noted) = self.said.get(&op) else { return Vec::new() };
        let goals = self.goals(ir, heir, stage);
        if goals.functions.contains(&noted.function) {
            return Vec::new();
        }
        self.mismatches_among(op, self.of(heir, goals, noted.function, op)).collect()
    }

    /// The annotations of an op that contradict the levels of a fresh ciphertext.
    fn mismatches_among(&self, op: Op, all: u32) -> impl Iterator<Item = Mismatch> {
        let said = self.said.get(&op).map_or(&[] as &[Claim], |it| &it.said);
        said.iter().filter(move |it| it.all() != all && !it.is_right).map(
            move |&Claim { value, holder, written, used, .. }| Mismatch {
                value,
                holder,
                written,
                used,
                all,
            },
        )
    }

    /// The ops with other polynomials written than follow, in no particular order. Two polynomials
    /// are right until HEIR relinearizes the function.
    pub(crate) fn resized(&self, ir: &Ir, heir: &Heir, stage: StageOf<'_>) -> Vec<Op> {
        let of = |(&function, here): (&Option<Op>, &OfFunction)| {
            let is_relinearized = stage(function).is_relinearized;
            let twos = here.twos.iter().filter(|_| is_relinearized);
            let found: Vec<Op> = here.others.iter().chain(twos).copied().collect();
            let is_goal = !found.is_empty() && self.is_goal(ir, heir, stage, function);
            if is_goal { Vec::new() } else { found }
        };
        self.resized_in.iter().flat_map(of).collect()
    }

    /// The polynomials that are written on an op and are others.
    pub(crate) fn resized_of(&self, op: Op) -> &[Resized] {
        self.resized.get(&op).map_or(&[], |it| &it.1)
    }
}
