//! `graph`: draws how noise flows through a function.

use std::io;

use noisy_analyses::{Document, PlacementVerdict, insert_reduces};
use noisy_graph::{build_graphs, choose_function};
use noisy_output::FileKind;

use crate::input::args::{self, GraphFormat};
use crate::output::page;

/// Draws a graph; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &args::GraphArgs) -> io::Result<i32> {
    let kind = match args.format {
        GraphFormat::Dot => FileKind::Dot,
        GraphFormat::Svg => FileKind::Svg,
        GraphFormat::Html => FileKind::Html,
    };
    let target = page::PictureTarget { file: args.output_file.as_deref(), kind, force: args.force };
    page::write_picture(|| draw(args), &args.path, target)
}

fn draw(args: &args::GraphArgs) -> Result<String, String> {
    let input = page::PictureInput::read(&args.path, &args.settings)?;
    let document = Document::with_model(&input.text, input.settings.model.noise().clone());
    let in_file = |why: String| input.error(&why);
    let function = choose_function(&document, args.function.as_deref()).map_err(in_file)?;
    let mut fixed = None;
    if args.fix {
        let placement = &input.settings.placement;
        let options = placement.options(placement.time_limit.duration());
        let outcome =
            insert_reduces(&document, &[function], &options).map_err(|it| it.to_string())?;
        if let Some(PlacementVerdict::Refused(why)) =
            outcome.functions.first().map(|it| &it.verdict)
        {
            return Err(in_file(format!("@{}: {why}", document.function_name(function))));
        }
        fixed = outcome.fix.map(|fix| {
            (Document::with_model(&fix.apply(&input.text), document.model().clone()), fix.title)
        });
    }
    let graphs = build_graphs(&document, function, fixed.as_ref().map(|it| (&it.0, &*it.1)));
    Ok(match args.format {
        GraphFormat::Dot => noisy_graph::dot(&graphs),
        GraphFormat::Svg => noisy_graph::svg(&graphs),
        GraphFormat::Html => noisy_graph::html(&input.name, &graphs),
    })
}
