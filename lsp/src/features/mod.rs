//! Editor features, one file each: functions from a document and an offset or a range to plain data
//! in bytes. Features do not depend on the protocol.

pub(crate) mod find;
pub(crate) mod nest;
pub(crate) mod read;
pub(crate) mod texts;
pub(crate) mod walk;
pub(crate) mod write;

#[cfg(test)]
mod tests {
    //! The work of a step is bounded, independent of the size of the file.

    use noisy_analyses::Document;

    use noisy_settings::{HintSettings, LoopSettings};

    use super::find::{cursor, link, reference};
    use super::read::{folding, hint, lens, symbol, token};
    use super::{nest, walk};
    use crate::text::encoding::Encoding;
    use crate::wire::json::JsonArray;

    /// The maximum work of a step: bytes allocated, items visited.
    fn most(mut step: impl FnMut() -> bool) -> (u64, usize) {
        let mut most = (0, 0);
        let mut more = true;
        while more {
            let before = walk::n_steps();
            let count = allocation_counter::measure(|| more = step());
            most = (most.0.max(count.bytes_total), most.1.max(walk::n_steps() - before));
        }
        most
    }

    /// The jobs with the maximum work of their steps. Results are written as the requests write
    /// them.
    fn all(text: &str) -> Vec<(&'static str, (u64, usize))> {
        let document = Document::new(text);
        let source = document.source();
        let mut out = Vec::new();
        let mut tokens = token::TokenJob::new(source, 0..text.len(), Encoding::Utf16);
        out.push(("tokens", most(|| tokens.step(source))));
        let mut json = JsonArray::new();
        let mut outline = symbol::OutlineJob::new(source);
        out.push(("symbols", most(|| outline.step(source, &mut |it| json.push(&it.name)))));
        let mut json = JsonArray::new();
        let mut folds = folding::FoldJob::new(source);
        out.push(("folds", most(|| folds.step(source, &mut |it| json.push(&it.lines)))));
        let mut json = JsonArray::new();
        let mut lenses = lens::LensJob::new(&document);
        out.push(("lenses", most(|| lenses.step(&document, &mut |it| json.push(&it.title)))));
        let mut json = JsonArray::new();
        let mut links = link::LinkJob::default();
        out.push(("links", most(|| links.step(source, &mut |it| json.push(&it.range.start)))));
        let (mut json, wanted) = (JsonArray::new(), HintSettings::default());
        let nests = nest::NestCache::default();
        let mut hints =
            hint::HintJob::new(&document, 0..text.len(), &wanted, LoopSettings::default(), nests);
        let mut step = || hints.step(&document, &wanted, &mut |it| json.push(&it.label));
        out.push(("hints", most(&mut step)));
        // Each op uses the first argument.
        let argument = text.find("%a").and_then(|at| cursor::mention_at(source, at));
        if let Some(mention) = argument {
            let mut json = JsonArray::new();
            let mut search = reference::ReferenceJob::new(source.ir(), mention.entity);
            let mut step = || search.step(source.ir(), &mut |it| json.push(&it.range.start));
            out.push(("references", most(&mut step)));
        }
        out
    }

    #[test]
    fn work_of_a_step_is_independent_of_the_file_size() {
        let line =
            |n: usize| format!("  %v{n} = noisy.add %a, %a : !noisy.i32 loc(\"a.mlir\":1:2)\n");
        let straight = |n: usize| {
            let ops: String = (0..n).map(line).collect();
            format!("func.func @f(%a: !noisy.i32) {{\n{ops}  return\n}}\n")
        };
        let function =
            |n: usize| format!("// Two\n// lines.\nfunc.func @f{n}() {{\n  return\n}}\n");
        let functions = |n: usize| (0..n).map(function).collect::<String>();
        // Allowed growth in bytes for a much larger file. A list that is copied as it grows, or a
        // walk over the whole file, would exceed it.
        let slack = 100_000;
        for (few, many) in
            [(straight(2000), straight(50_000)), (functions(2000), functions(30_000))]
        {
            for (few, many) in all(&few).into_iter().zip(all(&many)) {
                let (name, (bytes, items)) = many;
                assert!(bytes < few.1.0 + slack, "{name}: {bytes} bytes, {} before", few.1.0);
                assert!(
                    items <= few.1.1.max(4 * walk::ITEMS_PER_STEP),
                    "{name}: {items} items, {} before",
                    few.1.1
                );
            }
        }
    }
}
