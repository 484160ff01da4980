//! The files of the workspace that people wrote.

use std::path::{Path, PathBuf};

/// The folder that holds the workspace's `Cargo.toml`.
pub(crate) fn workspace_root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("xtask lies two folders deep")
}

/// One text file.
#[derive(Debug)]
pub(crate) struct SourceFile {
    /// Its path below the root, with `/` between the parts.
    pub(crate) path: String,
    /// Its content.
    pub(crate) text: String,
}

/// A folder and what is below it, without build output, dependencies and hidden folders.
#[derive(Debug)]
pub(crate) struct Sources {
    root: PathBuf,
}

impl Sources {
    /// Everything in the workspace.
    pub(crate) fn of_workspace() -> Sources {
        Sources { root: workspace_root().to_owned() }
    }

    /// The folder.
    pub(crate) fn root(&self) -> &Path {
        &self.root
    }

    /// Every file whose name ends in `.{extension}`, sorted by path.
    pub(crate) fn read(&self, extension: &str) -> Result<Vec<SourceFile>, String> {
        let mut files = Vec::new();
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            let entries = std::fs::read_dir(&folder)
                .map_err(|error| format!("{}: {error}", folder.display()))?;
            for entry in entries {
                let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
                let kind = entry.file_type().map_err(|error| error.to_string())?;
                let path = entry.path();
                if kind.is_dir() && is_ours(&entry.file_name().to_string_lossy()) {
                    folders.push(path);
                } else if kind.is_file() && path.extension().is_some_and(|found| found == extension)
                {
                    files.push(self.load(&path)?);
                }
            }
        }
        files.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(files)
    }

    fn load(&self, path: &Path) -> Result<SourceFile, String> {
        let bytes = std::fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let below = path.strip_prefix(&self.root).expect("the walk starts at the root");
        let path = below.to_string_lossy().replace(std::path::MAIN_SEPARATOR, "/");
        // Test corpora may contain any bytes; invalid UTF-8 becomes replacement characters.
        Ok(SourceFile { path, text: String::from_utf8_lossy(&bytes).into_owned() })
    }
}

fn is_ours(folder: &str) -> bool {
    !folder.starts_with('.') && folder != "target" && folder != "node_modules"
}
