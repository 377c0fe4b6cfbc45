//! The table of the 45 programs, in the order of HARS's Table II, with the figures published for them.

use crate::*;

/// The kinds of concurrency bugs in Table II.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Bug {
    /// Steps that should be one are interleaved by others.
    Atomicity,
    /// Two steps happen in an order that was not foreseen.
    Order,
    /// Unordered accesses to one variable, one of them writing.
    Race,
    /// Threads wait for each other, or for nobody, for ever.
    Deadlock,
}

/// One program of the set.
#[derive(Clone, Copy, Debug)]
pub struct Program {
    /// The name in Table II.
    pub name: &'static str,
    /// The number of threads that Table II states. It sometimes counts main and sometimes not.
    pub threads: usize,
    /// The kind of bug that Table II states.
    pub bug: Bug,
    /// The program. All of its state is made inside; it may return before its threads have ended.
    pub run: fn(),
    /// The twin without the bug, which passes under every schedule and joins all of its threads.
    pub fixed: Option<fn()>,
    /// What the paper reports for it.
    pub paper: Paper,
    /// How likely one random trace is to fail.
    pub card: CardProbability,
}

/// A row of Table II. `None` where the table says N.A.: the tool did not find the bug in time.
///
/// P is the number of traces up to and including the first failing one, on average; the times are in seconds. The
/// averages in the table's last row are not kept: those of TSA are divided by the wrong number of programs (its P is
/// 26.171 on the 14 programs that it solves, not 11.819), and the averages of different tools are over different programs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paper {
    /// Lines of code of the Java original.
    pub loc: usize,
    /// P of adaptive randomised scheduling.
    pub ars_p: Option<f64>,
    /// P of heuristic-enhanced adaptive randomised scheduling.
    pub hars_p: Option<f64>,
    /// P of simple random scheduling.
    pub sr_p: Option<f64>,
    /// P of maximal causality reduction.
    pub mcr_p: Option<f64>,
    /// P of the thread-scheduling approach, a search guided by the coverage of synchronisation pairs.
    pub tsa_p: Option<f64>,
    /// Time of ARS.
    pub ars_seconds: Option<f64>,
    /// Time of HARS.
    pub hars_seconds: Option<f64>,
    /// Time of SR.
    pub sr_seconds: Option<f64>,
    /// Time of MCR.
    pub mcr_seconds: Option<f64>,
    /// Time of TSA.
    pub tsa_seconds: Option<f64>,
}

/// Two estimates of the probability that one uniformly random trace fails.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CardProbability {
    /// The inverse of SR's P: what the paper implies for the granularity of its model checker.
    pub sr: Option<f64>,
    /// A Monte-Carlo estimate on a model that switches at every unprotected access, lock acquisition, start, wait and
    /// join; missing for the programs that were not modelled.
    pub model: Option<f64>,
}

/// Marks a figure that is not given.
const NA: f64 = -1.0;

const fn given(figure: f64) -> Option<f64> {
    if figure < 0.0 { None } else { Some(figure) }
}

/// The figures in the order of the table's columns: ARS, HARS, SR, MCR, TSA.
const fn paper(loc: usize, p: [f64; 5], seconds: [f64; 5]) -> Paper {
    Paper {
        loc,
        ars_p: given(p[0]),
        hars_p: given(p[1]),
        sr_p: given(p[2]),
        mcr_p: given(p[3]),
        tsa_p: given(p[4]),
        ars_seconds: given(seconds[0]),
        hars_seconds: given(seconds[1]),
        sr_seconds: given(seconds[2]),
        mcr_seconds: given(seconds[3]),
        tsa_seconds: given(seconds[4]),
    }
}

const fn card(sr: f64, model: f64) -> CardProbability {
    CardProbability { sr: given(sr), model: given(model) }
}

/// The 45 programs, in the order of Table II.
pub const PROGRAMS: &[Program] = &[
    Program {
        name: "Account",
        threads: 10,
        bug: Bug::Atomicity,
        run: account::account,
        fixed: Some(account::account_fixed),
        paper: paper(373, [1.55, 1.39, 1.81, 9.2, NA], [9.36, 6.688, 2.063, 1660.598, NA]),
        card: card(0.552, 0.68),
    },
    Program {
        name: "Airline",
        threads: 20,
        bug: Bug::Order,
        run: airline::airline,
        fixed: Some(airline::airline_fixed),
        paper: paper(136, [27.05, 27.24, 20.78, 8.0, NA], [6.263, 7.46, 6.499, 187.526, NA]),
        card: card(0.048, 0.068),
    },
    Program {
        name: "Alarmclock",
        threads: 8,
        bug: Bug::Race,
        run: alarmclock::alarmclock,
        fixed: Some(alarmclock::alarmclock_fixed),
        paper: paper(351, [2.84, 2.83, 4.22, NA, NA], [2.347, 3.536, 1.574, NA, NA]),
        card: card(0.237, NA),
    },
    Program {
        name: "Allocationvector",
        threads: 2,
        bug: Bug::Atomicity,
        run: allocationvector::allocationvector,
        fixed: Some(allocationvector::allocationvector_fixed),
        paper: paper(348, [1.13, 1.0, 1.01, 4.0, 1.9], [0.192, 0.096, 0.231, 1.377, 56.677]),
        card: card(0.99, NA),
    },
    Program {
        name: "Atmoerror",
        threads: 2,
        bug: Bug::Race,
        run: atmoerror::atmoerror,
        fixed: Some(atmoerror::atmoerror_fixed),
        paper: paper(67, [1.01, 1.03, 1.04, 1.0, NA], [0.16, 0.28, 0.106, 0.15, NA]),
        card: card(0.962, 1.0),
    },
    Program {
        name: "Bakery",
        threads: 2,
        bug: Bug::Atomicity,
        run: bakery::bakery,
        fixed: Some(bakery::bakery_fixed),
        paper: paper(111, [25.07, 13.78, 54.78, NA, 85.6], [1.834, 1.439, 8.056, NA, 2.548]),
        card: card(0.018, 0.04),
    },
    Program {
        name: "Boundedbuffer",
        threads: 3,
        bug: Bug::Deadlock,
        run: boundedbuffer::boundedbuffer,
        fixed: Some(boundedbuffer::boundedbuffer_fixed),
        paper: paper(136, [1.0, 1.0, 1.0, 1.0, NA], [0.097, 0.08, 0.203, 0.359, NA]),
        card: card(1.0, 1.0),
    },
    Program {
        name: "Checkfield",
        threads: 2,
        bug: Bug::Atomicity,
        run: checkfield::checkfield,
        fixed: Some(checkfield::checkfield_fixed),
        paper: paper(44, [5.27, 4.17, 4.37, 3.0, NA], [0.169, 0.144, 0.49, 0.688, NA]),
        card: card(0.229, 0.31),
    },
    Program {
        name: "Consistency",
        threads: 3,
        bug: Bug::Atomicity,
        run: consistency::consistency,
        fixed: Some(consistency::consistency_fixed),
        paper: paper(35, [2.88, 2.81, 6.35, 2.0, 48.9], [0.252, 0.14, 0.831, 0.487, 1.329]),
        card: card(0.157, 0.25),
    },
    Program {
        name: "Critical",
        threads: 2,
        bug: Bug::Race,
        run: critical::critical,
        fixed: Some(critical::critical_fixed),
        paper: paper(70, [2.48, 2.23, 3.32, 2.0, NA], [0.22, 0.112, 0.435, 0.262, NA]),
        card: card(0.301, 0.18),
    },
    Program {
        name: "Cyclicdemo",
        threads: 4,
        bug: Bug::Atomicity,
        run: cyclicdemo::cyclicdemo,
        fixed: Some(cyclicdemo::cyclicdemo_fixed),
        paper: paper(54, [1.78, 1.72, 2.19, 8.0, 1.0], [0.179, 0.141, 0.211, 5.53, 2.352]),
        card: card(0.457, 0.44),
    },
    Program {
        name: "Datarace",
        threads: 2,
        bug: Bug::Atomicity,
        run: datarace::datarace,
        fixed: Some(datarace::datarace_fixed),
        paper: paper(118, [1.97, 1.56, 2.2, 7.0, 1.1], [0.144, 0.407, 0.448, 16.235, 0.845]),
        card: card(0.455, 0.37),
    },
    Program {
        name: "Dekker",
        threads: 2,
        bug: Bug::Atomicity,
        run: dekker::dekker,
        fixed: Some(dekker::dekker_fixed),
        paper: paper(100, [40.4, 36.72, 105.56, NA, 64.1], [0.663, 0.947, 11.404, NA, 2.067]),
        card: card(0.0095, 0.0103),
    },
    Program {
        name: "Even",
        threads: 4,
        bug: Bug::Order,
        run: even::even,
        fixed: Some(even::even_fixed),
        paper: paper(63, [1.01, 1.0, 1.02, 2.0, NA], [0.203, 0.084, 0.108, 1.857, NA]),
        card: card(0.98, 1.0),
    },
    Program {
        name: "Java.library.arraylist",
        threads: 2,
        bug: Bug::Race,
        run: library_arraylist::library_arraylist,
        fixed: Some(library_arraylist::library_arraylist_fixed),
        paper: paper(1971, [1.28, 1.23, 1.29, 2.0, NA], [0.12, 0.092, 0.209, 0.891, NA]),
        card: card(0.775, 0.756),
    },
    Program {
        name: "Java.library.hashset",
        threads: 2,
        bug: Bug::Order,
        run: library_hashset::library_hashset,
        fixed: Some(library_hashset::library_hashset_fixed),
        paper: paper(3989, [20.61, 11.44, 39.43, 149.4, NA], [5.097, 13.523, 9.715, 44.326, NA]),
        card: card(0.025, NA),
    },
    Program {
        name: "Java.library.linkedlist",
        threads: 2,
        bug: Bug::Race,
        run: library_linkedlist::library_linkedlist,
        fixed: Some(library_linkedlist::library_linkedlist_fixed),
        paper: paper(2556, [12.07, 12.58, 255.17, 458.1, NA], [2.64, 5.823, 56.095, 154.185, NA]),
        card: card(0.0039, 0.0032),
    },
    Program {
        name: "Java.library.treeset",
        threads: 2,
        bug: Bug::Order,
        run: library_treeset::library_treeset,
        fixed: Some(library_treeset::library_treeset_fixed),
        paper: paper(4274, [2.79, 2.76, 2.69, 1.0, NA], [0.247, 0.271, 0.184, 0.216, NA]),
        card: card(0.372, 0.235),
    },
    Program {
        name: "Java.library.vector",
        threads: 2,
        bug: Bug::Order,
        run: library_vector::library_vector,
        fixed: Some(library_vector::library_vector_fixed),
        paper: paper(4675, [2.55, 2.31, 2.44, NA, NA], [0.246, 0.222, 0.582, NA, NA]),
        card: card(0.41, NA),
    },
    Program {
        name: "Lamport",
        threads: 2,
        bug: Bug::Atomicity,
        run: lamport::lamport,
        fixed: Some(lamport::lamport_fixed),
        paper: paper(150, [12.1, 11.83, 36.02, NA, 88.5], [0.371, 0.284, 3.534, NA, 2.593]),
        card: card(0.028, 0.035),
    },
    Program {
        name: "Lang",
        threads: 2,
        bug: Bug::Atomicity,
        run: lang::lang,
        fixed: Some(lang::lang_fixed),
        paper: paper(2444, [2.68, 2.73, 4.26, 8.0, 1.0], [0.183, 0.145, 0.562, 3.264, 0.433]),
        card: card(0.235, 0.41),
    },
    Program {
        name: "Linkedlist",
        threads: 2,
        bug: Bug::Atomicity,
        run: linkedlist::linkedlist,
        fixed: Some(linkedlist::linkedlist_fixed),
        paper: paper(299, [2.85, 1.96, 2.13, 6.9, 5.8], [0.525, 0.412, 0.314, 11.277, 2.939]),
        card: card(0.469, 0.58),
    },
    Program {
        name: "Log4j",
        threads: 4,
        bug: Bug::Order,
        run: log4j::log4j,
        fixed: Some(log4j::log4j_fixed),
        paper: paper(18799, [4.76, 3.64, 7.19, 38.0, NA], [19.554, 15.118, 4.638, 24.786, NA]),
        card: card(0.139, NA),
    },
    Program {
        name: "Mergesort",
        threads: 2,
        bug: Bug::Race,
        run: mergesort::mergesort,
        fixed: Some(mergesort::mergesort_fixed),
        paper: paper(399, [1.55, 1.53, 1.77, 2.0, NA], [1.851, 2.016, 1.396, 426.213, NA]),
        card: card(0.565, NA),
    },
    Program {
        name: "Mix0",
        threads: 2,
        bug: Bug::Race,
        run: mix0::mix0,
        fixed: Some(mix0::mix0_fixed),
        paper: paper(50, [1.75, 1.61, 1.83, NA, 1.0], [0.113, 0.115, 0.292, NA, 0.43]),
        card: card(0.546, 0.25),
    },
    Program {
        name: "Nestedmonitors",
        threads: 3,
        bug: Bug::Deadlock,
        run: nestedmonitors::nestedmonitors,
        fixed: Some(nestedmonitors::nestedmonitors_fixed),
        paper: paper(140, [1.0, 1.0, 1.0, 1.0, NA], [0.169, 0.12, 0.252, 0.134, NA]),
        card: card(1.0, 1.0),
    },
    Program {
        name: "Peterson",
        threads: 2,
        bug: Bug::Atomicity,
        run: peterson::peterson,
        fixed: Some(peterson::peterson_fixed),
        paper: paper(77, [13.39, 12.13, 32.8, 8.0, NA], [0.42, 0.331, 3.885, 4.753, NA]),
        card: card(0.03, 0.034),
    },
    Program {
        name: "Pingpong",
        threads: 4,
        bug: Bug::Atomicity,
        run: pingpong::pingpong,
        fixed: Some(pingpong::pingpong_fixed),
        paper: paper(115, [2.54, 2.31, NA, 2.0, 1.0], [0.663, 0.616, NA, 0.642, 0.476]),
        card: card(NA, 0.57),
    },
    Program {
        name: "Pipeline",
        threads: 7,
        bug: Bug::Race,
        run: pipeline::pipeline,
        fixed: Some(pipeline::pipeline_fixed),
        paper: paper(119, [2.58, 2.49, 25.54, NA, NA], [0.381, 0.7, 4.06, NA, NA]),
        card: card(0.039, 0.25),
    },
    Program {
        name: "Producerconsumer",
        threads: 7,
        bug: Bug::Atomicity,
        run: producerconsumer::producerconsumer,
        fixed: Some(producerconsumer::producerconsumer_fixed),
        paper: paper(194, [2.54, 2.15, 3.43, NA, NA], [16.151, 15.612, 2.584, NA, NA]),
        card: card(0.292, 1.0),
    },
    Program {
        name: "Rax",
        threads: 2,
        bug: Bug::Deadlock,
        run: rax::rax,
        fixed: Some(rax::rax_fixed),
        paper: paper(76, [1.06, 1.09, 1.14, 2.0, NA], [0.102, 0.085, 0.212, 0.653, NA]),
        card: card(0.877, 0.76),
    },
    Program {
        name: "Readerswriters",
        threads: 3,
        bug: Bug::Race,
        run: readerswriters::readerswriters,
        fixed: Some(readerswriters::readerswriters_fixed),
        paper: paper(598, [2.27, 1.98, 7.21, 10.0, NA], [0.312, 0.716, 1.288, 66.023, NA]),
        card: card(0.139, 0.36),
    },
    Program {
        name: "Reorder",
        threads: 4,
        bug: Bug::Atomicity,
        run: reorder::reorder,
        fixed: Some(reorder::reorder_fixed),
        paper: paper(92, [11.26, 9.07, 74.48, 4.0, NA], [0.716, 0.698, 9.626, 0.738, NA]),
        card: card(0.013, 0.034),
    },
    Program {
        name: "Reorder2",
        threads: 6,
        bug: Bug::Atomicity,
        run: reorder2::reorder2,
        fixed: Some(reorder2::reorder2_fixed),
        paper: paper(71, [2.88, 2.78, 4.36, 3.0, NA], [0.248, 0.201, 0.461, 1.088, NA]),
        card: card(0.229, 0.27),
    },
    Program {
        name: "Sharedobject",
        threads: 3,
        bug: Bug::Atomicity,
        run: sharedobject::sharedobject,
        fixed: Some(sharedobject::sharedobject_fixed),
        paper: paper(48, [2.92, 2.9, 3.28, NA, 2.3], [0.146, 0.173, 0.422, NA, 0.847]),
        card: card(0.305, 0.44),
    },
    Program {
        name: "Simpleexample",
        threads: 3,
        bug: Bug::Atomicity,
        run: simpleexample::simpleexample,
        fixed: Some(simpleexample::simpleexample_fixed),
        paper: paper(29, [3.82, 3.63, 8.52, NA, 63.2], [0.23, 0.121, 0.825, NA, 3.457]),
        card: card(0.117, 0.18),
    },
    Program {
        name: "Simpletest",
        threads: 2,
        bug: Bug::Atomicity,
        run: simpletest::simpletest,
        fixed: Some(simpletest::simpletest_fixed),
        paper: paper(47, [6.09, 4.26, 6.44, 4.9, NA], [0.222, 0.202, 0.608, 0.636, NA]),
        card: card(0.155, 0.21),
    },
    Program {
        name: "Store",
        threads: 2,
        bug: Bug::Race,
        run: store::store,
        fixed: Some(store::store_fixed),
        paper: paper(46, [1.57, 1.51, 1.39, 2.0, NA], [0.194, 0.111, 0.18, 0.924, NA]),
        card: card(0.719, 0.89),
    },
    Program {
        name: "Stringbuffer",
        threads: 3,
        bug: Bug::Atomicity,
        run: stringbuffer::stringbuffer,
        fixed: Some(stringbuffer::stringbuffer_fixed),
        paper: paper(416, [3.95, 2.95, 3.47, 2.0, NA], [0.294, 0.145, 0.421, 0.406, NA]),
        card: card(0.288, 0.19),
    },
    Program {
        name: "Test",
        threads: 3,
        bug: Bug::Race,
        run: test::test,
        fixed: Some(test::test_fixed),
        paper: paper(34, [3.38, 2.9, 5.71, NA, NA], [0.139, 0.102, 0.516, NA, NA]),
        card: card(0.175, 0.19),
    },
    Program {
        name: "Test2",
        threads: 3,
        bug: Bug::Order,
        run: test2::test2,
        fixed: Some(test2::test2_fixed),
        paper: paper(34, [1.49, 1.44, 1.94, NA, NA], [0.114, 0.09, 0.18, NA, NA]),
        card: card(0.515, 0.49),
    },
    Program {
        name: "Testarray",
        threads: 2,
        bug: Bug::Atomicity,
        run: testarray::testarray,
        fixed: Some(testarray::testarray_fixed),
        paper: paper(46, [4.46, 2.89, 8.97, NA, NA], [0.279, 0.232, 0.909, NA, NA]),
        card: card(0.111, 0.28),
    },
    Program {
        name: "Twostage",
        threads: 2,
        bug: Bug::Race,
        run: twostage::twostage,
        fixed: Some(twostage::twostage_fixed),
        paper: paper(140, [10.68, 9.34, 36.64, 2.0, NA], [0.39, 0.437, 4.134, 0.751, NA]),
        card: card(0.027, 0.125),
    },
    Program {
        name: "Wronglock",
        threads: 2,
        bug: Bug::Race,
        run: wronglock::wronglock,
        fixed: Some(wronglock::wronglock_fixed),
        paper: paper(69, [3.75, 3.1, 4.4, 2.0, NA], [0.175, 0.13, 0.41, 0.289, NA]),
        card: card(0.227, 0.21),
    },
    Program {
        name: "Wronglock2",
        threads: 5,
        bug: Bug::Race,
        run: wronglock2::wronglock2,
        fixed: Some(wronglock2::wronglock2_fixed),
        paper: paper(36, [1.34, 1.21, 1.36, NA, 1.0], [0.113, 0.13, 0.16, NA, 0.43]),
        card: card(0.735, 0.89),
    },
];
