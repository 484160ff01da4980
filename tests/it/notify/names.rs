//! How the name of a server is looked up by a program that has its C library inside.

use std::process::Command;

use crate::temporary::temporary_folder;
use crate::workspace::program;

/// A module is made for the system's own C library; loaded into another one it crashes.
#[test]
fn no_module_of_the_system_is_loaded_to_look_up_a_name() {
    let folder = temporary_folder();
    let place = folder.path();
    let write = |name: &str, text: &str| std::fs::write(place.join(name), text).unwrap();
    write("nsswitch.conf", "hosts: files nowhere mymachines dns\n");
    write(".agentize.local.yaml", "notify:\n  webhook:\n    url: https://nobody.invalid/x\n");
    let output = Command::new("strace")
        .args(["-f", "-qq", "-e", "trace=openat", "-o", "opened"])
        .args(["bwrap", "--dev-bind", "/", "/", "--ro-bind", "nsswitch.conf", "/etc/nsswitch.conf"])
        .args([program(), "notify", "--test"])
        .current_dir(place)
        .env("ONLOOP_STATE_HOME", place.join("state"))
        .env("HOME", place)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    assert!(crate::flat(&said).contains("cannot reach `https://nobody.invalid`"), "{said}");
    let opened = std::fs::read_to_string(place.join("opened")).unwrap();
    let of_names: Vec<_> = opened
        .lines()
        .filter(|line| line.contains("/etc/hosts") || line.contains("libnss_"))
        .collect();
    assert!(of_names.iter().any(|line| line.contains("/etc/hosts")), "{opened}");
    assert!(!of_names.iter().any(|line| line.contains("libnss_")), "{of_names:#?}");
}
