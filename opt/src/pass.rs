//! The interface of passes: the description of a pass, its options, and its context.

use noisy_loops::AliasAssumptions;
use noisy_syntax::print::Style;
use noisy_syntax::{Ir, Op};

use crate::actions::Actions;
use crate::analysis::AnalysisCache;
use crate::diagnostics::{DiagnosticSeverity, DiagnosticSink};
use crate::timing::Timing;

/// The description of a pass.
#[derive(Debug)]
pub struct PassInfo {
    /// The name in pipelines, and the flag without dashes.
    pub name: &'static str,
    /// The class name in messages, dumps and timing, as in MLIR.
    pub class: &'static str,
    /// The name of the ops on which the pass runs; `None` for any op.
    pub anchor: Option<&'static str>,
    /// One line of help.
    pub summary: &'static str,
    /// The options.
    pub options: &'static [OptionInfo],
    pub run: fn(&mut PassContext<'_>, Op, &PassOptions) -> Result<(), PassFailure>,
}

/// The anchor of passes that run on functions of any dialect.
pub(crate) const FUNCTION_ANCHOR: &str = "FunctionOpInterface";

/// An option of a pass.
#[derive(Debug)]
pub struct OptionInfo {
    /// The name.
    pub name: &'static str,
    /// The default value, as text.
    pub default: &'static str,
    /// The type of the value.
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

/// The failure of a pass, with a message unless the failure was already reported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PassFailure(pub Option<String>);

/// The values of all options of a pass, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PassOptions(Vec<(&'static str, String)>);

/// The context in which a pass runs.
#[derive(Debug)]
pub struct PassContext<'a> {
    /// The program.
    pub ir: &'a mut Ir,
    /// The destination of diagnostics.
    pub sink: &'a mut DiagnosticSink,
    /// The execution times of the parts of the pass.
    pub timing: &'a mut Timing,
    /// Options of the printer.
    pub style: Style,
    /// The assumptions about aliasing that passes on loops make.
    pub aliasing: AliasAssumptions,
    /// The log, the counters and the observer of actions.
    pub actions: &'a mut Actions,
    /// The analyses that passes share.
    pub analyses: &'a mut AnalysisCache,
    /// Parses a nested pipeline for a pass that runs one. The pass manager provides this function.
    pub parse_nested: fn(&str) -> Result<NestedPipeline, PassFailure>,
    /// Called before and after each pass of a nested pipeline.
    pub around: NestedPassCallback<'a>,
    pub(crate) statistics: Vec<(&'static str, usize)>,
}

/// A callback before (`true`) and after (`false`) a nested pass runs on an op.
#[derive(Clone, Copy)]
pub struct NestedPassCallback<'a>(pub &'a dyn Fn(&Ir, Op, &'static PassInfo, bool));

impl std::fmt::Debug for NestedPassCallback<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Around")
    }
}

/// A parsed nested pipeline, as a function that runs it on an op.
pub type NestedPipeline = Box<dyn Fn(&mut PassContext<'_>, Op) -> Result<(), PassFailure>>;

impl PassContext<'_> {
    /// Adds `n` to a statistic of the pass.
    pub(crate) fn add_statistic(&mut self, what: &'static str, n: usize) {
        self.statistics.push((what, n));
    }

    /// Reports a remark on an op.
    pub fn remark(&mut self, op: Op, text: &str) {
        self.sink.report_at_op(DiagnosticSeverity::Remark, self.ir, op, text);
    }
}

impl PassOptions {
    /// Returns the value of an option as text.
    pub fn text(&self, name: &str) -> &str {
        self.0.iter().find(|it| it.0 == name).map_or("", |it| it.1.as_str())
    }

    /// Returns true if a Boolean option is on.
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
    /// An unknown or invalid option. The message has the wording of MLIR.
    pub(crate) fn parse_options(&'static self, text: &str) -> Result<PassOptions, String> {
        let given = self.options.iter().map(|it| (it.name, it.default.to_owned()));
        let mut out = PassOptions(given.collect());
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
            // Values of a repeated list option are appended.
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

    /// Returns the pass with its options, in the syntax of pipelines.
    pub fn pipeline_text(&self, options: &PassOptions) -> String {
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
                // A value that contains braces needs no further quotes.
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

/// Splits `a=1 b={2 3} c` into options. Spaces in braces, brackets, quotes and parentheses do not
/// separate.
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
