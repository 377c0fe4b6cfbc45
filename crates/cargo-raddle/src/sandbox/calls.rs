//! Which system calls are refused (seccomp): those that reach the network, other processes, the clock or the machine,
//! and those that change what Landlock does not know about: modes, owners, times and attributes of files.

use seccompiler::{
    Error, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};
use std::collections::BTreeMap;

const EPERM: u32 = 1;
/// Added to the number of a call, it means the same call with shorter pointers, on kernels that know this.
const X32: i64 = 0x4000_0000;

/// Numbers of system calls on x86_64 Linux that nobody may make.
#[rustfmt::skip]
const REFUSED: &[i64] = &[
    // socket, connect, accept, bind, listen, accept4
    41, 42, 43, 49, 50, 288,
    // shmget, shmat, shmctl, semget, semop, semctl, semtimedop, msgget, msgsnd, msgrcv, msgctl, mq_open, mq_unlink
    29, 30, 31, 64, 65, 66, 220, 68, 69, 70, 71, 240, 241,
    // ptrace, process_vm_readv, process_vm_writev, kcmp, process_madvise
    101, 310, 311, 312, 440,
    // pidfd_open, pidfd_getfd, pidfd_send_signal, rt_sigqueueinfo, rt_tgsigqueueinfo
    434, 438, 424, 129, 297,
    // setpriority, ioprio_set, migrate_pages, move_pages
    141, 251, 256, 279,
    // pivot_root, chroot, mount, umount2, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, mount_setattr, open_tree_attr
    155, 161, 165, 166, 428, 429, 430, 431, 432, 433, 442, 467,
    // unshare, setns
    272, 308,
    // mknod, mknodat, name_to_handle_at, open_by_handle_at
    133, 259, 303, 304,
    // adjtimex, settimeofday, clock_settime, clock_adjtime
    159, 164, 227, 305,
    // syslog, vhangup, acct, swapon, swapoff, reboot, sethostname, setdomainname, iopl, ioperm
    103, 153, 163, 167, 168, 169, 170, 171, 172, 173,
    // init_module, delete_module, finit_module, kexec_load, kexec_file_load, quotactl, quotactl_fd
    175, 176, 313, 246, 320, 179, 443,
    // add_key, request_key, keyctl
    248, 249, 250,
    // perf_event_open, fanotify_init, bpf, userfaultfd, io_uring_setup, io_uring_enter, io_uring_register
    298, 300, 321, 323, 425, 426, 427,
];

/// Refused to code under test; builds set the modes and times of what they write, and start programs through a pair of
/// sockets.
#[rustfmt::skip]
const REFUSED_TO_TESTS: &[i64] = &[
    // socketpair
    53,
    // chmod, fchmod, fchmodat, fchmodat2
    90, 91, 268, 452,
    // chown, fchown, lchown, fchownat
    92, 93, 94, 260,
    // utime, utimes, futimesat, utimensat
    132, 235, 261, 280,
    // setxattr, lsetxattr, fsetxattr, removexattr, lremovexattr, fremovexattr, setxattrat, removexattrat, file_setattr
    188, 189, 190, 197, 198, 199, 463, 466, 469,
];

/// With it, a socket of a pair can still send to others if it is of the second or third kind.
const SOCKETPAIR: i64 = 53;

/// Allowed only where the first argument is 0, the caller itself: sched_setparam, sched_setscheduler,
/// sched_setaffinity, prlimit64, sched_setattr.
const ON_ITSELF: &[i64] = &[142, 144, 203, 302, 314];

/// Restricts this thread and all that it starts.
pub fn restrict(build: bool) -> Result<(), Error> {
    const KIND: SeccompCmpOp = SeccompCmpOp::MaskedEq(0xf);
    let for_tests = if build { &[] } else { REFUSED_TO_TESTS };
    let always = REFUSED.iter().chain(for_tests).map(|n| (*n, vec![]));
    let others = vec![when(0, SeccompCmpOp::Ne, 0)?];
    let on_others = ON_ITSELF.iter().map(|n| (*n, others.clone()));
    let pairs = build.then_some((SOCKETPAIR, vec![when(1, KIND, 2)?, when(1, KIND, 3)?]));
    let rules: BTreeMap<i64, Vec<SeccompRule>> = always
        .chain(on_others)
        .chain(pairs)
        .flat_map(|(n, rule)| [(n, rule.clone()), (n | X32, rule)])
        .collect();
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(EPERM), TargetArch::x86_64)
            .map_err(Error::Backend)?;
    let program: seccompiler::BpfProgram = filter.try_into().map_err(Error::Backend)?;
    seccompiler::apply_filter(&program)
}

/// A call whose argument compares so.
fn when(argument: u8, comparison: SeccompCmpOp, value: u64) -> Result<SeccompRule, Error> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, comparison, value)
        .and_then(|condition| SeccompRule::new(vec![condition]))
        .map_err(Error::Backend)
}
