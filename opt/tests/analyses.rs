//! Analysis caching: results are kept while passes preserve them, and verification compares them
//! with the program.

use std::sync::atomic::{AtomicUsize, Ordering};

use noisy_opt::actions::Actions;
use noisy_opt::analysis::Analysis;
use noisy_opt::diagnostics::{Input, Sink};
use noisy_opt::driver::manager::{Manager, Settings};
use noisy_opt::driver::pipeline::{Element, Pipeline};
use noisy_opt::driver::wrap;
use noisy_opt::pass::{Context, Failure, Options, PassInfo};
use noisy_opt::rewrite::nested;
use noisy_opt::timing::Timing;
use noisy_syntax::rewrite::{NewOp, Point};
use noisy_syntax::{Ir, Op, Source};

/// An analysis that counts ops.
struct Count(usize);

static N_COUNTED: AtomicUsize = AtomicUsize::new(0);

impl Analysis for Count {
    const NAME: &'static str = "the number of ops";

    fn new(ir: &Ir, op: Op) -> Self {
        N_COUNTED.fetch_add(1, Ordering::Relaxed);
        Self(nested(ir, op).len())
    }

    fn is_same(&self, other: &Self, _: &Ir, _: Op) -> bool {
        self.0 == other.0
    }
}

const fn pass(
    name: &'static str,
    run: fn(&mut Context<'_>, Op, &Options) -> Result<(), Failure>,
) -> PassInfo {
    PassInfo { name, class: name, anchor: None, summary: "", options: &[], run }
}

/// A pass that uses the analysis and changes nothing.
static ASKS: PassInfo = pass("asks", |cx, op, _| {
    let count = cx.analyses.of::<Count>(cx.ir, op);
    assert_eq!(count.0, nested(cx.ir, op).len());
    cx.analyses.preserve_all();
    Ok(())
});

/// A pass that adds an op and preserves no analyses.
static ADDS: PassInfo = pass("adds", |cx, op, _| {
    add(cx.ir, op);
    Ok(())
});

/// A pass that adds an op and wrongly preserves the analysis.
static LIES: PassInfo = pass("lies", |cx, op, _| {
    add(cx.ir, op);
    cx.analyses.preserve::<Count>();
    Ok(())
});

fn add(ir: &mut Ir, op: Op) {
    let inner = nested(ir, op);
    let last = *inner.last().expect("an op");
    ir.insert(NewOp::new("x.y"), Point::Before(last));
}

/// Runs passes on a module with a function, or on the function. Returns the diagnostics and the
/// number of times that the ops were counted.
fn told(passes: &[(&'static PassInfo, bool)], verify_each: bool) -> (Vec<String>, usize) {
    let text = "func.func @f() {\n  return\n}\n";
    let mut ir = Source::new(text).into_ir();
    let top = wrap(&mut ir);
    let mut pipeline = Pipeline::new("builtin.module");
    for &(info, on_functions) in passes {
        let pass = Element::Pass(info, Options::default());
        if on_functions {
            let mut nested = Pipeline::new("func.func");
            nested.elements.push(pass);
            pipeline.elements.push(Element::Nested(nested));
        } else {
            pipeline.elements.push(pass);
        }
    }
    let mut sink = Sink::new(Input::new("in.mlir", text.to_owned(), 0), true);
    let settings = Settings { verify_each, ..Settings::default() };
    let (mut timing, mut actions) = (Timing::default(), Actions::default());
    let before = N_COUNTED.load(Ordering::Relaxed);
    let mut manager = Manager::new(&settings, &mut sink, &mut timing, &mut actions);
    let outcome = manager.run(&mut ir, top, &pipeline);
    let told = sink.unexpected();
    assert_eq!(outcome.is_err(), !told.is_empty());
    (told, N_COUNTED.load(Ordering::Relaxed) - before)
}

/// A single test, because the count is in a static variable.
#[test]
fn an_analysis_is_kept_until_a_pass_near_it_changes_something_and_who_lies_is_found() {
    let (asks, adds, lies) = ((&ASKS, false), (&ADDS, false), (&LIES, false));
    assert_eq!(told(&[asks, asks, asks], false), (Vec::new(), 1));
    assert_eq!(told(&[asks, adds, asks], false), (Vec::new(), 2));
    // A change in a function invalidates the analysis of the module, and vice versa.
    assert_eq!(told(&[asks, (&ADDS, true), asks], false), (Vec::new(), 2));
    assert_eq!(told(&[(&ASKS, true), adds, (&ASKS, true)], false), (Vec::new(), 2));
    // Verification counts once more after each pass.
    assert_eq!(told(&[asks, asks, asks], true), (Vec::new(), 4));
    for inside in [false, true] {
        let (said, _) = told(&[asks, (&LIES, inside)], true);
        let [said] = &said[..] else { panic!("{said:?}") };
        assert!(
            said.contains("says that it preserves the number of ops, but it does not"),
            "{said}"
        );
    }
    assert_eq!(told(&[lies], true).0, Vec::<String>::new());
}
