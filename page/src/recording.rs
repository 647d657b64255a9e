//! Recordings: a program and the steps that change it or the facts about it. Each step is stored as
//! a difference.
//!
//! *Law.* Applying the steps to the program in order gives the last state of the recording. Undoing
//! them in reverse order gives the program at the start. *Cost.* A step is as large as its changes.
//! Equal texts are stored once.

use std::borrow::Cow;

use rustc_hash::FxHashMap;
use serde_json::{Value, json};

/// The id of a text in a [`Recording`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(u32);

/// A replacement of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunk {
    /// The first line in the program before the step, counted from 0.
    pub at: usize,
    /// The removed lines.
    pub old: Vec<TextId>,
    /// The inserted lines.
    pub new: Vec<TextId>,
}

/// A fact that changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FactChange {
    /// The value, from [`Recording::value`].
    pub value: usize,
    pub before: TextId,
    pub after: TextId,
}

/// A step.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedStep {
    /// The pass or the analysis.
    pub group: TextId,
    /// The action.
    pub action: TextId,
    /// The subject of the action.
    pub subject: TextId,
    /// The line of the subject in the program after the step, counted from 0.
    pub line: Option<usize>,
    /// The changes of lines, in order.
    pub hunks: Vec<Hunk>,
    /// The changes of facts.
    pub facts: Vec<FactChange>,
    /// The names and facts that the step read.
    pub reads: Vec<(TextId, TextId)>,
    /// Blocks that become live (true) or dead (false), from [`Recording::block`].
    pub blocks: Vec<(usize, bool)>,
    /// The first items of the worklist, the next one first.
    pub waiting: Vec<TextId>,
    /// Number of items in the worklist.
    pub n_waiting: usize,
}

/// A value whose facts change.
#[derive(Clone, Copy, Debug)]
struct ShownFact {
    line: usize,
    name: TextId,
    group: TextId,
}

/// A block that may become live.
#[derive(Clone, Copy, Debug)]
struct ShownBlock {
    name: TextId,
    group: TextId,
    first: usize,
    last: usize,
}

/// Maximum number of steps of a recording.
pub const MAX_STEPS: usize = 50_000;

/// A program with steps.
#[derive(Clone, Debug, Default)]
pub struct Recording {
    texts: Vec<String>,
    ids: FxHashMap<String, TextId>,
    start: Vec<TextId>,
    now: Vec<TextId>,
    values: Vec<ShownFact>,
    blocks: Vec<ShownBlock>,
    steps: Vec<RecordedStep>,
    n_left_out: usize,
}

/// Maximum length in bytes of a text; a longer one is shortened to its start and its end.
const MAX_TEXT_LEN: usize = 1024;

/// Returns a text, shortened if it is long.
fn shortened(text: &str) -> Cow<'_, str> {
    if text.len() <= MAX_TEXT_LEN {
        return Cow::Borrowed(text);
    }
    let boundary = |mut at: usize| {
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let (start, end) = (boundary(MAX_TEXT_LEN / 2), boundary(text.len() - MAX_TEXT_LEN / 2));
    Cow::Owned(format!("{}... ({} bytes) ...{}", &text[..start], end - start, &text[end..]))
}

impl Recording {
    /// Adds a text, and shortens it if it is long.
    pub fn text(&mut self, text: &str) -> TextId {
        let text = &*shortened(text);
        if let Some(&id) = self.ids.get(text) {
            return id;
        }
        let id = TextId(self.texts.len() as u32);
        self.texts.push(text.to_owned());
        self.ids.insert(text.to_owned(), id);
        id
    }

    /// Returns the content of a text.
    pub fn str(&self, text: TextId) -> &str {
        self.texts.get(text.0 as usize).map_or("", String::as_str)
    }

    pub fn set_program(&mut self, lines: Vec<TextId>) {
        self.now.clone_from(&lines);
        self.start = lines;
    }

    /// Adds a value with facts of an analysis: the line of its definition, counted from 0, and its
    /// name. It has no fact at first.
    pub fn value(&mut self, line: usize, name: TextId, group: TextId) -> usize {
        self.values.push(ShownFact { line, name, group });
        self.values.len() - 1
    }

    /// Returns the name of a value.
    pub fn value_name(&self, value: usize) -> &str {
        self.values.get(value).map_or("", |it| self.str(it.name))
    }

    /// Adds a block for an analysis, with its first and last line, counted from 0. It is not live
    /// at first.
    pub fn block(&mut self, name: TextId, first: usize, last: usize, group: TextId) -> usize {
        self.blocks.push(ShownBlock { name, group, first, last });
        self.blocks.len() - 1
    }

    /// Returns the program after the last step.
    pub fn current_program(&self) -> &[TextId] {
        &self.now
    }

    /// Returns the steps.
    pub fn steps(&self) -> &[RecordedStep] {
        &self.steps
    }

    /// Returns true if [`Recording::step`] records no further steps. They can be summarized in one
    /// step with [`Recording::force_step`].
    pub fn is_full(&self) -> bool {
        self.steps.len() >= MAX_STEPS
    }

    /// Records a step. If the recording is full, the step is only counted.
    pub fn step(&mut self, step: RecordedStep) {
        if self.is_full() {
            self.n_left_out += 1;
        } else {
            self.force_step(step);
        }
    }

    /// Records a step even if the recording is full.
    pub fn force_step(&mut self, step: RecordedStep) {
        for hunk in step.hunks.iter().rev() {
            self.now.splice(hunk.at..hunk.at + hunk.old.len(), hunk.new.iter().copied());
        }
        self.steps.push(step);
    }

    /// Counts steps that were not recorded.
    pub fn leave_out(&mut self, n: usize) {
        self.n_left_out += n;
    }

    /// Returns the recording as data for the page.
    pub(crate) fn json(&self) -> Value {
        let ids = |texts: &[TextId]| texts.iter().map(|it| it.0).collect::<Vec<_>>();
        let steps = self.steps.iter().map(|step| {
            let hunks = step.hunks.iter().map(|it| json!([it.at, ids(&it.old), ids(&it.new)]));
            let facts = step.facts.iter().map(|it| json!([it.value, it.before.0, it.after.0]));
            let reads = step.reads.iter().map(|it| json!([it.0.0, it.1.0]));
            let blocks = step.blocks.iter().map(|it| json!([it.0, it.1]));
            json!([
                step.group.0,
                step.action.0,
                step.subject.0,
                step.line,
                hunks.collect::<Vec<_>>(),
                facts.collect::<Vec<_>>(),
                reads.collect::<Vec<_>>(),
                blocks.collect::<Vec<_>>(),
                ids(&step.waiting),
                step.n_waiting,
            ])
        });
        let values = self.values.iter().map(|it| json!([it.line, it.name.0, it.group.0]));
        let blocks = self.blocks.iter().map(|it| json!([it.name.0, it.first, it.last, it.group.0]));
        json!({
            "texts": self.texts,
            "program": ids(&self.start),
            "values": values.collect::<Vec<_>>(),
            "blocks": blocks.collect::<Vec<_>>(),
            "steps": steps.collect::<Vec<_>>(),
            "leftOut": self.n_left_out,
        })
    }

    /// Returns JSON objects, one per line: the program before the first step as step 0, and then
    /// each step.
    pub fn rows(&self) -> String {
        let texts = |texts: &[TextId]| texts.iter().map(|&it| self.str(it)).collect::<Vec<_>>();
        let mut out = json!({ "step": 0, "program": texts(&self.start) }).to_string() + "\n";
        for (n, step) in self.steps.iter().enumerate() {
            let mut row = json!({
                "step": n + 1,
                "group": self.str(step.group),
                "what": self.str(step.action),
                "place": self.str(step.subject),
            });
            if let Some(line) = step.line {
                row["line"] = json!(line + 1);
            }
            let mut put = |key: &str, all: Vec<Value>| {
                if !all.is_empty() {
                    row[key] = Value::Array(all);
                }
            };
            let reads = step.reads.iter();
            put(
                "reads",
                reads
                    .map(|it| json!({ "value": self.str(it.0), "fact": self.str(it.1) }))
                    .collect(),
            );
            let facts = step.facts.iter().map(|it| {
                let value = self.values[it.value];
                json!({
                    "value": self.str(value.name), "line": value.line + 1,
                    "before": self.str(it.before), "after": self.str(it.after),
                })
            });
            put("facts", facts.collect());
            let blocks = step.blocks.iter().map(|&(at, is_alive)| {
                let block = self.blocks[at];
                json!({ "block": self.str(block.name), "line": block.first + 1, "alive": is_alive })
            });
            put("blocks", blocks.collect());
            let hunks = step.hunks.iter().map(|it| {
                json!({ "line": it.at + 1, "removed": texts(&it.old), "inserted": texts(&it.new) })
            });
            put("changes", hunks.collect());
            if step.n_waiting > 0 {
                row["waiting"] = json!(step.n_waiting);
            }
            out += &row.to_string();
            out.push('\n');
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_start_and_end_of_a_long_text() {
        let mut it = Recording::default();
        let long = |n: usize| format!("a{}z", "\u{e9}".repeat(n));
        let [one, other] = [100_000, 100_001].map(|n| it.text(&long(n)));
        assert_ne!(one, other, "what differs in length is not the same");
        let text = it.str(one);
        assert!(text.starts_with("a\u{e9}") && text.ends_with("\u{e9}z"), "{text}");
        assert!(
            text.contains("... (198978 bytes) ...") && text.len() < MAX_TEXT_LEN + 50,
            "{text}"
        );
    }

    #[test]
    fn steps_change_lines_and_rows_list_the_changes() {
        let mut it = Recording::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|text| it.text(text));
        assert_eq!(it.text("a"), a);
        it.set_program(vec![a, b, c]);
        let hunks = vec![
            Hunk { at: 0, old: vec![a], new: vec![] },
            Hunk { at: 2, old: vec![], new: vec![d, d] },
        ];
        it.step(RecordedStep {
            group: a,
            action: b,
            line: Some(1),
            hunks,
            ..RecordedStep::default()
        });
        assert_eq!(it.current_program(), [b, d, d, c]);
        assert_eq!(
            it.rows(),
            "{\"program\":[\"a\",\"b\",\"c\"],\"step\":0}\n{\"changes\":[{\"inserted\":[],\"line\":1,\"removed\":[\"a\"]},{\"inserted\":[\"d\",\"d\"],\"line\":3,\"removed\":[]}],\
             \"group\":\"a\",\"line\":2,\"place\":\"a\",\"step\":1,\"what\":\"b\"}\n"
        );
    }
}
