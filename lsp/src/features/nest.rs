//! Affine loops: the dependences that each loop carries, in hints and hovers, and the available
//! transformations, as actions.
//!
//! *Incremental.* The dependences of a nest follow from its text and from the definitions of the
//! values that it uses. Both form the key of the cache, so an edit only affects nests with a
//! changed text or changed definitions.

use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

use noisy_analyses::{Document, TextEdit};
use noisy_loops::AliasAssumptions;
use noisy_loops::edit::{self, TransformationOffer};
use noisy_loops::nest::{self, CarriedSummary, LoopNest};
use noisy_settings::LoopSettings;
use noisy_syntax::{Def, Ir, Op, OpKind, Source};
use rustc_hash::FxHashMap;

/// Cached dependences of nests, shared by all queries.
#[derive(Clone, Debug, Default)]
pub(crate) struct NestCache(Arc<Mutex<CachedVerdicts>>);

#[derive(Debug, Default)]
struct CachedVerdicts {
    verdicts: FxHashMap<String, Arc<[CarriedSummary]>>,
    n_computed: usize,
}

/// Maximum number of cached nests.
const MAX_CACHED_NESTS: usize = 1024;
/// Maximum number of outer values in the key of a nest. A nest with more is cached by the text of
/// its whole function.
const MAX_OUTER_VALUES: usize = 256;

/// The last nest of a walk over an unchanged text.
#[derive(Debug, Default)]
pub(crate) struct LastNest(Option<(Op, Arc<[CarriedSummary]>, Vec<Op>)>);

/// The aliasing assumption about different memrefs.
fn aliasing(settings: LoopSettings) -> AliasAssumptions {
    AliasAssumptions { arguments_may_alias: settings.arguments_may_alias }
}

/// True if the hints show the dependences of a loop.
fn has_hint(ir: &Ir, op: Op) -> bool {
    matches!(ir.op(op).kind, OpKind::AffineFor)
}

/// The loops of a nest that have hints, outermost first, in the order of the text.
fn loops_with_hints(ir: &Ir, root: Op) -> Vec<Op> {
    let mut out = Vec::new();
    let mut look = |op: Op| {
        if has_hint(ir, op) {
            out.push(op);
        }
    };
    look(root);
    for &(_, region) in &ir.op(root).regions {
        ir.walk(region, &mut look);
    }
    out
}

impl NestCache {
    /// The dependences of a loop in a few words.
    pub(crate) fn label(
        &self,
        source: &Source,
        op: Op,
        settings: LoopSettings,
        last: &mut LastNest,
    ) -> Option<String> {
        let ir = source.ir();
        if !has_hint(ir, op) {
            return None;
        }
        let root = nest::outermost_loop(ir, op)?;
        if last.0.as_ref().is_none_or(|it| it.0 != root) {
            last.0 =
                Some((root, self.verdicts(source, root, settings), loops_with_hints(ir, root)));
        }
        let (_, verdicts, all) = last.0.as_ref()?;
        let at = all.iter().position(|it| *it == op)?;
        verdicts.get(at).map(CarriedSummary::text)
    }

    fn verdicts(&self, source: &Source, root: Op, settings: LoopSettings) -> Arc<[CarriedSummary]> {
        let mut key = cache_key(source, root);
        // No program text ends with this character.
        if settings.arguments_may_alias {
            key.push('\0');
        }
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = known.verdicts.get(&key) {
            return it.clone();
        }
        let ir = source.ir();
        let nest = LoopNest::new(ir, root, aliasing(settings));
        let of =
            |op: Op| nest.loop_of(op).map_or(CarriedSummary::Unknown, |it| nest.summary(ir, it));
        let verdicts: Arc<[CarriedSummary]> =
            loops_with_hints(ir, root).into_iter().map(of).collect();
        if known.verdicts.len() >= MAX_CACHED_NESTS {
            known.verdicts.clear();
        }
        known.n_computed += 1;
        known.verdicts.insert(key, verdicts.clone());
        verdicts
    }

    /// Number of nests that were analyzed.
    #[cfg(test)]
    fn n_computed(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).n_computed
    }
}

/// The cache key of a nest: its text, and the definitions of the values that it uses. Its
/// dependences follow from these.
fn cache_key(source: &Source, root: Op) -> String {
    let ir = source.ir();
    let mut out = source.slice(ir.range(root));
    let (mut seen, mut used) = noisy_loops::results_and_operands_in(ir, root);
    let inside = ir.range(root);
    let mut n_outer = 0;
    while let Some(value) = used.pop() {
        if !seen.insert(value) {
            continue;
        }
        n_outer += 1;
        if n_outer > MAX_OUTER_VALUES {
            let around = ir.function_of(root).map_or(inside, |it| ir.range(it));
            return source.slice(around);
        }
        let ty = ir.interner.short_type_text(ir.value(value).ty);
        let _ = write!(out, "\n{} {ty} ", ir.value_text(value));
        match ir.value(value).def {
            Def::Result(op, _) => {
                out += &source.slice(ir.head_range(op));
                used.extend(ir.op(op).operands.iter().filter_map(|it| it.value));
            }
            Def::Argument(block, number) => {
                let owner = ir.region(ir.block(block).region).parent;
                let name = owner.map_or("", |it| ir.op_name(it));
                let _ = write!(out, "{name} {number}");
            }
        }
    }
    out
}

/// The hover text of a loop or an access.
pub(crate) fn hover_text(document: &Document, op: Op, settings: LoopSettings) -> Option<String> {
    let source = document.source();
    let ir = source.ir();
    let is_access = matches!(
        ir.op(op).kind,
        OpKind::AffineLoad
            | OpKind::AffineStore
            | OpKind::AffineVectorLoad
            | OpKind::AffineVectorStore
    );
    let is_loop = matches!(ir.op(op).kind, OpKind::AffineFor | OpKind::AffineParallel);
    if !is_access && !is_loop {
        return None;
    }
    let nest = LoopNest::new(ir, nest::outermost_loop(ir, op)?, aliasing(settings));
    if !nest.is_analyzed() {
        return Some(
            "The nest has too many memory accesses: dependences are not computed.".to_owned(),
        );
    }
    if is_access {
        let met = nest.dependences_of(op);
        if met.is_empty() {
            return Some("No other access of the nest depends on it.".to_owned());
        }
        return Some(format!("Dependent accesses:\n\n{}", nest.markdown_table(source, &met)));
    }
    let loop_ = nest.loop_of(op)?;
    Some(match nest.summary(ir, loop_) {
        CarriedSummary::Parallel => {
            "Its iterations are independent and may run in parallel.".to_owned()
        }
        CarriedSummary::IterArgs => "It carries values from one iteration to the next.".to_owned(),
        CarriedSummary::Unknown => {
            "An op in it has unknown effects: dependences are not computed.".to_owned()
        }
        CarriedSummary::Reduction => {
            format!(
                "It carries a reduction:\n\n{}",
                nest.markdown_table(source, &nest.carried(loop_))
            )
        }
        CarriedSummary::Carries(_) => {
            format!("It carries:\n\n{}", nest.markdown_table(source, &nest.carried(loop_)))
        }
    })
}

/// The loop whose header contains an offset.
fn loop_at(document: &Document, offset: usize) -> Option<Op> {
    let ir = document.ir();
    let op = ir.item_at(offset).filter(|&it| has_hint(ir, it))?;
    let head = ir.head_range(op);
    (head.start <= offset && offset <= head.end).then_some(op)
}

/// The transformations of the loop whose header contains an offset.
pub(crate) fn loop_actions(
    document: &Document,
    offset: usize,
    settings: LoopSettings,
) -> Vec<TransformationOffer> {
    let Some(op) = loop_at(document, offset) else { return Vec::new() };
    let options = edit::LoopOptions {
        tile_size: (settings.tile_size > 0).then(|| settings.tile_size.into()),
        cache_bytes: i64::from(settings.tile_cache) * 1024,
        aliasing: aliasing(settings),
    };
    edit::offers(document.source(), op, &options)
}

/// The start of the nest whose outermost loop has the offset in its header, if the nest can be
/// scheduled.
pub(crate) fn schedulable_nest_at(document: &Document, offset: usize) -> Option<usize> {
    let ir = document.ir();
    let op = loop_at(document, offset).filter(|&it| noisy_opt::passes::is_nest_root(ir, it))?;
    Some(ir.range(op).start)
}

/// The edits that apply the best schedule of a nest, which integer programs compute.
///
/// # Errors
///
/// The reason why there are none.
pub(crate) fn best_schedule_edits(
    document: &Document,
    start: usize,
    settings: LoopSettings,
) -> Result<Vec<TextEdit>, String> {
    let op = loop_at(document, start).ok_or("there is no loop")?;
    noisy_opt::passes::best_schedule(document.source(), op, aliasing(settings))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(nests: &NestCache, source: &Source) -> Vec<String> {
        let mut last = LastNest::default();
        let mut out = Vec::new();
        let ir = source.ir();
        ir.walk(ir.root(), &mut |op| {
            out.extend(nests.label(source, op, LoopSettings::default(), &mut last));
        });
        out
    }

    #[test]
    fn an_edit_analyzes_only_its_nest_again() {
        let mut text = String::from(
            "func.func @f(%A: memref<?xf32>, %n: index) {\n  %c1 = arith.constant 1 : index\n",
        );
        for _ in 0..60 {
            text += "  affine.for %i = 1 to %n {\n    %x = affine.load %A[%i - 1] : memref<?xf32>\n    affine.store %x, %A[%i] : memref<?xf32>\n  }\n";
        }
        text += "  return\n}\n";
        // Equal nests would share one cache entry, so each nest is different.
        let mut n = 0;
        while let Some(at) = text.find("= 1 to") {
            n += 1;
            text.replace_range(at..at + 6, &format!("= {} to", n + 1));
        }
        let nests = NestCache::default();
        let mut source = Source::new(&text);
        assert_eq!(labels(&nests, &source), vec!["carries 1 dependence"; 60]);
        assert_eq!(nests.n_computed(), 60);
        let at = text.find("%i - 1").unwrap();
        source.edit(at..at + 6, "%i - 0");
        let mut expected = vec!["carries 1 dependence"; 60];
        expected[0] = "parallel";
        assert_eq!(labels(&nests, &source), expected);
        assert_eq!(nests.n_computed(), 61);
        // A comment before the nests affects no nest. A change of a definition affects all nests
        // that use it.
        source.edit(0..0, "// new\n");
        assert_eq!(labels(&nests, &source), expected);
        assert_eq!(nests.n_computed(), 61);
        let at = source.text().to_string().find("%A: memref<?xf32>").unwrap();
        source.edit(at + 4..at + 17, "memref<9xf32>");
        labels(&nests, &source);
        assert_eq!(nests.n_computed(), 121);
    }

    #[test]
    fn arguments_may_share_elements_where_the_settings_say_so() {
        let text = "func.func @f(%A: memref<9xf32>, %B: memref<9xf32>) {\n  %C = memref.alloc() : memref<9xf32>\n  affine.for %i = 0 to 8 {\n    %x = affine.load %A[%i + 1] : memref<9xf32>\n    affine.store %x, %B[%i] : memref<9xf32>\n  }\n  affine.for %j = 0 to 8 {\n    %x = affine.load %A[%j + 1] : memref<9xf32>\n    affine.store %x, %C[%j] : memref<9xf32>\n  }\n  return\n}\n";
        let document = Document::new(text);
        let nests = NestCache::default();
        let labels = |settings: LoopSettings| {
            let ir = document.ir();
            let (mut last, mut out) = (LastNest::default(), Vec::new());
            ir.walk(ir.root(), &mut |op| {
                out.extend(nests.label(document.source(), op, settings, &mut last));
            });
            out
        };
        let may_alias = LoopSettings { arguments_may_alias: true, ..LoopSettings::default() };
        // One cache contains the results for both settings.
        assert_eq!(labels(LoopSettings::default()), ["parallel", "parallel"]);
        let found = labels(may_alias);
        assert!(found[0].starts_with("carries"), "{found:?}");
        assert_eq!(found[1], "parallel");
        let tile = |settings: LoopSettings| {
            let all = loop_actions(&document, text.find("affine.for").unwrap(), settings);
            all.into_iter().find(|it| it.title.starts_with("Tile")).unwrap()
        };
        assert_eq!(
            tile(LoopSettings { tile_size: 5, ..LoopSettings::default() }).title,
            "Tile by 5"
        );
        let title =
            |tile_cache: u32| tile(LoopSettings { tile_cache, ..LoopSettings::default() }).title;
        assert_eq!(title(32), "Tile by 256");
        assert_eq!(title(1), "Tile by 128");
        let backwards = |settings: LoopSettings| {
            let all = loop_actions(&document, text.find("affine.for").unwrap(), settings);
            all.into_iter().find(|it| it.title.starts_with("Run")).unwrap().edits
        };
        assert!(backwards(LoopSettings::default()).is_ok());
        assert!(backwards(may_alias).is_err());
    }

    #[test]
    fn each_verdict_has_its_words() {
        let of = |body: &str| {
            let text = format!(
                "func.func @f(%A: memref<9x9xf32>, %B: memref<9xf32>, %x: f32) {{\naffine.for %i = 0 to 9 {{\naffine.for %j = 0 to 9 {{\n{body}\n}}\n}}\nreturn\n}}\n"
            );
            labels(&NestCache::default(), &Source::new(&text))
        };
        assert_eq!(of("affine.store %x, %A[%i, %j] : memref<9x9xf32>"), ["parallel", "parallel"]);
        let sum = "%a = affine.load %B[%i] : memref<9xf32>\n%b = arith.addf %a, %x : f32\naffine.store %b, %B[%i] : memref<9xf32>";
        assert_eq!(of(sum), ["parallel", "reduction"]);
        assert_eq!(
            of("affine.store %x, %B[%i + %j] : memref<9xf32>"),
            ["carries 1 dependence", "parallel"]
        );
        assert_eq!(of("func.call @g() : () -> ()"), ["dependences unknown", "dependences unknown"]);
    }
}
