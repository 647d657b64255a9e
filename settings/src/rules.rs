//! The reported diagnostics and their severities.

use std::collections::BTreeMap;

use noisy_analyses::{Category, Diagnostic, Document, Rule, Severity};
#[cfg(test)]
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::problem::nearest;

/// The level of a rule: off, its own severity, or another severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[cfg_attr(test, derive(JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum RuleLevel {
    /// It is not reported.
    Off,
    /// It is reported with its own severity.
    On,
    /// It is reported as a hint.
    Hint,
    /// It is reported as an information.
    Info,
    /// It is reported as a warning.
    Warning,
    /// It is reported as an error.
    Error,
}

/// The levels of rules: by code, by category, and for `all`. The most specific level is used: that
/// of the code, then of the category, then of `all`. A rule that is off by default is only turned
/// on by its code. A later layer removes the earlier levels of the same rules.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(transparent)]
pub struct Rules(BTreeMap<String, RuleLevel>);

/// The key for all rules.
const ALL: &str = "all";

/// The categories by their names in the file.
const CATEGORIES: [(&str, Category); 6] = [
    ("syntax", Category::Syntax),
    ("name", Category::Name),
    ("type", Category::Type),
    ("structure", Category::Structure),
    ("noise", Category::Noise),
    ("lint", Category::Lint),
];

impl Rules {
    /// Returns all diagnostics of a document: those of rules that are on by default, even if these
    /// rules turn them off, and those of rules that these rules turn on.
    pub fn all_diagnostics(&self, document: &Document) -> Vec<Diagnostic> {
        document.diagnostics_with(&self.turned_on_codes())
    }

    /// Returns the rules that are off by default and on in these settings.
    fn turned_on_codes(&self) -> Vec<&str> {
        let set = self.0.iter().filter(|it| *it.1 != RuleLevel::Off).map(|it| it.0.as_str());
        set.filter(|it| is_off_by_default(it)).collect()
    }

    /// Returns the diagnostics of a document under these rules.
    pub fn diagnostics(&self, document: &Document) -> Vec<Diagnostic> {
        let mut found = self.all_diagnostics(document);
        self.apply(&mut found);
        found
    }

    /// Returns the severity with which a diagnostic is reported; `None` if it is not reported.
    pub(crate) fn severity(&self, it: &Diagnostic) -> Option<Severity> {
        let category = CATEGORIES.iter().find(|(_, category)| *category == it.category);
        let more = || self.0.get(category?.0).or_else(|| self.0.get(ALL));
        let level = self.0.get(it.code).or_else(more);
        match level.unwrap_or(&RuleLevel::On) {
            RuleLevel::Off => None,
            RuleLevel::On => Some(it.severity),
            RuleLevel::Hint => Some(Severity::Hint),
            RuleLevel::Info => Some(Severity::Info),
            RuleLevel::Warning => Some(Severity::Warning),
            RuleLevel::Error => Some(Severity::Error),
        }
    }

    /// Removes diagnostics that are off, and sets the severity of the others.
    pub fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        if self.0.is_empty() {
            return;
        }
        diagnostics.retain_mut(|it| {
            let severity = self.severity(it);
            it.severity = severity.unwrap_or(it.severity);
            severity.is_some()
        });
    }

    /// Turns off a rule, a category or all rules, and removes the earlier levels of these rules.
    ///
    /// # Errors
    ///
    /// If there is no such rule. The error suggests the most similar name.
    pub fn turn_off(&mut self, name: &str) -> Result<(), String> {
        if !names().any(|it| it.0 == name) {
            let hint = nearest(name, names().map(|it| it.0))
                .map_or(String::new(), |it| format!("; did you mean `{it}`?"));
            return Err(format!("unknown rule `{name}`{hint}"));
        }
        self.0.retain(|earlier, _| !is_overridden(earlier, name));
        self.0.insert(name.to_owned(), RuleLevel::Off);
        Ok(())
    }

    /// Returns the levels that are set, by code, category or `all`.
    #[cfg(test)]
    pub(crate) fn levels(&self) -> &BTreeMap<String, RuleLevel> {
        &self.0
    }
}

impl noisy_analyses::repair::ReportRules for Rules {
    fn brief_diagnostics(&self, document: &Document) -> Vec<Diagnostic> {
        document.diagnostics_in_brief(&self.turned_on_codes())
    }

    fn apply(&self, diagnostics: &mut Vec<Diagnostic>) {
        Rules::apply(self, diagnostics);
    }
}

/// Returns true if setting `by` in a later layer overrides `earlier`: `all` overrides every rule, a
/// category overrides its codes.
pub(crate) fn is_overridden(earlier: &str, by: &str) -> bool {
    if by == ALL || earlier == by {
        return true;
    }
    let category = CATEGORIES.iter().find(|it| it.0 == by).map(|it| it.1);
    category.is_some() && category_of(earlier) == category
}

fn is_off_by_default(code: &str) -> bool {
    Rule::find(code).is_some_and(|it| !it.is_on())
}

fn category_of(code: &str) -> Option<Category> {
    names().find(|it| it.0 == code)?.1
}

/// Returns all names of rules, with category and description.
fn names() -> impl Iterator<Item = (&'static str, Option<Category>, String)> {
    let all = (ALL, None, "Every rule.".to_owned());
    let categories = CATEGORIES
        .iter()
        .map(|(name, _)| (*name, None, format!("Every rule of the category {name}.")));
    let codes = Rule::all().map(|it| {
        let off = if it.is_on() { "" } else { " Off unless it is set here." };
        (it.code(), Some(it.category()), format!("{}.{off}", it.title()))
    });
    std::iter::once(all).chain(categories).chain(codes)
}

#[cfg(test)]
impl JsonSchema for Rules {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rules".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let level = generator.subschema_for::<RuleLevel>();
        let mut properties = serde_json::Map::new();
        for (name, _, what) in names() {
            let mut schema = level.clone();
            schema.insert("description".to_owned(), what.into());
            properties.insert(name.to_owned(), schema.to_value());
        }
        json_schema!({
            "description": "Levels of rules, by code, by category, or for `all`. A code overrides its category, and a category overrides `all`.",
            "type": "object",
            "properties": properties,
            "additionalProperties": false,
        })
    }
}
