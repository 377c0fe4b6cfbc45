//! Programs in C and C++, whose debug information has no crates. Needs gcc; without it the tests say so and are skipped.

use object::{Object, ObjectSymbol};
use raddle_debuginfo::{DebugInfo, native};
use std::process::Command;

const SOURCE: &str = r#"
#include <atomic>
#include <mutex>
#include <pthread.h>

namespace bank {
struct Base {
    int number = 7;
};
class Account : public Base {
  public:
    __attribute__((noinline)) void deposit(int amount) {
        std::lock_guard<std::mutex> guard(mutex_);
        balance_ += amount;
    }
    std::mutex mutex_;
    volatile int balance_ = 0;
    static int opened;
    std::atomic<long> looks;
};
int Account::opened = 1;
Account account;
}
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
struct { int *first; long second; } pair;

int main() {
    bank::account.deposit(2);
    return static_cast<int>(pair.second);
}
"#;

/// What a test asks about the program.
fn with_program(ask: impl FnOnce(&[u8], &DebugInfo<'_>)) {
    let dir = tempfile::tempdir().unwrap();
    let (source, program) = (dir.path().join("bank.cc"), dir.path().join("bank"));
    std::fs::write(&source, SOURCE).unwrap();
    let built = Command::new("g++").args(["-g", "-O0", "-pthread", "-o"]).arg(&program).arg(&source).status();
    if !built.is_ok_and(|status| status.success()) {
        eprintln!("skipped: `g++` is not installed");
        return;
    }
    let bytes = std::fs::read(&program).unwrap();
    ask(&bytes, &DebugInfo::parse(&bytes, [native::OWN]).unwrap());
}

/// An address inside of the first function whose mangled name has a part.
fn inside(bytes: &[u8], part: &str) -> u64 {
    let file = object::File::parse(bytes).unwrap();
    let symbol = file.symbols().find(|symbol| symbol.name().is_ok_and(|name| name.contains(part)));
    symbol.unwrap_or_else(|| panic!("no symbol with {part}")).address() + 1
}

#[test]
fn the_users_own_code_is_under_test_and_headers_of_the_system_are_not() {
    with_program(|bytes, info| {
        assert!(info.is_under_test(inside(bytes, "main")));
        assert!(info.is_under_test(inside(bytes, "Account7deposit")));
        assert!(!info.is_under_test(inside(bytes, "mutex4lock")));
    });
}

#[test]
fn functions_have_the_names_of_the_source() {
    with_program(|bytes, info| {
        let name = |part| info.frames(inside(bytes, part))[0].function.to_string();
        assert_eq!(name("Account7deposit"), "bank::Account::deposit");
        assert_eq!(name("mutex4lock"), "std::mutex::lock");
    });
}

#[test]
fn variables_in_namespaces_and_classes_have_their_names_and_those_of_their_fields() {
    with_program(|_, info| {
        let at = |name: &str| {
            let all: Vec<_> = info.statics().collect();
            let known = all.iter().find(|(known, ..)| *known == name);
            known.unwrap_or_else(|| panic!("no {name} in {all:?}")).1
        };
        let path = |address| info.static_at(address).unwrap().path;
        assert_eq!(path(at("bank::Account::opened")), "bank::Account::opened");
        let account = at("bank::account");
        assert_eq!(path(account), "bank::account.number");
        assert_eq!(path(account + 8), "bank::account.mutex_");
        assert_eq!(path(account + 48), "bank::account.balance_");
        assert_eq!(path(account + 56), "bank::account.looks");
        assert_eq!(path(at("lock")), "lock");
        assert_eq!(path(at("pair") + 8), "pair.second");
    });
}
