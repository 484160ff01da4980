//! What verbs ask git, and what they read of a repository without it.

pub(crate) mod ancestors;
pub mod checkout;
pub mod hardened;
pub(crate) mod ignored;
pub mod import;
pub(crate) mod index;
pub(crate) mod inner_repositories;
pub mod known_to_git;
pub mod links;
pub(crate) mod owners;
pub mod remote_refs;
pub mod submodules;
pub mod untrusted_links;
