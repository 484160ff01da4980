//! git and gh.

use super::Class::{
    Changes, Connects, Deletes, Discards, Prints, Publishes, Reads, Records, Reports, Reveals,
    Runs, Wraps,
};
use super::Role::{Data, Object, Read, Refused, Write};
use super::{ArgCheck, Flag, ProgramEntry, attached, makes, makes_with, plain, program, takes};

/// What `diff`, `log`, `show` and their kin have in common.
const HISTORY: &[Flag] = &[
    takes(&["--output"], Write),
    makes(&["--ext-diff", "--textconv"], Runs),
    makes_with(&["-O", "--open-files-in-pager"], Data, Runs),
    makes(&["--no-index"], Reveals),
    makes_with(&["--contents"], Read, Reveals),
    plain(&[
        "--text",
        "--no-ext-diff",
        "--no-textconv",
        "--oneline",
        "--count",
        "--contains",
        "--no-contains",
        "--continue",
    ]),
    takes(
        &[
            "-n",
            "--max-count",
            "-L",
            "-S",
            "-G",
            "--grep",
            "--author",
            "--committer",
            "--since",
            "--until",
            "--after",
            "--before",
            "--format",
            "--skip",
            "-U",
            "--unified",
            "--inter-hunk-context",
            "--diff-filter",
            "--stat-width",
            "--date",
        ],
        Data,
    ),
];

const PR_OPTIONS: &[Flag] = &[
    takes(&["-F", "--body-file", "--template"], Read),
    takes(
        &[
            "-t",
            "--title",
            "-b",
            "--body",
            "-B",
            "--base",
            "-H",
            "--head",
            "-l",
            "--label",
            "-a",
            "--assignee",
            "-r",
            "--reviewer",
            "-m",
            "--milestone",
            "-p",
            "--project",
            "-R",
            "--repo",
            "-L",
            "--limit",
            "-s",
            "--state",
            "-S",
            "--search",
            "--json",
            "-q",
            "--jq",
            "-A",
            "--author",
            "--owner",
            "--job",
            "--workflow",
            "-w",
            "--branch",
            "--status",
            "--event",
            "--user",
            "-e",
            "--format",
            "-c",
            "--commit",
            "-i",
            "--interval",
            "--app",
            "--mention",
            "--sort",
            "--order",
            "--language",
            "--color",
            "-d",
            "--description",
            "--attempt",
            "-T",
            "--recover",
            "--type",
            "--match",
            "--visibility",
        ],
        Data,
    ),
    plain(&[
        "--draft",
        "--fill",
        "--fill-first",
        "--fill-verbose",
        "--dry-run",
        "--comments",
        "--name-only",
        "--patch",
        "--watch",
        "--required",
        "--fail-fast",
        "--exit-status",
        "--log",
        "--log-failed",
        "--verbose",
        "-v",
        "--no-maintainer-edit",
        "--closed",
        "--all",
    ]),
    makes(&["--web"], Connects),
];

const fn forge(names: &'static [&'static str], about: &'static str) -> ProgramEntry {
    program(names, Reports, about)
        .options(PR_OPTIONS)
        .only_these_options()
        .check(ArgCheck::ForgeQuery)
}

const SUBCOMMANDS: &[ProgramEntry] = &[
    program(&["status"], Reads, "shows what changed").operands(&[Object]).options(HISTORY),
    program(&["diff"], Reads, "compares versions").operands(&[Object]).options(HISTORY),
    program(&["log", "whatchanged"], Reads, "shows history").operands(&[Object]).options(HISTORY),
    program(&["show"], Reads, "shows commits and files").operands(&[Object]).options(HISTORY),
    program(
        &["shortlog", "rev-list", "diff-tree", "ls-tree", "cherry", "range-diff"],
        Reads,
        "shows history",
    )
    .operands(&[Object])
    .options(HISTORY),
    program(&["blame", "annotate"], Reads, "shows who wrote a line")
        .operands(&[Object])
        .options(HISTORY),
    program(&["grep"], Reads, "searches tracked files").operands(&[Data, Object]).options(HISTORY),
    program(
        &[
            "rev-parse",
            "describe",
            "merge-base",
            "name-rev",
            "show-ref",
            "show-branch",
            "check-ignore",
            "var",
            "version",
            "for-each-ref",
            "diff-index",
            "diff-files",
        ],
        Reads,
        "answers questions about commits",
    )
    .operands(&[Object])
    .options(HISTORY),
    program(&["ls-files"], Reads, "lists tracked files")
        .operands(&[Data])
        .options(&[takes(&["-X", "--exclude-from"], Read), takes(&["-x", "--exclude"], Data)]),
    program(&["cat-file"], Reads, "shows an object")
        .operands(&[Object])
        .options(&[makes(&["--textconv", "--filters"], Runs), plain(&["-p", "-t", "-s", "-e"])])
        .only_these_options(),
    program(&["reflog"], Reads, "shows where branches were")
        .options(HISTORY)
        .check(ArgCheck::Reflog),
    program(&["branch"], Changes, "makes, renames and deletes branches").check(ArgCheck::Listing),
    program(&["tag"], Changes, "makes and deletes tags").check(ArgCheck::Listing),
    program(
        &[
            "worktree",
            "stash",
            "remote",
            "config",
            "submodule",
            "notes",
            "bisect",
            "bundle",
            "sparse-checkout",
            "lfs",
            "flow",
        ],
        Changes,
        "changes the repository",
    )
    .check(ArgCheck::NestedListing),
    program(&["add", "stage"], Records, "stages changes")
        .operands(&[Read])
        .options(&[
            makes_with(&["--pathspec-from-file"], Read, Reveals),
            plain(&[
                "-A",
                "--all",
                "-u",
                "--update",
                "-n",
                "--dry-run",
                "-v",
                "--verbose",
                "-p",
                "--patch",
                "-N",
                "--intent-to-add",
                "-f",
                "--force",
                "--renormalize",
                "--no-all",
                "--refresh",
                "--ignore-errors",
            ]),
            takes(&["--chmod"], Data),
        ])
        .only_these_options(),
    program(&["commit"], Records, "commits what is staged")
        .operands(&[Read])
        .options(&[
            takes(
                &[
                    "-m",
                    "--message",
                    "--author",
                    "--date",
                    "-C",
                    "--reuse-message",
                    "--fixup",
                    "--squash",
                    "--cleanup",
                    "--trailer",
                ],
                Data,
            ),
            takes(&["-F", "--file", "-t", "--template"], Read),
            plain(&[
                "-a",
                "--all",
                "--amend",
                "--no-edit",
                "-q",
                "--quiet",
                "-v",
                "--verbose",
                "-s",
                "--signoff",
                "--no-signoff",
                "--allow-empty",
                "--allow-empty-message",
                "-p",
                "--patch",
                "--dry-run",
                "--short",
                "--porcelain",
                "--status",
                "--no-status",
                "--only",
                "-o",
                "--include",
                "-i",
                "--reset-author",
            ]),
            makes(&["-n", "--no-verify"], Changes),
            makes(&["-S", "--gpg-sign"], Changes),
        ])
        .only_these_options(),
    program(&["rm"], Records, "removes tracked files")
        .operands(&[Write])
        .options(&[
            plain(&["--cached", "-r", "-n", "--dry-run", "-q", "--quiet", "--ignore-unmatch"]),
            makes(&["-f", "--force"], Deletes),
        ])
        .only_these_options(),
    program(&["fetch"], Records, "fetches from the project's remotes")
        .options(&[
            plain(&[
                "-p",
                "--prune",
                "--all",
                "-t",
                "--tags",
                "--no-tags",
                "-q",
                "--quiet",
                "-v",
                "--verbose",
                "--unshallow",
                "--progress",
                "--dry-run",
                "-n",
            ]),
            takes(&["--depth", "--deepen", "-j", "--jobs"], Data),
        ])
        .only_these_options()
        .check(ArgCheck::Fetch),
    program(&["rebase"], Records, "puts the branch on top of the main one")
        .options(&[
            plain(&[
                "--continue",
                "--abort",
                "-q",
                "--quiet",
                "-v",
                "--verbose",
                "--stat",
                "--no-stat",
                "--autosquash",
                "--no-autosquash",
                "--autostash",
            ]),
            makes_with(&["-x", "--exec"], Data, Runs),
        ])
        .only_these_options()
        .check(ArgCheck::Rebase),
    program(&["push"], Records, "sends commits to a remote")
        .options(&[
            plain(&[
                "-u",
                "--set-upstream",
                "-q",
                "--quiet",
                "-v",
                "--verbose",
                "--progress",
                "--porcelain",
                "--no-force-with-lease",
                "--thin",
                "--no-thin",
                "-n",
                "--dry-run",
                "--follow-tags",
                "--atomic",
                "--verify",
                "-4",
                "-6",
                "--ipv4",
                "--ipv6",
                "-f",
                "--force",
                "--force-if-includes",
            ]),
            Flag {
                names: &["--force-with-lease"],
                takes: super::Takes::Attached(Data),
                makes: None,
            },
            makes(&["-d", "--delete", "--mirror", "--prune"], Discards),
            makes(&["--all", "--branches", "--tags"], Publishes),
            makes(&["--no-verify"], Changes),
            makes_with(
                &[
                    "--receive-pack",
                    "--exec",
                    "-o",
                    "--push-option",
                    "--repo",
                    "--recurse-submodules",
                    "--signed",
                ],
                Data,
                Runs,
            ),
        ])
        .only_these_options()
        .check(ArgCheck::Push),
    program(&["reset", "restore"], Discards, "throws changes away"),
    program(&["clean"], Deletes, "deletes untracked files"),
    program(&["checkout", "switch"], Changes, "changes the checked out files")
        .check(ArgCheck::Checkout),
    program(
        &["filter-branch", "filter-repo", "update-ref", "replace"],
        Deletes,
        "rewrites history",
    ),
    program(&["gc", "prune", "repack", "fsck", "maintenance"], Changes, "tidies the object store"),
    program(
        &[
            "merge",
            "pull",
            "cherry-pick",
            "revert",
            "am",
            "apply",
            "mv",
            "init",
            "clone",
            "update-index",
            "archive",
            "format-patch",
            "read-tree",
            "write-tree",
            "commit-tree",
            "symbolic-ref",
            "mergetool",
            "difftool",
            "send-email",
            "instaweb",
            "daemon",
        ],
        Changes,
        "changes the repository",
    )
    .operands(&[Refused]),
];

pub(super) const TABLE: &[ProgramEntry] = &[
    program(&["git"], Reads, "version control")
        .options(&[
            takes(&["-C"], Data),
            makes_with(
                &[
                    "-c",
                    "--config-env",
                    "--exec-path",
                    "--git-dir",
                    "--work-tree",
                    "--namespace",
                    "--super-prefix",
                    "--attr-source",
                ],
                Data,
                Runs,
            ),
            makes(&["-p", "--paginate", "--bare"], Runs),
            plain(&[
                "-P",
                "--no-pager",
                "--no-optional-locks",
                "--literal-pathspecs",
                "--no-replace-objects",
                "--no-lazy-fetch",
                "--version",
            ]),
        ])
        .only_these_options()
        .subcommands(SUBCOMMANDS)
        .check(ArgCheck::GitOptions),
    program(&["gh"], Reports, "GitHub")
        .only_these_options()
        .options(&[plain(&["--version"]), takes(&["-R", "--repo"], Data)])
        .subcommands(&[
            program(&["search"], Reports, "searches GitHub").subcommands(&[forge(
                &["issues", "prs", "repos", "code", "commits"],
                "searches GitHub",
            )]),
            program(&["run"], Reports, "workflow runs")
                .subcommands(&[forge(&["view", "list"], "shows workflow runs")]),
            program(&["pr"], Reports, "pull requests").subcommands(&[
                forge(&["view", "checks", "list", "diff", "status"], "shows pull requests"),
                forge(&["create"], "opens a pull request"),
                program(
                    &[
                        "merge",
                        "close",
                        "reopen",
                        "edit",
                        "comment",
                        "review",
                        "ready",
                        "lock",
                        "checkout",
                        "revert",
                        "update-branch",
                    ],
                    Publishes,
                    "changes pull requests",
                )
                .options(PR_OPTIONS),
            ]),
            program(&["issue"], Reports, "issues").subcommands(&[
                forge(&["list", "view", "status"], "shows issues"),
                forge(&["create"], "opens an issue"),
                program(
                    &[
                        "edit", "close", "comment", "reopen", "delete", "transfer", "lock", "pin",
                        "develop",
                    ],
                    Publishes,
                    "changes issues",
                )
                .options(PR_OPTIONS)
                .check(ArgCheck::IssueEdit),
            ]),
            program(&["label"], Reports, "labels").subcommands(&[
                forge(&["list"], "shows labels"),
                program(&["create", "edit", "delete", "clone"], Publishes, "changes labels")
                    .check(ArgCheck::Label),
            ]),
            program(&["project"], Reports, "projects").subcommands(&[
                forge(&["list", "field-list", "view", "item-list"], "shows projects"),
                program(
                    &[
                        "create",
                        "edit",
                        "delete",
                        "item-add",
                        "item-edit",
                        "item-delete",
                        "field-create",
                        "link",
                        "close",
                        "copy",
                    ],
                    Publishes,
                    "changes projects",
                ),
            ]),
            program(&["repo"], Connects, "repositories").subcommands(&[
                program(&["view", "list"], Connects, "shows repositories")
                    .check(ArgCheck::RepositoryView),
                program(
                    &[
                        "delete",
                        "create",
                        "edit",
                        "rename",
                        "archive",
                        "fork",
                        "clone",
                        "sync",
                        "deploy-key",
                        "set-default",
                    ],
                    Publishes,
                    "changes repositories",
                ),
            ]),
            program(&["auth"], Reveals, "credentials").check(ArgCheck::ForgeAuth),
            program(&["api"], Connects, "sends any request to GitHub").check(ArgCheck::ForgeApi),
            program(
                &[
                    "release",
                    "gist",
                    "workflow",
                    "cache",
                    "codespace",
                    "gpg-key",
                    "ssh-key",
                    "ruleset",
                    "variable",
                    "org",
                    "browse",
                ],
                Publishes,
                "changes what others use",
            ),
            program(&["secret"], Reveals, "secrets of repositories"),
            program(&["alias", "extension", "config"], Runs, "changes what gh itself runs"),
        ]),
    program(&["hub", "glab", "tea", "jj", "hg", "svn"], Changes, "version control"),
    program(&["git-lfs"], Wraps, "large files").operands(&[Refused]),
    program(&["diffstat"], Prints, "counts changed lines")
        .operands(&[Read])
        .options(&[attached(&["-p"])]),
];
