//! Checks files in small groups on one thread.
//!
//! Checking a small file takes less time than loading the code of all steps into the caches of the
//! processor. For this reason files are read first, and small ones are analyzed together, step by
//! step ([`Document::all`]).

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use noisy_analyses::Document;
use noisy_analyses::repair::placement::shared_cache;
use noisy_analyses::report::diff;
use noisy_output::{quoted_name, shown_path};
use noisy_settings::{FolderResolver, Invalid, Settings};

use crate::file::cache::{Cache, Last, Seen, Slot};
use crate::file::check::{self, Checked, Task};
use crate::file::stamp::Stamp;
use crate::input::args::{Check, Format};
use crate::input::failure::Failure;
use crate::input::select;
use crate::input::walk::Input;
use crate::output::format;
use crate::output::paint;
use crate::output::ranges;
use crate::run::plan::Plan;
use crate::run::progress::Progress;
use crate::run::shared_time::SharedTime;

/// Maximum size of texts that are analyzed together, in bytes. With their facts, such texts fit
/// into the caches of the processor. With four times this size, 10,000 small files take the same
/// time and 1.5 MB more.
const TOGETHER: usize = 4 << 10;

/// The result of a checked file, without its text.
pub(crate) struct Report {
    pub checked: Checked,
    pub piece: String,
    /// The fixed text of standard input, which is written to standard output.
    pub through: Option<String>,
}

/// The result of one file on its thread.
pub(crate) enum Done {
    Checked(Box<Report>),
    /// The configuration cannot be used.
    Invalid(Arc<Invalid>),
}

impl From<Report> for Done {
    fn from(report: Report) -> Self {
        Self::Checked(Box::new(report))
    }
}

/// A file before its analysis.
enum Looked<'a> {
    Done(Done),
    Read(Box<Read<'a>>),
}

/// A file that must be analyzed.
struct Read<'a> {
    input: &'a Input,
    text: String,
    is_read_only: bool,
    settings: Arc<Settings>,
    /// The cache slot of the result.
    place: Option<(Slot, Seen)>,
}

impl Plan<'_> {
    /// Checks some files; returns the results in the same order.
    pub(crate) fn some(
        &self,
        inputs: &[Input],
        time: &SharedTime,
        progress: &Progress,
    ) -> Vec<Done> {
        let mut out = Vec::with_capacity(inputs.len());
        let (mut group, mut n_bytes) = (Vec::new(), 0);
        let (mut configs, mut last) = (self.resolver.in_a_row(), Last::default());
        for input in inputs {
            let looked = self.look(input, &mut configs, &mut last);
            if let Looked::Read(it) = &looked {
                n_bytes += it.text.len();
            }
            group.push(looked);
            if n_bytes >= TOGETHER {
                self.finish(std::mem::take(&mut group), time, progress, &mut out);
                n_bytes = 0;
            }
        }
        self.finish(group, time, progress, &mut out);
        out
    }

    /// Analyzes the files that were read, together.
    fn finish(
        &self,
        group: Vec<Looked<'_>>,
        time: &SharedTime,
        progress: &Progress,
        out: &mut Vec<Done>,
    ) {
        let read = group.iter().filter_map(|it| match it {
            Looked::Read(it) => Some((it.text.as_str(), it.settings.model.noise().clone())),
            Looked::Done(_) => None,
        });
        let (texts, models): (Vec<&str>, Vec<_>) = read.unzip();
        // A panic occurs again when the files are checked one by one, and is then reported.
        let documents = check::guarded(|| Ok(Document::all(&texts, models))).unwrap_or_default();
        let mut documents: Vec<Option<Document>> = documents.into_iter().map(Some).collect();
        let mut nth = 0;
        for looked in group {
            out.push(match looked {
                Looked::Done(it) => it,
                Looked::Read(it) => {
                    let mut none = None;
                    let document = documents.get_mut(nth).unwrap_or(&mut none);
                    nth += 1;
                    self.analyze(*it, document, time, progress).into()
                }
            });
        }
    }

    /// Looks a file up in the cache and reads it if needed.
    fn look<'a>(
        &self,
        input: &'a Input,
        configs: &mut FolderResolver<'_>,
        last: &mut Last,
    ) -> Looked<'a> {
        let args = self.args;
        let path = input.path(&args.files.stdin_filename);
        let Counting { settings, silenced, layered } = match self.counting(path, configs) {
            Ok(it) => it,
            Err(invalid) => return Looked::Done(Done::Invalid(invalid)),
        };
        let place: Option<(&Cache, Slot)> = match input {
            Input::File(path) => self
                .cache
                .as_ref()
                .and_then(|cache| Some((cache, cache.slot(path, &layered, &silenced, last)?))),
            Input::Stdin => None,
        };
        let done = |it: Report| Looked::Done(it.into());
        let known = |(checked, piece)| done(Report { checked, piece, through: None });
        if let Some(it) = place.as_ref().and_then(|(_, slot)| slot.untouched()) {
            return known(it);
        }
        let (mut stamp, mut is_read_only) = (None, false);
        let mut look = |file: &File, metadata: &Metadata| {
            is_read_only = metadata.permissions().readonly();
            stamp = place.as_ref().and_then(|it| Stamp::settled(file, metadata, it.0.start()));
        };
        let text = match check::guarded(|| check::read_with(input, &mut look)) {
            Ok(it) => it,
            Err(failure) => return done(self.failed(path, failure)),
        };
        if args.show.show_ranges {
            let ranges = check::guarded(|| {
                let document = Document::with_model(&text, settings.model.noise().clone());
                Ok(paint::copy(ranges::annotated(&document), self.look))
            });
            return done(match ranges {
                Ok(piece) => Report { checked: Checked::empty(path), piece, through: None },
                Err(failure) => self.failed(path, failure),
            });
        }
        let place = place.map(|(_, slot)| (slot, Seen::new(&text, stamp)));
        if let Some(it) = place.as_ref().and_then(|(slot, seen)| slot.get(seen)) {
            return known(it);
        }
        Looked::Read(Box::new(Read { input, text, is_read_only, settings, place }))
    }

    /// Checks a file, and fixes it if requested.
    fn analyze(
        &self,
        read: Read<'_>,
        document: &mut Option<Document>,
        time: &SharedTime,
        progress: &Progress,
    ) -> Report {
        let Read { input, text, is_read_only, settings, place } = read;
        let name = check::name(input, &self.args.files.stdin_filename);
        let path = input.path(&self.args.files.stdin_filename);
        let (args, show) = (self.args, self.args.show);
        let limit = settings.placement.time_limit.duration();
        let task = Task {
            fixing: args.fixing,
            is_read_only,
            time: time.share(limit, shared_cache().worked()),
            watch: progress.watch(name.clone()),
            settings,
            verify: show.verify_diagnostics,
            wants_proofs: args.statistics,
            wants_fixes: matches!(self.format, Format::Sarif | Format::Json | Format::JsonLines),
            baseline: self.baseline.clone(),
            wants_entries: args.write_baseline.is_some(),
            certificate: args.certificate.clone(),
            most: if show.verify_diagnostics.is_some() { usize::MAX } else { args.max_diagnostics },
        };
        if task.fixing.changes() {
            progress.say(&name);
        }
        let mut checked = check::check(path, &text, input, &task, document);
        let piece = self.piece(&checked);
        let is_filter = matches!(input, Input::Stdin) && args.fixing.writes();
        let through = (is_filter && checked.failure.is_none()).then(|| checked.text.to_string());
        checked.forget();
        if let Some((slot, seen)) = place {
            slot.put(seen, &checked, &piece);
        }
        Report { checked, piece, through }
    }

    /// The printed text of a file.
    pub(crate) fn piece(&self, checked: &Checked) -> String {
        let Check { fixing, show, .. } = self.args;
        match &checked.fixed.change {
            _ if show.verify_diagnostics.is_some() => format::mismatches(checked),
            Some((before, after)) if fixing.diff => {
                paint::diff(diff::unified(&quoted_name(&checked.path), before, after), self.look)
            }
            _ if fixing.diff || fixing.fix_only => String::new(),
            _ => format::piece(self.format, checked, self.look),
        }
    }

    /// The report of a file or configuration that failed. In formats for people, the reason is
    /// written to standard error.
    pub(crate) fn failed(&self, path: impl Into<PathBuf>, failure: Failure) -> Report {
        let checked = Checked::failed(path, failure);
        let piece = if self.format.is_for_people() || self.args.fixing.diff || self.is_silent() {
            String::new()
        } else {
            format::piece(self.format, &checked, self.look)
        };
        Report { checked, piece, through: None }
    }

    /// The report of an invalid configuration.
    pub(crate) fn invalid(&self, invalid: &Invalid) -> Report {
        let first = invalid.problems.first();
        let mut message = match (first, &invalid.unreadable) {
            (Some(it), _) => it.message.clone(),
            (None, why) => why.clone().unwrap_or_default(),
        };
        for it in invalid.problems.iter().skip(1) {
            message.push_str(&format!("\n{}:{it}", shown_path(&invalid.path)));
        }
        let place = first.map(|it| (it.line, it.column));
        let failure = Failure { code: "invalid-configuration", message, place };
        self.failed(&invalid.path, failure)
    }

    /// The settings of a file.
    fn counting(
        &self,
        path: &Path,
        configs: &mut FolderResolver<'_>,
    ) -> Result<Counting<'_>, Arc<Invalid>> {
        let config = configs.config(path)?;
        let layered = config.for_path(path).map_err(|problems| {
            let path = config.path().map(Path::to_owned).unwrap_or_default();
            Arc::new(Invalid { path, problems, unreadable: None })
        })?;
        let silenced = self.selection.silenced(path);
        let settings = select::without(Arc::clone(&layered), &silenced);
        Ok(Counting { settings, silenced, layered })
    }
}

/// The settings of one file.
struct Counting<'a> {
    settings: Arc<Settings>,
    /// Rules that the command line turns off; they are off in the settings too.
    silenced: Vec<&'a str>,
    /// The settings before these rules are turned off. The cache slot depends on them.
    layered: Arc<Settings>,
}
