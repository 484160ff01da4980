//! Programs that look at, make and remove files.

use super::Class::{Changes, Connects, Deletes, Destroys, Prints, Reads, Reveals, Runs, Writes};
use super::Role::{Command, Data, List, Read, Write};
use super::{ArgCheck, ProgramEntry, attached, makes_with, plain, program, takes};

pub(super) const TABLE: &[ProgramEntry] = &[
    program(&["ls", "dir", "vdir", "exa", "eza", "lsd"], Reads, "lists folders")
        .options(&[takes(
            &[
                "-I",
                "--ignore",
                "--hide",
                "-w",
                "--width",
                "-T",
                "--tabsize",
                "--block-size",
                "--level",
            ],
            Data,
        )])
        .operands(&[List])
        .open(),
    program(&["tree"], Reads, "lists folders as a tree")
        .options(&[
            takes(&["-o"], Write),
            takes(
                &["-L", "-P", "-I", "-H", "-T", "--filelimit", "--timefmt", "--charset", "--sort"],
                Data,
            ),
            takes(&["--fromfile", "--infofile", "--gitfile"], Read),
        ])
        .operands(&[List]),
    program(&["stat"], Reads, "shows sizes and dates")
        .options(&[takes(&["-c", "--format", "--printf", "-f", "-t"], Data)])
        .operands(&[List]),
    program(&["du", "df"], Reads, "shows sizes and dates")
        .options(&[
            takes(
                &[
                    "--format",
                    "--printf",
                    "-d",
                    "--max-depth",
                    "--threshold",
                    "-B",
                    "--block-size",
                    "--exclude",
                ],
                Data,
            ),
            takes(&["-X", "--exclude-from", "--files0-from"], Read),
        ])
        .operands(&[List]),
    program(&["file"], Reads, "names file types")
        .options(&[
            takes(&["-f", "--files-from"], Read),
            makes_with(&["-m", "--magic-file"], Read, Runs),
            plain(&[
                "-b",
                "--brief",
                "-i",
                "--mime",
                "--mime-type",
                "--mime-encoding",
                "-L",
                "-h",
                "-k",
                "-N",
                "-r",
                "-s",
            ]),
        ])
        .only_these_options()
        .operands(&[List]),
    program(&["realpath", "readlink"], Reads, "resolves paths")
        .options(&[takes(&["--relative-to", "--relative-base"], Data)])
        .operands(&[List]),
    program(&["basename", "dirname"], Prints, "takes paths apart").open(),
    program(&["pwd"], Prints, "names the working folder").open(),
    program(&["which", "whereis"], Reads, "finds programs"),
    program(&["find", "gfind"], Reads, "finds files").check(ArgCheck::Find),
    program(&["fd", "fdfind"], Reads, "finds files")
        .options(&[
            takes(
                &[
                    "-e",
                    "--extension",
                    "-t",
                    "--type",
                    "-d",
                    "--max-depth",
                    "--min-depth",
                    "-E",
                    "--exclude",
                    "-S",
                    "--size",
                    "--changed-within",
                    "--changed-before",
                    "-c",
                    "--color",
                    "-j",
                    "--threads",
                    "--max-results",
                    "--format",
                    "-o",
                    "--owner",
                ],
                Data,
            ),
            takes(&["--ignore-file"], Read),
            takes(&["--base-directory", "-C", "--search-path"], List),
            makes_with(&["-x", "--exec", "-X", "--exec-batch"], Command, super::Class::Wraps),
        ])
        .operands(&[Data, List]),
    program(&["mkdir"], Writes, "makes folders")
        .options(&[takes(&["-m", "--mode"], Data), attached(&["-Z", "--context"])])
        .operands(&[Write]),
    program(&["tee"], Writes, "copies its input to files").operands(&[Write]),
    program(&["chmod"], Changes, "changes who may use a file").check(ArgCheck::Chmod),
    program(&["chown", "chgrp", "chattr", "setfacl", "chcon"], Changes, "changes who owns a file")
        .operands(&[Data, Write]),
    program(&["touch", "truncate", "mktemp"], Changes, "makes or changes files")
        .options(&[
            takes(&["-d", "--date", "-t", "-s", "--size", "--suffix"], Data),
            takes(&["-r", "--reference"], List),
            takes(&["-p", "--tmpdir"], Write),
        ])
        .operands(&[Write]),
    program(&["cp", "mv", "ln", "install", "rename"], Changes, "copies, moves or links files")
        .options(&[
            takes(&["-t", "--target-directory"], Write),
            takes(&["-S", "--suffix", "-m", "--mode", "-o", "-g"], Data),
        ])
        .check(ArgCheck::Copy),
    program(&["rm", "unlink"], Deletes, "removes files").operands(&[Write]).check(ArgCheck::Rm),
    program(&["rmdir"], Deletes, "removes empty folders").operands(&[Write]),
    program(
        &["shred", "wipefs", "mkfs", "mke2fs", "fdisk", "sfdisk", "parted", "blkdiscard"],
        Destroys,
        "erases files or disks",
    ),
    program(
        &["mkfs.ext4", "mkfs.xfs", "mkfs.btrfs", "mkfs.vfat", "mkswap"],
        Destroys,
        "erases disks",
    ),
    program(&["dd"], Changes, "copies blocks").check(ArgCheck::Dd),
    program(&["rsync", "scp", "sftp"], Connects, "copies files between machines"),
    program(&["tar", "bsdtar"], Changes, "packs and unpacks archives").options(&[
        makes_with(
            &[
                "-I",
                "--use-compress-program",
                "-F",
                "--info-script",
                "--new-volume-script",
                "--to-command",
                "--checkpoint-action",
                "--rsh-command",
                "--rmt-command",
            ],
            Data,
            Runs,
        ),
        takes(&["-C", "--directory"], Write),
    ]),
    program(
        &[
            "zip", "unzip", "gzip", "gunzip", "bzip2", "bunzip2", "xz", "unxz", "zstd", "unzstd",
            "7z", "7za", "cpio",
        ],
        Changes,
        "packs and unpacks archives",
    ),
    program(&["zcat", "gzcat", "bzcat", "xzcat", "zstdcat"], Reads, "prints packed files")
        .operands(&[Read]),
    program(&["split", "csplit"], Changes, "cuts files into pieces"),
    program(&["patch"], Changes, "applies a patch"),
    program(&["mount", "umount", "losetup"], Destroys, "changes file systems"),
    program(&["base64", "base32", "xxd"], Reveals, "encodes files").operands(&[Read, Write]),
];
