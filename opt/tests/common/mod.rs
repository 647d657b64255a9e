//! Reads programs and runs pipelines on them.

use noisy_opt::actions::Actions;
use noisy_opt::diagnostics::{DiagnosticSink, InputText};
use noisy_opt::driver::manager::{ManagerSettings, PassManager};
use noisy_opt::driver::pipeline::Pipeline;
use noisy_opt::driver::wrap_in_module;
use noisy_opt::timing::Timing;
use noisy_syntax::{Ir, Source};

/// Reads a program, which must be valid.
pub(crate) fn read(text: &str) -> Ir {
    let mut source = Source::new(text);
    assert!(source.problems().is_empty(), "{:?}\n{text}", source.problems());
    let wrong = source.ir().verify();
    assert!(wrong.is_empty(), "{wrong:?}\n{text}");
    std::mem::replace(&mut source, Source::new("")).into_ir()
}

/// Returns the output of a pipeline, verified after each pass and at the end, or the error.
pub(crate) fn run(pipeline: &str, text: &str) -> Result<Ir, Vec<String>> {
    let mut ir = read(text);
    let top = wrap_in_module(&mut ir);
    let pipeline = Pipeline::parse(pipeline).expect("a pipeline");
    let settings = ManagerSettings { verify_each: true, ..ManagerSettings::default() };
    let mut sink = DiagnosticSink::new(InputText::new("test", text.to_owned(), 0), true);
    let mut timing = Timing::default();
    let mut actions = Actions::default();
    let done = PassManager::new(&settings, &mut sink, &mut timing, &mut actions)
        .run(&mut ir, top, &pipeline);
    if done.is_err() {
        return Err(sink.unexpected());
    }
    assert_eq!(ir.verify(), [], "{text}");
    Ok(ir)
}
