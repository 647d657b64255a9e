//! Writing a file back: all of it or nothing, permissions kept, and not over somebody else's change.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use crate::check::real;
use crate::walk::reason;

/// Replaces the text of a file if it still is `before`.
pub(crate) fn replace(path: &Path, before: &str, after: &str) -> Result<(), String> {
    // A link stays a link.
    let path = real(path).map_err(|it| reason(&it))?;
    let metadata = fs::metadata(&path).map_err(|it| reason(&it))?;
    if metadata.permissions().readonly() {
        return Err("the file is read-only".to_owned());
    }
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let temporary = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut file = File::create_new(&temporary)?;
        file.write_all(after.as_bytes())?;
        file.set_permissions(metadata.permissions())?;
        file.sync_all()?;
        // As late as can be.
        if fs::read(&path)? != before.as_bytes() {
            return Ok(false);
        }
        fs::rename(&temporary, &path)?;
        Ok(true)
    })();
    match written {
        Ok(true) => Ok(()),
        Ok(false) => {
            let _ = fs::remove_file(&temporary);
            Err("the file was changed meanwhile".to_owned())
        }
        Err(error) => {
            let error: std::io::Error = error;
            let _ = fs::remove_file(&temporary);
            Err(reason(&error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_changed_meanwhile_is_kept() {
        let directory = std::env::temp_dir().join(format!("noisy-write-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap_or_default();
        let path = directory.join("a.mlir");
        fs::write(&path, "new").unwrap_or_default();
        assert!(replace(&path, "old", "mended").is_err());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("new"));
        assert_eq!(replace(&path, "new", "mended"), Ok(()));
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some("mended"));
        assert_eq!(
            fs::read_dir(&directory).map(Iterator::count).ok(),
            Some(1),
            "nothing is left behind"
        );
        let _ = fs::remove_dir_all(&directory);
    }
}
