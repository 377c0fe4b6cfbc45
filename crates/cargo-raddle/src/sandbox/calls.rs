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
const REFUSED: &[i64] = &[
    41, 42, 43, 49, 50, 53, 288, // socket, connect, accept, bind, listen, socketpair, accept4
    29, 30, 31, 64, 65, 66, 220, 68, 69, 70, 71, 240,
    241, // shared memory, semaphores and queues of System V, mq_open, mq_unlink
    101, 310, 311, 312, 440, // ptrace, process_vm_readv, process_vm_writev, kcmp, process_madvise
    434, 438, 424, 129,
    297, // pidfd_open, pidfd_getfd, pidfd_send_signal, rt_sigqueueinfo, rt_tgsigqueueinfo
    141, 251, 256, 279, // setpriority, ioprio_set, migrate_pages, move_pages
    155, 161, 165, 166, 428, 429, 430, 431, 432, 433, 442,
    467, // pivot_root, chroot, mount, umount2 and their successors
    272, 308, // unshare, setns
    133, 259, 303, 304, // mknod, mknodat, name_to_handle_at, open_by_handle_at
    159, 164, 227, 305, // adjtimex, settimeofday, clock_settime, clock_adjtime
    103, 153, 163, 167, 168, 169, 170, 171, 172,
    173, // syslog, vhangup, acct, swapon, swapoff, reboot, names, iopl, ioperm
    175, 176, 246, 313, 320, 179, 443, // modules, kexec, quotas
    248, 249, 250, // add_key, request_key, keyctl
    298, 300, 321, 323, 425, 426, 427, // perf_event_open, fanotify_init, bpf, userfaultfd, io_uring
];

/// Refused to code under test; builds set the modes and times of what they write.
const ATTRIBUTES: &[i64] = &[
    90, 91, 268, 452, // chmod, fchmod, fchmodat, fchmodat2
    92, 93, 94, 260, // chown, fchown, lchown, fchownat
    132, 235, 261, 280, // utime, utimes, futimesat, utimensat
    188, 189, 190, 197, 198, 199, 463, 466, 469, // extended attributes, file_setattr
];

/// Allowed only where the first argument is 0, the caller itself: sched_setparam, sched_setscheduler,
/// sched_setaffinity, prlimit64, sched_setattr.
const ON_ITSELF: &[i64] = &[142, 144, 203, 302, 314];

/// Restricts this thread and all that it starts.
pub fn restrict(build: bool) -> Result<(), Error> {
    let attributes = if build { &[] } else { ATTRIBUTES };
    let other = SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, 0)
        .and_then(|argument| SeccompRule::new(vec![argument]))
        .map_err(Error::Backend)?;
    let always = REFUSED.iter().chain(attributes).map(|n| (*n, vec![]));
    let on_others = ON_ITSELF.iter().map(|n| (*n, vec![other.clone()]));
    let rules: BTreeMap<i64, Vec<SeccompRule>> =
        always.chain(on_others).flat_map(|(n, rule)| [(n, rule.clone()), (n | X32, rule)]).collect();
    let filter =
        SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(EPERM), TargetArch::x86_64)
            .map_err(Error::Backend)?;
    let program: seccompiler::BpfProgram = filter.try_into().map_err(Error::Backend)?;
    seccompiler::apply_filter(&program)
}
