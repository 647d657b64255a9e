//! `graph`: draws how noise flows through a function.

use std::io;
use std::path::Path;

use noisy_analyses::{Document, Verdict, insert_reduces};
use noisy_graph::{choose, graphs};
use noisy_output::{Kind, shown_line};

use crate::file::check;
use crate::input::args::{self, Picture};
use crate::input::setup;
use crate::input::walk::Input;
use crate::output::page;

/// Draws a graph; returns the exit code.
///
/// # Errors
///
/// If the output cannot be written.
pub(crate) fn run(args: &args::Graph) -> io::Result<i32> {
    let kind = match args.format {
        Picture::Dot => Kind::Dot,
        Picture::Svg => Kind::Svg,
        Picture::Html => Kind::Html,
    };
    let target = page::Target { file: args.output_file.as_deref(), kind, force: args.force };
    page::deliver(|| draw(args), &args.path, target)
}

fn draw(args: &args::Graph) -> Result<String, String> {
    let resolver = setup::resolver(&args.settings)?;
    let input =
        if args.path == Path::new("-") { Input::Stdin } else { Input::File(args.path.clone()) };
    let name = check::shown_name(&input, "<stdin>");
    let path = input.path("<stdin>");
    let settings = setup::settings(&resolver, path)?;
    let text =
        check::guarded(|| check::read(&input)).map_err(|it| format!("{name}: {}", it.message))?;
    let document = Document::with_model(&text, settings.model.noise().clone());
    let in_file = |why: String| format!("{name}: {}", shown_line(&why));
    let function = choose(&document, args.function.as_deref()).map_err(in_file)?;
    let mut fixed = None;
    if args.fix {
        let options = settings.placement.options(settings.placement.time_limit.duration());
        let outcome =
            insert_reduces(&document, &[function], &options).map_err(|it| it.to_string())?;
        if let Some(Verdict::Refused(why)) = outcome.functions.first().map(|it| &it.verdict) {
            return Err(in_file(format!("@{}: {why}", document.function_name(function))));
        }
        fixed = outcome.fix.map(|fix| {
            (Document::with_model(&fix.apply(&text), document.model().clone()), fix.title)
        });
    }
    let graphs = graphs(&document, function, fixed.as_ref().map(|it| (&it.0, &*it.1)));
    Ok(match args.format {
        Picture::Dot => noisy_graph::dot(&graphs),
        Picture::Svg => noisy_graph::svg(&graphs),
        Picture::Html => noisy_graph::html(&name, &graphs),
    })
}
