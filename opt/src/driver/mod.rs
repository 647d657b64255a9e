//! The command line tool: flags, files, pipelines, diagnostics and exit codes as in `mlir-opt`.
//!
//! An output file is written only after the whole output is complete.

mod arguments;
mod bisect;
mod files;
pub mod flags;
pub mod keep;
pub mod manager;
pub mod pipeline;
mod portions;
mod reduce;
mod replay;
mod script;

use std::io::Write as _;
use std::path::Path;

use noisy_analyses::TextEdit;
use noisy_output::{FileKind, check_not_an_input, check_replaceable, shown_line};
use noisy_syntax::print;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Form, Ir, Op, OpKind, Source};

use crate::actions::Actions;
use crate::diagnostics::{DiagnosticSeverity, DiagnosticSink, InputText};
use crate::timing::{Timing, TimingFormat};
use arguments::parse_pipeline;
use files::{read, split_into_parts, without_split_markers, write};
use manager::{FailedPass, ManagerSettings, PassManager};
use pipeline::Pipeline;

/// Runs the tool and returns its exit code.
pub fn main(args: &[String]) -> u8 {
    match OptRun::from_args(args) {
        Ok(run) => run.run(),
        Err(EarlyExit::PrintText(text)) => {
            let _ = std::io::stdout().write_all(text.as_bytes());
            0
        }
        Err(EarlyExit::InvalidArguments(text)) => {
            print_error(&text);
            1
        }
    }
}

fn print_error(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// The reason to exit before any pass runs.
enum EarlyExit {
    /// A flag such as `--help` was handled; its text is printed.
    PrintText(String),
    /// The arguments are invalid; the message is reported.
    InvalidArguments(String),
}

/// The options of a run.
#[derive(Debug, Default)]
struct OptRun {
    input: String,
    output: String,
    pipeline: Pipeline,
    settings: ManagerSettings,
    allow_unregistered: bool,
    verify_diagnostics: bool,
    split_at: Option<String>,
    dump_pipeline: bool,
    timing: Option<TimingFormat>,
    statistics: bool,
    no_implicit_module: bool,
    is_reproducer: bool,
    crash_reproducer: Option<String>,
    is_threaded: bool,
    actions: Actions,
    prints_counters: bool,
    goal: RunGoal,
    /// Write the output to the input file.
    is_in_place: bool,
    /// Edit the text instead of printing the program.
    keeps_source: bool,
    /// The output file of `--replay`.
    replay: Option<String>,
    /// Replace output files even if they are of another kind.
    is_forced: bool,
}

/// The goal of a run.
#[derive(Debug, Default)]
enum RunGoal {
    /// Run the passes on the program.
    #[default]
    Transform,
    /// Find the first step after which this command fails.
    Bisect(String),
    /// Find a small program on which this command fails.
    Reduce(String),
}

impl OptRun {
    fn run(mut self) -> u8 {
        let replay = self.replay.as_deref().filter(|_| self.input != "-");
        if let Some(file) = replay
            && let Err(why) = check_not_an_input(Path::new(file), [Path::new(&self.input)])
        {
            print_error(&format!("noisy-opt: {why}"));
            return 1;
        }
        if let Err(why) = self.check_outputs() {
            print_error(&format!("noisy-opt: {why}"));
            return 1;
        }
        let text = match read(&self.input) {
            Ok(text) => text,
            Err(error) => {
                print_error(&format!(
                    "cannot open input file '{}': {error}",
                    shown_line(&self.input)
                ));
                return 1;
            }
        };
        if self.is_reproducer {
            match pipeline_of_reproducer(&text) {
                Some(pipeline) => match parse_pipeline(&pipeline) {
                    Ok(pipeline) => self.pipeline = pipeline,
                    Err(EarlyExit::InvalidArguments(text) | EarlyExit::PrintText(text)) => {
                        print_error(&text);
                        return 1;
                    }
                },
                None => {
                    print_error(
                        "noisy-opt: no `mlir_reproducer` resource with a `pipeline` in the input",
                    );
                    return 1;
                }
            }
        }
        let searched = match &self.goal {
            RunGoal::Transform => None,
            RunGoal::Bisect(command) => Some(bisect::run(&self, &text, command)),
            RunGoal::Reduce(command) => Some(reduce::run(&self, &text, command)),
        };
        match searched {
            Some(Ok(found)) => return self.write_output(&found, true),
            Some(Err(message)) => {
                print_error(&format!("noisy-opt: {message}"));
                return 1;
            }
            None => {}
        }
        if self.dump_pipeline {
            let n = self.pipeline.elements.len();
            print_error(&format!("Pass Manager with {n} passes:\n{}", self.pipeline.text()));
        }
        let mut timing = Timing::default();
        let mut actions = std::mem::take(&mut self.actions);
        let recorder = self.replay.as_ref().map(|_| replay::start_recording(&mut actions));
        let mut out = String::new();
        let mut is_fine = true;
        let marker = self.split_at.clone();
        for (n, part) in split_into_parts(text, marker.as_deref()).into_iter().enumerate() {
            if n > 0 && is_fine {
                out += if self.keeps_source { &part.separator } else { "// -----\n" };
            }
            let input = InputText::new(&self.shown_file(), part.text, part.first_line);
            actions.restart_counters();
            if let Some(it) = &recorder {
                it.open(&input);
            }
            match self.process_part(input, &mut timing, &mut actions) {
                Ok(printed) if out.is_empty() => out = printed,
                Ok(printed) => out += &printed,
                Err(()) => is_fine = false,
            }
            if self.prints_counters {
                print_error(actions.counters().trim_end());
            }
        }
        if let Some(display) = self.timing {
            let report = timing.report(display);
            let _ = std::io::stderr().write_all(report.as_bytes());
        }
        if let (Some(recorder), Some(file)) = (recorder, &self.replay)
            && let Err(error) = write(file, &recorder.finish(file, &self.shown_file()))
        {
            print_error(&format!("cannot open output file '{}': {error}", shown_line(file)));
            return 1;
        }
        self.write_output(&out, is_fine)
    }

    /// Returns the kinds of unknown ops that are accepted.
    fn accepted_ops(&self) -> AcceptedOps {
        match (self.keeps_source, self.allow_unregistered) {
            (true, _) => AcceptedOps::All,
            (false, true) => AcceptedOps::Generic,
            (false, false) => AcceptedOps::Registered,
        }
    }

    /// Returns an error if an output would replace a file of another kind, unless `--force` is
    /// given.
    fn check_outputs(&self) -> Result<(), String> {
        if self.is_forced {
            return Ok(());
        }
        if let Some(file) = &self.replay {
            let kind = if replay::is_json_lines(file) { FileKind::Json } else { FileKind::Html };
            check_replaceable(Path::new(file), kind)?;
        }
        if let Some(file) = &self.crash_reproducer {
            check_replaceable(Path::new(file), FileKind::Program)?;
        }
        // With `--in-place`, the output file is the input file.
        if self.output == "-" || self.is_in_place {
            return Ok(());
        }
        check_replaceable(Path::new(&self.output), FileKind::Program)
    }

    /// Writes the output atomically and returns the exit code.
    fn write_output(&self, out: &str, is_fine: bool) -> u8 {
        if (is_fine || self.output == "-")
            && let Err(error) = write(&self.output, out)
        {
            print_error(&format!(
                "cannot open output file '{}': {error}",
                shown_line(&self.output)
            ));
            return 1;
        }
        u8::from(!is_fine)
    }

    fn shown_file(&self) -> String {
        if self.input == "-" { "<stdin>".to_owned() } else { shown_line(&self.input).into() }
    }

    /// Processes a part of the file and returns its output.
    fn process_part(
        &self,
        input: InputText,
        timing: &mut Timing,
        actions: &mut Actions,
    ) -> Result<String, ()> {
        let mut sink = DiagnosticSink::new(input, self.verify_diagnostics);
        let outcome = self.transform(&mut sink, timing, actions);
        if self.verify_diagnostics {
            let wrong = sink.unexpected();
            for it in &wrong {
                print_error(it);
            }
            return if wrong.is_empty() { Ok(String::new()) } else { Err(()) };
        }
        outcome
    }

    /// [`OptRun::process_part`] without printing diagnostics.
    fn process_quietly(
        &self,
        input: InputText,
        timing: &mut Timing,
        actions: &mut Actions,
    ) -> Result<String, ()> {
        self.transform(&mut DiagnosticSink::new(input, true), timing, actions)
    }

    fn transform(
        &self,
        sink: &mut DiagnosticSink,
        timing: &mut Timing,
        actions: &mut Actions,
    ) -> Result<String, ()> {
        if let Some(out) =
            self.process_in_portions(sink.text(), actions, portions::MIN_PORTION_BYTES)
        {
            return Ok(out);
        }
        timing.enter("Parser");
        let is_located = self.settings.style.has_locations || actions.needs_locations();
        let parsed = parse(sink, self.accepted_ops(), self.settings.n_threads, is_located);
        timing.leave();
        let mut ir = parsed?;
        if self.keeps_source {
            let kept = keep::edits(&without_split_markers(sink.text()), &self.pipeline, None);
            let edits = kept.map_err(|it| sink.report(DiagnosticSeverity::Error, None, &it))?;
            return Ok(TextEdit::apply_all(&edits, sink.text()));
        }
        let top =
            if self.no_implicit_module { only_op(&ir) } else { Some(wrap_in_module(&mut ir)) };
        let Some(top) = top else {
            sink.report(
                DiagnosticSeverity::Error,
                Some(0),
                "source must contain a single top-level operation, found: 0",
            );
            return Err(());
        };
        if ir.has_locations() && ir.origin(top).is_none() {
            let whole = ir.file_location(&sink.input().file, 0, 0);
            ir.set_location(top, whole);
        }
        let anchor = &self.pipeline.anchor;
        if *anchor != ir.op_name(top) && anchor != "any" && !self.pipeline.elements.is_empty() {
            let text = format!("can't run '{anchor}' pass manager on '{}' op", ir.op_name(top));
            sink.report(DiagnosticSeverity::Error, None, &text);
            return Err(());
        }
        let whole = self
            .crash_reproducer
            .as_ref()
            .map(|_| print::op_in_style(&ir, top, self.settings.style));
        let mut manager = PassManager::new(&self.settings, sink, timing, actions);
        let outcome = manager.run(&mut ir, top, &self.pipeline);
        if self.statistics {
            print_error(&statistics(manager.statistics()));
        }
        if outcome.is_err() {
            let failure = manager.failure().cloned();
            if let (Some(file), Some(whole)) = (&self.crash_reproducer, whole) {
                self.write_reproducer(file, whole, failure, (&ir, top), sink);
            }
            return Err(());
        }
        timing.enter("Output");
        let out = print::document(&ir, self.settings.style);
        timing.leave();
        if self.split_at.is_none() {
            // The process exits after this output, and the system frees memory faster than drops
            // would.
            std::mem::forget(ir);
        }
        Ok(out)
    }

    /// Writes a reproducer of the failure, and reports its path.
    fn write_reproducer(
        &self,
        file: &str,
        whole: String,
        failure: Option<FailedPass>,
        (ir, top): (&Ir, Op),
        sink: &mut DiagnosticSink,
    ) {
        let what = failure.as_ref().map_or("the verifier".to_owned(), |it| it.description.clone());
        let local = failure.and_then(|it| it.before.map(|before| (before, it.pipeline)));
        let is_local = local.is_some();
        let (text, pipeline) = local.unwrap_or_else(|| (whole, self.pipeline.spaced_text()));
        let text = reproducer(&text, &pipeline, self.is_threaded, self.settings.verify_each);
        let place = crate::diagnostics::offset_of(ir, top);
        let message = "Failures have been detected while processing an MLIR pass pipeline";
        sink.report(DiagnosticSeverity::Error, place, message);
        let what = if is_local { what } else { format!("[{what}]") };
        let (written, file) = (write(file, &text), shown_line(file));
        let end = match written {
            Ok(()) => format!("reproducer generated at `{file}`"),
            Err(error) => format!("cannot write reproducer `{file}`: {error}"),
        };
        let note = format!("Pipeline failed while executing {what}: {end}");
        sink.report(DiagnosticSeverity::Note, place, &note);
    }
}

/// The kinds of unknown ops that are accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AcceptedOps {
    /// Ops of HEIR in generic form.
    Registered,
    /// All ops in generic form.
    Generic,
    /// All ops, because their text is kept.
    All,
}

/// Parses a part of the file on `n_threads` threads (0 for the calling thread), and reports its
/// problems. Locations are kept if `is_located`.
fn parse(
    sink: &mut DiagnosticSink,
    accepted: AcceptedOps,
    n_threads: usize,
    is_located: bool,
) -> Result<Ir, ()> {
    let text = without_split_markers(sink.text());
    let read = if is_located {
        Err(Box::new(Source::read(&text, n_threads)))
    } else {
        Ir::read(&text, n_threads)
    };
    let ir = match read {
        Ok(ir) => ir,
        Err(source) => {
            let problems = source.problems();
            for (op, range, problem) in &problems {
                let is_plain = problem.category() == noisy_syntax::Category::Structure;
                let text = if is_plain {
                    format!("'{}' op {}", source.ir().op_name(*op), problem.message)
                } else {
                    problem.message.clone()
                };
                sink.report(DiagnosticSeverity::Error, Some(range.start), &text);
            }
            if !problems.is_empty() {
                return Err(());
            }
            if is_located {
                source.into_located_ir(&sink.input().file, sink.input().first_line)
            } else {
                source.into_ir()
            }
        }
    };
    let is_known = |op: Op| {
        let data = ir.op(op);
        match accepted {
            AcceptedOps::All => true,
            _ if data.form == Form::Opaque => false,
            AcceptedOps::Generic => true,
            AcceptedOps::Registered => {
                data.kind != OpKind::Unknown || noisy_heir::is_heir_op(ir.op_name(op))
            }
        }
    };
    // First check all ops in the order of the arena, which takes a third of the time of a walk.
    if (0..ir.n_slots().0).map(Op::from_index).all(is_known) {
        return Ok(ir);
    }
    let mut is_fine = true;
    ir.walk(ir.root(), &mut |op| {
        if is_known(op) {
            return;
        }
        let is_opaque = ir.op(op).form == Form::Opaque;
        let name = ir.op_name(op);
        let dialect = name.split('.').next().unwrap_or_default();
        let text = if is_opaque {
            format!("custom op '{name}' is unknown (tried 'builtin.{name}' as well)")
        } else if !noisy_syntax::dialect::is_read_by_mlir(dialect) {
            format!(
                "'{name}' operation created with unregistered dialect. If this is intended, please call \
                 allowUnregisteredDialects() on the MLIRContext, or use -allow-unregistered-dialect with \
                 the MLIR opt tool used"
            )
        } else {
            return;
        };
        let is_of_heir = is_opaque && is_fine && noisy_heir::is_heir_op(name);
        is_fine = false;
        sink.report_at_op(DiagnosticSeverity::Error, &ir, op, &text);
        if is_of_heir {
            let text = "noisy-opt cannot print HEIR's custom syntax; --keep-source leaves such ops unchanged, and their generic form is accepted";
            sink.report_at_op(DiagnosticSeverity::Note, &ir, op, text);
        }
    });
    if is_fine { Ok(ir) } else { Err(()) }
}

fn only_op(ir: &Ir) -> Option<Op> {
    let chunk = ir.region(ir.block(ir.top_block()).region).parent?;
    let region = ir.op(chunk).regions.first()?.1;
    let mut ops = ir.items(region).filter(|it| ir.op(*it).kind.is_op());
    let first = ops.next()?;
    ops.next().is_none().then_some(first)
}

/// Returns the module of a program. If the only op is not a module, a new module wraps all ops.
pub fn wrap_in_module(ir: &mut Ir) -> Op {
    if let Some(only) = only_op(ir).filter(|&it| ir.op(it).kind == OpKind::BuiltinModule) {
        return only;
    }
    let top = ir.top_block();
    let region = ir.block(top).region;
    let ops: Vec<Op> = ir.items(region).filter(|it| ir.op(*it).kind.is_op()).collect();
    let module = ir.insert(NewOp::new("builtin.module").regions(1), InsertionPoint::End(top));
    let body = ir.op(module).regions[0].1;
    let block = ir.add_block(body, &[]);
    for op in ops {
        ir.move_op(op, InsertionPoint::End(block));
    }
    module
}

fn statistics(all: &[(&'static str, &'static str, &'static str, usize)]) -> String {
    let line = format!("===-{}-===", "-".repeat(73));
    let mut out = format!("{line}\n{:^80}\n{line}\n", "... Pass statistics report ...");
    let mut last = "";
    for (class, _, what, n) in all {
        if *class != last {
            out += &format!("{class}\n");
            last = class;
        }
        out += &format!("  (S) {n:6} {what}\n");
    }
    out
}

/// Returns a reproducer: a program with the pipeline that failed on it.
fn reproducer(text: &str, pipeline: &str, is_threaded: bool, verify_each: bool) -> String {
    let pipeline = pipeline.replace('\\', "\\\\").replace('"', "\\\"");
    format!(
        "{text}\n\n{{-#\n  external_resources: {{\n    mlir_reproducer: {{\n      pipeline: \"{pipeline}\",\n      \
         disable_threading: {},\n      verify_each: {verify_each}\n    }}\n  }}\n#-}}\n",
        !is_threaded
    )
}

/// Returns the pipeline of a reproducer.
fn pipeline_of_reproducer(text: &str) -> Option<String> {
    let section = &text[text.rfind("mlir_reproducer:")?..];
    let behind = section.split_once("pipeline:")?.1.split_once('"')?.1;
    let mut out = String::new();
    let mut chars = behind.chars();
    loop {
        match chars.next()? {
            '"' => return Some(out),
            '\\' => out.push(chars.next()?),
            c => out.push(c),
        }
    }
}
