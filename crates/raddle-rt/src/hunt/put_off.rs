//! Requests that wait while the command looks at an execution of theirs.
//!
//! Most executions that no sequential order explains are violations, and one is enough for many a hunt. So the command hears of
//! each as soon as it has occurred. It may ask for other runs, to judge the execution; then it says whether it wants the rest.

use super::explain::Explain;
use super::later::Later;
use super::{Hunt, serve};
use crate::store::Store;
use raddle_core::Schedule;
use raddle_core::protocol::Stats;
use raddle_core::strategy::{Serial, Strategy};
use raddle_hunt::protocol::{Request, Rest};
use raddle_hunt::{Execution, RunReply};
use std::collections::{BTreeMap, BTreeSet};

/// A suspended request, with every piece of the worker's state that other requests would overwrite; persistent.
pub struct PutOff {
    request: Request,
    replies: Vec<RunReply>,
    reply: Option<RunReply>,
    later: Later,
    seen: BTreeSet<Vec<u8>>,
    explain: Explain,
    pairs: BTreeMap<(u32, u32), u64>,
    points: u64,
    strategy: (Box<dyn Strategy>, bool),
    replay: Option<Schedule>,
    stats: Stats,
}

/// Puts the request off; returns its last execution and the number of the run.
pub fn put_off(store: &mut Store, hunt: &mut Hunt) -> Option<(usize, Box<Execution>)> {
    let request = hunt.request.take()?;
    let execution = hunt.reply.as_ref()?.distinct.last()?.clone();
    let run = hunt.replies.len();
    let uncontrolled = std::mem::take(&mut store.stats.uncontrolled);
    let stats = std::mem::replace(&mut store.stats, Stats { uncontrolled, ..Stats::default() });
    let nothing: Box<dyn Strategy> = Box::new(Serial::with_order(Vec::new()));
    hunt.put_off = Some(PutOff {
        request,
        replies: std::mem::take(&mut hunt.replies),
        reply: hunt.reply.take(),
        later: std::mem::take(&mut hunt.later),
        seen: std::mem::take(&mut hunt.seen),
        explain: std::mem::take(&mut hunt.explain),
        pairs: std::mem::take(&mut hunt.record.pairs),
        points: hunt.record.points,
        strategy: (std::mem::replace(&mut store.strategy, nothing), store.strategy_listens),
        replay: store.replay.take(),
        stats,
    });
    Some((run, Box::new(execution)))
}

/// Takes up a request: its own runs, or those that were put off.
pub fn take_up(store: &mut Store, hunt: &mut Hunt, request: Request) {
    let id = request.id;
    let Some((rest, before)) = request.rest.and_then(|rest| Some((rest, hunt.put_off.take()?))) else {
        hunt.request = Some(request);
        return;
    };
    hunt.request = Some(Request { id, ..before.request });
    hunt.replies = before.replies;
    hunt.reply = before.reply;
    hunt.later = before.later;
    hunt.seen = before.seen;
    hunt.explain = before.explain;
    hunt.record.pairs = before.pairs;
    hunt.record.points = before.points;
    (store.strategy, store.strategy_listens) = before.strategy;
    store.replay = before.replay;
    let uncontrolled = std::mem::take(&mut store.stats.uncontrolled);
    store.stats = Stats { uncontrolled, ..before.stats };
    if rest == Rest::Drop {
        serve::end_run(store, hunt);
        if let Some(request) = &mut hunt.request {
            request.runs.truncate(hunt.replies.len());
        }
    }
}
