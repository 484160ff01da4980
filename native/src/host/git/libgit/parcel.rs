//! What a push sends, as a pack: the objects of new commits that the other side has not.

use std::collections::BTreeSet;
use std::ops::Deref;

use git2::{Buf, Error, ObjectType, Odb, Oid, Repository, Tree};

/// Most objects of one pack that is made here: git itself keeps so many apart where they arrive, and it
/// reads larger ones piece by piece.
const OBJECTS_MAX: usize = 100;
/// Most bytes of those objects.
const BYTES_MAX: usize = 4 * 1024 * 1024;

/// The pack that takes `commits` to a repository which has `known` ones with everything below them; `None`:
/// it is much, or not all of it is here, so that git itself has to make it.
pub(in super::super) fn parcel(
    repository: &Repository,
    commits: impl IntoIterator<Item = Oid>,
    known: &BTreeSet<Oid>,
) -> Option<Vec<u8>> {
    packed(repository, commits, known).ok()
}

fn packed(
    repository: &Repository,
    commits: impl IntoIterator<Item = Oid>,
    known: &BTreeSet<Oid>,
) -> Result<Vec<u8>, Error> {
    let (objects, odb) = (BTreeSet::new(), repository.odb()?);
    let mut parcel = Parcel { repository, odb, objects, bytes: 0 };
    let mut commits: Vec<Oid> = commits.into_iter().collect();
    while let Some(id) = commits.pop() {
        if known.contains(&id) || !parcel.take(id)? {
            continue;
        }
        let commit = repository.find_commit(id)?;
        // Its parents are there, or go along.
        let before = commit.parents().next().map(|parent| parent.tree()).transpose()?;
        parcel.take_tree(&commit.tree()?, before.as_ref())?;
        commits.extend(commit.parent_ids());
    }
    let mut pack = repository.packbuilder()?;
    pack.set_threads(1);
    for id in parcel.objects {
        pack.insert_object(id, None)?;
    }
    let mut bytes = Buf::new();
    pack.write_buf(&mut bytes)?;
    Ok(bytes.deref().to_vec())
}

struct Parcel<'r> {
    repository: &'r Repository,
    odb: Odb<'r>,
    objects: BTreeSet<Oid>,
    bytes: usize,
}

impl Parcel<'_> {
    /// Whether the object was not in it yet.
    fn take(&mut self, id: Oid) -> Result<bool, Error> {
        if !self.objects.insert(id) {
            return Ok(false);
        }
        self.bytes += self.odb.read_header(id)?.0;
        if self.objects.len() > OBJECTS_MAX || self.bytes > BYTES_MAX {
            return Err(Error::from_str("too much for one that is made at once"));
        }
        Ok(true)
    }

    /// Takes a tree with all that is below it, but for what `before` has at the same name.
    fn take_tree(&mut self, tree: &Tree<'_>, before: Option<&Tree<'_>>) -> Result<(), Error> {
        if before.is_some_and(|before| before.id() == tree.id()) || !self.take(tree.id())? {
            return Ok(());
        }
        for entry in tree {
            let same = before.and_then(|before| before.get_name_bytes(entry.name_bytes()));
            if same.as_ref().is_some_and(|same| same.id() == entry.id()) {
                continue;
            }
            match entry.kind() {
                Some(ObjectType::Tree) => {
                    let same = same.filter(|same| same.kind() == Some(ObjectType::Tree));
                    let same = same.map(|same| self.repository.find_tree(same.id())).transpose()?;
                    self.take_tree(&self.repository.find_tree(entry.id())?, same.as_ref())?;
                }
                Some(ObjectType::Blob) => drop(self.take(entry.id())?),
                // The commit of a repository inside this one is not in this one.
                _ => {}
            }
        }
        Ok(())
    }
}
