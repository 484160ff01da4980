//! Rules for files with Landlock.
//!
//! Landlock only grants. What is hidden is therefore left out: every folder above it is granted by
//! its entries, as they are now. A scratch folder is left out, too; one in another scratch folder is
//! granted and put back afterwards. Listing folders is granted everywhere, since no grant could be taken
//! away again below: the names of hidden files can be seen, their content cannot.

use std::os::fd::OwnedFd;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, BitFlags, CompatLevel, Compatible, PathBeneath, PathFd, Ruleset,
    RulesetAttr, RulesetCreated, RulesetCreatedAttr, RulesetError, Scope,
};
use onloop_core::effect::{Failure, Reach};

use super::impossible;
use super::places::Places;

/// The oldest version that closes abstract sockets, signals and the controls of devices.
const OLDEST: ABI = ABI::V6;

/// Devices without memory, and terminals, whose own permissions decide.
const DEVICES: [&str; 8] = ["null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts"];

/// Rules for abstract sockets and signals only; `None` on a kernel that has none.
pub(super) fn scopes() -> Option<OwnedFd> {
    let ruleset = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    ruleset.scope(Scope::from_all(OLDEST)).ok()?.create().ok()?.into()
}

/// Rules for files, abstract sockets and signals.
pub(super) fn files(places: &Places) -> Result<OwnedFd, Failure> {
    let too_old = |_: RulesetError| {
        impossible("it takes Linux 6.12 or newer with Landlock, or the program `bwrap`")
    };
    let ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(OLDEST))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(OLDEST)))
        .and_then(|ruleset| ruleset.create())
        .map_err(too_old)?;
    let mut grants = Grants { ruleset: Some(ruleset), places };
    grants.all().map_err(|error| impossible(format_args!("Landlock: {error}")))?;
    for place in &places.there {
        if place.reach == Reach::Write && places.hides_below(&place.path) {
            return Err(impossible(format_args!(
                "Landlock cannot hide what is in `{}`, which may be written",
                place.path.display()
            )));
        }
    }
    let rules = grants.ruleset.and_then(Option::<OwnedFd>::from);
    rules.ok_or_else(|| impossible("Landlock has no rules"))
}

struct Grants<'a> {
    ruleset: Option<RulesetCreated>,
    places: &'a Places,
}

impl Grants<'_> {
    fn all(&mut self) -> Result<(), RulesetError> {
        self.grant(Path::new("/"), AccessFs::ReadDir.into())?;
        self.walk(Path::new("/"), AccessFs::from_read(OLDEST))?;
        for device in DEVICES {
            let rights = AccessFs::from_file(OLDEST) & !AccessFs::Execute;
            self.grant(&Path::new("/dev").join(device), rights)?;
        }
        for place in &self.places.there {
            match place.reach {
                Reach::Write => self.walk(&place.path, AccessFs::from_all(OLDEST))?,
                Reach::Scratch if self.places.is_inner_scratch(place) => {
                    self.walk(&place.path, AccessFs::from_all(OLDEST))?;
                }
                Reach::Read | Reach::Others => match self.places.around(&place.path) {
                    Reach::Hidden | Reach::Scratch => {
                        self.walk(&place.path, AccessFs::from_read(OLDEST))?;
                    }
                    Reach::Write | Reach::Read | Reach::Others => {}
                },
                Reach::Scratch | Reach::Hidden => {}
            }
        }
        Ok(())
    }

    /// Grants everything at `path` but what is hidden there, and what is named by itself.
    fn walk(&mut self, path: &Path, rights: BitFlags<AccessFs>) -> Result<(), RulesetError> {
        let has_devices = path == Path::new("/");
        if !has_devices && !self.places.hides_below(path) {
            return self.grant(path, rights);
        }
        let Ok(entries) = std::fs::read_dir(path) else { return Ok(()) };
        for entry in entries.flatten() {
            let path = entry.path();
            let is_named = self.places.there.iter().any(|place| {
                place.path == path && !matches!(place.reach, Reach::Read | Reach::Others)
            });
            // What a link leads to has rules of its own.
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if !is_named && !is_link && path != Path::new("/dev") {
                self.walk(&path, rights)?;
            }
        }
        Ok(())
    }

    /// What cannot be opened has no rule, and cannot be reached then.
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
