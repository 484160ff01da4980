//! The system call filter of confined programs.
//!
//! The filter does not handle files. It closes what namespaces and Landlock leave open: input to
//! the terminal, the keyring, kinds of sockets, shared memory by id, and calls that bypass the
//! other rules.

use std::collections::BTreeMap;

use libc::c_long;
use onloop_core::effect::{Failure, Network};
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

use super::impossible;

/// Refused with any arguments.
const NEVER: &[c_long] = &[
    // Would open sockets without `socket`.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // All programs of the user share the session's keys.
    libc::SYS_add_key,
    libc::SYS_keyctl,
    libc::SYS_request_key,
    // Access to processes and files without paths.
    libc::SYS_open_by_handle_at,
    libc::SYS_pidfd_getfd,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_kcmp,
    // The machine.
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_syslog,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_clock_adjtime,
    libc::SYS_adjtimex,
];

/// Shared memory and messages with ids instead of paths.
const SHARED: &[c_long] = &[
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_semget,
    libc::SYS_semctl,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
];

/// `TIOCSTI` inserts input into a terminal; `TIOCLINUX` does it through the console's clipboard.
const TERMINAL: [u64; 2] = [0x5412, 0x541C];

/// What begins to trace another process. Once a program has stopped the first process of its sandbox,
/// the sandbox never ends.
const TRACE: [libc::c_uint; 2] = [libc::PTRACE_ATTACH as _, libc::PTRACE_SEIZE as _];

/// The allowed sockets and shared memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Wanted {
    /// The network.
    pub(super) network: Network,
    /// Whether Unix sockets, with a path or an abstract name, are refused.
    pub(super) no_local_sockets: bool,
    /// Whether shared memory is refused, because it belongs to the whole machine.
    pub(super) no_shared_memory: bool,
}

/// Builds the filter for a process and its descendants.
pub(super) fn program(wanted: &Wanted) -> Result<BpfProgram, Failure> {
    let arch = TargetArch::try_from(std::env::consts::ARCH)
        .map_err(|_| impossible("no filter of system calls is known for this processor"))?;
    let filter = SeccompFilter::new(
        rules(wanted).map_err(impossible)?,
        SeccompAction::Allow,
        SeccompAction::Errno(libc::EPERM as u32),
        arch,
    );
    let program = filter.and_then(BpfProgram::try_from).map_err(impossible)?;
    Ok(guarded(program))
}

fn rules(wanted: &Wanted) -> Result<BTreeMap<i64, Vec<SeccompRule>>, seccompiler::BackendError> {
    let mut refused: Vec<c_long> = NEVER.to_vec();
    if wanted.no_shared_memory {
        refused.extend(SHARED);
    }
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        refused.into_iter().map(|call| (call, Vec::new())).collect();
    let is = |argument, value: u64| {
        SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
    };
    let typing = TERMINAL.iter().map(|&code| SeccompRule::new(vec![is(1, code)?]));
    rules.insert(libc::SYS_ioctl, typing.collect::<Result<_, _>>()?);
    let tracing = TRACE.iter().map(|&how| SeccompRule::new(vec![is(0, how.into())?, is(1, 1)?]));
    rules.insert(libc::SYS_ptrace, tracing.collect::<Result<_, _>>()?);
    let others = families(wanted).into_iter().map(|family| {
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, family as u64)
    });
    let others: Vec<SeccompCondition> = others.collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(others)?]);
    Ok(rules)
}

/// Allowed socket families. `AF_NETLINK` lists the addresses of this machine.
fn families(wanted: &Wanted) -> Vec<libc::c_int> {
    let mut families = vec![libc::AF_NETLINK];
    if wanted.network != Network::None {
        families.extend([libc::AF_INET, libc::AF_INET6]);
    }
    if !wanted.no_local_sockets {
        families.push(libc::AF_UNIX);
    }
    families
}

/// On x86-64 every call has a second number, for the unused x32 ABI.
#[cfg(target_arch = "x86_64")]
fn guarded(program: BpfProgram) -> BpfProgram {
    use seccompiler::sock_filter;
    const SECOND_NUMBERS: u32 = 0x4000_0000;
    let load_number = sock_filter { code: 0x20, jt: 0, jf: 0, k: 0 };
    let is_second = sock_filter { code: 0x35, jt: 0, jf: 1, k: SECOND_NUMBERS };
    let refuse = sock_filter { code: 0x06, jt: 0, jf: 0, k: 0x0005_0000 | libc::ENOSYS as u32 };
    let mut guarded = vec![load_number, is_second, refuse];
    guarded.extend(program);
    guarded
}

#[cfg(not(target_arch = "x86_64"))]
fn guarded(program: BpfProgram) -> BpfProgram {
    program
}
