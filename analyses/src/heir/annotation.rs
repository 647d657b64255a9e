//! Where the levels that are written differ from those that follow from the ops.
//!
//! HEIR writes how many levels are *left*; the analysis counts those that are *used*. The two add up to one number everywhere: the
//! largest level of the module. Which number that is in a program that someone has edited is decided by vote: what most values of a
//! function say, else what most of the module say, else what the most levels used say. So one wrong annotation is found at itself, and
//! not at everything that follows from it.
//!
//! *Cost.* One walk over the program.

use std::ops::Range;

use noisy_syntax::{Ir, Op, Source, Value};
use rustc_hash::FxHashMap;

use super::base::annotated;
use super::{Heir, plaintext};

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

/// How often each number was voted for.
#[derive(Debug, Default)]
struct Votes(FxHashMap<u32, usize>);

impl Votes {
    /// What got more votes than anything else.
    fn winner(&self) -> Option<u32> {
        let most = *self.0.values().max()?;
        let mut first = self.0.iter().filter(|it| *it.1 == most).map(|it| *it.0);
        let winner = first.next();
        winner.filter(|_| first.next().is_none())
    }
}

/// What is written of levels, and of which value.
struct Said {
    function: Option<Op>,
    value: Value,
    written: u32,
    used: u32,
}

/// All of a program, in textual order.
fn said(ir: &Ir, heir: &Heir) -> Vec<Said> {
    let said = |value: Value| {
        let written = annotated(ir, value, "level")?;
        heir.ciphertext(value).level()?;
        let used = heir.written(ir, value)?;
        Some(Said { function: function_of(ir, value), value, written, used })
    };
    plaintext::values(ir).into_iter().filter_map(said).collect()
}

fn function_of(ir: &Ir, value: Value) -> Option<Op> {
    ir.definition_site(value).and_then(|it| ir.function_of(it))
}

/// The levels that a fresh ciphertext has, by what is written in a function, else in the module.
#[derive(Debug)]
pub(super) struct Fresh {
    by_function: FxHashMap<Option<Op>, u32>,
    of_module: u32,
}

impl Fresh {
    /// Of a program.
    pub(super) fn new(ir: &Ir, heir: &Heir) -> Self {
        Self::by_vote(&said(ir, heir), heir)
    }

    fn by_vote(said: &[Said], heir: &Heir) -> Self {
        let mut by_function: FxHashMap<Option<Op>, Votes> = FxHashMap::default();
        let mut module = Votes::default();
        for it in said {
            let all = it.written.saturating_add(it.used);
            *by_function.entry(it.function).or_default().0.entry(all).or_default() += 1;
            *module.0.entry(all).or_default() += 1;
        }
        let decided = by_function.into_iter().filter_map(|it| Some((it.0, it.1.winner()?)));
        Self {
            by_function: decided.collect(),
            of_module: module.winner().unwrap_or_else(|| heir.levels()),
        }
    }

    /// In the function of a value.
    pub(super) fn levels(&self, ir: &Ir, value: Value) -> u32 {
        self.of(function_of(ir, value))
    }

    fn of(&self, function: Option<Op>) -> u32 {
        self.by_function.get(&function).copied().unwrap_or(self.of_module)
    }
}

/// All of a program, in textual order.
pub(crate) fn level_mismatches(ir: &Ir, heir: &Heir) -> Vec<Mismatch> {
    let said = said(ir, heir);
    let fresh = Fresh::by_vote(&said, heir);
    let mismatch = |&Said { function, value, written, used }: &Said| {
        let all = fresh.of(function);
        (written.saturating_add(used) != all).then_some(Mismatch { value, written, used, all })
    };
    said.iter().filter_map(mismatch).collect()
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
