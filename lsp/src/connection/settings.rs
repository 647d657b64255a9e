//! The settings of each document: `noisy.toml`, overridden by the editor, for each root of the
//! workspace separately.
//!
//! *Law.* A document has the settings that `noisy-check` finds for its file, except for those that
//! the editor sets. Files are read only on the threads of documents and of the file watcher, never
//! on the thread that reads from the client.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use noisy_settings::{ConfigOrigin, ConfigResolver, FILE_NAMES, InvalidConfig, Settings, folders};
use tower_lsp::ls_types as lsp;

use crate::connection::editor_settings::EditorSettings;

/// The settings of a document.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct EffectiveSettings {
    /// Settings that `noisy.toml` can contain, with the overrides of the editor.
    pub file: Arc<Settings>,
    /// Settings of the editor.
    pub editor: Arc<EditorSettings>,
}

/// A root of the workspace.
#[derive(Debug)]
struct WorkspaceRoot {
    /// Its URI, for requests of its settings; `None` for documents outside of all roots.
    uri: Option<lsp::Uri>,
    path: Option<PathBuf>,
    editor: Arc<EditorSettings>,
    files: Arc<ConfigResolver>,
}

impl WorkspaceRoot {
    fn new(uri: Option<lsp::Uri>, editor: Arc<EditorSettings>) -> Self {
        let path = uri.as_ref().and_then(lsp::Uri::to_file_path).map(std::borrow::Cow::into_owned);
        let files = resolver(&editor, path.as_deref());
        Self { uri, path, editor, files }
    }
}

fn resolver(editor: &EditorSettings, root: Option<&Path>) -> Arc<ConfigResolver> {
    let origin = match &editor.config_file {
        // The path may be relative to the root.
        Some(file) => ConfigOrigin::File(root.map_or_else(|| file.clone(), |root| root.join(file))),
        None => ConfigOrigin::Nearest,
    };
    Arc::new(ConfigResolver::new(origin, editor.overrides.clone()))
}

/// All settings of a connection.
#[derive(Debug)]
pub(crate) struct SettingsStore {
    /// Settings from `initialize`, until the editor sends others.
    initial: Mutex<Option<EditorSettings>>,
    /// The first root contains the documents outside of all others.
    roots: Mutex<Vec<WorkspaceRoot>>,
    /// Number of assigned turns ([`SettingsStore::next_turn`]).
    n_turns: AtomicU64,
    /// The latest turn whose settings were taken.
    latest_turn: Mutex<u64>,
}

impl Default for SettingsStore {
    fn default() -> Self {
        let roots = vec![WorkspaceRoot::new(None, Arc::new(EditorSettings::new()))];
        Self {
            initial: Mutex::default(),
            roots: Mutex::new(roots),
            n_turns: AtomicU64::default(),
            latest_turn: Mutex::default(),
        }
    }
}

impl SettingsStore {
    fn roots(&self) -> MutexGuard<'_, Vec<WorkspaceRoot>> {
        self.roots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds and removes roots of the workspace. The remaining roots keep their settings. New roots
    /// get the settings of documents outside of all roots.
    pub(crate) fn set_roots(&self, add: Vec<lsp::Uri>, remove: &[lsp::Uri]) {
        let mut roots = self.roots();
        roots.retain(|it| {
            it.uri.as_ref().is_none_or(|it| !remove.contains(it) && !add.contains(it))
        });
        for uri in add {
            let editor = roots[0].editor.clone();
            roots.push(WorkspaceRoot::new(Some(uri), editor));
        }
    }

    /// The roots whose settings are requested from the client, in order. `None` means documents
    /// outside of all roots.
    pub(crate) fn root_uris(&self) -> Vec<Option<lsp::Uri>> {
        self.roots().iter().map(|it| it.uri.clone()).collect()
    }

    /// Returns the next turn, a number. Each request of settings and each notification about
    /// settings gets one, in their order.
    pub(crate) fn next_turn(&self) -> u64 {
        self.n_turns.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Runs `take` and returns its result, unless a later turn has run: answers may arrive out of
    /// order.
    pub(crate) fn run_in_turn<T>(&self, turn: u64, take: impl FnOnce() -> T) -> Option<T> {
        let mut latest = self.latest_turn.lock().unwrap_or_else(PoisonError::into_inner);
        (turn > *latest).then(|| {
            *latest = turn;
            take()
        })
    }

    /// Sets or removes the settings from `initialize`.
    pub(crate) fn set_initial(&self, config: Option<EditorSettings>) {
        *self.initial.lock().unwrap_or_else(PoisonError::into_inner) = config;
    }

    /// Returns the settings from `initialize`, or the defaults.
    pub(crate) fn initial(&self) -> EditorSettings {
        let initial = self.initial.lock().unwrap_or_else(PoisonError::into_inner);
        initial.as_ref().map_or_else(EditorSettings::new, EditorSettings::clone)
    }

    /// Sets the editor's settings for one root or for all. Returns true if they changed.
    pub(crate) fn set_editor(
        &self,
        scope: Option<&Option<lsp::Uri>>,
        config: EditorSettings,
    ) -> bool {
        let config = Arc::new(config);
        let mut changed = false;
        for root in self.roots().iter_mut().filter(|it| scope.is_none_or(|scope| it.uri == *scope))
        {
            if root.editor != config {
                root.files = resolver(&config, root.path.as_deref());
                root.editor = config.clone();
                changed = true;
            }
        }
        changed
    }

    /// Returns the editor's settings for documents outside of all roots.
    pub(crate) fn editor(&self) -> Arc<EditorSettings> {
        self.roots()[0].editor.clone()
    }

    /// Returns the settings of a document. An invalid configuration is replaced by the defaults and
    /// also returned.
    pub(crate) fn of(&self, uri: &lsp::Uri) -> (EffectiveSettings, Option<Arc<InvalidConfig>>) {
        let path = uri.to_file_path();
        let (editor, files, root) = {
            let roots = self.roots();
            // The innermost root that contains the file applies. A document without a path uses the
            // first root.
            let holds = |it: &&WorkspaceRoot| match (&path, &it.path) {
                (Some(path), Some(root)) => path.starts_with(root),
                (None, Some(_)) => true,
                (_, None) => false,
            };
            let depth = |it: &&WorkspaceRoot| match path {
                Some(_) => it.path.as_ref().map_or(0, |it| it.components().count()),
                None => 0,
            };
            let mut best = &roots[0];
            for root in roots.iter().filter(holds) {
                if best.path.is_none() || depth(&root) > depth(&best) {
                    best = root;
                }
            }
            (best.editor.clone(), best.files.clone(), best.path.clone())
        };
        let path =
            path.map(std::borrow::Cow::into_owned).or_else(|| Some(root?.join("untitled.mlir")));
        let none = || {
            let none = ConfigResolver::new(ConfigOrigin::NoFile, editor.overrides.clone());
            none.config(Path::new("")).map(|it| it.settings()).unwrap_or_default()
        };
        let Some(path) = path else { return (EffectiveSettings { file: none(), editor }, None) };
        let found = files.config(&path).and_then(|config| {
            config.for_path(&path).map_err(|problems| {
                Arc::new(InvalidConfig { path: path.clone(), problems, unreadable: None })
            })
        });
        match found {
            Ok(file) => (EffectiveSettings { file, editor }, None),
            Err(invalid) => (EffectiveSettings { file: none(), editor }, Some(invalid)),
        }
    }

    /// Drops the cached contents of configuration files.
    pub(crate) fn forget(&self) {
        self.roots().iter().for_each(|it| it.files.clear_cache());
    }

    /// Returns the existing files that may contain settings of documents, with their modification
    /// times and sizes.
    pub(crate) fn config_file_stamps<'a>(
        &self,
        documents: impl Iterator<Item = &'a lsp::Uri>,
    ) -> Vec<(PathBuf, Option<SystemTime>, u64)> {
        let mut looked_at: Vec<PathBuf> = documents
            .filter_map(|uri| Some(uri.to_file_path()?.parent()?.to_owned()))
            .chain(self.roots().iter().filter_map(|it| it.path.clone()))
            .flat_map(|it| folders(&it).map(Path::to_owned).collect::<Vec<_>>())
            .collect();
        looked_at.sort_unstable();
        looked_at.dedup();
        let named = self
            .roots()
            .iter()
            .filter_map(|it| Some((it.path.clone(), it.editor.config_file.clone()?)))
            .collect::<Vec<_>>();
        let named =
            named.into_iter().map(|(root, file)| root.map_or(file.clone(), |it| it.join(file)));
        let extended: Vec<_> = self.roots().iter().flat_map(|it| it.files.extended()).collect();
        let files = looked_at.iter().flat_map(|it| FILE_NAMES.map(|name| it.join(name)));
        let files = files.chain(named).chain(extended);
        let stamp = |path: PathBuf| {
            let data = std::fs::metadata(&path).ok().filter(std::fs::Metadata::is_file)?;
            Some((path, data.modified().ok(), data.len()))
        };
        files.filter_map(stamp).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn uri(text: &str) -> lsp::Uri {
        text.parse().unwrap_or_else(|_| panic!("{text}"))
    }

    fn budget(store: &SettingsStore, of: &str) -> bool {
        store.of(&uri(of)).0.file.hints.budget
    }

    fn config(budget: bool) -> EditorSettings {
        EditorSettings::read(&json!({ "inlayHints": { "budget": budget } })).unwrap_or_default()
    }

    #[test]
    fn ignores_answers_that_arrive_out_of_order() {
        let store = SettingsStore::default();
        let (first, second, third) = (store.next_turn(), store.next_turn(), store.next_turn());
        let take =
            |turn, budget| store.run_in_turn(turn, || store.set_editor(None, config(budget)));
        assert_eq!(take(second, true), Some(true));
        assert_eq!(take(first, false), None);
        assert!(budget(&store, "untitled:Untitled-1"));
        assert_eq!(take(third, false), Some(true));
        assert!(!budget(&store, "untitled:Untitled-1"));
    }

    #[test]
    fn roots_have_settings_of_their_own() {
        let store = SettingsStore::default();
        let (a, b) = (uri("file:///nowhere/a"), uri("file:///nowhere/a/b"));
        store.set_roots(vec![a.clone(), b.clone()], &[]);
        assert!(store.set_editor(Some(&Some(b.clone())), config(true)));
        assert!(!store.set_editor(Some(&Some(b.clone())), config(true)), "nothing new");
        for (of, wanted) in [
            ("file:///nowhere/a/x.mlir", false),
            ("file:///nowhere/a/b/x.mlir", true),
            ("file:///nowhere/a/bc/x.mlir", false),
            ("file:///elsewhere/x.mlir", false),
            ("untitled:Untitled-1", false),
        ] {
            assert_eq!(budget(&store, of), wanted, "{of}");
        }
        store.set_roots(Vec::new(), &[b]);
        assert!(!budget(&store, "file:///nowhere/a/b/x.mlir"));
        assert!(store.set_editor(None, config(true)));
        assert!(
            budget(&store, "untitled:Untitled-1") && budget(&store, "file:///elsewhere/x.mlir")
        );
    }
}
