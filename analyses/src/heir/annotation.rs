//! Where the levels and the polynomials that are written differ from those that follow from the ops.
//!
//! Polynomials that are not written are two, in HEIR and here. What HEIR writes where it knows no level or no polynomials, and on what is
//! lowered to a scheme, is not judged.
//!
//! HEIR writes how many levels are *left*; the analysis counts those that are *used*. The two add up to one number everywhere: the
//! largest level of the module. Which number that is in a program that someone has edited is decided by vote: what most values of a
//! function say, if at least two say it, else what most of its part of the document say, else what the most levels used say. So one wrong
//! annotation is found at itself, and not at everything that follows from it.
//!
//! *Cost.* A change of an op costs in proportion to what it says; asking for what is wrong, to how much that is, and to the functions.

use std::collections::BTreeMap;
use std::ops::Range;

use noisy_syntax::{Attr, Ir, Op, OpKind, Source, Span, Value};
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

use super::base::{self, Holder};
use super::{Heir, plaintext, rows};
use crate::flow;
use crate::noise::contract::{self, Side};

/// A level that is written and is another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Mismatch {
    /// The value.
    pub(crate) value: Value,
    /// What holds the annotation.
    pub(crate) holder: Holder,
    /// The levels left that are written.
    pub(crate) written: u32,
    /// The levels that are used.
    pub(crate) used: u32,
    /// The levels that a fresh ciphertext has.
    pub(crate) all: u32,
}

/// Polynomials that are written, or that go without saying, and are others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resized {
    /// The value.
    pub(crate) value: Value,
    /// What holds the annotation.
    pub(crate) holder: Holder,
    /// The polynomials that are written; `None` if none are, which says two.
    pub(crate) written: Option<u32>,
    /// The polynomials that it has.
    pub(crate) dimension: u32,
}

/// What is written of the level of a value.
#[derive(Clone, Copy, Debug)]
struct Said {
    value: Value,
    holder: Holder,
    written: u32,
    used: u32,
}

impl Said {
    /// The levels that a fresh ciphertext has by this.
    fn all(&self) -> u32 {
        self.written.saturating_add(self.used)
    }
}

/// What an op says.
#[derive(Debug)]
struct Noted {
    function: Option<Op>,
    part: usize,
    said: SmallVec<[Said; 1]>,
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
    /// By op that holds annotations.
    said: FxHashMap<Op, Noted>,
    /// By function, and by the levels that a fresh ciphertext has.
    by_function: FxHashMap<Option<Op>, BTreeMap<u32, Votes>>,
    /// How often each number is said, by part of the document.
    by_part: BTreeMap<usize, BTreeMap<u32, usize>>,
    /// By op that takes a plaintext: which ops encode it, or something else from the same source.
    encoding: FxHashMap<Op, SmallVec<[Op; 1]>>,
    /// By op that holds annotations: other polynomials than follow.
    resized: FxHashMap<Op, SmallVec<[Resized; 1]>>,
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
                // What a branch ends with is known where the branches meet.
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
        let said = |value: Value, holder: Holder, written: u32| {
            let used = match heir.ciphertext(value).level() {
                Some(_) => heir.written(ir, value)?,
                None if heir.unclear.contains(&value) => return None,
                None if plaintext::is_init(ir, value) => heir.written(ir, value)?,
                // HEIR writes the level of what is decrypted.
                None => {
                    let op = ir.defining_op(value).filter(|&it| rows::decrypts(ir.op_name(it)))?;
                    let mut taken = ir.op(op).operands.iter().filter_map(|it| it.value);
                    heir.written(ir, taken.find(|&it| heir.ciphertext(it).level().is_some())?)?
                }
            };
            Some(Said { value, holder, written, used })
        };
        let of = |value: Value| {
            let (holder, attr) = base::holder(ir, value)?;
            Some((value, holder, attr))
        };
        let data = ir.op(op);
        let mut all: SmallVec<[(Value, Holder, Attr); 1]> = SmallVec::new();
        // What a label names is said by the op around.
        if data.kind != OpKind::Label {
            all.extend(data.results.iter().copied().filter_map(of));
        }
        for &(_, region) in &data.regions {
            let args = ir.block(flow::entry_block(ir, region)).args.iter().copied();
            all.extend(args.filter_map(of));
        }
        if data.kind == OpKind::FuncFunc {
            all.extend((0..flow::n_results(ir, op)).filter_map(|at| {
                let (value, attr) = base::returned(ir, op, at)?;
                Some((value, Holder::Given(op, at), attr))
            }));
        }
        let resized = all.iter().filter_map(|&(value, holder, attr)| {
            base::number(ir, attr, "level")?;
            let written = base::number(ir, attr, "dimension");
            let dimension = heir.comparable_dimension(ir, value)?;
            let is_other = dimension != written.unwrap_or(base::UNSAID_DIMENSION);
            is_other.then_some(Resized { value, holder, written, dimension })
        });
        let resized: SmallVec<[Resized; 1]> = resized.collect();
        if !resized.is_empty() {
            self.resized.insert(op, resized);
        }
        let levels = all.iter().filter_map(|&(value, holder, attr)| {
            said(value, holder, base::number(ir, attr, "level")?)
        });
        let found: SmallVec<[Said; 1]> = levels.collect();
        if found.is_empty() {
            return;
        }
        let (function, part) = (ir.function_of(op), heir.settings().part(op));
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

    /// Forgets what was written on an op.
    pub(super) fn forget(&mut self, op: Op) {
        self.resized.remove(&op);
        let Some(Noted { function, part, said }) = self.said.remove(&op) else { return };
        let Some(votes) = self.by_function.get_mut(&function) else { return };
        let Some(of_part) = self.by_part.get_mut(&part) else { return };
        for it in &said {
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
    }

    /// The levels that a fresh ciphertext has in the function of a value.
    pub(super) fn levels(&self, ir: &Ir, heir: &Heir, value: Value) -> u32 {
        let Some(op) = ir.definition_site(value) else { return heir.levels() };
        self.of(heir, ir.function_of(op), op)
    }

    /// The levels that a fresh ciphertext has in a function with an op.
    fn of(&self, heir: &Heir, function: Option<Op>, op: Op) -> u32 {
        let votes = self.by_function.get(&function);
        let here = votes.and_then(|it| winner(it.iter().map(|it| (*it.0, it.1.n))));
        // One alone may be the wrong one.
        let is_said_twice = |all: &u32| votes.and_then(|it| it.get(all)).is_some_and(|it| it.n > 1);
        let of_part = || {
            let votes = self.by_part.get(&heir.settings().part(op))?;
            winner(votes.iter().map(|it| (*it.0, *it.1)))
        };
        here.filter(is_said_twice).or_else(of_part).unwrap_or_else(|| heir.levels())
    }

    /// All that is wrong, in textual order.
    pub(super) fn mismatches(&self, ir: &Ir, heir: &Heir) -> Vec<Mismatch> {
        let wrong_in = |(&function, votes): (&Option<Op>, &BTreeMap<u32, Votes>)| {
            let Some(&op) = votes.values().find_map(|it| it.ops.iter().next()) else {
                return Vec::new();
            };
            let all = self.of(heir, function, op);
            let wrong = votes.iter().filter(|it| *it.0 != all);
            wrong.flat_map(|it| it.1.ops.iter().map(|&op| (op, all))).collect::<Vec<_>>()
        };
        let mut ops: Vec<(Op, u32)> = self.by_function.iter().flat_map(wrong_in).collect();
        ops.sort_by_cached_key(|it| (ir.start(it.0), it.0.index()));
        ops.dedup();
        ops.into_iter().flat_map(|(op, all)| self.mismatches_among(op, all)).collect()
    }

    /// As [`Written::mismatches`], of one op.
    pub(super) fn mismatches_of(&self, heir: &Heir, op: Op) -> Vec<Mismatch> {
        let Some(noted) = self.said.get(&op) else { return Vec::new() };
        self.mismatches_among(op, self.of(heir, noted.function, op)).collect()
    }

    /// What an op says that does not go with the levels of a fresh ciphertext.
    fn mismatches_among(&self, op: Op, all: u32) -> impl Iterator<Item = Mismatch> {
        let said = self.said.get(&op).map_or(&[] as &[Said], |it| &it.said);
        said.iter().filter(move |it| it.all() != all).map(
            move |&Said { value, holder, written, used }| Mismatch {
                value,
                holder,
                written,
                used,
                all,
            },
        )
    }

    /// The ops with other polynomials written than follow, in no particular order.
    pub(super) fn resized(&self) -> impl Iterator<Item = Op> {
        self.resized.keys().copied()
    }

    /// The polynomials that are written on an op and are others.
    pub(super) fn resized_of(&self, op: Op) -> &[Resized] {
        self.resized.get(&op).map_or(&[], |it| it)
    }
}

/// Where an annotation stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// The whole of it, if its op holds several, or other ops.
    pub(crate) whole: Option<Range<usize>>,
    /// The number of the level in it, if it is written there and not by an alias.
    pub(crate) level: Option<Range<usize>>,
    /// That of the polynomials.
    pub(crate) dimension: Option<Range<usize>>,
    /// What says the polynomials, with a comma that goes with it.
    pub(crate) entry: Option<Range<usize>>,
}

impl Place {
    /// That of an annotation; `at` is where a part of its text stands in the file.
    fn new(
        text: &str,
        whole: Option<Range<usize>>,
        at: &dyn Fn(Range<usize>) -> Range<usize>,
    ) -> Self {
        let entry = entry_of(text, "dimension");
        Self {
            whole,
            level: number_of(text, "level").map(at),
            dimension: number_of(text, "dimension").map(at),
            entry: entry.map(at),
        }
    }
}

/// Where an annotation of a value stands.
pub(crate) fn place(source: &Source, holder: Holder) -> Option<Place> {
    let (op, side, index) = match holder {
        Holder::Op(op) => {
            let text = contract::own_text(source, op);
            let start = text.find("#mgmt.mgmt<")?;
            let is_one = !text[start + 1..].contains("#mgmt.mgmt<");
            let end = start + text[start..].find('>').filter(|_| is_one)?;
            let at = |it: Range<usize>| {
                let span = Span::new((start + it.start) as u32, (start + it.end) as u32);
                source.ir().absolute(op, span)
            };
            // It stands behind the regions of an op.
            let is_apart = !source.ir().op(op).regions.is_empty();
            let whole = is_apart.then(|| at(0..end + 1 - start));
            return Some(Place::new(&text[start..end], whole, &at));
        }
        Holder::Taken(op, index) => (op, Side::Argument, index),
        Holder::Given(op, index) => (op, Side::Result, index),
    };
    let whole = contract::attribute_range(source, op, side, index, "mgmt.mgmt")?;
    let text = source.slice(whole.clone());
    let start = whole.start;
    Some(Place::new(&text, Some(whole), &|it| start + it.start..start + it.end))
}

/// Where a key first has a value in the text of an op, outside of its regions.
pub(crate) fn place_of(source: &Source, op: Op, key: &str) -> Option<Range<usize>> {
    let text = contract::own_text(source, op);
    let is_key = |at: &usize| {
        let rest = text[at + key.len()..].trim_start_matches(['"', ' ']);
        rest.starts_with('=')
            && !text[..*at].ends_with(|it: char| it.is_alphanumeric() || it == '_')
    };
    let start = text.match_indices(key).map(|it| it.0).find(is_key)?;
    let span = Span::new(start as u32, (start + key.len()) as u32);
    Some(source.ir().absolute(op, span))
}

/// The number behind a key in `mgmt.mgmt = #mgmt.mgmt<level = 3, dimension = 3>`.
fn number_of(text: &str, key: &str) -> Option<Range<usize>> {
    let at = text.find(key)? + key.len();
    let number = text[at..].find(|it: char| it.is_ascii_digit())? + at;
    let len = text[number..].find(|it: char| !it.is_ascii_digit());
    Some(number..len.map_or(text.len(), |it| number + it))
}

/// A key with its number, and the comma before it, or else behind it.
fn entry_of(text: &str, key: &str) -> Option<Range<usize>> {
    let (start, end) = (text.find(key)?, number_of(text, key)?.end);
    let before = text[..start].trim_end();
    if before.ends_with(',') {
        return Some(before.len() - 1..end);
    }
    let rest = text[end..].trim_start();
    let behind = rest.strip_prefix(',').map_or(rest, str::trim_start);
    Some(start..text.len() - behind.len())
}
