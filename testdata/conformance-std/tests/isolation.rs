//! Every execution finds the process as the one before found it.

mod correct {
    use std::cell::Cell;
    use std::fs::File;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
    use std::sync::{Mutex, OnceLock};
    use std::thread;

    /// Two threads that add to a counter, so that there is something to schedule; executions begin here.
    fn run_two_threads() {
        let n = AtomicUsize::new(0);
        thread::scope(|s| {
            for _ in 0..2 {
                s.spawn(|| n.fetch_add(1, SeqCst));
            }
        });
        assert_eq!(n.load(SeqCst), 2);
    }

    #[test]
    fn a_static_has_its_first_value() {
        static COUNT: AtomicUsize = AtomicUsize::new(7);
        run_two_threads();
        assert_eq!(COUNT.fetch_add(1, SeqCst), 7);
    }

    #[test]
    fn a_static_without_a_value_in_the_file_is_zero() {
        static ZEROS: [AtomicUsize; 4096] = [const { AtomicUsize::new(0) }; 4096];
        run_two_threads();
        for zero in &ZEROS {
            assert_eq!(zero.swap(1, SeqCst), 0);
        }
    }

    #[test]
    fn a_static_list_is_empty() {
        static LIST: Mutex<Vec<String>> = Mutex::new(Vec::new());
        run_two_threads();
        let mut list = LIST.lock().unwrap();
        assert!(list.is_empty());
        list.extend((0..500).map(|i| i.to_string()));
    }

    #[test]
    fn a_file_that_was_open_before_is_read_from_where_it_stood() {
        let mut file = File::open("/proc/self/exe").unwrap();
        file.read_exact(&mut [0]).unwrap();
        let mut bytes = [0; 2];
        run_two_threads();
        file.read_exact(&mut bytes).unwrap();
        assert_eq!(bytes, *b"EL");
    }

    #[test]
    fn a_cell_is_initialised_again() {
        static CELL: OnceLock<usize> = OnceLock::new();
        run_two_threads();
        assert!(CELL.set(1).is_ok());
    }

    #[test]
    fn what_was_there_before_is_still_there() {
        let mut list = vec![1, 2, 3];
        run_two_threads();
        assert_eq!(list, [1, 2, 3]);
        list.clear();
        run_two_threads();
        assert!(list.is_empty());
    }

    #[test]
    fn a_thread_local_of_the_test_has_its_first_value() {
        thread_local!(static VALUE: Cell<u32> = const { Cell::new(3) });
        assert_eq!(VALUE.get(), 3);
        run_two_threads();
        assert_eq!(VALUE.replace(4), 3);
    }

    #[test]
    fn the_environment_is_as_it_was() {
        run_two_threads();
        assert!(std::env::var_os("RADDLE_ISOLATION").is_none());
        // SAFETY: no other thread runs.
        unsafe { std::env::set_var("RADDLE_ISOLATION", "1") };
    }

    #[test]
    fn descriptors_left_open_do_not_add_up() {
        run_two_threads();
        let file = File::open("/dev/null").unwrap();
        assert!(file.as_raw_fd() < 20, "{}", file.as_raw_fd());
        std::mem::forget(file);
    }

    #[test]
    fn the_current_directory_is_as_it_was() {
        run_two_threads();
        assert_ne!(std::env::current_dir().unwrap().to_str(), Some("/"));
        std::env::set_current_dir("/").unwrap();
    }

    #[test]
    fn threads_of_other_sizes_do_not_add_up() {
        for size in [1 << 20, 3 << 20] {
            thread::Builder::new().stack_size(size).spawn(run_two_threads).unwrap().join().unwrap();
        }
    }
}
