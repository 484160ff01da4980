//! gh.

use super::super::judge::forge;
use super::Class::{
    Changes, Connects, Discards, Fetches, Installs, Publishes, Queries, Reports, Reveals, Rewires,
    Runs,
};
use super::Role::{Data, Read, Text, Write};
use super::{Flag, ProgramEntry, makes, makes_with, plain, program, takes};

/// Where the options come from.
pub(super) const SOURCE: &str = "manual of gh 2.63 (cli.github.com/manual)";

/// What commands that show things have in common; a letter means one thing in all of them.
const SHOWN: &[Flag] =
    &[takes("-R --repo -q --jq -t --template --json", Data), makes("-w --web", Connects)];

const LISTS: &[Flag] = &[
    takes(
        "-R --repo -q --jq -t --template --json -L --limit -S --search --order --sort --owner \
         --format",
        Data,
    ),
    plain("--closed --archived --no-archived"),
    makes("-w --web", Connects),
];

/// What chooses issues and pull requests; other lists read the letters otherwise.
const CHOSEN: &[Flag] = &[
    takes(
        "-s --state -a --assignee -A --author -l --label -m --milestone --mention --app -B --base \
         -H --head",
        Data,
    ),
    plain("-d --draft"),
];

const fn shows(names: &'static str, about: &'static str) -> ProgramEntry {
    program(names, Queries, about).options(SHOWN).check(forge::forge_query)
}

const fn lists(names: &'static str, about: &'static str) -> ProgramEntry {
    program(names, Queries, about).options(LISTS).check(forge::forge_query)
}

const fn publishes(names: &'static str, about: &'static str) -> ProgramEntry {
    program(names, Publishes, about).any_options()
}

/// Files that a run or a release has.
const DOWNLOADS: ProgramEntry = program("download", Fetches, "downloads files")
    .options(&[
        takes("-D --dir -O --output", Write),
        takes("-R --repo -n --name -p --pattern -A --archive", Data),
        plain("--clobber --skip-existing"),
    ])
    .check(forge::fetches);

/// Commands that change what others use, but for some that only show it.
const fn of_others(names: &'static str, shown: &'static [ProgramEntry]) -> ProgramEntry {
    program(names, Publishes, "changes what others use").subcommands(shown).otherwise(Publishes)
}

const PULL_REQUESTS: &[ProgramEntry] = &[
    shows("view", "shows a pull request").more_options(&[plain("-c --comments")]),
    shows("checks", "shows the checks of a pull request")
        .more_options(&[takes("-i --interval", Data), plain("--fail-fast --required --watch")]),
    shows("diff", "shows the changes of a pull request")
        .more_options(&[takes("--color", Data), plain("--name-only --patch")]),
    shows("status", "shows pull requests").more_options(&[plain("-c --conflict-status")]),
    lists("list", "lists pull requests").more_options(CHOSEN),
    program("create new", Reports, "opens a pull request").check(forge::create).options(&[
        takes("-b --body -t --title", Text),
        takes(
            "-a --assignee -B --base -H --head -l --label -m --milestone -p --project -r \
             --reviewer",
            Data,
        ),
        takes("-F --body-file -T --template", Read),
        makes_with("-R --repo", Data, Publishes),
        makes_with("--recover", Read, Reveals),
        makes("-w --web", Connects),
        plain(
            "-d --draft --dry-run -e --editor -f --fill --fill-first --fill-verbose \
                 --no-maintainer-edit",
        ),
    ]),
    // It puts commits of others into the tree.
    program("checkout co", Changes, "checks out a pull request")
        .options(&[
            takes("-R --repo -b --branch", Data),
            plain("--detach"),
            makes("-f --force --recurse-submodules", Rewires),
        ])
        .check(forge::fetches),
    publishes(
        "merge close reopen edit comment review ready lock unlock revert update-branch",
        "changes pull requests",
    )
    .options(&[takes("-F --body-file", Read)]),
];

const ISSUES: &[ProgramEntry] = &[
    shows("view", "shows an issue").more_options(&[plain("-c --comments")]),
    shows("status", "shows issues"),
    lists("list", "lists issues").more_options(CHOSEN),
    program("create new", Reports, "opens an issue").check(forge::create).options(&[
        takes("-b --body -t --title", Text),
        takes("-a --assignee -l --label -m --milestone -p --project", Data),
        takes("-F --body-file", Read),
        // The name of a template of the repository, not of a file.
        takes("-T --template", Data),
        makes_with("-R --repo", Data, Publishes),
        makes_with("--recover", Read, Reveals),
        makes("-w --web", Connects),
        plain("-e --editor"),
    ]),
    publishes(
        "edit close comment reopen delete transfer lock unlock pin unpin develop",
        "changes issues",
    )
    .options(&[
        takes("-F --body-file", Read),
        takes("-t --title -b --body -R --repo -a --assignee -l --label -m --milestone", Data),
    ])
    .check(forge::issue_edit),
];

const RUNS: &[ProgramEntry] = &[
    program("view", Queries, "shows a workflow run")
        .options(&[
            takes("-R --repo -q --jq -t --template --json -a --attempt -j --job", Data),
            plain("--exit-status --log --log-failed -v --verbose"),
            makes("-w --web", Connects),
        ])
        .check(forge::forge_query),
    program("list", Queries, "lists workflow runs")
        .options(&[
            takes(
                "-R --repo -q --jq -t --template --json -b --branch -c --commit --created -e \
                 --event -L --limit -s --status -u --user -w --workflow",
                Data,
            ),
            plain("-a --all"),
        ])
        .check(forge::forge_query),
    program("watch", Queries, "waits for a workflow run")
        .options(&[takes("-R --repo -i --interval", Data), plain("--exit-status --compact")])
        .check(forge::forge_query),
    DOWNLOADS,
    publishes("cancel delete rerun", "changes workflow runs"),
];

const SEARCHES: &[ProgramEntry] =
    &[program("issues prs repos code commits", Queries, "searches GitHub")
        .options(&[
            takes(
                "-q --jq -t --template --json -L --limit --app --assignee --author --closed \
                 --commenter --comments --created --extension --filename --hash --head -H --base -B \
                 --interactions --involves --label --language --license --match --mentions \
                 --merged-at --milestone --order --owner --project --reactions --repo -R \
                 --review --review-requested --reviewed-by --size --sort --stars --state \
                 --topic --updated --user --visibility --author-date --committer",
                Data,
            ),
            plain("--archived --draft --include-prs --locked --merged --no-assignee --no-label"),
            makes("-w --web", Connects),
        ])
        .check(forge::forge_query)];

/// The clients of GitLab and Phabricator. What does not only show something changes what others use.
const OTHERS: [ProgramEntry; 2] = [
    program("glab", Runs, "GitLab")
        .any_options()
        .options(&[takes("-R --repo", Data)])
        .subcommands(&[
            program(
                "mr issue ci pipe pipeline job label milestone incident iteration user snippet",
                Runs,
                "works with GitLab",
            )
            .any_options()
            .options(&[takes("-R --repo", Data)])
            .subcommands(&[program(
                "list ls view show diff status get trace lint config artifact events checkout",
                Runs,
                "shows what is on GitLab",
            )
            .any_options()])
            .otherwise(Publishes),
            program("version help completion changelog", Runs, "helps").any_options(),
        ])
        .otherwise(Publishes),
    program("arc", Runs, "Phabricator")
        .any_options()
        .subcommands(&[program(
            "lint unit list tasks which cover inlines export patch liberate get-config help version",
            Runs,
            "checks the project",
        )
        .any_options()])
        .otherwise(Publishes),
];

pub(super) const TABLE: &[ProgramEntry] = &[
    OTHERS[0],
    OTHERS[1],
    program("gh", Reports, "GitHub")
        .options(&[plain("--version"), takes("-R --repo", Data)])
        .check(forge::outer)
        .subcommands(&[
            program("search", Reports, "searches GitHub").subcommands(SEARCHES),
            program("run", Reports, "workflow runs").subcommands(RUNS),
            program("pr", Reports, "pull requests").subcommands(PULL_REQUESTS),
            program("issue", Reports, "issues").subcommands(ISSUES),
            program("label", Reports, "labels").subcommands(&[
                lists("list", "shows labels"),
                publishes("create edit delete clone", "changes labels").check(forge::label),
            ]),
            program("project", Reports, "projects").subcommands(&[
                lists("list field-list view item-list", "shows projects"),
                publishes(
                    "create edit delete item-add item-create item-edit item-delete item-archive \
                 field-create field-delete link unlink close copy mark-template",
                    "changes projects",
                ),
            ]),
            program("repo", Connects, "repositories").subcommands(&[
                shows("view", "shows a repository").more_options(&[takes("-b --branch", Data)]),
                lists("list", "lists repositories").more_options(&[
                    takes("-l --language --topic --visibility", Data),
                    plain("--fork --source"),
                ]),
                program("delete archive", Discards, "ends repositories").any_options(),
                publishes(
                    "create edit rename fork clone sync deploy-key set-default unarchive autolink",
                    "changes repositories",
                ),
            ]),
            program("release", Reports, "releases").subcommands(&[
                shows("view", "shows a release"),
                lists("list", "lists releases"),
                DOWNLOADS,
                publishes("create delete edit upload delete-asset", "changes releases"),
            ]),
            program("workflow", Reports, "workflows").subcommands(&[
                shows("view", "shows a workflow"),
                lists("list", "lists workflows").more_options(&[plain("-a --all")]),
                publishes("run enable disable", "starts or stops workflows"),
            ]),
            program("auth", Reveals, "credentials").any_options().check(forge::auth),
            program("api", Connects, "sends any request to GitHub").any_options().check(forge::api),
            shows("status", "shows what is to be done")
                .more_options(&[takes("-e --exclude -o --org", Data)]),
            of_others(
                "cache",
                &[lists("list ls", "lists caches")
                    .more_options(&[takes("-O -r --ref -k --key", Data)])],
            ),
            of_others(
                "variable",
                &[lists("list ls get", "shows variables")
                    .more_options(&[takes("-e --env -o --org", Data)])],
            ),
            of_others(
                "ruleset rs",
                &[lists("list ls view check", "shows rules of branches")
                    .more_options(&[takes("-o --org", Data), plain("-p --parents --default")])],
            ),
            of_others(
                "gist",
                &[lists("list ls", "lists gists")
                    .more_options(&[takes("--filter", Data), plain("--public --secret")])],
            ),
            publishes(
                "codespace gpg-key ssh-key org browse attestation",
                "changes what others use",
            ),
            program("secret", Reveals, "secrets of repositories").any_options(),
            program("alias extension config", Installs, "changes what gh itself runs")
                .any_options(),
        ]),
];
