//! What `strace -f -y` writes, as far as it says what was opened, run and refused.

use std::collections::{BTreeMap, BTreeSet};

/// What a process and its children have done.
#[derive(Debug, Default)]
pub(super) struct Trace {
    /// Programs that were started, by their paths.
    pub(super) programs: Vec<String>,
    /// Files that were opened for reading.
    pub(super) read: BTreeSet<String>,
    /// Folders that were opened to be listed.
    pub(super) folders: BTreeSet<String>,
    /// Calls that failed only because nothing outside can be changed.
    pub(super) refused: Vec<String>,
    /// Addresses of networks and sockets that were connected to or waited at.
    pub(super) connected: Vec<String>,
}

/// Reads what was written about calls. Lines of other forms are about signals and ends.
pub(super) fn read(text: &str) -> Trace {
    let mut trace = Trace::default();
    for call in calls(text) {
        let Some((name, rest)) = call.split_once('(') else { continue };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else { continue };
        if result.contains("EROFS") {
            trace.refused.push(call.clone());
        }
        match name {
            "execve" | "execveat" if result.starts_with('0') => {
                trace.programs.extend(quoted(arguments));
            }
            "connect" | "bind" | "sendto" => trace.connected.extend(address(arguments)),
            "open" | "openat" | "openat2" | "creat" => {
                // With `-y` a descriptor says what it is of, without links.
                let opened = result.split_once('<').and_then(|(_, path)| path.strip_suffix('>'));
                let Some(path) = opened.map(str::to_owned) else { continue };
                if arguments.contains("O_DIRECTORY") {
                    trace.folders.insert(path);
                } else if !arguments.contains("O_WRONLY") && !arguments.contains("O_PATH") {
                    trace.read.insert(path);
                }
            }
            _ => {}
        }
    }
    trace
}

/// The calls without the numbers of their processes. A call during which another process did something
/// is written in two parts.
fn calls(text: &str) -> Vec<String> {
    let mut begun = BTreeMap::new();
    let mut calls = Vec::new();
    for line in text.lines() {
        let call = line.trim_start_matches(|c: char| c.is_ascii_digit());
        let process = &line[..line.len() - call.len()];
        let call = call.trim_start();
        if let Some(first) = call.strip_suffix(" <unfinished ...>") {
            begun.insert(process, first);
        } else if let Some((_, rest)) =
            call.strip_prefix("<... ").and_then(|call| call.split_once(" resumed>"))
        {
            calls.push(format!("{}{rest}", begun.remove(process).unwrap_or_default()));
        } else {
            calls.push(call.to_owned());
        }
    }
    calls
}

/// The address in the arguments of a call about a socket; `None` for questions to the system itself:
/// names of users, and what the kernel knows of networks.
fn address(arguments: &str) -> Option<String> {
    let (_, address) = arguments.split_once("{sa_family=")?;
    let (address, _) = address.split_once('}')?;
    let is_of_the_system = address.contains("nscd") || address.contains("/run/systemd/userdb");
    let is_outside = address.starts_with("AF_INET") || address.starts_with("AF_UNIX");
    (is_outside && !is_of_the_system).then(|| address.to_owned())
}

/// The first quoted string of a list of arguments; paths here have nothing that is escaped.
fn quoted(arguments: &str) -> Option<String> {
    let (_, rest) = arguments.split_once('"')?;
    rest.split_once('"').map(|(text, _)| text.to_owned())
}

#[test]
fn calls_are_read_as_they_are_written() {
    let trace = read(
        "12 execve(\"/usr/bin/cat\", [\"cat\", \"a b\"], 0x7ff /* 3 vars */) = 0\n\
         12 execve(\"/usr/local/bin/x\", [\"x\"], 0x7ff /* 3 vars */) = -1 ENOENT (No such file)\n\
         12 openat(AT_FDCWD</w>, \"a.txt\", O_RDONLY|O_CLOEXEC) = 3</w/a.txt>\n\
         12 openat(AT_FDCWD</w>, \"b.txt\", O_RDONLY <unfinished ...>\n\
         13 openat(AT_FDCWD</w>, \".\", O_RDONLY|O_DIRECTORY) = 4</w>\n\
         12 <... openat resumed>)            = 5</w/b.txt>\n\
         13 openat(AT_FDCWD</w>, \"new\", O_WRONLY|O_CREAT, 0666) = 4</w/new>\n\
         13 openat(AT_FDCWD</w>, \"/etc/x\", O_WRONLY|O_CREAT, 0666) = -1 EROFS (Read-only)\n\
         13 openat(AT_FDCWD</w>, \"none\", O_RDONLY) = -1 ENOENT (No such file or directory)\n\
         13 connect(3<UNIX-STREAM:[9]>, {sa_family=AF_UNIX, sun_path=\"/var/run/nscd/socket\"}, 110) = -1 ENOENT (No such file)\n\
         13 connect(3<TCP:[9]>, {sa_family=AF_INET, sin_port=htons(9), sin_addr=inet_addr(\"127.0.0.1\")}, 16) = -1 ECONNREFUSED (Connection refused)\n\
         13 sendto(3<NETLINK:[9]>, [{nlmsg_len=20}], 20, 0, {sa_family=AF_NETLINK, nl_pid=0}, 12) = 20\n\
         13 --- SIGCHLD {si_signo=SIGCHLD} ---\n\
         12 +++ exited with 0 +++\n",
    );
    assert_eq!(trace.programs, ["/usr/bin/cat"]);
    assert_eq!(trace.read.into_iter().collect::<Vec<_>>(), ["/w/a.txt", "/w/b.txt"]);
    assert_eq!(trace.folders.into_iter().collect::<Vec<_>>(), ["/w"]);
    assert_eq!(trace.refused.len(), 1);
    assert_eq!(trace.connected.len(), 1);
    assert!(trace.connected[0].starts_with("AF_INET, sin_port=htons(9)"));
}
