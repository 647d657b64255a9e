//! Pipelines and their textual form: `pipeline ::= anchor '(' element (',' element)* ')'`. An
//! element is a nested pipeline, or a pass with options in braces.

use super::flags::nearest;
use crate::pass::{FUNCTION_ANCHOR, PassInfo, PassOptions};
use crate::passes;

/// The passes to run on each op with a certain name.
#[derive(Clone, Debug, Default)]
pub struct Pipeline {
    /// The name of the ops on which the pipeline runs, or `any`.
    pub anchor: String,
    /// The elements, in order.
    pub elements: Vec<PipelineElement>,
}

/// An element of a pipeline.
#[derive(Clone, Debug)]
pub enum PipelineElement {
    /// A pass.
    Pass(&'static PassInfo, PassOptions),
    /// A pipeline that runs on the ops in the regions of the current op, not on deeper ones.
    Nested(Pipeline),
}

/// An error in a pipeline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PipelineError {
    /// The byte offset in the text.
    pub at: usize,
    /// The message, with the wording of MLIR.
    pub message: String,
    /// A similar name of a pass.
    pub(crate) suggestion: Option<String>,
}

struct PipelineParser<'a> {
    text: &'a str,
    at: usize,
}

impl Pipeline {
    /// Returns a pipeline without passes.
    pub fn new(anchor: &str) -> Self {
        Self { anchor: anchor.to_owned(), elements: Vec::new() }
    }

    /// Parses a whole pipeline with its anchor.
    ///
    /// # Errors
    /// The first syntax error, unknown pass or invalid option.
    pub fn parse(text: &str) -> Result<Self, PipelineError> {
        let mut parser = PipelineParser { text, at: 0 };
        parser.skip_space();
        let start = parser.at;
        let anchor = parser.name().to_owned();
        let is_open = parser.text[parser.at..].starts_with('(') && text.trim_end().ends_with(')');
        if anchor.is_empty() || !is_open {
            return Err(PipelineError {
                at: start,
                message:
                    "expected pass pipeline to be wrapped with the anchor operation type, e.g. \
                          'builtin.module(...)'"
                        .to_owned(),
                suggestion: None,
            });
        }
        let mut out = Self::new(&anchor);
        parser.at += 1;
        parser.elements(&mut out)?;
        parser.skip_space();
        if parser.at < text.len() {
            // The last parenthesis that was read already closed the pipeline.
            let message = "encountered extra closing ')' creating unbalanced parentheses while parsing pipeline";
            return Err(PipelineParser::error_at(message, parser.at - 1));
        }
        Ok(out)
    }

    /// Adds the pass of a flag. A pass that is restricted to other ops than those of the pipeline
    /// is added to a nested pipeline for these ops.
    ///
    /// # Errors
    /// If the pass runs on functions and the pipeline does not.
    pub(crate) fn add(
        &mut self,
        info: &'static PassInfo,
        options: PassOptions,
    ) -> Result<(), String> {
        if !is_schedulable(info, &self.anchor) {
            return Err(cannot_schedule(info, &self.anchor));
        }
        match info.anchor.filter(|it| *it != FUNCTION_ANCHOR) {
            Some(anchor) if anchor != self.anchor && self.anchor != "any" => {
                if let Some(PipelineElement::Nested(last)) = self.elements.last_mut()
                    && last.anchor == anchor
                {
                    last.elements.push(PipelineElement::Pass(info, options));
                    return Ok(());
                }
                let mut nested = Pipeline::new(anchor);
                nested.elements.push(PipelineElement::Pass(info, options));
                self.elements.push(PipelineElement::Nested(nested));
            }
            _ => self.elements.push(PipelineElement::Pass(info, options)),
        }
        Ok(())
    }

    /// Returns the text of the pipeline with spaces between elements, as in MLIR's reproducers.
    pub(crate) fn spaced_text(&self) -> String {
        format!("{}({})", self.anchor, self.element_texts().join(", "))
    }

    /// Returns the text of the pipeline, with all options of all passes.
    pub fn text(&self) -> String {
        format!("{}({})", self.anchor, self.element_texts().join(","))
    }

    fn element_texts(&self) -> Vec<String> {
        let elements: Vec<String> = self
            .elements
            .iter()
            .map(|it| match it {
                PipelineElement::Pass(info, options) => info.pipeline_text(options),
                PipelineElement::Nested(it) => it.text(),
            })
            .collect();
        elements
    }
}

impl PipelineParser<'_> {
    fn error_at(message: &str, at: usize) -> PipelineError {
        PipelineError { at, message: message.to_owned(), suggestion: None }
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn name(&mut self) -> &str {
        let rest = &self.text[self.at..];
        let len = rest.find([',', '{', '}', '(', ')']).unwrap_or(rest.len());
        self.at += len;
        rest[..len].trim()
    }

    /// Parses the text after `(` up to the matching `)`. Open pipelines are on an explicit stack,
    /// so the nesting depth is unlimited.
    fn elements(&mut self, out: &mut Pipeline) -> Result<(), PipelineError> {
        let mut open: Vec<Pipeline> = vec![Pipeline::new(&out.anchor)];
        loop {
            self.skip_space();
            let start = self.at;
            let name = self.name().to_owned();
            let next = self.text[self.at..].chars().next();
            if open.is_empty() {
                return Ok(());
            }
            match next {
                Some('(') => {
                    self.at += 1;
                    if name.is_empty() {
                        return Err(Self::error_at("expected anchor operation name", start));
                    }
                    open.push(Pipeline::new(&name));
                    continue;
                }
                Some('{') => {
                    let options_at = self.at + 1;
                    let end = self.options_end()?;
                    let options = self.text[options_at..end].to_owned();
                    self.at = end + 1;
                    Self::pass(&mut open, &name, &options, start)?;
                }
                _ if name.is_empty() => {
                    // `()` is an empty pipeline; other empty elements are errors.
                    let is_empty_pipeline =
                        next == Some(')') && open.last().is_some_and(|it| it.elements.is_empty());
                    if !is_empty_pipeline {
                        return Err(Self::unknown_pass("", start));
                    }
                }
                _ => Self::pass(&mut open, &name, "", start)?,
            }
            // After an element: any number of pipelines end, then a comma follows.
            loop {
                self.skip_space();
                match self.text[self.at..].chars().next() {
                    Some(')') => {
                        self.at += 1;
                        let done = open.pop();
                        match (open.last_mut(), done) {
                            (Some(around), Some(done)) => {
                                around.elements.push(PipelineElement::Nested(done));
                            }
                            (None, Some(done)) => {
                                *out = done;
                                return Ok(());
                            }
                            _ => return Ok(()),
                        }
                    }
                    Some(',') => {
                        self.at += 1;
                        break;
                    }
                    Some(_) => {
                        return Err(Self::error_at("expected ',' after parsing pipeline", self.at));
                    }
                    None => {
                        return Err(Self::error_at(
                            "encountered unbalanced parentheses while parsing pipeline",
                            self.at,
                        ));
                    }
                }
            }
        }
    }

    /// Returns the position of the `}` that matches the current `{`.
    fn options_end(&self) -> Result<usize, PipelineError> {
        let mut depth = 0_usize;
        for (i, c) in self.text[self.at..].char_indices() {
            match c {
                '{' => depth += 1,
                '}' => {
                    depth -= 1;
                    if depth == 0 {
                        return Ok(self.at + i);
                    }
                }
                _ => {}
            }
        }
        Err(Self::error_at("missing closing '}' while processing pass options", self.at))
    }

    fn unknown_pass(name: &str, at: usize) -> PipelineError {
        let names = passes::all().map(|it| it.name);
        PipelineError {
            at,
            message: format!("'{name}' does not refer to a registered pass or pass pipeline"),
            suggestion: nearest(name, names).map(str::to_owned),
        }
    }

    /// Adds a pass to the innermost of the open pipelines.
    fn pass(
        open: &mut [Pipeline],
        name: &str,
        options: &str,
        at: usize,
    ) -> Result<(), PipelineError> {
        let Some(info) = passes::find(name) else { return Err(Self::unknown_pass(name, at)) };
        let options = info.parse_options(options).map_err(|it| {
            let inner = open.iter().skip(1).rev();
            let inner = inner.map(|it| {
                format!("\nfailed to add `{}` with options `` to inner pipeline", it.anchor)
            });
            Self::error_at(&(it + &inner.collect::<String>()), at)
        })?;
        let Some(around) = open.last_mut() else { return Ok(()) };
        if !is_schedulable(info, &around.anchor) {
            return Err(Self::error_at(&cannot_schedule(info, &around.anchor), at));
        }
        if let Some(anchor) = info.anchor
            && anchor != FUNCTION_ANCHOR
            && anchor != around.anchor
        {
            let message = format!(
                "Can't add pass '{}' restricted to '{anchor}' on a PassManager intended to run on '{}', did you intend to nest?",
                info.class, around.anchor
            );
            return Err(Self::error_at(&message, at));
        }
        around.elements.push(PipelineElement::Pass(info, options));
        Ok(())
    }
}

/// Returns true if a pass may be in a pipeline with this anchor, as far as functions are concerned.
/// For the anchor `any`, the op is checked when the pass runs.
fn is_schedulable(info: &PassInfo, anchor: &str) -> bool {
    info.anchor != Some(FUNCTION_ANCHOR) || anchor == "any" || anchor == "func.func"
}

fn cannot_schedule(info: &PassInfo, anchor: &str) -> String {
    let class = info.class;
    format!("unable to schedule pass '{class}' on a PassManager intended to run on '{anchor}'!")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_options_name_the_inner_pipelines() {
        let text = |it| Pipeline::parse(it).expect_err("no such option").message;
        let alone = text("builtin.module(canonicalize{foo=1})");
        assert_eq!(
            alone,
            "<Pass-Options-Parser>: no such option foo\n\
             failed to add `canonicalize` with options `foo=1`"
        );
        let nested = text("builtin.module(func.func(any(cse,canonicalize{foo=1})))");
        let pipelines = "\nfailed to add `any` with options `` to inner pipeline\
                         \nfailed to add `func.func` with options `` to inner pipeline";
        assert_eq!(nested, alone + pipelines);
    }
}
