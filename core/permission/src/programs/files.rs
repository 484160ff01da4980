//! Programs that look at, make and remove files.

use super::super::judge::files;
use super::Class::{Changes, Connects, Deletes, Destroys, Prints, Reads, Reveals, Runs, Writes};
use super::Role::{Command, Data, List, Read, Write};
use super::{ProgramEntry, attached, makes, makes_with, plain, program, takes};

/// Where the options come from.
pub(super) const SOURCE: &str =
    "manuals of GNU coreutils 9.7, findutils 4.10, tree 2.2, fd 10, tar 1.35, xz 5.6";

pub(super) const TABLE: &[ProgramEntry] = &[
    program("ls dir vdir", Reads, "lists folders")
        .options(&[
            takes("-I --ignore --hide -w --width -T --tabsize --block-size --sort", Data),
            takes("--quoting-style --indicator-style --format", Data),
            attached("--color --classify --hyperlink --time --time-style"),
            plain(
                "-1 -a -A -b -B -c -C -d -D -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R \
                 -s -S -t -u -U -v -x -X -Z --all --almost-all --author --escape --ignore-backups \
                 --directory --dired --file-type --full-time --no-group --group-directories-first \
                 --human-readable --si --dereference-command-line \
                 --dereference-command-line-symlink-to-dir --inode --kibibytes --dereference \
                 --numeric-uid-gid --literal --hide-control-chars --show-control-chars --quote-name \
                 --reverse --recursive --size --context --zero",
            ),
        ])
        .operands(&[List])
        .open(),
    program("exa eza lsd", Reads, "lists folders")
        .options(&[
            takes("-I --ignore-glob -L --level -s --sort -t --time -w --width", Data),
            attached("--color --colour --classify --hyperlink --icons --time-style"),
            plain(
                "-1 -a -A -b -B -d -D -f -F -g -G -h -H -i -l -m -n -o -r -R -S -T -u -U -x -X -Z -@ \
                 --all --almost-all --long --oneline --grid --across --recurse --tree --reverse \
                 --list-dirs --only-dirs --only-files --git --no-git --git-ignore --header --binary \
                 --bytes --group --links --inode --modified --accessed --created --changed \
                 --no-permissions --octal-permissions --no-filesize --no-user --no-time --no-icons \
                 --extended --numeric --group-directories-first --dereference --blocksize",
            ),
        ])
        .operands(&[List])
        .open(),
    program("tree", Reads, "lists folders as a tree")
        .options(&[
            takes("-o", Write),
            takes("-L -P -I -H -T --filelimit --timefmt --charset --sort", Data),
            takes("--infofile --gitfile", Read),
            // What it lists stands in the files.
            makes("--fromfile --fromtabfile", Reveals),
            plain(
                "-a -d -l -f -x -q -N -Q -p -u -g -s -h --si -D -F \
                 --inodes --device -v -t -c -U -r --dirsfirst --filesfirst -i -A -S -n -C -X -J \
                 --gitignore --matchdirs --ignore-case --prune --noreport --du --metafirst",
            ),
        ])
        .operands(&[List])
        .check(files::tree),
    program("stat", Reads, "shows sizes and dates")
        .options(&[
            takes("-c --format --printf", Data),
            attached("--cached"),
            // On another system `-f` and `-t` take a value.
            plain("-L --dereference -f --file-system -t --terse -x -n -q -s -r -F"),
        ])
        .operands(&[List]),
    program("du df", Reads, "shows sizes and dates")
        .options(&[
            takes("--format --printf -d --max-depth --threshold -B --block-size --exclude", Data),
            takes("-X --exclude-from", Read),
            makes_with("--files0-from", Read, Reveals),
            // `-x` takes a value of df and none of du.
            takes("-t --type --exclude-type --time-style", Data),
            attached("--time --output"),
            plain(
                "-0 --null -a --all --apparent-size -b --bytes -c --total -D --dereference-args -H \
                 -h --human-readable --inodes -k -L --dereference -l --count-links -m -P \
                 --no-dereference -S --separate-dirs --si -s --summarize --one-file-system -i \
                 --local --no-sync --portability --sync -T --print-type -v",
            ),
        ])
        .operands(&[List]),
    program("file", Reads, "names file types")
        .options(&[
            makes_with("-f --files-from", Read, Reveals),
            makes_with("-m --magic-file", Read, Runs),
            plain("-b --brief -i --mime --mime-type --mime-encoding -L -h -k -N -r -s"),
        ])
        .operands(&[List]),
    program("realpath readlink", Reads, "resolves paths")
        .options(&[
            takes("--relative-to --relative-base", Data),
            plain(
                "-e --canonicalize-existing -m --canonicalize-missing -f --canonicalize -L \
                 --logical -P --physical -q --quiet -s --strip --no-symlinks --silent -z --zero \
                 -n --no-newline -v --verbose -E",
            ),
        ])
        .operands(&[List]),
    program("basename dirname", Prints, "takes paths apart")
        .options(&[takes("-s --suffix", Data), plain("-a --multiple -z --zero")])
        .open(),
    program("pwd", Prints, "names the working folder")
        .options(&[plain("-L -P --logical --physical")])
        .open(),
    program("which whereis", Reads, "finds programs")
        .options(&[plain("-a --all -s -b -m -u -l --skip-dot --skip-tilde --tty-only")]),
    program("find gfind", Reads, "finds files").any_options().check(files::find),
    program("fd fdfind", Reads, "finds files")
        .options(&[
            takes(
                "-e --extension -t --type -d --max-depth --min-depth --exact-depth -E --exclude -S \
                 --size --changed-within --changed-before -c --color -j --threads --max-results \
                 --format -o --owner --newer --older --path-separator --batch-size --and",
                Data,
            ),
            takes("--ignore-file", Read),
            takes("--base-directory -C --search-path", List),
            makes_with("-x --exec -X --exec-batch", Command, super::Class::Wraps),
            plain(
                "-H --hidden -I --no-ignore -u --unrestricted --no-ignore-vcs --no-ignore-parent \
                 -s --case-sensitive -i --ignore-case -g --glob --regex -F --fixed-strings -a \
                 --absolute-path -l --list-details -L --follow -p --full-path -0 --print0 --prune \
                 -1 -q --quiet --show-errors --strip-cwd-prefix --one-file-system",
            ),
        ])
        .operands(&[Data, List])
        .check(files::fd),
    program("mkdir", Writes, "makes folders")
        .options(&[
            takes("-m --mode", Data),
            attached("--context"),
            plain("-Z -p --parents -v --verbose"),
        ])
        .operands(&[Write]),
    program("tee", Writes, "copies its input to files")
        .operands(&[Write])
        .options(&[attached("--output-error"), plain("-a --append -i --ignore-interrupts -p")]),
    program("chmod", Changes, "changes who may use a file").check(files::chmod),
    program("chown chgrp chattr setfacl chcon", Changes, "changes who owns a file")
        .operands(&[Data, Write]),
    program("touch", Writes, "makes files").operands(&[Write]).options(&[
        takes("-d --date -t", Data),
        takes("-r --reference", List),
        attached("--time"),
        plain("-a -c --no-create -f -h --no-dereference -m"),
    ]),
    program("truncate", Changes, "cuts files")
        .operands(&[Write])
        .options(&[takes("-s --size", Data), takes("-r --reference", List)]),
    program("mktemp", Writes, "makes a temporary file")
        .operands(&[Data])
        .options(&[
            takes("-p", Write),
            takes("--suffix", Data),
            attached("--tmpdir"),
            plain("-d --directory -u --dry-run -q --quiet -t"),
        ])
        .check(files::temporary),
    program("cp mv", Changes, "copies or moves files")
        .options(&[
            takes("-t --target-directory", Write),
            takes("-S --suffix", Data),
            attached("--backup --preserve --no-preserve --reflink --sparse --update --context"),
            plain(
                "-a --archive -b -d -f --force -i --interactive -H -l --link -L --dereference -n \
                 --no-clobber -P --no-dereference -p --parents -R -r --recursive \
                 --remove-destination --strip-trailing-slashes -T --no-target-directory -u -v \
                 --verbose -x --one-file-system -Z --debug --exchange --no-copy",
            ),
            // A link takes the place of what it points to in later commands.
            makes("-s --symbolic-link", Changes),
        ])
        .check(files::copy),
    program("ln install rename", Changes, "links or installs files")
        .options(&[
            takes("-t --target-directory", Write),
            takes("-S --suffix -m --mode -o -g", Data),
        ])
        .check(files::copy),
    program("rm unlink", Deletes, "removes files")
        .options(&[
            plain("-r -R --recursive -f --force -v --verbose -d --dir -i"),
            makes("--no-preserve-root", Destroys),
        ])
        .check(files::rm),
    program("rmdir", Deletes, "removes empty folders").operands(&[Write]),
    program(
        "shred wipefs mkfs mke2fs fdisk sfdisk parted blkdiscard",
        Destroys,
        "erases files or disks",
    ),
    program("mkfs.ext4 mkfs.xfs mkfs.btrfs mkfs.vfat mkswap", Destroys, "erases disks"),
    program("dd", Changes, "copies blocks").check(files::dd),
    program("rsync scp sftp lftp", Connects, "copies files between machines"),
    program("tar bsdtar", Changes, "packs and unpacks archives").any_options().check(files::tar),
    program(
        "zip unzip gzip gunzip bzip2 bunzip2 xz unxz zstd unzstd 7z 7za cpio",
        Changes,
        "packs and unpacks archives",
    ),
    program("zcat gzcat bzcat xzcat zstdcat", Reads, "prints packed files")
        .options(&[
            makes_with("--files --files0", Read, Reveals),
            plain("-f --force -k --keep -q --quiet -v --verbose -d --decompress -c --stdout"),
        ])
        .operands(&[Read]),
    program("split csplit", Changes, "cuts files into pieces"),
    program("patch", Changes, "applies a patch")
        .any_options()
        .options(&[takes("-o --output -r --reject-file", Write)])
        .operands(&[Write, Read]),
    program("sponge", Changes, "writes its input to a file").operands(&[Write]),
    program("mount umount losetup", Destroys, "changes file systems"),
];
