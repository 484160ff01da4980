//! File rules with Landlock.
//!
//! Landlock only grants access. So a hidden path is omitted: each folder above it is granted entry
//! by entry, as it is now. A scratch folder is omitted, too; one inside another scratch folder is
//! granted and restored afterwards. Listing is granted for all folders, because no rule can revoke
//! it below: names of hidden files are visible, their content is not.

use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use onloop_core::effect::{Failure, Reach};

use super::impossible;
use super::paths::ConfinedPaths;

/// The oldest version that restricts abstract sockets, signals and device control.
const OLDEST: ABI = ABI::V6;

/// Stateless devices, and terminals, whose own permissions apply.
const DEVICES: [&str; 8] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"];

/// Rules for abstract sockets and signals only; `None` on a kernel that has none.
pub(super) fn scopes() -> Option<OwnedFd> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.scope(Scope::from_all(OLDEST)).ok()?.create().ok()?.into()
}

/// Rules for files, abstract sockets and signals.
pub(super) fn files(paths: &ConfinedPaths) -> Result<OwnedFd, Failure> {
    let too_old = |_: RulesetError| {
        impossible("it takes Linux 6.12 or newer with Landlock, or the program `bwrap`")
    };
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(OLDEST)))
        .and_then(|ruleset| ruleset.create())
        .map_err(too_old)?;
    let mut grants = Grants { ruleset: Some(ruleset), paths };
    grants.all().map_err(|error| impossible(format_args!("Landlock: {error}")))?;
    for rule in &paths.there {
        if rule.reach == Reach::Write && paths.hides_below(&rule.path) {
            return Err(impossible(format_args!(
                "Landlock cannot hide what is in `{}`, which may be written",
                rule.path.display()
            )));
        }
    }
    let rules = grants.ruleset.and_then(Option::<OwnedFd>::from);
    rules.ok_or_else(|| impossible("Landlock has no rules"))
}

struct Grants<'a> {
    ruleset: Option<RulesetCreated>,
    paths: &'a ConfinedPaths,
}

impl Grants<'_> {
    fn all(&mut self) -> Result<(), RulesetError> {
        self.grant(Path::new("/"), AccessFs::ReadDir.into())?;
        self.walk(Path::new("/"), AccessFs::from_read(OLDEST))?;
        for device in DEVICES {
            let rights = AccessFs::from_file(OLDEST) & !AccessFs::Execute;
            self.grant(&Path::new("/dev").join(device), rights)?;
        }
        for rule in &self.paths.there {
            match rule.reach {
                Reach::Write => self.walk(&rule.path, AccessFs::from_all(OLDEST))?,
                Reach::Scratch if self.paths.is_inner_scratch(rule) => {
                    self.walk(&rule.path, AccessFs::from_all(OLDEST))?;
                }
                Reach::Read | Reach::Others => match self.paths.around(&rule.path) {
                    Reach::Hidden | Reach::Scratch => {
                        self.walk(&rule.path, AccessFs::from_read(OLDEST))?;
                    }
                    Reach::Write | Reach::Read | Reach::Others => {}
                },
                Reach::Scratch | Reach::Hidden => {}
            }
        }
        Ok(())
    }

    /// Grants `path` without hidden paths and paths with their own rule.
    fn walk(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), RulesetError> {
        let has_devices = path == Path::new("/");
        if !has_devices && !self.paths.hides_below(path) {
            return self.grant(path, rights);
        }
        let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_named = self.paths.there.iter().any(|rule| {
                rule.path == path && !matches!(rule.reach, Reach::Read | Reach::Others)
            });
            // The target of a link has its own rules.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !is_named && !is_link && path != Path::new("/dev") {
                self.walk(&path, rights)?;
            }
        }
        Ok(())
    }

    /// A path that cannot be opened gets no rule and stays inaccessible.
    fn grant(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), RulesetError> {
        let Ok(open) = PathFd::new(path) else { return Ok(()) };
        let is_folder = path.is_dir();
        let rights = if is_folder { rights } else { rights & AccessFs::from_file(OLDEST) };
        if let Some(ruleset) = self.ruleset.take() {
            self.ruleset = Some(ruleset.add_rule(PathBeneath::new(open, rights))?);
        }
        Ok(())
    }
}
