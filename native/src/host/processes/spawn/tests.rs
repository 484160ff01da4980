use std::io::{self, Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command as OsCommand;

use onloop_core::effect::ProcessSpec;

use super::super::child::{Child, Place};
use super::super::command;
use super::{BUSY_LOOK, linux, spawn, usual};
use crate::host::Root;
use crate::host::confine::Restrictions;

type Spawn = fn(&mut OsCommand, &ProcessSpec, Place, Option<&Restrictions>) -> io::Result<Child>;

/// What a program says and how it ends, or why it does not start.
fn outcome(spawn: Spawn, folder: &Path, spec: &ProcessSpec) -> Result<(String, i32), i32> {
    let root = Root::new(folder.to_str().unwrap());
    let mut command = command::prepare(&root, spec).unwrap();
    let started = spawn(&mut command, spec, Place::OwnGroup, None);
    let mut child = started.map_err(|error| error.raw_os_error().unwrap())?;
    if let (Some(mut stdin), Some(text)) = (child.stdin.take(), &spec.stdin) {
        stdin.write_all(&Vec::from(text.clone())).unwrap();
    }
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    Ok((said, child.wait().unwrap().into_raw()))
}

#[test]
fn a_program_begins_as_the_standard_library_begins_it() {
    let folder = tempfile::tempdir().unwrap();
    let here = |name: &str| folder.path().join(name);
    std::fs::create_dir(here("sub")).unwrap();
    std::fs::write(here("script"), "#!/bin/sh\necho script $1\n").unwrap();
    std::fs::write(here("closed"), "#!/bin/sh\n").unwrap();
    std::fs::write(here("sub/program"), "#!/bin/sh\npwd -P\n").unwrap();
    for name in ["script", "sub/program"] {
        std::fs::set_permissions(here(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let sh = |line: &str| ProcessSpec::argv(["sh", "-c", line]);
    let in_folder = |spec: ProcessSpec, cwd: &str| ProcessSpec { cwd: cwd.to_owned(), ..spec };
    let fed = ProcessSpec { stdin: Some("read me".into()), ..sh("cat; echo err >&2; exit 3") };
    let mut variables = sh("echo \"$NEW|${HOME-none}|$PATH\"");
    variables.env_set.insert("NEW".to_owned(), "a b".to_owned());
    variables.env_set.insert("PATH".to_owned(), "/usr/bin:/bin".to_owned());
    variables.env_remove.push("HOME".to_owned());
    let mut found_there = ProcessSpec::argv(["program"]);
    found_there.env_set.insert("PATH".to_owned(), "/nowhere::".to_owned());
    let cases = [
        fed,
        variables,
        sh("cat; kill -9 $$"),
        sh("trap"),
        // The C library keeps two signals for itself, which come last.
        sh("grep -E '^Sig(Blk|Ign)' /proc/$$/status |
            while read -r what mask; do echo $what $((0x$mask & 0x7fffffff)); done"),
        sh("ps -o pid=,pgid= -p $$ | awk '{ print $1 == $2 }'"),
        sh("ls /proc/self/fd | wc -l"),
        ProcessSpec::argv(["./script", "with words"]),
        in_folder(ProcessSpec::argv(["./program"]), "sub"),
        in_folder(found_there, "sub"),
        in_folder(sh("pwd -P"), "sub"),
        in_folder(sh("true"), "gone"),
        ProcessSpec::argv(["./closed"]),
        ProcessSpec::argv(["./gone"]),
        ProcessSpec::argv(["no-such-program-anywhere"]),
        ProcessSpec::argv(["/"]),
    ];
    for spec in cases {
        let [expected, found] =
            [usual::spawn, linux::spawn as Spawn].map(|spawn| outcome(spawn, folder.path(), &spec));
        assert_eq!(found, expected, "{:?} in {}", spec.command, spec.cwd);
    }
}

#[test]
fn a_file_that_is_no_program_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("words");
    std::fs::write(&path, "echo it is no script\n").unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    let found = outcome(linux::spawn, folder.path(), &ProcessSpec::argv(["./words"]));
    assert_eq!(found, Err(libc::ENOEXEC));
}

#[test]
fn a_program_that_is_still_being_written_is_waited_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("program");
    std::fs::copy("/bin/true", &path).unwrap();
    let written = || std::fs::File::options().append(true).open(&path).unwrap();
    let spec = ProcessSpec::argv(["./program"]);
    let open = written();
    assert_eq!(outcome(linux::spawn, folder.path(), &spec), Err(libc::ETXTBSY));
    let closer = std::thread::spawn(move || {
        std::thread::sleep(BUSY_LOOK * 10);
        drop(open);
    });
    assert_eq!(outcome(spawn, folder.path(), &spec), Ok((String::new(), 0)));
    closer.join().unwrap();
    let _open = written();
    assert_eq!(outcome(spawn, folder.path(), &spec), Err(libc::ETXTBSY));
}

#[test]
fn our_memory_is_not_copied() {
    const PAGES: usize = 4096;
    let mut memory = vec![0_u8; PAGES * 4096];
    let mut write_everywhere = |value: u8| {
        memory.chunks_mut(4096).for_each(|page| page[0] = value);
        assert!(std::hint::black_box(&memory).iter().step_by(4096).all(|byte| *byte == value));
    };
    let folder = tempfile::tempdir().unwrap();
    let mut cost_of_a_round = || {
        write_everywhere(1);
        assert!(outcome(linux::spawn, folder.path(), &ProcessSpec::argv(["true"])).is_ok());
        let before = faults();
        write_everywhere(2);
        faults() - before
    };
    // After a fork every page that is written to costs a fault. Other tests may fork meanwhile.
    let least = (0..50).map(|_| cost_of_a_round()).min().unwrap();
    assert!(least < PAGES as u64 / 8, "{least} faults");
}

/// How often this thread had to wait for a page that was in memory.
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").unwrap();
    // The name, which comes before, may contain blanks.
    let (_, fields) = stat.rsplit_once(") ").unwrap();
    fields.split(' ').nth(7).unwrap().parse().unwrap()
}
