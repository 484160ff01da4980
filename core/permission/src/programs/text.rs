//! Programs that read text and print text.

use super::super::judge::{builtins, files, scripts};
use super::Class::{Reads, Reveals, Runs};
use super::Role::{Data, Glob, List, Read, Text, Write};
use super::{ProgramEntry, attached, makes, makes_with, plain, program, takes, takes_named};

/// Where the options come from.
pub(super) const SOURCE: &str =
    "manuals of GNU coreutils 9.7, grep 3.11, diffutils 3.10, util-linux 2.41, binutils 2.44";

pub(super) const TABLE: &[ProgramEntry] = &[
    program("cat tac rev", Reads, "prints files")
        .options(&[
            plain(
                "-A --show-all -b --number-nonblank -e -E --show-ends -n --number -s \
                 --squeeze-blank -t -T --show-tabs -u -v --show-nonprinting --before --regex -r \
                 -0 --zero",
            ),
            takes("--separator", Data),
        ])
        .operands(&[Read])
        .open(),
    program("nl", Reads, "numbers lines")
        .options(&[
            takes(
                "-b --body-numbering -d --section-delimiter -f --footer-numbering -h \
                 --header-numbering -i --line-increment -l --join-blank-lines -n \
                 --number-format -s --number-separator -v --starting-line-number -w \
                 --number-width",
                Data,
            ),
            plain("-p --no-renumber"),
        ])
        .operands(&[Read]),
    program("fold", Reads, "wraps lines")
        .options(&[takes("-w --width", Data), plain("-b --bytes -s --spaces -c --characters")])
        .operands(&[Read]),
    program("fmt", Reads, "wraps paragraphs")
        .options(&[
            takes("-w --width -p --prefix -g --goal", Data),
            plain("-s --split-only -c --crown-margin -u --uniform-spacing -t --tagged-paragraph"),
        ])
        .operands(&[Read]),
    program("expand unexpand", Reads, "changes tabs and blanks")
        .options(&[takes("-t --tabs", Data), plain("-i --initial -a --all --first-only")])
        .operands(&[Read]),
    program("head tail", Reads, "prints the start or end of files")
        .options(&[
            takes("-n --lines -c --bytes --pid -s --sleep-interval --max-unchanged-stats", Data),
            attached("--follow"),
            plain("-q --quiet --silent -v --verbose -z --zero-terminated -f -F --retry -r"),
        ])
        .operands(&[Read])
        .check(builtins::waits)
        .open(),
    program("wc", Reads, "counts lines, words and bytes")
        .options(&[
            makes_with("--files0-from", Read, Reveals),
            takes("--total", Data),
            plain("-c --bytes -m --chars -l --lines -L --max-line-length -w --words --debug"),
        ])
        .operands(&[List]),
    program("grep egrep fgrep", Reads, "searches files for a pattern")
        .options(&[
            takes("-e --regexp", Text),
            takes("-f --file --exclude-from", Read),
            takes("--include", Glob),
            takes(
                "-A --after-context -B --before-context -C --context -m --max-count -d \
                 --directories -D --devices --binary-files --exclude --exclude-dir --label \
                 --group-separator",
                Data,
            ),
            attached("--color --colour"),
            plain(
                "-E --extended-regexp -F --fixed-strings -G --basic-regexp -P --perl-regexp -i \
                 -y --ignore-case --no-ignore-case -w --word-regexp -x --line-regexp -z \
                 --null-data -s --no-messages -v --invert-match -b --byte-offset -n \
                 --line-number --line-buffered -H --with-filename -h --no-filename -o \
                 --only-matching -q --quiet --silent -a --text -I -r --recursive -L \
                 --files-without-match -l --files-with-matches -c \
                 --count -T --initial-tab -Z --null --no-group-separator -U --binary -u \
                 --unix-byte-offsets",
            ),
        ])
        .operands(&[Data, Read])
        .check(scripts::pattern_option),
    program("rg", Reads, "searches a folder for a pattern")
        .options(&[
            takes("-e --regexp", Text),
            takes("-f --file --ignore-file", Read),
            takes("-g --glob --iglob", Glob),
            takes(
                "-A --after-context -B --before-context -C --context -m --max-count -t --type \
                 -T --type-not -j --threads -M --max-columns -r --replace -d --max-depth \
                 --maxdepth -E --encoding --type-clear --sort --sortr --color --colors \
                 --context-separator --dfa-size-limit --engine --field-context-separator \
                 --field-match-separator --max-filesize --path-separator --regex-size-limit \
                 --hyperlink-format --generate",
                Data,
            ),
            // A definition of a type is a glob.
            makes_with("--type-add", Data, Reveals),
            makes_with("--pre --pre-glob --hostname-bin", Data, Runs),
            makes("-z --search-zip", Runs),
            plain(
                "-i --ignore-case -S --smart-case -s --case-sensitive -v --invert-match -w \
                 --word-regexp -x --line-regexp -c --count --count-matches -l \
                 --files-with-matches --files-without-match --files -n --line-number -N \
                 --no-line-number -o --only-matching -q --quiet -F --fixed-strings -P --pcre2 -U \
                 --multiline --multiline-dotall -u --unrestricted -. --hidden --no-hidden \
                 --no-ignore --no-ignore-vcs --no-ignore-parent --no-ignore-global \
                 --no-ignore-dot --no-ignore-exclude --no-ignore-files --no-ignore-messages \
                 --no-messages -H --with-filename -I --no-filename --heading --no-heading \
                 --column --no-column -b --byte-offset --json --stats --no-stats --trim \
                 --no-trim --vimgrep -p --pretty -0 --null --null-data --crlf \
                 -a --text --no-text --no-config --one-file-system --type-list --passthru \
                 --passthrough --block-buffered --line-buffered --binary --no-binary --mmap \
                 --no-mmap --no-unicode --unicode --auto-hybrid-regex --glob-case-insensitive \
                 --ignore-file-case-insensitive --include-zero --max-columns-preview \
                 --no-context-separator --no-require-git --require-git --no-pre --print0 \
                 --pcre2-version --stop-on-nonmatch",
            ),
            plain("--no-follow --no-encoding --no-fixed-strings --no-multiline"),
        ])
        .operands(&[Data, Read])
        .check(scripts::pattern_option),
    program("sort", Reads, "sorts lines")
        .options(&[
            takes("-o --output", Write),
            takes("-T --temporary-directory", Write),
            makes_with("--compress-program", Data, Runs),
            makes_with("--files0-from", Read, Reveals),
            takes("--random-source", Read),
            takes(
                "-k --key -t --field-separator -S --buffer-size --parallel --batch-size --sort",
                Data,
            ),
            attached("--check"),
            plain(
                "-b --ignore-leading-blanks -d --dictionary-order -f --ignore-case -g \
                 --general-numeric-sort -i --ignore-nonprinting -M --month-sort -h \
                 --human-numeric-sort -n --numeric-sort -R --random-sort -r --reverse -V \
                 --version-sort -c -C -m --merge -s --stable -u --unique -z --zero-terminated \
                 --debug",
            ),
        ])
        .operands(&[Read]),
    program("shuf", Reads, "shuffles lines")
        .options(&[
            takes("-o --output", Write),
            takes("--random-source", Read),
            takes("-n --head-count -i --input-range", Data),
            plain("-e --echo -r --repeat -z --zero-terminated"),
        ])
        .operands(&[Read]),
    program("uniq", Reads, "drops repeated lines; a second argument is written")
        .options(&[
            takes("-f --skip-fields -s --skip-chars -w --check-chars", Data),
            attached("--all-repeated --group"),
            plain("-c --count -d --repeated -D -i --ignore-case -u --unique -z --zero-terminated"),
        ])
        .operands(&[Read, Write]),
    program("cut", Reads, "prints columns")
        .options(&[
            takes("-b --bytes -c --characters -d --delimiter -f --fields --output-delimiter", Data),
            plain("-n --complement -s --only-delimited -z --zero-terminated"),
        ])
        .operands(&[Read]),
    program("tr", Reads, "replaces characters")
        .options(&[plain("-c -C --complement -d --delete -s --squeeze-repeats -t --truncate-set1")])
        .open(),
    program("paste", Reads, "puts lines side by side")
        .options(&[takes("-d --delimiters", Data), plain("-s --serial -z --zero-terminated")])
        .operands(&[Read]),
    program("comm", Reads, "compares sorted files")
        .options(&[
            takes("--output-delimiter", Data),
            plain("-1 -2 -3 -z --zero-terminated --check-order --nocheck-order --total"),
        ])
        .operands(&[Read]),
    program("tsort", Reads, "sorts by order").options(&[plain("-w")]).operands(&[Read]),
    program("join", Reads, "joins lines on a field")
        .options(&[
            takes("-t -1 -2 -e -o -j -a -v", Data),
            plain("-i --ignore-case --check-order --nocheck-order --header -z --zero-terminated"),
        ])
        .operands(&[Read]),
    program("column", Reads, "lays out columns")
        .options(&[
            takes(
                "-s --separator -c --output-width -o --output-separator -N --table-columns -R \
                 --table-right -T --table-truncate -H --table-hide -l --table-columns-limit -E \
                 --table-noextreme -W --table-wrap -O --table-order -n --table-name -C \
                 --table-column --input-separator -S --use-spaces -i --tree-id -p --tree-parent \
                 -r --tree",
                Data,
            ),
            plain(
                "-t --table -x --fillrows -J --json -d --table-noheadings -e \
                 --table-header-repeat -L --keep-empty-lines -K --table-header-as-columns",
            ),
        ])
        .operands(&[Read]),
    program("diff colordiff", Reads, "compares files")
        .options(&[
            takes(
                "-I --ignore-matching-lines -W --width -x --exclude --label --tabsize -F \
                 --show-function-line -D --ifdef --horizon-lines --line-format \
                 --old-line-format --new-line-format --unchanged-line-format \
                 --old-group-format --new-group-format --changed-group-format \
                 --unchanged-group-format --palette -U -C",
                Data,
            ),
            // These list what the two have in common as well.
            takes("-X --exclude-from --from-file --to-file -S --starting-file", Read),
            attached("--color --unified --context"),
            makes("-l --paginate", Runs),
            plain(
                "-a --text -b --ignore-space-change -B --ignore-blank-lines -c -d --minimal -e \
                 --ed -E --ignore-tab-expansion -i --ignore-case -n --rcs -N --new-file \
                 -0 -1 -2 -3 -4 -5 -6 -7 -8 -9 --unidirectional-new-file -p --show-c-function -q --brief -r --recursive -s \
                 --report-identical-files -t --expand-tabs -T --initial-tab -u -w \
                 --ignore-all-space -y --side-by-side --left-column --suppress-common-lines \
                 --suppress-blank-empty -Z --ignore-trailing-space --normal --no-dereference \
                 --ignore-file-name-case --no-ignore-file-name-case --strip-trailing-cr \
                 --speed-large-files",
            ),
        ])
        .operands(&[Read])
        .check(files::diff),
    program("cmp", Reads, "compares two files")
        .options(&[
            takes("-i --ignore-initial -n --bytes", Data),
            plain("-b --print-bytes -l --verbose -s --quiet --silent"),
        ])
        .operands(&[Read]),
    program(
        "md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum shasum md5",
        Reads,
        "prints checksums",
    )
    .options(&[
        takes("-a --algorithm -l --length", Data),
        plain(
            "-b --binary -t --text -z --zero --tag --untagged --raw --base64 -r -s --sysv \
             --debug",
        ),
        plain("--ignore-missing --quiet --status --strict -w --warn"),
    ])
    .operands(&[Read]),
    program("od", Reads, "shows bytes")
        .options(&[
            takes(
                "-A --address-radix -j --skip-bytes -N --read-bytes -S -t --format --endian",
                Data,
            ),
            attached("-w --width --strings"),
            plain("-v --output-duplicates --traditional -a -b -c -d -f -i -l -o -s -x"),
        ])
        .operands(&[Read]),
    program("hexdump hd", Reads, "shows bytes")
        .options(&[
            takes("-n --length -s --skip -e --format", Data),
            takes("-f --format-file", Read),
            attached("-L --color"),
            plain(
                "-b --one-byte-octal -X --one-byte-hex -c --one-byte-char -C --canonical -d \
                 --two-bytes-decimal -o --two-bytes-octal -x --two-bytes-hex -v \
                 --no-squeezing",
            ),
        ])
        .operands(&[Read]),
    program("xxd", Reads, "shows bytes; a second argument is written")
        .options(&[
            takes("-c -cols -g -groupsize -l -len -n -name -o -s -seek -skip -R", Data),
            plain(
                "-a -autoskip -b -bits -C -capitalize -d -e -E -i -include -p -ps -postscript \
                   -plain -r -revert -u -uppercase -t",
            ),
        ])
        .whole_names()
        .operands(&[Read, Write]),
    program("base64 base32 basenc", Reads, "encodes files")
        .options(&[
            takes("-w --wrap", Data),
            takes("-i --input", Read),
            plain(
                "-d -D --decode --ignore-garbage --base64 --base64url --base32 --base32hex \
                 --base16 --z85 --base2msbf --base2lsbf",
            ),
        ])
        .operands(&[Read]),
    program("strings", Reads, "shows text in files")
        .options(&[
            takes(
                "-n --bytes -t --radix -e --encoding -T --target -s --output-separator -U \
                 --unicode",
                Data,
            ),
            plain("-a --all -d --data -f --print-file-name -o -w --include-all-whitespace"),
        ])
        .operands(&[Read])
        .check(files::arguments_file),
    program("jq gojq jaq", Reads, "queries JSON")
        .options(&[
            takes("--indent", Data),
            makes_with("-f --from-file -L --library-path", Read, Runs),
            takes_named("--arg --argjson", Data),
            takes_named("--slurpfile --rawfile --argfile", Read),
            plain(
                "-r --raw-output -c --compact-output -n --null-input -e --exit-status -s --slurp \
                 -S --sort-keys -R --raw-input -C --color-output -M --monochrome-output -a -j \
                 --args --jsonargs --join-output --ascii-output --tab --seq --stream \
                 --stream-errors --raw-output0 --unbuffered",
            ),
        ])
        .operands(&[Data, Read])
        .check(scripts::jq),
    program("yq", Reads, "queries YAML")
        .options(&[
            plain("-i --inplace --in-place"),
            // The Go program and the Python one disagree on what `-s` takes.
            plain(
                "-r --raw-output --unwrapScalar -n --null-input -N --no-doc -P --prettyPrint -c \
                 --compact-output -S --sort-keys -y --yaml-output -C --colors -M --no-colors -j \
                 --tojson -e --exit-status",
            ),
            takes("-o --output-format -p --input-format -I --indent", Data),
        ])
        .operands(&[Data, Read])
        .check(scripts::yq),
    program("awk gawk mawk nawk", Reads, "runs a small program over lines")
        .options(&[
            takes("-F --field-separator -v --assign", Data),
            makes_with("-f --file -i --include -l --load -E --exec", Read, Runs),
            makes_with("-e --source", Data, Runs),
            plain("--posix --traditional --re-interval -b"),
        ])
        .operands(&[Data, Read])
        .check(scripts::awk),
    program("sed gsed", Reads, "edits a stream")
        .options(&[
            attached("-i --in-place"),
            makes("-I", Runs),
            makes_with("-f --file", Read, Runs),
            takes("-e --expression", Data),
            takes("-l --line-length", Data),
            plain(
                "-n --quiet --silent -E -r --regexp-extended -s --separate -u --unbuffered -z \
                 --null-data --posix --sandbox",
            ),
        ])
        .operands(&[Data, Read])
        .check(scripts::sed),
];
