//! Programs that control processes, services and the machine.

use super::super::judge::network;
use super::Class::{Administers, Changes, Destroys};
use super::{ProgramEntry, program};

/// Where the entries come from.
pub(super) const SOURCE: &str = "manuals of procps 4, shadow 4.16, systemd 256";

pub(super) const TABLE: &[ProgramEntry] = &[
    program("kill", Changes, "ends processes").any_options().check(network::kill),
    program("pkill killall skill renice fuser", Administers, "ends processes").any_options(),
    program(
        "service launchctl initctl rc-service supervisorctl crontab at batch atd \
             anacron sysctl modprobe insmod rmmod hostnamectl timedatectl loginctl networksetup \
             defaults nvram csrutil schtasks sc.exe reg.exe update-alternatives ldconfig dconf \
             gsettings",
        Administers,
        "controls services and settings",
    ),
    program(
        "useradd userdel usermod groupadd passwd chpasswd chsh chfn adduser deluser",
        Administers,
        "controls accounts",
    ),
    program("shutdown reboot halt poweroff init telinit kexec", Destroys, "stops the machine"),
];
