//! The patterns of the command line: files to leave out, and rules to turn off in some files.

use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use noisy_settings::{FolderResolver, PatternRoot, Rules, Settings, add_pattern, is_matched};

/// The patterns of the command line. They have the meaning of patterns in a `.gitignore` of the
/// current folder.
#[derive(Debug)]
pub(crate) struct Selection {
    here: PatternRoot,
    excluded: Gitignore,
    /// Rules that are off in matching files.
    silenced: Vec<(Gitignore, String)>,
}

impl Selection {
    /// Compiles `--exclude` and `--per-file-ignores`.
    ///
    /// # Errors
    ///
    /// If a pattern or the name of a rule is invalid.
    pub(crate) fn new(exclude: &[String], per_file_ignores: &[String]) -> Result<Self, String> {
        let mut builder = GitignoreBuilder::new("");
        for it in exclude {
            add_pattern(&mut builder, it).map_err(|why| format!("--exclude '{it}': {why}"))?;
        }
        let excluded = builder.build().map_err(|why| format!("--exclude: {why}"))?;
        let silenced = per_file_ignores
            .iter()
            .map(|it| parse_per_file_ignore(it))
            .collect::<Result<_, _>>()?;
        Ok(Self { here: PatternRoot::new(Path::new("")), excluded, silenced })
    }

    /// True if the command line or the configuration of `path` excludes it.
    pub(crate) fn is_excluded(&self, configs: &mut FolderResolver<'_>, path: &Path) -> bool {
        self.is_matched(&self.excluded, path)
            || configs.config(path).is_ok_and(|it| it.is_excluded(path))
    }

    /// The rules, categories or `all` that are off in a file, in the order of the command line.
    pub(crate) fn silenced(&self, path: &Path) -> Vec<&str> {
        let matched = self.silenced.iter().filter(|it| self.is_matched(&it.0, path));
        matched.map(|it| it.1.as_str()).collect()
    }

    /// True if the patterns match a file or one of its folders.
    fn is_matched(&self, patterns: &Gitignore, path: &Path) -> bool {
        if patterns.is_empty() {
            return false;
        }
        if let Some(place) = self.here.relative_path(path) {
            return is_matched(patterns, &place);
        }
        // Patterns are relative to the current folder, so a file elsewhere matches by name only.
        let name = || Path::new(path.file_name().unwrap_or_default());
        is_matched(patterns, if path.has_root() { name() } else { path })
    }
}

/// Settings with some existing rules turned off.
pub(crate) fn with_rules_off(mut settings: Arc<Settings>, rules: &[&str]) -> Arc<Settings> {
    for rule in rules {
        // The name was checked when the option was read.
        let _ = Arc::make_mut(&mut settings).rules.turn_off(rule);
    }
    settings
}

fn parse_per_file_ignore(option: &str) -> Result<(Gitignore, String), String> {
    let wrong = |why: String| format!("--per-file-ignores '{option}': {why}");
    let (pattern, rule) =
        option.rsplit_once(':').ok_or_else(|| wrong("expected PATTERN:RULE".to_owned()))?;
    Rules::default().turn_off(rule).map_err(wrong)?;
    let mut builder = GitignoreBuilder::new("");
    add_pattern(&mut builder, pattern).map_err(wrong)?;
    let pattern = builder.build().map_err(|why| wrong(why.to_string()))?;
    Ok((pattern, rule.to_owned()))
}
