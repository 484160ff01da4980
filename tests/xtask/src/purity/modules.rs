//! Which file of core imports which: paths followed through `pub use` to where they lead.

use std::collections::{BTreeMap, BTreeSet};

use super::direction::room;
use super::source::{Name, Place, PublicType, read};
use super::{belongs_to, module_path};
use crate::sources::SourceFile;

/// How many `pub use` a path may lead through; more is a circle of them.
const REEXPORTS_MAX: usize = 8;

/// The modules of core that are files, without those that only tests see.
#[derive(Debug)]
pub(crate) struct Modules {
    /// Module path, as `run::next`, to what the file says. The root is the empty text.
    files: BTreeMap<String, File>,
}

#[derive(Debug)]
struct File {
    path: String,
    names: Vec<Name>,
    types: Vec<PublicType>,
}

/// One module that names something of another one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Import {
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) line: usize,
}

impl Modules {
    /// Reads core's files; an error when one is not Rust.
    pub(crate) fn read(files: &[SourceFile]) -> Result<Modules, String> {
        let mut found = BTreeMap::new();
        let mut hidden = Vec::new();
        for file in files {
            let reading = read(&file.text, Place::Elsewhere)
                .map_err(|why| format!("{}: {why}", file.path))?;
            hidden.extend(reading.test_modules.iter().map(|name| module_path(&file.path, name)));
            let module = module_of(&file.path);
            let (names, types) = (reading.names, reading.types);
            found.insert(module, File { path: file.path.clone(), names, types });
        }
        found.retain(|_, file| !hidden.iter().any(|module| belongs_to(&file.path, module)));
        Ok(Modules { files: found })
    }

    /// Path of the file that is the module.
    pub(crate) fn path<'a>(&'a self, module: &'a str) -> &'a str {
        self.files.get(module).map_or(module, |file| &file.path)
    }

    /// The rooms: modules that lie in the root of the crate.
    pub(crate) fn rooms(&self) -> BTreeSet<&str> {
        self.files.keys().map(|module| room(module)).filter(|room| !room.is_empty()).collect()
    }

    /// Every public type with the module that declares it.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&str, &PublicType)> {
        self.files
            .iter()
            .flat_map(|(module, file)| file.types.iter().map(|found| (module.as_str(), found)))
    }

    /// Every import between two files, each once, with the first line that names it.
    pub(crate) fn imports(&self) -> Vec<Import> {
        let mut imports = BTreeMap::new();
        for (module, file) in &self.files {
            for name in &file.names {
                let Some(target) = self.target(module, &name.path, 0) else { continue };
                if target != *module {
                    let line = imports.entry((module, target)).or_insert(name.line);
                    *line = name.line.min(*line);
                }
            }
        }
        let import = |((from, to), line): ((&String, String), usize)| Import {
            from: from.clone(),
            to,
            line,
        };
        imports.into_iter().map(import).collect()
    }

    /// The module that defines what `path`, written in `module`, names. `None`: not of this crate.
    fn target(&self, module: &str, path: &[String], depth: usize) -> Option<String> {
        let mut at: Vec<&str> = module.split("::").filter(|part| !part.is_empty()).collect();
        let mut rest = path;
        match rest.first().map(String::as_str)? {
            "crate" => {
                at.clear();
                rest = &rest[1..];
            }
            "self" => rest = &rest[1..],
            "super" => {
                while rest.first().is_some_and(|part| part == "super") {
                    at.pop()?;
                    rest = &rest[1..];
                }
            }
            // `use child::Name`, where it is a child.
            child if self.files.contains_key(&join(&at, child)) => {}
            _ => return None,
        }
        while let Some((part, behind)) = rest.split_first()
            && self.files.contains_key(&join(&at, part))
        {
            at.push(part);
            rest = behind;
        }
        let found = at.join("::");
        match rest.first() {
            Some(name) if depth < REEXPORTS_MAX => {
                Some(self.exported(&found, name, depth).unwrap_or(found))
            }
            Some(_) | None => Some(found),
        }
    }

    /// Where a `pub use` of `module` has `name` from.
    fn exported(&self, module: &str, name: &str, depth: usize) -> Option<String> {
        let names = &self.files.get(module)?.names;
        let named = names.iter().find(|found| found.exported_as.as_deref() == Some(name));
        named.and_then(|found| self.target(module, &found.path, depth + 1))
    }
}

fn join(at: &[&str], part: &str) -> String {
    let mut parts = at.to_vec();
    parts.push(part);
    parts.join("::")
}

/// `core/src/run/next.rs` is `run::next`, `core/src/lib.rs` the root.
fn module_of(path: &str) -> String {
    let below = path.strip_prefix("core/src/").unwrap_or(path);
    let stem = below.strip_suffix(".rs").unwrap_or(below);
    if stem == "lib" { String::new() } else { stem.replace('/', "::") }
}
