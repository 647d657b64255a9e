use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::connection::editor_settings::EditorSettings;
use crate::features::find::reference;
use crate::features::read::folding;
use crate::features::read::hint;
use crate::features::read::lens;
use crate::features::read::symbol;
use crate::features::read::token;
use crate::features::walk;
use crate::features::write::action::ActionScope;
use crate::optimizer::RepairAnswer;
use crate::text::encoding::Encoding;

/// Runs one step of a job about a whole file. The first call creates the job. Returns true if
/// more steps remain.
type Step = Box<dyn FnMut(&mut DocumentView<'_>) -> bool + Send>;

/// Jobs with enough steps for an edit in the middle.
fn jobs() -> Vec<(&'static str, Step)> {
    let mut tokens = None;
    let mut folds = None;
    let mut symbols = None;
    let mut lenses = None;
    let mut hints = None;
    let mut search = None;
    vec![
        (
            "tokens",
            Box::new(move |view| {
                let source = view.document.source();
                let all = 0..view.text().len_bytes();
                let new = || token::TokenJob::new(source, all, Encoding::Utf16);
                tokens.get_or_insert_with(new).step(source)
            }),
        ),
        (
            "folds",
            Box::new(move |view| {
                let source = view.document.source();
                let new = || folding::FoldJob::new(source);
                folds.get_or_insert_with(new).step(source, &mut |_| {})
            }),
        ),
        (
            "symbols",
            Box::new(move |view| {
                let source = view.document.source();
                let new = || symbol::OutlineJob::new(source);
                symbols.get_or_insert_with(new).step(source, &mut |_| {})
            }),
        ),
        (
            "lenses",
            Box::new(move |view| {
                let new = || lens::LensJob::new(view.document);
                lenses.get_or_insert_with(new).step(view.document, &mut |_| {})
            }),
        ),
        (
            "hints",
            Box::new(move |view| {
                let wanted = &view.settings.file.hints;
                let all = 0..view.text().len_bytes();
                let new = || {
                    hint::HintJob::new(
                        view.document,
                        all,
                        wanted,
                        view.settings.file.loops,
                        crate::features::nest::NestCache::default(),
                    )
                };
                hints.get_or_insert_with(new).step(view.document, wanted, &mut |_| {})
            }),
        ),
        (
            "references",
            Box::new(move |view| {
                let source = view.document.source();
                let search = search.get_or_insert_with(|| {
                    let at = source.slice(0..200).find("%x").unwrap_or_default();
                    let mention = crate::features::find::cursor::mention_at(source, at);
                    reference::ReferenceJob::new(source.ir(), mention.expect("a name").entity)
                });
                search.step(source.ir(), &mut |_| {})
            }),
        ),
    ]
}

/// A function with 50,000 ops that all use one value, and 25,000 functions with two ops each.
fn text() -> String {
    let op = |n: usize| format!("  %{n} = noisy.add %x, %x : !noisy.i32\n");
    let straight: String = (0..50_000).map(op).collect();
    let function = |n: usize| {
        format!(
            "func.func @f{n}(%x: !noisy.i32) {{\n  %0 = noisy.add %x, %x : !noisy.i32\n  return\n}}\n"
        )
    };
    let functions: String = (0..25_000).map(function).collect();
    format!("func.func @f(%x: !noisy.i32) {{\n{straight}  return\n}}\n{functions}")
}

#[test]
fn an_edit_waits_for_at_most_one_step() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    let connection = Arc::new(Connection::new(runtime.handle().clone()));
    let uri: lsp::Uri = "file:///a.mlir".parse().expect("a name");
    let document = OpenDocument::open(&connection, uri, 1, text()).expect("a thread");
    for (version, (name, mut step)) in (2..).zip(jobs()) {
        let n_steps = Arc::new(AtomicUsize::new(0));
        let (steps, editor) = (n_steps.clone(), document.clone());
        // The edit arrives during the third step.
        let job = move |view: &mut DocumentView<'_>| {
            let before = walk::n_steps();
            let more = step(view);
            assert!(walk::n_steps() - before <= 2 * walk::ITEMS_PER_STEP, "{name}: a long step");
            if steps.fetch_add(1, Ordering::SeqCst) + 1 == 3 {
                let position = lsp::Position::new(0, 0);
                let change = lsp::TextDocumentContentChangeEvent {
                    range: Some(lsp::Range::new(position, position)),
                    range_length: None,
                    text: "\n".to_owned(),
                };
                editor.change(version, vec![change]);
            }
            (!more).then_some(())
        };
        let answer = runtime.block_on(document.run(job));
        assert_eq!(answer, Err(NoAnswer::Modified), "{name}");
        assert_eq!(n_steps.load(Ordering::SeqCst), 3, "{name}: steps while an edit waited");
        assert_eq!(runtime.block_on(document.query(|view| view.version)), Ok(version));
    }
    document.close();
}

#[test]
fn results_of_a_search_under_earlier_settings_are_dropped() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
    let runtime = runtime.expect("a runtime");
    let connection = Arc::new(Connection::new(runtime.handle().clone()));
    let uri: lsp::Uri = "file:///a.mlir".parse().expect("a name");
    let mul = |n: usize, of: &str| format!("  %{n} = noisy.mul {of}, {of} : !noisy.i32\n");
    let (first, second) = (mul(0, "%x"), mul(1, "%0"));
    let text = format!("func.func @f(%x: !noisy.i32) {{\n{first}{second}  return\n}}\n");
    let document = OpenDocument::open(&connection, uri, 1, text).expect("a thread");
    let mut first_search = std::pin::pin!(document.search());
    let (mailbox, store) = (document.mailbox.clone(), connection.clone());
    let repair = RepairRequest::of(ActionScope::Code("made-up".to_owned()));
    let result =
        Solution { repair: repair.clone(), found: RepairAnswer::Nothing, report: String::new() };
    // The first search ends after a change of the settings and the start of a second search. The
    // actor runs this query, so nothing comes between these messages.
    let (sender, _receiver) = oneshot::channel();
    let post = document.query(move |_| {
        let lenses_off = EditorSettings { shows_lenses: false, ..EditorSettings::new() };
        assert!(store.settings.set_editor(None, lenses_off));
        mailbox.post(Message::Refresh);
        mailbox.post(Message::Search(sender));
        mailbox.post(Message::SearchEnded(1, vec![result]));
    });
    assert_eq!(runtime.block_on(post), Ok(()));
    let is_known = document.query(move |view| view.solution(&repair).is_some());
    assert_eq!(runtime.block_on(is_known), Ok(false));
    assert_eq!(runtime.block_on(first_search.as_mut()), Err(NoAnswer::Modified));
    document.close();
}
