//! Parsed configuration files, and the merged layers for one file.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use noisy_analyses::ModelSpec;
use rustc_hash::FxHashMap;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::options::{ModelSettings, Settings};
use crate::problem::{ConfigProblem, reword};
use crate::rules;
use crate::schema::{MAX_UNKNOWN_KEYS, unknown_keys};

mod patterns;

pub use patterns::{PatternRoot, add_pattern, is_matched};

/// Settings of the command line or an editor. They override those of files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Overrides(Vec<String>);

impl Overrides {
    /// Adds `KEY=VALUE`: a dotted key and a TOML value, or a bare word, which is a string.
    ///
    /// # Errors
    ///
    /// A description of the problem.
    pub fn set(&mut self, text: &str) -> Result<(), String> {
        let first = |it: Vec<ConfigProblem>| {
            it.into_iter().next().map_or_else(String::new, |it| it.message)
        };
        let Some((key, value)) = text.split_once('=') else {
            return Err("expected KEY=VALUE".to_owned());
        };
        if parse(text).is_ok() {
            return self.add_toml(text).map_err(first);
        }
        // A shell may have removed the quotes of a string.
        let quoted = format!("{key}={}", toml::Value::from(value.trim()));
        self.add_toml(if parse(&quoted).is_ok() { &quoted } else { text }).map_err(first)
    }

    /// Adds all keys of a TOML document.
    ///
    /// # Errors
    ///
    /// All problems of the document, in order.
    pub fn add_toml(&mut self, text: &str) -> Result<(), Vec<ConfigProblem>> {
        let table = parse_known_keys(text)?;
        if let Some((key, _)) =
            table.iter().find(|it| TOP_LEVEL_KEYS.contains(&it.0.get_ref().as_ref()))
        {
            let message = format!("`{}` can only be set in a file", key.get_ref());
            return Err(vec![ConfigProblem::new(text, key.span(), message)]);
        }
        deserialize(text, table)?;
        self.0.push(text.to_owned());
        Ok(())
    }

    fn merge_into<'a>(&'a self, table: &mut DeTable<'a>) {
        // Each text was checked when it was added.
        self.0.iter().flat_map(|it| parse(it)).for_each(|it| merge(table, &it));
    }
}

/// The keys that are only allowed at the top of a file.
const TOP_LEVEL_KEYS: [&str; 3] = ["exclude", "extends", "overrides"];

/// Maximum number of `[[overrides]]`: each of them is merged with the top of its file.
const MAX_OVERRIDES: usize = 256;

/// A parsed configuration file with the files that it extends.
pub struct Config {
    /// The most distant extended file first, the file itself last.
    texts: Vec<String>,
    path: Option<PathBuf>,
    extended: Vec<PathBuf>,
    overrides: Overrides,
    /// The folder to which the patterns are relative.
    root: PatternRoot,
    exclude: Gitignore,
    /// The files to which each of the `[[overrides]]` applies.
    layers: Vec<Gitignore>,
    settings: Arc<Settings>,
    /// Merged settings, by the set of matching `[[overrides]]`.
    merged: Mutex<FxHashMap<Vec<bool>, Arc<Settings>>>,
}

impl fmt::Debug for Config {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Config").field("texts", &self.texts).finish_non_exhaustive()
    }
}

impl Config {
    /// Parses a configuration without the files that it extends. Its patterns are relative to
    /// `root`, its folder.
    ///
    /// # Errors
    ///
    /// All problems of the text, in order.
    pub fn from_toml(
        text: &str,
        root: &Path,
        overrides: &Overrides,
    ) -> Result<Self, Vec<ConfigProblem>> {
        Self::from_layers(vec![text.to_owned()], root, overrides).map_err(|it| it.1)
    }

    /// Parses a configuration, which is the last text, and the files that it extends. All patterns
    /// are relative to `root`.
    ///
    /// # Errors
    ///
    /// The index of the first text with problems, and all its problems.
    pub(crate) fn from_layers(
        texts: Vec<String>,
        root: &Path,
        overrides: &Overrides,
    ) -> Result<Self, (usize, Vec<ConfigProblem>)> {
        let mut exclude = Gitignore::empty();
        let mut layers = Vec::new();
        let mut below = DeTable::new();
        for (n, text) in texts.iter().enumerate() {
            let at = |it: Vec<ConfigProblem>| (n, it);
            let (base, sections) = read(text).map_err(at)?;
            if let Some(value) = base.get("exclude") {
                exclude = patterns(text, Some(value)).map_err(at)?;
            }
            let patterns = sections.iter().map(|it| patterns(text, it.get("files")));
            layers.append(&mut patterns.collect::<Result<Vec<_>, _>>().map_err(at)?);
            // The file must be valid with the extended files below it, and so must each section on
            // top.
            let nothing = DeTable::new();
            for section in std::iter::once(&nothing).chain(&sections) {
                let merged = |below: &DeTable<'_>| {
                    let mut table = below.clone();
                    merge(&mut table, &base);
                    merge(&mut table, section);
                    deserialize(text, table)
                };
                merged(&below).map_err(|together| {
                    // Positions in extended files would be wrong in this text.
                    let alone = merged(&DeTable::new()).err();
                    let anywhere = || {
                        let here = |it: ConfigProblem| ConfigProblem::new(text, 0..0, it.message);
                        together.into_iter().map(here).collect()
                    };
                    at(alone.unwrap_or_else(anywhere))
                })?;
            }
            merge(&mut below, &base);
        }
        drop(below);
        let mut it = Self {
            texts,
            path: None,
            extended: Vec::new(),
            overrides: overrides.clone(),
            root: PatternRoot::new(root),
            exclude,
            settings: Arc::default(),
            merged: Mutex::default(),
            layers,
        };
        let last = it.texts.len() - 1;
        it.settings = it.merge_layers(&vec![false; it.layers.len()]).map_err(|it| (last, it))?;
        Ok(it)
    }

    /// Sets the path of the file and those of the files that it extends.
    pub(crate) fn with_path(self, path: &Path, extended: Vec<PathBuf>) -> Self {
        Self { path: Some(path.to_owned()), extended, ..self }
    }

    /// Returns the files that it extends, directly and indirectly; the most distant one first.
    pub fn extended(&self) -> &[PathBuf] {
        &self.extended
    }

    /// Returns the path of its file. `None` if there is no file, so the defaults apply.
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// Returns the settings of a file that matches none of the `[[overrides]]`.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings)
    }

    /// Returns the settings of a file: the top, the matching `[[overrides]]`, and the command line.
    ///
    /// # Errors
    ///
    /// If layers that are valid separately contradict each other.
    pub fn for_path(&self, path: &Path) -> Result<Arc<Settings>, Vec<ConfigProblem>> {
        let place = if self.layers.is_empty() { None } else { self.root.relative_path(path) };
        let is_about = |it: &Gitignore| place.as_ref().is_some_and(|place| is_matched(it, place));
        let which: Vec<bool> = self.layers.iter().map(is_about).collect();
        if !which.contains(&true) {
            return Ok(self.settings());
        }
        let mut cache = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(it) = cache.get(&which) {
            return Ok(Arc::clone(it));
        }
        let settings = self.merge_layers(&which)?;
        cache.insert(which, Arc::clone(&settings));
        Ok(settings)
    }

    /// Returns true if a file is only checked when the command line names it.
    pub fn is_excluded(&self, path: &Path) -> bool {
        let place = if self.exclude.is_empty() { None } else { self.root.relative_path(path) };
        place.is_some_and(|place| is_matched(&self.exclude, &place))
    }

    fn merge_layers(&self, which: &[bool]) -> Result<Arc<Settings>, Vec<ConfigProblem>> {
        let mut table = DeTable::new();
        let mut which = which.iter();
        for text in &self.texts {
            let (base, sections) = read(text)?;
            merge(&mut table, &base);
            for section in sections {
                if which.next() == Some(&true) {
                    merge(&mut table, &section);
                }
            }
        }
        let text = self.texts.last().map_or("", String::as_str);
        // The files must be valid without the overrides of the command line.
        deserialize(text, table.clone())?;
        self.overrides.merge_into(&mut table);
        Ok(Arc::new(deserialize(text, table)?))
    }
}

impl Settings {
    /// Parses a configuration and returns the settings of a file that matches none of its
    /// `[[overrides]]`.
    ///
    /// # Errors
    ///
    /// All problems of the text, in order.
    #[cfg(test)]
    pub(crate) fn from_toml(text: &str) -> Result<Self, Vec<ConfigProblem>> {
        let config = Config::from_toml(text, Path::new(""), &Overrides::default())?;
        Ok((*config.settings()).clone())
    }
}

/// Returns the value of `extends` in a text, and its range.
///
/// # Errors
///
/// If the text is not TOML, or the value has the wrong type.
pub(crate) fn extends(text: &str) -> Result<Option<(Range<usize>, String)>, Vec<ConfigProblem>> {
    let table = parse(text)?;
    let Some(value) = table.get("extends") else { return Ok(None) };
    let wrong = |what: &str| {
        Err(vec![ConfigProblem::new(text, value.span(), format!("`extends`: {what}"))])
    };
    match value.get_ref().as_str() {
        None | Some("") => wrong("expected the path of one file, a string"),
        Some(it) if it.contains("://") => wrong("expected a local file: URLs are not supported"),
        Some(it) => Ok(Some((value.span(), it.to_owned()))),
    }
}

/// Returns the top of a file, and its `[[overrides]]`.
fn read(text: &str) -> Result<(DeTable<'_>, Vec<DeTable<'_>>), Vec<ConfigProblem>> {
    let wrong = |range, what: &str| vec![ConfigProblem::new(text, range, what.to_owned())];
    let mut base = parse_known_keys(text)?;
    let mut sections = Vec::new();
    if let Some(value) = base.remove("overrides") {
        let span = value.span();
        let DeValue::Array(items) = value.into_inner() else {
            return Err(wrong(span, "expected `[[overrides]]`"));
        };
        if items.len() > MAX_OVERRIDES {
            return Err(wrong(span, "at most 256 `[[overrides]]`"));
        }
        for item in items {
            let span = item.span();
            let DeValue::Table(table) = item.into_inner() else {
                return Err(wrong(span, "expected `[[overrides]]`"));
            };
            if !table.contains_key("files") {
                return Err(wrong(
                    span,
                    "`[[overrides]]` without `files`: name the files to which it applies",
                ));
            }
            sections.push(table);
        }
    }
    Ok((base, sections))
}

fn patterns(
    text: &str,
    value: Option<&Spanned<DeValue<'_>>>,
) -> Result<Gitignore, Vec<ConfigProblem>> {
    let Some(value) = value else { return Ok(Gitignore::empty()) };
    let mut builder = GitignoreBuilder::new("");
    let wrong =
        |it: &Spanned<DeValue<'_>>, what: String| vec![ConfigProblem::new(text, it.span(), what)];
    let Some(items) = value.get_ref().as_array() else {
        return Err(wrong(value, "expected an array of patterns".to_owned()));
    };
    for item in items {
        let Some(pattern) = item.get_ref().as_str() else {
            return Err(wrong(item, "expected a pattern, a string".to_owned()));
        };
        add_pattern(&mut builder, pattern).map_err(|it| wrong(item, it))?;
    }
    builder.build().map_err(|it| vec![ConfigProblem::new(text, 0..0, it.to_string())])
}

fn parse(text: &str) -> Result<DeTable<'_>, Vec<ConfigProblem>> {
    let (table, errors) = DeTable::parse_recoverable(text);
    if errors.is_empty() {
        return Ok(table.into_inner());
    }
    let problem = |it: &toml::de::Error| {
        ConfigProblem::new(text, it.span().unwrap_or(0..0), it.message().to_owned())
    };
    Err(errors.iter().take(MAX_UNKNOWN_KEYS).map(problem).collect())
}

/// Like [`parse`], but also rejects unknown keys.
fn parse_known_keys(text: &str) -> Result<DeTable<'_>, Vec<ConfigProblem>> {
    let table = parse(text)?;
    let problems = unknown_keys(text, &table);
    if problems.is_empty() { Ok(table) } else { Err(problems) }
}

fn deserialize(text: &str, table: DeTable<'_>) -> Result<Settings, Vec<ConfigProblem>> {
    let model = table.get("model").cloned();
    let heir = table.get("heir").cloned();
    let settings = Settings::deserialize(Deserializer::from(Spanned::new(0..0, table)));
    let settings = settings.map_err(|it| {
        let error = model.and_then(|model| {
            // The error of the model contains the path of a key, which is its position.
            let spec = ModelSpec::deserialize(model.clone().into_deserializer()).ok()?;
            let error = ModelSettings::new(spec).err()?;
            let range = error
                .path
                .iter()
                .try_fold(&model, |at, key| at.get_ref().get(key.as_str()).ok_or(at));
            // The default contradicts the budget in the file.
            let budget = |at| model.get_ref().get("budget").unwrap_or(at);
            let range = range.map_or_else(|at| budget(at).span(), Spanned::span);
            Some(ConfigProblem::new(text, range, format!("`model`: {error}")))
        });
        let message = || match it.message() {
            "wanted string or table" => "expected a string".to_owned(),
            said => reword(said),
        };
        vec![
            error.unwrap_or_else(|| ConfigProblem::new(text, it.span().unwrap_or(0..0), message())),
        ]
    })?;
    let options = settings.model.noise().heir;
    let (budget, waterline) = (options.level_budget, options.bootstrap_waterline);
    if let (Some(heir), Some(budget)) = (heir, budget)
        && waterline >= budget.get()
    {
        let keys = ["bootstrap-waterline", "level-budget"];
        let key = keys.iter().find_map(|it| heir.get_ref().get(*it)).unwrap_or(&heir);
        let message = format!(
            "`heir.bootstrap-waterline`: {waterline} leaves none of the {budget} levels of `heir.level-budget`; set it below {budget}"
        );
        return Err(vec![ConfigProblem::new(text, key.span(), message)]);
    }
    Ok(settings)
}

/// Merges the layer `over` into `below`, key by key. A broader rule removes narrower ones.
fn merge<'a>(below: &mut DeTable<'a>, over: &DeTable<'a>) {
    for (key, value) in over {
        match (below.get_mut(key).map(Spanned::get_mut), value.get_ref()) {
            (Some(DeValue::Table(below)), DeValue::Table(over)) => {
                if key.get_ref() == "rules" {
                    let cleared =
                        |it: &str| over.keys().any(|by| rules::is_overridden(it, by.get_ref()));
                    let names: Vec<_> =
                        below.keys().filter(|it| cleared(it.get_ref())).cloned().collect();
                    for name in names {
                        below.remove(&name);
                    }
                }
                merge(below, over);
            }
            _ => {
                below.insert(key.clone(), value.clone());
            }
        }
    }
}

#[cfg(test)]
mod tests;
