//! Programs that control processes, services and the machine.

use super::Class::{Administers, Destroys};
use super::{ProgramEntry, program};

pub(super) const TABLE: &[ProgramEntry] = &[
    program(
        &["kill", "pkill", "killall", "skill", "renice", "fuser"],
        Administers,
        "ends processes",
    ),
    program(
        &[
            "systemctl",
            "service",
            "launchctl",
            "initctl",
            "rc-service",
            "supervisorctl",
            "crontab",
            "at",
            "batch",
            "atd",
            "anacron",
            "sysctl",
            "modprobe",
            "insmod",
            "rmmod",
            "hostnamectl",
            "timedatectl",
            "loginctl",
            "networksetup",
            "defaults",
            "nvram",
            "csrutil",
            "schtasks",
            "sc.exe",
            "reg.exe",
            "update-alternatives",
            "ldconfig",
            "dconf",
            "gsettings",
        ],
        Administers,
        "controls services and settings",
    ),
    program(
        &[
            "useradd", "userdel", "usermod", "groupadd", "passwd", "chpasswd", "chsh", "chfn",
            "adduser", "deluser",
        ],
        Administers,
        "controls accounts",
    ),
    program(
        &["shutdown", "reboot", "halt", "poweroff", "init", "telinit", "kexec"],
        Destroys,
        "stops the machine",
    ),
];
