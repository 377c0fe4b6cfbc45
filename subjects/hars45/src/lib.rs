//! The 45 programs on which HARS was evaluated, re-created in ordinary Rust.
//!
//! Each program is a module with a plain function of the same name, which can be read beside the description of the
//! original, and a twin named `..._fixed` that never fails. [`PROGRAMS`] lists them with the published figures.
//!
//! How Java became Rust, in all of them:
//!
//! - A field that is not consistently locked is a relaxed atomic, read and written where and as often as the original
//!   does: an increment is a load and a store. Relaxed accesses are neither merged nor dropped by the compiler. A field
//!   that is always accessed under one lock may live inside a `Mutex`.
//! - A reference field that is reassigned holds a small number, with the objects it may refer to made beforehand. Null is
//!   one of the numbers, and dereferencing it panics.
//! - A monitor is a `Mutex`, with a `Condvar` where it is waited on. A monitor entered twice is locked once.
//! - An exception, or a failed assertion, is a panic at the same place.
//! - Main joins exactly the threads that the original joins. Others may still run when the function returns: whoever runs
//!   a program under a controlled schedule lets them go on to their end, and a panic of a thread that nobody joins is a
//!   failure of the program like any other, as is a deadlock among such threads.
//! - No state outlives a call, so a program can be executed any number of times in one process.
//!
//! The buggy programs are meant for a controlled scheduler; several of them hang when they are run natively.

mod registry;

pub use registry::{Bug, CardProbability, PROGRAMS, Paper, Program};

pub mod account;
pub mod airline;
pub mod alarmclock;
pub mod allocationvector;
pub mod atmoerror;
pub mod bakery;
pub mod boundedbuffer;
pub mod checkfield;
pub mod consistency;
pub mod critical;
pub mod cyclicdemo;
pub mod datarace;
pub mod dekker;
pub mod even;
pub mod lamport;
pub mod lang;
pub mod library_arraylist;
pub mod library_hashset;
pub mod library_linkedlist;
pub mod library_treeset;
pub mod library_vector;
pub mod linkedlist;
pub mod log4j;
pub mod mergesort;
pub mod mix0;
pub mod nestedmonitors;
pub mod peterson;
pub mod pingpong;
pub mod pipeline;
pub mod producerconsumer;
pub mod rax;
pub mod readerswriters;
pub mod reorder;
pub mod reorder2;
pub mod sharedobject;
pub mod simpleexample;
pub mod simpletest;
pub mod store;
pub mod stringbuffer;
pub mod test;
pub mod test2;
pub mod testarray;
pub mod twostage;
pub mod wronglock;
pub mod wronglock2;
