//! Transformations and schedules as text edits.

use noisy_loops::AliasAssumptions;
use noisy_loops::edit::{LoopOptions, offers};
use noisy_syntax::{OpKind, Source, TextEdit};

use crate::common::read;
use crate::machine::result;
use crate::writer::ProgramWriter;
use crate::{function_with_body, ops};

/// Returns a text after edits, which must not overlap.
fn apply_edits(text: &str, edits: &[TextEdit]) -> String {
    let edits = TextEdit::in_order(edits.to_vec()).expect("they do not overlap");
    TextEdit::apply_all(&edits, text)
}

#[test]
fn text_edits_preserve_results() {
    let kinds = [
        "Interchange",
        "Skew",
        "Tile",
        "Run",
        "Convert",
        "Unroll by 4 and jam",
        "Unroll",
        "Peel",
        "Count",
        "Fuse",
        "Distribute",
    ];
    let mut counts = [[0_usize; 2]; 11];
    for seed in 1..=150 {
        let text = ProgramWriter::program(seed);
        let source = Source::new(&text);
        let before = read(&text);
        let ir = source.ir();
        for op in ops(ir, |it| ir.op(it).kind == OpKind::AffineFor) {
            for offer in offers(&source, op, &LoopOptions::default()) {
                let kind = kinds.iter().position(|it| offer.title.starts_with(it)).unwrap();
                counts[kind][usize::from(offer.edits.is_ok())] += 1;
                let Ok(edits) = offer.edits else { continue };
                let changed = apply_edits(&text, &edits);
                assert_ne!(changed, text);
                let after = read(&changed);
                for n in [-2, 0, 1, 4, 6] {
                    let (expected, got) = (result(&before, n), result(&after, n));
                    assert_eq!(
                        expected, got,
                        "seed {seed}, {}, n = {n}\n{text}\n{changed}",
                        offer.title
                    );
                }
            }
        }
    }
    // Each kind was applied, and each kind that can be invalid was refused.
    assert!(counts.iter().all(|it| it[1] >= 5), "{counts:?}");
    assert!([0, 2, 3, 4, 5, 9].iter().all(|&it| counts[it][0] >= 5), "{counts:?}");
}

#[test]
fn schedule_edits_preserve_results_and_comments() {
    let (mut n_done, mut n_refused) = (0, 0);
    for seed in 1..=150 {
        let mut text = ProgramWriter::program(seed);
        text = text
            .replace("affine.store %d", "// The result.\naffine.store %d")
            .replace(", %k : i64\n", ", %k : i64 // added\n");
        let source = Source::new(&text);
        let ir = source.ir();
        let before = read(&text);
        for op in ops(ir, |it| noisy_opt::passes::is_nest_root(ir, it)) {
            let Ok(edits) =
                noisy_opt::passes::best_schedule(&source, op, AliasAssumptions::default())
            else {
                n_refused += 1;
                continue;
            };
            n_done += 1;
            let changed = apply_edits(&text, &edits);
            let after = read(&changed);
            // The comments are still there.
            for comment in ["// The result.", "// added"] {
                assert!(
                    changed.matches(comment).count() >= text.matches(comment).count(),
                    "{changed}"
                );
            }
            for n in [-2, 0, 1, 4, 6] {
                let (expected, got) = (result(&before, n), result(&after, n));
                assert_eq!(expected, got, "seed {seed}, n = {n}\n{text}\n{changed}");
            }
        }
    }
    assert!(n_done >= 10 && n_refused >= 10, "{n_done} {n_refused}");
}

#[test]
fn edits_of_loops_with_carried_values_preserve_results() {
    let titles = |text: &str| {
        let source = Source::new(text);
        let before = read(text);
        let ir = source.ir();
        let (mut done, mut refused) = (Vec::new(), Vec::new());
        for op in ops(ir, |it| ir.op(it).kind == OpKind::AffineFor) {
            for offer in offers(&source, op, &LoopOptions::default()) {
                let edits = match offer.edits {
                    Ok(edits) => edits,
                    Err(why) => {
                        refused.push(format!("{}: {why}", offer.title));
                        continue;
                    }
                };
                let changed = apply_edits(text, &edits);
                assert!(changed.contains("// The end."), "{changed}");
                let after = read(&changed);
                for n in [-2, 0, 1, 3, 4, 6, 9] {
                    let (expected, got) = (result(&before, n), result(&after, n));
                    assert_eq!(expected, got, "{}, n = {n}\n{text}\n{changed}", offer.title);
                }
                done.push(offer.title);
            }
        }
        (done, refused)
    };
    let of = |bounds: &str, args: &str, types: &str, yielded: &str, uses: &str| {
        function_with_body(&format!(
            "  %r{} = affine.for %i = {bounds} iter_args({args}) -> ({types}) {{\n    %a = affine.load %A[%i, 0] : memref<?x?xi64>\n    %p = arith.muli %x, %k : i64\n    %s = arith.addi %p, %a : i64 // The end.\n    affine.yield {yielded} : {types}\n  }}\n{uses}",
            if types.contains(',') { ":2" } else { "" }
        ))
    };
    let store = |value: &str, at: usize| {
        format!("  affine.store {value}, %A[99, {at}] : memref<?x?xi64>\n")
    };
    for bounds in ["0 to 9", "1 to 10 step 2", "2 to 10", "0 to %n", "1 to %n step 3"] {
        let one = of(bounds, "%x = %k", "i64", "%s", &store("%r", 0));
        let (done, refused) = titles(&one);
        assert!(done.contains(&"Unroll by 4".to_owned()), "{bounds}: {done:?} {refused:?}");
        assert_eq!(done.contains(&"Peel the first iteration".to_owned()), !bounds.contains('n'));
        for kind in ["Tile", "Run", "Convert", "Distribute"] {
            let of_kind = refused.iter().find(|it| it.starts_with(kind));
            assert!(of_kind.is_some_and(|it| it.contains("carries values")), "{kind}: {refused:?}");
        }
        // Two carried values that are swapped.
        let both = of(
            bounds,
            "%x = %k, %y = %k",
            "i64, i64",
            "%y, %s",
            &(store("%r#0", 0) + &store("%r#1", 1)),
        );
        assert!(titles(&both).0.contains(&"Unroll by 4".to_owned()));
    }
    // A loop around a loop that carries values.
    let nest = function_with_body(
        "  affine.for %j = 0 to 8 {\n    %r = affine.for %i = 2 to 9 iter_args(%x = %k) -> (i64) {\n      %a = affine.load %A[%i, %j] : memref<?x?xi64>\n      %s = arith.addi %x, %a : i64 // The end.\n      affine.yield %s : i64\n    }\n    affine.store %r, %B[%j, 0] : memref<?x?xi64>\n    affine.yield\n  }\n",
    );
    let (done, _) = titles(&nest);
    for title in [
        "Run the loop over %j backwards",
        "Convert the loop to affine.parallel",
        "Count from 0 by 1",
    ] {
        assert!(done.contains(&title.to_owned()), "{title}: {done:?}");
    }
}
