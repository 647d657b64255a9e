//! Where the levels that are written differ from those that follow from the ops.
//!
//! HEIR writes how many levels are *left*; the analysis counts those that are *used*. The two add up to one number everywhere: the
//! largest level of the module. Which number that is in a program that someone has edited is decided by vote: what most values of a
//! function say, else what most of the module say, else what the most levels used say. So one wrong annotation is found at itself, and
//! not at everything that follows from it.
//!
//! *Cost.* A change of an op costs in proportion to what it says; asking for what is wrong, to how much that is, and to the functions.

use std::collections::BTreeMap;
use std::ops::Range;

use noisy_syntax::{Ir, Op, Source, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::base::annotated;
use super::{Heir, Level, plaintext};

/// A level that is written and is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The value.
    pub(crate) value: Value,
    /// The levels left that are written.
    pub(crate) written: u32,
    /// The levels that are used.
    pub(crate) used: u32,
    /// The levels that a fresh ciphertext has.
    pub(crate) all: u32,
}

/// What is written of the level of a value.
#[derive(Clone, Copy, Debug)]
struct Said {
    value: Value,
    written: u32,
    used: u32,
}

impl Said {
    /// The levels that a fresh ciphertext has by this.
    fn all(&self) -> u32 {
        self.written.saturating_add(self.used)
    }
}

/// Who says one number.
#[derive(Debug, Default)]
struct Votes {
    n: usize,
    ops: FxHashSet<Op>,
}

/// What got more votes than anything else.
fn winner(votes: impl Iterator<Item = (u32, usize)> + Clone) -> Option<u32> {
    let most = votes.clone().map(|it| it.1).max()?;
    let mut first = votes.filter(|it| it.1 == most);
    let winner = first.next()?.0;
    first.next().is_none().then_some(winner)
}

/// The levels that are written in a program.
#[derive(Debug, Default)]
pub(super) struct Written {
    /// By op that defines values, with its function.
    said: FxHashMap<Op, (Option<Op>, SmallVec<[Said; 1]>)>,
    /// By function, and by the levels that a fresh ciphertext has.
    by_function: FxHashMap<Option<Op>, BTreeMap<u32, Votes>>,
    /// How often each number is said.
    of_module: BTreeMap<u32, usize>,
    /// By op that takes a plaintext: which ops encode it, or something else from the same source.
    encoding: FxHashMap<Op, SmallVec<[Op; 1]>>,
}

impl Written {
    /// What is said of plaintexts by ops that encode them and that stands on an op, which is looked at anew.
    pub(super) fn stands_on(&mut self, op: Op) -> SmallVec<[Op; 1]> {
        if self.encoding.is_empty() {
            SmallVec::new()
        } else {
            self.encoding.remove(&op).unwrap_or_default()
        }
    }

    /// Takes note of what is written on an op.
    pub(super) fn note(&mut self, ir: &Ir, heir: &Heir, op: Op) {
        self.forget(op);
        if ir.op_name(op) == "mgmt.init" && ir.attr(op, "mgmt.mgmt").is_some() {
            let data = ir.op(op);
            let source = data.operands.iter().filter_map(|it| it.value);
            for value in source.chain(data.results.iter().copied()) {
                let users = ir.value(value).uses.iter().map(|it| it.0);
                for user in users.filter(|&it| ir.op_name(it) != "mgmt.init") {
                    let encoding = self.encoding.entry(user).or_default();
                    if !encoding.contains(&op) {
                        encoding.push(op);
                    }
                }
            }
        }
        let said = |value: Value| {
            let written = annotated(ir, value, "level")?;
            let used = match heir.ciphertext(value).level() {
                Some(_) => heir.written(ir, value)?,
                None if heir.unclear.contains(&value) => return None,
                None => match plaintext::wanted_by_uses(ir, value, &|it| heir.ciphertext(it))? {
                    Level::Used(n) => n,
                    _ => return None,
                },
            };
            Some(Said { value, written, used })
        };
        let found: SmallVec<[Said; 1]> =
            plaintext::defined(ir, op).into_iter().filter_map(said).collect();
        if found.is_empty() {
            return;
        }
        let function = ir.function_of(op);
        let votes = self.by_function.entry(function).or_default();
        for it in &found {
            let all = votes.entry(it.all()).or_default();
            all.n += 1;
            all.ops.insert(op);
            *self.of_module.entry(it.all()).or_default() += 1;
        }
        self.said.insert(op, (function, found));
    }

    /// Forgets what was written on an op.
    pub(super) fn forget(&mut self, op: Op) {
        let Some((function, said)) = self.said.remove(&op) else { return };
        let Some(votes) = self.by_function.get_mut(&function) else { return };
        for it in &said {
            if let Some(all) = votes.get_mut(&it.all()) {
                all.n -= 1;
                all.ops.remove(&op);
                if all.n == 0 {
                    votes.remove(&it.all());
                }
            }
            if let Some(n) = self.of_module.get_mut(&it.all()) {
                *n -= 1;
                if *n == 0 {
                    self.of_module.remove(&it.all());
                }
            }
        }
        if votes.is_empty() {
            self.by_function.remove(&function);
        }
    }

    /// The levels that a fresh ciphertext has in the function of a value.
    pub(super) fn levels(&self, ir: &Ir, heir: &Heir, value: Value) -> u32 {
        self.of(heir, ir.definition_site(value).and_then(|it| ir.function_of(it)))
    }

    fn of(&self, heir: &Heir, function: Option<Op>) -> u32 {
        let votes = self.by_function.get(&function);
        let here = votes.and_then(|it| winner(it.iter().map(|it| (*it.0, it.1.n))));
        let of_module = || winner(self.of_module.iter().map(|it| (*it.0, *it.1)));
        here.or_else(of_module).unwrap_or_else(|| heir.levels())
    }

    /// All that is wrong, in textual order.
    pub(super) fn mismatches(&self, ir: &Ir, heir: &Heir) -> Vec<Mismatch> {
        let wrong_in = |(&function, votes): (&Option<Op>, &BTreeMap<u32, Votes>)| {
            let all = self.of(heir, function);
            let wrong = votes.iter().filter(|it| *it.0 != all);
            wrong.flat_map(|it| it.1.ops.iter().map(|&op| (op, all))).collect::<Vec<_>>()
        };
        let mut ops: Vec<(Op, u32)> = self.by_function.iter().flat_map(wrong_in).collect();
        ops.sort_by_cached_key(|it| (ir.start(it.0), it.0.index()));
        ops.dedup();
        let of = |(op, all): (Op, u32)| {
            let said = self.said.get(&op).map_or(&[] as &[Said], |it| &it.1);
            let wrong = said.iter().filter(move |it| it.all() != all);
            wrong.map(move |&Said { value, written, used }| Mismatch { value, written, used, all })
        };
        ops.into_iter().flat_map(of).collect()
    }
}

/// Where the level of an op without regions is written, if that is one place.
pub(crate) fn level_range(source: &Source, op: Op) -> Option<Range<usize>> {
    let head = source.ir().head_range(op);
    let text = source.slice(head.clone());
    let start = text.find("#mgmt.mgmt<")?;
    if text[start + 1..].contains("#mgmt.mgmt<") {
        return None;
    }
    let body = &text[start..start + text[start..].find('>')?];
    let at = start + body.find("level")? + "level".len();
    let number = text[at..].find(|it: char| it.is_ascii_digit())? + at;
    let len = text[number..].find(|it: char| !it.is_ascii_digit())?;
    Some(head.start + number..head.start + number + len)
}
