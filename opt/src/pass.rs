//! What a pass is: its row, its options, and what it works with.

use noisy_loops::Aliasing;
use noisy_syntax::print::Style;
use noisy_syntax::{Ir, Op};

use crate::actions::Actions;
use crate::analysis::Analyses;
use crate::diagnostics::{Severity, Sink};
use crate::timing::Timing;

/// A pass.
#[derive(Debug)]
pub struct PassInfo {
    /// Its flag, without dashes.
    pub name: &'static str,
    /// What messages, dumps and timing call it.
    pub class: &'static str,
    /// The ops that it runs on; `None`: any.
    pub anchor: Option<&'static str>,
    /// One line of help.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    /// Runs it on an op.
    pub run: fn(&mut Context<'_>, Op, &Options) -> Result<(), Failure>,
}

/// The anchor of passes that run on whatever is a function.
pub(crate) const FUNCTIONS: &str = "FunctionOpInterface";

/// An option of a pass.
#[derive(Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Its value if none is given.
    pub default: &'static str,
    /// What it takes.
    pub kind: OptionKind,
    /// One line of help.
    pub summary: &'static str,
}

/// What an option takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true`, `false`, or nothing for true.
    Bool,
    /// An integer.
    Int,
    /// Any text.
    Text,
    /// Numbers with commas between them.
    Ints,
    /// Texts with commas between them.
    Texts,
    /// One of these.
    OneOf(&'static [&'static str]),
}

/// A pass failed; what it has to say, if it has not said it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub Option<String>);

/// The options of a pass, by name; those that were not given have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<(&'static str, String)>);

/// What a pass works with.
#[derive(Debug)]
pub struct Context<'a> {
    /// The program.
    pub ir: &'a mut Ir,
    /// Where diagnostics go.
    pub sink: &'a mut Sink,
    /// Where its time goes, for parts that are told apart.
    pub timing: &'a mut Timing,
    /// How ops are printed.
    pub style: Style,
    /// What passes over loops take for granted of different memrefs.
    pub aliasing: Aliasing,
    /// What is logged, counted and watched.
    pub actions: &'a mut Actions,
    /// Analyses that passes share.
    pub analyses: &'a mut Analyses,
    /// Reads a pipeline that a pass runs by itself; how, only the pass manager knows.
    pub nested: fn(&str) -> Result<Nested, Failure>,
    /// Told before and after each pass that a pass runs by itself.
    pub around: Around<'a>,
    pub(crate) counted: Vec<(&'static str, usize)>,
}

/// Whom to tell of a pass on an op, and whether it is about to run (else it ran).
#[derive(Clone, Copy)]
pub struct Around<'a>(pub &'a dyn Fn(&Ir, Op, &'static PassInfo, bool));

impl std::fmt::Debug for Around<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Around")
    }
}

/// Runs a pipeline on an op.
pub type Nested = Box<dyn Fn(&mut Context<'_>, Op) -> Result<(), Failure>>;

impl Context<'_> {
    /// Counts for the statistics.
    pub(crate) fn count(&mut self, what: &'static str, n: usize) {
        self.counted.push((what, n));
    }

    /// Says something about an op.
    pub fn remark(&mut self, op: Op, text: &str) {
        self.sink.tell_op(Severity::Remark, self.ir, op, text);
    }
}

impl Options {
    /// The value of an option.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str())
    }

    /// Whether an option is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// An integer option.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }

    /// The numbers of an option.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        self.text(name).split(',').filter_map(|it| it.trim().parse().ok()).collect()
    }
}

impl PassInfo {
    /// Reads options: `a=1 b={2 3} c`.
    ///
    /// # Errors
    /// What is wrong, as upstream says it.
    pub(crate) fn options(&'static self, text: &str) -> Result<Options, String> {
        let given = self.options.iter().map(|it| (it.name, it.default.to_owned()));
        let mut out = Options(given.collect());
        let failed =
            |what: String| format!("{what}\nfailed to add `{}` with options `{text}`", self.name);
        for (key, value) in split_options(text) {
            let Some(at) = self.options.iter().position(|it| it.name == key) else {
                return Err(failed(format!("<Pass-Options-Parser>: no such option {key}")));
            };
            let option = &self.options[at];
            let bad = |it: &str| {
                failed(format!(
                    "<Pass-Options-Parser>: for the --{key} option: '{it}' value invalid for {} argument!",
                    option.kind.text()
                ))
            };
            let value = match (option.kind, value) {
                (OptionKind::Bool, None) => "true".to_owned(),
                (OptionKind::Bool, Some(value)) => match value.as_str() {
                    "1" | "true" | "TRUE" | "True" => "true".to_owned(),
                    "0" | "false" | "FALSE" | "False" => "false".to_owned(),
                    _ => return Err(bad(&value)),
                },
                (_, None) => {
                    return Err(failed(format!(
                        "<Pass-Options-Parser>: for the --{key} option: requires a value!"
                    )));
                }
                (OptionKind::Int, Some(value)) => match value.parse::<i64>() {
                    Ok(_) => value,
                    Err(_) => return Err(bad(&value)),
                },
                (OptionKind::Ints, Some(value)) => {
                    let is_fine = value.split(',').all(|it| it.trim().parse::<i64>().is_ok());
                    if !is_fine {
                        return Err(bad(&value));
                    }
                    value
                }
                (OptionKind::OneOf(names), Some(value)) => {
                    if !names.contains(&value.as_str()) {
                        return Err(failed(format!(
                            "<Pass-Options-Parser>: for the --{key} option: Cannot find option named '{value}'!"
                        )));
                    }
                    value
                }
                (OptionKind::Text | OptionKind::Texts, Some(value)) => value,
            };
            // A list that is given twice goes on.
            let old = &mut out.0[at].1;
            let is_list = matches!(option.kind, OptionKind::Ints | OptionKind::Texts);
            if is_list && !old.is_empty() && *old != option.default {
                *old = format!("{old},{value}");
            } else {
                *old = value;
            }
        }
        Ok(out)
    }

    /// The pass with its options, as a pipeline says it.
    pub fn text(&self, options: &Options) -> String {
        if options.0.is_empty() {
            return self.name.to_owned();
        }
        let is_list = |name: &str| {
            let option = self.options.iter().find(|it| it.name == name);
            option.is_some_and(|it| matches!(it.kind, OptionKind::Ints | OptionKind::Texts))
        };
        let mut given: Vec<_> =
            options.0.iter().filter(|it| !is_list(it.0) || !it.1.is_empty()).collect();
        given.sort_by_key(|it| it.0);
        let values: Vec<String> = given
            .into_iter()
            .map(|(name, value)| {
                // What holds braces is read again by them.
                if value.contains(' ') && !value.contains('{') {
                    format!("{name}={{{value}}}")
                } else {
                    format!("{name}={value}")
                }
            })
            .collect();
        format!("{}{{{}}}", self.name, values.join(" "))
    }
}

impl OptionKind {
    fn text(self) -> &'static str {
        match self {
            OptionKind::Bool => "boolean",
            OptionKind::Int | OptionKind::Ints => "integer",
            OptionKind::Text | OptionKind::Texts => "string",
            OptionKind::OneOf(_) => "enum",
        }
    }
}

/// `a=1 b={2 3} c` in pieces; braces, brackets, quotes and parentheses keep blanks together.
fn split_options(text: &str) -> Vec<(String, Option<String>)> {
    let mut words = Vec::new();
    let mut word = String::new();
    let (mut depth, mut quote) = (0_usize, None);
    for c in text.chars() {
        match (quote, c) {
            (Some(it), _) => quote = Some(it).filter(|&it| it != c),
            (None, '"' | '\'') => quote = Some(c),
            (None, '{' | '(' | '[') => depth += 1,
            (None, '}' | ')' | ']') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if c.is_whitespace() && depth == 0 && quote.is_none() {
            words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
        } else {
            word.push(c);
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    let strip = |it: &str| {
        let ends = [('{', '}'), ('"', '"'), ('\'', '\'')];
        let inner = ends.iter().find_map(|&(a, b)| it.strip_prefix(a)?.strip_suffix(b));
        inner.unwrap_or(it).to_owned()
    };
    words
        .iter()
        .map(|it| match it.split_once('=') {
            Some((key, value)) => (key.to_owned(), Some(strip(value))),
            None => (it.clone(), None),
        })
        .collect()
}
