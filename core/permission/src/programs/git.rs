//! git.

use super::super::judge::{files, git};
use super::Class::{
    Changes, Connects, Deletes, Discards, Fetches, Prints, Publishes, Reads, Records, Reveals,
    Runs, Updates, Wraps,
};
use super::Role::{Data, List, Object, Read, Text, Write};
use super::repository;
use super::{Flag, ProgramEntry, attached, makes, makes_with, plain, program, takes};

/// Where the options come from.
pub(super) const SOURCE: &str = "git 2.47: --git-completion-helper-all, diff.c, revision.c";

/// What every command that shows differences takes; revision.c hands it on.
const DIFF: &[Flag] = &[
    takes("--output", Write),
    takes("-O", Read),
    makes("--ext-diff --textconv", Runs),
    makes("--no-index", Reveals),
    takes("-S -G", Text),
    takes(
        "-l -I --ignore-matching-lines --inter-hunk-context --diff-filter --diff-algorithm \
         --anchored --word-diff-regex --stat-width --stat-name-width --stat-graph-width \
         --stat-count --src-prefix --dst-prefix --line-prefix --output-indicator-new \
         --output-indicator-old --output-indicator-context --ws-error-highlight \
         --color-moved-ws --find-object --rotate-to --skip-to",
        Data,
    ),
    attached(
        "-U --unified --stat --dirstat --dirstat-by-file -X --cumulative --abbrev -B \
         --break-rewrites -M --find-renames -C --find-copies --word-diff --color-words --color \
         --color-moved --ignore-submodules --relative",
    ),
    plain(
        "-p -u --patch -s --no-patch -W --function-context --raw --patch-with-raw \
         --patch-with-stat --numstat --shortstat --check --summary --name-only --name-status \
         --compact-summary --binary --full-index -z --no-prefix --default-prefix -D \
         --irreversible-delete --find-copies-harder --no-renames --rename-empty \
         --no-rename-empty --follow --no-follow --minimal -w --ignore-all-space -b \
         --ignore-space-change --ignore-space-at-eol --ignore-cr-at-eol --ignore-blank-lines \
         --indent-heuristic --no-indent-heuristic --patience --histogram -a --text --no-text \
         --exit-code --quiet --no-quiet --pickaxe-all --pickaxe-regex -R --no-color \
         --no-ext-diff --no-textconv --no-relative --no-color-moved --no-abbrev \
         --no-function-context --no-full-index --ita-invisible-in-index \
         --ita-visible-in-index",
    ),
];

/// What chooses and shows commits.
const REVISIONS: &[Flag] = &[
    takes("--grep", Text),
    takes(
        "-n --max-count --skip --since --after --until --before --since-as-filter --author \
         --committer --grep-reflog --date --glob --exclude --exclude-hidden \
         --decorate-refs --decorate-refs-exclude",
        Data,
    ),
    // `1,9:file`.
    takes("-L", Object),
    attached(
        "--format --pretty --decorate --branches --tags --remotes --no-walk --ancestry-path \
         --notes --show-notes --encoding --expand-tabs --min-parents --max-parents --max-age \
         --min-age --disk-usage --diff-merges --dd --show-linear-break",
    ),
    plain(
        "--oneline --all --graph --no-graph --no-decorate --clear-decorations --source \
         --abbrev-commit --no-abbrev-commit --merges --no-merges --no-min-parents \
         --no-max-parents --first-parent --exclude-first-parent-only --not --reflog -g \
         --walk-reflogs --merge --boundary --simplify-by-decoration --simplify-merges \
         --full-history --dense --sparse --topo-order --date-order --author-date-order \
         --reverse --do-walk --children --parents --left-right --cherry-mark --cherry-pick \
         --cherry --left-only --right-only --relative-date --no-notes --no-standard-notes \
         --no-expand-tabs --log-size --all-match --invert-grep -i --regexp-ignore-case -E -F -P \
         --basic-regexp --extended-regexp --fixed-strings --perl-regexp --remove-empty -c --cc \
         --combined-all-paths -m -t --show-pulls --single-worktree --ignore-missing --bisect \
         --timestamp --header --count --objects --use-mailmap --no-use-mailmap --mailmap \
         --no-mailmap --no-diff-merges -q",
    ),
];

/// What merges, picks and reverts commits.
const MERGING: &[Flag] = &[
    takes("-m --message", Text),
    takes("-X --strategy-option --cleanup --into-name --mainline --empty", Data),
    takes("-F --file", Read),
    // A strategy is a program; a signature asks an agent for a key.
    makes_with("-s --strategy", Data, Runs),
    makes("-S --gpg-sign", Changes),
    makes("--no-verify", Changes),
    attached("--log --recurse-submodules --rebase"),
    plain(
        "-n --no-commit --commit -e --edit --no-edit --ff --no-ff --ff-only --squash --no-squash \
         --stat --no-stat --summary --no-summary --compact-summary --no-log --signoff \
         --no-signoff --autostash --no-autostash --abort --continue --quit --skip -q --quiet \
         --verbose -v --progress --no-progress --allow-unrelated-histories --rerere-autoupdate \
         --no-rerere-autoupdate --verify --overwrite-ignore --allow-empty \
         --allow-empty-message --keep-redundant-commits --reference --no-rebase -r -x \
         --no-gpg-sign --no-verify-signatures",
    ),
];

const HISTORY: &[ProgramEntry] = &[
    program("status", Reads, "shows what changed").operands(&[List]).options(&[
        attached(
            "--porcelain -u --untracked-files --ignored --ignore-submodules --column \
             --find-renames -M",
        ),
        plain(
            "-v --verbose -vv -s --short -b --branch --show-stash --ahead-behind \
             --no-ahead-behind --long -z --null --no-renames --renames --no-column",
        ),
    ]),
    program("diff", Reads, "compares versions")
        .operands(&[Object])
        .more_options(DIFF)
        .options(&[plain(
            "--cached --staged --merge-base -1 -2 -3 --base --ours --theirs -0 -c --cc -q --no-index",
        )])
        .check(git::diff),
    program("log whatchanged", Reads, "shows history")
        .operands(&[Object])
        .options(REVISIONS)
        .more_options(DIFF),
    program("show", Reads, "shows commits and files")
        .operands(&[Object])
        .options(REVISIONS)
        .more_options(DIFF),
    program("rev-list diff-tree diff-index diff-files range-diff", Reads, "shows history")
        .operands(&[Object])
        .options(REVISIONS)
        .more_options(DIFF),
    program("shortlog", Reads, "counts commits").operands(&[Object]).options(&[
        attached("-w --format --branches --tags --remotes"),
        takes("--group --since --after --until --before --author --grep --max-count", Data),
        plain("-n --numbered -s --summary -e --email -c --committer --all --no-merges -sn -sne"),
    ]),
    program("ls-tree", Reads, "lists files of a commit").operands(&[Object]).options(&[
        attached("--abbrev --format"),
        plain(
            "-d -r -t -l --long -z --name-only --name-status --object-only --full-name \
             --full-tree",
        ),
    ]),
    program("cherry", Reads, "shows what is not upstream")
        .operands(&[Object])
        .options(&[attached("--abbrev"), plain("-v --verbose")]),
    program("blame annotate", Reads, "shows who wrote a line")
        .operands(&[Object])
        .options(&[
            takes("-L --date --ignore-rev --since", Data),
            takes("--ignore-revs-file -S", Read),
            makes_with("--contents", Read, Reveals),
            attached("-M -C --abbrev"),
            plain(
                "-b --root --show-stats --progress --no-progress --score-debug -f --show-name -n \
                 --show-number -p --porcelain --line-porcelain --incremental -c -t -l -s -e \
                 --show-email -w --color-lines --color-by-age --minimal --first-parent --reverse",
            ),
        ])
        .check(git::opens_files),
    program("grep", Reads, "searches tracked files")
        .operands(&[Data, Object])
        .options(&[
            takes("-e", Text),
            takes("-f", Read),
            takes(
                "-A --after-context -B --before-context -C --context -m --max-count \
                 --max-depth --threads",
                Data,
            ),
            attached("--color"),
            makes_with("-O --open-files-in-pager", Data, Runs),
            makes("--ext-grep --textconv", Runs),
            makes("--no-index --untracked --no-exclude-standard", Reveals),
            plain(
                "--cached --recurse-submodules -v --invert-match -i --ignore-case -w \
                 --word-regexp -a --text --no-textconv -I -r --recursive --no-recursive -E \
                 --extended-regexp -G --basic-regexp -F --fixed-strings -P --perl-regexp -n \
                 --line-number --no-line-number --column -h -H --full-name -l \
                 --files-with-matches --name-only -L --files-without-match -z --null -o \
                 --only-matching -c --count --no-color --break --heading -p --show-function -W \
                 --function-context --and --or --not -q --quiet --all-match -x",
            ),
        ])
        .check(git::opens_files),
    program("rev-parse", Reads, "answers questions about commits").operands(&[Object]).options(&[
        takes("--default --prefix --git-path", Data),
        takes("--resolve-git-dir", Read),
        attached(
            "--short --abbrev-ref --disambiguate --branches --tags --remotes --glob --exclude \
             --since --after --until --before --show-object-format --path-format",
        ),
        plain(
            "--verify -q --quiet --symbolic --symbolic-full-name --all --revs-only --no-revs \
             --flags --no-flags --not --is-inside-work-tree --is-inside-git-dir \
             --is-bare-repository --is-shallow-repository --show-toplevel --show-cdup \
             --show-prefix --git-dir --git-common-dir --absolute-git-dir \
             --show-superproject-working-tree --shared-index-path --local-env-vars",
        ),
    ]),
    program("describe", Reads, "names a commit").operands(&[Object]).options(&[
        takes("--candidates --match --exclude", Data),
        attached("--abbrev --dirty --broken"),
        plain("--contains --debug --all --tags --long --first-parent --exact-match --always"),
    ]),
    program("merge-base name-rev", Reads, "answers questions about commits")
        .operands(&[Object])
        .options(&[
            takes("--refs --exclude", Data),
            plain(
                "-a --all --octopus --independent --is-ancestor --fork-point --name-only --tags \
                 --undefined --always --no-undefined",
            ),
        ]),
    program("show-ref show-branch", Reads, "shows branches").operands(&[Object]).options(&[
        attached("-s --hash --abbrev --exclude-existing --color --more -g --reflog"),
        plain(
            "--tags --branches --heads --exists --verify --head -d --dereference -q --quiet -a \
             --all -r --remotes --list --no-name --current --sha1-name --merge-base \
             --independent --topo-order --topics --sparse --date-order --no-color",
        ),
    ]),
    program("for-each-ref", Reads, "lists branches and tags").operands(&[Data]).options(&[
        takes("--count --format --exclude --sort --points-at", Data),
        attached("--color --merged --no-merged --contains --no-contains"),
        plain("-s --shell -p --perl --python --tcl --omit-empty --ignore-case"),
    ]),
    program("check-ignore check-attr check-ref-format var version", Reads, "answers a question")
        .operands(&[List])
        .options(&[plain(
            "-q --quiet -v --verbose -n --non-matching --no-index -z -a --all --cached \
             --build-options --branch --allow-onelevel --normalize",
        )]),
    program("ls-files", Reads, "lists tracked files").operands(&[List]).options(&[
        takes("-X --exclude-from --exclude-per-directory", Read),
        takes("-x --exclude --with-tree --format", Data),
        attached("--abbrev"),
        plain(
            "-c --cached -d --deleted -m --modified -o --others -i --ignored -s --stage -k \
             --killed --directory --no-empty-directory --eol -u --unmerged --resolve-undo -z -t \
             -v -f --exclude-standard --full-name --recurse-submodules --error-unmatch --debug \
             --deduplicate --sparse",
        ),
    ]),
    program("ls-remote", Fetches, "lists branches of a remote")
        .operands(&[Data])
        .options(&[
            makes_with("--upload-pack --exec -o --server-option", Data, Runs),
            takes("--sort", Data),
            plain("-h --heads -t --tags --branches --refs -q --quiet --exit-code --symref"),
        ])
        .check(git::fetch),
    program("cat-file", Reads, "shows an object")
        .operands(&[Object])
        .options(&[makes("--textconv --filters", Runs), plain("-p -t -s -e --allow-unknown-type")]),
    program("count-objects", Reads, "counts objects")
        .options(&[plain("-v --verbose -H --human-readable")]),
    program("reflog", Reads, "shows where branches were")
        .options(REVISIONS)
        .more_options(DIFF)
        .check(git::reflog),
];

const RECORDING: &[ProgramEntry] = &[
    program("add stage", Records, "stages changes").operands(&[Read]).options(&[
        makes_with("--pathspec-from-file", Read, Reveals),
        plain(
            "-A --all -u --update -n --dry-run -v --verbose -p --patch -N --intent-to-add -f \
             --force --renormalize --no-all --refresh --ignore-errors --sparse",
        ),
        takes("--chmod", Data),
    ])
    .check(git::stage),
    program("commit", Records, "commits what is staged").operands(&[Read]).options(&[
        takes("-m --message", Text),
        takes(
            "--author --date -C --reuse-message --fixup --squash --cleanup --trailer",
            Data,
        ),
        takes("-F --file -t --template", Read),
        makes_with("--pathspec-from-file", Read, Reveals),
        attached("-u --untracked-files"),
        plain(
            "-a --all --amend --no-edit -q --quiet -v --verbose -s --signoff --no-signoff \
             --allow-empty --allow-empty-message -p --patch --dry-run --short --porcelain \
             --status --no-status --only -o --include -i --reset-author --branch --long \
             --no-gpg-sign -e --edit --no-post-rewrite",
        ),
        makes("-n --no-verify", Changes),
        makes("-S --gpg-sign", Changes),
    ])
    .check(git::commit),
    program("rm", Records, "removes tracked files").operands(&[Write]).options(&[
        plain("--cached -r -n --dry-run -q --quiet --ignore-unmatch --sparse"),
        makes("-f --force", Deletes),
    ])
    .check(git::removed),
    program("mv", Updates, "renames tracked files")
        .operands(&[Write])
        // With `-k`, what cannot be moved is lost (git 2.47).
        .options(&[plain("-v --verbose -n --dry-run --sparse"), makes("-f --force -k", Deletes)])
        .check(files::moved),
    program("fetch", Records, "fetches from the project's remotes")
        .options(&[
            plain(
                "-p --prune --all -t --tags --no-tags -q --quiet -v --verbose --unshallow \
                 --progress --dry-run -n --no-recurse-submodules",
            ),
            takes("--depth --deepen -j --jobs", Data),
        ])
        .check(git::fetch),
    program("pull", Updates, "fetches and merges what others did")
        .options(&[
            makes_with("--upload-pack -o --server-option --refmap", Data, Runs),
            takes("--depth --deepen --shallow-since -j --jobs", Data),
            plain(
                "--all -t --tags --no-tags -p --prune --unshallow --dry-run -4 -6 \
                 --no-recurse-submodules",
            ),
            makes("-f --force", Changes),
        ])
        .more_options(MERGING)
        .check(git::pull),
    program("merge cherry-pick revert", Updates, "takes commits over")
        .operands(&[Object])
        .more_options(MERGING)
        .check(git::merge),
    program("rebase", Updates, "puts the branch on top of the main one")
        .options(&[
            plain(
                "--continue --abort --skip -q --quiet -v --verbose --stat --no-stat \
                 --autosquash --no-autosquash --autostash --no-autostash -i --interactive \
                 --keep-base --fork-point --no-fork-point --root -r --update-refs --no-update-refs \
                 -f --force-rebase --no-ff --show-current-patch",
            ),
            attached("--rebase-merges --empty"),
            takes("--onto", Object),
            makes_with("-x --exec", Data, Runs),
        ])
        .check(git::rebase),
    program("push", Records, "sends commits to a remote")
        .options(&[
            plain(
                "-u --set-upstream -q --quiet -v --verbose --progress --porcelain \
                 --no-force-with-lease --thin --no-thin -n --dry-run --atomic --verify -4 -6 --ipv4 --ipv6 -f --force --force-if-includes",
            ),
            attached("--force-with-lease"),
            makes("-d --delete --mirror --prune", Discards),
            makes("--all --branches --tags --follow-tags", Publishes),
            makes("--no-verify", Changes),
            makes_with(
                "--receive-pack --exec -o --push-option --repo --recurse-submodules --signed",
                Data,
                Runs,
            ),
        ])
        .check(git::push),
    program("switch", Updates, "changes the branch").options(&[
        // Before git 2.35, `-t` took no value.
        takes("-c --create", Data),
        makes_with("-C --force-create --orphan", Data, Changes),
        makes("-f --force --discard-changes", Discards),
        makes("-m --merge", Changes),
        plain(
            "-t -d --detach -q --quiet --progress --no-progress --guess --no-guess \
                 --no-recurse-submodules",
        ),
        attached("--track --no-track"),
    ])
    .check(git::switch),
    program("checkout", Changes, "changes the branch, or takes files back")
        .operands(&[Object])
        .options(&[
            takes("-b", Data),
            makes_with("-B --orphan --conflict", Data, Changes),
            makes("-f --force", Discards),
            makes_with("--pathspec-from-file", Read, Reveals),
            makes("-m --merge -p --patch --ours --theirs -2 -3", Changes),
            plain("-t -d --detach -q --quiet --progress --no-progress --guess --no-guess"),
            attached("--track --no-track"),
        ])
        .check(git::checkout),
    program("restore", Changes, "takes files back")
        .operands(&[Object])
        .options(&[
            takes("-s --source", Object),
            makes_with("--pathspec-from-file", Read, Reveals),
            plain("-S --staged -W --worktree -q --quiet --progress --no-progress"),
            makes("-m --merge -p --patch --ours --theirs --ignore-unmerged", Changes),
        ])
        .check(git::restore),
    program("reset", Records, "moves the branch, or takes files out of the index")
        .operands(&[Object])
        .options(&[
            makes("--hard --merge --keep", Discards),
            makes_with("--pathspec-from-file", Read, Reveals),
            plain("--soft --mixed -q --quiet --no-refresh --refresh -N --intent-to-add"),
            makes("-p --patch --recurse-submodules", Changes),
        ]),
    program("clean", Deletes, "deletes untracked files")
        .options(&[
            makes("-n --dry-run", Reads),
            plain("-d -f --force -x -X -q --quiet -i --interactive"),
            takes("-e --exclude", Data),
        ])
        .operands(&[List])
        .check(git::clean),
    program("stash", Changes, "puts changes aside")
        .options(&[
            takes("-m --message", Text),
            plain("-u --include-untracked -k --keep-index -q --quiet -S --staged -a --all"),
        ])
        .alone()
        .check(git::stash)
        .subcommands(&[
            program("list", Reads, "lists what was put aside")
                .options(REVISIONS)
                .more_options(DIFF),
            program("show", Reads, "shows what was put aside")
                .operands(&[Object])
                .options(&[plain("--include-untracked -u --only-untracked")])
                .more_options(DIFF),
            program("push save", Changes, "puts changes aside").operands(&[List]).options(&[
                takes("-m --message", Text),
                makes_with("--pathspec-from-file", Read, Reveals),
                plain(
                    "-u --include-untracked -k --keep-index --no-keep-index -q --quiet -S --staged \
                 -a --all",
                ),
                makes("-p --patch", Changes),
            ])
            .check(git::stash),
            program("apply pop", Updates, "brings changes back")
                .operands(&[Object])
                .options(&[plain("--index -q --quiet")]),
            program("branch", Updates, "brings changes back on a branch")
                .operands(&[Data])
                .check(git::stash_branch),
            program("drop clear", Discards, "forgets what was put aside")
                .operands(&[Data])
                .any_options(),
            program("create store", Changes, "makes stashes").any_options(),
        ]),
];

pub(super) const TABLE: &[ProgramEntry] = &[
    program("git", Records, "version control")
        .options(&[
            takes("-C", Data),
            makes_with(
                "-c --config-env --exec-path --git-dir --work-tree --namespace --super-prefix \
                 --attr-source",
                Data,
                Runs,
            ),
            makes("-p --paginate --bare", Runs),
            plain(
                "-P --no-pager --no-optional-locks --literal-pathspecs --no-replace-objects \
                 --no-lazy-fetch --version --glob-pathspecs --icase-pathspecs",
            ),
        ])
        .subcommands(HISTORY)
        .more_subcommands(&[RECORDING, repository::COMMANDS])
        .check(git::outer),
    program(
        "hub tea jj hg svn cvs p4 fossil gt ghstack spr git-review lab",
        Connects,
        "version control",
    )
    .any_options(),
    program("git-lfs", Wraps, "large files").operands(&[super::Role::Refused]),
    program("diffstat", Prints, "counts changed lines").operands(&[Read]).options(&[
        attached("-p"),
        takes("-n -w", Data),
        plain("-c -l -r -q -s -u"),
    ]),
];
