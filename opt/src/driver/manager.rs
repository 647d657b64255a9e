//! The pass manager: runs a pipeline on a program.
//!
//! Passes run sequentially. A nested pipeline runs all of its passes on one op, then on the next op
//! in textual order, so that the output is reproducible. The program is verified after each element
//! of the outermost pipeline. An invalid program is an error that names the passes.

use std::cell::RefCell;
use std::io::Write as _;

use noisy_analyses::report::diff;
use noisy_loops::AliasAssumptions;
use noisy_syntax::print::{self, Style};
use noisy_syntax::{Ir, Op, OpKind, Traits};

use super::pipeline::{Pipeline, PipelineElement};
use crate::actions::Actions;
use crate::analysis::AnalysisCache;
use crate::diagnostics::{DiagnosticSeverity, DiagnosticSink, offset_of};
use crate::pass::{
    FUNCTION_ANCHOR, NestedPassCallback, NestedPipeline, PassContext, PassFailure, PassInfo,
    PassOptions,
};
use crate::rewrite::outermost;
use crate::timing::Timing;

/// Options for printing the program around passes.
#[derive(Clone, Debug, Default)]
pub struct PrintIr {
    /// The passes before which the program is printed.
    pub before: Option<PassSet>,
    /// The passes after which the program is printed.
    pub after: Option<PassSet>,
    /// True if the program is printed after a pass only if the pass changed something.
    pub(crate) only_changed: bool,
    /// True if the program is printed after a pass only if the pass failed.
    pub(crate) only_failed: bool,
    /// True if the whole program is printed, not only the op of the pass.
    pub is_module_scope: bool,
    /// True if a diff is printed after each pass.
    pub(crate) as_diff: bool,
}

impl PrintIr {
    /// Returns true if nothing is ever printed.
    pub fn is_never_printed(&self) -> bool {
        self.before.is_none() && self.after.is_none() && !self.only_failed
    }
}

/// A set of passes.
#[derive(Clone, Debug)]
pub enum PassSet {
    /// All passes.
    All,
    /// The passes with these names.
    These(Vec<String>),
}

impl PassSet {
    fn has(&self, name: &str) -> bool {
        match self {
            PassSet::All => true,
            PassSet::These(names) => names.iter().any(|it| it == name),
        }
    }
}

/// The options of the pass manager.
#[derive(Clone, Debug, Default)]
pub struct ManagerSettings {
    pub print_ir: PrintIr,
    /// Options of the printer.
    pub style: Style,
    /// The assumptions about aliasing that passes on loops make.
    pub aliasing: AliasAssumptions,
    /// Verify the program after each element of the pipeline.
    pub verify_each: bool,
    /// Number of threads that parse and verify; 0 for the calling thread.
    pub n_threads: usize,
    /// Keep a copy of the program before each pass, for [`FailedPass::before`].
    pub keeps_before: bool,
}

/// The error of a pass that failed or left an invalid program. It was already reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PassesFailed;

/// Runs pipelines.
#[derive(Debug)]
pub struct PassManager<'a> {
    settings: &'a ManagerSettings,
    sink: &'a mut DiagnosticSink,
    timing: &'a mut Timing,
    actions: &'a mut Actions,
    statistics: Vec<(&'static str, &'static str, &'static str, usize)>,
    failure: Option<FailedPass>,
    analyses: AnalysisCache,
}

/// The pass that failed first.
#[derive(Clone, Debug)]
pub struct FailedPass {
    /// The class of the pass and its op, as in messages.
    pub description: String,
    /// A pipeline with this pass only.
    pub pipeline: String,
    /// The program before the pass, if it was kept.
    pub before: Option<String>,
}

impl<'a> PassManager<'a> {
    pub fn new(
        settings: &'a ManagerSettings,
        sink: &'a mut DiagnosticSink,
        timing: &'a mut Timing,
        actions: &'a mut Actions,
    ) -> Self {
        Self {
            settings,
            sink,
            timing,
            actions,
            statistics: Vec::new(),
            failure: None,
            analyses: AnalysisCache::default(),
        }
    }

    /// Returns the statistics: the class and the name of the pass, the name of the statistic, and
    /// its value.
    pub fn statistics(&self) -> &[(&'static str, &'static str, &'static str, usize)] {
        &self.statistics
    }

    /// Returns the pass that failed first.
    pub fn failure(&self) -> Option<&FailedPass> {
        self.failure.as_ref()
    }

    /// Runs a pipeline on an op that matches its anchor.
    ///
    /// # Errors
    /// If a pass fails or leaves an invalid program.
    pub fn run(&mut self, ir: &mut Ir, top: Op, pipeline: &Pipeline) -> Result<(), PassesFailed> {
        self.actions.show(ir, true);
        let outcome = self.run_elements(ir, top, pipeline, true);
        self.actions.show(ir, false);
        outcome
    }

    fn run_elements(
        &mut self,
        ir: &mut Ir,
        op: Op,
        pipeline: &Pipeline,
        is_outermost: bool,
    ) -> Result<(), PassesFailed> {
        let mut at = 0;
        while let Some(element) = pipeline.elements.get(at) {
            let first = at;
            match element {
                PipelineElement::Pass(info, options) => {
                    at += 1;
                    self.run_pass(ir, op, info, options, first)?;
                }
                PipelineElement::Nested(_) => {
                    let mut group = Vec::new();
                    while let Some(PipelineElement::Nested(nested)) = pipeline.elements.get(at) {
                        group.push(nested);
                        at += 1;
                    }
                    self.run_nested_pipelines(ir, op, &group, first)?;
                }
            }
            if is_outermost && self.settings.verify_each {
                let ran = &pipeline.elements[first..at];
                self.verify_after(ir, ran)?;
            }
        }
        Ok(())
    }

    /// Runs consecutive nested pipelines on the ops in the regions of an op, not on deeper ones.
    fn run_nested_pipelines(
        &mut self,
        ir: &mut Ir,
        op: Op,
        group: &[&Pipeline],
        slot: usize,
    ) -> Result<(), PassesFailed> {
        let names: Vec<String> = group.iter().map(|it| format!("'{}'", it.anchor)).collect();
        let is_collection = group.len() > 1;
        if is_collection {
            let name = format!("Pipeline Collection : [{}]", names.join(", "));
            self.timing.enter_slot(&name, slot);
        }
        // The timing report also lists pipelines that run on no op.
        for name in &names {
            self.timing.enter_slot(&format!("{name} Pipeline"), slot);
            self.timing.leave();
        }
        let mut children = Vec::new();
        for &(_, region) in &ir.op(op).regions {
            children.extend(ir.items(region).filter(|&it| ir.op(it).kind.is_op()));
        }
        let mut outcome = Ok(());
        for child in children {
            if !ir.is_alive(child) {
                continue;
            }
            let name = ir.op_name(child).to_owned();
            let is_isolated = ir.op(child).kind.has(Traits::ISOLATED);
            for (pipeline, quoted) in group.iter().zip(&names) {
                let is_meant = pipeline.anchor == name || pipeline.anchor == "any" && is_isolated;
                if is_meant && outcome.is_ok() {
                    self.timing.enter_slot(&format!("{quoted} Pipeline"), slot);
                    outcome = self.run_elements(ir, child, pipeline, false);
                    self.analyses.end_pipeline(child);
                    self.timing.leave();
                }
            }
        }
        if is_collection {
            self.timing.leave();
        }
        outcome
    }

    fn verify_after(&mut self, ir: &Ir, ran: &[PipelineElement]) -> Result<(), PassesFailed> {
        let problems = ir.verify_with_threads(self.settings.n_threads);
        if problems.is_empty() {
            return Ok(());
        }
        let ran: Vec<String> = ran
            .iter()
            .map(|it| match it {
                PipelineElement::Pass(info, _) => info.name.to_owned(),
                PipelineElement::Nested(it) => it.text(),
            })
            .collect();
        for (op, problem) in &problems {
            let text = format!("'{}' op {}", ir.op_name(*op), problem.message);
            self.sink.report(DiagnosticSeverity::Error, offset_of(ir, *op), &text);
            let note = format!("internal error: the program was valid before {}", ran.join(", "));
            self.sink.report(DiagnosticSeverity::Note, offset_of(ir, *op), &note);
        }
        Err(PassesFailed)
    }

    fn run_pass(
        &mut self,
        ir: &mut Ir,
        op: Op,
        info: &'static PassInfo,
        options: &PassOptions,
        slot: usize,
    ) -> Result<(), PassesFailed> {
        let outer = self.actions.pass().to_owned();
        if !self.actions.begin_pass(info.class, ir, op) {
            return Ok(());
        }
        let print = &self.settings.print_ir;
        if print.before.as_ref().is_some_and(|it| it.has(info.name)) {
            self.dump(ir, op, &format!("Before {} ({})", info.class, info.name));
        }
        let kept = self
            .settings
            .keeps_before
            .then(|| print::op_in_style(ir, outermost(ir, op), self.settings.style));
        let is_after = print.after.as_ref().is_some_and(|it| it.has(info.name));
        let compares = print.only_changed || print.as_diff;
        let before = (is_after && compares).then(|| self.text_of(ir, op));
        self.timing.enter_slot(info.class, slot);
        let settings = self.settings;
        // The programs before the nested passes that are running.
        let inner = RefCell::new(Vec::new());
        let around = |ir: &Ir, op: Op, info: &'static PassInfo, is_before: bool| {
            let print = &settings.print_ir;
            let is_meant = |it: &Option<PassSet>| it.as_ref().is_some_and(|it| it.has(info.name));
            if is_before {
                if is_meant(&print.before) {
                    dump(settings, ir, op, &format!("Before {} ({})", info.class, info.name));
                }
                let is_compared = compares && is_meant(&print.after);
                inner.borrow_mut().push(is_compared.then(|| text_around_pass(settings, ir, op)));
                return;
            }
            let before = inner.borrow_mut().pop().flatten();
            if is_meant(&print.after) && !print.only_failed {
                dump_after(settings, ir, op, info, before.as_deref());
            }
        };
        let mut context = PassContext {
            ir,
            sink: self.sink,
            timing: self.timing,
            style: self.settings.style,
            aliasing: self.settings.aliasing,
            actions: self.actions,
            analyses: &mut self.analyses,
            parse_nested: parse_nested_pipeline,
            around: NestedPassCallback(&around),
            statistics: Vec::new(),
        };
        let fits =
            info.anchor != Some(FUNCTION_ANCHOR) || context.ir.op(op).kind == OpKind::FuncFunc;
        let outcome = if fits {
            (info.run)(&mut context, op, options)
        } else {
            let name = context.ir.op_name(op);
            let text = format!("'{name}' op trying to schedule a pass on an unsupported operation");
            Err(PassFailure(Some(text)))
        };
        let counted = std::mem::take(&mut context.statistics);
        let wrong = self.analyses.end_pass(ir, op, settings.verify_each && outcome.is_ok());
        let outcome = match wrong.first() {
            None => outcome,
            Some(name) => Err(PassFailure(Some(format!(
                "'{}' op internal error: the pass says that it preserves {name}, but it does not",
                ir.op_name(op)
            )))),
        };
        self.timing.leave();
        self.actions.end_pass(&outer);
        for (what, n) in counted {
            let entry = self.statistics.iter_mut().find(|it| it.1 == info.name && it.2 == what);
            match entry {
                Some(it) => it.3 += n,
                None => self.statistics.push((info.class, info.name, what, n)),
            }
        }
        let print = &self.settings.print_ir;
        match outcome {
            Ok(()) => {
                if is_after && !print.only_failed {
                    dump_after(self.settings, ir, op, info, before.as_deref());
                }
                Ok(())
            }
            Err(failure) => {
                self.failure.get_or_insert_with(|| failed_pass(ir, op, info, options, kept));
                if is_after || print.only_failed {
                    self.dump(ir, op, &format!("After {} Failed ({})", info.class, info.name));
                }
                if let Some(text) = failure.0 {
                    self.sink.report_at_op(DiagnosticSeverity::Error, ir, op, &text);
                }
                Err(PassesFailed)
            }
        }
    }

    fn text_of(&self, ir: &Ir, op: Op) -> String {
        text_around_pass(self.settings, ir, op)
    }

    fn dump(&self, ir: &Ir, op: Op, what: &str) {
        dump(self.settings, ir, op, what);
    }
}

/// Returns the text of the op, or of the whole program, for `--mlir-print-ir-*`.
fn text_around_pass(settings: &ManagerSettings, ir: &Ir, op: Op) -> String {
    let op = if settings.print_ir.is_module_scope { outermost(ir, op) } else { op };
    print::op_in_style(ir, op, settings.style)
}

/// Describes the failed pass. Its pipeline nests the enclosing ops from the outermost one to `op`.
fn failed_pass(
    ir: &Ir,
    op: Op,
    info: &'static PassInfo,
    options: &PassOptions,
    before: Option<String>,
) -> FailedPass {
    let mut what = format!("`{}` on '{}' operation", info.class, ir.op_name(op));
    if let Some((name, _)) = ir.extra(op).symbol {
        what += &format!(": @{}", ir.interner.str(name));
    }
    let mut pipeline = info.pipeline_text(options);
    let mut at = Some(op);
    while let Some(it) = at.filter(|&it| ir.op(it).kind.is_op()) {
        pipeline = format!("{}({pipeline})", ir.op_name(it));
        at = ir.parent_op(it);
    }
    FailedPass { description: what, pipeline, before }
}

/// Prints the program after a pass, or its difference from the program before the pass.
fn dump_after(
    settings: &ManagerSettings,
    ir: &Ir,
    op: Op,
    info: &'static PassInfo,
    before: Option<&str>,
) {
    let print = &settings.print_ir;
    let what = format!("After {} ({})", info.class, info.name);
    let Some(before) = before else { return dump(settings, ir, op, &what) };
    let after = text_around_pass(settings, ir, op);
    if before == after && print.only_changed {
        return;
    }
    let text = if !print.as_diff {
        after
    } else if before == after {
        "// no change".to_owned()
    } else {
        diff::unified(info.name, before, &after)
    };
    write_dump(settings, ir, op, &what, &text);
}

fn dump(settings: &ManagerSettings, ir: &Ir, op: Op, what: &str) {
    write_dump(settings, ir, op, what, &text_around_pass(settings, ir, op));
}

fn write_dump(settings: &ManagerSettings, ir: &Ir, op: Op, what: &str, text: &str) {
    let mut at = String::new();
    if settings.print_ir.is_module_scope {
        at = format!(" ('{}' operation", ir.op_name(op));
        if let Some((name, _)) = ir.extra(op).symbol {
            at += &format!(": @{}", ir.interner.str(name));
        }
        at += ")";
    }
    let text = format!("// -----// IR Dump {what}{at} //----- //\n{text}\n\n");
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Parses a nested pipeline for [`PassContext::parse_nested`]. It runs without timing and
/// verification.
fn parse_nested_pipeline(text: &str) -> Result<NestedPipeline, PassFailure> {
    let pipeline = Pipeline::parse(text).map_err(|it| PassFailure(Some(it.message)))?;
    Ok(Box::new(move |cx, op| {
        let outcome = run_nested(cx, op, &pipeline);
        cx.analyses.end_pipeline(op);
        outcome
    }))
}

fn run_nested(cx: &mut PassContext<'_>, op: Op, pipeline: &Pipeline) -> Result<(), PassFailure> {
    for element in &pipeline.elements {
        match element {
            PipelineElement::Pass(info, options) => {
                let outer = cx.actions.pass().to_owned();
                if !cx.actions.begin_pass(info.class, cx.ir, op) {
                    continue;
                }
                (cx.around.0)(cx.ir, op, info, true);
                (info.run)(cx, op, options)?;
                cx.analyses.end_pass(cx.ir, op, false);
                (cx.around.0)(cx.ir, op, info, false);
                cx.actions.end_pass(&outer);
            }
            PipelineElement::Nested(nested) => {
                let mut children = Vec::new();
                for &(_, region) in &cx.ir.op(op).regions {
                    children.extend(cx.ir.items(region).filter(|&it| cx.ir.op(it).kind.is_op()));
                }
                for child in children {
                    let is_meant = cx.ir.op_name(child) == nested.anchor;
                    if is_meant && cx.ir.is_alive(child) {
                        run_nested(cx, child, nested)?;
                        cx.analyses.end_pipeline(child);
                    }
                }
            }
        }
    }
    Ok(())
}
