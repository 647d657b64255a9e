//! Which files are left out, and which rules count in which of them, by the patterns of the command line.

use std::path::Path;
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};
use noisy_settings::{Resolver, Rules, Settings};

/// The patterns of the command line, written as in a `.gitignore` that stands in the current folder.
#[derive(Debug)]
pub(crate) struct Selection {
    excluded: Gitignore,
    /// Rules that are off in files that match.
    silenced: Vec<(Gitignore, String)>,
}

impl Selection {
    /// Of `--exclude` and `--per-file-ignores`.
    ///
    /// # Errors
    ///
    /// When one of them is no pattern, or names no rule.
    pub(crate) fn new(exclude: &[String], per_file_ignores: &[String]) -> Result<Self, String> {
        let mut builder = GitignoreBuilder::new("");
        for it in exclude {
            builder.add_line(None, it).map_err(|why| format!("--exclude '{it}': {why}"))?;
        }
        let excluded = builder.build().map_err(|why| format!("--exclude: {why}"))?;
        let silenced = per_file_ignores.iter().map(|it| silenced(it)).collect::<Result<_, _>>()?;
        Ok(Self { excluded, silenced })
    }

    /// Whether a path is left out, by the command line or by its configuration.
    pub(crate) fn is_excluded(&self, resolver: &Resolver, path: &Path) -> bool {
        is_matched(&self.excluded, path)
            || resolver.config(path).is_ok_and(|it| it.is_excluded(path))
    }

    /// The rules, categories or `all` that are off in a file, in the order of the command line.
    pub(crate) fn silenced(&self, path: &Path) -> Vec<&str> {
        let matched = self.silenced.iter().filter(|it| is_matched(&it.0, path));
        matched.map(|it| it.1.as_str()).collect()
    }
}

/// Settings without some rules, which exist.
pub(crate) fn without(mut settings: Arc<Settings>, rules: &[&str]) -> Arc<Settings> {
    for rule in rules {
        // It was looked up when the option was read.
        let _ = Arc::make_mut(&mut settings).rules.turn_off(rule);
    }
    settings
}

fn silenced(option: &str) -> Result<(Gitignore, String), String> {
    let wrong = |why: String| format!("--per-file-ignores '{option}': {why}");
    let (pattern, rule) =
        option.rsplit_once(':').ok_or_else(|| wrong("expected PATTERN:RULE".to_owned()))?;
    Rules::default().turn_off(rule).map_err(wrong)?;
    let mut builder = GitignoreBuilder::new("");
    builder.add_line(None, pattern).map_err(|why| wrong(why.to_string()))?;
    let pattern = builder.build().map_err(|why| wrong(why.to_string()))?;
    Ok((pattern, rule.to_owned()))
}

/// Whether patterns match a file or a folder above it.
fn is_matched(patterns: &Gitignore, path: &Path) -> bool {
    if patterns.is_empty() {
        return false;
    }
    let path = path.strip_prefix("./").unwrap_or(path);
    let here = std::env::current_dir().ok();
    let path = here.and_then(|it| path.strip_prefix(it).ok()).unwrap_or(path);
    // What stands elsewhere has no place in patterns that are about what is here, but a name.
    let path =
        if path.is_absolute() { Path::new(path.file_name().unwrap_or_default()) } else { path };
    patterns.matched_path_or_any_parents(path, false).is_ignore()
}
