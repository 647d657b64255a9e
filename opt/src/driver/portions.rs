//! Processing of large files in portions. Each portion is parsed, transformed and printed
//! separately, on all cores, so memory is needed for a few portions only.
//!
//! Portions are used only if the result is the same. All passes must be local: their effect on a
//! function depends only on this function. Nothing may be logged, counted, timed or printed in
//! between. The file may contain only functions, which may be in one module. In other cases (an
//! error, a call of a function in another portion, an alias in the output), the file is processed
//! as a whole.
//!
//! *Law.* The output equals that for the whole file. A portion ends before a line that starts with
//! `func.func `. If both sides parse without errors, their concatenation parses to the same ops,
//! because strings and comments end on their lines.

use noisy_syntax::parallel::map_in_order;
use noisy_syntax::{Ir, OpKind, print};
use rustc_hash::FxHashSet;

use super::manager::{ManagerSettings, PassManager};
use super::pipeline::{Pipeline, PipelineElement};
use super::{AcceptedOps, OptRun, parse, wrap_in_module};
use crate::actions::Actions;
use crate::diagnostics::{DiagnosticSink, InputText};
use crate::passes;
use crate::timing::Timing;

/// Minimum number of bytes of a portion, except for the last one.
pub(super) const MIN_PORTION_BYTES: usize = 1 << 17;

/// A text of functions, split into portions.
#[derive(Debug, PartialEq, Eq)]
struct SplitText<'t> {
    /// The text up to the line that opens the module around all functions; empty without a module.
    head: &'t str,
    /// The portions, each with whole functions.
    portions: Vec<&'t str>,
}

impl<'t> SplitText<'t> {
    /// Splits a text into portions of at least `size` bytes. `None` if the text does not look like
    /// a list of functions, or if there would be only one portion.
    fn new(text: &'t str, size: usize) -> Option<Self> {
        const START: &str = "func.func ";
        let first = text.find(START)?;
        let start = text[..first].rfind('\n').map_or(0, |it| it + 1);
        let indent = &text[start..first];
        let is_code = |line: &&str| !line.is_empty() && !line.starts_with("//");
        let mut above = text[..start].lines().map(str::trim).filter(is_code);
        let head = match (above.next(), above.next()) {
            (None, _) => "",
            (Some(line), None) if line.starts_with("module") && line.ends_with('{') => {
                &text[..start]
            }
            _ => return None,
        };
        let mut rest = &text[start..];
        if !head.is_empty() {
            rest = rest.trim_end().strip_suffix("\n}")?;
        }
        let start_of_next = format!("\n{indent}{START}");
        let mut portions = Vec::new();
        while let Some(tail) = rest.get(size..).or_else(|| tail_of(rest, size)) {
            let Some(at) = tail.find(&start_of_next) else { break };
            let (portion, behind) = rest.split_at(rest.len() - tail.len() + at + 1);
            portions.push(portion);
            rest = behind;
        }
        portions.push(rest);
        (indent.trim().is_empty() && portions.len() > 1).then_some(Self { head, portions })
    }

    /// Returns a portion as a complete file, in a module if the text has one.
    fn portion_file(&self, n: usize) -> String {
        let portion = self.portions[n];
        if self.head.is_empty() {
            portion.to_owned()
        } else {
            format!("{}{portion}\n}}\n", self.head)
        }
    }
}

/// Returns the text from the first character boundary at or after a byte.
fn tail_of(text: &str, at: usize) -> Option<&str> {
    (at..text.len()).find_map(|it| text.get(it..))
}

impl Pipeline {
    /// Returns true if the effect of all passes on an isolated op depends only on this op.
    fn is_local(&self) -> bool {
        self.elements.iter().all(|it| match it {
            PipelineElement::Pass(info, _) => passes::is_local(info, &self.anchor),
            PipelineElement::Nested(it) => it.is_local(),
        })
    }
}

impl OptRun {
    /// Processes a text portion by portion. `None` if it must be processed as a whole.
    pub(super) fn process_in_portions(
        &self,
        text: &str,
        actions: &Actions,
        size: usize,
    ) -> Option<String> {
        let is_unseen = self.timing.is_none()
            && !self.statistics
            && !self.verify_diagnostics
            && !self.keeps_source
            && !self.no_implicit_module
            && !self.settings.style.has_locations
            && self.crash_reproducer.is_none()
            && self.settings.print_ir.is_never_printed()
            && actions.is_idle();
        let is_module = self.pipeline.anchor == "builtin.module" || self.pipeline.anchor == "any";
        if !(is_unseen && is_module && self.pipeline.is_local()) {
            return None;
        }
        let cut = SplitText::new(text, size)?;
        let work = PortionRunner {
            pipeline: &self.pipeline,
            settings: ManagerSettings { n_threads: 0, ..self.settings.clone() },
            accepted: self.accepted_ops(),
        };
        let mut whole = JoinedModules::default();
        let mut is_fine = true;
        map_in_order(
            self.settings.n_threads,
            cut.portions.len(),
            |n| work.process(cut.portion_file(n)),
            |done| {
                is_fine = done.is_some_and(|(out, names)| whole.add(&out, names));
                is_fine
            },
        );
        is_fine.then(|| whole.finish())
    }
}

/// The input that the processing of each portion shares.
struct PortionRunner<'a> {
    pipeline: &'a Pipeline,
    settings: ManagerSettings,
    accepted: AcceptedOps,
}

impl PortionRunner<'_> {
    /// Processes a portion. Returns its output, and the names of its functions.
    fn process(&self, text: String) -> Option<(String, Vec<String>)> {
        let mut sink = DiagnosticSink::new(InputText::new("", text, 0), true);
        let mut ir = parse(&mut sink, self.accepted, self.settings.n_threads, false).ok()?;
        let top = wrap_in_module(&mut ir);
        let names = function_names(&ir, top)?;
        let (mut timing, mut actions) = (Timing::default(), Actions::default());
        let mut manager = PassManager::new(&self.settings, &mut sink, &mut timing, &mut actions);
        manager.run(&mut ir, top, self.pipeline).ok()?;
        sink.is_silent().then(|| (print::document(&ir, self.settings.style), names))
    }
}

/// Returns the names of the functions in a module, if the program contains nothing else.
fn function_names(ir: &Ir, module: noisy_syntax::Op) -> Option<Vec<String>> {
    let around = ir.items(ir.op(module).parent).count();
    let region = ir.op(module).regions.first()?.1;
    let name = |op: noisy_syntax::Op| {
        let (name, _) = ir.extra(op).symbol?;
        (ir.op(op).kind == OpKind::FuncFunc).then(|| ir.interner.str(name).to_owned())
    };
    // Besides labels, the module must be the only item.
    let is_alone = around - ir.labels(ir.op(module).parent).count() == 1;
    let items = ir.items(region).filter(|&it| ir.op(it).kind != OpKind::Label);
    items.map(name).collect::<Option<Vec<_>>>().filter(|it| is_alone && !it.is_empty())
}

/// The module that joins the outputs of all portions.
#[derive(Debug, Default)]
struct JoinedModules {
    out: String,
    /// The last line, which closes the module.
    end: String,
    names: FxHashSet<String>,
}

impl JoinedModules {
    /// Adds the functions of another module. Returns false if the modules cannot be joined.
    fn add(&mut self, module: &str, names: Vec<String>) -> bool {
        let ends = module
            .strip_suffix('\n')
            .and_then(|it| Some((it.find('\n')? + 1, it.rfind('\n')? + 1)));
        let Some((first, last)) = ends.filter(|it| it.0 < it.1) else { return false };
        let (head, end) = (&module[..first], &module[last..]);
        if self.out.is_empty() {
            // Otherwise the output starts with aliases, which cannot be joined.
            let is_module = ["module", "\"builtin.module\""].iter().any(|it| head.starts_with(it));
            if !is_module {
                return false;
            }
            self.out.push_str(head);
            end.clone_into(&mut self.end);
        } else if !self.out.starts_with(head) || self.end != end {
            return false;
        }
        self.out.push_str(&module[first..last]);
        names.into_iter().all(|it| self.names.insert(it))
    }

    fn finish(mut self) -> String {
        self.out.push_str(&self.end);
        self.out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_of(flags: &[&str]) -> OptRun {
        let args: Vec<String> = flags.iter().map(|&it| it.to_owned()).collect();
        OptRun::from_args(&args).unwrap_or_else(|_| panic!("{flags:?}"))
    }

    /// Processes a text as a whole; it must be shorter than the default size of a portion.
    fn whole(run: &OptRun, text: &str) -> Option<String> {
        assert!(text.len() < MIN_PORTION_BYTES, "the text is short");
        let input = InputText::new("", text.to_owned(), 0);
        run.process_quietly(input, &mut Timing::default(), &mut Actions::default()).ok()
    }

    fn by_portions(run: &OptRun, text: &str, size: usize) -> Option<String> {
        run.process_in_portions(text, &Actions::default(), size)
    }

    /// Functions with foldable, dead and repeated ops, with branches, and with comments between
    /// them.
    fn functions(n: usize, indent: &str) -> String {
        let mut out = String::new();
        for n in 0..n {
            out += &format!(
                "{indent}// no end: }} {n}\n{indent}func.func @f{n}(%a: i32, %c: i1) -> i32 {{\n{indent}  %x = arith.constant {n} : i32\n\
                 {indent}  %0 = arith.addi %x, %a : i32\n{indent}  %1 = arith.addi %a, %x : i32\n{indent}  %2 = arith.muli %0, %1 : i32\n\
                 {indent}  %d = arith.muli %2, %2 : i32\n{indent}  cf.cond_br %c, ^b, ^e(%2 : i32)\n{indent}^b:\n{indent}  cf.br ^e(%1 : i32)\n\
                 {indent}^e(%r: i32):\n{indent}  return %r : i32\n{indent}}}\n"
            );
        }
        out
    }

    #[test]
    fn portions_give_the_output_of_the_whole_file() {
        let texts = [
            functions(9, ""),
            format!("// a comment\n\nmodule {{\n{}}}\n", functions(9, "  ")),
            format!("module attributes {{a.b = 7 : i32}} {{\n{}\n}}\n// end\n", functions(7, "  ")),
            format!("{}func.func private @g(i32) -> i32\n{}", functions(3, ""), functions(0, "")),
        ];
        for flags in [
            &["--canonicalize", "--cse"][..],
            &["--canonicalize", "--mlir-disable-threading"],
            &["--pass-pipeline=builtin.module(func.func(cse),canonicalize)"],
            &["--pass-pipeline=builtin.module(func.func(sccp,int-range-optimizations))"],
            &["--cse", "--mlir-print-op-generic"],
            &[],
        ] {
            let run = run_of(flags);
            let mut n_portions = 0;
            for text in &texts {
                for size in [1, 300, 900] {
                    let found = by_portions(&run, text, size);
                    n_portions += usize::from(found.is_some());
                    if let Some(found) = found {
                        assert_eq!(Some(found), whole(&run, text), "{flags:?} {size}\n{text}");
                    }
                }
            }
            assert!(n_portions >= 8, "{flags:?}: {n_portions}");
        }
    }

    #[test]
    fn falls_back_to_the_whole_file() {
        let fine = functions(3, "");
        let others = [
            // A redefinition, although each portion is valid.
            format!("{fine}{fine}"),
            format!("module {{\n{0}}}\nmodule {{\n{0}}}\n", functions(2, "  ")),
            format!("module {{\n{}", functions(2, "  ")),
            format!("!t = i32\n{fine}"),
            format!("{fine}\"other.op\"() : () -> ()\n"),
            format!(
                "{fine}func.func @g() {{\n  func.call @h() : () -> ()\n  return\n}}\nfunc.func private @h()\n"
            ),
            format!("{fine}func.func @g() {{\n  return %x : i32\n}}\n"),
            format!(
                "{fine}func.func @g(%a: index) -> index {{\n  %0 = affine.apply affine_map<(i) -> (i * 7 floordiv 5)>(%a)\n  return %0 : index\n}}\n"
            ),
            format!("{fine}#-}}\n"),
            "func.func @a(".to_owned(),
            String::new(),
        ];
        for text in others {
            assert_eq!(by_portions(&run_of(&["--canonicalize"]), &text, 1), None, "{text}");
        }
        // Timing, statistics, prints, edits of the source and interprocedural passes need the whole
        // file.
        let text = functions(5, "");
        for flags in [
            &["--canonicalize", "--mlir-timing"][..],
            &["--canonicalize", "--mlir-pass-statistics"],
            &["--canonicalize", "--mlir-print-ir-after-all"],
            &["--canonicalize", "--keep-source"],
            &["--inline"],
            &["--sccp"],
        ] {
            assert_eq!(by_portions(&run_of(flags), &text, 1), None, "{flags:?}");
        }
        let mut actions = Actions::default();
        actions.limit_to(3);
        assert_eq!(run_of(&["--cse"]).process_in_portions(&text, &actions, 1), None);
    }
}
