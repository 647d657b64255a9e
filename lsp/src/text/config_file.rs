//! A configuration file that is open in the editor. Its text is small, and nothing derived from it
//! is kept.

use std::path::{Path, PathBuf};

use noisy_settings::{ConfigProblem, FILE_NAMES};
use ropey::Rope;
use tower_lsp::ls_types as lsp;

use crate::text::encoding::Encoding;
use crate::text::position;

/// An open configuration file. Clones share their text.
#[derive(Clone, Debug)]
pub(crate) struct ConfigFile {
    pub uri: lsp::Uri,
    /// The version of its text.
    pub version: i32,
    pub text: Rope,
}

/// True if a document is a configuration file, by its name.
pub(crate) fn is_config(uri: &lsp::Uri) -> bool {
    let name = uri.path().as_str().rsplit('/').next();
    name.is_some_and(|it| FILE_NAMES.contains(&it))
}

impl ConfigFile {
    /// Changes the text.
    pub(crate) fn change(
        &mut self,
        version: i32,
        changes: &[lsp::TextDocumentContentChangeEvent],
        encoding: Encoding,
    ) {
        self.version = version;
        for change in changes {
            let Some(range) = change.range else {
                self.text = Rope::from_str(&change.text);
                continue;
            };
            let bytes = position::offsets(&self.text, range, encoding);
            let start = self.text.byte_to_char(bytes.start);
            self.text.remove(start..self.text.byte_to_char(bytes.end));
            self.text.insert(start, &change.text);
        }
    }

    /// The mistakes in the file. Reads the files that it extends.
    pub(crate) fn problems(&self) -> Vec<ConfigProblem> {
        let path = self.uri.to_file_path().map_or_else(PathBuf::new, std::borrow::Cow::into_owned);
        noisy_settings::problems(Path::new(&path), &self.text.to_string())
    }
}
