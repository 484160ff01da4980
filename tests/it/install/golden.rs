//! Every file that each host gets, as text to be read.

use onloop_core::auto::prompts::AGENTS;
use onloop_core::handsoff::config::Config;
use onloop_core::hooks::Host;
use onloop_core::install::{HostFile, InstallScope, Setting, Waits, host_files, user_folder};

use super::plugin::is_up_to_date;
use crate::workspace::source_root;

/// The files of both scopes. Instructions are named only: they are in `npm/plugin`.
fn shown(host: Host) -> String {
    let mut text = String::new();
    for scope in InstallScope::ALL {
        let setting = Setting {
            program: vec!["/opt/on loop/onloop".to_owned()],
            scope,
            home: "/home/you".to_owned(),
            project: "/srv/repo".to_owned(),
            user_folder: user_folder(host, "/home/you", |_| None),
            waits: Waits::of(&Config::default()),
            continuations: 10,
        };
        for host_file in host_files(host, &setting, &AGENTS) {
            let content = host_file.installed(None).expect("nothing is there yet");
            let is_program = matches!(&host_file, HostFile::Own(file) if file.executable);
            let mode = if is_program { " (executable)" } else { "" };
            text += &format!("=== {}{mode}\n", host_file.path());
            let content = match content.strip_prefix("---\n").and_then(|c| c.split_once("---\n")) {
                Some((head, _)) => head.to_owned(),
                None if content.trim_end().ends_with("-->") => sections(&content),
                None => content,
            };
            text += &content;
        }
    }
    text
}

/// The headings of instructions.
fn sections(markdown: &str) -> String {
    let heading = |line: &&str| line.starts_with("# ");
    markdown.lines().filter(heading).map(|line| format!("{line}\n")).collect()
}

#[test]
fn every_host_gets_the_files_that_are_written_down() {
    for host in Host::ALL {
        let path = source_root().join(format!("tests/it/install/golden/{}.txt", host.as_str()));
        is_up_to_date(&path, &shown(host));
    }
}
