//! Tests are run by a worker process: the harness, confined, that answers requests until the hunt is over.
//!
//! Requests go to the worker's standard input, replies come from its standard output, and what it or the code under
//! test says on standard error is kept for the case that it dies. A worker that dies is replaced; the runs it did
//! not answer are sent again one by one, and a run that ends another worker too is given up.

use super::id_map::IdMap;
use super::process::{Process, describe};
use super::replies::{Heard, Replies};
use crate::interrupt;
use crate::sandbox::Confinement;
use raddle_core::protocol::{JOB_VAR, Job};
use raddle_hunt::protocol::{ExecutorError, Reply, Request, Rest, Spent};
use raddle_hunt::{Execution, Executor, Fresh, Run, RunReply};
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{ChildStdin, Stdio};
use std::time::{Duration, Instant};

/// How often a waiting command looks at the clock.
const POLL: Duration = Duration::from_millis(50);
/// Workers that end before they have answered anything.
const MOST_STILLBORN: u32 = 3;

/// How workers are started.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The harness.
    pub executable: PathBuf,
    /// Where its shared libraries are, the runtime's first.
    pub libraries: Vec<PathBuf>,
    /// What it is confined to.
    pub confinement: Confinement,
    /// The job, but for the descriptors.
    pub job: Job,
}

/// Totals, for people.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// Executions begun.
    pub executions: u64,
    /// Scheduling points in them.
    pub steps: u64,
    /// Runs answered.
    pub runs: u64,
    /// Where the workers' processor time went.
    pub spent: Spent,
    /// Workers that died.
    pub deaths: u64,
    /// Calls that the runtime does not control.
    pub uncontrolled: Vec<raddle_core::protocol::Uncontrolled>,
}

/// A worker that is running.
#[derive(Debug)]
struct Worker {
    process: Process,
    requests: ChildStdin,
    replies: Replies,
}

/// An executor made of worker processes, one at a time.
#[derive(Debug)]
pub struct Workers {
    launch: Launch,
    worker: Option<Worker>,
    deadline: Option<Instant>,
    next_id: u64,
    stillborn: u32,
    /// The runs that are watched, and whether the worker has put the rest of them off.
    watched: (Vec<Run>, bool),
    /// Every execution has a process of its own.
    pub isolated: bool,
    /// Totals of all workers.
    pub totals: Totals,
    /// What sites and names are called across workers.
    pub ids: IdMap,
}

/// What comes of runs that are watched.
#[derive(Debug)]
pub enum Watched {
    /// An execution is in doubt; the number of its run. The rest waits.
    Doubt(usize, Box<Execution>),
    /// All was done, or as much as was wanted: a reply for each run that was begun.
    Done(Vec<RunReply>),
}

/// Why there is no reply.
enum Lost {
    /// No more time, or the user interrupted.
    Over,
    /// The worker has ended; how.
    Died(String),
}

impl Workers {
    /// No worker yet; none runs beyond `deadline`.
    pub fn new(launch: Launch, deadline: Option<Instant>) -> Self {
        Workers {
            launch,
            worker: None,
            deadline,
            next_id: 0,
            stillborn: 0,
            watched: (Vec::new(), false),
            isolated: false,
            totals: Totals::default(),
            ids: IdMap::default(),
        }
    }

    /// Another deadline, for what has to be done after the search.
    pub fn set_deadline(&mut self, deadline: Option<Instant>) {
        self.deadline = deadline;
    }

    /// Starts a worker now rather than with the first run.
    pub fn begin(&mut self) -> Result<(), ExecutorError> {
        if self.worker.is_none() && !self.over() { self.start() } else { Ok(()) }
    }

    /// Ends the worker; the next run starts in a new one.
    pub fn renew(&mut self) {
        self.worker = None;
    }

    fn over(&self) -> bool {
        interrupt::interrupted() || self.deadline.is_some_and(|at| Instant::now() >= at)
    }

    fn start(&mut self) -> Result<(), ExecutorError> {
        self.ids.forget_worker();
        self.watched.1 = false;
        let broken = |what: &str, error: std::io::Error| ExecutorError::Broken(format!("{what}: {error}"));
        let scratch = &self.launch.confinement.scratch;
        let job = Job { message_fd: 1, request_fd: Some(0), ..self.launch.job.clone() };
        let job_file = scratch.join("job.json");
        let json = serde_json::to_vec(&job).expect("a job is plain data");
        std::fs::write(&job_file, json).map_err(|e| broken("cannot write the job", e))?;
        let (printed, log) = std::io::pipe().map_err(|e| broken("cannot make a pipe", e))?;
        let wrapped = self.launch.confinement.wrap(&self.launch.executable);
        let mut command = wrapped.map_err(|e| broken("cannot find this program's own file", e))?;
        let mut paths = self.launch.libraries.clone();
        paths.extend(std::env::var_os("LD_LIBRARY_PATH").iter().flat_map(std::env::split_paths));
        // What the user's environment holds is none of the program's business, and must not decide what it does.
        command.env_clear().env(JOB_VAR, &job_file);
        command.env("LD_LIBRARY_PATH", std::env::join_paths(paths).unwrap_or_default());
        command.env("HOME", scratch).env("TMPDIR", scratch).env("PATH", "/usr/bin:/bin");
        command.current_dir(scratch).process_group(0);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(log);
        let mut process =
            Process::start(command, printed, true).map_err(|e| broken("cannot start a worker", e))?;
        let (Some(requests), Some(replies)) = process.pipes() else {
            return Err(ExecutorError::Broken("a worker has no pipes".into()));
        };
        self.worker = Some(Worker { process, requests, replies: Replies::new(replies) });
        Ok(())
    }

    /// Begins runs; what the worker cannot explain is told as soon as it has occurred.
    pub fn watch(&mut self, mut runs: Vec<Run>) -> Result<Watched, ExecutorError> {
        self.isolate(&mut runs);
        self.watched = (runs.clone(), false);
        let heard = self.ask(Request { watched: true, ..Request::new(0, runs) })?;
        self.heard(heard)
    }

    /// Says what becomes of the rest of the runs that are watched. A worker that has died in between takes it along; then they
    /// are all done again.
    pub fn go_on(&mut self, rest: Rest) -> Result<Watched, ExecutorError> {
        let heard = match std::mem::take(&mut self.watched.1) {
            true => self.ask(Request { rest: Some(rest), ..Request::new(0, vec![]) })?,
            false if rest == Rest::Drop => return Ok(Watched::Done(vec![])),
            false => Err(Lost::Died("another run ended the worker".into())),
        };
        self.heard(heard)
    }

    fn heard(&mut self, heard: Result<Reply, Lost>) -> Result<Watched, ExecutorError> {
        match heard {
            Ok(Reply { doubt: Some((run, execution)), .. }) => {
                self.watched.1 = true;
                Ok(Watched::Doubt(run, execution))
            }
            Ok(reply) => Ok(Watched::Done(reply.runs)),
            Err(Lost::Over) => Err(ExecutorError::Over),
            Err(Lost::Died(_)) => self.each_alone().map(Watched::Done),
        }
    }

    fn each_alone(&mut self) -> Result<Vec<RunReply>, ExecutorError> {
        let runs = std::mem::take(&mut self.watched.0);
        runs.into_iter().map(|run| self.alone(run)).collect()
    }

    fn isolate(&self, runs: &mut [Run]) {
        if self.isolated {
            runs.iter_mut().filter(|r| r.fresh == Fresh::No).for_each(|r| r.fresh = Fresh::Each);
        }
    }

    /// Sends a request and waits for its reply.
    fn ask(&mut self, mut request: Request) -> Result<Result<Reply, Lost>, ExecutorError> {
        if self.over() {
            return Ok(Err(Lost::Over));
        }
        if self.worker.is_none() {
            self.start()?;
        }
        let Some(worker) = &mut self.worker else {
            return Err(ExecutorError::Broken("there is no worker".into()));
        };
        self.next_id += 1;
        request.id = self.next_id;
        request.runs.iter_mut().for_each(|run| self.ids.outgoing(run));
        let mut line = serde_json::to_vec(&request).expect("a request is plain data");
        line.push(b'\n');
        let sent = worker.requests.write_all(&line).and_then(|()| worker.requests.flush());
        let reply = loop {
            if sent.is_err() {
                break None;
            }
            match worker.replies.next(POLL) {
                Heard::Line(line) => match serde_json::from_slice::<Reply>(&line) {
                    Ok(reply) if reply.id == self.next_id => break Some(reply),
                    // The rest of an earlier request that was given up.
                    Ok(_) => {}
                    Err(error) => {
                        return Err(ExecutorError::Broken(format!("the worker broke the protocol: {error}")));
                    }
                },
                Heard::End => break None,
                Heard::Nothing => {}
            }
            let late = self.deadline.is_some_and(|at| Instant::now() >= at);
            if interrupt::interrupted() || late {
                self.worker = None;
                return Ok(Err(Lost::Over));
            }
        };
        match reply {
            Some(mut reply) => {
                self.stillborn = 0;
                self.count(&reply);
                reply.runs.iter_mut().for_each(|run| self.ids.incoming(run));
                Ok(Ok(reply))
            }
            None => self.bury().map(Err),
        }
    }

    fn count(&mut self, reply: &Reply) {
        let totals = &mut self.totals;
        totals.spent.all += reply.spent.all;
        totals.spent.judge += reply.spent.judge;
        totals.spent.cover += reply.spent.cover;
        totals.spent.start += reply.spent.start;
        totals.runs += reply.runs.len() as u64;
        for run in &reply.runs {
            totals.executions += run.executions + run.serial;
            totals.steps += run.steps;
            for call in &run.uncontrolled {
                if !totals.uncontrolled.contains(call) {
                    totals.uncontrolled.push(call.clone());
                }
            }
        }
    }

    fn bury(&mut self) -> Result<Lost, ExecutorError> {
        let Some(mut worker) = self.worker.take() else { return Ok(Lost::Over) };
        if interrupt::interrupted() {
            return Ok(Lost::Over);
        }
        let how = worker.process.end().map_or_else(|e| e.to_string(), describe);
        let log = worker.process.printed();
        let how = if log.is_empty() { how } else { format!("{how}\n{log}") };
        self.totals.deaths += 1;
        self.stillborn += 1;
        if self.stillborn > MOST_STILLBORN {
            return Err(ExecutorError::Broken(format!("the worker ends at once: {how}")));
        }
        Ok(Lost::Died(how))
    }

    /// A run alone, and what to say if it is the worker's death.
    fn alone(&mut self, run: Run) -> Result<RunReply, ExecutorError> {
        match self.ask(Request::new(0, vec![run]))? {
            Ok(mut reply) => Ok(reply.runs.pop().unwrap_or_default()),
            Err(Lost::Over) => Err(ExecutorError::Over),
            Err(Lost::Died(how)) => {
                // A worker can do what it is asked when a run ends only itself.
                self.stillborn = self.stillborn.saturating_sub(1);
                Ok(RunReply { diverged: Some(format!("the worker died: {how}")), ..RunReply::default() })
            }
        }
    }
}

impl Executor for Workers {
    fn run(&mut self, mut runs: Vec<Run>) -> Result<Vec<RunReply>, ExecutorError> {
        self.isolate(&mut runs);
        match self.ask(Request::new(0, runs.clone()))? {
            Ok(reply) if reply.runs.len() == runs.len() => Ok(reply.runs),
            Ok(_) => Err(ExecutorError::Broken("the worker answers too little".into())),
            Err(Lost::Over) => Err(ExecutorError::Over),
            Err(Lost::Died(_)) => runs.into_iter().map(|run| self.alone(run)).collect(),
        }
    }
}
