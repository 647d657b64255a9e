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
use noisy_settings::{FolderResolver, InvalidConfig, Settings};

use crate::file::cache::{Cache, CacheSlot, LastLookup, ReadText};
use crate::file::check::{self, CheckTask, FileReport};
use crate::file::stamp::Stamp;
use crate::input::args::{CheckArgs, OutputFormat};
use crate::input::failure::Failure;
use crate::input::select;
use crate::input::walk::Input;
use crate::output::format;
use crate::output::paint;
use crate::output::ranges;
use crate::run::plan::CheckPlan;
use crate::run::progress::RunProgress;
use crate::run::shared_time::SharedTime;

/// Maximum size of texts that are analyzed together, in bytes. With their facts, such texts fit
/// into the caches of the processor. With four times this size, 10,000 small files take the same
/// time and 1.5 MB more.
const MAX_GROUP_BYTES: usize = 4 << 10;

/// The result of a checked file, without its text.
pub(crate) struct PrintedReport {
    pub checked: FileReport,
    pub piece: String,
    /// The fixed text of standard input, which is written to standard output.
    pub echoed_text: Option<String>,
}

/// The result of one file on its thread.
pub(crate) enum CheckOutcome {
    Checked(Box<PrintedReport>),
    /// The configuration cannot be used.
    Invalid(Arc<InvalidConfig>),
}

impl From<PrintedReport> for CheckOutcome {
    fn from(report: PrintedReport) -> Self {
        Self::Checked(Box::new(report))
    }
}

/// A file before its analysis.
enum FileLookup<'a> {
    Done(CheckOutcome),
    Read(Box<FileToAnalyze<'a>>),
}

/// A file that must be analyzed.
struct FileToAnalyze<'a> {
    input: &'a Input,
    text: String,
    is_read_only: bool,
    settings: Arc<Settings>,
    /// The cache slot of the result.
    cache_slot: Option<(CacheSlot, ReadText)>,
}

impl CheckPlan<'_> {
    /// Checks some files; returns the results in the same order.
    pub(crate) fn check_group(
        &self,
        inputs: &[Input],
        time: &SharedTime,
        progress: &RunProgress,
    ) -> Vec<CheckOutcome> {
        let mut out = Vec::with_capacity(inputs.len());
        let (mut group, mut n_bytes) = (Vec::new(), 0);
        let (mut configs, mut last) = (self.resolver.by_folder(), LastLookup::default());
        for input in inputs {
            let looked = self.look_up(input, &mut configs, &mut last);
            if let FileLookup::Read(it) = &looked {
                n_bytes += it.text.len();
            }
            group.push(looked);
            if n_bytes >= MAX_GROUP_BYTES {
                self.analyze_group(std::mem::take(&mut group), time, progress, &mut out);
                n_bytes = 0;
            }
        }
        self.analyze_group(group, time, progress, &mut out);
        out
    }

    /// Analyzes the files that were read, together.
    fn analyze_group(
        &self,
        group: Vec<FileLookup<'_>>,
        time: &SharedTime,
        progress: &RunProgress,
        out: &mut Vec<CheckOutcome>,
    ) {
        let read = group.iter().filter_map(|it| match it {
            FileLookup::Read(it) => Some((it.text.as_str(), it.settings.model.noise().clone())),
            FileLookup::Done(_) => None,
        });
        let (texts, models): (Vec<&str>, Vec<_>) = read.unzip();
        // A panic occurs again when the files are checked one by one, and is then reported.
        let documents =
            check::catch_panics(|| Ok(Document::all(&texts, models))).unwrap_or_default();
        let mut documents: Vec<Option<Document>> = documents.into_iter().map(Some).collect();
        let mut nth = 0;
        for looked in group {
            out.push(match looked {
                FileLookup::Done(it) => it,
                FileLookup::Read(it) => {
                    let mut none = None;
                    let document = documents.get_mut(nth).unwrap_or(&mut none);
                    nth += 1;
                    self.analyze(*it, document, time, progress).into()
                }
            });
        }
    }

    /// Looks a file up in the cache and reads it if needed.
    fn look_up<'a>(
        &self,
        input: &'a Input,
        configs: &mut FolderResolver<'_>,
        last: &mut LastLookup,
    ) -> FileLookup<'a> {
        let args = self.args;
        let path = input.path(&args.files.stdin_filename);
        let FileSettings { settings, silenced, before_silencing: layered } =
            match self.file_settings(path, configs) {
                Ok(it) => it,
                Err(invalid) => return FileLookup::Done(CheckOutcome::Invalid(invalid)),
            };
        let place: Option<(&Cache, CacheSlot)> = match input {
            Input::File(path) => self
                .cache
                .as_ref()
                .and_then(|cache| Some((cache, cache.slot(path, &layered, &silenced, last)?))),
            Input::Stdin => None,
        };
        let done = |it: PrintedReport| FileLookup::Done(it.into());
        let known = |(checked, piece)| done(PrintedReport { checked, piece, echoed_text: None });
        if let Some(it) = place.as_ref().and_then(|(_, slot)| slot.get_untouched()) {
            return known(it);
        }
        let (mut stamp, mut is_read_only) = (None, false);
        let mut look = |file: &File, metadata: &Metadata| {
            is_read_only = metadata.permissions().readonly();
            stamp = place.as_ref().and_then(|it| Stamp::settled(file, metadata, it.0.start()));
        };
        let text = match check::catch_panics(|| check::read_with(input, &mut look)) {
            Ok(it) => it,
            Err(failure) => return done(self.failure_report(path, failure)),
        };
        if args.show.show_ranges {
            let ranges = check::catch_panics(|| {
                let document = Document::with_model(&text, settings.model.noise().clone());
                Ok(paint::copied_text(ranges::annotated_program(&document), self.style))
            });
            return done(match ranges {
                Ok(piece) => {
                    PrintedReport { checked: FileReport::empty(path), piece, echoed_text: None }
                }
                Err(failure) => self.failure_report(path, failure),
            });
        }
        let place = place.map(|(_, slot)| (slot, ReadText::new(&text, stamp)));
        if let Some(it) = place.as_ref().and_then(|(slot, seen)| slot.get(seen)) {
            return known(it);
        }
        FileLookup::Read(Box::new(FileToAnalyze {
            input,
            text,
            is_read_only,
            settings,
            cache_slot: place,
        }))
    }

    /// Checks a file, and fixes it if requested.
    fn analyze(
        &self,
        read: FileToAnalyze<'_>,
        document: &mut Option<Document>,
        time: &SharedTime,
        progress: &RunProgress,
    ) -> PrintedReport {
        let FileToAnalyze { input, text, is_read_only, settings, cache_slot: place } = read;
        let name = check::input_name(input, &self.args.files.stdin_filename);
        let path = input.path(&self.args.files.stdin_filename);
        let (args, show) = (self.args, self.args.show);
        let limit = settings.placement.time_limit.duration();
        let task = CheckTask {
            fixing: args.fixing,
            is_read_only,
            time_limit: time.share(limit, shared_cache().total_time()),
            watch: progress.watch(name.clone()),
            settings,
            verify: show.verify_diagnostics,
            wants_proofs: args.statistics,
            wants_fixes: matches!(
                self.format,
                OutputFormat::Sarif | OutputFormat::Json | OutputFormat::JsonLines
            ),
            baseline: self.baseline.clone(),
            wants_baseline: args.write_baseline.is_some(),
            certificate: args.certificate.clone(),
            max_diagnostics: if show.verify_diagnostics.is_some() {
                usize::MAX
            } else {
                args.max_diagnostics
            },
        };
        if task.fixing.has_changes() {
            progress.show_message(&name);
        }
        let mut checked = check::check(path, &text, input, &task, document);
        let piece = self.printed_text(&checked);
        let is_filter = matches!(input, Input::Stdin) && args.fixing.is_writing();
        let through = (is_filter && checked.failure.is_none()).then(|| checked.text.to_string());
        checked.drop_large_data();
        if let Some((slot, seen)) = place {
            slot.put(seen, &checked, &piece);
        }
        PrintedReport { checked, piece, echoed_text: through }
    }

    /// The printed text of a file.
    pub(crate) fn printed_text(&self, checked: &FileReport) -> String {
        let CheckArgs { fixing, show, .. } = self.args;
        match &checked.fixed.change {
            _ if show.verify_diagnostics.is_some() => format::mismatches(checked),
            Some((before, after)) if fixing.diff => paint::colored_diff(
                diff::unified(&quoted_name(&checked.path), before, after),
                self.style,
            ),
            _ if fixing.diff || fixing.fix_only => String::new(),
            _ => format::file_text(self.format, checked, self.style),
        }
    }

    /// The report of a file or configuration that failed. In formats for people, the reason is
    /// written to standard error.
    pub(crate) fn failure_report(
        &self,
        path: impl Into<PathBuf>,
        failure: Failure,
    ) -> PrintedReport {
        let checked = FileReport::failed(path, failure);
        let piece =
            if self.format.is_for_people() || self.args.fixing.diff || self.is_without_findings() {
                String::new()
            } else {
                format::file_text(self.format, &checked, self.style)
            };
        PrintedReport { checked, piece, echoed_text: None }
    }

    /// The report of an invalid configuration.
    pub(crate) fn invalid_config_report(&self, invalid: &InvalidConfig) -> PrintedReport {
        let first = invalid.problems.first();
        let mut message = match (first, &invalid.unreadable) {
            (Some(it), _) => it.message.clone(),
            (None, why) => why.clone().unwrap_or_default(),
        };
        for it in invalid.problems.iter().skip(1) {
            message.push_str(&format!("\n{}:{it}", shown_path(&invalid.path)));
        }
        let place = first.map(|it| (it.line, it.column));
        let failure = Failure { code: "invalid-configuration", message, position: place };
        self.failure_report(&invalid.path, failure)
    }

    /// The settings of a file.
    fn file_settings(
        &self,
        path: &Path,
        configs: &mut FolderResolver<'_>,
    ) -> Result<FileSettings<'_>, Arc<InvalidConfig>> {
        let config = configs.config(path)?;
        let layered = config.for_path(path).map_err(|problems| {
            let path = config.path().map(Path::to_owned).unwrap_or_default();
            Arc::new(InvalidConfig { path, problems, unreadable: None })
        })?;
        let silenced = self.selection.silenced(path);
        let settings = select::with_rules_off(Arc::clone(&layered), &silenced);
        Ok(FileSettings { settings, silenced, before_silencing: layered })
    }
}

/// The settings of one file.
struct FileSettings<'a> {
    settings: Arc<Settings>,
    /// Rules that the command line turns off; they are off in the settings too.
    silenced: Vec<&'a str>,
    /// The settings before these rules are turned off. The cache slot depends on them.
    before_silencing: Arc<Settings>,
}
