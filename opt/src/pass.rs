//! The interface of passes: the row of a pass, its options, and its context.

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
    /// Its class in messages, dumps and timing.
    pub class: &'static str,
    /// The ops on which it runs; `None`: any.
    pub anchor: Option<&'static str>,
    /// One line of help.
    pub summary: &'static str,
    /// Its options.
    pub options: &'static [OptionInfo],
    pub run: fn(&mut Context<'_>, Op, &Options) -> Result<(), Failure>,
}

/// The anchor of passes that run on functions.
pub(crate) const FUNCTIONS: &str = "FunctionOpInterface";

/// An option of a pass.
#[derive(Debug)]
pub struct OptionInfo {
    /// Its name.
    pub name: &'static str,
    /// Its default value.
    pub default: &'static str,
    /// Its type.
    pub kind: OptionKind,
    /// One line of help.
    pub summary: &'static str,
}

/// The type of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// `true`, `false`, or nothing for true.
    Bool,
    /// An integer.
    Int,
    /// Any text.
    Text,
    /// Numbers, separated by commas.
    Ints,
    /// Texts, separated by commas.
    Texts,
    /// One of these texts.
    OneOf(&'static [&'static str]),
}

/// The failure of a pass, with a message unless it was already reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure(pub Option<String>);

/// The options of a pass, by name, including defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options(Vec<(&'static str, String)>);

/// The context of a pass.
#[derive(Debug)]
pub struct Context<'a> {
    /// The program.
    pub ir: &'a mut Ir,
    /// The sink of diagnostics.
    pub sink: &'a mut Sink,
    /// The timing of its parts.
    pub timing: &'a mut Timing,
    /// Options of the printer.
    pub style: Style,
    /// The aliasing of memrefs that passes on loops assume.
    pub aliasing: Aliasing,
    /// Logging, counting and watching of actions.
    pub actions: &'a mut Actions,
    /// Analyses that passes share.
    pub analyses: &'a mut Analyses,
    /// Parses a pipeline that a pass runs. Only the pass manager can.
    pub nested: fn(&str) -> Result<Nested, Failure>,
    /// Called before and after each pass that a pass runs.
    pub around: Around<'a>,
    pub(crate) counted: Vec<(&'static str, usize)>,
}

/// A callback for a pass on an op; true before it runs, false after it.
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
    /// Adds to the statistics.
    pub(crate) fn count(&mut self, what: &'static str, n: usize) {
        self.counted.push((what, n));
    }

    /// Reports a diagnostic on an op.
    pub fn remark(&mut self, op: Op, text: &str) {
        self.sink.tell_op(Severity::Remark, self.ir, op, text);
    }
}

impl Options {
    /// Returns the value of an option.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str())
    }

    /// Returns true if an option is on.
    pub(crate) fn is_on(&self, name: &str) -> bool {
        self.text(name) == "true"
    }

    /// Returns the value of an integer option.
    pub(crate) fn int(&self, name: &str) -> Option<i64> {
        self.text(name).parse().ok()
    }

    /// Returns the numbers of a list option.
    pub fn ints(&self, name: &str) -> Vec<i64> {
        self.text(name).split(',').filter_map(|it| it.trim().parse().ok()).collect()
    }
}

impl PassInfo {
    /// Parses options: `a=1 b={2 3} c`.
    ///
    /// # Errors
    /// An unknown or wrong option; the message has the wording of MLIR.
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
            // A repeated list option is appended.
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

    /// Returns the pass with its options as pipeline text.
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
                // Text with braces is quoted by braces.
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

/// Splits `a=1 b={2 3} c`; braces, brackets, quotes and parentheses protect blanks.
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
