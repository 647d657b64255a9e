//! Analysis caching: results are kept while passes preserve them, and verification compares them
//! with the program.

use std::sync::atomic::{AtomicUsize, Ordering};

use noisy_opt::actions::Actions;
use noisy_opt::analysis::Analysis;
use noisy_opt::diagnostics::{DiagnosticSink, InputText};
use noisy_opt::driver::manager::{ManagerSettings, PassManager};
use noisy_opt::driver::pipeline::{Pipeline, PipelineElement};
use noisy_opt::driver::wrap_in_module;
use noisy_opt::pass::{PassContext, PassFailure, PassInfo, PassOptions};
use noisy_opt::rewrite::nested_ops;
use noisy_opt::timing::Timing;
use noisy_syntax::rewrite::{InsertionPoint, NewOp};
use noisy_syntax::{Ir, Op, Source};

/// An analysis that counts ops.
struct OpCount(usize);

static N_COUNTED: AtomicUsize = AtomicUsize::new(0);

impl Analysis for OpCount {
    const NAME: &'static str = "the number of ops";

    fn new(ir: &Ir, op: Op) -> Self {
        N_COUNTED.fetch_add(1, Ordering::Relaxed);
        Self(nested_ops(ir, op).len())
    }

    fn is_same(&self, other: &Self, _: &Ir, _: Op) -> bool {
        self.0 == other.0
    }
}

const fn pass(
    name: &'static str,
    run: fn(&mut PassContext<'_>, Op, &PassOptions) -> Result<(), PassFailure>,
) -> PassInfo {
    PassInfo { name, class: name, anchor: None, summary: "", options: &[], run }
}

/// A pass that uses the analysis and changes nothing.
static USES: PassInfo = pass("asks", |cx, op, _| {
    let count = cx.analyses.get_or_compute::<OpCount>(cx.ir, op);
    assert_eq!(count.0, nested_ops(cx.ir, op).len());
    cx.analyses.preserve_all();
    Ok(())
});

/// A pass that adds an op and preserves no analyses.
static ADDS: PassInfo = pass("adds", |cx, op, _| {
    add(cx.ir, op);
    Ok(())
});

/// A pass that adds an op and wrongly preserves the analysis.
static WRONGLY_PRESERVES: PassInfo = pass("lies", |cx, op, _| {
    add(cx.ir, op);
    cx.analyses.preserve::<OpCount>();
    Ok(())
});

fn add(ir: &mut Ir, op: Op) {
    let inner = nested_ops(ir, op);
    let last = *inner.last().expect("an op");
    ir.insert(NewOp::new("x.y"), InsertionPoint::Before(last));
}

/// Runs passes on a module with a function, or on the function. Returns the diagnostics and the
/// number of times that the ops were counted.
fn run_passes(passes: &[(&'static PassInfo, bool)], verify_each: bool) -> (Vec<String>, usize) {
    let text = "func.func @f() {\n  return\n}\n";
    let mut ir = Source::new(text).into_ir();
    let top = wrap_in_module(&mut ir);
    let mut pipeline = Pipeline::new("builtin.module");
    for &(info, on_functions) in passes {
        let pass = PipelineElement::Pass(info, PassOptions::default());
        if on_functions {
            let mut nested = Pipeline::new("func.func");
            nested.elements.push(pass);
            pipeline.elements.push(PipelineElement::Nested(nested));
        } else {
            pipeline.elements.push(pass);
        }
    }
    let mut sink = DiagnosticSink::new(InputText::new("in.mlir", text.to_owned(), 0), true);
    let settings = ManagerSettings { verify_each, ..ManagerSettings::default() };
    let (mut timing, mut actions) = (Timing::default(), Actions::default());
    let before = N_COUNTED.load(Ordering::Relaxed);
    let mut manager = PassManager::new(&settings, &mut sink, &mut timing, &mut actions);
    let outcome = manager.run(&mut ir, top, &pipeline);
    let told = sink.unexpected();
    assert_eq!(outcome.is_err(), !told.is_empty());
    (told, N_COUNTED.load(Ordering::Relaxed) - before)
}

/// A single test, because the count is in a static variable.
#[test]
fn changes_invalidate_analyses_and_wrong_preservation_is_reported() {
    let (asks, adds, lies) = ((&USES, false), (&ADDS, false), (&WRONGLY_PRESERVES, false));
    assert_eq!(run_passes(&[asks, asks, asks], false), (Vec::new(), 1));
    assert_eq!(run_passes(&[asks, adds, asks], false), (Vec::new(), 2));
    // A change in a function invalidates the analysis of the module, and vice versa.
    assert_eq!(run_passes(&[asks, (&ADDS, true), asks], false), (Vec::new(), 2));
    assert_eq!(run_passes(&[(&USES, true), adds, (&USES, true)], false), (Vec::new(), 2));
    // Verification counts once more after each pass.
    assert_eq!(run_passes(&[asks, asks, asks], true), (Vec::new(), 4));
    for inside in [false, true] {
        let (said, _) = run_passes(&[asks, (&WRONGLY_PRESERVES, inside)], true);
        let [said] = &said[..] else { panic!("{said:?}") };
        assert!(
            said.contains("says that it preserves the number of ops, but it does not"),
            "{said}"
        );
    }
    assert_eq!(run_passes(&[lies], true).0, Vec::<String>::new());
}
