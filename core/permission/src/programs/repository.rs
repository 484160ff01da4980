//! Commands of git that change the repository itself.

use super::super::judge::git;
use super::Class::{
    Changes, Connects, Deletes, Discards, Fetches, Publishes, Reads, Records, Rewires, Runs,
};
use super::Role::{Data, List, Read, Write};
use super::{ProgramEntry, attached, makes, makes_with, plain, program, takes};

/// Commands of git-flow that push, or do with an option or a setting.
const FLOW: &[ProgramEntry] =
    &[program("publish finish delete", Publishes, "pushes branches").any_options()];

pub(super) const COMMANDS: &[ProgramEntry] = &[
    program("branch", Records, "makes and deletes branches")
        .options(&[
            attached("--contains --no-contains --merged --no-merged --color --column --abbrev"),
            takes("--points-at --sort --format", Data),
            plain("--list -l -a --all -r --remotes -v -vv --verbose --show-current -q --quiet"),
            plain("--ignore-case --omit-empty --no-color --no-column -i"),
            plain("-d --delete"),
            makes("-D", Discards),
            makes("-f --force -M -C", Changes),
            makes("-m --move -c --copy --edit-description --unset-upstream", Changes),
            makes_with("-u --set-upstream-to", Data, Changes),
            attached("--track"),
            plain("-t --no-track"),
        ])
        .operands(&[Data])
        .check(git::branch),
    program("tag", Changes, "makes and deletes tags").any_options().check(git::listing),
    program("worktree", Changes, "makes and removes other checkouts").subcommands(&[
        program("list", Reads, "lists checkouts").options(&[plain("--porcelain -v --verbose -z")]),
        program("add", Rewires, "makes another checkout").operands(&[List, Data]).any_options(),
        program("remove", Deletes, "removes a checkout")
            .options(&[makes("-f --force", Discards)])
            .operands(&[List]),
        program("prune lock unlock move repair", Rewires, "changes other checkouts").any_options(),
    ]),
    program("config", Rewires, "changes what git runs").any_options().check(git::config),
    program("remote", Rewires, "changes where commits go")
        .options(&[plain("-v --verbose")])
        .check(git::remote),
    program("submodule", Fetches, "fetches other repositories into this one")
        .any_options()
        .check(git::nested_listing),
    program("notes bisect", Changes, "changes the repository")
        .any_options()
        .check(git::nested_listing),
    program("bundle sparse-checkout", Changes, "changes the repository").any_options(),
    program("flow", Changes, "works with branches by a scheme")
        .any_options()
        .subcommands(FLOW)
        .more_subcommands(&[&[program("feature bugfix release hotfix support", Changes, "works")
            .any_options()
            .subcommands(FLOW)
            .otherwise(Changes)]])
        .otherwise(Changes),
    program("lfs", Connects, "fetches and sends large files").any_options(),
    program("filter-branch filter-repo update-ref replace", Discards, "rewrites history")
        .any_options(),
    program("gc", Changes, "tidies the object store")
        .options(&[makes_with("--prune", Data, Discards)])
        .any_options(),
    program("prune prune-packed", Discards, "forgets objects").any_options(),
    program("repack fsck maintenance pack-refs", Changes, "tidies the object store").any_options(),
    program("am apply init format-patch archive", Changes, "changes the repository")
        .any_options()
        .operands(&[Read])
        .options(&[takes("-o --output --output-directory", Write)]),
    program("update-index read-tree write-tree commit-tree", Rewires, "changes the index")
        .any_options(),
    program("clone", Fetches, "fetches another repository")
        .operands(&[Data, Write])
        .check(git::clone)
        .options(&[
            makes_with("-u --upload-pack -c --config --template -o --origin", Data, Runs),
            takes("-b --branch --depth -j --jobs --filter --shallow-since", Data),
            plain("-q --quiet -v --single-branch --no-tags --recurse-submodules --bare -n"),
        ])
        .any_options(),
    program(
        "symbolic-ref mergetool difftool send-email instaweb daemon credential http-backend",
        Connects,
        "changes the repository or talks to others",
    )
    .any_options(),
];
