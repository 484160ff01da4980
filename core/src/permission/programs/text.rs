//! Programs that read text and print text.

use super::Class::{Changes, Reads, Reveals, Runs};
use super::Role::{Data, List, Read, Write};
use super::{ArgCheck, ProgramEntry, attached, makes, makes_with, plain, program, takes};

pub(super) const TABLE: &[ProgramEntry] = &[
    program(&["cat", "tac", "rev"], Reads, "prints files").operands(&[Read]),
    program(&["nl"], Reads, "numbers lines")
        .options(&[takes(&["-b", "-d", "-f", "-h", "-i", "-l", "-n", "-s", "-v", "-w"], Data)])
        .operands(&[Read]),
    program(&["fold", "fmt", "expand", "unexpand"], Reads, "wraps lines")
        .options(&[takes(&["-w", "--width", "-t", "--tabs"], Data)])
        .operands(&[Read]),
    program(&["head", "tail"], Reads, "prints the start or end of files")
        .options(&[takes(
            &["-n", "--lines", "-c", "--bytes", "--pid", "-s", "--sleep-interval"],
            Data,
        )])
        .operands(&[Read]),
    program(&["wc"], Reads, "counts lines, words and bytes")
        .options(&[makes_with(&["--files0-from"], Read, Reveals)])
        .operands(&[List])
        .open(),
    program(&["grep", "egrep", "fgrep", "zgrep"], Reads, "searches files for a pattern")
        .options(&[
            takes(&["-e", "--regexp"], Data),
            takes(&["-f", "--file"], Read),
            takes(&["--exclude-from"], Read),
            takes(
                &[
                    "-A",
                    "-B",
                    "-C",
                    "-m",
                    "-d",
                    "-D",
                    "--after-context",
                    "--before-context",
                    "--context",
                    "--max-count",
                    "--include",
                    "--exclude",
                    "--exclude-dir",
                    "--label",
                    "--directories",
                    "--devices",
                    "--binary-files",
                ],
                Data,
            ),
            attached(&["--color", "--colour"]),
        ])
        .operands(&[Data, Read])
        .check(ArgCheck::PatternOption),
    program(&["rg"], Reads, "searches a folder for a pattern")
        .options(&[
            takes(&["-e", "--regexp"], Data),
            takes(&["-f", "--file"], Read),
            takes(&["--ignore-file"], Read),
            takes(
                &[
                    "-A",
                    "-B",
                    "-C",
                    "-m",
                    "-g",
                    "-t",
                    "-T",
                    "-j",
                    "-M",
                    "-r",
                    "-d",
                    "-E",
                    "--after-context",
                    "--before-context",
                    "--context",
                    "--max-count",
                    "--glob",
                    "--iglob",
                    "--type",
                    "--type-not",
                    "--type-add",
                    "--type-clear",
                    "--threads",
                    "--max-columns",
                    "--replace",
                    "--max-depth",
                    "--encoding",
                    "--sort",
                    "--sortr",
                    "--color",
                    "--colors",
                    "--context-separator",
                    "--dfa-size-limit",
                    "--engine",
                    "--field-context-separator",
                    "--field-match-separator",
                    "--max-filesize",
                    "--path-separator",
                    "--regex-size-limit",
                    "--hyperlink-format",
                    "--generate",
                ],
                Data,
            ),
            makes_with(&["--pre", "--pre-glob"], Data, Runs),
            makes_with(&["--hostname-bin"], Data, Runs),
            makes(&["-z", "--search-zip"], Runs),
        ])
        .operands(&[Data, Read])
        .check(ArgCheck::PatternOption),
    program(&["sort"], Reads, "sorts lines")
        .options(&[
            takes(&["-o", "--output"], Write),
            takes(&["-T", "--temporary-directory"], Write),
            makes_with(&["--compress-program"], Data, Runs),
            takes(&["--files0-from", "--random-source"], Read),
            takes(
                &[
                    "-k",
                    "--key",
                    "-t",
                    "--field-separator",
                    "-S",
                    "--buffer-size",
                    "--parallel",
                    "--batch-size",
                ],
                Data,
            ),
        ])
        .operands(&[Read]),
    program(&["uniq"], Reads, "drops repeated lines; a second argument is written")
        .options(&[takes(
            &["-f", "--skip-fields", "-s", "--skip-chars", "-w", "--check-chars"],
            Data,
        )])
        .operands(&[Read, Write]),
    program(&["cut"], Reads, "prints columns")
        .options(&[takes(
            &[
                "-b",
                "--bytes",
                "-c",
                "--characters",
                "-d",
                "--delimiter",
                "-f",
                "--fields",
                "--output-delimiter",
            ],
            Data,
        )])
        .operands(&[Read]),
    program(&["tr"], Reads, "replaces characters").open(),
    program(&["paste", "comm", "tsort"], Reads, "puts lines side by side")
        .options(&[takes(&["-d", "--delimiters", "--output-delimiter"], Data)])
        .operands(&[Read]),
    program(&["join"], Reads, "joins lines on a field")
        .options(&[takes(&["-t", "-1", "-2", "-e", "-o", "-j", "-a", "-v"], Data)])
        .operands(&[Read]),
    program(&["column"], Reads, "lays out columns")
        .options(&[takes(
            &[
                "-s",
                "-c",
                "-o",
                "-N",
                "-R",
                "-T",
                "-H",
                "-l",
                "--separator",
                "--output-separator",
                "--table-columns",
            ],
            Data,
        )])
        .operands(&[Read]),
    program(&["diff", "cmp", "colordiff"], Reads, "compares files")
        .options(&[
            takes(
                &[
                    "-I",
                    "-U",
                    "-C",
                    "-W",
                    "-x",
                    "--exclude",
                    "--ignore-matching-lines",
                    "--label",
                    "-L",
                    "--width",
                    "--tabsize",
                    "-F",
                ],
                Data,
            ),
            takes(&["-X", "--exclude-from", "--from-file", "--to-file", "-S"], Read),
            makes(&["-l", "--paginate"], Runs),
        ])
        .operands(&[Read]),
    program(
        &[
            "md5sum",
            "sha1sum",
            "sha224sum",
            "sha256sum",
            "sha384sum",
            "sha512sum",
            "b2sum",
            "cksum",
            "sum",
        ],
        Reads,
        "prints checksums",
    )
    .options(&[takes(&["-a", "--algorithm", "-l", "--length"], Data)])
    .operands(&[Read]),
    program(&["od", "hexdump", "strings"], Reads, "shows bytes")
        .options(&[
            takes(&["-A", "-j", "-N", "-S", "-t", "-w", "-n", "-s", "-e"], Data),
            takes(&["-f"], Read),
        ])
        .operands(&[Read]),
    program(&["jq", "gojq", "jaq"], Reads, "queries JSON")
        .options(&[
            takes(&["--indent", "--tab", "--seq", "--stream"], Data),
            makes_with(&["-f", "--from-file", "-L", "--library-path"], Read, Runs),
            takes(&["--arg", "--argjson", "--slurpfile", "--rawfile", "--argfile"], Data),
            plain(&[
                "-r",
                "--raw-output",
                "-c",
                "--compact-output",
                "-n",
                "--null-input",
                "-e",
                "--exit-status",
                "-s",
                "--slurp",
                "-S",
                "--sort-keys",
                "-R",
                "--raw-input",
                "-C",
                "-M",
                "-a",
                "-j",
                "--args",
                "--jsonargs",
                "--join-output",
                "--ascii-output",
            ]),
        ])
        .only_these_options()
        .operands(&[Data, Read])
        .check(ArgCheck::Jq),
    program(&["yq"], Reads, "queries YAML")
        .options(&[
            makes(&["-i", "--inplace", "--in-place"], Changes),
            plain(&[
                "-r",
                "--raw-output",
                "--unwrapScalar",
                "-n",
                "--null-input",
                "-N",
                "-P",
                "--prettyPrint",
                "-c",
                "-s",
                "-S",
                "-y",
                "-C",
                "-M",
                "-j",
                "--tojson",
                "-e",
            ]),
            takes(&["-o", "--output-format", "-p", "--input-format", "-I", "--indent"], Data),
        ])
        .only_these_options()
        .operands(&[Data, Read])
        .check(ArgCheck::Yq),
    program(&["awk", "gawk", "mawk", "nawk"], Reads, "runs a small program over lines")
        .options(&[
            takes(&["-F", "--field-separator", "-v", "--assign"], Data),
            makes_with(
                &["-f", "--file", "-i", "--include", "-l", "--load", "-E", "--exec"],
                Read,
                Runs,
            ),
            makes_with(&["-e", "--source"], Data, Runs),
            plain(&["--posix", "--traditional", "--re-interval", "-b"]),
        ])
        .only_these_options()
        .operands(&[Data, Read])
        .check(ArgCheck::Awk),
    program(&["sed", "gsed"], Reads, "edits a stream")
        .options(&[
            makes(&["-i", "--in-place", "-I"], Changes),
            makes_with(&["-f", "--file"], Read, Runs),
            takes(&["-e", "--expression"], Data),
            takes(&["-l", "--line-length"], Data),
            plain(&[
                "-n",
                "--quiet",
                "--silent",
                "-E",
                "-r",
                "--regexp-extended",
                "-s",
                "--separate",
                "-u",
                "--unbuffered",
                "-z",
                "--null-data",
                "--posix",
                "--sandbox",
            ]),
        ])
        .only_these_options()
        .operands(&[Data, Read])
        .check(ArgCheck::Sed),
];
