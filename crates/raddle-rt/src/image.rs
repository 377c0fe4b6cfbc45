//! The program's image: where it is loaded and what its debug information says.

use crate::heap::persistent;
use crate::names::Place;
use crate::pages;
use raddle_core::{LockMode, Site};
pub use raddle_debuginfo::{AccessKind, Class, LockFamily, LockOp, LockStep};
use raddle_debuginfo::{DebugInfo, Frame, Name};
use std::ffi::{CStr, CString};

/// The program's image; persistent, like everything that its debug information remembers.
pub struct Image {
    /// Where it is loaded.
    pub base: usize,
    /// Start and end in memory.
    pub range: (usize, usize),
    info: Option<DebugInfo<'static>>,
    crates: Vec<String>,
    /// The file.
    executable: Option<&'static [u8]>,
    /// See [`Image::handles_overflows`], once that was asked for.
    handles_overflows: Option<Option<usize>>,
}

/// Crates whose frames a person does not want to see in a backtrace.
const PLUMBING: [&str; 8] =
    ["std", "core", "alloc", "test", "raddle", "panic_unwind", "__rustc", raddle_debuginfo::native::SYSTEM];
/// How the names of the crates begin that a hunt makes.
const HARNESS: &str = "raddle_harness";

impl Image {
    /// Of this process; `places` names a file with what its debug information says about calls.
    pub fn of_this_process(crates: &[String], places: Option<&str>) -> Self {
        let (base, high) = extent();
        let executable = mapped(c"/proc/self/exe", false);
        let info = executable.and_then(|bytes| DebugInfo::parse(bytes, crates.iter().cloned()).ok());
        let places = places.and_then(|path| mapped(&CString::new(path).ok()?, true));
        let info = match places {
            Some(table) => info.map(|i| i.with_places(table)),
            None => info,
        };
        let crates = crates.to_vec();
        Image { base, range: (base, high), info, crates, executable, handles_overflows: None }
    }

    fn relative(&self, chain: &[usize]) -> Vec<u64> {
        chain.iter().map(|pc| pc.wrapping_sub(self.base) as u64).collect()
    }

    fn under_test(&self, f: &Frame) -> bool {
        self.crates.iter().any(|c| **c == *f.krate)
    }

    /// Whether an address is in library code that was not inlined into a crate under test.
    pub fn is_library(&mut self, pc: usize) -> bool {
        persistent(|| match &self.info {
            Some(info) if !self.crates.is_empty() => !info.is_under_test((pc - self.base) as u64),
            _ => false,
        })
    }

    /// Whether an address is in code of std that was not inlined into any other crate.
    pub fn is_std(&mut self, pc: usize) -> bool {
        persistent(|| self.info.as_ref().is_some_and(|i| i.is_std(pc.wrapping_sub(self.base) as u64)))
    }

    /// Whether a test that fails always panics or prints something.
    pub fn failing_tests_speak(&self) -> bool {
        self.info.as_ref().is_some_and(DebugInfo::failing_tests_speak)
    }

    /// What the word accessed at the end of this chain of return addresses belongs to.
    pub fn classify(&mut self, chain: &[usize], kind: AccessKind) -> Class {
        persistent(|| match &self.info {
            Some(info) => info.classify(&self.relative(chain), kind),
            None => Class::Data,
        })
    }

    /// What the word accessed before this return address belongs to, if that does not depend on the callers.
    pub fn settled(&mut self, pc: usize, kind: AccessKind) -> Option<Class> {
        persistent(|| self.info.as_ref().and_then(|i| i.settled(pc.wrapping_sub(self.base) as u64, kind)))
    }

    /// The innermost place in a crate under test; without one, the innermost place.
    pub fn site(&mut self, chain: &[usize]) -> Site {
        let frames = self.all(chain);
        let at = frames.iter().position(|f| self.under_test(f) && has_place(f)).unwrap_or(0);
        match frames.get(at) {
            Some(f) => {
                Site { inlined: frames[..at].iter().map(|f| f.function.to_string()).collect(), ..site(f) }
            }
            None => Site { function: "unknown".to_owned(), ..Site::default() },
        }
    }

    fn all(&mut self, chain: &[usize]) -> Vec<Frame> {
        persistent(|| match &self.info {
            Some(info) => {
                chain.iter().flat_map(|pc| info.frames(pc.wrapping_sub(self.base) as u64)).collect()
            }
            None => Vec::new(),
        })
    }

    /// A stack of return addresses, innermost first, in source terms, without the plumbing, and without what the compiler has made
    /// for no line of the source.
    pub fn frames(&mut self, chain: &[usize]) -> Vec<Site> {
        let frames = self.all(chain);
        let plumbing = |f: &Frame| PLUMBING.contains(&&*f.krate) || f.krate.starts_with(HARNESS);
        let shown = |f: &&Frame| !plumbing(f) && has_place(f);
        frames.iter().filter(shown).map(site).collect()
    }

    /// The compiled function that a return address is in.
    pub fn function(&mut self, pc: usize) -> Option<String> {
        self.all(&[pc]).last().map(|f| f.function.to_string())
    }

    /// Whether a return address is where a thread made by std begins.
    pub fn is_thread_top(&mut self, pc: usize) -> bool {
        let frames = self.all(&[pc]);
        frames.iter().any(|f| f.function.starts_with("std::thread"))
            && !frames.iter().any(|f| self.under_test(f))
    }

    /// An address in the function that is called by the instruction before a return address, if that says which.
    pub fn called(&self, pc: usize) -> Option<usize> {
        // SAFETY: there is a call before a return address of the program, and the longer one has a byte more. Its operand, or
        // the entry of the linkage table that its operand is the distance of, is mapped as the code is.
        unsafe {
            let operand = (pc as *const i32).byte_sub(4).read_unaligned() as isize;
            let near = pc.wrapping_add_signed(operand);
            let target = match *((pc - 6) as *const [u8; 2]) {
                [0xff, 0x15] => (near as *const usize).read(),
                [_, 0xe8] => near,
                _ => return None,
            };
            (self.range.0..self.range.1).contains(&target).then_some(target + 1)
        }
    }

    /// What a thread that waits on a futex waits for, in words.
    pub fn futex_wait(&mut self, chain: &[usize]) -> String {
        let frames = self.all(chain);
        let within = |part: &str| frames.iter().any(|f| f.function.contains(part));
        let what = if within("Condvar") {
            "a condition variable to be notified"
        } else if within("thread::scoped") {
            "the threads of a scope to end"
        } else if within("sync::once") || within("Once>::") || within("once_cell") {
            "an initialisation to end"
        } else if within("mpsc") || within("mpmc") || within("channel") {
            "a channel"
        } else if within("barrier") || within("Barrier") {
            "others to reach a barrier"
        } else if within("park") {
            "being unparked"
        } else if within("Mutex") || within("mutex") {
            "a mutex"
        } else if within("RwLock") || within("rwlock") {
            "a reader-writer lock"
        } else {
            "a futex to be woken"
        };
        what.to_owned()
    }

    /// Whether a futex call at the end of this chain comes from a primitive of std whose other accesses are
    /// precompiled and therefore not seen.
    pub fn hides_synchronisation(&mut self, chain: &[usize]) -> bool {
        let frames = self.all(chain);
        let hides = |f: &Frame| f.function.contains("::condvar::") || f.function.contains("::barrier::");
        frames.iter().any(|f| &*f.krate == "std" && hides(f))
    }

    /// Whether a futex call at the end of this chain tells a scope that one of its threads has ended.
    pub fn ends_scoped_thread(&mut self, chain: &[usize]) -> bool {
        self.all(chain).iter().any(|f| f.function.contains("thread::scoped"))
    }

    /// Whether a futex wait at the end of this chain is one of std's condition variables, or a parked thread, that the program itself waits with.
    pub fn may_wake_for_nothing(&mut self, chain: &[usize]) -> bool {
        let frames = self.all(chain);
        let within = |part: &str| frames.iter().any(|f| f.function.contains(part));
        // These wait in loops of their own, and so does a scope for its threads.
        let own = ["sync::once", "mpsc", "mpmc", "sync::barrier"];
        let condition = within("sync::condvar") || within("poison::condvar");
        let parked = (within("thread::park") || within("thread_parking")) && !within("thread::scoped");
        (condition || parked) && !own.iter().any(|o| within(o))
    }

    /// Where std keeps whether each new thread is to be prepared for an overflow of its stack, if that can be found.
    pub fn handles_overflows(&mut self) -> Option<usize> {
        *self.handles_overflows.get_or_insert_with(|| {
            let flag = raddle_debuginfo::flag(self.executable?, "stack_overflow3imp13NEED_ALTSTACK")?;
            Some(self.base + flag as usize)
        })
    }

    /// Address and size of each static of the program, but not those of std and of what runs tests and checks.
    pub fn statics(&mut self) -> Vec<(usize, usize)> {
        let own = |name: &str| name.split_once("::").is_some_and(|(krate, _)| PLUMBING.contains(&krate));
        let known = persistent(|| self.info.as_ref().map(DebugInfo::statics));
        let others = known.into_iter().flatten().filter(|&(name, ..)| !own(name));
        others.map(|(_, at, size)| (self.base + at as usize, size as usize)).collect()
    }

    /// What a static is called.
    pub fn static_name(&mut self, offset: usize) -> Option<Name> {
        persistent(|| self.info.as_ref().and_then(|i| i.static_at(offset as u64)))
    }

    /// What a word in the frame of a function is called, given where the function is and its stack pointer.
    pub fn local_name(&mut self, pc: usize, sp: usize, addr: usize) -> Option<String> {
        let pc = pc.wrapping_sub(self.base) as u64;
        persistent(|| Some(self.info.as_ref()?.local_at(pc, sp as u64, addr as u64)?.path))
    }

    /// What an offset in a heap block is called.
    pub fn heap_name(&mut self, place: &Place, size: usize, offset: usize) -> Option<Name> {
        let stack: Vec<u64> =
            self.relative(&place[..place.iter().position(|&p| p == 0).unwrap_or(place.len())]);
        persistent(|| self.info.as_ref().and_then(|i| i.heap_name(&stack, size as u64, offset as u64)))
    }
}

/// Whether a frame has a line, if it has a file.
fn has_place(f: &Frame) -> bool {
    f.line > 0 || f.file.is_empty()
}

fn site(f: &Frame) -> Site {
    Site {
        function: f.function.to_string(),
        file: f.file.to_string(),
        line: f.line,
        column: f.column,
        inlined: Vec::new(),
    }
}

/// Where the program is loaded and where it ends.
fn extent() -> (usize, usize) {
    unsafe extern "C" fn visit(
        info: *mut libc::dl_phdr_info,
        _: usize,
        out: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader passes a valid description, the program itself first; `out` is below.
        unsafe {
            let (info, out) = (&*info, &mut *(out as *mut (usize, usize)));
            let mut end = 0;
            for i in 0..info.dlpi_phnum as usize {
                let h = &*info.dlpi_phdr.add(i);
                if h.p_type == libc::PT_LOAD {
                    end = end.max(h.p_vaddr + h.p_memsz);
                }
            }
            *out = (info.dlpi_addr as usize, (info.dlpi_addr + end) as usize);
            1
        }
    }
    let mut out = (0usize, 0usize);
    // SAFETY: the callback only reads, and `out` outlives the call.
    unsafe { libc::dl_iterate_phdr(Some(visit), &raw mut out as *mut libc::c_void) };
    out
}

/// The bytes of a file, mapped for the life of the process, and in place for its children if they are to inherit it.
fn mapped(path: &CStr, inherit: bool) -> Option<&'static [u8]> {
    // SAFETY: a private read-only mapping of a file that nobody changes while it is in use: the kernel refuses to
    // write to a running executable, and the command replaces the other file as a whole, if at all.
    unsafe {
        let fd = libc::open(path.as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC);
        let mut st = std::mem::zeroed::<libc::stat>();
        if fd < 0 || libc::fstat(fd, &mut st) != 0 {
            return None;
        }
        let len = st.st_size as usize;
        let p = libc::mmap(std::ptr::null_mut(), len, libc::PROT_READ, libc::MAP_PRIVATE, fd, 0);
        libc::close(fd);
        if p == libc::MAP_FAILED {
            return None;
        }
        if inherit {
            pages::inherit(p.cast(), len, libc::PROT_READ);
        }
        Some(std::slice::from_raw_parts(p as *const u8, len))
    }
}

/// A mode of debug information in the words of the core.
pub fn mode(m: raddle_debuginfo::LockMode) -> LockMode {
    match m {
        raddle_debuginfo::LockMode::Exclusive => LockMode::Exclusive,
        raddle_debuginfo::LockMode::Shared => LockMode::Shared,
    }
}
